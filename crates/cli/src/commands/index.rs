//! `index`: column indexes, offset indexes and bloom filters.

use super::column_chunks::ChunkArgs;
use super::damaged::Damaged;
use super::heading::title;
use crate::args::Files;
use crate::failure::{Failure, Outcome};
use crate::file_name;
use crate::json_stream::JsonList;
use crate::output::Output;
use crate::plain_value::{self, cell};
use crate::text_table::{TextTable, shortened};
use clap::Args as ClapArgs;
use marquetry::OpenFile;
use marquetry::arrow::arrow_reader::ChunkReader;
use marquetry::errors::{Error, Limits};
use marquetry::internals::format::{ColumnIndex, OffsetIndex};
use marquetry::schema::Leaf;
use marquetry_base::Printable;
use marquetry_core::page_index::{read_bloom_filter_header, read_column_index, read_offset_index};
use serde_json::{Value, json};

/// The arguments of `index`.
#[derive(Debug, ClapArgs)]
pub(crate) struct IndexArgs {
    #[command(flatten)]
    pub(crate) files: Files,
    #[command(flatten)]
    pub(crate) chunks: ChunkArgs,
}

pub(crate) fn run(args: &IndexArgs, output: &mut Output, outcome: &mut Outcome) -> Result<(), Failure> {
    let are_several = args.files.are_several();
    let mut damaged = Damaged::default();
    args.files.for_each(outcome, |path, file| {
        let chunks = args.chunks.chunks(file.metadata())?;
        let schema = file.metadata().schema();
        let mut facts = |row_group: usize, column: usize| {
            let name = schema.column(column).dotted();
            let place = |error: Error| error.in_column(name.clone()).in_row_group(row_group);
            let (facts, failures) = Facts::of(&file, row_group, column).map_err(place)?;
            // Damaged parts do not hide the rest.
            failures.into_iter().for_each(|error| damaged.push(path, place(error)));
            Ok::<_, Failure>(facts)
        };
        if output.is_json() {
            return output.json_object(|object| {
                object.member("file", &file_name::shown(path))?;
                object.list("columns", |list| {
                    chunks.iter(file.metadata()).try_for_each(|(row_group, column)| {
                        facts(row_group, column)?.write_json(row_group, schema.column(column), list)
                    })
                })
            });
        }
        if are_several {
            title(path, output)?;
        }
        chunks.iter(file.metadata()).try_for_each(|(row_group, column)| {
            facts(row_group, column)?.print(row_group, schema.column(column), output)
        })
    })?;
    damaged.report(outcome);
    Ok(())
}

/// The indexes and the bloom filter of a column chunk.
struct Facts {
    column_index: Option<ColumnIndex>,
    offset_index: Option<OffsetIndex>,
    /// Offset and size of the bloom filter.
    bloom_filter: Option<Value>,
    /// Whether the column is encrypted and its key is missing, so that nothing is known of it.
    is_sealed: bool,
}

impl Facts {
    /// Reads the indexes of a chunk, and returns errors of those that cannot be read.
    fn of(file: &OpenFile, row_group: usize, column: usize) -> Result<(Self, Vec<Error>), Error> {
        let chunk = file.metadata().row_group(row_group).column(column)?;
        let (source, limits) = (file.clone().into_source()?, Limits::default());
        let mut failures = Vec::new();
        let column_index = kept(read_column_index(&*source, chunk, &limits), &mut failures);
        let offset_index = kept(read_offset_index(&*source, chunk, &limits), &mut failures);
        let bloom = kept(read_bloom_filter_header(&*source, chunk, &limits), &mut failures);
        let bloom_filter =
            bloom.map(|header| json!({"offset": chunk.bloom_filter_offset(), "bytes": header.num_bytes}));
        let is_sealed = chunk.lacks_key();
        Ok((Facts { column_index, offset_index, bloom_filter, is_sealed }, failures))
    }

    fn boundary_order(&self) -> Option<String> {
        self.column_index.as_ref().map(|index| index.boundary_order.to_string())
    }

    /// The number of pages in the indexes; `None` if there are none.
    fn num_pages(&self) -> Option<usize> {
        let nulls = self.column_index.as_ref().map(|index| index.null_pages.len());
        let locations = self.offset_index.as_ref().map(|index| index.page_locations.len());
        nulls.max(locations)
    }

    /// The entries of both indexes for a page.
    fn page(&self, i: usize, leaf: &Leaf) -> Value {
        let column = self.column_index.as_ref();
        let location = self.offset_index.as_ref().and_then(|index| index.page_locations.get(i));
        let is_null = column.and_then(|index| index.null_pages.get(i)).copied();
        // SPEC: the bounds of a page of nulls mean nothing.
        let bounds = column.filter(|_| is_null == Some(false));
        let bound = |values: Option<&Vec<Vec<u8>>>| {
            values.and_then(|values| values.get(i)).map(|v| plain_value::json(v, leaf))
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
    }

    fn write_json(&self, row_group: usize, leaf: &Leaf, list: &mut JsonList<'_>) -> Result<(), Failure> {
        list.object(|object| {
            object.member("row_group", &row_group)?;
            object.member("column", &**leaf.dotted())?;
            object.member("encrypted", &self.is_sealed)?;
            object.member("boundary_order", &self.boundary_order())?;
            match self.num_pages() {
                None => object.member("pages", &Value::Null)?,
                Some(pages) => object
                    .list("pages", |list| (0..pages).try_for_each(|i| Ok(list.item(&self.page(i, leaf))?)))?,
            }
            Ok(object.member("bloom_filter", &self.bloom_filter)?)
        })
    }

    fn print(&self, row_group: usize, leaf: &Leaf, output: &mut Output) -> Result<(), Failure> {
        let place = format!("row group {row_group}, column {}", Printable(leaf.dotted()));
        if self.is_sealed && self.num_pages().is_none() && self.bloom_filter.is_none() {
            return Ok(output.line(format!("{place}: encrypted, and no key opens it"))?);
        }
        let mut about = vec![match (self.num_pages(), self.boundary_order()) {
            (None, _) => "no page index".to_owned(),
            (_, None) => "no column index".to_owned(),
            (_, Some(order)) => format!("boundaries {order}"),
        }];
        about.push(match &self.bloom_filter {
            None => "no bloom filter".to_owned(),
            Some(bloom) => format!("bloom filter of {} bytes at byte {}", bloom["bytes"], bloom["offset"]),
        });
        output.line(format!("{place}: {}", about.join(", ")))?;
        let Some(pages) = self.num_pages() else { return Ok(()) };
        let mut table = TextTable::new(&HEADINGS.map(|(heading, _)| heading)).indented().fitted();
        for i in 0..pages {
            let page = self.page(i, leaf);
            table.stream(HEADINGS.map(|(_, member)| shortened(&cell(&page[member]), WIDEST)), output)?;
        }
        Ok(table.print(output)?)
    }
}

fn kept<T>(read: Result<Option<T>, Error>, failures: &mut Vec<Error>) -> Option<T> {
    read.unwrap_or_else(|error| {
        failures.push(error);
        None
    })
}

/// Headings of the table, and the JSON members below them.
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

/// Text after the options in `--help`.
pub(crate) const INDEX_HELP: &str = "\
JSON: {file, columns: [{row_group, column, encrypted, boundary_order, pages: [{page, offset, size, first_row,
null_page, min, max, null_count, nan_count}], bloom_filter: {offset, bytes}}]}; `pages` is null without an offset
index or a column index. `encrypted` is true for a column whose key is missing: what it has is unknown.

Examples:
  marquetry index wines.parquet
  marquetry index wines.parquet --columns year";
