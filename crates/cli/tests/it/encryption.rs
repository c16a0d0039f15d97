//! Encrypted files on the command line: keys from files and the environment, never among the arguments.

use crate::command::{everything, failure, success};
use std::fs;
use std::path::Path;
use tempfile::TempDir;

const FOOTER: &str = "0123456789012345";
const NAME: &str = "1234567890123450";

/// A folder with keys for reading and writing, which only its owner can read.
fn folder() -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    let write = |name: &str, text: String| {
        let path = dir.path().join(name);
        fs::write(&path, text).unwrap();
        only_for_owner(&path);
    };
    write(
        "read.json",
        format!(r#"{{"footer_key": "utf8:{FOOTER}", "column_keys": {{"name": "utf8:{NAME}"}}}}"#),
    );
    write("named.json", format!(r#"{{"keys": {{"kf": "utf8:{FOOTER}", "kn": "utf8:{NAME}"}}}}"#));
    write("footer.json", format!(r#"{{"footer_key": "utf8:{FOOTER}"}}"#));
    write("wrong.json", format!(r#"{{"footer_key": "utf8:{NAME}"}}"#));
    write(
        "write.json",
        format!(
            r#"{{"footer_key": "utf8:{FOOTER}", "footer_key_metadata": "kf", "complete_columns": true,
                "column_keys": {{"name": {{"key": "utf8:{NAME}", "metadata": "kn"}}}}}}"#
        ),
    );
    write(
        "signed.json",
        format!(
            r#"{{"footer_key": "utf8:{FOOTER}", "footer_key_metadata": "kf", "plaintext_footer": true,
                "column_keys": {{"name": {{"key": "utf8:{NAME}", "metadata": "kn"}}}}}}"#
        ),
    );
    dir
}

fn only_for_owner(path: &Path) {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(path, fs::Permissions::from_mode(0o600)).unwrap();
    }
    #[cfg(not(unix))]
    let _ = path;
}

fn at(dir: &TempDir, name: &str) -> String {
    dir.path().join(name).to_str().unwrap().to_owned()
}

const WINES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/wines.parquet");

#[test]
fn files_are_encrypted_read_and_decrypted() {
    let dir = folder();
    let [file, again, plain] =
        ["wines-enc.parquet", "again.parquet", "plain.parquet"].map(|name| at(&dir, name));
    let [read, named, write, signed] =
        ["read.json", "named.json", "write.json", "signed.json"].map(|name| at(&dir, name));
    success(&["convert", WINES, &file, "--encrypt-file", &write]);
    let rows = success(&["cat", WINES, "--format", "json"]);
    assert_eq!(success(&["cat", &file, "--format", "json", "--key-file", &read]), rows);
    assert_eq!(success(&["cat", &file, "--format", "json", "--key-file", &named]), rows);
    assert_eq!(success(&["count", &file, "--key-file", &read]).trim(), "200");
    success(&["verify", "--deep", &file, "--key-file", &read]);
    success(&["pages", &file, "--key-file", &read]);
    success(&["index", &file, "--key-file", &read]);
    // Other keys: a signed footer, and most columns in the open.
    success(&["rewrite", &file, &again, "--key-file", &read, "--encrypt-file", &signed]);
    assert_eq!(success(&["cat", &again, "--format", "json", "--key-file", &read]), rows);
    success(&["rewrite", &again, &plain, "--key-file", &read, "--decrypt"]);
    assert_eq!(success(&["cat", &plain, "--format", "json"]), rows);
    let both = at(&dir, "both.parquet");
    success(&["merge", &file, &again, &both, "--key-file", &read, "--encrypt-file", &write]);
    assert_eq!(success(&["count", &both, "--key-file", &read]).trim(), "400");
    let name = ["--name", "part-{}.parquet"];
    let split = ["split", &both, "--rows", "250", "--key-file", &read, "--encrypt-file", &write];
    success(&[&split[..], &name].concat());
    let parts =
        fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().path().to_str().unwrap().to_owned());
    let parts: Vec<_> = parts.filter(|path| path.contains("/part-")).collect();
    let rows = parts
        .iter()
        .map(|part| success(&["count", part, "--key-file", &read]).trim().parse::<u32>().unwrap());
    assert_eq!((parts.len(), rows.sum::<u32>()), (2, 400));
}

