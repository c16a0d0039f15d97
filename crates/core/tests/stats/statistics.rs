//! What is written into `Statistics`.

use crate::bounds::{are_within_days, column, plain};
use marquetry_core::sort_order::SortOrder;
use marquetry_core::statistics::{MinMaxStats, statistics};
use marquetry_encoding::{StringViews, Values};
use marquetry_format::Statistics;
use proptest::prelude::*;

fn of(order: SortOrder, values: &Values, truncate: Option<usize>, is_text: bool) -> Statistics {
    let mut bounds = MinMaxStats::new(order);
    bounds.update(values, 0..values.len());
    statistics(&bounds, 0, None, truncate, is_text)
}

fn strings(strings: &[&str]) -> Values {
    Values::Bytes(strings.iter().collect::<StringViews>())
}

#[test]
fn null_count_is_written_even_if_zero() {
    let found = of(SortOrder::Signed32, &Values::W32(vec![]), None, false);
    assert_eq!(found, Statistics { null_count: Some(0), ..Statistics::default() });
}

#[test]
fn distinct_count_is_written_if_known() {
    let found = statistics(&MinMaxStats::new(SortOrder::Bytes), 3, Some(5), None, true);
    assert_eq!((found.null_count, found.distinct_count), (Some(3), Some(5)));
}

#[test]
fn whole_bounds_are_exact() {
    let found = of(SortOrder::Bytes, &strings(&["b", "a"]), Some(1), true);
    assert_eq!((found.min_value, found.max_value), (Some(b"a".to_vec()), Some(b"b".to_vec())));
    assert_eq!((found.is_min_value_exact, found.is_max_value_exact), (Some(true), Some(true)));
}

#[test]
fn cut_bounds_are_not_exact() {
    let found = of(SortOrder::Bytes, &strings(&["bb", "a"]), Some(1), true);
    assert_eq!((found.min_value, found.max_value), (Some(b"a".to_vec()), Some(b"c".to_vec())));
    assert_eq!((found.is_min_value_exact, found.is_max_value_exact), (Some(true), Some(false)));
}

#[test]
fn an_upper_bound_that_cannot_be_cut_is_kept_whole() {
    let values = Values::Bytes([b"\xff\xff\xff"].iter().collect::<StringViews>());
    let found = of(SortOrder::Bytes, &values, Some(1), false);
    assert_eq!((found.min_value, found.max_value), (Some(vec![0xff]), Some(vec![0xff; 3])));
    assert_eq!((found.is_min_value_exact, found.is_max_value_exact), (Some(false), Some(true)));
}

#[test]
fn only_byte_arrays_are_cut() {
    for (order, values) in [
        (SortOrder::Decimal, strings(&["abc", "abd"])),
        (
            SortOrder::FixedLenBytes,
            Values::Fixed(marquetry_encoding::FixedLenBytes::from_bytes(3, b"abcabd".to_vec())),
        ),
    ] {
        let found = of(order, &values, Some(1), false);
        assert_eq!((found.min_value, found.max_value), (Some(b"abc".to_vec()), Some(b"abd".to_vec())));
    }
}

#[test]
fn deprecated_bounds_are_written_where_the_order_is_signed() {
    let words = Values::W32(vec![0x3f80_0000, 0x4000_0000]);
    for order in [SortOrder::Signed32, SortOrder::Float] {
        let found = of(order, &words, None, false);
        assert!(found.min.is_some() && found.min == found.min_value && found.max == found.max_value);
    }
    for order in [SortOrder::Unsigned32, SortOrder::TotalFloat] {
        let found = of(order, &words, None, false);
        assert!(found.min_value.is_some() && found.min.is_none() && found.max.is_none());
    }
    let found = of(SortOrder::Bytes, &strings(&["a"]), None, true);
    assert!(found.max_value.is_some() && found.max.is_none());
}

#[test]
fn a_widened_zero_is_not_the_actual_minimum() {
    let found = of(SortOrder::Float, &Values::W32(vec![0]), None, false);
    assert_eq!(found.min_value, Some((-0.0f32).to_le_bytes().to_vec()));
    assert_eq!((found.is_min_value_exact, found.is_max_value_exact), (Some(false), Some(true)));
    assert_eq!(found.nan_count, Some(0));
}

#[test]
fn what_has_no_order_has_no_bounds() {
    let found = of(SortOrder::Undefined, &strings(&["a"]), None, false);
    assert_eq!(found, Statistics { null_count: Some(0), ..Statistics::default() });
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn written_bounds_bound((order, values) in column(), truncate in prop::option::of(0usize..10), is_text: bool) {
        let found = of(order, &values, truncate, is_text);
        let all = plain(&values);
        let numbers: Vec<_> = all.iter().filter(|value| !order.is_nan(value)).collect();
        let bounding = if order.is_total() && numbers.is_empty() { all.iter().collect() } else { numbers };
        let is_ordered = order != SortOrder::Undefined && (order != SortOrder::Int96 || are_within_days(&all));
        prop_assert_eq!(found.min_value.is_some(), is_ordered && !bounding.is_empty());
        if let (Some(min), Some(max)) = (&found.min_value, &found.max_value) {
            for value in &bounding {
                prop_assert!(order.compare(min, value).unwrap().is_le());
                prop_assert!(order.compare(value, max).unwrap().is_le());
            }
            prop_assert_eq!(found.is_min_value_exact, Some(all.contains(min)));
            prop_assert_eq!(found.is_max_value_exact, Some(all.contains(max)));
        }
    }
}
