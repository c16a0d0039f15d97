//! ALP (10): floating-point values that are an integer times two powers of ten.
//!
//! ```text
//! value = integer * up * down         up = 10^factor, down = 10^-exponent, rounded after each multiplication
//! ```
//!
//! The caller chooses the powers. The loops follow IEEE 754 arithmetic with one rounding for each operation, so that
//! all levels give the same bits. Fused multiply-add would give other bits, because it rounds only once.

use crate::signatures::{AlpExactness, Kernels};
use crate::unpack::{MAX_WIDTH_IN_REGISTERS, unpack_in_groups};
use std::ops::{Add, BitAnd, Mul, Neg, Range, Sub};

impl Kernels {
    /// `alp_decode_f32` at this level.
    pub fn alp_decode_f32(
        &self,
        source: &[u8],
        width: u32,
        n: usize,
        least: u32,
        powers: [f32; 2],
        out: &mut Vec<u32>,
    ) {
        let apart = |range: Range<usize>, (), out: &mut Vec<u32>| {
            let start = out.len();
            self.unpack_u32(source, width, range.start, range.len(), out);
            scale_f32(&mut out[start..], least, powers);
        };
        match self.alp_decode_f32 {
            // SAFETY: this CPU has the level of the loop, which writes all it is given, see `Kernels`.
            Some(fused) if width > 0 => unsafe {
                let fused = |source: &[u8], (), spare: &mut [_]| fused(source, width, least, powers, spare);
                unpack_in_groups(fused, apart, source, width, 0..n, (), out)
            },
            _ => apart(0..n, (), out),
        }
    }

    /// `alp_decode_f64` at this level.
    pub fn alp_decode_f64(
        &self,
        source: &[u8],
        width: u32,
        n: usize,
        least: u64,
        powers: [f64; 2],
        out: &mut Vec<u64>,
    ) {
        let are_small = are_small(width, least);
        let apart = |range: Range<usize>, (), out: &mut Vec<u64>| {
            let start = out.len();
            self.unpack_u64(source, width, range.start, range.len(), out);
            match are_small {
                true => scale_small_f64(&mut out[start..], least, powers),
                false => scale_f64(&mut out[start..], least, powers),
            }
        };
        match self.alp_decode_f64 {
            // SAFETY: this CPU has the level of the loop, which writes all it is given, see `Kernels`.
            Some(fused) if are_small && (1..=MAX_WIDTH_IN_REGISTERS).contains(&width) => unsafe {
                let fused = |source: &[u8], (), spare: &mut [_]| fused(source, width, least, powers, spare);
                unpack_in_groups(fused, apart, source, width, 0..n, (), out)
            },
            _ => apart(0..n, (), out),
        }
    }

    /// `alp_encode_f32` at this level.
    pub fn alp_encode_f32(
        &self,
        values: &[u32],
        to: [f32; 2],
        back: [f32; 2],
        integers: &mut [u32],
        exact: &mut [u32],
    ) -> AlpExactness {
        // SAFETY: this CPU has the level of this table.
        unsafe { (self.alp_encode_f32)(values, to, back, integers, exact) }
    }

    /// `alp_encode_f64` at this level.
    pub fn alp_encode_f64(
        &self,
        values: &[u64],
        to: [f64; 2],
        back: [f64; 2],
        integers: &mut [u64],
        exact: &mut [u64],
    ) -> AlpExactness {
        // SAFETY: this CPU has the level of this table.
        unsafe { (self.alp_encode_f64)(values, to, back, integers, exact) }
    }
}

/// Whether `least` plus any integer of `width` bits is from -2^51 to 2^51 - 1.
fn are_small(width: u32, least: u64) -> bool {
    let end = 1i64 << 51;
    let least = least.cast_signed();
    width <= 51 && (-end..end).contains(&least) && least + (1 << width) <= end
}

fn scale_f32(words: &mut [u32], least: u32, [up, down]: [f32; 2]) {
    for word in words {
        *word = (word.wrapping_add(least).cast_signed() as f32 * up * down).to_bits();
    }
}

