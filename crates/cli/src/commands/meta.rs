//! `meta`: what the footer says.

use super::heading::title;
use crate::args::Files;
use crate::failure::{Failure, Outcome};
use crate::file_name;
use crate::output::Output;
use crate::printable::printable;
use crate::table::{Table, shortened};
use crate::unreferenced::{self, unreferenced};
use crate::value::{self, cell};
use clap::Args as ClapArgs;
use marquetry::arrow::arrow_reader::ChunkReader;
use marquetry::errors::{Error, ErrorKind};
use marquetry::file::metadata::{ColumnChunk, ParquetMetaData, RowGroup};
use marquetry::format::{ColumnOrder, Statistics};
use marquetry::schema::Leaf;
use serde_json::{Value, json};

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
        let mut facts = facts(file.metadata())?;
        let metadata = file.metadata().clone();
        let source = file.into_source()?;
        facts["size"] = json!(source.len());
        facts["unreferenced"] = json!(unreferenced(&*source, &metadata));
        if output.is_json() {
            facts["file"] = Value::String(file_name::shown(path));
            return Ok(output.json(&facts)?);
        }
        if are_several {
            title(path, output)?;
        }
        print(&facts, if args.full { usize::MAX } else { WIDEST }, output)
    })
}

fn facts(metadata: &ParquetMetaData) -> Result<Value, Error> {
    let pairs = metadata.key_value_metadata().iter();
    let row_groups = metadata.row_groups().map(|row_group| row_group_facts(row_group, metadata));
    Ok(json!({
        "file": null,
        "size": null,
        "unreferenced": null,
        "version": metadata.version(),
        "created_by": metadata.created_by(),
        "rows": metadata.num_rows(),
        "declared_rows": metadata.declared_rows(),
        "columns": metadata.schema().num_columns(),
        "key_values": pairs.map(|pair| json!({"key": pair.key, "value": pair.value})).collect::<Vec<_>>(),
        "column_orders": metadata.column_orders().map(|orders| orders.iter().map(order).collect::<Vec<_>>()),
        "row_groups": row_groups.collect::<Result<Vec<_>, _>>()?,
    }))
}

fn order(order: &ColumnOrder) -> String {
    match order {
        ColumnOrder::TypeOrder => "TYPE_ORDER".to_owned(),
        ColumnOrder::Ieee754TotalOrder => "IEEE_754_TOTAL_ORDER".to_owned(),
        ColumnOrder::Int96TimestampOrder => "INT96_TIMESTAMP_ORDER".to_owned(),
        ColumnOrder::Unknown(id) => format!("UNKNOWN({id})"),
    }
}

fn row_group_facts(row_group: RowGroup<'_>, metadata: &ParquetMetaData) -> Result<Value, Error> {
    let leaves = metadata.schema().columns();
    let mut columns = Vec::new();
    let (mut compressed, mut uncompressed) = (0i64, 0i64);
    for (column, leaf) in row_group.columns().zip(leaves) {
        match column {
            Ok(chunk) => {
                compressed = compressed.saturating_add(chunk.compressed_size());
                uncompressed = uncompressed.saturating_add(chunk.uncompressed_size());
                columns.push(column_facts(chunk));
            }
            // What of it can be seen is that it is there.
            Err(error) if error.kind() == ErrorKind::Key => {
                columns.push(hidden_facts(leaf));
            }
            Err(error) => return Err(error),
        }
    }
    let sorted_by = row_group.sorting_columns().iter().map(|sorting| {
        let leaf = usize::try_from(sorting.column_idx).ok().and_then(|i| leaves.get(i));
        json!({
            "column": leaf.map(|leaf| &**leaf.dotted()),
            "descending": sorting.descending,
            "nulls_first": sorting.nulls_first,
        })
    });
    Ok(json!({
        "row_group": row_group.index(),
        "rows": row_group.num_rows(),
        "compressed_size": compressed,
        "uncompressed_size": uncompressed,
        "sorted_by": sorted_by.collect::<Vec<_>>(),
        "columns": columns,
    }))
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
        "statistics": chunk.statistics().map(|statistics| statistics_facts(&statistics, leaf)),
    })
}

/// What the schema says of a column whose own facts are encrypted.
fn hidden_facts(leaf: &Leaf) -> Value {
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
        "statistics": null,
    })
}