/// A table of which much can be saved: row groups of few rows, text that is dates, uncompressed.
fn careless(dir: &TempDir) -> String {
    let row =
        |i: u64| format!("{i},2024-01-{:02},{},name {}\n", i % 7 + 10, i * 7919 % 1000, i * 104_729 % 65_536);
    let rows: String = (0..8_000).map(row).collect();
    let (csv, path) = (at(dir, "careless.csv"), at(dir, "careless.parquet"));
    fs::write(&csv, format!("id,day,number,name\n{rows}")).unwrap();
    let options = ["--compression", "uncompressed", "--row-group-rows", "2000", "--schema", "day string"];
    success(&[&["convert", &csv, &path], &options[..]].concat());
    path
}

/// How a file is encrypted, as `meta` tells it of each column chunk without its keys, or with some.
fn protection(path: &str, keys: &[&str]) -> Vec<(String, String)> {
    let meta = success(&[&["meta", path, "--format", "json"], keys].concat());
    let meta: serde_json::Value = serde_json::from_str(&meta).unwrap();
    let groups = meta["row_groups"].as_array().unwrap();
    let columns = groups.iter().flat_map(|group| group["columns"].as_array().unwrap());
    let mut told: Vec<(String, String)> = columns
        .map(|it| (it["column"].as_str().unwrap().to_owned(), format!("{} {}", it["encrypted"], it["key"])))
        .collect();
    told.sort();
    told.dedup();
    told.push(("footer".to_owned(), meta["encryption"].to_string()));
    told
}

#[test]
fn encrypted_files_are_optimized_as_they_are_encrypted() {
    let dir = folder();
    let plain = careless(&dir);
    let [file, out, read, footer] =
        ["enc.parquet", "out.parquet", "read.json", "footer.json"].map(|name| at(&dir, name));
    let rows = success(&["cat", &plain, "--format", "json"]);
    for written in ["write.json", "signed.json"] {
        success(&["rewrite", &plain, &file, "--overwrite", "--encrypt-file", &at(&dir, written)]);
        let before = protection(&file, &["--key-file", &footer]);
        assert!(before.iter().any(|(column, told)| column == "name" && told.contains("kn")), "{before:?}");
        let advice = success(&["advise", &file, "--key-file", &read, "--budget", "60s", "--format", "json"]);
        let advice: serde_json::Value = serde_json::from_str(&advice).unwrap();
        for more in [&[][..], &["--sort"], &["--types"], &["--for", "filter", "--where", "number = 3"]] {
            let optimize = ["optimize", &file, &out, "--overwrite", "--key-file", &read, "--budget", "60s"];
            let told = success(&[&optimize[..], &["--format", "json"], more].concat());
            let told: serde_json::Value = serde_json::from_str(&told).unwrap();
            let size = fs::metadata(&out).unwrap().len();
            assert!(size < fs::metadata(&file).unwrap().len() && told["size"] == size, "{told}");
            let predicted = told["predicted"].as_f64().unwrap();
            assert!((predicted - size as f64).abs() < 0.1 * size as f64, "{written} {more:?}: {told}");
            if more.is_empty() {
                // Positions of pages have other numbers of bytes, as nonces do not repeat.
                assert!(advice["predicted"].as_u64().unwrap().abs_diff(size) < 16, "{advice} {told}");
            }
            assert_eq!(protection(&out, &["--key-file", &footer]), before, "{written} {more:?}");
            let bytes = fs::read(&out).unwrap();
            assert!(!bytes.windows(8).any(|it| it == b"name 104"), "{written} {more:?}: a name in the open");
            let after = success(&["cat", &out, "--format", "json", "--key-file", &read]);
            match more {
                ["--sort"] => assert_eq!(after.lines().count(), rows.lines().count()),
                _ => assert!(after == rows, "{written} {more:?}"),
            }
            // Where a key is missing nothing is read, and nothing is written.
            for keys in [&[][..], &["--key-file", &footer], &["--key-file", &at(&dir, "wrong.json")]] {
                let never = at(&dir, "never.parquet");
                let (code, errors) = failure(&[&["optimize", &file, &never], keys, more].concat());
                assert!(matches!(code, 1 | 2) && errors.len() == 1, "{keys:?}: {code} {errors:?}");
                let said = errors.join(" ");
                assert!(
                    ["no key was given", "a wrong key", "does not fit"].iter().any(|why| said.contains(why)),
                    "{keys:?}: {said}"
                );
                assert!(!Path::new(&never).exists());
            }
        }
    }
    let mut left =
        fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    assert!(!left.any(|name| name.starts_with('.')));
}

