//! Text becomes a predicate.
//!
//! ```text
//! any        := all ("or" all)*
//! all        := one ("and" one)*
//! one        := "not" one | "(" any ")" | "true" | "false" | function | comparison | "(" column ("," column)+ ")" sign list
//! function   := "is_nan" "(" column ")" | ("starts_with" | "ends_with" | "contains" | "regexp_like") "(" column "," literal ")"
//! comparison := column rest? | literal sign column           column alone: one of booleans
//! rest       := sign (literal | column) | ("~" | "~*" | "!~" | "!~*") text
//!             | "is" "not"? ("null" | "true" | "false" | "unknown" | "distinct" "from" (literal | column))
//!             | "not"? ("in" list | "between" literal "and" literal | ("like" | "ilike") text ("escape" text)?)
//! ```

use super::lex::{Piece, Token, is_plain_name, tokens, wrong};
use super::literal_text::typed;
use super::{Comparison, Literal, Number, Pattern, Predicate, col};
use marquetry_base::{Error, Result};

impl Predicate {
    /// Reads a predicate as SQL writes it after WHERE.
    ///
    /// ```text
    /// = != <> < <= > >=     in (1, 2)     between 1 and 2     is null     is_nan(x)     and  or  not  ( )
    /// like 'a%b_'     ilike 'a%'     like '5!%' escape '!'     ~ '^[a-z]+$'     ~* 'any case'     !~ 'not this'
    /// a < b     a is distinct from b     a is true     (a, b) > (1, 'x')
    /// starts_with(name, 'abc')     ends_with(name, 'xyz')     contains(name, 'mno')     regexp_like(name, '[0-9]')
    ///
    /// columns    name   a.b (field b of struct a)   "any name"
    /// literals   1   -1.5e3   'it''s'   true   null   date '2024-01-01'   timestamp '2024-01-01 10:00:00+02:00'
    ///            time '10:00'   X'0aff'
    /// ```
    ///
    /// Dates, times, timestamps and UUIDs may be given as mere strings too. `is null`, `in`, `between`, `like` and `ilike`
    /// may have a `not`. [`Pattern`] says what patterns are.
    ///
    /// Fails with the place of what is not understood.
    pub fn parse(text: &str) -> Result<Self> {
        parse_predicate(text)
    }
}

fn parse_predicate(text: &str) -> Result<Predicate> {
    let mut parser = Parser { text, tokens: tokens(text)?, next: 0, depth: 0 };
    let out = parser.any()?;
    match parser.peek() {
        Piece::End => Ok(out),
        _ => Err(parser.unexpected("and, or, or the end")),
    }
}

struct Parser<'a> {
    text: &'a str,
    tokens: Vec<Token>,
    next: usize,
    /// How many parentheses and negations are open.
    depth: usize,
}

