//! Random nested schemas and data, and what they shred to, as simply as can be.

use super::data::Random;
use super::file::{group, leaf};
use marquetry_encoding::PhysicalType;
use marquetry_format::{ConvertedType, Repetition, SchemaElement};

/// A nested type.
#[derive(Debug, Clone)]
pub(crate) enum Node {
    Leaf,
    /// Never of another optional.
    Optional(Box<Node>),
    List(Box<Node>, Style),
    /// Never of no fields.
    Struct(Vec<Node>),
}

/// How a list stands in the schema. Levels are the same in all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    /// A LIST group of a repeated group of an element.
    Three,
    /// A LIST group of a repeated element.
    Two,
    /// A repeated element.
    Bare,
    /// A MAP group of a repeated group of key and value.
    Map,
}

/// A nested value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Datum {
    Null,
    Value(u64),
    List(Vec<Datum>),
    Struct(Vec<Datum>),
}

/// What one leaf shreds to.
#[derive(Debug, Clone, Default)]
pub(crate) struct ShreddedColumn {
    pub(crate) def: Vec<u8>,
    pub(crate) rep: Vec<u8>,
    pub(crate) words: Vec<u64>,
}

impl Node {
    /// A random type of at most `depth` levels of lists and structs; `width` is the most fields of a struct.
    pub(crate) fn random(random: &mut Random, depth: usize, width: usize) -> Node {
        Node::random_in(random, depth, width, true)
    }

    fn random_in(random: &mut Random, depth: usize, width: usize, may_be_bare: bool) -> Node {
        if random.one_in(2) {
            return Node::Optional(Box::new(Node::present(random, depth, width, false)));
        }
        Node::present(random, depth, width, may_be_bare)
    }

    fn present(random: &mut Random, depth: usize, width: usize, may_be_bare: bool) -> Node {
        if depth == 0 || random.one_in(4) {
            return Node::Leaf;
        }
        if random.one_in(3) {
            let fields =
                (0..1 + random.below(width)).map(|_| Node::random_in(random, depth - 1, width, true));
            return Node::Struct(fields.collect());
        }
        if width > 1 && random.one_in(4) {
            let entry = vec![Node::Leaf, Node::random_in(random, depth - 1, width, true)];
            return Node::List(Box::new(Node::Struct(entry)), Style::Map);
        }
        let element = Node::random_in(random, depth - 1, width, false);
        let style = match (&element, random.below(3)) {
            (Node::Optional(_), _) | (_, 0) => Style::Three,
            (_, 1) if may_be_bare => Style::Bare,
            _ => Style::Two,
        };
        Node::List(Box::new(element), style)
    }

    /// Appends the schema of a field of this type.
    pub(crate) fn schema(
        &self,
        name: &str,
        repetition: Repetition,
        physical: PhysicalType,
        out: &mut Vec<SchemaElement>,
    ) {
        match self {
            Node::Leaf => out.push(leaf(name, repetition, physical)),
            Node::Optional(inner) => inner.schema(name, Repetition::OPTIONAL, physical, out),
            Node::Struct(fields) => {
                out.push(group(name, repetition, fields.len()));
                for (i, field) in fields.iter().enumerate() {
                    field.schema(&format!("f{i}"), Repetition::REQUIRED, physical, out);
                }
            }
            Node::List(element, Style::Bare) => element.schema(name, Repetition::REPEATED, physical, out),
            Node::List(element, style) => {
                let annotation = if *style == Style::Map { ConvertedType::MAP } else { ConvertedType::LIST };
                out.push(SchemaElement { converted_type: Some(annotation), ..group(name, repetition, 1) });
                match style {
                    Style::Three => {
                        out.push(group("list", Repetition::REPEATED, 1));
                        element.schema("element", Repetition::REQUIRED, physical, out);
                    }
                    Style::Two => element.schema("array", Repetition::REPEATED, physical, out),
                    _ => element.schema("key_value", Repetition::REPEATED, physical, out),
                }
            }
        }
    }

