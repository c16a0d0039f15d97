//! Selects the row groups that are kept, and reports on each.

use crate::beside_pages::{CheckedChunk, Contradiction};
use crate::null_chunk::nulls;
use crate::recovery::{KeptGroup, RowGroupNote, note_on};
use crate::report::{Confidence, KeptRowGroup, Report, SchemaOrigin};
use marquetry_base::Result;
use marquetry_core::metadata::ParquetMetaData;
use marquetry_core::schema::Leaf;
use marquetry_core::source::Source;
use std::ops::Range;
use std::sync::Arc;

/// How a row group was found, and the note of an earlier recovery on it.
pub(crate) struct RowGroupOrigin {
    pub(crate) why: String,
    pub(crate) confidence: Confidence,
    pub(crate) before: Option<RowGroupNote>,
}

/// The row groups of a file that are kept, in the order of the report.
pub(crate) struct KeptGroups {
    source: Arc<dyn Source>,
    /// Offset of this file in the source.
    base: u64,
    /// Whether row groups with lost columns are kept.
    partial: bool,
    pub(crate) groups: Vec<KeptGroup>,
}

impl KeptGroups {
    pub(crate) fn new(source: Arc<dyn Source>, base: u64, partial: bool) -> Self {
        KeptGroups { source, base, partial, groups: Vec::new() }
    }

    /// Keeps a row group. If columns have errors, keeps it without them if the options and the schema allow that.
    pub(crate) fn keep(
        &mut self,
        (metadata, index): (&Arc<ParquetMetaData>, usize),
        bytes: Range<u64>,
        chunks: Vec<Result<CheckedChunk>>,
        RowGroupOrigin { why, confidence, before }: RowGroupOrigin,
        report: &mut Report,
    ) {
        let bytes = bytes.start + self.base..bytes.end + self.base;
        let rows = metadata.row_group(index).num_rows();
        let mut kept = KeptRowGroup { bytes, rows, nulls: Vec::new(), why, confidence };
        let is_lost = match chunks.iter().find_map(|chunk| chunk.as_ref().err()) {
            None => vec![false; chunks.len()],
            Some(error) => {
                let error = error.to_string();
                let lost: Vec<bool> = chunks.iter().map(Result::is_err).collect();
                match self.partial.then(|| nulls(metadata.schema(), &lost)) {
                    Some(Ok(is_lost)) => {
                        kept.why = format!("{}; {error}", kept.why);
                        is_lost
                    }
                    Some(Err(why)) => {
                        return report.lose(kept.bytes, Some(rows), format!("{why}: {error}"));
                    }
                    None => return report.lose(kept.bytes, Some(rows), error),
                }
            }
        };
        let mut left_out = Vec::with_capacity(chunks.len());
        for ((leaf, is_lost), chunk) in metadata.schema().columns().iter().zip(&is_lost).zip(chunks) {
            if *is_lost {
                kept.nulls.push(leaf.dotted().to_string());
            }
            let chunk = chunk.ok().filter(|_| !is_lost).unwrap_or_default();
            for found in &chunk.contradictions {
                leave_out(&mut kept, leaf, chunk.is_proven, found, report);
            }
            if let Some(value) = chunk.forbidden.filter(|_| !chunk.is_proven) {
                doubt_values(&mut kept, leaf, &value, report);
            }
            left_out.push(chunk.contradictions.into_iter().map(|found| found.what).collect());
        }
        let (source, metadata) = (self.source.clone(), metadata.clone());
        let note = note_on(&mut kept, before);
        self.groups.push(KeptGroup { source, metadata, index, is_lost, left_out, note });
        report.row_groups.push(kept);
    }
}

/// Reports metadata that is left out of a kept row group. If the values may be what is wrong, lowers its confidence.
fn leave_out(
    group: &mut KeptRowGroup,
    leaf: &Leaf,
    is_proven: bool,
    found: &Contradiction,
    report: &mut Report,
) {
    let ((name, becomes), start) = (found.what.names(), group.bytes.start);
    let what = format!("{name} of {} in the row group at byte {start} {becomes}", leaf.dotted());
    let is_own = has_own_schema(report);
    let (rest, is_certain) = found.verdict(is_proven, is_own);
    let confidence = if is_certain { Confidence::Exact } else { Confidence::Medium };
    report.decide(what, format!("{}{rest}", found.why), confidence);
    if !is_certain {
        lower(group, is_own, NOT_AS_SAID);
    }
}

/// Reports a value that the schema does not allow, in a column that no checksum proves.
fn doubt_values(group: &mut KeptRowGroup, leaf: &Leaf, value: &str, report: &mut Report) {
    let what = format!("the values of {} in the row group at byte {}", leaf.dotted(), group.bytes.start);
    let is_own = has_own_schema(report);
    let or_schema = if is_own { "" } else { ", or the schema" };
    let why = format!("{value}: the values may be wrong, which have no checksums{or_schema}");
    report.decide(format!("{what} stay as they are"), why, Confidence::Medium);
    lower(group, is_own, NOT_ALLOWED);
}

/// Whether the schema is the file's own. Another schema may order values differently.
fn has_own_schema(report: &Report) -> bool {
    matches!(report.schema, Some(SchemaOrigin::Footer | SchemaOrigin::Sibling))
}

/// Lowers the confidence of a row group, and adds the reason. If the schema `is_own`, the schema cannot be what is
/// wrong.
fn lower(group: &mut KeptRowGroup, is_own: bool, why: &str) {
    group.confidence = group.confidence.max(if is_own { Confidence::Low } else { Confidence::Medium });
    if !group.why.contains(why) {
        group.why.push_str(why);
    }
}

const NOT_AS_SAID: &str = ", but not as the file says of them";
const NOT_ALLOWED: &str = ", with values that the schema does not allow";
