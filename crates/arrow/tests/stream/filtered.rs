//! Streams of some rows: the same as readers give, for few bytes.

use super::store::{Faults, Store};
use super::{builder, collect, file, one, read, rows, written};
use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{ArrayRef, BooleanArray, Float64Array, Int64Array, RecordBatch};
use futures::executor::block_on;
use marquetry_arrow::arrow_reader::{
    ArrowPredicateFn, ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder,
    ProjectionMask, RowFilter, RowSelection, RowSelector,
};
use marquetry_arrow::async_reader::{CoalesceOptions, ParquetRecordBatchStreamBuilder};
use marquetry_core::predicate::Predicate;
use marquetry_core::schema::Schema;
use marquetry_core::write::WriterProperties;
use proptest::prelude::*;
use std::ops::Range;
use std::sync::Arc;

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
        (0i64..3000, 0f64..3000.).prop_map(|(i, price)| format!("id >= {i} and price < {price}")),
        (0i64..3000).prop_map(|i| format!("any(list) = {i}")),
        (0i64..3000).prop_map(|i| format!("all(list) < {i} and id > {}", i / 2)),
        (0i64..4).prop_map(|n| format!("cardinality(list) > {n} or list is null")),
        Just("list is not empty and price > 1000".to_owned()),
        Just("id >= 0".to_owned()),
        Just("id < 0".to_owned()),
    ];
    prop::option::of(some)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]
    #[test]
    fn as_a_reader(
        (count, group, page) in (1i64..3000, 1usize..900, 1usize..400),
        mask in prop::collection::vec(any::<bool>(), 4),
        predicate in predicate(),
        modulo in prop::option::of(1i64..100),
        runs in prop::option::of(prop::collection::vec(1usize..700, 0..8)),
        (limit, offset) in (prop::option::of(0usize..500), prop_oneof![Just(0), 0usize..500]),
        (batch, latency) in (1usize..1200, 0usize..3),
        (hole_size_limit, range_size_limit) in (0u64..5000, 1u64..100_000),
    ) {
        let file = file(&rows(count), group, page);
        let store = Store::with(file.clone(), Faults { latency, ..Faults::default() });
        let mut reader = builder(&file).with_offset(offset);
        let names = ["id", "name", "price", "list"].into_iter().zip(&mask).filter(|(_, is_in)| **is_in);
        let mask = ProjectionMask::columns(reader.parquet_schema(), names.map(|(name, _)| name));
        // The tail of so small a file has all of it: it is not kept here, so that everything is fetched.
        let metadata = block_on(ArrowReaderMetadata::load_async(&store, ArrowReaderOptions::new())).unwrap();
        let metadata = ArrowReaderMetadata::try_new(metadata.metadata().clone(), ArrowReaderOptions::new()).unwrap();
        let mut stream = ParquetRecordBatchStreamBuilder::new_with_metadata(store.clone(), metadata)
            .with_batch_size(batch)
            .with_offset(offset)
            .with_projection(mask.clone())
            .with_request_cost(CoalesceOptions::new(hole_size_limit, range_size_limit));
        reader = reader.with_projection(mask);
        if let Some(text) = predicate {
            reader = reader.with_predicate(Predicate::parse(&text).unwrap());
            stream = stream.with_predicate(Predicate::parse(&text).unwrap());
        }
        if let Some(n) = modulo {
            let schema = reader.parquet_schema().clone();
            reader = reader.with_row_filter(every(&schema, n));
            stream = stream.with_row_filter(every(&schema, n));
        }
        if let Some(runs) = runs {
            let mut left = count as usize;
            let mut selectors = Vec::new();
            for (i, run) in runs.into_iter().chain([usize::MAX]).enumerate() {
                let run = run.min(left);
                left -= run;
                selectors.push(if i % 2 == 0 { RowSelector::skip(run) } else { RowSelector::select(run) });
            }
            reader = reader.with_row_selection(RowSelection::from(selectors.clone()));
            stream = stream.with_row_selection(RowSelection::from(selectors));
        }
        if let Some(limit) = limit {
            reader = reader.with_limit(limit);
            stream = stream.with_limit(limit);
        }
        let stream = stream.build().unwrap();
        let schema = stream.schema().clone();
        let given = collect(stream).unwrap();
        prop_assert!(given.iter().all(|given| (1..=batch).contains(&given.num_rows())));
        let expected = read(reader.build().unwrap()).unwrap();
        prop_assert_eq!(one(&schema, &given), one(&schema, &expected));
        prop_assert_eq!(store.running(), 0);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]
    #[test]
    fn pruning_leaves_all_rows_that_are_wanted(
        (count, group, page) in (1i64..3000, 1usize..900, 1usize..400),
        predicate in predicate(),
        runs in prop::option::of(prop::collection::vec(1usize..700, 1..8)),
    ) {
        let rows = rows(count);
        let file = file(&rows, group, page);
        let predicate = Predicate::parse(&predicate.unwrap_or_else(|| "id >= 0".to_owned())).unwrap();
        let store = Store::with(file.clone(), Faults::default());
        let mut stream = block_on(ParquetRecordBatchStreamBuilder::new(store)).unwrap();
        let mut reader = builder(&file).with_predicate(predicate.clone());
        stream = stream.with_pruning_predicate(predicate);
        if let Some(runs) = runs {
            let ranges = runs.iter().scan(0, |end, run| {
                let first = *end;
                *end += 2 * run;
                Some(first..first + run)
            });
            let ranges = ranges.map(|rows| rows.start.min(count as usize)..rows.end.min(count as usize));
            let selection = RowSelection::from_consecutive_ranges(ranges, count as usize);
            reader = reader.with_row_selection(selection.clone());
            stream = stream.with_row_selection(selection);
        }
        let stream = stream.build().unwrap();
        let schema = stream.schema().clone();
        let given = one(&schema, &collect(stream).unwrap());
        let wanted = one(&schema, &read(reader.build().unwrap()).unwrap());
        let ids = |batch: &RecordBatch| batch.column(0).as_primitive::<Int64Type>().values().to_vec();
        // Rows are what they were, in their order; none that is wanted is missing.
        for (i, id) in ids(&given).into_iter().enumerate() {
            prop_assert_eq!(given.slice(i, 1), rows.slice(id as usize, 1));
        }
        prop_assert!(ids(&given).is_sorted());
        let left: std::collections::HashSet<i64> = ids(&given).into_iter().collect();
        prop_assert!(ids(&wanted).iter().all(|id| left.contains(id)));
    }
}

