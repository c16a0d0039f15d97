//! `size`: bytes of each column.

use super::heading::title;
use crate::args::Files;
use crate::failure::{Failure, Outcome};
use crate::file_name;
use crate::json_stream::JsonObject;
use crate::output::Output;
use crate::text_table::{TextTable, percent};
use crate::unreferenced::{self, unreferenced};
use clap::Args as ClapArgs;
use marquetry::arrow::arrow_reader::ChunkReader;
use marquetry::file::metadata::{ColumnChunk, ParquetMetaData};
use marquetry::schema::Leaf;

/// The arguments of `size`.
#[derive(Debug, ClapArgs)]
pub(crate) struct SizeArgs {
    #[command(flatten)]
    pub(crate) files: Files,
}

/// What all chunks of a column, or of all columns, take together.
#[derive(Default)]
struct Sizes {
    compressed: u64,
    uncompressed: u64,
    codecs: Vec<String>,
    encodings: Vec<String>,
}

pub(crate) fn run(args: &SizeArgs, output: &mut Output, outcome: &mut Outcome) -> Result<(), Failure> {
    let are_several = args.files.are_several();
    args.files.for_each(outcome, |path, file| {
        let metadata = file.metadata().clone();
        let columns = columns(&metadata)?;
        let source = file.into_source()?;
        let unreferenced = unreferenced(&*source, &metadata);
        let mut all = Sizes::default();
        for (_, sizes) in &columns {
            all.add(sizes.compressed, sizes.uncompressed);
        }
        if output.is_json() {
            return output.json_object(|object| {
                object.member("file", &file_name::shown(path))?;
                object.member("compressed_size", &all.compressed)?;
                object.member("uncompressed_size", &all.uncompressed)?;
                object.member("size", &source.len())?;
                object.member("unreferenced", &unreferenced)?;
                object.list("columns", |list| {
                    columns
                        .iter()
                        .try_for_each(|(leaf, sizes)| list.object(|item| sizes.write_json(leaf, &all, item)))
                })
            });
        }
        if are_several {
            title(path, output)?;
        }
        let mut table = TextTable::new(&[
            "column",
            ">compressed",
            ">uncompressed",
            ">ratio",
            ">share",
            "codec",
            "encodings",
        ]);
        for (leaf, sizes) in &columns {
            table.stream(sizes.cells(leaf.dotted(), &all), output)?;
        }
        table.row(all.cells("total", &all));
        table.print(output)?;
        match unreferenced {
            Some(bytes) if bytes > 0 => Ok(output.line(unreferenced::line(bytes, source.len()))?),
            _ => Ok(()),
        }
    })
}

/// The columns, largest first.
fn columns(metadata: &ParquetMetaData) -> Result<Vec<(&Leaf, Sizes)>, Failure> {
    let leaves = metadata.schema().columns();
    let mut columns: Vec<_> = leaves.iter().map(|leaf| (leaf, Sizes::default())).collect();
    for row_group in metadata.row_groups() {
        for ((_, sizes), chunk) in columns.iter_mut().zip(row_group.columns()) {
            sizes.add_chunk(chunk?);
        }
    }
    columns.sort_by_key(|(_, sizes)| std::cmp::Reverse(sizes.compressed));
    Ok(columns)
}

impl Sizes {
    fn add(&mut self, compressed: u64, uncompressed: u64) {
        self.compressed = self.compressed.saturating_add(compressed);
        self.uncompressed = self.uncompressed.saturating_add(uncompressed);
    }

    fn add_chunk(&mut self, chunk: ColumnChunk<'_>) {
        // Sizes that make no sense count as nothing.
        let size = |size: i64| u64::try_from(size).unwrap_or(0);
        self.add(size(chunk.compressed_size()), size(chunk.uncompressed_size()));
        push_new(&mut self.codecs, chunk.compression().to_string());
        for encoding in chunk.encodings() {
            push_new(&mut self.encodings, encoding.to_string());
        }
    }

    /// Uncompressed by compressed; `None` if nothing is stored.
    fn ratio(&self) -> Option<f64> {
        (self.compressed > 0).then(|| self.uncompressed as f64 / self.compressed as f64)
    }

    /// Which part this is of all.
    fn share(&self, all: &Sizes) -> Option<f64> {
        (all.compressed > 0).then(|| self.compressed as f64 / all.compressed as f64)
    }

    fn cells(&self, name: &str, all: &Sizes) -> [String; 7] {
        [
            name.to_owned(),
            self.compressed.to_string(),
            self.uncompressed.to_string(),
            ratio_cell(self.ratio()),
            percent(self.share(all)),
            self.codecs.join(", "),
            self.encodings.join(", "),
        ]
    }

    fn write_json(&self, leaf: &Leaf, all: &Sizes, object: &mut JsonObject<'_>) -> Result<(), Failure> {
        object.member("column", &**leaf.dotted())?;
        object.member("compressed_size", &self.compressed)?;
        object.member("uncompressed_size", &self.uncompressed)?;
        object.member("ratio", &self.ratio())?;
        object.member("share", &self.share(all))?;
        object.member("codecs", &self.codecs)?;
        Ok(object.member("encodings", &self.encodings)?)
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
