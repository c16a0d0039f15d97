//! Places a literal in the order of a column's values: equal to a value, between two, or outside of all.

mod float;
mod integer;
mod place;
mod time;

pub(super) use float::half_value;
pub(super) use place::{Position, is_ordered, order};
pub(super) use time::nanos_per;

use super::bare_time::BareTime;
use super::interval_text::interval;
use super::literal::{Literal, Number};
use crate::logical_type::LogicalType;
use crate::schema::Leaf;
use crate::sort_order::SortOrder;
use float::of_float;
use integer::{of_decimal, of_integer};
use marquetry_base::{Error, Result, from_hex};
use marquetry_encoding::PhysicalType;
use place::Found;
use time::{of_bare_time, of_date, of_int96, of_time, of_timestamp};

/// Parses a number or a boolean that is written as text, as in lists of values and other SQL dialects.
fn unquoted(leaf: &Leaf, literal: &Literal) -> Option<Literal> {
    let Literal::Text(text) = literal else { return None };
    let is_number = match (leaf.logical(), leaf.physical()) {
        (Some(LogicalType::Float16 | LogicalType::Decimal { .. } | LogicalType::Integer { .. }), _) => true,
        (Some(_), _) => false,
        (None, PhysicalType::Boolean) => {
            let word = ["false", "true"].iter().position(|word| text.eq_ignore_ascii_case(word));
            return word.map(|word| Literal::Bool(word == 1));
        }
        (None, physical) => matches!(
            physical,
            PhysicalType::Int32 | PhysicalType::Int64 | PhysicalType::Float | PhysicalType::Double
        ),
    };
    Number::parse(text).filter(|_| is_number).map(Literal::Number)
}

/// Returns the place of `literal`, which must not be NULL. Fails if it is of another kind than the column. `bare`
/// returns the meaning of a column of integers without a logical type.
pub(super) fn position(
    leaf: &Leaf,
    literal: &Literal,
    bare: impl FnOnce() -> Option<BareTime>,
) -> Result<Position> {
    let unquoted = unquoted(leaf, literal);
    let literal = unquoted.as_ref().unwrap_or(literal);
    let is_bare = leaf.logical().is_none()
        && matches!(leaf.physical(), PhysicalType::Int32 | PhysicalType::Int64)
        && !matches!(literal, Literal::Number(_));
    if let Some(bare) = is_bare.then(bare).flatten() {
        return of_bare_time(literal, bare, leaf.physical()).map_err(|hint| {
            let message = format!("{literal} is not comparable with {bare}; {hint}");
            Error::argument(message).in_column(leaf.dotted().clone())
        });
    }
    let found = match (leaf.logical(), leaf.physical()) {
        (Some(LogicalType::Date), _) => of_date(literal),
        (Some(LogicalType::Time { unit, .. }), physical) => of_time(literal, *unit, physical),
        (Some(LogicalType::Timestamp { unit, utc }), _) => of_timestamp(literal, *unit, *utc),
        (Some(LogicalType::Uuid), _) => of_uuid(literal),
        (Some(LogicalType::Interval), _) => of_interval(literal),
        (Some(LogicalType::Float16), _) => of_float(literal, SortOrder::TotalFloat16),
        (Some(LogicalType::Decimal { scale, .. }), physical) => of_decimal(literal, *scale, physical),
        (Some(LogicalType::Integer { signed, .. }), physical) => of_integer(literal, physical, *signed),
        (_, PhysicalType::Boolean) => match literal {
            Literal::Bool(value) => Ok(Position::At(vec![u8::from(*value)])),
            _ => Err("compare it with true or false"),
        },
        (_, physical @ (PhysicalType::Int32 | PhysicalType::Int64)) => of_integer(literal, physical, true),
        (_, PhysicalType::Int96) => of_int96(literal),
        (_, PhysicalType::Float) => of_float(literal, SortOrder::TotalFloat),
        (_, PhysicalType::Double) => of_float(literal, SortOrder::TotalDouble),
        (None, PhysicalType::FixedLenByteArray(width)) => of_fixed(literal, width),
        (Some(LogicalType::Geometry { .. } | LogicalType::Geography { .. }), _) => of_geometry(literal),
        (_, PhysicalType::ByteArray | PhysicalType::FixedLenByteArray(_)) => {
            of_bytes(as_shown(leaf, literal).as_ref().unwrap_or(literal))
        }
    };
    found.map_err(|hint| {
        let kind = match leaf.logical() {
            Some(logical) => format!("{} ({logical})", leaf.physical()),
            None => leaf.physical().to_string(),
        };
        Error::argument(format!("{literal} is not comparable with {kind}; {hint}"))
            .in_column(leaf.dotted().clone())
    })
}

