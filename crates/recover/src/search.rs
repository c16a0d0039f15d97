//! Searches a file, or one of several concatenated files, for row groups.

use crate::check_row_group::{check_row_group, checksums, trusted_so_far};
use crate::chunk_overlap::overlaps;
use crate::damaged_footer::{DamagedFooter, Places, damaged_footer, extent};
use crate::encryption::looks_encrypted;
use crate::filler;
use crate::find_pages::find_pages;
use crate::found_page::FoundPage;
use crate::group_layout::{OrphanPages, RebuiltGroup};
use crate::hold_against::{check_chunk, check_found_chunk};
use crate::infer_schema::infer_schema;
use crate::kept_groups::{KeptGroups, RowGroupOrigin};
use crate::key_values;
use crate::options::RecoverOptions;
use crate::page_set::PageSet;
use crate::parallel::Workers;
use crate::recovery::{KeptGroup, RecoveredBefore, Recovery};
use crate::report::{Confidence, KeptRowGroup, Report, SchemaOrigin};
use crate::row_groups::RowGroupBuilder;
use crate::search_budget::SearchBudget;
use crate::sound_schema::{Doubt, other_than_given, sound_schema};
use crate::summary::other_file;
use crate::window::{FIRST_PAGE, Window};
use marquetry_base::{Error, ErrorKind, Result};
use marquetry_core::checkpoint::{CheckpointFound, Evidence, find_last_footer};
use marquetry_core::metadata::ParquetMetaData;
use marquetry_core::page::ChecksumTrust;
use marquetry_core::schema::Schema;
use marquetry_core::source::Source;
use marquetry_format as format;
use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

/// A schema, the row groups that were rebuilt by it, and the pages in none.
type RowGroups = (Vec<format::SchemaElement>, Vec<RebuiltGroup>, Vec<OrphanPages>);

/// The search in one file, which may be one of several concatenated files.
pub(crate) struct Search<'a> {
    window: Window,
    /// Offset of the file in the source.
    base: u64,
    options: &'a RecoverOptions,
    workers: Workers,
    budget: SearchBudget,
    pub(crate) schema: Option<Vec<format::SchemaElement>>,
    created_by: Option<String>,
    column_orders: Option<Vec<format::ColumnOrder>>,
    key_values: Vec<format::KeyValue>,
    /// The highest confidence of row groups: the schema of the footer may be damaged.
    most: Confidence,
    /// The notes of an earlier recovery in the footer.
    before: Option<RecoveredBefore>,
    kept: KeptGroups,
    pub(crate) report: Report,
    /// The ranges that are searched for pages.
    unknown: Vec<Range<u64>>,
}

impl<'a> Search<'a> {
    pub(crate) fn new(source: Arc<dyn Source>, base: u64, options: &'a RecoverOptions) -> Self {
        let len = source.len();
        Search {
            window: Window::new(source.clone(), options.limits.clone()),
            base,
            options,
            workers: Workers::new(options),
            budget: SearchBudget::new(len, options.limits.cancel.clone()),
            schema: None,
            created_by: None,
            column_orders: None,
            key_values: Vec::new(),
            most: Confidence::Exact,
            before: None,
            kept: KeptGroups::new(source, base, options.partial),
            report: Report::default(),
            unknown: std::iter::once(FIRST_PAGE.min(len)..len).collect(),
        }
    }

    /// Whether a byte is in a row group that is kept.
    pub(crate) fn keeps(&self, at: u64) -> bool {
        self.report.row_groups.iter().any(|group| group.bytes.contains(&at))
    }

    /// Keeps the row groups of the footer, then searches the ranges that it does not cover. `known` is the schema of a
    /// file before this one.
    pub(crate) fn run(&mut self, known: Option<Vec<format::SchemaElement>>) -> Result<()> {
        self.run_footer()?;
        if self.schema.is_none() {
            self.schema = known.inspect(|_| self.report.schema = Some(SchemaOrigin::Footer));
        }
        let first = self.report.row_groups.len();
        for range in std::mem::take(&mut self.unknown) {
            self.search(range)?;
        }
        // A row group of the footer that was found elsewhere is not lost.
        let mut found: HashMap<u64, usize> = HashMap::new();
        for group in &self.report.row_groups[first..] {
            *found.entry(group.rows).or_default() += 1;
        }
        self.report.losses.retain(|loss| {
            let rows = loss.rows.filter(|_| loss.why == NOT_THERE);
            let again = rows.and_then(|rows| found.get_mut(&rows)).filter(|again| **again > 0);
            let is_lost = again.is_none();
            again.into_iter().for_each(|again| *again -= 1);
            is_lost
        });
        Ok(())
    }

