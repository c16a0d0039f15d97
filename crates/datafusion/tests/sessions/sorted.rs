//! Random tables whose files are sorted, and say so, by several keys up and down: what makes use of an order gives the rows that the same
//! rows in memory give.

use crate::property::{Random, WORDS};
use crate::tables::{batches, found, session_with, write_with};
use arrow_array::{
    ArrayRef, BooleanArray, Date32Array, Decimal128Array, Float64Array, Int32Array, Int64Array, RecordBatch,
    StringArray, UInt8Array,
};
use datafusion::arrow::compute::{SortColumn, SortOptions, lexsort_to_indices, take_record_batch};
use datafusion::datasource::MemTable;
use datafusion::prelude::{SessionConfig, SessionContext};
use marquetry_core::write::{SortingColumn, WriterProperties};
use std::path::Path;
use std::sync::Arc;
use tempfile::tempdir;

/// Makes a column from small numbers.
type Values = fn(Vec<Option<i64>>) -> ArrayRef;

/// Columns that rows may be sorted by.
const KEYS: [(&str, Values); 7] = [
    ("i", |v| Arc::new(v.into_iter().map(|v| v.map(|v| v as i32)).collect::<Int32Array>())),
    ("u", |v| Arc::new(v.into_iter().map(|v| v.map(|v| v as u8)).collect::<UInt8Array>())),
    ("s", |v| {
        let words = v.into_iter().map(|v| v.map(|v| WORDS[v.rem_euclid(8) as usize]));
        Arc::new(words.collect::<StringArray>())
    }),
    ("t", |v| Arc::new(v.into_iter().map(|v| v.map(|v| v as i32)).collect::<Date32Array>())),
    ("d", |v| {
        let numbers: Decimal128Array = v.into_iter().map(|v| v.map(|v| i128::from(v) * 25)).collect();
        Arc::new(numbers.with_precision_and_scale(20, 2).unwrap())
    }),
    ("b", |v| Arc::new(v.into_iter().map(|v| v.map(|v| v % 2 == 0)).collect::<BooleanArray>())),
    ("f", |v| {
        let floats = v.into_iter().map(|v| v.map(|v| FLOATS[v.rem_euclid(6) as usize]));
        Arc::new(floats.collect::<Float64Array>())
    }),
];

/// DataFusion's merge joins do not handle NaN; and it compares both zeros as equal, but sorts them.
const FLOATS: [f64; 6] = [1.5, 0.0, f64::INFINITY, -1.5, f64::NEG_INFINITY, 3.25];

/// A key, and how rows are sorted by it.
type Key = (usize, SortOptions);

fn keys(random: &mut Random, most: usize) -> Vec<Key> {
    let mut keys: Vec<Key> = Vec::new();
    for _ in 0..1 + random.below(most) {
        let key = random.below(KEYS.len());
        if keys.iter().all(|(other, _)| *other != key) {
            keys.push((key, SortOptions::new(random.chance(50), random.chance(50))));
        }
    }
    keys
}

fn clause(keys: &[Key], table: &str) -> String {
    let each = keys.iter().map(|(key, options)| {
        let direction = if options.descending { "desc" } else { "asc" };
        let nulls = if options.nulls_first { "first" } else { "last" };
        format!("{table}{} {direction} nulls {nulls}", KEYS[*key].0)
    });
    each.collect::<Vec<_>>().join(", ")
}

fn sorted(rows: &RecordBatch, keys: &[Key]) -> RecordBatch {
    let columns: Vec<SortColumn> = keys
        .iter()
        .map(|(key, options)| SortColumn { values: rows.column(*key).clone(), options: Some(*options) })
        .collect();
    take_record_batch(rows, &lexsort_to_indices(&columns, None).unwrap()).unwrap()
}

fn table(random: &mut Random, rows: usize) -> RecordBatch {
    let mut columns = Vec::new();
    for (name, values) in KEYS {
        let (spread, nulls) = (1 + random.below(12), [0, 0, 20][random.below(3)]);
        let numbers: Vec<Option<i64>> =
            (0..rows).map(|_| (!random.chance(nulls)).then(|| random.below(spread) as i64)).collect();
        columns.push((name, values(numbers), true));
    }
    columns.push(("n", Arc::new((0..rows as i64).collect::<Int64Array>()), true));
    RecordBatch::try_from_iter_with_nullable(columns).unwrap()
}

fn write(random: &mut Random, path: &Path, rows: &RecordBatch, keys: &[Key]) {
    let group = 1 + random.below(rows.num_rows() + 20);
    let sorting = keys.iter().map(|(key, options)| SortingColumn {
        column_idx: *key as i32,
        descending: options.descending,
        nulls_first: options.nulls_first,
    });
    let properties = WriterProperties::builder()
        .set_max_row_group_row_count(Some(group))
        .set_data_page_row_count_limit(1 + random.below(group))
        .set_sorting_columns(Some(sorting.collect()));
    write_with(path, std::slice::from_ref(rows), properties.build());
}

