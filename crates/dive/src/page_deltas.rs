//! DELTA_BINARY_PACKED, DELTA_LENGTH_BYTE_ARRAY and DELTA_BYTE_ARRAY, block by block and string by string.

use crate::explained::{Explained, MOST, more, unpacked, unzigzag, varint};
use crate::text::shown;

/// Explains DELTA_BINARY_PACKED numbers.
pub(crate) fn numbers(bytes: &[u8], at: usize) -> Vec<Explained> {
    let mut deltas = Deltas::read(bytes, at, "", DELTAS);
    more(&mut deltas.out, bytes, deltas.end, at);
    deltas.out
}

/// Explains strings: the lengths of all, followed by all their bytes.
pub(crate) fn strings(bytes: &[u8], at: usize) -> Vec<Explained> {
    let mut deltas = Deltas::read(bytes, at, "length: ", LENGTHS);
    let mut from = deltas.end;
    for (i, len) in deltas.values.iter().enumerate() {
        let end = usize::try_from(*len).ok().and_then(|len| from.checked_add(len));
        let (Some(text), true) = (end.and_then(|end| bytes.get(from..end)), deltas.out.len() < MOST) else {
            break;
        };
        deltas.out.push(Explained::new(at + from, text, format!("value {i}"), quoted(text), LENGTHS));
        from += text.len();
    }
    more(&mut deltas.out, bytes, from, at);
    deltas.out
}

/// Explains strings by the length of the prefix that each shares with the previous one, and its suffix.
pub(crate) fn shared_strings(bytes: &[u8], at: usize) -> Vec<Explained> {
    let mut prefixes = Deltas::read(bytes, at, "shared: ", SHARED);
    let rest = bytes.get(prefixes.end..).unwrap_or_default();
    let suffixes = Deltas::read(rest, at + prefixes.end, "new: ", SHARED);
    let mut out = std::mem::take(&mut prefixes.out);
    out.extend(suffixes.out);
    let mut from = prefixes.end + suffixes.end;
    let mut last: Vec<u8> = Vec::new();
    for (i, (shared, len)) in prefixes.values.iter().zip(&suffixes.values).enumerate() {
        let shared = usize::try_from(*shared).ok().and_then(|shared| last.get(..shared));
        let end = usize::try_from(*len).ok().and_then(|len| from.checked_add(len));
        let new = end.and_then(|end| bytes.get(from..end));
        let (Some(shared), Some(new), true) = (shared, new, out.len() < MOST) else { break };
        let value = [shared, new].concat();
        let text = format!("{} of the one before, and {} = {}", shared.len(), quoted(new), quoted(&value));
        out.push(Explained::new(at + from, new, format!("value {i}"), text, SHARED));
        from += new.len();
        last = value;
    }
    more(&mut out, bytes, from, at);
    out
}

fn quoted(text: &[u8]) -> String {
    let dots = if text.len() > MOST_SHOWN { ".." } else { "" };
    format!("\"{}{dots}\"", shown(&text[..text.len().min(MOST_SHOWN)].escape_ascii().to_string()))
}

/// Numbers that are decoded for an explanation.
struct Deltas {
    out: Vec<Explained>,
    values: Vec<i64>,
    /// Offset of their end.
    end: usize,
}

impl Deltas {
    fn read(bytes: &[u8], at: usize, what: &str, about: &str) -> Deltas {
        let mut deltas = Deltas { out: Vec::new(), values: Vec::new(), end: 0 };
        // Where bytes are cut off, the explanation ends.
        let _ = deltas.fill(bytes, at, what, about);
        deltas
    }

    fn fill(&mut self, bytes: &[u8], at: usize, what: &str, about: &str) -> Option<()> {
        let mut header = [0; 4];
        for (number, (name, text)) in header.iter_mut().zip(HEADER) {
            let start = self.end;
            let (value, len) = varint(bytes.get(start..)?)?;
            self.end += len;
            *number = value;
            let value = if name == "first value" { unzigzag(value).to_string() } else { value.to_string() };
            self.push(bytes, start, at, format!("{what}{name}"), value, format!("{text} {about}"));
        }
        let [block_size, miniblocks, count, first] = header;
        let (count, miniblocks) = (usize::try_from(count).ok()?, usize::try_from(miniblocks).ok()?);
        if count == 0 {
            return Some(());
        }
        let of_miniblock = usize::try_from(block_size).ok()?.checked_div(miniblocks)?;
        // A block has a byte for each miniblock; miniblocks without values would never end.
        if of_miniblock == 0 || miniblocks > bytes.len() {
            return None;
        }
        self.values.push(unzigzag(first));
        let mut block = 0;
        while self.values.len() < count {
            let start = self.end;
            let (least, len) = varint(bytes.get(start..)?)?;
            let least = unzigzag(least);
            self.end += len;
            let text = "The least difference of the block; what is packed is how much greater each is.";
            self.push(
                bytes,
                start,
                at,
                format!("{what}block {block}, least difference"),
                least.to_string(),
                format!("{text} {about}"),
            );
            let start = self.end;
            let widths = bytes.get(start..start.checked_add(miniblocks)?)?;
            self.end += miniblocks;
            let shown: Vec<String> = widths.iter().take(16).map(u8::to_string).collect();
            let text = "A byte for each miniblock: the bits of its numbers.";
            self.push(
                bytes,
                start,
                at,
                format!("{what}block {block}, bit widths"),
                shown.join(" "),
                format!("{text} {about}"),
            );
            for (i, width) in widths.iter().enumerate() {
                if self.values.len() >= count {
                    break;
                }
                self.miniblock(
                    bytes,
                    at,
                    u32::from(*width),
                    least,
                    of_miniblock,
                    count,
                    &format!("{what}block {block}, miniblock {i}"),
                    about,
                )?;
            }
            block += 1;
        }
        Some(())
    }

