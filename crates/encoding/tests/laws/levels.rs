//! The same laws for levels, in both encodings.

use crate::READS;
use crate::data::mix;
use bytes::Bytes;
use marquetry_base::{PADDING, PaddedBytes, Result};
use marquetry_encoding::levels::{self, LevelSlice, Levels, width};
use marquetry_encoding::{Bitmap, bit_packed, rle};

const N: usize = 2_100;
const MAX: [u8; 6] = [1, 2, 3, 7, 8, 255];
const RLE: i32 = 3;
const BIT_PACKED: i32 = 4;

/// How levels are stored before the values of a page.
#[derive(Debug, Clone, Copy)]
enum Form {
    /// V1, RLE after its length.
    V1Rle,
    /// V1, BIT_PACKED.
    V1BitPacked,
    /// V2, RLE whose length is in the page header.
    V2,
}

/// Levels as bytes, and what is needed to read them.
struct Stored {
    form: Form,
    max: u8,
    levels: Vec<u8>,
    bytes: Vec<u8>,
}

impl Stored {
    fn new(form: Form, max: u8, levels: Vec<u8>) -> Self {
        let wide: Vec<u32> = levels.iter().map(|&level| u32::from(level)).collect();
        let bytes = match form {
            Form::V1Rle => {
                let packed = rle::encode(&wide, width(max));
                [&(packed.len() as u32).to_le_bytes()[..], &packed].concat()
            }
            Form::V1BitPacked => bit_packed::encode(&wide, width(max)).unwrap(),
            Form::V2 => rle::encode(&wide, width(max)),
        };
        Stored { form, max, levels, bytes }
    }

    fn open(&self) -> Result<Levels> {
        self.open_bytes(&self.bytes)
    }

    /// Opens `bytes` in place of the stored ones. What follows them is neither zeros nor levels.
    fn open_bytes(&self, bytes: &[u8]) -> Result<Levels> {
        let mut file = bytes.to_vec();
        file.resize(bytes.len() + PADDING, 0xa5);
        let page = PaddedBytes::from_file_range(&Bytes::from(file), 0..bytes.len());
        let n = self.levels.len();
        match self.form {
            Form::V1Rle => Levels::v1(RLE, &page, self.max, n).map(|(levels, _)| levels),
            Form::V1BitPacked => Levels::v1(BIT_PACKED, &page, self.max, n).map(|(levels, _)| levels),
            Form::V2 => Levels::rle(page, self.max),
        }
    }

    fn name(&self) -> String {
        format!("{} levels up to {}, {:?}", self.levels.len(), self.max, self.form)
    }
}

fn all(n: usize) -> impl Iterator<Item = Stored> {
    MAX.into_iter().flat_map(move |max| {
        let level = move |i: u64| (mix(i) % (u64::from(max) + 1)) as u8;
        let sets = [
            vec![],
            vec![max],
            vec![max; n],
            (0..n as u64).map(level).collect(),
            (0..n as u64).map(|i| if i % 300 < 200 { max } else { level(i) }).collect(),
        ];
        sets.into_iter().flat_map(move |levels: Vec<u8>| {
            [Form::V1Rle, Form::V1BitPacked, Form::V2].map(|form| Stored::new(form, max, levels.clone()))
        })
    })
}

#[test]
fn levels_come_back_in_any_split_of_reads() {
    for stored in all(N) {
        let n = stored.levels.len();
        for size in READS.into_iter().chain([N]).filter(|&size| size > 0) {
            let (mut levels, mut out) = (stored.open().unwrap(), vec![77]);
            while out.len() <= n {
                levels.decode(size.min(n + 1 - out.len()), &mut out).unwrap();
                levels.decode(0, &mut out).unwrap();
            }
            assert_eq!(out[0], 77);
            assert!(out[1..] == stored.levels, "{} in reads of {size}", stored.name());
        }
    }
}

