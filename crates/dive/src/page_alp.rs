//! ALP: floats as integers, vector by vector.

use crate::explained::{Explained, MOST, more, unpacked};

/// Explains the bytes of a page; a value has `width` bytes, 4 or 8.
pub(crate) fn explain_alp(bytes: &[u8], at: usize, width: usize) -> Vec<Explained> {
    let mut walk = Walk { bytes, at, from: 0, out: Vec::new() };
    // Where bytes are cut off, the explanation ends.
    let _ = walk.page(width);
    let (from, mut out) = (walk.from, walk.out);
    more(&mut out, bytes, from, at);
    out
}

struct Walk<'a> {
    bytes: &'a [u8],
    at: usize,
    from: usize,
    out: Vec<Explained>,
}

impl Walk<'_> {
    /// Reads a little-endian number.
    fn number(&mut self, len: usize, name: String, about: &str) -> Option<u64> {
        let start = self.from;
        let stored = self.bytes.get(start..start.checked_add(len)?)?;
        let number = stored.iter().rev().fold(0, |sum, byte| sum << 8 | u64::from(*byte));
        self.from += len;
        self.push(start, name, number.to_string(), about);
        Some(number)
    }

    fn push(&mut self, start: usize, name: String, value: String, about: &str) {
        if self.out.len() < MOST {
            let about = format!("{about} AlpEncoding.md.");
            self.out.push(Explained::new(self.at + start, &self.bytes[start..self.from], name, value, about));
        }
    }

    fn page(&mut self, width: usize) -> Option<()> {
        self.number(1, "mode".to_owned(), "0: values were decimals.")?;
        self.number(
            1,
            "integer encoding".to_owned(),
            "0: integers are what they are above the least of their vector, bit by bit.",
        )?;
        let log = self.number(1, "size of vectors".to_owned(), "Values of a vector, as a power of two.")?;
        let count = usize::try_from(self.number(4, "values".to_owned(), "Values of the page.")?).ok()?;
        let size = 1usize.checked_shl(u32::try_from(log).ok()?).filter(|size| *size <= 1 << 15)?;
        let vectors = count.div_ceil(size);
        let (start, first) = (self.from, self.from);
        let offsets = self.bytes.get(start..start.checked_add(vectors.checked_mul(4)?)?)?;
        let offsets: Vec<usize> =
            offsets.as_chunks::<4>().0.iter().map(|offset| u32::from_le_bytes(*offset) as usize).collect();
        self.from += vectors * 4;
        let shown: Vec<String> = offsets.iter().take(8).map(usize::to_string).collect();
        let dots = if vectors > 8 { " .." } else { "" };
        self.push(
            start,
            "offsets".to_owned(),
            format!("{}{dots}", shown.join(" ")),
            "Where each vector begins, counted from the first offset, in four bytes each.",
        );
        for (vector, offset) in offsets.iter().enumerate() {
            if self.out.len() >= MOST {
                return Some(());
            }
            self.from = first.checked_add(*offset)?;
            self.vector(vector, size.min(count - vector * size), width)?;
        }
        Some(())
    }

    fn vector(&mut self, vector: usize, count: usize, width: usize) -> Option<()> {
        let name = |what: &str| format!("vector {vector}, {what}");
        let exponent =
            self.number(1, name("exponent"), "A value is its integer times 10^factor times 10^-exponent.")?;
        let factor =
            self.number(1, name("factor"), "A value is its integer times 10^factor times 10^-exponent.")?;
        let exceptions = self.number(
            2,
            name("exceptions"),
            "Values that would not come back: they stand behind the integers.",
        )? as usize;
        let start = self.from;
        let least = self.bytes.get(start..start.checked_add(width)?)?;
        let fill = if least.last().is_some_and(|byte| *byte > 127) { -1i64 } else { 0 };
        let least = least.iter().rev().fold(fill, |sum, byte| sum << 8 | i64::from(*byte));
        self.from += width;
        self.push(
            start,
            name("least integer"),
            least.to_string(),
            "What is packed is how much greater each integer is.",
        );
        let bits = self.number(1, name("bits"), "Bits of a packed integer.")?;
        let bits = u32::try_from(bits).ok().filter(|bits| *bits <= 64)?;
        let start = self.from;
        let len = count.checked_mul(bits as usize)?.div_ceil(8);
        let packed = self.bytes.get(start..start.checked_add(len)?)?;
        self.from += len;
        let power = |n: u64| 10f64.powi(i32::try_from(n).unwrap_or(0));
        let value = |number: u64| {
            let integer = least.wrapping_add(number as i64);
            let value = integer as f64 * power(factor) / power(exponent);
            format!("{integer} = {}", if width == 4 { (value as f32).to_string() } else { value.to_string() })
        };
        let shown: Vec<String> = unpacked(packed, bits, count.min(4)).into_iter().map(value).collect();
        let dots = if count > 4 { ", .." } else { "" };
        self.push(
            start,
            name("integers"),
            format!("{count} of {bits} bits: {}{dots}", shown.join(", ")),
            "Integers, the lowest bits first. At the places of exceptions they mean nothing.",
        );
        for i in 0..exceptions {
            self.number(2, name(&format!("place of exception {i}")), "Its number in the vector.")?;
        }
        for i in 0..exceptions {
            let start = self.from;
            let stored = self.bytes.get(start..start.checked_add(width)?)?;
            let value = match (stored.first_chunk::<8>(), stored.first_chunk::<4>()) {
                (Some(stored), _) if width == 8 => f64::from_le_bytes(*stored).to_string(),
                (_, Some(stored)) => f32::from_le_bytes(*stored).to_string(),
                _ => return None,
            };
            self.from += width;
            self.push(start, name(&format!("exception {i}")), value, "A value as it is.");
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use marquetry_encoding::{Values, alp};

    #[test]
    fn fields_are_those_of_the_specifications_example() {
        let page = [
            &[0, 0, 10, 4, 0, 0, 0, 4, 0, 0, 0, 4, 3, 1, 0, 0x07, 0x0d, 0, 0, 0, 0, 0, 0, 15][..],
            &[0x91, 0xad, 0xc8, 0x56, 0x28, 0x15, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0xf8, 0x7f],
        ]
        .concat();
        let fields = explain_alp(&page, 0, 8);
        let of = |name: &str| fields.iter().find(|field| field.name == name).unwrap().value.clone();
        assert_eq!((of("values"), of("vector 0, least integer")), ("4".to_owned(), "3335".to_owned()));
        assert_eq!(
            of("vector 0, integers"),
            "4 of 15 bits: 15000 = 1500, 15000 = 1500, 25000 = 2500, 3335 = 333.5"
        );
        assert_eq!(
            (of("vector 0, place of exception 0"), of("vector 0, exception 0")),
            ("1".to_owned(), "NaN".to_owned())
        );
        assert!(fields.iter().all(|field| field.name != "and more"));
    }

    #[test]
    fn all_bytes_of_our_pages_are_explained_and_damaged_ones_end() {
        let values: Vec<u64> = (0..3_000)
            .map(|i| if i % 97 == 0 { f64::from(i).sqrt() } else { f64::from(i) / 100.0 }.to_bits())
            .collect();
        let page = alp::encode(&Values::W64(values)).unwrap();
        assert!(explain_alp(&page, 0, 8).iter().all(|field| field.name != "and more"));
        for cut in (0..page.len()).step_by(7) {
            let _ = explain_alp(&page[..cut], 0, 8);
            let mut changed = page.clone();
            changed[cut] ^= 0xff;
            let _ = explain_alp(&changed, 0, 4);
        }
    }
}
