//! Builds a bitmap block by block: test results are bytes first, then bits.

use marquetry_encoding::Bitmap;

/// Rows at a time: what is between the loops stays in the nearest cache.
pub(super) const VALUES_PER_BLOCK: usize = 1024;

/// `n` bits of bytes that are 0 or 1: `fill` makes those from a place on.
pub(super) fn of_blocks(n: usize, fill: impl Fn(usize, &mut [u8])) -> Bitmap {
    let mut out = Bitmap::new();
    out.reserve(n);
    let mut block = [0; VALUES_PER_BLOCK];
    for start in (0..n).step_by(VALUES_PER_BLOCK) {
        let block = &mut block[..VALUES_PER_BLOCK.min(n - start)];
        fill(start, block);
        out.push_ge(block, 1);
    }
    out
}
