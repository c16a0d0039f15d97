//! Many files as one table: a stream gives what a reader gives, and fetches little.

use super::store::{Faults, Store};
use super::{file, one, rows, written};
use arrow_array::{ArrayRef, Float64Array, Int32Array, Int64Array, RecordBatch, StringArray};
use arrow_schema::{DataType, SchemaRef, TimeUnit};
use bytes::Bytes;
use futures::task::noop_waker;
use futures::{FutureExt, StreamExt, executor::block_on};
use marquetry_arrow::arrow_reader::{ArrowReaderOptions, LossReport, OnCorrupt};
use marquetry_arrow::async_reader::AsyncSource;
use marquetry_arrow::dataset::{Dataset, DatasetStream};
use marquetry_base::{Error, ErrorKind, Result};
use marquetry_core::predicate::Predicate;
use marquetry_core::source::Source;
use proptest::prelude::*;
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use std::task::{Context, Poll};

/// Files by their paths.
#[derive(Clone, Default)]
struct Files(Vec<(String, Store, Bytes)>);

impl Files {
    fn new<P: Into<String>>(files: impl IntoIterator<Item = (P, Bytes)>, faults: Faults) -> Self {
        let files = files.into_iter();
        Files(files.map(|(path, bytes)| (path.into(), Store::with(bytes.clone(), faults), bytes)).collect())
    }

    fn paths(&self) -> Vec<String> {
        self.0.iter().map(|(path, ..)| path.clone()).collect()
    }

    fn late(&self) -> Dataset<dyn AsyncSource> {
        let stores: HashMap<String, Store> =
            self.0.iter().map(|(path, store, _)| (path.clone(), store.clone())).collect();
        Dataset::from_async_files(self.paths(), move |path| {
            Ok(Arc::new(found(&stores, path)?.clone()) as Arc<dyn AsyncSource>)
        })
        .unwrap()
    }

    fn now(&self) -> Dataset {
        let files: HashMap<String, Bytes> =
            self.0.iter().map(|(path, _, bytes)| (path.clone(), bytes.clone())).collect();
        Dataset::from_files(self.paths(), move |path| Ok(Arc::new(found(&files, path)?.clone()))).unwrap()
    }

    /// How many requests each file had since this was last asked.
    fn take_requests(&self) -> Vec<usize> {
        self.0.iter().map(|(_, store, _)| store.take_requests().len()).collect()
    }

    fn running(&self) -> usize {
        self.0.iter().map(|(_, store, _)| store.running()).sum()
    }
}

fn found<'a, T>(files: &'a HashMap<String, T>, path: &Path) -> Result<&'a T> {
    files.get(path.to_str().unwrap()).ok_or_else(|| Error::new(ErrorKind::Io, "there is no such file"))
}

/// What was read: schema, rows, the first error, and losses by file.
#[derive(Debug, PartialEq)]
struct Read {
    schema: SchemaRef,
    rows: RecordBatch,
    failed: Option<String>,
    losses: Vec<(Arc<str>, LossReport)>,
}

fn read_late(dataset: Dataset<dyn AsyncSource>) -> Result<Read> {
    let mut stream = block_on(dataset.stream())?;
    let schema = stream.schema().clone();
    let (mut batches, mut failed) = (Vec::new(), None);
    while let Some(batch) = block_on(stream.next()) {
        assert!(failed.is_none(), "after an error a stream is over");
        match batch {
            Ok(batch) => batches.push(batch),
            Err(error) => failed = Some(error.to_string()),
        }
    }
    assert!(batches.iter().all(|batch| batch.schema() == schema && batch.num_rows() > 0));
    Ok(Read { rows: one(&schema, &batches), schema, failed, losses: stream.loss_reports() })
}

fn read_now(dataset: Dataset) -> Result<Read> {
    use arrow_array::RecordBatchReader;
    let mut reader = dataset.batches()?;
    let schema = RecordBatchReader::schema(&reader);
    let (mut batches, mut failed) = (Vec::new(), None);
    while let Some(batch) = reader.next_batch() {
        match batch {
            Ok(batch) => batches.push(batch),
            Err(error) => failed = Some(error.to_string()),
        }
    }
    Ok(Read { rows: one(&schema, &batches), schema, failed, losses: reader.loss_reports() })
}

