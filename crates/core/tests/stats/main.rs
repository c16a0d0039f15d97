//! What a writer counts and bounds, held against naive counting, the rules of the specification, and files of others.

mod bloom;
mod bounds;
mod column_index;
mod files;
mod geo;
mod histogram;
mod statistics;
mod truncate;
