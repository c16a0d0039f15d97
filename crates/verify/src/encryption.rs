//! Checks encrypted files: that keys fit, and that nothing is left in the open.

use crate::findings::Findings;
use crate::options::VerifyOptions;
use crate::rule::{Level, Rule, Severity, UNCHECKED, rule};
use marquetry_base::{Error, ErrorKind, ErrorLocation, Result};
use marquetry_core::io::{read_encrypted_metadata, read_metadata};
use marquetry_core::metadata::{ColumnChunk, ParquetMetaData};
use marquetry_core::page::{LocatedHeader, PageReader};
use marquetry_core::source::Source;

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

/// Reads the footer of an encrypted file, or with keys. `None` if that cannot be done.
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
            let is_missing = options.decryption.is_none() && error.kind() == ErrorKind::Key;
            let rule = if is_missing { &UNCHECKED } else { &FOOTER };
            findings.add(rule, place, || error.message().to_owned());
            Ok(None)
        }
    }
}

/// Reports statistics that anybody can read of a column that not anybody can.
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

/// Whether a page that may be encrypted is opened.
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
