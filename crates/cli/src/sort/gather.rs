//! Gathers packed rows from any places into a batch.

use super::packed::{Column, PADDING, Packed, Place, Slot};
use crate::failure::Failure;
use arrow_array::builder::{
    BinaryBuilder, BinaryViewBuilder, LargeBinaryBuilder, LargeStringBuilder, StringBuilder,
    StringViewBuilder,
};
use arrow_array::{Array, ArrayRef, RecordBatch, RecordBatchOptions, make_array};
use arrow_buffer::{Buffer, NullBuffer, NullBufferBuilder};
use arrow_data::ArrayData;
use arrow_data::transform::MutableArrayData;
use arrow_schema::{DataType, SchemaRef};
use arrow_select::interleave::interleave;
use std::ops::Range;
use std::sync::Arc;

/// The rows at `places` in `batches`.
pub(super) fn gathered(
    batches: &[Arc<Packed>],
    places: &[Place],
    schema: &SchemaRef,
) -> Result<RecordBatch, Failure> {
    let batches: Vec<&Packed> = batches.iter().map(AsRef::as_ref).collect();
    let columns = Gather::new(&batches, places).columns(schema)?;
    let options = RecordBatchOptions::new().with_row_count(Some(places.len()));
    Ok(RecordBatch::try_new_with_options(schema.clone(), columns, &options)?)
}

/// Gathers rows column by column.
struct Gather<'a> {
    batches: &'a [&'a Packed],
    places: &'a [Place],
    /// The numbers of the rows. PERF: each row is fetched from far memory once, and then read column by column nearby.
    rows: Vec<u8>,
    stride: usize,
    /// Where the next text and the next byte string of each row begin.
    next_text: Vec<u32>,
    next_binary: Vec<u32>,
}

impl<'a> Gather<'a> {
    fn new(batches: &'a [&'a Packed], places: &'a [Place]) -> Self {
        let stride = batches.iter().map(|batch| batch.width()).max().unwrap_or(0);
        let mut rows = Vec::with_capacity(places.len() * stride + PADDING);
        for (batch, row) in places {
            let from = batches[*batch as usize].row(*row);
            rows.extend_from_slice(from);
            rows.resize(rows.len() + stride - from.len(), 0);
        }
        rows.resize(rows.len() + PADDING, 0);
        let mut out =
            Gather { batches, places, rows, stride, next_text: Vec::new(), next_binary: Vec::new() };
        out.next_text = out.each(|batch, row| batches[batch].first_text.of(row) as u32).collect();
        out.next_binary = out.each(|batch, row| batches[batch].first_binary.of(row) as u32).collect();
        // PERF: reading the first byte of each text fetches many from far memory at once; copying one by one would wait
        // for each.
        let firsts = places.iter().zip(&out.next_text);
        let first = |(place, at): (&Place, &u32)| {
            batches[place.0 as usize].texts.as_bytes().get(*at as usize).copied().unwrap_or(0)
        };
        std::hint::black_box(firsts.map(first).fold(0, |all, byte| all ^ byte));
        out
    }

    /// Maps each row with `make`, which gets the number of its batch, and its numbers.
    #[inline]
    fn each<T>(&self, make: impl Fn(usize, &[u8]) -> T) -> impl Iterator<Item = T> {
        let row = move |(at, place): (usize, &Place)| {
            make(place.0 as usize, &self.rows[at * self.stride..][..self.stride + PADDING])
        };
        self.places.iter().enumerate().map(row)
    }

    fn columns(&mut self, schema: &SchemaRef) -> Result<Vec<ArrayRef>, Failure> {
        let fields = schema.fields().iter().enumerate();
        fields.map(|(i, field)| self.column(i, field.data_type())).collect()
    }

    fn column(&mut self, i: usize, data_type: &DataType) -> Result<ArrayRef, Failure> {
        let slots = |kind: fn(&Column) -> Option<Slot>| self.slots(i, kind).collect::<Option<Vec<_>>>();
        if let Some(slots) = slots(integer) {
            return self.integers(&slots, data_type);
        }
        let (is_text, is_binary) = (slots(text).is_some(), slots(binary).is_some());
        let strings = self.next_strings(i);
        let places = self.places.iter().map(|place| self.batches[place.0 as usize]).zip(strings);
        Ok(match (is_text, is_binary) {
            (true, _) => text_array(places.map(|(batch, range)| batch.texts.get(range?)), data_type),
            (_, true) => binary_array(places.map(|(batch, range)| batch.binaries.get(range?)), data_type),
            // Batches may have the same column in different forms.
            _ => self.mixed(i, data_type)?,
        })
    }

    /// The slots of column `i` in each batch, if it is of one kind.
    fn slots(&self, i: usize, kind: fn(&Column) -> Option<Slot>) -> impl Iterator<Item = Option<Slot>> {
        self.batches.iter().map(move |batch| kind(&batch.columns[i]))
    }

    fn integers(&self, slots: &[Slot], data_type: &DataType) -> Result<ArrayRef, Failure> {
        let values: Vec<i64> = self.each(|batch, row| slots[batch].number.of(row)).collect();
        let buffer = match data_type.primitive_width() {
            Some(1) => Buffer::from_iter(values.iter().map(|value| *value as i8)),
            Some(2) => Buffer::from_iter(values.iter().map(|value| *value as i16)),
            Some(4) => Buffer::from_iter(values.iter().map(|value| *value as i32)),
            Some(16) => Buffer::from_iter(values.iter().map(|value| i128::from(*value))),
            _ => Buffer::from_vec(values),
        };
        let data = ArrayData::builder(data_type.clone()).len(self.places.len()).add_buffer(buffer);
        Ok(make_array(data.nulls(self.nulls(slots)).build()?))
    }

    fn nulls(&self, slots: &[Slot]) -> Option<NullBuffer> {
        if !slots.iter().any(Slot::may_be_null) {
            return None;
        }
        let mut nulls = NullBufferBuilder::new(self.places.len());
        self.each(|batch, row| slots[batch].is_null(row)).for_each(|is_null| nulls.append(!is_null));
        nulls.finish()
    }

    /// The ranges of the strings of column `i`, which are the next ones of each row; `None` if a string is null, or the
    /// batch has none.
    fn next_strings(&mut self, i: usize) -> Vec<Option<Range<usize>>> {
        let mut out = vec![None; self.places.len()];
        for (kind, is_text) in [(text as fn(&Column) -> Option<Slot>, true), (binary, false)] {
            let slots: Vec<Option<Slot>> = self.slots(i, kind).collect();
            if slots.iter().all(Option::is_none) {
                continue;
            }
            let next = if is_text { &mut self.next_text } else { &mut self.next_binary };
            let mut next = std::mem::take(next);
            let lengths = self.each(|batch, row| {
                let slot = slots[batch].filter(|slot| !slot.is_null(row))?;
                Some(slot.number.of(row) as u32)
            });
            for ((length, next), range) in lengths.zip(&mut next).zip(&mut out) {
                let Some(length) = length else { continue };
                *range = Some(*next as usize..(*next + length) as usize);
                // INVARIANT: all strings of a batch together have no more than 4 GiB.
                *next += length;
            }
            if is_text { self.next_text = next } else { self.next_binary = next }
        }
        out
    }

    /// A column that some batches have as an array, or in different forms.
    fn mixed(&self, i: usize, data_type: &DataType) -> Result<ArrayRef, Failure> {
        let array = |batch: &&Packed| whole(batch, i, data_type);
        let arrays = self.batches.iter().map(array).collect::<Result<Vec<_>, _>>()?;
        let arrays: Vec<&dyn Array> = arrays.iter().map(AsRef::as_ref).collect();
        let places: Vec<(usize, usize)> =
            self.places.iter().map(|place| (place.0 as usize, place.1 as usize)).collect();
        Ok(match has_lists_of_none(data_type) {
            true => one_by_one(&arrays, &places)?,
            false => interleave(&arrays, &places)?,
        })
    }
}

