//! A dataset as a table of DataFusion.

use crate::any_dataset::AnyDataset;
use crate::dataset_scan::DatasetScan;
use crate::error::of;
use crate::nested_layout::without_nested_views;
use crate::predicate::{Translated, Translator};
use crate::required_columns::nullable;
use arrow_schema::SchemaRef;
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::{DFSchema, Statistics, internal_err, stats::Precision};
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::context::ExecutionProps;
use datafusion::logical_expr::dml::InsertOp;
use datafusion::logical_expr::expr_rewriter::unnormalize_col;
use datafusion::logical_expr::physical_planning_context::PhysicalPlanningContext;
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown, TableType};
use datafusion::physical_expr::create_physical_expr;
use datafusion::physical_plan::ExecutionPlan;
use futures::FutureExt;
use futures::future::BoxFuture;
use marquetry_arrow::async_reader::AsyncSource;
use marquetry_arrow::dataset::Dataset;
use marquetry_core::predicate::Predicate;
use std::fmt;
use std::sync::Arc;
use tokio::sync::Mutex;

/// A table of a [`Dataset`]: of files from any [`Source`](marquetry_core::source::Source), with its partition columns
/// and its schema, evolved or united.
///
/// The dataset takes the filters, limit and projection of a query, and does not read what they rule out. Files are
/// shared out to the session's partitions; sources that block are read on blocking threads.
///
/// ```
/// # use arrow_array::{ArrayRef, Int32Array, RecordBatch};
/// # use datafusion::prelude::SessionContext;
/// # use marquetry_arrow::arrow_writer::ArrowWriter;
/// use marquetry_arrow::dataset::Dataset;
/// use marquetry_datafusion::DatasetTable;
/// use std::sync::Arc;
///
/// # let folder = tempfile::tempdir()?;
/// # for year in [2023, 2024] {
/// #     std::fs::create_dir_all(folder.path().join(format!("year={year}")))?;
/// #     let id = Arc::new(Int32Array::from(vec![1, 2])) as ArrayRef;
/// #     let batch = RecordBatch::try_from_iter([("id", id)])?;
/// #     let file = std::fs::File::create(folder.path().join(format!("year={year}/0.parquet")))?;
/// #     let mut writer = ArrowWriter::try_new(file, batch.schema(), None)?;
/// #     writer.write(&batch)?;
/// #     writer.close()?;
/// # }
/// # tokio::runtime::Runtime::new()?.block_on(async {
/// // year=2023/0.parquet, year=2024/0.parquet
/// let wines = Dataset::open([folder.path()])?.union_by_name(true);
/// let ctx = SessionContext::new();
/// ctx.register_table("wines", Arc::new(DatasetTable::try_new(wines)?))?;
/// let batches = ctx.sql("select sum(id) from wines where year = 2024").await?.collect().await?;
/// assert_eq!(batches[0].num_rows(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct DatasetTable {
    schema: SchemaRef,
    known: Known,
    refresh: Option<Refresh>,
}

/// The files, and their number of rows, if it is known.
#[derive(Debug, Clone)]
struct Known {
    dataset: AnyDataset,
    rows: Option<u64>,
}

/// The function that lists the files again, and what it found last.
#[derive(Clone)]
struct Refresh {
    list: Arc<dyn Fn() -> BoxFuture<'static, Result<Option<DatasetTable>>> + Send + Sync>,
    newest: Arc<Mutex<Known>>,
}

impl Refresh {
    async fn known(&self, schema: &SchemaRef) -> Result<Known> {
        let mut newest = self.newest.lock().await;
        if let Some(table) = (self.list)().await? {
            *newest = Known { dataset: table.known.dataset.with_schema(schema)?, rows: table.known.rows };
        }
        Ok(newest.clone())
    }
}

impl fmt::Debug for Refresh {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Refresh").finish_non_exhaustive()
    }
}

impl DatasetTable {
    /// Creates a table. Reads the footers of all files, so that the number of rows is known. Fails as
    /// [`Dataset::schema`] does, and if the dataset has a limit or an offset.
    pub fn try_new(dataset: Dataset) -> Result<Self> {
        let whole = evolved(&dataset, dataset.split(1).map_err(of)?)?;
        let schema = whole.schema().map_err(of)?;
        let rows = whole.exact_num_rows().map_err(of)?;
        Ok(DatasetTable::new(AnyDataset::Blocking(whole), schema, rows))
    }

    /// As [`try_new`](Self::try_new), for asynchronous sources: files of a store, for example, which
    /// [`dataset_in_store`] finds.
    ///
    /// [`dataset_in_store`]: crate::dataset_in_store
    pub async fn try_new_async(dataset: Dataset<dyn AsyncSource>) -> Result<Self> {
        let whole = evolved(&dataset, dataset.split(1).await.map_err(of)?)?;
        let schema = whole.schema().await.map_err(of)?;
        let rows = whole.exact_num_rows().await.map_err(of)?;
        Ok(DatasetTable::new(AnyDataset::Async(whole), schema, rows))
    }

    fn new(dataset: AnyDataset, schema: SchemaRef, rows: Option<u64>) -> Self {
        DatasetTable { schema, known: Known { dataset, rows }, refresh: None }
    }

