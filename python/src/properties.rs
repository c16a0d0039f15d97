//! Writer options from Python.

use crate::encryption::Encryption;
use crate::errors::to_python;
use crate::options::Options;
use marquetry::basic::{Compression, Encoding};
use marquetry::file::metadata::{KeyValue, SortingColumn};
use marquetry::file::properties::{
    BloomFilterProperties, CdcOptions, Compat, EnabledStatistics, StoredForms, WriterProperties,
    WriterPropertiesBuilder, WriterVersion,
};
use marquetry::schema::types::ColumnPath;
use pyo3::prelude::*;
use std::collections::BTreeMap;
use std::str::FromStr;

/// Settings of single columns, by the names of their paths.
type ByColumn<T> = Vec<(Vec<String>, T)>;

/// The writer properties of `options`.
pub(crate) fn properties(options: Options<'_>) -> PyResult<WriterPropertiesBuilder> {
    let mut out = WriterProperties::builder();
    out = of_columns(&options, out)?;
    out = of_file(&options, out)?;
    options.finish()?;
    Ok(out)
}

/// Takes a setting for all columns, and one for some: `NAME` and `column_NAME`.
fn setting<'py, T, P>(
    options: &Options<'py>,
    name: &str,
    mut out: WriterPropertiesBuilder,
    parse: impl Fn(P) -> marquetry::errors::Result<T>,
    of_all: impl Fn(WriterPropertiesBuilder, T) -> WriterPropertiesBuilder,
    of_column: impl Fn(WriterPropertiesBuilder, ColumnPath, T) -> WriterPropertiesBuilder,
) -> PyResult<WriterPropertiesBuilder>
where
    P: pyo3::conversion::FromPyObjectOwned<'py>,
{
    let failed = |error| to_python(options.py(), &error);
    if let Some(value) = options.take::<P>(name)? {
        out = of_all(out, parse(value).map_err(failed)?);
    }
    for (path, value) in options.take::<ByColumn<P>>(&format!("column_{name}"))?.unwrap_or_default() {
        out = of_column(out, ColumnPath::new(path), parse(value).map_err(failed)?);
    }
    Ok(out)
}

fn of_columns(options: &Options<'_>, mut out: WriterPropertiesBuilder) -> PyResult<WriterPropertiesBuilder> {
    type Builder = WriterPropertiesBuilder;
    let parsed = |text: String| Compression::from_str(&text);
    out = setting(
        options,
        "compression",
        out,
        parsed,
        Builder::set_compression,
        Builder::set_column_compression,
    )?;
    let parsed = |text: String| Encoding::from_str(&text);
    out = setting(options, "encoding", out, parsed, Builder::set_encoding, Builder::set_column_encoding)?;
    let (all, one) = (Builder::set_dictionary_enabled, Builder::set_column_dictionary_enabled);
    out = setting(options, "dictionary", out, Ok::<bool, _>, all, one)?;
    let parsed = |text: String| EnabledStatistics::from_str(&text);
    let (all, one) = (Builder::set_statistics_enabled, Builder::set_column_statistics_enabled);
    out = setting(options, "statistics", out, parsed, all, one)?;
    let (all, one) = (Builder::set_data_page_size_limit, Builder::set_column_data_page_size_limit);
    out = setting(options, "data_page_size", out, Ok::<usize, _>, all, one)?;
    let (all, one) = (Builder::set_data_page_row_count_limit, Builder::set_column_data_page_row_count_limit);
    out = setting(options, "data_page_rows", out, Ok::<usize, _>, all, one)?;
    let (all, one) =
        (Builder::set_dictionary_page_size_limit, Builder::set_column_dictionary_page_size_limit);
    out = setting(options, "dictionary_page_size", out, Ok::<usize, _>, all, one)?;
    let filters: Option<ByColumn<(Option<f64>, Option<u64>)>> = options.take("bloom_filters")?;
    for (path, (fpp, ndv)) in filters.unwrap_or_default() {
        let mut filter = BloomFilterProperties::builder();
        if let Some(fpp) = fpp {
            filter = filter.with_fpp(fpp);
        }
        if let Some(ndv) = ndv {
            filter = filter.with_max_ndv(ndv);
        }
        out = out.set_column_bloom_filter_properties(ColumnPath::new(path), filter.build());
    }
    Ok(out)
}

