//! Encrypted files beside plain ones, columns without their keys, and standard input and names that are easily mistaken.

use crate::command::{failure, piped, success, wines};
use std::fs;
use std::process::Command;
use tempfile::TempDir;

/// A folder with the wines, in the open and encrypted, and keys. `signed` has its footer in the open.
fn folder() -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    let key = |name: &str, text: &str| {
        let path = dir.path().join(name);
        fs::write(&path, text).unwrap();
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        }
    };
    let (footer, country) = ("\"utf8:0123456789012345\"", "\"utf8:1234567890123450\"");
    let columns = format!("\"column_keys\": {{\"country\": {country}}}");
    key("read.json", &format!("{{\"footer_key\": {footer}, {columns}}}"));
    key("column.json", &format!("{{{columns}}}"));
    key("wrong.json", &format!("{{\"footer_key\": {footer}, \"column_keys\": {{\"country\": {footer}}}}}"));
    let written = format!("\"footer_key\": {footer}, \"footer_key_metadata\": \"kf\", {columns}");
    key("sealed.json", &format!("{{{written}}}"));
    key("signed.json", &format!("{{{written}, \"plaintext_footer\": true}}"));
    let at = |name: &str| at(&dir, name);
    success(&["rewrite", &wines(), &at("plain.parquet"), "--bloom", "country"]);
    for kind in ["sealed", "signed"] {
        let (out, keys) = (at(&format!("{kind}.parquet")), at(&format!("{kind}.json")));
        success(&["rewrite", &at("plain.parquet"), &out, "--encrypt-file", &keys]);
    }
    dir
}

fn at(dir: &TempDir, name: &str) -> String {
    dir.path().join(name).to_str().unwrap().to_owned()
}

#[test]
fn a_wrong_key_is_an_error_and_a_missing_one_is_not() {
    let dir = folder();
    let [wrong, column] = ["wrong.json", "column.json"].map(|name| at(&dir, name));
    for file in ["sealed.parquet", "signed.parquet"].map(|name| at(&dir, name)) {
        for command in [&["verify", &file][..], &["verify", "--deep", &file], &["verify", "--quick", &file]] {
            let (code, errors) = failure(&[command, &["--key-file", &wrong]].concat());
            assert_eq!((code, errors.len()), (1, 1), "{command:?}: {errors:?}");
            let found = success(&[command, &["--key-file", &column]].concat());
            assert!(found.contains("unchecked"), "{found}");
        }
    }
    let found = success(&["verify", &at(&dir, "sealed.parquet")]);
    assert!(found.contains("unchecked"), "{found}");
}

#[test]
fn files_in_the_open_are_read_beside_encrypted_ones_on_request() {
    let dir = folder();
    let [sealed, plain, read, out] =
        ["sealed.parquet", "plain.parquet", "read.json", "out.parquet"].map(|name| at(&dir, name));
    let keys = ["--key-file", &read, "--plain-inputs"];
    for command in [
        &["merge", &sealed, &plain, &out, "--decrypt"][..],
        &["merge", &plain, &sealed, &out, "--decrypt", "--overwrite"],
        &["convert", &sealed, &plain, &out, "--decrypt", "--overwrite"],
        &["diff", &sealed, &plain, "--rows"],
        &["count", &sealed, &plain],
        &["cat", &sealed, &plain],
    ] {
        let (code, errors) = failure(&[command, &keys[..2]].concat());
        assert_ne!(code, 0, "{command:?}");
        let said = errors.join(" ");
        assert!(said.contains("not encrypted") && said.contains("--plain-inputs"), "{command:?}: {said}");
        let (code, errors) = failure(&[command, &keys].concat());
        // Files that are encrypted in another way differ.
        assert!(code == 0 || command[0] == "diff", "{command:?}: {errors:?}");
        assert!(errors.is_empty(), "{command:?}: {errors:?}");
    }
    assert_eq!(success(&["count", &out]).trim(), "400");
    // What is encrypted is not written in the open because another file is.
    let (code, errors) = failure(&[&["merge", &plain, &sealed, &out, "--overwrite"], &keys[..]].concat());
    assert!(code == 2 && errors.join(" ").contains("or --decrypt"), "{errors:?}");
}

/// A process that hits the file size limit gets an error, and files stay as they were.
#[cfg(unix)]
#[test]
fn files_stay_whole_where_no_more_may_be_written() {
    let dir = tempfile::tempdir().unwrap();
    let [file, out] = ["file.parquet", "out.parquet"].map(|name| at(&dir, name));
    fs::copy(wines(), &file).unwrap();
    let before = fs::read(&file).unwrap();
    // Blocks of 512 or 1024 bytes: the limit is below the size of four files in either case.
    let blocks = before.len() / 512 + 1;
    let many = [wines(), wines(), wines(), wines()];
    let limited = |arguments: &[&str], blocks: usize| {
        let mut shell = Command::new("sh");
        shell.args(["-c", &format!("ulimit -f {blocks}; exec \"$@\""), "sh"]);
        shell.arg(env!("CARGO_BIN_EXE_marquetry")).args(arguments).output().unwrap()
    };
    let inputs = many.each_ref().map(String::as_str);
    for (arguments, blocks) in [
        ([&["append", &file], &inputs[..]].concat(), blocks),
        ([&["append", "--copy", &file], &inputs[..]].concat(), blocks),
        ([&["merge"], &inputs[..], &[&out]].concat(), blocks),
        (vec!["convert", &file, &out], 1),
        (vec!["rewrite", &file, &out], 1),
    ] {
        let done = limited(&arguments, blocks);
        let said = String::from_utf8_lossy(&done.stderr);
        assert_eq!(done.status.code(), Some(1), "{arguments:?}: {said}");
        assert_eq!(said.lines().count(), 1, "{arguments:?}: {said}");
        assert!(fs::read(&file).unwrap() == before, "{arguments:?}");
        let names = fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().file_name());
        assert_eq!(names.collect::<Vec<_>>(), ["file.parquet"], "{arguments:?}");
    }
}

