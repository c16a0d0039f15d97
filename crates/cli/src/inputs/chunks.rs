//! Text in chunks of whole records, which several threads parse; batches are returned in the order of the text.

use super::bad_input::bad;
use super::input::Batches;
use crate::failure::Failure;
use crate::ordered_map::OrderedMap;
use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use arrow_select::coalesce::BatchCoalescer;
use std::io::{self, BufRead, Read};
use std::num::NonZeroUsize;
use std::path::PathBuf;

/// Consecutive records.
pub(super) struct Chunk {
    pub(super) bytes: Vec<u8>,
    /// Whether it is the beginning of the text.
    pub(super) is_first: bool,
}

/// The result of parsing a chunk.
pub(super) struct Parsed {
    /// By how much the chunk advances the numbers of places: its rows or its lines.
    pub(super) places: u64,
    pub(super) batches: Result<Vec<RecordBatch>, Fault>,
}

/// Why a chunk cannot be parsed, as a function of the number of places before the chunk.
pub(super) struct Fault(Box<dyn FnOnce(u64) -> Failure + Send>);

impl Fault {
    pub(super) fn new(failure: impl FnOnce(u64) -> Failure + Send + 'static) -> Self {
        Fault(Box::new(failure))
    }

    /// The failure of a chunk with `places` places before it.
    pub(super) fn after(self, places: u64) -> Failure {
        (self.0)(places)
    }
}

/// Returns the number of bytes after the last record that ends in these bytes; `None` if none does.
pub(super) type RecordEnd = Box<dyn Fn(&[u8]) -> Option<usize> + Send>;

/// Splits a text into chunks.
pub(super) struct Chunks {
    from: Box<dyn BufRead + Send>,
    record_end: RecordEnd,
    /// The beginning of an incomplete record.
    rest: Vec<u8>,
    chunk_bytes: usize,
    is_first: bool,
    is_at_end: bool,
}

impl Chunks {
    pub(super) fn new(from: Box<dyn BufRead + Send>, record_end: RecordEnd, chunk_bytes: usize) -> Self {
        Chunks { from, record_end, rest: Vec::new(), chunk_bytes, is_first: true, is_at_end: false }
    }

    /// The next chunk, of about `chunk_bytes` bytes, or more if a record is longer.
    fn read(&mut self) -> io::Result<Option<Chunk>> {
        let mut bytes = std::mem::take(&mut self.rest);
        // Whatever a read from a pipe returns: chunks depend on the text only.
        let mut most = self.chunk_bytes.max(bytes.len());
        while !self.is_at_end {
            bytes.reserve_exact(most.saturating_sub(bytes.len()));
            let wanted = (most - bytes.len()) as u64;
            self.is_at_end = ((&mut self.from).take(wanted).read_to_end(&mut bytes)? as u64) < wanted;
            if self.is_at_end {
                break;
            }
            if let Some(end) = (self.record_end)(&bytes) {
                let mut rest = Vec::with_capacity(self.chunk_bytes);
                rest.extend_from_slice(&bytes[end..]);
                self.rest = rest;
                bytes.truncate(end);
                break;
            }
            most = most.saturating_mul(2);
        }
        if bytes.is_empty() {
            return Ok(None);
        }
        Ok(Some(Chunk { bytes, is_first: std::mem::take(&mut self.is_first) }))
    }
}

impl Iterator for Chunks {
    type Item = io::Result<Chunk>;

    fn next(&mut self) -> Option<Self::Item> {
        let chunk = self.read().transpose();
        self.is_at_end |= matches!(chunk, Some(Err(_)));
        chunk
    }
}