    #[expect(clippy::too_many_arguments, reason = "one step of a walk over bytes")]
    fn miniblock(
        &mut self,
        bytes: &[u8],
        at: usize,
        width: u32,
        least: i64,
        of_miniblock: usize,
        count: usize,
        name: &str,
        about: &str,
    ) -> Option<()> {
        let start = self.end;
        if width > 64 {
            return None;
        }
        let len = of_miniblock.checked_mul(width as usize)?.div_ceil(8);
        let packed = bytes.get(start..start.checked_add(len)?)?;
        self.end += len;
        let wanted = of_miniblock.min(count - self.values.len());
        if self.values.len() + wanted > MOST_VALUES {
            return None;
        }
        let before = self.values.len();
        for number in unpacked(packed, width, wanted) {
            let last = self.values.last().copied().unwrap_or(0);
            self.values.push(last.wrapping_add(least).wrapping_add(number as i64));
        }
        let shown: Vec<String> = self.values[before..].iter().take(8).map(i64::to_string).collect();
        let dots = if wanted > 8 { " .." } else { "" };
        let value = format!("{wanted} of {width} bits, which give {}{dots}", shown.join(" "));
        let text = "Differences above the least one, bit by bit; each adds to the value before it.";
        self.push(bytes, start, at, name.to_owned(), value, format!("{text} {about}"));
        Some(())
    }

    fn push(&mut self, bytes: &[u8], start: usize, at: usize, name: String, value: String, about: String) {
        if self.out.len() < MOST {
            self.out.push(Explained::new(at + start, &bytes[start..self.end], name, value, about));
        }
    }
}

const HEADER: [(&str, &str); 4] = [
    ("block size", "Values of a block."),
    ("miniblocks", "Miniblocks of a block: each has a bit width of its own."),
    ("values", "All values, the first one among them."),
    ("first value", "The value that the differences begin at, as a zigzag number."),
];
const DELTAS: &str = "Encodings.md, Delta Encoding (DELTA_BINARY_PACKED).";
const LENGTHS: &str = "The lengths of all strings, then all their bytes. Encodings.md, Delta-length byte array (DELTA_LENGTH_BYTE_ARRAY).";
const SHARED: &str = "How many bytes each string shares with the one before it, then how many are new, then what is new of each. Encodings.md, Delta Strings (DELTA_BYTE_ARRAY).";
/// Maximum number of decoded values: later ones are not explained.
const MOST_VALUES: usize = 100_000;
/// Maximum number of string bytes that are shown.
const MOST_SHOWN: usize = 40;

#[cfg(test)]
mod tests {
    use super::*;
    use marquetry_encoding::StringViews;
    use marquetry_encoding::{Values, delta_binary_packed, delta_byte_array, delta_length_byte_array};

    #[test]
    fn what_is_explained_is_what_was_encoded() {
        for count in [0usize, 1, 2, 129, 300] {
            let values: Vec<i64> = (0..count as i64).map(|i| i * i * 37 % 1_001 - 500).collect();
            let words = Values::W64(values.iter().map(|value| *value as u64).collect());
            let bytes = delta_binary_packed::encode(&words).unwrap();
            let deltas = Deltas::read(&bytes, 0, "", "");
            assert_eq!((deltas.values, deltas.end), (values, bytes.len()), "{count}");
            assert!(deltas.out.iter().all(|field| field.name != "and more"));
        }
    }

    #[test]
    fn strings_are_put_together() {
        let texts = ["Hello", "Help", "Helpful", "World", ""];
        let mut views = StringViews::default();
        texts.iter().for_each(|text| views.push(text.as_bytes()));
        let values = Values::Bytes(views);
        let last = |fields: Vec<Explained>, i: usize| fields[fields.len() - 5 + i].value.clone();
        let shared = delta_byte_array::encode(&values).unwrap();
        assert_eq!(last(shared_strings(&shared, 0), 2), "4 of the one before, and \"ful\" = \"Helpful\"");
        let plain = delta_length_byte_array::encode(&values).unwrap();
        assert_eq!(last(strings(&plain, 0), 3), "\"World\"");
    }

    #[test]
    fn damaged_bytes_end() {
        let values = Values::W64((0..300u64).collect());
        let bytes = delta_binary_packed::encode(&values).unwrap();
        for cut in 0..bytes.len() {
            for explain in [numbers, strings, shared_strings] {
                let _ = explain(&bytes[..cut], 0);
            }
            let mut changed = bytes.clone();
            changed[cut] ^= 0xff;
            for explain in [numbers, strings, shared_strings] {
                let _ = explain(&changed, 0);
            }
        }
    }
}
