//! Random arrays, shredded and put together again.

use super::*;
use crate::assemble::{Leaves, assemble};
use crate::column_map::ColumnMap;
use crate::convert::DictionaryCache;
use arrow_array::types::*;
use arrow_array::*;
use arrow_buffer::{BooleanBuffer, IntervalDayTime, i256};
use arrow_cast::display::{ArrayFormatter, FormatOptions};
use arrow_schema::{IntervalUnit, TimeUnit};
use marquetry_base::MemoryReservation;
use marquetry_core::nesting::{FieldKind, NestedField, RepetitionLevels};
use marquetry_core::read::ColumnBatch;
use proptest::prelude::*;

/// Numbers without end, the same for the same seed.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() >> 11) as usize % n.max(1)
    }

    fn nulls(&mut self, n: usize, nullable: bool) -> Option<NullBuffer> {
        let density = self.below(5);
        (nullable && density > 0)
            .then(|| NullBuffer::new(BooleanBuffer::from_iter((0..n).map(|_| self.below(4) >= density - 1))))
    }
}

fn plain() -> impl Strategy<Value = DataType> {
    use DataType::*;
    prop_oneof![
        prop::sample::select(vec![
            Null, Boolean, Int8, UInt16, Int32, Int64, UInt64, Float16, Float32, Float64
        ]),
        prop::sample::select(vec![Utf8, LargeUtf8, Utf8View, Binary, LargeBinary, BinaryView]),
        prop::sample::select(vec![
            Decimal32(9, 2),
            Decimal64(5, 0),
            Decimal64(18, 2),
            Decimal128(7, 2),
            Decimal128(18, 0),
            Decimal128(20, 2),
            Decimal128(38, 1),
            Decimal256(10, 3),
            Decimal256(40, 3),
        ]),
        prop::sample::select(vec![
            Date32,
            Date64,
            Time32(TimeUnit::Second),
            Time64(TimeUnit::Nanosecond),
            Timestamp(TimeUnit::Second, Some("+01:00".into())),
            Timestamp(TimeUnit::Microsecond, None),
            Duration(TimeUnit::Millisecond),
            Interval(IntervalUnit::YearMonth),
            Interval(IntervalUnit::DayTime),
            Interval(IntervalUnit::MonthDayNano),
            FixedSizeBinary(3),
        ]),
    ]
}

fn column_type() -> impl Strategy<Value = DataType> {
    let dictionary = |values: DataType, keys: usize| {
        let keys = [DataType::Int8, DataType::UInt16, DataType::Int32, DataType::UInt64][keys % 4].clone();
        match values {
            DataType::Null => DataType::Null,
            values => DataType::Dictionary(Box::new(keys), Box::new(values)),
        }
    };
    let runs = |values: DataType, ends: usize| {
        let ends = [DataType::Int16, DataType::Int32, DataType::Int64][ends % 3].clone();
        match values {
            DataType::Null => DataType::Null,
            values => DataType::RunEndEncoded(field("run_ends", ends, false), field("values", values, true)),
        }
    };
    prop_oneof![
        4 => plain(),
        1 => (plain(), 0..4usize).prop_map(move |(values, keys)| dictionary(values, keys)),
        1 => (plain(), 0..4usize).prop_map(move |(values, ends)| runs(values, ends)),
        1 => (plain(), 0..4usize).prop_map(move |(values, n)| runs(dictionary(values, n), n)),
    ]
}

