//! Errors that say what to do instead.

use crate::command::{Folder, failure, success, wines, with_input};

#[test]
fn numbers_are_typed_without_separators() {
    for value in ["1,000,000", "1_000", "1'000"] {
        let (code, lines) = failure(&["head", &wines(), "--rows", value]);
        assert_eq!(code, 2);
        assert!(lines.iter().any(|line| line.contains("tip: numbers have no separators: 1000")), "{lines:?}");
    }
    // One and a half, or a thousand and five hundred.
    for value in ["1.500", "1,500"] {
        let (code, lines) = failure(&["head", &wines(), "--rows", value]);
        let said = "this may be read in two ways: say 1500 if that is meant, without a separator";
        assert!(code == 2 && lines.iter().any(|line| line.contains(said)), "{lines:?}");
    }
    let (code, lines) = failure(&["head", &wines(), "--rows", "ten"]);
    assert!(code == 2 && !lines.iter().any(|line| line.contains("tip")), "{lines:?}");
}

/// The line begins with what is at fault: the input, the output, or an option.
#[test]
fn errors_are_told_of_what_is_at_fault() {
    let folder = Folder::new("ways-out-places");
    let (csv, out, none) = (folder.write("a.csv", "a\n1\n"), folder.path("o.parquet"), folder.path("o.xyz"));
    let (text, at) = (folder.path("o.csv"), |file: &str, said: &str| format!("marquetry: {file}: {said}"));
    let wines = wines();
    for (arguments, line) in [
        (
            &[&wines, &text, "--delimiter", ";"][..],
            at(&wines, "--delimiter is for reading CSV; the input is Parquet"),
        ),
        (
            &[&wines, &csv, &out],
            at(&csv, "files that are read as one table are all Parquet, all CSV or all JSON"),
        ),
        (&["-", &out], "marquetry: standard input: which format? Say --from".to_owned()),
        (&[&csv, &out, "--schema", "foo"], "marquetry: --schema: no file is called".to_owned()),
        (&[&wines, &out, "--covering"], "marquetry: --covering is for".to_owned()),
        (&[&wines, &out, "--bloom", "nam"], "marquetry: no column nam; did you mean name".to_owned()),
        (&[&wines, &text, "--compression", "zstd"], at(&text, "--compression is for Parquet")),
        (&[&wines, &none], at(&none, "which format? End the name in")),
        (&[&wines, &wines], at(&wines, "is the file that is read")),
    ] {
        let (code, lines) = failure(&[&["convert"], arguments].concat());
        assert_eq!((code, lines.len()), (2, 1), "{arguments:?}: {lines:?}");
        assert!(lines[0].starts_with(&line), "{arguments:?}: {lines:?}");
    }
}

#[test]
fn usage_is_shown_as_it_is_typed() {
    let (code, lines) = failure(&["merge", &wines()]);
    assert!(code == 2 && lines.join("\n").contains("<IN>... <OUT>"), "{lines:?}");
}

#[test]
fn only_near_names_are_suggested() {
    let (code, lines) = failure(&["convert", "a.csv", "b.parquet", "--header-row", "3"]);
    let all = lines.join("\n");
    assert!(code == 2 && all.contains("--header-row") && !all.contains("--infer-rows"), "{all}");
    let (code, lines) = failure(&["haed", &wines()]);
    assert!(code == 2 && lines.join("\n").contains("'head'"), "{lines:?}");
    for (option, said) in [
        (&["--change-type", "yaer=int64"][..], "--change-type: no column yaer; did you mean year?"),
        (&["--file", "nmae"], "--file: no column nmae; did you mean name?"),
    ] {
        let out = Folder::new("ways-out-near").path("o.parquet");
        let (code, lines) = failure(&[&["convert", &wines(), &out], option].concat());
        assert!(code == 2 && lines[0].contains(said), "{lines:?}");
    }
}

#[test]
fn columns_to_sort_by_are_suggested() {
    let folder = Folder::new("ways-out-sort");
    let out = folder.path("o.parquet");
    for (column, said) in [("contry", "did you mean country?"), ("producer.nam", "producer.name")] {
        let (code, lines) = failure(&["convert", &wines(), &out, "--sort-by", column]);
        assert_eq!((code, lines.len()), (2, 1), "{lines:?}");
        assert!(lines[0].contains(&format!("--sort-by: no column {column}; ")), "{lines:?}");
        assert!(lines[0].contains(said), "{lines:?}");
    }
}

