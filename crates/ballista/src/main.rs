//! `marquetry-ballista`: the scheduler, the executor, and the client.
//!
//! ```text
//! args             the command line
//! parent           a child process ends with the process that started it
//! lost_executors   running queries fail when an executor is lost
//! scheduler        the scheduler process
//! connections      a pool of connections to other executors
//! engine           the execution engine of a task
//! executor         the executor process
//! local            a scheduler and executors on this machine
//! private_folder   private folders for what tasks write
//! ```

mod args;
mod connections;
mod engine;
mod executor;
mod local;
mod lost_executors;
mod parent;
mod private_folder;
mod scheduler;

use args::{CommandLine, Role};
use clap::Parser;
use std::error::Error;
use std::process::ExitCode;

fn main() -> ExitCode {
    let role = CommandLine::parse().role;
    // The command reports an error, once: the log need not.
    let shown = if matches!(role, Role::Sql(_)) { "warn,ballista_core=off" } else { "warn" };
    env_logger::Builder::from_env(env_logger::Env::default().default_filter_or(shown)).init();
    if let Role::Sql(args) = role {
        return sql(&args);
    }
    match serve(role) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("marquetry-ballista: {error}");
            ExitCode::FAILURE
        }
    }
}

fn sql(args: &marquetry_sql::CommandLine) -> ExitCode {
    let Some(address) = args.cluster() else {
        eprintln!("marquetry-ballista: give the cluster with --cluster HOST:PORT");
        return ExitCode::from(2);
    };
    marquetry_sql::run(args, async || marquetry_ballista::client(address))
}

fn serve(role: Role) -> Result<(), Box<dyn Error + Send + Sync>> {
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    // Plans are trees, which are walked by recursion.
    let runtime = runtime.enable_all().thread_stack_size(STACK_SIZE).build()?;
    runtime.block_on(async {
        match role {
            Role::Scheduler(args) => scheduler::run(args).await,
            Role::Executor(args) => executor::run(args).await,
            Role::Local(args) => local::run(args).await,
            Role::Sql(_) => unreachable!("it is not part of a cluster"),
        }
    })
}

const STACK_SIZE: usize = 32 << 20;
