//! Parses the head of a request, and refuses some.

use super::response::{Response, Status};
use std::collections::BTreeMap;
use std::io::{self, Read};
use std::time::{Duration, Instant};

/// A request that was accepted.
#[derive(Debug)]
pub(super) struct Request {
    /// Whether only the head of the response is wanted.
    pub(super) is_head: bool,
    /// The names between the slashes, decoded; an empty last one is dropped.
    pub(super) path: Vec<String>,
    pub(super) query: BTreeMap<String, String>,
    pub(super) range: Option<String>,
    pub(super) if_range: Option<String>,
    pub(super) if_none_match: Option<String>,
}

/// A reader whose next read has a time limit.
pub(super) trait TimedRead: Read {
    fn set_time_left(&mut self, left: Duration) -> io::Result<()>;
}

/// Reads a request. `Ok(None)` if the client closed the connection before it sent anything.
///
/// `port` is the port of the server. Requests for other hosts are refused, as a web page can make its own name resolve
/// to this machine (DNS rebinding).
pub(super) fn read(stream: &mut impl TimedRead, port: u16) -> Result<Option<Request>, Response> {
    let end = Instant::now() + HEAD_TIME;
    let mut head = Vec::new();
    loop {
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(refused(Status::Timeout, "the request took too long"));
        }
        let mut buffer = [0; 2048];
        let read = stream.set_time_left(left).and_then(|()| stream.read(&mut buffer));
        match read {
            Ok(0) if head.is_empty() => return Ok(None),
            Ok(0) => return Err(refused(Status::BadRequest, "the request ends within its head")),
            Ok(read) => head.extend_from_slice(&buffer[..read]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => {
                return Err(refused(Status::Timeout, "the request took too long"));
            }
            Err(_) => return Ok(None),
        }
        if let Some(request) = parse(&head, port)? {
            return Ok(Some(request));
        }
        if head.len() >= MOST_BYTES {
            return Err(refused(Status::TooLarge, "the head of the request is too long"));
        }
    }
}

/// `None` if the head is incomplete.
fn parse(head: &[u8], port: u16) -> Result<Option<Request>, Response> {
    let mut headers = [httparse::EMPTY_HEADER; MOST_HEADERS];
    let mut parsed = httparse::Request::new(&mut headers);
    match parsed.parse(head) {
        Ok(httparse::Status::Complete(_)) => {}
        Ok(httparse::Status::Partial) => return Ok(None),
        Err(httparse::Error::TooManyHeaders) => {
            return Err(refused(Status::TooLarge, "the request has too many headers"));
        }
        Err(_) => return Err(refused(Status::BadRequest, "this is not a request of HTTP")),
    }
    let headers = Headers(parsed.headers);
    check_source(&headers, port)?;
    let is_head = match parsed.method {
        Some("GET") => false,
        Some("HEAD") => true,
        _ => return Err(refused(Status::Method, "nothing is written here: GET and HEAD only")),
    };
    if headers.is_there("transfer-encoding") || headers.one("content-length")?.is_some_and(|len| len != "0") {
        return Err(refused(Status::BadRequest, "a request that has a body"));
    }
    let target = parsed.path.unwrap_or_default();
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    Ok(Some(Request {
        is_head,
        path: path_of(path)?,
        query: query_of(query)?,
        range: headers.one("range")?.map(str::to_owned),
        if_range: headers.one("if-range")?.map(str::to_owned),
        if_none_match: headers.one("if-none-match")?.map(str::to_owned),
    }))
}

/// Refuses requests that come from other pages, or under another host name.
fn check_source(headers: &Headers<'_, '_>, port: u16) -> Result<(), Response> {
    let hosts = [format!("127.0.0.1:{port}"), format!("localhost:{port}"), format!("[::1]:{port}")];
    let is_ours = |host: &str| hosts.iter().any(|known| known.eq_ignore_ascii_case(host));
    if !headers.one("host")?.is_some_and(is_ours) {
        return Err(refused(Status::Forbidden, "this host is not the one that is listened for"));
    }
    let origin = headers.one("origin")?;
    if origin.is_some_and(|origin| !origin.strip_prefix("http://").is_some_and(is_ours)) {
        return Err(refused(Status::Forbidden, "pages of other sites get nothing"));
    }
    match headers.one("sec-fetch-site")? {
        None | Some("none" | "same-origin") => Ok(()),
        Some(_) => Err(refused(Status::Forbidden, "pages of other sites get nothing")),
    }
}

