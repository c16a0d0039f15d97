//! One column of one row group: shredded rows in, a finished chunk out.
//!
//! ```text
//! sampling ──► dictionary ──► encoding          Auto: from a sample, and again as the dictionary grows
//!          └───────────────► encoding
//! ```

use super::chunk_bytes::ChunkBytes;
use super::dictionary_writer::DictionaryWriter;
use super::encoded_chunk::EncodedChunk;
use super::encoding_selection::{self, DictionaryEstimate, EncodingDecision, FIRST_LOOK, LATER};
use super::levels::Levels;
use super::pages::Pages;
use super::sample_buffer::SampleBuffer;
use super::settings::{ColumnSettings, EncodingPolicy};
use super::spill::Spill;
use super::value_observers::ValueObservers;
use super::value_writer::{ValueWriter, WriteContext};
use super::workspace::Workspace;
use crate::logical_type::LogicalType;
use crate::nesting::{ColumnValues, ShreddedColumn};
use crate::schema::Leaf;
use marquetry_base::{Error, Result, Stopwatch};
use marquetry_encoding::code::{PLAIN, RLE_DICTIONARY};
use marquetry_encoding::{PhysicalType, dictionary};
use std::sync::Arc;

/// A writer of one column chunk.
#[must_use = "the chunk is there once the writer is closed"]
pub struct ColumnWriter {
    leaf: Leaf,
    settings: ColumnSettings,
    pages: Pages,
    state: State,
    choice: EncodingDecision,
    seen: ValueObservers,
}

enum State {
    /// Values are buffered until there are enough of them to choose an encoding.
    Sampling { held: SampleBuffer },
    /// The dictionary, the number of values at which it is reconsidered, and the last estimate of its size.
    Dictionary {
        dictionary_writer: Box<DictionaryWriter>,
        next_look: usize,
        measured: Option<DictionaryEstimate>,
    },
    /// The encoding is settled. If earlier pages use a dictionary, its page is written.
    Encoding { value_writer: ValueWriter },
}

impl ColumnWriter {
    /// Creates a writer for an empty chunk.
    pub fn new(leaf: &Leaf, settings: &ColumnSettings) -> Result<Self> {
        let pages = Pages::new(leaf, settings);
        let shape = leaf.physical().shape();
        let is_boolean = leaf.physical() == PhysicalType::Boolean;
        let dictionary_writer = || {
            let dictionary_writer = Box::new(DictionaryWriter::new(shape, settings)?);
            Ok::<_, Error>(State::Dictionary { dictionary_writer, next_look: FIRST_LOOK, measured: None })
        };
        let value_writer = |code| ValueWriter::new(code, leaf, &pages, settings);
        let (state, reason) = match settings.encoding {
            EncodingPolicy::Only(RLE_DICTIONARY) if !is_boolean => (dictionary_writer()?, "asked for"),
            EncodingPolicy::DictionaryOr(code) if !is_boolean => {
                // An illegal encoding is an error now, not only when the dictionary is full.
                value_writer(code)?;
                (dictionary_writer()?, "asked for")
            }
            EncodingPolicy::Only(code) | EncodingPolicy::DictionaryOr(code) => {
                (State::Encoding { value_writer: value_writer(code)? }, "asked for")
            }
            EncodingPolicy::Auto { .. } => (State::Sampling { held: SampleBuffer::new(shape) }, ""),
        };
        let choice = EncodingDecision { reason, candidates: Vec::new() };
        let seen = ValueObservers::new(leaf, settings);
        Ok(ColumnWriter { leaf: leaf.clone(), settings: settings.clone(), pages, state, choice, seen })
    }

    /// Returns the column.
    pub fn leaf(&self) -> &Leaf {
        &self.leaf
    }

    /// Appends rows.
    pub fn write(&mut self, rows: &ShreddedColumn, workspace: &mut Workspace) -> Result<()> {
        self.write_rows(rows, workspace).map_err(|error| error.in_column(self.leaf.dotted().clone()))
    }