#[test]
fn optimized_files_are_encrypted_otherwise_on_request() {
    let dir = folder();
    let plain = careless(&dir);
    let [file, out, read, footer, write] =
        ["enc.parquet", "out.parquet", "read.json", "footer.json", "write.json"].map(|name| at(&dir, name));
    let rows = success(&["cat", &plain, "--format", "json"]);
    success(&["rewrite", &plain, &file, "--encrypt-file", &write]);
    // In the open, and under one key; without time, too, where a copy would be as the file is.
    for budget in ["60s", "0"] {
        let optimize = ["optimize", &file, &out, "--overwrite", "--key-file", &read, "--budget", budget];
        success(&[&optimize[..], &["--decrypt"]].concat());
        assert_eq!(success(&["cat", &out, "--format", "json"]), rows);
        success(&[&optimize[..], &["--encrypt-file", &footer]].concat());
        assert!(failure(&["cat", &out]).0 != 0);
        assert_eq!(success(&["cat", &out, "--format", "json", "--key-file", &footer]), rows);
        // What is in the open is encrypted.
        success(&["optimize", &plain, &out, "--overwrite", "--budget", budget, "--encrypt-file", &write]);
        assert!(failure(&["cat", &out]).0 != 0);
        assert_eq!(success(&["cat", &out, "--format", "json", "--key-file", &read]), rows);
    }
    // A copy has the same bytes, and so the same keys.
    success(&["optimize", &file, &out, "--overwrite", "--key-file", &read, "--budget", "0"]);
    assert_eq!(fs::read(&out).unwrap(), fs::read(&file).unwrap());
}

/// What was encrypted is not written in the open by chance.
#[test]
fn nothing_is_decrypted_without_a_word() {
    let dir = folder();
    let [file, out, read, write] =
        ["wines-enc.parquet", "out.parquet", "read.json", "write.json"].map(|name| at(&dir, name));
    success(&["convert", WINES, &file, "--encrypt-file", &write]);
    for command in [
        vec!["rewrite", &file, &out],
        vec!["merge", &file, &file, &out],
        vec!["split", &file, "--rows", "100"],
        vec!["convert", &file, &out],
    ] {
        let (code, errors) = failure(&[&command[..], &["--key-file", &read]].concat());
        assert_eq!(code, 2, "{command:?}: {errors:?}");
        assert!(errors.join(" ").contains("or --decrypt"), "{command:?}: {errors:?}");
        assert!(!Path::new(&out).exists());
    }
    let copy = at(&dir, "copy.parquet");
    fs::copy(WINES, &copy).unwrap();
    let (code, errors) = failure(&["append", &copy, &file, "--key-file", &read]);
    assert_ne!(code, 0, "{errors:?}");
    assert_eq!(fs::read(&copy).unwrap(), fs::read(WINES).unwrap());
}

#[test]
fn what_is_encrypted_with_which_key_is_told() {
    let dir = folder();
    let [file, read, signed, write, footer, wrong] =
        ["wines-enc.parquet", "read.json", "signed.json", "write.json", "footer.json", "wrong.json"]
            .map(|name| at(&dir, name));
    success(&["convert", WINES, &file, "--encrypt-file", &signed]);
    let said = success(&["meta", &file]);
    assert!(said.contains("encrypted    AES_GCM_V1, footer signed with the key \"kf\""), "{said}");
    assert!(said.contains("encrypted \"kn\""), "{said}");
    success(&["schema", &file]);
    success(&["cat", &file, "--columns", "price,year"]);
    let (_, errors) = failure(&["cat", &file]);
    assert!(
        errors.join(" ").contains("is encrypted with the key \"kn\", and no key was given"),
        "{errors:?}"
    );
    success(&["meta", &file, "--key-file", &read]);

    success(&["convert", WINES, &file, "--overwrite", "--encrypt-file", &write]);
    for command in ["meta", "schema", "pages", "cat", "count"] {
        let (_, errors) = failure(&[command, &file]);
        assert!(
            errors.join(" ").contains("is encrypted (PARE) with the key \"kf\""),
            "{command}: {errors:?}"
        );
        let (_, errors) = failure(&[command, &file, "--key-file", &wrong]);
        assert!(errors.join(" ").contains("a wrong key was given for the footer"), "{command}: {errors:?}");
    }
    let said = success(&["meta", &file, "--key-file", &footer]);
    assert!(said.contains("AES_GCM_V1, footer encrypted with the key \"kf\""), "{said}");
    assert!(said.contains("encrypted \"kn\""), "{said}");
}

