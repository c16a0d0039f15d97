//! Formats values and names for messages: short, on one line.

use crate::schema::Leaf;
use crate::sort_order::SortOrder;
use marquetry_encoding::PhysicalType;

/// Formats a PLAIN value of a column.
pub fn display_value(leaf: &Leaf, value: &[u8]) -> String {
    let is_unsigned = matches!(SortOrder::of(leaf), SortOrder::Unsigned32 | SortOrder::Unsigned64);
    match (leaf.physical(), value) {
        (PhysicalType::Boolean, [byte]) => (*byte != 0).to_string(),
        (PhysicalType::Int32, &[a, b, c, d]) if is_unsigned => u32::from_le_bytes([a, b, c, d]).to_string(),
        (PhysicalType::Int32, &[a, b, c, d]) => i32::from_le_bytes([a, b, c, d]).to_string(),
        (PhysicalType::Float, &[a, b, c, d]) => format!("{:?}", f32::from_le_bytes([a, b, c, d])),
        (PhysicalType::Int64, &[a, b, c, d, e, f, g, h]) => {
            let word = u64::from_le_bytes([a, b, c, d, e, f, g, h]);
            if is_unsigned { word.to_string() } else { (word as i64).to_string() }
        }
        (PhysicalType::Double, &[a, b, c, d, e, f, g, h]) => {
            format!("{:?}", f64::from_le_bytes([a, b, c, d, e, f, g, h]))
        }
        _ => display_bytes(value),
    }
}

/// Formats the first bytes of a byte string, in quotes.
pub fn display_bytes(value: &[u8]) -> String {
    let dots = if value.len() > MAX_SHOWN_BYTES { "..." } else { "" };
    format!("\"{}\"{dots}", value[..value.len().min(MAX_SHOWN_BYTES)].escape_ascii())
}

const MAX_SHOWN_BYTES: usize = 32;
