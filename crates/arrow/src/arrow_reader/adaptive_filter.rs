//! The stages of a filter, cheapest first: each decodes its columns for the remaining rows, and leaves fewer.
//!
//! Conditions on the same columns form one stage. Stages of a typed predicate are ordered by their cost for each row
//! that they remove. The cost is measured block by block, and the order is updated as the scan proceeds. Predicates
//! over arrays come after them, in the order in which they were given.

use super::ArrowPredicate;
use super::cached_column::{BlockRows, CachedColumn};
use super::resolved_schema::ProjectedField;
use crate::assemble::{Leaves, assemble};
use crate::column_map::{ColumnMap, missing};
use crate::convert::DictionaryCache;
use arrow_array::{Array, BooleanArray, RecordBatch, RecordBatchOptions};
use arrow_schema::{Schema as ArrowSchema, SchemaRef};
use marquetry_base::{Error, ErrorKind, MemoryReservation, Result, Stopwatch};
use marquetry_core::metadata::ParquetMetaData;
use marquetry_core::predicate::{BoundPredicate, LeafValues};
use marquetry_core::read::ColumnBatch;
use marquetry_encoding::dictionary::Dictionary;
use marquetry_encoding::{Bitmap, Values};
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

/// The columns of a file that are read.
pub(super) type Columns = ColumnMap<CachedColumn>;

/// A stage of a filter.
pub(super) struct FilterStage {
    test: Test,
    /// The columns that it needs.
    leaves: Vec<usize>,
    /// Seconds per row that it evaluates.
    cost: f64,
    /// The fraction of rows that it keeps.
    selectivity: f64,
    /// Whether cost and selectivity were measured, not only guessed.
    is_measured: bool,
}

enum Test {
    /// Typed conditions on the same columns.
    Typed { conditions: Vec<Condition> },
    /// A predicate over arrays.
    Arrow(ArrowStage),
}

/// A predicate over arrays, and what is needed to make the arrays.
struct ArrowStage {
    predicate: Box<dyn ArrowPredicate>,
    roots: Vec<ProjectedField>,
    schema: SchemaRef,
    dictionaries: ColumnMap<DictionaryCache>,
}

/// A condition, and its result for each entry of the last dictionary.
struct Condition {
    bound: BoundPredicate,
    entries: Option<Entries>,
}

struct Entries {
    of: Arc<Dictionary>,
    /// 1 for each entry that matches, padded with zeros to a power of two.
    table: Vec<u8>,
    /// Whether null matches.
    null: bool,
}

impl FilterStage {
    /// Returns the stages of a typed predicate.
    pub(super) fn of_predicate(predicate: &BoundPredicate, metadata: &ParquetMetaData) -> Vec<FilterStage> {
        let mut stages: Vec<FilterStage> = Vec::new();
        // PERF: there may be thousands of conditions, each of another column.
        let mut places: HashMap<Vec<usize>, usize> = HashMap::new();
        for bound in predicate.conjuncts() {
            let leaves = bound.leaves().to_vec();
            let condition = Condition { bound, entries: None };
            match places.get(&leaves).and_then(|place| stages.get_mut(*place)) {
                Some(FilterStage { test: Test::Typed { conditions }, .. }) => conditions.push(condition),
                _ => {
                    places.insert(leaves.clone(), stages.len());
                    let cost = guessed_cost(metadata, &leaves);
                    let test = Test::Typed { conditions: vec![condition] };
                    stages.push(FilterStage { test, leaves, cost, selectivity: 0.5, is_measured: false });
                }
            }
        }
        stages
    }

    /// Returns the stage of a predicate over arrays of the fields in `roots`.
    pub(super) fn of_arrays(predicate: Box<dyn ArrowPredicate>, roots: Vec<ProjectedField>) -> FilterStage {
        let mut leaves = Vec::new();
        roots.iter().for_each(|root| root.field.leaves(&mut leaves));
        let fields: Vec<_> = roots.iter().map(|root| root.arrow.clone()).collect();
        let schema = Arc::new(ArrowSchema::new(fields));
        let dictionaries = ColumnMap::new(leaves.iter().copied(), DictionaryCache::default);
        let test = Test::Arrow(ArrowStage { predicate, roots, schema, dictionaries });
        FilterStage { test, leaves, cost: 0.0, selectivity: 1.0, is_measured: false }
    }

    /// Returns the columns that it needs.
    pub(super) fn leaves(&self) -> &[usize] {
        &self.leaves
    }

    /// Returns whether it belongs to a typed predicate.
    pub(super) fn is_typed(&self) -> bool {
        matches!(self.test, Test::Typed { .. })
    }

    /// Evaluates the stage for the `kept` rows of `rows`. Returns a bit for each.
    fn evaluate(
        &mut self,
        rows: &BlockRows,
        kept: usize,
        columns: &mut Columns,
        metadata: &ParquetMetaData,
    ) -> Result<Bitmap> {
        for &leaf in &self.leaves {
            column(columns, leaf)?.decode(rows)?;
        }
        match &mut self.test {
            Test::Typed { conditions } => {
                let mut out: Option<Bitmap> = None;
                for condition in conditions {
                    let found = condition.evaluate(kept, &self.leaves, columns)?;
                    match &mut out {
                        None => out = Some(found),
                        Some(out) => out.and(&found),
                    }
                }
                Ok(out.unwrap_or_else(|| (0..kept).map(|_| true).collect()))
            }
            Test::Arrow(arrays) => arrays.evaluate(kept, columns, metadata),
        }
    }

