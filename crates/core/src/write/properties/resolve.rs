//! Resolves properties to the settings of one column, and rejects invalid ones for a schema.

use super::choices::check_fpp;
use super::rules::Asked;
use super::selector::Subject;
use super::{
    BloomFilterProperties, DEFAULT_COMPRESSION, DEFAULT_DATA_PAGE_ROW_COUNT_LIMIT,
    DEFAULT_DICTIONARY_PAGE_SIZE_LIMIT, DEFAULT_PAGE_SIZE, EnabledStatistics, Encoding, WriterProperties,
};
use crate::logical_type::LogicalType;
use crate::schema::{Leaf, Schema, unknown_column};
use crate::write::content_chunker::checked;
use crate::write::{BloomSettings, ColumnSettings, Compat, Compression, EncodingPolicy};
use marquetry_base::{Error, Result};
use marquetry_crypto::EncryptionDialect;
use marquetry_encoding::{PhysicalType, code, registry};
use std::collections::HashSet;

impl WriterProperties {
    /// Returns the settings with which a column is written.
    ///
    /// Fails with [`ErrorKind::Argument`](marquetry_base::ErrorKind::Argument) if a setting is not legal for the
    /// column: an encoding that its type may not have, or that is deprecated; a page of 0 bytes or rows; a false
    /// positive probability that is not between 0 and 1.
    pub fn column_settings(&self, leaf: &Leaf) -> Result<ColumnSettings> {
        let path: Vec<String> = leaf.path().iter().map(|name| name.as_ref().to_owned()).collect();
        let subject = Subject { parts: &path, dotted: leaf.dotted(), leaf: Some(leaf) };
        let mut settings = self
            .settings(self.rules.asked(&subject), leaf.physical())
            .map_err(|error| error.in_column(leaf.dotted().clone()))?;
        settings.key_values = self.column_key_values.at_or_above(leaf);
        settings.bloom = settings.bloom.filter(|_| may_have_filter(leaf));
        Ok(settings)
    }

    /// Returns the compression of columns without a setting.
    pub(super) fn default_compression(&self) -> Compression {
        match self.compat {
            Compat::Maximum => Compression::SNAPPY,
            Compat::Modern | Compat::Latest => DEFAULT_COMPRESSION,
        }
    }

    /// Returns the statistics of columns without a setting.
    pub(super) fn default_statistics(&self) -> EnabledStatistics {
        match self.offset_index_disabled() {
            // A column index is useless without an offset index.
            true => EnabledStatistics::Chunk,
            false => EnabledStatistics::Page,
        }
    }

    fn settings(&self, asked: Asked, physical: PhysicalType) -> Result<ColumnSettings> {
        let compression = asked.compression.unwrap_or_else(|| self.default_compression());
        let dictionary_bytes = asked.dictionary_page_bytes.unwrap_or(DEFAULT_DICTIONARY_PAGE_SIZE_LIMIT);
        Ok(ColumnSettings {
            codec: compression.codec(),
            level: compression.level(),
            encoding: encoding_choice(asked.encoding, asked.dictionary, physical)?,
            compat: self.compat,
            dictionary_page_bytes: page_bytes("dictionary page", dictionary_bytes)?,
            page_bytes: page_bytes("data page", asked.page_bytes.unwrap_or(DEFAULT_PAGE_SIZE))?,
            page_rows: not_zero(
                "rows in a data page",
                asked.page_rows.unwrap_or(DEFAULT_DATA_PAGE_ROW_COUNT_LIMIT),
            )?,
            content_defined_chunking: self.content_defined_chunking.map(checked).transpose()?,
            page_version: self.writer_version.into(),
            checksums: self.page_checksums,
            statistics: asked.statistics.unwrap_or_else(|| self.default_statistics()).into(),
            statistics_truncate: self.statistics_truncate_length,
            index_truncate: self.column_index_truncate_length,
            page_header_statistics: asked.page_header_statistics.unwrap_or(false),
            bloom: asked.bloom().map(bloom).transpose()?,
            total_order: self.total_order,
            distinct_counts: self.distinct_counts,
            whole_dictionaries: self.whole_dictionaries,
            key_values: Vec::new(),
            cancel: self.cancel.clone(),
        })
    }

