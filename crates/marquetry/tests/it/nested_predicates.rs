//! Lists, maps and structs are asked as an evaluator asks them that looks at one row after the other.

use crate::arrays::Random;
use arrow_array::builder::{
    Float64Builder, Int32Builder, Int64Builder, ListBuilder, MapBuilder, StringBuilder, StructBuilder,
};
use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{ArrayRef, Int64Array, RecordBatch, StructArray};
use arrow_buffer::NullBuffer;
use arrow_schema::{DataType, Field, Fields};
use bytes::Bytes;
use marquetry::arrow::ArrowWriter;
use marquetry::arrow::arrow_reader::{ArrowReaderOptions, ParquetRecordBatchReaderBuilder};
use marquetry::basic::Compression;
use marquetry::file::properties::{EnabledStatistics, WriterProperties, WriterVersion};
use marquetry::predicate::{Comparison, Predicate, col};
use proptest::prelude::*;
use std::sync::Arc;

/// What a value is, in the model.
#[derive(Debug, Clone, PartialEq, PartialOrd)]
enum Cell {
    Number(i64),
    Text(String),
}

/// A list of a row: null, or its elements, which may be null.
type List = Option<Vec<Option<Cell>>>;

/// A map of a row: null, or its entries.
type Entries = Option<Vec<(String, Option<i64>)>>;

/// The rows of a column, and how it is asked.
#[derive(Debug)]
struct Column {
    path: &'static str,
    is_text: bool,
    rows: Vec<List>,
    /// The length of the outermost list, if that differs.
    counts: Vec<Option<u64>>,
}

#[derive(Debug)]
struct Table {
    batch: RecordBatch,
    lists: Vec<Column>,
    /// Entries of `attributes`.
    maps: Vec<Entries>,
    /// Which rows of the struct `s` are null.
    nulls: Vec<bool>,
}

