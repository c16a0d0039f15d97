//! Files of other writers with many options at once: a stream gives what a reader gives, also where the source is slow, fails, or is
//! given up.

use super::corpus;
use super::store::{Faults, Store};
use super::{one, read};
use arrow_array::{Array, BooleanArray, RecordBatch, RecordBatchReader};
use arrow_schema::{SchemaRef, TimeUnit};
use bytes::Bytes;
use futures::task::noop_waker;
use futures::{StreamExt, executor::block_on};
use marquetry_arrow::arrow_reader::{
    ArrowPredicateFn, ArrowReaderMetadata, ArrowReaderOptions, Int96Unit, InvalidUtf8,
    ParquetRecordBatchReaderBuilder, ProjectionMask, RowFilter, RowSelection, RowSelector,
};
use marquetry_arrow::async_reader::{
    CoalesceOptions, ParquetRecordBatchStream, ParquetRecordBatchStreamBuilder, RowGroupReader,
};
use marquetry_arrow::schema::StringLayout;
use marquetry_base::{ErrorKind, Result};
use marquetry_core::predicate::Predicate;
use marquetry_core::schema::Schema;
use std::iter;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::task::Context;

/// Numbers that are the same in each run.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        ((self.0 >> 33) as usize) % n.max(1)
    }

    fn is(&mut self, one_in: usize) -> bool {
        self.below(one_in) == 0
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }
}

/// What is read of a file, and how.
#[derive(Debug)]
struct Choice {
    leaves: Option<Vec<usize>>,
    names: Option<Vec<String>>,
    row_groups: Option<Vec<usize>>,
    runs: Option<Vec<usize>>,
    predicate: Option<String>,
    /// The column whose nulls a filter leaves out.
    filter: Option<usize>,
    offset: usize,
    limit: Option<usize>,
    batch_size: usize,
    threads: usize,
    prefetch: u64,
    cost: (u64, u64),
    yield_rows: usize,
    by_row_group: bool,
}

fn options(random: &mut Random) -> ArrowReaderOptions {
    let mut options = ArrowReaderOptions::new();
    if random.is(3) {
        let layouts = [StringLayout::Utf8, StringLayout::LargeUtf8, StringLayout::Utf8View];
        options = options.with_text(random.pick(&layouts));
    }
    if random.is(2) {
        let units = [TimeUnit::Second, TimeUnit::Millisecond, TimeUnit::Microsecond, TimeUnit::Nanosecond];
        let unit = match random.is(4) {
            true => Int96Unit::Auto,
            false => Int96Unit::Unit(random.pick(&units)),
        };
        options = options.with_int96(unit);
    }
    if random.is(4) {
        options = options.with_invalid_utf8(random.pick(&[InvalidUtf8::Replace, InvalidUtf8::Binary]));
    }
    if random.is(4) {
        options = options.with_row_numbers("a row number").with_row_group_numbers("a row group number");
    }
    options
        .with_page_index(!random.is(3))
        .with_page_checksum_verification(random.is(2))
        .with_skip_arrow_metadata(random.is(4))
        .with_stored_element_names(random.is(3))
        .with_footer_size_hint(random.pick(&[8, 100, 5_000, 64 << 10]))
}

/// A predicate on a column, which may not fit it: then both say so.
fn predicate(random: &mut Random, schema: &Schema) -> String {
    let leaf = schema.column(random.below(schema.num_columns()));
    let names: Vec<String> =
        leaf.path().iter().map(|name| format!("\"{}\"", name.replace('"', "\"\""))).collect();
    let name = names.join(".");
    let literal = match random.below(8) {
        0 => "'a'".to_owned(),
        1 => "''".to_owned(),
        2 => "true".to_owned(),
        3 => "'2013-01-01'".to_owned(),
        4 => format!("{}.5", random.below(20)),
        _ => random.below(3000).to_string(),
    };
    let operator = random.pick(&["=", "<>", "<", ">=", ">"]);
    match (leaf.max_rep() > 0, random.below(4)) {
        (false, 0) => format!("{name} is null"),
        (false, 1) => format!("{name} is not null"),
        (false, _) => format!("{name} {operator} {literal}"),
        (true, 0) => format!("all({name}) {operator} {literal}"),
        (true, _) => format!("any({name}) {operator} {literal}"),
    }
}

