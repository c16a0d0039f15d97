//! Packs batches into little memory, row by row.
//!
//! ```text
//! numbers   [nulls | order key - least | part key - least | length of comment | where its texts begin ]   one row after the other
//! texts     comment of row 0, comment of row 1, ..
//! ```
//!
//! Sorting scatters rows, and each access to one is a cache miss: so the values of a row are stored together. Numbers,
//! dates and times are stored as differences from the least of their batch, in as few bytes as the largest needs:
//! decimals of 16 bytes often take 1 to 4 bytes. Columns of other types, such as lists, stay arrays.

use crate::failure::Failure;
use arrow_array::cast::AsArray;
use arrow_array::types::Decimal128Type;
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_buffer::NullBuffer;
use arrow_schema::DataType;

/// The rows of a batch.
pub(super) struct Packed {
    pub(super) columns: Vec<Column>,
    num_rows: usize,
    /// Bytes of a row's numbers.
    width: usize,
    /// The numbers of all rows, with padding, so that a word can be read at each.
    numbers: Vec<u8>,
    /// The texts of all rows, and where those of a row begin.
    pub(super) texts: String,
    pub(super) first_text: Number,
    /// The same for byte strings.
    pub(super) binaries: Vec<u8>,
    pub(super) first_binary: Number,
}

/// A row: the number of a batch, and of a row in it.
pub(super) type Place = (u32, u32);

/// A column of packed rows.
pub(super) enum Column {
    /// Numbers of up to 64 bits, or decimals whose values fit.
    Integer(Slot),
    /// The length of each text, which is stored after those of earlier columns.
    Text(Slot),
    /// The length of each byte string.
    Binary(Slot),
    Other(ArrayRef),
}

/// The location of a column's values in the rows.
#[derive(Clone, Copy)]
pub(super) struct Slot {
    pub(super) number: Number,
    /// The bit that is 1 if the value is null.
    null_bit: Option<u32>,
}

/// A number in each row: its difference from the least, in some bytes of the row.
#[derive(Clone, Copy, Default)]
pub(super) struct Number {
    at: u32,
    mask: u64,
    least: i64,
}

impl Number {
    #[inline]
    pub(super) fn of(&self, row: &[u8]) -> i64 {
        let word = row.get(self.at as usize..).and_then(|rest| rest.first_chunk::<8>());
        let above = word.map_or(0, |word| u64::from_le_bytes(*word)) & self.mask;
        self.least.wrapping_add(above as i64)
    }
}

impl Slot {
    #[inline]
    pub(super) fn is_null(&self, row: &[u8]) -> bool {
        self.null_bit.is_some_and(|bit| row[(bit / 8) as usize] >> (bit % 8) & 1 == 1)
    }

    pub(super) fn may_be_null(&self) -> bool {
        self.null_bit.is_some()
    }
}

/// Padding after the last row, in bytes.
pub(super) const PADDING: usize = 8;

impl Packed {
    pub(super) fn new(batch: &RecordBatch) -> Result<Self, Failure> {
        let num_rows = batch.num_rows();
        let mut layout = Layout::default();
        let (mut texts, mut binaries) = (Strings::new(), Strings::new());
        let mut columns = Vec::with_capacity(batch.num_columns());
        for array in batch.columns() {
            let nulls = array.nulls().filter(|nulls| nulls.null_count() > 0);
            let (column, values): (fn(Slot) -> Column, _) = if let Some(values) = integers(array) {
                (Column::Integer, values)
            } else if let Some(lengths) = texts_of(array).and_then(|column| texts.add(column)) {
                (Column::Text, lengths)
            } else if let Some(lengths) = binaries_of(array).and_then(|column| binaries.add(column)) {
                (Column::Binary, lengths)
            } else {
                // Nested views may point into whole pages.
                columns.push(Column::Other(crate::convert::compact_array(array)?));
                continue;
            };
            columns.push(column(layout.slot(values, nulls)));
        }
        let first_text = layout.number(texts.firsts(num_rows), None);
        let first_binary = layout.number(binaries.firsts(num_rows), None);
        let (width, numbers) = layout.rows(num_rows);
        // The null bits come first, but their number is only known at the end.
        let move_by = |number: Number| Number { at: number.at + layout.null_bytes(), ..number };
        for column in &mut columns {
            if let Column::Integer(slot) | Column::Text(slot) | Column::Binary(slot) = column {
                slot.number = move_by(slot.number);
            }
        }
        Ok(Packed {
            columns,
            num_rows,
            width,
            numbers,
            texts: texts.joined(num_rows, String::with_capacity(texts.bytes as usize), String::push_str),
            first_text: move_by(first_text),
            binaries: binaries.joined(
                num_rows,
                Vec::with_capacity(binaries.bytes as usize),
                Vec::extend_from_slice,
            ),
            first_binary: move_by(first_binary),
        })
    }

