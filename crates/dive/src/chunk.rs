//! The footer's metadata of a column chunk, and the places of its parts.

use crate::bloom_blocks::BloomBlocks;
use crate::index_pages::IndexPages;
use crate::opened_file::OpenedFile;
use crate::pages::Pages;
use crate::rows::Rows;
use crate::screen::Screen;
use crate::text::shown;
use marquetry_base::Result;
use marquetry_core::metadata::ColumnChunk;
use marquetry_inspect::{ShownBytes, ShownCount};
use std::rc::Rc;

/// A column chunk.
pub(crate) struct Chunk {
    file: Rc<OpenedFile>,
    row_group: usize,
    column: usize,
    lines: Vec<Line>,
}

struct Line {
    name: &'static str,
    value: String,
    about: &'static str,
    byte: Option<u64>,
    /// What Enter leads to.
    below: Option<Below>,
}

/// What Enter leads to on a line.
#[derive(Clone, Copy)]
enum Below {
    Pages,
    Rows,
    Index,
    BloomFilter,
}

impl Chunk {
    pub(crate) fn new(file: Rc<OpenedFile>, row_group: usize, column: usize) -> Self {
        let mut lines = vec![
            Line {
                name: "pages",
                value: "Enter shows them".to_owned(),
                about: "A chunk is cut into pages: perhaps a dictionary first, then data. README.md, Data Pages.",
                byte: None,
                below: Some(Below::Pages),
            },
            Line {
                name: "rows",
                value: "Enter shows them".to_owned(),
                about: "The values of this column, row by row.",
                byte: None,
                below: Some(Below::Rows),
            },
        ];
        if let Err(error) = facts(&file, row_group, column, &mut lines) {
            lines.push(Line {
                name: "!",
                value: shown(&error.to_string()),
                about: "This chunk cannot be read.",
                byte: None,
                below: None,
            });
        }
        Chunk { file, row_group, column, lines }
    }
}

fn facts(file: &OpenedFile, row_group: usize, column: usize, lines: &mut Vec<Line>) -> Result<()> {
    let chunk = file.chunk(row_group, column)?;
    let leaf = file.metadata().schema().column(column);
    let mut fact = fact_in(lines);
    let bytes = |n: i64| {
        u64::try_from(n).map_or_else(|_| n.to_string(), |n| format!("{} ({})", ShownCount(n), ShownBytes(n)))
    };
    let at = |n: Option<i64>| n.and_then(|n| u64::try_from(n).ok());
    fact(
        "type",
        leaf.physical().to_string(),
        "How values are stored. parquet.thrift, ColumnMetaData field 1.",
        None,
    );
    fact(
        "meaning",
        leaf.logical().map(ToString::to_string).unwrap_or_else(|| "-".to_owned()),
        "What the stored values mean. LogicalTypes.md.",
        None,
    );
    fact(
        "encodings",
        chunk.encodings().into_iter().map(|encoding| encoding.to_string()).collect::<Vec<_>>().join(" "),
        "All that pages and levels of the chunk use. Encodings.md; parquet.thrift, ColumnMetaData field 2.",
        None,
    );
    fact(
        "codec",
        chunk.compression().to_string(),
        "How pages are compressed. Compression.md; parquet.thrift, ColumnMetaData field 4.",
        None,
    );
    fact(
        "values",
        chunk.num_values().to_string(),
        "Entries, with nulls, and with empty and absent lists. parquet.thrift, ColumnMetaData field 5.",
        None,
    );
    fact(
        "uncompressed",
        bytes(chunk.uncompressed_size()),
        "Bytes of all pages when they are decompressed, headers included. parquet.thrift, ColumnMetaData field 6.",
        None,
    );
    fact(
        "compressed",
        bytes(chunk.compressed_size()),
        "Bytes of all pages in the file, headers included. parquet.thrift, ColumnMetaData field 7.",
        None,
    );
    fact(
        "dictionary page at",
        chunk.dictionary_page_offset().map_or("no dictionary".to_owned(), |at| at.to_string()),
        "Distinct values, to which data pages have indices. Encodings.md, Dictionary Encoding; parquet.thrift, ColumnMetaData field 11.",
        at(chunk.dictionary_page_offset()),
    );
    fact(
        "data page at",
        chunk.data_page_offset().to_string(),
        "The first data page. parquet.thrift, ColumnMetaData field 9.",
        at(Some(chunk.data_page_offset())),
    );
    drop(fact);
    statistics_facts(chunk, lines);
    index_facts(chunk, lines);
    Ok(())
}

