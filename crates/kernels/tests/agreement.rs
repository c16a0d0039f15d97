//! Every level that this CPU has does exactly what the scalar one does: for every width, tail and alignment.

use marquetry_kernels::{Bitmap, Kernels, pack_u64, split_u32, split_u64};

fn scalar() -> &'static Kernels {
    Kernels::all_available().last().unwrap()
}

/// Numbers that look random, the same ones each time.
fn noise(n: usize) -> Vec<u64> {
    let mut state = 1u64;
    let next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.wrapping_mul(0x2545_f491_4f6c_dd1d)
    };
    std::iter::repeat_with(next).take(n).collect()
}

/// Bitmap of which about `per_cent` are 1.
fn bits(per_cent: u64, n: usize) -> Bitmap {
    noise(n).iter().map(|&value| (value >> 32) % 100 < per_cent).collect()
}

/// Lengths around the sizes of vectors and words.
const LENGTHS: [usize; 20] = [0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 130, 300];

#[test]
fn the_scalar_level_is_always_there() {
    assert_eq!(scalar().name(), "scalar");
    assert!(Kernels::all_available().any(|kernels| std::ptr::eq(kernels, Kernels::current())));
}

#[test]
fn unpacking() {
    let all = noise(340);
    for width in 0..=64 {
        let mut packed = Vec::new();
        pack_u64(&all, width, &mut packed);
        for first in (0..9).chain([15, 16, 33]) {
            for n in LENGTHS {
                // No byte more than needed, and slack.
                let needed = ((first + n) * width as usize).div_ceil(8);
                for source in [&packed[..needed], &packed] {
                    for kernels in Kernels::all_available() {
                        let place = format!("{kernels:?}, width {width}, {n} from {first}");
                        let (mut out, mut expected) = (vec![1], vec![1]);
                        kernels.unpack_u64(source, width, first, n, &mut out);
                        scalar().unpack_u64(source, width, first, n, &mut expected);
                        assert_eq!(out, expected, "{place}");
                        if width <= 32 {
                            let (mut out, mut expected) = (vec![1], vec![1]);
                            kernels.unpack_u32(source, width, first, n, &mut out);
                            scalar().unpack_u32(source, width, first, n, &mut expected);
                            assert_eq!(out, expected, "{place}");
                        }
                        if width <= 16 {
                            let (mut out, mut expected) = (vec![1], vec![1]);
                            kernels.unpack_u16(source, width, first, n, &mut out);
                            scalar().unpack_u16(source, width, first, n, &mut expected);
                            assert_eq!(out, expected, "{place}");
                        }
                        if width <= 8 {
                            let (mut out, mut expected) = (vec![1], vec![1]);
                            kernels.unpack_u8(source, width, first, n, &mut out);
                            scalar().unpack_u8(source, width, first, n, &mut expected);
                            assert_eq!(out, expected, "{place}");
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn expanding() {
    let values = noise(400);
    let words: Vec<u32> = values.iter().map(|&value| value as u32).collect();
    let views: Vec<u128> = values.iter().map(|&value| u128::from(value) << 40 | 7).collect();
    let words: Vec<[u8; 4]> = words.into_iter().map(u32::to_le_bytes).collect();
    let values: Vec<[u8; 8]> = values.into_iter().map(u64::to_le_bytes).collect();
    let views: Vec<[u8; 16]> = views.into_iter().map(u128::to_le_bytes).collect();
    let dense_bits = bits(50, 400);
    for per_cent in [0, 3, 50, 90, 99, 100] {
        let validity = bits(per_cent, 400);
        for first in [0, 1, 5, 7, 8, 63, 64, 65] {
            for n in LENGTHS {
                let ones = scalar().count_ones(&validity, first..first + n);
                let mut dense = Bitmap::new();
                dense.push_packed(dense_bits.as_bytes(), 0, ones);
                for kernels in Kernels::all_available() {
                    let place = format!("{kernels:?}, {per_cent} %, {n} from {first}");
                    assert_eq!(kernels.count_ones(&validity, first..first + n), ones, "{place}");

                    let (mut out, mut expected) = (vec![1], vec![1]);
                    kernels.expand_u32(&words[..ones], &validity, first, n, &mut out);
                    scalar().expand_u32(&words[..ones], &validity, first, n, &mut expected);
                    assert_eq!(out, expected, "{place}");

                    let (mut out, mut expected) = (vec![1], vec![1]);
                    kernels.expand_u64(&values[..ones], &validity, first, n, &mut out);
                    scalar().expand_u64(&values[..ones], &validity, first, n, &mut expected);
                    assert_eq!(out, expected, "{place}");

                    let (mut out, mut expected) = (vec![1], vec![1]);
                    kernels.expand_u128(&views[..ones], &validity, first, n, &mut out);
                    scalar().expand_u128(&views[..ones], &validity, first, n, &mut expected);
                    assert_eq!(out, expected, "{place}");

                    let (mut out, mut expected) = (bits(50, first % 3), bits(50, first % 3));
                    kernels.expand_bits(&dense, &validity, first, n, &mut out);
                    scalar().expand_bits(&dense, &validity, first, n, &mut expected);
                    assert_eq!(out, expected, "{place}");
                }
            }
        }
    }
}

#[test]
fn compacting() {
    let values = noise(400);
    let bytes: Vec<u8> = values.iter().map(|&value| value as u8).collect();
    let words: Vec<u32> = values.iter().map(|&value| value as u32).collect();
    let views: Vec<u128> = values.iter().map(|&value| u128::from(value) << 40 | 7).collect();
    for per_cent in [0, 3, 50, 90, 99, 100] {
        let keep = bits(per_cent, 400);
        for first in [0, 1, 5, 7, 8, 63, 64, 65] {
            for n in LENGTHS {
                let wanted: Vec<usize> = (0..n).filter(|i| keep.get(first + i)).collect();
                let keep = keep.as_bytes();
                for kernels in Kernels::all_available() {
                    let place = format!("{kernels:?}, {per_cent} %, {n} from {first}");
                    let mut out = vec![1];
                    kernels.compact_u8(&bytes[..n], keep, first, &mut out);
                    assert!(out[1..].iter().eq(wanted.iter().map(|&i| &bytes[i])), "{place}");

                    let mut out = vec![1];
                    kernels.compact_u32(&words[..n], keep, first, &mut out);
                    assert!(out[1..].iter().eq(wanted.iter().map(|&i| &words[i])), "{place}");

                    let mut out = vec![1];
                    kernels.compact_u64(&values[..n], keep, first, &mut out);
                    assert!(out[1..].iter().eq(wanted.iter().map(|&i| &values[i])), "{place}");

                    let mut out = vec![1];
                    kernels.compact_u128(&views[..n], keep, first, &mut out);
                    assert!(out[1..].iter().eq(wanted.iter().map(|&i| &views[i])), "{place}");

                    let mut out = bits(50, first % 9);
                    let mut expected = out.clone();
                    kernels.compact_bits(&bytes, first, keep, first, n, &mut out);
                    let bit = |i: usize| bytes[i / 8] >> (i % 8) & 1 == 1;
                    wanted.iter().for_each(|&i| expected.push(bit(first + i)));
                    assert_eq!(out, expected, "{place}");
                }
            }
        }
    }
}

#[test]
fn summing() {
    let values = noise(310);
    for n in LENGTHS {
        for (before, least) in [(0, 0), (5, 1), (u64::MAX, 0u64.wrapping_sub(3)), (1 << 40, 1 << 63)] {
            for kernels in Kernels::all_available() {
                for start in 0..3 {
                    let (mut out, mut expected) = (values.clone(), values.clone());
                    let last = kernels.prefix_sum_u64(&mut out[start..start + n], before, least);
                    assert_eq!(last, scalar().prefix_sum_u64(&mut expected[start..start + n], before, least));
                    assert_eq!(out, expected, "{kernels:?}, {n}");

                    let mut out: Vec<u32> = values.iter().map(|&value| value as u32).collect();
                    let mut expected = out.clone();
                    let (before, least) = (before as u32, least as u32);
                    let last = kernels.prefix_sum_u32(&mut out[start..start + n], before, least);
                    assert_eq!(last, scalar().prefix_sum_u32(&mut expected[start..start + n], before, least));
                    assert_eq!(out, expected, "{kernels:?}, {n}");
                }
            }
        }
    }
}

#[test]
fn unpacking_deltas() {
    let values = noise(310);
    for width in 0..=64 {
        let mut packed = Vec::new();
        pack_u64(&values, width, &mut packed);
        for n in LENGTHS {
            // From values whose bytes end the input, too.
            for first in [0, 1, 7, 8, 310 - n] {
                for (before, least) in [(0, 0), (u64::MAX - 4, 0u64.wrapping_sub(3)), (1 << 40, 1 << 63)] {
                    for kernels in Kernels::all_available() {
                        let place = format!("{kernels:?}, width {width}, {n} from {first}");
                        let mut expected = vec![9];
                        scalar().unpack_u64(&packed, width, first, n, &mut expected);
                        let last_expected = scalar().prefix_sum_u64(&mut expected[1..], before, least);
                        let (mut out, range) = (vec![9], first..first + n);
                        let last =
                            kernels.unpack_deltas_u64(&packed, width, range.clone(), before, least, &mut out);
                        assert_eq!((out, last), (expected, last_expected), "{place}");
                        if width > 32 {
                            continue;
                        }
                        let (before, least) = (before as u32, least as u32);
                        let mut expected = vec![9];
                        scalar().unpack_u32(&packed, width, first, n, &mut expected);
                        let last_expected = scalar().prefix_sum_u32(&mut expected[1..], before, least);
                        let mut out = vec![9];
                        let last = kernels.unpack_deltas_u32(&packed, width, range, before, least, &mut out);
                        assert_eq!((out, last), (expected, last_expected), "{place}");
                    }
                }
            }
        }
    }
}

#[test]
fn largest() {
    let values: Vec<u32> = noise(310).iter().map(|&value| value as u32).collect();
    for n in LENGTHS {
        for start in 0..5 {
            for kernels in Kernels::all_available() {
                let max = values[start..start + n].iter().copied().max().unwrap_or(0);
                assert_eq!(kernels.max_u32(&values[start..start + n]), max, "{kernels:?}, {n}");
            }
        }
    }
}

#[test]
fn levels() {
    let levels: Vec<u8> = noise(310).iter().map(|&value| (value >> 56) as u8).collect();
    for n in LENGTHS {
        for before in 0..9 {
            for threshold in [0, 1, 127, 128, 255] {
                for kernels in Kernels::all_available() {
                    let (mut out, mut expected) = (bits(50, before), bits(50, before));
                    kernels.push_at_least(&mut out, &levels[before..before + n], threshold);
                    scalar().push_at_least(&mut expected, &levels[before..before + n], threshold);
                    assert_eq!(out, expected, "{kernels:?}, {n} levels at least {threshold}");
                }
            }
        }
    }
}

#[test]
fn joining() {
    let values = noise(310);
    let halves: Vec<u32> = values.iter().map(|&value| value as u32).collect();
    let (mut streams, mut half_streams) = (Vec::new(), Vec::new());
    split_u64(&values, &mut streams);
    split_u32(&halves, &mut half_streams);
    for n in LENGTHS {
        for first in [0, 1, 7] {
            for kernels in Kernels::all_available() {
                let (mut out, mut half_out) = (vec![7], vec![7]);
                kernels.join_u64(&streams, 310, first, n, &mut out);
                kernels.join_u32(&half_streams, 310, first, n, &mut half_out);
                assert_eq!(out[1..], values[first..first + n], "{kernels:?}, {n} from {first}");
                assert_eq!(half_out[1..], halves[first..first + n], "{kernels:?}, {n} from {first}");
            }
        }
    }
}

#[test]
fn packing() {
    let bytes: Vec<u8> = noise(340).iter().map(|&value| (value >> 30) as u8).collect();
    for width in 0..=8 {
        for n in LENGTHS {
            for start in 0..3 {
                for kernels in Kernels::all_available() {
                    let (mut out, mut expected) = (vec![7], vec![7]);
                    kernels.pack_u8(&bytes[start..start + n], width, &mut out);
                    scalar().pack_u8(&bytes[start..start + n], width, &mut expected);
                    assert_eq!(out, expected, "{kernels:?}, {n} of width {width}");
                    let wide: Vec<u64> = bytes[start..start + n].iter().map(|&byte| byte.into()).collect();
                    expected.truncate(1);
                    pack_u64(&wide, width, &mut expected);
                    assert_eq!(out, expected, "{kernels:?}, {n} of width {width}");
                }
            }
        }
    }
}

#[test]
fn packing_16_bits() {
    let halves: Vec<u16> = noise(340).iter().map(|&value| (value >> 30) as u16).collect();
    for width in 0..=16 {
        for n in LENGTHS {
            for start in 0..3 {
                for kernels in Kernels::all_available() {
                    let (mut out, mut expected) = (vec![7], vec![7]);
                    kernels.pack_u16(&halves[start..start + n], width, &mut out);
                    let wide: Vec<u64> = halves[start..start + n].iter().map(|&half| half.into()).collect();
                    pack_u64(&wide, width, &mut expected);
                    assert_eq!(out, expected, "{kernels:?}, {n} of width {width}");
                }
            }
        }
    }
}

/// Against the definition, value by value: not only against the scalar loop, which has a fast way of its own.
#[test]
fn unpacking_decimals() {
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
                        kernels.unpack_decimals_f64(source, width, n, least, [up, down], &mut out);
                        assert_eq!(out[1..], expected, "{place}");
                        if width > 32 {
                            continue;
                        }
                        let (least, up, down) = (least as u32, up as f32, down as f32);
                        let value =
                            |integer: &u64| (*integer as u32).wrapping_add(least) as i32 as f32 * up * down;
                        let expected: Vec<u32> = integers.iter().map(|i| value(i).to_bits()).collect();
                        let mut out = vec![7];
                        kernels.unpack_decimals_f32(source, width, n, least, [up, down], &mut out);
                        assert_eq!(out[1..], expected, "{place}");
                    }
                }
            }
        }
    }
}

/// Decimals, decimals of too many digits, large numbers, and what is no number, against the definition.
#[test]
fn integers() {
    let prices: Vec<f64> = noise(310).iter().map(|&value| (value % 2_000_000) as f64 / 100.0 - 1e4).collect();
    let special =
        [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.0, -0.0, 1e300, 5e-324, 1.0 / 3.0, 1e14, -1e17];
    for n in LENGTHS {
        for start in 0..3 {
            for specials in [0, 1, 4] {
                let mut values = prices.clone();
                for (i, &value) in special.iter().enumerate().take(specials * 3) {
                    values[i * 29 + 1] = value;
                }
                let doubles: Vec<u64> =
                    values[start..start + n].iter().map(|value| value.to_bits()).collect();
                let singles: Vec<u32> =
                    values[start..start + n].iter().map(|&value| (value as f32).to_bits()).collect();
                for kernels in Kernels::all_available() {
                    let place = format!("{kernels:?}, {n} from {start}, {specials} specials");
                    let (mut integers, mut exact) = (vec![3; n], vec![3; n]);
                    let found =
                        kernels.integers_f64(&doubles, [100.0, 1.0], [1.0, 0.01], &mut integers, &mut exact);
                    let mut expected = (0, i64::MAX, i64::MIN, false);
                    for (i, &bits) in doubles.iter().enumerate() {
                        let rounded = (f64::from_bits(bits) * 100.0 * 1.0).round_ties_even();
                        let is_small = rounded.abs() < (1u64 << 51) as f64;
                        let is_exact = is_small && (rounded as i64 as f64 * 1.0 * 0.01).to_bits() == bits;
                        assert_eq!(exact[i], if is_exact { u64::MAX } else { 0 }, "{place}: {i}");
                        if is_exact {
                            let integer = rounded as i64;
                            assert_eq!(integers[i] as i64, integer, "{place}: {i}");
                            expected.0 += 1;
                            expected.1 = expected.1.min(integer);
                            expected.2 = expected.2.max(integer);
                        }
                        expected.3 |= !is_small;
                    }
                    let (least, largest) = found.range;
                    let found = (found.count, least, largest, found.any_large);
                    assert_eq!(found.0, expected.0, "{place}");
                    assert_eq!(found.3, expected.3, "{place}");
                    if found.0 > 0 {
                        assert_eq!(found, expected, "{place}");
                    } else {
                        assert!(least > largest, "{place}");
                    }

                    let (mut integers, mut exact) = (vec![3; n], vec![3; n]);
                    let found =
                        kernels.integers_f32(&singles, [100.0, 1.0], [1.0, 0.01], &mut integers, &mut exact);
                    let mut count = 0;
                    for (i, &bits) in singles.iter().enumerate() {
                        let rounded = (f32::from_bits(bits) * 100.0 * 1.0).round_ties_even();
                        let is_small = rounded.abs() < (1u64 << 22) as f32;
                        let is_exact = is_small && (rounded as i64 as f32 * 1.0 * 0.01).to_bits() == bits;
                        assert_eq!(exact[i], if is_exact { u32::MAX } else { 0 }, "{place}: {i}");
                        if is_exact {
                            assert_eq!(integers[i] as i32, rounded as i32, "{place}: {i}");
                            assert!((found.range.0..=found.range.1).contains(&(rounded as i64)), "{place}");
                            count += 1;
                        }
                        assert!(is_small || found.any_large, "{place}");
                    }
                    assert_eq!(found.count, count, "{place}");
                }
            }
        }
    }
}

#[test]
fn splitting() {
    let values = noise(310);
    let halves: Vec<u32> = values.iter().map(|&value| value as u32).collect();
    for n in LENGTHS {
        for kernels in Kernels::all_available() {
            let (mut out, mut half_out) = (vec![7], vec![7]);
            kernels.split_u64(&values[..n], &mut out);
            kernels.split_u32(&halves[..n], &mut half_out);
            let streams =
                (0..8).flat_map(|byte| values[..n].iter().map(move |value| (value >> (8 * byte)) as u8));
            assert!(out[1..].iter().copied().eq(streams), "{kernels:?}, {n}");
            let streams =
                (0..4).flat_map(|byte| halves[..n].iter().map(move |value| (value >> (8 * byte)) as u8));
            assert!(half_out[1..].iter().copied().eq(streams), "{kernels:?}, {n}");
        }
    }
}

#[test]
fn ranges() {
    let mut values = noise(310);
    // Infinities, zeros and NaNs of both signs, as either type.
    for (i, sign) in [0, 1 << 63].into_iter().cycle().take(40).enumerate() {
        let special = [0, 0x7ff0 << 48, 0x7ff8 << 48, (0x7f80 << 48) + 1, 0xff80_0000, 0x7fc0_0001, 1 << 31];
        values[7 * i] = special[i % special.len()] | sign;
    }
    let words: Vec<u32> = values.iter().map(|&value| (value ^ value >> 32) as u32).collect();
    for n in LENGTHS {
        for start in 0..5 {
            let (values, words) = (&values[start..start + n], &words[start..start + n]);
            for kernels in Kernels::all_available() {
                let signed = words.iter().map(|&word| word as i32);
                assert_eq!(kernels.min_max_i32(words), signed.clone().min().zip(signed.max()), "{kernels:?}");
                let signed = values.iter().map(|&word| word as i64);
                assert_eq!(
                    kernels.min_max_i64(values),
                    signed.clone().min().zip(signed.max()),
                    "{kernels:?}"
                );
                assert_eq!(
                    kernels.min_max_u32(words),
                    words.iter().copied().min().zip(words.iter().copied().max())
                );
                assert_eq!(
                    kernels.min_max_u64(values),
                    values.iter().copied().min().zip(values.iter().copied().max())
                );

                let floats = words.iter().map(|&word| f32::from_bits(word)).filter(|float| !float.is_nan());
                let (range, nans) = kernels.min_max_f32(words);
                assert_eq!(nans, n - floats.clone().count());
                let least = floats.clone().min_by(f32::total_cmp).zip(floats.max_by(f32::total_cmp));
                let bits = |(least, greatest): (f32, f32)| (least.to_bits(), greatest.to_bits());
                assert_eq!(range.map(bits), least.map(bits), "{kernels:?}");

                let floats = values.iter().map(|&word| f64::from_bits(word)).filter(|float| !float.is_nan());
                let (range, nans) = kernels.min_max_f64(values);
                assert_eq!(nans, n - floats.clone().count());
                let least = floats.clone().min_by(f64::total_cmp).zip(floats.max_by(f64::total_cmp));
                let bits = |(least, greatest): (f64, f64)| (least.to_bits(), greatest.to_bits());
                assert_eq!(range.map(bits), least.map(bits), "{kernels:?}");
            }
        }
    }
}

#[test]
fn surveying() {
    let words = noise(620);
    let views: Vec<u128> = words
        .chunks(2)
        .enumerate()
        .map(|(i, word)| {
            let len = [5, 12, 13, 20, 0, u32::MAX][i % 6];
            u128::from(word[0]) << 32 | u128::from(word[1]) << 64 | u128::from(len)
        })
        .collect();
    for n in LENGTHS {
        for start in 0..3 {
            let views = &views[start..start + n];
            for kernels in Kernels::all_available() {
                assert_eq!(kernels.survey(views), scalar().survey(views), "{kernels:?}, {n} views");
            }
        }
    }
}
