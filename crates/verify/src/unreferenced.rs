//! Searches bytes that the footer does not refer to for another file.

use crate::context::VerifyContext;
use crate::findings::Findings;
use crate::rule::{Level, Rule, Severity, rule};
use marquetry_base::{ErrorLocation, Result};
use marquetry_format::parse_metadata;
use std::ops::Range;

const FILE: Rule = rule(
    "unreferenced-file",
    Severity::Suspicious,
    Level::Default,
    "No other file ends, with a footer of its own, where the next one begins: files put one behind the other are not a file",
    "README.md, File format",
);

pub(crate) const RULES: &[Rule] = &[FILE];

/// Searches the gaps between the parts of the file for the end of another file.
///
/// Old footers of checkpoints and of files that have grown are not other files: their rows are still referred to, and
/// no opening magic follows. If one follows, two files were joined, and no reader sees the rows of the first one.
pub(crate) fn check(file: &VerifyContext, findings: &mut Findings) {
    for gap in &file.parts.gaps {
        match border(file, gap.clone()) {
            Ok(None) => {}
            Ok(Some(border)) => {
                let place = ErrorLocation::default().with_offset(border);
                findings.add(&FILE, place, || {
                    "a footer and its PAR1 end here, and the PAR1 of another file follows: \
                     the footer at the end refers to nothing of one of them"
                        .to_owned()
                });
            }
            Err(error) => findings.add_error(&FILE, ErrorLocation::default(), error),
        }
    }
}

/// Returns where one file ends and another one begins, inside a gap.
fn border(file: &VerifyContext, gap: Range<u64>) -> Result<Option<u64>> {
    // A hostile file may consist of bytes that look like footers, so the work is bounded.
    let mut left = file.limits.footer_bytes;
    let mut at = gap.start;
    while at + BORDER_LEN <= gap.end {
        file.limits.cancel.check()?;
        let end = gap.end.min(at + WINDOW_BYTES);
        let bytes = file.source.read_at(at, (end - at) as usize)?;
        for (i, found) in bytes.windows(BORDER_LEN as usize).enumerate() {
            let Some((len, PAR1_PAR1)) = found.split_first_chunk() else { continue };
            let footer_end = at + i as u64;
            let footer_len = u32::from_le_bytes(*len);
            let Some(start) = footer_end.checked_sub(footer_len.into()).filter(|start| *start >= gap.start)
            else {
                continue;
            };
            let Some(rest) = left.checked_sub((footer_len as usize).max(MIN_FOOTER_COST)) else {
                return Ok(None);
            };
            left = rest;
            let footer = file.source.read_at(start, footer_len as usize)?;
            if parse_metadata(&footer, &file.limits).is_ok() {
                return Ok(Some(footer_end + TAIL_LEN));
            }
        }
        // A border may lie across two windows.
        at = end - (BORDER_LEN - 1);
    }
    Ok(None)
}

/// The closing magic of a file and the opening magic of the next one, and the length of both with the footer length
/// before them.
const PAR1_PAR1: &[u8] = b"PAR1PAR1";
const BORDER_LEN: u64 = 12;
/// Footer length and PAR1.
const TAIL_LEN: u64 = 8;
/// Number of bytes that are searched at a time.
const WINDOW_BYTES: u64 = 1 << 20;
/// Minimum cost of bytes that are not a footer.
const MIN_FOOTER_COST: usize = 64;
