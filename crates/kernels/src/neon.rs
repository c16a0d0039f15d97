//! The loops for 64-bit ARM CPUs, all of which have NEON.
//!
//! The compiler uses NEON for the scalar loops, too. So only those loops are written out that it does not vectorize, or
//! vectorizes badly; the other rows of the table are the scalar loops. That the loops here are faster is an estimate, not
//! a measurement: see UNSAFE.md.

mod byte_stream_split;
mod expand;
mod filter;
mod pack;
mod prefix_sum;
mod unpack;
mod vector;

use crate::bitmap;
use crate::scalar::SCALAR;
use crate::signatures::{Kernels, ViewSummary};
use std::arch::aarch64::*;
use std::mem::MaybeUninit;
use vector::{each, fill, load, store, words};

/// Whether this CPU has NEON. Known at compile time, except on targets without floating point.
pub(crate) fn is_available() -> bool {
    std::arch::is_aarch64_feature_detected!("neon")
}

pub(crate) const NEON: Kernels = Kernels {
    name: "neon",
    unpack_u8: unpack::unpack_u8,
    unpack_u32: unpack::unpack_u32,
    unpack_u64: unpack::unpack_u64,
    pack_u8: pack::pack_u8,
    expand_u32: expand::expand_u32,
    expand_u64: expand::expand_u64,
    expand_u128: expand::expand_u128,
    filter_u8: filter::filter_u8,
    filter_u32: filter::filter_u32,
    prefix_sum_u32: prefix_sum::prefix_sum_u32,
    prefix_sum_u64: prefix_sum::prefix_sum_u64,
    split_streams_u32: byte_stream_split::split_streams_u32,
    split_streams_u64: byte_stream_split::split_streams_u64,
    levels_ge,
    summarize_views,
    merge_streams_u32: byte_stream_split::merge_streams_u32,
    merge_streams_u64: byte_stream_split::merge_streams_u64,
    ..SCALAR
};

/// Each level that is high enough leaves its bit. Sums of neighbours, three times, collect eight bits in a byte.
#[target_feature(enable = "neon")]
fn levels_ge(levels: &[u8], threshold: u8, out: &mut [MaybeUninit<u8>]) {
    let (groups, rest) = levels.as_chunks::<128>();
    assert_eq!(levels.len(), out.len() * 8);
    let (masks, last) = out.split_at_mut(groups.len() * 16);
    let threshold_vector = vdupq_n_u8(threshold);
    let bits = load(&[[1u8, 2, 4, 8, 16, 32, 64, 128]; 2]);
    for (group, mask) in groups.iter().zip(masks.as_chunks_mut::<16>().0) {
        let [a, b, c, d, e, f, g, h] =
            each(group).map(|levels| vandq_u8(vcgeq_u8(load(levels), threshold_vector), bits));
        let (ab, cd, ef, gh) = (vpaddq_u8(a, b), vpaddq_u8(c, d), vpaddq_u8(e, f), vpaddq_u8(g, h));
        fill(mask, vpaddq_u8(vpaddq_u8(ab, cd), vpaddq_u8(ef, gh)));
    }
    bitmap::levels_ge_scalar(rest, threshold, last);
}

/// A view is one vector of four fields: length, prefix, buffer, offset.
#[target_feature(enable = "neon")]
fn summarize_views(views: &[u128]) -> ViewSummary {
    let (longest_inline, only_offsets) = (vdupq_n_u32(12), words(load(&[0u32, 0, 0, u32::MAX])));
    let mut inline = vdupq_n_u32(0);
    let (mut least, mut greatest) = (vdupq_n_u32(u32::MAX), vdupq_n_u32(0));
    for view in views {
        let view = words(load(std::array::from_ref(view)));
        let lengths = vdupq_laneq_u32::<0>(view);
        let is_inline = vcleq_u32(lengths, longest_inline);
        inline = vorrq_u32(inline, vandq_u32(view, is_inline));
        least = vminq_u32(least, vorrq_u32(view, is_inline));
        let ends = vaddq_u32(view, vandq_u32(lengths, only_offsets));
        greatest = vmaxq_u32(greatest, vbicq_u32(ends, is_inline));
    }
    let mut inlines = [0u128];
    store(&mut inlines, vreinterpretq_u8_u32(inline));
    ViewSummary {
        inline: inlines[0],
        buffers: (vgetq_lane_u32::<2>(least), vgetq_lane_u32::<2>(greatest)),
        range: (vgetq_lane_u32::<3>(least), vgetq_lane_u32::<3>(greatest)),
    }
}