/// A file of some shape: more or fewer columns, in another order, of a wider type.
fn shaped(shape: usize, first: i64, n: i64, group: usize) -> Bytes {
    let id = Arc::new(Int64Array::from_iter_values(first..first + n)) as ArrayRef;
    let small =
        Arc::new(Int32Array::from_iter_values((first..first + n).map(|i| (i % 50) as i32))) as ArrayRef;
    let wide = Arc::new(Int64Array::from_iter_values((first..first + n).map(|i| i % 50))) as ArrayRef;
    let name = StringArray::from_iter((0..n).map(|i| (i % 7 > 0).then(|| format!("name {}", i % 20))));
    let name = Arc::new(name) as ArrayRef;
    let columns: Vec<(&str, ArrayRef)> = match shape {
        0 => vec![("id", id), ("n", small), ("name", name)],
        1 => vec![("name", name), ("id", id), ("n", small)],
        2 => vec![("id", id), ("n", wide), ("name", name)],
        3 => vec![("id", id), ("n", small)],
        _ => vec![("id", id), ("n", small), ("name", name.clone()), ("more", name)],
    };
    file(&RecordBatch::try_from_iter(columns).unwrap(), group, 50)
}

fn predicate() -> impl Strategy<Value = Option<String>> {
    let some = prop_oneof![
        (0i64..3000, 0i64..900).prop_map(|(from, n)| format!("id between {from} and {}", from + n)),
        (0i64..20).prop_map(|i| format!("name = 'name {i}'")),
        (0i64..4, 0i64..50).prop_map(|(year, n)| format!("year <> {year} and n < {n}")),
        (0i64..4, 0i64..3000).prop_map(|(year, id)| format!("year = {year} or id < {id}")),
        Just("name is null".to_owned()),
        Just("year >= 0".to_owned()),
        Just("id < 0".to_owned()),
        Just("nowhere = 1".to_owned()),
    ];
    prop::option::of(some)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    #[test]
    fn as_a_reader(
        files in prop::collection::vec((0usize..4, prop_oneof![9 => Just(0usize), 1 => 0usize..5], 0i64..500), 1..8),
        group in 20usize..300,
        (predicate, columns) in (predicate(), prop::option::of(prop::sample::subsequence(vec!["name", "year", "id", "n", "what"], 1..4))),
        (limit, offset) in (prop::option::of(0usize..1500), prop_oneof![Just(0), 0usize..1500]),
        (batch, latency) in (1usize..600, 0usize..4),
        prefetch in prop_oneof![Just(0u64), Just(20_000), Just(1 << 30)],
        (union, has_partitions, mode) in (any::<bool>(), any::<bool>(), 0usize..8),
        damage in prop::option::of((any::<prop::sample::Index>(), any::<prop::sample::Index>())),
    ) {
        let mut first = 0;
        let files = files.into_iter().enumerate().map(|(i, (year, shape, n))| {
            let bytes = shaped(shape, first, n, group);
            first += n;
            (format!("s3://table/year={year}/{i}.parquet"), bytes)
        });
        let mut files: Vec<_> = files.collect();
        if let Some((which, at)) = damage {
            let which = which.index(files.len());
            let bytes = &mut files[which].1;
            let mut bad = bytes.to_vec();
            let at = at.index(bad.len());
            bad[at] ^= 4;
            *bytes = bad.into();
        }
        let files = Files::new(files, Faults { latency, ..Faults::default() });
        let on_corrupt = [OnCorrupt::SkipPage, OnCorrupt::NullPage, OnCorrupt::SkipRowGroup];
        // Readers filter what is left of a damaged file, streams do not.
        let on_corrupt = on_corrupt.get(mode).copied().filter(|_| predicate.is_none()).unwrap_or_default();
        let options = ArrowReaderOptions::new().with_on_corrupt(on_corrupt);
        macro_rules! chosen {
            ($dataset:expr) => {{
                let mut dataset = $dataset.options(options.clone()).batch_size(batch).offset(offset)
                    .union_by_name(union).partitions(has_partitions);
                if let Some(text) = &predicate {
                    dataset = dataset.filter(Predicate::parse(text).unwrap());
                }
                if let Some(columns) = &columns {
                    dataset = dataset.columns(columns.iter().copied());
                }
                if let Some(limit) = limit {
                    dataset = dataset.limit(limit);
                }
                dataset
            }};
        }
        let (late, now) = (chosen!(files.late()).prefetch(prefetch), chosen!(files.now()));
        let counted = (block_on(late.num_rows()), now.num_rows());
        prop_assert_eq!(counted.0.map_err(|error| error.to_string()), counted.1.map_err(|error| error.to_string()));
        // Of a file that fails, batches of a reader end elsewhere.
        let unless_failed = |read: Read| match read.failed {
            Some(error) => Err(error),
            None => Ok((read.schema, read.rows, read.losses)),
        };
        let given = read_late(late).map_err(|error| error.to_string()).and_then(unless_failed);
        let expected = read_now(now).map_err(|error| error.to_string()).and_then(unless_failed);
        // To pass over rows, a reader reads the headers of their pages; a stream does not fetch these where there is an index.
        let is_passed_over = damage.is_some() && offset > 0 && expected.is_err() && given.is_ok();
        // A stream finds the pages of wanted rows by the index; a reader that has decoded the column does not ask it.
        let contradicts_index = |error: &String| error.contains("the offset index says");
        let is_index_wrong = damage.is_some() && predicate.is_some() && given.as_ref().is_err_and(contradicts_index);
        if !is_passed_over && !is_index_wrong {
            prop_assert_eq!(given, expected);
        }
        prop_assert_eq!(files.running(), 0);
    }
}

