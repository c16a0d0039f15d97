//! Columns are written so that they are read as they were, and so that all that is said of them is true.

#[path = "../chunk/mod.rs"]
mod chunk;

mod check;
mod choice;
mod large;
mod round_trip;
mod sample;
