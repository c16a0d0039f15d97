//! The parser: text becomes a predicate.
//!
//! ```text
//! any        := all ("or" all)*
//! all        := one ("and" one)*
//! one        := "not" one | "(" any ")" | "true" | "false" | function | comparison | "(" column ("," column)+ ")" sign list
//! function   := "is_nan" "(" value ")" | "bbox_intersects" "(" value ("," number)+ ")"
//!             | ("starts_with" | "ends_with" | "contains" | "regexp_like") "(" value "," literal ")"
//!             | ("any" | "all") "(" column ")" rest? | ("any" | "all") "(" any ")"
//!             | "cardinality" "(" column ")" (sign number | "not"? "between" number "and" number)
//! comparison := value rest? | literal sign column            value alone: one of booleans
//! value      := column ("[" literal "]")?
//! rest       := sign (literal | column) | ("~" | "~*" | "!~" | "!~*") text
//!             | "is" "not"? ("null" | "true" | "false" | "unknown" | "empty" | "distinct" "from" (literal | column))
//!             | "not"? ("in" (list | "@" file) | "between" literal "and" literal | ("like" | "ilike") text ("escape" text)?)
//! ```

use super::lex::{INSTEAD, Piece, Token};
use super::parser::Parser;
use super::{BBox, ColumnPath, Comparison, Literal, Pattern, Predicate, col};
use marquetry_base::{Error, Result};

impl Predicate {
    /// Parses a predicate in the syntax of SQL after WHERE.
    ///
    /// ```text
    /// = != <> < <= > >=     in (1, 2)     between 1 and 2     is null     is_nan(x)     and  or  not  ( )
    /// like 'a%b_'     ilike 'a%'     like '5!%' escape '!'     ~ '^[a-z]+$'     ~* 'any case'     !~ 'not this'
    /// a < b     a is distinct from b     a is true     (a, b) > (1, 'x')
    /// starts_with(name, 'abc')     ends_with(name, 'xyz')     contains(name, 'mno')     regexp_like(name, '[0-9]')
    /// any(tags) = 'x'     all(prices) > 0     any(points.x) between 1 and 2     any(points.x > 1 and points.x < 2)
    /// bbox_intersects(geom, 5.9, 45.8, 10.5, 47.8)     bbox_intersects(geom, xmin, ymin, zmin, xmax, ymax, zmax)
    /// contains(tags, 'x')     cardinality(tags) > 3     tags is not empty     attributes['colour'] = 'red'
    ///
    /// columns    name   a.b (field b of struct a)   "any name"   "a.b" (a column of this name)
    /// literals   1   -1.5e3   'it''s'   true   null   date '2024-01-01'   timestamp '2024-01-01 10:00:00+02:00'
    ///            time '10:00'   X'0aff'
    /// paths into a VARIANT    payload:user.id::bigint > 5     payload:kind = 'x'     any(payload:tags[*]::text) = 'x'
    ///            payload:a is null     payload:a is missing     payload:a is variant null
    ///            payload::bigint > 5   payload:$ is variant null   (the value itself)
    /// ```
    ///
    /// Dates, times, timestamps, UUIDs, numbers and booleans may also be given as strings; geometries, which support
    /// `=` and `!=`, as well-known text; and bytes that are not text with `\xNN`. `is null`, `in`, `between`, `like`
    /// and `ilike` may have a `not`. [`Pattern`] describes patterns.
    ///
    /// Fails with the position of the text that is not understood.
    pub fn parse(text: &str) -> Result<Self> {
        Self::parse_with_lists(text, &|_| {
            Err(Error::argument("lists in files are not read here: write the values in parentheses"))
        })
    }

    /// Parses a predicate in which lists may be in files: `id in @ids.txt`, `id in @'my ids.txt'`. `read_list` returns
    /// the values of a file by its name. Values given as text are valid for columns of any type.
    ///
    /// ```
    /// use marquetry_core::predicate::{Literal, Predicate, col};
    /// let read = |_: &str| Ok(vec![Literal::from("5"), Literal::from("7")]);
    /// assert_eq!(Predicate::parse_with_lists("id in @ids.txt", &read)?, col("id").is_in(["5", "7"]));
    /// # Ok::<(), marquetry_base::Error>(())
    /// ```
    pub fn parse_with_lists(text: &str, read_list: &dyn Fn(&str) -> Result<Vec<Literal>>) -> Result<Self> {
        let mut parser = Parser::new(text, read_list)?;
        let out = parser.any()?;
        match parser.peek() {
            Piece::End => Ok(out),
            _ => Err(parser.unexpected("and, or, or the end")),
        }
    }
}