#[test]
fn v1_says_how_many_bytes_the_levels_take() {
    for stored in all(300) {
        let encoding = match stored.form {
            Form::V1Rle => RLE,
            Form::V1BitPacked => BIT_PACKED,
            Form::V2 => continue,
        };
        let page = PaddedBytes::from([&stored.bytes[..], b"values"].concat());
        let (mut levels, taken) = Levels::v1(encoding, &page, stored.max, stored.levels.len()).unwrap();
        assert_eq!(taken, stored.bytes.len(), "{}", stored.name());
        let mut out = Vec::new();
        levels.decode(stored.levels.len(), &mut out).unwrap();
        assert_eq!(out, stored.levels, "{}", stored.name());
    }
}

#[test]
fn levels_that_are_skipped_are_counted() {
    for stored in all(N) {
        let n = stored.levels.len();
        for before in READS {
            for skipped in READS {
                let before = before.min(n);
                let skipped = skipped.min(n - before);
                let (mut levels, mut out) = (stored.open().unwrap(), Vec::new());
                levels.decode(before, &mut out).unwrap();
                let values = levels.skip(skipped, &mut Vec::new()).unwrap();
                let rest = before + skipped;
                let is_max = |level: &&u8| **level == stored.max;
                let expected = stored.levels[before..rest].iter().filter(is_max).count();
                assert_eq!(values, expected, "{}", stored.name());
                levels.decode(n - rest, &mut out).unwrap();
                assert!(out[before..] == stored.levels[rest..], "{}", stored.name());
            }
        }
    }
}

#[test]
fn validity_is_whether_a_level_is_the_largest() {
    for stored in all(N) {
        let (mut levels, mut scratch, mut out) = (stored.open().unwrap(), vec![1, 2, 3], Bitmap::new());
        out.push(true);
        let mut left = stored.levels.len();
        for size in [5, 0, 64, 999].into_iter().cycle() {
            let size = size.min(left);
            levels.decode_is_max(size, &mut scratch, &mut out).unwrap();
            left -= size;
            if left == 0 {
                break;
            }
        }
        let valid = stored.levels.iter().map(|&level| level == stored.max);
        let expected: Bitmap = [true].into_iter().chain(valid).collect();
        assert_eq!(out, expected, "{}", stored.name());
    }
}

#[test]
fn more_levels_than_there_are_is_an_error() {
    for stored in all(300) {
        // The last byte, or packed group, may have room for up to 7 more.
        let more = stored.levels.len() + 8;
        let (mut scratch, mut bits) = (Vec::new(), Bitmap::new());
        let name = stored.name();
        assert!(stored.open().unwrap().decode(more, &mut scratch).is_err(), "{name}");
        assert!(stored.open().unwrap().skip(more, &mut scratch).is_err(), "{name}");
        let mut levels = stored.open().unwrap();
        assert!(levels.decode_is_max(more, &mut scratch, &mut bits).is_err(), "{name}");
    }
}

#[test]
fn no_levels_are_stored_where_all_are_zero() {
    let page = PaddedBytes::from(b"values".to_vec());
    for encoding in [RLE, BIT_PACKED] {
        let (mut levels, taken) = Levels::v1(encoding, &page, 0, 10).unwrap();
        assert_eq!(taken, 0);
        let (mut out, mut bits) = (Vec::new(), Bitmap::new());
        levels.decode(4, &mut out).unwrap();
        assert_eq!(levels.skip(3, &mut Vec::new()).unwrap(), 3);
        levels.decode_is_max(3, &mut Vec::new(), &mut bits).unwrap();
        assert_eq!((out, bits), (vec![0; 4], [true; 3].into_iter().collect()));
    }
    assert!(Levels::v1(5, &page, 1, 1).is_err());
}

