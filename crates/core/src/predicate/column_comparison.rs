//! Compares two columns, row by row.
//!
//! Numbers compare with numbers of any widths, signs and scales; dates and timestamps as points in time; times as times
//! of day; byte strings by their bytes. A timestamp that is a point in time (UTC) does not compare with one without a
//! zone, nor decimals with floats, because it is undefined which of the two to round.

use super::Comparison;
use super::blocks::{VALUES_PER_BLOCK, of_blocks};
use super::leaf_values::LeafValues;
use super::name::Name;
use super::position::{half_value, is_ordered, nanos_per, order};
use super::wide_integer::{WideInteger, big_endian};
use crate::int96::{self, NANOS_PER_DAY};
use crate::logical_type::LogicalType;
use crate::narrow_integer::NarrowInteger;
use crate::schema::Leaf;
use crate::sort_order::{SortOrder, plain_value};
use marquetry_base::{Error, Result};
use marquetry_encoding::{Bitmap, PhysicalType, Values};
use std::cmp::Ordering;
use std::sync::Arc;

/// A comparison of two columns.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ColumnComparison {
    pub(crate) left: Side,
    pub(crate) right: Side,
    pub(crate) test: PairTest,
    /// Whether rows must fail the test.
    pub(crate) is_negated: bool,
    pub(super) text: Arc<str>,
}

/// A test of two values. Other comparisons are one of these with sides exchanged, or negated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PairTest {
    Eq,
    Lt,
    Le,
    /// Whether the values differ, where null equals only null.
    Distinct,
}

/// One of the two columns.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Side {
    pub(crate) column: usize,
    pub(crate) order: SortOrder,
    narrow: Option<NarrowInteger>,
    kind: Kind,
}

/// The kind of values, by which those of two types compare.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    Bool,
    /// An integer, to be multiplied by this factor.
    Integer(i128),
    /// A big-endian integer, to be multiplied by this factor.
    Decimal(i128),
    /// Either of them, if one side has more digits than fit into 128 bits: the number of zeros to append.
    Wide(u32),
    /// Nanoseconds since 1970.
    Int96,
    Float,
    Bytes,
}

/// A value that compares with those of its kind; integers compare with floats as well.
#[derive(Debug, Clone, Copy)]
enum Key<'a> {
    Integer(i128),
    Wide(WideInteger),
    Float(f64),
    Bytes(&'a [u8]),
}

impl Key<'_> {
    /// Compares two keys; `None` if one is NaN.
    fn compare(&self, other: &Key<'_>) -> Option<Ordering> {
        match (self, other) {
            (Key::Integer(a), Key::Integer(b)) => Some(a.cmp(b)),
            (Key::Wide(a), Key::Wide(b)) => Some(a.cmp(b)),
            (Key::Float(a), Key::Float(b)) => a.partial_cmp(b),
            (Key::Bytes(a), Key::Bytes(b)) => Some(a.cmp(b)),
            (Key::Integer(a), Key::Float(b)) => compare_with_float(*a, *b),
            (Key::Float(a), Key::Integer(b)) => compare_with_float(*b, *a).map(Ordering::reverse),
            _ => None,
        }
    }
}

/// Compares an integer of up to 64 bits with a float, without rounding either.
fn compare_with_float(integer: i128, float: f64) -> Option<Ordering> {
    if float.is_nan() {
        return None;
    }
    // Beyond the range of integers, the cast saturates, and compares as the float would.
    let floor = float.floor() as i128;
    Some(integer.cmp(&floor).then(match float.floor() < float {
        true => Ordering::Less,
        false => Ordering::Equal,
    }))
}

/// What a column's values measure, and in which unit.
#[derive(Debug, PartialEq)]
enum Quantity {
    Bool,
    /// A number with this many digits after the point.
    Number(i32),
    Float,
    /// A point in time: nanoseconds per unit, and whether it is in UTC, if that is known.
    Instant(i128, Option<bool>),
    Time(i128),
    Bytes,
}

