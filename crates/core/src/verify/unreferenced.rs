//! Bytes that the footer does not refer to: there may be some, but not those of another file.

use super::context::VerifyContext;
use super::findings::Findings;
use super::rule::{Level, Rule, Severity, rule};
use marquetry_base::{ErrorLocation, Result};
use marquetry_format::parse_metadata;
use std::ops::Range;

const FILE: Rule = rule(
    "unreferenced-file",
    Severity::Suspicious,
    Level::Default,
    "No other file ends, with a footer of its own, where the next one begins: files put one behind the other are no file",
    "README.md, File format",
);

pub(super) const RULES: &[Rule] = &[FILE];

/// Looks through the gaps between the parts that the footer names.
///
/// Old footers are no other files: those of checkpoints, and of files that have grown, have rows before them that are still
/// there, and no opening magic behind them. That a whole file follows tells that two were joined, and that the rows of all
/// but one are lost to every reader.
pub(super) fn check(file: &VerifyContext, findings: &mut Findings<'_>) {
    for gap in &file.parts.gaps {
        match border(file, gap.clone()) {
            Ok(None) => {}
            Ok(Some(border)) => {
                let place = ErrorLocation { offset: Some(border), ..ErrorLocation::default() };
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

/// Where one file ends and another one begins, inside a gap.
fn border(file: &VerifyContext, gap: Range<u64>) -> Result<Option<u64>> {
    // What looks like a footer and is none costs something; a hostile file is made of that.
    let mut left = file.limits.footer_bytes;
    let mut at = gap.start;
    while at + BORDER_LEN <= gap.end {
        let end = gap.end.min(at + WINDOW);
        let bytes = file.source.read_at(at, (end - at) as usize)?;
        for (i, found) in bytes.windows(BORDER_LEN as usize).enumerate() {
            let Some((len, PAR1_PAR1)) = found.split_first_chunk() else { continue };
            let footer_end = at + i as u64;
            let footer_len = u32::from_le_bytes(*len);
            let Some(start) = footer_end.checked_sub(footer_len.into()).filter(|start| *start >= gap.start)
            else {
                continue;
            };
            let Some(rest) = left.checked_sub((footer_len as usize).max(LEAST_COST)) else { return Ok(None) };
            left = rest;
            let footer = file.source.read_at(start, footer_len as usize)?;
            if parse_metadata(&footer, &file.limits).is_ok() {
                return Ok(Some(footer_end + TAIL_LEN));
            }
        }
        // A border may lie across that of two windows.
        at = end - (BORDER_LEN - 1);
    }
    Ok(None)
}

/// The end of a file behind the length of its footer, and the beginning of another one.
const PAR1_PAR1: &[u8] = b"PAR1PAR1";
const BORDER_LEN: u64 = 12;
/// Footer length and PAR1.
const TAIL_LEN: u64 = 8;
/// Bytes that are looked through at a time.
const WINDOW: u64 = 1 << 20;
/// What a footer costs at least that is none.
const LEAST_COST: usize = 64;
