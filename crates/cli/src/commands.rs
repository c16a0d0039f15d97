//! One file for each command.

pub(crate) mod append;
pub(crate) mod cat;
mod column_chunks;
pub(crate) mod completions;
pub(crate) mod convert;
pub(crate) mod count;
mod damaged;
pub(crate) mod dictionary;
pub(crate) mod drop_row_group;
mod edit;
pub(crate) mod explain;
pub(crate) mod head;
mod heading;
pub(crate) mod index;
pub(crate) mod merge;
pub(crate) mod meta;
pub(crate) mod meta_edit;
pub(crate) mod pages;
pub(crate) mod recover;
pub(crate) mod rewrite;
pub(crate) mod rules;
pub(crate) mod schema;
pub(crate) mod size;
pub(crate) mod split;
pub(crate) mod sql;
pub(crate) mod summary;
pub(crate) mod verify;
