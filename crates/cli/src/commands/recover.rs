//! `recover`: writes the readable parts of a broken file to a new one.

use crate::failure::{Failure, Outcome};
use crate::file_name;
use crate::keys;
use crate::output::Output;
use crate::overwrite::{create as create_file, refuse_existing};
use crate::printable::printable;
use crate::report_file::ReportFile;
use crate::rewrite::report_failure;
use crate::schema_parser::{named_file, text_or_file};
use clap::Args as ClapArgs;
use marquetry::errors::{Error, ErrorKind, Limits};
use marquetry::file::properties::WriterProperties;
use marquetry::internals::format::KeyValue;
use marquetry_base::counted;
use marquetry_core::io::read_metadata;
use marquetry_core::schema::Schema;
use marquetry_recover::{
    Decision, GivenSchema, KeptRowGroup, Loss, RecoverOptions, Recovery, Report, SchemaOrigin, recover,
    recover_encrypted,
};
use serde_json::{Value, json};
use std::io::Write;
use std::path::{Path, PathBuf};

#[derive(Debug, ClapArgs)]
pub(crate) struct RecoverArgs {
    /// The broken file; it is only read
    #[arg(value_name = "BROKEN")]
    input: PathBuf,
    /// The new file
    #[arg(value_name = "OUT", value_parser = crate::remote::local())]
    output: PathBuf,
    /// Use the schema of this Parquet file if the broken one has lost its own
    #[arg(long, value_name = "GOOD", conflicts_with = "schema")]
    schema_from: Option<PathBuf>,
    /// Use this schema if the broken file has lost its own: the output of `marquetry schema`, or a file that has it
    #[arg(long, value_name = "TEXT|FILE")]
    schema: Option<String>,
    /// Also keep row groups that have lost columns, with nulls in their place
    #[arg(long)]
    partial: bool,
    /// Also keep row groups that an interrupted append had added. Default: restore the file as it was before
    #[arg(long)]
    keep_appended: bool,
    /// Write the report to this file, as JSON
    #[arg(long, value_name = "FILE.json", value_parser = crate::remote::local())]
    report: Option<PathBuf>,
    /// Replace existing files
    #[arg(long)]
    overwrite: bool,
}

pub(crate) const RECOVER_HELP: &str = "\
Recovery finds the last footer: at the end, of a checkpoint, from before the file grew, with garbage behind it, cut
off behind its schema, or with bytes missing before it. Where no footer describes them, it finds pages by their
headers, and builds chunks and row groups of them. A row group is kept if it is complete: all pages are there,
checksums are right, every value decodes, all columns have the same number of rows, and the columns of a struct, list
or map have the same nesting. Pages are copied; headers that strict readers may refuse are written anew, and so are
offset indexes. What was found without a footer has no statistics.

Without a footer the schema comes from --schema-from or --schema. Without these it is inferred from the pages, and
columns are called c0, c1, ... The number of columns is inferred from types that repeat from row group to row group,
from values that rise, from the first bytes of a footer, and from what some writers put behind each chunk. Nothing is
kept, and the error asks for a schema, if several tables would explain the pages: if all columns are alike, if two
columns could be half of four, or if there is one row group with nothing behind it. The report then has the likeliest
schema, and another possible one. If a table with more columns and fewer row groups is possible, but far less likely,
the report names it. INT32 and FLOAT look the same, as do INT64 and DOUBLE, and pages do not tell what values mean
(text, dates, decimals): give a schema if you have one.

A file that an interrupted change in place (append, meta set, drop-row-group) left without a footer is restored as it
was before. --keep-appended also keeps complete row groups of the change.

With --partial a lost column becomes null in its row group if it is optional; a column in a struct or list makes all
of that null. Damage in pages without checksums can go unseen: the report lists row groups that have such pages.
Statistics, indexes and bloom filters that the values contradict are dropped, and reported; so are values that the
schema does not allow, such as a TIME beyond midnight, if no checksum confirms them.

Footers have no checksum. Where a footer contradicts itself, as by chunks with the name of another column, the report
says so, and is less certain of the rows. A fact that it has only once is believed if it is possible: 16-bit integers
by an older annotation alone, as DuckDB writes them, may have been 32-bit ones. Damaged key-value metadata, such as an
ARROW:schema that does not decode, is dropped; integers of other widths in it, and unknown time zones, are reported.

An encrypted file is cut behind the last footer that the keys of --key-file open, of a checkpoint or from before the
file grew, and stays encrypted; `marquetry verify` tells whether its pages are undamaged. Without keys nothing is
recovered.

