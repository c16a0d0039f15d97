//! Recovering: a whole file out of what is left of one.
//!
//! ```text
//! parts      one file, or several behind each other
//!   footer     the last one that is found, wherever it is: its row groups are read to the last value
//!   scan       pages in what no footer tells of, or tells wrongly
//!   schema     of a footer, of the caller, or guessed from pages
//!   group      pages become chunks, chunks row groups
//! write      pages are copied as they are; their indexes are made again
//! ```
//!
//! A row group is kept if all its chunks are whole: all pages there, checksums right, every value decodable, as many rows
//! as in the other chunks. Nothing is invented: what was found without a footer has no statistics. Pages without
//! checksums can be damaged in ways that nobody sees; the report tells which row groups have such.

mod cut_off;
mod gap;
mod group;
mod guess;
mod infer;
mod null;
mod only;
mod open;
mod part;
mod report;
mod scan;
mod side_by_side;
mod whole;

pub use report::{Confidence, Decision, KeptRowGroup, Loss, Report, SchemaOrigin};

use crate::checkpoint::{CheckpointFound, Evidence, find_last_footer};
use crate::io::read_metadata;
use crate::metadata::ParquetMetaData;
use crate::page::ChecksumTrust;
use crate::schema::{Repetition, Schema};
use crate::source::Source;
use crate::write::copy::{CopySettings, copy_chunk, forget_bounds};
use crate::write::{FileSettings, FileWriter};
use group::{Found, Grouper};
use marquetry_base::{Error, ErrorKind, Limits, Result};
use marquetry_format as format;
use part::{Part, Window};
use scan::Work;
use side_by_side::{side_by_side, threads_for};
use std::io::Write;
use std::ops::Range;
use std::sync::Arc;

/// How a file is recovered.
#[derive(Debug, Clone, Default)]
pub struct RecoverOptions {
    /// The schema to take where no footer has one.
    pub schema: Option<GivenSchema>,
    /// Whether row groups of which some columns are lost are kept, if those can be null.
    pub partial: bool,
    /// How many threads look at chunks; 0 for one for each processor.
    pub threads: usize,
    /// What reading may cost.
    pub limits: Arc<Limits>,
}

/// A schema that the caller knows.
#[derive(Debug, Clone)]
pub struct GivenSchema {
    /// The schema as a footer has it, its root first.
    pub elements: Vec<format::SchemaElement>,
    /// Where it is from.
    pub origin: SchemaOrigin,
    /// The writer, whose habits decide what is believed.
    pub created_by: Option<String>,
    /// Metadata that belongs to the schema.
    pub key_values: Vec<format::KeyValue>,
}

/// What is left of a file.
pub struct Recovery {
    schema: Vec<format::SchemaElement>,
    column_orders: Option<Vec<format::ColumnOrder>>,
    key_values: Vec<format::KeyValue>,
    groups: Vec<Group>,
    report: Report,
    limits: Arc<Limits>,
}

/// A row group that is kept.
struct Group {
    source: Arc<dyn Source>,
    metadata: Arc<ParquetMetaData>,
    index: usize,
    /// Of each column: whether it is lost.
    is_lost: Vec<bool>,
}

/// Finds what is left of a file.
///
/// Fails if the file is encrypted, cannot be read, or if nothing in it is Parquet. That nothing can be kept is no error:
/// see [`Report::row_groups`].
pub fn recover(source: Arc<dyn Source>, options: &RecoverOptions) -> Result<Recovery> {
    refuse_encrypted(&*source)?;
    let mut window = Window::new(source.clone(), options.limits.clone());
    let borders = part::borders(&mut window)?;
    let len = source.len();
    let mut whole = Search::new(source.clone(), 0, options);
    if borders.is_empty() {
        whole.run(None)?;
        return whole.finish(options, len);
    }
    // A value may have a file in it: a file that is whole is not taken apart if it has all borders in its chunks.
    if whole.run_footer()? && whole.report.losses.is_empty() && borders.iter().all(|at| whole.keeps(*at)) {
        return whole.finish(options, len);
    }
    let mut start = 0;
    let mut parts: Vec<Search> = Vec::new();
    for end in borders.into_iter().chain([len]) {
        let part: Arc<dyn Source> = Arc::new(Part::new(source.clone(), start..end));
        if end < len && read_metadata(&*part, &options.limits).is_err() {
            continue;
        }
        let mut search = Search::new(part, start, options);
        search.run(parts.first().and_then(|first| first.schema.clone()))?;
        parts.push(search);
        start = end;
    }
    let count = parts.len();
    let mut parts = parts.into_iter();
    let Some(mut all) = parts.next() else { return whole.finish(options, len) };
    if count > 1 {
        let what = format!("{count} files, one behind the other");
        all.report.decide(what, "each ends in a footer, and the next one begins behind it", Confidence::High);
    }
    parts.for_each(|part| all.join(part));
    all.finish(options, len)
}

