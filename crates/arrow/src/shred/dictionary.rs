//! Shreds dictionary arrays and run arrays as keys and a dictionary.

use super::leaf_values::{check_nullable, cleared, in_slots};
use crate::convert::{ConversionError, NonNullSlots, from_array, validity};
use arrow_array::cast::AsArray;
use arrow_array::types::{Int16Type, Int32Type, Int64Type, RunEndIndexType};
use arrow_array::{Array, ArrayRef, RunArray, UInt32Array};
use arrow_buffer::ArrowNativeType;
use arrow_data::ArrayData;
use arrow_schema::DataType;
use marquetry_core::nesting::{ColumnValues, SlotRanges};
use marquetry_core::schema::Leaf;
use marquetry_encoding::{Bitmap, PhysicalType, Values};
use std::sync::Arc;

/// Shreds the dictionary and run arrays of one column. Caches the last dictionary.
#[derive(Debug, Default)]
pub(super) struct DictionaryShredder {
    last: Option<DictionaryValues>,
}

/// The stored values of a dictionary.
#[derive(Debug)]
struct DictionaryValues {
    /// The array that they were made of, which identifies them. It is kept alive, so that no other array can have its address.
    of: ArrayData,
    values: Arc<Values>,
    /// Set if the array has nulls: the new number of each of its values, [`NULL`] for a null.
    numbers: Option<Vec<u32>>,
}

/// The number of a null.
const NULL: u32 = u32::MAX;

impl DictionaryShredder {
    /// Converts the values in `slots` of a dictionary or run array to keys and a dictionary. Returns which slots have a value.
    pub(super) fn shred(
        &mut self,
        array: &dyn Array,
        slots: &SlotRanges,
        leaf: &Leaf,
        nullable: bool,
        out: &mut ColumnValues,
    ) -> Result<Option<Bitmap>, ConversionError> {
        let (valid, mut keys, values) = indices(array, slots, take_keys(out))?;
        // BOOLEAN has no dictionary pages. And if only an unused value cannot be stored, the others still can.
        let found = match leaf.physical() {
            PhysicalType::Boolean => Err(ConversionError { value: None, why: String::new() }),
            _ => self.dictionary_of(values, leaf),
        };
        let Ok(dictionary) = found else {
            return expanded(valid, &keys, values, slots.len(), leaf, nullable, out);
        };
        let valid = match &dictionary.numbers {
            None => valid,
            Some(numbers) => renumber(&mut keys, numbers, valid, slots.len()),
        };
        check_nullable(nullable, valid.as_ref())?;
        *out = ColumnValues::Keys { keys, dictionary: dictionary.values.clone() };
        Ok(valid)
    }

    /// Returns the stored form of `values`, from the cache if they are the same as last time.
    fn dictionary_of(
        &mut self,
        values: &ArrayRef,
        leaf: &Leaf,
    ) -> Result<&DictionaryValues, ConversionError> {
        let of = values.to_data();
        match &mut self.last {
            Some(known) if known.of.ptr_eq(&of) => {}
            other => {
                let (values, numbers) = stored(values, leaf)?;
                *other = Some(DictionaryValues { of, values: Arc::new(values), numbers });
            }
        }
        self.last.as_ref().ok_or_else(|| ConversionError { value: None, why: "no dictionary".to_owned() })
    }
}

/// Writes the values of the keys one by one.
fn expanded(
    valid: Option<Bitmap>,
    keys: &[u32],
    values: &ArrayRef,
    slots: usize,
    leaf: &Leaf,
    nullable: bool,
    out: &mut ColumnValues,
) -> Result<Option<Bitmap>, ConversionError> {
    let array = taken(values, UInt32Array::from(keys.to_vec()))?;
    let all = SlotRanges::new(0..array.len());
    let present = validity(array.logical_nulls().as_ref(), &all);
    let picks = NonNullSlots::new(&all, present.as_ref());
    let mut made = from_array(&array, &picks, leaf, cleared(out, leaf));
    made = made.map_err(|unfit| in_slots(unfit, present.as_ref()));
    made.map_err(|unfit| in_slots(unfit, valid.as_ref()))?;
    let valid = match present {
        None => valid,
        Some(present) => both(valid, slots, |n| present.get(n)),
    };
    check_nullable(nullable, valid.as_ref())?;
    Ok(valid)
}

/// Takes the keys' memory out for reuse.
fn take_keys(out: &mut ColumnValues) -> Vec<u32> {
    match out {
        ColumnValues::Keys { keys, .. } => {
            let mut keys = std::mem::take(keys);
            keys.clear();
            keys
        }
        ColumnValues::Values(_) => Vec::new(),
    }
}

/// Returns which of `slots` have an index into the values, those indices, and the values.
fn indices<'a>(
    array: &'a dyn Array,
    slots: &SlotRanges,
    mut keys: Vec<u32>,
) -> Result<(Option<Bitmap>, Vec<u32>, &'a ArrayRef), ConversionError> {
    if let Some(array) = array.as_any_dictionary_opt() {
        let valid = validity(array.keys().nulls(), slots);
        check_count(array.values())?;
        keys_of(array.keys(), &NonNullSlots::new(slots, valid.as_ref()), &mut keys);
        return Ok((valid, keys, array.values()));
    }
    keys.reserve(slots.len());
    let values = if let Some(array) = array.as_run_opt::<Int16Type>() {
        runs_of(array, slots, &mut keys)
    } else if let Some(array) = array.as_run_opt::<Int32Type>() {
        runs_of(array, slots, &mut keys)
    } else if let Some(array) = array.as_run_opt::<Int64Type>() {
        runs_of(array, slots, &mut keys)
    } else {
        return Err(ConversionError { value: None, why: format!("{} is not encoded", array.data_type()) });
    };
    check_count(values)?;
    Ok((None, keys, values))
}

