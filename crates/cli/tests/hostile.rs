//! Small files that ask for much: each command ends by itself, within a cap on its memory, and says what is wrong.

#![cfg(target_os = "linux")]

use std::process::Command;

/// A FIXED_LEN_BYTE_ARRAY(0) column whose dictionary page says that it has 2^31 - 1 entries, in no bytes.
const ENTRIES_OF_NO_BYTES: &str = "UEFSMRUEFQAVAEwV/v///w8VAAAAFQAVDBUMLBUGFRAVBhUGAAAgBgUAAAAVAhksSAFyFQIAFQ4VABUAGAFhABYG\
    GRwZHCYAHBUOGSUABhkYAWEVABYGFlAWUCYqJggAABZQFgYAKAF4AD4AAABQQVIx";

#[test]
fn a_dictionary_of_many_entries_in_no_bytes_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (file, out) = (folder.path().join("d.parquet"), folder.path().join("o.parquet"));
    std::fs::write(&file, from_base64(ENTRIES_OF_NO_BYTES)).unwrap();
    let file = file.to_str().unwrap();
    let pieces = folder.path().join("pieces");
    std::fs::create_dir(&pieces).unwrap();
    for arguments in [
        &["dictionary", "-c", "a", file][..],
        &["rewrite", "--statistics", file, out.to_str().unwrap()],
        &["split", "--rows", "2", file, "--out-dir", pieces.to_str().unwrap()],
        &["cat", file],
        &["verify", "--deep", file],
    ] {
        let (code, errors) = capped(arguments);
        assert_eq!(code, Some(1), "{arguments:?}: {errors}");
        assert!(errors.lines().count() <= 2, "{arguments:?}: {errors}");
        let is_told = errors.contains("a dictionary of 2147483647 values of no bytes");
        assert!(is_told || arguments[0] == "verify", "{arguments:?}: {errors}");
    }
}

/// One row, a list of 2^31 - 1 entries: its levels are runs of a few bytes.
const ONE_LONG_LIST: &str = "UEFSMRUEFRAVEEwVAhUAAAAHAAAAAAAAABUAFToVOiwV/v///w8VEBUGFQYAAAgAAAACAPz///8PAQYAAAD+////DwMB/v///\
    w8AFQIZTEgBchUCADUCGAFsFQIVBgA1BBgEbGlzdBUCABUEJQIYAWEAFgIZHBkcJgAcFQQZJQAGGTgBbARsaXN0AWEVABb+////DxaOARaOASYyJggA\
    ABaOARYCACgBeABfAAAAUEFSMQ==";

/// With no limit other than the batch size: the entries are counted before they are allocated.
#[test]
fn a_list_of_more_entries_than_fit_is_refused_before_it_is_made() {
    let folder = tempfile::tempdir().unwrap();
    let (file, out) = (folder.path().join("l.parquet"), folder.path().join("o.parquet"));
    std::fs::write(&file, from_base64(ONE_LONG_LIST)).unwrap();
    let (file, out) = (file.to_str().unwrap(), out.to_str().unwrap());
    for arguments in [&["head", file][..], &["cat", file], &["convert", file, out], &["recover", file, out]] {
        let (code, errors) = capped(&[arguments, &["--memory-limit", "100GiB"]].concat());
        assert_eq!(code, Some(1), "{arguments:?}: {errors}");
        let is_told = errors.contains("2147483647 entries of 10 bytes in one batch exceed the limit");
        assert!(is_told || arguments[0] == "recover", "{arguments:?}: {errors}");
    }
}

