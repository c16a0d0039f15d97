//! The site answers what it should, and nothing else: whoever asks may be hostile.

use crate::command::{Folder, everything, success, wines};
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A server that ends with the test.
struct Server {
    child: Child,
    port: u16,
    /// The path of the site, without the slash at its end.
    base: String,
}

/// A response: status, headers, body.
struct Answer {
    status: u16,
    headers: String,
    body: Vec<u8>,
}

impl Answer {
    fn header(&self, name: &str) -> Option<&str> {
        let lines = self.headers.lines().filter_map(|line| line.split_once(": "));
        lines.filter(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value).next()
    }

    fn text(&self) -> String {
        String::from_utf8(self.body.clone()).unwrap()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Server {
    fn of(path: &str, options: &[&str]) -> Server {
        let mut command = Command::new(env!("CARGO_BIN_EXE_marquetry"));
        let command = command.args(["serve", path]).args(options).stdin(Stdio::null()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("the binary runs");
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let rest = line.trim().strip_prefix("http://127.0.0.1:").expect("an address");
        let (port, secret) = rest.split_once('/').unwrap();
        assert!(secret.len() == 33 && secret.ends_with('/'), "{line}");
        Server { port: port.parse().unwrap(), base: format!("/{}", secret.trim_end_matches('/')), child }
    }

    /// What comes back for these bytes.
    fn raw(&self, request: &[u8]) -> Option<Answer> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        let _ = stream.write_all(request);
        let mut all = Vec::new();
        stream.read_to_end(&mut all).ok()?;
        let end = all.windows(4).position(|window| window == b"\r\n\r\n")?;
        let head = String::from_utf8(all[..end].to_vec()).unwrap();
        let (first, headers) = head.split_once("\r\n").unwrap();
        let status = first.strip_prefix("HTTP/1.1 ").unwrap()[..3].parse().unwrap();
        Some(Answer { status, headers: headers.to_owned(), body: all[end + 4..].to_vec() })
    }

    fn ask(&self, method: &str, path: &str, headers: &str) -> Answer {
        let host = format!("Host: 127.0.0.1:{}\r\n", self.port);
        self.raw(format!("{method} {path} HTTP/1.1\r\n{host}{headers}\r\n").as_bytes()).expect("an answer")
    }

    /// Below the secret.
    fn get(&self, path: &str, headers: &str) -> Answer {
        self.ask("GET", &format!("{}{path}", self.base), headers)
    }
}

#[test]
fn a_folder_is_listed_searched_and_shown() {
    let folder = Folder::new("serve_a_folder");
    fs::create_dir_all(folder.path("below/further")).unwrap();
    fs::copy(wines(), folder.path("below/further/some wines & <b>.parquet")).unwrap();
    fs::copy(wines(), folder.path("a.parquet")).unwrap();
    folder.write("notes.txt", "not for others");
    folder.write("broken.parquet", "PAR1 and no more");
    let server = Server::of(&folder.path(""), &[]);

    let first = server.get("/", "");
    assert_eq!((first.status, first.header("location")), (302, Some(&*format!("{}/folder/", server.base))));
    let list = server.get("/folder/", "");
    assert_eq!(list.status, 200);
    let page = list.text();
    assert!(
        page.contains(">a.parquet</a>") && page.contains(">below/</a>") && page.contains("broken.parquet"),
        "{page}"
    );
    assert!(page.contains("<td class=\"n\">200</td>"), "{page}");
    assert!(!page.contains("notes"));
    for header in [
        "content-security-policy",
        "x-content-type-options",
        "referrer-policy",
        "cross-origin-resource-policy",
    ] {
        assert!(list.header(header).is_some(), "{header}");
    }
    assert!(list.header("access-control-allow-origin").is_none());

    // By the name of a file, and of a column.
    let found = server.get("/folder/?search=WINES+%26", "").text();
    assert!(
        found.contains("1 found.") && found.contains("below/further/some wines &amp; &lt;b&gt;.parquet"),
        "{found}"
    );
    let found = server.get("/folder/?search=grapes", "").text();
    assert!(found.contains("2 found.") && found.contains("grapes.list.element"), "{found}");
    // Nobody knows the columns of the broken one.
    assert!(found.contains("cannot be read: 1;"), "{found}");
    assert!(server.get("/folder/below?search=nothing", "").text().contains("0 found.</p>"));
    assert_eq!(server.get("/folder/nothing", "").status, 404);

    let report = server
        .get("/report/below/further/some%20wines%20%26%20%3Cb%3E.parquet?where=country+%3D+%27FR%27", "");
    let page = report.text();
    assert_eq!(report.status, 200, "{page}");
    assert!(
        page.contains("<h1>some wines &amp; &lt;b&gt;.parquet</h1>") && page.contains("leaves"),
        "{page}"
    );
    assert!(page.contains(&format!(
        "href=\"{}/rows/below/further/some%20wines%20%26%20%3Cb%3E.parquet\"",
        server.base
    )));
    // But for the links it is what the command writes.
    let out = folder.path("out.html");
    success(&["report", &folder.path("a.parquet"), "-o", &out]);
    let page = server.get("/report/a.parquet", "").text();
    let nav = page.find("<nav").unwrap()..page.find("</nav>\n").unwrap() + "</nav>\n".len();
    assert!([&page[..nav.start], &page[nav.end..]].concat() == fs::read_to_string(out).unwrap());

    // What is wrong is told, without where things are.
    let broken = server.get("/report/broken.parquet", "");
    assert_eq!(broken.status, 422);
    assert!(!broken.text().contains(&folder.path("")), "{}", broken.text());
    assert_eq!(server.get("/report/a.parquet?where=no+such+%3D%3D", "").status, 400);
}

/// What is listed is there: a page says why it is not shown.
#[test]
fn damaged_files_are_shown_with_what_is_wrong() {
    let folder = Folder::new("serve_damaged");
    let bytes = fs::read(wines()).unwrap();
    fs::write(folder.path("cut.parquet"), &bytes[..bytes.len() / 2]).unwrap();
    fs::write(folder.path("text <b>.parquet"), "password=1").unwrap();
    fs::write(folder.path("empty.parquet"), "").unwrap();
    // Its footer is whole, its first column is not.
    let mut spoilt = bytes.clone();
    spoilt[4..2_000].fill(0xff);
    fs::write(folder.path("spoilt.parquet"), &spoilt).unwrap();
    let server = Server::of(&folder.path(""), &[]);
    let list = server.get("/folder/", "").text();
    for (name, link, why) in [
        ("cut.parquet", "cut.parquet", "not a Parquet file"),
        ("text &lt;b&gt;.parquet", "text%20%3Cb%3E.parquet", "no Parquet file: it does not begin with PAR1"),
        ("empty.parquet", "empty.parquet", "no Parquet file: it is empty"),
    ] {
        assert!(list.contains(&format!("/report/{link}\">{name}</a>")), "{list}");
        for kind in ["report", "rows"] {
            let page = server.get(&format!("/{kind}/{link}"), "");
            assert_eq!((page.status, page.header("content-type")), (422, Some("text/html; charset=utf-8")));
            let text = page.text();
            assert!(text.contains(&format!("<h1>{name}</h1>")) && text.contains(why), "{kind}: {text}");
            assert!(text.contains(&format!("href=\"{}/folder\">The folder</a>", server.base)), "{text}");
            assert!(!text.contains("password"), "{text}");
        }
        let values = server.get(&format!("/values/{link}"), "Range: rows=0-1\r\n");
        assert!(values.status == 422 && values.text().contains(why), "{}", values.text());
    }
    assert_eq!(server.get("/file/empty.parquet", "").status, 422);
    // A truncated Parquet file can be downloaded as it is.
    assert_eq!(server.get("/file/cut.parquet", "").body, &bytes[..bytes.len() / 2]);
    assert_eq!(server.get("/report/spoilt.parquet", "").status, 200);
    let values = server.get("/values/spoilt.parquet", "Range: rows=0-1\r\n");
    assert_eq!(values.status, 422, "{}", values.text());
    assert_eq!(server.get("/report/gone.parquet", "").status, 404);
}

#[test]
fn rows_and_bytes_come_in_parts() {
    let folder = Folder::new("serve_rows");
    fs::copy(wines(), folder.path("w.parquet")).unwrap();
    let server = Server::of(&folder.path(""), &[]);
    let bytes = fs::read(wines()).unwrap();

    let part = server.get("/file/w.parquet", "Range: bytes=-8\r\n");
    assert_eq!((part.status, &part.body[..]), (206, &bytes[bytes.len() - 8..]));
    let says = format!("bytes {}-{}/{}", bytes.len() - 8, bytes.len() - 1, bytes.len());
    assert_eq!(part.header("content-range"), Some(&*says));
    let tag = part.header("etag").unwrap().to_owned();
    let whole = server.get("/file/w.parquet", "");
    assert!(whole.status == 200 && whole.body == bytes && whole.header("accept-ranges") == Some("bytes"));
    assert_eq!(server.get("/file/w.parquet", "Range: bytes=999999-\r\n").status, 416);
    assert_eq!(server.get("/file/w.parquet", &format!("If-None-Match: {tag}\r\n")).status, 304);
    let head = server.ask("HEAD", &format!("{}/file/w.parquet", server.base), "");
    assert_eq!(
        (head.status, head.body.len(), head.header("content-length")),
        (200, 0, Some(&*bytes.len().to_string()))
    );
    // The file has changed: a part of it would not match the client's.
    fs::write(folder.path("w.parquet"), [&bytes[..4], &bytes[..]].concat()).unwrap();
    let other = server.get("/file/w.parquet", &format!("Range: bytes=0-3\r\nIf-Range: {tag}\r\n"));
    assert!(other.status == 200 && other.body.len() == bytes.len() + 4);
    fs::write(folder.path("w.parquet"), &bytes).unwrap();

    let rows = server.get("/values/w.parquet?columns=name,year", "Range: rows=150-151\r\n");
    assert_eq!((rows.status, rows.header("content-range")), (206, Some("rows 150-151/200")));
    let json: serde_json::Value = serde_json::from_slice(&rows.body).unwrap();
    let expected = success(&[
        "head",
        &wines(),
        "--offset",
        "150",
        "-n",
        "2",
        "--columns",
        "name,year",
        "--format",
        "json",
    ]);
    let expected: Vec<serde_json::Value> =
        expected.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    for (row, expected) in json["rows"].as_array().unwrap().iter().zip(&expected) {
        assert_eq!(row[0], expected["name"]);
        let year = expected["year"].as_u64().map(|year| year.to_string());
        assert_eq!(row[1].as_str(), year.as_deref());
    }
    assert_eq!(json["columns"][1]["number"], true);
    let all: serde_json::Value =
        serde_json::from_slice(&server.get("/values/w.parquet", "Range: rows=0-999999\r\n").body).unwrap();
    assert_eq!(all["rows"].as_array().unwrap().len(), 200);
    assert_eq!(server.get("/values/w.parquet", "Range: rows=200-\r\n").status, 416);
    assert_eq!(server.get("/values/w.parquet", "").status, 400);
    let unknown = server.get("/values/w.parquet?columns=no", "Range: rows=0-1\r\n");
    assert_eq!(unknown.status, 400, "{}", unknown.text());
    let page = server.get("/rows/w.parquet", "").text();
    assert!(page.contains("data-count=\"200\"") && page.contains("/rows.js"), "{page}");
    assert!(
        server.get("/rows.js", "").text().contains("textContent")
            && server.get("/site.css", "").status == 200
    );

    // Programs read it as any file on a web server.
    if cfg!(feature = "remote") {
        let url = format!("http://127.0.0.1:{}{}/file/w.parquet", server.port, server.base);
        assert_eq!(success(&["count", &url]).trim(), "200");
    }
}

/// No name leads out of the folder, whatever it is made of.
#[test]
fn nothing_outside_is_given_away() {
    let folder = Folder::new("serve_outside");
    fs::create_dir_all(folder.path("in/.hidden")).unwrap();
    fs::create_dir_all(folder.path("secret")).unwrap();
    for name in ["in/a.parquet", "in/.b.parquet", "in/.hidden/c.parquet", "secret/d.parquet"] {
        fs::copy(wines(), folder.path(name)).unwrap();
    }
    fs::write(folder.path("in/text.parquet"), "password=1").unwrap();
    fs::write(folder.path("in/text.txt"), "password=1").unwrap();
    #[cfg(unix)]
    {
        let link = |to: &str, name: &str| std::os::unix::fs::symlink(to, folder.path(name)).unwrap();
        link("../secret/d.parquet", "in/link.parquet");
        link("../secret", "in/linked");
        link(&folder.path("secret/d.parquet"), "in/absolute.parquet");
        link("a.parquet", "in/inside.parquet");
        assert!(Command::new("mkfifo").arg(folder.path("in/fifo.parquet")).status().unwrap().success());
    }
    let server = Server::of(&folder.path("in"), &[]);
    let page = server.get("/folder/", "").text();
    for name in [">link", "hidden", "absolute", "inside", ".b.", "fifo", "txt"] {
        assert!(!page.contains(name), "{name}: {page}");
    }
    assert_eq!(server.get("/file/a.parquet", "").status, 200);
    let names = [
        "link.parquet",
        "linked/d.parquet",
        "absolute.parquet",
        "inside.parquet",
        ".b.parquet",
        ".hidden/c.parquet",
        "fifo.parquet",
        "text.parquet",
        "text.txt",
        "../secret/d.parquet",
        "%2e%2e/secret/d.parquet",
        "..%2fsecret%2fd.parquet",
        "%252e%252e/secret/d.parquet",
        "..%5csecret%5cd.parquet",
        "a.parquet/../../secret/d.parquet",
        "//etc/passwd",
        "%2fetc%2fpasswd",
        "a.parquet%00.txt",
        "a.parquet/",
        "",
        "a.parquet/a.parquet",
        "%c0%ae%c0%ae/secret/d.parquet",
        "..;/secret/d.parquet",
    ];
    for kind in ["file", "report", "rows", "values", "folder"] {
        for name in names {
            let answer = server.get(&format!("/{kind}/{name}"), "Range: rows=0-1\r\n");
            let is_of_the_folder = matches!(
                (kind, name),
                ("folder", "") | ("file" | "report" | "rows" | "values", "a.parquet/")
            );
            // It is listed, so that why it is not shown is told; nothing of it is.
            let is_listed = kind != "folder" && name == "text.parquet";
            let expected: &[u16] = match (is_of_the_folder, is_listed) {
                (true, _) => &[200, 206],
                (_, true) => &[422],
                _ => &[400, 404],
            };
            assert!(expected.contains(&answer.status), "{kind}/{name}: {}", answer.status);
            assert!(is_of_the_folder || !answer.text().contains("password"), "{kind}/{name}");
        }
    }
    // Lists of values are read from files on the command line only.
    let list = server.get("/report/a.parquet?where=name+in+%40text.txt", "");
    assert_eq!(list.status, 400);
    assert!(!list.text().contains("password"), "{}", list.text());

    let one = Server::of(&folder.path("in/a.parquet"), &[]);
    assert_eq!(one.get("/", "").header("location"), Some(&*format!("{}/report/a.parquet", one.base)));
    assert_eq!(one.get("/report/a.parquet", "").status, 200);
    for path in ["/folder/", "/file/text.parquet", "/report/.b.parquet", "/file/link.parquet"] {
        assert_eq!(one.get(path, "").status, 404, "{path}");
    }
    assert!(!one.get("/report/a.parquet", "").text().contains("The folder"));
}

#[test]
fn who_does_not_know_the_address_gets_nothing() {
    let server = Server::of(&wines(), &[]);
    let path = format!("{}/file/wines.parquet", server.base);
    for wrong in
        ["/", "/file/wines.parquet", "/0123456789abcdef0123456789abcdef/file/wines.parquet", "/favicon.ico"]
    {
        assert_eq!(server.ask("GET", wrong, "").status, 404, "{wrong}");
    }
    let host = |host: &str| {
        server.raw(format!("GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n").as_bytes()).unwrap().status
    };
    assert_eq!(host(&format!("localhost:{}", server.port)), 200);
    for other in ["evil.example", "127.0.0.1", "localhost:1", &format!("evil.example:{}", server.port)] {
        assert_eq!(host(other), 403, "{other}");
    }
    let from = |headers: &str| server.ask("GET", &path, headers).status;
    assert_eq!(from("Origin: http://evil.example\r\n"), 403);
    assert_eq!(from("Sec-Fetch-Site: cross-site\r\n"), 403);
    assert_eq!(from("Sec-Fetch-Site: same-origin\r\n"), 200);
    for method in ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"] {
        let answer = server.ask(method, &path, "");
        assert_eq!((answer.status, answer.header("allow")), (405, Some("GET, HEAD")), "{method}");
    }
    assert_eq!(fs::read(wines()).unwrap(), server.ask("GET", &path, "").body);
}

/// Requests that are none, that are too much, and that never end: others are answered meanwhile, and afterwards.
#[test]
fn hostile_requests_end() {
    let server = Server::of(&wines(), &[]);
    let status = |request: &[u8]| server.raw(request).map(|answer| answer.status);
    let host = format!("Host: 127.0.0.1:{}\r\n", server.port);
    assert_eq!(status(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\r\n\r\n"), Some(400));
    assert_eq!(status(b"GET / HTTP/1.1\r\nX: \xff\x00\r\n\r\n"), Some(400));
    assert_eq!(status(format!("GET / HTTP/1.1\r\n{host}{host}\r\n").as_bytes()), Some(400));
    assert_eq!(
        status(format!("GET / HTTP/1.1\r\n{host}Transfer-Encoding: chunked\r\n\r\n").as_bytes()),
        Some(400)
    );
    assert_eq!(status(format!("GET /{} HTTP/1.1\r\n{host}\r\n", "a/".repeat(100)).as_bytes()), Some(404));
    // Input after the request may make the system discard the answer.
    let long = status(format!("GET /{}", "a".repeat(17 << 10)).as_bytes());
    assert!(matches!(long, Some(431) | None), "{long:?}");
    assert_eq!(
        status(format!("GET / HTTP/1.1\r\n{host}{}\r\n", "X: y\r\n".repeat(100)).as_bytes()),
        Some(431)
    );
    // Many connections that send nothing, or half a request, do not delay others.
    let begin = Instant::now();
    let mut silent = Vec::new();
    // Until all connections are in use: then new ones are refused at once. Those of answered requests are released a
    // little later.
    let is_refused = (0..20).any(|_| {
        for i in 0..40 {
            let mut stream = TcpStream::connect(("127.0.0.1", server.port)).unwrap();
            let _ = stream.write_all(if i % 2 == 0 { b"" } else { b"GET / HT" });
            silent.push(stream);
        }
        std::thread::sleep(Duration::from_millis(100));
        matches!(status(format!("GET / HTTP/1.1\r\n{host}\r\n").as_bytes()), Some(503) | None)
    });
    assert!(is_refused);
    assert!(begin.elapsed() < Duration::from_secs(30), "{:?}", begin.elapsed());
    drop(silent);
    std::thread::sleep(Duration::from_millis(500));
    assert_eq!(server.get("/report/wines.parquet", "").status, 200);
    // A client that sends a byte now and then is disconnected at the time limit.
    let mut slow = TcpStream::connect(("127.0.0.1", server.port)).unwrap();
    let begin = Instant::now();
    while begin.elapsed() < Duration::from_secs(12) && slow.write_all(b"G").is_ok() {
        std::thread::sleep(Duration::from_millis(500));
    }
    let mut rest = String::new();
    let _ = slow.read_to_string(&mut rest);
    assert!(rest.is_empty() || rest.starts_with("HTTP/1.1 40"), "{rest}");
    assert_eq!(server.get("/report/wines.parquet", "").status, 200);
}

#[test]
fn what_cannot_be_served_is_told() {
    let folder = Folder::new("serve_cannot");
    let (code, text) = everything(&["serve", &folder.path("nothing")]);
    assert!(code == Some(1) && text.contains("nothing"), "{code:?} {text}");
    let (code, text) = everything(&["serve", "s3://bucket/x.parquet"]);
    assert!(code == Some(2) && text.contains("stores"), "{code:?} {text}");
    let server = Server::of(&wines(), &[]);
    let (code, text) = everything(&["serve", &wines(), "--port", &server.port.to_string()]);
    assert!(code == Some(2) && text.contains("cannot listen"), "{code:?} {text}");
}

/// Keys are for the files that are encrypted; the others are shown as they are.
#[test]
fn plain_files_are_shown_beside_encrypted_ones() {
    let folder = Folder::new("serve-mixed");
    let [keys, plain, sealed] =
        ["keys.json", "served/plain.parquet", "served/sealed.parquet"].map(|name| folder.path(name));
    fs::create_dir_all(folder.path("served")).unwrap();
    fs::write(&keys, r#"{"footer_key": "utf8:0123456789012345"}"#).unwrap();
    fs::copy(wines(), &plain).unwrap();
    assert_eq!(everything(&["rewrite", &plain, &sealed, "--encrypt-file", &keys]).0, Some(0));
    let server = Server::of(&folder.path("served"), &["--key-file", &keys]);
    for name in ["plain.parquet", "sealed.parquet"] {
        assert_eq!(server.get(&format!("/report/{name}"), "").status, 200, "{name}");
        let rows = server.get(&format!("/values/{name}"), "Range: rows=0-4\r\n");
        assert_eq!(rows.status, 206, "{name}: {}", rows.text());
    }
}
