//! Tables of what is not flat, and of what is wide: nested lists and structs with nulls on every level, embeddings, and
//! a thousand columns. Deterministic, in batches.

use std::sync::Arc;

use arrow60_array::{
    Array, ArrayRef, FixedSizeListArray, Float32Array, ListArray, MapArray, RecordBatch, StringArray,
    StructArray,
};
use arrow60_buffer::{NullBuffer, OffsetBuffer};
use arrow60_schema::{DataType, Field, FieldRef};

use crate::error::Result;
use crate::generate::{self as g, Rng, with_nulls};

/// Lists of structs, structs of structs, lists of lists, and maps; on each level some are null.
pub(crate) fn nested(rng: &mut Rng, rows: usize) -> Result<RecordBatch> {
    let lengths = lengths(rng, rows, 6);
    let items = total(&lengths);
    let points = structs(
        items,
        10,
        vec![
            ("x", g::f64_random(rng, items), 0),
            ("y", g::f64_random(rng, items), 5),
            ("label", g::strings_of_15(rng, items), 30),
        ],
        rng,
    )?;
    let points = lists(&lengths, points, 5, rng);
    let country = structs(
        rows,
        5,
        vec![("code", g::strings_of_15(rng, rows), 0), ("zone", g::i32_random20(rng, rows), 10)],
        rng,
    )?;
    let city =
        structs(rows, 10, vec![("name", g::strings_random(rng, rows), 0), ("country", country, 0)], rng)?;
    let address = structs(rows, 20, vec![("street", g::urls(rng, rows), 10), ("city", city, 0)], rng)?;
    let columns: [(&str, ArrayRef); 6] = [
        ("id", g::i64_timestamps(rng, rows)),
        ("points", points),
        ("address", address),
        ("attributes", map(rng, rows)?),
        ("matrix", matrix(rng, rows)?),
        ("tags", {
            let lengths = self::lengths(rng, rows, 4);
            let tags = g::strings_of_15(rng, total(&lengths));
            let tags = with_nulls(rng, &tags, 10)?;
            lists(&lengths, tags, 10, rng)
        }),
    ];
    Ok(RecordBatch::try_from_iter_with_nullable(columns.map(|(name, array)| (name, array, name != "id")))?)
}

/// What a vector index keeps: one column of lists that all have the same length by their type, one where only their
/// values have.
pub(crate) fn embeddings(rng: &mut Rng, rows: usize) -> Result<RecordBatch> {
    const FIXED: usize = 512;
    const LISTED: usize = 384;
    let ids = g::i64_timestamps(rng, rows);
    let fixed =
        FixedSizeListArray::try_new(item(DataType::Float32), FIXED as i32, floats(rng, rows * FIXED), None)?;
    let listed = lists(&vec![LISTED; rows], floats(rng, rows * LISTED), 0, rng);
    let columns: [(&str, ArrayRef); 3] = [("id", ids), ("fixed", Arc::new(fixed)), ("listed", listed)];
    Ok(RecordBatch::try_from_iter_with_nullable(columns.map(|(name, array)| (name, array, false)))?)
}

/// Numbers, times, strings and booleans, a third of the columns with nulls.
pub(crate) fn wide(rng: &mut Rng, rows: usize, columns: usize) -> Result<RecordBatch> {
    const KINDS: [fn(&mut Rng, usize) -> ArrayRef; 8] = [
        g::f64_random,
        g::i32_random20,
        g::i64_of_1000,
        g::f64_random,
        g::i64_timestamps,
        g::strings_of_15,
        g::bool_random,
        g::i64_runs,
    ];
    let columns: Result<Vec<(String, ArrayRef, bool)>> = (0..columns)
        .map(|i| {
            let is_nullable = i % 3 == 0;
            let array = KINDS[i % KINDS.len()](rng, rows);
            Ok((
                format!("column_{i}"),
                with_nulls(rng, &array, if is_nullable { 10 } else { 0 })?,
                is_nullable,
            ))
        })
        .collect();
    Ok(RecordBatch::try_from_iter_with_nullable(columns?)?)
}

