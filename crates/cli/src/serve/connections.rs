//! Accepts connections: from whom, how many at a time, and for how long.

use super::request::{self, TimedRead};
use super::response::{Response, Status};
use super::site::Site;
use std::io::{self, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// Serves requests until the process ends, each on a thread of its own.
pub(crate) fn serve(listener: &TcpListener, site: Site) -> io::Result<()> {
    let port = listener.local_addr()?.port();
    let site = Arc::new(site);
    let active = Arc::new(AtomicUsize::new(0));
    loop {
        let stream = match listener.accept() {
            Ok((stream, _)) => stream,
            // The client gave up, or there are no more handles for now.
            Err(_) => {
                std::thread::sleep(PAUSE);
                continue;
            }
        };
        let turn = Turn::take(&active);
        let Some(turn) = turn else {
            let response = Response::text(Status::Busy, "too many connections: ask again");
            refuse(stream, response);
            continue;
        };
        let site = site.clone();
        let work = move || {
            let _turn = turn;
            answer(stream, |stream| match request::read(stream, port) {
                Ok(Some(request)) => Some((site.answer(&request), request.is_head)),
                Ok(None) => None,
                Err(response) => Some((response, false)),
            });
        };
        // Without a thread, the connection is dropped.
        let _ = std::thread::Builder::new().name("connection".to_owned()).spawn(work);
    }
}

/// A permit to serve a connection.
struct Turn(Arc<AtomicUsize>);

impl Turn {
    fn take(active: &Arc<AtomicUsize>) -> Option<Turn> {
        // Only one thread takes permits.
        if active.load(Ordering::Acquire) >= MOST_CONNECTIONS {
            return None;
        }
        active.fetch_add(1, Ordering::AcqRel);
        Some(Turn(active.clone()))
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

impl TimedRead for TcpStream {
    fn set_time_left(&mut self, left: Duration) -> io::Result<()> {
        self.set_read_timeout(Some(left))
    }
}

/// Sends a refusal, without waiting for the client: other connections must be accepted.
fn refuse(mut stream: TcpStream, response: Response) {
    let _ = stream.set_write_timeout(Some(PAUSE));
    let _ = response.write(false, &mut stream);
}

fn answer(mut stream: TcpStream, respond: impl FnOnce(&mut TcpStream) -> Option<(Response, bool)>) {
    let _ = stream.set_write_timeout(Some(WRITE_TIME));
    let _ = stream.set_nodelay(true);
    let Some((response, is_head)) = respond(&mut stream) else { return };
    // It does not matter if the client has gone.
    let written = response.write(is_head, &mut io::BufWriter::with_capacity(64 << 10, &mut stream));
    if written.and_then(|()| stream.flush()).is_ok() && stream.shutdown(Shutdown::Write).is_ok() {
        linger(&mut stream);
    }
}

/// Reads some of the bytes that the client sent but nobody read: a system that discards them resets the connection, and
/// the client may then not read the response.
fn linger(stream: &mut TcpStream) {
    let _ = stream.set_read_timeout(Some(LINGER_TIME));
    let mut buffer = [0; 4096];
    for _ in 0..16 {
        match io::Read::read(stream, &mut buffer) {
            Ok(1..) => {}
            _ => return,
        }
    }
}

const MOST_CONNECTIONS: usize = 32;
const WRITE_TIME: Duration = Duration::from_secs(30);
const LINGER_TIME: Duration = Duration::from_secs(1);
const PAUSE: Duration = Duration::from_millis(50);
