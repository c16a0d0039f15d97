//! Runs the checks of a file: its parts side by side, findings in the order of the file.

use super::chunk_walk::{ChunkResult, check_chunk};
use super::context::VerifyContext;
use super::findings::{Findings, RuleFilter};
use super::options::VerifyOptions;
use super::report::Report;
use super::rule::Level;
use super::sibling_levels::Signatures;
use super::{chunk, nesting, schema, sorting, unreferenced};
use crate::page::PageBuffers;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

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

/// A thread that panicked has not left the findings half changed in a way that matters.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// No more threads than this, whatever was asked for.
const MOST_THREADS: usize = 1024;
