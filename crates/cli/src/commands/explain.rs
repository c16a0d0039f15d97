//! `explain`: what a predicate lets be skipped.
//!
//! JSON: see [`EXPLAIN_HELP`].

mod advice;
mod left;
mod matching;

use super::title;
use crate::args::{Files, condition};
use crate::failure::{Failure, Outcome};
use crate::output::Output;
use crate::table::{Table, printable};
use clap::Args as ClapArgs;
use left::{Left, leaves_of};
use marquetry::OpenFile;
use marquetry::predicate::Predicate;
use marquetry::prune::{PruneOptions, PruneReport, Stage, StageReport};
use matching::Matching;
use serde_json::{Value, json};

#[derive(Debug, ClapArgs)]
pub(crate) struct ExplainArgs {
    #[command(flatten)]
    files: Files,
    /// Rows are wanted for which this is true, as SQL has it after WHERE: "country = 'DE' and amount > 100"
    #[arg(long = "where", value_name = "CONDITION", value_parser = condition)]
    condition: Predicate,
    /// Only these columns are wanted, and all below them: dotted paths with commas between. Default: all
    #[arg(long, short, value_name = "A,B.C", value_delimiter = ',')]
    columns: Option<Vec<String>>,
    /// Read the predicate's columns, too, and count the rows that match
    #[arg(long)]
    scan: bool,
}

pub(crate) const EXPLAIN_HELP: &str = "\
Each line tells what is left of the file after a stage: row groups, rows, and the stored bytes of the pages that are still to
be read of the predicate's columns and the wanted ones. `read`, `reads` and `time` are what the stage itself cost, `by` are
the columns that it learnt something of, and in how many row groups. Pages are skipped where the file has an offset index.

What would help is concluded from what the file says of itself: bounds that are missing or overlap, indexes that are not
there. With --scan the rows that match are counted, which tells how near to the best this is.

Predicates: = != < <= > >=, in (..), between .. and .., is null, like 'abc%', starts_with(a, 'x'), is_nan(a), and, or, not.
Columns: name, a.b for field b of struct a, \"any name\". Literals: 1.5, 'text', true, date '2024-01-31', timestamp '2024-01-31
10:00:00Z', X'0aff'; dates, times and UUIDs may be mere 'text'. NaN is equal to nothing; NULL makes nothing true.

JSON: {file, predicate, stages: [{stage, row_groups, row_groups_matched, rows, bytes, pages_asked, pages_left, bytes_read,
reads, seconds, columns: [{column, row_groups}]}], matching: {rows, row_groups} (null without --scan), notes: [{row_group,
column, stage, message}], advice: [text]}; the first stage, \"file\", has read nothing.

Examples:
  marquetry explain wines.parquet --where \"country = 'FR' and price > 100\"
  marquetry explain 'data/*.parquet' --where \"day >= date '2024-01-01'\" --columns id,amount --scan";

