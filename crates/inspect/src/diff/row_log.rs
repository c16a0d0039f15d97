//! The log of rows: a word for each row, in memory while there are few, otherwise in a temporary file.

use super::row_sink::RowSink;
use marquetry_base::{Error, Result};
use marquetry_core::write::{SpillFile, SpillStore};
use std::io;
use std::sync::Arc;

/// The words of all rows of a file, in their order.
pub(crate) struct RowLog {
    store: Arc<dyn SpillStore>,
    file: Option<Box<dyn SpillFile>>,
    /// Number of words in the file; the others are in `tail`.
    spilled: u64,
    tail: Vec<u64>,
}

impl RowLog {
    pub(crate) fn new(store: Arc<dyn SpillStore>) -> Self {
        RowLog { store, file: None, spilled: 0, tail: Vec::new() }
    }

    pub(crate) fn len(&self) -> u64 {
        self.spilled + self.tail.len() as u64
    }

    pub(crate) fn push(&mut self, words: &[u64]) -> Result<()> {
        self.tail.extend_from_slice(words);
        if self.tail.len() < WORDS_IN_MEMORY {
            return Ok(());
        }
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(self.store.create().map_err(failed)?),
        };
        let bytes: Vec<u8> = self.tail.iter().flat_map(|word| word.to_le_bytes()).collect();
        file.write_at(&bytes, self.spilled * WORD).map_err(failed)?;
        self.spilled += self.tail.len() as u64;
        self.tail.clear();
        Ok(())
    }

    /// Reads words from `start` on, as many as are wanted or left.
    fn read(&self, start: u64, wanted: usize, out: &mut Vec<u64>) -> Result<()> {
        out.clear();
        let wanted = wanted.min(usize::try_from(self.len().saturating_sub(start)).unwrap_or(wanted));
        let in_file = usize::try_from(self.spilled.saturating_sub(start)).unwrap_or(wanted).min(wanted);
        if let (Some(file), 1..) = (&self.file, in_file) {
            let mut bytes = vec![0; in_file * WORD as usize];
            file.read_at(&mut bytes, start * WORD).map_err(failed)?;
            let (words, _) = bytes.as_chunks::<{ WORD as usize }>();
            out.extend(words.iter().map(|word| u64::from_le_bytes(*word)));
        }
        if out.len() < wanted {
            let first = (start + out.len() as u64 - self.spilled) as usize;
            out.extend_from_slice(&self.tail[first..first + wanted - out.len()]);
        }
        Ok(())
    }

    /// Passes all words to `look` in their order, some at a time, with the number of the first of them.
    pub(crate) fn each(&self, mut look: impl FnMut(u64, &[u64]) -> Result<()>) -> Result<()> {
        let (mut words, mut start) = (Vec::new(), 0);
        while start < self.len() {
            self.read(start, WORDS_AT_A_TIME, &mut words)?;
            look(start, &words)?;
            start += words.len() as u64;
        }
        Ok(())
    }

    /// Passes the words of two logs to `look` side by side, up to the end of the shorter one.
    pub(crate) fn each_pair(
        &self,
        other: &RowLog,
        mut look: impl FnMut(u64, &[u64], &[u64]) -> Result<()>,
    ) -> Result<()> {
        let (mut mine, mut others, mut start) = (Vec::new(), Vec::new(), 0);
        let end = self.len().min(other.len());
        while start < end {
            let wanted = WORDS_AT_A_TIME.min((end - start) as usize);
            self.read(start, wanted, &mut mine)?;
            other.read(start, wanted, &mut others)?;
            look(start, &mine, &others)?;
            start += wanted as u64;
        }
        Ok(())
    }
}

impl RowSink for RowLog {
    fn add(&mut self, _: &[u64], rows: &[u64]) -> Result<()> {
        self.push(rows)
    }
}

fn failed(error: io::Error) -> Error {
    Error::io("cannot keep what rows are compared by", error)
}

const WORD: u64 = size_of::<u64>() as u64;
/// 32 MiB of words.
const WORDS_IN_MEMORY: usize = 4 << 20;
const WORDS_AT_A_TIME: usize = 64 << 10;

#[cfg(test)]
mod tests {
    use super::*;
    use marquetry_core::write::SpillFolder;

    #[test]
    fn words_come_back_in_their_order() {
        let mut log = RowLog::new(Arc::new(SpillFolder::system()));
        let n = WORDS_IN_MEMORY as u64 * 2 + 12_345;
        let words: Vec<u64> = (0..n).map(|i| i * 3).collect();
        words.chunks(100_003).for_each(|words| log.push(words).unwrap());
        assert!(log.file.is_some() && log.len() == n);
        let mut seen = 0;
        log.each(|start, words| {
            assert_eq!(start, seen);
            assert!(words.iter().enumerate().all(|(i, word)| *word == (start + i as u64) * 3));
            seen += words.len() as u64;
            Ok(())
        })
        .unwrap();
        assert_eq!(seen, n);
    }
}
