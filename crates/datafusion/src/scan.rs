//! Reads the parts of a file that a partition has, one after the other.

use crate::error::of_file;
use crate::file_plan::FilePlan;
use crate::metrics::ScanMetrics;
use crate::output::Output;
use crate::pieces::Piece;
use crate::row_order::RowOrder;
use crate::store_file::StoreFile;
use arrow_array::RecordBatch;
use datafusion::error::Result;
use datafusion::physical_expr::DynamicFilterTracking;
use datafusion::physical_optimizer::pruning::FilePruner;
use futures::stream::BoxStream;
use futures::{StreamExt, stream};
use marquetry_arrow::arrow_reader::{ProjectionMask, RowSelection};
use marquetry_arrow::async_reader::{ParquetRecordBatchStream, ParquetRecordBatchStreamBuilder};
use std::collections::VecDeque;

/// The scan of one file.
///
/// While a dynamic filter may still change, each row group gets a reader of its own, which uses the filter as it is by
/// then; row groups that the filter rules out are not opened.
pub(crate) struct Scan {
    plan: FilePlan,
    file: StoreFile,
    pieces: VecDeque<Piece>,
    open: Option<OpenReader>,
    orders: Vec<RowOrder>,
    pruner: Option<FilePruner>,
    watched: Option<DynamicFilterTracking>,
    metrics: ScanMetrics,
    /// Number of rows that may still be returned.
    left: usize,
}

/// A reader of some pieces. Its counts are added to the metrics when it is dropped, whatever the reason.
struct OpenReader {
    stream: ParquetRecordBatchStream<StoreFile>,
    output: Output,
    metrics: ScanMetrics,
    asks_rows: bool,
}

impl Scan {
    pub(crate) fn new(
        mut plan: FilePlan,
        file: StoreFile,
        pieces: Vec<Piece>,
        pruner: Option<FilePruner>,
        metrics: ScanMetrics,
    ) -> Self {
        let watched = plan.dynamic().map(|dynamic| DynamicFilterTracking::classify(&dynamic));
        let left = plan.limit.unwrap_or(usize::MAX);
        let orders = std::mem::take(&mut plan.orders);
        Scan { plan, file, pieces: pieces.into(), open: None, orders, pruner, watched, metrics, left }
    }

