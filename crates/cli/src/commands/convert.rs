//! `convert`: writes rows to a file of another format, or with other settings.

mod pairs;
mod rows;
mod target;

use crate::args::paths::{self, Paths};
use crate::args::{GeoVersion, InputArgs, Report, Selection, TableArgs, Target, WriteArgs};
use crate::column_list::ColumnList;
use crate::convert::{
    CutTimes, Destination, FileColumns, FileWish, GeoPlan, GeoWish, Progress, Sink, SizeReport, TimesAs,
    Total, TypeChanges, change_type, file_wish, geometry_column, leads_to_stdout, only_for_parquet,
    properties, renamed, with_metadata,
};
use crate::failure::{Failure, Outcome};
use crate::inputs::{self, Batches, Input, InputOptions};
use crate::keys::EncryptArgs;
use crate::loss_report::Losses;
use crate::metrics::MetricsArgs;
use crate::ordered_map::default_threads;
use crate::output::Output;
use crate::remote;
use crate::shred_plan::ShredPlan;
use crate::sort::{Budget, SortColumn, SortColumns, SortKey};
use arrow_schema::SchemaRef;
use clap::Args as ClapArgs;
use marquetry_core::predicate::names_of;
use marquetry_core::write::KeyValue;
use marquetry_geo::{GeoParquet, geoparquet};
use marquetry_inspect::NewType;
use pairs::source_pairs;
use rows::{parts, sorted_rows, spills, with_column_first};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use target::{by_extension, named, shown_geometries};

/// The arguments of `convert`.
#[derive(Debug, ClapArgs)]
#[command(override_usage = "marquetry convert [OPTIONS] <IN>... <OUT>", mut_arg(paths::ID, |paths| paths.help(PATHS_HELP)))]
pub(crate) struct ConvertArgs {
    #[command(flatten)]
    pub(crate) paths: Paths,
    /// Replace OUT if it exists
    #[arg(long)]
    pub(crate) overwrite: bool,
    /// Arrow: decode dictionaries and run-end encoded columns
    #[arg(long)]
    pub(crate) plain_types: bool,
    /// The format of OUT, whatever its name. Default: by the name, and JSON Lines on standard output
    #[arg(long, value_enum)]
    pub(crate) to: Option<Target>,
    #[command(flatten)]
    pub(crate) selection: Selection,
    /// Write at most this many rows
    #[arg(long, value_name = "ROWS")]
    pub(crate) limit: Option<usize>,
    /// Rows of a record batch
    #[arg(long, value_name = "ROWS", default_value = "8192")]
    pub(crate) batch_size: NonZeroUsize,
    /// Sort the rows: columns separated by commas, each with optional :asc or :desc and :nulls-first or :nulls-last. Names with commas,
    /// colons or dots need double quotes. Columns that --columns omits may be among them. hilbert(COLUMN) puts geometries that are close to
    /// each other into rows that are
    #[arg(long, value_name = "A,B:desc")]
    pub(crate) sort_by: Vec<SortColumns>,
    /// Change a column's type: int32, uint32, int64, decimal(PRECISION,SCALE), date, uuid, bool; variant for JSON text; element for
    /// lists of at most one element. It is an error if the type cannot hold every value exactly
    #[arg(long, value_name = "COLUMN=TYPE", value_parser = change_type)]
    pub(crate) change_type: Vec<(String, NewType)>,
    /// Parquet: turn a column of paths into a FILE column with the files' bytes (inline, the default) or references to them, and checksums.
    /// Paths are relative to the directory of IN, and must stay below it
    #[arg(long, value_name = "COLUMN[=inline|reference]", value_parser = file_wish)]
    pub(crate) file: Vec<FileWish>,
    /// With --file: the directory that paths are relative to, and must stay below
    #[arg(long, value_name = "DIR", requires = "file")]
    pub(crate) file_root: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) together: TableArgs,
    #[command(flatten)]
    pub(crate) reading: InputArgs,
    #[command(flatten)]
    pub(crate) writing: WriteArgs,
    #[command(flatten)]
    pub(crate) encrypt: EncryptArgs,
    #[command(flatten)]
    pub(crate) metrics: MetricsArgs,
}

const PATHS_HELP: &str = "\
The file to read: .parquet, .csv, .tsv, .jsonl, .ndjson, .geojson or .arrow, or the URL of one; - is standard input. Several \
files of Parquet, CSV or JSON Lines, a pattern, or a directory of Parquet files are read as one table. Behind them the file to write: .parquet, .arrow, .csv, \
.jsonl or .geojson, or the URL of one in a store; - is standard output";

