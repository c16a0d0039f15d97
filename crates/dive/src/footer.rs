//! The end of the file: the footer, its length, the magic.

use crate::footer_structs::{FILE_CRYPTO_METADATA, FILE_METADATA};
use crate::hex::Hex;
use crate::opened_file::OpenedFile;
use crate::screen::Screen;
use crate::struct_fields::StructFields;
use crate::text::{hex, shown};
use bytes::Bytes;
use marquetry_base::{Error, Result};
use marquetry_inspect::ShownCount;
use std::rc::Rc;

/// The end of the file.
pub(crate) struct Footer {
    file: Rc<OpenedFile>,
    /// Where the footer begins, and its bytes up to the length.
    footer: Result<(u64, Bytes)>,
    tail: Bytes,
}

impl Footer {
    pub(crate) fn new(file: Rc<OpenedFile>) -> Self {
        let len = file.source.len();
        let tail = file.source.read_at(len.saturating_sub(TAIL), len.min(TAIL) as usize).unwrap_or_default();
        let footer = read(&file);
        Footer { file, footer, tail }
    }

    fn is_encrypted(&self) -> bool {
        self.tail.ends_with(b"PARE")
    }
}

fn read(file: &OpenedFile) -> Result<(u64, Bytes)> {
    let end = file.source.len().saturating_sub(TAIL);
    let start = file.metadata().data_end().filter(|start| *start <= end);
    let start = start.ok_or_else(|| Error::corrupt("the footer is not in this file"))?;
    let len = usize::try_from(end - start).map_err(|_| Error::limit("the footer is too long"))?;
    Ok((start, file.source.read_at(start, len)?))
}

impl Screen for Footer {
    fn title(&self) -> String {
        "footer".to_owned()
    }

    fn headings(&self) -> Vec<String> {
        [">at", "bytes", "what", "value"].map(str::to_owned).to_vec()
    }

    fn len(&self) -> (usize, bool) {
        (3, true)
    }

    fn row(&mut self, index: usize) -> Vec<String> {
        let end = self.file.source.len();
        let (at, bytes, what, value) = match (index, &self.footer) {
            (0, Err(error)) => return vec![format!("! {}", shown(&error.to_string()))],
            (0, Ok((start, bytes))) => {
                let what =
                    if self.is_encrypted() { "FileCryptoMetaData, encrypted footer" } else { "FileMetaData" };
                (*start, hex(bytes, 8), what, format!("{} bytes", ShownCount(bytes.len() as u64)))
            }
            (1, _) => {
                let len = self.tail.first_chunk().map_or(0, |len| u32::from_le_bytes(*len));
                (
                    end.saturating_sub(TAIL),
                    hex(self.tail.get(..4).unwrap_or_default(), 4),
                    "length",
                    ShownCount(len.into()).to_string(),
                )
            }
            _ => {
                let magic = self.tail.get(4..).unwrap_or_default();
                (end.saturating_sub(4), hex(magic, 4), "magic", magic.escape_ascii().to_string())
            }
        };
        vec![at.to_string(), bytes, what.to_owned(), value]
    }

    fn about(&mut self, index: usize) -> String {
        match index {
            0 if self.is_encrypted() => "What says how the footer is encrypted stands in the open; behind it are its length, a nonce, the footer, a tag. Enter shows the fields of the first. Encryption.md.",
            0 => "A struct in Thrift's compact protocol: Enter shows its fields one by one. parquet.thrift, FileMetaData.",
            1 => "Bytes of the footer, in four bytes, the lowest first: readers begin here, at the end. README.md, File format.",
            _ => "PAR1 in bytes; PARE if the footer is encrypted. README.md, File format.",
        }
        .to_owned()
    }

    fn can_enter(&self, index: usize) -> bool {
        index > 0 || self.footer.is_ok()
    }

    fn enter(&mut self, index: usize) -> Option<Box<dyn Screen>> {
        let file = self.file.clone();
        match (index, &self.footer) {
            (0, Ok((start, bytes))) => {
                let known = if self.is_encrypted() { &FILE_CRYPTO_METADATA } else { &FILE_METADATA };
                Some(Box::new(StructFields::new(known.name, bytes.clone(), Some(*start), known)))
            }
            (0, Err(_)) => None,
            _ => Some(Box::new(Hex::new(file, self.byte(index)?))),
        }
    }

    fn byte(&mut self, index: usize) -> Option<u64> {
        match (index, &self.footer) {
            (0, Ok((start, _))) => Some(*start),
            (0, Err(_)) => None,
            (1, _) => Some(self.file.source.len().saturating_sub(TAIL)),
            _ => Some(self.file.source.len().saturating_sub(4)),
        }
    }
}

/// Bytes of length and magic.
const TAIL: u64 = 8;
