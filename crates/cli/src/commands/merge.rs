//! `merge`: puts the row groups of several files into one.

use crate::args::Files;
use crate::args::paths::{self, Paths};
use crate::failure::{Failure, Outcome};
use crate::keys::{self, EncryptArgs};
use crate::metrics::MetricsArgs;
use crate::output::Output;
use crate::overwrite::refuse_existing;
use crate::rewrite::{
    ColumnAction, ColumnLog, EncoderMemory, Footer, Input, OutputFile, Same, codec_of, column_orders,
    into_column, leaf_map_of_file, print_report, report_failure, unified,
};
use clap::Args as ClapArgs;
use marquetry::errors::Error;
use marquetry::file::properties::WriterProperties;
use marquetry::internals::format::{ColumnOrder, SortingColumn};
use marquetry::metrics::WriteCounters;
use marquetry::schema::Schema;
use marquetry_core::write::EncodedChunk;
use marquetry_core::write::copy::{CopySettings, drop_bounds};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

#[derive(Debug, ClapArgs)]
#[command(override_usage = "marquetry merge [OPTIONS] <IN>... <OUT>",
    mut_arg(paths::ID, |paths| paths.help("The Parquet files, and behind them the file to write")))]
pub(crate) struct MergeArgs {
    #[command(flatten)]
    paths: Paths,
    /// Replace OUT if it exists
    #[arg(long)]
    overwrite: bool,
    /// Accept columns in another order, with other field ids, or required in some files and optional in others
    #[arg(long)]
    compatible: bool,
    #[command(flatten)]
    encrypt: EncryptArgs,
    #[command(flatten)]
    metrics: MetricsArgs,
}

pub(crate) const MERGE_HELP: &str = "\
Row groups are copied in the order of the files, without decoding. All files must have the same schema: names, types,
repetition, annotations and field ids. Annotations that mean the same are equal, such as INTEGER(64, true), which
DuckDB writes, and none; the first file's is kept. --compatible matches columns by their paths, wherever they are, and
keeps the first file's order and ids. A column that is required in one file and optional in another becomes optional,
and is encoded again where it was required. Other types, annotations or decimal widths are never converted: `marquetry
convert A B OUT` encodes the rows of several files as one table.

The output has the key-value metadata of all files; where values differ, the first file's. It has the first file's
Arrow schema if the types of all files mean the same. If types differ in more than that, it has none, or the files are
refused: a duration in seconds and one in milliseconds are both INT64, and one would be read as the other. Patterns
with *, ? and [] are expanded in alphabetical order.

Row groups keep their size. To join small ones, run marquetry rewrite OUT OUT2 --row-group-rows 1000000 afterwards.

`marquetry rewrite --help` describes the report and its JSON.

Examples:
  marquetry merge 2025.parquet 2026.parquet both.parquet
  marquetry merge 'parts/*.parquet' whole.parquet --overwrite
  marquetry merge pandas.parquet duckdb.parquet both.parquet --compatible";

pub(crate) fn run(args: &MergeArgs, output: &mut Output, outcome: &mut Outcome) -> Result<(), Failure> {
    let files = Files { files: args.paths.inputs.clone() }.expanded(outcome);
    if outcome.has_failed() {
        // A pattern without files, or a directory, was reported: the result would lack its rows.
        return Ok(());
    }
    merge(args, &files, &args.paths.output, output)
        .or_else(|failure| report_failure(&args.paths.output, failure, outcome))
}

fn merge(args: &MergeArgs, files: &[PathBuf], out: &Path, output: &mut Output) -> Result<(), Failure> {
    if crate::remote::is_url(out) {
        return Err(Failure::Usage(crate::remote::ONLY_READ.to_owned()));
    }
    refuse_existing(out, files.iter().map(PathBuf::as_path), args.overwrite)?;
    let inputs = files.iter().map(|file| Input::open(file)).collect::<Result<Vec<_>, Error>>()?;
    let first = inputs[0].metadata.schema();
    let same = if args.compatible { Same::Compatible } else { Same::Exactly };
    let map = |input: &Input| leaf_map_of_file(first, input.metadata.schema(), same, input.name());
    let maps = inputs.iter().map(map).collect::<Result<Vec<_>, Error>>()?;
    let others: Vec<&Schema> = inputs[1..].iter().map(|input| &**input.metadata.schema()).collect();
    let (elements, schema) = unified(&inputs[0].metadata.head().schema, &others)?;
    let mut log = ColumnLog::new(schema.num_columns());
    let orders = column_orders(&inputs, &maps);
    let footer = Footer::union(&inputs, &mut log)?;
    let encryption = args.encrypt.properties()?;
    log.note_filters(&inputs, encryption.as_ref().map(|of| of.dialect()));
    let settings = footer.settings(orders.clone(), encryption);
    let mut file = OutputFile::create(out, args.overwrite, elements, settings)?;
    let counters = file.counters().clone();
    let (orders, is_encrypted) = (orders.as_deref(), file.is_encrypted());
    let target = CopyTarget { schema: &schema, orders, counters: &counters, is_encrypted };
    for (input, map) in inputs.iter().zip(&maps) {
        copy_row_groups(input, map, target, &mut log, |rows, chunks, sorting| {
            file.write_row_group(rows, chunks, sorting)
        })?;
    }
    let (metadata, size) = file.finish()?;
    let before = |column: usize| {
        inputs.iter().zip(&maps).map(|(input, map)| input.compressed_size(map[column])).sum::<u64>()
    };
    let before: Vec<u64> = (0..schema.num_columns()).map(before).collect();
    print_report(out, &metadata, size, &before, &log, output)?;
    for input in &inputs {
        args.metrics.tell_read(&input.path, &input.counters.snapshot(), output)?;
    }
    args.metrics.tell_written(out, &counters.snapshot(), output)
}

