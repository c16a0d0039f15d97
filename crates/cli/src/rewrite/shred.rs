//! VARIANT columns shredded into other shapes: their rows are reassembled and shredded again, all other columns are copied.

use super::{ColumnAction, ColumnLog, EncoderMemory, Footer, Input, OutputFile, codec_of};
use crate::failure::Failure;
use crate::keys;
use crate::shred_plan::{SAMPLE_ROWS, ShredPlan, told};
use arrow_array::RecordBatch;
use arrow_schema::{Schema as ArrowSchema, SchemaRef};
use marquetry::OpenFile;
use marquetry::arrow::arrow_writer::{ArrowRowGroupWriterFactory, compute_leaves};
use marquetry::arrow::{ARROW_SCHEMA_META_KEY, ArrowWriter, parse_stored_schema, print_stored_schema};
use marquetry::errors::{Error, Limits};
use marquetry::file::properties::WriterProperties;
use marquetry::internals::format::{ColumnOrder, SchemaElement, SortingColumn};
use marquetry::schema::Schema;
use marquetry::variant::{BatchShredder, Shreddings};
use marquetry_core::write::copy::{CopySettings, drop_bounds};
use marquetry_core::write::{Compression, EncodedChunk};

/// A file whose VARIANT columns get other shapes.
pub(crate) struct Reshredding<'a> {
    input: &'a Input,
    file: OpenFile,
    arrow: SchemaRef,
    /// The roots that get another shape, in order.
    roots: Vec<usize>,
    /// Shreds batches of these.
    shredder: BatchShredder,
    /// The new schema, as in the footer.
    pub(crate) elements: Vec<SchemaElement>,
    pub(crate) schema: Schema,
    /// The column that each new one is copied from; `None` if it is encoded again.
    copied: Vec<Option<usize>>,
}

impl<'a> Reshredding<'a> {
    /// Applies `plan` to the file. Also returns lines about inferred shapes.
    pub(crate) fn new(
        input: &'a Input,
        file: OpenFile,
        arrow: &SchemaRef,
        plan: &ShredPlan,
    ) -> Result<(Self, Vec<String>), Failure> {
        let of_variants = roots(arrow, |name| plan.names(name));
        let sample = match plan.needs_sample() {
            true => {
                let reader = read(&file, arrow, &of_variants).limit(SAMPLE_ROWS).batches()?;
                reader.map(|batch| batch.map_err(Error::from)).collect::<Result<Vec<RecordBatch>, Error>>()?
            }
            false => Vec::new(),
        };
        let properties = WriterProperties::builder().set_compat(input.compat).build();
        let (shreddings, inferred) = plan.complete(&sample, &properties)?;
        if let Some((path, _)) = shreddings.iter().find(|(path, _)| arrow.index_of(path).is_err()) {
            return Err(Failure::Usage(format!(
                "--shred: {path} is inside another column, which `marquetry convert --shred` can do"
            )));
        }
        let whole = BatchShredder::new(arrow.clone(), &shreddings)?;
        let is_other = |root: &usize| arrow.field(*root) != whole.schema().field(*root);
        let roots: Vec<usize> = (0..arrow.fields().len()).filter(is_other).collect();
        let of_roots = |(path, _): &(&str, _)| roots.iter().any(|root| arrow.field(*root).name() == path);
        let shreddings = shreddings
            .iter()
            .filter(of_roots)
            .fold(Shreddings::new(), |all, (path, shape)| all.with_column(path, shape.clone()));
        let shredder = BatchShredder::new(std::sync::Arc::new(arrow.project(&roots)?), &shreddings)?;
        let (elements, copied) = elements(input, &roots, shredder.schema())?;
        let schema = Schema::from_thrift(&elements, &Limits::default())?;
        let arrow = arrow.clone();
        let reshredding = Reshredding { input, file, arrow, roots, shredder, elements, schema, copied };
        Ok((reshredding, inferred.iter().map(told).collect()))
    }

    /// The orders of bounds of the new columns.
    pub(crate) fn orders(&self) -> Vec<ColumnOrder> {
        let old = self.input.metadata.column_orders();
        let order = |leaf: &Option<usize>| leaf.and_then(|leaf| old?.get(leaf).copied());
        self.copied.iter().map(|leaf| order(leaf).unwrap_or(ColumnOrder::TypeOrder)).collect()
    }

    /// Changes the stored Arrow schema accordingly.
    pub(crate) fn change_footer(&self, footer: &mut Footer, log: &mut ColumnLog) {
        let Some(stored) = footer.value_of(ARROW_SCHEMA_META_KEY) else { return };
        let arrow = parse_stored_schema(stored).and_then(|arrow| {
            let fields = arrow.fields().iter().map(|field| {
                match self.shredder.schema().field_with_name(field.name()) {
                    Ok(shredded) => std::sync::Arc::new(shredded.clone()),
                    Err(_) => field.clone(),
                }
            });
            let changed =
                ArrowSchema::new_with_metadata(fields.collect::<Vec<_>>(), arrow.metadata().clone());
            (arrow.fields().len() == self.input.metadata.schema().fields().len()).then_some(changed)
        });
        if arrow.is_none() {
            log.note("the stored Arrow schema does not fit the new columns: it is left out");
        }
        footer.set(ARROW_SCHEMA_META_KEY, arrow.map(|arrow| print_stored_schema(&arrow)));
    }

