//! Sessions of both formats.

use crate::error::Result;
use datafusion::prelude::{SessionConfig, SessionContext};
use std::path::PathBuf;

/// The reader of Parquet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    Theirs,
    Ours,
}

/// A session with these tables, with or without filter pushdown.
pub(crate) async fn session(
    format: Format,
    tables: &[(&'static str, PathBuf)],
    partitions: usize,
    push_down: bool,
) -> Result<SessionContext> {
    let config = SessionConfig::new().with_target_partitions(partitions);
    let ctx = SessionContext::new_with_config(config);
    if format == Format::Ours {
        marquetry_datafusion::register(&ctx)?;
    }
    ctx.sql(&format!("set datafusion.execution.parquet.pushdown_filters = {push_down}"))
        .await?
        .collect()
        .await?;
    for (name, path) in tables {
        let create = format!("create external table {name} stored as parquet location '{}'", path.display());
        ctx.sql(&create).await?.collect().await?;
    }
    Ok(ctx)
}
