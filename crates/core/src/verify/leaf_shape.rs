//! What the levels of each column mean: lists, groups that may be absent, keys of maps.

use crate::logical_type::LogicalType;
use crate::schema::{Node, NodeKind, Repetition, Schema};

/// What the levels of a column mean, node by node.
#[derive(Debug, Clone, Default)]
pub(super) struct LeafShape {
    /// For each repetition level from 1 on: the least definition level of an element of that list.
    pub(super) element_def: Vec<u8>,
    /// The groups above that may be absent or repeated, and have other columns below them as well.
    pub(super) groups: Vec<LevelGroup>,
    /// If this is the key of a map: the definition level of an entry.
    pub(super) key_of: Option<u8>,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct LevelGroup {
    /// Its number in the schema.
    pub(super) id: usize,
    pub(super) rep: u8,
    pub(super) def: u8,
}

/// The shape of each column.
pub(super) fn leaf_shapes(schema: &Schema) -> Vec<LeafShape> {
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

/// What a node is in a map.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    /// The repeated group of key and value.
    Entries,
    /// The key of entries that have this definition level.
    Key(u8),
    Other,
}

struct Shapes {
    above: LeafShape,
    leaves: Vec<LeafShape>,
    /// How many columns are below each group.
    counts: Vec<usize>,
}

impl Shapes {
    /// Returns how many columns are below `node`, itself included.
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

/// The repeated group of a map, its key and its value.
pub(super) fn map_entries(fields: &[Node]) -> Option<(&Node, &Node, Option<&Node>)> {
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