/// Maximum nesting depth, which the stack must hold.
const DEPTH: usize = 100;

impl Parser<'_> {
    fn any(&mut self) -> Result<Predicate> {
        let mut out = self.all()?;
        let mut any = Vec::new();
        while self.take_word("or") {
            any.push(self.all()?);
        }
        if !any.is_empty() {
            any.insert(0, out);
            out = Predicate::Or(any);
        }
        Ok(out)
    }

    fn all(&mut self) -> Result<Predicate> {
        let mut out = self.one()?;
        let mut all = Vec::new();
        while self.take_word("and") {
            all.push(self.one()?);
        }
        if !all.is_empty() {
            all.insert(0, out);
            out = Predicate::And(all);
        }
        Ok(out)
    }

    fn one(&mut self) -> Result<Predicate> {
        if self.take_word("not") {
            return Ok(!self.deeper(Self::one)?);
        }
        if self.take_sign("(") {
            if self.is_tuple() {
                return self.tuple();
            }
            let inner = self.deeper(Self::any)?;
            self.expect(")")?;
            return Ok(inner);
        }
        match self.peek() {
            Piece::Word(word) if self.tokens[self.next + 1].is == Piece::Sign("(") => {
                let word = word.to_ascii_lowercase();
                self.function(&word)
            }
            Piece::Word(_) | Piece::Quoted(_) if !self.is_literal() => {
                let column = self.column()?;
                match self.key()? {
                    None => self.comparison(column),
                    Some(key) => Ok(self.of_value(|parser| parser.comparison(column))?.at_key(key)),
                }
            }
            _ => self.reversed(),
        }
    }

    fn deeper(&mut self, part: impl FnOnce(&mut Self) -> Result<Predicate>) -> Result<Predicate> {
        self.depth += 1;
        if self.depth > DEPTH {
            return Err(self.wrong(format!("nested deeper than {DEPTH}")));
        }
        let out = part(self);
        self.depth -= 1;
        out
    }

    fn function(&mut self, name: &str) -> Result<Predicate> {
        const FUNCTIONS: [&str; 9] = [
            "starts_with",
            "ends_with",
            "contains",
            "regexp_like",
            "is_nan",
            "bbox_intersects",
            "any",
            "all",
            "cardinality",
        ];
        if !FUNCTIONS.contains(&name) {
            let known = FUNCTIONS.join(", ");
            let message = format!("no function {name}; a predicate has {known}. {INSTEAD}");
            return Err(self.wrong(message));
        }
        self.next += 1;
        self.expect("(")?;
        match name {
            "any" => return self.elements().map(Predicate::any),
            "all" => return self.elements().map(Predicate::all),
            "cardinality" => return self.cardinality(),
            _ => {}
        }
        let column = col(self.column()?);
        let key = self.key()?;
        if name != "is_nan" {
            self.expect(",")?;
        }
        let out = match name {
            "is_nan" => column.is_nan(),
            "starts_with" => column.starts_with(self.literal()?),
            "ends_with" => column.ends_with(self.string()?),
            "contains" if self.is_string() => column.contains(self.string()?),
            // Only a list contains values that are neither text nor bytes.
            "contains" => column.eq(self.literal()?).any(),
            "bbox_intersects" => column.bbox_intersects(self.bbox()?),
            _ => column.matches(self.pattern(Pattern::Regex)?),
        };
        self.expect(")")?;
        Ok(match key {
            None => out,
            Some(key) => out.at_key(key),
        })
    }

    /// Parses the numbers of a box, separated by commas.
    fn bbox(&mut self) -> Result<BBox> {
        let start = self.next;
        let mut numbers = vec![self.float()?];
        while self.take_sign(",") {
            numbers.push(self.float()?);
        }
        BBox::of_numbers(&numbers).map_err(|error| self.wrong_at(start, error.to_string()))
    }

    /// Parses the predicate on elements of a list, after the opening parenthesis.
    fn elements(&mut self) -> Result<Predicate> {
        let start = self.next;
        let column = self.column().ok().filter(|_| self.take_sign(")"));
        let out = match column {
            Some(column) => self.of_value(|parser| parser.comparison(column))?,
            None => {
                self.next = start;
                let inner = self.of_value(|parser| parser.deeper(Self::any))?;
                self.expect(")")?;
                inner
            }
        };
        let columns = out.columns();
        match columns.first() {
            Some(first) if columns.iter().all(|column| column == first) => Ok(out),
            _ => Err(self.wrong_at(start, "any() and all() ask for the elements of one column")),
        }
    }

    /// Parses a predicate on an element or a map's value. It must not use elements again, nor another column.
    fn of_value(&mut self, part: impl FnOnce(&mut Self) -> Result<Predicate>) -> Result<Predicate> {
        let start = self.next;
        let out = part(self)?;
        match is_of_value(&out) {
            true => Ok(out),
            false => Err(self.wrong_at(start, "an element or a map's value is compared with literals only")),
        }
    }

    /// Parses a comparison of the number of elements, after the opening parenthesis.
    fn cardinality(&mut self) -> Result<Predicate> {
        let column = col(self.column()?);
        self.expect(")")?;
        if let Some(is) = self.sign() {
            return Ok(column.cardinality(is, self.count()?));
        }
        let is_negated = self.take_word("not");
        if !self.take_word("between") {
            return Err(self.unexpected("a comparison or between"));
        }
        let low = column.clone().cardinality(Comparison::Ge, self.count()?);
        if !self.take_word("and") {
            return Err(self.unexpected("and"));
        }
        Ok(negated_if(is_negated, low.and(column.cardinality(Comparison::Le, self.count()?))))
    }

    /// Parses what follows a column.
    fn comparison(&mut self, column: ColumnPath) -> Result<Predicate> {
        if let Some(is) = self.sign() {
            return match self.is_column() {
                true => Ok(col(column).compare_column(is, self.column()?)),
                false => Ok(col(column).compare(is, self.literal()?)),
            };
        }
        let regex = [
            ("~", Pattern::Regex as fn(String) -> Pattern, false),
            ("~*", Pattern::RegexIgnoringCase, false),
            ("!~", Pattern::Regex, true),
            ("!~*", Pattern::RegexIgnoringCase, true),
        ];
        if let Some((_, make, is_negated)) = regex.into_iter().find(|(sign, ..)| self.take_sign(sign)) {
            return Ok(negated_if(is_negated, col(column).matches(self.pattern(make)?)));
        }
        if self.take_word("is") {
            let is_negated = self.take_word("not");
            return Ok(negated_if(is_negated, self.state(column)?));
        }
        if matches!(self.peek(), Piece::Sign("+" | "-")) {
            return Err(self.wrong(format!("a predicate does not calculate. {INSTEAD}")));
        }
        let is_negated = self.take_word("not");
        let out = if self.take_word("in") {
            col(column).is_in(self.list()?)
        } else if self.take_word("between") {
            let low = self.literal()?;
            if !self.take_word("and") {
                return Err(self.unexpected("and"));
            }
            col(column).between(low, self.literal()?)
        } else if self.take_word("like") {
            match self.pattern(Pattern::Like)? {
                Pattern::Like(pattern) => col(column).like(pattern),
                pattern => col(column).matches(pattern),
            }
        } else if self.take_word("ilike") {
            col(column).matches(self.pattern(Pattern::ILike)?)
        } else if is_negated {
            return Err(self.unexpected("in, between, like or ilike"));
        } else {
            return Ok(col(column).eq(true));
        };
        Ok(negated_if(is_negated, out))
    }

    /// Parses what follows `is`; the result is never unknown.
    fn state(&mut self, column: ColumnPath) -> Result<Predicate> {
        if self.take_word("null") || self.take_word("unknown") {
            return Ok(col(column).is_null());
        }
        if self.take_word("missing") {
            return Ok(Predicate::IsMissing { column });
        }
        if self.take_word("variant") {
            return match self.take_word("null") {
                true => Ok(Predicate::IsVariantNull { column }),
                false => Err(self.unexpected("null")),
            };
        }
        if self.take_word("true") {
            return Ok(!col(column).is_distinct_from_literal(true));
        }
        if self.take_word("false") {
            return Ok(!col(column).is_distinct_from_literal(false));
        }
        if self.take_word("empty") {
            return Ok(col(column).is_empty());
        }
        if !self.take_word("distinct") {
            return Err(
                self.unexpected("null, true, false, unknown, empty, missing, variant null or distinct from")
            );
        }
        if !self.take_word("from") {
            return Err(self.unexpected("from"));
        }
        if self.is_column() {
            return Ok(col(column).is_distinct_from(self.column()?));
        }
        Ok(col(column).is_distinct_from_literal(self.literal()?))
    }

    /// Parses `(a, b) < (1, 2)`, after the opening parenthesis; the first pair that differs decides.
    fn tuple(&mut self) -> Result<Predicate> {
        let at = self.next;
        let mut columns = vec![self.column()?];
        while self.take_sign(",") {
            columns.push(self.column()?);
        }
        self.expect(")")?;
        let Some(is) = self.sign() else {
            return Err(self.unexpected("a comparison"));
        };
        let literals = self.list()?;
        if columns.len() != literals.len() {
            let message = format!("{} columns are compared with {} literals", columns.len(), literals.len());
            return Err(self.wrong_at(at, message));
        }
        Ok(Predicate::compare_tuple(is, columns.into_iter().zip(literals)))
    }

    /// Whether a tuple follows, which is columns in parentheses separated by commas, instead of a predicate.
    fn is_tuple(&self) -> bool {
        let mut at = self.next;
        while let Some(Token { is: Piece::Word(_) | Piece::Quoted(_), .. }) = self.tokens.get(at) {
            match self.tokens.get(at + 1).map(|token| &token.is) {
                Some(Piece::Sign(".")) => at += 2,
                Some(Piece::Sign(",")) => return true,
                _ => return false,
            }
        }
        false
    }

    /// Parses `5 < a`, or a constant.
    fn reversed(&mut self) -> Result<Predicate> {
        let at = self.next;
        let literal = self.literal()?;
        match (self.sign(), literal) {
            (Some(is), literal) => {
                let column = self.column()?;
                Ok(col(column).compare(is.swapped(), literal))
            }
            (None, Literal::Bool(true)) => Ok(Predicate::And(Vec::new())),
            (None, Literal::Bool(false)) => Ok(Predicate::Or(Vec::new())),
            _ => {
                self.next = at;
                Err(self.unexpected("a column"))
            }
        }
    }

    /// Parses a pattern, with its `escape` if there is one. Checks the pattern, so that an error has its position.
    fn pattern(&mut self, make: fn(String) -> Pattern) -> Result<Pattern> {
        let at = self.next;
        let Piece::Text(mut text) = self.peek().clone() else {
            return Err(self.unexpected("a pattern in single quotes"));
        };
        self.next += 1;
        let pattern = make(String::new());
        if matches!(pattern, Pattern::Like(_) | Pattern::ILike(_)) && self.take_word("escape") {
            let Piece::Text(escape) = self.peek().clone() else {
                return Err(self.unexpected("a character in single quotes"));
            };
            text = with_backslashes(&text, &escape).map_err(|message| self.wrong(message))?;
            self.next += 1;
        }
        let pattern = make(text);
        pattern.matcher().map_err(|message| self.wrong_at(at, message))?;
        Ok(pattern)
    }
}