fn of_bytes(literal: &Literal) -> Found {
    match literal {
        Literal::Text(text) => Ok(Position::At(text.as_bytes().to_vec())),
        Literal::Bytes(bytes) => Ok(Position::At(bytes.clone())),
        _ => Err("write it in single quotes, bytes as X'0aff'"),
    }
}

/// Returns the bytes of a text that is the printed form of the column's bytes: it has `\xNN` for bytes that are not
/// text, and for a backslash.
pub(super) fn as_shown(leaf: &Leaf, literal: &Literal) -> Option<Literal> {
    let is_shown =
        leaf.physical() == PhysicalType::ByteArray && !leaf.logical().is_some_and(LogicalType::is_text);
    match literal {
        Literal::Text(text) if is_shown => bytes_as_shown(text).map(Literal::Bytes),
        _ => None,
    }
}

/// Replaces `\xNN` in a text by bytes; `None` if it has no backslash, or one with another meaning. Columns of bytes are shown
/// so, and their literals may be written so.
///
/// ```
/// use marquetry_core::predicate::bytes_as_shown;
/// assert_eq!(bytes_as_shown(r"a\x00\xff").as_deref(), Some(&b"a\0\xff"[..]));
/// assert_eq!((bytes_as_shown("a"), bytes_as_shown(r"a\n")), (None, None));
/// ```
pub fn bytes_as_shown(text: &str) -> Option<Vec<u8>> {
    let (first, escapes) = text.split_once('\\')?;
    let mut bytes = first.as_bytes().to_vec();
    for escape in escapes.split('\\') {
        let digits = escape.strip_prefix('x')?.as_bytes();
        let (digits, rest) = digits.split_at_checked(2)?;
        bytes.extend(from_hex(std::str::from_utf8(digits).ok()?)?);
        bytes.extend(rest);
    }
    Some(bytes)
}

/// Places text or bytes in a column of geometries. Invalid geometries are printed as hexadecimal digits.
fn of_geometry(literal: &Literal) -> Found {
    let bytes = match literal {
        Literal::Bytes(bytes) => Some(bytes.clone()),
        Literal::Text(text) => from_hex(text).filter(|bytes| !bytes.is_empty()),
        _ => None,
    };
    bytes
        .map(Position::At)
        .ok_or("a geometry is written 'POINT (1 2)', in well-known text, or X'0101', in well-known binary")
}

/// Places text or bytes. Text may also be hexadecimal digits, the printed form of such bytes, which is twice as long as
/// a value.
fn of_fixed(literal: &Literal, width: usize) -> Found {
    match literal {
        Literal::Text(text) if text.len() == 2 * width && width > 0 => match from_hex(text) {
            Some(bytes) => Ok(Position::At(bytes)),
            None => of_bytes(literal),
        },
        _ => of_bytes(literal),
    }
}

fn of_uuid(literal: &Literal) -> Found {
    let bytes = match literal {
        // Bytes of any length: the column may be one of byte strings in other files of a table.
        Literal::Bytes(bytes) => Some(bytes.clone()),
        Literal::Text(text) => from_hex(&text.replace('-', "")).filter(|bytes| bytes.len() == 16),
        _ => None,
    };
    bytes.map(Position::At).ok_or("a UUID is written '123e4567-e89b-12d3-a456-426614174000'")
}

fn of_interval(literal: &Literal) -> Found {
    let bytes = match literal {
        Literal::Bytes(bytes) => Some(bytes.clone()).filter(|bytes| bytes.len() == 12),
        Literal::Text(text) => interval(text),
        _ => None,
    };
    bytes.map(Position::At).ok_or("an interval is written 'P1M2DT3.500S', in whole milliseconds")
}
