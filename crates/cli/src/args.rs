//! Arguments that several commands share. Those of one command stand beside it.

mod checkpoint_step;
mod chunking;
mod common;
mod input;
pub(crate) mod paths;
mod shred;
mod write;

pub(crate) use common::{
    Files, Format, InputTables, OnCorruptArg, Selection, TableArgs, ValueArgs, condition,
};
pub(crate) use input::{Decimals, InferRows, InputArgs, Mixed, Ragged, Source, UnknownKeys};
pub(crate) use shred::{Shred, ShredArg, shred};
pub(crate) use write::{Bloom, CompatArg, Date64Arg, GeoVersion, OfColumn, Report, Target, WriteArgs};
