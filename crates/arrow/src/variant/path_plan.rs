//! Plans which columns of a file a path into a VARIANT needs.
//!
//! A path leads down from group to group, each with a `value` and a `typed_value`. It continues in `typed_value` as far
//! as that has its steps. But any row may leave it at any group, and have the rest of the path in that group's `value`.
//! So the path needs each `value` on the way, and everything below the last group.
//!
//! A `value` that is null in all rows of the file is not needed. If that holds for all of them, names are not needed
//! either, and only typed columns are left. Nor is a `value` needed next to objects that all rows have in
//! `typed_value`: it holds other fields only. Histograms of levels show that.

use marquetry_base::{Error, Result, quote_name};
use marquetry_core::logical_type::LogicalType;
use marquetry_core::metadata::ParquetMetaData;
use marquetry_core::predicate::names_of;
use marquetry_core::schema::{Node, NodeKind, Repetition, Schema, unknown_column};
use marquetry_encoding::PhysicalType;
use marquetry_variant::Step;

/// The columns that a path needs.
#[derive(Debug)]
pub(crate) struct PathPlan {
    /// The names from the root to the column.
    pub(crate) column: Vec<String>,
    /// All columns that are needed, at least one.
    pub(crate) leaves: Vec<usize>,
    /// Those among them that are a `value` on the way, in which a row may have its value instead.
    pub(crate) residuals: Vec<usize>,
    /// The typed column of exactly this path, if all steps are fields and shredded.
    pub(crate) typed: Option<usize>,
    /// Whether all steps are shredded, so that a row with a value in the last typed column has nothing of the path in a `value`.
    pub(crate) is_whole: bool,
    /// Whether the path enters a shredded list.
    pub(crate) in_list: bool,
}

impl PathPlan {
    /// Plans the path `steps` into the VARIANT at `column`.
    ///
    /// Fails if there is no such column, if it is not a VARIANT, or if it is in a list.
    pub(crate) fn new(metadata: &ParquetMetaData, column: &str, steps: &[Step]) -> Result<PathPlan> {
        let schema = metadata.schema();
        let names = names_of(column);
        let (node, level) = find(schema, &names).ok_or_else(|| unknown_column(schema, column))?;
        let Some(group) = Group::of(node) else {
            let message = "it is not a VARIANT outside of lists, and paths lead only into those";
            return Err(Error::argument(message).in_column(column));
        };
        let mut way = Way {
            metadata,
            residuals: Vec::new(),
            typed: Vec::new(),
            leaf: None,
            is_whole: false,
            in_list: false,
        };
        way.walk(group, level, steps, true);
        let is_null = |leaf: &usize| is_all_null(metadata, *leaf);
        let all = way.typed.clone();
        // Values below the end of the path are not on the way, but are read.
        let is_value = |leaf: &usize| {
            schema.column(*leaf).name() == "value"
                && schema.column(*leaf).physical() == PhysicalType::ByteArray
        };
        way.residuals.retain(|leaf| !is_null(leaf));
        way.typed.retain(|leaf| !is_value(leaf) || !is_null(leaf));
        let mut leaves: Vec<usize> = way.residuals.iter().chain(&way.typed).copied().collect();
        let needs_names = leaves.iter().any(is_value) || leaves.is_empty();
        if needs_names {
            leaves.extend(group.metadata);
        }
        // Rows without any value must still be read.
        if leaves.iter().all(|leaf| group.metadata == Some(*leaf)) {
            leaves.extend(group.value);
            leaves.extend(all);
        }
        leaves.sort_unstable();
        leaves.dedup();
        Ok(PathPlan {
            column: names,
            leaves,
            residuals: way.residuals,
            typed: way.leaf,
            is_whole: way.is_whole,
            in_list: way.in_list,
        })
    }
}

/// Returns the path of a column as predicates write it.
pub(crate) fn quoted_path(schema: &Schema, leaf: usize) -> String {
    let names: Vec<String> = schema.column(leaf).path().iter().map(|name| quote_name(name)).collect();
    names.join(".")
}

/// Finds the group of a VARIANT at a path of structs, and the definition level of rows that have it.
fn find<'a>(schema: &'a Schema, names: &[String]) -> Option<(&'a Node, usize)> {
    let (first, rest) = names.split_first()?;
    let mut node = schema.fields().iter().find(|field| field.name() == first)?;
    let mut level = level_of(node);
    for name in rest {
        let NodeKind::Group(fields) = node.kind() else { return None };
        node = fields.iter().find(|field| field.name() == name)?;
        level += level_of(node);
    }
    Some((node, level))
}

/// Returns how many definition levels a field adds.
fn level_of(node: &Node) -> usize {
    usize::from(node.repetition() != Repetition::Required)
}

/// The `value` and `typed_value` of a place, and `metadata` at the root.
#[derive(Clone, Copy)]
struct Group<'a> {
    metadata: Option<usize>,
    value: Option<usize>,
    typed: Option<&'a Node>,
}

