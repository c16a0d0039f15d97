//! Where a literal stands among the values of a column.

use super::bare_time::BareTime;
use super::interval_text::interval;
use super::literal::{Literal, Number};
use super::literal_text::{odd_time, timestamp};
use crate::int96::{self, JULIAN_DAY_OF_1970, NANOS_PER_DAY};
use crate::logical_type::{LogicalType, TimeUnit};
use crate::schema::Leaf;
use crate::sort_order::SortOrder;
use marquetry_base::datetime_text::{Moment, duration, time_of_day};
use marquetry_base::{Error, Result, from_hex};
use marquetry_encoding::PhysicalType;
use std::cmp::Ordering;

/// A place among the values that a column can have, which are PLAIN here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Position {
    /// Nowhere: NaN.
    Nan,
    /// Before all values.
    Before,
    /// At this value.
    At(Vec<u8>),
    /// After this value and before the next.
    After(Vec<u8>),
    /// After all values, of which none is the last.
    Beyond,
}

/// The order in which values of a column are compared with literals. Floats are in total order, so that each value has
/// its place.
pub(super) fn order(leaf: &Leaf) -> SortOrder {
    match (SortOrder::of(leaf), leaf.physical()) {
        (SortOrder::Undefined, PhysicalType::Boolean) => SortOrder::Bool,
        (SortOrder::Undefined, PhysicalType::Int32) => SortOrder::Signed32,
        (SortOrder::Undefined, PhysicalType::Int64) => SortOrder::Signed64,
        (SortOrder::Undefined, PhysicalType::Int96) => SortOrder::Int96,
        (SortOrder::Undefined, PhysicalType::Float) => SortOrder::TotalFloat,
        (SortOrder::Undefined, PhysicalType::Double) => SortOrder::TotalDouble,
        (SortOrder::Undefined, PhysicalType::ByteArray) => SortOrder::Bytes,
        (SortOrder::Undefined, PhysicalType::FixedLenByteArray(_)) => SortOrder::FixedLenBytes,
        (order, _) => order.total(),
    }
}

/// Whether there is a less and a greater among the values: not of intervals and geometries.
pub(super) fn is_ordered(leaf: &Leaf) -> bool {
    !matches!(
        leaf.logical(),
        Some(LogicalType::Interval | LogicalType::Geometry { .. } | LogicalType::Geography { .. })
    )
}

/// A number or a boolean that is written as text, as lists of values and other SQL have them.
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

/// Where `literal`, which is not NULL, stands. Fails if it is of another kind than the column. `bare` says what the column counts if it
/// has integers of which the schema says nothing.
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

type Found = Result<Position, &'static str>;

fn of_bytes(literal: &Literal) -> Found {
    match literal {
        Literal::Text(text) => Ok(Position::At(text.as_bytes().to_vec())),
        Literal::Bytes(bytes) => Ok(Position::At(bytes.clone())),
        _ => Err("write it in single quotes, bytes as X'0aff'"),
    }
}

/// The bytes of a text, where it is what those of the column are shown as: with `\xNN` for those that are no text, and for a backslash.
pub(super) fn as_shown(leaf: &Leaf, literal: &Literal) -> Option<Literal> {
    let is_shown =
        leaf.physical() == PhysicalType::ByteArray && !leaf.logical().is_some_and(LogicalType::is_text);
    match literal {
        Literal::Text(text) if is_shown => unescaped(text).map(Literal::Bytes),
        _ => None,
    }
}

