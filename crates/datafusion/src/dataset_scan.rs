//! The scan of a dataset: reads its parts, one a partition.

use crate::any_dataset::AnyDataset;
use crate::error::of;
use arrow_array::{RecordBatch, RecordBatchOptions};
use arrow_schema::SchemaRef;
use datafusion::common::stats::Precision;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{Statistics, internal_err};
use datafusion::error::Result;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::{EquivalenceProperties, Partitioning, PhysicalExpr};
use datafusion::physical_plan::execution_plan::{Boundedness, EmissionType};
use datafusion::physical_plan::metrics::{BaselineMetrics, ExecutionPlanMetricsSet, MetricsSet};
use datafusion::physical_plan::stream::{RecordBatchReceiverStream, RecordBatchStreamAdapter};
use datafusion::physical_plan::{
    ChildrenPropertiesMode, DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties,
    ReplaceChildrenOptions,
};
use futures::{Stream, TryStreamExt, stream};
use marquetry_arrow::async_reader::AsyncSource;
use marquetry_arrow::dataset::Dataset;
use std::fmt;
use std::sync::Arc;
use std::task::{Poll, ready};

/// The scan of a dataset: each part is a partition.
#[derive(Debug)]
pub(crate) struct DatasetScan {
    /// The projected columns, by name; parts may read more, for their filters.
    schema: SchemaRef,
    parts: Vec<AnyDataset>,
    rows: Option<u64>,
    properties: Arc<PlanProperties>,
    metrics: ExecutionPlanMetricsSet,
}

impl DatasetScan {
    /// `rows` is the number of all rows, if it is known.
    pub(crate) fn new(schema: SchemaRef, parts: Vec<AnyDataset>, rows: Option<u64>) -> Self {
        let properties = PlanProperties::new(
            EquivalenceProperties::new(schema.clone()),
            Partitioning::UnknownPartitioning(parts.len()),
            EmissionType::Incremental,
            Boundedness::Bounded,
        );
        DatasetScan { schema, parts, rows, properties: Arc::new(properties), metrics: Default::default() }
    }
}

impl DisplayAs for DatasetScan {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let files: usize = self.parts.iter().map(AnyDataset::num_files).sum();
        let columns: Vec<&str> = self.schema.fields().iter().map(|field| field.name().as_str()).collect();
        write!(
            f,
            "DatasetScan: files={files}, partitions={}, columns=[{}]",
            self.parts.len(),
            columns.join(", ")
        )
    }
}

impl ExecutionPlan for DatasetScan {
    fn name(&self) -> &'static str {
        "DatasetScan"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        Vec::new()
    }

    fn apply_expressions(
        &self,
        _: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }

    fn replace_children(
        self: Arc<Self>,
        children: Vec<Arc<dyn ExecutionPlan>>,
        _: ReplaceChildrenOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        match children.is_empty() {
            true => Ok(self),
            false => internal_err!("a scan has no children"),
        }
    }

    fn with_new_children(
        self: Arc<Self>,
        children: Vec<Arc<dyn ExecutionPlan>>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        self.replace_children(children, ReplaceChildrenOptions::new(ChildrenPropertiesMode::Recompute))
    }

    fn execute(&self, partition: usize, _: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let Some(part) = self.parts.get(partition).cloned() else {
            return internal_err!("there are {} partitions, none is {partition}", self.parts.len());
        };
        let (schema, metrics) = (self.schema.clone(), BaselineMetrics::new(&self.metrics, partition));
        Ok(match part {
            AnyDataset::Blocking(part) => read_by_thread(part, schema, metrics),
            AnyDataset::Async(part) => read_async(part, schema, metrics),
        })
    }

    fn metrics(&self) -> Option<MetricsSet> {
        Some(self.metrics.clone_inner())
    }

    fn partition_statistics(&self, partition: Option<usize>) -> Result<Arc<Statistics>> {
        let unknown = Statistics::new_unknown(&self.schema);
        let rows = self.rows.filter(|_| partition.is_none() || self.parts.len() == 1);
        Ok(Arc::new(match rows.and_then(|rows| usize::try_from(rows).ok()) {
            Some(rows) => unknown.with_num_rows(Precision::Exact(rows)),
            None => unknown,
        }))
    }
}

/// Reads a part whose sources may block, on a blocking thread instead of those of the runtime.
fn read_by_thread(part: Dataset, schema: SchemaRef, metrics: BaselineMetrics) -> SendableRecordBatchStream {
    let mut builder = RecordBatchReceiverStream::builder(schema.clone(), BATCHES_AHEAD);
    let sender = builder.tx();
    builder.spawn_blocking(move || {
        let mut batches = part.batches().map_err(of)?;
        loop {
            let timer = metrics.elapsed_compute().timer();
            let Some(batch) = batches.next_batch() else { return Ok(()) };
            let batch = wanted(batch.map_err(of)?, &schema)?;
            timer.done();
            metrics.record_output(batch.num_rows());
            // The receiver is gone once the query has what it wants.
            if sender.blocking_send(Ok(batch)).is_err() {
                return Ok(());
            }
        }
    });
    builder.build()
}

/// Reads a part with asynchronous sources.
fn read_async(
    part: Dataset<dyn AsyncSource>,
    schema: SchemaRef,
    metrics: BaselineMetrics,
) -> SendableRecordBatchStream {
    let columns = schema.clone();
    let opened = stream::once(async move { part.stream().await.map_err(of) });
    let mut batches = Box::pin(opened.map_ok(|batches| batches.map_err(of)).try_flatten());
    let batches = stream::poll_fn(move |cx| {
        let _timer = metrics.elapsed_compute().timer();
        let batch = ready!(batches.as_mut().poll_next(cx));
        let batch = batch.map(|batch| batch.and_then(|batch| wanted(batch, &columns)));
        metrics.record_poll(Poll::Ready(batch))
    });
    Box::pin(RecordBatchStreamAdapter::new(schema, batches))
}

/// Projects a batch to the columns of `schema`.
fn wanted(batch: RecordBatch, schema: &SchemaRef) -> Result<RecordBatch> {
    let of_batch = batch.schema();
    let columns =
        schema.fields().iter().map(|field| Ok(batch.column(of_batch.index_of(field.name())?).clone()));
    let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    let columns = columns.collect::<Result<Vec<_>>>()?;
    Ok(RecordBatch::try_new_with_options(schema.clone(), columns, &options)?)
}

/// Batches that are decoded ahead of the consumer.
const BATCHES_AHEAD: usize = 2;
