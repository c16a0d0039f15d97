//! Random tables and random queries: Marquetry gives the rows that DataFusion's own Parquet gives.
//!
//! Where they differ, the same rows in memory say who is right.

use crate::tables::{batches, rows_of, session_with, write_with};
use arrow_array::types::Int32Type;
use arrow_array::{
    Array, ArrayRef, BooleanArray, Date32Array, Decimal128Array, Float64Array, Int32Array, Int64Array,
    ListArray, RecordBatch, StringArray, StructArray, TimestampMicrosecondArray, UInt8Array, new_null_array,
};
use arrow_schema::{DataType, Field};
use datafusion::datasource::MemTable;
use datafusion::parquet::arrow::ArrowWriter as TheirWriter;
use datafusion::parquet::file::properties::WriterProperties as TheirProperties;
use datafusion::prelude::{SessionConfig, SessionContext};
use marquetry_core::write::WriterProperties;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;
use tempfile::tempdir;

/// Numbers that look random and are always the same for a seed (splitmix64).
pub(crate) struct Random(pub(crate) u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub(crate) fn below(&mut self, count: usize) -> usize {
        (self.next() % count as u64) as usize
    }

    pub(crate) fn one<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.below(of.len())]
    }

    pub(crate) fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }
}

pub(crate) const WORDS: [&str; 8] = ["", "a", "ab", "abc", "b", "Ärger", "x%y_z", "zzzzzzzzzzzzzzzzzzzzz"];
pub(crate) const FLOATS: [f64; 8] = [f64::NAN, 0.0, -0.0, 1.5, -1.5, f64::INFINITY, f64::NEG_INFINITY, 3.25];
/// Columns, and literals to compare each with.
const COLUMNS: [(&str, &[&str]); 9] = [
    ("i", &["0", "3", "-7", "20", "null", "3.5"]),
    ("l", &["0", "5000000000", "-3", "12"]),
    ("u", &["0", "7", "255", "300"]),
    ("f", &["0.0", "-0.0", "1.5", "'NaN'::double", "4"]),
    ("d", &["0.00", "1.25", "-3.10", "1.255"]),
    ("s", &["''", "'ab'", "'b'", "'Ärger'", "'zzzzzzzzzzzzzzzzzzzzz'", "'nothing'"]),
    ("t", &["date '1970-01-05'", "date '2000-01-01'", "'1969-12-30'"]),
    ("m", &["timestamp '1970-01-01 00:00:05'", "timestamp '1969-12-31 23:59:58.5'"]),
    ("b", &["true", "false", "null"]),
];

fn table(random: &mut Random, rows: usize) -> RecordBatch {
    // Sorted columns have row groups that can be ruled out; each page of the others has values from everywhere.
    let (sorted, nulls) = (random.chance(50), random.below(40));
    let spread = 1 + random.below(30) as i64;
    let mut value = |row: usize| -> Option<i64> {
        let number = match sorted {
            true => row as i64 * spread / rows.max(1) as i64,
            false => random.below(spread as usize * 2) as i64 - spread,
        };
        (!random.chance(nulls)).then_some(number)
    };
    let mut column = || (0..rows).map(&mut value).collect::<Vec<Option<i64>>>();
    let index = |number: i64, len: usize| number.rem_euclid(len as i64) as usize;
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("i", Arc::new(column().into_iter().map(|v| v.map(|v| v as i32)).collect::<Int32Array>())),
        ("l", Arc::new(column().into_iter().map(|v| v.map(|v| v * 1_000_000_000)).collect::<Int64Array>())),
        ("u", Arc::new(column().into_iter().map(|v| v.map(|v| v as u8)).collect::<UInt8Array>())),
        (
            "f",
            Arc::new(column().into_iter().map(|v| v.map(|v| FLOATS[index(v, 8)])).collect::<Float64Array>()),
        ),
        (
            "d",
            Arc::new(
                column()
                    .into_iter()
                    .map(|v| v.map(|v| i128::from(v) * 25))
                    .collect::<Decimal128Array>()
                    .with_precision_and_scale(9, 2)
                    .unwrap(),
            ),
        ),
        ("s", Arc::new(column().into_iter().map(|v| v.map(|v| WORDS[index(v, 8)])).collect::<StringArray>())),
        ("t", Arc::new(column().into_iter().map(|v| v.map(|v| v as i32)).collect::<Date32Array>())),
        (
            "m",
            Arc::new(
                column().into_iter().map(|v| v.map(|v| v * 500_000)).collect::<TimestampMicrosecondArray>(),
            ),
        ),
        ("b", Arc::new(column().into_iter().map(|v| v.map(|v| v % 2 == 0)).collect::<BooleanArray>())),
        ("r", structs(column(), column())),
        ("v", lists(column(), column())),
    ];
    RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(name, column)| (name, column, true)))
        .unwrap()
}

