//! Planted changes are found, each for what it is, and nothing else is.

use arrow_array::builder::{Int32Builder, ListBuilder};
use arrow_array::*;
use arrow_schema::{DataType, Field, Schema};
use arrow_select::concat::concat_batches;
use bytes::Bytes;
use marquetry_arrow::arrow_reader::ArrowReaderOptions;
use marquetry_arrow::arrow_writer::ArrowWriter;
use marquetry_core::write::{Compression, KeyValue, WriterProperties};
use marquetry_inspect::{Aspect, DiffFile, DiffOptions, diff_footers, diff_rows};
use proptest::prelude::*;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// How a table is stored.
#[derive(Debug, Clone, Copy)]
struct Layout {
    rows_per_group: usize,
    has_dictionaries: bool,
    is_compressed: bool,
}

fn layout() -> impl Strategy<Value = Layout> {
    (1..300usize, any::<bool>(), any::<bool>()).prop_map(
        |(rows_per_group, has_dictionaries, is_compressed)| Layout {
            rows_per_group,
            has_dictionaries,
            is_compressed,
        },
    )
}

fn written(batch: &RecordBatch, layout: Layout, pairs: &[(&str, &str)]) -> DiffFile {
    let pairs = pairs.iter().map(|(key, value)| KeyValue::new(*key, Some((*value).to_owned()))).collect();
    let properties = WriterProperties::builder()
        .set_max_row_group_row_count(Some(layout.rows_per_group))
        .set_dictionary_enabled(layout.has_dictionaries)
        .set_compression(if layout.is_compressed { Compression::SNAPPY } else { Compression::UNCOMPRESSED })
        .set_key_value_metadata(Some(pairs))
        .build();
    let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), Some(properties)).unwrap();
    writer.write(batch).unwrap();
    DiffFile::open(Arc::new(Bytes::from(writer.into_inner().unwrap())), ArrowReaderOptions::new()).unwrap()
}

type Row = (i64, Option<i16>, Option<f64>, Option<String>, Option<Vec<Option<i32>>>);

/// Rows whose first value is their number: no two are the same.
fn rows() -> impl Strategy<Value = Vec<Row>> {
    let float = prop_oneof![Just(f64::NAN), Just(0.0), -10.0..10.0f64];
    let list = proptest::collection::vec(proptest::option::of(0..3i32), 0..3);
    let rest = (
        proptest::option::of(any::<i16>()),
        proptest::option::of(float),
        proptest::option::of("[ab]{0,3}"),
        proptest::option::of(list),
    );
    proptest::collection::vec(rest, 2..400).prop_map(|rows| {
        let numbered = rows.into_iter().enumerate();
        numbered.map(|(i, (small, float, text, list))| (i as i64, small, float, text, list)).collect()
    })
}

fn table(rows: &[Row]) -> RecordBatch {
    let mut lists = ListBuilder::new(Int32Builder::new());
    for row in rows {
        for element in row.4.iter().flatten() {
            lists.values().append_option(*element);
        }
        lists.append(row.4.is_some());
    }
    RecordBatch::try_from_iter_with_nullable([
        ("id", Arc::new(Int64Array::from_iter_values(rows.iter().map(|row| row.0))) as ArrayRef, false),
        ("small", Arc::new(rows.iter().map(|row| row.1).collect::<Int16Array>()), true),
        ("float", Arc::new(rows.iter().map(|row| row.2).collect::<Float64Array>()), true),
        ("text", Arc::new(rows.iter().map(|row| row.3.as_deref()).collect::<StringArray>()), true),
        ("list", Arc::new(lists.finish()), true),
    ])
    .unwrap()
}

#[derive(Debug, Clone, Copy)]
enum Change {
    Value,
    Null,
    Element,
    Order,
    Removed,
    Added,
    Type,
    Metadata,
}

fn change() -> impl Strategy<Value = Change> {
    use Change::*;
    prop::sample::select(vec![Value, Null, Element, Order, Removed, Added, Type, Metadata])
}

