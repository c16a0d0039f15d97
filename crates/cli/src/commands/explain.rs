//! `explain`: what can be skipped for a predicate.
//!
//! JSON: see [`EXPLAIN_HELP`].

mod advice;
mod matching;
mod parts;
mod remaining;
mod report;

use super::heading::title;
use crate::args::{InputTables, condition};
use crate::column_list::{ColumnList, all_columns, column_list};
use crate::failure::{Failure, Outcome};
use crate::file_name;
use crate::output::Output;
use crate::remote;
use crate::table_source::TableSource as Input;
use clap::Args as ClapArgs;
use marquetry::OpenFile;
use marquetry::dataset::{Dataset, Needed};
use marquetry::predicate::Predicate;
use marquetry::prune::{PruneOptions, PruneReport, Stage};
use matching::Matching;
use remaining::{RemainingRead, leaves_of, there};
use report::{Asked, ExplainReport, Note};

#[derive(Debug, ClapArgs)]
pub(crate) struct ExplainArgs {
    #[command(flatten)]
    tables: InputTables,
    /// The predicate, as after WHERE in SQL: "country = 'DE' and amount > 100"
    #[arg(long = "where", value_name = "CONDITION", value_parser = condition, allow_hyphen_values = true)]
    condition: Predicate,
    /// The columns to read, with all their children: dotted paths separated by commas, and paths into VARIANT. Default: all
    #[arg(long, short, value_name = "A,B.C", value_parser = column_list)]
    columns: Option<Vec<ColumnList>>,
    /// Also read the predicate's columns, and count the rows that match
    #[arg(long)]
    scan: bool,
}

pub(crate) const EXPLAIN_HELP: &str = "\
Each line shows what a stage leaves of the file: row groups, rows, and the stored bytes of the pages that are still to
read, of the predicate's and the chosen columns. `read`, `reads` and `time` are the cost of the stage itself, `by` are
the columns by which it pruned, with the number of row groups. Pages can be skipped where the file has an offset
index.

Below it, each part of the predicate shows how many rows a stage alone leaves, or why it leaves all.

The advice is drawn from the file: missing or overlapping bounds, missing indexes. --scan counts the rows that match,
which shows how close the pruning is to the best.

A directory is one table: partitions rule out files, and the stages show the sum of the others.

Predicates: = != < <= > >=, in (..), between .. and .., is null, is true, is distinct from, and, or, not; two columns
a < b; rows (a, b) > (1, 'x'). Text: like 'a%b_', ilike, escape '!', ~ 'regular expression', ~* ignoring case,
starts_with(a, 'x'), ends_with, contains, regexp_like. Floats: is_nan(a). Lists: any(a) = 1, all(a) > 0, any(points.x
> 1 and points.x < 2), contains(a, 1), cardinality(a) > 3, a is empty; maps: a['key'] = 1.
Geometries: bbox_intersects(geom, xmin, ymin, xmax, ymax). VARIANT: payload:user.id::bigint > 5, payload:tags[0] is
missing; payload::bigint and payload:$ are the value itself. Values of a file, one a line: a in @values.txt.
Columns: name; a.b for field b of struct a; \"any name\", such as \"a.b\". Literals: 1.5, 'text', true, date '2024-01-31',
timestamp '2024-01-31 10:00:00Z', X'0aff'. Dates, times, UUIDs and numbers may be plain 'text'. Durations are
'PT1.5S', intervals 'P1M2D', geometries 'POINT (1 2)' (= and != only), bytes 'a\\x00' or X'6100'. NaN equals nothing; a
comparison with NULL matches nothing.

JSON: {file, files, files_left, predicate, stages: [{stage, row_groups, row_groups_matched, rows, bytes, pages_asked,
pages_left, bytes_read, reads, seconds, columns: [{column, row_groups}]}], parts: [{part, rows, stages: [{stage,
rows_left, why_all}]}], matching: {rows, row_groups} (null without --scan), notes: [{file, row_group, column, stage,
message}], advice: [text]}. The first stage, \"file\", has read nothing. `files` and `file` of notes are null for a
single file.

Examples:
  marquetry explain wines.parquet --where \"country = 'France' and price > 100\"
  marquetry explain warehouse/wines --where \"year = 2020 and price > 100\"
  marquetry explain 'data/*.parquet' --where \"day >= date '2024-01-01'\" --columns id,amount --scan";

