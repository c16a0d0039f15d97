//! Arrays of the wanted types out of arrays that were read.

use crate::refused;
use arrow_array::cast::AsArray;
use arrow_array::{
    Array, ArrayRef, FixedSizeListArray, GenericListArray, GenericListViewArray, MapArray, OffsetSizeTrait,
    RecordBatch, RecordBatchOptions, StructArray, UInt32Array, new_null_array,
};
use arrow_cast::{CastOptions, cast_with_options};
use arrow_schema::{DataType, Field, FieldRef, Fields, Schema, SchemaRef};
use marquetry_base::{Error, ErrorKind, Result};
use std::sync::Arc;

/// How the columns of a batch are made of those that were read.
#[derive(Debug, Clone)]
pub(crate) struct Remake {
    pub(crate) schema: SchemaRef,
    pub(super) parts: Vec<Part>,
}

/// How one field of a struct, or column of a batch, is made.
#[derive(Debug, Clone)]
pub(super) enum Part {
    /// Of the field at this place among those that were read.
    Of(usize, Recipe),
    /// All rows have the value of this array of one row.
    Constant(ArrayRef),
    /// All rows are null.
    Null(DataType),
}

/// How one array becomes one of the wanted type.
#[derive(Debug, Clone)]
pub(super) enum Recipe {
    /// It is of that type.
    Keep,
    /// Its values become those of a wider type; the path is for errors.
    Cast(DataType, Arc<str>),
    /// The fields, and how each is made.
    Struct(Fields, Vec<Part>),
    /// The element, and how it is made; the layout stays.
    List(FieldRef, Box<Recipe>),
    /// The entries, and how key and value are made.
    Map(FieldRef, Box<(Recipe, Recipe)>),
}

impl Remake {
    /// The batch that is made of `batch`.
    pub(crate) fn batch(&self, batch: &RecordBatch) -> Result<RecordBatch> {
        let columns = remade(&self.parts, batch.columns(), batch.num_rows())?;
        let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
        RecordBatch::try_new_with_options(self.schema.clone(), columns, &options).map_err(refused)
    }

    /// The same, with the columns of `read` from `first` on, which come from no column of the file, behind the others.
    pub(crate) fn with_others(mut self, read: &Schema, first: usize) -> Self {
        let others = first..read.fields().len();
        if !others.is_empty() {
            self.parts.extend(others.clone().map(|i| Part::Of(i, Recipe::Keep)));
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
        Remake { schema: Arc::new(Schema::new_with_metadata(fields, self.schema.metadata().clone())), ..self }
    }
}

fn remade(parts: &[Part], arrays: &[ArrayRef], len: usize) -> Result<Vec<ArrayRef>> {
    let part = |part: &Part| match part {
        Part::Of(i, recipe) => recipe.apply(&arrays[*i]),
        Part::Constant(value) => repeated(value, len),
        Part::Null(data_type) => Ok(new_null_array(data_type, len)),
    };
    parts.iter().map(part).collect()
}

/// `len` times the value of an array of one row. Text is shared where it is views.
fn repeated(value: &ArrayRef, len: usize) -> Result<ArrayRef> {
    arrow_select::take::take(value, &UInt32Array::from(vec![0; len]), None).map_err(refused)
}

impl Recipe {
    fn apply(&self, array: &ArrayRef) -> Result<ArrayRef> {
        match self {
            Recipe::Keep => Ok(array.clone()),
            Recipe::Cast(to, path) => strictly(array, to).map_err(|error| error.in_column(path.clone())),
            Recipe::Struct(fields, parts) => {
                let old = array.as_struct();
                let columns = remade(parts, old.columns(), old.len())?;
                let nulls = old.nulls().cloned();
                let new = StructArray::try_new_with_length(fields.clone(), columns, nulls, old.len());
                Ok(Arc::new(new.map_err(refused)?))
            }
            Recipe::List(element, recipe) => list(array, element, recipe),
            Recipe::Map(entries, recipes) => map(array, entries, recipes),
        }
    }
}

/// The values as those of another type. A value that the type cannot hold, such as a date of the year 9999 in
/// nanoseconds, is an error.
pub(crate) fn strictly(array: &ArrayRef, to: &DataType) -> Result<ArrayRef> {
    let options = CastOptions { safe: false, ..CastOptions::default() };
    cast_with_options(array, to, &options).map_err(|error| {
        Error::caused_by(ErrorKind::Argument, format!("{} cannot be read as {to}", array.data_type()), error)
    })
}

fn list(array: &ArrayRef, element: &FieldRef, recipe: &Recipe) -> Result<ArrayRef> {
    match array.data_type() {
        DataType::LargeList(_) => offset_list::<i64>(array, element, recipe),
        DataType::ListView(_) => list_view::<i32>(array, element, recipe),
        DataType::LargeListView(_) => list_view::<i64>(array, element, recipe),
        DataType::FixedSizeList(_, size) => {
            let old = array.as_fixed_size_list();
            let (values, nulls) = (recipe.apply(old.values())?, old.nulls().cloned());
            let new =
                FixedSizeListArray::try_new_with_length(element.clone(), *size, values, nulls, old.len());
            Ok(Arc::new(new.map_err(refused)?))
        }
        _ => offset_list::<i32>(array, element, recipe),
    }
}

fn offset_list<O: OffsetSizeTrait>(
    array: &ArrayRef,
    element: &FieldRef,
    recipe: &Recipe,
) -> Result<ArrayRef> {
    let old = array.as_list::<O>();
    let (values, offsets, nulls) = (recipe.apply(old.values())?, old.offsets().clone(), old.nulls().cloned());
    Ok(Arc::new(GenericListArray::<O>::try_new(element.clone(), offsets, values, nulls).map_err(refused)?))
}

fn list_view<O: OffsetSizeTrait>(array: &ArrayRef, element: &FieldRef, recipe: &Recipe) -> Result<ArrayRef> {
    let old = array.as_list_view::<O>();
    let (offsets, sizes) = (old.offsets().clone(), old.sizes().clone());
    let (values, nulls) = (recipe.apply(old.values())?, old.nulls().cloned());
    let new = GenericListViewArray::<O>::try_new(element.clone(), offsets, sizes, values, nulls);
    Ok(Arc::new(new.map_err(refused)?))
}

fn map(array: &ArrayRef, entries: &FieldRef, recipes: &(Recipe, Recipe)) -> Result<ArrayRef> {
    let (old, DataType::Struct(fields)) = (array.as_map(), entries.data_type()) else {
        return Err(Error::argument(format!("the entries of a map are no {}", entries.data_type())));
    };
    let columns = vec![recipes.0.apply(old.keys())?, recipes.1.apply(old.values())?];
    let pairs = StructArray::try_new_with_length(fields.clone(), columns, None, old.entries().len());
    let sorted = matches!(array.data_type(), DataType::Map(_, true));
    let new = pairs.and_then(|pairs| {
        MapArray::try_new(entries.clone(), old.offsets().clone(), pairs, old.nulls().cloned(), sorted)
    });
    Ok(Arc::new(new.map_err(refused)?))
}
