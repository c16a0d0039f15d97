//! Row ranges: sorted, not empty, and not adjacent.

use std::ops::Range;

/// Appends a range that does not begin before the last one. Joins the two if they touch.
pub(super) fn push(ranges: &mut Vec<Range<u64>>, range: Range<u64>) {
    match ranges.last_mut() {
        _ if range.is_empty() => {}
        Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
        _ => ranges.push(range),
    }
}

/// Returns the rows that are in both.
pub(super) fn intersection(a: &[Range<u64>], b: &[Range<u64>]) -> Vec<Range<u64>> {
    let mut out = Vec::new();
    let (mut i, mut j) = (0, 0);
    while let (Some(left), Some(right)) = (a.get(i), b.get(j)) {
        push(&mut out, left.start.max(right.start)..left.end.min(right.end));
        if left.end <= right.end { i += 1 } else { j += 1 }
    }
    out
}

/// Returns the rows that are in either.
pub(super) fn union(a: &[Range<u64>], b: &[Range<u64>]) -> Vec<Range<u64>> {
    let mut all: Vec<_> = a.iter().chain(b).cloned().collect();
    all.sort_unstable_by_key(|range| range.start);
    let mut out = Vec::new();
    all.into_iter().for_each(|range| push(&mut out, range));
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of_rows(rows: &[bool]) -> Vec<Range<u64>> {
        let mut out = Vec::new();
        for (row, _) in rows.iter().enumerate().filter(|(_, is)| **is) {
            push(&mut out, row as u64..row as u64 + 1);
        }
        out
    }

    proptest! {
        #[test]
        fn as_of_single_rows(rows: Vec<(bool, bool)>) {
            let (a, b): (Vec<_>, Vec<_>) = rows.iter().copied().unzip();
            let both: Vec<_> = rows.iter().map(|(a, b)| *a && *b).collect();
            let any: Vec<_> = rows.iter().map(|(a, b)| *a || *b).collect();
            prop_assert_eq!(intersection(&of_rows(&a), &of_rows(&b)), of_rows(&both));
            prop_assert_eq!(union(&of_rows(&a), &of_rows(&b)), of_rows(&any));
        }
    }
}
