//! Gathers the statistics of a column of any type.

use super::numbers::Numbers;
use super::strings::{LengthStats, Strings};
use super::value::Number;
use arrow_array::cast::AsArray;
use arrow_array::types::*;
use arrow_array::{Array, ArrayRef};
use arrow_buffer::{NullBuffer, ToByteSlice, i256};
use arrow_cast::CastOptions;
use arrow_data::ArrayData;
use arrow_schema::DataType;
use marquetry_base::{Error, ErrorKind, Result};

/// The values of a column, in the form in which they are counted.
pub(crate) enum Values {
    /// A type without values, or one that is not examined.
    Nothing,
    /// Booleans as 0 and 1, integers, dates, times, small decimals.
    Signed(Numbers<i64>),
    Float(Numbers<f64>),
    /// Unsigned integers of 64 bits, decimals of 128.
    Wide(Numbers<i128>),
    Widest(Numbers<i256>),
    Strings(Strings),
}

/// The statistics of a column while it is read.
pub(crate) struct LeafStats {
    pub(crate) data_type: DataType,
    pub(crate) values: Values,
    pub(crate) nulls: u64,
    /// Number of values that are not null.
    pub(crate) count: u64,
    pub(crate) lists: Option<LengthStats>,
    /// A dictionary, and how often each of its entries has occurred so far.
    dictionary: Option<(ArrayRef, Vec<u64>)>,
}

impl LeafStats {
    /// Creates the statistics of a column that is read as this type. Dictionaries and runs count as the type of their
    /// values.
    pub(crate) fn new(data_type: &DataType) -> Self {
        let data_type = plain_type(data_type);
        let values = Values::new(&data_type);
        LeafStats { data_type, values, nulls: 0, count: 0, lists: None, dictionary: None }
    }

    /// Adds values of a batch.
    ///
    /// Fails for runs, or entries of a dictionary, that cannot be converted to plain values.
    pub(crate) fn add(
        &mut self,
        array: &ArrayRef,
        nulls: Option<&NullBuffer>,
        lists: Option<LengthStats>,
    ) -> Result<()> {
        if let Some(lists) = lists {
            self.lists.get_or_insert_default().merge(lists);
        }
        if !is_counted_as_it_is(array.data_type()) {
            let plain = self.plain(array)?;
            let plain_nulls = NullBuffer::union(plain.logical_nulls().as_ref(), nulls);
            return self.add(&plain, plain_nulls.as_ref(), None);
        }
        let missing = match array.data_type() {
            DataType::Null => array.len(),
            _ => nulls.map_or(0, NullBuffer::null_count),
        } as u64;
        self.nulls += missing;
        self.count += array.len() as u64 - missing;
        match array.as_any_dictionary_opt() {
            Some(dictionary) => {
                let keys = dictionary.keys().as_primitive::<Int32Type>();
                self.count_keys(dictionary.values(), keys.values(), nulls);
            }
            None => self.values.add(array, nulls),
        }
        Ok(())
    }

    /// Converts runs or a dictionary to plain values.
    fn plain(&self, array: &ArrayRef) -> Result<ArrayRef> {
        // Otherwise a value that does not fit would become null.
        let options = CastOptions { safe: false, ..CastOptions::default() };
        arrow_cast::cast_with_options(array, &self.data_type, &options).map_err(|error| {
            let message = format!("{} cannot be made into plain values to look at", array.data_type());
            Error::caused_by(ErrorKind::Unsupported, message, error)
        })
    }

    fn count_keys(&mut self, entries: &ArrayRef, keys: &[i32], nulls: Option<&NullBuffer>) {
        let is_same = |(known, _): &(ArrayRef, _)| known.to_data().ptr_eq(&entries.to_data());
        if !self.dictionary.as_ref().is_some_and(is_same) {
            self.flush();
            self.dictionary = Some((entries.clone(), vec![0; entries.len()]));
        }
        let Some((_, counts)) = &mut self.dictionary else { return };
        match nulls {
            None => keys.iter().for_each(|key| counts[*key as usize] += 1),
            Some(nulls) => {
                let present = keys.iter().enumerate().filter(|(i, _)| nulls.is_valid(*i));
                present.for_each(|(_, key)| counts[*key as usize] += 1);
            }
        }
    }

