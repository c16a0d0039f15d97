//! Bounds that other writers have written are those that we find, or bound them.

use bytes::Bytes;
use marquetry_base::Limits;
use marquetry_core::io::{LocalFile, read_metadata};
use marquetry_core::metadata::ParquetMetaData;
use marquetry_core::nesting::NestedField;
use marquetry_core::page::PageOptions;
use marquetry_core::page_index::read_column_index;
use marquetry_core::read::{ColumnReader, ReadTarget, ValueLayout};
use marquetry_core::schema::Leaf;
use marquetry_core::sort_order::SortOrder;
use marquetry_core::source::Source;
use marquetry_core::statistics::{BloomFilter, MinMaxStats, boundary_order, statistics};
use marquetry_encoding::Values;
use marquetry_format::{BoundaryOrder, ColumnIndex, ColumnMetaData, ColumnOrder};
use std::cmp::Ordering;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The folder `parquet-testing/data`; `None` if the test is to be skipped.
pub(crate) fn root() -> Option<PathBuf> {
    let shared = match std::env::var_os("MARQUETRY_CORPUS") {
        Some(path) => PathBuf::from(path),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared"),
    };
    let root = shared.join("parquet-testing/data");
    if root.is_dir() {
        return Some(root);
    }
    assert!(std::env::var_os("CI").is_none(), "no corpus at {}", shared.display());
    println!("skipped: no corpus at {}", shared.display());
    None
}

/// A column chunk of a file: its values, and what the footer says of it.
pub(crate) struct Chunk {
    pub(crate) leaf: Leaf,
    pub(crate) values: Values,
    pub(crate) meta: ColumnMetaData,
    declared: Option<ColumnOrder>,
    index: Option<ColumnIndex>,
    bloom: Option<Bytes>,
}

/// All column chunks of a file that can be read.
pub(crate) fn chunks(path: &Path) -> Vec<Chunk> {
    let source: Arc<dyn Source> = Arc::new(LocalFile::open(path).unwrap());
    let Ok(footer) = read_metadata(&*source, &Limits::default()) else { return Vec::new() };
    let metadata = Arc::new(footer.metadata);
    let fields = NestedField::from_schema(metadata.schema());
    let mut found = Vec::new();
    for row_group in 0..metadata.num_row_groups() {
        for (i, leaf) in metadata.schema().columns().iter().enumerate() {
            let target = ReadTarget::new(leaf, &fields[leaf.root()], i, ValueLayout::Native);
            found.extend(chunk(&source, &metadata, row_group, i, target));
        }
    }
    found
}

fn chunk(
    source: &Arc<dyn Source>,
    metadata: &Arc<ParquetMetaData>,
    row_group: usize,
    i: usize,
    target: ReadTarget,
) -> Option<Chunk> {
    let leaf = metadata.schema().column(i).clone();
    let column = metadata.row_group(row_group).column(i).ok()?;
    let rows = metadata.row_group(row_group).num_rows() as usize;
    if column.uncompressed_size() > LARGE || column.is_encrypted() {
        return None;
    }
    let options = PageOptions::for_writer(metadata.created_by()).with_checksum_verification(false);
    let mut reader = ColumnReader::new(source.clone(), metadata.clone(), &[row_group], i, target, options);
    let batch = reader.read(rows).ok()?;
    let mut values = leaf.physical().shape().empty();
    for slot in 0..batch.values.len() {
        if batch.validity.as_ref().is_none_or(|validity| validity.get(slot)) {
            values.push_range(&batch.values, slot..slot + 1).unwrap();
        }
    }
    let bloom = column.bloom_filter_offset().and_then(|offset| {
        let end = (offset + (1 << 20)).min(source.len());
        source.read_at(offset, (end - offset) as usize).ok()
    });
    Some(Chunk {
        values,
        meta: column.meta_data().ok()?,
        declared: metadata.column_orders().and_then(|orders| orders.get(i)).copied(),
        index: read_column_index(&**source, column, &Limits::default()).unwrap_or(None),
        bloom,
        leaf,
    })
}

/// Chunks of more bytes are left out: they take long.
const LARGE: i64 = 4 << 20;

fn all_files(root: &Path) -> Vec<PathBuf> {
    let paths = [root.to_path_buf(), root.join("geospatial")]
        .into_iter()
        .flat_map(|folder| std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()));
    let mut paths: Vec<_> =
        paths.filter(|path| path.extension().is_some_and(|extension| extension == "parquet")).collect();
    paths.sort();
    paths
}

