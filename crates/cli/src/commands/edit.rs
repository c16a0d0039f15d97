//! How a file is changed, and what is said of it then.

use crate::failure::Failure;
use crate::file_name;
use crate::keys;
use crate::output::Output;
use crate::rewrite::ColumnLog;
use crate::unreferenced;
use clap::Args as ClapArgs;
use marquetry::errors::{Error, Limits};
use marquetry::file::{Edited, FileEdit};
use serde_json::json;
use std::path::Path;

/// Where a change is made.
#[derive(Debug, Clone, Copy, ClapArgs)]
pub(super) struct EditArgs {
    /// Change a copy, which takes FILE's place in one step: who reads FILE meanwhile reads the old one
    #[arg(long)]
    copy: bool,
}

impl EditArgs {
    /// The file, locked, and ready to be changed; with the keys that were given, if it is encrypted.
    pub(super) fn open(self, path: &Path) -> Result<FileEdit, Error> {
        match (keys::given(), self.copy) {
            (Some(keys), _) => FileEdit::open_encrypted(path, &Limits::default(), &keys, self.copy),
            (None, true) => FileEdit::open_copy(path, &Limits::default()),
            (None, false) => FileEdit::open(path, &Limits::default()),
        }
    }
}

/// Prints what the file has now. `before` are the bytes that it had.
pub(super) fn report(
    path: &Path,
    before: u64,
    edited: &Edited,
    log: &ColumnLog,
    output: &mut Output,
) -> Result<(), Failure> {
    let (rows, row_groups) = (edited.metadata.num_rows(), edited.metadata.num_row_groups());
    let grown = edited.len.saturating_sub(before);
    if output.is_json() {
        return Ok(output.json(&json!({
            "file": file_name::shown(path),
            "rows": rows,
            "row_groups": row_groups,
            "size": edited.len,
            "grown": grown,
            "unreferenced": edited.unreferenced,
            "notes": log.json(),
        }))?);
    }
    let name = file_name::shown_on_line(path);
    let size = edited.len;
    output
        .line(format!("{name}: {rows} rows in {row_groups} row groups, {size} bytes, {grown} of them new"))?;
    if edited.unreferenced > 0 {
        output.line(unreferenced::line(edited.unreferenced, size))?;
    }
    log.print(output)
}