fn quantity(leaf: &Leaf) -> Option<Quantity> {
    if !is_ordered(leaf) {
        return None;
    }
    Some(match (leaf.logical(), leaf.physical()) {
        (Some(LogicalType::Date), _) => Quantity::Instant(NANOS_PER_DAY.into(), Some(false)),
        (Some(LogicalType::Timestamp { unit, utc }), _) => Quantity::Instant(nanos_per(*unit), Some(*utc)),
        (Some(LogicalType::Time { unit, .. }), _) => Quantity::Time(nanos_per(*unit)),
        (Some(LogicalType::Decimal { scale, .. }), _) => Quantity::Number(*scale),
        (Some(LogicalType::Float16), _) | (_, PhysicalType::Float | PhysicalType::Double) => Quantity::Float,
        (_, PhysicalType::Boolean) => Quantity::Bool,
        (_, PhysicalType::Int32 | PhysicalType::Int64) => Quantity::Number(0),
        (_, PhysicalType::Int96) => Quantity::Instant(1, None),
        (_, PhysicalType::ByteArray | PhysicalType::FixedLenByteArray(_)) => Quantity::Bytes,
    })
}

/// Maximum decimal digits of numbers in 128 bits; [`MOST_WIDE_DIGITS`] is that in 256 bits.
const MOST_DIGITS: u32 = 38;
const MOST_WIDE_DIGITS: u32 = 76;

/// Returns the maximum number of digits of a column's numbers.
fn digits(leaf: &Leaf) -> u32 {
    match (leaf.logical(), leaf.physical()) {
        (Some(LogicalType::Decimal { precision, .. }), _) => *precision,
        (_, PhysicalType::Int32) => 10,
        _ => 20,
    }
}

/// The factor from a side's unit to the common unit.
#[derive(Debug, Clone, Copy)]
enum Multiplier {
    Number(i128),
    /// A power of ten with this many zeros, for numbers that take 256 bits.
    Zeros(u32),
}

/// Returns the factors of both sides; `None` if the two do not compare.
fn multipliers(left: &Leaf, right: &Leaf) -> Option<(Multiplier, Multiplier)> {
    let numbers = |a, b| (Multiplier::Number(a), Multiplier::Number(b));
    let is_decimal = |leaf: &Leaf| matches!(leaf.logical(), Some(LogicalType::Decimal { .. }));
    Some(match (quantity(left)?, quantity(right)?) {
        (Quantity::Number(a), Quantity::Number(b)) => {
            let scale = a.max(b);
            let more = |own: i32| u32::try_from(scale.checked_sub(own)?).ok();
            let (a, b) = (more(a)?, more(b)?);
            let most = digits(left).checked_add(a)?.max(digits(right).checked_add(b)?);
            if most > MOST_WIDE_DIGITS {
                return None;
            }
            match most > MOST_DIGITS {
                true => (Multiplier::Zeros(a), Multiplier::Zeros(b)),
                false => numbers(10i128.checked_pow(a)?, 10i128.checked_pow(b)?),
            }
        }
        (Quantity::Instant(a, zone), Quantity::Instant(b, other))
            if zone.is_none() || other.is_none() || zone == other =>
        {
            numbers(a, b)
        }
        (Quantity::Time(a), Quantity::Time(b)) => numbers(a, b),
        (Quantity::Number(_), Quantity::Float) if !is_decimal(left) => numbers(1, 1),
        (Quantity::Float, Quantity::Number(_)) if !is_decimal(right) => numbers(1, 1),
        (a, b) if a == b => numbers(1, 1),
        _ => return None,
    })
}

impl Kind {
    /// Returns the kind of values in this order; `None` if they have no order.
    fn of(order: SortOrder, multiplier: i128) -> Option<Kind> {
        Some(match order {
            SortOrder::Bool => Kind::Bool,
            SortOrder::Signed32 | SortOrder::Signed64 | SortOrder::Unsigned32 | SortOrder::Unsigned64 => {
                Kind::Integer(multiplier)
            }
            SortOrder::Decimal => Kind::Decimal(multiplier),
            SortOrder::Int96 => Kind::Int96,
            SortOrder::TotalFloat | SortOrder::TotalDouble | SortOrder::TotalFloat16 => Kind::Float,
            SortOrder::Bytes | SortOrder::FixedLenBytes => Kind::Bytes,
            SortOrder::Float | SortOrder::Double | SortOrder::Float16 | SortOrder::Undefined => return None,
        })
    }
}

