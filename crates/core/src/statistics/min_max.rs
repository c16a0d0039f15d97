//! The minimum, the maximum and the number of NaNs of a page or chunk.
//!
//! Spec: `ColumnOrder` in parquet.thrift, whose comments define the bounds of floats.

use crate::int96;
use crate::sort_order::{SortOrder, is_nan16, is_nan32, is_nan64, key16, key32, key64};
use crate::statistics::min_max_loops::{self, FloatExtremes};
use marquetry_encoding::{FixedLenBytes, StringViews, Values};
use std::cmp::Ordering;
use std::ops::Range;

/// Bounds of the values seen so far.
///
/// ```
/// use marquetry_core::sort_order::SortOrder;
/// use marquetry_core::statistics::MinMaxStats;
/// use marquetry_encoding::Values;
/// let mut bounds = MinMaxStats::new(SortOrder::Float);
/// let floats = [f32::NAN, 0.0, 1.5].map(f32::to_bits);
/// bounds.update(&Values::W32(floats.to_vec()), 0..3);
/// assert_eq!(bounds.min(), Some(&(-0.0f32).to_le_bytes()[..]));
/// assert_eq!(bounds.max(), Some(&1.5f32.to_le_bytes()[..]));
/// assert_eq!(bounds.nan_count(), Some(1));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MinMaxStats {
    order: SortOrder,
    nan_count: u64,
    /// The extent of all values except NaNs. Floats are in total order here, so that it is known which zeros occur.
    numbers: Extent,
    /// The extent of NaNs. INVARIANT: it is used only under total order and while `numbers` is empty; otherwise it is
    /// not maintained.
    nans: Extent,
}

/// The minimum and maximum of some values, PLAIN.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Extent {
    /// Whether there are values. If not, `min` and `max` are memory for reuse.
    any: bool,
    min: Vec<u8>,
    max: Vec<u8>,
    /// Whether there are no bounds, because there was no memory for one, or values have no correct one.
    is_lost: bool,
}

impl MinMaxStats {
    /// Creates empty bounds.
    pub fn new(order: SortOrder) -> Self {
        MinMaxStats { order, nan_count: 0, numbers: Extent::default(), nans: Extent::default() }
    }

    /// Returns the order of the bounds.
    pub fn order(&self) -> SortOrder {
        self.order
    }

    /// Removes all values, but keeps the memory.
    pub fn clear(&mut self) {
        self.nan_count = 0;
        for extent in [&mut self.numbers, &mut self.nans] {
            (extent.any, extent.is_lost) = (false, false);
        }
    }

    /// Adds the values in `range`, and counts their NaNs.
    ///
    /// # Panics
    /// If the range is out of bounds, or if the values do not have the shape of the order's type.
    pub fn update(&mut self, values: &Values, range: Range<usize>) {
        if range.is_empty() || self.order == SortOrder::Undefined {
            return;
        }
        match values {
            Values::Bit(bits) => {
                let ones = bits.count_ones(range.clone());
                self.add_bools(ones < range.len(), ones > 0);
            }
            Values::W32(words) if self.order.is_float() => {
                let found = min_max_loops::of_float_slice(&words[range], key32, is_nan32, ENDS32);
                self.add_floats(&found, true, plain32);
            }
            Values::W64(words) if self.order.is_float() => {
                let found = min_max_loops::of_float_slice(&words[range], key64, is_nan64, ENDS64);
                self.add_floats(&found, true, plain64);
            }
            Values::Fixed(fixed) if self.order.is_float() => {
                let bytes = fixed.as_bytes();
                let found =
                    min_max_loops::of_float_slice(&halves(&bytes)[range], key_of_half, is_nan16, ENDS16);
                self.add_floats(&found, true, plain16);
            }
            Values::W32(words) => self.add_w32(words[range].iter().copied()),
            Values::W64(words) => self.add_w64(words[range].iter().copied()),
            Values::Fixed(fixed) => self.add_fixed(fixed, range),
            Values::Bytes(views) => self.add_bytes(views, range),
            Values::Offsets(strings) => self.add_strings(|i| strings.get(i), range),
        }
    }

