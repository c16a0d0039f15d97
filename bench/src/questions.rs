//! `questions`: conditions as people write them, on text, on two columns, on lists and on long lists of values.
//!
//! Ours is the text of a predicate. The peer has a `RowFilter` whose closure calls the kernels of `arrow-string` and
//! `arrow-ord`, and for comparison reads everything and filters it then: the ratio is to the better of both. Each question is
//! asked twice: how many rows match, and two other columns of these rows. All on one thread.

use std::collections::HashSet;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow60_array::cast::AsArray;
use arrow60_array::types::Int64Type;
use arrow60_array::{
    Array, BooleanArray, Float64Array, RecordBatch as RecordBatch60, Scalar, StringArray, StringViewArray,
};
use arrow60_schema::ArrowError;
use bytes::Bytes;
use clap::Args;
use marquetry::arrow::arrow_reader as ours;
use marquetry::predicate::Predicate;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader as peer;
use parquet::file::metadata::PageIndexPolicy;

use crate::compare_readers::count;
use crate::error::Result;
use crate::generate::Rng;
use crate::row::BATCH_SIZE;
use crate::tables;
use crate::timing::in_turn;

#[derive(Args)]
pub(crate) struct Options {
    /// Where files are kept
    #[arg(long, value_name = "DIR", default_value = "target/bench-data/sizes")]
    dir: PathBuf,
    /// Scale factor: 1 is 6 million rows of lineitem, 1 million of hits and 500,000 of the nested table
    #[arg(long, default_value_t = 1.0)]
    sf: f64,
    /// Take the best of N runs of each side
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// Run only the questions that contain TEXT
    #[arg(long, value_name = "TEXT", default_value = "")]
    filter: String,
    /// Write the questions there as JSON, for `questions.py` to ask others
    #[arg(long, value_name = "FILE")]
    write_to: Option<PathBuf>,
    /// Print a Markdown table
    #[arg(long)]
    markdown: bool,
}

type Test = Arc<dyn Fn(&RecordBatch60) -> std::result::Result<BooleanArray, ArrowError> + Send + Sync>;

