//! Files on a web server and in an S3-compatible server, read by their URLs.
#![cfg(feature = "remote")]

#[path = "../../../object_store/tests/web/server.rs"]
mod server;

use crate::command;
use crate::command::{failure, success, wines};
use server::{Faults, Server};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::time::Duration;

fn served(path: &str) -> Server {
    Server::start(std::fs::read(path).unwrap(), Faults::default())
}

/// A file of 200,000 rows in ten row groups, by growing id.
fn events(folder: &Path, name: &str, first: usize) -> String {
    let path = folder.join(name).to_str().unwrap().to_owned();
    let mut rows = String::from("id,country,amount,note\n");
    for i in first..first + 200_000 {
        let country = ["DE", "FR", "IT"][i / 1000 % 3];
        let note = (i as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        rows += &format!("{i},{country},{},{note:x}{note:x}\n", i % 997);
    }
    let arguments = ["convert", "-", &path, "--from", "csv", "--row-group-rows", "20000", "--report", "none"];
    command::with_input(&arguments, &rows);
    path
}

#[test]
fn commands_read_urls() {
    let path = wines();
    let url = served(&path).url();
    for command in [
        &["schema"][..],
        &["meta"],
        &["pages"],
        &["dictionary", "--column", "country"],
        &["index"],
        &["head", "-n", "3"],
        &["cat", "--columns", "price,country", "--where", "country = 'FR' and price > 100"],
        &["count"],
        &["count", "--where", "year = 2020"],
        &["size"],
        &["verify", "--deep"],
    ] {
        let of = |name: &str| success(&[command, &[name]].concat()).replace(name, "NAME");
        assert_eq!(of(&url), of(&path), "{command:?}");
    }
    let explained = |name: &str| success(&["explain", name, "--where", "country = 'FR'", "--scan"]);
    assert_eq!(explained(&url).lines().count(), explained(&path).lines().count());
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out.parquet");
    let out = out.to_str().unwrap();
    for command in [
        &["convert", "--report", "none", "--overwrite"][..],
        &["rewrite", "--compression", "zstd"],
        &["merge"],
        &["optimize", "--budget", "60s"],
        &["optimize", "--sort", "--budget", "60s"],
    ] {
        success(&[command, &[&url, out]].concat());
        assert_eq!(success(&["count", out]), success(&["count", &path]), "{command:?}");
        std::fs::remove_file(out).unwrap();
    }
    // Without its footer.
    let mut file = std::fs::read(&path).unwrap();
    let footer_len = u32::from_le_bytes(file[file.len() - 8..][..4].try_into().unwrap());
    file.truncate(file.len() - 8 - footer_len as usize);
    let cut = Server::start(file, Faults::default());
    success(&["recover", &cut.url(), out, "--schema-from", &url]);
    assert_eq!(success(&["count", out]), success(&["count", &path]));
    let into = folder.path().to_str().unwrap();
    success(&["split", &url, "--rows", "50", "--out-dir", into]);
    assert_eq!(failure(&["split", &url, "--rows", "50"]).0, 2);
}

/// Every command, on what succeeds and on what fails, in every format: the user is sent, and no secret comes out.
#[test]
fn secrets_of_urls_are_in_no_output() {
    let path = wines();
    let folder = tempfile::tempdir().unwrap();
    let into = folder.path().to_str().unwrap();
    let out = folder.path().join("out.parquet");
    let out = out.to_str().unwrap();
    let secret = |server: &Server| {
        let url = server.url().replace("http://", "http://me:PASSWORD@");
        format!("{url}?X-Amz-Signature=SIGN.AT/URE&token=TOKEN")
    };
    let good = served(&path);
    let forbidden = Server::start(Vec::new(), Faults { forbids: true, ..Faults::default() });
    let damaged = Server::start(vec![0; 5000], Faults::default());
    let report = folder.path().join("report.json");
    for server in [&good, &forbidden, &damaged] {
        let url = secret(server);
        let missing = url.replace("data", "none");
        for command in [
            &["schema", &url][..],
            &["schema", "--arrow", &url, &url],
            &["meta", &url, &url],
            &["meta", "set", &url, "a=b"],
            &["pages", &url, &url],
            &["dictionary", "--column", "country", &url],
            &["index", &url, &url],
            &["head", &url],
            &["cat", &url, &url],
            &["cat", &url, &path],
            &["cat", &url, "--on-corrupt", "skip-page"],
            &["count", &url, &url],
            &["count", &missing],
            &["explain", &url, "--where", "country = 'FR'"],
            &["explain", &url, &url, "--where", "country = 'FR'", "--scan"],
            &["size", &url, &url],
            &["convert", &url, out, "--overwrite"],
            &["convert", &url, "-", "--from", "csv"],
            &["convert", &path, &url, "--overwrite"],
            &["convert", &url, &url, "--overwrite"],
            &["rewrite", &url, out, "--overwrite"],
            &["rewrite", &path, &url],
            &["merge", &url, &url, out, "--overwrite"],
            &["merge", &path, &path, &url],
            &["split", &url, "--rows", "50", "--out-dir", into, "--overwrite"],
            &["append", &url, &path],
            &["drop-row-group", &url, "0"],
            &["summary", &url],
            &["recover", &url, out, "--overwrite"],
            &["recover", &path, out, "--overwrite", "--schema-from", &url],
            &["verify", "--deep", &url, &url],
            &["verify", "--format", "sarif", &url, &missing],
            &["rules", &url],
            &["completions", &url],
            &[&url],
            &["count", "--", &url, &missing],
            &["count", "http://me:PASSWORD@"],
            &["count", "http://me:PASS/WORD@host.invalid:1/x?sig=SIGNATURE"],
        ] {
            for format in [&["--format", "json"][..], &[]] {
                let wants_format = command.contains(&"--format") || command.contains(&"--");
                let all = if wants_format { command.to_vec() } else { [command, format].concat() };
                let (_, text) = command::everything(&all);
                for hidden in ["PASS", "WORD", "SIGN", "URE&", "TOKEN"] {
                    assert!(!text.contains(hidden), "{all:?}: {text}");
                }
            }
        }
    }
    let (_, text) =
        command::everything(&["cat", &secret(&damaged), "--loss-report", report.to_str().unwrap()]);
    assert!(text.contains("http://***@") && text.contains("file%201.parquet?***"), "{text}");
    let names = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name());
    names.for_each(|name| assert!(!name.to_string_lossy().contains("SIGN"), "{name:?}"));
    assert_eq!(success(&["count", &secret(&good)]), success(&["count", &path]));
    assert_eq!(good.take_authorization().as_deref(), Some("Basic bWU6UEFTU1dPUkQ="));
}