/// `memory_limit` is for sorting and writing, in bytes.
pub(crate) fn run(
    args: &ConvertArgs,
    memory_limit: usize,
    output: &mut Output,
    outcome: &mut Outcome,
) -> Result<(), Failure> {
    match convert(args, memory_limit, output) {
        Ok(cut_times) => {
            let only = Some(&*args.paths.inputs[0]).filter(|_| args.paths.inputs.len() == 1);
            cut_times.tell(only);
        }
        Err(failure @ (Failure::File(_) | Failure::Check(_) | Failure::CheckOf(..))) => {
            outcome.report(Some(&failure.file(&args.paths.inputs[0])), &failure)
        }
        Err(failure @ Failure::Write(_)) if args.paths.output.as_os_str() != "-" => {
            outcome.report(Some(&args.paths.output), &failure)
        }
        // An error of standard output is reported once, by the caller. The message of wrong usage names the option, or
        // the failure knows the file.
        Err(failure) => return Err(failure),
    }
    Ok(())
}

/// The same; what fails is not reported. Returns which times lost digits.
pub(crate) fn convert(
    args: &ConvertArgs,
    memory_limit: usize,
    output: &mut Output,
) -> Result<CutTimes, Failure> {
    let to_stdout = args.paths.output.as_os_str() == "-";
    let out = Some(args.paths.output.as_path()).filter(|_| !to_stdout);
    let mut lost = Losses::new(&args.selection, &args.paths.inputs, out)?;
    let mut cut_times = Arc::default();
    let converted = convert_rows(args, memory_limit, to_stdout, &mut lost, &mut cut_times, output);
    lost.finish(converted)?;
    Ok(std::mem::take(&mut *locked(&cut_times)))
}

fn convert_rows(
    args: &ConvertArgs,
    memory_limit: usize,
    to_stdout: bool,
    lost: &mut Losses,
    cut_times: &mut Arc<Mutex<CutTimes>>,
    output: &mut Output,
) -> Result<(), Failure> {
    remote::check_writable(&args.paths.output)
        .map_err(|message| Failure::usage_of(&args.paths.output, message))?;
    let target = target(args, to_stdout)?;
    let threads = args.writing.threads.unwrap_or_else(default_threads);
    let sort_by: Vec<&SortColumn> = args.sort_by.iter().flat_map(|columns| &columns.0).collect();
    let (selection, only_sorted_by) = with_sorted_columns(&args.selection, &sort_by);
    let input = inputs::open(&args.paths.inputs, &wanted(args, &selection, target, threads))?;
    let changes = TypeChanges::new(&args.change_type, &input.schema)?;
    let files = FileColumns::new(&args.file, &file_root(args)?, &args.paths.output, &changes.schema)?;
    let schema = named(shown_geometries(&files.schema, &input, target), target);
    let keys = sort_by.iter().map(|key| SortKey::new(key, &schema)).collect::<Result<Vec<_>, _>>()?;
    let behind = sort_by.iter().zip(&keys).filter(|(column, _)| only_sorted_by.contains(&column.path()));
    let kept: Vec<usize> =
        (0..behind.map(|(_, key)| key.root()).min().unwrap_or(schema.fields().len())).collect();
    let written_schema = Arc::new(schema.project(&kept)?);
    let first_column = first_column(target, &written_schema, &input)?;
    let has_rows = to_stdout || leads_to_stdout(&args.paths.output);
    let report = report_format(args, has_rows, output)?;
    let (losses, cost) = (input.losses.clone(), input.metrics.clone());
    cut_times.clone_from(&input.cut_times);
    let read = args.paths.inputs.iter().chain(&input.files);
    let mut destination = match to_stdout {
        true => Destination::stdout(output),
        false => Destination::create(&args.paths.output, read, args.overwrite)?,
    };
    let written = destination.written();
    let mut progress = Progress::new(total(&input), to_stdout, written.clone());
    let mut sink = match target {
        Target::Parquet => {
            parquet_sink(args, memory_limit, &input, &written_schema, &keys, &mut destination)?
        }
        _ => Sink::new(target, to_stdout, &mut destination, &written_schema)?,
    };
    let batches = {
        let schema = schema.clone();
        input.batches.map(move |batch| Ok(renamed(files.apply(changes.apply(batch?)?)?, &schema)?))
    };
    let batches: Batches = match keys.is_empty() {
        true => Box::new(batches),
        false => {
            let budget = Budget::new(memory_limit, args.batch_size.get(), threads);
            sorted_rows(Box::new(batches), &schema, keys, kept, budget, &args.encrypt, &mut progress)?
        }
    };
    let batches = match first_column {
        None => batches,
        Some(first) => with_column_first(batches, first, written_schema.fields().len()),
    };
    for part in parts(batches, target, threads) {
        let part = part.map_err(|failure| lost.before(&locked(&losses), failure))?;
        sink.write(&part)?;
        progress.advance(part.num_rows());
    }
    let sizes = sink.finish()?;
    destination.complete()?;
    drop(progress);
    if let Some(metrics) = *locked(&cost) {
        args.metrics.tell_read(&args.paths.inputs[0], &metrics, output)?;
    }
    if let Some(sizes) = sizes {
        tell(args, &sizes, report, written.load(Ordering::Relaxed), output)?;
    }
    lost.tell(&locked(&losses))
}

