//! The end of the file: the footer, its length, the magic bytes.

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
    /// Offset of the footer, and its bytes up to the length.
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

/// A part of the end of the file.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Footer,
    /// The decrypted footer, which is nowhere in the file.
    Decrypted,
    Length,
    Magic,
}

impl Footer {
    fn parts(&self) -> &'static [Part] {
        match self.is_encrypted() {
            true => &[Part::Footer, Part::Decrypted, Part::Length, Part::Magic],
            false => &[Part::Footer, Part::Length, Part::Magic],
        }
    }

    fn part(&self, index: usize) -> Part {
        self.parts().get(index).copied().unwrap_or(Part::Magic)
    }
}

impl Screen for Footer {
    fn title(&self) -> String {
        "footer".to_owned()
    }

    fn headings(&self) -> Vec<String> {
        [">at", "bytes", "what", "value"].map(str::to_owned).to_vec()
    }

    fn len(&self) -> (usize, bool) {
        (self.parts().len(), true)
    }

    fn row(&mut self, index: usize) -> Vec<String> {
        let bytes_of = |bytes: &[u8]| format!("{} bytes", ShownCount(bytes.len() as u64));
        let (bytes, what, value) = match (self.part(index), &self.footer) {
            (Part::Footer, Err(error)) => return vec![format!("! {}", shown(&error.to_string()))],
            (Part::Footer, Ok((_, bytes))) => {
                let what =
                    if self.is_encrypted() { "FileCryptoMetaData, encrypted footer" } else { "FileMetaData" };
                (hex(bytes, 8), what, bytes_of(bytes))
            }
            (Part::Decrypted, _) => {
                let bytes = self.file.metadata().footer_bytes();
                (hex(bytes, 8), "FileMetaData, decrypted", bytes_of(bytes))
            }
            (Part::Length, _) => {
                let len = self.tail.first_chunk().map_or(0, |len| u32::from_le_bytes(*len));
                (hex(self.tail.get(..4).unwrap_or_default(), 4), "length", ShownCount(len.into()).to_string())
            }
            (Part::Magic, _) => {
                let magic = self.tail.get(4..).unwrap_or_default();
                (hex(magic, 4), "magic", magic.escape_ascii().to_string())
            }
        };
        let at = self.byte(index).map_or_else(|| "-".to_owned(), |at| at.to_string());
        vec![at, bytes, what.to_owned(), value]
    }

    fn about(&mut self, index: usize) -> String {
        match self.part(index) {
            Part::Footer if self.is_encrypted() => "What says how the footer is encrypted stands in the open; behind it are its length, a nonce, the footer, a tag. Enter shows the fields of the first. Encryption.md.",
            Part::Footer => "A struct in Thrift's compact protocol: Enter shows its fields one by one. parquet.thrift, FileMetaData.",
            Part::Decrypted => "What the footer says, opened with the key that was given: bytes that stand nowhere in the file. Enter shows its fields one by one. parquet.thrift, FileMetaData; Encryption.md.",
            Part::Length => "Bytes of the footer, in four bytes, the lowest first: readers begin here, at the end. README.md, File format.",
            Part::Magic => "PAR1 in bytes; PARE if the footer is encrypted. README.md, File format.",
        }
        .to_owned()
    }

    fn can_enter(&self, index: usize) -> bool {
        self.part(index) != Part::Footer || self.footer.is_ok()
    }

    fn enter(&mut self, index: usize) -> Option<Box<dyn Screen>> {
        match (self.part(index), &self.footer) {
            (Part::Footer, Ok((start, bytes))) => {
                let known = if self.is_encrypted() { &FILE_CRYPTO_METADATA } else { &FILE_METADATA };
                Some(Box::new(StructFields::new(known.name, bytes.clone(), Some(*start), known)))
            }
            (Part::Footer, Err(_)) => None,
            (Part::Decrypted, _) => {
                let bytes = self.file.metadata().footer_bytes().clone();
                Some(Box::new(StructFields::new(FILE_METADATA.name, bytes, None, &FILE_METADATA)))
            }
            _ => Some(Box::new(Hex::new(self.file.clone(), self.byte(index)?))),
        }
    }

    fn byte(&mut self, index: usize) -> Option<u64> {
        let end = self.file.source.len();
        match (self.part(index), &self.footer) {
            (Part::Footer, Ok((start, _))) => Some(*start),
            (Part::Footer, Err(_)) | (Part::Decrypted, _) => None,
            (Part::Length, _) => Some(end.saturating_sub(TAIL)),
            (Part::Magic, _) => Some(end.saturating_sub(4)),
        }
    }
}

/// Bytes of length and magic.
const TAIL: u64 = 8;
