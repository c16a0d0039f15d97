//! Random lists and maps of structs: what functions and conditions take out of them is what they take out of the same rows in memory.

use crate::property::{Random, WORDS};
use crate::tables::{batches, found, session_with, write_with};
use arrow_array::builder::{Int32Builder, ListBuilder, StringBuilder};
use arrow_array::{
    Array, ArrayRef, Int32Array, Int64Array, LargeListArray, ListArray, MapArray, RecordBatch, StringArray,
    StructArray,
};
use arrow_schema::{DataType, Field, Fields};
use datafusion::arrow::buffer::{NullBuffer, OffsetBuffer};
use datafusion::datasource::MemTable;
use datafusion::prelude::{SessionConfig, SessionContext};
use marquetry_arrow::dataset::Dataset;
use marquetry_core::write::WriterProperties;
use marquetry_datafusion::DatasetTable;
use std::path::Path;
use std::sync::Arc;
use tempfile::tempdir;

fn numbers(random: &mut Random, rows: usize, nulls: usize) -> ArrayRef {
    Arc::new(
        (0..rows).map(|_| (!random.chance(nulls)).then(|| random.below(6) as i32)).collect::<Int32Array>(),
    )
}

fn words(random: &mut Random, rows: usize, nulls: usize) -> ArrayRef {
    Arc::new(
        (0..rows).map(|_| (!random.chance(nulls)).then(|| WORDS[random.below(8)])).collect::<StringArray>(),
    )
}

fn lists_of_numbers(random: &mut Random, rows: usize, nulls: usize) -> ArrayRef {
    let mut builder = ListBuilder::new(Int32Builder::new());
    for _ in 0..rows {
        let is_valid = !random.chance(nulls);
        for _ in 0..if is_valid { random.below(4) } else { 0 } {
            builder.values().append_option((!random.chance(nulls)).then(|| random.below(6) as i32));
        }
        builder.append(is_valid);
    }
    Arc::new(builder.finish())
}

fn lists_of_words(random: &mut Random, rows: usize, nulls: usize) -> ArrayRef {
    let mut builder = ListBuilder::new(StringBuilder::new());
    for _ in 0..rows {
        let is_valid = !random.chance(nulls);
        for _ in 0..if is_valid { random.below(4) } else { 0 } {
            builder.values().append_option((!random.chance(nulls)).then(|| WORDS[random.below(8)]));
        }
        builder.append(is_valid);
    }
    Arc::new(builder.finish())
}

/// Structs of a number, a text and a list. DataFusion takes fields out of structs that are null, so that nothing may be below these.
fn structs(random: &mut Random, rows: usize, nulls: usize) -> ArrayRef {
    let valid: Vec<bool> = (0..rows).map(|_| !random.chance(nulls)).collect();
    let of_valid = |array: ArrayRef| {
        let without = valid.iter().map(|valid| !valid).collect::<Vec<_>>();
        datafusion::arrow::compute::nullif(&array, &without.into()).unwrap()
    };
    let columns = vec![
        of_valid(numbers(random, rows, nulls)),
        of_valid(words(random, rows, nulls)),
        of_valid(lists_of_numbers(random, rows, nulls)),
    ];
    let fields: Fields = ["x", "y", "z"]
        .iter()
        .zip(&columns)
        .map(|(name, column)| Field::new(*name, column.data_type().clone(), true))
        .collect();
    Arc::new(StructArray::new(fields, columns, Some(NullBuffer::from(valid))))
}

fn lengths(random: &mut Random, rows: usize, nulls: usize) -> (OffsetBuffer<i32>, NullBuffer) {
    let valid: Vec<bool> = (0..rows).map(|_| !random.chance(nulls)).collect();
    let lengths: Vec<usize> = valid.iter().map(|valid| if *valid { random.below(4) } else { 0 }).collect();
    (OffsetBuffer::from_lengths(lengths), NullBuffer::from(valid))
}

