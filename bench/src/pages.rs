//! The compressed pages of a file, and what it costs to decompress them and do nothing else.

use std::hint::black_box;
use std::sync::Arc;

use bytes::Bytes;
use marquetry::errors::Limits;
use marquetry::file::metadata::ColumnChunk;
use marquetry::file::page::{ChecksumTrust, LocatedHeader, PageBuffers, PageOptions, PageReader};
use marquetry::file::read_metadata;
use marquetry::internals::codec::{Codec, Decompressor};

use crate::error::Result;

/// Every page that a reader has to decompress, in the order of the file.
pub(crate) struct Pages {
    pages: Vec<Page>,
    decompressor: Decompressor,
    /// Each page is decompressed over the one before, as a reader does it.
    out: Vec<u8>,
}

struct Page {
    codec: Codec,
    stored: Bytes,
    /// Decompressed size in bytes.
    len: usize,
}

impl Pages {
    /// Finds the pages.
    pub(crate) fn of(file: &Bytes) -> Result<Pages> {
        let limits = Arc::new(Limits::default());
        let metadata = read_metadata(file, &limits)?.metadata;
        let options = PageOptions::for_writer(None)
            .with_limits(limits)
            .with_checksum_verification(false)
            .with_trust(ChecksumTrust::Disbelieved);
        let mut pages = Vec::new();
        for chunk in metadata.row_groups().flat_map(|row_group| row_group.columns()) {
            let chunk = chunk?;
            if chunk.codec()? != Codec::Uncompressed {
                find(file, chunk, options.clone(), &mut pages)?;
            }
        }
        Ok(Pages { pages, decompressor: Decompressor::new(), out: Vec::new() })
    }

    /// Decompresses each of them.
    pub(crate) fn decompress(&mut self) -> Result<()> {
        for Page { codec, stored, len } in &self.pages {
            self.decompressor.decompress_over(*codec, stored, *len, &mut self.out)?;
            black_box(&self.out);
        }
        Ok(())
    }
}

fn find(file: &Bytes, chunk: ColumnChunk<'_>, options: PageOptions, pages: &mut Vec<Page>) -> Result<()> {
    let codec = chunk.codec()?;
    let mut walk = PageReader::new(Arc::new(file.clone()), chunk, options, PageBuffers::default())?;
    while let Some(start) = walk.next_header()? {
        let stored = walk.raw_bytes(&start)?.to_bytes();
        pages.extend(compressed(codec, stored, &start)?);
    }
    Ok(())
}

/// The compressed part of a page: for V2 pages only the values, and only if the header says so.
fn compressed(codec: Codec, stored: Bytes, start: &LocatedHeader) -> Result<Option<Page>> {
    let levels = match &start.header.data_page_header_v2 {
        Some(header) if !header.is_compressed => return Ok(None),
        Some(header) => {
            let lengths = [header.repetition_levels_byte_length, header.definition_levels_byte_length];
            usize::try_from(lengths[0])? + usize::try_from(lengths[1])?
        }
        None => 0,
    };
    let len = usize::try_from(start.header.uncompressed_page_size)?;
    let too_short = || format!("{levels} bytes of levels in a page of {len}");
    if stored.len() == levels {
        return Ok(None);
    }
    if stored.len() < levels {
        return Err(too_short().into());
    }
    let len = len.checked_sub(levels).ok_or_else(too_short)?;
    Ok(Some(Page { codec, stored: stored.slice(levels..), len }))
}

#[cfg(test)]
mod tests {
    use arrow60_array::RecordBatch;
    use parquet::arrow::ArrowWriter;
    use parquet::basic::Compression;
    use parquet::file::properties::{WriterProperties, WriterVersion};

    use super::*;
    use crate::generate::{Rng, strings_of_15, with_nulls};

    /// The pages have as many bytes as the footer says, less the headers; V1 and V2.
    #[test]
    fn every_page_is_found() {
        let mut rng = Rng::new(1);
        let array = strings_of_15(&mut rng, 30_000);
        let array = with_nulls(&mut rng, &array, 10).unwrap();
        let batch = RecordBatch::try_from_iter_with_nullable([("value", array, true)]).unwrap();
        for version in [WriterVersion::PARQUET_1_0, WriterVersion::PARQUET_2_0] {
            let properties =
                WriterProperties::builder().set_compression(Compression::SNAPPY).set_writer_version(version);
            let mut writer =
                ArrowWriter::try_new(Vec::new(), batch.schema(), Some(properties.build())).unwrap();
            writer.write(&batch).unwrap();
            let mut pages = Pages::of(&Bytes::from(writer.into_inner().unwrap())).unwrap();
            assert_eq!(pages.pages.len(), 3, "a dictionary, and data pages of 20,000 rows at most");
            pages.decompress().unwrap();
            assert_eq!(pages.out.len(), pages.pages[2].len);
        }
    }
}
