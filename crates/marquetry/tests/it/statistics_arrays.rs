//! Statistics as Arrow arrays: whatever is read of a row group or a page is within its bounds, and counted right.

use crate::arrays;
use crate::arrays::Random;
use crate::corpus;
use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int32Type};
use arrow_array::*;
use arrow_buffer::i256;
use arrow_cast::cast;
use arrow_ord::cmp::{eq, gt_eq, lt_eq};
use arrow_schema::{DataType, Field, Schema, TimeUnit};
use arrow_select::{concat::concat, filter::filter};
use bytes::Bytes;
use marquetry::arrow::arrow_reader::statistics::StatisticsConverter;
use marquetry::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder,
};
use marquetry::arrow::{ArrowWriter, ProjectionMask};
use marquetry::errors::ErrorKind;
use marquetry::file::metadata::ParquetMetaData;
use marquetry::file::page_index::PageIndex;
use marquetry::file::properties::{WriterProperties, WriterVersion};
use std::sync::Arc;

/// Counts of the bounds that were checked, so that a test cannot pass without any.
#[derive(Debug, Default)]
struct Seen {
    bounds: usize,
    page_bounds: usize,
    exact: usize,
    null_counts: usize,
}

/// The values of the one leaf in an array, nulls and what nulls hide left out.
fn leaf_values(array: &ArrayRef) -> ArrayRef {
    let array = without_nulls(array);
    let of_lists = |values: Vec<ArrayRef>, empty: ArrayRef| {
        let refs: Vec<&dyn Array> = values.iter().map(AsRef::as_ref).collect();
        leaf_values(&if refs.is_empty() { empty } else { concat(&refs).unwrap() })
    };
    match array.data_type() {
        DataType::Struct(_) => leaf_values(array.as_struct().column(0)),
        DataType::List(_) => {
            let list = array.as_list::<i32>();
            of_lists((0..list.len()).map(|i| list.value(i)).collect(), list.values().slice(0, 0))
        }
        DataType::LargeList(_) => {
            let list = array.as_list::<i64>();
            of_lists((0..list.len()).map(|i| list.value(i)).collect(), list.values().slice(0, 0))
        }
        DataType::ListView(_) => {
            let list = array.as_list_view::<i32>();
            of_lists((0..list.len()).map(|i| list.value(i)).collect(), list.values().slice(0, 0))
        }
        DataType::LargeListView(_) => {
            let list = array.as_list_view::<i64>();
            of_lists((0..list.len()).map(|i| list.value(i)).collect(), list.values().slice(0, 0))
        }
        DataType::FixedSizeList(..) => {
            let list = array.as_fixed_size_list();
            of_lists((0..list.len()).map(|i| list.value(i)).collect(), list.values().slice(0, 0))
        }
        DataType::Dictionary(_, values) => leaf_values(&cast(&array, values).unwrap()),
        DataType::RunEndEncoded(_, values) => leaf_values(&cast(&array, values.data_type()).unwrap()),
        _ => array,
    }
}

fn without_nulls(array: &ArrayRef) -> ArrayRef {
    match array.logical_nulls() {
        Some(nulls) if nulls.null_count() > 0 => {
            filter(array, &BooleanArray::new(nulls.inner().clone(), None)).unwrap()
        }
        _ => array.clone(),
    }
}

fn without_nans(array: &ArrayRef) -> ArrayRef {
    if !array.data_type().is_floating() {
        return array.clone();
    }
    let doubles = cast(array, &DataType::Float64).unwrap();
    let is_number =
        doubles.as_primitive::<Float64Type>().iter().map(|value| value.map(|value| !value.is_nan()));
    filter(array, &is_number.collect::<BooleanArray>()).unwrap()
}

