//! A page: its header, its levels and its values, byte by byte.

use crate::explained::Explained;
use crate::opened_file::OpenedFile;
use crate::page_body::{explain_levels, explain_values};
use crate::page_header::explain_header;
use crate::screen::Screen;
use crate::text::shown;
use crate::values::PageValues;
use marquetry_base::{Error, Result};
use marquetry_codec::{Codec, Decompressor};
use marquetry_core::page::{Checksum, LocatedHeader};
use marquetry_encoding::PhysicalType;
use marquetry_format::Encoding;
use std::rc::Rc;

/// A page, explained.
pub(crate) struct Page {
    file: Rc<OpenedFile>,
    row_group: usize,
    column: usize,
    start: LocatedHeader,
    fields: Vec<(Part, Explained)>,
}

/// The part of a page in which offsets are counted.
#[derive(Clone, Copy, PartialEq)]
enum Part {
    Header,
    Body,
    Note,
}

impl Page {
    pub(crate) fn new(file: Rc<OpenedFile>, row_group: usize, column: usize, start: &LocatedHeader) -> Self {
        let mut page = Page { file, row_group, column, start: start.clone(), fields: Vec::new() };
        if let Err(error) = page.explain() {
            let note = Explained::new(
                0,
                &[],
                "!",
                shown(&error.to_string()),
                "The rest of the page cannot be read.",
            );
            page.fields.push((Part::Note, note));
        }
        page
    }

    fn explain(&mut self) -> Result<()> {
        let mut reader = self.file.pages(self.row_group, self.column)?;
        // Reads the header once more, to get its bytes.
        let start = reader.seek(self.start.offset, self.start.index)?;
        let header = reader.header_bytes(&start)?;
        self.fields.extend(explain_header(&header).into_iter().map(|field| (Part::Header, field)));
        if let Checksum::Bad { stored, computed } = reader.checksum(&start)? {
            let value = format!("the header says {stored:08x}, the bytes give {computed:08x}");
            let note =
                Explained::new(0, &[], "! checksum", value, "The page is damaged. README.md, Checksumming.");
            self.fields.push((Part::Note, note));
        }
        let file = self.file.clone();
        let leaf = file.metadata().schema().column(self.column);
        let stored = reader.stored_bytes(&start)?;
        let stored = stored.as_slice();
        let (levels, encoding) = match &start.header.data_page_header_v2 {
            Some(v2) => {
                let len = |len: i32| usize::try_from(len).unwrap_or(usize::MAX);
                let (rep, def) =
                    (len(v2.repetition_levels_byte_length), len(v2.definition_levels_byte_length));
                let levels = stored.get(..rep.saturating_add(def));
                let levels = levels.ok_or_else(|| Error::corrupt("levels are longer than the page"))?;
                self.levels(&levels[..rep], 0, true);
                self.levels(&levels[rep..], rep, false);
                (levels.len(), v2.encoding)
            }
            None => (0, start.encoding().unwrap_or(Encoding::PLAIN)),
        };
        let len = usize::try_from(start.header.uncompressed_page_size).unwrap_or(0).saturating_sub(levels);
        let is_plain = start.header.data_page_header_v2.as_ref().is_some_and(|header| !header.is_compressed);
        let codec = self.file.chunk(self.row_group, self.column)?.codec()?;
        let body = decompressed(if is_plain { Codec::Uncompressed } else { codec }, &stored[levels..], len)?;
        let (mut at, mut rest) = (levels, body.as_slice());
        if start.header.data_page_header.is_some() {
            for (max, is_repetition) in [(leaf.max_rep(), true), (leaf.max_def(), false)] {
                if max == 0 {
                    continue;
                }
                let what = if is_repetition { "repetition" } else { "definition" };
                let len = rest.first_chunk().map(|len| u32::from_le_bytes(*len) as usize);
                let runs = len.and_then(|len| rest.get(4..len.checked_add(4)?));
                let runs =
                    runs.ok_or_else(|| Error::corrupt(format!("{what} levels are longer than the page")))?;
                let value = format!("{} bytes", runs.len());
                let about = "In pages of version 1 levels have their length in front, in four bytes. README.md, Data Pages.";
                self.fields.push((
                    Part::Body,
                    Explained::new(at, &rest[..4], format!("{what} levels"), value, about),
                ));
                let end = runs.len() + 4;
                self.levels(&rest[4..end], at + 4, is_repetition);
                (at, rest) = (at + end, &rest[end..]);
            }
        }
        let width = match leaf.physical() {
            PhysicalType::Boolean => Some(0),
            PhysicalType::Int32 | PhysicalType::Float => Some(4),
            PhysicalType::Int64 | PhysicalType::Double => Some(8),
            PhysicalType::Int96 => Some(12),
            PhysicalType::FixedLenByteArray(width) => Some(width),
            PhysicalType::ByteArray => None,
        };
        let encoding = if start.is_dictionary() { Encoding::PLAIN } else { encoding };
        let values = explain_values(rest, at, encoding, width);
        self.fields.extend(values.into_iter().map(|field| (Part::Body, field)));
        Ok(())
    }

