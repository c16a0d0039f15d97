//! Partition columns, from folders called `key=value`; `__HIVE_DEFAULT_PARTITION__` stands for null.
//!
//! QUIRK: DataFusion 55 reads that as text, or fails to parse it as a number. Here it lists files by keys that are
//! text, and the listed files get keys of the declared types afterwards.

use crate::column_kind::value_type;
use arrow_schema::{DataType, Field, Fields, SchemaRef};
use datafusion::common::stats::{NdvFallback, Precision};
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::common::{ScalarValue, Statistics};
use datafusion::datasource::file_format::FileFormat;
use datafusion::datasource::listing::PartitionedFile;
use datafusion::datasource::listing::helpers::expr_applicable_for_cols;
use datafusion::datasource::physical_plan::{FileGroup, FileScanConfig, FileScanConfigBuilder};
use datafusion::datasource::source::DataSourceExec;
use datafusion::datasource::table_schema::TableSchema;
use datafusion::error::Result;
use datafusion::execution::object_store::ObjectStoreUrl;
use datafusion::logical_expr::utils::split_conjunction;
use datafusion::logical_expr::{BinaryExpr, Expr, Operator, cast, ident, lit, when};
use datafusion::physical_plan::{ExecutionPlan, Partitioning};
use marquetry_arrow::dataset::NULL_PARTITION;
use std::any::Any;
use std::collections::HashSet;
use std::sync::Arc;

/// The partition columns of a table, behind the columns of its files.
#[derive(Debug, Clone)]
pub(crate) struct PartitionKeys {
    table: TableSchema,
}

/// Filters that futures can hold. The compiler takes seconds to prove that an `Expr` is `Send`, see `DatasetTable`:
/// here it does so once.
pub(crate) struct Conditions(Arc<dyn Any + Send + Sync>);

impl Conditions {
    pub(crate) fn new(conditions: Vec<Expr>) -> Self {
        Conditions(Arc::new(conditions))
    }

    pub(crate) fn all(&self) -> &[Expr] {
        self.0.downcast_ref::<Vec<Expr>>().map(Vec::as_slice).unwrap_or_default()
    }
}

impl PartitionKeys {
    pub(crate) fn new(files: SchemaRef, keys: &[(String, DataType)]) -> Self {
        let keys = keys.iter().map(|(name, data_type)| Field::new(name, data_type.clone(), true));
        let keys: Fields = keys.collect();
        PartitionKeys { table: TableSchema::builder(files).with_table_partition_cols(keys).build() }
    }

    pub(crate) fn fields(&self) -> &Fields {
        self.table.table_partition_cols()
    }

    pub(crate) fn files(&self) -> &SchemaRef {
        self.table.file_schema()
    }

    pub(crate) fn table(&self) -> &SchemaRef {
        self.table.table_schema()
    }

    /// The partition columns as text, as in the names of folders.
    pub(crate) fn as_text(&self) -> Vec<(String, DataType)> {
        self.fields().iter().map(|key| (key.name().clone(), DataType::Utf8)).collect()
    }

    /// The filters, with those on partition columns alone rewritten for text. The others stay: it only matters whether
    /// there are any.
    pub(crate) fn of_text(&self, conditions: &[Expr]) -> Result<Conditions> {
        let names: Vec<&str> = self.fields().iter().map(|key| key.name().as_str()).collect();
        let mut of_text = Vec::with_capacity(conditions.len());
        for condition in conditions {
            if !expr_applicable_for_cols(&names, condition) {
                of_text.push(condition.clone());
                continue;
            }
            // DataFusion looks at the value beneath a null.
            of_text.push(self.with_typed_keys(condition.clone())?.is_true());
            of_text.extend(split_conjunction(condition).into_iter().filter_map(|part| self.folder(part)));
        }
        Ok(Conditions::new(of_text))
    }

    fn with_typed_keys(&self, condition: Expr) -> Result<Expr> {
        let typed = |expr: Expr| match &expr {
            Expr::Column(column) => match self.fields().find(&column.name) {
                Some((_, key)) => {
                    let is_null = expr.clone().eq(lit(NULL_PARTITION));
                    let text = when(is_null, lit(ScalarValue::Utf8(None))).otherwise(expr)?;
                    Ok(Transformed::yes(cast(text, key.data_type().clone())))
                }
                None => Ok(Transformed::no(expr)),
            },
            _ => Ok(Transformed::no(expr)),
        };
        condition.transform_up(typed).data()
    }

