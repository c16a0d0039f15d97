//! Errors: what is wrong, and where.
//!
//! ```
//! use marquetry::errors::ErrorKind;
//! let error = marquetry::open_bytes(&b"id,name\n1,oak\n"[..]).unwrap_err();
//! assert_eq!(error.kind(), ErrorKind::Corrupt);
//! assert!(error.to_string().contains("not a Parquet file"));
//! ```

pub use marquetry_base::{Error, ErrorKind, ErrorLocation, Limits, MemoryBudget, Result};

/// The name that the `parquet` crate gives its error.
pub type ParquetError = Error;
