//! What checkpoints cost: a file is read, and written again several times, with and without them.
//!
//! ```text
//! cargo run --profile dist -p marquetry --example checkpoint_cost -- IN.parquet OUT.parquet [TIMES [BYTES]]
//! ```
//!
//! Each time is that of [`marquetry::create_with_properties`] up to the end of `close`, including the sync of the
//! finished file. With BYTES, checkpoints come that often, otherwise at the default step. Both ways take turns, so that
//! the disk disturbs the best of each, and the median of their ratios, as little as possible. The time that the writer
//! itself spent on checkpoints is printed beside them.

use arrow_array::RecordBatch;
use marquetry::file::properties::{CheckpointCost, CheckpointEvery, WriterProperties};
use std::error::Error;
use std::path::Path;
use std::time::{Duration, Instant};

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [input, output, rest @ ..] = &args[..] else { return Err("say IN OUT [TIMES [BYTES]]".into()) };
    let times: usize = rest.first().map_or(Ok(5), |times| times.parse())?;
    let every = match rest.get(1) {
        Some(bytes) => CheckpointEvery::Bytes(bytes.parse()?),
        None => CheckpointEvery::Auto,
    };
    let batches = marquetry::open(input)?.batch_size(65_536).batches()?.collect::<Result<Vec<_>, _>>()?;
    let mut best = [Duration::MAX; 2];
    let (mut ratios, mut shares) = (Vec::with_capacity(times), Vec::with_capacity(times));
    for i in 0..times {
        let mut pair = [Duration::ZERO; 2];
        // They take turns at going first, because the disk still processes what was written before.
        for kind in if i % 2 == 0 { [0, 1] } else { [1, 0] } {
            let every = [None, Some(every)][kind];
            let (time, size, cost) = write(output.as_ref(), &batches, every)?;
            pair[kind] = time;
            best[kind] = best[kind].min(time);
            let CheckpointCost { count, bytes, time: busy, .. } = cost;
            println!("{every:?}: {time:.2?}, {size} bytes, {count} checkpoints: {bytes} bytes, {busy:.2?}");
            if count > 0 {
                shares.push(busy.as_secs_f64() / time.as_secs_f64());
            }
        }
        ratios.push(ratio(pair));
    }
    ratios.sort_by(f64::total_cmp);
    let percent = |ratio: f64| (ratio - 1.0) * 100.0;
    println!("best {:.2?} without, {:.2?} with: {:+.1} %", best[0], best[1], percent(ratio(best)));
    println!("median of {times} pairs: {:+.1} %", percent(ratios[times / 2]));
    shares.sort_by(f64::total_cmp);
    if let (Some(median), Some(most)) = (shares.get(shares.len() / 2), shares.last()) {
        println!("busy with checkpoints: {:.2} % of the time, {:.2} % at most", median * 100.0, most * 100.0);
    }
    Ok(())
}

/// Returns the time with checkpoints relative to that without.
fn ratio([without, with]: [Duration; 2]) -> f64 {
    with.as_secs_f64() / without.as_secs_f64()
}

fn write(
    path: &Path,
    batches: &[RecordBatch],
    every: Option<CheckpointEvery>,
) -> Result<(Duration, u64, CheckpointCost), Box<dyn Error>> {
    let properties = WriterProperties::builder().set_checkpoint_every(every).build();
    let schema = batches.first().ok_or("no rows")?.schema();
    let start = Instant::now();
    let mut file = marquetry::create_with_properties(path, schema, properties)?;
    for batch in batches {
        file.write(batch)?;
    }
    let cost = file.writer().checkpoint_cost();
    file.close()?;
    Ok((start.elapsed(), std::fs::metadata(path)?.len(), cost))
}