impl Recovery {
    /// What was found, kept and lost.
    pub fn report(&self) -> &Report {
        &self.report
    }

    /// The schema as the footer of the new file has it; empty if there is none.
    pub fn schema(&self) -> &[format::SchemaElement] {
        &self.schema
    }

    /// Writes the new file and gives the sink back. `created_by` is the name of who writes it.
    ///
    /// Fails if there is no schema, if the broken file cannot be read again, or if the sink fails.
    pub fn write<W: Write>(&self, sink: W, created_by: Option<String>) -> Result<W> {
        if self.schema.is_empty() {
            return Err(Error::argument("nothing was found that could be written"));
        }
        let settings = FileSettings {
            created_by,
            column_orders: self.column_orders.clone(),
            key_values: self.key_values.clone(),
            ..FileSettings::default()
        };
        let mut writer = FileWriter::new(sink, self.schema.clone(), settings)?;
        let copy = CopySettings {
            checksums: true,
            offset_index: true,
            verify_checksums: true,
            limits: self.limits.clone(),
            ..CopySettings::default()
        };
        for group in &self.groups {
            let (metadata, row_group) = (&group.metadata, group.metadata.row_group(group.index));
            let has_order = metadata.column_orders() == self.column_orders.as_deref();
            let mut chunks = Vec::new();
            for (column, is_lost) in group.is_lost.iter().enumerate() {
                let leaf = metadata.schema().column(column);
                if *is_lost {
                    chunks.push(null::chunk(leaf, row_group.num_rows())?);
                    continue;
                }
                let mut chunk = copy_chunk(&group.source, metadata, group.index, column, &copy)?.chunk;
                if !has_order {
                    forget_bounds(&mut chunk);
                }
                chunks.push(chunk);
            }
            let is_whole = !group.is_lost.contains(&true);
            let sorting = is_whole.then(|| row_group.sorting_columns().to_vec());
            writer.write_row_group(row_group.num_rows(), chunks, sorting)?;
        }
        Ok(writer.finish()?.0)
    }
}

/// The search in a file, or in one of several behind each other.
struct Search<'a> {
    window: Window,
    /// Where the part begins.
    base: u64,
    options: &'a RecoverOptions,
    work: Work,
    schema: Option<Vec<format::SchemaElement>>,
    created_by: Option<String>,
    column_orders: Option<Vec<format::ColumnOrder>>,
    key_values: Vec<format::KeyValue>,
    groups: Vec<Group>,
    report: Report,
    /// Where pages are to be searched for.
    unknown: Vec<Range<u64>>,
}

impl<'a> Search<'a> {
    fn new(source: Arc<dyn Source>, base: u64, options: &'a RecoverOptions) -> Self {
        let len = source.len();
        Search {
            window: Window::new(source, options.limits.clone()),
            base,
            options,
            work: Work::new(len),
            schema: None,
            created_by: None,
            column_orders: None,
            key_values: Vec::new(),
            groups: Vec::new(),
            report: Report::default(),
            unknown: std::iter::once(FIRST_PAGE.min(len)..len).collect(),
        }
    }

    /// Whether a byte is in a row group that is kept.
    fn keeps(&self, at: u64) -> bool {
        self.report.row_groups.iter().any(|group| group.bytes.contains(&at))
    }

