use super::*;
use crate::schema::compatibility::fits;
use crate::schema::{StringLayout, TypeOptions, plain_type};
use crate::test_schemas::{OPTIONAL, batch, column, fixed, leaf};
use arrow_array::cast::AsArray;
use arrow_array::types::*;
use arrow_buffer::i256;
use arrow_schema::{Field as ArrowField, IntervalUnit, TimeUnit};
use marquetry_encoding::dictionary::Dictionary;
use marquetry_encoding::{FixedLenBytes, StringViews};
use marquetry_format::{LogicalType, TimeUnit as Unit, Type};
use std::sync::Arc;

fn array(leaf: &Leaf, to: &DataType, values: Values, validity: Option<&[bool]>) -> Result<ArrayRef> {
    assert!(fits(leaf, to), "{to}");
    let array = into_array(batch(values, validity), leaf, to, &mut DictionaryCache::default())?;
    assert_eq!(array.data_type(), to);
    array.to_data().validate_full().unwrap();
    Ok(array)
}

/// The array of a column's own type.
fn plain(leaf: &Leaf, values: Values, validity: Option<&[bool]>) -> Result<ArrayRef> {
    array(leaf, &plain_type(leaf, &TypeOptions::default()), values, validity)
}

fn of(physical: Type, logical: Option<LogicalType>) -> Leaf {
    leaf(column("x", OPTIONAL, physical, logical))
}

fn bytes(width: usize, values: &[&[u8]]) -> Values {
    let mut out = FixedLenBytes::new(width);
    values.iter().for_each(|value| out.push(value));
    Values::Fixed(out)
}

fn decimal(precision: i32, scale: i32) -> Option<LogicalType> {
    Some(LogicalType::Decimal { scale, precision })
}

#[test]
fn booleans() {
    let bits = Values::Bit([true, false, true].into_iter().collect());
    let array = plain(&of(Type::BOOLEAN, None), bits, Some(&[true, false, true])).unwrap();
    assert_eq!(array.as_boolean().iter().collect::<Vec<_>>(), [Some(true), None, Some(true)]);
}

#[test]
fn integers_take_the_low_bits() {
    let integer = |bit_width, is_signed| Some(LogicalType::Integer { bit_width, is_signed });
    let words = || Values::W32(vec![0xffff_ffff, 0x0000_0180]);
    let int8 = plain(&of(Type::INT32, integer(8, true)), words(), None).unwrap();
    assert_eq!(int8.as_primitive::<Int8Type>().values(), &[-1, -128]);
    let uint16 = plain(&of(Type::INT32, integer(16, false)), words(), Some(&[true, false])).unwrap();
    assert_eq!(uint16.as_primitive::<UInt16Type>().iter().collect::<Vec<_>>(), [Some(65535), None]);
    let uint32 = plain(&of(Type::INT32, integer(32, false)), words(), None).unwrap();
    assert_eq!(uint32.as_primitive::<UInt32Type>().values(), &[u32::MAX, 384]);
    let uint64 = plain(&of(Type::INT64, integer(64, false)), Values::W64(vec![u64::MAX]), None).unwrap();
    assert_eq!(uint64.as_primitive::<UInt64Type>().values(), &[u64::MAX]);
}

#[test]
fn words_are_not_copied() {
    let words = vec![1.5f32.to_bits(); 100];
    let address = words.as_ptr().cast::<u8>();
    let floats = plain(&of(Type::FLOAT, None), Values::W32(words), None).unwrap();
    assert_eq!(floats.as_primitive::<Float32Type>().values().inner().as_ptr(), address);
    assert_eq!(floats.as_primitive::<Float32Type>().value(99), 1.5);
}

#[test]
fn half_floats() {
    let values = bytes(2, &[&[0x00, 0x3e], &[0x00, 0xc0]]); // 1.5, -2
    let floats = plain(&leaf(fixed("x", 2, Some(LogicalType::Float16))), values, None).unwrap();
    let floats = floats.as_primitive::<Float16Type>();
    assert_eq!([floats.value(0).to_f32(), floats.value(1).to_f32()], [1.5, -2.0]);
}

