//! Generated tables, deterministic and in batches.

pub(crate) mod hits;
pub(crate) mod mixed;
pub(crate) mod nested;
