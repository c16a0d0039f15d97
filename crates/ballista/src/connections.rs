//! A pool of connections to other executors.

use async_trait::async_trait;
use ballista_core::client::BallistaClient;
use ballista_core::client_pool::{BallistaClientPool, PooledClient};
use ballista_core::error::Result;
use ballista_core::extension::BallistaConfigGrpcEndpoint;
use ballista_core::utils::GrpcClientConfig;
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How long an idle connection is kept.
const IDLE: Duration = Duration::from_secs(30);

type Idle = HashMap<(String, u16, GrpcClientConfig), Vec<(BallistaClient, Instant)>>;

/// Idle connections. Without these each fetch of rows opens a connection of its own, and a machine runs out of ports.
#[derive(Default, Clone)]
pub(crate) struct Connections {
    idle: Arc<Mutex<Idle>>,
}

impl fmt::Debug for Connections {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Connections")
    }
}

impl Connections {
    /// Closes connections that were idle for too long, and runs `act` on the others.
    fn with<T>(&self, act: impl FnOnce(&mut Idle) -> T) -> T {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        idle.retain(|_, clients| {
            clients.retain(|(_, since)| since.elapsed() < IDLE);
            !clients.is_empty()
        });
        act(&mut idle)
    }
}

#[async_trait]
impl BallistaClientPool for Connections {
    async fn acquire(
        &self,
        host: &str,
        port: u16,
        config: &GrpcClientConfig,
        customize_endpoint: Option<Arc<BallistaConfigGrpcEndpoint>>,
    ) -> Result<PooledClient> {
        let key = (host.to_owned(), port, config.clone());
        let client = match self.with(|idle| idle.get_mut(&key)?.pop()) {
            Some((client, _)) => client,
            None => {
                BallistaClient::try_new(
                    host,
                    port,
                    config.max_message_size,
                    config.use_tls,
                    customize_endpoint,
                    config.io_retries_times,
                    config.io_retry_wait_time_ms,
                    config.initial_connection_window_size,
                    config.initial_stream_window_size,
                )
                .await?
            }
        };
        let connections = self.clone();
        let keep = move |client| {
            connections.with(|idle| idle.entry(key).or_default().push((client, Instant::now())));
        };
        Ok(PooledClient::new(client, Box::new(keep)))
    }

    async fn evict_idle(&self) {
        self.with(|_| ());
    }
}
