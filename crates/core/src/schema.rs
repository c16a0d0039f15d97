//! The schema: a tree of named fields, whose leaves are the columns.
//!
//! The footer has the tree as a flat list in depth-first order. [`Schema::from_thrift`] builds the tree, counts the
//! levels, and numbers the leaves: column chunks stand in leaf order in each row group.
//!
//! ```text
//! message m {                       levels of the leaf below: definition, repetition
//!   optional group tags (LIST) {    1  0
//!     repeated group list {         2  1
//!       optional binary element;    3  1      leaf 0, path tags.list.element
//!     }
//!   }
//! }
//! ```

mod name_map;
mod parse;
mod print;
mod to_thrift;
mod unknown;

pub use to_thrift::{annotate, column, group, physical_type};
pub use unknown::{near_names, no_such_column, unknown_column};

use crate::logical_type::LogicalType;
use marquetry_base::{Error, Limits, Result};
use marquetry_encoding::PhysicalType;
use marquetry_format::{Repetition as ThriftRepetition, SchemaElement, ThriftString, Type};
use name_map::NameMap;
use std::ops::Range;
use std::slice;
use std::sync::Arc;

/// How often a field occurs in its parent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Repetition {
    /// Once.
    Required,
    /// At most once.
    Optional,
    /// Any number of times.
    Repeated,
}

/// The schema of a file.
#[derive(Debug, Clone, PartialEq)]
pub struct Schema {
    name: ThriftString,
    fields: Vec<Node>,
    leaves: Vec<Leaf>,
    leaves_by_path: NameMap,
    fields_by_name: NameMap,
}

/// A field: a group of fields, or a leaf.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    name: ThriftString,
    repetition: Repetition,
    logical: Option<LogicalType>,
    field_id: Option<i32>,
    kind: NodeKind,
}

/// The kind of a [`Node`], with its contents.
#[derive(Debug, Clone, PartialEq)]
pub enum NodeKind {
    /// A group and its fields.
    Group(Vec<Node>),
    /// A leaf, and the number of its column.
    Leaf(usize),
}

/// A column: a leaf of the schema, with the levels that follow from its position in the tree.
#[derive(Debug, Clone, PartialEq)]
pub struct Leaf {
    /// Names from the root's field down to the leaf. Empty for a field of the root, whose `dotted` is its path.
    path: Box<[Arc<str>]>,
    /// The names as they are stored, if one is not UTF-8.
    stored_path: Option<Box<[ThriftString]>>,
    dotted: Arc<str>,
    physical: PhysicalType,
    logical: Option<LogicalType>,
    is_misunderstood: bool,
    repetition: Repetition,
    max_def: u8,
    max_rep: u8,
    root: usize,
}

impl Schema {
    /// Builds the tree from the footer's list, whose first element is the root.
    ///
    /// Fails if the list is not a tree, if a leaf's physical type is missing or unknown, or if a limit on nodes or
    /// depth is exceeded.
    pub fn from_thrift(elements: &[SchemaElement], limits: &Limits) -> Result<Self> {
        Limits::check("schema_nodes", elements.len(), limits.schema_nodes)?;
        check_memory(elements.len(), limits)?;
        let Some((root, rest)) = elements.split_first() else {
            return Err(Error::corrupt("the schema is empty"));
        };
        let leaves = Vec::with_capacity(rest.len());
        let mut builder = Builder { rest, limits, leaves, path: Vec::new(), path_bytes: 0 };
        let mut fields = Vec::with_capacity(child_count(root)?.min(rest.len()));
        for index in 0..child_count(root)? {
            fields.push(builder.node(index, Levels { def: 0, rep: 0 })?);
        }
        if !builder.rest.is_empty() {
            return Err(Error::corrupt(format!("{} schema elements are in no group", builder.rest.len())));
        }
        Ok(Schema {
            name: root.name.clone(),
            fields,
            leaves: builder.leaves,
            leaves_by_path: NameMap::default(),
            fields_by_name: NameMap::default(),
        })
    }

    /// The root's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The fields of the root.
    pub fn fields(&self) -> &[Node] {
        &self.fields
    }

    /// Returns all columns, in the order of their chunks.
    pub fn columns(&self) -> &[Leaf] {
        &self.leaves
    }

    /// Returns column `i`.
    ///
    /// # Panics
    /// If there is no column `i`.
    pub fn column(&self, i: usize) -> &Leaf {
        &self.leaves[i]
    }