/// Deepest nesting: the stack has to hold it.
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
                self.comparison(column)
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
        const FUNCTIONS: [&str; 5] = ["starts_with", "ends_with", "contains", "regexp_like", "is_nan"];
        if !FUNCTIONS.contains(&name) {
            let known = FUNCTIONS.join(", ");
            let message = format!(
                "no function {name}; a predicate has {known}. For others, give a predicate over arrays in Rust"
            );
            return Err(self.wrong(message));
        }
        self.next += 1;
        self.expect("(")?;
        let column = col(self.column()?);
        if name != "is_nan" {
            self.expect(",")?;
        }
        let out = match name {
            "is_nan" => column.is_nan(),
            "starts_with" => column.starts_with(self.literal()?),
            "ends_with" => column.ends_with(self.string()?),
            "contains" => column.contains(self.string()?),
            _ => column.matches(self.pattern(Pattern::Regex)?),
        };
        self.expect(")")?;
        Ok(out)
    }

    /// Text or bytes.
    fn string(&mut self) -> Result<Literal> {
        let at = self.next;
        match self.literal()? {
            literal @ (Literal::Text(_) | Literal::Bytes(_)) => Ok(literal),
            other => Err(self.wrong_at(at, format!("{other} is neither text nor bytes"))),
        }
    }

    /// What follows a column.
    fn comparison(&mut self, column: String) -> Result<Predicate> {
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

    /// What stands behind `is`, and is true or false of null, too.
    fn state(&mut self, column: String) -> Result<Predicate> {
        if self.take_word("null") || self.take_word("unknown") {
            return Ok(col(column).is_null());
        }
        if self.take_word("true") {
            return Ok(!col(column).is_distinct_from_literal(true));
        }
        if self.take_word("false") {
            return Ok(!col(column).is_distinct_from_literal(false));
        }
        if !self.take_word("distinct") {
            return Err(self.unexpected("null, true, false, unknown or distinct from"));
        }
        if !self.take_word("from") {
            return Err(self.unexpected("from"));
        }
        if self.is_column() {
            return Ok(col(column).is_distinct_from(self.column()?));
        }
        Ok(col(column).is_distinct_from_literal(self.literal()?))
    }

    /// `(a, b) < (1, 2)`: by the first of them that differs. The parenthesis is open.
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
        let pairs: Vec<_> = columns.into_iter().zip(literals).collect();
        let equal = |(column, literal): &(String, Literal)| col(column.as_str()).eq(literal.clone());
        let all_equal = || Predicate::And(pairs.iter().map(equal).collect());
        let first = match is {
            Comparison::Eq => return Ok(all_equal()),
            Comparison::Ne => return Ok(!all_equal()),
            Comparison::Lt | Comparison::Le => Comparison::Lt,
            Comparison::Gt | Comparison::Ge => Comparison::Gt,
        };
        let any = pairs.iter().enumerate().map(|(i, (column, literal))| {
            let is = if i + 1 == pairs.len() { is } else { first };
            let mut all: Vec<Predicate> = pairs[..i].iter().map(equal).collect();
            all.push(col(column.as_str()).compare(is, literal.clone()));
            if all.len() == 1 { all.swap_remove(0) } else { Predicate::And(all) }
        });
        Ok(Predicate::Or(any.collect()))
    }

    /// Whether columns in parentheses follow, with commas between them: a tuple, and no predicate.
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

    /// Whether a column follows where a literal may.
    fn is_column(&self) -> bool {
        match self.peek() {
            Piece::Quoted(_) => true,
            Piece::Word(word) => is_plain_name(word) && !self.is_literal() && Number::parse(word).is_none(),
            _ => false,
        }
    }

    /// `5 < a`, or a constant.
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

    fn list(&mut self) -> Result<Vec<Literal>> {
        self.expect("(")?;
        let mut out = vec![self.literal()?];
        while self.take_sign(",") {
            out.push(self.literal()?);
        }
        self.expect(")")?;
        Ok(out)
    }

    /// A pattern with what follows `escape`, if that is there. The pattern is checked, so that the error has its place.
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

    fn column(&mut self) -> Result<String> {
        if self.is_literal() {
            return Err(self.unexpected("a column"));
        }
        let mut path = self.name()?;
        while self.take_sign(".") {
            path = path + "." + &self.name()?;
        }
        Ok(path)
    }

    fn name(&mut self) -> Result<String> {
        let name = match self.peek() {
            Piece::Quoted(name) => name.clone(),
            Piece::Word(name) if is_plain_name(name) => name.clone(),
            _ => return Err(self.unexpected("a column")),
        };
        self.next += 1;
        Ok(name)
    }

    /// Whether a word begins a literal and is no column.
    fn is_literal(&self) -> bool {
        let Piece::Word(word) = self.peek() else { return false };
        let is_before_text = matches!(self.tokens[self.next + 1].is, Piece::Text(_));
        let is_constant = ["true", "false", "null"].iter().any(|known| word.eq_ignore_ascii_case(known));
        // `inf > x`; a column of this name needs quotes there.
        let is_compared =
            matches!(self.tokens[self.next + 1].is, Piece::Sign("=" | "!=" | "<" | "<=" | ">" | ">="));
        is_constant || is_before_text || (is_compared && Number::parse(word).is_some())
    }

    fn literal(&mut self) -> Result<Literal> {
        let at = self.next;
        let sign = ["-", "+"].into_iter().find(|sign| self.take_sign(sign));
        let piece = self.peek().clone();
        self.next += 1;
        let found = match (sign, piece) {
            (sign, Piece::Number(digits)) => {
                Number::parse(&format!("{}{digits}", sign.unwrap_or(""))).map(Literal::Number)
            }
            (Some(sign), Piece::Word(word)) => Number::parse(&format!("{sign}{word}")).map(Literal::Number),
            (None, Piece::Text(text)) => Some(Literal::Text(text)),
            (None, Piece::Word(word)) => match (word.to_ascii_lowercase().as_str(), self.peek().clone()) {
                ("null", _) => Some(Literal::Null),
                ("true", _) => Some(Literal::Bool(true)),
                ("false", _) => Some(Literal::Bool(false)),
                (kind, Piece::Text(text)) => {
                    self.next += 1;
                    return typed(kind, &text).map_err(|message| self.wrong_at(at, message));
                }
                (word, _) => Number::parse(word).map(Literal::Number),
            },
            _ => None,
        };
        found.ok_or_else(|| {
            self.next = at;
            match self.peek() {
                Piece::Word(_) | Piece::Quoted(_) => {
                    self.unexpected("a literal (text stands in single quotes)")
                }
                _ => self.unexpected("a literal"),
            }
        })
    }

    fn sign(&mut self) -> Option<Comparison> {
        let Piece::Sign(sign) = self.peek() else { return None };
        let is = match *sign {
            "=" => Comparison::Eq,
            "!=" => Comparison::Ne,
            "<" => Comparison::Lt,
            "<=" => Comparison::Le,
            ">" => Comparison::Gt,
            ">=" => Comparison::Ge,
            _ => return None,
        };
        self.next += 1;
        Some(is)
    }

    fn peek(&self) -> &Piece {
        // The end is never passed.
        &self.tokens[self.next.min(self.tokens.len() - 1)].is
    }

    fn take_word(&mut self, word: &str) -> bool {
        let is_next = matches!(self.peek(), Piece::Word(next) if next.eq_ignore_ascii_case(word));
        self.next += usize::from(is_next);
        is_next
    }

    fn take_sign(&mut self, sign: &'static str) -> bool {
        let is_next = *self.peek() == Piece::Sign(sign);
        self.next += usize::from(is_next);
        is_next
    }

    fn expect(&mut self, sign: &'static str) -> Result<()> {
        if self.take_sign(sign) { Ok(()) } else { Err(self.unexpected(sign)) }
    }

    #[cold]
    fn unexpected(&self, wanted: &str) -> Error {
        let found = match self.peek() {
            Piece::Word(word) => word.clone(),
            Piece::Quoted(name) => format!("\"{name}\""),
            Piece::Number(digits) => digits.clone(),
            Piece::Text(text) => Literal::Text(text.clone()).to_string(),
            Piece::Sign(sign) => (*sign).to_owned(),
            Piece::End => "the end".to_owned(),
        };
        self.wrong(format!("{wanted} expected, {found} found"))
    }

    #[cold]
    fn wrong(&self, message: impl Into<String>) -> Error {
        self.wrong_at(self.next, message)
    }

    #[cold]
    fn wrong_at(&self, token: usize, message: impl Into<String>) -> Error {
        wrong(self.text, self.tokens[token.min(self.tokens.len() - 1)].at, message)
    }
}

/// A LIKE pattern whose escape character is another one, with backslashes in its place.
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
