//! The options of a table: those of `datafusion.execution.parquet`, and Marquetry's own.

use crate::error::refused;
use crate::output_options::KEEPS_KEYS;
use arrow_schema::{DataType, TimeUnit};
use datafusion::common::config::{ConfigField, ParquetCdcOptions, TableParquetOptions};
use datafusion::error::Result;
use marquetry_arrow::arrow_reader::{ArrowReaderOptions, Int96Unit, OnCorrupt};
use std::collections::HashMap;
use std::sync::Arc;

/// How the files of a table are read and written. The [crate's documentation](crate#options) lists what each option does.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FormatOptions {
    /// The options that DataFusion has for Parquet.
    pub parquet: TableParquetOptions,
    /// What to do where pages cannot be read. Default: the query fails.
    pub on_corrupt: OnCorrupt,
    /// Whether to ignore the order that footers state in `sorting_columns`, so that rows are sorted where an order is
    /// needed. Default: plans rely on that order, and a row that breaks it fails the query.
    pub ignore_sorting_columns: bool,
    /// The `pushdown_filters` option of a statement; without it the session's setting applies when a query is planned.
    pub pushdown_filters: Option<bool>,
}

impl FormatOptions {
    /// The options of a session, overridden by those of a statement: `OPTIONS ('compression' 'zstd(3)', ..)`.
    ///
    /// Fails if there is no such option, or its value is invalid.
    pub fn new(session: &TableParquetOptions, statement: &HashMap<String, String>) -> Result<Self> {
        let mut options = FormatOptions { parquet: session.clone(), ..FormatOptions::default() };
        // In a fixed order: which of two bad options is named must not vary.
        let mut pairs: Vec<(&String, &String)> = statement.iter().collect();
        pairs.sort();
        for (key, value) in pairs {
            options.set(key, value)?;
        }
        Ok(options)
    }

    fn set(&mut self, key: &str, value: &str) -> Result<()> {
        if key.starts_with("execution.") {
            return Err(refused(format!(
                "{key} is not an option of a statement: of those of execution, {KEEPS_KEYS} alone is one; SET datafusion.{key} is \
                 for the session"
            )));
        }
        match key.strip_prefix("format.").unwrap_or(key) {
            "on_corrupt" => self.set_on_corrupt(value),
            "ignore_sorting_columns" => self.ignore_sorting_columns.set("ignore_sorting_columns", value),
            "checkpoint_every" => Err(refused(
                "checkpoint_every is for files that can be seen while they are written; DataFusion's stores show a file \
                 when it is whole",
            )),
            key => {
                self.parquet.set(key, value)?;
                if key == "pushdown_filters" {
                    self.pushdown_filters = Some(self.parquet.global.pushdown_filters);
                }
                Ok(())
            }
        }
    }

    pub(crate) fn set_on_corrupt(&mut self, name: &str) -> Result<()> {
        let name = name.to_ascii_lowercase();
        let found = ON_CORRUPT.iter().find(|(known, _)| *known == name);
        let (_, on_corrupt) = found.ok_or_else(|| {
            let known: Vec<&str> = ON_CORRUPT.iter().map(|(known, _)| *known).collect();
            refused(format!("on_corrupt '{name}' is none of {}", known.join(", ")))
        })?;
        self.on_corrupt = *on_corrupt;
        Ok(())
    }