    /// Returns the number of columns.
    pub fn num_columns(&self) -> usize {
        self.leaves.len()
    }

    /// Returns about how many bytes of memory this takes, names included.
    pub fn memory_size(&self) -> usize {
        // The nodes of a path and its leaf share their names; only a nested leaf has a dotted path of its own.
        let leaf = |leaf: &Leaf| {
            size_of::<Leaf>()
                + leaf.path.len() * size_of::<Arc<str>>()
                + leaf.dotted.len()
                + size_of::<[usize; 2]>()
        };
        size_of::<Self>()
            + self.leaves.iter().map(leaf).sum::<usize>()
            + self.fields.iter().map(Node::memory_size).sum::<usize>()
            + self.leaves_by_path.memory_size()
            + self.fields_by_name.memory_size()
    }

    /// Returns the numbers of the columns below field `root` of the root.
    pub fn columns_of(&self, root: usize) -> Range<usize> {
        let start = self.leaves.partition_point(|leaf| leaf.root < root);
        start..start + self.leaves[start..].partition_point(|leaf| leaf.root == root)
    }

    /// Returns the number of the column with this dotted path, the first if there are several. Names may have dots: `a.b` may be
    /// a field of `a`, or one of the root. PERF: after some lookups a map is built, so that looking up all columns is linear.
    pub fn find(&self, dotted: &str) -> Option<usize> {
        self.columns_at(dotted).first().copied()
    }

    /// The numbers of all columns with this dotted path, in ascending order.
    pub(crate) fn columns_at(&self, dotted: &str) -> Vec<usize> {
        self.leaves_by_path.find(self.leaves.iter().map(Leaf::dotted), dotted)
    }

    /// The numbers of the root's fields with this name, in ascending order.
    pub fn fields_named(&self, name: &str) -> Vec<usize> {
        self.fields_by_name.find(self.fields.iter().map(Node::shared_name), name)
    }
}

impl Node {
    /// The name.
    pub fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn shared_name(&self) -> &Arc<str> {
        self.name.shared()
    }

    /// Returns how often the field occurs in its parent.
    pub fn repetition(&self) -> Repetition {
        self.repetition
    }

    /// The logical type.
    pub fn logical(&self) -> Option<&LogicalType> {
        self.logical.as_ref()
    }

    /// The field id that the writer gave it.
    pub fn field_id(&self) -> Option<i32> {
        self.field_id
    }

    fn memory_size(&self) -> usize {
        size_of::<Self>()
            + match &self.kind {
                NodeKind::Group(fields) => {
                    self.name.len() + fields.iter().map(Node::memory_size).sum::<usize>()
                }
                NodeKind::Leaf(_) => 0,
            }
    }

    /// Returns whether this is a group or a leaf, with its contents.
    pub fn kind(&self) -> &NodeKind {
        &self.kind
    }
}

impl Leaf {
    /// Returns the names from the root's field down to the leaf.
    pub fn path(&self) -> &[Arc<str>] {
        match &*self.path {
            // PERF: most leaves are fields of the root, and a wide file has many.
            [] => slice::from_ref(&self.dotted),
            path => path,
        }
    }

    /// Returns the path as `ColumnMetaData.path_in_schema` stores it.
    pub fn path_in_schema(&self) -> Vec<ThriftString> {
        match &self.stored_path {
            Some(stored) => stored.to_vec(),
            None => self.path().iter().cloned().map(ThriftString::from).collect(),
        }
    }

    /// The path with dots between the names.
    pub fn dotted(&self) -> &Arc<str> {
        &self.dotted
    }

    /// Iterates over the dotted paths of the fields that contain the leaf, outermost first, and ends with its own. A
    /// name may contain dots: field `a.b` is not below `a`.
    pub fn dotted_ancestors(&self) -> impl Iterator<Item = &str> {
        let mut next = 0;
        self.path().iter().map(move |name| {
            let end = next + name.len();
            next = end + 1;
            &self.dotted[..end]
        })
    }

    /// The leaf's own name.
    pub fn name(&self) -> &str {
        self.path().last().map_or("", AsRef::as_ref)
    }

    /// The physical type.
    pub fn physical(&self) -> PhysicalType {
        self.physical
    }

    /// The logical type.
    pub fn logical(&self) -> Option<&LogicalType> {
        self.logical.as_ref()
    }