#[test]
fn columns_without_their_key_are_said_to_be_encrypted() {
    let dir = folder();
    let [signed, read] = ["signed.parquet", "read.json"].map(|name| at(&dir, name));
    let keys = ["--key-file", &read];
    let index = ["index", &signed, "--column", "country"];
    let done = Command::new(env!("CARGO_BIN_EXE_marquetry")).args(index).output().unwrap();
    let said = String::from_utf8(done.stdout).unwrap();
    assert_eq!(done.status.code(), Some(1), "{said}");
    assert!(said.contains("country: encrypted") && !said.contains("no bloom filter"), "{said}");
    let said = success(&[&index[..], &keys].concat());
    assert!(said.contains("bloom filter of") && !said.contains("encrypted"), "{said}");
    let explain = ["explain", &signed, "--where", "country = 'France'"];
    let said = success(&explain);
    assert!(said.contains("encrypted") && !said.contains("write statistics"), "{said}");
    assert!(!said.contains("not in the file"), "{said}");
    let said = success(&[&explain[..], &keys].concat());
    assert!(!said.contains("encrypted"), "{said}");
    let stats = ["stats", "--quick", &signed];
    let said = success(&stats);
    assert!(said.contains("no key opens them: country"), "{said}");
    let said = success(&[&stats[..], &keys].concat());
    assert!(!said.contains("encrypted"), "{said}");
}

#[test]
fn queries_may_ask_for_what_is_in_variant() {
    let dir = tempfile::tempdir().unwrap();
    let [text, file, out] = ["v.jsonl", "v.parquet", "out.parquet"].map(|name| at(&dir, name));
    let rows = (0..2_000).map(|i| format!("{{\"v\": {{\"user\": \"u{}\", \"n\": {i}}}}}\n", i % 50));
    fs::write(&text, rows.collect::<String>()).unwrap();
    success(&["convert", &text, &file, "--schema", "v variant"]);
    let condition = ["--where", "v:user::text = 'u7'"];
    assert_eq!(success(&[&["count", &file], &condition[..]].concat()).trim(), "40");
    success(&[&["advise", &file, "--budget", "1"], &condition[..]].concat());
    let optimize = ["optimize", &file, &out, "--budget", "1", "--for", "filter"];
    success(&[&optimize[..], &condition].concat());
    assert_eq!(success(&[&["count", &out], &condition[..]].concat()).trim(), "40");
    let (code, errors) = failure(&["advise", &file, "--where", "w:user::text = 'u7'"]);
    assert!(code == 2 && errors.len() == 1, "{code} {errors:?}");
}

#[test]
fn standard_input_is_read_once() {
    let dir = tempfile::tempdir().unwrap();
    let out = at(&dir, "out.parquet");
    for command in [&["merge", "-", "-", &out][..], &["count", "-", "-"]] {
        let (code, errors) = failure(command);
        assert_ne!(code, 0, "{command:?}");
        assert!(errors.join(" ").contains("standard input is given twice"), "{command:?}: {errors:?}");
    }
    for command in [&["cat", "-", &wines()][..], &["cat", "-", "-"]] {
        let (code, errors) = failure(command);
        assert_eq!((code, errors.len()), (2, 1), "{command:?}: {errors:?}");
        assert!(errors[0].contains("standard input is read alone"), "{command:?}: {errors:?}");
    }
    let parts = dir.path().to_str().unwrap();
    piped(&["split", "-", "--rows", "100", "--out-dir", parts], &fs::read(wines()).unwrap());
    assert!(dir.path().join("stdin-00000.parquet").exists());
}

#[cfg(unix)]
#[test]
fn names_may_begin_with_a_hyphen() {
    let dir = tempfile::tempdir().unwrap();
    for name in ["-lead.parquet", "x.parquet"] {
        fs::copy(wines(), dir.path().join(name)).unwrap();
    }
    for command in ["merge", "convert"] {
        for inputs in [["-lead.parquet", "x.parquet"], ["x.parquet", "-lead.parquet"]] {
            let mut process = Command::new(env!("CARGO_BIN_EXE_marquetry"));
            let process = process.args([command, "--overwrite", "--"]).args(inputs).arg("out.parquet");
            let done = process.current_dir(dir.path()).output().unwrap();
            let said = String::from_utf8_lossy(&done.stderr);
            assert!(done.status.success(), "{command} {inputs:?}: {said}");
        }
    }
    assert_eq!(success(&["count", &at(&dir, "out.parquet")]).trim(), "400");
}
