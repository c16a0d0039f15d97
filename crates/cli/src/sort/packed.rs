//! Batches in little memory, whose rows are gathered in any order.
//!
//! Numbers, dates and times are kept as what they are more than the least of their batch, in as few bytes as the largest
//! needs: decimals of 16 bytes become 1 to 4 of them, often. Texts stand behind each other, without views. What is left,
//! such as lists, stays as it is.

use crate::failure::Failure;
use arrow_array::builder::{
    BinaryBuilder, BinaryViewBuilder, LargeBinaryBuilder, LargeStringBuilder, StringBuilder,
    StringViewBuilder,
};
use arrow_array::cast::AsArray;
use arrow_array::types::Decimal128Type;
use arrow_array::{Array, ArrayRef, RecordBatch, RecordBatchOptions, make_array};
use arrow_buffer::{Buffer, NullBuffer, NullBufferBuilder};
use arrow_data::ArrayData;
use arrow_schema::{DataType, SchemaRef};
use arrow_select::interleave::interleave;
use std::sync::Arc;

/// The rows of a batch.
pub(super) struct Packed {
    columns: Vec<Column>,
}

/// A row: the number of a batch, and of a row in it.
pub(super) type Place = (u32, u32);

enum Column {
    Integers(Integers),
    Texts(Slices<String>),
    Binaries(Slices<Vec<u8>>),
    Other(ArrayRef),
}

/// Numbers of up to 64 bits, or decimals that are no larger.
struct Integers {
    least: i64,
    /// By how much each is more than the least.
    above: Above,
    len: usize,
    nulls: Option<NullBuffer>,
}

enum Above {
    /// All are the least.
    Nothing,
    Bytes1(Vec<u8>),
    Bytes2(Vec<u16>),
    Bytes4(Vec<u32>),
    Bytes8(Vec<u64>),
}

/// Byte strings that stand behind each other.
struct Slices<B> {
    /// Where each begins, and where the last one ends.
    offsets: Vec<u32>,
    bytes: B,
    nulls: Option<NullBuffer>,
}

impl Packed {
    pub(super) fn new(batch: &RecordBatch) -> Result<Self, Failure> {
        let columns = batch.columns().iter().map(Column::new).collect::<Result<_, _>>()?;
        Ok(Packed { columns })
    }

    /// Bytes of memory.
    pub(super) fn size(&self) -> usize {
        self.columns.iter().map(Column::size).sum()
    }
}

/// The rows at `places` in `batches`.
pub(super) fn gathered(
    batches: &[Arc<Packed>],
    places: &[Place],
    schema: &SchemaRef,
) -> Result<RecordBatch, Failure> {
    let column = |(i, field): (usize, &Arc<arrow_schema::Field>)| {
        let columns: Vec<&Column> = batches.iter().map(|batch| &batch.columns[i]).collect();
        gathered_column(&columns, places, field.data_type())
    };
    let columns = schema.fields().iter().enumerate().map(column).collect::<Result<_, _>>()?;
    let options = RecordBatchOptions::new().with_row_count(Some(places.len()));
    Ok(RecordBatch::try_new_with_options(schema.clone(), columns, &options)?)
}

fn gathered_column(columns: &[&Column], places: &[Place], data_type: &DataType) -> Result<ArrayRef, Failure> {
    if let Some(columns) = columns.iter().map(|column| column.integers()).collect::<Option<Vec<_>>>() {
        return integers(&columns, places, data_type);
    }
    if let Some(columns) = columns.iter().map(|column| column.texts()).collect::<Option<Vec<_>>>() {
        let texts = places.iter().map(|place| {
            let (column, row) = (columns[place.0 as usize], place.1 as usize);
            column.range(row).and_then(|range| column.bytes.get(range))
        });
        return Ok(text_array(texts, data_type));
    }
    if let Some(columns) = columns.iter().map(|column| column.binaries()).collect::<Option<Vec<_>>>() {
        let slices = places.iter().map(|place| {
            let (column, row) = (columns[place.0 as usize], place.1 as usize);
            column.range(row).and_then(|range| column.bytes.get(range))
        });
        return Ok(binary_array(slices, data_type));
    }
    // Batches may have the same column in different forms.
    let arrays = columns.iter().map(|column| column.array(data_type)).collect::<Result<Vec<_>, _>>()?;
    let arrays: Vec<&dyn Array> = arrays.iter().map(AsRef::as_ref).collect();
    let places: Vec<(usize, usize)> =
        places.iter().map(|place| (place.0 as usize, place.1 as usize)).collect();
    Ok(interleave(&arrays, &places)?)
}

