//! One bit of the footer says of a column that it cannot be null. Its levels are not recovered as values.

use crate::beside_pages::{flipped, metadata};
use bytes::Bytes;
use marquetry_base::Limits;
use marquetry_codec::Codec;
use marquetry_core::io::read_metadata;
use marquetry_core::nesting::{ColumnValues, DefinitionLevels, ShreddedColumn};
use marquetry_core::schema::Schema;
use marquetry_core::write::{
    ColumnSettings, ColumnWriter, EncodingPolicy, FileSettings, FileWriter, Workspace,
};
use marquetry_encoding::Values;
use marquetry_format::Repetition;
use marquetry_recover::{RecoverOptions, recover};
use std::sync::Arc;

/// A column of integers in three pages, with this number of nulls at the beginning of each. Nothing outside of the
/// pages states their levels.
fn file(page_rows: usize, nulls: usize, dictionary: bool, codec: Codec) -> Bytes {
    let schema = Schema::parse("message m { optional int32 a; }").unwrap();
    let settings = ColumnSettings::default()
        .with_codec(codec)
        .with_level(None)
        .with_encoding(EncodingPolicy::Auto { dictionary })
        .with_checksums(false)
        .with_page_rows(page_rows);
    let (rows, mut workspace) = (3 * page_rows, Workspace::default());
    let is_value = |row: &usize| row % page_rows >= nulls;
    let values = (0..rows).filter(is_value).map(|row| (row as u32 % 7) * 1_000_003 + 5).collect();
    let levels = DefinitionLevels::Levels((0..rows).map(|row| u8::from(is_value(&row))).collect());
    let column = ShreddedColumn::flat(rows, levels, ColumnValues::Values(Values::W32(values)));
    let mut writer = ColumnWriter::new(schema.column(0), &settings).unwrap();
    writer.write(&column, &mut workspace).unwrap();
    let mut chunk = writer.close(&mut workspace).unwrap().0;
    (chunk.metadata.size_statistics, chunk.metadata.statistics) = (None, None);
    let mut file = FileWriter::new(Vec::new(), schema.to_thrift(), FileSettings::default()).unwrap();
    file.write_row_group(rows as u64, vec![chunk], None).unwrap();
    file.finish().unwrap().0.into()
}

/// The file with the bit of its footer flipped that makes the column required, and nothing else different.
fn made_required(good: &Bytes) -> Bytes {
    let footer = good.len() - 8 - read_metadata(good, &Limits::default()).unwrap().footer_len;
    let mut wanted = metadata(good).head().schema.clone();
    wanted[1].repetition_type = Some(Repetition::REQUIRED);
    let is_wanted = |bytes: &Bytes| {
        read_metadata(bytes, &Limits::default()).is_ok_and(|read| read.metadata.head().schema == wanted)
    };
    let flips = (footer..good.len() - 8).flat_map(|at| (0..8).map(move |bit| (at, 1 << bit)));
    flips.map(|(at, bit)| flipped(good, at, bit)).find(is_wanted).unwrap()
}

#[test]
fn levels_are_not_taken_for_values() {
    for (rows, nulls) in [(100, 0), (40, 1), (8, 0)] {
        for (dictionary, codec) in
            [(false, Codec::Uncompressed), (false, Codec::Snappy), (true, Codec::Uncompressed)]
        {
            let what = format!("{rows} rows, {nulls} nulls, dictionary: {dictionary}, {codec:?}");
            let good = file(rows, nulls, dictionary, codec);
            let recovered = |file: Bytes| recover(Arc::new(file), &RecoverOptions::default()).unwrap();
            assert_eq!(recovered(good.clone()).report().rows(), 3 * rows as u64, "{what}");
            let recovery = recovered(made_required(&good));
            let report = recovery.report();
            assert!(report.row_groups.is_empty() && !report.losses.is_empty(), "{what}: {report}");
        }
    }
}
