//! Routes: the response to each address.
//!
//! ```text
//! /SECRET/                  the folder, or the report of the only file
//! /SECRET/folder/NAMES      a folder; ?search= looks below it, ?from= goes on
//! /SECRET/report/NAMES      the report of a file; ?where= shows what is skipped
//! /SECRET/rows/NAMES        a page that shows rows
//! /SECRET/values/NAMES      rows for it, as JSON: Range: rows=0-49, ?columns=
//! /SECRET/file/NAMES        the bytes of a file: Range: bytes=0-99
//! ```

use super::below_folder::{Folder, Opened};
use super::byte_range::{Wanted, wanted};
use super::listing::{HEAD, Listing, TAIL, link};
use super::request::Request;
use super::response::{Body, Response, Status};
use super::row_preview::RowPreview;
use crate::failure::Failure;
use crate::printable::printable;
use marquetry::OpenFile;
use marquetry::errors::ErrorKind;
use marquetry::predicate::Predicate;
use marquetry_report::{Escaped, STYLE};
use std::fmt::Write;
use std::sync::{Condvar, Mutex, PoisonError};

/// Creates the report of a file: from its name, the file, a condition, and links to other pages.
pub(crate) type MakeReport = dyn Fn(&str, OpenFile, Option<&Predicate>, Vec<(String, String)>) -> Result<Vec<u8>, Failure>
    + Send
    + Sync;

/// The site.
pub(crate) struct Site {
    folder: Folder,
    /// The beginning of all addresses: a slash and a secret.
    base: String,
    report: Box<MakeReport>,
    /// Number of further requests that may read much.
    workers: Mutex<usize>,
    has_ended: Condvar,
}

impl Site {
    /// A site whose addresses contain `secret`.
    pub(crate) fn new(folder: Folder, secret: &str, workers: usize, report: Box<MakeReport>) -> Self {
        let workers = Mutex::new(workers.max(1));
        Site { folder, base: format!("/{secret}"), report, workers, has_ended: Condvar::new() }
    }

    /// Answers a request.
    pub(super) fn answer(&self, request: &Request) -> Response {
        let Some((secret, rest)) = request.path.split_first() else { return Response::not_found() };
        if !is_same(secret, &self.base[1..]) {
            return Response::not_found();
        }
        let Some((kind, names)) = rest.split_first() else {
            let to = match self.folder.only() {
                Some(only) => link(&self.base, "report", &[only.to_owned()]),
                None => format!("{}/folder/", self.base),
            };
            return Response::redirect(to);
        };
        match (kind.as_str(), names) {
            ("folder", names) => self.listing(names, request),
            ("report", names) => self.page_of_file(names, |file| self.report(names, file, request)),
            ("rows", names) => self.page_of_file(names, |file| self.rows_page(names, file)),
            ("values", names) => self.of_file(names, |file| {
                let _turn = self.turn();
                values(file, request)
            }),
            ("file", names) => self.of_file(names, |file| Ok(bytes(file, request))),
            ("site.css", []) => Response::new(
                "text/css; charset=utf-8",
                Body::Bytes([STYLE, SITE_STYLE].concat().into_bytes()),
            ),
            ("rows.js", []) => {
                Response::new("text/javascript; charset=utf-8", Body::Bytes(ROWS_SCRIPT.as_bytes().to_vec()))
            }
            _ => Response::not_found(),
        }
    }

    /// A response about a file, for programs; failures are plain text.
    fn of_file(&self, names: &[String], make: impl FnOnce(Opened) -> Result<Response, Failure>) -> Response {
        let made = self.made_of(names, make);
        made.unwrap_or_else(|failure| Response::text(status_of(&failure), &printable(&failure.to_string())))
    }

    /// A response about a file, for browsers; failures are a page with links to others.
    fn page_of_file(
        &self,
        names: &[String],
        make: impl FnOnce(Opened) -> Result<Response, Failure>,
    ) -> Response {
        let made = self.made_of(names, make);
        made.unwrap_or_else(|failure| self.failed_page(names, &failure))
    }

    fn made_of(
        &self,
        names: &[String],
        make: impl FnOnce(Opened) -> Result<Response, Failure>,
    ) -> Result<Response, Failure> {
        match self.folder.file(names)? {
            Some(file) => make(file.parquet()?),
            None => Ok(Response::not_found()),
        }
    }

