//! The memory limits of a command: a budget for reading, and what writing may hold.

use crate::caller;
use crate::help::ALL_COMMANDS;
use crate::keys;
use clap::Args as ClapArgs;
use marquetry::arrow::arrow_reader::ArrowReaderOptions;
use marquetry::errors::{Limits, MemoryBudget};
use marquetry_base::parse_byte_size;

/// The argument of all commands.
#[derive(Debug, Clone, Copy, ClapArgs)]
pub(crate) struct MemoryArgs {
    /// Memory for reading, sorting and writing together, such as 4GiB; sorting and writing spill to temporary files beyond it.
    /// By default reading takes up to a quarter of the machine's memory, or half of a container's; sorting and writing take up to
    /// half as much, and at most 1 GiB
    #[arg(long, global = true, help_heading = ALL_COMMANDS, value_name = "BYTES", value_parser = parse_byte_size)]
    pub(crate) memory_limit: Option<usize>,
}

impl MemoryArgs {
    /// Sets the memory limit of reading. Must be called before anything is read.
    pub(crate) fn apply(self) {
        if let Some(limit) = self.memory_limit {
            MemoryBudget::set_process_limit((limit / 2).max(LEAST_TO_READ));
        }
    }

    /// The memory limit of sorting and writing.
    pub(crate) fn to_write(self) -> usize {
        self.memory_limit.map_or_else(usual_to_write, |limit| (limit / 2).max(1))
    }
}

/// The default memory limit of sorting and writing.
pub(crate) fn usual_to_write() -> usize {
    let readers = MemoryBudget::of_process().limit().unwrap_or(usize::MAX);
    USUAL_TO_WRITE.min(readers / 2)
}

/// Reader limits, with which [`BoundedRows`](crate::bounded_rows::BoundedRows) makes batches smaller that exceed them.
pub(crate) fn batch_limits() -> Limits {
    let readers = MemoryBudget::of_process().limit().unwrap_or(usize::MAX);
    Limits::default().with_cancel(caller::cancel()).with_batch_bytes((readers / 8).clamp(16 << 20, 256 << 20))
}

/// Reader options with these limits.
pub(crate) fn bounded_options() -> ArrowReaderOptions {
    keys::reader_options().with_limits(batch_limits())
}

/// Read windows on a file, and a page for each of some columns, take this much.
const LEAST_TO_READ: usize = 64 << 20;
const USUAL_TO_WRITE: usize = 1 << 30;