Summaries (_metadata, _common_metadata) have no pages: recover the files beside them, and run `marquetry summary`
again.

BROKEN is never changed. OUT appears when it is complete, and only if a row group is kept.

The exit code is 0 if the report knows of no loss, and 1 if row groups, columns or pages are lost, as for `marquetry
cat --on-corrupt`. OUT has everything that is kept in both cases. What was cut off with the footer is not known.

The report has a line for each decision, with a confidence: exact, high, medium, low. JSON: {file, schema, rows,
bytes, bytes_kept, pages_found, decisions: [{what, why, confidence}], row_groups: [{start, end, rows, nulls, why,
confidence}], losses: [{start, end, rows, why}]}; start and end are byte offsets in BROKEN.

Examples:
  marquetry recover broken.parquet saved.parquet
  marquetry recover broken.parquet saved.parquet --schema-from yesterday.parquet --partial \\
      --report report.json
  marquetry recover broken.parquet saved.parquet \\
      --schema 'message m { required int64 id; optional binary name (STRING); }'";

pub(crate) fn run(args: &RecoverArgs, output: &mut Output, outcome: &mut Outcome) -> Result<(), Failure> {
    match run_recover(args, output).map_err(|failure| of_summary(&args.input, failure)) {
        Err(failure @ Failure::Check(_)) => {
            outcome.report(Some(&args.input), &failure);
            Ok(())
        }
        other => other.or_else(|failure| report_failure(&args.input, failure, outcome)),
    }
}

fn run_recover(args: &RecoverArgs, output: &mut Output) -> Result<(), Failure> {
    let schema_file = args.schema.as_deref().and_then(named_file);
    let inputs =
        || [Some(args.input.as_path()), args.schema_from.as_deref(), schema_file].into_iter().flatten();
    refuse_existing(&args.output, inputs(), args.overwrite)?;
    let create = |path| ReportFile::create(path, inputs(), Some(&args.output), Some(args.overwrite));
    let report_file = args.report.as_deref().map(create).transpose()?;
    if let Some(keys) = keys::given() {
        let source = crate::remote::source(&args.input)?;
        let Some(found) = recover_encrypted(source, &keys, &Limits::default())? else {
            return Err(Failure::Check(NO_FOOTER.to_owned()));
        };
        let report = found.report();
        write_report(report_file, &args.output, report)?;
        found.write(create_file(&args.output, args.overwrite)?)?.finish()?;
        print(&args.output, report, output)?;
        return lost(report).map_or(Ok(()), |lost| Err(Failure::Check(lost)));
    }
    let options = RecoverOptions::default()
        .with_schema(args.given_schema()?)
        .with_partial(args.partial)
        .with_keep_appended(args.keep_appended);
    let recovery = recover(crate::remote::source(&args.input)?, &options)?;
    let report = recovery.report();
    write_report(report_file, &args.output, report)?;
    if !report.row_groups.is_empty() {
        write(&args.output, args.overwrite, &recovery)?;
    }
    // With many row groups the report takes much memory, and so does writing them: one follows the other.
    print(&args.output, report, output)?;
    if report.row_groups.is_empty() {
        let why = match report.schema {
            None => return Err(Failure::Check(no_schema(report))),
            Some(origin) if recovery.schema().iter().skip(1).all(|element| element.type_.is_none()) => {
                match origin {
                    SchemaOrigin::Footer => "the file has no columns: there is nothing to recover",
                    _ => "the schema has no columns: nothing is written",
                }
            }
            Some(SchemaOrigin::Footer) if report.losses.is_empty() => {
                "its footer lists no row group: there are no rows to keep, and nothing is written"
            }
            Some(_) => "no row group is whole: nothing is written",
        };
        return Err(Failure::Check(why.to_owned()));
    }
    lost(report).map_or(Ok(()), |lost| Err(Failure::Check(lost)))
}

/// The message that a schema is needed, and why.
fn no_schema(report: &Report) -> String {
    let why = report.losses.iter().find_map(|loss| loss.why.split_once(": give the schema"));
    let why = why.map_or_else(String::new, |(why, _)| format!(" ({why})"));
    format!(
        "its pages do not show which columns the file has{why}: give the schema with --schema-from or --schema"
    )
}

/// The failure for a file whose name says that it has no pages.
fn of_summary(input: &Path, failure: Failure) -> Failure {
    let is_summary = input.file_name().is_some_and(|name| name == "_metadata" || name == "_common_metadata");
    match &failure {
        Failure::Check(_) if is_summary => Failure::Check(SUMMARY.to_owned()),
        Failure::File(error)
            if is_summary && matches!(error.kind(), ErrorKind::Corrupt | ErrorKind::Truncated) =>
        {
            Failure::Check(SUMMARY.to_owned())
        }
        _ => failure,
    }
}

