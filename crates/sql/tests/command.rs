//! The command as a process: statements in, rows out.

#[path = "command/files.rs"]
mod files;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use tempfile::tempdir;

fn wines() -> String {
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/wines.parquet").to_owned()
}

fn sql(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_marquetry-sql")).args(arguments).stdin(Stdio::null()).output().unwrap()
}

/// What a call that works writes.
fn stdout(arguments: &[&str]) -> String {
    let output = sql(arguments);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// The exit code and the message of a call that fails.
fn failure(arguments: &[&str]) -> (i32, String) {
    let output = sql(arguments);
    assert_eq!(String::from_utf8_lossy(&output.stdout), "", "{arguments:?}");
    (output.status.code().unwrap(), String::from_utf8(output.stderr).unwrap())
}

fn text(path: &Path) -> String {
    path.display().to_string()
}

#[test]
fn rows_have_the_format_that_is_asked_for() {
    let count = format!("select count(*) as n, 'a\u{1b}b' as t, null as x from '{}'", wines());
    assert_eq!(
        stdout(&[&count]),
        "+-----+----------+------+\n|   n | t        | x    |\n+=======================+\n| 200 | a\\u{1b}b | NULL |\n+-----+----------+------+\n"
    );
    assert_eq!(stdout(&[&count, "--format", "csv"]), "n,t,x\n200,a\u{1b}b,\n");
    assert_eq!(stdout(&[&count, "--format", "jsonl"]), "{\"n\":200,\"t\":\"a\\u001bb\",\"x\":null}\n");
    assert_eq!(stdout(&["select 1 as a where false", "--format", "csv"]), "a\n");
    assert_eq!(stdout(&["select 1 as a where false", "--format", "jsonl"]), "");
}

#[test]
fn values_of_extension_types_are_shown_as_what_they_mean() {
    let folder = tempdir().unwrap();
    let file = text(&folder.path().join("typed.parquet"));
    let typed = |value: &str, name: &str| format!("with_metadata({value}, 'ARROW:extension:name', '{name}')");
    let copy = format!(
        "copy (select {} as u, {} as j, {} as g, json_to_variant('{{\"a\":[1]}}') as v) to '{file}'",
        typed("arrow_cast(X'00112233445566778899aabbccddeeff', 'FixedSizeBinary(16)')", "arrow.uuid"),
        typed("'[1]'", "arrow.json"),
        typed("X'0101000000000000000000f03f0000000000000040'", "geoarrow.wkb"),
    );
    stdout(&[&copy]);
    let again = text(&folder.path().join("again.parquet"));
    stdout(&[&format!(
        "copy (select * from '{file}' union all select * from '{file}' where u is null) to '{again}'"
    )]);
    for file in [&file, &again] {
        let query = format!("select * from '{file}'");
        let table = stdout(&[&query]);
        for shown in ["00112233-4455-6677-8899-aabbccddeeff", "[1]", "POINT (1 2)", "{\"a\":[1]}"] {
            assert!(table.contains(&format!("| {shown} ")), "{shown}: {table}");
        }
        assert_eq!(
            stdout(&[&query, "--format", "csv"]),
            "u,j,g,v\n00112233-4455-6677-8899-aabbccddeeff,[1],POINT (1 2),\"{\"\"a\"\":[1]}\"\n"
        );
        let line = stdout(&[&query, "--format", "jsonl"]);
        assert!(line.contains("\"u\":\"00112233-4455-6677-8899-aabbccddeeff\""), "{line}");
        assert!(line.contains("\"v\":{\"a\":[1]}"), "{line}");
    }
}

#[test]
fn rows_go_to_files() {
    let folder = tempdir().unwrap();
    let query = format!("select name, year from '{}' order by name limit 7", wines());
    for name in ["out.parquet", "out.arrow", "out.csv", "out.jsonl"] {
        let path = folder.path().join(name);
        assert_eq!(stdout(&[&query, "-o", &text(&path)]), "");
        let table = format!("t={}", text(&path));
        assert_eq!(
            stdout(&["-t", &table, "select count(*) as n from t", "--format", "csv"]),
            "n\n7\n",
            "{name}"
        );
    }
    let odd = folder.path().join("no_extension");
    stdout(&[&query, "-o", &text(&odd), "--format", "parquet"]);
    assert!(std::fs::read(&odd).unwrap().ends_with(b"PAR1"));
    let none = folder.path().join("none.csv");
    let (code, message) = failure(&["select 1/0 as a", "-o", &text(&none)]);
    assert_eq!(code, 1, "{message}");
    assert!(!none.exists());
    let (code, message) = failure(&["select 1; select 2", "-o", &text(&none)]);
    assert_eq!(code, 2);
    assert!(message.contains("give one statement that has rows"), "{message}");
}

#[test]
fn files_are_replaced_only_when_that_is_said() {
    let folder = tempdir().unwrap();
    for name in ["rows.csv", "rows.parquet", "rows.arrow"] {
        let file = text(&folder.path().join(name));
        std::fs::write(&file, "mine").unwrap();
        let (code, message) = failure(&["select 1 as n", "-o", &file]);
        assert_eq!(code, 2);
        assert!(message.contains("already exists; use --overwrite to replace it"), "{message}");
        assert_eq!(std::fs::read(&file).unwrap(), b"mine");
        stdout(&["select 1 as n", "-o", &file, "--overwrite"]);
        assert_ne!(std::fs::read(&file).unwrap(), b"mine");
    }
    let (code, message) = failure(&["select 1", "-o", &text(&folder.path().join("rows.xlsx"))]);
    assert_eq!(code, 2);
    assert!(message.contains("give one with --format"), "{message}");
}

#[test]
fn nested_columns_and_dictionaries_are_written() {
    let query = "select [1, 2] as l, named_struct('a', 'x\"y', 'b', null) as s";
    assert_eq!(
        stdout(&[query, "--format", "csv"]),
        "l,s\n\"[1,2]\",\"{\"\"a\"\":\"\"x\\\"\"y\"\",\"\"b\"\":null}\"\n"
    );
    assert_eq!(stdout(&[query, "--format", "jsonl"]), "{\"l\":[1,2],\"s\":{\"a\":\"x\\\"y\",\"b\":null}}\n");
    let folder = tempdir().unwrap();
    let file = text(&folder.path().join("d.arrow"));
    // Several batches, each with a dictionary of its own.
    let query = format!(
        "set datafusion.execution.batch_size = 16; select arrow_cast(name, 'Dictionary(Int32, Utf8)') as d from '{}'",
        wines()
    );
    let count = format!("select count(*) as n, arrow_typeof(min(d)) as t from '{file}'");
    stdout(&[&query, "-o", &file]);
    assert_eq!(stdout(&[&count, "--format", "csv"]), "n,t\n200,Utf8\n");
    // By a statement, and below other columns.
    let nested = format!(
        "set datafusion.execution.batch_size = 16; copy (select d, {{x: d}} as s, [d] as l, 1 as one from \
         (select arrow_cast(name, 'Dictionary(Int32, Utf8)') as d from '{}')) to '{file}'",
        wines()
    );
    stdout(&[&nested]);
    assert_eq!(stdout(&[&count, "--format", "csv"]), "n,t\n200,Utf8\n");
    let types =
        format!("select count(s['x']) as n, min(l[1]) = min(d) as same, sum(one) as ones from '{file}'");
    assert_eq!(stdout(&[&types, "--format", "csv"]), "n,same,ones\n200,true,200\n");
}

#[test]
fn whoever_reads_may_leave() {
    for format in ["csv", "jsonl", "arrow", "table"] {
        let mut child = Command::new(env!("CARGO_BIN_EXE_marquetry-sql"))
            .args(["select * from generate_series(1, 300000)", "--format", format])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let done = child.wait_with_output().unwrap();
        // As `cat` ends: a script that was to do more does not take it for done.
        #[cfg(unix)]
        assert_eq!(std::os::unix::process::ExitStatusExt::signal(&done.status), Some(13), "{format}");
        assert!(!done.status.success() && done.stderr.is_empty(), "{format}: {done:?}");
    }
}

#[test]
fn scripts_have_many_statements() {
    let folder = tempdir().unwrap();
    let file = folder.path().join("script.sql");
    let script = format!(
        "-- a comment; with a semicolon\ncreate external table w stored as parquet location '{}';\nset datafusion.execution.batch_size = 10;\n\
         select count(*) as n from w;\nselect ';' as s;",
        wines()
    );
    std::fs::write(&file, &script).unwrap();
    let expected = "n\n200\ns\n;\n";
    assert_eq!(stdout(&["-f", &text(&file), "--format", "csv"]), expected);
    let mut child = Command::new(env!("CARGO_BIN_EXE_marquetry-sql"))
        .args(["--format", "csv"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(script.as_bytes()).unwrap();
    assert_eq!(String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap(), expected);
}

#[test]
fn plans_are_shown() {
    let query = format!("select name from '{}' where year > 2010", wines());
    let plan = stdout(&[&query, "--explain", "--format", "csv"]);
    assert!(plan.contains("reader=marquetry") && !plan.contains("FilterExec"), "{plan}");
    let cost = stdout(&[&query, "--explain=analyze", "--format", "csv"]);
    assert!(cost.contains("bytes_scanned="), "{cost}");
}

#[test]
fn patterns_and_limits() {
    let folder = tempdir().unwrap();
    for name in ["a.parquet", "b.parquet"] {
        std::fs::copy(wines(), folder.path().join(name)).unwrap();
    }
    let folder = text(folder.path());
    let query = format!("select count(*) as n from '{folder}/*.parquet'");
    assert_eq!(stdout(&[&query, "--format", "csv", "--threads", "1"]), "n\n400\n");
    let sort = format!("select * from '{folder}/*.parquet' order by name, year");
    let (code, message) = failure(&[&sort, "--memory-limit", "1kb", "--spill-dir", &folder]);
    assert_eq!(code, 1);
    assert!(message.contains("Resources exhausted"), "{message}");
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 2, "nothing is left of what was spilled");
}

/// Keys of partitions have types, and null is null.
#[test]
fn a_folder_of_partitions_has_their_keys() {
    let folder = tempdir().unwrap();
    let path = text(folder.path());
    for key in ["5", "9", "10", "-1", "__HIVE_DEFAULT_PARTITION__"] {
        let inner = folder.path().join(format!("k={key}"));
        std::fs::create_dir_all(&inner).unwrap();
        std::fs::copy(wines(), inner.join("a.parquet")).unwrap();
        std::fs::copy(wines(), inner.join(".hidden.parquet")).unwrap();
    }
    std::fs::write(folder.path().join("_SUCCESS"), "").unwrap();
    let rows = |what: &str| stdout(&[&what.replace("TABLE", &format!("'{path}'")), "--format", "csv"]);
    assert_eq!(
        rows("select max(k) as a, min(k) as b, count(k) as n, count(*) as m from TABLE"),
        "a,b,n,m\n10,-1,800,1000\n"
    );
    assert_eq!(rows("select count(*) as n from TABLE where k is null"), "n\n200\n");
    assert_eq!(rows("select count(*) as n from TABLE where k > 5"), "n\n400\n");
    assert_eq!(rows("select distinct k from TABLE order by k desc nulls last limit 2"), "k\n10\n9\n");
    let pattern = format!("select max(k) as a from '{path}/k=*/*.parquet'");
    assert_eq!(stdout(&[&pattern, "--format", "csv"]), "a\n10\n");
    // Any way to name the folder works.
    let url = format!("select max(k) as a, count(*) as n from 'file://{path}/'");
    assert_eq!(stdout(&[&url, "--format", "csv"]), "a,n\n10,1000\n");
    let table = format!("my-t=file://{path}");
    assert_eq!(stdout(&["-t", &table, "select min(k) as a from \"my-t\"", "--format", "csv"]), "a\n-1\n");
    let (code, message) = failure(&[&format!("insert into '{path}' select * from '{path}'")]);
    assert!(code == 2 && message.contains("CREATE EXTERNAL TABLE"), "{message}");
    // Folders of other formats are DataFusion's.
    let csv = tempdir().unwrap();
    std::fs::create_dir_all(csv.path().join("k=1")).unwrap();
    std::fs::write(csv.path().join("k=1/a.csv"), "i\n1\n2\n").unwrap();
    let count = format!("select count(*) as n from '{}'", text(csv.path()));
    assert_eq!(stdout(&[&count, "--format", "csv"]), "n\n2\n");
}

/// The folders of null keys have the same name in all formats.
#[test]
fn null_keys_have_a_folder_of_their_own() {
    let folder = tempdir().unwrap();
    let path = text(folder.path());
    let query = "select v, k, w, d, f, arrow_cast(f, 'Float32') as g \
        from (values (1, 5, 'a', date '2024-02-29', 1.0::double), (2, null, 'a', null, null), (3, 0, null, null, 1e21::double)) t(v, k, w, d, f)";
    let null = "__HIVE_DEFAULT_PARTITION__";
    for format in ["csv", "json", "arrow", "parquet"] {
        for (key, values) in [
            ("k", ["5", null, "0"]),
            ("w", ["a", "a", null]),
            ("d", ["2024-02-29", null, null]),
            ("f", ["1", null, "1000000000000000000000"]),
            ("g", ["1", null, "1000000000000000000000"]),
        ] {
            let to = format!("{path}/{format}-{key}");
            stdout(&[&format!("copy ({query}) to '{to}/' stored as {format} partitioned by ({key})")]);
            for (row, value) in (1..).zip(values) {
                let inner = format!("{to}/{key}={value}/");
                let found = format!("select count(*) as n from '{inner}' where v = {row}");
                assert_eq!(stdout(&[&found, "--format", "csv"]), "n\n1\n", "{inner}");
            }
            let kept = format!(
                "copy ({query}) to '{to}-kept/' stored as {format} partitioned by ({key}) \
                 options ('execution.keep_partition_by_columns' 'true')"
            );
            let (code, message) = failure(&[&kept]);
            assert!(
                code == 1 && message.contains(&format!("the key {key} is null in some rows")),
                "{message}"
            );
        }
        let named = format!("select 1 as v, 'a' as w union all select 2, '{null}'");
        let to = format!("{path}/{format}-named/");
        let named = format!("copy ({named}) to '{to}' stored as {format} partitioned by (w)");
        let (code, message) = failure(&[&named]);
        assert!(code == 1 && message.contains(&format!("the key w is the text {null}")), "{message}");
    }
    let keys = "set datafusion.execution.keep_partition_by_columns = true";
    let kept =
        format!("{keys}; copy (select 1 as v, 2 as k) to '{path}/kept/' stored as csv partitioned by (k)");
    stdout(&[&kept]);
    assert_eq!(stdout(&[&format!("select * from '{path}/kept/k=2/'"), "--format", "csv"]), "v,k\n1,2\n");
}

#[test]
fn who_is_at_fault_is_the_exit_code() {
    for (arguments, code, says) in [
        (vec!["selec 1"], 2, "selec"),
        (vec!["select nothing from (select 1 as a)"], 2, "nothing"),
        (vec!["select * from 'missing.parquet'"], 2, "missing.parquet"),
        (vec!["select 1", "--format", "parquet"], 2, "--output"),
        (vec!["-f", "missing.sql"], 1, "missing.sql"),
        (vec!["select 1", "--memory-limit", "much"], 2, "is not a unit"),
    ] {
        let (found, message) = failure(&arguments);
        assert_eq!(found, code, "{arguments:?}: {message}");
        assert!(message.contains(says), "{arguments:?}: {message}");
    }
    let folder = tempdir().unwrap();
    // A writer that failed leaves such files: they are not read as tables without rows.
    let empty = folder.path().join("empty.parquet");
    std::fs::write(&empty, "").unwrap();
    std::fs::copy(wines(), folder.path().join("wines.parquet")).unwrap();
    for name in [
        text(&empty),
        format!("file://{}", text(&empty)),
        text(folder.path()),
        format!("{}/*.parquet", text(folder.path())),
    ] {
        for arguments in [
            vec![format!("select count(*) from '{name}'")],
            vec!["-t".into(), format!("t={name}"), "select 1".into()],
            vec![format!(
                "create external table t (name varchar) stored as parquet location '{}'; select count(*) from t",
                name.replace("*.parquet", "")
            )],
        ] {
            let (code, message) = failure(&arguments.iter().map(String::as_str).collect::<Vec<_>>());
            assert!(
                code == 1 && message.contains("not a Parquet file: 0 bytes, in file"),
                "{arguments:?}: {message}"
            );
        }
    }
    // A port that nobody listens at: what went wrong is said, and soon.
    let begun = std::time::Instant::now();
    let (code, message) = failure(&["select * from 'http://127.0.0.1:1/a.parquet?sig=secret'"]);
    assert!(
        code == 1 && message.contains("http://127.0.0.1:1/a.parquet") && !message.contains("secret"),
        "{message}"
    );
    assert!(begun.elapsed().as_secs() < 60, "{:?}", begun.elapsed());
    let bad: PathBuf = folder.path().join("bad.parquet");
    std::fs::write(&bad, b"PAR1 nothing more").unwrap();
    let table = format!("t={}", text(&bad));
    let (code, message) = failure(&["-t", &table, "select 1"]);
    assert_eq!(code, 1, "{message}");
    assert!(message.contains("bad.parquet"), "{message}");
}

#[test]
fn files_that_come_while_a_session_lasts_are_seen() {
    let folder = tempdir().unwrap();
    let path = text(folder.path());
    let count = format!("select count(*) as n from '{path}/'");
    let put = |name: &str| format!("copy (select 1 as i) to '{path}/{name}.parquet'");
    let statements = [put("a"), count.clone(), put("b"), count].join("; ");
    assert_eq!(stdout(&[&statements, "--format", "csv"]).lines().last(), Some("2"));
    // Tables that are used by several statements, of folders with keys and without.
    for (name, files) in [("plain", ["a", "b", "c"]), ("keys", ["k=1/a", "k=2/a", "k=1/b"])] {
        let path = format!("{path}/{name}");
        let put = |file: &str| format!("copy (select 1 as i) to '{path}/{file}.parquet'");
        stdout(&[&put(files[0])]);
        let view = format!("create view v as select * from '{path}'");
        let counts = "select (select count(*) from t) as t, (select count(*) from v) as v".to_owned();
        let statements = [view, put(files[1]), counts.clone(), put(files[2]), counts].join("; ");
        let shown = stdout(&["-t", &format!("t={path}"), &statements, "--format", "csv"]);
        let shown: Vec<&str> = shown.lines().filter(|line| line.contains(',')).collect();
        assert_eq!(shown, ["t,v", "2,2", "t,v", "3,3"], "{name}");
    }
}

/// What the first files require the later ones may lack.
#[test]
fn nulls_of_later_files_are_found() {
    for (name, later) in [
        ("plain/", "plain/b.parquet"),
        ("plain/*.parquet", "plain/b.parquet"),
        ("keys", "keys/k=1/b.parquet"),
        ("one.parquet", "one.parquet"),
    ] {
        let folder = tempdir().unwrap();
        let at = |name: &str| format!("{}/{name}", text(folder.path()));
        let required = "copy (select value as i from generate_series(1, 3))";
        for first in ["plain/a.parquet", "keys/k=1/a.parquet", "one.parquet"] {
            stdout(&[&format!("{required} to '{}'", at(first))]);
        }
        // A statement that reads the files itself is told what they require.
        let described = stdout(&[&format!("describe '{}'", at(name)), "--format", "csv"]);
        assert!(described.contains("i,Int64,NO"), "{name}: {described}");
        let statements = format!(
            "create view v as select i from '{0}'; prepare p as select count(*) as n from '{0}' where i is null; \
             copy (select nullif(value, 1) as i from generate_series(1, 2)) to '{1}'; \
             select count(*) as n, count(i) as i from v where i is null; execute p; \
             select count(*) as n, count(i) as i from t where i is null; select count(*) - count(i) as n from v",
            at(name),
            at(later)
        );
        let shown = stdout(&["-t", &format!("t={}", at(name)), &statements, "--format", "csv"]);
        let shown: Vec<&str> = shown.lines().filter(|line| !line.contains(char::is_alphabetic)).collect();
        assert_eq!(shown, ["2", "1,0", "1", "1,0", "1"], "{name}");
    }
}

#[test]
fn prepared_statements_have_rows() {
    let prepare = format!("prepare after as select count(*) as n from '{}' where year > $1", wines());
    let statements = format!("{prepare}; execute after(0); execute after(3000); deallocate after");
    assert_eq!(stdout(&[&statements, "--format", "csv"]), "n\n200\nn\n0\n");
    let plan = stdout(&[&format!("{prepare}; execute after(2010)"), "--explain", "--format", "csv"]);
    assert!(plan.contains("> 2010"), "{plan}");
    for explain in ["explain", "explain verbose", "explain format tree", "explain analyze"] {
        let plan = stdout(&[&format!("{prepare}; {explain} execute after(2010)")]);
        assert!(plan.contains("2010") && plan.contains("DataSourceExec"), "{plan}");
    }
    let (code, message) = failure(&["prepare p as select $1 + $2"]);
    assert!(
        code == 2 && message.contains("of which type $1 is: name the types of all parameters"),
        "{message}"
    );
    let (code, message) = failure(&[&format!("prepare p as select $1 from '{}' where year > $2", wines())]);
    assert!(code == 2 && message.contains("as in PREPARE p (BIGINT, VARCHAR) AS"), "{message}");
    let (first, second) = ("prepare p (double, int) as", "limit 1; execute p(1.5, 0)");
    let sql = format!("{first} select $1 as n from '{}' where year > $2 {second}", wines());
    assert_eq!(stdout(&[&sql, "--format", "csv"]), "n\n1.5\n");
    assert_eq!(stdout(&["prepare p as select $1 as n; execute p('x')", "--format", "csv"]), "n\nx\n");
    let folder = tempdir().unwrap();
    let file = text(&folder.path().join("n.csv"));
    stdout(&[&format!("{prepare}; execute after(0)"), "-o", &file]);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "n\n200\n");
}

#[test]
fn keys_may_be_in_quotes() {
    let folder = tempdir().unwrap();
    let path = text(folder.path());
    let rows = "select 1 as v, 2 as \"The Year\", 'x/y' as \"K\"";
    let keys = "stored as parquet partitioned by (\"The Year\", \"K\")";
    stdout(&[&format!("copy ({rows}) to '{path}/' {keys}")]);
    let expected = "v,The Year,K\n1,2,x/y\n";
    assert_eq!(stdout(&[&format!("select * from '{path}'"), "--format", "csv"]), expected);
    let table = format!(
        "create external table t (v bigint, \"The Year\" bigint, \"K\" varchar) {keys} location '{path}/'"
    );
    assert_eq!(
        stdout(&[&format!("{table}; select * from t where \"K\" = 'x/y'"), "--format", "csv"]),
        expected
    );
    // A key's type may be declared with the columns, with the keys, or with both.
    let rows = "select 1 as v, 2 as k";
    stdout(&[&format!("copy ({rows}) to '{path}/k/' stored as parquet partitioned by (k)")]);
    for (columns, keys) in [("v bigint, K int", "k"), ("v bigint", "k int"), ("K int, v bigint", "k int")] {
        let table = format!(
            "create external table t ({columns}) stored as parquet partitioned by ({keys}) location '{path}/k/'"
        );
        assert_eq!(
            stdout(&[&format!("{table}; select v, k from t"), "--format", "csv"]),
            "v,k\n1,2\n",
            "{table}"
        );
    }
    // A name that would be read back as another one.
    let keys = "stored as parquet partitioned by (\"a=b\")";
    let (code, message) = failure(&[&format!("copy (select 1 as v, 2 as \"a=b\") to '{path}/b/' {keys}")]);
    assert!(code == 2 && message.contains("no folders are called by the key \"a=b\""), "{message}");
}
