//! The table of inner loops, [`Kernels`], and the function pointer type of each loop.
//!
//! Calling a loop is sound if the CPU has the instructions of the loop's level: a loop checks the lengths of its slices
//! itself, once, before it starts. Every table that can be reached guarantees the instructions, because
//! `Kernels::current` and `Kernels::all_available` return no other tables.

use std::mem::MaybeUninit;

/// Unpacks groups of eight values of `width >= 1` bits. `source` has `unpack::OVERREAD_BYTES` bytes more than the groups take.
pub(crate) type Unpack<T> = unsafe fn(source: &[u8], width: u32, out: &mut [MaybeUninit<T>]);
/// Packs groups of eight values into `width` bytes each, which fill `out`.
pub(crate) type Pack<T> = unsafe fn(values: &[T], width: u32, out: &mut [MaybeUninit<u8>]);
/// Writes dense values, given as bytes, to the slots of `out` whose validity bit is 1, and 0 to the others. Slot `i`
/// has bit `first + i` of `validity`.
pub(crate) type Expand<T, const W: usize> =
    unsafe fn(dense: &[[u8; W]], validity: &[u8], first: usize, out: &mut [MaybeUninit<T>]);
/// Writes the next of `ends` to the slots of `out` whose validity bit is 1, and the previous one to the others. Slot
/// `i` has bit `first + i` of `validity`. There is one more end than there are ones.
pub(crate) type ExpandEnds =
    unsafe fn(ends: &[u32], validity: &[u8], first: usize, out: &mut [MaybeUninit<u32>]);
/// Writes the values whose bit is 1 to the front of `out`, and returns their number. Value `i` has bit `first + i` of `keep`.
/// `out` has `filter::EXTRA_SLOTS` slots more than there are ones.
pub(crate) type Filter<T> =
    unsafe fn(values: &[T], keep: &[u8], first: usize, out: &mut [MaybeUninit<T>]) -> usize;
/// Turns deltas into values, in place. Returns the last value.
pub(crate) type PrefixSum<T> = unsafe fn(values: &mut [T], before: T, least: T) -> T;
/// Unpacks groups of eight deltas, as [`Unpack`] does, and turns them into values. Returns the last value.
pub(crate) type UnpackDeltas<T> =
    unsafe fn(source: &[u8], width: u32, before: T, least: T, out: &mut [MaybeUninit<T>]) -> T;
/// Unpacks groups of eight ALP integers, as [`Unpack`] does, and turns them into the bits of floats.
pub(crate) type AlpDecode<T, F> =
    unsafe fn(source: &[u8], width: u32, least: T, powers: [F; 2], out: &mut [MaybeUninit<T>]);
/// Computes the ALP integer of each float, and whether it decodes to the same bits.
pub(crate) type AlpEncode<T, F> =
    unsafe fn(values: &[T], to: [F; 2], back: [F; 2], integers: &mut [T], exact: &mut [T]) -> AlpExactness;
/// The minimum and the maximum of words, read as `V`.
pub(crate) type MinMax<T, V> = unsafe fn(words: &[T]) -> (V, V);
/// The minimum and the maximum of floats, as integers of the same order, and the number of NaNs.
pub(crate) type MinMaxFloat<T, V> = unsafe fn(words: &[T]) -> (V, V, usize);
/// Splits values into byte streams: one for each byte of a value, with one byte for each value.
pub(crate) type SplitStreams<T, const W: usize> =
    unsafe fn(values: &[T], streams: [&mut [MaybeUninit<u8>]; W]);
/// Computes the number of elements before each one of `begins`. `out` has a slot for each one.
pub(crate) type ListOffsets = unsafe fn(begins: &[u8], elements: Option<&[u8]>, out: &mut [MaybeUninit<i32>]);
/// Maximum number of values of a dictionary that fits into registers.
pub(crate) const SMALL_DICTIONARY: usize = 32;
/// Looks up indices in a small dictionary. Only the lowest five bits of an index count.
pub(crate) type GatherSmall<T> =
    unsafe fn(dictionary: &[T; SMALL_DICTIONARY], indices: &[u32], out: &mut [MaybeUninit<T>]);
/// Unpacks runs of values of `width` bits, 1 to 16, from `position` of `padded[..len]` on. Stops before a run that is not short or that
/// might leave fewer than `short_runs::VALUES_PER_RUN` slots of `out`. Returns the position of that run, and the number of values written.
pub(crate) type UnpackShortRuns<T> = unsafe fn(
    padded: &[u8],
    len: usize,
    position: usize,
    width: u32,
    out: &mut [MaybeUninit<T>],
) -> (usize, usize);
/// Merges byte streams, one for each byte of a value, into values.
pub(crate) type MergeStreams<T, const W: usize> = unsafe fn(streams: [&[u8]; W], out: &mut [MaybeUninit<T>]);

