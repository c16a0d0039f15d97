//! Numbers in readable form.

use std::fmt::{self, Display, Write};

/// A number of bytes in readable form, in units of 1,024.
#[derive(Debug, Clone, Copy)]
pub struct ShownBytes(pub u64);

impl Display for ShownBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const UNITS: [&str; 6] = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
        let mut size = self.0 as f64;
        if size < 1024.0 {
            return write!(f, "{} B", self.0);
        }
        let mut unit = "";
        for name in UNITS {
            if size < 1024.0 {
                break;
            }
            size /= 1024.0;
            unit = name;
        }
        let digits = if size < 10.0 { 1 } else { 0 };
        write!(f, "{size:.digits$} {unit}")
    }
}

/// A number with commas between thousands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShownCount(pub u64);

/// For [`counted`](marquetry_base::counted): `1 row`, `1,234 rows`.
impl From<u8> for ShownCount {
    fn from(count: u8) -> Self {
        ShownCount(count.into())
    }
}

impl Display for ShownCount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = self.0.to_string();
        for (i, digit) in digits.chars().enumerate() {
            if i > 0 && (digits.len() - i).is_multiple_of(3) {
                f.write_char(',')?;
            }
            f.write_char(digit)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use marquetry_base::counted;

    #[test]
    fn numbers_for_people() {
        assert_eq!(ShownCount(0).to_string() + &ShownCount(1234567).to_string(), "01,234,567");
        assert_eq!(counted(ShownCount(1), "row") + &counted(ShownCount(1234), "row"), "1 row1,234 rows");
        let sizes = [0, 1023, 1024, 10 << 20, 1_500_000].map(|size| ShownBytes(size).to_string());
        assert_eq!(sizes, ["0 B", "1023 B", "1.0 KiB", "10 MiB", "1.4 MiB"]);
    }
}
