//! Writes files for other Parquet libraries to read, with what is in them as Arrow IPC besides; and reads theirs.
//!
//! ```text
//! interop matrix FOLDER              files of every encoding, codec, page version, nesting and kind of nulls
//!     [--full]                       every codec with all the rest
//!     [--columns A,B]                only these columns
//!     [--apart]                      one small file for each column, as any reader should take it, and no more
//! interop filters FOLDER             files with statistics, indexes and bloom filters that filters can be tried on
//! interop read IN OUT ..             Parquet files as Arrow IPC
//! interop table IN OUT [--union-by-name]   many files as one table, as Arrow IPC
//! interop statistics IN OUT ..       the statistics of Parquet files as Arrow IPC, by row group and by page
//! ```
//!
//! The first two print a JSON line for each file, the third for each file that cannot be read, the last for each column that has none.

mod filters;
mod shapes;
mod statistics;
mod types;

use arrow_array::{Array, ArrayRef, RecordBatch, RecordBatchReader};
use arrow_ipc::writer::{FileWriter, StreamWriter};
use arrow_schema::{DataType, FieldRef, Fields, IntervalUnit, Schema};
use marquetry::arrow::ArrowWriter;
use marquetry::basic::{BrotliLevel, Compression, Encoding, GzipLevel, ZstdLevel};
use marquetry::file::properties::{
    BloomFilterPosition, Compat, WriterProperties, WriterPropertiesBuilder, WriterVersion,
};
use serde_json::json;
use shapes::{Both, Nesting, Nulls};
use std::collections::BTreeMap;
use std::error::Error;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use types::Column;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match args.as_slice() {
        ["matrix", folder, options @ ..] => {
            let folder = Path::new(folder);
            std::fs::create_dir_all(folder)?;
            match options {
                [] => matrix(folder, &types::columns()?, false),
                ["--full"] => matrix(folder, &types::columns()?, true),
                ["--apart"] => one_for_each_column(folder),
                ["--columns", names] => {
                    let names: Vec<_> = names.split(',').collect();
                    let chosen =
                        types::columns()?.into_iter().filter(|column| names.contains(&column.name.as_str()));
                    matrix(folder, &chosen.collect::<Vec<_>>(), false)
                }
                _ => Err("matrix FOLDER [--full | --columns A,B | --apart]".into()),
            }
        }
        ["filters", folder] => write_filters(Path::new(folder)),
        ["read", files @ ..] if files.len().is_multiple_of(2) => {
            for pair in files.chunks_exact(2) {
                let [from, to] = [pair[0], pair[1]].map(Path::new);
                if let Err(error) = read(from, to) {
                    println!("{}", json!({ "file": from, "error": error.to_string() }));
                }
            }
            Ok(())
        }
        ["statistics", files @ ..] if files.len().is_multiple_of(2) => {
            for pair in files.chunks_exact(2) {
                let [from, to] = [pair[0], pair[1]].map(Path::new);
                match statistics::statistics(from) {
                    Ok(batch) => write_ipc(to, &batch)?,
                    Err(error) => println!("{}", json!({ "file": from, "error": error.to_string() })),
                }
            }
            Ok(())
        }
        ["table", from, to, options @ ..] => {
            table(Path::new(from), Path::new(to), options == ["--union-by-name"])
        }
        _ => Err("interop matrix FOLDER [--full] | filters FOLDER | read IN OUT .. | table IN OUT | statistics IN OUT ..".into()),
    }
}

fn table(from: &Path, to: &Path, union: bool) -> Result<()> {
    let reader = marquetry::dataset([from])?.union_by_name(union).batches()?;
    let mut writer = FileWriter::try_new(File::create(to)?, &reader.schema())?;
    for batch in reader {
        writer.write(&batch?)?;
    }
    Ok(writer.finish()?)
}

/// The encoding of values.
#[derive(Clone, Copy)]
struct Mode {
    name: &'static str,
    encoding: Encoding,
    set: fn(WriterPropertiesBuilder) -> WriterPropertiesBuilder,
}

const fn mode(name: &'static str, encoding: Encoding) -> Mode {
    Mode { name, encoding, set: |builder| builder }
}

