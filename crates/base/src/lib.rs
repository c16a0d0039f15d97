//! The types that all Marquetry crates share: one [`Error`] with its [`ErrorLocation`], the [`Limits`] for untrusted numbers, a
//! [`MemoryBudget`] that readers share, a [`ByteCursor`] over bytes, and [`PaddedBytes`], page bytes with readable padding.
#![forbid(unsafe_code)]

mod cursor;
mod error;
mod limits;
mod memory_budget;
mod padded_bytes;
mod printable;
mod process_memory;
mod try_reserve;
mod url_secrets;

pub use cursor::ByteCursor;
pub use error::{Error, ErrorKind, ErrorLocation, Result};
pub use limits::Limits;
pub use memory_budget::{MemoryBudget, MemoryReservation};
pub use padded_bytes::{PADDING, PaddedBytes};
pub use printable::{Printable, steers_terminal};
pub use try_reserve::{try_reserve, try_reserve_exact};
pub use url_secrets::{text_without_secrets, url_without_secrets};
