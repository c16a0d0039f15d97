//! Builds and writes responses.

use marquetry::errors::Result;
use marquetry::file::Source;
use std::fmt::Write as _;
use std::io::{self, Write};
use std::ops::Range;
use std::sync::Arc;

/// The status of a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Status {
    Ok,
    Part,
    Found,
    NotModified,
    BadRequest,
    Forbidden,
    NotFound,
    Method,
    Timeout,
    NoSuchPart,
    /// The file exists, but cannot be parsed.
    Unprocessable,
    TooLarge,
    Failed,
    Busy,
}

impl Status {
    #[cfg(test)]
    pub(super) fn code(self) -> u16 {
        self.line().0
    }

    fn line(self) -> (u16, &'static str) {
        match self {
            Status::Ok => (200, "OK"),
            Status::Part => (206, "Partial Content"),
            Status::Found => (302, "Found"),
            Status::NotModified => (304, "Not Modified"),
            Status::BadRequest => (400, "Bad Request"),
            Status::Forbidden => (403, "Forbidden"),
            Status::NotFound => (404, "Not Found"),
            Status::Method => (405, "Method Not Allowed"),
            Status::Timeout => (408, "Request Timeout"),
            Status::NoSuchPart => (416, "Range Not Satisfiable"),
            Status::Unprocessable => (422, "Unprocessable Content"),
            Status::TooLarge => (431, "Request Header Fields Too Large"),
            Status::Failed => (500, "Internal Server Error"),
            Status::Busy => (503, "Service Unavailable"),
        }
    }
}

/// The body of a response.
pub(super) enum Body {
    Bytes(Vec<u8>),
    /// A part of a file.
    Part(Arc<dyn Source>, Range<u64>),
}

/// A response.
pub(super) struct Response {
    pub(super) status: Status,
    content_type: &'static str,
    headers: Vec<(&'static str, String)>,
    body: Body,
}

impl Response {
    pub(super) fn new(content_type: &'static str, body: Body) -> Self {
        Response { status: Status::Ok, content_type, headers: Vec::new(), body }
    }

    /// A response with a sentence.
    pub(super) fn text(status: Status, text: &str) -> Self {
        let body = Body::Bytes(format!("{text}\n").into_bytes());
        Response::new("text/plain; charset=utf-8", body).with_status(status)
    }

    pub(super) fn html(page: String) -> Self {
        Response::new("text/html; charset=utf-8", Body::Bytes(page.into_bytes()))
    }

    /// The response for everything that does not exist, or must not be seen.
    pub(super) fn not_found() -> Self {
        Response::text(Status::NotFound, "there is nothing of this name")
    }

    pub(super) fn redirect(to: String) -> Self {
        Response::text(Status::Found, "elsewhere").with_header("Location", to)
    }

    pub(super) fn with_status(mut self, status: Status) -> Self {
        self.status = status;
        self
    }

    /// `value` contains no line breaks: it is made of numbers and encoded text.
    pub(super) fn with_header(mut self, name: &'static str, value: String) -> Self {
        self.headers.push((name, value));
        self
    }

    fn len(&self) -> u64 {
        match &self.body {
            Body::Bytes(bytes) => bytes.len() as u64,
            Body::Part(_, range) => range.end - range.start,
        }
    }

    /// Writes the response. Fails if the client has gone, or if a file cannot be read any more.
    pub(super) fn write(self, is_head: bool, out: &mut impl Write) -> io::Result<()> {
        let (code, reason) = self.status.line();
        let mut head = format!("HTTP/1.1 {code} {reason}\r\n");
        let len = match self.status {
            Status::NotModified => None,
            _ => Some(("Content-Length", self.len().to_string())),
        };
        let allowed = (self.status == Status::Method).then(|| ("Allow", "GET, HEAD".to_owned()));
        for (name, value) in self.headers.iter().chain(&len).chain(&allowed) {
            let _ = write!(head, "{name}: {value}\r\n");
        }
        let _ = write!(head, "Content-Type: {}\r\n", self.content_type);
        let has = |name| self.headers.iter().any(|(known, _)| *known == name);
        for (name, value) in ALWAYS {
            if !has(*name) {
                let _ = write!(head, "{name}: {value}\r\n");
            }
        }
        head += "\r\n";
        out.write_all(head.as_bytes())?;
        if is_head || self.status == Status::NotModified {
            return out.flush();
        }
        match self.body {
            Body::Bytes(bytes) => out.write_all(&bytes)?,
            Body::Part(source, range) => {
                // A read error shows as a response that is too short.
                write_part(&*source, range, out)?;
            }
        }
        out.flush()
    }
}

fn write_part(source: &dyn Source, range: Range<u64>, out: &mut impl Write) -> io::Result<()> {
    let mut at = range.start;
    while at < range.end {
        let wanted = (range.end - at).min(AT_A_TIME);
        let bytes: Result<_> = source.read_at(at, wanted as usize);
        out.write_all(&bytes.map_err(io::Error::other)?)?;
        at += wanted;
    }
    Ok(())
}

/// Other sites may neither frame nor read pages, nothing is cached, and no referrer is sent.
const ALWAYS: &[(&str, &str)] = &[
    ("Content-Security-Policy", POLICY),
    ("X-Content-Type-Options", "nosniff"),
    ("X-Frame-Options", "DENY"),
    ("Referrer-Policy", "no-referrer"),
    ("Cross-Origin-Resource-Policy", "same-origin"),
    ("Cross-Origin-Opener-Policy", "same-origin"),
    ("Cache-Control", "no-store"),
    ("Connection", "close"),
];

const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";
const AT_A_TIME: u64 = 1 << 20;