const MODES: [Mode; 14] = [
    mode("PLAIN", Encoding::PLAIN),
    mode("RLE_DICTIONARY", Encoding::RLE_DICTIONARY),
    // A dictionary that is given up in the middle of a chunk.
    Mode {
        name: "RLE_DICTIONARY+PLAIN",
        encoding: Encoding::RLE_DICTIONARY,
        set: |builder| builder.set_dictionary_page_size_limit(200),
    },
    mode("RLE", Encoding::RLE),
    mode("DELTA_BINARY_PACKED", Encoding::DELTA_BINARY_PACKED),
    mode("DELTA_LENGTH_BYTE_ARRAY", Encoding::DELTA_LENGTH_BYTE_ARRAY),
    mode("DELTA_BYTE_ARRAY", Encoding::DELTA_BYTE_ARRAY),
    mode("BYTE_STREAM_SPLIT", Encoding::BYTE_STREAM_SPLIT),
    mode("ALP", Encoding::ALP),
    mode("AUTO", Encoding::Auto),
    Mode {
        name: "AUTO-maximum",
        encoding: Encoding::Auto,
        set: |builder| builder.set_compat(Compat::Maximum),
    },
    Mode { name: "AUTO-latest", encoding: Encoding::Auto, set: |builder| builder.set_compat(Compat::Latest) },
    Mode {
        name: "AUTO-no-arrow-schema",
        encoding: Encoding::Auto,
        set: |builder| builder.set_arrow_schema(false),
    },
    Mode {
        name: "AUTO-extras",
        encoding: Encoding::Auto,
        set: |builder| {
            builder
                .set_total_order(true)
                .set_bloom_filter_enabled(true)
                .set_bloom_filter_position(BloomFilterPosition::AfterRowGroup)
                .set_write_page_header_statistics(true)
        },
    },
];

