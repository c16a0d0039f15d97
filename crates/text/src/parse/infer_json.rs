//! Infers the types of the members of JSON objects.

use super::infer_number::{Decimals, Numbers};
use super::json_form::{Expected, ExpectedMembers};
use crate::variant_field::variant_field;
use arrow_schema::{DataType, Field, Fields};
use serde_json::Value;
use std::collections::HashMap;
use std::sync::Arc;

/// The treatment of JSON values that have no type in common.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Mixed {
    /// Objects and lists beside other values are an error; numbers, true and false beside text become text.
    #[default]
    Error,
    /// All become text, objects and lists as their JSON. So do objects that never have a member.
    Text,
    /// All become VARIANT and keep what they are. So do objects that never have a member, and values that are always
    /// null. A missing member is NULL, and `null` is a variant.
    Variant,
}

/// What the values so far have in common.
#[derive(Debug, Clone, Default)]
enum Shape {
    /// Only nulls, or no values.
    #[default]
    Nothing,
    Bool,
    Number(Numbers),
    Text,
    /// Values of several kinds, none of them nested, which are kept as texts; or a number that no type holds.
    Mixture,
    /// Nested values beside others. Only callers that ask for text get their JSON.
    NestedMixture,
    List(Box<Shape>),
    Object(Members),
}

/// The members of objects, in the order of their first occurrence.
#[derive(Debug, Clone, Default)]
pub struct Members {
    names: HashMap<String, usize>,
    members: Vec<(String, Shape)>,
}

impl Members {
    /// Takes an object into account.
    pub fn add(&mut self, object: &serde_json::Map<String, Value>, decimals: Decimals) {
        for (name, value) in object {
            let at = match self.names.get(name) {
                Some(at) => *at,
                None => {
                    self.names.insert(name.clone(), self.members.len());
                    self.members.push((name.clone(), Shape::Nothing));
                    self.members.len() - 1
                }
            };
            self.members[at].1.add(value, decimals);
        }
    }

    /// Returns the expected form of later objects.
    pub fn expected(&self, mixed: Mixed) -> Vec<Expected> {
        self.members.iter().map(|(_, shape)| shape.expected(mixed)).collect()
    }

    /// Returns a field for each member. All are nullable: later objects may lack them.
    pub fn fields(&self, mixed: Mixed) -> Fields {
        self.members.iter().map(|(name, shape)| shape.field(name, mixed)).collect()
    }
}

impl Shape {
    fn add(&mut self, value: &Value, decimals: Decimals) {
        match (&mut *self, value) {
            (_, Value::Null)
            | (Shape::Bool, Value::Bool(_))
            | (Shape::Text, Value::String(_))
            | (Shape::NestedMixture, _) => {}
            (Shape::List(element), Value::Array(values)) => {
                values.iter().for_each(|value| element.add(value, decimals))
            }
            (Shape::Object(members), Value::Object(object)) => members.add(object, decimals),
            (Shape::Nothing, value) => *self = Shape::of(value, decimals),
            (Shape::Number(numbers), Value::Number(number)) => {
                let number = Numbers::of(&number.to_string(), decimals);
                *self = Shape::of_numbers(number.map(|number| numbers.and(number)));
            }
            // These kinds have no type in common.
            (Shape::List(_) | Shape::Object(_), _) | (_, Value::Array(_) | Value::Object(_)) => {
                *self = Shape::NestedMixture;
            }
            _ => *self = Shape::Mixture,
        }
    }

    fn of(value: &Value, decimals: Decimals) -> Shape {
        match value {
            Value::Null => Shape::Nothing,
            Value::Bool(_) => Shape::Bool,
            Value::Number(number) => Shape::of_numbers(Numbers::of(&number.to_string(), decimals)),
            Value::String(_) => Shape::Text,
            Value::Array(values) => {
                let mut element = Shape::Nothing;
                values.iter().for_each(|value| element.add(value, decimals));
                Shape::List(Box::new(element))
            }
            Value::Object(object) => {
                let mut members = Members::default();
                members.add(object, decimals);
                Shape::Object(members)
            }
        }
    }