/// The column that goes first: the geometry of GeoJSON features.
fn first_column(target: Target, schema: &SchemaRef, input: &Input) -> Result<Option<usize>, Failure> {
    let pairs = input.parquet.as_ref().map_or(&[][..], |file| file.metadata().key_value_metadata());
    match target {
        Target::Geojson => geometry_column(schema, pairs).map(Some),
        _ => Ok(None),
    }
}

/// The output format, as asked for or by the output's name.
fn target(args: &ConvertArgs, to_stdout: bool) -> Result<Target, Failure> {
    let target = match (args.to, to_stdout) {
        (Some(target), _) => target,
        (None, true) => Target::Jsonl,
        (None, false) => by_extension(&args.paths.output)?,
    };
    let of_files = (!args.file.is_empty()).then_some("--file is");
    match of_files.or_else(|| only_for_parquet(&args.writing, &args.encrypt)) {
        Some(options) if target != Target::Parquet => {
            Err(Failure::usage_of(&args.paths.output, format!("{options} for Parquet")))
        }
        _ => Ok(target),
    }
}

/// The directory that paths of `--file` are relative to.
fn file_root(args: &ConvertArgs) -> Result<PathBuf, Failure> {
    let input = args.paths.inputs.first().filter(|_| !args.file.is_empty() && args.file_root.is_none());
    match input {
        None => Ok(args.file_root.clone().unwrap_or_default()),
        Some(input) if input.as_os_str() == "-" || remote::is_url(input) => Err(Failure::Usage(
            "--file needs --file-root, the directory that paths are relative to".to_owned(),
        )),
        Some(input) if input.is_dir() => Ok(input.clone()),
        Some(input) => Ok(input.parent().unwrap_or(Path::new("")).to_owned()),
    }
}

/// The columns to read: the chosen ones, followed by those that are only sorted by, which are returned, too. A part of a
/// struct is not added if another part of it is chosen: it is reported as missing later.
fn with_sorted_columns(selection: &Selection, sort_by: &[&SortColumn]) -> (Selection, Vec<String>) {
    let root = |path: &str| names_of(path).into_iter().next();
    let mut selection = selection.clone();
    let Some(mut columns) = selection.columns() else { return (selection, Vec::new()) };
    let mut only_sorted_by = Vec::new();
    for path in sort_by.iter().map(|column| column.path()) {
        let is_chosen = columns.iter().any(|column| *column == path || root(column) == root(&path));
        if !is_chosen && !only_sorted_by.contains(&path) {
            only_sorted_by.push(path);
        }
    }
    columns.extend(only_sorted_by.iter().cloned());
    selection.columns = Some(vec![ColumnList(columns)]);
    (selection, only_sorted_by)
}

fn locked<T>(told: &Mutex<T>) -> MutexGuard<'_, T> {
    told.lock().unwrap_or_else(PoisonError::into_inner)
}

