//! Builds a chunk of nulls, which replaces a lost one, and says which columns become null.

use marquetry_base::{Error, Result};
use marquetry_core::schema::{Leaf, Repetition, Schema, column};
use marquetry_core::write::{ChunkBytes, EncodedChunk};
use marquetry_encoding::levels::{LevelSlice, encode_v1};
use marquetry_format as format;

/// Creates a chunk of `rows` nulls, in one page.
pub(crate) fn null_chunk(leaf: &Leaf, rows: u64) -> Result<EncodedChunk> {
    let too_many =
        || Error::unsupported(format!("{rows} nulls in one page")).in_column(leaf.dotted().clone());
    let n = i32::try_from(rows).map_err(|_| too_many())?;
    let mut body = Vec::new();
    for max in [leaf.max_rep(), leaf.max_def()] {
        encode_v1(LevelSlice::Run { level: 0, n: n as usize }, max, &mut body);
    }
    let header = format::PageHeader {
        type_: format::PageType::DATA_PAGE,
        uncompressed_page_size: body.len() as i32,
        compressed_page_size: body.len() as i32,
        crc: Some(crc32fast::hash(&body) as i32),
        data_page_header: Some(format::DataPageHeader {
            num_values: n,
            encoding: format::Encoding::PLAIN,
            definition_level_encoding: format::Encoding::RLE,
            repetition_level_encoding: format::Encoding::RLE,
            statistics: None,
        }),
        ..format::PageHeader::default()
    };
    let mut page = format::Writer::new();
    header.write(&mut page);
    let mut page = page.finish();
    page.extend_from_slice(&body);
    let len = page.len() as i64;
    let mut bytes = ChunkBytes::new();
    bytes.push(page);
    let location = format::PageLocation { offset: 0, compressed_page_size: len as i32, first_row_index: 0 };
    let metadata = format::ColumnMetaData {
        type_: column("", leaf.physical()).type_.unwrap_or_default(),
        encodings: vec![format::Encoding::PLAIN, format::Encoding::RLE],
        path_in_schema: leaf.path_in_schema(),
        codec: format::CompressionCodec::UNCOMPRESSED,
        num_values: i64::from(n),
        total_uncompressed_size: len,
        total_compressed_size: len,
        ..format::ColumnMetaData::default()
    };
    let places =
        format::OffsetIndex { page_locations: vec![location], unencoded_byte_array_data_bytes: None };
    Ok(EncodedChunk::new(bytes, metadata).with_offset_index(Some(places)))
}

/// Returns the columns that become null if some are lost: all columns of the same root field, so that they agree. `Err`
/// is the reason why a column cannot be null.
pub(crate) fn nulls(schema: &Schema, lost: &[bool]) -> Result<Vec<bool>, &'static str> {
    let mut out = lost.to_vec();
    for (root, field) in schema.fields().iter().enumerate() {
        let leaves =
            || schema.columns().iter().enumerate().filter(|(_, leaf)| leaf.root() == root).map(|(i, _)| i);
        if !leaves().any(|leaf| lost.get(leaf) == Some(&true)) {
            continue;
        }
        if field.repetition() == Repetition::Required {
            return Err("a column is lost that cannot be null");
        }
        leaves().for_each(|leaf| out[leaf] = true);
    }
    match out.contains(&false) {
        true => Ok(out),
        false => Err("all columns are lost"),
    }
}
