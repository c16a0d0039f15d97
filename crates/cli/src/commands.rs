//! One file for each command.

pub(crate) mod cat;
pub(crate) mod completions;
pub(crate) mod convert;
pub(crate) mod count;
pub(crate) mod dictionary;
pub(crate) mod head;
pub(crate) mod index;
pub(crate) mod meta;
pub(crate) mod pages;
pub(crate) mod schema;
pub(crate) mod size;
