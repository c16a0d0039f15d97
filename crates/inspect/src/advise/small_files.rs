//! Many small files.

use super::finding::{AdviceKind, Change, Confidence, Finding};
use super::sample::{MeasuredFile, Sample, like, sample_bytes};
use super::sampled_columns::SampledColumns;
use super::time_left::TimeLeft;
use crate::reencode::ColumnSource;
use arrow_array::RecordBatch;
use arrow_select::concat::concat_batches;
use marquetry_base::{Error, Result};
use std::time::Duration;

/// Determines whether files that are read as one table are better merged. Some of them are written as one file, to
/// compare the bytes and the reading time. Each of `files` has a name.
///
/// Files of 96 MiB and more are left alone: three quarters of the 128 MiB that a file should have. Fewer than five
/// small files, and files of different types, result in no recommendation.
///
/// `budget` limits the time: if it is short, fewer files are examined.
///
/// Fails if reading a file fails, and names that file.
pub fn advise_merging(files: &[(String, ColumnSource)], budget: Duration) -> Result<Option<Finding>> {
    let time = TimeLeft::of(budget);
    let small: Vec<_> = files
        .iter()
        .filter(|(_, file)| file.source.len() < SMALL_BYTES && file.metadata.num_rows() > 0)
        .collect();
    if small.len() < FEWEST_FILES {
        return Ok(None);
    }
    let (mut batches, mut apart, mut apart_time, mut stored) = (Vec::new(), 0, 0.0, 0);
    let mut looked_at = 0;
    for (name, file) in small.iter().take(MOST_READ) {
        if time.is_over() && looked_at > 0 {
            break;
        }
        let place = |error: Error| error.in_file(name.clone());
        let columns = SampledColumns::all(file.metadata.schema());
        let sample =
            Sample::read(file, &columns, (ROWS_OF_EACH, sample_bytes(budget) / 8), time).map_err(place)?;
        let first: Option<&RecordBatch> = batches.first();
        if first.is_some_and(|first| first.schema().fields() != sample.batch.schema().fields()) {
            return Ok(None);
        }
        let alone = sample.write(like(&file.metadata)?.build()).map_err(place)?;
        apart += alone.bytes();
        apart_time += alone.decode_seconds()?;
        stored += file.source.len();
        looked_at += 1;
        batches.push(sample.batch);
    }
    let (_, first) = small[0];
    let schema = batches[0].schema();
    let whole = concat_batches(&schema, &batches).map_err(super::sample::wrong)?;
    let merged = MeasuredFile::write(&whole, like(&first.metadata)?.build())?;
    let all: u64 = small.iter().map(|(_, file)| file.source.len()).sum();
    let ratio = merged.bytes() as f64 / apart.max(1) as f64;
    let parts = all.div_ceil(FILE_BYTES).max(1);
    let what = format!(
        "{} files of {} bytes on average, where a file should have 128 MiB: merge them into {parts}: {:+.1} % bytes, {} footers fewer to read",
        small.len(),
        all / small.len() as u64,
        (ratio - 1.0) * 100.0,
        small.len() as u64 - parts.min(small.len() as u64)
    );
    let names = small.iter().map(|(name, _)| name.clone()).collect();
    let scale = all as f64 / stored.max(1) as f64;
    Ok(Some(
        Finding::new(
            AdviceKind::SmallFiles,
            what,
            Confidence::of(looked_at, small.len() as u64),
            Change::Merge(names),
        )
        .with_bytes(all, (all as f64 * ratio) as u64)
        .with_decode(apart_time * scale, merged.decode_seconds()? * scale),
    ))
}

/// Recommended bytes of a file.
const FILE_BYTES: u64 = 128 << 20;
const SMALL_BYTES: u64 = FILE_BYTES / 4 * 3;
const FEWEST_FILES: usize = 5;
/// Maximum number of files that are read.
const MOST_READ: usize = 16;
const ROWS_OF_EACH: u64 = 1 << 14;