impl Choice {
    fn new(random: &mut Random, metadata: &ArrowReaderMetadata) -> Choice {
        let schema = metadata.parquet_schema();
        let (columns, groups) = (schema.num_columns(), metadata.metadata().num_row_groups());
        let rows = metadata.metadata().num_rows().min(1 << 20) as usize;
        let small = |random: &mut Random| match random.is(2) {
            true => random.below(rows + 2),
            false => random.below(10),
        };
        let leaves = random.is(2).then(|| (0..columns).filter(|_| random.is(2)).collect());
        let names = random.is(4).then(|| {
            let path = |random: &mut Random| schema.column(random.below(columns)).dotted().to_string();
            (0..=random.below(3)).map(|_| path(random)).collect()
        });
        Choice {
            leaves,
            names: names.filter(|_| columns > 0),
            row_groups: (random.is(3) && groups > 0)
                .then(|| (0..random.below(4)).map(|_| random.below(groups)).collect()),
            runs: random.is(3).then(|| (0..random.below(8)).map(|_| small(random)).collect()),
            predicate: (random.is(3) && columns > 0).then(|| predicate(random, schema)),
            filter: (random.is(4) && columns > 0).then(|| random.below(columns)),
            offset: if random.is(3) { small(random) } else { 0 },
            limit: random.is(3).then(|| small(random)),
            batch_size: random.pick(&[1, 7, 100, 1024, 8192]),
            threads: 1 + random.below(3),
            prefetch: random.pick(&[0, 1000, 1 << 25]),
            cost: (random.pick(&[0, 100, 1 << 20]), random.pick(&[1, 1000, 8 << 20])),
            yield_rows: random.pick(&[0, 100, 1 << 16]),
            by_row_group: random.is(4),
        }
    }

    fn leaves_rows_out(&self) -> bool {
        let is_some = self.runs.is_some() || self.predicate.is_some() || self.filter.is_some();
        is_some || self.offset > 0 || self.limit.is_some()
    }

    fn mask(&self, schema: &Schema) -> ProjectionMask {
        match &self.leaves {
            Some(leaves) => ProjectionMask::leaves(schema, leaves.iter().copied()),
            None => ProjectionMask::all(),
        }
    }

    fn selection(&self, metadata: &ArrowReaderMetadata) -> Option<RowSelection> {
        let metadata = metadata.metadata();
        let of_group = |group: usize| metadata.row_group(group).num_rows() as usize;
        let all = (0..metadata.num_row_groups()).collect();
        let mut left: usize = self.row_groups.as_ref().unwrap_or(&all).iter().map(|&at| of_group(at)).sum();
        let mut selectors = Vec::new();
        for (i, &run) in self.runs.as_ref()?.iter().chain([&usize::MAX]).enumerate() {
            let run = run.min(left);
            left -= run;
            selectors.push(if i % 2 == 0 { RowSelector::skip(run) } else { RowSelector::select(run) });
        }
        Some(selectors.into())
    }

    fn row_filter(&self, schema: &Schema) -> Option<RowFilter> {
        let mask = ProjectionMask::leaves(schema, [self.filter?]);
        let valid = |batch: RecordBatch| {
            let column = batch.column(0);
            Ok(BooleanArray::from_iter((0..batch.num_rows()).map(|row| Some(column.is_valid(row)))))
        };
        Some(RowFilter::new(vec![Box::new(ArrowPredicateFn::new(mask, valid))]))
    }

