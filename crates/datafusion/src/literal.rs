//! Converts scalars of DataFusion to literals of predicates.

use datafusion::common::ScalarValue;
use marquetry_base::datetime_text::Moment;
use marquetry_core::predicate::{Literal, Number};

/// The literal of a scalar; `None` if none means exactly the same.
pub(crate) fn literal(value: &ScalarValue) -> Option<Literal> {
    use ScalarValue::*;
    if value.is_null() {
        return Some(Literal::Null);
    }
    Some(match value {
        Boolean(Some(value)) => Literal::Bool(*value),
        Int8(Some(value)) => (*value).into(),
        Int16(Some(value)) => (*value).into(),
        Int32(Some(value)) => (*value).into(),
        Int64(Some(value)) => (*value).into(),
        UInt8(Some(value)) => (*value).into(),
        UInt16(Some(value)) => (*value).into(),
        UInt32(Some(value)) => (*value).into(),
        UInt64(Some(value)) => (*value).into(),
        Float32(Some(value)) => Literal::Number(Number::exactly((*value).into())),
        Float64(Some(value)) => Literal::Number(Number::exactly(*value)),
        Decimal32(Some(value), _, scale) => decimal(i128::from(*value), *scale),
        Decimal64(Some(value), _, scale) => decimal(i128::from(*value), *scale),
        Decimal128(Some(value), _, scale) => decimal(*value, *scale),
        Utf8(Some(text)) | LargeUtf8(Some(text)) | Utf8View(Some(text)) => Literal::Text(text.clone()),
        Binary(Some(bytes)) | LargeBinary(Some(bytes)) | BinaryView(Some(bytes)) => {
            Literal::Bytes(bytes.clone())
        }
        Date32(Some(days)) => Literal::Date(*days),
        TimestampSecond(Some(value), _) => moment(*value, 1),
        TimestampMillisecond(Some(value), _) => moment(*value, 1_000),
        TimestampMicrosecond(Some(value), _) => moment(*value, 1_000_000),
        TimestampNanosecond(Some(value), _) => moment(*value, 1_000_000_000),
        Dictionary(_, value) => literal(value)?,
        _ => return None,
    })
}

/// Whether a scalar is NaN.
pub(crate) fn is_nan(value: &ScalarValue) -> bool {
    match value {
        ScalarValue::Float16(Some(value)) => value.is_nan(),
        ScalarValue::Float32(Some(value)) => value.is_nan(),
        ScalarValue::Float64(Some(value)) => value.is_nan(),
        _ => false,
    }
}

fn decimal(value: i128, scale: i8) -> Literal {
    let digits = value.unsigned_abs().to_string();
    // Zero has no digits.
    let digits = digits.trim_start_matches('0').into();
    let is_negative = value < 0;
    Literal::Number(Number::Finite { is_negative, digits, scale: scale.into() })
}

fn moment(value: i64, per_second: i64) -> Literal {
    let nanos = value.rem_euclid(per_second) * (1_000_000_000 / per_second);
    // Less than a second.
    let nanos = u32::try_from(nanos).unwrap_or(0);
    Literal::Timestamp(Moment { seconds: value.div_euclid(per_second), nanos, digits: 0, has_offset: false })
}