    /// Adds the counts of a dictionary's entries.
    pub(crate) fn flush(&mut self) {
        let Some((entries, counts)) = self.dictionary.take() else { return };
        // An entry that is null counts as nulls.
        let entry_nulls = entries.logical_nulls();
        if let Some(nulls) = &entry_nulls {
            let missing = (0..entries.len()).filter(|i| nulls.is_null(*i)).map(|i| counts[i]).sum::<u64>();
            self.nulls += missing;
            self.count -= missing;
        }
        let is_used = |i: usize| counts[i] > 0 && entry_nulls.as_ref().is_none_or(|nulls| nulls.is_valid(i));
        self.values.add_counted(&entries, &counts, is_used);
    }

    /// Adds the statistics of another part of the column. Both were flushed.
    ///
    /// Fails if that part was read as another type: its numbers would have another meaning.
    pub(crate) fn merge(&mut self, other: LeafStats) -> Result<()> {
        if self.data_type != other.data_type {
            let (a, b) = (&self.data_type, &other.data_type);
            return Err(Error::argument(format!("parts of a column were read as {a} and as {b}")));
        }
        self.nulls += other.nulls;
        self.count += other.count;
        if let Some(lists) = other.lists {
            self.lists.get_or_insert_default().merge(lists);
        }
        match (&mut self.values, other.values) {
            (Values::Signed(mine), Values::Signed(others)) => mine.merge(others),
            (Values::Float(mine), Values::Float(others)) => mine.merge(others),
            (Values::Wide(mine), Values::Wide(others)) => mine.merge(others),
            (Values::Widest(mine), Values::Widest(others)) => mine.merge(others),
            (Values::Strings(mine), Values::Strings(others)) => mine.merge(others),
            // Values of one type are counted in one form.
            _ => {}
        }
        Ok(())
    }
}

/// Returns the type of the values of dictionaries and runs, and other types as they are.
pub(crate) fn plain_type(data_type: &DataType) -> DataType {
    match data_type {
        DataType::Dictionary(_, values) => values.as_ref().clone(),
        DataType::RunEndEncoded(_, values) => values.data_type().clone(),
        other => other.clone(),
    }
}

/// Whether arrays of this type are counted as they are: not runs, nor dictionaries with other keys than the reader's
/// own.
fn is_counted_as_it_is(data_type: &DataType) -> bool {
    match data_type {
        DataType::RunEndEncoded(..) => false,
        DataType::Dictionary(keys, _) => **keys == DataType::Int32,
        _ => true,
    }
}

impl Values {
    fn new(data_type: &DataType) -> Self {
        use DataType::*;
        match data_type {
            Boolean | Int8 | Int16 | Int32 | Int64 | UInt8 | UInt16 | UInt32 | Date32 | Date64
            | Time32(_) | Time64(_) | Timestamp(..) | Duration(_) | Decimal32(..) | Decimal64(..) => {
                Values::Signed(Numbers::new())
            }
            Float16 | Float32 | Float64 => Values::Float(Numbers::new()),
            UInt64 | Decimal128(..) => Values::Wide(Numbers::new()),
            Decimal256(..) => Values::Widest(Numbers::new()),
            Utf8 | LargeUtf8 | Utf8View | Binary | LargeBinary | BinaryView | FixedSizeBinary(_)
            | Interval(_) => Values::Strings(Strings::new()),
            _ => Values::Nothing,
        }
    }

    /// Adds the values of an array that are not null.
    pub(crate) fn add(&mut self, array: &ArrayRef, nulls: Option<&NullBuffer>) {
        match self {
            Values::Nothing => {}
            Values::Strings(strings) => strings.add(byte_strings(array, nulls).map(|string| (string, 1))),
            Values::Signed(numbers) => add_all(numbers, &signed(array), nulls),
            Values::Float(numbers) => add_all(numbers, &floats(array), nulls),
            Values::Wide(numbers) => add_all(numbers, &wide(array), nulls),
            Values::Widest(numbers) => {
                add_all(numbers, array.as_primitive::<Decimal256Type>().values(), nulls);
            }
        }
    }