#[test]
fn decimals_of_words() {
    let words = Values::W32(vec![-150i32 as u32, 7]);
    let array128 = plain(&of(Type::INT32, decimal(9, 2)), words.clone(), None).unwrap();
    assert_eq!(array128.as_primitive::<Decimal128Type>().values(), &[-150, 7]);
    let array32 =
        array(&of(Type::INT32, decimal(9, 2)), &DataType::Decimal32(9, 2), words.clone(), None).unwrap();
    assert_eq!(array32.as_primitive::<Decimal32Type>().values(), &[-150, 7]);
    let array256 = array(&of(Type::INT32, decimal(9, 2)), &DataType::Decimal256(76, 2), words, None).unwrap();
    assert_eq!(array256.as_primitive::<Decimal256Type>().value(0), i256::from(-150));
    let words = Values::W64(vec![-5i64 as u64]);
    let array = plain(&of(Type::INT64, decimal(18, -2)), words, None).unwrap();
    assert_eq!(array.data_type(), &DataType::Decimal128(18, -2));
    assert_eq!(array.as_primitive::<Decimal128Type>().values(), &[-5]);
}

#[test]
fn decimals_of_every_fixed_width() {
    for width in 1..=20usize {
        let top = (1i128 << (8 * width.min(16) as u32 - 1)).wrapping_sub(1);
        let numbers = [0, 1, -1, top, !top, 100, -100, 5];
        let numbers: Vec<_> = numbers.into_iter().filter(|n| (!top..=top).contains(n)).collect();
        let encoded: Vec<Vec<u8>> = numbers
            .iter()
            .map(|number| i256::from_i128(*number).to_be_bytes()[32 - width..].to_vec())
            .collect();
        let values = bytes(width, &encoded.iter().map(Vec::as_slice).collect::<Vec<_>>());
        let column = leaf(fixed("x", width as i32, decimal(1, 0)));
        let array = plain(&column, values, None).unwrap();
        assert_eq!(array.as_primitive::<Decimal128Type>().values(), &numbers[..], "width {width}");
    }
}

#[test]
fn the_value_decides_whether_a_decimal_fits() {
    let column = leaf(fixed("x", 17, decimal(38, 0)));
    let mut value = [0xff; 17];
    value[16] = 0x38;
    let fitting = plain(&column, bytes(17, &[&value]), None).unwrap();
    assert_eq!(fitting.as_primitive::<Decimal128Type>().values(), &[-200]);
    value[1] = 0x7f;
    let error = plain(&column, bytes(17, &[&value]), None).unwrap_err();
    assert_eq!(
        error.to_string(),
        "corrupt: the decimal 0xff7fffffffffffffffffffffffffffff38 does not fit in 128 bits; the option \
         decimal_overflow reads it: widened, or as NULL, in column x"
    );
    let narrow =
        array(&of(Type::INT64, decimal(9, 0)), &DataType::Decimal32(9, 0), Values::W64(vec![1 << 40]), None);
    assert!(narrow.unwrap_err().message().contains("1099511627776 does not fit in 32 bits"));
}

#[test]
fn decimals_of_byte_strings() {
    let values = Values::Bytes(StringViews::from_iter([&[][..], &[0xff], &[0, 200], &[0; 40]]));
    let array128 = plain(&of(Type::BYTE_ARRAY, decimal(20, 3)), values.clone(), None).unwrap();
    assert_eq!(array128.as_primitive::<Decimal128Type>().values(), &[0, -1, 200, 0]);
    let array256 = plain(&of(Type::BYTE_ARRAY, decimal(60, 3)), values, None).unwrap();
    assert_eq!(array256.as_primitive::<Decimal256Type>().value(2), i256::from(200));
}

#[test]
fn timestamps_in_other_units() {
    let millis =
        of(Type::INT64, Some(LogicalType::Timestamp { is_adjusted_to_utc: true, unit: Unit::Millis }));
    let to = |unit| DataType::Timestamp(unit, Some("Europe/Berlin".into()));
    let values = || Values::W64(vec![-2000i64 as u64, 3000]);
    let seconds = array(&millis, &to(TimeUnit::Second), values(), None).unwrap();
    assert_eq!(seconds.as_primitive::<TimestampSecondType>().values(), &[-2, 3]);
    let nanos = array(&millis, &to(TimeUnit::Nanosecond), values(), None).unwrap();
    assert_eq!(nanos.as_primitive::<TimestampNanosecondType>().values(), &[-2_000_000_000, 3_000_000_000]);
    let inexact = array(&millis, &to(TimeUnit::Second), Values::W64(vec![1500]), None).unwrap_err();
    assert!(inexact.message().starts_with("1500 Milliseconds are not whole Seconds"));
    let beyond = array(&millis, &to(TimeUnit::Nanosecond), Values::W64(vec![i64::MAX as u64]), None);
    assert!(beyond.unwrap_err().message().contains("coarser unit"));
}

