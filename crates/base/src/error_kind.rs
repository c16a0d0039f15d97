//! The kinds of failure.

use std::io;

/// The kind of an [`Error`](crate::Error). It decides whether retrying, other settings or another file can help.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The bytes contradict the format or themselves.
    Corrupt,
    /// The bytes end before they should.
    Truncated,
    /// The bytes are legal, or may be, but this build does not read them.
    Unsupported,
    /// A number in the file exceeds the [`Limits`](crate::Limits) of this read, or what arrays can hold.
    Limit,
    /// There is not enough memory left: in the [budget](crate::MemoryBudget) that readers share, or in the system. The
    /// same read may succeed when others have given memory back, or with smaller batches.
    Memory,
    /// The caller asked for something impossible.
    Argument,
    /// The operating system or a store failed.
    Io,
    /// There is no such file or object.
    NotFound,
    /// The file is no longer the one that was opened. Opening it anew helps.
    Changed,
    /// The [token](crate::CancelToken) of the call was cancelled.
    Cancelled,
    /// The bytes are encrypted, and no key or a wrong key was given.
    Key,
}

impl ErrorKind {
    /// The word that the text of an error begins with.
    pub fn name(self) -> &'static str {
        match self {
            ErrorKind::Corrupt => "corrupt",
            ErrorKind::Truncated => "truncated",
            ErrorKind::Unsupported => "unsupported",
            ErrorKind::Limit => "limit",
            ErrorKind::Memory => "memory",
            ErrorKind::Argument => "argument",
            ErrorKind::Io => "io",
            ErrorKind::NotFound => "not found",
            ErrorKind::Changed => "changed",
            ErrorKind::Cancelled => "cancelled",
            ErrorKind::Key => "encrypted",
        }
    }

    /// Converts the kind of an error of the operating system.
    pub(crate) fn of_io(kind: io::ErrorKind) -> Self {
        match kind {
            io::ErrorKind::UnexpectedEof => ErrorKind::Truncated,
            io::ErrorKind::NotFound => ErrorKind::NotFound,
            io::ErrorKind::OutOfMemory => ErrorKind::Memory,
            _ => ErrorKind::Io,
        }
    }

    /// Converts to the nearest kind of the operating system's errors. Never `Interrupted`, on which callers retry at once.
    pub(crate) fn to_io(self) -> io::ErrorKind {
        match self {
            ErrorKind::Corrupt | ErrorKind::Limit => io::ErrorKind::InvalidData,
            ErrorKind::Truncated => io::ErrorKind::UnexpectedEof,
            ErrorKind::Unsupported => io::ErrorKind::Unsupported,
            ErrorKind::Memory => io::ErrorKind::OutOfMemory,
            ErrorKind::Argument => io::ErrorKind::InvalidInput,
            ErrorKind::NotFound => io::ErrorKind::NotFound,
            ErrorKind::Key => io::ErrorKind::PermissionDenied,
            ErrorKind::Io | ErrorKind::Changed | ErrorKind::Cancelled => io::ErrorKind::Other,
        }
    }
}
