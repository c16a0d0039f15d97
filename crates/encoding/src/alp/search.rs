//! Chooses the exponents and factors of a page by trying them on samples.

use super::exponents::{Exponents, Word};
use super::header::VALUES_PER_VECTOR;

/// Returns the exponents that are best for some of the vectors in `values`, the most frequent first, at most [`MAX_CANDIDATES`].
pub(super) fn candidates<W: Word>(values: &[W]) -> Vec<Exponents> {
    let mut votes: Vec<(Exponents, usize)> = Vec::new();
    for vector in values.chunks(VALUES_PER_VECTOR) {
        let Some(best) = best_of_all(&sample(vector, VALUES_PER_SAMPLE)) else {
            continue;
        };
        match votes.iter_mut().find(|(exponents, _)| *exponents == best) {
            Some((_, count)) => *count += 1,
            None => votes.push((best, 1)),
        }
    }
    votes.sort_by_key(|&(_, count)| std::cmp::Reverse(count));
    votes.truncate(MAX_CANDIDATES);
    votes.into_iter().map(|(exponents, _)| exponents).collect()
}

/// Returns at most `most` of the values, evenly spread.
pub(super) fn sample<W: Word>(values: &[W], most: usize) -> Vec<W> {
    values.iter().copied().step_by(values.len().div_ceil(most).max(1)).collect()
}

/// Returns the best of all exponents; `None` if the values take fewer bits as exceptions.
fn best_of_all<W: Word>(values: &[W]) -> Option<Exponents> {
    let of = |exponent: u8| (0..=exponent).rev().map(move |factor| Exponents { exponent, factor });
    // A few values rule out most pairs.
    let few = sample(values, VALUES_PER_PROBE);
    // PERF: first tries the exponent that reproduces nearly all decimals. The larger the difference of exponent and
    // factor, the larger the integers; so no later pair is better than one without exceptions.
    let (mut best, mut least) = (None, few.len() * exception_bits::<W>());
    for exponents in of(W::USUAL_EXPONENT) {
        let Some(Cost { bits, exceptions }) = cost(&few, exponents, usize::MAX) else { continue };
        if bits < least {
            (best, least) = (Some(exponents), bits);
        }
        if exceptions == 0 {
            return best;
        }
    }
    let mut found: Vec<(usize, Exponents)> = Vec::new();
    for exponents in (0..=W::MAX_EXPONENT).rev().flat_map(of) {
        let limit =
            found.get(W::PROBE_WINNERS - 1).map_or(few.len() * exception_bits::<W>(), |(bits, _)| *bits);
        if let Some(Cost { bits, .. }) = cost(&few, exponents, limit) {
            let place = found.partition_point(|(before, _)| *before <= bits);
            found.insert(place, (bits, exponents));
            found.truncate(W::PROBE_WINNERS);
        }
    }
    self::best(values, found.into_iter().map(|(_, exponents)| exponents))
}

/// Returns the exponents with which `values` take the fewest bits, the first of equally good ones; `None` if the values
/// take fewer bits as exceptions.
pub(super) fn best<W: Word>(values: &[W], exponents: impl Iterator<Item = Exponents>) -> Option<Exponents> {
    let mut best = None;
    let mut least = values.len() * exception_bits::<W>();
    for exponents in exponents {
        if let Some(Cost { bits, .. }) = cost(values, exponents, least) {
            (best, least) = (Some(exponents), bits);
        }
    }
    best
}

/// The cost of storing values with one choice of exponents.
struct Cost {
    bits: usize,
    exceptions: usize,
}

/// Computes the cost of `values` with `exponents`; `None` if it is not less than `limit` bits. Values that
/// [`Word::to_integers`] leaves unchecked count as exceptions.
fn cost<W: Word>(values: &[W], exponents: Exponents, limit: usize) -> Option<Cost> {
    let (mut count, mut least, mut largest) = (0, i64::MAX, i64::MIN);
    let (mut integers, mut exact) = ([W::ZERO; VALUES_PER_BLOCK], [W::ZERO; VALUES_PER_BLOCK]);
    for (block, values) in values.chunks(VALUES_PER_BLOCK).enumerate() {
        let n = values.len();
        let found = W::to_integers(values, exponents, &mut integers[..n], &mut exact[..n]);
        count += found.count;
        (least, largest) = (least.min(found.range.0), largest.max(found.range.1));
        if (block * VALUES_PER_BLOCK + n - count) * exception_bits::<W>() >= limit {
            return None;
        }
    }
    let exceptions = values.len() - count;
    let width = if least <= largest { width_between((least, largest)) as usize } else { 0 };
    let bits = exceptions * exception_bits::<W>() + values.len() * width;
    (bits < limit).then_some(Cost { bits, exceptions })
}

/// The size in bits of an exception: its position and its value.
pub(super) fn exception_bits<W: Word>() -> usize {
    16 + W::LEN * 8
}

/// The width in bits of the difference between the least and the largest.
pub(super) fn width_between((least, largest): (i64, i64)) -> u32 {
    width_of(largest.wrapping_sub(least) as u64)
}

/// The width of `value` in bits.
fn width_of(value: u64) -> u32 {
    u64::BITS - value.leading_zeros()
}

/// Number of values that are checked for exceptions at once.
const VALUES_PER_BLOCK: usize = 32;
/// Number of values of a vector to try exponents on, of vectors to sample, and of exponents to keep for the page. The
/// specification takes these numbers from the ALP paper.
const VALUES_PER_SAMPLE: usize = 256;
pub(super) const VECTORS_PER_SAMPLE: usize = 8;
const MAX_CANDIDATES: usize = 5;
/// Number of values of a sample on which all exponents are tried first. The best [`Word::PROBE_WINNERS`] are then tried
/// on the whole sample.
pub(super) const VALUES_PER_PROBE: usize = 32;