#[test]
fn other_formats_are_read_by_url_too() {
    let server = Server::start(b"id,name\n1,oak\n2,elm\n".to_vec(), Faults::default());
    let rows = success(&["convert", &server.url(), "-", "--from", "csv"]);
    assert_eq!(rows, "{\"id\":1,\"name\":\"oak\"}\n{\"id\":2,\"name\":\"elm\"}\n");
}

#[test]
fn only_convert_writes_to_a_url() {
    let path = wines();
    for command in [
        &["rewrite", &path, "https://host/out.parquet"][..],
        &["merge", &path, &path, "gs://bucket/out.parquet"],
        &["append", "s3://bucket/a.parquet", &path],
        &["meta", "set", "s3://bucket/a.parquet", "key=value"],
        &["drop-row-group", "az://container/a.parquet", "0"],
        &["recover", &path, "s3://bucket/out.parquet"],
        &["optimize", &path, "s3://bucket/out.parquet"],
    ] {
        let (code, lines) = failure(command);
        assert_eq!(code, 2, "{command:?}");
        assert!(lines.join(" ").contains("files in stores are only read"), "{lines:?}");
    }
}

/// Of a file the footer and a few ranges are fetched, whatever the store's latency.
#[test]
fn few_bytes_are_fetched() {
    let folder = tempfile::tempdir().unwrap();
    let path = events(folder.path(), "events.parquet", 0);
    let len = std::fs::metadata(&path).unwrap().len() as usize;
    let faults = Faults { latency: Duration::from_millis(10), ..Faults::default() };
    let server = Server::start(std::fs::read(&path).unwrap(), faults);
    let query = "id between 100000 and 101999 and country = 'DE'";
    let cat =
        |name: &str| success(&["cat", name, "--columns", "amount,id", "--where", query, "--format", "json"]);
    assert_eq!(cat(&server.url()), cat(&path));
    let answers = server.take_answers();
    let bytes: usize = answers.iter().map(|answer| answer.bytes).sum();
    assert!(
        answers.len() <= 3 && bytes < 400_000 && bytes < len / 10,
        "{} requests, {bytes} bytes of {len}",
        answers.len()
    );
    // A whole column of ten row groups, and the first rows.
    let count = |name: &str| success(&["count", name, "--where", "amount = 5"]);
    assert_eq!(count(&server.url()), count(&path));
    let answers = server.take_answers();
    assert!(answers.len() <= 12, "{answers:?}");
    let head = |name: &str| success(&["head", name, "--columns", "id,note", "--format", "json"]);
    assert_eq!(head(&server.url()), head(&path));
    let answers = server.take_answers();
    let bytes: usize = answers.iter().map(|answer| answer.bytes).sum();
    assert!(answers.len() <= 3 && bytes < len / 3, "{answers:?}");
}

