//! Arguments that several commands share. Those of one command stand beside it.

mod byte_size;
mod checkpoint_step;
mod common;
mod input;
mod write;

pub(crate) use byte_size::bytes;
pub(crate) use common::{Files, Format, OnCorruptArg, Selection, Tables, Together, ValueArgs, condition};
pub(crate) use input::{InferRows, InputArgs, Source};
pub(crate) use write::{CompatArg, OfColumn, Report, Target, WriteArgs};
