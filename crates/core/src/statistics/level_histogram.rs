//! Histograms of the levels in a page or chunk.
//!
//! Spec: `SizeStatistics` in parquet.thrift.

use marquetry_encoding::Bitmap;
use marquetry_format::SizeStatistics;
use std::ops::Range;

/// Histograms of definition levels and of repetition levels.
///
/// Each entry of a column has one level of each kind, so both kinds must be added for the same entries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LevelHistogram {
    def: Vec<i64>,
    rep: Vec<i64>,
}

impl LevelHistogram {
    /// Creates empty histograms for a column with these maximum levels.
    pub fn new(max_def: u8, max_rep: u8) -> Self {
        LevelHistogram { def: vec![0; usize::from(max_def) + 1], rep: vec![0; usize::from(max_rep) + 1] }
    }

    /// Sets all counts to 0, but keeps the memory.
    pub fn clear(&mut self) {
        self.def.fill(0);
        self.rep.fill(0);
    }

    /// Adds `n` entries that are values.
    pub fn add_def_max(&mut self, n: usize) {
        *self.def.last_mut().expect("one element for level 0") += n as i64;
    }

    /// Adds `n` entries with definition level 0.
    pub fn add_def_zero(&mut self, n: usize) {
        self.def[0] += n as i64;
    }

    /// Adds the entries in `range`, by whether each is a value, in a column whose maximum definition level is 1.
    ///
    /// # Panics
    /// If the range is out of bounds, or the maximum level is not 1.
    pub fn add_def_bits(&mut self, is_value: &Bitmap, range: Range<usize>) {
        assert_eq!(self.def.len(), 2, "bits are levels 0 and 1");
        let n = range.len();
        let ones = is_value.count_ones(range);
        self.def[0] += (n - ones) as i64;
        self.def[1] += ones as i64;
    }

    /// Adds entries by their definition levels. INVARIANT: none exceeds the maximum; it would not be counted.
    pub fn add_def_levels(&mut self, levels: &[u8]) {
        add_levels(&mut self.def, levels);
    }

    /// Adds `n` entries with repetition level 0: all entries in a column that is in no list.
    pub fn add_rep_zero(&mut self, n: usize) {
        self.rep[0] += n as i64;
    }

    /// Adds entries by their repetition levels. INVARIANT: none exceeds the maximum; it would not be counted.
    pub fn add_rep_levels(&mut self, levels: &[u8]) {
        add_levels(&mut self.rep, levels);
    }

    /// Adds all entries of `other`, which must be of the same column.
    pub fn merge(&mut self, other: &LevelHistogram) {
        self.def.iter_mut().zip(&other.def).for_each(|(ours, theirs)| *ours += theirs);
        self.rep.iter_mut().zip(&other.rep).for_each(|(ours, theirs)| *ours += theirs);
    }

    /// Returns the number of entries with each definition level.
    pub fn def(&self) -> &[i64] {
        &self.def
    }

    /// Returns the number of entries with each repetition level.
    pub fn rep(&self) -> &[i64] {
        &self.rep
    }

    /// Returns the number of entries.
    pub fn entries(&self) -> u64 {
        self.def.iter().sum::<i64>().unsigned_abs()
    }

    /// Returns the number of entries that are values.
    pub fn values(&self) -> u64 {
        self.def.last().map_or(0, |values| values.unsigned_abs())
    }

    /// Returns the number of entries that are not values: nulls, and lists that are empty or null.
    pub fn nulls(&self) -> u64 {
        self.entries() - self.values()
    }

    /// Returns the number of rows.
    pub fn rows(&self) -> u64 {
        self.rep[0].unsigned_abs()
    }

    /// Returns the histogram of definition levels, if it should be written. SPEC: it "may be omitted if
    /// max_definition_level is 0 or 1 without loss of information", because the null count has the same information.
    pub fn written_def(&self) -> Option<&[i64]> {
        (self.def.len() > 2).then_some(&self.def)
    }

    /// Returns the histogram of repetition levels, if it should be written. SPEC: it "may be omitted if
    /// max_repetition_level is 0 without loss of information".
    pub fn written_rep(&self) -> Option<&[i64]> {
        (self.rep.len() > 1).then_some(&self.rep)
    }

    /// Returns the size statistics; `None` if they would be empty. `byte_array_bytes` is the number of bytes of all
    /// values without their lengths. SPEC: it is for BYTE_ARRAY only.
    pub fn size_statistics(&self, byte_array_bytes: Option<u64>) -> Option<SizeStatistics> {
        let sizes = SizeStatistics {
            unencoded_byte_array_data_bytes: byte_array_bytes.map(super::chunk_statistics::count),
            repetition_level_histogram: self.written_rep().map(<[i64]>::to_vec),
            definition_level_histogram: self.written_def().map(<[i64]>::to_vec),
        };
        (sizes != SizeStatistics::default()).then_some(sizes)
    }
}

fn add_levels(counts: &mut [i64], levels: &[u8]) {
    if counts.len() <= FEW {
        // PERF: one pass of vector compares for each level.
        for (level, count) in (0..).zip(counts) {
            for block in levels.chunks(BLOCK) {
                *count += i64::from(block.iter().map(|l| u8::from(*l == level)).sum::<u8>());
            }
        }
        return;
    }
    // PERF: four tables, so that equal neighbours do not wait for each other.
    let mut tables = [[0u32; 256]; 4];
    for block in levels.chunks(u32::MAX as usize) {
        let (quads, rest) = block.as_chunks::<4>();
        for quad in quads {
            (0..4).for_each(|i| tables[i][usize::from(quad[i])] += 1);
        }
        rest.iter().for_each(|level| tables[0][usize::from(*level)] += 1);
        for (level, count) in counts.iter_mut().enumerate() {
            *count += tables.iter().map(|table| i64::from(table[level])).sum::<i64>();
        }
        tables = [[0; 256]; 4];
    }
}

/// Number of levels up to which they are counted one by one.
const FEW: usize = 6;
/// Number of levels that a byte can count.
const BLOCK: usize = 255;
