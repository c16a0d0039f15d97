//! How a bloom filter answers whether it may have a value, step by step.

use crate::screen::Screen;
use crate::text::{hex, shown};
use marquetry_core::statistics::{BloomFilter, BloomFilterHead};
use marquetry_encoding::PhysicalType;

/// One probe of the filter.
pub(crate) struct BloomProbe {
    value: String,
    lines: Vec<[String; 3]>,
    place: Option<u64>,
}

impl BloomProbe {
    /// `text` is a value as stored. Fails if values of the type cannot be typed.
    pub(crate) fn new(
        text: &str,
        physical: PhysicalType,
        head: BloomFilterHead,
        filter: &[u8],
        place: Option<u64>,
    ) -> Result<Self, String> {
        let stored = stored(text, physical)?;
        let hash = BloomFilter::hash(&stored);
        let range = head.block_of(hash);
        let block = filter.get(range.clone()).unwrap_or_default();
        let number = (range.start - head.header_bytes()) / block.len().max(1);
        let may = BloomFilterHead::might_contain(block, hash);
        let mut lines = vec![
            [
                "value".to_owned(),
                hex(&stored, 16),
                "The bytes of the value as PLAIN stores it, strings without their length. BloomFilter.md."
                    .to_owned(),
            ],
            [
                "hash".to_owned(),
                format!("{hash:016x}"),
                "xxHash of 64 bits, seed 0. BloomFilter.md.".to_owned(),
            ],
            [
                "block".to_owned(),
                number.to_string(),
                "The upper half of the hash, times the number of blocks, divided by 2^32. BloomFilter.md."
                    .to_owned(),
            ],
        ];
        for (i, (salt, word)) in SALTS.iter().zip(block.as_chunks::<4>().0).enumerate() {
            let bit = (hash as u32).wrapping_mul(*salt) >> 27;
            let is_set = u32::from_le_bytes(*word) >> bit & 1 == 1;
            lines.push([
                format!("word {i}"),
                format!("bit {bit} is {}", if is_set { "set" } else { "not set" }),
                format!("The lower half of the hash, times {salt:08x}, and of that the five highest bits. BloomFilter.md."),
            ]);
        }
        let (answer, about) = match may {
            true => (
                "it may be in the chunk",
                "All eight bits are set: the chunk has to be read. Other values may have set them, too.",
            ),
            false => (
                "it is not in the chunk",
                "A bit that the value would have set is not: the chunk is skipped, and that is for sure.",
            ),
        };
        lines.push(["answer".to_owned(), answer.to_owned(), format!("{about} BloomFilter.md.")]);
        let place = place.map(|place| place + range.start as u64);
        Ok(BloomProbe { value: shown(text), lines, place })
    }
}

fn stored(text: &str, physical: PhysicalType) -> Result<Vec<u8>, String> {
    let wrong = || format!("No value of {physical}, as it is stored: {}", shown(text));
    let text = text.trim();
    Ok(match physical {
        PhysicalType::Int32 => text.parse::<i32>().map_err(|_| wrong())?.to_le_bytes().to_vec(),
        PhysicalType::Int64 => text.parse::<i64>().map_err(|_| wrong())?.to_le_bytes().to_vec(),
        PhysicalType::Float => text.parse::<f32>().map_err(|_| wrong())?.to_le_bytes().to_vec(),
        PhysicalType::Double => text.parse::<f64>().map_err(|_| wrong())?.to_le_bytes().to_vec(),
        PhysicalType::ByteArray => text.as_bytes().to_vec(),
        PhysicalType::FixedLenByteArray(width) if text.len() == width => text.as_bytes().to_vec(),
        _ => return Err(wrong()),
    })
}

impl Screen for BloomProbe {
    fn title(&self) -> String {
        format!("is {} in it", self.value)
    }

    fn headings(&self) -> Vec<String> {
        ["step", "gives"].map(str::to_owned).to_vec()
    }

    fn len(&self) -> (usize, bool) {
        (self.lines.len(), true)
    }

    fn begin(&self) -> usize {
        self.lines.len() - 1
    }

    fn row(&mut self, index: usize) -> Vec<String> {
        self.lines[index][..2].to_vec()
    }

    fn about(&mut self, index: usize) -> String {
        self.lines[index][2].clone()
    }

    fn byte(&mut self, _: usize) -> Option<u64> {
        self.place
    }
}

/// SPEC: BloomFilter.md has them in decimal.
const SALTS: [u32; 8] =
    [0x47b6_137b, 0x4497_4d91, 0x8824_ad5b, 0xa2b7_289d, 0x7054_95c7, 0x2df1_424b, 0x9efc_4947, 0x5c6b_fb31];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_answer_is_the_filters_and_the_bits_say_why() {
        let mut filter = BloomFilter::new(100, 0.01);
        (0..100i64).for_each(|i| filter.insert_hash(BloomFilter::hash(&i.to_le_bytes())));
        let mut bytes = Vec::new();
        filter.write(&mut bytes);
        let head = BloomFilterHead::read(&bytes).unwrap();
        for value in 0..2_000i64 {
            let mut probe =
                BloomProbe::new(&value.to_string(), PhysicalType::Int64, head, &bytes, Some(7)).unwrap();
            assert_eq!(probe.len().0, 12);
            let all_set = (3..11).all(|line| probe.row(line)[1].ends_with("is set"));
            let may = filter.might_contain(&value.to_le_bytes());
            assert_eq!((all_set, probe.row(11)[1] == "it may be in the chunk"), (may, may), "{value}");
            assert!(may || value >= 100);
        }
        assert!(BloomProbe::new("x", PhysicalType::Int32, head, &bytes, None).is_err());
        assert!(BloomProbe::new("1", PhysicalType::Boolean, head, &bytes, None).is_err());
    }
}
