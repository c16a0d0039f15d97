//! Converts values of Arrow arrays to literals of predicates.

mod time_text;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Float32Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrowPrimitiveType, PrimitiveArray};
use arrow_cast::display::array_value_to_string;
use arrow_schema::DataType;
use marquetry_base::{Error, Result};
use marquetry_core::predicate::{Literal, Number};

/// Returns the values of an array, for [`is_in`](marquetry_core::predicate::Column::is_in). Nulls are [`Literal::Null`].
///
/// Floats are exact. Dates, times, timestamps and durations become text. Fails for lists, maps and structs, and for a
/// time outside of a day.
///
/// ```
/// use arrow_array::Int64Array;
/// use marquetry_arrow::literals;
/// use marquetry_core::predicate::{Predicate, col};
/// let ids = Int64Array::from(vec![5, 7]);
/// assert_eq!(col("id").is_in(literals(&ids)?), Predicate::parse("id in (5, 7)")?);
/// # Ok::<(), marquetry_base::Error>(())
/// ```
pub fn literals(array: &dyn Array) -> Result<Vec<Literal>> {
    match array.data_type() {
        DataType::Int8 => Ok(integers::<Int8Type>(array)),
        DataType::Int16 => Ok(integers::<Int16Type>(array)),
        DataType::Int32 => Ok(integers::<Int32Type>(array)),
        DataType::Int64 => Ok(integers::<Int64Type>(array)),
        DataType::UInt8 => Ok(integers::<UInt8Type>(array)),
        DataType::UInt16 => Ok(integers::<UInt16Type>(array)),
        DataType::UInt32 => Ok(integers::<UInt32Type>(array)),
        DataType::UInt64 => Ok(integers::<UInt64Type>(array)),
        _ => (0..array.len()).map(|row| literal_at(array, row)).collect(),
    }
}

fn integers<T: ArrowPrimitiveType>(array: &dyn Array) -> Vec<Literal>
where
    T::Native: Into<Literal>,
{
    let array: &PrimitiveArray<T> = array.as_primitive();
    array.iter().map(|value| value.map_or(Literal::Null, Into::into)).collect()
}

/// Returns one value of an array.
fn literal_at(array: &dyn Array, row: usize) -> Result<Literal> {
    if array.is_null(row) {
        return Ok(Literal::Null);
    }
    let wrong = || Error::argument(format!("{} is not a value of a predicate", array.data_type()));
    let failed = |error: arrow_schema::ArrowError| Error::argument(error.to_string());
    Ok(match array.data_type() {
        DataType::Float16 | DataType::Float32 => {
            let value = arrow_cast::cast(&array.slice(row, 1), &DataType::Float32).map_err(failed)?;
            Literal::Number(Number::exactly(value.as_primitive::<Float32Type>().value(0).into()))
        }
        DataType::Float64 => {
            let value = array.as_primitive::<arrow_array::types::Float64Type>().value(row);
            Literal::Number(Number::exactly(value))
        }
        DataType::Boolean => Literal::Bool(array.as_boolean().value(row)),
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView | DataType::FixedSizeBinary(_) => {
            let value = arrow_cast::cast(&array.slice(row, 1), &DataType::Binary).map_err(failed)?;
            Literal::Bytes(value.as_binary::<i32>().value(0).to_vec())
        }
        DataType::Dictionary(..) | DataType::RunEndEncoded(..) => {
            let plain = match array.data_type() {
                DataType::Dictionary(_, values) => (**values).clone(),
                DataType::RunEndEncoded(_, values) => values.data_type().clone(),
                _ => return Err(wrong()),
            };
            literal_at(&arrow_cast::cast(&array.slice(row, 1), &plain).map_err(failed)?, 0)?
        }
        data_type if data_type.is_nested() => return Err(wrong()),
        data_type if data_type.is_temporal() && !matches!(data_type, DataType::Interval(_)) => {
            let text = time_text::of(array, row).map_err(failed)?;
            Literal::Text(text.ok_or_else(|| Error::argument("is not a time of a day"))?)
        }
        data_type => {
            let text = array_value_to_string(array, row).map_err(failed)?;
            match data_type.is_numeric() {
                true => Literal::Number(Number::parse(&text).ok_or_else(wrong)?),
                // Only text and intervals are left.
                false => Literal::Text(text),
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::*;
    use std::sync::Arc;

    #[test]
    fn values_of_all_kinds() {
        let shown = |array: &dyn Array| {
            let found = literals(array).unwrap().iter().map(Literal::to_string).collect::<Vec<_>>();
            found.join(" ")
        };
        assert_eq!(shown(&Int32Array::from(vec![Some(-5), None, Some(0)])), "-5 null 0");
        assert_eq!(shown(&UInt64Array::from(vec![u64::MAX])), "18446744073709551615");
        assert_eq!(shown(&Float64Array::from(vec![0.5, -0.0, f64::NAN])), "0.5 0 nan");
        assert_eq!(shown(&Float32Array::from(vec![0.1])), "0.100000001490116119384765625");
        assert_eq!(shown(&StringArray::from(vec!["it's"])), "'it''s'");
        assert_eq!(shown(&BinaryViewArray::from(vec![&b"\x0a\xff"[..]])), "X'0aff'");
        assert_eq!(shown(&BooleanArray::from(vec![true, false])), "true false");
        assert_eq!(shown(&Date32Array::from(vec![19_753])), "'2024-01-31'");
        let decimal = Decimal128Array::from(vec![-150]).with_precision_and_scale(5, 2).unwrap();
        assert_eq!(shown(&decimal), "-1.50");
        let keys = Int8Array::from(vec![Some(1), None]);
        let words = DictionaryArray::new(keys, Arc::new(StringArray::from(vec!["a", "b"])));
        assert_eq!(shown(&words), "'b' null");
        let far = TimestampNanosecondArray::from(vec![-1, i64::MAX]).with_timezone("Europe/Berlin");
        assert_eq!(shown(&far), "'1969-12-31 23:59:59.999999999Z' '2262-04-11 23:47:16.854775807Z'");
        let farther = TimestampSecondArray::from(vec![0, i64::MIN]);
        assert_eq!(shown(&farther), "'1970-01-01 00:00:00' '-292277022657-01-27 08:29:52'");
        assert_eq!(shown(&Date32Array::from(vec![i32::MAX])), "'+5881580-07-11'");
        assert_eq!(shown(&Date64Array::from(vec![86_400_000, -1])), "'1970-01-02' '1969-12-31 23:59:59.999'");
        assert_eq!(shown(&Time32SecondArray::from(vec![86_399])), "'23:59:59'");
        assert_eq!(shown(&Time64NanosecondArray::from(vec![1])), "'00:00:00.000000001'");
        for no_time in [-1, 86_400_000_000] {
            let error = literals(&Time64MicrosecondArray::from(vec![no_time])).unwrap_err();
            assert!(error.message().contains("not a time of a day"), "{error}");
        }
        let durations = DurationMillisecondArray::from(vec![-1_500, 0, i64::MIN]);
        assert_eq!(shown(&durations), "'-PT1.5S' 'PT0S' '-PT9223372036854775.808S'");
        let list = ListArray::from_iter_primitive::<Int32Type, _, _>([Some([Some(1)])]);
        assert!(literals(&list).unwrap_err().message().contains("is not a value of a predicate"));
    }
}