    /// Footer first, then what it does not tell of. `known` is the schema of a part before this.
    fn run(&mut self, known: Option<Vec<format::SchemaElement>>) -> Result<()> {
        self.run_footer()?;
        if self.schema.is_none() {
            self.schema = known.inspect(|_| self.report.schema = Some(SchemaOrigin::Footer));
        }
        let first = self.report.row_groups.len();
        for range in std::mem::take(&mut self.unknown) {
            self.search(range)?;
        }
        // What is elsewhere than the footer says is not lost.
        for group in &self.report.row_groups[first..] {
            let found = |loss: &Loss| loss.why == NOT_THERE && loss.rows == Some(group.rows);
            if let Some(at) = self.report.losses.iter().position(found) {
                self.report.losses.remove(at);
            }
        }
        Ok(())
    }

    /// Takes the row groups of the last footer that is found. Whether there is one.
    fn run_footer(&mut self) -> Result<bool> {
        let found = match find_last_footer(&*self.window.source, &self.options.limits) {
            Ok(found) => found,
            Err(error) if error.kind() == ErrorKind::Limit => {
                self.report.decide("no footer is taken", error.message().to_owned(), Confidence::Low);
                None
            }
            Err(error) => return Err(error),
        };
        let Some(CheckpointFound { metadata, footer, end, evidence }) = found else { return Ok(false) };
        let head = metadata.head();
        let (why, confidence) = match evidence {
            Evidence::End => ("it is at the end", Confidence::Exact),
            Evidence::Checkpoint => {
                ("a checkpoint of the writer, and its checksum is right", Confidence::Exact)
            }
            Evidence::Append => ("it ended the file before it grew", Confidence::Exact),
            Evidence::Plausible => ("what it says fits the pages before it", Confidence::High),
        };
        self.report.decide(format!("the footer at byte {}", footer.start + self.base), why, confidence);
        self.report.schema = Some(SchemaOrigin::Footer);
        self.schema = Some(head.schema.clone());
        self.created_by = head.created_by.clone();
        self.column_orders = head.column_orders.clone();
        self.key_values = metadata.key_value_metadata().to_vec();
        self.unknown = self.check_groups(&Arc::new(metadata), footer.start)?;
        if end < self.window.source.len() {
            self.unknown.push(end..self.window.source.len());
        }
        Ok(true)
    }

    /// Checks the row groups of a footer; returns where those are that are not there as it says.
    fn check_groups(&mut self, metadata: &Arc<ParquetMetaData>, footer: u64) -> Result<Vec<Range<u64>>> {
        let trust = ChecksumTrust::of_writer(metadata.created_by());
        let (mut unknown, mut at) = (Vec::new(), FIRST_PAGE);
        let mut is_lost_before = false;
        for group in metadata.row_groups() {
            let bytes = extent(metadata, group.index());
            let stored = bytes.as_ref().map_or(0, |bytes| bytes.end - bytes.start);
            let threads = threads_for(stored, self.options.threads);
            // A chunk that is not whole is no failure here: all of them are looked at.
            let checked = side_by_side(metadata.schema().num_columns(), threads, |column| {
                let checked = group.column(column).and_then(|chunk| {
                    whole::check(&self.window.source, chunk, group.num_rows(), trust, &self.options.limits)
                        .map_err(|error| error.in_column(chunk.leaf().dotted().clone()))
                });
                match checked {
                    Err(error) if matches!(error.kind(), ErrorKind::Io | ErrorKind::Key) => Err(error),
                    checked => Ok(checked.err()),
                }
            });
            let errors = checked.into_iter().collect::<Result<Vec<_>>>()?;
            let is_anywhere = errors.is_empty() || errors.iter().any(Option::is_none);
            let Some(bytes) = bytes.filter(|_| is_anywhere) else {
                is_lost_before = true;
                self.report.lose(self.base + at..self.base + at, Some(group.num_rows()), NOT_THERE);
                continue;
            };
            if std::mem::take(&mut is_lost_before) && at < bytes.start {
                unknown.push(at..bytes.start);
            }
            at = at.max(bytes.end);
            let why = "a row group of the footer, all values decoded";
            self.keep(metadata, group.index(), bytes, errors, why, Confidence::Exact);
        }
        if is_lost_before && at < footer {
            unknown.push(at..footer);
        }
        Ok(unknown)
    }

