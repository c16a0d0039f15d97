//! The loops for x86-64 CPUs with AVX-512 and VBMI2: Ice Lake, Zen 4, and later ones. Older CPUs with AVX-512 lower their clock for it.
//!
//! Only loops that are better with these instructions than with AVX2 are here: spreading and compacting by a mask,
//! which are one instruction each, sums over longer vectors, and code with many masks.

mod expand;
mod filter;
mod prefix_sum;
mod vector;

use crate::alp::alp_encode_scalar;
use crate::avx2;
use crate::signatures::{AlpExactness, Kernels};
use std::arch::x86_64::*;
use std::mem::MaybeUninit;
use vector::{fill, load};

/// Whether this CPU has all instructions that the loops of [`AVX512`] use.
pub(crate) fn is_available() -> bool {
    avx2::is_available()
        && is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512vl")
        && is_x86_feature_detected!("avx512vbmi2")
}

pub(crate) const AVX512: Kernels = Kernels {
    name: "avx512",
    expand_u32: expand::expand_u32,
    expand_u64: expand::expand_u64,
    expand_u128: expand::expand_u128,
    filter_u8: filter::filter_u8,
    filter_u32: filter::filter_u32,
    filter_u64: filter::filter_u64,
    prefix_sum_u32: prefix_sum::prefix_sum_u32,
    prefix_sum_u64: prefix_sum::prefix_sum_u64,
    alp_encode_f64,
    gather_small_u32: Some(gather_small_u32),
    ..avx2::AVX2
};

/// Holds the dictionary in two vectors of 16 values. One instruction looks up an index in both.
#[target_feature(enable = "avx512f")]
fn gather_small_u32(dictionary: &[u32; 32], indices: &[u32], out: &mut [MaybeUninit<u32>]) {
    assert_eq!(indices.len(), out.len());
    let [low, high] = std::array::from_fn(|i| load(&dictionary.as_chunks::<16>().0[i]));
    let (indices, rest) = indices.as_chunks::<16>();
    let (slots, last) = out.as_chunks_mut::<16>();
    for (indices, slots) in indices.iter().zip(slots) {
        fill(slots, _mm512_permutex2var_epi32(low, load(indices), high));
    }
    for (index, slot) in rest.iter().zip(last) {
        slot.write(dictionary[*index as usize % 32]);
    }
}

/// The scalar loop, compiled once more: masks have registers of their own here.
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
fn alp_encode_f64(
    values: &[u64],
    to: [f64; 2],
    back: [f64; 2],
    integers: &mut [u64],
    exact: &mut [u64],
) -> AlpExactness {
    alp_encode_scalar(values, to, back, integers, exact)
}
