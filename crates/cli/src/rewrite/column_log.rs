//! What was done to each column, and notes.

use super::Input;
use crate::failure::Failure;
use crate::output::Output;
use crate::printable::printable;
use marquetry::file::encryption::EncryptionDialect;
use marquetry_core::write::copy::CopiedChunk;
use serde_json::{Value, json};
use std::collections::HashMap;

/// What was done to a column chunk.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ColumnAction {
    /// Its bytes were copied.
    Copied,
    /// Its pages got new headers.
    Sealed,
    /// Its pages were recompressed.
    Recompressed,
    /// Its values were decoded and encoded again, for this reason.
    Recoded(String),
}

impl ColumnAction {
    pub(crate) fn of(copied: &CopiedChunk) -> Self {
        match (copied.pages_recompressed, copied.pages_sealed) {
            (0, 0) => ColumnAction::Copied,
            (0, _) => ColumnAction::Sealed,
            _ => ColumnAction::Recompressed,
        }
    }

    fn text(&self) -> String {
        match self {
            ColumnAction::Copied => "copied".to_owned(),
            ColumnAction::Sealed => "copied, checksums added".to_owned(),
            ColumnAction::Recompressed => "compressed again".to_owned(),
            ColumnAction::Recoded(reason) => format!("encoded again: {reason}"),
        }
    }
}

/// Actions on columns, and notes for the user.
pub(crate) struct ColumnLog {
    /// For each column of the new file, the action that changes it most.
    actions: Vec<Option<ColumnAction>>,
    /// Distinct notes, with the number of places that each is about.
    notes: Vec<(String, u64)>,
    /// The index of each note.
    places: HashMap<String, usize>,
}

impl ColumnLog {
    pub(crate) fn new(columns: usize) -> Self {
        ColumnLog { actions: vec![None; columns], notes: Vec::new(), places: HashMap::new() }
    }

    /// Adds an action on a chunk of a column.
    pub(crate) fn action(&mut self, column: usize, action: ColumnAction) {
        if let Some(most) = self.actions.get_mut(column) {
            *most = most.take().max(Some(action));
        }
    }

    /// Adds the result of copying a chunk.
    pub(crate) fn copied(&mut self, column: usize, copied: &CopiedChunk) {
        self.action(column, ColumnAction::of(copied));
        for note in &copied.notes {
            self.note(&format!("left out of column chunks: {note}"));
        }
    }

    pub(crate) fn note(&mut self, note: &str) {
        match self.places.get(note) {
            Some(place) => self.notes[*place].1 += 1,
            None => {
                self.places.insert(note.to_owned(), self.notes.len());
                self.notes.push((note.to_owned(), 1));
            }
        }
    }

    /// Notes bloom filters of the inputs that the new file will lack.
    pub(crate) fn note_filters<'a>(
        &mut self,
        inputs: impl IntoIterator<Item = &'a Input>,
        dialect: Option<EncryptionDialect>,
    ) {
        let has_filters = |input: &Input| {
            let mut chunks = input.metadata.row_groups().flat_map(|group| group.columns());
            chunks.any(|chunk| chunk.is_ok_and(|chunk| chunk.bloom_filter_offset().is_some()))
        };
        if dialect == Some(EncryptionDialect::DuckDb) && inputs.into_iter().any(has_filters) {
            self.note("bloom filters are left out: DuckDB cannot read encrypted files that have some");
        }
    }

    /// The actions on columns, as text.
    pub(crate) fn actions(&self) -> Vec<String> {
        self.actions
            .iter()
            .map(|action| action.as_ref().map(ColumnAction::text).unwrap_or_default())
            .collect()
    }

    /// The notes.
    pub(crate) fn notes(&self) -> Vec<String> {
        let text = |(note, count): &(String, u64)| match count {
            1 => note.clone(),
            count => format!("{note} ({count} times)"),
        };
        self.notes.iter().map(text).collect()
    }

    /// The notes as JSON.
    pub(crate) fn json(&self) -> Value {
        json!(self.notes())
    }

    /// Prints the notes, one on each line.
    pub(crate) fn print(&self, output: &mut Output) -> Result<(), Failure> {
        for note in self.notes() {
            output.line(format!("note: {}", printable(&note)))?;
        }
        Ok(())
    }
}
