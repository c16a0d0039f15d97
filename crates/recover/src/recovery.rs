//! The kept row groups of a broken file, ready to be written as a new file.

use crate::beside_pages::BesidePages;
use crate::null_chunk::null_chunk;
use crate::report::{Confidence, KeptRowGroup, Report};
use marquetry_base::{Error, Limits, Result};
use marquetry_core::metadata::ParquetMetaData;
use marquetry_core::source::Source;
use marquetry_core::write::copy::{CopySettings, copy_chunk, drop_bounds};
use marquetry_core::write::{FileSettings, FileWriter};
use marquetry_format as format;
use std::io::Write;
use std::sync::Arc;

/// The kept row groups of a broken file, and the report on them.
pub struct Recovery {
    pub(crate) schema: Vec<format::SchemaElement>,
    pub(crate) column_orders: Option<Vec<format::ColumnOrder>>,
    pub(crate) key_values: Vec<format::KeyValue>,
    pub(crate) groups: Vec<KeptGroup>,
    pub(crate) report: Report,
    pub(crate) limits: Arc<Limits>,
}

/// A row group that is kept.
pub(crate) struct KeptGroup {
    pub(crate) source: Arc<dyn Source>,
    pub(crate) metadata: Arc<ParquetMetaData>,
    pub(crate) index: usize,
    /// Whether each column is lost.
    pub(crate) is_lost: Vec<bool>,
    /// Metadata of each column that is left out.
    pub(crate) left_out: Vec<Vec<BesidePages>>,
    /// The note that the new file gets on it.
    pub(crate) note: Option<RowGroupNote>,
}

/// The uncertainty of a row group, as the footer of a recovered file states it. All pages of such a file have right
/// checksums, because these were computed from the bytes that were found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RowGroupNote {
    confidence: Confidence,
    why: String,
}

/// Returns the note on a kept row group, which is no more certain than it was `before`. `None` if everything is
/// certain.
pub(crate) fn note_on(kept: &mut KeptRowGroup, before: Option<RowGroupNote>) -> Option<RowGroupNote> {
    let is_certain = kept.confidence == Confidence::Exact && kept.nulls.is_empty();
    if let Some(RowGroupNote { confidence, why }) = &before {
        kept.confidence = kept.confidence.max(*confidence);
        kept.why.push_str(&format!("; recovered before ({}): {why}", confidence.name()));
    }
    if is_certain {
        // An unchanged note does not grow with each recovery.
        return before;
    }
    let nulls = match kept.nulls.is_empty() {
        true => String::new(),
        false => format!("; lost, and null now: {}", kept.nulls.join(", ")),
    };
    Some(RowGroupNote { confidence: kept.confidence, why: format!("{}{nulls}", kept.why) })
}

/// The notes in the footer of a recovered file on its row groups.
///
/// ```text
/// 3 row groups                                      a line for each that is not certain: its number, its rows,
/// 1 60 high a row group of the footer, not all ...  how certain it is, and why
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RecoveredBefore {
    notes: Vec<(usize, u64, RowGroupNote)>,
    /// Whether the notes match the row groups of this file. Another writer may have changed the row groups, and kept
    /// the text.
    is_of_these: bool,
}

impl RecoveredBefore {
    /// Reads the notes of a file of `count` row groups.
    pub(crate) fn of_file(key_values: &[format::KeyValue], count: usize) -> Option<Self> {
        let text =
            key_values.iter().find(|pair| &*pair.key == NOTE_KEY)?.value.as_deref().unwrap_or_default();
        let mut lines = text.lines();
        let said = lines.next().and_then(|line| line.strip_suffix(COUNT_UNIT)?.parse::<usize>().ok());
        let notes: Option<Vec<_>> = lines.map(read_note).collect();
        let unreadable = || {
            let why = "the note on it cannot be read".to_owned();
            vec![(0, 0, RowGroupNote { confidence: Confidence::Low, why })]
        };
        let is_of_these = said == Some(count) && notes.is_some();
        Some(RecoveredBefore {
            notes: notes.filter(|_| said.is_some()).unwrap_or_else(unreadable),
            is_of_these,
        })
    }

    /// Returns the note on a row group.
    pub(crate) fn of(&self, index: usize, rows: u64) -> Option<RowGroupNote> {
        match self.is_of_these {
            true => {
                let (_, noted, note) = self.notes.iter().find(|(i, ..)| *i == index)?;
                if *noted == rows { Some(note.clone()) } else { self.of_any() }
            }
            false => self.of_any(),
        }
    }

    /// Returns the note on a row group of unknown number: it may be the least certain one.
    pub(crate) fn of_any(&self) -> Option<RowGroupNote> {
        self.notes.iter().map(|(.., note)| note).max_by_key(|note| note.confidence).cloned()
    }
}

fn read_note(line: &str) -> Option<(usize, u64, RowGroupNote)> {
    let mut parts = line.splitn(4, ' ');
    let (index, rows) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
    let (confidence, why) = (Confidence::from_name(parts.next()?)?, parts.next()?.to_owned());
    Some((index, rows, RowGroupNote { confidence, why }))
}

impl Recovery {
    /// Returns the report of what was found, kept and lost.
    pub fn report(&self) -> &Report {
        &self.report
    }

    /// Returns the schema as the footer of the new file has it. It is empty if there is none.
    pub fn schema(&self) -> &[format::SchemaElement] {
        &self.schema
    }