/// Keys are in no output, whatever is wrong with them.
#[test]
fn keys_are_never_shown() {
    let dir = folder();
    let [file, write, wrong] = ["wines-enc.parquet", "write.json", "wrong.json"].map(|name| at(&dir, name));
    success(&["convert", WINES, &file, "--encrypt-file", &write]);
    let broken = at(&dir, "broken.json");
    fs::write(
        &broken,
        format!("{{\"footer_key\": \"utf8:{FOOTER}\", \"column_keys\": {{\"name\": \"hex:{NAME}0\"}}"),
    )
    .unwrap();
    for arguments in [
        vec!["cat", &file, "--key-file", &wrong],
        vec!["cat", &file, "--key-file", &broken],
        vec!["meta", &file, "--key-file", &wrong, "--format", "json"],
        vec!["rewrite", &file, &file, "--key-file", &wrong, "--encrypt-file", &broken],
        vec!["verify", &file, "--key-file", &wrong],
    ] {
        let (code, said) = everything(&arguments);
        assert_ne!(code, Some(0), "{arguments:?}: {said}");
        assert!(!said.contains(&FOOTER[..10]) && !said.contains(&NAME[..10]), "{said}");
    }
    #[cfg(unix)]
    {
        let (_, said) = everything(&["schema", WINES, "--key-file", &broken]);
        assert!(said.contains("others than its owner can read these keys"), "{said}");
    }
}

