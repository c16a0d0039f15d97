//! Cuts an encrypted file behind the last footer that the keys open. Its pages are not examined: they stay encrypted,
//! for their places in the file.

use crate::report::{Confidence, KeptRowGroup, Report, SchemaOrigin};
use marquetry_base::{Limits, Result};
use marquetry_core::checkpoint::{Evidence, find_last_encrypted_checkpoint};
use marquetry_core::metadata::RowGroup;
use marquetry_core::source::Source;
use marquetry_crypto::FileDecryptionProperties;
use std::io::Write;
use std::sync::Arc;

/// The part of an encrypted file up to the end of the last footer that the keys open, and the report on it.
pub struct EncryptedRecovery {
    source: Arc<dyn Source>,
    end: u64,
    report: Report,
}

/// Finds the last footer of an encrypted file that `keys` open: the one at the end, of a checkpoint, or of the file
/// before it grew. Returns `None` if there is no such footer.
///
/// Fails if the file cannot be read, or if the key of a footer is missing or wrong.
pub fn recover_encrypted(
    source: Arc<dyn Source>,
    keys: &Arc<FileDecryptionProperties>,
    limits: &Limits,
) -> Result<Option<EncryptedRecovery>> {
    let Some(found) = find_last_encrypted_checkpoint(&*source, limits, keys)? else { return Ok(None) };
    let mut report = Report {
        schema: Some(SchemaOrigin::Footer),
        row_groups: found.metadata.row_groups().map(kept).collect(),
        bytes: source.len(),
        ..Report::default()
    };
    let what = format!("the file up to byte {}, still encrypted", found.end);
    report.decide(what, "the last footer that the keys open ends there", Confidence::Exact);
    let behind = source.len() - found.end;
    if behind > 0 && found.evidence == Evidence::Append {
        let what = format!("{behind} bytes behind it are left out");
        report.decide(what, "a change of the file that was not finished had written them", Confidence::High);
    } else if behind > 0 {
        report.lose(found.end..source.len(), None, "no footer that the keys open is behind it");
    }
    Ok(Some(EncryptedRecovery { source, end: found.end, report }))
}

fn kept(group: RowGroup<'_>) -> KeptRowGroup {
    let ranges = group.columns().flatten().flat_map(|chunk| chunk.byte_range());
    let bytes = ranges.reduce(|all, range| all.start.min(range.start)..all.end.max(range.end));
    KeptRowGroup {
        bytes: bytes.unwrap_or(0..0),
        rows: group.num_rows(),
        nulls: Vec::new(),
        why: "a row group of the footer, not looked into".to_owned(),
        confidence: Confidence::High,
    }
}

impl EncryptedRecovery {
    /// Returns the report of what is kept and lost.
    pub fn report(&self) -> &Report {
        &self.report
    }

    /// Writes the bytes up to the end of the footer as they are, and returns the sink.
    ///
    /// Fails if the broken file cannot be read again, or if the sink fails.
    pub fn write<W: Write>(&self, mut sink: W) -> Result<W> {
        let mut at = 0;
        while at < self.end {
            let len = (self.end - at).min(BYTES_AT_ONCE);
            sink.write_all(&self.source.read_at(at, len as usize)?)?;
            at += len;
        }
        Ok(sink)
    }
}

const BYTES_AT_ONCE: u64 = 1 << 20;