    /// Adds the values of a dictionary at `indices`, each of which is needed only once. NaNs are not counted, because
    /// it is unknown how often the values occur: use [`add_nans`](Self::add_nans).
    ///
    /// # Panics
    /// If an index is out of bounds, or if the values do not have the shape of the order's type.
    pub fn update_at(&mut self, dictionary: &Values, indices: impl Iterator<Item = usize>) {
        if self.order == SortOrder::Undefined {
            return;
        }
        match dictionary {
            Values::Bit(bits) => indices.for_each(|i| self.add_bools(!bits.get(i), bits.get(i))),
            Values::W32(words) if self.order.is_float() => {
                let found = min_max_loops::of_floats(indices.map(|i| key32(words[i])), is_nan32, ENDS32);
                self.add_floats(&found, false, plain32);
            }
            Values::W64(words) if self.order.is_float() => {
                let found = min_max_loops::of_floats(indices.map(|i| key64(words[i])), is_nan64, ENDS64);
                self.add_floats(&found, false, plain64);
            }
            Values::Fixed(fixed) if self.order.is_float() => {
                let bytes = fixed.as_bytes();
                let halves = halves(&bytes);
                let found =
                    min_max_loops::of_floats(indices.map(|i| key_of_half(halves[i])), is_nan16, ENDS16);
                self.add_floats(&found, false, plain16);
            }
            Values::W32(words) => self.add_w32(indices.map(|i| words[i])),
            Values::W64(words) => self.add_w64(indices.map(|i| words[i])),
            Values::Fixed(fixed) => self.add_fixed(fixed, indices),
            Values::Bytes(views) => self.add_bytes(views, indices),
            Values::Offsets(strings) => self.add_strings(|i| strings.get(i), indices),
        }
    }

    /// Counts `n` more NaNs, whose values were added by [`update_at`](Self::update_at).
    pub fn add_nans(&mut self, n: u64) {
        self.nan_count += n;
    }

    /// Adds all values of `other`.
    ///
    /// # Panics
    /// If the orders differ.
    pub fn merge(&mut self, other: &MinMaxStats) {
        assert_eq!(self.order, other.order, "bounds of one column");
        self.nan_count += other.nan_count;
        for (ours, theirs) in [(&mut self.numbers, &other.numbers), (&mut self.nans, &other.nans)] {
            ours.is_lost |= theirs.is_lost;
            if theirs.any {
                ours.widen(self.order.total(), &theirs.min, &theirs.max);
            }
        }
    }

    /// Returns the lower bound to write; `None` if there is none.
    ///
    /// SPEC: under TYPE_ORDER NaN is not a bound, and a zero is written as -0. Under IEEE_754_TOTAL_ORDER the bounds
    /// are NaN if all values are.
    pub fn min(&self) -> Option<&[u8]> {
        let min = &self.extent()?.min;
        Some(if self.is_ambiguous_zero(min) { zero(&NEGATIVE_ZERO, min.len()) } else { min })
    }

    /// Returns the upper bound to write; `None` if there is none.
    ///
    /// SPEC: as for [`min`](Self::min), but a zero is written as +0.
    pub fn max(&self) -> Option<&[u8]> {
        let max = &self.extent()?.max;
        Some(if self.is_ambiguous_zero(max) { zero(&POSITIVE_ZERO, max.len()) } else { max })
    }

    /// Whether [`min`](Self::min) is a value that occurs. It is not if it is -0 and only +0 occurs.
    pub fn is_min_exact(&self) -> bool {
        self.extent().is_some_and(|extent| self.min() == Some(&extent.min))
    }

    /// Whether [`max`](Self::max) is a value that occurs. It is not if it is +0 and only -0 occurs.
    pub fn is_max_exact(&self) -> bool {
        self.extent().is_some_and(|extent| self.max() == Some(&extent.max))
    }

