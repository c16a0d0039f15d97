//! Byte planes: numbers by the thousand as all first bytes, then all second bytes, which deflate well.

use serde_json::{Value, json};

/// Named lists of numbers.
#[derive(Default)]
pub(crate) struct Planes {
    names: Vec<Value>,
    bytes: Vec<u8>,
}

impl Planes {
    /// Adds numbers of one byte.
    pub(crate) fn u8(&mut self, name: &str, numbers: impl IntoIterator<Item = u8>) {
        let bytes: Vec<[u8; 1]> = numbers.into_iter().map(|number| [number]).collect();
        self.add(name, "u8", &bytes);
    }

    /// Adds numbers of four bytes. `u32::MAX` stands for unknown, and for greater numbers.
    pub(crate) fn u32(&mut self, name: &str, numbers: impl IntoIterator<Item = Option<u64>>) {
        let word =
            |number: Option<u64>| number.and_then(|number| u32::try_from(number).ok()).unwrap_or(u32::MAX);
        let bytes: Vec<[u8; 4]> = numbers.into_iter().map(|number| word(number).to_le_bytes()).collect();
        self.add(name, "u32", &bytes);
    }

    /// Adds numbers of eight bytes.
    pub(crate) fn u64(&mut self, name: &str, numbers: impl IntoIterator<Item = u64>) {
        let bytes: Vec<[u8; 8]> = numbers.into_iter().map(u64::to_le_bytes).collect();
        self.add(name, "u64", &bytes);
    }

    /// Adds places from 0 to 1, in 65,534 steps; 65,535 stands for none.
    pub(crate) fn places(&mut self, name: &str, places: impl IntoIterator<Item = Option<f64>>) {
        let word = |place: Option<f64>| place.map_or(u16::MAX, |place| (place * 65534.0).round() as u16);
        let bytes: Vec<[u8; 2]> = places.into_iter().map(|place| word(place).to_le_bytes()).collect();
        self.add(name, "u16", &bytes);
    }

    fn add<const N: usize>(&mut self, name: &str, kind: &str, numbers: &[[u8; N]]) {
        self.names.push(json!([name, kind, numbers.len()]));
        for byte in 0..N {
            self.bytes.extend(numbers.iter().map(|number| number[byte]));
        }
    }

    /// Returns the name, type and length of each list, and the bytes of all.
    pub(crate) fn finish(self) -> (Value, Vec<u8>) {
        (Value::Array(self.names), self.bytes)
    }
}