struct Question {
    table: &'static str,
    /// How it is shown, and as it is asked.
    name: String,
    text: String,
    /// The condition as DuckDB writes it.
    sql: String,
    /// What it looks at, and what is read besides.
    columns: Vec<&'static str>,
    others: [&'static str; 2],
    test: Test,
}

fn question(
    table: &'static str,
    text: &str,
    columns: &[&'static str],
    test: impl Fn(&RecordBatch60) -> std::result::Result<BooleanArray, ArrowError> + Send + Sync + 'static,
) -> Question {
    let others = match table {
        "hits" => ["UserID", "EventTime"],
        "lineitem" => ["l_partkey", "l_extendedprice"],
        _ => ["id", "address"],
    };
    Question {
        table,
        name: text.to_owned(),
        text: text.to_owned(),
        sql: text.to_owned(),
        columns: columns.to_vec(),
        others,
        test: Arc::new(test),
    }
}

fn literal(text: &str) -> Scalar<StringArray> {
    StringArray::new_scalar(text)
}

fn questions(sf: f64) -> Vec<Question> {
    let column = |batch: &RecordBatch60| batch.column(0).clone();
    let mut rng = Rng::new(3);
    let ids: Vec<i64> = (0..100_000).map(|_| rng.below((6_000_000.0 * sf) as u64 + 1) as i64).collect();
    let list = ids.iter().map(i64::to_string).collect::<Vec<_>>().join(", ");
    let ids: HashSet<i64> = ids.into_iter().collect();
    let mut of_ids =
        question("lineitem", &format!("l_orderkey in ({list})"), &["l_orderkey"], move |batch| {
            let keys = batch.column(0).as_primitive::<Int64Type>();
            Ok(BooleanArray::from_unary(keys, |key| ids.contains(&key)))
        });
    of_ids.name = "l_orderkey in (100,000 ids)".to_owned();
    let mut all = vec![
        question("hits", "URL like '%google%'", &["URL"], move |batch| {
            arrow60_string::like::contains(&column(batch), &literal("google"))
        }),
        question("hits", "Title like '%a%b%'", &["Title"], move |batch| {
            arrow60_string::like::like(&column(batch), &literal("%a%b%"))
        }),
        question("hits", "Referer like 'https://%'", &["Referer"], move |batch| {
            arrow60_string::like::starts_with(&column(batch), &literal("https://"))
        }),
        question("hits", "URL ~ 'page=[0-9]+&'", &["URL"], move |batch| {
            arrow60_string::regexp::regexp_is_match_scalar(
                column(batch).as_string::<i32>(),
                "page=[0-9]+&",
                None,
            )
        }),
        question("hits", "Title ilike '%GOOGLE%'", &["Title"], move |batch| {
            arrow60_string::like::ilike(&column(batch), &literal("%GOOGLE%"))
        }),
        question("hits", "MobilePhoneModel like '%o%'", &["MobilePhoneModel"], move |batch| {
            arrow60_string::like::contains(&column(batch), &literal("o"))
        }),
        question(
            "lineitem",
            "l_commitdate < l_receiptdate",
            &["l_commitdate", "l_receiptdate"],
            move |batch| arrow60_ord::cmp::lt(batch.column(0), batch.column(1)),
        ),
        question("lineitem", "l_shipinstruct like '%BACK%'", &["l_shipinstruct"], move |batch| {
            arrow60_string::like::contains(&column(batch), &StringViewArray::new_scalar("BACK"))
        }),
        of_ids,
        question("nested", "any(points.x) > 0.9", &["points.list.element.x"], |batch| {
            let points = batch.column(0).as_list::<i32>();
            let x = points.values().as_struct().column(0);
            let above = arrow60_ord::cmp::gt(x, &Float64Array::new_scalar(0.9))?;
            let offsets = points.value_offsets();
            let any = (0..points.len()).map(|row| {
                let elements = offsets[row] as usize..offsets[row + 1] as usize;
                points.is_valid(row) && elements.into_iter().any(|at| above.is_valid(at) && above.value(at))
            });
            Ok(any.collect::<Vec<bool>>().into())
        }),
    ];
    for question in &mut all {
        question.sql = match question.text.as_str() {
            "URL ~ 'page=[0-9]+&'" => "regexp_matches(URL, 'page=[0-9]+&')".to_owned(),
            "any(points.x) > 0.9" => "len(list_filter(points, lambda p: p.x > 0.9)) > 0".to_owned(),
            same => same.to_owned(),
        };
    }
    all
}

/// Writes a list of objects: the question, its file, and the number of matching rows.
fn write(path: &Path, asked: &[(&Question, PathBuf, usize)]) -> Result<()> {
    let each = asked.iter().map(|(question, file, rows)| {
        let Question { name, sql, others, .. } = question;
        serde_json::json!({ "name": name, "file": file, "sql": sql, "others": others, "rows": rows })
    });
    Ok(fs::write(path, serde_json::to_vec(&each.collect::<Vec<_>>())?)?)
}

fn ours(file: &Bytes, question: &Question, predicate: &Predicate, counts: bool) -> Result<usize> {
    let builder = ours::ParquetRecordBatchReaderBuilder::try_new(file.clone())?.with_batch_size(BATCH_SIZE);
    let builder = match counts {
        true => builder.with_columns(Vec::<String>::new())?,
        false => builder.with_columns(question.others)?,
    };
    let reader = builder.with_threads(1).with_predicate(predicate.clone()).build()?;
    count(reader.map(|batch| Ok(batch?)), RecordBatch::num_rows)
}

fn peer_builder(file: &Bytes) -> Result<peer::ParquetRecordBatchReaderBuilder<Bytes>> {
    let options = peer::ArrowReaderOptions::new().with_page_index_policy(PageIndexPolicy::Optional);
    let builder = peer::ParquetRecordBatchReaderBuilder::try_new_with_options(file.clone(), options)?;
    Ok(builder.with_batch_size(BATCH_SIZE))
}

fn others_of(question: &Question, counts: bool) -> Vec<&'static str> {
    if counts { Vec::new() } else { question.others.to_vec() }
}

fn peer_filter(file: &Bytes, question: &Question, counts: bool) -> Result<usize> {
    let builder = peer_builder(file)?;
    let mask = ProjectionMask::columns(builder.parquet_schema(), question.columns.iter().copied());
    let others = ProjectionMask::columns(builder.parquet_schema(), others_of(question, counts));
    let test = question.test.clone();
    let test = peer::ArrowPredicateFn::new(mask, move |batch| test(&batch));
    let reader = builder.with_projection(others).with_row_filter(peer::RowFilter::new(vec![Box::new(test)]));
    count(reader.build()?.map(|batch| Ok(batch?)), RecordBatch60::num_rows)
}

/// Reads everything, and filters afterwards.
fn peer_scan(file: &Bytes, question: &Question, counts: bool) -> Result<usize> {
    let builder = peer_builder(file)?;
    let read = |names: &[&str]| ProjectionMask::columns(builder.parquet_schema(), names.iter().copied());
    let asked = read(&question.columns);
    let mut all = asked.clone();
    all.union(&read(&others_of(question, counts)));
    let roots: Vec<&str> =
        question.columns.iter().map(|name| name.split('.').next().unwrap_or(name)).collect();
    let indexes = |batch: &RecordBatch60| -> Vec<usize> {
        roots.iter().filter_map(|name| batch.schema().index_of(name).ok()).collect()
    };
    let mut rows = 0;
    for batch in builder.with_projection(all).build()? {
        let batch = batch?;
        let wanted = (question.test)(&batch.project(&indexes(&batch))?)?;
        rows += arrow60_select::filter::filter_record_batch(&batch, &wanted)?.num_rows();
    }
    Ok(rows)
}

/// Measures, and prints two rows for each question.
pub(crate) fn run(options: &Options) -> Result<()> {
    const HEAD: [&str; 6] =
        ["question", "rows", "ours ms", "peer RowFilter ms", "peer scan ms", "peer / ours"];
    if options.markdown {
        println!("| {} |\n|---|{}", HEAD.join(" | "), "--:|".repeat(HEAD.len() - 1));
    } else {
        println!("{}", HEAD.join("  "));
    }
    let (mut ratios, mut asked) = (Vec::new(), Vec::new());
    let all = questions(options.sf);
    for question in all.iter().filter(|question| question.name.contains(&options.filter)) {
        let path = tables::parquet(&options.dir, question.table, options.sf, "snappy")?;
        let file = Bytes::from(fs::read(&path)?);
        let predicate = Predicate::parse(&question.text)?;
        asked.push((question, path, ours(&file, question, &predicate, true)?));
        for counts in [true, false] {
            let rows = ours(&file, question, &predicate, counts)?;
            for (found, by) in [
                (peer_filter(&file, question, counts)?, "the peer's RowFilter"),
                (peer_scan(&file, question, counts)?, "the peer's scan"),
            ] {
                if found != rows {
                    return Err(format!("{}: {rows} rows, {found} by {by}", question.name).into());
                }
            }
            let times = in_turn(
                options.rounds,
                [
                    // Sets and patterns of the peer are prepared before, too.
                    Some(&mut || ours(&file, question, &predicate, counts).map(drop)),
                    Some(&mut || peer_filter(&file, question, counts).map(drop)),
                    Some(&mut || peer_scan(&file, question, counts).map(drop)),
                ],
            )?;
            let best = times.map(|times| times.map_or(f64::NAN, |times| times.best));
            let ratio = best[1].min(best[2]) / best[0];
            ratios.push(ratio);
            let what = if counts { "count" } else { "2 columns" };
            let mut cells = vec![format!("{}: {what}", question.name), rows.to_string()];
            cells.extend(best.iter().map(|seconds| format!("{:.2}", seconds * 1e3)));
            cells.push(format!("{ratio:.2}"));
            print(&cells, &HEAD, options.markdown);
        }
    }
    if let Some(path) = &options.write_to {
        write(path, &asked)?;
    }
    let mean = (ratios.iter().map(|ratio| ratio.ln()).sum::<f64>() / ratios.len().max(1) as f64).exp();
    println!("geometric mean {mean:.2}");
    Ok(())
}

fn print(cells: &[String], head: &[&str], markdown: bool) {
    let mut line = String::new();
    for (i, (cell, head)) in cells.iter().zip(head).enumerate() {
        let _ = match (markdown, i) {
            (true, _) => write!(line, "| {cell} "),
            (false, 0) => write!(line, "{cell:<42}"),
            (false, _) => write!(line, "{cell:>width$}  ", width = head.len().max(8)),
        };
    }
    println!("{line}{}", if markdown { "|" } else { "" });
}
