//! The types that all Marquetry crates share: one [`Error`] with its [`ErrorLocation`], the [`Limits`] for untrusted numbers, a
//! [`MemoryBudget`] that readers and writers share, a [`CancelToken`] that stops them, a [`ByteCursor`] over bytes, and [`PaddedBytes`], page bytes with readable padding.
#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod byte_size;
mod cancel_token;
mod counted;
mod cursor;
pub mod datetime_text;
mod error;
mod error_conversion;
mod error_kind;
mod executor;
mod hex;
mod limits;
mod memory_budget;
mod memory_pool;
mod padded_bytes;
mod parallel_map;
mod printable;
#[cfg_attr(not(feature = "fs"), path = "process_memory_off.rs")]
mod process_memory;
mod quoted;
mod schedule;
mod shared_executor;
#[cfg(feature = "fs")]
mod sibling_program;
#[cfg_attr(not(feature = "tracing"), path = "span_off.rs")]
mod span;
#[cfg_attr(not(feature = "threads"), path = "stopwatch_off.rs")]
mod stopwatch;
mod thread_pool;
#[cfg_attr(not(feature = "threads"), path = "threads_off.rs")]
mod threads;
mod try_reserve;
mod url_secrets;

pub use byte_size::parse_byte_size;
pub use cancel_token::CancelToken;
pub use counted::counted;
pub use cursor::ByteCursor;
pub use error::{Error, ErrorLocation, Result};
pub use error_kind::ErrorKind;
pub use executor::{Executor, Task};
pub use hex::{from_hex, push_hex, push_uuid, to_hex};
pub use limits::Limits;
pub use memory_budget::{MemoryBudget, MemoryReservation};
pub use memory_pool::MemoryPool;
pub use padded_bytes::{PADDING, PaddedBytes};
pub use parallel_map::{Output, parallel_map, parallel_map_each, parallel_map_parts};
pub use printable::{Printable, steers_terminal};
pub use quoted::{quote_name, unquote};
pub use shared_executor::SharedExecutor;
#[cfg(feature = "fs")]
pub use sibling_program::SiblingProgram;
pub use span::Span;
pub use stopwatch::Stopwatch;
pub use thread_pool::ThreadPool;
pub use threads::{Thread, available_threads};
pub use try_reserve::{reserve_if_available, try_reserve, try_reserve_exact};
pub use url_secrets::{text_without_secrets, url_without_secrets};
