//! Who wants the work done: a person, who watches its progress and ends it with the process, or a program that called a
//! function, which may cancel it and sees no progress.

use bytes::{Bytes, BytesMut};
use marquetry::errors::{CancelToken, Result};
use marquetry::file::Source;
use marquetry::file::encryption::FileDecryptionProperties;
use marquetry_core::source::CoalesceOptions;
use std::cell::RefCell;
use std::ops::Range;
use std::sync::Arc;

thread_local! {
    /// The program that this thread works for; `None` for a person.
    static PROGRAM: RefCell<Option<Program>> = const { RefCell::new(None) };
}

/// What a program passes along with its work.
#[derive(Debug, Clone, Default)]
pub(crate) struct Program {
    /// Cancels the work.
    pub(crate) cancel: CancelToken,
    /// Keys of the files that are read.
    pub(crate) keys: Option<Arc<FileDecryptionProperties>>,
}

/// Runs `work` for a program.
pub(crate) fn for_program<T>(program: Program, work: impl FnOnce() -> T) -> T {
    /// Restores the previous program, even if `work` panics.
    struct Before(Option<Program>);

    impl Drop for Before {
        fn drop(&mut self) {
            PROGRAM.set(self.0.take());
        }
    }

    let _before = Before(PROGRAM.replace(Some(program)));
    work()
}

/// Whether this thread works for a person.
pub(crate) fn is_person() -> bool {
    PROGRAM.with_borrow(Option::is_none)
}

/// The token that cancels the work of this thread; never cancelled for a person.
pub(crate) fn cancel() -> CancelToken {
    PROGRAM.with_borrow(Option::clone).unwrap_or_default().cancel
}

/// The keys that a program gave; `None` if this thread works for a person.
pub(crate) fn keys() -> Option<Option<Arc<FileDecryptionProperties>>> {
    PROGRAM.with_borrow(|program| program.as_ref().map(|program| program.keys.clone()))
}

/// The source, whose reads fail once the work of this thread is cancelled.
pub(crate) fn cancellable(source: Arc<dyn Source>) -> Arc<dyn Source> {
    match PROGRAM.with_borrow(Option::clone) {
        Some(program) => Arc::new(Cancellable { source, cancel: program.cancel }),
        None => source,
    }
}

struct Cancellable {
    source: Arc<dyn Source>,
    cancel: CancelToken,
}

impl Source for Cancellable {
    fn len(&self) -> u64 {
        self.source.len()
    }

    fn read_at(&self, offset: u64, len: usize) -> Result<Bytes> {
        self.cancel.check()?;
        self.source.read_at(offset, len)
    }

    fn read_at_reusing(&self, offset: u64, len: usize, memory: BytesMut) -> Result<Bytes> {
        self.cancel.check()?;
        self.source.read_at_reusing(offset, len, memory)
    }

    fn read_ranges(&self, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        self.cancel.check()?;
        self.source.read_ranges(ranges)
    }

    fn available(&self, offset: u64, len: usize) -> usize {
        self.source.available(offset, len)
    }

    fn request_cost(&self) -> Option<CoalesceOptions> {
        self.source.request_cost()
    }

    fn prefetch(&self, ranges: &[Range<u64>]) -> Result<()> {
        self.cancel.check()?;
        self.source.prefetch(ranges)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use marquetry::errors::ErrorKind;

    #[test]
    fn a_program_cancels_what_is_read_for_it() {
        assert!(is_person());
        let token = CancelToken::new();
        let program = Program { cancel: token.clone(), keys: None };
        for_program(program, || {
            assert!(!is_person());
            let source = cancellable(Arc::new(Bytes::from_static(b"PAR1")));
            assert_eq!(source.read_at(0, 4).unwrap(), &b"PAR1"[..]);
            token.cancel();
            assert_eq!(source.read_at(0, 4).unwrap_err().kind(), ErrorKind::Cancelled);
            assert!(cancel().is_cancelled());
        });
        assert!(is_person() && !cancel().is_cancelled());
    }
}
