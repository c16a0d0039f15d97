//! Options of a `COPY TO` or a table that decide which files are written, not what is in them.

use crate::error::refused;
use datafusion::datasource::physical_plan::{FileOutputMode, FileSinkConfig};
use datafusion::error::Result;
use std::collections::HashMap;

/// `single_file_output` and `execution.keep_partition_by_columns`.
///
/// DataFusion's planner applies them where it has the statement. A statement from another process has them in its
/// format, and so has a table that rows are inserted into.
#[derive(Debug, Clone, Default)]
pub(crate) struct OutputOptions {
    single_file: Option<bool>,
    keeps_partition_columns: Option<bool>,
}

impl OutputOptions {
    /// Removes them from the options of a format.
    pub(crate) fn take_from(options: &mut HashMap<String, String>) -> Result<Self> {
        Ok(OutputOptions {
            single_file: take(options, "single_file_output")?,
            keeps_partition_columns: take(options, KEEPS_KEYS)?,
        })
    }

    #[cfg(feature = "proto")]
    pub(crate) fn of_table(keeps_keys: Option<bool>) -> Self {
        OutputOptions { single_file: None, keeps_partition_columns: keeps_keys }
    }

    #[cfg(feature = "proto")]
    pub(crate) fn keeps_keys(&self) -> Option<bool> {
        self.keeps_partition_columns
    }

    pub(crate) fn act_on(&self, config: &mut FileSinkConfig) {
        if let Some(single_file) = self.single_file {
            config.file_output_mode =
                if single_file { FileOutputMode::SingleFile } else { FileOutputMode::Directory };
        }
        if let Some(keeps) = self.keeps_partition_columns {
            config.keep_partition_by_columns = keeps;
        }
    }
}

/// Whether files also contain the partition columns that name their folders.
pub(crate) const KEEPS_KEYS: &str = "execution.keep_partition_by_columns";

fn take(options: &mut HashMap<String, String>, key: &str) -> Result<Option<bool>> {
    Ok(match options.remove(key).as_deref().map(str::trim) {
        None => None,
        Some("true") => Some(true),
        Some("false") => Some(false),
        Some(other) => return Err(refused(format!("{key} '{other}' is none of true, false"))),
    })
}