    /// Checks the properties against a schema.
    ///
    /// Fails with [`ErrorKind::Argument`](marquetry_base::ErrorKind::Argument) if a setting is for a column that does
    /// not exist, naming similar ones; if the settings of a column are invalid, see
    /// [`column_settings`](Self::column_settings); if a sorting column does not exist or occurs twice; if a limit or a
    /// length is zero; if a bloom filter is wanted in a file with DuckDB's dialect of encryption.
    pub fn check(&self, schema: &Schema) -> Result<()> {
        let columns = schema.columns();
        let unknown = self.rules.unknown_path(columns);
        if let Some(path) = unknown.or_else(|| self.column_key_values.unknown_path(columns)) {
            return Err(unknown_column(schema, path.dotted()));
        }
        let is_for_duckdb =
            self.file_encryption.as_ref().is_some_and(|of| of.dialect() == EncryptionDialect::DuckDb);
        for leaf in columns {
            let settings = self.column_settings(leaf)?;
            if settings.bloom.is_some() && is_for_duckdb {
                return Err(Error::argument(
                    "a bloom filter in DuckDB's dialect of encryption: DuckDB cannot read such a file",
                )
                .in_column(leaf.dotted().clone()));
            }
        }
        self.check_sorting_columns(schema)?;
        not_zero("threads", self.threads)?;
        not_zero("rows in a write batch", self.write_batch_size)?;
        for (what, limit) in [
            ("rows in a row group", self.max_row_group_row_count),
            ("bytes in a row group", self.max_row_group_bytes),
            ("bytes of a bound in statistics", self.statistics_truncate_length),
            ("bytes of a bound in the column index", self.column_index_truncate_length),
        ] {
            limit.map(|limit| not_zero(what, limit)).transpose()?;
        }
        Ok(())
    }

    fn check_sorting_columns(&self, schema: &Schema) -> Result<()> {
        let columns = self.sorting_columns.as_deref().unwrap_or_default();
        let mut earlier = HashSet::new();
        for sorting in columns {
            let index = sorting.column_idx;
            let leaf = usize::try_from(index).ok().and_then(|index| schema.columns().get(index));
            let Some(leaf) = leaf else {
                return Err(Error::argument(format!(
                    "no column {index} to be sorted by, there are {}",
                    schema.num_columns()
                )));
            };
            if !earlier.insert(index) {
                return Err(Error::argument(format!("sorted by column {} twice", leaf.dotted())));
            }
        }
        Ok(())
    }
}

/// Returns the encoding policy. Fails if the type does not allow the encoding.
///
/// Enabling a dictionary for all columns skips those that may not have one. An illegal encoding is an error, because
/// ignoring it would not do what the caller wanted.
fn encoding_choice(
    encoding: Option<Encoding>,
    dictionary: Option<bool>,
    physical: PhysicalType,
) -> Result<EncodingPolicy> {
    let has_dictionary = physical != PhysicalType::Boolean && dictionary != Some(false);
    let code = match encoding.unwrap_or_default() {
        Encoding::Auto => return Ok(EncodingPolicy::Auto { dictionary: has_dictionary }),
        deprecated @ (Encoding::PLAIN_DICTIONARY | Encoding::BIT_PACKED) => {
            let instead = match deprecated {
                Encoding::PLAIN_DICTIONARY => "; its name is now RLE_DICTIONARY",
                _ => "",
            };
            return Err(Error::argument(format!("{deprecated} is deprecated and not written{instead}")));
        }
        encoding => encoding.code().and_then(registry::find),
    };
    let Some(row) = code else {
        return Err(Error::argument(format!("{} is not written", encoding.unwrap_or_default())));
    };
    if !(row.supports)(physical) {
        let legal: Vec<_> =
            registry::ENCODINGS.iter().filter(|row| row.code != 2 && (row.supports)(physical)).collect();
        let legal: Vec<_> = legal.iter().map(|row| row.name).collect();
        return Err(Error::argument(format!(
            "{} is not legal for {physical}, which may have {}",
            row.name,
            legal.join(", ")
        )));
    }
    match encoding {
        Some(Encoding::RLE_DICTIONARY) => Ok(EncodingPolicy::DictionaryOr(code::PLAIN)),
        _ if has_dictionary && dictionary == Some(true) => Ok(EncodingPolicy::DictionaryOr(row.code)),
        _ => Ok(EncodingPolicy::Only(row.code)),
    }
}

fn bloom(properties: BloomFilterProperties) -> Result<BloomSettings> {
    check_fpp(properties.fpp())?;
    Ok(BloomSettings { ndv: properties.ndv(), fpp: properties.fpp() })
}

fn not_zero(what: &str, limit: usize) -> Result<usize> {
    match limit {
        0 => Err(Error::argument(format!("0 {what}"))),
        limit => Ok(limit),
    }
}

fn page_bytes(what: &str, limit: usize) -> Result<usize> {
    match limit {
        0 => Err(Error::argument(format!("a {what} of 0 bytes"))),
        limit => Ok(limit.min(MAX_PAGE_BYTES)),
    }
}

/// Maximum size limit of a page, in bytes: a page header's sizes have 31 bits, and a page may exceed its limit by the
/// values in flight.
const MAX_PAGE_BYTES: usize = 1 << 30;

/// Whether the column may have a bloom filter. QUIRK: DuckDB (2.0) looks up 32-bit values in the filter of a FLOAT16
/// column, and finds none of them. Booleans have only two values.
fn may_have_filter(leaf: &Leaf) -> bool {
    leaf.physical() != PhysicalType::Boolean && leaf.logical() != Some(&LogicalType::Float16)
}
