//! Columns of many types, out of small numbers.

use crate::property::{FLOATS, WORDS};
use arrow_array::builder::{FixedSizeListBuilder, Int32Builder, ListBuilder, MapBuilder, StringBuilder};
use arrow_array::types::Int32Type;
use arrow_array::{
    Array, ArrayRef, BinaryArray, BooleanArray, Decimal128Array, FixedSizeBinaryArray, Float64Array,
    Int32Array, Int64Array, ListArray, StringArray, StructArray,
};
use arrow_schema::{DataType, Field, TimeUnit};
use datafusion::arrow::buffer::NullBuffer;
use datafusion::arrow::compute::cast;
use std::sync::Arc;

/// A column: its type, those that its files may have, and literals to compare it with.
pub(crate) struct Kind {
    pub(crate) name: &'static str,
    pub(crate) data_type: DataType,
    pub(crate) narrower: Vec<DataType>,
    pub(crate) literals: &'static [&'static str],
    pub(crate) values: fn(Vec<Option<i64>>) -> ArrayRef,
}

fn numbers(values: Vec<Option<i64>>) -> ArrayRef {
    Arc::new(Int64Array::from(values))
}

fn counts(values: Vec<Option<i64>>) -> ArrayRef {
    Arc::new(values.into_iter().map(|v| v.map(i64::abs)).collect::<Int64Array>())
}

fn days(values: Vec<Option<i64>>) -> ArrayRef {
    Arc::new(values.into_iter().map(|v| v.map(|v| v as i32)).collect::<Int32Array>())
}

fn halves_of_seconds(values: Vec<Option<i64>>) -> ArrayRef {
    let ticks: ArrayRef = Arc::new(values.into_iter().map(|v| v.map(|v| v * 500)).collect::<Int64Array>());
    cast(&ticks, &DataType::Timestamp(TimeUnit::Millisecond, None)).unwrap()
}

fn instants(values: Vec<Option<i64>>) -> ArrayRef {
    let utc = DataType::Timestamp(TimeUnit::Millisecond, Some("+00:00".into()));
    cast(&halves_of_seconds(values), &utc).unwrap()
}

fn times(values: Vec<Option<i64>>) -> ArrayRef {
    let ticks: ArrayRef =
        Arc::new(values.into_iter().map(|v| v.map(|v| v.rem_euclid(90) * 1_000_000)).collect::<Int64Array>());
    cast(&ticks, &DataType::Time64(TimeUnit::Microsecond)).unwrap()
}

fn floats(values: Vec<Option<i64>>) -> ArrayRef {
    Arc::new(
        values.into_iter().map(|v| v.map(|v| FLOATS[v.rem_euclid(8) as usize])).collect::<Float64Array>(),
    )
}

fn quarters(values: Vec<Option<i64>>) -> ArrayRef {
    let values: Decimal128Array = values.into_iter().map(|v| v.map(|v| i128::from(v) * 25)).collect();
    Arc::new(values.with_precision_and_scale(9, 2).unwrap())
}

fn words(values: Vec<Option<i64>>) -> ArrayRef {
    Arc::new(values.into_iter().map(|v| v.map(|v| WORDS[v.rem_euclid(8) as usize])).collect::<StringArray>())
}

fn bytes(values: Vec<Option<i64>>) -> ArrayRef {
    Arc::new(
        values
            .into_iter()
            .map(|v| v.map(|v| vec![v as u8; (v.rem_euclid(4)) as usize]))
            .collect::<BinaryArray>(),
    )
}

fn four_bytes(values: Vec<Option<i64>>) -> ArrayRef {
    let values = values.into_iter().map(|v| v.map(|v| [v as u8, 0, 255, v as u8]));
    Arc::new(FixedSizeBinaryArray::try_from_sparse_iter_with_size(values, 4).unwrap())
}

fn booleans(values: Vec<Option<i64>>) -> ArrayRef {
    Arc::new(values.into_iter().map(|v| v.map(|v| v % 2 == 0)).collect::<BooleanArray>())
}

