//! `rewrite`, `merge`, `split` and `summary`: every value is as it was, and what is copied is so byte for byte.

use crate::command::{failure_text as failure, marquetry, success, wines};
use crate::int96::write_int96;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// An empty directory of the test's own.
fn directory(test: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("rewrite").join(test);
    let _ = fs::remove_dir_all(&path);
    fs::create_dir_all(&path).expect("a directory");
    path
}

/// The path of a file in a directory, as text.
fn at(directory: &Path, name: &str) -> String {
    directory.join(name).to_str().expect("a name in UTF-8").to_owned()
}

#[track_caller]
fn json(arguments: &[&str]) -> Value {
    let arguments: Vec<&str> = arguments.iter().copied().chain(["--format", "json"]).collect();
    let text = success(&arguments);
    serde_json::from_str(text.lines().next().expect("a line")).expect("a line of JSON")
}

/// All rows as text.
#[track_caller]
fn rows(file: &str) -> String {
    success(&["cat", "--format", "json", file])
}

/// The pages of a file by row group and column: their storage, without offsets.
fn pages(file: &str) -> BTreeMap<(u64, String), Vec<Value>> {
    let mut out: BTreeMap<_, Vec<Value>> = BTreeMap::new();
    for mut page in json(&["pages", file])["pages"].as_array().expect("pages").clone() {
        let key = (
            page["row_group"].as_u64().expect("a number"),
            page["column"].as_str().expect("a name").to_owned(),
        );
        page.as_object_mut().expect("an object").remove("offset");
        out.entry(key).or_default().push(page);
    }
    out
}

fn footer(file: &str) -> Value {
    json(&["meta", file])
}

/// Each entry of each offset index is a page, and every page has a checksum that is right.
fn indexes_point_at_pages(file: &str) {
    let all = json(&["pages", file])["pages"].as_array().expect("pages").clone();
    assert!(all.iter().all(|page| page["checksum"] == "ok"), "{file}");
    for column in json(&["index", file])["columns"].as_array().expect("columns") {
        let in_index: Vec<u64> = column["pages"]
            .as_array()
            .unwrap_or_else(|| panic!("{file}: no index of {column}"))
            .iter()
            .map(|page| page["offset"].as_u64().expect("a number"))
            .collect();
        let of_column = |page: &&Value| {
            (&page["row_group"], &page["column"]) == (&column["row_group"], &column["column"])
                && page["kind"].as_str().is_some_and(|kind| kind.starts_with("DATA_PAGE"))
        };
        let there: Vec<u64> =
            all.iter().filter(of_column).filter_map(|page| page["offset"].as_u64()).collect();
        assert_eq!(in_index, there, "{file}: {column}");
    }
}

#[test]
fn without_options_values_and_pages_stay() {
    let directory = directory("without_options");
    let out = at(&directory, "out.parquet");
    let report = json(&["rewrite", &wines(), &out]);
    assert_eq!((&report["rows"], &report["row_groups"]), (&Value::from(200), &Value::from(2)));
    assert_eq!(report["columns"][0]["before"], report["columns"][0]["after"]);
    assert_eq!(rows(&wines()), rows(&out));
    assert_eq!(pages(&wines()), pages(&out));
    indexes_point_at_pages(&out);
    let original = footer(&out)["key_values"].as_array().expect("pairs").clone();
    assert!(original.iter().any(|pair| pair["key"] == "original.created.by"), "{original:?}");
    // A second time nothing changes at all.
    let again = at(&directory, "again.parquet");
    success(&["rewrite", &out, &again]);
    assert_eq!(fs::read(&out).expect("a file"), fs::read(&again).expect("a file"));
}

