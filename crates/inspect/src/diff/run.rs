//! Compares the rows of two files.

use super::compared_columns::comparable;
use super::diff_file::{DiffFile, column_hashes};
use super::in_place::Places;
use super::int96::in_common_units;
use super::options::DiffOptions;
use super::pairing::Unpaired;
use super::parted_log::PartedLog;
use super::row_log::RowLog;
use super::row_sink::RowSink;
use super::rows_diff::RowsDiff;
use super::{keyed, multiset, pairing, side_by_side};
use marquetry_base::{Error, Result, available_threads, parallel_map};
use marquetry_core::write::SealedSpills;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Compares the rows of two files.
///
/// Each file is read once, and rows that differ once more. Both are read twice if they have equally many rows, and it
/// turns out that very many differ, or that keys are in no order. Storage makes no difference: row groups, encodings,
/// codecs, the width of integers, the unit of times, layouts of text. Values are the same if their type treats them as
/// the same: all NaN are, both zeros are not.
///
/// Without a key, rows belong together by their values, wherever they are. If both files have equally many rows, and at
/// most a million places differ, a row that was replaced by another one counts as changed. With a
/// [key](DiffOptions::key), rows belong together by their key.
///
/// Files with equally many rows are first compared side by side, which keeps none of their rows. If rows were added or
/// removed, both files are read in turn, which keeps few of their rows while few differ: half a million.
///
/// INT96 timestamps that do not fit in nanoseconds are compared if the options of both files ask for
/// [`Int96Unit::Auto`](marquetry_arrow::arrow_reader::Int96Unit::Auto): each column in the finest unit that holds its
/// values in both files. The column is read once more for that.
///
/// Rows are compared by 64-bit hashes: each difference is missed with a probability of 2^-64. Memory: some 100 MB,
/// whatever the size of the files; more goes to [`DiffOptions::spill_store`].
///
/// Fails if reading fails; if a column of INT96 timestamps has some that need nanoseconds, and some that do not fit in
/// nanoseconds; if no column can be compared; if a column of the key is not at the top level of both files, or its
/// values cannot be compared; or if a key is not unique.
///
/// ```
/// use marquetry_arrow::arrow_reader::ArrowReaderOptions;
/// use marquetry_inspect::{DiffFile, DiffOptions, diff_rows};
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/wines.parquet");
/// let source = std::sync::Arc::new(bytes::Bytes::from(std::fs::read(path)?));
/// let file = DiffFile::open(source, ArrowReaderOptions::new())?;
/// let diff = diff_rows(&file, &file, &DiffOptions::default())?;
/// assert!(diff.is_same() && diff.rows == (200, 200));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn diff_rows(left: &DiffFile, right: &DiffFile, options: &DiffOptions) -> Result<RowsDiff> {
    let (names, not_compared) = comparable(left, right, options)?;
    let (left, right) = &in_common_units(left, right, &names)?;
    let options = &with_secrets_kept(left, right, options);
    let mut diff = RowsDiff { columns: names, not_compared, ..RowsDiff::default() };
    let mut changed = match options.key.is_empty() {
        true => by_values(left, right, options, &mut diff)?,
        false => by_key(left, right, options, &mut diff)?,
    };
    if !changed.is_empty() {
        (diff.changed_columns, diff.changed_looked_at) =
            changed_columns(left, right, &changed, &diff.columns)?;
        changed.truncate(options.samples);
        diff.changed_rows = changed;
    }
    Ok(diff)
}

/// Returns the options, with encrypted spills for encrypted files: hashes reveal values that can be guessed.
fn with_secrets_kept(left: &DiffFile, right: &DiffFile, options: &DiffOptions) -> DiffOptions {
    let is_encrypted = |file: &DiffFile| file.metadata.metadata().encryption().is_some();
    let options = options.clone();
    match is_encrypted(left) || is_encrypted(right) {
        true => {
            let store = SealedSpills::new(options.spill_store.clone());
            options.with_spill_store(Arc::new(store))
        }
        false => options,
    }
}

fn by_values(
    left: &DiffFile,
    right: &DiffFile,
    options: &DiffOptions,
    diff: &mut RowsDiff,
) -> Result<Vec<(u64, u64)>> {
    let samples = options.samples;
    if let Some(places) = side_by_side::compare(left, right, &diff.columns, options)? {
        diff.rows = (num_rows(left), num_rows(right));
        let found = Places::new(places).compare();
        let count = |places: &[u64]| places.len() as u64;
        (diff.removed, diff.added, diff.changed) =
            (count(&found.removed), count(&found.added), count(&found.changed));
        diff.removed_rows = found.removed.into_iter().take(samples).collect();
        diff.added_rows = found.added.into_iter().take(samples).collect();
        (diff.is_reordered, diff.first_moved) = (found.first_moved.is_some(), found.first_moved);
        let changed = found.changed.into_iter().take(MOST_LOOKED_AT).map(|place| (place, place));
        return Ok(changed.collect());
    }
    if let Some(found) = pairing::compare(left, right, &diff.columns, options)?
        // If all rows are in both files, their order is compared by a log of it.
        && (found.removed > 0 || found.added > 0)
    {
        return Ok(paired(found, (num_rows(left), num_rows(right)), samples, diff));
    }
    let [left, right] =
        &scan(left, right, &diff.columns, options, || RowLog::new(options.spill_store.clone()))?;
    diff.rows = (left.len(), right.len());
    let found = multiset::compare(left, right, samples)?;
    (diff.removed, diff.added) = (found.removed, found.added);
    (diff.removed_rows, diff.added_rows) = (found.removed_rows, found.added_rows);
    if found.removed == 0 && found.added == 0 {
        diff.first_moved = first_difference(left, right)?;
        diff.is_reordered = diff.first_moved.is_some();
    }
    Ok(Vec::new())
}

