//! Statistics of random tables are those that are counted one by one.

use arrow_array::builder::{ListBuilder, StringBuilder};
use arrow_array::cast::AsArray;
use arrow_array::types::{Decimal128Type, Float64Type, Int8Type, Int64Type};
use arrow_array::*;
use arrow_buffer::i256;
use bytes::Bytes;
use marquetry_arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions};
use marquetry_arrow::arrow_writer::ArrowWriter;
use marquetry_core::source::Source;
use marquetry_core::write::WriterProperties;
use marquetry_inspect::{ColumnStats, StatsOptions, column_stats, footer_stats, table_stats};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::sync::Arc;

fn written(batch: &RecordBatch, rows_per_group: usize, dictionary: bool) -> Bytes {
    let properties = WriterProperties::builder()
        .set_max_row_group_row_count(Some(rows_per_group))
        .set_dictionary_enabled(dictionary)
        .build();
    let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), Some(properties)).unwrap();
    writer.write(batch).unwrap();
    writer.into_inner().unwrap().into()
}

fn stats_of(file: &Bytes, threads: usize) -> Vec<ColumnStats> {
    let source: Arc<dyn Source> = Arc::new(file.clone());
    let options = StatsOptions::default().with_threads(threads).with_most_common(5);
    column_stats(source, ArrowReaderOptions::new(), &options).unwrap()
}

/// How often each value occurs.
fn counted<T: Ord + Clone>(values: &[Option<T>]) -> BTreeMap<T, u64> {
    let mut counts = BTreeMap::new();
    values.iter().flatten().for_each(|value| *counts.entry(value.clone()).or_insert(0) += 1);
    counts
}

/// Nulls, distinct values, bounds, the counts of frequent values.
fn check<T: Ord + Clone + std::fmt::Debug>(
    stats: &ColumnStats,
    values: &[Option<T>],
    of: impl Fn(&ArrayRef, usize) -> T,
) {
    let counts = counted(values);
    let nulls = values.iter().filter(|value| value.is_none()).count() as u64;
    assert_eq!(
        (stats.nulls, stats.values),
        (Some(nulls), Some(values.len() as u64 - nulls)),
        "{}",
        stats.column
    );
    let distinct = stats.distinct.unwrap();
    assert_eq!((distinct.count, distinct.error), (counts.len() as u64, 0.0), "{}", stats.column);
    let bounds = stats.bounds.as_ref().map(|bounds| (of(bounds, 0), of(bounds, 1)));
    let expected = counts.first_key_value().zip(counts.last_key_value());
    assert_eq!(bounds, expected.map(|((a, _), (b, _))| (a.clone(), b.clone())), "{}", stats.column);
    let mut frequent: Vec<_> = counts.iter().collect();
    frequent.sort_by(|(a, more), (b, less)| less.cmp(more).then(a.cmp(b)));
    let common = stats.common.as_ref();
    assert_eq!(common.map_or(0, |common| common.counts.len()), frequent.len().min(5));
    for (i, (value, count)) in frequent.iter().take(5).enumerate() {
        let common = common.unwrap();
        assert_eq!(
            (&of(&common.values, i), common.counts[i]),
            (*value, (**count, **count)),
            "{}",
            stats.column
        );
    }
    if let Some(quartiles) = &stats.quartiles {
        let mut sorted: Vec<_> = values.iter().flatten().cloned().collect();
        sorted.sort();
        for quarter in 1..4 {
            let rank = (sorted.len() * quarter).div_ceil(4) - 1;
            assert_eq!(of(&quartiles.values, quarter - 1), sorted[rank], "{}", stats.column);
        }
    }
}

/// Checks mean and deviation of `values`. Rounding errors are proportional to the greatest of the values, not to their
/// mean, which is close to 0 if they cancel out.
fn check_moments(stats: &ColumnStats, values: &[f64]) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>();
    let tolerance = 1e-12 * values.iter().fold(0.0f64, |greatest, value| greatest.max(value.abs()));
    let deviation = (n > 1.0).then(|| (squares / (n - 1.0)).sqrt());
    for (found, expected) in [(stats.mean, (n > 0.0).then_some(mean)), (stats.deviation, deviation)] {
        assert_eq!(found.is_some(), expected.is_some(), "{}", stats.column);
        if let (Some(found), Some(expected)) = (found, expected) {
            assert!((found - expected).abs() <= tolerance, "{}: {found} {expected}", stats.column);
        }
    }
}

/// A row: an integer, a small one, a decimal, a float, text, a list of text.
type Row = (Option<i64>, Option<i8>, Option<i32>, Option<u8>, Option<String>, Option<Vec<Option<String>>>);

