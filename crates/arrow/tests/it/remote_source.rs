//! Readers over a source whose requests are dear: the same rows as from memory, and few requests.

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{ArrayRef, BooleanArray, Float64Array, Int64Array, RecordBatch, StringArray};
use arrow_select::concat::concat_batches;
use bytes::Bytes;
use marquetry_arrow::arrow_reader::{
    ArrowPredicateFn, ArrowReaderOptions, OnCorrupt, ParquetRecordBatchReader,
    ParquetRecordBatchReaderBuilder, ProjectionMask, RowFilter, RowSelection, RowSelector,
};
use marquetry_arrow::arrow_writer::ArrowWriter;
use marquetry_base::Result;
use marquetry_core::fetch::RangeCache;
use marquetry_core::predicate::Predicate;
use marquetry_core::schema::Schema;
use marquetry_core::source::{CoalesceOptions, Source};
use marquetry_core::write::WriterProperties;
use proptest::prelude::*;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex};

/// A file that keeps what it was told to, and counts what it is asked for.
struct Far {
    file: Bytes,
    cost: CoalesceOptions,
    held: Mutex<Arc<RangeCache>>,
    requests: Mutex<Vec<Range<u64>>>,
    /// How often something was waited for.
    waits: AtomicUsize,
}

impl Far {
    fn new(file: &Bytes, cost: CoalesceOptions) -> Arc<Far> {
        let held = Mutex::new(Arc::new(RangeCache::new(file.len() as u64)));
        let (requests, waits) = Default::default();
        Arc::new(Far { file: file.clone(), cost, held, requests, waits })
    }

    fn take_requests(&self) -> Vec<Range<u64>> {
        std::mem::take(&mut self.requests.lock().unwrap())
    }

    fn take_waits(&self) -> usize {
        self.waits.swap(0, Relaxed)
    }

    fn fetch(&self, range: Range<u64>) -> Bytes {
        self.requests.lock().unwrap().push(range.clone());
        self.file.slice(range.start as usize..range.end as usize)
    }
}

impl Source for Far {
    fn len(&self) -> u64 {
        self.file.len() as u64
    }

    fn read_at(&self, offset: u64, len: usize) -> Result<Bytes> {
        let held = self.held.lock().unwrap().clone();
        let read = held.read_at(offset, len);
        match held.take_misses().is_empty() {
            true => read,
            false => {
                self.waits.fetch_add(1, Relaxed);
                Ok(self.fetch(offset..offset + len as u64))
            }
        }
    }

    fn available(&self, offset: u64, len: usize) -> usize {
        self.held.lock().unwrap().available(offset, len)
    }

    fn request_cost(&self) -> Option<CoalesceOptions> {
        Some(self.cost)
    }

    fn prefetch(&self, ranges: &[Range<u64>]) -> Result<()> {
        let mut held = self.held.lock().unwrap();
        let next = RangeCache::new(Source::len(self));
        ranges.iter().for_each(|range| next.insert_part_of(&held, range.clone()));
        let requests = self.cost.coalesce(next.missing_of(ranges.iter().cloned()));
        self.waits.fetch_add(usize::from(!requests.is_empty()), Relaxed);
        for request in requests {
            next.insert(request.start, self.fetch(request));
        }
        *held = Arc::new(next);
        Ok(())
    }
}