    /// A page with the reason why a file is not shown.
    fn failed_page(&self, names: &[String], failure: &Failure) -> Response {
        let links = self.folder_link(names).into_iter().collect::<Vec<_>>();
        let mut page = self.page_head(names, &links);
        let _ = writeln!(page, "<p role=\"alert\">{}</p>", Escaped(&failure.to_string()));
        if status_of(failure) == Status::Unprocessable {
            page.push_str(
                "<p class=\"note\"><code>marquetry verify</code> says what is wrong with a file, <code>marquetry recover</code> saves what is left of one.</p>\n",
            );
        }
        page.push_str(TAIL);
        Response::html(page).with_status(status_of(failure))
    }

    /// The beginning of a page about a file, up to its name.
    fn page_head(&self, names: &[String], links: &[(String, String)]) -> String {
        let name = Escaped(names.last().map_or("", String::as_str));
        let mut page = format!(
            "{HEAD}<title>{name}</title>\n<link rel=\"stylesheet\" href=\"{}/site.css\">\n</head>\n<body>\n<main>\n<nav aria-label=\"Site\">",
            self.base
        );
        for (text, to) in links {
            let _ = write!(page, "<a href=\"{}\">{}</a> ", Escaped(to), Escaped(text));
        }
        let _ = writeln!(page, "</nav>\n<h1>{name}</h1>");
        page
    }

    fn listing(&self, names: &[String], request: &Request) -> Response {
        let _turn = self.turn();
        let listing = Listing { folder: &self.folder, base: &self.base };
        let page = match request.query.get("search").filter(|wanted| !wanted.is_empty()) {
            Some(wanted) => listing.found(names, wanted),
            None => {
                let from = request.query.get("from").and_then(|from| from.parse().ok());
                listing.page(names, from.unwrap_or(0))
            }
        };
        page.map_or_else(Response::not_found, Response::html)
    }

    fn report(&self, names: &[String], file: Opened, request: &Request) -> Result<Response, Failure> {
        let _turn = self.turn();
        let condition = request.query.get("where").filter(|text| !text.trim().is_empty());
        // Not as on the command line, where conditions can read lists of values from files.
        let condition = condition.map(|text| Predicate::parse(text)).transpose()?;
        let open = OpenFile::new(file.source, crate::keys::reader_options())?;
        let mut links = vec![("Values".to_owned(), link(&self.base, "rows", names))];
        links.extend(self.folder_link(names));
        links.push(("The file".to_owned(), link(&self.base, "file", names)));
        let name = names.last().map_or("", String::as_str);
        let page = (self.report)(name, open, condition.as_ref(), links)?;
        // The page has its own policy, which names its script.
        let policy = "form-action 'none'; base-uri 'none'; frame-ancestors 'none'";
        let response = Response::new("text/html; charset=utf-8", Body::Bytes(page));
        Ok(response.with_header("Content-Security-Policy", policy.to_owned()))
    }

    /// The link to a file's folder, if a folder is shown.
    fn folder_link(&self, names: &[String]) -> Option<(String, String)> {
        let (_, folder) = names.split_last()?;
        self.folder.only().is_none().then(|| ("The folder".to_owned(), link(&self.base, "folder", folder)))
    }

    fn rows_page(&self, names: &[String], file: Opened) -> Result<Response, Failure> {
        let rows = RowPreview::open(file.source)?.num_rows();
        let mut links = vec![("Report".to_owned(), link(&self.base, "report", names))];
        links.extend(self.folder_link(names));
        let mut page = self.page_head(names, &links);
        let _ = write!(
            page,
            "<form class=\"tools\"><label>From row <input id=\"first\" inputmode=\"numeric\" size=\"12\" value=\"0\"></label> \
             <label>Columns <input id=\"columns\" size=\"40\" placeholder=\"all\"></label> <button>Show</button> \
             <button type=\"button\" id=\"earlier\">Earlier</button> <button type=\"button\" id=\"later\">Later</button></form>\n\
             <p id=\"status\" role=\"status\">{rows} rows</p>\n<div class=\"scroll\" role=\"region\" aria-label=\"Rows\" tabindex=\"0\"><table id=\"rows\" data-from=\"{}\" data-count=\"{rows}\"></table></div>\n\
             <noscript><p>Rows need JavaScript.</p></noscript>\n<script src=\"{}/rows.js\"></script>\n{TAIL}",
            Escaped(&link(&self.base, "values", names)),
            self.base
        );
        Ok(Response::html(page))
    }

