//! Keys, values and names that are not UTF-8 are stored as they were by whatever copies a footer.

use crate::command::wines;
use arrow_array::{Int64Array, RecordBatch};
use arrow_ipc::writer::FileWriter;
use arrow_schema::{DataType, Field, Schema};
use marquetry::errors::Limits;
use marquetry::file::metadata::ParquetMetaData;
use marquetry::file::{LocalFile, read_metadata};
use marquetry::internals::format::{FileMetaData, FooterTail, KeyValue, ThriftString, Writer};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

#[track_caller]
fn success(arguments: &[&str]) -> String {
    let output =
        Command::new(env!("CARGO_BIN_EXE_marquetry")).args(arguments).output().expect("the binary runs");
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("output in UTF-8")
}

fn directory(test: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("stored_bytes").join(test);
    let _ = fs::remove_dir_all(&path);
    fs::create_dir_all(&path).expect("a directory");
    path
}

fn at(directory: &Path, name: &str) -> String {
    directory.join(name).to_str().expect("a name in UTF-8").to_owned()
}

fn metadata(path: &str) -> ParquetMetaData {
    let file = LocalFile::open(path).expect("a file");
    read_metadata(&file, &Limits::default()).expect("a footer").metadata
}

fn footer(path: &str) -> FileMetaData {
    metadata(path).to_thrift().expect("a footer")
}

fn pair() -> KeyValue {
    let bytes = ThriftString::from_bytes;
    KeyValue { key: bytes(b"k\xff"), value: Some(bytes(b"\x00\xff\xfe")) }
}

/// The pages of the example with this footer.
fn with_footer(path: &str, footer: &FileMetaData) {
    let mut file = fs::read(wines()).expect("the example");
    file.truncate(metadata(&wines()).data_end().expect("a file") as usize);
    let mut writer = Writer::new();
    footer.write(&mut writer);
    let footer = writer.finish();
    file.extend_from_slice(&footer);
    file.extend_from_slice(&FooterTail::Plain { metadata_len: footer.len() as u32 }.to_bytes());
    fs::write(path, file).expect("a file");
}

/// The example with a key, a value, two names and a writer's name that are not UTF-8.
fn made(path: &str) {
    let mut thrift = footer(&wines());
    thrift.key_value_metadata = Some(vec![KeyValue::new("a", "1".to_owned()), pair()]);
    thrift.created_by = Some(ThriftString::from_bytes(b"w\xe9"));
    let nested = thrift
        .schema
        .iter()
        .position(|element| element.num_children.is_some() && &*element.name == "producer");
    for (place, name) in [(1, &b"id\xff"[..]), (nested.expect("a group"), b"\xfeproducer")] {
        let old = std::mem::replace(&mut thrift.schema[place].name, ThriftString::from_bytes(name));
        let paths = thrift.row_groups.iter_mut().flat_map(|group| &mut group.columns);
        for meta in paths.filter_map(|column| column.meta_data.as_mut()) {
            if meta.path_in_schema[0] == old {
                meta.path_in_schema[0] = ThriftString::from_bytes(name);
            }
        }
    }
    with_footer(path, &thrift);
    assert_eq!(footer(path), thrift);
}

/// Each of them is looked for among those before it.
#[test]
fn very_many_pairs_are_copied_in_little_time() {
    let directory = directory("many");
    let [one, other, out] = ["one", "other", "out"].map(|name| at(&directory, name));
    let pairs = |value: &str| -> Vec<KeyValue> {
        (0..100_000).map(|i| KeyValue::new(format!("key {i}"), value.to_owned())).collect()
    };
    for (path, value) in [(&one, "a"), (&other, "b")] {
        let footer = FileMetaData { key_value_metadata: Some(pairs(value)), ..footer(&wines()) };
        with_footer(path, &footer);
    }
    let started = Instant::now();
    success(&["merge", &one, &other, &out, "--format", "json"]);
    assert!(started.elapsed() < Duration::from_secs(60), "{:?}", started.elapsed());
    let kept = footer(&out).key_value_metadata.expect("pairs");
    assert!(kept.len() >= 100_000 && kept.iter().all(|pair| pair.value.as_deref() != Some("b")));
}