pub(crate) fn any_type() -> impl Strategy<Value = DataType> {
    column_type().prop_recursive(4, 12, 3, |inner| {
        let element = (inner.clone(), any::<bool>());
        let element =
            element.prop_map(|(of, nullable)| field("element", of.clone(), nullable || of.is_null()));
        prop_oneof![
            (element, 0..5usize).prop_map(|(element, kind)| match kind {
                0 => DataType::List(element),
                1 => DataType::LargeList(element),
                2 => DataType::ListView(element),
                3 => DataType::LargeListView(element),
                _ => DataType::FixedSizeList(element, 2),
            }),
            prop::collection::vec((inner.clone(), any::<bool>()), 1..4).prop_map(|fields| {
                let fields = fields.into_iter().enumerate();
                DataType::Struct(
                    fields
                        .map(|(i, (of, nullable))| {
                            ArrowField::new(i.to_string(), of.clone(), nullable || of.is_null())
                        })
                        .collect(),
                )
            }),
            (plain(), inner).prop_map(|(key, value)| {
                let key = if key.is_null() { DataType::Utf8 } else { key };
                let parts = vec![ArrowField::new("key", key, false), ArrowField::new("value", value, true)];
                DataType::Map(field("key_value", DataType::Struct(parts.into()), false), false)
            }),
        ]
    })
}

/// An array of `n` slots, cut out of a longer one.
fn array(data_type: &DataType, n: usize, nullable: bool, random: &mut Random) -> ArrayRef {
    let (before, after) = (random.below(4), random.below(4));
    whole(data_type, before + n + after, nullable, random).slice(before, n)
}

fn primitive<T: ArrowPrimitiveType>(
    data_type: &DataType,
    n: usize,
    nulls: Option<NullBuffer>,
    value: impl FnMut() -> T::Native,
) -> ArrayRef {
    let values: Vec<T::Native> = std::iter::repeat_with(value).take(n).collect();
    Arc::new(PrimitiveArray::<T>::new(values.into(), nulls).with_data_type(data_type.clone()))
}

