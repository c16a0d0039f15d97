//! The inner loops: bit packing, bitmaps, null expansion, filters, dictionary lookup, byte streams, byte strings.
//!
//! Each operation has a file with its definition in plain scalar code, written so that the compiler vectorizes it. `avx2`,
//! `avx512` and `neon` have the versions for a CPU, which must give the same results. The table [`Kernels`] holds one loop per
//! operation; `scalar.rs` and these folders fill one table each, `dispatch.rs` chooses the best one for this CPU, and the free
//! functions of `api.rs` call it.
//!
//! Functions check lengths once at the start, and never per value. Input slices may be longer than needed: the loops load whole
//! words where the slice allows it, so callers pass page bytes *with* their padding.
//!
//! Other `unsafe` code of the project is in one file of `marquetry-arrow` and in one of the Python package; UNSAFE.md lists each
//! block with its reason.

#[cfg(not(target_endian = "little"))]
compile_error!("views and packed values are read in place: only little-endian targets are supported");

mod alp;
mod api;
#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod bitmap;
mod byte_stream_split;
mod copy;
mod cpu_prefetch;
mod deltas;
mod dispatch;
mod expand;
mod filter;
mod gather;
mod le_words;
mod list_offsets;
mod min_max;
#[cfg(target_arch = "aarch64")]
mod neon;
mod pack;
mod prefix_sum;
mod scalar;
mod short_runs;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod shuffle_tables;
mod signatures;
mod string_offsets;
mod uninit;
mod unpack;
mod views;

pub use api::{
    alp_decode_f32, alp_decode_f64, alp_encode_f32, alp_encode_f64, bytes_of_entries, expand_bits,
    expand_ends, expand_fixed, expand_u32, expand_u64, expand_u128, filter_bits, filter_u8, filter_u32,
    filter_u64, filter_u128, gather, gather_u32, gather_views, list_offsets, max_u32, merge_streams,
    merge_streams_u32, merge_streams_u64, min_max_f32, min_max_f64, min_max_i32, min_max_i64, min_max_u32,
    min_max_u64, pack_u8, prefix_sum_u32, prefix_sum_u64, split_streams_u32, split_streams_u64,
    summarize_views, unpack_deltas_u32, unpack_deltas_u64, unpack_short_runs, unpack_short_runs_u8,
    unpack_u8, unpack_u32, unpack_u64,
};
pub use bitmap::{BitAppender, BitRun, Bitmap};
pub use byte_stream_split::split_streams;
pub use copy::{LONG_COPY_BYTES, push_padded};
pub use cpu_prefetch::{PREFETCH_BYTES, prefetch, prefetch_next_string};
pub use filter::filter_fixed;
pub use gather::gather_fixed;
pub use le_words::{copy_u32, copy_u64};
pub use pack::{pack_msb, pack_u32, pack_u64};
pub use short_runs::{MAX_SHORT_RUN_WIDTH, VALUES_PER_RUN};
pub use signatures::{AlpExactness, Kernels, ViewSummary};
pub use string_offsets::{
    Entries, Entry, append_plain_strings, concat_views, gather_strings, views_to_offsets, views_to_plain,
};
pub use unpack::{get_packed, unpack_msb_u8, unpack_msb_u32};
pub use views::{
    bytes_of_views, inline_view, long_view, plain_views, rebase_views, view_at, view_bytes, view_is_inline,
    view_len,
};
