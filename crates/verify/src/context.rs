//! The context that all checks of a file share: its source, its metadata and the places of its parts.

use crate::file_parts::FileParts;
use crate::options::VerifyOptions;
use crate::rule::Level;
use marquetry_base::{ErrorLocation, Limits};
use marquetry_core::metadata::ParquetMetaData;
use marquetry_core::nesting::{LeafShape, leaf_shapes};
use marquetry_core::page::PageOptions;
use marquetry_core::schema::Leaf;
use marquetry_core::sort_order::SortOrder;
use marquetry_core::source::Source;
use marquetry_crypto::FileDecryptionProperties;
use std::sync::Arc;

/// A file whose footer was read, and the level at which it is verified.
pub(crate) struct VerifyContext {
    pub(crate) source: Arc<dyn Source>,
    pub(crate) metadata: Arc<ParquetMetaData>,
    /// Offset of the footer.
    pub(crate) data_end: u64,
    pub(crate) level: Level,
    pub(crate) limits: Arc<Limits>,
    /// The keys from the options.
    pub(crate) decryption: Option<Arc<FileDecryptionProperties>>,
    /// The shape of each column.
    pub(crate) shapes: Vec<LeafShape>,
    /// The places of chunks, indexes and filters.
    pub(crate) parts: FileParts,
}

impl VerifyContext {
    pub(crate) fn new(
        source: Arc<dyn Source>,
        metadata: ParquetMetaData,
        data_end: u64,
        options: &VerifyOptions,
    ) -> Self {
        VerifyContext {
            source,
            shapes: leaf_shapes(metadata.schema()),
            metadata: Arc::new(metadata),
            data_end,
            level: options.level,
            limits: Arc::new(options.limits.clone()),
            decryption: options.decryption.clone(),
            parts: FileParts::default(),
        }
    }

    /// Returns the options for reading pages. The reader does not verify checksums: they are a rule.
    pub(crate) fn page_options(&self) -> PageOptions {
        PageOptions::for_writer(self.metadata.created_by())
            .with_limits(self.limits.clone())
            .with_checksum_verification(false)
    }

    pub(crate) fn leaf(&self, column: usize) -> &Leaf {
        self.metadata.schema().column(column)
    }

    /// Returns the location of a column chunk for findings.
    pub(crate) fn place(&self, row_group: usize, column: usize) -> ErrorLocation {
        ErrorLocation::default().with_row_group(row_group).with_column(self.leaf(column).dotted().clone())
    }

    /// Returns the order of `min_value` and `max_value` of a column, or `None` if it is unknown.
    pub(crate) fn order(&self, column: usize) -> Option<SortOrder> {
        let declared = self.metadata.column_orders().and_then(|orders| orders.get(column));
        SortOrder::for_reading(self.leaf(column), declared)
    }

    /// Returns the first byte behind `from` that belongs to another part of the file.
    pub(crate) fn room_end(&self, from: u64) -> u64 {
        let starts = &self.parts.starts;
        let next = starts.partition_point(|start| *start <= from);
        starts.get(next).map_or(self.data_end, |start| (*start).min(self.data_end))
    }
}
