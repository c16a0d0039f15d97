//! Measures every loop at every level that this CPU has: `cargo run --profile dist -p marquetry-kernels --example measure`.
//!
//! Nanoseconds a value, the best of many rounds, on data that fits the second-level cache; and how many times faster
//! than scalar. An argument keeps the lines that contain it.

use marquetry_kernels::{
    Bitmap, Kernels, gather, gather_views, inline_view, long_view, pack_u32, pack_u64, views_to_offsets,
};
use std::hint::black_box;
use std::time::Instant;

const N: usize = 4096;

fn main() {
    let filter = std::env::args().nth(1).unwrap_or_default();
    let levels: Vec<&Kernels> = Kernels::all_available().collect();
    let line = |name: &str, run: &mut dyn FnMut(&Kernels)| {
        if !name.contains(&filter) {
            return;
        }
        print!("{name:24}");
        let times: Vec<f64> = levels.iter().map(|kernels| best(|| run(kernels))).collect();
        for (kernels, time) in levels.iter().zip(&times) {
            print!("  {} {time:6.3} ns  {:5.2} x", kernels.name(), times[times.len() - 1] / time);
        }
        println!();
    };
    unpacking(&line);
    packing(&line);
    decimals(&line);
    expanding(&line);
    rest(&line);
    strings(&line);
}

type Line<'a> = dyn Fn(&str, &mut dyn FnMut(&Kernels)) + 'a;

fn best(mut run: impl FnMut()) -> f64 {
    let round = |run: &mut dyn FnMut()| {
        let start = Instant::now();
        (0..8).for_each(|_| run());
        start.elapsed().as_secs_f64() * 1e9 / (8 * N) as f64
    };
    (0..2000).map(|_| round(&mut run)).fold(f64::INFINITY, f64::min)
}

fn noise() -> Vec<u64> {
    (1..=N as u64).map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(i as u32 % 64)).collect()
}

fn unpacking(line: &Line<'_>) {
    for width in [1, 2, 3, 5, 7, 8, 10, 11, 13, 17, 20, 25, 26, 31, 32, 40, 57, 60] {
        let mut packed = Vec::new();
        pack_u64(&noise(), width, &mut packed);
        packed.resize(packed.len() + 64, 0);
        let (mut bytes, mut words, mut longs) = (Vec::new(), Vec::new(), Vec::new());
        if width <= 8 {
            line(&format!("unpack_u8 {width}"), &mut |kernels| {
                bytes.clear();
                kernels.unpack_u8(black_box(&packed), width, 0, N, &mut bytes);
            });
        }
        if width <= 32 {
            line(&format!("unpack_u32 {width}"), &mut |kernels| {
                words.clear();
                kernels.unpack_u32(black_box(&packed), width, 0, N, &mut words);
            });
        }
        line(&format!("unpack_u64 {width}"), &mut |kernels| {
            longs.clear();
            kernels.unpack_u64(black_box(&packed), width, 0, N, &mut longs);
        });
    }
}

fn packing(line: &Line<'_>) {
    let longs = noise();
    let words: Vec<u32> = longs.iter().map(|&value| value as u32).collect();
    let bytes: Vec<u8> = longs.iter().map(|&value| value as u8).collect();
    let mut out = Vec::new();
    for width in [1, 2, 4, 5, 8, 10, 13, 16, 17, 20, 25, 31, 32, 40, 57, 60] {
        if width <= 8 {
            line(&format!("pack_u8 {width}"), &mut |kernels| {
                out.clear();
                kernels.pack_u8(black_box(&bytes), width, &mut out);
            });
        }
        if width <= 32 {
            line(&format!("pack_u32 {width}"), &mut |_| {
                out.clear();
                pack_u32(black_box(&words), width, &mut out);
            });
        }
        line(&format!("pack_u64 {width}"), &mut |_| {
            out.clear();
            pack_u64(black_box(&longs), width, &mut out);
        });
    }
}

