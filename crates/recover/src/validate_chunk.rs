//! Validates a chunk: all pages can be read, to the last value, and have as many rows as the row group.

use crate::found_page::{FoundPage, PageEvidence};
use crate::open_page::{self, fitting_codecs, tells_codec};
use crate::window::Window;
use marquetry_base::{Error, Limits, Result};
use marquetry_codec::{Codec, Decompressor};
use marquetry_core::metadata::{ColumnChunk, ParquetMetaData};
use marquetry_core::page::{ChecksumTrust, PageBuffers, PageOptions};
use marquetry_core::read::{ColumnBatch, ColumnChunkReader, ReadTarget, ValueLayout, ValueRepair};
use marquetry_core::row_mask::runs;
use marquetry_core::schema::{Leaf, column, group};
use marquetry_core::sort_order::SortOrder;
use marquetry_core::source::Source;
use marquetry_core::statistics::MinMaxStats;
use marquetry_format as format;
use std::sync::Arc;

/// Decodes all values of a chunk, and passes its rows to `look` batch by batch, with definition levels if there are
/// lists or `keeps_levels`. Fails if that is impossible, or if there are fewer or more than `rows` rows.
pub(crate) fn validate_chunk(
    source: &Arc<dyn Source>,
    chunk: ColumnChunk<'_>,
    rows: u64,
    trust: ChecksumTrust,
    limits: &Arc<Limits>,
    keeps_levels: bool,
    mut look: impl FnMut(&ColumnBatch) -> Result<()>,
) -> Result<()> {
    let leaf = chunk.leaf();
    let target = ReadTarget {
        physical: leaf.physical(),
        max_def: leaf.max_def(),
        max_rep: leaf.max_rep(),
        repeated_ancestor_def_level: 0,
        keep_levels: leaf.max_rep() > 0 || keeps_levels,
        is_text: leaf.logical().is_some_and(marquetry_core::logical_type::LogicalType::is_text),
        layout: ValueLayout::Native,
        repair: ValueRepair::None,
    };
    let shape = target.physical.shape();
    let options = PageOptions::for_writer(None).with_limits(limits.clone()).with_trust(trust);
    let mut reader =
        ColumnChunkReader::new(source.clone(), chunk, Arc::new(target), options, PageBuffers::default())?;
    let mut left = rows;
    while left > 0 {
        let n = left.min(ROWS_PER_BATCH);
        let mut batch = ColumnBatch::new(shape);
        let read = reader.read(n as usize, &mut batch)? as u64;
        if read < n {
            return Err(Error::truncated(format!("{} rows are missing", left - read)));
        }
        look(&batch)?;
        left -= n;
    }
    if reader.read(1, &mut ColumnBatch::new(shape))? > 0 {
        return Err(Error::corrupt("more rows than the row group has"));
    }
    Ok(())
}

/// Returns the metadata that a footer would have for a chunk of these pages. Fails if they are not a chunk of the
/// column.
///
/// Tries codecs, `preferred` first, until one results in values of the column in all pages.
pub(crate) fn describe(
    window: &mut Window,
    pages: &[FoundPage],
    leaf: &Leaf,
    rows: u64,
    preferred: Option<Codec>,
    created_by: Option<&str>,
) -> Result<format::ColumnMetaData> {
    if pages.iter().any(|page| page.evidence == PageEvidence::Damaged) {
        return Err(Error::corrupt("a page's checksum is wrong"));
    }
    let trust = ChecksumTrust::of_writer(created_by);
    // QUIRK: fastparquet writes eight zeros behind the values of each page.
    let padding = if created_by.is_some_and(|writer| writer.starts_with("fastparquet")) { 8 } else { 0 };
    let mut decompressor = Decompressor::new();
    // The page with the best compression is the best evidence for a codec.
    let ratio = |page: &&FoundPage| {
        (page.end - page.body) * 1000 / u64::from(page.header.uncompressed_page_size.unsigned_abs()).max(1)
    };
    let telling = pages.iter().filter(|page| tells_codec(page)).min_by_key(ratio);
    let Some(telling) = telling.or_else(|| pages.iter().find(|page| page.end > page.body)).or(pages.first())
    else {
        return Err(Error::corrupt("no pages"));
    };
    let codecs = fitting_codecs(window, telling, preferred, &mut decompressor)?;
    let mut why = Error::corrupt("no codec gives a page's size");
    for codec in codecs {
        // Decoders ignore bytes behind the last value, so values of another type might decode.
        let mut is_filled = true;
        for page in pages {
            is_filled &=
                open_page::is_filled(window, page, codec, leaf, padding, &mut decompressor).unwrap_or(false);
        }
        if !is_filled {
            why = Error::corrupt("values do not fill their page as those of the column would");
            continue;
        }
        let meta = metadata(pages, leaf, codec);
        let lone = lone(meta.clone(), leaf, rows, created_by, &window.limits)?;
        let chunk = lone.row_group(0).column(0)?;
        match validate_chunk(&window.source, chunk, rows, trust, &window.limits, false, |_| Ok(())) {
            Ok(()) => return Ok(meta),
            Err(error) if error.stops_reading() => return Err(error),
            Err(error) => why = error,
        }
    }
    Err(why)
}