    /// Returns the cost in seconds for each row that it removes.
    fn cost_per_removed_row(&self) -> f64 {
        self.cost / (1.0 - self.selectivity).max(1e-4)
    }

    /// Records the measurement of a block.
    fn measure(&mut self, asked: usize, left: usize, seconds: f64) {
        let (cost, selectivity) = (seconds / asked as f64, left as f64 / asked as f64);
        let weight = if self.is_measured { RECENT } else { 1.0 };
        self.cost += weight * (cost - self.cost);
        self.selectivity += weight * (selectivity - self.selectivity);
        self.is_measured = true;
    }
}

/// The weight of the last block against earlier ones.
const RECENT: f64 = 0.25;

/// Keeps those of `rows` that pass all stages. Typed stages are evaluated only if `asks_typed`.
pub(super) fn filter(
    stages: &mut [FilterStage],
    rows: &mut BlockRows,
    asks_typed: bool,
    columns: &mut Columns,
    metadata: &ParquetMetaData,
) -> Result<()> {
    let typed = stages.iter().take_while(|stage| stage.is_typed()).count();
    if typed > 1 {
        stages[..typed].sort_by(|a, b| a.cost_per_removed_row().total_cmp(&b.cost_per_removed_row()));
    }
    let first = if asks_typed { 0 } else { typed };
    let measures = typed > 1;
    let mut last_use: HashMap<usize, usize> = HashMap::new();
    for (i, stage) in stages.iter().enumerate().skip(first) {
        last_use.extend(stage.leaves.iter().map(|leaf| (*leaf, i)));
    }
    // The columns of which values are kept: no others are looked at, as there may be thousands.
    let mut kept: BTreeSet<usize> = BTreeSet::new();
    for (i, stage) in stages.iter_mut().enumerate().skip(first) {
        let asked = rows.kept();
        if asked == 0 {
            break;
        }
        let start = measures.then(Stopwatch::start);
        let found = stage.evaluate(rows, asked, columns, metadata)?;
        let left = found.count_ones(0..found.len());
        if let Some(start) = start {
            stage.measure(asked, left, start.elapsed().as_secs_f64());
        }
        kept.extend(&stage.leaves);
        let affected: Vec<usize> = match left < asked {
            true => kept.iter().copied().collect(),
            false => stage.leaves.clone(),
        };
        for leaf in affected {
            let column = column(columns, leaf)?;
            // Columns that no later stage needs are not filtered again.
            let is_needed = column.is_projected || last_use.get(&leaf).is_some_and(|last| *last > i);
            if !is_needed || left == 0 {
                column.clear();
                kept.remove(&leaf);
            } else if left < asked {
                column.refilter(&found)?;
            }
        }
        if left < asked {
            rows.refine(found);
        }
    }
    Ok(())
}

impl Condition {
    fn evaluate(&mut self, rows: usize, leaves: &[usize], columns: &Columns) -> Result<Bitmap> {
        let batches = leaves.iter().map(|&leaf| Ok((leaf, cached(columns, leaf)?)));
        let batches: Vec<(usize, &ColumnBatch)> = batches.collect::<Result<_>>()?;
        if let [(leaf, batch @ ColumnBatch { values: Values::W32(keys), dictionary: Some(dictionary), .. })] =
            batches.as_slice()
            && self.bound.is_of_values()
            && self.knows(*leaf, dictionary, keys.len())?
            && let Some(entries) = &self.entries
        {
            return Ok(entries.look_up(keys, validity_of(batch)));
        }
        let levels: Vec<_> = batches.iter().map(|(_, batch)| batch.levels_as_bytes()).collect();
        let leaves = batches.iter().zip(&levels).map(|(&(leaf, batch), (def, rep))| {
            let validity = validity_of(batch);
            let values = LeafValues::flat(&batch.values, validity)
                .with_dictionary(batch.dictionary.as_deref())
                .with_levels(def, rep);
            (leaf, values)
        });
        self.bound.evaluate(rows, &leaves.collect::<Vec<_>>())
    }

    /// Evaluates each entry of a dictionary once, unless it has many more entries than there are rows. Returns whether
    /// the entries are evaluated.
    fn knows(&mut self, leaf: usize, dictionary: &Arc<Dictionary>, rows: usize) -> Result<bool> {
        if self.entries.as_ref().is_some_and(|entries| Arc::ptr_eq(&entries.of, dictionary)) {
            return Ok(true);
        }
        let values = dictionary.values();
        if values.len() > MORE_ENTRIES * rows {
            return Ok(false);
        }
        let of_entries = LeafValues::flat(values, None);
        let found = self.bound.evaluate(values.len(), &[(leaf, of_entries)])?;
        let mut null = values.shape().empty();
        null.push_nulls(1);
        let is_valid = Bitmap::from_iter([false]);
        let of_null = LeafValues::flat(&null, Some(&is_valid));
        let null = self.bound.evaluate(1, &[(leaf, of_null)])?;
        let mut table: Vec<u8> = (0..found.len()).map(|i| u8::from(found.get(i))).collect();
        table.resize(table.len().next_power_of_two(), 0);
        self.entries = Some(Entries { of: dictionary.clone(), table, null: null.get(0) });
        Ok(true)
    }
}