impl Side {
    fn new(column: usize, leaf: &Leaf, multiplier: Multiplier) -> Option<Side> {
        let order = order(leaf);
        let kind = match multiplier {
            Multiplier::Number(multiplier) => Kind::of(order, multiplier)?,
            Multiplier::Zeros(zeros) => Kind::Wide(zeros),
        };
        Some(Side { column, order, narrow: NarrowInteger::of(leaf), kind })
    }

    /// Returns the key of a PLAIN value; `None` if its length is not that of the type, or if it has too many digits.
    fn key<'a>(&self, value: &'a [u8]) -> Option<Key<'a>> {
        Some(match self.kind {
            Kind::Bool => Key::Integer(i128::from(*value.first()?)),
            Kind::Integer(multiplier) => Key::Integer(self.integer(value)?.saturating_mul(multiplier)),
            Kind::Decimal(multiplier) => Key::Integer(big_endian(value)?.saturating_mul(multiplier)),
            Kind::Wide(zeros) => {
                let number = match self.order {
                    SortOrder::Decimal => WideInteger::from_big_endian(value)?,
                    _ => self.integer(value)?.into(),
                };
                Key::Wide(number.with_zeros(zeros)?)
            }
            Kind::Int96 => {
                let (days, nanos) = int96::instant(value.try_into().ok()?);
                Key::Integer(i128::from(days) * i128::from(NANOS_PER_DAY) + i128::from(nanos))
            }
            Kind::Float => Key::Float(match self.order {
                SortOrder::TotalFloat => f32::from_le_bytes(value.try_into().ok()?).into(),
                SortOrder::TotalDouble => f64::from_le_bytes(value.try_into().ok()?),
                _ => half_value(u16::from_le_bytes(value.try_into().ok()?)),
            }),
            Kind::Bytes => Key::Bytes(value),
        })
    }

    /// Whether [`integers`](Self::integers) gives the keys of these values.
    fn has_integers(&self, values: &Values) -> bool {
        matches!(self.kind, Kind::Integer(_)) && matches!(values, Values::W32(_) | Values::W64(_))
    }

    /// Fills `keys` with the keys of the values from `start` on. PERF: without a branch on the type for each value.
    fn integers(&self, values: &Values, start: usize, keys: &mut [i128]) {
        let narrowed = |word: u32| self.narrow.map_or(word, |narrow| narrow.value(word));
        match (values, self.order) {
            (Values::W32(words), SortOrder::Signed32) => {
                fill(keys, &words[start..], |word| i128::from(narrowed(word) as i32));
            }
            (Values::W32(words), _) => fill(keys, &words[start..], |word| i128::from(narrowed(word))),
            (Values::W64(words), SortOrder::Signed64) => {
                fill(keys, &words[start..], |word| i128::from(word as i64));
            }
            (Values::W64(words), _) => fill(keys, &words[start..], i128::from),
            _ => {}
        }
        if let Kind::Integer(multiplier) = self.kind
            && multiplier != 1
        {
            keys.iter_mut().for_each(|key| *key = key.saturating_mul(multiplier));
        }
    }

    fn integer(&self, value: &[u8]) -> Option<i128> {
        let word32 = || {
            let word = u32::from_le_bytes(value.try_into().ok()?);
            Some(self.narrow.map_or(word, |narrow| narrow.value(word)))
        };
        Some(match self.order {
            SortOrder::Signed32 => (word32()? as i32).into(),
            SortOrder::Unsigned32 => word32()?.into(),
            SortOrder::Signed64 => i64::from_le_bytes(value.try_into().ok()?).into(),
            _ => u64::from_le_bytes(value.try_into().ok()?).into(),
        })
    }
}

