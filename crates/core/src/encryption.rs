//! Decryption of files: the footer, then each column chunk with the key that the footer names.
//!
//! Spec: Encryption.md. How a module is opened is in `marquetry-crypto`; here is which key opens which module.
//!
//! ```text
//! keys + AAD prefix ─► FileDecryptor ─► footer ─► ChunkDecryptor ─► column metadata, page headers, pages, indexes, bloom filter
//! ```

mod chunk_decryptor;
mod file_decryptor;

pub(crate) use chunk_decryptor::{ChunkDecryptor, wrong_tag};
pub(crate) use file_decryptor::{FileDecryptor, encrypted_footer_error, no_key};

use marquetry_format::EncryptionAlgorithm;

/// What a file says of its encryption.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct FileEncryption<'a> {
    /// The algorithm, and the AAD prefix if it is stored.
    pub algorithm: &'a EncryptionAlgorithm,
    /// Which key the footer is encrypted or signed with.
    pub footer_key_metadata: Option<&'a [u8]>,
    /// Whether the footer is encrypted; if not, it is signed.
    pub has_encrypted_footer: bool,
}