/// Structs of a number and a text; null where both are.
fn structs(numbers: Vec<Option<i64>>, words: Vec<Option<i64>>) -> ArrayRef {
    let nulls = numbers.iter().zip(&words).map(|(number, word)| number.is_some() || word.is_some());
    let nulls: BooleanArray = nulls.map(Some).collect();
    let fields = [Field::new("x", DataType::Int32, true), Field::new("y", DataType::Utf8, true)];
    let numbers: Int32Array = numbers.into_iter().map(|v| v.map(|v| v as i32)).collect();
    let words: StringArray = words.into_iter().map(|v| v.map(|v| WORDS[v.rem_euclid(8) as usize])).collect();
    let columns: Vec<ArrayRef> = vec![Arc::new(numbers), Arc::new(words)];
    Arc::new(StructArray::new(fields.to_vec().into(), columns, Some(nulls.values().clone().into())))
}

/// Lists of none to three numbers.
fn lists(numbers: Vec<Option<i64>>, lengths: Vec<Option<i64>>) -> ArrayRef {
    let lists = numbers.into_iter().zip(lengths).map(|(number, length)| {
        let length = length?.rem_euclid(4);
        Some((0..length).map(move |i| number.map(|number| (number + i) as i32)).collect::<Vec<_>>())
    });
    Arc::new(ListArray::from_iter_primitive::<Int32Type, _, _>(lists))
}

/// Writes a table with random properties, by ourselves or by the crate `parquet`.
fn write(random: &mut Random, path: &Path, table: &RecordBatch) {
    let (rows, dictionary, bloom) = (1 + random.below(120), random.chance(60), random.chance(40));
    let page = 1 + random.below(rows);
    if random.chance(50) {
        let properties = WriterProperties::builder()
            .set_max_row_group_row_count(Some(rows))
            .set_data_page_row_count_limit(page)
            .set_dictionary_enabled(dictionary)
            .set_bloom_filter_enabled(bloom);
        write_with(path, std::slice::from_ref(table), properties.build());
    } else {
        let properties = TheirProperties::builder()
            .set_max_row_group_row_count(Some(rows))
            .set_data_page_row_count_limit(page)
            .set_write_batch_size(page)
            .set_dictionary_enabled(dictionary)
            .set_bloom_filter_enabled(bloom);
        let file = File::create(path).unwrap();
        let mut writer = TheirWriter::try_new(file, table.schema(), Some(properties.build())).unwrap();
        writer.write(table).unwrap();
        writer.close().unwrap();
    }
}