/// The bytes of a text where `\xNN` stands for one; `None` if it has no backslash, or one that means something else.
fn unescaped(text: &str) -> Option<Vec<u8>> {
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

/// What is no geometry is shown as digits.
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

/// Text may also be the digits that such bytes are shown as, twice as long as any value.
fn of_fixed(literal: &Literal, width: usize) -> Found {
    match literal {
        Literal::Text(text) if text.len() == 2 * width && width > 0 => match from_hex(text) {
            Some(bytes) => Ok(Position::At(bytes)),
            None => of_bytes(literal),
        },
        _ => of_bytes(literal),
    }
}

fn of_bare_time(literal: &Literal, bare: BareTime, physical: PhysicalType) -> Found {
    let (nanos, unit) = match bare {
        BareTime::TimeOfDay { unit } => (of_day(literal)?, unit),
        BareTime::Timestamp { unit, utc } => (instant(literal, utc)?, unit),
        BareTime::Duration { unit } => {
            let Literal::Text(text) = literal else { return Err(DURATION) };
            (duration(text).ok_or(DURATION)?, unit)
        }
    };
    Ok(Integers::signed(physical).place(nanos, unit.into()))
}

const DURATION: &str = "a duration is written 'PT1.500S' or 'P2DT30M', or as the number that is stored";

fn of_uuid(literal: &Literal) -> Found {
    let bytes = match literal {
        // Of any length: the column may be one of byte strings in other files of a table.
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

fn of_date(literal: &Literal) -> Found {
    const HINT: &str = "a date is written '2024-01-31', and has no zone";
    let moment = match literal {
        Literal::Date(days) => Moment::midnight(*days),
        Literal::Timestamp(moment) => *moment,
        Literal::Text(text) => timestamp(text).ok_or(HINT)?,
        _ => return Err(HINT),
    };
    if moment.has_offset {
        return Err(HINT);
    }
    Ok(Integers::signed(PhysicalType::Int32).place(moment.total_nanos(), NANOS_PER_DAY.into()))
}

fn of_time(literal: &Literal, unit: TimeUnit, physical: PhysicalType) -> Found {
    Ok(Integers::signed(physical).place(of_day(literal)?, nanos_per(unit)))
}

/// Nanoseconds since midnight.
fn of_day(literal: &Literal) -> Result<i128, &'static str> {
    let nanos = match literal {
        Literal::Time(nanos) => Some(*nanos),
        Literal::Text(text) => time_of_day(text).map(|(nanos, _)| nanos).or_else(|| odd_time(text)),
        _ => None,
    };
    nanos.map(i128::from).ok_or("a time is written '10:30:00.5'")
}

fn of_timestamp(literal: &Literal, unit: TimeUnit, utc: bool) -> Found {
    Ok(Integers::signed(PhysicalType::Int64).place(instant(literal, utc)?, nanos_per(unit)))
}

/// Nanoseconds since 1970.
fn instant(literal: &Literal, utc: bool) -> Result<i128, &'static str> {
    let moment = moment_of(literal)?;
    if moment.has_offset && !utc {
        return Err("its timestamps are without a zone, and so must the literal be");
    }
    Ok(moment.total_nanos())
}

/// A literal without an offset is taken as UTC.
fn moment_of(literal: &Literal) -> Result<Moment, &'static str> {
    let found = match literal {
        Literal::Timestamp(moment) => Some(*moment),
        Literal::Date(days) => Some(Moment::midnight(*days)),
        Literal::Text(text) => timestamp(text),
        _ => None,
    };
    found.ok_or("a timestamp is written '2024-01-31 10:30:00.5', with Z or an offset as +02:00")
}

/// SPEC: INT96 is the nanoseconds of the day, then the Julian day.
fn of_int96(literal: &Literal) -> Found {
    let moment = moment_of(literal)?;
    let day = moment.seconds.div_euclid(86_400) + i64::from(JULIAN_DAY_OF_1970);
    let nanos = moment.seconds.rem_euclid(86_400) * 1_000_000_000 + i64::from(moment.nanos);
    let day = i32::try_from(day).map_err(|_| "the year is out of range")?;
    Ok(Position::At(int96::to_bytes(day, nanos).to_vec()))
}

pub(super) fn nanos_per(unit: TimeUnit) -> i128 {
    match unit {
        TimeUnit::Millis => 1_000_000,
        TimeUnit::Micros => 1_000,
        TimeUnit::Nanos => 1,
    }
}

/// The integers that a physical type holds.
#[derive(Clone, Copy)]
struct Integers {
    width: usize,
    min: i128,
    max: i128,
}

impl Integers {
    fn signed(physical: PhysicalType) -> Self {
        match physical {
            PhysicalType::Int64 => Integers { width: 8, min: i64::MIN.into(), max: i64::MAX.into() },
            _ => Integers { width: 4, min: i32::MIN.into(), max: i32::MAX.into() },
        }
    }

    fn unsigned(physical: PhysicalType) -> Self {
        let signed = Integers::signed(physical);
        Integers { min: 0, max: signed.max * 2 + 1, ..signed }
    }

    /// Where `value / per` stands.
    fn place(self, value: i128, per: i128) -> Position {
        self.at(value.div_euclid(per), value.rem_euclid(per) == 0)
    }

    /// Where an integer stands, or what is between it and the next.
    fn at(self, floor: i128, is_exact: bool) -> Position {
        match floor {
            floor if floor < self.min => Position::Before,
            floor if floor > self.max => Position::After(self.plain(self.max)),
            floor if is_exact => Position::At(self.plain(floor)),
            floor => Position::After(self.plain(floor)),
        }
    }

