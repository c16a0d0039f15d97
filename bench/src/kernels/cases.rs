//! The benchmark cases: each loop with a block of random values.

use std::sync::Arc;

use marquetry_kernels::{
    self as kernels, AlpExactness, Bitmap, Kernels, ViewSummary, append_plain_strings, gather, gather_fixed,
    gather_views, plain_views, prefetch_next_string,
};

use crate::generate::Rng;

/// Runs a loop of one level.
type Run = dyn Fn(&Kernels, &mut Out);

/// A loop, with its input.
pub(super) struct Case {
    pub(super) name: String,
    /// Number of values that a run produces, or consumes if that is more.
    pub(super) values: usize,
    /// Whether there are versions for a CPU.
    pub(super) has_levels: bool,
    /// Clears the output vector, and fills it.
    pub(super) run: Box<Run>,
}

/// What loops write to.
#[derive(Default, PartialEq)]
pub(super) struct Out {
    u8: Vec<u8>,
    u32: Vec<u32>,
    i32: Vec<i32>,
    u64: Vec<u64>,
    u128: Vec<u128>,
    bits: Bitmap,
    survey: Option<ViewSummary>,
    exact: Option<AlpExactness>,
}

/// Bytes that loops may read behind their input.
const SLACK: usize = 64;
/// Entries of a dictionary: one that fits the first-level cache, one that does not.
const DICTIONARIES: [usize; 2] = [1_000, 100_000];

/// Every loop, for blocks of `n` values.
pub(super) fn cases(n: usize) -> Vec<Case> {
    let mut cases = Cases { n, rng: Rng::new(5), list: Vec::new() };
    cases.unpack();
    cases.short_runs();
    cases.pack();
    cases.decimals();
    cases.expand();
    cases.compact();
    cases.levels();
    cases.sums();
    cases.split();
    cases.ranges();
    cases.gather();
    cases.strings();
    cases.list
}

struct Cases {
    n: usize,
    rng: Rng,
    list: Vec<Case>,
}

impl Cases {
    /// A loop that has versions for CPUs.
    fn add(&mut self, name: &str, run: impl Fn(&Kernels, &mut Out) + 'static) {
        self.list.push(Case { name: name.to_owned(), values: self.n, has_levels: true, run: Box::new(run) });
    }

    /// A loop that has one version for all.
    fn add_any(&mut self, name: &str, run: impl Fn(&mut Out) + 'static) {
        let run = Box::new(move |_: &Kernels, out: &mut Out| run(out));
        self.list.push(Case { name: name.to_owned(), values: self.n, has_levels: false, run });
    }

    fn words(&mut self) -> Arc<Vec<u64>> {
        Arc::new((0..self.n).map(|_| self.rng.next()).collect())
    }

    fn half_words(&mut self) -> Arc<Vec<u32>> {
        Arc::new((0..self.n).map(|_| self.rng.next() as u32).collect())
    }

    fn bytes(&mut self, count: usize) -> Arc<Vec<u8>> {
        Arc::new((0..count).map(|_| self.rng.next() as u8).collect())
    }

    fn bits(&mut self, percent: u64) -> Arc<Bitmap> {
        Arc::new((0..self.n).map(|_| self.rng.below(100) < percent).collect())
    }

    fn unpack(&mut self) {
        let n = self.n;
        let packed = self.bytes(n * 8 + SLACK);
        for width in [1, 2, 3, 4, 7, 8] {
            let packed = Arc::clone(&packed);
            self.add(&format!("unpack_u8_{width}"), move |kernels, out| {
                out.u8.clear();
                kernels.unpack_u8(&packed, width, 0, n, &mut out.u8);
            });
        }
        for width in [1, 3, 7, 8, 10, 12, 16, 17, 20, 25, 31, 32] {
            let packed = Arc::clone(&packed);
            self.add(&format!("unpack_u32_{width}"), move |kernels, out| {
                out.u32.clear();
                kernels.unpack_u32(&packed, width, 0, n, &mut out.u32);
            });
        }
        for width in [1, 7, 11, 16, 20, 31, 33, 48, 57, 63, 64] {
            let packed = Arc::clone(&packed);
            self.add(&format!("unpack_u64_{width}"), move |kernels, out| {
                out.u64.clear();
                kernels.unpack_u64(&packed, width, 0, n, &mut out.u64);
            });
        }
    }

