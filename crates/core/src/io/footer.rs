//! Finds and reads the footer.
//!
//! ```text
//! PAR1 | pages ... | footer | footer length: 4 bytes little-endian | PAR1
//! ```

use crate::metadata::{ParquetMetaData, RowGroup, in_footer};
use crate::source::Source;
use bytes::Bytes;
use marquetry_base::{Error, ErrorKind, Limits, MemoryReservation, Result};
use marquetry_crypto::FileDecryptionProperties;
use marquetry_format::{FooterTail, PAR1};
use std::sync::Arc;

/// A footer, and its length.
#[derive(Debug)]
#[non_exhaustive]
pub struct FooterRead {
    /// The parsed footer.
    pub metadata: ParquetMetaData,
    /// Length of the footer in bytes.
    pub footer_len: usize,
}

/// Reads the footer, with one read from the end of the file, and a second one only if the footer is longer.
///
/// Fails if the file is not a Parquet file, or its footer is encrypted (PARE) or damaged. If a file only begins like a
/// Parquet file, the error advises what to do.
pub fn read_metadata(source: &dyn Source, limits: &Limits) -> Result<FooterRead> {
    read_metadata_by(source, limits, None, TAIL_READ)
}

/// Like [`read_metadata`], for a file that may be encrypted, with its keys: everything that is read with the metadata
/// is decrypted with them. Keys of columns are retrieved when the columns are read.
///
/// Also fails if the footer key is missing or wrong, if the footer or its signature is not authentic, if the AAD prefix
/// is another one, and if nothing in the file is encrypted, because somebody may have replaced an encrypted file.
pub fn read_encrypted_metadata(
    source: &dyn Source,
    limits: &Limits,
    decryption: &Arc<FileDecryptionProperties>,
) -> Result<FooterRead> {
    read_metadata_by(source, limits, Some(decryption), TAIL_READ)
}

/// Like [`read_metadata`], perhaps with keys. The first read is of `first_read` bytes, 8 or more.
pub(super) fn read_metadata_by(
    source: &dyn Source,
    limits: &Limits,
    decryption: Option<&Arc<FileDecryptionProperties>>,
    first_read: usize,
) -> Result<FooterRead> {
    read_last(source, limits, decryption, first_read).map_err(|error| {
        let is_damage = matches!(error.kind(), ErrorKind::Corrupt | ErrorKind::Truncated);
        let begins = || source.read_at(0, PAR1.len()).is_ok_and(|bytes| bytes[..] == PAR1);
        match is_damage && source.len() >= SHORTEST && begins() {
            true => error.with_help(ADVICE),
            false => error,
        }
    })
}

/// Bytes of a footer up to which no memory is reserved for it.
const FREE_FOOTER_BYTES: usize = 64 << 20;
/// The advice for users who know nothing of footers.
const ADVICE: &str =
    "if it was cut off, overwritten or never finished, `marquetry recover` makes a file of what is whole";

fn read_last(
    source: &dyn Source,
    limits: &Limits,
    decryption: Option<&Arc<FileDecryptionProperties>>,
    first_read: usize,
) -> Result<FooterRead> {
    let file_len = source.len();
    if file_len < SHORTEST {
        return Err(Error::truncated(format!(
            "not a Parquet file: {file_len} bytes, the shortest one has {SHORTEST}"
        )));
    }
    let guess = file_len.min(first_read as u64) as usize;
    let tail = source.read_at(file_len - guess as u64, guess)?;
    let (rest, Some(last_eight)) = (guess - TAIL_LEN, tail.last_chunk::<TAIL_LEN>()) else {
        return Err(Error::truncated("not a Parquet file"));
    };
    let kind = FooterTail::parse(last_eight).map_err(|error| error.at(file_len - 4))?;
    let footer_len = kind.metadata_len() as usize;
    let end = file_len - TAIL_LEN as u64;
    if footer_len as u64 > end - MAGIC_LEN {
        return Err(Error::corrupt(format!(
            "the footer's length is {footer_len} bytes, and there is room for {}: the file may be cut off, or have \
             been appended to",
            end - MAGIC_LEN
        ))
        .at(end));
    }
    Limits::check("footer_bytes", footer_len, limits.footer_bytes)?;
    let start = end - footer_len as u64;
    // A length may be stated for bytes that do not exist: a store may generate them on request. Fetching them takes
    // their size twice for a moment.
    let _held = match footer_len {
        ..=FREE_FOOTER_BYTES => MemoryReservation::default(),
        _ => limits
            .memory
            .reserve(footer_len.saturating_mul(2))
            .map_err(|error| in_footer(error, Some(start)))?,
    };
    let footer = match rest.checked_sub(footer_len) {
        // A short footer is copied, so that it does not keep the bytes read before it in memory.
        Some(from) if footer_len <= guess / 2 => Bytes::copy_from_slice(&tail[from..rest]),
        Some(from) => tail.slice(from..rest),
        None => source.read_at(start, footer_len)?,
    };
    let metadata = ParquetMetaData::open(kind, footer, limits, decryption);
    let metadata = metadata.map_err(|error| match error.kind() {
        // The error names what is encrypted, which is not damage of the footer.
        ErrorKind::Key => error.without_offset().at(file_len - 4),
        _ => in_footer(error, Some(start)),
    })?;
    check_rows(&metadata, start).map_err(|error| in_footer(error, Some(start)))?;
    Ok(FooterRead { metadata: metadata.with_data_end(start), footer_len })
}

/// Fails if row groups have lost rows: a damaged byte may turn a field into an unknown one, which readers skip.
///
/// QUIRK: a few writers leave the file's own number of rows wrong. Up to version 0.3, fastparquet writes that of the
/// whole table into each part, and dask does so in files of only a footer (`_common_metadata`).
fn check_rows(metadata: &ParquetMetaData, start: u64) -> Result<()> {
    for row_group in metadata.row_groups() {
        let rows = row_group.head().num_rows;
        if rows < 0 {
            let error = Error::corrupt(format!("a row group of {rows} rows"));
            return Err(error.in_row_group(row_group.index()));
        }
    }
    let (declared, there) = (metadata.declared_rows(), metadata.num_rows());
    let is_missing = u64::try_from(declared).is_ok_and(|declared| declared > there);
    let have_none = || metadata.num_row_groups() == 0 && start > MAGIC_LEN;
    let has_lost = |row_group: RowGroup<'_>| {
        let mut columns = 0..metadata.schema().columns().len();
        let has_values = |column| row_group.column(column).map_or(true, |chunk| chunk.num_values() > 0);
        row_group.num_rows() == 0 && columns.any(has_values)
    };
    match is_missing && (have_none() || metadata.row_groups().any(has_lost)) {
        true => Err(Error::corrupt(format!("{declared} rows, of which the row groups have {there}"))),
        false => Ok(()),
    }
}

/// Minimum length of a file: opening magic, an empty footer's length, closing magic.
const SHORTEST: u64 = 12;
const MAGIC_LEN: u64 = 4;
/// Length of the footer's length and the closing magic.
pub(super) const TAIL_LEN: usize = 8;
/// Bytes of the first read: most footers are shorter, and reading too much costs nothing noticeable.
pub const TAIL_READ: usize = 64 << 10;
