//! Counts which types of values were seen at a path of a sample.

use super::shape::PrimitiveType;
use crate::decimal::Decimal;
use crate::value::Value;

/// A kind of values that can be shredded together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Object,
    Array,
    Primitive(PrimitiveType),
}

/// How often each kind was seen. There are only few kinds.
#[derive(Debug, Default)]
pub(super) struct Kinds(Vec<(Kind, u64)>);

impl Kinds {
    /// Counts a value. A null has no kind.
    pub(super) fn add(&mut self, value: &Value<'_>, exact_widths: bool) {
        let Some(kind) = kind(value, exact_widths) else { return };
        match self.0.iter_mut().find(|(known, _)| is_together(*known, kind, exact_widths)) {
            Some((known, count)) => {
                *known = wider(*known, kind);
                *count += 1;
            }
            None => self.0.push((kind, 1)),
        }
    }

    /// Returns the most common kind and its count. Of equally common kinds, it is the one seen first.
    pub(super) fn most_common(&self) -> Option<(Kind, u64)> {
        self.0.iter().rev().max_by_key(|(_, count)| *count).copied()
    }
}

/// Whether two kinds are counted as one. Decimals of the same scale are, and the larger precision wins.
fn is_together(known: Kind, kind: Kind, exact_widths: bool) -> bool {
    use PrimitiveType::Decimal;
    match (known, kind) {
        (Kind::Primitive(Decimal { scale: a, .. }), Kind::Primitive(Decimal { scale: b, .. }))
            if !exact_widths =>
        {
            a == b
        }
        _ => known == kind,
    }
}

fn wider(known: Kind, kind: Kind) -> Kind {
    use PrimitiveType::Decimal;
    match (known, kind) {
        (Kind::Primitive(Decimal { precision: a, scale }), Kind::Primitive(Decimal { precision: b, .. })) => {
            Kind::Primitive(Decimal { precision: a.max(b), scale })
        }
        _ => known,
    }
}

fn kind(value: &Value<'_>, exact_widths: bool) -> Option<Kind> {
    let integer = |exact| if exact_widths { exact } else { PrimitiveType::Int64 };
    Some(Kind::Primitive(match value {
        Value::Null => return None,
        Value::Object(_) => return Some(Kind::Object),
        Value::Array(_) => return Some(Kind::Array),
        Value::Boolean(_) => PrimitiveType::Boolean,
        Value::Int8(_) => integer(PrimitiveType::Int8),
        Value::Int16(_) => integer(PrimitiveType::Int16),
        Value::Int32(_) => integer(PrimitiveType::Int32),
        Value::Int64(_) => PrimitiveType::Int64,
        Value::Float(_) => PrimitiveType::Float,
        Value::Double(_) => PrimitiveType::Double,
        Value::Decimal4(number) => decimal(number, if exact_widths { 9 } else { 18 }, exact_widths)?,
        Value::Decimal8(number) => decimal(number, 18, exact_widths)?,
        Value::Decimal16(number) => decimal(number, 38, exact_widths)?,
        Value::Date(_) => PrimitiveType::Date,
        Value::Time(_) => PrimitiveType::Time,
        Value::TimestampMicros(_) => PrimitiveType::TimestampMicros,
        Value::LocalTimestampMicros(_) => PrimitiveType::LocalTimestampMicros,
        Value::TimestampNanos(_) => PrimitiveType::TimestampNanos,
        Value::LocalTimestampNanos(_) => PrimitiveType::LocalTimestampNanos,
        Value::Binary(_) => PrimitiveType::Binary,
        Value::String(_) => PrimitiveType::String,
        Value::Uuid(_) => PrimitiveType::Uuid,
    }))
}

/// Returns a decimal type of at least `precision` digits. In Parquet the scale must not exceed the precision, so no
/// type of just this width can hold some decimals of VARIANT.
fn decimal(number: &Decimal, precision: u8, exact_widths: bool) -> Option<PrimitiveType> {
    let scale = number.scale;
    match scale > precision {
        true if exact_widths => None,
        true => Some(PrimitiveType::Decimal { precision: 38, scale }),
        false => Some(PrimitiveType::Decimal { precision, scale }),
    }
}