/// What is wrong with the bounds at `i` for these values; nothing if they hold.
fn violation(values: &ArrayRef, mins: &ArrayRef, maxes: &ArrayRef, i: usize) -> Option<String> {
    let wrong = |is_right: BooleanArray, name: &str| {
        let at = is_right.iter().position(|is_right| is_right != Some(true))?;
        let shown = |array: &dyn Array, i| arrow_cast::display::array_value_to_string(array, i).unwrap();
        let bound = if name == "min" { shown(mins, i) } else { shown(maxes, i) };
        Some(format!("{name} {bound} of {}", shown(values, at)))
    };
    let lower = mins.is_valid(i).then(|| lt_eq(&Scalar::new(mins.slice(i, 1)), values).unwrap());
    let upper = maxes.is_valid(i).then(|| gt_eq(&Scalar::new(maxes.slice(i, 1)), values).unwrap());
    lower.and_then(|it| wrong(it, "min")).or(upper.and_then(|it| wrong(it, "max")))
}

/// Compares everything that is stated about a leaf with its values.
fn check_leaf(
    file: &Bytes,
    opened: &ArrowReaderMetadata,
    leaf: usize,
    seen: &mut Seen,
) -> Result<(), String> {
    let metadata = opened.metadata();
    let column = opened.parquet_schema().column(leaf);
    let mask = ProjectionMask::leaves(opened.parquet_schema(), [leaf]);
    let name = column.dotted().clone();
    // Of two columns with the same name, it is not stated which is meant.
    if opened.parquet_schema().find(&name) != Some(leaf) {
        return Ok(());
    }
    let converter = opened.statistics(&name).map_err(|error| error.to_string())?;
    let is_flat = column.path().len() == 1 && column.max_rep() == 0;
    let index = opened.read_page_index(file.clone(), &mask).unwrap_or_default();
    for group in metadata.row_groups() {
        let builder = ParquetRecordBatchReaderBuilder::new_with_metadata(file.clone(), opened.clone());
        let reader = builder.with_projection(mask.clone()).with_row_groups(vec![group.index()]).build();
        // Files that cannot be read are for other tests.
        let Ok(batches) = reader.map_err(drop).and_then(|it| it.collect::<Result<Vec<_>, _>>().map_err(drop))
        else {
            continue;
        };
        let parts: Vec<&dyn Array> = batches.iter().map(|batch| batch.column(0).as_ref()).collect();
        if parts.is_empty() {
            continue;
        }
        let read = concat(&parts).unwrap();
        let groups = || [group];
        let said = |error: marquetry::errors::Error| error.to_string();
        let mins = converter.row_group_mins(groups()).map_err(said)?;
        let maxes = converter.row_group_maxes(groups()).map_err(said)?;
        assert_eq!((mins.len(), mins.data_type()), (1, converter.data_type()));
        assert_eq!((maxes.len(), maxes.data_type()), (1, converter.data_type()));
        let values = without_nans(&leaf_values(&read));
        seen.bounds += mins.len() - mins.null_count() + maxes.len() - maxes.null_count();
        if let Some(wrong) = violation(&values, &mins, &maxes, 0) {
            return Err(wrong);
        }
        let is_min_exact = converter.row_group_is_min_value_exact(groups()).map_err(said)?;
        let is_max_exact = converter.row_group_is_max_value_exact(groups()).map_err(said)?;
        for (bound, is_exact) in [(&mins, is_min_exact), (&maxes, is_max_exact)] {
            if is_exact.is_valid(0) && is_exact.value(0) {
                seen.exact += 1;
                if eq(&Scalar::new(bound.slice(0, 1)), &values).unwrap().true_count() == 0 {
                    return Err("an exact bound that does not occur".to_owned());
                }
            }
        }
        let nulls = converter.row_group_null_counts(groups()).map_err(said)?;
        if is_flat && nulls.is_valid(0) {
            seen.null_counts += 1;
            let there = read.logical_null_count() as u64;
            if nulls.value(0) != there {
                return Err(format!("{} nulls of {there}", nulls.value(0)));
            }
        }
        if is_flat && converter.row_group_row_counts(groups()).value(0) == read.len() as u64 {
            check_pages(&converter, &index, group.index(), metadata, &read, seen)?;
        }
    }
    Ok(())
}