    /// Equal values, 8 to 30, and a group or two of packed ones in turn.
    fn short_runs(&mut self) {
        for width in [2_u32, 5, 11] {
            let (mut runs, mut values) = (Vec::new(), 0);
            while values + 64 < self.n {
                let (equal, groups) = (8 + self.rng.below(23), 1 + self.rng.below(2));
                runs.push((equal << 1) as u8);
                runs.extend(&1_u32.to_le_bytes()[..width.div_ceil(8) as usize]);
                runs.push((groups << 1 | 1) as u8);
                runs.extend((0..groups * u64::from(width)).map(|_| self.rng.next() as u8));
                values += (equal + 8 * groups) as usize;
            }
            let len = runs.len();
            runs.extend([0; 2 * SLACK]);
            let runs: Arc<[u8]> = runs.into();
            let same = Arc::clone(&runs);
            self.add(&format!("unpack_short_runs_{width}"), move |kernels, out| {
                out.u32.clear();
                let end = kernels.unpack_short_runs(&same, len, 0, width, values, &mut out.u32);
                assert_eq!((end, out.u32.len()), (len, values));
            });
            if width <= 8 {
                self.add(&format!("unpack_short_runs_u8_{width}"), move |kernels, out| {
                    out.u8.clear();
                    let end = kernels.unpack_short_runs_u8(&runs, len, 0, width, values, &mut out.u8);
                    assert_eq!((end, out.u8.len()), (len, values));
                });
            }
        }
    }

    fn pack(&mut self) {
        let bytes = self.bytes(self.n);
        for width in [1, 2, 3, 7] {
            let bytes = Arc::clone(&bytes);
            self.add(&format!("pack_u8_{width}"), move |levels, out| {
                out.u8.clear();
                levels.pack_u8(&bytes, width, &mut out.u8);
            });
        }
        let (half_words, words) = (self.half_words(), self.words());
        for width in [1, 10, 20] {
            let half_words = Arc::clone(&half_words);
            self.add_any(&format!("pack_u32_{width}"), move |out| {
                out.u8.clear();
                kernels::pack_u32(&half_words, width, &mut out.u8);
            });
        }
        for width in [20, 40] {
            let words = Arc::clone(&words);
            self.add_any(&format!("pack_u64_{width}"), move |out| {
                out.u8.clear();
                kernels::pack_u64(&words, width, &mut out.u8);
            });
        }
    }

    /// Prices with two digits behind the point.
    fn decimals(&mut self) {
        let n = self.n;
        let packed = self.bytes(n * 8 + SLACK);
        for width in [8, 17, 24] {
            let packed = Arc::clone(&packed);
            self.add(&format!("unpack_decimals_f32_{width}"), move |kernels, out| {
                out.u32.clear();
                kernels.alp_decode_f32(&packed, width, n, 7, [1.0, 0.01], &mut out.u32);
            });
        }
        for width in [8, 17, 40, 60] {
            let packed = Arc::clone(&packed);
            self.add(&format!("unpack_decimals_f64_{width}"), move |kernels, out| {
                out.u64.clear();
                kernels.alp_decode_f64(&packed, width, n, 7, [1.0, 0.01], &mut out.u64);
            });
        }
        let prices: Vec<u64> = self.words().iter().map(|word| word % 100_000).collect();
        let halves: Vec<u32> = prices.iter().map(|&price| (price as f32 / 100.0).to_bits()).collect();
        let words: Vec<u64> = prices.iter().map(|&price| (price as f64 / 100.0).to_bits()).collect();
        self.add("integers_f32", move |kernels, out| {
            out.u32.resize(2 * n, 0);
            let (integers, exact) = out.u32.split_at_mut(n);
            out.exact = Some(kernels.alp_encode_f32(&halves, [100.0, 1.0], [1.0, 0.01], integers, exact));
        });
        self.add("integers_f64", move |kernels, out| {
            out.u64.resize(2 * n, 0);
            let (integers, exact) = out.u64.split_at_mut(n);
            out.exact = Some(kernels.alp_encode_f64(&words, [100.0, 1.0], [1.0, 0.01], integers, exact));
        });
    }

