//! Slots, nulls and list offsets of every field, against a model that walks the nested data themselves.

use crate::chunk::data::Random;
use crate::chunk::file::root;
use crate::chunk::model::{Datum, Node, ShreddedColumn, Style};
use marquetry_base::Limits;
use marquetry_core::nesting::{FieldKind, LeafLevels, NestedField, RepetitionSlice};
use marquetry_core::read::{ReadTarget, ValueLayout};
use marquetry_core::schema::Schema;
use marquetry_encoding::{Bitmap, PhysicalType};
use marquetry_format::Repetition;
use proptest::prelude::*;
use std::time::{Duration, Instant};

/// A schema of one field, its data, and what they shred to.
struct Sample {
    schema: Schema,
    shredded: Vec<ShreddedColumn>,
}

impl Sample {
    fn new(node: &Node, rows: &[Datum]) -> Sample {
        let mut elements = vec![root(1)];
        node.schema("c", Repetition::REQUIRED, PhysicalType::Int32, &mut elements);
        Sample {
            schema: Schema::from_thrift(&elements, &Limits::default()).unwrap(),
            shredded: node.shred(rows),
        }
    }

    /// Levels of a leaf; without definition levels if a reader does not keep them for this leaf.
    fn slots(&self, root: &NestedField, leaf: usize, is_leaf: bool) -> LeafLevels<'_> {
        let shredded = &self.shredded[leaf];
        let target = ReadTarget::new(self.schema.column(leaf), root, leaf, ValueLayout::Native);
        let is_flat = target.max_rep == 0;
        let keeps_def = target.keep_levels || !is_flat || is_leaf;
        LeafLevels {
            def: if keeps_def { &shredded.def } else { &[] },
            rep: RepetitionSlice::Bytes(if is_flat { &[] } else { &shredded.rep }),
            len: shredded.def.len(),
            max_rep: if is_flat { u8::MAX } else { target.max_rep },
        }
    }

    /// Holds `field` against `data`: one datum for each slot, `None` where an ancestor is null.
    fn check(
        &self,
        root: &NestedField,
        field: &NestedField,
        node: &Node,
        data: &[Option<&Datum>],
    ) -> Result<(), TestCaseError> {
        let is_nullable = matches!(node, Node::Optional(_));
        prop_assert_eq!(field.nullable, is_nullable, "{}", field.name);
        let (node, data) = match node {
            Node::Optional(inner) => {
                let data = data.iter().map(|datum| datum.filter(|datum| **datum != Datum::Null));
                (&**inner, data.collect())
            }
            node => (node, data.to_vec()),
        };
        let validity: Bitmap = data.iter().map(Option::is_some).collect();
        let validity = data.iter().any(Option::is_none).then_some(validity);
        let mut leaves = Vec::new();
        field.leaves(&mut leaves);
        prop_assert_eq!(leaves.first(), Some(&field.first_leaf()));
        prop_assert_eq!(leaves.len(), node.leaves());
        for &leaf in &leaves {
            let slots = self.slots(root, leaf, matches!(node, Node::Leaf));
            prop_assert_eq!(slots.count(field), data.len(), "slots of {}", field.name);
            prop_assert_eq!(slots.validity(field), validity.clone(), "validity of {}", field.name);
        }
        match (node, &field.kind) {
            (Node::Leaf, FieldKind::Leaf(_)) => Ok(()),
            (Node::Struct(nodes), FieldKind::Struct(fields)) => self.check_struct(root, fields, nodes, &data),
            (Node::List(element, style), FieldKind::List(inner) | FieldKind::Map(inner)) => {
                prop_assert_eq!(*style == Style::Map, matches!(field.kind, FieldKind::Map(_)));
                self.check_list(root, (field, inner), element, &data)
            }
            (node, kind) => Err(TestCaseError::fail(format!("{node:?} became {kind:?}"))),
        }
    }

    fn check_struct(
        &self,
        root: &NestedField,
        fields: &[NestedField],
        nodes: &[Node],
        data: &[Option<&Datum>],
    ) -> Result<(), TestCaseError> {
        prop_assert_eq!(fields.len(), nodes.len());
        for (i, (field, node)) in fields.iter().zip(nodes).enumerate() {
            // What is never null itself has no value where the struct is null.
            let column: Vec<_> = data.iter().map(|datum| field_of(*datum, i)).collect();
            self.check(root, field, node, &column)?;
        }
        Ok(())
    }

    fn check_list(
        &self,
        root: &NestedField,
        (list, inner): (&NestedField, &NestedField),
        element: &Node,
        data: &[Option<&Datum>],
    ) -> Result<(), TestCaseError> {
        let mut offsets = vec![0];
        let mut elements = Vec::new();
        for datum in data {
            if let Some(Datum::List(data)) = datum {
                elements.extend(data.iter().map(Some));
            }
            offsets.push(elements.len() as i32);
        }
        let validity: Bitmap = data.iter().map(Option::is_some).collect();
        let mut leaves = Vec::new();
        list.leaves(&mut leaves);
        for leaf in leaves {
            let found = self.slots(root, leaf, false).list(list, inner).unwrap();
            prop_assert_eq!(found.offsets(), offsets.as_slice(), "offsets of {}", list.name);
            let expected = data.iter().any(Option::is_none).then(|| validity.clone());
            prop_assert_eq!(found.validity().cloned(), expected);
        }
        self.check(root, inner, element, &elements)
    }
}