fn check_pages(
    converter: &StatisticsConverter<'_>,
    index: &PageIndex,
    row_group: usize,
    metadata: &ParquetMetaData,
    read: &ArrayRef,
    seen: &mut Seen,
) -> Result<(), String> {
    let groups = || [metadata.row_group(row_group)];
    let Ok(rows) = converter.data_page_row_counts(index, groups()) else { return Ok(()) };
    let mins = converter.data_page_mins(index, groups()).unwrap();
    let maxes = converter.data_page_maxes(index, groups()).unwrap();
    let nulls = converter.data_page_null_counts(index, groups()).unwrap();
    assert_eq!((mins.len(), maxes.len(), nulls.len()), (rows.len(), rows.len(), rows.len()));
    assert_eq!(rows.values().iter().sum::<u64>(), read.len() as u64);
    let mut first = 0;
    for (page, rows) in rows.values().iter().enumerate() {
        let part = read.slice(first, *rows as usize);
        first += *rows as usize;
        seen.page_bounds += usize::from(mins.is_valid(page));
        if let Some(wrong) = violation(&without_nans(&leaf_values(&part)), &mins, &maxes, page) {
            return Err(format!("page {page}: {wrong}"));
        }
        if nulls.is_valid(page) && nulls.value(page) != part.logical_null_count() as u64 {
            return Err(format!("page {page}: {} nulls of {}", nulls.value(page), part.logical_null_count()));
        }
    }
    Ok(())
}

fn check_file(
    name: &str,
    file: &Bytes,
    options: ArrowReaderOptions,
    seen: &mut Seen,
    wrong: &mut Vec<String>,
) {
    let Ok(opened) = ArrowReaderMetadata::load(file.clone(), options) else { return };
    for leaf in 0..opened.parquet_schema().num_columns().min(40) {
        if let Err(what) = check_leaf(file, &opened, leaf, seen) {
            wrong.push(format!("{name}: {}: {what}", opened.parquet_schema().column(leaf).dotted()));
        }
    }
}

#[test]
fn bounds_of_real_files_hold() {
    let Some(root) = corpus::root() else { return };
    let names = ["corpus", "parquet-testing"].into_iter().flat_map(|folder| corpus::files(&root, folder));
    let (mut seen, mut wrong) = (Seen::default(), Vec::new());
    for name in names {
        // Bounds of mutated files are wrong, and are trusted.
        if name.contains("fuzzing") {
            continue;
        }
        let file = corpus::bytes(&root, &name);
        if file.len() <= 1 << 20 {
            check_file(&name, &file, ArrowReaderOptions::new(), &mut seen, &mut wrong);
        }
    }
    println!("{seen:?}");
    assert!(wrong.is_empty(), "{} columns:\n{}", wrong.len(), wrong.join("\n"));
    assert!(seen.bounds > 5_000 && seen.page_bounds > 1_000, "{seen:?}");
}

#[test]
fn bounds_of_our_files_hold() {
    let (mut seen, mut wrong) = (Seen::default(), Vec::new());
    for seed in 0..150 {
        let random = &mut Random(seed);
        let schema = Arc::new(arrays::schema(random, 6, 3));
        let rows = 1 + random.below(400);
        let table = arrays::batch(random, &schema, rows);
        let file = written(&table, random.pick(&[3, 20, 100]), random.one_in(2));
        let options = match random.one_in(3) {
            true => ArrowReaderOptions::new().with_skip_arrow_metadata(true),
            false => ArrowReaderOptions::new(),
        };
        check_file(&format!("seed {seed}"), &file, options, &mut seen, &mut wrong);
    }
    println!("{seen:?}");
    assert!(wrong.is_empty(), "{} columns:\n{}", wrong.len(), wrong.join("\n"));
    assert!(seen.bounds > 2_000 && seen.page_bounds > 2_000 && seen.exact > 1_000, "{seen:?}");
    assert!(seen.null_counts > 500, "{seen:?}");
}

pub(crate) fn written(table: &RecordBatch, page_rows: usize, total_order: bool) -> Bytes {
    let properties = WriterProperties::builder()
        .set_data_page_row_count_limit(page_rows)
        .set_write_batch_size(page_rows)
        .set_max_row_group_row_count(Some(150))
        .set_statistics_truncate_length(Some(6))
        .set_column_index_truncate_length(Some(5))
        .set_writer_version(if total_order {
            WriterVersion::PARQUET_2_0
        } else {
            WriterVersion::PARQUET_1_0
        });
    let mut file = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut file, table.schema(), Some(properties.build())).unwrap();
    writer.write(table).unwrap();
    writer.close().unwrap();
    file.into()
}