fn codecs() -> Result<[(Compression, &'static str); 6]> {
    Ok([
        (Compression::ZSTD(ZstdLevel::try_new(3)?), "ZSTD"),
        (Compression::SNAPPY, "SNAPPY"),
        (Compression::UNCOMPRESSED, "UNCOMPRESSED"),
        (Compression::GZIP(GzipLevel::default()), "GZIP"),
        (Compression::BROTLI(BrotliLevel::default()), "BROTLI"),
        (Compression::LZ4_RAW, "LZ4_RAW"),
    ])
}

const VERSIONS: [WriterVersion; 2] = [WriterVersion::PARQUET_1_0, WriterVersion::PARQUET_2_0];

/// Whether a column is written to a file of its own: other libraries refuse a whole file because of it.
fn is_apart(column: &Column) -> bool {
    column.name.starts_with("runs_") || column.name.starts_with("interval_")
}

/// Writes the files of the matrix. With `full` all combinations; otherwise codecs take turns, but each encoding meets
/// each of them.
fn matrix(folder: &Path, columns: &[Column], full: bool) -> Result<()> {
    let codecs = codecs()?;
    let mut turn = 0;
    for (nulls, nulls_name) in Nulls::ALL {
        for (nesting, nesting_name) in Nesting::ALL {
            let built: Vec<Both> = columns
                .iter()
                .map(|column| shapes::build(column, nesting, nulls))
                .collect::<std::result::Result<_, _>>()?;
            let truth = format!("truth-{nulls_name}-{nesting_name}.arrow");
            write_truth(&folder.join(&truth), &built)?;
            for mode in MODES {
                let groups = grouped(columns, &built, mode.encoding)?;
                for version in VERSIONS {
                    turn += 1;
                    let chosen = match full {
                        true => codecs.to_vec(),
                        // Each of the six codecs takes its turn for the same encoding and version.
                        false => vec![codecs[(turn + turn / (2 * MODES.len())) % codecs.len()]],
                    };
                    for (codec, codec_name) in chosen {
                        for (group, columns) in &groups {
                            let v = version.as_num();
                            let file = format!(
                                "{}-{codec_name}-v{v}-{nulls_name}-{nesting_name}-{group}.parquet",
                                mode.name
                            );
                            let builder = properties(version, codec, mode.encoding);
                            write(&folder.join(&file), columns, (mode.set)(builder).build())?;
                            let names: Vec<_> = columns.iter().map(|(field, _)| field.name()).collect();
                            println!(
                                "{}",
                                json!({
                                    "file": file, "truth": truth, "encoding": mode.name, "codec": codec_name,
                                    "version": v, "nulls": nulls_name, "nesting": nesting_name, "columns": names,
                                })
                            );
                        }
                    }
                }
            }
        }
    }
    write_layouts(folder)
}

/// Returns properties under which the columns beside the values have an encoding that does not disturb.
fn properties(version: WriterVersion, codec: Compression, encoding: Encoding) -> WriterPropertiesBuilder {
    let beside = if encoding == Encoding::Auto { Encoding::Auto } else { Encoding::PLAIN };
    WriterProperties::builder()
        .set_encoding(encoding)
        .set_glob_encoding("**.key", beside)
        .set_glob_encoding("**.n", beside)
        .set_writer_version(version)
        .set_compression(codec)
        .set_max_row_group_row_count(Some(600))
        .set_data_page_row_count_limit(250)
}

type Columns = Vec<(FieldRef, ArrayRef)>;

/// Returns the columns whose type allows the encoding, as they are stored, by the file that they are in.
fn grouped(columns: &[Column], built: &[Both], encoding: Encoding) -> Result<BTreeMap<String, Columns>> {
    let mut groups: BTreeMap<String, Columns> = BTreeMap::new();
    for (column, [stored, _]) in columns.iter().zip(built) {
        if is_legal(stored, encoding)? {
            let group = if is_apart(column) { column.name.as_str() } else { "types" };
            groups.entry(group.to_owned()).or_default().push(stored.clone());
        }
    }
    Ok(groups)
}

/// Whether the values of the column, which are in its last leaf or the last but one, may have the encoding.
fn is_legal((field, _): &(FieldRef, ArrayRef), encoding: Encoding) -> Result<bool> {
    let Some(code) = encoding.code() else { return Ok(true) };
    let row =
        marquetry::internals::encoding::registry::find(code).ok_or("an encoding that is not written")?;
    let writer = ArrowWriter::try_new(Vec::new(), Arc::new(Schema::new(vec![field.clone()])), None)?;
    let schema = writer.parquet_schema();
    let values =
        schema.columns().iter().find(|leaf| !matches!(leaf.dotted().rsplit('.').next(), Some("key" | "n")));
    Ok(values.is_some_and(|leaf| (row.supports)(leaf.physical())))
}

fn one_for_each_column(folder: &Path) -> Result<()> {
    let columns = types::columns()?;
    let built = columns.iter().map(|column| shapes::build(column, Nesting::Flat, Nulls::Some));
    let built: Vec<Both> = built.collect::<std::result::Result<_, _>>()?;
    let truth = "truth.arrow";
    write_truth(&folder.join(truth), &built)?;
    for [(field, array), _] in &built {
        let file = format!("{}.parquet", field.name());
        let builder = properties(WriterVersion::PARQUET_1_0, Compression::SNAPPY, Encoding::Auto)
            .set_compat(Compat::Maximum);
        write(&folder.join(&file), &[(field.clone(), array.clone())], builder.build())?;
        println!(
            "{}",
            json!({
                "file": file, "truth": truth, "encoding": "AUTO-maximum", "codec": "SNAPPY", "version": 1,
                "nulls": "some", "nesting": "flat", "columns": [field.name()],
            })
        );
    }
    Ok(())
}

fn write_layouts(folder: &Path) -> Result<()> {
    let built = shapes::layouts()?;
    let truth = "truth-layouts.arrow";
    write_truth(&folder.join(truth), &built)?;
    for version in VERSIONS {
        for [(field, array), _] in &built {
            let v = version.as_num();
            let file = format!("layouts-v{v}-{}.parquet", field.name());
            let builder =
                properties(version, Compression::SNAPPY, Encoding::Auto).set_data_page_row_count_limit(40);
            write(&folder.join(&file), &[(field.clone(), array.clone())], builder.build())?;
            println!(
                "{}",
                json!({
                    "file": file, "truth": truth, "encoding": "AUTO", "codec": "SNAPPY", "version": v,
                    "nulls": "some", "nesting": "layouts", "columns": [field.name()],
                })
            );
        }
    }
    Ok(())
}

/// Writes two batches, the second of which begins in the middle of its arrays.
fn write(path: &Path, columns: &[(FieldRef, ArrayRef)], properties: WriterProperties) -> Result<()> {
    let batch = batch(columns)?;
    let mut writer = ArrowWriter::try_new(File::create(path)?, batch.schema(), Some(properties))?;
    let cut = batch.num_rows() / 3;
    writer.write(&batch.slice(0, cut))?;
    writer.write(&batch.slice(cut, batch.num_rows() - cut))?;
    writer.close()?;
    Ok(())
}

fn batch(columns: &[(FieldRef, ArrayRef)]) -> Result<RecordBatch> {
    let (fields, arrays): (Vec<_>, Vec<_>) = columns.iter().cloned().unzip();
    Ok(RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays)?)
}

