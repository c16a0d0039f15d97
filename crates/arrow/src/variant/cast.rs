//! Casts a value to another type, if that keeps its meaning.

use marquetry_base::Result;
use marquetry_variant::{Decimal, PrimitiveType, Value, Variant, Writer, json};

/// Casts a value to type `kind`; `None` if it has no such value. Does not make text.
pub(super) fn cast<'v>(value: &Value<'v>, kind: PrimitiveType) -> Option<Value<'v>> {
    match kind {
        PrimitiveType::Int8 | PrimitiveType::Int16 | PrimitiveType::Int32 | PrimitiveType::Int64 => {
            integer(value).map(Value::Int64)
        }
        PrimitiveType::Double => double(value).map(Value::Double),
        PrimitiveType::Float => match value {
            Value::Float(number) => Some(Value::Float(*number)),
            value => double(value).map(|number| Value::Float(number as f32)),
        },
        PrimitiveType::Decimal { scale, .. } => {
            let unscaled = rescaled(decimal(value)?, scale)?;
            Some(Value::Decimal16(Decimal { unscaled, scale }))
        }
        PrimitiveType::TimestampMicros => match value {
            Value::TimestampNanos(ticks) => {
                (ticks % 1000 == 0).then_some(Value::TimestampMicros(ticks / 1000))
            }
            value => Some(*value),
        },
        PrimitiveType::LocalTimestampMicros => match value {
            Value::LocalTimestampNanos(ticks) => {
                (ticks % 1000 == 0).then_some(Value::LocalTimestampMicros(ticks / 1000))
            }
            value => Some(*value),
        },
        PrimitiveType::TimestampNanos => match value {
            Value::TimestampMicros(ticks) => ticks.checked_mul(1000).map(Value::TimestampNanos),
            value => Some(*value),
        },
        PrimitiveType::LocalTimestampNanos => match value {
            Value::LocalTimestampMicros(ticks) => ticks.checked_mul(1000).map(Value::LocalTimestampNanos),
            value => Some(*value),
        },
        // The builder of the type accepts no other value.
        _ => Some(*value),
    }
}

/// Returns a value as text: its JSON, without the quotes around a string.
pub(super) fn text_of(value: &Value<'_>, variant: Option<Variant<'_>>) -> Result<Option<String>> {
    if matches!(value, Value::Null) {
        return Ok(None);
    }
    let text = json_of(value, variant)?;
    let bare = text.strip_prefix('"').and_then(|text| text.strip_suffix('"'));
    Ok(Some(bare.map(str::to_owned).unwrap_or(text)))
}

/// Returns a value as JSON.
pub(super) fn json_of(value: &Value<'_>, variant: Option<Variant<'_>>) -> Result<String> {
    if let Some(variant) = variant {
        return json::to_string(variant);
    }
    let mut writer = Writer::new();
    writer.write(value)?;
    let (metadata, bytes) = writer.finish()?;
    json::to_string(Variant::new(&metadata, &bytes)?)
}

fn integer(value: &Value<'_>) -> Option<i64> {
    let of_double = |number: f64| {
        // 2^63 is not an i64, and all whole numbers below it are.
        let fits = number.fract() == 0.0
            && (-9_223_372_036_854_775_808.0..9_223_372_036_854_775_808.0).contains(&number);
        fits.then_some(number as i64)
    };
    match value {
        Value::Int8(number) => Some((*number).into()),
        Value::Int16(number) => Some((*number).into()),
        Value::Int32(number) => Some((*number).into()),
        Value::Int64(number) => Some(*number),
        Value::Decimal4(number) | Value::Decimal8(number) | Value::Decimal16(number) => {
            i64::try_from(rescaled(*number, 0)?).ok()
        }
        Value::Double(number) => of_double(*number),
        Value::Float(number) => of_double((*number).into()),
        _ => None,
    }
}

fn double(value: &Value<'_>) -> Option<f64> {
    match value {
        Value::Double(number) => Some(*number),
        Value::Float(number) => Some((*number).into()),
        // Text of the digits is rounded only once.
        Value::Decimal4(number) | Value::Decimal8(number) | Value::Decimal16(number) => {
            number.to_string().parse().ok()
        }
        value => integer(value).map(|number| number as f64),
    }
}

/// Returns a number with its digits; for a float, the fewest digits that identify it.
fn decimal(value: &Value<'_>) -> Option<Decimal> {
    match value {
        Value::Decimal4(number) | Value::Decimal8(number) | Value::Decimal16(number) => Some(*number),
        Value::Double(number) => of_digits(&number.to_string()),
        Value::Float(number) => of_digits(&number.to_string()),
        value => integer(value).map(|number| Decimal { unscaled: number.into(), scale: 0 }),
    }
}

fn of_digits(text: &str) -> Option<Decimal> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let unscaled = format!("{whole}{fraction}").parse().ok()?;
    Some(Decimal { unscaled, scale: u8::try_from(fraction.len()).ok()? })
}

/// Returns the unscaled number of a decimal with this many digits after the point, if it loses none.
fn rescaled(number: Decimal, scale: u8) -> Option<i128> {
    let power = |digits: u8| 10_i128.checked_pow(digits.into());
    match scale.checked_sub(number.scale) {
        Some(more) => number.unscaled.checked_mul(power(more)?),
        None => {
            let less = power(number.scale - scale)?;
            (number.unscaled % less == 0).then_some(number.unscaled / less)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn casts_keep_the_value_or_have_none() {
        let decimal = |unscaled, scale| Value::Decimal16(Decimal { unscaled, scale });
        let to = |value: Value<'static>, kind| cast(&value, kind);
        assert_eq!(to(Value::Double(5.0), PrimitiveType::Int8), Some(Value::Int64(5)));
        assert_eq!(to(Value::Double(5.5), PrimitiveType::Int64), None);
        assert_eq!(to(Value::Double(9_223_372_036_854_775_808.0), PrimitiveType::Int64), None);
        assert_eq!(to(Value::Double(f64::NAN), PrimitiveType::Int64), None);
        assert_eq!(to(decimal(-500, 2), PrimitiveType::Int64), Some(Value::Int64(-5)));
        assert_eq!(to(decimal(501, 2), PrimitiveType::Int64), None);
        assert_eq!(to(decimal(1, 1), PrimitiveType::Double), Some(Value::Double(0.1)));
        let two_digits = PrimitiveType::Decimal { precision: 9, scale: 2 };
        assert_eq!(to(Value::Double(0.1), two_digits), Some(decimal(10, 2)));
        assert_eq!(to(Value::Double(0.125), two_digits), None);
        assert_eq!(to(Value::Double(f64::INFINITY), two_digits), None);
        assert_eq!(to(Value::TimestampNanos(1500), PrimitiveType::TimestampMicros), None);
        assert_eq!(to(Value::TimestampMicros(i64::MAX), PrimitiveType::TimestampNanos), None);
        assert_eq!(text_of(&Value::Int8(5), None).unwrap().as_deref(), Some("5"));
        assert_eq!(text_of(&Value::Null, None).unwrap(), None);
        assert_eq!(text_of(&Value::Date(0), None).unwrap().as_deref(), Some("1970-01-01"));
    }
}
