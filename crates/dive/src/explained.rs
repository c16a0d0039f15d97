//! Explained bytes: their place, what they mean, and where the format says so.

use crate::text::hex;

/// A few bytes and what they mean.
#[derive(Debug, Clone)]
pub(crate) struct Explained {
    /// Where they are, counted from the beginning of the part that they are in.
    pub(crate) at: usize,
    /// The bytes as digits.
    pub(crate) bytes: String,
    pub(crate) name: String,
    pub(crate) value: String,
    /// A sentence or two.
    pub(crate) about: String,
}

impl Explained {
    pub(crate) fn new(
        at: usize,
        bytes: &[u8],
        name: impl Into<String>,
        value: impl Into<String>,
        about: impl Into<String>,
    ) -> Self {
        let (name, value, about) = (name.into(), value.into(), about.into());
        Explained { at, bytes: hex(bytes, 8), name, value, about }
    }
}

/// A number in groups of seven bits, the lowest first, and how many bytes it has. `None` if it has no end.
pub(crate) fn varint(bytes: &[u8]) -> Option<(u64, usize)> {
    let mut value = 0u64;
    for (i, byte) in bytes.iter().enumerate().take(10) {
        value |= u64::from(byte & 0x7f).checked_shl(7 * i as u32)?;
        if byte & 0x80 == 0 {
            return Some((value, i + 1));
        }
    }
    None
}

/// A number whose last bit is its sign.
pub(crate) fn unzigzag(value: u64) -> i64 {
    (value >> 1) as i64 ^ -((value & 1) as i64)
}

/// The first numbers of `width` bits, the lowest bits first.
pub(crate) fn unpacked(bytes: &[u8], width: u32, most: usize) -> Vec<u64> {
    let bit = |i: usize| bytes.get(i / 8).map(|byte| u64::from(byte >> (i % 8) & 1));
    let number = |n: usize| {
        (0..width.min(64) as usize).try_fold(0, |sum, i| Some(sum | bit(n * width as usize + i)? << i))
    };
    (0..most).map_while(number).collect()
}

/// A line for what is not told apart.
pub(crate) fn more(out: &mut Vec<Explained>, bytes: &[u8], from: usize, at: usize) {
    if let Some(rest) = bytes.get(from..).filter(|rest| !rest.is_empty()) {
        out.push(Explained::new(
            at + from,
            rest,
            "and more",
            format!("{} bytes", rest.len()),
            "These are not told apart here.",
        ));
    }
}

/// Rows of one part of a page.
pub(crate) const MOST: usize = 1_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_thrift_has_them() {
        assert_eq!(varint(&[0x96, 0x01]), Some((150, 2)));
        assert_eq!(varint(&[0x80]), None);
        assert_eq!([0, 1, 2, 3, u64::MAX].map(unzigzag), [0, -1, 1, -2, i64::MIN]);
    }
}
