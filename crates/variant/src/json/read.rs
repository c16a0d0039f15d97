//! From JSON to variants.

use super::number::number;
use crate::depth::check_depth;
use crate::value::Value;
use crate::writer::Writer;
use marquetry_base::{Error, Result};
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::fmt;

/// The metadata and the value of a JSON text, by the rules of [`json`](crate::json).
///
/// # Errors
///
/// If it is not one JSON value, an object has a name twice, a number fits nothing, or it is deeper than
/// [`MAX_DEPTH`](crate::MAX_DEPTH).
pub fn parse(text: &str) -> Result<(Vec<u8>, Vec<u8>)> {
    let mut writer = Writer::new();
    parse_into(text, &mut writer)?;
    writer.finish()
}

/// Writes the value of a JSON text where one is due.
///
/// # Errors
///
/// As [`parse`]; what was written before the error stays.
pub fn parse_into(text: &str, writer: &mut Writer) -> Result<()> {
    let raw: &RawValue = serde_json::from_str(text).map_err(|error| not_json(&error))?;
    write(raw.get(), writer, 0)
}

/// `text` is one JSON value. What is in an object or array is text until its turn: so numbers keep their digits.
fn write(text: &str, writer: &mut Writer, depth: usize) -> Result<()> {
    check_depth(depth)?;
    match text.as_bytes().first() {
        Some(b'{') => {
            writer.begin_object()?;
            for (name, value) in read::<Members<'_>>(text)?.0 {
                writer.field(&name)?;
                write(value.get(), writer, depth + 1)?;
            }
            writer.end()
        }
        Some(b'[') => {
            writer.begin_array()?;
            read::<Elements<'_>>(text)?
                .0
                .iter()
                .try_for_each(|value| write(value.get(), writer, depth + 1))?;
            writer.end()
        }
        Some(b'"') => writer.write(&Value::String(&read::<Text<'_>>(text)?.0)),
        Some(b'n') => writer.write(&Value::Null),
        Some(b't') => writer.write(&Value::Boolean(true)),
        Some(b'f') => writer.write(&Value::Boolean(false)),
        _ => writer.write(&number(text)?),
    }
}

fn read<'a, T: Deserialize<'a>>(text: &'a str) -> Result<T> {
    serde_json::from_str(text).map_err(|error| not_json(&error))
}

#[cold]
fn not_json(error: &serde_json::Error) -> Error {
    Error::corrupt(format!("not JSON: {error}"))
}

/// Names and values of an object, all that there are.
struct Members<'a>(Vec<(Cow<'a, str>, &'a RawValue)>);

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct All;
        impl<'de> Visitor<'de> for All {
            type Value = Members<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members<'de>, A::Error> {
                let mut members = Vec::new();
                while let Some((name, value)) = map.next_entry::<Text<'de>, &RawValue>()? {
                    members.push((name.0, value));
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(All)
    }
}

/// The values of an array.
struct Elements<'a>(Vec<&'a RawValue>);

impl<'de> Deserialize<'de> for Elements<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct All;
        impl<'de> Visitor<'de> for All {
            type Value = Elements<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an array")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Elements<'de>, A::Error> {
                let mut all = Vec::new();
                while let Some(element) = elements.next_element()? {
                    all.push(element);
                }
                Ok(Elements(all))
            }
        }
        deserializer.deserialize_seq(All)
    }
}

/// Text that is copied only where it has escapes.
struct Text<'a>(Cow<'a, str>);

impl<'de> Deserialize<'de> for Text<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Borrowing;
        impl<'de> Visitor<'de> for Borrowing {
            type Value = Text<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("text")
            }

            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Text<'de>, E> {
                Ok(Text(Cow::Borrowed(text)))
            }

            fn visit_str<E>(self, text: &str) -> Result<Text<'de>, E> {
                Ok(Text(Cow::Owned(text.to_owned())))
            }
        }
        deserializer.deserialize_str(Borrowing)
    }
}
