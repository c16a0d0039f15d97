//! A source of bytes that were inserted into it.

use crate::source::{Source, outside};
use bytes::{Bytes, BytesMut};
use marquetry_base::{Error, ErrorKind, MemoryReservation, Result};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A file with some of its bytes in memory. A read of other bytes fails, and records what is missing.
#[derive(Debug)]
pub struct RangeCache {
    len: u64,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Parts by their offset. INVARIANT: none is empty, and none overlaps another.
    parts: BTreeMap<u64, Bytes>,
    missing: Vec<Range<u64>>,
    /// Reservation for the parts.
    held: MemoryReservation,
}

impl RangeCache {
    /// Creates an empty cache for a file of `len` bytes.
    pub fn new(len: u64) -> Self {
        RangeCache { len, state: Mutex::default() }
    }

    /// Inserts the bytes of the file from `offset` on. Bytes that are there already stay.
    pub fn insert(&self, offset: u64, bytes: Bytes) {
        let mut state = self.state();
        for piece in state.missing_of(offset..offset.saturating_add(bytes.len() as u64)) {
            let (from, to) = ((piece.start - offset) as usize, (piece.end - offset) as usize);
            state.parts.insert(piece.start, bytes.slice(from..to));
        }
    }

    /// Keeps the reservation for inserted bytes as long as the cache exists.
    pub fn hold_reservation(&self, held: MemoryReservation) {
        self.state().held.merge(held);
    }

    /// Inserts all bytes of `other`, a cache of the same file. Copies nothing.
    pub fn insert_all_of(&self, other: &RangeCache) {
        self.insert_part_of(other, 0..u64::MAX);
    }

    /// Inserts the bytes of `other`, a cache of the same file, that are in `range`. Copies nothing.
    pub fn insert_part_of(&self, other: &RangeCache, range: Range<u64>) {
        let parts = other.state().parts.clone();
        for (offset, bytes) in parts {
            if let Some((offset, bytes)) = inside(offset, &bytes, &range) {
                self.insert(offset, bytes);
            }
        }
    }

    /// Drops all bytes outside of `range`.
    pub fn retain(&self, range: Range<u64>) {
        let mut state = self.state();
        let parts = std::mem::take(&mut state.parts);
        state.parts = parts.iter().filter_map(|(offset, bytes)| inside(*offset, bytes, &range)).collect();
    }

    /// Returns the parts of `ranges` that are missing, as far as the file has them.
    pub fn missing_of(&self, ranges: impl IntoIterator<Item = Range<u64>>) -> Vec<Range<u64>> {
        let state = self.state();
        let inside = ranges.into_iter().map(|range| range.start..range.end.min(self.len));
        inside.flat_map(|range| state.missing_of(range)).collect()
    }

    /// Returns the ranges that reads have missed since the last call.
    pub fn take_misses(&self) -> Vec<Range<u64>> {
        std::mem::take(&mut self.state().missing)
    }

