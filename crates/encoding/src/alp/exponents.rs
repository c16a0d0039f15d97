//! The arithmetic of ALP: integers to floating-point values and back.

use marquetry_kernels::{self as kernels, AlpExactness};
use std::fmt;

/// How the values of a vector become integers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Exponents {
    pub(super) exponent: u8,
    /// At most `exponent`.
    pub(super) factor: u8,
}

/// The bits of a FLOAT or a DOUBLE, or of the integer that it is stored as.
pub(super) trait Word: Copy + PartialEq + fmt::Debug {
    /// Number of bytes.
    const LEN: usize;
    const MAX_EXPONENT: u8;
    /// Number of pairs of exponent and factor that remain after the probe of a few values and are tried on more. FLOAT
    /// has many pairs that are nearly as good as the best.
    const PROBE_WINNERS: usize;
    /// The exponent with which most decimals are reproduced exactly.
    const USUAL_EXPONENT: u8;
    const ZERO: Self;

    /// Reads a word from exactly [`LEN`](Word::LEN) bytes.
    fn from_le(bytes: &[u8]) -> Self;

    /// Appends the words at `places`.
    fn write_at(words: &[Self], places: &[u16], out: &mut Vec<u8>);

    /// Unpacks `n` integers, adds `least` to each, and appends the values that they stand for.
    fn unpack(packed: &[u8], width: u32, n: usize, exponents: Exponents, least: u64, out: &mut Vec<Self>);

    /// Subtracts `least` from each integer, in place, and packs the differences.
    fn pack(integers: &mut [Self], least: i64, width: u32, out: &mut Vec<u8>);

    /// Returns the integer that [`unpack`](Word::unpack) turns into exactly these bits, if one is found.
    fn to_integer(self, exponents: Exponents) -> Option<Self>;

    /// [`to_integer`](Word::to_integer) for many values. `exact` is 0 for values without an integer. Large integers of
    /// DOUBLE are not checked here.
    fn to_integers(
        values: &[Self],
        exponents: Exponents,
        integers: &mut [Self],
        exact: &mut [Self],
    ) -> AlpExactness;

    /// The least and the largest of `integers`.
    fn range(integers: &[Self]) -> Option<(i64, i64)>;
}

impl Word for u32 {
    const LEN: usize = 4;
    const MAX_EXPONENT: u8 = 10;
    const PROBE_WINNERS: usize = 8;
    const USUAL_EXPONENT: u8 = 6;
    const ZERO: u32 = 0;

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

    fn unpack(packed: &[u8], width: u32, n: usize, exponents: Exponents, least: u64, out: &mut Vec<u32>) {
        kernels::alp_decode_f32(packed, width, n, least as u32, FLOAT_POWERS.to_values(exponents), out);
    }

    fn pack(integers: &mut [u32], least: i64, width: u32, out: &mut Vec<u8>) {
        integers.iter_mut().for_each(|integer| *integer = integer.wrapping_sub(least as u32));
        kernels::pack_u32(integers, width, out);
    }

    fn to_integer(self, exponents: Exponents) -> Option<u32> {
        let [first, second] = FLOAT_POWERS.to_integers(exponents);
        let scaled = f32::from_bits(self) * first * second;
        let magic = FLOAT_MAGIC.copysign(scaled);
        let integer = (scaled + magic - magic) as i32;
        let [up, down] = FLOAT_POWERS.to_values(exponents);
        // Also false for NaN, infinities, -0.0 and values out of range.
        ((integer as f32 * up * down).to_bits() == self).then_some(integer.cast_unsigned())
    }

    fn to_integers(
        values: &[u32],
        exponents: Exponents,
        integers: &mut [u32],
        exact: &mut [u32],
    ) -> AlpExactness {
        let (to, back) = (FLOAT_POWERS.to_integers(exponents), FLOAT_POWERS.to_values(exponents));
        kernels::alp_encode_f32(values, to, back, integers, exact)
    }

    fn range(integers: &[u32]) -> Option<(i64, i64)> {
        kernels::min_max_i32(integers).map(|(least, largest)| (least.into(), largest.into()))
    }
}

impl Word for u64 {
    const LEN: usize = 8;
    const MAX_EXPONENT: u8 = 18;
    const PROBE_WINNERS: usize = 4;
    const USUAL_EXPONENT: u8 = 14;
    const ZERO: u64 = 0;

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

    fn unpack(packed: &[u8], width: u32, n: usize, exponents: Exponents, least: u64, out: &mut Vec<u64>) {
        kernels::alp_decode_f64(packed, width, n, least, DOUBLE_POWERS.to_values(exponents), out);
    }

    fn pack(integers: &mut [u64], least: i64, width: u32, out: &mut Vec<u8>) {
        integers.iter_mut().for_each(|integer| *integer = integer.wrapping_sub(least as u64));
        kernels::pack_u64(integers, width, out);
    }

    fn to_integer(self, exponents: Exponents) -> Option<u64> {
        let [first, second] = DOUBLE_POWERS.to_integers(exponents);
        let scaled = f64::from_bits(self) * first * second;
        let magic = DOUBLE_MAGIC.copysign(scaled);
        let integer = (scaled + magic - magic) as i64;
        let [up, down] = DOUBLE_POWERS.to_values(exponents);
        // Also false for NaN, infinities, -0.0 and values out of range.
        ((integer as f64 * up * down).to_bits() == self).then_some(integer.cast_unsigned())
    }

    fn to_integers(
        values: &[u64],
        exponents: Exponents,
        integers: &mut [u64],
        exact: &mut [u64],
    ) -> AlpExactness {
        let (to, back) = (DOUBLE_POWERS.to_integers(exponents), DOUBLE_POWERS.to_values(exponents));
        kernels::alp_encode_f64(values, to, back, integers, exact)
    }

    fn range(integers: &[u64]) -> Option<(i64, i64)> {
        kernels::min_max_i64(integers)
    }
}

/// The powers 10^i and 10^-i.
///
/// SPEC: these must be the literals, correctly rounded by the compiler; computed powers differ in the last bit.
struct Powers<F, const N: usize> {
    up: [F; N],
    down: [F; N],
}

impl<F: Copy, const N: usize> Powers<F, N> {
    /// The two factors by which integers are multiplied, one after the other.
    fn to_values(&self, exponents: Exponents) -> [F; 2] {
        [self.up[usize::from(exponents.factor)], self.down[usize::from(exponents.exponent)]]
    }

    /// The two factors by which values are multiplied, one after the other.
    fn to_integers(&self, exponents: Exponents) -> [F; 2] {
        [self.up[usize::from(exponents.exponent)], self.down[usize::from(exponents.factor)]]
    }
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
/// 2^23: floats from here on have no fraction, so that adding and subtracting it rounds.
const FLOAT_MAGIC: f32 = 8_388_608.0;
/// 2^52, likewise.
const DOUBLE_MAGIC: f64 = 4_503_599_627_370_496.0;
