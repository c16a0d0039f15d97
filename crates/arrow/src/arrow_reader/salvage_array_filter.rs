//! Predicates over arrays, evaluated on the readable rows of a damaged file: those of paths into VARIANT.
//!
//! ```text
//! rows of all columns, what is lost null -> the predicates -> the rows that are wanted -> offset, limit -> the columns that are given
//! ```

use super::ProjectionMask;
use super::filter::ArrowPredicate;
use super::resolved_schema::ResolvedFields;
use crate::schema::element_of;
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, BooleanArray, RecordBatch, RecordBatchOptions, StructArray, make_array};
use arrow_buffer::BooleanBuffer;
use arrow_schema::{DataType, Field, FieldRef, Schema as ArrowSchema, SchemaRef};
use arrow_select::filter::filter_record_batch;
use marquetry_base::{Error, Result};

/// Filters batches, and drops the columns that were read for the filter alone.
pub(super) struct SalvageArrayFilter {
    predicates: Vec<Box<dyn ArrowPredicate>>,
    schema: SchemaRef,
    /// The places of its columns in the batches that are read.
    columns: Vec<usize>,
    /// Matching rows that are still to be skipped, and those still to be returned.
    offset: usize,
    limit: usize,
}

impl SalvageArrayFilter {
    /// Creates a filter of batches with the columns of `widened`, whose schema is `read`. It returns those of `projection`.
    pub(super) fn new(
        predicates: Vec<Box<dyn ArrowPredicate>>,
        (projection, widened): (&ProjectionMask, &ProjectionMask),
        resolved: &ResolvedFields,
        read: &SchemaRef,
        (offset, limit): (usize, usize),
    ) -> Self {
        let all: Vec<_> = resolved.projected(widened).collect();
        let (mut fields, mut columns) = (Vec::<FieldRef>::new(), Vec::new());
        for root in resolved.projected(projection) {
            let place = all.iter().position(|other| other.field.has_leaf(root.field.first_leaf()));
            // All returned columns are read.
            let Some(place) = place else { continue };
            // Where lost values are made null, roots are nullable.
            let is_nullable = read.field(place).is_nullable();
            fields.push(Field::clone(&root.arrow).with_nullable(is_nullable).into());
            columns.push(place);
        }
        let schema = ArrowSchema::new_with_metadata(fields, read.metadata().clone()).into();
        SalvageArrayFilter { predicates, schema, columns, offset, limit }
    }

    /// Returns the schema of filtered batches.
    pub(super) fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// Returns whether the limit is reached.
    pub(super) fn is_over(&self) -> bool {
        self.limit == 0
    }

    /// Returns the matching rows of a batch.
    pub(super) fn apply(&mut self, batch: &RecordBatch) -> Result<RecordBatch> {
        let mut wanted = BooleanBuffer::new_set(batch.num_rows());
        for predicate in &mut self.predicates {
            let found = predicate.evaluate(batch.clone()).map_err(crate::arrow_error)?;
            if found.len() != batch.num_rows() {
                return Err(Error::argument("a predicate with another number of rows"));
            }
            let found = match found.nulls() {
                Some(nulls) => found.values() & nulls.inner(),
                None => found.values().clone(),
            };
            wanted = &wanted & &found;
        }
        let batch =
            filter_record_batch(batch, &BooleanArray::new(wanted, None)).map_err(crate::arrow_error)?;
        let passed = batch.num_rows().min(self.offset);
        let rows = (batch.num_rows() - passed).min(self.limit);
        (self.offset, self.limit) = (self.offset - passed, self.limit - rows);
        self.narrowed(&batch.slice(passed, rows))
    }

    fn narrowed(&self, batch: &RecordBatch) -> Result<RecordBatch> {
        let fields = self.schema.fields().iter().zip(&self.columns);
        let columns = fields.map(|(field, place)| narrowed(batch.column(*place), field));
        let columns = columns.collect::<Result<_>>()?;
        let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
        RecordBatch::try_new_with_options(self.schema.clone(), columns, &options).map_err(crate::arrow_error)
    }
}

#[cold]
fn missing(field: &Field) -> Error {
    Error::argument(format!("no column {}", field.name()))
}

/// Reduces the array to the fields that `field` has.
fn narrowed(array: &ArrayRef, field: &Field) -> Result<ArrayRef> {
    if array.data_type() == field.data_type() {
        return Ok(array.clone());
    }
    if let DataType::Struct(fields) = field.data_type() {
        let wider = array.as_struct_opt().ok_or_else(|| missing(field))?;
        let columns = fields
            .iter()
            .map(|field| narrowed(wider.column_by_name(field.name()).ok_or_else(|| missing(field))?, field));
        let columns = columns.collect::<Result<_>>()?;
        let array =
            StructArray::try_new_with_length(fields.clone(), columns, array.nulls().cloned(), array.len());
        return Ok(std::sync::Arc::new(array.map_err(crate::arrow_error)?));
    }
    // Only lists and maps are left.
    let element = match field.data_type() {
        DataType::Map(entries, _) => entries,
        other => element_of(other).ok_or_else(|| missing(field))?,
    };
    let data = array.to_data();
    let [child] = data.child_data() else { return Err(missing(field)) };
    let child = narrowed(&make_array(child.clone()), element)?.to_data();
    let data =
        data.clone().into_builder().data_type(field.data_type().clone()).child_data(vec![child]).build();
    Ok(make_array(data.map_err(crate::arrow_error)?))
}
