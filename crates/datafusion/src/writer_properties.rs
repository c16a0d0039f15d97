//! Translates options of DataFusion to writer properties.

use crate::error::{of, refused};
use crate::options::FormatOptions;
use datafusion::common::config::{ParquetCdcOptions, ParquetColumnOptions, TableParquetOptions};
use datafusion::common::parquet_config::DFParquetWriterVersion;
use datafusion::error::Result;
use marquetry_core::write::{
    CdcOptions, ColumnPath, Compression, EnabledStatistics, Encoding, KeyValue, SortingColumn,
    WriterProperties, WriterPropertiesBuilder, WriterVersion,
};

/// The writer properties of the options, for a writer with this number of threads.
///
/// Fails if the value of an option is invalid, or not supported.
pub(crate) fn writer_properties(
    options: &FormatOptions,
    sorting: Option<Vec<SortingColumn>>,
    threads: usize,
) -> Result<WriterProperties> {
    options.check_writing()?;
    let global = &options.parquet.global;
    let threads = if global.allow_single_file_parallelism { threads } else { 1 };
    let mut properties = WriterProperties::builder()
        .set_data_page_size_limit(global.data_pagesize_limit)
        .set_write_batch_size(global.write_batch_size)
        .set_writer_version(match global.writer_version {
            DFParquetWriterVersion::V1_0 => WriterVersion::PARQUET_1_0,
            DFParquetWriterVersion::V2_0 => WriterVersion::PARQUET_2_0,
        })
        .set_arrow_schema(!global.skip_arrow_metadata)
        .set_dictionary_page_size_limit(global.dictionary_page_size_limit)
        .set_max_row_group_row_count(Some(global.max_row_group_size))
        .set_content_defined_chunking(chunking(&global.content_defined_chunking))
        .set_max_row_group_bytes(global.max_row_group_bytes.map(|bytes| bytes.get()))
        .set_column_index_truncate_length(global.column_index_truncate_length)
        .set_statistics_truncate_length(global.statistics_truncate_length)
        .set_data_page_row_count_limit(global.data_page_row_count_limit)
        .set_bloom_filter_enabled(global.bloom_filter_on_write)
        .set_sorting_columns(sorting)
        .set_threads(threads)
        .set_key_value_metadata(key_values(&options.parquet));
    // Readers go by this name to work around a writer's bugs: DataFusion's is not ours to use.
    if global.created_by != TableParquetOptions::default().global.created_by {
        properties = properties.set_created_by(global.created_by.as_str());
    }
    if let Some(compression) = &global.compression {
        properties = properties.set_compression(parse_compression(compression)?);
    }
    if let Some(enabled) = global.dictionary_enabled {
        properties = properties.set_dictionary_enabled(enabled);
    }
    if let Some(statistics) = &global.statistics_enabled {
        properties = properties.set_statistics_enabled(parse_statistics(statistics)?);
    }
    if let Some(encoding) = &global.encoding {
        properties = properties.set_encoding(encoding.parse::<Encoding>().map_err(of)?);
    }
    if let Some(fpp) = global.bloom_filter_fpp {
        properties = properties.set_bloom_filter_fpp(fpp);
    }
    if let Some(ndv) = global.bloom_filter_ndv {
        properties = properties.set_bloom_filter_ndv(ndv);
    }
    // `set_bloom_filter_fpp` and `_ndv` also enable bloom filters; in DataFusion they only configure them.
    if !global.bloom_filter_on_write {
        properties = properties.set_bloom_filter_enabled(false);
    }
    let mut columns: Vec<_> = options.parquet.column_specific_options.iter().collect();
    columns.sort_by_key(|(name, _)| *name);
    for (name, column) in columns {
        properties = with_column(properties, name, column, global.bloom_filter_on_write)?;
    }
    Ok(properties.build())
}

fn with_column(
    mut properties: WriterPropertiesBuilder,
    name: &str,
    options: &ParquetColumnOptions,
    has_bloom_filters: bool,
) -> Result<WriterPropertiesBuilder> {
    let path = || ColumnPath::new(name.split('.').map(str::to_owned).collect());
    if let Some(compression) = &options.compression {
        properties = properties.set_column_compression(path(), parse_compression(compression)?);
    }
    if let Some(encoding) = &options.encoding {
        properties = properties.set_column_encoding(path(), encoding.parse::<Encoding>().map_err(of)?);
    }
    if let Some(enabled) = options.dictionary_enabled {
        properties = properties.set_column_dictionary_enabled(path(), enabled);
    }
    if let Some(statistics) = &options.statistics_enabled {
        properties = properties.set_column_statistics_enabled(path(), parse_statistics(statistics)?);
    }
    if let Some(fpp) = options.bloom_filter_fpp {
        properties = properties.set_column_bloom_filter_fpp(path(), fpp);
    }
    if let Some(ndv) = options.bloom_filter_ndv {
        properties = properties.set_column_bloom_filter_ndv(path(), ndv);
    }
    let says_how = options.bloom_filter_fpp.is_some() || options.bloom_filter_ndv.is_some();
    if options.bloom_filter_enabled.is_some() || says_how {
        let enabled = options.bloom_filter_enabled.unwrap_or(has_bloom_filters);
        properties = properties.set_column_bloom_filter_enabled(path(), enabled);
    }
    Ok(properties)
}

/// Sorted by key, so that the same options give the same file.
fn key_values(options: &TableParquetOptions) -> Option<Vec<KeyValue>> {
    let mut pairs: Vec<_> = options.key_value_metadata.iter().collect();
    pairs.sort();
    let pairs: Vec<KeyValue> =
        pairs.into_iter().map(|(key, value)| KeyValue::new(key.as_str(), value.clone())).collect();
    (!pairs.is_empty()).then_some(pairs)
}

fn parse_compression(text: &str) -> Result<Compression> {
    text.parse::<Compression>().map_err(of)
}

fn parse_statistics(text: &str) -> Result<EnabledStatistics> {
    match text.to_ascii_lowercase().as_str() {
        "none" => Ok(EnabledStatistics::None),
        "chunk" => Ok(EnabledStatistics::Chunk),
        "page" => Ok(EnabledStatistics::Page),
        other => Err(refused(format!("statistics_enabled '{other}' is none of none, chunk, page"))),
    }
}

fn chunking(options: &ParquetCdcOptions) -> Option<CdcOptions> {
    options.enabled.then_some(CdcOptions {
        min_chunk_size: options.min_chunk_size,
        max_chunk_size: options.max_chunk_size,
        norm_level: options.norm_level,
    })
}
