//! Sort keys of numbers: values as integers in the order of their type.

use crate::sort_order::{SortOrder, key16, key32, key64};

/// Returns the key of a value: an integer that compares like the value.
pub(super) fn key_of(order: SortOrder, value: &[u8]) -> Option<i128> {
    Some(match order {
        SortOrder::Signed32 => i32::from_le_bytes(value.try_into().ok()?).into(),
        SortOrder::Unsigned32 => u32::from_le_bytes(value.try_into().ok()?).into(),
        SortOrder::Signed64 => i64::from_le_bytes(value.try_into().ok()?).into(),
        SortOrder::Unsigned64 => u64::from_le_bytes(value.try_into().ok()?).into(),
        SortOrder::TotalFloat16 => key16(u16::from_le_bytes(value.try_into().ok()?)).into(),
        SortOrder::TotalFloat => key32(u32::from_le_bytes(value.try_into().ok()?)).into(),
        SortOrder::TotalDouble => key64(u64::from_le_bytes(value.try_into().ok()?)).into(),
        _ => return None,
    })
}

/// Returns the PLAIN value with this [`key_of`].
pub(super) fn value_of(order: SortOrder, key: i128) -> Word {
    let word = |bytes: u64, length| Word { bytes: bytes.to_le_bytes(), length };
    match order {
        SortOrder::TotalFloat16 => word(u64::from(key16(key as u16) as u16), 2),
        SortOrder::TotalFloat => word(u64::from(key32(key as u32) as u32), 4),
        SortOrder::TotalDouble => word(key64(key as u64) as u64, 8),
        SortOrder::Signed32 | SortOrder::Unsigned32 => word(u64::from(key as u32), 4),
        _ => word(key as u64, 8),
    }
}

/// A value of up to 8 bytes.
pub(super) struct Word {
    bytes: [u8; 8],
    length: usize,
}

impl Word {
    pub(super) fn as_slice(&self) -> &[u8] {
        &self.bytes[..self.length]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each key gives its value back.
    #[test]
    fn keys_and_values() {
        use SortOrder::*;
        let orders = [
            (TotalFloat16, 2),
            (TotalFloat, 4),
            (Signed32, 4),
            (Unsigned32, 4),
            (TotalDouble, 8),
            (Signed64, 8),
            (Unsigned64, 8),
        ];
        for (order, length) in orders {
            for bits in
                [0u64, 1, 0x7fff, 0x8000, 0xffff, 0x7fff_ffff, 0x8000_0001, u64::MAX >> 1, 1 << 63, u64::MAX]
            {
                let value = &bits.to_le_bytes()[..length];
                let key = key_of(order, value).unwrap();
                assert_eq!(value_of(order, key).as_slice(), value, "{order:?} {bits:x}");
            }
        }
    }
}
