//! Extracts the values at a path from all rows, as an array.

use super::array_builder::VariantArrayBuilder;
use super::assembler::Assembler;
use super::bytes::bytes_of;
use super::cast::{cast, text_of};
use super::column::VariantColumn;
use super::column_path::VariantCast;
use super::group::Group;
use super::path_walk::{Place, walk};
use super::shredded_fields::{primitive, unshredded_fields};
use super::typed_builder::TypedBuilder;
use super::typed_path::{TypedRows, typed_rows};
use crate::arrow_error;
use arrow_array::builder::{ArrayBuilder, StringViewBuilder};
use arrow_array::cast::AsArray;
use arrow_array::types::Int32Type;
use arrow_array::{Array, ArrayRef, BooleanArray, Int32Array, ListArray, StructArray};
use arrow_buffer::{NullBuffer, OffsetBuffer};
use arrow_schema::{DataType, Field};
use arrow_select::zip::zip;
use marquetry_base::{Error, Result};
use marquetry_variant::{Path, PathFinder, PrimitiveType, Step, Value, Variant};
use std::collections::HashMap;
use std::sync::Arc;

/// The result to make of the values at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum PathTarget {
    /// The values, cast as the text of the path requests.
    Cast(VariantCast),
    /// Strings only; other values become NULL.
    Text,
    /// One of the states below.
    State,
}

/// The row is NULL.
pub(crate) const STATE_NULL: i32 = 0;
/// The path leads to nothing.
pub(crate) const STATE_MISSING: i32 = 1;
/// The path leads to a null variant.
pub(crate) const STATE_VARIANT_NULL: i32 = 2;
/// The path leads to any other value.
pub(crate) const STATE_VALUE: i32 = 3;

impl PathTarget {
    /// Returns the field of a column of such results: one per row, or a list of them.
    pub(crate) fn field(self, name: &str, is_list: bool) -> Field {
        let one = |name: &str| {
            let extension = |field: Field, name: &str| {
                field.with_metadata(HashMap::from([("ARROW:extension:name".to_owned(), name.to_owned())]))
            };
            match self {
                PathTarget::Cast(VariantCast::Variant) => {
                    let storage = DataType::Struct(unshredded_fields(&DataType::BinaryView));
                    extension(Field::new(name, storage, true), "arrow.parquet.variant")
                }
                PathTarget::Cast(VariantCast::Json) | PathTarget::Text => {
                    Field::new(name, DataType::Utf8View, true)
                }
                PathTarget::Cast(VariantCast::Type(PrimitiveType::Uuid)) => {
                    extension(Field::new(name, primitive(PrimitiveType::Uuid), true), "arrow.uuid")
                }
                PathTarget::Cast(VariantCast::Type(kind)) => Field::new(name, primitive(kind), true),
                PathTarget::State => Field::new(name, DataType::Int32, true),
            }
        };
        match is_list {
            true => Field::new(name, DataType::List(Arc::new(one("element"))), true),
            false => one(name),
        }
    }
}

/// Returns the value at a path in each row of a VARIANT column, as an array of the type of [`variant_get_field`]. It
/// equals the column that is read by a [`VariantPath`](super::VariantPath).
///
/// ```
/// use arrow_array::cast::AsArray;
/// use arrow_array::{ArrayRef, types::Int64Type};
/// use marquetry_arrow::variant::{VariantArrayBuilder, VariantCast, variant_get};
/// use marquetry_variant::PrimitiveType;
/// let mut builder = VariantArrayBuilder::new();
/// builder.append_json(r#"{"user": {"id": 7}}"#)?;
/// builder.append_json(r#"{"user": {"id": "guest"}}"#)?;
/// let array: ArrayRef = std::sync::Arc::new(builder.finish()?);
/// let ids = variant_get(&array, &"user.id".parse()?, VariantCast::Type(PrimitiveType::Int64))?;
/// assert_eq!(ids.as_primitive::<Int64Type>().iter().collect::<Vec<_>>(), [Some(7), None]);
/// # Ok::<(), marquetry_base::Error>(())
/// ```
///
/// # Errors
///
/// If the array is not a VARIANT, or, with the row, if what is read on the way is damaged.
pub fn variant_get(array: &ArrayRef, path: &Path, cast: VariantCast) -> Result<ArrayRef> {
    check_storage(array)?;
    path_array(array, &[], path.steps(), PathTarget::Cast(cast))
}

/// Fails if an array does not have the columns of a VARIANT.
fn check_storage(array: &ArrayRef) -> Result<()> {
    let group = array.as_struct_opt();
    let has_names = group.is_some_and(|group| group.column_by_name("metadata").and_then(bytes_of).is_some());
    let has_values = |name: &str| group.is_some_and(|group| group.column_by_name(name).is_some());
    match has_names && (has_values("value") || has_values("typed_value")) {
        true => Ok(()),
        // It explains what is wrong.
        false => VariantColumn::try_new(array).map(drop),
    }
}

