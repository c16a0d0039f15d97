//! Reads well-known text as a geometry.
//!
//! ```text
//! geometry  := ("SRID=" number ";")? name ("Z" | "M" | "ZM")? body          also POINTZ, and any case
//! body      := "EMPTY" | "(" position ("," position)* ")" | "(" ring ("," ring)* ")" | "(" member ("," member)* ")"
//! member    := body | geometry                                            a multi-point may leave its parentheses out
//!
//! Each geometry has the dimensions behind its own name; a member without a name has those of what holds it.
//! ```

use crate::kind::{Body, Dimensions, Kind};
use crate::wkb::{DEPTH, Writer};
use marquetry_base::{Error, Result};

/// Converts well-known text to well-known binary: little-endian, with ISO codes. An SRID at the start is ignored.
/// Without Z or M after the kind, three numbers are x, y and z; four are x, y, z and m.
///
/// Fails, with the position of the byte, if the text is not a geometry or is nested deeper than [`DEPTH`].
///
/// ```
/// use marquetry_geo::wkt;
/// let wkb = wkt::parse("MULTIPOINT (1 2, 3 4)")?;
/// assert_eq!(wkt::to_string(&wkb)?, "MULTIPOINT ((1 2), (3 4))");
/// assert!(wkt::parse("POINT (1)").is_err());
/// # Ok::<(), marquetry_base::Error>(())
/// ```
pub fn parse(text: &str) -> Result<Vec<u8>> {
    let mut parser = Parser { text, at: 0, out: Writer::new() };
    if parser.peek_word().eq_ignore_ascii_case("SRID") {
        let Some(end) = text.find(';') else { return Err(parser.wrong("`;` behind the SRID")) };
        parser.at = end + 1;
    }
    parser.geometry(None, None, DEPTH)?;
    match parser.rest() {
        "" => Ok(parser.out.finish()),
        _ => Err(parser.wrong("the end")),
    }
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    out: Writer,
}