    /// Waits until one more request may read much.
    fn turn(&self) -> Turn<'_> {
        let mut workers = self.workers.lock().unwrap_or_else(PoisonError::into_inner);
        while *workers == 0 {
            workers = self.has_ended.wait(workers).unwrap_or_else(PoisonError::into_inner);
        }
        *workers -= 1;
        Turn(self)
    }
}

struct Turn<'a>(&'a Site);

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        *self.0.workers.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        self.0.has_ended.notify_one();
    }
}

/// The status, by whose fault it is: the client's, the file's, or the machine's.
fn status_of(failure: &Failure) -> Status {
    match failure {
        Failure::Usage(_) | Failure::UsageOf(..) => Status::BadRequest,
        Failure::File(error) => match error.kind() {
            ErrorKind::Argument => Status::BadRequest,
            ErrorKind::Corrupt
            | ErrorKind::Truncated
            | ErrorKind::Unsupported
            | ErrorKind::Limit
            | ErrorKind::Key => Status::Unprocessable,
            _ => Status::Failed,
        },
        _ => Status::Failed,
    }
}

/// Compares in constant time.
fn is_same(a: &str, b: &str) -> bool {
    a.len() == b.len() && a.bytes().zip(b.bytes()).fold(0, |sum, (a, b)| sum | (a ^ b)) == 0
}

/// A part of a file. The tag shows if the file has changed.
fn bytes(file: Opened, request: &Request) -> Response {
    let len = file.source.len();
    let headers = |response: Response| {
        let response = response.with_header("ETag", file.tag.clone());
        response.with_header("Accept-Ranges", "bytes".to_owned())
    };
    let knows = |tags: &str| tags.split(',').any(|tag| tag.trim() == file.tag || tag.trim() == "*");
    if request.if_none_match.as_deref().is_some_and(knows) {
        return headers(Response::text(Status::NotModified, ""));
    }
    let is_of_this = request.if_range.as_ref().is_none_or(|tag| *tag == file.tag);
    let range = request.range.as_deref().filter(|_| is_of_this);
    let part =
        |range| Response::new("application/vnd.apache.parquet", Body::Part(file.source.clone(), range));
    headers(match wanted(range, "bytes", len) {
        Wanted::All => part(0..len),
        Wanted::Part(range) => {
            let says = format!("bytes {}-{}/{len}", range.start, range.end - 1);
            part(range).with_status(Status::Part).with_header("Content-Range", says)
        }
        Wanted::Nothing => Response::text(Status::NoSuchPart, "the file has no such bytes")
            .with_header("Content-Range", format!("bytes */{len}")),
    })
}

/// Some rows, limited to what a person looks at.
fn values(file: Opened, request: &Request) -> Result<Response, Failure> {
    let preview = RowPreview::open(file.source)?;
    let len = preview.num_rows();
    let mut range = match wanted(request.range.as_deref(), "rows", len) {
        Wanted::Part(range) => range,
        Wanted::Nothing => {
            let response = Response::text(Status::NoSuchPart, "the file has no such rows");
            return Ok(response.with_header("Content-Range", format!("rows */{len}")));
        }
        Wanted::All => return Err(Failure::Usage("ask for some rows, such as Range: rows=0-49".to_owned())),
    };
    range.end = range.end.min(range.start + MOST_ROWS);
    let columns = request.query.get("columns").filter(|columns| !columns.trim().is_empty());
    let rows = preview.read(&range, columns.map(String::as_str))?;
    let response = Response::new("application/json", Body::Bytes(rows.to_string().into_bytes()));
    let says = format!("rows {}-{}/{len}", range.start, range.end - 1);
    Ok(response
        .with_status(Status::Part)
        .with_header("Content-Range", says)
        .with_header("Accept-Ranges", "rows".to_owned()))
}

const SITE_STYLE: &str = include_str!("assets/site.css");
const ROWS_SCRIPT: &str = include_str!("assets/rows.js");
const MOST_ROWS: u64 = 1_000;
