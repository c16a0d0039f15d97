//! The row group that is being filled: a column writer for each leaf, and the threads that feed them.

use crate::shred::Shredder;
use arrow_array::RecordBatch;
use arrow_schema::Schema as ArrowSchema;
use marquetry_base::{Executor, Result, Stopwatch, parallel_map};
use marquetry_core::schema::Schema;
use marquetry_core::write::{
    ColumnSettings, ColumnWriter, EncodedChunk, EncodingDecision, Spill, SpillStore, Workspace,
};
use std::cmp::Reverse;
use std::ops::Range;
use std::sync::Arc;

/// A row group that is being filled.
pub(super) struct OpenRowGroup {
    roots: Vec<Root>,
    /// Rows that all columns have taken.
    pub(super) rows: usize,
    spill: Option<Arc<Spill>>,
    /// What has the other threads.
    executor: Arc<dyn Executor>,
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
        executor: Arc<dyn Executor>,
    ) -> Result<Self> {
        let mut roots = Vec::new();
        for (index, field) in arrow_schema.fields().iter().enumerate() {
            let leaves = schema.columns_of(index);
            let writers =
                leaves.map(|i| ColumnWriter::new(schema.column(i), &columns[i])).collect::<Result<_>>()?;
            roots.push(Root { index, shredder: Shredder::new(field, schema, index)?, writers });
        }
        Ok(OpenRowGroup { roots, rows: 0, spill: None, executor })
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
        batches: Vec<(RecordBatch, Range<usize>)>,
        rows: usize,
        workspaces: &mut Vec<Workspace>,
    ) -> Result<()> {
        if rows == 0 {
            return Ok(());
        }
        self.rows += rows;
        // What columns take, they have taken before.
        let weight = |root: &Root| root.writers.iter().map(ColumnWriter::estimated_size).sum();
        let write = move |mut root: Root, workspace: &mut Workspace| {
            let written = root.write(&batches, workspace);
            (root, written)
        };
        let roots = std::mem::take(&mut self.roots);
        let (roots, written): (Vec<_>, Vec<_>) =
            for_each(&*self.executor, roots, workspaces, weight, write).into_iter().unzip();
        self.roots = roots;
        // Of several errors that of the first field counts, whoever found it.
        written.into_iter().collect()
    }

    /// Writes pages to a temporary file, those of the largest columns first, until at most `target` bytes are left in
    /// memory, or nothing more can be spared.
    pub(super) fn spill(
        &mut self,
        target: usize,
        store: &dyn SpillStore,
        workspace: &mut Workspace,
    ) -> Result<()> {
        let spill = match &self.spill {
            Some(spill) => spill.clone(),
            None => self.spill.insert(Arc::new(Spill::in_store(store)?)).clone(),
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
        workspaces: &mut Vec<Workspace>,
    ) -> Result<(usize, Vec<(EncodedChunk, EncodingDecision)>)> {
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
        let close = |writer: ColumnWriter, workspace: &mut Workspace| {
            let start = Stopwatch::start();
            let closed = writer.close(workspace);
            workspace.counters().encoded(start);
            closed
        };
        let chunks = for_each(&*self.executor, closing, workspaces, weight, close);
        let chunks = chunks.into_iter().collect::<Result<_>>()?;
        // The chunks hold on to the temporary file as long as they need it.
        self.spill = None;
        Ok((std::mem::take(&mut self.rows), chunks))
    }
}

impl Root {
    fn write(&mut self, batches: &[(RecordBatch, Range<usize>)], workspace: &mut Workspace) -> Result<()> {
        let start = Stopwatch::start();
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
        workspace.counters().encoded(start);
        Ok(())
    }
}

/// Does `work` for each of `items`, by as many workers as there are workspaces, and gives the results in their order.
///
/// PERF: the heaviest go first: a long text as the last column would be left to one worker while the others wait.
fn for_each<T: Send + 'static, R: Send + 'static>(
    executor: &dyn Executor,
    items: Vec<T>,
    workspaces: &mut Vec<Workspace>,
    weight: impl Fn(&T) -> u64,
    work: impl Fn(T, &mut Workspace) -> R + Send + Sync + 'static,
) -> Vec<R> {
    let mut items: Vec<_> = items.into_iter().enumerate().collect();
    items.sort_by_cached_key(|(_, item)| Reverse(weight(item)));
    let work = move |(i, item), workspace: &mut Workspace| (i, work(item, workspace));
    let mut results = parallel_map(executor, items, workspaces, work);
    results.sort_by_key(|(i, _)| *i);
    results.into_iter().map(|(_, result)| result).collect()
}

/// Rows that are shredded at a time. PERF: a block of 64-bit values stays in the second-level cache until it is encoded.
pub(super) const BLOCK_ROWS: usize = 8 << 10;