fn table(random: &mut Random, rows: usize) -> Table {
    let spread = 2 + random.below(12) as i64;
    let (mut tags, mut tag_rows) = (ListBuilder::new(StringBuilder::new()), Vec::new());
    let (mut deep, mut deep_rows) = (ListBuilder::new(ListBuilder::new(Int64Builder::new())), Vec::new());
    let mut deep_counts = Vec::new();
    let point_fields =
        Fields::from(vec![Field::new("x", DataType::Float64, true), Field::new("y", DataType::Int32, true)]);
    let point = StructBuilder::new(
        point_fields,
        vec![Box::new(Float64Builder::new()), Box::new(Int32Builder::new())],
    );
    let (mut points, mut x_rows) = (ListBuilder::new(point), Vec::new());
    let (mut attributes, mut maps) =
        (MapBuilder::new(None, StringBuilder::new(), Int64Builder::new()), Vec::new());
    let (mut inner, mut inner_rows, mut nulls) =
        (ListBuilder::new(Int32Builder::new()), Vec::new(), Vec::new());
    // Runs of rows that are alike, so that pages differ.
    let (mut base, run) = (0, 1 + random.below(60));
    let rarely = 2 + random.below(20);
    for row in 0..rows {
        if row % run == 0 {
            base = random.below(spread as usize) as i64;
        }
        let element = |random: &mut Random| (!random.one_in(rarely)).then(|| base + random.below(3) as i64);
        let length = |random: &mut Random| {
            (!random.one_in(rarely)).then(|| if random.one_in(3) { 0 } else { random.below(4) })
        };
        let list =
            |random: &mut Random| length(random).map(|n| (0..n).map(|_| element(random)).collect::<Vec<_>>());

        let found = list(random);
        match &found {
            Some(found) => tags.append_value(found.iter().map(|it| it.map(name))),
            None => tags.append_null(),
        }
        tag_rows
            .push(found.map(|found| found.into_iter().map(|it| it.map(|it| Cell::Text(name(it)))).collect()));

        let found: Option<Vec<Option<Vec<Option<i64>>>>> =
            length(random).map(|n| (0..n).map(|_| list(random)).collect());
        deep_counts.push(found.as_ref().map(|found| found.len() as u64));
        deep_rows.push(found.as_ref().map(|lists| {
            let of_inner = |inner: &Option<Vec<Option<i64>>>| match inner {
                None => vec![None],
                Some(inner) => inner.iter().map(|it| it.map(Cell::Number)).collect(),
            };
            lists.iter().flat_map(of_inner).collect()
        }));
        for inner in found.iter().flatten() {
            match inner {
                Some(inner) => deep.values().append_value(inner.iter().copied()),
                None => deep.values().append_null(),
            }
        }
        deep.append(found.is_some());

        let found = list(random);
        for x in found.iter().flatten() {
            let is_there = x.is_some() || random.one_in(2);
            points.values().field_builder::<Float64Builder>(0).unwrap().append_option(x.map(|x| x as f64));
            points.values().field_builder::<Int32Builder>(1).unwrap().append_option(is_there.then_some(1));
            points.values().append(is_there);
        }
        points.append(found.is_some());
        x_rows.push(found.map(|found| found.into_iter().map(|it| it.map(Cell::Number)).collect()));

        let found = length(random)
            .map(|n| (0..n).map(|_| (key(random.below(3)), element(random))).collect::<Vec<_>>());
        for (key, value) in found.iter().flatten() {
            attributes.keys().append_value(key);
            attributes.values().append_option(*value);
        }
        attributes.append(found.is_some()).unwrap();
        maps.push(found);

        let (is_null, found) = (random.one_in(rarely), list(random));
        match &found {
            Some(found) => inner.append_value(found.iter().map(|it| it.map(|it| it as i32))),
            None => inner.append_null(),
        }
        nulls.push(is_null);
        let found = found.filter(|_| !is_null);
        inner_rows.push(found.map(|found| found.into_iter().map(|it| it.map(Cell::Number)).collect()));
    }
    let inner = inner.finish();
    let inner_field = Field::new("l", inner.data_type_of(), true);
    let validity = NullBuffer::from_iter(nulls.iter().map(|is_null| !is_null));
    let s = StructArray::new(Fields::from(vec![inner_field]), vec![Arc::new(inner)], Some(validity));
    let ids: ArrayRef = Arc::new(Int64Array::from_iter_values(0..rows as i64));
    let columns: Vec<(&str, ArrayRef, bool)> = vec![
        ("id", ids, false),
        ("tags", Arc::new(tags.finish()), true),
        ("deep", Arc::new(deep.finish()), true),
        ("points", Arc::new(points.finish()), true),
        ("attributes", Arc::new(attributes.finish()), true),
        ("s", Arc::new(s), true),
    ];
    let lists = [
        ("tags", true, tag_rows),
        ("deep", false, deep_rows),
        ("points.x", false, x_rows),
        ("s.l", false, inner_rows),
    ];
    let lists = lists.into_iter().map(|(path, is_text, rows)| {
        let counts = match path {
            "deep" => deep_counts.clone(),
            _ => rows.iter().map(|row: &List| row.as_ref().map(|row| row.len() as u64)).collect(),
        };
        Column { path, is_text, rows, counts }
    });
    let batch = RecordBatch::try_from_iter_with_nullable(columns).unwrap();
    Table { batch, lists: lists.collect(), maps, nulls }
}

trait DataTypeOf {
    fn data_type_of(&self) -> DataType;
}

impl<T: arrow_array::Array> DataTypeOf for T {
    fn data_type_of(&self) -> DataType {
        self.data_type().clone()
    }
}

fn name(value: i64) -> String {
    format!("a tag of number {value}")
}

fn key(number: usize) -> String {
    ["colour", "size", "weight of it"][number].to_owned()
}

/// A predicate, and for each row whether it is true, false or unknown.
type Asked = (Predicate, Vec<Option<bool>>);

fn not(of: Option<bool>) -> Option<bool> {
    of.map(|of| !of)
}

fn and(a: Option<bool>, b: Option<bool>) -> Option<bool> {
    match (a, b) {
        (Some(false), _) | (_, Some(false)) => Some(false),
        (Some(true), Some(true)) => Some(true),
        _ => None,
    }
}

fn or(a: Option<bool>, b: Option<bool>) -> Option<bool> {
    not(and(not(a), not(b)))
}

type OfValue = Box<dyn Fn(&Option<Cell>) -> Option<bool>>;

