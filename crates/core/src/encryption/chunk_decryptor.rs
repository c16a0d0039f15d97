//! Decrypts the modules of one column chunk.

use marquetry_base::{Error, Result};
use marquetry_crypto::{EncryptionDialect, FileAad, ModuleCipher, ModuleType, ParquetCipher};
use std::fmt;
use std::sync::Arc;

/// The decryptor of a column chunk's modules. Each reader has its own.
#[derive(Clone)]
pub(crate) struct ChunkDecryptor {
    key: ModuleCipher,
    aad: Arc<FileAad>,
    cipher: ParquetCipher,
    uncounted_page_bytes: usize,
    row_group: usize,
    column: usize,
}

impl ChunkDecryptor {
    pub(super) fn new(
        key: ModuleCipher,
        aad: Arc<FileAad>,
        cipher: ParquetCipher,
        dialect: EncryptionDialect,
        (row_group, column): (usize, usize),
    ) -> Self {
        let uncounted_page_bytes = dialect.uncounted_page_bytes();
        ChunkDecryptor { key, aad, cipher, uncounted_page_bytes, row_group, column }
    }

    /// Returns how many bytes of a stored page the size in its header does not count.
    pub(crate) fn uncounted_page_bytes(&self) -> usize {
        self.uncounted_page_bytes
    }

    /// Decrypts a module of which the chunk has only one, an index or a part of the bloom filter.
    pub(crate) fn open(&self, kind: ModuleType, module: &[u8]) -> Result<Vec<u8>> {
        let aad = self.aad.column(kind, self.row_group, self.column)?;
        let mut content = Vec::new();
        match self.key.open_gcm(module, &aad, &mut content)? {
            true => Ok(content),
            false => Err(wrong_tag("its authentication tag is wrong")),
        }
    }

    /// Decrypts the header of data page `page`, or of the dictionary page. Returns whether it is the header of that
    /// page.
    pub(crate) fn open_header(
        &self,
        page: Option<usize>,
        module: &[u8],
        header: &mut Vec<u8>,
    ) -> Result<bool> {
        let aad = self.page_aad(page, ModuleType::DataPageHeader, ModuleType::DictionaryPageHeader)?;
        self.key.open_gcm(module, &aad, header)
    }

    /// Decrypts data page `page`, or the dictionary page.
    pub(crate) fn open_page(&self, page: Option<usize>, module: &[u8], content: &mut Vec<u8>) -> Result<()> {
        if self.cipher == ParquetCipher::AesGcmCtrV1 {
            return self.key.open_ctr(module, content);
        }
        let aad = self.page_aad(page, ModuleType::DataPage, ModuleType::DictionaryPage)?;
        match self.key.open_gcm(module, &aad, content)? {
            true => Ok(()),
            false => Err(wrong_tag("the page's authentication tag is wrong")),
        }
    }

    fn page_aad(&self, page: Option<usize>, data: ModuleType, dictionary: ModuleType) -> Result<Vec<u8>> {
        match page {
            Some(page) => self.aad.page(data, self.row_group, self.column, page),
            None => self.aad.column(dictionary, self.row_group, self.column),
        }
    }
}

/// Returns the error for a wrong tag. Column metadata or the footer were decrypted with the key, so it is right, and a
/// wrong tag is damage.
#[cold]
pub(crate) fn wrong_tag(what: &str) -> Error {
    Error::corrupt(format!("{what}: it was changed, or was written for another place"))
}

impl fmt::Debug for ChunkDecryptor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ChunkDecryptor(row group {}, column {})", self.row_group, self.column)
    }
}
