//! The bits of a bloom filter, block by block.

use crate::bloom_probe::BloomProbe;
use crate::footer_structs::BLOOM_FILTER_HEADER;
use crate::opened_file::OpenedFile;
use crate::screen::Screen;
use crate::struct_fields::StructFields;
use crate::text::shown;
use bytes::Bytes;
use marquetry_base::{Error, Result};
use marquetry_core::page_index::read_bloom_filter_bytes;
use marquetry_core::statistics::BloomFilterHead;
use marquetry_inspect::ShownCount;
use std::rc::Rc;

/// A bloom filter: its header, followed by its blocks.
pub(crate) struct BloomBlocks {
    file: Rc<OpenedFile>,
    column: usize,
    /// Offset of the filter in the file; `None` if it was decrypted.
    place: Option<u64>,
    filter: Result<(BloomFilterHead, Bytes)>,
}

impl BloomBlocks {
    pub(crate) fn new(file: Rc<OpenedFile>, row_group: usize, column: usize) -> Self {
        let filter = read(&file, row_group, column);
        let chunk = file.chunk(row_group, column).ok();
        let place = chunk.filter(|chunk| !chunk.is_encrypted()).and_then(|chunk| chunk.bloom_filter_offset());
        BloomBlocks { file, column, place, filter }
    }

    fn block(&self, block: usize) -> Option<(usize, &[u8])> {
        let (head, bytes) = self.filter.as_ref().ok()?;
        let start = head.header_bytes() + block * BLOCK;
        Some((start, bytes.get(start..start + BLOCK)?))
    }
}

fn read(file: &OpenedFile, row_group: usize, column: usize) -> Result<(BloomFilterHead, Bytes)> {
    let chunk = file.chunk(row_group, column)?;
    let bytes = read_bloom_filter_bytes(&*file.source, chunk, file.limits())?;
    let bytes: Bytes = bytes.ok_or_else(|| Error::argument("the chunk has no bloom filter"))?;
    Ok((BloomFilterHead::read(&bytes)?, bytes))
}

impl Screen for BloomBlocks {
    fn title(&self) -> String {
        "bloom filter".to_owned()
    }

    fn headings(&self) -> Vec<String> {
        ["part", ">at", ">bits set", "the eight words"].map(str::to_owned).to_vec()
    }

    fn len(&self) -> (usize, bool) {
        (self.filter.as_ref().map_or(1, |(head, _)| 1 + head.num_bytes() / BLOCK), true)
    }

    fn row(&mut self, index: usize) -> Vec<String> {
        let at = |at: usize| match self.place {
            Some(place) => (place + at as u64).to_string(),
            None => format!("+{at}"),
        };
        match (&self.filter, index.checked_sub(1).map(|block| (block, self.block(block)))) {
            (Err(error), _) => vec!["!".to_owned(), String::new(), String::new(), shown(&error.to_string())],
            (Ok((head, _)), None) => {
                let blocks = head.num_bytes() / BLOCK;
                vec![
                    "header".to_owned(),
                    at(0),
                    String::new(),
                    format!("{} blocks of 256 bits", ShownCount(blocks as u64)),
                ]
            }
            (Ok(_), Some((block, Some((start, bytes))))) => {
                let set: u32 = bytes.iter().map(|byte| byte.count_ones()).sum();
                let words =
                    bytes.as_chunks::<4>().0.iter().map(|word| format!("{:08x}", u32::from_le_bytes(*word)));
                vec![
                    format!("block {block}"),
                    at(start),
                    set.to_string(),
                    words.collect::<Vec<_>>().join(" "),
                ]
            }
            (Ok(_), Some((block, None))) => {
                vec![format!("block {block}"), String::new(), String::new(), "!".to_owned()]
            }
        }
    }

    fn about(&mut self, index: usize) -> String {
        match (&self.filter, index) {
            (Err(_), _) => "The bloom filter cannot be read; the column can be, without it.".to_owned(),
            (Ok(_), 0) => "A Thrift struct, and then bits: Enter shows its fields. f asks whether a value may be in the chunk. BloomFilter.md; parquet.thrift, BloomFilterHeader.".to_owned(),
            (Ok(_), _) => {
                let set = self.block(index - 1).map_or(0, |(_, bytes)| bytes.iter().map(|byte| byte.count_ones()).sum::<u32>());
                // For an absent value to pass, each of the eight words must have the bit that the value sets.
                let words = self.block(index - 1).map(|(_, bytes)| bytes.as_chunks::<4>().0.iter().map(|word| f64::from(u32::from_le_bytes(*word).count_ones()) / 32.0).product::<f64>());
                format!("{set} of 256 bits are set: of values that are not there and have this block, {:.2} % pass. f asks whether a value may be in the chunk. BloomFilter.md.", words.unwrap_or(0.0) * 100.0)
            }
        }
    }

    fn can_enter(&self, index: usize) -> bool {
        index == 0 && self.filter.is_ok()
    }

    fn enter(&mut self, _: usize) -> Option<Box<dyn Screen>> {
        let (head, bytes) = self.filter.as_ref().ok()?;
        let header = bytes.slice(..head.header_bytes());
        Some(Box::new(StructFields::new("header", header, self.place, &BLOOM_FILTER_HEADER)))
    }

    fn filtered(&mut self, text: &str) -> Option<std::result::Result<Box<dyn Screen>, String>> {
        let (head, bytes) = match &self.filter {
            Ok((head, bytes)) => (head, bytes),
            Err(error) => return Some(Err(shown(&error.to_string()))),
        };
        let leaf = self.file.metadata().schema().column(self.column);
        let probe = BloomProbe::new(text, leaf.physical(), *head, bytes, self.place);
        Some(probe.map(|probe| Box::new(probe) as Box<dyn Screen>))
    }

    fn keys(&self) -> &'static str {
        "f VALUE.."
    }

    fn byte(&mut self, index: usize) -> Option<u64> {
        let start =
            index.checked_sub(1).map_or(Some(0), |block| self.block(block).map(|(start, _)| start))?;
        self.place.map(|place| place + start as u64)
    }
}

/// Bytes of a block.
const BLOCK: usize = 32;
