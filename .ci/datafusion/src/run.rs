//! Runs the records of one file of tests, with one of two readers of Parquet.

use crate::plan_text;
use datafusion::prelude::SessionContext;
use datafusion_sqllogictest::{DataFusion, TestContext, setup_scratch_dir, value_normalizer};
use indicatif::ProgressBar;
use sqllogictest::{AsyncDB, Record, Runner, parse_file, strict_column_validator};
use std::collections::BTreeMap;
use std::error::Error;
use std::path::Path;
use std::time::Duration;

/// Who reads and writes Parquet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reader {
    /// DataFusion's own.
    Theirs,
    /// Marquetry, with the settings that the tests expect of a session.
    Ours,
    /// Marquetry, with conditions asked while files are read.
    OursPushingDown,
}

/// What became of a record.
#[derive(Debug, Clone)]
pub(crate) struct Outcome {
    /// Whether it asks for the text of a plan, and not for values.
    pub(crate) is_plan: bool,
    /// What went wrong.
    pub(crate) error: Option<String>,
}

/// Records by where they are: file and line.
pub(crate) type Outcomes = BTreeMap<(String, u32), Outcome>;

/// More than any record takes.
const MOST: Duration = Duration::from_secs(120);

/// Runs all records of `folder/name`. `None` if DataFusion's runner has no session for the file.
pub(crate) async fn run(
    folder: &Path,
    name: &Path,
    reader: Reader,
) -> Result<Option<Outcomes>, Box<dyn Error + Send + Sync>> {
    let Some(context) = TestContext::try_new_for_test_file(name).await else { return Ok(None) };
    setup_scratch_dir(name)?;
    let ctx = context.session_ctx();
    prepare(ctx, reader)?;
    let mut runner = Runner::new(|| {
        let session = DataFusion::new(ctx.clone(), name.to_owned(), ProgressBar::hidden());
        async move { Ok(session) }
    });
    runner.add_label("Datafusion");
    runner.with_column_validator(strict_column_validator);
    runner.with_normalizer(value_normalizer);
    runner.with_validator(plan_text::is_equal);
    let mut outcomes = Outcomes::new();
    let records: Vec<Record<<DataFusion as AsyncDB>::ColumnType>> = parse_file(folder.join(name))?;
    for record in records {
        let (loc, sql) = match &record {
            Record::Halt { .. } => break,
            Record::Statement { loc, sql, .. } | Record::Query { loc, sql, .. } => (loc, sql),
            _ => {
                runner.run_async(record).await?;
                continue;
            }
        };
        let key = (loc.file().rsplit("test_files/").next().unwrap_or_default().to_owned(), loc.line());
        let is_plan = sql.trim_start().to_lowercase().starts_with("explain");
        let error = match tokio::time::timeout(MOST, runner.run_async(record)).await {
            Ok(result) => result.err().map(|error| error.to_string()),
            Err(_) => Some(format!("no answer in {} s", MOST.as_secs())),
        };
        outcomes.insert(key, Outcome { is_plan, error });
    }
    Ok(Some(outcomes))
}

fn prepare(ctx: &SessionContext, reader: Reader) -> datafusion::error::Result<()> {
    if reader != Reader::Theirs {
        marquetry_datafusion::register(ctx)?;
    }
    let state = ctx.state_ref();
    let mut state = state.write();
    state.config_mut().options_mut().execution.parquet.pushdown_filters = reader == Reader::OursPushingDown;
    Ok(())
}