/// What was found out of a file.
struct Explained {
    predicate: Predicate,
    /// What is left of the file, and after each stage.
    left: Vec<(&'static str, Left)>,
    /// With all stages.
    report: PruneReport,
    /// How many rows match, and in how many row groups.
    matching: Option<(u64, usize)>,
    advice: Vec<String>,
}

pub(crate) fn run(args: &ExplainArgs, output: &mut Output, outcome: &mut Outcome) -> Result<(), Failure> {
    let are_several = args.files.are_several();
    args.files.for_each(outcome, |path, file| {
        let explained = explain(&file, &args.condition, args)?;
        if output.is_json() {
            let mut json = explained.json(&file);
            json["file"] = path.display().to_string().into();
            return Ok(output.json(&json)?);
        }
        if are_several {
            title(path, output)?;
        }
        explained.print(&file, output)
    })
}

fn explain(file: &OpenFile, predicate: &Predicate, args: &ExplainArgs) -> Result<Explained, Failure> {
    let matching = Matching::new(file, predicate)?;
    let wanted = leaves_of(file.metadata(), args.columns.as_deref())?;
    let mut left = vec![("file", Left::whole(&matching, &wanted))];
    let (mut kept, mut report) = (Vec::new(), PruneReport::default());
    let mut options = PruneOptions::none();
    // Each stage again with those before it: what is left after it is then what it would be without those behind it.
    for stage in Stage::ALL {
        options = with(options, stage);
        report = PruneReport::default();
        kept = matching.prune(&options, &mut report)?;
        left.push((stage.name(), Left::of(&matching, &wanted, &kept)?));
    }
    let counts = if args.scan { Some(matching.count(&kept)?) } else { None };
    let advice = advice::advice(&matching, predicate, &kept, counts.as_deref());
    let matching =
        counts.map(|counts| (counts.iter().sum(), counts.iter().filter(|count| **count > 0).count()));
    Ok(Explained { predicate: predicate.clone(), left, report, matching, advice })
}

fn with(options: PruneOptions, stage: Stage) -> PruneOptions {
    match stage {
        Stage::Statistics => PruneOptions { statistics: true, ..options },
        Stage::BloomFilters => PruneOptions { bloom_filters: true, ..options },
        Stage::Dictionaries => PruneOptions { dictionaries: true, ..options },
        Stage::PageIndex => PruneOptions { page_index: true, ..options },
    }
}

impl Explained {
    fn json(&self, file: &OpenFile) -> Value {
        let schema = file.metadata().schema();
        let stage = |(i, (name, left)): (usize, &(&str, Left))| {
            let asked = i.checked_sub(1).map(|i| self.report.of(Stage::ALL[i]));
            let columns = asked.into_iter().flat_map(StageReport::columns).map(|(column, row_groups)| {
                json!({"column": &**schema.column(column).dotted(), "row_groups": row_groups})
            });
            json!({
                "stage": name,
                "row_groups": left.row_groups,
                "row_groups_matched": left.matched,
                "rows": left.rows,
                "bytes": left.bytes,
                "pages_asked": asked.map_or(0, |asked| asked.pages),
                "pages_left": asked.map_or(0, |asked| asked.pages_left),
                "bytes_read": asked.map_or(0, |asked| asked.bytes),
                "reads": asked.map_or(0, |asked| asked.reads),
                "seconds": asked.map_or(0.0, |asked| asked.time.as_secs_f64()),
                "columns": columns.collect::<Vec<_>>(),
            })
        };
        let notes = self.report.notes.iter().map(|note| {
            json!({
                "row_group": note.row_group,
                "column": &*note.column,
                "stage": note.stage.name(),
                "message": note.error.to_string(),
            })
        });
        json!({
            "file": null,
            "predicate": self.predicate.to_string(),
            "stages": self.left.iter().enumerate().map(stage).collect::<Vec<_>>(),
            "matching": self.matching.map(|(rows, row_groups)| json!({"rows": rows, "row_groups": row_groups})),
            "notes": notes.collect::<Vec<_>>(),
            "advice": self.advice,
        })
    }

    fn print(&self, file: &OpenFile, output: &mut Output) -> Result<(), Failure> {
        let schema = file.metadata().schema();
        output.line(printable(&format!("where {}", self.predicate)))?;
        let mut table =
            Table::new(&["", ">row groups", ">pages", ">rows", ">bytes", ">read", ">reads", ">time", "by"]);
        for (i, (name, left)) in self.left.iter().enumerate() {
            let asked = i.checked_sub(1).map(|i| self.report.of(Stage::ALL[i]));
            let of_stage = |cell: &dyn Fn(&StageReport) -> String| asked.map(cell).unwrap_or_default();
            let by = |stage: &StageReport| {
                let names = stage
                    .columns()
                    .map(|(column, row_groups)| format!("{} ({row_groups})", schema.column(column).dotted()));
                names.collect::<Vec<_>>().join(", ")
            };
            table.row([
                (*name).to_owned(),
                left.row_groups.to_string(),
                of_stage(&|stage| match stage.pages {
                    0 => String::new(),
                    pages => format!("{} of {pages}", stage.pages_left),
                }),
                left.rows.to_string(),
                left.bytes.to_string(),
                of_stage(&|stage| stage.bytes.to_string()),
                of_stage(&|stage| stage.reads.to_string()),
                of_stage(&|stage| format!("{:.3} ms", stage.time.as_secs_f64() * 1e3)),
                of_stage(&by),
            ]);
        }
        table.print(output)?;
        let matched = self.left.last().map_or(0, |(_, left)| left.matched);
        if matched > 0 {
            output.line(format!(
                "all rows of {matched} row groups match: the predicate need not be evaluated there"
            ))?;
        }
        if let Some((rows, row_groups)) = self.matching {
            output.line(format!("{rows} rows match, in {row_groups} row groups"))?;
        }
        for note in &self.report.notes {
            let stage = note.stage.name();
            output.line(printable(&format!(
                "not used: {stage} of {}, row group {}: {}",
                note.column, note.row_group, note.error
            )))?;
        }
        for advice in &self.advice {
            output.line(printable(&format!("advice: {advice}")))?;
        }
        Ok(())
    }
}
