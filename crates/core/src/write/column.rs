//! One column of one row group: shredded rows in, a finished chunk out.
//!
//! ```text
//! sampling ──► interned ──► direct          Auto: from a sample, and again as the dictionary grows
//!          └─────────────► direct
//! ```

use super::choose::{self, Candidate, Choice, PLAIN};
use super::chunk_bytes::Spill;
use super::direct::{Column, Direct};
use super::file::EncodedChunk;
use super::interned::Interned;
use super::levels::{HeldLevels, Levels};
use super::pages::Pages;
use super::settings::{ColumnSettings, EncodingChoice};
use super::values_seen::ValuesSeen;
use super::workspace::Workspace;
use crate::logical::Logical;
use crate::nesting::{Present, Shredded};
use crate::schema::Leaf;
use marquetry_base::Result;
use marquetry_encoding::{Physical, Values, dictionary};
use std::sync::Arc;

/// Writes the chunk of one column.
pub struct ColumnWriter {
    leaf: Leaf,
    settings: ColumnSettings,
    pages: Pages,
    state: State,
    choice: Choice,
    seen: ValuesSeen,
}

enum State {
    /// Values are held until there are enough of them to choose.
    Sampling { values: Values, levels: HeldLevels },
    /// The dictionary; and when it will next be asked whether it pays.
    Interned { interned: Interned, next_look: usize },
    /// The encoding is settled. The dictionary is of the pages before, if there are any.
    Direct { direct: Direct, before: Option<Interned> },
}

impl ColumnWriter {
    /// An empty chunk.
    pub fn new(leaf: &Leaf, settings: &ColumnSettings) -> Result<Self> {
        let pages = Pages::new(leaf, settings);
        let shape = leaf.physical().shape();
        let interned = || State::Interned { interned: Interned::new(shape), next_look: FIRST_LOOK };
        let (state, reason) = match settings.encoding {
            EncodingChoice::Fixed(code) => {
                (State::Direct { direct: Direct::new(code, leaf, &pages)?, before: None }, "asked for")
            }
            EncodingChoice::DictionaryOr(_) if leaf.physical() != Physical::Boolean => {
                (interned(), "asked for")
            }
            EncodingChoice::DictionaryOr(code) => {
                (State::Direct { direct: Direct::new(code, leaf, &pages)?, before: None }, "asked for")
            }
            EncodingChoice::Auto { .. } => {
                (State::Sampling { values: shape.empty(), levels: HeldLevels::default() }, "")
            }
        };
        let choice = Choice { reason, candidates: Vec::new() };
        let seen = ValuesSeen::new(leaf, settings);
        Ok(ColumnWriter { leaf: leaf.clone(), settings: settings.clone(), pages, state, choice, seen })
    }

    /// The column.
    pub fn leaf(&self) -> &Leaf {
        &self.leaf
    }

    /// Appends rows.
    pub fn write(&mut self, rows: &Shredded, workspace: &mut Workspace) -> Result<()> {
        self.write_rows(rows, workspace).map_err(|error| error.in_column(self.leaf.dotted().clone()))
    }

