//! Predicates over paths into VARIANT.
//!
//! A part of a predicate that names such a path becomes two. An [`ArrowPredicate`] makes the columns that the paths stand for, and
//! gives them to a predicate that is bound to these: it decides. Before it, a predicate over the columns of the file prunes, and
//! leaves out rows: it is true of at least the rows of which the part is true.
//!
//! **What a typed column proves.** Let a path be shredded, its typed column `t` of just the type that is compared. A row's
//! value is in `t`, or in one of the `value` columns on the way, the residuals; if `t` is not null the value is there, since a value
//! that is no object, and a field, may not stand in both. So of whatever is false of NULL
//!
//! ```text
//! condition(path)  implies  condition(t)  or  (t is null and some residual is not null)
//! path is null     implies  t is null
//! path is missing  implies  t is null
//! ```
//!
//! Of the right side everything holds that holds of predicates over plain columns: for row groups, pages, bloom filters and
//! dictionaries. Bounds of `t` alone would lose rows whose values are of another type, and so stand in `value`. A field
//! that is not shredded has no `t`, and the second half is left: some residual is not null. Where the footer says that all residuals
//! are null in the whole file, the right side is the condition itself, and no arrays are made.
//!
//! The type that is compared is that of the cast. Without one it is the literal's: text, a number (DOUBLE), a boolean, a date, a time,
//! a timestamp, bytes. A value of another type compares with it as NULL does.

use super::ProjectionMask;
use super::filter::{ArrowPredicate, ArrowPredicateFn};
use crate::convert::{self, NonNullSlots};
use crate::schema::{FromArrowOptions, element_of, from_arrow};
use crate::variant::{
    PathPlan, PathTarget, STATE_MISSING, STATE_NULL, STATE_VARIANT_NULL, VariantCast, VariantPath,
    path_array, primitive_type_of, quoted_path,
};
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, BooleanArray, RecordBatch};
use arrow_buffer::{BooleanBuffer, NullBuffer};
use arrow_schema::{ArrowError, Field, Schema as ArrowSchema};
use marquetry_base::{Error, Limits, Result};
use marquetry_core::metadata::ParquetMetaData;
use marquetry_core::nesting::SlotRanges;
use marquetry_core::predicate::{
    BoundPredicate, LeafValues, Literal, Number, Pattern, Predicate, col, column_and_path, meanings_of,
    names_column, names_of,
};
use marquetry_core::schema::{Leaf, Schema, unknown_column};
use marquetry_encoding::{Bitmap, Values};
use marquetry_variant::{PrimitiveType, Step};
use std::collections::HashMap;
use std::sync::OnceLock;

/// A predicate with paths into VARIANT, as it is asked of a file.
pub(crate) struct VariantFilter {
    /// Over columns of the file: true of at least the rows that are wanted.
    pub(crate) weaker: Predicate,
    /// What decides of the rows that are left.
    pub(crate) filters: Vec<Box<dyn ArrowPredicate>>,
}

/// Takes a predicate apart; `None` if no path into a VARIANT is in it.
///
/// Fails if such a path does not fit the file.
pub(crate) fn variant_filter(
    predicate: &Predicate,
    metadata: &ParquetMetaData,
) -> Result<Option<VariantFilter>> {
    let is_path = |path: &&str| is_variant_path(metadata.schema(), path);
    if !predicate.columns().iter().any(is_path) {
        return Ok(None);
    }
    let (mut weaker, mut filters) = (Vec::new(), Vec::new());
    for part in conjuncts(predicate) {
        if !part.columns().iter().any(is_path) {
            weaker.push(part.clone());
            continue;
        }
        let file = File { metadata };
        let locate = |error| match part.column_paths().first() {
            Some(path) => path.locate(error),
            None => error,
        };
        let found = file.weaken(part, false).map_err(locate)?;
        if !found.is_exact {
            filters.push(file.filter(part).map_err(locate)?);
        }
        weaker.push(found.predicate);
    }
    Ok(Some(VariantFilter { weaker: Predicate::And(weaker), filters }))
}

