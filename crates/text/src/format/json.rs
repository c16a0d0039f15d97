//! Formats rows as JSON objects.

use super::column::Objects;
use arrow_array::RecordBatch;
use marquetry_base::Error;

/// Appends the rows of a batch, an object on each line.
pub fn write_lines(batch: &RecordBatch, out: &mut String) -> Result<(), Error> {
    let objects = Objects::new(batch)?;
    for row in 0..batch.num_rows() {
        objects.write(row, out);
        out.push('\n');
    }
    Ok(())
}
