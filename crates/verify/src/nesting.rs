//! Checks the shape of lists and maps in the schema, and that the columns of a group are nested in the same way.

use crate::context::VerifyContext;
use crate::findings::Findings;
use crate::rule::{Level, Rule, Severity, rule};
use marquetry_base::ErrorLocation;
use marquetry_core::logical_type::LogicalType;
use marquetry_core::nesting::{Signatures, disagreeing, map_entries};
use marquetry_core::schema::{Node, NodeKind, Repetition};

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
pub(crate) const NULL_KEY: Rule = rule(
    "map-key-null",
    Severity::Invalid,
    Level::Default,
    "No key of a MAP is null",
    "LogicalTypes.md, Maps",
);
pub(crate) const FIRST: Rule = rule(
    "levels-first",
    Severity::Corrupt,
    Level::Default,
    "The first entry of a chunk begins a row",
    "README.md, Nested Encoding",
);
pub(crate) const BOUNDARY: Rule = rule(
    "page-row-boundary",
    Severity::Invalid,
    Level::Default,
    "V2 pages, and pages that an offset index lists, begin with a row",
    "parquet.thrift, DataPageHeaderV2.num_rows, OffsetIndex",
);
pub(crate) const CONTRADICT: Rule = rule(
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

pub(crate) const RULES: &[Rule] = &[
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

/// Checks the groups that make up lists and maps.
pub(crate) fn check_schema(file: &VerifyContext, findings: &mut Findings) {
    let mut path = Vec::new();
    for node in file.metadata.schema().fields() {
        check_node(node, false, &mut path, findings);
    }
}

fn check_node<'a>(node: &'a Node, is_expected: bool, path: &mut Vec<&'a str>, findings: &mut Findings) {
    path.push(node.name());
    if node.repetition() == Repetition::Repeated && !is_expected {
        findings.add(&UNANNOTATED, place(path), || "a repeated field in no LIST or MAP".to_owned());
    }
    if let NodeKind::Group(fields) = node.kind() {
        let is_list = matches!(node.logical(), Some(LogicalType::List));
        // SPEC: MAP_KEY_VALUE alone is a map. Old writers also put it on the repeated group inside a map.
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

fn check_list(fields: &[Node], path: &[&str], findings: &mut Findings) {
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

fn check_map(node: &Node, fields: &[Node], path: &[&str], findings: &mut Findings) {
    let Some((repeated, key, value)) = map_entries(fields) else {
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

fn place(path: &[&str]) -> ErrorLocation {
    ErrorLocation::default().with_column(path.join("."))
}

/// Compares the nesting of the columns of a row group.
pub(crate) fn check_siblings(
    file: &VerifyContext,
    row_group: usize,
    signatures: Vec<(usize, Signatures)>,
    findings: &mut Findings,
) {
    for (column, other) in disagreeing(signatures) {
        findings.add(&SIBLINGS, file.place(row_group, column), || {
            format!("not nested as column {} in the same group", file.leaf(other).dotted())
        });
    }
}