    fn reader(&self, file: &Bytes, options: &ArrowReaderOptions) -> Result<(SchemaRef, Vec<RecordBatch>)> {
        let metadata = ArrowReaderMetadata::load(file.clone(), options.clone())?;
        let schema = metadata.parquet_schema();
        let (mask, filter) = (self.mask(schema), self.row_filter(schema));
        let selection = self.selection(&metadata);
        let mut builder = ParquetRecordBatchReaderBuilder::new_with_metadata(file.clone(), metadata)
            .with_batch_size(self.batch_size)
            .with_threads(self.threads)
            .with_projection(mask)
            .with_offset(self.offset);
        if let Some(names) = &self.names {
            builder = builder.with_columns(names.clone())?;
        }
        if let Some(row_groups) = &self.row_groups {
            builder = builder.with_row_groups(row_groups.clone());
        }
        if let Some(selection) = selection {
            builder = builder.with_row_selection(selection);
        }
        if let Some(text) = &self.predicate {
            builder = builder.with_predicate(Predicate::parse(text)?);
        }
        if let Some(filter) = filter {
            builder = builder.with_row_filter(filter);
        }
        if let Some(limit) = self.limit {
            builder = builder.with_limit(limit);
        }
        let reader = builder.build()?;
        let schema = RecordBatchReader::schema(&reader);
        Ok((schema, read(reader)?))
    }

    async fn stream(
        &self,
        store: &Store,
        options: &ArrowReaderOptions,
    ) -> Result<ParquetRecordBatchStream<Store>> {
        let metadata = ArrowReaderMetadata::load_async(store, options.clone()).await?;
        let schema = metadata.parquet_schema();
        let (mask, filter) = (self.mask(schema), self.row_filter(schema));
        let selection = self.selection(&metadata);
        let mut builder = ParquetRecordBatchStreamBuilder::new_with_metadata(store.clone(), metadata)
            .with_batch_size(self.batch_size)
            .with_projection(mask)
            .with_offset(self.offset)
            .with_prefetch(self.prefetch)
            .with_request_cost(CoalesceOptions::new(self.cost.0, self.cost.1))
            .with_yield_rows(self.yield_rows);
        if let Some(names) = &self.names {
            builder = builder.with_columns(names.clone())?;
        }
        if let Some(row_groups) = &self.row_groups {
            builder = builder.with_row_groups(row_groups.clone());
        }
        if let Some(selection) = selection {
            builder = builder.with_row_selection(selection);
        }
        if let Some(text) = &self.predicate {
            builder = builder.with_predicate(Predicate::parse(text)?);
        }
        if let Some(filter) = filter {
            builder = builder.with_row_filter(filter);
        }
        if let Some(limit) = self.limit {
            builder = builder.with_limit(limit);
        }
        builder.build_fitting().await
    }

    /// The schema, the batches before the first error, and that.
    fn streamed(&self, store: &Store, options: &ArrowReaderOptions) -> Result<Streamed> {
        block_on(async {
            let mut stream = self.stream(store, options).await?;
            let schema = stream.schema().clone();
            let mut batches = Vec::new();
            let failed = loop {
                let next: Option<Result<Vec<RecordBatch>>> = match self.by_row_group && self.limit.is_none() {
                    true => {
                        let group = stream.next_row_group().await.transpose();
                        let batches =
                            |mut group: RowGroupReader| iter::from_fn(|| group.next_batch()).collect();
                        group.map(|group| group.and_then(batches))
                    }
                    false => stream.next().await.map(|batch| batch.map(|batch| vec![batch])),
                };
                match next {
                    Some(Ok(next)) => batches.extend(next),
                    Some(Err(error)) => break Some(error),
                    None => break None,
                }
            };
            // Of row groups that are handed out, the others can still be had after one failed.
            if failed.is_some() && !self.by_row_group {
                assert!(stream.next().await.is_none(), "after an error a stream is over");
            }
            assert!(batches.iter().all(|batch| (1..=self.batch_size).contains(&batch.num_rows())));
            Ok(Streamed { rows: one(&schema, &batches), failed, schema })
        })
    }
}

struct Streamed {
    schema: SchemaRef,
    rows: RecordBatch,
    failed: Option<marquetry_base::Error>,
}

impl Streamed {
    fn whole(self) -> Result<(RecordBatch, SchemaRef)> {
        match self.failed {
            Some(error) => Err(error),
            None => Ok((self.rows, self.schema)),
        }
    }
}

