//! The column index of pages.

use crate::bounds::{are_within_days, column, plain};
use marquetry_core::sort_order::SortOrder;
use marquetry_core::statistics::{ColumnIndexBuilder, LevelHistogram, MinMaxStats, PageStatistics};
use marquetry_encoding::{StringViews, Values};
use marquetry_format::{BoundaryOrder, ColumnIndex};
use proptest::prelude::*;
use std::ops::Range;

/// The index of pages that are ranges of `values`, each with one null.
fn index(
    order: SortOrder,
    values: &Values,
    pages: &[Range<usize>],
    truncate: Option<usize>,
) -> Option<ColumnIndex> {
    let mut builder = ColumnIndexBuilder::new(order, truncate, false);
    for page in pages {
        let mut bounds = MinMaxStats::new(order);
        bounds.update(values, page.clone());
        builder.push_page(PageStatistics {
            bounds: &bounds,
            values: page.len() as u64,
            null_count: 1,
            levels: None,
        });
    }
    builder.finish()
}

/// The order of pages of these least and greatest values.
fn order_of(pages: &[Option<(i32, i32)>]) -> BoundaryOrder {
    let mut words = Vec::new();
    let mut ranges = Vec::new();
    for page in pages {
        let start = words.len();
        words.extend(page.iter().flat_map(|(min, max)| [*min as u32, *max as u32]));
        ranges.push(start..words.len());
    }
    index(SortOrder::Signed32, &Values::W32(words), &ranges, None).unwrap().boundary_order
}

fn doubles(values: &[f64]) -> Values {
    Values::W64(values.iter().map(|value| value.to_bits()).collect())
}

#[test]
fn pages_of_nulls_only_have_empty_bounds() {
    let found = index(SortOrder::Signed32, &Values::W32(vec![5, 7]), &[0..0, 0..2, 2..2], None).unwrap();
    assert_eq!(found.null_pages, [true, false, true]);
    assert_eq!(found.min_values, [vec![], vec![5, 0, 0, 0], vec![]]);
    assert_eq!(found.max_values, [vec![], vec![7, 0, 0, 0], vec![]]);
    assert_eq!((found.null_counts, found.nan_counts), (Some(vec![1, 1, 1]), None));
}

#[test]
fn both_lists_must_be_ordered() {
    assert_eq!(order_of(&[Some((1, 5)), Some((2, 5)), Some((2, 9))]), BoundaryOrder::ASCENDING);
    assert_eq!(order_of(&[Some((2, 9)), Some((2, 5)), Some((1, 5))]), BoundaryOrder::DESCENDING);
    assert_eq!(order_of(&[Some((1, 9)), Some((2, 5))]), BoundaryOrder::UNORDERED);
    assert_eq!(order_of(&[Some((-1, 5)), Some((0, 7)), Some((0, 6))]), BoundaryOrder::UNORDERED);
}

#[test]
fn null_pages_do_not_count_in_the_order() {
    assert_eq!(order_of(&[None, Some((1, 5)), None, Some((2, 5)), None]), BoundaryOrder::ASCENDING);
    assert_eq!(order_of(&[Some((3, 5)), None, Some((2, 5))]), BoundaryOrder::DESCENDING);
}

#[test]
fn what_is_ordered_both_ways_is_ascending() {
    assert_eq!(order_of(&[None, None]), BoundaryOrder::ASCENDING);
    assert_eq!(order_of(&[Some((1, 1))]), BoundaryOrder::ASCENDING);
    assert_eq!(order_of(&[Some((1, 2)), Some((1, 2))]), BoundaryOrder::ASCENDING);
}

#[test]
fn the_order_is_that_of_the_cut_bounds() {
    let values = Values::Bytes(["ab", "aa"].iter().collect::<StringViews>());
    let whole = index(SortOrder::Bytes, &values, &[0..1, 1..2], None).unwrap();
    assert_eq!(whole.boundary_order, BoundaryOrder::DESCENDING);
    let cut = index(SortOrder::Bytes, &values, &[0..1, 1..2], Some(1)).unwrap();
    assert_eq!(cut.boundary_order, BoundaryOrder::ASCENDING);
    assert_eq!((cut.min_values, cut.max_values), (vec![b"a".to_vec(); 2], vec![b"b".to_vec(); 2]));
}

