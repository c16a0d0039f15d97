//! The properties of a writer, with the names of the `parquet` crate.
//!
//! Settings are for the file, or for columns. Those for columns are kept as rules, in the order of the calls, each for
//! all columns, for a type, for a pattern of paths, or for one path. [`WriterProperties::check`] checks them against a
//! schema, and [`WriterProperties::column_settings`] makes one column's [`ColumnSettings`](super::ColumnSettings) from
//! them.

mod by_path;
mod choices;
mod compression;
mod encoding;
mod file_setters;
mod getters;
mod resolve;
mod rules;
mod selecting_setters;
mod selector;
mod setters;

pub use choices::{
    BloomFilterPosition, BloomFilterProperties, BloomFilterPropertiesBuilder, DEFAULT_BLOOM_FILTER_FPP,
    EnabledStatistics, StoredForms, WriterVersion,
};
pub use compression::{BrotliLevel, Compression, DEFAULT_COMPRESSION, GzipLevel, ZstdLevel};
pub use encoding::Encoding;
pub use marquetry_format::{KeyValue, SortingColumn};
pub use selector::{ColumnPath, TypeSelector};

use super::spill::ChosenStore;
use super::{CdcOptions, CheckpointEvery, Compat};
use by_path::ColumnKeyValues;
use marquetry_base::{CancelToken, MemoryBudget, SharedExecutor};
use marquetry_crypto::FileEncryptionProperties;
use rules::Rules;
use std::sync::Arc;

/// The properties of a writer: settings of the file and of its columns.
///
/// ```
/// use marquetry_core::logical_type::LogicalType;
/// use marquetry_core::write::{ColumnPath, Compression, Encoding, WriterProperties, ZstdLevel};
///
/// let properties = WriterProperties::builder()
///     .set_compression(Compression::ZSTD(ZstdLevel::try_new(3)?))
///     .set_max_row_group_row_count(Some(500_000))
///     .set_column_encoding(ColumnPath::from("id"), Encoding::DELTA_BINARY_PACKED)
///     .set_type_dictionary_enabled(LogicalType::Uuid, false)
///     .set_glob_bloom_filter_enabled("**.*_key", true)
///     .build();
/// assert!(properties.bloom_filter_properties(&ColumnPath::from("order.customer_key")).is_some());
/// # Ok::<(), marquetry_base::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct WriterProperties {
    rules: Rules,
    writer_version: WriterVersion,
    write_batch_size: usize,
    max_row_group_row_count: Option<usize>,
    max_row_group_bytes: Option<usize>,
    bloom_filter_position: BloomFilterPosition,
    offset_index_disabled: bool,
    coerce_types: bool,
    stored_forms: StoredForms,
    format_version: i32,
    compat: Compat,
    page_checksums: bool,
    arrow_schema: bool,
    threads: usize,
    memory_limit: Option<usize>,
    memory: MemoryBudget,
    spill_store: ChosenStore,
    checkpoint_every: Option<CheckpointEvery>,
    file_encryption: Option<Arc<FileEncryptionProperties>>,
    total_order: bool,
    distinct_counts: bool,
    whole_dictionaries: bool,
    content_defined_chunking: Option<CdcOptions>,
    created_by: String,
    key_value_metadata: Option<Vec<KeyValue>>,
    column_key_values: ColumnKeyValues,
    sorting_columns: Option<Vec<SortingColumn>>,
    column_index_truncate_length: Option<usize>,
    statistics_truncate_length: Option<usize>,
    cancel: CancelToken,
    executor: SharedExecutor,
}

/// A builder of [`WriterProperties`].
///
/// `set_x` is for all columns, `set_type_x` for those of a physical or logical type, `set_glob_x` for those whose path
/// matches a pattern, and `set_column_x` for one column, or for all columns of a group.
///
/// If several apply to a column, the most specific one wins, for each setting separately:
///
/// > the column's own path, then the path of a group around it, then a pattern, then a type, then all columns
///
/// and among equally specific ones the last. The order of calls matters for nothing else.
///
/// Patterns match dotted paths. `*` matches any characters of one name and `?` any one of them; a name that is `**`
/// matches any number of names, or none. So `a.*` matches the columns directly below `a`, `a.**` all columns in `a`,
/// and `**.id` every column `id`, at any depth. A pattern may match no column; a path must exist.
///
/// No setter fails. Invalid values are errors when a writer is created, see [`WriterProperties::check`].
#[derive(Debug, Clone, Default)]
pub struct WriterPropertiesBuilder {
    properties: WriterProperties,
}