fn rows() -> impl Strategy<Value = Vec<Row>> {
    let text = || proptest::option::weighted(0.9, "[a-cü]{0,4}");
    let row = (
        proptest::option::weighted(0.8, prop_oneof![0..50i64, any::<i64>()]),
        proptest::option::of(any::<i8>()),
        proptest::option::of(-1000..1000i32),
        proptest::option::of(any::<u8>()),
        text(),
        proptest::option::weighted(0.8, proptest::collection::vec(text(), 0..4)),
    );
    proptest::collection::vec(row, 0..300)
}

/// Some floats, NaN and both zeros among them.
fn float(byte: u8) -> f64 {
    match byte {
        0..20 => f64::NAN,
        20..30 => -0.0,
        30..40 => 0.0,
        other => f64::from(other) / 7.0 - 10.0,
    }
}

fn table(rows: &[Row]) -> RecordBatch {
    let mut lists = ListBuilder::new(StringBuilder::new());
    for (.., list) in rows {
        for element in list.iter().flatten() {
            lists.values().append_option(element.as_deref());
        }
        lists.append(list.is_some());
    }
    let decimals: Decimal128Array = rows.iter().map(|row| row.2.map(i128::from)).collect();
    let floats: Float64Array = rows.iter().map(|row| row.3.map(float)).collect();
    RecordBatch::try_from_iter_with_nullable([
        ("integer", Arc::new(rows.iter().map(|row| row.0).collect::<Int64Array>()) as ArrayRef, true),
        ("small", Arc::new(rows.iter().map(|row| row.1).collect::<Int8Array>()), true),
        ("decimal", Arc::new(decimals.with_precision_and_scale(30, 2).unwrap()), true),
        ("float", Arc::new(floats), true),
        ("text", Arc::new(rows.iter().map(|row| row.4.as_deref()).collect::<StringArray>()), true),
        ("list", Arc::new(lists.finish()), true),
    ])
    .unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn statistics_are_those_that_are_counted(
        rows in rows(), per_group in 1..200usize, dictionary in any::<bool>(),
    ) {
        let file = written(&table(&rows), per_group, dictionary);
        let stats = stats_of(&file, 1);
        prop_assert_eq!(format!("{stats:?}"), format!("{:?}", stats_of(&file, 3)));
        let columns: Vec<_> = stats.iter().map(|stats| stats.column.as_str()).collect();
        prop_assert_eq!(columns, ["integer", "small", "decimal", "float", "text", "list.list.element"]);

        let integers: Vec<_> = rows.iter().map(|row| row.0).collect();
        check(&stats[0], &integers, |array, i| array.as_primitive::<Int64Type>().value(i));
        let small: Vec<_> = rows.iter().map(|row| row.1).collect();
        check(&stats[1], &small, |array, i| array.as_primitive::<Int8Type>().value(i));
        let decimals: Vec<_> = rows.iter().map(|row| row.2.map(i128::from)).collect();
        check(&stats[2], &decimals, |array, i| array.as_primitive::<Decimal128Type>().value(i));
        let scaled: Vec<_> = decimals.iter().flatten().map(|value| *value as f64 / 100.0).collect();
        check_moments(&stats[2], &scaled);
        // 39,584 hundredths are 395.84, and not 395.84000000000003.
        let ends = stats[2].histogram.as_ref().map(|histogram| (histogram.lower, histogram.upper));
        let bounds = scaled.iter().copied().reduce(f64::min).zip(scaled.iter().copied().reduce(f64::max));
        prop_assert_eq!(ends, bounds.filter(|(least, greatest)| least < greatest));

        let floats: Vec<_> = rows.iter().filter_map(|row| row.3.map(float)).collect();
        let numbers: Vec<_> = floats.iter().copied().filter(|float| !float.is_nan()).collect();
        prop_assert_eq!(stats[3].nans, Some((floats.len() - numbers.len()) as u64));
        check_moments(&stats[3], &numbers);
        // Both zeros are one number, and NaN is another.
        let mut different: Vec<_> = numbers.iter().map(|number| (number + 0.0).to_bits()).collect();
        different.sort_unstable();
        different.dedup();
        let has_nan = u64::from(floats.len() > numbers.len());
        prop_assert_eq!(stats[3].distinct.unwrap().count, different.len() as u64 + has_nan);
        let bounds = stats[3].bounds.as_ref().map(|bounds| bounds.as_primitive::<Float64Type>().values().to_vec());
        let least = numbers.iter().copied().reduce(f64::min);
        prop_assert_eq!(bounds.as_ref().map(|bounds| bounds[0]), least);
        let histogram = stats[3].histogram.as_ref().map(|histogram| histogram.counts.iter().sum::<u64>());
        prop_assert_eq!(histogram, (different.len() > 1).then_some(numbers.len() as u64));

        let text = |array: &ArrayRef, i: usize| array.as_string::<i32>().value(i).to_owned();
        let texts: Vec<_> = rows.iter().map(|row| row.4.clone()).collect();
        check(&stats[4], &texts, text);
        let lengths: Vec<_> = texts.iter().flatten().map(|text| text.len() as u64).collect();
        let range = lengths.iter().min().zip(lengths.iter().max());
        prop_assert_eq!(stats[4].lengths.map(|it| (it.least, it.greatest)), range.map(|(a, b)| (*a, *b)));
        let elements: Vec<_> = rows.iter().flat_map(|row| row.5.clone().unwrap_or_default()).collect();
        check(&stats[5], &elements, text);
        let lists: Vec<_> = rows.iter().flat_map(|row| row.5.as_ref().map(|list| list.len() as u64)).collect();
        let range = lists.iter().min().zip(lists.iter().max());
        prop_assert_eq!(stats[5].list_lengths.map(|it| (it.least, it.greatest)), range.map(|(a, b)| (*a, *b)));
        let mean = lists.iter().sum::<u64>() as f64 / lists.len() as f64;
        prop_assert!(stats[5].list_lengths.is_none_or(|it| (it.mean - mean).abs() < 1e-9));
    }

    /// The statistics in a footer do not contradict the values.
    #[test]
    fn footers_say_what_is_read(rows in rows(), per_group in 1..200usize) {
        let file = written(&table(&rows), per_group, true);
        let metadata = ArrowReaderMetadata::load(file.clone(), ArrowReaderOptions::new()).unwrap();
        let quick = footer_stats(&metadata, &StatsOptions::default()).unwrap();
        for (read, said) in stats_of(&file, 1).iter().zip(&quick).take(5) {
            prop_assert_eq!((read.values, read.nulls), (said.values, said.nulls), "{}", read.column);
            if let (Some(read), Some(known)) = (&read.bounds, &said.bounds) {
                // Zeros have another sign there, and stand for both zeros.
                if said.are_bounds_exact && said.column != "float" {
                    prop_assert_eq!(read, known);
                }
            }
        }
        prop_assert!(rows.is_empty() || quick[0].bounds.is_some() || rows.iter().all(|row| row.0.is_none()));
    }
}

