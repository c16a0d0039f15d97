//! ALP: every level gives exactly the results of the definition.

use crate::data::{LENGTHS, noise, scalar};
use marquetry_kernels::{Kernels, pack_u64};

/// Compares with the definition value by value, because the scalar loop is optimized, too.
#[test]
fn decoding() {
    let powers = [[1.0, 0.01], [1e3, 1e-7], [1e10, 1e-10]];
    for width in 0..=64 {
        let mut packed = Vec::new();
        pack_u64(&noise(310), width, &mut packed);
        for n in LENGTHS {
            let needed = (n * width as usize).div_ceil(8);
            for source in [&packed[..needed], &packed] {
                for least in [0u64, 5, 1u64.wrapping_neg(), 1 << 50, (1u64 << 51).wrapping_neg(), 1 << 63] {
                    for ([up, down], kernels) in powers
                        .into_iter()
                        .flat_map(|powers| Kernels::all_available().map(move |at| (powers, at)))
                    {
                        let place = format!("{kernels:?}, width {width}, {n} over {least}");
                        let mut integers = Vec::new();
                        scalar().unpack_u64(source, width, 0, n, &mut integers);
                        let value = |integer: &u64| integer.wrapping_add(least) as i64 as f64 * up * down;
                        let expected: Vec<u64> = integers.iter().map(|i| value(i).to_bits()).collect();
                        let mut out = vec![7];
                        kernels.alp_decode_f64(source, width, n, least, [up, down], &mut out);
                        assert_eq!(out[1..], expected, "{place}");
                        if width > 32 {
                            continue;
                        }
                        let (least, up, down) = (least as u32, up as f32, down as f32);
                        let value =
                            |integer: &u64| (*integer as u32).wrapping_add(least) as i32 as f32 * up * down;
                        let expected: Vec<u32> = integers.iter().map(|i| value(i).to_bits()).collect();
                        let mut out = vec![7];
                        kernels.alp_decode_f32(source, width, n, least, [up, down], &mut out);
                        assert_eq!(out[1..], expected, "{place}");
                    }
                }
            }
        }
    }
}

/// Decimals, decimals of too many digits, large numbers, and values that are not numbers, in pieces of many lengths and alignments.
fn for_each_input(mut test: impl FnMut(&[f64], &str, &Kernels)) {
    let prices: Vec<f64> = noise(310).iter().map(|&value| (value % 2_000_000) as f64 / 100.0 - 1e4).collect();
    let special = [
        f64::NAN,
        f64::INFINITY,
        -0.0,
        -0.001,
        123_456.79,
        -21_474_836.0,
        21_474_836.48,
        1e300,
        1e14,
        -1e17,
        5e-324,
        0.0,
    ];
    for n in LENGTHS {
        for start in 0..3 {
            for specials in [0, 1, 4] {
                let mut values = prices.clone();
                for (i, &value) in special.iter().enumerate().take(specials * 3) {
                    values[i * 25 + 1] = value;
                }
                for kernels in Kernels::all_available() {
                    let place = format!("{kernels:?}, {n} from {start}, {specials} specials");
                    test(&values[start..start + n], &place, kernels);
                }
            }
        }
    }
}

#[test]
fn encoding_doubles() {
    for_each_input(|values, place, kernels| {
        let values: Vec<u64> = values.iter().map(|value| value.to_bits()).collect();
        let (mut integers, mut exact) = (vec![3; values.len()], vec![3; values.len()]);
        let found = kernels.alp_encode_f64(&values, [100.0, 1.0], [1.0, 0.01], &mut integers, &mut exact);
        let mut expected = (0, i64::MAX, i64::MIN, false);
        for (i, &bits) in values.iter().enumerate() {
            let rounded = (f64::from_bits(bits) * 100.0 * 1.0).round_ties_even();
            let is_small = rounded.abs() < (1u64 << 51) as f64;
            let is_exact = is_small && (rounded as i64 as f64 * 1.0 * 0.01).to_bits() == bits;
            assert_eq!(exact[i], if is_exact { u64::MAX } else { 0 }, "{place}: {i}");
            if is_exact {
                let integer = rounded as i64;
                assert_eq!(integers[i] as i64, integer, "{place}: {i}");
                expected = (expected.0 + 1, expected.1.min(integer), expected.2.max(integer), expected.3);
            }
            expected.3 |= !is_small;
        }
        let (least, greatest) = found.range;
        assert_eq!((found.count, found.any_large), (expected.0, expected.3), "{place}");
        match found.count {
            0 => assert!(least > greatest, "{place}"),
            _ => assert_eq!((least, greatest), (expected.1, expected.2), "{place}"),
        }
    });
}

#[test]
fn encoding_floats() {
    for_each_input(|values, place, kernels| {
        let values: Vec<u32> = values.iter().map(|&value| (value as f32).to_bits()).collect();
        let (mut integers, mut exact) = (vec![3; values.len()], vec![3; values.len()]);
        let found = kernels.alp_encode_f32(&values, [100.0, 1.0], [1.0, 0.01], &mut integers, &mut exact);
        let mut expected = (0, i64::MAX, i64::MIN);
        for (i, &bits) in values.iter().enumerate() {
            let rounded = (f32::from_bits(bits) * 100.0 * 1.0).round_ties_even();
            let is_small = rounded.abs() < (1u64 << 31) as f32;
            let is_exact = is_small && (rounded as i64 as f32 * 1.0 * 0.01).to_bits() == bits;
            assert_eq!(exact[i], if is_exact { u32::MAX } else { 0 }, "{place}: {i}");
            if is_exact {
                let integer = rounded as i64;
                assert_eq!(i64::from(integers[i] as i32), integer, "{place}: {i}");
                expected = (expected.0 + 1, expected.1.min(integer), expected.2.max(integer));
            }
        }
        let (least, greatest) = found.range;
        assert_eq!((found.count, found.any_large), (expected.0, false), "{place}");
        match found.count {
            0 => assert!(least > greatest, "{place}"),
            _ => assert_eq!((least, greatest), (expected.1, expected.2), "{place}"),
        }
    });
}
