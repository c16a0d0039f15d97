//! Chooses the encoding of a chunk, by encoding and compressing a sample of its values with each encoding that is
//! allowed.

use super::held_indices::HeldIndices;
use super::settings::ColumnSettings;
use super::workspace::Workspace;
use marquetry_base::Result;
use marquetry_encoding::code::{
    BYTE_STREAM_SPLIT, DELTA_BINARY_PACKED, DELTA_BYTE_ARRAY, DELTA_LENGTH_BYTE_ARRAY, RLE_DICTIONARY,
};
use marquetry_encoding::{PhysicalType, Values, dictionary, plain, registry};
use std::ops::Range;

/// How the encoding of a chunk was chosen.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct EncodingDecision {
    /// The reason, in a few words.
    pub reason: &'static str,
    /// The size of the sample in each encoding that was tried, including the chosen one; empty if none was tried.
    pub candidates: Vec<Candidate>,
}

/// An encoding that was tried.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Candidate {
    /// The code of the encoding.
    pub code: i32,
    /// Compressed bytes per value; for a dictionary, its share of the dictionary page included.
    pub bytes_per_value: f64,
}

impl Candidate {
    /// Returns the criterion of the choice: the size, with a small weight for the time of decoding.
    fn cost(&self) -> f64 {
        self.bytes_per_value
            * WEIGHTS.iter().find(|(code, _)| *code == self.code).map_or(1.0, |(_, weight)| *weight)
    }
}

/// The ratio by which PLAIN must be larger than an encoding for its slower decoding to pay.
const WEIGHTS: [(i32, f64); 5] = [
    (DELTA_BINARY_PACKED, 1.02),
    (DELTA_LENGTH_BYTE_ARRAY, 1.02),
    (BYTE_STREAM_SPLIT, 1.02),
    // Each string is assembled from the one before.
    (DELTA_BYTE_ARRAY, 1.10),
    (RLE_DICTIONARY, 1.0),
];

/// Measures each of the allowed encodings on `sample`, which must not be empty. Returns them best first.
pub(super) fn measure_candidates(
    sample: &Values,
    physical: PhysicalType,
    settings: &ColumnSettings,
    workspace: &mut Workspace,
) -> Result<Vec<Candidate>> {
    let mut tried = Vec::new();
    for &code in settings.compat.encodings(physical) {
        let Some(row) = registry::find(code) else { continue };
        let mut encoder = (row.encoder)(physical)?;
        let mut page = Vec::new();
        encoder.encode(sample, 0..sample.len())?;
        encoder.finish(&mut page)?;
        let bytes_per_value = compressed(&page, settings, workspace)? as f64 / sample.len() as f64;
        tried.push(Candidate { code, bytes_per_value });
    }
    tried.sort_by(|a, b| a.cost().total_cmp(&b.cost()));
    Ok(tried)
}

/// A view of a chunk that has a dictionary so far.
pub(super) struct DictionarySample<'a> {
    /// The distinct values.
    pub(super) dictionary: &'a Values,
    /// Bytes of the dictionary page before compression.
    pub(super) page_bytes: usize,
    /// The index of each value in the dictionary.
    pub(super) indices: &'a HeldIndices,
}

impl DictionarySample<'_> {
    /// Encodes and compresses a sample of the indices and one of the dictionary. There must be values. Counts how often
    /// they occur only if more will come, `is_growing`.
    pub(super) fn measure(
        &self,
        is_growing: bool,
        settings: &ColumnSettings,
        workspace: &mut Workspace,
    ) -> Result<DictionaryEstimate> {
        let (seen, distinct) = (self.indices.len(), self.dictionary.len());
        let sample = self.sample_of_indices(SAMPLE);
        let mut page = Vec::new();
        dictionary::encode_indices(&sample, dictionary::index_width(distinct).max(1), &mut page);
        let index_bytes = compressed(&page, settings, workspace)? as f64 / sample.len() as f64;
        let mut entries = self.dictionary.shape().empty();
        let wanted = sample_len(self.page_bytes / distinct.max(1), SAMPLE);
        stretches(distinct, wanted).try_for_each(|range| entries.push_range(self.dictionary, range))?;
        let entry_bytes =
            compressed(&plain::encode(&entries)?, settings, workspace)? as f64 / entries.len() as f64;
        let plain_bytes = self.page_bytes as f64 / distinct as f64;
        let (once, twice) = if is_growing { seen_once_and_twice(self.indices, distinct) } else { (0, 0) };
        Ok(DictionaryEstimate { seen, distinct, once, twice, index_bytes, entry_bytes, plain_bytes })
    }

    /// Returns a sample of the values.
    pub(super) fn sample(&self, physical: PhysicalType) -> Result<Values> {
        let per_value = self.page_bytes / self.dictionary.len().max(1);
        let n = sample_len(per_value, most(physical));
        let mut sample = self.dictionary.shape().empty();
        dictionary::look_up(self.dictionary, &self.sample_of_indices(n), &mut sample)?;
        Ok(sample)
    }

    fn sample_of_indices(&self, n: usize) -> Vec<u32> {
        let (mut sample, first) = (Vec::new(), self.indices.range().start);
        for range in stretches(self.indices.len(), n) {
            self.indices.read(first + range.start..first + range.end, &mut sample);
        }
        sample
    }
}