#[test]
fn bounds_of_other_writers_are_those_that_we_find() {
    let Some(root) = root() else { return };
    let (mut equal, mut wider, mut cut) = (0, 0, 0);
    for path in all_files(&root) {
        for chunk in chunks(&path) {
            let place = format!("{} {}", path.display(), chunk.leaf.dotted());
            let Some(theirs) = &chunk.meta.statistics else { continue };
            let Some(order) = SortOrder::for_reading(&chunk.leaf, chunk.declared.as_ref()) else { continue };
            let mut bounds = MinMaxStats::new(order);
            bounds.update(&chunk.values, 0..chunk.values.len());
            let ours = statistics(&bounds, 0, None, None, false);
            if let Some(nan_count) = theirs.nan_count {
                assert_eq!(ours.nan_count, Some(nan_count), "{place}");
            }
            for (ours, theirs, closer) in [
                (&ours.min_value, &theirs.min_value, Ordering::Greater),
                (&ours.max_value, &theirs.max_value, Ordering::Less),
            ] {
                match (ours, theirs) {
                    (Some(ours), Some(theirs)) if ours == theirs => equal += 1,
                    (_, Some(theirs)) if !order.is_total() && order.is_nan(theirs) => wider += 1,
                    (Some(ours), Some(theirs)) => match order.compare(ours, theirs) {
                        Some(Ordering::Equal) => equal += 1,
                        ordering => {
                            assert_eq!(ordering, Some(closer), "{place}: {ours:?} {theirs:?}");
                            cut += 1;
                        }
                    },
                    (None, Some(theirs)) => assert!(theirs.is_empty(), "{place}: {theirs:?}"),
                    (_, None) => {}
                }
            }
        }
    }
    println!("{equal} equal, {wider} NaN, {cut} cut");
    assert!(equal > 300 && cut < 20, "{equal} {cut}");
}

#[test]
fn boundary_orders_of_other_writers_hold() {
    let Some(root) = root() else { return };
    let mut compared = 0;
    for path in all_files(&root) {
        for chunk in chunks(&path) {
            let Some(index) = &chunk.index else { continue };
            let Some(order) = SortOrder::for_reading(&chunk.leaf, chunk.declared.as_ref()) else { continue };
            let ours = boundary_order(order, &index.null_pages, &index.min_values, &index.max_values);
            if index.boundary_order != BoundaryOrder::UNORDERED && index.null_pages.len() > 1 {
                assert_eq!(ours, index.boundary_order, "{} {}", path.display(), chunk.leaf.dotted());
                compared += 1;
            }
        }
    }
    println!("{compared} compared");
    assert!(compared > 5, "{compared}");
}

/// The footers of `floating_orders_nan_count.parquet`: the rules of both orders, written by another writer.
#[test]
fn both_orders_of_floats_as_another_writer_has_them() {
    let Some(root) = root() else { return };
    let (mut compared, mut indexes) = (0, 0);
    for chunk in chunks(&root.join("floating_orders_nan_count.parquet")) {
        let order = SortOrder::for_reading(&chunk.leaf, chunk.declared.as_ref()).unwrap();
        let mut bounds = MinMaxStats::new(order);
        bounds.update(&chunk.values, 0..chunk.values.len());
        let theirs = chunk.meta.statistics.unwrap();
        let ours = statistics(&bounds, 0, None, None, false);
        let place = chunk.leaf.dotted();
        assert_eq!(ours.nan_count, theirs.nan_count, "{place}");
        // That writer has no bounds under TYPE_ORDER as soon as there is a NaN, which is legal.
        if theirs.min_value.is_some()
            || chunk.declared != Some(ColumnOrder::TypeOrder)
            || theirs.nan_count == Some(0)
        {
            assert_eq!(ours.min_value, theirs.min_value, "{place}");
            assert_eq!(ours.max_value, theirs.max_value, "{place}");
            compared += 1;
        }
        let Some(index) = chunk.index.filter(|index| index.null_pages.len() == 1) else { continue };
        assert_eq!(Some(index.min_values[0].clone()), ours.min_value, "{place}");
        assert_eq!(Some(index.max_values[0].clone()), ours.max_value, "{place}");
        assert_eq!(index.nan_counts, ours.nan_count.map(|count| vec![count]), "{place}");
        indexes += 1;
    }
    assert!(compared == 24 && indexes == 24, "{compared} {indexes}");
}

#[test]
fn bloom_filters_of_other_writers_are_those_that_we_make() {
    let Some(root) = root() else { return };
    let mut compared = 0;
    for path in all_files(&root) {
        for chunk in chunks(&path) {
            let Some(bloom) = &chunk.bloom else { continue };
            let theirs = BloomFilter::read(bloom).unwrap();
            let mut bytes = Vec::new();
            theirs.write(&mut bytes);
            let header = bytes.len() - theirs.num_bytes();
            bytes[header..].fill(0);
            let mut ours = BloomFilter::read(&bytes).unwrap();
            ours.insert(&chunk.values, 0..chunk.values.len());
            assert_eq!(ours, theirs, "{} {}", path.display(), chunk.leaf.dotted());
            compared += 1;
        }
    }
    assert!(compared >= 2, "{compared}");
}
