//! `codecs`: what each codec costs and saves, by Marquetry alone, on one thread: the measurement behind the default.
//!
//! Times are the thread's own, where the system tells them (Linux), so that a busy machine does not spoil the table.

use std::fs;
use std::hint::black_box;
use std::time::Instant;

use arrow_array::RecordBatch;
use bytes::Bytes;
use clap::Args;
use marquetry::arrow::ArrowWriter;
use marquetry::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use marquetry::file::properties::WriterProperties;

use crate::error::Result;
use crate::row::BATCH_SIZE;
use crate::tables;

#[derive(Args)]
pub(crate) struct Options {
    #[command(flatten)]
    tables: tables::Options,
    /// The codecs
    #[arg(long, value_name = "CODEC", default_values = ["zstd:1", "snappy", "lz4_raw", "zstd:3", "uncompressed"])]
    codec: Vec<String>,
    /// Take the best of N runs
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
}

/// One codec: bytes, and the best times in seconds.
struct Cost {
    bytes: usize,
    write: f64,
    read: f64,
}

/// Prints a Markdown table.
pub(crate) fn run(options: &Options) -> Result<()> {
    println!("| table | codec | MB | write, s of CPU | read, s of CPU |\n|---|---|--:|--:|--:|");
    for table in tables::tables(&options.tables)? {
        let batches = table.ours()?;
        let mut costs: Vec<Cost> = Vec::new();
        for round in 0..options.rounds {
            // Each round has every codec, so that a slow minute of the machine does not hit one alone.
            for (i, codec) in options.codec.iter().enumerate() {
                let now = measure(&batches, codec)?;
                match costs.get_mut(i) {
                    Some(best) if round > 0 => {
                        (best.write, best.read) = (best.write.min(now.write), best.read.min(now.read));
                    }
                    _ => costs.push(now),
                }
            }
        }
        for (codec, Cost { bytes, write, read }) in options.codec.iter().zip(&costs) {
            println!("| {} | {codec} | {:.1} | {write:.2} | {read:.3} |", table.name, *bytes as f64 / 1e6);
        }
    }
    Ok(())
}

fn measure(batches: &[RecordBatch], codec: &str) -> Result<Cost> {
    let Some(first) = batches.first() else { return Err("a table without rows".into()) };
    let properties = WriterProperties::builder().set_compression(codec.parse()?).build();
    let clock = Clock::start();
    let mut file = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut file, first.schema(), Some(properties))?;
    batches.iter().try_for_each(|batch| writer.write(batch))?;
    writer.close()?;
    let write = clock.seconds();
    let file = Bytes::from(file);
    let clock = Clock::start();
    for batch in
        ParquetRecordBatchReaderBuilder::try_new(file.clone())?.with_batch_size(BATCH_SIZE).build()?
    {
        black_box(batch?);
    }
    Ok(Cost { bytes: file.len(), write, read: clock.seconds() })
}

/// Measures how long this thread runs.
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
            (Some(start), Some(end)) => end.saturating_sub(start) as f64 / 1e9,
            _ => self.wall.elapsed().as_secs_f64(),
        }
    }
}

/// Nanoseconds that this thread has been running: the first number of its `schedstat`.
fn running() -> Option<u64> {
    fs::read_to_string("/proc/thread-self/schedstat").ok()?.split(' ').next()?.parse().ok()
}
