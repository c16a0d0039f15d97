//! Prunes by comparing the bounds of two columns.

use super::extent::Extent;
use super::plan::Verdict;
use crate::predicate::{ColumnComparison, PairTest};
use std::cmp::Ordering;

/// Returns the verdict on a comparison of two columns for the same rows.
pub(super) fn verdict(comparison: &ColumnComparison, left: &Extent<'_>, right: &Extent<'_>) -> Verdict {
    let compare = |a: Option<&[u8]>, b: Option<&[u8]>| comparison.compare(a?, b?);
    let (a, b) = (&left.bounds, &right.bounds);
    // Compares the minimum of the left side with the maximum of the right, and vice versa.
    let least = compare(a.min(), b.max());
    let greatest = compare(a.max(), b.min());
    let are_apart = least == Some(Ordering::Greater) || greatest == Some(Ordering::Less);
    let are_one = a.min().is_some() && a.min() == a.max() && b.min() == b.max();
    let is_float = comparison.left.order.is_float() || comparison.right.order.is_float();
    let may_be_nan = is_float && [left, right].iter().any(|side| side.nans != Some(0));
    let (pass, mut fail) = match comparison.test {
        PairTest::Lt => {
            (!matches!(least, Some(Ordering::Greater | Ordering::Equal)), greatest != Some(Ordering::Less))
        }
        PairTest::Le => {
            let is_below = matches!(greatest, Some(Ordering::Less | Ordering::Equal));
            (least != Some(Ordering::Greater), !is_below)
        }
        PairTest::Eq | PairTest::Distinct => (!are_apart, !(are_one && least == Some(Ordering::Equal))),
    };
    fail |= may_be_nan;
    let may_be_valid = [left, right].iter().all(|side| !side.nulls.are_all(side.rows));
    let (may_left, may_right) = (left.nulls.may_be_any(), right.nulls.may_be_any());
    match (comparison.test, comparison.is_negated) {
        (PairTest::Distinct, false) => Verdict {
            may: (fail && may_be_valid) || may_left || may_right,
            all: !pass && !may_left && !may_right,
        },
        (PairTest::Distinct, true) => Verdict {
            may: (pass && may_be_valid) || (may_left && may_right),
            all: !fail && !may_left && !may_right,
        },
        (_, is_negated) => {
            let (wanted, others) = if is_negated { (fail, pass) } else { (pass, fail) };
            Verdict { may: wanted && may_be_valid, all: !others && !may_left && !may_right }
        }
    }
}