/// `MARQUETRY_CASES=1000` runs as many cases.
fn cases() -> ProptestConfig {
    ProptestConfig::with_cases(
        std::env::var("MARQUETRY_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(150),
    )
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn planted_changes_are_found(
        rows in rows(), layouts in (layout(), layout()), change in change(), at in any::<prop::sample::Index>(),
        by_key in any::<bool>(),
    ) {
        let left = written(&table(&rows), layouts.0, &[("who", "me")]);
        let same = written(&table(&rows), layouts.1, &[("who", "me")]);
        let options = match by_key {
            true => DiffOptions::default().with_key(["id"]),
            false => DiffOptions::default(),
        };
        let diff = diff_rows(&left, &same, &options).unwrap();
        prop_assert!(diff.is_same(), "{diff:?}");
        let facts = diff_footers(left.metadata(), same.metadata()).unwrap();
        let aspects: Vec<_> = facts.iter().map(|fact| fact.aspect).collect();
        prop_assert!(aspects.iter().all(|aspect| *aspect == Aspect::Layout), "{facts:?}");

        let (at, mut changed) = (at.index(rows.len() - 1), rows.clone());
        let (mut batch, mut pairs) = (None, [("who", "me")]);
        match change {
            Change::Value => changed[at].1 = Some(changed[at].1.unwrap_or(7).wrapping_add(1)),
            Change::Null => changed[at].3 = match changed[at].3 { None => Some("was null".into()), Some(_) => None },
            Change::Element => {
                let list = changed[at].4.get_or_insert_default();
                list.push(None);
            }
            Change::Order => changed.swap(at, at + 1),
            Change::Removed => drop(changed.remove(at)),
            Change::Added => changed.insert(at, (-1, None, None, None, None)),
            Change::Type => {
                // The same values, in more bits.
                let table = table(&rows);
                let wide = arrow_cast::cast(table.column(1), &DataType::Int32).unwrap();
                let mut fields: Vec<_> = table.schema().fields().to_vec();
                fields[1] = Field::new("small", DataType::Int32, true).into();
                let mut columns = table.columns().to_vec();
                columns[1] = wide;
                batch = Some(RecordBatch::try_new(Arc::new(Schema::new(fields)), columns).unwrap());
            }
            Change::Metadata => pairs = [("who", "you")],
        }
        let right = written(&batch.unwrap_or_else(|| table(&changed)), layouts.1, &pairs);
        let diff = diff_rows(&left, &right, &options).unwrap();
        let facts = diff_footers(left.metadata(), right.metadata()).unwrap();
        let about = |aspect: Aspect| facts.iter().filter(|fact| fact.aspect == aspect).collect::<Vec<_>>();
        let counts = (diff.removed, diff.added, diff.changed);
        let place = at as u64;
        match change {
            Change::Value | Change::Null | Change::Element => {
                prop_assert_eq!(counts, (0, 0, 1));
                prop_assert_eq!(&diff.changed_rows, &[(place, place)]);
                let column = match change { Change::Value => "small", Change::Null => "text", _ => "list" };
                prop_assert_eq!(&diff.changed_columns, &[(column.to_owned(), 1)]);
            }
            Change::Order => {
                prop_assert_eq!(counts, (0, 0, 0));
                prop_assert!(diff.is_reordered && diff.first_moved == Some(place), "{diff:?}");
            }
            Change::Removed => {
                prop_assert_eq!((counts, &diff.removed_rows), ((1, 0, 0), &vec![place]));
                prop_assert_eq!(about(Aspect::Statistics)[0].fact, "rows");
            }
            Change::Added => prop_assert_eq!((counts, &diff.added_rows), ((0, 1, 0), &vec![place])),
            Change::Type => {
                prop_assert!(diff.is_same(), "{diff:?}");
                let fact = about(Aspect::Schema)[0];
                prop_assert_eq!((fact.of.as_deref(), fact.fact), (Some("small"), "type"));
            }
            Change::Metadata => {
                prop_assert!(diff.is_same(), "{diff:?}");
                let fact = about(Aspect::Metadata)[0];
                prop_assert_eq!((fact.left.as_deref(), fact.right.as_deref()), (Some("me"), Some("you")));
            }
        }
    }
}

const PLAIN: Layout = Layout { rows_per_group: 1 << 20, has_dictionaries: true, is_compressed: true };

fn numbers(values: impl Iterator<Item = i64>) -> RecordBatch {
    let values: Int64Array = values.map(Some).collect();
    RecordBatch::try_from_iter([("n", Arc::new(values) as ArrayRef)]).unwrap()
}

/// More places than are compared one by one, and more rows than are counted at a time.
#[test]
fn many_rows_in_another_order() {
    let n = 3_000_000;
    let left = written(&numbers(0..n), PLAIN, &[]);
    let reversed = written(&numbers((0..n).rev()), PLAIN, &[]);
    let diff = diff_rows(&left, &reversed, &DiffOptions::default()).unwrap();
    assert_eq!((diff.removed, diff.added, diff.is_reordered, diff.first_moved), (0, 0, true, Some(0)));

    // Half of the rows are others.
    let others = written(&numbers((0..n).rev().map(|i| if i % 2 == 0 { i } else { i + n })), PLAIN, &[]);
    let diff = diff_rows(&left, &others, &DiffOptions::default().with_samples(3)).unwrap();
    assert_eq!((diff.removed, diff.added), (n as u64 / 2, n as u64 / 2));
    assert_eq!((diff.removed_rows, diff.added_rows), (vec![1, 3, 5], vec![0, 2, 4]));

    let diff = diff_rows(&left, &others, &DiffOptions::default().with_key(["n"])).unwrap();
    assert_eq!((diff.removed, diff.added, diff.changed), (n as u64 / 2, n as u64 / 2, 0));
    assert_eq!(diff.removed_rows[..3], [1, 3, 5]);
}

#[test]
fn rows_that_occur_more_often() {
    let left = written(&numbers([1, 1, 2, 3].into_iter()), PLAIN, &[]);
    let right = written(&numbers([1, 2, 2, 3, 3].into_iter()), PLAIN, &[]);
    let diff = diff_rows(&left, &right, &DiffOptions::default()).unwrap();
    assert_eq!((diff.removed, diff.added), (1, 2));
    let error = diff_rows(&left, &right, &DiffOptions::default().with_key(["n"])).unwrap_err();
    assert!(error.to_string().contains("rows 0 and 1 of the left file"), "{error}");
}

/// Stretches of row groups that are compared by several threads.
#[test]
fn places_in_many_row_groups() {
    let n = 900_000;
    let table = |ids: &dyn Fn(i64) -> i64, values: &dyn Fn(i64) -> i64| {
        let column =
            |of: &dyn Fn(i64) -> i64| Arc::new(Int64Array::from_iter_values((0..n).map(of))) as ArrayRef;
        RecordBatch::try_from_iter([("id", column(ids)), ("value", column(values))]).unwrap()
    };
    let small = |rows_per_group| Layout { rows_per_group, has_dictionaries: false, is_compressed: false };
    let planted = [0, 262_143, 300_000, 300_001, 899_999u64];
    let changed = |i: i64| if planted.contains(&(i as u64)) { -1 } else { i };
    for ids in [&(|i: i64| i * 3) as &dyn Fn(i64) -> i64, &|i| -i, &|i| i ^ 5] {
        let left = written(&table(ids, &|i| i), small(100_000), &[]);
        // One file has twice the row groups, and no row group of the other begins where one of the left does.
        for rows_per_group in [50_000, 400_001] {
            let right = written(&table(ids, &changed), small(rows_per_group), &[]);
            for options in [DiffOptions::default(), DiffOptions::default().with_key(["id"])] {
                let diff = diff_rows(&left, &right, &options.with_threads(3)).unwrap();
                assert_eq!(
                    (diff.removed, diff.added, diff.changed, diff.rows),
                    (0, 0, 5, (n as u64, n as u64))
                );
                assert_eq!(diff.changed_rows, planted.map(|place| (place, place)));
                assert_eq!(diff.changed_columns, [("value".to_owned(), 5)]);
            }
        }
    }
    // A key that occurs twice, in two consecutive stretches, at the same places in both files.
    let twice = |i: i64| if i == 300_000 { 299_999 } else { i };
    let left = written(&table(&twice, &|i| i), small(100_000), &[]);
    let error = diff_rows(&left, &left, &DiffOptions::default().with_key(["id"])).unwrap_err();
    assert!(error.to_string().contains("rows 299999 and 300000 of the left file"), "{error}");
    assert!(diff_rows(&left, &left, &DiffOptions::default()).unwrap().is_same());
}

/// Counts how often each row occurs in the left file minus the right one, and rows whose key is in both with other
/// values.
fn reference(left: &[(i64, i64)], right: &[(i64, i64)], by_key: bool) -> (u64, u64, u64) {
    let mut excess: HashMap<(i64, i64), i64> = HashMap::new();
    left.iter().for_each(|row| *excess.entry(*row).or_default() += 1);
    right.iter().for_each(|row| *excess.entry(*row).or_default() -= 1);
    let sum = |sign: i64| excess.values().map(|excess| (excess * sign).max(0) as u64).sum::<u64>();
    let ids =
        |sign: i64| excess.iter().filter(move |(_, excess)| **excess * sign > 0).map(|((id, _), _)| *id);
    let others: HashSet<i64> = ids(-1).collect();
    let changed = if by_key { ids(1).filter(|id| others.contains(id)).count() as u64 } else { 0 };
    (sum(1) - changed, sum(-1) - changed, changed)
}

/// Rows with numbers and a value each, in a file of small row groups.
fn of_rows(rows: &[(i64, i64)], rows_per_group: usize) -> DiffFile {
    let column = |of: &dyn Fn(&(i64, i64)) -> i64| {
        Arc::new(Int64Array::from_iter_values(rows.iter().map(of))) as ArrayRef
    };
    let columns = [("id", column(&|row| row.0)), ("value", column(&|row| row.1))];
    let layout = Layout { rows_per_group, has_dictionaries: false, is_compressed: false };
    written(&RecordBatch::try_from_iter(columns).unwrap(), layout, &[])
}

/// Additional rows of one file move the others to other row groups, and to other threads.
#[test]
fn rows_put_in_and_left_out() {
    let n = 600_000;
    let rows: Vec<(i64, i64)> = (0..n).map(|i| (i * 3, i % 1000)).collect();
    let without = |gone: &dyn Fn(usize) -> bool| {
        let kept = rows.iter().enumerate().filter(|(i, _)| !gone(*i));
        kept.map(|(_, row)| *row).collect::<Vec<_>>()
    };
    let mut more = rows.clone();
    more.insert(0, (-5, 0));
    more.insert(350_001, (1_050_000 - 1, 5));
    more.push((n * 3, 1));
    let mut changed = without(&|i| i == 400_000 || (500_000..500_070).contains(&i));
    changed[5].1 = -1;
    changed[450_000].1 = -2;
    let scattered = without(&|i| i % 1_001 == 7);
    let block = without(&|i| (300_000..370_000).contains(&i));
    let left = of_rows(&rows, 100_000);
    for (others, layouts) in [
        (without(&|i| i == 299_999), [(100_000, 3), (1 << 20, 1)]),
        (more, [(100_000, 3), (77_777, 2)]),
        (changed, [(100_000, 2), (77_777, 3)]),
        (scattered, [(100_000, 3), (50_000, 2)]),
        (block, [(100_000, 2), (77_777, 3)]),
    ] {
        let known: HashSet<i64> = others.iter().map(|row| row.0).collect();
        let gone = rows.iter().enumerate().filter(|(_, row)| !known.contains(&row.0));
        let gone: Vec<u64> = gone.map(|(i, _)| i as u64).take(5).collect();
        for (by_key, (rows_per_group, threads)) in [false, true].into_iter().zip(layouts) {
            let right = of_rows(&others, rows_per_group);
            let key: &[&str] = if by_key { &["id"] } else { &[] };
            let options = DiffOptions::default().with_key(key.iter().copied());
            let options = options.with_threads(threads).with_samples(5);
            let (removed, added, changed) = reference(&rows, &others, by_key);
            let diff = diff_rows(&left, &right, &options).unwrap();
            assert_eq!((diff.removed, diff.added, diff.changed), (removed, added, changed), "{by_key}");
            assert_eq!(diff.rows, (rows.len() as u64, others.len() as u64));
            let turned = diff_rows(&right, &left, &options).unwrap();
            assert_eq!((turned.added, turned.removed, turned.changed), (removed, added, changed), "{by_key}");
            if by_key || reference(&rows, &others, true).2 == 0 {
                assert_eq!((&diff.removed_rows, &turned.added_rows), (&gone, &gone));
            }
        }
    }
}

/// Many equal rows; as many rows in both files, all at other places; and keys that occur twice.
#[test]
fn rows_put_in_among_others_that_are_alike() {
    let n = 1_100_000;
    let alike: Vec<(i64, i64)> = vec![(1, 1); 700_000];
    let right = of_rows(&alike[30..], 100_000);
    let diff = diff_rows(&of_rows(&alike, 100_000), &right, &DiffOptions::default()).unwrap();
    assert_eq!((diff.removed, diff.added, diff.removed_rows.len()), (30, 0, 20));
    let rows: Vec<(i64, i64)> = (0..n).map(|i| (i * 3, i % 1000)).collect();
    let left = of_rows(&rows, 100_000);
    let moved: Vec<(i64, i64)> = rows[1..].iter().copied().chain([(n * 3, 0)]).collect();
    for key in [&[][..], &["id"]] {
        let options = DiffOptions::default().with_key(key.iter().copied());
        let diff = diff_rows(&left, &of_rows(&moved, 77_777), &options).unwrap();
        assert_eq!((diff.removed, diff.added, diff.changed), (1, 1, 0));
        assert_eq!((diff.removed_rows, diff.added_rows), (vec![0], vec![n as u64 - 1]));
    }
    let twice: Vec<(i64, i64)> = rows[6..].iter().copied().chain([rows[7]]).collect();
    let error =
        diff_rows(&left, &of_rows(&twice, 100_000), &DiffOptions::default().with_key(["id"])).unwrap_err();
    assert!(error.to_string().contains("of the right file"), "{error}");
}

#[test]
fn columns_of_one_file_only() {
    let batch = table(&[(1, None, None, None, None), (2, None, None, None, None)]);
    let left = written(&batch, PLAIN, &[]);
    let right = written(&batch.project(&[3, 0]).unwrap(), PLAIN, &[]);
    let diff = diff_rows(&left, &right, &DiffOptions::default()).unwrap();
    assert!(diff.is_same());
    assert_eq!(diff.columns, ["id", "text"]);
    assert_eq!(diff.not_compared, ["small", "float", "list.list.element"]);
    let facts = diff_footers(left.metadata(), right.metadata()).unwrap();
    let of_schema = facts.iter().filter(|fact| fact.aspect == Aspect::Schema);
    let fields: Vec<_> = of_schema.map(|fact| fact.of.as_deref().unwrap_or("order")).collect();
    assert_eq!(fields, ["small", "float", "list", "list.list", "list.list.element", "order"]);
    let error = diff_rows(&left, &right, &DiffOptions::default().with_columns(["float"])).unwrap_err();
    assert!(error.to_string().contains("float"), "{error}");
    let error = diff_rows(&left, &right, &DiffOptions::default().with_key(["small"])).unwrap_err();
    assert!(error.to_string().contains("small"), "{error}");
}

/// Rows come back by their numbers, in batches of any size.
#[test]
fn rows_by_number() {
    let batch = numbers(0..50_000);
    let file = written(&batch, Layout { rows_per_group: 7_000, ..PLAIN }, &[]);
    let wanted = [0, 6_999, 7_000, 31_234, 49_999];
    let rows = file.rows_at(&wanted, &["n".to_owned()]).unwrap();
    let expected: Vec<_> = wanted.iter().map(|row| batch.slice(*row as usize, 1)).collect();
    assert_eq!(rows.columns(), concat_batches(&batch.schema(), &expected).unwrap().columns());
}

/// Any time zone name.
#[test]
fn bounds_of_instants_differ() {
    let file = |instants: Vec<i64>| {
        let array = TimestampMicrosecondArray::from(instants).with_timezone("Europe/Berlin");
        let batch = RecordBatch::try_from_iter([("at", Arc::new(array) as ArrayRef)]).unwrap();
        let layout = Layout { rows_per_group: 10, has_dictionaries: false, is_compressed: false };
        written(&batch, layout, &[])
    };
    let differences = diff_footers(file(vec![1, 2, 3]).metadata(), file(vec![1, 2, 5]).metadata()).unwrap();
    let greatest = differences.iter().find(|difference| difference.fact == "max").unwrap();
    assert_eq!(greatest.left.as_deref(), Some("1970-01-01T00:00:00.000003Z"));
    assert_eq!(greatest.right.as_deref(), Some("1970-01-01T00:00:00.000005Z"));
}

fn one_column(array: ArrayRef) -> DiffFile {
    written(&RecordBatch::try_from_iter_with_nullable([("a", array, true)]).unwrap(), PLAIN, &[])
}

fn are_same(left: ArrayRef, right: ArrayRef) -> bool {
    diff_rows(&one_column(left), &one_column(right), &DiffOptions::default()).unwrap().is_same()
}

/// In whole units of a nanosecond: some instants need more than 64 bits.
#[test]
fn instants_far_from_1970_are_not_those_that_have_their_lowest_bits() {
    let micros = |value: i64| Arc::new(TimestampMicrosecondArray::from(vec![value])) as ArrayRef;
    for (far, near) in [(i64::MIN, 0), (i64::MAX, -1), (i64::MIN + 1, 1)] {
        assert!(!are_same(micros(far), micros(near)), "{far}");
        assert!(are_same(micros(far), micros(far)), "{far}");
        let millis = |value: i64| Arc::new(TimestampMillisecondArray::from(vec![value])) as ArrayRef;
        assert!(!are_same(millis(far), millis(near)), "{far}");
    }
    assert!(are_same(micros(2_000), Arc::new(TimestampMillisecondArray::from(vec![2]))));
}

#[test]
fn negative_numbers_are_no_large_unsigned_ones() {
    let unsigned = |value: u64| Arc::new(UInt64Array::from(vec![value])) as ArrayRef;
    let signed = |value: i64| Arc::new(Int64Array::from(vec![value])) as ArrayRef;
    assert!(!are_same(signed(-1), unsigned(u64::MAX)));
    assert!(!are_same(signed(i64::MIN), unsigned(1 << 63)));
    assert!(are_same(signed(i64::MAX), unsigned(i64::MAX as u64)));
}

#[test]
fn runs_are_compared_by_their_values() {
    let runs = |ends: Vec<i32>, values: Vec<Option<&str>>| {
        let runs = RunArray::try_new(&Int32Array::from(ends), &StringArray::from(values)).unwrap();
        Arc::new(runs) as ArrayRef
    };
    let left = || runs(vec![2, 3, 4], vec![Some("x"), Some("y"), None]);
    assert!(!are_same(left(), runs(vec![2, 3, 4], vec![Some("q"), Some("z"), None])));
    assert!(!are_same(left(), runs(vec![2, 4], vec![Some("x"), Some("y")])));
    assert!(are_same(left(), runs(vec![1, 2, 3, 4], vec![Some("x"), Some("x"), Some("y"), None])));
    assert!(are_same(left(), Arc::new(StringArray::from(vec![Some("x"), Some("x"), Some("y"), None]))));
}

/// A category that is null in all rows has no entries.
#[test]
fn dictionaries_without_entries() {
    let entries = StringArray::from(Vec::<&str>::new());
    let nulls = DictionaryArray::new(Int32Array::from(vec![None, None]), Arc::new(entries));
    let nulls: ArrayRef = Arc::new(nulls);
    assert!(are_same(nulls.clone(), nulls.clone()));
    assert!(!are_same(nulls, Arc::new(StringArray::from(vec![None, Some("")]))));
}
