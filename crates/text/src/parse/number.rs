//! A fast path for numbers of few digits. Others go to a parser that knows all forms.

/// A number such as `-12.50`: its sign, all its digits as one integer, their number, and how many of them are behind
/// the point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ShortNumber {
    pub(super) is_negative: bool,
    pub(super) mantissa: u64,
    pub(super) digits: usize,
    pub(super) fraction_digits: usize,
}

impl ShortNumber {
    /// Parses digits with at most one minus before them and at most one point between them. There is at least one digit
    /// before the point, with no zero before another digit, and there are at most 18 digits. Returns `None` for
    /// anything else.
    #[inline]
    pub(super) fn parse(text: &str) -> Option<Self> {
        let bytes = text.as_bytes();
        let (is_negative, bytes) = match bytes {
            [b'-', rest @ ..] => (true, rest),
            bytes => (false, bytes),
        };
        if bytes.len() > MOST_DIGITS + 1 {
            return None;
        }
        let mut mantissa = 0;
        let mut point = None;
        for (at, byte) in bytes.iter().enumerate() {
            let digit = byte.wrapping_sub(b'0');
            if digit <= 9 {
                mantissa = mantissa * 10 + u64::from(digit);
            } else if *byte == b'.' && point.is_none() {
                point = Some(at);
            } else {
                return None;
            }
        }
        let whole_digits = point.unwrap_or(bytes.len());
        let digits = bytes.len() - usize::from(point.is_some());
        let has_zeros = whole_digits > 1 && bytes[0] == b'0';
        if whole_digits == 0 || has_zeros || digits > MOST_DIGITS {
            return None;
        }
        Some(ShortNumber { is_negative, mantissa, digits, fraction_digits: digits - whole_digits })
    }

    /// Parses an integer. Returns `None` if there is a point, or for a zero with a minus.
    #[inline]
    pub(super) fn integer(text: &str) -> Option<i64> {
        let number = ShortNumber::parse(text)?;
        let is_integer = number.digits == text.len() - usize::from(number.is_negative);
        (is_integer && !(number.is_negative && number.mantissa == 0)).then(|| number.signed(number.mantissa))
    }

    /// Parses the nearest double. Returns `None` if one operation on exact doubles does not result in it.
    #[inline]
    pub(super) fn double(text: &str) -> Option<f64> {
        let number = ShortNumber::parse(text)?;
        if number.mantissa > 1 << 53 {
            return None;
        }
        let magnitude = number.mantissa as f64 / POWERS_OF_TEN.get(number.fraction_digits)?;
        Some(if number.is_negative { -magnitude } else { magnitude })
    }

    /// Parses a number in units of ten to the power of `-scale`. Returns `None` if it is not a multiple of that unit,
    /// or has more digits than `precision`.
    #[inline]
    pub(super) fn unscaled(text: &str, precision: u8, scale: i8) -> Option<i64> {
        let number = ShortNumber::parse(text)?;
        let zeros = usize::try_from(scale).ok()?.checked_sub(number.fraction_digits)?;
        if number.digits + zeros > MOST_DIGITS {
            return None;
        }
        let unscaled = number.mantissa * 10_u64.pow(zeros as u32);
        let fits = usize::from(precision) > MOST_DIGITS || unscaled < 10_u64.pow(u32::from(precision));
        fits.then(|| number.signed(unscaled))
    }

    fn signed(self, magnitude: u64) -> i64 {
        // The number has at most 18 digits.
        let magnitude = magnitude as i64;
        if self.is_negative { -magnitude } else { magnitude }
    }
}

/// Maximum number of digits that always fit in 63 bits.
const MOST_DIGITS: usize = 18;
/// Powers that doubles hold exactly, for all possible digits behind the point.
const POWERS_OF_TEN: [f64; 19] =
    [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18];

#[cfg(test)]
mod tests {
    use super::super::decimal;
    use super::*;

    #[test]
    fn the_same_as_by_the_long_way_or_nothing() {
        let mut state = 3_u64;
        let mut random = move |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below
        };
        let (mut doubles, mut decimals) = (0, 0);
        for _ in 0..200_000 {
            let alphabet = b"0123456789012345678901234567890123456789.-+e";
            let text: String = (0..random(21))
                .map(|_| char::from(alphabet[random(alphabet.len() as u64) as usize]))
                .collect();
            if let Some(double) = ShortNumber::double(&text) {
                assert_eq!(double.to_bits(), text.parse::<f64>().unwrap().to_bits(), "{text}");
                doubles += 1;
            }
            if let Some(integer) = ShortNumber::integer(&text) {
                assert_eq!(Ok(integer), text.parse(), "{text}");
            }
            for (precision, scale) in [(18, 4), (5, 2), (38, 0), (9, -1)] {
                if let Some(unscaled) = ShortNumber::unscaled(&text, precision, scale) {
                    let expected = decimal::unscaled(&text, precision, scale).unwrap();
                    assert_eq!(Ok(unscaled), expected.parse(), "{text}");
                    decimals += 1;
                }
            }
        }
        assert!(doubles > 10_000 && decimals > 10_000);
        for text in ["", "-", ".5", "007", "-0", "+1", "1.2.3", "1234567890123456789", "1e5"] {
            assert_eq!(ShortNumber::integer(text), None, "{text}");
        }
        assert_eq!(ShortNumber::double("-0").map(f64::to_bits), Some((-0.0_f64).to_bits()));
        assert_eq!(ShortNumber::double("5.").map(f64::to_bits), Some(5.0_f64.to_bits()));
    }
}