fn scale_f64(words: &mut [u64], least: u64, [up, down]: [f64; 2]) {
    for word in words {
        *word = (word.wrapping_add(least).cast_signed() as f64 * up * down).to_bits();
    }
}

/// PERF: few CPUs convert 64-bit integers to floats with vector instructions. A small integer is instead inserted into
/// the mantissa of a float whose last bit is worth 1. The result is the same.
fn scale_small_f64(words: &mut [u64], least: u64, [up, down]: [f64; 2]) {
    let least = least.wrapping_add(MANTISSA_F64.to_bits());
    for word in words {
        let integer = f64::from_bits(word.wrapping_add(least)) - MANTISSA_F64;
        *word = (integer * up * down).to_bits();
    }
}

/// Bound of the integers of FLOAT: 2^31.
pub(crate) const END_F32: f32 = 2_147_483_648.0;
/// Bound from which on integers of DOUBLE are large: 2^51.
const LARGE_F64: f64 = 2_251_799_813_685_248.0;
/// 1.5 * 2^52: the lowest bit of its sum with a small integer is worth 1.
pub(crate) const MANTISSA_F64: f64 = 6_755_399_441_055_744.0;

/// FLOAT or DOUBLE.
pub(crate) trait Float:
    Copy + PartialOrd + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Neg<Output = Self>
{
    /// An unsigned integer that holds the bits.
    type Word: Copy + PartialEq + BitAnd<Output = Self::Word>;
    const INFINITY: Self;
    const ZERO: Self;
    const ONE: Self;
    /// Whether some integers are too large for [`to_integer`](Self::to_integer), although they fit in the word.
    const HAS_LARGE: bool;
    const TRUE: Self::Word;
    const FALSE: Self::Word;

    fn from_bits(bits: Self::Word) -> Self;
    fn to_bits(self) -> Self::Word;
    fn to_i64(self) -> i64;

    /// Returns the nearest integer, as a float and as a word, and whether it is in range: below 2^31 for FLOAT, 2^51
    /// for DOUBLE. NaN is not in range. The float is never -0.0, which the word cannot distinguish from 0.
    fn to_integer(self) -> (Self, Self::Word, bool);
}

impl Float for f32 {
    type Word = u32;
    const INFINITY: f32 = f32::INFINITY;
    const ZERO: f32 = 0.0;
    const ONE: f32 = 1.0;
    const HAS_LARGE: bool = false;
    const TRUE: u32 = u32::MAX;
    const FALSE: u32 = 0;

    #[inline(always)]
    fn from_bits(bits: u32) -> f32 {
        f32::from_bits(bits)
    }

    #[inline(always)]
    fn to_bits(self) -> u32 {
        f32::to_bits(self)
    }

    #[inline(always)]
    fn to_i64(self) -> i64 {
        self as i64
    }

    /// PERF: rounds by adding 2^23 with the sign of the value, because floats from there on have no fraction. The
    /// conversion is a vector instruction.
    #[inline(always)]
    fn to_integer(self) -> (f32, u32, bool) {
        let magic = 8_388_608f32.copysign(self);
        let rounded = if self.abs() < 8_388_608.0 { self + magic - magic } else { self };
        let in_range = self.abs() < END_F32;
        let integer = if in_range { rounded as i32 } else { 0 };
        (integer as f32, integer.cast_unsigned(), in_range)
    }
}

impl Float for f64 {
    type Word = u64;
    const INFINITY: f64 = f64::INFINITY;
    const ZERO: f64 = 0.0;
    const ONE: f64 = 1.0;
    const HAS_LARGE: bool = true;
    const TRUE: u64 = u64::MAX;
    const FALSE: u64 = 0;

    #[inline(always)]
    fn from_bits(bits: u64) -> f64 {
        f64::from_bits(bits)
    }

    #[inline(always)]
    fn to_bits(self) -> u64 {
        f64::to_bits(self)
    }

    #[inline(always)]
    fn to_i64(self) -> i64 {
        self as i64
    }