    fn plain(self, value: i128) -> Vec<u8> {
        value.to_le_bytes()[..self.width].to_vec()
    }
}

fn of_integer(literal: &Literal, physical: PhysicalType, is_signed: bool) -> Found {
    let Literal::Number(number) = literal else { return Err("write a number, without quotes") };
    let integers = if is_signed { Integers::signed(physical) } else { Integers::unsigned(physical) };
    of_scaled(number, 0, integers)
}

fn of_scaled(number: &Number, scale: i32, integers: Integers) -> Found {
    if let Some(value) = small(number, scale) {
        return Ok(integers.at(value, true));
    }
    let floor = match floor(number, scale)? {
        Ok(floor) => floor,
        Err(Position::After(_)) => return Ok(Position::After(integers.plain(integers.max))),
        Err(position) => return Ok(position),
    };
    let value = match floor.magnitude.parse::<i128>() {
        Ok(magnitude) if floor.is_negative => -magnitude,
        Ok(magnitude) => magnitude,
        // More digits than any integer has.
        Err(_) if floor.is_negative => i128::MIN,
        Err(_) => i128::MAX,
    };
    Ok(integers.at(value, floor.is_exact))
}

fn of_decimal(literal: &Literal, scale: i32, physical: PhysicalType) -> Found {
    let Literal::Number(number) = literal else { return Err("write a number, without quotes") };
    if matches!(physical, PhysicalType::Int32 | PhysicalType::Int64) {
        return of_scaled(number, scale, Integers::signed(physical));
    }
    Ok(match floor(number, scale)? {
        Ok(floor) if floor.is_exact => Position::At(floor.to_be_bytes()),
        Ok(floor) => Position::After(floor.to_be_bytes()),
        // Byte strings hold numbers of any size.
        Err(Position::After(_)) => Position::Beyond,
        Err(position) => position,
    })
}

/// An integer, of any size, that is not above a number, and the next one is.
struct Floor {
    is_negative: bool,
    /// Decimal digits.
    magnitude: String,
    /// Whether it is the number.
    is_exact: bool,
}

/// `number` times ten to the `scale`, if that is an integer of few digits. PERF: most literals are, and lists of them are long.
fn small(number: &Number, scale: i32) -> Option<i128> {
    let Number::Finite { is_negative, digits, scale: own } = number else { return None };
    let shift = scale.checked_sub(*own).filter(|shift| (0..=18).contains(shift))?;
    if digits.len() > 18 {
        return None;
    }
    let magnitude = digits.bytes().fold(0i128, |value, digit| value * 10 + i128::from(digit - b'0'));
    let value = magnitude * 10i128.pow(shift as u32);
    Some(if *is_negative { -value } else { value })
}

/// The integer below `number` times ten to the `scale`; what is not finite stands elsewhere.
fn floor(number: &Number, scale: i32) -> Result<Result<Floor, Position>, &'static str> {
    let (is_negative, digits, own) = match number {
        Number::Nan => return Ok(Err(Position::Nan)),
        Number::Infinite { is_negative: true } => return Ok(Err(Position::Before)),
        Number::Infinite { is_negative: false } => return Ok(Err(Position::After(Vec::new()))),
        Number::Finite { is_negative, digits, scale } => (*is_negative, digits, *scale),
    };
    if digits.is_empty() {
        return Ok(Ok(Floor { is_negative: false, magnitude: "0".to_owned(), is_exact: true }));
    }
    let shift = i64::from(scale) - i64::from(own);
    // A schema may claim any scale.
    if shift > MOST_ZEROS {
        return Err("the scale of the column is out of range");
    }
    let Ok(dropped) = usize::try_from(-shift) else {
        let magnitude = format!("{digits}{}", "0".repeat(shift as usize));
        return Ok(Ok(Floor { is_negative, magnitude, is_exact: true }));
    };
    let (kept, rest) = digits.split_at(digits.len().saturating_sub(dropped));
    let is_exact = rest.bytes().all(|digit| digit == b'0');
    let mut magnitude = format!("0{kept}").into_bytes();
    if is_negative && !is_exact {
        // The floor of -1.5 is -2.
        let last = magnitude.iter().rposition(|digit| *digit != b'9').unwrap_or(0);
        magnitude[last] += 1;
        magnitude[last + 1..].fill(b'0');
    }
    let magnitude = magnitude.iter().map(|digit| char::from(*digit)).collect();
    Ok(Ok(Floor { is_negative, magnitude, is_exact }))
}

