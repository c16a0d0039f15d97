//! Arguments and report of commands that change a file, in place or through a copy.

use crate::failure::Failure;
use crate::file_name;
use crate::keys;
use crate::output::Output;
use crate::rewrite::ColumnLog;
use crate::unreferenced;
use clap::Args as ClapArgs;
use marquetry::errors::{Error, Limits};
use marquetry::file::metadata::ParquetMetaData;
use marquetry::file::{Edited, FileEdit, LocalFile};
use marquetry_base::counted;
use marquetry_core::io::unreferenced_bytes;
use serde_json::json;
use std::path::Path;

/// Where a change is made.
#[derive(Debug, Clone, Copy, ClapArgs)]
pub(super) struct EditArgs {
    /// Change a copy that replaces FILE in one step; readers of FILE see the old file until then
    #[arg(long)]
    copy: bool,
}

impl EditArgs {
    /// Opens and locks a file for a change, with the keys that were given if it is encrypted.
    pub(super) fn open(self, path: &Path) -> Result<FileEdit, Error> {
        match (keys::given(), self.copy) {
            (Some(keys), _) => FileEdit::open_encrypted(path, &Limits::default(), &keys, self.copy),
            (None, true) => FileEdit::open_copy(path, &Limits::default()),
            (None, false) => FileEdit::open(path, &Limits::default()),
        }
    }
}

/// The file after a change.
struct Now<'a> {
    metadata: &'a ParquetMetaData,
    len: u64,
    grown: u64,
    unreferenced: u64,
}

/// Prints the file's state after a change. `before` is its size before, in bytes.
pub(super) fn report(
    path: &Path,
    before: u64,
    edited: &Edited,
    log: &ColumnLog,
    output: &mut Output,
) -> Result<(), Failure> {
    let (len, unreferenced) = (edited.len, edited.unreferenced);
    let grown = len.saturating_sub(before);
    print(path, &Now { metadata: &edited.metadata, len, grown, unreferenced }, log, output)
}

/// Abandons a change that would change nothing, and prints the file's state: it stays as it is, byte for byte.
pub(super) fn report_unchanged(
    path: &Path,
    edit: FileEdit,
    mut log: ColumnLog,
    output: &mut Output,
) -> Result<(), Failure> {
    let (metadata, len) = (edit.metadata().clone(), edit.len());
    drop(edit);
    let unreferenced = LocalFile::open(path).map_or(0, |file| unreferenced_bytes(&file, &metadata));
    log.note("nothing is changed: the file stays as it is");
    print(path, &Now { metadata: &metadata, len, grown: 0, unreferenced }, &log, output)
}

fn print(path: &Path, now: &Now<'_>, log: &ColumnLog, output: &mut Output) -> Result<(), Failure> {
    let (rows, row_groups) = (now.metadata.num_rows(), now.metadata.num_row_groups());
    let Now { len: size, grown, unreferenced, .. } = *now;
    if output.is_json() {
        return Ok(output.json(&json!({
            "file": file_name::shown(path),
            "rows": rows,
            "row_groups": row_groups,
            "size": size,
            "grown": grown,
            "unreferenced": unreferenced,
            "notes": log.json(),
        }))?);
    }
    let name = file_name::shown_on_line(path);
    let (rows, row_groups) = (counted(rows, "row"), counted(row_groups, "row group"));
    output.line(format!("{name}: {rows} in {row_groups}, {size} bytes, {grown} of them new"))?;
    if unreferenced > 0 {
        output.line(unreferenced::line(unreferenced, size))?;
    }
    log.print(output)
}