/// What was compared, so that a test can say that it compared something.
#[derive(Debug, Default)]
struct Counts {
    same: usize,
    errors: usize,
    faults: usize,
}

/// Whether not all of a file can be read.
fn is_damaged(file: &Bytes, options: &ArrowReaderOptions) -> bool {
    let reader = ParquetRecordBatchReaderBuilder::try_new_with_options(file.clone(), options.clone());
    reader.and_then(ParquetRecordBatchReaderBuilder::build).and_then(read).is_err()
}

/// One file, some choices.
fn compare(path: &Path, options_of: &dyn Fn(&mut Random) -> ArrowReaderOptions, seeds: Range<u64>) -> Counts {
    let mut counts = Counts::default();
    let file = Bytes::from(std::fs::read(path).unwrap());
    for seed in seeds {
        let name = path.file_name().unwrap().to_string_lossy();
        let random =
            &mut Random(seed ^ name.bytes().fold(7, |sum, byte| sum * 31 % 1_000_003 + u64::from(byte)));
        let options = options_of(random);
        let Ok(metadata) = ArrowReaderMetadata::load(file.clone(), options.clone()) else {
            let store = Store::new(file.clone());
            assert!(block_on(ArrowReaderMetadata::load_async(&store, options)).is_err(), "{name}");
            counts.errors += 1;
            continue;
        };
        let mut choice = Choice::new(random, &metadata);
        let of = format!("{}, seed {seed}: {choice:?}, {options:?}", path.display());
        let store = Store::with(file.clone(), Faults { latency: random.below(4), ..Faults::default() });
        let expected =
            choice.reader(&file, &options).map(|(schema, batches)| (one(&schema, &batches), schema));
        let mut given = choice.streamed(&store, &options).and_then(Streamed::whole);
        if choice.by_row_group && given.as_ref().is_err_and(|error| error.kind() == ErrorKind::Unsupported) {
            // Where footers are wrong about places, only the stream itself finds the pages.
            choice.by_row_group = false;
            given = choice.streamed(&store, &options).and_then(Streamed::whole);
        }
        assert_eq!(store.running(), 0, "{of}");
        let calls = store.calls();
        match (&expected, given) {
            (Ok(expected), Ok(given)) => {
                assert_eq!(given.1, expected.1, "{of}");
                assert_eq!(given.0, expected.0, "{of}");
                counts.same += 1;
            }
            (Err(expected), Err(given)) => {
                // How many values are wanted of a page at once is the affair of each.
                assert_eq!(expected.kind(), given.kind(), "{of}: {expected}, {given}");
                counts.errors += 1;
                continue;
            }
            // Which of the pages that no wanted row is in are looked into is the affair of each.
            _ if choice.leaves_rows_out() && is_damaged(&file, &options) => {
                counts.errors += 1;
                continue;
            }
            (expected, given) => panic!("{of}: {:?}, {:?}", expected.as_ref().err(), given.err()),
        }
        let (expected, _) = expected.unwrap();
        counts.faults += usize::from(fails(random, &choice, &file, &options, calls, &expected, &of));
        given_up(random, &choice, &file, &options, &of);
    }
    counts
}