/// Structs with a struct in them. DataFusion takes fields out of structs that are null, so that nothing may be below these.
fn structs(values: Vec<Option<i64>>) -> ArrayRef {
    let values: Vec<Option<i64>> = values.into_iter().map(|v| v.filter(|v| v % 5 != 0)).collect();
    let valid: BooleanArray = values.iter().map(|v| Some(v.is_some())).collect();
    let valid: NullBuffer = valid.values().clone().into();
    let below = |v: Option<i64>| v.filter(|v| v % 3 != 0);
    let inner: ArrayRef = quarters(values.iter().map(|v| below(*v)).collect());
    let field = Field::new("w", inner.data_type().clone(), true);
    let deep = StructArray::new(vec![field].into(), vec![inner], Some(valid.clone()));
    let fields = [
        Field::new("x", DataType::Int64, true),
        Field::new("y", DataType::Utf8, true),
        Field::new("z", deep.data_type().clone(), true),
    ];
    let columns: Vec<ArrayRef> = vec![
        numbers(values.iter().map(|v| v.filter(|v| v % 4 != 0)).collect()),
        words(values.iter().map(|v| below(*v)).collect()),
        Arc::new(deep),
    ];
    Arc::new(StructArray::new(fields.to_vec().into(), columns, Some(valid)))
}

fn lists(values: Vec<Option<i64>>) -> ArrayRef {
    let lists = values.into_iter().map(|v| {
        let v = v?;
        Some(
            (0..v.rem_euclid(4))
                .map(move |i| ((v + i) % 3 != 0).then_some((v + i) as i32))
                .collect::<Vec<_>>(),
        )
    });
    Arc::new(ListArray::from_iter_primitive::<Int32Type, _, _>(lists))
}

fn pairs(values: Vec<Option<i64>>) -> ArrayRef {
    let mut builder = FixedSizeListBuilder::new(Int32Builder::new(), 2);
    for v in values {
        builder.values().append_option(v.map(|v| v as i32));
        builder.values().append_option(v.map(|v| -v as i32));
        builder.append(v.is_some());
    }
    Arc::new(builder.finish())
}

fn texts_in_lists(values: Vec<Option<i64>>) -> ArrayRef {
    let mut builder = ListBuilder::new(StringBuilder::new());
    for v in values {
        (0..v.unwrap_or(0).rem_euclid(3)).for_each(|i| {
            builder
                .values()
                .append_option((i != 1).then_some(WORDS[(v.unwrap_or(0) + i).rem_euclid(8) as usize]));
        });
        builder.append(v.is_some());
    }
    Arc::new(builder.finish())
}

fn maps(values: Vec<Option<i64>>) -> ArrayRef {
    let mut builder = MapBuilder::new(None, StringBuilder::new(), Int32Builder::new());
    for v in values {
        for i in 0..v.unwrap_or(0).rem_euclid(3) {
            builder.keys().append_value(["a", "b", "c"][i as usize]);
            builder.values().append_option(v.filter(|v| v % 2 == 0).map(|v| v as i32));
        }
        builder.append(v.is_some()).unwrap();
    }
    Arc::new(builder.finish())
}

