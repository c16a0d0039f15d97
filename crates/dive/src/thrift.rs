//! Thrift's compact protocol, byte by byte: keeps what a reader of structs skips, and the offsets.

use crate::explained::{unzigzag, varint};
use crate::text::{hex, shown};
use marquetry_format::{
    BoundaryOrder, CompressionCodec, ConvertedType, Encoding, PageType, Repetition, Type,
};

/// A struct of `parquet.thrift`.
pub(crate) struct Known {
    pub(crate) name: &'static str,
    pub(crate) fields: &'static [Field],
    /// The path of field ids to the value that distinguishes structs of this type.
    pub(crate) summary: &'static [u64],
}

/// The id of a field, its name, the kind of its value, and its meaning.
pub(crate) struct Field(pub(crate) u64, pub(crate) &'static str, pub(crate) Kind, pub(crate) &'static str);

/// The kind of a value.
pub(crate) enum Kind {
    Number,
    Double,
    Bool,
    Text,
    Bytes,
    PageType,
    Encoding,
    Codec,
    Type,
    Converted,
    Repetition,
    Boundary,
    Crc,
    Struct(&'static Known),
    List(&'static Kind),
}

/// The types of the compact protocol.
pub(crate) mod wire {
    pub(crate) const TRUE: u8 = 1;
    pub(crate) const FALSE: u8 = 2;
    pub(crate) const BYTE: u8 = 3;
    pub(crate) const I16: u8 = 4;
    pub(crate) const I64: u8 = 6;
    pub(crate) const DOUBLE: u8 = 7;
    pub(crate) const BINARY: u8 = 8;
    pub(crate) const LIST: u8 = 9;
    pub(crate) const SET: u8 = 10;
    pub(crate) const STRUCT: u8 = 12;
    pub(crate) const UUID: u8 = 13;
}

/// The header of a field: its id, and its type.
pub(crate) struct Head {
    pub(crate) id: u64,
    pub(crate) wire: u8,
}

/// A position in bytes.
#[derive(Clone)]
pub(crate) struct Cursor<'a> {
    pub(crate) bytes: &'a [u8],
    pub(crate) at: usize,
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(bytes: &'a [u8], at: usize) -> Self {
        Cursor { bytes, at }
    }

    fn take(&mut self, n: usize) -> Option<&'a [u8]> {
        let taken = self.bytes.get(self.at..self.at.checked_add(n)?)?;
        self.at += n;
        Some(taken)
    }

    pub(crate) fn byte(&mut self) -> Option<u8> {
        self.take(1).map(|byte| byte[0])
    }

    pub(crate) fn number(&mut self) -> Option<u64> {
        let (value, len) = varint(self.bytes.get(self.at..)?)?;
        self.at += len;
        Some(value)
    }

    /// The header of the field after the one with id `last`; `Some(None)` at the end of the struct, `None` for invalid
    /// bytes.
    pub(crate) fn head(&mut self, last: u64) -> Option<Option<Head>> {
        let head = self.byte()?;
        if head == 0 {
            return Some(None);
        }
        let id = match head >> 4 {
            0 => unzigzag(self.number()?) as u64,
            delta => last.wrapping_add(u64::from(delta)),
        };
        Some(Some(Head { id, wire: head & 15 }))
    }

    /// The type of a list's elements, and their number.
    pub(crate) fn list(&mut self) -> Option<(u8, u64)> {
        let head = self.byte()?;
        let len = if head >> 4 == 15 { self.number()? } else { u64::from(head >> 4) };
        // A boolean in a list takes a byte.
        let element = head & 15;
        Some((if matches!(element, wire::TRUE | wire::FALSE) { wire::BYTE } else { element }, len))
    }

    pub(crate) fn skip(&mut self, wire: u8) -> Option<()> {
        self.skip_within(wire, 0)
    }

    fn skip_within(&mut self, wire: u8, depth: usize) -> Option<()> {
        match wire {
            _ if depth > 32 => None,
            wire::TRUE | wire::FALSE => Some(()),
            wire::BYTE => self.take(1).map(drop),
            wire::I16..=wire::I64 => self.number().map(drop),
            wire::DOUBLE => self.take(8).map(drop),
            wire::BINARY => {
                let len = usize::try_from(self.number()?).ok()?;
                self.take(len).map(drop)
            }
            wire::LIST | wire::SET => {
                let (element, len) = self.list()?;
                // Each element has at least a byte, so a false length ends with the bytes.
                (0..len).try_for_each(|_| self.skip_within(element, depth + 1))
            }
            wire::STRUCT => loop {
                match self.head(0)? {
                    None => return Some(()),
                    Some(head) => self.skip_within(head.wire, depth + 1)?,
                }
            },
            wire::UUID => self.take(16).map(drop),
            _ => None,
        }
    }

