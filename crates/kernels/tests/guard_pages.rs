//! No loop reads past the end of its slice: the slices here end right before a page that cannot be read.
#![cfg(unix)]

use marquetry_kernels::{
    Bitmap, Entry, Kernels, append_plain_strings, concat_views, gather, gather_strings, long_view, pack_u64,
    plain_views, split_streams_u32, split_streams_u64, views_to_offsets, views_to_plain,
};
use std::ptr;

/// Memory whose last byte is followed by a page that must not be touched.
struct Guarded {
    start: *mut u8,
    /// Number of bytes that can be used, a whole number of pages.
    room: usize,
    page: usize,
}

impl Guarded {
    fn new(bytes: usize) -> Self {
        // SAFETY: returns a number.
        let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) } as usize;
        let room = bytes.next_multiple_of(page);
        let (access, kind) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        // SAFETY: maps new memory at an address that the system chooses, then makes its last page inaccessible.
        let start = unsafe {
            let start = libc::mmap(ptr::null_mut(), room + page, access, kind, -1, 0).cast::<u8>();
            assert!(!ptr::eq(start, libc::MAP_FAILED.cast()));
            assert_eq!(libc::mprotect(start.add(room).cast(), page, libc::PROT_NONE), 0);
            start
        };
        Guarded { start, room, page }
    }

    /// Copies `values` so that they end at the guard page.
    fn copy<T: Copy>(&mut self, values: &[T]) -> &mut [T] {
        let size = size_of_val(values);
        assert!(size <= self.room && self.room.is_multiple_of(align_of::<T>()));
        // SAFETY: the last `size` bytes of the room, aligned because `size` is a whole number of values and the room a
        // whole number of pages; they are this value's own, and borrowed from it.
        unsafe {
            let to = self.start.add(self.room - size).cast::<T>();
            ptr::copy_nonoverlapping(values.as_ptr(), to, values.len());
            std::slice::from_raw_parts_mut(to, values.len())
        }
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        // SAFETY: the memory that `new` mapped.
        unsafe { libc::munmap(self.start.cast(), self.room + self.page) };
    }
}

const LENGTHS: [usize; 14] = [0, 1, 3, 4, 7, 8, 9, 31, 32, 33, 64, 65, 100, 200];

fn noise(n: usize) -> Vec<u64> {
    (1..=n as u64).map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(i as u32 % 64)).collect()
}

