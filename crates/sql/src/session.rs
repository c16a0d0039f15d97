//! The session that statements run in: tables, memory, threads.

use crate::args::CommandLine;
use crate::file_url::exact_name;
use crate::folder_tables::{folder_table, with_folder_tables};
use crate::lookup::Lookup;
use datafusion::common::TableReference;
use datafusion::error::Result;
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::prelude::{SessionConfig, SessionContext};
use std::sync::Arc;

/// Creates a session in this process, with the memory and threads of the command line.
pub fn local(args: &CommandLine) -> Result<SessionContext> {
    let config = SessionConfig::new().with_target_partitions(args.threads()).with_information_schema(true);
    let config = with_right_answers(config);
    // Each statement lists folders again: files come and go during a session.
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
    #[cfg(not(feature = "remote"))]
    ctx.register_object_store(
        datafusion::execution::object_store::ObjectStoreUrl::local_filesystem().as_ref(),
        crate::empty_files::disk(),
    );
    let ctx = with_folder_tables(ctx);
    marquetry_datafusion::register(&ctx)?;
    Ok(ctx)
}

/// Adds the settings without which DataFusion 55 gives wrong answers.
pub fn with_right_answers(mut config: SessionConfig) -> SessionConfig {
    // Top-k aggregation loses groups beside NaN, and panics with `DISTINCT`.
    config.options_mut().optimizer.enable_topk_aggregation = false;
    // Without a time zone, `timestamptz '..+05'` has none, and columns are compared with it by the wall clock of their
    // own zone.
    config.options_mut().execution.time_zone = Some("+00:00".to_owned());
    config
}

/// Adds tables: names, and the locations of their files.
pub(crate) async fn add_tables(ctx: &SessionContext, tables: &[(String, String)]) -> Result<()> {
    for (name, location) in tables {
        let found = match stored_as(location) {
            "parquet" => folder_table(ctx, location).await?,
            _ => Lookup::Other(exact_name(location)),
        };
        let (name, stored, location) = match found {
            Lookup::Table(table) => {
                ctx.register_table(TableReference::bare(name.as_str()), table)?;
                continue;
            }
            Lookup::Other(exact) => (name.replace('"', "\"\""), stored_as(location), exact),
            Lookup::Nothing(error) => return Err(error),
        };
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

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;
    use datafusion::arrow::util::display::array_value_to_string;
    use datafusion::arrow::util::pretty::pretty_format_batches;

    #[tokio::test]
    async fn times_with_a_zone_are_instants() {
        let ctx = local(&CommandLine::parse_from(["marquetry-sql"])).unwrap();
        let berlin = "arrow_cast('2020-01-01T00:30:00', 'Timestamp(Millisecond, Some(\"Europe/Berlin\"))')";
        let sql = format!(
            "select {berlin} < timestamptz '2020-01-01 00:00:00+00', {berlin} = timestamptz '2019-12-31 18:30:00-05', \
             arrow_typeof(timestamptz '2020-01-01 00:00:00+05')"
        );
        let batches = ctx.sql(&sql).await.unwrap().collect().await.unwrap();
        let shown = |column: usize| array_value_to_string(batches[0].column(column), 0).unwrap();
        assert_eq!([shown(0), shown(1)], ["true", "true"]);
        assert!(shown(2).contains("+00:00"), "{}", shown(2));
    }

    #[tokio::test]
    async fn groups_beside_nan_are_in_order() {
        let ctx = local(&CommandLine::parse_from(["marquetry-sql"])).unwrap();
        let groups = "(values (1, 'NaN'::double), (1, 1.0), (2, 5.0), (2, 2.0), (3, 'NaN'::double)) t(g, a)";
        let sql = format!("select g from {groups} group by g order by min(a) limit 2");
        let batches = ctx.sql(&sql).await.unwrap().collect().await.unwrap();
        let shown = pretty_format_batches(&batches).unwrap().to_string();
        assert_eq!(shown, "+---+\n| g |\n+---+\n| 1 |\n| 2 |\n+---+");
        let sql = format!("select distinct a from {groups} order by a limit 2");
        let batches = ctx.sql(&sql).await.unwrap().collect().await.unwrap();
        let shown = pretty_format_batches(&batches).unwrap().to_string();
        assert_eq!(shown, "+-----+\n| a   |\n+-----+\n| 1.0 |\n| 2.0 |\n+-----+");
    }
}
