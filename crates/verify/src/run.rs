//! Runs the checks of a file in several threads, its own or a host's, with findings in the order of the file.
//!
//! Parts of the file are column chunks, and behind those of each row group the order of its rows.

use crate::chunk_walk::{ChunkResult, check_chunk};
use crate::context::VerifyContext;
use crate::findings::Findings;
use crate::options::VerifyOptions;
use crate::report::Report;
use crate::rule::Level;
use crate::{
    chunk, file_refs, geoparquet, house, nesting, schema, sorting, unreferenced, variant, variant_values,
};
use marquetry_base::{available_threads, parallel_map};
use marquetry_core::nesting::Signatures;
use marquetry_core::page::PageBuffers;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Checks a file whose footer was read: schema, chunks, indexes, pages. Returns the findings so far with the new ones.
pub(crate) fn check(
    mut file: VerifyContext,
    options: &VerifyOptions,
    mut findings: Findings,
    report: Report,
) -> (Findings, Report) {
    schema::check(&file, &mut findings);
    nesting::check_schema(&file, &mut findings);
    variant::check(&file, &mut findings);
    file_refs::check_schema(&file, &mut findings);
    file.parts = chunk::check_row_groups(&file, &mut findings);
    geoparquet::check(&file, &mut findings);
    house::check(&file, &options.house_limits, &mut findings);
    if file.level > Level::Quick {
        unreferenced::check(&file, &mut findings);
    }
    let parts = file.metadata.schema().num_columns() + 1;
    let total = file.metadata.num_row_groups().saturating_mul(parts);
    let nothing = findings.new_like();
    let merged = Merged { waiting: BTreeMap::new(), next: 0, findings, report, signatures: Vec::new() };
    let run = Arc::new(Run {
        file,
        parts,
        total,
        next: AtomicUsize::new(0),
        has_failed: AtomicBool::new(false),
        nothing,
        merged: Mutex::new(merged),
    });
    let threads = match options.threads {
        0 => available_threads(),
        threads => threads,
    };
    let mut memory: Vec<_> =
        (0..threads.min(total).min(MAX_THREADS)).map(|_| PageBuffers::default()).collect();
    // Each worker continues while there are parts.
    let workers = vec![(); memory.len()];
    let executor = options.executor.or_threads("marquetry-verify");
    let shared = run.clone();
    parallel_map(&*executor, workers, &mut memory, move |(), memory| shared.work(memory));
    let mut merged = lock(&run.merged);
    let findings = std::mem::replace(&mut merged.findings, run.nothing.new_like());
    (findings, std::mem::take(&mut merged.report))
}

/// The state that all threads share.
struct Run {
    file: VerifyContext,
    /// Number of parts of a row group, and in all.
    parts: usize,
    total: usize,
    /// The next part that no thread has begun.
    next: AtomicUsize,
    has_failed: AtomicBool,
    /// An empty collection, which each part begins with.
    nothing: Findings,
    merged: Mutex<Merged>,
}

impl Run {
    /// Checks parts until none is left.
    fn work(&self, memory: &mut PageBuffers) {
        let Run { file, parts, .. } = self;
        loop {
            let i = self.next.fetch_add(1, Ordering::Relaxed);
            let is_over = self.has_failed.load(Ordering::Relaxed) || file.limits.cancel.is_cancelled();
            if i >= self.total || is_over {
                return;
            }
            let mut findings = self.nothing.new_like();
            let (row_group, column) = (i / parts, i % parts);
            let result = if column + 1 < *parts {
                check_chunk(file, row_group, column, &mut findings, memory)
            } else {
                // The order of the rows, and what several columns show only together.
                sorting::check(file, row_group, &mut findings);
                variant_values::check(file, row_group, &mut findings);
                file_refs::check(file, row_group, &mut findings);
                ChunkResult::default()
            };
            self.has_failed.fetch_or(findings.has_failed(), Ordering::Relaxed);
            lock(&self.merged).add(file, i, findings, result, *parts);
        }
    }
}

/// The findings of all parts, merged in order.
struct Merged {
    /// Finished parts that wait for an earlier one.
    waiting: BTreeMap<usize, (Findings, ChunkResult)>,
    /// The next part to be merged.
    next: usize,
    findings: Findings,
    report: Report,
    /// Signatures of the chunks of the current row group.
    signatures: Vec<(usize, Signatures)>,
}

impl Merged {
    fn add(&mut self, file: &VerifyContext, i: usize, findings: Findings, result: ChunkResult, parts: usize) {
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
                nesting::check_siblings(file, row_group, signatures, &mut self.findings);
            }
        }
    }
}

/// Locks, ignoring poison: a thread that panicked does not make the findings inconsistent.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Maximum number of threads.
const MAX_THREADS: usize = 1024;
