//! Advice for files whose values take long to write: the budget holds within a page, too.

use arrow_array::{ArrayRef, DictionaryArray, Int32Array, Int64Array, RecordBatch, StringArray};
use bytes::Bytes;
use marquetry_arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions};
use marquetry_arrow::arrow_writer::ArrowWriter;
use marquetry_core::source::Source;
use marquetry_core::write::{ColumnPath, Compression, WriterProperties, ZstdLevel};
use marquetry_inspect::{Advice, AdviseOptions, ColumnAdvice, ColumnSource, Goal, advise};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A string of a mebibyte in each of 65,536 rows: 64 GiB of text in a small file.
fn much_text() -> Bytes {
    let text = StringArray::from(vec!["x".repeat(1 << 20)]);
    let keys = Int32Array::from(vec![0; 1 << 16]);
    let rows: ArrayRef = Arc::new(DictionaryArray::new(keys, Arc::new(text)));
    let batch = RecordBatch::try_from_iter([("s", rows)]).unwrap();
    let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    Bytes::from(writer.into_inner().unwrap())
}

fn advice(file: &Bytes, goal: Goal, budget: Duration) -> (Advice, Duration) {
    let source: Arc<dyn Source> = Arc::new(file.clone());
    let metadata = ArrowReaderMetadata::load(source.clone(), ArrowReaderOptions::new()).unwrap();
    let options = AdviseOptions::default().with_goal(goal).with_budget(budget);
    let start = Instant::now();
    let advice = advise(&ColumnSource::new(source, metadata.metadata().clone()), &options).unwrap();
    (advice, start.elapsed())
}

#[test]
fn much_text_in_a_page_does_not_outlast_the_budget() {
    let file = much_text();
    assert!(file.len() < 2 << 20);
    for goal in [Goal::Size, Goal::Scan] {
        let (advice, took) = advice(&file, goal, Duration::from_secs(2));
        // Work that was begun is finished: a sample of 64 MiB, in a build that is hardly optimized and beside other
        // tests.
        assert!(took < Duration::from_secs(30), "{took:?}");
        let column = &advice.columns[0];
        assert!(column.measured > 0.0, "{column:?}");
        assert!(advice.predicted_bytes <= advice.file_bytes);
    }
}

#[test]
fn without_time_nothing_is_advised() {
    let (advice, _) = advice(&much_text(), Goal::Size, Duration::ZERO);
    let column = &advice.columns[0];
    assert_eq!((column.measured, column.choice), (0.0, None));
    assert_eq!(advice.predicted_bytes, advice.file_bytes);
}

/// Many columns, compressed, and a few that are not, in the middle of them.
fn wide() -> Bytes {
    let codec = |at: usize| if at % 50 == 25 { Compression::UNCOMPRESSED } else { zstd() };
    let numbers = |at: usize| -> ArrayRef {
        // Each is a different mixture of the same numbers.
        let number = |row: i64| (row.wrapping_mul(2_654_435_761) >> 7) % (1 << 9) + at as i64;
        Arc::new(Int64Array::from_iter_values((0..20_000).map(number)))
    };
    let columns: Vec<(String, ArrayRef)> = (0..400).map(|at| (format!("c{at}"), numbers(at))).collect();
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let mut properties = WriterProperties::builder();
    for at in 0..400 {
        properties = properties.set_column_compression(ColumnPath::from(format!("c{at}")), codec(at));
    }
    let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), Some(properties.build())).unwrap();
    writer.write(&batch).unwrap();
    Bytes::from(writer.into_inner().unwrap())
}

fn zstd() -> Compression {
    Compression::ZSTD(ZstdLevel::try_new(1).unwrap())
}

#[test]
fn of_many_columns_those_with_most_to_gain_come_first() {
    let file = wide();
    for budget in [0, 50, 400, 3_000].map(Duration::from_millis) {
        let (advice, _) = advice(&file, Goal::Size, budget);
        let is_plain = |column: &&ColumnAdvice| column.leaf % 50 == 25;
        let measured = |plain: bool| {
            advice.columns.iter().filter(|it| is_plain(it) == plain && it.measured > 0.0).count()
        };
        // Whatever the speed of this machine: others get time once each of these was begun.
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let is_first = measured(true) == 8 || measured(false) < threads;
        assert!(is_first, "{budget:?}: {} {}", measured(true), measured(false));
        let saving = advice.columns.iter().filter(|it| it.predicted < it.bytes);
        assert!(saving.clone().all(|it| it.choice.is_some() && it.measured > 0.0));
        let told = advice
            .not_measured
            .iter()
            .find(|told| told.contains("of 400 columns with") && !told.starts_with("types"));
        assert_eq!(told.is_some(), measured(true) + measured(false) < 400, "{:?}", advice.not_measured);
        if budget.is_zero() {
            assert_eq!(told.unwrap(), "400 of 400 columns with 100.0 % of the bytes: more time would do it");
        }
    }
}
