//! What a user asks of a writer, by the names that the `parquet` crate gives.
//!
//! Settings are for the file, or for columns. Those for columns are kept as rules, in the order in which they were
//! made, each for all columns, for a type, for a pattern of paths, or for one path. [`WriterProperties::check`] holds
//! them against a schema, and [`WriterProperties::column_settings`] makes one column's
//! [`ColumnSettings`](super::ColumnSettings) of them.

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

/// How a file is written.
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

/// Makes [`WriterProperties`].
///
/// `set_x` is for all columns, `set_type_x` for those of a physical or logical type, `set_glob_x` for those whose
/// path a pattern fits, and `set_column_x` for one, or for all in a group.
///
/// Where several are for the same column, the closest has the last word, for each setting on its own:
///
/// > the column's own path, then the path of a group around it, then a pattern, then a type, then all columns
///
/// and among equally close ones the last. The order of calls matters for nothing else.
///
/// Patterns are for dotted paths. `*` stands for any characters of one name and `?` for any one of them; a name that is
/// `**` stands for any number of names, none included. So `a.*` are the columns right below `a`, `a.**` all that are
/// in `a`, and `**.id` every column `id`, at any depth. A pattern may fit no column; a path must exist.
///
/// No setter fails. What is wrong shows when a writer is made, as [`WriterProperties::check`] tells.
#[derive(Debug, Clone, Default)]
pub struct WriterPropertiesBuilder {
    properties: WriterProperties,
}

/// Properties that several writers share.
pub type WriterPropertiesPtr = Arc<WriterProperties>;

/// Bytes in a data page unless something else is asked for.
pub const DEFAULT_PAGE_SIZE: usize = 1 << 20;
/// Bytes in a dictionary page unless something else is asked for. More than other writers allow: a dictionary is given up
/// because it does not pay, and hardly ever because it is large.
pub const DEFAULT_DICTIONARY_PAGE_SIZE_LIMIT: usize = 4 << 20;
/// Rows in a data page unless something else is asked for: a page is what a filter can pass over.
pub const DEFAULT_DATA_PAGE_ROW_COUNT_LIMIT: usize = 20_000;
/// Rows in a row group unless something else is asked for.
pub const DEFAULT_MAX_ROW_GROUP_ROW_COUNT: usize = 1 << 20;
/// Bytes of a bound in the column index unless something else is asked for.
pub const DEFAULT_COLUMN_INDEX_TRUNCATE_LENGTH: Option<usize> = Some(64);
/// Bytes of a column chunk's bound unless something else is asked for.
pub const DEFAULT_STATISTICS_TRUNCATE_LENGTH: Option<usize> = Some(64);
/// See [`WriterPropertiesBuilder::set_write_batch_size`].
pub const DEFAULT_WRITE_BATCH_SIZE: usize = 8192;

impl WriterProperties {
    /// The defaults.
    pub fn new() -> Self {
        WriterProperties::default()
    }

    /// A builder that starts with the defaults.
    pub fn builder() -> WriterPropertiesBuilder {
        WriterPropertiesBuilder::default()
    }

    /// A builder that starts with these properties.
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
    /// The properties, not checked yet.
    pub fn build(self) -> WriterProperties {
        self.properties
    }
}

impl From<WriterProperties> for WriterPropertiesBuilder {
    fn from(properties: WriterProperties) -> Self {
        properties.into_builder()
    }
}

/// This library, its version, and the build if `MARQUETRY_BUILD` was set when it was compiled.
///
/// QUIRK: old versions of parquet-mr ignore the statistics of files whose `created_by` has no `(build ...)`, even an
/// empty one.
fn created_by() -> String {
    let build = option_env!("MARQUETRY_BUILD").unwrap_or("");
    format!("marquetry version {} (build {build})", env!("CARGO_PKG_VERSION"))
}