    /// Numbers that no type holds completely keep their digits as text.
    fn of_numbers(numbers: Option<Numbers>) -> Shape {
        numbers.filter(|numbers| numbers.data_type().is_some()).map_or(Shape::Mixture, Shape::Number)
    }

    fn expected(&self, mixed: Mixed) -> Expected {
        match self {
            _ if self.is_variant(mixed) => Expected::Variant,
            _ if mixed == Mixed::Text && self.is_text(mixed) => {
                Expected::Scalar { takes_bare: true, takes_nested: true }
            }
            Shape::List(element) => Expected::List(Box::new(element.expected(mixed))),
            Shape::Object(Members { members, .. }) => {
                let members = members.iter().map(|(name, shape)| (name.clone(), shape.expected(mixed)));
                Expected::Object(ExpectedMembers::new(members))
            }
            // Before anything was seen, a later number would lose its kind as text.
            Shape::Nothing | Shape::Text => Expected::Scalar { takes_bare: false, takes_nested: false },
            _ => Expected::Scalar { takes_bare: true, takes_nested: false },
        }
    }

    /// Whether it becomes text.
    fn is_text(&self, mixed: Mixed) -> bool {
        match self {
            Shape::Nothing | Shape::Text | Shape::Mixture | Shape::NestedMixture => true,
            Shape::Object(Members { members, .. }) => mixed == Mixed::Text && members.is_empty(),
            Shape::Bool | Shape::Number(_) | Shape::List(_) => false,
        }
    }

    /// Whether it becomes VARIANT: values of several kinds, or of none yet.
    fn is_variant(&self, mixed: Mixed) -> bool {
        let has_kinds = match self {
            Shape::Object(Members { members, .. }) => !members.is_empty(),
            Shape::Nothing | Shape::Mixture | Shape::NestedMixture => false,
            Shape::Text | Shape::Bool | Shape::Number(_) | Shape::List(_) => true,
        };
        mixed == Mixed::Variant && !has_kinds
    }

    /// Returns the field of its column, which is nullable: later objects may lack it.
    fn field(&self, name: &str, mixed: Mixed) -> Field {
        match self.is_variant(mixed) {
            true => variant_field(name),
            false => Field::new(name, self.data_type(mixed), true),
        }
    }

    fn data_type(&self, mixed: Mixed) -> DataType {
        match self {
            _ if self.is_text(mixed) => DataType::Utf8,
            Shape::Nothing | Shape::Text | Shape::Mixture | Shape::NestedMixture => DataType::Utf8,
            Shape::Bool => DataType::Boolean,
            Shape::Number(numbers) => numbers.data_type().unwrap_or(DataType::Utf8),
            Shape::List(element) => {
                DataType::List(Arc::new(element.field(Field::LIST_FIELD_DEFAULT_NAME, mixed)))
            }
            Shape::Object(members) => DataType::Struct(members.fields(mixed)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_in_order_with_what_they_have_in_common() {
        let mut members = Members::default();
        for line in [
            r#"{"z": 1, "a": 1, "t": "x", "l": [1, null], "o": {"x": true}, "big": 9007199254740993, "n": null, "m": 1}"#,
            r#"{"z": 2, "a": 1.5, "t": null, "l": [2.5], "o": {"y": [{}]}, "big": 0.5, "huge": 18446744073709551616, "m": "x"}"#,
            r#"{"late": "2013-07-30"}"#,
        ] {
            let Value::Object(object) = serde_json::from_str(line).unwrap() else { panic!("an object") };
            members.add(&object, Decimals::Auto);
        }
        let found: Vec<String> = members
            .fields(Mixed::Error)
            .iter()
            .map(|field| format!("{} {}", field.name(), field.data_type()))
            .collect();
        let expected = [
            "z Int64",
            "a Float64",
            "t Utf8",
            "l List(Float64)",
            "o Struct(\"x\": Boolean, \"y\": List(Struct()))",
            "big Decimal128(18, 1)",
            "n Utf8",
            "m Utf8",
            "huge Decimal128(38, 0)",
            "late Utf8",
        ];
        assert_eq!(found, expected);
    }
}
