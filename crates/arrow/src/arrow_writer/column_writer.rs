//! Column writers for hosts with their own threads, under the names of the `parquet` crate.
//!
//! ```text
//! factory ──► a writer for each column ──► any thread: write, write, .. close ──► chunks ──► row group of the file
//! ```

use super::batch_schema::check_array;
use super::column_chunk::ArrowColumnChunk;
use super::held_memory::HeldMemory;
use super::row_group::BLOCK_ROWS;
use crate::schema::element_of;
use crate::shred::Shredder;
use arrow_array::{Array, ArrayRef};
use arrow_schema::{DataType, Field, FieldRef, SchemaRef};
use marquetry_base::{Error, ErrorKind, MemoryBudget, Result, Stopwatch};
use marquetry_core::metrics::WriteCounters;
use marquetry_core::nesting::ShreddedColumn;
use marquetry_core::schema::{Leaf, Schema};
use marquetry_core::write::{
    ColumnSettings, ColumnWriter, Spill, SpillStore, WorkspacePool, WriterProperties,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Creates the column writers of row groups, for any number of row groups at a time. Corresponds to `parquet`'s type of
/// the same name.
///
/// Returned by [`ArrowWriter::into_serialized_writer`](super::ArrowWriter::into_serialized_writer) and
/// [`ArrowWriter::row_group_writer_factory`](super::ArrowWriter::row_group_writer_factory), and outlives both writers.
/// Cloning it is cheap; clones share the memory that finished columns free.
#[derive(Debug, Clone)]
pub struct ArrowRowGroupWriterFactory {
    arrow_schema: SchemaRef,
    schema: Arc<Schema>,
    columns: Arc<[ColumnSettings]>,
    pool: Arc<WorkspacePool>,
    memory_limit: Option<usize>,
    memory: MemoryBudget,
    spill_store: Arc<dyn SpillStore>,
}

impl ArrowRowGroupWriterFactory {
    pub(super) fn new(
        arrow_schema: SchemaRef,
        schema: Arc<Schema>,
        columns: Arc<[ColumnSettings]>,
        properties: &WriterProperties,
        counters: &Arc<WriteCounters>,
    ) -> Self {
        ArrowRowGroupWriterFactory {
            arrow_schema,
            schema,
            columns,
            pool: Arc::new(WorkspacePool::new(!properties.is_memory_bounded(), counters)),
            memory_limit: properties.memory_limit(),
            memory: properties.memory().clone(),
            spill_store: properties.page_store(),
        }
    }

    /// Returns the Arrow schema, whose fields [`compute_leaves`] takes.
    pub fn arrow_schema(&self) -> &SchemaRef {
        &self.arrow_schema
    }

    /// Creates the writers of a new row group: one for each column of the Parquet schema, in its order. Errors report
    /// `row_group_index` as the row group's number.
    ///
    /// Fails if the properties request an encoding that a column cannot have.
    pub fn create_column_writers(&self, row_group_index: usize) -> Result<Vec<ArrowColumnWriter>> {
        let room = Arc::new(Room {
            held: AtomicUsize::new(0),
            limit: self.memory_limit,
            columns: self.columns.len(),
            store: self.spill_store.clone(),
        });
        let mut leaf_in_root = 0;
        let mut writers = Vec::with_capacity(self.columns.len());
        for (number, (leaf, settings)) in self.schema.columns().iter().zip(&*self.columns).enumerate() {
            let is_first = number == 0 || self.schema.column(number - 1).root() != leaf.root();
            leaf_in_root = if is_first { 0 } else { leaf_in_root + 1 };
            let field = &self.arrow_schema.fields()[leaf.root()];
            writers.push(ArrowColumnWriter {
                field: field.clone(),
                leaf_in_root,
                shredder: Shredder::of_leaf(field, &self.schema, number)?,
                shredded: Vec::new(),
                writer: ColumnWriter::new(leaf, settings)?,
                pool: self.pool.clone(),
                room: room.clone(),
                spill: None,
                held: 0,
                memory: HeldMemory::new(self.pool.counters(), &self.memory),
                rows: 0,
                row_group: row_group_index,
                failed: false,
            });
        }
        Ok(writers)
    }
}

/// The memory that the columns of a row group hold together.
#[derive(Debug)]
struct Room {
    held: AtomicUsize,
    limit: Option<usize>,
    columns: usize,
    store: Arc<dyn SpillStore>,
}

impl Room {
    /// Returns whether a column that holds this much must spill: all columns together exceed the limit, and it holds at
    /// least an average share.
    fn is_short_for(&self, held: usize) -> bool {
        let all = self.held.load(Ordering::Relaxed);
        self.limit.is_some_and(|limit| all > limit) && held >= all / self.columns.max(1)
    }
}

/// The part of a field's array for one column, made by [`compute_leaves`]. It shares the array's memory.
#[derive(Debug, Clone)]
pub struct ArrowLeafColumn {
    name: String,
    array: ArrayRef,
    leaf_in_root: usize,
}

/// Splits `array` into parts for the writers of all columns below `field`, in their order: one part for an array that
/// is not nested, and one for each leaf of structs, lists and maps.
///
/// Copies nothing, and leaves making levels to [`ArrowColumnWriter::write`].
///
/// Fails if the array's type is not the field's.
///
/// ```
/// use arrow_array::{ArrayRef, Int32Array, StringArray, StructArray};
/// use arrow_schema::{DataType, Field};
/// use marquetry_arrow::arrow_writer::compute_leaves;
/// use std::sync::Arc;
///
/// let parts: Vec<(Arc<Field>, ArrayRef)> = vec![
///     (Arc::new(Field::new("x", DataType::Int32, false)), Arc::new(Int32Array::from(vec![1, 2]))),
///     (Arc::new(Field::new("y", DataType::Utf8, false)), Arc::new(StringArray::from(vec!["a", "b"]))),
/// ];
/// let array: ArrayRef = Arc::new(StructArray::from(parts));
/// let field = Field::new("point", array.data_type().clone(), true);
/// assert_eq!(compute_leaves(&field, &array)?.len(), 2);
/// # Ok::<(), marquetry_base::Error>(())
/// ```
pub fn compute_leaves(field: &Field, array: &ArrayRef) -> Result<Vec<ArrowLeafColumn>> {
    check_array(field, array.data_type())?;
    let leaf =
        |leaf_in_root| ArrowLeafColumn { name: field.name().clone(), array: array.clone(), leaf_in_root };
    Ok((0..leaf_count(field.data_type())).map(leaf).collect())
}

/// Returns how many columns there are below a field of this type.
fn leaf_count(data_type: &DataType) -> usize {
    match data_type {
        DataType::Struct(fields) => fields.iter().map(|field| leaf_count(field.data_type())).sum(),
        DataType::Map(entries, _) => leaf_count(entries.data_type()),
        other => element_of(other).map_or(1, |element| leaf_count(element.data_type())),
    }
}

/// Writes one column of one row group, on any thread: it owns all that it needs.
///
/// Given the same batches, the chunk equals that of [`ArrowWriter`](super::ArrowWriter) byte for byte, whatever else is
/// written meanwhile, on any number of threads. There are two exceptions, with the same values. `ArrowWriter` splits
/// batches of more than 64 MiB, or of more than a quarter of a limit that is set. And if a [memory
/// limit](marquetry_core::write::WriterPropertiesBuilder::set_memory_limit) is reached, pages of the row group's larger
/// columns move to the spill store.
///
/// ```
/// use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray};
/// use marquetry_arrow::arrow_writer::{ArrowWriter, compute_leaves};
/// use std::sync::Arc;
///
/// let batch = RecordBatch::try_from_iter([
///     ("id", Arc::new(Int64Array::from(vec![1, 2, 3])) as ArrayRef),
///     ("name", Arc::new(StringArray::from(vec![Some("a"), None, Some("c")])) as ArrayRef),
/// ])?;
/// let mut out = Vec::new();
/// let writer = ArrowWriter::try_new(&mut out, batch.schema(), None)?;
/// let (mut file, factory) = writer.into_serialized_writer()?;
///
/// // Each column on a thread of the host's.
/// let mut threads = Vec::new();
/// let mut columns = factory.create_column_writers(0)?.into_iter();
/// for (field, array) in batch.schema().fields().iter().zip(batch.columns()) {
///     for leaf in compute_leaves(field, array)? {
///         let mut column = columns.next().unwrap();
///         threads.push(std::thread::spawn(move || {
///             column.write(&leaf)?;
///             column.close()
///         }));
///     }
/// }
/// let mut row_group = file.next_row_group()?;
/// for thread in threads {
///     thread.join().unwrap()?.append_to_row_group(&mut row_group)?;
/// }
/// row_group.close()?;
/// assert_eq!(file.close()?.num_rows(), 3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "the column is lost unless the writer is closed"]
pub struct ArrowColumnWriter {
    field: FieldRef,
    leaf_in_root: usize,
    shredder: Shredder,
    shredded: Vec<ShreddedColumn>,
    writer: ColumnWriter,
    pool: Arc<WorkspacePool>,
    room: Arc<Room>,
    spill: Option<Arc<Spill>>,
    /// The bytes that `room` counts for this column.
    held: usize,
    memory: HeldMemory,
    rows: u64,
    row_group: usize,
    failed: bool,
}

impl ArrowColumnWriter {
    /// Returns the column.
    pub fn leaf(&self) -> &Leaf {
        self.writer.leaf()
    }

    /// Returns the field of the root that the column belongs to. [`compute_leaves`] takes its arrays.
    pub fn field(&self) -> &FieldRef {
        &self.field
    }

    /// Returns how many rows were written.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Appends rows. After an error, or a panic, the writer cannot be used any more.
    ///
    /// Fails if `leaf` belongs to another field or column, has a null where none is allowed, or has a value that the
    /// column cannot hold.
    pub fn write(&mut self, leaf: &ArrowLeafColumn) -> Result<()> {
        self.check_usable()?;
        if leaf.name != *self.field.name() || leaf.leaf_in_root != self.leaf_in_root {
            let message = format!("column {} of field {} for another one", leaf.leaf_in_root, leaf.name);
            return Err(self.placed(Error::argument(message).in_column(self.leaf().dotted().clone())));
        }
        self.write_array(&leaf.array)
    }

    /// Like [`write`](Self::write), for an array of the whole [field](Self::field). Takes this column's part and skips the others.
    pub fn write_array(&mut self, array: &ArrayRef) -> Result<()> {
        self.check_usable()?;
        check_array(&self.field, array.data_type()).map_err(|error| self.placed(error))?;
        self.failed = true;
        self.write_blocks(array).map_err(|error| self.placed(error))?;
        self.rows += array.len() as u64;
        self.keep_to_memory().map_err(|error| self.placed(error))?;
        self.failed = false;
        Ok(())
    }

    fn write_blocks(&mut self, array: &ArrayRef) -> Result<()> {
        let ArrowColumnWriter { shredder, shredded, writer, pool, .. } = self;
        let start = Stopwatch::start();
        pool.with(|workspace| {
            for start in (0..array.len()).step_by(BLOCK_ROWS) {
                let rows = start..(start + BLOCK_ROWS).min(array.len());
                shredder.shred(array, rows, shredded)?;
                shredded.iter().try_for_each(|column| writer.write(column, workspace))?;
            }
            workspace.counters().encoded(start);
            Ok(())
        })
    }

    /// Returns about how many bytes the chunk would have in the file, if it ended now.
    pub fn get_estimated_total_bytes(&self) -> usize {
        self.writer.estimated_size() as usize
    }

    /// Returns how many bytes the writer holds in memory.
    pub fn memory_size(&self) -> usize {
        self.writer.memory_size()
    }

    /// Moves everything that can be written as pages to the spill store of the properties, for a host that is short of memory.
    pub fn spill(&mut self) -> Result<()> {
        self.check_usable()?;
        self.failed = true;
        self.move_pages().map_err(|error| self.placed(error))?;
        self.failed = false;
        Ok(())
    }

    /// Spills if the row group's columns hold too much, or if the budget is used up.
    fn keep_to_memory(&mut self) -> Result<()> {
        let is_short = self.note_memory();
        match self.memory.set(self.held) {
            Ok(()) if is_short || self.memory.is_greedy() => self.move_pages(),
            Err(error) if error.kind() == ErrorKind::Memory => self.move_pages(),
            noted => noted,
        }
    }

    fn move_pages(&mut self) -> Result<()> {
        let spill = open_spill(self.spill.take(), &self.room)?;
        let ArrowColumnWriter { writer, pool, .. } = self;
        pool.with(|workspace| writer.spill_to(&spill, workspace))?;
        self.spill = Some(spill);
        self.note_memory();
        self.memory.set(self.held)
    }

    /// Updates the memory that this column holds in the shared count. Returns whether it must spill.
    fn note_memory(&mut self) -> bool {
        let held = self.writer.memory_size();
        self.room.held.fetch_add(held, Ordering::Relaxed);
        self.room.held.fetch_sub(self.held, Ordering::Relaxed);
        self.held = held;
        self.room.is_short_for(held)
    }

    /// Finishes the chunk and returns it.
    pub fn close(self) -> Result<ArrowColumnChunk> {
        self.check_usable()?;
        let row_group = self.row_group;
        self.finish().map_err(|error| error.in_row_group(row_group))
    }

    fn finish(self) -> Result<ArrowColumnChunk> {
        let start = Stopwatch::start();
        let ArrowColumnWriter { writer, pool, room, spill, mut memory, rows, .. } = self;
        let leaf = writer.leaf().clone();
        let (mut chunk, decision) = pool.with(|workspace| writer.close(workspace))?;
        match memory.set(chunk.bytes.held()) {
            Err(error) if error.kind() == ErrorKind::Memory => {
                chunk.bytes.spill_to(&open_spill(spill, &room)?)?;
                memory.set(0)?;
            }
            noted => noted?,
        }
        pool.counters().encoded(start);
        Ok(ArrowColumnChunk::new(chunk, rows, decision, leaf, memory))
    }

    fn check_usable(&self) -> Result<()> {
        match self.failed {
            true => Err(self.placed(Error::argument("writing the column failed before"))),
            false => Ok(()),
        }
    }

    fn placed(&self, error: Error) -> Error {
        error.in_row_group(self.row_group)
    }
}

/// Returns the place that a column's pages are spilled to: the one used before, or a new one.
fn open_spill(before: Option<Arc<Spill>>, room: &Room) -> Result<Arc<Spill>> {
    before.map_or_else(|| Spill::in_store(&*room.store).map(Arc::new), Ok)
}

impl std::fmt::Debug for ArrowColumnWriter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ArrowColumnWriter")
            .field("column", self.leaf().dotted())
            .field("rows", &self.rows)
            .finish_non_exhaustive()
    }
}
