//! The wire types of the Thrift compact protocol.

/// The types of the compact protocol, as field and list headers name them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wire {
    /// A bool that is true.
    True,
    /// A bool that is false.
    False,
    /// A byte.
    I8,
    /// A zigzag varint.
    I16,
    /// A zigzag varint.
    I32,
    /// A zigzag varint.
    I64,
    /// 8 bytes little-endian.
    Double,
    /// A length and bytes.
    Binary,
    /// A list.
    List,
    /// A set, stored as a list.
    Set,
    /// A map.
    Map,
    /// A struct.
    Struct,
    /// 16 bytes.
    Uuid,
}

impl Wire {
    /// A field that is an integer of 16, 32 or 64 bits. QUIRK: all of them are zigzag varints, and writers disagree on
    /// the width of some fields, so readers do not distinguish them.
    pub const INT: Wire = Wire::I64;

    pub(super) const fn from_code(code: u8) -> Option<Wire> {
        Some(match code {
            1 => Wire::True,
            2 => Wire::False,
            3 => Wire::I8,
            4 => Wire::I16,
            5 => Wire::I32,
            6 => Wire::I64,
            7 => Wire::Double,
            8 => Wire::Binary,
            9 => Wire::List,
            10 => Wire::Set,
            11 => Wire::Map,
            12 => Wire::Struct,
            13 => Wire::Uuid,
            _ => return None,
        })
    }

    /// Whether a list of this type can be read as a list of `other`. Integers of all widths are the same, see
    /// [`INT`](Self::INT). A list of bools may have the type of either bool.
    pub(super) fn reads_as(self, other: Wire) -> bool {
        let kind = |wire| match wire {
            Wire::I16 | Wire::I32 | Wire::I64 => Wire::I64,
            Wire::True | Wire::False => Wire::True,
            other => other,
        };
        kind(self) == kind(other)
    }

    pub(super) fn code(self) -> u8 {
        self as u8 + 1
    }
}
