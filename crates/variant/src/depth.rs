//! The limit on the nesting depth of values.

use marquetry_base::{Error, Result};

pub(crate) fn check_depth(depth: usize) -> Result<()> {
    match depth {
        0..=MAX_DEPTH => Ok(()),
        _ => Err(Error::limit(format!(
            "a variant of more than {MAX_DEPTH} objects and arrays inside each other"
        ))),
    }
}

/// Maximum number of nested objects and arrays. Deeper nesting is an error, so that no value can exhaust the stack.
pub const MAX_DEPTH: usize = 500;
