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

/// A chunk, and how its encoding was chosen.
type FinishedColumn = Box<(EncodedChunk, EncodingDecision)>;

/// A row group that is being filled.
pub(super) struct OpenRowGroup {
    roots: Vec<Root>,
    schema: Arc<Schema>,
    columns: Arc<[ColumnSettings]>,
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
    /// None between two row groups.
    writers: Vec<ColumnWriter>,
}

impl OpenRowGroup {
    pub(super) fn new(
        arrow_schema: &ArrowSchema,
        schema: &Arc<Schema>,
        columns: &Arc<[ColumnSettings]>,
        executor: Arc<dyn Executor>,
    ) -> Result<Self> {
        let mut roots = Vec::with_capacity(arrow_schema.fields().len());
        for (index, field) in arrow_schema.fields().iter().enumerate() {
            let shredder = Shredder::new(field, schema, index)?;
            roots.push(Root { index, shredder, writers: Vec::new() });
        }
        let (schema, columns) = (schema.clone(), columns.clone());
        let mut open = OpenRowGroup { roots, schema, columns, rows: 0, spill: None, executor };
        open.begin()?;
        Ok(open)
    }

    /// Makes the writers of columns that have none.
    fn begin(&mut self) -> Result<()> {
        let (schema, columns) = (&self.schema, &self.columns);
        for root in self.roots.iter_mut().filter(|root| root.writers.is_empty()) {
            let leaves = schema.columns_of(root.index);
            let new = leaves.map(|i| ColumnWriter::new(schema.column(i), &columns[i]));
            root.writers = new.collect::<Result<_>>()?;
        }
        Ok(())
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
        self.begin()?;
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

    /// The finished chunks, in the order of the leaves, and their number of rows. The next row group begins with its first row:
    /// where columns are very many, their writers are memory that the last row group has need of.
    pub(super) fn finish(&mut self, workspaces: &mut Vec<Workspace>) -> Result<(usize, Vec<FinishedColumn>)> {
        // Each in memory of its own, which goes as columns are closed.
        let mut closing = Vec::with_capacity(self.columns.len());
        for root in &mut self.roots {
            closing.extend(std::mem::take(&mut root.writers).into_iter().map(Box::new));
        }
        let close = |writer: Box<ColumnWriter>, workspace: &mut Workspace| {
            let start = Stopwatch::start();
            let closed = writer.close(workspace).map(Box::new);
            workspace.counters().encoded(start);
            closed
        };
        let chunks =
            for_each(&*self.executor, closing, workspaces, |writer| writer.memory_size() as u64, close);
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
