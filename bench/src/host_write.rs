//! `host_write`: lineitem written by our own threads, and by those of a host with the same number, in turn.
//!
//! The host's threads share a queue of column writers, the largest column first, as an engine that runs a task for each column
//! does. Both files are held against each other before the timing: they must be the same bytes.

use std::sync::Mutex;

use arrow_array::RecordBatch;
use clap::Args;
use marquetry::arrow::ArrowWriter;
use marquetry::arrow::arrow_writer::{ArrowColumnChunk, ArrowColumnWriter};
use marquetry::errors;
use marquetry::file::properties::WriterProperties;

use crate::error::Result;
use crate::sink::{Counting, Sink};
use crate::timing::in_turn;
use crate::write::lineitem_batches;

#[derive(Args)]
pub(crate) struct Options {
    /// TPC-H scale factor of lineitem: 1 is 6 million rows, some 2 GB of memory
    #[arg(long, default_value_t = 1.0)]
    sf: f64,
    /// How many threads each side has
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..))]
    threads: u32,
    /// The codecs
    #[arg(long, value_name = "CODEC", default_values = ["snappy", "zstd"])]
    codec: Vec<String>,
    /// Take the best and the median of N runs
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
}

/// Prints a Markdown table. A ratio above 1 says that the host's threads are faster.
pub(crate) fn run(options: &Options) -> Result<()> {
    let batches = lineitem_batches(options.sf)?;
    let threads = options.threads as usize;
    println!(
        "| lineitem SF{}, {threads} threads | our threads, s | a host's, s | ratio of the best | of the medians |",
        options.sf
    );
    println!("|---|--:|--:|--:|--:|");
    for codec in &options.codec {
        let properties =
            WriterProperties::builder().set_compression(codec.parse()?).set_threads(threads).build();
        let (mut ours, mut host) = (Vec::new(), Vec::new());
        by_writer(&batches, &properties, &mut ours)?;
        by_host(&batches, &properties, threads, &mut host)?;
        if ours != host {
            return Err(format!("{codec}: the files differ: {} and {} bytes", ours.len(), host.len()).into());
        }
        drop((ours, host));
        let mut ours = || by_writer(&batches, &properties, &mut Counting::default());
        let mut host = || by_host(&batches, &properties, threads, &mut Counting::default());
        let [ours, host] = in_turn(options.rounds, [Some(&mut ours), Some(&mut host)])?;
        let (Some(ours), Some(host)) = (ours, host) else { continue };
        println!(
            "| {codec} | {:.3} | {:.3} | {:.2} | {:.2} |",
            ours.best,
            host.best,
            ours.best / host.best,
            ours.median / host.median
        );
    }
    Ok(())
}

fn by_writer(batches: &[RecordBatch], properties: &WriterProperties, sink: &mut dyn Sink) -> Result<()> {
    let mut writer = ArrowWriter::try_new(sink, batches[0].schema(), Some(properties.clone()))?;
    for batch in batches {
        writer.write(batch)?;
    }
    writer.close()?;
    Ok(())
}

/// Each row group's columns on threads of ours, one row group after the other, as the writer's own threads do it.
fn by_host(
    batches: &[RecordBatch],
    properties: &WriterProperties,
    threads: usize,
    sink: &mut dyn Sink,
) -> Result<()> {
    let writer = ArrowWriter::try_new(sink, batches[0].schema(), Some(properties.clone()))?;
    let (mut file, factory) = writer.into_serialized_writer()?;
    let most = properties.max_row_group_row_count().unwrap_or(usize::MAX);
    for (number, row_group) in row_groups(batches, most).iter().enumerate() {
        let columns = factory.create_column_writers(number)?;
        let mut chunks: Vec<Option<errors::Result<ArrowColumnChunk>>> =
            columns.iter().map(|_| None).collect();
        let mut tasks: Vec<_> = columns.into_iter().zip(&mut chunks).enumerate().collect();
        // Taking the largest column last would keep the others waiting.
        tasks.sort_by_key(|(root, _)| bytes(row_group, *root));
        let queue = Mutex::new(tasks);
        let next = || queue.lock().ok()?.pop();
        std::thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(|| {
                    while let Some((root, (column, chunk))) = next() {
                        *chunk = Some(write_column(column, row_group, root));
                    }
                });
            }
        });
        drop(queue);
        let chunks: errors::Result<Vec<_>> = chunks.into_iter().flatten().collect();
        file.append_row_group(chunks?)?;
    }
    file.close()?;
    Ok(())
}

/// Approximate memory of a column of a row group, in bytes.
fn bytes(batches: &[RecordBatch], root: usize) -> usize {
    batches.iter().map(|batch| batch.column(root).to_data().get_slice_memory_size().unwrap_or(0)).sum()
}

/// Encodes a column of one row group. In lineitem each field is one column.
fn write_column(
    mut column: ArrowColumnWriter,
    batches: &[RecordBatch],
    root: usize,
) -> errors::Result<ArrowColumnChunk> {
    for batch in batches {
        column.write_array(batch.column(root))?;
    }
    column.close()
}

/// Splits the batches into groups of `most` rows.
fn row_groups(batches: &[RecordBatch], most: usize) -> Vec<Vec<RecordBatch>> {
    let mut groups = vec![Vec::new()];
    let mut room = most;
    for batch in batches {
        let mut from = 0;
        while from < batch.num_rows() {
            if room == 0 {
                groups.push(Vec::new());
                room = most;
            }
            let rows = room.min(batch.num_rows() - from);
            groups.last_mut().into_iter().for_each(|group| group.push(batch.slice(from, rows)));
            (from, room) = (from + rows, room - rows);
        }
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The files are the same bytes.
    #[test]
    fn a_small_lineitem() {
        let codec = vec!["snappy".to_owned(), "uncompressed".to_owned()];
        run(&Options { sf: 0.01, threads: 2, codec, rounds: 1 }).unwrap();
    }
}