/// Twenty files of one row group, larger than what is fetched with the footer.
fn twenty(latency: usize) -> Files {
    let file = |i: i64| {
        let id = Int64Array::from_iter_values(i * 12_000..(i + 1) * 12_000);
        let price = id.values().iter().map(|id| (id.wrapping_mul(0x5851_f42d_4c95_7f2d) >> 20) as f64);
        let price = Float64Array::from_iter_values(price);
        let name = StringArray::from_iter_values(id.values().iter().map(|id| format!("name {}", id % 50)));
        let columns: [(&str, ArrayRef); 3] =
            [("id", Arc::new(id)), ("name", Arc::new(name)), ("price", Arc::new(price))];
        let batch = RecordBatch::try_from_iter(columns).unwrap();
        let bytes = self::file(&batch, 12_000, 2000);
        assert!(bytes.len() > 80_000);
        (format!("t/day={}/{i:02}.parquet", i / 5), bytes)
    };
    Files::new((0..20).map(file), Faults { latency, ..Faults::default() })
}

/// How many requests for each file were begun when the first batch is there.
fn begun_with_the_first_batch(prefetch: u64) -> Vec<usize> {
    let files = twenty(1);
    let mut stream = block_on(files.late().prefetch(prefetch).stream()).unwrap();
    block_on(stream.next()).unwrap().unwrap();
    files.0.iter().map(|(_, store, _)| store.calls()).collect()
}

#[test]
fn files_are_fetched_ahead_up_to_the_limit() {
    let count = |begun: &[usize], n: usize| begun.iter().filter(|calls| **calls == n).count();
    let begun = begun_with_the_first_batch(0);
    assert_eq!((count(&begun, 2), count(&begun, 0)), (1, 19), "nothing is fetched ahead: {begun:?}");
    let begun = begun_with_the_first_batch(1 << 30);
    assert_eq!((count(&begun, 2), count(&begun, 0)), (17, 3), "sixteen files are opened ahead: {begun:?}");
    // Their row groups count, and what their footers keep.
    let size = twenty(0).0[0].2.len() as u64;
    let begun = begun_with_the_first_batch(size * 7 / 2);
    assert!((2..=3).contains(&count(&begun, 2)), "{begun:?}");
}

