//! `merge`: the row groups of several files in one.

use crate::args::Files;
use crate::failure::{Failure, Outcome};
use crate::output::Output;
use crate::rewrite::{
    Footer, Input, NewFile, Room, Same, Tally, column_orders, leaf_map, print_report, refuse_existing,
    report_failure,
};
use clap::Args as ClapArgs;
use marquetry::errors::Error;
use marquetry::format::{ColumnOrder, SortingColumn};
use marquetry_core::write::EncodedChunk;
use marquetry_core::write::copy::{CopySettings, forget_bounds};
use std::path::{Path, PathBuf};

#[derive(Debug, ClapArgs)]
pub(crate) struct MergeArgs {
    /// The Parquet files, and last the file to write
    #[arg(value_name = "IN... OUT", required = true, num_args = 2..)]
    files: Vec<PathBuf>,
    /// Replace OUT if it is there
    #[arg(long)]
    overwrite: bool,
    /// Columns may stand in another order and have other field ids
    #[arg(long)]
    compatible: bool,
}

pub(crate) const MERGE_HELP: &str = "\
Row groups are copied in the order of the files; nothing is decoded. All files must have the same schema: names, types,
repetition, annotations and field ids. With --compatible, columns of the same path are the same column wherever they
stand; the first file's order and ids are kept. A column that is required in one file and optional in another cannot be
copied: rewrite one of them through convert.

Key-value metadata of all files is kept; where values differ, the first file's are. The Arrow schema is kept if all files
have the same. Patterns with *, ? and [] are expanded where the shell did not, in alphabetical order.

Row groups keep their size. To join small ones, follow with: marquetry rewrite OUT OUT2 --row-group-rows 1000000

The report is that of `marquetry rewrite --help`.

Examples:
  marquetry merge 2025.parquet 2026.parquet both.parquet
  marquetry merge 'parts/*.parquet' whole.parquet --overwrite";

pub(crate) fn run(args: &MergeArgs, output: &mut Output, outcome: &mut Outcome) -> Result<(), Failure> {
    let Some((out, files)) = args.files.split_last() else {
        return Err(Failure::Usage("no files".to_owned()));
    };
    let files = Files { files: files.to_vec() }.expanded(outcome);
    if files.is_empty() {
        // Each pattern without files was reported.
        return Ok(());
    }
    merge(args, &files, out, output).or_else(|failure| report_failure(out, failure, outcome))
}

fn merge(args: &MergeArgs, files: &[PathBuf], out: &Path, output: &mut Output) -> Result<(), Failure> {
    if crate::remote::is_url(out) {
        return Err(Failure::Usage(crate::remote::ONLY_READ.to_owned()));
    }
    refuse_existing(out, files.iter().map(PathBuf::as_path), args.overwrite)?;
    let inputs = files.iter().map(|file| Input::open(file)).collect::<Result<Vec<_>, Error>>()?;
    let schema = inputs[0].metadata.schema();
    let same = if args.compatible { Same::InPages } else { Same::Exactly };
    let map = |input: &Input| {
        let other = input.metadata.schema();
        leaf_map(schema, other, same).map_err(|error| {
            let would_do = !args.compatible && leaf_map(schema, other, Same::InPages).is_ok();
            let hint = if would_do { "; --compatible would take it" } else { "" };
            Error::argument(format!("{}{hint}", error.message())).in_file(input.name())
        })
    };
    let maps = inputs.iter().map(map).collect::<Result<Vec<_>, Error>>()?;
    let mut tally = Tally::new(schema.num_columns());
    let orders = column_orders(&inputs, &maps);
    let footer = Footer::union(&inputs, &mut tally);
    let elements = inputs[0].metadata.head().schema.clone();
    let mut file = NewFile::create(out, elements, footer.settings(orders.clone()))?;
    for (input, map) in inputs.iter().zip(&maps) {
        copy_row_groups(input, map, orders.as_deref(), &mut tally, |rows, chunks, sorting| {
            file.write_row_group(rows, chunks, sorting)
        })?;
    }
    let (metadata, size) = file.finish()?;
    let before = |column: usize| {
        inputs.iter().zip(&maps).map(|(input, map)| input.compressed_size(map[column])).sum::<u64>()
    };
    let before: Vec<u64> = (0..schema.num_columns()).map(before).collect();
    print_report(out, &metadata, size, &before, &tally, output)
}

/// Copies the row groups of a file, and has each written: its number of rows, its chunks, and how it is sorted. `map` says
/// which of its columns each new one is, `orders` how the new file orders bounds.
pub(super) fn copy_row_groups(
    input: &Input,
    map: &[usize],
    orders: Option<&[ColumnOrder]>,
    tally: &mut Tally,
    mut write: impl FnMut(u64, Vec<EncodedChunk>, Option<Vec<SortingColumn>>) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let schema = input.metadata.schema();
    let own = input.metadata.column_orders();
    let in_order = |column: usize, leaf: usize| {
        own.and_then(|own| own.get(leaf)) == orders.and_then(|orders| orders.get(column))
    };
    let mut room = Room::default();
    for group in input.metadata.row_groups() {
        let mut chunks = Vec::new();
        for (column, leaf) in map.iter().copied().enumerate() {
            let copied = input.copy(group.index(), leaf, &CopySettings::default())?;
            tally.copied(column, &copied);
            let mut chunk = copied.chunk;
            if !in_order(column, leaf) {
                tally.note("bounds of columns that the first file orders in another way are left out");
                forget_bounds(&mut chunk);
            }
            chunk.metadata.path_in_schema = schema.column(leaf).path_in_schema();
            room.keep(&mut chunk.bytes)?;
            chunks.push(chunk);
        }
        let sorting = group.sorting_columns().iter().map_while(|sorted| {
            let leaf = usize::try_from(sorted.column_idx).ok()?;
            let column = map.iter().position(|own| *own == leaf)?;
            let column_idx = i32::try_from(column).ok()?;
            Some(SortingColumn { column_idx, ..sorted.clone() })
        });
        write(group.num_rows(), chunks, Some(sorting.collect()))?;
        room.clear();
    }
    Ok(())
}