/// One call fails, is answered short, or panics: an error, after rows that are right. Whether it was one that is asked for.
fn fails(
    random: &mut Random,
    choice: &Choice,
    file: &Bytes,
    options: &ArrowReaderOptions,
    calls: usize,
    expected: &RecordBatch,
    of: &str,
) -> bool {
    let call = random.below(calls);
    let faults = match random.below(5) {
        0 | 1 => Faults { fails: Some(call), ..Faults::default() },
        2 => Faults { short: Some(call), ..Faults::default() },
        // The first call asks which version there is.
        3 if call > 0 => Faults { changes: Some(call), ..Faults::default() },
        _ => Faults { panics: Some(call), ..Faults::default() },
    };
    let faults = Faults { latency: random.below(4), first_is_slow: random.is(3), ..faults };
    let store = Store::with(file.clone(), faults);
    let given = catch_unwind(AssertUnwindSafe(|| choice.streamed(&store, options)));
    assert_eq!(store.running(), 0, "{of}, {faults:?}");
    let Ok(given) = given else {
        assert!(faults.panics.is_some(), "{of}, {faults:?}");
        return true;
    };
    let error = match given {
        Err(error) => error,
        Ok(given) => {
            let rows = given.rows.num_rows();
            assert!(rows <= expected.num_rows(), "{of}, {faults:?}");
            assert_eq!(given.rows, expected.slice(0, rows), "{of}, {faults:?}");
            match given.failed {
                Some(error) => error,
                None => {
                    // In another order of answers it may not be asked for.
                    assert!(store.calls() <= call, "{of}, {faults:?}");
                    assert_eq!(rows, expected.num_rows(), "{of}, {faults:?}");
                    return false;
                }
            }
        }
    };
    assert!(matches!(error.kind(), ErrorKind::Io | ErrorKind::Corrupt), "{of}, {faults:?}: {error}");
    true
}

/// Dropped after some polls: nothing goes on.
fn given_up(random: &mut Random, choice: &Choice, file: &Bytes, options: &ArrowReaderOptions, of: &str) {
    let store = Store::with(file.clone(), Faults { latency: 2, ..Faults::default() });
    let mut stream = block_on(choice.stream(&store, options)).unwrap();
    let waker = noop_waker();
    for _ in 0..random.below(12) {
        let _ = stream.poll_next_unpin(&mut Context::from_waker(&waker));
    }
    drop(stream);
    assert_eq!(store.running(), 0, "{of}");
}

/// Every so many of the files that are small enough, in an order that is always the same.
fn spread(mut files: Vec<PathBuf>, most: usize) -> Vec<PathBuf> {
    // Small ones, but for one of gigabytes of text.
    let is_large = |path: &PathBuf| path.ends_with("large_string_map.brotli.parquet");
    files.retain(|path| std::fs::metadata(path).unwrap().len() < 400_000 && !is_large(path));
    files.sort();
    let step = files.len().div_ceil(most).max(1);
    files.into_iter().step_by(step).collect()
}

fn sum(counts: impl IntoIterator<Item = Counts>) -> Counts {
    counts.into_iter().fold(Counts::default(), |all, one| Counts {
        same: all.same + one.same,
        errors: all.errors + one.errors,
        faults: all.faults + one.faults,
    })
}

#[test]
fn streams_give_what_readers_give_with_many_options_at_once() {
    let files: Vec<PathBuf> = ["parquet-testing/data", "parquet-testing/bad_data", "corpus"]
        .into_iter()
        .flat_map(|folder| spread(corpus::files_below(folder), 60))
        .collect();
    let counts = sum(files.iter().map(|path| compare(path, &options, 0..seeds())));
    eprintln!("{} files: {counts:?}", files.len());
    assert!(files.is_empty() || counts.same > files.len() && counts.faults > files.len() / 2, "{counts:?}");
}

/// How many choices for each file: `MARQUETRY_SEEDS`, or few.
fn seeds() -> u64 {
    std::env::var("MARQUETRY_SEEDS").map_or(4, |text| text.parse().unwrap())
}

#[cfg(feature = "encryption")]
#[test]
fn streams_of_encrypted_files_give_what_readers_give_with_many_options_at_once() {
    use marquetry_crypto::FileDecryptionProperties;
    let encrypted = |path: &PathBuf| path.to_string_lossy().ends_with(".parquet.encrypted");
    let mut files = corpus::entries("parquet-testing/data");
    files.retain(encrypted);
    let with_keys = |random: &mut Random| {
        let keys = FileDecryptionProperties::builder(b"0123456789012345".to_vec())
            .with_column_key("double_field", b"1234567890123450".to_vec())
            .with_column_key("float_field", b"1234567890123451".to_vec());
        options(random).with_file_decryption_properties(keys.build().unwrap())
    };
    let counts = sum(files.iter().map(|path| compare(path, &with_keys, 0..10 * seeds())));
    assert!(files.is_empty() || counts.same > 50, "{counts:?}");
}