    /// Keeps a row group, without the columns that have errors, if that can be.
    fn keep(
        &mut self,
        metadata: &Arc<ParquetMetaData>,
        index: usize,
        bytes: Range<u64>,
        errors: Vec<Option<Error>>,
        why: impl Into<String>,
        confidence: Confidence,
    ) {
        let bytes = bytes.start + self.base..bytes.end + self.base;
        let rows = metadata.row_group(index).num_rows();
        let Some(error) = errors.iter().flatten().next() else {
            let kept = KeptRowGroup { bytes, rows, nulls: Vec::new(), why: why.into(), confidence };
            let is_lost = vec![false; errors.len()];
            return self.push(metadata, index, is_lost, kept);
        };
        let error = error.to_string();
        let lost: Vec<bool> = errors.iter().map(Option::is_some).collect();
        match self.options.partial.then(|| nulls(metadata.schema(), &lost)) {
            Some(Ok(is_lost)) => {
                let columns = metadata.schema().columns().iter().zip(&is_lost);
                let nulls =
                    columns.filter(|(_, lost)| **lost).map(|(leaf, _)| leaf.dotted().to_string()).collect();
                let why = format!("{}; {error}", why.into());
                let kept = KeptRowGroup { bytes, rows, nulls, why, confidence };
                self.push(metadata, index, is_lost, kept);
            }
            Some(Err(why)) => self.report.lose(bytes, Some(rows), format!("{why}: {error}")),
            None => self.report.lose(bytes, Some(rows), error),
        }
    }

    fn push(
        &mut self,
        metadata: &Arc<ParquetMetaData>,
        index: usize,
        is_lost: Vec<bool>,
        kept: KeptRowGroup,
    ) {
        let (source, metadata) = (self.window.source.clone(), metadata.clone());
        self.groups.push(Group { source, metadata, index, is_lost });
        self.report.row_groups.push(kept);
    }

    /// Searches for row groups where no footer tells of any.
    fn search(&mut self, mut range: Range<u64>) -> Result<()> {
        while let Some(len) =
            gap::known(&mut self.window, range.start).filter(|len| *len < range.end - range.start)
        {
            range.start += len;
        }
        let created_by = self.created_by().map(str::to_owned);
        let is_trusted = ChecksumTrust::of_writer(created_by.as_deref()) == ChecksumTrust::Believed;
        let pages = scan::scan(&mut self.window, range.clone(), is_trusted, &mut self.work)?;
        self.report.pages_found += pages.len();
        let Some(first) = pages.first() else {
            self.lose_rest(range, std::iter::empty());
            return Ok(());
        };
        let is_anchored = first.offset == range.start;
        let Some(elements) = self.known_schema(&pages, is_anchored) else {
            let end = pages.last().map_or(range.end, |page| page.end);
            self.report.lose(first.offset + self.base..end + self.base, None, NO_SCHEMA);
            self.lose_rest(range, std::iter::once(first.offset..end));
            return Ok(());
        };
        let schema = Arc::new(Schema::from_thrift(&elements, &self.options.limits)?);
        let mut grouper =
            Grouper::new(&mut self.window, &pages, &schema, created_by, self.options, &mut self.work);
        let (found, left) = grouper.run(is_anchored)?;
        let explained = found.iter().map(|found| &found.bytes).chain(left.iter().map(|left| &left.bytes));
        let explained: Vec<_> = explained.cloned().collect();
        for left in left {
            let why = format!("{} {}", left.pages, left.why);
            self.report.lose(left.bytes.start + self.base..left.bytes.end + self.base, None, why);
        }
        self.lose_rest(range, explained);
        self.keep_found(elements, found)
    }

