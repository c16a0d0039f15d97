//! Pruning: finds the rows of a row group that may match a predicate, without reading them.
//!
//! | file | stage | tests | reads |
//! |---|---|---|---|
//! | `statistics` | statistics | bounds and null counts of the chunk | nothing: the footer has them |
//! | `bloom` | bloom filters | equality | the header, and a block of 32 bytes per value |
//! | `dictionary` | dictionaries | the values of chunks that are all dictionary-encoded | the dictionary page |
//! | `pages` | page index | bounds and null counts of each page | column index and offset index |
//! | `geospatial` | statistics | boxes of geometries | the footer |
//! | `column_pair` | statistics, page index | comparisons of two columns | what these stages read |
//! | `nested` | all | lists, maps and groups | what these stages read |
//! | `applicable` | | which stages can decide a predicate at all | |
//! | `extent`, `trust` | | what bounds and counts mean, and whether they are trusted | |
//! | `trusted_statistics` | | the same, for callers with pruning rules of their own | |
//! | `plan`, `row_group_match`, `ranges`, `report` | | what is known so far: none, some or all rows; ranges of rows; what was done | |
//!
//! Stages go from cheap to expensive. A stage only tests conditions that are still open *and* that it could decide.
//!
//! Rows are kept unless it is certain that they do not match. Bounds may be truncated or wide, and counts missing; they
//! are ignored if they contradict each other, or if the writer is known for wrong ones. A damaged index is ignored as
//! well, and the report notes it: a scan would not have failed because of it. Pruning fails only if the source fails to
//! read.
//!
//! PERF: pages are tested one after the other, even if the index states that its bounds are sorted: parsing the index
//! visits each page anyway, and a search would have to trust the writer.

mod applicable;
mod bloom;
mod column_pair;
mod dictionary;
mod extent;
mod geospatial;
mod nested;
mod pages;
mod plan;
mod ranges;
mod report;
mod row_group_match;
mod statistics;
mod trust;
mod trusted_statistics;

pub(crate) use dictionary::dictionary_ranges;
pub use report::{PruneNote, PruneReport, Stage, StageReport};
pub use row_group_match::RowGroupMatch;
pub use trust::bounds_are_believed;
pub use trusted_statistics::TrustedStatistics;

use crate::metadata::{ColumnChunk, ParquetMetaData, RowGroup};
use crate::predicate::BoundPredicate;
use crate::source::Source;
use marquetry_base::{Error, ErrorKind, Limits, Result, Stopwatch};
use plan::{Asked, Plan, Verdict};
use report::Counted;
use std::sync::Arc;

/// The information that pruning may use. By default it uses everything.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct PruneOptions {
    /// Statistics of row groups. Default: on.
    pub statistics: bool,
    /// Bloom filters. Default: on.
    pub bloom_filters: bool,
    /// Dictionary pages. Default: on.
    pub dictionaries: bool,
    /// Column and offset indexes. Default: on.
    pub page_index: bool,
    /// Maximum size of a dictionary page in the file, in bytes; larger ones are not read. Nor are those over 64 KiB
    /// that make up more than half of their chunk. Default 1 MiB.
    pub dictionary_bytes: u64,
    /// Limits on reading.
    pub limits: Arc<Limits>,
}

impl Default for PruneOptions {
    fn default() -> Self {
        PruneOptions {
            statistics: true,
            bloom_filters: true,
            dictionaries: true,
            page_index: true,
            dictionary_bytes: 1 << 20,
            limits: Arc::default(),
        }
    }
}

impl PruneOptions {
    /// Sets [`statistics`](Self::statistics).
    #[must_use]
    pub fn with_statistics(mut self, statistics: bool) -> Self {
        self.statistics = statistics;
        self
    }

    /// Sets [`bloom_filters`](Self::bloom_filters).
    #[must_use]
    pub fn with_bloom_filters(mut self, bloom_filters: bool) -> Self {
        self.bloom_filters = bloom_filters;
        self
    }

