//! `convert` streams: what it holds does not grow with the file.

#![cfg(unix)]

use marquetry::errors::Limits;
use marquetry::internals::format::{FileMetaData, Writer};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The number of times that the example's row groups are listed.
const TIMES: usize = 7000;
/// Address space that the command gets, in KiB, less than what it writes. Most of what it takes is the program itself
/// and the footer, which has as many row groups as the file has. An arena for each thread, for which glibc reserves 64 MiB, is not counted:
/// there is one.
const CAP: usize = 150 << 10;

#[test]
fn convert_to_arrow_needs_less_than_it_writes() {
    let folder = tempfile::tempdir().unwrap();
    let (input, output) = (folder.path().join("in.parquet"), folder.path().join("out.arrow"));
    write_repeated(&example(), &input);
    // The shell holds the command to the cap: an allocation beyond it fails, and the command with it.
    let script = format!("ulimit -v {CAP} && exec \"$0\" convert \"$1\" \"$2\" --batch-size 4096");
    let result = Command::new("sh")
        .args(["-c", &script, env!("CARGO_BIN_EXE_marquetry")])
        .env("MALLOC_ARENA_MAX", "1")
        .args([&input, &output])
        .output()
        .unwrap();
    assert!(result.status.success(), "{}", String::from_utf8_lossy(&result.stderr));
    let written = std::fs::metadata(&output).unwrap().len();
    assert!(written > (CAP as u64) << 10, "{written} bytes written under a cap of {CAP} KiB");
    let rows = marquetry::open(&input).unwrap().metadata().num_rows();
    assert_eq!(rows, 200 * TIMES as u64);
}

/// The facts about each row group and page are written while they are collected.
#[test]
fn facts_need_less_than_they_write() {
    let folder = tempfile::tempdir().unwrap();
    let input = folder.path().join("in.parquet");
    write_repeated(&example(), &input);
    for command in
        ["meta", "meta --format json", "index --format json", "index", "size", "pages", "pages --format json"]
    {
        let script = format!("ulimit -v {CAP} && exec \"$0\" {command} \"$1\" | wc -c");
        let result = Command::new("bash")
            .args(["-c", &format!("set -o pipefail; {script}"), env!("CARGO_BIN_EXE_marquetry")])
            .env("MALLOC_ARENA_MAX", "1")
            .arg(&input)
            .output()
            .unwrap();
        assert!(result.status.success(), "{command}: {}", String::from_utf8_lossy(&result.stderr));
        let written: usize = String::from_utf8(result.stdout).unwrap().trim().parse().unwrap();
        assert!(written > 1 << 20 || command == "size", "{command}: {written}");
    }
}

fn example() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/wines.parquet")
}

/// Writes `from` with its row groups listed again and again: the same pages, many times the rows.
fn write_repeated(from: &Path, to: &Path) {
    let mut bytes = std::fs::read(from).unwrap();
    let file = marquetry::open(from).unwrap();
    let mut footer: FileMetaData = file.metadata().to_thrift().unwrap();
    let once = footer.row_groups.clone();
    footer.row_groups = std::iter::repeat_n(once, TIMES).flatten().collect();
    footer.num_rows *= TIMES as i64;
    let old_len = u32::from_le_bytes(bytes[bytes.len() - 8..bytes.len() - 4].try_into().unwrap());
    bytes.truncate(bytes.len() - 8 - old_len as usize);
    let mut writer = Writer::new();
    footer.write(&mut writer);
    let footer = writer.finish();
    assert!(footer.len() < Limits::default().footer_bytes);
    bytes.extend_from_slice(&footer);
    bytes.extend_from_slice(&(footer.len() as u32).to_le_bytes());
    bytes.extend_from_slice(b"PAR1");
    std::fs::write(to, bytes).unwrap();
}