    pub(crate) fn leaves(&self) -> usize {
        match self {
            Node::Leaf => 1,
            Node::Optional(inner) | Node::List(inner, _) => inner.leaves(),
            Node::Struct(fields) => fields.iter().map(Node::leaves).sum(),
        }
    }

    /// A random value of this type.
    pub(crate) fn datum(&self, random: &mut Random) -> Datum {
        match self {
            Node::Leaf => match random.one_in(4) {
                true => Datum::Value(random.word()),
                false => Datum::Value(random.word() % 40),
            },
            Node::Optional(_) if random.one_in(4) => Datum::Null,
            Node::Optional(inner) => inner.datum(random),
            Node::Struct(fields) => Datum::Struct(fields.iter().map(|field| field.datum(random)).collect()),
            Node::List(element, _) => {
                let len = random.pick(&[0, 0, 1, 1, 2, 3, 5]);
                Datum::List((0..len).map(|_| element.datum(random)).collect())
            }
        }
    }

    /// Shreds `rows`: one result for each leaf.
    pub(crate) fn shred(&self, rows: &[Datum]) -> Vec<ShreddedColumn> {
        let mut out = vec![ShreddedColumn::default(); self.leaves()];
        for row in rows {
            self.shred_one(row, At::default(), &mut out);
        }
        out
    }

    fn shred_one(&self, datum: &Datum, at: At, out: &mut [ShreddedColumn]) {
        match (self, datum) {
            (Node::Leaf, Datum::Value(word)) => {
                at.push(out);
                out[0].words.push(*word);
            }
            (Node::Optional(_), Datum::Null) => at.push(out),
            (Node::Optional(inner), datum) => inner.shred_one(datum, At { def: at.def + 1, ..at }, out),
            (Node::Struct(fields), Datum::Struct(data)) => {
                let mut rest = out;
                for (field, datum) in fields.iter().zip(data) {
                    let (own, others) = rest.split_at_mut(field.leaves());
                    field.shred_one(datum, at, own);
                    rest = others;
                }
            }
            (Node::List(_, _), Datum::List(data)) if data.is_empty() => at.push(out),
            (Node::List(element, _), Datum::List(data)) => {
                for (i, datum) in data.iter().enumerate() {
                    let inside = At {
                        def: at.def + 1,
                        rep: if i == 0 { at.rep } else { at.lists + 1 },
                        lists: at.lists + 1,
                    };
                    element.shred_one(datum, inside, out);
                }
            }
            (node, datum) => unreachable!("{datum:?} is not a valid {node:?}"),
        }
    }

    /// The slots of the first leaf: a word, or nothing where it is null.
    pub(crate) fn slots(&self, datum: Option<&Datum>, out: &mut Vec<Option<u64>>) {
        let datum = datum.filter(|datum| **datum != Datum::Null);
        match (self, datum) {
            (Node::Leaf, Some(Datum::Value(word))) => out.push(Some(*word)),
            (Node::Leaf, _) => out.push(None),
            (Node::Optional(inner), datum) => inner.slots(datum, out),
            (Node::Struct(fields), Some(Datum::Struct(data))) => fields[0].slots(data.first(), out),
            (Node::Struct(fields), _) => fields[0].slots(None, out),
            (Node::List(element, _), Some(Datum::List(data))) => {
                data.iter().for_each(|datum| element.slots(Some(datum), out));
            }
            // A list that is absent has no elements.
            (Node::List(..), _) => {}
        }
    }
}

/// Where in a row shredding is.
#[derive(Clone, Copy, Default)]
struct At {
    def: u8,
    rep: u8,
    /// Lists entered.
    lists: u8,
}

impl At {
    fn push(self, out: &mut [ShreddedColumn]) {
        for leaf in out {
            leaf.def.push(self.def);
            leaf.rep.push(self.rep);
        }
    }
}
