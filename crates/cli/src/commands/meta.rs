//! `meta`: what the footer says.

use super::heading::title;
use crate::args::Files;
use crate::failure::{Failure, Outcome};
use crate::file_name;
use crate::json_stream::JsonObject;
use crate::output::Output;
use crate::plain_value::{self, cell};
use crate::printable::printable;
use crate::text_table::{TextTable, shortened};
use crate::unreferenced::{self, unreferenced};
use clap::Args as ClapArgs;
use marquetry::arrow::arrow_reader::ChunkReader;
use marquetry::errors::{Error, ErrorKind};
use marquetry::file::encryption::shown_metadata;
use marquetry::file::metadata::{ColumnChunk, ParquetMetaData, RowGroup};
use marquetry::internals::format::{
    ColumnCryptoMetaData, ColumnOrder, EncryptionAlgorithm, KeyValue, Statistics,
};
use marquetry::schema::Leaf;
use marquetry::variant::{Shreddings, shreddings_of};
use marquetry_base::counted;
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;

/// The arguments of `meta`.
#[derive(Debug, ClapArgs)]
pub(crate) struct MetaArgs {
    #[command(subcommand)]
    pub(crate) edit: Option<crate::commands::meta_edit::MetaEdit>,
    #[command(flatten)]
    pub(crate) files: Files,
    /// Do not shorten long values
    #[arg(long)]
    pub(crate) full: bool,
}

pub(crate) fn run(args: &MetaArgs, output: &mut Output, outcome: &mut Outcome) -> Result<(), Failure> {
    if let Some(edit) = &args.edit {
        return super::meta_edit::run(edit, output, outcome);
    }
    let are_several = args.files.are_several();
    args.files.for_each(outcome, |path, file| {
        let metadata = file.metadata().clone();
        // Errors must show before anything is printed.
        metadata.row_groups().try_for_each(|row_group| Sizes::of(row_group).map(drop))?;
        let shreddings = file.schema().map(|schema| shreddings_of(&schema)).unwrap_or_default();
        let source = file.into_source()?;
        let unreferenced = unreferenced(&*source, &metadata);
        let facts = Facts { size: source.len(), unreferenced, shreddings, metadata };
        if output.is_json() {
            return output.json_object(|object| facts.write_json(path, object));
        }
        if are_several {
            title(path, output)?;
        }
        facts.print(if args.full { usize::MAX } else { WIDEST }, output)
    })
}

/// The facts about a file.
struct Facts {
    size: u64,
    unreferenced: Option<u64>,
    /// Shreddings of VARIANT columns.
    shreddings: Shreddings,
    metadata: Arc<ParquetMetaData>,
}

impl Facts {
    fn orders(&self) -> Option<Vec<String>> {
        self.metadata.column_orders().map(|orders| orders.iter().map(order).collect())
    }

    fn write_json(&self, path: &Path, object: &mut JsonObject<'_>) -> Result<(), Failure> {
        let metadata = &self.metadata;
        object.member("file", &file_name::shown(path))?;
        object.member("size", &self.size)?;
        object.member("unreferenced", &self.unreferenced)?;
        object.member("version", &metadata.version())?;
        object.member("created_by", &metadata.created_by())?;
        object.member("rows", &metadata.num_rows())?;
        object.member("declared_rows", &metadata.declared_rows())?;
        object.member("columns", &metadata.schema().num_columns())?;
        object.list("shredding", |list| {
            let mut columns = self.shreddings.iter();
            columns.try_for_each(|(column, shape)| {
                Ok(list.item(&json!({"column": column, "shape": shape.to_string()}))?)
            })
        })?;
        object.list("key_values", |list| {
            let mut pairs = metadata.key_value_metadata().iter();
            pairs.try_for_each(|one| Ok(list.item(&pair(one))?))
        })?;
        object.member("column_orders", &self.orders())?;
        object.member("encryption", &encryption(metadata))?;
        object.list("row_groups", |list| {
            metadata.row_groups().try_for_each(|row_group| {
                list.object(|object| write_row_group(row_group, metadata.schema().columns(), object))
            })
        })
    }

