//! DataFusion's sessions with tables of Parquet files: one binary, since each is linked with all of DataFusion.

mod cases;
mod casts;
mod constraints;
mod copies;
mod dataset_int96;
mod datasets;
mod extension_types;
mod filters;
mod grouping_sets;
mod nested;
mod options;
mod outer_joins;
mod partition_keys;
#[cfg(feature = "proto")]
mod plans;
mod prepared;
mod property;
mod reading;
mod requests;
mod sorted;
mod statistics;
mod tables;
mod tpch;
mod tpch_queries;
mod type_columns;
mod types;
mod variants;
mod writing;