/// A dictionary of one entry that is much longer than what a table shows of it.
#[test]
fn long_entries_of_dictionaries_take_no_memory() {
    let folder = tempfile::tempdir().unwrap();
    let (csv, file) = (folder.path().join("in.csv"), folder.path().join("d.parquet"));
    let long = format!("{}ß", "é".repeat(20 << 20));
    std::fs::write(&csv, format!("a\n{long}\n{long}\n")).unwrap();
    let (csv, file) = (csv.to_str().unwrap(), file.to_str().unwrap());
    let arguments = ["convert", csv, file, "--encoding", "RLE_DICTIONARY", "--report", "none"];
    assert_eq!(uncapped(&arguments).0, Some(0), "{:?}", uncapped(&arguments));
    let (code, shown) = uncapped(&["dictionary", "-c", "a", file]);
    assert_eq!((code, shown.lines().count()), (Some(0), 3));
    let cell = shown.lines().nth(2).unwrap();
    assert!(cell.trim_start().starts_with("0  éé") && cell.ends_with("é…"), "{}", cell.len());
    assert_eq!(cell.chars().filter(|c| *c == 'é').count(), 999);
    let (code, json) = uncapped(&["dictionary", "-c", "a", file, "--format", "json"]);
    assert_eq!(code, Some(0));
    assert!(json.contains(&format!("\"entries\":[\"{long}\"]")), "{}", json.len());
}

/// A value whose escaped text exceeds the memory: an error, not a signal.
#[test]
fn text_that_has_no_room_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (csv, file, out) = (path("in.csv"), path("long.parquet"), path("out.csv"));
    // A zero becomes four bytes in CSV, and five in JSON.
    std::fs::write(&csv, format!("a\n{}\n", "\\x00".repeat(150 << 20))).unwrap();
    let written = uncapped(&["convert", &csv, &file, "--schema", "a binary", "--report", "none"]);
    assert_eq!(written.0, Some(0), "{written:?}");
    for arguments in [
        &["head", "--format", "json", &file][..],
        &["cat", "--format", "json", &file],
        &["convert", &file, &out],
    ] {
        let (code, errors) = capped(arguments);
        assert_eq!(code, Some(1), "{arguments:?}: {errors}");
        assert!(errors.contains("memory: ") && errors.lines().count() == 1, "{arguments:?}: {errors}");
    }
    for arguments in [&["head", &file][..], &["verify", "--deep", &file], &["size", &file]] {
        assert_eq!(capped(arguments).0, Some(0), "{arguments:?}");
    }
}

/// The exit code and standard output of a command.
fn uncapped(arguments: &[&str]) -> (Option<i32>, String) {
    let result = Command::new(env!("CARGO_BIN_EXE_marquetry")).args(arguments).output().unwrap();
    (result.status.code(), String::from_utf8(result.stdout).unwrap())
}

/// The exit code of a command that gets 1 GiB of address space, and what it writes to standard error. No code means that a
/// signal ended it.
fn capped(arguments: &[&str]) -> (Option<i32>, String) {
    let script = format!("ulimit -v {CAP} && exec timeout {SECONDS} \"$0\" \"$@\"");
    let result = Command::new("sh")
        .args(["-c", &script, env!("CARGO_BIN_EXE_marquetry")])
        .args(arguments)
        .env("RUST_BACKTRACE", "0")
        .output()
        .unwrap();
    // `timeout` says 124 for what it ended, and a shell 128 and the signal.
    let code = result.status.code().filter(|code| *code < 124);
    (code, String::from_utf8_lossy(&result.stderr).into_owned())
}

/// Address space in KiB.
const CAP: usize = 1 << 20;
/// Much more than an optimised build needs.
const SECONDS: usize = 60;

fn from_base64(text: &str) -> Vec<u8> {
    const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let letters: Vec<u8> =
        text.bytes().filter_map(|c| LETTERS.iter().position(|l| *l == c)).map(|at| at as u8).collect();
    let mut bytes = Vec::new();
    for four in letters.chunks(4) {
        let word =
            four.iter().fold(0u32, |word, letter| word << 6 | u32::from(*letter)) << (6 * (4 - four.len()));
        bytes.extend_from_slice(&word.to_be_bytes()[1..four.len()]);
    }
    bytes
}
