//! Runs the checks of a file in several threads, with findings in the order of the file.

use crate::chunk_walk::{ChunkResult, check_chunk};
use crate::context::VerifyContext;
use crate::findings::{Findings, RuleFilter};
use crate::options::VerifyOptions;
use crate::report::Report;
use crate::rule::Level;
use crate::sibling_levels::Signatures;
use crate::{chunk, nesting, schema, sorting, unreferenced};
use marquetry_core::page::PageBuffers;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A unit of work.
#[derive(Debug, Clone, Copy)]
enum Part {
    /// A column chunk: row group, column.
    Chunk(usize, usize),
    /// The order of the rows of a row group.
    Sorting(usize),
}

/// Checks the file whose footer was read: schema, chunks, indexes, pages.
pub(crate) fn check<'s>(
    mut file: VerifyContext,
    filter: &'s RuleFilter,
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
        let mut memory = PageBuffers::default();
        loop {
            let i = next.fetch_add(1, Ordering::Relaxed);
            if i >= total || failed.load(Ordering::Relaxed) {
                return;
            }
            let mut findings = Findings::new(filter);
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
        for _ in 1..threads.min(total).min(MAX_THREADS) {
            scope.spawn(work);
        }
        work();
    });
}

/// Merges the findings of all parts in order.
struct Merged<'a, 'f> {
    /// Finished parts behind one that is not finished.
    waiting: BTreeMap<usize, (Findings<'f>, ChunkResult)>,
    /// The next part to be added.
    next: usize,
    findings: &'a mut Findings<'f>,
    report: &'a mut Report,
    /// Signatures of the chunks of the current row group.
    signatures: Vec<(usize, Signatures)>,
}

impl<'f> Merged<'_, 'f> {
    fn add(
        &mut self,
        file: &VerifyContext,
        i: usize,
        findings: Findings<'f>,
        result: ChunkResult,
        parts: usize,
    ) {
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

/// Locks, ignoring poison: a thread that panicked does not make the findings inconsistent.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The largest number of threads.
const MAX_THREADS: usize = 1024;
