//! Writer properties from the arguments of the command line.

use crate::args::{CompatArg, Date64Arg, OfColumn, WriteArgs};
use crate::sort::SortKey;
use arrow_schema::Fields;
use marquetry_base::unquote;
use marquetry_core::logical_type::LogicalType;
use marquetry_core::predicate::names_of;
use marquetry_core::schema::Schema;
use marquetry_core::write::{
    ColumnPath, Compat, KeyValue, SortingColumn, StoredForms, WriterProperties, WriterPropertiesBuilder,
    WriterVersion,
};
use std::num::NonZeroUsize;

/// The writer properties of `args`, for a file of `fields` whose rows are sorted by `keys`. `source` are the key-value
/// pairs of the input, `stored` is its schema if it is a Parquet file.
pub(crate) fn properties(
    args: &WriteArgs,
    fields: &Fields,
    memory_limit: usize,
    keys: &[SortKey],
    source: &[KeyValue],
    stored: Option<&Schema>,
) -> WriterProperties {
    let threads =
        args.threads.or_else(|| std::thread::available_parallelism().ok()).map_or(1, NonZeroUsize::get);
    let mut builder = WriterProperties::builder().set_threads(threads).set_memory_limit(Some(memory_limit));
    if let Some(compat) = args.compat {
        builder = builder.set_compat(match compat {
            CompatArg::Maximum => Compat::Maximum,
            CompatArg::Modern => Compat::Modern,
            CompatArg::Latest => Compat::Latest,
        });
    }
    builder = builder.set_coerce_types(args.date64 == Date64Arg::Date);
    builder = builder.set_stored_forms(StoredForms::default().with_utc_times(has_utc_times(stored)));
    builder = file_settings(builder, args);
    builder = column_settings(builder, args, fields);
    if !keys.is_empty() {
        let sorting = |key: &SortKey| SortingColumn {
            column_idx: key.leaf as i32,
            descending: key.descending,
            nulls_first: key.nulls_first,
        };
        builder = builder.set_sorting_columns(Some(keys.iter().map(sorting).collect()));
    }
    let pairs = pairs(args, source);
    builder.set_key_value_metadata((!pairs.is_empty()).then_some(pairs)).build()
}

/// Whether times of day are in UTC, which Arrow cannot express. If only some are, none is marked.
fn has_utc_times(stored: Option<&Schema>) -> bool {
    let leaves = stored.map_or(&[][..], Schema::columns);
    let times = leaves.iter().filter_map(|leaf| match leaf.logical() {
        Some(LogicalType::Time { utc, .. }) => Some(*utc),
        _ => None,
    });
    times.reduce(|all, utc| all && utc).unwrap_or(false)
}

fn file_settings(mut builder: WriterPropertiesBuilder, args: &WriteArgs) -> WriterPropertiesBuilder {
    if let Some(rows) = args.row_group_rows {
        builder = builder.set_max_row_group_row_count(Some(rows.get()));
    }
    if let Some(bytes) = args.row_group_bytes {
        builder = builder.set_max_row_group_bytes(Some(bytes));
    }
    if let Some(every) = args.checkpoint_every {
        builder = builder.set_checkpoint_every(Some(every));
    }
    if let Some(bytes) = args.page_size {
        builder = builder.set_data_page_size_limit(bytes);
    }
    if let Some(rows) = args.page_rows {
        builder = builder.set_data_page_row_count_limit(rows.get());
    }
    builder = builder.set_content_defined_chunking(args.content_defined_chunking);
    match args.page_version {
        Some(1) => builder = builder.set_writer_version(WriterVersion::PARQUET_1_0),
        Some(_) => builder = builder.set_writer_version(WriterVersion::PARQUET_2_0),
        None => {}
    }
    if let Some(created_by) = &args.created_by {
        builder = builder.set_created_by(created_by);
    }
    builder.set_page_checksums(!args.no_checksums).set_arrow_schema(!args.no_arrow_schema)
}