/// The batches of all chunks, parsed by `threads` threads. Ends after the first failure.
pub(super) fn batches(
    chunks: Chunks,
    threads: NonZeroUsize,
    parse: impl Fn(Chunk) -> Parsed + Send + Sync + 'static,
) -> Batches {
    let mut parsed = OrderedMap::new(chunks, threads, move |chunk| chunk.map(&parse));
    let mut places = 0;
    let mut waiting = Vec::new().into_iter();
    let mut has_failed = false;
    Box::new(std::iter::from_fn(move || {
        while !has_failed {
            if let Some(batch) = waiting.next() {
                return Some(Ok(batch));
            }
            let failure = match parsed.next()? {
                Ok(Parsed { places: more, batches: Ok(batches) }) => {
                    places += more;
                    waiting = batches.into_iter();
                    continue;
                }
                Ok(Parsed { batches: Err(fault), .. }) => fault.after(places),
                Err(error) => bad(error),
            };
            has_failed = true;
            return Some(Err(failure));
        }
        None
    }))
}

/// The batches of several inputs, each of which is opened after those before it have ended. A failure names its file.
pub(super) fn one_after_the_other(
    inputs: impl Iterator<Item = (PathBuf, Result<Batches, Failure>)> + Send + 'static,
) -> Batches {
    Box::new(inputs.flat_map(|(path, opened)| {
        let batches = opened.unwrap_or_else(|failure| Box::new(std::iter::once(Err(failure))));
        batches.map(move |batch| batch.map_err(|failure| failure.in_file(&path)))
    }))
}

/// Splits the rows of a chunk into ranges of at most `batch_rows`, of about equal lengths.
pub(super) fn ranges(rows: usize, batch_rows: usize) -> impl Iterator<Item = std::ops::Range<usize>> {
    let count = rows.div_ceil(batch_rows.max(1)).max(1);
    let each = rows.div_ceil(count).max(1);
    (0..rows).step_by(each).map(move |start| start..rows.min(start + each))
}

/// The same rows in batches of exactly `batch_rows`, except for the last one.
pub(super) fn exact_batches(mut batches: Batches, schema: &SchemaRef, batch_rows: usize) -> Batches {
    let mut coalescer = BatchCoalescer::new(schema.clone(), batch_rows);
    let mut is_finished = false;
    Box::new(std::iter::from_fn(move || {
        loop {
            if let Some(batch) = coalescer.next_completed_batch() {
                return Some(Ok(batch));
            }
            if is_finished {
                return None;
            }
            let pushed = match batches.next() {
                Some(Ok(batch)) => coalescer.push_batch(batch),
                Some(Err(failure)) => return Some(Err(failure)),
                None => {
                    is_finished = true;
                    coalescer.finish_buffered_batch()
                }
            };
            if let Err(error) = pushed {
                return Some(Err(error.into()));
            }
        }
    }))
}

/// Bytes of a chunk: for each thread, several chunks and their values are in memory.
pub(super) const CHUNK_BYTES: usize = 512 << 10;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_end_with_records_whatever_a_read_gives() {
        let text: Vec<u8> = (0..200).flat_map(|i| format!("{}\n", "x".repeat(i % 23)).into_bytes()).collect();
        for chunk_bytes in [1, 7, 64, 1000, 1 << 20] {
            let lines = || -> RecordEnd { Box::new(|bytes| memchr::memrchr(b'\n', bytes).map(|at| at + 1)) };
            let chunks = |from: Box<dyn BufRead + Send>| -> Vec<Vec<u8>> {
                Chunks::new(from, lines(), chunk_bytes).map(|chunk| chunk.unwrap().bytes).collect()
            };
            let whole = chunks(Box::new(io::Cursor::new(text.clone())));
            let small = io::BufReader::with_capacity(3, io::Cursor::new(text.clone()));
            assert_eq!(whole, chunks(Box::new(small)));
            assert_eq!(whole.concat(), text);
            assert!(whole.iter().all(|chunk| chunk.ends_with(b"\n")));
        }
    }

    #[test]
    fn ranges_are_about_as_long() {
        let lengths = |rows, most| ranges(rows, most).map(|range| range.len()).collect::<Vec<_>>();
        assert_eq!(lengths(10, 4), [4, 4, 2]);
        assert_eq!(lengths(17, 16), [9, 8]);
        assert_eq!(lengths(0, 16), [] as [usize; 0]);
        assert_eq!(lengths(3, 16), [3]);
    }
}
