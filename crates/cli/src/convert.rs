//! Rows into Arrow, CSV and JSON Lines files. Memory holds one batch, and what its columns' pages take.

mod compact;
mod destination;
mod names;
mod plain;
mod progress;
mod sink;

pub(crate) use destination::Destination;
pub(crate) use names::{renamed, with_names};
pub(crate) use plain::plain_columns;
pub(crate) use progress::Progress;
pub(crate) use sink::Sink;
