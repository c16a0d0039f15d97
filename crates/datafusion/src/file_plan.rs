//! The plan of one file: its own columns and types, and each filter rewritten for them.

use crate::columns::needed_paths;
use crate::error::of_file;
use crate::file_request::FileRequest;
use crate::filter::{Filter, has_dynamic_filter};
use crate::output::Output;
use crate::predicate::Translator;
use crate::row_order::RowOrder;
use crate::schema::read_schema;
use crate::simplify::simplified;
use crate::variant_paths::PathColumns;
use crate::variant_storage::{is_variant_storage, restored_batch, restored_fields, with_wholes};
use arrow_array::RecordBatch;
use arrow_schema::{DataType, Fields, Schema, SchemaRef};
use bytes::Bytes;
use datafusion::datasource::table_schema::TableSchema;
use datafusion::error::{DataFusionError, Result};
use datafusion::physical_expr::projection::ProjectionExprs;
use datafusion::physical_expr::{PhysicalExpr, conjunction};
use datafusion::physical_expr_adapter::PhysicalExprAdapterFactory;
use datafusion::physical_expr_common::physical_expr::snapshot_physical_expr;
use marquetry_arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, bind_in_file, prunable_predicate,
};
use marquetry_base::Error;
use marquetry_core::predicate::{BoundPredicate, Predicate};
use marquetry_core::prune::{PruneOptions, PruneReport, RowGroupMatch, Stage, prune_row_group};
use object_store::path::Path;
use std::sync::Arc;

/// The plan of one file: what a query wants of it, in terms of the file's schema.
pub(crate) struct FilePlan {
    pub(crate) footer: ArrowReaderMetadata,
    pub(crate) path: Path,
    pub(crate) batch_size: usize,
    /// Maximum number of wanted rows, if the reader evaluates all conditions.
    pub(crate) limit: Option<usize>,
    pub(crate) asks_rows: bool,
    /// The dotted paths of the columns that are read.
    pub(crate) columns: Vec<String>,
    /// The predicate of the conditions that do not change.
    fixed: Predicate,
    /// Dynamic filters, which change while the query runs.
    dynamic: Vec<Arc<dyn PhysicalExpr>>,
    /// Conditions that are evaluated on decoded rows.
    residual: Option<Arc<dyn PhysicalExpr>>,
    projection: ProjectionExprs,
    /// Orders that the rows must have.
    pub(crate) orders: Vec<RowOrder>,
    output_schema: SchemaRef,
    /// The schema that the file is read as, followed by the columns of VARIANT paths.
    read_as: SchemaRef,
    /// The schema of the file's own columns after VARIANTs were converted to the table's storage, if any of them is.
    restored: Option<SchemaRef>,
    paths: PathColumns,
}

