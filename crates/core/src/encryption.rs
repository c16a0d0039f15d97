//! Decryption of files: the footer, then each column chunk with the key that the footer names.
//!
//! Spec: Encryption.md. Modules are decrypted by `marquetry-crypto`; this module chooses the key of each.
//!
//! ```text
//! keys + AAD prefix ─► FileDecryptor ─► footer ─► ChunkDecryptor ─► column metadata, page headers, pages, indexes, bloom filter
//! ```

mod chunk_decryptor;
mod file_decryptor;

pub(crate) use chunk_decryptor::{ChunkDecryptor, wrong_tag};
pub(crate) use file_decryptor::{FileDecryptor, encrypted_footer_error, no_key};

use marquetry_format::EncryptionAlgorithm;

/// The encryption of a file, as its footer states it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct FileEncryption<'a> {
    /// The algorithm, and the AAD prefix if it is stored.
    pub algorithm: &'a EncryptionAlgorithm,
    /// The key metadata of the key that encrypts or signs the footer.
    pub footer_key_metadata: Option<&'a [u8]>,
    /// Whether the footer is encrypted; if not, it is signed.
    pub has_encrypted_footer: bool,
}