/// What is asked of a value of `path`.
fn of_value(random: &mut Random, path: &str, is_text: bool, depth: usize) -> (Predicate, OfValue) {
    let number = random.below(14) as i64;
    let cell = |number: i64| if is_text { Cell::Text(name(number)) } else { Cell::Number(number) };
    let with = cell(number);
    let column = || col(path);
    let compared = |is: Comparison| match &with {
        Cell::Number(number) => column().compare(is, *number),
        Cell::Text(text) => column().compare(is, text.as_str()),
    };
    match random.below(if depth > 1 { 6 } else { 9 }) {
        0 | 1 => {
            let with = with.clone();
            (compared(Comparison::Eq), Box::new(move |value| Some(*value.as_ref()? == with)))
        }
        2 => {
            let with = with.clone();
            (compared(Comparison::Lt), Box::new(move |value| Some(*value.as_ref()? < with)))
        }
        3 => {
            let with = with.clone();
            (compared(Comparison::Ne), Box::new(move |value| Some(*value.as_ref()? != with)))
        }
        4 => (column().is_null(), Box::new(|value| Some(value.is_none()))),
        5 if is_text => {
            let pattern = format!("%{number}");
            let end = number.to_string();
            let ends = move |value: &Option<Cell>| match value.as_ref()? {
                Cell::Text(text) => Some(text.ends_with(&end)),
                Cell::Number(_) => None,
            };
            (column().like(pattern), Box::new(ends))
        }
        5 => {
            let list = [number, number + 1];
            let is_in = move |value: &Option<Cell>| match value.as_ref()? {
                Cell::Number(value) => Some(list.contains(value)),
                Cell::Text(_) => None,
            };
            (column().is_in(list), Box::new(is_in))
        }
        6 => {
            let (predicate, of) = of_value(random, path, is_text, depth + 1);
            (!predicate, Box::new(move |value| not(of(value))))
        }
        7 => {
            let (a, of_a) = of_value(random, path, is_text, depth + 1);
            let (b, of_b) = of_value(random, path, is_text, depth + 1);
            (Predicate::And(vec![a, b]), Box::new(move |value| and(of_a(value), of_b(value))))
        }
        _ => {
            let (a, of_a) = of_value(random, path, is_text, depth + 1);
            let (b, of_b) = of_value(random, path, is_text, depth + 1);
            (Predicate::Or(vec![a, b]), Box::new(move |value| or(of_a(value), of_b(value))))
        }
    }
}

type Holds = fn(&u64, &u64) -> bool;

const COMPARISONS: [(Comparison, Holds); 6] = [
    (Comparison::Eq, u64::eq),
    (Comparison::Ne, u64::ne),
    (Comparison::Lt, u64::lt),
    (Comparison::Le, u64::le),
    (Comparison::Gt, u64::gt),
    (Comparison::Ge, u64::ge),
];

fn asked(random: &mut Random, table: &Table, depth: usize) -> Asked {
    let list = &table.lists[random.below(table.lists.len())];
    match random.below(if depth > 2 { 7 } else { 10 }) {
        0..=2 => {
            let (predicate, of) = of_value(random, list.path, list.is_text, 0);
            let each = |none: bool, with: fn(Option<bool>, Option<bool>) -> Option<bool>| {
                let of_row = |row: &List| row.as_ref()?.iter().map(&of).fold(Some(none), with);
                list.rows.iter().map(of_row).collect()
            };
            match random.one_in(2) {
                true => (predicate.any(), each(false, or)),
                false => (predicate.all(), each(true, and)),
            }
        }
        3 => {
            let (is, holds) = COMPARISONS[random.below(6)];
            let count = random.below(5) as u64;
            // The path of the list, without that of the field.
            let path = if list.path == "points.x" { "points" } else { list.path };
            let found = list.counts.iter().map(|it| it.map(|it| holds(&it, &count)));
            (col(path).cardinality(is, count), found.collect())
        }
        4 => {
            let path = if list.path == "points.x" { "points" } else { list.path };
            (col(path).is_empty(), list.counts.iter().map(|it| it.map(|it| it == 0)).collect())
        }
        5 => match random.below(3) {
            0 => (col("s").is_null(), table.nulls.iter().map(|it| Some(*it)).collect()),
            _ => {
                let path = if list.path == "points.x" { "points" } else { list.path };
                (col(path).is_null(), list.counts.iter().map(|it| Some(it.is_none())).collect())
            }
        },
        6 => {
            let key = key(random.below(4) % 3);
            let (predicate, of) = of_value(random, "attributes", false, 0);
            let value = |row: &Entries| {
                let entry = row.as_ref()?.iter().rev().find(|(it, _)| *it == key)?;
                entry.1.map(Cell::Number)
            };
            let found = table.maps.iter().map(|row| of(&value(row))).collect();
            (predicate.at_key(key.as_str()), found)
        }
        7 => {
            let (predicate, found) = asked(random, table, depth + 1);
            (!predicate, found.into_iter().map(not).collect())
        }
        8 => both(asked(random, table, depth + 1), asked(random, table, depth + 1), true),
        _ => {
            let least = random.below(table.batch.num_rows().max(1)) as i64;
            let of_id = (0..table.batch.num_rows() as i64).map(|id| Some(id >= least)).collect();
            both((col("id").ge(least), of_id), asked(random, table, depth + 1), random.one_in(2))
        }
    }
}