fn condition(random: &mut Random, depth: usize) -> String {
    if depth > 0 && random.chance(60) {
        let (left, right) = (condition(random, depth - 1), condition(random, depth - 1));
        return match random.below(4) {
            0 => format!("not ({left})"),
            1 => format!("({left} or {right})"),
            _ => format!("({left} and {right})"),
        };
    }
    let (column, literals) = COLUMNS[random.below(COLUMNS.len())];
    let literal = random.one(literals);
    let other = random.one(literals);
    let comparison =
        random.one(&["=", "<>", "<", "<=", ">", ">=", "is distinct from", "is not distinct from"]);
    match random.below(11) {
        10 => random
            .one(&[
                "r['x'] > 3",
                "r['x'] is null",
                "r['y'] = 'ab'",
                "r['y'] like 'a%'",
                "r is null",
                "v is not null",
                "array_has(v, 3)",
                "cardinality(v) > 1",
            ])
            .to_owned(),
        0 => format!("{column} is null"),
        1 => format!("{column} is not null"),
        2 => format!("{column} in ({literal}, {other})"),
        3 => format!("{column} not in ({literal}, {other})"),
        4 => format!("{column} between {literal} and {other}"),
        5 => random
            .one(&[
                "s like 'a%'",
                "s not like '%b'",
                "s like '_b%'",
                "starts_with(s, 'ab')",
                "s ilike 'A%'",
                "b",
                "not b",
            ])
            .to_owned(),
        6 => random
            .one(&[
                "i < u",
                "i = l",
                "t < m",
                "abs(i) > 3",
                "i % 3 = 1",
                "s > 'a' || 'b'",
                "coalesce(i, 5) = 5",
                "f = i",
            ])
            .to_owned(),
        7 => format!("{literal} {} {column}", random.one(&["=", "<", ">="])),
        // In brackets, because `IS DISTINCT FROM` extends over everything after it.
        _ => format!("({column} {comparison} {literal})"),
    }
}

fn query(random: &mut Random) -> String {
    let depth = random.below(4);
    let condition = condition(random, depth);
    let (column, _) = COLUMNS[random.below(COLUMNS.len())];
    match random.below(10) {
        6 => {
            let key = random.one(&["i", "s", "t", "b", "r['x']"]);
            // In DataFusion's groups, the least float depends on the position of NaN.
            let column = if column == "f" { "d" } else { column };
            format!(
                "select {key}, count(*), count({column}), min({column}) from t where {condition} group by {key}"
            )
        }
        7 => format!("select {column}, r['y'], v from t where {condition}"),
        8 => {
            let key = random.one(&["i", "l", "s", "t", "d"]);
            format!(
                "select a.i, a.s from t a where a.{key} in (select b.{key} from t b where {})",
                of("b", &condition)
            )
        }
        9 => {
            let (direction, limit) = (random.one(&["asc", "desc"]), 1 + random.below(20));
            format!(
                "select b.i, a.{column} from t a join t b on a.l = b.l where {} order by b.i {direction}, a.{column} limit {limit}",
                of("a", &condition)
            )
        }
        0 => {
            let (direction, limit) = (random.one(&["asc", "desc"]), 1 + random.below(20));
            let nulls = random.one(&["first", "last"]);
            // Which of several equal rows are within the limit is undefined: so only the sorted column is selected.
            format!(
                "select {column} from t where {condition} order by {column} {direction} nulls {nulls} limit {limit}"
            )
        }
        1 => {
            let key = random.one(&["i", "l", "s", "t", "d"]);
            format!(
                "select count(*), count(a.{column}), min(b.{key}) from t a join t b on a.{key} = b.{key} where b.i < 3 and {}",
                of("a", &condition)
            )
        }
        2 => {
            format!("select min({column}), max({column}), count({column}), count(*) from t where {condition}")
        }
        3 => format!("select min({column}), max({column}), count({column}), count(*) from t"),
        4 => format!("select {column} from t where {condition}"),
        _ => format!("select * from t where {condition}"),
    }
}

/// A condition on the columns of one of two tables.
fn of(table: &str, condition: &str) -> String {
    let mut out = String::new();
    let mut is_quoted = false;
    let characters: Vec<char> = condition.chars().collect();
    for (i, c) in characters.iter().enumerate() {
        is_quoted ^= *c == '\'';
        let is_name = |at: Option<usize>| {
            at.and_then(|at| characters.get(at)).is_some_and(|c| c.is_alphanumeric() || *c == '_')
        };
        let stands_alone = !is_name(i.checked_sub(1)) && !is_name(Some(i + 1));
        if !is_quoted && stands_alone && "iludfstmbrv".contains(*c) {
            out.push_str(table);
            out.push('.');
        }
        out.push(*c);
    }
    out
}

