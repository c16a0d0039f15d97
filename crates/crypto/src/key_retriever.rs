//! The trait that finds a key by the key metadata of a file.

use marquetry_base::{Result, push_hex};

/// Finds keys by the key metadata that a writer stored in the file: the name of a key, or the key itself, encrypted with another one.
///
/// Several threads may call it at the same time. A reader calls it once for each key metadata of a file.
pub trait KeyRetriever: Send + Sync {
    /// Returns the key of 16, 24 or 32 bytes, or an empty one if no key with this metadata is known. Fails if the key
    /// cannot be obtained. The error must not contain key bytes.
    fn retrieve_key(&self, key_metadata: &[u8]) -> Result<Vec<u8>>;
}

/// Formats key metadata as text: unchanged if it is printable, and in hexadecimal digits otherwise. Long metadata is cut off.
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

/// Maximum number of characters shown. The JSON of a wrapped key is longer, and of no use to a reader.
const MOST_SHOWN: usize = 60;
