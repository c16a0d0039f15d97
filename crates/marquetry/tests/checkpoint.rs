//! A writer that leaves checkpoints and is killed: no row before the last of them is lost, and none is read wrong.

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringViewArray};
use marquetry::OpenFile;
use marquetry::arrow::ArrowWriter;
use marquetry::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions};
use marquetry::file::properties::{BloomFilterPosition, CheckpointEvery, WriterProperties};
use marquetry::file::{LocalFile, Source};
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

/// The variables that tell this test, when it runs again as a child, what to do.
const FOLDER: &str = "MARQUETRY_TEST_CHECKPOINTS_IN";
const EVERY: &str = "MARQUETRY_TEST_CHECKPOINTS_EVERY";
const ROWS: u64 = 3_000;
const BATCHES: u64 = 30;

fn text(row: u64) -> String {
    format!("row {row} of many, {:x}", row.wrapping_mul(0x9e37_79b9_7f4a_7c15))
}

/// Rows from `first` on.
fn batch(first: u64) -> RecordBatch {
    let numbers = Int64Array::from_iter_values((first..first + ROWS).map(|row| row as i64));
    let texts = StringViewArray::from_iter_values((first..first + ROWS).map(text));
    let columns: [(&str, ArrayRef); 2] = [("row", Arc::new(numbers)), ("text", Arc::new(texts))];
    RecordBatch::try_from_iter(columns).unwrap()
}

fn properties(every: CheckpointEvery) -> WriterProperties {
    WriterProperties::builder()
        .set_checkpoint_every(Some(every))
        .set_max_row_group_row_count(Some(ROWS as usize))
        .set_bloom_filter_enabled(true)
        .set_bloom_filter_position(BloomFilterPosition::AfterRowGroup)
        .build()
}

fn every(number: u64) -> CheckpointEvery {
    match number % 4 {
        0 => CheckpointEvery::RowGroups(1),
        1 => CheckpointEvery::RowGroups(3),
        2 => CheckpointEvery::Bytes(100_000),
        _ => CheckpointEvery::Time(Duration::from_millis(2)),
    }
}

/// Writes one file after the other. Once rows are safe, writes their number to a file beside it.
fn write_forever(folder: &Path, every: CheckpointEvery) {
    for n in 0.. {
        let path = folder.join(format!("{n}.parquet"));
        let safe = folder.join(format!("{n}.safe"));
        let mut safe = OpenOptions::new().create(true).append(true).open(safe).unwrap();
        let mut file =
            marquetry::create_with_properties(&path, batch(0).schema(), properties(every)).unwrap();
        let mut told = 0;
        for i in 0..BATCHES {
            file.write(&batch(i * ROWS)).unwrap();
            let rows = file.writer().checkpointed_rows();
            if rows > told {
                told = rows;
                safe.write_all(format!("{rows}\n").as_bytes()).unwrap();
            }
        }
        file.close().unwrap();
    }
}

/// Reads all rows, which must be the first ones, as they were written. Returns their number.
fn check(file: OpenFile) -> u64 {
    let mut rows = 0;
    for batch in file.batches().unwrap() {
        let batch = batch.unwrap();
        let (numbers, texts) =
            (batch.column(0).as_primitive::<Int64Type>(), batch.column(1).as_string_view());
        for i in 0..batch.num_rows() {
            assert_eq!(numbers.value(i) as u64, rows);
            assert_eq!(texts.value(i), text(rows));
            rows += 1;
        }
    }
    rows
}

fn recover(path: &Path) -> Option<u64> {
    let source: Arc<dyn Source> = Arc::new(LocalFile::open(path).unwrap());
    let options = ArrowReaderOptions::new().with_checkpoint_recovery(true);
    OpenFile::new(source, options).ok().map(check)
}

/// The number of rows that were reported as safe.
fn told(path: &Path) -> u64 {
    let text = fs::read_to_string(path).unwrap_or_default();
    // The last line may be cut off.
    let whole = text.rsplit_once('\n').map_or("", |(whole, _)| whole);
    whole.lines().last().map_or(0, |line| line.parse().unwrap())
}

