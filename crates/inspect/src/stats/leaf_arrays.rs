//! The leaves of a nested array, out of structs, lists and maps, as arrays of their own.

use super::strings::LengthStats;
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, UInt64Array};
use arrow_buffer::NullBuffer;
use arrow_schema::{ArrowError, DataType};
use arrow_select::take::take;
use marquetry_base::{Error, ErrorKind, Result};

/// The array of a leaf.
pub(crate) struct LeafArray {
    pub(crate) values: ArrayRef,
    /// The nulls of the leaf, and of everything above it.
    pub(crate) nulls: Option<NullBuffer>,
    /// Lengths of the innermost lists that it is in, as far as they are not null.
    pub(crate) lists: Option<LengthStats>,
}

/// Appends the leaves of `array`, in the order of the file's columns.
///
/// Fails if arrays contradict each other.
pub(crate) fn leaf_arrays(array: &ArrayRef, out: &mut Vec<LeafArray>) -> Result<()> {
    append(array, None, None, out)
}

fn append(
    array: &ArrayRef,
    above: Option<&NullBuffer>,
    lists: Option<LengthStats>,
    out: &mut Vec<LeafArray>,
) -> Result<()> {
    let nulls = NullBuffer::union(above, array.nulls());
    match array.data_type() {
        DataType::Struct(_) => {
            let fields = array.as_struct().columns();
            fields.iter().try_for_each(|field| append(field, nulls.as_ref(), lists, out))
        }
        DataType::Map(..) => {
            let map = array.as_map();
            let spans = spans(array.len(), nulls.as_ref(), |i| span(map.value_offsets(), i));
            let (rows, lengths) = (&spans.0, Some(spans.1));
            [map.keys(), map.values()]
                .into_iter()
                .try_for_each(|field| append(&rows.of(field)?, None, lengths, out))
        }
        other => {
            let Some((elements, (rows, lengths))) = list_elements(array, other, nulls.as_ref()) else {
                out.push(LeafArray { values: array.clone(), nulls, lists });
                return Ok(());
            };
            append(&rows.of(elements)?, None, Some(lengths), out)
        }
    }
}

/// Returns the elements of all lists, and which of them are in lists that are not null. `None` if the array is not a
/// list.
fn list_elements<'a>(
    array: &'a ArrayRef,
    data_type: &DataType,
    nulls: Option<&NullBuffer>,
) -> Option<(&'a ArrayRef, (Elements, LengthStats))> {
    let len = array.len();
    Some(match data_type {
        DataType::List(_) => {
            let list = array.as_list::<i32>();
            (list.values(), spans(len, nulls, |i| span(list.value_offsets(), i)))
        }
        DataType::LargeList(_) => {
            let list = array.as_list::<i64>();
            (list.values(), spans(len, nulls, |i| span(list.value_offsets(), i)))
        }
        DataType::FixedSizeList(_, size) => {
            let (list, size) = (array.as_fixed_size_list(), *size as usize);
            (list.values(), spans(len, nulls, |i| (i * size, size)))
        }
        DataType::ListView(_) => {
            let list = array.as_list_view::<i32>();
            (list.values(), spans(len, nulls, |i| (list.offsets()[i] as usize, list.sizes()[i] as usize)))
        }
        DataType::LargeListView(_) => {
            let list = array.as_list_view::<i64>();
            (list.values(), spans(len, nulls, |i| (list.offsets()[i] as usize, list.sizes()[i] as usize)))
        }
        _ => return None,
    })
}

/// Returns the start and the length of a list.
fn span<O: Copy + TryInto<usize>>(offsets: &[O], i: usize) -> (usize, usize) {
    let at = |i: usize| offsets[i].try_into().unwrap_or(0);
    (at(i), at(i + 1) - at(i))
}

/// The elements of an array that belong to lists that are not null.
enum Elements {
    /// A range: its start and its length.
    Range(usize, usize),
    /// The elements with these numbers.
    Each(Vec<u64>),
}

impl Elements {
    fn of(&self, array: &ArrayRef) -> Result<ArrayRef> {
        match self {
            Elements::Range(start, len) => Ok(array.slice(*start, *len)),
            Elements::Each(numbers) => take(array, &UInt64Array::from(numbers.clone()), None).map_err(failed),
        }
    }
}

fn spans(
    len: usize,
    nulls: Option<&NullBuffer>,
    span: impl Fn(usize) -> (usize, usize),
) -> (Elements, LengthStats) {
    let (mut lengths, mut range, mut is_one) = (LengthStats::default(), None, true);
    let present = || (0..len).filter(|i| nulls.is_none_or(|nulls| nulls.is_valid(*i))).map(&span);
    for (start, size) in present() {
        lengths.add(size as u64, 1);
        if size > 0 {
            let (first, end) = range.get_or_insert((start, start));
            is_one &= *end == start && *first <= start;
            *end = start + size;
        }
    }
    let elements = match (is_one, range) {
        (_, None) => Elements::Range(0, 0),
        (true, Some((first, end))) => Elements::Range(first, end - first),
        (false, _) => {
            let numbers = present().flat_map(|(start, size)| start as u64..(start + size) as u64);
            Elements::Each(numbers.collect())
        }
    };
    (elements, lengths)
}

fn failed(error: ArrowError) -> Error {
    Error::caused_by(ErrorKind::Corrupt, "the values make no Arrow array", error)
}
