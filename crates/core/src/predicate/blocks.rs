//! Builds a bitmap block by block: test results are bytes first, then bits.

use marquetry_encoding::Bitmap;

/// Rows at a time: results between the loops stay in the first-level cache.
pub(super) const VALUES_PER_BLOCK: usize = 1024;

/// Returns `n` bits from bytes that are 0 or 1, which `fill` writes from a given row on.
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
