//! One column of one row group: shredded rows in, a finished chunk out.
//!
//! ```text
//! sampling ──► interned ──► direct          Auto: from a sample, and again as the dictionary grows
//!          └─────────────► direct
//! ```

use super::choose::{self, Choice, FIRST_LOOK, LATER, Measured, PLAIN, RLE_DICTIONARY};
use super::chunk_bytes::Spill;
use super::direct::{Column, Direct};
use super::file::EncodedChunk;
use super::interned::Interned;
use super::levels::{HeldLevels, Levels};
use super::pages::Pages;
use super::settings::{ColumnSettings, EncodingChoice};
use super::values_seen::ValuesSeen;
use super::workspace::Workspace;
use crate::logical_type::LogicalType;
use crate::nesting::{ColumnValues, ShreddedColumn};
use crate::schema::Leaf;
use marquetry_base::{Error, Result};
use marquetry_encoding::{PhysicalType, Shape, Values, dictionary};
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
    Sampling { held: Held },
    /// The dictionary; when it will next be asked whether it pays; what was found when it was asked last.
    Interned { interned: Interned, next_look: usize, measured: Option<Measured> },
    /// The encoding is settled. The dictionary is of the pages before, if there are any.
    Direct { direct: Direct, before: Option<Interned> },
}

/// Values and levels as they came.
struct Held {
    values: Values,
    levels: HeldLevels,
    /// Bytes of the values.
    bytes: usize,
}

impl Held {
    fn new(shape: Shape) -> Self {
        Held { values: shape.empty(), levels: HeldLevels::default(), bytes: 0 }
    }

    fn push(&mut self, levels: Levels<'_>, entries: usize, present: &ColumnValues) -> Result<()> {
        let before = self.values.len();
        match present {
            ColumnValues::Values(new) => self.values.push_range(new, 0..new.len())?,
            ColumnValues::Keys { keys, dictionary } => {
                dictionary::look_up(dictionary, keys, &mut self.values)?
            }
        }
        self.bytes += self.values.data_bytes(before..self.values.len());
        self.levels.push(levels, 0..entries);
        Ok(())
    }

    fn memory(&self) -> usize {
        let views = if self.values.shape() == Shape::Bytes { 16 * self.values.len() } else { 0 };
        self.bytes + views + self.levels.memory()
    }
}

