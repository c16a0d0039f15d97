//! What a path leads to in all rows, as an array.

use super::bytes::bytes_of;
use super::cast::{cast, json_of, text_of};
use super::column_path::VariantCast;
use super::group::Group;
use super::path_walk::{Place, walk};
use super::shredded_fields::{primitive, unshredded_fields};
use super::typed_builder::TypedBuilder;
use crate::arrow_error;
use arrow_array::builder::{ArrayBuilder, BinaryViewBuilder, StringViewBuilder};
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, Int32Array, ListArray, StructArray};
use arrow_buffer::{NullBuffer, NullBufferBuilder, OffsetBuffer};
use arrow_schema::{DataType, Field};
use marquetry_base::{Error, Result};
use marquetry_variant::{PrimitiveType, Step, Value, Variant, Writer};
use std::collections::HashMap;
use std::sync::Arc;

/// What is made of what a path leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum PathTarget {
    /// What the text of the path asks for.
    Cast(VariantCast),
    /// Text that is text, and no other.
    Text,
    /// One of the states below.
    State,
}

/// The row is NULL.
pub(crate) const STATE_NULL: i32 = 0;
/// The path leads nowhere.
pub(crate) const STATE_MISSING: i32 = 1;
/// It leads to a variant that is null.
pub(crate) const STATE_VARIANT_NULL: i32 = 2;
/// It leads to any other.
pub(crate) const STATE_VALUE: i32 = 3;

impl PathTarget {
    /// The field of a column of this: a list of values, or one a row.
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

/// What `steps` lead to in each row of a column at `column`, names from the root `array` on. The column has what a
/// [`PathPlan`](super::path_plan::PathPlan) says, or more.
pub(crate) fn path_array(
    array: &ArrayRef,
    column: &[String],
    steps: &[Step],
    target: PathTarget,
) -> Result<ArrayRef> {
    let (group, nulls) = below(array, column)?;
    let is_list = steps.contains(&Step::AllElements);
    if let (PathTarget::Cast(VariantCast::Type(kind)), false) = (target, is_list)
        && let Some(typed) = typed_column(group, nulls.as_ref(), steps, &primitive(kind))
    {
        return Ok(typed);
    }
    let metadata = group.column_by_name("metadata").and_then(bytes_of);
    let mut builder = Builder::new(target);
    let mut offsets = vec![0_i32];
    let (mut at, mut writer) = (0, Writer::new());
    let is_there = |row: usize| nulls.as_ref().is_none_or(|nulls| nulls.is_valid(row));
    let columns =
        (group.num_columns() > usize::from(metadata.is_some())).then(|| Group::new(group)).transpose()?;
    for row in 0..group.len() {
        let state = if is_there(row) { STATE_MISSING } else { STATE_NULL };
        let mut found = false;
        if let (true, Some(columns)) = (is_there(row), &columns) {
            let metadata = metadata.map_or(&[][..], |metadata| metadata.value(row));
            let mut push = |place: Place<'_, '_>| {
                found = true;
                place.with(metadata, &mut writer, &mut |value, variant| builder.push(at, value, variant))?;
                at += usize::from(is_list);
                Ok(())
            };
            walk(columns, row, metadata, steps, &mut push)
                .map_err(|error| error.with_help(&format!("in row {row} of the batch")))?;
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
    if !is_list {
        return Ok(values);
    }
    let element = target.field("", true);
    let DataType::List(element) = element.data_type() else { return Err(Error::argument("no list")) };
    let lists = ListArray::try_new(element.clone(), OffsetBuffer::new(offsets.into()), values, nulls);
    Ok(Arc::new(lists.map_err(arrow_error)?))
}

/// The struct of a VARIANT below a root, and which rows are not NULL.
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

/// The typed column of a path, if all values are there, and of the type that is wanted. PERF: it is what there is then.
fn typed_column(
    group: &StructArray,
    nulls: Option<&NullBuffer>,
    steps: &[Step],
    wanted: &DataType,
) -> Option<ArrayRef> {
    let (mut here, mut nulls) = (group, nulls.cloned());
    for step in steps {
        let Step::Field(name) = step else { return None };
        if here.column_by_name("value").is_some() {
            return None;
        }
        let typed = here.column_by_name("typed_value")?.as_struct_opt()?;
        let field = typed.column_by_name(name)?.as_struct_opt()?;
        nulls = NullBuffer::union(NullBuffer::union(nulls.as_ref(), typed.nulls()).as_ref(), field.nulls());
        here = field;
    }
    let typed = here.column_by_name("typed_value").filter(|_| here.column_by_name("value").is_none())?;
    let all = NullBuffer::union(nulls.as_ref(), typed.nulls());
    // What is null above is null here, too: nulls need not be joined.
    let is_joined = all.map_or(0, |nulls| nulls.null_count()) == typed.null_count();
    (is_joined && typed.data_type() == wanted && !typed.data_type().is_nested()).then(|| typed.clone())
}

/// Values at places that ascend; at the others there is null.
enum Builder {
    Typed(Box<TypedBuilder>, PrimitiveType),
    Text { builder: Box<StringViewBuilder>, kind: TextKind },
    Variant(Box<VariantBuilder>),
    State(Vec<i32>),
}

struct VariantBuilder {
    metadata: BinaryViewBuilder,
    values: BinaryViewBuilder,
    nulls: NullBufferBuilder,
    writer: Writer,
}

#[derive(Clone, Copy)]
enum TextKind {
    Any,
    TextOnly,
    Json,
}

impl Builder {
    fn new(target: PathTarget) -> Self {
        let text = |kind| Builder::Text { builder: Box::default(), kind };
        match target {
            PathTarget::Cast(VariantCast::Variant) => Builder::Variant(Box::new(VariantBuilder {
                metadata: BinaryViewBuilder::new(),
                values: BinaryViewBuilder::new(),
                nulls: NullBufferBuilder::new(0),
                writer: Writer::new(),
            })),
            PathTarget::Cast(VariantCast::Json) => text(TextKind::Json),
            PathTarget::Cast(VariantCast::Type(PrimitiveType::String)) => text(TextKind::Any),
            PathTarget::Cast(VariantCast::Type(kind)) => {
                Builder::Typed(Box::new(TypedBuilder::new(kind, false)), kind)
            }
            PathTarget::Text => text(TextKind::TextOnly),
            PathTarget::State => Builder::State(Vec::new()),
        }
    }

    fn push(&mut self, at: usize, value: &Value<'_>, variant: Option<Variant<'_>>) -> Result<()> {
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
                    (value, TextKind::Json) => {
                        made = Some(json_of(value, variant)?);
                        made.as_deref()
                    }
                };
                (builder.len()..at).for_each(|_| builder.append_null());
                if let Some(text) = text {
                    builder.try_append_value(text).map_err(arrow_error)?;
                }
            }
            Builder::Variant(builder) => builder.push(at, value, variant)?,
            Builder::State(states) => {
                let is_null = matches!(value, Value::Null);
                states.push(if is_null { STATE_VARIANT_NULL } else { STATE_VALUE });
            }
        }
        Ok(())
    }

