//! Coalesces byte ranges into few requests.

use std::ops::Range;

/// The cost of requests in bytes, which decides which ranges are fetched together.
///
/// ```
/// use marquetry_core::source::CoalesceOptions;
/// let cost = CoalesceOptions::new(100, 1000);
/// assert_eq!(cost.coalesce([0..50, 120..200, 900..950]), [0..200, 900..950]);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct CoalesceOptions {
    /// The cost of a request in bytes: a gap that is not larger is read and discarded.
    pub hole_size_limit: u64,
    /// Maximum bytes of a request; larger ranges are split. At least 1.
    pub range_size_limit: u64,
}

impl CoalesceOptions {
    /// Creates options with a [`hole_size_limit`](Self::hole_size_limit) and a
    /// [`range_size_limit`](Self::range_size_limit).
    pub const fn new(hole_size_limit: u64, range_size_limit: u64) -> Self {
        CoalesceOptions { hole_size_limit, range_size_limit }
    }

    /// Options for files on a disk. A call and a seek within the disk's own read-ahead cost a few microseconds, in
    /// which a disk reads some 16 KiB; requests beyond 4 MiB gain nothing.
    pub const LOCAL: CoalesceOptions = CoalesceOptions::new(16 << 10, 4 << 20);

    /// Options for object stores and web servers. Requests of one plan run at the same time, so the cost of one more is
    /// not the store's latency of some 30 ms, but its price and the work of both sides: about 1 ms, in which a
    /// connection transfers some 128 KiB. Beyond 8 MiB two connections are faster than one.
    pub const OBJECT_STORE: CoalesceOptions = CoalesceOptions::new(128 << 10, 8 << 20);

    /// Returns the cost in bytes of waiting for an answer, if nothing else can be done meanwhile: in the 30 ms of an
    /// object store a connection transfers about a megabyte.
    pub fn bytes_per_round_trip(&self) -> u64 {
        self.hole_size_limit.saturating_mul(8)
    }

    /// Returns the requests that fetch all of `ranges`: sorted, not overlapping, and not empty.
    pub fn coalesce(&self, ranges: impl IntoIterator<Item = Range<u64>>) -> Vec<Range<u64>> {
        let mut ranges: Vec<_> = ranges.into_iter().filter(|range| range.start < range.end).collect();
        ranges.sort_unstable_by_key(|range| (range.start, range.end));
        let mut out: Vec<Range<u64>> = Vec::new();
        for range in ranges {
            let start = out.last().map_or(range.start, |last| range.start.max(last.end));
            match out.last_mut() {
                _ if start >= range.end => {}
                Some(last)
                    if start - last.end <= self.hole_size_limit
                        && range.end - last.start <= self.range_size_limit =>
                {
                    last.end = range.end;
                }
                _ => self.push(start..range.end, &mut out),
            }
        }
        out
    }

    /// Appends a range, split into parts of equal size if it is too large.
    fn push(&self, range: Range<u64>, out: &mut Vec<Range<u64>>) {
        let len = range.end - range.start;
        let parts = len.div_ceil(self.range_size_limit.max(1));
        let part = len.div_ceil(parts);
        let mut start = range.start;
        while start < range.end {
            let end = range.end.min(start.saturating_add(part));
            out.push(start..end);
            start = end;
        }
    }
}

#[cfg(test)]
#[expect(clippy::single_range_in_vec_init, reason = "lists of one range are meant")]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn bytes(ranges: &[Range<u64>]) -> std::collections::BTreeSet<u64> {
        ranges.iter().cloned().flatten().collect()
    }

    #[test]
    fn ends_of_the_scale_do_not_overflow() {
        let cost = CoalesceOptions::new(u64::MAX, u64::MAX);
        assert_eq!(cost.coalesce([0..1, u64::MAX - 1..u64::MAX]), [0..u64::MAX]);
        let cost = CoalesceOptions::new(0, 0);
        assert_eq!(cost.coalesce([7..9]), [7..8, 8..9]);
    }

    proptest! {
        #[test]
        fn all_bytes_are_fetched_once_and_no_large_gap_is(
            wanted in prop::collection::vec((0u64..2000, 0u64..200), 0..20),
            hole_size_limit in 0u64..200,
            range_size_limit in 1u64..600,
        ) {
            let wanted: Vec<_> = wanted.into_iter().map(|(start, len)| start..start + len).collect();
            let cost = CoalesceOptions { hole_size_limit, range_size_limit };
            let requests = cost.coalesce(wanted.clone());
            let (asked, fetched) = (bytes(&wanted), bytes(&requests));
            prop_assert!(asked.is_subset(&fetched));
            prop_assert_eq!(requests.iter().map(|r| r.end - r.start).sum::<u64>(), fetched.len() as u64);
            prop_assert!(requests.iter().all(|r| r.start < r.end && r.end - r.start <= range_size_limit));
            prop_assert!(requests.windows(2).all(|pair| pair[0].end <= pair[1].start));
            // Superfluous bytes are only in gaps up to the limit.
            let extra: Vec<u64> = fetched.difference(&asked).copied().collect();
            let mut run = 0;
            for (i, byte) in extra.iter().enumerate() {
                run = if i > 0 && extra[i - 1] + 1 == *byte { run + 1 } else { 1 };
                prop_assert!(run <= hole_size_limit);
            }
            // No two requests could have been one, unless one is a part of a range that was split.
            let is_cut = wanted.iter().any(|range| range.end - range.start > range_size_limit);
            for pair in requests.windows(2) {
                let (between, both) = (pair[1].start - pair[0].end, pair[1].end - pair[0].start);
                prop_assert!(is_cut || between == 0 || between > hole_size_limit || both > range_size_limit);
            }
        }
    }
}