#[test]
fn unpacking() {
    let mut memory = Guarded::new(8192);
    for width in 0..=64 {
        for n in LENGTHS {
            let mut packed = Vec::new();
            pack_u64(&noise(n), width, &mut packed);
            // The packed bytes end at the guard page, or a few bytes before it.
            for slack in [0, 1, 15, 16, 17, 64] {
                packed.resize((n * width as usize).div_ceil(8) + slack, 0);
                let source = memory.copy(&packed);
                for kernels in Kernels::all_available() {
                    for first in [0, n / 3] {
                        kernels.unpack_u64(source, width, first, n - first, &mut Vec::new());
                        kernels.alp_decode_f64(source, width, n, 9, [1e3, 1e-4], &mut Vec::new());
                        kernels.unpack_deltas_u64(source, width, first..n, 1, 2, &mut Vec::new());
                        if width <= 32 {
                            kernels.unpack_u32(source, width, first, n - first, &mut Vec::new());
                            kernels.alp_decode_f32(source, width, n, 9, [1e3, 1e-4], &mut Vec::new());
                            kernels.unpack_deltas_u32(source, width, first..n, 1, 2, &mut Vec::new());
                        }
                        if width <= 8 {
                            kernels.unpack_u8(source, width, first, n - first, &mut Vec::new());
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn all_that_takes_values() {
    let mut memory = Guarded::new(8192);
    let values = noise(200);
    for n in LENGTHS {
        let validity: Bitmap = (0..2 * n).map(|i| i % 2 == 1).collect();
        let words: Vec<u32> = values[..n].iter().map(|&value| value as u32).collect();
        let views: Vec<u128> = values[..n].iter().map(|&value| u128::from(value)).collect();
        let bytes: Vec<u8> = views.iter().flat_map(|view| view.to_le_bytes()).collect();
        for kernels in Kernels::all_available() {
            let of_words = memory.copy(&bytes[..4 * n]).as_chunks().0;
            kernels.expand_u32(of_words, &validity, 0, 2 * n, &mut Vec::new());
            let of_words = memory.copy(&bytes[..8 * n]).as_chunks().0;
            kernels.expand_u64(of_words, &validity, 0, 2 * n, &mut Vec::new());
            kernels.expand_u128(memory.copy(&bytes).as_chunks().0, &validity, 0, 2 * n, &mut Vec::new());
            let ends: Vec<u32> = (0..=n as u32).collect();
            kernels.expand_ends(memory.copy(&ends), &validity, 0, 2 * n, &mut Vec::new());
            let keep = validity.as_bytes();
            kernels.filter_u32(memory.copy(&words), keep, 0, &mut Vec::new());
            kernels.filter_u64(memory.copy(&values[..n]), keep, 0, &mut Vec::new());
            kernels.filter_u128(memory.copy(&views), keep, 0, &mut Vec::new());
            kernels.filter_u128(&views, memory.copy(keep), n, &mut Vec::new());
            kernels.filter_bits(memory.copy(keep), n / 2, keep, 0, n, &mut Bitmap::new());
            kernels.prefix_sum_u32(memory.copy(&words), 1, 2);
            kernels.prefix_sum_u64(memory.copy(&values[..n]), 1, 2);
            kernels.max_u32(memory.copy(&words));
            let levels: Vec<u8> = words.iter().map(|&word| word as u8).collect();
            kernels.push_ge(&mut Bitmap::new(), memory.copy(&levels), 100);
            kernels.filter_u8(memory.copy(&levels), keep, 0, &mut Vec::new());
            (1..8).for_each(|width| kernels.pack_u8(memory.copy(&levels), width, &mut Vec::new()));
            let (integers, exact) = (&mut vec![0; n], &mut vec![0; n]);
            kernels.alp_encode_f32(memory.copy(&words), [100.0, 1.0], [1.0, 0.01], integers, exact);
            let (integers, exact) = (&mut vec![0; n], &mut vec![0; n]);
            kernels.alp_encode_f64(memory.copy(&values[..n]), [100.0, 1.0], [1.0, 0.01], integers, exact);
            kernels.split_streams_u32(memory.copy(&words), &mut Vec::new());
            kernels.split_streams_u64(memory.copy(&values[..n]), &mut Vec::new());
            kernels.min_max_i32(memory.copy(&words));
            kernels.min_max_u32(memory.copy(&words));
            kernels.min_max_f32(memory.copy(&words));
            kernels.min_max_i64(memory.copy(&values[..n]));
            kernels.min_max_u64(memory.copy(&values[..n]));
            kernels.min_max_f64(memory.copy(&values[..n]));
        }
        let indices: Vec<u32> = (0..n as u32).rev().collect();
        gather(memory.copy(&values[..n]), &indices, &mut Vec::new()).unwrap();
        for kernels in Kernels::all_available() {
            kernels.gather_u32(memory.copy(&words), &indices, &mut Vec::new()).unwrap();
            kernels.gather_u32(&words, memory.copy(&indices), &mut Vec::new()).unwrap();
        }
    }
}

#[test]
fn short_runs() {
    let mut memory = Guarded::new(8192);
    for width in 1..=16u32 {
        for groups in 1..=4u8 {
            // Runs of equal values and of packed ones in turn. With enough padding, all of them are unpacked.
            let packed = [&[groups << 1 | 1][..], &vec![0; usize::from(groups) * width as usize]].concat();
            let run = [&[9 << 1][..], &vec![0; width.div_ceil(8) as usize], &packed].concat();
            let (all, n) = (run.repeat(5), 5 * (9 + 8 * usize::from(groups)));
            for padding in 0..80 {
                let padded = memory.copy(&[&all[..], &vec![0xff; padding]].concat());
                for kernels in Kernels::all_available() {
                    let mut out = Vec::new();
                    let end = kernels.unpack_short_runs(padded, all.len(), 0, width, n, &mut out);
                    assert!(end <= all.len() && out.len() <= n);
                    assert!(padding < 64 || (end, out.len()) == (all.len(), n), "{width} bits, {padding}");
                    if width <= 8 {
                        let (mut out, len) = (Vec::new(), all.len());
                        let same = kernels.unpack_short_runs_u8(padded, len, 0, width, n, &mut out);
                        assert_eq!(same, end);
                    }
                }
            }
        }
    }
}

#[test]
fn joining() {
    let mut memory = Guarded::new(8192);
    for n in LENGTHS {
        let (mut streams, mut half_streams) = (Vec::new(), Vec::new());
        split_streams_u64(&noise(n), &mut streams);
        split_streams_u32(&vec![7; n], &mut half_streams);
        for kernels in Kernels::all_available() {
            kernels.merge_streams_u64(memory.copy(&streams), n, 0, n, &mut Vec::new());
            kernels.merge_streams_u32(memory.copy(&half_streams), n, 0, n, &mut Vec::new());
        }
    }
}

#[test]
fn strings() {
    let mut memory = Guarded::new(8192);
    for len in (0..80u32).chain([127, 128, 129]) {
        // Three strings, the last of which ends at the guard page: in PLAIN, and end to end.
        let string = vec![b'x'; len as usize];
        let plain = [&len.to_le_bytes()[..], &string].concat().repeat(3);
        let page = memory.copy(&plain);
        let mut views = Vec::new();
        assert_eq!(
            plain_views(page, page.len(), 0, 3, 0, |_| (), &mut views).map(|(end, _)| end),
            Some(plain.len())
        );
        let (mut ends, mut bytes) = (Vec::new(), Vec::new());
        views_to_offsets(&views, [&*page].into_iter(), |end| end, &mut ends, &mut bytes);
        assert_eq!(bytes, string.repeat(3));
        assert_eq!(ends, [1, 2, 3].map(|i| i * len as usize));
        bytes.clear();
        let (mut offsets, page) = (Vec::new(), memory.copy(&plain));
        assert_eq!(append_plain_strings(page, page.len(), 0, 3, &mut offsets, &mut bytes), Some(plain.len()));
        assert_eq!(bytes, string.repeat(3));
        assert_eq!(offsets, [1, 2, 3].map(|i| i * len));
        assert_eq!(append_plain_strings(page, page.len() - 1, 0, 3, &mut offsets, &mut bytes), None);
        bytes.clear();
        let (entries, page) = ([0, 2].map(|i| Entry { start: i * (4 + len) + 4, len }), memory.copy(&plain));
        let entries = entries.into_iter().collect();
        gather_strings(&entries, page, &[1, 0], 2 * len as usize, &mut offsets, &mut bytes);
        assert_eq!(bytes, string.repeat(2));
        bytes.clear();
        views_to_plain(memory.copy(&views[..2]), [plain.as_slice()].into_iter(), &mut bytes);
        assert_eq!(bytes, plain[..2 * (4 + len as usize)]);
        if len > 12 {
            let buffer = memory.copy(&string);
            bytes.clear();
            views_to_offsets(
                &[long_view(buffer, 0, 0)],
                [&*buffer].into_iter(),
                |end| end,
                &mut ends,
                &mut bytes,
            );
            assert_eq!(bytes, string);
            bytes.clear();
            views_to_plain(&[long_view(buffer, 0, 0)], [&*buffer].into_iter(), &mut bytes);
            assert_eq!(bytes[4..], string);
            bytes.clear();
            concat_views(&[long_view(buffer, 0, 0)], [&*buffer].into_iter(), &mut bytes);
            assert_eq!(bytes, string);
        }
    }
}
