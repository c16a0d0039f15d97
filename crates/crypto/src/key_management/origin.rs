//! Where the material of a key is stored, and which KMS has its master key.

use super::material::{Found, KeyMaterial};
use marquetry_base::Result;

/// Where the material of a key is stored, and which KMS has its master key, according to its key metadata (type PKMT1).
/// For callers that find the KMS by what a file says about it.
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
    /// Whether the material is outside of the file, as [`ExternalKeyMaterial`](super::ExternalKeyMaterial), which names the KMS.
    pub is_outside: bool,
    /// The id and the URL of the KMS. Only the material of a footer key has them.
    pub kms_instance: Option<(String, String)>,
}

impl MaterialOrigin {
    /// Reads the origin from key metadata. Fails if they are not key material.
    pub fn of(key_metadata: &[u8]) -> Result<Self> {
        Ok(match KeyMaterial::find(key_metadata)? {
            Found::Here(material) => MaterialOrigin { is_outside: false, kms_instance: material.instance },
            Found::Outside(_) => MaterialOrigin { is_outside: true, kms_instance: None },
        })
    }
}
