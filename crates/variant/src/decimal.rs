//! Decimals of up to 38 digits.

use std::fmt;

/// A number of up to 38 digits: `unscaled` divided by ten to the power of `scale`.
///
/// ```
/// use marquetry_variant::Decimal;
/// assert_eq!(Decimal { unscaled: -5, scale: 2 }.to_string(), "-0.05");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Decimal {
    /// All digits as an integer.
    pub unscaled: i128,
    /// Number of digits after the decimal point: 0 to 38.
    pub scale: u8,
}

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.unscaled < 0 { "-" } else { "" };
        let scale = usize::from(self.scale);
        let digits = format!("{:0width$}", self.unscaled.unsigned_abs(), width = scale + 1);
        let (whole, fraction) = digits.split_at(digits.len() - scale);
        let point = if scale > 0 { "." } else { "" };
        write!(f, "{sign}{whole}{point}{fraction}")
    }
}

/// Maximum number of digits after the decimal point.
pub(crate) const MAX_SCALE: u8 = 38;