#[test]
fn dates_and_times() {
    let date = of(Type::INT32, Some(LogicalType::Date));
    let days = || Values::W32(vec![-1i32 as u32, 2]);
    let date64 = array(&date, &DataType::Date64, days(), None).unwrap();
    assert_eq!(date64.as_primitive::<Date64Type>().values(), &[-86_400_000, 172_800_000]);
    assert_eq!(plain(&date, days(), None).unwrap().as_primitive::<Date32Type>().values(), &[-1, 2]);
    let time = of(Type::INT32, Some(LogicalType::Time { is_adjusted_to_utc: false, unit: Unit::Millis }));
    let seconds = array(&time, &DataType::Time32(TimeUnit::Second), Values::W32(vec![61_000]), None).unwrap();
    assert_eq!(seconds.as_primitive::<Time32SecondType>().values(), &[61]);
    let duration =
        array(&of(Type::INT64, None), &DataType::Duration(TimeUnit::Second), Values::W64(vec![9]), None);
    assert_eq!(duration.unwrap().as_primitive::<DurationSecondType>().values(), &[9]);
}

#[test]
fn int96() {
    let value = |day: i32, nanos: i64| [&nanos.to_le_bytes()[..], &day.to_le_bytes()].concat();
    let column = of(Type::INT96, None);
    let to = |unit| DataType::Timestamp(unit, None);
    let some = [value(2_440_588, 1), value(2_440_587, 86_399_999_999_999), value(0, 0)];
    let some = bytes(12, &some.iter().map(Vec::as_slice).collect::<Vec<_>>());
    // The last one is a null's slot, 6,700 years ago.
    let nanos = plain(&column, some.clone(), Some(&[true, true, false])).unwrap();
    assert_eq!(nanos.as_primitive::<TimestampNanosecondType>().values(), &[1, -1, 0]);
    let micros = array(&column, &to(TimeUnit::Microsecond), some.clone(), None).unwrap();
    let before = -2_440_588i64 * 86_400_000_000;
    assert_eq!(micros.as_primitive::<TimestampMicrosecondType>().values(), &[0, -1, before]);
    let error = plain(&column, some, None).unwrap_err().to_string();
    assert!(error.contains("-2440588 days and 0 ns") && error.contains("coarser unit"), "{error}");
    // Both ends of the range of nanoseconds.
    let ends = [value(2_440_588 - 106_752, 763_145_224_192), value(2_440_588 + 106_751, 85_636_854_775_807)];
    let ends = bytes(12, &ends.iter().map(Vec::as_slice).collect::<Vec<_>>());
    let ends = plain(&column, ends, None).unwrap();
    assert_eq!(ends.as_primitive::<TimestampNanosecondType>().values(), &[i64::MIN, i64::MAX]);
}

/// Blocks of timestamps, with and without nulls, some with a value that is beyond the usual range.
#[test]
fn int96_in_blocks() {
    let column = of(Type::INT96, None);
    let value = |day: i32, nanos: i64| [&nanos.to_le_bytes()[..], &day.to_le_bytes()].concat();
    for n in [1, 63, 64, 65, 200] {
        for odd in [0, 62, 64, 150, n] {
            let parts = |i: usize| match i == odd {
                true => (i32::MAX, -5),
                false => (2_440_588 + i as i32 * 37 - 1000, i as i64 * 77_777_777_777 % 86_400_000_000_000),
            };
            let validity: Vec<bool> = (0..n).map(|i| i % 7 != 3).collect();
            let in_millis = |i: usize| {
                let (day, nanos) = parts(i);
                (i64::from(day) - 2_440_588) * 86_400_000 + nanos.div_euclid(1_000_000)
            };
            let stored = (0..n).map(|i| value(parts(i).0, parts(i).1)).collect::<Vec<_>>();
            let stored = bytes(12, &stored.iter().map(Vec::as_slice).collect::<Vec<_>>());
            let to = DataType::Timestamp(TimeUnit::Millisecond, None);
            let all = array(&column, &to, stored.clone(), None).unwrap();
            let expected = (0..n).map(in_millis).collect::<Vec<_>>();
            assert_eq!(all.as_primitive::<TimestampMillisecondType>().values(), &expected);
            let some = array(&column, &to, stored.clone(), Some(&validity)).unwrap();
            let expected = (0..n).map(|i| validity[i].then(|| in_millis(i))).collect::<Vec<_>>();
            assert_eq!(some.as_primitive::<TimestampMillisecondType>().iter().collect::<Vec<_>>(), expected);
            let fits = odd >= n || !validity[odd];
            assert_eq!(plain(&column, stored, Some(&validity)).is_ok(), fits, "{odd} of {n}");
        }
    }
}

