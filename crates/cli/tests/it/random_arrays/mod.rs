//! Random types that `--schema` knows, and random arrays of them.

use arrow_array::builder::{FixedSizeBinaryBuilder, StringBuilder};
use arrow_array::types::*;
use arrow_array::{
    ArrayRef, ArrowPrimitiveType, BooleanArray, FixedSizeListArray, LargeBinaryArray, LargeListArray,
    ListArray, MapArray, PrimitiveArray, StructArray,
};
use arrow_buffer::{IntervalMonthDayNano, NullBuffer, OffsetBuffer, i256};
use arrow_cast::cast;
use arrow_schema::{DataType, Field, FieldRef, Fields, IntervalUnit, TimeUnit};
use std::sync::Arc;

/// Numbers that are the same for the same seed.
pub(crate) struct Random {
    seed: u64,
    state: u64,
}

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Random { seed, state: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5851_f42d_4c95_7f2d }
    }

    pub(crate) fn seed(&self) -> u64 {
        self.seed
    }

    /// 64 random bits.
    fn bits(&mut self) -> u64 {
        // SplitMix64.
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.state ^ (self.state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub(crate) fn below(&mut self, n: usize) -> usize {
        (self.bits() % n as u64) as usize
    }

    /// Of any size: as often small as large, and the extremes.
    fn integer(&mut self) -> i64 {
        match self.below(8) {
            0 => [0, -1, 1, i64::MIN, i64::MAX][self.below(5)],
            _ => (self.bits() as i64) >> self.below(64),
        }
    }

    fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }
}

/// A type, and how it is written.
#[derive(Debug, Clone)]
pub(crate) struct RandomType {
    pub(crate) text: String,
    pub(crate) data_type: DataType,
    /// The type without dictionaries.
    pub(crate) plain: DataType,
    pub(crate) is_required: bool,
}

impl RandomType {
    pub(crate) fn new(text: &str, data_type: DataType) -> Self {
        RandomType { text: text.to_owned(), plain: data_type.clone(), data_type, is_required: false }
    }
}

/// All types that are not nested.
pub(crate) fn scalar_types() -> Vec<RandomType> {
    use DataType::*;
    let mut out: Vec<RandomType> = [
        ("bool", Boolean),
        ("int8", Int8),
        ("int16", Int16),
        ("int32", Int32),
        ("int64", Int64),
        ("uint8", UInt8),
        ("uint16", UInt16),
        ("uint32", UInt32),
        ("uint64", UInt64),
        ("float16", Float16),
        ("float32", Float32),
        ("float64", Float64),
        ("utf8", Utf8),
        ("large_utf8", LargeUtf8),
        ("utf8_view", Utf8View),
        ("binary", Binary),
        ("large_binary", LargeBinary),
        ("binary_view", BinaryView),
        ("fixed(1)", FixedSizeBinary(1)),
        ("fixed(16)", FixedSizeBinary(16)),
        ("decimal(1, 0)", Decimal128(1, 0)),
        ("decimal(9, 2)", Decimal128(9, 2)),
        ("decimal(18, 18)", Decimal128(18, 18)),
        ("decimal(38, 5)", Decimal128(38, 5)),
        ("decimal(76, 30)", Decimal256(76, 30)),
        ("date", Date32),
        ("date64", Date64),
        ("time(s)", Time32(TimeUnit::Second)),
        ("time(ms)", Time32(TimeUnit::Millisecond)),
        ("time(us)", Time64(TimeUnit::Microsecond)),
        ("time(ns)", Time64(TimeUnit::Nanosecond)),
        ("interval", Interval(IntervalUnit::MonthDayNano)),
    ]
    .map(|(text, data_type)| RandomType::new(text, data_type))
    .to_vec();
    for (name, unit) in [
        ("s", TimeUnit::Second),
        ("ms", TimeUnit::Millisecond),
        ("us", TimeUnit::Microsecond),
        ("ns", TimeUnit::Nanosecond),
    ] {
        out.push(RandomType::new(&format!("timestamp({name})"), Timestamp(unit, None)));
        for zone in ["UTC", "+05:30", "Europe/Berlin"] {
            let text = format!("timestamp({name}, {zone})");
            out.push(RandomType::new(&text, Timestamp(unit, Some(zone.into()))));
        }
        out.push(RandomType::new(&format!("duration({name})"), Duration(unit)));
    }
    for (name, values) in [("utf8", Utf8), ("binary", Binary), ("int64", Int64), ("date", Date32)] {
        let data_type = Dictionary(Box::new(Int32), Box::new(values.clone()));
        let of = RandomType::new(&format!("dictionary<{name}>"), data_type);
        out.push(RandomType { plain: values, ..of });
    }
    out
}

