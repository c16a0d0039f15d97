//! Wall times of things that are run in turn.

use std::hint::black_box;
use std::time::{Duration, Instant};

use crate::error::Result;

/// Best and median time of several runs, in seconds.
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

/// Work to be timed, if it can be done.
pub(crate) type Work<'a> = Option<&'a mut dyn FnMut() -> Result<()>>;

/// Runs each of `works` once a round, so that a slow minute of the machine affects all alike. Each round begins with
/// another one, and every second round goes backwards: a work that follows one on the same file finds it in the cache.
///
/// Short rounds are repeated more often than asked for, unless there is only one: the best of a few runs of a
/// millisecond depends on what else the machine did.
pub(crate) fn in_turn<const N: usize>(rounds: u32, mut works: [Work<'_>; N]) -> Result<[Option<Times>; N]> {
    let mut runs = [const { Vec::new() }; N];
    let (begun, least) = (Instant::now(), if rounds > 1 { ROUND * rounds } else { Duration::ZERO });
    let mut done = 0;
    while done < rounds || begun.elapsed() < least {
        let first = done as usize % N;
        for i in 0..N {
            let next = (if done % 2 == 0 { first + i } else { first + N - i }) % N;
            if let Some(work) = &mut works[next] {
                let start = Instant::now();
                work()?;
                runs[next].push(start.elapsed().as_secs_f64());
            }
        }
        done += 1;
    }
    Ok(runs.map(Times::of))
}

/// Minimum average duration of a round.
const ROUND: Duration = Duration::from_millis(100);

/// Copies `size` bytes, between memory that was used before.
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
        let mut c = || {
            order.borrow_mut().push('c');
            Ok(())
        };
        let [first, second, none, last] =
            in_turn(2, [Some(&mut a), Some(&mut b), None, Some(&mut c)]).unwrap();
        assert_eq!(&order.borrow()[..12], "abcbaccabcba");
        assert!(first.is_some() && second.is_some() && none.is_none() && last.is_some());
    }

    #[test]
    fn short_rounds_are_more() {
        let mut times = 0;
        let mut short = || {
            times += 1;
            Ok(())
        };
        let begun = Instant::now();
        in_turn(2, [Some(&mut short)]).unwrap();
        assert!(times > 2 && begun.elapsed() >= 2 * ROUND);
    }
}
