//! Wall times of things that are run in turn.

use std::hint::black_box;
use std::time::Instant;

use crate::Result;

/// Seconds that one thing took, of several runs.
#[derive(Clone, Copy)]
pub(crate) struct Times {
    pub(crate) best: f64,
    pub(crate) median: f64,
}

impl Times {
    /// None if there were no runs.
    fn of(mut runs: Vec<f64>) -> Option<Times> {
        runs.sort_by(f64::total_cmp);
        Some(Times { best: *runs.first()?, median: runs[runs.len() / 2] })
    }
}

/// Something whose time is taken, if it can be done.
pub(crate) type Work<'a> = Option<&'a mut dyn FnMut() -> Result<()>>;

/// Does each of `works` once a round, so that a slow minute of the machine hits all alike.
pub(crate) fn in_turn<const N: usize>(rounds: u32, mut works: [Work<'_>; N]) -> Result<[Option<Times>; N]> {
    let mut runs = [const { Vec::new() }; N];
    for _ in 0..rounds {
        for (work, runs) in works.iter_mut().zip(&mut runs) {
            if let Some(work) = work {
                let start = Instant::now();
                work()?;
                runs.push(start.elapsed().as_secs_f64());
            }
        }
    }
    Ok(runs.map(Times::of))
}

/// Copies that many bytes, between memory that was used before.
pub(crate) fn copying(size: usize) -> impl FnMut() -> Result<()> {
    let source = vec![1u8; size];
    let mut target = source.clone();
    move || {
        black_box(&mut target[..]).copy_from_slice(black_box(&source));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn best_and_median() {
        let times = Times::of(vec![3.0, 1.0, 2.0, 9.0, 4.0]).unwrap();
        assert_eq!((times.best, times.median), (1.0, 3.0));
        assert!(Times::of(Vec::new()).is_none());
    }

    #[test]
    fn each_has_its_turn() {
        let order = std::cell::RefCell::new(String::new());
        let mut a = || {
            order.borrow_mut().push('a');
            Ok(())
        };
        let mut b = || {
            order.borrow_mut().push('b');
            Ok(())
        };
        let [first, none, last] = in_turn(2, [Some(&mut a), None, Some(&mut b)]).unwrap();
        assert_eq!(order.into_inner(), "abab");
        assert!(first.is_some() && none.is_none() && last.is_some());
    }
}
