//! Parses the printed form of a schema.
//!
//! ```text
//! schema     := "message" name "{" field* "}"
//! field      := repetition type name annotation? id? ";"  |  repetition "group" name annotation? id? "{" field* "}"
//! repetition := "required" | "optional" | "repeated"
//! annotation := "(" name of the meaning, with its parameters in parentheses ")"
//! id         := "=" number
//! ```

use super::{Repetition, Schema, annotate, column, group};
use crate::logical_type::{LogicalType, TimeUnit};
use marquetry_base::{Error, Limits, Result};
use marquetry_encoding::PhysicalType;
use marquetry_format::{EdgeInterpolationAlgorithm, Repetition as ThriftRepetition, SchemaElement};

impl Schema {
    /// Parses a schema from its printed form. Line breaks and indentation do not matter; `binary` means BYTE_ARRAY.
    ///
    /// Names may contain spaces, but ` (`, ` =`, `;`, `{` and `}` end them: names with such characters do not survive a
    /// round trip. An error names the line.
    ///
    /// ```
    /// use marquetry_core::schema::Schema;
    /// let text = "message wines {\n  required int32 year;\n  optional byte_array name (STRING) = 7;\n}";
    /// let schema = Schema::parse(text)?;
    /// assert_eq!(schema.column(1).path_in_schema(), ["name"]);
    /// assert_eq!(schema.to_string(), text);
    /// assert!(Schema::parse("message wines { required int33 year; }").is_err());
    /// # Ok::<(), marquetry_base::Error>(())
    /// ```
    pub fn parse(text: &str) -> Result<Schema> {
        let mut parser = Parser { text, at: 0, elements: Vec::new(), limits: Limits::default() };
        let parsed = parser.schema().and_then(|()| Schema::from_thrift(&parser.elements, &parser.limits));
        parsed.map_err(|error| {
            let line = 1 + text.as_bytes()[..parser.at.min(text.len())]
                .iter()
                .filter(|byte| **byte == b'\n')
                .count();
            Error::argument(format!("schema, line {line}: {}", error.message()))
        })
    }
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    elements: Vec<SchemaElement>,
    limits: Limits,
}

impl<'a> Parser<'a> {
    fn schema(&mut self) -> Result<()> {
        self.expect_word("message")?;
        let name = self.name()?;
        self.elements.push(SchemaElement { repetition_type: None, ..group(name, 0) });
        self.fields(0, 1)?;
        self.space();
        // Editors and people may put a semicolon there.
        self.take(";");
        self.space();
        match self.rest() {
            "" => Ok(()),
            rest => Err(unexpected("the end", rest)),
        }
    }

    /// Parses the fields of the group that is element `parent`, including both braces.
    fn fields(&mut self, parent: usize, depth: usize) -> Result<()> {
        Limits::check("schema_depth", depth, self.limits.schema_depth)?;
        self.expect("{")?;
        let mut count = 0;
        loop {
            self.space();
            if self.take("}") {
                break;
            }
            self.field(depth)?;
            count += 1;
        }
        self.elements[parent].num_children = Some(count);
        Ok(())
    }

    fn field(&mut self, depth: usize) -> Result<()> {
        let repetition = match self.word() {
            "required" => Repetition::Required,
            "optional" => Repetition::Optional,
            "repeated" => Repetition::Repeated,
            other => return Err(unexpected("required, optional, repeated or }", other)),
        };
        let word = self.word();
        let physical = match word {
            "group" => None,
            word => Some(self.physical(word)?),
        };
        let name = self.name()?;
        let mut element = match physical {
            Some(physical) => column(name, physical),
            None => group(name, 0),
        };
        element.repetition_type = Some(match repetition {
            Repetition::Required => ThriftRepetition::REQUIRED,
            Repetition::Optional => ThriftRepetition::OPTIONAL,
            Repetition::Repeated => ThriftRepetition::REPEATED,
        });
        self.space();
        if self.take("(") {
            let logical = self.logical()?;
            annotate(&mut element, &logical);
            if LogicalType::from_thrift(&element, physical).as_ref() != Some(&logical) {
                let what = physical.map_or("a group".to_owned(), |physical| physical.to_string());
                return Err(Error::argument(format!("{logical} is not legal for {what}")));
            }
        }
        self.space();
        if self.take("=") {
            let id = self.word();
            element.field_id = Some(id.parse().map_err(|_| unexpected("a field id", id))?);
        }
        let index = self.elements.len();
        self.elements.push(element);
        match physical {
            Some(_) => self.expect(";"),
            None => self.fields(index, depth + 1),
        }
    }

    fn physical(&mut self, word: &str) -> Result<PhysicalType> {
        Ok(match word.to_ascii_lowercase().as_str() {
            "boolean" => PhysicalType::Boolean,
            "int32" => PhysicalType::Int32,
            "int64" => PhysicalType::Int64,
            "int96" => PhysicalType::Int96,
            "float" => PhysicalType::Float,
            "double" => PhysicalType::Double,
            "byte_array" | "binary" => PhysicalType::ByteArray,
            "fixed_len_byte_array" => {
                self.expect("(")?;
                let width = self.word();
                let width = width.parse::<i32>().ok().and_then(|width| usize::try_from(width).ok());
                let width =
                    width.ok_or_else(|| Error::argument("a FIXED_LEN_BYTE_ARRAY needs its length"))?;
                self.expect(")")?;
                PhysicalType::FixedLenByteArray(width)
            }
            _ => return Err(unexpected("a physical type or group", word)),
        })
    }

