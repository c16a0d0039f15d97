//! The log of rows with a key, in parts by the key: rows with the same key are in the same part of both files.
//!
//! A part is small enough for the processor's caches, where its rows are looked up. All parts are written to one temporary file, a piece of a
//! part at a time, once memory has too many of them.

use super::row_sink::RowSink;
use marquetry_base::{Error, Result};
use marquetry_core::write::{SpillFile, SpillStore};
use std::io;
use std::sync::Arc;

/// The rows of a file, divided into parts by their keys.
pub(crate) struct PartedLog {
    store: Arc<dyn SpillStore>,
    file: Option<Box<dyn SpillFile>>,
    /// Number of words in the file.
    written: u64,
    parts: Vec<Part>,
    rows: u64,
}

#[derive(Clone, Default)]
struct Part {
    /// Rows that are still in memory.
    rows: Vec<LoggedRow>,
    /// Offsets in words of its pieces in the file, and how many rows each has.
    pieces: Vec<(u64, usize)>,
}

/// A row of the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LoggedRow {
    /// Hash of its key.
    pub(crate) key: u64,
    /// Hash of all its values.
    pub(crate) values: u64,
    /// Its number in the file.
    pub(crate) number: u64,
}

impl PartedLog {
    /// Creates a log with as many parts as files of `most_rows` rows need. Logs that are compared have the same number.
    pub(crate) fn new(store: Arc<dyn SpillStore>, most_rows: u64) -> Self {
        let parts = (most_rows / ROWS_OF_A_PART + 1).next_power_of_two().min(MOST_PARTS);
        let parts = vec![Part::default(); parts as usize];
        PartedLog { store, file: None, written: 0, parts, rows: 0 }
    }

    /// Returns the number of rows.
    pub(crate) fn len(&self) -> u64 {
        self.rows
    }

    pub(crate) fn num_parts(&self) -> usize {
        self.parts.len()
    }

    fn push(&mut self, row: LoggedRow) -> Result<()> {
        // By the highest bits, so that the lower ones differ within a part. A single part has all rows.
        let bits = self.parts.len().trailing_zeros();
        let part = row.key.checked_shr(u64::BITS - bits).unwrap_or(0) as usize;
        self.parts[part].rows.push(row);
        match self.parts[part].rows.len() >= ROWS_IN_MEMORY / self.parts.len() {
            true => self.write_piece(part),
            false => Ok(()),
        }
    }

    fn write_piece(&mut self, part: usize) -> Result<()> {
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(self.store.create().map_err(failed)?),
        };
        let part = &mut self.parts[part];
        let words = part.rows.iter().flat_map(|row| [row.key, row.values, row.number]);
        let bytes: Vec<u8> = words.flat_map(u64::to_le_bytes).collect();
        file.write_at(&bytes, self.written * WORD).map_err(failed)?;
        part.pieces.push((self.written, part.rows.len()));
        self.written += part.rows.len() as u64 * WORDS_OF_A_ROW;
        part.rows.clear();
        Ok(())
    }

    /// Passes the rows of a part to `look`, in the order of the file.
    pub(crate) fn each(&self, part: usize, mut look: impl FnMut(LoggedRow) -> Result<()>) -> Result<()> {
        let part = &self.parts[part];
        let mut bytes = Vec::new();
        for (start, rows) in &part.pieces {
            let Some(file) = &self.file else { break };
            bytes.resize(rows * (WORDS_OF_A_ROW * WORD) as usize, 0);
            file.read_at(&mut bytes, start * WORD).map_err(failed)?;
            let (words, _) = bytes.as_chunks::<{ WORD as usize }>();
            let (rows, _) = words.as_chunks::<{ WORDS_OF_A_ROW as usize }>();
            for row in rows {
                let [key, values, number] = row.map(u64::from_le_bytes);
                look(LoggedRow { key, values, number })?;
            }
        }
        part.rows.iter().try_for_each(|row| look(*row))
    }
}

impl RowSink for PartedLog {
    fn add(&mut self, keys: &[u64], rows: &[u64]) -> Result<()> {
        for (key, values) in keys.iter().zip(rows) {
            self.push(LoggedRow { key: *key, values: *values, number: self.rows })?;
            self.rows += 1;
        }
        Ok(())
    }
}

fn failed(error: io::Error) -> Error {
    Error::io("cannot keep what rows are compared by", error)
}

const WORD: u64 = size_of::<u64>() as u64;
const WORDS_OF_A_ROW: u64 = 3;
const ROWS_OF_A_PART: u64 = 64 << 10;
const MOST_PARTS: u64 = 4 << 10;
/// 48 MiB of rows.
const ROWS_IN_MEMORY: usize = 2 << 20;

#[cfg(test)]
mod tests {
    use super::*;
    use marquetry_core::write::SpillFolder;

    #[test]
    fn rows_come_back_part_by_part() {
        for rows in [0, 1, 70_000, 3_000_000] {
            let mut log = PartedLog::new(Arc::new(SpillFolder::system()), rows);
            let keys: Vec<u64> = (0..rows).map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect();
            let values: Vec<u64> = (0..rows).collect();
            keys.chunks(10_007)
                .zip(values.chunks(10_007))
                .for_each(|(keys, rows)| log.add(keys, rows).unwrap());
            assert_eq!((log.len(), log.file.is_some()), (rows, rows == 3_000_000));
            let mut seen = 0;
            for part in 0..log.num_parts() {
                let mut last = None;
                log.each(part, |row| {
                    assert_eq!((row.key, row.values), (keys[row.number as usize], row.number));
                    assert!(last.is_none_or(|last| last < row.number));
                    (last, seen) = (Some(row.number), seen + 1);
                    Ok(())
                })
                .unwrap();
            }
            assert_eq!(seen, rows);
        }
    }
}
