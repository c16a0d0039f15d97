//! SQL over Parquet files on many machines: [Ballista](https://datafusion.apache.org/ballista) distributes, Marquetry reads and writes.
//!
//! The program `marquetry-ballista` is a scheduler, an executor, or both on one machine. This library is for who makes processes
//! of their own: sessions, object stores and messages that a cluster has to have in all of its parts.
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
//! codecs     plans as bytes: ours, and Ballista's
//! described_tables  DESCRIBE, as it is sent
//! empty_relations  what has columns and no rows, as it is sent
//! named_files  files as tables by their names
//! refused_settings  settings with which queries have no end, and queries that have no tasks
//! session    the sessions of scheduler, executors and clients
//! whole_joins  joins whose rows depend on all rows of both sides
//! ```

mod codecs;
mod described_tables;
mod empty_relations;
mod named_files;
mod refused_settings;
mod session;
mod whole_joins;

pub use codecs::{logical_codec, physical_codec};
pub use marquetry_sql::Stores;
pub use session::{MESSAGE_SIZE, client, config, runtime, state};
