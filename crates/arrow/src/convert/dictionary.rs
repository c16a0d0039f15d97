//! Dictionary arrays: keys and values.
//!
//! If the pages are dictionary-encoded, their indices are the keys, and the dictionary page becomes an array once. If
//! not, the values of the batch are collected into a dictionary of its own.

use super::array_builders::{nulls, shared};
use super::from_values::from_values;
use super::int96;
use crate::arrow_error;
use crate::trusted;
use arrow_array::types::{
    ArrowDictionaryKeyType, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type,
    UInt64Type,
};
use arrow_array::{Array, ArrayRef, DictionaryArray, PrimitiveArray, UInt32Array};
use arrow_buffer::{ArrowNativeType, NullBuffer};
use arrow_schema::{DataType, TimeUnit};
use marquetry_base::{Error, Result};
use marquetry_core::read::ColumnBatch;
use marquetry_core::schema::Leaf;
use marquetry_encoding::dictionary::{Dictionary, DictionaryBuilder};
use marquetry_encoding::{Bitmap, Values};
use std::sync::Arc;

/// The converted values of the dictionary that a column was last read with. A reader has one for each column.
#[derive(Debug, Default)]
pub(crate) struct DictionaryCache {
    /// The values as an array.
    array: Option<(Arc<Dictionary>, ArrayRef)>,
    /// The timestamps of INT96 in this unit, or the same dictionary if one of them is out of range.
    timestamps: Option<(Arc<Dictionary>, TimeUnit, Arc<Dictionary>)>,
}

impl DictionaryCache {
    fn values(&mut self, dictionary: &Arc<Dictionary>, leaf: &Leaf, to: &DataType) -> Result<ArrayRef> {
        if let Some((of, values)) = &self.array
            && Arc::ptr_eq(of, dictionary)
            && values.data_type() == to
        {
            return Ok(values.clone());
        }
        // Text is validated again, once per dictionary: the chunk reader validates values, not entries that no value refers to.
        let values = from_values(dictionary.values().clone(), None, leaf, to, false)?;
        self.array = Some((dictionary.clone(), values.clone()));
        Ok(values)
    }

    /// Returns a dictionary of INT96 as timestamps, if all of its values fit; otherwise the dictionary itself.
    ///
    /// PERF: each value of the dictionary is converted once, not each time it occurs.
    pub(super) fn timestamps(&mut self, dictionary: Arc<Dictionary>, unit: TimeUnit) -> Arc<Dictionary> {
        match &self.timestamps {
            Some((of, in_unit, known)) if Arc::ptr_eq(of, &dictionary) && *in_unit == unit => known.clone(),
            _ => {
                // A value that no index refers to may be anything.
                let timestamps = match dictionary.values() {
                    Values::Fixed(values) => int96::timestamps(values, None, unit).ok(),
                    _ => None,
                };
                let words = timestamps.map(|values| values.into_iter().map(|value| value as u64).collect());
                let known =
                    words.map_or(dictionary.clone(), |words| Arc::new(Dictionary::new(Values::W64(words))));
                self.timestamps = Some((dictionary, unit, known.clone()));
                known
            }
        }
    }
}

/// Creates a dictionary array of `keys` into values of type `to`. Fails if there are more distinct values than keys.
pub(super) fn into_array(
    batch: ColumnBatch,
    leaf: &Leaf,
    key_type: &DataType,
    to: &DataType,
    cache: &mut DictionaryCache,
) -> Result<ArrayRef> {
    let (keys, values) = match (batch.dictionary, batch.values) {
        (Some(dictionary), Values::W32(keys)) => (keys, cache.values(&dictionary, leaf, to)?),
        (Some(_), _) => return Err(not_indices()),
        (None, values) => {
            let (keys, values) = interned(values, batch.validity.as_ref())?;
            (keys, from_values(values, None, leaf, to, leaf.is_text())?)
        }
    };
    let nulls = nulls(batch.validity);
    let (keys, values) = fitted(keys, values, nulls.as_ref(), key_type)?;
    match key_type {
        DataType::Int8 => typed::<Int8Type>(keys, values, nulls),
        DataType::Int16 => typed::<Int16Type>(keys, values, nulls),
        DataType::Int32 => typed::<Int32Type>(keys, values, nulls),
        DataType::Int64 => typed::<Int64Type>(keys, values, nulls),
        DataType::UInt8 => typed::<UInt8Type>(keys, values, nulls),
        DataType::UInt16 => typed::<UInt16Type>(keys, values, nulls),
        DataType::UInt32 => typed::<UInt32Type>(keys, values, nulls),
        DataType::UInt64 => typed::<UInt64Type>(keys, values, nulls),
        other => Err(Error::argument(format!("{other} cannot be the keys of a dictionary"))),
    }
}

