//! The cost of running tasks on a host's threads instead of our own: a scan by each in turn.

use std::hint::black_box;
use std::sync::Arc;

use bytes::Bytes;
use marquetry::file::Source;
use marquetry::threads::{SharedExecutor, ThreadPool};

use super::whole_file::builder;
use crate::error::Result;
use crate::timing::{Times, in_turn};

pub(super) fn run(file: &Bytes, threads: usize, rounds: u32) -> Result<()> {
    let source: Arc<dyn Source> = Arc::new(file.clone());
    // The thread that asks for batches works, too: a host has as many threads as we would start.
    let rayon = rayon::ThreadPoolBuilder::new().num_threads(threads.saturating_sub(1).max(1)).build()?;
    let rayon = SharedExecutor::new(move |task| rayon.spawn(task));
    let pool = SharedExecutor::new(ThreadPool::new("host"));
    let mut by_ours = || scan(&source, threads, None);
    let mut by_rayon = || scan(&source, threads, Some(&rayon));
    let mut by_pool = || scan(&source, threads, Some(&pool));
    let [ours, rayon, pool] = in_turn(rounds, [Some(&mut by_ours), Some(&mut by_rayon), Some(&mut by_pool)])?;
    let Some(ours) = ours else { return Ok(()) };
    println!("threads of a host, beside our own: {:.3} s (median; best {:.3} s):", ours.median, ours.best);
    for (name, host) in [("rayon", rayon), ("a pool of std's threads", pool)] {
        let Some(host) = host else { continue };
        let more = |of: fn(Times) -> f64| 100.0 * (of(host) / of(ours) - 1.0);
        println!(
            "- {name}: {:+.2} % of the medians, {:+.2} % of the best",
            more(|times| times.median),
            more(|times| times.best)
        );
    }
    println!();
    Ok(())
}

fn scan(source: &Arc<dyn Source>, threads: usize, host: Option<&SharedExecutor>) -> Result<()> {
    let mut builder = builder(source.clone(), threads)?;
    if let Some(host) = host {
        builder = builder.with_shared_executor(host.clone());
    }
    for batch in builder.build()? {
        black_box(batch?);
    }
    Ok(())
}
