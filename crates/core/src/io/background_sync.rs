//! Syncs a file to the disk in the background while it is written.

use marquetry_base::Thread;
use std::fs::File;
use std::io;

/// A sync on a thread of its own; at most one runs at a time.
///
/// The disk is busy while rows are encoded, so that a checkpoint, or the end, finds most of the file there already. To
/// be sure that bytes are durable, join and sync again.
#[derive(Debug, Default)]
pub(super) struct BackgroundSync {
    running: Option<Thread<io::Result<()>>>,
    /// Bytes written since the last sync began.
    written: u64,
}

impl BackgroundSync {
    /// Records that this many bytes were written.
    pub(super) fn written(&mut self, bytes: usize) {
        self.written = self.written.saturating_add(bytes as u64);
    }

    /// Whether there are enough bytes to sync, and no sync is running.
    pub(super) fn is_worth_it(&self) -> bool {
        self.written >= LEAST && self.running.as_ref().is_none_or(Thread::is_finished)
    }

    /// Starts a sync of the bytes written to `file`. Fails if the sync before failed.
    pub(super) fn begin(&mut self, file: &File) -> io::Result<()> {
        self.join()?;
        let file = file.try_clone()?;
        // Without threads there is no early sync.
        self.running = Thread::spawn("sync", move || file.sync_data());
        self.written = 0;
        Ok(())
    }

    /// Waits for the running sync. Only this returns its error, which systems report only once.
    pub(super) fn join(&mut self) -> io::Result<()> {
        match self.running.take().map(Thread::join) {
            None => Ok(()),
            Some(Ok(outcome)) => outcome,
            Some(Err(_)) => Err(io::Error::other("the thread that syncs the file panicked")),
        }
    }
}

impl Drop for BackgroundSync {
    /// Waits for the running sync, because some systems cannot remove an open file.
    fn drop(&mut self) {
        // Nobody is left to handle the error; the file is given up.
        let _ = self.join();
    }
}

/// Minimum bytes for a sync. PERF: a disk writes less than that in a moment, and each sync costs it a few writes of its
/// own.
const LEAST: u64 = 8 << 20;
