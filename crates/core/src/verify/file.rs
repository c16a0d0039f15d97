//! The parts of a file, checked side by side and reported in order.

use super::chunk::Parts;
use super::findings::{Findings, Selection};
use super::nesting::LeafShape;
use super::walk::{ChunkResult, check_chunk};
use super::{Level, Report, VerifyOptions, chunk, nesting, schema, sorting, unreferenced};
use crate::metadata::ParquetMetaData;
use crate::page::{ChecksumTrust, PageMemory, PageOptions};
use crate::schema::Leaf;
use crate::sort_order::SortOrder;
use crate::source::Source;
use marquetry_base::{ErrorLocation, Limits};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A file whose footer was read.
pub(super) struct File {
    pub(super) source: Arc<dyn Source>,
    pub(super) metadata: Arc<ParquetMetaData>,
    /// Where the footer begins.
    pub(super) data_end: u64,
    pub(super) level: Level,
    pub(super) limits: Arc<Limits>,
    /// Of each column.
    pub(super) shapes: Vec<LeafShape>,
    /// Where chunks, indexes and filters are.
    pub(super) parts: Parts,
}

impl File {
    pub(super) fn new(
        source: Arc<dyn Source>,
        metadata: ParquetMetaData,
        data_end: u64,
        options: &VerifyOptions,
    ) -> Self {
        File {
            source,
            shapes: nesting::shapes(metadata.schema()),
            metadata: Arc::new(metadata),
            data_end,
            level: options.level,
            limits: Arc::new(options.limits.clone()),
            parts: Parts::default(),
        }
    }

    /// How pages are read: checksums are a rule of their own here.
    pub(super) fn page_options(&self) -> PageOptions {
        PageOptions {
            limits: self.limits.clone(),
            verify_checksums: false,
            trust: ChecksumTrust::of_writer(self.metadata.created_by()),
        }
    }

    pub(super) fn leaf(&self, column: usize) -> &Leaf {
        self.metadata.schema().column(column)
    }

    /// The place of a column chunk.
    pub(super) fn place(&self, row_group: usize, column: usize) -> ErrorLocation {
        ErrorLocation {
            row_group: Some(row_group),
            column: Some(self.leaf(column).dotted().clone()),
            ..ErrorLocation::default()
        }
    }

    /// The order of `min_value` and `max_value` of a column, if they are to be believed.
    pub(super) fn order(&self, column: usize) -> Option<SortOrder> {
        let declared = self.metadata.column_orders().and_then(|orders| orders.get(column));
        SortOrder::for_reading(self.leaf(column), declared)
    }

    /// The first byte after `from` that belongs to something else.
    pub(super) fn room_end(&self, from: u64) -> u64 {
        let starts = &self.parts.starts;
        let next = starts.partition_point(|start| *start <= from);
        starts.get(next).map_or(self.data_end, |start| (*start).min(self.data_end))
    }
}

/// A part of the file that is checked on its own.
#[derive(Debug, Clone, Copy)]
enum Part {
    /// Row group, column.
    Chunk(usize, usize),
    /// The rows of a row group, as the footer sorts them.
    Sorting(usize),
}

/// Checks all behind the footer's own numbers.
pub(super) fn check<'s>(
    mut file: File,
    selection: &'s Selection,
    options: &VerifyOptions,
    findings: &mut Findings<'s>,
    report: &mut Report,
) {
    schema::check(&file, findings);
    nesting::check_schema(&file, findings);
    file.parts = chunk::check_row_groups(&file, findings);
    let file = &file;
    if file.level > Level::Quick {
        unreferenced::check(file, findings);
    }
    let columns = file.metadata.schema().num_columns();
    let parts = columns + 1;
    let total = file.metadata.num_row_groups().saturating_mul(parts);
    let part = |i: usize| match i % parts {
        column if column < columns => Part::Chunk(i / parts, column),
        _ => Part::Sorting(i / parts),
    };
    let merged =
        Mutex::new(Merged { waiting: BTreeMap::new(), next: 0, findings, report, signatures: Vec::new() });
    let next = AtomicUsize::new(0);
    let failed = AtomicBool::new(false);
    let work = || {
        let mut memory = PageMemory::default();
        loop {
            let i = next.fetch_add(1, Ordering::Relaxed);
            if i >= total || failed.load(Ordering::Relaxed) {
                return;
            }
            let mut findings = Findings::new(selection);
            let result = match part(i) {
                Part::Chunk(row_group, column) => {
                    check_chunk(file, row_group, column, &mut findings, &mut memory)
                }
                Part::Sorting(row_group) => {
                    sorting::check(file, row_group, &mut findings);
                    ChunkResult::default()
                }
            };
            failed.fetch_or(findings.has_failed(), Ordering::Relaxed);
            lock(&merged).add(file, i, findings, result, parts);
        }
    };
    let threads = match options.threads {
        0 => std::thread::available_parallelism().map_or(1, usize::from),
        threads => threads,
    };
    std::thread::scope(|scope| {
        for _ in 1..threads.min(total).min(MOST_THREADS) {
            scope.spawn(work);
        }
        work();
    });
}

/// What was found so far, in order.
struct Merged<'a, 'f> {
    /// Parts that are done before one that comes before them.
    waiting: BTreeMap<usize, (Findings<'f>, ChunkResult)>,
    /// The next part to be added.
    next: usize,
    findings: &'a mut Findings<'f>,
    report: &'a mut Report,
    /// Of the chunks of the current row group.
    signatures: Vec<(usize, nesting::Signatures)>,
}

impl<'f> Merged<'_, 'f> {
    fn add(&mut self, file: &File, i: usize, findings: Findings<'f>, result: ChunkResult, parts: usize) {
        self.waiting.insert(i, (findings, result));
        while let Some((findings, result)) = self.waiting.remove(&self.next) {
            self.findings.append(findings);
            self.report.pages += result.pages;
            self.report.bytes += result.bytes;
            let (row_group, column) = (self.next / parts, self.next % parts);
            if !result.signatures.is_empty() {
                self.signatures.push((column, result.signatures));
            }
            self.next += 1;
            if column + 1 == parts {
                let signatures = std::mem::take(&mut self.signatures);
                nesting::check_siblings(file, row_group, signatures, self.findings);
            }
        }
    }
}

/// A thread that panicked has not left the findings half changed in a way that matters.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// No more threads than this, whatever was asked for.
const MOST_THREADS: usize = 1024;