/// More than any decimal has digits.
const MOST_ZEROS: i64 = 4_000;

impl Floor {
    /// Two's complement, big-endian, in as many bytes as it needs, at least one.
    fn to_be_bytes(&self) -> Vec<u8> {
        // Least significant first.
        let mut bytes = vec![0u8];
        for digit in self.magnitude.bytes() {
            let mut carry = u32::from(digit - b'0');
            for byte in &mut bytes {
                carry += u32::from(*byte) * 10;
                *byte = carry as u8;
                carry >>= 8;
            }
            if carry > 0 {
                bytes.push(carry as u8);
            }
        }
        bytes.push(0);
        if self.is_negative {
            let mut carry = true;
            for byte in &mut bytes {
                (*byte, carry) = (!*byte).overflowing_add(u8::from(carry));
            }
        }
        // What only repeats the sign is not needed.
        while let [.., below, last] = bytes[..]
            && (last == 0 || last == 0xff)
            && (last ^ below) & 0x80 == 0
        {
            bytes.pop();
        }
        bytes.reverse();
        bytes
    }
}

/// The nearest value, as if the literal were stored.
fn of_float(literal: &Literal, order: SortOrder) -> Found {
    let Literal::Number(number) = literal else { return Err("write a number, without quotes") };
    let text = number.to_string();
    let is_finite = matches!(number, Number::Finite { .. });
    let is_nan = *number == Number::Nan;
    const HINT: &str = "write a number";
    let (plain, max, is_infinite) = match order {
        SortOrder::TotalFloat => {
            let value: f32 = text.parse().map_err(|_| HINT)?;
            let max = f32::MAX.copysign(value).to_le_bytes().to_vec();
            (value.to_le_bytes().to_vec(), max, value.is_infinite())
        }
        SortOrder::TotalDouble => {
            let value: f64 = text.parse().map_err(|_| HINT)?;
            let max = f64::MAX.copysign(value).to_le_bytes().to_vec();
            (value.to_le_bytes().to_vec(), max, value.is_infinite())
        }
        _ => {
            let bits = half_of(number, text.parse().map_err(|_| HINT)?);
            let max = HALF_MAX | bits & 0x8000;
            (bits.to_le_bytes().to_vec(), max.to_le_bytes().to_vec(), bits & 0x7fff == HALF_INFINITY)
        }
    };
    Ok(match is_infinite && is_finite {
        _ if is_nan => Position::Nan,
        false => Position::At(plain),
        // Beyond all numbers, and yet not infinite.
        true if text.starts_with('-') => Position::After(plain),
        true => Position::After(max),
    })
}

const HALF_INFINITY: u16 = 0x7c00;
const HALF_MAX: u16 = 0x7bff;

/// The binary16 nearest to `number`, of which `value` is the nearest double; of two that are as near, the one whose last
/// bit is 0.
fn half_of(number: &Number, value: f64) -> u16 {
    let sign = if value.is_sign_negative() { 0x8000 } else { 0 };
    let magnitude = value.abs();
    // The bits of halves are in the order of their numbers: the greatest that is not above.
    let (mut low, mut high) = (0, HALF_INFINITY);
    while low < high {
        let middle = low + (high - low).div_ceil(2);
        if half_value(middle) <= magnitude { low = middle } else { high = middle - 1 }
    }
    let above = low + 1;
    // What would be the number after the greatest decides what is infinite.
    let next = if above == HALF_INFINITY { 65_536.0 } else { half_value(above) };
    let is_above = low < HALF_INFINITY
        && match (magnitude - half_value(low)).total_cmp(&(next - magnitude)) {
            Ordering::Less => false,
            Ordering::Greater => true,
            // The double may be in the middle where the number is not: it was rounded.
            Ordering::Equal => match number.compare(&Number::exactly(value)) {
                Some(Ordering::Less) => value.is_sign_negative(),
                Some(Ordering::Greater) => !value.is_sign_negative(),
                _ => low & 1 == 1,
            },
        };
    sign | if is_above { above } else { low }
}

/// The number of a binary16.
pub(super) fn half_value(bits: u16) -> f64 {
    let (exponent, fraction) = (i32::from(bits >> 10 & 0x1f), f64::from(bits & 0x3ff));
    let magnitude = match exponent {
        0 => fraction * 2f64.powi(-24),
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        exponent => (1024.0 + fraction) * 2f64.powi(exponent - 25),
    };
    if bits & 0x8000 != 0 { -magnitude } else { magnitude }
}
