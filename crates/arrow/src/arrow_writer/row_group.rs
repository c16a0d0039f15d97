//! The row group that is being filled: a column writer for each leaf, and the threads that feed them.

use super::held_memory::HeldMemory;
use super::slice_size::array_bytes;
use crate::shred::Shredder;
use arrow_array::RecordBatch;
use arrow_schema::Schema as ArrowSchema;
use marquetry_base::{
    Executor, MemoryBudget, Output, Result, Stopwatch, parallel_map_each, parallel_map_parts,
};
use marquetry_core::schema::Schema;
use marquetry_core::write::{
    ChunkBytes, ColumnSettings, ColumnWriter, EncodedChunk, EncodingDecision, Spill, SpillStore, Workspace,
};
use std::cmp::Reverse;
use std::ops::Range;
use std::sync::Arc;

/// A chunk, and how its encoding was chosen.
pub(super) type FinishedColumn = Box<(EncodedChunk, EncodingDecision)>;

/// A destination for the chunks of a row group, in the order of the leaves.
pub(super) trait ColumnSink {
    /// Returns whether a chunk may be given in parts.
    fn takes_parts(&self) -> bool;

    /// Takes the next pages of the next chunk.
    fn part(&mut self, pages: ChunkBytes) -> Result<()>;

    /// Takes the next chunk, or the rest of it.
    fn chunk(&mut self, chunk: FinishedColumn) -> Result<()>;
}

/// A row group that is being filled.
pub(super) struct OpenRowGroup {
    roots: Vec<Root>,
    schema: Arc<Schema>,
    columns: Arc<[ColumnSettings]>,
    /// Number of rows that all columns have taken.
    pub(super) rows: usize,
    spill: Option<Arc<Spill>>,
    /// Runs the other threads.
    executor: Arc<dyn Executor>,
}

/// One field of the schema's root, with the columns below it.
struct Root {
    index: usize,
    shredder: Shredder,
    /// Empty between two row groups.
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

    /// Creates writers for the columns that have none.
    fn begin(&mut self) -> Result<()> {
        let (schema, columns) = (&self.schema, &self.columns);
        for root in self.roots.iter_mut().filter(|root| root.writers.is_empty()) {
            let leaves = schema.columns_of(root.index);
            let new = leaves.map(|i| ColumnWriter::new(schema.column(i), &columns[i]));
            root.writers = new.collect::<Result<_>>()?;
        }
        Ok(())
    }

    /// Returns about how many bytes the row group would have if it ended now.
    pub(super) fn estimated_size(&self) -> u64 {
        self.writers().map(ColumnWriter::estimated_size).sum()
    }

    /// Returns how many bytes it holds in memory.
    pub(super) fn memory_size(&self) -> usize {
        self.writers().map(ColumnWriter::memory_size).sum()
    }

    fn writers(&self) -> impl Iterator<Item = &ColumnWriter> {
        self.roots.iter().flat_map(|root| &root.writers)
    }

