//! SQL over Parquet files on many machines: [Ballista](https://datafusion.apache.org/ballista) distributes, Marquetry reads and writes.
//!
//! The program `marquetry-ballista` is a scheduler, an executor, or both on one machine. This library is for programs
//! of your own: it has the sessions, object stores and codecs that all parts of a cluster need.
//!
//! ```no_run
//! # tokio::runtime::Runtime::new()?.block_on(async {
//! let ctx = marquetry_ballista::client("scheduler:50050")?;
//! let frame = ctx.sql("select country, count(*) from 's3://bucket/wines/*.parquet' group by country").await?;
//! frame.show().await?;
//! # Ok::<(), datafusion::error::DataFusionError>(())
//! # })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! ```text
//! codecs             codecs of plans: ours first, then Ballista's
//! describe           serializes DESCRIBE
//! empty_relations    serializes relations that have columns and no rows
//! refused_settings   settings with which queries never end, and queries that have no tasks
//! session            sessions of scheduler, executors and clients
//! single_task_joins  joins that need all rows of both sides
//! ```

mod codecs;
mod describe;
mod empty_relations;
mod refused_settings;
mod session;
mod single_task_joins;

pub use codecs::{logical_codec, physical_codec};
pub use marquetry_sql::Stores;
pub use session::{MESSAGE_SIZE, client, config, runtime, state};