/// Returns the validity bitmap; `None` if nothing is null.
fn validity_of(batch: &ColumnBatch) -> Option<&Bitmap> {
    batch.validity.as_ref().filter(|_| batch.nulls() > 0)
}

/// Maximum number of dictionary entries per row of a block for which the whole dictionary is evaluated. Later blocks
/// use the result.
const MORE_ENTRIES: usize = 4;

impl Entries {
    /// Looks up the result of each key. PERF: the table's size is a power of two, so that the mask keeps every key
    /// inside, even that of a null, which may be anything.
    fn look_up(&self, keys: &[u32], validity: Option<&Bitmap>) -> Bitmap {
        let mut out = Bitmap::new();
        out.reserve(keys.len());
        let mut found = [0; BLOCK];
        let (table, last) = (&self.table[..], self.table.len() - 1);
        for keys in keys.chunks(BLOCK) {
            let found = &mut found[..keys.len()];
            for (found, key) in found.iter_mut().zip(keys) {
                *found = table[*key as usize & last];
            }
            out.push_ge(found, 1);
        }
        match (validity, self.null) {
            (None, _) => {}
            (Some(validity), false) => out.and(validity),
            (Some(validity), true) => {
                let mut nulls = validity.clone();
                nulls.invert();
                out.or(&nulls);
            }
        }
        out
    }
}

/// Rows per inner loop.
const BLOCK: usize = 1024;

impl ArrowStage {
    fn evaluate(&mut self, rows: usize, columns: &Columns, metadata: &ParquetMetaData) -> Result<Bitmap> {
        let batch = self.batch(rows, columns, metadata)?;
        let found = self.predicate.evaluate(batch).map_err(|error| {
            Error::caused_by(ErrorKind::Argument, "the predicate of a row filter failed", error)
        })?;
        if found.len() != rows {
            let message = format!("a predicate gave {} results for {rows} rows", found.len());
            return Err(Error::argument(message));
        }
        Ok(trues(&found))
    }

    /// Returns the batch for the predicate.
    fn batch(&mut self, rows: usize, columns: &Columns, metadata: &ParquetMetaData) -> Result<RecordBatch> {
        let mut arrays = Vec::with_capacity(self.roots.len());
        // Reserved until the batch is handed over.
        let held = &mut MemoryReservation::default();
        for root in &self.roots {
            let batch = |leaf| {
                let mut batch = cached(columns, leaf)?.copied()?;
                batch.finish();
                Ok((leaf, Some(batch)))
            };
            let mut batches = root.leaves().into_iter().map(batch).collect::<Result<_>>()?;
            let (schema, batches, dictionaries) = (metadata.schema(), &mut batches, &mut self.dictionaries);
            arrays.push(assemble(
                &root.field,
                &root.arrow,
                &mut Leaves { schema, batches, dictionaries, held },
            )?);
        }
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        RecordBatch::try_new_with_options(self.schema.clone(), arrays, &options).map_err(crate::arrow_error)
    }
}

/// Returns a bitmap of the results that are true, and not null.
fn trues(found: &BooleanArray) -> Bitmap {
    let mut out = Bitmap::new();
    out.push_packed(found.values().values(), found.values().offset(), found.len());
    if let Some(nulls) = found.nulls() {
        let mut valid = Bitmap::new();
        valid.push_packed(nulls.validity(), nulls.offset(), nulls.len());
        out.and(&valid);
    }
    out
}

fn column(columns: &mut Columns, leaf: usize) -> Result<&mut CachedColumn> {
    columns.get_mut(leaf).ok_or_else(|| missing(leaf))
}

/// Returns the values of the kept rows.
fn cached(columns: &Columns, leaf: usize) -> Result<&ColumnBatch> {
    columns.get(leaf).and_then(CachedColumn::cached).ok_or_else(|| missing(leaf))
}

/// Guesses the cost of the columns per row before it is measured, from their bytes in the first row group.
fn guessed_cost(metadata: &ParquetMetaData, leaves: &[usize]) -> f64 {
    let Some(row_group) = metadata.row_groups().next() else { return 0.0 };
    let bytes =
        leaves.iter().filter_map(|&leaf| row_group.column(leaf).ok()).map(|chunk| chunk.uncompressed_size());
    bytes.map(|bytes| bytes.max(0) as f64).sum::<f64>() / row_group.num_rows().max(1) as f64 * SECONDS_A_BYTE
}

/// One gigabyte per second.
const SECONDS_A_BYTE: f64 = 1e-9;