/// Returns the least and the greatest value of a chunk of these pages, PLAIN, or `None` if it has no values. Fails if
/// they are not a chunk of the column, which is in no list.
pub(crate) fn extent_of_values(
    window: &mut Window,
    pages: &[FoundPage],
    leaf: &Leaf,
    rows: u64,
    preferred: Option<Codec>,
) -> Result<Option<[Vec<u8>; 2]>> {
    let meta = describe(window, pages, leaf, rows, preferred, None)?;
    let lone = lone(meta, leaf, rows, None, &window.limits)?;
    let chunk = lone.row_group(0).column(0)?;
    let mut bounds = MinMaxStats::new(SortOrder::of(leaf));
    let trust = ChecksumTrust::of_writer(None);
    validate_chunk(&window.source, chunk, rows, trust, &window.limits, false, |batch| {
        match &batch.validity {
            None => bounds.update(&batch.values, 0..batch.entries),
            Some(validity) => {
                runs(validity, 0..batch.entries).for_each(|run| bounds.update(&batch.values, run));
            }
        }
        Ok(())
    })?;
    let ends = bounds.min().zip(bounds.max());
    Ok(ends.map(|(min, max)| [min.to_vec(), max.to_vec()]))
}

/// Returns the metadata of a chunk, as its page headers determine it.
fn metadata(pages: &[FoundPage], leaf: &Leaf, codec: Codec) -> format::ColumnMetaData {
    let mut encodings = Vec::new();
    for page in pages {
        let levels = if page.is_dictionary() { page.encoding() } else { format::Encoding::RLE };
        for encoding in [page.encoding(), levels] {
            if !encodings.contains(&encoding) {
                encodings.push(encoding);
            }
        }
    }
    let first = pages.first().map_or(0, |page| page.offset);
    let end = pages.last().map_or(0, |page| page.end);
    let data = pages.iter().find(|page| !page.is_dictionary()).map_or(first, |page| page.offset);
    format::ColumnMetaData {
        type_: column("", leaf.physical()).type_.unwrap_or_default(),
        encodings,
        path_in_schema: leaf.path_in_schema(),
        codec: format::CompressionCodec(codec.code()),
        num_values: pages.iter().map(FoundPage::values).sum::<u64>() as i64,
        total_uncompressed_size: pages.iter().map(FoundPage::uncompressed).sum::<u64>() as i64,
        total_compressed_size: (end - first) as i64,
        data_page_offset: data as i64,
        dictionary_page_offset: (data > first).then_some(first as i64),
        ..format::ColumnMetaData::default()
    }
}

/// Creates a footer with one chunk of one column that has the type and the levels of `leaf`. Its ancestors do not
/// matter for reading.
fn lone(
    mut meta: format::ColumnMetaData,
    leaf: &Leaf,
    rows: u64,
    created_by: Option<&str>,
    limits: &Limits,
) -> Result<ParquetMetaData> {
    let repeated = usize::from(leaf.max_rep());
    let above = (0..leaf.max_def()).map(|i| {
        let repetition = if usize::from(i) < repeated {
            format::Repetition::REPEATED
        } else {
            format::Repetition::OPTIONAL
        };
        format::SchemaElement { repetition_type: Some(repetition), ..group("g", 1) }
    });
    let mut schema = vec![format::SchemaElement { repetition_type: None, ..group("m", 1) }];
    schema.extend(above);
    let mut element = column("c", leaf.physical());
    leaf.logical().iter().for_each(|logical| marquetry_core::schema::annotate(&mut element, logical));
    schema.push(element);
    meta.path_in_schema = Vec::new();
    let row_group = format::RowGroup {
        num_rows: i64::try_from(rows).unwrap_or(i64::MAX),
        columns: vec![format::ColumnChunk { meta_data: Some(meta), ..format::ColumnChunk::default() }],
        ..format::RowGroup::default()
    };
    let thrift = format::FileMetaData {
        schema,
        row_groups: vec![row_group],
        created_by: created_by.map(format::ThriftString::from),
        ..format::FileMetaData::default()
    };
    ParquetMetaData::from_thrift(thrift, limits)
}

/// Number of rows that are read at a time.
const ROWS_PER_BATCH: u64 = 8192;
