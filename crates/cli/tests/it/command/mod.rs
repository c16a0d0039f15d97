//! Runs the built binary.
// Each test binary uses a part of this.
#![allow(dead_code)]

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

/// The command as it ends.
pub(crate) fn marquetry(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_marquetry"))
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .expect("the binary runs")
}

/// What a command prints that succeeds without a word on standard error.
#[track_caller]
pub(crate) fn success(arguments: &[&str]) -> String {
    String::from_utf8(checked(arguments, marquetry(arguments))).expect("output in UTF-8")
}

/// The exit code and the lines on standard error.
pub(crate) fn failure(arguments: &[&str]) -> (i32, Vec<String>) {
    let output = marquetry(arguments);
    let errors = String::from_utf8(output.stderr).expect("errors in UTF-8");
    (output.status.code().expect("no signal"), errors.lines().map(str::to_owned).collect())
}

/// The exit code and the text on standard error.
pub(crate) fn failure_text(arguments: &[&str]) -> (i32, String) {
    let output = marquetry(arguments);
    (output.status.code().expect("no signal"), String::from_utf8_lossy(&output.stderr).into_owned())
}

/// The exit code, and all that goes to standard output and standard error.
pub(crate) fn everything(arguments: &[&str]) -> (Option<i32>, String) {
    let output = marquetry(arguments);
    let text = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8_lossy(&text).into_owned())
}

/// [`success`] with something on standard input.
#[track_caller]
pub(crate) fn with_input(arguments: &[&str], input: &str) -> String {
    String::from_utf8(piped(arguments, input.as_bytes())).expect("output in UTF-8")
}

/// [`with_input`] in bytes.
#[track_caller]
pub(crate) fn piped(arguments: &[&str], input: &[u8]) -> Vec<u8> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_marquetry"));
    let command = command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the binary runs");
    let mut stdin = child.stdin.take().expect("a pipe");
    let input = input.to_vec();
    // The command may write before it has read everything, and need not read everything.
    let writer = std::thread::spawn(move || drop(stdin.write_all(&input)));
    let output = child.wait_with_output().expect("the binary runs");
    writer.join().expect("a thread that only writes");
    checked(arguments, output)
}

#[track_caller]
fn checked(arguments: &[&str], output: Output) -> Vec<u8> {
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {errors}");
    assert_eq!(errors, "", "{arguments:?}");
    output.stdout
}

/// The example.
pub(crate) fn wines() -> String {
    format!("{}/../../examples/wines.parquet", env!("CARGO_MANIFEST_DIR"))
}

/// A directory of the test's own.
pub(crate) struct Folder(PathBuf);

impl Folder {
    /// An empty one.
    pub(crate) fn new(test: &str) -> Self {
        let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(test);
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).expect("a directory");
        Folder(path)
    }

    pub(crate) fn path(&self, name: &str) -> String {
        self.0.join(name).to_str().expect("a name in UTF-8").to_owned()
    }

    pub(crate) fn write(&self, name: &str, text: &str) -> String {
        std::fs::write(self.path(name), text).expect("a file");
        self.path(name)
    }

    pub(crate) fn gzip(&self, name: &str, text: &str) -> String {
        let file = std::fs::File::create(self.path(name)).expect("a file");
        let mut gzip = flate2::write::GzEncoder::new(file, flate2::Compression::default());
        gzip.write_all(text.as_bytes()).expect("a file");
        gzip.finish().expect("a file");
        self.path(name)
    }
}
