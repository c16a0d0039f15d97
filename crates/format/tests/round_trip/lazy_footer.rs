//! Reading the column chunks of a footer one by one gives the same as reading the footer as a whole.

use crate::strategy;
use marquetry_base::{ErrorKind, Limits, Result};
use marquetry_format::*;
use proptest::collection::vec;
use proptest::prelude::*;

fn written(write: impl FnOnce(&mut Writer)) -> Vec<u8> {
    let mut w = Writer::new();
    write(&mut w);
    w.finish()
}

/// Row groups whose chunks differ from each other only in numbers and strings.
fn wide() -> impl Strategy<Value = FileMetaData> {
    let chunks = vec((strategy::column_chunk(), any::<u32>()), 1..12);
    (strategy::file_metadata(), chunks, 1..4usize).prop_map(|(mut file, chunks, row_groups)| {
        file.row_groups = (0..row_groups as i64)
            .map(|i| {
                let chunk = |(chunk, by): &(ColumnChunk, u32)| {
                    let mut chunk = chunk.clone();
                    if let Some(meta) = &mut chunk.meta_data {
                        meta.data_page_offset = meta.data_page_offset.wrapping_add(i * i64::from(*by));
                        meta.path_in_schema.push("x".repeat(*by as usize % 200).into());
                    }
                    chunk
                };
                let columns = chunks.iter().cycle().take(40).map(chunk).collect();
                RowGroup { columns, num_rows: i, ..RowGroup::default() }
            })
            .collect();
        file
    })
}

fn read<'a>(footer: &LazyFooter, bytes: &'a [u8], group: usize, number: usize) -> Result<ChunkView<'a>> {
    let mut view = ChunkView::empty();
    footer.chunk(bytes, group, number, &mut view).map(|()| view)
}

fn same_chunk(view: &ChunkView<'_>, chunk: &ColumnChunk) {
    // Compares bytes, because damage can turn a bound into NaN, which does not equal itself.
    assert_eq!(written(|w| view.to_chunk().unwrap().write(w)), written(|w| chunk.write(w)), "{chunk:?}");
    assert_eq!(view.file_path().map(ThriftString::from_bytes), chunk.file_path);
    assert_eq!(view.offset_index_offset(), chunk.offset_index_offset);
    assert_eq!(view.offset_index_length(), chunk.offset_index_length);
    assert_eq!(view.column_index_offset(), chunk.column_index_offset);
    assert_eq!(view.column_index_length(), chunk.column_index_length);
    assert_eq!(view.has_crypto_metadata(), chunk.crypto_metadata.is_some());
    assert_eq!(view.has_encrypted_metadata(), chunk.encrypted_column_metadata.is_some());
    assert_eq!(view.has_meta_data(), chunk.meta_data.is_some());
    let Some(meta) = &chunk.meta_data else { return };
    assert_eq!((view.type_(), view.codec(), view.num_values()), (meta.type_, meta.codec, meta.num_values));
    assert_eq!(view.total_compressed_size(), meta.total_compressed_size);
    assert_eq!(view.total_uncompressed_size(), meta.total_uncompressed_size);
    assert_eq!(view.data_page_offset(), meta.data_page_offset);
    assert_eq!(view.dictionary_page_offset(), meta.dictionary_page_offset);
    assert_eq!(view.bloom_filter_offset(), meta.bloom_filter_offset);
    assert_eq!(view.bloom_filter_length(), meta.bloom_filter_length);
    assert_eq!(view.encodings().iter().collect::<Vec<_>>(), meta.encodings);
    assert_eq!(view.encodings().len(), meta.encodings.len());
    assert_eq!(
        view.path_in_schema().iter().map(ThriftString::from_bytes).collect::<Vec<_>>(),
        meta.path_in_schema
    );
    assert_eq!(view.encoding_stats().map(|stats| stats.iter().collect::<Vec<_>>()), meta.encoding_stats);
    assert_eq!(view.statistics().map(|statistics| statistics.map(<[u8]>::to_vec)), meta.statistics);
    let sizes = view.size_statistics().map(|sizes| sizes.map(|counts| counts.iter().collect()));
    assert_eq!(sizes, meta.size_statistics);
}