#[test]
fn few_requests() {
    let files = twenty(1);
    let count = |dataset: Dataset<dyn AsyncSource>, predicate: Option<&str>| {
        let dataset = match predicate {
            Some(text) => dataset.filter(Predicate::parse(text).unwrap()),
            None => dataset,
        };
        let rows = read_late(dataset).unwrap().rows.num_rows();
        (rows, files.take_requests())
    };
    let (rows, asked) = count(files.late(), None);
    assert_eq!((rows, asked), (240_000, vec![2; 20]), "footer and row group");
    // Partitions leave out all but the first file, which tells the schema.
    let (rows, asked) = count(files.late(), Some("day = 2 and id >= 0"));
    assert_eq!(rows, 60_000);
    let expected: Vec<usize> =
        (0..20).map(|i| if (10..15).contains(&i) { 2 } else { usize::from(i == 0) }).collect();
    assert_eq!(asked, expected);
    // Footers leave out all but one.
    let (rows, asked) = count(files.late().columns(["name"]), Some("id between 100000 and 100099"));
    assert_eq!(rows, 100);
    assert!(
        asked.iter().enumerate().all(|(i, asked)| if i == 8 { *asked <= 4 } else { *asked == 1 }),
        "{asked:?}"
    );
    // A limit spares what is behind it, an offset the row groups before it.
    let (rows, asked) = count(files.late().offset(25_000).limit(12_000), None);
    assert_eq!((rows, &asked[..5]), (12_000, &[1, 1, 2, 2, 0][..]));
    let (rows, asked) = count(files.late().limit(5), Some("price > 100"));
    assert_eq!(rows, 5);
    assert!(asked[1..].iter().all(|asked| *asked == 0), "{asked:?}");
    // The footers that the schema of all took are not fetched once more, nor those of a table that was read before.
    let all = files.late().union_by_name(true);
    assert_eq!(block_on(all.num_rows()).unwrap(), 240_000);
    assert_eq!(files.take_requests(), [1; 20]);
    assert_eq!(count(all.clone(), None).1, [1; 20]);
    assert_eq!(block_on(all.num_rows()).unwrap(), 240_000);
    assert_eq!(files.take_requests(), [0; 20]);
}

#[test]
fn errors_come_when_it_is_their_turn() {
    let mut files = twenty(1);
    let failing = Faults { fails: Some(1), ..Faults::default() };
    files.0[3].1 = Store::with(files.0[3].2.clone(), failing);
    let read = read_late(files.late()).unwrap();
    assert_eq!(read.rows.num_rows(), 36_000);
    assert_eq!(read.failed.unwrap(), "io: the store is out of order, in file t/day=0/03.parquet");
    // Nobody asks for it.
    assert_eq!(read_late(files.late().limit(36_000)).unwrap().failed, None);
    files.0[5].1 = Store::new("no Parquet");
    let one_error =
        read_late(files.late().filter(Predicate::parse("id > 40000 and day = 1").unwrap())).unwrap();
    assert!(one_error.failed.unwrap().contains("05.parquet"));
    let error = block_on(files.late().union_by_name(true).stream()).unwrap_err();
    assert!(error.to_string().contains("not a Parquet file") && error.to_string().contains("05.parquet"));
}

/// Streams, and what opens them, may be given up at each wait; a future of the next batch may be, and nothing is lost.
#[test]
fn what_is_given_up_leaves_nothing_running() {
    let waker = noop_waker();
    let mut cx = Context::from_waker(&waker);
    for polls in (0..60).step_by(7) {
        let files = twenty(3);
        let mut stream = block_on(files.late().stream()).unwrap();
        (0..polls).for_each(|_| drop(stream.poll_next_unpin(&mut cx)));
        drop(stream);
        assert_eq!(files.running(), 0);
        let all = files.late().union_by_name(true);
        let mut opening = Box::pin(all.schema());
        let _ = (0..polls / 7).any(|_| opening.poll_unpin(&mut cx).is_ready());
        drop(opening);
        assert_eq!(files.running(), 0);
    }
    let files = twenty(3);
    let mut stream = block_on(files.late().stream()).unwrap();
    let mut rows = 0;
    loop {
        match stream.next().poll_unpin(&mut cx) {
            Poll::Ready(Some(batch)) => rows += batch.unwrap().num_rows(),
            Poll::Ready(None) => break,
            Poll::Pending => {}
        }
    }
    assert_eq!(rows, 240_000);
}

/// More files than have their footers kept.
#[test]
fn very_many_files() {
    let small = written(&rows(3), Default::default());
    let files =
        Files::new((0..2500).map(|i| (format!("t/i={i}/x.parquet"), small.clone())), Faults::default());
    let all = files.late().union_by_name(true).columns(["i", "id"]);
    let read = read_late(all).unwrap();
    assert_eq!(read.rows.num_rows(), 7500);
    let i = read.rows.column(0).as_any().downcast_ref::<Int64Array>().unwrap();
    assert!(i.values().iter().enumerate().all(|(row, i)| *i == row as i64 / 3));
}