/// Lists of lists of numbers.
fn matrix(rng: &mut Rng, rows: usize) -> Result<ArrayRef> {
    let outer = lengths(rng, rows, 3);
    let inner = lengths(rng, total(&outer), 4);
    let numbers = g::i32_random20(rng, total(&inner));
    let numbers = with_nulls(rng, &numbers, 5)?;
    let lines = lists(&inner, numbers, 5, rng);
    Ok(lists(&outer, lines, 5, rng))
}

/// Up to four words to a row, most of them with a number.
fn map(rng: &mut Rng, rows: usize) -> Result<ArrayRef> {
    let lengths = lengths(rng, rows, 5);
    let entries = total(&lengths);
    // The keys of a row are different: they count up.
    let keys = lengths.iter().flat_map(|&length| (0..length).map(|i| format!("key {i}")));
    let keys: ArrayRef = Arc::new(StringArray::from_iter_values(keys));
    let values = g::i64_random20(rng, entries);
    let values = with_nulls(rng, &values, 20)?;
    let fields = [("keys", &keys, false), ("values", &values, true)];
    let fields =
        fields.map(|(name, array, null)| Arc::new(Field::new(name, array.data_type().clone(), null)));
    let entries = StructArray::try_new(fields.to_vec().into(), vec![keys, values], None)?;
    let field = Arc::new(Field::new("entries", entries.data_type().clone(), false));
    let nulls = nulls(rng, rows, 10);
    Ok(Arc::new(MapArray::try_new(field, OffsetBuffer::from_lengths(lengths), entries, nulls, false)?))
}

/// A struct of these fields, each with its percentage of nulls, like the struct itself.
fn structs(
    rows: usize,
    null_percent: u64,
    columns: Vec<(&str, ArrayRef, u64)>,
    rng: &mut Rng,
) -> Result<ArrayRef> {
    let (mut fields, mut arrays) = (Vec::<FieldRef>::new(), Vec::new());
    for (name, array, percent) in columns {
        arrays.push(with_nulls(rng, &array, percent)?);
        fields.push(Arc::new(Field::new(name, array.data_type().clone(), true)));
    }
    Ok(Arc::new(StructArray::try_new(fields.into(), arrays, nulls(rng, rows, null_percent))?))
}

fn lists(lengths: &[usize], items: ArrayRef, null_percent: u64, rng: &mut Rng) -> ArrayRef {
    let offsets = OffsetBuffer::from_lengths(lengths.iter().copied());
    let field = item(items.data_type().clone());
    Arc::new(ListArray::new(field, offsets, items, nulls(rng, lengths.len(), null_percent)))
}

fn item(data_type: DataType) -> FieldRef {
    Arc::new(Field::new("element", data_type, true))
}

/// Around 0, as a model gives them.
fn floats(rng: &mut Rng, count: usize) -> ArrayRef {
    let values = (0..count).map(|_| (rng.unit() + rng.unit() - 1.0) as f32 * 0.1);
    Arc::new(Float32Array::from_iter_values(values))
}

/// Each of them below `most`.
fn lengths(rng: &mut Rng, rows: usize, most: u64) -> Vec<usize> {
    (0..rows).map(|_| rng.below(most) as usize).collect()
}

fn total(lengths: &[usize]) -> usize {
    lengths.iter().sum()
}

fn nulls(rng: &mut Rng, rows: usize, percent: u64) -> Option<NullBuffer> {
    (percent > 0).then(|| std::iter::repeat_with(|| rng.below(100) >= percent).take(rows).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nulls_are_on_every_level() {
        let batch = nested(&mut Rng::new(3), 2_000).unwrap();
        assert_eq!(batch, nested(&mut Rng::new(3), 2_000).unwrap());
        for (i, column) in batch.columns().iter().enumerate() {
            assert_eq!(column.null_count() > 0, i > 0, "{}", batch.schema().field(i));
        }
    }
}
