//! Chooses the sizes of the parts of a multipart upload.

/// Sizes of parts that grow, so that the number of parts that stores allow is enough for the largest object that they allow,
/// though nobody says in advance how large it will be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PartSizes {
    first: u64,
}

impl PartSizes {
    /// So many bytes for the first parts, as far as stores take that.
    pub(crate) fn new(first: u64) -> Self {
        PartSizes { first: first.clamp(LEAST, MOST) }
    }

    /// Bytes of part number `n`, counted from 0.
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

/// S3, GCS: parts but the last have at least this.
const LEAST: u64 = 5 << 20;
/// S3: at most 5 GiB; Azure: 4,000 MiB.
const MOST: u64 = 2 << 30;
/// Then the next are twice as large.
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