/// Replaces another escape character of a LIKE pattern by backslashes.
fn with_backslashes(pattern: &str, escape: &str) -> Result<String, String> {
    let mut chars = escape.chars();
    let (Some(escape), None) = (chars.next(), chars.next()) else {
        return Err("the escape is one character".to_owned());
    };
    let mut out = String::with_capacity(pattern.len());
    let mut chars = pattern.chars();
    while let Some(c) = chars.next() {
        match c {
            c if c == escape => {
                let next = chars.next().ok_or("nothing follows the escape character")?;
                out.extend(['\\', next]);
            }
            '\\' => out.push_str("\\\\"),
            c => out.push(c),
        }
    }
    Ok(out)
}

fn negated_if(is_negated: bool, predicate: Predicate) -> Predicate {
    if is_negated { !predicate } else { predicate }
}

/// Whether a predicate compares one value with literals.
fn is_of_value(predicate: &Predicate) -> bool {
    match predicate {
        Predicate::And(parts) | Predicate::Or(parts) => parts.iter().all(is_of_value),
        Predicate::Not(of) => is_of_value(of),
        Predicate::Compare { .. }
        | Predicate::In { .. }
        | Predicate::StartsWith { .. }
        | Predicate::Matches { .. }
        | Predicate::IsNull { .. }
        | Predicate::IsMissing { .. }
        | Predicate::IsVariantNull { .. }
        | Predicate::BboxIntersects { .. }
        | Predicate::IsNan { .. } => true,
        Predicate::CompareColumns { .. }
        | Predicate::Distinct { .. }
        | Predicate::Elements { .. }
        | Predicate::AtKey { .. }
        | Predicate::Cardinality { .. }
        | Predicate::IsEmpty { .. } => false,
    }
}