pub(crate) fn one_column(array: ArrayRef) -> Bytes {
    written(&RecordBatch::try_from_iter([("c", array)]).unwrap(), 2, false)
}

pub(crate) fn open(file: &Bytes) -> ArrowReaderMetadata {
    ArrowReaderMetadata::load(file.clone(), ArrowReaderOptions::new()).unwrap()
}

/// Both bounds of the one row group, as `to`.
fn bounds_as(file: &Bytes, to: &DataType) -> (ArrayRef, ArrayRef) {
    let opened = open(file);
    let schema = Schema::new(vec![Field::new("c", to.clone(), true)]);
    let converter = StatisticsConverter::try_new("c", &schema, opened.parquet_schema()).unwrap();
    let groups = || opened.metadata().row_groups();
    (converter.row_group_mins(groups()).unwrap(), converter.row_group_maxes(groups()).unwrap())
}

#[test]
fn bounds_are_of_the_type_that_is_read() {
    use DataType::*;
    let numbers = || Arc::new(Int32Array::from(vec![Some(-7), None, Some(2_000)])) as ArrayRef;
    let moments =
        |unit: TimeUnit, values: Vec<i64>| cast(&Int64Array::from(values), &Timestamp(unit, None)).unwrap();
    let decimals: ArrayRef =
        Arc::new(Decimal128Array::from(vec![-12_345, 99_999]).with_precision_and_scale(20, 2).unwrap());
    let words: ArrayRef = Arc::new(StringArray::from(vec!["oak", "elm"]));
    let fixed: ArrayRef =
        Arc::new(FixedSizeBinaryArray::try_from_iter(vec![vec![1u8; 9], vec![2; 9]].into_iter()).unwrap());
    let cases: Vec<(ArrayRef, DataType)> = vec![
        (numbers(), Int32),
        (numbers(), Int64),
        (numbers(), Float64),
        (numbers(), Decimal128(12, 1)),
        (cast(&numbers(), &Int16).unwrap(), Int16),
        (Arc::new(UInt8Array::from(vec![3, 200])), UInt8),
        (Arc::new(UInt8Array::from(vec![3, 200])), Int32),
        (Arc::new(UInt64Array::from(vec![3, u64::MAX])), UInt64),
        (Arc::new(Float32Array::from(vec![1.5, -2.5])), Float64),
        (Arc::new(BooleanArray::from(vec![true, false])), Boolean),
        (Arc::new(Date32Array::from(vec![1, 20_000])), Date64),
        (Arc::new(Time64MicrosecondArray::from(vec![5, 6])), Time64(TimeUnit::Nanosecond)),
        (moments(TimeUnit::Millisecond, vec![-5_000, 7_000]), Timestamp(TimeUnit::Millisecond, None)),
        (moments(TimeUnit::Millisecond, vec![-5_000, 7_000]), Timestamp(TimeUnit::Nanosecond, None)),
        (moments(TimeUnit::Millisecond, vec![-5_000, 7_000]), Timestamp(TimeUnit::Second, None)),
        (decimals.clone(), Decimal128(20, 2)),
        (decimals.clone(), Decimal256(40, 2)),
        (decimals, Decimal128(25, 4)),
        (cast(&numbers(), &Decimal32(5, 0)).unwrap(), Decimal32(5, 0)),
        (cast(&numbers(), &Decimal64(15, 0)).unwrap(), Decimal64(15, 0)),
        (words.clone(), Utf8View),
        (words.clone(), LargeUtf8),
        (words.clone(), BinaryView),
        (words, Dictionary(Box::new(Int8), Box::new(Utf8))),
        (fixed.clone(), FixedSizeBinary(9)),
    ];
    for (array, to) in cases {
        let (mins, maxes) = bounds_as(&one_column(array.clone()), &to);
        let values = match &to {
            Dictionary(_, values) => (**values).clone(),
            to => to.clone(),
        };
        let expected = without_nulls(&cast(&array, &values).unwrap());
        let (first, last) = (Scalar::new(mins.clone()), Scalar::new(maxes.clone()));
        assert_eq!((mins.data_type(), maxes.data_type()), (&values, &values));
        assert!(mins.is_valid(0) && maxes.is_valid(0), "{} as {to}", array.data_type());
        assert_eq!(eq(&expected, &first).unwrap().true_count(), 1, "{} as {to}", array.data_type());
        assert_eq!(eq(&expected, &last).unwrap().true_count(), 1, "{} as {to}", array.data_type());
    }
    let wide: ArrayRef = Arc::new(
        Decimal256Array::from(vec![i256::from_i128(-5), i256::from_i128(i128::MAX)])
            .with_precision_and_scale(60, 3)
            .unwrap(),
    );
    let (mins, maxes) = bounds_as(&one_column(wide.clone()), &Decimal256(60, 3));
    assert!(concat(&[&mins, &maxes]).unwrap() == wide);
    let halves = cast(&Float32Array::from(vec![0.5, -2.0]), &Float16).unwrap();
    let (mins, maxes) = bounds_as(&one_column(halves.clone()), &Float16);
    assert!(concat(&[&maxes, &mins]).unwrap() == halves);
}

