//! Measures ways to look up a dictionary: `cargo run --profile dist -p marquetry-kernels --example gathers`.
//!
//! Prints nanoseconds per value, the best of many rounds taken in turn, and the speed relative to the library's own loop. All
//! ways first compare the largest index with the length of the table, as the library does, and write to a buffer that is kept.

use marquetry_kernels::{gather, max_u32};
use std::fmt::Debug;
use std::hint::black_box;
use std::mem::MaybeUninit;
use std::time::Instant;

/// A name, and a lookup that replaces the content of the vector.
type Way<T> = (&'static str, fn(&[T], &[u32], &mut Vec<T>));

fn main() {
    println!("CPU: {}\n", cpu());
    let (mut words, mut longs) = (ways::<u32>(), ways::<u64>());
    let (gathers_of_words, gathers_of_longs) = gathers();
    if gathers_of_words.is_empty() {
        println!("This CPU has no gathers.\n");
    }
    words.extend(gathers_of_words);
    longs.extend(gathers_of_longs);
    println!("| values | table | indices | way | ns a value | times faster than the library |");
    println!("|---|--:|--:|---|--:|--:|");
    for (bytes, table) in [(4 << 10, "4 KiB"), (64 << 10, "64 KiB"), (1 << 20, "1 MiB")] {
        for count in [4_096, 65_536] {
            rows(&words, bytes, count, &format!("u32 | {table} | {count}"));
        }
        for count in [4_096, 65_536] {
            rows(&longs, bytes, count, &format!("u64 | {table} | {count}"));
        }
    }
}

fn cpu() -> String {
    let all = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = all.lines().find(|line| line.starts_with("model name"));
    model.and_then(|line| line.split(": ").nth(1)).unwrap_or("not told").to_owned()
}

/// The ways that work on any CPU, the library's first.
fn ways<T: Copy>() -> Vec<Way<T>> {
    vec![("library", library), ("scalar, by eight", by_eight)]
}

/// The ways for which this CPU has instructions.
#[cfg(target_arch = "x86_64")]
fn gathers() -> (Vec<Way<u32>>, Vec<Way<u64>>) {
    x86::gathers()
}

#[cfg(not(target_arch = "x86_64"))]
fn gathers() -> (Vec<Way<u32>>, Vec<Way<u64>>) {
    (Vec::new(), Vec::new())
}

/// Prints a row for each way, with a table of `bytes` bytes.
fn rows<T: Copy + PartialEq + Debug + From<u32>>(ways: &[Way<T>], bytes: usize, count: usize, what: &str) {
    let len = bytes / size_of::<T>();
    let dictionary: Vec<T> = noise(len).map(T::from).collect();
    let indices: Vec<u32> = noise(count).map(|value| value % len as u32).collect();
    let expected: Vec<T> = indices.iter().map(|&index| dictionary[index as usize]).collect();
    let mut out = Vec::new();
    for (name, run) in ways {
        run(&dictionary, &indices, &mut out);
        assert_eq!(out, expected, "{name}");
    }
    let mut best = vec![f64::INFINITY; ways.len()];
    // Each row looks up the same number of values: 65 million.
    for _ in 0..(1 << 23) / count {
        for ((_, run), best) in ways.iter().zip(&mut best) {
            let start = Instant::now();
            (0..8).for_each(|_| run(black_box(&dictionary), black_box(&indices), black_box(&mut out)));
            *best = best.min(start.elapsed().as_secs_f64() * 1e9 / (8 * count) as f64);
        }
    }
    for ((name, _), time) in ways.iter().zip(&best) {
        println!("| {what} | {name} | {time:.3} | {:.2} |", best[0] / time);
    }
}

/// Returns numbers that no predictor can foresee, the same in each run.
fn noise(n: usize) -> impl Iterator<Item = u32> {
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    (0..n).map(move |_| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 32) as u32
    })
}

fn library<T: Copy>(dictionary: &[T], indices: &[u32], out: &mut Vec<T>) {
    out.clear();
    gather(dictionary, indices, out).unwrap();
}