    /// Returns the number of NaNs; `None` for all types except floats.
    pub fn nan_count(&self) -> Option<u64> {
        self.order.is_float().then_some(self.nan_count)
    }

    fn extent(&self) -> Option<&Extent> {
        let extent = match (self.numbers.any, self.order.is_total() && self.nans.any) {
            (true, _) => Some(&self.numbers),
            (false, true) => Some(&self.nans),
            (false, false) => None,
        };
        extent.filter(|extent| !extent.is_lost)
    }

    fn is_ambiguous_zero(&self, value: &[u8]) -> bool {
        !self.order.is_total() && self.order.is_zero(value)
    }

    fn widen(&mut self, min: &[u8], max: &[u8]) {
        self.numbers.widen(self.order.total(), min, max);
    }

    fn add_bools(&mut self, any_false: bool, any_true: bool) {
        assert_eq!(self.order, SortOrder::Bool, "the order of booleans");
        self.widen(&[u8::from(!any_false)], &[u8::from(any_true)]);
    }

    fn add_w32(&mut self, words: impl Iterator<Item = u32>) {
        match self.order {
            SortOrder::Signed32 => {
                let found = min_max_loops::of_integers(words.map(|word| word as i32), (i32::MAX, i32::MIN));
                self.add_found(found.map(|(min, max)| (min.to_le_bytes(), max.to_le_bytes())));
            }
            SortOrder::Unsigned32 => {
                let found = min_max_loops::of_integers(words, (u32::MAX, u32::MIN));
                self.add_found(found.map(|(min, max)| (min.to_le_bytes(), max.to_le_bytes())));
            }
            other => unreachable!("32-bit values in order {other:?}"),
        }
    }

    fn add_w64(&mut self, words: impl Iterator<Item = u64>) {
        match self.order {
            SortOrder::Signed64 => {
                let found = min_max_loops::of_integers(words.map(|word| word as i64), (i64::MAX, i64::MIN));
                self.add_found(found.map(|(min, max)| (min.to_le_bytes(), max.to_le_bytes())));
            }
            SortOrder::Unsigned64 => {
                let found = min_max_loops::of_integers(words, (u64::MAX, u64::MIN));
                self.add_found(found.map(|(min, max)| (min.to_le_bytes(), max.to_le_bytes())));
            }
            other => unreachable!("64-bit values in order {other:?}"),
        }
    }

    fn add_fixed(&mut self, fixed: &FixedLenBytes, at: impl Iterator<Item = usize>) {
        match (self.order, fixed.width()) {
            (SortOrder::Int96, 12) => {
                let bytes = fixed.as_bytes();
                let (words, _) = bytes.as_chunks::<12>();
                let mut is_odd = false;
                let keys = at.map(|i| {
                    let key = int96::key(words[i]);
                    is_odd |= int96::is_odd(key);
                    (key, i)
                });
                let found = min_max_loops::of_integers(keys, (LAST_INT96, FIRST_INT96));
                // QUIRK: nanoseconds beyond a day, and days that wrapped around, have one order as bytes and another as
                // times.
                self.numbers.is_lost |= is_odd;
                self.add_found(found.map(|((_, min), (_, max))| (words[min], words[max])));
            }
            (SortOrder::FixedLenBytes | SortOrder::Decimal, _) => {
                let sign = if self.order == SortOrder::Decimal { 0x80 } else { 0 };
                let found = min_max_loops::of_fixed(&fixed.as_bytes(), fixed.width(), sign, at);
                self.add_found(found.map(|(min, max)| (fixed.get(min), fixed.get(max))));
            }
            (other, width) => unreachable!("values of {width} bytes in order {other:?}"),
        }
    }

