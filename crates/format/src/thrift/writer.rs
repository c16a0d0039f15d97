//! Writes the compact protocol.

use super::wire::Wire;

/// Appends Thrift values to a buffer. Fields must be written in the order of their ids.
#[derive(Debug, Default)]
pub struct Writer {
    bytes: Vec<u8>,
    /// The id of the last field written in the current struct.
    last_id: i16,
}

impl Writer {
    /// Creates an empty writer.
    pub fn new() -> Self {
        Writer::default()
    }

    /// Returns the bytes that were written.
    pub fn finish(self) -> Vec<u8> {
        self.bytes
    }

    /// Writes a struct, whose fields `write` writes.
    pub fn fields(&mut self, write: impl FnOnce(&mut Self)) {
        let outer = std::mem::take(&mut self.last_id);
        write(self);
        self.bytes.push(0);
        self.last_id = outer;
    }

    /// Writes a field that is a struct. `write` writes the whole struct.
    pub fn nested_field(&mut self, id: i16, write: impl FnOnce(&mut Self)) {
        self.header(id, Wire::Struct);
        write(self);
    }

    /// Writes a field that is a struct. `write` writes the fields of the struct.
    pub fn struct_field(&mut self, id: i16, write: impl FnOnce(&mut Self)) {
        self.nested_field(id, |w| w.fields(write));
    }

    /// Writes a field that is a struct without fields.
    pub fn empty_field(&mut self, id: i16) {
        self.struct_field(id, |_| ());
    }

    /// Writes a bool field.
    pub fn bool_field(&mut self, id: i16, value: bool) {
        self.header(id, if value { Wire::True } else { Wire::False });
    }

    /// Writes a byte field.
    pub fn i8_field(&mut self, id: i16, value: i8) {
        self.header(id, Wire::I8);
        self.bytes.push(value as u8);
    }

    /// Writes a 16-bit integer field.
    pub fn i16_field(&mut self, id: i16, value: i16) {
        self.header(id, Wire::I16);
        self.i64(i64::from(value));
    }

    /// Writes a 32-bit integer field.
    pub fn i32_field(&mut self, id: i16, value: i32) {
        self.header(id, Wire::I32);
        self.i64(i64::from(value));
    }

    /// Writes a 64-bit integer field.
    pub fn i64_field(&mut self, id: i16, value: i64) {
        self.header(id, Wire::I64);
        self.i64(value);
    }

    /// Writes a double field.
    pub fn double_field(&mut self, id: i16, value: f64) {
        self.header(id, Wire::Double);
        self.bytes.extend_from_slice(&value.to_le_bytes());
    }

    /// Writes a field of bytes or text.
    pub fn binary_field(&mut self, id: i16, value: &[u8]) {
        self.header(id, Wire::Binary);
        self.binary(value);
    }

    /// Writes a field that is a list. `write` writes each element.
    pub fn list_field<T>(&mut self, id: i16, wire: Wire, list: &[T], mut write: impl FnMut(&mut Self, &T)) {
        self.header(id, Wire::List);
        match list.len() {
            len @ 0..=14 => self.bytes.push((len as u8) << 4 | wire.code()),
            len => {
                self.bytes.push(0xf0 | wire.code());
                self.uleb128(len as u64);
            }
        }
        list.iter().for_each(|element| write(self, element));
    }

    /// Writes an integer of any width as an element of a list.
    pub fn i64(&mut self, value: i64) {
        self.uleb128(((value << 1) ^ (value >> 63)) as u64);
    }

    /// Writes a bool as an element of a list.
    pub fn bool_element(&mut self, value: bool) {
        self.bytes.push(if value { 1 } else { 2 });
    }

    /// Writes bytes or text as an element of a list.
    pub fn binary(&mut self, value: &[u8]) {
        self.uleb128(value.len() as u64);
        self.bytes.extend_from_slice(value);
    }

    fn header(&mut self, id: i16, wire: Wire) {
        match id.wrapping_sub(self.last_id) {
            delta @ 1..=15 => self.bytes.push((delta as u8) << 4 | wire.code()),
            _ => {
                self.bytes.push(wire.code());
                self.i64(i64::from(id));
            }
        }
        self.last_id = id;
    }

    fn uleb128(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.bytes.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.bytes.push(value as u8);
    }
}
