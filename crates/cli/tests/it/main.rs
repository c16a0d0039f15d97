//! What each command does with files, whole and broken ones, as somebody at a terminal sees it.
//!
//! One program, as linking takes longer than running: tests that measure a whole process are programs of their own beside it.

mod command;
mod random_arrays;

mod advise;
mod append;
mod append_types;
mod cli;
mod convert_inputs;
mod convert_parquet;
mod covering_boxes;
mod dataset;
mod diff;
mod directories;
mod encrypted_and_plain;
mod encryption;
mod encryption_new_columns;
mod explain;
mod file_refs;
mod geojson;
mod geometry;
mod geoparquet;
mod help_examples;
mod int96;
mod json_kinds;
mod lint;
mod losses;
mod merge_schemas;
mod metrics;
mod named_columns;
mod optimize;
mod recover;
mod remote;
mod report;
mod rewrite;
mod serve;
mod several_as_one;
mod several_texts;
mod shred;
mod sql;
mod standard_input;
mod stats;
mod stored_bytes;
mod terminal;
mod text_law;
mod text_options;
mod text_round_trip;
mod variant;
mod verify;
mod ways_out;
mod r#where;
mod where_shown;
mod without_remote;