fn wanted<'a>(
    args: &'a ConvertArgs,
    selection: &'a Selection,
    target: Target,
    threads: NonZeroUsize,
) -> InputOptions<'a> {
    InputOptions {
        args: &args.reading,
        together: &args.together,
        selection,
        limit: args.limit,
        batch_rows: args.batch_size.get(),
        exact_batches: target == Target::Arrow,
        is_sorted: !args.sort_by.is_empty(),
        threads,
        plain: match target {
            Target::Parquet => false,
            Target::Arrow => args.plain_types,
            Target::Csv | Target::Jsonl | Target::Geojson => true,
        },
        times: match target {
            // They become others.
            _ if !args.change_type.is_empty() => TimesAs::Timestamps,
            Target::Parquet | Target::Arrow => TimesAs::Timestamps,
            Target::Csv | Target::Jsonl | Target::Geojson => TimesAs::Text,
        },
    }
}

fn parquet_sink<'a, 'b>(
    args: &ConvertArgs,
    memory_limit: usize,
    input: &Input,
    schema: &SchemaRef,
    keys: &[SortKey],
    destination: &'a mut Destination<'b>,
) -> Result<Sink<'a, 'b>, Failure> {
    let pairs = source_pairs(input)?;
    // Merging takes a quarter at most.
    let memory_limit = if keys.is_empty() { memory_limit } else { memory_limit / 4 * 3 };
    // The sort order is recorded up to the first column that the file lacks, or whose values do not determine it.
    let is_told = |key: &&SortKey| key.root() < schema.fields().len() && !key.is_on_curve;
    let told = keys.iter().take_while(is_told).count();
    let wish = GeoWish {
        version: args.writing.geoparquet.map(GeoVersion::version),
        covering: args.writing.covering,
    };
    let geo = GeoPlan::new(wish, schema, &pairs)?;
    // GeoParquet's metadata is written anew, with the boxes of the rows, or not at all if there are no geometries.
    // Unreadable metadata stays.
    let is_read = |pair: &KeyValue| pair.value.as_deref().is_some_and(|json| GeoParquet::parse(json).is_ok());
    let is_kept = |pair: &&KeyValue| pair.key != geoparquet::KEY || (geo.is_none() && !is_read(pair));
    let pairs: Vec<KeyValue> = pairs.iter().filter(is_kept).cloned().collect();
    let stored = input.parquet.as_ref().map(|file| &**file.metadata().schema());
    let properties = properties(&args.writing, schema.fields(), memory_limit, &keys[..told], &pairs, stored);
    let properties = match args.encrypt.properties()? {
        Some(encryption) => GeoPlan::encrypted(geo.as_ref(), properties, encryption),
        None => properties.into_builder().set_spill_store(Some(spills(false))).build(),
    };
    // Sizes of some rows cannot be compared with those of all.
    let has_all_rows =
        args.selection.offset == 0 && args.limit.is_none() && args.selection.condition.is_none();
    let source = input.parquet.clone().filter(|_| has_all_rows);
    let schema = &with_metadata(schema, &args.writing.metadata);
    let shredding = ShredPlan::new(&args.writing.shred, schema)?;
    Sink::parquet(destination, schema, properties, shredding, geo, source)
}

fn total(input: &Input) -> Total {
    match (input.rows, input.bytes) {
        (Some(rows), _) => Total::Rows(rows),
        (None, Some(bytes)) => Total::Bytes(bytes, input.bytes_read.clone()),
        (None, None) => Total::Unknown,
    }
}

/// The format of the report, which must not go where the rows go.
fn report_format(args: &ConvertArgs, to_stdout: bool, output: &Output) -> Result<Report, Failure> {
    match (args.writing.report, to_stdout) {
        (Some(Report::Text | Report::Json), true) => {
            Err(Failure::Usage("standard output has the rows: there is no place for a report".to_owned()))
        }
        (Some(report), false) => Ok(report),
        (_, true) => Ok(Report::None),
        (None, false) if output.is_json() => Ok(Report::Json),
        (None, false) => Ok(Report::Text),
    }
}

/// Reports the columns and the cost of a file of `size` bytes.
fn tell(
    args: &ConvertArgs,
    sizes: &SizeReport,
    report: Report,
    size: u64,
    output: &mut Output,
) -> Result<(), Failure> {
    let path = &args.paths.output;
    match report {
        Report::Text => sizes.print(path, size, output)?,
        Report::Json => output.json(&sizes.json(path, size))?,
        Report::None => {}
    }
    args.metrics.tell_written(path, sizes.metrics(), output)
}

/// Text after the options in `--help`.
pub(crate) const CONVERT_HELP: &str = "\
OUT appears when it is complete; until then, and after a failure or Ctrl-C, an existing OUT stays. Text inputs may be
compressed with gzip or Zstandard: a.csv.gz, b.jsonl.zst.

