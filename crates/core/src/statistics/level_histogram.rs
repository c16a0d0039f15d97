//! How often each level occurs in a page or chunk.
//!
//! Spec: `SizeStatistics` in parquet.thrift.

use marquetry_encoding::Bitmap;
use marquetry_format::SizeStatistics;
use std::ops::Range;

/// How often each definition level and each repetition level occurs.
///
/// Each entry of a column has one of either: to be complete, both kinds must be added for the same entries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LevelHistogram {
    def: Vec<i64>,
    rep: Vec<i64>,
}

impl LevelHistogram {
    /// No entries, in a column of these largest levels.
    pub fn new(max_def: u8, max_rep: u8) -> Self {
        LevelHistogram { def: vec![0; usize::from(max_def) + 1], rep: vec![0; usize::from(max_rep) + 1] }
    }

    /// Counts nothing, keeps the memory.
    pub fn clear(&mut self) {
        self.def.fill(0);
        self.rep.fill(0);
    }

    /// Adds `n` entries that are values.
    pub fn add_def_max(&mut self, n: usize) {
        *self.def.last_mut().expect("one element for level 0") += n as i64;
    }

    /// Adds `n` entries of definition level 0.
    pub fn add_def_zero(&mut self, n: usize) {
        self.def[0] += n as i64;
    }

    /// Adds the entries in `range`, each a value or not, in a column whose largest definition level is 1.
    ///
    /// # Panics
    /// If the range is not inside, or the largest level is another.
    pub fn add_def_bits(&mut self, is_value: &Bitmap, range: Range<usize>) {
        assert_eq!(self.def.len(), 2, "bits are levels 0 and 1");
        let n = range.len();
        let ones = is_value.count_ones(range);
        self.def[0] += (n - ones) as i64;
        self.def[1] += ones as i64;
    }

    /// Adds entries by their definition levels. INVARIANT: none is greater than the largest; it would not be counted.
    pub fn add_def_levels(&mut self, levels: &[u8]) {
        add_levels(&mut self.def, levels);
    }

    /// Adds `n` entries of repetition level 0: all there are in a column that is in no list.
    pub fn add_rep_zero(&mut self, n: usize) {
        self.rep[0] += n as i64;
    }

    /// Adds entries by their repetition levels. INVARIANT: none is greater than the largest; it would not be counted.
    pub fn add_rep_levels(&mut self, levels: &[u8]) {
        add_levels(&mut self.rep, levels);
    }

    /// Adds all entries that `other`, of the same column, has.
    pub fn merge(&mut self, other: &LevelHistogram) {
        self.def.iter_mut().zip(&other.def).for_each(|(ours, theirs)| *ours += theirs);
        self.rep.iter_mut().zip(&other.rep).for_each(|(ours, theirs)| *ours += theirs);
    }

    /// How often each definition level occurs.
    pub fn def(&self) -> &[i64] {
        &self.def
    }

    /// How often each repetition level occurs.
    pub fn rep(&self) -> &[i64] {
        &self.rep
    }

    /// How many entries.
    pub fn entries(&self) -> u64 {
        self.def.iter().sum::<i64>().unsigned_abs()
    }

    /// How many entries are values.
    pub fn values(&self) -> u64 {
        self.def.last().map_or(0, |values| values.unsigned_abs())
    }

    /// How many entries are no values: nulls, and lists that are empty or null.
    pub fn nulls(&self) -> u64 {
        self.entries() - self.values()
    }

    /// How many rows.
    pub fn rows(&self) -> u64 {
        self.rep[0].unsigned_abs()
    }

    /// The histogram of definition levels, if it is to be written. SPEC: it "may be omitted if max_definition_level is 0
    /// or 1 without loss of information", which the count of nulls has as well.
    pub fn written_def(&self) -> Option<&[i64]> {
        (self.def.len() > 2).then_some(&self.def)
    }

    /// The histogram of repetition levels, if it is to be written. SPEC: it "may be omitted if max_repetition_level is 0
    /// without loss of information".
    pub fn written_rep(&self) -> Option<&[i64]> {
        (self.rep.len() > 1).then_some(&self.rep)
    }

    /// The size statistics; `None` if nothing would be in them. `byte_array_bytes` are the bytes of all values without
    /// their lengths. SPEC: they are for BYTE_ARRAY only.
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

/// Up to so many levels are counted one by one.
const FEW: usize = 6;
/// A byte counts so many.
const BLOCK: usize = 255;
