//! The candidates for a chunk that begins with a given page: types, levels, rows, values.

use crate::found_page::{FoundPage, PageEvidence};
use crate::infer_type::{ChunkKind, Guess, infer_chunk_kind};
use crate::open_page::{count_rows, fitting_codecs, likeliest_codec};
use crate::search_budget::SearchBudget;
use crate::validate_chunk::extent_of_values;
use crate::window::Window;
use marquetry_codec::{Codec, Decompressor};
use marquetry_core::schema::Leaf;
use std::collections::HashMap;
use std::ops::Range;
use std::rc::Rc;

/// The possible types and levels of chunks, inferred from their pages.
pub(crate) struct ChunkKinds<'a> {
    window: &'a mut Window,
    pages: &'a [FoundPage],
    pub(crate) budget: &'a mut SearchBudget,
    /// The likeliest codec of all chunks.
    codec: Option<Codec>,
    /// Kinds by data page and dictionary page.
    kinds: HashMap<(usize, Option<usize>), Rc<ChunkKind>>,
    /// Numbers of rows of pages, by page and maximum levels.
    rows: HashMap<(usize, u8, u8), Option<u64>>,
}

impl<'a> ChunkKinds<'a> {
    pub(crate) fn new(window: &'a mut Window, pages: &'a [FoundPage], budget: &'a mut SearchBudget) -> Self {
        let codec = likeliest_codec(window, pages);
        ChunkKinds { window, pages, budget, codec, kinds: HashMap::new(), rows: HashMap::new() }
    }

    /// Returns the possible kinds of the chunk that begins with page `start`. If the page at its beginning is damaged,
    /// anything is possible.
    pub(crate) fn kind(&mut self, start: usize) -> Rc<ChunkKind> {
        match self.pages.get(start) {
            Some(page) if page.is_dictionary() => self.kind_by(start + 1, Some(start)),
            _ => self.kind_by(start, None),
        }
    }

    /// Returns the possible kinds of a data page.
    fn kind_by(&mut self, at: usize, dictionary: Option<usize>) -> Rc<ChunkKind> {
        if let Some(known) = self.kinds.get(&(at, dictionary)) {
            return known.clone();
        }
        let data =
            self.pages.get(at).filter(|page| !page.is_dictionary() && page.evidence != PageEvidence::Damaged);
        let dictionary_page = dictionary.map(|at| &self.pages[at]);
        let data = data.filter(|_| dictionary_page.is_none_or(|page| page.evidence != PageEvidence::Damaged));
        let found = Rc::new(match data {
            Some(data) => infer_chunk_kind(self.window, dictionary_page, data, self.codec, self.budget),
            None => ChunkKind::default(),
        });
        self.kinds.insert((at, dictionary), found.clone());
        found
    }

    /// Whether chunks that begin with these pages may have values and levels of one kind.
    pub(crate) fn are_alike(&mut self, a: usize, b: usize) -> bool {
        are_alike(&self.kind(a).guesses, &self.kind(b).guesses)
    }

    /// Whether a page may belong to the chunk that begins with page `start`.
    pub(crate) fn fits_chunk(&mut self, at: usize, start: usize) -> bool {
        let page = &self.pages[at];
        if page.is_keys() || page.evidence == PageEvidence::Damaged {
            return true;
        }
        are_alike(&self.kind_by(at, None).guesses, &self.kind(start).guesses)
    }

    /// Whether the page that shows the kind of a chunk is damaged: its dictionary page, or its first data page.
    pub(crate) fn begins_damaged(&self, start: usize) -> bool {
        let is_damaged =
            |at: usize| self.pages.get(at).is_some_and(|page| page.evidence == PageEvidence::Damaged);
        is_damaged(start) || self.pages[start].is_dictionary() && is_damaged(start + 1)
    }

    /// Returns how many rows begin in a page of the chunk that begins with page `start`.
    pub(crate) fn rows_of(&mut self, at: usize, start: usize) -> Option<u64> {
        let page = &self.pages[at];
        if page.is_dictionary() {
            return Some(0);
        }
        if let Some(v2) = &page.header.data_page_header_v2 {
            return u64::try_from(v2.num_rows).ok();
        }
        let kind = self.kind(start);
        if kind.guesses.first().is_none_or(|guess| guess.max_rep == 0) {
            return Some(page.values());
        }
        kind.guesses
            .iter()
            .filter(|guess| guess.max_rep > 0)
            .find_map(|guess| self.count_rows(at, guess.levels()))
    }

    fn count_rows(&mut self, at: usize, levels: (u8, u8)) -> Option<u64> {
        if let Some(known) = self.rows.get(&(at, levels.0, levels.1)) {
            return *known;
        }
        let page = &self.pages[at];
        let mut count = || {
            if page.evidence == PageEvidence::Damaged
                || !self.budget.spend(page.uncompressed() + page.values() / 64)
            {
                return None;
            }
            let mut decompressor = Decompressor::new();
            let codecs = fitting_codecs(self.window, page, self.codec, &mut decompressor).ok()?;
            codecs
                .into_iter()
                .find_map(|codec| count_rows(self.window, page, codec, levels, &mut decompressor).ok())
        };
        let counted = count();
        self.rows.insert((at, levels.0, levels.1), counted);
        counted
    }

    /// Returns the least and the greatest value of a chunk of `rows` rows, or `None` if they cannot be determined.
    pub(crate) fn extent(&mut self, chunk: &Range<usize>, leaf: &Leaf, rows: u64) -> Option<[Vec<u8>; 2]> {
        let pages = &self.pages[chunk.clone()];
        let cost: u64 = pages.iter().map(|page| page.uncompressed() / 4).sum();
        if !self.budget.spend(cost) {
            return None;
        }
        extent_of_values(self.window, pages, leaf, rows, self.codec).ok()?
    }
}

/// Whether pages may belong to one column, by the guesses for each. If there is no guess for one, they may.
fn are_alike(a: &[Guess], b: &[Guess]) -> bool {
    let fit = |a: &Guess, b: &Guess| {
        (a.max_rep > 0) == (b.max_rep > 0)
            && (a.max_def > 0) == (b.max_def > 0)
            && (a.is_blank || b.is_blank || a.physical.shape() == b.physical.shape())
    };
    a.is_empty() || b.is_empty() || a.iter().any(|a| b.iter().any(|b| fit(a, b)))
}