fn check_count(values: &ArrayRef) -> Result<(), ConversionError> {
    match u32::try_from(values.len()) {
        Ok(_) => Ok(()),
        Err(_) => {
            Err(ConversionError { value: None, why: format!("a dictionary of {} values", values.len()) })
        }
    }
}

/// Appends the picked keys. Those that are not null are neither negative nor beyond the values, of which there are fewer than 2^32.
fn keys_of(array: &dyn Array, picks: &NonNullSlots<'_>, out: &mut Vec<u32>) {
    let data = array.to_data();
    match array.data_type().primitive_width() {
        Some(1) => picks.map(data.buffer::<u8>(0), out, u32::from),
        Some(2) => picks.map(data.buffer::<u16>(0), out, u32::from),
        Some(4) => picks.map(data.buffer::<u32>(0), out, |key| key),
        _ => picks.map(data.buffer::<u64>(0), out, |key| key as u32),
    }
}

/// Appends the number of the run that each slot is in.
fn runs_of<'a, R: RunEndIndexType>(
    array: &'a RunArray<R>,
    slots: &SlotRanges,
    out: &mut Vec<u32>,
) -> &'a ArrayRef {
    let ends = array.run_ends();
    for range in slots.ranges() {
        let (mut run, mut at) = (ends.get_physical_index(range.start), range.start);
        while at < range.end {
            // Run ends count from the start of the array before it was sliced.
            let end = ends.values().get(run).map_or(range.end, |end| end.as_usize() - ends.offset());
            let end = end.clamp(at, range.end);
            out.resize(out.len() + (end - at), run as u32);
            (run, at) = (run + 1, end);
            if run > ends.values().len() {
                break;
            }
        }
    }
    array.values()
}

/// Converts the values of a dictionary, without nulls. If there are nulls, also returns the new number of each value.
fn stored(array: &ArrayRef, leaf: &Leaf) -> Result<(Values, Option<Vec<u32>>), ConversionError> {
    let all = SlotRanges::new(0..array.len());
    if let DataType::Dictionary(..) | DataType::RunEndEncoded(..) = array.data_type() {
        let (valid, keys, inner) = indices(array, &all, Vec::new())?;
        let (values, numbers) = stored(inner, leaf)?;
        let number = |key: u32| numbers.as_ref().map_or(key, |numbers| numbers[key as usize]);
        let mut keys = keys.into_iter().map(number);
        let numbers = match valid {
            None => keys.collect(),
            Some(valid) => {
                let slots = (0..valid.len()).map(|i| if valid.get(i) { keys.next() } else { None });
                slots.map(|key| key.unwrap_or(NULL)).collect()
            }
        };
        return Ok((values, Some(numbers)));
    }
    let valid = validity(array.logical_nulls().as_ref(), &all);
    let mut values = leaf.physical().shape().empty();
    from_array(array, &NonNullSlots::new(&all, valid.as_ref()), leaf, &mut values)?;
    let numbers = valid.map(|valid| {
        let mut next = 0;
        let number = |i| {
            let is_value = valid.get(i);
            next += u32::from(is_value);
            if is_value { next - 1 } else { NULL }
        };
        (0..valid.len()).map(number).collect()
    });
    Ok((values, numbers))
}

/// Replaces keys by their new numbers, and drops those without one. Returns which slots are left.
fn renumber(keys: &mut Vec<u32>, numbers: &[u32], valid: Option<Bitmap>, slots: usize) -> Option<Bitmap> {
    keys.iter_mut().for_each(|key| *key = numbers[*key as usize]);
    let valid = both(valid, slots, |n| keys[n] != NULL);
    keys.retain(|&key| key != NULL);
    valid
}

/// Returns those of the valid slots, counted by `n`, for which `also` is true; `None` if these are all slots.
fn both(valid: Option<Bitmap>, slots: usize, also: impl Fn(usize) -> bool) -> Option<Bitmap> {
    let mut n = 0;
    let mut is = |slot| {
        let was = valid.as_ref().is_none_or(|valid| valid.get(slot));
        n += usize::from(was);
        was && also(n - 1)
    };
    let bits: Bitmap = (0..slots).map(&mut is).collect();
    (bits.count_ones(0..slots) < slots).then_some(bits)
}

/// Returns the values at these indices, without any encoding.
fn taken(values: &ArrayRef, indices: UInt32Array) -> Result<ArrayRef, ConversionError> {
    let arrow_error =
        |error: arrow_schema::ArrowError| ConversionError { value: None, why: error.to_string() };
    let array = arrow_select::take::take(values, &indices, None).map_err(arrow_error)?;
    match array.as_any_dictionary_opt() {
        Some(array) => arrow_select::take::take(array.values(), array.keys(), None).map_err(arrow_error),
        None => Ok(array),
    }
}