    fn print(&self, widest: usize, output: &mut Output) -> Result<(), Failure> {
        let metadata = &self.metadata;
        output.line(format!("created by   {}", printable(metadata.created_by().unwrap_or_default())))?;
        output.line(format!("version      {}", metadata.version()))?;
        if let Some(bytes @ 1..) = self.unreferenced {
            output.line(format!("unused       {}", unreferenced::line(bytes, self.size)))?;
        }
        if let Some(line) = encryption_line(metadata) {
            output.line(format!("encrypted    {}", printable(&line)))?;
        }
        output.line(format!("rows         {}", metadata.num_rows()))?;
        if i64::try_from(metadata.num_rows()) != Ok(metadata.declared_rows()) {
            let declared = metadata.declared_rows();
            output.line(format!("             (the footer's own total is {declared})"))?;
        }
        output.line(format!("columns      {}", metadata.schema().num_columns()))?;
        output.line(format!("row groups   {}", metadata.num_row_groups()))?;
        for (column, shape) in self.shreddings.iter() {
            output.line(format!(
                "shredded     {}",
                shortened(&printable(&format!("{column} as {shape}")), widest)
            ))?;
        }
        let mut orders = self.orders().unwrap_or_default();
        orders.sort_unstable();
        orders.dedup();
        if !orders.is_empty() {
            output.line(format!("bounds in    {}", orders.join(", ")))?;
        }
        for pair in metadata.key_value_metadata() {
            let (key, value) = (printable(&pair.key), printable(pair.value.as_deref().unwrap_or_default()));
            output.line(format!("key          {key} = {}", shortened(&value, widest)))?;
        }
        let leaves = metadata.schema().columns();
        metadata.row_groups().try_for_each(|row_group| print_row_group(row_group, leaves, widest, output))
    }
}

/// The encryption of the file, as stated in its footer.
fn encryption(metadata: &ParquetMetaData) -> Value {
    let Some(encryption) = metadata.encryption() else { return Value::Null };
    let (algorithm, parameters) = match encryption.algorithm {
        EncryptionAlgorithm::AesGcmV1(parameters) => ("AES_GCM_V1".to_owned(), Some(parameters)),
        EncryptionAlgorithm::AesGcmCtrV1(parameters) => ("AES_GCM_CTR_V1".to_owned(), Some(parameters)),
        EncryptionAlgorithm::Unknown(id) => (format!("UNKNOWN({id})"), None),
    };
    let supplied = parameters.and_then(|parameters| parameters.supply_aad_prefix);
    json!({
        "algorithm": algorithm,
        "footer_encrypted": encryption.has_encrypted_footer,
        "footer_key_metadata": encryption.footer_key_metadata.map(shown_metadata),
        "aad_prefix": parameters.and_then(|parameters| parameters.aad_prefix.as_deref()).map(shown_metadata),
        "supply_aad_prefix": supplied.unwrap_or(false),
    })
}

fn encryption_line(metadata: &ParquetMetaData) -> Option<String> {
    let facts = encryption(metadata);
    let algorithm = facts["algorithm"].as_str()?;
    let footer = if facts["footer_encrypted"] == true { "footer encrypted" } else { "footer signed" };
    let key =
        facts["footer_key_metadata"].as_str().map(|key| format!(" with the key {key}")).unwrap_or_default();
    let prefix = match (facts["aad_prefix"].as_str(), facts["supply_aad_prefix"] == true) {
        (Some(prefix), _) => format!(", AAD prefix {prefix}"),
        (None, true) => ", an AAD prefix that is not stored".to_owned(),
        (None, false) => String::new(),
    };
    Some(format!("{algorithm}, {footer}{key}{prefix}"))
}

/// The key of a column: `footer`, or the key metadata of its own.
fn key_of(crypto: Option<ColumnCryptoMetaData>) -> Option<String> {
    match crypto? {
        ColumnCryptoMetaData::FooterKey => Some("footer".to_owned()),
        ColumnCryptoMetaData::ColumnKey(own) => {
            Some(own.key_metadata.as_deref().map_or_else(|| "column".to_owned(), shown_metadata))
        }
        ColumnCryptoMetaData::Unknown(id) => Some(format!("UNKNOWN({id})")),
    }
}

fn pair(pair: &KeyValue) -> Value {
    json!({"key": &*pair.key, "value": pair.value.as_deref()})
}

fn order(order: &ColumnOrder) -> String {
    match order {
        ColumnOrder::TypeOrder => "TYPE_ORDER".to_owned(),
        ColumnOrder::Ieee754TotalOrder => "IEEE_754_TOTAL_ORDER".to_owned(),
        ColumnOrder::Int96TimestampOrder => "INT96_TIMESTAMP_ORDER".to_owned(),
        ColumnOrder::Unknown(id) => format!("UNKNOWN({id})"),
    }
}

/// Total sizes of a row group's columns, as far as they are readable.
#[derive(Default)]
struct Sizes {
    compressed: i64,
    uncompressed: i64,
}

