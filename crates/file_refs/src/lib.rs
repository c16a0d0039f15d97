//! FILE: references to bytes, as columns of Parquet hold them. The bytes are in the value, elsewhere in the same file, or in another
//! one.
//!
//! Spec: LogicalTypes.md, "FILE". Nothing is opened that [`FileAccess`] does not allow, and nothing before it is asked for.
//!
//! ```
//! use bytes::Bytes;
//! use marquetry_file_refs::{FileAccess, FileRef};
//! use std::io::Read;
//! use std::sync::Arc;
//!
//! let parquet = Arc::new(Bytes::from_static(b"PAR1 some bytes PAR1"));
//! let access = FileAccess::none().with_own_file(parquet);
//! let reference = FileRef { offset: Some(5), size: Some(10), checksum: Some("CRC32:9f597f55"), ..FileRef::default() };
//! let mut text = String::new();
//! access.open(&reference)?.read_to_string(&mut text)?;
//! assert_eq!(text, "some bytes");
//! // Nobody has allowed this.
//! assert!(access.open(&FileRef { uri: Some("file:///etc/passwd"), ..FileRef::default() }).is_err());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | file | what it does |
//! |---|---|
//! | `reference.rs` | the fields of a value, what is legal of them, and where the bytes are |
//! | `checksum.rs`, `crc32c.rs` | digests: their text, and computing them |
//! | `access.rs` | what may be opened: the file itself, directories, what an opener of the host gives |
//! | `local.rs`, `directories.rs` | URIs of files of this machine that stay within a directory; which directories |
//! | `reader.rs` | the bytes from front to back, compared with the checksum at their end |
//! | `column.rs`, `builder.rs` | columns of Arrow, both directions |
#![forbid(unsafe_code)]

mod access;
#[cfg(all(feature = "arrow", feature = "fs"))]
mod builder;
mod checksum;
#[cfg(feature = "arrow")]
mod column;
mod crc32c;
#[cfg(feature = "fs")]
mod directories;
#[cfg_attr(not(feature = "fs"), path = "local_off.rs")]
mod local;
mod reader;
mod reference;

pub use access::FileAccess;
#[cfg(all(feature = "arrow", feature = "fs"))]
pub use builder::{FileRefBuilder, Stored};
pub use checksum::{Algorithm, Checksum};
#[cfg(feature = "arrow")]
pub use column::{FILE_EXTENSION, FileRefColumn, is_file_ref};
pub use marquetry_base::{Error, Result};
pub use reader::FileReader;
pub use reference::{FileRef, Location};