    /// A slot for each value and each null.
    fn expand(&mut self) {
        let n = self.n;
        let dense = self.bytes(n * 16);
        let some = self.bits(50);
        for percent in [10, 50, 90, 99] {
            let valid = self.bits(percent);
            let ones = valid.count_ones(0..n);
            let (bits, from) = (Arc::clone(&valid), Arc::clone(&dense));
            self.add(&format!("expand_u32_{percent}"), move |kernels, out| {
                out.u32.clear();
                kernels.expand_u32(&from.as_chunks().0[..ones], &bits, 0, n, &mut out.u32);
            });
            let (bits, from) = (Arc::clone(&valid), Arc::clone(&dense));
            self.add(&format!("expand_u64_{percent}"), move |kernels, out| {
                out.u64.clear();
                kernels.expand_u64(&from.as_chunks().0[..ones], &bits, 0, n, &mut out.u64);
            });
            let (bits, from) = (Arc::clone(&valid), Arc::clone(&dense));
            self.add(&format!("expand_u128_{percent}"), move |kernels, out| {
                out.u128.clear();
                kernels.expand_u128(&from.as_chunks().0[..ones], &bits, 0, n, &mut out.u128);
            });
            let (bits, ends) = (Arc::clone(&valid), (0..=ones as u32).collect::<Vec<_>>());
            self.add(&format!("expand_ends_{percent}"), move |kernels, out| {
                out.u32.clear();
                kernels.expand_ends(&ends, &bits, 0, n, &mut out.u32);
            });
            // Lists of varying lengths, of elements half of which are present.
            let (begins, elements) = (Arc::clone(&valid), some.clone());
            self.add(&format!("list_offsets_{percent}"), move |kernels, out| {
                out.i32.clear();
                kernels.list_offsets(&begins, Some(&elements), &mut out.i32);
            });
            let from: Arc<Bitmap> = Arc::new((0..ones).map(|i| some.get(i)).collect());
            self.add(&format!("expand_bits_{percent}"), move |kernels, out| {
                out.bits.clear();
                kernels.expand_bits(&from, &valid, 0, n, &mut out.bits);
            });
        }
    }

    /// The values that are kept.
    fn compact(&mut self) {
        let n = self.n;
        let (bytes, half_words, words) = (self.bytes(n), self.half_words(), self.words());
        let views: Arc<Vec<u128>> = Arc::new(words.iter().map(|&word| u128::from(word) << 32).collect());
        for percent in [10, 50, 90] {
            let keep = self.bits(percent);
            let (bits, from) = (Arc::clone(&keep), Arc::clone(&bytes));
            self.add(&format!("compact_u8_{percent}"), move |kernels, out| {
                out.u8.clear();
                kernels.filter_u8(&from, bits.as_bytes(), 0, &mut out.u8);
            });
            let (bits, from) = (Arc::clone(&keep), Arc::clone(&half_words));
            self.add(&format!("compact_u32_{percent}"), move |kernels, out| {
                out.u32.clear();
                kernels.filter_u32(&from, bits.as_bytes(), 0, &mut out.u32);
            });
            let (bits, from) = (Arc::clone(&keep), Arc::clone(&words));
            self.add(&format!("compact_u64_{percent}"), move |kernels, out| {
                out.u64.clear();
                kernels.filter_u64(&from, bits.as_bytes(), 0, &mut out.u64);
            });
            let (bits, from) = (Arc::clone(&keep), Arc::clone(&views));
            self.add(&format!("compact_u128_{percent}"), move |kernels, out| {
                out.u128.clear();
                kernels.filter_u128(&from, bits.as_bytes(), 0, &mut out.u128);
            });
            let from = Arc::clone(&bytes);
            self.add(&format!("compact_bits_{percent}"), move |kernels, out| {
                out.bits.clear();
                kernels.filter_bits(&from, 0, keep.as_bytes(), 0, n, &mut out.bits);
            });
        }
    }