    pub(super) fn num_rows(&self) -> usize {
        self.num_rows
    }

    /// Bytes of a row's numbers.
    pub(super) fn width(&self) -> usize {
        self.width
    }

    /// The numbers of a row.
    #[inline]
    pub(super) fn row(&self, row: u32) -> &[u8] {
        &self.numbers[row as usize * self.width..][..self.width]
    }

    /// Size in memory, in bytes.
    pub(super) fn size(&self) -> usize {
        let others = self.columns.iter().map(|column| match column {
            Column::Other(array) => array.get_array_memory_size(),
            _ => 0,
        });
        self.numbers.len() + self.texts.len() + self.binaries.len() + others.sum::<usize>()
    }
}

/// The numbers of rows, before they are written.
#[derive(Default)]
struct Layout<'a> {
    numbers: Vec<(Number, Vec<i64>)>,
    /// Where the next number begins, after the null bits.
    end: u32,
    nulls: Vec<&'a NullBuffer>,
}

impl<'a> Layout<'a> {
    fn slot(&mut self, values: Vec<i64>, nulls: Option<&'a NullBuffer>) -> Slot {
        let null_bit = nulls.map(|_| self.nulls.len() as u32);
        self.nulls.extend(nulls);
        Slot { number: self.number(values, nulls), null_bit }
    }

    fn number(&mut self, values: Vec<i64>, nulls: Option<&NullBuffer>) -> Number {
        let (least, most) = match nulls {
            // Values at nulls are arbitrary.
            Some(nulls) => bounds(nulls.valid_indices().map(|at| values[at])),
            None => bounds(values.iter().copied()),
        };
        let largest = most.wrapping_sub(least) as u64;
        let bits = (u64::BITS - largest.leading_zeros()).next_multiple_of(8);
        let mask = if bits == 0 { 0 } else { u64::MAX >> (u64::BITS - bits) };
        let number = Number { at: self.end, mask, least };
        self.end += bits / 8;
        self.numbers.push((number, values));
        number
    }

    fn null_bytes(&self) -> u32 {
        self.nulls.len().div_ceil(8) as u32
    }

    /// The width of a row, and the bytes of all rows.
    fn rows(&self, num_rows: usize) -> (usize, Vec<u8>) {
        let width = (self.null_bytes() + self.end) as usize;
        let mut out = vec![0; num_rows * width + PADDING];
        for (number, values) in &self.numbers {
            let (at, length) = (number.at as usize, (u64::BITS - number.mask.leading_zeros()) as usize / 8);
            let mut begin = self.null_bytes() as usize + at;
            for value in values {
                let above = value.wrapping_sub(number.least) as u64 & number.mask;
                out[begin..begin + length].copy_from_slice(&above.to_le_bytes()[..length]);
                begin += width;
            }
        }
        for (bit, nulls) in self.nulls.iter().enumerate() {
            for row in (0..num_rows).filter(|row| nulls.is_null(*row)) {
                out[row * width + bit / 8] |= 1 << (bit % 8);
            }
        }
        (width, out)
    }
}

fn bounds(values: impl Iterator<Item = i64>) -> (i64, i64) {
    let (least, most) =
        values.fold((i64::MAX, i64::MIN), |(least, most), value| (least.min(value), most.max(value)));
    if least > most { (0, 0) } else { (least, most) }
}

