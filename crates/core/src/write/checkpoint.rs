//! Checkpoints of a writer: when they are due, and how their bytes are made durable.

use marquetry_base::Stopwatch;
use std::io::{self, BufWriter, Cursor, Write};
use std::time::Duration;

/// How often a writer leaves a checkpoint: a footer of all row groups so far, after which the file could end.
///
/// A checkpoint is about as long as the footer of the row groups so far, so many checkpoints in a file of many row
/// groups cost much: one after each of `n` row groups takes about as many bytes as `n / 2` footers of the finished
/// file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum CheckpointEvery {
    /// After a row group, once 64 MiB were written since the last checkpoint, and either checkpoints are at most 1 % of
    /// the file or it has doubled since then. If row groups are so small that the footer is a large part of the file,
    /// all checkpoints together are about as long as two footers.
    #[default]
    Auto,
    /// After this many row groups; 0 counts as 1.
    RowGroups(usize),
    /// Once this many bytes were written, or are in the open row group, which is then ended: row groups may become
    /// smaller than otherwise.
    Bytes(u64),
    /// Once this much time has passed, checked when rows are written. The open row group is then ended. There is no
    /// clock in the background: a writer that gets no rows leaves no checkpoint. Nor does a writer in a build without
    /// the feature `threads`, which has no clock at all.
    Time(Duration),
}

/// The cost of a file's checkpoints so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct CheckpointCost {
    /// Number of checkpoints.
    pub count: usize,
    /// Their size in bytes. The finished file does not refer to them, and `rewrite` drops them.
    pub bytes: u64,
    /// Time that the writer spent on them, most of it waiting until all earlier bytes are on the disk.
    pub time: Duration,
}

/// A sink whose bytes can be made durable.
pub trait Durable: Write {
    /// Returns once all written bytes survive the end of the process, and that of the machine as far as its disks keep
    /// their promises.
    fn sync(&mut self) -> io::Result<()>;

    /// Starts making the bytes written so far durable, without waiting, so that the next [`sync`](Self::sync) has less
    /// to wait for. By default it does nothing.
    fn sync_soon(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<W: Durable> Durable for BufWriter<W> {
    fn sync(&mut self) -> io::Result<()> {
        self.flush()?;
        self.get_mut().sync()
    }

    fn sync_soon(&mut self) -> io::Result<()> {
        self.flush()?;
        self.get_mut().sync_soon()
    }
}

/// Memory cannot be made durable, so there is nothing to wait for.
impl Durable for Vec<u8> {
    fn sync(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Like [`Vec`].
impl Durable for Cursor<Vec<u8>> {
    fn sync(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<W: Durable + ?Sized> Durable for &mut W {
    fn sync(&mut self) -> io::Result<()> {
        (**self).sync()
    }

    fn sync_soon(&mut self) -> io::Result<()> {
        (**self).sync_soon()
    }
}

impl<W: Durable + ?Sized> Durable for Box<W> {
    fn sync(&mut self) -> io::Result<()> {
        (**self).sync()
    }

    fn sync_soon(&mut self) -> io::Result<()> {
        (**self).sync_soon()
    }
}

/// When the next checkpoint is due, and the cost of earlier ones.
#[derive(Debug)]
pub(super) struct Schedule {
    pub(super) every: Option<CheckpointEvery>,
    pub(super) cost: CheckpointCost,
    /// Length of the file when the last checkpoint ended.
    position: u64,
    row_groups: usize,
    time: Stopwatch,
    /// Bytes of the last checkpoint per column chunk, or an estimate.
    bytes_of_chunk: u64,
}

impl Schedule {
    pub(super) fn new(every: Option<CheckpointEvery>) -> Self {
        Schedule {
            every,
            cost: CheckpointCost::default(),
            position: 0,
            row_groups: 0,
            time: Stopwatch::start(),
            bytes_of_chunk: BYTES_OF_CHUNK,
        }
    }

    /// Whether a checkpoint is due at `position`, after this many row groups and with this many columns. `filling` is
    /// the number of bytes in the open row group, which could be ended for it.
    pub(super) fn is_due(&self, position: u64, row_groups: usize, columns: usize, filling: u64) -> bool {
        let since = position.saturating_sub(self.position);
        match self.every {
            None => false,
            Some(CheckpointEvery::RowGroups(n)) => row_groups - self.row_groups.min(row_groups) >= n.max(1),
            Some(CheckpointEvery::Bytes(n)) => since.saturating_add(filling) >= n,
            Some(CheckpointEvery::Time(time)) => self.time.elapsed() >= time,
            Some(CheckpointEvery::Auto) => {
                let chunks = (row_groups as u64).saturating_mul(columns as u64);
                let cost = chunks.saturating_mul(self.bytes_of_chunk);
                let is_cheap = since >= cost.saturating_mul(AUTO_RATIO);
                since >= AUTO_BYTES && (is_cheap || since >= self.position)
            }
        }
    }

    /// Whether row groups are ended for checkpoints.
    pub(super) fn ends_row_groups(&self) -> bool {
        matches!(self.every, Some(CheckpointEvery::Bytes(_) | CheckpointEvery::Time(_)))
    }

    /// Records a checkpoint of `len` bytes, begun at `start`, that ended at `position`.
    pub(super) fn done(
        &mut self,
        start: Stopwatch,
        len: u64,
        position: u64,
        row_groups: usize,
        columns: usize,
    ) {
        self.cost.bytes += len;
        self.cost.count += 1;
        self.cost.time += start.elapsed();
        (self.position, self.row_groups, self.time) = (position, row_groups, Stopwatch::start());
        let chunks = row_groups as u64 * columns as u64;
        self.bytes_of_chunk = len.checked_div(chunks).unwrap_or(BYTES_OF_CHUNK);
    }
}

/// Estimated bytes of a chunk in a footer, before there is a checkpoint.
const BYTES_OF_CHUNK: u64 = 200;
/// Bytes since the last checkpoint below which one is not worth a wait for the disk.
const AUTO_BYTES: u64 = 64 << 20;
/// Minimum ratio of the file's bytes to those of a checkpoint.
const AUTO_RATIO: u64 = 100;

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the share of checkpoints in a file, and their number. Each row group has 20 columns, each of which has
    /// `column_bytes` bytes of pages and 250 bytes in the footer.
    fn cost(column_bytes: u64, row_groups: usize) -> (f64, usize) {
        let mut schedule = Schedule::new(Some(CheckpointEvery::Auto));
        let mut position = 4;
        for group in 1..=row_groups {
            position += 20 * column_bytes;
            if schedule.is_due(position, group, 20, 0) {
                let len = 20 * 250 * group as u64;
                position += len;
                schedule.done(Stopwatch::start(), len, position, group, 20);
            }
        }
        (schedule.cost.bytes as f64 / position as f64, schedule.cost.count)
    }

    #[test]
    fn automatic_checkpoints_are_rare_enough_in_files_of_any_size() {
        for (column_bytes, row_groups) in [(30_000, 100_000), (100_000, 20_000), (5_000_000, 1_000)] {
            let (share, count) = cost(column_bytes, row_groups);
            assert!(share < 0.017, "{share} of {row_groups} row groups of {column_bytes} bytes");
            assert!(count > 2, "{count} for {row_groups} row groups of {column_bytes} bytes");
        }
        // If a footer is a quarter as long as the pages, all checkpoints are no longer than two footers.
        let (share, count) = cost(1_000, 100_000);
        assert!(share < 0.35 && count > 2, "{share} for {count}");
        // Row groups that are long compared to their footer get a checkpoint each.
        assert_eq!(cost(100_000_000, 10).1, 10);
    }
}
