//! A local cluster: a scheduler and executors on this machine.

use crate::args::{LocalArgs, MEMORY_PART};
use crate::executor::processors;
use crate::private_folder::private_folder;
use std::error::Error;
use std::net::TcpListener;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::process::{Child, ChildStdin, Command};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, timeout};

/// How long the parts may take to start, and to end.
const START: Duration = Duration::from_secs(60);
const END: Duration = Duration::from_secs(10);

/// Starts the parts, prints where they are, and ends them when this process is told to end.
pub(crate) async fn run(args: LocalArgs) -> Result<(), Box<dyn Error + Send + Sync>> {
    let folder = private_folder("marquetry-ballista")?;
    let port = if args.port == 0 { free_port()? } else { args.port };
    let Part { process: mut scheduler, stdin: _held } = start(&[
        "scheduler",
        &format!("--port={port}"),
        &format!("--min-executors={}", args.executors),
        "--until-stdin-ends",
    ])?;
    let mut executors = JoinSet::new();
    for number in 0..args.executors {
        let executor = start_executor(&args, port, &folder.path().join(number.to_string()))?;
        executors.spawn(waited(number + 1, executor));
    }
    let is_up = async {
        while !is_ready(port).await {
            sleep(Duration::from_millis(50)).await;
        }
    };
    tokio::select! {
        up = timeout(START, is_up) => up.map_err(|_| "the parts did not come up within a minute")?,
        ended = scheduler.wait() => return Err(format!("the scheduler has ended: {}", ended?).into()),
        Some(ended) = executors.join_next() => return Err(ended?.into()),
        end = shutdown_requested() => return end,
    }
    println!("scheduler at 127.0.0.1:{port}, {} executors", args.executors);
    let stopped = loop {
        tokio::select! {
            end = shutdown_requested() => break end,
            ended = scheduler.wait() => break Err(format!("the scheduler has ended: {}", ended?).into()),
            Some(ended) = executors.join_next() => {
                // The others go on.
                eprintln!("marquetry-ballista: {}", ended?);
                if executors.is_empty() {
                    break Err("no executor is left".into());
                }
            }
        }
    };
    end(scheduler, executors, folder).await;
    stopped
}

/// A process of this program. Its standard input is a pipe that closes when we end, which ends the process. Waiting for
/// a process of tokio's closes the pipe that it still has, so that this is held apart.
struct Part {
    process: Child,
    stdin: Option<ChildStdin>,
}

/// Starts this program in another role.
fn start(arguments: &[&str]) -> std::io::Result<Part> {
    let mut command = Command::new(std::env::current_exe()?);
    let command = command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::null()).kill_on_drop(true);
    let mut process = command.spawn()?;
    let stdin = process.stdin.take();
    Ok(Part { process, stdin })
}

fn start_executor(args: &LocalArgs, port: u16, folder: &Path) -> std::io::Result<Part> {
    std::fs::create_dir(folder)?;
    let executors = usize::from(args.executors);
    let tasks = args.tasks.map_or_else(|| (processors() / executors).max(1), usize::from);
    start(&[
        "executor",
        &format!("--scheduler=127.0.0.1:{port}"),
        &format!("--port={}", free_port()?),
        &format!("--task-port={}", free_port()?),
        "--external-host=127.0.0.1",
        &format!("--tasks={tasks}"),
        &format!("--memory-part={}", MEMORY_PART / executors as f64),
        &format!("--work-dir={}", folder.display()),
        "--until-stdin-ends",
    ])
}

/// Describes how an executor ended.
async fn waited(number: u16, executor: Part) -> String {
    let Part { mut process, stdin: _held } = executor;
    match process.wait().await {
        Ok(status) => format!("executor {number} has ended: {status}"),
        Err(error) => format!("executor {number} is not known to run: {error}"),
    }
}

/// A port that nothing listens on. Another process may take it first; the part then fails to start.
fn free_port() -> std::io::Result<u16> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?.port())
}

/// Whether the scheduler reports that all executors are there.
async fn is_ready(port: u16) -> bool {
    let answer = async {
        let mut stream = TcpStream::connect(("127.0.0.1", port)).await?;
        stream.write_all(b"GET /readyz HTTP/1.0\r\nHost: localhost\r\n\r\n").await?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await?;
        std::io::Result::Ok(answer)
    };
    answer.await.is_ok_and(|answer| answer.split_whitespace().nth(1) == Some("200"))
}

#[cfg(unix)]
async fn shutdown_requested() -> Result<(), Box<dyn Error + Send + Sync>> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut terminate = signal(SignalKind::terminate())?;
    tokio::select! {
        pressed = tokio::signal::ctrl_c() => pressed?,
        _ = terminate.recv() => {}
    }
    Ok(())
}

#[cfg(not(unix))]
async fn shutdown_requested() -> Result<(), Box<dyn Error + Send + Sync>> {
    Ok(tokio::signal::ctrl_c().await?)
}

/// Ends all parts, and removes what they kept.
async fn end(mut scheduler: Child, mut executors: JoinSet<String>, folder: TempDir) {
    // The task that holds an executor drops it, which ends the process.
    executors.abort_all();
    let all = async {
        while executors.join_next().await.is_some() {}
        let _ = scheduler.kill().await;
    };
    let end = Instant::now() + END;
    if tokio::time::timeout_at(end, all).await.is_err() {
        eprintln!("marquetry-ballista: parts of the cluster may still run");
    }
    if let Err(error) = folder.close() {
        eprintln!("marquetry-ballista: rows between two stages are left: {error}");
    }
}