/// Returns the field of the result of [`variant_get`]: nullable, and a list if the path ranges over all elements of a list.
pub fn variant_get_field(name: &str, path: &Path, cast: VariantCast) -> Field {
    PathTarget::Cast(cast).field(name, path.steps().contains(&Step::AllElements))
}

/// Returns whether a path leads to a null variant; NULL if it leads to nothing, or if the row is NULL.
///
/// # Errors
///
/// Those of [`variant_get`]. Also fails if the path ranges over all elements of a list.
pub fn is_variant_null(array: &ArrayRef, path: &Path) -> Result<BooleanArray> {
    if path.steps().contains(&Step::AllElements) {
        return Err(Error::argument("whether each of several values is null cannot be asked"));
    }
    check_storage(array)?;
    let states = path_array(array, &[], path.steps(), PathTarget::State)?;
    let states = states.as_primitive::<Int32Type>().iter();
    Ok(states
        .map(|state| {
            state.filter(|state| *state >= STATE_VARIANT_NULL).map(|state| state == STATE_VARIANT_NULL)
        })
        .collect())
}

/// Returns the values at `steps` in each row of a VARIANT column. `column` has the names of the column from the root
/// `array` on. The column must have at least the leaves of the [`PathPlan`](super::path_plan::PathPlan).
pub(crate) fn path_array(
    array: &ArrayRef,
    column: &[String],
    steps: &[Step],
    target: PathTarget,
) -> Result<ArrayRef> {
    let (group, nulls) = below(array, column)?;
    let is_list = steps.contains(&Step::AllElements);
    let typed = match (target, is_list) {
        (PathTarget::Cast(VariantCast::Type(kind)), false) => {
            typed_rows(group, nulls.as_ref(), steps, &primitive(kind))?
        }
        _ => None,
    };
    let elsewhere = match &typed {
        None => None,
        Some(TypedRows { values, elsewhere: None }) => return Ok(values.clone()),
        Some(TypedRows { elsewhere, .. }) => elsewhere.as_ref(),
    };
    let metadata = group.column_by_name("metadata").and_then(bytes_of);
    let mut builder = Builder::new(target);
    let mut offsets = vec![0_i32];
    let mut at = 0;
    let is_there = |row: usize| nulls.as_ref().is_none_or(|nulls| nulls.is_valid(row));
    let columns =
        (group.num_columns() > usize::from(metadata.is_some())).then(|| Group::root(group)).transpose()?;
    let (columns, names) = columns.map_or((None, Vec::new()), |(root, names)| (Some(root), names));
    let is_plain = columns.as_ref().is_some_and(|columns| !columns.is_shredded());
    let mut finder = match is_plain && !is_list && metadata.is_some() {
        true => Some(PathFinder::new(&Path::new(steps.to_vec()))?),
        false => None,
    };
    let mut assembler = Assembler::new(names);
    for row in 0..group.len() {
        if elsewhere.is_some_and(|rows| !rows.value(row)) {
            at += 1;
            continue;
        }
        let state = if is_there(row) { STATE_MISSING } else { STATE_NULL };
        let mut found = false;
        if let (true, Some(columns)) = (is_there(row), &columns) {
            let metadata = metadata.map_or(&[][..], |metadata| metadata.value(row));
            let walked = match (&mut finder, columns.bytes(row)) {
                (Some(finder), Some(value)) => {
                    finder.find(metadata, value).and_then(|variant| match variant {
                        Some(variant) => {
                            found = true;
                            builder.push(at, Place::Binary(variant), metadata, &mut assembler)
                        }
                        None => Ok(()),
                    })
                }
                _ => walk(columns, row, metadata, steps, &mut |place| {
                    found = true;
                    builder.push(at, place, metadata, &mut assembler)?;
                    at += usize::from(is_list);
                    Ok(())
                }),
            };
            walked.map_err(|error| error.with_help(&format!("in row {row} of the batch")))?;
        }
        if is_list {
            offsets.push(i32::try_from(at).map_err(|_| Error::limit("more than 2^31 elements of a path"))?);
        } else {
            if !found {
                builder.push_state(state);
            }
            at += 1;
        }
    }
    let values = builder.finish(at)?;
    if let (Some(typed), Some(elsewhere)) = (&typed, elsewhere) {
        let elsewhere = BooleanArray::new(elsewhere.clone(), None);
        return zip(&elsewhere, &values, &typed.values).map_err(arrow_error);
    }
    if is_list { lists(values, offsets, nulls, target) } else { Ok(values) }
}

