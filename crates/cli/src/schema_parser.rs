//! Parses what is typed after `--schema`: names and types of columns.
//!
//! ```text
//! columns = column {("," | newline) column}        # begins a comment, to the end of the line
//! column  = name type ["!" | "not null"]           a name with other signs stands in double quotes
//! type    = bool | int8 .. int64 | uint8 .. uint64 | float16 | float32 | float64
//!         | utf8 | large_utf8 | utf8_view | binary | large_binary | binary_view | fixed(bytes)
//!         | decimal(precision, scale) | date | date64 | time(unit) | timestamp(unit [, zone])
//!         | duration(unit) | interval | list<type> | large_list<type> | fixed_list<type, length>
//!         | struct<column, ..> | map<type, type> | dictionary<type> | variant
//! unit    = s | ms | us | ns
//! ```

use crate::failure::Failure;
use arrow_schema::{DataType, Field, Fields, IntervalUnit, Schema, TimeUnit};
use marquetry_text::variant_field;
use std::path::Path;
use std::sync::Arc;

/// The schema in the file that `text` names, or in `text` itself.
pub(crate) fn read(text: &str) -> Result<Schema, Failure> {
    parse(&text_or_file(text)?).map_err(wrong)
}

/// The contents of the file that `text` names, or `text` itself.
pub(crate) fn text_or_file(text: &str) -> Result<String, Failure> {
    let Some(path) = named_file(text) else {
        // Even the shortest schemas, such as `id int64` and `"id"int64`, are more than a word.
        let is_word = !text.is_empty() && !text.contains(|c: char| c.is_whitespace() || c == '"');
        return match is_word {
            true => Err(wrong(format!("no file is called {text:?}, and it is not a schema"))),
            false => Ok(text.to_owned()),
        };
    };
    std::fs::read_to_string(path).map_err(|error| wrong(format!("{}: {error}", path.display())))
}

/// The file that `text` names, if it exists; it may be a pipe.
pub(crate) fn named_file(text: &str) -> Option<&Path> {
    Some(Path::new(text)).filter(|path| path.exists() && !path.is_dir())
}

fn wrong(message: String) -> Failure {
    Failure::Usage(format!("--schema: {message}"))
}

/// Parses a schema.
pub(crate) fn parse(text: &str) -> Result<Schema, String> {
    let mut parser = Parser { tokens: tokens(text)?, at: 0, depth: 0 };
    let fields = parser.fields(None)?;
    Ok(Schema::new(fields))
}

/// Parses a key and its type, such as `year int16`.
pub(crate) fn partition_type(text: &str) -> Result<(String, DataType), String> {
    let schema = parse(text)?;
    match &schema.fields()[..] {
        [field] => Ok((field.name().clone(), field.data_type().clone())),
        _ => Err("say one key and its type, such as `year int16`".to_owned()),
    }
}

/// A word, a name in quotes, or a sign; a line break that ends a column is a comma.
#[derive(Debug, Clone, PartialEq)]
enum Token {
    Word(String),
    Name(String),
    Sign(char),
    Line,
}

fn tokens(text: &str) -> Result<Vec<Token>, String> {
    let mut out = Vec::new();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\n' => out.push(Token::Line),
            '#' => while chars.next_if(|c| *c != '\n').is_some() {},
            '"' => {
                let mut name = String::new();
                loop {
                    match chars.next() {
                        // A quote in a name is written twice.
                        Some('"') if chars.next_if_eq(&'"').is_some() => name.push('"'),
                        Some('"') => break,
                        Some(c) => name.push(c),
                        None => return Err("a quote is not closed".to_owned()),
                    }
                }
                out.push(Token::Name(name));
            }
            ',' | '<' | '>' | '(' | ')' | '!' => out.push(Token::Sign(c)),
            c if c.is_whitespace() => {}
            c => {
                let mut word = String::from(c);
                while let Some(c) = chars.next_if(|c| !c.is_whitespace() && !"\",<>()!#".contains(*c)) {
                    word.push(c);
                }
                out.push(Token::Word(word));
            }
        }
    }
    Ok(out)
}

