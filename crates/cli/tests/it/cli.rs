//! The built binary: what it prints, how it exits, what it leaves behind.

use crate::command::{failure, marquetry, success, wines};
use serde_json::Value;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};

/// An empty directory of the test's own.
fn directory(test: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(test);
    let _ = fs::remove_dir_all(&path);
    fs::create_dir_all(&path).expect("a directory");
    path
}

fn text(path: &Path) -> &str {
    path.to_str().expect("a name in UTF-8")
}

/// A copy of the example with a byte of its first page changed.
fn damaged(directory: &Path) -> PathBuf {
    let mut bytes = fs::read(wines()).expect("the example");
    bytes[100] ^= 0x10;
    let path = directory.join("damaged.parquet");
    fs::write(&path, bytes).expect("a file");
    path
}

#[track_caller]
fn lines_of_json(arguments: &[&str]) -> Vec<Value> {
    let lines = success(arguments);
    lines.lines().map(|line| serde_json::from_str(line).expect("a line of JSON")).collect()
}

#[track_caller]
fn json(command: &[&str]) -> Value {
    let wines = wines();
    let arguments: Vec<&str> = command.iter().copied().chain([wines.as_str(), "--format", "json"]).collect();
    let mut lines = lines_of_json(&arguments);
    assert_eq!(lines.len(), 1, "one object for one file");
    lines.remove(0)
}

#[test]
fn count_and_its_total() {
    let wines = wines();
    assert_eq!(success(&["count", &wines]), "200\n");
    assert!(success(&["count", &wines, &wines]).ends_with("400  total\n"));
    let lines = lines_of_json(&["count", &wines, &wines, "--format", "json"]);
    assert_eq!(lines.len(), 3);
    assert_eq!((&lines[0]["rows"], &lines[2]["rows"]), (&Value::from(200), &Value::from(400)));
    assert_eq!(lines[2]["file"], Value::Null);
}

#[test]
fn schema_in_all_forms() {
    let wines = wines();
    let schema = success(&["schema", &wines]);
    assert!(schema.contains("DECIMAL(9,2)") && schema.contains("optional group grapes (LIST) {"), "{schema}");
    assert!(success(&["schema", "--arrow", &wines]).contains("price: Decimal128(9, 2)"));
    let tree = json(&["schema"]);
    let price = tree["fields"].as_array().expect("fields").iter().find(|field| field["name"] == "price");
    assert_eq!(price.expect("a price")["logical"], "DECIMAL(9,2)");
    assert_eq!(json(&["schema", "--arrow"])["fields"][0]["name"], "name");
}

#[test]
fn meta_shows_bounds_as_values() {
    let meta = json(&["meta"]);
    assert_eq!(meta["rows"], 200);
    assert_eq!(meta["row_groups"].as_array().map(Vec::len), Some(2));
    let columns = meta["row_groups"][0]["columns"].as_array().expect("columns");
    let column = |name: &str| columns.iter().find(|column| column["column"] == name).expect("a column");
    assert_eq!(column("name")["codec"], "ZSTD");
    assert!(column("price")["statistics"]["min"].as_f64().is_some());
    let date = column("producer.founded")["statistics"]["min"].as_str().expect("a date").to_owned();
    assert_eq!(date.len(), "1650-12-02".len());
    assert!(column("tasted")["statistics"]["max"].as_str().expect("a time").ends_with('Z'));
    assert!(success(&["meta", &wines()]).contains("row group 1: 100 rows"));
}

#[test]
fn pages_with_checksums() {
    let pages = json(&["pages", "--row-group", "0", "--column", "country"]);
    let pages = pages["pages"].as_array().expect("pages");
    assert_eq!(pages[0]["kind"], "DICTIONARY_PAGE");
    assert!(pages.iter().all(|page| page["checksum"] == "ok" && page["row_group"] == 0));
    assert_eq!(pages.iter().filter_map(|page| page["rows"].as_u64()).sum::<u64>(), 100);
    let unread = json(&["pages", "--no-verify"]);
    assert_eq!(unread["pages"][0]["checksum"], "unread");
    let directory = directory("pages_with_checksums");
    let damaged = damaged(&directory);
    let output = marquetry(&["pages", text(&damaged)]);
    assert_eq!(output.status.code(), Some(1));
    let listed = String::from_utf8_lossy(&output.stdout);
    assert!(listed.contains("BAD") && listed.contains("ok"), "{listed}");
}