    /// Has each column take its part of the rows in these batches, `rows` in all.
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
        // A column's size so far predicts how much it takes now.
        let weight = |root: &Root| root.writers.iter().map(ColumnWriter::estimated_size).sum();
        let write = move |mut root: Root, workspace: &mut Workspace| {
            let written = root.write(&batches, workspace);
            (root, written)
        };
        let roots = std::mem::take(&mut self.roots);
        // Of several errors, that of the first field counts, whichever thread found it.
        let mut outcome = Ok(());
        parallel_map_each(&*self.executor, roots, workspaces, weight, write, |(root, written)| {
            self.roots.push(root);
            outcome = std::mem::replace(&mut outcome, Ok(())).and(written);
        });
        outcome
    }

    /// Encodes a row group of exactly these rows; nothing else may use it meanwhile. Fields are encoded one after the
    /// other, so that memory holds only what the workers encode, and chunks that wait for their turn. If the sink takes
    /// parts, the first column of each field is written page by page.
    pub(super) fn write_whole(
        &mut self,
        batches: Vec<(RecordBatch, Range<usize>)>,
        workspaces: &mut Vec<Workspace>,
        sink: &mut dyn ColumnSink,
    ) -> Result<()> {
        self.begin()?;
        let field_bytes = |root: &Root| {
            let arrays = batches.iter().map(|(batch, _)| batch.column(root.index));
            arrays.map(|array| array_bytes(array) as u64).fold(0, u64::saturating_add)
        };
        let weights: Vec<u64> = self.roots.iter().map(field_bytes).collect();
        let roots: Vec<_> = std::mem::take(&mut self.roots).into_iter().zip(weights).collect();
        let in_parts = sink.takes_parts();
        let write = move |(mut root, _): (Root, u64), workspace: &mut Workspace, part: &mut dyn FnMut(_)| {
            let chunks = root.write_whole(&batches, workspace, in_parts.then_some(part));
            (root, chunks)
        };
        let mut outcome = Ok(());
        let take = |output| match output {
            Output::Part((pages, _memory)) if outcome.is_ok() => outcome = sink.part(pages),
            Output::Part(_) => {}
            Output::Result((root, chunks)) => {
                self.roots.push(root);
                let chunks: Result<(Vec<FinishedColumn>, HeldMemory)> = chunks;
                if outcome.is_ok() {
                    outcome = chunks.and_then(|(chunks, _memory)| {
                        chunks.into_iter().try_for_each(|chunk| sink.chunk(chunk))
                    });
                }
            }
        };
        parallel_map_parts(&*self.executor, roots, workspaces, |(_, weight)| *weight, write, take);
        outcome
    }

    /// Spills pages, those of the largest columns first, until at most `target` bytes are left in memory, or nothing
    /// more can be spilled.
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

    /// Returns the finished chunks, in the order of the leaves, and their number of rows. The writers of the next row
    /// group are created at its first row: if there are very many columns, this row group needs their memory.
    pub(super) fn finish(&mut self, workspaces: &mut Vec<Workspace>) -> Result<(usize, Vec<FinishedColumn>)> {
        // Each has its own allocation, which is freed as its column is closed.
        let mut closing = Vec::with_capacity(self.columns.len());
        for root in &mut self.roots {
            closing.extend(std::mem::take(&mut root.writers).into_iter().map(Box::new));
        }
        let mut chunks = Vec::with_capacity(closing.len());
        let executor = &*self.executor;
        parallel_map_each(
            executor,
            closing,
            workspaces,
            |writer| writer.memory_size() as u64,
            close,
            |chunk| chunks.push(chunk),
        );
        let chunks = chunks.into_iter().collect::<Result<_>>()?;
        // The chunks keep the temporary file as long as they need it.
        self.spill = None;
        Ok((std::mem::take(&mut self.rows), chunks))
    }
}

fn close(writer: Box<ColumnWriter>, workspace: &mut Workspace) -> Result<FinishedColumn> {
    let start = Stopwatch::start();
    let closed = writer.close(workspace).map(Box::new);
    workspace.counters().encoded(start);
    closed
}

impl Root {
    /// Writes all rows of the row group. If `part` is set, passes pages of the first column to it as they are finished.
    /// Returns the chunks and the memory that they hold.
    fn write_whole(
        &mut self,
        batches: &[(RecordBatch, Range<usize>)],
        workspace: &mut Workspace,
        mut part: Option<&mut dyn FnMut((ChunkBytes, HeldMemory))>,
    ) -> Result<(Vec<FinishedColumn>, HeldMemory)> {
        let counters = workspace.counters().clone();
        let hold = |bytes| {
            let mut memory = HeldMemory::new(&counters, &MemoryBudget::default());
            memory.set(bytes).map(|()| memory)
        };
        let mut memory = hold(0)?;
        for rows in batches {
            self.write(std::slice::from_ref(rows), workspace)?;
            memory.set(self.writers.iter().map(ColumnWriter::memory_size).sum())?;
            if let (Some(part), Some(first)) = (&mut part, self.writers.first_mut()) {
                let pages = first.take_pages();
                if !pages.is_empty() {
                    memory.set(self.writers.iter().map(ColumnWriter::memory_size).sum())?;
                    let memory = hold(pages.held())?;
                    part((pages, memory));
                }
            }
        }
        let writers = std::mem::take(&mut self.writers).into_iter();
        let chunks = writers.map(|writer| close(Box::new(writer), workspace)).collect::<Result<Vec<_>>>()?;
        memory.set(chunks.iter().map(|chunk| chunk.0.bytes.held()).sum())?;
        Ok((chunks, memory))
    }

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

/// Rows that are shredded at a time. PERF: a block of 64-bit values stays in the second-level cache until it is encoded.
pub(super) const BLOCK_ROWS: usize = 8 << 10;