/// The size of the values so far with a dictionary, from which that of more values is estimated.
#[derive(Debug, Clone, Copy)]
pub(super) struct DictionaryEstimate {
    seen: usize,
    distinct: usize,
    /// Number of distinct values that occurred once; `twice` is the number of those that occurred twice.
    once: usize,
    twice: usize,
    /// Compressed bytes of an index.
    index_bytes: f64,
    /// Compressed bytes of a value in the dictionary page.
    entry_bytes: f64,
    /// Uncompressed bytes of a value in the dictionary page.
    plain_bytes: f64,
}

impl DictionaryEstimate {
    /// Returns the size of the values so far.
    pub(super) fn now(&self) -> Candidate {
        let page = self.entry_bytes * self.distinct as f64 + PAGE_OVERHEAD;
        Candidate { code: RLE_DICTIONARY, bytes_per_value: self.index_bytes + page / self.seen as f64 }
    }

    /// Whether the estimate still holds for a dictionary that now has `distinct` values.
    pub(super) fn is_about(&self, distinct: usize) -> bool {
        distinct <= self.distinct + self.distinct / 8
    }

    /// Estimates the size for `n` values, if they continue as they began; `None` if the dictionary would exceed its
    /// size limit.
    fn later(&self, n: usize, settings: &ColumnSettings) -> Option<Candidate> {
        let distinct = expected_distinct(self.seen, self.distinct, self.once, self.twice, n);
        if self.plain_bytes * distinct > settings.dictionary_page_bytes as f64 {
            return None;
        }
        let width = |distinct: usize| f64::from(dictionary::index_width(distinct).max(1));
        let index_bytes = self.index_bytes * width(distinct as usize) / width(self.distinct);
        let page = self.entry_bytes * distinct + PAGE_OVERHEAD;
        Some(Candidate { code: RLE_DICTIONARY, bytes_per_value: index_bytes + page / n as f64 })
    }

    /// Whether the dictionary is better than `best` now, or may be once there are more values.
    pub(super) fn may_beat(&self, best: &Candidate, settings: &ColumnSettings) -> bool {
        let horizons = [LATER * self.seen, (LATER * self.seen).max(ROW_GROUP)];
        is_better(&self.now(), best)
            || horizons.iter().any(|&n| self.later(n, settings).is_some_and(|then| is_better(&then, best)))
    }

    /// Estimates the bytes of `n` values and of a dictionary that has `page_bytes` bytes before compression.
    pub(super) fn size(&self, n: usize, page_bytes: usize) -> f64 {
        self.index_bytes * n as f64 + page_bytes as f64 * self.entry_bytes / self.plain_bytes.max(1.0)
    }
}

/// Returns a sample of `values`.
pub(super) fn sample_of(values: &Values, physical: PhysicalType) -> Result<Values> {
    let bytes = values.data_bytes(0..values.len()) / values.len().max(1);
    let mut sample = values.shape().empty();
    stretches(values.len(), sample_len(bytes, most(physical)))
        .try_for_each(|range| sample.push_range(values, range))?;
    Ok(sample)
}

/// Whether `a` is better than `b`.
pub(super) fn is_better(a: &Candidate, b: &Candidate) -> bool {
    a.cost() < b.cost()
}

/// Counts the values of a dictionary that occur once among `indices`, and those that occur twice.
fn seen_once_and_twice(indices: &HeldIndices, distinct: usize) -> (usize, usize) {
    let (mut counts, mut block) = (vec![0u8; distinct], Vec::new());
    for start in indices.range().step_by(COUNTED_AT_A_TIME) {
        block.clear();
        indices.read(start..(start + COUNTED_AT_A_TIME).min(indices.range().end), &mut block);
        for &index in &block {
            let count = &mut counts[index as usize];
            *count = count.saturating_add(1);
        }
    }
    let times = |wanted| counts.iter().filter(|&&count| count == wanted).count();
    (times(1), times(2))
}