#[test]
fn dictionary_index_and_size() {
    let dictionary = json(&["dictionary", "--column", "country"]);
    let entries = dictionary["dictionaries"][0]["entries"].as_array().expect("entries");
    assert!(entries.contains(&Value::from("Italy")));
    let index = json(&["index", "--column", "year"]);
    let page = &index["columns"][0]["pages"][0];
    assert_eq!((&page["first_row"], &page["null_count"]), (&Value::from(0), &Value::from(0)));
    assert!(page["min"].as_i64() <= page["max"].as_i64());
    let size = json(&["size"]);
    let columns = size["columns"].as_array().expect("columns");
    let sizes: Vec<u64> = columns.iter().filter_map(|column| column["compressed_size"].as_u64()).collect();
    assert!(sizes.is_sorted_by(|a, b| a >= b) && sizes.len() == 9);
    assert_eq!(Some(sizes.iter().sum()), size["compressed_size"].as_u64());
    assert_eq!(success(&["dictionary", &wines(), "--column", "name"]), "no row group has a dictionary\n");
    let (code, lines) = failure(&["dictionary", &wines(), "--column", "producer"]);
    assert_eq!(code, 2, "{lines:?}");
}

#[test]
fn head_and_cat() {
    let wines = wines();
    assert_eq!(success(&["head", &wines]).lines().count(), 10 + 4);
    let rows = lines_of_json(&["head", "-n", "3", "--format", "json", &wines]);
    assert_eq!(rows.len(), 3);
    assert!(rows[0]["grapes"].is_array() && rows[0]["producer"].is_object());
    let rows = [
        "cat",
        &wines,
        "--columns",
        "year,producer.name",
        "--offset",
        "95",
        "--limit",
        "10",
        "--format",
        "json",
    ];
    let rows = lines_of_json(&rows);
    assert_eq!(rows.len(), 10);
    let members: Vec<&String> = rows[0].as_object().expect("an object").keys().collect();
    assert_eq!(members, ["year", "producer"]);
    assert_eq!(lines_of_json(&["cat", &wines, "--format", "json"]).len(), 200);
    assert!(success(&["cat", &wines]).lines().count() > 200);
}

#[test]
fn patterns_are_expanded() {
    let directory = directory("patterns_are_expanded");
    for name in ["a.parquet", "b.parquet", "[c].parquet"] {
        fs::copy(wines(), directory.join(name)).expect("a copy");
    }
    let pattern = directory.join("?.parquet");
    assert!(success(&["count", text(&pattern)]).ends_with("400  total\n"));
    // A file that has such a name is not a pattern.
    assert_eq!(success(&["count", text(&directory.join("[c].parquet"))]), "200\n");
    let (code, lines) = failure(&["count", text(&directory.join("*.orc"))]);
    assert_eq!((code, lines.len()), (1, 1), "{lines:?}");
}

#[test]
fn bad_files_have_one_line_and_do_not_stop_the_others() {
    let directory = directory("bad_files");
    let (wines, damaged) = (wines(), damaged(&directory));
    let other = directory.join("other.parquet");
    fs::write(&other, "id,name\n1,oak\n").expect("a file");
    let missing = directory.join("missing.parquet");
    let output = marquetry(&["head", text(&missing), text(&other), text(&damaged), &wines]);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stdout).contains("Merlot"), "the good file is shown");
    let errors = String::from_utf8_lossy(&output.stderr);
    let lines: Vec<&str> = errors.lines().collect();
    assert_eq!(lines.len(), 3, "{errors}");
    assert!(lines[0].starts_with(&format!("marquetry: {}: not found: ", missing.display())));
    assert!(lines[1].starts_with(&format!("marquetry: {}: corrupt: not a Parquet file", other.display())));
    assert!(lines[2].starts_with(&format!("marquetry: {}: corrupt: checksum mismatch", damaged.display())));
    assert!(lines[2].ends_with("in column name, row group 0, page 0, byte 4"), "{}", lines[2]);
}

#[test]
fn wrong_usage_is_2() {
    let wines = wines();
    for arguments in [
        &["head"][..],
        &["polish", &wines],
        &["head", &wines, "--columns", "nam"],
        &["pages", &wines, "--row-group", "2"],
        &["convert", &wines, "wines.xyz", "--overwrite"],
        &["convert", &wines, &wines, "--overwrite", "--to", "csv"],
    ] {
        assert_eq!(failure(arguments).0, 2, "{arguments:?}");
    }
    assert!(fs::read(&wines).expect("the example").starts_with(b"PAR1"), "the input was not touched");
}