#[test]
fn a_killed_writer_loses_no_row_before_its_last_checkpoint() {
    if let Some(folder) = std::env::var_os(FOLDER) {
        let number = std::env::var(EVERY).unwrap().parse().unwrap();
        write_forever(Path::new(&folder), every(number));
    }
    let kills = if std::env::var_os("MARQUETRY_SLOW").is_some() { 200 } else { 40 };
    let (mut unfinished, mut finished, mut without_end) = (0, 0, 0);
    for round in 0..kills {
        let folder = folder(&format!("kill-{round}"));
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "a_killed_writer_loses_no_row_before_its_last_checkpoint"])
            .env(FOLDER, &folder)
            .env(EVERY, round.to_string())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        // Any times will do that hit all parts of the child's work.
        std::thread::sleep(Duration::from_micros(30_000 + round * 7_919 % 150_000));
        child.kill().unwrap();
        child.wait().unwrap();
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            if name.ends_with(".safe") {
                continue;
            }
            // The file under its name, or ".N.parquet.PID-M.tmp".
            let number = name.trim_start_matches('.').split('.').next().unwrap();
            let told = told(&folder.join(format!("{number}.safe")));
            if name.ends_with(".parquet") {
                assert_eq!(check(marquetry::open(&path).unwrap()), BATCHES * ROWS);
                finished += 1;
                continue;
            }
            let rows = recover(&path);
            assert!(rows.unwrap_or(0) >= told, "round {round}, {name}: {rows:?} rows, {told} were safe");
            unfinished += usize::from(told > 0);
            // Readers that do not know checkpoints refuse the file, or see the rows that are there.
            match marquetry::open(&path) {
                Ok(file) => assert_eq!(Some(check(file)), rows),
                Err(_) => without_end += usize::from(told > 0),
            }
        }
        fs::remove_dir_all(folder).unwrap();
    }
    println!(
        "{kills} kills: {unfinished} files with checkpoints, {without_end} of them cut in between, {finished} whole"
    );
    assert!(unfinished > kills as usize / 8, "only {unfinished} of {kills} children left checkpoints");
}

/// Writes a file of this number of batches, and does not close it.
fn abandoned(path: &Path, batches: u64) -> PathBuf {
    let properties = properties(CheckpointEvery::RowGroups(2));
    let mut file = marquetry::create_with_properties(path, batch(0).schema(), properties).unwrap();
    (0..batches).for_each(|i| file.write(&batch(i * ROWS)).unwrap());
    assert_eq!(file.writer().checkpointed_rows(), batches / 2 * 2 * ROWS);
    drop(file);
    let entries = fs::read_dir(path.parent().unwrap()).unwrap();
    let mut hidden = entries.map(|entry| entry.unwrap().path());
    hidden.find(|path| path.to_str().unwrap().ends_with(".tmp")).expect("a hidden file")
}

#[test]
fn a_dropped_writer_leaves_its_checkpoints_beside_the_name() {
    let folder = folder("dropped");
    let path = folder.join("f.parquet");
    let hidden = abandoned(&path, 5);
    assert!(!path.exists());
    let error = marquetry::open(&hidden).unwrap_err().to_string();
    assert!(error.contains("`marquetry recover` makes a file of what is whole"), "{error}");
    assert_eq!(recover(&hidden), Some(4 * ROWS));
    let options = ArrowReaderOptions::new().with_checkpoint_recovery(true);
    let open = marquetry::open_with_options(&hidden, options.clone()).unwrap();
    assert!(open.recovered_end().is_some());
    assert_eq!(check(open), 4 * ROWS);
    let recovered = ArrowReaderMetadata::load(File::open(&hidden).unwrap(), options.clone()).unwrap();
    assert!(recovered.recovered_end().is_some_and(|end| end < fs::metadata(&hidden).unwrap().len()));
    // The next writer of the same name is not disturbed, and leaves no trace if it is discarded.
    let properties = properties(CheckpointEvery::RowGroups(1));
    let mut file = marquetry::create_with_properties(&path, batch(0).schema(), properties).unwrap();
    file.write(&batch(0)).unwrap();
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 2);
    file.discard();
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
    // A whole file is read as ever.
    fs::remove_file(&hidden).unwrap();
    let mut file = marquetry::create(&path, batch(0).schema()).unwrap();
    file.write(&batch(0)).unwrap();
    file.close().unwrap();
    assert_eq!(marquetry::open_with_options(&path, options.clone()).unwrap().recovered_end(), None);
    let whole = ArrowReaderMetadata::load(File::open(&path).unwrap(), options).unwrap();
    assert_eq!(whole.recovered_end(), None);
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_file_with_checkpoints_is_a_plain_file() {
    let write = |every: Option<CheckpointEvery>| {
        let properties = properties(CheckpointEvery::Auto).into_builder().set_checkpoint_every(every).build();
        let mut file = Vec::new();
        let mut writer =
            ArrowWriter::try_new_durable(&mut file, batch(0).schema(), Some(properties)).unwrap();
        (0..6).for_each(|i| writer.write(&batch(i * ROWS)).unwrap());
        let cost = writer.checkpoint_cost();
        writer.finish().unwrap();
        // A finished file still has the counts.
        assert_eq!((writer.checkpoint_cost(), writer.checkpoints()), (cost, cost.count));
        assert_eq!(writer.checkpoint_bytes(), cost.bytes);
        drop(writer);
        (file, cost.count, cost.bytes)
    };
    let (plain, _, none) = write(None);
    let (file, checkpoints, bytes) = write(Some(CheckpointEvery::RowGroups(2)));
    assert_eq!((none, checkpoints), (0, 3));
    // The sizes of numbers in the footers depend on the numbers.
    assert!((file.len() as i64 - plain.len() as i64 - bytes as i64).abs() < 100);
    assert_eq!(check(marquetry::open_bytes(file).unwrap()), 6 * ROWS);
    assert_eq!(check(marquetry::open_bytes(plain).unwrap()), 6 * ROWS);
}

