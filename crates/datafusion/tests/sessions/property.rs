//! Random tables and random queries: files give the rows that memory gives.

use crate::tables::{batches, rows_of, session_with, write};
use arrow_array::{
    ArrayRef, BooleanArray, Date32Array, Decimal128Array, Float64Array, Int32Array, Int64Array, RecordBatch,
    StringArray, TimestampMicrosecondArray, UInt8Array,
};
use datafusion::datasource::MemTable;
use datafusion::prelude::{SessionConfig, SessionContext};
use std::path::Path;
use std::sync::Arc;
use tempfile::tempdir;

/// Numbers that look random and are always the same for a seed (splitmix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, count: usize) -> usize {
        (self.next() % count as u64) as usize
    }

    fn one<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.below(of.len())]
    }

    fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }
}

const WORDS: [&str; 8] = ["", "a", "ab", "abc", "b", "Ärger", "x%y_z", "zzzzzzzzzzzzzzzzzzzzz"];
const FLOATS: [f64; 8] = [f64::NAN, 0.0, -0.0, 1.5, -1.5, f64::INFINITY, f64::NEG_INFINITY, 3.25];
/// Names of columns, and literals to compare each with.
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
    // Sorted columns have row groups that can be ruled out, others pages with a bit of all.
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
    ];
    RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(name, column)| (name, column, true)))
        .unwrap()
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
    match random.below(10) {
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
        // `IS DISTINCT FROM` takes all that comes behind it.
        _ => format!("({column} {comparison} {literal})"),
    }
}

fn query(random: &mut Random) -> String {
    let depth = random.below(4);
    let condition = condition(random, depth);
    let (column, _) = COLUMNS[random.below(COLUMNS.len())];
    match random.below(6) {
        0 => {
            let (direction, limit) = (random.one(&["asc", "desc"]), 1 + random.below(20));
            let nulls = random.one(&["first", "last"]);
            // Of rows that are alike in what they are sorted by, which come is open: only that is asked for.
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
        if !is_quoted && stands_alone && "iludfstmb".contains(*c) {
            out.push_str(table);
            out.push('.');
        }
        out.push(*c);
    }
    out
}

async fn sessions(random: &mut Random, folder: &Path) -> (SessionContext, SessionContext) {
    let partitions = 1 + random.below(4);
    let config = || SessionConfig::new().with_target_partitions(partitions).with_batch_size(50);
    let files = session_with(config());
    let tables: Vec<RecordBatch> = (0..1 + random.below(3))
        .map(|_| {
            let rows = 1 + random.below(300);
            table(random, rows)
        })
        .collect();
    for (number, table) in tables.iter().enumerate() {
        let row_group = 1 + random.below(120);
        write(&folder.join(format!("{number}.parquet")), std::slice::from_ref(table), row_group);
    }
    let create = format!("create external table t stored as parquet location '{}/'", folder.display());
    batches(&files, &create).await.unwrap();
    let memory = SessionContext::new_with_config(config());
    memory
        .register_table("t", Arc::new(MemTable::try_new(tables[0].schema(), vec![tables]).unwrap()))
        .unwrap();
    (memory, files)
}

/// `MARQUETRY_SQL_CASES` of them; 20 queries share a table.
#[tokio::test]
async fn random_queries_give_the_rows_that_memory_gives() {
    let cases = std::env::var("MARQUETRY_SQL_CASES").map_or(500, |cases| cases.parse().expect("a number"));
    let (mut with_rows, mut random) = (0, Random(22));
    for _ in 0..cases / 20 {
        let folder = tempdir().unwrap();
        let (memory, files) = sessions(&mut random, folder.path()).await;
        for _ in 0..20 {
            let sql = query(&mut random);
            let (expected, found) = (batches(&memory, &sql).await, batches(&files, &sql).await);
            match (expected, found) {
                (Ok(expected), Ok(found)) => {
                    let (mut expected, mut found) = (rows_of(&expected), rows_of(&found));
                    if !sql.contains("order by") {
                        expected.sort();
                        found.sort();
                    }
                    assert_eq!(found, expected, "{sql}");
                    with_rows += usize::from(!expected.is_empty());
                }
                (Err(_), Err(_)) => {}
                (expected, found) => panic!("{sql}: {expected:?} {found:?}"),
            }
        }
    }
    assert!(with_rows * 2 > cases, "{with_rows} of {cases} queries have rows");
}