/// Any type with at most so many levels of nesting.
pub(crate) fn random_type(random: &mut Random, depth: usize) -> RandomType {
    let is_required = random.below(4) == 0;
    let nested = if depth == 0 { 9 } else { random.below(9) };
    let mark = |child: &RandomType| format!("{}{}", child.text, if child.is_required { "!" } else { "" });
    let item = |child: &RandomType, data_type: &DataType| -> FieldRef {
        Arc::new(Field::new("item", data_type.clone(), !child.is_required))
    };
    let (text, data_type, plain) = match nested {
        0 => {
            let child = random_type(random, depth - 1);
            let list = |data_type: &DataType| DataType::List(item(&child, data_type));
            (format!("list<{}>", mark(&child)), list(&child.data_type), list(&child.plain))
        }
        1 => {
            let child = random_type(random, depth - 1);
            let list = |data_type: &DataType| DataType::LargeList(item(&child, data_type));
            (format!("large_list<{}>", mark(&child)), list(&child.data_type), list(&child.plain))
        }
        2 => {
            let (child, n) = (random_type(random, depth - 1), 1 + random.below(3) as i32);
            let list = |data_type: &DataType| DataType::FixedSizeList(item(&child, data_type), n);
            (format!("fixed_list<{}, {n}>", mark(&child)), list(&child.data_type), list(&child.plain))
        }
        3 => {
            let children: Vec<_> = (0..1 + random.below(4)).map(|_| random_type(random, depth - 1)).collect();
            let names = ["a", "b b", "\"", "\u{e4}\\"];
            let fields = |of: fn(&RandomType) -> &DataType| -> Fields {
                let fields = children.iter().zip(names);
                fields.map(|(child, name)| Field::new(name, of(child).clone(), !child.is_required)).collect()
            };
            let text: Vec<String> = children
                .iter()
                .zip(names)
                .map(|(child, name)| format!("\"{}\" {}", name.replace('"', "\"\""), mark(child)))
                .collect();
            (
                format!("struct<{}>", text.join(", ")),
                DataType::Struct(fields(|of| &of.data_type)),
                DataType::Struct(fields(|of| &of.plain)),
            )
        }
        4 => {
            let key = RandomType { is_required: false, ..random.pick(&scalar_types()).clone() };
            let value = random_type(random, depth - 1);
            let map = |of: fn(&RandomType) -> &DataType| {
                let key = Field::new("keys", of(&key).clone(), false);
                let value = Field::new("values", of(&value).clone(), !value.is_required);
                let entries = Field::new("entries", DataType::Struct(vec![key, value].into()), false);
                DataType::Map(Arc::new(entries), false)
            };
            (format!("map<{}, {}>", key.text, mark(&value)), map(|of| &of.data_type), map(|of| &of.plain))
        }
        _ => {
            let of = random.pick(&scalar_types()).clone();
            (of.text, of.data_type, of.plain)
        }
    };
    RandomType { text, data_type, plain, is_required }
}

/// Random values of a type without dictionaries.
pub(crate) fn random_array(
    data_type: &DataType,
    len: usize,
    is_nullable: bool,
    random: &mut Random,
) -> ArrayRef {
    let one_of = 1 + random.below(4);
    let nulls: Vec<bool> =
        (0..len).map(|_| !is_nullable || random.below(one_of) > 0 || one_of == 1).collect();
    let nulls = is_nullable.then(|| NullBuffer::from(nulls));
    match data_type {
        DataType::Struct(fields) => Arc::new(structure(fields, len, nulls, random)),
        DataType::List(element) => {
            let (lengths, total) = lengths(len, random);
            let values = random_array(element.data_type(), total, element.is_nullable(), random);
            Arc::new(ListArray::new(element.clone(), OffsetBuffer::from_lengths(lengths), values, nulls))
        }
        DataType::LargeList(element) => {
            let (lengths, total) = lengths(len, random);
            let values = random_array(element.data_type(), total, element.is_nullable(), random);
            Arc::new(LargeListArray::new(element.clone(), OffsetBuffer::from_lengths(lengths), values, nulls))
        }
        DataType::FixedSizeList(element, n) => {
            let values = random_array(element.data_type(), len * *n as usize, element.is_nullable(), random);
            Arc::new(FixedSizeListArray::new(element.clone(), *n, values, nulls))
        }
        DataType::Map(entries, _) => {
            let DataType::Struct(fields) = entries.data_type() else { panic!("entries are structs") };
            let (lengths, total) = lengths(len, random);
            let values = structure(fields, total, None, random);
            Arc::new(MapArray::new(
                entries.clone(),
                OffsetBuffer::from_lengths(lengths),
                values,
                nulls,
                false,
            ))
        }
        _ => scalars(data_type, len, nulls.as_ref(), random),
    }
}

