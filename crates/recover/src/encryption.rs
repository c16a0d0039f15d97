//! Recognizes encrypted files, of which nothing can be recovered without a key.

use crate::window::{FIRST_PAGE, Window};
use marquetry_base::{Error, Result};
use marquetry_core::source::Source;
use marquetry_format as format;

/// Fails for a file with an encrypted footer.
///
/// SPEC: Encryption.md: files with an encrypted footer begin and end with PARE.
pub(crate) fn refuse_encrypted(source: &dyn Source) -> Result<()> {
    let len = source.len();
    for at in [0, len.saturating_sub(4)] {
        if len >= 4 && *source.read_at(at, 4)? == format::PARE {
            return Err(Error::encrypted(
                "the file is encrypted (PARE), and no key was given: nothing can be recovered",
            )
            .at(at));
        }
    }
    Ok(())
}

/// Whether the file begins with encrypted modules: a length, as many bytes, at least a nonce and a tag, and so on.
pub(crate) fn looks_encrypted(window: &mut Window) -> bool {
    let mut at = FIRST_PAGE;
    for _ in 0..4 {
        let Ok(bytes) = window.at(at, 4) else { return false };
        let Some(len) = bytes.first_chunk().map(|len| u64::from(u32::from_le_bytes(*len))) else {
            return false;
        };
        at += 4 + len;
        if !(28..1 << 31).contains(&len) || at > window.source.len() {
            return false;
        }
    }
    true
}
