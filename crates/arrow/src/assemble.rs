//! Assembles the arrays of fields from the arrays of their leaves.
//!
//! The levels of the first leaf below a field tell how many slots the field has, which are null and where lists begin.
//! The leaves below give the values. If two leaves are below the same field, their levels must agree on it.

use crate::arrow_error;
use crate::column_map::ColumnMap;
use crate::convert::{self, DictionaryCache};
use crate::null_arrays::{MAX_NULL_BYTES, check_nulls, null_array};
use crate::schema::element_of;
use crate::trusted;
use arrow_array::{
    Array, ArrayRef, FixedSizeListArray, GenericListArray, GenericListViewArray, MapArray, OffsetSizeTrait,
    StructArray, UInt32Array,
};
use arrow_buffer::{NullBuffer, ScalarBuffer};
use arrow_schema::{DataType, Field as ArrowField, FieldRef};
use marquetry_base::{Error, MemoryReservation, Result, try_reserve_exact};
use marquetry_core::nesting::{FieldKind, ListOffsets, NestedField};
use marquetry_core::read::ColumnBatch;
use marquetry_core::schema::Schema;
use std::sync::Arc;

/// The columns that were read for one batch of rows, by column number. Assembling takes the batches out.
#[derive(Debug)]
pub(crate) struct Leaves<'a> {
    /// The file's schema.
    pub(crate) schema: &'a Schema,
    /// The batch of each column that was read.
    pub(crate) batches: &'a mut ColumnMap<Option<ColumnBatch>>,
    /// The dictionary cache of each of these columns, kept from batch to batch.
    pub(crate) dictionaries: &'a mut ColumnMap<DictionaryCache>,
    /// The memory reserved for batches and arrays, until all arrays are handed over.
    pub(crate) held: &'a mut MemoryReservation,
}

impl Leaves<'_> {
    fn name(&self, leaf: usize) -> &str {
        self.schema.columns().get(leaf).map_or("", |leaf| leaf.dotted())
    }

    fn batch(&self, leaf: usize) -> Result<&ColumnBatch> {
        self.batches.get(leaf).and_then(Option::as_ref).ok_or_else(|| self.missing(leaf))
    }

    fn array(&mut self, leaf: usize, to: &DataType) -> Result<ArrayRef> {
        let (column, cache) = (self.schema.columns().get(leaf), self.dictionaries.get_mut(leaf));
        let (Some(column), Some(cache)) = (column, cache) else { return Err(self.missing(leaf)) };
        let Some(place) = self.batches.get_mut(leaf) else { return Err(self.missing(leaf)) };
        if let Some(batch) = place {
            let copied = convert::copied_bytes(batch, to);
            batch.held.grow(copied).map_err(|error| error.in_column(column.dotted().clone()))?;
            self.held.merge(batch.take_held());
        }
        match place.take() {
            Some(batch) => convert::into_array(batch, column, to, cache),
            None => Err(self.missing(leaf)),
        }
    }

    #[cold]
    fn missing(&self, leaf: usize) -> Error {
        Error::argument(format!("column {leaf} {} was not read", self.name(leaf)))
    }
}

/// Assembles the array of `field`, with the type of `to`, which [`crate::schema`] must have made or accepted for it.
///
/// Fails if columns of the field disagree on its slots, on a null map key, and on values that the type cannot hold.
pub(crate) fn assemble(field: &NestedField, to: &ArrowField, leaves: &mut Leaves<'_>) -> Result<ArrayRef> {
    match (&field.kind, to.data_type()) {
        (FieldKind::Leaf(leaf), data_type) => leaves.array(*leaf, data_type),
        (FieldKind::Struct(fields), DataType::Struct(to)) => structure(field, fields, to, leaves),
        (FieldKind::List(element), data_type) => list(field, element, data_type, leaves),
        (FieldKind::Map(entries), DataType::Map(to, sorted)) => map(field, entries, to, *sorted, leaves),
        (_, data_type) => Err(Error::argument(format!("field {} cannot be read as {data_type}", field.name))),
    }
}