fn structure(fields: &Fields, len: usize, nulls: Option<NullBuffer>, random: &mut Random) -> StructArray {
    let columns = fields
        .iter()
        .map(|field| random_array(field.data_type(), len, field.is_nullable(), random))
        .collect();
    StructArray::new(fields.clone(), columns, nulls)
}

fn lengths(len: usize, random: &mut Random) -> (Vec<usize>, usize) {
    let lengths: Vec<usize> = (0..len).map(|_| random.below(4)).collect();
    let total = lengths.iter().sum();
    (lengths, total)
}

fn scalars(data_type: &DataType, len: usize, nulls: Option<&NullBuffer>, random: &mut Random) -> ArrayRef {
    use DataType::*;
    let is_valid = |at: usize| nulls.is_none_or(|nulls| nulls.is_valid(at));
    let slots = Slots { data_type, len, nulls };
    match data_type {
        Boolean => {
            let values: BooleanArray =
                (0..len).map(|at| is_valid(at).then(|| random.below(2) == 0)).collect();
            Arc::new(values)
        }
        Int8 => slots.primitive::<Int8Type>(|| random.integer() as i8),
        Int16 => slots.primitive::<Int16Type>(|| random.integer() as i16),
        Int32 => slots.primitive::<Int32Type>(|| random.integer() as i32),
        Int64 => slots.primitive::<Int64Type>(|| random.integer()),
        UInt8 => slots.primitive::<UInt8Type>(|| random.integer() as u8),
        UInt16 => slots.primitive::<UInt16Type>(|| random.integer() as u16),
        UInt32 => slots.primitive::<UInt32Type>(|| random.integer() as u32),
        UInt64 => slots.primitive::<UInt64Type>(|| random.integer() as u64),
        Float16 => slots.primitive::<Float16Type>(|| {
            <Float16Type as ArrowPrimitiveType>::Native::from_f32(float(random) as f32)
        }),
        Float32 => slots.primitive::<Float32Type>(|| float(random) as f32),
        Float64 => slots.primitive::<Float64Type>(|| float(random)),
        Date32 => slots.primitive::<Date32Type>(|| random.integer() as i32),
        // Whole days, as Arrow has it, and others.
        Date64 => slots.primitive::<Date64Type>(|| match random.below(2) {
            0 => (random.integer() % 1_000_000) * 86_400_000,
            _ => random.integer(),
        }),
        Time32(TimeUnit::Second) => slots.primitive::<Time32SecondType>(|| random.below(86_400) as i32),
        Time32(_) => slots.primitive::<Time32MillisecondType>(|| random.below(86_400_000) as i32),
        Time64(TimeUnit::Microsecond) => {
            slots.primitive::<Time64MicrosecondType>(|| random.below(86_400_000_000) as i64)
        }
        Time64(_) => slots.primitive::<Time64NanosecondType>(|| random.below(86_400_000_000_000) as i64),
        Timestamp(TimeUnit::Second, _) => slots.primitive::<TimestampSecondType>(|| random.integer()),
        Timestamp(TimeUnit::Millisecond, _) => {
            slots.primitive::<TimestampMillisecondType>(|| random.integer())
        }
        Timestamp(TimeUnit::Microsecond, _) => {
            slots.primitive::<TimestampMicrosecondType>(|| random.integer())
        }
        Timestamp(TimeUnit::Nanosecond, _) => slots.primitive::<TimestampNanosecondType>(|| random.integer()),
        Duration(TimeUnit::Second) => slots.primitive::<DurationSecondType>(|| random.integer()),
        Duration(TimeUnit::Millisecond) => slots.primitive::<DurationMillisecondType>(|| random.integer()),
        Duration(TimeUnit::Microsecond) => slots.primitive::<DurationMicrosecondType>(|| random.integer()),
        Duration(TimeUnit::Nanosecond) => slots.primitive::<DurationNanosecondType>(|| random.integer()),
        Interval(_) => slots.primitive::<IntervalMonthDayNanoType>(|| {
            IntervalMonthDayNano::new(random.integer() as i32, random.integer() as i32, random.integer())
        }),
        Decimal128(precision, _) => {
            slots.primitive::<Decimal128Type>(|| digits(*precision, random).parse().expect("digits"))
        }
        Decimal256(precision, _) => slots
            .primitive::<Decimal256Type>(|| i256::from_string(&digits(*precision, random)).expect("digits")),
        FixedSizeBinary(n) => {
            let mut out = FixedSizeBinaryBuilder::new(*n);
            for at in 0..len {
                match is_valid(at) {
                    true => out.append_value(bytes(*n as usize, random)).expect("so many bytes"),
                    false => out.append_null(),
                }
            }
            Arc::new(out.finish())
        }
        Utf8 | LargeUtf8 | Utf8View => {
            let mut out = StringBuilder::new();
            (0..len).for_each(|at| out.append_option(is_valid(at).then(|| text(random))));
            cast(&out.finish(), data_type).expect("text in any layout")
        }
        Binary | LargeBinary | BinaryView => {
            let value = |random: &mut Random| match random.below(2) {
                0 => text(random).into_bytes(),
                _ => bytes(random.below(6), random),
            };
            let values: LargeBinaryArray = (0..len).map(|at| is_valid(at).then(|| value(random))).collect();
            cast(&values, data_type).expect("bytes in any layout")
        }
        other => panic!("{other} is not made"),
    }
}