/// The file that row groups are copied to.
#[derive(Clone, Copy)]
pub(super) struct CopyTarget<'a> {
    pub(super) schema: &'a Schema,
    /// Its orders of bounds.
    pub(super) orders: Option<&'a [ColumnOrder]>,
    /// Counters of what is encoded again.
    pub(super) counters: &'a Arc<WriteCounters>,
    /// Whether it is encrypted.
    pub(super) is_encrypted: bool,
}

/// Copies the row groups of a file, and passes each to `write`: its number of rows, its chunks, and its sorting
/// columns. `map` has the input's column for each new one. A column that becomes nullable is encoded again: its pages
/// get other levels.
pub(super) fn copy_row_groups(
    input: &Input,
    map: &[usize],
    target: CopyTarget<'_>,
    log: &mut ColumnLog,
    mut write: impl FnMut(u64, Vec<EncodedChunk>, Option<Vec<SortingColumn>>) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let (schema, own) = (input.metadata.schema(), input.metadata.column_orders());
    let in_order = |column: usize, leaf: usize| {
        own.and_then(|own| own.get(leaf)) == target.orders.and_then(|orders| orders.get(column))
    };
    let seals = keys::seal_spills(target.is_encrypted);
    let mut memory = EncoderMemory::counted_by(target.counters).with_sealed_spills(seals);
    let columns: HashMap<usize, usize> =
        map.iter().enumerate().map(|(column, leaf)| (*leaf, column)).collect();
    for group in input.metadata.row_groups() {
        let mut chunks = Vec::new();
        for (column, leaf) in map.iter().copied().enumerate() {
            let has_other_levels = schema.column(leaf).max_def() != target.schema.column(column).max_def();
            let mut chunk = match has_other_levels {
                true => {
                    log.action(column, ColumnAction::Recoded("may be null in another file".to_owned()));
                    widened(input, group.index(), leaf, target, column, &mut memory)?
                }
                false => {
                    let copied = input.copy(group.index(), leaf, &CopySettings::default())?;
                    log.copied(column, &copied);
                    copied.chunk
                }
            };
            if !has_other_levels && !in_order(column, leaf) {
                log.note("bounds of columns that the first file orders in another way are left out");
                drop_bounds(&mut chunk);
            }
            chunk.metadata.path_in_schema = target.schema.column(column).path_in_schema();
            memory.keep(&mut chunk.bytes)?;
            chunks.push(chunk);
        }
        let sorting = group.sorting_columns().iter().map_while(|sorted| {
            let leaf = usize::try_from(sorted.column_idx).ok()?;
            let column_idx = i32::try_from(*columns.get(&leaf)?).ok()?;
            Some(SortingColumn { column_idx, ..sorted.clone() })
        });
        write(group.num_rows(), chunks, Some(sorting.collect()))?;
        memory.clear();
    }
    Ok(())
}

/// Encodes a chunk again for a column with other levels.
fn widened(
    input: &Input,
    row_group: usize,
    leaf: usize,
    target: CopyTarget<'_>,
    column: usize,
    memory: &mut EncoderMemory,
) -> Result<EncodedChunk, Failure> {
    let group = input.metadata.row_group(row_group);
    let chunk = group.column(leaf)?;
    let order = target.orders.and_then(|orders| orders.get(column));
    let properties = WriterProperties::builder()
        .set_total_order(order == Some(&ColumnOrder::Ieee754TotalOrder))
        .set_compat(input.compat)
        .set_bloom_filter_enabled(chunk.bloom_filter_offset().is_some())
        .build();
    let mut settings = properties.column_settings(target.schema.column(column))?;
    (settings.codec, settings.level) = (codec_of(chunk)?, None);
    let mut recoder = into_column(input, row_group, leaf, (target.schema, column));
    let (mut encoded, _) = recoder.chunk(group.num_rows(), &settings, memory)?;
    if !matches!(order, Some(ColumnOrder::TypeOrder | ColumnOrder::Ieee754TotalOrder)) {
        drop_bounds(&mut encoded);
    }
    encoded.metadata.key_value_metadata = chunk.meta_data()?.key_value_metadata;
    Ok(encoded)
}
