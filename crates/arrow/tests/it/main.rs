//! Arrow arrays to columns and back: each type, layout and way to hand rows in or out.
//!
//! One program, as linking takes longer than running: tests that measure a whole process are programs of their own beside it.

mod content_defined;
mod copied_types;
mod evolved_predicates;
mod host_write;
mod int96_units;
mod level_runs;
mod mixed_types;
mod remote_source;
mod shred_variant;
mod shred_variant_random;
mod shredded_variant;
mod sliced_batches;
mod stored_values;
mod value_repair;
mod variant_paths;
mod variant_paths_random;
mod wide_predicates;
mod write_table;
