//! The trait that finds a key by the key metadata of a file.

use marquetry_base::{Result, push_hex};

/// Finds keys by the key metadata that a writer left in the file: the name of a key, or the key itself, encrypted under another one.
///
/// It may be called by several threads at a time. A reader asks once for each key metadata of a file.
pub trait KeyRetriever: Send + Sync {
    /// The key of 16, 24 or 32 bytes, or no bytes if no key of this metadata is known. Fails if it cannot be had: the error must not
    /// have key bytes in it.
    fn retrieve_key(&self, key_metadata: &[u8]) -> Result<Vec<u8>>;
}

/// Key metadata as text: as it is if it is printable, else as hexadecimal digits; not all of it if it is long.
///
/// ```
/// use marquetry_crypto::shown_metadata;
/// assert_eq!(shown_metadata(b"kf"), "\"kf\"");
/// assert_eq!(shown_metadata(&[0, 255]), "0x00ff");
/// ```
pub fn shown_metadata(metadata: &[u8]) -> String {
    let text = str::from_utf8(metadata).ok().filter(|text| text.chars().all(|c| !c.is_control()));
    match text {
        Some(text) if text.chars().count() <= MOST_SHOWN => format!("{text:?}"),
        Some(text) => format!("{:?}..", text.chars().take(MOST_SHOWN).collect::<String>()),
        None => {
            let mut out = "0x".to_owned();
            push_hex(&metadata[..metadata.len().min(MOST_SHOWN / 2)], &mut out);
            if metadata.len() > MOST_SHOWN / 2 {
                out.push_str("..");
            }
            out
        }
    }
}

/// The JSON of a wrapped key is longer, and says nothing.
const MOST_SHOWN: usize = 60;