impl Column {
    fn new(array: &ArrayRef) -> Result<Self, Failure> {
        if let Some(integers) = Integers::new(array) {
            return Ok(Column::Integers(integers));
        }
        let nulls = array.nulls().cloned();
        let len = array.len();
        let column = match array.data_type() {
            DataType::Utf8 => texts(array.as_string::<i32>().iter(), len, nulls),
            DataType::LargeUtf8 => texts(array.as_string::<i64>().iter(), len, nulls),
            DataType::Utf8View => texts(array.as_string_view().iter(), len, nulls),
            DataType::Binary => binaries(array.as_binary::<i32>().iter(), len, nulls),
            DataType::LargeBinary => binaries(array.as_binary::<i64>().iter(), len, nulls),
            DataType::BinaryView => binaries(array.as_binary_view().iter(), len, nulls),
            _ => None,
        };
        match column {
            Some(column) => Ok(column),
            // The views inside of it may point into whole pages.
            None => Ok(Column::Other(crate::convert::compact_array(array)?)),
        }
    }

    fn integers(&self) -> Option<&Integers> {
        if let Column::Integers(integers) = self { Some(integers) } else { None }
    }

    fn texts(&self) -> Option<&Slices<String>> {
        if let Column::Texts(texts) = self { Some(texts) } else { None }
    }

    fn binaries(&self) -> Option<&Slices<Vec<u8>>> {
        if let Column::Binaries(binaries) = self { Some(binaries) } else { None }
    }

    /// All rows as an array.
    fn array(&self, data_type: &DataType) -> Result<ArrayRef, Failure> {
        let len = match self {
            Column::Other(array) => return Ok(array.clone()),
            Column::Integers(integers) => integers.len,
            Column::Texts(texts) => texts.offsets.len() - 1,
            Column::Binaries(binaries) => binaries.offsets.len() - 1,
        };
        let places: Vec<Place> = (0..len as u32).map(|row| (0, row)).collect();
        gathered_column(&[self], &places, data_type)
    }

    fn size(&self) -> usize {
        let nulls = |nulls: &Option<NullBuffer>| nulls.as_ref().map_or(0, |nulls| nulls.len() / 8);
        match self {
            Column::Integers(integers) => integers.above.size() + nulls(&integers.nulls),
            Column::Texts(texts) => 4 * texts.offsets.len() + texts.bytes.len() + nulls(&texts.nulls),
            Column::Binaries(slices) => 4 * slices.offsets.len() + slices.bytes.len() + nulls(&slices.nulls),
            Column::Other(array) => array.get_array_memory_size(),
        }
    }
}

fn texts<'a>(
    values: impl Iterator<Item = Option<&'a str>>,
    len: usize,
    nulls: Option<NullBuffer>,
) -> Option<Column> {
    let (mut bytes, mut offsets) = (String::new(), Vec::with_capacity(len + 1));
    offsets.push(0);
    for value in values {
        bytes.push_str(value.unwrap_or_default());
        offsets.push(u32::try_from(bytes.len()).ok()?);
    }
    bytes.shrink_to_fit();
    Some(Column::Texts(Slices { offsets, bytes, nulls }))
}

fn binaries<'a>(
    values: impl Iterator<Item = Option<&'a [u8]>>,
    len: usize,
    nulls: Option<NullBuffer>,
) -> Option<Column> {
    let (mut bytes, mut offsets) = (Vec::new(), Vec::with_capacity(len + 1));
    offsets.push(0);
    for value in values {
        bytes.extend_from_slice(value.unwrap_or_default());
        offsets.push(u32::try_from(bytes.len()).ok()?);
    }
    bytes.shrink_to_fit();
    Some(Column::Binaries(Slices { offsets, bytes, nulls }))
}

