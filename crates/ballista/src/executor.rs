//! The executor process: runs the tasks of a cluster.

use crate::args::ExecutorArgs;
use crate::engine::Engine;
use crate::parent;
use crate::private_folder::private_folder;
use ballista_core::registry::BallistaFunctionRegistry;
use ballista_executor::executor_process::{ExecutorProcessConfig, start_executor_process};
use marquetry_ballista::{MESSAGE_SIZE, config, logical_codec, physical_codec, runtime, state};
use std::error::Error;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::time::{Instant, sleep};

/// Runs tasks until the process is told to end.
pub(crate) async fn run(args: ExecutorArgs) -> Result<(), Box<dyn Error + Send + Sync>> {
    if args.until_stdin_ends {
        parent::end_with_stdin();
    }
    let (host, port) = args.scheduler;
    reach(&host, port).await?;
    let temporary = match &args.work_dir {
        Some(_) => None,
        None => Some(private_folder("marquetry-executor")?),
    };
    let folder = args.work_dir.or_else(|| Some(temporary.as_ref()?.path().to_owned())).unwrap_or_default();
    let spills = folder.clone();
    let config = ExecutorProcessConfig {
        bind_host: match args.bind {
            IpAddr::V4(address) => address.to_string(),
            IpAddr::V6(address) => format!("[{address}]"),
        },
        external_host: args.external_host,
        port: args.port,
        grpc_port: args.task_port,
        scheduler_host: host,
        scheduler_port: port,
        vcores: args.tasks.map_or_else(processors, usize::from),
        work_dir: Some(folder.to_str().ok_or("the name of the folder is not UTF-8")?.to_owned()),
        grpc_max_decoding_message_size: MESSAGE_SIZE,
        grpc_max_encoding_message_size: MESSAGE_SIZE,
        // A third of the shortest time after which a scheduler gives an executor up.
        executor_heartbeat_interval_seconds: 3,
        memory_pool_fraction: args.memory_part,
        override_execution_engine: Some(Arc::new(Engine::new())),
        override_config_producer: Some(Arc::new(config)),
        override_runtime_producer: Some(Arc::new(move |_| runtime(Some(&spills)))),
        override_logical_codec: Some(logical_codec()),
        override_physical_codec: Some(physical_codec()),
        // QUIRK: Ballista 55 registers no functions of lists and structs here.
        override_function_registry: Some(Arc::new(BallistaFunctionRegistry::from(&state(config())?))),
        ..ExecutorProcessConfig::default()
    };
    start_executor_process(Arc::new(config)).await?;
    Ok(())
}

/// Waits for the scheduler, which may be started at the same time.
async fn reach(host: &str, port: u16) -> Result<(), String> {
    let end = Instant::now() + Duration::from_secs(60);
    loop {
        match TcpStream::connect(format!("{host}:{port}")).await {
            Ok(_) => return Ok(()),
            Err(error) if Instant::now() > end => {
                return Err(format!("cannot reach the scheduler at {host}:{port}: {error}"));
            }
            Err(_) => sleep(Duration::from_millis(200)).await,
        }
    }
}

pub(crate) fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}
