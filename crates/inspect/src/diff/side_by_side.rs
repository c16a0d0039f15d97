//! Reads both files side by side, from one row at which row groups of both begin to the next, and keeps nothing of
//! equal rows. This is enough if the files have equally many rows, few of them differ, and keys, if there are any, are
//! in order.

use super::diff_file::DiffFile;
use super::key_order::KeyOrder;
use super::options::DiffOptions;
use super::side::Side;
use marquetry_base::{Error, Result, available_threads, parallel_map};
use marquetry_core::metadata::ParquetMetaData;
use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// A place at which rows differ, with the hashes of the left and the right row.
pub(crate) type Place = (u64, u64, u64);

/// Returns the places at which rows differ, ascending. `None` if there are too many, if one file has more rows, or if
/// there is a key and it is not known to be unique, because the keys at a place differ, or do not ascend or descend.
pub(crate) fn compare(
    left: &DiffFile,
    right: &DiffFile,
    names: &[String],
    options: &DiffOptions,
) -> Result<Option<Vec<Place>>> {
    let metadata = |file: &DiffFile| file.metadata.metadata().clone();
    if metadata(left).num_rows() != metadata(right).num_rows() {
        return Ok(None);
    }
    let stretches = stretches(&metadata(left), &metadata(right));
    let threads = match options.threads {
        0 => available_threads(),
        threads => threads,
    };
    let each = (threads / (2 * stretches.len().max(1))).max(1);
    let (mut workers, executor) =
        (vec![(); threads.min(stretches.len())], options.executor.or_threads("marquetry-diff"));
    let (left, right) = (left.clone(), right.clone());
    let (names, options) = (names.to_vec(), options.clone());
    let found = Arc::new(Found::default());
    let shared = found.clone();
    let compared = parallel_map(&*executor, stretches, &mut workers, move |rows, ()| {
        let side = |file: &DiffFile| {
            let reader = file.rows(&names, rows.clone(), each, &options.executor)?;
            Ok::<_, Error>(Side::new(reader, &options.key, rows.start))
        };
        let (mut left, right) = (side(&left)?, side(&right)?);
        // If keys are the same, the order of one side is that of the other.
        if !options.key.is_empty() && !left.watch_order()? {
            return Ok(None);
        }
        compare_stretch(left, right, &shared)
    });
    let compared: Option<Vec<Stretch>> = compared.into_iter().collect::<Result<_>>()?;
    let Some(compared) = compared.filter(|_| !found.is_over()) else { return Ok(None) };
    if !KeyOrder::holds_over(compared.iter().filter_map(|stretch| stretch.order.as_ref())) {
        return Ok(None);
    }
    Ok(Some(compared.into_iter().flat_map(|stretch| stretch.places).collect()))
}

/// Divides the rows at common beginnings of row groups, into stretches that are large enough for a reader each.
fn stretches(left: &ParquetMetaData, right: &ParquetMetaData) -> Vec<Range<u64>> {
    let starts = |metadata: &ParquetMetaData| {
        let rows = metadata.row_groups().map(|group| group.num_rows());
        let starts = rows.scan(0u64, |next, rows| {
            let start = *next;
            *next = start.saturating_add(rows);
            Some(start)
        });
        starts.collect::<BTreeSet<u64>>()
    };
    let (lefts, rights) = (starts(left), starts(right));
    let mut out: Vec<Range<u64>> = Vec::new();
    for start in lefts.intersection(&rights).copied() {
        match out.last_mut() {
            Some(last) if start - last.start < FEWEST_ROWS => {}
            Some(last) => {
                last.end = start;
                out.push(start..start);
            }
            None => out.push(start..start),
        }
    }
    if let Some(last) = out.last_mut() {
        last.end = left.num_rows();
    }
    out
}

/// The state that all stretches share.
#[derive(Default)]
struct Found {
    places: AtomicUsize,
    has_no_order: AtomicBool,
}

impl Found {
    /// Whether comparing places is not enough.
    fn is_over(&self) -> bool {
        self.places.load(Ordering::Relaxed) > MOST_PLACES || self.has_no_order.load(Ordering::Relaxed)
    }
}

/// The differences in a stretch.
struct Stretch {
    places: Vec<Place>,
    order: Option<KeyOrder>,
}

/// Returns `None` if it is given up before the end.
fn compare_stretch(mut left: Side, mut right: Side, found: &Found) -> Result<Option<Stretch>> {
    let mut places = Vec::new();
    loop {
        let has_rows = left.fill()? & right.fill()?;
        if !left.is_in_order() {
            found.has_no_order.store(true, Ordering::Relaxed);
        }
        if found.is_over() {
            return Ok(None);
        }
        if !has_rows {
            return Ok(Some(Stretch { places, order: left.order }));
        }
        let n = left.left().min(right.left());
        let start = left.next();
        let (lefts, rights) = (left.take(n), right.take(n));
        if lefts.0 != rights.0 {
            found.has_no_order.store(true, Ordering::Relaxed);
        }
        if lefts.1 != rights.1 {
            let before = places.len();
            let rows = (start..).zip(lefts.1.iter().zip(rights.1));
            places.extend(
                rows.filter(|(_, (left, right))| left != right)
                    .map(|(place, (left, right))| (place, *left, *right)),
            );
            found.places.fetch_add(places.len() - before, Ordering::Relaxed);
        }
    }
}

/// Maximum number of places: 24 MiB of them.
const MOST_PLACES: usize = 1 << 20;
/// Minimum number of rows of a reader, if the file has that many.
const FEWEST_ROWS: u64 = 1 << 18;

#[cfg(test)]
mod tests {
    use super::*;
    use marquetry_arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions};
    use marquetry_arrow::arrow_writer::ArrowWriter;
    use marquetry_core::write::WriterProperties;

    /// A file with row groups of so many rows.
    fn file(rows: i64, of_group: usize) -> Arc<ParquetMetaData> {
        let ids: arrow_array::ArrayRef = Arc::new(arrow_array::Int64Array::from_iter_values(0..rows));
        let batch = arrow_array::RecordBatch::try_from_iter([("id", ids)]).unwrap();
        let properties = WriterProperties::builder().set_max_row_group_row_count(Some(of_group)).build();
        let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), Some(properties)).unwrap();
        writer.write(&batch).unwrap();
        let bytes = bytes::Bytes::from(writer.into_inner().unwrap());
        ArrowReaderMetadata::load(bytes, ArrowReaderOptions::new()).unwrap().metadata().clone()
    }

    #[test]
    fn stretches_begin_where_row_groups_of_both_do() {
        let n = 3 * FEWEST_ROWS as i64;
        let (some, more) = (file(n, FEWEST_ROWS as usize), file(n, FEWEST_ROWS as usize / 2));
        assert_eq!(
            stretches(&some, &more),
            (0..3).map(|i| i * FEWEST_ROWS..(i + 1) * FEWEST_ROWS).collect::<Vec<_>>()
        );
        assert!(stretches(&file(n, 100_000), &more).into_iter().eq(std::iter::once(0..n as u64)));
        assert!(stretches(&file(0, 10), &file(0, 10)).len() <= 1);
    }
}
