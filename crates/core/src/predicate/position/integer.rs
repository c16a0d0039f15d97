//! Places numbers among integers and decimals exactly, however many digits they have.

use super::place::{Found, Position};
use crate::predicate::literal::{Literal, Number};
use marquetry_encoding::PhysicalType;

/// The range of integers that a physical type holds.
#[derive(Clone, Copy)]
pub(super) struct Integers {
    width: usize,
    min: i128,
    max: i128,
}

impl Integers {
    pub(super) fn signed(physical: PhysicalType) -> Self {
        match physical {
            PhysicalType::Int64 => Integers { width: 8, min: i64::MIN.into(), max: i64::MAX.into() },
            _ => Integers { width: 4, min: i32::MIN.into(), max: i32::MAX.into() },
        }
    }

    fn unsigned(physical: PhysicalType) -> Self {
        let signed = Integers::signed(physical);
        Integers { min: 0, max: signed.max * 2 + 1, ..signed }
    }

    /// Returns the place of `value / per`.
    pub(super) fn place(self, value: i128, per: i128) -> Position {
        self.at(value.div_euclid(per), value.rem_euclid(per) == 0)
    }

    /// Returns the place of an integer, or if not exact, the place between it and the next one.
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

pub(super) fn of_integer(literal: &Literal, physical: PhysicalType, is_signed: bool) -> Found {
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
        // The number has more digits than any integer.
        Err(_) if floor.is_negative => i128::MIN,
        Err(_) => i128::MAX,
    };
    Ok(integers.at(value, floor.is_exact))
}

pub(super) fn of_decimal(literal: &Literal, scale: i32, physical: PhysicalType) -> Found {
    let Literal::Number(number) = literal else { return Err("write a number, without quotes") };
    if matches!(physical, PhysicalType::Int32 | PhysicalType::Int64) {
        return of_scaled(number, scale, Integers::signed(physical));
    }
    Ok(match floor(number, scale)? {
        Ok(floor) if floor.is_exact => Position::At(floor.to_be_bytes()),
        Ok(floor) => Position::After(floor.to_be_bytes()),
        // Byte strings may hold numbers of any size.
        Err(Position::After(_)) => Position::Beyond,
        Err(position) => position,
    })
}

/// The greatest integer, of any size, that is not above a number.
struct Floor {
    is_negative: bool,
    /// The decimal digits.
    magnitude: String,
    /// Whether it equals the number.
    is_exact: bool,
}

/// Returns `number` times ten to the `scale`, if that is an integer of few digits. PERF: most literals are, and lists
/// of them are long.
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

/// Returns the floor of `number` times ten to the `scale`, or the position of a number that is not finite.
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

/// More zeros than any decimal has digits.
const MOST_ZEROS: i64 = 4_000;

impl Floor {
    /// Returns two's complement, big-endian, in as few bytes as possible, at least one.
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
        // Drop bytes that only repeat the sign.
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