impl<B> Slices<B> {
    /// Where the value stands; `None` if it is null.
    #[inline]
    fn range(&self, row: usize) -> Option<std::ops::Range<usize>> {
        let is_null = self.nulls.as_ref().is_some_and(|nulls| nulls.is_null(row));
        (!is_null).then(|| self.offsets[row] as usize..self.offsets[row + 1] as usize)
    }
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

impl Integers {
    /// The values of an array of numbers, dates or times; `None` if it is another one, or has larger decimals.
    fn new(array: &ArrayRef) -> Option<Self> {
        let nulls = array.nulls().cloned();
        if let DataType::Decimal128(..) = array.data_type() {
            let values = array.as_primitive::<Decimal128Type>().values();
            let is_null = |at: usize| nulls.as_ref().is_some_and(|nulls| nulls.is_null(at));
            let value =
                |(at, value): (usize, &i128)| if is_null(at) { Some(0) } else { i64::try_from(*value).ok() };
            let values: Vec<i64> = values.iter().enumerate().map(value).collect::<Option<_>>()?;
            return Some(Integers::pack(&values, nulls));
        }
        if matches!(array.data_type(), DataType::Interval(_)) {
            return None;
        }
        let data = array.to_data();
        let (from, len) = (data.offset(), data.len());
        let buffer = |at: usize| data.buffers().get(at);
        Some(match array.data_type().primitive_width()? {
            1 => Integers::pack(&widened(&buffer(0)?.typed_data::<i8>()[from..from + len]), nulls),
            2 => Integers::pack(&widened(&buffer(0)?.typed_data::<i16>()[from..from + len]), nulls),
            4 => Integers::pack(&widened(&buffer(0)?.typed_data::<i32>()[from..from + len]), nulls),
            8 => Integers::pack(&buffer(0)?.typed_data::<i64>()[from..from + len], nulls),
            _ => return None,
        })
    }

    fn pack(values: &[i64], nulls: Option<NullBuffer>) -> Self {
        let (least, most) = match &nulls {
            // What stands at nulls is anything.
            Some(nulls) => bounds(nulls.valid_indices().map(|at| values[at])),
            None => bounds(values.iter().copied()),
        };
        let above = |value: &i64| value.wrapping_sub(least) as u64;
        let above = match most.wrapping_sub(least) as u64 {
            0 => Above::Nothing,
            1..=0xff => Above::Bytes1(values.iter().map(|value| above(value) as u8).collect()),
            0x100..=0xffff => Above::Bytes2(values.iter().map(|value| above(value) as u16).collect()),
            0x1_0000..=0xffff_ffff => Above::Bytes4(values.iter().map(|value| above(value) as u32).collect()),
            _ => Above::Bytes8(values.iter().map(above).collect()),
        };
        Integers { least, above, len: values.len(), nulls }
    }

    #[inline]
    fn value(&self, row: usize) -> i64 {
        let above = match &self.above {
            Above::Nothing => 0,
            Above::Bytes1(values) => u64::from(values[row]),
            Above::Bytes2(values) => u64::from(values[row]),
            Above::Bytes4(values) => u64::from(values[row]),
            Above::Bytes8(values) => values[row],
        };
        self.least.wrapping_add(above as i64)
    }
}

impl Above {
    fn size(&self) -> usize {
        match self {
            Above::Nothing => 0,
            Above::Bytes1(values) => values.len(),
            Above::Bytes2(values) => 2 * values.len(),
            Above::Bytes4(values) => 4 * values.len(),
            Above::Bytes8(values) => 8 * values.len(),
        }
    }
}

fn widened<T: Copy + Into<i64>>(values: &[T]) -> Vec<i64> {
    values.iter().map(|value| (*value).into()).collect()
}

fn bounds(values: impl Iterator<Item = i64>) -> (i64, i64) {
    let (least, most) =
        values.fold((i64::MAX, i64::MIN), |(least, most), value| (least.min(value), most.max(value)));
    if least > most { (0, 0) } else { (least, most) }
}

fn integers(columns: &[&Integers], places: &[Place], data_type: &DataType) -> Result<ArrayRef, Failure> {
    let values: Vec<i64> =
        places.iter().map(|place| columns[place.0 as usize].value(place.1 as usize)).collect();
    let has_nulls = columns.iter().any(|column| column.nulls.is_some());
    let nulls = has_nulls.then(|| {
        let mut nulls = NullBufferBuilder::new(places.len());
        for place in places {
            let column = &columns[place.0 as usize].nulls;
            nulls.append(column.as_ref().is_none_or(|nulls| nulls.is_valid(place.1 as usize)));
        }
        nulls.finish()
    });
    let buffer = match data_type.primitive_width() {
        Some(1) => Buffer::from_iter(values.iter().map(|value| *value as i8)),
        Some(2) => Buffer::from_iter(values.iter().map(|value| *value as i16)),
        Some(4) => Buffer::from_iter(values.iter().map(|value| *value as i32)),
        Some(16) => Buffer::from_iter(values.iter().map(|value| i128::from(*value))),
        _ => Buffer::from_vec(values),
    };
    let data = ArrayData::builder(data_type.clone()).len(places.len()).add_buffer(buffer);
    Ok(make_array(data.nulls(nulls.flatten()).build()?))
}