    /// What there is where nothing was found.
    fn push_state(&mut self, state: i32) {
        if let Builder::State(states) = self {
            states.push(state);
        }
    }

    fn finish(self, len: usize) -> Result<ArrayRef> {
        Ok(match self {
            Builder::Typed(builder, _) => builder.finish(len),
            Builder::Text { mut builder, .. } => {
                (builder.len()..len).for_each(|_| builder.append_null());
                Arc::new(builder.finish())
            }
            Builder::Variant(builder) => builder.finish(len)?,
            Builder::State(states) => Arc::new(Int32Array::from(states)),
        })
    }
}

impl VariantBuilder {
    fn push(&mut self, at: usize, value: &Value<'_>, variant: Option<Variant<'_>>) -> Result<()> {
        self.writer.clear();
        match variant {
            Some(variant) => self.writer.copy(variant)?,
            None => self.writer.write(value)?,
        }
        let (names, bytes) = self.writer.finish()?;
        self.pad(at);
        self.metadata.try_append_value(names).map_err(arrow_error)?;
        self.values.try_append_value(bytes).map_err(arrow_error)?;
        self.nulls.append_non_null();
        Ok(())
    }

    /// NULL up to place `at`, over a variant that is null.
    fn pad(&mut self, at: usize) {
        for _ in self.nulls.len()..at {
            self.metadata.append_value(super::column::EMPTY_METADATA);
            self.values.append_value([0]);
            self.nulls.append_null();
        }
    }

    fn finish(mut self, len: usize) -> Result<ArrayRef> {
        self.pad(len);
        let columns: Vec<ArrayRef> = vec![Arc::new(self.metadata.finish()), Arc::new(self.values.finish())];
        let fields = unshredded_fields(&DataType::BinaryView);
        let array = StructArray::try_new(fields, columns, self.nulls.finish());
        Ok(Arc::new(array.map_err(arrow_error)?))
    }
}
