//! The features of a FeatureCollection of GeoJSON as one flat object a line.

use super::line_reader::{ToLines, broken};
use serde_json::{Map, Value};
use std::io::{self, BufRead};

/// A line for each feature: its properties, and `geometry` with the JSON of its geometry as text. Its `id` is `id`, if no property is
/// called so. Other members of the collection, and of features, are passed over.
pub(super) struct Features {
    from: Box<dyn BufRead + Send>,
    at: At,
    /// Brackets and braces that are open inside of a value.
    depth: usize,
    /// The name of a member, or a feature, as far as it was read.
    text: Vec<u8>,
    /// Features so far.
    count: u64,
    has_features: bool,
}

/// Where in the collection it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum At {
    Start,
    /// Where the name of a member or the end must come.
    Name,
    NameText(bool),
    Colon,
    /// Where the list of features must begin.
    List,
    /// A member that is passed over; inside of a text; behind a backslash there.
    Passed,
    PassedText(bool),
    /// Where a feature or the end of the list must come; or, behind a comma, a feature.
    First,
    Next,
    Feature,
    FeatureText(bool),
    End,
}

/// The column of geometries.
pub(in crate::inputs) const GEOMETRY: &str = "geometry";

impl Features {
    pub(super) fn new(from: Box<dyn BufRead + Send>) -> Self {
        Features { from, at: At::Start, depth: 0, text: Vec::new(), count: 0, has_features: false }
    }

    fn step(&mut self, byte: u8, lines: &mut Vec<u8>) -> io::Result<At> {
        let is_blank = matches!(byte, b' ' | b'\t' | b'\n' | b'\r');
        Ok(match (self.at, byte) {
            (At::NameText(true), _) => At::NameText(false),
            (At::NameText(false), b'\\') => At::NameText(true),
            (At::NameText(false), b'"') => At::Colon,
            (At::NameText(false), byte) => {
                self.text.push(byte);
                At::NameText(false)
            }
            (At::PassedText(true), _) => At::PassedText(false),
            (At::PassedText(false), b'\\') => At::PassedText(true),
            (At::PassedText(false), b'"') => At::Passed,
            (At::PassedText(false), _) => At::PassedText(false),
            (At::FeatureText(is_escaped), byte) => {
                self.text.push(byte);
                match byte {
                    _ if is_escaped => At::FeatureText(false),
                    b'\\' => At::FeatureText(true),
                    b'"' => At::Feature,
                    _ => At::FeatureText(false),
                }
            }
            (At::Feature, b',' | b']') if self.depth == 0 => {
                self.feature(lines)?;
                if byte == b',' { At::Next } else { At::Name }
            }
            (At::First, b']') => At::Name,
            (At::First | At::Next, b',' | b']') => return Err(broken("a feature is missing in the list")),
            (At::First | At::Next | At::Feature, byte) => {
                if is_blank && self.at != At::Feature {
                    return Ok(self.at);
                }
                self.text.push(byte);
                self.nest(byte);
                if byte == b'"' { At::FeatureText(false) } else { At::Feature }
            }
            (At::Passed, b'"') => At::PassedText(false),
            (At::Passed, b',') if self.depth == 0 => At::Name,
            (At::Passed, b'}') if self.depth == 0 => At::End,
            (At::Passed, byte) => {
                self.nest(byte);
                At::Passed
            }
            (at, _) if is_blank => at,
            (At::Start, b'{') => At::Name,
            (At::Name, b',') => At::Name,
            (At::Name, b'}') => At::End,
            (At::Name, b'"') => {
                self.text.clear();
                At::NameText(false)
            }
            (At::Colon, b':') if self.text == b"features" => {
                self.text.clear();
                At::List
            }
            (At::Colon, b':') => {
                self.depth = 0;
                At::Passed
            }
            (At::List, b'[') => {
                (self.has_features, self.depth) = (true, 0);
                At::First
            }
            (At::List, _) => return Err(broken("`features` is no list")),
            (At::End, _) => return Err(broken("something else stands behind the collection")),
            (At::Start | At::Name | At::Colon, _) => {
                return Err(broken("is no FeatureCollection of GeoJSON"));
            }
        })
    }

    fn nest(&mut self, byte: u8) {
        match byte {
            b'{' | b'[' => self.depth += 1,
            b'}' | b']' => self.depth = self.depth.saturating_sub(1),
            _ => {}
        }
    }

