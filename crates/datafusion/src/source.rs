//! The file source (`FileSource`): which columns, rows and parts of files a scan reads.

use crate::file_sequence::orders_of_partition;
use crate::filter::{Filter, has_dynamic_filter};
use crate::lossy_conditions::without_negations;
use crate::opener::Opener;
use crate::options::FormatOptions;
use crate::predicate::Translator;
use crate::row_index::{asks_row_index, asks_virtual_column, with_row_index};
use crate::scan_spec::ScanSpec;
use crate::session::SessionParts;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::datasource::physical_plan::{FileOpener, FileScanConfig, FileSource};
use datafusion::datasource::table_schema::TableSchema;
use datafusion::error::Result;
use datafusion::physical_expr::projection::ProjectionExprs;
use datafusion::physical_expr::{EquivalenceProperties, PhysicalExpr, PhysicalSortExpr, conjunction};
use datafusion::physical_expr_adapter::rewrite::rewrite_file_row_index_projection;
use datafusion::physical_expr_common::physical_expr::fmt_sql;
use datafusion::physical_plan::filter_pushdown::{FilterPushdownPropagation, PushedDown};
use datafusion::physical_plan::metrics::ExecutionPlanMetricsSet;
use datafusion::physical_plan::{DisplayFormatType, SortOrderPushdownResult, apply_expression_roots};
use object_store::ObjectStore;
use std::fmt;
use std::sync::Arc;

/// The `FileSource` that reads Parquet files as the rows of a table.
#[derive(Debug, Clone)]
pub struct MarquetrySource {
    spec: ScanSpec,
}

impl MarquetrySource {
    /// A source of all columns and rows of a table.
    pub fn new(table_schema: TableSchema, options: Arc<FormatOptions>) -> Self {
        let schema = table_schema.table_schema();
        let all: Vec<usize> = (0..schema.fields().len()).collect();
        let spec = ScanSpec {
            projection: ProjectionExprs::from_indices(&all, schema),
            table_schema,
            options,
            session: SessionParts::default(),
            filters: Vec::new(),
            asks_rows: false,
            batch_size: 8192,
            metrics: ExecutionPlanMetricsSet::new(),
        };
        MarquetrySource { spec }
    }

    pub(crate) fn with_session(self, session: SessionParts) -> Self {
        MarquetrySource { spec: ScanSpec { session, ..self.spec } }
    }

    #[cfg(feature = "proto")]
    pub(crate) fn spec(&self) -> &ScanSpec {
        &self.spec
    }

    #[cfg(feature = "proto")]
    pub(crate) fn with_filters(self, filters: Vec<Filter>, asks_rows: bool) -> Self {
        MarquetrySource { spec: ScanSpec { filters, asks_rows, ..self.spec } }
    }

    /// Returns a filter with whether this source alone evaluates it; `None` if the source has no use for it.
    fn accept(&self, expr: &Arc<dyn PhysicalExpr>, asks_rows: bool) -> Option<Filter> {
        if asks_virtual_column(expr, &self.spec.table_schema) {
            return None;
        }
        let translated = Translator::of_table(self.spec.table_schema.table_schema()).translate(expr);
        let is_dynamic = has_dynamic_filter(expr);
        let is_ours = asks_rows && translated.is_exact && !is_dynamic;
        let is_of_use = is_ours || is_dynamic || translated.predicate.is_some();
        is_of_use.then(|| Filter { expr: expr.clone(), is_ours })
    }
}

/// A source of all columns of a table: for properties of the table, whatever a query reads.
pub(crate) fn all_columns(table_schema: TableSchema) -> Arc<dyn FileSource> {
    Arc::new(MarquetrySource::new(table_schema, Arc::default()))
}

impl FileSource for MarquetrySource {
    fn create_file_opener(
        &self,
        object_store: Arc<dyn ObjectStore>,
        base_config: &FileScanConfig,
        partition: usize,
    ) -> Result<Arc<dyn FileOpener>> {
        let all = all_columns(self.spec.table_schema.clone());
        let orders = orders_of_partition(base_config, &all, partition)?;
        Ok(Arc::new(Opener::new(&self.spec, object_store, base_config, partition, orders)?))
    }