fn both((a, of_a): Asked, (b, of_b): Asked, is_and: bool) -> Asked {
    let found = of_a.into_iter().zip(of_b).map(|(a, b)| if is_and { and(a, b) } else { or(a, b) }).collect();
    match is_and {
        true => (Predicate::And(vec![a, b]), found),
        false => (Predicate::Or(vec![a, b]), found),
    }
}

fn written(random: &mut Random, batch: &RecordBatch) -> Bytes {
    let statistics = [EnabledStatistics::None, EnabledStatistics::Chunk, EnabledStatistics::Page];
    let properties = WriterProperties::builder()
        .set_compression(random.pick(&[Compression::UNCOMPRESSED, Compression::SNAPPY]))
        .set_writer_version(random.pick(&[WriterVersion::PARQUET_1_0, WriterVersion::PARQUET_2_0]))
        .set_statistics_enabled(random.pick(&statistics))
        .set_bloom_filter_enabled(random.one_in(2))
        .set_dictionary_enabled(random.one_in(2))
        .set_data_page_row_count_limit(random.pick(&[5, 40, 333]))
        .set_write_batch_size(7)
        .set_max_row_group_row_count(Some(random.pick(&[50, 300, 10_000])))
        .build();
    let mut out = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut out, batch.schema(), Some(properties)).unwrap();
    writer.write(batch).unwrap();
    writer.close().unwrap();
    out.into()
}

fn ids(file: &Bytes, predicate: &Predicate, random: &mut Random) -> Vec<i64> {
    let options = ArrowReaderOptions::new().with_page_index(random.one_in(2));
    let builder = ParquetRecordBatchReaderBuilder::try_new_with_options(file.clone(), options).unwrap();
    let builder = match random.below(3) {
        0 => builder,
        1 => builder.with_columns(["id"]).unwrap(),
        _ => builder.with_columns(["id", "tags", "attributes"]).unwrap(),
    };
    let reader = builder
        .with_predicate(predicate.clone())
        .with_batch_size(random.pick(&[1, 17, 1000]))
        .with_threads(random.pick(&[1, 2]))
        .build()
        .unwrap_or_else(|error| panic!("{predicate}: {error}"));
    let batches = reader.map(|batch| batch.unwrap_or_else(|error| panic!("{predicate}: {error}")));
    let mut out = Vec::new();
    for batch in batches {
        out.extend(batch.column(0).as_primitive::<Int64Type>().values());
    }
    out
}

fn cases() -> u32 {
    std::env::var("MARQUETRY_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(100)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases()))]

    /// Some 15 predicates for each table.
    #[test]
    fn lists_maps_and_structs_are_asked_as_they_are_shown(seed in any::<u64>()) {
        let random = &mut Random(seed);
        let rows = random.below(700);
        let table = table(random, rows);
        let file = written(random, &table.batch);
        for _ in 0..15 {
            let (predicate, found) = asked(random, &table, 0);
            let text = predicate.to_string();
            prop_assert_eq!(&Predicate::parse(&text).unwrap_or_else(|error| panic!("{text}: {error}")), &predicate, "{}", text);
            let expected: Vec<i64> =
                found.iter().enumerate().filter(|(_, it)| **it == Some(true)).map(|(id, _)| id as i64).collect();
            prop_assert_eq!(ids(&file, &predicate, random), expected, "{}", predicate);
        }
    }
}