    /// Whether the logical type is text, so that values must be UTF-8.
    pub fn is_text(&self) -> bool {
        self.logical().is_some_and(LogicalType::is_text)
    }

    /// Whether the field has an annotation that is unknown here, or does not fit its physical type. Values are then
    /// read as the physical type, but their order is unknown.
    pub fn is_misunderstood(&self) -> bool {
        self.is_misunderstood
    }

    /// Returns how often the field occurs in its parent.
    pub fn repetition(&self) -> Repetition {
        self.repetition
    }

    /// The maximum definition level: the level of a value that is present.
    pub fn max_def(&self) -> u8 {
        self.max_def
    }

    /// The maximum repetition level: the number of repeated fields on the path.
    pub fn max_rep(&self) -> u8 {
        self.max_rep
    }

    /// Returns the number of the root's field that contains the leaf.
    pub fn root(&self) -> usize {
        self.root
    }
}

/// Fails if the overall memory budget is too small for a schema of this many nodes and the structures built from it: a
/// footer needs only a few bytes for a node.
fn check_memory(nodes: usize, limits: &Limits) -> Result<()> {
    match limits.memory.limit() {
        Some(limit) if nodes > FREE_NODES && nodes > limit / NODE_BYTES => Err(Error::limit(format!(
            "a schema of {nodes} nodes takes more than {limit} bytes of memory; raise Limits::memory to read it"
        ))),
        _ => Ok(()),
    }
}

/// Fails if the bytes of all paths exceed a quarter of the overall memory budget.
fn check_path_memory(bytes: usize, limits: &Limits) -> Result<()> {
    match limits.memory.limit() {
        Some(limit) if bytes > FREE_PATH_BYTES && bytes > limit / 4 => Err(Error::limit(format!(
            "{bytes} bytes of paths are too much for {limit} bytes of memory; raise Limits::memory to read them"
        ))),
        _ => Ok(()),
    }
}

/// Bytes of paths up to which the memory budget is not checked.
const FREE_PATH_BYTES: usize = 16 << 20;
/// Nodes of a schema up to which the memory budget is not checked.
const FREE_NODES: usize = 1 << 16;
/// Estimated bytes of memory for a node: in the tree, as a leaf and as an Arrow field.
const NODE_BYTES: usize = 1 << 10;

#[derive(Clone, Copy)]
struct Levels {
    def: u8,
    rep: u8,
}

struct Builder<'a> {
    rest: &'a [SchemaElement],
    limits: &'a Limits,
    leaves: Vec<Leaf>,
    /// PERF: the name of a field is shared by all who hold it: a wide file has many.
    path: Vec<&'a ThriftString>,
    /// Bytes of the paths of all leaves so far.
    path_bytes: usize,
}

impl<'a> Builder<'a> {
    fn node(&mut self, root: usize, above: Levels) -> Result<Node> {
        let Some((element, rest)) = self.rest.split_first() else {
            return Err(Error::corrupt("the schema ends inside a group"));
        };
        self.rest = rest;
        self.path.push(&element.name);
        Limits::check("schema_depth", self.path.len(), self.limits.schema_depth.min(MAX_DEPTH))?;
        let repetition = repetition(element).map_err(|error| error.in_column(joined(&self.path)))?;
        let levels = Levels {
            def: above.def + u8::from(repetition != Repetition::Required),
            rep: above.rep + u8::from(repetition == Repetition::Repeated),
        };
        let node = match child_count(element)? {
            0 if element.type_.is_some() => self.leaf(element, repetition, root, levels)?,
            // QUIRK: an empty group has no columns, so nothing of it is stored; it stays in the tree for printing.
            children => {
                let fields = (0..children).map(|_| self.node(root, levels)).collect::<Result<_>>()?;
                self.named(
                    element,
                    repetition,
                    LogicalType::from_thrift(element, None),
                    NodeKind::Group(fields),
                )
            }
        };
        self.path.pop();
        Ok(node)
    }

