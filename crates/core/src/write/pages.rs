//! Writes pages: levels and values become bytes, compressed, with a header and a checksum. Collects the metadata for
//! the footer and the indexes.
//!
//! ```text
//! V1:  header | compressed( [len, rep levels] [len, def levels] values )
//! V2:  header | rep levels | def levels | compressed( values ), or the values as they are if they do not shrink
//! ```

use super::chunk_bytes::ChunkBytes;
use super::levels::Levels;
use super::settings::{ColumnSettings, PageVersion, StatisticsLevel};
use super::spill::Spill;
use super::workspace::Workspace;
use crate::schema::{Leaf, physical_type};
use crate::sort_order::SortOrder;
use crate::statistics::{ColumnIndexBuilder, LevelHistogram, MinMaxStats, PageStatistics, statistics};
use marquetry_base::{Error, Result};
use marquetry_codec::Codec;
use marquetry_encoding::{Shape, Values, levels, plain};
use marquetry_format as format;
use std::mem::take;
use std::ops::Range;
use std::sync::Arc;

/// The pages of one chunk.
pub(super) struct Pages {
    order: SortOrder,
    is_text: bool,
    shape: Shape,
    /// The dictionary page: written when the dictionary is complete, but first in the file.
    dictionary_page: ChunkBytes,
    /// Its length in bytes, if there is one.
    dictionary_len: Option<u64>,
    data_pages: ChunkBytes,
    /// Bytes of all data pages, including those that were taken.
    data_len: u64,
    /// Bytes of pages that were taken before.
    taken: u64,
    column_index: Option<ColumnIndexBuilder>,
    offset_index: format::OffsetIndex,
    byte_array_sizes: Vec<i64>,
    encoding_stats: Vec<format::PageEncodingStats>,
    chunk: Totals,
}

/// Totals of the whole chunk.
struct Totals {
    bounds: MinMaxStats,
    counts: LevelHistogram,
    byte_array_bytes: u64,
    uncompressed: u64,
}

/// The values of one data page.
pub(super) struct PageValues<'a> {
    /// The code of the encoding.
    pub(super) code: i32,
    /// Appends the encoded values to the second vector. If there is a first vector, their beginning may be appended to
    /// that one; the second one must then be empty.
    pub(super) encode: &'a mut EncodeInto<'a>,
    /// Bounds of the values.
    pub(super) bounds: &'a MinMaxStats,
    /// Number of values.
    pub(super) len: usize,
    /// For BYTE_ARRAY, the bytes of all values, without their lengths.
    pub(super) byte_array_bytes: u64,
}

/// See [`PageValues::encode`].
type EncodeInto<'a> = dyn FnMut(Option<&mut Vec<u8>>, &mut Vec<u8>) -> Result<()> + 'a;

/// A finished chunk.
pub(super) struct FinishedPages {
    pub(super) bytes: ChunkBytes,
    pub(super) taken: u64,
    pub(super) metadata: format::ColumnMetaData,
    pub(super) column_index: Option<format::ColumnIndex>,
    pub(super) offset_index: Option<format::OffsetIndex>,
}

impl Pages {
    pub(super) fn new(leaf: &Leaf, settings: &ColumnSettings) -> Self {
        let (order, _) = SortOrder::for_writing(leaf, settings.total_order);
        let is_text = leaf.logical().is_some_and(crate::logical_type::LogicalType::is_text);
        let indexed = settings.statistics == StatisticsLevel::Page;
        let column_index = indexed.then(|| ColumnIndexBuilder::new(order, settings.index_truncate, is_text));
        Pages {
            order,
            is_text,
            shape: leaf.physical().shape(),
            dictionary_page: ChunkBytes::new(),
            dictionary_len: None,
            data_pages: ChunkBytes::new(),
            data_len: 0,
            taken: 0,
            column_index,
            offset_index: format::OffsetIndex::default(),
            byte_array_sizes: Vec::new(),
            encoding_stats: Vec::new(),
            chunk: Totals {
                bounds: MinMaxStats::new(order),
                counts: LevelHistogram::new(leaf.max_def(), leaf.max_rep()),
                byte_array_bytes: 0,
                uncompressed: 0,
            },
        }
    }

