//! Times of two works that are done in turn.

use crate::error::Result;
use std::fs;
use std::time::Instant;

/// Seconds that one work took, of several rounds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Times {
    pub(crate) best: f64,
    pub(crate) median: f64,
}

/// Work to be timed, if it is wanted.
pub(crate) type Work<'a> = Option<&'a mut dyn FnMut() -> Result<()>>;

/// Does both works in each round, so that a slow minute of the machine hits them alike; who comes first changes. A work is done as often
/// as fills a tenth of a second.
pub(crate) fn in_turn(rounds: u32, mut works: [Work<'_>; 2]) -> Result<[Option<Times>; 2]> {
    let mut repeats = [1_u32; 2];
    for (work, repeats) in works.iter_mut().zip(&mut repeats) {
        let Some(work) = work else { continue };
        loop {
            let wall = Instant::now();
            (0..*repeats).try_for_each(|_| work())?;
            if wall.elapsed().as_secs_f64() >= ROUND {
                break;
            }
            *repeats *= 2;
        }
    }
    let mut runs = [Vec::new(), Vec::new()];
    for round in 0..rounds as usize {
        for turn in 0..2 {
            let who = (round + turn) % 2;
            if let Some(work) = &mut works[who] {
                let clock = Clock::start();
                (0..repeats[who]).try_for_each(|_| work())?;
                runs[who].push(clock.seconds() / f64::from(repeats[who]));
            }
        }
    }
    Ok(runs.map(|mut runs| {
        runs.sort_by(f64::total_cmp);
        Some(Times { best: *runs.first()?, median: runs[runs.len() / 2] })
    }))
}

/// Minimum duration of a round, in seconds.
const ROUND: f64 = 0.1;

/// How long this thread runs: what else the machine does is not counted.
struct Clock {
    wall: Instant,
    /// None where the system does not tell.
    running: Option<u64>,
}

impl Clock {
    fn start() -> Clock {
        Clock { running: running(), wall: Instant::now() }
    }

    fn seconds(&self) -> f64 {
        match (self.running, running()) {
            (Some(start), Some(end)) if end > start => (end - start) as f64 / 1e9,
            _ => self.wall.elapsed().as_secs_f64(),
        }
    }
}

/// Nanoseconds that this thread has been running: the first number of its `schedstat`.
fn running() -> Option<u64> {
    fs::read_to_string("/proc/thread-self/schedstat").ok()?.split(' ').next()?.parse().ok()
}
