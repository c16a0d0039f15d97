//! A predicate over the columns that paths into VARIANT denote. The columns are made for it.

use super::path_target::{is_variant_path, target_of};
use crate::arrow_reader::file_predicate::bare_times;
use crate::arrow_reader::filter::{ArrowPredicate, ArrowPredicateFn};
use crate::arrow_reader::projection::ProjectionMask;
use crate::convert::{self, NonNullSlots};
use crate::schema::{FromArrowOptions, element_of, from_arrow};
use crate::variant::{
    PathPlan, PathTarget, STATE_MISSING, STATE_NULL, STATE_VARIANT_NULL, VariantCast, VariantPath, path_array,
};
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, BooleanArray, RecordBatch};
use arrow_buffer::{BooleanBuffer, NullBuffer};
use arrow_schema::{ArrowError, Field, Schema as ArrowSchema};
use marquetry_base::{Error, Limits, Result};
use marquetry_core::metadata::ParquetMetaData;
use marquetry_core::nesting::SlotRanges;
use marquetry_core::predicate::{
    BoundPredicate, LeafValues, Predicate, col, meanings_of, names_column, names_of,
};
use marquetry_core::schema::{Leaf, Schema, unknown_column};
use marquetry_encoding::{Bitmap, Values};
use marquetry_variant::Step;
use std::collections::HashMap;
use std::sync::OnceLock;

/// Creates the predicate over the columns that the paths denote.
pub(super) fn filter(predicate: &Predicate, metadata: &ParquetMetaData) -> Result<Box<dyn ArrowPredicate>> {
    let mut made = Made { metadata, columns: Vec::new(), leaves: Vec::new() };
    let predicate = made.rewrite(predicate)?;
    let Made { columns, leaves, .. } = made;
    let projection = ProjectionMask::leaves(metadata.schema(), leaves);
    let state = Columns { predicate, columns, bound: OnceLock::new() };
    Ok(Box::new(ArrowPredicateFn::pure(projection, move |batch| {
        state.evaluate(&batch).map_err(|error| ArrowError::ExternalError(Box::new(error)))
    })))
}

/// Collects the columns to make for a predicate.
struct Made<'a> {
    metadata: &'a ParquetMetaData,
    columns: Vec<Source>,
    leaves: Vec<usize>,
}

/// The source of a column.
#[derive(Debug, Clone, PartialEq)]
struct Source {
    /// The names from the root on.
    column: Vec<String>,
    /// The path inside the column and its target, if the column is a VARIANT.
    path: Option<(Vec<Step>, PathTarget)>,
}

impl Made<'_> {
    fn rewrite(&mut self, predicate: &Predicate) -> Result<Predicate> {
        let schema = self.metadata.schema();
        let parts = |made: &mut Self, parts: &[Predicate]| {
            parts.iter().map(|part| made.rewrite(part)).collect::<Result<Vec<_>>>()
        };
        match predicate {
            Predicate::And(all) => return Ok(Predicate::And(parts(self, all)?)),
            Predicate::Or(any) => return Ok(Predicate::Or(parts(self, any)?)),
            Predicate::Not(inner) => return Ok(!self.rewrite(inner)?),
            Predicate::Elements { quantifier, of } => {
                let of = Box::new(self.rewrite(of)?);
                return Ok(Predicate::Elements { quantifier: *quantifier, of });
            }
            Predicate::AtKey { .. } => {
                let message = "a map is asked beside paths into a VARIANT only if both are joined by and";
                return Err(Error::unsupported(message));
            }
            _ => {}
        }
        let target = match predicate.columns().iter().any(|path| is_variant_path(schema, path)) {
            true => target_of(predicate)?,
            false => None,
        };
        let mut names = HashMap::new();
        for name in predicate.columns() {
            let made = match is_variant_path(schema, name) {
                true => self.path(name, target)?,
                false => self.column(name)?,
            };
            names.insert(name.to_owned(), format!("c{made}"));
        }
        let made = |name: &str| names.get(name).cloned().unwrap_or_else(|| name.to_owned());
        Ok(match (predicate, target) {
            (Predicate::IsNull { column }, Some(PathTarget::State)) => {
                col(made(column)).is_in([STATE_NULL, STATE_MISSING])
            }
            (Predicate::IsMissing { column }, _) => col(made(column)).eq(STATE_MISSING),
            (Predicate::IsVariantNull { column }, _) => col(made(column)).eq(STATE_VARIANT_NULL),
            _ => predicate.clone().rename_columns(made),
        })
    }

    fn path(&mut self, name: &str, target: Option<PathTarget>) -> Result<usize> {
        let path: VariantPath = name.parse()?;
        let plan = PathPlan::new(self.metadata, path.column(), path.path().steps())?;
        self.leaves.extend(&plan.leaves);
        let target = target.unwrap_or(PathTarget::Cast(path.cast()));
        if target == PathTarget::State && path.is_list() {
            return Err(
                Error::argument("whether each of several values is there cannot be asked").in_column(name)
            );
        }
        if target == PathTarget::Cast(VariantCast::Variant) {
            let message = "variants are compared as a type: add a cast, as in payload:id::bigint";
            return Err(Error::argument(message).in_column(name));
        }
        Ok(self.add(Source { column: plan.column, path: Some((path.path().steps().to_vec(), target)) }))
    }

    /// Adds a column of the file.
    fn column(&mut self, name: &str) -> Result<usize> {
        let schema = self.metadata.schema();
        let found = meanings_of(name).into_iter().map(|meaning| names_of(&meaning)).find_map(|names| {
            let leaf = schema.columns().iter().position(|leaf| {
                leaf.path().len() == names.len() && leaf.path().iter().zip(&names).all(|(a, b)| **a == **b)
            })?;
            Some((names, leaf))
        });
        let Some((names, leaf)) = found else {
            return Err(match names_column(schema, name) {
                true => Error::unsupported(
                    "lists, maps and groups are asked beside paths into a VARIANT only if both are joined by and",
                )
                .in_column(name),
                false => unknown_column(schema, name),
            });
        };
        if schema.column(leaf).max_rep() > 0 {
            let message =
                "a column in a list is asked beside paths into a VARIANT only if both are joined by and";
            return Err(Error::unsupported(message).in_column(name));
        }
        self.leaves.push(leaf);
        Ok(self.add(Source { column: names, path: None }))
    }

    fn add(&mut self, source: Source) -> usize {
        self.columns.iter().position(|known| *known == source).unwrap_or_else(|| {
            self.columns.push(source);
            self.columns.len() - 1
        })
    }
}