    /// Returns the order of the values.
    pub(super) fn order(&self) -> SortOrder {
        self.order
    }

    /// Returns the bytes of pages in memory.
    pub(super) fn held(&self) -> usize {
        self.dictionary_page.held() + self.data_pages.held()
    }

    /// Returns the bytes of the data pages.
    pub(super) fn len(&self) -> u64 {
        self.data_len
    }

    /// Takes the pages so far. There must be no dictionary page to come.
    pub(super) fn take_pages(&mut self) -> ChunkBytes {
        let mut pages = take(&mut self.dictionary_page);
        pages.append(take(&mut self.data_pages));
        self.taken += pages.len();
        pages
    }

    /// Returns the bytes of the dictionary page.
    pub(super) fn dictionary_len(&self) -> usize {
        self.dictionary_len.unwrap_or(0) as usize
    }

    /// Returns the compression ratio so far: stored bytes per uncompressed byte.
    pub(super) fn ratio(&self) -> f64 {
        match self.chunk.uncompressed {
            0 => 1.0,
            uncompressed => (self.data_len as f64 + self.dictionary_len() as f64) / uncompressed as f64,
        }
    }

    /// Returns the number of data pages.
    pub(super) fn count(&self) -> usize {
        self.offset_index.page_locations.len()
    }

    pub(super) fn spill_to(&mut self, spill: &Arc<Spill>) -> Result<()> {
        self.dictionary_page.spill_to(spill)?;
        self.data_pages.spill_to(spill)
    }

    /// Writes a data page of `entries`, which must be whole rows.
    pub(super) fn write_data_page(
        &mut self,
        levels: Levels<'_>,
        entries: Range<usize>,
        values: PageValues<'_>,
        settings: &ColumnSettings,
        workspace: &mut Workspace,
    ) -> Result<()> {
        settings.cancel.check()?;
        let number = self.count();
        self.write_page(levels, entries, values, settings, workspace).map_err(|error| error.in_page(number))
    }

    fn write_page(
        &mut self,
        levels: Levels<'_>,
        entries: Range<usize>,
        values: PageValues<'_>,
        settings: &ColumnSettings,
        workspace: &mut Workspace,
    ) -> Result<()> {
        let counts = levels.counts(entries.clone());
        let (n, nulls) = (page_size(entries.len())?, entries.len() - values.len);
        let header_statistics = settings.page_header_statistics.then(|| {
            statistics(values.bounds, nulls as u64, None, settings.statistics_truncate, self.is_text)
        });
        let encoding = format::Encoding(values.code);
        let [mut head, mut body, mut stored] = workspace.take_cleared();
        let mut header = format::PageHeader::default();
        let is_compressed = match settings.page_version {
            PageVersion::V1 => {
                // Without a codec, the page is stored uncompressed; with a codec it must be compressed, even if it
                // grows.
                let is_compressed = settings.codec != Codec::Uncompressed;
                let before = if is_compressed { &mut body } else { &mut head };
                levels::encode_v1(levels.rep(entries.clone()), levels.max_rep, before);
                levels::encode_v1(levels.def(entries), levels.max_def, before);
                (values.encode)((!is_compressed).then_some(&mut head), &mut body)?;
                if is_compressed {
                    workspace.compress(settings, &body, &mut stored)?;
                }
                header.type_ = format::PageType::DATA_PAGE;
                header.data_page_header = Some(format::DataPageHeader {
                    num_values: n,
                    encoding,
                    definition_level_encoding: format::Encoding::RLE,
                    repetition_level_encoding: format::Encoding::RLE,
                    statistics: header_statistics,
                });
                is_compressed
            }
            PageVersion::V2 => {
                levels::encode(levels.rep(entries.clone()), levels.max_rep, &mut head);
                let rep_len = head.len();
                levels::encode(levels.def(entries), levels.max_def, &mut head);
                let levels_len = head.len();
                let is_plain = settings.codec == Codec::Uncompressed;
                (values.encode)(is_plain.then_some(&mut head), &mut body)?;
                let is_compressed = !is_plain && !body.is_empty() && {
                    workspace.compress(settings, &body, &mut stored)?;
                    stored.len() < body.len()
                };
                header.type_ = format::PageType::DATA_PAGE_V2;
                header.data_page_header_v2 = Some(format::DataPageHeaderV2 {
                    num_values: n,
                    num_nulls: page_size(nulls)?,
                    num_rows: page_size(counts.rows() as usize)?,
                    encoding,
                    definition_levels_byte_length: page_size(levels_len - rep_len)?,
                    repetition_levels_byte_length: page_size(rep_len)?,
                    is_compressed,
                    statistics: header_statistics,
                });
                is_compressed
            }
        };
        let uncompressed = head.len() + body.len();
        header.uncompressed_page_size = page_size(uncompressed)?;
        let tail = if is_compressed { &mut stored } else { &mut body };
        let header = self.finish_header(header, [&head, tail], settings)?;
        self.offset_index.page_locations.push(format::PageLocation {
            // The offset of the dictionary page's end is added in `finish`.
            offset: self.len() as i64,
            compressed_page_size: page_size(header.len() + head.len() + tail.len())?,
            first_row_index: self.chunk.counts.rows() as i64,
        });
        workspace.counters.page(uncompressed, head.len() + tail.len());
        self.data_len += (header.len() + head.len() + tail.len()) as u64;
        self.data_pages.push_page([&header, &head], tail, &workspace.pool);
        (workspace.head, workspace.body, workspace.stored) = (head, body, stored);
        self.note_page(&values, &counts, settings);
        Ok(())
    }

