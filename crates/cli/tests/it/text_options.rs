//! Options of `convert` about text: dialects of CSV, encodings, kinds of JSON, and what numbers become.

use crate::command::{Folder, failure, success, with_input};

/// The rows that text of a format becomes.
#[track_caller]
fn rows(from: &str, text: &str, options: &[&str]) -> String {
    with_input(&[&["convert", "-", "-", "--from", from, "--to", "jsonl"], options].concat(), text)
}

/// The one error, which is the input's.
#[track_caller]
fn error(folder: &Folder, name: &str, text: &str, options: &[&str]) -> String {
    let input = folder.write(name, text);
    let (code, lines) = failure(&[&["convert", &input, "-", "--to", "jsonl"], options].concat());
    assert!(code == 1 && lines.len() == 1, "{code} {lines:?}");
    lines[0].strip_prefix(&format!("marquetry: {input}: ")).expect("the file's name").to_owned()
}

#[test]
fn delimiters_are_found_or_given() {
    let expected = "{\"a\":1,\"b\":\"x,y\"}\n{\"a\":2,\"b\":null}\n";
    for delimiter in [";", "\t", "|"] {
        let text = format!("a{delimiter}b\n1{delimiter}x,y\n2{delimiter}\n");
        assert_eq!(rows("csv", &text, &[]), expected);
        assert_eq!(rows("csv", &text, &["--infer-rows", "all"]), expected);
        let name = if delimiter == "\t" { "tab" } else { delimiter };
        assert_eq!(rows("csv", &text, &["--delimiter", name]), expected);
    }
    assert_eq!(rows("csv", "a\tb\n1\t\n", &["--delimiter", "\\t"]), "{\"a\":1,\"b\":null}\n");
    // A comma is the delimiter if there is one; a single column may contain anything.
    assert_eq!(rows("csv", "a,b;c\n1,2;3\n", &[]), "{\"a\":1,\"b;c\":\"2;3\"}\n");
    assert_eq!(rows("csv", "note\nx;y\n", &[]), "{\"note\":\"x;y\"}\n");
    let folder = Folder::new("text-delimiters");
    let (code, lines) = failure(&["convert", "-", "-", "--from", "csv", "--delimiter", "ab"]);
    assert!(code == 2 && lines[0].contains("--delimiter"), "{lines:?}");
    // If rows are inconsistent, a hint names the only column.
    let input = folder.write("in.csv", "a;b\n1\n");
    let (code, lines) = failure(&["convert", &input, "-", "--to", "jsonl"]);
    assert!(code == 0 && lines.len() == 1 && lines[0].contains("--delimiter"), "{lines:?}");
}

/// The name of a single column is in quotes where it would look like two.
#[test]
fn one_column_whose_name_has_a_delimiter() {
    for rows in ["{\"a;b\":\"1;2\"}\n", "{\"a\\tb\":\"x\\ty\"}\n", "{\"a|b\":\"1|2\"}\n"] {
        let csv = with_input(&["convert", "-", "-", "--from", "jsonl", "--to", "csv"], rows);
        let found = with_input(&["convert", "-", "-", "--from", "csv", "--to", "jsonl"], &csv);
        assert_eq!(found, rows, "{csv}");
    }
}

#[test]
fn comments_skipped_lines_and_quotes() {
    let expected = "{\"a\":1,\"b\":\"#x\"}\n{\"a\":2,\"b\":\"y\"}\n";
    let text = "# \"one, two\na,b\n#\n1,\"#x\"\n# it's \"three\n2,y\n#end";
    for options in [&["--comment", "#"][..], &["--comment", "#", "--infer-rows", "all"]] {
        assert_eq!(rows("csv", text, options), expected);
    }
    let text = "Report, \"of 2026\n\na,b\n1,#x\n2,y\n";
    assert_eq!(rows("csv", text, &["--skip-lines", "2"]), expected);
    assert_eq!(rows("csv", "a,b\n1,'#x'\n2,y\n", &["--quote", "'"]), expected);
    let folder = Folder::new("text-comments");
    let options = ["--skip-lines", "1", "--comment", "#", "--schema", "a int64"];
    assert_eq!(
        error(&folder, "in.csv", "title\n#\na,b\n1,\"x\ny\"\n#\nz,2\n", &options),
        "line 7, column a: \"z\" is not a valid Int64"
    );
}