fn whole(data_type: &DataType, n: usize, nullable: bool, random: &mut Random) -> ArrayRef {
    use DataType::*;
    if data_type.is_nested() && !matches!(data_type, RunEndEncoded(..) | Dictionary(..)) {
        return nested(data_type, n, nullable, random);
    }
    let nulls = random.nulls(n, nullable);
    match data_type {
        Null => Arc::new(NullArray::new(n)),
        Boolean => {
            Arc::new(BooleanArray::new(BooleanBuffer::from_iter((0..n).map(|_| random.below(2) == 0)), nulls))
        }
        Int8 => primitive::<Int8Type>(data_type, n, nulls, || random.next() as i8),
        UInt16 => primitive::<UInt16Type>(data_type, n, nulls, || random.next() as u16),
        Int32 => primitive::<Int32Type>(data_type, n, nulls, || random.next() as i32),
        Int64 => primitive::<Int64Type>(data_type, n, nulls, || random.next() as i64),
        UInt64 => primitive::<UInt64Type>(data_type, n, nulls, || random.next()),
        Float16 => primitive::<Float16Type>(data_type, n, nulls, || {
            let number = random.below(100) as i8;
            <Float16Type as ArrowPrimitiveType>::Native::from(number)
        }),
        Float32 => primitive::<Float32Type>(data_type, n, nulls, || random.next() as f32),
        Float64 => primitive::<Float64Type>(data_type, n, nulls, || random.next() as f64),
        Decimal32(..) => {
            primitive::<Decimal32Type>(data_type, n, nulls, || random.next() as i32 % 1_000_000_000)
        }
        Decimal64(p, _) => {
            let most = 10i64.pow(u32::from(*p));
            primitive::<Decimal64Type>(data_type, n, nulls, || random.next() as i64 % most)
        }
        Decimal128(p, _) => {
            let most = 10i128.pow(u32::from(*p));
            primitive::<Decimal128Type>(data_type, n, nulls, || {
                (i128::from(random.next() as i64) << 60 | i128::from(random.next() >> 4)) % most
            })
        }
        Decimal256(p, _) => primitive::<Decimal256Type>(data_type, n, nulls, || {
            let value = i256::from_parts(u128::from(random.next()) << 7, i128::from(random.next() as i64));
            value % i256::from_i128(10).wrapping_pow(u32::from(*p))
        }),
        Date32 => primitive::<Date32Type>(data_type, n, nulls, || random.below(20_000) as i32),
        Date64 => primitive::<Date64Type>(data_type, n, nulls, || random.below(1_000_000_000) as i64),
        Time32(_) => primitive::<Time32SecondType>(data_type, n, nulls, || random.below(86_400) as i32),
        Time64(_) => primitive::<Time64NanosecondType>(data_type, n, nulls, || random.below(86_400) as i64),
        Timestamp(TimeUnit::Second, _) => {
            primitive::<TimestampSecondType>(data_type, n, nulls, || random.next() as i32 as i64)
        }
        Timestamp(..) => {
            primitive::<TimestampMicrosecondType>(data_type, n, nulls, || random.next() as i64 / 100)
        }
        Duration(_) => {
            primitive::<DurationMillisecondType>(data_type, n, nulls, || random.next() as i64 / 100)
        }
        Interval(IntervalUnit::YearMonth) => {
            primitive::<IntervalYearMonthType>(data_type, n, nulls, || random.next() as i32 & i32::MAX)
        }
        Interval(IntervalUnit::DayTime) => primitive::<IntervalDayTimeType>(data_type, n, nulls, || {
            IntervalDayTime::new(random.next() as i32 & i32::MAX, random.next() as i32 & i32::MAX)
        }),
        Interval(IntervalUnit::MonthDayNano) => {
            primitive::<IntervalMonthDayNanoType>(data_type, n, nulls, || {
                IntervalMonthDayNano::new(
                    random.below(99) as i32,
                    random.below(99) as i32,
                    random.below(99) as i64 * 1_000_000,
                )
            })
        }
        FixedSizeBinary(width) => {
            let bytes: Vec<u8> = (0..n * *width as usize).map(|_| random.next() as u8).collect();
            Arc::new(FixedSizeBinaryArray::new(*width, Buffer::from_vec(bytes), nulls))
        }
        Utf8 | LargeUtf8 | Utf8View | Binary | LargeBinary | BinaryView => {
            let texts: Vec<Option<String>> = (0..n)
                .map(|i| {
                    let text =
                        "ü".repeat(random.below(4) * random.below(5)) + &random.below(1000).to_string();
                    nulls.as_ref().is_none_or(|nulls| nulls.is_valid(i)).then_some(text)
                })
                .collect();
            arrow_cast::cast(&StringArray::from(texts), data_type).unwrap()
        }
        Dictionary(keys, values) => {
            // At most 100, so that all fit the narrowest keys.
            let count = 1 + random.below(100);
            let values = array(values, count, nullable, random);
            let keys_array = (0..n).map(|i| {
                let key = random.below(count) as i32;
                nulls.as_ref().is_none_or(|nulls| nulls.is_valid(i)).then_some(key)
            });
            let keys_array = arrow_cast::cast(&keys_array.collect::<Int32Array>(), keys).unwrap();
            let data = arrow_data::ArrayData::builder(data_type.clone()).len(n);
            let data = data.add_buffer(keys_array.to_data().buffers()[0].clone()).nulls(nulls);
            make_array(data.add_child_data(values.to_data()).build().unwrap())
        }
        RunEndEncoded(ends, values) => {
            let mut run_ends = Vec::new();
            while run_ends.last().is_none_or(|&end| end < n as i32) {
                run_ends.push(run_ends.last().unwrap_or(&0) + 1 + random.below(4) as i32);
            }
            let values = array(values.data_type(), run_ends.len(), nullable, random);
            let len = *run_ends.last().unwrap() as usize;
            let run_ends = arrow_cast::cast(&Int32Array::from(run_ends), ends.data_type()).unwrap();
            let data = arrow_data::ArrayData::builder(data_type.clone()).len(len);
            let data = data.add_child_data(run_ends.to_data()).add_child_data(values.to_data());
            make_array(data.build().unwrap()).slice(0, n)
        }
        other => panic!("{other}"),
    }
}