#[test]
fn files_of_other_formats_are_not_called_corrupt() {
    let folder = Folder::new("ways-out-formats");
    let json = folder.write("a.json", "[{\"a\": 1}]");
    let geojson = folder.write("g.json", "{\"type\": \"FeatureCollection\", \"features\": []}");
    let csv = folder.write("a.csv", "a\n1\n");
    for (file, format, from) in
        [(&json, "JSON", "jsonl"), (&geojson, "GeoJSON", "geojson"), (&csv, "CSV", "csv")]
    {
        for command in ["cat", "head", "count", "schema", "stats"] {
            let (code, lines) = failure(&[command, file]);
            assert_eq!((code, lines.len()), (1, 1), "{lines:?}");
            let said = format!(
                "no Parquet file: it looks like {format}, which `marquetry convert {file} OUT.parquet --from {from}` reads"
            );
            assert!(lines[0].ends_with(&said) && !lines[0].contains("corrupt"), "{lines:?}");
        }
    }
    // It does.
    success(&["convert", &json, &folder.path("o.parquet"), "--from", "jsonl", "--report", "none"]);
    // A truncated file with this extension is not taken for another format.
    let cut = folder.write("cut.parquet", "PAR1 and then nothing");
    assert!(failure(&["cat", &cut]).1[0].contains("corrupt: not a Parquet file"));
}

#[test]
fn options_about_text_are_refused_where_they_have_no_effect() {
    let folder = Folder::new("ways-out-options");
    let csv = folder.write("a.csv", "a\n1\n");
    let lines = folder.write("a.jsonl", "{\"a\":1}\n");
    let out = folder.path("o.parquet");
    let refused = |input: &str, options: &[&str], said: &str| {
        let (code, lines) = failure(&[&["convert", input, &out], options].concat());
        assert_eq!((code, lines.len()), (2, 1), "{options:?}: {lines:?}");
        assert!(lines[0].ends_with(said), "{lines:?}");
    };
    refused(&wines(), &["--delimiter", ";"], "--delimiter is for reading CSV; the input is Parquet");
    refused(&wines(), &["--no-header"], "--no-header is for CSV; the input is Parquet");
    refused(&wines(), &["--null-values", "NA"], "--null-values is for reading CSV; the input is Parquet");
    refused(&wines(), &["--mixed", "text"], "--mixed is for JSON; the input is Parquet");
    refused(&wines(), &["--schema", "name utf8"], "gives columns other types; the input is Parquet");
    refused(&lines, &["--quote", "'"], "--quote is for reading CSV; the input is JSON Lines");
    refused(&csv, &["--unknown-keys", "ignore"], "--unknown-keys is for JSON; the input is CSV");
    let many = [wines(), wines(), out.clone()];
    let many: Vec<&str> = ["convert"].into_iter().chain(many.iter().map(String::as_str)).collect();
    let (code, errors) = failure(&[&many[..], &["--skip-lines", "1"]].concat());
    assert!(code == 2 && errors[0].contains("--skip-lines is for CSV"), "{errors:?}");
    // Where they have one, they are taken.
    let rows = with_input(&["convert", "-", "-", "--from", "csv", "--delimiter", ";"], "a;b\n1;2\n");
    assert_eq!(rows, "{\"a\":1,\"b\":2}\n");
}

/// Where nothing can be written, each command says so once, and fails.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_told_once() {
    let wines = wines();
    for arguments in [
        &["cat", &wines][..],
        &["count", &wines],
        &["meta", &wines, "--format", "json"],
        &["convert", &wines, "-", "--to", "csv"],
        &["convert", &wines, "-", "--to", "parquet"],
        &["--help"],
        &["convert", "--help"],
        &["--version"],
    ] {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").expect("a full device");
        let command =
            std::process::Command::new(env!("CARGO_BIN_EXE_marquetry")).args(arguments).stdout(full).output();
        let done = command.expect("the binary runs");
        let said = String::from_utf8_lossy(&done.stderr);
        assert_eq!((done.status.code(), said.lines().count()), (Some(1), 1), "{arguments:?}: {said}");
        assert!(
            said.starts_with("marquetry: cannot write: ") && said.contains("No space left"),
            "{arguments:?}: {said}"
        );
    }
}