    /// Keeps the row groups of the last footer in the file. Returns whether there is a footer.
    pub(crate) fn run_footer(&mut self) -> Result<bool> {
        let found = match find_last_footer(&*self.window.source, &self.options.limits) {
            Ok(found) => found,
            Err(error) if error.kind() == ErrorKind::Limit => {
                self.report.decide("no footer is taken", error.message().to_owned(), Confidence::Low);
                return Ok(false);
            }
            Err(error) => return Err(error),
        };
        let (found, places, damage) = match found {
            Some(CheckpointFound { metadata, footer, end, evidence, .. }) => {
                ((metadata, footer.start, end, evidence), Places::Right, None)
            }
            None => match damaged_footer(&mut self.window, self.options.schema.is_some())? {
                Some(DamagedFooter { metadata, start, places, damage, most }) => {
                    self.most = most;
                    ((metadata, start, self.window.source.len(), Evidence::End), places, damage)
                }
                None => return Ok(false),
            },
        };
        let (metadata, start, end, evidence) = found;
        let (metadata, doubts) = sound_schema(metadata, start, &mut self.window)?;
        let head = metadata.head();
        let (why, confidence) = match (damage, evidence) {
            (Some(damage), _) => (damage, Confidence::High),
            (_, Evidence::End) => ("it is at the end", Confidence::Exact),
            (_, Evidence::Checkpoint) => {
                ("a checkpoint of the writer, and its checksum is right", Confidence::Exact)
            }
            (_, Evidence::Append) => ("it ended the file before it grew", Confidence::Exact),
            // Plausible evidence, or a kind that is not known here.
            _ => ("what it says fits the pages before it", Confidence::High),
        };
        self.report.decide(format!("the footer at byte {}", start + self.base), why, confidence);
        if places == Places::Wrong {
            self.report.decide(MISPLACED, WHY_MISPLACED, Confidence::High);
        }
        let arrow = key_values::doubts(metadata.key_value_metadata(), &head.schema);
        let other =
            self.options.schema.as_ref().and_then(|given| other_than_given(&head.schema, &given.elements));
        for Doubt { what, why, most } in doubts.into_iter().chain(other).chain(arrow) {
            self.report.decide(what, why, Confidence::Medium);
            self.most = self.most.max(most);
        }
        self.report.schema = Some(SchemaOrigin::Footer);
        self.schema = Some(head.schema.clone());
        self.created_by = head.created_by.as_deref().map(str::to_owned);
        self.column_orders = head.column_orders.clone();
        let columns = metadata.schema().num_columns();
        if self.column_orders.as_ref().is_some_and(|orders| orders.len() != columns) {
            self.column_orders = None;
            self.report.decide(
                "the orders of columns are left out, and bounds",
                NOT_ALL_ORDERS,
                Confidence::Medium,
            );
        }
        self.key_values = metadata.key_value_metadata().to_vec();
        self.before = RecoveredBefore::of_file(&self.key_values, metadata.num_row_groups());
        if self.before.is_some() {
            let why = "its footer has what was not certain then, and may be so now";
            self.report.decide("the file was recovered before", why, Confidence::Exact);
        }
        if columns == 0 {
            // Whatever pages there are, they belong to no column.
            self.unknown.clear();
            return Ok(true);
        }
        self.unknown = self.check_groups(&Arc::new(metadata), start, places)?;
        let behind = self.window.source.len() - end;
        if evidence == Evidence::Append && !self.options.keep_appended {
            let what = format!("{behind} bytes behind byte {} are left out", end + self.base);
            let why = "a change of the file that was not finished, such as an append, had written them";
            self.report.decide(what, why, Confidence::High);
        } else if behind > 0 {
            self.unknown.push(end..self.window.source.len());
        }
        Ok(true)
    }

