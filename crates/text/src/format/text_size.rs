//! Estimates how much text rows become before it is made: a short value in a file may be a very long text.

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, Fields};
use marquetry_base::{Error, MemoryBudget, MemoryReservation, Result};

/// Estimates how many bytes the values of some rows have as text, without escapes and names.
pub fn plain_size(batch: &RecordBatch) -> usize {
    of_fields(batch.schema_ref().fields(), batch.columns(), Escapes::Unknown)
}

/// Reserves room in `text` for the rows of a batch. Text that grows piece by piece takes up to three times as much
/// memory, and ends the process if there is none. For long rows each escape is counted, and the memory is taken from
/// the budget of the process until the result is dropped.
///
/// # Errors
/// [`ErrorKind::Memory`](marquetry_base::ErrorKind::Memory) if there is not enough memory.
pub fn reserve(batch: &RecordBatch, text: &mut String) -> Result<MemoryReservation> {
    let plain = plain_size(batch);
    let no_room =
        |bytes: usize| Error::memory(format!("the system has no memory for a text of {bytes} bytes"));
    if plain <= SHORT {
        // A full text would be moved when its line end is appended.
        let beside = batch.num_rows().saturating_mul(batch.num_columns() + 1).saturating_mul(BESIDE);
        let room = plain + beside.min(SHORT);
        text.try_reserve_exact(room).map_err(|_| no_room(room))?;
        return Ok(MemoryReservation::default());
    }
    let of = |escapes| of_fields(batch.schema_ref().fields(), batch.columns(), escapes);
    let (most, without) = (of(Escapes::Counted), of(Escapes::None));
    // Values with escapes or quotes are assembled outside of the text.
    let beside = if most > without { most } else { 0 };
    let held = MemoryBudget::of_process().reserve(most.saturating_add(beside))?;
    // There may be less address space than the budget has left.
    let probe = Vec::<u8>::new().try_reserve_exact(beside).and_then(|()| text.try_reserve_exact(most));
    probe.map_err(|_| no_room(most))?;
    Ok(held)
}

/// The precision of an estimate.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Escapes {
    /// Counts the bytes of values.
    Unknown,
    /// Counts names and the characters around values, too, as if no character needed an escape.
    None,
    /// Counts characters that need an escape, too, with the longest escape.
    Counted,
}

fn of_fields(fields: &Fields, columns: &[ArrayRef], escapes: Escapes) -> usize {
    let of = |(field, column): (&arrow_schema::FieldRef, &ArrayRef)| {
        let names = match escapes {
            Escapes::Unknown => 0,
            _ => column.len().saturating_mul(MOST_FOR_A_BYTE * field.name().len() + BESIDE),
        };
        names.saturating_add(of_array(column, field, escapes))
    };
    fields.iter().zip(columns).map(of).fold(0, usize::saturating_add)
}

fn of_array(array: &dyn Array, field: &Field, escapes: Escapes) -> usize {
    let texts = |values: &mut dyn Iterator<Item = Option<&[u8]>>, needs: fn(u8) -> bool| {
        let of = |value: &[u8]| value.len().saturating_add(more(value, needs, escapes));
        values.map(|value| value.map_or(BESIDE, of)).fold(0, usize::saturating_add)
    };
    match array.data_type() {
        DataType::Utf8 => {
            texts(&mut array.as_string::<i32>().iter().map(|v| v.map(str::as_bytes)), is_escaped_in_text)
        }
        DataType::LargeUtf8 => {
            texts(&mut array.as_string::<i64>().iter().map(|v| v.map(str::as_bytes)), is_escaped_in_text)
        }
        DataType::Utf8View => {
            texts(&mut array.as_string_view().iter().map(|v| v.map(str::as_bytes)), is_escaped_in_text)
        }
        DataType::Binary => texts(&mut array.as_binary::<i32>().iter(), is_escaped_in_bytes),
        DataType::LargeBinary => texts(&mut array.as_binary::<i64>().iter(), is_escaped_in_bytes),
        DataType::BinaryView => texts(&mut array.as_binary_view().iter(), is_escaped_in_bytes),
        DataType::FixedSizeBinary(width) => {
            let digits = 2 * usize::try_from(*width).unwrap_or(0);
            array.len().saturating_mul(digits.max(TIME_BYTES) + BESIDE)
        }
        DataType::Struct(fields) => of_fields(fields, array.as_struct().columns(), escapes),
        DataType::List(element) => {
            let list = array.as_list::<i32>();
            of_range(list.values(), element, list.value_offsets(), escapes)
        }
        DataType::LargeList(element) => {
            let list = array.as_list::<i64>();
            of_range(list.values(), element, list.value_offsets(), escapes)
        }
        DataType::ListView(element) => of_array(array.as_list_view::<i32>().values(), element, escapes),
        DataType::LargeListView(element) => of_array(array.as_list_view::<i64>().values(), element, escapes),
        DataType::FixedSizeList(element, _) => {
            of_array(array.as_fixed_size_list().values(), element, escapes)
        }
        DataType::Map(entries, _) => {
            let map = array.as_map();
            let pairs: ArrayRef = std::sync::Arc::new(map.entries().clone());
            of_range(&pairs, entries, map.value_offsets(), escapes)
        }
        // Callers decode dictionaries first. This is an upper bound: no row has more than all values of the dictionary.
        DataType::Dictionary(_, values) => {
            let values = Field::new(field.name(), values.as_ref().clone(), true);
            of_array(array.as_any_dictionary().values(), &values, escapes).saturating_mul(array.len().max(1))
        }
        _ => array.len().saturating_mul(match escapes {
            Escapes::Unknown => 8,
            _ => LONGEST_SCALAR,
        }),
    }
}

