//! Parses shreddings from text.

use super::shape::{MAX_SHREDDING_DEPTH, PrimitiveType, Shredding, too_deep};
use crate::path::is_bare;
use marquetry_base::{Error, Result, unquote};
use std::collections::BTreeMap;
use std::str::FromStr;

impl FromStr for Shredding {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let mut parser = Parser { text, rest: text };
        let shredding = parser.shape(0)?;
        parser.skip_blanks();
        if !parser.rest.is_empty() {
            return Err(parser.wrong("nothing more is wanted"));
        }
        shredding.check()?;
        Ok(shredding)
    }
}

struct Parser<'a> {
    text: &'a str,
    rest: &'a str,
}

impl<'a> Parser<'a> {
    fn shape(&mut self, depth: usize) -> Result<Shredding> {
        if depth > MAX_SHREDDING_DEPTH {
            return Err(too_deep());
        }
        if self.takes('{') {
            return self.object(depth);
        }
        if self.takes('[') {
            let element = self.shape(depth + 1)?;
            return match self.takes(']') {
                true => Ok(Shredding::Array(Box::new(element))),
                false => Err(self.wrong("] is wanted")),
            };
        }
        self.word()
    }

    /// Parses an object, after its `{`.
    fn object(&mut self, depth: usize) -> Result<Shredding> {
        let mut fields = BTreeMap::new();
        loop {
            self.skip_blanks();
            let before = self.rest;
            let name = self.name()?;
            if !self.takes(':') {
                return Err(self.wrong("a : and a type are wanted"));
            }
            let field = self.shape(depth + 1)?;
            if fields.insert(name, field).is_some() {
                self.rest = before;
                return Err(self.wrong("a field that stands there twice"));
            }
            match (self.takes(','), self.takes('}')) {
                // A comma may follow the last field.
                (_, true) => return Ok(Shredding::Object(fields)),
                (true, false) => {}
                (false, false) => return Err(self.wrong("a comma or } is wanted")),
            }
        }
    }

    fn name(&mut self) -> Result<String> {
        if self.rest.starts_with('"') {
            let (name, rest) = unquote(self.rest, '"').ok_or_else(|| self.wrong("a quote is not closed"))?;
            self.rest = rest;
            return Ok(name);
        }
        Ok(self.bare("the name of a field is wanted")?.to_owned())
    }

    fn bare(&mut self, wanted: &str) -> Result<&'a str> {
        self.skip_blanks();
        let end = self.rest.find(|c: char| !is_bare(c)).unwrap_or(self.rest.len());
        if end == 0 {
            return Err(self.wrong(wanted));
        }
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        Ok(word)
    }

    fn word(&mut self) -> Result<Shredding> {
        self.skip_blanks();
        let before = self.rest;
        let word = self.bare("a type is wanted")?.to_lowercase();
        let mut arguments = Vec::new();
        if self.takes('(') {
            while !self.takes(')') {
                arguments.push(self.bare(") is wanted")?.to_lowercase());
                self.takes(',');
            }
        }
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        match (word.as_str(), &arguments[..]) {
            ("variant", []) => Ok(Shredding::Variant),
            (word, arguments) => match primitive(word, arguments) {
                Some(primitive) => Ok(Shredding::Primitive(primitive)),
                None => {
                    self.rest = before;
                    Err(self.wrong("a type is wanted, such as int64, string or decimal(9, 2)"))
                }
            },
        }
    }

    fn takes(&mut self, sign: char) -> bool {
        self.skip_blanks();
        let rest = self.rest.strip_prefix(sign);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn skip_blanks(&mut self) {
        self.rest = self.rest.trim_start();
    }

    #[cold]
    fn wrong(&self, message: &str) -> Error {
        let at = self.text[..self.text.len() - self.rest.len()].chars().count();
        Error::argument(format!("{message}, at character {} of {}", at + 1, self.text))
    }
}