    /// Writes all row groups.
    pub(crate) fn write(
        &self,
        settings: &CopySettings,
        file: &mut OutputFile,
        log: &mut ColumnLog,
    ) -> Result<(), Failure> {
        let mut room = EncoderMemory::default().with_sealed_spills(keys::seal_spills(file.is_encrypted()));
        for group in self.input.metadata.row_groups() {
            let mut anew = self.shredded(group.index())?.into_iter();
            let mut chunks: Vec<EncodedChunk> = Vec::with_capacity(self.copied.len());
            for (column, copied) in self.copied.iter().enumerate() {
                let mut chunk = match copied {
                    Some(leaf) => {
                        let copied = self.input.copy(group.index(), *leaf, settings)?;
                        log.copied(column, &copied);
                        let mut chunk = copied.chunk;
                        if self.input.metadata.column_orders().is_none() {
                            // Bounds without an order mean nothing, and the new file states one.
                            drop_bounds(&mut chunk);
                        }
                        chunk
                    }
                    None => {
                        log.action(column, ColumnAction::Recoded("another shredding".to_owned()));
                        anew.next().ok_or_else(|| Error::argument("a shredded column is missing"))?
                    }
                };
                chunk.metadata.path_in_schema = self.schema.column(column).path_in_schema();
                room.keep(&mut chunk.bytes)?;
                chunks.push(chunk);
            }
            file.write_row_group(group.num_rows(), chunks, Some(self.sorting(group.sorting_columns())))?;
            room.clear();
        }
        Ok(())
    }

    /// The sorting columns, up to the first that is encoded again.
    fn sorting(&self, old: &[SortingColumn]) -> Vec<SortingColumn> {
        let place = |sorted: &SortingColumn| {
            let leaf = usize::try_from(sorted.column_idx).ok()?;
            let new = self.copied.iter().position(|copied| *copied == Some(leaf))?;
            Some(SortingColumn { column_idx: i32::try_from(new).ok()?, ..sorted.clone() })
        };
        old.iter().map_while(place).collect()
    }

    /// The chunks of a row group that are encoded again.
    fn shredded(&self, row_group: usize) -> Result<Vec<EncodedChunk>, Failure> {
        if self.roots.is_empty() {
            return Ok(Vec::new());
        }
        let factory = self.factory(row_group)?;
        let mut columns = factory.create_column_writers(row_group)?;
        let arrow = self.shredder.schema();
        let reader = read(&self.file, &self.arrow, &self.roots).row_groups([row_group]).batches()?;
        for batch in reader {
            let batch = self.shredder.shred(&batch.map_err(Error::from)?)?;
            let mut at = columns.iter_mut();
            for (field, array) in arrow.fields().iter().zip(batch.columns()) {
                for (leaf, column) in compute_leaves(field, array)?.iter().zip(&mut at) {
                    column.write(leaf)?;
                }
            }
        }
        Ok(columns
            .into_iter()
            .map(|column| Ok(column.close()?.into_parts().0))
            .collect::<Result<_, Error>>()?)
    }

    /// Columns get the codec of those that they replace.
    fn factory(&self, row_group: usize) -> Result<ArrowRowGroupWriterFactory, Failure> {
        let mut properties = WriterProperties::builder().set_compat(self.input.compat);
        let (old, group) = (self.input.metadata.schema(), self.input.metadata.row_group(row_group));
        let first = (0..old.num_columns()).find(|leaf| self.roots.contains(&old.column(*leaf).root()));
        if let Some(leaf) = first
            && let Ok(codec) = codec_of(group.column(leaf)?)?.to_string().parse::<Compression>()
        {
            properties = properties.set_compression(codec);
        }
        let writer =
            ArrowWriter::try_new(std::io::sink(), self.shredder.schema().clone(), Some(properties.build()))?;
        Ok(writer.row_group_writer_factory())
    }
}

/// The indices of the roots with these names.
fn roots(arrow: &ArrowSchema, is_wanted: impl Fn(&str) -> bool) -> Vec<usize> {
    (0..arrow.fields().len()).filter(|root| is_wanted(arrow.field(*root).name())).collect()
}

/// The file with only some roots.
fn read(file: &OpenFile, arrow: &ArrowSchema, roots: &[usize]) -> OpenFile {
    file.clone().columns(roots.iter().map(|root| arrow.field(*root).name().clone()))
}

/// The footer's list of fields with some roots replaced, and the old column of each new one.
fn elements(
    input: &Input,
    roots: &[usize],
    shredded: &SchemaRef,
) -> Result<(Vec<SchemaElement>, Vec<Option<usize>>), Error> {
    let old = &input.metadata.head().schema;
    // Writing a file without rows gives the stored types of the fields.
    let empty = ArrowWriter::try_new(std::io::sink(), shredded.clone(), None)?.close()?;
    let anew = &empty.head().schema;
    let (mut out, mut copied) = (old[..1].to_vec(), Vec::new());
    let (mut rest, mut rest_anew, mut leaf) = (&old[1..], &anew[1..], 0);
    let mut root = 0;
    while !rest.is_empty() {
        let (field, behind) = rest.split_at(fields_of(rest));
        rest = behind;
        let leaves = leaves_of(field);
        if roots.contains(&root) {
            let (field, behind) = rest_anew.split_at(fields_of(rest_anew));
            rest_anew = behind;
            out.extend_from_slice(field);
            copied.extend(std::iter::repeat_n(None, leaves_of(field)));
        } else {
            out.extend_from_slice(field);
            copied.extend((leaf..leaf + leaves).map(Some));
        }
        leaf += leaves;
        root += 1;
    }
    Ok((out, copied))
}

/// The number of elements of the first field and all below it.
fn fields_of(elements: &[SchemaElement]) -> usize {
    let (mut due, mut at) = (1_usize, 0);
    while due > 0 && at < elements.len() {
        due = due - 1 + usize::try_from(elements[at].num_children.unwrap_or(0)).unwrap_or(0);
        at += 1;
    }
    at
}

/// The number of leaf columns among them.
fn leaves_of(elements: &[SchemaElement]) -> usize {
    elements.iter().filter(|element| element.type_.is_some()).count()
}