fn structure(
    field: &NestedField,
    fields: &[NestedField],
    to: &arrow_schema::Fields,
    leaves: &mut Leaves<'_>,
) -> Result<ArrayRef> {
    let slots = leaves.batch(field.first_leaf())?.slots();
    let (count, nulls) = (slots.count(field), convert::nulls(slots.validity(field)));
    if fields.len() != to.len() {
        return Err(Error::argument(format!(
            "struct {} of {} fields, not {}",
            field.name,
            fields.len(),
            to.len()
        )));
    }
    same_groups(field, fields, leaves)?;
    let mut arrays = Vec::with_capacity(fields.len());
    for (child, to) in fields.iter().zip(to) {
        let array = assemble(child, to, leaves)?;
        agree(field, count, child, array.len(), leaves)?;
        arrays.push(array);
    }
    let array = StructArray::try_new_with_length(to.clone(), arrays, nulls, count).map_err(arrow_error)?;
    Ok(Arc::new(array))
}

fn list(
    field: &NestedField,
    element: &NestedField,
    to: &DataType,
    leaves: &mut Leaves<'_>,
) -> Result<ArrayRef> {
    let Some(to_element) = element_of(to) else {
        return Err(Error::argument(format!("the list {} cannot be read as {to}", field.name)));
    };
    let slots = leaves.batch(field.first_leaf())?.slots().list(field, element)?;
    let elements = assemble(element, to_element, leaves)?;
    agree(field, slots.num_elements(), element, elements.len(), leaves)?;
    let to_element = to_element.clone();
    match to {
        DataType::LargeList(_) => offset_list::<i64>(to_element, elements, slots, widened),
        DataType::ListView(_) => list_view::<i32>(to_element, elements, slots),
        DataType::LargeListView(_) => list_view::<i64>(to_element, elements, slots),
        DataType::FixedSizeList(_, size) => fixed_size_list(to_element, *size, elements, slots, leaves.held)
            .map_err(|error| error.in_column(leaves.name(field.first_leaf()))),
        _ => offset_list::<i32>(to_element, elements, slots, ScalarBuffer::from),
    }
}

fn map(
    field: &NestedField,
    entries: &NestedField,
    to: &FieldRef,
    sorted: bool,
    leaves: &mut Leaves<'_>,
) -> Result<ArrayRef> {
    let (FieldKind::Struct(fields), DataType::Struct(to_fields)) = (&entries.kind, to.data_type()) else {
        return Err(Error::argument(format!("the map {} cannot be read as {}", field.name, to.data_type())));
    };
    let ([key, value], [to_key, to_value]) = (fields.as_slice(), &**to_fields) else {
        return Err(Error::argument(format!("the map {} has no key and value", field.name)));
    };
    same_groups(entries, fields, leaves)?;
    let slots = leaves.batch(field.first_leaf())?.slots().list(field, entries)?;
    let count = slots.num_elements();
    let keys = assemble(key, to_key, leaves)?;
    agree(field, count, key, keys.len(), leaves)?;
    if keys.logical_null_count() > 0 {
        return Err(Error::corrupt("null map key").in_column(leaves.name(key.first_leaf())));
    }
    let values = assemble(value, to_value, leaves)?;
    agree(field, count, value, values.len(), leaves)?;
    let entries = StructArray::try_new_with_length(to_fields.clone(), vec![keys, values], None, count);
    let (offsets, validity) = slots.into_parts();
    let (offsets, nulls) = (trusted::ascending(offsets.into()), convert::nulls(validity));
    let map = entries.and_then(|entries| MapArray::try_new(to.clone(), offsets, entries, nulls, sorted));
    Ok(Arc::new(map.map_err(arrow_error)?))
}

/// Fails unless all columns of a group agree on it and on what is above it.
fn same_groups(group: &NestedField, fields: &[NestedField], leaves: &Leaves<'_>) -> Result<()> {
    if group.def == 0 {
        return Ok(());
    }
    let first = group.first_leaf();
    let levels = leaves.batch(first)?.slots();
    for field in fields {
        let other = field.first_leaf();
        if other != first && !levels.agrees_on(group, &leaves.batch(other)?.slots()) {
            let (first, other) = (leaves.name(first), leaves.name(other));
            let message = format!("columns {first} and {other} disagree: other lists or nulls above both");
            return Err(Error::corrupt(message));
        }
    }
    Ok(())
}

