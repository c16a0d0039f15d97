//! Files of our writer that are cut off come back without a schema: all whole row groups, or none and a question.

use crate::damage::Random;
use arrow_array::builder::{ListBuilder, StringBuilder};
use arrow_array::{ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray};
use bytes::Bytes;
use marquetry::arrow::ArrowWriter;
use marquetry::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use marquetry::basic::{Compression, ZstdLevel};
use marquetry::file::properties::WriterProperties;
use marquetry::file::read_metadata;
use marquetry_recover::{RecoverOptions, SchemaOrigin, recover};
use std::sync::Arc;

const ROWS: usize = 2_000;
const ROW_GROUPS: usize = 6;

/// An integer, a double, a string and a list of strings.
fn table(rows: usize, random: &mut Random) -> RecordBatch {
    let mut lists = ListBuilder::new(StringBuilder::new());
    for _ in 0..rows {
        for _ in 0..random.below(4) {
            lists.values().append_value(format!("tag{}", random.below(200)));
        }
        lists.append(random.below(10) > 0);
    }
    let ids = Int64Array::from_iter_values(0..rows as i64);
    let prices = Float64Array::from_iter_values((0..rows).map(|_| random.below(100_000) as f64 / 7.0));
    let names = StringArray::from_iter_values((0..rows).map(|_| format!("name {}", random.below(5_000))));
    let columns: [(&str, ArrayRef); 4] = [
        ("id", Arc::new(ids)),
        ("price", Arc::new(prices)),
        ("name", Arc::new(names)),
        ("tags", Arc::new(lists.finish())),
    ];
    RecordBatch::try_from_iter(columns).unwrap()
}

#[test]
fn a_file_that_is_cut_inside_a_row_group() {
    let mut random = Random(22);
    let table = table(ROWS * ROW_GROUPS, &mut random);
    let properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .set_max_row_group_row_count(Some(ROWS))
        .build();
    let mut writer = ArrowWriter::try_new(Vec::new(), table.schema(), Some(properties)).unwrap();
    writer.write(&table).unwrap();
    let good = Bytes::from(writer.into_inner().unwrap());
    let metadata = read_metadata(&good, &Default::default()).unwrap().metadata;
    let end = |group: usize| {
        let chunks = metadata.row_group(group).columns().map(|chunk| chunk.unwrap().byte_range().unwrap());
        chunks.map(|range| range.end as usize).max().unwrap()
    };
    let ends: Vec<usize> = (0..ROW_GROUPS).map(end).collect();
    assert_eq!(metadata.num_row_groups(), ROW_GROUPS);
    let (mut kept, mut possible) = (0, 0);
    for i in 0..60 {
        let len = if i < ROW_GROUPS { ends[i] } else { 4 + random.below(ends[ROW_GROUPS - 1] - 4) };
        let whole = ends.iter().filter(|end| **end <= len).count();
        possible += usize::from(whole > 0);
        let Ok(recovery) = recover(Arc::new(good.slice(..len)), &RecoverOptions::default()) else {
            assert_eq!(whole, 0, "cut at {len}");
            continue;
        };
        let report = recovery.report();
        if report.schema.is_none() {
            // With two or more row groups it is known what repeats.
            assert!(whole < 2 && report.losses[0].why.contains("give the schema"), "cut at {len}: {report}");
            continue;
        }
        assert_eq!(report.schema, Some(SchemaOrigin::Inferred));
        assert_eq!(report.rows() as usize, whole * ROWS, "cut at {len}: {report}");
        kept += 1;
        let file = Bytes::from(recovery.write(Vec::new(), None).unwrap());
        let reader = ParquetRecordBatchReaderBuilder::try_new(file).unwrap().build().unwrap();
        let batches: Vec<RecordBatch> = reader.collect::<Result<_, _>>().unwrap();
        let back = arrow_select::concat::concat_batches(&batches[0].schema(), &batches).unwrap();
        assert_eq!(back.num_columns(), 4, "cut at {len}");
        for column in 0..2 {
            assert_eq!(
                back.column(column).to_data(),
                table.column(column).slice(0, whole * ROWS).to_data(),
                "cut at {len}"
            );
        }
    }
    println!("{kept} of {possible} cuts behind a row group come back");
    assert!(kept > 30, "{kept}");
}
