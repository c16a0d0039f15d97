//! The inner loops: bit packing, bitmaps, null expansion, dictionary lookup, byte splitting, byte strings.
//!
//! Each file defines one operation in plain scalar code, written so that the compiler vectorises it; this is the
//! definition that every version for a CPU has to agree with. Versions for a CPU are in a file named after its level,
//! and all versions in the table [`Kernels`]; the functions here use the best that the CPU has. Functions check lengths
//! once, at the door, and never per value. Input slices may be longer than what is asked for: the loops load whole words where the slice
//! allows it, so callers hand over page bytes *with* their slack.
//!
//! This is the only crate of the project that may contain `unsafe`; UNSAFE.md lists each block with its reason.

#[cfg(not(target_endian = "little"))]
compile_error!("views and packed values are read in place: only little-endian targets are supported");

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod bits;
mod compact;
mod decimals;
mod deltas;
mod expand;
mod fetch;
mod gather;
mod joined;
#[cfg(target_arch = "aarch64")]
mod neon;
mod pack;
mod range;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod shuffles;
mod split;
mod sum;
mod table;
mod unpack;
mod views;
mod words;

pub use bits::{Appender, Bitmap, Stretch};
pub use compact::{compact_bits, compact_fixed, compact_u8, compact_u32, compact_u64, compact_u128};
pub use decimals::{Exact, integers_f32, integers_f64, unpack_decimals_f32, unpack_decimals_f64};
pub use deltas::{unpack_deltas_u32, unpack_deltas_u64};
pub use expand::{expand_bits, expand_fixed, expand_u32, expand_u64, expand_u128};
pub use fetch::{FETCHED, fetch, fetch_on_the_way};
pub use gather::{gather, gather_fixed, gather_views, max_u32};
pub use joined::{
    Entry, bytes_of_entries, concat_views, gather_joined, join_views, plain_joined, plain_strings,
    push_padded,
};
pub use pack::{pack_msb, pack_u8, pack_u16, pack_u32, pack_u64};
pub use range::{min_max_f32, min_max_f64, min_max_i32, min_max_i64, min_max_u32, min_max_u64};
pub use split::{join, join_u32, join_u64, split, split_u32, split_u64};
pub use sum::{prefix_sum_u32, prefix_sum_u64};
pub use table::Kernels;
pub use unpack::{get_packed, unpack_msb_u8, unpack_msb_u32, unpack_u8, unpack_u16, unpack_u32, unpack_u64};
pub use views::{
    Survey, bytes_of_views, inline_view, long_view, plain_views, rebase_views, survey, view_at, view_bytes,
    view_is_inline, view_len,
};
pub use words::{copy_u32, copy_u64};
