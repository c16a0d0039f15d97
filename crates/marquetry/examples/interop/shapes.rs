//! Columns of a type, flat and nested, with and without nulls.

use arrow_array::*;
use arrow_buffer::{NullBuffer, OffsetBuffer};
use arrow_cast::cast;
use arrow_schema::{ArrowError, DataType, Field, FieldRef, Fields};
use arrow_select::take::take;
use std::collections::HashMap;
use std::sync::Arc;

use crate::types::{Column, DISTINCT};

/// Number of rows of a column in each of the files.
pub(crate) const ROWS: usize = 1000;

/// The places of nulls.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Nulls {
    /// No nulls, and the schema forbids them.
    Required,
    /// No nulls, but the schema allows them.
    None,
    Some,
    /// Only nulls.
    All,
    /// No rows at all.
    Empty,
}

impl Nulls {
    pub(crate) const ALL: [(Nulls, &str); 5] = [
        (Nulls::Required, "required"),
        (Nulls::None, "none"),
        (Nulls::Some, "some"),
        (Nulls::All, "all"),
        (Nulls::Empty, "empty"),
    ];

    fn nullable(self) -> bool {
        self != Nulls::Required
    }

    fn is_null(self, i: usize) -> bool {
        match self {
            Nulls::Some => i % 7 == 3 || (400..460).contains(&i),
            Nulls::All => true,
            _ => false,
        }
    }

    /// Whether a list is null. If all elements are null, some lists are not.
    fn is_null_list(self, i: usize) -> bool {
        match self {
            Nulls::All => i.is_multiple_of(4),
            _ => self.is_null(i),
        }
    }
}

/// The nesting around the values.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Nesting {
    Flat,
    List,
    Map,
    StructInList,
}

impl Nesting {
    pub(crate) const ALL: [(Nesting, &str); 4] = [
        (Nesting::Flat, "flat"),
        (Nesting::List, "list"),
        (Nesting::Map, "map"),
        (Nesting::StructInList, "struct"),
    ];
}

/// A column as it is written, and as it is checked.
pub(crate) type Both = [(FieldRef, ArrayRef); 2];

/// Builds the column in this nesting, with these nulls.
pub(crate) fn build(column: &Column, nesting: Nesting, nulls: Nulls) -> Result<Both, ArrowError> {
    let rows = if nulls == Nulls::Empty { 0 } else { ROWS };
    let lengths: Vec<usize> = (0..rows).map(|row| length(row, nesting, nulls)).collect();
    let leaves = lengths.iter().sum();
    // Short runs, so that dictionaries and run-end encoding pay.
    let index = |i: usize| (!nulls.is_null(i)).then_some(((i / 2) * 7 % DISTINCT) as u32);
    let indices: UInt32Array = (0..leaves).map(index).collect();
    let values = take(&column.values, &indices, None)?;
    let of = |data_type: &DataType, metadata: &HashMap<String, String>| -> Result<_, ArrowError> {
        let values = if values.data_type() == data_type { values.clone() } else { cast(&values, data_type)? };
        let nullable = nulls.nullable() || data_type.is_null();
        let field =
            |name: &str| Field::new(name, data_type.clone(), nullable).with_metadata(metadata.clone());
        Ok(match nesting {
            Nesting::Flat => (Arc::new(field(&column.name)), values),
            Nesting::List => list(&column.name, Arc::new(field("element")), values, &lengths, nulls),
            Nesting::Map => map(&column.name, field("value"), values, &lengths, nulls),
            Nesting::StructInList => {
                let (child, values) = pair(field("v"), values, nulls);
                list(&column.name, child, values, &lengths, nulls)
            }
        })
    };
    // Only the Parquet file stores extension types.
    Ok([of(&column.stored, &column.metadata)?, of(&column.truth, &HashMap::new())?])
}

/// Returns the number of elements of the list in this row.
fn length(row: usize, nesting: Nesting, nulls: Nulls) -> usize {
    match nesting {
        Nesting::Flat => 1,
        _ if nulls.is_null_list(row) => 0,
        _ => [2, 0, 1, 3, 1, 1][row % 6],
    }
}

fn list(
    name: &str,
    child: FieldRef,
    values: ArrayRef,
    lengths: &[usize],
    nulls: Nulls,
) -> (FieldRef, ArrayRef) {
    let validity = validity(lengths.len(), |row| !nulls.is_null_list(row));
    let offsets = OffsetBuffer::from_lengths(lengths.iter().copied());
    let array = ListArray::new(child, offsets, values, validity);
    (Arc::new(Field::new(name, array.data_type().clone(), nulls.nullable())), Arc::new(array))
}

/// Returns a map with text keys.
fn map(name: &str, value: Field, values: ArrayRef, lengths: &[usize], nulls: Nulls) -> (FieldRef, ArrayRef) {
    let keys = lengths.iter().flat_map(|n| (0..*n).map(|key| format!("k{key}")));
    let keys: StringArray = keys.map(Some).collect();
    let fields = Fields::from(vec![Field::new("key", DataType::Utf8, false), value]);
    let entries = StructArray::new(fields, vec![Arc::new(keys), values], None);
    let validity = validity(lengths.len(), |row| !nulls.is_null_list(row));
    let entry = Arc::new(Field::new("key_value", entries.data_type().clone(), false));
    let array =
        MapArray::new(entry, OffsetBuffer::from_lengths(lengths.iter().copied()), entries, validity, false);
    (Arc::new(Field::new(name, array.data_type().clone(), nulls.nullable())), Arc::new(array))
}