impl Sizes {
    fn of(row_group: RowGroup<'_>) -> Result<Self, Error> {
        let mut sizes = Sizes::default();
        for column in row_group.columns() {
            match column {
                Ok(chunk) => {
                    sizes.compressed = sizes.compressed.saturating_add(chunk.compressed_size());
                    sizes.uncompressed = sizes.uncompressed.saturating_add(chunk.uncompressed_size());
                }
                // Its existence is all that is visible.
                Err(error) if error.kind() == ErrorKind::Key => {}
                Err(error) => return Err(error),
            }
        }
        Ok(sizes)
    }
}

/// The facts about each column of a row group.
fn columns<'a>(
    row_group: RowGroup<'a>,
    leaves: &'a [Leaf],
) -> impl Iterator<Item = Result<Value, Error>> + 'a {
    row_group.columns().zip(leaves).enumerate().map(move |(number, (column, leaf))| match column {
        Ok(chunk) => Ok(column_facts(chunk)),
        Err(error) if error.kind() == ErrorKind::Key => {
            Ok(hidden_facts(leaf, key_of(row_group.crypto_metadata_at(number))))
        }
        Err(error) => Err(error),
    })
}

fn sorted_by(row_group: RowGroup<'_>, leaves: &[Leaf]) -> Vec<Value> {
    let sorting = row_group.sorting_columns().iter().map(|sorting| {
        let leaf = usize::try_from(sorting.column_idx).ok().and_then(|i| leaves.get(i));
        json!({
            "column": leaf.map(|leaf| &**leaf.dotted()),
            "descending": sorting.descending,
            "nulls_first": sorting.nulls_first,
        })
    });
    sorting.collect()
}

fn write_row_group(
    row_group: RowGroup<'_>,
    leaves: &[Leaf],
    object: &mut JsonObject<'_>,
) -> Result<(), Failure> {
    let sizes = Sizes::of(row_group)?;
    object.member("row_group", &row_group.index())?;
    object.member("rows", &row_group.num_rows())?;
    object.member("compressed_size", &sizes.compressed)?;
    object.member("uncompressed_size", &sizes.uncompressed)?;
    object.member("sorted_by", &sorted_by(row_group, leaves))?;
    object.list("columns", |list| columns(row_group, leaves).try_for_each(|column| Ok(list.item(&column?)?)))
}

fn column_facts(chunk: ColumnChunk<'_>) -> Value {
    let leaf = chunk.leaf();
    json!({
        "column": &**leaf.dotted(),
        "type": leaf.physical().to_string(),
        "logical": leaf.logical().map(ToString::to_string),
        "values": chunk.num_values(),
        "codec": chunk.compression().to_string(),
        "encodings": chunk.encodings().iter().map(|encoding| encoding.to_string()).collect::<Vec<_>>(),
        "compressed_size": chunk.compressed_size(),
        "uncompressed_size": chunk.uncompressed_size(),
        "data_page_offset": chunk.data_page_offset(),
        "dictionary_page_offset": chunk.dictionary_page_offset(),
        "column_index_offset": chunk.column_index_range().map(|range| range.start),
        "offset_index_offset": chunk.offset_index_range().map(|range| range.start),
        "bloom_filter_offset": chunk.bloom_filter_offset(),
        "encrypted": chunk.is_encrypted(),
        "key": key_of(chunk.crypto_metadata()),
        "statistics": chunk.statistics().map(|statistics| statistics_facts(&statistics, leaf)),
    })
}

/// The schema's facts about a column whose metadata is encrypted.
fn hidden_facts(leaf: &Leaf, key: Option<String>) -> Value {
    json!({
        "column": &**leaf.dotted(),
        "type": leaf.physical().to_string(),
        "logical": leaf.logical().map(ToString::to_string),
        "values": null,
        "codec": null,
        "encodings": null,
        "compressed_size": null,
        "uncompressed_size": null,
        "data_page_offset": null,
        "dictionary_page_offset": null,
        "column_index_offset": null,
        "offset_index_offset": null,
        "bloom_filter_offset": null,
        "encrypted": true,
        "key": key,
        "statistics": null,
    })
}

fn statistics_facts(statistics: &Statistics<&[u8]>, leaf: &Leaf) -> Value {
    let bound = |newer: Option<&[u8]>, older: Option<&[u8]>| {
        newer.or(older).map(|bytes| plain_value::json(bytes, leaf))
    };
    json!({
        "min": bound(statistics.min_value, statistics.min),
        "max": bound(statistics.max_value, statistics.max),
        "min_exact": statistics.is_min_value_exact,
        "max_exact": statistics.is_max_value_exact,
        // Bounds in a deprecated order, which is only defined for signed numbers.
        "deprecated_bounds": statistics.min_value.is_none() && statistics.max_value.is_none()
            && (statistics.min.is_some() || statistics.max.is_some()),
        "null_count": statistics.null_count,
        "distinct_count": statistics.distinct_count,
        "nan_count": statistics.nan_count,
    })
}

