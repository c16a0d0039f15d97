//! DataFusion's sessions with tables of Parquet files: one binary, since each is linked with all of DataFusion.

mod filters;
mod options;
#[cfg(feature = "proto")]
mod plans;
mod property;
mod reading;
mod statistics;
mod tables;
mod tpch;
mod writing;
