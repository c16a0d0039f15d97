//! Finding and reading the footer.
//!
//! ```text
//! PAR1 | pages ... | footer | footer length: 4 bytes little-endian | PAR1
//! ```

use crate::metadata::{ParquetMetaData, in_footer};
use crate::source::Source;
use bytes::Bytes;
use marquetry_base::{Error, ErrorKind, Limits, Result};
use marquetry_format::{PAR1, Tail, read_tail};

/// A footer, and what reading it took.
#[derive(Debug)]
pub struct FooterRead {
    /// What the footer says.
    pub metadata: ParquetMetaData,
    /// Its length in bytes.
    pub footer_len: usize,
}

/// Reads the footer: one read from the end of the file, and a second only if the footer is longer than that.
///
/// Fails if the file is no Parquet file, or its footer is encrypted (PARE), or damaged; the error of a file that begins as
/// one, but has no such end, names what can be done.
pub fn read_metadata(source: &dyn Source, limits: &Limits) -> Result<FooterRead> {
    read_last(source, limits).map_err(|error| {
        let is_damage = matches!(error.kind(), ErrorKind::Corrupt | ErrorKind::Truncated);
        let begins = || source.read_at(0, PAR1.len()).is_ok_and(|bytes| bytes[..] == PAR1);
        match is_damage && source.len() >= SHORTEST && begins() {
            true => error.with_help(ADVICE),
            false => error,
        }
    })
}

/// What a user can do who knows nothing of footers.
const ADVICE: &str =
    "if it was cut off, overwritten or never finished, `marquetry recover` makes a file of what is whole";

fn read_last(source: &dyn Source, limits: &Limits) -> Result<FooterRead> {
    let file_len = source.len();
    if file_len < SHORTEST {
        return Err(Error::truncated(format!(
            "not a Parquet file: {file_len} bytes, the shortest one has {SHORTEST}"
        )));
    }
    let guess = file_len.min(TAIL_READ as u64) as usize;
    let tail = source.read_at(file_len - guess as u64, guess)?;
    let (rest, Some(last_eight)) = (guess - TAIL_LEN, tail.last_chunk::<TAIL_LEN>()) else {
        return Err(Error::truncated("not a Parquet file"));
    };
    let footer_len = match read_tail(last_eight).map_err(|error| error.at(file_len - 4))? {
        Tail::Plain { metadata_len } => metadata_len as usize,
        Tail::Encrypted { .. } => {
            return Err(
                Error::encrypted("the footer is encrypted (PARE), and no key was given").at(file_len - 4)
            );
        }
    };
    let end = file_len - TAIL_LEN as u64;
    if footer_len as u64 > end - MAGIC_LEN {
        return Err(Error::corrupt(format!(
            "the footer is said to have {footer_len} bytes, there is room for {}: the file may be cut off, or have \
             been appended to",
            end - MAGIC_LEN
        ))
        .at(end));
    }
    Limits::check("footer_bytes", footer_len, limits.footer_bytes)?;
    let start = end - footer_len as u64;
    let footer = match rest.checked_sub(footer_len) {
        // A short footer does not hold on to what was read before it.
        Some(from) if footer_len <= guess / 2 => Bytes::copy_from_slice(&tail[from..rest]),
        Some(from) => tail.slice(from..rest),
        None => source.read_at(start, footer_len)?,
    };
    let metadata = ParquetMetaData::parse(footer, limits).map_err(|error| in_footer(error, Some(start)))?;
    Ok(FooterRead { metadata: metadata.with_data_end(start), footer_len })
}

/// Opening magic, an empty footer's length, closing magic.
const SHORTEST: u64 = 12;
const MAGIC_LEN: u64 = 4;
/// The footer's length and the closing magic.
const TAIL_LEN: usize = 8;
/// The first read: most footers are shorter, and reading so much more than needed costs nothing noticeable.
pub const TAIL_READ: usize = 64 << 10;
