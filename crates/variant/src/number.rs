//! Unsigned little-endian numbers of 1 to 4 bytes: lengths, ids and offsets.

/// Reads number `i` of a list of little-endian numbers of `size` bytes each, 1 to 4.
#[inline]
pub(crate) fn number(bytes: &[u8], i: usize, size: usize) -> Option<usize> {
    let start = i.checked_mul(size)?;
    // PERF: a load of four bytes and a mask, if four bytes are left.
    if let Some(word) = bytes.get(start..).and_then(<[u8]>::first_chunk::<4>) {
        let mask = u32::MAX >> (32 - 8 * size as u32);
        return Some((u32::from_le_bytes(*word) & mask) as usize);
    }
    let bytes = bytes.get(start..start + size)?;
    Some(bytes.iter().rev().fold(0, |number, byte| number << 8 | usize::from(*byte)))
}

/// The width of a number in bytes; `None` if it is over four.
pub(crate) fn width_of(number: usize) -> Option<usize> {
    match number {
        0..=0xff => Some(1),
        0x100..=0xffff => Some(2),
        0x1_0000..=0xff_ffff => Some(3),
        0x100_0000..=0xffff_ffff => Some(4),
        _ => None,
    }
}

/// Appends a little-endian number of `size` bytes.
pub(crate) fn put_number(out: &mut Vec<u8>, number: usize, size: usize) {
    out.extend_from_slice(&(number as u32).to_le_bytes()[..size]);
}

/// Writes a little-endian number to its bytes, of which there are at most four.
#[inline]
pub(crate) fn set_number(bytes: &mut [u8], number: usize) {
    let all = (number as u32).to_le_bytes();
    bytes.iter_mut().zip(all).for_each(|(byte, of_number)| *byte = of_number);
}
