//! The arithmetic of ALP: integers to floating-point values and back.

use marquetry_kernels as kernels;
use std::fmt;

/// How a vector's values become integers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Scale {
    pub(super) exponent: u8,
    /// At most the exponent.
    pub(super) factor: u8,
}

/// The bits of a FLOAT or a DOUBLE, or of the integer that it is stored as.
pub(super) trait Word: Copy + PartialEq + fmt::Debug {
    /// Bytes.
    const LEN: usize;
    const MAX_EXPONENT: u8;
    /// The exponent in which most decimals come back exactly.
    const USUAL_EXPONENT: u8;
    /// What [`to_integers`](Word::to_integers) says of a value.
    const EXACT: Self;
    const UNKNOWN: Self;

    /// The word in exactly [`LEN`](Word::LEN) bytes.
    fn from_le(bytes: &[u8]) -> Self;

    /// Appends the words at these places.
    fn write_at(words: &[Self], places: &[u16], out: &mut Vec<u8>);

    /// Appends `n` packed integers.
    fn unpack(packed: &[u8], width: u32, n: usize, out: &mut Vec<Self>);

    /// Turns integers, stored as what they are over `least`, into the bits of values.
    fn scale(words: &mut [Self], scale: Scale, least: u64);

    /// The integer that [`scale`](Word::scale) turns into exactly these bits, if one is found.
    fn to_integer(self, scale: Scale) -> Option<i64>;

    /// [`to_integer`](Word::to_integer) of many values, and for each whether it is one. Of large integers that is not found
    /// out here; whether there are any, or any that are no numbers, is the result.
    fn to_integers(values: &[Self], scale: Scale, integers: &mut [i64], exact: &mut [Self]) -> bool;
}

impl Word for u32 {
    const LEN: usize = 4;
    const MAX_EXPONENT: u8 = 10;
    const USUAL_EXPONENT: u8 = 6;
    const EXACT: u32 = u32::MAX;
    const UNKNOWN: u32 = 0;

    fn from_le(bytes: &[u8]) -> Self {
        bytes.try_into().map_or(0, u32::from_le_bytes)
    }

    fn write_at(words: &[u32], places: &[u16], out: &mut Vec<u8>) {
        let start = out.len();
        out.resize(start + 4 * places.len(), 0);
        for (slot, &place) in out[start..].as_chunks_mut().0.iter_mut().zip(places) {
            *slot = words[usize::from(place)].to_le_bytes();
        }
    }

    fn unpack(packed: &[u8], width: u32, n: usize, out: &mut Vec<u32>) {
        kernels::unpack_u32(packed, width, 0, n, out);
    }

    fn scale(words: &mut [u32], scale: Scale, least: u64) {
        let (up, down) = powers(&FLOAT_POWERS, scale);
        let least = least as u32;
        for word in words {
            // SPEC: two multiplications in this order. The sum wraps.
            *word = (word.wrapping_add(least) as i32 as f32 * up * down).to_bits();
        }
    }

    #[inline]
    fn to_integer(self, scale: Scale) -> Option<i64> {
        let (up, down) = powers(&FLOAT_POWERS, scale);
        let scaled = f32::from_bits(self)
            * FLOAT_POWERS.up[usize::from(scale.exponent)]
            * FLOAT_POWERS.down[usize::from(scale.factor)];
        let magic = FLOAT_MAGIC.copysign(scaled);
        let integer = (scaled + magic - magic) as i32;
        // Also false for NaN, infinities, -0.0 and what is out of range.
        ((integer as f32 * up * down).to_bits() == self).then_some(i64::from(integer))
    }

    fn to_integers(values: &[u32], scale: Scale, integers: &mut [i64], exact: &mut [u32]) -> bool {
        let mut all_near = u32::MAX;
        let (up, down) = powers(&FLOAT_POWERS, scale);
        let (there, back) =
            (FLOAT_POWERS.up[usize::from(scale.exponent)], FLOAT_POWERS.down[usize::from(scale.factor)]);
        for ((&value, integer), exact) in values.iter().zip(integers).zip(exact) {
            // PERF: rounded, and taken out of the mantissa, by an addition, as `scale` puts it in: no conversion.
            let moved = f32::from_bits(value) * there * back + FLOAT_MANTISSA;
            let rounded = moved - FLOAT_MANTISSA;
            // PERF: masks, which vectors have. NaN is not near.
            let near = if rounded.abs() < FLOAT_LIMIT { u32::MAX } else { 0 };
            let same = if (rounded * up * down).to_bits() == value { u32::MAX } else { 0 };
            all_near &= near;
            *integer = i64::from(moved.to_bits().wrapping_sub(FLOAT_MANTISSA.to_bits()) as i32);
            *exact = near & same;
        }
        all_near != u32::MAX
    }
}

impl Word for u64 {
    const LEN: usize = 8;
    const MAX_EXPONENT: u8 = 18;
    const USUAL_EXPONENT: u8 = 14;
    const EXACT: u64 = u64::MAX;
    const UNKNOWN: u64 = 0;

