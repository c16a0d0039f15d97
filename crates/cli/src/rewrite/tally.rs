//! What was done to each column, and what was left behind.

use crate::failure::Failure;
use crate::output::Output;
use crate::printable::printable;
use marquetry_core::write::copy::CopiedChunk;
use serde_json::{Value, json};

/// What was done to a chunk.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Deed {
    /// Its bytes are those of the input.
    Copied,
    /// Its pages have new headers.
    Sealed,
    /// Its pages are compressed anew.
    Recompressed,
    /// Its values were decoded and encoded, for this reason.
    Recoded(String),
}

impl Deed {
    pub(crate) fn of(copied: &CopiedChunk) -> Self {
        match (copied.pages_recompressed, copied.pages_sealed) {
            (0, 0) => Deed::Copied,
            (0, _) => Deed::Sealed,
            _ => Deed::Recompressed,
        }
    }

    fn text(&self) -> String {
        match self {
            Deed::Copied => "copied".to_owned(),
            Deed::Sealed => "copied, checksums added".to_owned(),
            Deed::Recompressed => "compressed again".to_owned(),
            Deed::Recoded(reason) => format!("encoded again: {reason}"),
        }
    }
}

/// What was done, and what should be known of it.
pub(crate) struct Tally {
    /// For each column of the new file the deed that changes most.
    deeds: Vec<Option<Deed>>,
    /// Each note once, with the places that it is about.
    notes: Vec<(String, u64)>,
}

impl Tally {
    pub(crate) fn new(columns: usize) -> Self {
        Tally { deeds: vec![None; columns], notes: Vec::new() }
    }

    /// Adds what was done to a chunk of a column.
    pub(crate) fn deed(&mut self, column: usize, deed: Deed) {
        if let Some(most) = self.deeds.get_mut(column) {
            *most = most.take().max(Some(deed));
        }
    }

    /// Adds what happened to a copied chunk.
    pub(crate) fn copied(&mut self, column: usize, copied: &CopiedChunk) {
        self.deed(column, Deed::of(copied));
        for note in &copied.notes {
            self.note(&format!("left out of column chunks: {note}"));
        }
    }

    pub(crate) fn note(&mut self, note: &str) {
        match self.notes.iter_mut().find(|(known, _)| known == note) {
            Some((_, count)) => *count += 1,
            None => self.notes.push((note.to_owned(), 1)),
        }
    }

    /// What was done to each column, in words.
    pub(crate) fn deeds(&self) -> Vec<String> {
        self.deeds.iter().map(|deed| deed.as_ref().map(Deed::text).unwrap_or_default()).collect()
    }

    /// The notes.
    pub(crate) fn notes(&self) -> Vec<String> {
        let text = |(note, count): &(String, u64)| match count {
            1 => note.clone(),
            count => format!("{note} ({count} times)"),
        };
        self.notes.iter().map(text).collect()
    }

    /// The notes as a member of an object.
    pub(crate) fn json(&self) -> Value {
        json!(self.notes())
    }

    /// Writes the notes, one a line.
    pub(crate) fn print(&self, output: &mut Output) -> Result<(), Failure> {
        for note in self.notes() {
            output.line(format!("note: {}", printable(&note)))?;
        }
        Ok(())
    }
}