fn lists_of_structs(random: &mut Random, rows: usize, nulls: usize) -> ArrayRef {
    let (offsets, valid) = lengths(random, rows, nulls);
    let values = structs(random, offsets.last().copied().unwrap_or(0) as usize, nulls);
    let field = Arc::new(Field::new_list_field(values.data_type().clone(), true));
    Arc::new(ListArray::new(field, offsets, values, Some(valid)))
}

fn lists_of_lists(random: &mut Random, rows: usize, nulls: usize) -> ArrayRef {
    let (offsets, valid) = lengths(random, rows, nulls);
    let values = lists_of_words(random, offsets.last().copied().unwrap_or(0) as usize, nulls);
    let field = Arc::new(Field::new_list_field(values.data_type().clone(), true));
    Arc::new(ListArray::new(field, offsets, values, Some(valid)))
}

fn large_lists(random: &mut Random, rows: usize, nulls: usize) -> ArrayRef {
    let valid: Vec<bool> = (0..rows).map(|_| !random.chance(nulls)).collect();
    let lengths: Vec<usize> = valid.iter().map(|valid| if *valid { random.below(4) } else { 0 }).collect();
    let offsets = OffsetBuffer::<i64>::from_lengths(lengths);
    let values = words(random, offsets.last().copied().unwrap_or(0) as usize, nulls);
    let field = Arc::new(Field::new_list_field(DataType::Utf8, true));
    Arc::new(LargeListArray::new(field, offsets, values, Some(NullBuffer::from(valid))))
}

fn maps(
    random: &mut Random,
    rows: usize,
    nulls: usize,
    values: fn(&mut Random, usize, usize) -> ArrayRef,
) -> ArrayRef {
    let (offsets, valid) = lengths(random, rows, nulls);
    let keys = offsets.lengths().flat_map(|length| ["a", "b", "c"].into_iter().take(length));
    let keys: ArrayRef = Arc::new(StringArray::from(keys.collect::<Vec<_>>()));
    let values = values(random, keys.len(), nulls);
    let fields = Fields::from(vec![
        Field::new("key", DataType::Utf8, false),
        Field::new("value", values.data_type().clone(), true),
    ]);
    let entries = StructArray::new(fields, vec![keys, values], None);
    let field = Arc::new(Field::new("entries", entries.data_type().clone(), false));
    Arc::new(MapArray::new(field, offsets, entries, Some(valid), false))
}

fn table(random: &mut Random, rows: usize, from: usize) -> RecordBatch {
    let nulls = [0, 10, 40][random.below(3)];
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("n", Arc::new((from as i64..(from + rows) as i64).collect::<Int64Array>())),
        ("l", lists_of_numbers(random, rows, nulls)),
        ("w", lists_of_words(random, rows, nulls)),
        ("r", structs(random, rows, nulls)),
        ("v", lists_of_structs(random, rows, nulls)),
        ("q", lists_of_lists(random, rows, nulls)),
        ("g", large_lists(random, rows, nulls)),
        ("k", maps(random, rows, nulls, numbers)),
        ("m", maps(random, rows, nulls, structs)),
        ("o", maps(random, rows, nulls, lists_of_words)),
    ];
    RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(name, column)| (name, column, true)))
        .unwrap()
}

/// Expressions that take numbers out of columns.
const NUMBERS: [&str; 26] = [
    "l[1]",
    "l[-1]",
    "array_length(l)",
    "cardinality(l)",
    "array_position(l, 3)",
    "r['x']",
    "r['z'][1]",
    "array_length(r['z'])",
    "v[1]['x']",
    "v[2]['z'][1]",
    "array_length(v)",
    "array_length(v[1]['z'])",
    "array_length(q)",
    "array_length(q[1])",
    "array_length(g)",
    "k['a']",
    "k['c']",
    "cardinality(k)",
    "m['a']['x']",
    "m['b']['z'][2]",
    "cardinality(m)",
    "array_length(o['a'])",
    "array_length(map_keys(m))",
    "map_values(k)[1]",
    "coalesce(r['x'], l[1], 7)",
    "array_max(l)",
];