fn column_settings(
    mut builder: WriterPropertiesBuilder,
    args: &WriteArgs,
    fields: &Fields,
) -> WriterPropertiesBuilder {
    for OfColumn { column, value } in &args.compression {
        builder = match selected(column.as_deref(), fields) {
            Selected::All => builder.set_compression(*value),
            Selected::Pattern(pattern) => builder.set_glob_compression(pattern, *value),
            Selected::Column(column) => builder.set_column_compression(column, *value),
        };
    }
    for OfColumn { column, value } in &args.encoding {
        builder = match selected(column.as_deref(), fields) {
            Selected::All => builder.set_encoding(*value),
            Selected::Pattern(pattern) => builder.set_glob_encoding(pattern, *value),
            Selected::Column(column) => builder.set_column_encoding(column, *value),
        };
    }
    for OfColumn { column, value } in &args.dictionary {
        builder = match selected(column.as_deref(), fields) {
            Selected::All => builder.set_dictionary_enabled(value.0),
            Selected::Pattern(pattern) => builder.set_glob_dictionary_enabled(pattern, value.0),
            Selected::Column(column) => builder.set_column_dictionary_enabled(column, value.0),
        };
    }
    for OfColumn { column, value } in &args.statistics {
        builder = match selected(column.as_deref(), fields) {
            Selected::All => builder.set_statistics_enabled(*value),
            Selected::Pattern(pattern) => builder.set_glob_statistics_enabled(pattern, *value),
            Selected::Column(column) => builder.set_column_statistics_enabled(column, *value),
        };
    }
    for bloom in &args.bloom {
        let filter = bloom.properties();
        builder = match selected(Some(&bloom.column), fields) {
            Selected::All => builder.set_bloom_filter_properties(filter),
            Selected::Pattern(pattern) => builder.set_glob_bloom_filter_properties(pattern, filter),
            Selected::Column(column) => builder.set_column_bloom_filter_properties(column, filter),
        };
    }
    builder
}

/// The columns that a setting applies to.
enum Selected<'a> {
    All,
    Pattern(&'a str),
    Column(ColumnPath),
}

/// A single quoted name refers to the column with this name in `fields`, or else to the path with these dots.
fn selected<'a>(column: Option<&'a str>, fields: &Fields) -> Selected<'a> {
    if let Some((name, "")) = column.and_then(|column| unquote(column, '"')) {
        return Selected::Column(match fields.iter().any(|field| *field.name() == name) {
            true => ColumnPath::exact(vec![name]),
            false => ColumnPath::from(name),
        });
    }
    match column {
        None => Selected::All,
        // With quoted names it is a path, whatever characters they contain.
        Some(path) if names_of(path).join(".") != path => Selected::Column(ColumnPath::exact(names_of(path))),
        Some(pattern) if pattern.contains(['*', '?']) => Selected::Pattern(pattern),
        Some(column) => Selected::Column(ColumnPath::from(column)),
    }
}

/// The source's pairs, except for those that describe how it is written, with the given ones replacing others.
fn pairs(args: &WriteArgs, source: &[KeyValue]) -> Vec<KeyValue> {
    let is_given = |key: &str| args.metadata.iter().any(|(given, _)| given == key);
    // They describe the schema for another writer; ours may differ.
    let is_kept = |pair: &&KeyValue| !DESCRIPTIONS.contains(&pair.key.as_str()) && !is_given(&pair.key);
    let mut pairs: Vec<KeyValue> = source.iter().filter(is_kept).cloned().collect();
    for (key, value) in &args.metadata {
        pairs.retain(|pair| pair.key != *key);
        pairs.push(KeyValue::new(key.clone(), value.clone()));
    }
    pairs
}

