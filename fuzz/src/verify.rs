//! Verifying whole files.

use crate::file::limits;
use crate::memory::earned;
use bytes::Bytes;
use marquetry_verify::{Level, VerifyOptions, verify as check};
use std::sync::Arc;

/// The input is the file. The number of threads must not matter, and no level may find less than the one before it:
/// what a quick look finds corrupt, a deep one must, too.
pub fn verify(data: &[u8]) {
    let source = Arc::new(Bytes::copy_from_slice(data));
    let options = |level, threads| {
        VerifyOptions::default().with_level(level).with_threads(threads).with_limits(limits())
    };
    earned((96 << 20) + 16_384 * data.len(), || {
        let quick = check(source.clone(), &options(Level::Quick, 1)).expect("a source that can be read");
        let deep = check(source.clone(), &options(Level::Deep, 1)).expect("a source that can be read");
        assert!(quick.worst() <= deep.worst());
        if data.len().is_multiple_of(8) {
            let other = check(source, &options(Level::Deep, 2)).expect("a source that can be read");
            assert_eq!(deep, other, "with two threads");
        }
    });
}
