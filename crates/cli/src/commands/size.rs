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
use marquetry::schema::{Leaf, Node, NodeKind};
use marquetry_base::Printable;
use marquetry_core::logical_type::LogicalType;
use serde_json::{Value, json};
use std::collections::HashSet;
use std::fmt::Display;

/// The arguments of `size`.
#[derive(Debug, ClapArgs)]
pub(crate) struct SizeArgs {
    #[command(flatten)]
    pub(crate) files: Files,
}

/// Total sizes of a column's chunks, or of all columns.
#[derive(Default)]
struct Sizes {
    compressed: u64,
    uncompressed: u64,
    codecs: Names,
    encodings: Names,
}

/// Distinct names in the order of appearance. A hostile file may have millions.
#[derive(Default)]
struct Names {
    list: Vec<String>,
    seen: HashSet<i32>,
}

impl Names {
    fn add(&mut self, number: i32, name: impl Display) {
        if self.seen.insert(number) {
            self.list.push(name.to_string());
        }
    }
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
                object.list("variants", |list| {
                    let mut variants = variants(&metadata, &columns).into_iter();
                    variants.try_for_each(|variant| Ok(list.item(&variant.json())?))
                })?;
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
        ])
        .fitted();
        for (leaf, sizes) in &columns {
            table.stream(sizes.cells(leaf.dotted(), &all), output)?;
        }
        table.row(all.cells("total", &all));
        table.print(output)?;
        for variant in variants(&metadata, &columns) {
            output.line(variant.line())?;
        }
        match unreferenced {
            Some(bytes) if bytes > 0 => Ok(output.line(unreferenced::line(bytes, source.len()))?),
            _ => Ok(()),
        }
    })
}

/// Compressed bytes of the parts of a shredded VARIANT.
struct VariantSizes {
    column: String,
    names: u64,
    /// `value` of the column, and of the fields within.
    binary: u64,
    shredded: u64,
}

impl VariantSizes {
    fn line(&self) -> String {
        let VariantSizes { column, names, binary, shredded } = self;
        let column = Printable(column);
        format!(
            "VARIANT {column}: {shredded} bytes in columns of their own, {binary} in binary, {names} of names"
        )
    }

    fn json(&self) -> Value {
        let VariantSizes { column, names, binary, shredded } = self;
        json!({"column": column, "names": names, "binary": binary, "shredded": shredded})
    }
}

/// The sizes of each shredded VARIANT, in the order of the schema.
fn variants(metadata: &ParquetMetaData, columns: &[(&Leaf, Sizes)]) -> Vec<VariantSizes> {
    let mut paths = Vec::new();
    let fields = metadata.schema().fields().iter();
    fields.for_each(|field| find_variants(field, &mut Vec::new(), &mut paths));
    let of_path = |path: Vec<String>| {
        let (mut names, mut binary, mut shredded) = (0, 0, 0);
        let inside = |leaf: &Leaf| {
            leaf.path().len() > path.len() && leaf.path().iter().zip(&path).all(|(a, b)| **a == **b)
        };
        for (leaf, sizes) in columns.iter().filter(|(leaf, _)| inside(leaf)) {
            let to = match (leaf.path().len() - path.len(), leaf.path().last().map(|name| &**name)) {
                (1, Some("metadata")) => &mut names,
                (_, Some("value")) => &mut binary,
                _ => &mut shredded,
            };
            *to += sizes.compressed;
        }
        VariantSizes { column: path.join("."), names, binary, shredded }
    };
    paths.into_iter().map(of_path).collect()
}

/// The paths of shredded VARIANT columns.
fn find_variants(node: &Node, path: &mut Vec<String>, out: &mut Vec<Vec<String>>) {
    let NodeKind::Group(fields) = node.kind() else { return };
    path.push(node.name().to_owned());
    match node.logical() {
        Some(LogicalType::Variant { .. }) => {
            if fields.iter().any(|field| field.name() == "typed_value") {
                out.push(path.clone());
            }
        }
        _ => fields.iter().for_each(|field| find_variants(field, path, out)),
    }
    path.pop();
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
        // Invalid sizes count as zero.
        let size = |size: i64| u64::try_from(size).unwrap_or(0);
        self.add(size(chunk.compressed_size()), size(chunk.uncompressed_size()));
        self.codecs.add(chunk.compression().0, chunk.compression());
        for encoding in chunk.encodings() {
            self.encodings.add(encoding.0, encoding);
        }
    }

    /// Uncompressed size divided by compressed size; `None` if nothing is stored.
    fn ratio(&self) -> Option<f64> {
        (self.compressed > 0).then(|| self.uncompressed as f64 / self.compressed as f64)
    }

    /// The share of all compressed bytes.
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
            self.codecs.list.join(", "),
            self.encodings.list.join(", "),
        ]
    }

    fn write_json(&self, leaf: &Leaf, all: &Sizes, object: &mut JsonObject<'_>) -> Result<(), Failure> {
        object.member("column", &**leaf.dotted())?;
        object.member("compressed_size", &self.compressed)?;
        object.member("uncompressed_size", &self.uncompressed)?;
        object.member("ratio", &self.ratio())?;
        object.member("share", &self.share(all))?;
        object.member("codecs", &self.codecs.list)?;
        Ok(object.member("encodings", &self.encodings.list)?)
    }
}

fn ratio_cell(ratio: Option<f64>) -> String {
    ratio.map(|ratio| format!("{ratio:.2}")).unwrap_or_default()
}

/// Text after the options in `--help`.
pub(crate) const SIZE_HELP: &str = "\
JSON: {file, compressed_size, uncompressed_size, size, unreferenced, variants: [{column, names, binary, shredded}],
columns: [{column, compressed_size, uncompressed_size, ratio, share, codecs, encodings}]}. `ratio` is uncompressed
divided by compressed size, `share` the part of the file's compressed bytes, `size` that of the file. `unreferenced`
is the number of bytes that nothing in the file refers to, null if the footer does not tell. `variants` are shredded
VARIANT columns, in bytes.

Examples:
  marquetry size wines.parquet";