#[test]
fn another_codec_and_nothing_else() {
    let directory = directory("codec");
    for codec in ["snappy", "gzip:9", "brotli", "lz4_raw", "zstd:19", "uncompressed"] {
        let out = at(&directory, "out.parquet");
        success(&["rewrite", &wines(), &out, "--overwrite", "--compression", codec]);
        assert_eq!(rows(&wines()), rows(&out), "{codec}");
        indexes_point_at_pages(&out);
        let sizes = |file: &str| -> Vec<(Value, Value)> {
            let facts = |page: &Value| (page["encoding"].clone(), page["uncompressed_size"].clone());
            pages(file).values().flatten().map(facts).collect()
        };
        assert_eq!(sizes(&wines()), sizes(&out), "{codec}");
    }
    let out = at(&directory, "one.parquet");
    success(&["rewrite", &wines(), &out, "--compression", "producer.*=snappy"]);
    let meta = footer(&out);
    for column in meta["row_groups"][0]["columns"].as_array().expect("columns") {
        let is_chosen = column["column"].as_str().expect("a name").starts_with("producer.");
        assert_eq!(column["codec"], if is_chosen { "SNAPPY" } else { "ZSTD" });
    }
}

#[test]
fn only_columns_that_need_it_are_encoded_again() {
    let directory = directory("encoding");
    let out = at(&directory, "out.parquet");
    success(&["rewrite", &wines(), &out, "--encoding", "year=DELTA_BINARY_PACKED", "--bloom", "country"]);
    assert_eq!(rows(&wines()), rows(&out));
    indexes_point_at_pages(&out);
    let (before, after) = (pages(&wines()), pages(&out));
    for (key, pages) in &after {
        match key.1.as_str() {
            "year" => assert_eq!(pages[0]["encoding"], "DELTA_BINARY_PACKED"),
            "country" => {}
            _ => assert_eq!(pages, &before[key], "{key:?}"),
        }
    }
    let columns = json(&["index", &out, "--column", "country"]);
    assert!(columns["columns"][0]["bloom_filter"]["bytes"].as_u64().is_some_and(|bytes| bytes > 0));
}

#[test]
fn rarer_false_positives_take_a_larger_bloom_filter() {
    let directory = directory("bloom");
    let bytes = |asked: &str| {
        let out = at(&directory, "out.parquet");
        success(&["rewrite", &wines(), &out, "--bloom", asked, "--overwrite"]);
        let columns = json(&["index", &out, "--column", "name"]);
        columns["columns"][0]["bloom_filter"]["bytes"].as_u64().expect("a bloom filter")
    };
    let by_default = bytes("name");
    assert_eq!(bytes("name:0.05"), by_default);
    assert!(bytes("country,name:0.0001") > by_default);
    // The last setting of a column wins.
    assert_eq!(bytes("name:0.0001,name"), by_default);
    let (code, error) = failure(&["rewrite", &wines(), &at(&directory, "x.parquet"), "--bloom", "name:1.5"]);
    assert!(code == 2 && error.contains("between 0 and 1"), "{error}");
}

#[test]
fn row_groups_and_pages_of_other_sizes() {
    let directory = directory("sizes");
    let out = at(&directory, "out.parquet");
    success(&["rewrite", &wines(), &out, "--row-group-rows", "70", "--page-rows", "9"]);
    assert_eq!(rows(&wines()), rows(&out));
    indexes_point_at_pages(&out);
    let sizes: Vec<u64> = footer(&out)["row_groups"]
        .as_array()
        .expect("row groups")
        .iter()
        .filter_map(|group| group["rows"].as_u64())
        .collect();
    assert_eq!(sizes, [70, 70, 60]);
    assert!(pages(&out).values().flatten().all(|page| page["rows"].as_u64().is_none_or(|rows| rows <= 9)));
    // Sizes that are right already change nothing.
    success(&["rewrite", &wines(), &out, "--overwrite", "--row-group-rows", "100"]);
    assert_eq!(pages(&wines()), pages(&out));
}