fn write_truth(path: &Path, built: &[Both]) -> Result<()> {
    let columns: Vec<_> = built.iter().map(|[_, truth]| truth.clone()).collect();
    write_ipc(path, &batch(&columns)?)
}

fn write_ipc(path: &Path, batch: &RecordBatch) -> Result<()> {
    let mut writer = FileWriter::try_new(File::create(path)?, &batch.schema())?;
    writer.write(batch)?;
    Ok(writer.finish()?)
}

fn write_filters(folder: &Path) -> Result<()> {
    std::fs::create_dir_all(folder)?;
    let batch = filters::batch()?;
    let truth = "truth-filters.arrow";
    write_ipc(&folder.join(truth), &batch)?;
    let builder = |version| {
        WriterProperties::builder()
            .set_writer_version(version)
            .set_max_row_group_row_count(Some(filters::ROW_GROUP_ROWS))
            .set_data_page_row_count_limit(filters::PAGE_ROWS)
            .set_bloom_filter_enabled(true)
    };
    let [v1, v2] = VERSIONS;
    let files = [
        ("default", builder(v1)),
        ("v2", builder(v2)),
        ("plain", builder(v1).set_dictionary_enabled(false).set_compression(Compression::UNCOMPRESSED)),
        ("total-order", builder(v1).set_total_order(true)),
        (
            "short-bounds",
            builder(v1).set_statistics_truncate_length(Some(8)).set_column_index_truncate_length(Some(4)),
        ),
        (
            "whole-bounds",
            builder(v1).set_statistics_truncate_length(None).set_column_index_truncate_length(None),
        ),
        ("page-headers", builder(v2).set_write_page_header_statistics(true)),
        ("no-arrow-schema", builder(v1).set_arrow_schema(false)),
        ("bloom-after-row-group", builder(v1).set_bloom_filter_position(BloomFilterPosition::AfterRowGroup)),
    ];
    for (name, builder) in files {
        let file = format!("filters-{name}.parquet");
        let mut writer =
            ArrowWriter::try_new(File::create(folder.join(&file))?, batch.schema(), Some(builder.build()))?;
        writer.write(&batch)?;
        writer.close()?;
        println!("{}", json!({ "file": file, "truth": truth, "name": name }));
    }
    Ok(())
}

/// Converts intervals, of which other libraries know only one kind, to that kind, and extension types, which others do
/// not slice and concatenate well, to their storage.
fn as_others_have_it(field: &FieldRef) -> FieldRef {
    let inner = |fields: &Fields| fields.iter().map(as_others_have_it).collect::<Fields>();
    let data_type = match field.data_type() {
        DataType::Interval(_) => DataType::Interval(IntervalUnit::MonthDayNano),
        DataType::List(element) => DataType::List(as_others_have_it(element)),
        DataType::Map(entries, sorted) => DataType::Map(as_others_have_it(entries), *sorted),
        DataType::Struct(fields) => DataType::Struct(inner(fields)),
        other => other.clone(),
    };
    Arc::new(field.as_ref().clone().with_data_type(data_type).with_metadata(Default::default()))
}

fn read(from: &Path, to: &Path) -> Result<()> {
    let reader = marquetry::open(from)?.batches()?;
    let fields: Fields = reader.schema().fields().iter().map(as_others_have_it).collect();
    let schema = Arc::new(Schema::new(fields));
    let part = PathBuf::from(format!("{}.part", to.display()));
    // A stream of batches that may have dictionaries of their own.
    let mut writer = StreamWriter::try_new(File::create(&part)?, &schema)?;
    let mut is_empty = true;
    for batch in reader {
        let batch = batch?;
        is_empty = false;
        let cast = |(array, field): (&ArrayRef, &FieldRef)| match array.data_type() == field.data_type() {
            true => Ok(array.clone()),
            false => arrow_cast::cast(array, field.data_type()),
        };
        let arrays =
            batch.columns().iter().zip(schema.fields()).map(cast).collect::<std::result::Result<_, _>>()?;
        writer.write(&RecordBatch::try_new(schema.clone(), arrays)?)?;
    }
    // At least one batch, for readers that need one to know the type.
    if is_empty {
        writer.write(&RecordBatch::new_empty(schema))?;
    }
    writer.finish()?;
    Ok(std::fs::rename(part, to)?)
}
