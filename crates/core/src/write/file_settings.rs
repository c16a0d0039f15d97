//! Settings of a file as a whole.

use super::checkpoint::CheckpointEvery;
use marquetry_base::CancelToken;
use marquetry_crypto::FileEncryptionProperties;
use marquetry_format as format;
use std::sync::Arc;

/// Settings of a file as a whole.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct FileSettings {
    /// The name of the writer.
    pub created_by: Option<format::ThriftString>,
    /// The order of statistics bounds, one for each column.
    pub column_orders: Option<Vec<format::ColumnOrder>>,
    /// Key-value metadata.
    pub key_values: Vec<format::KeyValue>,
    /// Whether bloom filters are all before the footer, instead of each behind its row group.
    pub filters_at_end: bool,
    /// Whether to omit offset indexes.
    pub leave_out_offset_index: bool,
    /// When to leave checkpoints in the file.
    pub checkpoint_every: Option<CheckpointEvery>,
    /// How the file is encrypted.
    pub encryption: Option<Arc<FileEncryptionProperties>>,
    /// A token that stops writing; it is checked before each chunk.
    pub cancel: CancelToken,
    /// The format version in the footer; `None` is 1, which writers should write.
    pub format_version: Option<i32>,
}

impl FileSettings {
    /// Sets [`cancel`](Self::cancel).
    #[must_use]
    pub fn with_cancel(mut self, cancel: CancelToken) -> Self {
        self.cancel = cancel;
        self
    }

    /// Sets [`encryption`](Self::encryption).
    #[must_use]
    pub fn with_encryption(mut self, encryption: Option<Arc<FileEncryptionProperties>>) -> Self {
        self.encryption = encryption;
        self
    }

    /// Sets [`format_version`](Self::format_version).
    #[must_use]
    pub fn with_format_version(mut self, version: i32) -> Self {
        self.format_version = Some(version);
        self
    }

    /// Sets [`created_by`](Self::created_by).
    #[must_use]
    pub fn with_created_by(mut self, created_by: Option<format::ThriftString>) -> Self {
        self.created_by = created_by;
        self
    }

    /// Sets [`column_orders`](Self::column_orders).
    #[must_use]
    pub fn with_column_orders(mut self, column_orders: Option<Vec<format::ColumnOrder>>) -> Self {
        self.column_orders = column_orders;
        self
    }

    /// Sets [`key_values`](Self::key_values).
    #[must_use]
    pub fn with_key_values(mut self, key_values: Vec<format::KeyValue>) -> Self {
        self.key_values = key_values;
        self
    }

    /// Sets [`filters_at_end`](Self::filters_at_end).
    #[must_use]
    pub fn with_filters_at_end(mut self, filters_at_end: bool) -> Self {
        self.filters_at_end = filters_at_end;
        self
    }

    /// Sets [`leave_out_offset_index`](Self::leave_out_offset_index).
    #[must_use]
    pub fn with_leave_out_offset_index(mut self, leave_out_offset_index: bool) -> Self {
        self.leave_out_offset_index = leave_out_offset_index;
        self
    }

    /// Sets [`checkpoint_every`](Self::checkpoint_every).
    #[must_use]
    pub fn with_checkpoint_every(mut self, checkpoint_every: Option<CheckpointEvery>) -> Self {
        self.checkpoint_every = checkpoint_every;
        self
    }
}
