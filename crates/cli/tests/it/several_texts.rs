//! Several files of CSV or JSON Lines as one table.

use crate::command::{Folder, failure, success, with_input};

#[test]
fn types_are_those_of_all_files() {
    let folder = Folder::new("several-texts");
    let one = folder.write("1.csv", "id,x,day\n1,2,2024-01-31\n");
    let two = folder.gzip("2.csv.gz", "id;x;day\n3;0.5;\n4;;soon\n");
    let expected = concat!(
        "{\"id\":1,\"x\":2.0,\"day\":\"2024-01-31\"}\n",
        "{\"id\":3,\"x\":0.5,\"day\":null}\n{\"id\":4,\"x\":null,\"day\":\"soon\"}\n"
    );
    let pattern = folder.path("*.csv*");
    for inputs in [&[&*one, &*two, "--from", "csv"][..], &[&pattern, "--from", "csv"]] {
        for rows in ["1", "all"] {
            let converted = [&["convert"], inputs, &["-", "--to", "jsonl", "--infer-rows", rows]].concat();
            match rows {
                "all" => assert_eq!(success(&converted), expected, "{inputs:?}"),
                // The second row of the second file.
                _ => {
                    let said = format!("marquetry: {two}: line 3, column day: \"soon\" is not a valid ");
                    let (code, lines) = failure(&converted);
                    assert!(code == 1 && lines[0].starts_with(&said), "{lines:?}");
                }
            }
        }
    }
    let limited = success(&["convert", &one, &one, "-", "--to", "csv", "--offset", "1", "--columns", "id"]);
    assert_eq!(limited, "id\n1\n");
    let out = folder.path("out.parquet");
    success(&["convert", &one, &one, &out, "--report", "none", "--sort-by", "id"]);
    assert_eq!(success(&["count", &out]), "2\n");
    // The output may not be one of the inputs.
    let (code, lines) = failure(&["convert", &folder.path("?.csv"), &one, "--overwrite"]);
    assert!(code == 2 && lines[0].contains("is the file that is read"), "{lines:?}");
}

#[test]
fn lines_of_several_files_have_the_members_of_all() {
    let folder = Folder::new("several-lines");
    let one = folder.write("1.jsonl", "{\"a\":1}\n{\"a\":2}\n");
    let two = folder.write("2.jsonl", "[{\"b\":{\"c\":1.5},\"a\":3}]");
    let expected = "{\"a\":1,\"b\":null}\n{\"a\":2,\"b\":null}\n{\"a\":3,\"b\":{\"c\":1.5}}\n";
    assert_eq!(success(&["convert", &one, &two, "-"]), expected);
    assert_eq!(success(&["convert", &folder.path("*.jsonl"), "-", "--infer-rows", "all"]), expected);
    let also = with_input(&["convert", &one, "-", "-", "--from", "jsonl"], "{\"a\":4}\n");
    assert_eq!(also, "{\"a\":1}\n{\"a\":2}\n{\"a\":4}\n");
    let bad = folder.write("3.jsonl", "{\"a\":1}\n{\"a\":\n");
    let (code, lines) = failure(&["convert", &one, &bad, "-", "--infer-rows", "1"]);
    assert!(code == 1 && lines[0].starts_with(&format!("marquetry: {bad}: line 2: ")), "{lines:?}");
}

#[test]
fn what_differs_is_told() {
    let folder = Folder::new("several-other");
    let (csv, lines) = (folder.write("a.csv", "a,b\n1,2\n"), folder.write("a.jsonl", "{\"a\":1}\n"));
    let (other, fewer) = (folder.write("b.csv", "a,c\n1,2\n"), folder.write("c.csv", "a\n1\n"));
    std::fs::create_dir(folder.path("year=2024")).expect("a directory");
    let inside = folder.write("year=2024/a.csv", "a,b\n1,2\n");
    let said = |arguments: &[&str]| {
        let (code, lines) = failure(&[&["convert"], arguments, &["-", "--to", "jsonl"]].concat());
        assert_eq!(lines.len(), 1, "{lines:?}");
        (code, lines[0].clone())
    };
    let differs = |file: &str, column: u32, name: &str, first: &str| {
        let same = "files that are one table have the same";
        (1, format!("marquetry: {file}: column {column} is {name}, and {first} in {csv}: {same}"))
    };
    assert_eq!(said(&[&csv, &other]), differs(&other, 2, "\"c\"", "\"b\""));
    assert_eq!(said(&[&csv, &fewer]), differs(&fewer, 2, "none", "\"b\""));
    let one_kind = "files that are read as one table are all Parquet, all CSV or all JSON Lines";
    assert_eq!(said(&[&csv, &lines]), (2, format!("marquetry: {lines}: {one_kind}")));
    let none = folder.path("no*.csv");
    assert_eq!(said(&[&none]), (1, format!("marquetry: {none}: no file has such a name")));
    assert!(
        said(&[&csv, &csv, "--union-by-name"]).1.contains("--union-by-name and --partition-type are for")
    );
    // The partition column, which Parquet files would get, is not dropped silently.
    let partitions = folder.path("*/*.csv");
    let (code, line) = said(&[&partitions]);
    assert!(
        code == 2 && line.starts_with(&format!("marquetry: {inside}: directories called key=value")),
        "{line}"
    );
    let plain = success(&["convert", &partitions, "-", "--to", "jsonl", "--no-partitions"]);
    assert_eq!(plain, "{\"a\":1,\"b\":2}\n");
}
