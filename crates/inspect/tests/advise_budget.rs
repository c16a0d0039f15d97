//! Advice for files whose values take long to write: the budget holds within a page, too.

use arrow_array::{ArrayRef, DictionaryArray, Int32Array, RecordBatch, StringArray};
use bytes::Bytes;
use marquetry_arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions};
use marquetry_arrow::arrow_writer::ArrowWriter;
use marquetry_core::source::Source;
use marquetry_inspect::{Advice, AdviseOptions, ColumnSource, Goal, advise};
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
        // What was begun is ended: a sample of 64 MiB, in a build that is hardly optimised and beside other tests.
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
