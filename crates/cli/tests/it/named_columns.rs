//! Columns by their names in options: parts of structs whatever the rows are read from, and names that are odd, or that several have.

use crate::command::{Folder, everything, success};
use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray, StructArray};
use arrow_ipc::writer::FileWriter;
use arrow_schema::{Field, Schema};
use marquetry::arrow::ArrowWriter;
use marquetry::file::properties::WriterProperties;
use marquetry_core::write::{Compression, Encoding};
use std::sync::Arc;

/// Writes columns, whose names may be any, as Parquet and as Arrow.
fn written(folder: &Folder, columns: &[(&str, ArrayRef)]) -> [String; 2] {
    let fields: Vec<Field> =
        columns.iter().map(|(name, array)| Field::new(*name, array.data_type().clone(), true)).collect();
    let arrays = columns.iter().map(|(_, array)| array.clone()).collect();
    let batch = RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays).unwrap();
    let paths = [folder.path("in.parquet"), folder.path("in.arrow")];
    let file = std::fs::File::create(&paths[0]).unwrap();
    let mut parquet = ArrowWriter::try_new(file, batch.schema(), None).unwrap();
    parquet.write(&batch).unwrap();
    parquet.close().unwrap();
    let file = std::fs::File::create(&paths[1]).unwrap();
    let mut arrow = FileWriter::try_new(file, batch.schema_ref()).unwrap();
    arrow.write(&batch).unwrap();
    arrow.finish().unwrap();
    paths
}

fn longs(values: impl IntoIterator<Item = i64>) -> ArrayRef {
    Arc::new(Int64Array::from_iter_values(values))
}

/// The same columns are chosen of JSON, Arrow and Parquet.
#[test]
fn parts_of_structs_are_chosen_of_any_input() {
    let folder = Folder::new("named_columns_parts");
    let lines = "{\"n\":1,\"st\":{\"x\":1,\"y\":\"a\",\"in\":{\"z\":true}},\"l\":[{\"i\":1,\"t\":\"b\"},{\"i\":2,\"t\":null}]}\n\
                 {\"n\":2,\"st\":null,\"l\":null}\n\
                 {\"n\":3,\"st\":{\"x\":null,\"y\":\"c\",\"in\":null},\"l\":[]}\n";
    let json = folder.write("in.jsonl", lines);
    let (arrow, parquet) = (folder.path("in.arrow"), folder.path("in.parquet"));
    success(&["convert", &json, &arrow]);
    success(&["convert", &json, &parquet]);
    for (columns, first) in [
        ("st.x", "{\"st\":{\"x\":1}}"),
        ("st.y,n,st.in.z", "{\"st\":{\"y\":\"a\",\"in\":{\"z\":true}},\"n\":1}"),
        ("l.list.element.i,st.x", "{\"l\":[{\"i\":1},{\"i\":2}],\"st\":{\"x\":1}}"),
        ("\"st\".\"y\"", "{\"st\":{\"y\":\"a\"}}"),
        ("l.list", "{\"l\":[{\"i\":1,\"t\":\"b\"},{\"i\":2,\"t\":null}]}"),
    ] {
        let of = |input: &str| success(&["convert", input, "-", "--columns", columns]);
        assert_eq!(of(&parquet).lines().next(), Some(first), "{columns}");
        assert_eq!([of(&json), of(&arrow)], [of(&parquet), of(&parquet)], "{columns}");
    }
    for input in [&json, &arrow, &parquet] {
        let (code, text) = everything(&["convert", input, "-", "--columns", "st.q"]);
        assert!(code == Some(2) && text.contains("no column st.q; did you mean st"), "{text}");
    }
    // What is sorted by need not be chosen.
    let sorted = |input: &str| success(&["convert", input, "-", "--columns", "st.y", "--sort-by", "n:desc"]);
    assert_eq!(sorted(&json).lines().next(), Some("{\"st\":{\"y\":\"c\"}}"));
    assert_eq!([sorted(&json), sorted(&arrow)], [sorted(&parquet), sorted(&parquet)]);
    let csv = folder.write("in.csv", "\"a,b\",c\n1,2\n");
    assert_eq!(success(&["convert", &csv, "-", "--columns", "\"a,b\""]), "{\"a,b\":1}\n");
}