/// The sessions that are compared.
struct Sessions {
    ours: SessionContext,
    theirs: SessionContext,
    memory: SessionContext,
}

async fn sessions(random: &mut Random, folder: &Path) -> Sessions {
    let partitions = 1 + random.below(4);
    let mut config = SessionConfig::new().with_target_partitions(partitions).with_batch_size(50);
    config.options_mut().optimizer.repartition_file_min_size = 1;
    let ours = session_with(config.clone());
    let pushes_down = random.chance(70).to_string();
    batches(&ours, &format!("set datafusion.execution.parquet.pushdown_filters = {pushes_down}"))
        .await
        .unwrap();
    let theirs = SessionContext::new_with_config(config.clone());
    let mut tables = Vec::new();
    for number in 0..1 + random.below(3) {
        let rows = 1 + random.below(300);
        let mut table = table(random, rows);
        let path = folder.join(format!("{number}.parquet"));
        // A file may be from before a column was added.
        if number > 0 && random.chance(20) {
            let missing = table.schema().index_of("l").unwrap();
            let kept: Vec<usize> = (0..table.num_columns()).filter(|column| *column != missing).collect();
            write(random, &path, &table.project(&kept).unwrap());
            let mut columns = table.columns().to_vec();
            columns[missing] = new_null_array(columns[missing].data_type(), rows);
            table = RecordBatch::try_new(table.schema(), columns).unwrap();
        } else {
            write(random, &path, &table);
        }
        tables.push(table);
    }
    let create = format!("create external table t stored as parquet location '{}/'", folder.display());
    batches(&ours, &create).await.unwrap();
    batches(&theirs, &create).await.unwrap();
    let memory = SessionContext::new_with_config(config);
    memory
        .register_table("t", Arc::new(MemTable::try_new(tables[0].schema(), vec![tables]).unwrap()))
        .unwrap();
    Sessions { ours, theirs, memory }
}

/// The rows of a query, sorted unless it says in which order they are; `None` if it fails.
async fn found(ctx: SessionContext, sql: String) -> Option<Vec<String>> {
    let mut rows = rows_of(&batches(&ctx, &sql).await.ok()?);
    match sql.contains("order by") {
        // DataFusion compares both zeros as the same number, but sorts them: which of them a limit leaves depends on the order in
        // which rows come.
        true => rows.iter_mut().for_each(|row| *row = row.replace("-0.0", "0.0")),
        false => rows.sort(),
    }
    Some(rows)
}

/// `MARQUETRY_SQL_CASES` of them; 20 queries share a table.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn random_queries_give_the_rows_that_datafusions_own_parquet_gives() {
    let cases = std::env::var("MARQUETRY_SQL_CASES").map_or(2000, |cases| cases.parse().expect("a number"));
    let (mut with_rows, mut random) = (0, Random(22));
    for _ in 0..cases / 20 {
        let folder = tempdir().unwrap();
        let sessions = sessions(&mut random, folder.path()).await;
        for _ in 0..20 {
            let sql = query(&mut random);
            let ask = |ctx: &SessionContext| tokio::spawn(found(ctx.clone(), sql.clone()));
            let (ours, theirs) = tokio::join!(ask(&sessions.ours), ask(&sessions.theirs));
            let ours = ours.unwrap();
            if ours != theirs.unwrap() {
                let expected = ask(&sessions.memory).await.unwrap();
                if ours.is_none() {
                    panic!("{sql}: {}, {expected:?}", batches(&sessions.ours, &sql).await.unwrap_err());
                }
                assert_eq!(ours, expected, "{sql}");
            }
            with_rows += usize::from(ours.is_some_and(|rows| !rows.is_empty()));
        }
    }
    assert!(with_rows * 2 > cases, "{with_rows} of {cases} queries have rows");
}
