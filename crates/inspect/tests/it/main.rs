//! Statistics, layouts, differences and advice, of files whose answers are known.
//!
//! One program, as linking takes longer than running: tests that measure a whole process are programs of their own beside it.

mod advise;
mod advise_wide;
mod diff;
mod int96;
mod layout;
mod narrow_keys;
mod stats;