/// The values of an array of numbers, dates or times; `None` for other types, or if decimals are too large.
fn integers(array: &ArrayRef) -> Option<Vec<i64>> {
    if let DataType::Decimal128(..) = array.data_type() {
        // PERF: called for each value, so the array's type must not be looked up each time.
        let nulls = array.nulls();
        let is_null = |at: usize| nulls.is_some_and(|nulls| nulls.is_null(at));
        let value =
            |(at, value): (usize, &i128)| if is_null(at) { Some(0) } else { i64::try_from(*value).ok() };
        return array.as_primitive::<Decimal128Type>().values().iter().enumerate().map(value).collect();
    }
    if matches!(array.data_type(), DataType::Interval(_)) {
        return None;
    }
    let data = array.to_data();
    let (from, len) = (data.offset(), data.len());
    let buffer = |at: usize| data.buffers().get(at);
    Some(match array.data_type().primitive_width()? {
        1 => widened(&buffer(0)?.typed_data::<i8>()[from..from + len]),
        2 => widened(&buffer(0)?.typed_data::<i16>()[from..from + len]),
        4 => widened(&buffer(0)?.typed_data::<i32>()[from..from + len]),
        8 => buffer(0)?.typed_data::<i64>()[from..from + len].to_vec(),
        _ => return None,
    })
}

fn widened<T: Copy + Into<i64>>(values: &[T]) -> Vec<i64> {
    values.iter().map(|value| (*value).into()).collect()
}

/// The strings of some columns.
struct Strings<'a, S: ?Sized> {
    columns: Vec<Vec<&'a S>>,
    bytes: u64,
}

impl<'a, S: AsRef<[u8]> + ?Sized> Strings<'a, S> {
    fn new() -> Self {
        Strings { columns: Vec::new(), bytes: 0 }
    }

    /// Adds the strings of a column, and returns the length of each; `None` if all are too long together.
    fn add(&mut self, strings: Vec<&'a S>) -> Option<Vec<i64>> {
        let lengths: Vec<i64> = strings.iter().map(|string| string.as_ref().len() as i64).collect();
        let bytes = self.bytes + lengths.iter().sum::<i64>() as u64;
        if bytes > u64::from(u32::MAX) {
            return None;
        }
        self.bytes = bytes;
        self.columns.push(strings);
        Some(lengths)
    }

    /// Where the strings of each row begin.
    fn firsts(&self, num_rows: usize) -> Vec<i64> {
        let mut at = 0;
        let first = |row: usize| {
            let first = at;
            at += self.columns.iter().map(|column| column[row].as_ref().len() as i64).sum::<i64>();
            first
        };
        (0..num_rows).map(first).collect()
    }

    /// The strings of all rows, one row after the other.
    fn joined<B>(&self, num_rows: usize, mut out: B, mut push: impl FnMut(&mut B, &'a S)) -> B {
        for row in 0..num_rows {
            self.columns.iter().for_each(|column| push(&mut out, column[row]));
        }
        out
    }
}

/// The texts of a column, "" for nulls; `None` for other types.
fn texts_of(array: &ArrayRef) -> Option<Vec<&str>> {
    Some(match array.data_type() {
        DataType::Utf8 => array.as_string::<i32>().iter().map(Option::unwrap_or_default).collect(),
        DataType::LargeUtf8 => array.as_string::<i64>().iter().map(Option::unwrap_or_default).collect(),
        DataType::Utf8View => array.as_string_view().iter().map(Option::unwrap_or_default).collect(),
        _ => return None,
    })
}

/// The byte strings of a column, empty for nulls; `None` for other types.
fn binaries_of(array: &ArrayRef) -> Option<Vec<&[u8]>> {
    Some(match array.data_type() {
        DataType::Binary => array.as_binary::<i32>().iter().map(Option::unwrap_or_default).collect(),
        DataType::LargeBinary => array.as_binary::<i64>().iter().map(Option::unwrap_or_default).collect(),
        DataType::BinaryView => array.as_binary_view().iter().map(Option::unwrap_or_default).collect(),
        _ => return None,
    })
}