/// Rows past the end of a selection are not read, whatever else chooses rows.
#[test]
fn a_selection_may_end_before_the_rows() {
    let file = file(&rows(3000), 1000, 100);
    for selectors in
        [vec![], vec![RowSelector::select(80)], vec![RowSelector::skip(990), RowSelector::select(20)]]
    {
        let selection = RowSelection::from(selectors);
        for (text, modulo) in
            [(None, None), (Some("price > 10"), None), (Some("id >= 0"), Some(1)), (None, Some(3))]
        {
            let mut reader = builder(&file).with_row_selection(selection.clone());
            let stream = block_on(ParquetRecordBatchStreamBuilder::new(Store::new(file.clone()))).unwrap();
            let mut stream = stream.with_row_selection(selection.clone());
            if let Some(text) = text {
                reader = reader.with_predicate(Predicate::parse(text).unwrap());
                stream = stream.with_predicate(Predicate::parse(text).unwrap());
            }
            if let Some(n) = modulo {
                let schema = reader.parquet_schema().clone();
                reader = reader.with_row_filter(every(&schema, n));
                stream = stream.with_row_filter(every(&schema, n));
            }
            let stream = stream.build().unwrap();
            let schema = stream.schema().clone();
            let given = one(&schema, &collect(stream).unwrap());
            assert_eq!(
                given,
                one(&schema, &read(reader.build().unwrap()).unwrap()),
                "{selection:?} {text:?} {modulo:?}"
            );
            assert!(given.num_rows() <= selection.row_count());
        }
    }
}

/// Of pages that cannot have a row that is wanted none is given; of others no row is asked.
#[test]
fn a_pruning_predicate_gives_whole_pages() {
    let file = file(&rows(3000), 1000, 100);
    let store = Store::with(file, Faults::default());
    let stream = block_on(ParquetRecordBatchStreamBuilder::new(store)).unwrap();
    let stream = stream.with_pruning_predicate(Predicate::parse("id between 1250 and 1310").unwrap());
    let stream = stream.build().unwrap();
    let schema = stream.schema().clone();
    let given = one(&schema, &collect(stream).unwrap());
    assert_eq!(given, rows(3000).slice(1200, 200));
}