OUT may be a file in a store: s3://, gs://, az://. It is uploaded in parts, up to 4 at a time, and is visible when all
of it is there; a failure aborts the upload. Only --overwrite replaces an existing file. A file of less than 8 MiB is
written on the condition that there is none. For a longer one the store is asked before the upload and before its end,
so a file that another writer creates in between may be replaced. Checkpoints are useless there.

COLUMN is a dotted path such as producer.name, or a pattern: * stands for any characters of one name, ** for any
number of names. A name in double quotes is not a pattern, and may be empty. What is set for a column overrides what is
set for all. An option that means one column is an error if several have its name; --columns takes all of them.

Several CSV files must have the same columns, by the names of their headers, in the same order. Several JSON Lines
files have the columns of all. Types are inferred from the first rows of every file. Names of text files and
directories never become columns.

In CSV a cell that begins with a quote ends at the next quote that is not doubled; text behind it belongs to the cell,
as in pyarrow, pandas and Python's csv: \"x\"y is xy. Quotes elsewhere are text. A quote that is never closed is an
error.

Types of CSV columns are inferred so that no value changes. A column with 007 or +1 in it is text, and so are
mixtures. Numbers that a double would change, because of many digits or more than 64 bits, are decimals, or text
beyond 76 digits; a column with -0 is float64, because integers have no negative zero. JSON values keep their types:
only numbers, true and false are not text. A later value that does not fit is an error with its line, counted from 1
in the file, or with the number of its object in an array.

Types after --schema, with ! or `not null` behind the type of a column that has no nulls:
  bool, int8 .. int64, uint8 .. uint64, float16, float32, float64, utf8, large_utf8, utf8_view,
  binary, large_binary, binary_view, fixed(BYTES), decimal(PRECISION, SCALE), date, date64,
  time(UNIT), timestamp(UNIT), timestamp(UNIT, UTC), duration(UNIT), interval, list<TYPE>,
  large_list<TYPE>, fixed_list<TYPE, LENGTH>, struct<NAME TYPE, ..>, map<TYPE, TYPE>,
  dictionary<TYPE>, variant; UNIT is s, ms, us or ns
A variant takes any JSON. A missing member, and an empty cell of CSV, are NULL; `null` is the variant null. Cells of
CSV with nested values and variants hold JSON. fixed(BYTES) is read from hexadecimal digits or a UUID, binary from
text with \\xNN for any byte, duration from PT3.5S, interval from P1M2DT3S.

GeoJSON: the properties of each feature are columns, like the members of JSON Lines, and its geometry is the column
`geometry`, a GEOMETRY in OGC:CRS84, or in the EPSG code of an old `crs` member. When writing, the primary geometry
column becomes the features' geometry. It must have longitudes and latitudes; M is dropped. Other columns become
properties.

--shred stores values that fit a shape in leaf columns, each with its own encoding and statistics. Other values stay
in binary, and every value is read back as it was. A shape is a type, {FIELD: SHAPE, ..}, or [SHAPE] for the elements
of an array. Types: boolean, int8 .. int64 (tinyint .. bigint), float, double, decimal(PRECISION, SCALE), date, time,
timestamp(us), timestamp(us, UTC), timestamp(ns), timestamp(ns, UTC), string, binary, uuid, and variant for a field of
any type. An integer fits any width that holds it; a decimal fits only its own scale. A shape has up to 1,000 columns
and 40 levels. auto looks at the first 4,096 rows or 64 MiB: the most common type of each field wins, without fields
of less than a tenth of the rows, and up to 300 columns. The shape is used if the sample gets no larger, or at most a
quarter larger if its bounds let half of the sample be skipped. The report shows what was measured; JSON: shredding:
[{column, shape, is_shredded, unshredded_bytes, shredded_bytes, prunable}].

--sort-by orders text by its bytes, treats NaN as the largest number, and puts nulls last by default. The sort is
stable. --offset and --limit choose rows before they are sorted. hilbert(geom) orders geometries by a Hilbert curve
through the centers of their boxes, and empty ones as nulls: bbox_intersects() then finds its rows in few row groups
and pages.

With --checkpoint-every a killed command leaves its temporary file, .OUT.*, beside OUT; `marquetry recover` makes a
file of what was written before its last checkpoint. The report has the bytes and the time that checkpoints took.
`marquetry rewrite` drops them from a finished file.

