//! Random Arrow arrays of every type that can be stored: any nesting, any nulls, slices, and what is legal but rare: null
//! lists that are not empty, list views that overlap or go backwards, dictionaries with nulls and with values twice.
#![allow(dead_code)] // Each test target includes this module and uses a part of it.

use arrow_array::*;
use arrow_buffer::{BooleanBuffer, Buffer, NullBuffer, OffsetBuffer, ScalarBuffer, i256};
use arrow_schema::{DataType, Field, Fields, IntervalUnit, Schema, TimeUnit};
use std::sync::Arc;

/// Splitmix64.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Less than `bound`, which is not 0.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    pub(crate) fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    pub(crate) fn pick<T: Clone>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())].clone()
    }

    /// Few bits, many bits, or extremes.
    fn word(&mut self) -> i64 {
        match self.below(8) {
            0 => 0,
            1 => i64::MIN,
            2 => i64::MAX,
            3 => self.next() as i64,
            4 => -(self.below(300) as i64),
            _ => self.below(1000) as i64,
        }
    }
}

/// A schema of `columns` random columns.
pub(crate) fn schema(random: &mut Random, columns: usize, depth: usize) -> Schema {
    let field = |i: usize, random: &mut Random| {
        let data_type = data_type(random, depth);
        let nullable = data_type.is_null() || !random.one_in(3);
        let field = Field::new(format!("c{i}"), data_type, nullable);
        match random.one_in(4) {
            true => field.with_metadata([("PARQUET:field_id".to_owned(), (i * 7).to_string())].into()),
            false => field,
        }
    };
    Schema::new((0..columns).map(|i| field(i, random)).collect::<Vec<_>>())
}

/// A batch of `rows` rows; columns may be slices of longer arrays.
pub(crate) fn batch(random: &mut Random, schema: &Arc<Schema>, rows: usize) -> RecordBatch {
    let columns = schema.fields().iter().map(|field| {
        let (before, after) = match random.one_in(2) {
            true => (random.below(9), random.below(9)),
            false => (0, 0),
        };
        let array = array(random, field, before + rows + after);
        if before + after > 0 { array.slice(before, rows) } else { array }
    });
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    RecordBatch::try_new_with_options(schema.clone(), columns.collect(), &options).unwrap()
}

fn unit(random: &mut Random) -> TimeUnit {
    random.pick(&[TimeUnit::Second, TimeUnit::Millisecond, TimeUnit::Microsecond, TimeUnit::Nanosecond])
}

/// A type that is not a list, struct or map.
fn plain_type(random: &mut Random) -> DataType {
    use DataType::*;
    match random.below(33) {
        0 => Null,
        1 | 2 => Boolean,
        3 => Int8,
        4 => Int16,
        5 => Int32,
        6 => Int64,
        7 => UInt8,
        8 => UInt16,
        9 => UInt32,
        10 => UInt64,
        11 => Float16,
        12 => Float32,
        13 => Float64,
        14 => Utf8,
        15 => LargeUtf8,
        16 => Utf8View,
        17 => Binary,
        18 => LargeBinary,
        19 => BinaryView,
        20 => FixedSizeBinary(1 + random.below(20) as i32),
        21 => Date32,
        22 => Date64,
        23 => Time32(random.pick(&[TimeUnit::Second, TimeUnit::Millisecond])),
        24 => Time64(random.pick(&[TimeUnit::Microsecond, TimeUnit::Nanosecond])),
        25 => Timestamp(unit(random), random.pick(&[None, Some("UTC".into()), Some("+02:00".into())])),
        26 => Duration(unit(random)),
        27 => Interval(random.pick(&[IntervalUnit::YearMonth, IntervalUnit::DayTime])),
        28 => Decimal32(1 + random.below(9) as u8, 0),
        29 => Decimal64(18, random.below(18) as i8),
        30 => Decimal128(1 + random.below(38) as u8, 1),
        31 => Decimal256(40 + random.below(37) as u8, 5),
        _ => Utf8,
    }
}