    /// Writes the new file and returns the sink. `created_by` names the writing application in the footer.
    ///
    /// Fails if there is no schema, if the broken file cannot be read again, or if the sink fails.
    pub fn write<W: Write>(&self, sink: W, created_by: Option<String>) -> Result<W> {
        if self.schema.is_empty() {
            return Err(Error::argument("nothing was found that could be written"));
        }
        // The note of an earlier recovery, or of the file that the schema was taken from, is not about this one.
        let mut key_values = self.key_values.clone();
        key_values.retain(|pair| &*pair.key != NOTE_KEY);
        key_values.extend(self.note());
        let settings = FileSettings::default()
            .with_created_by(created_by.map(format::ThriftString::from))
            .with_column_orders(self.column_orders.clone())
            .with_key_values(key_values);
        let mut writer = FileWriter::new(sink, self.schema.clone(), settings)?;
        let copy = CopySettings::default()
            .with_checksums(true)
            .with_offset_index(true)
            .with_verify_checksums(true)
            .with_normalize_page_headers(true)
            .with_limits(self.limits.clone());
        for group in &self.groups {
            let (metadata, row_group) = (&group.metadata, group.metadata.row_group(group.index));
            let has_order = metadata.column_orders() == self.column_orders.as_deref();
            let mut chunks = Vec::new();
            for (column, (is_lost, left_out)) in group.is_lost.iter().zip(&group.left_out).enumerate() {
                let leaf = metadata.schema().column(column);
                if *is_lost {
                    chunks.push(null_chunk(leaf, row_group.num_rows())?);
                    continue;
                }
                let copy = copy
                    .clone()
                    .with_ignore_offset_index(left_out.contains(&BesidePages::OffsetIndex))
                    .with_recount_page_headers(left_out.contains(&BesidePages::PageCounts))
                    .with_drop_page_statistics(!has_order || left_out.contains(&BesidePages::PageStatistics));
                let mut chunk = copy_chunk(&group.source, metadata, group.index, column, &copy)?.chunk;
                left_out.iter().for_each(|what| what.remove_from(&mut chunk));
                if !has_order {
                    drop_bounds(&mut chunk);
                }
                chunks.push(chunk);
            }
            let is_whole = !group.is_lost.contains(&true);
            let sorting = is_whole.then(|| row_group.sorting_columns().to_vec());
            writer.write_row_group(row_group.num_rows(), chunks, sorting)?;
        }
        Ok(writer.finish()?.0)
    }
    /// Returns the note on uncertain row groups. The pages of the new file have right checksums, and would seem proven
    /// without it.
    fn note(&self) -> Option<format::KeyValue> {
        let notes: Vec<_> = self
            .groups
            .iter()
            .enumerate()
            .filter_map(|(i, group)| Some((i, group, group.note.as_ref()?)))
            .collect();
        let mut text = format!("{}{COUNT_UNIT}", self.groups.len());
        for (i, group, RowGroupNote { confidence, why }) in &notes {
            let rows = group.metadata.row_group(group.index).num_rows();
            let words: Vec<_> = why.split_whitespace().collect();
            let why: String = words.join(" ").chars().take(MAX_WHY).collect();
            text.push_str(&format!("\n{i} {rows} {} {why}", confidence.name()));
        }
        (!notes.is_empty()).then(|| format::KeyValue { key: NOTE_KEY.into(), value: Some(text.into()) })
    }
}

/// The key of the note in the footer of a recovered file.
const NOTE_KEY: &str = "marquetry.recovered";
const COUNT_UNIT: &str = " row groups";
/// Maximum characters of a reason, which may contain long paths.
const MAX_WHY: usize = 500;

#[cfg(test)]
mod tests {
    use super::*;

    fn noted(text: &str, count: usize) -> RecoveredBefore {
        let pair = format::KeyValue::new(NOTE_KEY, Some(text.to_owned()));
        RecoveredBefore::of_file(&[pair], count).unwrap()
    }

    fn level(note: Option<RowGroupNote>) -> Option<Confidence> {
        note.map(|note| note.confidence)
    }

    #[test]
    fn a_note_is_of_its_row_group() {
        let before = noted("3 row groups\n0 60 high not all with checksums\n2 9 medium a guess", 3);
        let levels = [(0, 60), (1, 60), (2, 9)].map(|(i, rows)| level(before.of(i, rows)));
        assert_eq!(levels, [Some(Confidence::High), None, Some(Confidence::Medium)]);
        assert_eq!(before.of(0, 60).unwrap().why, "not all with checksums");
    }

    /// Another writer keeps the text, and has other row groups.
    #[test]
    fn a_note_of_other_row_groups_is_of_all() {
        let text = "3 row groups\n0 60 high not all with checksums\n2 9 medium a guess";
        assert_eq!(level(noted(text, 4).of(1, 60)), Some(Confidence::Medium));
        assert_eq!(level(noted(text, 3).of(0, 61)), Some(Confidence::Medium));
        assert_eq!(level(noted(text, 3).of_any()), Some(Confidence::Medium));
    }

    #[test]
    fn a_note_that_cannot_be_read_is_the_worst() {
        for text in [
            "",
            "row groups",
            "1 row groups\nhigh",
            "1 row groups\n0 60 certain of it",
            "x row groups\n0 6 high a",
        ] {
            assert_eq!(level(noted(text, 1).of(0, 60)), Some(Confidence::Low), "{text}");
        }
    }
}
