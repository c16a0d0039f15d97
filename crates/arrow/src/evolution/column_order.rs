//! Reorders columns as the caller named them.

use super::batch_adapter::{ArrayCast, BatchAdapter, ColumnSource};
use crate::schema::{element_of, list_of};
use arrow_schema::{DataType, Field as ArrowField, FieldRef, Fields, Schema as ArrowSchema};
use marquetry_core::nesting::{FieldKind, NestedField};
use marquetry_core::predicate::names_of;
use marquetry_core::schema::{Leaf, Schema};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Returns an adapter from batches of `fields`, which are read as `arrow`, to batches in the order of `names`: columns,
/// and fields of structs, are ordered by the first name of any of their leaves. `None` if they are in that order
/// already.
pub(crate) fn ordered(
    names: &[String],
    schema: &Schema,
    fields: &[NestedField],
    arrow: &ArrowSchema,
) -> Option<BatchAdapter> {
    let places = FirstPlaces::new(names, schema);
    let ranks: Vec<usize> = schema.columns().iter().map(|leaf| places.rank(leaf)).collect();
    let (fields, parts) = reordered(fields, arrow.fields(), &ranks)?;
    let schema = ArrowSchema::new_with_metadata(fields, arrow.metadata().clone());
    Some(BatchAdapter { schema: Arc::new(schema), parts })
}

/// The first position of each name.
///
/// PERF: a caller may name all of 10,000 columns, so comparing each path with each name would be too slow.
struct FirstPlaces {
    /// By the text of paths, with dots between the names.
    by_text: HashMap<String, usize>,
    /// By the names of paths that have a name in quotes.
    by_names: HashMap<Vec<String>, usize>,
}

impl FirstPlaces {
    /// Indexes names, which have the meaning that
    /// [`existing_columns`](crate::arrow_reader::ProjectionMask::existing_columns) defines.
    fn new(names: &[String], schema: &Schema) -> Self {
        let (mut by_text, mut by_names) = (HashMap::new(), HashMap::new());
        // In reverse, so that the first one is inserted last and stays.
        for (i, name) in names.iter().enumerate().rev() {
            by_text.insert(name.clone(), i);
            let path = names_of(name);
            if path.join(".") != *name {
                by_names.insert(path, i);
            }
        }
        if !by_names.is_empty() {
            let there: HashSet<&[Arc<str>]> =
                schema.columns().iter().flat_map(|leaf| above(leaf.path())).collect();
            for (path, i) in &by_names {
                let path_there: Vec<Arc<str>> = path.iter().map(|name| name.as_str().into()).collect();
                if !there.contains(&path_there[..]) {
                    // A name that no column has may be another path with these dots.
                    let place = by_text.entry(path.join(".")).or_insert(*i);
                    *place = (*place).min(*i);
                }
            }
        }
        FirstPlaces { by_text, by_names }
    }

    /// Returns the position of the first name at or above the path of a leaf, or one behind all names if there is none.
    fn rank(&self, leaf: &Leaf) -> usize {
        let of_text = leaf.dotted_ancestors().filter_map(|path| self.by_text.get(path)).min();
        let of_names = (!self.by_names.is_empty()).then(|| {
            let names: Vec<String> = leaf.path().iter().map(|name| name.to_string()).collect();
            (1..=names.len()).filter_map(|count| self.by_names.get(&names[..count])).min().copied()
        });
        of_text.copied().into_iter().chain(of_names.flatten()).min().unwrap_or(usize::MAX)
    }
}

/// Returns the path, and all paths above it.
fn above(path: &[Arc<str>]) -> impl Iterator<Item = &[Arc<str>]> {
    (1..=path.len()).map(|count| &path[..count])
}

fn reordered(fields: &[NestedField], arrow: &Fields, ranks: &[usize]) -> Option<(Fields, Vec<ColumnSource>)> {
    let first_rank = |field: &NestedField| {
        let mut leaves = Vec::new();
        field.leaves(&mut leaves);
        leaves.into_iter().map(|leaf| ranks[leaf]).min()
    };
    let first_ranks: Vec<_> = fields.iter().map(first_rank).collect();
    let mut order: Vec<usize> = (0..fields.len()).collect();
    // A stable sort: fields under one name stay in the order of the file.
    order.sort_by_key(|&i| first_ranks[i]);
    let mut changes = !order.is_sorted();
    let made = order.into_iter().map(|i| match inside(&fields[i], &arrow[i], ranks) {
        Some((field, recipe)) => {
            changes = true;
            (field, ColumnSource::Of(i, recipe))
        }
        None => (arrow[i].clone(), ColumnSource::Of(i, ArrayCast::Keep)),
    });
    let (fields, parts): (Vec<FieldRef>, Vec<ColumnSource>) = made.unzip();
    changes.then(|| (fields.into(), parts))
}

/// Returns the field with the structs inside it reordered; `None` if they are in order already.
fn inside(field: &NestedField, arrow: &FieldRef, ranks: &[usize]) -> Option<(FieldRef, ArrayCast)> {
    let (data_type, recipe) = match (&field.kind, arrow.data_type()) {
        (FieldKind::Struct(fields), DataType::Struct(arrow)) => {
            let (fields, parts) = reordered(fields, arrow, ranks)?;
            (DataType::Struct(fields.clone()), ArrayCast::Struct(fields, parts))
        }
        (FieldKind::List(element), list) => {
            let (element, recipe) = inside(element, element_of(list)?, ranks)?;
            let recipe = ArrayCast::List(element.clone(), Box::new(recipe));
            (list_of(list, element), recipe)
        }
        // Key and value are identified by position.
        (FieldKind::Map(entries), DataType::Map(arrow_entries, sorted)) => {
            let (FieldKind::Struct(parts), DataType::Struct(arrow_parts)) =
                (&entries.kind, arrow_entries.data_type())
            else {
                return None;
            };
            let ([key, value], [key_arrow, value_arrow]) = (parts.as_slice(), &**arrow_parts) else {
                return None;
            };
            let (new_key, new_value) = (inside(key, key_arrow, ranks), inside(value, value_arrow, ranks));
            if new_key.is_none() && new_value.is_none() {
                return None;
            }
            let (key, key_recipe) = new_key.unwrap_or((key_arrow.clone(), ArrayCast::Keep));
            let (value, value_recipe) = new_value.unwrap_or((value_arrow.clone(), ArrayCast::Keep));
            let pair = DataType::Struct(Fields::from(vec![key, value]));
            let entries = Arc::new(ArrowField::clone(arrow_entries).with_data_type(pair));
            let recipe = ArrayCast::Map(entries.clone(), Box::new((key_recipe, value_recipe)));
            (DataType::Map(entries, *sorted), recipe)
        }
        _ => return None,
    };
    Some((Arc::new(ArrowField::clone(arrow).with_data_type(data_type)), recipe))
}