    fn note_page(&mut self, values: &PageValues<'_>, counts: &LevelHistogram, settings: &ColumnSettings) {
        if let Some(index) = &mut self.column_index {
            index.push_page(PageStatistics {
                bounds: values.bounds,
                values: values.len as u64,
                null_count: counts.nulls(),
                levels: Some(counts),
            });
        }
        if self.shape == Shape::Bytes {
            self.byte_array_sizes.push(values.byte_array_bytes as i64);
        }
        if settings.statistics > StatisticsLevel::None {
            self.chunk.bounds.merge(values.bounds);
        }
        self.chunk.counts.merge(counts);
        self.chunk.byte_array_bytes += values.byte_array_bytes;
        let page_type = match settings.page_version {
            PageVersion::V1 => format::PageType::DATA_PAGE,
            PageVersion::V2 => format::PageType::DATA_PAGE_V2,
        };
        self.count_encoding(page_type, format::Encoding(values.code));
    }

    fn count_encoding(&mut self, page_type: format::PageType, encoding: format::Encoding) {
        let known =
            self.encoding_stats.iter_mut().find(|s| (s.page_type, s.encoding) == (page_type, encoding));
        match known {
            Some(stats) => stats.count += 1,
            None => self.encoding_stats.push(format::PageEncodingStats { page_type, encoding, count: 1 }),
        }
    }

    /// Writes the dictionary page.
    pub(super) fn write_dictionary(
        &mut self,
        dictionary: &Values,
        settings: &ColumnSettings,
        workspace: &mut Workspace,
    ) -> Result<()> {
        let body = plain::encode(dictionary)?;
        let mut stored = take(&mut workspace.stored);
        stored.clear();
        workspace.compress(settings, &body, &mut stored)?;
        let header = format::PageHeader {
            type_: format::PageType::DICTIONARY_PAGE,
            uncompressed_page_size: page_size(body.len())?,
            dictionary_page_header: Some(format::DictionaryPageHeader {
                num_values: page_size(dictionary.len())?,
                encoding: format::Encoding::PLAIN,
                is_sorted: Some(false),
            }),
            ..format::PageHeader::default()
        };
        let mut page = ChunkBytes::new();
        let header = self.finish_header(header, [&[], &stored], settings)?;
        workspace.counters.page(body.len(), stored.len());
        workspace.counters.dictionary();
        page.push_page([&header, &[]], &mut stored, &workspace.pool);
        workspace.stored = stored;
        self.dictionary_len = Some(page.len());
        self.dictionary_page = page;
        self.count_encoding(format::PageType::DICTIONARY_PAGE, format::Encoding::PLAIN);
        Ok(())
    }