fn field_of(datum: Option<&Datum>, i: usize) -> Option<&Datum> {
    match datum {
        Some(Datum::Struct(data)) => data.get(i),
        _ => None,
    }
}

fn check(node: &Node, rows: &[Datum]) -> Result<(), TestCaseError> {
    let sample = Sample::new(node, rows);
    let fields = NestedField::from_schema(&sample.schema);
    prop_assert_eq!(fields.len(), 1);
    let data: Vec<_> = rows.iter().map(Some).collect();
    sample.check(&fields[0], &fields[0], node, &data)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_field_has_the_slots_of_its_data(seed in any::<u64>(), rows in 0usize..60) {
        let mut random = Random(seed);
        let node = Node::random(&mut random, 4, 3);
        let data: Vec<_> = (0..rows).map(|_| node.datum(&mut random)).collect();
        check(&node, &data)?;
    }
}

/// An optional list of optional structs of an optional list of optional values: every kind of absence there is.
#[test]
fn every_kind_of_absence() {
    let optional = |node| Node::Optional(Box::new(node));
    let list = |node| Node::List(Box::new(node), Style::Three);
    let node = optional(list(optional(Node::Struct(vec![optional(list(optional(Node::Leaf))), Node::Leaf]))));
    let entry = |datum| Datum::Struct(vec![datum, Datum::Value(7)]);
    let rows = [
        Datum::Null,
        Datum::List(vec![]),
        Datum::List(vec![Datum::Null]),
        Datum::List(vec![entry(Datum::Null)]),
        Datum::List(vec![entry(Datum::List(vec![])), Datum::Null]),
        Datum::List(vec![entry(Datum::List(vec![Datum::Null, Datum::Value(1)]))]),
    ];
    let sample = Sample::new(&node, &rows);
    assert_eq!(sample.shredded[0].def, [0, 1, 2, 3, 4, 2, 5, 6]);
    assert_eq!(sample.shredded[0].rep, [0, 0, 0, 0, 0, 1, 0, 2]);
    assert_eq!(sample.shredded[1].def, [0, 1, 2, 3, 3, 2, 3]);
    check(&node, &rows).unwrap();
}

#[test]
fn no_rows_have_no_slots() {
    for depth in 0..5 {
        let node = (0..depth)
            .fold(Node::Leaf, |node, _| Node::Optional(Box::new(Node::List(Box::new(node), Style::Three))));
        check(&node, &[]).unwrap();
    }
}

/// Finding where each leaf of a struct is takes no longer than there are fields: looking at all of them for each would be minutes.
#[test]
fn leaves_of_a_wide_struct_are_found_at_once() {
    const FIELDS: usize = 200_000;
    let fields: String = (0..FIELDS).map(|i| format!("optional int32 f{i};")).collect();
    let schema =
        Schema::parse(&format!("message m {{ optional group s {{ {fields} }} required int32 last; }}"))
            .unwrap();
    let fields = NestedField::from_schema(&schema);
    let FieldKind::Struct(below) = &fields[0].kind else { unreachable!() };
    let start = Instant::now();
    for leaf in 0..FIELDS {
        assert!(fields[0].has_leaf(leaf) && NestedField::place_of(below, leaf) == Some(leaf));
        let target = ReadTarget::new(schema.column(leaf), &fields[0], leaf, ValueLayout::Native);
        assert!(target.keep_levels);
    }
    assert!(!fields[0].has_leaf(FIELDS) && NestedField::place_of(&fields, FIELDS) == Some(1));
    let some = fields[0].project(&|leaf| leaf % 3 == 1).unwrap();
    assert!(!some.has_leaf(0) && some.has_leaf(1) && !some.has_leaf(2) && some.has_leaf(4));
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
}
