//! Writes coordinates as text.

/// Appends the shortest digits that represent the number, without an exponent where that is readable. Other values are
/// `NaN`, `inf` or `-inf`.
pub(crate) fn write(number: f64, out: &mut String) {
    if !number.is_finite() {
        out.push_str(match number {
            _ if number.is_nan() => "NaN",
            _ if number > 0.0 => "inf",
            _ => "-inf",
        });
    } else if number == 0.0 && number.is_sign_negative() {
        // An integer has no negative zero.
        out.push_str("-0");
    } else if number == number.trunc() && number.abs() < 1e15 {
        out.push_str(&(number as i64).to_string());
    } else {
        out.push_str(zmij::Buffer::new().format_finite(number));
    }
}