/// A dictionary may have values that are out of range, as long as none of them is looked up.
#[test]
fn int96_of_a_dictionary() {
    let value = |day: i32| [&[0; 8][..], &day.to_le_bytes()].concat();
    let column = of(Type::INT96, None);
    let dictionary_of = |days: &[i32]| {
        let values = days.iter().map(|&day| value(2_440_588 + day)).collect::<Vec<_>>();
        Arc::new(Dictionary::new(bytes(12, &values.iter().map(Vec::as_slice).collect::<Vec<_>>())))
    };
    let (all_fit, some_fit) = (dictionary_of(&[1, -2, 3]), dictionary_of(&[1, -2, 1 << 30]));
    let mut cache = DictionaryCache::default();
    let mut read = |dictionary: &Arc<Dictionary>, unit, keys: &[u32], validity: Option<&[bool]>| {
        let batch = batch(Values::W32(keys.to_vec()), validity);
        let batch = ColumnBatch { dictionary: Some(dictionary.clone()), ..batch };
        into_array(batch, &column, &DataType::Timestamp(unit, None), &mut cache)
    };
    let day = 86_400_000_000_000;
    for dictionary in [&all_fit, &some_fit, &all_fit] {
        for _ in 0..2 {
            let nanos = read(dictionary, TimeUnit::Nanosecond, &[1, 0, 1], None).unwrap();
            assert_eq!(nanos.as_primitive::<TimestampNanosecondType>().values(), &[-2 * day, day, -2 * day]);
            let seconds = read(dictionary, TimeUnit::Second, &[0, 1], Some(&[true, false])).unwrap();
            let seconds = seconds.as_primitive::<TimestampSecondType>();
            assert_eq!(seconds.iter().collect::<Vec<_>>(), [Some(86_400), None]);
        }
        let nanos = read(dictionary, TimeUnit::Nanosecond, &[0, 2], None);
        assert_eq!(nanos.is_ok(), Arc::ptr_eq(dictionary, &all_fit));
        read(dictionary, TimeUnit::Nanosecond, &[0, 2], Some(&[true, false])).unwrap();
        assert!(read(dictionary, TimeUnit::Nanosecond, &[3], None).is_err());
    }
}

#[test]
fn intervals() {
    let value = |parts: [u32; 3]| parts.map(u32::to_le_bytes).concat();
    let mut element = fixed("x", 12, None);
    element.converted_type = Some(marquetry_format::ConvertedType::INTERVAL);
    let column = leaf(element);
    let months = plain(&column, bytes(12, &[&value([14, 3, u32::MAX])]), None).unwrap();
    let first = months.as_primitive::<IntervalMonthDayNanoType>().value(0);
    assert_eq!((first.months, first.days, first.nanoseconds), (14, 3, 4_294_967_295_000_000));
    assert!(plain(&column, bytes(12, &[&value([1 << 31, 0, 0])]), None).is_err());
    let to = DataType::Interval(IntervalUnit::DayTime);
    let days = array(&column, &to, bytes(12, &[&value([0, u32::MAX, 5])]), None).unwrap();
    let first = days.as_primitive::<IntervalDayTimeType>().value(0);
    assert_eq!((first.days, first.milliseconds), (-1, 5));
    assert!(
        array(&column, &DataType::Interval(IntervalUnit::YearMonth), bytes(12, &[&value([1, 1, 0])]), None)
            .is_err()
    );
}