/// A number that grows, a text that repeats, and a float that nothing predicts.
fn rows(n: i64) -> RecordBatch {
    let random = |i: i64| f64::from_bits((i as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 2);
    let name = |i: i64| (i % 7 > 0).then(|| format!("name {}", i % 50));
    let columns: [(&str, ArrayRef); 3] = [
        ("id", Arc::new(Int64Array::from_iter_values(0..n))),
        ("name", Arc::new(StringArray::from_iter((0..n).map(name)))),
        ("price", Arc::new(Float64Array::from_iter_values((0..n).map(random)))),
    ];
    RecordBatch::try_from_iter(columns).unwrap()
}

fn file(rows: &RecordBatch, group: usize, page: usize, has_bloom_filters: bool) -> Bytes {
    let properties = WriterProperties::builder()
        .set_max_row_group_row_count(Some(group))
        .set_data_page_row_count_limit(page)
        .set_write_batch_size(page)
        .set_bloom_filter_enabled(has_bloom_filters)
        .build();
    let mut writer = ArrowWriter::try_new(Vec::new(), rows.schema(), Some(properties)).unwrap();
    writer.write(rows).unwrap();
    writer.into_inner().unwrap().into()
}

fn builder(
    source: Arc<dyn Source>,
    on_corrupt: OnCorrupt,
) -> ParquetRecordBatchReaderBuilder<Arc<dyn Source>> {
    let options = ArrowReaderOptions::new().with_on_corrupt(on_corrupt);
    ParquetRecordBatchReaderBuilder::try_new_with_options(source, options).unwrap()
}

fn read(reader: ParquetRecordBatchReader) -> RecordBatch {
    use arrow_array::RecordBatchReader;
    let schema = reader.schema();
    let batches: Vec<RecordBatch> = reader.map(Result::unwrap).collect();
    concat_batches(&schema, &batches).unwrap()
}

/// Rows whose number divided by `n` leaves no rest.
fn every(schema: &Schema, n: i64) -> RowFilter {
    let test = move |batch: RecordBatch| {
        let id = batch.column(0).as_primitive::<Int64Type>();
        Ok(BooleanArray::from_unary(id, |id| id % n == 0))
    };
    RowFilter::new(vec![Box::new(ArrowPredicateFn::new(ProjectionMask::columns(schema, ["id"]), test))])
}

fn predicate() -> impl Strategy<Value = Option<String>> {
    let some = prop_oneof![
        (0i64..3000, 0i64..400).prop_map(|(from, n)| format!("id between {from} and {}", from + n)),
        (0i64..50).prop_map(|i| format!("name = 'name {i}'")),
        (0i64..3000).prop_map(|i| format!("id < {i} or name is null")),
        (0i64..3000).prop_map(|i| format!("id >= {i} and price < 1e-100")),
        Just("id >= 0".to_owned()),
    ];
    prop::option::of(some)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    #[test]
    fn the_same_rows(
        (count, group, page) in (1i64..3000, 1usize..900, 1usize..400),
        mask in prop::collection::vec(any::<bool>(), 3),
        predicate in predicate(),
        modulo in prop::option::of(1i64..100),
        runs in prop::option::of(prop::collection::vec(1usize..700, 0..8)),
        (limit, offset) in (prop::option::of(0usize..500), prop_oneof![Just(0), 0usize..500]),
        (batch, skips) in (1usize..1200, any::<bool>()),
        (hole_size_limit, range_size_limit) in (0u64..3000, 1000u64..100_000),
    ) {
        let file = file(&rows(count), group, page, skips);
        let far = Far::new(&file, CoalesceOptions::new(hole_size_limit, range_size_limit));
        let is_whole = predicate.is_none() && modulo.is_none() && runs.is_none();
        let on_corrupt = if is_whole && skips { OnCorrupt::SkipPage } else { OnCorrupt::Fail };
        let read = |source: Arc<dyn Source>| {
            let names = ["id", "name", "price"].into_iter().zip(&mask).filter(|(_, is_in)| **is_in);
            let mut builder = builder(source, on_corrupt)
                .with_offset(offset)
                .with_batch_size(batch)
                .with_columns(names.map(|(name, _)| name).rev().collect::<Vec<_>>())
                .unwrap();
            if let Some(text) = &predicate {
                builder = builder.with_predicate(Predicate::parse(text).unwrap());
            }
            if let Some(n) = modulo {
                let filter = every(builder.parquet_schema(), n);
                builder = builder.with_row_filter(filter);
            }
            if let Some(runs) = &runs {
                let mut left = count as usize;
                let selectors = runs.iter().copied().chain([usize::MAX]).enumerate().map(|(i, run)| {
                    let run = run.min(left);
                    left -= run;
                    if i % 2 == 0 { RowSelector::skip(run) } else { RowSelector::select(run) }
                });
                builder = builder.with_row_selection(RowSelection::from(selectors.collect::<Vec<_>>()));
            }
            if let Some(limit) = limit {
                builder = builder.with_limit(limit);
            }
            read(builder.build().unwrap())
        };
        prop_assert_eq!(read(far.clone()), read(Arc::new(file)));
    }
}

fn len(ranges: &[Range<u64>]) -> u64 {
    ranges.iter().map(|range| range.end - range.start).sum()
}

/// Nothing is read that was not announced, and row groups come in few requests.
#[test]
fn row_groups_are_fetched_together() {
    let rows = rows(300_000);
    let file = file(&rows, 10_000, 2_000, false);
    let far = Far::new(&file, CoalesceOptions::OBJECT_STORE);
    let reader = builder(far.clone(), OnCorrupt::Fail).with_batch_size(1024);
    far.take_requests();
    assert_eq!(read(reader.build().unwrap()), rows);
    // All of it: 5 MB, less than is fetched ahead.
    let requests = far.take_requests();
    assert_eq!(requests.len(), 1, "{requests:?}");
    // A few rows: of one row group, and of it the first pages.
    let reader = builder(far.clone(), OnCorrupt::Fail).with_batch_size(1024);
    let footer = len(&far.take_requests());
    assert_eq!(read(reader.with_limit(10).build().unwrap()), rows.slice(0, 10));
    let fetched = far.take_requests();
    assert!(fetched.len() <= 2 && len(&fetched) < 400_000, "{fetched:?}, {footer}");
}

/// A filter waits once for many row groups, not for each; those that statistics rule out are not fetched with others.
#[test]
fn row_groups_are_not_waited_for_one_by_one() {
    let rows = rows(300_000);
    let file = file(&rows, 10_000, 2_000, false);
    let far = Far::new(&file, CoalesceOptions::OBJECT_STORE);
    let ask = |text: &str, columns: &[&str]| {
        let builder = builder(far.clone(), OnCorrupt::Fail).with_predicate(Predicate::parse(text).unwrap());
        far.prefetch(&[]).unwrap();
        far.take_requests();
        far.take_waits();
        let read = read(builder.with_columns(columns.iter().copied()).unwrap().build().unwrap());
        (read.num_rows(), far.take_waits(), len(&far.take_requests()))
    };
    let all = far.file.len() as u64;
    let (wanted, waits, bytes) = ask("name = 'name 3'", &["id"]);
    assert!(wanted > 1000 && waits <= 2, "{waits} waits, {bytes} bytes");
    // With a column that nothing predicts, as much as a scan takes, and not more.
    let (wanted, waits, bytes) = ask("name = 'name 3'", &["price"]);
    assert!(wanted > 1000 && waits <= 3 && bytes <= all, "{waits} waits, {bytes} bytes of {all}");
    // Of thirty row groups two.
    let (wanted, waits, bytes) = ask("id between 109990 and 110010", &["id", "price"]);
    assert!(wanted == 21 && waits <= 4 && bytes < all / 8, "{waits} waits, {bytes} bytes of {all}");
}

/// A filter that wants few rows spares the other columns, even where no statistics help.
#[test]
fn other_columns_are_fetched_for_wanted_rows() {
    let rows = rows(300_000);
    let file = file(&rows, 300_000, 5_000, false);
    let far = Far::new(&file, CoalesceOptions::new(4 << 10, 8 << 20));
    let builder = || builder(far.clone(), OnCorrupt::Fail);
    let metadata = builder().metadata().clone();
    let size = |leaf: usize| metadata.row_group(0).column(leaf).unwrap().compressed_size() as u64;
    assert!(size(2) > 2_000_000);
    far.take_requests();
    let reader = builder().with_row_filter(every(metadata.schema(), 123_456));
    far.take_requests();
    let wanted = read(reader.with_columns(["price"]).unwrap().build().unwrap());
    assert_eq!(wanted.num_rows(), 3);
    let requests = far.take_requests();
    // The index, the column that is looked at, and three pages.
    assert!(len(&requests) < size(0) + 300_000, "{requests:?}");
    assert!(requests.len() < 8, "{requests:?}");
    // One value of a sorted column: no more than its page and that of the other column.
    let predicate = Predicate::parse("id = 250000").unwrap();
    let reader = builder().with_predicate(predicate).with_columns(["price"]).unwrap();
    far.take_requests();
    assert_eq!(read(reader.build().unwrap()).column(0), &rows.column(2).slice(250_000, 1));
    let requests = far.take_requests();
    assert!(requests.len() <= 4 && len(&requests) < 150_000, "{requests:?}");
}

/// A source that claims to have more bytes than it is asked about.
struct Boastful(Bytes, usize);

impl Source for Boastful {
    fn len(&self) -> u64 {
        self.0.len() as u64
    }

    fn read_at(&self, offset: u64, len: usize) -> Result<Bytes> {
        self.0.read_at(offset, len)
    }

    fn available(&self, _: u64, _: usize) -> usize {
        self.1
    }
}

#[test]
fn what_a_source_claims_beyond_what_is_asked_is_left_aside() {
    let rows = rows(2_000);
    let file = file(&rows, 700, 100, false);
    for claim in [0, 1, 3_000_000_000, usize::MAX] {
        let source: Arc<dyn Source> = Arc::new(Boastful(file.clone(), claim));
        assert_eq!(read(builder(source, OnCorrupt::Fail).build().unwrap()), rows, "{claim}");
    }
}