impl<'a> Parser<'a> {
    /// Skips white space and returns the text that follows.
    fn rest(&mut self) -> &'a str {
        let rest = &self.text[self.at..];
        let trimmed = rest.trim_start();
        self.at += rest.len() - trimmed.len();
        trimmed
    }

    fn wrong(&self, expected: &str) -> Error {
        Error::argument(format!("{expected} is expected at byte {} of well-known text", self.at))
    }

    fn peek_word(&mut self) -> &'a str {
        let rest = self.rest();
        let len = rest.bytes().take_while(|byte| byte.is_ascii_alphabetic()).count();
        &rest[..len]
    }

    fn take_word(&mut self, word: &str) -> bool {
        let is_next = self.peek_word().eq_ignore_ascii_case(word);
        self.at += if is_next { word.len() } else { 0 };
        is_next
    }

    fn take_sign(&mut self, sign: char) -> bool {
        let is_next = self.rest().starts_with(sign);
        self.at += usize::from(is_next);
        is_next
    }

    fn expect(&mut self, sign: char) -> Result<()> {
        match self.take_sign(sign) {
            true => Ok(()),
            false => Err(self.wrong(&format!("`{sign}`"))),
        }
    }

    /// Parses a geometry with its name, or a member without a name whose kind is known. `within` are the dimensions of
    /// the geometry around it.
    fn geometry(&mut self, holder: Option<Kind>, within: Option<Dimensions>, depth: usize) -> Result<()> {
        let word = self.peek_word();
        let unnamed = holder.and_then(Kind::unnamed_member);
        let (kind, said) = match (word, unnamed) {
            (word, Some(kind)) if word.is_empty() || word.eq_ignore_ascii_case("EMPTY") => (kind, within),
            // The dimensions of a named geometry follow its name.
            _ => self.name()?,
        };
        if holder.is_some_and(|holder| !holder.holds(kind)) {
            return Err(self.wrong("another kind of geometry"));
        }
        let dimensions = match said {
            Some(dimensions) => dimensions,
            None => self.look_ahead().unwrap_or_default(),
        };
        self.out.header(kind, dimensions);
        match kind.body() {
            Body::Position => self.point(dimensions, holder == Some(Kind::MultiPoint)),
            Body::Positions => self.list(|parser| parser.position(dimensions)),
            Body::Rings => self.list(|parser| parser.list(|parser| parser.position(dimensions))),
            Body::Members => {
                let Some(depth) = depth.checked_sub(1) else {
                    return Err(Error::unsupported(format!("geometries nested deeper than {DEPTH}")));
                };
                self.list(|parser| parser.geometry(Some(kind), Some(dimensions), depth))
            }
        }
    }

    fn name(&mut self) -> Result<(Kind, Option<Dimensions>)> {
        let start = self.at;
        let word = self.peek_word();
        self.at += word.len();
        let upper = word.to_ascii_uppercase();
        let dimensions = |suffix: &str| match suffix {
            "Z" => Some(Dimensions { z: true, m: false }),
            "M" => Some(Dimensions { z: false, m: true }),
            "ZM" => Some(Dimensions { z: true, m: true }),
            _ => None,
        };
        if let Some(kind) = Kind::of_name(&upper) {
            let said = dimensions(&self.peek_word().to_ascii_uppercase());
            self.at += if said.is_some() { self.peek_word().len() } else { 0 };
            return Ok((kind, said));
        }
        let glued = ["ZM", "Z", "M"]
            .into_iter()
            .find_map(|suffix| Some((Kind::of_name(upper.strip_suffix(suffix)?)?, dimensions(suffix))));
        self.at = if glued.is_some() { self.at } else { start };
        glued.ok_or_else(|| self.wrong("the name of a geometry"))
    }

    /// Guesses the dimensions from the count of numbers in the first position, if nothing else states them.
    fn look_ahead(&mut self) -> Option<Dimensions> {
        let rest = self.rest();
        let start = rest.find(|c: char| c.is_ascii_digit() || matches!(c, '-' | '+' | '.'))?;
        // The members of a collection state their own dimensions.
        if rest[..start].bytes().any(|byte| byte.is_ascii_alphabetic()) {
            return None;
        }
        let end = rest[start..].find([',', ')', '(']).map_or(rest.len(), |end| start + end);
        Some(match rest[start..end].split_ascii_whitespace().count() {
            3 => Dimensions { z: true, m: false },
            4.. => Dimensions { z: true, m: true },
            _ => Dimensions::default(),
        })
    }

    fn point(&mut self, dimensions: Dimensions, may_be_bare: bool) -> Result<()> {
        if self.take_word("EMPTY") {
            self.out.position(dimensions, [f64::NAN; 4]);
            return Ok(());
        }
        if !self.take_sign('(') {
            return match may_be_bare {
                true => self.position(dimensions),
                false => Err(self.wrong("`(`")),
            };
        }
        self.position(dimensions)?;
        self.expect(')')
    }

    /// Parses parts in parentheses, and writes their number before them.
    fn list(&mut self, mut part: impl FnMut(&mut Self) -> Result<()>) -> Result<()> {
        let count = self.out.count();
        if self.take_word("EMPTY") {
            return Ok(());
        }
        self.expect('(')?;
        let mut n = 0;
        loop {
            part(self)?;
            n += 1;
            if !self.take_sign(',') {
                break;
            }
        }
        self.expect(')')?;
        self.out.set_count(count, n)
    }

    fn position(&mut self, dimensions: Dimensions) -> Result<()> {
        let mut position = [f64::NAN; 4];
        let places = [Some(0), Some(1), dimensions.z.then_some(2), dimensions.m.then_some(3)];
        for place in places.into_iter().flatten() {
            position[place] = self.number()?;
        }
        self.out.position(dimensions, position);
        Ok(())
    }

    fn number(&mut self) -> Result<f64> {
        let rest = self.rest();
        let len =
            rest.find(|c: char| c.is_whitespace() || matches!(c, ',' | '(' | ')')).unwrap_or(rest.len());
        let number = rest[..len].parse().map_err(|_| self.wrong("a number"))?;
        self.at += len;
        Ok(number)
    }
}
