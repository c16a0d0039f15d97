//! A web server of one file: ranges, ETags, conditions, and faults. It counts what it gives.

use std::io::{BufRead, BufReader, Result, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A running server; clones are the same one. It ends with the process.
#[derive(Clone)]
pub(crate) struct Server {
    address: std::net::SocketAddr,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    file: Vec<u8>,
    faults: Faults,
    /// The bytes of each response, and whether the request was a HEAD.
    answers: Vec<Answer>,
    asked: usize,
    /// Requests that wait for their response, and how often a request came when no other waited.
    waiting: usize,
    rounds: usize,
    /// The user of the last request.
    authorization: Option<String>,
}

/// What goes wrong. Requests are counted from 0.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Faults {
    /// The delay of each response.
    pub(crate) latency: Duration,
    /// These requests get status 503.
    pub(crate) busy: Option<(usize, usize)>,
    /// These end in the middle of the body.
    pub(crate) cut: Option<(usize, usize)>,
    /// From this request on, the file is another one.
    pub(crate) changes: Option<usize>,
    /// Whether conditions are ignored.
    pub(crate) is_careless: bool,
    /// Whether there are no ETags.
    pub(crate) has_no_tags: bool,
    /// Whether ranges from the end are refused.
    pub(crate) knows_no_suffix: bool,
    /// Whether ranges are ignored.
    pub(crate) knows_no_ranges: bool,
    /// Whether HEAD is refused.
    pub(crate) knows_no_head: bool,
    /// Whether all requests are refused, with a body that does not end.
    pub(crate) forbids: bool,
    /// Whether ranges get the rest of the file, and the length of that.
    pub(crate) gives_more: bool,
    /// Whether responses to ranges omit the size of the file.
    pub(crate) hides_size: bool,
    /// Whether responses omit their length.
    pub(crate) hides_length: bool,
    /// Bodies come in pieces of so many bytes, with a pause after each.
    pub(crate) pieces: Option<(usize, Duration)>,
    /// These get no answer at all.
    pub(crate) silent: Option<(usize, usize)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) bytes: usize,
}

struct Request {
    is_head: bool,
    path: String,
    range: Option<String>,
    if_match: Option<String>,
    authorization: Option<String>,
}

impl Server {
    /// Serves `file` as `/data/file 1.parquet`.
    pub(crate) fn start(file: Vec<u8>, faults: Faults) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let state = Arc::new(Mutex::new(State { file, faults, ..State::default() }));
        let server = Server { address, state: state.clone() };
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let state = state.clone();
                // A client that goes away is not a fault.
                std::thread::spawn(move || serve(stream.unwrap(), &state).ok());
            }
        });
        server
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/data/file%201.parquet", self.address)
    }

    /// Returns how often, since the last call, a request came when no other waited. With a long latency, this is how
    /// many latencies the client has paid.
    pub(crate) fn take_rounds(&self) -> usize {
        std::mem::take(&mut self.state.lock().unwrap().rounds)
    }

    /// Returns the user of the last request.
    pub(crate) fn take_authorization(&self) -> Option<String> {
        self.state.lock().unwrap().authorization.take()
    }

    /// Returns the responses since the last call.
    pub(crate) fn take_answers(&self) -> Vec<Answer> {
        std::mem::take(&mut self.state.lock().unwrap().answers)
    }
}

fn serve(stream: TcpStream, state: &Mutex<State>) -> Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut stream = stream;
    while let Some(request) = read_request(&mut reader)? {
        let latency = {
            let mut state = state.lock().unwrap();
            state.waiting += 1;
            state.rounds += usize::from(state.waiting == 1);
            state.faults.latency
        };
        std::thread::sleep(latency);
        state.lock().unwrap().waiting -= 1;
        if !answer(&request, &mut stream, state)? {
            return Ok(());
        }
    }
    Ok(())
}

fn read_request(reader: &mut impl BufRead) -> Result<Option<Request>> {
    let mut line = String::new();
    if reader.read_line(&mut line)? == 0 {
        return Ok(None);
    }
    let mut words = line.split_whitespace();
    let (method, path) = (words.next().unwrap(), words.next().unwrap());
    assert!(matches!(method, "GET" | "HEAD"), "{method}");
    let mut request = Request {
        is_head: method == "HEAD",
        path: path.to_owned(),
        range: None,
        if_match: None,
        authorization: None,
    };
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let Some((name, value)) = line.trim().split_once(": ") else { return Ok(Some(request)) };
        match name.to_ascii_lowercase().as_str() {
            "range" => request.range = Some(value.to_owned()),
            "authorization" => request.authorization = Some(value.to_owned()),
            "if-match" => request.if_match = Some(value.to_owned()),
            _ => {}
        }
    }
}