#[test]
fn a_closed_pipe_ends_commands_without_a_message() {
    // More than a pipe holds.
    let wines = vec![wines(); 60];
    for words in [&["cat"][..], &["cat", "--format", "json"], &["convert", "--to", "jsonl"], &["meta"]] {
        let mut arguments: Vec<&str> =
            words.iter().copied().chain(wines.iter().map(String::as_str)).collect();
        arguments.extend((words[0] == "convert").then_some("-"));
        let mut child = Command::new(env!("CARGO_BIN_EXE_marquetry"))
            .args(&arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary runs");
        let mut first = [0];
        let mut stdout = child.stdout.take().expect("a pipe");
        stdout.read_exact(&mut first).expect("a byte");
        drop(stdout);
        let output = child.wait_with_output().expect("it ends");
        assert!(is_ended_by_sigpipe(output.status), "{words:?}: {}", output.status);
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{words:?}");
    }
}

/// As `cat`, `head` and `sort` end whose reader has left.
fn is_ended_by_sigpipe(status: ExitStatus) -> bool {
    #[cfg(unix)]
    let is_so = std::os::unix::process::ExitStatusExt::signal(&status) == Some(13);
    #[cfg(not(unix))]
    let is_so = status.code() == Some(141);
    is_so
}

/// A pipe that has a name is no other one: what was to be in it is not all there.
#[cfg(unix)]
#[test]
fn a_named_pipe_that_is_closed_ends_commands_without_a_message() {
    let directory = directory("named-pipe");
    let (wines, pipe) = (wines(), directory.join("pipe"));
    assert!(Command::new("mkfifo").arg(&pipe).status().expect("mkfifo").success());
    for to in ["csv", "jsonl", "arrow", "parquet"] {
        let child = Command::new(env!("CARGO_BIN_EXE_marquetry"))
            .args(["convert", &wines, &wines, &wines, &wines, &wines, &wines, &wines, &wines, text(&pipe)])
            .args(["--to", to, "--report", "none"])
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary runs");
        // Whoever opens it waits for the other.
        drop(fs::File::open(&pipe).expect("a pipe"));
        let output = child.wait_with_output().expect("it ends");
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{to}");
        assert!(is_ended_by_sigpipe(output.status), "{to}: {}", output.status);
    }
}

/// Parquet is written only once there is much of it.
#[test]
fn a_pipe_that_is_closed_before_the_first_byte_ends_commands_without_a_message() {
    let wines = wines();
    for more in [&["--to", "parquet"][..], &["--to", "parquet", "--sort-by", "name"], &["--to", "arrow"]] {
        let mut child = Command::new(env!("CARGO_BIN_EXE_marquetry"))
            .args([&["convert", &wines, "-"], more].concat())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary runs");
        drop(child.stdout.take());
        let output = child.wait_with_output().expect("it ends");
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{more:?}");
        assert!(is_ended_by_sigpipe(output.status), "{more:?}: {}", output.status);
    }
}

#[test]
fn convert_to_json_lines_and_csv() {
    let directory = directory("convert_to_text");
    let wines = wines();
    let (jsonl, csv) = (directory.join("wines.jsonl"), directory.join("wines.csv"));
    success(&["convert", &wines, text(&jsonl)]);
    success(&["convert", &wines, text(&csv)]);
    let rows = fs::read_to_string(&jsonl).expect("JSON Lines");
    assert_eq!(rows, success(&["cat", &wines, "--format", "json"]));
    assert_eq!(rows, success(&["convert", &wines, "-"]));
    let cells = fs::read_to_string(&csv).expect("CSV");
    assert_eq!(cells.lines().count(), 201);
    assert_eq!(cells.lines().next(), Some("name,country,year,price,rating,grapes,producer,tasted"));
    assert_eq!(cells, success(&["convert", &wines, "-", "--to", "csv"]));
    // A list is JSON in a cell: its quotes are there twice.
    let lists = success(&["convert", &wines, "-", "--to", "csv", "--columns", "grapes", "--limit", "1"]);
    assert!(lists.lines().nth(1).expect("a row").starts_with("\"[\"\""), "{lists}");
}

#[test]
fn convert_to_arrow() {
    use arrow_array::RecordBatch;
    use arrow_ipc::reader::{FileReader, StreamReader};
    use marquetry::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
    let directory = directory("convert_to_arrow");
    let (wines, arrow) = (wines(), directory.join("wines.arrow"));
    success(&["convert", &wines, text(&arrow), "--overwrite", "--batch-size", "64"]);
    let reader = FileReader::try_new(fs::File::open(&arrow).expect("a file"), None).expect("an Arrow file");
    let batches: Vec<_> = reader.map(|batch| batch.expect("a batch")).collect();
    assert_eq!(batches.iter().map(RecordBatch::num_rows).collect::<Vec<_>>(), [64, 64, 64, 8]);
    // The types are those of the stored Arrow schema.
    let whole = ParquetRecordBatchReaderBuilder::try_new(fs::File::open(&wines).expect("the example"));
    let mut whole = whole.expect("the example").with_batch_size(64).build().expect("batches");
    for batch in batches {
        assert_eq!(batch, whole.next().expect("as many").expect("a batch"));
    }
    let stream =
        marquetry(&["convert", &wines, "-", "--to", "arrow", "--columns", "year", "--limit", "7"]).stdout;
    let batches: Vec<_> = StreamReader::try_new(&stream[..], None).expect("a stream").flatten().collect();
    assert_eq!((batches.len(), batches[0].num_rows(), batches[0].num_columns()), (1, 7, 1));
}

#[test]
fn output_is_never_half_written() {
    let directory = directory("output_is_never_half_written");
    let damaged = damaged(&directory);
    let out = directory.join("out.csv");
    fs::write(&out, "what was there before").expect("a file");
    assert_eq!(failure(&["convert", text(&damaged), text(&out), "--overwrite"]).0, 1);
    assert_eq!(fs::read_to_string(&out).expect("the old file"), "what was there before");
    let left: Vec<_> =
        fs::read_dir(&directory).expect("a directory").flatten().map(|entry| entry.file_name()).collect();
    assert_eq!(left.len(), 2, "only the two files are there: {left:?}");
    // The page is damaged in its compressed bytes: without the checksum it may still not decompress.
    assert_eq!(failure(&["convert", text(&damaged), text(&out), "--overwrite", "--columns", "year"]).0, 0);
    assert!(fs::read_to_string(&out).expect("the new file").starts_with("year\n"));
}

#[cfg(unix)]
#[test]
fn what_is_no_file_is_written_to_and_links_stay() {
    let directory = directory("links_stay");
    let (target, link) = (directory.join("target.csv"), directory.join("link.csv"));
    fs::write(&target, "old").expect("a file");
    std::os::unix::fs::symlink(&target, &link).expect("a link");
    success(&["convert", &wines(), text(&link), "--overwrite", "--columns", "year"]);
    assert!(fs::symlink_metadata(&link).expect("a link").is_symlink());
    assert!(fs::read_to_string(&target).expect("the file").starts_with("year\n"));
    success(&["convert", &wines(), "/dev/null", "--to", "csv"]);
    assert!(!fs::metadata("/dev/null").expect("still there").is_file());
}

#[test]
fn help_and_completions() {
    for command in [
        "schema",
        "meta",
        "pages",
        "dictionary",
        "index",
        "head",
        "cat",
        "count",
        "size",
        "convert",
        "completions",
    ] {
        assert!(success(&[command, "--help"]).contains("Examples:"), "{command}");
    }
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        assert!(success(&["completions", shell]).contains("marquetry"), "{shell}");
    }
}

/// Shells start with a limit of 1,024, and a table has more files.
#[cfg(unix)]
#[test]
fn many_files_are_open_at_a_time() {
    let directory = directory("many_files");
    for i in 0..200 {
        fs::copy(wines(), directory.join(format!("{i:03}.parquet"))).expect("a copy");
    }
    let merged = directory.join("merged").with_extension("parquet");
    let limited = "ulimit -Sn 100 && \"$0\" merge \"$1\"/[0-9]*.parquet \"$2\" && \"$0\" stats \"$1\"";
    let done = Command::new("sh")
        .args(["-c", limited, env!("CARGO_BIN_EXE_marquetry"), text(&directory), text(&merged)])
        .output()
        .expect("a shell");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
}