fn nested(data_type: &DataType, n: usize, nullable: bool, random: &mut Random) -> ArrayRef {
    use DataType::*;
    let nulls = random.nulls(n, nullable);
    match data_type {
        Struct(fields) => {
            let columns =
                fields.iter().map(|of| array(of.data_type(), n, of.is_nullable(), random)).collect();
            Arc::new(StructArray::new(fields.clone(), columns, nulls))
        }
        List(element) => offset_list::<i32>(element, n, nulls, random),
        LargeList(element) => offset_list::<i64>(element, n, nulls, random),
        ListView(element) => list_view::<i32>(element, n, nulls, random),
        LargeListView(element) => list_view::<i64>(element, n, nulls, random),
        FixedSizeList(element, size) => {
            let values = array(element.data_type(), n * *size as usize, element.is_nullable(), random);
            Arc::new(FixedSizeListArray::new(element.clone(), *size, values, nulls))
        }
        Map(entries, _) => {
            let offsets = offsets::<i32>(n, random);
            let count = *offsets.last().unwrap() as usize + random.below(3);
            let Struct(parts) = entries.data_type() else { panic!() };
            let parts = parts.iter().map(|part| array(part.data_type(), count, part.is_nullable(), random));
            let Struct(fields) = entries.data_type() else { panic!() };
            let structs = StructArray::new(fields.clone(), parts.collect(), None);
            Arc::new(MapArray::new(entries.clone(), offsets, structs, nulls, false))
        }
        other => panic!("{other}"),
    }
}

fn offsets<O: OffsetSizeTrait>(n: usize, random: &mut Random) -> OffsetBuffer<O> {
    let mut offsets = vec![random.below(3)];
    (0..n).for_each(|_| offsets.push(offsets[offsets.len() - 1] + random.below(3) * random.below(3)));
    OffsetBuffer::new(offsets.into_iter().map(O::usize_as).collect())
}

fn offset_list<O: OffsetSizeTrait>(
    element: &Arc<ArrowField>,
    n: usize,
    nulls: Option<NullBuffer>,
    random: &mut Random,
) -> ArrayRef {
    let offsets = offsets::<O>(n, random);
    let count = offsets.last().unwrap().as_usize() + random.below(3);
    let values = array(element.data_type(), count, element.is_nullable(), random);
    Arc::new(GenericListArray::new(element.clone(), offsets, values, nulls))
}

fn list_view<O: OffsetSizeTrait>(
    element: &Arc<ArrowField>,
    n: usize,
    nulls: Option<NullBuffer>,
    random: &mut Random,
) -> ArrayRef {
    let count = 1 + random.below(20);
    let ranges: Vec<_> = (0..n)
        .map(|_| {
            let start = random.below(count);
            (start, random.below(4).min(count - start))
        })
        .collect();
    let starts = ranges.iter().map(|&(start, _)| O::usize_as(start)).collect();
    let sizes = ranges.iter().map(|&(_, size)| O::usize_as(size)).collect();
    let values = array(element.data_type(), count, element.is_nullable(), random);
    Arc::new(GenericListViewArray::new(element.clone(), starts, sizes, values, nulls))
}