    /// Levels to bits, and counting these.
    fn levels(&mut self) {
        let n = self.n;
        let levels: Vec<u8> = (0..n).map(|_| self.rng.below(4) as u8).collect();
        self.add("levels_at_least", move |kernels, out| {
            out.bits.clear();
            kernels.push_ge(&mut out.bits, &levels, 2);
        });
        let bits = self.bits(50);
        self.add("count_ones", move |kernels, out| {
            out.u64.clear();
            out.u64.push(kernels.count_ones(&bits, 0..n) as u64);
        });
    }

    /// Deltas to values: packed ones, in runs as long as the blocks of most writers; and in place, where each run
    /// continues from the last.
    fn sums(&mut self) {
        const BLOCK: usize = 128;
        let n = self.n / BLOCK * BLOCK;
        let packed = self.bytes(n * 8 + SLACK);
        for width in [7, 20, 31] {
            let from = Arc::clone(&packed);
            self.add(&format!("delta_unpack_u32_{width}"), move |kernels, out| {
                out.u32.clear();
                let step =
                    |last, at| kernels.unpack_deltas_u32(&from, width, at..at + BLOCK, last, 3, &mut out.u32);
                (0..n).step_by(BLOCK).fold(7, step);
            });
            let from = Arc::clone(&packed);
            self.add(&format!("delta_unpack_u64_{width}"), move |kernels, out| {
                out.u64.clear();
                let step =
                    |last, at| kernels.unpack_deltas_u64(&from, width, at..at + BLOCK, last, 3, &mut out.u64);
                (0..n).step_by(BLOCK).fold(7, step);
            });
        }
        let (half_words, words) = (self.half_words(), self.words());
        self.add("delta_sum_u32", move |kernels, out| {
            if out.u32.len() != half_words.len() {
                half_words.as_slice().clone_into(&mut out.u32);
            }
            kernels.prefix_sum_u32(&mut out.u32, 7, 3);
        });
        self.add("delta_sum_u64", move |kernels, out| {
            if out.u64.len() != words.len() {
                words.as_slice().clone_into(&mut out.u64);
            }
            kernels.prefix_sum_u64(&mut out.u64, 7, 3);
        });
    }

    /// BYTE_STREAM_SPLIT, both ways.
    fn split(&mut self) {
        let n = self.n;
        let streams = self.bytes(n * 16 + SLACK);
        let from = Arc::clone(&streams);
        self.add("byte_stream_join_u32", move |kernels, out| {
            out.u32.clear();
            kernels.merge_streams_u32(&from, n, 0, n, &mut out.u32);
        });
        let from = Arc::clone(&streams);
        self.add("byte_stream_join_u64", move |kernels, out| {
            out.u64.clear();
            kernels.merge_streams_u64(&from, n, 0, n, &mut out.u64);
        });
        for width in [2, 16] {
            let from = Arc::clone(&streams);
            self.add_any(&format!("byte_stream_join_{width}"), move |out| {
                out.u8.clear();
                kernels::merge_streams(&from, width, n, 0, n, &mut out.u8);
            });
        }
        let (half_words, words) = (self.half_words(), self.words());
        self.add("byte_stream_split_u32", move |kernels, out| {
            out.u8.clear();
            kernels.split_streams_u32(&half_words, &mut out.u8);
        });
        self.add("byte_stream_split_u64", move |kernels, out| {
            out.u8.clear();
            kernels.split_streams_u64(&words, &mut out.u8);
        });
    }

