//! The scheduler process: plans queries, and hands their tasks to executors.

use crate::args::SchedulerArgs;
use crate::lost_executors::LostExecutors;
use crate::parent;
use ballista_scheduler::cluster::BallistaCluster;
use ballista_scheduler::config::SchedulerConfig;
use ballista_scheduler::scheduler_process::{create_scheduler, start_grpc_service};
use marquetry_ballista::{MESSAGE_SIZE, config, logical_codec, physical_codec, state};
use std::error::Error;
use std::net::SocketAddr;
use std::sync::{Arc, OnceLock};

/// Serves until the process ends.
pub(crate) async fn run(args: SchedulerArgs) -> Result<(), Box<dyn Error + Send + Sync>> {
    if args.until_stdin_ends {
        parent::end_with_stdin();
    }
    let address = SocketAddr::new(args.bind, args.port);
    let config = SchedulerConfig {
        bind_host: args.bind.to_string(),
        bind_port: args.port,
        external_host: args.external_host.unwrap_or_else(|| shown(args.bind)),
        executor_timeout_seconds: args.executor_timeout,
        expire_dead_executor_interval_seconds: 5,
        // A query also ends if no executor is left.
        no_executors_grace_period_seconds: args.executor_timeout,
        min_ready_executors: args.min_executors,
        grpc_server_max_decoding_message_size: MESSAGE_SIZE,
        grpc_server_max_encoding_message_size: MESSAGE_SIZE,
        grpc_client_max_message_size: MESSAGE_SIZE,
        override_config_producer: Some(Arc::new(config)),
        override_session_builder: Some(Arc::new(state)),
        override_logical_codec: Some(logical_codec()),
        override_physical_codec: Some(physical_codec()),
        // Lost rows are not computed again, see `lost_executors`.
        task_max_failures: 1,
        stage_max_failures: 1,
        ..SchedulerConfig::default()
    };
    let cluster = BallistaCluster::new_from_config(&config).await?;
    let scheduler = Arc::new(OnceLock::new());
    let state = LostExecutors::new(cluster.cluster_state(), scheduler.clone());
    let cluster = BallistaCluster::new(Arc::new(state), cluster.job_state());
    config.validate()?;
    let server = create_scheduler(cluster, Arc::new(config)).await?;
    let _ = scheduler.set(server.clone());
    Ok(start_grpc_service(address, server).await.map_err(|error| format!("{address}: {error}"))?)
}

/// The address as in a URL.
fn shown(address: std::net::IpAddr) -> String {
    match address {
        std::net::IpAddr::V4(address) => address.to_string(),
        std::net::IpAddr::V6(address) => format!("[{address}]"),
    }
}