/// Which rows are wanted can be asked alone, and is what the rows are read by.
#[test]
fn selected_rows_are_those_of_a_reader() {
    let file = file(&rows(3000), 700, 100);
    let store = Store::with(file.clone(), Faults { latency: 1, ..Faults::default() });
    let stream = || block_on(ParquetRecordBatchStreamBuilder::new(store.clone())).unwrap();
    let selection = || {
        RowSelection::from(vec![RowSelector::skip(100), RowSelector::select(2000), RowSelector::skip(900)])
    };
    for (text, limit) in
        [("price < 2000", 5000), ("id between 650 and 1450", 100), ("id < 0", 10), ("id >= 0", 0)]
    {
        let predicate = || Predicate::parse(text).unwrap();
        let reader = builder(&file)
            .with_predicate(predicate())
            .with_row_filter(every(builder(&file).parquet_schema(), 3))
            .with_row_selection(selection())
            .with_row_groups(vec![1, 0, 3, 4])
            .with_offset(7)
            .with_limit(limit);
        let expected = reader.selected_rows().unwrap();
        let filter = every(stream().parquet_schema(), 3);
        let chosen = stream()
            .with_predicate(predicate())
            .with_row_filter(filter)
            .with_row_selection(selection())
            .with_row_groups(vec![1, 0, 3, 4])
            .with_offset(7)
            .with_limit(limit);
        let given = block_on(chosen.selected_rows()).unwrap();
        assert_eq!(given, expected, "{text}");
        let read_by = stream().with_row_groups(vec![1, 0, 3, 4]).with_row_selection(given).build().unwrap();
        let ids: usize = collect(read_by).unwrap().iter().map(RecordBatch::num_rows).sum();
        assert_eq!(ids, expected.row_count(), "{text}");
    }
}

/// Rows keep their numbers, whatever is filtered, passed over and fetched once more.
#[test]
fn virtual_columns() {
    let file = file(&rows(3000), 700, 100);
    let options = ArrowReaderOptions::new().with_row_numbers("row").with_row_group_numbers("group");
    let store = Store::with(file.clone(), Faults { latency: 1, ..Faults::default() });
    for (text, offset) in [("price < 2000", 0), ("id between 650 and 1450", 100), ("id >= 0", 750)] {
        let predicate = || Predicate::parse(text).unwrap();
        let mut reader =
            ParquetRecordBatchReaderBuilder::try_new_with_options(file.clone(), options.clone()).unwrap();
        reader = reader.with_predicate(predicate()).with_offset(offset).with_limit(900);
        let expected = read(reader.build().unwrap()).unwrap();
        let stream =
            block_on(ParquetRecordBatchStreamBuilder::new_with_options(store.clone(), options.clone()));
        let stream = stream.unwrap().with_predicate(predicate()).with_offset(offset).with_limit(900);
        let stream = stream.with_batch_size(100).build().unwrap();
        let schema = stream.schema().clone();
        let given = one(&schema, &collect(stream).unwrap());
        assert_eq!(given, one(&schema, &expected));
        assert_eq!(given.column(0), given.column_by_name("row").unwrap(), "ids are the numbers of rows");
    }
}

fn len(ranges: &[Range<u64>]) -> u64 {
    ranges.iter().map(|range| range.end - range.start).sum()
}