impl ColumnComparison {
    /// Creates the comparison. Fails if the two columns do not compare.
    pub(super) fn new(
        (left, left_leaf): (usize, &Leaf),
        is: Option<Comparison>,
        (right, right_leaf): (usize, &Leaf),
        is_negated: bool,
        text: Arc<str>,
    ) -> Result<Self> {
        let sides = multipliers(left_leaf, right_leaf)
            .and_then(|(a, b)| Some((Side::new(left, left_leaf, a)?, Side::new(right, right_leaf, b)?)));
        let Some((left, right)) = sides else {
            let kind = |leaf: &Leaf| match leaf.logical() {
                Some(logical) => format!("{} ({} {logical})", Name(leaf.dotted()), leaf.physical()),
                None => format!("{} ({})", Name(leaf.dotted()), leaf.physical()),
            };
            let message = format!("{} and {} do not compare", kind(left_leaf), kind(right_leaf));
            return Err(Error::argument(message));
        };
        let (test, is_swapped, is_opposite) = match is {
            Some(Comparison::Eq) => (PairTest::Eq, false, false),
            Some(Comparison::Ne) => (PairTest::Eq, false, true),
            Some(Comparison::Lt) => (PairTest::Lt, false, false),
            Some(Comparison::Le) => (PairTest::Le, false, false),
            Some(Comparison::Gt) => (PairTest::Lt, true, false),
            Some(Comparison::Ge) => (PairTest::Le, true, false),
            None => (PairTest::Distinct, false, false),
        };
        let (left, right) = if is_swapped { (right, left) } else { (left, right) };
        Ok(ColumnComparison { left, right, test, is_negated: is_negated != is_opposite, text })
    }

    /// Compares two PLAIN values; `None` if one is NaN or invalid.
    pub(crate) fn compare(&self, left: &[u8], right: &[u8]) -> Option<Ordering> {
        self.left.key(left)?.compare(&self.right.key(right)?)
    }

