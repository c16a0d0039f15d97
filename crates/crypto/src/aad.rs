//! The additional authenticated data (AAD) of modules: the file, the type of the module, and its place in the file.
//!
//! ```text
//! footer                                     prefix | file identifier | 0
//! most modules of a column chunk             prefix | file identifier | type | row group | column
//! data pages and their headers               prefix | file identifier | type | row group | column | page
//! ```
//!
//! Ordinals are 16-bit numbers, little-endian. Pages are counted in their chunk, without the dictionary page.

use marquetry_base::{Error, Result};

/// The largest ordinal of a row group, a column or a page: ordinals are signed numbers of 16 bits.
pub const MAX_ORDINAL: usize = i16::MAX as usize;

/// The type of a module.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum ModuleType {
    /// The footer, encrypted or signed.
    Footer = 0,
    /// The metadata of a column with a key of its own.
    ColumnMetaData = 1,
    /// A data page.
    DataPage = 2,
    /// A dictionary page.
    DictionaryPage = 3,
    /// The header of a data page.
    DataPageHeader = 4,
    /// The header of a dictionary page.
    DictionaryPageHeader = 5,
    /// A column index.
    ColumnIndex = 6,
    /// An offset index.
    OffsetIndex = 7,
    /// The header of a bloom filter.
    BloomFilterHeader = 8,
    /// The bitset of a bloom filter.
    BloomFilterBitset = 9,
}

/// The start of the AAD of all modules of a file: the prefix and the file identifier.
///
/// ```
/// use marquetry_crypto::{FileAad, ModuleType};
/// let file = FileAad::new(b"table7", b"\x01\x02\x03\x04\x05\x06\x07\x08");
/// assert_eq!(file.page(ModuleType::DataPage, 0, 2, 258)?, b"table7\x01\x02\x03\x04\x05\x06\x07\x08\x02\0\0\x02\0\x02\x01");
/// # Ok::<(), marquetry_base::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileAad(Option<Vec<u8>>);

impl FileAad {
    /// Creates the AAD of a file with this prefix, which may be empty, and this identifier.
    pub fn new(prefix: &[u8], file_unique: &[u8]) -> Self {
        FileAad(Some([prefix, file_unique].concat()))
    }

    /// Creates the AAD of a file whose modules have no additional data at all. QUIRK: DuckDB writes such files.
    pub fn none() -> Self {
        FileAad(None)
    }

    /// Returns the AAD of the footer.
    pub fn footer(&self) -> Vec<u8> {
        self.with(ModuleType::Footer, &[])
    }

    /// Returns the AAD of a module that a column chunk has only once. Fails if a number is over [`MAX_ORDINAL`].
    pub fn column(&self, module: ModuleType, row_group: usize, column: usize) -> Result<Vec<u8>> {
        Ok(self.with(module, &[ordinal("row group", row_group)?, ordinal("column", column)?]))
    }

    /// Returns the AAD of data page `page` of a chunk, or of its header. Fails if a number is over [`MAX_ORDINAL`].
    pub fn page(&self, module: ModuleType, row_group: usize, column: usize, page: usize) -> Result<Vec<u8>> {
        let ordinals = [ordinal("row group", row_group)?, ordinal("column", column)?, ordinal("page", page)?];
        Ok(self.with(module, &ordinals))
    }

    fn with(&self, module: ModuleType, ordinals: &[[u8; 2]]) -> Vec<u8> {
        let Some(file) = &self.0 else { return Vec::new() };
        let mut aad = Vec::with_capacity(file.len() + 1 + 2 * ordinals.len());
        aad.extend_from_slice(file);
        aad.push(module as u8);
        aad.extend_from_slice(ordinals.as_flattened());
        aad
    }
}

fn ordinal(what: &str, number: usize) -> Result<[u8; 2]> {
    match i16::try_from(number) {
        Ok(ordinal) => Ok(ordinal.to_le_bytes()),
        Err(_) => Err(Error::unsupported(format!(
            "{what} {number} of an encrypted file: encryption counts up to {MAX_ORDINAL}"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use marquetry_base::ErrorKind;

    #[test]
    fn each_module_has_its_ordinals() {
        let file = FileAad::new(b"", b"unique..");
        assert_eq!(file.footer(), b"unique..\0");
        assert_eq!(file.column(ModuleType::OffsetIndex, 1, 0x7fff).unwrap(), b"unique..\x07\x01\0\xff\x7f");
        let page = file.page(ModuleType::DataPageHeader, 0, 1, 2).unwrap();
        assert_eq!(page, b"unique..\x04\0\0\x01\0\x02\0");
        assert_eq!(FileAad::none().page(ModuleType::DataPage, 0, 1, 2).unwrap(), b"");
    }

    #[test]
    fn ordinals_end() {
        let file = FileAad::new(b"", b"");
        for wrong in [
            file.column(ModuleType::ColumnIndex, MAX_ORDINAL + 1, 0),
            file.column(ModuleType::ColumnIndex, 0, MAX_ORDINAL + 1),
            file.page(ModuleType::DataPage, 0, 0, MAX_ORDINAL + 1),
        ] {
            let error = wrong.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Unsupported);
            assert!(error.message().contains("32768 of an encrypted file"), "{error}");
        }
    }
}