    fn write_rows(&mut self, rows: &Shredded, workspace: &mut Workspace) -> Result<()> {
        let ColumnWriter { leaf, settings, pages, state, seen, .. } = self;
        let levels = Levels::of(rows, leaf);
        let entries = 0..rows.entries;
        match (state, &rows.values) {
            // Input that has a dictionary keeps it, unless it turns out not to pay.
            (State::Sampling { values, .. }, Present::Keys { .. })
                if values.is_empty() && may_have_dictionary(leaf, settings) =>
            {
                self.begin_dictionary()?;
                return self.write_rows(rows, workspace);
            }
            (State::Sampling { values, levels: held }, Present::Values(new)) => {
                values.push_range(new, 0..new.len());
                held.push(levels, entries);
            }
            (State::Sampling { values, levels: held }, Present::Keys { keys, dictionary }) => {
                dictionary::look_up(dictionary, keys, values)?;
                held.push(levels, entries);
            }
            (State::Interned { interned, .. }, Present::Values(new)) => {
                interned.write(levels, entries, new)?
            }
            (State::Interned { interned, .. }, Present::Keys { keys, dictionary }) => {
                interned.write_keys(levels, entries, keys, dictionary)?;
            }
            (State::Direct { direct, .. }, present) => {
                let mut column = Column { leaf, settings, pages, workspace };
                let looked_up;
                let values = match present {
                    Present::Values(values) => values,
                    Present::Keys { keys, dictionary } => {
                        let mut values = dictionary.shape().empty();
                        dictionary::look_up(dictionary, keys, &mut values)?;
                        looked_up = values;
                        &looked_up
                    }
                };
                seen.note(values);
                direct.write(levels, entries, values, &mut column)?;
            }
        }
        self.look(workspace)
    }

    /// Chooses, or chooses again, if it is time.
    fn look(&mut self, workspace: &mut Workspace) -> Result<()> {
        match &mut self.state {
            State::Sampling { values, levels }
                if values.len() >= FIRST_LOOK
                    || levels.entries >= LONGEST_SAMPLE
                    || held_bytes(values) >= MOST_HELD =>
            {
                self.choose(LATER * FIRST_LOOK, workspace)
            }
            State::Interned { interned, next_look } => {
                let is_full = interned.page_bytes() > self.settings.dictionary_page_bytes;
                let is_time = interned.len() >= *next_look && !interned.is_committed;
                match (is_full, is_time, self.settings.encoding) {
                    (true, _, EncodingChoice::DictionaryOr(code)) => {
                        self.leave_dictionary(code, true, workspace)
                    }
                    (true, _, _) => self.reconsider(0, true, workspace),
                    (false, true, EncodingChoice::Auto { .. }) => {
                        *next_look *= LATER;
                        let horizon = *next_look;
                        self.reconsider(horizon, false, workspace)
                    }
                    _ => Ok(()),
                }
            }
            _ => Ok(()),
        }
    }

    /// Ends sampling. `horizon` is how many values the chunk may well get.
    fn choose(&mut self, horizon: usize, workspace: &mut Workspace) -> Result<()> {
        let State::Sampling { values, .. } = &self.state else { return Ok(()) };
        if values.is_empty() {
            self.choice.reason = "no values";
            return self.begin_direct(PLAIN, workspace);
        }
        let sample = choose::sample_of(values);
        let tried = choose::try_all(&sample, self.leaf.physical(), &self.settings, workspace)?;
        self.choice = Choice { reason: "smallest of a sample", candidates: tried };
        let best = self.choice.candidates[0];
        if !may_have_dictionary(&self.leaf, &self.settings) {
            return self.begin_direct(best.code, workspace);
        }
        let mut interned = Interned::new(values.shape());
        let State::Sampling { values, levels } = &self.state else { return Ok(()) };
        interned.write(levels.levels(&self.leaf), 0..levels.entries, values)?;
        let (now, then) = estimates(&interned, horizon, &self.settings, workspace)?;
        self.choice.candidates.push(now);
        let pays = choose::is_better(&now, &best) || choose::is_better(&then, &best);
        match pays && interned.page_bytes() <= self.settings.dictionary_page_bytes {
            true => {
                self.state = State::Interned { interned, next_look: LATER * FIRST_LOOK };
                Ok(())
            }
            false => self.begin_direct(best.code, workspace),
        }
    }