/// The inner loops for one level of CPU. All levels give the same results; the free functions of this crate use the best one.
///
/// INVARIANT: a table can only be reached on a CPU that has the instructions of its loops. Every loop that is given an `out`
/// writes all of it; a loop that filters writes as many values as it returns.
pub struct Kernels {
    pub(crate) name: &'static str,
    pub(crate) unpack_u8: Unpack<u8>,
    pub(crate) unpack_u32: Unpack<u32>,
    pub(crate) unpack_u64: Unpack<u64>,
    pub(crate) pack_u8: Pack<u8>,
    pub(crate) expand_u32: Expand<u32, 4>,
    pub(crate) expand_u64: Expand<u64, 8>,
    pub(crate) expand_u128: Expand<u128, 16>,
    pub(crate) expand_ends: ExpandEnds,
    /// Moves the lowest bits of `dense` to the positions of the ones of `validity`, lowest first.
    pub(crate) expand_word: unsafe fn(dense: u64, validity: u64) -> u64,
    pub(crate) filter_u8: Filter<u8>,
    pub(crate) filter_u32: Filter<u32>,
    pub(crate) filter_u64: Filter<u64>,
    pub(crate) filter_u128: Filter<u128>,
    /// Moves the bits of `bits` where `wanted` is 1 to the lowest positions, lowest first.
    pub(crate) filter_word: unsafe fn(bits: u64, wanted: u64) -> u64,
    pub(crate) prefix_sum_u32: PrefixSum<u32>,
    pub(crate) prefix_sum_u64: PrefixSum<u64>,
    /// `None` if a fused loop is not faster than unpacking followed by the prefix sum.
    pub(crate) deltas_u32: Option<UnpackDeltas<u32>>,
    /// For widths up to `unpack::MAX_WIDTH_IN_REGISTERS`.
    pub(crate) deltas_u64: Option<UnpackDeltas<u64>>,
    /// `None` if a fused loop is not faster than unpacking followed by scaling.
    pub(crate) alp_decode_f32: Option<AlpDecode<u32, f32>>,
    /// For integers that `alp::are_small`, whose width is at most `unpack::MAX_WIDTH_IN_REGISTERS`.
    pub(crate) alp_decode_f64: Option<AlpDecode<u64, f64>>,
    pub(crate) alp_encode_f32: AlpEncode<u32, f32>,
    pub(crate) alp_encode_f64: AlpEncode<u64, f64>,
    pub(crate) min_max_i32: MinMax<u32, i32>,
    pub(crate) min_max_i64: MinMax<u64, i64>,
    pub(crate) min_max_u32: MinMax<u32, u32>,
    pub(crate) min_max_u64: MinMax<u64, u64>,
    pub(crate) min_max_f32: MinMaxFloat<u32, i32>,
    pub(crate) min_max_f64: MinMaxFloat<u64, i64>,
    pub(crate) split_streams_u32: SplitStreams<u32, 4>,
    pub(crate) split_streams_u64: SplitStreams<u64, 8>,
    /// `None` if it is not faster than a load for each value.
    pub(crate) gather_small_u32: Option<GatherSmall<u32>>,
    pub(crate) unpack_short_runs: UnpackShortRuns<u32>,
    /// For widths up to 8.
    pub(crate) unpack_short_runs_u8: UnpackShortRuns<u8>,
    pub(crate) max_u32: unsafe fn(values: &[u32]) -> u32,
    /// Counts the ones among `n` bits from bit `first` on.
    pub(crate) count_ones: unsafe fn(bytes: &[u8], first: usize, n: usize) -> usize,
    /// Packs every eight levels into one byte: a bit is 1 if the level is at least `threshold`.
    pub(crate) levels_ge: unsafe fn(levels: &[u8], threshold: u8, out: &mut [MaybeUninit<u8>]),
    /// Counts the elements before each list. Without `elements`, all entries are elements.
    pub(crate) list_offsets: ListOffsets,
    pub(crate) summarize_views: unsafe fn(views: &[u128]) -> ViewSummary,
    pub(crate) merge_streams_u32: MergeStreams<u32, 4>,
    pub(crate) merge_streams_u64: MergeStreams<u64, 8>,
}

impl Kernels {
    /// The name of this level in `MARQUETRY_KERNELS`.
    pub fn name(&self) -> &'static str {
        self.name
    }
}

impl std::fmt::Debug for Kernels {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Kernels({})", self.name)
    }
}

/// How many values ALP encodes without loss, and the range of their integers: the result of `alp_encode_f32` and `alp_encode_f64`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AlpExactness {
    /// The number of values that decode to the same bits.
    pub count: usize,
    /// The least and the greatest integer of these values. If there are none, the least is greater than the greatest.
    pub range: (i64, i64),
    /// Whether there are values that were not checked, because their integers are large or they are not finite.
    pub any_large: bool,
}

/// The common properties of many byte string views: the result of `summarize_views`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ViewSummary {
    /// The bitwise or of all inline views.
    pub inline: u128,
    /// The least and the greatest buffer number of the long strings.
    pub buffers: (u32, u32),
    /// The lowest start and the highest end of the long strings in their buffers, modulo 2^32.
    pub range: (u32, u32),
}

impl ViewSummary {
    /// The summary of no views: each minimum is the greatest possible number, and each maximum is 0.
    pub(crate) const EMPTY: ViewSummary =
        ViewSummary { inline: 0, buffers: (u32::MAX, 0), range: (u32::MAX, 0) };
}
