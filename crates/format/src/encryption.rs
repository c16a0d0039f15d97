//! The metadata of encryption: the algorithm and the keys.
use crate::thrift::{Reader, ThriftString, Wire, Writer};
use marquetry_base::Result;

/// Parameters of AES_GCM_V1 and of AES_GCM_CTR_V1.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AesGcm {
    /// The prefix of the additional authenticated data (AAD), if it is stored in the file.
    pub aad_prefix: Option<Vec<u8>>,
    /// The part of the AAD that is unique to the file.
    pub aad_file_unique: Option<Vec<u8>>,
    /// Whether the reader must supply the AAD prefix.
    pub supply_aad_prefix: Option<bool>,
}

impl AesGcm {
    /// Reads the struct.
    pub fn read(r: &mut Reader<'_>) -> Result<Self> {
        let mut out = Self::default();
        r.fields(|r, field| {
            match (field.id, field.wire) {
                (1, Wire::Binary) => out.aad_prefix = Some(r.binary()?.to_vec()),
                (2, Wire::Binary) => out.aad_file_unique = Some(r.binary()?.to_vec()),
                (3, Wire::True | Wire::False) => out.supply_aad_prefix = Some(r.bool(field.wire)),
                _ => r.skip(field.wire)?,
            }
            Ok(())
        })?;
        Ok(out)
    }

    /// Writes the struct.
    pub fn write(&self, w: &mut Writer) {
        w.fields(|w| {
            if let Some(value) = &self.aad_prefix {
                w.binary_field(1, value);
            }
            if let Some(value) = &self.aad_file_unique {
                w.binary_field(2, value);
            }
            if let Some(value) = &self.supply_aad_prefix {
                w.bool_field(3, *value);
            }
        });
    }
}

/// The encryption of a column with a key of its own.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct EncryptionWithColumnKey {
    /// The path of the column.
    pub path_in_schema: Vec<ThriftString>,
    /// The key metadata, by which a reader finds the key.
    pub key_metadata: Option<Vec<u8>>,
}

impl EncryptionWithColumnKey {
    /// Reads the struct.
    pub fn read(r: &mut Reader<'_>) -> Result<Self> {
        let mut out = Self::default();
        r.fields(|r, field| {
            match (field.id, field.wire) {
                (1, Wire::List) => {
                    out.path_in_schema = r.list(Wire::Binary, Reader::string)?.unwrap_or_default();
                }
                (2, Wire::Binary) => out.key_metadata = Some(r.binary()?.to_vec()),
                _ => r.skip(field.wire)?,
            }
            Ok(())
        })?;
        Ok(out)
    }

    /// Writes the struct.
    pub fn write(&self, w: &mut Writer) {
        w.fields(|w| {
            w.list_field(1, Wire::Binary, &self.path_in_schema, |w, value| {
                w.binary(value.as_bytes());
            });
            if let Some(value) = &self.key_metadata {
                w.binary_field(2, value);
            }
        });
    }
}

/// The plaintext struct before an encrypted footer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileCryptoMetaData {
    /// The encryption algorithm of the file.
    pub encryption_algorithm: EncryptionAlgorithm,
    /// The key metadata of the footer key.
    pub key_metadata: Option<Vec<u8>>,
}

impl FileCryptoMetaData {
    /// Reads the struct.
    pub fn read(r: &mut Reader<'_>) -> Result<Self> {
        let mut encryption_algorithm = None;
        let mut key_metadata = None;
        r.fields(|r, field| {
            match (field.id, field.wire) {
                (1, Wire::Struct) => encryption_algorithm = Some(EncryptionAlgorithm::read(r)?),
                (2, Wire::Binary) => key_metadata = Some(r.binary()?.to_vec()),
                _ => r.skip(field.wire)?,
            }
            Ok(())
        })?;
        Ok(Self {
            encryption_algorithm: encryption_algorithm
                .ok_or_else(|| r.missing("FileCryptoMetaData.encryption_algorithm"))?,
            key_metadata,
        })
    }

    /// Writes the struct.
    pub fn write(&self, w: &mut Writer) {
        w.fields(|w| {
            w.nested_field(1, |w| self.encryption_algorithm.write(w));
            if let Some(value) = &self.key_metadata {
                w.binary_field(2, value);
            }
        });
    }
}

/// The encryption algorithm of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EncryptionAlgorithm {
    /// AES-GCM for all modules.
    AesGcmV1(AesGcm),
    /// AES-CTR for pages, AES-GCM for all other modules.
    AesGcmCtrV1(AesGcm),
    /// A member with this unknown field id; 0 if the union is empty.
    Unknown(i16),
}

impl EncryptionAlgorithm {
    /// Reads the union.
    pub fn read(r: &mut Reader<'_>) -> Result<Self> {
        let mut member = Self::Unknown(0);
        r.fields(|r, field| {
            match (field.id, field.wire) {
                (1, Wire::Struct) => member = Self::AesGcmV1(AesGcm::read(r)?),
                (2, Wire::Struct) => member = Self::AesGcmCtrV1(AesGcm::read(r)?),
                (other, wire) => {
                    member = Self::Unknown(other);
                    r.skip(wire)?;
                }
            }
            Ok(())
        })?;
        Ok(member)
    }

    /// Writes the union.
    pub fn write(&self, w: &mut Writer) {
        w.fields(|w| match self {
            Self::AesGcmV1(parameters) => w.nested_field(1, |w| parameters.write(w)),
            Self::AesGcmCtrV1(parameters) => w.nested_field(2, |w| parameters.write(w)),
            // Leaves out a known member that was not a struct: as an empty struct it would have another meaning.
            Self::Unknown(0..=2) => {}
            Self::Unknown(id) => w.empty_field(*id),
        });
    }
}

/// The key that a column is encrypted with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ColumnCryptoMetaData {
    /// The footer key.
    FooterKey,
    /// A key of its own.
    ColumnKey(EncryptionWithColumnKey),
    /// A member with this unknown field id; 0 if the union is empty.
    Unknown(i16),
}

impl ColumnCryptoMetaData {
    /// Reads the union.
    pub fn read(r: &mut Reader<'_>) -> Result<Self> {
        let mut member = Self::Unknown(0);
        r.fields(|r, field| {
            match (field.id, field.wire) {
                (2, Wire::Struct) => member = Self::ColumnKey(EncryptionWithColumnKey::read(r)?),
                (id, wire) => {
                    member = if id == 1 { Self::FooterKey } else { Self::Unknown(id) };
                    r.skip(wire)?;
                }
            }
            Ok(())
        })?;
        Ok(member)
    }

    /// Writes the union.
    pub fn write(&self, w: &mut Writer) {
        w.fields(|w| match self {
            Self::FooterKey => w.empty_field(1),
            Self::ColumnKey(parameters) => w.nested_field(2, |w| parameters.write(w)),
            Self::Unknown(0..=2) => {}
            Self::Unknown(id) => w.empty_field(*id),
        });
    }
}
