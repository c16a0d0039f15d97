//! Text becomes a predicate.
//!
//! ```text
//! any        := all ("or" all)*
//! all        := one ("and" one)*
//! one        := "not" one | "(" any ")" | "true" | "false" | function | comparison
//! function   := "starts_with" "(" column "," literal ")" | "is_nan" "(" column ")"
//! comparison := column rest? | literal sign column           column alone: one of booleans
//! rest       := sign literal | "is" "not"? "null" | "not"? ("in" list | "between" literal "and" literal | "like" text)
//! ```

use super::lex::{Piece, Token, tokens, wrong};
use super::{Comparison, Literal, Number, Predicate, col};
use crate::logical_type::moment::{Moment, date, moment, time_of_day};
use marquetry_base::{Error, Result};

impl Predicate {
    /// Reads a predicate as SQL writes it after WHERE.
    ///
    /// ```text
    /// = != <> < <= > >=     in (1, 2)     between 1 and 2     is null     like 'abc%'     starts_with(name, 'abc')
    /// is_nan(x)     and  or  not  ( )
    ///
    /// columns    name   a.b (field b of struct a)   "any name"
    /// literals   1   -1.5e3   'it''s'   true   null   date '2024-01-01'   timestamp '2024-01-01 10:00:00+02:00'
    ///            time '10:00'   X'0aff'
    /// ```
    ///
    /// Dates, times, timestamps and UUIDs may be given as mere strings too. `is null`, `in`, `between` and `like` may have
    /// a `not`. `like` takes a pattern whose only wildcard is a `%` at its end.
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
        if !matches!(name, "starts_with" | "is_nan") {
            return Err(self.wrong(format!("no function {name}; there are starts_with and is_nan")));
        }
        self.next += 1;
        self.expect("(")?;
        let column = self.column()?;
        let out = match name {
            "is_nan" => col(column).is_nan(),
            _ => {
                self.expect(",")?;
                col(column).starts_with(self.literal()?)
            }
        };
        self.expect(")")?;
        Ok(out)
    }

    /// What follows a column.
    fn comparison(&mut self, column: String) -> Result<Predicate> {
        if let Some(is) = self.sign() {
            return Ok(col(column).compare(is, self.literal()?));
        }
        if self.take_word("is") {
            let is_negated = self.take_word("not");
            if !self.take_word("null") {
                return Err(self.unexpected("null"));
            }
            return Ok(negated_if(is_negated, col(column).is_null()));
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
            self.pattern(column)?
        } else if is_negated {
            return Err(self.unexpected("in, between or like"));
        } else {
            return Ok(col(column).eq(true));
        };
        Ok(negated_if(is_negated, out))
    }

    /// `5 < a`, or a constant.
    fn reversed(&mut self) -> Result<Predicate> {
        let at = self.next;
        let literal = self.literal()?;
        match (self.sign(), literal) {
            (Some(is), literal) => {
                let is = match is {
                    Comparison::Lt => Comparison::Gt,
                    Comparison::Le => Comparison::Ge,
                    Comparison::Gt => Comparison::Lt,
                    Comparison::Ge => Comparison::Le,
                    same => same,
                };
                let column = self.column()?;
                Ok(col(column).compare(is, literal))
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

    /// A pattern with no wildcard but `%` at its end. A backslash takes the meaning from what follows it.
    fn pattern(&mut self, column: String) -> Result<Predicate> {
        let Piece::Text(pattern) = self.peek().clone() else {
            return Err(self.unexpected("a pattern in single quotes"));
        };
        let mut plain = String::new();
        let mut chars = pattern.chars().peekable();
        let mut is_open = false;
        while let Some(c) = chars.next() {
            match c {
                '%' if chars.peek().is_none() => is_open = true,
                '%' | '_' => {
                    let hint = "a pattern can have a single % at its end; \\% and \\_ stand for themselves";
                    return Err(self.wrong(hint));
                }
                '\\' => match chars.next() {
                    Some(escaped) => plain.push(escaped),
                    None => return Err(self.wrong("nothing follows the backslash")),
                },
                c => plain.push(c),
            }
        }
        self.next += 1;
        Ok(if is_open { col(column).starts_with(plain) } else { col(column).eq(plain) })
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
            Piece::Word(name) if super::lex::is_plain_name(name) => name.clone(),
            _ => return Err(self.unexpected("a column")),
        };
        self.next += 1;
        Ok(name)
    }

    /// Whether a word begins a literal and is no column.
    fn is_literal(&self) -> bool {
        let Piece::Word(word) = self.peek() else { return false };
        let is_before_text = matches!(self.tokens[self.next + 1].is, Piece::Text(_));
        ["true", "false", "null"].iter().any(|known| word.eq_ignore_ascii_case(known)) || is_before_text
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
                Piece::Word(_) | Piece::Quoted(_) => self.unexpected(
                    "a literal (text stands in single quotes, and columns are compared with literals only)",
                ),
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

fn negated_if(is_negated: bool, predicate: Predicate) -> Predicate {
    if is_negated { !predicate } else { predicate }
}

/// A literal whose type stands before the text.
fn typed(kind: &str, text: &str) -> Result<Literal, String> {
    let found = match kind {
        "date" => date(text).map(Literal::Date),
        "time" => time_of_day(text).map(|(nanos, _)| Literal::Time(nanos)),
        "timestamp" => timestamp(text).map(Literal::Timestamp),
        "x" => hexadecimal(text).map(Literal::Bytes),
        _ => return Err(format!("{kind} before text; there are date, time, timestamp and X")),
    };
    let form = match kind {
        "date" => "2024-01-31",
        "time" => "10:30:00.5",
        "timestamp" => "2024-01-31 10:30:00.5, with Z or an offset as +02:00 if it is a point in time",
        _ => "an even number of hexadecimal digits",
    };
    found.ok_or_else(|| format!("{text:?} is no {kind}; it is written {form}"))
}

/// A timestamp, or the midnight of a date.
pub(super) fn timestamp(text: &str) -> Option<Moment> {
    moment(text).or_else(|| date(text).map(Moment::midnight))
}

/// Bytes of pairs of hexadecimal digits.
pub(super) fn hexadecimal(text: &str) -> Option<Vec<u8>> {
    let digits: Vec<u8> =
        text.chars().map(|c| c.to_digit(16).map(|digit| digit as u8)).collect::<Option<_>>()?;
    let (pairs, rest) = digits.as_chunks::<2>();
    rest.is_empty().then(|| pairs.iter().map(|[high, low]| high << 4 | low).collect())
}