/// 5,000,000 rows by growing key, with a value that nothing predicts.
fn sorted_rows() -> RecordBatch {
    let n = 5_000_000i64;
    let key = Arc::new(Int64Array::from_iter_values((0..n).map(|i| i * 3 + i % 3))) as ArrayRef;
    let random = |i: i64| f64::from_bits((i as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 2);
    let value = Arc::new(Float64Array::from_iter_values((0..n).map(random))) as ArrayRef;
    let other = Arc::new(Float64Array::from_iter_values((0..n).map(|i| random(i * 31 + 7)))) as ArrayRef;
    RecordBatch::try_from_iter([("key", key), ("value", value), ("other", other)]).unwrap()
}

/// Rows in a row group.
const GROUP: usize = 1_000_000;

/// One column of 1 % of the rows, which lie together: little more than their pages, in few requests.
#[test]
fn few_rows_that_lie_together_cost_little() {
    let rows = sorted_rows();
    let properties = WriterProperties::builder().set_max_row_group_row_count(Some(GROUP)).build();
    let file = written(&rows, properties);
    let store = Store::new(file.clone());
    let stream = block_on(ParquetRecordBatchStreamBuilder::new(store.clone())).unwrap();
    let (first, last) = (2_700_000usize, 2_750_000usize);
    let text = format!("key >= {} and key < {}", first * 3 + first % 3, last * 3 + last % 3);
    let mask = ProjectionMask::columns(stream.parquet_schema(), ["value"]);
    let metadata = stream.metadata().clone();
    let stream =
        stream.with_predicate(Predicate::parse(&text).unwrap()).with_projection(mask).build().unwrap();
    let schema = stream.schema().clone();
    let read = one(&schema, &collect(stream).unwrap());
    assert_eq!(read.column(0), &rows.column(1).slice(first, last - first));
    let requests = store.take_requests();
    // The least: the footer, what the indexes of both columns take, and the pages with these rows.
    let group = metadata.row_group(first / GROUP);
    let rows_of_group = (first % GROUP) as i64..(last % GROUP) as i64;
    let mut least = file.len() as u64 - metadata.data_end().unwrap();
    for column in [0, 1] {
        let chunk = group.column(column).unwrap();
        let (bounds, places) = (chunk.column_index_range().unwrap(), chunk.offset_index_range().unwrap());
        least += places.end - places.start + if column == 0 { bounds.end - bounds.start } else { 0 };
        let index = marquetry_core::page_index::read_offset_index(&file, chunk, &Default::default())
            .unwrap()
            .unwrap();
        let pages = &index.page_locations;
        for (i, page) in pages.iter().enumerate() {
            let next = pages.get(i + 1).map_or(GROUP as i64, |next| next.first_row_index);
            if page.first_row_index < rows_of_group.end && next > rows_of_group.start {
                least += page.compressed_page_size as u64;
            }
        }
    }
    let fetched = len(&requests);
    eprintln!(
        "1 % of clustered rows: {} requests, {fetched} bytes, the least is {least} ({:.2}), the file has {}",
        requests.len(),
        fetched as f64 / least as f64,
        file.len()
    );
    assert!(requests.len() <= 4, "{requests:?}");
    // With the end of the file, which is asked for before anything is known, and is mostly of no use here.
    assert!(fetched as f64 <= 1.2 * least as f64, "{requests:?}");
}

/// A limit is over when it is reached: row groups after it are not fetched.
#[test]
fn a_limit_spares_the_rest() {
    let file = file(&rows(400_000), 50_000, 10_000);
    let store = Store::new(file);
    let stream = block_on(ParquetRecordBatchStreamBuilder::new(store.clone())).unwrap();
    let place = stream.metadata().row_group(1).column(0).unwrap().byte_range().unwrap().start;
    store.take_requests();
    let predicate = Predicate::parse("price > 100").unwrap();
    let stream = stream.with_predicate(predicate).with_limit(10).build().unwrap();
    assert_eq!(collect(stream).unwrap().iter().map(RecordBatch::num_rows).sum::<usize>(), 10);
    assert!(store.take_requests().iter().all(|request| request.end <= place + 1000));
    // So does one without a filter: of a row group only the first pages.
    let stream = block_on(ParquetRecordBatchStreamBuilder::new(store.clone())).unwrap();
    let group = stream.metadata().row_group(0).column(2).unwrap().compressed_size() as u64;
    let mask = ProjectionMask::columns(stream.parquet_schema(), ["price"]);
    store.take_requests();
    let cost = CoalesceOptions::new(1000, 1 << 20);
    let stream = stream.with_projection(mask).with_limit(10).with_request_cost(cost).build().unwrap();
    assert_eq!(collect(stream).unwrap().len(), 1);
    // One of five pages, and the dictionary.
    assert!(len(&store.take_requests()) < group * 3 / 4);
}

/// Row groups are fetched side by side, and the first ones come last.
#[test]
fn a_filter_with_memory_is_asked_in_order() {
    let file = file(&rows(3_000), 250, 50);
    let faults = Faults { latency: 3, first_is_slow: true, ..Faults::default() };
    // Row groups that are ruled out at once leave the others in order.
    let all: (Option<&str>, [Range<i64>; 2]) = (None, [0..3_000, 0..0]);
    let some = [("id >= 300", [300..3_000, 0..0]), ("id < 250 or id >= 1000", [0..250, 1_000..3_000])];
    for (predicate, wanted) in some.map(|(text, wanted)| (Some(text), wanted)).into_iter().chain([all]) {
        let store = Store::with(file.clone(), faults);
        let seen = Arc::new(std::sync::Mutex::new(Vec::<i64>::new()));
        let schema = builder(&file).parquet_schema().clone();
        let asked = seen.clone();
        let test = move |batch: RecordBatch| {
            let id = batch.column(0).as_primitive::<Int64Type>();
            asked.lock().unwrap().extend(id.values());
            Ok(BooleanArray::from_unary(id, |id| id % 3 == 0))
        };
        let test = ArrowPredicateFn::new(ProjectionMask::columns(&schema, ["id"]), test);
        // Without the tail of the file, which has all of it.
        let metadata = ArrowReaderMetadata::load(file.clone(), ArrowReaderOptions::default()).unwrap();
        let stream = ParquetRecordBatchStreamBuilder::new_with_metadata(store, metadata)
            .with_row_filter(RowFilter::new(vec![Box::new(test)]));
        let stream = match predicate {
            Some(text) => stream.with_predicate(Predicate::parse(text).unwrap()),
            None => stream,
        };
        let given = collect(stream.build().unwrap()).unwrap();
        let wanted: Vec<i64> = wanted.into_iter().flatten().collect();
        let rows = wanted.iter().filter(|id| *id % 3 == 0).count();
        assert_eq!(given.iter().map(RecordBatch::num_rows).sum::<usize>(), rows);
        assert!(*seen.lock().unwrap() == wanted, "each row once, in order");
    }
}