/// Whether a name is a path into a VARIANT, and no column that has this name.
pub(crate) fn is_variant_path(schema: &Schema, name: &str) -> bool {
    column_and_path(name).is_some() && !names_column(schema, name)
}

/// A predicate over the columns of a file that is true of at least the rows of which `predicate` is: what row groups and pages are
/// [pruned](marquetry_core::prune) by. And whether it is true of no others, as where no path into a VARIANT is in it.
///
/// # Errors
///
/// If a path into a VARIANT does not fit the file.
///
/// ```
/// use marquetry_arrow::arrow_reader::prunable_predicate;
/// use marquetry_core::predicate::Predicate;
/// # use marquetry_core::io::read_metadata;
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/wines.parquet");
/// # let file = bytes::Bytes::from(std::fs::read(path)?);
/// let metadata = read_metadata(&file, &Default::default())?.metadata;
/// let predicate = Predicate::parse("year > 2000")?;
/// assert_eq!(prunable_predicate(&predicate, &metadata)?, (predicate, true));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn prunable_predicate(predicate: &Predicate, metadata: &ParquetMetaData) -> Result<(Predicate, bool)> {
    Ok(match variant_filter(predicate, metadata)? {
        Some(found) => (found.weaker.in_file(metadata), found.filters.is_empty()),
        None => (predicate.in_file(metadata), true),
    })
}

fn conjuncts(predicate: &Predicate) -> Vec<&Predicate> {
    match predicate {
        Predicate::And(parts) => parts.iter().flat_map(conjuncts).collect(),
        other => vec![other],
    }
}

/// What is implied, and whether it is the same.
struct Weaker {
    predicate: Predicate,
    is_exact: bool,
}

impl Weaker {
    fn of(predicate: Predicate, is_exact: bool) -> Self {
        Weaker { predicate, is_exact }
    }

    /// True of all rows.
    fn unknown() -> Self {
        Weaker::of(Predicate::And(Vec::new()), false)
    }
}

struct File<'a> {
    metadata: &'a ParquetMetaData,
}