/// A loop of eight lookups per iteration.
fn by_eight<T: Copy>(dictionary: &[T], indices: &[u32], out: &mut Vec<T>) {
    assert_inside(dictionary, indices);
    let (groups, rest) = indices.as_chunks::<8>();
    let (slots, slots_of_rest) = room(indices.len(), out).as_chunks_mut::<8>();
    for (slots, group) in slots.iter_mut().zip(groups) {
        for (slot, &index) in slots.iter_mut().zip(group) {
            // SAFETY: the largest of the indices was compared with the length above.
            slot.write(unsafe { *dictionary.get_unchecked(index as usize) });
        }
    }
    look_up_rest(dictionary, rest, slots_of_rest);
    // SAFETY: there are as many slots as indices; those of all groups and of the rest were written.
    unsafe { out.set_len(indices.len()) };
}

/// Checks that no index is out of range.
///
/// # Panics
/// If one is.
fn assert_inside<T>(dictionary: &[T], indices: &[u32]) {
    assert!(indices.is_empty() || (max_u32(indices) as usize) < dictionary.len());
}

/// Empties the vector and returns `len` slots at its start.
fn room<T>(len: usize, out: &mut Vec<T>) -> &mut [MaybeUninit<T>] {
    out.clear();
    out.reserve(len);
    &mut out.spare_capacity_mut()[..len]
}

/// Looks up the indices that do not fill a group.
fn look_up_rest<T: Copy>(dictionary: &[T], indices: &[u32], slots: &mut [MaybeUninit<T>]) {
    for (slot, &index) in slots.iter_mut().zip(indices) {
        slot.write(dictionary[index as usize]);
    }
}