    fn from_le(bytes: &[u8]) -> Self {
        bytes.try_into().map_or(0, u64::from_le_bytes)
    }

    fn write_at(words: &[u64], places: &[u16], out: &mut Vec<u8>) {
        let start = out.len();
        out.resize(start + 8 * places.len(), 0);
        for (slot, &place) in out[start..].as_chunks_mut().0.iter_mut().zip(places) {
            *slot = words[usize::from(place)].to_le_bytes();
        }
    }

    fn unpack(packed: &[u8], width: u32, n: usize, out: &mut Vec<u64>) {
        kernels::unpack_u64(packed, width, 0, n, out);
    }

    fn scale(words: &mut [u64], scale: Scale, least: u64) {
        let (up, down) = powers(&DOUBLE_POWERS, scale);
        let bias = least.wrapping_add(1 << 51);
        if words.iter().fold(0, |seen, word| seen | word.wrapping_add(bias)) >> 52 == 0 {
            // PERF: few CPUs turn 64-bit integers into floats by vectors. Those of 52 bits are put in by hand, as the
            // mantissa of a float whose last bit is worth 1. The result is the same.
            let least = least.wrapping_add(MANTISSA.to_bits());
            for word in words {
                let integer = f64::from_bits(word.wrapping_add(least)) - MANTISSA;
                *word = (integer * up * down).to_bits();
            }
            return;
        }
        for word in words {
            // SPEC: two multiplications in this order. The sum wraps.
            *word = (word.wrapping_add(least) as i64 as f64 * up * down).to_bits();
        }
    }

    #[inline]
    fn to_integer(self, scale: Scale) -> Option<i64> {
        let (up, down) = powers(&DOUBLE_POWERS, scale);
        let scaled = f64::from_bits(self)
            * DOUBLE_POWERS.up[usize::from(scale.exponent)]
            * DOUBLE_POWERS.down[usize::from(scale.factor)];
        let magic = DOUBLE_MAGIC.copysign(scaled);
        let integer = (scaled + magic - magic) as i64;
        // Also false for NaN, infinities, -0.0 and what is out of range.
        ((integer as f64 * up * down).to_bits() == self).then_some(integer)
    }

    fn to_integers(values: &[u64], scale: Scale, integers: &mut [i64], exact: &mut [u64]) -> bool {
        let mut all_near = u64::MAX;
        let (up, down) = powers(&DOUBLE_POWERS, scale);
        let (there, back) =
            (DOUBLE_POWERS.up[usize::from(scale.exponent)], DOUBLE_POWERS.down[usize::from(scale.factor)]);
        for ((&value, integer), exact) in values.iter().zip(integers).zip(exact) {
            // PERF: rounded, and taken out of the mantissa, by an addition, as `scale` puts it in: no conversion.
            let moved = f64::from_bits(value) * there * back + MANTISSA;
            let rounded = moved - MANTISSA;
            // PERF: masks, which vectors have. NaN is not near.
            let near = if rounded.abs() < LIMIT { u64::MAX } else { 0 };
            let same = if (rounded * up * down).to_bits() == value { u64::MAX } else { 0 };
            all_near &= near;
            *integer = moved.to_bits().wrapping_sub(MANTISSA.to_bits()) as i64;
            *exact = near & same;
        }
        all_near != u64::MAX
    }
}

/// 10^i and 10^-i.
///
/// SPEC: these must be the literals, correctly rounded by the compiler; computed powers differ in the last bit.
struct Powers<F, const N: usize> {
    up: [F; N],
    down: [F; N],
}

/// The two factors of decoding.
#[inline]
fn powers<F: Copy, const N: usize>(powers: &Powers<F, N>, scale: Scale) -> (F, F) {
    (powers.up[usize::from(scale.factor)], powers.down[usize::from(scale.exponent)])
}

static FLOAT_POWERS: Powers<f32, 11> = Powers {
    up: [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10],
    down: [1e-0, 1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10],
};
static DOUBLE_POWERS: Powers<f64, 19> = Powers {
    up: [
        1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17,
        1e18,
    ],
    down: [
        1e-0, 1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-11, 1e-12, 1e-13, 1e-14, 1e-15,
        1e-16, 1e-17, 1e-18,
    ],
};
/// 2^23: from here on a float has no fraction, so that adding and subtracting it rounds.
const FLOAT_MAGIC: f32 = 8_388_608.0;
/// 2^52, likewise.
const DOUBLE_MAGIC: f64 = 4_503_599_627_370_496.0;
/// 1.5 * 2^52: with an integer of -2^51 to 2^51 - 1 added, a float's lowest bit is worth 1.
const MANTISSA: f64 = 6_755_399_441_055_744.0;
/// 1.5 * 2^23, likewise.
const FLOAT_MANTISSA: f32 = 12_582_912.0;
/// 2^51 and 2^22: integers below them can be added to these.
const LIMIT: f64 = 2_251_799_813_685_248.0;
const FLOAT_LIMIT: f32 = 4_194_304.0;