    /// A feature was read.
    fn feature(&mut self, lines: &mut Vec<u8>) -> io::Result<()> {
        self.count += 1;
        let count = self.count;
        let wrong = |message: String| broken(&format!("feature {count}: {message}"));
        let feature = serde_json::from_slice(&self.text).map_err(|error| wrong(error.to_string()))?;
        self.text.clear();
        let Value::Object(mut feature) = feature else { return Err(wrong("is no object".to_owned())) };
        if feature.get("type").and_then(Value::as_str) != Some("Feature") {
            return Err(wrong("is no Feature".to_owned()));
        }
        let properties = match feature.remove("properties") {
            Some(Value::Object(properties)) => properties,
            None | Some(Value::Null) => Map::new(),
            Some(_) => return Err(wrong("`properties` are no object".to_owned())),
        };
        if properties.contains_key(GEOMETRY) {
            return Err(wrong(format!("a property is called {GEOMETRY}, as the column of geometries is")));
        }
        let mut line = Map::new();
        match feature.remove("id") {
            Some(id) if !id.is_null() && !properties.contains_key("id") => {
                _ = line.insert("id".to_owned(), id)
            }
            _ => {}
        }
        line.extend(properties);
        let geometry = match feature.remove("geometry") {
            None | Some(Value::Null) => Value::Null,
            Some(geometry) => Value::String(geometry.to_string()),
        };
        line.insert(GEOMETRY.to_owned(), geometry);
        serde_json::to_writer(&mut *lines, &line).map_err(io::Error::from)?;
        lines.push(b'\n');
        Ok(())
    }
}

impl ToLines for Features {
    fn next_lines(&mut self, lines: &mut Vec<u8>) -> io::Result<bool> {
        let bytes = self.from.fill_buf()?.to_vec();
        if bytes.is_empty() {
            return match (self.at, self.has_features) {
                (At::End, true) => Ok(false),
                (At::End, false) => Err(broken("has no `features`: it is no FeatureCollection of GeoJSON")),
                _ => Err(broken("the collection is not closed")),
            };
        }
        for byte in &bytes {
            self.at = self.step(*byte, lines)?;
        }
        self.from.consume(bytes.len());
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::super::line_reader::LineReader;
    use super::*;
    use std::io::{BufReader, Cursor, Read};

    fn lines(text: &str, buffer: usize) -> io::Result<String> {
        let from = BufReader::with_capacity(buffer, Cursor::new(text.as_bytes().to_vec()));
        let mut out = String::new();
        LineReader::new(Features::new(Box::new(from))).read_to_string(&mut out).map(|_| out)
    }

    #[test]
    fn each_feature_on_a_line() {
        let text = r#" {"type": "FeatureCollection", "crs": {"a": ["]}\"", 1]}, "features": [
            {"type": "Feature", "id": 7, "properties": {"a": "],\"[", "n": 1.50}, "geometry": {"type": "Point", "coordinates": [1, 2.50]}} ,
            {"geometry": null, "type": "Feature", "properties": null}
            ], "bbox": [1, 2] } "#;
        let expected = concat!(
            r#"{"id":7,"a":"],\"[","n":1.50,"geometry":"{\"type\":\"Point\",\"coordinates\":[1,2.50]}"}"#,
            "\n{\"geometry\":null}\n"
        );
        for buffer in [1, 2, 7, 1 << 16] {
            assert_eq!(lines(text, buffer).unwrap(), expected);
            assert_eq!(lines(r#"{"features":[]}"#, buffer).unwrap(), "");
            for (wrong, message) in [
                ("", "not closed"),
                ("[]", "no FeatureCollection"),
                ("{}", "no `features`"),
                (r#"{"features": 5}"#, "no list"),
                (r#"{"features": [1]}"#, "feature 1: is no object"),
                (r#"{"features": [{"type":"Point"}]}"#, "feature 1: is no Feature"),
                (r#"{"features": [{"type":"Feature"},]}"#, "missing"),
                (r#"{"features": [{"type":"Feature"}"#, "not closed"),
                (r#"{"features": [{"type":"Feature"}]} x"#, "behind"),
                (r#"{"features": [{"type":"Feature","properties":{"geometry":1}}]}"#, "is called geometry"),
            ] {
                let error = lines(wrong, buffer).unwrap_err().to_string();
                assert!(error.contains(message), "{wrong}: {error}");
            }
        }
    }
}
