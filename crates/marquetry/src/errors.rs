//! Errors: what is wrong, and where.
//!
//! ```
//! use marquetry::errors::ErrorKind;
//! let error = marquetry::open_bytes(&b"id,name\n1,oak\n"[..]).unwrap_err();
//! assert_eq!(error.kind(), ErrorKind::Corrupt);
//! assert!(error.to_string().contains("not a Parquet file"));
//! assert!(!error.is_retryable());
//! ```
//!
//! They convert to errors of Arrow and of the standard library, and back unchanged:
//!
//! ```
//! use marquetry::errors::{Error, ErrorKind};
//! let missing = marquetry::open("no/such/file.parquet").unwrap_err();
//! assert_eq!(missing.kind(), ErrorKind::NotFound);
//! let theirs = std::io::Error::from(missing);
//! assert_eq!(theirs.kind(), std::io::ErrorKind::NotFound);
//! assert_eq!(Error::from(theirs).place().file.as_deref(), Some("no/such/file.parquet"));
//! ```
//!
//! # Cancelling
//! A [`CancelToken`] in the [`Limits`] of readers and streams, and in the properties of writers, stops them at the next page.
//!
//! ```
//! use marquetry::arrow::arrow_reader::{ArrowReaderOptions, ParquetRecordBatchReaderBuilder};
//! use marquetry::errors::{CancelToken, ErrorKind, Limits};
//!
//! # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/wines.parquet");
//! let token = CancelToken::new();
//! let options = ArrowReaderOptions::new().with_limits(Limits::default().with_cancel(token.clone()));
//! let file = std::fs::File::open(path)?;
//! let mut reader = ParquetRecordBatchReaderBuilder::try_new_with_options(file, options)?.with_batch_size(10).build()?;
//! assert!(reader.next_batch().is_some_and(|batch| batch.is_ok()));
//! // From any thread.
//! token.cancel();
//! assert_eq!(reader.next_batch().unwrap().unwrap_err().kind(), ErrorKind::Cancelled);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub use marquetry_base::{
    CancelToken, Error, ErrorKind, ErrorLocation, Limits, MemoryBudget, MemoryPool, MemoryReservation, Result,
};

/// The name that the `parquet` crate gives its error.
pub type ParquetError = Error;
