//! Unfinished files of this process: removed, or cut to what they were, when it is about to end.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

/// The files that are undone if the process ends now.
#[derive(Debug)]
pub(super) struct Unfinished {
    /// Hidden files, which are removed.
    pub(super) hidden: BTreeSet<PathBuf>,
    /// Files that are being changed in place, which are cut to what they were.
    pub(super) grown: Vec<Arc<Growth>>,
    /// The process that they are of.
    process: u32,
}

static UNFINISHED: Mutex<Unfinished> =
    Mutex::new(Unfinished { hidden: BTreeSet::new(), grown: Vec::new(), process: 0 });

/// No other thread begins or finishes a file as long as this is held.
pub(super) fn unfinished() -> MutexGuard<'static, Unfinished> {
    let mut unfinished = UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner);
    let process = std::process::id();
    if std::mem::replace(&mut unfinished.process, process) != process {
        // After a fork they are the other process's.
        (unfinished.hidden, unfinished.grown) = (BTreeSet::new(), Vec::new());
    }
    unfinished
}

impl Unfinished {
    /// The file stays as it is now. Returns whether it would have been cut.
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
    /// Of a file that had `len` bytes.
    pub(super) fn new(file: File, len: u64) -> Self {
        let modified = file.metadata().and_then(|metadata| metadata.modified()).ok();
        Growth { file, len, modified, is_cut: Mutex::new(false) }
    }

    /// Writes, so that nothing comes behind the cut.
    pub(super) fn unless_cut<T>(&self, write: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
        match *self.is_cut.lock().unwrap_or_else(PoisonError::into_inner) {
            false => write(),
            true => Err(io::Error::other("the change was given up, as the process ends")),
        }
    }

    /// Makes the file what it was. If that fails, the old footer is found all the same.
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

/// The process's unfinished files are undone. As long as this is held, none is begun, and none takes its name: whoever
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
    std::mem::take(&mut unfinished.grown).iter().for_each(|growth| growth.cut());
    UnfinishedFilesRemoved(unfinished)
}
