//! Damaged and encrypted files: an error that says where, or rows; in bounded time and memory, never a panic.

mod corpus;

use bytes::Bytes;
use marquetry::errors::{Error, ErrorKind, ErrorLocation};
use peak_alloc::PeakAlloc;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

/// One test: the allocator counts for all threads.
#[test]
fn damaged_files() {
    let Some(root) = corpus::root() else { return };
    let mut paths = corpus::files(&root, "parquet-testing/bad_data");
    paths.retain(|path| path.ends_with(".parquet"));
    let rejected = corpus::expectations(&root).into_iter().filter(|line| line.expect == "reject");
    paths.extend(
        rejected.map(|line| line.path).filter(|path| !VALID.iter().any(|valid| path.ends_with(valid))),
    );
    paths.sort();
    paths.dedup();
    let wrong: Vec<_> = paths
        .iter()
        .filter_map(|path| Some(format!("{path}: {}", judge(corpus::bytes(&root, path))?)))
        .collect();
    println!("{} files", paths.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Valid files that no other reader manages, and we do.
const VALID: [&str; 1] = ["large_string_map.brotli.parquet"];

/// Returns what is wrong with the way a file was read.
fn judge(bytes: Bytes) -> Option<String> {
    let size = bytes.len();
    MEMORY.reset_peak_usage();
    let before = MEMORY.current_usage();
    let start = Instant::now();
    let outcome = catch_unwind(AssertUnwindSafe(|| read(bytes)));
    let (time, memory) = (start.elapsed(), MEMORY.peak_usage() - before);
    let outcome = match outcome {
        Err(_) => return Some("a panic".to_owned()),
        Ok(outcome) => outcome,
    };
    if time > TIME {
        return Some(format!("{time:?}"));
    }
    if memory > MEMORY_BASE + MEMORY_RATIO * size {
        return Some(format!("{memory} bytes of memory for {size} bytes of file, {outcome:?}"));
    }
    match outcome {
        Err(error) if !has_place(&error) && !error.message().starts_with("not a Parquet file") => {
            Some(format!("no place: {error}"))
        }
        _ => None,
    }
}

/// Far above what a good file takes; the codecs' own tables are in the base.
const TIME: Duration = Duration::from_secs(5);
const MEMORY_BASE: usize = 32 << 20;
const MEMORY_RATIO: usize = 50;

/// Reads all rows; returns how many.
fn read(bytes: Bytes) -> Result<usize, Error> {
    let mut reader = marquetry::open_bytes(bytes)?.batches()?;
    let mut rows = 0;
    while let Some(batch) = reader.next_batch() {
        rows += batch?.num_rows();
    }
    Ok(rows)
}

/// Whether an error says where.
fn has_place(error: &Error) -> bool {
    let ErrorLocation { row_group, column, page, offset, .. } = error.place();
    row_group.is_some() || column.is_some() || page.is_some() || offset.is_some()
}

/// The errors of the files agree with `parquet-testing/bad_data/README.md`.
#[test]
fn bad_data() {
    let Some(root) = corpus::root() else { return };
    let outcome =
        |name: &str| read(corpus::bytes(&root, &format!("parquet-testing/bad_data/{name}.parquet")));
    for (name, message) in BAD_DATA {
        let error = outcome(name).unwrap_err();
        assert!(error.to_string().contains(message), "{name}: {error}");
        assert!(has_place(&error), "{name}: {error}");
    }
    // A bit width of 0 for a dictionary of one entry is right; readers used to refuse it.
    assert_eq!(outcome("ARROW-GH-43605").unwrap(), 21_186);
}

const BAD_DATA: [(&str, &str); 7] = [
    ("ARROW-GH-41317", "timestamp_us_no_tz, row group 0, page 2"),
    ("ARROW-GH-41321", "dictionary index width 254 > 32"),
    ("ARROW-GH-45185", "the first repetition level is not 0"),
    ("ARROW-GH-47662", "PLAIN values wanted"),
    ("ARROW-RS-GH-6229-DICTHEADER", "DictionaryPageHeader.num_values is -26"),
    ("ARROW-RS-GH-6229-LEVELS", "repetition levels"),
    ("PARQUET-1481", "physical type UNKNOWN(-7)"),
];

#[test]
fn encrypted_files() {
    let Some(root) = corpus::root() else { return };
    let mut paths = corpus::files(&root, "parquet-testing/data");
    paths.retain(|path| path.ends_with(".encrypted"));
    assert!(!paths.is_empty());
    for path in paths {
        match read(corpus::bytes(&root, &path)) {
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::Key, "{path}: {error}");
                assert!(error.to_string().contains("encrypted"), "{path}: {error}");
            }
            Ok(rows) => panic!("{path}: {rows} rows"),
        }
    }
}

/// In a file with a plain footer the columns that are not encrypted can be read.
#[test]
fn plain_columns_of_encrypted_files() {
    let Some(root) = corpus::root() else { return };
    let bytes =
        corpus::bytes(&root, "parquet-testing/data/encrypt_columns_plaintext_footer.parquet.encrypted");
    let file = marquetry::open_bytes(bytes).unwrap();
    let columns = file.metadata().schema().columns().to_vec();
    let mut outcomes = Vec::new();
    for leaf in &columns {
        let mut reader = file.clone().columns([leaf.dotted().to_string()]).batches().unwrap();
        let outcome: Result<Vec<_>, _> = std::iter::from_fn(|| reader.next_batch()).collect();
        outcomes.push((leaf.dotted().to_string(), outcome.map(|_| ()).map_err(|error| error.kind())));
    }
    for (column, outcome) in outcomes {
        match column.as_str() {
            "double_field" | "float_field" => assert_eq!(outcome, Err(ErrorKind::Key), "{column}"),
            _ => assert_eq!(outcome, Ok(()), "{column}"),
        }
    }
}