/// A file that cannot be written is at fault itself, whatever is read for it; nothing of it stays.
#[cfg(target_os = "linux")]
#[test]
fn what_cannot_be_written_is_named() {
    let wines = wines();
    for arguments in [
        &["convert", &wines, "o.parquet"][..],
        &["convert", &wines, "o.csv"],
        &["convert", &wines, "o.arrow"],
        &["convert", &wines, "o.parquet", "--sort-by", "name"],
        &["rewrite", &wines, "o.parquet"],
        &["merge", &wines, &wines, "o.parquet"],
        &["recover", &wines, "o.parquet"],
        &["report", &wines, "-o", "o.html"],
    ] {
        let folder = Folder::new("ways-out-written");
        let command = std::process::Command::new("sh")
            .args(["-c", "ulimit -f 1; exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_marquetry")])
            .args(arguments)
            .current_dir(folder.path(""))
            .output();
        let done = command.expect("a shell");
        let (code, said) = (done.status.code(), String::from_utf8_lossy(&done.stderr));
        let out = arguments.iter().find(|word| word.starts_with("o.")).expect("a name");
        let line = format!("marquetry: {out}: io: the file cannot be written: File too large (os error 27)");
        assert!(code == Some(1) && said.lines().count() == 1, "{arguments:?}: {said}");
        assert!(said.starts_with(&line) && said.matches(out).count() == 1, "{arguments:?}: {said}");
        assert_eq!(std::fs::read_dir(folder.path("")).expect("a folder").count(), 0, "{arguments:?}");
    }
}

/// As it was typed, whatever the command makes of it.
#[cfg(unix)]
#[test]
fn a_copy_that_cannot_be_written_is_named_as_it_was_typed() {
    let (wines, folder) = (wines(), Folder::new("ways-out-copy"));
    std::fs::copy(&wines, folder.path("w.parquet")).expect("a copy");
    for arguments in [
        &["append", "w.parquet", &wines][..],
        &["meta", "set", "w.parquet", "a=b"],
        &["drop-row-group", "w.parquet", "0"],
    ] {
        let command = std::process::Command::new("sh")
            .args(["-c", "ulimit -f 1; exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_marquetry")])
            .args(arguments)
            .arg("--copy")
            .current_dir(folder.path(""))
            .output();
        let done = command.expect("a shell");
        let said = String::from_utf8_lossy(&done.stderr);
        assert_eq!(done.status.code(), Some(1), "{said}");
        assert!(said.starts_with("marquetry: w.parquet: io: "), "{arguments:?}: {said}");
        assert_eq!(std::fs::read_dir(folder.path("")).expect("a folder").count(), 1, "{arguments:?}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_device_that_takes_no_more_is_named() {
    for to in ["csv", "jsonl", "arrow", "parquet"] {
        let (code, lines) = failure(&["convert", &wines(), "/dev/full", "--to", to]);
        let line =
            "marquetry: /dev/full: io: the file cannot be written: No space left on device (os error 28)";
        assert_eq!((code, &*lines), (1, &[line.to_owned()][..]), "{to}");
    }
}

/// `--overwrite` would not replace it.
#[cfg(unix)]
#[test]
fn what_is_no_file_is_not_said_to_be_replaceable() {
    let folder = Folder::new("ways-out-special");
    let (wines, pipe, directory) = (wines(), folder.path("p.parquet"), folder.path("d.parquet"));
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().expect("mkfifo").success());
    std::fs::create_dir(&directory).expect("a directory");
    for (command, more) in [("rewrite", None), ("merge", Some(&wines)), ("optimize", None), ("recover", None)]
    {
        for (out, said) in [(&pipe, "is not a regular file"), (&directory, "is a directory, not a file")] {
            let inputs = [command, &wines].into_iter().chain(more.map(String::as_str)).chain([out.as_str()]);
            let (code, lines) = failure(&inputs.collect::<Vec<_>>());
            assert!(code == 2 && lines.len() == 1 && lines[0].contains(said), "{command}: {lines:?}");
            assert!(!lines[0].contains("--overwrite"), "{lines:?}");
        }
    }
}

#[test]
fn urls_of_files_are_said_to_be_paths() {
    let (wines, folder) = (wines(), Folder::new("ways-out-urls"));
    let (read, written) = (format!("file://{wines}"), format!("file://{}", folder.path("o.parquet")));
    for arguments in [
        &["head", &read][..],
        &["cat", &read, &wines],
        &["convert", &read, "-"],
        &["verify", &read],
        &["convert", &wines, &written],
        &["rewrite", &wines, &written],
    ] {
        let (_, lines) = failure(arguments);
        let said = lines.len() == 1 && lines[0].contains("named by their paths, not by file: URLs");
        assert!(said, "{arguments:?}: {lines:?}");
    }
}