#[test]
fn damaged_levels_are_an_error_or_other_levels() {
    for stored in all(100) {
        let n = stored.levels.len();
        let decode = |bytes: &[u8]| -> Result<Vec<u8>> {
            let mut out = Vec::new();
            stored.open_bytes(bytes)?.decode(n, &mut out)?;
            Ok(out)
        };
        for len in 0..stored.bytes.len() {
            // Only padding may have been cut off.
            if let Ok(levels) = decode(&stored.bytes[..len]) {
                assert_eq!(levels, stored.levels, "{} cut to {len} bytes", stored.name());
            }
        }
        for bit in 0..stored.bytes.len() * 8 {
            let mut bytes = stored.bytes.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            if let Ok(levels) = decode(&bytes) {
                assert_eq!(levels.len(), n);
                assert!(levels.iter().all(|&level| level <= stored.max), "{}", stored.name());
            }
            let skipped = stored.open_bytes(&bytes).and_then(|mut levels| levels.skip(n, &mut Vec::new()));
            assert!(skipped.is_err() || skipped.is_ok_and(|values| values <= n));
        }
    }
}

#[test]
fn levels_that_are_written_come_back() {
    for Stored { max, levels, .. } in all(N) {
        let check = |slice: LevelSlice<'_>, levels: &[u8]| {
            assert_eq!((slice.len(), slice.is_empty()), (levels.len(), levels.is_empty()));
            let (mut v1, mut v2) = (b"before".to_vec(), b"before".to_vec());
            levels::encode_v1(slice.clone(), max, &mut v1);
            levels::encode(slice, max, &mut v2);
            let (mut read, taken) =
                Levels::v1(RLE, &PaddedBytes::copy_of(&v1[6..]), max, levels.len()).unwrap();
            assert_eq!((taken, v1.len()), (v1.len() - 6, v2.len() + 4));
            let mut out = Vec::new();
            read.decode(levels.len(), &mut out).unwrap();
            assert!(out == levels, "{} levels up to {max}", levels.len());
            out.clear();
            Levels::rle(PaddedBytes::copy_of(&v2[6..]), max).unwrap().decode(levels.len(), &mut out).unwrap();
            assert!(out == levels, "{} levels up to {max}", levels.len());
        };
        check(LevelSlice::Levels(&levels), &levels);
        check(LevelSlice::Run { level: max, n: levels.len() }, &vec![max; levels.len()]);
        let bits: Bitmap = levels.iter().map(|level| level % 2 == 1).collect();
        let low: Vec<u8> = levels.iter().map(|level| level % 2).collect();
        for start in [0, 1, 7, 8, 100].into_iter().filter(|start| *start <= levels.len()) {
            for end in [start, levels.len() - (levels.len() - start) / 3, levels.len()] {
                check(LevelSlice::Bitmap { bits: &bits, range: start..end }, &low[start..end]);
            }
        }
    }
    let mut out = Vec::new();
    levels::encode(LevelSlice::Run { level: 0, n: 10 }, 0, &mut out);
    levels::encode_v1(LevelSlice::Levels(&[0; 10]), 0, &mut out);
    assert!(out.is_empty(), "{out:?}");
}

#[test]
fn bits_of_every_pattern_come_back_and_take_no_more_than_packed() {
    for seed in 0..300 {
        // Runs of random lengths, some of which are longer than any word.
        let mut bits = Bitmap::new();
        for i in 0..40 {
            let word = mix(seed * 1_000 + i);
            bits.push_run(
                word & 1 == 1,
                (word >> 8) as usize % [3, 9, 40, 90, 300][(word >> 4) as usize % 5],
            );
        }
        for start in [0, 3] {
            let range = start.min(bits.len())..bits.len();
            let expected: Vec<u8> = range.clone().map(|i| u8::from(bits.get(i))).collect();
            let mut out = Vec::new();
            levels::encode(LevelSlice::Bitmap { bits: &bits, range }, 1, &mut out);
            assert!(out.len() <= 4 + expected.len().div_ceil(8), "seed {seed}");
            let mut levels = Vec::new();
            Levels::rle(PaddedBytes::from(out), 1).unwrap().decode(expected.len(), &mut levels).unwrap();
            assert!(levels == expected, "seed {seed}");
        }
    }
}
