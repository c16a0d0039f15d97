//! Large strings, long rows, little memory.

use crate::sample::{flat, flat_leaf, plain_settings};
use marquetry_base::Limits;
use marquetry_codec::Codec;
use marquetry_core::nesting::{ColumnValues, DefinitionLevels, ShreddedColumn};
use marquetry_core::schema::Schema;
use marquetry_core::write::{ColumnWriter, EncodingPolicy, Spill, Workspace};
use marquetry_encoding::{PhysicalType, StringViews, Values};
use marquetry_format::Repetition;
use std::sync::Arc;

use crate::chunk::data::Random;
use crate::chunk::file::{leaf, root};

/// Strings of 1 MiB among short ones: a page has no more of them than it must.
#[test]
fn pages_of_strings_of_very_different_lengths() {
    let strings = |n: usize| {
        let string = |i: usize| if i % 100 < 20 { vec![i as u8; 1 << 20] } else { vec![i as u8; 5] };
        flat(Values::Bytes((0..n).map(string).collect::<StringViews>()))
    };
    for encoding in
        [EncodingPolicy::Only(0), EncodingPolicy::Only(6), EncodingPolicy::Auto { dictionary: true }]
    {
        let settings =
            plain_settings().with_codec(Codec::Uncompressed).with_level(None).with_encoding(encoding);
        let workspace = &mut Workspace::new();
        let mut writer =
            ColumnWriter::new(&flat_leaf(PhysicalType::ByteArray, Repetition::REQUIRED), &settings).unwrap();
        writer.write(&strings(150), workspace).unwrap();
        let (chunk, _) = writer.close(workspace).unwrap();
        let pages = chunk.offset_index.unwrap().page_locations;
        let largest = pages.iter().map(|page| page.compressed_page_size).max().unwrap();
        assert!(largest < (5 << 20) / 2, "{encoding:?}: {largest}");
    }
}

/// With spilling, memory stays small however much is written, and whatever the state of the chunk.
#[test]
fn spilling_keeps_memory_small() {
    let random = &mut Random(5);
    for distinct in [100, usize::MAX] {
        for encoding in [EncodingPolicy::Auto { dictionary: true }, EncodingPolicy::DictionaryOr(0)] {
            let settings = plain_settings()
                .with_codec(Codec::Uncompressed)
                .with_level(None)
                .with_encoding(encoding)
                .with_dictionary_page_bytes(1 << 20);
            let leaf = flat_leaf(PhysicalType::ByteArray, Repetition::REQUIRED);
            let (workspace, spill) = (&mut Workspace::new(), Arc::new(Spill::new().unwrap()));
            let mut writer = ColumnWriter::new(&leaf, &settings).unwrap();
            for _ in 0..100 {
                let string = |_| format!("{:0100}", random.below(distinct));
                let block = flat(Values::Bytes((0..2_000).map(string).collect::<StringViews>()));
                writer.write(&block, workspace).unwrap();
                if writer.memory_size() > 2 << 20 {
                    writer.spill_to(&spill, workspace).unwrap();
                    // A page that is open, and a dictionary with the table to find its values.
                    assert!(writer.memory_size() < 4 << 20, "{encoding:?} {}", writer.memory_size());
                }
            }
            let (chunk, _) = writer.close(workspace).unwrap();
            assert!(chunk.bytes.held() < 6 << 20, "{}", chunk.bytes.held());
            assert_eq!(chunk.metadata.num_values, 200_000);
        }
    }
}

/// A row is never cut, though it is larger than a page should be.
#[test]
fn a_row_of_a_million_elements() {
    let schema = [root(1), leaf("c", Repetition::REPEATED, PhysicalType::Int64)];
    let leaf = Schema::from_thrift(&schema, &Limits::default()).unwrap().column(0).clone();
    let sizes = [3, 1_000_000, 0, 2];
    let def: Vec<u8> = sizes.iter().flat_map(|n| vec![u8::from(*n > 0); (*n).max(1)]).collect();
    let row = |n: &usize| (0..(*n).max(1)).map(|i| u8::from(i > 0)).collect::<Vec<_>>();
    let rep: Vec<u8> = sizes.iter().flat_map(row).collect();
    let values = Values::W64((0..1_000_005).collect());
    let block = ShreddedColumn::nested(4, DefinitionLevels::Levels(def), rep, ColumnValues::Values(values));
    for encoding in
        [EncodingPolicy::Only(0), EncodingPolicy::Only(8), EncodingPolicy::Auto { dictionary: true }]
    {
        let settings = plain_settings().with_encoding(encoding).with_page_bytes(10);
        let workspace = &mut Workspace::new();
        let mut writer = ColumnWriter::new(&leaf, &settings).unwrap();
        writer.write(&block, workspace).unwrap();
        let (chunk, _) = writer.close(workspace).unwrap();
        let pages = chunk.offset_index.unwrap().page_locations;
        let rows: Vec<_> = pages.iter().map(|page| page.first_row_index).collect();
        assert!(rows.contains(&1) && rows.contains(&2), "{encoding:?} {rows:?}");
        assert_eq!(chunk.metadata.num_values, 1_000_006);
    }
}