fn of_file(options: &Options<'_>, mut out: WriterPropertiesBuilder) -> PyResult<WriterPropertiesBuilder> {
    if let Some(version) = options.parsed("page_version", WriterVersion::from_str)? {
        out = out.set_writer_version(version);
    }
    if let Some(rows) = options.take("row_group_rows")? {
        out = out.set_max_row_group_row_count(Some(rows));
    }
    if let Some(bytes) = options.take("row_group_bytes")? {
        out = out.set_max_row_group_bytes(Some(bytes));
    }
    if let Some((min_chunk_size, max_chunk_size, norm_level)) = options.take("content_defined_chunking")? {
        let chunking = CdcOptions { min_chunk_size, max_chunk_size, norm_level };
        out = out.set_content_defined_chunking(Some(chunking));
    }
    if let Some(checksums) = options.take("checksums")? {
        out = out.set_page_checksums(checksums);
    }
    if let Some(index) = options.take::<bool>("page_index")? {
        out = out.set_offset_index_disabled(!index);
    }
    if let Some(keep) = options.take("arrow_schema")? {
        out = out.set_arrow_schema(keep);
    }
    if let Some(coerce) = options.take("coerce_types")? {
        out = out.set_coerce_types(coerce);
    }
    let forms = StoredForms::default()
        .with_int96_timestamps(options.take("int96")?.unwrap_or(false))
        .with_fixed_decimals(options.take("fixed_decimals")?.unwrap_or(false))
        .with_arrow_item_names(options.take("arrow_item_names")?.unwrap_or(false))
        .with_utc_times(options.take("utc_times")?.unwrap_or(false));
    out = out.set_stored_forms(forms);
    if let Some(whole) = options.take("whole_dictionaries")? {
        out = out.set_whole_dictionaries(whole);
    }
    if let Some(counts) = options.take("distinct_counts")? {
        out = out.set_distinct_counts(counts);
    }
    if let Some(version) = options.take("format_version")? {
        out = out.set_format_version(version);
    }
    if let Some(keys) = options.take::<Py<Encryption>>("encryption")? {
        out = out.with_file_encryption_properties(keys.get().properties());
    }
    if let Some(compat) = options.parsed("compat", compat)? {
        out = out.set_compat(compat);
    }
    out = out.set_threads(match options.take("threads")? {
        None => 1,
        Some(0) => std::thread::available_parallelism().map_or(1, usize::from),
        Some(threads) => threads,
    });
    if let Some(bytes) = options.take("memory_limit")? {
        out = out.set_memory_limit(Some(bytes));
    }
    if let Some(bytes) = options.take::<usize>("bound_bytes")? {
        // 0 turns off truncation of bounds.
        let bytes = (bytes > 0).then_some(bytes);
        out = out.set_statistics_truncate_length(bytes);
    }
    if let Some(pairs) = options.take::<BTreeMap<String, String>>("key_values")? {
        let pairs =
            pairs.into_iter().map(|(key, value)| KeyValue { key: key.into(), value: Some(value.into()) });
        out = out.set_key_value_metadata(Some(pairs.collect()));
    }
    if let Some(columns) = options.take::<Vec<(i32, bool, bool)>>("sorting_columns")? {
        let columns = columns.into_iter().map(|(column_idx, descending, nulls_first)| SortingColumn {
            column_idx,
            descending,
            nulls_first,
        });
        out = out.set_sorting_columns(Some(columns.collect()));
    }
    Ok(out)
}

fn compat(name: &str) -> marquetry::errors::Result<Compat> {
    Ok(match name {
        "maximum" => Compat::Maximum,
        "modern" => Compat::Modern,
        "latest" => Compat::Latest,
        other => {
            let text = format!("compat is {other}, and should be maximum, modern or latest");
            return Err(marquetry::errors::Error::argument(text));
        }
    })
}
