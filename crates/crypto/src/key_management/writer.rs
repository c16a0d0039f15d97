//! Makes new data keys, and has them wrapped.

use super::client::KmsClient;
use super::material::{KeyMaterial, encode, wrap};
use crate::encryption_properties::{EncryptionPropertiesBuilder, FileEncryptionProperties};
use crate::random;
use crate::secret_key::SecretKey;
use marquetry_base::{Error, Result};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use zeroize::Zeroizing;

/// Makes the keys of files whose master keys are in a KMS. Key metadata are as parquet-java and pyarrow write and read them, with the
/// key material in the file.
///
/// Key encryption keys are kept as long as this is.
///
/// ```
/// use marquetry_crypto::{KeyManagement, KmsClient};
/// # use marquetry_base::Result;
/// # use std::sync::Arc;
/// # struct Vault;
/// # impl KmsClient for Vault {
/// #     fn wrap_key(&self, _: &[u8], _: &str) -> Result<String> { Ok(String::new()) }
/// #     fn unwrap_key(&self, _: &str, _: &str) -> Result<Vec<u8>> { Ok(Vec::new()) }
/// # }
/// let keys = KeyManagement::new(Arc::new(Vault));
/// // New keys for each file.
/// let encryption = keys.encryption("footer-master", &[("salary-master", "salary")])?.build()?;
/// # Ok::<(), marquetry_base::Error>(())
/// ```
pub struct KeyManagement {
    kms: Arc<dyn KmsClient>,
    has_double_wrapping: bool,
    data_key_bytes: usize,
    instance: (String, String),
    /// For each master key its key encryption key: id in base64, the key, and the key wrapped by the KMS.
    encryption_keys: Mutex<HashMap<String, (String, SecretKey, String)>>,
}

impl KeyManagement {
    /// With double wrapping, and keys of 128 bits.
    pub fn new(kms: Arc<dyn KmsClient>) -> Self {
        KeyManagement {
            kms,
            has_double_wrapping: true,
            data_key_bytes: 16,
            instance: ("DEFAULT".to_owned(), "DEFAULT".to_owned()),
            encryption_keys: Mutex::default(),
        }
    }

    /// Whether data keys are wrapped with a key encryption key, which the KMS has wrapped. Default true; without, the KMS is asked for
    /// each key of each file.
    #[must_use]
    pub fn with_double_wrapping(mut self, double_wrapping: bool) -> Self {
        self.has_double_wrapping = double_wrapping;
        self
    }

    /// Bits of data keys: 128, 192 or 256. Default 128. Fails if it is another number.
    pub fn with_data_key_bits(mut self, bits: usize) -> Result<Self> {
        match bits {
            128 | 192 | 256 => self.data_key_bytes = bits / 8,
            _ => {
                return Err(Error::argument(format!(
                    "keys of {bits} bits: AES has keys of 128, 192 and 256"
                )));
            }
        }
        Ok(self)
    }

    /// Which KMS it is, told to readers in the footer's key metadata. Default `DEFAULT`, `DEFAULT`.
    #[must_use]
    pub fn with_kms_instance(mut self, id: &str, url: &str) -> Self {
        self.instance = (id.to_owned(), url.to_owned());
        self
    }

    /// New keys for one file: of the footer, under this master key, and of columns, pairs of a master key and a column. Without
    /// columns all is encrypted with the footer key. Fails if the KMS does.
    pub fn encryption(
        &self,
        footer_master_key: &str,
        columns: &[(&str, &str)],
    ) -> Result<EncryptionPropertiesBuilder> {
        let (key, material) = self.new_key(footer_master_key)?;
        let metadata = material.to_metadata(Some((&self.instance.0, &self.instance.1)));
        let builder = FileEncryptionProperties::builder(key.to_vec()).with_footer_key_metadata(metadata);
        columns.iter().try_fold(builder, |builder, (master, column)| {
            let (key, material) = self.new_key(master)?;
            Ok(builder.with_column_key_and_metadata(column, key.to_vec(), material.to_metadata(None)))
        })
    }

    fn new_key(&self, master: &str) -> Result<(Zeroizing<Vec<u8>>, KeyMaterial)> {
        let mut key = Zeroizing::new(vec![0; self.data_key_bytes]);
        random::fill(&mut key)?;
        let (wrapped_key, encryption_key) = match self.has_double_wrapping {
            false => (self.kms.wrap_key(&key, master)?, None),
            true => {
                let (id, with, wrapped) = self.encryption_key(master)?;
                let aad = super::material::decode(&id)?;
                (wrap(&key, &with, &aad)?, Some((id, wrapped)))
            }
        };
        Ok((key, KeyMaterial { master_key_id: master.to_owned(), wrapped_key, encryption_key }))
    }

    fn encryption_key(&self, master: &str) -> Result<(String, SecretKey, String)> {
        // One is made at a time: else two of one master key would be.
        let mut known = self.encryption_keys.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(key) = known.get(master) {
            return Ok(key.clone());
        }
        let (mut id, mut key) = ([0; 16], Zeroizing::new(vec![0; 16]));
        random::fill(&mut id)?;
        random::fill(&mut key)?;
        let wrapped = self.kms.wrap_key(&key, master)?;
        let made = (encode(&id), SecretKey::new(key.to_vec())?, wrapped);
        known.insert(master.to_owned(), made.clone());
        Ok(made)
    }
}