impl FilePlan {
    pub(crate) fn new(
        footer: ArrowReaderMetadata,
        options: &ArrowReaderOptions,
        table: &TableSchema,
        adapters: &dyn PhysicalExprAdapterFactory,
        wanted: FileRequest,
        path: &Path,
    ) -> Result<Self> {
        let named = |error| of_file(error, path);
        let virtual_columns = table.virtual_columns();
        let (stored, footer) = read_for_table(footer, options, table).map_err(named)?;
        let as_in_table = restored_fields(footer.schema().fields(), table.file_schema().fields());
        let is_restored = as_in_table != *footer.schema().fields();
        let read_as = Arc::new(Schema::new_with_metadata(as_in_table, footer.schema().metadata().clone()));
        let restored = is_restored.then(|| read_as.clone());
        let of_table = with_fields(table.file_schema(), virtual_columns);
        let mut paths = PathColumns::behind(&of_table);
        let mut replace = |expr| paths.replace(expr, table.file_schema(), footer.metadata());
        let projection = wanted.projection.try_map_exprs(&mut replace)?;
        let filters =
            wanted.filters.into_iter().map(|filter| Ok(Filter { expr: replace(filter.expr)?, ..filter }));
        let filters = filters.collect::<Result<Vec<_>>>()?;
        let (of_table, read_as) =
            (with_fields(&of_table, &paths.fields()), with_fields(&read_as, &paths.fields()));
        let adapter = adapters.create(of_table, read_as.clone())?;
        let adapt = |expr: Arc<dyn PhysicalExpr>| simplified(adapter.rewrite(expr)?, &read_as);
        let projection = projection.try_map_exprs(adapt)?;
        let filters = filters.into_iter().map(|filter| Ok(Filter { expr: adapt(filter.expr)?, ..filter }));
        let orders = wanted.orders.into_iter().map(|order| order.try_map_keys(adapt));
        let orders = orders.collect::<Result<Vec<_>>>()?;
        let filters = filters.collect::<Result<Vec<_>>>()?;
        let (mut fixed, mut dynamic, mut residual) = (Vec::new(), Vec::new(), Vec::new());
        for Filter { expr, is_ours } in &filters {
            if has_dynamic_filter(expr) {
                dynamic.push(expr.clone());
                continue;
            }
            let translated = translate(expr, &read_as, &paths, &footer);
            let is_asked = translated.as_ref().is_some_and(|(_, is_exact)| *is_exact);
            if *is_ours && !(is_asked && wanted.prunes && wanted.asks_rows) {
                residual.push(expr.clone());
            }
            fixed.extend(translated.map(|(predicate, _)| predicate).filter(|_| wanted.prunes));
        }
        if !wanted.prunes {
            dynamic.clear();
        }
        let is_all_ours = filters.iter().all(|filter| filter.is_ours) && residual.is_empty();
        let keys = || orders.iter().flat_map(RowOrder::keys);
        let read = || projection.iter().map(|projected| &projected.expr).chain(&residual).chain(keys());
        let mut columns = match is_restored {
            true => {
                needed_paths(read(), &Schema::new(with_wholes(stored.fields(), table.file_schema().fields())))
            }
            false => needed_paths(read(), &stored),
        };
        paths.add_needed(read(), &mut columns);
        check_variants(&columns, table.file_schema(), &read_as).map_err(named)?;
        Ok(FilePlan {
            columns,
            path: path.clone(),
            batch_size: wanted.batch_size,
            // The order is checked for whole batches, however few of their rows are wanted.
            limit: wanted.limit.filter(|_| is_all_ours).map(|limit| match orders.is_empty() {
                true => limit,
                false => limit.max(wanted.batch_size),
            }),
            orders,
            asks_rows: wanted.asks_rows,
            fixed: Predicate::And(fixed),
            dynamic,
            residual: (!residual.is_empty()).then(|| conjunction(residual)),
            projection,
            output_schema: wanted.output_schema,
            read_as,
            restored,
            paths,
            footer,
        })
    }

    /// The conjunction of the dynamic filters, if there are any.
    pub(crate) fn dynamic(&self) -> Option<Arc<dyn PhysicalExpr>> {
        (!self.dynamic.is_empty()).then(|| conjunction(self.dynamic.iter().cloned()))
    }

    /// What is known of wanted rows by now; `None` if nothing is.
    pub(crate) fn predicate(&self) -> Result<Option<Predicate>> {
        let mut all = match &self.fixed {
            Predicate::And(all) => all.clone(),
            one => vec![one.clone()],
        };
        for expr in &self.dynamic {
            let now = snapshot_physical_expr(expr.clone())?;
            let now = simplified(now, &self.read_as)?;
            all.extend(
                translate(&now, &self.read_as, &self.paths, &self.footer).map(|(predicate, _)| predicate),
            );
        }
        Ok((!all.is_empty()).then_some(Predicate::And(all)))
    }

    /// The part of a predicate that statistics can answer.
    pub(crate) fn prunable(&self, predicate: &Predicate) -> Result<BoundPredicate> {
        let metadata = self.footer.metadata();
        let bound =
            prunable_predicate(predicate, metadata).and_then(|(found, _)| bind_in_file(&found, metadata));
        bound.map_err(|error| of_file(error, &self.path))
    }

