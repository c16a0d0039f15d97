//! Adapts batches to the wanted schema.

use super::exact_cast::cast_exact;
use super::path_column::PathColumn;
use super::variant_storage::stored_as;
use crate::arrow_error;
use crate::null_arrays::null_array;
use arrow_array::cast::AsArray;
use arrow_array::{
    Array, ArrayRef, FixedSizeListArray, GenericListArray, GenericListViewArray, MapArray, OffsetSizeTrait,
    RecordBatch, RecordBatchOptions, StructArray, UInt32Array,
};
use arrow_schema::{DataType, Field, FieldRef, Fields, Schema, SchemaRef};
use marquetry_base::{Error, Result};
use std::sync::Arc;

/// Makes batches of the wanted schema out of those that were read.
#[derive(Debug, Clone)]
pub(crate) struct BatchAdapter {
    pub(crate) schema: SchemaRef,
    pub(super) parts: Vec<ColumnSource>,
}

/// The source of a field of a struct, or of a column of a batch.
#[derive(Debug, Clone)]
pub(super) enum ColumnSource {
    /// The field at this place among those that were read, converted.
    Of(usize, ArrayCast),
    /// The values at a path into the VARIANT in the field at this place.
    VariantPath(usize, Arc<PathColumn>),
    /// The value of this one-row array in all rows.
    Constant(ArrayRef),
    /// Null in all rows.
    Null(DataType),
}

/// How an array is converted to the wanted type.
#[derive(Debug, Clone)]
pub(super) enum ArrayCast {
    /// Unchanged: it has the type already.
    Keep,
    /// Values are cast to a wider type. The path is for errors.
    Cast(DataType, Arc<str>),
    /// A VARIANT is unshredded, and stored as this type. The path is for errors.
    Variant(DataType, Arc<str>),
    /// The fields, and the source of each.
    Struct(Fields, Vec<ColumnSource>),
    /// The element, and its conversion. The layout stays.
    List(FieldRef, Box<ArrayCast>),
    /// The entries, and the conversions of key and value.
    Map(FieldRef, Box<(ArrayCast, ArrayCast)>),
}

impl BatchAdapter {
    /// Converts a batch.
    pub(crate) fn batch(&self, batch: &RecordBatch) -> Result<RecordBatch> {
        let columns = remade(&self.parts, batch.columns(), batch.num_rows())?;
        let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
        RecordBatch::try_new_with_options(self.schema.clone(), columns, &options).map_err(arrow_error)
    }

    /// Appends the columns of `read` from `first` on, which come from no column of the file.
    pub(crate) fn with_others(mut self, read: &Schema, first: usize) -> Self {
        let others = first..read.fields().len();
        if !others.is_empty() {
            self.parts.extend(others.clone().map(|i| ColumnSource::Of(i, ArrayCast::Keep)));
            let fields: Vec<FieldRef> =
                self.schema.fields().iter().chain(&read.fields()[others]).cloned().collect();
            self.schema = Arc::new(Schema::new_with_metadata(fields, self.schema.metadata().clone()));
        }
        self
    }

    /// Makes all columns nullable.
    pub(crate) fn nullable(self) -> Self {
        let fields = self.schema.fields().iter().map(|field| Field::clone(field).with_nullable(true));
        let fields: Vec<Field> = fields.collect();
        BatchAdapter {
            schema: Arc::new(Schema::new_with_metadata(fields, self.schema.metadata().clone())),
            ..self
        }
    }
}

fn remade(parts: &[ColumnSource], arrays: &[ArrayRef], len: usize) -> Result<Vec<ArrayRef>> {
    let part = |part: &ColumnSource| match part {
        ColumnSource::Of(i, recipe) => recipe.apply(&arrays[*i]),
        ColumnSource::VariantPath(i, path) => path.array(&arrays[*i]),
        ColumnSource::Constant(value) => repeated(value, len),
        ColumnSource::Null(data_type) => null_array(data_type, len),
    };
    parts.iter().map(part).collect()
}