/// Properties that several writers share.
pub type WriterPropertiesPtr = Arc<WriterProperties>;

/// The default size of a data page, in bytes.
pub const DEFAULT_PAGE_SIZE: usize = 1 << 20;
/// The default size limit of a dictionary page, in bytes. It is higher than in other writers: a dictionary is given up
/// because it does not pay, and rarely because it is large.
pub const DEFAULT_DICTIONARY_PAGE_SIZE_LIMIT: usize = 4 << 20;
/// The default number of rows in a data page, which is the unit that a filter can skip.
pub const DEFAULT_DATA_PAGE_ROW_COUNT_LIMIT: usize = 20_000;
/// The default number of rows in a row group.
pub const DEFAULT_MAX_ROW_GROUP_ROW_COUNT: usize = 1 << 20;
/// The default length of a bound in the column index, in bytes.
pub const DEFAULT_COLUMN_INDEX_TRUNCATE_LENGTH: Option<usize> = Some(64);
/// The default length of a bound in a column chunk's statistics, in bytes.
pub const DEFAULT_STATISTICS_TRUNCATE_LENGTH: Option<usize> = Some(64);
/// The default of [`WriterPropertiesBuilder::set_write_batch_size`], in rows.
pub const DEFAULT_WRITE_BATCH_SIZE: usize = 8192;

impl WriterProperties {
    /// Creates the default properties.
    pub fn new() -> Self {
        WriterProperties::default()
    }

    /// Creates a builder that starts with the defaults.
    pub fn builder() -> WriterPropertiesBuilder {
        WriterPropertiesBuilder::default()
    }

    /// Creates a builder that starts with these properties.
    pub fn into_builder(self) -> WriterPropertiesBuilder {
        WriterPropertiesBuilder { properties: self }
    }
}

impl Default for WriterProperties {
    fn default() -> Self {
        WriterProperties {
            rules: Rules::default(),
            writer_version: WriterVersion::default(),
            write_batch_size: DEFAULT_WRITE_BATCH_SIZE,
            max_row_group_row_count: Some(DEFAULT_MAX_ROW_GROUP_ROW_COUNT),
            max_row_group_bytes: None,
            bloom_filter_position: BloomFilterPosition::default(),
            offset_index_disabled: false,
            coerce_types: false,
            stored_forms: StoredForms::default(),
            format_version: 1,
            compat: Compat::default(),
            page_checksums: true,
            arrow_schema: true,
            threads: 1,
            memory_limit: None,
            memory: MemoryBudget::default(),
            spill_store: ChosenStore::default(),
            checkpoint_every: None,
            file_encryption: None,
            total_order: false,
            distinct_counts: true,
            whole_dictionaries: false,
            content_defined_chunking: None,
            created_by: created_by(),
            key_value_metadata: None,
            column_key_values: ColumnKeyValues::default(),
            sorting_columns: None,
            column_index_truncate_length: DEFAULT_COLUMN_INDEX_TRUNCATE_LENGTH,
            statistics_truncate_length: DEFAULT_STATISTICS_TRUNCATE_LENGTH,
            cancel: CancelToken::default(),
            executor: SharedExecutor::default(),
        }
    }
}

impl WriterPropertiesBuilder {
    /// Returns the properties, which are not checked yet.
    pub fn build(self) -> WriterProperties {
        self.properties
    }
}

impl From<WriterProperties> for WriterPropertiesBuilder {
    fn from(properties: WriterProperties) -> Self {
        properties.into_builder()
    }
}

/// Returns this library's name and version, and the build if `MARQUETRY_BUILD` was set at compile time.
///
/// QUIRK: old versions of parquet-mr ignore the statistics of files whose `created_by` has no `(build ...)`; an empty
/// one is enough.
fn created_by() -> String {
    let build = option_env!("MARQUETRY_BUILD").unwrap_or("");
    format!("marquetry version {} (build {build})", env!("CARGO_PKG_VERSION"))
}
