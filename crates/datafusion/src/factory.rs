//! The format factory: makes a file format of a statement's options.

use crate::format::MarquetryFormat;
use crate::options::FormatOptions;
use crate::output_options::OutputOptions;
use datafusion::catalog::Session;
use datafusion::common::GetExt;
use datafusion::datasource::file_format::{FileFormat, FileFormatFactory};
use datafusion::error::Result;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// Makes a [`MarquetryFormat`] for `STORED AS name`, and for files with this extension.
#[derive(Debug, Clone)]
pub struct MarquetryFormatFactory {
    name: String,
    options: BTreeMap<String, String>,
}

impl MarquetryFormatFactory {
    /// Creates a factory of formats with this name, such as `parquet`.
    pub fn new(name: impl Into<String>) -> Self {
        MarquetryFormatFactory { name: name.into(), options: BTreeMap::new() }
    }

    /// Sets defaults for the options of each format, which a statement overrides: those that `OPTIONS (..)` of a
    /// `COPY TO` takes.
    #[must_use]
    pub fn with_options(mut self, options: impl IntoIterator<Item = (String, String)>) -> Self {
        self.options.extend(options);
        self
    }

    #[cfg(feature = "proto")]
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    #[cfg(feature = "proto")]
    pub(crate) fn options(&self) -> &BTreeMap<String, String> {
        &self.options
    }
}

impl FileFormatFactory for MarquetryFormatFactory {
    fn create(&self, state: &dyn Session, options: &HashMap<String, String>) -> Result<Arc<dyn FileFormat>> {
        let session = &state.default_table_options().parquet;
        let mut of_format: HashMap<String, String> = self.options.clone().into_iter().collect();
        of_format.extend(options.iter().map(|(key, value)| (key.clone(), value.clone())));
        let output = OutputOptions::take_from(&mut of_format)?;
        Ok(Arc::new(MarquetryFormat::new(FormatOptions::new(session, &of_format)?).with_output(output)))
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
