//! What is said of a file that was changed in place.

use crate::failure::Failure;
use crate::file_name;
use crate::output::Output;
use crate::rewrite::Tally;
use crate::unreferenced;
use marquetry::file::Edited;
use serde_json::json;
use std::path::Path;

/// Prints what the file has now. `before` are the bytes that it had.
pub(super) fn report(
    path: &Path,
    before: u64,
    edited: &Edited,
    tally: &Tally,
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
            "notes": tally.json(),
        }))?);
    }
    let name = file_name::shown_on_line(path);
    let size = edited.len;
    output
        .line(format!("{name}: {rows} rows in {row_groups} row groups, {size} bytes, {grown} of them new"))?;
    if edited.unreferenced > 0 {
        output.line(unreferenced::line(edited.unreferenced, size))?;
    }
    tally.print(output)
}
