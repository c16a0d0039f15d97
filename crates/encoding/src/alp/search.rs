//! Chooses the exponents and factors of a page by trying them on samples.

use super::exponents::{Exponents, Word};
use super::header::VALUES_PER_VECTOR;

/// The exponents that are best for some of the vectors in `values`, at most [`MAX_CANDIDATES`], the most frequent first.
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

/// At most `most` of the values, evenly spread.
pub(super) fn sample<W: Word>(values: &[W], most: usize) -> Vec<W> {
    values.iter().copied().step_by(values.len().div_ceil(most).max(1)).collect()
}

/// The best of all exponents; none if values take fewer bits as exceptions.
fn best_of_all<W: Word>(values: &[W]) -> Option<Exponents> {
    let of = |exponent: u8| (0..=exponent).rev().map(move |factor| Exponents { exponent, factor });
    // A few values rule out most pairs.
    let few = sample(values, VALUES_PER_PROBE);
    // PERF: the one exponent in which nearly all decimals come back. Larger differences of exponent and factor make larger
    // integers: once there are no exceptions, there is none better.
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

/// The exponents in which `values` take the fewest bits; of equal ones the first. None if they take fewer as exceptions.
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

/// What values take with one choice of exponents.
struct Cost {
    bits: usize,
    exceptions: usize,
}

/// What `values` take in `exponents`, if that is less than `limit` bits. Integers that are not found at once count as exceptions.
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

/// What an exception costs: its position and itself.
pub(super) fn exception_bits<W: Word>() -> usize {
    16 + W::LEN * 8
}

/// The width in bits of the numbers from the least to the largest, minus the least.
pub(super) fn width_between((least, largest): (i64, i64)) -> u32 {
    width_of(largest.wrapping_sub(least) as u64)
}

/// The width of `value` in bits.
fn width_of(value: u64) -> u32 {
    u64::BITS - value.leading_zeros()
}

/// Values that are checked for exceptions at a time.
const VALUES_PER_BLOCK: usize = 32;
/// Values of a vector to try exponents on, vectors to sample, and exponents to keep for the page: the numbers that the
/// specification takes from the paper.
const VALUES_PER_SAMPLE: usize = 256;
pub(super) const VECTORS_PER_SAMPLE: usize = 8;
const MAX_CANDIDATES: usize = 5;
/// Values of a sample to try all exponents on first. [`Word::PROBE_WINNERS`] of them are tried on the whole sample.
pub(super) const VALUES_PER_PROBE: usize = 32;