struct Parser {
    tokens: Vec<Token>,
    at: usize,
    depth: usize,
}

impl Parser {
    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at)
    }

    fn take(&mut self, token: &Token) -> bool {
        let is_next = self.peek() == Some(token);
        self.at += usize::from(is_next);
        is_next
    }

    fn sign(&mut self, sign: char) -> Result<(), String> {
        self.skip_lines();
        if self.take(&Token::Sign(sign)) {
            Ok(())
        } else {
            Err(format!("{sign:?} is missing{}", self.here()))
        }
    }

    fn skip_lines(&mut self) {
        while self.take(&Token::Line) {}
    }

    /// The position of the parser, for messages.
    fn here(&self) -> String {
        match self.peek() {
            Some(Token::Word(text) | Token::Name(text)) => format!(" before {text:?}"),
            Some(Token::Sign(sign)) => format!(" before {sign:?}"),
            Some(Token::Line) => " at the end of a line".to_owned(),
            None => " at the end".to_owned(),
        }
    }

    /// Columns up to `end`.
    fn fields(&mut self, end: Option<char>) -> Result<Fields, String> {
        let mut out: Vec<Field> = Vec::new();
        loop {
            while self.take(&Token::Line) || self.take(&Token::Sign(',')) {}
            let is_end = match end {
                Some(end) => self.take(&Token::Sign(end)),
                None => self.peek().is_none(),
            };
            if is_end {
                break;
            }
            let field = self.field()?;
            if out.iter().any(|other| other.name() == field.name()) {
                return Err(format!("{:?} stands there twice", field.name()));
            }
            out.push(field);
            let is_between = matches!(self.peek(), None | Some(Token::Line | Token::Sign(',')));
            if !is_between && self.peek() != end.map(Token::Sign).as_ref() {
                return Err(format!("a comma is missing{}", self.here()));
            }
        }
        if out.is_empty() {
            return Err("there are no columns".to_owned());
        }
        Ok(out.into())
    }

    fn field(&mut self) -> Result<Field, String> {
        let name = match self.peek().cloned() {
            // Some write `name: type`, or `name=type`.
            Some(Token::Word(name)) if name.contains([':', '=', ';']) => {
                return Err(format!("{name:?}: write `name type, ..`, and such a name in double quotes"));
            }
            Some(Token::Word(name) | Token::Name(name)) => name,
            _ => return Err(format!("a name is missing{}", self.here())),
        };
        self.at += 1;
        self.typed(&name).map_err(|error| format!("{name}: {error}"))
    }

    /// Parses a type, and whether it is nullable.
    fn typed(&mut self, name: &str) -> Result<Field, String> {
        self.skip_lines();
        let is_variant = self.is_word(0, "variant");
        let field = match is_variant {
            true => {
                self.at += 1;
                variant_field(name)
            }
            false => Field::new(name, self.data_type()?, true),
        };
        let is_required = self.required();
        Ok(field.with_nullable(!is_required))
    }

    fn required(&mut self) -> bool {
        if self.take(&Token::Sign('!')) {
            return true;
        }
        let is_required = self.is_word(0, "not") && self.is_word(1, "null");
        self.at += if is_required { 2 } else { 0 };
        is_required
    }

    /// Whether the token at this distance ahead is `word`.
    fn is_word(&self, ahead: usize, word: &str) -> bool {
        matches!(self.tokens.get(self.at + ahead), Some(Token::Word(found)) if found.eq_ignore_ascii_case(word))
    }

    fn data_type(&mut self) -> Result<DataType, String> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err("nested too deeply".to_owned());
        }
        self.skip_lines();
        let Some(Token::Word(word)) = self.peek().cloned() else {
            return Err(format!("a type is missing{}", self.here()));
        };
        self.at += 1;
        let word = word.to_lowercase();
        let data_type = match simple(&word) {
            Some(simple) => simple,
            None => self.with_parts(&word)?,
        };
        self.depth -= 1;
        Ok(data_type)
    }

    fn with_parts(&mut self, word: &str) -> Result<DataType, String> {
        match word {
            "list" | "large_list" | "fixed_list" => self.list(word),
            "struct" => {
                self.sign('<')?;
                Ok(DataType::Struct(self.fields(Some('>'))?))
            }
            "map" => {
                self.sign('<')?;
                let key = Field::new("keys", self.data_type()?, false);
                self.sign(',')?;
                let value = self.typed("values")?;
                self.sign('>')?;
                let entries = Field::new("entries", DataType::Struct(vec![key, value].into()), false);
                Ok(DataType::Map(Arc::new(entries), false))
            }
            "dictionary" => {
                self.sign('<')?;
                let values = self.data_type()?;
                self.sign('>')?;
                Ok(DataType::Dictionary(Box::new(DataType::Int32), Box::new(values)))
            }
            _ => {
                let arguments = self.arguments()?;
                with_arguments(word, &arguments.iter().map(String::as_str).collect::<Vec<_>>())
            }
        }
    }

    fn list(&mut self, word: &str) -> Result<DataType, String> {
        self.sign('<')?;
        let element = Arc::new(self.typed("item")?);
        let list = match word {
            "list" => DataType::List(element),
            "large_list" => DataType::LargeList(element),
            _ => {
                self.sign(',')?;
                let length = match self.peek() {
                    Some(Token::Word(word)) => word.parse::<u16>().ok(),
                    _ => None,
                };
                self.at += 1;
                DataType::FixedSizeList(element, length.ok_or("a length from 0 to 65535 is missing")?.into())
            }
        };
        self.sign('>')?;
        Ok(list)
    }

    /// Parses what stands in parentheses, if anything.
    fn arguments(&mut self) -> Result<Vec<String>, String> {
        let mut out = Vec::new();
        if !self.take(&Token::Sign('(')) {
            return Ok(out);
        }
        while !self.take(&Token::Sign(')')) {
            match self.peek().cloned() {
                Some(Token::Word(word) | Token::Name(word)) => out.push(word),
                Some(Token::Sign(',')) => {}
                _ => return Err(format!("')' is missing{}", self.here())),
            }
            self.at += 1;
        }
        Ok(out)
    }
}