const DESCRIPTIONS: [&str; 3] =
    ["ARROW:schema", "parquet.avro.schema", "org.apache.spark.sql.parquet.row.metadata"];

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;
    use marquetry_core::write::{Compression, EnabledStatistics, Encoding, ZstdLevel};

    fn parsed(options: &[&str]) -> Result<WriteArgs, clap::Error> {
        #[derive(Parser)]
        struct Line {
            #[command(flatten)]
            writing: WriteArgs,
        }
        Ok(Line::try_parse_from(["marquetry"].iter().chain(options))?.writing)
    }

    #[test]
    fn options_of_all_and_of_one_column() {
        let args = parsed(&[
            "--compression",
            "zstd:3",
            "--compression",
            "a=snappy",
            "--encoding",
            "**.id=DELTA_BINARY_PACKED",
            "--dictionary",
            "off",
            "--bloom",
            "a:0.01",
            "--statistics",
            "a=chunk",
            "--metadata",
            "k=v=w",
            "--row-group-rows",
            "1000",
            "--row-group-bytes",
            "64MiB",
            "--page-size",
            "64KiB",
            "--page-rows",
            "500",
            "--page-version",
            "2",
            "--no-checksums",
            "--threads",
            "3",
            "--created-by",
            "me",
            "--compat",
            "latest",
        ])
        .unwrap();
        let source = ["k", "kept", "ARROW:schema"].map(|key| KeyValue::new(key, "old".to_owned()));
        let properties = properties(&args, &Fields::empty(), 1 << 20, &[], &source, None);
        let column = ColumnPath::from;
        assert_eq!(properties.compression(&column("a")), Compression::SNAPPY);
        assert_eq!(properties.compression(&column("b")), Compression::ZSTD(ZstdLevel::try_new(3).unwrap()));
        assert_eq!(properties.encoding(&column("x.id")), Some(Encoding::DELTA_BINARY_PACKED));
        assert!(!properties.dictionary_enabled(&column("b")));
        assert_eq!(properties.bloom_filter_properties(&column("a")).map(|bloom| bloom.fpp()), Some(0.01));
        assert_eq!(properties.bloom_filter_properties(&column("b")), None);
        assert_eq!(properties.statistics_enabled(&column("a")), EnabledStatistics::Chunk);
        assert_eq!(properties.max_row_group_row_count(), Some(1000));
        assert_eq!(properties.max_row_group_bytes(), Some(64 << 20));
        assert_eq!(properties.data_page_size_limit(), 64 << 10);
        assert_eq!(properties.data_page_row_count_limit(), 500);
        assert_eq!((properties.threads(), properties.memory_limit()), (3, Some(1 << 20)));
        assert!(!properties.page_checksums());
        assert_eq!(properties.created_by(), "me");
        let pairs: Vec<_> = properties.key_value_metadata().unwrap().iter().collect();
        let pairs: Vec<_> = pairs.iter().map(|pair| (pair.key.as_str(), pair.value.as_deref())).collect();
        assert_eq!(pairs, [("kept", Some("old")), ("k", Some("v=w"))]);
    }

    #[test]
    fn names_in_quotes_are_no_patterns() {
        let args =
            parsed(&["--compression", "\"a*\"=snappy", "--bloom", "\"a:0.5\"", "--bloom", "\"\":0.25"])
                .unwrap();
        let properties = properties(&args, &Fields::empty(), 1 << 20, &[], &[], None);
        let column = ColumnPath::from;
        assert_eq!(properties.compression(&column("a*")), Compression::SNAPPY);
        assert_ne!(properties.compression(&column("ab")), Compression::SNAPPY);
        let fpp =
            |name: &str| properties.bloom_filter_properties(&ColumnPath::from(name)).map(|bloom| bloom.fpp());
        assert_eq!((fpp("a"), fpp("a:0.5"), fpp("")), (None, Some(0.05), Some(0.25)));
    }

    #[test]
    fn mistakes_are_named() {
        for (option, value, part) in [
            ("--compression", "zstd:99", "-131072 to 22"),
            ("--compression", "lzo", "LZO"),
            ("--encoding", "a=WURST", "DELTA_BINARY_PACKED"),
            ("--dictionary", "a=maybe", "on or off"),
            ("--bloom", "a:2", "between 0 and 1"),
            ("--metadata", "k", "KEY=VALUE"),
            ("--page-version", "3", "1..=2"),
            ("--page-size", "many", "not a unit"),
        ] {
            let error = parsed(&[option, value]).unwrap_err().to_string();
            assert!(error.contains(part), "{option} {value}: {error}");
        }
    }
}
