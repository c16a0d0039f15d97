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

/// How the columns of a batch are made of those that were read.
#[derive(Debug, Clone)]
pub(crate) struct BatchAdapter {
    pub(crate) schema: SchemaRef,
    pub(super) parts: Vec<ColumnSource>,
}

/// How one field of a struct, or column of a batch, is made.
#[derive(Debug, Clone)]
pub(super) enum ColumnSource {
    /// Of the field at this place among those that were read.
    Of(usize, ArrayCast),
    /// What a path leads to, of the field at this place.
    VariantPath(usize, Arc<PathColumn>),
    /// All rows have the value of this array of one row.
    Constant(ArrayRef),
    /// All rows are null.
    Null(DataType),
}

/// How one array becomes one of the wanted type.
#[derive(Debug, Clone)]
pub(super) enum ArrayCast {
    /// It is of that type.
    Keep,
    /// Its values become those of a wider type; the path is for errors.
    Cast(DataType, Arc<str>),
    /// A VARIANT, put together again, in storage of this type; the path is for errors.
    Variant(DataType, Arc<str>),
    /// The fields, and how each is made.
    Struct(Fields, Vec<ColumnSource>),
    /// The element, and how it is made; the layout stays.
    List(FieldRef, Box<ArrayCast>),
    /// The entries, and how key and value are made.
    Map(FieldRef, Box<(ArrayCast, ArrayCast)>),
}

impl BatchAdapter {
    /// The batch that is made of `batch`.
    pub(crate) fn batch(&self, batch: &RecordBatch) -> Result<RecordBatch> {
        let columns = remade(&self.parts, batch.columns(), batch.num_rows())?;
        let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
        RecordBatch::try_new_with_options(self.schema.clone(), columns, &options).map_err(arrow_error)
    }

    /// The same, with the columns of `read` from `first` on, which come from no column of the file, behind the others.
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

    /// The same with columns that may all be null.
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

/// `len` times the value of an array of one row. Text is shared where it is views.
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
        return Err(Error::argument(format!("the entries of a map are no {}", entries.data_type())));
    };
    let columns = vec![recipes.0.apply(old.keys())?, recipes.1.apply(old.values())?];
    let pairs = StructArray::try_new_with_length(fields.clone(), columns, None, old.entries().len());
    let sorted = matches!(array.data_type(), DataType::Map(_, true));
    let new = pairs.and_then(|pairs| {
        MapArray::try_new(entries.clone(), old.offsets().clone(), pairs, old.nulls().cloned(), sorted)
    });
    Ok(Arc::new(new.map_err(arrow_error)?))
}
