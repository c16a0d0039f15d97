//! VARIANT in text: the JSON that it is, shredded or not.

use crate::command::{Folder, failure, success};
use arrow_array::{ArrayRef, BinaryArray, Int64Array, RecordBatch, StringArray, StructArray};
use arrow_buffer::NullBuffer;
use arrow_schema::{DataType, Field, Schema};
use marquetry::variant::json;
use std::collections::HashMap;
use std::sync::Arc;

/// A Parquet file with a column `v` that is shredded as int64: 34, null, "n/a" in `value`, a NULL, and an object; beside it `id`.
fn file(folder: &Folder, damaged: bool) -> String {
    let texts = [None, Some("null"), Some("\"n/a\""), None, Some(r#"{"b": [1.50, true], "a": "x,\"y\""}"#)];
    let parsed = texts.map(|text| text.map(|text| json::parse(text).unwrap()));
    let metadata = parsed.iter().map(|one| one.as_ref().map_or(&[1_u8, 0, 0][..], |(metadata, _)| metadata));
    let mut values: Vec<Option<Vec<u8>>> =
        parsed.iter().map(|one| one.as_ref().map(|(_, value)| value.clone())).collect();
    if damaged {
        values[2] = Some(vec![0xff]);
    }
    let field = |name: &str, data_type: DataType, nullable| Arc::new(Field::new(name, data_type, nullable));
    let fields = vec![
        field("metadata", DataType::Binary, false),
        field("value", DataType::Binary, true),
        field("typed_value", DataType::Int64, true),
    ];
    let columns: Vec<ArrayRef> = vec![
        Arc::new(BinaryArray::from_iter_values(metadata)),
        Arc::new(BinaryArray::from_iter(values.iter().map(|value| value.as_deref()))),
        Arc::new(Int64Array::from(vec![Some(34), None, None, None, None])),
    ];
    let nulls = NullBuffer::from(vec![true, true, true, false, true]);
    let variants = StructArray::new(fields.clone().into(), columns, Some(nulls));
    let extension = HashMap::from([("ARROW:extension:name".to_owned(), "arrow.parquet.variant".to_owned())]);
    let variant = Field::new("v", DataType::Struct(fields.into()), true).with_metadata(extension);
    let schema = Arc::new(Schema::new(vec![Field::new("id", DataType::Utf8, false), variant]));
    let ids = Arc::new(StringArray::from(vec!["a", "b", "c", "d", "e"]));
    let batch = RecordBatch::try_new(schema.clone(), vec![ids, Arc::new(variants)]).unwrap();
    let path = folder.path(if damaged { "damaged.parquet" } else { "variants.parquet" });
    let mut file = marquetry::create(&path, schema).unwrap();
    file.write(&batch).unwrap();
    file.close().unwrap();
    path
}

#[test]
fn variants_are_json_in_text() {
    let folder = Folder::new("variants");
    let path = file(&folder, false);
    assert_eq!(
        success(&["cat", &path, "--format", "json"]),
        concat!(
            r#"{"id":"a","v":34}"#,
            "\n",
            r#"{"id":"b","v":null}"#,
            "\n",
            r#"{"id":"c","v":"n/a"}"#,
            "\n",
            r#"{"id":"d","v":null}"#,
            "\n",
            r#"{"id":"e","v":{"a":"x,\"y\"","b":[1.50,true]}}"#,
            "\n"
        )
    );
    let csv = folder.path("out.csv");
    success(&["convert", &path, &csv]);
    assert_eq!(
        std::fs::read_to_string(csv).unwrap(),
        concat!(
            "id,v\na,34\nb,null\nc,\"\"\"n/a\"\"\"\nd,\n",
            r#"e,"{""a"":""x,\""y\"""",""b"":[1.50,true]}""#,
            "\n"
        )
    );
    assert!(success(&["head", &path]).contains(r#"{"a":"x,\"y\"","b":[1.50,true]}"#));
    // The column itself stays as it is.
    let copy = folder.path("copy.parquet");
    success(&["convert", &path, &copy]);
    assert!(success(&["schema", &copy]).contains("typed_value"));
}

#[test]
fn json_becomes_variants() {
    let folder = Folder::new("json_variants");
    let rows = [
        r#"{"id":1,"v":1,"l":[{"x":2}]}"#,
        r#"{"id":2,"v":"x","l":[3,null]}"#,
        r#"{"id":3,"v":{"a":null,"b":[1.50,true,"q\"\u00e9"]},"l":[]}"#,
        r#"{"id":4,"v":null}"#,
        r#"{"id":5,"l":["t"]}"#,
        r#"{"id":6,"v":{},"l":[12345678901234567890123456789]}"#,
    ];
    let input = folder.write("in.jsonl", &(rows.join("\n") + "\n"));
    let (guessed, given) = (folder.path("guessed.parquet"), folder.path("given.parquet"));
    success(&["convert", &input, &guessed, "--mixed", "variant"]);
    let schema = "id int64, v variant, l list<variant>";
    success(&["convert", &input, &given, "--schema", schema]);
    let expected = [
        r#"{"id":1,"v":1,"l":[{"x":2}]}"#,
        r#"{"id":2,"v":"x","l":[3,null]}"#,
        r#"{"id":3,"v":{"a":null,"b":[1.50,true,"q\"é"]},"l":[]}"#,
        r#"{"id":4,"v":null,"l":null}"#,
        r#"{"id":5,"v":null,"l":["t"]}"#,
        r#"{"id":6,"v":{},"l":[12345678901234567890123456789]}"#,
    ];
    for file in [&guessed, &given] {
        assert_eq!(success(&["cat", file, "--format", "json"]), expected.join("\n") + "\n");
        assert!(success(&["schema", file]).contains("VARIANT"));
        success(&["verify", file, "--deep"]);
    }
    // What was not there is NULL, `null` is a variant; in CSV both stay what they are.
    let csv = folder.path("out.csv");
    success(&["convert", &given, &csv]);
    let text = std::fs::read_to_string(&csv).unwrap();
    assert_eq!((text.lines().nth(4).unwrap(), text.lines().nth(5).unwrap()), ("4,null,", r#"5,,"[""t""]""#));
    let back = folder.path("back.parquet");
    success(&["convert", &csv, &back, "--schema", schema]);
    for file in [&guessed, &given, &back] {
        assert_eq!(success(&["count", file, "--where", "v is null"]).trim(), "1");
    }
}

#[test]
fn what_no_variant_holds_is_an_error_with_its_line() {
    let folder = Folder::new("json_no_variants");
    for (row, part) in [
        (r#"{"v":1e999}"#, "no VARIANT"),
        (r#"{"v":{"a":1,"a":2}}"#, "no VARIANT"),
        (r#"{"w":1}"#, "not a column"),
        (r#"{}"#, "null"),
    ] {
        let input = folder.write("in.jsonl", &format!("{{\"v\":[]}}\n{row}\n"));
        let out = folder.path("out.parquet");
        let arguments = ["convert", &input, &out, "--schema", "v variant !", "--infer-rows", "1"];
        let (code, lines) = failure(&arguments);
        assert!(code == 1 && lines[0].contains(part) && lines[0].contains("line 2"), "{row}: {lines:?}");
    }
}

#[test]
fn a_damaged_variant_is_an_error() {
    let folder = Folder::new("damaged_variants");
    let (code, message) = failure(&["cat", &file(&folder, true), "--format", "json"]);
    assert_eq!(code, 1);
    assert!(message[0].contains("variant"), "{message:?}");
}

#[test]
fn paths_are_columns_and_conditions() {
    let folder = Folder::new("variant-paths");
    let events = folder.path("events.jsonl");
    let lines = [
        r#"{"id": 1, "v": {"user": {"id": 7}, "kind": "x"}}"#,
        r#"{"id": 2, "v": {"user": {"id": "seven"}, "kind": "y"}}"#,
        r#"{"id": 3, "v": {"user": {"id": null}}}"#,
        r#"{"id": 4}"#,
        r#"{"id": 5, "v": {"user": {"id": 9}, "kind": "x"}}"#,
    ];
    std::fs::write(&events, lines.join("\n")).unwrap();
    for shred in ["none", "{user: {id: bigint}, kind: text}"] {
        let path = folder.path("events.parquet");
        success(&[
            "convert",
            &events,
            &path,
            "--schema",
            "id int64, v variant",
            "--shred",
            shred,
            "--overwrite",
        ]);
        let columns = "v:user.id::bigint,id,v:user.id";
        let rows = [
            ("7", 1, "7"),
            ("null", 2, "\"seven\""),
            ("null", 3, "null"),
            ("null", 4, "null"),
            ("9", 5, "9"),
        ];
        let wanted = rows.map(|(cast, id, value)| {
            format!("{{\"v:user.id::bigint\":{cast},\"id\":{id},\"v:user.id\":{value}}}\n")
        });
        assert_eq!(success(&["cat", &path, "--format", "json", "--columns", columns]), wanted.concat());
        let count = |condition: &str| success(&["count", &path, "--where", condition]).trim().to_owned();
        assert_eq!(count("v:user.id::bigint > 5 and v:kind = 'x'"), "2");
        assert_eq!(count("v:user.id is variant null"), "1");
        assert_eq!(count("v:kind is missing"), "1");
        assert_eq!(count("v:kind is null"), "2");
        assert!(success(&["explain", &path, "--where", "v:user.id::bigint > 8"]).contains('1'));
        let copy = folder.path("copy.parquet");
        success(&["convert", &path, &copy, "--columns", columns, "--where", "id < 3", "--overwrite"]);
        let lines = success(&["cat", &copy, "--format", "json"]);
        assert!(lines.starts_with(r#"{"v:user.id::bigint":7,"id":1,"v:user.id":7}"#), "{lines}");
        let (_, error) = failure(&["head", &path, "--columns", "id:a"]);
        assert!(error.join("").contains("not a VARIANT"), "{error:?}");
    }
}

#[test]
fn paths_are_columns_of_tables_too() {
    let folder = Folder::new("variant_tables");
    let rows = ["{\"v\":{\"a\":1.25,\"b\":\"x\"}}", "{\"v\":{\"a\":\"no\"}}"];
    std::fs::create_dir_all(folder.path("table")).unwrap();
    for (i, shredding) in [None, Some("v={a: decimal(9, 2)}")].into_iter().enumerate() {
        let input = folder.write(&format!("{i}.jsonl"), &(rows.join("\n") + "\n"));
        let plain = folder.path(&format!("plain{i}.parquet"));
        success(&["convert", &input, &plain, "--schema", "v variant"]);
        let file = folder.path(&format!("table/{i}.parquet"));
        match shredding {
            Some(shredding) => success(&["rewrite", &plain, &file, "--shred", shredding]),
            None => success(&["convert", &plain, &file]),
        };
    }
    let table = folder.path("table");
    let columns = "v:a::decimal(9,2),v:b::text";
    let expected = concat!(
        r#"{"v:a::decimal(9,2)":1.25,"v:b::text":"x"}"#,
        "\n",
        r#"{"v:a::decimal(9,2)":null,"v:b::text":null}"#,
        "\n"
    );
    let found = success(&["cat", &table, "--columns", columns, "--format", "json"]);
    assert_eq!(found, expected.repeat(2));
    let found = success(&["count", &table, "--where", "v:a::decimal(9,2) > 1 or v:b is missing"]);
    assert!(found.contains('4'), "{found}");
    // A path needs fewer columns than the whole.
    let shredded = folder.path("table/1.parquet");
    let bytes = |columns: &str| {
        let told = success(&[
            "explain",
            &shredded,
            "--where",
            "v:b is missing",
            "--columns",
            columns,
            "--format",
            "json",
        ]);
        let told: serde_json::Value = serde_json::from_str(&told).unwrap();
        told["stages"][0]["bytes"].as_u64().unwrap()
    };
    assert!(bytes("v:c") < bytes("v"), "{} {}", bytes("v:c"), bytes("v"));
    success(&["explain", &table, "--where", "v:b is missing", "--columns", columns]);
}

#[test]
fn a_shape_and_what_it_costs_are_told() {
    let folder = Folder::new("variant_shapes");
    let rows =
        (0..500).map(|i| format!("{{\"v\":{{\"a\":{i},\"b\":\"x{i}\",\"c\":[{i}]}}}}\n")).collect::<String>();
    let (input, path) = (folder.write("in.jsonl", &rows), folder.path("out.parquet"));
    success(&["convert", &input, &path, "--schema", "v variant", "--shred", "{a: bigint, b: text}"]);
    let shape = "{a: int64, b: string}";
    let schema = success(&["schema", &path]);
    assert!(schema.contains(&format!("VARIANT v shredded as {shape}")), "{schema}");
    let told: serde_json::Value =
        serde_json::from_str(&success(&["schema", &path, "--format", "json"])).unwrap();
    assert_eq!(told["shredding"], serde_json::json!([{"column": "v", "shape": shape}]));
    let told: serde_json::Value =
        serde_json::from_str(&success(&["size", &path, "--format", "json"])).unwrap();
    let parts = &told["variants"][0];
    let sum = ["names", "binary", "shredded"].iter().map(|part| parts[*part].as_u64().unwrap()).sum::<u64>();
    assert_eq!((&parts["column"], sum), (&"v".into(), told["compressed_size"].as_u64().unwrap()));
    assert!(
        parts["binary"].as_u64() > Some(0) && parts["shredded"].as_u64() > parts["names"].as_u64(),
        "{parts}"
    );
    assert!(success(&["size", &path]).contains("VARIANT v: "));
    // What is not shredded has no shape.
    success(&["convert", &input, &path, "--schema", "v variant", "--overwrite"]);
    assert!(!success(&["schema", &path]).contains("shredded"));
}

#[test]
fn names_in_quotes_may_have_commas_and_dots() {
    let folder = Folder::new("odd_names");
    let (input, path) = (folder.write("in.csv", "\"a,b\",c.d,e\n1,2,3\n4,5,6\n"), folder.path("out.parquet"));
    success(&["convert", &input, &path]);
    let names = r#""a,b","c.d""#;
    let told: serde_json::Value =
        serde_json::from_str(&success(&["stats", &path, "--columns", names, "--format", "json"])).unwrap();
    let columns: Vec<_> =
        told["columns"].as_array().unwrap().iter().map(|column| &column["column"]).collect();
    assert_eq!(columns, ["a,b", "c.d"]);
    let other = folder.path("other.parquet");
    success(&["rewrite", &path, &other, "--columns", names]);
    let header = |path: &str| success(&["cat", path, "--format", "json"]).lines().next().unwrap().to_owned();
    assert_eq!(header(&other), r#"{"a,b":1,"c.d":2}"#);
    success(&["rewrite", &path, &other, "--drop", r#""a,b""#, "--overwrite"]);
    assert_eq!(header(&other), r#"{"c.d":2,"e":3}"#);
    success(&["diff", &path, &path, "--key", r#""a,b""#, "--columns", r#""a,b",e"#]);
}

/// A path may lead to the value itself, whatever it is and however it is shredded.
#[test]
fn values_themselves_are_asked() {
    let folder = Folder::new("variant-itself");
    let values = [
        "5",
        "\"abc\"",
        "null",
        "",
        "true",
        "5.5",
        r#"{"a":1,"$":2}"#,
        "[1,2]",
        "\"5\"",
        "-7",
        "9007199254740993",
    ];
    let line = |(id, value): (usize, &&str)| match value.is_empty() {
        true => format!("{{\"id\":{id}}}\n"),
        false => format!("{{\"id\":{id},\"v\":{value}}}\n"),
    };
    let text = folder.write("v.jsonl", &values.iter().enumerate().map(line).collect::<String>());
    let files = ["bigint", "double", "string", "{a: bigint}", "[bigint]", ""].map(|shape| {
        let file = folder.path(&format!("by{}.parquet", shape.replace([':', ' ', '{', '}', '[', ']'], "_")));
        let shred = format!("v={shape}");
        let shred = if shape.is_empty() { Vec::new() } else { vec!["--shred", &shred] };
        let convert = ["convert", &text, &file, "--schema", "id int64 !, v variant", "--report", "none"];
        success(&[&convert[..], &shred].concat());
        file
    });
    for (condition, expected) in [
        ("v::bigint = 5", &[0][..]),
        ("v:$ = 5", &[0]),
        ("v:$::bigint < 0 or v::text = 'abc'", &[1, 9]),
        ("v::double > 5", &[5, 10]),
        ("v::bigint > 9007199254740992", &[10]),
        ("v::text = '5'", &[0, 8]),
        ("v:$ = '5'", &[8]),
        ("v:$ = true", &[4]),
        ("v:$ like 'a%'", &[1]),
        ("v::bigint in (5, -7)", &[0, 9]),
        ("not v::bigint = 5", &[9, 10]),
        ("v:$ is variant null", &[2]),
        ("v:$ is null", &[3]),
        ("v:$ is not null and not v:$ is variant null and v::bigint is null", &[1, 4, 5, 6, 7, 8]),
        ("v:$ is missing", &[]),
        ("v:$.a = 1", &[6]),
        ("v:\"$\" = 2", &[6]),
        ("v:$[0] = 1", &[7]),
    ] {
        let lines: String = expected.iter().map(|id| format!("{{\"id\":{id}}}\n")).collect();
        for file in &files {
            let found = success(&["cat", file, "--columns", "id", "--format", "json", "--where", condition]);
            assert_eq!(found, lines, "{condition} in {file}");
        }
        let all: Vec<&str> = files.iter().map(String::as_str).collect();
        let arguments = ["--columns", "id", "--format", "json", "--where", condition];
        let found = success(&[&["cat"][..], &all, &arguments].concat());
        assert_eq!(found, lines.repeat(files.len()), "{condition}");
    }
    let shown = success(&["cat", &files[0], "--columns", "v::bigint", "--format", "json", "--limit", "2"]);
    assert_eq!(shown, "{\"v::bigint\":5}\n{\"v::bigint\":null}\n");
    let (_, told) = failure(&["cat", &files[0], "--where", "v = 5"]);
    assert!(told[0].contains("by v:$ = 'x' or v::bigint > 5"), "{told:?}");
}
