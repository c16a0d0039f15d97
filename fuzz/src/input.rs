//! The choices at the front of an input.

/// Takes choices from the front; an input that is too short has zeros.
pub(crate) struct Input<'a>(pub(crate) &'a [u8]);

impl<'a> Input<'a> {
    pub(crate) fn u8(&mut self) -> u8 {
        let Some((first, rest)) = self.0.split_first() else {
            return 0;
        };
        self.0 = rest;
        *first
    }

    pub(crate) fn u16(&mut self) -> u16 {
        u16::from_le_bytes([self.u8(), self.u8()])
    }

    /// One of `choices`.
    pub(crate) fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[usize::from(self.u8()) % choices.len()]
    }

    /// Up to `len` bytes.
    pub(crate) fn take(&mut self, len: usize) -> &'a [u8] {
        let (taken, rest) = self.0.split_at(len.min(self.0.len()));
        self.0 = rest;
        taken
    }
}

/// Sizes of reads, different for each seed: some small, some around blocks and vectors.
pub(crate) struct Splits(pub(crate) u64);

impl Splits {
    /// The next size, at most `left`, at least 1 unless nothing is left.
    pub(crate) fn next(&mut self, left: usize) -> usize {
        const SIZES: [usize; 8] = [1, 2, 7, 8, 31, 64, 129, 1_025];
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        SIZES[(self.0 >> 33) as usize % SIZES.len()].min(left)
    }
}