    fn table_schema(&self) -> &TableSchema {
        &self.spec.table_schema
    }

    fn with_batch_size(&self, batch_size: usize) -> Arc<dyn FileSource> {
        Arc::new(MarquetrySource { spec: ScanSpec { batch_size, ..self.spec.clone() } })
    }

    fn filter(&self) -> Option<Arc<dyn PhysicalExpr>> {
        let exprs: Vec<_> = self.spec.filters.iter().map(|filter| filter.expr.clone()).collect();
        (!exprs.is_empty()).then(|| conjunction(exprs))
    }

    fn projection(&self) -> Option<&ProjectionExprs> {
        Some(&self.spec.projection)
    }

    fn metrics(&self) -> &ExecutionPlanMetricsSet {
        &self.spec.metrics
    }

    fn file_type(&self) -> &str {
        // DataFusion looks for this name to show the details of a Parquet scan.
        "parquet"
    }

    fn fmt_extra(&self, t: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.filter(), t) {
            (None, DisplayFormatType::TreeRender) => Ok(()),
            (None, _) => write!(f, ", reader=marquetry"),
            (Some(filter), DisplayFormatType::TreeRender) => {
                writeln!(f, "predicate={}", fmt_sql(filter.as_ref()))
            }
            (Some(filter), _) => write!(f, ", reader=marquetry, predicate={filter}"),
        }
    }

    fn try_pushdown_filters(
        &self,
        filters: Vec<Arc<dyn PhysicalExpr>>,
        config: &ConfigOptions,
    ) -> Result<FilterPushdownPropagation<Arc<dyn FileSource>>> {
        let asks_rows =
            self.spec.options.pushdown_filters.unwrap_or(config.execution.parquet.pushdown_filters);
        let mut spec = ScanSpec { asks_rows, ..self.spec.clone() };
        let mut answers = Vec::with_capacity(filters.len());
        for expr in filters.iter().map(without_negations) {
            let accepted = self.accept(expr, asks_rows);
            let is_ours = accepted.as_ref().is_some_and(|filter| filter.is_ours);
            answers.push(if is_ours { PushedDown::Yes } else { PushedDown::No });
            let Some(filter) = accepted else { continue };
            // Plans are rebuilt from plans: a filter that is already there is not added twice.
            match spec.filters.iter_mut().find(|known| known.expr.eq(&filter.expr)) {
                Some(known) => known.is_ours |= filter.is_ours,
                None => spec.filters.push(filter),
            }
        }
        let answer = FilterPushdownPropagation::with_parent_pushdown_result(answers);
        match spec.filters.is_empty() {
            true => Ok(answer),
            false => Ok(answer.with_updated_node(Arc::new(MarquetrySource { spec }) as Arc<dyn FileSource>)),
        }
    }

    fn try_pushdown_projection(&self, projection: &ProjectionExprs) -> Result<Option<Arc<dyn FileSource>>> {
        let mut spec = self.spec.clone();
        if asks_row_index(projection) {
            let (table_schema, row_index) = with_row_index(&spec.table_schema);
            spec.table_schema = table_schema;
            spec.projection = rewrite_file_row_index_projection(&spec.projection, projection, &row_index)?;
        } else {
            spec.projection = spec.projection.try_merge(projection)?;
        }
        Ok(Some(Arc::new(MarquetrySource { spec })))
    }

    fn try_pushdown_sort(
        &self,
        order: &[PhysicalSortExpr],
        eq_properties: &EquivalenceProperties,
    ) -> Result<SortOrderPushdownResult<Arc<dyn FileSource>>> {
        match !order.is_empty() && eq_properties.ordering_satisfy(order.iter().cloned())? {
            true => Ok(SortOrderPushdownResult::Exact { inner: Arc::new(self.clone()) }),
            false => Ok(SortOrderPushdownResult::Unsupported),
        }
    }

    fn apply_expressions(
        &self,
        f: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        let filters = self.spec.filters.iter().map(|filter| &filter.expr);
        apply_expression_roots(filters.chain(self.spec.projection.iter().map(|projected| &projected.expr)), f)
    }
}
