//! Columns of all types, their values, and literals for them, each with what it means.

use crate::data::Random;
use marquetry_base::datetime_text::Moment;
use marquetry_core::predicate::{Literal, Number};
use std::cmp::Ordering;

/// What a value means, however it is stored.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Cell {
    Null,
    Bool(bool),
    /// An integer divided by ten to the second; of dates and times, nanoseconds.
    Exact(i128, u32),
    Float(f64),
    Bytes(Vec<u8>),
}

impl Cell {
    /// As SQL compares; NaN compares with nothing.
    pub(crate) fn compare(&self, other: &Cell) -> Option<Ordering> {
        match (self, other) {
            (Cell::Bool(a), Cell::Bool(b)) => Some(a.cmp(b)),
            (Cell::Exact(a, s), Cell::Exact(b, t)) => {
                let scale = *s.max(t);
                Some((a * 10i128.pow(scale - s)).cmp(&(b * 10i128.pow(scale - t))))
            }
            (Cell::Float(a), Cell::Float(b)) => a.partial_cmp(b),
            (Cell::Bytes(a), Cell::Bytes(b)) => Some(a.cmp(b)),
            other => panic!("{other:?}"),
        }
    }

    /// To sort by: NaN has a place too.
    pub(crate) fn order(&self, other: &Cell) -> Ordering {
        match (self, other) {
            (Cell::Float(a), Cell::Float(b)) => a.total_cmp(b),
            (a, b) => a.compare(b).unwrap_or(Ordering::Equal),
        }
    }
}

/// A type of columns.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Kind {
    Bool,
    /// Bytes, signed, bits of the annotation if any.
    Integer(usize, bool, Option<u8>),
    Date,
    /// Nanoseconds in a unit.
    Time(i128),
    Timestamp(i128, bool),
    Int96,
    /// Bytes of INT32 or INT64, digits after the point.
    DecimalInteger(usize, u32),
    DecimalFixed(usize, u32),
    DecimalBytes(u32),
    F16,
    F32,
    F64,
    Text,
    Binary,
    Fixed(usize),
    Uuid,
}

pub(crate) const KINDS: [Kind; 32] = [
    Kind::Bool,
    Kind::Integer(4, true, None),
    Kind::Integer(8, true, None),
    Kind::Integer(4, true, Some(8)),
    Kind::Integer(4, true, Some(16)),
    Kind::Integer(4, false, Some(8)),
    Kind::Integer(4, false, Some(16)),
    Kind::Integer(4, false, Some(32)),
    Kind::Integer(8, false, Some(64)),
    Kind::Date,
    Kind::Time(1_000_000),
    Kind::Time(1_000),
    Kind::Time(1),
    Kind::Timestamp(1_000_000, true),
    Kind::Timestamp(1_000, false),
    Kind::Timestamp(1, true),
    Kind::Timestamp(1_000_000, false),
    Kind::Int96,
    Kind::DecimalInteger(4, 2),
    Kind::DecimalInteger(8, 0),
    Kind::DecimalInteger(8, 5),
    Kind::DecimalFixed(3, 1),
    Kind::DecimalFixed(13, 4),
    Kind::DecimalFixed(20, 6),
    Kind::DecimalBytes(3),
    Kind::F16,
    Kind::F32,
    Kind::F64,
    Kind::Text,
    Kind::Binary,
    Kind::Fixed(3),
    Kind::Uuid,
];

const DAY: i128 = 86_400_000_000_000;
const JULIAN_DAY_OF_1970: i128 = 2_440_588;

impl Kind {
    /// Its type in the text of a schema, `{}` being the name.
    pub(crate) fn schema(self) -> String {
        let unit = |nanos: i128| match nanos {
            1 => "NANOS",
            1_000 => "MICROS",
            _ => "MILLIS",
        };
        let integer = |bytes: usize| if bytes == 4 { "int32" } else { "int64" };
        match self {
            Kind::Bool => "boolean {}".into(),
            Kind::Integer(bytes, _, None) => format!("{} {{}}", integer(bytes)),
            Kind::Integer(bytes, signed, Some(bits)) => {
                format!("{} {{}} (INTEGER({bits},{signed}))", integer(bytes))
            }
            Kind::Date => "int32 {} (DATE)".into(),
            Kind::Time(1_000_000) => "int32 {} (TIME(MILLIS,true))".into(),
            Kind::Time(nanos) => format!("int64 {{}} (TIME({},false))", unit(nanos)),
            Kind::Timestamp(nanos, utc) => format!("int64 {{}} (TIMESTAMP({},{utc}))", unit(nanos)),
            Kind::Int96 => "int96 {}".into(),
            Kind::DecimalInteger(bytes, scale) => {
                format!("{} {{}} (DECIMAL({},{scale}))", integer(bytes), bytes * 9 / 4)
            }
            Kind::DecimalFixed(width, scale) => {
                format!("fixed_len_byte_array({width}) {{}} (DECIMAL({},{scale}))", width * 2)
            }
            Kind::DecimalBytes(scale) => format!("binary {{}} (DECIMAL(30,{scale}))"),
            Kind::F16 => "fixed_len_byte_array(2) {} (FLOAT16)".into(),
            Kind::F32 => "float {}".into(),
            Kind::F64 => "double {}".into(),
            Kind::Text => "binary {} (STRING)".into(),
            Kind::Binary => "binary {}".into(),
            Kind::Fixed(width) => format!("fixed_len_byte_array({width}) {{}}"),
            Kind::Uuid => "fixed_len_byte_array(16) {} (UUID)".into(),
        }
    }

