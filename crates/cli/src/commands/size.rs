//! `size`: bytes of each column.

use super::heading::title;
use crate::args::Files;
use crate::failure::{Failure, Outcome};
use crate::file_name;
use crate::output::Output;
use crate::table::{Table, percent};
use crate::unreferenced::{self, unreferenced};
use clap::Args as ClapArgs;
use marquetry::arrow::arrow_reader::ChunkReader;
use marquetry::file::metadata::{ColumnChunk, ParquetMetaData};
use serde_json::{Value, json};

/// The arguments of `size`.
#[derive(Debug, ClapArgs)]
pub(crate) struct SizeArgs {
    #[command(flatten)]
    pub(crate) files: Files,
}

/// What all chunks of a column take together.
struct Column {
    path: String,
    compressed: u64,
    uncompressed: u64,
    codecs: Vec<String>,
    encodings: Vec<String>,
}

pub(crate) fn run(args: &SizeArgs, output: &mut Output, outcome: &mut Outcome) -> Result<(), Failure> {
    let are_several = args.files.are_several();
    args.files.for_each(outcome, |path, file| {
        let columns = columns(file.metadata())?;
        let metadata = file.metadata().clone();
        let source = file.into_source()?;
        let unreferenced = unreferenced(&*source, &metadata);
        let compressed = columns.iter().map(|column| column.compressed).fold(0, u64::saturating_add);
        let uncompressed = columns.iter().map(|column| column.uncompressed).fold(0, u64::saturating_add);
        if output.is_json() {
            let columns: Vec<Value> = columns.iter().map(|column| column.json(compressed)).collect();
            return Ok(output.json(&json!({
                "file": file_name::shown(path),
                "compressed_size": compressed,
                "uncompressed_size": uncompressed,
                "size": source.len(),
                "unreferenced": unreferenced,
                "columns": columns,
            }))?);
        }
        if are_several {
            title(path, output)?;
        }
        let mut table =
            Table::new(&["column", ">compressed", ">uncompressed", ">ratio", ">share", "codec", "encodings"]);
        for column in &columns {
            table.row([
                column.path.clone(),
                column.compressed.to_string(),
                column.uncompressed.to_string(),
                ratio_cell(column.ratio()),
                percent(column.share(compressed)),
                column.codecs.join(", "),
                column.encodings.join(", "),
            ]);
        }
        let all = Column {
            path: "total".to_owned(),
            compressed,
            uncompressed,
            codecs: Vec::new(),
            encodings: Vec::new(),
        };
        let share = percent(all.share(compressed));
        let sizes = [compressed.to_string(), uncompressed.to_string(), ratio_cell(all.ratio()), share];
        table.row(std::iter::once(all.path).chain(sizes).chain([String::new(), String::new()]));
        table.print(output)?;
        match unreferenced {
            Some(bytes) if bytes > 0 => Ok(output.line(unreferenced::line(bytes, source.len()))?),
            _ => Ok(()),
        }
    })
}

fn columns(metadata: &ParquetMetaData) -> Result<Vec<Column>, Failure> {
    let leaves = metadata.schema().columns();
    let mut columns: Vec<Column> = leaves.iter().map(|leaf| Column::new(leaf.dotted())).collect();
    for row_group in metadata.row_groups() {
        for (column, chunk) in columns.iter_mut().zip(row_group.columns()) {
            column.add(chunk?);
        }
    }
    columns.sort_by_key(|column| std::cmp::Reverse(column.compressed));
    Ok(columns)
}

impl Column {
    fn new(path: &str) -> Self {
        Column {
            path: path.to_owned(),
            compressed: 0,
            uncompressed: 0,
            codecs: Vec::new(),
            encodings: Vec::new(),
        }
    }

    fn add(&mut self, chunk: ColumnChunk<'_>) {
        // Sizes that make no sense count as nothing.
        let size = |size: i64| u64::try_from(size).unwrap_or(0);
        self.compressed = self.compressed.saturating_add(size(chunk.compressed_size()));
        self.uncompressed = self.uncompressed.saturating_add(size(chunk.uncompressed_size()));
        push_new(&mut self.codecs, chunk.compression().to_string());
        for encoding in chunk.encodings() {
            push_new(&mut self.encodings, encoding.to_string());
        }
    }

    /// Uncompressed by compressed; `None` if nothing is stored.
    fn ratio(&self) -> Option<f64> {
        (self.compressed > 0).then(|| self.uncompressed as f64 / self.compressed as f64)
    }

    /// Which part of `all` bytes this column takes.
    fn share(&self, all: u64) -> Option<f64> {
        (all > 0).then(|| self.compressed as f64 / all as f64)
    }

    fn json(&self, all: u64) -> Value {
        json!({
            "column": self.path,
            "compressed_size": self.compressed,
            "uncompressed_size": self.uncompressed,
            "ratio": self.ratio(),
            "share": self.share(all),
            "codecs": self.codecs,
            "encodings": self.encodings,
        })
    }
}

fn ratio_cell(ratio: Option<f64>) -> String {
    ratio.map(|ratio| format!("{ratio:.2}")).unwrap_or_default()
}

fn push_new(list: &mut Vec<String>, item: String) {
    if !list.contains(&item) {
        list.push(item);
    }
}

/// What stands behind the options in `--help`.
pub(crate) const SIZE_HELP: &str = "\
JSON: {file, compressed_size, uncompressed_size, size, unreferenced, columns: [{column, compressed_size, uncompressed_size, ratio, share,
codecs, encodings}]}; `ratio` is uncompressed by compressed, `share` is the part of the file's compressed bytes; `size`
is that of the file, `unreferenced` are bytes that nothing in it refers to, null if the footer does not tell.

Examples:
  marquetry size wines.parquet";