    /// Parses an annotation, after its opening parenthesis.
    fn logical(&mut self) -> Result<LogicalType> {
        let name = self.word();
        self.space();
        let mut parameters = "";
        if self.take("(") {
            // The name of a coordinate reference system may contain parentheses.
            let mut open = 1;
            let end = self.rest().find(|c| {
                open += i32::from(c == '(') - i32::from(c == ')');
                open == 0
            });
            let end = end.ok_or_else(|| Error::argument(format!("{name}( is not closed")))?;
            parameters = &self.rest()[..end];
            self.at += end + 1;
        }
        self.expect(")")?;
        let wrong = || Error::argument(format!("{name}({parameters}) is not an annotation"));
        meaning(name, parameters).ok_or_else(wrong)
    }

    /// Parses a name, up to the character that ends it.
    fn name(&mut self) -> Result<&'a str> {
        self.space();
        let rest = self.rest();
        let line = &rest[..rest.find([';', '{', '}', '\n']).unwrap_or(rest.len())];
        let end = [line.find(" ("), line.find(" =")].into_iter().flatten().min().unwrap_or(line.len());
        let name = line[..end].trim_end();
        if name.is_empty() {
            return Err(unexpected("a name", rest));
        }
        self.at += name.len();
        Ok(name)
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn space(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start().len();
    }

    /// Parses letters, digits, underscores and a sign; the word may be empty.
    fn word(&mut self) -> &'a str {
        self.space();
        let rest = self.rest();
        let is_of_word = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        let word = &rest[..rest.find(|c| !is_of_word(c)).unwrap_or(rest.len())];
        self.at += word.len();
        word
    }

    fn take(&mut self, token: &str) -> bool {
        let is_there = self.rest().starts_with(token);
        self.at += if is_there { token.len() } else { 0 };
        is_there
    }

    fn expect(&mut self, token: &str) -> Result<()> {
        self.space();
        if self.take(token) { Ok(()) } else { Err(unexpected(token, self.rest())) }
    }

    fn expect_word(&mut self, expected: &str) -> Result<()> {
        match self.word() {
            word if word == expected => Ok(()),
            word => Err(unexpected(expected, word)),
        }
    }
}

#[cold]
fn unexpected(expected: &str, found: &str) -> Error {
    let found: String = found.lines().next().unwrap_or("").chars().take(40).collect();
    Error::argument(match found.is_empty() {
        true => format!("{expected} expected"),
        false => format!("{expected} expected, not {found}"),
    })
}

/// Returns the logical type for an annotation name without parameters, which old text and other tools use. Times and
/// timestamps in this form are in UTC.
fn old_meaning(name: &str) -> Option<LogicalType> {
    let unit = |name: &str| match name {
        "MILLIS" => Some(TimeUnit::Millis),
        "MICROS" => Some(TimeUnit::Micros),
        _ => None,
    };
    let (kind, rest) = name.split_once('_')?;
    Some(match kind {
        "TIME" => LogicalType::Time { utc: true, unit: unit(rest)? },
        "TIMESTAMP" => LogicalType::Timestamp { utc: true, unit: unit(rest)? },
        "INT" | "UINT" if matches!(rest, "8" | "16" | "32" | "64") => {
            LogicalType::Integer { bits: rest.parse().ok()?, signed: kind == "INT" }
        }
        _ => return None,
    })
}