/// Returns a struct of the value and its number.
fn pair(value: Field, values: ArrayRef, nulls: Nulls) -> (FieldRef, ArrayRef) {
    let n = values.len();
    let fields = Fields::from(vec![value, Field::new("n", DataType::Int32, false)]);
    let numbers = Int32Array::from_iter_values(0..n as i32);
    let validity = validity(n, |i| nulls != Nulls::Some || i % 5 != 1);
    let array = StructArray::new(fields, vec![values, Arc::new(numbers)], validity);
    (Arc::new(Field::new("element", array.data_type().clone(), nulls.nullable())), Arc::new(array))
}

fn validity(n: usize, is_valid: impl Fn(usize) -> bool) -> Option<NullBuffer> {
    let validity: NullBuffer = (0..n).map(is_valid).collect();
    Some(validity).filter(|validity| validity.null_count() > 0)
}

/// Returns columns in the other layouts, and in deeper nesting.
pub(crate) fn layouts() -> Result<Vec<Both>, ArrowError> {
    let rows = ROWS;
    let numbers: Int64Array = (0..rows).map(|i| (i % 7 != 2).then_some(i as i64 * 3)).collect();
    let words: StringArray =
        (0..rows).map(|i| (i % 5 != 1).then(|| crate::types::text(i % DISTINCT))).collect();
    let (numbers, words): (ArrayRef, ArrayRef) = (Arc::new(numbers), Arc::new(words));
    let element = |array: &ArrayRef| Arc::new(Field::new("element", array.data_type().clone(), true));
    // Null lists that are not empty. Their elements must be left out.
    let offsets = |n: usize, each: usize| OffsetBuffer::from_lengths((0..n).map(|_| each));
    let some = |n: usize| validity(n, |i| i % 6 != 4);
    let lists = |array: &ArrayRef, each: usize| -> ArrayRef {
        let n = array.len() / each;
        Arc::new(ListArray::new(element(array), offsets(n, each), array.clone(), some(n)))
    };
    let of_two = lists(&numbers, 2);
    let words_of_two = lists(&words, 2);
    let lists_of_lists: ArrayRef = {
        let outer = OffsetBuffer::from_lengths((0..200).map(|i| if i == 0 { 5 } else { i % 5 }));
        let n = outer.last().copied().unwrap_or(0) as usize;
        Arc::new(ListArray::new(element(&of_two), outer, of_two.slice(0, n), some(200)))
    };
    let fixed_numbers: ArrayRef =
        Arc::new(FixedSizeListArray::new(element(&numbers), 2, numbers.clone(), some(rows / 2)));
    let structs: ArrayRef = {
        let inner = StructArray::new(
            Fields::from(vec![
                Field::new("c", words_of_two.data_type().clone(), true),
                Field::new("d", numbers.data_type().clone(), true),
            ]),
            vec![words_of_two.clone(), numbers.slice(0, rows / 2)],
            some(rows / 2),
        );
        let fields = Fields::from(vec![
            Field::new("a", inner.data_type().clone(), true),
            Field::new("b", DataType::Int64, true),
        ]);
        Arc::new(StructArray::new(
            fields,
            vec![Arc::new(inner), numbers.slice(300, rows / 2)],
            validity(rows / 2, |i| i % 9 != 5),
        ))
    };
    let list_type = |array: &ArrayRef| element(array);
    let plain = |array: ArrayRef| (array.clone(), array);
    let as_type = |array: &ArrayRef, data_type: DataType| -> Result<_, ArrowError> {
        Ok((cast(array, &data_type)?, array.clone()))
    };
    let columns = [
        ("list", plain(of_two.clone())),
        ("large_list", as_type(&of_two, DataType::LargeList(list_type(&numbers)))?),
        ("list_view", as_type(&of_two, DataType::ListView(list_type(&numbers)))?),
        ("large_list_view", as_type(&words_of_two, DataType::LargeListView(list_type(&words)))?),
        ("fixed_list", {
            let as_list = cast(&fixed_numbers, &DataType::List(list_type(&numbers)))?;
            (fixed_numbers, as_list)
        }),
        ("list_of_list", plain(lists_of_lists)),
        ("struct_of_struct", plain(structs.clone())),
        ("list_of_struct", plain(lists(&structs, 1).slice(0, 300))),
    ];
    let field = |name: &str, array: &ArrayRef| Arc::new(Field::new(name, array.data_type().clone(), true));
    let n = 200;
    let first = |(name, (stored, truth)): (&str, (ArrayRef, ArrayRef))| {
        [(field(name, &stored), stored.slice(0, n)), (field(name, &truth), truth.slice(0, n))]
    };
    Ok(columns.into_iter().map(first).collect())
}