struct Headers<'a, 'b>(&'a [httparse::Header<'b>]);

impl<'b> Headers<'_, 'b> {
    fn all(&self, name: &str) -> impl Iterator<Item = &'b [u8]> {
        self.0.iter().filter(move |header| header.name.eq_ignore_ascii_case(name)).map(|header| header.value)
    }

    fn is_there(&self, name: &str) -> bool {
        self.all(name).next().is_some()
    }

    /// The value of a header. Two values would be ambiguous.
    fn one(&self, name: &str) -> Result<Option<&'b str>, Response> {
        let mut values = self.all(name);
        let first = values.next();
        match (first.map(std::str::from_utf8), values.next()) {
            (None, _) => Ok(None),
            (Some(Ok(value)), None) => Ok(Some(value.trim())),
            _ => Err(refused(Status::BadRequest, "a header that appears twice, or is not text")),
        }
    }
}

/// The names of a path. Names that could lead elsewhere are not found.
fn path_of(path: &str) -> Result<Vec<String>, Response> {
    let not_found = || Response::not_found();
    let path =
        path.strip_prefix('/').ok_or_else(|| refused(Status::BadRequest, "a target that is not a path"))?;
    let mut names = Vec::new();
    let parts: Vec<&str> = path.split('/').collect();
    for (i, part) in parts.iter().enumerate() {
        if part.is_empty() && i + 1 == parts.len() {
            break;
        }
        let name = decoded(part, false)?;
        if !is_name(&name) {
            return Err(not_found());
        }
        names.push(name);
    }
    match names.len() > MOST_NAMES {
        true => Err(not_found()),
        false => Ok(names),
    }
}

/// Whether it is a valid name of an entry of a folder, on any system.
pub(super) fn is_name(name: &str) -> bool {
    !matches!(name, "" | "." | "..") && !name.contains(['/', '\\', '\0', ':'])
}

fn query_of(query: &str) -> Result<BTreeMap<String, String>, Response> {
    let pairs = query.split('&').filter(|pair| !pair.is_empty());
    pairs
        .map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            Ok((decoded(name, true)?, decoded(value, true)?))
        })
        .collect()
}

/// Decodes percent-encoded text once: text that is encoded twice stays encoded once.
fn decoded(text: &str, is_query: bool) -> Result<String, Response> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'%' => match (rest.next().and_then(hex), rest.next().and_then(hex)) {
                (Some(high), Some(low)) => high << 4 | low,
                _ => {
                    return Err(refused(Status::BadRequest, "a percent sign without two hexadecimal digits"));
                }
            },
            b'+' if is_query => b' ',
            byte => byte,
        });
    }
    String::from_utf8(bytes).map_err(|_| refused(Status::BadRequest, "a name that is not UTF-8"))
}

fn hex(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok())
}

/// Percent-encodes text as a part of a path or a query.
pub(super) fn encoded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => out.push(char::from(byte)),
            byte => out += &format!("%{byte:02X}"),
        }
    }
    out
}

fn refused(status: Status, why: &str) -> Response {
    Response::text(status, why)
}