/// What MySQL and Spark write, and what DuckDB, pandas and Spark read of it.
#[test]
fn quotes_behind_an_escape_are_of_the_cell() {
    let text = "a,b\n\"say \\\"hi\\\"\",1\n\"C:\\new\\\\\",2\nx\\\\y,3\n\\N,4\n";
    let expected = concat!(
        "{\"a\":\"say \\\"hi\\\"\",\"b\":1}\n{\"a\":\"C:\\\\new\\\\\",\"b\":2}\n",
        "{\"a\":\"x\\\\\\\\y\",\"b\":3}\n{\"a\":null,\"b\":4}\n"
    );
    for rows_looked_at in ["1", "all"] {
        let options = ["--escape", "\\", "--null-values", "\\N", "--infer-rows", rows_looked_at];
        assert_eq!(rows("csv", text, &options), expected);
    }
    // Doubled quotes are one, too, and a quote as an escape is what there is without the option.
    assert_eq!(rows("csv", "a\n\"x\"\"y\"\n", &["--escape", "\\"]), "{\"a\":\"x\\\"y\"}\n");
    assert_eq!(rows("csv", "a\n\"x\"\"y\"\n", &["--escape", "\""]), "{\"a\":\"x\\\"y\"}\n");
    let folder = Folder::new("text-escapes");
    let unclosed = error(&folder, "in.csv", "a\n\"x\\\"\n", &["--escape", "\\"]);
    assert_eq!(unclosed, "line 2: a quote opens here that is never closed: \"\\\"x\\\\\\\"\"");
    let input = folder.write("in.csv", "a\n1\n");
    let (code, lines) = failure(&["convert", &input, "-", "--escape", ","]);
    assert_eq!((code, &*lines[0]), (2, "marquetry: --escape: is what stands between cells"));
}

/// Follows pyarrow, pandas, Python's csv and the crate csv; DuckDB and polars refuse some of this, or read it otherwise.
#[test]
fn what_stands_behind_quotes_is_of_the_cell() {
    for (cell, text) in [
        ("\"x\"y", "xy"),
        ("\"x\" ", "x "),
        ("\"x\"y\"z\"", "xy\\\"z\\\""),
        ("\"x\"\"y\"z", "x\\\"yz"),
        ("x\"y\"", "x\\\"y\\\""),
        (" \"x\"", " \\\"x\\\""),
    ] {
        assert_eq!(rows("csv", &format!("a,b\n{cell},1\n"), &[]), format!("{{\"a\":\"{text}\",\"b\":1}}\n"));
    }
    let folder = Folder::new("text-behind-quotes");
    assert_eq!(
        error(&folder, "in.csv", "a,b\n1,2\n\"x\"y\"z,w\",1\n", &[]),
        "line 3: has more than 2 cells where the header has 2: \"\\\"x\\\"y\\\"z,w\\\",1\"; see --ragged"
    );
}

#[test]
fn rows_with_other_numbers_of_cells() {
    let folder = Folder::new("text-ragged");
    let (short, long) = ("a,b\n1,2\n\n3\n", "a,b\n1,2\n3,4,5\n6\n");
    assert_eq!(
        error(&folder, "in.csv", short, &[]),
        "line 4: has 1 cell where the header has 2: \"3\"; see --ragged"
    );
    assert_eq!(
        error(&folder, "in.csv", long, &[]),
        "line 3: has more than 2 cells where the header has 2: \"3,4,5\"; see --ragged"
    );
    let expected = "{\"a\":1,\"b\":2}\n{\"a\":3,\"b\":null}\n";
    assert_eq!(rows("csv", short, &["--ragged", "null"]), expected);
    assert!(error(&folder, "in.csv", long, &["--ragged", "null"]).contains("line 3"));
    let expected = "{\"a\":1,\"b\":2}\n{\"a\":3,\"b\":4}\n{\"a\":6,\"b\":null}\n";
    assert_eq!(rows("csv", long, &["--ragged", "truncate"]), expected);
}