/// Looks the values of a batch up in its dictionary, if it has one.
pub(super) fn look_up(
    values: Values,
    validity: Option<&Bitmap>,
    dictionary: Option<Arc<Dictionary>>,
) -> Result<Values> {
    match (dictionary, values) {
        (None, values) => Ok(values),
        (Some(dictionary), Values::W32(keys)) => {
            let nulls = validity.map_or(0, |bits| bits.len() - bits.count_ones(0..bits.len()));
            if dictionary.values().is_empty() && nulls < keys.len() {
                return Err(Error::corrupt("values of an empty dictionary"));
            }
            dictionary.values_at(&keys)
        }
        (Some(_), _) => Err(not_indices()),
    }
}

#[cold]
fn not_indices() -> Error {
    Error::argument("a dictionary, but values that are not indices into it")
}

/// Builds a dictionary of the values, in order of first appearance. Returns the key of each value, 0 for nulls, and the
/// dictionary's values.
fn interned(values: Values, validity: Option<&Bitmap>) -> Result<(Vec<u32>, Values)> {
    let n = values.len();
    let dense = match (values, validity) {
        // Booleans have no dictionaries, so they are interned as numbers.
        (Values::Bit(bits), _) => {
            let numbers = (0..n).map(|i| u32::from(bits.get(i))).collect();
            let (keys, mut numbers) = interned(Values::W32(numbers), validity)?;
            let bits = numbers.as_w32()?.iter().map(|&number| number == 1).collect();
            return Ok((keys, Values::Bit(bits)));
        }
        (Values::Offsets(strings), _) => {
            return interned(Values::Bytes(strings.iter().collect()), validity);
        }
        (values, None) => values,
        (values, Some(validity)) => {
            let mut dense = values.shape().empty();
            dense.push_filtered(&values, validity, 0)?;
            dense
        }
    };
    let (mut builder, mut keys) = (DictionaryBuilder::new(dense.shape()), Vec::with_capacity(dense.len()));
    builder.intern(&dense, 0..dense.len(), &mut keys)?;
    if let Some(validity) = validity {
        let mut spread = Values::W32(Vec::with_capacity(n));
        spread.push_spaced(&Values::W32(keys), validity, 0, n);
        keys = std::mem::take(spread.as_w32()?);
    }
    Ok((keys, builder.values().clone()))
}

/// Returns keys that fit the key type. If the largest does not, only the used values are kept.
fn fitted(
    keys: Vec<u32>,
    values: ArrayRef,
    nulls: Option<&NullBuffer>,
    key_type: &DataType,
) -> Result<(Vec<u32>, ArrayRef)> {
    let most = match key_type {
        DataType::Int8 => i8::MAX as u32,
        DataType::UInt8 => u8::MAX.into(),
        DataType::Int16 => i16::MAX as u32,
        DataType::UInt16 => u16::MAX.into(),
        DataType::Int32 => i32::MAX as u32,
        _ => u32::MAX,
    };
    // Every key is less than the number of values. If the type has keys for all of those, no key needs to be checked.
    let all_fit = values.len() <= most as usize;
    if all_fit || keys.iter().copied().max().unwrap_or(0) <= most {
        return Ok((keys, values));
    }
    let validity: Option<Bitmap> = nulls.map(|nulls| nulls.iter().collect());
    let (renumbered, mut used) = interned(Values::W32(keys), validity.as_ref())?;
    let used = std::mem::take(used.as_w32()?);
    if used.len() > most as usize + 1 {
        return Err(Error::limit(format!(
            "{} different values in one batch do not fit {key_type} dictionary keys; read smaller batches or wider keys",
            used.len()
        )));
    }
    Ok((renumbered, arrow_select::take::take(&values, &UInt32Array::from(used), None).map_err(arrow_error)?))
}

/// Creates the array of `keys`, all of which fit the type.
fn typed<K: ArrowDictionaryKeyType>(
    keys: Vec<u32>,
    values: ArrayRef,
    nulls: Option<NullBuffer>,
) -> Result<ArrayRef> {
    if size_of::<K::Native>() == size_of::<u32>() {
        return Ok(Arc::new(trusted::dictionary::<K>(keys, nulls, values)?));
    }
    let keys: Vec<K::Native> = keys.iter().map(|&key| K::Native::usize_as(key as usize)).collect();
    let keys = PrimitiveArray::<K>::try_new(keys.into(), nulls).map_err(arrow_error)?;
    shared(DictionaryArray::try_new(keys, values))
}