    pub(crate) fn into_stream(self) -> BoxStream<'static, Result<RecordBatch>> {
        let step = |scan: Option<Scan>| async {
            let mut scan = scan?;
            match scan.next().await {
                Ok(Some(batch)) => Some((Ok(batch), Some(scan))),
                Ok(None) => None,
                // The stream ends after an error.
                Err(error) => Some((Err(error), None)),
            }
        };
        stream::unfold(Some(self), step).boxed()
    }

    async fn next(&mut self) -> Result<Option<RecordBatch>> {
        loop {
            if self.left == 0 {
                return Ok(None);
            }
            let Some(open) = &mut self.open else {
                match self.begin()? {
                    true => continue,
                    false => return Ok(None),
                }
            };
            match open.stream.next().await {
                Some(batch) => {
                    let batch = batch.map_err(|error| of_file(error, &self.plan.path))?;
                    let batch = self.plan.restored(batch)?;
                    for order in &mut self.orders {
                        order.check(&batch, &self.plan.path)?;
                    }
                    if let Some(batch) = open.output.batch(batch)? {
                        self.left = self.left.saturating_sub(batch.num_rows());
                        return Ok(Some(batch));
                    }
                }
                None => self.open = None,
            }
        }
    }

    /// Opens a reader of the next pieces: of all, unless a dynamic filter may still change. Returns `false` if none is
    /// left.
    fn begin(&mut self) -> Result<bool> {
        if let Some(pruner) = &mut self.pruner
            && pruner.is_watching()
            && pruner.should_prune()?
        {
            self.metrics.row_groups_pruned_dynamic_filter.add(self.pieces.len());
            self.pieces.clear();
        }
        let predicate = self.plan.predicate()?;
        let bound = predicate.as_ref().map(|predicate| self.plan.prunable(predicate)).transpose()?;
        let is_watching = self.is_watching();
        // Otherwise the reader prunes by statistics itself, and counts that.
        if let Some(bound) = bound.filter(|_| is_watching) {
            let before = self.pieces.len();
            let mut kept = VecDeque::with_capacity(before);
            for piece in std::mem::take(&mut self.pieces) {
                if !self.plan.is_ruled_out(&bound, piece.row_group)? {
                    kept.push_back(piece);
                }
            }
            self.pieces = kept;
            self.metrics.row_groups_pruned_dynamic_filter.add(before - self.pieces.len());
        }
        let now = if is_watching { 1 } else { self.pieces.len() };
        let pieces: Vec<Piece> = self.pieces.drain(..now.min(self.pieces.len())).collect();
        if pieces.is_empty() {
            return Ok(false);
        }
        let mut builder =
            ParquetRecordBatchStreamBuilder::new_with_metadata(self.file.clone(), self.plan.footer.clone())
                .with_request_cost(self.file.cost())
                .with_batch_size(self.plan.batch_size)
                .with_row_groups(pieces.iter().map(|piece| piece.row_group).collect());
        builder = match self.plan.columns.is_empty() {
            true => {
                builder.with_projection(ProjectionMask::none(self.plan.footer.parquet_schema().num_columns()))
            }
            false => builder
                .with_columns(self.plan.columns.iter().map(String::as_str))
                .map_err(|error| of_file(error, &self.plan.path))?,
        };
        if let Some(selection) = self.selection(&pieces) {
            builder = builder.with_row_selection(selection);
        }
        if let Some(predicate) = predicate {
            builder = match self.plan.asks_rows {
                true => builder.with_predicate(predicate),
                false => builder.with_pruning_predicate(predicate),
            };
        }
        if self.plan.limit.is_some() {
            builder = builder.with_limit(self.left);
        }
        let stream = builder.build().map_err(|error| of_file(error, &self.plan.path))?;
        let schema = self.plan.restored_schema(stream.schema())?;
        for order in &mut self.orders {
            order.read_as(&schema)?;
        }
        let output = self.plan.output(&schema)?;
        let (metrics, asks_rows) = (self.metrics.clone(), self.plan.asks_rows);
        self.open = Some(OpenReader { stream, output, metrics, asks_rows });
        Ok(true)
    }

    /// Whether some dynamic filter may still change.
    fn is_watching(&mut self) -> bool {
        let Some(DynamicFilterTracking::Watching(_)) = &self.watched else { return false };
        // Filters may have become complete since.
        self.watched = self.plan.dynamic().map(|dynamic| DynamicFilterTracking::classify(&dynamic));
        matches!(self.watched, Some(DynamicFilterTracking::Watching(_)))
    }

    /// The selected rows of the pieces' row groups; `None` if all rows are.
    fn selection(&self, pieces: &[Piece]) -> Option<RowSelection> {
        let groups =
            pieces.iter().map(|piece| self.plan.footer.metadata().row_group(piece.row_group).num_rows());
        let groups: Vec<u64> = groups.collect();
        if pieces.iter().zip(&groups).all(|(piece, rows)| piece.rows == (0..*rows)) {
            return None;
        }
        let mut first = 0u64;
        let mut ranges = Vec::with_capacity(pieces.len());
        for (piece, rows) in pieces.iter().zip(&groups) {
            // Row counts of a footer are untrusted. A sum that overflows saturates, and reading finds the rows missing.
            let at = |row: u64| first.saturating_add(row) as usize;
            ranges.push(at(piece.rows.start)..at(piece.rows.end));
            first = first.saturating_add(*rows);
        }
        Some(RowSelection::from_consecutive_ranges(ranges.into_iter(), first as usize))
    }
}

impl Drop for OpenReader {
    fn drop(&mut self) {
        self.metrics.add(&self.stream.metrics(), self.asks_rows);
        let lost = self.stream.loss_report();
        if !lost.is_empty() {
            self.metrics.lost(lost.rows_left_out, lost.values_made_null);
            for loss in &lost.losses {
                log::warn!("{loss}");
            }
        }
    }
}