fn decimals(line: &Line<'_>) {
    for width in [8, 17, 24, 40, 60] {
        let mut packed = Vec::new();
        pack_u64(&noise(), width, &mut packed);
        packed.resize(packed.len() + 64, 0);
        let (mut words, mut longs) = (Vec::new(), Vec::new());
        if width <= 32 {
            line(&format!("alp_decode_f32 {width}"), &mut |kernels| {
                words.clear();
                kernels.alp_decode_f32(black_box(&packed), width, N, 7, [1.0, 0.01], &mut words);
            });
        }
        line(&format!("alp_decode_f64 {width}"), &mut |kernels| {
            longs.clear();
            kernels.alp_decode_f64(black_box(&packed), width, N, 7, [1.0, 0.01], &mut longs);
        });
    }
    let prices = noise().into_iter().map(|value| value % 100_000);
    let singles: Vec<u32> = prices.clone().map(|price| (price as f32 / 100.0).to_bits()).collect();
    let doubles: Vec<u64> = prices.map(|price| (price as f64 / 100.0).to_bits()).collect();
    let (mut integers, mut exact) = (vec![0; N], vec![0; N]);
    line("alp_encode_f32", &mut |kernels| {
        let (to, back) = ([100.0, 1.0], [1.0, 0.01]);
        black_box(kernels.alp_encode_f32(black_box(&singles), to, back, &mut integers, &mut exact));
    });
    let (mut integers, mut exact) = (vec![0; N], vec![0; N]);
    line("alp_encode_f64", &mut |kernels| {
        let (to, back) = ([100.0, 1.0], [1.0, 0.01]);
        black_box(kernels.alp_encode_f64(black_box(&doubles), to, back, &mut integers, &mut exact));
    });
}

fn expanding(line: &Line<'_>) {
    for per_cent in [1, 10, 50, 90, 99] {
        let validity: Bitmap = noise().iter().map(|value| value % 100 < per_cent).collect();
        let ones = validity.count_ones(0..N);
        let (mut words, mut longs, mut views, mut bits) = (Vec::new(), Vec::new(), Vec::new(), Bitmap::new());
        let (dense_words, dense_longs, dense_views) =
            (vec![[7; 4]; ones], vec![[7; 8]; ones], vec![[7; 16]; ones]);
        let dense: Bitmap = (0..ones).map(|i| i % 3 == 0).collect();
        line(&format!("expand_u32 {per_cent}"), &mut |kernels| {
            words.clear();
            kernels.expand_u32(black_box(&dense_words), &validity, 0, N, &mut words);
        });
        line(&format!("expand_u64 {per_cent}"), &mut |kernels| {
            longs.clear();
            kernels.expand_u64(black_box(&dense_longs), &validity, 0, N, &mut longs);
        });
        line(&format!("expand_u128 {per_cent}"), &mut |kernels| {
            views.clear();
            kernels.expand_u128(black_box(&dense_views), &validity, 0, N, &mut views);
        });
        let (bytes, keep) = (vec![7u8; N], validity.as_bytes());
        let (all_words, all_longs, all_views) = (vec![7; N], vec![7; N], vec![7; N]);
        let mut few = Vec::new();
        line(&format!("filter_u8 {per_cent}"), &mut |kernels| {
            few.clear();
            kernels.filter_u8(black_box(&bytes), keep, 0, &mut few);
        });
        line(&format!("filter_u32 {per_cent}"), &mut |kernels| {
            words.clear();
            kernels.filter_u32(black_box(&all_words), keep, 0, &mut words);
        });
        line(&format!("filter_u64 {per_cent}"), &mut |kernels| {
            longs.clear();
            kernels.filter_u64(black_box(&all_longs), keep, 0, &mut longs);
        });
        line(&format!("filter_u128 {per_cent}"), &mut |kernels| {
            views.clear();
            kernels.filter_u128(black_box(&all_views), keep, 0, &mut views);
        });
        line(&format!("filter_bits {per_cent}"), &mut |kernels| {
            bits.clear();
            kernels.filter_bits(keep, 0, black_box(keep), 0, N, &mut bits);
        });
        line(&format!("expand_bits {per_cent}"), &mut |kernels| {
            bits.clear();
            kernels.expand_bits(black_box(&dense), &validity, 0, N, &mut bits);
        });
    }
}