    pub(crate) fn is_float(self) -> bool {
        matches!(self, Kind::F16 | Kind::F32 | Kind::F64)
    }

    /// Whether values of both compare with each other, and cells do, too.
    pub(crate) fn compares_with(self, other: Kind) -> bool {
        // Nanoseconds of instants; `None` for INT96, which has no zone.
        let instant = |kind: Kind| match kind {
            Kind::Date => Some(Some(false)),
            Kind::Timestamp(_, utc) => Some(Some(utc)),
            Kind::Int96 => Some(None),
            _ => None,
        };
        let is_number = |kind: Kind| {
            let is_decimal =
                matches!(kind, Kind::DecimalInteger(..) | Kind::DecimalFixed(..) | Kind::DecimalBytes(_));
            is_decimal || matches!(kind, Kind::Integer(..))
        };
        match (self, other) {
            (a, b) if is_number(a) && is_number(b) => true,
            (a, b) if a.is_float() && b.is_float() => true,
            (a, b) if a.is_bytes() && b.is_bytes() => true,
            (Kind::Time(_), Kind::Time(_)) => true,
            (a, b) => match (instant(a), instant(b)) {
                (Some(a), Some(b)) => a.is_none() || b.is_none() || a == b,
                _ => a == b,
            },
        }
    }

    pub(crate) fn is_bytes(self) -> bool {
        matches!(self, Kind::Text | Kind::Binary | Kind::Fixed(_) | Kind::Uuid)
    }

    /// A value as it is stored, and what it means. Few different ones for a small `spread`.
    pub(crate) fn value(self, random: &mut Random, spread: usize) -> (Vec<u8>, Cell) {
        let stored = self.stored(random, spread);
        let cell = self.meaning(&stored);
        (stored, cell)
    }