/// Any type, nested at most `depth` times.
fn data_type(random: &mut Random, depth: usize) -> DataType {
    if depth == 0 || random.one_in(2) {
        return match random.below(8) {
            0 => {
                let keys = [
                    DataType::Int8,
                    DataType::Int16,
                    DataType::Int32,
                    DataType::Int64,
                    DataType::UInt8,
                    DataType::UInt32,
                ];
                let values = [
                    DataType::Utf8,
                    DataType::LargeUtf8,
                    DataType::Binary,
                    DataType::Int64,
                    DataType::Int32,
                    DataType::FixedSizeBinary(3),
                    DataType::Float64,
                ];
                DataType::Dictionary(Box::new(random.pick(&keys)), Box::new(random.pick(&values)))
            }
            1 => {
                let ends = random.pick(&[DataType::Int16, DataType::Int32, DataType::Int64]);
                let values = random.pick(&[DataType::Utf8, DataType::Int64, DataType::Boolean]);
                DataType::RunEndEncoded(
                    Arc::new(Field::new("run_ends", ends, false)),
                    Arc::new(Field::new("values", values, true)),
                )
            }
            _ => plain_type(random),
        };
    }
    let child = |name: &str, random: &mut Random| {
        let data_type = with_room(data_type(random, depth - 1));
        let nullable = data_type.is_null() || random.one_in(2);
        Arc::new(Field::new(name, data_type, nullable))
    };
    let element = random.pick(&["item", "element"]);
    match random.below(8) {
        0 | 1 => DataType::List(child(element, random)),
        2 => DataType::LargeList(child(element, random)),
        3 => DataType::ListView(child(element, random)),
        4 => DataType::LargeListView(child(element, random)),
        5 => DataType::FixedSizeList(child(element, random), random.below(4) as i32),
        6 => {
            let key = random.pick(&[DataType::Utf8, DataType::Int32]);
            let names = random.pick(&[["key_value", "key", "value"], ["entries", "keys", "values"]]);
            let parts = vec![Arc::new(Field::new(names[1], key, false)), child(names[2], random)];
            let entries = Field::new(names[0], DataType::Struct(parts.into()), false);
            DataType::Map(Arc::new(entries), false)
        }
        _ => {
            let n = 1 + random.below(3);
            DataType::Struct((0..n).map(|i| child(&format!("f{i}"), random)).collect())
        }
    }
}

/// Which values are there; `None` if all are.
fn nulls(random: &mut Random, nullable: bool, n: usize) -> Option<NullBuffer> {
    if !nullable {
        return None;
    }
    let rarity = random.pick(&[1usize, 2, 2, 10, 1000, usize::MAX]);
    let valid = (0..n).map(|_| match rarity {
        1 => false,
        usize::MAX => true,
        rarity => !random.one_in(rarity),
    });
    let valid = NullBuffer::new(valid.collect::<BooleanBuffer>());
    (valid.null_count() > 0 || random.one_in(2)).then_some(valid)
}

/// An array of `n` values of the field's type.
fn array(random: &mut Random, field: &Field, n: usize) -> ArrayRef {
    let nulls = nulls(random, field.is_nullable(), n);
    match field.data_type() {
        DataType::Null => Arc::new(NullArray::new(n)),
        DataType::List(element) => list::<i32>(random, element, n, nulls),
        DataType::LargeList(element) => list::<i64>(random, element, n, nulls),
        DataType::ListView(element) => list_view::<i32>(random, element, n, nulls),
        DataType::LargeListView(element) => list_view::<i64>(random, element, n, nulls),
        DataType::FixedSizeList(element, size) => {
            let values = array(random, element, n * *size as usize);
            let list = FixedSizeListArray::try_new_with_length(element.clone(), *size, values, nulls, n);
            Arc::new(list.unwrap())
        }
        DataType::Map(entries, sorted) => {
            let DataType::Struct(fields) = entries.data_type() else { unreachable!() };
            let (offsets, len) = offsets::<i32>(random, n);
            let entries_array = structure(random, fields, len, None);
            Arc::new(MapArray::new(entries.clone(), offsets, entries_array, nulls, *sorted))
        }
        DataType::Struct(fields) => Arc::new(structure(random, fields, n, nulls)),
        DataType::Dictionary(keys, values) => dictionary(random, keys, values, n, nulls),
        DataType::RunEndEncoded(ends, values) => {
            runs(random, ends.data_type(), values, field.is_nullable(), n)
        }
        plain => values(random, plain, n, nulls),
    }
}

