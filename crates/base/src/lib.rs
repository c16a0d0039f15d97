//! The ground every Marquetry crate stands on: one [`Error`] with its [`Place`], the [`Limits`] that untrusted
//! numbers are held against, a [`Budget`] of memory that readers share, a [`Cursor`] over bytes, and [`PageBytes`], page bytes with readable slack behind them.
#![forbid(unsafe_code)]

mod budget;
mod cursor;
mod error;
mod limits;
mod page_bytes;

pub use budget::{Budget, Held};
pub use cursor::Cursor;
pub use error::{Error, Kind, Place, Result};
pub use limits::Limits;
pub use page_bytes::{PageBytes, SLACK};