/// Lookups with gather instructions. Their indices are signed, which limits the size of the table.
#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::{Way, assert_inside, look_up_rest, room};
    use std::arch::x86_64::*;
    use std::mem::MaybeUninit;

    pub(super) fn gathers() -> (Vec<Way<u32>>, Vec<Way<u64>>) {
        let (mut words, mut longs): (Vec<Way<u32>>, Vec<Way<u64>>) = (Vec::new(), Vec::new());
        if is_x86_feature_detected!("avx2") {
            words.push(("AVX2 vpgatherdd", avx2_u32));
            longs.push(("AVX2 vpgatherdq", avx2_u64));
        }
        if is_x86_feature_detected!("avx512f") {
            words.push(("AVX-512 vpgatherdd", avx512_u32));
            longs.push(("AVX-512 vpgatherdq", avx512_u64));
        }
        (words, longs)
    }

    fn avx2_u32(dictionary: &[u32], indices: &[u32], out: &mut Vec<u32>) {
        assert!(is_x86_feature_detected!("avx2"));
        // SAFETY: this CPU has AVX2. There are as many slots as groups, whose indices are inside the table.
        look_up(dictionary, indices, out, |group, slots| unsafe {
            gather_avx2_u32(dictionary, group, slots)
        });
    }

    fn avx2_u64(dictionary: &[u64], indices: &[u32], out: &mut Vec<u64>) {
        assert!(is_x86_feature_detected!("avx2"));
        // SAFETY: this CPU has AVX2. There are as many slots as groups, whose indices are inside the table.
        look_up(dictionary, indices, out, |group, slots| unsafe {
            gather_avx2_u64(dictionary, group, slots)
        });
    }

    fn avx512_u32(dictionary: &[u32], indices: &[u32], out: &mut Vec<u32>) {
        assert!(is_x86_feature_detected!("avx512f"));
        // SAFETY: this CPU has AVX-512. There are as many slots as groups, whose indices are inside the table.
        look_up(dictionary, indices, out, |group, slots| unsafe {
            gather_avx512_u32(dictionary, group, slots)
        });
    }

    fn avx512_u64(dictionary: &[u64], indices: &[u32], out: &mut Vec<u64>) {
        assert!(is_x86_feature_detected!("avx512f"));
        // SAFETY: this CPU has AVX-512. There are as many slots as groups, whose indices are inside the table.
        look_up(dictionary, indices, out, |group, slots| unsafe {
            gather_avx512_u64(dictionary, group, slots)
        });
    }

    /// Checks the indices, looks up whole groups with `gather`, which writes all slots that it is given, and then the rest.
    fn look_up<T: Copy, const N: usize>(
        dictionary: &[T],
        indices: &[u32],
        out: &mut Vec<T>,
        gather: impl FnOnce(&[[u32; N]], &mut [[MaybeUninit<T>; N]]),
    ) {
        assert_inside(dictionary, indices);
        assert!(dictionary.len() <= i32::MAX as usize);
        let (groups, rest) = indices.as_chunks();
        let (slots, slots_of_rest) = room(indices.len(), out).as_chunks_mut();
        gather(groups, slots);
        look_up_rest(dictionary, rest, slots_of_rest);
        // SAFETY: there are as many slots as indices; those of all groups and of the rest were written.
        unsafe { out.set_len(indices.len()) };
    }

    /// # Safety
    /// There are as many slots as groups, and each index is inside the table and positive as an `i32`.
    #[target_feature(enable = "avx2")]
    unsafe fn gather_avx2_u32(table: &[u32], groups: &[[u32; 8]], slots: &mut [[MaybeUninit<u32>; 8]]) {
        for (group, slots) in groups.iter().zip(slots) {
            // SAFETY: 32 bytes are read and written through references to as many; lookups are inside the table.
            unsafe {
                let indices = _mm256_loadu_si256(group.as_ptr().cast());
                let values = _mm256_i32gather_epi32::<4>(table.as_ptr().cast(), indices);
                _mm256_storeu_si256(slots.as_mut_ptr().cast(), values);
            }
        }
    }

    /// # Safety
    /// There are as many slots as groups, and each index is inside the table and positive as an `i32`.
    #[target_feature(enable = "avx2")]
    unsafe fn gather_avx2_u64(table: &[u64], groups: &[[u32; 4]], slots: &mut [[MaybeUninit<u64>; 4]]) {
        for (group, slots) in groups.iter().zip(slots) {
            // SAFETY: 16 bytes are read and 32 written through references to as many; lookups are inside the table.
            unsafe {
                let indices = _mm_loadu_si128(group.as_ptr().cast());
                let values = _mm256_i32gather_epi64::<8>(table.as_ptr().cast(), indices);
                _mm256_storeu_si256(slots.as_mut_ptr().cast(), values);
            }
        }
    }

    /// # Safety
    /// There are as many slots as groups, and each index is inside the table and positive as an `i32`.
    #[target_feature(enable = "avx512f")]
    unsafe fn gather_avx512_u32(table: &[u32], groups: &[[u32; 16]], slots: &mut [[MaybeUninit<u32>; 16]]) {
        for (group, slots) in groups.iter().zip(slots) {
            // SAFETY: 64 bytes are read and written through references to as many; lookups are inside the table.
            unsafe {
                let indices = _mm512_loadu_si512(group.as_ptr().cast());
                let values = _mm512_i32gather_epi32::<4>(indices, table.as_ptr().cast());
                _mm512_storeu_si512(slots.as_mut_ptr().cast(), values);
            }
        }
    }

    /// # Safety
    /// There are as many slots as groups, and each index is inside the table and positive as an `i32`.
    #[target_feature(enable = "avx512f")]
    unsafe fn gather_avx512_u64(table: &[u64], groups: &[[u32; 8]], slots: &mut [[MaybeUninit<u64>; 8]]) {
        for (group, slots) in groups.iter().zip(slots) {
            // SAFETY: 32 bytes are read and 64 written through references to as many; lookups are inside the table.
            unsafe {
                let indices = _mm256_loadu_si256(group.as_ptr().cast());
                let values = _mm512_i32gather_epi64::<8>(indices, table.as_ptr().cast());
                _mm512_storeu_si512(slots.as_mut_ptr().cast(), values);
            }
        }
    }
}