pub(crate) fn run(args: &ExplainArgs, output: &mut Output, outcome: &mut Outcome) -> Result<(), Failure> {
    let are_several = args.tables.are_several();
    args.tables.for_each(outcome, |path, table| {
        let told = match table {
            Input::File(file) => {
                let columns = all_columns(args.columns.as_ref());
                let wanted = leaves_of(&file, columns.as_deref())?;
                explain(&file, &args.condition, &wanted, args.scan)?
            }
            Input::Files(files) => explain_all(&files.filter(args.condition.clone()), args)?,
        };
        if output.is_json() {
            let mut json = told.json();
            json["file"] = file_name::shown(path).into();
            return Ok(output.json(&json)?);
        }
        if are_several {
            title(path, output)?;
        }
        told.print(output)
    })
}

/// Explains the files of a table one after the other, and sums up the results.
fn explain_all(files: &Dataset, args: &ExplainArgs) -> Result<ExplainReport, Failure> {
    let mut told = ExplainReport { predicate: args.condition.to_string(), ..ExplainReport::default() };
    let columns = all_columns(args.columns.as_ref());
    if let Some(columns) = &columns {
        // A column that no file has is an error; one that some file lacks, or that is a partition, is not.
        files.clone().columns(columns.iter().cloned()).schema()?;
    }
    let needed = files.needed()?;
    let (all, mut opened) = (needed.len(), 0);
    for (path, needed) in needed {
        let predicate = match needed {
            Needed::Nothing => continue,
            Needed::Everything => Predicate::And(Vec::new()),
            Needed::Rows(predicate) => predicate,
        };
        opened += 1;
        let name = file_name::shown(&path);
        let mut of_file = remote::open(&path).map_err(Failure::from).and_then(|file| {
            let wanted = there(&file, columns.as_deref())?;
            explain(&file, &predicate, &wanted, args.scan)
        });
        if let Err(Failure::File(error)) = of_file {
            of_file = Err(error.in_file(name.clone()).into());
        }
        let mut of_file = of_file?;
        of_file.notes.iter_mut().for_each(|note| note.file = Some(name.clone()));
        told.add(of_file);
    }
    told.files = Some((all, opened));
    Ok(told)
}

/// Advice on what would let more of a file be skipped, one sentence each.
pub(super) fn advice_for(file: &OpenFile, predicate: &Predicate) -> Result<Vec<String>, Failure> {
    let matching = Matching::new(file, predicate)?;
    let kept = matching.prune(&PruneOptions::default(), &mut PruneReport::default())?;
    Ok(advice::advice(&matching, predicate, &kept, None))
}

fn explain(
    file: &OpenFile,
    predicate: &Predicate,
    wanted: &[usize],
    scan: bool,
) -> Result<ExplainReport, Failure> {
    let matching = Matching::new(file, predicate)?;
    let schema = file.metadata().schema();
    let mut stages =
        vec![report::Stage { name: "file", left: RemainingRead::whole(&matching, wanted), asked: None }];
    let (mut kept, mut report) = (Vec::new(), PruneReport::default());
    let mut options = PruneOptions::none();
    // Each stage is run again with those before it: what remains is then as if there were no later stages.
    for &stage in Stage::ALL {
        options = options.with_stage(stage);
        report = PruneReport::default();
        kept = matching.prune(&options, &mut report)?;
        let asked = Asked::of(report.of(stage), |column| schema.column(column).dotted().to_string());
        let left = RemainingRead::of(&matching, wanted, &kept)?;
        stages.push(report::Stage { name: stage.name(), left, asked: Some(asked) });
    }
    let counts = if scan { Some(matching.count(&kept)?) } else { None };
    let parts = parts::parts(&matching)?;
    let advice = advice::advice(&matching, predicate, &kept, counts.as_deref());
    let matching =
        counts.map(|counts| (counts.iter().sum(), counts.iter().filter(|count| **count > 0).count()));
    let notes = report.notes.iter().map(|note| Note {
        file: None,
        row_group: note.row_group,
        column: note.column.to_string(),
        stage: note.stage.name(),
        message: note.error.to_string(),
    });
    Ok(ExplainReport {
        predicate: predicate.to_string(),
        files: None,
        stages,
        parts,
        matching,
        notes: notes.collect(),
        advice: advice.into_iter().map(|advice| (advice, 1)).collect(),
    })
}