#[test]
fn fixed_bytes_of_any_width() {
    let two = plain(&leaf(fixed("x", 2, None)), bytes(2, &[b"ab", b"\0\0"]), Some(&[true, false])).unwrap();
    assert_eq!(two.as_fixed_size_binary().iter().collect::<Vec<_>>(), [Some(&b"ab"[..]), None]);
    let none = plain(&leaf(fixed("x", 0, None)), bytes(0, &[b"", b"", b""]), None).unwrap();
    assert_eq!(none.len(), 3);
}

#[test]
fn text_in_every_layout() {
    let strings = ["", "short", "twelve bytes", "thirteen byte", "größer als zwölf Byte"];
    let text = of(Type::BYTE_ARRAY, Some(LogicalType::String));
    for layout in [StringLayout::Utf8, StringLayout::LargeUtf8, StringLayout::Utf8View] {
        let validity = [true, true, false, true, true];
        let views = || Values::Bytes(StringViews::from_iter(strings));
        let as_text = array(&text, &layout.text(), views(), Some(&validity)).unwrap();
        let as_binary = array(&text, &layout.binary(), views(), Some(&validity)).unwrap();
        let (as_text, as_binary) = match layout {
            StringLayout::Utf8 => (
                as_text.as_string::<i32>().iter().map(|s| s.map(str::to_owned)).collect::<Vec<_>>(),
                as_binary.as_binary::<i32>().iter().map(|b| b.map(<[u8]>::to_vec)).collect::<Vec<_>>(),
            ),
            StringLayout::LargeUtf8 => (
                as_text.as_string::<i64>().iter().map(|s| s.map(str::to_owned)).collect(),
                as_binary.as_binary::<i64>().iter().map(|b| b.map(<[u8]>::to_vec)).collect(),
            ),
            StringLayout::Utf8View => (
                as_text.as_string_view().iter().map(|s| s.map(str::to_owned)).collect(),
                as_binary.as_binary_view().iter().map(|b| b.map(<[u8]>::to_vec)).collect(),
            ),
        };
        for (i, string) in strings.iter().enumerate() {
            let expected = (i != 2).then(|| (*string).to_owned());
            assert_eq!(as_text[i], expected, "{layout:?}");
            assert_eq!(as_binary[i], expected.map(String::into_bytes), "{layout:?}");
        }
    }
}

#[test]
fn bytes_read_as_text_are_validated() {
    let column = of(Type::BYTE_ARRAY, None);
    let values = |bytes: &[u8]| Values::Bytes(StringViews::from_iter([b"ok", bytes]));
    assert!(array(&column, &DataType::Utf8, values(b"fine"), None).is_ok());
    let error = array(&column, &DataType::Utf8View, values(&[0xff]), None).unwrap_err();
    assert!(error.message().contains("value 1 of the batch is not UTF-8"));
}

#[test]
fn columns_without_values() {
    let column = of(Type::INT32, Some(LogicalType::Null));
    let array = plain(&column, Values::W32(vec![0; 3]), Some(&[false; 3])).unwrap();
    assert_eq!((array.data_type(), array.len()), (&DataType::Null, 3));
    assert!(plain(&column, Values::W32(vec![0; 3]), Some(&[false, true, false])).is_err());
}

fn dictionary_of(key: DataType, value: DataType) -> DataType {
    DataType::Dictionary(Box::new(key), Box::new(value))
}

#[test]
fn a_dictionary_of_values() {
    let text = of(Type::BYTE_ARRAY, Some(LogicalType::String));
    let to = dictionary_of(DataType::Int8, DataType::Utf8);
    let values = Values::Bytes(StringViews::from_iter(["a", "", "b", "a"]));
    let found = array(&text, &to, values, Some(&[true, false, true, true])).unwrap();
    let found = found.as_dictionary::<Int8Type>();
    assert_eq!(found.keys().iter().collect::<Vec<_>>(), [Some(0), None, Some(1), Some(0)]);
    assert_eq!(found.values().as_string::<i32>().iter().flatten().collect::<Vec<_>>(), ["a", "b"]);
    let to = dictionary_of(DataType::UInt16, DataType::Int64);
    let found = array(&of(Type::INT64, None), &to, Values::W64(vec![5, 5, 6]), None).unwrap();
    assert_eq!(found.as_dictionary::<UInt16Type>().keys().values(), &[0, 0, 1]);
}