    /// Returns the rows for which the comparison is true.
    pub(super) fn evaluate(&self, left: &LeafValues<'_>, right: &LeafValues<'_>) -> Result<Bitmap> {
        let of = |leaf: &LeafValues<'_>| match (leaf.dictionary, leaf.values) {
            (Some(dictionary), Values::W32(keys)) => dictionary.values_at(keys).map(Some),
            _ => Ok(None),
        };
        let (a, b) = (of(left)?, of(right)?);
        let (a, b) = (a.as_ref().unwrap_or(left.values), b.as_ref().unwrap_or(right.values));
        let mut out = self.passes(a, b)?;
        if self.test == PairTest::Distinct {
            self.tell_nulls_apart(&mut out, left.validity, right.validity);
        }
        if self.is_negated {
            out.invert();
        }
        if self.test != PairTest::Distinct {
            for validity in [left.validity, right.validity].into_iter().flatten() {
                out.and(validity);
            }
        }
        Ok(out)
    }

    /// Given whether values differ in `out`, sets the bits of rows with nulls.
    fn tell_nulls_apart(&self, out: &mut Bitmap, left: Option<&Bitmap>, right: Option<&Bitmap>) {
        let is_valid = |validity: Option<&Bitmap>, row: usize| validity.is_none_or(|bits| bits.get(row));
        if left.is_none() && right.is_none() {
            return;
        }
        let bits = (0..out.len()).map(|row| match (is_valid(left, row), is_valid(right, row)) {
            (true, true) => out.get(row),
            (left, right) => left != right,
        });
        *out = bits.collect();
    }

    /// Returns which rows pass the test, ignoring nulls.
    fn passes(&self, left: &Values, right: &Values) -> Result<Bitmap> {
        if left.len() != right.len() {
            let message = format!("{} and {} values of two columns", left.len(), right.len());
            return Err(Error::argument(message));
        }
        // PERF: words of one type compare without a branch, so that the compiler vectorizes the loops.
        let is_plain = self.left.narrow.is_none() && self.right.narrow.is_none();
        if self.left.order == self.right.order && self.left.kind == self.right.kind && is_plain {
            match (left, right, self.left.order) {
                (Values::W32(a), Values::W32(b), SortOrder::Signed32) => {
                    return Ok(self.of_words(a, b, |word| word as i32));
                }
                (Values::W32(a), Values::W32(b), SortOrder::Unsigned32) => {
                    return Ok(self.of_words(a, b, |word| word));
                }
                (Values::W32(a), Values::W32(b), SortOrder::TotalFloat) => {
                    return Ok(self.of_words(a, b, f32::from_bits));
                }
                (Values::W64(a), Values::W64(b), SortOrder::Signed64) => {
                    return Ok(self.of_words(a, b, |word| word as i64));
                }
                (Values::W64(a), Values::W64(b), SortOrder::Unsigned64) => {
                    return Ok(self.of_words(a, b, |word| word));
                }
                (Values::W64(a), Values::W64(b), SortOrder::TotalDouble) => {
                    return Ok(self.of_words(a, b, f64::from_bits));
                }
                _ => {}
            }
        }
        if let (Values::Bytes(a), Values::Bytes(b), Kind::Bytes, Kind::Bytes) =
            (left, right, self.left.kind, self.right.kind)
        {
            return Ok(of_pairs(a.views(), b.views(), |x, y| {
                self.is_passed(Some(a.resolve(&x).cmp(b.resolve(&y))))
            }));
        }
        if self.left.has_integers(left) && self.right.has_integers(right) {
            return Ok(of_blocks(left.len(), |start, block| {
                let (mut a, mut b) = ([0; VALUES_PER_BLOCK], [0; VALUES_PER_BLOCK]);
                let (a, b) = (&mut a[..block.len()], &mut b[..block.len()]);
                self.left.integers(left, start, a);
                self.right.integers(right, start, b);
                for (out, (a, b)) in block.iter_mut().zip(a.iter().zip(b)) {
                    *out = u8::from(self.is_passed(Some((*a).cmp(b))));
                }
            }));
        }
        Ok(of_blocks(left.len(), |start, block| {
            for (i, out) in block.iter_mut().enumerate() {
                let (mut a, mut b) = ([0; 8], [0; 8]);
                let a = plain_value(left, start + i, &mut a);
                let b = plain_value(right, start + i, &mut b);
                *out = u8::from(self.is_passed(self.compare(a, b)));
            }
        }))
    }

    fn of_words<W: Copy, T: PartialOrd>(&self, a: &[W], b: &[W], value: impl Fn(W) -> T) -> Bitmap {
        match self.test {
            PairTest::Eq => of_pairs(a, b, |a, b| value(a) == value(b)),
            PairTest::Lt => of_pairs(a, b, |a, b| value(a) < value(b)),
            PairTest::Le => of_pairs(a, b, |a, b| value(a) <= value(b)),
            PairTest::Distinct => of_pairs(a, b, |a, b| value(a) != value(b)),
        }
    }

    fn is_passed(&self, ordering: Option<Ordering>) -> bool {
        match self.test {
            PairTest::Eq => ordering == Some(Ordering::Equal),
            PairTest::Lt => ordering == Some(Ordering::Less),
            PairTest::Le => matches!(ordering, Some(Ordering::Less | Ordering::Equal)),
            PairTest::Distinct => ordering != Some(Ordering::Equal),
        }
    }
}

fn fill<W: Copy>(keys: &mut [i128], words: &[W], key: impl Fn(W) -> i128) {
    keys.iter_mut().zip(words).for_each(|(out, word)| *out = key(*word));
}

/// Returns a bit for each row.
fn of_pairs<W: Copy>(a: &[W], b: &[W], passes: impl Fn(W, W) -> bool) -> Bitmap {
    of_blocks(a.len(), |start, block| {
        let (a, b) = (&a[start..start + block.len()], &b[start..start + block.len()]);
        block.iter_mut().zip(a.iter().zip(b)).for_each(|(out, (a, b))| *out = u8::from(passes(*a, *b)));
    })
}