    /// Whether the statistics of a row group rule out rows for which `predicate` is true.
    pub(crate) fn is_ruled_out(&self, predicate: &BoundPredicate, row_group: usize) -> Result<bool> {
        let options = PruneOptions::only(Stage::Statistics);
        let (metadata, report) = (self.footer.metadata(), &mut PruneReport::default());
        // Only the footer is looked at.
        let kept = prune_row_group(&Bytes::new(), metadata, row_group, predicate, &options, report);
        Ok(kept.map_err(|error| of_file(error, &self.path))? == RowGroupMatch::None)
    }

    /// Converts the VARIANTs of a decoded batch to the table's storage.
    pub(crate) fn restored(&self, batch: RecordBatch) -> Result<RecordBatch> {
        match &self.restored {
            Some(restored) => {
                let in_file = |error: DataFusionError| error.context(format!("in {}", self.path));
                restored_batch(batch, restored).map_err(in_file)
            }
            None => Ok(batch),
        }
    }

    /// The schema of [restored](Self::restored) batches that were read as `schema`.
    pub(crate) fn restored_schema(&self, schema: &SchemaRef) -> Result<SchemaRef> {
        Ok(self.restored(RecordBatch::new_empty(schema.clone()))?.schema())
    }

    /// The last steps for batches that were restored to `schema`: the residual filter and the projection.
    pub(crate) fn output(&self, schema: &SchemaRef) -> Result<Output> {
        Output::new(schema, self.residual.as_ref(), &self.projection, &self.output_schema)
    }
}

/// The stored columns with the types that the table reads them as, and the footer to read them by, with the table's
/// virtual columns.
fn read_for_table(
    footer: ArrowReaderMetadata,
    options: &ArrowReaderOptions,
    table: &TableSchema,
) -> marquetry_base::Result<(SchemaRef, ArrowReaderMetadata)> {
    let virtual_columns = table.virtual_columns();
    let read_as = read_schema(footer.schema(), table.file_schema());
    if read_as.is_none() && virtual_columns.is_empty() {
        return Ok((footer.schema().clone(), footer));
    }
    let stored = read_as.clone().unwrap_or_else(|| footer.schema().clone());
    let options = options.clone().with_virtual_columns(virtual_columns.to_vec())?;
    let options = match read_as {
        Some(schema) => options.with_schema(schema),
        None => options,
    };
    Ok((stored, footer.with_options(options)?))
}

/// Fails if a VARIANT that is read is shredded in the file but not in the table: its shredded values would be lost.
fn check_variants(columns: &[String], table: &Schema, file: &Schema) -> marquetry_base::Result<()> {
    let has_typed = |schema: &Schema, name: &str| {
        let field = schema.field_with_name(name).ok().filter(|field| is_variant_storage(field.data_type()));
        field.map(|field| matches!(field.data_type(), DataType::Struct(fields) if fields.find("typed_value").is_some()))
    };
    let is_missed =
        |name: &&String| has_typed(file, name) == Some(true) && has_typed(table, name) == Some(false);
    match columns.iter().find(is_missed) {
        Some(name) => {
            let message = "it is shredded in the file, and not in the table: as a whole it cannot be read";
            Err(Error::unsupported(message).in_column(name.as_str()))
        }
        None => Ok(()),
    }
}

/// Appends fields to a schema.
fn with_fields(schema: &SchemaRef, fields: &Fields) -> SchemaRef {
    if fields.is_empty() {
        return schema.clone();
    }
    let all: Fields = schema.fields().iter().chain(fields).cloned().collect();
    Arc::new(Schema::new_with_metadata(all, schema.metadata().clone()))
}

/// Translates a filter, and returns whether the predicate is exact. `None` if there is no predicate that the file can
/// evaluate.
fn translate(
    expr: &Arc<dyn PhysicalExpr>,
    read_as: &SchemaRef,
    paths: &PathColumns,
    footer: &ArrowReaderMetadata,
) -> Option<(Predicate, bool)> {
    let schema = footer.parquet_schema();
    let translated = Translator::of_file(read_as, schema, paths).translate(expr);
    let predicate = translated.predicate?;
    let (prunable, _) = prunable_predicate(&predicate, footer.metadata()).ok()?;
    bind_in_file(&prunable, footer.metadata()).ok()?;
    Some((predicate, translated.is_exact))
}