The report after writing Parquet has the bytes of each column: those of the Parquet input or in memory, and those
written. JSON: {file, rows, row_groups, size, before, columns: [{column, values, before, after, uncompressed, ratio,
codec, encodings: [{encoding, pages}], reason}], checkpoints: {count, bytes, seconds}, shredding}; `before` of the
file is \"parquet\" or \"memory\", `checkpoints` is null without --checkpoint-every, and its `seconds` is the time spent
waiting for them.

Arrow's date64 becomes DATE, and is date64 again by the stored Arrow schema; see --date64.

Text is written as it is. A spreadsheet takes cells that begin with =, +, - or @ for formulas: be careful with CSV of
untrusted values there.

Values in JSON Lines, and in the cells of CSV:
  numbers       their digits; decimals with all digits of their scale; \"NaN\", \"Infinity\" and
                \"-Infinity\" as text
  dates, times  ISO 8601: 2013-07-30, 12:30:00.500, 2013-07-30T12:30:00Z (UTC),
                2013-07-30T12:30:00 (local), P1M2DT3S
  byte strings  their text; bytes that are not printable UTF-8 as \\xNN, a backslash as \\x5C
  fixed-length  byte strings of fixed length, and geometries: hexadecimal digits; UUIDs in their
                usual form
  variant       the JSON that it is; what JSON has no word for (dates, bytes, UUIDs) as text
  nested        lists [..], structs {..}; maps {..} if the keys are text, else
                [{\"key\":..,\"value\":..}, ..]
  null          null; in CSV an empty cell (an empty text is \"\")
INT96 becomes timestamps in Parquet and Arrow, of a column's own unit: nanoseconds, or the finest that reaches its
farthest time. If that cuts off digits of other times, standard error tells the columns and the number of such values.
`marquetry rewrite` and `merge` copy INT96 unchanged. CSV and JSON Lines have the exact times, unless several files
have a column both as INT96 and as another timestamp.
Nested values are JSON text in CSV. Text has the values of dictionary and run-end encoded columns. Arrow files have
the types of the input, which for Parquet are those of the stored Arrow schema. A column's dictionary grows from batch
to batch (delta dictionaries), and is held in memory; --plain-types writes values instead, for readers without
dictionaries. In text and Arrow files a column without a name is called C and its number. In text a second column of
the name a is called a_1.

Examples:
  marquetry convert data.csv data.parquet
  marquetry convert data.csv.gz data.parquet \\
      --schema 'zip utf8, price decimal(15, 2) !, at timestamp(us, UTC)'
  marquetry convert export.csv export.parquet --delimiter tab --text-encoding latin1 \\
      --skip-lines 3 --comment '#' --ragged null
  marquetry convert dump.csv dump.parquet --escape '\\' --null-values '\\N'
  marquetry convert 'logs/*.jsonl' logs.parquet
  marquetry convert api.json api.parquet --from jsonl --mixed text --unknown-keys ignore
  marquetry convert events.jsonl events.parquet --schema 'id int64 !, payload variant'
  marquetry convert events.jsonl events.parquet --schema 'payload variant' --shred auto
  marquetry convert old.parquet new.parquet \\
      --shred 'payload={user: {id: bigint, tags: [string]}, price: decimal(9,2)}'
  marquetry convert table.parquet table.csv --columns id --overwrite \\
      --sort-by '\"last, first\":desc,id'
  marquetry convert events.jsonl events.parquet --sort-by user,at:desc --bloom user \\
      --compression zstd:3
  marquetry convert places.parquet sorted.parquet --sort-by 'hilbert(geom)' \\
      --row-group-rows 100000
  marquetry convert old.parquet new.parquet --encoding '**.id=DELTA_BINARY_PACKED' \\
      --row-group-rows 500000
  psql -c 'COPY t TO STDOUT CSV HEADER' | marquetry convert - t.parquet --from csv
  marquetry convert big.csv big.parquet --checkpoint-every 10s
  marquetry convert images.csv images.parquet --file path=inline
  marquetry convert places.geojson places.parquet --geoparquet 1.1 --covering \\
      --sort-by 'hilbert(geometry)'
  marquetry convert wines.parquet wines.arrow
  marquetry convert warehouse/wines wines.parquet --union-by-name
  marquetry convert big.csv.gz s3://bucket/big.parquet --row-group-rows 1000000
  marquetry convert wines.parquet - --columns name,grapes --limit 5
  marquetry convert wines.parquet - --to csv | head";
