//! What each part of a predicate rules out by itself, by stage; and why a stage rules out nothing.

use super::matching::Matching;
use crate::text_table::{TextTable, percent};
use marquetry::errors::Error;
use marquetry::file::metadata::ColumnChunk;
use marquetry::predicate::BoundPredicate;
use marquetry::prune::{PruneOptions, PruneReport, RowGroupMatch, Stage, prune_row_group};
use serde_json::{Value, json};

/// A conjunct of a predicate.
#[derive(Debug)]
pub(super) struct Part {
    text: String,
    /// Number of rows of the files.
    rows: u64,
    /// The result of each stage, in order.
    stages: [Share; 4],
}

/// The rows that a stage leaves.
#[derive(Debug, Clone, Copy)]
struct Share {
    rows: u64,
    why_all: Option<Why>,
}

/// Why a stage rules out nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Why {
    /// It does not apply to such a condition.
    Kind,
    /// The file lacks what it uses.
    Absent,
    /// The columns are encrypted, and there is no key for one of them.
    Encrypted,
    /// It could not rule out anything.
    NoUse,
}

impl Why {
    fn text(self) -> &'static str {
        match self {
            Why::Kind => "cannot help",
            Why::Absent => "not in the file",
            Why::Encrypted => "encrypted",
            Why::NoUse => "rules out nothing",
        }
    }
}

/// The conjuncts of the predicate of a file.
pub(super) fn parts(matching: &Matching) -> Result<Vec<Part>, Error> {
    let conjuncts = matching.bound.conjuncts();
    conjuncts.iter().map(|part| of_part(matching, part)).collect()
}

fn of_part(matching: &Matching, part: &BoundPredicate) -> Result<Part, Error> {
    let metadata = &matching.metadata;
    // Row counts of a footer are untrusted, and may overflow.
    let rows = metadata.row_groups().fold(0u64, |rows, group| rows.saturating_add(group.num_rows()));
    let mut stages = [Share { rows, why_all: None }; 4];
    for (share, &stage) in stages.iter_mut().zip(Stage::ALL) {
        let (options, report) = (PruneOptions::only(stage), &mut PruneReport::default());
        share.rows = 0;
        for row_group in 0..metadata.num_row_groups() {
            let kept = prune_row_group(&*matching.source, metadata, row_group, part, &options, report)?;
            share.rows = share.rows.saturating_add(match kept {
                RowGroupMatch::None => 0,
                RowGroupMatch::All => metadata.row_group(row_group).num_rows(),
                RowGroupMatch::Some(ranges) => ranges.iter().map(|range| range.end - range.start).sum(),
            });
        }
        share.why_all = (share.rows == rows).then(|| match stage.can_decide(part) {
            false => Why::Kind,
            true if part.leaves().iter().any(|leaf| matching.is_sealed(*leaf)) => Why::Encrypted,
            true if !is_there(matching, part, stage) => Why::Absent,
            true => Why::NoUse,
        });
    }
    Ok(Part { text: part.to_string(), rows, stages })
}

/// Whether any chunk of the conjunct's columns has what a stage uses.
fn is_there(matching: &Matching, part: &BoundPredicate, stage: Stage) -> bool {
    let has = |chunk: ColumnChunk<'_>| match stage {
        Stage::Statistics => chunk.statistics().is_some() || chunk.size_statistics().is_some(),
        Stage::BloomFilters => chunk.bloom_filter_offset().is_some(),
        Stage::Dictionaries => chunk.dictionary_page_offset().is_some(),
        Stage::PageIndex => chunk.column_index_range().is_some() && chunk.offset_index_range().is_some(),
        _ => false,
    };
    let mut groups = matching.metadata.row_groups();
    groups.any(|group| part.leaves().iter().any(|leaf| group.column(*leaf).is_ok_and(has)))
}

/// Adds the conjuncts of another file to those of earlier files. A file may have fewer, as its partition values decide
/// some.
pub(super) fn add(parts: &mut Vec<Part>, others: Vec<Part>) {
    for other in others {
        let Some(part) = parts.iter_mut().find(|part| part.text == other.text) else {
            parts.push(other);
            continue;
        };
        part.rows = part.rows.saturating_add(other.rows);
        for (share, other) in part.stages.iter_mut().zip(other.stages) {
            share.rows = share.rows.saturating_add(other.rows);
            share.why_all = match (share.why_all, other.why_all) {
                (Some(a), Some(b)) if a == b => Some(a),
                (Some(_), Some(_)) => Some(Why::NoUse),
                _ => None,
            };
        }
    }
}

pub(super) fn json(parts: &[Part]) -> Vec<Value> {
    let of_part = |part: &Part| {
        let stages = part.stages.iter().zip(Stage::ALL).map(|(share, stage)| {
            json!({
                "stage": stage.name(),
                "rows_left": share.rows,
                "why_all": share.why_all.map(Why::text),
            })
        });
        json!({"part": part.text, "rows": part.rows, "stages": stages.collect::<Vec<_>>()})
    };
    parts.iter().map(of_part).collect()
}

/// The share of rows that each conjunct and stage leaves.
pub(super) fn table(parts: &[Part]) -> TextTable {
    let headings: Vec<&str> = Stage::ALL.iter().map(|stage| stage.name()).collect();
    let mut table = TextTable::new(&[&["rows left by"][..], &headings].concat()).fitted();
    for part in parts {
        let share = |share: &Share| match share.why_all {
            Some(why) => why.text().to_owned(),
            None => percent(Some(share.rows as f64 / part.rows.max(1) as f64)),
        };
        table.row(std::iter::once(part.text.clone()).chain(part.stages.iter().map(share)));
    }
    table
}
