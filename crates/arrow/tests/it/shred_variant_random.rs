//! Whatever VARIANT is shredded into whatever shape comes back as it was, in memory and through a file.
//!
//! `MARQUETRY_SHRED_CASES` is the number of random tables, 200 if it is not set.

use crate::shred_variant::{Rows, array, json_of, rows_of, stored, texts, variant_field};
use arrow_array::RecordBatch;
use arrow_array::cast::AsArray;
use arrow_schema::Schema;
use marquetry_arrow::variant::{BatchShredder, Shredder, Shreddings, VariantColumn};
use marquetry_variant::{Decimal, PrimitiveType, Shredding, Value, Variant, Writer};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A value that owns what it holds.
#[derive(Debug, Clone)]
enum Tree {
    Null,
    Boolean(bool),
    Integer(i64),
    Wide(i64),
    Double(f64),
    Float(f32),
    Decimal(i64, u8),
    WideDecimal(i128, u8),
    Ticks(u8, i32),
    Binary(Vec<u8>),
    Text(String),
    Uuid([u8; 16]),
    Object(BTreeMap<String, Tree>),
    Array(Vec<Tree>),
}

fn write(tree: &Tree, writer: &mut Writer) {
    let value = match tree {
        Tree::Null => Value::Null,
        Tree::Boolean(value) => Value::Boolean(*value),
        Tree::Integer(number) => {
            match (i8::try_from(*number), i16::try_from(*number), i32::try_from(*number)) {
                (Ok(number), ..) => Value::Int8(number),
                (_, Ok(number), _) => Value::Int16(number),
                (.., Ok(number)) => Value::Int32(number),
                _ => Value::Int64(*number),
            }
        }
        Tree::Wide(number) => Value::Int64(*number),
        Tree::Double(number) => Value::Double(*number),
        Tree::Float(number) => Value::Float(*number),
        Tree::Decimal(unscaled, scale) if unscaled.unsigned_abs() < 1_000_000_000 => {
            Value::Decimal4(Decimal { unscaled: (*unscaled).into(), scale: *scale })
        }
        Tree::Decimal(unscaled, scale) => {
            Value::Decimal8(Decimal { unscaled: (*unscaled).into(), scale: *scale })
        }
        Tree::WideDecimal(unscaled, scale) => {
            Value::Decimal16(Decimal { unscaled: *unscaled, scale: *scale })
        }
        Tree::Ticks(0, ticks) => Value::Date(*ticks),
        Tree::Ticks(1, ticks) => Value::Time(i64::from(ticks.unsigned_abs())),
        Tree::Ticks(2, ticks) => Value::TimestampMicros((*ticks).into()),
        Tree::Ticks(3, ticks) => Value::LocalTimestampMicros((*ticks).into()),
        Tree::Ticks(4, ticks) => Value::TimestampNanos((*ticks).into()),
        Tree::Ticks(_, ticks) => Value::LocalTimestampNanos((*ticks).into()),
        Tree::Binary(bytes) => Value::Binary(bytes),
        Tree::Text(text) => Value::String(text),
        Tree::Uuid(bytes) => Value::Uuid(bytes),
        Tree::Object(fields) => {
            writer.begin_object().unwrap();
            for (name, field) in fields {
                writer.field(name).unwrap();
                write(field, writer);
            }
            return writer.end().unwrap();
        }
        Tree::Array(elements) => {
            writer.begin_array().unwrap();
            elements.iter().for_each(|element| write(element, writer));
            return writer.end().unwrap();
        }
    };
    writer.write(&value).unwrap();
}

fn tree() -> impl Strategy<Value = Tree> {
    let leaf = prop_oneof![
        Just(Tree::Null),
        any::<bool>().prop_map(Tree::Boolean),
        (-200..200_i64).prop_map(Tree::Integer),
        any::<i64>().prop_map(Tree::Integer),
        (-200..200_i64).prop_map(Tree::Wide),
        any::<f64>().prop_map(Tree::Double),
        any::<f32>().prop_map(Tree::Float),
        (-2_000_000_000..2_000_000_000_i64, 0..4_u8)
            .prop_map(|(unscaled, scale)| Tree::Decimal(unscaled, scale)),
        (-(10_i128.pow(37))..10_i128.pow(37), 0..=38_u8)
            .prop_map(|(unscaled, scale)| Tree::WideDecimal(unscaled, scale)),
        (0..6_u8, any::<i32>()).prop_map(|(kind, ticks)| Tree::Ticks(kind, ticks)),
        prop::collection::vec(any::<u8>(), 0..20).prop_map(Tree::Binary),
        "\\PC{0,20}".prop_map(Tree::Text),
        any::<[u8; 16]>().prop_map(Tree::Uuid),
    ];
    leaf.prop_recursive(4, 24, 5, |inner| {
        prop_oneof![
            prop::collection::btree_map("[abcé ]{0,1}", inner.clone(), 0..4).prop_map(Tree::Object),
            prop::collection::vec(inner, 0..4).prop_map(Tree::Array),
        ]
    })
}

