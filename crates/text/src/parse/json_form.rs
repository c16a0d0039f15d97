//! JSON in the form that its decoder takes: each member once, and texts where texts are wanted.
//!
//! The decoder takes the last of two members of one name, makes text of any number, and knows maps as objects only. So each
//! value is walked over once before, along the columns that are expected:
//!
//! | in the file | where | becomes |
//! |---|---|---|
//! | a member that comes twice | in a struct | an error |
//! | a member that is not a column | in a struct | an error, or nothing if that was asked for |
//! | a number, `true` or `false` | where all before were texts | an error |
//! | `{..}` or `[..]` | where text was asked for | its JSON as a text |
//! | anything | in a VARIANT | its JSON as a text |
//! | `[{"key": 1, "value": 2}]` | in a map | `{"1": 2}` |

use super::json_reader::{Broken, JsonReader};
use arrow_schema::{DataType, Field};
use marquetry_arrow::variant::is_variant;
use std::collections::HashMap;

/// The expected form of a value.
#[derive(Debug, Clone)]
pub enum Expected {
    /// A value that is not nested.
    Scalar {
        /// Whether it may be a number, `true` or `false` in the file.
        takes_bare: bool,
        /// Whether it may be an object or a list, which is then kept as JSON.
        takes_nested: bool,
    },
    /// An object with these members.
    Object(ExpectedMembers),
    /// A list with such elements.
    List(Box<Expected>),
    /// A map with such values.
    Map(Box<Expected>),
    /// Any value, which is kept as JSON.
    Variant,
}

/// The members of a struct.
#[derive(Debug, Clone, Default)]
pub struct ExpectedMembers {
    members: Vec<(String, Expected)>,
    numbers: HashMap<String, usize>,
}

/// The reason why a value cannot be decoded.
#[derive(Debug, PartialEq, Eq)]
pub enum Unfit {
    /// The text is not JSON, or not a single value.
    NotJson,
    /// A member is wrong. It is inside of others, and its path is empty for the value itself.
    Member {
        /// The names of the member and of those that contain it, outermost first.
        path: Vec<String>,
        /// A description of what is wrong.
        message: String,
        /// Whether the value would fit another type.
        is_of_type: bool,
    },
}

impl Expected {
    /// Returns the form that the type of a field demands.
    pub fn of_field(field: &Field) -> Self {
        match field.data_type() {
            _ if is_variant(field) => Expected::Variant,
            DataType::Struct(fields) => {
                let members = fields.iter().map(|field| (field.name().clone(), Expected::of_field(field)));
                Expected::Object(ExpectedMembers::new(members))
            }
            DataType::List(element)
            | DataType::LargeList(element)
            | DataType::ListView(element)
            | DataType::LargeListView(element)
            | DataType::FixedSizeList(element, _) => Expected::List(Box::new(Expected::of_field(element))),
            DataType::Map(entries, _) => match entries.data_type() {
                DataType::Struct(fields) if fields.len() == 2 => {
                    Expected::Map(Box::new(Expected::of_field(&fields[1])))
                }
                _ => Expected::Scalar { takes_bare: true, takes_nested: true },
            },
            _ => Expected::Scalar { takes_bare: true, takes_nested: true },
        }
    }

    /// Whether numbers, `true` and `false` are not values of it.
    pub(super) fn is_text_only(&self) -> bool {
        matches!(self, Expected::Scalar { takes_bare: false, .. })
    }
}

impl ExpectedMembers {
    /// Creates the members of a struct, in their usual order.
    pub fn new(members: impl Iterator<Item = (String, Expected)>) -> Self {
        let members: Vec<(String, Expected)> = members.collect();
        let numbers = members.iter().enumerate().map(|(i, (name, _))| (name.clone(), i)).collect();
        ExpectedMembers { members, numbers }
    }

    /// Returns the number of a name, which is often `next`.
    fn number(&self, name: &str, next: usize) -> Option<usize> {
        match self.members.get(next) {
            Some((expected, _)) if expected == name => Some(next),
            _ => self.numbers.get(name).copied(),
        }
    }
}

