//! Lists and maps in the schema, and levels that agree: with themselves, and with those of the columns beside.

use super::Level;
use super::file::File;
use super::findings::Findings;
use super::rules::{Rule, Severity, rule};
use crate::logical_type::LogicalType;
use crate::schema::{Node, NodeKind, Repetition, Schema};
use marquetry_base::ErrorLocation;

const LIST: Rule = rule(
    "list-shape",
    Severity::Invalid,
    Level::Quick,
    "A LIST is a group of one repeated field",
    "LogicalTypes.md, Lists",
);
const LEGACY_LIST: Rule = rule(
    "list-legacy",
    Severity::Style,
    Level::Quick,
    "A LIST has the three levels and the names that the format gives them: list.element",
    "LogicalTypes.md, Lists, backward-compatibility rules",
);
const MAP: Rule = rule(
    "map-shape",
    Severity::Invalid,
    Level::Quick,
    "A MAP is a group of one repeated group of a key and at most one value",
    "LogicalTypes.md, Maps",
);
const MAP_KEY: Rule =
    rule("map-key", Severity::Invalid, Level::Quick, "The key of a MAP is required", "LogicalTypes.md, Maps");
const LEGACY_MAP: Rule = rule(
    "map-legacy",
    Severity::Style,
    Level::Quick,
    "A MAP is annotated as MAP and has the names that the format gives: key_value.key, key_value.value",
    "LogicalTypes.md, Maps, backward-compatibility rules",
);
const UNANNOTATED: Rule = rule(
    "repeated-unannotated",
    Severity::Style,
    Level::Quick,
    "Repeated fields are in a LIST or a MAP",
    "LogicalTypes.md, Lists",
);
pub(super) const NULL_KEY: Rule = rule(
    "map-key-null",
    Severity::Invalid,
    Level::Default,
    "No key of a MAP is null",
    "LogicalTypes.md, Maps",
);
pub(super) const FIRST: Rule = rule(
    "levels-first",
    Severity::Corrupt,
    Level::Default,
    "The first entry of a chunk begins a row",
    "README.md, Nested Encoding",
);
pub(super) const BOUNDARY: Rule = rule(
    "page-row-boundary",
    Severity::Invalid,
    Level::Default,
    "V2 pages, and pages that an offset index lists, begin with a row",
    "parquet.thrift, DataPageHeaderV2.num_rows, OffsetIndex",
);
pub(super) const CONTRADICT: Rule = rule(
    "levels-contradict",
    Severity::Corrupt,
    Level::Default,
    "Only a list that has elements goes on: a repetition level comes with the definition level of an element",
    "README.md, Nested Encoding",
);
const SIBLINGS: Rule = rule(
    "levels-siblings",
    Severity::Invalid,
    Level::Deep,
    "The columns of a group agree where the group is null, and how many elements its lists have",
    "README.md, Nested Encoding",
);

pub(super) const RULES: &[Rule] = &[
    LIST,
    LEGACY_LIST,
    MAP,
    MAP_KEY,
    LEGACY_MAP,
    UNANNOTATED,
    NULL_KEY,
    FIRST,
    BOUNDARY,
    CONTRADICT,
    SIBLINGS,
];

/// Checks the groups that lists and maps are made of.
pub(super) fn check_schema(file: &File, findings: &mut Findings<'_>) {
    let mut path = Vec::new();
    for node in file.metadata.schema().fields() {
        check_node(node, false, &mut path, findings);
    }
}

fn check_node<'a>(node: &'a Node, is_expected: bool, path: &mut Vec<&'a str>, findings: &mut Findings<'_>) {
    path.push(node.name());
    if node.repetition() == Repetition::Repeated && !is_expected {
        findings.add(&UNANNOTATED, place(path), || "a repeated field in no LIST or MAP".to_owned());
    }
    if let NodeKind::Group(fields) = node.kind() {
        let is_list = matches!(node.logical(), Some(LogicalType::List));
        // SPEC: MAP_KEY_VALUE alone is a map; old writers also put it on the repeated group inside of one.
        let is_map = matches!(node.logical(), Some(LogicalType::Map))
            || matches!(node.logical(), Some(LogicalType::MapKeyValue)) && !is_expected;
        if is_list {
            check_list(fields, path, findings);
        } else if is_map {
            check_map(node, fields, path, findings);
        }
        for field in fields {
            check_node(field, is_list || is_map, path, findings);
        }
    }
    path.pop();
}

fn check_list(fields: &[Node], path: &[&str], findings: &mut Findings<'_>) {
    let repeated = match fields {
        [only] if only.repetition() == Repetition::Repeated => only,
        _ => {
            findings.add(&LIST, place(path), || {
                format!("{} fields, none of them a list's only one", fields.len())
            });
            return;
        }
    };
    let legacy = match repeated.kind() {
        NodeKind::Leaf(_) => Some("two levels: the repeated field is the element".to_owned()),
        NodeKind::Group(inner) => match inner.as_slice() {
            [_] if repeated.name() != "list" => Some("the repeated group is not called list".to_owned()),
            [element] if element.name() != "element" => Some("the element is not called element".to_owned()),
            [element] if element.repetition() == Repetition::Repeated => {
                Some("two levels: the repeated group is the element".to_owned())
            }
            [_] => None,
            _ => Some("two levels: the repeated group is the element".to_owned()),
        },
    };
    if let Some(legacy) = legacy {
        findings.add(&LEGACY_LIST, place(path), || legacy);
    }
}

