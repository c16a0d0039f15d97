//! The command line.

use clap::{Args, Parser, Subcommand};
use std::net::IpAddr;
use std::path::PathBuf;

/// SQL over Parquet files on many machines: Ballista distributes, Marquetry reads and writes.
#[derive(Debug, Parser)]
#[command(name = "marquetry-ballista", version, max_term_width = 110, after_help = AFTER_HELP)]
pub(crate) struct CommandLine {
    #[command(subcommand)]
    pub(crate) role: Role,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Role {
    /// A scheduler and executors on this machine, as processes that end with this one
    Local(LocalArgs),
    /// The scheduler of a cluster: clients ask it, and it plans what executors do
    Scheduler(SchedulerArgs),
    /// An executor of a cluster: it reads files, and hands rows to other executors and to clients
    Executor(ExecutorArgs),
    /// What `marquetry sql --cluster HOST:PORT` runs
    Sql(marquetry_sql::CommandLine),
}

#[derive(Debug, Args)]
pub(crate) struct LocalArgs {
    /// How many executors
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u16).range(1..=256))]
    pub(crate) executors: u16,
    /// Where the scheduler is asked, at 127.0.0.1. 0 takes one that is free
    #[arg(long, value_name = "PORT", default_value_t = SCHEDULER_PORT)]
    pub(crate) port: u16,
    /// How many tasks an executor runs at once. Its share of the processors if not given
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) tasks: Option<u16>,
}

#[derive(Debug, Args)]
pub(crate) struct SchedulerArgs {
    /// The address of this machine on which it listens. Whoever reaches it can read and write all files that the cluster can
    #[arg(long, value_name = "IP", default_value = "127.0.0.1")]
    pub(crate) bind: IpAddr,
    #[arg(long, default_value_t = SCHEDULER_PORT)]
    pub(crate) port: u16,
    /// Under which name executors reach it. The address of --bind if not given
    #[arg(long, value_name = "HOST")]
    pub(crate) external_host: Option<String>,
    /// After how many seconds without a sign of life an executor is given up, and queries that run end with an error
    #[arg(long, value_name = "SECONDS", default_value_t = 20, value_parser = clap::value_parser!(u64).range(10..))]
    pub(crate) executor_timeout: u64,
    /// With how many executors /readyz of its port says that it is ready
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) min_executors: usize,
    /// End when standard input does: with the process that started it
    #[arg(long, hide = true)]
    pub(crate) until_stdin_ends: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ExecutorArgs {
    /// The host and port of the scheduler. It is waited for a minute
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:50050", value_parser = host_and_port)]
    pub(crate) scheduler: (String, u16),
    /// The address of this machine on which it listens
    #[arg(long, value_name = "IP", default_value = "127.0.0.1")]
    pub(crate) bind: IpAddr,
    /// Where rows are fetched
    #[arg(long, default_value_t = 50051)]
    pub(crate) port: u16,
    /// Where the scheduler hands out tasks
    #[arg(long, value_name = "PORT", default_value_t = 50052)]
    pub(crate) task_port: u16,
    /// Under which name clients, executors and the scheduler reach it. The address that the scheduler sees if not given
    #[arg(long, value_name = "HOST")]
    pub(crate) external_host: Option<String>,
    /// How many tasks run at once. One for each processor if not given
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) tasks: Option<u16>,
    /// The part of the machine's memory, or of the container's, that sorts, joins and groups may take together
    #[arg(long, value_name = "PART", default_value_t = MEMORY_PART, value_parser = part)]
    pub(crate) memory_part: f64,
    /// Where rows between two stages are kept, and what does not fit in memory. A temporary folder if not given
    #[arg(long, value_name = "DIR")]
    pub(crate) work_dir: Option<PathBuf>,
    /// End when standard input does: with the process that started it
    #[arg(long, hide = true)]
    pub(crate) until_stdin_ends: bool,
}

const SCHEDULER_PORT: u16 = 50050;

/// What is not counted, such as buffers of files, needs memory, too.
pub(crate) const MEMORY_PART: f64 = 0.7;

fn host_and_port(text: &str) -> Result<(String, u16), String> {
    let parts = text.rsplit_once(':').and_then(|(host, port)| Some((host, port.parse::<u16>().ok()?)));
    match parts {
        Some((host, port @ 1..)) if !host.is_empty() => Ok((host.to_owned(), port)),
        _ => Err("it is written HOST:PORT".to_owned()),
    }
}

fn part(text: &str) -> Result<f64, String> {
    let part = text.parse().ok().filter(|part| *part > 0.0 && *part <= 1.0);
    part.ok_or_else(|| "it is above 0, and at most 1".to_owned())
}

const AFTER_HELP: &str = "\
On one machine:
  marquetry-ballista local --executors 2
  marquetry sql --cluster 127.0.0.1:50050 \"select count(*) from '/data/events/*.parquet'\"

On several:
  marquetry-ballista scheduler --bind 0.0.0.0 --external-host scheduler.example
  marquetry-ballista executor --bind 0.0.0.0 --scheduler scheduler.example:50050
  marquetry sql --cluster scheduler.example:50050 \\
      \"select count(*) from 's3://bucket/events/*.parquet'\"

Object stores: the environment of each process says keys, regions and endpoints, by the usual names (AWS_ACCESS_KEY_ID, ..).
Nobody is asked who they are, and nothing is encrypted between the parts: keep a cluster in a network of its own.
RUST_LOG=info has the parts say what they do.";

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn arguments_go_together() {
        CommandLine::command().debug_assert();
    }

    #[test]
    fn hosts_have_ports() {
        assert_eq!(host_and_port("a:1"), Ok(("a".to_owned(), 1)));
        assert_eq!(host_and_port("[::1]:50050"), Ok(("[::1]".to_owned(), 50050)));
        for wrong in ["a", ":1", "a:", "a:0", "a:65536"] {
            assert!(host_and_port(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_part_is_above_nothing() {
        assert_eq!(part("0.5"), Ok(0.5));
        for wrong in ["0", "-1", "1.1", "nan", "x"] {
            assert!(part(wrong).is_err(), "{wrong}");
        }
    }
}