/// Expressions that take text out of them.
const TEXTS: [&str; 14] = [
    "w[1]",
    "w[-1]",
    "r['y']",
    "v[1]['y']",
    "v[-1]['y']",
    "q[1][1]",
    "q[-1][2]",
    "g[1]",
    "m['a']['y']",
    "o['b'][1]",
    "map_keys(k)[1]",
    "array_to_string(w, ',')",
    "array_to_string(g, '-', '?')",
    "array_min(w)",
];

/// Expressions of other types.
const OTHERS: [&str; 26] = [
    "l",
    "w",
    "r",
    "v",
    "q",
    "g",
    "k",
    "m",
    "o",
    "r['z']",
    "v[1]",
    "v[1:2]",
    "flatten(q)",
    "array_sort(l)",
    "array_distinct(w)",
    "array_concat(l, r['z'])",
    "map_keys(m)",
    "map_values(m)",
    "map_entries(k)",
    "array_remove(w, 'ab')",
    "array_append(l, 9)",
    "array_reverse(v)",
    "array_slice(w, 1, 2)",
    "array_resize(l, 2, 5)",
    "array_union(l, r['z'])",
    "m['c']",
];

const CONDITIONS: [&str; 22] = [
    "l is null",
    "l is not null",
    "w is null",
    "r is null",
    "v is not null",
    "q is null",
    "m is null",
    "array_has(l, 3)",
    "array_has(w, 'ab')",
    "array_has_any(l, [1, 2])",
    "array_has_all(w, ['a'])",
    "empty(l)",
    "r['z'] is null",
    "v[1] is null",
    "v[1]['z'] is not null",
    "m['a'] is null",
    "o['a'] is not null",
    "array_has(map_keys(m), 'b')",
    "array_has(r['z'], 2)",
    "l = [1, 2]",
    "w = ['ab']",
    "q[1] is null",
];

fn condition(random: &mut Random, depth: usize) -> String {
    if depth > 0 && random.chance(50) {
        let (left, right) = (condition(random, depth - 1), condition(random, depth - 1));
        return match random.below(4) {
            0 => format!("not ({left})"),
            1 => format!("({left} or {right})"),
            _ => format!("({left} and {right})"),
        };
    }
    match random.below(4) {
        0 => {
            let number = random.one(&NUMBERS);
            let asked = random.one(&[
                "= 3",
                "> 1",
                "<= 2",
                "is null",
                "is not null",
                "in (1, 5)",
                "not in (2, 3)",
                "is distinct from 2",
                "between 1 and 3",
            ]);
            format!("{number} {asked}")
        }
        1 => {
            let text = random.one(&TEXTS);
            let asked = random.one(&[
                "= 'ab'",
                "> 'a'",
                "like 'a%'",
                "not like '%b'",
                "is null",
                "is not null",
                "in ('', 'b')",
                "<> 'a'",
            ]);
            format!("{text} {asked}")
        }
        2 => format!("n {} {}", random.one(&["<", ">", "="]), random.below(150)),
        _ => random.one(&CONDITIONS).to_owned(),
    }
}

fn query(random: &mut Random) -> (String, bool) {
    let depth = random.below(3);
    let wanted = condition(random, depth);
    let (number, text, other) = (random.one(&NUMBERS), random.one(&TEXTS), random.one(&OTHERS));
    match random.below(12) {
        0 => (format!("select n, {other} from t where {wanted}"), true),
        1 => (format!("select n, {number}, {text} from t where {wanted}"), true),
        2 => (
            format!("select {number} a, count(*), min({text}), max(n) from t where {wanted} group by a"),
            true,
        ),
        3 => {
            let list = random.one(&[
                "l",
                "w",
                "v",
                "q",
                "g",
                "r['z']",
                "v[1]['z']",
                "map_keys(m)",
                "map_values(m)",
                "map_entries(k)",
                "o['a']",
            ]);
            (format!("select n, unnest({list}) from t where {wanted}"), true)
        }
        4 => (
            format!(
                "select n, u['x'], u['y'] from (select n, unnest(v) u from t where {wanted}) where u['x'] > 1 or u['y'] is null"
            ),
            true,
        ),
        5 => (format!("select n, unnest(r) from t where {wanted}"), true),
        6 => (
            format!(
                "select {number} a, n from t where {wanted} order by a nulls last, n limit {}",
                1 + random.below(20)
            ),
            false,
        ),
        7 => (
            format!(
                "select {text} a, n from t where {wanted} order by a desc nulls first, n limit {} offset 3",
                1 + random.below(20)
            ),
            false,
        ),
        8 => (
            "select a.n, b.n from t a join t b on a.r['x'] = b.v[1]['x'] where a.n < 20 and b.n > a.n"
                .to_owned(),
            true,
        ),
        9 => (
            format!("select count({other}), count({number}), count(distinct {text}) from t where {wanted}"),
            true,
        ),
        10 => (
            format!(
                "select x, count(*), sum(n) from (select n, unnest(l) x from t where {wanted}) group by x"
            ),
            true,
        ),
        _ => (format!("select * from t where {wanted}"), true),
    }
}