    /// Reports the bytes of a range that are neither `explained` nor anything that stands between row groups.
    fn lose_rest(&mut self, range: Range<u64>, explained: impl IntoIterator<Item = Range<u64>>) {
        let mut explained: Vec<_> = explained.into_iter().collect();
        explained.sort_by_key(|bytes| bytes.start);
        let mut at = range.start;
        for next in explained.into_iter().chain(std::iter::once(range.end..range.end)) {
            while let Some(len) =
                gap::known(&mut self.window, at).filter(|len| *len <= next.start.saturating_sub(at))
            {
                at += len;
            }
            let is_footer =
                next.start == self.window.source.len() && gap::begins_footer(&mut self.window, at);
            if at < next.start && !is_footer {
                self.report.lose(at + self.base..next.start + self.base, None, NO_PAGES);
            }
            at = at.max(next.end);
        }
    }

    fn created_by(&self) -> Option<&str> {
        let given = self.options.schema.as_ref().and_then(|given| given.created_by.as_deref());
        self.created_by.as_deref().or(given)
    }

    /// The schema of a footer, of the caller, or a guess.
    fn known_schema(
        &mut self,
        pages: &[scan::Page],
        is_anchored: bool,
    ) -> Option<Vec<format::SchemaElement>> {
        if self.schema.is_none() {
            let (elements, origin) = match &self.options.schema {
                Some(given) => {
                    let what = format!("the schema of {} columns", num_leaves(&given.elements));
                    self.report.decide(what, "it was given: no footer is found", Confidence::High);
                    self.key_values = given.key_values.clone();
                    (given.elements.clone(), given.origin)
                }
                None => {
                    let inferred =
                        infer::infer(&mut self.window, pages, is_anchored, &mut self.work, &mut self.report)?;
                    (inferred, SchemaOrigin::Inferred)
                }
            };
            self.report.schema = Some(origin);
            self.schema = Some(elements);
        }
        self.schema.clone()
    }

    fn keep_found(&mut self, schema: Vec<format::SchemaElement>, found: Vec<Found>) -> Result<()> {
        let (mut row_groups, mut known) = (Vec::new(), Vec::new());
        for Found { rows, chunks, bytes, is_proven, is_chosen, is_anchored, pages } in found {
            let (mut columns, mut errors) = (Vec::new(), Vec::new());
            for chunk in chunks {
                let (meta_data, error) = match chunk {
                    Ok(meta) => (Some(meta), None),
                    Err(error) => (None, Some(error)),
                };
                columns.push(format::ColumnChunk { meta_data, ..format::ColumnChunk::default() });
                errors.push(error);
            }
            let num_rows = i64::try_from(rows).unwrap_or(i64::MAX);
            row_groups.push(format::RowGroup { num_rows, columns, ..format::RowGroup::default() });
            let confidence = match (is_proven, is_chosen || !is_anchored) {
                (true, false) => Confidence::High,
                (false, false) | (true, true) => Confidence::Medium,
                (false, true) => Confidence::Low,
            };
            let checksums = if is_proven { "with right checksums" } else { "not all with checksums" };
            let chosen = if is_chosen { ", ends of chunks chosen among several" } else { "" };
            let why =
                format!("{pages} pages that follow each other, {checksums}, all values decoded{chosen}");
            known.push((bytes, errors, why, confidence));
        }
        let created_by = self.created_by().map(str::to_owned);
        let thrift =
            format::FileMetaData { schema, row_groups, created_by, ..format::FileMetaData::default() };
        let metadata = Arc::new(ParquetMetaData::from_thrift(thrift, &self.options.limits)?);
        for (index, (bytes, errors, why, confidence)) in known.into_iter().enumerate() {
            self.keep(&metadata, index, bytes, errors, why, confidence);
        }
        Ok(())
    }

    /// Takes what was found in the part behind this one.
    fn join(&mut self, part: Search<'_>) {
        let Report { decisions, row_groups, losses, pages_found, .. } = part.report;
        self.report.decisions.extend(decisions);
        self.report.losses.extend(losses);
        self.report.pages_found += pages_found;
        if self.schema.is_none() {
            (self.schema, self.report.schema) = (part.schema, part.report.schema);
            (self.column_orders, self.key_values) = (part.column_orders, part.key_values);
        } else if part.schema.is_some() && part.schema != self.schema {
            for KeptRowGroup { bytes, rows, .. } in row_groups {
                self.report.lose(bytes, Some(rows), "the schema is another than that of the file before");
            }
            return;
        }
        self.groups.extend(part.groups);
        self.report.row_groups.extend(row_groups);
    }