/// Returns the type of a name. Accepts the names that schemas use, and those of SQL.
fn primitive(word: &str, arguments: &[&str]) -> Option<PrimitiveType> {
    Some(match (word, arguments) {
        ("boolean" | "bool", []) => PrimitiveType::Boolean,
        ("int8" | "tinyint", []) => PrimitiveType::Int8,
        ("int16" | "smallint", []) => PrimitiveType::Int16,
        ("int32" | "int" | "integer", []) => PrimitiveType::Int32,
        ("int64" | "bigint" | "long", []) => PrimitiveType::Int64,
        ("float" | "float32" | "real", []) => PrimitiveType::Float,
        ("double" | "float64", []) => PrimitiveType::Double,
        ("decimal", [precision]) => PrimitiveType::Decimal { precision: precision.parse().ok()?, scale: 0 },
        ("decimal", [precision, scale]) => {
            PrimitiveType::Decimal { precision: precision.parse().ok()?, scale: scale.parse().ok()? }
        }
        ("date", []) => PrimitiveType::Date,
        ("time", [] | ["us"]) => PrimitiveType::Time,
        ("timestamp", [] | ["us"]) | ("timestamp_ntz", []) => PrimitiveType::LocalTimestampMicros,
        ("timestamp", ["us", "utc"]) | ("timestamptz", []) => PrimitiveType::TimestampMicros,
        ("timestamp", ["ns"]) => PrimitiveType::LocalTimestampNanos,
        ("timestamp", ["ns", "utc"]) => PrimitiveType::TimestampNanos,
        ("binary" | "blob", []) => PrimitiveType::Binary,
        ("string" | "text" | "varchar" | "utf8", []) => PrimitiveType::String,
        ("uuid", []) => PrimitiveType::Uuid,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn mistakes_are_named_with_their_place() {
        for (text, message) in [
            ("", "a type is wanted, at character 1 of "),
            ("{}", "the name of a field is wanted, at character 2 of {}"),
            ("{é int64}", "a : and a type are wanted, at character 4 of {é int64}"),
            ("{a: int64 b: int64}", "a comma or } is wanted, at character 11 of {a: int64 b: int64}"),
            (
                "{a: int64, a: string}",
                "a field that stands there twice, at character 12 of {a: int64, a: string}",
            ),
            ("{\"a: int64}", "a quote is not closed, at character 2 of {\"a: int64}"),
            ("[int64", "] is wanted, at character 7 of [int64"),
            ("uint8", "a type is wanted, such as int64, string or decimal(9, 2), at character 1 of uint8"),
            ("decimal(9", ") is wanted, at character 10 of decimal(9"),
            ("string]", "nothing more is wanted, at character 7 of string]"),
            (
                "decimal(39)",
                "decimal(39, 0): a decimal has 1 to 38 digits, and no more behind the point than it has",
            ),
            (
                "decimal(2, 3)",
                "decimal(2, 3): a decimal has 1 to 38 digits, and no more behind the point than it has",
            ),
        ] {
            assert_eq!(text.parse::<Shredding>().unwrap_err().message(), message);
        }
    }

    #[test]
    fn depth_and_columns_have_an_end() {
        let arrays = |n: usize| format!("{}int8{}", "[".repeat(n), "]".repeat(n));
        assert_eq!(arrays(MAX_SHREDDING_DEPTH).parse::<Shredding>().unwrap().depth(), MAX_SHREDDING_DEPTH);
        for deep in [MAX_SHREDDING_DEPTH + 1, 100_000] {
            let error = arrays(deep).parse::<Shredding>().unwrap_err();
            assert_eq!(error.message(), "a shredding of more than 40 objects and arrays inside each other");
        }
        let fields = |n: usize| {
            let fields: Vec<String> = (0..n).map(|i| format!("f{i}: int8")).collect();
            format!("{{{}}}", fields.join(", "))
        };
        assert_eq!(fields(499).parse::<Shredding>().unwrap().columns(), 999);
        let error = fields(500).parse::<Shredding>().unwrap_err();
        assert_eq!(error.message(), "a shredding of 1001 columns, 1000 are the most");
    }

    fn shape() -> impl Strategy<Value = Shredding> {
        let words = [
            "variant",
            "boolean",
            "int8",
            "int16",
            "int32",
            "int64",
            "float",
            "double",
            "decimal(9, 2)",
            "date",
            "time",
            "timestamp(us)",
            "timestamp(us, UTC)",
            "timestamp(ns)",
            "timestamp(ns, UTC)",
            "binary",
            "string",
            "uuid",
        ];
        let leaf = prop::sample::select(words.to_vec()).prop_map(|word| word.parse::<Shredding>().unwrap());
        leaf.prop_recursive(4, 20, 4, |inner| {
            prop_oneof![
                prop::collection::btree_map("\\PC{0,6}", inner.clone(), 1..4).prop_map(Shredding::Object),
                inner.prop_map(|element| Shredding::Array(Box::new(element))),
            ]
        })
    }

    proptest! {
        #[test]
        fn what_is_shown_is_read(shape in shape()) {
            prop_assert_eq!(shape.to_string().parse::<Shredding>().unwrap(), shape);
        }

        #[test]
        fn no_text_panics(text in "[a:,{}\\[\\]()\"0-9 éint]{0,16}") {
            let _ = text.parse::<Shredding>();
        }
    }
}