/// Fails unless all columns of a field have the same number of slots for it as its first one.
fn agree(
    above: &NestedField,
    wanted: usize,
    child: &NestedField,
    found: usize,
    leaves: &Leaves<'_>,
) -> Result<()> {
    if wanted == found {
        return Ok(());
    }
    let (first, other) = (leaves.name(above.first_leaf()), leaves.name(child.first_leaf()));
    Err(if first == other {
        Error::corrupt(format!("column {first} has levels for {wanted} values, and {found} values"))
    } else {
        Error::corrupt(format!("columns {first} and {other} disagree: {wanted} and {found} values"))
    })
}

fn offset_list<O: OffsetSizeTrait>(
    element: FieldRef,
    elements: ArrayRef,
    slots: ListOffsets,
    widened: impl FnOnce(Vec<i32>) -> ScalarBuffer<O>,
) -> Result<ArrayRef> {
    let (offsets, validity) = slots.into_parts();
    let (offsets, nulls) = (trusted::ascending(widened(offsets)), convert::nulls(validity));
    Ok(Arc::new(GenericListArray::<O>::try_new(element, offsets, elements, nulls).map_err(arrow_error)?))
}

fn list_view<O: OffsetSizeTrait>(
    element: FieldRef,
    elements: ArrayRef,
    slots: ListOffsets,
) -> Result<ArrayRef> {
    let (mut offsets, validity) = slots.into_parts();
    let nulls = convert::nulls(validity);
    let sizes = offsets.windows(2).map(|pair| O::usize_as((pair[1] - pair[0]) as usize)).collect();
    offsets.pop();
    let starts = widened::<O>(offsets);
    Ok(Arc::new(
        GenericListViewArray::<O>::try_new(element, starts, sizes, elements, nulls).map_err(arrow_error)?,
    ))
}

fn widened<O: OffsetSizeTrait>(offsets: Vec<i32>) -> ScalarBuffer<O> {
    offsets.into_iter().map(|offset| O::usize_as(offset as usize)).collect()
}

/// Builds a fixed-size list. Parquet stores nothing for a null list, but Arrow needs `size` elements there as well.
fn fixed_size_list(
    element: FieldRef,
    size: i32,
    elements: ArrayRef,
    slots: ListOffsets,
    held: &mut MemoryReservation,
) -> Result<ArrayRef> {
    let (offsets, validity) = slots.into_parts();
    let (nulls, len) = (convert::nulls(validity), offsets.len() - 1);
    let is_null = |i: usize| nulls.as_ref().is_some_and(|nulls| nulls.is_null(i));
    for (i, pair) in offsets.windows(2).enumerate() {
        let found = pair[1] - pair[0];
        if found != if is_null(i) { 0 } else { size } {
            return Err(Error::corrupt(format!(
                "a list of {found} elements where the Arrow schema says {size}; read without the stored Arrow schema"
            )));
        }
    }
    let elements = match &nulls {
        Some(nulls) if nulls.null_count() > 0 && size > 0 => padded(&elements, nulls, size as usize, held)?,
        _ => elements,
    };
    let array = FixedSizeListArray::try_new_with_length(element, size, elements, nulls, len);
    Ok(Arc::new(array.map_err(arrow_error)?))
}

/// Returns `elements` with `size` nulls inserted for each null list. Grows `held` by the memory that they take.
fn padded(
    elements: &ArrayRef,
    nulls: &NullBuffer,
    size: usize,
    held: &mut MemoryReservation,
) -> Result<ArrayRef> {
    // The list size and an element's width are only what metadata claims: nulls alone must not cost gigabytes.
    let padding = nulls.null_count().saturating_mul(size);
    let len = elements.len().saturating_add(padding);
    let bytes = check_nulls(elements.data_type(), len, MAX_NULL_BYTES)?;
    held.grow(bytes.saturating_add(len.saturating_mul(POSITION_BYTES)))?;
    // Arrow cannot take nulls out of an empty run array.
    if elements.is_empty() {
        return null_array(elements.data_type(), padding);
    }
    let mut next = 0u32;
    let mut positions = Vec::new();
    try_reserve_exact(&mut positions, len)?;
    for valid in nulls {
        for _ in 0..size {
            positions.push(valid.then_some(next));
            next += u32::from(valid);
        }
    }
    arrow_select::take::take(elements, &UInt32Array::from(positions), None).map_err(arrow_error)
}

/// Memory per position while elements are taken, in bytes: an optional number, and the number with its bit.
const POSITION_BYTES: usize = 13;

#[cfg(test)]
mod tests;