    /// Whether the dictionary still pays. If it `is_full` it ends here in any case; what has it already may keep it.
    fn reconsider(&mut self, horizon: usize, is_full: bool, workspace: &mut Workspace) -> Result<()> {
        let State::Interned { interned, .. } = &mut self.state else { return Ok(()) };
        if interned.len() == 0 {
            let best = self.choice.candidates.first().map_or(PLAIN, |best| best.code);
            return if is_full { self.leave_dictionary(best, true, workspace) } else { Ok(()) };
        }
        let sample = interned.view().sample()?;
        let tried = choose::try_all(&sample, self.leaf.physical(), &self.settings, workspace)?;
        let best = tried[0];
        let (now, then) = estimates(interned, horizon, &self.settings, workspace)?;
        let pays_now = choose::is_better(&now, &best);
        self.choice = Choice { reason: "smallest of a sample", candidates: tried };
        self.choice.candidates.push(now);
        match (is_full, interned.is_committed) {
            (true, committed) => self.leave_dictionary(best.code, committed || pays_now, workspace),
            (false, true) => Ok(()),
            (false, false) if pays_now || choose::is_better(&then, &best) => Ok(()),
            (false, false) => self.leave_dictionary(best.code, false, workspace),
        }
    }

    fn begin_dictionary(&mut self) -> Result<()> {
        let State::Sampling { values, levels } = &mut self.state else { return Ok(()) };
        let mut interned = Interned::new(values.shape());
        interned.write(levels.levels(&self.leaf), 0..levels.entries, values)?;
        self.choice.reason = "the input has a dictionary";
        self.state = State::Interned { interned, next_look: FIRST_LOOK };
        Ok(())
    }

    /// Ends sampling with an encoding that is not a dictionary.
    fn begin_direct(&mut self, code: i32, workspace: &mut Workspace) -> Result<()> {
        let mut direct = Direct::new(code, &self.leaf, &self.pages)?;
        let ColumnWriter { leaf, settings, pages, state, seen, .. } = self;
        if let State::Sampling { values, levels } = state {
            let mut column = Column { leaf, settings, pages, workspace };
            seen.note(values);
            direct.write(levels.levels(leaf), 0..levels.entries, values, &mut column)?;
        }
        self.state = State::Direct { direct, before: None };
        Ok(())
    }

    /// Goes on without the dictionary. What is held becomes pages of indices if `keep`, else it is encoded anew.
    fn leave_dictionary(&mut self, code: i32, keep: bool, workspace: &mut Workspace) -> Result<()> {
        let mut direct = Direct::new(code, &self.leaf, &self.pages)?;
        let placeholder =
            State::Sampling { values: self.leaf.physical().shape().empty(), levels: HeldLevels::default() };
        let State::Interned { mut interned, .. } = std::mem::replace(&mut self.state, placeholder) else {
            return Ok(());
        };
        let ColumnWriter { leaf, settings, pages, seen, .. } = self;
        let mut column = Column { leaf, settings, pages, workspace };
        let before = if keep {
            interned.write_pages(&mut column)?;
            seen.note(interned.dictionary());
            Some(interned)
        } else {
            seen.note(interned.dictionary());
            interned.rewrite(&mut direct, &mut column)?;
            None
        };
        self.state = State::Direct { direct, before };
        Ok(())
    }

    /// About how many bytes the chunk will have, if it ends now.
    pub fn estimated_size(&self) -> u64 {
        let open = match &self.state {
            State::Sampling { values, levels } => held_bytes(values) + levels.size(),
            State::Interned { interned, .. } => interned.size(),
            State::Direct { direct, before } => {
                direct.size() + before.as_ref().map_or(0, Interned::page_bytes)
            }
        };
        self.pages.len() + open as u64
    }

    /// How many bytes it has in memory.
    pub fn memory_size(&self) -> usize {
        let open = match &self.state {
            State::Sampling { values, levels } => held_bytes(values) + levels.memory(),
            State::Interned { interned, .. } => interned.memory(),
            State::Direct { direct, before } => direct.size() + before.as_ref().map_or(0, Interned::memory),
        };
        self.pages.held() + open + self.seen.memory()
    }