fn write_report(file: Option<ReportFile>, recovered: &Path, report: &Report) -> Result<(), Failure> {
    let Some(mut file) = file else { return Ok(()) };
    writeln!(file, "{:#}", report_json(recovered, report))?;
    file.finish()
}

fn print(recovered: &Path, report: &Report, output: &mut Output) -> Result<(), Failure> {
    match output.is_json() {
        true => output.json(&report_json(recovered, report))?,
        false => report.to_string().lines().try_for_each(|line| output.line(printable(line)))?,
    }
    Ok(())
}

/// The losses on one line; `None` if there are none. Any loss is a failure, as in reading rows.
fn lost(report: &Report) -> Option<String> {
    let rows: u64 = report.losses.iter().filter_map(|loss| loss.rows).fold(0, u64::saturating_add);
    let bytes = report.losses.iter().map(|loss| loss.bytes.end - loss.bytes.start);
    let bytes = bytes.fold(0, u64::saturating_add);
    let in_part = report.row_groups.iter().filter(|group| !group.nulls.is_empty()).count();
    let mut parts = Vec::new();
    if rows > 0 {
        parts.push(format!("{} of row groups that are known", counted(rows, "row")));
    }
    if !report.losses.is_empty() {
        parts.push(format!("{} in {}", counted(bytes, "byte"), counted(report.losses.len(), "place")));
    }
    if in_part > 0 {
        parts.push(format!("columns of {}, which are null now", counted(in_part, "row group")));
    }
    (!parts.is_empty()).then(|| format!("lost: {}", parts.join(", ")))
}

fn write(path: &Path, overwrite: bool, recovery: &Recovery) -> Result<(), Error> {
    let created_by = WriterProperties::default().created_by().to_owned();
    let file = recovery.write(create_file(path, overwrite)?, Some(created_by))?;
    file.finish()
}

impl RecoverArgs {
    fn given_schema(&self) -> Result<Option<GivenSchema>, Failure> {
        if let Some(path) = &self.schema_from {
            let named = |error: Error| error.in_file(file_name::shown(path));
            let file = crate::remote::source(path)?;
            let metadata = read_metadata(&*file, &Default::default()).map_err(named)?.metadata;
            let of_schema = |pair: &&KeyValue| pair.key == marquetry::arrow::ARROW_SCHEMA_META_KEY;
            return Ok(Some(
                GivenSchema::new(metadata.head().schema.clone(), SchemaOrigin::Sibling)
                    .with_created_by(metadata.created_by().map(str::to_owned))
                    .with_key_values(
                        metadata.key_value_metadata().iter().filter(of_schema).cloned().collect(),
                    ),
            ));
        }
        let Some(text) = &self.schema else { return Ok(None) };
        let schema = Schema::parse(&text_or_file(text)?)?;
        Ok(Some(GivenSchema::new(schema.to_thrift(), SchemaOrigin::Text)))
    }
}

fn report_json(file: &Path, report: &Report) -> Value {
    let decision = |Decision { what, why, confidence, .. }: &Decision| json!({"what": what, "why": why, "confidence": confidence.name()});
    let row_group = |group: &KeptRowGroup| {
        json!({
            "start": group.bytes.start, "end": group.bytes.end, "rows": group.rows, "nulls": group.nulls,
            "why": group.why, "confidence": group.confidence.name(),
        })
    };
    let loss = |loss: &Loss| json!({"start": loss.bytes.start, "end": loss.bytes.end, "rows": loss.rows, "why": loss.why});
    json!({
        "file": file_name::shown(file),
        "schema": report.schema.map(SchemaOrigin::name),
        "rows": report.rows(),
        "bytes": report.bytes,
        "bytes_kept": report.bytes_kept(),
        "pages_found": report.pages_found,
        "decisions": report.decisions.iter().map(decision).collect::<Vec<_>>(),
        "row_groups": report.row_groups.iter().map(row_group).collect::<Vec<_>>(),
        "losses": report.losses.iter().map(loss).collect::<Vec<_>>(),
    })
}

const SUMMARY: &str = "a summary has no pages: they are in the files beside it; recover what is broken of those, and write the summary \
     again (`marquetry summary`)";
const NO_FOOTER: &str = "no footer is in the file that the keys open: nothing is written";