    /// Adds the used entries of a dictionary, each as often as it occurs.
    fn add_counted(&mut self, entries: &ArrayRef, counts: &[u64], is_used: impl Fn(usize) -> bool) {
        match self {
            Values::Nothing => {}
            Values::Strings(strings) => {
                let used = byte_strings(entries, None).zip(counts).enumerate();
                let used = used.filter(|(i, _)| is_used(*i));
                strings.add(used.map(|(_, (string, times))| (string, *times)));
            }
            Values::Signed(numbers) => add_some(numbers, &signed(entries), counts, is_used),
            Values::Float(numbers) => add_some(numbers, &floats(entries), counts, is_used),
            Values::Wide(numbers) => add_some(numbers, &wide(entries), counts, is_used),
            Values::Widest(numbers) => {
                add_some(numbers, entries.as_primitive::<Decimal256Type>().values(), counts, is_used);
            }
        }
    }
}

fn add_all<T: Number>(numbers: &mut Numbers<T>, values: &[T], nulls: Option<&NullBuffer>) {
    match nulls.filter(|nulls| nulls.null_count() > 0) {
        None => numbers.add(values.iter().map(|value| (*value, 1))),
        Some(nulls) => {
            let present: Vec<T> = nulls.valid_indices().map(|i| values[i]).collect();
            numbers.add(present.iter().map(|value| (*value, 1)));
        }
    }
}

fn add_some<T: Number>(
    numbers: &mut Numbers<T>,
    values: &[T],
    counts: &[u64],
    is_used: impl Fn(usize) -> bool,
) {
    let used = (0..values.len()).filter(|i| is_used(*i)).map(|i| (values[i], counts[i]));
    let used: Vec<_> = used.collect();
    numbers.add(used.iter().copied());
}

/// Returns the values of an array as 64-bit integers.
fn signed(array: &ArrayRef) -> Vec<i64> {
    if let Some(booleans) = array.as_boolean_opt() {
        return booleans.values().iter().map(i64::from).collect();
    }
    let data = array.to_data();
    match (data.data_type(), data.data_type().primitive_width()) {
        (DataType::UInt8, _) => widened(native::<u8>(&data)),
        (DataType::UInt16, _) => widened(native::<u16>(&data)),
        (DataType::UInt32, _) => widened(native::<u32>(&data)),
        (_, Some(1)) => widened(native::<i8>(&data)),
        (_, Some(2)) => widened(native::<i16>(&data)),
        (_, Some(4)) => widened(native::<i32>(&data)),
        _ => native::<i64>(&data).to_vec(),
    }
}

fn wide(array: &ArrayRef) -> Vec<i128> {
    match array.as_primitive_opt::<UInt64Type>() {
        Some(numbers) => numbers.values().iter().map(|number| i128::from(*number)).collect(),
        None => array.as_primitive::<Decimal128Type>().values().to_vec(),
    }
}

fn native<N: arrow_buffer::ArrowNativeType>(data: &ArrayData) -> &[N] {
    &data.buffer::<N>(0)[..data.len()]
}

fn widened<N: Copy + Into<i64>>(values: &[N]) -> Vec<i64> {
    values.iter().map(|value| (*value).into()).collect()
}

fn floats(array: &ArrayRef) -> Vec<f64> {
    match array.data_type() {
        DataType::Float16 => {
            array.as_primitive::<Float16Type>().values().iter().map(|v| v.to_f64()).collect()
        }
        DataType::Float32 => {
            array.as_primitive::<Float32Type>().values().iter().map(|v| f64::from(*v)).collect()
        }
        _ => array.as_primitive::<Float64Type>().values().to_vec(),
    }
}