fn check_map(node: &Node, fields: &[Node], path: &[&str], findings: &mut Findings<'_>) {
    let Some((repeated, key, value)) = entries(fields) else {
        findings.add(&MAP, place(path), || "not one repeated group of a key and a value".to_owned());
        return;
    };
    if key.repetition() != Repetition::Required {
        findings.add(&MAP_KEY, place(path), || format!("the key is {}", key.repetition()));
    }
    let legacy = match () {
        () if !matches!(node.logical(), Some(LogicalType::Map)) => "annotated as MAP_KEY_VALUE",
        () if repeated.name() != "key_value" => "the repeated group is not called key_value",
        () if key.name() != "key" => "the key is not called key",
        () if value.is_some_and(|value| value.name() != "value") => "the value is not called value",
        () => return,
    };
    findings.add(&LEGACY_MAP, place(path), || legacy.to_owned());
}

/// The repeated group of a map, its key and its value.
fn entries(fields: &[Node]) -> Option<(&Node, &Node, Option<&Node>)> {
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

fn place(path: &[&str]) -> ErrorLocation {
    ErrorLocation { column: Some(path.join(".").into()), ..ErrorLocation::default() }
}

/// What the levels of a column mean, node by node.
#[derive(Debug, Clone, Default)]
pub(super) struct LeafShape {
    /// For each repetition level from 1 on: the least definition level of an element of that list.
    pub(super) element_def: Vec<u8>,
    /// The groups above that may be absent or repeated, and have other columns below them as well.
    groups: Vec<Group>,
    /// If this is the key of a map: the definition level of an entry.
    pub(super) key_of: Option<u8>,
}

#[derive(Debug, Clone, Copy)]
struct Group {
    /// Its number in the schema.
    id: usize,
    rep: u8,
    def: u8,
}

/// The shape of each column.
pub(super) fn shapes(schema: &Schema) -> Vec<LeafShape> {
    let mut shapes = Shapes {
        above: LeafShape::default(),
        leaves: vec![LeafShape::default(); schema.num_columns()],
        counts: Vec::new(),
    };
    for node in schema.fields() {
        shapes.visit(node, Group { id: 0, rep: 0, def: 0 }, Role::Other);
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
    fn visit(&mut self, node: &Node, parent: Group, role: Role) -> usize {
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
                let group = Group { id: self.counts.len(), rep, def };
                self.counts.push(0);
                let is_level = node.repetition() != Repetition::Required;
                if is_level {
                    self.above.groups.push(group);
                }
                let is_map = matches!(node.logical(), Some(LogicalType::Map | LogicalType::MapKeyValue))
                    && entries(fields).is_some();
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

/// For each group above a column: a hash of where it is absent and where its lists begin.
pub(super) type Signatures = Vec<(usize, u64)>;

/// Takes the levels of a column as they are read, and hashes what the columns of each group must agree on.
#[derive(Debug)]
pub(super) struct Siblings {
    groups: Vec<(Group, u64)>,
}

impl Siblings {
    pub(super) fn new(shape: &LeafShape) -> Self {
        Siblings { groups: shape.groups.iter().map(|group| (*group, SEED)).collect() }
    }

    pub(super) fn add(&mut self, rep: &[u8], def: &[u8]) {
        for (group, hash) in &mut self.groups {
            let mut state = *hash;
            let mut add = |rep: u8, def: u8| {
                let word = u64::from(rep) << 8 | u64::from(def.min(group.def));
                state = (state ^ word).wrapping_mul(PRIME).rotate_left(23);
            };
            match rep.is_empty() {
                true => def.iter().for_each(|def| add(0, *def)),
                false => {
                    let entries = rep.iter().zip(def).filter(|(rep, _)| **rep <= group.rep);
                    entries.for_each(|(rep, def)| add(*rep, *def));
                }
            }
            *hash = state;
        }
    }

    pub(super) fn finish(self) -> Signatures {
        self.groups.into_iter().map(|(group, hash)| (group.id, hash)).collect()
    }
}

/// Holds the columns of a row group against each other.
pub(super) fn check_siblings(
    file: &File,
    row_group: usize,
    signatures: Vec<(usize, Signatures)>,
    findings: &mut Findings<'_>,
) {
    // Of each group, the first column below it and what that one says.
    let mut first = std::collections::BTreeMap::new();
    for (column, groups) in signatures {
        for (id, hash) in groups {
            let (other, expected) = *first.entry(id).or_insert((column, hash));
            if expected != hash {
                findings.add(&SIBLINGS, file.place(row_group, column), || {
                    format!("not nested as column {} in the same group", file.leaf(other).dotted())
                });
                // Groups further in differ as well then.
                break;
            }
        }
    }
}

const SEED: u64 = 0x9e37_79b9_7f4a_7c15;
const PRIME: u64 = 0xff51_afd7_ed55_8ccd;
