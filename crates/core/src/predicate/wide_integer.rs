//! Integers of 256 bits, for comparing decimals of more than 38 digits.

/// `high * 2^128 + low`, so that the order of the fields is the order of the numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct WideInteger {
    high: i128,
    low: u128,
}

impl From<i128> for WideInteger {
    fn from(number: i128) -> Self {
        WideInteger { high: number >> 127, low: number as u128 }
    }
}

impl WideInteger {
    /// Parses two's complement of up to 32 bytes, plus bytes that only repeat the sign; `None` if the number is
    /// greater.
    pub(super) fn from_big_endian(value: &[u8]) -> Option<Self> {
        let (high, low) = value.split_at(value.len().saturating_sub(16));
        if high.is_empty() {
            return big_endian(low).map(WideInteger::from);
        }
        Some(WideInteger { high: big_endian(high)?, low: u128::from_be_bytes(low.try_into().ok()?) })
    }

    /// Appends zeros to the decimal digits; `None` if the result exceeds 256 bits.
    pub(super) fn with_zeros(self, zeros: u32) -> Option<Self> {
        let most = zeros.min(MOST_ZEROS);
        let number = self.times(10i128.pow(most))?;
        if zeros > most { number.with_zeros(zeros - most) } else { Some(number) }
    }

    /// Multiplies the number; `None` if the result exceeds 256 bits.
    fn times(self, multiplier: i128) -> Option<Self> {
        let (low, carry) = self.low.carrying_mul(multiplier.try_into().ok()?, 0);
        let high = self.high.checked_mul(multiplier)?.checked_add(carry.try_into().ok()?)?;
        Some(WideInteger { high, low })
    }
}

/// Number of zeros of the greatest power of ten in 128 bits.
const MOST_ZEROS: u32 = 38;

/// Parses two's complement of up to 16 bytes, plus bytes that only repeat the sign; `None` if the number is greater.
pub(super) fn big_endian(value: &[u8]) -> Option<i128> {
    let sign = if value.first().is_some_and(|first| first & 0x80 != 0) { 0xff } else { 0 };
    let (more, value) = value.split_at(value.len().saturating_sub(16));
    let mut bytes = [sign; 16];
    bytes[16 - value.len()..].copy_from_slice(value);
    let number = i128::from_be_bytes(bytes);
    let is_same_sign = (number < 0) == (sign != 0);
    (is_same_sign && more.iter().all(|byte| *byte == sign)).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn products_are_those_of_128_bits(number in -(1i128 << 62)..1 << 62, multiplier in 1i128..1 << 60) {
            let product = WideInteger::from(number).times(multiplier);
            prop_assert_eq!(product, Some(WideInteger::from(number * multiplier)));
        }

        #[test]
        fn products_keep_the_order(a: i128, b: i128, digits in 0u32..=38) {
            let by = 10i128.pow(digits);
            let [wide, other] = [a, b].map(|number| WideInteger::from(number).times(by).unwrap());
            prop_assert_eq!(wide.cmp(&other), a.cmp(&b));
            // `b + 1` times is one time more than `b` times.
            prop_assume!(b < i128::MAX);
            prop_assert!(other < WideInteger::from(b + 1).times(by).unwrap());
        }

        #[test]
        fn bytes_may_repeat_the_sign(number: i128, more in 0usize..40) {
            let sign = if number < 0 { 0xff } else { 0 };
            let bytes: Vec<u8> = std::iter::repeat_n(sign, more).chain(number.to_be_bytes()).collect();
            prop_assert_eq!(WideInteger::from_big_endian(&bytes), Some(WideInteger::from(number)));
        }

        #[test]
        fn wide_bytes_are_read(high: i128, low: u128) {
            let bytes: Vec<u8> = high.to_be_bytes().into_iter().chain(low.to_be_bytes()).collect();
            prop_assert_eq!(WideInteger::from_big_endian(&bytes), Some(WideInteger { high, low }));
        }
    }

    #[test]
    fn greater_numbers_are_none() {
        assert_eq!(WideInteger::from_big_endian(&[1; 33]), None);
        assert_eq!(WideInteger { high: 1 << 100, low: 0 }.times(10i128.pow(38)), None);
        assert_eq!(WideInteger::from_big_endian(&[]), Some(WideInteger::from(0)));
        let power = |zeros| WideInteger::from(1).with_zeros(zeros);
        assert_eq!(power(76), power(38).unwrap().times(10i128.pow(38)));
        assert_eq!(power(0), Some(WideInteger::from(1)));
        assert_eq!((power(77), power(1_000_000)), (None, None));
    }
}
