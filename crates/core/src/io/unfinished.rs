//! Unfinished files of this process, which are removed or truncated to what they were when it is about to end.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

/// The files to undo if the process ends now.
#[derive(Debug)]
pub(super) struct Unfinished {
    /// Hidden files, which are removed.
    pub(super) hidden: BTreeSet<PathBuf>,
    /// Files that are being changed in place, which are truncated to what they were.
    pub(super) grown: Vec<Arc<Growth>>,
    /// The process that the files belong to.
    process: u32,
}

static UNFINISHED: Mutex<Unfinished> =
    Mutex::new(Unfinished { hidden: BTreeSet::new(), grown: Vec::new(), process: 0 });

/// Locks the unfinished files. While the lock is held, no other thread begins or finishes a file.
pub(super) fn unfinished() -> MutexGuard<'static, Unfinished> {
    let mut unfinished = UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner);
    let process = std::process::id();
    if std::mem::replace(&mut unfinished.process, process) != process {
        // After a fork the files belong to the other process.
        (unfinished.hidden, unfinished.grown) = (BTreeSet::new(), Vec::new());
    }
    unfinished
}

impl Unfinished {
    /// Keeps the file as it is now. Returns whether it would have been truncated.
    pub(super) fn forget(&mut self, growth: &Arc<Growth>) -> bool {
        let known = self.grown.len();
        self.grown.retain(|other| !Arc::ptr_eq(other, growth));
        self.grown.len() < known
    }
}

/// A file that is being changed in place.
#[derive(Debug)]
pub(super) struct Growth {
    file: File,
    len: u64,
    /// When it was last changed before.
    modified: Option<SystemTime>,
    is_cut: Mutex<bool>,
}

impl Growth {
    /// Registers a file that had `len` bytes.
    pub(super) fn new(file: File, len: u64) -> Self {
        let modified = file.metadata().and_then(|metadata| metadata.modified()).ok();
        Growth { file, len, modified, is_cut: Mutex::new(false) }
    }

    /// Calls `write` unless the file was truncated, so that nothing is written behind the cut.
    pub(super) fn unless_cut<T>(&self, write: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
        match *self.is_cut.lock().unwrap_or_else(PoisonError::into_inner) {
            false => write(),
            true => Err(io::Error::other("the change was given up, as the process ends")),
        }
    }

    /// Truncates the file to what it was. If that fails, the old footer can still be found.
    pub(super) fn cut(&self) {
        let mut is_cut = self.is_cut.lock().unwrap_or_else(PoisonError::into_inner);
        *is_cut = true;
        let _ = self.file.set_len(self.len).and_then(|()| self.file.sync_all());
        // It has the bytes that it had, and so the time: those who read it may go on.
        if let Some(modified) = self.modified {
            let _ = self.file.set_modified(modified);
        }
    }
}

/// Proof that the process's unfinished files were undone. While it is held, threads that begin a file, or rename one to
/// its name, wait.
#[derive(Debug)]
#[must_use = "files are begun again once it is dropped"]
pub struct UnfinishedFilesRemoved(#[expect(dead_code, reason = "held")] MutexGuard<'static, Unfinished>);

/// Removes the hidden files of all unfinished [`AtomicFile`](super::AtomicFile)s of this process, and truncates files
/// that a [`FileEdit`](super::FileEdit) is changing in place to what they were. For a thread that ends the process
/// without dropping them, after a signal. Hidden files that were synced stay, as they do when they are dropped.
///
/// It waits for a lock, so it must not be called in a signal handler itself. Keep its result until the process has
/// ended; an `AtomicFile` that is dropped or finished on the same thread would wait for it forever.
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
        // Nobody is left to handle an error, and the file does no harm.
        let _ = fs::remove_file(path);
    }
    std::mem::take(&mut unfinished.grown).iter().for_each(|growth| growth.cut());
    UnfinishedFilesRemoved(unfinished)
}
