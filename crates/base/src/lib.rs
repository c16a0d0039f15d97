//! The ground every Marquetry crate stands on: one [`Error`] with its [`ErrorLocation`], the [`Limits`] that untrusted
//! numbers are held against, a [`MemoryBudget`] of memory that readers share, a [`ByteCursor`] over bytes, and [`PaddedBytes`], page bytes with readable slack behind them.
#![forbid(unsafe_code)]

mod cursor;
mod error;
mod limits;
mod memory_budget;
mod padded_bytes;

pub use cursor::ByteCursor;
pub use error::{Error, ErrorKind, ErrorLocation, Result};
pub use limits::Limits;
pub use memory_budget::{MemoryBudget, MemoryReservation};
pub use padded_bytes::{PADDING, PaddedBytes};
