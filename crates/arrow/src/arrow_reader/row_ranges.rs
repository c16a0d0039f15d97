//! Sets of rows: sorted ranges that neither touch nor overlap.

use std::ops::Range;

/// Adds a range. An empty one adds nothing.
pub(super) fn add(set: &mut Vec<Range<u64>>, range: Range<u64>) {
    if range.is_empty() {
        return;
    }
    let first = set.partition_point(|other| other.end < range.start);
    let after = set.partition_point(|other| other.start <= range.end);
    let start = set[first..after].first().map_or(range.start, |other| other.start.min(range.start));
    let end = set[first..after].last().map_or(range.end, |other| other.end.max(range.end));
    set.splice(first..after, std::iter::once(start..end));
}

/// Returns the rows of `from`, which is sorted, that are not in `set`.
pub(super) fn subtract(from: &[Range<u64>], set: &[Range<u64>]) -> Vec<Range<u64>> {
    let mut out = Vec::with_capacity(from.len());
    for range in from {
        let mut start = range.start;
        for other in &set[set.partition_point(|other| other.end <= range.start)..] {
            if other.start >= range.end {
                break;
            }
            if other.start > start {
                out.push(start..other.start);
            }
            start = start.max(other.end);
        }
        if start < range.end {
            out.push(start..range.end);
        }
    }
    out
}

/// Returns the first `n` rows, and the first row after them, if there is one.
pub(super) fn first(mut set: Vec<Range<u64>>, n: u64) -> (Vec<Range<u64>>, Option<u64>) {
    let mut left = n;
    for i in 0..set.len() {
        let rows = set[i].end - set[i].start;
        if left == 0 || rows > left {
            let next = set[i].start + left;
            set[i].end = next;
            set.truncate(if left == 0 { i } else { i + 1 });
            return (set, Some(next));
        }
        left -= rows;
    }
    (set, None)
}

/// Returns the number of rows.
pub(super) fn count(set: &[Range<u64>]) -> u64 {
    set.iter().map(|range| range.end - range.start).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn rows(set: &[Range<u64>]) -> BTreeSet<u64> {
        set.iter().flat_map(Clone::clone).collect()
    }

    fn set(ranges: &[(u64, u64)]) -> Vec<Range<u64>> {
        let mut out = Vec::new();
        ranges.iter().for_each(|&(start, len)| add(&mut out, start..start + len));
        out
    }

    proptest! {
        #[test]
        fn as_sets_of_numbers(
            a in prop::collection::vec((0u64..60, 0u64..9), 0..9),
            b in prop::collection::vec((0u64..60, 0u64..9), 0..9),
            n in 0u64..70,
        ) {
            let naive = |ranges: &[(u64, u64)]| -> BTreeSet<u64> {
                ranges.iter().flat_map(|&(start, len)| start..start + len).collect()
            };
            let (sa, sb) = (set(&a), set(&b));
            prop_assert_eq!(rows(&sa), naive(&a));
            prop_assert!(sa.windows(2).all(|pair| pair[0].end < pair[1].start));
            let minus = subtract(&sa, &sb);
            prop_assert_eq!(rows(&minus), naive(&a).difference(&naive(&b)).copied().collect());
            let (some, next) = first(sa.clone(), n);
            prop_assert_eq!(rows(&some), rows(&sa).into_iter().take(n as usize).collect());
            prop_assert_eq!(next, rows(&sa).into_iter().nth(n as usize));
            prop_assert_eq!(count(&some), rows(&some).len() as u64);
        }
    }
}
