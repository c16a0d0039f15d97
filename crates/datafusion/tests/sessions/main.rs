//! DataFusion's sessions with tables of Parquet files: one binary, since each is linked with all of DataFusion.

mod dataset_int96;
mod datasets;
mod extension_types;
mod filters;
mod options;
#[cfg(feature = "proto")]
mod plans;
mod property;
mod reading;
mod requests;
mod statistics;
mod tables;
mod tpch;
mod tpch_queries;
mod type_columns;
mod types;
mod variants;
mod writing;