impl File<'_> {
    /// What a predicate, or its opposite, implies of the columns of the file.
    fn weaken(&self, predicate: &Predicate, is_negated: bool) -> Result<Weaker> {
        let schema = self.metadata.schema();
        let all = |parts: &[Predicate], is_and: bool| -> Result<Weaker> {
            let parts = parts.iter().map(|part| self.weaken(part, is_negated)).collect::<Result<Vec<_>>>()?;
            let is_exact = parts.iter().all(|part| part.is_exact);
            let parts = parts.into_iter().map(|part| part.predicate).collect();
            Ok(Weaker::of(if is_and { Predicate::And(parts) } else { Predicate::Or(parts) }, is_exact))
        };
        match predicate {
            Predicate::And(parts) => return all(parts, !is_negated),
            Predicate::Or(parts) => return all(parts, is_negated),
            Predicate::Not(inner) => return self.weaken(inner, !is_negated),
            _ => {}
        }
        if !predicate.columns().iter().any(|path| is_variant_path(schema, path)) {
            let same = predicate.clone();
            return Ok(Weaker::of(if is_negated { !same } else { same }, true));
        }
        let columns = predicate.columns();
        let (Some(target), &[path]) = (target_of(predicate)?, columns.as_slice()) else {
            return Ok(Weaker::unknown());
        };
        let path: VariantPath = path.parse()?;
        let plan = PathPlan::new(self.metadata, path.column(), path.path().steps())?;
        Ok(self.of_path(predicate, is_negated, target, &plan))
    }

    fn of_path(
        &self,
        predicate: &Predicate,
        is_negated: bool,
        target: PathTarget,
        plan: &PathPlan,
    ) -> Weaker {
        let schema = self.metadata.schema();
        let is_there = |leaf: usize| !col(quoted_path(schema, leaf)).is_null();
        let in_residuals = || Predicate::Or(plan.residuals.iter().map(|leaf| is_there(*leaf)).collect());
        let Some(typed) = plan.typed else {
            // What is shredded further, or in a list, may be anywhere.
            let is_strict = !matches!(predicate, Predicate::IsNull { .. } | Predicate::IsMissing { .. });
            return match plan.is_whole || plan.in_list {
                false if is_strict && !is_negated => Weaker::of(in_residuals(), false),
                _ => Weaker::unknown(),
            };
        };
        let name = quoted_path(schema, typed);
        let is_null = || col(name.as_str()).is_null();
        let of_typed = || {
            let same = predicate.clone().rename_columns(|_| name.clone());
            if is_negated { !same } else { same }
        };
        let fit = fit(predicate, target, schema.column(typed));
        let or_elsewhere = |predicate: Predicate| predicate.or(is_null().and(in_residuals()));
        let is_alone = plan.residuals.is_empty();
        match predicate {
            // A path without a cast is NULL where it leads nowhere.
            Predicate::IsNull { .. } if fit == Fit::None => Weaker::unknown(),
            Predicate::IsNull { .. } if !is_negated => match fit {
                Fit::Exact => Weaker::of(is_null(), is_alone),
                _ => Weaker::unknown(),
            },
            Predicate::IsNull { .. } => Weaker::of(or_elsewhere(!is_null()), is_alone && fit == Fit::Exact),
            Predicate::IsMissing { .. } if !is_negated => Weaker::of(is_null(), false),
            Predicate::IsVariantNull { .. } if !is_negated => {
                Weaker::of(is_null().and(in_residuals()), false)
            }
            Predicate::IsMissing { .. } | Predicate::IsVariantNull { .. } => Weaker::unknown(),
            _ if fit == Fit::None => Weaker::of(or_elsewhere(!is_null()), false),
            _ => Weaker::of(or_elsewhere(of_typed()), is_alone && fit == Fit::Exact),
        }
    }

    /// The predicate over the columns that paths stand for.
    fn filter(&self, predicate: &Predicate) -> Result<Box<dyn ArrowPredicate>> {
        let schema = self.metadata.schema();
        let mut made = Made { metadata: self.metadata, columns: Vec::new(), leaves: Vec::new() };
        let predicate = made.rewrite(predicate)?;
        let Made { columns, leaves, .. } = made;
        let projection = ProjectionMask::leaves(schema, leaves);
        let state = Columns { predicate, columns, bound: OnceLock::new() };
        Ok(Box::new(ArrowPredicateFn::pure(projection, move |batch| {
            state.evaluate(&batch).map_err(|error| ArrowError::ExternalError(Box::new(error)))
        })))
    }
}

/// What a condition on a path compares; `None` if it is none of one value.
fn target_of(predicate: &Predicate) -> Result<Option<PathTarget>> {
    let of_literal = |literal: &Literal| match literal {
        Literal::Bool(_) => Some(PrimitiveType::Boolean),
        Literal::Number(_) => Some(PrimitiveType::Double),
        Literal::Bytes(_) => Some(PrimitiveType::Binary),
        Literal::Date(_) => Some(PrimitiveType::Date),
        Literal::Time(_) => Some(PrimitiveType::Time),
        Literal::Timestamp(moment) if moment.has_offset => Some(PrimitiveType::TimestampMicros),
        Literal::Timestamp(_) => Some(PrimitiveType::LocalTimestampMicros),
        _ => None,
    };
    let typed = |literal: &Literal| {
        of_literal(literal).map_or(PathTarget::Text, |kind| PathTarget::Cast(VariantCast::Type(kind)))
    };
    let (column, uncast) = match predicate {
        Predicate::Compare { column, literal, .. } => (column, typed(literal)),
        Predicate::In { column, list } => {
            let kinds = list.iter().filter(|literal| **literal != Literal::Null).map(typed);
            let mut kinds: Vec<_> = kinds.collect();
            kinds.dedup();
            if kinds.len() > 1 && !has_cast(column) {
                let message = "values of several types: say which by a cast, as in payload:id::bigint";
                return Err(Error::argument(message).in_column(&**column));
            }
            (column, kinds.pop().unwrap_or(PathTarget::Text))
        }
        Predicate::StartsWith { column, prefix: literal } => (column, typed(literal)),
        Predicate::Matches { column, pattern } => {
            let is_bytes = matches!(
                pattern,
                Pattern::Contains(Literal::Bytes(_)) | Pattern::EndsWith(Literal::Bytes(_))
            );
            (column, if is_bytes { typed(&Literal::Bytes(Vec::new())) } else { PathTarget::Text })
        }
        Predicate::IsNan { column } => (column, PathTarget::Cast(VariantCast::Type(PrimitiveType::Double))),
        Predicate::IsNull { column } => (column, PathTarget::State),
        Predicate::IsMissing { .. } | Predicate::IsVariantNull { .. } => return Ok(Some(PathTarget::State)),
        _ => return Ok(None),
    };
    let path: VariantPath = column.parse().map_err(|error| column.locate(error))?;
    Ok(Some(match path.cast() {
        VariantCast::Variant => uncast,
        cast => PathTarget::Cast(cast),
    }))
}