pub(crate) fn kinds() -> Vec<Kind> {
    use DataType::*;
    let stamp = |unit, zone: Option<&str>| Timestamp(unit, zone.map(Into::into));
    let (second, milli, micro, nano) =
        (TimeUnit::Second, TimeUnit::Millisecond, TimeUnit::Microsecond, TimeUnit::Nanosecond);
    let whole: &[&str] = &["0", "3", "-7", "20", "null", "3.5", "300"];
    let fraction: &[&str] = &["0.0", "-0.0", "1.5", "'NaN'::double", "4", "'inf'::float"];
    let decimal: &[&str] = &["0.00", "1.25", "-3.10", "1.255", "3", "2.5::double", "7.50::decimal(40, 5)"];
    let moment: &[&str] = &[
        "timestamp '1970-01-01 00:00:05'",
        "timestamp '1969-12-31 23:59:58.5'",
        "arrow_cast('1970-01-01T00:00:05.0005', 'Timestamp(Microsecond, None)')",
        "date '1970-01-01'",
        "'1970-01-01T00:00:03Z'",
        "arrow_cast('1970-01-01T01:00:03.5+01:00', 'Timestamp(Nanosecond, Some(\"+01:00\"))')",
    ];
    let time: &[&str] = &["time '00:00:05'", "time '00:00:30.5'", "'00:01:00'"];
    let text: &[&str] = &["''", "'ab'", "'b'", "'Ärger'", "'zzzzzzzzzzzzzzzzzzzzz'", "'nothing'", "null"];
    let binary: &[&str] = &["x''", "x'0101'", "x'fefe'", "x'050505'", "'ab'"];
    let fixed: &[&str] = &["x'0300ff03'", "arrow_cast(x'0500ff05', 'FixedSizeBinary(4)')", "x'0300'"];
    let dictionary = |key: DataType, value: DataType| Dictionary(Box::new(key), Box::new(value));
    let kind = |name, data_type, narrower: &[DataType], literals, values| Kind {
        name,
        data_type,
        narrower: narrower.to_vec(),
        literals,
        values,
    };
    let list_of = |item: DataType| List(Arc::new(Field::new_list_field(item, true)));
    vec![
        kind("i8", Int8, &[], whole, numbers),
        kind("i16", Int16, &[Int8], whole, numbers),
        kind("i32", Int32, &[Int8, Int16], whole, numbers),
        kind("i64", Int64, &[Int8, Int32, Decimal128(9, 0)], whole, numbers),
        kind("u8", UInt8, &[], whole, counts),
        kind("u16", UInt16, &[UInt8], whole, counts),
        kind("u32", UInt32, &[UInt16, UInt8], whole, counts),
        kind("u64", UInt64, &[UInt32, Int32], whole, counts),
        kind("f16", Float16, &[], fraction, floats),
        kind("f32", Float32, &[Float16], fraction, floats),
        kind("f64", Float64, &[Float32, Float16], fraction, floats),
        kind("f64i", Float64, &[Int32, Int64], fraction, numbers),
        kind("d9", Decimal128(9, 2), &[Decimal128(7, 2), Decimal32(9, 2)], decimal, quarters),
        kind("d18", Decimal128(18, 4), &[Decimal128(9, 2), Decimal64(16, 3)], decimal, quarters),
        kind("d30", Decimal128(30, 10), &[Decimal128(9, 2)], decimal, quarters),
        kind("d50", Decimal256(50, 3), &[Decimal128(9, 2), Decimal256(40, 2)], decimal, quarters),
        kind("d32", Decimal32(9, 2), &[], decimal, quarters),
        kind("d64", Decimal64(12, 3), &[Decimal32(8, 2)], decimal, quarters),
        kind("t32", Date32, &[], &["date '1970-01-05'", "date '1969-12-30'", "'1970-01-02'"], days),
        kind("t64", Date64, &[Date32], &["date '1970-01-05'", "timestamp '1970-01-02'"], |v| {
            cast(&cast(&days(v), &Date32).unwrap(), &Date64).unwrap()
        }),
        kind("m0", stamp(second, None), &[], moment, halves_of_seconds),
        kind("m3", stamp(milli, None), &[stamp(second, None)], moment, halves_of_seconds),
        kind("m6", stamp(micro, None), &[stamp(milli, None), stamp(nano, None)], moment, halves_of_seconds),
        kind("m9", stamp(nano, None), &[stamp(milli, None), stamp(micro, None)], moment, halves_of_seconds),
        kind("z3", stamp(milli, Some("+00:00")), &[stamp(milli, Some("+02:00"))], moment, instants),
        kind("z6", stamp(micro, Some("+02:00")), &[stamp(milli, Some("+00:00"))], moment, instants),
        kind("z9", stamp(nano, Some("+00:00")), &[stamp(micro, Some("-05:30"))], moment, instants),
        kind("c0", Time32(second), &[], time, times),
        kind("c3", Time32(milli), &[], time, times),
        kind("c6", Time64(micro), &[Time32(milli)], time, times),
        kind("c9", Time64(nano), &[Time64(micro)], time, times),
        kind("s", Utf8, &[LargeUtf8, Utf8View, dictionary(Int8, Utf8)], text, words),
        kind("sl", LargeUtf8, &[Utf8], text, words),
        kind("sv", Utf8View, &[Utf8, LargeUtf8], text, words),
        kind("sd", dictionary(Int32, Utf8), &[Utf8], text, words),
        kind("x", Binary, &[LargeBinary, BinaryView], binary, bytes),
        kind("xl", LargeBinary, &[Binary], binary, bytes),
        kind("xv", BinaryView, &[Binary], binary, bytes),
        kind("xf", FixedSizeBinary(4), &[], fixed, four_bytes),
        kind("b", Boolean, &[], &["true", "false", "null"], booleans),
        kind("r", structs(vec![None]).data_type().clone(), &[], &["null"], structs),
        kind("v", list_of(Int32), &[], &["make_array(1, 2)"], lists),
        kind("vl", list_of(Int64), &[list_of(Int32), list_of(Int16)], &["make_array(1, 2)"], lists),
        kind("vt", list_of(Utf8), &[], &["make_array('a')"], texts_in_lists),
        kind("vp", pairs(vec![None]).data_type().clone(), &[], &["null"], pairs),
        kind("k", maps(vec![None]).data_type().clone(), &[], &["null"], maps),
    ]
}
