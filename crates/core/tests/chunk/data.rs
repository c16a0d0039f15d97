//! Values of all physical types out of words, and numbers that look random.

use marquetry_encoding::{FixedLenBytes, PhysicalType, StringViews, Values};

/// All physical types; some widths of fixed-length ones.
pub(crate) const PHYSICAL: [PhysicalType; 10] = [
    PhysicalType::Boolean,
    PhysicalType::Int32,
    PhysicalType::Int64,
    PhysicalType::Int96,
    PhysicalType::Float,
    PhysicalType::Double,
    PhysicalType::ByteArray,
    PhysicalType::FixedLenByteArray(0),
    PhysicalType::FixedLenByteArray(3),
    PhysicalType::FixedLenByteArray(16),
];

/// A value of the type for each word; different words may give the same value.
pub(crate) fn values(physical: PhysicalType, words: &[u64]) -> Values {
    match physical {
        PhysicalType::Boolean => Values::Bit(words.iter().map(|word| word & 1 == 1).collect()),
        PhysicalType::Int32 | PhysicalType::Float => {
            Values::W32(words.iter().map(|&word| word as u32).collect())
        }
        PhysicalType::Int64 | PhysicalType::Double => Values::W64(words.to_vec()),
        PhysicalType::Int96 => fixed(12, words),
        PhysicalType::FixedLenByteArray(width) => fixed(width, words),
        PhysicalType::ByteArray => {
            Values::Bytes(words.iter().map(|&word| string(word)).collect::<StringViews>())
        }
    }
}

fn fixed(width: usize, words: &[u64]) -> Values {
    let mut values = FixedLenBytes::new(width);
    for word in words {
        let bytes: Vec<u8> = word.to_le_bytes().into_iter().cycle().take(width).collect();
        values.push(&bytes);
    }
    Values::Fixed(values)
}

/// 0 to 30 bytes of ASCII.
fn string(word: u64) -> String {
    format!("{word:x}-").chars().cycle().take((word % 31) as usize).collect()
}

/// Value `i` as bytes.
pub(crate) fn cell(values: &Values, i: usize) -> Vec<u8> {
    match values {
        Values::Bit(bits) => vec![u8::from(bits.get(i))],
        Values::W32(words) => words[i].to_le_bytes().to_vec(),
        Values::W64(words) => words[i].to_le_bytes().to_vec(),
        Values::Fixed(fixed) => fixed.get(i).to_vec(),
        Values::Bytes(views) => views.get(i).to_vec(),
        Values::Offsets(strings) => strings.get(i).to_vec(),
    }
}

/// Numbers that look random and are always the same for a seed (splitmix64).
#[derive(Debug, Clone)]
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.0;
        word = (word ^ word >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ word >> 31
    }

    /// A number below `n > 0`.
    pub(crate) fn below(&mut self, n: usize) -> usize {
        (self.word() % n as u64) as usize
    }

    /// True once in `n` times.
    pub(crate) fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    pub(crate) fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }
}