/// An option for one column refuses a name of several columns, as any may be the wrong one; an option for several takes
/// all of them.
#[test]
fn a_name_of_several_columns() {
    let folder = Folder::new("named_columns_twice");
    let texts: ArrayRef = Arc::new(StringArray::from(vec!["x", "y"]));
    let inputs = written(
        &folder,
        &[
            ("a", longs([2, 1])),
            ("b", longs([3, 4])),
            ("a", longs([5, 6])),
            ("t", texts.clone()),
            ("t", texts),
        ],
    );
    let out = folder.path("out.parquet");
    for input in &inputs {
        assert_eq!(
            success(&["convert", input, "-", "--columns", "a"]),
            "{\"a\":2,\"a_1\":5}\n{\"a\":1,\"a_1\":6}\n"
        );
        for option in
            [&["--change-type", "a=int32"][..], &["--sort-by", "b,a:desc"], &["--file", "t=reference"]]
        {
            let (code, text) = everything(&[&["convert", input, &out], option].concat());
            let name = if option[0] == "--file" { "t" } else { "a" };
            let why = format!("{}: several columns are called \"{name}\"", option[0]);
            assert!(code == Some(2) && text.contains(&why), "{option:?}: {code:?} {text}");
            assert!(!std::path::Path::new(&out).exists());
        }
    }
}

/// Names that are empty, or contain characters that have a meaning in patterns and lists.
#[test]
fn odd_names_in_options() {
    let folder = Folder::new("named_columns_odd");
    let rows = || (0..1_000).map(|i| i * 7919 % 1_000);
    let names = ["", "a*", "ab", "c,d", "e:0.5", "f\"g"];
    let columns: Vec<(&str, ArrayRef)> = names.map(|name| (name, longs(rows()))).into();
    let [parquet, arrow] = written(&folder, &columns);
    let codecs = |path: &str| {
        let meta: serde_json::Value =
            serde_json::from_str(&success(&["meta", path, "--format", "json"])).unwrap();
        let columns = meta["row_groups"][0]["columns"].as_array().unwrap();
        columns
            .iter()
            .map(|column| column["codec"].as_str().unwrap_or_default().to_owned())
            .collect::<Vec<_>>()
    };
    let before = codecs(&parquet);
    let out = folder.path("out.parquet");
    let options = ["--compression", "\"\"=gzip", "--compression", "\"a*\"=gzip", "--overwrite"];
    for input in [&[&*parquet, &*out][..], &[&arrow, &out]] {
        let command = if input[0] == parquet { "rewrite" } else { "convert" };
        success(&[&[command], input, &options[..]].concat());
        let after = codecs(&out);
        assert_eq!(after[..2], ["GZIP", "GZIP"], "{command}");
        assert!(after[2..].iter().all(|codec| codec != "GZIP"), "{command}: {before:?} {after:?}");
    }
    success(&[
        "convert",
        &arrow,
        &out,
        "--overwrite",
        "--change-type",
        "\"\"=int32",
        "--change-type",
        "f\"g=int32",
    ]);
    let schema = success(&["schema", "--arrow", &out, "--format", "json"]);
    assert_eq!(schema.matches("Int32").count(), 2, "{schema}");
    success(&["rewrite", &parquet, &out, "--overwrite", "--rename", "\"\"=named"]);
    assert_eq!(
        success(&["head", &out, "-n", "1", "--columns", "named", "--format", "json"]),
        "{\"named\":0}\n"
    );
}

