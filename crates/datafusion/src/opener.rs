//! The file opener: opens one file of a table, or a part of it, as a stream of batches.

use crate::file_plan::FilePlan;
use crate::file_request::FileRequest;
use crate::filter::Filter;
use crate::metrics::ScanMetrics;
use crate::pieces::pieces;
use crate::row_order::RowOrder;
use crate::scan::Scan;
use crate::scan_spec::ScanSpec;
use crate::store_file::StoreFile;
use arrow_schema::SchemaRef;
use datafusion::common::ScalarValue;
use datafusion::datasource::listing::PartitionedFile;
use datafusion::datasource::physical_plan::{FileOpenFuture, FileOpener, FileScanConfig};
use datafusion::error::Result;
use datafusion::physical_expr::{LexOrdering, PhysicalExpr, conjunction};
use datafusion::physical_expr_adapter::rewrite::rewrite_input_file_name_in_projection;
use datafusion::physical_expr_adapter::{
    DefaultPhysicalExprAdapterFactory, PhysicalExprAdapterFactory, replace_columns_with_literals,
};
use datafusion::physical_optimizer::pruning::FilePruner;
use futures::{FutureExt, StreamExt, stream};
use marquetry_arrow::arrow_reader::{ArrowReaderOptions, OnCorrupt};
use object_store::ObjectStore;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;

/// Opens the files of one partition of a scan.
pub(crate) struct Opener {
    spec: ScanSpec,
    store: Arc<dyn ObjectStore>,
    limit: Option<usize>,
    /// Orders that the rows must have, across files if these are read in sequence.
    orders: Vec<RowOrder>,
    is_in_sequence: bool,
    adapters: Arc<dyn PhysicalExprAdapterFactory>,
    reader_options: ArrowReaderOptions,
    output_schema: SchemaRef,
    metrics: ScanMetrics,
}

impl Opener {
    pub(crate) fn new(
        spec: &ScanSpec,
        store: Arc<dyn ObjectStore>,
        config: &FileScanConfig,
        partition: usize,
        orders: Vec<LexOrdering>,
    ) -> Result<Self> {
        let adapters = config.expr_adapter_factory.clone();
        Ok(Opener {
            reader_options: spec.options.reader_options()?.with_limits(spec.session.limits(partition)),
            output_schema: Arc::new(spec.projection.project_schema(spec.table_schema.table_schema())?),
            metrics: ScanMetrics::new(&spec.metrics, partition),
            adapters: adapters.unwrap_or_else(|| Arc::new(DefaultPhysicalExprAdapterFactory)),
            spec: spec.clone(),
            store,
            limit: config.limit,
            orders: orders.into_iter().map(|order| RowOrder::new(order.into())).collect(),
            // Otherwise partitions take files from each other.
            is_in_sequence: config.preserve_order,
        })
    }

    /// The request for a file, with literals in place of partition columns and of the file's name.
    fn wanted(&self, file: &PartitionedFile) -> Result<FileRequest> {
        let spec = &self.spec;
        let columns = spec.table_schema.table_partition_cols().iter();
        let values: HashMap<String, ScalarValue> =
            columns.map(|field| field.name().clone()).zip(file.partition_values.iter().cloned()).collect();
        let in_file = |expr: Arc<dyn PhysicalExpr>| replace_columns_with_literals(expr, &values);
        let projection = spec.projection.clone().try_map_exprs(in_file)?;
        let orders = self.orders.iter().map(|order| {
            let order = if self.is_in_sequence { order.clone() } else { order.restarted() };
            order.try_map_keys(in_file)
        });
        let name = file.object_meta.location.to_string();
        let filters = spec.filters.iter().map(|filter| {
            let expr = in_file(filter.expr.clone())?;
            Ok(Filter { expr, is_ours: filter.is_ours })
        });
        let global = &spec.options.parquet.global;
        // Which rows remain is not known if damaged pages may be skipped.
        let is_whole = spec.options.on_corrupt == OnCorrupt::Fail;
        Ok(FileRequest {
            projection: rewrite_input_file_name_in_projection(projection, &name)?,
            filters: filters.collect::<Result<Vec<_>>>()?,
            orders: orders.collect::<Result<Vec<_>>>()?,
            output_schema: self.output_schema.clone(),
            batch_size: spec.batch_size,
            limit: self.limit,
            asks_rows: spec.asks_rows,
            prunes: is_whole && global.pruning,
        })
    }

    /// The pruner that may rule the file out before it is opened, and again while it is read.
    fn pruner(&self, file: &PartitionedFile, wanted: &FileRequest) -> Option<FilePruner> {
        let exprs: Vec<_> = wanted.filters.iter().map(|filter| filter.expr.clone()).collect();
        if exprs.is_empty() || !wanted.prunes {
            return None;
        }
        let errors = self.metrics.num_predicate_creation_errors.clone();
        FilePruner::try_new(conjunction(exprs), self.spec.table_schema.file_schema(), file, errors)
    }
}

impl FileOpener for Opener {
    fn open(&self, file: PartitionedFile) -> Result<FileOpenFuture> {
        let wanted = self.wanted(&file)?;
        let mut pruner = self.pruner(&file, &wanted);
        let metrics = self.metrics.clone();
        if let Some(pruner) = &mut pruner
            && pruner.should_prune()?
        {
            metrics.files_pruned.add_pruned(1);
            return Ok(async { Ok(stream::empty().boxed()) }.boxed());
        }
        metrics.files_pruned.add_matched(1);
        let (footers, options) = (self.spec.session.footers.clone(), self.reader_options.clone());
        let (table, adapters) = (self.spec.table_schema.clone(), self.adapters.clone());
        let stored = StoreFile::new(self.store.clone(), file.object_meta.clone());
        let may_cut = self.spec.options.on_corrupt == OnCorrupt::Fail;
        Ok(async move {
            let start = Instant::now();
            let footer = footers.footer(&stored, &options).await?;
            metrics.metadata_load_time.add_elapsed(start);
            let path = &stored.meta().location;
            let pieces = pieces(footer.metadata(), stored.meta().size, range_of(&file), may_cut);
            let plan = FilePlan::new(footer, &options, &table, adapters.as_ref(), wanted, path)?;
            Ok(Scan::new(plan, stored, pieces, pruner, metrics).into_stream())
        }
        .boxed())
    }
}

/// The bytes of the file that are this partition's; `None` for all.
fn range_of(file: &PartitionedFile) -> Option<Range<u64>> {
    let range = file.range.as_ref()?;
    Some(u64::try_from(range.start).unwrap_or(0)..u64::try_from(range.end).unwrap_or(0))
}
