//! Sessions, and files that they read.

use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::SchemaRef;
use datafusion::arrow::util::display::{ArrayFormatter, FormatOptions};
use datafusion::arrow::util::pretty::pretty_format_batches;
use datafusion::error::Result;
use datafusion::physical_plan::displayable;
use datafusion::prelude::{SessionConfig, SessionContext};
use marquetry_arrow::arrow_writer::ArrowWriter;
use marquetry_core::write::WriterProperties;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;

/// A session that reads Parquet by Marquetry, with 3 partitions, files cut however small they are.
pub(crate) fn session() -> SessionContext {
    session_with(SessionConfig::new().with_target_partitions(3))
}

pub(crate) fn session_with(config: SessionConfig) -> SessionContext {
    let mut config = config.with_information_schema(true);
    config.options_mut().optimizer.repartition_file_min_size = 1;
    let ctx = SessionContext::new_with_config(config).enable_url_table();
    marquetry_datafusion::register(&ctx).unwrap();
    ctx
}

/// Runs a statement, and gives its batches.
pub(crate) async fn batches(ctx: &SessionContext, sql: &str) -> Result<Vec<RecordBatch>> {
    ctx.sql(sql).await?.collect().await
}

/// The rows of a query as text, sorted if their order is open.
pub(crate) async fn found(ctx: SessionContext, sql: String, is_open: bool) -> Result<Vec<String>> {
    let mut rows = rows_of(&batches(&ctx, &sql).await?);
    if is_open {
        rows.sort();
    }
    Ok(rows)
}

/// Runs a statement that must work.
pub(crate) async fn run(ctx: &SessionContext, sql: &str) -> Vec<RecordBatch> {
    batches(ctx, sql).await.unwrap_or_else(|error| panic!("{sql}: {error}"))
}

/// What a statement gives, as text.
pub(crate) async fn shown(ctx: &SessionContext, sql: &str) -> String {
    pretty_format_batches(&run(ctx, sql).await).unwrap().to_string()
}

/// The rows that a statement gives, each as text, in their order.
pub(crate) async fn rows(ctx: &SessionContext, sql: &str) -> Vec<String> {
    rows_of(&run(ctx, sql).await)
}

pub(crate) fn rows_of(batches: &[RecordBatch]) -> Vec<String> {
    let options = FormatOptions::default().with_null("null");
    let mut rows = Vec::new();
    for batch in batches {
        let columns: Vec<ArrayFormatter<'_>> =
            batch.columns().iter().map(|column| ArrayFormatter::try_new(column, &options).unwrap()).collect();
        for row in 0..batch.num_rows() {
            rows.push(
                columns.iter().map(|column| column.value(row).to_string()).collect::<Vec<_>>().join(" | "),
            );
        }
    }
    rows
}

/// The error of a statement, which must fail.
pub(crate) async fn error(ctx: &SessionContext, sql: &str) -> String {
    match batches(ctx, sql).await {
        Ok(batches) => panic!("{sql}: it gives {:?}", rows_of(&batches)),
        Err(error) => error.to_string(),
    }
}

/// The plan of a query as text.
pub(crate) async fn plan(ctx: &SessionContext, sql: &str) -> String {
    let plan = ctx.sql(sql).await.unwrap().create_physical_plan().await.unwrap();
    displayable(plan.as_ref()).indent(true).to_string()
}

/// A metric of a query that was run, summed over its plan.
pub(crate) async fn metric(ctx: &SessionContext, sql: &str, name: &str) -> usize {
    let plan = ctx.sql(sql).await.unwrap().create_physical_plan().await.unwrap();
    datafusion::physical_plan::collect(plan.clone(), ctx.task_ctx()).await.unwrap();
    sum(plan.as_ref(), name)
}

fn sum(plan: &dyn datafusion::physical_plan::ExecutionPlan, name: &str) -> usize {
    use datafusion::physical_plan::metrics::MetricValue;
    let own = plan.metrics().and_then(|metrics| metrics.sum_by_name(name)).map_or(0, |value| match value {
        MetricValue::PruningMetrics { pruning_metrics, .. } => pruning_metrics.pruned(),
        other => other.as_usize(),
    });
    own + plan.children().iter().map(|child| sum(child.as_ref(), name)).sum::<usize>()
}

/// Writes batches as a file, in row groups of so many rows and pages of a quarter of that.
pub(crate) fn write(path: &Path, batches: &[RecordBatch], row_group: usize) {
    let properties = WriterProperties::builder()
        .set_max_row_group_row_count(Some(row_group))
        .set_data_page_row_count_limit((row_group / 4).max(1));
    write_with(path, batches, properties.build());
}

pub(crate) fn write_with(path: &Path, batches: &[RecordBatch], properties: WriterProperties) {
    let schema: SchemaRef = batches[0].schema();
    let mut writer = ArrowWriter::try_new(File::create(path).unwrap(), schema, Some(properties)).unwrap();
    batches.iter().for_each(|batch| writer.write(batch).unwrap());
    writer.close().unwrap();
}

/// A batch of named columns.
pub(crate) fn batch<const N: usize>(columns: [(&str, ArrayRef); N]) -> RecordBatch {
    RecordBatch::try_from_iter_with_nullable(columns.map(|(name, column)| (name, column, true))).unwrap()
}

pub(crate) fn ints(values: impl IntoIterator<Item = i32>) -> ArrayRef {
    Arc::new(arrow_array::Int32Array::from_iter_values(values))
}

pub(crate) fn longs(values: impl IntoIterator<Item = i64>) -> ArrayRef {
    Arc::new(arrow_array::Int64Array::from_iter_values(values))
}

pub(crate) fn texts(values: impl IntoIterator<Item = String>) -> ArrayRef {
    Arc::new(arrow_array::StringArray::from_iter_values(values))
}