    fn stored(self, random: &mut Random, spread: usize) -> Vec<u8> {
        let small = random.below(2 * spread + 1) as i128 - spread as i128;
        let extreme = random.one_in(12);
        let integer = |min: i128, max: i128, bytes: usize, random: &mut Random| {
            let value = match extreme {
                true => random.pick(&[min, max, min + 1, max - 1, 0]),
                false => small.clamp(min, max),
            };
            value.to_le_bytes()[..bytes].to_vec()
        };
        match self {
            Kind::Bool => vec![u8::from(random.one_in(2))],
            Kind::Integer(bytes, true, bits) => {
                let bits = bits.map_or(bytes * 8, usize::from);
                integer(-(1 << (bits - 1)), (1 << (bits - 1)) - 1, bytes, random)
            }
            Kind::Integer(bytes, false, bits) => {
                let bits = bits.map_or(bytes * 8, usize::from);
                integer(0, (1 << bits) - 1, bytes, random)
            }
            Kind::Date => integer(-700_000, 2_900_000, 4, random),
            Kind::Time(unit) => integer(0, DAY / unit - 1, if unit == 1_000_000 { 4 } else { 8 }, random),
            Kind::Timestamp(..) => integer(i64::MIN.into(), i64::MAX.into(), 8, random),
            Kind::DecimalInteger(bytes, _) => {
                let most = 10i128.pow((bytes * 9 / 4) as u32) - 1;
                integer(-most, most, bytes, random)
            }
            Kind::Int96 => {
                // Days before the first, too, which are times of the far future that wrapped.
                let extreme_day = random.pick(&[1_000_000, -107_000_000]);
                let day = small + if extreme { extreme_day } else { JULIAN_DAY_OF_1970 };
                let nanos = random.below(3) as i64 * 40_000_000_000_000;
                [&nanos.to_le_bytes()[..], &(day as i32).to_le_bytes()].concat()
            }
            Kind::DecimalFixed(width, _) => {
                let most = (1i128 << (width.min(12) * 8 - 1)) - 1;
                let value = if extreme { random.pick(&[-most, most, -most - 1]) } else { small };
                let sign = if value < 0 { 0xff } else { 0 };
                let bytes = value.to_be_bytes();
                let kept = width.min(16);
                [vec![sign; width - kept].as_slice(), &bytes[16 - kept..]].concat()
            }
            Kind::DecimalBytes(_) => {
                let value = if extreme { small * 1_000_000_007 } else { small };
                let bytes = value.to_be_bytes();
                // Sometimes with more bytes than it needs.
                let mut from = random.below(16);
                while i128::from_be_bytes(widened(&bytes[from..])) != value {
                    from -= 1;
                }
                bytes[from..].to_vec()
            }
            Kind::F16 => match extreme {
                true => random
                    .pick(&[0x7c00u16, 0xfc00, 0x7e00, 0xfe01, 0x7bff, 0xfbff, 1, 0x8000, 0])
                    .to_le_bytes()
                    .to_vec(),
                false => {
                    let sign = if small < 0 { 0x8000 } else { 0 };
                    ((0x3c00u16 + small.unsigned_abs() as u16 * 8) | sign).to_le_bytes().to_vec()
                }
            },
            Kind::F32 => match extreme {
                true => random.pick(&FLOATS.map(|float| float as f32)).to_le_bytes().to_vec(),
                false => (small as f32 / 4.0).to_le_bytes().to_vec(),
            },
            Kind::F64 => match extreme {
                true => random.pick(&FLOATS).to_le_bytes().to_vec(),
                false => (small as f64 / 4.0).to_le_bytes().to_vec(),
            },
            Kind::Text => text(random, small).into_bytes(),
            Kind::Binary => match extreme {
                true => vec![0xff; random.below(9)],
                false => text(random, small).into_bytes(),
            },
            Kind::Fixed(width) => (small as u128).to_be_bytes()[16 - width..].to_vec(),
            Kind::Uuid => (small as u128).wrapping_mul(0x1_0000_0001_0000_0001).to_be_bytes().to_vec(),
        }
    }

    /// What a stored value means.
    pub(crate) fn meaning(self, stored: &[u8]) -> Cell {
        let word = |is_signed: bool| {
            let sign = if is_signed && stored.last().is_some_and(|last| last & 0x80 != 0) { 0xff } else { 0 };
            let mut bytes = [sign; 16];
            bytes[..stored.len()].copy_from_slice(stored);
            i128::from_le_bytes(bytes)
        };
        match self {
            Kind::Bool => Cell::Bool(stored[0] != 0),
            Kind::Integer(_, signed, _) => Cell::Exact(word(signed), 0),
            Kind::Date => Cell::Exact(word(true) * DAY, 0),
            Kind::Time(unit) | Kind::Timestamp(unit, _) => Cell::Exact(word(true) * unit, 0),
            Kind::Int96 => {
                let nanos = i64::from_le_bytes(stored[..8].try_into().unwrap());
                let day = i32::from_le_bytes(stored[8..].try_into().unwrap());
                if day < 0 {
                    let micros =
                        (i128::from(day) - JULIAN_DAY_OF_1970) * (DAY / 1000) + i128::from(nanos / 1000);
                    return Cell::Exact(i128::from(micros as i64) * 1000, 0);
                }
                Cell::Exact((i128::from(day) - JULIAN_DAY_OF_1970) * DAY + i128::from(nanos), 0)
            }
            Kind::DecimalInteger(_, scale) => Cell::Exact(word(true), scale),
            Kind::DecimalFixed(_, scale) | Kind::DecimalBytes(scale) => {
                let kept = &stored[stored.len().saturating_sub(16)..];
                Cell::Exact(i128::from_be_bytes(widened(kept)), scale)
            }
            Kind::F16 => Cell::Float(half(u16::from_le_bytes(stored.try_into().unwrap()))),
            Kind::F32 => Cell::Float(f32::from_le_bytes(stored.try_into().unwrap()).into()),
            Kind::F64 => Cell::Float(f64::from_le_bytes(stored.try_into().unwrap())),
            Kind::Text | Kind::Binary | Kind::Fixed(_) | Kind::Uuid => Cell::Bytes(stored.to_vec()),
        }
    }