/// A predicate over columns that are made for it.
struct Columns {
    predicate: Predicate,
    columns: Vec<Source>,
    /// Their schema and the predicate bound to it, once the types are known.
    bound: OnceLock<(Schema, BoundPredicate)>,
}

impl Columns {
    fn evaluate(&self, batch: &RecordBatch) -> Result<BooleanArray> {
        let arrays = self.columns.iter().map(|source| source.array(batch)).collect::<Result<Vec<_>>>()?;
        if self.bound.get().is_none() {
            let fields = arrays.iter().enumerate().map(|(i, (array, field))| {
                Field::new(format!("c{i}"), array.data_type().clone(), true)
                    .with_metadata(field.metadata().clone())
            });
            let arrow = ArrowSchema::new(fields.collect::<Vec<_>>());
            let schema =
                Schema::from_thrift(&from_arrow(&arrow, &FromArrowOptions::default())?, &Limits::default())?;
            let times = bare_times(arrow.fields());
            let bound =
                self.predicate.bind_with_times(&schema, &|leaf| times.get(leaf).copied().flatten())?;
            // Another thread may have been faster, with the same result.
            let _ = self.bound.set((schema, bound));
        }
        let Some((schema, bound)) = self.bound.get() else { return Err(Error::argument("no predicate")) };
        let leaves = arrays.iter().zip(schema.columns()).map(|((array, _), leaf)| Slots::of(array, leaf));
        let leaves = leaves.collect::<Result<Vec<_>>>()?;
        let values: Vec<(usize, LeafValues<'_>)> =
            leaves.iter().enumerate().map(|(i, slots)| (i, slots.values())).collect();
        let found = bound.evaluate(batch.num_rows(), &values)?;
        Ok(BooleanArray::new(BooleanBuffer::from_iter((0..found.len()).map(|row| found.get(row))), None))
    }
}

impl Source {
    fn array(&self, batch: &RecordBatch) -> Result<(ArrayRef, Field)> {
        let wrong = || Error::argument(format!("no column {}", self.column.join(".")));
        let schema = batch.schema_ref();
        let root = self.column.first().and_then(|name| schema.index_of(name).ok()).ok_or_else(wrong)?;
        let root_array = batch.column(root);
        if let Some((steps, target)) = &self.path {
            let field = target.field("", steps.contains(&Step::AllElements));
            return Ok((path_array(root_array, &self.column, steps, *target)?, field));
        }
        let (mut array, mut field) = (root_array.clone(), Field::clone(schema.field(root)));
        let mut nulls = array.nulls().cloned();
        for name in &self.column[1..] {
            let parent = array.as_struct_opt().ok_or_else(wrong)?;
            let at = parent.fields().iter().position(|field| field.name() == name).ok_or_else(wrong)?;
            (field, array) = (Field::clone(&parent.fields()[at]), parent.column(at).clone());
            nulls = NullBuffer::union(nulls.as_ref(), array.nulls());
        }
        let is_same = nulls.as_ref().map_or(0, NullBuffer::null_count) == array.null_count();
        if !is_same {
            let valid =
                nulls.map_or_else(|| BooleanBuffer::new_set(array.len()), |nulls| nulls.inner().clone());
            array = arrow_select::nullif::nullif(&array, &BooleanArray::new(!&valid, None))
                .map_err(crate::arrow_error)?;
        }
        Ok((array, field))
    }
}

/// A column in the form that predicates take: one slot for each row, or for each list element.
struct Slots {
    values: Values,
    validity: Option<Bitmap>,
    def: Vec<u8>,
    rep: Vec<u8>,
}

impl Slots {
    fn of(array: &ArrayRef, leaf: &Leaf) -> Result<Self> {
        let (mut def, mut rep) = (Vec::new(), Vec::new());
        let values = match element_of(array.data_type()) {
            None => array.clone(),
            Some(_) => {
                let lists = array.as_list::<i32>();
                let elements = lists.values();
                for row in 0..lists.len() {
                    let span = lists.value_offsets()[row] as usize..lists.value_offsets()[row + 1] as usize;
                    if lists.is_null(row) || span.is_empty() {
                        def.push(u8::from(lists.is_valid(row)));
                        rep.push(0);
                        continue;
                    }
                    rep.extend((0..span.len()).map(|i| u8::from(i > 0)));
                    def.extend(span.map(|i| 2 + u8::from(elements.is_valid(i))));
                }
                elements.clone()
            }
        };
        let mut out = leaf.physical().shape().empty();
        let all = SlotRanges::new(0..values.len());
        convert::from_array(&values, &NonNullSlots::new(&all, None), leaf, &mut out)
            .map_err(|unfit| Error::argument(unfit.why))?;
        let validity = convert::validity(values.nulls(), &all);
        Ok(Slots { values: out, validity, def, rep })
    }

    fn values(&self) -> LeafValues<'_> {
        LeafValues::flat(&self.values, self.validity.as_ref()).with_levels(&self.def, &self.rep)
    }
}
