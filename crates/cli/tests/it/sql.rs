//! `sql` hands over to `marquetry-sql`.
#![cfg(unix)]

use std::io::ErrorKind;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use tempfile::tempdir;

/// One test at a time: a process that starts while a program is being written inherits its open file, and then it
/// cannot be run.
static ALONE: Mutex<()> = Mutex::new(());

/// The command in a folder where nothing else is.
fn run(folder: &Path, arguments: &[&str]) -> Output {
    let copy = folder.join("marquetry");
    if !copy.exists() {
        std::fs::copy(env!("CARGO_BIN_EXE_marquetry"), &copy).unwrap();
    }
    loop {
        match Command::new(&copy).args(arguments).env("PATH", folder.join("bin")).output() {
            // Other tests start processes, too, which have the copy open until they run their own program.
            Err(error) if error.kind() == ErrorKind::ExecutableFileBusy => {
                std::thread::sleep(Duration::from_millis(10));
            }
            output => return output.unwrap(),
        }
    }
}

#[test]
fn where_the_program_is_not_there_a_sentence_says_how_to_get_it() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = tempdir().unwrap();
    let output = run(folder.path(), &["sql", "select 1"]);
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(message.contains("cargo install --path crates/sql") && message.lines().count() == 1, "{message}");
}

#[test]
fn all_arguments_are_those_of_the_program() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = tempdir().unwrap();
    std::fs::create_dir(folder.path().join("bin")).unwrap();
    let program = folder.path().join("bin").join("marquetry-sql");
    std::fs::write(&program, "#!/bin/sh\nprintf '%s|' \"$@\"\nexit 7\n").unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let output =
        run(folder.path(), &["sql", "--format", "csv", "select 'a b'", "--help", "--memory-limit=1"]);
    assert_eq!(
        String::from_utf8(output.stdout).unwrap(),
        "--format|csv|select 'a b'|--help|--memory-limit=1|"
    );
    assert_eq!(output.status.code(), Some(7));
    let output = run(folder.path(), &["--format", "json", "sql", "select 1"]);
    assert!(String::from_utf8(output.stderr).unwrap().contains("`sql` comes first"));
    assert_eq!(output.status.code(), Some(2));
}