/// A process that dies while it has keys leaves no core, where one without keys leaves one.
#[cfg(target_os = "linux")]
#[test]
fn no_core_has_keys_in_it() {
    use std::io::Write;
    use std::os::unix::process::ExitStatusExt;
    use std::process::{Command, Stdio};
    let dir = folder();
    let died = |keys: &[&str]| {
        let mut shell = Command::new("sh");
        shell.args(["-c", "ulimit -c unlimited; exec \"$@\"", "sh", env!("CARGO_BIN_EXE_marquetry")]);
        shell.args(["count", "-"]).args(keys).current_dir(dir.path());
        let mut process = shell.stdin(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        // More than a pipe holds: once it is taken, the keys have been read.
        process.stdin.as_mut().unwrap().write_all(&vec![0; 1 << 20]).unwrap();
        let kill =
            Command::new("sh").args(["-c", "kill -ABRT \"$1\"", "sh", &process.id().to_string()]).status();
        assert!(kill.unwrap().success());
        let status = process.wait().unwrap();
        assert_eq!(status.signal(), Some(6));
        let has_core = fs::read_dir(dir.path())
            .unwrap()
            .any(|entry| entry.unwrap().file_name().to_string_lossy().starts_with("core"));
        status.core_dumped() || has_core
    };
    assert!(!died(&["--key-file", &at(&dir, "read.json")]));
    // Where this one has none either, the system writes none, and nothing was shown.
    println!("without keys there is a core: {}", died(&[]));
}

/// What is appended is encrypted as the file is.
#[test]
fn encrypted_files_grow() {
    let dir = folder();
    let [file, read, write, signed, footer] =
        ["wines-enc.parquet", "read.json", "write.json", "signed.json", "footer.json"]
            .map(|name| at(&dir, name));
    let plain = at(&dir, "plain.parquet");
    success(&["convert", WINES, &plain]);
    for how in [&write, &signed] {
        success(&["convert", WINES, &file, "--overwrite", "--encrypt-file", how]);
        success(&["append", &file, &plain, "--key-file", &read, "--plain-inputs"]);
        let copy = at(&dir, "copy.parquet");
        fs::copy(&file, &copy).unwrap();
        success(&["append", &file, &copy, "--key-file", &read]);
        success(&["meta", "set", &file, "made=twice", "--key-file", &read]);
        assert_eq!(success(&["count", &file, "--key-file", &read]).trim(), "800");
        success(&["verify", "--deep", &file, "--key-file", &read]);
        let before = fs::read(&file).unwrap();
        // A change that was stopped: what it was before is the file up to its old footer.
        let [stopped, saved] = ["stopped.parquet", "saved.parquet"].map(|name| at(&dir, name));
        fs::write(&stopped, &before[..before.len() - 5]).unwrap();
        assert_ne!(failure(&["count", &stopped, "--key-file", &read]).0, 0);
        success(&["recover", &stopped, &saved, "--overwrite", "--key-file", &read]);
        assert_eq!(success(&["count", &saved, "--key-file", &read]).trim(), "800");
        assert_ne!(failure(&["recover", &stopped, &saved, "--overwrite"]).0, 0);
        for command in [
            vec!["append", &file, &plain, "--plain-inputs"],
            vec!["append", &file, &plain, "--plain-inputs", "--key-file", &footer],
            vec!["append", &file, &plain, "--key-file", &read],
            vec!["drop-row-group", &file, "0", "--key-file", &read],
        ] {
            let (code, errors) = failure(&command);
            assert!(code != 0 && fs::read(&file).unwrap() == before, "{command:?}: {errors:?}");
        }
    }
}

/// Keys that master keys in the file of keys wrap: in the Parquet file, and beside it.
#[test]
fn keys_are_wrapped() {
    let dir = folder();
    let file = at(&dir, "wines-kms.parquet");
    let beside = at(&dir, "_KEY_MATERIAL_FOR_wines-kms.parquet.json");
    let rows = success(&["cat", WINES, "--format", "json"]);
    let kms = format!(
        r#""kms": {{"master_keys": {{"kf": "utf8:{FOOTER}", "kn": "utf8:{NAME}"}}, "key_material": {beside:?}}}"#
    );
    let inside = kms.replace(&format!(r#", "key_material": {beside:?}"#), "");
    for (kms, internal) in [(&inside, true), (&kms, false)] {
        let [write, read] = ["kms-write.json", "kms-read.json"].map(|name| at(&dir, name));
        let properties = format!(
            r#"{{{kms}, "parquet.encryption.footer.key": "kf", "parquet.encryption.column.keys": "kn: name",
                "parquet.encryption.key.material.store.internally": {internal}}}"#
        );
        for (path, text) in [(&write, properties), (&read, format!("{{{kms}}}"))] {
            fs::write(path, text).unwrap();
            only_for_owner(Path::new(path));
        }
        success(&["convert", WINES, &file, "--overwrite", "--encrypt-file", &write]);
        assert_eq!(success(&["cat", &file, "--format", "json", "--key-file", &read]), rows);
        assert_eq!(Path::new(&beside).exists(), !internal);
        // Master keys that are given away have no versions.
        let (code, errors) = failure(&["rotate-keys", &file, "--key-file", &read]);
        assert!(code != 0 && (internal || errors.join(" ").contains("no versions")), "{errors:?}");
        let (_, errors) = failure(&["convert", WINES, &file, "--overwrite", "--encrypt-file", &read]);
        assert!(errors.join(" ").contains("neither a footer key"), "{errors:?}");
    }
    assert_eq!(failure(&["rotate-keys", &file]).0, 2);
}

/// A program of a KMS that never ends does not hold the command up for ever.
#[test]
#[cfg(unix)]
fn a_program_of_a_kms_is_not_waited_for_without_end() {
    let dir = folder();
    let [file, keys, late] = ["wines.parquet", "kms.json", "late.json"].map(|name| at(&dir, name));
    let write = |path: &str, command: &str, more: &str| {
        let kms = format!(r#""kms": {{"command": ["sh", "-c", {command:?}]{more}}}"#);
        fs::write(path, format!(r#"{{{kms}, "parquet.encryption.uniform.key": "kf"}}"#)).unwrap();
        only_for_owner(Path::new(path));
    };
    // Wraps by writing the key down.
    write(&keys, "sed 's/.*\"key\":\"\\([^\"]*\\)\".*/{\"wrapped\": \"\\1\"}/'", "");
    success(&["convert", WINES, &file, "--encrypt-file", &keys]);
    write(&late, "exec sleep 600", r#", "timeout_seconds": 0.5"#);
    let text = fs::read_to_string(&late).unwrap().replace(r#", "parquet.encryption.uniform.key": "kf""#, "");
    fs::write(&late, text).unwrap();
    let started = std::time::Instant::now();
    let (code, errors) = failure(&["count", &file, "--key-file", &late]);
    assert!(started.elapsed().as_secs() < 60, "{:?}", started.elapsed());
    assert_eq!((code, errors.len()), (1, 1), "{errors:?}");
    assert!(errors[0].contains("the program of the KMS, sh, had not ended after 0.5 s"), "{errors:?}");
}