/// Adds the counts in the statistics.
fn statistics_facts(chunk: ColumnChunk<'_>, lines: &mut Vec<Line>) {
    let mut fact = fact_in(lines);
    let Some(statistics) = chunk.statistics() else {
        let about = "Without bounds nothing of the chunk can be skipped. parquet.thrift, Statistics.";
        return fact("statistics", "none".to_owned(), about, None);
    };
    if let Some(nulls) = statistics.null_count {
        fact("nulls", nulls.to_string(), "parquet.thrift, Statistics field 3.", None);
    }
    if let Some(distinct) = statistics.distinct_count {
        fact("distinct", distinct.to_string(), "parquet.thrift, Statistics field 4.", None);
    }
}

/// Returns a function that adds a line: its name, value, meaning, and the offset of its bytes.
fn fact_in(lines: &mut Vec<Line>) -> impl FnMut(&'static str, String, &'static str, Option<u64>) {
    |name, value, about, byte| {
        let below = match name {
            "column index" | "offset index" => byte.map(|_| Below::Index),
            "bloom filter" => byte.map(|_| Below::BloomFilter),
            _ => None,
        };
        lines.push(Line { name, value: shown(&value), about, byte, below });
    }
}

/// Adds the places of a chunk's indexes.
fn index_facts(chunk: ColumnChunk<'_>, lines: &mut Vec<Line>) {
    let mut fact = fact_in(lines);
    let range = |range: Option<std::ops::Range<u64>>| {
        range.map_or("none".to_owned(), |range| {
            format!("from byte {} on, {} bytes", range.start, range.end - range.start)
        })
    };
    fact(
        "column index",
        range(chunk.column_index_range()),
        "Bounds of each page, by which pages are skipped. PageIndex.md.",
        chunk.column_index_range().map(|range| range.start),
    );
    fact(
        "offset index",
        range(chunk.offset_index_range()),
        "Where each page begins, and with which row. PageIndex.md.",
        chunk.offset_index_range().map(|range| range.start),
    );
    fact(
        "bloom filter",
        chunk.bloom_filter_offset().map_or("none".to_owned(), |at| format!("from byte {at} on")),
        "Tells values that are not in the chunk. BloomFilter.md.",
        chunk.bloom_filter_offset(),
    );
}

impl Screen for Chunk {
    fn title(&self) -> String {
        format!("{} of row group {}", self.file.column_name(self.column), self.row_group)
    }

    fn headings(&self) -> Vec<String> {
        ["what", "value"].map(str::to_owned).to_vec()
    }

    fn len(&self) -> (usize, bool) {
        (self.lines.len(), true)
    }

    fn row(&mut self, index: usize) -> Vec<String> {
        vec![self.lines[index].name.to_owned(), self.lines[index].value.clone()]
    }

    fn about(&mut self, index: usize) -> String {
        self.lines[index].about.to_owned()
    }

    fn can_enter(&self, index: usize) -> bool {
        self.lines[index].below.is_some()
    }

    fn enter(&mut self, index: usize) -> Option<Box<dyn Screen>> {
        let (file, row_group, column) = (self.file.clone(), self.row_group, self.column);
        Some(match self.lines[index].below? {
            Below::Pages => Box::new(Pages::new(file, row_group, column)),
            Below::Rows => Box::new(Rows::of_column(file, row_group, column)),
            Below::Index => Box::new(IndexPages::new(file, row_group, column)),
            Below::BloomFilter => Box::new(BloomBlocks::new(file, row_group, column)),
        })
    }

    fn byte(&mut self, index: usize) -> Option<u64> {
        self.lines[index].byte
    }
}