fn statistics_facts(statistics: &Statistics<&[u8]>, leaf: &Leaf) -> Value {
    let bound =
        |newer: Option<&[u8]>, older: Option<&[u8]>| newer.or(older).map(|bytes| value::json(bytes, leaf));
    json!({
        "min": bound(statistics.min_value, statistics.min),
        "max": bound(statistics.max_value, statistics.max),
        "min_exact": statistics.is_min_value_exact,
        "max_exact": statistics.is_max_value_exact,
        // Bounds of an order that was never defined but for signed numbers.
        "deprecated_bounds": statistics.min_value.is_none() && statistics.max_value.is_none()
            && (statistics.min.is_some() || statistics.max.is_some()),
        "null_count": statistics.null_count,
        "distinct_count": statistics.distinct_count,
        "nan_count": statistics.nan_count,
    })
}

fn print(facts: &Value, widest: usize, output: &mut Output) -> Result<(), Failure> {
    output.line(format!("created by   {}", printable(&cell(&facts["created_by"]))))?;
    output.line(format!("version      {}", facts["version"]))?;
    if let (Some(bytes @ 1..), Some(size)) = (facts["unreferenced"].as_u64(), facts["size"].as_u64()) {
        output.line(format!("unused       {}", unreferenced::line(bytes, size)))?;
    }
    output.line(format!("rows         {}", facts["rows"]))?;
    if facts["rows"] != facts["declared_rows"] {
        output.line(format!("             (the footer's own total is {})", facts["declared_rows"]))?;
    }
    output.line(format!("columns      {}", facts["columns"]))?;
    let row_groups = items(&facts["row_groups"]);
    output.line(format!("row groups   {}", row_groups.len()))?;
    let mut orders: Vec<&str> = items(&facts["column_orders"]).iter().filter_map(Value::as_str).collect();
    orders.sort_unstable();
    orders.dedup();
    if !orders.is_empty() {
        output.line(format!("bounds in    {}", orders.join(", ")))?;
    }
    for pair in items(&facts["key_values"]) {
        let (key, value) = (printable(&cell(&pair["key"])), printable(&cell(&pair["value"])));
        output.line(format!("key          {key} = {}", shortened(&value, widest)))?;
    }
    for row_group in row_groups {
        print_row_group(row_group, widest, output)?;
    }
    Ok(())
}

fn print_row_group(row_group: &Value, widest: usize, output: &mut Output) -> Result<(), Failure> {
    let mut line = format!(
        "\nrow group {}: {} rows, {} bytes, {} uncompressed",
        row_group["row_group"],
        row_group["rows"],
        row_group["compressed_size"],
        row_group["uncompressed_size"],
    );
    for (i, sorting) in items(&row_group["sorted_by"]).iter().enumerate() {
        line.push_str(if i == 0 { ", sorted by " } else { ", " });
        line.push_str(&cell(&sorting["column"]));
        line.push_str(if sorting["descending"] == Value::Bool(true) { " descending" } else { "" });
    }
    output.line(line)?;
    let mut table = Table::new(&HEADINGS).indented();
    for column in items(&row_group["columns"]) {
        let statistics = &column["statistics"];
        let encodings: Vec<String> = items(&column["encodings"]).iter().map(cell).collect();
        let kind = [&column["type"], &column["logical"]].map(cell);
        table.row([
            cell(&column["column"]),
            kind.join(" ").trim_end().to_owned(),
            if column["encrypted"] == Value::Bool(true) {
                "encrypted".to_owned()
            } else {
                cell(&column["codec"])
            },
            cell(&column["values"]),
            cell(&statistics["null_count"]),
            cell(&column["compressed_size"]),
            cell(&column["uncompressed_size"]),
            cell(&column["data_page_offset"]),
            beside(column),
            shortened(&printable(&cell(&statistics["min"])), widest.min(WIDEST_BOUND)),
            shortened(&printable(&cell(&statistics["max"])), widest.min(WIDEST_BOUND)),
            encodings.join(", "),
        ]);
    }
    Ok(table.print(output)?)
}

/// What there is beside the data pages.
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

/// What stands behind the options in `--help`.
pub(crate) const META_HELP: &str = "\
JSON: {file, size, unreferenced, version, created_by, rows, declared_rows, columns, key_values: [{key, value}], column_orders,
row_groups: [{row_group, rows, compressed_size, uncompressed_size, sorted_by, columns: [{column, type, logical, values,
codec, encodings, compressed_size, uncompressed_size, data_page_offset, dictionary_page_offset, column_index_offset,
offset_index_offset, bloom_filter_offset, encrypted, statistics: {min, max, min_exact, max_exact, deprecated_bounds, null_count,
distinct_count, nan_count}}]}]}. `unreferenced` are bytes that nothing in the file refers to: checkpoints, and what changes in
place left; null if the footer does not tell.

Examples:
  marquetry meta wines.parquet
  marquetry meta set wines.parquet license=CC-BY-4.0
  marquetry meta wines.parquet --format json | jq '.row_groups[].columns[].codec'";
