//! Every level that this CPU has gives exactly the results of the scalar one, for every width, tail and alignment.

mod alp;
mod data;

use data::{LENGTHS, bits, noise, scalar};
use marquetry_kernels::{Bitmap, Kernels, pack_u64, split_streams_u32, split_streams_u64};

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
                // Without and with bytes that are not needed.
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

                    let ends: Vec<u32> = (0..=ones as u32).map(|i| i * i).collect();
                    let (mut out, mut expected) = (vec![1], vec![1]);
                    kernels.expand_ends(&ends, &validity, first, n, &mut out);
                    scalar().expand_ends(&ends, &validity, first, n, &mut expected);
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
fn filtering() {
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
                    kernels.filter_u8(&bytes[..n], keep, first, &mut out);
                    assert!(out[1..].iter().eq(wanted.iter().map(|&i| &bytes[i])), "{place}");

                    let mut out = vec![1];
                    kernels.filter_u32(&words[..n], keep, first, &mut out);
                    assert!(out[1..].iter().eq(wanted.iter().map(|&i| &words[i])), "{place}");

                    let mut out = vec![1];
                    kernels.filter_u64(&values[..n], keep, first, &mut out);
                    assert!(out[1..].iter().eq(wanted.iter().map(|&i| &values[i])), "{place}");

                    let mut out = vec![1];
                    kernels.filter_u128(&views[..n], keep, first, &mut out);
                    assert!(out[1..].iter().eq(wanted.iter().map(|&i| &views[i])), "{place}");

                    let mut out = bits(50, first % 9);
                    let mut expected = out.clone();
                    kernels.filter_bits(&bytes, first, keep, first, n, &mut out);
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
            // The last start makes the values end with the input.
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
fn maximum() {
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
                    kernels.push_ge(&mut out, &levels[before..before + n], threshold);
                    scalar().push_ge(&mut expected, &levels[before..before + n], threshold);
                    assert_eq!(out, expected, "{kernels:?}, {n} levels at least {threshold}");
                }
            }
        }
    }
}

#[test]
fn merging() {
    let values = noise(310);
    let halves: Vec<u32> = values.iter().map(|&value| value as u32).collect();
    let (mut streams, mut half_streams) = (Vec::new(), Vec::new());
    split_streams_u64(&values, &mut streams);
    split_streams_u32(&halves, &mut half_streams);
    for n in LENGTHS {
        for first in [0, 1, 7] {
            for kernels in Kernels::all_available() {
                let (mut out, mut half_out) = (vec![7], vec![7]);
                kernels.merge_streams_u64(&streams, 310, first, n, &mut out);
                kernels.merge_streams_u32(&half_streams, 310, first, n, &mut half_out);
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
fn splitting() {
    let values = noise(310);
    let halves: Vec<u32> = values.iter().map(|&value| value as u32).collect();
    for n in LENGTHS {
        for kernels in Kernels::all_available() {
            let (mut out, mut half_out) = (vec![7], vec![7]);
            kernels.split_streams_u64(&values[..n], &mut out);
            kernels.split_streams_u32(&halves[..n], &mut half_out);
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
fn summarizing_views() {
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
                assert_eq!(
                    kernels.summarize_views(views),
                    scalar().summarize_views(views),
                    "{kernels:?}, {n} views"
                );
            }
        }
    }
}