/// Arguments cannot contain NUL: so no command with one is suggested, as nobody could run it.
#[test]
fn no_command_has_a_nul() {
    let folder = Folder::new("named_columns_nul");
    let [parquet, _] = written(&folder, &[("a\0b", longs(0..5_000)), ("c", longs(0..5_000))]);
    let text = success(&["advise", &parquet]);
    assert!(text.contains("--encoding=c=") && !text.contains("x00"), "{text}");
    assert!(text.contains("a\\u{0}b") && !text.contains('\0'), "{text}");
    let json = success(&["advise", &parquet, "--format", "json"]);
    assert!(json.contains("--encoding=c=") && !json.contains("x00"), "{json}");
}

/// What is advised can be done, whatever columns are called.
#[test]
fn optimize_takes_columns_of_any_name() {
    let folder = Folder::new("named_columns_optimize");
    // UUIDs by chance, as text.
    let texts = |salt: u64| {
        let word = move |i: u64| (i + salt).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let uuid = move |i: u64| {
            let (a, b) = (word(i), word(i + 7_919).rotate_left(17));
            format!(
                "{:08x}-{:04x}-{:04x}-{:04x}-{:012x}",
                a >> 32,
                a >> 16 & 0xffff,
                a & 0xffff,
                b >> 48,
                b & 0xffff_ffff_ffff
            )
        };
        Arc::new(StringArray::from_iter_values((0..5_000).map(uuid))) as ArrayRef
    };
    let names = ["", "a", "a", "x*", "xy", "c,d", "e:f", "g\"h", "\"i\"", "j=k"];
    let columns: Vec<(&str, ArrayRef)> =
        names.iter().enumerate().map(|(i, name)| (*name, texts(i as u64 * 1_000_003))).collect();
    let [parquet, _] = written(&folder, &columns);
    let out = folder.path("out.parquet");
    let rows = |path: &str| success(&["head", path, "-n", "5000", "--format", "json"]);
    for options in [&[][..], &["--types"], &["--types", "--sort", "--compat", "latest", "--for", "scan"]] {
        success(&[&["optimize", &parquet, &out, "--overwrite", "--budget", "8s"], options].concat());
        if options == ["--types"] {
            let schema = success(&["schema", "--arrow", &out, "--format", "json"]);
            // All but the two that nobody can tell apart.
            let count = |name: &str| schema.matches(name).count();
            assert_eq!((count("FixedSizeBinary"), count("Utf8View")), (8, 2), "{schema}");
        }
        if !options.contains(&"--sort") {
            assert!(rows(&out) == rows(&parquet), "{options:?}");
        }
    }
}

