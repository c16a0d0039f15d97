//! Makes file formats of the options of a statement.

use crate::format::MarquetryFormat;
use crate::options::FormatOptions;
use datafusion::catalog::Session;
use datafusion::common::GetExt;
use datafusion::datasource::file_format::{FileFormat, FileFormatFactory};
use datafusion::error::Result;
use std::collections::HashMap;
use std::sync::Arc;

/// Makes a [`MarquetryFormat`] for `STORED AS name`, and for files with this extension.
#[derive(Debug, Clone)]
pub struct MarquetryFormatFactory {
    name: String,
}

impl MarquetryFormatFactory {
    /// For this name, such as `parquet`.
    pub fn new(name: impl Into<String>) -> Self {
        MarquetryFormatFactory { name: name.into() }
    }
}

impl FileFormatFactory for MarquetryFormatFactory {
    fn create(&self, state: &dyn Session, options: &HashMap<String, String>) -> Result<Arc<dyn FileFormat>> {
        let session = &state.default_table_options().parquet;
        Ok(Arc::new(MarquetryFormat::new(FormatOptions::new(session, options)?)))
    }

    fn default(&self) -> Arc<dyn FileFormat> {
        Arc::new(MarquetryFormat::default())
    }
}

impl GetExt for MarquetryFormatFactory {
    fn get_ext(&self) -> String {
        self.name.clone()
    }
}