/// The slots that need values.
struct Slots<'a> {
    data_type: &'a DataType,
    len: usize,
    nulls: Option<&'a NullBuffer>,
}

impl Slots<'_> {
    fn primitive<T: ArrowPrimitiveType>(&self, mut value: impl FnMut() -> T::Native) -> ArrayRef {
        let is_valid = |at: usize| self.nulls.is_none_or(|nulls| nulls.is_valid(at));
        let values: PrimitiveArray<T> = (0..self.len).map(|at| is_valid(at).then(&mut value)).collect();
        Arc::new(values.with_data_type(self.data_type.clone()))
    }
}

fn float(random: &mut Random) -> f64 {
    match random.below(6) {
        0 => *random.pick(&[
            0.0,
            -0.0,
            f64::NAN,
            f64::INFINITY,
            f64::NEG_INFINITY,
            0.1,
            1e300,
            5e-324,
            65504.0,
        ]),
        1 => random.integer() as f64,
        2 => random.integer() as f64 / 1000.0,
        // All NaNs are the same.
        _ => Some(f64::from_bits(random.bits())).filter(|float| !float.is_nan()).unwrap_or(f64::NAN),
    }
}

fn digits(precision: u8, random: &mut Random) -> String {
    let digits: String =
        (0..1 + random.below(precision.into())).map(|_| char::from(b'0' + random.below(10) as u8)).collect();
    if random.below(2) == 0 { digits } else { format!("-{digits}") }
}

fn bytes(n: usize, random: &mut Random) -> Vec<u8> {
    (0..n)
        .map(|_| *random.pick(&[0, b'\\', b'x', b'4', b'"', b',', 0x7f, 0x80, 0xc3, 0xa4, 0xff, b'\n']))
        .collect()
}

/// Texts that look like something else.
fn text(random: &mut Random) -> String {
    const PARTS: [&str; 32] = [
        "",
        "",
        " ",
        "\"",
        "\"\"",
        ",",
        ";",
        "\n",
        "\r",
        "\r\n",
        "\\",
        "\\x41",
        "\\n",
        "\\u0041",
        "null",
        "NULL",
        "NaN",
        "true",
        "1",
        "-0",
        "007",
        "1e400",
        "{}",
        "[1]",
        "{\"a\":1}",
        "#",
        "'",
        "\t",
        "\0",
        "\u{feff}",
        "\u{e4}",
        "\u{1f377}",
    ];
    (0..random.below(4)).map(|_| *random.pick(&PARTS)).collect()
}
