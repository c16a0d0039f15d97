//! `dictionary`: the entries of a column's dictionaries.

use super::column_chunks::{Chunks, page_reader};
use super::heading::title;
use crate::args::Files;
use crate::failure::{Failure, Outcome};
use crate::file_name;
use crate::output::Output;
use crate::plain_value;
use crate::text_table::TextTable;
use clap::Args as ClapArgs;
use marquetry::OpenFile;
use marquetry::errors::Error;
use marquetry::file::page::LocatedHeader;
use marquetry::internals::encoding::dictionary::Dictionary;

/// The arguments of `dictionary`.
#[derive(Debug, ClapArgs)]
pub(crate) struct DictionaryArgs {
    #[command(flatten)]
    pub(crate) files: Files,
    /// The column: a dotted path
    #[arg(long, short, alias = "columns", value_name = "PATH")]
    pub(crate) column: String,
    /// Only this row group, counted from 0
    #[arg(long, short = 'g', value_name = "N")]
    pub(crate) row_group: Option<usize>,
}

pub(crate) fn run(args: &DictionaryArgs, output: &mut Output, outcome: &mut Outcome) -> Result<(), Failure> {
    let are_several = args.files.are_several();
    args.files.for_each(outcome, |path, file| {
        let chunks = Chunks::new(file.metadata(), args.row_group, Some(std::slice::from_ref(&args.column)))?;
        let column = only_column(&chunks, &file)?;
        let leaf = file.metadata().schema().column(column);
        let dictionaries = || {
            chunks.row_groups.clone().filter_map(|row_group| {
                let place = |error: Error| error.in_column(leaf.dotted().clone()).in_row_group(row_group);
                let dictionary = dictionary(&file, row_group, column).map_err(place).transpose()?;
                Some(dictionary.map(|dictionary| (row_group, dictionary)))
            })
        };
        if output.is_json() {
            return output.json_object(|object| {
                object.member("file", &file_name::shown(path))?;
                object.member("column", &**leaf.dotted())?;
                object.list("dictionaries", |list| {
                    dictionaries().try_for_each(|found| {
                        let (row_group, dictionary) = found?;
                        list.object(|object| {
                            object.member("row_group", &row_group)?;
                            object.list("entries", |list| {
                                plain_value::all(dictionary.values(), leaf).try_for_each(|entry| {
                                    Ok(list.written_item(|output| entry.write_json(output))?)
                                })
                            })
                        })
                    })
                })
            });
        }
        if are_several {
            title(path, output)?;
        }
        let mut is_any = false;
        dictionaries().try_for_each(|found| {
            let (row_group, dictionary) = found?;
            is_any = true;
            output.line(format!("row group {row_group}: {} entries", dictionary.values().len()))?;
            let mut table = TextTable::new(&[">key", "entry"]).indented().fitted();
            for (key, entry) in plain_value::all(dictionary.values(), leaf).enumerate() {
                table.stream([key.to_string(), entry.cell(WIDEST)], output)?;
            }
            Ok::<_, Failure>(table.print(output)?)
        })?;
        if !is_any {
            output.line("no row group has a dictionary")?;
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

/// The dictionary of a column chunk; `None` if it has none.
fn dictionary(file: &OpenFile, row_group: usize, column: usize) -> Result<Option<Dictionary>, Error> {
    let chunk = file.metadata().row_group(row_group).column(column)?;
    let mut pages = page_reader(file, chunk, true)?;
    // SPEC: a dictionary page is the first of its chunk.
    let Some(first) = pages.next_header()?.filter(LocatedHeader::is_dictionary) else {
        return Ok(None);
    };
    let page = pages.dictionary_page(&first)?;
    pages.dictionary(&page, usize::MAX).map(Some)
}

/// Longer entries are shortened.
const WIDEST: usize = 1_000;

/// Text after the options in `--help`.
pub(crate) const DICTIONARY_HELP: &str = "\
The table shows the first 1,000 characters of an entry, JSON shows all.

JSON: {file, column, dictionaries: [{row_group, entries: [..]}]}, without row groups that have no dictionary.

Examples:
  marquetry dictionary wines.parquet --column country";