#[test]
fn a_dictionary_of_the_file_is_built_once() {
    let text = of(Type::BYTE_ARRAY, Some(LogicalType::String));
    let (to, mut cache) = (dictionary_of(DataType::Int32, DataType::Utf8), DictionaryCache::default());
    let dictionary =
        Arc::new(Dictionary::new(Values::Bytes(StringViews::from_iter(["red", "a very long colour name"]))));
    let mut read = |keys: Vec<u32>, to: &DataType| {
        let mut batch = batch(Values::W32(keys), None);
        batch.dictionary = Some(dictionary.clone());
        into_array(batch, &text, to, &mut cache)
    };
    let (first, second) = (read(vec![1, 0, 1], &to).unwrap(), read(vec![0], &to).unwrap());
    let values = |array: &ArrayRef| array.as_dictionary::<Int32Type>().values().clone();
    assert!(Arc::ptr_eq(&values(&first), &values(&second)));
    assert!(read(vec![2], &to).is_err());
    assert_eq!(
        read(vec![1], &DataType::Utf8).unwrap().as_string::<i32>().value(0),
        "a very long colour name"
    );
}

#[test]
fn keys_that_do_not_fit_are_renumbered() {
    let column = of(Type::INT32, None);
    let dictionary = Arc::new(Dictionary::new(Values::W32((0..1000).collect())));
    let read = |keys: Vec<u32>| {
        let mut batch = batch(Values::W32(keys), None);
        batch.dictionary = Some(dictionary.clone());
        let to = dictionary_of(DataType::Int8, DataType::Int32);
        into_array(batch, &column, &to, &mut DictionaryCache::default())
    };
    let found = read(vec![999, 500, 999]).unwrap();
    let found = found.as_dictionary::<Int8Type>();
    assert_eq!(found.keys().values(), &[0, 1, 0]);
    assert_eq!(found.values().as_primitive::<Int32Type>().values(), &[999, 500]);
    assert!(read((0..129).collect()).unwrap_err().message().contains("129 different values"));
}

#[test]
fn an_empty_dictionary_has_nulls_only() {
    let column = of(Type::INT32, None);
    let read = |validity: &[bool], to: &DataType| {
        let mut batch = batch(Values::W32(vec![0, 0]), Some(validity));
        batch.dictionary = Some(Arc::new(Dictionary::new(Values::W32(vec![]))));
        into_array(batch, &column, to, &mut DictionaryCache::default())
    };
    for to in [DataType::Int32, dictionary_of(DataType::Int32, DataType::Int32)] {
        assert_eq!(read(&[false, false], &to).unwrap().null_count(), 2);
        assert!(read(&[false, true], &to).is_err());
    }
}

#[test]
fn runs() {
    let ends = |data_type| Arc::new(ArrowField::new("run_ends", data_type, false));
    let values = Arc::new(ArrowField::new("values", DataType::Int32, true));
    let to = DataType::RunEndEncoded(ends(DataType::Int16), values);
    let column = of(Type::INT32, None);
    let words = Values::W32(vec![7, 7, 0, 1, 8]);
    let found = array(&column, &to, words, Some(&[true, true, false, false, true])).unwrap();
    let found = found.as_run::<Int16Type>();
    assert_eq!(found.run_ends().values(), &[2, 4, 5]);
    let runs = found.values().as_primitive::<Int32Type>();
    assert_eq!(runs.iter().collect::<Vec<_>>(), [Some(7), None, Some(8)]);
    assert_eq!(array(&column, &to, Values::W32(vec![]), None).unwrap().len(), 0);
}

#[test]
fn what_does_not_fit() {
    let text = of(Type::BYTE_ARRAY, Some(LogicalType::String));
    assert!(!fits(&text, &DataType::Int32));
    assert!(!fits(&of(Type::INT32, None), &DataType::Int64));
    assert!(!fits(&of(Type::INT32, None), &dictionary_of(DataType::Utf8, DataType::Int32)));
    assert!(!fits(&of(Type::INT32, decimal(9, 2)), &DataType::Decimal128(9, 3)));
    assert!(!fits(&of(Type::INT32, decimal(9, 2)), &DataType::Decimal128(8, 2)));
    let error = into_array(
        batch(Values::W32(vec![1]), None),
        &text,
        &DataType::Utf8,
        &mut DictionaryCache::default(),
    );
    assert!(error.unwrap_err().message().contains("cannot be read as Utf8"));
}