fn structure(random: &mut Random, fields: &Fields, n: usize, nulls: Option<NullBuffer>) -> StructArray {
    let columns = fields.iter().map(|field| array(random, field, n)).collect();
    StructArray::new(fields.clone(), columns, nulls)
}

/// Offsets of `n` lists that may begin after 0, and the number of values that they need.
fn offsets<O: OffsetSizeTrait>(random: &mut Random, n: usize) -> (OffsetBuffer<O>, usize) {
    let mut at = random.below(3);
    let mut offsets = vec![O::from_usize(at).unwrap()];
    for _ in 0..n {
        at += random.pick(&[0, 0, 1, 1, 2, 3, 5]);
        offsets.push(O::from_usize(at).unwrap());
    }
    (OffsetBuffer::new(offsets.into()), at + random.below(3))
}

fn list<O: OffsetSizeTrait>(
    random: &mut Random,
    element: &Arc<Field>,
    n: usize,
    nulls: Option<NullBuffer>,
) -> ArrayRef {
    let (offsets, len) = offsets::<O>(random, n);
    let values = array(random, element, len);
    Arc::new(GenericListArray::<O>::new(element.clone(), offsets, values, nulls))
}

fn list_view<O: OffsetSizeTrait>(
    random: &mut Random,
    element: &Arc<Field>,
    n: usize,
    nulls: Option<NullBuffer>,
) -> ArrayRef {
    let len = 1 + random.below(2 * n + 1);
    let (mut offsets, mut sizes) = (Vec::new(), Vec::new());
    for _ in 0..n {
        let at = random.below(len);
        offsets.push(O::from_usize(at).unwrap());
        sizes.push(O::from_usize(random.below((len - at).min(4) + 1)).unwrap());
    }
    let values = array(random, element, len);
    Arc::new(GenericListViewArray::<O>::new(element.clone(), offsets.into(), sizes.into(), values, nulls))
}

fn dictionary(
    random: &mut Random,
    keys: &DataType,
    value_type: &DataType,
    n: usize,
    nulls: Option<NullBuffer>,
) -> ArrayRef {
    let len = 1 + random.below(20);
    // A null in the values is a null of the array, so there may be one only where the array has any.
    let value_nulls = self::nulls(random, nulls.is_some(), len);
    let values = values(random, value_type, len, value_nulls);
    macro_rules! keyed {
        ($key:ty) => {{
            let keys: Vec<_> = (0..n).map(|_| random.below(len) as _).collect();
            let keys = PrimitiveArray::<$key>::new(keys.into(), nulls);
            Arc::new(DictionaryArray::<$key>::new(keys, values))
        }};
    }
    match keys {
        DataType::Int8 => keyed!(types::Int8Type),
        DataType::Int16 => keyed!(types::Int16Type),
        DataType::Int32 => keyed!(types::Int32Type),
        DataType::Int64 => keyed!(types::Int64Type),
        DataType::UInt8 => keyed!(types::UInt8Type),
        _ => keyed!(types::UInt32Type),
    }
}

/// Of lists there may be more elements than Int16 counts.
fn with_room(data_type: DataType) -> DataType {
    match data_type {
        DataType::RunEndEncoded(ends, values) if *ends.data_type() == DataType::Int16 => {
            DataType::RunEndEncoded(Arc::new(Field::new("run_ends", DataType::Int32, false)), values)
        }
        other => other,
    }
}

fn runs(random: &mut Random, ends: &DataType, values: &Field, nullable: bool, n: usize) -> ArrayRef {
    let mut at = 0;
    let mut run_ends = Vec::new();
    while at < n {
        at = (at + 1 + random.below(6)).min(n);
        run_ends.push(at as i64);
    }
    let len = run_ends.len();
    let nulls = nulls(random, nullable, len);
    let values = self::values(random, values.data_type(), len, nulls);
    macro_rules! run {
        ($end:ty) => {{
            let ends: Vec<_> = run_ends.iter().map(|&end| end as _).collect();
            let ends = PrimitiveArray::<$end>::new(ends.into(), None);
            Arc::new(RunArray::<$end>::try_new(&ends, &values).unwrap())
        }};
    }
    match ends {
        DataType::Int16 => run!(types::Int16Type),
        DataType::Int32 => run!(types::Int32Type),
        _ => run!(types::Int64Type),
    }
}

