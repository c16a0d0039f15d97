//! What checkpoints cost: a file is read, and written again several times, with and without them.
//!
//! ```text
//! cargo run --release -p marquetry --example checkpoint_cost -- IN.parquet OUT.parquet [TIMES [BYTES]]
//! ```
//!
//! Each time is that of [`marquetry::create_with`] up to the end of `close`, the sync of the finished file included. With
//! BYTES checkpoints come so often, otherwise at the default step.

use arrow_array::RecordBatch;
use marquetry::file::properties::{CheckpointEvery, WriterProperties};
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
    for i in 0..times * 2 {
        let (kind, every) = if i % 2 == 0 { (0, None) } else { (1, Some(every)) };
        let (time, size, checkpoints, bytes) = write(output.as_ref(), &batches, every)?;
        best[kind] = best[kind].min(time);
        println!("{every:?}: {time:.2?}, {size} bytes, {checkpoints} checkpoints of {bytes} bytes together");
    }
    let ratio = best[1].as_secs_f64() / best[0].as_secs_f64();
    println!("best times {:.2?} without, {:.2?} with: {:+.1} %", best[0], best[1], (ratio - 1.0) * 100.0);
    Ok(())
}

fn write(
    path: &Path,
    batches: &[RecordBatch],
    every: Option<CheckpointEvery>,
) -> Result<(Duration, u64, usize, u64), Box<dyn Error>> {
    let properties = WriterProperties::builder().set_checkpoint_every(every).build();
    let schema = batches.first().ok_or("no rows")?.schema();
    let start = Instant::now();
    let mut file = marquetry::create_with(path, schema, properties)?;
    for batch in batches {
        file.write(batch)?;
    }
    let (checkpoints, bytes) = (file.writer().checkpoints(), file.writer().checkpoint_bytes());
    file.close()?;
    Ok((start.elapsed(), std::fs::metadata(path)?.len(), checkpoints, bytes))
}
