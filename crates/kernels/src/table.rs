//! The table of inner loops, one for each level of CPU, and the choice between them.
//!
//! What is safe here and why: a loop in the table checks the lengths it is given itself, once, before it starts, so
//! the only thing that its caller must know is that the CPU has the level's instructions. That is known of every
//! table there is, because [`Kernels::current`] and [`Kernels::all_available`] hand out no others.

use crate::decimals::Exact;
use crate::views::Survey;
use crate::{bits, compact, decimals, expand, gather, pack, range, split, sum, unpack, views};
use std::mem::MaybeUninit;
use std::sync::OnceLock;

/// A loop that unpacks groups of eight values; `source` has [`unpack::OVERREAD`] bytes more than they take, the width is
/// at least 1.
pub(crate) type Unpack<T> = unsafe fn(source: &[u8], width: u32, out: &mut [MaybeUninit<T>]);
/// A loop that packs groups of eight values into `width` bytes each: `out` has as many.
pub(crate) type Pack<T> = unsafe fn(values: &[T], width: u32, out: &mut [MaybeUninit<u8>]);
/// A loop that spreads values, of which `dense` has the bytes, over the slots of `out`, by the bits of `validity` from bit `first` on.
pub(crate) type Expand<T, const W: usize> =
    unsafe fn(dense: &[[u8; W]], validity: &[u8], first: usize, out: &mut [MaybeUninit<T>]);
/// A loop that moves those of `values` to the front of `out` whose bit is 1, for value `i` bit `first + i` of `keep`; returns
/// how many. `out` has room for [`compact::SLACK`] values more.
pub(crate) type Compact<T> =
    unsafe fn(values: &[T], keep: &[u8], first: usize, out: &mut [MaybeUninit<T>]) -> usize;
/// A loop that makes values of deltas; returns the last.
pub(crate) type PrefixSum<T> = unsafe fn(values: &mut [T], before: T, least: T) -> T;
/// A loop that unpacks groups of eight deltas, as [`Unpack`], and makes values of them; returns the last.
pub(crate) type Deltas<T> =
    unsafe fn(source: &[u8], width: u32, before: T, least: T, out: &mut [MaybeUninit<T>]) -> T;
/// A loop that unpacks groups of eight integers, as [`Unpack`], and makes floats of them.
pub(crate) type Decimals<T, F> =
    unsafe fn(source: &[u8], width: u32, least: T, powers: [F; 2], out: &mut [MaybeUninit<T>]);
/// A loop that finds the integers that floats come from.
pub(crate) type Integers<T, F> =
    unsafe fn(values: &[T], to: [F; 2], back: [F; 2], integers: &mut [T], exact: &mut [T]) -> Exact;
/// A loop that finds the least and the greatest of words, read as `V`.
pub(crate) type MinMax<T, V> = unsafe fn(words: &[T]) -> (V, V);
/// A loop that finds the least and the greatest of floats, as integers of that order, and counts the NaNs.
pub(crate) type MinMaxFloat<T, V> = unsafe fn(words: &[T]) -> (V, V, usize);
/// A loop that splits values into as many byte streams as a value has bytes; these are as long as the values are many.
pub(crate) type Split<T, const W: usize> = unsafe fn(values: &[T], streams: [&mut [MaybeUninit<u8>]; W]);
/// A loop that joins as many byte streams as a value has bytes.
pub(crate) type Join<T, const W: usize> = unsafe fn(streams: [&[u8]; W], out: &mut [MaybeUninit<T>]);

/// The inner loops for one level of CPU. All levels do the same; the free functions of this crate use the best one.
///
/// INVARIANT: a table is only reachable on a CPU that has the instructions of its loops, and every loop that is given
/// an `out` writes all of it; one that compacts, as much as it returns.
pub struct Kernels {
    pub(crate) name: &'static str,
    pub(crate) unpack_u8: Unpack<u8>,
    pub(crate) unpack_u32: Unpack<u32>,
    pub(crate) unpack_u64: Unpack<u64>,
    pub(crate) pack_u8: Pack<u8>,
    pub(crate) expand_u32: Expand<u32, 4>,
    pub(crate) expand_u64: Expand<u64, 8>,
    pub(crate) expand_u128: Expand<u128, 16>,
    /// Moves the lowest bits of `dense` to the positions of the ones of `validity`, lowest first.
    pub(crate) expand_word: unsafe fn(dense: u64, validity: u64) -> u64,
    pub(crate) compact_u8: Compact<u8>,
    pub(crate) compact_u32: Compact<u32>,
    pub(crate) compact_u64: Compact<u64>,
    pub(crate) compact_u128: Compact<u128>,
    /// Moves the bits of `bits` where `wanted` is 1 to the lowest positions, lowest first.
    pub(crate) compact_word: unsafe fn(bits: u64, wanted: u64) -> u64,
    pub(crate) prefix_sum_u32: PrefixSum<u32>,
    pub(crate) prefix_sum_u64: PrefixSum<u64>,
    /// If it gains something to do both at once.
    pub(crate) deltas_u32: Option<Deltas<u32>>,
    /// For widths up to [`WIDEST_IN_REGISTERS`](unpack::WIDEST_IN_REGISTERS).
    pub(crate) deltas_u64: Option<Deltas<u64>>,
    /// If it gains something to do both at once.
    pub(crate) decimals_f32: Option<Decimals<u32, f32>>,
    /// For integers of [`are_small`](decimals::are_small), whose width is at most
    /// [`WIDEST_IN_REGISTERS`](unpack::WIDEST_IN_REGISTERS).
    pub(crate) decimals_f64: Option<Decimals<u64, f64>>,
    pub(crate) integers_f32: Integers<u32, f32>,
    pub(crate) integers_f64: Integers<u64, f64>,
    pub(crate) min_max_i32: MinMax<u32, i32>,
    pub(crate) min_max_i64: MinMax<u64, i64>,
    pub(crate) min_max_u32: MinMax<u32, u32>,
    pub(crate) min_max_u64: MinMax<u64, u64>,
    pub(crate) min_max_f32: MinMaxFloat<u32, i32>,
    pub(crate) min_max_f64: MinMaxFloat<u64, i64>,
    pub(crate) split_u32: Split<u32, 4>,
    pub(crate) split_u64: Split<u64, 8>,
    pub(crate) max_u32: unsafe fn(values: &[u32]) -> u32,
    /// Counts the ones of `n` bits from bit `first` on.
    pub(crate) count_ones: unsafe fn(bytes: &[u8], first: usize, n: usize) -> usize,
    /// Makes a byte of eight bits of every eight levels: which are at least `threshold`.
    pub(crate) at_least: unsafe fn(levels: &[u8], threshold: u8, out: &mut [MaybeUninit<u8>]),
    pub(crate) survey: unsafe fn(views: &[u128]) -> Survey,
    pub(crate) join_u32: Join<u32, 4>,
    pub(crate) join_u64: Join<u64, 8>,
}