/// The same table in files and in memory.
async fn sessions(random: &mut Random, folder: &Path, shared: &mut Vec<Key>) -> [SessionContext; 2] {
    let mut config = SessionConfig::new()
        .with_target_partitions(1 + random.below(4))
        .with_batch_size(1 + random.below(40));
    let options = config.options_mut();
    // DataFusion 55's heap of groups loses groups beside NaN.
    options.optimizer.enable_topk_aggregation = false;
    let memory = SessionContext::new_with_config(config.clone());
    let options = config.options_mut();
    options.optimizer.prefer_hash_join = random.chance(40);
    options.optimizer.prefer_existing_sort = random.chance(50);
    options.optimizer.repartition_joins = random.chance(70);
    options.execution.split_file_groups_by_statistics = random.chance(40);
    let files = session_with(config);
    let keys = keys(random, 3);
    let count = 1 + random.below(4);
    let all = 1 + random.below(150);
    let whole = table(random, all);
    // Files one behind the other in the order, or each by itself.
    let whole = if random.chance(60) { sorted(&whole, &keys) } else { whole };
    let (mut parts, mut from) = (Vec::new(), 0);
    for number in 0..count {
        let to = if number + 1 == count { all } else { from + random.below(all - from + 1) };
        let part = sorted(&whole.slice(from, to - from), &keys);
        let name = if random.chance(50) { number } else { 9 - number };
        if part.num_rows() > 0 || number == 0 {
            write(random, &folder.join(format!("{name}.parquet")), &part, &keys);
            parts.push(part);
        }
        from = to;
    }
    let declared =
        if random.chance(40) { format!("with order ({})", clause(&keys, "")) } else { String::new() };
    let columns = if declared.is_empty() && random.chance(50) {
        String::new()
    } else {
        "(i int, u tinyint unsigned, s varchar, t date, d decimal(20, 2), b boolean, f double, n bigint)"
            .to_owned()
    };
    let path = folder.display();
    let create = format!("create external table t {columns} stored as parquet {declared} location '{path}/'");
    batches(&files, &create).await.unwrap();
    let schema = parts[0].schema();
    memory.register_table("t", Arc::new(MemTable::try_new(schema, vec![parts]).unwrap())).unwrap();
    *shared = keys;
    [files, memory]
}

/// Sort keys taken from those of the files, or others.
fn asked(random: &mut Random, of_files: &[Key]) -> Vec<Key> {
    let mut asked = match random.below(4) {
        0 => keys(random, 3),
        1 => of_files[random.below(of_files.len())..].to_vec(),
        _ => of_files[..1 + random.below(of_files.len())].to_vec(),
    };
    if random.chance(15) {
        asked
            .iter_mut()
            .for_each(|(_, options)| *options = SortOptions::new(!options.descending, !options.nulls_first));
    }
    if random.chance(15) {
        for key in keys(random, 2) {
            if asked.iter().all(|(other, _)| *other != key.0) {
                asked.push(key);
            }
        }
    }
    asked
}

fn condition(random: &mut Random, table: &str) -> String {
    let one = random.one(&[
        "i = 3",
        "i > 2",
        "i < 2",
        "i is null",
        "i is not null",
        "u = 1",
        "s = 'ab'",
        "s > 'a'",
        "s like 'a%'",
        "t >= date '1970-01-03'",
        "d = 0.50",
        "d < 1.25",
        "b",
        "not b",
        "b is null",
        "f > 0",
        "f = 1.5",
        "n > 20",
        "n % 3 = 0",
        "n < 50",
        "true",
        "true",
        "abs(i) < 4",
        "i in (1, 2)",
        "(u is not distinct from 2)",
    ]);
    let mut out = String::new();
    let characters: Vec<char> = one.chars().collect();
    let mut is_quoted = false;
    for (at, c) in characters.iter().enumerate() {
        is_quoted ^= *c == '\'';
        let is_name =
            |at: Option<usize>| at.and_then(|at| characters.get(at)).is_some_and(|c| c.is_alphanumeric());
        if !is_quoted && "iustdbfn".contains(*c) && !is_name(at.checked_sub(1)) && !is_name(Some(at + 1)) {
            out.push_str(table);
        }
        out.push(*c);
    }
    out
}