const MOST_BYTES: usize = 16 << 10;
const MOST_HEADERS: usize = 64;
const MOST_NAMES: usize = 64;
const HEAD_TIME: Duration = Duration::from_secs(10);

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn parsed(head: &str) -> Result<Option<Request>, u16> {
        parse(head.as_bytes(), 8000).map_err(|response| response.status.code())
    }

    fn of_path(path: &str) -> Result<Vec<String>, u16> {
        let head = format!("GET {path} HTTP/1.1\r\nHost: 127.0.0.1:8000\r\n\r\n");
        parsed(&head).map(|request| request.unwrap().path)
    }

    #[test]
    fn paths_lead_down_only() {
        assert_eq!(of_path("/a/b%20c.parquet").unwrap(), ["a", "b c.parquet"]);
        assert_eq!(of_path("/a/").unwrap(), ["a"]);
        assert_eq!(of_path("/%252e%252e/x").unwrap(), ["%2e%2e", "x"]);
        for path in [
            "/../x",
            "/a/../x",
            "/a/..",
            "/%2e%2e/x",
            "/%2E./x",
            "/.%2e/x",
            "/a%2fb",
            "/a%5cb",
            "/a\\..\\b",
            "//x",
            "/a//x",
            "/./x",
            "/a%00b",
            "/c:/x",
            "/%2f%2fetc",
        ] {
            assert_eq!(of_path(path), Err(404), "{path}");
        }
        for path in ["x", "http://127.0.0.1:8000/x", "/%", "/%2", "/%zz", "/%ff", "*"] {
            assert_eq!(of_path(path), Err(400), "{path}");
        }
        let text = "ä b/..\\%+&=?#\u{202e}";
        assert_eq!(decoded(&encoded(text), true).ok().unwrap(), text);
    }

    #[test]
    fn only_our_own_pages_may_ask() {
        let ask = |headers: &str| {
            parsed(&format!("GET / HTTP/1.1\r\n{headers}\r\n")).map(|request| request.is_some())
        };
        for host in ["127.0.0.1:8000", "localhost:8000", "LOCALHOST:8000", "[::1]:8000"] {
            assert_eq!(ask(&format!("Host: {host}\r\n")), Ok(true), "{host}");
        }
        for host in [
            "evil.example:8000",
            "127.0.0.1",
            "127.0.0.1:8001",
            "localhost",
            "",
            "127.0.0.1:8000.evil.example",
            "localhost:8000@evil",
        ] {
            assert_eq!(ask(&format!("Host: {host}\r\n")), Err(403), "{host}");
        }
        assert_eq!(ask(""), Err(403));
        assert_eq!(ask("Host: 127.0.0.1:8000\r\nHost: 127.0.0.1:8000\r\n"), Err(400));
        let ours = "Host: 127.0.0.1:8000\r\n";
        for (header, expected) in [
            ("Origin: http://127.0.0.1:8000", Ok(true)),
            ("Origin: http://evil.example", Err(403)),
            ("Origin: null", Err(403)),
            ("Origin: https://127.0.0.1:8000", Err(403)),
            ("Sec-Fetch-Site: same-origin", Ok(true)),
            ("Sec-Fetch-Site: none", Ok(true)),
            ("Sec-Fetch-Site: same-site", Err(403)),
            ("Sec-Fetch-Site: cross-site", Err(403)),
            ("Content-Length: 0", Ok(true)),
            ("Content-Length: 5", Err(400)),
            ("Transfer-Encoding: chunked", Err(400)),
        ] {
            assert_eq!(ask(&format!("{ours}{header}\r\n")), expected, "{header}");
        }
    }

    #[test]
    fn what_is_no_request() {
        let host = "Host: localhost:8000\r\n";
        for method in ["POST", "PUT", "DELETE", "OPTIONS", "CONNECT", "PROPFIND", "get"] {
            assert_eq!(parsed(&format!("{method} / HTTP/1.1\r\n{host}\r\n")).err(), Some(405), "{method}");
        }
        assert!(parsed(&format!("HEAD / HTTP/1.0\r\n{host}\r\n")).unwrap().unwrap().is_head);
        assert!(parsed("GET / HTT").unwrap().is_none());
        for head in [
            "\u{16}\u{3}\u{1}",
            "GET / HTTP/9.9\r\n\r\n",
            "GET /\r\n\r\n",
            "GET / HTTP/1.1\r\nHost localhost\r\n\r\n",
            "GET /\0 HTTP/1.1\r\n",
        ] {
            assert_eq!(parsed(head).err(), Some(400), "{head:?}");
        }
        let many: String = (0..70).map(|i| format!("x{i}: y\r\n")).collect();
        assert_eq!(parsed(&format!("GET / HTTP/1.1\r\n{host}{many}\r\n")).err(), Some(431));
    }
}