#[test]
fn a_summary_in_a_store() {
    use marquetry_arrow::arrow_reader::ArrowReaderMetadata;
    use marquetry_format::{FileMetaData, FooterTail, PAR1, Writer};
    let parts: Vec<_> =
        (0..3).map(|i| (format!("s3://b/t/p={i}/x.parquet"), shaped(0, i * 100, 100, 30))).collect();
    let summary = |named: &[&str]| {
        let mut summary = FileMetaData::default();
        for (name, (_, bytes)) in named.iter().zip(&parts) {
            let metadata = ArrowReaderMetadata::load(bytes.clone(), ArrowReaderOptions::new()).unwrap();
            let footer = metadata.metadata().to_thrift().unwrap();
            summary.schema.clone_from(&footer.schema);
            summary.num_rows += footer.num_rows;
            for mut group in footer.row_groups {
                group.columns.iter_mut().for_each(|column| column.file_path = Some((*name).into()));
                summary.row_groups.push(group);
            }
        }
        let mut writer = Writer::new();
        summary.write(&mut writer);
        let footer = writer.finish();
        let tail = FooterTail::Plain { metadata_len: footer.len() as u32 }.to_bytes();
        Bytes::from([&PAR1[..], &footer, &tail[..]].concat())
    };
    let open = |named: &[&str]| {
        let mut all: HashMap<String, Bytes> = parts.iter().cloned().collect();
        all.insert("s3://b/t/_metadata".to_owned(), summary(named));
        all
    };
    let late = |named: &[&str]| {
        let all = open(named);
        let open = move |path: &Path| Ok(Arc::new(found(&all, path)?.clone()) as Arc<dyn AsyncSource>);
        block_on(Dataset::from_async_summary("s3://b/t/_metadata", open))
    };
    let now = |named: &[&str]| {
        let all = open(named);
        let open = move |path: &Path| Ok(Arc::new(found(&all, path)?.clone()) as Arc<dyn Source>);
        Dataset::from_summary("s3://b/t/_metadata", open)
    };
    let named = ["p=0/x.parquet", "./p=1//x.parquet", "p=2/x.parquet"];
    let given = read_late(late(&named).unwrap()).unwrap();
    assert_eq!(given.rows.num_rows(), 300);
    assert_eq!(given, read_now(now(&named).unwrap()).unwrap());
    // Row groups that the file does not have: the summary is old.
    let old = [read_late(late(&["p=1/x.parquet"]).unwrap()), read_now(now(&["p=1/x.parquet"]).unwrap())];
    for old in old {
        let error = old.map_or_else(|error| error.to_string(), |read| read.failed.unwrap());
        assert!(error.contains("it is older than the file, in file s3://b/t/p=1/x.parquet"), "{error}");
    }
    for out in ["../x", "/etc/passwd", "p=0/../../x", "..", ".", "a\\b", "s3://other/x", ""] {
        let named = ["p=0/x.parquet", out];
        for error in [late(&named).err(), now(&named).err()] {
            let error = error.unwrap();
            assert!(error.to_string().contains("leads out of the summary's directory"), "{out}: {error}");
            assert_eq!(error.place().file.as_deref(), Some("s3://b/t/_metadata"));
        }
    }
    // A file that is not a summary stands for itself.
    let path = parts[1].0.clone();
    let all = open(&named);
    let open = move |path: &Path| Ok(Arc::new(found(&all, path)?.clone()) as Arc<dyn AsyncSource>);
    let itself = block_on(Dataset::from_async_summary(&path, open)).unwrap();
    assert_eq!(read_late(itself).unwrap().rows.num_rows(), 100);
}

/// One file's INT96 timestamps fit no nanoseconds: no file has these then. The file is beside the repository.
#[test]
fn a_unit_that_fits_all_files() {
    let Some(bytes) = super::corpus::file("parquet-testing/data/int96_from_spark.parquet") else { return };
    let files =
        Files::new([("p=1/a", bytes.clone()), ("p=2/b", bytes)], Faults { latency: 1, ..Faults::default() });
    for union in [false, true] {
        let given = read_late(files.late().union_by_name(union).prefetch(0)).unwrap();
        assert_eq!(given, read_now(files.now().union_by_name(union)).unwrap());
        let unit = given.schema.field(0).data_type();
        assert!(matches!(unit, DataType::Timestamp(unit, _) if *unit != TimeUnit::Nanosecond), "{unit}");
        assert!(given.failed.is_none() && given.rows.num_rows() > 2);
    }
}

/// Streams and the futures before them go from thread to thread.
#[test]
fn all_can_be_sent() {
    fn sent<T: Send>(value: T) -> T {
        value
    }
    let files = twenty(0);
    let dataset = files.late();
    drop(sent(dataset.schema()));
    let stream: DatasetStream = block_on(sent(dataset.stream())).unwrap();
    drop(sent(stream));
}