fn rest(line: &Line<'_>) {
    let mut longs = noise();
    let mut words: Vec<u32> = longs.iter().map(|&value| value as u32).collect();
    let levels: Vec<u8> = longs.iter().map(|&value| value as u8 % 4).collect();
    let streams: Vec<u8> = longs.iter().flat_map(|value| value.to_le_bytes()).collect();
    let validity: Bitmap = longs.iter().map(|value| value % 3 > 0).collect();
    line("prefix_sum_u32", &mut |kernels| {
        black_box(kernels.prefix_sum_u32(black_box(&mut words), 1, 2));
    });
    line("prefix_sum_u64", &mut |kernels| {
        black_box(kernels.prefix_sum_u64(black_box(&mut longs), 1, 2));
    });
    line("max_u32", &mut |kernels| {
        black_box(kernels.max_u32(black_box(&words)));
    });
    line("count_ones", &mut |kernels| {
        black_box(kernels.count_ones(black_box(&validity), 0..N));
    });
    let mut bits = Bitmap::new();
    line("push_ge", &mut |kernels| {
        bits.clear();
        kernels.push_ge(&mut bits, black_box(&levels), 3);
    });
    let mut split = Vec::new();
    line("split_streams_u32", &mut |kernels| {
        split.clear();
        kernels.split_streams_u32(black_box(&words), &mut split);
    });
    line("split_streams_u64", &mut |kernels| {
        split.clear();
        kernels.split_streams_u64(black_box(&longs), &mut split);
    });
    line("split 16 bytes", &mut |_| {
        split.clear();
        marquetry_kernels::split_streams(black_box(&streams[..]), 16, &mut split);
    });
    line("min_max_i32", &mut |kernels| _ = black_box(kernels.min_max_i32(black_box(&words))));
    line("min_max_u32", &mut |kernels| _ = black_box(kernels.min_max_u32(black_box(&words))));
    line("min_max_i64", &mut |kernels| _ = black_box(kernels.min_max_i64(black_box(&longs))));
    line("min_max_u64", &mut |kernels| _ = black_box(kernels.min_max_u64(black_box(&longs))));
    line("min_max_f32", &mut |kernels| _ = black_box(kernels.min_max_f32(black_box(&words))));
    line("min_max_f64", &mut |kernels| _ = black_box(kernels.min_max_f64(black_box(&longs))));
    line("merge_streams_u32", &mut |kernels| {
        words.clear();
        kernels.merge_streams_u32(black_box(&streams), N, 0, N, &mut words);
    });
    line("merge_streams_u64", &mut |kernels| {
        longs.clear();
        kernels.merge_streams_u64(black_box(&streams), N, 0, N, &mut longs);
    });
    let indices: Vec<u32> = noise().iter().map(|&value| value as u32 % 1000).collect();
    let dictionary = noise();
    line("gather u64", &mut |_| {
        longs.clear();
        gather(black_box(&dictionary), &indices, &mut longs).unwrap();
    });
    let (views, mut out) = (vec![inline_view(b"short"); 1000], Vec::new());
    line("gather views", &mut |_| {
        out.clear();
        gather_views(black_box(&views), &indices, 1, &mut out).unwrap();
    });
}

fn strings(line: &Line<'_>) {
    let text = vec![b'x'; 1 << 16];
    for (name, shortest, longest) in [("short", 0, 12), ("mixed", 8, 24), ("long", 30, 42)] {
        let views: Vec<u128> = noise()
            .iter()
            .map(|value| {
                let len = shortest + (value >> 20) as usize % (longest - shortest + 1);
                let from = (value >> 40) as usize % (text.len() - 64);
                let string = &text[from..from + len];
                if len <= 12 { inline_view(string) } else { long_view(string, 0, from as u32) }
            })
            .collect();
        line(&format!("summarize_views {name}"), &mut |kernels| {
            black_box(kernels.summarize_views(black_box(&views)));
        });
        let (mut ends, mut bytes) = (Vec::new(), Vec::new());
        line(&format!("views_to_offsets {name}"), &mut |_| {
            ends.clear();
            bytes.clear();
            views_to_offsets(
                black_box(&views),
                [text.as_slice()].into_iter(),
                |end| end as i32,
                &mut ends,
                &mut bytes,
            );
        });
    }
}
