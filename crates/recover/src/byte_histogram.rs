//! Compares the contents of chunks by how often each byte occurs: chunks of one column are alike, those of two columns
//! seldom.

use marquetry_encoding::{PhysicalType, Shape};

/// A histogram of bytes. The bytes of numbers are counted by their place in the number, in broader classes.
#[derive(Debug, Clone)]
pub(crate) struct ByteHistogram {
    counts: [u16; BINS],
    total: u16,
    /// Estimated number of bytes that are independent of each other.
    independent: f64,
}

impl Default for ByteHistogram {
    fn default() -> Self {
        ByteHistogram { counts: [0; BINS], total: 0, independent: 0.0 }
    }
}

impl ByteHistogram {
    /// Counts a sample of the bytes. It is taken from the end, because values end there, behind the levels.
    pub(crate) fn new(bytes: &[u8], physical: PhysicalType) -> Self {
        let width = match physical.shape() {
            Shape::W32 => 4,
            Shape::W64 => 8,
            _ => 1,
        };
        let mut out = ByteHistogram::default();
        for (i, byte) in bytes.iter().rev().take(SAMPLE).enumerate() {
            let bin = match width {
                1 => usize::from(*byte),
                width => i % width * (BINS / width) + usize::from(*byte) * (BINS / width) / 256,
            };
            out.counts[bin] += 1;
            out.total += 1;
        }
        // The bytes of a string depend on each other.
        out.independent = (f64::from(out.total) / if width == 1 { 4.0 } else { 1.0 }).max(1.0);
        out
    }

    /// Returns the share of the bytes, from 0 to 1, that differs by more than chance explains.
    pub(crate) fn distance(&self, other: &ByteHistogram) -> f64 {
        let (a, b) = (f64::from(self.total), f64::from(other.total));
        if self.total == 0 || other.total == 0 {
            return 0.0;
        }
        let (mut differing, mut noise) = (0.0, 0.0);
        for (x, y) in self.counts.iter().zip(&other.counts).map(|(x, y)| (f64::from(*x), f64::from(*y))) {
            differing += (x / a - y / b).abs() / 2.0;
            // The standard deviation of the difference between two samples of the same source.
            noise += ((x + y) / (a + b) * (1.0 / self.independent + 1.0 / other.independent)).sqrt() / 2.0;
        }
        (differing - noise).clamp(0.0, 1.0)
    }
}

const BINS: usize = 256;
/// Maximum number of bytes that are counted.
const SAMPLE: usize = u16::MAX as usize;

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(values: impl Iterator<Item = u64>) -> ByteHistogram {
        let bytes: Vec<u8> = values.flat_map(|value| value.wrapping_mul(0x9e37).to_le_bytes()).collect();
        ByteHistogram::new(&bytes, PhysicalType::Int64)
    }

    #[test]
    fn samples_of_one_column_are_alike() {
        let scattered = |seed: u64| numbers((0..200u64).map(move |i| (i * 31 + seed) % 40));
        assert!(scattered(1).distance(&scattered(2)) < 0.02);
        assert!(scattered(1).distance(&numbers((0..200).map(|i| i << 24))) > 0.15);
        let text = |text: &str| ByteHistogram::new(text.repeat(30).as_bytes(), PhysicalType::ByteArray);
        assert!(text("one two three").distance(&text("four five six")) > 0.15);
        assert_eq!(text("").distance(&text("four five six")), 0.0);
    }
}
