//! Where the material of a key is, and which KMS has its master key.

use super::material::{Found, KeyMaterial};
use marquetry_base::Result;

/// Where the material of a key is, and which KMS has its master key, as far as its key metadata (type PKMT1) say: for who finds the KMS
/// by what a file says of it.
///
/// ```
/// use marquetry_crypto::MaterialOrigin;
/// let metadata = br#"{"keyMaterialType": "PKMT1", "internalStorage": false, "keyReference": "footerKey"}"#;
/// assert!(MaterialOrigin::of(metadata)?.is_outside);
/// # Ok::<(), marquetry_base::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct MaterialOrigin {
    /// Whether it is outside of the file, as [`ExternalKeyMaterial`](super::ExternalKeyMaterial), which tells the rest.
    pub is_outside: bool,
    /// The id and the URL of the KMS. Only the material of a footer key has them.
    pub kms_instance: Option<(String, String)>,
}

impl MaterialOrigin {
    /// Of the key that has these key metadata. Fails if they are no key material.
    pub fn of(key_metadata: &[u8]) -> Result<Self> {
        Ok(match KeyMaterial::find(key_metadata)? {
            Found::Here(material) => MaterialOrigin { is_outside: false, kms_instance: material.instance },
            Found::Outside(_) => MaterialOrigin { is_outside: true, kms_instance: None },
        })
    }
}