/// Appends the JSON value in `text` in the form that `expected` demands. Unexpected members that are to be ignored are
/// left to a decoder that ignores them.
pub fn reform(
    text: &[u8],
    expected: &Expected,
    ignore_unknown: bool,
    out: &mut Vec<u8>,
) -> Result<(), Unfit> {
    let text = str::from_utf8(text).map_err(|_| Unfit::NotJson)?;
    let mut former = Former { reader: JsonReader::new(text), ignore_unknown, text, copied: 0, out };
    former.value(expected)?;
    former.reader.skip_blanks();
    if former.reader.peek().is_some() {
        return Err(Unfit::NotJson);
    }
    former.copy_to(text.len());
    Ok(())
}

struct Former<'a, 'o> {
    reader: JsonReader<'a>,
    ignore_unknown: bool,
    text: &'a str,
    /// How much of the text is already in `out`: unchanged text is copied in long pieces.
    copied: usize,
    out: &'o mut Vec<u8>,
}

impl Former<'_, '_> {
    fn copy_to(&mut self, end: usize) {
        self.out.extend_from_slice(&self.text.as_bytes()[self.copied..end]);
        self.copied = end;
    }

    fn value(&mut self, expected: &Expected) -> Result<(), Unfit> {
        self.reader.skip_blanks();
        match (expected, self.reader.peek().ok_or(Unfit::NotJson)?) {
            (Expected::Variant, _) => self.any_as_text(),
            (Expected::Scalar { takes_nested, .. }, b'{' | b'[') => self.json_as_text(*takes_nested),
            (Expected::Scalar { takes_bare: false, .. }, byte) if byte != b'"' && byte != b'n' => {
                Err(unfit(format!("{} is not text", short(self.reader.scalar()?))))
            }
            (Expected::Object(members), b'{') => self.object(members),
            (Expected::List(element), b'[') => self.list(element),
            (Expected::Map(value), b'{') => self.map(value),
            (Expected::Map(value), b'[') => self.pairs(value),
            // The decoder will report what is wrong with it.
            (_, b'{' | b'[') => Ok(self.reader.nested().map(drop)?),
            _ => Ok(self.reader.scalar().map(drop)?),
        }
    }

    fn json_as_text(&mut self, is_asked_for: bool) -> Result<(), Unfit> {
        let start = self.reader.position();
        let json = self.reader.nested()?;
        if !is_asked_for {
            let message = format!(
                "{} stands beside values that are not nested; all is kept with --mixed text or variant, or as utf8 or variant in --schema",
                short(json)
            );
            return Err(unfit(message));
        }
        self.put_text(start, json)
    }

    fn any_as_text(&mut self) -> Result<(), Unfit> {
        let start = self.reader.position();
        let json = self.reader.any()?;
        self.put_text(start, json)
    }

    /// Writes `json`, which was read from `start` on, as a text.
    fn put_text(&mut self, start: usize, json: &str) -> Result<(), Unfit> {
        self.copy_to(start);
        self.copied = self.reader.position();
        quoted(json, self.out)
    }

    fn object(&mut self, members: &ExpectedMembers) -> Result<(), Unfit> {
        let mut seen = Seen::new(members.members.len());
        let mut next = 0;
        let mut reading = self.reader.begin(b'{', b'}')?;
        while reading {
            let name = self.reader.name()?.text()?;
            match members.number(&name, next) {
                Some(number) => {
                    if seen.replace(number) {
                        let message = "comes twice in one object".to_owned();
                        let path = vec![name.into_owned()];
                        return Err(Unfit::Member { path, message, is_of_type: false });
                    }
                    self.value(&members.members[number].1).map_err(|error| error.inside(&name))?;
                    next = number + 1;
                }
                None if self.ignore_unknown => self.reader.skip_value()?,
                None => {
                    let message = "is not a column".to_owned();
                    let path = vec![name.into_owned()];
                    return Err(Unfit::Member { path, message, is_of_type: true });
                }
            }
            reading = self.reader.goes_on(b'}')?;
        }
        Ok(())
    }

    fn list(&mut self, element: &Expected) -> Result<(), Unfit> {
        let mut reading = self.reader.begin(b'[', b']')?;
        while reading {
            self.value(element)?;
            reading = self.reader.goes_on(b']')?;
        }
        Ok(())
    }

