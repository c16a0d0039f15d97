//! A command that a signal ends leaves no hidden file, and what was there before is there, as it was.
#![cfg(unix)]

use arrow_array::{ArrayRef, Int64Array, RecordBatch};
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

const SIGNALS: [(&str, i32); 3] = [("INT", 2), ("TERM", 15), ("HUP", 1)];

fn directory(test: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("signals").join(test);
    let _ = fs::remove_dir_all(&path);
    fs::create_dir_all(&path).expect("a directory");
    path
}

fn at(directory: &Path, name: &str) -> String {
    directory.join(name).to_str().expect("a name in UTF-8").to_owned()
}

fn hidden(directory: &Path) -> Vec<String> {
    let names =
        fs::read_dir(directory).expect("a directory").map(|entry| entry.expect("an entry").file_name());
    names.map(|name| name.to_string_lossy().into_owned()).filter(|name| name.starts_with('.')).collect()
}

/// A file whose pages take long to compress.
fn slow_file(path: &str) {
    let numbers = (0..400_000i64).map(|i| i.wrapping_mul(0x9E37_79B9_7F4A_7C15u64 as i64));
    let numbers: ArrayRef = Arc::new(Int64Array::from_iter_values(numbers));
    let columns = (0..4).map(|i| (format!("c{i}"), numbers.clone()));
    let batch = RecordBatch::try_from_iter(columns).expect("a batch");
    let mut file = marquetry::create(path, batch.schema()).expect("a file");
    file.write(&batch).expect("rows");
    file.close().expect("a file");
}

fn start(arguments: &[&str]) -> Child {
    Command::new(env!("CARGO_BIN_EXE_marquetry"))
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the binary runs")
}

fn send(signal: &str, child: &Child) {
    let status = Command::new("kill").args([&format!("-{signal}"), &child.id().to_string()]).status();
    assert!(status.expect("kill runs").success());
}

fn ended(child: &mut Child) -> ExitStatus {
    let start = Instant::now();
    while start.elapsed() < Duration::from_secs(120) {
        if let Some(status) = child.try_wait().expect("a child") {
            return status;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    child.kill().expect("a child");
    panic!("the signal did not end the command");
}

/// Starts the command, and sends the signal once its hidden file is there.
fn interrupt(arguments: &[&str], directory: &Path, (signal, number): (&str, i32)) {
    let mut child = start(arguments);
    let begun = Instant::now();
    while hidden(directory).is_empty() {
        assert!(begun.elapsed() < Duration::from_secs(120), "{arguments:?} begins no file");
        assert_eq!(child.try_wait().expect("a child"), None, "{arguments:?} is over");
        std::thread::sleep(Duration::from_millis(1));
    }
    send(signal, &child);
    let status = ended(&mut child);
    // A shell shows it as 128 and the number.
    assert_eq!(status.signal(), Some(number), "{arguments:?}: {status}");
    assert_eq!(hidden(directory), [""; 0], "{arguments:?}");
}

/// Signals that this process was started to ignore are ignored by those that it starts.
fn is_ignored(number: i32) -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.is_some_and(|mask| {
        u64::from_str_radix(mask.trim(), 16).is_ok_and(|mask| mask >> (number - 1) & 1 == 1)
    })
}

#[test]
fn a_signal_leaves_no_hidden_file() {
    let directory = directory("commands");
    let slow = at(&directory, "slow.parquet");
    slow_file(&slow);
    let many = vec![&*slow; 40];
    let out = at(&directory, "out.parquet");
    fs::write(&out, "the old file").expect("a file");
    let (new, lines) = (at(&directory, "new.parquet"), at(&directory, "new.jsonl"));
    let (csv, merged) = (at(&directory, "out.csv"), [&["merge", "--overwrite"], &many[..], &[&out]].concat());
    let commands: [&[&str]; 5] = [
        &["convert", &slow, &lines],
        &["convert", &slow, &csv],
        &["convert", &slow, &new, "--compression", "zstd:19"],
        &["rewrite", &slow, &out, "--compression", "zstd:19", "--overwrite"],
        &merged,
    ];
    for signal in SIGNALS.into_iter().filter(|(_, number)| !is_ignored(*number)) {
        for command in commands {
            interrupt(command, &directory, signal);
            assert_eq!(fs::read(&out).expect("a file"), b"the old file");
            assert!([&csv, &new, &lines].iter().all(|path| !Path::new(path).exists()));
        }
    }
}

#[test]
fn a_signal_leaves_a_file_that_grows_as_it_was() {
    let directory = directory("append");
    let (slow, grown) = (at(&directory, "slow.parquet"), at(&directory, "grown.parquet"));
    slow_file(&slow);
    fs::copy(&slow, &grown).expect("a copy");
    let before = fs::read(&grown).expect("a file");
    let size = || fs::metadata(&grown).expect("a file").len();
    let arguments = [&["append", &grown], &vec![&*slow; 40][..]].concat();
    for (signal, number) in SIGNALS.into_iter().filter(|(_, number)| !is_ignored(*number)) {
        let mut child = start(&arguments);
        while size() == before.len() as u64 {
            assert_eq!(child.try_wait().expect("a child"), None, "append is over");
            std::thread::sleep(Duration::from_millis(1));
        }
        send(signal, &child);
        assert_eq!(ended(&mut child).signal(), Some(number));
        assert!(fs::read(&grown).expect("a file") == before, "{signal}: {} bytes", size());
    }
}

/// As `nohup` has it.
#[test]
fn an_ignored_signal_stays_ignored() {
    let directory = directory("ignored");
    let (slow, out) = (at(&directory, "slow.parquet"), at(&directory, "out.parquet"));
    slow_file(&slow);
    let mut child = Command::new("sh")
        .args(["-c", "trap '' HUP; exec \"$0\" \"$@\""])
        .args([env!("CARGO_BIN_EXE_marquetry"), "rewrite", &slow, &out, "--compression", "zstd:3"])
        .stdout(Stdio::null())
        .spawn()
        .expect("a shell");
    while hidden(&directory).is_empty() {
        assert_eq!(child.try_wait().expect("a child"), None, "is over");
        std::thread::sleep(Duration::from_millis(1));
    }
    send("HUP", &child);
    assert_eq!(ended(&mut child).code(), Some(0));
    assert!(Path::new(&out).exists());
}
