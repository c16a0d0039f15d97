//! Values that are words, as integers in their order.

use crate::sort_order::{SortOrder, key16, key32, key64};

/// The number of a value among integers in its order.
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