/// Estimates how many distinct values `n > seen` values have, if `seen` values have `distinct`.
///
/// Chao's estimate of the number of unseen values, and how many of them the further values would show.
fn expected_distinct(seen: usize, distinct: usize, once: usize, twice: usize, n: usize) -> f64 {
    if once == 0 {
        return distinct as f64;
    }
    let (seen, once, further) = (seen as f64, once as f64, n.saturating_sub(seen) as f64);
    let unseen = match twice {
        0 => once * (once - 1.0) / 2.0,
        twice => once * once / (2.0 * twice as f64),
    };
    let shown = unseen * (1.0 - (1.0 - once / (seen * unseen.max(1.0) + once)).powf(further));
    distinct as f64 + shown
}

fn compressed(page: &[u8], settings: &ColumnSettings, workspace: &mut Workspace) -> Result<usize> {
    let mut out = std::mem::take(&mut workspace.stored);
    out.clear();
    workspace.compress(settings, page, &mut out)?;
    let len = out.len();
    workspace.stored = out;
    Ok(len)
}

/// Returns about `wanted` of `len` values: all of them, or a few stretches with equal gaps. Stretches instead of single
/// values, because delta encodings and codecs depend on neighbours.
fn stretches(len: usize, wanted: usize) -> impl Iterator<Item = Range<usize>> {
    let (count, each) = match len > wanted {
        true => (STRETCHES, (wanted / STRETCHES).max(1)),
        false => (1, len),
    };
    let gap = match count {
        1 => 0,
        count => (len - each) / (count - 1),
    };
    (0..count).map(move |i| i * gap..i * gap + each)
}

/// Returns the number of values in a sample: fewer if values are large.
fn sample_len(bytes_per_value: usize, most: usize) -> usize {
    (SAMPLE_BYTES / bytes_per_value.max(1)).clamp(STRETCHES, most)
}

/// Returns the maximum number of values in a sample.
fn most(physical: PhysicalType) -> usize {
    match physical {
        // The compressed size of separate byte streams depends on their length, as in a page: SNAPPY starts anew every
        // 64 KiB, and stops searching after long stretches without a match. There are only two encodings to try.
        PhysicalType::Float | PhysicalType::Double => FIRST_LOOK,
        _ => SAMPLE,
    }
}

/// Number of values in a sample. PERF: for typical columns of a million values each, choosing takes some 6 % of the
/// time; with twice as many it took 9 %, and chose no better.
const SAMPLE: usize = 4096;
/// Maximum bytes of a sample.
const SAMPLE_BYTES: usize = 256 << 10;
const STRETCHES: usize = 4;
const COUNTED_AT_A_TIME: usize = 8192;
/// Number of values before the first choice: the default number of rows in a page.
pub(super) const FIRST_LOOK: usize = 20_000;
/// Factor by which the number of values grows until the dictionary is reconsidered.
pub(super) const LATER: usize = 8;
/// Usual number of values in a full row group.
const ROW_GROUP: usize = 1 << 20;
/// Bytes of a dictionary page besides its values, mostly its header.
const PAGE_OVERHEAD: f64 = 24.0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stretches_cover_both_ends_and_do_not_overlap() {
        assert!(stretches(10, 20).eq(std::iter::once(0..10)));
        assert_eq!(stretches(100, 40).collect::<Vec<_>>(), [0..10, 30..40, 60..70, 90..100]);
        assert!(stretches(0, 40).eq(std::iter::once(0..0)));
    }

    #[test]
    fn few_values_seen_often_are_all_there_are() {
        let mut indices = HeldIndices::default();
        indices.extend(&(0..1000).map(|i| i % 10).collect::<Vec<_>>());
        let (once, twice) = seen_once_and_twice(&indices, 10);
        assert_eq!(expected_distinct(1000, 10, once, twice, 1_000_000), 10.0);
    }

    #[test]
    fn values_seen_once_go_on_coming() {
        assert!(expected_distinct(1000, 1000, 1000, 0, 100_000) > 60_000.0);
        // 10,000 equally likely values, 5,000 draws.
        let mut state = 1u64;
        let mut counts = vec![0; 10_000];
        for _ in 0..5_000 {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            counts[(state >> 33) as usize % 10_000] += 1;
        }
        let times = |wanted| counts.iter().filter(|&&count| count == wanted).count();
        let expected = expected_distinct(5_000, 10_000 - times(0), times(1), times(2), 1_000_000);
        assert!((8_000.0..12_000.0).contains(&expected), "{expected}");
    }
}
