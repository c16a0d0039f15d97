//! Slices of a large batch are written as copies of their rows are: what is behind them in memory does not count.

use arrow_array::types::Int32Type;
use arrow_array::{
    ArrayRef, BooleanArray, DictionaryArray, FixedSizeListArray, Int32Array, Int64Array, ListArray,
    RecordBatch, StringArray, StringViewArray, StructArray, UInt32Array,
};
use arrow_schema::{DataType, Field};
use marquetry_arrow::arrow_writer::ArrowWriter;
use marquetry_core::write::WriterProperties;
use std::sync::Arc;

fn table(rows: i32) -> RecordBatch {
    let texts = || (0..rows).map(|i| (i % 7 > 0).then(|| format!("{i}: a text of some length")));
    let lists = (0..rows).map(|i| (i % 5 > 0).then(|| (0..i % 4).map(move |j| Some(i + j))));
    let ids: ArrayRef = Arc::new(Int64Array::from_iter_values((0..rows).map(i64::from)));
    let item = Arc::new(Field::new("item", DataType::Int32, true));
    let pairs = Int32Array::from_iter_values(0..2 * rows);
    let fields = [(Arc::new(Field::new("id", DataType::Int64, true)), ids.clone())];
    let columns: [(&str, ArrayRef); 8] = [
        ("id", ids),
        ("flag", Arc::new(BooleanArray::from_iter((0..rows).map(|i| Some(i % 3 == 0))))),
        ("text", Arc::new(StringArray::from_iter(texts()))),
        ("view", Arc::new(StringViewArray::from_iter(texts()))),
        ("list", Arc::new(ListArray::from_iter_primitive::<Int32Type, _, _>(lists))),
        ("pair", Arc::new(FixedSizeListArray::new(item, 2, Arc::new(pairs), None))),
        ("struct", Arc::new(StructArray::from(fields.to_vec()))),
        (
            "key",
            Arc::new(
                (0..rows)
                    .map(|i| ["red", "green", "blue"][i as usize % 3])
                    .collect::<DictionaryArray<Int32Type>>(),
            ),
        ),
    ];
    RecordBatch::try_from_iter(columns).unwrap()
}

/// The file, and the bytes in progress after each batch.
fn written(batches: &[RecordBatch], properties: &WriterProperties) -> (Vec<u8>, Vec<usize>) {
    let mut file = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut file, batches[0].schema(), Some(properties.clone())).unwrap();
    let mut sizes = Vec::new();
    for batch in batches {
        writer.write(batch).unwrap();
        sizes.push(writer.in_progress_size());
    }
    writer.close().unwrap();
    (file, sizes)
}

#[test]
fn slices_are_written_as_their_rows_are() {
    let table = table(40_000);
    let slices: Vec<_> = (0..20).map(|i| table.slice(i * 2_000, 2_000)).collect();
    // Copies of the rows alone.
    let copy = |batch: &RecordBatch| {
        let all = UInt32Array::from_iter_values(0..batch.num_rows() as u32);
        arrow_select::take::take_record_batch(batch, &all).unwrap()
    };
    let copies: Vec<_> = slices.iter().map(copy).collect();
    let properties = WriterProperties::builder().set_max_row_group_bytes(Some(200_000)).build();
    let (of_slices, sizes) = written(&slices, &properties);
    let (of_copies, _) = written(&copies, &properties);
    assert!(of_slices == of_copies, "the same rows, but other row groups");

    // The first slice waits, and counts as its rows do: some 150 bytes each.
    let whole = table.get_array_memory_size();
    let (_, sizes_by_default) = written(&slices, &WriterProperties::default());
    assert!(sizes_by_default[0] < whole / 10, "{} of {whole} bytes", sizes_by_default[0]);
    assert!(sizes_by_default[0] > whole / 60, "{} of {whole} bytes", sizes_by_default[0]);
    assert!(sizes.iter().all(|&size| size < 400_000), "{sizes:?}");
}