    fn add_bytes(&mut self, views: &StringViews, at: impl Iterator<Item = usize>) {
        if self.order != SortOrder::Bytes {
            return self.add_strings(|i| views.get(i), at);
        }
        let found = min_max_loops::of_views(views, at);
        self.add_found(found.map(|(min, max)| (views.get(min), views.get(max))));
    }

    fn add_strings<'a>(&mut self, get: impl Fn(usize) -> &'a [u8], at: impl Iterator<Item = usize>) {
        let order = self.order;
        let found = min_max_loops::by(at, |a, b| {
            order.compare(get(a), get(b)).unwrap_or_else(|| unreachable!("byte strings in order {order:?}"))
        });
        self.add_found(found.map(|(min, max)| (get(min), get(max))));
    }

    fn add_found<B: AsRef<[u8]>>(&mut self, found: Option<(B, B)>) {
        if let Some((min, max)) = found {
            self.widen(min.as_ref(), max.as_ref());
        }
    }

    fn add_floats<K: Copy, const N: usize>(
        &mut self,
        found: &FloatExtremes<K>,
        count: bool,
        plain: impl Fn(K) -> [u8; N],
    ) {
        if count {
            self.nan_count += found.nans as u64;
        }
        if found.values > found.nans {
            self.widen(&plain(found.min), &plain(found.max));
        } else if found.values > 0 {
            let (min, max) = (plain(found.nan_min), plain(found.nan_max));
            self.nans.widen(self.order.total(), &min, &max);
        }
    }
}

impl Extent {
    fn widen(&mut self, order: SortOrder, min: &[u8], max: &[u8]) {
        if !self.any || order.compare(min, &self.min) == Some(Ordering::Less) {
            self.is_lost |= !replace(&mut self.min, min);
        }
        if !self.any || order.compare(max, &self.max) == Some(Ordering::Greater) {
            self.is_lost |= !replace(&mut self.max, max);
        }
        self.any = true;
    }
}

/// Copies a bound. Returns false if it is too long or there is no memory for it: a value may be as large as its page,
/// which is already in memory, and it may be minimum and maximum of a page and of a chunk.
fn replace(bound: &mut Vec<u8>, value: &[u8]) -> bool {
    bound.clear();
    let fits = value.len() <= LONGEST_BOUND && bound.try_reserve_exact(value.len()).is_ok();
    if fits {
        bound.extend_from_slice(value);
    }
    fits
}

/// Maximum length of a bound in bytes. A chunk with longer values has no bounds.
const LONGEST_BOUND: usize = 16 << 20;

/// Returns the values of a FLOAT16 column, 2 bytes each.
fn halves(bytes: &[u8]) -> &[[u8; 2]] {
    bytes.as_chunks().0
}

fn key_of_half(half: [u8; 2]) -> i16 {
    key16(u16::from_le_bytes(half))
}

fn plain16(key: i16) -> [u8; 2] {
    key16(key as u16).to_le_bytes()
}

fn plain32(key: i32) -> [u8; 4] {
    key32(key as u32).to_le_bytes()
}

fn plain64(key: i64) -> [u8; 8] {
    key64(key as u64).to_le_bytes()
}

/// The greatest and the least key of a type.
const ENDS16: (i16, i16) = (i16::MAX, i16::MIN);
const ENDS32: (i32, i32) = (i32::MAX, i32::MIN);
const ENDS64: (i64, i64) = (i64::MAX, i64::MIN);

/// Returns the last bytes of a zero, which are the zero of a shorter type.
fn zero(double: &'static [u8; 8], width: usize) -> &'static [u8] {
    &double[8 - width..]
}

const NEGATIVE_ZERO: [u8; 8] = (-0.0f64).to_le_bytes();
const POSITIVE_ZERO: [u8; 8] = 0.0f64.to_le_bytes();
/// Greater than all values, with an index.
const LAST_INT96: ((i32, i64), usize) = ((i32::MAX, i64::MAX), usize::MAX);
/// At most equal to all values.
const FIRST_INT96: ((i32, i64), usize) = ((i32::MIN, i64::MIN), 0);