async fn sessions(random: &mut Random, folder: &Path) -> [SessionContext; 3] {
    let config = SessionConfig::new()
        .with_target_partitions(1 + random.below(3))
        .with_batch_size(1 + random.below(50));
    let listing = session_with(config.clone());
    let pushes_down = random.chance(70);
    batches(&listing, &format!("set datafusion.execution.parquet.pushdown_filters = {pushes_down}"))
        .await
        .unwrap();
    let mut parts = Vec::new();
    for number in 0..1 + random.below(3) {
        let rows = 1 + random.below(100);
        let part = table(random, rows, number * 60);
        let group = 1 + random.below(rows);
        let properties = WriterProperties::builder()
            .set_max_row_group_row_count(Some(group))
            .set_data_page_row_count_limit(1 + random.below(group))
            .set_dictionary_enabled(random.chance(60));
        write_with(
            &folder.join(format!("{number}.parquet")),
            std::slice::from_ref(&part),
            properties.build(),
        );
        parts.push(part);
    }
    let create = format!("create external table t stored as parquet location '{}/'", folder.display());
    batches(&listing, &create).await.unwrap();
    let dataset = session_with(config.clone());
    dataset
        .register_table("t", Arc::new(DatasetTable::try_new(Dataset::open([folder]).unwrap()).unwrap()))
        .unwrap();
    let memory = SessionContext::new_with_config(config);
    let schema = parts[0].schema();
    memory.register_table("t", Arc::new(MemTable::try_new(schema, vec![parts]).unwrap())).unwrap();
    [listing, dataset, memory]
}

/// A tenth of `MARQUETRY_SQL_CASES`; 20 queries share a table.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn random_queries_into_lists_and_maps_give_the_rows_that_memory_gives() {
    let cases: usize =
        std::env::var("MARQUETRY_SQL_CASES").map_or(2000, |cases| cases.parse().expect("a number"));
    let seed = std::env::var("MARQUETRY_SQL_SEED").map_or(25, |seed| seed.parse().expect("a number"));
    let (mut with_rows, mut asked, mut failed, mut random) = (0, 0, 0, Random(seed));
    for _ in 0..cases.div_ceil(200) {
        let folder = tempdir().unwrap();
        let [listing, dataset, memory] = sessions(&mut random, folder.path()).await;
        for _ in 0..20 {
            let (sql, is_open) = query(&mut random);
            asked += 1;
            let ask = |ctx: &SessionContext| tokio::spawn(found(ctx.clone(), sql.clone(), is_open));
            let expected = match ask(&memory).await.unwrap_or_else(|error| panic!("memory: {sql}: {error}")) {
                Ok(expected) => expected,
                Err(_) => {
                    failed += 1;
                    continue;
                }
            };
            for (name, ctx) in [("listing", &listing), ("dataset", &dataset)] {
                let given = ask(ctx)
                    .await
                    .unwrap_or_else(|error| panic!("{name}: {sql}: {error}"))
                    .unwrap_or_else(|error| panic!("{name}: {sql}: {error}"));
                assert_eq!(given, expected, "{name}: {sql}");
            }
            with_rows += usize::from(!expected.is_empty());
        }
    }
    assert!(
        with_rows * 2 > asked && failed * 4 < asked,
        "{with_rows} of {asked} queries have rows, {failed} fail"
    );
}