impl ColumnWriter {
    /// An empty chunk.
    pub fn new(leaf: &Leaf, settings: &ColumnSettings) -> Result<Self> {
        let pages = Pages::new(leaf, settings);
        let shape = leaf.physical().shape();
        let is_boolean = leaf.physical() == PhysicalType::Boolean;
        let interned =
            || State::Interned { interned: Interned::new(shape), next_look: FIRST_LOOK, measured: None };
        let direct = |code| Direct::new(code, leaf, &pages);
        let (state, reason) = match settings.encoding {
            EncodingChoice::FixedLenBytes(RLE_DICTIONARY) if !is_boolean => (interned(), "asked for"),
            EncodingChoice::DictionaryOr(code) if !is_boolean => {
                // If it is not legal, this is known now and not when the dictionary is full.
                direct(code)?;
                (interned(), "asked for")
            }
            EncodingChoice::FixedLenBytes(code) | EncodingChoice::DictionaryOr(code) => {
                (State::Direct { direct: direct(code)?, before: None }, "asked for")
            }
            EncodingChoice::Auto { .. } => (State::Sampling { held: Held::new(shape) }, ""),
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
    pub fn write(&mut self, rows: &ShreddedColumn, workspace: &mut Workspace) -> Result<()> {
        self.write_rows(rows, workspace).map_err(|error| error.in_column(self.leaf.dotted().clone()))
    }

    fn write_rows(&mut self, rows: &ShreddedColumn, workspace: &mut Workspace) -> Result<()> {
        let ColumnWriter { leaf, settings, pages, state, seen, .. } = self;
        let shape = match &rows.values {
            ColumnValues::Values(values) => values.shape(),
            ColumnValues::Keys { dictionary, .. } => dictionary.shape(),
        };
        if shape != leaf.physical().shape() {
            return Err(Error::argument(format!("{shape:?} values for a column of {}", leaf.physical())));
        }
        let levels = Levels::of(rows, leaf)?;
        match (state, &rows.values) {
            // Input that has a dictionary keeps it, unless it turns out not to pay.
            (State::Sampling { held }, ColumnValues::Keys { .. })
                if held.values.is_empty() && may_have_dictionary(leaf, settings) =>
            {
                self.begin_dictionary(workspace)?;
                return self.write_rows(rows, workspace);
            }
            (State::Sampling { held }, present) => held.push(levels, rows.entries, present)?,
            (State::Interned { interned, .. }, present) => {
                interned.write(levels, 0..rows.entries, present, &workspace.spares)?
            }
            (State::Direct { direct, .. }, present) => {
                let mut column = Column { leaf, settings, pages, workspace };
                let looked_up;
                let values = match present {
                    ColumnValues::Values(values) => values,
                    ColumnValues::Keys { keys, dictionary } => {
                        let mut values = dictionary.shape().empty();
                        dictionary::look_up(dictionary, keys, &mut values)?;
                        looked_up = values;
                        &looked_up
                    }
                };
                seen.note(values);
                direct.write(levels, 0..rows.entries, values, &mut column)?;
            }
        }
        self.look(workspace)
    }

    /// Chooses, or chooses again, if it is time.
    fn look(&mut self, workspace: &mut Workspace) -> Result<()> {
        match &mut self.state {
            State::Sampling { held } => {
                let is_enough = held.values.len() >= FIRST_LOOK
                    || held.levels.entries >= LONGEST_SAMPLE
                    || held.bytes >= MOST_HELD;
                if is_enough { self.choose(true, workspace) } else { Ok(()) }
            }
            State::Interned { interned, next_look, measured } => {
                let is_full = interned.page_bytes() > self.settings.dictionary_page_bytes;
                let is_time = interned.len() >= *next_look;
                match (is_full, is_time, self.settings.encoding) {
                    (true, _, EncodingChoice::DictionaryOr(code)) => {
                        self.leave_dictionary(code, true, workspace)
                    }
                    (_, true, EncodingChoice::FixedLenBytes(_) | EncodingChoice::DictionaryOr(_)) => {
                        *next_look *= LATER;
                        *measured = Some(interned.view().measure(false, &self.settings, workspace)?);
                        Ok(())
                    }
                    (true, _, EncodingChoice::Auto { .. }) => self.reconsider(When::Full, workspace),
                    (false, true, EncodingChoice::Auto { .. }) if !interned.is_committed => {
                        *next_look *= LATER;
                        self.reconsider(When::Growing, workspace)
                    }
                    _ => Ok(()),
                }
            }
            State::Direct { .. } => Ok(()),
        }
    }

    /// Ends sampling. Whether the chunk will get more values decides if a dictionary may hope for better times.
    fn choose(&mut self, is_growing: bool, workspace: &mut Workspace) -> Result<()> {
        let State::Sampling { held } = &self.state else { return Ok(()) };
        if held.values.is_empty() {
            self.choice.reason = "no values";
            return self.begin_direct(PLAIN, workspace);
        }
        let ColumnWriter { leaf, settings, .. } = self;
        let sample = choose::sample_of(&held.values, leaf.physical())?;
        let tried = choose::try_all(&sample, leaf.physical(), settings, workspace)?;
        let best = tried[0];
        self.choice = Choice { reason: SMALLEST, candidates: tried };
        if !may_have_dictionary(leaf, settings) {
            return self.begin_direct(best.code, workspace);
        }
        let mut interned = Interned::new(held.values.shape());
        interned.write_values(
            held.levels.levels(leaf),
            0..held.levels.entries,
            &held.values,
            &workspace.spares,
        )?;
        let measured = interned.view().measure(is_growing, settings, workspace)?;
        let now = measured.now();
        self.choice.candidates.push(now);
        let pays = match is_growing {
            true => measured.may_beat(&best, settings),
            false => choose::is_better(&now, &best),
        };
        if !pays || interned.page_bytes() > settings.dictionary_page_bytes {
            interned.leave(&workspace.spares);
            return self.begin_direct(best.code, workspace);
        }
        let next_look = LATER * FIRST_LOOK;
        self.state = State::Interned { interned, next_look, measured: Some(measured) };
        Ok(())
    }

    /// Whether the dictionary still pays.
    fn reconsider(&mut self, when: When, workspace: &mut Workspace) -> Result<()> {
        let State::Interned { interned, measured, .. } = &mut self.state else { return Ok(()) };
        if interned.len() == 0 {
            // All values have their pages. If there will be more, they are as those before were.
            let best = self.choice.candidates.iter().find(|tried| tried.code != RLE_DICTIONARY);
            let code = best.map_or(PLAIN, |best| best.code);
            return match when {
                When::Full => self.leave_dictionary(code, true, workspace),
                When::Growing | When::Complete => Ok(()),
            };
        }
        if let (When::Complete, Some(measured), Some(best)) =
            (when, &measured, self.choice.candidates.first())
            && measured.is_about(interned.dictionary().len())
            && choose::is_better(&measured.now(), best)
        {
            return Ok(());
        }
        let is_growing = when == When::Growing;
        let sample = interned.view().sample(self.leaf.physical())?;
        let tried = choose::try_all(&sample, self.leaf.physical(), &self.settings, workspace)?;
        let best = tried[0];
        let found = *measured.insert(interned.view().measure(is_growing, &self.settings, workspace)?);
        let now = found.now();
        let committed = interned.is_committed;
        self.choice = Choice { reason: SMALLEST, candidates: tried };
        self.choice.candidates.push(now);
        match when {
            When::Full => {
                // QUIRK: fastparquet reads nulls from pages that follow, in another encoding, those of a dictionary. So all
                // pages of the chunk are alike, unless some have left for the temporary file.
                if committed {
                    self.choice.reason = "the dictionary was full";
                }
                self.leave_dictionary(best.code, committed, workspace)
            }
            When::Growing if found.may_beat(&best, &self.settings) => Ok(()),
            When::Complete if choose::is_better(&now, &best) => Ok(()),
            When::Growing | When::Complete => self.leave_dictionary(best.code, false, workspace),
        }
    }

    fn begin_dictionary(&mut self, workspace: &Workspace) -> Result<()> {
        let State::Sampling { held } = &self.state else { return Ok(()) };
        let mut interned = Interned::new(held.values.shape());
        interned.write_values(
            held.levels.levels(&self.leaf),
            0..held.levels.entries,
            &held.values,
            &workspace.spares,
        )?;
        self.choice.reason = "the input has a dictionary";
        self.state = State::Interned { interned, next_look: FIRST_LOOK, measured: None };
        Ok(())
    }

    /// Ends sampling with an encoding that is not a dictionary.
    fn begin_direct(&mut self, code: i32, workspace: &mut Workspace) -> Result<()> {
        let mut direct = Direct::new(code, &self.leaf, &self.pages)?;
        let ColumnWriter { leaf, settings, pages, state, seen, .. } = self;
        if let State::Sampling { held } = state {
            let mut column = Column { leaf, settings, pages, workspace };
            seen.note(&held.values);
            direct.write(held.levels.levels(leaf), 0..held.levels.entries, &held.values, &mut column)?;
        }
        self.state = State::Direct { direct, before: None };
        Ok(())
    }

    /// Goes on without the dictionary. What is held becomes pages of indices if `keep`, else it is encoded anew.
    fn leave_dictionary(&mut self, code: i32, keep: bool, workspace: &mut Workspace) -> Result<()> {
        let mut direct = Direct::new(code, &self.leaf, &self.pages)?;
        let placeholder = State::Sampling { held: Held::new(self.leaf.physical().shape()) };
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
            State::Sampling { held } => held.bytes + held.levels.size(),
            State::Interned { interned, measured, .. } => {
                let page_bytes = interned.page_bytes();
                let values = match measured {
                    Some(measured) => measured.size(interned.len(), page_bytes) as usize,
                    None => page_bytes + interned.index_bytes(),
                };
                values + interned.level_bytes()
            }
            State::Direct { direct, before } => {
                let page = direct.size() as f64 * self.pages.ratio();
                page as usize + before.as_ref().map_or(0, Interned::page_bytes)
            }
        };
        self.pages.len() + open as u64
    }

    /// How many bytes it has in memory.
    pub fn memory_size(&self) -> usize {
        let open = match &self.state {
            State::Sampling { held } => held.memory(),
            State::Interned { interned, .. } => interned.memory(),
            State::Direct { direct, before } => direct.memory() + before.as_ref().map_or(0, Interned::memory),
        };
        self.pages.held() + open + self.seen.memory()
    }

    /// Makes room: all that can be written as pages is, and the pages go to the temporary file.
    pub fn spill_to(&mut self, spill: &Arc<Spill>, workspace: &mut Workspace) -> Result<()> {
        self.make_room(spill, workspace).map_err(|error| error.in_column(self.leaf.dotted().clone()))
    }

    fn make_room(&mut self, spill: &Arc<Spill>, workspace: &mut Workspace) -> Result<()> {
        if matches!(self.state, State::Sampling { .. }) {
            self.choose(true, workspace)?;
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
            self.choose(false, workspace)?;
        } else if let State::Interned { interned, .. } = &self.state
            && !interned.is_committed
        {
            let is_empty = interned.dictionary().is_empty();
            match self.settings.encoding {
                EncodingChoice::Auto { .. } if is_empty => self.leave_dictionary(PLAIN, false, workspace)?,
                EncodingChoice::Auto { .. } => self.reconsider(When::Complete, workspace)?,
                EncodingChoice::DictionaryOr(code) if is_empty => {
                    self.leave_dictionary(code, false, workspace)?
                }
                EncodingChoice::DictionaryOr(_) | EncodingChoice::FixedLenBytes(_) => {}
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
                distinct = is_equal_by_bits(&leaf).then(|| dictionary.values().len() as u64);
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

/// When a dictionary is reconsidered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum When {
    /// More values will come.
    Growing,
    /// It ends here in any case.
    Full,
    /// All values are there.
    Complete,
}

/// Whether values that differ in their bits are different. Not so floats, whose zeros are equal, and integers of which
/// leading bytes may be left out.
fn is_equal_by_bits(leaf: &Leaf) -> bool {
    !matches!(
        (leaf.physical(), leaf.logical()),
        (PhysicalType::Float | PhysicalType::Double | PhysicalType::Int96, _)
            | (_, Some(LogicalType::Float16))
            | (PhysicalType::ByteArray, Some(LogicalType::Decimal { .. }))
    )
}

fn may_have_dictionary(leaf: &Leaf, settings: &ColumnSettings) -> bool {
    leaf.physical() != PhysicalType::Boolean && settings.encoding == EncodingChoice::Auto { dictionary: true }
}

const SMALLEST: &str = "smallest of a sample";
/// Entries until the first choice where most of them are nulls.
const LONGEST_SAMPLE: usize = 1 << 20;
/// Bytes until the first choice where values are large.
const MOST_HELD: usize = 4 << 20;