/// Sends the response. Returns whether the connection stays open.
fn answer(request: &Request, stream: &mut TcpStream, state: &Mutex<State>) -> Result<bool> {
    let mut state = state.lock().unwrap();
    let (asked, faults) = (state.asked, state.faults);
    state.asked += 1;
    state.authorization.clone_from(&request.authorization);
    if faults.forbids {
        drop(state);
        return refuse(stream);
    }
    if faults.silent.is_some_and(|(from, to)| (from..to).contains(&asked)) {
        drop(state);
        std::thread::sleep(Duration::from_secs(600));
        return Ok(false);
    }
    let hits = |range: Option<(usize, usize)>| range.is_some_and(|(from, to)| (from..to).contains(&asked));
    let is_new = faults.changes.is_some_and(|changes| asked >= changes);
    let tag = if is_new { "\"new\"" } else { "\"old\"" };
    let len = state.file.len();
    let range = request.range.as_deref().filter(|_| !faults.knows_no_ranges).and_then(|range| {
        let (from, to) = range.strip_prefix("bytes=").unwrap().split_once('-').unwrap();
        match from.is_empty() {
            true => Some(len.saturating_sub(to.parse().unwrap())..len).filter(|_| !faults.knows_no_suffix),
            false => Some(from.parse().unwrap()..(to.parse::<usize>().unwrap() + 1).min(len)),
        }
    });
    let is_other = request.if_match.as_ref().is_some_and(|wanted| wanted != tag) && !faults.is_careless;
    let (status, body) = match range {
        _ if hits(faults.busy) => (503, 0..0),
        _ if !request.path.starts_with("/data/file%201.parquet") => (404, 0..0),
        _ if is_other => (412, 0..0),
        _ if faults.knows_no_head && request.is_head => (405, 0..0),
        Some(range) if range.is_empty() => (416, 0..0),
        Some(range) => (206, range),
        None => (200, 0..len),
    };
    let told = body.clone();
    let body = if faults.gives_more && status == 206 { body.start..len } else { body };
    let mut head = format!("HTTP/1.1 {status} x\r\n");
    head += &match faults.hides_length && !request.is_head {
        true => "connection: close\r\n".to_owned(),
        false => format!("content-length: {}\r\n", body.len()),
    };
    head += &format!("last-modified: Mon, 06 Jul 2026 10:00:{} GMT\r\n", if is_new { "01" } else { "00" });
    if !faults.has_no_tags {
        head += &format!("etag: {tag}\r\n");
    }
    if status == 206 {
        let size = if faults.hides_size { "*".to_owned() } else { len.to_string() };
        head += &format!("content-range: bytes {}-{}/{size}\r\n", told.start, told.end - 1);
    }
    stream.write_all((head + "\r\n").as_bytes())?;
    let is_cut = hits(faults.cut) && !body.is_empty() && !request.is_head;
    let given = if request.is_head { 0..0 } else { body.clone() };
    let given = if is_cut { given.start..given.end - given.len().div_ceil(2) } else { given };
    state.answers.push(Answer { status, bytes: given.len() });
    let given = state.file[given].to_vec();
    drop(state);
    match faults.pieces {
        Some((size, pause)) => given.chunks(size).try_for_each(|piece| {
            stream.write_all(piece)?;
            std::thread::sleep(pause);
            Ok::<_, std::io::Error>(())
        })?,
        None => stream.write_all(&given)?,
    }
    stream.flush()?;
    Ok(!is_cut && !faults.hides_length)
}

/// Refuses a request at such length that no client may read it all.
fn refuse(stream: &mut TcpStream) -> Result<bool> {
    stream.write_all(b"HTTP/1.1 403 x\r\nconnection: close\r\n\r\n")?;
    for _ in 0..ENDLESS >> 20 {
        stream.write_all(&[b'x'; 1 << 20])?;
    }
    Ok(false)
}

/// More bytes than a test has time to read.
const ENDLESS: usize = 1 << 34;