    /// A literal, often one of the values, and what it means for the column.
    pub(crate) fn literal(self, random: &mut Random, spread: usize) -> (Literal, Cell) {
        let (stored, cell) = self.value(random, spread);
        match (self, &cell) {
            (Kind::Bool, Cell::Bool(value)) => (Literal::Bool(*value), cell),
            (Kind::Date, Cell::Exact(nanos, _)) => {
                let days = (nanos / DAY) as i32;
                match random.below(3) {
                    0 => (Literal::Date(days), cell),
                    1 => (Literal::Text(Literal::Date(days).to_string()[6..16].to_owned()), cell),
                    _ => moment(random, *nanos, false),
                }
            }
            (Kind::Time(_), Cell::Exact(nanos, _)) => {
                let nanos = (nanos + random.below(2) as i128 * 500).min(DAY - 1);
                (Literal::Time(nanos as i64), Cell::Exact(nanos, 0))
            }
            (Kind::Timestamp(..) | Kind::Int96, Cell::Exact(nanos, _)) => {
                let has_offset = self != Kind::Timestamp(1_000, false)
                    && self != Kind::Timestamp(1_000_000, false)
                    && random.one_in(2);
                moment(random, *nanos, has_offset)
            }
            (_, Cell::Exact(unscaled, scale)) => number(random, *unscaled, *scale),
            (_, Cell::Float(value)) => {
                // Numbers that are exact in the type mean themselves.
                let literal = Literal::from(*value);
                (literal, cell)
            }
            (Kind::Uuid, Cell::Bytes(bytes)) => {
                let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
                let text =
                    format!("{}-{}-{}-{}-{}", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]);
                (if random.one_in(2) { Literal::Text(text) } else { Literal::Bytes(stored) }, cell)
            }
            (_, Cell::Bytes(bytes)) => {
                let mut bytes = bytes.clone();
                match random.below(6) {
                    0 => bytes.truncate(random.below(bytes.len() + 1)),
                    1 => bytes.push(random.below(256) as u8),
                    _ => {}
                }
                match String::from_utf8(bytes.clone()) {
                    Ok(text) if self == Kind::Text || random.one_in(2) => {
                        (Literal::Text(text), Cell::Bytes(bytes))
                    }
                    _ => (Literal::Bytes(bytes.clone()), Cell::Bytes(bytes)),
                }
            }
            other => panic!("{other:?}"),
        }
    }
}

/// Near a point in time.
fn moment(random: &mut Random, nanos: i128, has_offset: bool) -> (Literal, Cell) {
    // What a text can say, so that it can be read again.
    let nanos = (nanos + random.pick(&[0, 0, 1, -1, 500_000])).clamp(-700_000 * DAY, 2_900_000 * DAY);
    let moment = Moment {
        seconds: nanos.div_euclid(1_000_000_000) as i64,
        nanos: nanos.rem_euclid(1_000_000_000) as u32,
        digits: 9,
        has_offset,
    };
    (Literal::Timestamp(moment), Cell::Exact(nanos, 0))
}

/// The number, one between it and the next, or one that is far beyond the type.
fn number(random: &mut Random, unscaled: i128, scale: u32) -> (Literal, Cell) {
    let (unscaled, scale) = match random.below(8) {
        0 => (unscaled * 10 + random.pick(&[1, 5, 9, -1, -5]), scale + 1),
        1 => (unscaled * 1_000, scale + 3),
        2 => (random.pick(&[1, -1]) * 10i128.pow(28), scale.min(1)),
        _ => (unscaled, scale),
    };
    let digits = unscaled.unsigned_abs().to_string();
    let number = Number::parse(&format!("{}{digits}e-{scale}", if unscaled < 0 { "-" } else { "" }));
    (Literal::Number(number.unwrap()), Cell::Exact(unscaled, scale))
}

fn text(random: &mut Random, small: i128) -> String {
    let stem = ["", "a", "user-", "a long common beginning ", "é", "user-\u{7f}"][random.below(6)];
    let tail = ["", "x", " and a tail that is long"][random.below(3)];
    format!("{stem}{}{tail}", small.abs())
}

const FLOATS: [f64; 11] =
    [f64::NAN, -f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.0, -0.0, -0.0, 1e300, -1e300, 0.1, 5e-324];

/// Signed, big-endian, in sixteen bytes.
fn widened(bytes: &[u8]) -> [u8; 16] {
    let sign = if bytes.first().is_some_and(|first| first & 0x80 != 0) { 0xff } else { 0 };
    let mut out = [sign; 16];
    out[16 - bytes.len()..].copy_from_slice(bytes);
    out
}

/// The number of a binary16.
pub(crate) fn half(bits: u16) -> f64 {
    let magnitude = match (bits >> 10 & 0x1f, f64::from(bits & 0x3ff)) {
        (31, 0.0) => f64::INFINITY,
        (31, _) => f64::NAN,
        (0, fraction) => fraction / 16_777_216.0,
        (exponent, fraction) => (1024.0 + fraction) * 2f64.powi(i32::from(exponent) - 25),
    };
    if bits & 0x8000 != 0 { -magnitude } else { magnitude }
}