/// Parquet has no annotation for these: only the file's own field says what its numbers count.
#[test]
fn bounds_of_bare_numbers_become_those_of_a_table() {
    use DataType::*;
    let numbers = Int64Array::from(vec![-5, 7]);
    let cases = [
        (Duration(TimeUnit::Second), Duration(TimeUnit::Microsecond)),
        (
            Duration(TimeUnit::Millisecond),
            Dictionary(Box::new(Int8), Box::new(Duration(TimeUnit::Nanosecond))),
        ),
        (Timestamp(TimeUnit::Second, None), Timestamp(TimeUnit::Millisecond, None)),
        (Time32(TimeUnit::Second), Time64(TimeUnit::Nanosecond)),
    ];
    for (stored, wanted) in cases {
        let array = cast(
            &cast(&numbers, &if stored == Time32(TimeUnit::Second) { Int32 } else { Int64 }).unwrap(),
            &stored,
        );
        let array = array.unwrap();
        let (opened, field) = (open(&one_column(array.clone())), Field::new("of_table", wanted, true));
        let converter = opened.statistics_as("c", &field).unwrap();
        let groups = || opened.metadata().row_groups();
        let (mins, maxes) =
            (converter.row_group_mins(groups()).unwrap(), converter.row_group_maxes(groups()).unwrap());
        let expected = cast(&array, converter.data_type()).unwrap();
        assert!(concat(&[&mins, &maxes]).unwrap() == expected, "{stored}: {mins:?} {maxes:?}");
        assert_eq!(converter.row_group_null_counts(groups()).unwrap().values(), &[0]);
    }
    let opened = open(&one_column(cast(&numbers, &Duration(TimeUnit::Microsecond)).unwrap()));
    let coarse = Field::new("c", Duration(TimeUnit::Second), true);
    let error = opened.statistics_as("c", &coarse).unwrap_err();
    assert!(error.to_string().contains("cannot become Duration(s)"), "{error}");
    let absent = opened.statistics_as("d", &coarse).unwrap();
    assert_eq!(absent.parquet_column_index(), None);
    let mins = absent.row_group_mins(opened.metadata().row_groups()).unwrap();
    assert!(mins == new_null_array(coarse.data_type(), 1));
}

/// A leaf in a struct is named by its path, and its field may be of another name.
#[test]
fn bounds_of_leaves_become_those_of_a_table() {
    let inner: ArrayRef = Arc::new(DurationSecondArray::from(vec![3, 4]));
    let field = Arc::new(Field::new("took", inner.data_type().clone(), true));
    let opened = open(&one_column(Arc::new(StructArray::from(vec![(field, inner)]))));
    let wanted = Field::new("elapsed", DataType::Duration(TimeUnit::Millisecond), true);
    let converter = opened.statistics_as("c.took", &wanted).unwrap();
    let mins = converter.row_group_mins(opened.metadata().row_groups()).unwrap();
    assert_eq!(mins.as_primitive::<arrow_array::types::DurationMillisecondType>().values(), &[3_000]);
}

