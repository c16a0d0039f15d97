//! Files of others are read to their values, in each way of reading.

use crate::corpus;
use crate::files::{BLOOM, FILES, table};
use arrow_array::cast::AsArray;
use arrow_array::types::{Float32Type, Float64Type, Int64Type, Time32MillisecondType};
use arrow_array::{Array, RecordBatch};
use arrow_cast::cast;
use arrow_schema::DataType;
use marquetry::errors::Limits;
use marquetry::file::Source;
use marquetry::file::page_index::{read_bloom_filter, read_column_index, read_offset_index};
use marquetry::internals::format::EncryptionAlgorithm;
use marquetry::predicate::col;
use marquetry_core::prune::{PruneOptions, PruneReport, RowGroupMatch, prune_row_group};
use marquetry_verify::{Level, Severity, VerifyOptions, verify};
use std::sync::Arc;

#[test]
fn all_files_have_their_values() {
    let Some(root) = corpus::root() else { return };
    for encrypted in FILES {
        let mut reader = encrypted.open(&root).batches().unwrap();
        let batches: Vec<RecordBatch> =
            std::iter::from_fn(|| reader.next_batch()).map(Result::unwrap).collect();
        let [batch] = batches.as_slice() else { panic!("{encrypted:?}: {} batches", batches.len()) };
        assert_eq!(batch.num_rows(), 50, "{encrypted:?}");
        let floats = batch.column_by_name("float_field").unwrap().as_primitive::<Float32Type>();
        let doubles = batch.column_by_name("double_field").unwrap().as_primitive::<Float64Type>();
        let booleans = batch.column_by_name("boolean_field").unwrap().as_boolean();
        for row in 0..50 {
            assert_eq!(floats.value(row), row as f32 * 1.1, "{encrypted:?}");
            assert_eq!(doubles.value(row), row as f64 * 1.1111111, "{encrypted:?}");
            assert_eq!(booleans.value(row), row % 2 == 0, "{encrypted:?}");
        }
        let times = batch.column_by_name("int32_field").unwrap().as_primitive::<Time32MillisecondType>();
        let lists = batch.column_by_name("int64_field").unwrap().as_list::<i32>();
        let texts = cast(batch.column_by_name("ba_field").unwrap(), &DataType::Binary).unwrap();
        let fixed = batch.column_by_name("flba_field").unwrap().as_fixed_size_binary();
        for row in 0..50 {
            assert_eq!(times.value(row), row as i32, "{encrypted:?}");
            let list = lists.value(row);
            let twice = 2 * row as i64 * 1_000_000_000_000;
            assert_eq!(
                list.as_primitive::<Int64Type>().values(),
                &[twice, twice + 1_000_000_000_000],
                "{encrypted:?}"
            );
            let text = (row % 2 == 0).then(|| format!("parquet{row:03}"));
            let texts = texts.as_binary::<i32>();
            assert_eq!(
                texts.is_valid(row).then(|| texts.value(row)),
                text.as_deref().map(str::as_bytes),
                "{encrypted:?}"
            );
            assert_eq!(fixed.value(row), [row as u8; 10], "{encrypted:?}");
        }
        // INT96 is a day of the Julian calendar and nanoseconds: `row`, `row + 1` and `row + 2` as three words, of no sensible time.
        assert_eq!(batch.column_by_name("int96_field").unwrap().len(), 50);
    }
}

#[test]
fn files_of_one_key_length_have_the_same_cells() {
    let Some(root) = corpus::root() else { return };
    for is_256 in [false, true] {
        let files = FILES.iter().filter(|file| file.is_256 == is_256);
        let tables: Vec<_> = files.map(|file| (file, table(file.open(&root)).unwrap())).collect();
        for (file, cells) in &tables {
            assert!(cells == &tables[0].1, "{file:?}");
        }
    }
}

#[test]
fn threads_predicates_and_single_columns_read_the_same() {
    let Some(root) = corpus::root() else { return };
    for encrypted in FILES {
        let all = table(encrypted.open(&root)).unwrap();
        let threads = table(encrypted.open(&root).threads(2).batch_size(7)).unwrap();
        assert!(threads == all, "{encrypted:?}");
        let file = encrypted.open(&root);
        let double = file.metadata().schema().find("double_field").unwrap();
        let some =
            table(file.clone().columns(["double_field"]).filter(col("double_field").gt(50.0))).unwrap();
        let root_of = file.metadata().schema().column(double).root();
        assert_eq!(some[0], all[root_of][46..], "{encrypted:?}");
        for leaf in file.metadata().schema().columns() {
            let cells = table(file.clone().columns([leaf.dotted().to_string()])).unwrap();
            assert_eq!(cells[0].len(), 50);
        }
    }
}

