//! A column of a batch, prepared for writing its values row by row as CSV cells or as JSON.
//!
//! The type of a column is looked up once here, not once for each value: what is left for a value is one match.

use super::json_text::quoted;
use super::scalar::{self, Form};
use super::text::Text;
use super::time;
use super::variants::Variants;
use crate::column_names::unique_names;
use arrow_array::cast::AsArray;
use arrow_array::types::*;
use arrow_array::{Array, ArrayRef, BooleanArray, RecordBatch};
use arrow_buffer::NullBuffer;
use arrow_schema::{DataType, Field, Fields, TimeUnit};
use marquetry_arrow::variant::is_variant;
use marquetry_base::Error;

/// The values of an array, by row.
pub struct Column<'a> {
    nulls: Option<&'a NullBuffer>,
    values: Values<'a>,
}

enum Values<'a> {
    /// Of the null type, which has no null bitmap.
    Null,
    Boolean(&'a BooleanArray),
    Int8(&'a [i8]),
    Int16(&'a [i16]),
    Int32(&'a [i32]),
    Int64(&'a [i64]),
    UInt8(&'a [u8]),
    UInt16(&'a [u16]),
    UInt32(&'a [u32]),
    UInt64(&'a [u64]),
    Float32(&'a [f32]),
    Float64(&'a [f64]),
    Decimal64(&'a [i64], i32),
    Decimal128(&'a [i128], i32),
    Date32(&'a [i32]),
    Timestamp(&'a [i64], TimeUnit, bool),
    Text(Text<'a>),
    /// Of a dictionary or of runs, with the position of each row's value.
    At(Vec<usize>, Box<Column<'a>>),
    /// Any other type that is not nested.
    Other(&'a dyn Array, &'a Field),
    Variant(Variants),
    Struct(Vec<Member<'a>>),
    List(Spans<'a>, Box<Column<'a>>),
    Map(&'a [i32], Box<Entries<'a>>),
}

/// A member of a JSON object.
struct Member<'a> {
    /// The name in quotes and the colon, with the brace or the comma before them.
    start: String,
    value: Column<'a>,
}

/// The elements of each list.
enum Spans<'a> {
    Offsets(&'a [i32]),
    LargeOffsets(&'a [i64]),
    Views(&'a [i32], &'a [i32]),
    LargeViews(&'a [i64], &'a [i64]),
    Fixed(usize),
}

struct Entries<'a> {
    /// Whether maps become objects. Otherwise they are lists of objects with `key` and `value`.
    has_text_keys: bool,
    keys: Column<'a>,
    values: Column<'a>,
}

impl<'a> Column<'a> {
    /// Creates the column of an array. Fails if a VARIANT is damaged; other values were checked when they were read.
    pub fn new(array: &'a dyn Array, field: &'a Field) -> Result<Self, Error> {
        Ok(Column { nulls: array.nulls(), values: Values::new(array, field)? })
    }

    /// Creates the columns of a batch.
    pub fn of_batch(batch: &'a RecordBatch) -> Result<Vec<Self>, Error> {
        let columns = batch.schema_ref().fields().iter().zip(batch.columns());
        columns.map(|(field, array)| Column::new(array, field)).collect()
    }

    /// Whether a value is null.
    #[inline]
    pub fn is_null(&self, row: usize) -> bool {
        self.nulls.is_some_and(|nulls| nulls.is_null(row))
            || match &self.values {
                Values::Null => true,
                Values::At(places, values) => values.is_null(places[row]),
                _ => false,
            }
    }

    /// Appends a value as a CSV cell before any quoting; nested values are JSON. Returns whether the cell may need
    /// quotes. The value must not be null.
    #[inline]
    pub fn write_cell(&self, row: usize, out: &mut String) -> MayNeedQuotes {
        match &self.values {
            Values::Text(text) => out.push_str(text.value(row)),
            Values::Other(array, field) => {
                scalar::write(*array, row, field, out);
            }
            Values::Variant(_) | Values::Struct(_) | Values::List(..) | Values::Map(..) => {
                self.values.write_json(row, out)
            }
            Values::At(places, values) => return values.write_cell(places[row], out),
            plain => {
                plain.write_plain(row, out);
                return MayNeedQuotes::No;
            }
        }
        MayNeedQuotes::Yes
    }

    /// Appends the beginning of a value as [`write_cell`](Self::write_cell) writes it, long enough for any cell on a
    /// terminal: at most 4 KiB of text and bytes.
    pub fn write_start(&self, row: usize, out: &mut String) {
        match &self.values {
            Values::Text(text) => {
                let text = text.value(row);
                out.push_str(&text[..text.floor_char_boundary(START_BYTES)]);
            }
            Values::Other(array, field) => {
                scalar::write_start(*array, row, field, START_BYTES, out);
            }
            Values::At(places, values) => values.write_start(places[row], out),
            _ => {
                self.write_cell(row, out);
            }
        }
    }

    /// Appends a value as JSON.
    #[inline]
    pub fn write_json(&self, row: usize, out: &mut String) {
        match self.is_null(row) {
            true => out.push_str("null"),
            false => self.values.write_json(row, out),
        }
    }
}

/// Maximum bytes of a value for a cell on a terminal, which shows some characters of it.
const START_BYTES: usize = 4 << 10;

/// Whether a cell may have bytes that need quotes.
#[derive(PartialEq, Eq)]
pub enum MayNeedQuotes {
    /// The cell may have such bytes.
    Yes,
    /// The cell has no such bytes.
    No,
}

impl<'a> Values<'a> {
    fn new(array: &'a dyn Array, field: &'a Field) -> Result<Self, Error> {
        use DataType::*;
        Ok(match array.data_type() {
            Null => Values::Null,
            Boolean => Values::Boolean(array.as_boolean()),
            Int8 => Values::Int8(array.as_primitive::<Int8Type>().values()),
            Int16 => Values::Int16(array.as_primitive::<Int16Type>().values()),
            Int32 => Values::Int32(array.as_primitive::<Int32Type>().values()),
            Int64 => Values::Int64(array.as_primitive::<Int64Type>().values()),
            UInt8 => Values::UInt8(array.as_primitive::<UInt8Type>().values()),
            UInt16 => Values::UInt16(array.as_primitive::<UInt16Type>().values()),
            UInt32 => Values::UInt32(array.as_primitive::<UInt32Type>().values()),
            UInt64 => Values::UInt64(array.as_primitive::<UInt64Type>().values()),
            Float32 => Values::Float32(array.as_primitive::<Float32Type>().values()),
            Float64 => Values::Float64(array.as_primitive::<Float64Type>().values()),
            Decimal64(_, s) => Values::Decimal64(array.as_primitive::<Decimal64Type>().values(), (*s).into()),
            Decimal128(_, s) => {
                Values::Decimal128(array.as_primitive::<Decimal128Type>().values(), (*s).into())
            }
            Date32 => Values::Date32(array.as_primitive::<Date32Type>().values()),
            Timestamp(unit, zone) => {
                let ticks = match unit {
                    TimeUnit::Second => array.as_primitive::<TimestampSecondType>().values(),
                    TimeUnit::Millisecond => array.as_primitive::<TimestampMillisecondType>().values(),
                    TimeUnit::Microsecond => array.as_primitive::<TimestampMicrosecondType>().values(),
                    TimeUnit::Nanosecond => array.as_primitive::<TimestampNanosecondType>().values(),
                };
                Values::Timestamp(ticks, *unit, zone.is_some())
            }
            Utf8 | LargeUtf8 | Utf8View => Values::Text(Text::new(array)),
            Dictionary(..) => {
                let dictionary = array.as_any_dictionary();
                // Without entries, all rows are null.
                let keys = match dictionary.values().is_empty() {
                    true => vec![0; array.len()],
                    false => dictionary.normalized_keys(),
                };
                Values::At(keys, Box::new(Column::new(dictionary.values(), field)?))
            }
            RunEndEncoded(ends, _) => return Values::runs(array, ends.data_type(), field),
            other if other.is_nested() => return Values::nested(array, field),
            _ => Values::Other(array, field),
        })
    }

    fn runs(array: &'a dyn Array, ends: &DataType, field: &'a Field) -> Result<Self, Error> {
        fn of<'a, R: RunEndIndexType>(array: &'a dyn Array, field: &'a Field) -> Result<Values<'a>, Error> {
            let Some(runs) = array.as_run_opt::<R>() else { return Ok(Values::Other(array, field)) };
            let places = (0..array.len()).map(|row| runs.get_physical_index(row)).collect();
            Ok(Values::At(places, Box::new(Column::new(runs.values(), field)?)))
        }
        match ends {
            DataType::Int16 => of::<Int16Type>(array, field),
            DataType::Int32 => of::<Int32Type>(array, field),
            _ => of::<Int64Type>(array, field),
        }
    }

    /// Whether values are text, so that they can be names of members.
    fn are_text(&self) -> bool {
        match self {
            Values::Text(_) => true,
            Values::At(_, values) => values.values.are_text(),
            _ => false,
        }
    }

    fn nested(array: &'a dyn Array, field: &'a Field) -> Result<Self, Error> {
        let list = |spans: Spans<'a>, values: &'a ArrayRef, element: &'a Field| {
            Ok(Values::List(spans, Box::new(Column::new(values, element)?)))
        };
        match array.data_type() {
            DataType::Struct(_) if is_variant(field) => Variants::new(array).map(Values::Variant),
            DataType::Struct(fields) => members(fields, array.as_struct().columns()).map(Values::Struct),
            DataType::List(element) => {
                let array = array.as_list::<i32>();
                list(Spans::Offsets(array.value_offsets()), array.values(), element)
            }
            DataType::LargeList(element) => {
                let array = array.as_list::<i64>();
                list(Spans::LargeOffsets(array.value_offsets()), array.values(), element)
            }
            DataType::ListView(element) => {
                let array = array.as_list_view::<i32>();
                list(Spans::Views(array.value_offsets(), array.value_sizes()), array.values(), element)
            }
            DataType::LargeListView(element) => {
                let array = array.as_list_view::<i64>();
                list(Spans::LargeViews(array.value_offsets(), array.value_sizes()), array.values(), element)
            }
            DataType::FixedSizeList(element, n) => {
                let array = array.as_fixed_size_list();
                list(Spans::Fixed(index(*n)), array.values(), element)
            }
            DataType::Map(..) => {
                let map = array.as_map();
                let (key, value) = map.entries_fields();
                let (keys, values) = (Column::new(map.keys(), key)?, Column::new(map.values(), value)?);
                let has_text_keys = keys.values.are_text();
                Ok(Values::Map(map.value_offsets(), Box::new(Entries { has_text_keys, keys, values })))
            }
            _ => Ok(Values::Other(array, field)),
        }
    }

    /// Appends a number, a date or a time.
    #[inline]
    fn write_plain(&self, row: usize, out: &mut String) -> Form {
        match self {
            Values::Boolean(values) => scalar::bare(if values.value(row) { "true" } else { "false" }, out),
            Values::Int8(values) => scalar::integer(values[row], out),
            Values::Int16(values) => scalar::integer(values[row], out),
            Values::Int32(values) => scalar::integer(values[row], out),
            Values::Int64(values) => scalar::integer(values[row], out),
            Values::UInt8(values) => scalar::integer(values[row], out),
            Values::UInt16(values) => scalar::integer(values[row], out),
            Values::UInt32(values) => scalar::integer(values[row], out),
            Values::UInt64(values) => scalar::integer(values[row], out),
            Values::Float32(values) => scalar::single(values[row], out),
            Values::Float64(values) => scalar::double(values[row], out),
            Values::Decimal64(values, scale) => scalar::small_decimal(values[row], *scale, out),
            Values::Decimal128(values, scale) => match i64::try_from(values[row]) {
                Ok(value) => scalar::small_decimal(value, *scale, out),
                Err(_) => scalar::decimal(&values[row].to_string(), *scale, out),
            },
            Values::Date32(values) => {
                time::date(i64::from(values[row]), out);
                Form::Text
            }
            Values::Timestamp(values, unit, is_instant) => {
                time::timestamp(values[row], *unit, *is_instant, out);
                Form::Text
            }
            _ => scalar::bare("null", out),
        }
    }

    /// Appends a value that is not null as JSON.
    #[inline]
    fn write_json(&self, row: usize, out: &mut String) {
        match self {
            Values::Text(text) => quoted(text.value(row), out),
            Values::Date32(_) | Values::Timestamp(..) => {
                out.push('"');
                self.write_plain(row, out);
                out.push('"');
            }
            Values::Float32(_) | Values::Float64(_) => {
                let start = out.len();
                if self.write_plain(row, out) == Form::Text {
                    out.insert(start, '"');
                    out.push('"');
                }
            }
            Values::Other(array, field) if scalar::geometry_json(*array, row, field, out) => {}
            Values::Other(array, field) => {
                let start = out.len();
                if scalar::write(*array, row, field, out) == Form::Text {
                    let text = out.split_off(start);
                    quoted(&text, out);
                }
            }
            Values::At(places, values) => values.write_json(places[row], out),
            Values::Variant(variants) => out.push_str(variants.json(row)),
            Values::Struct(members) => write_object(members, row, out),
            Values::List(spans, elements) => {
                out.push('[');
                for (i, element) in spans.of(row).enumerate() {
                    if i > 0 {
                        out.push(',');
                    }
                    elements.write_json(element, out);
                }
                out.push(']');
            }
            Values::Map(offsets, entries) => {
                entries.write(index(offsets[row])..index(offsets[row + 1]), out);
            }
            plain => {
                plain.write_plain(row, out);
            }
        }
    }
}

/// The columns of a batch or a struct, ready to be written as objects. Of several columns with the same name, all but
/// the first are renamed.
pub(super) struct Objects<'a>(Vec<Member<'a>>);

impl<'a> Objects<'a> {
    pub(super) fn new(batch: &'a RecordBatch) -> Result<Self, Error> {
        members(batch.schema_ref().fields(), batch.columns()).map(Objects)
    }

    #[inline]
    pub(super) fn write(&self, row: usize, out: &mut String) {
        write_object(&self.0, row, out);
    }
}

fn members<'a>(fields: &'a Fields, columns: &'a [ArrayRef]) -> Result<Vec<Member<'a>>, Error> {
    let names = unique_names(fields.iter().map(|field| field.name().as_str()));
    let member = |(i, (field, column)): (usize, (&'a arrow_schema::FieldRef, &'a ArrayRef))| {
        let mut start = String::from(if i == 0 { "{" } else { "," });
        quoted(&names[i], &mut start);
        start.push(':');
        Ok(Member { start, value: Column::new(column, field)? })
    };
    fields.iter().zip(columns).enumerate().map(member).collect()
}

#[inline]
fn write_object(members: &[Member<'_>], row: usize, out: &mut String) {
    if members.is_empty() {
        out.push('{');
    }
    for member in members {
        out.push_str(&member.start);
        member.value.write_json(row, out);
    }
    out.push('}');
}

impl Entries<'_> {
    fn write(&self, rows: std::ops::Range<usize>, out: &mut String) {
        let (open, close) = if self.has_text_keys { ('{', '}') } else { ('[', ']') };
        out.push(open);
        for (i, row) in rows.enumerate() {
            if i > 0 {
                out.push(',');
            }
            out.push_str(if self.has_text_keys { "" } else { "{\"key\":" });
            self.keys.write_json(row, out);
            out.push_str(if self.has_text_keys { ":" } else { ",\"value\":" });
            self.values.write_json(row, out);
            out.push_str(if self.has_text_keys { "" } else { "}" });
        }
        out.push(close);
    }
}

impl Spans<'_> {
    fn of(&self, row: usize) -> std::ops::Range<usize> {
        match self {
            Spans::Offsets(offsets) => index(offsets[row])..index(offsets[row + 1]),
            Spans::LargeOffsets(offsets) => index(offsets[row])..index(offsets[row + 1]),
            Spans::Views(offsets, sizes) => index(offsets[row])..index(offsets[row] + sizes[row]),
            Spans::LargeViews(offsets, sizes) => index(offsets[row])..index(offsets[row] + sizes[row]),
            Spans::Fixed(n) => row * n..(row + 1) * n,
        }
    }
}

fn index<T: TryInto<usize>>(offset: T) -> usize {
    // Arrow's offsets are never negative.
    offset.try_into().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::{DictionaryArray, Int8Array, Int32Array, MapArray, RunArray, StringArray, StructArray};
    use arrow_buffer::OffsetBuffer;
    use std::sync::Arc;

    fn json(array: &dyn Array) -> Vec<String> {
        let field = Field::new("a", array.data_type().clone(), true);
        let column = Column::new(array, &field).unwrap();
        let text = |row| {
            let mut text = String::new();
            column.write_json(row, &mut text);
            text
        };
        (0..array.len()).map(text).collect()
    }

    fn dictionary(keys: &[Option<i8>], values: &[Option<&str>]) -> DictionaryArray<Int8Type> {
        let values = Arc::new(StringArray::from(values.to_vec()));
        DictionaryArray::new(Int8Array::from(keys.to_vec()), values)
    }

    #[test]
    fn dictionaries_and_runs_are_their_values() {
        let texts = dictionary(&[Some(1), None, Some(0), Some(2)], &[Some("a"), Some("b\""), None]);
        assert_eq!(json(&texts), ["\"b\\\"\"", "null", "\"a\"", "null"]);
        assert_eq!(json(&texts.slice(2, 1)), ["\"a\""]);
        assert_eq!(json(&dictionary(&[None, None], &[])), ["null", "null"]);
        let ends = Int32Array::from(vec![2, 3, 5]);
        let runs = RunArray::<Int32Type>::try_new(&ends, &Int8Array::from(vec![Some(7), None, Some(9)]));
        let runs = runs.unwrap();
        assert_eq!(json(&runs), ["7", "7", "null", "9", "9"]);
        assert_eq!(json(&runs.slice(1, 3)), ["7", "null", "9"]);
        let field = Field::new("a", texts.data_type().clone(), true);
        let mut cell = String::new();
        Column::new(&texts, &field).unwrap().write_cell(0, &mut cell);
        assert_eq!(cell, "b\"");
    }

    #[test]
    fn text_in_a_dictionary_names_members() {
        let keys: ArrayRef = Arc::new(dictionary(&[Some(1), Some(0)], &[Some("x"), Some("y")]));
        let values: ArrayRef = Arc::new(Int8Array::from(vec![1, 2]));
        let parts = vec![
            (Arc::new(Field::new("key", keys.data_type().clone(), false)), keys),
            (Arc::new(Field::new("value", DataType::Int8, true)), values),
        ];
        let entries = StructArray::from(parts);
        let field = Arc::new(Field::new("entries", entries.data_type().clone(), false));
        let map = MapArray::new(field, OffsetBuffer::from_lengths([2]), entries, None, false);
        assert_eq!(json(&map), ["{\"y\":1,\"x\":2}"]);
    }
}
