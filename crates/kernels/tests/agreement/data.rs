//! Values for all tests of this folder.

use marquetry_kernels::{Bitmap, Kernels};

pub(crate) fn scalar() -> &'static Kernels {
    Kernels::all_available().last().unwrap()
}

/// Numbers that look random, the same ones each time.
pub(crate) fn noise(n: usize) -> Vec<u64> {
    let mut state = 1u64;
    let next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.wrapping_mul(0x2545_f491_4f6c_dd1d)
    };
    std::iter::repeat_with(next).take(n).collect()
}

/// A bitmap of which about `per_cent` are 1.
pub(crate) fn bits(per_cent: u64, n: usize) -> Bitmap {
    noise(n).iter().map(|&value| (value >> 32) % 100 < per_cent).collect()
}

/// Lengths around the sizes of vectors and words.
pub(crate) const LENGTHS: [usize; 20] =
    [0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 130, 300];
