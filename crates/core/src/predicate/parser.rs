//! The parser's cursor over tokens.

use super::column_path::ColumnPath;
use super::lex::{Piece, Token, is_plain_name, tokens};
use super::literal_text::typed;
use super::name::path_of;
use super::{Comparison, Literal, Number};
use marquetry_base::{Error, Result};

/// A cursor over the tokens of a predicate; `next` is the index of the next one.
pub(super) struct Parser<'a> {
    /// Returns the values in a file, by its name.
    pub(super) read_list: &'a dyn Fn(&str) -> Result<Vec<Literal>>,
    pub(super) tokens: Vec<Token>,
    pub(super) next: usize,
    /// Number of open parentheses and negations.
    pub(super) depth: usize,
}

impl<'a> Parser<'a> {
    /// Creates a parser at the first token. Fails if the text does not consist of words, numbers, strings and signs.
    pub(super) fn new(text: &str, read_list: &'a dyn Fn(&str) -> Result<Vec<Literal>>) -> Result<Self> {
        Ok(Parser { read_list, tokens: tokens(text)?, next: 0, depth: 0 })
    }
}

impl Parser<'_> {
    /// Whether a column follows, where a literal may follow as well.
    pub(super) fn is_column(&self) -> bool {
        match self.peek() {
            Piece::Quoted(_) => true,
            Piece::Word(word) => is_plain_name(word) && !self.is_literal() && Number::parse(word).is_none(),
            _ => false,
        }
    }

    pub(super) fn is_string(&self) -> bool {
        let next_is_text = matches!(self.tokens.get(self.next + 1), Some(Token { is: Piece::Text(_), .. }));
        let is_bytes = |word: &str| word.eq_ignore_ascii_case("x") && next_is_text;
        match self.peek() {
            Piece::Text(_) => true,
            Piece::Word(word) => is_bytes(word),
            _ => false,
        }
    }

    /// Parses text or bytes.
    pub(super) fn string(&mut self) -> Result<Literal> {
        let at = self.next;
        match self.literal()? {
            literal @ (Literal::Text(_) | Literal::Bytes(_)) => Ok(literal),
            other => Err(self.wrong_at(at, format!("{other} is neither text nor bytes"))),
        }
    }

    /// Parses the key of a map in brackets, if one follows.
    pub(super) fn key(&mut self) -> Result<Option<Literal>> {
        if !self.take_sign("[") {
            return Ok(None);
        }
        let key = self.literal()?;
        self.expect("]")?;
        Ok(Some(key))
    }

    /// Parses a number, rounded to the nearest double.
    pub(super) fn float(&mut self) -> Result<f64> {
        let at = self.next;
        match self.literal()? {
            Literal::Number(number) => {
                number.to_string().parse().map_err(|_| self.wrong_at(at, "a number expected"))
            }
            other => Err(self.wrong_at(at, format!("a number expected, {other} found"))),
        }
    }

    pub(super) fn count(&mut self) -> Result<u64> {
        let count = match self.peek() {
            Piece::Number(digits) => digits.parse().ok(),
            _ => None,
        };
        let count = count.ok_or_else(|| self.unexpected("a whole number"))?;
        self.next += 1;
        Ok(count)
    }

    pub(super) fn list(&mut self) -> Result<Vec<Literal>> {
        if let Piece::File(name) = self.peek() {
            let values = (self.read_list)(name).map_err(|error| self.wrong(error.to_string()))?;
            self.next += 1;
            return Ok(values);
        }
        self.expect("(")?;
        let mut out = vec![self.literal()?];
        while self.take_sign(",") {
            out.push(self.literal()?);
        }
        self.expect(")")?;
        Ok(out)
    }

    pub(super) fn column(&mut self) -> Result<ColumnPath> {
        if self.is_literal() {
            return Err(self.unexpected("a column"));
        }
        let character = self.tokens[self.next].character;
        let mut names = vec![self.name()?];
        while self.take_sign(".") {
            names.push(self.name()?);
        }
        let mut path = path_of(&names);
        if let Piece::Path(into_variant) = self.peek() {
            path.push_str(into_variant);
            self.next += 1;
        }
        Ok(ColumnPath::at(path, character))
    }

    pub(super) fn name(&mut self) -> Result<String> {
        let name = match self.peek() {
            Piece::Quoted(name) => name.clone(),
            Piece::Word(name) if is_plain_name(name) => name.clone(),
            _ => return Err(self.unexpected("a column")),
        };
        self.next += 1;
        Ok(name)
    }

    /// Whether the next word begins a literal, and is not a column.
    pub(super) fn is_literal(&self) -> bool {
        let Piece::Word(word) = self.peek() else { return false };
        let is_before_text = matches!(self.tokens[self.next + 1].is, Piece::Text(_));
        let is_constant = ["true", "false", "null"].iter().any(|known| word.eq_ignore_ascii_case(known));
        // `inf > x`; a column of this name needs quotes there.
        let is_compared =
            matches!(self.tokens[self.next + 1].is, Piece::Sign("=" | "!=" | "<" | "<=" | ">" | ">="));
        is_constant || is_before_text || (is_compared && Number::parse(word).is_some())
    }

    pub(super) fn literal(&mut self) -> Result<Literal> {
        // PERF: lists of numbers are long.
        if let Piece::Number(digits) = self.peek()
            && let Some(number) = Number::parse(digits)
        {
            self.next += 1;
            return Ok(Literal::Number(number));
        }
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
                    self.unexpected("a literal (text goes in single quotes)")
                }
                _ => self.unexpected("a literal"),
            }
        })
    }

    pub(super) fn sign(&mut self) -> Option<Comparison> {
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

    pub(super) fn peek(&self) -> &Piece {
        // The last token, which is the end, is never passed.
        &self.tokens[self.next.min(self.tokens.len() - 1)].is
    }

    pub(super) fn take_word(&mut self, word: &str) -> bool {
        let is_next = matches!(self.peek(), Piece::Word(next) if next.eq_ignore_ascii_case(word));
        self.next += usize::from(is_next);
        is_next
    }

    pub(super) fn take_sign(&mut self, sign: &'static str) -> bool {
        let is_next = *self.peek() == Piece::Sign(sign);
        self.next += usize::from(is_next);
        is_next
    }

    pub(super) fn expect(&mut self, sign: &'static str) -> Result<()> {
        if self.take_sign(sign) { Ok(()) } else { Err(self.unexpected(sign)) }
    }

    #[cold]
    pub(super) fn unexpected(&self, wanted: &str) -> Error {
        let found = match self.peek() {
            Piece::Word(word) => word.clone(),
            Piece::Quoted(name) => format!("\"{name}\""),
            Piece::Number(digits) => digits.to_string(),
            Piece::Text(text) => Literal::Text(text.clone()).to_string(),
            Piece::File(name) => format!("@{name}"),
            Piece::Path(path) => path.clone(),
            Piece::Sign(sign) => (*sign).to_owned(),
            Piece::End => "the end".to_owned(),
        };
        self.wrong(format!("{wanted} expected, {found} found"))
    }

    #[cold]
    pub(super) fn wrong(&self, message: impl Into<String>) -> Error {
        self.wrong_at(self.next, message)
    }

    #[cold]
    pub(super) fn wrong_at(&self, token: usize, message: impl Into<String>) -> Error {
        let token = &self.tokens[token.min(self.tokens.len() - 1)];
        Error::argument(message.into()).in_predicate(token.character)
    }
}