    /// Validates the row groups of a footer. Returns the ranges that may hold row groups which are not where the footer
    /// says, or which it does not describe.
    fn check_groups(
        &mut self,
        metadata: &Arc<ParquetMetaData>,
        footer: u64,
        places: Places,
    ) -> Result<Vec<Range<u64>>> {
        let (mut unknown, mut at) = (Vec::new(), FIRST_PAGE);
        let mut is_lost_before = false;
        let mut overlaps = overlaps(metadata);
        for group in metadata.row_groups() {
            if let Some(path) = other_file(metadata, group.index()) {
                let why = format!("a row group of the footer whose pages are in another file, {path}");
                self.report.lose(self.base + at..self.base + at, Some(group.num_rows()), why);
                continue;
            }
            let bytes = extent(metadata, group.index());
            let stored = bytes.as_ref().map_or(0, |bytes| bytes.end - bytes.start);
            let chunks =
                check_row_group(&self.workers, &self.window, metadata, group.index(), stored, check_chunk)?;
            let is_anywhere = match places {
                // A row group that begins before the missing bytes has pages behind them that are elsewhere.
                Places::Wrong | Places::SomeWrong => chunks.iter().all(|chunk| chunk.is_ok()),
                _ => chunks.is_empty() || chunks.iter().any(|chunk| chunk.is_ok()),
            };
            let Some(bytes) = bytes.filter(|_| is_anywhere) else {
                if group.num_rows() == 0 {
                    // QUIRK: DIA-NN ends in a row group without rows, none of whose places is right. Nothing is lost
                    // with it.
                    continue;
                }
                is_lost_before = true;
                self.report.lose(self.base + at..self.base + at, Some(group.num_rows()), NOT_THERE);
                continue;
            };
            if std::mem::take(&mut is_lost_before) && at < bytes.start {
                unknown.push(at..bytes.start);
            }
            at = at.max(bytes.end);
            let (mut why, mut confidence) = trusted_so_far(&chunks);
            self.doubt(&mut why, &mut confidence);
            if let Some(overlap) = overlaps[group.index()].take() {
                why.push_str(&format!("; {overlap}: one of both places is wrong"));
                confidence = Confidence::Low;
            }
            if places == Places::CutOff {
                // The note of an earlier recovery may be cut off.
                confidence = confidence.max(Confidence::High);
            }
            let before = self.before.as_ref().and_then(|before| before.of(group.index(), group.num_rows()));
            let origin = RowGroupOrigin { why, confidence, before };
            self.kept.keep((metadata, group.index()), bytes, chunks, origin, &mut self.report);
        }
        if (is_lost_before || places == Places::CutOff) && at < footer {
            unknown.push(at..footer);
        }
        Ok(unknown)
    }

    /// Limits the confidence of a row group to that of the footer's schema, by which it is read.
    fn doubt(&self, why: &mut String, confidence: &mut Confidence) {
        if self.most > *confidence {
            *confidence = self.most;
            why.push_str(DOUBTED);
        }
    }

    /// Searches a range that no footer covers for row groups.
    fn search(&mut self, mut range: Range<u64>) -> Result<()> {
        let begin = range.start;
        while let Some(len) =
            filler::known(&mut self.window, range.start).filter(|len| *len < range.end - range.start)
        {
            range.start += len;
        }
        let created_by = self.created_by().map(Arc::from);
        let is_trusted = ChecksumTrust::of_writer(created_by.as_deref()) == ChecksumTrust::Believed;
        let pages: Arc<[FoundPage]> =
            find_pages(&mut self.window, range.clone(), is_trusted, &mut self.budget)?.into();
        self.report.pages_found += pages.len();
        let Some(first) = pages.first() else {
            self.lose_rest(range, std::iter::empty());
            return Ok(());
        };
        let is_anchored = first.offset == range.start && !self.is_behind_chunk(begin..first.offset)?;
        let (elements, found, left) = match self.row_groups(&pages, is_anchored, created_by)? {
            Ok(found) => found,
            Err(why) => {
                let end = pages.last().map_or(range.end, |page| page.end);
                let why = format!("{why}: {NO_SCHEMA}");
                self.report.lose(first.offset + self.base..end + self.base, None, why);
                self.lose_rest(range, std::iter::once(first.offset..end));
                return Ok(());
            }
        };
        let explained = found.iter().map(|found| &found.bytes).chain(left.iter().map(|left| &left.bytes));
        let explained: Vec<_> = explained.cloned().collect();
        for left in left {
            let why = format!("{} {}", left.pages, left.why);
            self.report.lose(left.bytes.start + self.base..left.bytes.end + self.base, None, why);
        }
        self.lose_rest(range, explained);
        self.keep_found(elements, found)
    }

