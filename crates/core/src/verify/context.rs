//! What all checks of a file know: its source, its metadata and where its parts are.

use super::file_parts::FileParts;
use super::leaf_shape::{LeafShape, leaf_shapes};
use super::options::VerifyOptions;
use super::rule::Level;
use crate::metadata::ParquetMetaData;
use crate::page::{ChecksumTrust, PageOptions};
use crate::schema::Leaf;
use crate::sort_order::SortOrder;
use crate::source::Source;
use marquetry_base::{ErrorLocation, Limits};
use std::sync::Arc;

/// A file whose footer was read.
pub(super) struct VerifyContext {
    pub(super) source: Arc<dyn Source>,
    pub(super) metadata: Arc<ParquetMetaData>,
    /// Where the footer begins.
    pub(super) data_end: u64,
    pub(super) level: Level,
    pub(super) limits: Arc<Limits>,
    /// Of each column.
    pub(super) shapes: Vec<LeafShape>,
    /// Where chunks, indexes and filters are.
    pub(super) parts: FileParts,
}

impl VerifyContext {
    pub(super) fn new(
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
            parts: FileParts::default(),
        }
    }

    /// How pages are read: checksums are a rule of their own here.
    pub(super) fn page_options(&self) -> PageOptions {
        PageOptions {
            limits: self.limits.clone(),
            verify_checksums: false,
            trust: ChecksumTrust::of_writer(self.metadata.created_by()),
        }
    }

    pub(super) fn leaf(&self, column: usize) -> &Leaf {
        self.metadata.schema().column(column)
    }

    /// The place of a column chunk.
    pub(super) fn place(&self, row_group: usize, column: usize) -> ErrorLocation {
        ErrorLocation {
            row_group: Some(row_group),
            column: Some(self.leaf(column).dotted().clone()),
            ..ErrorLocation::default()
        }
    }

    /// The order of `min_value` and `max_value` of a column, if they are to be believed.
    pub(super) fn order(&self, column: usize) -> Option<SortOrder> {
        let declared = self.metadata.column_orders().and_then(|orders| orders.get(column));
        SortOrder::for_reading(self.leaf(column), declared)
    }

    /// The first byte after `from` that belongs to something else.
    pub(super) fn room_end(&self, from: u64) -> u64 {
        let starts = &self.parts.starts;
        let next = starts.partition_point(|start| *start <= from);
        starts.get(next).map_or(self.data_end, |start| (*start).min(self.data_end))
    }
}