/// More values than are counted one by one.
#[test]
fn many_values_are_estimated() {
    let n = 400_000i64;
    let value = |i: i64| if i % 4 == 0 { 7 } else { i };
    let integers: Int64Array = (0..n).map(value).collect();
    let texts: StringArray = (0..n).map(|i| Some(format!("value {}", value(i)))).collect();
    let batch =
        RecordBatch::try_from_iter([("i", Arc::new(integers) as ArrayRef), ("t", Arc::new(texts))]).unwrap();
    let file = written(&batch, 90_000, false);
    let stats = stats_of(&file, 2);
    assert_eq!(format!("{stats:?}"), format!("{:?}", stats_of(&file, 1)));
    for stats in &stats {
        let distinct = stats.distinct.unwrap();
        let different = 300_001.0;
        assert!((distinct.count as f64 / different - 1.0).abs() < distinct.error, "{distinct:?}");
        let common = stats.common.as_ref().unwrap();
        let (at_least, at_most) = common.counts[0];
        assert!((at_least..=at_most).contains(&100_001), "{common:?}");
        assert_eq!(common.counts.len(), 1);
    }
    let quartiles = stats[0].quartiles.as_ref().unwrap();
    let half = quartiles.values.as_primitive::<Int64Type>().value(1);
    // A quarter of all is 7, the others are spread evenly.
    let rank = 0.25 + half as f64 / n as f64 * 0.75;
    assert!((rank - 0.5).abs() < quartiles.rank_error, "{half}");
    assert_eq!(stats[1].lengths.map(|it| (it.least, it.greatest)), Some((7, 12)));
}

#[test]
fn errors_have_their_place() {
    let batch = table(&[(Some(1), None, None, None, None, None)]);
    let file = written(&batch, 10, true);
    let source: Arc<dyn Source> = Arc::new(file.clone());
    let options = StatsOptions::default().with_columns(["integr"]);
    let error = column_stats(source, ArrowReaderOptions::new(), &options).unwrap_err();
    assert!(error.to_string().contains("integr"), "{error}");
    // A byte of the first page's header.
    let mut damaged = file.to_vec();
    damaged[4] ^= 0xff;
    let source: Arc<dyn Source> = Arc::new(Bytes::from(damaged));
    let error = column_stats(source, ArrowReaderOptions::new(), &StatsOptions::default()).unwrap_err();
    assert!(error.to_string().contains("column integer"), "{error}");
}