/// Returns the logical type with this name and these parameters.
fn meaning(name: &str, parameters: &str) -> Option<LogicalType> {
    let list: Vec<&str> = parameters.split(',').map(str::trim).collect();
    let two = || match list[..] {
        [first, second] => Some((first, second)),
        _ => None,
    };
    let alone = |logical| parameters.is_empty().then_some(logical);
    match name {
        "STRING" | "UTF8" => alone(LogicalType::String),
        "ENUM" => alone(LogicalType::Enum),
        "JSON" => alone(LogicalType::Json),
        "BSON" => alone(LogicalType::Bson),
        "UUID" => alone(LogicalType::Uuid),
        "DATE" => alone(LogicalType::Date),
        "INTERVAL" => alone(LogicalType::Interval),
        "FLOAT16" => alone(LogicalType::Float16),
        "UNKNOWN" => alone(LogicalType::Null),
        "LIST" => alone(LogicalType::List),
        "MAP" => alone(LogicalType::Map),
        "MAP_KEY_VALUE" => alone(LogicalType::MapKeyValue),
        "FILE" => alone(LogicalType::File),
        "DECIMAL" => {
            let (precision, scale) = two()?;
            Some(LogicalType::Decimal { precision: precision.parse().ok()?, scale: scale.parse().ok()? })
        }
        "TIME" | "TIMESTAMP" => {
            let (unit, utc) = two()?;
            let unit = match unit {
                "MILLIS" => TimeUnit::Millis,
                "MICROS" => TimeUnit::Micros,
                "NANOS" => TimeUnit::Nanos,
                _ => return None,
            };
            let utc = utc.parse().ok()?;
            Some(if name == "TIME" {
                LogicalType::Time { utc, unit }
            } else {
                LogicalType::Timestamp { utc, unit }
            })
        }
        "INTEGER" | "INT" => {
            let (bits, signed) = two()?;
            Some(LogicalType::Integer { bits: bits.parse().ok()?, signed: signed.parse().ok()? })
        }
        "VARIANT" if parameters.is_empty() => Some(LogicalType::Variant { version: None }),
        "VARIANT" => Some(LogicalType::Variant { version: Some(parameters.parse().ok()?) }),
        "GEOMETRY" => {
            Some(LogicalType::Geometry { crs: Some(parameters.to_owned()).filter(|crs| !crs.is_empty()) })
        }
        "GEOGRAPHY" => {
            let (crs, algorithm) =
                match parameters.rsplit_once(',').map(|(crs, name)| (crs, algorithm(name.trim()))) {
                    Some((crs, Some(algorithm))) => (crs, Some(algorithm)),
                    _ => (parameters, None),
                };
            // The printed form of a missing reference system.
            let crs = Some(crs.to_owned()).filter(|crs| !crs.is_empty() && crs != "OGC:CRS84");
            Some(LogicalType::Geography { crs, algorithm })
        }
        _ => alone(old_meaning(name)?),
    }
}

fn algorithm(name: &str) -> Option<EdgeInterpolationAlgorithm> {
    (0..5).map(EdgeInterpolationAlgorithm).find(|algorithm| algorithm.to_string() == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_printed_is_parsed() {
        let text = "message a schema {
  required boolean flag = -3;
  optional int32 month (INTEGER(8,false));
  optional int64 at (TIMESTAMP(MICROS,true)) = 5;
  optional int64 of day (TIME(NANOS,false));
  required int96 old;
  required float f;
  required double d;
  required byte_array price (DECIMAL(30,2));
  required fixed_len_byte_array(16) id (UUID);
  required byte_array here (GEOMETRY(EPSG:4326));
  required byte_array there (GEOGRAPHY(OGC:CRS84,VINCENTY));
  optional group tags (LIST) {
    repeated group list {
      optional byte_array element (STRING);
    }
  }
  optional group v (VARIANT(1)) {
    required byte_array metadata;
    required byte_array value;
  }
}";
        let schema = Schema::parse(text).unwrap();
        assert_eq!(schema.to_string(), text);
        let again = Schema::from_thrift(&schema.to_thrift(), &Limits::default()).unwrap();
        assert_eq!(again, schema);
        assert_eq!(Schema::parse(&text.replace('\n', " ")).unwrap(), schema);
    }

    #[test]
    fn older_names() {
        let meaning = |physical: &str, name: &str| {
            Schema::parse(&format!("message m {{ required {physical} a ({name}); }}"))
                .map(|schema| schema.to_string())
        };
        for (physical, old, new) in [
            ("int64", "TIMESTAMP_MICROS", "TIMESTAMP(MICROS,true)"),
            ("int64", "TIMESTAMP_MILLIS", "TIMESTAMP(MILLIS,true)"),
            ("int32", "TIME_MILLIS", "TIME(MILLIS,true)"),
            ("int64", "TIME_MICROS", "TIME(MICROS,true)"),
            ("int32", "INT_8", "INTEGER(8,true)"),
            ("int64", "UINT_64", "INTEGER(64,false)"),
        ] {
            assert_eq!(meaning(physical, old).unwrap(), meaning(physical, new).unwrap());
        }
        for wrong in ["INT_7", "TIMESTAMP_NANOS", "INT_8(1)", "INT_"] {
            assert!(meaning("int64", wrong).is_err(), "{wrong}");
        }
    }

    #[track_caller]
    fn error(text: &str, expected: &str) {
        assert_eq!(Schema::parse(text).unwrap_err().to_string(), format!("argument: schema, {expected}"));
    }

    #[test]
    fn errors_tell_the_line() {
        error("", "line 1: message expected");
        error("message m {\n  required int33 a;\n}", "line 2: a physical type or group expected, not int33");
        error("message m {\n  int32 a;\n}", "line 2: required, optional, repeated or } expected, not int32");
        error("message m {\n  required int32 a\n}", "line 3: ; expected, not }");
        error("message m {\n  required int32 a (STRING);\n}", "line 2: STRING is not legal for INT32");
        error("message m {\n  required int32 a (STRNG);\n}", "line 2: STRNG() is not an annotation");
        error("message m {\n", "line 2: required, optional, repeated or } expected");
        error("message m { } x", "line 1: the end expected, not x");
    }

    #[test]
    fn no_depth_is_too_much() {
        let text = format!("message m {{{}", "required group g {".repeat(100_000));
        assert!(Schema::parse(&text).unwrap_err().message().contains("schema_depth"));
    }
}
