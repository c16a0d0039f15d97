//! `dictionary`: the entries of a column's dictionaries.

use super::column_chunks::{Chunks, page_reader};
use super::heading::title;
use crate::args::Files;
use crate::failure::{Failure, Outcome};
use crate::file_name;
use crate::output::Output;
use crate::table::Table;
use crate::value;
use clap::Args as ClapArgs;
use marquetry::OpenFile;
use marquetry::errors::Error;
use marquetry::file::page::LocatedHeader;
use marquetry::schema::Leaf;
use serde_json::{Value, json};

/// The arguments of `dictionary`.
#[derive(Debug, ClapArgs)]
pub(crate) struct DictionaryArgs {
    #[command(flatten)]
    pub(crate) files: Files,
    /// The column: a dotted path
    #[arg(long, short, value_name = "PATH")]
    pub(crate) column: String,
    /// Only this row group, counted from 0
    #[arg(long, short = 'g', value_name = "N")]
    pub(crate) row_group: Option<usize>,
}

pub(crate) fn run(args: &DictionaryArgs, output: &mut Output, outcome: &mut Outcome) -> Result<(), Failure> {
    let are_several = args.files.are_several();
    args.files.for_each(outcome, |path, file| {
        let chunks = Chunks::new(file.metadata(), args.row_group, Some(&args.column))?;
        let column = only_column(&chunks, &file)?;
        let leaf = file.metadata().schema().column(column);
        if !output.is_json() && are_several {
            title(path, output)?;
        }
        let mut dictionaries = Vec::new();
        for row_group in chunks.row_groups.clone() {
            let place = |error: Error| error.in_column(leaf.dotted().clone()).in_row_group(row_group);
            let Some(entries) = entries(&file, row_group, column, leaf).map_err(place)? else {
                continue;
            };
            if output.is_json() {
                dictionaries.push(json!({"row_group": row_group, "entries": entries}));
                continue;
            }
            output.line(format!("row group {row_group}: {} entries", entries.len()))?;
            let mut table = Table::new(&[">key", "entry"]).indented();
            for (key, entry) in entries.iter().enumerate() {
                table.row([key.to_string(), value::cell(entry)]);
            }
            table.print(output)?;
        }
        if output.is_json() {
            let file = file_name::shown(path);
            output.json(&json!({"file": file, "column": &**leaf.dotted(), "dictionaries": dictionaries}))?;
        }
        Ok(())
    })
}

fn only_column(chunks: &Chunks, file: &OpenFile) -> Result<usize, Failure> {
    let schema = file.metadata().schema();
    let columns: Vec<usize> = (0..schema.num_columns()).filter(|i| chunks.mask.leaf_included(*i)).collect();
    match columns.as_slice() {
        [column] => Ok(*column),
        _ => {
            let paths: Vec<&str> = columns.iter().take(10).map(|i| &**schema.column(*i).dotted()).collect();
            Err(Failure::Usage(format!("--column is a group; its columns are {}", paths.join(", "))))
        }
    }
}

/// The entries of a chunk's dictionary; `None` if it has none.
fn entries(
    file: &OpenFile,
    row_group: usize,
    column: usize,
    leaf: &Leaf,
) -> Result<Option<Vec<Value>>, Error> {
    let chunk = file.metadata().row_group(row_group).column(column)?;
    let mut pages = page_reader(file, chunk, true)?;
    // SPEC: a dictionary page is the first of its chunk.
    let Some(first) = pages.next_header()?.filter(LocatedHeader::is_dictionary) else {
        return Ok(None);
    };
    let page = pages.dictionary_page(&first)?;
    let dictionary = pages.dictionary(&page, usize::MAX)?;
    Ok(Some(value::all(dictionary.values(), leaf).collect()))
}

/// What stands behind the options in `--help`.
pub(crate) const DICTIONARY_HELP: &str = "\
JSON: {file, column, dictionaries: [{row_group, entries: [..]}]}; row groups without a dictionary are left out.

Examples:
  marquetry dictionary wines.parquet --column country";
