//! Bounds equal a naive fold over the values, however these arrive.

use marquetry_core::sort_order::{SortOrder, plain_value};
use marquetry_core::statistics::MinMaxStats;
use marquetry_encoding::{Bitmap, FixedLenBytes, StringViews, Values};
use proptest::prelude::*;

/// An order and values of its type, among them many that are equal, extreme, NaN or zero.
pub(crate) fn column() -> impl Strategy<Value = (SortOrder, Values)> {
    let words = || {
        let special = prop::sample::select(vec![
            0,
            1,
            1 << 63,
            u64::MAX,
            f64::NAN.to_bits(),
            (-f64::NAN).to_bits(),
            f64::INFINITY.to_bits(),
            f64::NEG_INFINITY.to_bits(),
            1.5f64.to_bits(),
            0x0000_0000_7fc0_0000,
            0x0000_0000_ffc0_0001,
            0x0000_0000_8000_0000,
        ]);
        proptest::collection::vec(prop_oneof![special, any::<u64>()], 0..40)
    };
    let fixed = |order: SortOrder, width: usize| {
        let byte = prop_oneof![Just(0u8), Just(0xff), Just(0x80), Just(0x7c), Just(0xfc), any::<u8>()];
        proptest::collection::vec(proptest::collection::vec(byte, width), 0..40).prop_map(move |rows| {
            let mut values = FixedLenBytes::new(width);
            rows.iter().for_each(|row| values.push(row));
            (order, Values::Fixed(values))
        })
    };
    let strings = |order: SortOrder| {
        let string = prop_oneof!["[ab\0]{0,4}", "aaaa[ab\0]{0,16}", "aaaaaaaa[ab]{0,9}", "[a-z]{0,20}"];
        proptest::collection::vec(string, 0..40)
            .prop_map(move |rows| (order, Values::Bytes(rows.iter().collect::<StringViews>())))
    };
    let w32 = [SortOrder::Signed32, SortOrder::Unsigned32, SortOrder::Float, SortOrder::TotalFloat];
    let w64 = [SortOrder::Signed64, SortOrder::Unsigned64, SortOrder::Double, SortOrder::TotalDouble];
    prop_oneof![
        (prop::sample::select(w32.to_vec()), words())
            .prop_map(|(order, words)| (order, Values::W32(words.iter().map(|word| *word as u32).collect()))),
        (prop::sample::select(w64.to_vec()), words()).prop_map(|(order, words)| (order, Values::W64(words))),
        proptest::collection::vec(any::<bool>(), 0..9).prop_map(|rows| {
            let mut bits = Bitmap::new();
            rows.iter().for_each(|row| bits.push(*row));
            (SortOrder::Bool, Values::Bit(bits))
        }),
        fixed(SortOrder::Float16, 2),
        fixed(SortOrder::TotalFloat16, 2),
        fixed(SortOrder::Int96, 12),
        int96(),
        (0usize..20).prop_flat_map(move |width| fixed(SortOrder::FixedLenBytes, width)),
        (0usize..20).prop_flat_map(move |width| fixed(SortOrder::Decimal, width)),
        strings(SortOrder::Bytes),
        strings(SortOrder::Decimal),
        strings(SortOrder::Undefined),
    ]
}

/// Times within their day, but for one in some of them, or a day that wrapped.
fn int96() -> impl Strategy<Value = (SortOrder, Values)> {
    let time = (0..NANOS_PER_DAY, 0..=i32::MAX);
    let odd = prop_oneof![(NANOS_PER_DAY.., 0..=i32::MAX), (0..NANOS_PER_DAY, i32::MIN..0)];
    (proptest::collection::vec(time, 0..20), prop::option::of(odd)).prop_map(|(mut times, odd)| {
        if let (Some(last), Some(odd)) = (times.last_mut(), odd) {
            *last = odd;
        }
        let mut values = FixedLenBytes::new(12);
        times
            .iter()
            .for_each(|(nanos, day)| values.push(&[&nanos.to_le_bytes()[..], &day.to_le_bytes()].concat()));
        (SortOrder::Int96, Values::Fixed(values))
    })
}

const NANOS_PER_DAY: i64 = 86_400_000_000_000;

