//! The command line.

use clap::{Args, Parser, Subcommand};
use std::net::IpAddr;
use std::path::PathBuf;

/// Distributed SQL over Parquet files: Ballista schedules, Marquetry reads and writes.
#[derive(Debug, Parser)]
#[command(name = "marquetry-ballista", version, max_term_width = 110, after_help = AFTER_HELP)]
pub(crate) struct CommandLine {
    #[command(subcommand)]
    pub(crate) role: Role,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Role {
    /// Run a scheduler and executors on this machine, which end with this process
    Local(LocalArgs),
    /// Run the scheduler of a cluster, which takes queries from clients and gives tasks to executors
    Scheduler(SchedulerArgs),
    /// Run an executor of a cluster, which reads files and sends rows to other executors and clients
    Executor(ExecutorArgs),
    /// Run a query, as `marquetry sql --cluster HOST:PORT` does
    Sql(marquetry_sql::CommandLine),
}

#[derive(Debug, Args)]
pub(crate) struct LocalArgs {
    /// Number of executors
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u16).range(1..=256))]
    pub(crate) executors: u16,
    /// The scheduler's port on 127.0.0.1; 0 for any free port
    #[arg(long, value_name = "PORT", default_value_t = SCHEDULER_PORT)]
    pub(crate) port: u16,
    /// Number of tasks that an executor runs at once. Default: its share of the processors
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) tasks: Option<u16>,
}

#[derive(Debug, Args)]
pub(crate) struct SchedulerArgs {
    /// The address to listen on. Everyone who can connect can read and write all files that the cluster can
    #[arg(long, value_name = "IP", default_value = "127.0.0.1")]
    pub(crate) bind: IpAddr,
    /// The port to listen on
    #[arg(long, default_value_t = SCHEDULER_PORT)]
    pub(crate) port: u16,
    /// The host name under which executors reach the scheduler. Default: the address of --bind
    #[arg(long, value_name = "HOST")]
    pub(crate) external_host: Option<String>,
    /// Seconds without a heartbeat after which an executor counts as dead, and its queries end with an error
    #[arg(long, value_name = "SECONDS", default_value_t = 20, value_parser = clap::value_parser!(u64).range(10..))]
    pub(crate) executor_timeout: u64,
    /// Number of executors with which /readyz on the same port reports ready
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) min_executors: usize,
    /// End when standard input ends, with the process that started this one
    #[arg(long, hide = true)]
    pub(crate) until_stdin_ends: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ExecutorArgs {
    /// The host and port of the scheduler; the executor waits a minute for it
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:50050", value_parser = host_and_port)]
    pub(crate) scheduler: (String, u16),
    /// The address to listen on
    #[arg(long, value_name = "IP", default_value = "127.0.0.1")]
    pub(crate) bind: IpAddr,
    /// The port that serves rows
    #[arg(long, default_value_t = 50051)]
    pub(crate) port: u16,
    /// The port that receives tasks from the scheduler
    #[arg(long, value_name = "PORT", default_value_t = 50052)]
    pub(crate) task_port: u16,
    /// The host name under which clients, executors and the scheduler reach the executor. Default: the address that the scheduler sees
    #[arg(long, value_name = "HOST")]
    pub(crate) external_host: Option<String>,
    /// Number of tasks at once. Default: the number of processors
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) tasks: Option<u16>,
    /// The share of the machine's or the container's memory that sorts, joins and aggregations may use together
    #[arg(long, value_name = "PART", default_value_t = MEMORY_PART, value_parser = part)]
    pub(crate) memory_part: f64,
    /// The directory for shuffle and spill files. Default: a temporary directory
    #[arg(long, value_name = "DIR")]
    pub(crate) work_dir: Option<PathBuf>,
    /// End when standard input ends, with the process that started this one
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

Object stores: the usual environment variables of each process (AWS_ACCESS_KEY_ID, ..) set keys, regions and endpoints.
There is no authentication, and nothing is encrypted between the processes: keep a cluster in a private network.
RUST_LOG=info logs what the processes do.";

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