/// The definition: what the other levels must agree with.
pub(crate) const SCALAR: Kernels = Kernels {
    name: "scalar",
    unpack_u8: unpack::unpack_u8_scalar,
    unpack_u32: unpack::unpack_u32_scalar,
    unpack_u64: unpack::unpack_u64_scalar,
    pack_u8: pack::pack_u8_scalar,
    expand_u32: expand::expand_scalar,
    expand_u64: expand::expand_scalar,
    expand_u128: expand::expand_scalar,
    expand_word: expand::expand_word_scalar,
    compact_u8: compact::compact_scalar,
    compact_u32: compact::compact_scalar,
    compact_u64: compact::compact_scalar,
    compact_u128: compact::compact_scalar,
    compact_word: compact::compact_word_scalar,
    prefix_sum_u32: sum::prefix_sum_u32_scalar,
    prefix_sum_u64: sum::prefix_sum_u64_scalar,
    deltas_u32: None,
    deltas_u64: None,
    decimals_f32: None,
    decimals_f64: None,
    integers_f32: decimals::integers::<f32>,
    integers_f64: decimals::integers::<f64>,
    min_max_i32: range::min_max_i32_scalar,
    min_max_i64: range::min_max_i64_scalar,
    min_max_u32: range::min_max_u32_scalar,
    min_max_u64: range::min_max_u64_scalar,
    min_max_f32: range::min_max_f32_scalar,
    min_max_f64: range::min_max_f64_scalar,
    split_u32: split::split_u32_scalar,
    split_u64: split::split_u64_scalar,
    max_u32: gather::max_u32_scalar,
    count_ones: bits::count_ones_scalar,
    at_least: bits::at_least_scalar,
    survey: views::survey_scalar,
    join_u32: split::join_u32_scalar,
    join_u64: split::join_u64_scalar,
};

/// A table, and whether this CPU has what it needs.
type Level = (&'static Kernels, fn() -> bool);

/// All tables, the best first.
static LEVELS: &[Level] = &[
    #[cfg(target_arch = "x86_64")]
    (&crate::avx512::AVX512, crate::avx512::is_available),
    #[cfg(target_arch = "x86_64")]
    (&crate::avx2::AVX2, crate::avx2::is_available),
    #[cfg(target_arch = "aarch64")]
    (&crate::neon::NEON, crate::neon::is_available),
    (&SCALAR, || true),
];

impl Kernels {
    /// The loops that this process uses: the best that the CPU has, or those that the environment variable
    /// `MARQUETRY_KERNELS` names (`scalar`, `avx2`, `avx512`, `neon`), if the CPU has them. Decided once.
    #[inline]
    pub fn current() -> &'static Kernels {
        static CURRENT: OnceLock<&'static Kernels> = OnceLock::new();
        CURRENT.get_or_init(|| {
            let wanted = std::env::var("MARQUETRY_KERNELS").unwrap_or_default();
            let named = Kernels::all_available().find(|kernels| kernels.name == wanted);
            named.or_else(|| Kernels::all_available().next()).unwrap_or(&SCALAR)
        })
    }

    /// The loops of every level that this CPU has, the best first: for tests and measurements.
    pub fn all_available() -> impl Iterator<Item = &'static Kernels> {
        LEVELS.iter().filter(|(_, is_available)| is_available()).map(|(kernels, _)| *kernels)
    }

    /// What `MARQUETRY_KERNELS` calls this level.
    pub fn name(&self) -> &'static str {
        self.name
    }
}

impl std::fmt::Debug for Kernels {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Kernels({})", self.name)
    }
}

/// Appends `n` elements that `fill` writes into uninitialised memory.
///
/// # Safety
/// `fill` must write every element of the slice it is given.
#[inline(always)]
pub(crate) unsafe fn append<T: Copy>(out: &mut Vec<T>, n: usize, fill: impl FnOnce(&mut [MaybeUninit<T>])) {
    out.reserve(n);
    fill(&mut out.spare_capacity_mut()[..n]);
    // SAFETY: the capacity for `n` more was reserved, and they were written.
    unsafe { out.set_len(out.len() + n) };
}
