//! What the values of JSON objects are.

use super::guess::is_exact_double;
use super::json_form::{Expected, ExpectedMembers};
use arrow_schema::{DataType, Field, Fields};
use serde_json::Value;
use std::collections::HashMap;
use std::sync::Arc;

/// What the values so far have in common.
#[derive(Debug, Clone, Default)]
pub(super) enum Shape {
    /// Only nulls, or nothing.
    #[default]
    Nothing,
    Bool,
    /// Numbers without a fraction that 64 bits hold, and whether a double holds them too.
    Integer {
        is_exact_double: bool,
    },
    Float,
    Text,
    /// Values of several kinds, none of them nested, whose texts are kept; or a number that no type holds.
    Mixture,
    /// Nested values beside others: only who asks for text gets their JSON.
    NestedMixture,
    List(Box<Shape>),
    Object(Members),
}

/// The members of objects, in the order in which they first came.
#[derive(Debug, Clone, Default)]
pub(super) struct Members {
    names: HashMap<String, usize>,
    members: Vec<(String, Shape)>,
}

impl Members {
    /// Takes an object into account.
    pub(super) fn add(&mut self, object: &serde_json::Map<String, Value>) {
        for (name, value) in object {
            let at = match self.names.get(name) {
                Some(at) => *at,
                None => {
                    self.names.insert(name.clone(), self.members.len());
                    self.members.push((name.clone(), Shape::Nothing));
                    self.members.len() - 1
                }
            };
            self.members[at].1.add(value);
        }
    }

    /// What is expected of later objects.
    pub(super) fn expected(&self) -> Vec<Expected> {
        self.members.iter().map(|(_, shape)| shape.expected()).collect()
    }

    /// A field for each member. All may be null: later objects may lack them.
    pub(super) fn fields(&self) -> Fields {
        self.members.iter().map(|(name, shape)| Field::new(name, shape.data_type(), true)).collect()
    }
}

impl Shape {
    fn add(&mut self, value: &Value) {
        match (&mut *self, value) {
            (_, Value::Null)
            | (Shape::Bool, Value::Bool(_))
            | (Shape::Text, Value::String(_))
            | (Shape::NestedMixture, _) => {}
            (Shape::List(element), Value::Array(values)) => {
                values.iter().for_each(|value| element.add(value))
            }
            (Shape::Object(members), Value::Object(object)) => members.add(object),
            (Shape::Nothing, value) => *self = Shape::of(value),
            (Shape::Integer { .. } | Shape::Float, Value::Number(_)) => *self = self.with(&Shape::of(value)),
            // Kinds that have no type in common.
            (Shape::List(_) | Shape::Object(_), _) | (_, Value::Array(_) | Value::Object(_)) => {
                *self = Shape::NestedMixture;
            }
            _ => *self = Shape::Mixture,
        }
    }

    fn of(value: &Value) -> Shape {
        match value {
            Value::Null => Shape::Nothing,
            Value::Bool(_) => Shape::Bool,
            // An integer has no sign of its zero.
            Value::Number(number) if number.to_string() == "-0" => Shape::Float,
            Value::Number(number) => match (number.as_i64(), number.as_f64()) {
                (Some(integer), _) => Shape::Integer { is_exact_double: is_exact_double(integer) },
                // An integer with more than 64 bits keeps its digits only as text.
                (None, _) if !number.to_string().contains(['.', 'e', 'E']) => Shape::Mixture,
                (None, Some(float)) if float.is_finite() => Shape::Float,
                _ => Shape::Mixture,
            },
            Value::String(_) => Shape::Text,
            Value::Array(values) => {
                let mut element = Shape::Nothing;
                values.iter().for_each(|value| element.add(value));
                Shape::List(Box::new(element))
            }
            Value::Object(object) => {
                let mut members = Members::default();
                members.add(object);
                Shape::Object(members)
            }
        }
    }

    /// A number beside another one.
    fn with(&self, other: &Shape) -> Shape {
        match (self, other) {
            (Shape::Integer { is_exact_double: a }, Shape::Integer { is_exact_double: b }) => {
                Shape::Integer { is_exact_double: *a && *b }
            }
            (Shape::Float, Shape::Float)
            | (Shape::Float, Shape::Integer { is_exact_double: true })
            | (Shape::Integer { is_exact_double: true }, Shape::Float) => Shape::Float,
            _ => Shape::Mixture,
        }
    }

    fn expected(&self) -> Expected {
        match self {
            Shape::List(element) => Expected::List(Box::new(element.expected())),
            Shape::Object(Members { members, .. }) => {
                let members = members.iter().map(|(name, shape)| (name.clone(), shape.expected()));
                Expected::Object(ExpectedMembers::new(members))
            }
            // Where nothing was seen, a later number would lose its kind as text.
            Shape::Nothing | Shape::Text => Expected::Scalar { takes_bare: false, takes_nested: false },
            _ => Expected::Scalar { takes_bare: true, takes_nested: false },
        }
    }

    fn data_type(&self) -> DataType {
        match self {
            Shape::Nothing | Shape::Text | Shape::Mixture | Shape::NestedMixture => DataType::Utf8,
            Shape::Bool => DataType::Boolean,
            Shape::Integer { .. } => DataType::Int64,
            Shape::Float => DataType::Float64,
            Shape::List(element) => {
                DataType::List(Arc::new(Field::new_list_field(element.data_type(), true)))
            }
            Shape::Object(members) => DataType::Struct(members.fields()),
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
            members.add(&object);
        }
        let found: Vec<String> =
            members.fields().iter().map(|field| format!("{} {}", field.name(), field.data_type())).collect();
        let expected = [
            "z Int64",
            "a Float64",
            "t Utf8",
            "l List(Float64)",
            "o Struct(\"x\": Boolean, \"y\": List(Struct()))",
            "big Utf8",
            "n Utf8",
            "m Utf8",
            "huge Utf8",
            "late Utf8",
        ];
        assert_eq!(found, expected);
    }
}