    /// Sets [`dictionaries`](Self::dictionaries).
    #[must_use]
    pub fn with_dictionaries(mut self, dictionaries: bool) -> Self {
        self.dictionaries = dictionaries;
        self
    }

    /// Sets [`page_index`](Self::page_index).
    #[must_use]
    pub fn with_page_index(mut self, page_index: bool) -> Self {
        self.page_index = page_index;
        self
    }

    /// Sets [`dictionary_bytes`](Self::dictionary_bytes).
    #[must_use]
    pub fn with_dictionary_bytes(mut self, dictionary_bytes: u64) -> Self {
        self.dictionary_bytes = dictionary_bytes;
        self
    }

    /// Sets [`limits`](Self::limits).
    #[must_use]
    pub fn with_limits(mut self, limits: Arc<Limits>) -> Self {
        self.limits = limits;
        self
    }

    /// Uses no stage: all rows are kept, unless the predicate is never or always true.
    pub fn none() -> Self {
        PruneOptions {
            statistics: false,
            bloom_filters: false,
            dictionaries: false,
            page_index: false,
            ..PruneOptions::default()
        }
    }

    /// Uses only this stage.
    pub fn only(stage: Stage) -> Self {
        PruneOptions::none().with_stage(stage)
    }

    /// Uses this stage as well.
    #[must_use]
    pub fn with_stage(mut self, stage: Stage) -> Self {
        *match stage {
            Stage::Statistics => &mut self.statistics,
            Stage::BloomFilters => &mut self.bloom_filters,
            Stage::Dictionaries => &mut self.dictionaries,
            Stage::PageIndex => &mut self.page_index,
        } = true;
        self
    }

    fn has(&self, stage: Stage) -> bool {
        match stage {
            Stage::Statistics => self.statistics,
            Stage::BloomFilters => self.bloom_filters,
            Stage::Dictionaries => self.dictionaries,
            Stage::PageIndex => self.page_index,
        }
    }
}

/// Returns which rows of row group `row_group` may match `predicate`, and adds the work and its results to `report`.
///
/// Fails if the row group does not exist, if the predicate was bound to another schema, if `source` fails to read, and
/// if [`Limits::cancel`] was cancelled. An index that is damaged, encrypted or too large is not used, which the report
/// notes.
///
/// ```
/// use marquetry_core::predicate::Predicate;
/// use marquetry_core::prune::{RowGroupMatch, PruneOptions, PruneReport, prune_row_group};
/// # use marquetry_core::{metadata::ParquetMetaData, source::Source};
/// # fn example(source: &dyn Source, metadata: &ParquetMetaData) -> marquetry_base::Result<()> {
/// let predicate = Predicate::parse("amount > 100")?.bind(metadata.schema())?;
/// let mut report = PruneReport::default();
/// for row_group in 0..metadata.num_row_groups() {
///     let kept = prune_row_group(source, metadata, row_group, &predicate, &PruneOptions::default(), &mut report)?;
///     if kept != RowGroupMatch::None {
///         println!("row group {row_group}: {kept:?}");
///     }
/// }
/// # Ok(())
/// # }
/// ```
pub fn prune_row_group(
    source: &dyn Source,
    metadata: &ParquetMetaData,
    row_group: usize,
    predicate: &BoundPredicate,
    options: &PruneOptions,
    report: &mut PruneReport,
) -> Result<RowGroupMatch> {
    if row_group >= metadata.num_row_groups() {
        return Err(Error::argument(format!("row group {row_group} of {}", metadata.num_row_groups())));
    }
    if predicate.leaves().last().is_some_and(|leaf| *leaf >= metadata.schema().num_columns()) {
        return Err(Error::argument("the predicate was bound to another schema"));
    }
    options.limits.cancel.check()?;
    let group = metadata.row_group(row_group);
    report.begin(group.num_rows());
    let mut run = Run { source: Counted::new(source), metadata, group, options, plan: Plan::new(predicate) };
    run.decide(report).map_err(|error| error.in_row_group(row_group))
}

