//! How long it takes from the cancelling of a scan to its error, and until its threads have gone, too.

use std::hint::black_box;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use bytes::Bytes;
use marquetry::arrow::arrow_reader::{ArrowReaderOptions, ParquetRecordBatchReaderBuilder};
use marquetry::errors::{CancelToken, ErrorKind, Limits};
use marquetry::file::Source;

use crate::error::Result;
use crate::generate::Rng;
use crate::row::BATCH_SIZE;

pub(super) fn run(file: &Bytes, threads: usize, cancels: u32) -> Result<()> {
    let source: Arc<dyn Source> = Arc::new(file.clone());
    let Ended::Whole(whole) = scan(&source, threads, None)? else {
        return Err("a scan ended though nobody cancelled it".into());
    };
    let (mut rng, mut errors, mut ends) = (Rng::new(7), Vec::new(), Vec::new());
    for _ in 0..cancels {
        // Anywhere in the scan except its last tenth, which may end sooner.
        let after = whole.mul_f64(0.9 * rng.unit());
        if let Ended::Cancelled { to_error, to_end } = scan(&source, threads, Some(after))? {
            errors.push(to_error);
            ends.push(to_end);
        }
    }
    println!("cancelled at {} random moments of a scan of {:.3} s:", errors.len(), whole.as_secs_f64());
    for (what, mut times) in [("until its error", errors), ("until its threads have gone", ends)] {
        times.sort_unstable();
        let at = |part: f64| {
            let place = ((times.len() as f64 * part) as usize).min(times.len().saturating_sub(1));
            times.get(place).map_or(f64::NAN, |time| time.as_secs_f64() * 1e3)
        };
        println!(
            "- {what}: {:.3} ms (median), {:.3} ms (99 %), {:.3} ms (worst)",
            at(0.5),
            at(0.99),
            at(1.0)
        );
    }
    println!();
    Ok(())
}

/// How a scan ended.
enum Ended {
    /// It was not cancelled in time; its duration.
    Whole(Duration),
    /// The times since it was cancelled.
    Cancelled { to_error: Duration, to_end: Duration },
}

/// Scans until another thread cancels it, this long after it began.
fn scan(source: &Arc<dyn Source>, threads: usize, cancelled_after: Option<Duration>) -> Result<Ended> {
    let token = CancelToken::new();
    let options = ArrowReaderOptions::new().with_limits(Limits::default().with_cancel(token.clone()));
    let begun = Instant::now();
    let mut reader = ParquetRecordBatchReaderBuilder::try_new_with_options(source.clone(), options)?
        .with_batch_size(BATCH_SIZE)
        .with_threads(threads)
        .build()?;
    let cancels = cancelled_after.map(|after| {
        thread::spawn(move || {
            thread::sleep(after);
            let moment = Instant::now();
            token.cancel();
            moment
        })
    });
    let error = loop {
        match reader.next_batch() {
            Some(Ok(batch)) => drop(black_box(batch)),
            Some(Err(error)) => break Some(error),
            None => break None,
        }
    };
    let failed = Instant::now();
    drop(reader);
    let gone = Instant::now();
    let moment = cancels.map(|thread| thread.join().map_err(|_| "who cancels panicked")).transpose()?;
    match (error, moment) {
        (Some(error), Some(moment)) if error.kind() == ErrorKind::Cancelled => {
            Ok(Ended::Cancelled { to_error: failed - moment, to_end: gone - moment })
        }
        (Some(error), _) => Err(error.into()),
        (None, _) => Ok(Ended::Whole(failed - begun)),
    }
}