    /// Makes room: all that can be written as pages is, and the pages go to the temporary file.
    pub fn spill_to(&mut self, spill: &Arc<Spill>, workspace: &mut Workspace) -> Result<()> {
        if matches!(self.state, State::Sampling { .. }) {
            self.choose(LATER * FIRST_LOOK, workspace)?;
        }
        let ColumnWriter { leaf, settings, pages, state, .. } = self;
        let mut column = Column { leaf, settings, pages, workspace };
        if let State::Interned { interned, .. } = state {
            interned.write_pages(&mut column)?;
        }
        self.pages.spill_to(spill)
    }

    /// The finished chunk, and how its encoding was chosen.
    pub fn close(self, workspace: &mut Workspace) -> Result<(EncodedChunk, Choice)> {
        let column = self.leaf.dotted().clone();
        self.finish(workspace).map_err(|error| error.in_column(column))
    }

    fn finish(mut self, workspace: &mut Workspace) -> Result<(EncodedChunk, Choice)> {
        if matches!(self.state, State::Sampling { .. }) {
            self.choose(0, workspace)?;
        }
        if let (State::Interned { interned, .. }, EncodingChoice::Auto { .. }) =
            (&self.state, self.settings.encoding)
        {
            if !interned.is_committed {
                self.reconsider(0, false, workspace)?;
            }
        }
        let ColumnWriter { leaf, settings, mut pages, state, choice, mut seen } = self;
        let mut column = Column { leaf: &leaf, settings: &settings, pages: &mut pages, workspace };
        let mut distinct = None;
        match state {
            State::Sampling { .. } => {}
            State::Interned { mut interned, .. } => {
                interned.write_pages(&mut column)?;
                seen.note(interned.dictionary());
                let dictionary = interned.finish(&mut column)?;
                // Floats that differ in their bits may be equal.
                let is_number = !matches!(leaf.physical(), Physical::Float | Physical::Double)
                    && leaf.logical() != Some(&Logical::Float16);
                distinct = is_number.then(|| dictionary.values().len() as u64);
            }
            State::Direct { mut direct, before } => {
                direct.end_page(&mut column)?;
                if let Some(interned) = before {
                    interned.finish(&mut column)?;
                }
            }
        }
        let (bloom_filter, geospatial_statistics) = seen.finish();
        let finished = pages.finish(&leaf, &settings, distinct);
        let mut metadata = finished.metadata;
        metadata.geospatial_statistics = geospatial_statistics;
        let chunk = EncodedChunk {
            bytes: finished.bytes,
            metadata,
            column_index: finished.column_index,
            offset_index: finished.offset_index,
            bloom_filter,
        };
        Ok((chunk, choice))
    }
}

impl std::fmt::Debug for ColumnWriter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ColumnWriter").field("column", self.leaf.dotted()).finish_non_exhaustive()
    }
}

/// What the dictionary makes of the values so far, and what it would make of `horizon` of them.
fn estimates(
    interned: &Interned,
    horizon: usize,
    settings: &ColumnSettings,
    workspace: &mut Workspace,
) -> Result<(Candidate, Candidate)> {
    let view = interned.view();
    let now = view.estimate(0, settings, workspace)?;
    let then = if horizon > 0 { view.estimate(horizon, settings, workspace)? } else { now };
    Ok((now, then))
}

fn may_have_dictionary(leaf: &Leaf, settings: &ColumnSettings) -> bool {
    leaf.physical() != Physical::Boolean && settings.encoding == EncodingChoice::Auto { dictionary: true }
}

fn held_bytes(values: &Values) -> usize {
    values.data_bytes(0..values.len())
}

/// Values until the first choice.
const FIRST_LOOK: usize = 16 << 10;
/// How many times the values of one look there are at the next.
const LATER: usize = 8;
/// Entries until the first choice where most of them are nulls.
const LONGEST_SAMPLE: usize = 1 << 20;
/// Bytes until the first choice where values are large.
const MOST_HELD: usize = 4 << 20;
