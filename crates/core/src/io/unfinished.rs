//! What this process has begun and not finished, and what becomes of it when the process is about to end.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The files that are undone if the process ends now.
#[derive(Debug)]
pub(super) struct Unfinished {
    /// Hidden files, which are removed.
    pub(super) hidden: BTreeSet<PathBuf>,
    /// Files that are being changed in place, which are cut to what they were, by their number.
    grown: BTreeMap<u64, Grown>,
    next: u64,
    /// The process that they are of.
    process: u32,
}

#[derive(Debug)]
struct Grown {
    file: File,
    len: u64,
}

impl Grown {
    /// Makes the file what it was. If that fails, the old footer is found all the same.
    fn cut(&self) {
        let _ = self.file.set_len(self.len).and_then(|()| self.file.sync_all());
    }
}

static UNFINISHED: Mutex<Unfinished> =
    Mutex::new(Unfinished { hidden: BTreeSet::new(), grown: BTreeMap::new(), next: 0, process: 0 });

/// No other thread begins, grows or finishes a file as long as this is held.
pub(super) fn unfinished() -> MutexGuard<'static, Unfinished> {
    let mut unfinished = UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner);
    let process = std::process::id();
    if std::mem::replace(&mut unfinished.process, process) != process {
        // After a fork they are the other process's.
        (unfinished.hidden, unfinished.grown) = (BTreeSet::new(), BTreeMap::new());
    }
    unfinished
}

impl Unfinished {
    /// From now on the file is cut to `len` bytes if the process ends. Returns the number to finish it by.
    pub(super) fn grow(&mut self, file: &File, len: u64) -> io::Result<u64> {
        let number = self.next;
        self.next += 1;
        self.grown.insert(number, Grown { file: file.try_clone()?, len });
        Ok(number)
    }

    /// The file stays as it is now.
    pub(super) fn keep(&mut self, number: u64) {
        self.grown.remove(&number);
    }

    /// Cuts the file, if it was not kept.
    pub(super) fn cut(&mut self, number: u64) {
        if let Some(grown) = self.grown.remove(&number) {
            grown.cut();
        }
    }
}

/// The process's unfinished files are undone. As long as this is held, none is begun, none takes its name, and none grows: whoever
/// tries waits.
#[derive(Debug)]
#[must_use = "files are begun again once it is dropped"]
pub struct UnfinishedFilesRemoved(#[expect(dead_code, reason = "held")] MutexGuard<'static, Unfinished>);

/// Removes the hidden files of all [`AtomicFile`](super::AtomicFile)s of this process that are not finished, and cuts files that a
/// [`FileEdit`](super::FileEdit) is changing in place to what they were, for who ends the process without dropping them: a thread
/// that was told of a signal. Hidden files that were synced stay, as they do when they are dropped.
///
/// It waits for a lock, so that it is nothing for a signal handler itself. Hold on to what it returns until the process has
/// ended; an `AtomicFile` that is dropped or finished on the same thread would wait for it for ever.
///
/// ```no_run
/// # fn wait_for_signal() -> i32 { 15 }
/// std::thread::spawn(|| {
///     let signal = wait_for_signal();
///     let _removed = marquetry_core::io::remove_unfinished_files();
///     std::process::exit(128 + signal);
/// });
/// ```
pub fn remove_unfinished_files() -> UnfinishedFilesRemoved {
    let mut unfinished = unfinished();
    for path in std::mem::take(&mut unfinished.hidden) {
        // There is nobody left to tell, and the file does no harm.
        let _ = fs::remove_file(path);
    }
    std::mem::take(&mut unfinished.grown).values().for_each(Grown::cut);
    UnfinishedFilesRemoved(unfinished)
}