    /// A value other than a struct or list, as text; without a kind it is shown as written.
    pub(crate) fn value(&mut self, wire: u8, kind: Option<&Kind>) -> Option<String> {
        Some(match wire {
            wire::TRUE => "true".to_owned(),
            wire::FALSE => "false".to_owned(),
            wire::BYTE if matches!(kind, Some(Kind::Bool)) => (self.byte()? == 1).to_string(),
            wire::BYTE => (self.byte()? as i8).to_string(),
            wire::I16..=wire::I64 => number(unzigzag(self.number()?), kind),
            wire::DOUBLE => {
                let bytes = self.take(8)?;
                f64::from_le_bytes(*bytes.first_chunk()?).to_string()
            }
            wire::BINARY => {
                let len = usize::try_from(self.number()?).ok()?;
                let text = self.take(len)?;
                match kind {
                    Some(Kind::Text) => shown(&String::from_utf8_lossy(&text[..len.min(MOST_TEXT)])),
                    _ => {
                        format!("{len} bytes: {}", shown(&text[..len.min(60)].escape_ascii().to_string()))
                    }
                }
            }
            wire::UUID => hex(self.take(16)?, 16),
            _ => {
                self.skip(wire)?;
                "..".to_owned()
            }
        })
    }
}

fn number(value: i64, kind: Option<&Kind>) -> String {
    // Values beyond 32 bits are not members of an enumeration.
    let Ok(n) = i32::try_from(value) else { return value.to_string() };
    match kind {
        Some(Kind::PageType) => format!("{value}: {}", PageType(n)),
        Some(Kind::Encoding) => format!("{value}: {}", Encoding(n)),
        Some(Kind::Codec) => format!("{value}: {}", CompressionCodec(n)),
        Some(Kind::Type) => format!("{value}: {}", Type(n)),
        Some(Kind::Converted) => format!("{value}: {}", ConvertedType(n)),
        Some(Kind::Repetition) => format!("{value}: {}", Repetition(n)),
        Some(Kind::Boundary) => format!("{value}: {}", BoundaryOrder(n)),
        Some(Kind::Crc) => format!("{:08x}", n.cast_unsigned()),
        _ => value.to_string(),
    }
}

/// Maximum bytes of a text that are read.
const MOST_TEXT: usize = 4_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_that_is_too_large_has_no_name() {
        assert_eq!(number(2, Some(&Kind::Encoding)), "2: PLAIN_DICTIONARY");
        assert_eq!(number(2 + (1 << 32), Some(&Kind::Encoding)), "4294967298");
        assert_eq!(number(-1, Some(&Kind::Crc)), "ffffffff");
    }

    #[test]
    fn what_lists_claim_has_an_end() {
        // A list of 2^62 structs, and nothing in it.
        let bytes = [0xfc, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x3f];
        assert!(Cursor::new(&bytes, 0).skip(wire::LIST).is_none());
        // Lists within lists.
        assert!(Cursor::new(&[0x19; 100], 0).skip(wire::LIST).is_none());
        // {1: 150, 2: "ab", 4: [true]}
        let bytes = [0x16, 0xac, 0x02, 0x18, 2, b'a', b'b', 0x29, 0x11, 1, 0];
        let mut cursor = Cursor::new(&bytes, 0);
        let head = cursor.head(0).unwrap().unwrap();
        assert_eq!((head.id, cursor.value(head.wire, None).unwrap().as_str()), (1, "150"));
        let head = cursor.head(1).unwrap().unwrap();
        assert_eq!(cursor.value(head.wire, Some(&Kind::Text)).unwrap(), "ab");
        let head = cursor.head(2).unwrap().unwrap();
        assert_eq!((head.id, head.wire, cursor.list()), (4, wire::LIST, Some((wire::BYTE, 1))));
        assert_eq!(cursor.value(wire::BYTE, Some(&Kind::Bool)).unwrap(), "true");
        assert!(cursor.head(4).unwrap().is_none() && cursor.head(4).is_none());
    }
}
