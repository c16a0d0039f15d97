//! Columns of FILE, resolved to the bytes that they refer to, which only allowed sources provide.

use crate::command::{Folder, failure, success};
use arrow_array::builder::{BinaryBuilder, Int64Builder, StringBuilder};
use arrow_array::{Array, ArrayRef, Int64Array, RecordBatch, StructArray};
use arrow_schema::{DataType, Field, Fields, Schema};
use marquetry_file_refs::{Algorithm, FileRefBuilder, Stored};
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

/// uri, offset, size, checksum, inline.
type Row = (Option<&'static str>, Option<i64>, Option<i64>, Option<&'static str>, Option<&'static [u8]>);

/// A column `f` of FILE, and one `id`.
fn file(path: &str, rows: &[Row]) {
    let mut texts = [StringBuilder::new(), StringBuilder::new()];
    let mut numbers = [Int64Builder::new(), Int64Builder::new()];
    let mut inline = BinaryBuilder::new();
    for (uri, offset, size, checksum, bytes) in rows {
        texts[0].append_option(*uri);
        texts[1].append_option(*checksum);
        numbers[0].append_option(*offset);
        numbers[1].append_option(*size);
        inline.append_option(*bytes);
    }
    let field = |name: &str, of: DataType| Field::new(name, of, true);
    let fields: Fields = vec![
        field("uri", DataType::Utf8),
        field("checksum", DataType::Utf8),
        field("offset", DataType::Int64),
        field("size", DataType::Int64),
        field("inline", DataType::Binary),
    ]
    .into();
    let mut columns: Vec<ArrayRef> = texts.iter_mut().map(|text| Arc::new(text.finish()) as _).collect();
    columns.extend(numbers.iter_mut().map(|number| Arc::new(number.finish()) as ArrayRef));
    columns.push(Arc::new(inline.finish()));
    write(path, StructArray::new(fields, columns, None));
}

fn write(path: &str, files: StructArray) {
    let extension = HashMap::from([("ARROW:extension:name".to_owned(), "marquetry.file".to_owned())]);
    let of_files = Field::new("f", DataType::Struct(files.fields().clone()), true).with_metadata(extension);
    let ids: ArrayRef = Arc::new(Int64Array::from_iter_values(0..files.len() as i64));
    let schema = Arc::new(Schema::new(vec![Field::new("id", DataType::Int64, false), of_files]));
    let batch = RecordBatch::try_new(schema.clone(), vec![ids, Arc::new(files)]).unwrap();
    let mut file = marquetry::create(path, schema).unwrap();
    file.write(&batch).unwrap();
    file.close().unwrap();
}

#[test]
fn references_are_bytes_on_request() {
    let folder = Folder::new("file_refs");
    std::fs::create_dir_all(folder.path("images")).unwrap();
    folder.write("images/a b.txt", "hello");
    let path = folder.path("files.parquet");
    file(
        &path,
        &[
            (None, None, None, None, Some(b"inline")),
            (None, Some(0), Some(4), Some("CRC32:9b5b7ec6"), None),
            (Some("images/a%20b.txt"), Some(1), Some(3), None, None),
        ],
    );
    assert!(success(&["schema", &path]).contains("(FILE)"), "{}", success(&["schema", &path]));
    assert_eq!(
        success(&["verify", "--deep", &path, "--ignore", "file-checksum"]).matches("file-").count(),
        0
    );
    // Without the option no file is opened.
    let plain = success(&["cat", &path, "--format", "json"]);
    assert!(plain.contains("images/a%20b.txt"), "{plain}");
    let (code, lines) = failure(&["cat", &path, "--format", "json", "--resolve", "--where", "id = 2"]);
    assert!(
        code == 1 && lines.join("").contains("not allowed") && lines.join("").contains("in row 0"),
        "{lines:?}"
    );
    let allowed = folder.path("images");
    let shown =
        success(&["cat", &path, "--format", "json", "--resolve", "--allow", &allowed, "--where", "id <> 1"]);
    assert!(shown.contains("ell") || shown.contains("656c6c") || shown.contains("ZWxs"), "{shown}");
    // The first four bytes are PAR1, whose checksum is another.
    let (_, lines) = failure(&["cat", &path, "--resolve", "--where", "id = 1"]);
    assert!(lines.join("").contains("the checksum is CRC32:"), "{lines:?}");
    let limited = ["cat", &path, "--resolve", "--resolve-limit", "3", "--where", "id = 0"];
    assert!(failure(&limited).1.join("").contains("3 at most"));
}

/// A file whose second value leads to the bytes of its first, wherever these are in it.
fn file_that_refers_to_itself(path: &str, bytes: &'static [u8], uri: &'static str) {
    let mut offset = 4;
    for _ in 0..20 {
        let own = (None, Some(offset), Some(bytes.len() as i64), None, None);
        file(path, &[(None, None, None, None, Some(bytes)), own, (Some(uri), None, None, None, None)]);
        let stored = std::fs::read(path).unwrap();
        let found = stored.windows(bytes.len()).position(|window| window == bytes).unwrap() as i64;
        if std::mem::replace(&mut offset, found) == found {
            return;
        }
    }
    panic!("the bytes are never at {offset}");
}

#[test]
fn rows_of_many_files_refer_to_their_own() {
    let folder = Folder::new("file_refs_many");
    for part in ["k=1", "k=2"] {
        std::fs::create_dir_all(folder.path(part)).unwrap();
    }
    let (first, second) = (folder.path("k=1/first.parquet"), folder.path("k=2/second.parquet"));
    file_that_refers_to_itself(&first, b"bytes of the first file", "note.txt");
    file_that_refers_to_itself(&second, b"what stands in another one", "note.txt");
    folder.write("k=1/note.txt", "beside the first");
    folder.write("k=2/note.txt", "beside the second");
    let root = folder.path("");
    let alone = |path: &str| {
        success(&["cat", path, "--columns", "id,f", "--format", "json", "--resolve", "--allow", &root])
    };
    let (of_first, of_second) = (alone(&first), alone(&second));
    let lines: Vec<&str> = of_first.lines().collect();
    assert_eq!(lines[0].replace("\"id\":0", "\"id\":1"), lines[1], "{of_first}");
    assert_ne!(of_first, of_second);
    let together = |files: &[&str], more: &[&str]| {
        let given = ["--columns", "id,f", "--format", "json", "--resolve", "--allow", &root];
        success(&[&["cat"], files, &given, more].concat())
    };
    assert_eq!(together(&[&first, &second], &[]), format!("{of_first}{of_second}"));
    assert_eq!(together(&[&second, &first], &[]), format!("{of_second}{of_first}"));
    assert_eq!(together(&[&root], &[]), format!("{of_first}{of_second}"));
    let some = together(&[&root], &["--where", "id = 1"]);
    assert_eq!(some, format!("{}\n{}\n", lines[1], of_second.lines().nth(1).unwrap()));
    // An error about a forbidden source names the file that refers to it.
    let notes = folder.path("k=1");
    let (_, lines) = failure(&["cat", &root, "--resolve", "--allow", &notes, "--format", "json"]);
    assert!(lines.join(" ").contains("second.parquet") && lines.join(" ").contains("in row 5"), "{lines:?}");
}

#[test]
fn nothing_leads_out_of_what_is_allowed() {
    let folder = Folder::new("file_refs_out");
    std::fs::create_dir_all(folder.path("images")).unwrap();
    folder.write("secret.txt", "secret");
    let uris = [
        "../secret.txt",
        "images/../../secret.txt",
        "file:///etc/hostname",
        "/etc/hostname",
        "http://127.0.0.1:1/a",
    ];
    for (i, uri) in uris.into_iter().enumerate() {
        let path = folder.path(&format!("{i}.parquet"));
        file(&path, &[(Some(uri), None, None, None, None)]);
        let (_, lines) = failure(&["cat", &path, "--resolve", "--allow", &folder.path("images")]);
        let line = lines.join("");
        assert!(line.contains("not allowed; in row 0; --allow names what may be read"), "{uri}: {lines:?}");
    }
}

#[test]
fn columns_are_made_of_paths() {
    let folder = Folder::new("file_refs_made");
    std::fs::create_dir_all(folder.path("images")).unwrap();
    let (a, b) = (folder.write("images/a.txt", "first"), folder.write("images/b.txt", "second"));
    let mut files = FileRefBuilder::new(Algorithm::Sha256);
    files.append_file(Path::new(&a), "images/a.txt", Some("text/plain"), Stored::Inline).unwrap();
    files.append_file(Path::new(&b), "images/b.txt", None, Stored::ByReference).unwrap();
    files.append_null();
    let path = folder.path("files.parquet");
    write(&path, files.finish());
    assert!(success(&["schema", &path]).contains("(FILE)"));
    success(&["verify", "--deep", &path]);
    let all = ["cat", &path, "--resolve", "--allow", &folder.path("images"), "--format", "json"];
    assert_eq!(success(&all).lines().count(), 3);
    // A changed file is not the one that was referred to.
    folder.write("images/b.txt", "changed");
    let (_, lines) = failure(&all);
    assert!(lines.join("").contains("in row 1"), "{lines:?}");
    // A copy stays FILE.
    let copy = folder.path("copy.parquet");
    success(&["convert", &path, &copy]);
    assert!(success(&["schema", &copy]).contains("(FILE)"));
}

#[test]
fn columns_of_paths_become_files() {
    let folder = Folder::new("file_refs_of_paths");
    std::fs::create_dir_all(folder.path("images/a b")).unwrap();
    std::fs::write(folder.path("images/one.txt"), "first").unwrap();
    std::fs::write(folder.path("images/a b/50%?.txt"), "second").unwrap();
    std::fs::write(folder.path("outside.txt"), "other").unwrap();
    let list = folder.path("images/list.csv");
    std::fs::write(&list, "id,f\n1,one.txt\n2,a b/50%?.txt\n3,\n").unwrap();
    let (inline, beside, elsewhere) = (
        folder.path("inline.parquet"),
        folder.path("images/beside.parquet"),
        folder.path("elsewhere.parquet"),
    );
    success(&["convert", &list, &inline, "--file", "f"]);
    assert!(success(&["schema", &inline]).contains("(FILE)"), "{}", success(&["schema", &inline]));
    let shown = |path: &str, allow: &[&str]| {
        success(&[&["cat", path, "--columns", "f", "--format", "json", "--resolve"], allow].concat())
    };
    let expected = "{\"f\":\"first\"}\n{\"f\":\"second\"}\n{\"f\":null}\n";
    // Bytes of text are shown in some form or other: the same for all.
    let of_inline = shown(&inline, &[]);
    assert_eq!(of_inline.lines().count(), expected.lines().count(), "{of_inline}");
    success(&["convert", &list, &beside, "--file", "f=reference"]);
    success(&["convert", &list, &elsewhere, "--file", "f=reference"]);
    let images = folder.path("images");
    assert_eq!(shown(&beside, &["--allow", &images]), of_inline);
    assert_eq!(shown(&elsewhere, &["--allow", &images]), of_inline);
    let (_, lines) = failure(&["cat", &beside, "--resolve"]);
    assert!(lines.join(" ").contains("not allowed"), "{lines:?}");
    success(&["verify", "--deep", &inline]);
    // The checksum reveals a changed file.
    std::fs::write(folder.path("images/one.txt"), "fresh").unwrap();
    let (_, lines) = failure(&["cat", &beside, "--resolve", "--allow", &images]);
    assert!(lines.join(" ").contains("checksum"), "{lines:?}");
    // What leads out of the directory, or nowhere, is not read.
    for (row, said) in [("../outside.txt", "--file-root"), ("none.txt", "none.txt"), ("a b", "no plain file")]
    {
        std::fs::write(&list, format!("id,f\n1,{row}\n")).unwrap();
        let (_, lines) = failure(&["convert", &list, &inline, "--file", "f", "--overwrite"]);
        assert!(lines.join(" ").contains(said), "{row}: {lines:?}");
    }
    std::fs::write(&list, "id,f\n1,outside.txt\n").unwrap();
    let root = folder.path("");
    success(&["convert", &list, &inline, "--file", "f", "--file-root", &root, "--overwrite"]);
    for (arguments, said) in [
        (vec!["--file", "g"], "no column g"),
        (vec!["--file", "id"], "no paths"),
        (vec!["--file", "f", "--to", "csv"], "for Parquet"),
        (vec!["--file", "f=other"], "inline"),
    ] {
        let refused = folder.path("refused.parquet");
        let (_, lines) = failure(&[&["convert", &list, &refused], &arguments[..]].concat());
        assert!(lines.join(" ").contains(said), "{lines:?}");
    }
}