    fn write_rows(&mut self, rows: &ShreddedColumn, workspace: &mut Workspace) -> Result<()> {
        self.settings.cancel.check()?;
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
            // Input with a dictionary keeps it, unless that turns out not to pay.
            (State::Sampling { held }, ColumnValues::Keys { dictionary, .. })
                if held.values.is_empty()
                    && may_have_dictionary(leaf, settings)
                    && !are_long(dictionary.data_bytes(0..dictionary.len()), dictionary.len(), settings) =>
            {
                self.begin_dictionary(workspace)?;
                return self.write_rows(rows, workspace);
            }
            (State::Sampling { held }, present) => held.push(levels, rows.entries, present)?,
            (State::Dictionary { dictionary_writer, .. }, present) => {
                if let (ColumnValues::Keys { dictionary, .. }, true) = (present, settings.whole_dictionaries)
                {
                    dictionary_writer.begin_with(dictionary)?;
                }
                dictionary_writer.write(levels, 0..rows.entries, present, &mut workspace.indices)?
            }
            (State::Encoding { value_writer }, present) => {
                let mut column = WriteContext { leaf, settings, pages, workspace };
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
                value_writer.write(levels, 0..rows.entries, values, &mut column)?;
            }
        }
        self.choose_if_due(workspace)
    }

    /// Chooses an encoding, or reconsiders the choice, if it is time.
    fn choose_if_due(&mut self, workspace: &mut Workspace) -> Result<()> {
        match &mut self.state {
            State::Sampling { held } => {
                let is_enough = held.values.len() >= FIRST_LOOK
                    || held.levels.entries >= LONGEST_SAMPLE
                    || held.bytes >= MOST_HELD;
                if is_enough { self.choose(true, workspace) } else { Ok(()) }
            }
            State::Dictionary { dictionary_writer, next_look, measured } => {
                let is_full = dictionary_writer.page_bytes() > self.settings.dictionary_page_bytes;
                let is_time = dictionary_writer.len() >= *next_look;
                match (is_full, is_time, self.settings.encoding) {
                    (true, _, EncodingPolicy::DictionaryOr(code)) => {
                        self.leave_dictionary(code, true, workspace)
                    }
                    (_, true, EncodingPolicy::Only(_) | EncodingPolicy::DictionaryOr(_)) => {
                        *next_look *= LATER;
                        *measured =
                            Some(dictionary_writer.view().measure(false, &self.settings, workspace)?);
                        Ok(())
                    }
                    (true, _, EncodingPolicy::Auto { .. }) => self.reconsider(Trigger::Full, workspace),
                    (false, true, EncodingPolicy::Auto { .. }) if !dictionary_writer.is_committed => {
                        *next_look *= LATER;
                        self.reconsider(Trigger::Growing, workspace)
                    }
                    _ => Ok(()),
                }
            }
            State::Encoding { .. } => Ok(()),
        }
    }

    /// Ends sampling. If the chunk is growing, a dictionary that does not pay yet may be tried.
    fn choose(&mut self, is_growing: bool, workspace: &mut Workspace) -> Result<()> {
        let State::Sampling { held } = &self.state else { return Ok(()) };
        if held.values.is_empty() {
            self.choice.reason = "no values";
            return self.begin_encoding(PLAIN, workspace);
        }
        let ColumnWriter { leaf, settings, .. } = self;
        if are_long(held.bytes, held.values.len(), settings) {
            self.choice.reason = LONG;
            return self.begin_encoding(PLAIN, workspace);
        }
        let sample = encoding_selection::sample_of(&held.values, leaf.physical())?;
        let tried = encoding_selection::measure_candidates(&sample, leaf.physical(), settings, workspace)?;
        let best = tried[0];
        self.choice = EncodingDecision { reason: SMALLEST, candidates: tried };
        if !may_have_dictionary(leaf, settings) {
            return self.begin_encoding(best.code, workspace);
        }
        let mut dictionary_writer = Box::new(DictionaryWriter::new(held.values.shape(), settings)?);
        dictionary_writer.write_values(
            held.levels.levels(leaf),
            0..held.levels.entries,
            &held.values,
            &mut workspace.indices,
        )?;
        let measured = dictionary_writer.view().measure(is_growing, settings, workspace)?;
        let now = measured.now();
        self.choice.candidates.push(now);
        let pays = match is_growing {
            true => measured.may_beat(&best, settings),
            false => encoding_selection::is_better(&now, &best),
        };
        if !pays || dictionary_writer.page_bytes() > settings.dictionary_page_bytes {
            return self.begin_encoding(best.code, workspace);
        }
        let next_look = LATER * FIRST_LOOK;
        self.state = State::Dictionary { dictionary_writer, next_look, measured: Some(measured) };
        Ok(())
    }

    /// Reconsiders whether the dictionary still pays.
    fn reconsider(&mut self, when: Trigger, workspace: &mut Workspace) -> Result<()> {
        let State::Dictionary { dictionary_writer, measured, .. } = &mut self.state else { return Ok(()) };
        if dictionary_writer.len() == 0 {
            // All values are in pages. Further values are probably like those before.
            let best = self.choice.candidates.iter().find(|tried| tried.code != RLE_DICTIONARY);
            let code = best.map_or(PLAIN, |best| best.code);
            return match when {
                Trigger::Full => self.leave_dictionary(code, true, workspace),
                Trigger::Growing | Trigger::Complete => Ok(()),
            };
        }
        if let (Trigger::Complete, Some(measured), Some(best)) =
            (when, &measured, self.choice.candidates.first())
            && measured.is_about(dictionary_writer.dictionary().len())
            && encoding_selection::is_better(&measured.now(), best)
        {
            return Ok(());
        }
        let is_growing = when == Trigger::Growing;
        if are_long(dictionary_writer.page_bytes(), dictionary_writer.dictionary().len(), &self.settings) {
            let committed = dictionary_writer.is_committed;
            self.choice = EncodingDecision { reason: LONG, candidates: Vec::new() };
            return self.leave_dictionary(PLAIN, committed, workspace);
        }
        let sample = dictionary_writer.view().sample(self.leaf.physical())?;
        let tried =
            encoding_selection::measure_candidates(&sample, self.leaf.physical(), &self.settings, workspace)?;
        let best = tried[0];
        let found =
            *measured.insert(dictionary_writer.view().measure(is_growing, &self.settings, workspace)?);
        let now = found.now();
        let committed = dictionary_writer.is_committed;
        self.choice = EncodingDecision { reason: SMALLEST, candidates: tried };
        self.choice.candidates.push(now);
        match when {
            Trigger::Full => {
                // QUIRK: fastparquet reads nulls from pages in another encoding that follow pages with a dictionary. So
                // all pages of the chunk get the same encoding, unless some were spilled.
                if committed {
                    self.choice.reason = "the dictionary was full";
                }
                self.leave_dictionary(best.code, committed, workspace)
            }
            Trigger::Growing if found.may_beat(&best, &self.settings) => Ok(()),
            Trigger::Complete if encoding_selection::is_better(&now, &best) => Ok(()),
            Trigger::Growing | Trigger::Complete => self.leave_dictionary(best.code, false, workspace),
        }
    }

    fn begin_dictionary(&mut self, workspace: &mut Workspace) -> Result<()> {
        let State::Sampling { held } = &self.state else { return Ok(()) };
        let mut dictionary_writer = Box::new(DictionaryWriter::new(held.values.shape(), &self.settings)?);
        dictionary_writer.write_values(
            held.levels.levels(&self.leaf),
            0..held.levels.entries,
            &held.values,
            &mut workspace.indices,
        )?;
        self.choice.reason = "the input has a dictionary";
        self.state = State::Dictionary { dictionary_writer, next_look: FIRST_LOOK, measured: None };
        Ok(())
    }

    /// Ends sampling with an encoding other than a dictionary.
    fn begin_encoding(&mut self, code: i32, workspace: &mut Workspace) -> Result<()> {
        let mut value_writer = ValueWriter::new(code, &self.leaf, &self.pages, &self.settings)?;
        let ColumnWriter { leaf, settings, pages, state, seen, .. } = self;
        if let State::Sampling { held } = state {
            let mut column = WriteContext { leaf, settings, pages, workspace };
            seen.note(&held.values);
            value_writer.write(
                held.levels.levels(leaf),
                0..held.levels.entries,
                &held.values,
                &mut column,
            )?;
        }
        self.state = State::Encoding { value_writer };
        Ok(())
    }

    /// Continues without the dictionary. Buffered values become pages of indices if `keep` is true, else they are
    /// encoded anew.
    fn leave_dictionary(&mut self, code: i32, keep: bool, workspace: &mut Workspace) -> Result<()> {
        let mut value_writer = ValueWriter::new(code, &self.leaf, &self.pages, &self.settings)?;
        let placeholder = State::Sampling { held: SampleBuffer::new(self.leaf.physical().shape()) };
        let State::Dictionary { mut dictionary_writer, .. } = std::mem::replace(&mut self.state, placeholder)
        else {
            return Ok(());
        };
        if !dictionary_writer.dictionary().is_empty() {
            workspace.counters.dictionary_given_up();
        }
        let ColumnWriter { leaf, settings, pages, seen, .. } = self;
        let mut column = WriteContext { leaf, settings, pages, workspace };
        seen.note(dictionary_writer.dictionary());
        if keep {
            // No more values come into the dictionary: its page can be written, and its memory freed.
            dictionary_writer.write_pages(&mut column)?;
            dictionary_writer.finish(&mut column)?;
        } else {
            dictionary_writer.rewrite(&mut value_writer, &mut column)?;
        }
        self.state = State::Encoding { value_writer };
        Ok(())
    }

    /// Returns about how many bytes the chunk would have if it ended now.
    pub fn estimated_size(&self) -> u64 {
        let open = match &self.state {
            State::Sampling { held } => held.bytes + held.levels.size(),
            State::Dictionary { dictionary_writer, measured, .. } => {
                let page_bytes = dictionary_writer.page_bytes();
                let values = match measured {
                    Some(measured) => measured.size(dictionary_writer.len(), page_bytes) as usize,
                    None => page_bytes + dictionary_writer.index_bytes(),
                };
                values + dictionary_writer.level_bytes()
            }
            State::Encoding { value_writer } => {
                let page = value_writer.size() as f64 * self.pages.ratio();
                page as usize + self.pages.dictionary_len()
            }
        };
        self.pages.len() + open as u64
    }

    /// Returns how many bytes of memory the chunk takes.
    pub fn memory_size(&self) -> usize {
        let open = match &self.state {
            State::Sampling { held } => held.memory(),
            State::Dictionary { dictionary_writer, .. } => dictionary_writer.memory(),
            State::Encoding { value_writer } => value_writer.memory(),
        };
        self.pages.held() + open + self.seen.memory()
    }

    /// Frees memory: writes all values that can be written as pages, and spills the pages.
    pub fn spill_to(&mut self, spill: &Arc<Spill>, workspace: &mut Workspace) -> Result<()> {
        self.make_room(spill, workspace).map_err(|error| error.in_column(self.leaf.dotted().clone()))
    }

    fn make_room(&mut self, spill: &Arc<Spill>, workspace: &mut Workspace) -> Result<()> {
        if matches!(self.state, State::Sampling { .. }) {
            self.choose(true, workspace)?;
        }
        let ColumnWriter { leaf, settings, pages, state, .. } = self;
        let mut column = WriteContext { leaf, settings, pages, workspace };
        if let State::Dictionary { dictionary_writer, .. } = state {
            dictionary_writer.write_pages(&mut column)?;
        }
        let (start, held) = (Stopwatch::start(), self.pages.held());
        self.pages.spill_to(spill)?;
        workspace.counters.spilled(held, start);
        Ok(())
    }

    /// Takes the finished pages away, for [`FileWriter::append_part`](super::FileWriter::append_part): the rest of the
    /// [chunk](Self::close) comes behind them. Returns no bytes while a dictionary grows or may still begin, because it
    /// is first in the chunk, but finished last.
    pub fn take_pages(&mut self) -> ChunkBytes {
        match &self.state {
            State::Encoding { .. } => self.pages.take_pages(),
            _ => ChunkBytes::new(),
        }
    }

    /// Returns the finished chunk, and how its encoding was chosen.
    pub fn close(self, workspace: &mut Workspace) -> Result<(EncodedChunk, EncodingDecision)> {
        let column = self.leaf.dotted().clone();
        self.finish(workspace).map_err(|error| error.in_column(column))
    }

    fn finish(mut self, workspace: &mut Workspace) -> Result<(EncodedChunk, EncodingDecision)> {
        if matches!(self.state, State::Sampling { .. }) {
            self.choose(false, workspace)?;
        } else if let State::Dictionary { dictionary_writer, .. } = &self.state
            && !dictionary_writer.is_committed
        {
            let is_empty = dictionary_writer.dictionary().is_empty();
            match self.settings.encoding {
                EncodingPolicy::Auto { .. } if is_empty => self.leave_dictionary(PLAIN, false, workspace)?,
                EncodingPolicy::Auto { .. } => self.reconsider(Trigger::Complete, workspace)?,
                EncodingPolicy::DictionaryOr(code) if is_empty => {
                    self.leave_dictionary(code, false, workspace)?
                }
                EncodingPolicy::DictionaryOr(_) | EncodingPolicy::Only(_) => {}
            }
        }
        let ColumnWriter { leaf, settings, mut pages, state, choice, mut seen } = self;
        let mut column = WriteContext { leaf: &leaf, settings: &settings, pages: &mut pages, workspace };
        let mut distinct = None;
        match state {
            State::Sampling { .. } => {}
            State::Dictionary { mut dictionary_writer, .. } => {
                dictionary_writer.write_pages(&mut column)?;
                seen.note(dictionary_writer.dictionary());
                let dictionary = dictionary_writer.finish(&mut column)?;
                let counts = settings.distinct_counts && !settings.whole_dictionaries;
                let is_known = counts && is_equal_by_bits(&leaf);
                distinct = is_known.then(|| dictionary.values().len() as u64);
            }
            State::Encoding { mut value_writer } => value_writer.end_page(&mut column)?,
        }
        let (bloom_filter, geospatial_statistics) = seen.finish();
        let finished = pages.finish(&leaf, &settings, distinct);
        let mut metadata = finished.metadata;
        metadata.geospatial_statistics = geospatial_statistics;
        let chunk = EncodedChunk {
            bytes: finished.bytes,
            taken: finished.taken,
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
enum Trigger {
    /// More values will come.
    Growing,
    /// The dictionary is full, and ends in any case.
    Full,
    /// The chunk has all its values.
    Complete,
}

/// Whether values with different bits are different. Not so for floats, whose zeros are equal, and for integers whose
/// leading bytes may be omitted.
fn is_equal_by_bits(leaf: &Leaf) -> bool {
    !matches!(
        (leaf.physical(), leaf.logical()),
        (PhysicalType::Float | PhysicalType::Double | PhysicalType::Int96, _)
            | (_, Some(LogicalType::Float16))
            | (PhysicalType::ByteArray, Some(LogicalType::Decimal { .. }))
    )
}

fn may_have_dictionary(leaf: &Leaf, settings: &ColumnSettings) -> bool {
    leaf.physical() != PhysicalType::Boolean && settings.encoding == EncodingPolicy::Auto { dictionary: true }
}

/// Whether values, with this many bytes together, are so long that one of them fills a dictionary. No encodings are
/// tried on them then, because a sample would be large.
fn are_long(bytes: usize, values: usize, settings: &ColumnSettings) -> bool {
    bytes / values.max(1) > settings.dictionary_page_bytes.max(MOST_HELD)
}

const LONG: &str = "values are long";
const SMALLEST: &str = "smallest of a sample";
/// Number of entries at which the first choice is made even if most of them are nulls.
const LONGEST_SAMPLE: usize = 1 << 20;
/// Bytes of values at which the first choice is made even if they are few.
const MOST_HELD: usize = 4 << 20;
