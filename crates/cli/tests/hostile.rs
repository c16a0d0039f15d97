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
/// Much more than a build with optimisations needs.
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