#[test]
fn numbers_of_all_widths() {
    let unsigned: UInt64Array = vec![Some(u64::MAX), None, Some(1), Some(u64::MAX)].into();
    let large = i256::from_i128(7).wrapping_mul(i256::from_i128(10).wrapping_pow(75));
    let wide = Decimal256Array::from(vec![Some(large), None, Some(-large), Some(i256::ZERO)]);
    let wide = wide.with_precision_and_scale(76, 3).unwrap();
    let half: Float16Array = [1.5f32, -2.0, 0.0, 1.5].into_iter().map(|v| Some(half(v))).collect();
    let days: Date32Array = vec![Some(-1), Some(i32::MAX), None, Some(0)].into();
    let batch = RecordBatch::try_from_iter([
        ("unsigned", Arc::new(unsigned.clone()) as ArrayRef),
        ("wide", Arc::new(wide.clone())),
        ("half", Arc::new(half.clone())),
        ("days", Arc::new(days.clone())),
    ])
    .unwrap();
    let stats = stats_of(&written(&batch, 3, false), 1);
    // The least and the greatest value of the row groups that have them.
    for (stats, (least, greatest)) in stats.iter().zip([(2, 0), (2, 0), (1, 0), (0, 1)]) {
        let column = batch.column_by_name(&stats.column).unwrap();
        let bounds = stats.bounds.as_ref().unwrap();
        assert_eq!(bounds.slice(0, 1).to_data(), column.slice(least, 1).to_data(), "{}", stats.column);
        assert_eq!(bounds.slice(1, 1).to_data(), column.slice(greatest, 1).to_data(), "{}", stats.column);
    }
    assert_eq!(stats[0].common.as_ref().unwrap().counts, [(2, 2), (1, 1)]);
    let mean = (2.0 * u64::MAX as f64 + 1.0) / 3.0;
    assert!((stats[0].mean.unwrap() - mean).abs() <= 1e-12 * mean);
}

fn half(value: f32) -> <arrow_array::types::Float16Type as ArrowPrimitiveType>::Native {
    <arrow_array::types::Float16Type as ArrowPrimitiveType>::Native::from_f32(value)
}

#[test]
fn runs_are_counted_by_their_values() {
    let values = StringArray::from(vec![Some("b"), None, Some("a"), Some("b")]);
    let runs = RunArray::try_new(&Int32Array::from(vec![3, 5, 6, 10]), &values).unwrap();
    let batch = RecordBatch::try_from_iter_with_nullable([("r", Arc::new(runs) as ArrayRef, true)]).unwrap();
    for dictionary in [true, false] {
        let all: Vec<_> = ["b"; 3]
            .map(Some)
            .into_iter()
            .chain([None; 2])
            .chain([Some("a")])
            .chain([Some("b"); 4])
            .collect();
        let all: Vec<_> = all.into_iter().map(|value| value.map(str::to_owned)).collect();
        check(&stats_of(&written(&batch, 100, dictionary), 1)[0], &all, |array, i| {
            array.as_string::<i32>().value(i).to_owned()
        });
    }
}

/// Parquet allows that: each is a column of its own, in every file of a table.
#[test]
fn columns_of_one_name_stay_apart() {
    let numbers = |values: [i64; 3]| Arc::new(Int64Array::from(values.to_vec())) as ArrayRef;
    let schema = arrow_schema::Schema::new(
        ["a", "a", "b"]
            .map(|name| arrow_schema::Field::new(name, arrow_schema::DataType::Int64, false))
            .to_vec(),
    );
    let columns = vec![numbers([1, 2, 5]), numbers([3, 4, 6]), numbers([7, 8, 9])];
    let file = written(&RecordBatch::try_new(Arc::new(schema), columns).unwrap(), 10, true);
    let files = ["one", "other"].map(|name| (name, Arc::new(file.clone()) as Arc<dyn Source>));
    let stats = table_stats(files, ArrowReaderOptions::new(), &StatsOptions::default()).unwrap();
    let bounds =
        stats.iter().map(|column| column.bounds.as_ref().unwrap().as_primitive::<Int64Type>().values());
    let bounds: Vec<&[i64]> = bounds.map(|bounds| &**bounds).collect();
    assert_eq!(bounds, [[1, 5], [3, 6], [7, 9]]);
    assert!(stats.iter().all(|column| column.distinct.unwrap().count == 3));
}

/// Estimates stay below what was counted.
#[test]
fn there_are_no_more_distinct_values_than_values() {
    // Only distinct values, more than are counted exactly: about half of the estimates are too high.
    let columns = (0..8).map(|column: i64| {
        let values = Int64Array::from_iter_values((0..70_000).map(|row| row * 8 + column));
        (format!("c{column}"), Arc::new(values) as ArrayRef)
    });
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    for stats in stats_of(&written(&batch, 70_000, false), 2) {
        let distinct = stats.distinct.unwrap();
        assert!(distinct.error > 0.0, "{} is counted exactly", stats.column);
        assert!(distinct.count <= 70_000, "{}: {}", stats.column, distinct.count);
    }
}
