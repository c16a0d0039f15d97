//! Threads of a host read and write what our own do, whatever the host makes of its tasks.

use arrow_array::{
    ArrayRef, BooleanArray, Int64Array, RecordBatch, StringArray, cast::AsArray, types::Int64Type,
};
use bytes::Bytes;
use marquetry::arrow::ArrowWriter;
use marquetry::arrow::arrow_reader::{
    ArrowPredicateFn, ParquetRecordBatchReaderBuilder, ProjectionMask, RowFilter,
};
use marquetry::file::Source;
use marquetry::file::properties::WriterProperties;
use marquetry::predicate::Predicate;
use marquetry::threads::{SharedExecutor, Task, ThreadPool};
use marquetry::verify::{Level, VerifyOptions, verify};
use marquetry_recover::{RecoverOptions, recover};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

const ROWS: i64 = 60_000;

fn rows() -> RecordBatch {
    let texts = (0..ROWS).map(|i| (i % 7 > 0).then(|| format!("text {}", i * i % 1009)));
    RecordBatch::try_from_iter([
        ("id", Arc::new(Int64Array::from_iter_values(0..ROWS)) as ArrayRef),
        ("number", Arc::new(Int64Array::from_iter_values((0..ROWS).map(|i| i * 7919 % 10007)))),
        ("text", Arc::new(StringArray::from_iter(texts))),
    ])
    .unwrap()
}

fn written(properties: WriterProperties) -> Bytes {
    let batch = rows();
    let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), Some(properties)).unwrap();
    (0..6).for_each(|i| writer.write(&batch.slice(i * 10_000, 10_000)).unwrap());
    writer.into_inner().unwrap().into()
}

fn file() -> Bytes {
    let properties = WriterProperties::builder()
        .set_max_row_group_row_count(Some(9_000))
        .set_data_page_row_count_limit(2_000)
        .build();
    written(properties)
}

/// How rows are chosen.
#[derive(Debug, Clone, Copy)]
enum Choice {
    All,
    Predicate,
    PureFilter,
}

fn read(file: &Bytes, choice: Choice, threads: usize, executor: Option<SharedExecutor>) -> Vec<RecordBatch> {
    let mut builder = ParquetRecordBatchReaderBuilder::try_new(file.clone())
        .unwrap()
        .with_batch_size(1000)
        .with_threads(threads);
    if let Some(executor) = executor {
        builder = builder.with_shared_executor(executor);
    }
    builder = match choice {
        Choice::All => builder,
        Choice::Predicate => {
            builder.with_predicate(Predicate::parse("number < 500 or text = 'text 4'").unwrap())
        }
        Choice::PureFilter => {
            let mask = ProjectionMask::columns(builder.parquet_schema(), ["number"]);
            let test = |batch: RecordBatch| {
                let numbers = batch.column(0).as_primitive::<Int64Type>();
                Ok(BooleanArray::from_unary(numbers, |number| number < 500))
            };
            builder.with_row_filter(RowFilter::new(vec![Box::new(ArrowPredicateFn::pure(mask, test))]))
        }
    };
    builder.build().unwrap().map(|batch| batch.unwrap()).collect()
}

/// Executors of all kinds, and the number of tasks that they were given.
fn executors() -> Vec<(&'static str, SharedExecutor, Arc<AtomicUsize>)> {
    let mut out = Vec::new();
    let mut add = |name, run: Box<dyn Fn(Task) + Send + Sync>| {
        let count = Arc::new(AtomicUsize::new(0));
        let counted = count.clone();
        let executor = SharedExecutor::new(move |task| {
            counted.fetch_add(1, Ordering::Relaxed);
            run(task);
        });
        out.push((name, executor, count));
    };
    let pool = ThreadPool::new("host");
    add("a pool", Box::new(move |task| marquetry::threads::Executor::spawn(&pool, task)));
    add("a thread each", Box::new(|task| drop(std::thread::spawn(task))));
    add("drops them", Box::new(drop));
    let kept = Mutex::new(Vec::new());
    add("keeps them", Box::new(move |task| kept.lock().unwrap().push(task)));
    let late = |task: Task| {
        std::thread::spawn(move || {
            std::thread::sleep(std::time::Duration::from_millis(3));
            task();
        });
    };
    add("is late", Box::new(late));
    add("rayon", Box::new(rayon::spawn));
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).build().unwrap();
    add("tokio", Box::new(move |task| drop(runtime.spawn_blocking(task))));
    out
}

#[test]
fn what_is_read_does_not_depend_on_the_executor() {
    let file = file();
    for choice in [Choice::All, Choice::Predicate, Choice::PureFilter] {
        let expected = read(&file, choice, 1, None);
        assert!(expected == read(&file, choice, 3, None), "{choice:?}");
        for (name, executor, count) in executors() {
            for threads in [2, 5] {
                let found = read(&file, choice, threads, Some(executor.clone()));
                assert!(found == expected, "{choice:?}, {name}, {threads} threads");
            }
            assert!(count.load(Ordering::Relaxed) > 0, "{name} was asked for help");
        }
    }
}

