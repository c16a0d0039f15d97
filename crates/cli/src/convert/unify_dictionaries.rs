//! Unifies the dictionaries of a column: one for all batches of an Arrow file.
//!
//! The batches of a file share the dictionary of a column, which may only grow from batch to batch. Dictionaries of
//! Parquet row groups, and of other Arrow files, do not fulfil that: their distinct values are collected, and keys are
//! computed anew.

use super::compact_views::with_children;
use arrow_array::cast::AsArray;
use arrow_array::{
    Array, ArrayRef, RecordBatch, RecordBatchOptions, UInt32Array, UInt64Array, make_array, new_empty_array,
};
use arrow_cast::{CastOptions, cast_with_options};
use arrow_row::{RowConverter, SortField};
use arrow_schema::{ArrowError, DataType};
use arrow_select::concat::concat;
use arrow_select::take::take;
use std::collections::HashMap;

/// The dictionaries of all columns so far, in the order of a walk over the columns.
#[derive(Default)]
pub(crate) struct UnifiedDictionaries {
    dictionaries: Vec<Growing>,
}

/// Distinct values, with the key of each.
struct Growing {
    values: ArrayRef,
    places: HashMap<Box<[u8]>, u64>,
    converter: RowConverter,
}

impl UnifiedDictionaries {
    /// The same rows, with dictionaries that extend those of the batch before.
    pub(super) fn unify(&mut self, batch: &RecordBatch) -> Result<RecordBatch, ArrowError> {
        let mut next = 0;
        let columns = batch.columns().iter().zip(batch.schema_ref().fields());
        let columns = columns.map(|(column, field)| {
            let unified = self.array(column, &mut next);
            unified.map_err(|error| named(&error, field.name()))
        });
        let columns = columns.collect::<Result<_, _>>()?;
        let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
        RecordBatch::try_new_with_options(batch.schema(), columns, &options)
    }

    fn array(&mut self, array: &ArrayRef, next: &mut usize) -> Result<ArrayRef, ArrowError> {
        let DataType::Dictionary(_, values) = array.data_type() else {
            return with_children(array, &mut |child| self.array(child, next));
        };
        if *next == self.dictionaries.len() {
            let converter = RowConverter::new(vec![SortField::new(values.as_ref().clone())])?;
            let (values, places) = (new_empty_array(values), HashMap::new());
            self.dictionaries.push(Growing { values, places, converter });
        }
        *next += 1;
        self.dictionaries[*next - 1].keyed(array)
    }
}

impl Growing {
    /// The array with keys of the unified dictionary.
    fn keyed(&mut self, array: &ArrayRef) -> Result<ArrayRef, ArrowError> {
        let DataType::Dictionary(key_type, _) = array.data_type() else { return Ok(array.clone()) };
        let dictionary = array.as_any_dictionary();
        let keys = cast_with_options(dictionary.keys(), &DataType::UInt64, &STRICT)?;
        let keys = keys.as_primitive::<arrow_array::types::UInt64Type>();
        let rows = self.converter.convert_columns(&[dictionary.values().clone()])?;
        let (mut places, mut new) = (vec![None; rows.num_rows()], Vec::new());
        let known = self.places.len() as u64;
        let keys: UInt64Array = keys
            .iter()
            .map(|key| {
                let at = key? as usize;
                Some(*places[at].get_or_insert_with(|| {
                    *self.places.entry(rows.row(at).as_ref().into()).or_insert_with(|| {
                        new.push(at as u32);
                        known + new.len() as u64 - 1
                    })
                }))
            })
            .collect();
        if !new.is_empty() {
            let new = take(dictionary.values(), &UInt32Array::from(new), None)?;
            self.values = concat(&[&*self.values, &*new])?;
        }
        let keys = cast_with_options(&keys, key_type, &STRICT).map_err(|_| {
            let most = format!("dictionaries with more values together than {key_type} counts");
            ArrowError::InvalidArgumentError(format!("{most}; --plain-types writes the values"))
        })?;
        let built = keys.to_data().into_builder().data_type(array.data_type().clone());
        Ok(make_array(built.child_data(vec![self.values.to_data()]).build()?))
    }
}

fn named(error: &ArrowError, column: &str) -> ArrowError {
    ArrowError::InvalidArgumentError(format!("column {column}: {error}"))
}

const STRICT: CastOptions<'_> =
    CastOptions { safe: false, format_options: arrow_cast::display::FormatOptions::new() };

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::types::{Int8Type, Int32Type};
    use arrow_array::{DictionaryArray, StructArray};
    use std::sync::Arc;

    #[test]
    fn dictionaries_only_grow() {
        let mut unified = UnifiedDictionaries::default();
        let mut before: Option<ArrayRef> = None;
        for words in [["a", "b", "a"], ["c", "a", "c"], ["b", "b", "b"]] {
            let array: DictionaryArray<Int32Type> = words.into_iter().map(Some).chain([None]).collect();
            let inner = StructArray::try_from(vec![("d", Arc::new(array.clone()) as ArrayRef)]).unwrap();
            let columns: [(&str, ArrayRef); 2] = [("d", Arc::new(array.clone())), ("s", Arc::new(inner))];
            let batch = RecordBatch::try_from_iter(columns).unwrap();
            let found = unified.unify(&batch).unwrap();
            assert_eq!(found.schema(), batch.schema());
            let nested = found.column(1).as_struct().column(0).clone();
            for found in [found.column(0), &nested] {
                let found = found.as_dictionary::<Int32Type>();
                let texts = found.downcast_dict::<arrow_array::StringArray>().unwrap();
                assert!(texts.into_iter().eq(words.into_iter().map(Some).chain([None])));
            }
            let values = nested.as_any_dictionary().values().clone();
            if let Some(before) = before {
                assert_eq!(*values.slice(0, before.len()), *before);
            }
            before = Some(values);
        }
        // 129 values in all have no keys of 8 bits.
        let mut unified = UnifiedDictionaries::default();
        let of = |texts: Vec<String>| -> RecordBatch {
            let array: DictionaryArray<Int8Type> = texts.iter().map(String::as_str).collect();
            RecordBatch::try_from_iter([("d", Arc::new(array) as ArrayRef)]).unwrap()
        };
        unified.unify(&of((0..100).map(|i| i.to_string()).collect())).unwrap();
        let error = unified.unify(&of((100..129).map(|i| i.to_string()).collect())).unwrap_err();
        assert!(error.to_string().contains("--plain-types"), "{error}");
    }
}