/// Makes a list for each row out of the values found in all elements of a list.
fn lists(
    values: ArrayRef,
    offsets: Vec<i32>,
    nulls: Option<NullBuffer>,
    target: PathTarget,
) -> Result<ArrayRef> {
    let element = target.field("", true);
    let DataType::List(element) = element.data_type() else { return Err(Error::argument("no list")) };
    let lists = ListArray::try_new(element.clone(), OffsetBuffer::new(offsets.into()), values, nulls);
    Ok(Arc::new(lists.map_err(arrow_error)?))
}

/// Returns the struct of a VARIANT below a root, and which rows are not NULL.
fn below<'a>(array: &'a ArrayRef, column: &[String]) -> Result<(&'a StructArray, Option<NullBuffer>)> {
    let wrong = || Error::argument(format!("no VARIANT at {}", column.join(".")));
    let mut here = array.as_struct_opt().ok_or_else(wrong)?;
    let mut nulls = here.nulls().cloned();
    for name in column.iter().skip(1) {
        here = here.column_by_name(name).and_then(|child| child.as_struct_opt()).ok_or_else(wrong)?;
        nulls = NullBuffer::union(nulls.as_ref(), here.nulls());
    }
    Ok((here, nulls))
}

/// Builds an array of values at ascending positions, with nulls between them.
enum Builder {
    Typed(Box<TypedBuilder>, PrimitiveType),
    Text { builder: Box<StringViewBuilder>, kind: TextKind },
    Json { builder: Box<StringViewBuilder>, text: String },
    Variant(Box<VariantArrayBuilder>),
    State(Vec<i32>),
}

#[derive(Clone, Copy)]
enum TextKind {
    Any,
    TextOnly,
}

impl Builder {
    fn new(target: PathTarget) -> Self {
        let text = |kind| Builder::Text { builder: Box::default(), kind };
        match target {
            PathTarget::Cast(VariantCast::Variant) => Builder::Variant(Box::default()),
            PathTarget::Cast(VariantCast::Json) => {
                Builder::Json { builder: Box::default(), text: String::new() }
            }
            PathTarget::Cast(VariantCast::Type(PrimitiveType::String)) => text(TextKind::Any),
            PathTarget::Cast(VariantCast::Type(kind)) => {
                Builder::Typed(Box::new(TypedBuilder::new(kind, false)), kind)
            }
            PathTarget::Text => text(TextKind::TextOnly),
            PathTarget::State => Builder::State(Vec::new()),
        }
    }

    /// Appends a value that was found.
    fn push<'a>(
        &mut self,
        at: usize,
        place: Place<'_, 'a>,
        metadata: &'a [u8],
        assembler: &mut Assembler<'a>,
    ) -> Result<()> {
        if let Builder::Json { builder, text } = self {
            text.clear();
            place.write_json(metadata, text)?;
            (builder.len()..at).for_each(|_| builder.append_null());
            return builder.try_append_value(text.as_str()).map_err(arrow_error);
        }
        place.with(metadata, assembler, &mut |value, variant| self.push_value(at, value, variant))
    }

    fn push_value(&mut self, at: usize, value: &Value<'_>, variant: Option<Variant<'_>>) -> Result<()> {
        match self {
            Builder::Typed(builder, kind) => {
                if let Some(value) = cast(value, *kind) {
                    builder.push(at, &value)?;
                }
            }
            Builder::Text { builder, kind } => {
                let made;
                let text = match (value, *kind) {
                    (Value::String(text), TextKind::Any | TextKind::TextOnly) => Some(*text),
                    (_, TextKind::TextOnly) => None,
                    (value, TextKind::Any) => {
                        made = text_of(value, variant)?;
                        made.as_deref()
                    }
                };
                (builder.len()..at).for_each(|_| builder.append_null());
                if let Some(text) = text {
                    builder.try_append_value(text).map_err(arrow_error)?;
                }
            }
            // JSON does not need the value.
            Builder::Json { .. } => {}
            Builder::Variant(builder) => {
                builder.pad(at);
                builder.write(|writer| match variant {
                    Some(variant) => writer.copy(variant),
                    None => writer.write(value),
                })?;
            }
            Builder::State(states) => {
                let is_null = matches!(value, Value::Null);
                states.push(if is_null { STATE_VARIANT_NULL } else { STATE_VALUE });
            }
        }
        Ok(())
    }

    /// Appends the state of a row without a value.
    fn push_state(&mut self, state: i32) {
        if let Builder::State(states) = self {
            states.push(state);
        }
    }

    fn finish(self, len: usize) -> Result<ArrayRef> {
        Ok(match self {
            Builder::Typed(builder, _) => builder.finish(len),
            Builder::Text { mut builder, .. } | Builder::Json { mut builder, .. } => {
                (builder.len()..len).for_each(|_| builder.append_null());
                Arc::new(builder.finish())
            }
            Builder::Variant(mut builder) => {
                builder.pad(len);
                Arc::new(builder.finish()?)
            }
            Builder::State(states) => Arc::new(Int32Array::from(states)),
        })
    }
}
