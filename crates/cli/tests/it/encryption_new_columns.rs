//! What a command makes of the values of an encrypted column is not less secret than these.

use crate::command::{Folder, failure, success};
use std::fs;

const FOOTER: &str = "0123456789012345";
const COLUMN: &str = "1234567890123450";
const OTHER: &str = "2345678901234501";

/// A folder, and a file of keys in it that only its owner can read: these columns have one.
fn keys(folder: &Folder, name: &str, columns: &[(&str, &str)], more: &str) -> String {
    let columns: Vec<String> =
        columns.iter().map(|(column, key)| format!(r#""{column}": "utf8:{key}""#)).collect();
    let columns = match columns.is_empty() {
        true => String::new(),
        false => format!(r#", "column_keys": {{{}}}"#, columns.join(", ")),
    };
    let path = folder.write(name, &format!(r#"{{"footer_key": "utf8:{FOOTER}"{columns}{more}}}"#));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    }
    path
}

fn holds(path: &str, text: &str) -> bool {
    fs::read(path).unwrap().windows(text.len()).any(|window| window == text.as_bytes())
}

/// The columns that a VARIANT is shredded into are not plaintext beside an encrypted `value`.
#[test]
fn a_variant_is_not_shredded_into_plain_columns() {
    let folder = Folder::new("encrypted_shredding");
    // So many that shredding pays.
    let rows: Vec<String> =
        (1..=300).map(|i| format!(r#"{{"id":{i},"v":{{"user":"secretuser{i}","n":{i}}}}}"#)).collect();
    let rows = folder.write("v.jsonl", &rows.join("\n"));
    let both = keys(&folder, "both.json", &[("v.value", COLUMN), ("v.metadata", COLUMN)], "");
    let complete = keys(
        &folder,
        "complete.json",
        &[("v.value", COLUMN), ("v.metadata", OTHER)],
        r#", "complete_columns": true"#,
    );
    let whole = keys(&folder, "whole.json", &[("v", COLUMN)], "");
    let [plain, secret, out] =
        ["plain.parquet", "secret.parquet", "out.parquet"].map(|name| folder.path(name));
    let schema = "id int64, v variant";
    success(&["convert", &rows, &plain, "--schema", schema, "--compression", "uncompressed"]);
    success(&[
        "convert",
        &rows,
        &secret,
        "--schema",
        schema,
        "--encrypt-file",
        &both,
        "--compression",
        "uncompressed",
    ]);
    assert!(holds(&plain, "secretuser1") && !holds(&secret, "secretuser1"));
    let shred = |command: &str, input: &str, keys: &[&str]| {
        let options = [command, input, out.as_str(), "--shred", "auto", "--overwrite"];
        options.iter().chain(keys).map(|text| (*text).to_owned()).collect::<Vec<String>>()
    };
    for command in ["rewrite", "convert"] {
        for arguments in [
            shred(command, &plain, &["--encrypt-file", &both]),
            shred(command, &plain, &["--encrypt-file", &complete]),
            shred(command, &secret, &["--key-file", &both, "--encrypt-file", &both]),
        ] {
            let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
            let (_, errors) = failure(&arguments);
            let errors = errors.join(" ");
            assert!(errors.contains("v.typed_value") && errors.contains("give the key to v,"), "{errors}");
            assert!(!fs::exists(&out).unwrap());
        }
        let arguments = shred(command, &secret, &["--key-file", &both, "--encrypt-file", &whole]);
        success(&arguments.iter().map(String::as_str).collect::<Vec<_>>());
        assert!(!holds(&out, "secretuser"));
        assert!(success(&["cat", &out, "--key-file", &whole, "--format", "json"]).contains("secretuser2"));
        assert!(success(&["schema", &out, "--key-file", &whole]).contains("typed_value"));
        fs::remove_file(&out).unwrap();
    }
    // A value of another type than the shredded columns would be stored in plaintext.
    let typed = keys(&folder, "typed.json", &[("v.typed_value", COLUMN)], "");
    let (_, errors) = failure(&["rewrite", &plain, &out, "--shred", "auto", "--encrypt-file", &typed]);
    let errors = errors.join(" ");
    assert!(errors.contains("in column v.value") && errors.contains("give the key to v,"), "{errors}");
    // Naming each column is a decision about all of them.
    let parts = [("v.value", COLUMN), ("v.metadata", COLUMN), ("v.typed_value", OTHER)];
    let parts = keys(&folder, "parts.json", &parts, "");
    success(&["rewrite", &plain, &out, "--shred", "auto", "--encrypt-file", &parts]);
    success(&["cat", &out, "--key-file", &parts]);
}

/// The box of the places in the metadata.
const BOX: &str = r#""bbox":[10"#;

const PLACES: &str = r#"{"type": "FeatureCollection", "features": [
    {"type": "Feature", "properties": {"i": 0}, "geometry": {"type": "Point", "coordinates": [10.0, 20.5]}},
    {"type": "Feature", "properties": {"i": 1}, "geometry": {"type": "Point", "coordinates": [11.25, 21.5]}}]}"#;

/// The boxes of encrypted geometries have the key of these, and the footer has none of them.
#[test]
fn boxes_of_encrypted_geometries_are_encrypted() {
    let folder = Folder::new("encrypted_boxes");
    let places = folder.write("places.geojson", PLACES);
    let signed = r#", "plaintext_footer": true"#;
    let hidden = keys(&folder, "hidden.json", &[("geometry", COLUMN)], "");
    let signed = keys(&folder, "signed.json", &[("geometry", COLUMN)], signed);
    let footer = keys(&folder, "footer.json", &[], "");
    let read = keys(&folder, "read.json", &[("geometry", COLUMN), ("bbox", COLUMN)], "");
    let own = keys(&folder, "own.json", &[("geometry", COLUMN), ("bbox", OTHER)], "");
    let [file, again, both] =
        ["places.parquet", "again.parquet", "both.parquet"].map(|name| folder.path(name));
    let convert = |keys: &str| {
        success(&[
            "convert",
            &places,
            &file,
            "--geoparquet",
            "1.1",
            "--covering",
            "--overwrite",
            "--encrypt-file",
            keys,
        ])
    };
    // JSON in JSON has its quotation marks behind backslashes.
    let geo = |path: &str, keys: &str| {
        success(&["meta", path, "--key-file", keys, "--format", "json"]).replace(['\\', ' ', '\n'], "")
    };
    for write in [&hidden, &signed] {
        convert(write);
        failure(&["head", &file, "--columns", "bbox", "--key-file", &footer]);
        failure(&["head", &file, "--columns", "geometry", "--key-file", &footer]);
        assert!(success(&["head", &file, "--columns", "bbox", "--key-file", &read]).contains("11.25"));
        assert!(!geo(&file, &read).contains(BOX), "{}", geo(&file, &read));
        assert!(!holds(&file, r#""bbox":["#));
        // What is made of such a file has no box either.
        let like: &[&str] = &["--key-file", &read, "--encrypt-file", &own, "--overwrite"];
        success(&[&["rewrite", &file, &again, "--geoparquet", "2.0"], like].concat());
        assert!(!geo(&again, &own).contains(BOX), "{}", geo(&again, &own));
        success(&[&["merge", &file, &file, &both], like].concat());
        assert!(!geo(&both, &own).contains(BOX), "{}", geo(&both, &own));
    }
    // The boxes keep a key of their own if they are given one.
    convert(&own);
    failure(&["head", &file, "--columns", "bbox", "--key-file", &read]);
    success(&["head", &file, "--columns", "bbox", "--key-file", &own]);
    // Under the footer key everything has the same key, and the box stays in the metadata.
    convert(&footer);
    assert!(geo(&file, &footer).contains(BOX), "{}", geo(&file, &footer));
    // Not so where the footer is in the open.
    convert(&keys(&folder, "open.json", &[], r#", "plaintext_footer": true"#));
    assert!(!holds(&file, r#""bbox":["#));
    // A file in the open that gets keys loses its box.
    success(&["convert", &places, &file, "--geoparquet", "1.1", "--overwrite"]);
    assert!(holds(&file, r#""bbox":[10"#));
    success(&["rewrite", &file, &again, "--overwrite", "--encrypt-file", &signed]);
    assert!(!holds(&again, r#""bbox":["#));
}

/// DuckDB cannot read encrypted files with bloom filters: in its dialect there are none.
#[test]
fn no_bloom_filters_for_duckdb() {
    let folder = Folder::new("encrypted_filters");
    let rows = folder.write("x.csv", "x,t\n1,a\n2,b\n3,c\n");
    let duckdb = keys(&folder, "duckdb.json", &[], r#", "dialect": "duckdb""#);
    let footer = keys(&folder, "footer.json", &[], "");
    let [plain, out] = ["plain.parquet", "out.parquet"].map(|name| folder.path(name));
    success(&["convert", &rows, &plain, "--bloom", "x", "--bloom", "t"]);
    let dialect = ["--key-file", &footer, "--encryption-dialect", "duckdb"];
    let filters = || {
        let index = success(&[&["index", out.as_str()], &dialect[..]].concat());
        (index.matches("no bloom filter").count(), index.matches("bloom filter").count())
    };
    for asked in [
        &["convert", &rows, &out, "--bloom", "x", "--encrypt-file", &duckdb],
        &["rewrite", &plain, &out, "--bloom", "x", "--encrypt-file", &duckdb],
    ] {
        let (code, errors) = failure(asked);
        assert!(code == 2 && errors.join(" ").contains("DuckDB cannot read"), "{code} {errors:?}");
    }
    for command in ["rewrite", "merge"] {
        let told = success(&[command, &plain, &out, "--encrypt-file", &duckdb, "--overwrite"]);
        assert!(told.contains("bloom filters are left out"), "{told}");
        assert_eq!(filters(), (2, 2));
    }
    // Whether row groups are copied or cut.
    for rows in ["3", "2"] {
        let parts = ["split", &plain, "--rows", rows, "--out-dir", &folder.path(""), "--overwrite"];
        let parts = [&parts[..], &["--encrypt-file", &duckdb]].concat();
        let told = success(&parts);
        assert_eq!(told.matches("note: bloom filters are left out").count(), 1, "{told}");
        let told = success(&[&parts[..], &["--format", "json"]].concat());
        assert!(told.lines().all(|file| file.contains("bloom filters are left out")), "{told}");
        let told = success(&parts[..7]);
        assert!(!told.contains("note"), "{told}");
    }
    let told = success(&[&["append", &out, &plain, "--plain-inputs"], &dialect[..]].concat());
    assert!(told.contains("bloom filters are left out"), "{told}");
    assert_eq!(filters(), (4, 4));
    success(&[&["verify", "--deep", &out], &dialect[..]].concat());
}