/// Text of any length, with characters of one to four bytes.
fn text(random: &mut Random) -> String {
    let len = random.pick(&[0, 1, 3, 12, 13, 40, 100]);
    (0..len).map(|_| random.pick(&['a', 'b', 'z', ' ', 'é', '€', '😀'])).collect()
}

fn bytes(random: &mut Random) -> Vec<u8> {
    let len = random.pick(&[0, 1, 3, 12, 13, 40]);
    (0..len).map(|_| random.next() as u8).collect()
}

/// Values of a type without children.
fn values(random: &mut Random, data_type: &DataType, n: usize, nulls: Option<NullBuffer>) -> ArrayRef {
    let is_valid = |i| nulls.as_ref().is_none_or(|nulls| nulls.is_valid(i));
    // A small pool of values now and then, so that dictionaries pay.
    let few = random.one_in(3);
    let mut texts = Vec::new();
    let mut blobs = Vec::new();
    if matches!(data_type, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View) {
        let pool: Vec<_> = (0..4).map(|_| text(random)).collect();
        texts = (0..n)
            .map(|i| is_valid(i).then(|| if few { random.pick(&pool) } else { text(random) }))
            .collect::<Vec<_>>();
    } else if matches!(data_type, DataType::Binary | DataType::LargeBinary | DataType::BinaryView) {
        blobs = (0..n).map(|i| is_valid(i).then(|| bytes(random))).collect();
    }
    match data_type {
        DataType::Utf8 => return Arc::new(StringArray::from(texts)),
        DataType::LargeUtf8 => return Arc::new(LargeStringArray::from(texts)),
        DataType::Utf8View => return Arc::new(StringViewArray::from_iter(texts)),
        DataType::Binary => return Arc::new(BinaryArray::from_iter(blobs)),
        DataType::LargeBinary => return Arc::new(LargeBinaryArray::from_iter(blobs)),
        DataType::BinaryView => return Arc::new(BinaryViewArray::from_iter(blobs)),
        DataType::Boolean => {
            let bits: BooleanBuffer = (0..n).map(|_| random.one_in(2)).collect();
            return Arc::new(BooleanArray::new(bits, nulls));
        }
        DataType::FixedSizeBinary(width) => {
            let width = *width as usize;
            let data: Vec<u8> = (0..n * width).map(|_| random.next() as u8).collect();
            return Arc::new(FixedSizeBinaryArray::new(width as i32, data.into(), nulls));
        }
        DataType::Decimal256(_, _) => {
            let data: Vec<i256> = (0..n)
                .map(|_| {
                    i256::from_parts(random.next() as u128 * 0xffff_ffff_ffff, 0) - i256::from_i128(1 << 90)
                })
                .collect();
            let array = Decimal256Array::new(data.into(), nulls);
            return Arc::new(array.with_data_type(data_type.clone()));
        }
        _ => {}
    }
    let width = data_type.primitive_width().unwrap();
    let mut data = Vec::with_capacity(n * width);
    for _ in 0..n {
        let word = if few { random.below(5) as i64 } else { word_of(random, data_type) };
        data.extend_from_slice(&i128::from(word).to_le_bytes()[..width]);
    }
    let data = arrow_data::ArrayData::builder(data_type.clone())
        .len(n)
        .add_buffer(Buffer::from(ScalarBuffer::<u8>::from(data).into_inner().as_slice()))
        .nulls(nulls);
    make_array(data.align_buffers(true).build().unwrap())
}

/// A value that the type may have and that can be stored: seconds are stored as milliseconds, decimals keep to their
/// digits, intervals have no negative parts.
fn word_of(random: &mut Random, data_type: &DataType) -> i64 {
    let word = random.word();
    match data_type {
        DataType::Time32(TimeUnit::Second) => word.rem_euclid(86_400),
        DataType::Time32(_) => word.rem_euclid(86_400_000),
        DataType::Timestamp(TimeUnit::Second, _) => word / 1000,
        DataType::Interval(_) => word & 0x7fff_ffff_7fff_ffff,
        DataType::Decimal32(precision, _)
        | DataType::Decimal64(precision, _)
        | DataType::Decimal128(precision, _) => word % 10i64.pow(u32::from(*precision).min(18)),
        _ => word,
    }
}