/// How many latencies a command pays does not depend on how many ranges it reads.
#[test]
fn latency_is_paid_few_times() {
    let folder = tempfile::tempdir().unwrap();
    let path = events(folder.path(), "events.parquet", 0);
    let faults = Faults { latency: Duration::from_millis(150), ..Faults::default() };
    let server = Server::start(std::fs::read(&path).unwrap(), faults);
    let url = server.url();
    for (command, most) in [
        (&["cat", "--columns", "id,amount", "--format", "json"][..], 2),
        (&["cat", "--format", "json"], 2),
        (&["count", "--where", "amount = 5"], 3),
        (&["cat", "--columns", "id,note", "--where", "amount = 5", "--format", "json"], 3),
        (&["cat", "--columns", "note", "--where", "id between 100000 and 101999", "--format", "json"], 4),
    ] {
        let of = |name: &str| success(&[command, &[name]].concat());
        assert_eq!(of(&url), of(&path), "{command:?}");
        let (answers, rounds) = (server.take_answers(), server.take_rounds());
        eprintln!("{command:?}: {} requests, {rounds} latencies", answers.len());
        assert!(rounds <= most, "{command:?}: {rounds} latencies, {answers:?}");
    }
}

#[test]
fn what_goes_wrong_is_told() {
    let (code, lines) = failure(&["cat", &served(&wines()).url().replace("data", "none")]);
    assert_eq!(code, 1);
    assert!(lines[0].contains("there is no object none/file 1.parquet"), "{lines:?}");
    let (code, lines) = failure(&["cat", "http://127.0.0.1:9/data/*.parquet"]);
    assert_eq!(code, 2);
    assert!(lines[0].contains("a web server does not list its files"), "{lines:?}");
    let (code, lines) = failure(&["cat", "s3://bucket/a.parquet", &wines()]);
    assert_eq!(code, 2);
    assert!(lines[0].contains("are not read as one table"), "{lines:?}");
    // A file that changes between the footer and the rows.
    let folder = tempfile::tempdir().unwrap();
    let large = std::fs::read(events(folder.path(), "events.parquet", 0)).unwrap();
    // Where ranges are not supported, a small file is fetched as a whole.
    let faults = Faults { knows_no_ranges: true, ..Faults::default() };
    let (code, lines) = failure(&["cat", &Server::start(large.clone(), faults).url()]);
    assert_eq!(code, 1);
    assert!(lines[0].contains("Range request not supported"), "{lines:?}");
    let small = std::fs::read(wines()).unwrap();
    assert_eq!(success(&["count", &Server::start(small, faults).url()]), success(&["count", &wines()]));
    for is_careless in [false, true] {
        let faults = Faults { changes: Some(1), is_careless, ..Faults::default() };
        let (code, lines) = failure(&["cat", &Server::start(large.clone(), faults).url()]);
        assert_eq!(code, 1);
        assert!(lines[0].contains("the file has changed since it was opened"), "{lines:?}");
    }
}

/// The S3-compatible server of `.ci/remote/run.sh`; without it tests of it are skipped.
fn s3() -> Option<String> {
    let endpoint = std::env::var("MARQUETRY_S3").ok();
    if endpoint.is_none() {
        eprintln!("skipped: no server, MARQUETRY_S3 is not set");
    }
    endpoint
}

