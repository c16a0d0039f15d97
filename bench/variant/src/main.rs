//! VARIANT of Marquetry against the crates `parquet-variant`, `-compute` and `-json`: the same values, one process, in turn.
//!
//! What both give is compared before any time is taken. Times are of the thread alone. Absolute speeds drift with the machine: the figure to quote is the ratio.

#![forbid(unsafe_code)]

mod cases;
mod data;
mod error;
mod files;
mod timing;
mod values;
mod walk;

use arrow_array::Array;
use arrow_schema::DataType;
use cases::{Case, Found};
use clap::Parser;
use error::Result;
use files::TwoColumns;
use marquetry_variant::PrimitiveType;
use std::hint::black_box;
use timing::{Work, in_turn};
use values::Values;

#[derive(Debug, Parser)]
#[command(about = "Measures VARIANT of Marquetry against the crates parquet-variant")]
struct Args {
    /// Events; of larger values there are fewer
    #[arg(long, default_value_t = 100_000)]
    rows: usize,
    /// Rounds of each row; the best one counts
    #[arg(long, default_value_t = 5)]
    rounds: u32,
    /// Rows whose name has this in it
    #[arg(long, default_value = "")]
    filter: String,
    /// Only this one's times: `ours` or `theirs`, for a profiler
    #[arg(long)]
    only: Option<String>,
}

fn main() -> Result<()> {
    let args = Args::parse();
    println!("| | peer, M rows/s | ours, M rows/s | ratio | of medians |\n|---|--:|--:|--:|--:|");
    for set in &data::SETS {
        let values = Values::new(set, args.rows)?;
        let mut cases = cases::of_set(set.name, &values);
        cases.push(cases::of_shape(set.name, set.shape, &values)?);
        if set.name == "events" {
            for (path, kind, wanted) in [
                ("user.id", PrimitiveType::Int64, DataType::Int64),
                ("at", PrimitiveType::Int64, DataType::Int64),
                ("kind", PrimitiveType::String, DataType::Utf8View),
                ("tags[1]", PrimitiveType::String, DataType::Utf8View),
                ("extra_7.n", PrimitiveType::Int64, DataType::Int64),
            ] {
                cases.extend(cases::of_path(set.name, path, kind, wanted, &values)?);
            }
        }
        if set.name == "wide" {
            cases.extend(cases::of_path("wide", "f77", PrimitiveType::String, DataType::Utf8View, &values)?);
        }
        if set.name == "nested" {
            let wanted = DataType::Int64;
            cases.extend(cases::of_path("nested", "a.b.c.d.e.value", PrimitiveType::Int64, wanted, &values)?);
        }
        for case in cases.iter().filter(|case| case.name.contains(&args.filter)) {
            measure(&args, case, values.rows())?;
        }
        if set.name == "events" {
            of_files(&args, &values)?;
        }
    }
    Ok(())
}

fn measure(args: &Args, case: &Case<'_>, rows: usize) -> Result<()> {
    let is_comparable = !case.name.ends_with(": shred");
    if is_comparable && args.only.is_none() {
        compare(case)?;
    }
    let mut ours = || (case.ours)().map(|found| drop(black_box(found)));
    let mut theirs = || (case.theirs)().map(|found| drop(black_box(found)));
    let wants = |who: &str| args.only.as_deref().is_none_or(|only| only == who);
    let works: [Work<'_>; 2] = [wants("theirs").then_some(&mut theirs), wants("ours").then_some(&mut ours)];
    show(&case.name, rows, in_turn(args.rounds, works)?);
    Ok(())
}

fn show(name: &str, rows: usize, [theirs, ours]: [Option<timing::Times>; 2]) {
    let speed = |times: Option<timing::Times>| {
        times.map_or("-".to_owned(), |times| format!("{:.3}", rows as f64 / times.best / 1e6))
    };
    let ratio = |of: fn(timing::Times) -> f64| {
        theirs.zip(ours).map_or("-".to_owned(), |(theirs, ours)| format!("{:.2}", of(theirs) / of(ours)))
    };
    let (best, median) = (ratio(|times| times.best), ratio(|times| times.median));
    println!("| {name} | {} | {} | {best} | {median} |", speed(theirs), speed(ours));
}

/// Fails if the results of both sides differ.
fn compare(case: &Case<'_>) -> Result<()> {
    let (theirs, ours): (Found, Found) = ((case.theirs)()?, (case.ours)()?);
    let (theirs, ours) = (theirs.texts()?, ours.texts()?);
    if theirs.len() != ours.len() {
        return Err(format!("{}: {} rows, the peer has {}", case.name, ours.len(), theirs.len()).into());
    }
    match theirs.iter().zip(&ours).position(|(theirs, ours)| theirs != ours) {
        None => Ok(()),
        Some(row) => {
            let (theirs, ours) = (&theirs[row], &ours[row]);
            Err(format!("{}, row {row}: {ours:?}, the peer has {theirs:?}", case.name).into())
        }
    }
}

/// A shredded path costs what a plain column of the same file costs, which is the peer here.
fn of_files(args: &Args, values: &Values) -> Result<()> {
    for (path, kind) in [
        ("at", PrimitiveType::Int64),
        ("kind", PrimitiveType::String),
        ("user.country", PrimitiveType::String),
    ] {
        let name = format!("files: {path}, shredded, beside a plain column");
        if !name.contains(&args.filter) {
            continue;
        }
        let file = TwoColumns::new(values, path, kind)?;
        let (plain, shredded) = (file.read("plain")?, file.read(&file.path)?);
        if !plain.iter().zip(&shredded).all(|(plain, shredded)| plain.to_data() == shredded.to_data()) {
            return Err(format!("{name}: the values differ").into());
        }
        let mut plain = || file.read("plain").map(|found| drop(black_box(found)));
        let mut shredded = || file.read(&file.path).map(|found| drop(black_box(found)));
        show(&name, values.rows(), in_turn(args.rounds, [Some(&mut plain), Some(&mut shredded)])?);
    }
    Ok(())
}
