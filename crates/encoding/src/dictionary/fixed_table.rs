//! Finds the index of a value of fixed width in a dictionary. Values of up to 16 bytes are interned as numbers.

use super::bytes_table::{BytesTable, Found};
use super::words_table::{Word, WordsTable};
use crate::fixed_len_bytes::FixedLenBytes;
use marquetry_base::Result;
use std::ops::Range;

/// The hash table of a dictionary of FIXED_LEN_BYTE_ARRAY or INT96.
#[derive(Debug)]
pub(super) enum FixedTable {
    /// 1 to 8 bytes: most decimals, whose numbers are close to each other.
    Short(Numbers<u64>),
    /// 9 to 16 bytes: INT96, UUID, decimals of over 18 digits.
    Wide(Numbers<u128>),
    /// All other widths.
    Long(BytesTable),
}

impl FixedTable {
    /// Creates an empty table for values of `width` bytes.
    pub(super) fn new(width: usize) -> Self {
        match width {
            1..=8 => FixedTable::Short(Numbers::default()),
            9..=16 => FixedTable::Wide(Numbers::default()),
            _ => FixedTable::Long(BytesTable::default()),
        }
    }

    /// Appends the index of each value in `range` to `indices`, and new values to `dictionary`. Fails if there is no memory for them.
    pub(super) fn intern(
        &mut self,
        dictionary: &mut FixedLenBytes,
        values: &FixedLenBytes,
        range: Range<usize>,
        indices: &mut Vec<u32>,
    ) -> Result<()> {
        let width = values.width();
        match self {
            FixedTable::Short(numbers) => {
                let shift = u64::BITS - 8 * width as u32;
                let number = |bytes| ((i64::from_be_bytes(bytes) << shift) >> shift) as u64;
                numbers.intern(dictionary, values, range, indices, number, u64::to_be_bytes)
            }
            FixedTable::Wide(numbers) => {
                let shift = u128::BITS - 8 * width as u32;
                let number = |bytes| ((i128::from_be_bytes(bytes) << shift) >> shift) as u128;
                numbers.intern(dictionary, values, range, indices, number, u128::to_be_bytes)
            }
            FixedTable::Long(table) => intern_long(table, dictionary, values, range, indices),
        }
    }

    /// The size of the table in bytes.
    pub(super) fn memory(&self) -> usize {
        match self {
            FixedTable::Short(numbers) => numbers.memory(),
            FixedTable::Wide(numbers) => numbers.memory(),
            FixedTable::Long(table) => table.memory(),
        }
    }
}

/// The values of a dictionary as numbers, and the table of their indices.
#[derive(Debug, Default)]
pub(super) struct Numbers<T> {
    table: WordsTable,
    words: Vec<T>,
    /// The numbers that are being looked up.
    block: Vec<T>,
}

impl<T: Word> Numbers<T> {
    /// Interns values as numbers. `number` converts the `N` bytes that end with a value to its number, with its sign,
    /// so that values around 0 are close to each other. `bytes` is the reverse.
    fn intern<const N: usize>(
        &mut self,
        dictionary: &mut FixedLenBytes,
        values: &FixedLenBytes,
        range: Range<usize>,
        indices: &mut Vec<u32>,
        number: impl Fn([u8; N]) -> T,
        bytes: impl Fn(T) -> [u8; N],
    ) -> Result<()> {
        let (width, stored) = (values.width(), values.as_bytes());
        let mut start = range.start;
        while start < range.end {
            let end = range.end.min(start + NUMBERS_PER_BLOCK);
            // The first values do not have `N` bytes before their end.
            let lead = end.min(N.div_ceil(width)).max(start);
            self.block.clear();
            self.block.extend((start..lead).map(|i| {
                let mut padded = [0; N];
                padded[N - width..].copy_from_slice(&stored[i * width..][..width]);
                number(padded)
            }));
            self.block.extend((lead..end).map(|i| number(before((i + 1) * width, &stored))));
            dictionary.try_make_room(self.block.len())?;
            let known = self.words.len();
            self.table.intern(&self.block, &mut self.words, indices);
            let new = &self.words[known..];
            dictionary.push_with(new.len(), |out| {
                new.iter().for_each(|&word| out.extend_from_slice(&bytes(word)[N - width..]));
            });
            start = end;
        }
        Ok(())
    }

    fn memory(&self) -> usize {
        self.table.memory() + size_of::<T>() * (self.words.capacity() + self.block.capacity())
    }
}

/// Returns the `N` bytes before byte `end`. PERF: a load of constant length; the caller shifts out the bytes of the preceding value.
#[inline(always)]
fn before<const N: usize>(end: usize, bytes: &[u8]) -> [u8; N] {
    *bytes[..end].last_chunk().expect("as many before the end of a value that is not one of the first")
}

fn intern_long(
    table: &mut BytesTable,
    dictionary: &mut FixedLenBytes,
    values: &FixedLenBytes,
    range: Range<usize>,
    indices: &mut Vec<u32>,
) -> Result<()> {
    indices.reserve(range.len());
    for value in range.map(|i| values.get(i)) {
        let index = loop {
            let hash = table.hash_bytes(value);
            match table.find(hash, |i| dictionary.get(i as usize) == value) {
                Found::Index(index) => break index,
                Found::Slot(at) => {
                    dictionary.try_make_room(1)?;
                    dictionary.push(value);
                    break table.insert(at, hash);
                }
                Found::Crowd => table.rebuild_keyed(|table, put| {
                    (0..dictionary.len()).for_each(|i| put(table.hash_bytes(dictionary.get(i))));
                }),
            }
        };
        indices.push(index);
    }
    Ok(())
}

/// Number of values that are converted to numbers at once.
const NUMBERS_PER_BLOCK: usize = 512;