    /// The filter of the one folder that has the rows of `key = 'text'`, so that no other is listed; `None` unless its
    /// name has only one spelling.
    fn folder(&self, condition: &Expr) -> Option<Expr> {
        let Expr::BinaryExpr(BinaryExpr { left, op: Operator::Eq, right }) = condition else { return None };
        let (column, value) = match (left.as_ref(), right.as_ref()) {
            (Expr::Column(column), Expr::Literal(value, _))
            | (Expr::Literal(value, _), Expr::Column(column)) => (column, value.try_as_str()??),
            _ => return None,
        };
        let (_, key) = self.fields().find(&column.name)?;
        let is_plain = value.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte));
        let is_folder = value_type(key.data_type()).is_string() && is_plain && value != NULL_PARTITION;
        is_folder.then(|| ident(key.name()).eq(lit(value)))
    }

    /// The scan of the files in `listed`, whose keys are text; `None` if there are no files.
    pub(crate) fn scan(
        &self,
        listed: &Arc<dyn ExecutionPlan>,
        format: &dyn FileFormat,
        projection: Option<Vec<usize>>,
    ) -> Result<Option<FileScanConfig>> {
        let listed = listed.downcast_ref::<DataSourceExec>();
        let Some(listed) = listed.and_then(|scan| scan.data_source().downcast_ref::<FileScanConfig>()) else {
            return Ok(None);
        };
        let groups = listed.file_groups.iter().map(|group| self.typed(group)).collect::<Result<Vec<_>>>()?;
        let known = self.merged(groups.iter().filter_map(|group| group.file_statistics(None)))?;
        let partitioning = listed.output_partitioning.clone();
        let partitioning =
            partitioning.filter(|by| matches!(by, Partitioning::Hash(..)) && has_own_keys(&groups));
        // A limit may have left files out.
        let are_all = listed.statistics().num_rows.is_exact() != Some(false);
        let scan = self
            .scan_of(groups, &listed.object_store_url, format)
            .with_statistics(if are_all { known } else { known.to_inexact() })
            .with_projection_indices(projection)?
            .with_limit(listed.limit)
            .with_output_ordering(listed.output_ordering.clone())
            .with_output_partitioning(partitioning);
        Ok(Some(scan.build()))
    }

    /// Starts a scan of files whose partition values have the types of their columns.
    pub(crate) fn scan_of(
        &self,
        groups: Vec<FileGroup>,
        store: &ObjectStoreUrl,
        format: &dyn FileFormat,
    ) -> FileScanConfigBuilder {
        FileScanConfigBuilder::new(store.clone(), format.file_source(self.table.clone()))
            .with_file_groups(groups)
    }

    /// Returns the files with their partition values, which are text, converted to the types of the columns.
    pub(crate) fn typed(&self, group: &FileGroup) -> Result<FileGroup> {
        let files = group.iter().map(|file| self.typed_file(file.clone())).collect::<Result<Vec<_>>>()?;
        let known = self.merged(files.iter().filter_map(|file| file.statistics.as_deref()))?;
        Ok(FileGroup::new(files).with_statistics(Arc::new(known)))
    }

    /// Merges statistics of files or of groups.
    pub(crate) fn merged<'a>(&self, known: impl Iterator<Item = &'a Statistics>) -> Result<Statistics> {
        Statistics::try_merge_iter_with_ndv_fallback(known, self.table(), NdvFallback::Max)
    }

    fn typed_file(&self, mut file: PartitionedFile) -> Result<PartitionedFile> {
        for (value, key) in file.partition_values.iter_mut().zip(self.table.table_partition_cols()) {
            *value = typed_value(value, key).map_err(|error| {
                error.context(format!("{}: the key {}", file.object_meta.location, key.name()))
            })?;
        }
        let Some(known) = file.statistics.take() else { return Ok(file) };
        let mut of_file = Arc::unwrap_or_clone(known);
        let rows = of_file.num_rows;
        let columns = of_file.column_statistics.len().saturating_sub(self.fields().len());
        of_file.column_statistics.truncate(columns);
        let mut file = file.with_statistics(Arc::new(of_file));
        if let Some(known) = file.statistics.as_mut() {
            // DataFusion assumes that no key is null.
            let of_keys = Arc::make_mut(known).column_statistics[columns..].iter_mut();
            for (of_key, _) in of_keys.zip(&file.partition_values).filter(|(_, value)| value.is_null()) {
                of_key.null_count = rows;
                of_key.distinct_count = Precision::Absent;
                (of_key.min_value, of_key.max_value) = (Precision::Absent, Precision::Absent);
            }
        }
        Ok(file)
    }
}

/// Whether no two groups have files with the same keys: `month=05` and `month=5` are two texts, but one number.
fn has_own_keys(groups: &[FileGroup]) -> bool {
    let mut known = HashSet::new();
    groups.iter().all(|group| {
        let keys: HashSet<&[ScalarValue]> = group.iter().map(|file| &*file.partition_values).collect();
        keys.into_iter().all(|keys| known.insert(keys))
    })
}

fn typed_value(text: &ScalarValue, key: &Field) -> Result<ScalarValue> {
    match text.try_as_str() {
        Some(Some(NULL_PARTITION)) => ScalarValue::try_from(key.data_type()),
        _ => text.cast_to(key.data_type()),
    }
}