/// A query, and whether the order of its rows is undefined.
fn query(random: &mut Random, of_files: &[Key]) -> (String, bool) {
    let asked = asked(random, of_files);
    let names = |table: &str| {
        let names = asked.iter().map(|(key, _)| format!("{table}{}", KEYS[*key].0));
        names.collect::<Vec<_>>().join(", ")
    };
    let (key, first) = (names(""), KEYS[asked[0].0].0);
    let (order, wanted) = (clause(&asked, ""), condition(random, ""));
    let limit = match random.below(4) {
        0 => format!("limit {}", 1 + random.below(20)),
        1 => format!("limit {} offset {}", 1 + random.below(20), random.below(30)),
        2 => format!("offset {}", random.below(30)),
        _ => String::new(),
    };
    let on = |a: &str, b: &str| {
        let both = asked.iter().map(|(key, _)| format!("{a}.{0} = {b}.{0}", KEYS[*key].0));
        both.collect::<Vec<_>>().join(" and ")
    };
    match random.below(17) {
        0 | 1 => (format!("select {key} from t where {wanted} order by {order} {limit}"), false),
        2 => (format!("select {key}, n from t where {wanted} order by {order}, n {limit}"), false),
        3 => (
            format!("select {key}, count(*), sum(n), min(s), max(d) from t where {wanted} group by {key}"),
            true,
        ),
        4 => (
            format!("select {key}, count(*) from t where {wanted} group by {key} order by {order} {limit}"),
            false,
        ),
        5 => (format!("select distinct {key} from t where {wanted} order by {order} {limit}"), false),
        6 => (
            format!(
                "select n, rank() over (order by {order}), dense_rank() over (order by {order}) from t where {wanted}"
            ),
            true,
        ),
        7 => (
            format!(
                "select n, rank() over (partition by {first} order by {order}), sum(n) over (partition by {first} order by {order}), \
                 count(*) over (partition by {key}) from t where {wanted}"
            ),
            true,
        ),
        8 => (
            format!(
                "select {first}, row_number() over (order by {order}), lag({first}) over (order by {order}) from t where {wanted}"
            ),
            true,
        ),
        9 => {
            let join = random.one(&["join", "left join", "right join", "full join"]);
            (
                format!(
                    "select a.n, b.n from (select * from t where {wanted}) a {join} (select * from t where {}) b on {}",
                    condition(random, ""),
                    on("a", "b")
                ),
                true,
            )
        }
        10 => (
            format!(
                "select {} from t a join t b on {} where {} order by {} {limit}",
                names("a."),
                on("a", "b"),
                condition(random, "b."),
                clause(&asked, "a.")
            ),
            false,
        ),
        11 => {
            let exists = random.one(&["exists", "not exists"]);
            (
                format!(
                    "select n from t a where {exists} (select 1 from t b where {} and b.n < a.n and {})",
                    on("a", "b"),
                    condition(random, "b.")
                ),
                true,
            )
        }
        12 => (
            format!(
                "select {key} from (select * from t where {wanted} union all select * from t where {}) order by {order} {limit}",
                condition(random, "")
            ),
            false,
        ),
        13 => (
            format!(
                "select array_agg({first} order by {order}), first_value({first} order by {order}), last_value({first} order by {order}) \
                 from t where {wanted}"
            ),
            true,
        ),
        14 => (
            format!(
                "select min({first}), max({first}), count({first}) from t where {wanted} and ({first} < {first}) is not true"
            ),
            true,
        ),
        15 => (
            format!(
                "select count(*), sum(x) from (select row_number() over (order by {order}) x, {key} from t where {wanted} order by {order} {limit})"
            ),
            true,
        ),
        _ => (
            format!(
                "select {first}, count(*) from (select {key} from t where {wanted} order by {order} {limit}) group by {first} order by {}",
                clause(&asked[..1], "")
            ),
            false,
        ),
    }
}

/// A tenth of `MARQUETRY_SQL_CASES`; 20 queries share a table.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn random_queries_of_sorted_files_give_the_rows_that_memory_gives() {
    let cases: usize =
        std::env::var("MARQUETRY_SQL_CASES").map_or(2000, |cases| cases.parse().expect("a number"));
    let seed = std::env::var("MARQUETRY_SQL_SEED").map_or(24, |seed| seed.parse().expect("a number"));
    let (mut with_rows, mut asked, mut random) = (0, 0, Random(seed));
    for _ in 0..cases.div_ceil(200) {
        let folder = tempdir().unwrap();
        let mut of_files = Vec::new();
        let [files, memory] = sessions(&mut random, folder.path(), &mut of_files).await;
        for _ in 0..20 {
            let (sql, is_open) = query(&mut random, &of_files);
            asked += 1;
            let ask = |ctx: &SessionContext| tokio::spawn(found(ctx.clone(), sql.clone(), is_open));
            let (given, expected) = tokio::join!(ask(&files), ask(&memory));
            let expected = expected
                .unwrap_or_else(|error| panic!("memory: {sql}: {error}"))
                .unwrap_or_else(|error| panic!("{sql}: {error}"));
            let given = given
                .unwrap_or_else(|error| panic!("{sql}: {error}"))
                .unwrap_or_else(|error| panic!("{sql}: {error}"));
            assert_eq!(given, expected, "{sql}\n{}", clause(&of_files, ""));
            with_rows += usize::from(!given.is_empty());
        }
    }
    assert!(with_rows * 2 > asked, "{with_rows} of {asked} queries have rows");
}
