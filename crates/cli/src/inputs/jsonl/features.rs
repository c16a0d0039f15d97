//! Rewrites the features of a GeoJSON FeatureCollection as one flat object on each line.

use super::feature_crs::FeatureCrs;
use super::line_reader::{ToLines, broken};
use serde_json::{Map, Value};
use std::io::{self, BufRead};

/// A line for each feature: its properties, and `geometry` with the JSON of its geometry as text. Its `id` is the
/// member `id`, unless a property `id` has another value, which is an error. The collection's `crs` is read. Its other
/// members, and those of features, are ignored.
pub(super) struct Features {
    from: Box<dyn BufRead + Send>,
    at: At,
    /// Number of open brackets and braces within a value.
    depth: usize,
    /// The name of a member, the `crs`, or a feature, as far as it was read.
    text: Vec<u8>,
    /// Features so far.
    count: u64,
    has_features: bool,
    crs: FeatureCrs,
    /// Whether the skipped member is `crs`.
    is_crs: bool,
}

/// The position in the collection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum At {
    Start,
    /// A member's name or the end must follow.
    Name,
    NameText(bool),
    Colon,
    /// The list of features must follow.
    List,
    /// In a skipped member; in a string of it; after a backslash there.
    Passed,
    PassedText(bool),
    /// A feature or the end of the list must follow; after a comma, a feature.
    First,
    Next,
    Feature,
    FeatureText(bool),
    End,
}

/// The name of the geometry column.
pub(in crate::inputs) const GEOMETRY: &str = "geometry";