    /// Fails if the variant has no name here.
    #[cfg(feature = "proto")]
    pub(crate) fn on_corrupt_name(&self) -> Result<&'static str> {
        let found = ON_CORRUPT.iter().find(|(_, known)| *known == self.on_corrupt);
        found
            .map(|(name, _)| *name)
            .ok_or_else(|| refused(format!("on_corrupt {:?} has no name", self.on_corrupt)))
    }

    /// Returns how files are read. Fails if an option is not supported.
    pub(crate) fn reader_options(&self) -> Result<ArrowReaderOptions> {
        self.check_reading()?;
        let global = &self.parquet.global;
        let mut options = ArrowReaderOptions::new()
            .with_page_index(global.enable_page_index)
            .with_on_corrupt(self.on_corrupt)
            .with_footer_size_hint(global.metadata_size_hint.unwrap_or(0));
        if let Some(unit) = &global.coerce_int96 {
            let unit = time_unit(unit)?;
            let zone: Option<Arc<str>> = global.coerce_int96_tz.as_deref().map(Arc::from);
            options = options.with_int96(Int96Unit::Unit(unit));
            if zone.is_some() {
                let int96 = DataType::Timestamp(unit, zone);
                options = options.with_type_hook(move |leaf| {
                    let is_int96 = leaf.physical() == marquetry_encoding::PhysicalType::Int96;
                    is_int96.then(|| int96.clone())
                });
            }
        }
        Ok(options)
    }

    fn check_reading(&self) -> Result<()> {
        let (global, default) = (&self.parquet.global, TableParquetOptions::default().global);
        let refusals = [
            (
                global.coerce_int96_tz.is_some() && global.coerce_int96.is_none(),
                "coerce_int96_tz needs coerce_int96: INT96 has no zone unless its unit is chosen",
            ),
            (
                !global.bloom_filter_on_read,
                "bloom_filter_on_read cannot be switched off: a bloom filter is read where that is cheaper than what it may spare; \
                 `pruning` switches off all that rules out rows",
            ),
            (
                global.force_filter_selections,
                "force_filter_selections cannot be followed: how rows are chosen is decided for each row group",
            ),
            (
                global.max_predicate_cache_size.is_some(),
                "max_predicate_cache_size cannot be followed: columns of filters are not kept in a cache of this kind",
            ),
            (
                global.max_in_list_size != default.max_in_list_size,
                "max_in_list_size cannot be followed: lists of any length are used to rule out rows",
            ),
        ];
        first(&refusals)?;
        self.check_encryption()
    }

    /// Fails if an option of writing is not supported.
    pub(crate) fn check_writing(&self) -> Result<()> {
        let (global, default) = (&self.parquet.global, TableParquetOptions::default().global);
        let refusals = [
            (
                global.maximum_parallel_row_group_writers != default.maximum_parallel_row_group_writers,
                "maximum_parallel_row_group_writers cannot be followed: the columns of one row group are encoded side by side",
            ),
            (
                global.maximum_buffered_record_batches_per_stream
                    != default.maximum_buffered_record_batches_per_stream,
                "maximum_buffered_record_batches_per_stream cannot be followed: no batch waits in a queue",
            ),
            (
                !global.content_defined_chunking.enabled
                    && global.content_defined_chunking != ParquetCdcOptions::default(),
                "sizes of content_defined_chunking do nothing unless content_defined_chunking.enabled is true",
            ),
            (self.on_corrupt != OnCorrupt::Fail, "on_corrupt is for reading"),
            (self.ignore_sorting_columns, "ignore_sorting_columns is for reading"),
        ];
        first(&refusals)?;
        self.check_encryption()
    }

    pub(crate) fn check_encryption(&self) -> Result<()> {
        match self.parquet.crypto == Default::default() {
            true => Ok(()),
            false => Err(refused(
                "encrypted files are neither read nor written: no option of crypto can be followed",
            )),
        }
    }
}

fn first(refusals: &[(bool, &str)]) -> Result<()> {
    match refusals.iter().find(|(is_asked, _)| *is_asked) {
        Some((_, sentence)) => Err(refused(*sentence)),
        None => Ok(()),
    }
}

/// Values of `on_corrupt`.
const ON_CORRUPT: [(&str, OnCorrupt); 4] = [
    ("fail", OnCorrupt::Fail),
    ("skip_page", OnCorrupt::SkipPage),
    ("null_page", OnCorrupt::NullPage),
    ("skip_row_group", OnCorrupt::SkipRowGroup),
];

fn time_unit(text: &str) -> Result<TimeUnit> {
    Ok(match text {
        "ns" => TimeUnit::Nanosecond,
        "us" => TimeUnit::Microsecond,
        "ms" => TimeUnit::Millisecond,
        "s" => TimeUnit::Second,
        other => return Err(refused(format!("coerce_int96 '{other}' is none of ns, us, ms, s"))),
    })
}