/// The pruning of one row group.
struct Run<'a> {
    source: Counted<'a>,
    metadata: &'a ParquetMetaData,
    group: RowGroup<'a>,
    options: &'a PruneOptions,
    plan: Plan<'a>,
}

impl Run<'_> {
    fn decide(&mut self, report: &mut PruneReport) -> Result<RowGroupMatch> {
        if self.group.num_rows() == 0 {
            return Ok(RowGroupMatch::None);
        }
        let mut kept = self.kept();
        for &stage in Stage::ALL {
            if !matches!(kept, RowGroupMatch::Some(_)) {
                break;
            }
            if !self.options.has(stage) {
                continue;
            }
            let start = Stopwatch::start();
            report.stage(stage).asked(self.group.num_rows());
            kept = match stage {
                Stage::PageIndex => self.ask_pages(report)?,
                stage => {
                    self.ask_each(stage, report)?;
                    self.kept()
                }
            };
            let (bytes, reads) = self.source.take();
            report.stage(stage).found(&kept, self.group.num_rows(), bytes, reads, start.elapsed());
        }
        Ok(kept)
    }

    /// Returns what is known without page ranges.
    fn kept(&self) -> RowGroupMatch {
        match self.plan.verdict() {
            Verdict { may: false, .. } => RowGroupMatch::None,
            Verdict { all: true, .. } => RowGroupMatch::All,
            _ => RowGroupMatch::Some(std::iter::once(0..self.group.num_rows()).collect()),
        }
    }

    /// Runs a stage on all open conditions, until the row group is decided.
    fn ask_each(&mut self, stage: Stage, report: &mut PruneReport) -> Result<()> {
        for i in self.plan.open() {
            // Results of other conditions may have closed this one: then nothing needs to be read for it.
            if stage != Stage::Statistics && !self.plan.is_open(i) {
                continue;
            }
            let (column, found) = match self.plan.conditions[i] {
                Asked::One(condition) => {
                    let found = self.chunk(condition.column).and_then(|chunk| match stage {
                        Stage::Statistics => Ok(Some(self.ask_statistics(condition, chunk))),
                        Stage::BloomFilters => self.ask_bloom_filter(condition, chunk),
                        Stage::Dictionaries => self.ask_dictionary(condition, chunk),
                        Stage::PageIndex => Ok(None),
                    });
                    (condition.column, found)
                }
                // Two columns can be compared by bounds only.
                Asked::Two(compared) if stage == Stage::Statistics => {
                    (compared.left.column, self.ask_statistics_of_two(compared).map(Some))
                }
                Asked::Two(_) => continue,
                Asked::Nested(test) => (test.levels.column(), self.ask_nested(stage, test)),
            };
            if let Some(Some(verdict)) = self.unless_damaged(found, stage, column, report)?
                && self.plan.learn(i, verdict)
            {
                report.stage(stage).helped(column, self.group.index());
            }
        }
        Ok(())
    }

    fn chunk(&self, column: usize) -> Result<ColumnChunk<'_>> {
        let chunk = self.group.column(column)?;
        // If pages are in another file, so are their indexes and filters.
        match chunk.elsewhere().is_some() {
            true => Err(Error::unsupported("the pages are in another file, and so are the indexes")),
            false => Ok(chunk),
        }
    }

    /// Returns `None` and notes an error that a scan need not have; fails with any other.
    fn unless_damaged<T>(
        &self,
        found: Result<T>,
        stage: Stage,
        column: usize,
        report: &mut PruneReport,
    ) -> Result<Option<T>> {
        match found {
            Ok(found) => Ok(Some(found)),
            Err(error) => match error.kind() {
                ErrorKind::Corrupt
                | ErrorKind::Truncated
                | ErrorKind::Unsupported
                | ErrorKind::Limit
                | ErrorKind::Memory
                | ErrorKind::Key => {
                    let column = self.metadata.schema().column(column).dotted().clone();
                    report.note(PruneNote { row_group: self.group.index(), column, stage, error });
                    Ok(None)
                }
                _ => Err(error.in_column(self.metadata.schema().column(column).dotted().clone())),
            },
        }
    }
}
