//! `index`: column indexes, offset indexes and bloom filters.

use super::column_chunks::Chunks;
use super::heading::title;
use crate::args::Files;
use crate::failure::{Failure, Outcome};
use crate::file_name;
use crate::output::Output;
use crate::table::Table;
use crate::value::{self, cell};
use clap::Args as ClapArgs;
use marquetry::OpenFile;
use marquetry::arrow::arrow_reader::ChunkReader;
use marquetry::errors::{Error, Limits};
use marquetry::format::{ColumnIndex, OffsetIndex};
use marquetry::schema::Leaf;
use marquetry_base::Printable;
use marquetry_core::page_index::{read_bloom_filter_header, read_column_index, read_offset_index};
use serde_json::{Value, json};

/// The arguments of `index`.
#[derive(Debug, ClapArgs)]
pub(crate) struct IndexArgs {
    #[command(flatten)]
    pub(crate) files: Files,
    /// Only this row group, counted from 0
    #[arg(long, short = 'g', value_name = "N")]
    pub(crate) row_group: Option<usize>,
    /// Only this column, and all below it: a dotted path
    #[arg(long, short, value_name = "PATH")]
    pub(crate) column: Option<String>,
}

pub(crate) fn run(args: &IndexArgs, output: &mut Output, outcome: &mut Outcome) -> Result<(), Failure> {
    let are_several = args.files.are_several();
    let mut damaged = Vec::new();
    args.files.for_each(outcome, |path, file| {
        let chunks = Chunks::new(file.metadata(), args.row_group, args.column.as_deref())?;
        if !output.is_json() && are_several {
            title(path, output)?;
        }
        let mut columns = Vec::new();
        for (row_group, column) in chunks.iter(file.metadata()) {
            let leaf = file.metadata().schema().column(column);
            let place = |error: Error| error.in_column(leaf.dotted().clone()).in_row_group(row_group);
            let (facts, failures) = facts(&file, row_group, column, leaf).map_err(place)?;
            // What is damaged does not hide the rest.
            damaged.extend(failures.into_iter().map(|error| (path.to_owned(), place(error))));
            match output.is_json() {
                true => columns.push(facts),
                false => print(row_group, leaf, &facts, output)?,
            }
        }
        if output.is_json() {
            output.json(&json!({"file": file_name::shown(path), "columns": columns}))?;
        }
        Ok(())
    })?;
    for (path, error) in damaged {
        outcome.report(Some(&path), &Failure::File(error));
    }
    Ok(())
}

/// What stands beside the pages of a chunk, and what of it cannot be read.
fn facts(
    file: &OpenFile,
    row_group: usize,
    column: usize,
    leaf: &Leaf,
) -> Result<(Value, Vec<Error>), Error> {
    let chunk = file.metadata().row_group(row_group).column(column)?;
    let (source, limits) = (file.clone().into_source()?, Limits::default());
    let mut failures = Vec::new();
    let column_index = kept(read_column_index(&*source, chunk, &limits), &mut failures);
    let offset_index = kept(read_offset_index(&*source, chunk, &limits), &mut failures);
    let bloom = kept(read_bloom_filter_header(&*source, chunk, &limits), &mut failures);
    let bloom = bloom.map(|header| json!({"offset": chunk.bloom_filter_offset(), "bytes": header.num_bytes}));
    let facts = json!({
        "row_group": row_group,
        "column": &**leaf.dotted(),
        "boundary_order": column_index.as_ref().map(|index| index.boundary_order.to_string()),
        "pages": pages(column_index.as_ref(), offset_index.as_ref(), leaf),
        "bloom_filter": bloom,
    });
    Ok((facts, failures))
}

fn kept<T>(read: Result<Option<T>, Error>, failures: &mut Vec<Error>) -> Option<T> {
    read.unwrap_or_else(|error| {
        failures.push(error);
        None
    })
}

/// What both indexes say of each page; `None` if there is neither.
fn pages(column: Option<&ColumnIndex>, offset: Option<&OffsetIndex>, leaf: &Leaf) -> Option<Vec<Value>> {
    let lens = [column.map(|index| index.null_pages.len()), offset.map(|index| index.page_locations.len())];
    let count = lens.into_iter().flatten().max()?;
    let page = |i: usize| {
        let location = offset.and_then(|index| index.page_locations.get(i));
        let is_null = column.and_then(|index| index.null_pages.get(i)).copied();
        // SPEC: the bounds of a page of nulls mean nothing.
        let bounds = column.filter(|_| is_null == Some(false));
        let bound = |values: Option<&Vec<Vec<u8>>>| {
            values.and_then(|values| values.get(i)).map(|v| value::json(v, leaf))
        };
        let count = |counts: Option<&Vec<i64>>| counts.and_then(|counts| counts.get(i)).copied();
        json!({
            "page": i,
            "offset": location.map(|location| location.offset),
            "size": location.map(|location| location.compressed_page_size),
            "first_row": location.map(|location| location.first_row_index),
            "null_page": is_null,
            "min": bound(bounds.map(|index| &index.min_values)),
            "max": bound(bounds.map(|index| &index.max_values)),
            "null_count": count(column.and_then(|index| index.null_counts.as_ref())),
            "nan_count": count(column.and_then(|index| index.nan_counts.as_ref())),
        })
    };
    Some((0..count).map(page).collect())
}

fn print(row_group: usize, leaf: &Leaf, facts: &Value, output: &mut Output) -> Result<(), Failure> {
    let mut about = Vec::new();
    match (&facts["pages"], &facts["boundary_order"]) {
        (Value::Null, _) => about.push("no page index".to_owned()),
        (_, Value::Null) => about.push("no column index".to_owned()),
        (_, order) => about.push(format!("boundaries {}", cell(order))),
    }
    match &facts["bloom_filter"] {
        Value::Null => about.push("no bloom filter".to_owned()),
        bloom => about.push(format!("bloom filter of {} bytes at byte {}", bloom["bytes"], bloom["offset"])),
    }
    output.line(format!(
        "row group {row_group}, column {}: {}",
        Printable(leaf.dotted()),
        about.join(", ")
    ))?;
    let Value::Array(pages) = &facts["pages"] else {
        return Ok(());
    };
    let headings: Vec<&str> = HEADINGS.iter().map(|(heading, _)| *heading).collect();
    let mut table = Table::new(&headings).indented();
    for page in pages {
        table.row(HEADINGS.iter().map(|(_, member)| crate::table::shortened(&cell(&page[member]), WIDEST)));
    }
    Ok(table.print(output)?)
}

/// Headings of the table, and the members of the JSON object that stand under them.
const HEADINGS: [(&str, &str); 8] = [
    (">page", "page"),
    (">offset", "offset"),
    (">size", "size"),
    (">first row", "first_row"),
    (">nulls", "null_count"),
    (">NaNs", "nan_count"),
    ("min", "min"),
    ("max", "max"),
];
/// Longer bounds are shortened.
const WIDEST: usize = 40;

/// What stands behind the options in `--help`.
pub(crate) const INDEX_HELP: &str = "\
JSON: {file, columns: [{row_group, column, boundary_order, pages: [{page, offset, size, first_row, null_page, min, max,
null_count, nan_count}], bloom_filter: {offset, bytes}}]}; `pages` is null without an offset or column index.

Examples:
  marquetry index wines.parquet
  marquetry index wines.parquet --column year";