    /// Has each query call `list`, so that a table that outlives its files sees the current ones. `list` returns a
    /// table of the current files, or `None` if they are those that it returned last, or that this table was made of.
    /// The columns stay those of this table, and all become nullable, whatever the current files require; a column that
    /// the files no longer have is null.
    #[must_use]
    pub fn with_refresh(
        self,
        list: impl Fn() -> BoxFuture<'static, Result<Option<DatasetTable>>> + Send + Sync + 'static,
    ) -> Self {
        let newest = Arc::new(Mutex::new(self.known.clone()));
        let schema = nullable(&self.schema);
        DatasetTable { schema, refresh: Some(Refresh { list: Arc::new(list), newest }), ..self }
    }

    fn translate(&self, filter: &Expr) -> Option<Translated> {
        let schema = DFSchema::try_from(self.schema.clone()).ok()?;
        let filter = unnormalize_col(filter.clone());
        let expr = create_physical_expr(
            &filter,
            &schema,
            &ExecutionProps::new(),
            &PhysicalPlanningContext::default(),
        )
        .ok()?;
        Some(Translator::of_table(&self.schema).translate(&expr))
    }

    /// Translates filters to predicates of the dataset, and returns whether these decide all filters.
    fn predicates(&self, filters: &[Expr]) -> (Vec<Predicate>, bool) {
        let translated: Vec<Option<Translated>> =
            filters.iter().map(|filter| self.translate(filter)).collect();
        let is_exact = translated.iter().all(|translated| translated.as_ref().is_some_and(|it| it.is_exact));
        let predicates = translated.into_iter().flatten().filter_map(|translated| translated.predicate);
        (predicates.collect(), is_exact)
    }
}

/// The only part of a split dataset, with the types that DataFusion expects unless the caller gave the dataset a schema.
fn evolved<S: ?Sized>(dataset: &Dataset<S>, parts: Vec<Dataset<S>>) -> Result<Dataset<S>> {
    let mut parts = parts.into_iter();
    let (Some(whole), None) = (parts.next(), parts.next()) else {
        return internal_err!("one part is not one");
    };
    Ok(match (dataset.evolution(), whole.evolution().cloned()) {
        (None, Some(evolution)) => {
            let schema = without_nested_views(evolution.schema());
            whole.evolve(evolution.with_schema(Arc::new(schema)))
        }
        _ => whole,
    })
}

impl TableProvider for DatasetTable {
    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    // An `async fn` would hold the filters. The compiler takes fifteen seconds to prove that a future with an `Expr` in
    // it is `Send`: it goes through all of SQL's syntax tree.
    fn scan<'table: 'scan, 'state: 'scan, 'columns: 'scan, 'filters: 'scan, 'scan>(
        &'table self,
        state: &'state dyn Session,
        projection: Option<&'columns Vec<usize>>,
        filters: &'filters [Expr],
        limit: Option<usize>,
    ) -> BoxFuture<'scan, Result<Arc<dyn ExecutionPlan>>> {
        let columns = projection.cloned().unwrap_or_else(|| (0..self.schema.fields().len()).collect());
        let (predicates, is_exact) = self.predicates(filters);
        let limit = limit.filter(|_| is_exact);
        let (known, refresh, table) = (self.known.clone(), self.refresh.clone(), self.schema.clone());
        let schema = self.schema.project(&columns);
        let (partitions, batch_size) = (state.config().target_partitions(), state.config().batch_size());
        async move {
            let Known { dataset, rows } = match refresh {
                Some(refresh) => refresh.known(&table).await?,
                None => known,
            };
            let rows = rows.filter(|_| predicates.is_empty() && limit.is_none());
            let dataset = dataset.filtered(&table, &columns, predicates)?.batch_size(batch_size);
            let parts = dataset.split(partitions).await?;
            let parts = parts.into_iter().map(|part| match limit {
                Some(limit) => part.limit(limit),
                None => part,
            });
            Ok(Arc::new(DatasetScan::new(Arc::new(schema?), parts.collect(), rows)) as Arc<dyn ExecutionPlan>)
        }
        .boxed()
    }

    fn supports_filters_pushdown(&self, filters: &[&Expr]) -> Result<Vec<TableProviderFilterPushDown>> {
        let answers = filters.iter().map(|filter| match self.translate(filter) {
            Some(Translated { is_exact: true, .. }) => TableProviderFilterPushDown::Exact,
            Some(Translated { predicate: Some(_), .. }) => TableProviderFilterPushDown::Inexact,
            _ => TableProviderFilterPushDown::Unsupported,
        });
        Ok(answers.collect())
    }

    fn insert_into<'table: 'made, 'state: 'made, 'made>(
        &'table self,
        _: &'state dyn Session,
        _: Arc<dyn ExecutionPlan>,
        _: InsertOp,
    ) -> BoxFuture<'made, Result<Arc<dyn ExecutionPlan>>> {
        let message = "a dataset is only read: to write into a folder, declare it, with its keys, as in CREATE EXTERNAL TABLE t \
                       (id BIGINT, year BIGINT) STORED AS PARQUET PARTITIONED BY (year) LOCATION 'folder/', or COPY the rows to it";
        async move { Err(DataFusionError::NotImplemented(message.to_owned())) }.boxed()
    }

    fn statistics(&self) -> Option<Statistics> {
        let known = self.known.rows.filter(|_| self.refresh.is_none());
        let rows = usize::try_from(known?).ok()?;
        Some(Statistics::new_unknown(&self.schema).with_num_rows(Precision::Exact(rows)))
    }
}