    /// Reads a map whose keys are names. They may occur twice.
    fn map(&mut self, value: &Expected) -> Result<(), Unfit> {
        let mut reading = self.reader.begin(b'{', b'}')?;
        while reading {
            self.reader.name()?;
            self.value(value)?;
            reading = self.reader.goes_on(b'}')?;
        }
        Ok(())
    }

    /// Reads a map that is a list of objects with `key` and `value`.
    fn pairs(&mut self, value: &Expected) -> Result<(), Unfit> {
        self.copy_to(self.reader.position());
        self.out.push(b'{');
        let mut reading = self.reader.begin(b'[', b']')?;
        while reading {
            self.pair(value)?;
            reading = self.reader.goes_on(b']')?;
            if reading {
                self.out.push(b',');
            }
        }
        self.out.push(b'}');
        self.copied = self.reader.position();
        Ok(())
    }

    fn pair(&mut self, expected: &Expected) -> Result<(), Unfit> {
        // The key must be written first, wherever it is in the text.
        let (mut key, mut value) = (None, None);
        let mut reading = self.reader.begin(b'{', b'}')?;
        while reading {
            let name = self.reader.name()?.text()?;
            self.reader.skip_blanks();
            let place = match &*name {
                "key" => &mut key,
                "value" => &mut value,
                _ => return Err(unfit("a pair of a map has a key and a value, no more".to_owned())),
            };
            if place.replace(self.reader.any()?).is_some() {
                return Err(unfit(format!("a pair of a map has two members {name}")));
            }
            reading = self.reader.goes_on(b'}')?;
        }
        match key {
            Some(key) if key.starts_with('"') => self.out.extend_from_slice(key.as_bytes()),
            Some("null") | None => return Err(unfit("a pair of a map has no key".to_owned())),
            Some(key) => quoted(key, self.out)?,
        }
        self.out.push(b':');
        reform(value.unwrap_or("null").as_bytes(), expected, self.ignore_unknown, self.out)
    }
}

fn quoted(json: &str, out: &mut Vec<u8>) -> Result<(), Unfit> {
    serde_json::to_writer(out, json).map_err(|_| Unfit::NotJson)
}

/// The members of an object that were present.
enum Seen {
    Few(u64),
    Many(Vec<bool>),
}

impl Seen {
    fn new(members: usize) -> Self {
        if members <= 64 { Seen::Few(0) } else { Seen::Many(vec![false; members]) }
    }

    /// Marks a member as present, and returns whether it already was.
    fn replace(&mut self, member: usize) -> bool {
        match self {
            Seen::Few(bits) => {
                let was = *bits >> member & 1 == 1;
                *bits |= 1 << member;
                was
            }
            Seen::Many(seen) => std::mem::replace(&mut seen[member], true),
        }
    }
}

impl Unfit {
    fn inside(self, name: &str) -> Self {
        match self {
            Unfit::NotJson => Unfit::NotJson,
            Unfit::Member { mut path, message, is_of_type } => {
                path.insert(0, name.to_owned());
                Unfit::Member { path, message, is_of_type }
            }
        }
    }
}

impl From<Broken> for Unfit {
    fn from(Broken: Broken) -> Self {
        Unfit::NotJson
    }
}

fn unfit(message: String) -> Unfit {
    Unfit::Member { path: Vec::new(), message, is_of_type: true }
}