    /// PERF: rounds with an addition, and takes the integer out of the mantissa, because few CPUs convert to 64-bit
    /// integers with vector instructions.
    #[inline(always)]
    fn to_integer(self) -> (f64, u64, bool) {
        let moved = self + MANTISSA_F64;
        let integer = moved - MANTISSA_F64;
        let is_small = (integer < LARGE_F64) & (integer > -LARGE_F64);
        (integer, moved.to_bits().wrapping_sub(MANTISSA_F64.to_bits()), is_small)
    }
}

/// The definition, which all levels must follow.
#[inline(always)]
pub(crate) fn alp_encode_scalar<F: Float>(
    values: &[F::Word],
    to: [F; 2],
    back: [F; 2],
    integers: &mut [F::Word],
    exact: &mut [F::Word],
) -> AlpExactness {
    assert!(values.len() == integers.len() && values.len() == exact.len());
    let mut lanes = Lanes::new(to, back);
    let (whole, last) = values.as_chunks::<LANES>();
    let (whole_integers, last_integers) = integers.as_chunks_mut::<LANES>();
    let (whole_exact, last_exact) = exact.as_chunks_mut::<LANES>();
    for ((values, integers), exact) in whole.iter().zip(whole_integers).zip(whole_exact) {
        lanes.take(values, integers, exact);
    }
    for ((value, integer), exact) in last.iter().zip(last_integers).zip(last_exact) {
        lanes.take(std::array::from_ref(value), std::array::from_mut(integer), std::array::from_mut(exact));
    }
    lanes.found()
}

/// Number of lanes. PERF: lanes do not depend on each other and have no branches, so that the compiler vectorizes them.
const LANES: usize = 8;

/// The intermediate results of each lane.
struct Lanes<F: Float> {
    to: [F; 2],
    back: [F; 2],
    least: [F; LANES],
    largest: [F; LANES],
    count: [F; LANES],
    all_small: [F::Word; LANES],
}

impl<F: Float> Lanes<F> {
    #[inline(always)]
    fn new(to: [F; 2], back: [F; 2]) -> Self {
        Lanes {
            to,
            back,
            least: [F::INFINITY; LANES],
            largest: [-F::INFINITY; LANES],
            count: [F::ZERO; LANES],
            all_small: [F::TRUE; LANES],
        }
    }

    /// Processes one value in each of the first `N` lanes.
    #[inline(always)]
    fn take<const N: usize>(
        &mut self,
        values: &[F::Word; N],
        integers: &mut [F::Word; N],
        exact: &mut [F::Word; N],
    ) {
        let mask = |is: bool| if is { F::TRUE } else { F::FALSE };
        for i in 0..N {
            let (integer, word, is_small) = (F::from_bits(values[i]) * self.to[0] * self.to[1]).to_integer();
            let is_small = mask(is_small);
            let comes_back = mask((integer * self.back[0] * self.back[1]).to_bits() == values[i]);
            let is_exact = is_small & comes_back;
            let or = |other: F| if is_exact == F::TRUE { integer } else { other };
            let (low, high) = (or(F::INFINITY), or(-F::INFINITY));
            self.least[i] = if low < self.least[i] { low } else { self.least[i] };
            self.largest[i] = if high > self.largest[i] { high } else { self.largest[i] };
            self.count[i] = self.count[i] + if is_exact == F::TRUE { F::ONE } else { F::ZERO };
            self.all_small[i] = self.all_small[i] & is_small;
            integers[i] = word;
            exact[i] = is_exact;
        }
    }

    #[inline(always)]
    fn found(&self) -> AlpExactness {
        let all = |lanes: &[F; LANES]| lanes.map(F::to_i64);
        AlpExactness {
            count: all(&self.count).iter().sum::<i64>() as usize,
            range: (
                all(&self.least).into_iter().fold(i64::MAX, i64::min),
                all(&self.largest).into_iter().fold(i64::MIN, i64::max),
            ),
            any_large: F::HAS_LARGE && self.all_small.iter().any(|&lane| lane != F::TRUE),
        }
    }
}
