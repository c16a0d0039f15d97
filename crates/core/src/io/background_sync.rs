//! Syncs a file to the disk in the background while it is written.

use marquetry_base::Thread;
use std::fs::File;
use std::io;

/// A sync that runs on a thread of its own, at most one at a time.
///
/// The disk is busy while rows are encoded, so that a checkpoint, or the end, finds most of the file there already. Whoever wants to
/// know that bytes are safe joins, and syncs again: only that tells.
#[derive(Debug, Default)]
pub(super) struct BackgroundSync {
    running: Option<Thread<io::Result<()>>>,
    /// Bytes since the last one began.
    written: u64,
}

impl BackgroundSync {
    /// Notes that so many bytes were written.
    pub(super) fn written(&mut self, bytes: usize) {
        self.written = self.written.saturating_add(bytes as u64);
    }

    /// Whether there is enough to bring to the disk, and nothing under way.
    pub(super) fn is_worth_it(&self) -> bool {
        self.written >= LEAST && self.running.as_ref().is_none_or(Thread::is_finished)
    }

    /// Begins to sync what was written to `file`. Fails if the sync before failed.
    pub(super) fn begin(&mut self, file: &File) -> io::Result<()> {
        self.join()?;
        let file = file.try_clone()?;
        // Without a thread there is no sync before its time.
        self.running = Thread::spawn("sync", move || file.sync_data());
        self.written = 0;
        Ok(())
    }

    /// Waits for what is under way. Its failure is told here, and nowhere else: systems tell it once.
    pub(super) fn join(&mut self) -> io::Result<()> {
        match self.running.take().map(Thread::join) {
            None => Ok(()),
            Some(Ok(outcome)) => outcome,
            Some(Err(_)) => Err(io::Error::other("the thread that syncs the file panicked")),
        }
    }
}

impl Drop for BackgroundSync {
    /// Some systems remove no file that is open.
    fn drop(&mut self) {
        // There is nobody left to tell; the file is given up.
        let _ = self.join();
    }
}

/// PERF: less than that a disk takes in a moment, and each sync costs it a few writes of its own.
const LEAST: u64 = 8 << 20;