/// Whether INT96 values are all times within their day, and no day wrapped: others have no bounds.
pub(crate) fn are_within_days(values: &[Vec<u8>]) -> bool {
    let nanos = |value: &Vec<u8>| i64::from_le_bytes(value[..8].try_into().unwrap());
    let is_positive = |value: &Vec<u8>| value[11] < 0x80;
    values.iter().all(|value| is_positive(value) && (0..NANOS_PER_DAY).contains(&nanos(value)))
}

/// All values, PLAIN.
pub(crate) fn plain(values: &Values) -> Vec<Vec<u8>> {
    (0..values.len()).map(|i| plain_value(values, i, &mut [0; 8]).to_vec()).collect()
}

/// What min, max and NaN count must be, by the words of `ColumnOrder`.
fn naive(order: SortOrder, values: &[Vec<u8>]) -> (Option<Vec<u8>>, Option<Vec<u8>>, Option<u64>) {
    let (nans, numbers): (Vec<_>, Vec<_>) = values.iter().partition(|value| order.is_nan(value));
    let bounding = if order.is_total() && numbers.is_empty() { nans.clone() } else { numbers };
    let compare = |a: &&&Vec<u8>, b: &&&Vec<u8>| order.total().compare(a, b).unwrap();
    let defined = order != SortOrder::Undefined && (order != SortOrder::Int96 || are_within_days(values));
    let bound = |sign: u8, found: Option<&&Vec<u8>>| {
        found.map(|found| {
            let mut bound = shortest(order, found.to_vec());
            if !order.is_total() && order.is_zero(&bound) {
                *bound.last_mut().unwrap() = sign;
            }
            bound
        })
    };
    let (min, max) = match defined {
        true => (bounding.iter().min_by(compare), bounding.iter().max_by(compare)),
        false => (None, None),
    };
    (bound(0x80, min), bound(0, max), order.is_float().then_some(nans.len() as u64))
}

fn found(bounds: &MinMaxStats) -> (Option<Vec<u8>>, Option<Vec<u8>>, Option<u64>) {
    let shortest = |bound: &[u8]| shortest(bounds.order(), bound.to_vec());
    (bounds.min().map(shortest), bounds.max().map(shortest), bounds.nan_count())
}

/// The same number in as few bytes as can be: decimals that are equal may differ in their bytes.
fn shortest(order: SortOrder, mut value: Vec<u8>) -> Vec<u8> {
    while order == SortOrder::Decimal
        && value.len() > 1
        && order.compare(&value, &value[1..]).unwrap().is_eq()
    {
        value.remove(0);
    }
    if order == SortOrder::Decimal && value == [0] { Vec::new() } else { value }
}

fn floats(order: SortOrder, values: &[f64]) -> MinMaxStats {
    let mut bounds = MinMaxStats::new(order);
    bounds.update(&Values::W64(values.iter().map(|value| value.to_bits()).collect()), 0..values.len());
    bounds
}

fn is(bounds: &MinMaxStats, min: f64, max: f64) {
    assert_eq!(bounds.min(), Some(&min.to_le_bytes()[..]));
    assert_eq!(bounds.max(), Some(&max.to_le_bytes()[..]));
}

#[test]
fn type_order_computes_bounds_from_values_that_are_not_nan() {
    let bounds = floats(SortOrder::Double, &[f64::NAN, 2.0, -f64::NAN, 1.0]);
    is(&bounds, 1.0, 2.0);
    assert_eq!(bounds.nan_count(), Some(2));
}

#[test]
fn type_order_has_no_bounds_if_all_values_are_nan() {
    let bounds = floats(SortOrder::Double, &[f64::NAN, -f64::NAN]);
    assert_eq!((bounds.min(), bounds.max(), bounds.nan_count()), (None, None, Some(2)));
}

#[test]
fn nan_count_is_there_even_if_zero_and_for_floats_only() {
    assert_eq!(MinMaxStats::new(SortOrder::Float16).nan_count(), Some(0));
    assert_eq!(MinMaxStats::new(SortOrder::TotalFloat).nan_count(), Some(0));
    assert_eq!(MinMaxStats::new(SortOrder::Signed64).nan_count(), None);
}