    fn finish(self, options: &RecoverOptions, len: u64) -> Result<Recovery> {
        let Search { mut window, schema, column_orders, key_values, groups, mut report, .. } = self;
        if schema.is_none() && report.pages_found == 0 {
            return Err(match looks_encrypted(&mut window) {
                true => Error::encrypted(
                    "there are no pages, but what looks like encrypted ones: nothing can be recovered",
                ),
                false => Error::corrupt("neither a footer nor pages are found"),
            });
        }
        // Those behind a part that was searched again.
        let mut order: Vec<usize> = (0..groups.len()).collect();
        order.sort_by_key(|i| report.row_groups[*i].bytes.start);
        let mut groups: Vec<Option<Group>> = groups.into_iter().map(Some).collect();
        let kept = order.iter().map(|i| report.row_groups[*i].clone()).collect();
        report.row_groups = kept;
        report.losses.sort_by_key(|loss| loss.bytes.start);
        report.bytes = len;
        Ok(Recovery {
            schema: schema.unwrap_or_default(),
            column_orders,
            key_values,
            groups: order.into_iter().filter_map(|i| groups[i].take()).collect(),
            report,
            limits: options.limits.clone(),
        })
    }
}

/// Where the chunks of a row group are, from the first byte to the last.
fn extent(metadata: &ParquetMetaData, index: usize) -> Option<Range<u64>> {
    let ranges = metadata
        .row_group(index)
        .columns()
        .filter_map(|chunk| chunk.and_then(|chunk| chunk.byte_range()).ok());
    ranges.reduce(|all, range| all.start.min(range.start)..all.end.max(range.end))
}

/// Which columns become null if some are lost: all of the same field of the root, so that they agree. `Err`: why not.
fn nulls(schema: &Schema, lost: &[bool]) -> Result<Vec<bool>, &'static str> {
    let mut out = lost.to_vec();
    for (root, field) in schema.fields().iter().enumerate() {
        let leaves =
            || schema.columns().iter().enumerate().filter(|(_, leaf)| leaf.root() == root).map(|(i, _)| i);
        if !leaves().any(|leaf| lost.get(leaf) == Some(&true)) {
            continue;
        }
        if field.repetition() == Repetition::Required {
            return Err("a column is lost that cannot be null");
        }
        leaves().for_each(|leaf| out[leaf] = true);
    }
    match out.contains(&false) {
        true => Ok(out),
        false => Err("all columns are lost"),
    }
}

/// How many columns a schema has.
fn num_leaves(elements: &[format::SchemaElement]) -> usize {
    elements.iter().filter(|element| element.num_children.is_none_or(|children| children == 0)).count()
}

/// SPEC: Encryption.md: files with an encrypted footer begin and end with PARE.
fn refuse_encrypted(source: &dyn Source) -> Result<()> {
    let len = source.len();
    for at in [0, len.saturating_sub(4)] {
        if len >= 4 && *source.read_at(at, 4)? == format::PARE {
            return Err(Error::encrypted(
                "the file is encrypted (PARE), and no key was given: nothing can be recovered",
            )
            .at(at));
        }
    }
    Ok(())
}

/// Whether the file begins as encrypted modules do: a length, 12 bytes of nonce, as many bytes, and so on.
fn looks_encrypted(window: &mut Window) -> bool {
    let mut at = FIRST_PAGE;
    for _ in 0..4 {
        let Ok(bytes) = window.at(at, 4) else { return false };
        let Some(len) = bytes.first_chunk().map(|len| u64::from(u32::from_le_bytes(*len))) else {
            return false;
        };
        at += 4 + len;
        if !(28..1 << 31).contains(&len) || at > window.source.len() {
            return false;
        }
    }
    true
}

/// Behind the opening magic.
const FIRST_PAGE: u64 = 4;
const NO_SCHEMA: &str =
    "pages whose columns cannot be told apart: give the schema, or another file that has it";
const NO_PAGES: &str = "bytes in which no page is found";
const NOT_THERE: &str = "a row group of the footer that is not where the footer says";