/// Names and paths of `path` are those of `original`, and so is the pair.
#[track_caller]
fn keeps_names(path: &str, original: &str) {
    let (new, old) = (footer(path), footer(original));
    assert_eq!(new.schema, old.schema);
    let paths = |footer: &FileMetaData| -> Vec<Vec<ThriftString>> {
        let metas = footer.row_groups[0].columns.iter().filter_map(|column| column.meta_data.clone());
        metas.map(|meta| meta.path_in_schema).collect()
    };
    assert_eq!(paths(&new), paths(&old));
    keeps_pair(path);
}

#[track_caller]
fn keeps_pair(path: &str) {
    let pairs = footer(path).key_value_metadata.expect("pairs");
    assert!(pairs.contains(&pair()), "{pairs:?}");
}

#[test]
fn what_is_not_utf8_is_stored_as_it_was() {
    let directory = directory("copies");
    let original = at(&directory, "original.parquet");
    made(&original);
    let rows = success(&["cat", "--format", "json", &original]);

    let edited = at(&directory, "edited.parquet");
    fs::copy(&original, &edited).expect("a copy");
    success(&["meta", "set", &edited, "z=1"]);
    keeps_names(&edited, &original);
    assert_eq!(footer(&edited).created_by, footer(&original).created_by);
    success(&["append", &edited, &original]);
    success(&["drop-row-group", &edited, "0"]);
    keeps_names(&edited, &original);

    let out = at(&directory, "out.parquet");
    for options in [&[][..], &["--compression", "gzip"], &["--page-rows", "20"], &["--row-group-rows", "50"]]
    {
        success(&[&["rewrite", &original, &out, "--overwrite"], options].concat());
        keeps_names(&out, &original);
        assert_eq!(success(&["cat", "--format", "json", &out]), rows);
    }
    success(&["merge", &original, &original, &out, "--overwrite"]);
    keeps_names(&out, &original);
    success(&[
        "split",
        &original,
        "--rows",
        "150",
        "--out-dir",
        &at(&directory, ""),
        "--name",
        "part-{}.parquet",
    ]);
    keeps_names(&at(&directory, "part-00001.parquet"), &original);

    // Arrow's names are text: of a converted file only the pairs are kept.
    let out = at(&directory, "converted.parquet");
    success(&["convert", &original, &out]);
    keeps_pair(&out);
    assert_eq!(success(&["cat", "--format", "json", &out]), rows);
}

#[test]
fn a_key_that_is_shown_like_another_is_another() {
    let directory = directory("keys");
    let path = at(&directory, "f.parquet");
    made(&path);
    success(&["meta", "set", &path, "k\u{FFFD}=text"]);
    let pairs = footer(&path).key_value_metadata.expect("pairs");
    assert!(
        pairs.contains(&pair()) && pairs.contains(&KeyValue::new("k\u{FFFD}", "text".to_owned())),
        "{pairs:?}"
    );
    success(&["meta", "unset", &path, "k\u{FFFD}"]);
    keeps_pair(&path);
}

/// Arrow requires UTF-8; but other writers do not check.
#[test]
fn an_arrow_file_with_bytes_for_metadata_is_refused_in_one_sentence() {
    let directory = directory("arrow");
    let metadata = [("key".to_owned(), "MARK".to_owned())].into();
    let schema = Schema::new_with_metadata(vec![Field::new("a", DataType::Int64, false)], metadata);
    let batch =
        RecordBatch::try_new(Arc::new(schema), vec![Arc::new(Int64Array::from(vec![1]))]).expect("a batch");
    let mut file = FileWriter::try_new(Vec::new(), &batch.schema()).expect("a file");
    file.write(&batch).expect("rows");
    let mut bytes = file.into_inner().expect("a file");
    while let Some(at) = bytes.windows(4).position(|window| window == b"MARK") {
        bytes[at] = 0xff;
    }
    let path = at(&directory, "f.arrow");
    fs::write(&path, bytes).expect("a file");
    let output =
        Command::new(env!("CARGO_BIN_EXE_marquetry")).args(["convert", &path, "-", "--to", "csv"]).output();
    let output = output.expect("the binary runs");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{errors}");
    assert!(
        errors.contains("has a name or metadata that is not UTF-8") && errors.lines().count() == 1,
        "{errors}"
    );
}