/// CSV and JSON Lines name places in one way: by the line of the file, counted from 1.
#[test]
fn places_are_lines() {
    let folder = Folder::new("text-places");
    let csv = "a,b\n1,\"x\ny\"\r\n\n2,z\nw,v\n";
    assert_eq!(
        error(&folder, "in.csv", csv, &["--schema", "a int8"]),
        "line 6, column a: \"w\" is not a valid Int8"
    );
    let jsonl = "{\"a\":1}\n\n{\"a\":\"w\"}\n";
    assert_eq!(
        error(&folder, "in.jsonl", jsonl, &["--schema", "a int8"]),
        "line 3, column a: \"w\" is not a valid Int8"
    );
    let csv = "a,b\n1,2\n\n3,\"x\n4,5\n";
    assert_eq!(
        error(&folder, "in.csv", csv, &[]),
        "line 4: a quote opens here that is never closed: \"3,\\\"x\""
    );
    // Behind the first chunk, too, and without the names that the arrow crate gives to its errors.
    let csv = "a,b\n".to_owned() + &"1,\"x\ny\"\n".repeat(100_000) + "w,v\n";
    assert!(
        error(&folder, "in.csv", &csv, &[]).starts_with("line 200002, column a: \"w\" is not a valid Int64")
    );
    for text in ["{\"a\":1}\n{\"a\":1\n", "{\"a\":1}\n{\"a\":[1]}\n", "{\"a\":1}\n[2]\n"] {
        let error = error(&folder, "in.jsonl", text, &["--infer-rows", "1"]);
        assert!(error.starts_with("line 2") && !error.contains("Json error"), "{error}");
    }
}

#[test]
fn text_in_other_encodings() {
    let folder = Folder::new("text-encodings");
    let rows_of = |name: &str, bytes: &[u8], options: &[&str]| {
        let path = folder.path(name);
        std::fs::write(&path, bytes).expect("a file");
        success(&[&["convert", &path, "-", "--to", "jsonl"], options].concat())
    };
    let expected = "{\"é\":\"😀\"}\n{\"é\":\"x\"}\n";
    let text = "é,\n😀\nx\n".replace(",\n", "\n");
    let utf16 = |bytes: fn(u16) -> [u8; 2]| -> Vec<u8> { text.encode_utf16().flat_map(bytes).collect() };
    let marked = |bytes: fn(u16) -> [u8; 2]| [bytes(0xfeff).to_vec(), utf16(bytes)].concat();
    assert_eq!(rows_of("a.csv", &marked(u16::to_le_bytes), &[]), expected);
    assert_eq!(rows_of("a.csv", &marked(u16::to_be_bytes), &["--infer-rows", "all"]), expected);
    assert_eq!(rows_of("a.csv", &utf16(u16::to_le_bytes), &["--text-encoding", "utf-16"]), expected);
    assert_eq!(
        rows_of("a.csv", b"a;b\ncaf\xe9;\x80\n", &["--text-encoding", "latin1"]),
        "{\"a\":\"café\",\"b\":\"€\"}\n"
    );
    assert_eq!(rows_of("a.jsonl", b"{\"a\":\"\xe9\"}\n", &["--text-encoding", "latin1"]), "{\"a\":\"é\"}\n");
    std::fs::write(folder.path("bad.csv"), b"a\n1\ncaf\xe9\n").expect("a file");
    let (code, lines) = failure(&["convert", &folder.path("bad.csv"), "-", "--to", "jsonl"]);
    assert!(code == 1 && lines[0].contains("line 3: cell 1 is not UTF-8: see --text-encoding"), "{lines:?}");
    let (code, lines) = failure(&["convert", &folder.path("bad.csv"), "-", "--text-encoding", "klingon"]);
    assert!(code == 2 && lines[0].contains("klingon"), "{lines:?}");
}

#[test]
fn json_of_mixed_kinds() {
    let folder = Folder::new("text-mixed");
    let text = "{\"a\":1,\"b\":{}}\n{\"a\":{\"x\": [1]},\"b\":{}}\n{\"a\":\"t\"}\n{\"a\":true,\"b\":{}}\n";
    assert!(error(&folder, "in.jsonl", text, &[]).contains("--mixed text"));
    let expected = "{\"a\":\"1\",\"b\":\"{}\"}\n{\"a\":\"{\\\"x\\\": [1]}\",\"b\":\"{}\"}\n\
                    {\"a\":\"t\",\"b\":null}\n{\"a\":\"true\",\"b\":\"{}\"}\n";
    assert_eq!(rows("jsonl", text, &["--mixed", "text"]), expected);
    // Behind the rows from which types are guessed, too.
    let text = "{\"a\":\"t\"}\n{\"a\":[1]}\n{\"a\":2}\n";
    let expected = "{\"a\":\"t\"}\n{\"a\":\"[1]\"}\n{\"a\":\"2\"}\n";
    assert_eq!(rows("jsonl", text, &["--mixed", "text", "--infer-rows", "1"]), expected);
    // Parquet has no type for objects that never have a member; a column of them is reported.
    let input = folder.write("empty.jsonl", "{\"a\":1,\"b\":{}}\n");
    let out = folder.path("out.parquet");
    let (code, lines) = failure(&["convert", &input, &out]);
    assert!(code == 1 && lines[0].contains("--mixed text"), "{code} {lines:?}");
    success(&["convert", &input, &out, "--mixed", "text", "--report", "none"]);
    assert_eq!(success(&["convert", &out, "-"]), "{\"a\":1,\"b\":\"{}\"}\n");
}