#[test]
fn what_is_written_does_not_depend_on_the_executor() {
    let properties = || WriterProperties::builder().set_max_row_group_row_count(Some(25_000));
    let expected = written(properties().build());
    assert_eq!(expected, written(properties().set_threads(3).build()));
    for (name, executor, count) in executors() {
        let properties = properties().set_threads(3).set_executor(executor).build();
        assert_eq!(written(properties), expected, "{name}");
        assert!(count.load(Ordering::Relaxed) > 0, "{name} was asked for help");
    }
}

#[test]
fn what_is_found_in_a_damaged_file_does_not_depend_on_the_executor() {
    // Row groups of more than a megabyte: smaller ones are read without help.
    let noise = |seed: i64| {
        let numbers = (0..ROWS).map(move |i| (i + seed).wrapping_mul(0x9e37_79b9_7f4a_7c15_u64 as i64));
        Arc::new(Int64Array::from_iter_values(numbers)) as ArrayRef
    };
    let batch = RecordBatch::try_from_iter([("a", noise(0)), ("b", noise(1)), ("c", noise(2))]).unwrap();
    let properties = WriterProperties::builder().set_max_row_group_row_count(Some(ROWS as usize)).build();
    let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), Some(properties)).unwrap();
    (0..2).for_each(|_| writer.write(&batch).unwrap());
    let mut file = writer.into_inner().unwrap();
    let at = file.len() / 4;
    file[at] ^= 0x40;
    let source: Arc<dyn Source> = Arc::new(Bytes::from(file));
    let found = |threads: usize, executor: SharedExecutor| {
        let level = Level::Deep;
        let options =
            VerifyOptions::default().with_level(level).with_threads(threads).with_executor(executor.clone());
        let checked = verify(source.clone(), &options).unwrap();
        let options = RecoverOptions::default().with_threads(threads).with_executor(executor);
        let recovery = recover(source.clone(), &options).unwrap();
        (checked.findings, checked.pages, format!("{:?}", recovery.report()))
    };
    let expected = found(1, SharedExecutor::default());
    assert!(!expected.0.is_empty() && expected.1 > 10, "{expected:?}");
    assert!(expected.2.contains("losses: [") && !expected.2.contains("losses: []"), "{expected:?}");
    assert_eq!(found(3, SharedExecutor::default()), expected);
    for (name, executor, count) in executors() {
        assert_eq!(found(3, executor), expected, "{name}");
        // Once by the one way, and for each row group by the other.
        assert!(count.load(Ordering::Relaxed) >= 3 * 2, "{name} was asked for help");
    }
}

/// A pool with a single thread reads on it without waiting for a task that only this thread could run.
#[test]
fn the_only_thread_of_a_pool_may_read_with_it() {
    let pool = Arc::new(rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap());
    let (of_reader, file) = (pool.clone(), file());
    let executor = SharedExecutor::new(move |task: Task| of_reader.spawn(task));
    let rows: usize = pool.install(|| {
        [Choice::All, Choice::Predicate]
            .map(|choice| {
                read(&file, choice, 4, Some(executor.clone()))
                    .iter()
                    .map(RecordBatch::num_rows)
                    .sum::<usize>()
            })
            .iter()
            .sum()
    });
    assert!(rows > ROWS as usize);
}

/// A predicate with a memory is evaluated in order, by one thread.
#[test]
fn a_filter_that_is_not_pure_has_one_thread() {
    let file = file();
    let builder = ParquetRecordBatchReaderBuilder::try_new(file).unwrap().with_threads(4);
    let asked_for = Arc::new(AtomicUsize::new(0));
    let count = asked_for.clone();
    let builder = builder.with_executor(move |task: Task| {
        count.fetch_add(1, Ordering::Relaxed);
        task_dropped(task);
    });
    let mask = ProjectionMask::columns(builder.parquet_schema(), ["id"]);
    let mut last = -1;
    let test = move |batch: RecordBatch| {
        let ids = batch.column(0).as_primitive::<Int64Type>();
        assert!(ids.value(0) > last, "in order");
        last = ids.value(ids.len() - 1);
        Ok(BooleanArray::from(vec![true; ids.len()]))
    };
    let filter = RowFilter::new(vec![Box::new(ArrowPredicateFn::new(mask, test))]);
    let rows: usize =
        builder.with_row_filter(filter).build().unwrap().map(|batch| batch.unwrap().num_rows()).sum();
    assert_eq!((rows, asked_for.load(Ordering::Relaxed)), (ROWS as usize, 0));
}

fn task_dropped(task: Task) {
    drop(task);
}