#[test]
fn what_has_no_bounds_is_null() {
    use DataType::*;
    let none = |file: &Bytes, to: &DataType| {
        let (mins, maxes) = bounds_as(file, to);
        assert_eq!((mins.len(), mins.null_count(), maxes.null_count()), (1, 1, 1), "{to}");
    };
    // The bytes of a number are in another order.
    none(&one_column(cast(&Float32Array::from(vec![0.5, -2.0]), &Float16).unwrap()), &FixedSizeBinary(2));
    none(&one_column(Arc::new(Float64Array::from(vec![f64::NAN, f64::NAN]))), &Float64);
    none(&one_column(Arc::new(Int64Array::from(vec![None::<i64>, None]))), &Int64);
    let months = IntervalYearMonthArray::from(vec![1, 2]);
    none(&one_column(Arc::new(months)), &Interval(arrow_schema::IntervalUnit::MonthDayNano));
    // Too many nanoseconds for 64 bits: an error where they are read.
    let late = cast(&Int64Array::from(vec![i64::MAX / 2]), &Timestamp(TimeUnit::Millisecond, None)).unwrap();
    none(&one_column(late), &Timestamp(TimeUnit::Nanosecond, None));
    // A file that lacks the column, and a list as a whole.
    let file = one_column(Arc::new(Int64Array::from(vec![1])));
    let opened = open(&file);
    let schema = Schema::new(vec![Field::new("other", Utf8, true), Field::new("c", Int64, true)]);
    let other = StatisticsConverter::try_new("other", &schema, opened.parquet_schema()).unwrap();
    assert_eq!(other.parquet_column_index(), None);
    let groups = || opened.metadata().row_groups();
    assert!(other.row_group_mins(groups()).unwrap() == new_null_array(&Utf8, 1));
    assert_eq!(other.row_group_null_counts(groups()).unwrap().null_count(), 1);
    assert_eq!(other.row_group_row_counts(groups()).values(), &[1]);
    let list = ListArray::from_iter_primitive::<Int32Type, _, _>([Some([Some(1)])]);
    let file = one_column(Arc::new(list));
    let opened = open(&file);
    let whole = opened.statistics("c").unwrap();
    assert_eq!(whole.row_group_mins(opened.metadata().row_groups()).unwrap().null_count(), 1);
    let leaf = opened.parquet_schema().column(0).dotted().clone();
    let elements = opened.statistics(&leaf).unwrap();
    let mins = elements.row_group_mins(opened.metadata().row_groups()).unwrap();
    assert_eq!(mins.as_primitive::<Int32Type>().value(0), 1);
}

#[test]
fn wrong_questions_are_errors() {
    let opened = open(&one_column(Arc::new(Int64Array::from(vec![1]))));
    let error = opened.statistics("d").unwrap_err();
    assert!(error.to_string().contains("no column d"), "{error}");
    // As a signed number the greatest would be the least.
    let unsigned: [(ArrayRef, DataType); 2] = [
        (Arc::new(UInt32Array::from(vec![1, u32::MAX])), DataType::Int32),
        (Arc::new(UInt64Array::from(vec![1, u64::MAX])), DataType::Int64),
    ];
    for (column, wanted) in unsigned {
        let (opened, schema) = (open(&one_column(column)), Schema::new(vec![Field::new("c", wanted, true)]));
        let error = StatisticsConverter::try_new("c", &schema, opened.parquet_schema()).unwrap_err();
        assert!(error.to_string().contains("cannot become"), "{error}");
    }
    let schema = Schema::new(vec![Field::new("c", DataType::Utf8, true)]);
    let error = StatisticsConverter::try_new("c", &schema, opened.parquet_schema()).unwrap_err();
    assert!(error.to_string().contains("cannot become Utf8"), "{error}");
    let other = open(&one_column(Arc::new(StringArray::from(vec!["a"]))));
    let converter = opened.statistics("c").unwrap();
    let error = converter.row_group_mins(other.metadata().row_groups()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Argument);
}