/// Whether a type has lists of length 0.
fn has_lists_of_none(data_type: &DataType) -> bool {
    match data_type {
        DataType::FixedSizeList(_, 0) => true,
        DataType::List(field)
        | DataType::LargeList(field)
        | DataType::ListView(field)
        | DataType::LargeListView(field)
        | DataType::FixedSizeList(field, _)
        | DataType::Map(field, _)
        | DataType::RunEndEncoded(_, field) => has_lists_of_none(field.data_type()),
        DataType::Struct(fields) => fields.iter().any(|field| has_lists_of_none(field.data_type())),
        DataType::Dictionary(_, values) => has_lists_of_none(values),
        _ => false,
    }
}

/// As `interleave`. QUIRK: that panics on lists of length 0, whose number nothing but their nulls shows.
fn one_by_one(arrays: &[&dyn Array], places: &[(usize, usize)]) -> Result<ArrayRef, Failure> {
    let data: Vec<ArrayData> = arrays.iter().map(|array| array.to_data()).collect();
    let mut out = MutableArrayData::new(data.iter().collect(), false, places.len());
    places.iter().try_for_each(|(array, row)| out.try_extend(*array, *row, row + 1))?;
    Ok(make_array(out.freeze()))
}

/// Column `i` of all rows of a batch as an array.
fn whole(batch: &Packed, i: usize, data_type: &DataType) -> Result<ArrayRef, Failure> {
    if let Column::Other(array) = &batch.columns[i] {
        return Ok(array.clone());
    }
    let places: Vec<Place> = (0..batch.num_rows() as u32).map(|row| (0, row)).collect();
    let batches = [batch];
    let mut gather = Gather::new(&batches, &places);
    // The columns before it determine where its strings begin.
    for before in 0..i {
        gather.next_strings(before);
    }
    gather.column(i, data_type)
}

fn integer(column: &Column) -> Option<Slot> {
    if let Column::Integer(slot) = column { Some(*slot) } else { None }
}

fn text(column: &Column) -> Option<Slot> {
    if let Column::Text(slot) = column { Some(*slot) } else { None }
}

fn binary(column: &Column) -> Option<Slot> {
    if let Column::Binary(slot) = column { Some(*slot) } else { None }
}

fn text_array<'a>(texts: impl Iterator<Item = Option<&'a str>>, data_type: &DataType) -> ArrayRef {
    match data_type {
        DataType::Utf8 => {
            let mut out = StringBuilder::new();
            out.extend(texts);
            Arc::new(out.finish())
        }
        DataType::LargeUtf8 => {
            let mut out = LargeStringBuilder::new();
            out.extend(texts);
            Arc::new(out.finish())
        }
        _ => {
            let mut out = StringViewBuilder::new();
            out.extend(texts);
            Arc::new(out.finish())
        }
    }
}

fn binary_array<'a>(slices: impl Iterator<Item = Option<&'a [u8]>>, data_type: &DataType) -> ArrayRef {
    match data_type {
        DataType::Binary => {
            let mut out = BinaryBuilder::new();
            out.extend(slices);
            Arc::new(out.finish())
        }
        DataType::LargeBinary => {
            let mut out = LargeBinaryBuilder::new();
            out.extend(slices);
            Arc::new(out.finish())
        }
        _ => {
            let mut out = BinaryViewBuilder::new();
            out.extend(slices);
            Arc::new(out.finish())
        }
    }
}