#[test]
fn columns_are_dropped_chosen_and_renamed() {
    let directory = directory("columns");
    let out = at(&directory, "out.parquet");
    success(&["rewrite", &wines(), &out, "--drop", "price,producer.name", "--rename", "grapes=sorts"]);
    let expected = rows(&wines())
        .lines()
        .map(|line| {
            let mut row: Value = serde_json::from_str(line).expect("a row");
            let members = row.as_object_mut().expect("an object");
            members.remove("price");
            let grapes = members.remove("grapes").expect("grapes");
            members.insert("sorts".to_owned(), grapes);
            if let Some(producer) = members.get_mut("producer").and_then(Value::as_object_mut) {
                producer.remove("name");
            }
            row
        })
        .collect::<Vec<_>>();
    let found: Vec<Value> =
        rows(&out).lines().map(|line| serde_json::from_str(line).expect("a row")).collect();
    assert_eq!(expected, found);
    assert!(pages(&out).contains_key(&(0, "sorts.list.element".to_owned())));
    success(&["rewrite", &wines(), &out, "--overwrite", "--columns", "year"]);
    assert_eq!(success(&["cat", "--format", "json", "--columns", "year", &wines()]), rows(&out));
    let refused = |arguments: &[&str], text: &str| {
        let wines = wines();
        let other = at(&directory, "other.parquet");
        let all: Vec<&str> =
            ["rewrite", &wines, &other].into_iter().chain(arguments.iter().copied()).collect();
        let (code, error) = failure(&all);
        assert_eq!(code, 2, "{error}");
        assert!(error.contains(text), "{error}");
        assert!(!Path::new(&other).exists());
    };
    refused(&["--rename", "nothing=x"], "no field nothing");
    refused(&["--rename", "name=year"], "two fields would be called year");
    refused(&["--drop", "yeah"], "year");
    refused(&["--encoding", "year=DELTA_BYTE_ARRAY"], "column year");
    refused(&["--encoding", "nothing=PLAIN"], "no column nothing");
    refused(&["--columns", "name,country,year", "--drop", "name"], "cannot be used with");
}

#[test]
fn files_are_not_replaced_unasked() {
    let directory = directory("replaced");
    let copy = at(&directory, "copy.parquet");
    fs::copy(wines(), &copy).expect("a copy");
    for arguments in [["rewrite", &copy, &copy], ["merge", &copy, &copy]] {
        let overwriting: Vec<&str> = arguments.into_iter().chain(["--overwrite"]).collect();
        let (code, error) = failure(&overwriting);
        assert_eq!(code, 2);
        assert!(error.contains("is a file that is read"), "{error}");
    }
    let out = at(&directory, "out.parquet");
    fs::write(&out, "precious").expect("a file");
    let (code, error) = failure(&["rewrite", &copy, &out]);
    assert_eq!(code, 2);
    assert!(error.contains("out.parquet: argument: already exists; use --overwrite"), "{error}");
    assert_eq!(fs::read(&out).expect("a file"), b"precious");
    // A failure on the way leaves what was there, and nothing else.
    let damaged = at(&directory, "damaged.parquet");
    let mut bytes = fs::read(wines()).expect("the example");
    bytes[100] ^= 0x10;
    fs::write(&damaged, bytes).expect("a file");
    let (code, error) = failure(&["rewrite", &damaged, &out, "--overwrite"]);
    assert_eq!(code, 1);
    assert!(error.contains("damaged.parquet: corrupt: checksum mismatch"), "{error}");
    assert_eq!(fs::read(&out).expect("a file"), b"precious");
    assert_eq!(fs::read_dir(&directory).expect("a directory").count(), 3);
    success(&["rewrite", &damaged, &out, "--overwrite", "--no-verify"]);
    assert_eq!(marquetry(&["pages", &out]).status.code(), Some(1), "the damage is still seen");
}

