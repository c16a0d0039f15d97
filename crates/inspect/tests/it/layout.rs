//! Each byte of a file is in one part; pages are where their headers are; bounds have their places.

use arrow_array::*;
use bytes::Bytes;
use marquetry_arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions};
use marquetry_arrow::arrow_writer::ArrowWriter;
use marquetry_base::Limits;
use marquetry_core::io::read_metadata;
use marquetry_core::source::Source;
use marquetry_core::write::WriterProperties;
use marquetry_inspect::{FileLayout, PartKind, column_bounds, file_layout};
use proptest::prelude::*;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

fn layout_of(bytes: Bytes) -> Option<FileLayout> {
    let source: Arc<dyn Source> = Arc::new(bytes);
    let limits = Arc::new(Limits::default());
    let metadata = read_metadata(&*source, &limits).ok()?;
    Some(file_layout(&source, &Arc::new(metadata.metadata), &limits).unwrap())
}

/// The laws of every layout, of damaged files, too.
fn check(layout: &FileLayout, len: u64, name: &str) {
    assert_eq!(layout.size, len, "{name}");
    let mut at = 0;
    for part in &layout.parts {
        assert!(
            part.range.start <= at && part.range.start < part.range.end && part.range.end <= len,
            "{name}"
        );
        at = at.max(part.range.end);
    }
    assert_eq!(at, len, "{name}");
    let bytes: u64 = layout.bytes_by_kind().iter().map(|(_, bytes)| bytes).sum();
    assert_eq!(bytes, len, "{name}");
    let all: u64 = layout.parts.iter().map(|part| part.range.end - part.range.start).sum();
    assert_eq!(all - len, layout.overlapping, "{name}");
}

fn parquet_files(folder: &Path, out: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => parquet_files(&path, out),
            false => out.extend(path.extension().is_some_and(|end| end == "parquet").then_some(path)),
        }
    }
}

#[test]
fn each_byte_of_real_files_is_in_a_part() {
    let shared = match std::env::var_os("MARQUETRY_CORPUS") {
        Some(shared) => PathBuf::from(shared),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared"),
    };
    let mut files = Vec::new();
    parquet_files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples"), &mut files);
    if shared.join("corpus").is_dir() {
        parquet_files(&shared.join("corpus"), &mut files);
        parquet_files(&shared.join("parquet-testing"), &mut files);
    }
    let mut looked_at = 0;
    for path in files {
        let bytes = Bytes::from(fs::read(&path).unwrap());
        let len = bytes.len() as u64;
        if let Ok(metadata) = ArrowReaderMetadata::load(bytes.clone(), ArrowReaderOptions::new()) {
            let bounds = column_bounds(&metadata);
            assert!(bounds.is_ok(), "{}: {bounds:?}", path.display());
        }
        if let Some(layout) = layout_of(bytes) {
            check(&layout, len, &path.display().to_string());
            looked_at += 1;
        }
    }
    assert!(looked_at > 0);
}

fn written(batch: &RecordBatch, per_group: usize, per_page: usize) -> Bytes {
    let properties = WriterProperties::builder()
        .set_max_row_group_row_count(Some(per_group))
        .set_data_page_row_count_limit(per_page)
        .set_write_batch_size(per_page)
        .build();
    let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), Some(properties)).unwrap();
    writer.write(batch).unwrap();
    Bytes::from(writer.into_inner().unwrap())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn pages_have_their_rows_and_damage_keeps_the_sum(
        numbers in proptest::collection::vec(proptest::option::of(0..100i32), 1..2000),
        (per_group, per_page) in (1..1500usize, 1..500usize),
        (damaged, bit) in (any::<proptest::sample::Index>(), 0..8u32),
    ) {
        let rows = numbers.len();
        let array: ArrayRef = Arc::new(Int32Array::from(numbers.clone()));
        let batch = RecordBatch::try_from_iter_with_nullable([("n", array, true)]).unwrap();
        let file = written(&batch, per_group, per_page);
        let layout = layout_of(file.clone()).unwrap();
        check(&layout, file.len() as u64, "written");
        prop_assert_eq!((layout.overlapping, layout.problems.len()), (0, 0));
        prop_assert!(layout.parts.iter().all(|part| !matches!(part.kind, PartKind::Unread | PartKind::Unreferenced)));
        let pages = || layout.parts.iter().filter(|part| part.kind == PartKind::DataPage);
        let mut next = vec![0; rows.div_ceil(per_group)];
        let mut nulls = 0;
        for page in pages() {
            let (group, _) = page.chunk.unwrap();
            let facts = page.page.as_ref().unwrap();
            prop_assert_eq!(facts.first_row, Some(next[group]));
            next[group] += facts.rows.unwrap();
            nulls += facts.nulls.unwrap();
        }
        prop_assert_eq!(next.iter().sum::<u64>(), rows as u64);
        prop_assert_eq!(nulls, numbers.iter().filter(|number| number.is_none()).count() as u64);

        let mut bytes = file.to_vec();
        let at = damaged.index(bytes.len());
        bytes[at] ^= 1u8 << bit;
        if let Some(layout) = layout_of(bytes.into()) {
            check(&layout, file.len() as u64, "damaged");
        }
    }
}

#[test]
fn bounds_have_places() {
    let ascending: ArrayRef = Arc::new(Int64Array::from_iter_values(0..400));
    let everywhere: ArrayRef = Arc::new(Int64Array::from_iter_values((0..400).map(|i| i % 100)));
    let text: ArrayRef = Arc::new(StringArray::from_iter_values((0..400).map(|i| format!("prefix {i:05}"))));
    let nulls: ArrayRef = Arc::new(Int64Array::from(vec![None; 400]));
    let batch = RecordBatch::try_from_iter_with_nullable([
        ("ascending", ascending, true),
        ("everywhere", everywhere, true),
        ("text", text, true),
        ("nulls", nulls, true),
    ])
    .unwrap();
    let metadata = ArrowReaderMetadata::load(written(&batch, 100, 100), ArrowReaderOptions::new()).unwrap();
    let bounds = column_bounds(&metadata).unwrap();
    let of = |name: &str| bounds.iter().find(|bounds| bounds.column == name).unwrap();
    assert_eq!(of("ascending").depth, Some(1.0));
    assert_eq!(of("text").depth, Some(1.0));
    assert_eq!(of("everywhere").depth, Some(4.0));
    assert_eq!(of("nulls").depth, None);
    assert!(of("ascending").is_ascending && of("text").is_ascending && !of("everywhere").is_ascending);
    assert_eq!(of("ascending").places[1], Some((100.0 / 399.0, 199.0 / 399.0)));
    assert_eq!(of("everywhere").places, [Some((0.0, 1.0)); 4]);
    assert_eq!(of("text").texts[3], Some(("prefix 00300".to_owned(), "prefix 00399".to_owned())));
    assert_eq!(of("nulls").texts, [None, None, None, None]);
    let places: Vec<f64> = of("text").places.iter().flatten().flat_map(|(min, max)| [*min, *max]).collect();
    assert!(places.is_sorted() && places[0] == 0.0 && places[7] == 1.0);
}