    /// Returns the number of bytes in the cache.
    pub fn bytes(&self) -> u64 {
        self.state().parts.values().map(|part| part.len() as u64).sum()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Each change is complete before anything can panic.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the bytes, of those from `offset` on, that are in `range`, with their offset.
fn inside(offset: u64, bytes: &Bytes, range: &Range<u64>) -> Option<(u64, Bytes)> {
    let (start, end) = (offset.max(range.start), (offset + bytes.len() as u64).min(range.end));
    (start < end).then(|| (start, bytes.slice((start - offset) as usize..(end - offset) as usize)))
}

impl State {
    /// Returns the part that contains byte `offset`, and its offset.
    fn part_at(&self, offset: u64) -> Option<(u64, &Bytes)> {
        let (&start, part) = self.parts.range(..=offset).next_back()?;
        (offset - start < part.len() as u64).then_some((start, part))
    }

    /// Returns the ranges in `range` that are in no part.
    fn missing_of(&self, range: Range<u64>) -> Vec<Range<u64>> {
        let mut out = Vec::new();
        let mut at = range.start;
        while at < range.end {
            if let Some((start, part)) = self.part_at(at) {
                at = start + part.len() as u64;
                continue;
            }
            let next = self.parts.range(at..range.end).next().map_or(range.end, |(&next, _)| next);
            out.push(at..next);
            at = next;
        }
        out
    }
}

impl Source for RangeCache {
    fn len(&self) -> u64 {
        self.len
    }

    fn read_at(&self, offset: u64, len: usize) -> Result<Bytes> {
        let Some(end) = offset.checked_add(len as u64).filter(|&end| end <= self.len) else {
            return Err(outside(offset, len, self.len));
        };
        let mut state = self.state();
        if len == 0 {
            return Ok(Bytes::new());
        }
        let lacking = state.missing_of(offset..end);
        if !lacking.is_empty() {
            state.missing.extend(lacking);
            return Err(Error::new(ErrorKind::Io, format!("{len} bytes were not fetched yet")).at(offset));
        }
        let mut copied = BytesMut::new();
        let mut at = offset;
        while let Some((start, part)) = state.part_at(at) {
            let from = (at - start) as usize;
            let to = part.len().min(from + (end - at) as usize);
            if to - from == len {
                return Ok(part.slice(from..to));
            }
            copied.reserve((end - at) as usize);
            copied.extend_from_slice(&part[from..to]);
            at += (to - from) as u64;
            if at == end {
                break;
            }
        }
        Ok(copied.freeze())
    }

    /// Records bytes that are missing, and fails if there are any: they must be fetched before the step runs again.
    fn prefetch(&self, ranges: &[Range<u64>]) -> Result<()> {
        let missing = self.missing_of(ranges.iter().cloned());
        if missing.is_empty() {
            return Ok(());
        }
        self.state().missing.extend(missing);
        Err(Error::new(ErrorKind::Io, "the file is not there yet"))
    }

    /// Returns the bytes up to the end of the part with the first byte, so that nothing is copied. If few bytes are
    /// left in it, further parts count as well, because a header may continue there. Returns `len` if the first byte is
    /// missing.
    fn available(&self, offset: u64, len: usize) -> usize {
        let state = self.state();
        let Some((start, part)) = state.part_at(offset) else { return len };
        let mut end = start + part.len() as u64;
        while end - offset < LITTLE
            && let Some((start, part)) = state.part_at(end)
        {
            end = start + part.len() as u64;
        }
        usize::try_from(end - offset).map_or(len, |held| held.min(len))
    }
}

/// Number of bytes that nearly all page headers stay below.
const LITTLE: u64 = 4 << 10;

#[cfg(test)]
#[expect(clippy::single_range_in_vec_init, reason = "lists of one range are meant")]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_is_missing_is_noted_once() {
        let buffered = RangeCache::new(100);
        buffered.insert(10, Bytes::from_static(b"abcdef"));
        assert_eq!(buffered.read_at(12, 3).unwrap(), &b"cde"[..]);
        assert_eq!(buffered.read_at(8, 10).unwrap_err().kind(), ErrorKind::Io);
        assert_eq!(buffered.take_misses(), [8..10, 16..18]);
        assert_eq!(buffered.take_misses(), []);
        // Past the end nothing is missing: the file has no such bytes.
        assert_eq!(buffered.read_at(98, 3).unwrap_err().kind(), ErrorKind::Truncated);
        assert_eq!(buffered.take_misses(), []);
        assert_eq!(buffered.missing_of([95..200]), [95..100]);
        assert!(buffered.prefetch(&[11..13, 15..16]).is_ok());
        assert!(buffered.prefetch(&[14..18, 90..300]).is_err());
        assert_eq!(buffered.take_misses(), [16..18, 90..100]);
    }

    #[test]
    fn bytes_of_one_part_are_shared() {
        let buffered = RangeCache::new(100);
        let part = Bytes::from(vec![7; 50]);
        buffered.insert(20, part.clone());
        assert_eq!(buffered.read_at(30, 20).unwrap().as_ptr(), part[10..].as_ptr());
        assert_eq!(buffered.available(60, 90), 10);
        assert_eq!(buffered.available(70, 90), 90);
    }

    #[test]
    fn a_header_may_go_on_in_the_next_part() {
        let buffered = RangeCache::new(20_000);
        for (offset, len) in [(0, 5_000), (5_000, 3), (5_003, 5_000), (10_004, 10)] {
            buffered.insert(offset, Bytes::from(vec![7; len]));
        }
        assert_eq!(buffered.available(4_998, 256), 256);
        assert_eq!(buffered.available(4_998, 90_000), 5_005);
        assert_eq!(buffered.available(500, 90_000), 4_500);
        assert_eq!(buffered.available(10_004, 256), 10);
    }

    proptest! {
        #[test]
        fn reads_are_those_of_the_file_or_missing(
            given in prop::collection::vec((0usize..200, 0usize..60), 0..12),
            (kept, length) in (0u64..100, 0u64..300),
            reads in prop::collection::vec((0usize..200, 0usize..60), 0..12),
        ) {
            let file: Vec<u8> = (0..200).collect();
            let buffered = RangeCache::new(200);
            let mut has = [false; 200];
            for (start, len) in given {
                let end = (start + len).min(200);
                buffered.insert(start as u64, Bytes::copy_from_slice(&file[start..end]));
                has[start..end].fill(true);
            }
            buffered.retain(kept..kept + length);
            (0..200).filter(|&i| (i as u64) < kept || i as u64 >= kept + length).for_each(|i| has[i] = false);
            prop_assert_eq!(buffered.bytes(), has.iter().filter(|has| **has).count() as u64);
            for (start, len) in reads {
                let end = (start + len).min(200);
                let read = buffered.read_at(start as u64, end - start);
                let missing: Vec<u64> = buffered.take_misses().into_iter().flatten().collect();
                let lacking: Vec<u64> = (start..end).filter(|&i| !has[i]).map(|i| i as u64).collect();
                prop_assert_eq!(&missing, &lacking);
                match read {
                    Ok(bytes) => prop_assert_eq!(&bytes[..], &file[start..end]),
                    Err(_) => prop_assert!(!lacking.is_empty()),
                }
            }
        }
    }
}