fn put(endpoint: &str, key: &str, body: &[u8]) {
    let host = endpoint.strip_prefix("http://").unwrap();
    let mut stream = TcpStream::connect(host).unwrap();
    let who = "AWS4-HMAC-SHA256 Credential=test/20260101/us-east-1/s3/aws4_request";
    let length = body.len();
    let head = format!(
        "PUT /marquetry/{key} HTTP/1.1\r\nhost: {host}\r\nauthorization: {who}\r\ncontent-length: {length}\r\n\
         connection: close\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).unwrap();
    stream.write_all(body).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
}

/// Counts requests for keys with this prefix, and the bytes of their answers, from line `from` of the log; and returns
/// its number of lines.
fn asked(prefix: &str, from: usize) -> (usize, usize, usize) {
    let log = std::fs::read_to_string(std::env::var("MARQUETRY_S3_LOG").unwrap()).unwrap();
    let lines: Vec<&str> = log.lines().collect();
    let of_prefix = lines[from..].iter().filter(|line| line.contains(&format!(" /marquetry/{prefix}")));
    let bytes: Vec<usize> = of_prefix.map(|line| line.rsplit(' ').next().unwrap().parse().unwrap()).collect();
    (bytes.len(), bytes.iter().sum(), lines.len())
}

/// Patterns, prefixes and several URLs are one table, with partitions; of each file a few ranges are fetched.
#[test]
fn files_in_s3_are_one_table() {
    let Some(endpoint) = s3() else { return };
    let folder = tempfile::tempdir().unwrap();
    let local = folder.path().join("t");
    let mut len = 0;
    for year in 0..3 {
        std::fs::create_dir_all(local.join(format!("year={year}"))).unwrap();
        let path = events(&local, &format!("year={year}/part.parquet"), year * 200_000);
        let file = std::fs::read(&path).unwrap();
        len += file.len();
        put(&endpoint, &format!("cli/t/year={year}/part.parquet"), &file);
    }
    put(&endpoint, "cli/t/_SUCCESS", b"");
    let local = local.to_str().unwrap();
    let query = "country = 'DE' and amount > 990 and id between 250000 and 270000";
    let rest = ["--where", query, "--columns", "id,amount,year", "--format", "json"];
    let cat = |names: &[&str]| success(&[&["cat"], names, &rest].concat());
    let expected = cat(&[local]);
    assert!(expected.lines().count() > 10);
    let (_, _, mut from) = asked("cli/", 0);
    let urls = [0, 1, 2].map(|year| format!("s3://marquetry/cli/t/year={year}/part.parquet"));
    let several: Vec<&str> = urls.iter().map(String::as_str).collect();
    for names in [
        &["s3://marquetry/cli/t/*/*.parquet"][..],
        &["s3://marquetry/cli/t/**/*.parquet"],
        &["s3://marquetry/cli/t/year=*"],
        &["s3://marquetry/cli/t/"],
        &["s3://marquetry/cli/t"],
        &several,
    ] {
        assert_eq!(cat(names), expected, "{names:?}");
        let (requests, bytes, lines) = asked("cli/", from);
        from = lines;
        eprintln!("{names:?}: {requests} requests, {bytes} bytes of {len}");
        // Of two files the footer alone, of one also some pages.
        assert!(requests <= 6 && bytes < len / 10, "{names:?}: {requests} requests, {bytes} bytes of {len}");
    }
    let table = "s3://marquetry/cli/t/";
    assert_eq!(success(&["count", table]), "600000\n");
    assert_eq!(success(&["schema", table]), success(&["schema", local]));
    // A partition that cannot contain the rows: its file is not opened; but the first is, for the schema.
    let (_, _, from) = asked("cli/", 0);
    assert_eq!(success(&["count", table, "--where", "year = 2 and id = 500000"]), "1\n");
    assert_eq!(asked("cli/t/year=1", from).0, 0);
    let out = folder.path().join("out.parquet");
    let out = out.to_str().unwrap();
    success(&["convert", table, out, "--overwrite", "--where", query, "--report", "none"]);
    assert_eq!(cat(&[out]).lines().count(), expected.lines().count());
    // A summary names its files, and so does a copy of it in the store.
    success(&["summary", local]);
    let summary = format!("{local}/_metadata");
    put(&endpoint, "cli/t/_metadata", &std::fs::read(&summary).unwrap());
    assert_eq!(cat(&["s3://marquetry/cli/t/_metadata"]), cat(&[&summary]));
    assert_eq!(success(&["count", "s3://marquetry/cli/t/_metadata"]), "600000\n");
    // One line a file where each is looked at.
    assert_eq!(success(&["count", "s3://marquetry/cli/t/*/*.parquet"]).lines().count(), 4);
    let (code, lines) = failure(&["cat", "s3://marquetry/cli/none/*.parquet"]);
    assert!(code == 1 && lines[0].contains("no file has such a name"), "{lines:?}");
    let (code, lines) = failure(&["cat", "s3://marquetry/cli/none.parquet"]);
    assert!(code == 1 && lines[0].contains("there is no object cli/none.parquet"), "{lines:?}");
}