/// Asserts that both ways to read agree: whatever can be read as a whole can be read in parts, with the same result.
fn check(bytes: &[u8]) {
    let limits = Limits::default();
    let (whole, footer) = (parse_metadata(bytes, &limits), LazyFooter::parse(bytes, &limits));
    let footer = match (&whole, footer) {
        (_, Ok(footer)) => footer,
        (Err(_), Err(_)) => return,
        (Ok(_), Err(error)) => panic!("only the footer fails: {error}"),
    };
    let chunks = footer.row_groups.iter().enumerate();
    let mut chunks = chunks.flat_map(|(i, group)| (0..group.num_columns()).map(move |number| (i, number)));
    let Ok(whole) = whole else {
        // Reading as a whole may have failed at the first of two fields with one id, so reading in parts may succeed.
        chunks.for_each(|(i, number)| {
            drop(read(&footer, bytes, i, number).map(|view| view.to_chunk().unwrap()))
        });
        return;
    };
    let pairs = footer.key_values(bytes).map(|pairs| pairs.iter().map(|pair| pair.to_pair()).collect());
    assert_eq!(pairs, whole.key_value_metadata);
    let rest = FileMetaData { row_groups: Vec::new(), key_value_metadata: None, ..whole.clone() };
    assert_eq!(footer.fields, rest);
    for ((i, number), chunk) in chunks.by_ref().zip(whole.row_groups.iter().flat_map(|group| &group.columns))
    {
        same_chunk(&read(&footer, bytes, i, number).unwrap(), chunk);
    }
    assert!(chunks.next().is_none());
    let heads = whole.row_groups.into_iter().map(|group| RowGroup { columns: Vec::new(), ..group });
    assert!(footer.row_groups.iter().map(|group| &group.fields).eq(&heads.collect::<Vec<_>>()));
}

proptest! {
    #[test]
    fn reads_the_same_in_parts(file in wide()) {
        check(&written(|w| file.write(w)));
    }

    #[test]
    fn reads_the_same_where_it_is_damaged(
        file in wide(),
        changes in vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
        cut in prop::option::weighted(0.2, any::<prop::sample::Index>()),
    ) {
        let mut bytes = written(|w| file.write(w));
        for (at, bits) in changes {
            let at = at.index(bytes.len());
            bytes[at] ^= bits;
        }
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        check(&bytes);
    }
}

#[test]
fn a_chunk_fails_when_it_is_asked_for() {
    let chunk = |name: &str| {
        let path_in_schema = vec![name.into()];
        let meta = ColumnMetaData { path_in_schema, codec: CompressionCodec(5), ..ColumnMetaData::default() };
        ColumnChunk { meta_data: Some(meta), ..ColumnChunk::default() }
    };
    let group = RowGroup { columns: vec![chunk("aa"), chunk("bb")], ..RowGroup::default() };
    let file = FileMetaData { row_groups: vec![group], ..FileMetaData::default() };
    let mut bytes = written(|w| file.write(w));
    // The codec of the second chunk: field 4, 5 as zigzag. Its type is changed to a byte, so that the codec is missing.
    let name = bytes.windows(2).position(|two| two == b"bb").unwrap();
    assert_eq!(bytes[name + 2..name + 4], [0x15, 0x0a]);
    bytes[name + 2] = 0x13;
    let footer = LazyFooter::parse(&bytes, &Limits::default()).unwrap();
    assert!(read(&footer, &bytes, 0, 0).is_ok());
    let error = read(&footer, &bytes, 0, 1).unwrap_err();
    assert_eq!((error.kind(), error.message()), (ErrorKind::Corrupt, "ColumnMetaData.codec is missing"));
    let whole = parse_metadata(&bytes, &Limits::default()).unwrap_err();
    assert_eq!(whole.to_string(), error.to_string());
}