fn short(json: &str) -> String {
    let mut short: String = json.chars().take(60).collect();
    if short.len() < json.len() {
        short.push('…');
    }
    short
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_schema::Field;
    use std::sync::Arc;

    fn object() -> Expected {
        let text = Expected::Scalar { takes_bare: false, takes_nested: false };
        let any = Expected::of_field(&Field::new("", DataType::Utf8, true));
        let list = Expected::List(Box::new(text.clone()));
        let map = Expected::Map(Box::new(Expected::of_field(&Field::new("", DataType::Int64, true))));
        let members = [("t", text), ("j", any), ("l", list), ("m", map)];
        Expected::Object(ExpectedMembers::new(
            members.into_iter().map(|(name, value)| (name.to_owned(), value)),
        ))
    }

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let mut out = Vec::new();
        let formed = reform(text.as_bytes(), &object(), false, &mut out);
        assert_eq!((formed, String::from_utf8(out).unwrap().as_str()), (Ok(()), expected), "{text}");
    }

    #[test]
    fn values_as_the_decoder_takes_them() {
        check(r#" { "t" : "x\"}" , "l" : [ "a" , null ] } "#, r#" { "t" : "x\"}" , "l" : [ "a" , null ] } "#);
        check(r#"{"j":{"b":[1, "]"]},"t":null}"#, r#"{"j":"{\"b\":[1, \"]\"]}","t":null}"#);
        check(r#"{"j":1.50,"\u0074":"x"}"#, r#"{"j":1.50,"\u0074":"x"}"#);
        check(
            r#"{"m":[{"key":1,"value":2},{"value":null,"key":"x"},{"key":[1]}]}"#,
            r#"{"m":{"1":2,"x":null,"[1]":null}}"#,
        );
        check(r#"{"m":{"a":1,"a":2},"l":[]}"#, r#"{"m":{"a":1,"a":2},"l":[]}"#);
        check("{}", "{}");
        let mut out = Vec::new();
        let text = r#"{"x":{"t":1,"t":[{}]},"t":"a","y":2}"#;
        assert_eq!(reform(text.as_bytes(), &object(), true, &mut out), Ok(()));
        assert_eq!(String::from_utf8(out).unwrap(), text, "the decoder leaves them out");
    }

    #[test]
    fn values_that_would_be_lost_or_changed() {
        for (text, path, part) in [
            (r#"{"t":"a","t":"b"}"#, "t", "twice"),
            (r#"{"t":"a","\u0074":"b"}"#, "t", "twice"),
            (r#"{"t":1}"#, "t", "1 is not text"),
            (r#"{"t":true}"#, "t", "true is not text"),
            (r#"{"t":{"a":1}}"#, "t", "beside"),
            (r#"{"l":["a",2]}"#, "l", "2 is not text"),
            (r#"{"z":1}"#, "z", "not a column"),
            (r#"{"m":[{"key":null,"value":1}]}"#, "m", "no key"),
            (r#"{"m":[{"key":1,"key":1}]}"#, "m", "two members"),
            (r#"{"m":[{"key":1,"other":1}]}"#, "m", "no more"),
        ] {
            match reform(text.as_bytes(), &object(), false, &mut Vec::new()) {
                Err(Unfit::Member { path: found, message, .. }) => {
                    assert_eq!(found, [path], "{text}");
                    assert!(message.contains(part), "{text}: {message}");
                }
                other => panic!("{text}: {other:?}"),
            }
        }
        let wrong = [
            "",
            "{",
            "{\"t\"}",
            "{\"t\":}",
            "{\"t\":\"a\",}",
            "{} {}",
            "{\"j\":{x}}",
            "{\"j\":[1}",
            "{t:1}",
            "{\"t\":\"a}",
            "{\"t\":\"a\" \"l\":[]}",
            "{\"j\":[}",
            "{,}",
            "{\"l\":[,]}",
        ];
        for text in wrong {
            assert_eq!(
                reform(text.as_bytes(), &object(), false, &mut Vec::new()),
                Err(Unfit::NotJson),
                "{text}"
            );
        }
    }

    #[test]
    fn types_that_were_asked_for() {
        let entries = vec![
            Field::new("keys", DataType::Int8, false),
            Field::new_struct("values", vec![Field::new("x", DataType::Utf8, true)], true),
        ];
        let entries = Arc::new(Field::new("entries", DataType::Struct(entries.into()), false));
        let map = Expected::of_field(&Field::new("", DataType::Map(entries, false), true));
        let mut out = Vec::new();
        let text = r#"[{"key":1,"value":{"x":5}}]"#;
        assert_eq!(reform(text.as_bytes(), &map, false, &mut out), Ok(()));
        assert_eq!(out, br#"{"1":{"x":5}}"#);
        assert!(!Expected::of_field(&Field::new("", DataType::Utf8, true)).is_text_only());
    }
}