fn simple(word: &str) -> Option<DataType> {
    Some(match word {
        "bool" | "boolean" => DataType::Boolean,
        "int8" => DataType::Int8,
        "int16" => DataType::Int16,
        "int32" => DataType::Int32,
        "int64" => DataType::Int64,
        "uint8" => DataType::UInt8,
        "uint16" => DataType::UInt16,
        "uint32" => DataType::UInt32,
        "uint64" => DataType::UInt64,
        "float16" => DataType::Float16,
        "float32" | "float" => DataType::Float32,
        "float64" | "double" => DataType::Float64,
        "utf8" | "string" | "text" => DataType::Utf8,
        "large_utf8" => DataType::LargeUtf8,
        "utf8_view" => DataType::Utf8View,
        "binary" => DataType::Binary,
        "large_binary" => DataType::LargeBinary,
        "binary_view" => DataType::BinaryView,
        "date" | "date32" => DataType::Date32,
        "date64" => DataType::Date64,
        "interval" => DataType::Interval(IntervalUnit::MonthDayNano),
        _ => return None,
    })
}

fn with_arguments(word: &str, arguments: &[&str]) -> Result<DataType, String> {
    match (word, arguments) {
        ("fixed", [bytes]) => match bytes.parse::<u16>() {
            Ok(bytes) if bytes > 0 => Ok(DataType::FixedSizeBinary(bytes.into())),
            _ => Err("fixed(bytes) has from 1 to 65535 bytes".to_owned()),
        },
        ("decimal", [precision]) => decimal(precision, "0"),
        ("decimal", [precision, scale]) => decimal(precision, scale),
        ("time", [unit]) => Ok(match time_unit(unit)? {
            unit @ (TimeUnit::Second | TimeUnit::Millisecond) => DataType::Time32(unit),
            unit => DataType::Time64(unit),
        }),
        ("timestamp", []) => Ok(DataType::Timestamp(TimeUnit::Microsecond, None)),
        ("timestamp", [unit]) => Ok(DataType::Timestamp(time_unit(unit)?, None)),
        ("timestamp", [unit, zone]) => Ok(DataType::Timestamp(time_unit(unit)?, Some((*zone).into()))),
        ("duration", [unit]) => Ok(DataType::Duration(time_unit(unit)?)),
        ("fixed" | "decimal" | "time" | "timestamp" | "duration", _) => {
            Err(format!("{word} wants other arguments: see `marquetry convert --help`"))
        }
        _ => Err(format!("no type is called {word:?}")),
    }
}

