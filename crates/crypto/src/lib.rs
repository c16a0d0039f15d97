//! Parquet modular encryption: modules, additional data, keys, and who has them.
//!
//! Spec: Encryption.md. Each part of a file (a page, its header, an index, the footer) is encrypted by itself, as a module:
//!
//! ```text
//! GCM module := length: 4 bytes little-endian | nonce: 12 bytes | ciphertext | tag: 16 bytes
//! CTR module := length: 4 bytes little-endian | nonce: 12 bytes | ciphertext
//! ```
//!
//! The tag of a GCM module also covers its [additional data](FileAad), which name the file and the place of the module
//! in it. So a module that was moved has a wrong tag.
//!
//! This crate knows nothing of files. Keys never appear in `Debug`, errors or any other text, and are wiped from memory
//! when they are dropped.
#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod aad;
#[cfg_attr(not(feature = "encryption"), path = "aes_modes_off.rs")]
mod aes_modes;
mod block_modes;
mod decryption_properties;
mod encryption_key;
mod encryption_properties;
#[cfg(feature = "encryption")]
#[cfg_attr(not(feature = "encryption-ring"), path = "fast_gcm_off.rs")]
mod fast_gcm;
#[cfg(feature = "encryption")]
mod key_management;
mod key_retriever;
mod module_cipher;
#[cfg_attr(not(feature = "encryption"), path = "random_off.rs")]
mod random;
mod scratch_key;
mod scrub;
mod secret_key;

pub use aad::{FileAad, MAX_ORDINAL, ModuleType};
pub use decryption_properties::{DecryptionPropertiesBuilder, EncryptionDialect, FileDecryptionProperties};
pub use encryption_key::{EncryptionKey, MAX_INVOCATIONS};
pub use encryption_properties::{
    ColumnEncryption, EncryptionPropertiesBuilder, FileEncryptionProperties, ParquetCipher,
};
#[cfg(feature = "encryption")]
pub use key_management::{
    ExternalKeyMaterial, KeyManagement, KeyProperties, KmsClient, KmsKeyRetriever, LocalKms, MasterKeys,
    MaterialOrigin,
};
pub use key_retriever::{KeyRetriever, shown_metadata};
pub use module_cipher::{CTR_OVERHEAD, GCM_OVERHEAD, LENGTH_BYTES, ModuleCipher, NONCE_BYTES, TAG_BYTES};
pub use scratch_key::{ScratchKey, Seal};
pub use secret_key::SecretKey;
