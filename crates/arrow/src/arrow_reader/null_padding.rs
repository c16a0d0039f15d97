//! A column's values with nulls in place of the rows that are lost.

use marquetry_base::Result;
use marquetry_core::read::ColumnBatch;
use marquetry_encoding::{Bitmap, Values};
use std::ops::Range;

/// Values with a null for each row that is lost.
pub(super) struct NullPadded {
    pub(super) values: Values,
    pub(super) validity: Bitmap,
}

impl NullPadded {
    /// Those of `batch`, which has the rows of the `pieces`, in order. All rows are those of the `runs`.
    pub(super) fn new(batch: &ColumnBatch, runs: &[Range<u64>], pieces: &[Range<u64>]) -> Result<Self> {
        let mut out = NullPadded { values: batch.values.shape().empty(), validity: Bitmap::new() };
        let mut next = 0;
        for run in runs {
            let mut row = run.start;
            let inside = pieces.iter().filter(|piece| run.start <= piece.start && piece.end <= run.end);
            for piece in inside {
                out.push_nulls((piece.start - row) as usize);
                let n = (piece.end - piece.start) as usize;
                out.values.push_range(&batch.values, next..next + n)?;
                match &batch.validity {
                    None => out.validity.push_run(true, n),
                    Some(validity) => {
                        (next..next + n).for_each(|i| out.validity.push_run(validity.get(i), 1))
                    }
                }
                next += n;
                row = piece.end;
            }
            out.push_nulls((run.end - row) as usize);
        }
        Ok(out)
    }

    fn push_nulls(&mut self, n: usize) {
        self.values.push_nulls(n);
        self.validity.push_run(false, n);
    }
}
