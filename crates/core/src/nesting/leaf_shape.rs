//! The meaning of each column's levels: lists, groups that may be absent, keys of maps.

use crate::logical_type::LogicalType;
use crate::schema::{Node, NodeKind, Repetition, Schema};

/// The meaning of a column's levels, node by node.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct LeafShape {
    /// The minimum definition level of a list's element, for each repetition level from 1 on.
    pub element_def: Vec<u8>,
    /// The optional and repeated groups above the column that contain other columns as well.
    pub groups: Vec<LevelGroup>,
    /// The definition level of a map's entry, if the column is the key of a map.
    pub key_of: Option<u8>,
}

/// An optional or repeated group: its levels mean the same in all columns below it.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct LevelGroup {
    /// The number of the group in the schema.
    pub id: usize,
    /// The repetition level of the group's elements.
    pub rep: u8,
    /// The minimum definition level of fields inside the group.
    pub def: u8,
}

impl LeafShape {
    /// Returns the first entry that continues a list without elements: its index, repetition level and definition
    /// level.
    pub fn contradiction(&self, rep: &[u8], def: &[u8]) -> Option<(usize, u8, u8)> {
        let least = |rep: u8| match rep.checked_sub(1) {
            Some(list) => self.element_def.get(usize::from(list)).copied().unwrap_or(u8::MAX),
            None => 0,
        };
        let mut entries = rep.iter().zip(def).enumerate();
        entries.find(|(_, (rep, def))| **def < least(**rep)).map(|(at, (rep, def))| (at, *rep, *def))
    }

    /// Returns the index of the first map entry whose key is null, if the column has the keys. Values have the
    /// definition level `max`.
    pub fn null_key(&self, def: &[u8], max: u8) -> Option<usize> {
        let entry = self.key_of?;
        def.iter().position(|def| *def >= entry && *def < max)
    }
}

/// Returns the shape of each column.
pub fn leaf_shapes(schema: &Schema) -> Vec<LeafShape> {
    let mut shapes = Shapes {
        above: LeafShape::default(),
        leaves: vec![LeafShape::default(); schema.num_columns()],
        counts: Vec::new(),
    };
    for node in schema.fields() {
        shapes.visit(node, LevelGroup { id: 0, rep: 0, def: 0 }, Role::Other);
    }
    let Shapes { mut leaves, counts, .. } = shapes;
    leaves.iter_mut().for_each(|leaf| leaf.groups.retain(|group| counts[group.id] > 1));
    leaves
}

/// The role of a node in a map.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    /// The repeated group of key and value.
    Entries,
    /// The key of entries with this definition level.
    Key(u8),
    Other,
}

struct Shapes {
    above: LeafShape,
    leaves: Vec<LeafShape>,
    /// Number of columns below each group.
    counts: Vec<usize>,
}

impl Shapes {
    /// Visits `node` and everything below it. Returns the number of columns there.
    fn visit(&mut self, node: &Node, parent: LevelGroup, role: Role) -> usize {
        let is_repeated = node.repetition() == Repetition::Repeated;
        let def = parent.def + u8::from(node.repetition() != Repetition::Required);
        let rep = parent.rep + u8::from(is_repeated);
        if is_repeated {
            self.above.element_def.push(def);
        }
        let below = match node.kind() {
            NodeKind::Leaf(leaf) => {
                if let Some(shape) = self.leaves.get_mut(*leaf) {
                    let key_of = if let Role::Key(entry) = role { Some(entry) } else { None };
                    *shape = LeafShape { key_of, ..self.above.clone() };
                }
                1
            }
            NodeKind::Group(fields) => {
                let group = LevelGroup { id: self.counts.len(), rep, def };
                self.counts.push(0);
                let is_level = node.repetition() != Repetition::Required;
                if is_level {
                    self.above.groups.push(group);
                }
                let is_map = matches!(node.logical(), Some(LogicalType::Map | LogicalType::MapKeyValue))
                    && map_entries(fields).is_some();
                let mut below = 0;
                for (i, field) in fields.iter().enumerate() {
                    let role = match role {
                        Role::Entries if i == 0 => Role::Key(def),
                        _ if is_map => Role::Entries,
                        _ => Role::Other,
                    };
                    below += self.visit(field, group, role);
                }
                if is_level {
                    self.above.groups.pop();
                }
                self.counts[group.id] = below;
                below
            }
        };
        if is_repeated {
            self.above.element_def.pop();
        }
        below
    }
}

/// Returns the repeated group of a map, its key and its value; `None` if `fields` do not have that form.
pub fn map_entries(fields: &[Node]) -> Option<(&Node, &Node, Option<&Node>)> {
    let [repeated] = fields else { return None };
    let NodeKind::Group(inner) = repeated.kind() else { return None };
    let (key, value) = match inner.as_slice() {
        [key] => (key, None),
        [key, value] => (key, Some(value)),
        _ => return None,
    };
    let is_one = |node: &Node| node.repetition() != Repetition::Repeated;
    (repeated.repetition() == Repetition::Repeated && is_one(key)).then_some((repeated, key, value))
}