/// Repeats the value of a one-row array `len` times. Views share their text.
fn repeated(value: &ArrayRef, len: usize) -> Result<ArrayRef> {
    arrow_select::take::take(value, &UInt32Array::from(vec![0; len]), None).map_err(arrow_error)
}

impl ArrayCast {
    fn apply(&self, array: &ArrayRef) -> Result<ArrayRef> {
        match self {
            ArrayCast::Keep => Ok(array.clone()),
            ArrayCast::Cast(to, path) => cast_exact(array, to).map_err(|error| error.in_column(path.clone())),
            ArrayCast::Variant(to, path) => {
                stored_as(array, to).map_err(|error| error.in_column(path.clone()))
            }
            ArrayCast::Struct(fields, parts) => {
                let old = array.as_struct();
                let columns = remade(parts, old.columns(), old.len())?;
                let nulls = old.nulls().cloned();
                let new = StructArray::try_new_with_length(fields.clone(), columns, nulls, old.len());
                Ok(Arc::new(new.map_err(arrow_error)?))
            }
            ArrayCast::List(element, recipe) => list(array, element, recipe),
            ArrayCast::Map(entries, recipes) => map(array, entries, recipes),
        }
    }
}

fn list(array: &ArrayRef, element: &FieldRef, recipe: &ArrayCast) -> Result<ArrayRef> {
    match array.data_type() {
        DataType::LargeList(_) => offset_list::<i64>(array, element, recipe),
        DataType::ListView(_) => list_view::<i32>(array, element, recipe),
        DataType::LargeListView(_) => list_view::<i64>(array, element, recipe),
        DataType::FixedSizeList(_, size) => {
            let old = array.as_fixed_size_list();
            let (values, nulls) = (recipe.apply(old.values())?, old.nulls().cloned());
            let new =
                FixedSizeListArray::try_new_with_length(element.clone(), *size, values, nulls, old.len());
            Ok(Arc::new(new.map_err(arrow_error)?))
        }
        _ => offset_list::<i32>(array, element, recipe),
    }
}

fn offset_list<O: OffsetSizeTrait>(
    array: &ArrayRef,
    element: &FieldRef,
    recipe: &ArrayCast,
) -> Result<ArrayRef> {
    let old = array.as_list::<O>();
    let (values, offsets, nulls) = (recipe.apply(old.values())?, old.offsets().clone(), old.nulls().cloned());
    Ok(Arc::new(
        GenericListArray::<O>::try_new(element.clone(), offsets, values, nulls).map_err(arrow_error)?,
    ))
}

fn list_view<O: OffsetSizeTrait>(
    array: &ArrayRef,
    element: &FieldRef,
    recipe: &ArrayCast,
) -> Result<ArrayRef> {
    let old = array.as_list_view::<O>();
    let (offsets, sizes) = (old.offsets().clone(), old.sizes().clone());
    let (values, nulls) = (recipe.apply(old.values())?, old.nulls().cloned());
    let new = GenericListViewArray::<O>::try_new(element.clone(), offsets, sizes, values, nulls);
    Ok(Arc::new(new.map_err(arrow_error)?))
}

fn map(array: &ArrayRef, entries: &FieldRef, recipes: &(ArrayCast, ArrayCast)) -> Result<ArrayRef> {
    let (old, DataType::Struct(fields)) = (array.as_map(), entries.data_type()) else {
        return Err(Error::argument(format!("the entries of a map are not a valid {}", entries.data_type())));
    };
    let columns = vec![recipes.0.apply(old.keys())?, recipes.1.apply(old.values())?];
    let pairs = StructArray::try_new_with_length(fields.clone(), columns, None, old.entries().len());
    let sorted = matches!(array.data_type(), DataType::Map(_, true));
    let new = pairs.and_then(|pairs| {
        MapArray::try_new(entries.clone(), old.offsets().clone(), pairs, old.nulls().cloned(), sorted)
    });
    Ok(Arc::new(new.map_err(arrow_error)?))
}