    /// Whether chunk metadata before the first page of a range shows that other columns of a row group come next.
    fn is_behind_chunk(&mut self, gap: Range<u64>) -> Result<bool> {
        let begin = gap.start;
        let Some(path) = filler::chunk_path(&mut self.window, gap) else { return Ok(false) };
        let given = self.options.schema.as_ref().map(|given| &given.elements);
        let schema = self
            .schema
            .as_ref()
            .or(given)
            .map(|elements| Schema::from_thrift(elements, &self.options.limits));
        let schema = schema.transpose()?;
        let mut columns = schema.iter().flat_map(|schema| schema.columns()).rev();
        Ok(match columns.position(|leaf| leaf.path_in_schema() == path) {
            Some(columns_behind) => columns_behind > 0,
            // A schema from the caller may name columns differently. A file does not begin with the end of a row group.
            None => begin == FIRST_PAGE,
        })
    }

    /// Reports the bytes of a range as lost that are neither `explained` nor fillers.
    fn lose_rest(&mut self, range: Range<u64>, explained: impl IntoIterator<Item = Range<u64>>) {
        let mut explained: Vec<_> = explained.into_iter().collect();
        explained.sort_by_key(|bytes| bytes.start);
        let mut at = range.start;
        for next in explained.into_iter().chain(std::iter::once(range.end..range.end)) {
            while let Some(len) =
                filler::known(&mut self.window, at).filter(|len| *len <= next.start.saturating_sub(at))
            {
                at += len;
            }
            let is_footer =
                next.start == self.window.source.len() && filler::begins_footer(&mut self.window, at);
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

    /// Rebuilds row groups from pages, by the schema of a footer, of the caller, or an inferred one. `Err` is the
    /// reason why no schema can be inferred.
    fn row_groups(
        &mut self,
        pages: &Arc<[FoundPage]>,
        is_anchored: bool,
        created_by: Option<Arc<str>>,
    ) -> Result<std::result::Result<RowGroups, Cow<'static, str>>> {
        let mut decided = Report::default();
        let (elements, origin, known) = match (&self.schema, &self.options.schema) {
            (Some(elements), _) => (elements.clone(), self.report.schema, Vec::new()),
            (None, Some(given)) => {
                let what = format!("the schema of {} columns", num_leaves(&given.elements));
                decided.decide(what, "it was given: no footer is found", Confidence::High);
                (given.elements.clone(), Some(given.origin), Vec::new())
            }
            (None, None) if !is_anchored => return Ok(Err("pages whose first column is lost".into())),
            (None, None) => match infer_schema(&mut self.window, pages, &mut self.budget, &mut decided) {
                Ok(inferred) => (inferred.elements, Some(SchemaOrigin::Inferred), inferred.groups),
                Err(why) => {
                    self.report.decisions.extend(decided.decisions);
                    return Ok(Err(why));
                }
            },
        };
        let schema = Arc::new(Schema::from_thrift(&elements, &self.options.limits)?);
        let (workers, partial) = (self.workers.clone(), self.options.partial);
        let pages = PageSet::new(&mut self.window, pages, &schema, created_by, workers, &mut self.budget);
        let Some((found, left)) = RowGroupBuilder::new(pages, partial).run(&known, is_anchored)? else {
            return Ok(Err("pages whose values do not fit the columns that they seem to be of".into()));
        };
        if self.schema.is_none() {
            let given = self.options.schema.as_ref();
            self.key_values = given.map(|given| given.key_values.clone()).unwrap_or_default();
            self.schema = Some(elements.clone());
            self.report.schema = origin;
        }
        self.report.decisions.extend(decided.decisions);
        Ok(Ok((elements, found, left)))
    }

    fn keep_found(&mut self, schema: Vec<format::SchemaElement>, found: Vec<RebuiltGroup>) -> Result<()> {
        let (mut row_groups, mut known) = (Vec::new(), Vec::new());
        for RebuiltGroup { rows, chunks, bytes, is_proven, is_chosen, is_anchored, pages } in found {
            let (mut columns, mut lost) = (Vec::new(), Vec::new());
            for chunk in chunks {
                let (meta_data, error) = match chunk {
                    Ok(meta) => (Some(meta), None),
                    Err(error) => (None, Some(error)),
                };
                columns.push(format::ColumnChunk { meta_data, ..format::ColumnChunk::default() });
                lost.push(error);
            }
            let num_rows = i64::try_from(rows).unwrap_or(i64::MAX);
            row_groups.push(format::RowGroup { num_rows, columns, ..format::RowGroup::default() });
            let confidence = match (is_proven, is_chosen || !is_anchored) {
                (true, false) => Confidence::High,
                (false, false) | (true, true) => Confidence::Medium,
                (false, true) => Confidence::Low,
            };
            let checksums = checksums(is_proven);
            let chosen = if is_chosen { ", ends of chunks chosen among several" } else { "" };
            let (mut why, mut confidence) = (
                format!("{pages} pages that follow each other, {checksums}, all values decoded{chosen}"),
                confidence,
            );
            self.doubt(&mut why, &mut confidence);
            known.push((bytes, lost, why, confidence));
        }
        let created_by = self.created_by().map(format::ThriftString::from);
        let column_orders = self.column_orders.clone();
        let thrift = format::FileMetaData {
            schema,
            row_groups,
            created_by,
            column_orders,
            ..format::FileMetaData::default()
        };
        let metadata = Arc::new(ParquetMetaData::from_thrift(thrift, &self.options.limits)?);
        for (index, (bytes, lost, why, confidence)) in known.into_iter().enumerate() {
            let stored = bytes.end - bytes.start;
            let checked =
                check_row_group(&self.workers, &self.window, &metadata, index, stored, check_found_chunk)?;
            let chunks = lost.into_iter().zip(checked).map(|(lost, chunk)| lost.map_or(chunk, Err));
            let before = self.before.as_ref().and_then(RecoveredBefore::of_any);
            let origin = RowGroupOrigin { why, confidence, before };
            self.kept.keep((&metadata, index), bytes, chunks.collect(), origin, &mut self.report);
        }
        Ok(())
    }

    /// Appends the results of the file behind this one.
    pub(crate) fn join(&mut self, part: Search<'_>) {
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
        self.kept.groups.extend(part.kept.groups);
        self.report.row_groups.extend(row_groups);
    }

    pub(crate) fn finish(self, options: &RecoverOptions, len: u64) -> Result<Recovery> {
        // A cancelled search would report as lost what it did not read.
        options.limits.cancel.check()?;
        let Search { mut window, schema, column_orders, key_values, kept, mut report, .. } = self;
        if schema.is_none() && report.pages_found == 0 {
            return Err(match looks_encrypted(&mut window) {
                true => Error::encrypted(
                    "there are no pages, but what looks like encrypted ones: nothing can be recovered",
                ),
                false => Error::corrupt("neither a footer nor pages are found"),
            });
        }
        // Row groups of the footer were kept before those that the search found.
        let mut order: Vec<usize> = (0..kept.groups.len()).collect();
        order.sort_by_key(|i| report.row_groups[*i].bytes.start);
        let mut groups: Vec<Option<KeptGroup>> = kept.groups.into_iter().map(Some).collect();
        report.row_groups = order.iter().map(|i| report.row_groups[*i].clone()).collect();
        report.losses.sort_by_key(|loss| loss.bytes.start);
        report.bytes = len;
        let schema = schema.unwrap_or_default();
        let key_values = key_values::sound(key_values, &schema, &mut report);
        Ok(Recovery {
            schema,
            column_orders,
            key_values,
            groups: order.into_iter().filter_map(|i| groups[i].take()).collect(),
            report,
            limits: options.limits.clone(),
        })
    }
}

/// Returns the number of columns of a schema.
fn num_leaves(elements: &[format::SchemaElement]) -> usize {
    elements.iter().filter(|element| element.num_children.is_none_or(|children| children == 0)).count()
}

const DOUBTED: &str = ", by a schema that may be damaged";
const NOT_ALL_ORDERS: &str = "there is not one for each column: the footer may be damaged";
const NO_SCHEMA: &str = "give the schema, or another file that has it";
const MISPLACED: &str = "row groups are searched for, by the schema of the footer";
const WHY_MISPLACED: &str =
    "not all pages are before it by the places in it, which are wrong: bytes may be missing before it";
const NO_PAGES: &str = "bytes in which no page is found";
const NOT_THERE: &str = "a row group of the footer that is not where the footer says";