    /// The least and the greatest.
    fn ranges(&mut self) {
        fn put<T: Copy>(out: &mut Out, found: Option<(T, T)>, bits: impl Fn(T) -> u64) {
            out.u64.clear();
            out.u64.extend(found.into_iter().flat_map(|(least, greatest)| [bits(least), bits(greatest)]));
        }
        let (half_words, words) = (self.half_words(), self.words());
        let from = Arc::clone(&half_words);
        self.add("min_max_i32", move |kernels, out| put(out, kernels.min_max_i32(&from), |v| v as u64));
        let from = Arc::clone(&half_words);
        self.add("min_max_u32", move |kernels, out| put(out, kernels.min_max_u32(&from), u64::from));
        let from = Arc::clone(&half_words);
        self.add("min_max_f32", move |kernels, out| {
            put(out, kernels.min_max_f32(&from).0, |v| u64::from(v.to_bits()));
        });
        let from = Arc::clone(&words);
        self.add("min_max_i64", move |kernels, out| put(out, kernels.min_max_i64(&from), i64::cast_unsigned));
        let from = Arc::clone(&words);
        self.add("min_max_u64", move |kernels, out| put(out, kernels.min_max_u64(&from), |v| v));
        self.add("min_max_f64", move |kernels, out| put(out, kernels.min_max_f64(&words).0, f64::to_bits));
        self.add("max_u32", move |kernels, out| {
            out.u32.clear();
            out.u32.push(kernels.max_u32(&half_words));
        });
    }

    /// Entries of a dictionary for indices.
    fn gather(&mut self) {
        let indices: Vec<u32> = (0..self.n).map(|_| self.rng.below(20) as u32).collect();
        let few: Vec<u32> = (0..20).map(|_| self.rng.next() as u32).collect();
        self.add("gather_u32_of_20", move |kernels, out| {
            out.u32.clear();
            kernels.gather_u32(&few, &indices, &mut out.u32).expect("indices are in the dictionary");
        });
        for entries in DICTIONARIES {
            let indices: Vec<u32> = (0..self.n).map(|_| self.rng.below(entries as u64) as u32).collect();
            let indices = Arc::new(indices);
            let words: Vec<u64> = (0..entries).map(|_| self.rng.next()).collect();
            let half_words: Vec<u32> = words.iter().map(|&word| word as u32).collect();
            // Long strings: their buffers are counted on.
            let views: Vec<u128> = words.iter().map(|&word| u128::from(word) << 64 | 20).collect();
            let fixed: Vec<u8> = words.iter().flat_map(|word| [*word as u8; 12]).collect();
            let at = Arc::clone(&indices);
            self.add_any(&format!("gather_u32_of_{entries}"), move |out| {
                out.u32.clear();
                gather(&half_words, &at, &mut out.u32).expect("indices are in the dictionary");
            });
            let at = Arc::clone(&indices);
            self.add_any(&format!("gather_u64_of_{entries}"), move |out| {
                out.u64.clear();
                gather(&words, &at, &mut out.u64).expect("indices are in the dictionary");
            });
            let at = Arc::clone(&indices);
            self.add_any(&format!("gather_views_of_{entries}"), move |out| {
                out.u128.clear();
                gather_views(&views, &at, 1, &mut out.u128).expect("indices are in the dictionary");
            });
            self.add_any(&format!("gather_fixed12_of_{entries}"), move |out| {
                out.u8.clear();
                gather_fixed(&fixed, 12, &indices, &mut out.u8);
            });
        }
    }

    /// PLAIN byte strings: short ones, and others.
    fn strings(&mut self) {
        let n = self.n;
        for (name, most) in [("short", 12), ("mixed", 32), ("long", 120)] {
            let mut page = Vec::new();
            for _ in 0..n {
                let length = self.rng.below(most + 1) as usize;
                page.extend_from_slice(&(length as u32).to_le_bytes());
                page.extend((0..length).map(|_| b'a' + self.rng.below(26) as u8));
            }
            let len = page.len();
            page.resize(len + SLACK, 0);
            let page = Arc::new(page);
            let from = Arc::clone(&page);
            self.add_any(&format!("plain_views_{name}"), move |out| {
                out.u128.clear();
                plain_views(&from, len, 0, n, 0, prefetch_next_string, &mut out.u128)
                    .expect("the strings are in the page");
            });
            let mut views = Vec::new();
            plain_views(&page, len, 0, n, 0, |_| (), &mut views).expect("the strings are in the page");
            self.add_any(&format!("plain_joined_{name}"), move |out| {
                out.u32.clear();
                out.u8.clear();
                append_plain_strings(&page, len, 0, n, &mut out.u32, &mut out.u8)
                    .expect("the strings are in the page");
            });
            self.add(&format!("survey_views_{name}"), move |kernels, out| {
                out.survey = Some(kernels.summarize_views(&views))
            });
        }
    }
}