fn by_key(
    left: &DiffFile,
    right: &DiffFile,
    options: &DiffOptions,
    diff: &mut RowsDiff,
) -> Result<Vec<(u64, u64)>> {
    if let Some(places) = side_by_side::compare(left, right, &diff.columns, options)? {
        diff.rows = (num_rows(left), num_rows(right));
        diff.changed = places.len() as u64;
        return Ok(places.into_iter().take(MOST_LOOKED_AT).map(|(place, ..)| (place, place)).collect());
    }
    if let Some(found) = pairing::compare(left, right, &diff.columns, options)?
        && (found.removed > 0 || found.added > 0)
    {
        let changed = paired(found, (num_rows(left), num_rows(right)), options.samples, diff);
        diff.changed = changed.len() as u64;
        return Ok(changed.into_iter().take(MOST_LOOKED_AT).collect());
    }
    let most = num_rows(left).max(num_rows(right));
    let new_log = || PartedLog::new(options.spill_store.clone(), most);
    let [left, right] = &scan(left, right, &diff.columns, options, new_log)?;
    diff.rows = (left.len(), right.len());
    let found = keyed::compare(left, right, options.samples, MOST_LOOKED_AT)?;
    (diff.removed, diff.added, diff.changed) = (found.removed, found.added, found.changed);
    (diff.removed_rows, diff.added_rows) = (found.removed_rows, found.added_rows);
    if found.removed == 0 && found.added == 0 {
        diff.first_moved = found.first_moved;
        diff.is_reordered = diff.first_moved.is_some();
    }
    Ok(found.changed_rows)
}

/// Stores what was found by pairing rows, and returns the rows that changed.
fn paired(found: Unpaired, rows: (u64, u64), samples: usize, diff: &mut RowsDiff) -> Vec<(u64, u64)> {
    diff.rows = rows;
    (diff.removed, diff.added) = (found.removed, found.added);
    diff.removed_rows = found.removed_rows.into_iter().take(samples).collect();
    diff.added_rows = found.added_rows.into_iter().take(samples).collect();
    found.changed_rows
}

fn num_rows(file: &DiffFile) -> u64 {
    file.metadata.metadata().num_rows()
}

/// Returns the first row that differs.
fn first_difference(left: &RowLog, right: &RowLog) -> Result<Option<u64>> {
    let mut first = None;
    left.each_pair(right, |start, left, right| {
        let rows = left.iter().zip(right);
        if let (None, Some(row)) =
            (first, rows.enumerate().find_map(|(i, (left, right))| (left != right).then_some(i)))
        {
            first = Some(start + row as u64);
        }
        Ok(())
    })?;
    Ok(first)
}

/// Reads both files at the same time.
fn scan<L: RowSink + Send + 'static>(
    left: &DiffFile,
    right: &DiffFile,
    names: &[String],
    options: &DiffOptions,
    new_log: impl Fn() -> L,
) -> Result<[L; 2]> {
    let threads = match options.threads {
        0 => available_threads(),
        threads => threads,
    };
    let each = (threads / 2).max(1);
    let mut parts = Vec::new();
    for file in [left, right] {
        let reader = file.reader(names, each, &options.executor)?;
        parts.push((file.clone(), reader, new_log()));
    }
    let key = options.key.clone();
    let executor = options.executor.or_threads("marquetry-diff");
    let mut workers = vec![(); threads.min(2)];
    let scanned = parallel_map(&*executor, parts, &mut workers, move |(file, reader, log), ()| {
        file.scan(reader, &key, log)
    });
    let mut logs = scanned.into_iter();
    let mut next = || logs.next().unwrap_or_else(|| Err(Error::argument("two files are compared")));
    Ok([next()?, next()?])
}

/// Returns how many of the changed rows differ in each column, and how many rows were examined.
fn changed_columns(
    left: &DiffFile,
    right: &DiffFile,
    changed: &[(u64, u64)],
    names: &[String],
) -> Result<(Vec<(String, u64)>, u64)> {
    let mut counts: BTreeMap<usize, (String, u64)> = BTreeMap::new();
    for rows in changed.chunks(ROWS_AT_A_TIME) {
        let lefts: Vec<u64> = rows.iter().map(|(left, _)| *left).collect();
        let mut rights: Vec<u64> = rows.iter().map(|(_, right)| *right).collect();
        rights.sort_unstable();
        let of_left = column_hashes(&left.rows_at(&lefts, names)?);
        let of_right = column_hashes(&right.rows_at(&rights, names)?);
        for (i, ((name, left), (_, right))) in of_left.into_iter().zip(of_right).enumerate() {
            let differs = |(left, (_, number)): &(&u64, &(u64, u64))| {
                rights.binary_search(number).is_ok_and(|at| right.get(at) != Some(left))
            };
            let differing = left.iter().zip(rows).filter(differs).count() as u64;
            if differing > 0 {
                counts.entry(i).or_insert((name, 0)).1 += differing;
            }
        }
    }
    Ok((counts.into_values().collect(), changed.len() as u64))
}

/// Maximum number of changed rows that are compared column by column.
const MOST_LOOKED_AT: usize = 10_000;
const ROWS_AT_A_TIME: usize = 1_000;