fn has_cast(column: &str) -> bool {
    column.parse::<VariantPath>().is_ok_and(|path| path.cast() != VariantCast::Variant)
}

/// What a condition on a typed column is for that on the path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fit {
    /// The same, where the value is in the column.
    Exact,
    /// True of more.
    More,
    /// Nothing.
    None,
}

fn fit(predicate: &Predicate, target: PathTarget, leaf: &Leaf) -> Fit {
    let Some(stored) = primitive_type_of(leaf) else { return Fit::None };
    let wanted = match target {
        PathTarget::State => return Fit::Exact,
        PathTarget::Text => PrimitiveType::String,
        PathTarget::Cast(VariantCast::Type(kind)) => kind,
        PathTarget::Cast(_) => return Fit::None,
    };
    if stored == wanted {
        return Fit::Exact;
    }
    match (width(stored), width(wanted)) {
        (Some(stored), Some(wanted)) if stored <= wanted => Fit::Exact,
        // Of numbers that are out of bounds it is true, too.
        (Some(_), Some(_)) => Fit::More,
        // An integer becomes a double by rounding, which keeps its order against whole numbers that are doubles themselves.
        (Some(_), None) if wanted == PrimitiveType::Double && is_of_whole_numbers(predicate) => Fit::Exact,
        _ => Fit::None,
    }
}

/// How wide an integer is.
fn width(kind: PrimitiveType) -> Option<u8> {
    Some(match kind {
        PrimitiveType::Int8 => 1,
        PrimitiveType::Int16 => 2,
        PrimitiveType::Int32 => 4,
        PrimitiveType::Int64 => 8,
        _ => return None,
    })
}

/// Whether all literals are whole numbers between whose neighbours, too, no double is left out.
fn is_of_whole_numbers(predicate: &Predicate) -> bool {
    let is_whole = |literal: &Literal| match literal {
        Literal::Number(Number::Finite { digits, scale, .. }) => {
            *scale <= 0 && digits.len() as i64 - i64::from(*scale) <= 15
        }
        _ => false,
    };
    match predicate {
        Predicate::Compare { literal, .. } => is_whole(literal),
        Predicate::In { list, .. } => list.iter().all(is_whole),
        _ => false,
    }
}

/// Columns that are made for a predicate.
struct Made<'a> {
    metadata: &'a ParquetMetaData,
    columns: Vec<Source>,
    leaves: Vec<usize>,
}

/// What a column is made of.
#[derive(Debug, Clone, PartialEq)]
struct Source {
    /// Names from the root on.
    column: Vec<String>,
    /// The path behind it, if it is a VARIANT.
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

    /// A column of the file.
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

/// A predicate over columns that are made.
struct Columns {
    predicate: Predicate,
    columns: Vec<Source>,
    /// Their schema, and the predicate for it, once types are known.
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
            let bound = self.predicate.bind(&schema)?;
            // Another thread may have been faster, with the same.
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

/// A column as predicates look at it: one slot a row, or an element.
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