/// The indexes of encrypted columns are decrypted, and used: all pages of the file have them.
#[test]
fn indexes_are_read() {
    let Some(root) = corpus::root() else { return };
    let mut with_indexes = 0;
    for encrypted in FILES.into_iter().chain([BLOOM]) {
        let (source, file) = (encrypted.bytes(&root), encrypted.open(&root));
        for chunk in file.metadata().row_groups().flat_map(|group| group.columns()) {
            let chunk = chunk.unwrap();
            let offsets = read_offset_index(&source, chunk, &Limits::default()).unwrap();
            let bounds = read_column_index(&source, chunk, &Limits::default()).unwrap();
            if let (Some(offsets), Some(bounds)) = (offsets, bounds) {
                assert_eq!(offsets.page_locations.len(), bounds.null_pages.len());
                with_indexes += usize::from(chunk.is_encrypted());
            }
        }
    }
    assert!(with_indexes > 0);
}

#[test]
fn bloom_filters_prune() {
    let Some(root) = corpus::root() else { return };
    let file = BLOOM.open(&root);
    let source = BLOOM.bytes(&root);
    let column = file.metadata().schema().find("double_field").unwrap();
    let chunk = file.metadata().row_group(0).column(column).unwrap();
    assert!(chunk.is_encrypted());
    let filter = read_bloom_filter(&source, chunk, &Limits::default()).unwrap().unwrap();
    let mut reader = file.clone().columns(["double_field"]).row_groups([0]).batches().unwrap();
    while let Some(batch) = reader.next_batch() {
        let batch = batch.unwrap();
        for value in batch.column(0).as_primitive::<Float64Type>().values() {
            assert!(filter.might_contain(&value.to_le_bytes()));
        }
    }
    let schema = file.metadata().schema();
    // Between two values, so that bounds do not rule it out.
    let missing = col("double_field").eq(1_500.7).bind(schema).unwrap();
    let mut report = PruneReport::default();
    let mut options = PruneOptions::default();
    (options.statistics, options.page_index, options.dictionaries) = (false, false, false);
    let kept = prune_row_group(&source, file.metadata(), 0, &missing, &options, &mut report).unwrap();
    assert_eq!(kept, RowGroupMatch::None);
    assert!(report.notes.is_empty());
}

#[test]
fn footers_say_how_they_are_encrypted() {
    let Some(root) = corpus::root() else { return };
    for encrypted in FILES {
        let file = encrypted.open(&root);
        let encryption = file.metadata().encryption().unwrap();
        let is_ctr = matches!(encryption.algorithm, EncryptionAlgorithm::AesGcmCtrV1(_));
        assert_eq!(is_ctr, encrypted.name.ends_with("ctr"), "{encrypted:?}");
        assert_eq!(encryption.has_encrypted_footer, !encrypted.name.contains("plaintext"), "{encrypted:?}");
        assert_eq!(encryption.footer_key_metadata, Some(&b"kf"[..]), "{encrypted:?}");
    }
}

#[test]
fn all_files_keep_the_rules() {
    let Some(root) = corpus::root() else { return };
    for encrypted in FILES.into_iter().chain([BLOOM]) {
        let source: Arc<dyn Source> = Arc::new(encrypted.bytes(&root));
        for level in [Level::Quick, Level::Default, Level::Deep] {
            let decryption = Some(encrypted.keys().build().unwrap());
            let options =
                VerifyOptions::default().with_level(level).with_decryption(decryption).with_threads(1);
            let report = verify(source.clone(), &options).unwrap();
            // Of severity style: lists as they were in 2018.
            let bad = report.findings.iter().filter(|it| it.rule.severity > Severity::Style);
            // parquet-mr left size statistics unencrypted.
            let bad: Vec<_> = bad.filter(|it| it.rule.id != "encryption-plain-statistics").collect();
            assert!(bad.is_empty(), "{encrypted:?}: {bad:#?}");
            let leaks = report.findings.iter().any(|it| it.rule.id == "encryption-plain-statistics");
            assert_eq!(leaks, encrypted.is_256 && encrypted.name.contains("plaintext"), "{encrypted:?}");
            assert_eq!(report.pages > 0, level > Level::Quick);
        }
    }
}