/// The batch that a reader would return for a column with these levels and values.
fn batch(shredded: &ShreddedColumn, field: &NestedField, max_def: u8) -> ColumnBatch {
    let def = match &shredded.def {
        DefinitionLevels::Max => vec![max_def; shredded.entries],
        DefinitionLevels::Null => vec![0; shredded.entries],
        DefinitionLevels::Bitmap(bits) => {
            assert_eq!(max_def, 1);
            (0..bits.len()).map(|i| u8::from(bits.get(i))).collect()
        }
        DefinitionLevels::Levels(levels) => levels.clone(),
    };
    assert_eq!(def.len(), shredded.entries);
    let valid: Vec<bool> = def
        .iter()
        .filter(|&&def| def >= field.repeated_ancestor_def_level)
        .map(|&def| def == max_def)
        .collect();
    let dense = match &shredded.values {
        ColumnValues::Values(values) => values.clone(),
        ColumnValues::Keys { keys, dictionary } => {
            let mut values = dictionary.shape().empty();
            keys.iter()
                .for_each(|&key| values.push_range(dictionary, key as usize..key as usize + 1).unwrap());
            values
        }
    };
    assert_eq!(dense.len(), valid.iter().filter(|&&valid| valid).count());
    let (mut values, mut next) = (dense.shape().empty(), 0);
    for &valid in &valid {
        match valid {
            true => values.push_range(&dense, next..next + 1).unwrap(),
            false => values.push_nulls(1),
        }
        next += usize::from(valid);
    }
    let validity = valid.contains(&false).then(|| valid.into_iter().collect());
    let rep = RepetitionLevels::Bytes(shredded.rep.clone());
    let shape = values.shape();
    ColumnBatch { values, validity, def, rep, entries: shredded.entries, ..ColumnBatch::new(shape) }
}

fn leaf_fields<'a>(field: &'a NestedField, out: &mut Vec<&'a NestedField>) {
    match &field.kind {
        FieldKind::Leaf(_) => out.push(field),
        FieldKind::List(inner) | FieldKind::Map(inner) => leaf_fields(inner, out),
        FieldKind::Struct(fields) => fields.iter().for_each(|field| leaf_fields(field, out)),
    }
}

fn cells(array: &dyn Array) -> Vec<String> {
    let options = FormatOptions::new().with_null("∅").with_display_error(false);
    let formatter = ArrayFormatter::try_new(array, &options).unwrap();
    (0..array.len()).map(|i| formatter.value(i).to_string()).collect()
}

fn check(data_type: &DataType, rows: usize, cut: usize, nullable: bool, seed: u64) {
    let nullable = nullable || data_type.is_null();
    let array = array(data_type, rows, nullable, &mut Random(seed | 1));
    let root = ArrowField::new("c", data_type.clone(), nullable);
    let schema = schema_of(&root);
    let fields = NestedField::from_schema(&schema);
    let mut leaves = Vec::new();
    leaf_fields(&fields[0], &mut leaves);
    let mut shredder = Shredder::new(&root, &schema, 0).unwrap();
    let mut out = Vec::new();
    for rows in [0..cut, cut..rows] {
        shredder.shred(&array, rows.clone(), &mut out).unwrap();
        assert_eq!(out.len(), leaves.len());
        let batches = out.iter().zip(&leaves).zip(schema.columns());
        let mut batches = batches
            .map(|((shredded, field), leaf)| {
                assert_eq!(shredded.rows, rows.len());
                Some(batch(shredded, field, leaf.max_def()))
            })
            .enumerate()
            .collect();
        let mut dictionaries = ColumnMap::new(0..leaves.len(), DictionaryCache::default);
        let (batches, dictionaries, held) =
            (&mut batches, &mut dictionaries, &mut MemoryReservation::default());
        let mut leaves = Leaves { schema: &schema, batches, dictionaries, held };
        let back = assemble(&fields[0], &root, &mut leaves).unwrap();
        assert_eq!(back.data_type(), data_type);
        back.to_data().validate_full().unwrap();
        assert_eq!(cells(&back), cells(&array.slice(rows.start, rows.len())), "{data_type}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn columns_come_back(of in column_type(), n in 0..300usize, cut in 0.0..1.0, nullable: bool, seed: u64) {
        check(&of, n, (n as f64 * cut) as usize, nullable, seed);
    }

    #[test]
    fn nested_arrays_come_back(of in any_type(), n in 0..40usize, cut in 0.0..1.0, nullable: bool, seed: u64) {
        check(&of, n, (n as f64 * cut) as usize, nullable, seed);
    }
}
