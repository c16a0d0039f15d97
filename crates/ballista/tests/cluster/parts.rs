//! The parts of a cluster as processes, which end with the test.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_marquetry-ballista");

/// How long parts may take to come up.
const START: Duration = Duration::from_secs(90);

/// A process of this program. It ends with the test that started it, however that ends.
pub(crate) struct Part(pub(crate) Child);

impl Drop for Part {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// `marquetry-ballista local`: its process, and where its scheduler is.
pub(crate) fn local(executors: usize) -> (Part, String) {
    let mut command = Command::new(PROGRAM);
    command.args(["local", "--port=0", &format!("--executors={executors}")]);
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
    let stdout = child.stdout.take().unwrap();
    let part = Part(child);
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        let mut line = String::new();
        let _ = BufReader::new(stdout).read_line(&mut line);
        let _ = sender.send(line);
    });
    let line = receiver.recv_timeout(START).expect("the cluster comes up");
    let address = line
        .strip_prefix("scheduler at ")
        .and_then(|rest| rest.strip_suffix(&format!(", {executors} executors\n")));
    (part, address.unwrap_or_else(|| panic!("{line:?}")).to_owned())
}

pub(crate) struct Cluster {
    pub(crate) address: String,
    pub(crate) executors: Vec<Part>,
    _scheduler: Part,
}

/// A scheduler, and executors that are started one by one, each with two tasks at once.
pub(crate) fn cluster(executors: usize) -> Cluster {
    let port = free_port();
    let address = format!("127.0.0.1:{port}");
    let scheduler = start(&[
        "scheduler".to_owned(),
        format!("--port={port}"),
        format!("--min-executors={executors}"),
        "--executor-timeout=10".to_owned(),
    ]);
    let executor = |_| {
        start(&[
            "executor".to_owned(),
            format!("--scheduler={address}"),
            format!("--port={}", free_port()),
            format!("--task-port={}", free_port()),
            "--tasks=2".to_owned(),
            "--memory-part=0.2".to_owned(),
        ])
    };
    let executors = (0..executors).map(executor).collect();
    let end = Instant::now() + START;
    while !is_ready(&address) {
        assert!(Instant::now() < end, "the cluster comes up");
        std::thread::sleep(Duration::from_millis(100));
    }
    Cluster { address, executors, _scheduler: scheduler }
}

fn start(arguments: &[String]) -> Part {
    Part(Command::new(PROGRAM).args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).spawn().unwrap())
}

fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

fn is_ready(address: &str) -> bool {
    let answer = || {
        let mut stream = TcpStream::connect(address)?;
        stream.write_all(b"GET /readyz HTTP/1.0\r\nHost: localhost\r\n\r\n")?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        std::io::Result::Ok(answer)
    };
    answer().is_ok_and(|answer| answer.split_whitespace().nth(1) == Some("200"))
}

/// Whether anything listens there.
pub(crate) fn is_reached(address: &str) -> bool {
    TcpStream::connect(address).is_ok()
}
