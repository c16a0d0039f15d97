//! Explained bytes: their place, their meaning, and the section of the format about it.

use crate::text::hex;

/// A few bytes with an explanation.
#[derive(Debug, Clone)]
pub(crate) struct Explained {
    /// Offset of the bytes in the part that contains them.
    pub(crate) at: usize,
    /// The bytes as hexadecimal digits.
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

/// Decodes a varint: groups of seven bits, the lowest first. Returns its value and number of bytes; `None` if it does
/// not end.
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

/// Decodes a zigzag number, whose last bit is its sign.
pub(crate) fn unzigzag(value: u64) -> i64 {
    (value >> 1) as i64 ^ -((value & 1) as i64)
}

/// The first bit-packed numbers of `width` bits, the lowest bits first.
pub(crate) fn unpacked(bytes: &[u8], width: u32, most: usize) -> Vec<u64> {
    let bit = |i: usize| bytes.get(i / 8).map(|byte| u64::from(byte >> (i % 8) & 1));
    let number = |n: usize| {
        (0..width.min(64) as usize).try_fold(0, |sum, i| Some(sum | bit(n * width as usize + i)? << i))
    };
    (0..most).map_while(number).collect()
}

/// Adds a line for bytes that are not explained one by one.
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

/// Maximum number of rows for one part of a page.
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