    fn leaf(
        &mut self,
        element: &SchemaElement,
        repetition: Repetition,
        root: usize,
        levels: Levels,
    ) -> Result<Node> {
        let names = self.path.iter().map(|name| name.len() + size_of::<String>());
        self.path_bytes = names.fold(self.path_bytes, usize::saturating_add);
        Limits::check("schema_path_bytes", self.path_bytes, self.limits.schema_path_bytes)?;
        check_path_memory(self.path_bytes, self.limits)?;
        let (path, dotted) = match &self.path[..] {
            [name] => (Box::default(), name.shared().clone()),
            path => (path.iter().map(|name| name.shared().clone()).collect(), joined(path).into()),
        };
        let is_text = self.path.iter().all(|name| name.is_utf8());
        let stored_path = (!is_text).then(|| self.path.iter().map(|name| (*name).clone()).collect());
        let physical = physical(element).map_err(|error| error.in_column(dotted.clone()))?;
        let logical = LogicalType::from_thrift(element, Some(physical));
        let kind = NodeKind::Leaf(self.leaves.len());
        self.leaves.push(Leaf {
            path,
            stored_path,
            dotted,
            physical,
            is_misunderstood: logical.is_none() && is_annotated(element),
            logical: logical.clone(),
            repetition,
            max_def: levels.def,
            max_rep: levels.rep,
            root,
        });
        Ok(self.named(element, repetition, logical, kind))
    }

    /// Creates the node at the end of the current path.
    fn named(
        &self,
        element: &SchemaElement,
        repetition: Repetition,
        logical: Option<LogicalType>,
        kind: NodeKind,
    ) -> Node {
        let name = self.path.last().map_or_else(ThriftString::default, |name| (*name).clone());
        Node { name, repetition, logical, field_id: element.field_id, kind }
    }
}

fn joined(path: &[&ThriftString]) -> String {
    path.iter().map(|name| name.as_str()).collect::<Vec<_>>().join(".")
}

/// Maximum depth of a schema: levels are bytes, and each node on the path may add one.
const MAX_DEPTH: usize = 250;

fn child_count(element: &SchemaElement) -> Result<usize> {
    // QUIRK: leaves with `num_children = 0` instead of none are common.
    let count = element.num_children.unwrap_or(0);
    usize::try_from(count).map_err(|_| Error::corrupt(format!("{count} children in group {}", element.name)))
}

fn is_annotated(element: &SchemaElement) -> bool {
    element.logical_type.is_some() || element.converted_type.is_some()
}

fn repetition(element: &SchemaElement) -> Result<Repetition> {
    match element.repetition_type {
        // QUIRK: only the root may lack it; other fields without it are taken as required, the format's default.
        None => Ok(Repetition::Required),
        Some(ThriftRepetition::REQUIRED) => Ok(Repetition::Required),
        Some(ThriftRepetition::OPTIONAL) => Ok(Repetition::Optional),
        Some(ThriftRepetition::REPEATED) => Ok(Repetition::Repeated),
        Some(other) => Err(Error::unsupported(format!("repetition type {other}"))),
    }
}

fn physical(element: &SchemaElement) -> Result<PhysicalType> {
    Ok(match element.type_ {
        Some(Type::BOOLEAN) => PhysicalType::Boolean,
        Some(Type::INT32) => PhysicalType::Int32,
        Some(Type::INT64) => PhysicalType::Int64,
        Some(Type::INT96) => PhysicalType::Int96,
        Some(Type::FLOAT) => PhysicalType::Float,
        Some(Type::DOUBLE) => PhysicalType::Double,
        Some(Type::BYTE_ARRAY) => PhysicalType::ByteArray,
        Some(Type::FIXED_LEN_BYTE_ARRAY) => {
            let length = element.type_length.unwrap_or(-1);
            let length = usize::try_from(length)
                .map_err(|_| Error::corrupt(format!("FIXED_LEN_BYTE_ARRAY of length {length}")))?;
            PhysicalType::FixedLenByteArray(length)
        }
        Some(other) => return Err(Error::unsupported(format!("physical type {other}"))),
        None => return Err(Error::corrupt("neither a type nor children")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_name_above_many_columns_must_be_earned() {
        let group = |name: &str, children| SchemaElement {
            name: name.into(),
            num_children: Some(children),
            ..SchemaElement::default()
        };
        let mut elements = vec![group("root", 1), group(&"x".repeat(1_000), 100)];
        elements.extend((0..100).map(|i| SchemaElement {
            name: i.to_string().into(),
            type_: Some(Type::INT32),
            ..SchemaElement::default()
        }));
        let schema = Schema::from_thrift(&elements, &Limits::default()).unwrap();
        assert_eq!(schema.column(99).dotted().len(), 1_003);
        let limits = Limits::default().with_schema_path_bytes(50_000);
        let error = Schema::from_thrift(&elements, &limits).unwrap_err();
        assert!(error.message().contains("Limits::schema_path_bytes"), "{error}");
    }
}
