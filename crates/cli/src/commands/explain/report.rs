//! The report of `explain`, of one file or of all files of a table.

use super::parts::{self, Part};
use super::remaining::RemainingRead;
use crate::failure::Failure;
use crate::output::Output;
use crate::printable::printable;
use crate::text_table::TextTable;
use marquetry::prune::StageReport;
use marquetry_base::counted;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::time::Duration;

/// The results.
#[derive(Debug, Default)]
pub(super) struct ExplainReport {
    pub(super) predicate: String,
    /// If they are a table, the number of files, and how many of them were opened, as partition values ruled out the
    /// others.
    pub(super) files: Option<(usize, usize)>,
    /// What remains of the file, at first and after each stage.
    pub(super) stages: Vec<Stage>,
    /// What each conjunct does by itself.
    pub(super) parts: Vec<Part>,
    /// The number of matching rows, and of their row groups.
    pub(super) matching: Option<(u64, usize)>,
    pub(super) notes: Vec<Note>,
    /// Advice, with the number of files that it is for.
    pub(super) advice: Vec<(String, usize)>,
}

/// A line of the table.
#[derive(Debug)]
pub(super) struct Stage {
    pub(super) name: &'static str,
    pub(super) left: RemainingRead,
    /// `None` for the state before the first stage.
    pub(super) asked: Option<Asked>,
}

/// The work of a stage.
#[derive(Debug, Default)]
pub(super) struct Asked {
    pages: usize,
    pages_left: usize,
    bytes: u64,
    reads: u64,
    time: Duration,
    /// The columns that it used, and in how many row groups.
    columns: BTreeMap<String, usize>,
}

/// An index that exists but could not be used.
#[derive(Debug)]
pub(super) struct Note {
    pub(super) file: Option<String>,
    pub(super) row_group: usize,
    pub(super) column: String,
    pub(super) stage: &'static str,
    pub(super) message: String,
}

impl Asked {
    /// `name` returns the name of a column.
    pub(super) fn of(stage: &StageReport, name: impl Fn(usize) -> String) -> Self {
        let columns = stage.columns().map(|(column, row_groups)| (name(column), row_groups));
        Asked {
            pages: stage.pages,
            pages_left: stage.pages_left,
            bytes: stage.bytes,
            reads: stage.reads,
            time: stage.time,
            columns: columns.collect(),
        }
    }

    fn add(&mut self, other: Asked) {
        self.pages += other.pages;
        self.pages_left += other.pages_left;
        self.bytes += other.bytes;
        self.reads += other.reads;
        self.time += other.time;
        for (column, row_groups) in other.columns {
            *self.columns.entry(column).or_default() += row_groups;
        }
    }
}

impl ExplainReport {
    /// Adds the results of another file of the table.
    pub(super) fn add(&mut self, other: ExplainReport) {
        for (i, stage) in other.stages.into_iter().enumerate() {
            match self.stages.get_mut(i) {
                Some(sum) => {
                    sum.left.add_all(stage.left);
                    if let (Some(sum), Some(asked)) = (&mut sum.asked, stage.asked) {
                        sum.add(asked);
                    }
                }
                None => self.stages.push(stage),
            }
        }
        parts::add(&mut self.parts, other.parts);
        self.matching = match (self.matching, other.matching) {
            (Some((rows, groups)), Some((more, more_groups))) => Some((rows + more, groups + more_groups)),
            (matching, None) | (None, matching) => matching,
        };
        self.notes.extend(other.notes);
        for (advice, files) in other.advice {
            match self.advice.iter_mut().find(|(there, _)| *there == advice) {
                Some((_, sum)) => *sum += files,
                None => self.advice.push((advice, files)),
            }
        }
    }