#[test]
fn row_groups_end_for_checkpoints_that_do_not_wait() {
    let write = |every: CheckpointEvery| {
        let properties = WriterProperties::builder().set_checkpoint_every(Some(every)).build();
        let mut writer =
            ArrowWriter::try_new_durable(Vec::new(), batch(0).schema(), Some(properties)).unwrap();
        (0..20).for_each(|i| writer.write(&batch(i * ROWS)).unwrap());
        (writer.checkpoints(), writer.flushed_row_groups().len(), writer.checkpointed_rows())
    };
    let (checkpoints, row_groups, rows) = write(CheckpointEvery::Time(Duration::ZERO));
    assert_eq!((checkpoints, row_groups, rows), (20, 20, 20 * ROWS));
    let (checkpoints, row_groups, rows) = write(CheckpointEvery::Bytes(100_000));
    assert!(checkpoints > 3 && row_groups == checkpoints && rows > 10 * ROWS, "{checkpoints}, {rows}");
    assert_eq!(write(CheckpointEvery::RowGroups(1)), (0, 0, 0));
}

#[test]
fn a_checkpoint_can_be_asked_for() {
    let mut writer = ArrowWriter::try_new(Vec::new(), batch(0).schema(), None).unwrap();
    writer.write(&batch(0)).unwrap();
    writer.checkpoint().unwrap();
    assert_eq!((writer.checkpoints(), writer.checkpointed_rows()), (1, ROWS));
    writer.write(&batch(ROWS)).unwrap();
    let left = writer.into_sink();
    assert_eq!(check(marquetry::open_bytes(left).unwrap()), ROWS);
}

/// A writer in a child whose files may have no more than 800 blocks fails; the rows before its last checkpoint are there.
#[cfg(unix)]
#[test]
fn a_full_disk_leaves_the_checkpoints_and_says_where() {
    if let Some(folder) = std::env::var_os(FOLDER) {
        let path = Path::new(&folder).join("f.parquet");
        let properties = properties(CheckpointEvery::RowGroups(1));
        let mut file = marquetry::create_with_properties(&path, batch(0).schema(), properties).unwrap();
        let error = (0..10_000u64).find_map(|i| file.write(&batch(i * ROWS)).err()).expect("an error");
        let safe = file.writer().checkpointed_rows();
        fs::write(Path::new(&folder).join("safe"), format!("{safe}\n")).unwrap();
        fs::write(Path::new(&folder).join("error"), error.to_string()).unwrap();
        let cause = std::error::Error::source(&error).map(ToString::to_string).unwrap_or_default();
        fs::write(Path::new(&folder).join("cause"), cause).unwrap();
        let error = file.close().unwrap_err();
        assert!(error.to_string().contains("failed before"), "{error}");
        return;
    }
    let folder = folder("full");
    let script =
        "trap '' XFSZ; ulimit -f 800; exec \"$0\" --exact a_full_disk_leaves_the_checkpoints_and_says_where";
    let exe = std::env::current_exe().unwrap();
    let child = Command::new("sh").args(["-c", script]).arg(exe).env(FOLDER, &folder).output().unwrap();
    assert!(child.status.success(), "{}", String::from_utf8_lossy(&child.stdout));
    let entries = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
    let hidden: Vec<_> = entries.filter(|path| path.to_str().unwrap().ends_with(".tmp")).collect();
    let safe = told(&folder.join("safe"));
    assert!(safe > 0 && !folder.join("f.parquet").exists());
    assert_eq!(recover(&hidden[0]), Some(safe));
    let said = ["error", "cause"].map(|name| fs::read_to_string(folder.join(name)).unwrap()).concat();
    assert!(
        said.contains("what was synced before is in") && said.contains(hidden[0].to_str().unwrap()),
        "{said}"
    );
    fs::remove_dir_all(folder).unwrap();
}

/// An empty folder of this test's own.
fn folder(test: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("marquetry-checkpoint-{test}-{}", std::process::id()));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}