fn print_row_group(
    row_group: RowGroup<'_>,
    leaves: &[Leaf],
    widest: usize,
    output: &mut Output,
) -> Result<(), Failure> {
    let sizes = Sizes::of(row_group)?;
    let mut line = format!(
        "\nrow group {}: {}, {} bytes, {} uncompressed",
        row_group.index(),
        counted(row_group.num_rows(), "row"),
        sizes.compressed,
        sizes.uncompressed,
    );
    for (i, sorting) in sorted_by(row_group, leaves).iter().enumerate() {
        line.push_str(if i == 0 { ", sorted by " } else { ", " });
        line.push_str(&cell(&sorting["column"]));
        line.push_str(if sorting["descending"] == Value::Bool(true) { " descending" } else { "" });
    }
    output.line(line)?;
    let mut table = TextTable::new(&HEADINGS).indented();
    if widest != usize::MAX {
        table = table.fitted();
    }
    for column in columns(row_group, leaves) {
        table.stream(cells(&column?, widest), output)?;
    }
    Ok(table.print(output)?)
}

/// The cells of a column, below [`HEADINGS`].
fn cells(column: &Value, widest: usize) -> [String; 12] {
    let statistics = &column["statistics"];
    let encodings: Vec<String> = items(&column["encodings"]).iter().map(cell).collect();
    let kind = [&column["type"], &column["logical"]].map(cell);
    let bound = |name: &str| shortened(&printable(&cell(&statistics[name])), widest.min(WIDEST_BOUND));
    [
        cell(&column["column"]),
        kind.join(" ").trim_end().to_owned(),
        if column["encrypted"] == Value::Bool(true) {
            let key = column["key"].as_str().filter(|key| key.starts_with('"'));
            key.map_or_else(|| "encrypted".to_owned(), |key| printable(&format!("encrypted {key}")))
        } else {
            cell(&column["codec"])
        },
        cell(&column["values"]),
        cell(&statistics["null_count"]),
        cell(&column["compressed_size"]),
        cell(&column["uncompressed_size"]),
        cell(&column["data_page_offset"]),
        beside(column),
        bound("min"),
        bound("max"),
        encodings.join(", "),
    ]
}

/// The parts of a chunk other than data pages.
fn beside(column: &Value) -> String {
    let there = |member: &str, name: &'static str| (!column[member].is_null()).then_some(name);
    let parts = [
        there("dictionary_page_offset", "dictionary"),
        there("column_index_offset", "column index"),
        there("offset_index_offset", "offset index"),
        there("bloom_filter_offset", "bloom filter"),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

fn items(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

const HEADINGS: [&str; 12] = [
    "column",
    "type",
    "codec",
    ">values",
    ">nulls",
    ">compressed",
    ">uncompressed",
    ">data at",
    "beside it",
    "min",
    "max",
    "encodings",
];
/// Longer values of keys are shortened.
const WIDEST: usize = 100;
/// Longer bounds are shortened.
const WIDEST_BOUND: usize = 30;

/// Text after the options in `--help`.
pub(crate) const META_HELP: &str = "\
JSON: {file, size, unreferenced, version, created_by, rows, declared_rows, columns, shredding: [{column, shape}],
key_values: [{key, value}], column_orders, encryption: {algorithm, footer_encrypted, footer_key_metadata, aad_prefix,
supply_aad_prefix}, row_groups: [{row_group, rows, compressed_size, uncompressed_size, sorted_by, columns: [{column,
type, logical, values, codec, encodings, compressed_size, uncompressed_size, data_page_offset, dictionary_page_offset,
column_index_offset, offset_index_offset, bloom_filter_offset, encrypted, key, statistics: {min, max, min_exact,
max_exact, deprecated_bounds, null_count, distinct_count, nan_count}}]}]}. `unreferenced` is the number of bytes that
nothing in the file refers to, such as checkpoints and what changes in place left behind; null if the footer does not
tell. `key` is the key metadata of an encrypted column, or `footer` for the footer key; null if the column is not
encrypted.

Examples:
  marquetry meta wines.parquet
  marquetry meta set wines.parquet license=CC-BY-4.0
  marquetry meta wines.parquet --format json | jq '.row_groups[].columns[].codec'";