impl<'a> Group<'a> {
    /// Returns the root of a VARIANT: annotated, or, as some writers leave it, only with the fields of a VARIANT.
    fn of(node: &'a Node) -> Option<Self> {
        Group::inside(node).filter(|group| group.metadata.is_some())
    }

    fn inside(node: &'a Node) -> Option<Self> {
        let NodeKind::Group(fields) = node.kind() else { return None };
        let leaf = |name: &str| {
            fields.iter().find(|field| field.name() == name).and_then(|field| match field.kind() {
                NodeKind::Leaf(leaf) => Some(*leaf),
                NodeKind::Group(_) => None,
            })
        };
        let typed = fields.iter().find(|field| field.name() == "typed_value");
        let group = Group { metadata: leaf("metadata"), value: leaf("value"), typed };
        (group.value.is_some() || group.typed.is_some()).then_some(group)
    }
}

struct Way<'a> {
    metadata: &'a ParquetMetaData,
    residuals: Vec<usize>,
    /// The leaves below the last group.
    typed: Vec<usize>,
    leaf: Option<usize>,
    is_whole: bool,
    in_list: bool,
}

impl Way<'_> {
    /// Follows `steps` from a group. `level` is the definition level of rows that have the group, if it is in no list.
    fn walk(&mut self, group: Group<'_>, level: usize, steps: &[Step], is_fields: bool) {
        self.in_list |= !is_fields;
        let Some((step, rest)) = steps.split_first() else {
            self.residuals.extend(group.value);
            self.is_whole = is_fields;
            if let Some(typed) = group.typed {
                leaves_of(typed, &mut self.typed);
                self.leaf = match typed.kind() {
                    NodeKind::Leaf(leaf) if is_fields => Some(*leaf),
                    _ => None,
                };
            }
            return;
        };
        let Some((typed, NodeKind::Group(fields))) = group.typed.map(|typed| (typed, typed.kind())) else {
            self.residuals.extend(group.value);
            return;
        };
        let next = match step {
            Step::Field(_) if group.typed.and_then(Node::logical) == Some(&LogicalType::List) => None,
            Step::Field(name) => {
                let field = fields.iter().find(|field| field.name() == name);
                let level = level + level_of(typed) + field.map_or(0, level_of);
                field.and_then(Group::inside).map(|field| (field, level, is_fields))
            }
            _ => {
                let element = fields.first().and_then(|repeated| match repeated.kind() {
                    NodeKind::Group(elements) => {
                        elements.first().and_then(Group::inside).or(Group::inside(repeated))
                    }
                    NodeKind::Leaf(_) => None,
                });
                element.map(|element| (element, level, false))
            }
        };
        // Next to an object with this field shredded, `value` does not have the field.
        let is_beside = is_fields && matches!(step, Step::Field(_)) && next.is_some();
        if !(is_beside && is_always_there(self.metadata, typed, level)) {
            self.residuals.extend(group.value);
        }
        // Without such a field, the rest of the path can only be in `value`.
        if let Some((next, level, is_fields)) = next {
            self.walk(next, level, rest, is_fields);
        }
    }
}

/// Returns whether the footer shows that all rows with the group around `typed` have `typed`. These rows have at least
/// this definition level.
fn is_always_there(metadata: &ParquetMetaData, typed: &Node, level: usize) -> bool {
    if level_of(typed) == 0 {
        return true;
    }
    let mut leaves = Vec::new();
    leaves_of(typed, &mut leaves);
    let Some(leaf) = leaves.first() else { return false };
    metadata.row_groups().all(|group| {
        let count = group.column(*leaf).ok().filter(|chunk| !chunk.lacks_key()).and_then(|chunk| {
            let histogram = chunk.size_statistics()?.definition_level_histogram?;
            // Trusted only if it has one count for each level, and they add up.
            let counts: Vec<i64> = histogram.iter().collect();
            let is_right = counts.len() == usize::from(chunk.leaf().max_def()) + 1
                && counts.iter().all(|count| *count >= 0)
                && counts.iter().try_fold(0i64, |sum, count| sum.checked_add(*count))
                    == Some(chunk.num_values());
            counts.get(level).copied().filter(|_| is_right)
        });
        count == Some(0)
    })
}

fn leaves_of(node: &Node, out: &mut Vec<usize>) {
    match node.kind() {
        NodeKind::Leaf(leaf) => out.push(*leaf),
        NodeKind::Group(fields) => fields.iter().for_each(|field| leaves_of(field, out)),
    }
}

/// Returns whether the footer shows that no row of the file has a value in this column.
fn is_all_null(metadata: &ParquetMetaData, leaf: usize) -> bool {
    metadata.row_groups().all(|group| {
        let nulls = group.column(leaf).ok().and_then(|chunk| {
            let nulls = chunk.statistics()?.null_count?;
            Some(nulls == chunk.num_values() && !chunk.lacks_key())
        });
        nulls == Some(true)
    })
}