#[test]
fn merged_files_have_all_row_groups() {
    let directory = directory("merge");
    let (first, out) = (at(&directory, "first.parquet"), at(&directory, "out.parquet"));
    success(&["rewrite", &wines(), &first, "--compression", "snappy"]);
    success(&["merge", &wines(), &first, &wines(), &out]);
    assert_eq!(rows(&out), format!("{0}{0}{0}", rows(&wines())));
    let merged = pages(&out);
    for (file, first_group) in [(wines(), 0), (first.clone(), 2), (wines(), 4)] {
        for ((group, column), pages) in pages(&file) {
            let found = merged[&(group + first_group, column)].iter().map(|page| {
                let mut page = page.clone();
                page["row_group"] = group.into();
                page
            });
            assert_eq!(found.collect::<Vec<_>>(), pages);
        }
    }
    let other = at(&directory, "other.parquet");
    success(&["rewrite", &wines(), &other, "--drop", "price"]);
    let (code, error) = failure(&["merge", &wines(), &other, &out, "--overwrite", "--compatible"]);
    assert_eq!(code, 2);
    assert!(error.contains("other.parquet: argument: has another schema: price is missing"), "{error}");
    assert_eq!(rows(&out).lines().count(), 600);
}

#[test]
fn parts_together_are_the_whole() {
    let directory = directory("split");
    let folder = at(&directory, "");
    for (n, options, expected) in [
        ("70", vec![], vec![(70, 1), (70, 2), (60, 1)]),
        ("100", vec![], vec![(100, 1), (100, 1)]),
        ("150", vec!["--whole-row-groups"], vec![(100, 1), (100, 1)]),
        ("33", vec![], vec![(33, 1), (33, 1), (33, 1), (33, 2), (33, 1), (33, 1), (2, 1)]),
        ("1000", vec![], vec![(200, 2)]),
    ] {
        let wines = wines();
        let name = format!("{n}-{{}}.parquet");
        let arguments = ["split", &wines, "--rows", n, "--out-dir", &folder, "--name", &name];
        let arguments: Vec<&str> = arguments.into_iter().chain(options).chain(["--format", "json"]).collect();
        let parts: Vec<Value> = success(&arguments)
            .lines()
            .map(|line| serde_json::from_str(line).expect("a line of JSON"))
            .collect();
        let sizes: Vec<(u64, u64)> = parts
            .iter()
            .map(|part| {
                (part["rows"].as_u64().expect("a number"), part["row_groups"].as_u64().expect("a number"))
            })
            .collect();
        assert_eq!(sizes, expected);
        let all: String = parts.iter().map(|part| rows(part["file"].as_str().expect("a name"))).collect();
        assert_eq!(all, rows(&wines), "{n}");
        parts.iter().for_each(|part| indexes_point_at_pages(part["file"].as_str().expect("a name")));
    }
    let (code, error) =
        failure(&["split", &wines(), "--rows", "70", "--out-dir", &folder, "--name", "70-{}.parquet"]);
    assert_eq!(code, 2);
    assert!(error.contains("70-00000.parquet: argument: already exists"), "{error}");
}

#[test]
fn summaries_name_their_files() {
    let directory = directory("summary");
    fs::create_dir_all(directory.join("year=2024/_temporary")).expect("a directory");
    fs::copy(wines(), directory.join("b.parquet")).expect("a copy");
    fs::copy(wines(), directory.join("year=2024/a.parquet")).expect("a copy");
    fs::write(directory.join("year=2024/_temporary/x.parquet"), "not one").expect("a file");
    let folder = at(&directory, "");
    let report = json(&["summary", &folder]);
    assert_eq!(
        (&report["files"], &report["row_groups"], &report["rows"]),
        (&2.into(), &4.into(), &400.into())
    );
    let all = footer(&at(&directory, "_metadata"));
    assert_eq!((&all["rows"], &all["declared_rows"]), (&400.into(), &400.into()));
    let groups = |meta: &Value| meta["row_groups"].as_array().expect("row groups").clone();
    let (all, one) = (groups(&all), groups(&footer(&wines())));
    assert_eq!(all[0]["columns"], one[0]["columns"]);
    assert_eq!(all[3]["columns"], one[1]["columns"]);
    let text = fs::read(directory.join("_metadata")).expect("a file");
    let has = |name: &str| text.windows(name.len()).any(|part| part == name.as_bytes());
    assert!(has("year=2024/a.parquet") && has("b.parquet") && !has("x.parquet"));
    let common = footer(&at(&directory, "_common_metadata"));
    assert_eq!(
        (&common["rows"], common["columns"].clone()),
        (&0.into(), footer(&wines())["columns"].clone())
    );
    assert_eq!(failure(&["summary", &folder]).0, 2);
    success(&["summary", &folder, "--overwrite"]);
    // A summary's pages are in other files.
    let (code, error) = failure(&["rewrite", &at(&directory, "_metadata"), &at(&directory, "new.parquet")]);
    assert_eq!(code, 1);
    assert!(error.contains("in another file, b.parquet"), "{error}");
}

