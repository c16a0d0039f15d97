//! Row groups read by several threads give what one thread gives, however little may wait, and whatever is wrong.

use super::*;
use crate::arrow_reader::filtered_reader::FilteredPlan;
use crate::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ProjectionMask, RowNumber, RowSelection, RowSelector,
};
use crate::arrow_writer::ArrowWriter;
use arrow_array::{ArrayRef, Int64Array, StringArray};
use arrow_schema::{DataType, Field};
use bytes::Bytes;
use marquetry_base::ThreadPool;
use marquetry_core::predicate::Predicate;
use marquetry_core::source::Source;
use marquetry_core::write::WriterProperties;
use proptest::prelude::*;

const ROWS: usize = 600;

/// Numbers that go up and down, and a text for each row.
fn file() -> Bytes {
    let numbers: ArrayRef = Arc::new(Int64Array::from_iter_values((0..ROWS as i64).map(|row| row * 7 % 100)));
    let texts: ArrayRef = Arc::new(StringArray::from_iter_values((0..ROWS).map(|row| format!("row {row}"))));
    let batch = RecordBatch::try_from_iter([("number", numbers), ("text", texts)]).unwrap();
    let properties = WriterProperties::builder()
        .set_max_row_group_row_count(Some(70))
        .set_data_page_row_count_limit(20)
        .set_write_batch_size(10)
        .build();
    let mut bytes = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), Some(properties)).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    Bytes::from(bytes)
}

/// What to read of it.
#[derive(Debug, Clone)]
struct Choice {
    batch_size: usize,
    row_groups: Vec<usize>,
    most: Option<i64>,
    selection: Option<Vec<(bool, usize)>>,
}

fn choice() -> impl Strategy<Value = Choice> {
    let row_groups = proptest::collection::vec(0..9usize, 0..12);
    let selection = proptest::option::of(proptest::collection::vec((any::<bool>(), 1..90usize), 0..20));
    (1..100usize, row_groups, proptest::option::of(-1..110i64), selection).prop_map(
        |(batch_size, row_groups, most, selection)| Choice { batch_size, row_groups, most, selection },
    )
}

fn reader(file: &Bytes, choice: &Choice) -> Result<FilteredReader> {
    let row_number = Field::new("row", DataType::Int64, false).with_extension_type(RowNumber);
    let options = ArrowReaderOptions::new().with_page_index(true);
    let options = options.with_virtual_columns(vec![Arc::new(row_number)])?;
    let read = ArrowReaderMetadata::load(file.clone(), options)?;
    let schema = read.metadata.schema();
    let bind = |most: i64| Predicate::parse(&format!("number <= {most}"))?.bind(schema);
    // The file may be damaged.
    let selectors = choice.selection.as_ref().map(|runs| {
        let selector = |(selects, rows): &(bool, usize)| match selects {
            true => RowSelector::select(*rows),
            false => RowSelector::skip(*rows),
        };
        runs.iter().map(selector).collect::<Vec<_>>()
    });
    let count = read.metadata.num_row_groups();
    let wanted = FilteredPlan {
        row_groups: choice.row_groups.iter().copied().filter(|&row_group| row_group < count).collect(),
        batch_size: choice.batch_size,
        projection: ProjectionMask::all(),
        limit: usize::MAX,
        offset: 0,
        selection: selectors.map(RowSelection::from),
        predicate: choice.most.map(bind).transpose()?,
        counters: Arc::default(),
        is_part: false,
    };
    let source: Arc<dyn Source> = Arc::new(file.clone());
    FilteredReader::new(&source, &read.metadata, read.whole(), &read.options, wanted, Vec::new())
}

/// The batches up to the first error, and that.
fn read(mut next: impl FnMut() -> Result<Option<RecordBatch>>) -> (Vec<RecordBatch>, Option<String>) {
    let mut batches = Vec::new();
    loop {
        match next() {
            Ok(Some(batch)) => batches.push(batch),
            Ok(None) => return (batches, None),
            Err(error) => return (batches, Some(error.to_string())),
        }
    }
}

fn executor() -> Arc<dyn Executor> {
    Arc::new(ThreadPool::new("test"))
}

/// Compares several threads with one; whether it failed.
fn check(file: &Bytes, choice: &Choice, threads: usize, in_flight: usize) -> bool {
    let Ok(mut alone) = reader(file, choice) else { return true };
    let expected = read(|| alone.next());
    let others = (1..threads).map(|_| reader(file, choice).unwrap()).collect();
    let mut groups = RowGroupParallelReader::new(
        reader(file, choice).unwrap(),
        others,
        in_flight,
        executor(),
        CancelToken::new(),
    );
    assert_eq!(groups.schema(), alone.schema());
    let found = read(|| groups.next());
    let rows = |(batches, error): &(Vec<RecordBatch>, Option<String>)| {
        (batches.iter().map(RecordBatch::num_rows).collect::<Vec<_>>(), error.clone())
    };
    assert_eq!(rows(&found), rows(&expected), "{choice:?}");
    assert!(found.0 == expected.0, "{choice:?}");
    expected.1.is_some()
}

proptest! {
    #[test]
    fn threads_change_nothing(
        choice in choice(),
        threads in 2..5usize,
        in_flight in prop_oneof![0..10_000usize, Just(IN_FLIGHT)],
    ) {
        prop_assert!(!check(&file(), &choice, threads, in_flight));
    }
}

/// Damages every fifth byte, one at a time.
#[test]
fn threads_fail_as_one_does() {
    let good = file();
    let choice = Choice { batch_size: 16, row_groups: (0..9).collect(), most: Some(90), selection: None };
    let failed = (0..good.len()).step_by(5).filter(|&at| {
        let mut bad = good.to_vec();
        bad[at] ^= 0xff;
        check(&Bytes::from(bad), &choice, 3, 1000)
    });
    let (failed, all) = (failed.count(), good.len().div_ceil(5));
    assert!(failed > all / 3 && failed < all, "{failed} of {all} failed");
}

/// A reader that is dropped early leaves waiting threads, which must end.
#[test]
fn a_read_may_be_left_in_the_middle() {
    let choice = Choice { batch_size: 16, row_groups: (0..9).collect(), most: None, selection: None };
    for batches in [0, 1, 7] {
        let others = (0..2).map(|_| reader(&file(), &choice).unwrap()).collect();
        let mut groups = RowGroupParallelReader::new(
            reader(&file(), &choice).unwrap(),
            others,
            1,
            executor(),
            CancelToken::new(),
        );
        (0..batches)
            .for_each(|i| assert_eq!(groups.next().unwrap().unwrap().num_rows(), [16, 16, 16, 16, 6][i % 5]));
    }
}