impl Features {
    pub(super) fn new(from: Box<dyn BufRead + Send>, crs: FeatureCrs) -> Self {
        Features {
            from,
            at: At::Start,
            depth: 0,
            text: Vec::new(),
            count: 0,
            has_features: false,
            crs,
            is_crs: false,
        }
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
            (At::PassedText(is_escaped), byte) => {
                self.pass(byte);
                match byte {
                    _ if is_escaped => At::PassedText(false),
                    b'\\' => At::PassedText(true),
                    b'"' => At::Passed,
                    _ => At::PassedText(false),
                }
            }
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
            (At::Passed, b',' | b'}') if self.depth == 0 => {
                self.passed()?;
                if byte == b',' { At::Name } else { At::End }
            }
            (At::Passed, byte) => {
                self.pass(byte);
                self.nest(byte);
                if byte == b'"' { At::PassedText(false) } else { At::Passed }
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
                (self.depth, self.is_crs) = (0, self.text == b"crs");
                self.text.clear();
                At::Passed
            }
            (At::List, b'[') => {
                (self.has_features, self.depth) = (true, 0);
                At::First
            }
            (At::List, _) => return Err(broken("`features` is not a list")),
            (At::End, _) => return Err(broken("there is something else after the collection")),
            (At::Start | At::Name | At::Colon, _) => {
                return Err(broken("is not a FeatureCollection of GeoJSON"));
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

    /// Takes a byte of a skipped member.
    fn pass(&mut self, byte: u8) {
        if self.is_crs {
            self.text.push(byte);
        }
    }

    /// Ends a skipped member.
    fn passed(&mut self) -> io::Result<()> {
        if std::mem::take(&mut self.is_crs) {
            let value = serde_json::from_slice(&self.text);
            self.crs.find(&value.map_err(|error| broken(&format!("`crs`: {error}")))?)?;
        }
        Ok(())
    }

    /// Ends a feature.
    fn feature(&mut self, lines: &mut Vec<u8>) -> io::Result<()> {
        self.count += 1;
        let count = self.count;
        let wrong = |message: String| broken(&format!("feature {count}: {message}"));
        let feature = serde_json::from_slice(&self.text).map_err(|error| wrong(error.to_string()))?;
        self.text.clear();
        let Value::Object(mut feature) = feature else { return Err(wrong("is not an object".to_owned())) };
        if feature.get("type").and_then(Value::as_str) != Some("Feature") {
            return Err(wrong("is not a Feature".to_owned()));
        }
        let properties = match feature.remove("properties") {
            Some(Value::Object(properties)) => properties,
            None | Some(Value::Null) => Map::new(),
            Some(_) => return Err(wrong("`properties` are not an object".to_owned())),
        };
        if properties.contains_key(GEOMETRY) {
            return Err(wrong(format!("a property is called {GEOMETRY}, as the column of geometries is")));
        }
        let of_geometry = || feature.get("geometry").and_then(|geometry| geometry.get("crs"));
        if let Some(crs) = feature.get("crs").or_else(of_geometry)
            && let Some(why) = self.crs.differs(crs).map_err(|error| wrong(error.to_string()))?
        {
            return Err(wrong(why));
        }
        let mut line = Map::new();
        match (feature.remove("id").filter(|id| !id.is_null()), properties.get("id")) {
            (Some(id), None) => _ = line.insert("id".to_owned(), id),
            (Some(id), Some(other)) if id != *other => {
                return Err(wrong(format!(
                    "its id is {id}, and a property called id is {other}: both would be the column id, so rename one of them"
                )));
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
                (At::End, false) => {
                    Err(broken("has no `features`: it is not a FeatureCollection of GeoJSON"))
                }
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
        LineReader::new(Features::new(Box::new(from), FeatureCrs::default()))
            .read_to_string(&mut out)
            .map(|_| out)
    }

    #[test]
    fn each_feature_on_a_line() {
        let text = r#" {"type": "FeatureCollection", "x": {"a": ["]}\"", 1]}, "features": [
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
                ("[]", "not a FeatureCollection"),
                ("{}", "no `features`"),
                (r#"{"features": 5}"#, "not a list"),
                (r#"{"features": [1]}"#, "feature 1: is not an object"),
                (r#"{"features": [{"type":"Point"}]}"#, "feature 1: is not a Feature"),
                (r#"{"features": [{"type":"Feature"},]}"#, "missing"),
                (r#"{"features": [{"type":"Feature"}"#, "not closed"),
                (r#"{"features": [{"type":"Feature"}]} x"#, "after"),
                (r#"{"features": [{"type":"Feature","properties":{"geometry":1}}]}"#, "is called geometry"),
                (
                    r#"{"features": [{"type":"Feature","id":7,"properties":{"id":"x"}}]}"#,
                    "feature 1: its id is 7, and a property called id is \"x\"",
                ),
            ] {
                let error = lines(wrong, buffer).unwrap_err().to_string();
                assert!(error.contains(message), "{wrong}: {error}");
            }
        }
    }

    #[test]
    fn an_id_that_is_a_property_too_is_one_column() {
        let same = r#"{"features": [{"type":"Feature","id":7,"properties":{"id":7}},{"type":"Feature","id":null,"properties":{"id":8}}]}"#;
        let expected = "{\"id\":7,\"geometry\":null}\n{\"id\":8,\"geometry\":null}\n";
        assert_eq!(lines(same, 64).unwrap(), expected);
    }

    #[test]
    fn the_reference_system_is_that_of_the_collection() {
        let named = |name: &str| format!(r#""crs": {{"type": "name", "properties": {{"name": "{name}"}}}}"#);
        let (swiss, degrees) = (named("EPSG:2056"), named("urn:ogc:def:crs:OGC:1.3:CRS84"));
        let feature = r#""features": [{"type": "Feature", "geometry": null}]"#;
        let of_feature = format!(r#""features": [{{"type": "Feature", "geometry": {{{swiss}}}}}]"#);
        let read = |text: &str, buffer: usize| {
            let from = BufReader::with_capacity(buffer, Cursor::new(text.as_bytes().to_vec()));
            let crs = FeatureCrs::default();
            let mut reader = LineReader::new(Features::new(Box::new(from), crs.clone()));
            reader.read_to_string(&mut String::new()).map(|_| crs.settled())
        };
        for buffer in [1, 7, 1 << 16] {
            for (text, expected) in [
                (format!("{{{feature}}}"), "OGC:CRS84"),
                (format!("{{{degrees}, {feature}}}"), "OGC:CRS84"),
                (format!("{{{swiss}, {feature}}}"), "EPSG:2056"),
                (format!("{{{feature}, {swiss}}}"), "EPSG:2056"),
                (format!("{{{swiss}, {of_feature}}}"), "EPSG:2056"),
                (format!("{{\"crs\" : null , {feature}}}"), "srid:0"),
            ] {
                assert_eq!(read(&text, buffer).unwrap(), expected, "{text}");
            }
            for (text, said) in [
                (format!("{{{swiss}, {feature}, {degrees}}}"), "`crs` says OGC:CRS84 where EPSG:2056"),
                (format!("{{{of_feature}}}"), "feature 1: has EPSG:2056 as its own `crs`"),
                (format!("{{\"crs\": 5, {feature}}}"), "not an EPSG code"),
                (format!("{{\"crs\": {{]}}, {feature}}}"), "`crs`: "),
            ] {
                let error = read(&text, buffer).unwrap_err().to_string();
                assert!(error.contains(said), "{text}: {error}");
            }
        }
    }
}
