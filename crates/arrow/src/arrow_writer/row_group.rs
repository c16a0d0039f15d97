//! The row group that is being filled: a column writer for each leaf, and the threads that feed them.

use crate::shred::Shredder;
use arrow_array::RecordBatch;
use arrow_schema::Schema as ArrowSchema;
use marquetry_base::Result;
use marquetry_core::schema::Schema;
use marquetry_core::write::{Choice, ColumnSettings, ColumnWriter, EncodedChunk, Spill, Workspace};
use std::cmp::Reverse;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

/// A row group that is being filled.
pub(super) struct OpenRowGroup {
    roots: Vec<Root>,
    /// Rows that all columns have taken.
    pub(super) rows: usize,
    spill: Option<Arc<Spill>>,
}

/// One field of the schema's root, with the columns below it.
struct Root {
    index: usize,
    shredder: Shredder,
    writers: Vec<ColumnWriter>,
}

impl OpenRowGroup {
    pub(super) fn new(
        arrow_schema: &ArrowSchema,
        schema: &Schema,
        columns: &[ColumnSettings],
    ) -> Result<Self> {
        let mut roots = Vec::new();
        for (index, field) in arrow_schema.fields().iter().enumerate() {
            let leaves = schema.columns().iter().zip(columns).filter(|(leaf, _)| leaf.root() == index);
            let writers =
                leaves.map(|(leaf, settings)| ColumnWriter::new(leaf, settings)).collect::<Result<_>>()?;
            roots.push(Root { index, shredder: Shredder::new(field, schema, index)?, writers });
        }
        Ok(OpenRowGroup { roots, rows: 0, spill: None })
    }

    /// About how many bytes the row group would have if it ended now.
    pub(super) fn estimated_size(&self) -> u64 {
        self.writers().map(ColumnWriter::estimated_size).sum()
    }

    /// How many bytes it has in memory.
    pub(super) fn memory_size(&self) -> usize {
        self.writers().map(ColumnWriter::memory_size).sum()
    }

    fn writers(&self) -> impl Iterator<Item = &ColumnWriter> {
        self.roots.iter().flat_map(|root| &root.writers)
    }

    /// Has each column take its part of these rows of batches, which are so many.
    pub(super) fn write(
        &mut self,
        batches: &[(RecordBatch, Range<usize>)],
        rows: usize,
        workspaces: &mut [Workspace],
    ) -> Result<()> {
        if rows == 0 {
            return Ok(());
        }
        self.rows += rows;
        // What columns take, they have taken before.
        let weight = |root: &&mut Root| root.writers.iter().map(ColumnWriter::estimated_size).sum();
        let write = |root: &mut Root, workspace: &mut Workspace| root.write(batches, workspace);
        for_each(self.roots.iter_mut().collect(), workspaces, weight, write).map(drop)
    }

    /// Writes pages to a temporary file, those of the largest columns first, until at most `target` bytes are left in
    /// memory, or nothing more can be spared.
    pub(super) fn spill(&mut self, target: usize, workspace: &mut Workspace) -> Result<()> {
        let spill = match &self.spill {
            Some(spill) => spill.clone(),
            None => self.spill.insert(Arc::new(Spill::new()?)).clone(),
        };
        let mut left = self.memory_size();
        let mut writers: Vec<_> = self.roots.iter_mut().flat_map(|root| &mut root.writers).collect();
        writers.sort_by_cached_key(|writer| Reverse(writer.memory_size()));
        for writer in writers {
            if left <= target {
                break;
            }
            left -= writer.memory_size();
            writer.spill_to(&spill, workspace)?;
            left += writer.memory_size();
        }
        Ok(())
    }

    /// The finished chunks, in the order of the leaves, and their number of rows. The next row group begins.
    pub(super) fn finish(
        &mut self,
        columns: &[ColumnSettings],
        workspaces: &mut [Workspace],
    ) -> Result<(usize, Vec<(EncodedChunk, Choice)>)> {
        let mut settings = columns.iter();
        let mut closing = Vec::new();
        for root in &mut self.roots {
            for writer in &mut root.writers {
                let Some(settings) = settings.next() else { continue };
                let next = ColumnWriter::new(writer.leaf(), settings)?;
                closing.push(std::mem::replace(writer, next));
            }
        }
        let weight = |writer: &ColumnWriter| writer.memory_size() as u64;
        let chunks = for_each(closing, workspaces, weight, |writer, workspace| writer.close(workspace))?;
        // The chunks hold on to the temporary file as long as they need it.
        self.spill = None;
        Ok((std::mem::take(&mut self.rows), chunks))
    }
}

impl Root {
    fn write(&mut self, batches: &[(RecordBatch, Range<usize>)], workspace: &mut Workspace) -> Result<()> {
        let mut leaves = Vec::new();
        for (batch, rows) in batches {
            let array = batch.column(self.index);
            for start in rows.clone().step_by(BLOCK_ROWS) {
                let rows = start..(start + BLOCK_ROWS).min(rows.end);
                self.shredder.shred(array, rows, &mut leaves)?;
                for (writer, leaf) in self.writers.iter_mut().zip(&leaves) {
                    writer.write(leaf, workspace)?;
                }
            }
        }
        Ok(())
    }
}

/// Does `work` for each of `items`, and gives the results in their order. There are as many workers as workspaces; one
/// alone works on the caller's thread. Of several errors, that of the first item counts, whoever found it.
///
/// PERF: the heaviest go first: a long text as the last column would be left to one worker while the others wait.
fn for_each<T: Send, R: Send>(
    items: Vec<T>,
    workspaces: &mut [Workspace],
    weight: impl Fn(&T) -> u64,
    work: impl Fn(T, &mut Workspace) -> Result<R> + Sync,
) -> Result<Vec<R>> {
    if let [workspace] = workspaces {
        return items.into_iter().map(|item| work(item, workspace)).collect();
    }
    let mut results: Vec<Option<Result<R>>> = items.iter().map(|_| None).collect();
    let mut queue: Vec<_> = items.into_iter().zip(&mut results).collect();
    queue.sort_by_cached_key(|(item, _)| Reverse(weight(item)));
    let queue = Mutex::new(queue.into_iter());
    let next = || queue.lock().unwrap_or_else(PoisonError::into_inner).next();
    std::thread::scope(|scope| {
        for workspace in workspaces {
            scope.spawn(|| {
                while let Some((item, result)) = next() {
                    *result = Some(work(item, workspace));
                }
            });
        }
    });
    drop(queue);
    results.into_iter().flatten().collect()
}

/// Rows that are shredded at a time. PERF: a block of 64-bit values stays in the second-level cache until it is encoded.
const BLOCK_ROWS: usize = 8 << 10;
