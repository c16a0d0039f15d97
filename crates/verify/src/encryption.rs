//! Checks encrypted files: that keys fit, and that nothing is left in the open.

use crate::context::VerifyContext;
use crate::findings::Findings;
use crate::options::VerifyOptions;
use crate::rule::{Level, Rule, Severity, UNCHECKED, rule};
use marquetry_base::{Error, ErrorKind, ErrorLocation, Limits, Result};
use marquetry_core::io::{read_encrypted_metadata, read_metadata};
use marquetry_core::metadata::{ColumnChunk, ParquetMetaData, RowGroup};
use marquetry_core::page::{LocatedHeader, PageReader};
use marquetry_core::source::Source;
use marquetry_format::{ColumnCryptoMetaData, FileCryptoMetaData, FooterTail, Reader, parse_metadata};

const FOOTER: Rule = rule(
    "encryption-footer",
    Severity::Corrupt,
    Level::Quick,
    "The footer is decrypted, or its signature verified, with the keys that were given",
    "Encryption.md, 5.4, 5.5",
);
pub(crate) const TAG: Rule = rule(
    "encryption-page-tag",
    Severity::Corrupt,
    Level::Default,
    "Pages of encrypted columns have the authentication tag that their bytes and their place give",
    "Encryption.md, 4.4, 5.1",
);
const LEAK: Rule = rule(
    "encryption-plain-statistics",
    Severity::Suspicious,
    Level::Quick,
    "A footer that is not encrypted has no statistics of encrypted columns",
    "Encryption.md, 5.5",
);

pub(crate) const RULES: &[Rule] = &[FOOTER, TAG, LEAK];

/// Reads the footer of an encrypted file, or with keys. Returns `None` if that is impossible.
pub(crate) fn read_footer(
    source: &dyn Source,
    place: ErrorLocation,
    options: &VerifyOptions,
    findings: &mut Findings,
) -> Result<Option<ParquetMetaData>> {
    let read = match &options.decryption {
        Some(keys) => read_encrypted_metadata(source, &options.limits, keys),
        None => read_metadata(source, &options.limits),
    };
    match read {
        Ok(footer) => Ok(Some(footer.metadata)),
        Err(error) if error.stops_reading() => Err(error),
        Err(error) => {
            let is_missing = error.kind() == ErrorKind::Key && lacks_footer_key(source, options);
            let rule = if is_missing { &UNCHECKED } else { &FOOTER };
            findings.add(rule, place, || error.message().to_owned());
            Ok(None)
        }
    }
}

/// Whether no key was given for the footer, for example if there are only column keys. A key retriever that failed does
/// not count as that.
fn lacks_footer_key(source: &dyn Source, options: &VerifyOptions) -> bool {
    let Some(keys) = &options.decryption else { return true };
    key_metadata_of_footer(source, options)
        .and_then(|key_metadata| keys.footer_key(key_metadata.as_deref()))
        .is_ok_and(|key| key.is_none())
}

/// Returns the key metadata of the footer, which the file stores in plain text.
fn key_metadata_of_footer(source: &dyn Source, options: &VerifyOptions) -> Result<Option<Vec<u8>>> {
    let too_short = || Error::truncated("no room for a footer");
    let end = source.len().checked_sub(TAIL_BYTES).ok_or_else(too_short)?;
    let tail = source.read_at(end, TAIL_BYTES as usize)?;
    let tail = FooterTail::parse(tail[..].first_chunk().ok_or_else(too_short)?)?;
    let len = tail.metadata_len();
    Limits::check("footer_bytes", len as usize, options.limits.footer_bytes)?;
    let footer = source.read_at(end.checked_sub(len.into()).ok_or_else(too_short)?, len as usize)?;
    Ok(match tail {
        FooterTail::Plain { .. } => parse_metadata(&footer, &options.limits)?.footer_signing_key_metadata,
        FooterTail::Encrypted { .. } => {
            FileCryptoMetaData::read(&mut Reader::with_limits(&footer, &options.limits))?.key_metadata
        }
    })
}

const TAIL_BYTES: u64 = 8;

/// Reports that the metadata of a column chunk cannot be decrypted, which breaks `rule`.
///
/// With a key, the metadata is damaged or the key is wrong. Without a key, the chunk cannot be checked.
pub(crate) fn add_refused(
    file: &VerifyContext,
    row_group: RowGroup<'_>,
    column: usize,
    rule: &Rule,
    error: Error,
    findings: &mut Findings,
) {
    let place = file.place(row_group.index(), column);
    match has_key(file, row_group, column) {
        true => findings.add(rule, place, || error.message().to_owned()),
        false => findings.add_error(rule, place, error),
    }
}

/// Whether a key was given for the chunk at this place of the row group.
fn has_key(file: &VerifyContext, row_group: RowGroup<'_>, column: usize) -> bool {
    let Some(keys) = &file.decryption else { return false };
    let key = match row_group.crypto_metadata_at(column) {
        Some(ColumnCryptoMetaData::ColumnKey(own)) => {
            let path = own.path_in_schema.iter().map(|name| name.as_str()).collect::<Vec<_>>().join(".");
            keys.column_key(&path, own.key_metadata.as_deref())
        }
        Some(ColumnCryptoMetaData::FooterKey) | None => {
            let encryption = file.metadata.encryption();
            keys.footer_key(encryption.and_then(|encryption| encryption.footer_key_metadata))
        }
        Some(_) => return false,
    };
    key.is_ok_and(|key| key.is_some())
}

/// Reports statistics of an encrypted column that anybody can read.
pub(crate) fn check_chunk(chunk: ColumnChunk<'_>, place: &ErrorLocation, findings: &mut Findings) {
    let has_plain_footer = chunk.has_plain_footer();
    let Some(meta) = chunk.stored_meta_data().filter(|_| has_plain_footer && chunk.is_encrypted()) else {
        return;
    };
    let leaks = [
        ("statistics", meta.statistics.is_some()),
        ("size statistics", meta.size_statistics.is_some()),
        ("geospatial statistics", meta.geospatial_statistics.is_some()),
    ];
    for (name, _) in leaks.into_iter().filter(|(_, is_there)| *is_there) {
        findings.add(&LEAK, place.clone(), || format!("the column is encrypted, its {name} are not"));
    }
}

/// Whether a page that may be encrypted can be decrypted.
pub(crate) fn check_page(
    pages: &mut PageReader,
    chunk: ColumnChunk<'_>,
    start: &LocatedHeader,
    place: &ErrorLocation,
    findings: &mut Findings,
) -> bool {
    if !chunk.is_encrypted() {
        return true;
    }
    let opened: Result<(), Error> = pages.stored_bytes(start).map(drop);
    opened.map_err(|error| findings.add_error(&TAG, place.clone(), error)).is_ok()
}