    pub(super) fn json(&self) -> Value {
        let stage = |stage: &Stage| {
            let (left, none) = (stage.left, Asked::default());
            let asked = stage.asked.as_ref().unwrap_or(&none);
            let columns = asked.columns.iter();
            let columns =
                columns.map(|(column, row_groups)| json!({"column": column, "row_groups": row_groups}));
            json!({
                "stage": stage.name,
                "row_groups": left.row_groups,
                "row_groups_matched": left.matched,
                "rows": left.rows,
                "bytes": left.bytes,
                "pages_asked": asked.pages,
                "pages_left": asked.pages_left,
                "bytes_read": asked.bytes,
                "reads": asked.reads,
                "seconds": asked.time.as_secs_f64(),
                "columns": columns.collect::<Vec<_>>(),
            })
        };
        let notes = self.notes.iter().map(|note| {
            json!({
                "file": note.file,
                "row_group": note.row_group,
                "column": note.column,
                "stage": note.stage,
                "message": note.message,
            })
        });
        json!({
            "file": null,
            "files": self.files.map(|(files, _)| files),
            "files_left": self.files.map(|(_, left)| left),
            "predicate": self.predicate,
            "stages": self.stages.iter().map(stage).collect::<Vec<_>>(),
            "parts": parts::json(&self.parts),
            "matching": self.matching.map(|(rows, row_groups)| json!({"rows": rows, "row_groups": row_groups})),
            "notes": notes.collect::<Vec<_>>(),
            "advice": self.advice.iter().map(|(advice, _)| advice).collect::<Vec<_>>(),
        })
    }

    pub(super) fn print(&self, output: &mut Output) -> Result<(), Failure> {
        output.line(printable(&format!("where {}", self.predicate)))?;
        if let Some((files, left)) = self.files {
            output.line(match left == files {
                true => counted(files, "file"),
                false => {
                    format!("{}, {left} of them after a look at their partitions", counted(files, "file"))
                }
            })?;
        }
        self.table().print(output)?;
        if !self.parts.is_empty() {
            output.line("")?;
            parts::table(&self.parts).print(output)?;
            output.line("")?;
        }
        let matched = self.stages.last().map_or(0, |stage| stage.left.matched);
        if matched > 0 {
            let row_groups = counted(matched, "row group");
            output
                .line(format!("all rows of {row_groups} match: the predicate need not be evaluated there"))?;
        }
        if let Some((rows, row_groups)) = self.matching {
            let verb = if rows == 1 { "matches" } else { "match" };
            let (rows, row_groups) = (counted(rows, "row"), counted(row_groups, "row group"));
            output.line(format!("{rows} {verb}, in {row_groups}"))?;
        }
        for note in &self.notes {
            let file = note.file.as_ref().map(|file| format!(" of {file}")).unwrap_or_default();
            output.line(printable(&format!(
                "not used: {} of {}, row group {}{file}: {}",
                note.stage, note.column, note.row_group, note.message
            )))?;
        }
        for (advice, files) in &self.advice {
            output.line(printable(&match self.files.is_some() && *files > 1 {
                true => format!("advice: {advice} (so in {files} files)"),
                false => format!("advice: {advice}"),
            }))?;
        }
        Ok(())
    }

    fn table(&self) -> TextTable {
        let mut table = TextTable::new(&[
            "",
            ">row groups",
            ">pages",
            ">rows",
            ">bytes",
            ">read",
            ">reads",
            ">time",
            "by",
        ])
        .fitted();
        for stage in &self.stages {
            let cell = |cell: &dyn Fn(&Asked) -> String| stage.asked.as_ref().map(cell).unwrap_or_default();
            let by = |asked: &Asked| {
                let names =
                    asked.columns.iter().map(|(column, row_groups)| format!("{column} ({row_groups})"));
                names.collect::<Vec<_>>().join(", ")
            };
            table.row([
                stage.name.to_owned(),
                stage.left.row_groups.to_string(),
                cell(&|asked| match asked.pages {
                    0 => String::new(),
                    pages => format!("{} of {pages}", asked.pages_left),
                }),
                stage.left.rows.to_string(),
                stage.left.bytes.to_string(),
                cell(&|asked| asked.bytes.to_string()),
                cell(&|asked| asked.reads.to_string()),
                cell(&|asked| format!("{:.3} ms", asked.time.as_secs_f64() * 1e3)),
                cell(&by),
            ]);
        }
        table
    }
}