fn decimal(precision: &str, scale: &str) -> Result<DataType, String> {
    match (precision.parse::<u8>(), scale.parse::<i8>()) {
        (Ok(p), Ok(s)) if (1..=38).contains(&p) && (0..=p as i8).contains(&s) => {
            Ok(DataType::Decimal128(p, s))
        }
        (Ok(p), Ok(s)) if (39..=76).contains(&p) && (0..=p as i8).contains(&s) => {
            Ok(DataType::Decimal256(p, s))
        }
        _ => Err("decimal(precision, scale): precision from 1 to 76, scale from 0 to precision".to_owned()),
    }
}

fn time_unit(word: &str) -> Result<TimeUnit, String> {
    Ok(match word {
        "s" => TimeUnit::Second,
        "ms" => TimeUnit::Millisecond,
        "us" => TimeUnit::Microsecond,
        "ns" => TimeUnit::Nanosecond,
        _ => return Err(format!("{word:?} is none of the units s, ms, us, ns")),
    })
}

/// Deeper nesting is a mistake, and would overflow the stack.
const DEEPEST: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_kinds_of_types() {
        let text = "id int64 not null, price decimal(15,2), at timestamp(us, UTC) !\n\
            # a comment\n\"a, b\" fixed(16), tags list<utf8!>\n\
            m map<utf8, list<int32>>, s struct<x float, y struct<z date>> not null, v fixed_list<float32, 3>,\n\
            d dictionary<utf8>, t time(ms), Größe uint8";
        let schema = parse(text).unwrap();
        let names: Vec<_> = schema.fields().iter().map(|field| field.name().as_str()).collect();
        assert_eq!(names, ["id", "price", "at", "a, b", "tags", "m", "s", "v", "d", "t", "Größe"]);
        let field = |name: &str| schema.field_with_name(name).unwrap();
        assert!(!field("id").is_nullable() && field("price").is_nullable() && !field("at").is_nullable());
        assert_eq!(field("price").data_type(), &DataType::Decimal128(15, 2));
        assert_eq!(field("at").data_type(), &DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into())));
        let DataType::List(element) = field("tags").data_type() else { panic!("a list") };
        assert!(!element.is_nullable());
        assert_eq!(field("v").data_type().to_string(), "FixedSizeList(3 x Float32)");
    }

    #[test]
    fn a_word_is_a_file() {
        for text in ["columns.txt", "no/such/columns.txt", "id", "id,int64"] {
            let Failure::Usage(message) = read(text).unwrap_err() else { panic!("{text}: wrong usage") };
            assert_eq!(message, format!("--schema: no file is called {text:?}, and it is not a schema"));
        }
        assert_eq!(read("\"id\"int64").unwrap(), read("id int64").unwrap());
        assert!(text_or_file("").unwrap().is_empty());
        assert_eq!(text_or_file("message m {}").unwrap(), "message m {}");
    }

    #[test]
    fn mistakes_are_named() {
        for (text, part) in [
            ("", "no columns"),
            ("a", "a type is missing"),
            ("a int64 b int64", "comma"),
            ("a wurst", "wurst"),
            ("a list<int8", "'>'"),
            ("a decimal(99, 2)", "precision"),
            ("a timestamp(h)", "units"),
            ("a int8, a int8", "twice"),
            ("a: int64", "double quotes"),
            ("\"a int64", "quote"),
            ("a fixed(0)", "bytes"),
            ("a fixed_list<int8, x>", "length"),
        ] {
            let error = parse(text).unwrap_err();
            assert!(error.contains(part), "{text}: {error}");
        }
        let deep = format!("a {}int8{}", "list<".repeat(100), ">".repeat(100));
        assert!(parse(&deep).unwrap_err().contains("deeply"));
    }
}