#[test]
fn type_order_has_no_index_if_all_values_of_a_page_are_nan() {
    let values = doubles(&[1.0, f64::NAN, f64::NAN, 2.0]);
    assert_eq!(index(SortOrder::Double, &values, &[0..1, 1..3, 3..4], None), None);
    let found = index(SortOrder::Double, &values, &[0..2, 2..4], None).unwrap();
    assert_eq!(found.nan_counts, Some(vec![1, 1]));
    assert_eq!(found.max_values, [1.0f64.to_le_bytes(), 2.0f64.to_le_bytes()]);
}

#[test]
fn total_order_has_nan_bounds_if_all_values_of_a_page_are_nan() {
    let values = doubles(&[1.0, f64::NAN, -f64::NAN]);
    let found = index(SortOrder::TotalDouble, &values, &[0..1, 1..3], None).unwrap();
    assert_eq!(found.min_values[1], (-f64::NAN).to_le_bytes());
    assert_eq!(found.max_values[1], f64::NAN.to_le_bytes());
    assert_eq!(found.nan_counts, Some(vec![0, 2]));
    assert_eq!(found.boundary_order, BoundaryOrder::UNORDERED);
}

#[test]
fn type_order_writes_zeros_as_minus_zero_and_plus_zero() {
    let found = index(SortOrder::Double, &doubles(&[0.0]), &[0..1, 0..1], None).unwrap();
    assert_eq!(
        (&found.min_values[0], &found.max_values[0]),
        (&(-0.0f64).to_le_bytes().to_vec(), &vec![0; 8])
    );
}

#[test]
fn what_has_no_order_has_no_index() {
    assert_eq!(index(SortOrder::Undefined, &Values::Bytes(StringViews::new()), &[0..0, 0..0], None), None);
}

#[test]
fn a_chunk_without_pages_has_no_index() {
    assert_eq!(index(SortOrder::Signed32, &Values::W32(vec![]), &[], None), None);
}

#[test]
fn histograms_of_all_pages_are_end_to_end() {
    let build = |with: &[bool]| {
        let mut builder = ColumnIndexBuilder::new(SortOrder::Signed32, None, false);
        for (page, with) in (0u8..).zip(with) {
            let mut levels = LevelHistogram::new(2, 1);
            levels.add_def_levels(&[page, 1]);
            levels.add_rep_levels(&[0, page]);
            let bounds = MinMaxStats::new(SortOrder::Signed32);
            let levels = with.then_some(&levels);
            builder.push_page(PageStatistics { bounds: &bounds, values: 0, null_count: 2, levels });
        }
        builder.finish().unwrap()
    };
    let found = build(&[true, true]);
    assert_eq!(found.definition_level_histograms, Some(vec![1, 1, 0, 0, 2, 0]));
    assert_eq!(found.repetition_level_histograms, Some(vec![2, 0, 1, 1]));
    let found = build(&[true, false]);
    assert_eq!((found.definition_level_histograms, found.repetition_level_histograms), (None, None));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn each_page_is_bounded((order, values) in column(), size in 1usize..6, truncate in prop::option::of(0usize..6)) {
        let pages: Vec<_> = (0..values.len()).step_by(size).map(|i| i..(i + size).min(values.len())).collect();
        let all = plain(&values);
        let is_nan_page = |page: &Range<usize>| all[page.clone()].iter().all(|value| order.is_nan(value));
        let impossible = order == SortOrder::Undefined
            || order == SortOrder::Int96 && !are_within_days(&all)
            || pages.is_empty()
            || !order.is_total() && pages.iter().any(is_nan_page);
        let found = index(order, &values, &pages, truncate);
        prop_assert_eq!(found.is_none(), impossible);
        let Some(found) = found else { return Ok(()) };
        for (i, page) in pages.iter().enumerate() {
            let (min, max) = (&found.min_values[i], &found.max_values[i]);
            for value in &all[page.clone()] {
                if !order.is_nan(value) || is_nan_page(page) {
                    prop_assert!(order.compare(min, value).unwrap().is_le());
                    prop_assert!(order.compare(value, max).unwrap().is_le());
                }
            }
        }
        let sorted = |ascending: bool| {
            [&found.min_values, &found.max_values].iter().all(|bounds| {
                bounds.windows(2).all(|pair| {
                    let ordering = order.compare(&pair[0], &pair[1]).unwrap();
                    if ascending { ordering.is_le() } else { ordering.is_ge() }
                })
            })
        };
        let expected = match (sorted(true), sorted(false)) {
            (true, _) => BoundaryOrder::ASCENDING,
            (_, true) => BoundaryOrder::DESCENDING,
            _ => BoundaryOrder::UNORDERED,
        };
        prop_assert_eq!(found.boundary_order, expected);
    }
}