/// Shapes of the names that values have.
fn shape() -> impl Strategy<Value = Shredding> {
    let primitive = prop_oneof![
        Just(PrimitiveType::Boolean),
        Just(PrimitiveType::Int8),
        Just(PrimitiveType::Int16),
        Just(PrimitiveType::Int32),
        Just(PrimitiveType::Int64),
        Just(PrimitiveType::Float),
        Just(PrimitiveType::Double),
        (1..=38_u8).prop_flat_map(|precision| {
            (0..=precision.min(4)).prop_map(move |scale| PrimitiveType::Decimal { precision, scale })
        }),
        Just(PrimitiveType::Date),
        Just(PrimitiveType::Time),
        Just(PrimitiveType::TimestampMicros),
        Just(PrimitiveType::LocalTimestampMicros),
        Just(PrimitiveType::TimestampNanos),
        Just(PrimitiveType::LocalTimestampNanos),
        Just(PrimitiveType::Binary),
        Just(PrimitiveType::String),
        Just(PrimitiveType::Uuid),
    ];
    let leaf = prop_oneof![1 => Just(Shredding::Variant), 8 => primitive.prop_map(Shredding::Primitive)];
    leaf.prop_recursive(4, 16, 4, |inner| {
        prop_oneof![
            3 => prop::collection::btree_map("[abcé ]{0,1}", inner.clone(), 1..4).prop_map(Shredding::Object),
            1 => inner.prop_map(|element| Shredding::Array(Box::new(element))),
        ]
    })
}

fn is_same(found: &Rows, expected: &Rows) -> bool {
    found.len() == expected.len()
        && found.iter().zip(expected).all(|pair| match pair {
            (Some((metadata, value)), Some((other_metadata, other_value))) => {
                let (one, other) =
                    (Variant::new(metadata, value).unwrap(), Variant::new(other_metadata, other_value));
                one.is_same(&other.unwrap()).unwrap()
            }
            (found, expected) => found.is_none() && expected.is_none(),
        })
}

fn cases() -> ProptestConfig {
    let asked = std::env::var("MARQUETRY_SHRED_CASES").ok().and_then(|cases| cases.parse().ok());
    ProptestConfig { cases: asked.unwrap_or(200), failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn whatever_is_shredded_comes_back(
        trees in prop::collection::vec(prop::option::weighted(0.9, tree()), 0..8),
        shape in shape(),
        other in shape(),
    ) {
        let rows: Rows = trees.iter().map(|tree| tree.as_ref().map(|tree| {
            let mut writer = Writer::new();
            write(tree, &mut writer);
            writer.finish().unwrap()
        })).collect();
        let unshredded = array(&rows);
        let column = VariantColumn::try_new(&unshredded).unwrap();

        // To the bit.
        let exact = Shredder::new(&shape).unwrap().with_exact_widths(true);
        let shredded = exact.shred(&column).unwrap();
        prop_assert!(is_same(&rows_of(&shredded), &rows));

        // As numbers, through a file, and into another shape, and back.
        let schema = Arc::new(Schema::new(vec![variant_field("v")]));
        let batch = RecordBatch::try_new(schema.clone(), vec![Arc::new(unshredded.clone())]).unwrap();
        let shredder = BatchShredder::new(schema, &Shreddings::new().with_column("v", shape.clone())).unwrap();
        let batch = shredder.shred(&batch).unwrap();
        let batch = if rows.is_empty() { batch } else { stored(&batch) };
        let found = batch.column(0).as_struct();
        prop_assert_eq!(texts(&rows_of(found)), texts(&rows));
        let again = Shredder::new(&other).unwrap().shred(&VariantColumn::try_new(found).unwrap()).unwrap();
        prop_assert_eq!(texts(&rows_of(&again)), texts(&rows));
        let back = VariantColumn::try_new(&again).unwrap().unshredded().unwrap();
        prop_assert_eq!(texts(&rows_of(&back)), texts(&rows));

        // JSON out of the columns is that of what is put together.
        for array in [found, &again, &back] {
            prop_assert_eq!(json_of(array), texts(&rows_of(array)));
        }
    }

    #[test]
    fn bytes_that_are_wrong_are_an_error_or_a_value(
        tree in tree(),
        shape in shape(),
        (at, flipped) in (any::<prop::sample::Index>(), 1_u8..),
        in_metadata in any::<bool>(),
    ) {
        let mut writer = Writer::new();
        write(&tree, &mut writer);
        let (mut metadata, mut value) = writer.finish().unwrap();
        let bytes = if in_metadata { &mut metadata } else { &mut value };
        let at = at.index(bytes.len());
        bytes[at] ^= flipped;
        let rows = vec![Some((metadata, value))];
        if let Ok(shredded) = Shredder::new(&shape).unwrap().shred(&VariantColumn::try_new(&array(&rows)).unwrap()) {
            let column = VariantColumn::try_new(&shredded).unwrap();
            let mut reader = column.reader();
            if let Ok(Some(variant)) = reader.get(0) {
                let _ = variant.validate();
            }
        }
    }
}