#[test]
fn unknown_keys_and_arrays() {
    let folder = Folder::new("text-keys");
    let text = "{\"a\":1,\"s\":{\"x\":1}}\n{\"b\":{\"c\":[1,2]},\"a\":2,\"s\":{\"y\":0,\"x\":2}}\n";
    let options = ["--infer-rows", "1"];
    assert!(error(&folder, "in.jsonl", text, &options).contains("--unknown-keys"));
    let expected = "{\"a\":1,\"s\":{\"x\":1}}\n{\"a\":2,\"s\":{\"x\":2}}\n";
    assert_eq!(rows("jsonl", text, &["--infer-rows", "1", "--unknown-keys", "ignore"]), expected);
    let text = "\n [{\"a\": 1,\n  \"s\": \"],[\"},{\"a\":\n2}\n, {\"a\":null}] \n";
    let expected = "{\"a\":1,\"s\":\"],[\"}\n{\"a\":2,\"s\":null}\n{\"a\":null,\"s\":null}\n";
    assert_eq!(rows("jsonl", text, &[]), expected);
    assert_eq!(rows("jsonl", text, &["--infer-rows", "all"]), expected);
    let error = |text: &str| error(&folder, "in.jsonl", text, &["--schema", "a int8"]);
    assert_eq!(error("[{\"a\":1},\n{\"a\":\"x\"}]"), "object 2, column a: \"x\" is not a valid Int8");
    assert!(error("[{\"a\":1}").contains("not closed"));
    assert!(error("[{\"a\":1}] 2").contains("beside the array"));
}

/// What is guessed changes no number: written again it is the same.
#[test]
fn guessed_types_change_no_number() {
    let types = |text: &str, options: &[&str]| {
        rows("csv", &format!("a\n{text}\n"), options).replace(['{', '}', '\n'], "")
    };
    assert_eq!(types("0.1234567890123456789012345", &[]), "\"a\":0.1234567890123456789012345");
    assert_eq!(types("9223372036854775808", &[]), "\"a\":9223372036854775808");
    assert_eq!(types("9007199254740993\n2.5", &[]), "\"a\":9007199254740993.0\"a\":2.5");
    assert_eq!(types("1.10", &[]), "\"a\":1.1");
    assert_eq!(types("1e-400", &[]), "\"a\":\"1e-400\"");
    assert_eq!(types("-0", &[]), "\"a\":-0.0");
    assert_eq!(types("0.1234567890123456789012345", &["--decimals", "never"]), "\"a\":0.12345678901234568");
    let json = rows("jsonl", "{\"a\":18446744073709551616}\n{\"a\":0.5}\n", &[]);
    assert_eq!(json, "{\"a\":18446744073709551616.0}\n{\"a\":0.5}\n");
    // A later number that the type would change is an error.
    let folder = Folder::new("text-numbers");
    for later in ["0.1234567890123456789012345", "12345678901234567.5"] {
        let error = error(&folder, "in.csv", &format!("a\n1.5\n{later}\n"), &["--infer-rows", "1"]);
        assert!(error.starts_with("line 3, column a"), "{error}");
    }
    let mut state = 11_u64;
    let mut random = move |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    let mut digits =
        |most: u64| (0..1 + random(most)).map(|_| char::from(b'0' + random(10) as u8)).collect::<String>();
    for column in 0..40 {
        let numbers: Vec<String> =
            (0..20).map(|_| format!("1{}.{}", digits(12), digits(1 + column))).collect();
        let text = format!("a\n{}\n", numbers.join("\n"));
        let again = with_input(&["convert", "-", "-", "--from", "csv", "--to", "csv"], &text);
        for (number, again) in numbers.iter().zip(again.lines().skip(1)) {
            let bare = |number: &str| number.trim_end_matches('0').trim_end_matches('.').to_owned();
            assert_eq!(bare(number), bare(again), "{text}");
        }
    }
}