#[test]
fn type_order_writes_zeros_as_minus_zero_and_plus_zero() {
    let plus = floats(SortOrder::Double, &[0.0]);
    is(&plus, -0.0, 0.0);
    assert_eq!((plus.is_min_exact(), plus.is_max_exact()), (false, true));
    let minus = floats(SortOrder::Double, &[-0.0]);
    is(&minus, -0.0, 0.0);
    assert_eq!((minus.is_min_exact(), minus.is_max_exact()), (true, false));
    let mut both = plus;
    both.merge(&minus);
    is(&both, -0.0, 0.0);
    assert_eq!((both.is_min_exact(), both.is_max_exact()), (true, true));
    is(&floats(SortOrder::Double, &[0.0, 5.0]), -0.0, 5.0);
    is(&floats(SortOrder::Double, &[-5.0, -0.0]), -5.0, 0.0);
}

#[test]
fn total_order_has_the_smallest_and_largest_values_that_are_not_nan() {
    let bounds = floats(SortOrder::TotalDouble, &[f64::NAN, 0.0, -f64::NAN, 1.0]);
    is(&bounds, 0.0, 1.0);
    assert_eq!((bounds.nan_count(), bounds.is_min_exact()), (Some(2), true));
    is(&floats(SortOrder::TotalDouble, &[0.0]), 0.0, 0.0);
    is(&floats(SortOrder::TotalDouble, &[-0.0]), -0.0, -0.0);
}

#[test]
fn total_order_has_the_smallest_and_largest_nan_if_all_values_are_nan() {
    let larger = f64::from_bits(f64::NAN.to_bits() + 1);
    let mut bounds = floats(SortOrder::TotalDouble, &[larger, f64::NAN, -f64::NAN]);
    is(&bounds, -f64::NAN, larger);
    bounds.merge(&floats(SortOrder::TotalDouble, &[7.0]));
    is(&bounds, 7.0, 7.0);
    assert_eq!(bounds.nan_count(), Some(3));
    let mut after = floats(SortOrder::TotalDouble, &[7.0]);
    after.merge(&floats(SortOrder::TotalDouble, &[f64::NAN]));
    is(&after, 7.0, 7.0);
}

#[test]
fn what_is_cleared_is_forgotten() {
    let mut bounds = floats(SortOrder::TotalDouble, &[1.0, f64::NAN]);
    bounds.clear();
    assert_eq!((bounds.min(), bounds.nan_count()), (None, Some(0)));
    bounds.update(&Values::W64(vec![f64::NAN.to_bits()]), 0..1);
    is(&bounds, f64::NAN, f64::NAN);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1024))]

    #[test]
    fn bounds_equal_a_naive_fold((order, values) in column(), cut: prop::sample::Index) {
        let all = plain(&values);
        let expected = naive(order, &all);
        let cut = cut.index(values.len() + 1);

        let mut whole = MinMaxStats::new(order);
        whole.update(&values, 0..values.len());
        prop_assert_eq!(found(&whole), expected.clone());

        let mut parts = MinMaxStats::new(order);
        parts.update(&values, cut..values.len());
        parts.update(&values, 0..cut);
        prop_assert_eq!(found(&parts), expected.clone());

        let (mut front, mut back) = (MinMaxStats::new(order), MinMaxStats::new(order));
        front.update(&values, 0..cut);
        back.update(&values, cut..values.len());
        front.merge(&back);
        prop_assert_eq!(found(&front), expected.clone());

        let mut at = MinMaxStats::new(order);
        at.update_at(&values, (0..values.len()).rev());
        at.add_nans(order.nans(&values).len() as u64);
        prop_assert_eq!(found(&at), expected);

        for value in all.iter().filter(|value| !order.is_nan(value)) {
            if let (Some(min), Some(max)) = (whole.min(), whole.max()) {
                prop_assert!(order.compare(min, value).unwrap().is_le());
                prop_assert!(order.compare(value, max).unwrap().is_le());
            }
        }
        let occurs = |bound: Option<&[u8]>| all.iter().any(|value| Some(&value[..]) == bound);
        prop_assert_eq!(whole.is_min_exact(), occurs(whole.min()));
        prop_assert_eq!(whole.is_max_exact(), occurs(whole.max()));
    }
}