/// With `s."x.y"`, `s.x.y` and a column named `s.x`: advice on one is applied to this one.
#[test]
fn advised_options_tell_names_with_dots_from_paths() {
    let folder = Folder::new("named_columns_dots");
    let field = |name: &str, array: &ArrayRef| Arc::new(Field::new(name, array.data_type().clone(), true));
    let structure = |columns: &[(&str, ArrayRef)]| -> ArrayRef {
        let columns = columns.iter().map(|(name, array)| (field(name, array), array.clone()));
        Arc::new(StructArray::from(columns.collect::<Vec<_>>()))
    };
    let texts: ArrayRef =
        Arc::new(StringArray::from_iter_values((0..20_000).map(|i| format!("text {}", i % 7))));
    let inner = structure(&[("y", texts)]);
    let outer = structure(&[("x.y", longs((0..20_000).map(|i| i * 7919 % 1_000))), ("x", inner)]);
    let batch = RecordBatch::try_from_iter([("s", outer), ("s.x", longs(0..20_000))]).unwrap();
    let (input, out) = (folder.path("in.parquet"), folder.path("out.parquet"));
    let properties =
        WriterProperties::builder().set_compression(Compression::UNCOMPRESSED).set_encoding(Encoding::PLAIN);
    let file = std::fs::File::create(&input).unwrap();
    let mut writer = ArrowWriter::try_new(file, batch.schema(), Some(properties.build())).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    let json = |arguments: &[&str]| -> serde_json::Value {
        serde_json::from_str(&success(&[arguments, &["--format", "json"]].concat())).unwrap()
    };
    let advice = json(&["advise", &input, "--budget", "60s", "--compat", "latest"]);
    let words = advice["command"].as_str().unwrap().split(' ').map(|word| word.trim_matches('\''));
    let words: Vec<&str> = words.collect();
    for name in ["\"s\".\"x.y\"", "\"s\".\"x\".\"y\"", "\"s.x\""] {
        for option in ["encoding", "compression"] {
            let begin = format!("--{option}={name}=");
            assert_eq!(words.iter().filter(|word| word.starts_with(&begin)).count(), 1, "{begin}: {words:?}");
        }
    }
    success(&[&["rewrite", &input, &out], &words[4..]].concat());
    let done = json(&["optimize", &input, &out, "--overwrite", "--budget", "60s", "--compat", "latest"]);
    for report in [&done["columns"], &advice["columns"]] {
        assert_eq!(report.as_array().unwrap().len(), 3);
    }
    for column in done["columns"].as_array().unwrap() {
        let (predicted, got) = (column["predicted"].as_f64().unwrap(), column["got"].as_f64().unwrap());
        assert!((predicted - got).abs() <= (0.1 * got).max(512.0), "{column}");
    }
    let types = |options: &[&str]| -> Vec<String> {
        let told = json(&[&["stats", &input], options].concat());
        let columns = told["columns"].as_array().unwrap().iter();
        columns.map(|column| column["type"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(types(&[]), ["INT64", "STRING", "INT64"]);
    assert_eq!(types(&["--quick"]), ["INT64", "STRING", "INT64"]);
    assert_eq!(types(&["--columns", "\"s\".x.y"]), ["STRING"]);
    // One column of the three.
    for (name, at) in [("s.\"x.y\"", 0), ("\"s\".x.y", 1), ("\"s.x\"", 2)] {
        success(&["rewrite", &input, &out, "--overwrite", "--drop", name]);
        let left = |column: &serde_json::Value| column["values"] == 20_000;
        let report = json(&["rewrite", &input, &out, "--overwrite", "--drop", name]);
        assert_eq!(
            report["columns"].as_array().unwrap().iter().filter(|column| left(column)).count(),
            2,
            "{name}"
        );
        success(&["rewrite", &input, &out, "--overwrite", "--compression", &format!("{name}=gzip")]);
        let meta = json(&["meta", &out]);
        let columns = meta["row_groups"][0]["columns"].as_array().unwrap();
        let are_gzip: Vec<bool> = columns.iter().map(|column| column["codec"] == "GZIP").collect();
        assert_eq!(are_gzip, [at == 0, at == 1, at == 2], "{name}");
    }
}

/// With `s."x.y"`, `s.x.y` and a column named `s.x`: each option selects the one that is named.
#[test]
fn all_options_tell_names_with_dots_from_paths() {
    let folder = Folder::new("named_columns_everywhere");
    let field = |name: &str, array: &ArrayRef| Arc::new(Field::new(name, array.data_type().clone(), true));
    let inner: ArrayRef = {
        let y = longs([20, 10, 30]);
        Arc::new(StructArray::from(vec![(field("y", &y), y)]))
    };
    let xy = longs([2, 3, 1]);
    let outer: ArrayRef =
        Arc::new(StructArray::from(vec![(field("x.y", &xy), xy), (field("x", &inner), inner)]));
    let [parquet, arrow] = written(&folder, &[("s", outer), ("s.x", longs([6, 5, 4]))]);
    let out = folder.path("out.parquet");
    for (at, name) in [r#"s."x.y""#, r#""s"."x"."y""#, r#""s.x""#].into_iter().enumerate() {
        let is_it: Vec<bool> = (0..3).map(|column| column == at).collect();
        for input in [&parquet, &arrow] {
            let codec = format!("{name}=gzip");
            success(&["convert", input, &out, "--overwrite", "--compression", &codec, "--report", "none"]);
            let meta: serde_json::Value =
                serde_json::from_str(&success(&["meta", &out, "--format", "json"])).unwrap();
            let columns = meta["row_groups"][0]["columns"].as_array().unwrap();
            let are_gzip: Vec<bool> = columns.iter().map(|column| column["codec"] == "GZIP").collect();
            assert_eq!(are_gzip, is_it, "{name}");
            let sorted = |more: &[&str]| {
                let by = format!("{name}:desc");
                let rows = success(&[&["convert", input, "-", "--sort-by", &by], more].concat());
                rows.lines().next().unwrap_or_default().to_owned()
            };
            let first = [
                r#"{"s":{"x.y":3,"x":{"y":10}},"s.x":5}"#,
                r#"{"s":{"x.y":1,"x":{"y":30}},"s.x":4}"#,
                r#"{"s":{"x.y":2,"x":{"y":20}},"s.x":6}"#,
            ];
            assert_eq!(sorted(&[]), first[at], "{name}");
            if at < 2 {
                assert_eq!(
                    sorted(&["--columns", "\"s.x\""]),
                    format!("{{\"s.x\":{}}}", [5, 4][at]),
                    "{name}"
                );
            }
        }
        let rename = format!("{name}=new");
        success(&["rewrite", &parquet, &out, "--overwrite", "--rename", &rename, "--format", "json"]);
        let rows = success(&["head", &out, "-n", "1", "--format", "json"]);
        let renamed = [
            r#"{"s":{"new":2,"x":{"y":20}},"s.x":6}"#,
            r#"{"s":{"x.y":2,"x":{"new":20}},"s.x":6}"#,
            r#"{"s":{"x.y":2,"x":{"y":20}},"new":6}"#,
        ];
        assert_eq!(rows.trim_end(), renamed[at], "{name}");
        for option in ["--columns", "--column"] {
            let pages: serde_json::Value =
                serde_json::from_str(&success(&["pages", &parquet, option, name, "--format", "json"]))
                    .unwrap();
            let columns: std::collections::HashSet<_> =
                pages["pages"].as_array().unwrap().iter().map(|page| page["offset"].clone()).collect();
            let all: serde_json::Value =
                serde_json::from_str(&success(&["pages", &parquet, "--format", "json"])).unwrap();
            assert!(columns.len() < all["pages"].as_array().unwrap().len(), "{name}");
        }
        success(&["dictionary", &parquet, "--columns", name]);
    }
    for wrong in [r#"s."x"."z""#, r#""s"."x.z""#] {
        let (code, text) =
            everything(&["rewrite", &parquet, &out, "--overwrite", "--rename", &format!("{wrong}=new")]);
        assert!(code == Some(2) && text.contains("no field"), "{text}");
        let (code, text) =
            everything(&["convert", &parquet, &out, "--overwrite", "--encoding", &format!("{wrong}=PLAIN")]);
        assert!(code == Some(2) && text.contains("no column"), "{text}");
    }
    // In the order in which they are asked for.
    for input in [&parquet, &arrow] {
        for (columns, first) in [
            (r#""s.x",s."x.y""#, r#"{"s.x":6,"s":{"x.y":2}}"#),
            (r#""s.x" , "s"."x"."y""#, r#"{"s.x":6,"s":{"x":{"y":20}}}"#),
            ("s.x.y", r#"{"s":{"x.y":2,"x":{"y":20}}}"#),
        ] {
            let rows = success(&["convert", input, "-", "--columns", columns]);
            assert_eq!(rows.lines().next(), Some(first), "{input} {columns}");
        }
    }
    // Without quotes it is any of them.
    let (code, text) = everything(&["convert", &parquet, "-", "--sort-by", "s.x.y"]);
    assert!(code == Some(2) && text.contains("several columns are called"), "{text}");
    success(&["pages", &parquet, "--columns", r#"s.x.y,"s.x""#]);
}