/// Returns the bytes of the values that are not null.
fn byte_strings<'a>(
    array: &'a ArrayRef,
    nulls: Option<&'a NullBuffer>,
) -> Box<dyn Iterator<Item = &'a [u8]> + 'a> {
    let rows = (0..array.len()).filter(move |i| nulls.is_none_or(|nulls| nulls.is_valid(*i)));
    match array.data_type() {
        DataType::Utf8 => {
            let array = array.as_string::<i32>();
            Box::new(rows.map(|i| array.value(i).as_bytes()))
        }
        DataType::LargeUtf8 => {
            let array = array.as_string::<i64>();
            Box::new(rows.map(|i| array.value(i).as_bytes()))
        }
        DataType::Utf8View => {
            let array = array.as_string_view();
            Box::new(rows.map(|i| array.value(i).as_bytes()))
        }
        DataType::Binary => {
            let array = array.as_binary::<i32>();
            Box::new(rows.map(|i| array.value(i)))
        }
        DataType::LargeBinary => {
            let array = array.as_binary::<i64>();
            Box::new(rows.map(|i| array.value(i)))
        }
        DataType::BinaryView => {
            let array = array.as_binary_view();
            Box::new(rows.map(|i| array.value(i)))
        }
        DataType::FixedSizeBinary(_) => {
            let array = array.as_fixed_size_binary();
            Box::new(rows.map(|i| array.value(i)))
        }
        DataType::Interval(arrow_schema::IntervalUnit::MonthDayNano) => {
            let array = array.as_primitive::<IntervalMonthDayNanoType>();
            Box::new(rows.map(|i| as_bytes(&array.values()[i..=i])))
        }
        DataType::Interval(arrow_schema::IntervalUnit::DayTime) => {
            let array = array.as_primitive::<IntervalDayTimeType>();
            Box::new(rows.map(|i| as_bytes(&array.values()[i..=i])))
        }
        DataType::Interval(arrow_schema::IntervalUnit::YearMonth) => {
            let array = array.as_primitive::<IntervalYearMonthType>();
            Box::new(rows.map(|i| as_bytes(&array.values()[i..=i])))
        }
        _ => Box::new(std::iter::empty()),
    }
}

fn as_bytes<N: arrow_buffer::ArrowNativeType>(values: &[N]) -> &[u8] {
    values.to_byte_slice()
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::{
        DictionaryArray, Int32Array, Int64Array, IntervalYearMonthArray, RunArray, StringArray, UInt8Array,
    };
    use std::sync::Arc;

    fn runs(values: &dyn Array) -> ArrayRef {
        let ends = Int32Array::from(vec![2, 3]);
        Arc::new(RunArray::<Int32Type>::try_new(&ends, values).unwrap())
    }

    #[test]
    fn runs_count_as_their_values() {
        let array = runs(&Int64Array::from(vec![Some(5), None]));
        let mut stats = LeafStats::new(array.data_type());
        stats.add(&array, None, None).unwrap();
        assert_eq!((stats.count, stats.nulls), (2, 1));
    }

    /// An entry that is null is a null, whatever the keys are.
    #[test]
    fn dictionaries_with_any_keys_count_as_their_values() {
        let entries: ArrayRef = Arc::new(Int64Array::from(vec![Some(5), None]));
        let short = DictionaryArray::new(UInt8Array::from(vec![0, 1, 0]), entries.clone());
        let own = DictionaryArray::new(Int32Array::from(vec![0, 1, 0]), entries);
        for array in [Arc::new(short) as ArrayRef, Arc::new(own)] {
            let mut stats = LeafStats::new(array.data_type());
            stats.add(&array, array.nulls(), None).unwrap();
            stats.flush();
            assert_eq!((stats.count, stats.nulls), (2, 1), "{}", array.data_type());
            let Values::Signed(numbers) = &stats.values else { panic!("integers") };
            assert_eq!((numbers.count, numbers.bounds), (2, Some((5, 5))));
        }
    }

    #[test]
    fn numbers_of_another_type_are_not_added() {
        let micros = DataType::Timestamp(arrow_schema::TimeUnit::Microsecond, None);
        let nanos = DataType::Timestamp(arrow_schema::TimeUnit::Nanosecond, None);
        let error = LeafStats::new(&micros).merge(LeafStats::new(&nanos)).unwrap_err();
        assert!(error.message().contains("were read as Timestamp"), "{error}");
        LeafStats::new(&micros).merge(LeafStats::new(&micros)).unwrap();
    }

    #[test]
    fn runs_that_cannot_be_looked_at_are_an_error() {
        for values in
            [&IntervalYearMonthArray::from(vec![1, 2]) as &dyn Array, &StringArray::from(vec!["1", "x"])]
        {
            let mut stats = LeafStats::new(&DataType::Int64);
            let error = stats.add(&runs(values), None, None).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Unsupported);
            assert!(error.message().contains("cannot be made into plain values"), "{error}");
        }
    }
}