/// The files of other writers, where there are some: each is rewritten in several ways, or refused if it cannot be read.
#[test]
fn files_of_others() {
    let root = match std::env::var_os("MARQUETRY_CORPUS") {
        Some(path) => PathBuf::from(path),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared"),
    };
    let Ok(files) = fs::read_dir(root.join("parquet-testing/data")) else {
        assert!(std::env::var_os("CI").is_none(), "no corpus at {}", root.display());
        println!("skipped: no corpus at {}", root.display());
        return;
    };
    let directory = directory("files_of_others");
    let out = at(&directory, "out.parquet");
    let mut read = 0;
    // Here offset indexes of nested columns count values.
    let others = fs::read_dir(root.join("corpus/hangxie__parquet-tools/testdata")).into_iter().flatten();
    for file in files.chain(others).map(|file| file.expect("an entry").path()) {
        let is_small = fs::metadata(&file).is_ok_and(|metadata| metadata.len() < 200_000);
        // A gigabyte of one letter takes little room in a file, and much time to rewrite.
        let is_bomb = file.to_string_lossy().contains("large_string_map");
        if file.extension().is_none_or(|extension| extension != "parquet") || !is_small || is_bomb {
            continue;
        }
        let file = file.to_str().expect("a name in UTF-8");
        let before = marquetry(&["cat", "--format", "json", file]);
        for options in
            [&["rewrite"][..], &["rewrite", "--compression", "zstd", "--row-group-rows", "97"], &["merge"]]
        {
            let arguments: Vec<&str> = [options[0], file, &out, "--overwrite"]
                .into_iter()
                .chain(options[1..].iter().copied())
                .collect();
            let done = marquetry(&arguments);
            let error = String::from_utf8_lossy(&done.stderr);
            assert!(matches!(done.status.code(), Some(0 | 1)), "{arguments:?}: {error}");
            if !before.status.success() {
                continue;
            }
            assert!(done.status.success(), "{arguments:?}: {error}");
            let after = marquetry(&["cat", "--format", "json", &out]);
            assert!(after.status.success() && before.stdout == after.stdout, "{arguments:?}");
            read += 1;
        }
    }
    assert!(read > 100, "{read}");
}

/// SPEC: TYPE_ORDER has no bounds of INT96.
#[test]
fn int96_gets_no_bounds_that_its_order_does_not_have() {
    let directory = directory("int96");
    let (input, out) = (at(&directory, "in.parquet"), at(&directory, "out.parquet"));
    write_int96(&input, (0..100u32).map(|i| (0, u64::from(i) * 1_000)));
    success(&["verify", "--deep", &input]);
    for options in
        [&["--page-rows", "10"][..], &["--row-group-rows", "30"], &["--add-index"], &["--statistics"]]
    {
        success(&[&["rewrite", &input, &out, "--overwrite"], options].concat());
        success(&["verify", "--deep", &out]);
        assert_eq!(rows(&out), rows(&input));
        let meta = footer(&out);
        let chunk = &meta["row_groups"][0]["columns"][0];
        assert!(
            chunk["statistics"]["min"].is_null() && chunk["statistics"]["min_value"].is_null(),
            "{chunk}"
        );
    }
    success(&[
        "split",
        &input,
        "--rows",
        "30",
        "--out-dir",
        &at(&directory, ""),
        "--name",
        "part-{}.parquet",
    ]);
    success(&["verify", "--deep", &at(&directory, "part-00001.parquet")]);
}