/// Estimates the values that lists refer to.
fn of_range<O: Copy + TryInto<usize>>(
    values: &ArrayRef,
    element: &Field,
    offsets: &[O],
    escapes: Escapes,
) -> usize {
    let place = |offset: Option<&O>| offset.and_then(|at| (*at).try_into().ok()).unwrap_or(0usize);
    let (start, end) = (place(offsets.first()), place(offsets.last()));
    of_array(&values.slice(start, end.saturating_sub(start)), element, escapes)
}

fn more(value: &[u8], needs: fn(u8) -> bool, escapes: Escapes) -> usize {
    match escapes {
        Escapes::Unknown => 0,
        Escapes::None => BESIDE,
        Escapes::Counted => {
            let found = value.iter().filter(|byte| needs(**byte)).count();
            found.saturating_mul(MOST_FOR_A_BYTE - 1).saturating_add(BESIDE)
        }
    }
}

/// Whether a byte is escaped, as `\u0000` in JSON, or as two quotes in CSV.
fn is_escaped_in_text(byte: u8) -> bool {
    byte < 0x20 || matches!(byte, b'"' | b'\\' | 0x7f)
}

/// Whether a byte is escaped, as `\xNN`, with another backslash in JSON. Bytes that are not ASCII may be invalid text.
fn is_escaped_in_bytes(byte: u8) -> bool {
    byte >= 0x7f || is_escaped_in_text(byte)
}

/// Maximum bytes of an escaped byte.
const MOST_FOR_A_BYTE: usize = 6;
/// Maximum bytes of the text of an INT96 time, whose value has 12 bytes.
const TIME_BYTES: usize = 36;
/// Bytes around a value: quotes, a comma, a colon.
const BESIDE: usize = 8;
/// Maximum bytes of a number or a time, except for decimals of scales that no real file has.
const LONGEST_SCALAR: usize = 96;
/// Maximum bytes of values whose escapes are not counted.
const SHORT: usize = 8 << 20;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::{csv, json};
    use arrow_array::builder::{BinaryViewBuilder, ListBuilder, StringBuilder};
    use arrow_array::{FixedSizeBinaryArray, StringViewArray, StructArray};
    use std::sync::Arc;

    /// No text is longer than what was thought, and plain text is hardly shorter.
    #[test]
    fn sizes_are_bounds() {
        let long = "ab\"\\\n".repeat(100_000);
        let texts: ArrayRef = Arc::new(StringViewArray::from(vec![Some(long.as_str()), None, Some("")]));
        let mut bytes = BinaryViewBuilder::new();
        bytes.append_value([0; 100_000]);
        bytes.append_value([0xff; 100_000]);
        bytes.append_value("ä".repeat(50_000).as_bytes());
        let bytes: ArrayRef = Arc::new(bytes.finish());
        let fixed: ArrayRef =
            Arc::new(FixedSizeBinaryArray::try_from_iter((0..3).map(|i| vec![i; 70_000])).unwrap());
        let mut lists = ListBuilder::new(StringBuilder::new());
        for n in [0usize, 40_000, 1] {
            (0..n).for_each(|i| lists.values().append_value(if i % 2 == 0 { "\"" } else { "" }));
            lists.append(true);
        }
        let lists: ArrayRef = Arc::new(lists.finish());
        let field = Arc::new(Field::new("a name with a \"", DataType::Utf8View, true));
        let nested: ArrayRef = Arc::new(StructArray::from(vec![(field, texts.clone())]));
        let columns = [("t", texts), ("b", bytes), ("f", fixed), ("l", lists), ("s", nested)];
        for (name, column) in columns {
            let batch = RecordBatch::try_from_iter([(name, column)]).unwrap();
            for write in [json::write_lines, csv::write_lines] {
                let mut text = String::new();
                write(&batch, &mut text).unwrap();
                let most = of_fields(batch.schema_ref().fields(), batch.columns(), Escapes::Counted);
                assert!(text.len() <= most, "{name}: {} bytes, {most} thought", text.len());
                assert!(plain_size(&batch) <= most);
            }
            // Of a part, no more than its own values count.
            assert!(plain_size(&batch.slice(1, 1)) < plain_size(&batch));
        }
        let plain: ArrayRef = Arc::new(StringViewArray::from(vec!["a".repeat(1 << 20)]));
        let batch = RecordBatch::try_from_iter([("p", plain)]).unwrap();
        let most = of_fields(batch.schema_ref().fields(), batch.columns(), Escapes::Counted);
        assert!((1 << 20..(1 << 20) + 100).contains(&most), "{most}");
    }

    #[test]
    fn the_room_of_long_rows_is_counted() {
        let text = |len: usize| {
            let text: ArrayRef = Arc::new(StringViewArray::from(vec!["a".repeat(len)]));
            RecordBatch::try_from_iter([("a", text)]).unwrap()
        };
        let mut out = String::new();
        assert_eq!(reserve(&text(1000), &mut out).unwrap().bytes(), 0);
        assert!((1001..2000).contains(&out.capacity()));
        let held = reserve(&text(20 << 20), &mut out).unwrap();
        assert!(held.bytes() >= 20 << 20 && held.bytes() < 21 << 20);
        assert!(out.capacity() >= 20 << 20);
    }
}
