//! What statements run in: tables, memory, threads.

use crate::args::CommandLine;
use crate::folder_tables::{folder_table, with_folder_tables};
use datafusion::common::TableReference;
use datafusion::error::Result;
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::prelude::{SessionConfig, SessionContext};
use std::sync::Arc;

/// A session of this process, with the memory and the threads that the command line gives it.
pub fn local(args: &CommandLine) -> Result<SessionContext> {
    let config = SessionConfig::new().with_target_partitions(args.threads()).with_information_schema(true);
    // Folders are listed anew by each statement: files come and go while a session lasts.
    let mut runtime = RuntimeEnvBuilder::new().with_object_list_cache_limit(0);
    if let Some(bytes) = args.memory_limit {
        runtime = runtime.with_memory_limit(bytes, 1.0);
    }
    if let Some(folder) = &args.spill_dir {
        runtime = runtime.with_temp_file_path(folder);
    }
    #[cfg(feature = "remote")]
    let runtime = runtime.with_object_store_registry(Arc::new(crate::Stores::default()));
    let ctx = SessionContext::new_with_config_rt(config, Arc::new(runtime.build()?));
    // These first: all else is DataFusion's.
    let ctx = with_folder_tables(ctx).enable_url_table();
    marquetry_datafusion::register(&ctx)?;
    Ok(ctx)
}

/// Adds tables: names, and where their files are.
pub(crate) async fn add_tables(ctx: &SessionContext, tables: &[(String, String)]) -> Result<()> {
    for (name, location) in tables {
        if stored_as(location) == "parquet"
            && let Some(table) = folder_table(ctx, location).await?
        {
            ctx.register_table(TableReference::bare(name.as_str()), table)?;
            continue;
        }
        let (name, stored) = (name.replace('"', "\"\""), stored_as(location));
        let location = location.replace('\'', "''");
        let sql = format!("create external table \"{name}\" stored as {stored} location '{location}'");
        ctx.sql(&sql).await?.collect().await?;
    }
    Ok(())
}

/// The format of the files at a location.
fn stored_as(location: &str) -> &'static str {
    match location.rsplit('.').next().unwrap_or_default().to_ascii_lowercase().as_str() {
        "csv" => "csv",
        "json" | "jsonl" | "ndjson" => "json",
        "arrow" => "arrow",
        _ => "parquet",
    }
}
