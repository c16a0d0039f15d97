//! Chooses the sizes of the parts of a multipart upload.

/// Growing part sizes. The number of parts that stores allow then suffices for the largest object that they allow,
/// though nobody knows in advance how large the object will be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PartSizes {
    first: u64,
}

impl PartSizes {
    /// Sets the size of the first parts in bytes, clamped to what stores accept.
    pub(crate) fn new(first: u64) -> Self {
        PartSizes { first: first.clamp(LEAST, MOST) }
    }

    /// Returns the size in bytes of part number `n`, counted from 0.
    pub(crate) fn of(self, n: u64) -> u64 {
        let doublings = (n / PARTS_OF_A_SIZE).min(u64::from(u64::BITS) / 2);
        (self.first << doublings).min(MOST)
    }
}

impl Default for PartSizes {
    fn default() -> Self {
        PartSizes { first: 8 << 20 }
    }
}

/// Minimum size of parts but the last, for S3 and GCS.
const LEAST: u64 = 5 << 20;
/// Maximum size of parts: S3 accepts 5 GiB, Azure 4,000 MiB.
const MOST: u64 = 2 << 30;
/// Number of parts after which the size doubles.
const PARTS_OF_A_SIZE: u64 = 800;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_thousand_parts_are_enough() {
        for first in [0, LEAST, 8 << 20, 100 << 20, u64::MAX] {
            let sizes = PartSizes::new(first);
            let all: u64 = (0..10_000).map(|n| sizes.of(n)).sum();
            assert!(all > 5 << 40, "{first}: {all}");
            assert!((0..10_000).all(|n| (LEAST..=MOST).contains(&sizes.of(n))));
            assert!((1..10_000).all(|n| sizes.of(n - 1) <= sizes.of(n)));
        }
        assert_eq!(PartSizes::default().of(799), 8 << 20);
        assert_eq!(PartSizes::default().of(800), 16 << 20);
    }
}
