//! Content-defined chunking: the contents of pages determine where they end, not their number of values.
//!
//! A gear hash rolls over the bytes of values and over levels. It forgets bytes that are 64 back. So soon after an
//! inserted row it is what it was before, and pages end where they did. A page ends after the row in which the hash
//! matched for the eighth time, each time by another table: sizes are then nearer to their mean than with a single
//! match.
//!
//! As in Arrow C++, bytes are not hashed before the page has its minimum size, and a page ends when it has the maximum
//! size. The tables are our own, so pages end elsewhere than in files of other writers.

use super::cdc_options::CdcOptions;
use super::levels::{Def, Levels};
use marquetry_base::{Error, Result};
use marquetry_encoding::Values;
use std::ops::Range;

/// The chunker of a column chunk, which decides where pages end.
pub(super) struct ContentChunker {
    options: CdcOptions,
    /// The bits that must be zero for the hash to match.
    mask: u64,
    hash: u64,
    /// Number of bytes in the page so far.
    bytes: usize,
    /// Number of rows in the page in which the hash matched.
    matches: usize,
    /// Whether the hash has matched since the last row ended.
    has_matched: bool,
}

/// Values, or indices into the values of a dictionary.
#[derive(Clone, Copy)]
pub(super) struct ChunkedValues<'a> {
    pub(super) values: &'a Values,
    pub(super) indices: Option<&'a [u32]>,
}

impl ContentChunker {
    /// Creates a chunker, in a box because most columns have none. Fails if the sizes are invalid.
    pub(super) fn boxed(options: CdcOptions) -> Result<Box<Self>> {
        Ok(Box::new(ContentChunker {
            options,
            mask: mask(options)?,
            hash: 0,
            bytes: 0,
            matches: 0,
            has_matched: false,
        }))
    }

    /// Processes rows up to the one with which the page ends. Returns the first entry after that row; `None` if the
    /// page continues after all of the rows. `first` is the index of the first value.
    pub(super) fn page_end(
        &mut self,
        levels: Levels<'_>,
        entries: Range<usize>,
        values: ChunkedValues<'_>,
        first: usize,
    ) -> Option<usize> {
        let mut value = first;
        for entry in entries.clone() {
            let begins_row = levels.max_rep == 0 || levels.rep[entry] == 0;
            if begins_row && entry > entries.start && self.ends_here() {
                return Some(entry);
            }
            let def = match levels.def {
                Def::Max => levels.max_def,
                Def::Null => 0,
                Def::Bitmap(bits) => levels.max_def - u8::from(!bits.get(entry)),
                Def::Levels(def) => def[entry],
            };
            if levels.max_def > 0 {
                self.roll(&[def]);
            }
            if levels.max_rep > 0 {
                self.roll(&[levels.rep[entry]]);
            }
            if def == levels.max_def {
                self.roll_value(values, value);
                value += 1;
            }
        }
        (!entries.is_empty() && self.ends_here()).then_some(entries.end)
    }

    fn ends_here(&mut self) -> bool {
        if std::mem::take(&mut self.has_matched) {
            self.matches += 1;
        }
        let ends = self.matches >= TABLES || self.bytes >= self.options.max_chunk_size;
        if ends {
            (self.bytes, self.matches) = (0, 0);
        }
        ends
    }

    fn roll_value(&mut self, ChunkedValues { values, indices }: ChunkedValues<'_>, i: usize) {
        let i = indices.map_or(i, |indices| indices[i] as usize);
        match values {
            Values::W32(words) => self.roll(&words[i].to_le_bytes()),
            Values::W64(words) => self.roll(&words[i].to_le_bytes()),
            Values::Bit(bits) => self.roll(&[u8::from(bits.get(i))]),
            Values::Fixed(fixed) => self.roll(fixed.get(i)),
            Values::Bytes(strings) => self.roll(strings.get(i)),
            Values::Offsets(strings) => self.roll(strings.get(i)),
        }
    }

    fn roll(&mut self, bytes: &[u8]) {
        self.bytes = self.bytes.saturating_add(bytes.len());
        // PERF: most bytes of a page are only counted.
        if self.bytes < self.options.min_chunk_size {
            return;
        }
        let table = &GEAR[self.matches.min(TABLES - 1)];
        for &byte in bytes {
            self.hash = (self.hash << 1).wrapping_add(table[usize::from(byte)]);
            self.has_matched |= self.hash & self.mask == 0;
        }
    }
}

/// Returns the options. Fails if their sizes are invalid.
pub(super) fn checked(options: CdcOptions) -> Result<CdcOptions> {
    mask(options).map(|_| options)
}

/// Returns the bits that must be zero so that the mean size of pages is halfway between minimum and maximum.
fn mask(options: CdcOptions) -> Result<u64> {
    let CdcOptions { min_chunk_size: min, max_chunk_size: max, norm_level } = options;
    if min == 0 || max <= min {
        return Err(Error::argument(format!(
            "content-defined chunks of {min} to {max} bytes: the least is more than nothing, and less than the greatest"
        )));
    }
    let hashed = ((max - min) / 2).max(1);
    // Each of the matches gets its share of the hashed bytes.
    let bits = i64::from(hashed.ilog2()) - i64::from(TABLES.ilog2()) - i64::from(norm_level);
    match u32::try_from(bits) {
        Ok(bits @ 1..=63) => Ok(u64::MAX << (64 - bits)),
        _ => Err(Error::argument(format!(
            "content-defined chunks of {min} to {max} bytes at the normalization level {norm_level}: a hash of {bits} bits, not of 1 to 63"
        ))),
    }
}

/// Number of tables, which is also the number of matches that end a page.
const TABLES: usize = 8;

/// Random numbers: splitmix64, from 1 on.
static GEAR: [[u64; 256]; TABLES] = {
    let mut tables = [[0; 256]; TABLES];
    let mut state = 1u64;
    let mut i = 0;
    while i < TABLES * 256 {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = state;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        tables[i / 256][i % 256] = word ^ (word >> 31);
        i += 1;
    }
    tables
};

#[cfg(test)]
mod tests {
    use super::*;

    /// Splitmix64 of 1, by the algorithm's authors.
    #[test]
    fn the_first_random_number() {
        assert_eq!(GEAR[0][0], 0x910a_2dec_8902_5cc1);
    }

    #[test]
    fn sizes_that_make_no_sense() {
        let of = |min_chunk_size, max_chunk_size, norm_level| {
            mask(CdcOptions { min_chunk_size, max_chunk_size, norm_level })
        };
        assert_eq!(of(256 << 10, 1 << 20, 0).unwrap().count_ones(), 15);
        assert_eq!(of(256 << 10, 1 << 20, 2).unwrap().count_ones(), 13);
        assert!(of(0, 10, 0).is_err() && of(10, 10, 0).is_err() && of(10, 20, 0).is_err());
        assert!(of(256 << 10, 1 << 20, 15).is_err() && of(256 << 10, 1 << 20, i32::MIN).is_err());
    }
}