    fn levels(&mut self, bytes: &[u8], at: usize, is_repetition: bool) {
        let leaf = self.file.metadata().schema().column(self.column);
        let (max, what, means) = match is_repetition {
            true => {
                (leaf.max_rep(), "repetition level", "0 begins a row; a greater one goes on with a list.")
            }
            false => (
                leaf.max_def(),
                "definition level",
                "How much of the path is there: the greatest is a value, less is a null or an empty list.",
            ),
        };
        if max > 0 {
            let means = format!("{means} The greatest is {max}. README.md, Nested Encoding.");
            let runs = explain_levels(bytes, at, max, what, &means);
            self.fields.extend(runs.into_iter().map(|field| (Part::Body, field)));
        }
    }
}

/// Decompresses a page. Fails if the result does not have `len` bytes.
fn decompressed(codec: Codec, stored: &[u8], len: usize) -> Result<Vec<u8>> {
    let mut out = Vec::new();
    match codec {
        Codec::Uncompressed => out.extend_from_slice(stored),
        _ if stored.is_empty() => {}
        codec => Decompressor::default().decompress(codec, stored, len, &mut out)?,
    }
    Ok(out)
}

impl Screen for Page {
    fn title(&self) -> String {
        format!("page {}", self.start.index)
    }

    fn headings(&self) -> Vec<String> {
        ["part", ">at", "bytes", "field", "value"].map(str::to_owned).to_vec()
    }

    fn len(&self) -> (usize, bool) {
        (self.fields.len(), true)
    }

    fn row(&mut self, index: usize) -> Vec<String> {
        let (part, field) = &self.fields[index];
        let (part, at) = match part {
            Part::Header => ("header", (self.start.offset + field.at as u64).to_string()),
            Part::Body => ("page", format!("+{}", field.at)),
            Part::Note => ("", String::new()),
        };
        vec![part.to_owned(), at, field.bytes.clone(), field.name.clone(), field.value.clone()]
    }

    fn about(&mut self, index: usize) -> String {
        let (part, field) = &self.fields[index];
        let counted = match part {
            Part::Body => " Bytes are counted from the page's first, after decompression.",
            _ => "",
        };
        format!("{}{counted}", field.about)
    }

    fn go(&mut self, key: char, _: usize) -> Option<Box<dyn Screen>> {
        let values = || PageValues::new(self.file.clone(), self.row_group, self.column, &self.start);
        (key == 'v').then(|| Box::new(values()) as Box<dyn Screen>)
    }

    fn keys(&self) -> &'static str {
        "v values"
    }

    fn byte(&mut self, index: usize) -> Option<u64> {
        let (part, field) = self.fields.get(index)?;
        Some(match part {
            Part::Header => self.start.offset + field.at as u64,
            _ => self.start.body,
        })
    }
}