    /// Returns the bytes of a page's header. The page is stored in two parts.
    fn finish_header(
        &mut self,
        mut header: format::PageHeader,
        stored: [&[u8]; 2],
        settings: &ColumnSettings,
    ) -> Result<Vec<u8>> {
        header.compressed_page_size = page_size(stored.iter().map(|part| part.len()).sum())?;
        // SPEC: README.md, "Checksumming": over the page as stored, without its header.
        header.crc = settings.checksums.then(|| {
            let mut checksum = crc32fast::Hasher::new();
            stored.iter().for_each(|part| checksum.update(part));
            checksum.finalize() as i32
        });
        let mut writer = format::Writer::new();
        header.write(&mut writer);
        let bytes = writer.finish();
        self.chunk.uncompressed += bytes.len() as u64 + header.uncompressed_page_size as u64;
        Ok(bytes)
    }

    /// Returns the whole chunk. `distinct` is the number of distinct values, if it is known.
    pub(super) fn finish(
        self,
        leaf: &Leaf,
        settings: &ColumnSettings,
        distinct: Option<u64>,
    ) -> FinishedPages {
        let (has_dictionary, dictionary_len) =
            (self.dictionary_len.is_some(), self.dictionary_len.unwrap_or(0));
        let mut bytes = self.dictionary_page;
        bytes.append(self.data_pages);
        let mut offset_index = self.offset_index;
        offset_index.page_locations.iter_mut().for_each(|page| page.offset += dictionary_len as i64);
        if self.shape == Shape::Bytes {
            offset_index.unencoded_byte_array_data_bytes = Some(self.byte_array_sizes);
        }
        let totals = self.chunk;
        let wants_statistics = settings.statistics > StatisticsLevel::None;
        let byte_array_bytes = (self.shape == Shape::Bytes).then_some(totals.byte_array_bytes);
        let metadata = format::ColumnMetaData {
            type_: physical_type(leaf.physical()),
            encodings: encodings(&self.encoding_stats, leaf),
            path_in_schema: leaf.path_in_schema(),
            codec: format::CompressionCodec(settings.codec.code()),
            num_values: totals.counts.entries() as i64,
            total_uncompressed_size: totals.uncompressed as i64,
            total_compressed_size: (self.taken + bytes.len()) as i64,
            key_value_metadata: Some(settings.key_values.clone()).filter(|pairs| !pairs.is_empty()),
            data_page_offset: dictionary_len as i64,
            index_page_offset: None,
            dictionary_page_offset: has_dictionary.then_some(0),
            statistics: wants_statistics.then(|| {
                statistics(
                    &totals.bounds,
                    totals.counts.nulls(),
                    distinct,
                    settings.statistics_truncate,
                    self.is_text,
                )
            }),
            encoding_stats: Some(self.encoding_stats),
            bloom_filter_offset: None,
            bloom_filter_length: None,
            size_statistics: match wants_statistics {
                true => totals.counts.size_statistics(byte_array_bytes),
                false => None,
            },
            geospatial_statistics: None,
        };
        let column_index = self.column_index.and_then(ColumnIndexBuilder::finish);
        FinishedPages { bytes, taken: self.taken, metadata, column_index, offset_index: Some(offset_index) }
    }
}

/// Returns all encodings in the chunk, those of levels included.
fn encodings(stats: &[format::PageEncodingStats], leaf: &Leaf) -> Vec<format::Encoding> {
    let mut encodings = Vec::new();
    let levels = (leaf.max_def() > 0 || leaf.max_rep() > 0).then_some(format::Encoding::RLE);
    for encoding in stats.iter().map(|stats| stats.encoding).chain(levels) {
        if !encodings.contains(&encoding) {
            encodings.push(encoding);
        }
    }
    encodings
}

/// Converts a size or count of a page, which the format stores in 32 bits.
fn page_size(n: usize) -> Result<i32> {
    i32::try_from(n).map_err(|_| {
        Error::argument(format!("a page of {n} bytes or values: the format has room for {}", i32::MAX))
    })
}
