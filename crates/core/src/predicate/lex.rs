//! The lexer: splits a predicate's text into words, numbers, strings and operators.

use marquetry_base::{Error, Result, unquote};
use smol_str::SmolStr;

/// The part of an error that names alternatives to a predicate.
pub(super) const INSTEAD: &str = "For more, give a predicate over arrays in Rust, or use an SQL engine";

/// A token of the text, with the position of its first character, counted from 1.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Token {
    pub(super) character: usize,
    pub(super) is: Piece,
}

/// The kind of a token.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Piece {
    /// A name or a keyword, without quotes.
    Word(String),
    /// A name in double quotes.
    Quoted(String),
    /// A path into a VARIANT, from the `:` after its column on.
    Path(String),
    /// A number without its sign.
    Number(SmolStr),
    /// Text in single quotes.
    Text(String),
    /// The name of a file after `@`, which may be in single quotes.
    File(String),
    /// One of `( ) [ ] , . = != < <= > >= + - ~ ~* !~ !~*`.
    Sign(&'static str),
    /// The end of the text.
    End,
}

/// Returns all tokens of `text`, the last of which is [`Piece::End`].
pub(super) fn tokens(text: &str) -> Result<Vec<Token>> {
    let mut out = Vec::new();
    let (mut rest, mut character) = (text, 1);
    loop {
        let start = rest.trim_start();
        character += rest[..rest.len() - start.len()].chars().count();
        let (is, len) = piece(start).map_err(|message| Error::argument(message).in_predicate(character))?;
        let is_end = is == Piece::End;
        out.push(Token { character, is });
        if is_end {
            return Ok(out);
        }
        character += start[..len].chars().count();
        rest = &start[len..];
    }
}

/// Whether a name needs no quotes, and is not a keyword.
pub(super) fn is_plain_name(name: &str) -> bool {
    name.starts_with(is_name_start)
        && name.chars().all(is_name_part)
        && !KEYWORDS.iter().any(|keyword| name.eq_ignore_ascii_case(keyword))
}

/// Words that are names only in quotes.
const KEYWORDS: [&str; 11] =
    ["and", "or", "not", "in", "between", "is", "like", "ilike", "null", "true", "false"];

/// Returns the first token of `rest`, and its length in bytes.
fn piece(rest: &str) -> Result<(Piece, usize), String> {
    let Some(first) = rest.chars().next() else { return Ok((Piece::End, 0)) };
    match first {
        '\'' => quoted(rest, '\'').map(|(text, len)| (Piece::Text(text), len)),
        '@' if rest[1..].starts_with('\'') => {
            quoted(&rest[1..], '\'').map(|(name, len)| (Piece::File(name), len + 1))
        }
        '@' => {
            let ends = |c: char| c.is_whitespace() || matches!(c, '(' | ')' | ',' | '\'' | '"');
            let len = rest.find(ends).unwrap_or(rest.len());
            if len == 1 {
                Err("a file's name follows @".to_owned())
            } else {
                Ok((Piece::File(rest[1..len].to_owned()), len))
            }
        }
        '"' => quoted(rest, '"').map(|(name, len)| (Piece::Quoted(name), len)),
        first if is_name_start(first) => {
            let len = rest.find(|c| !is_name_part(c)).unwrap_or(rest.len());
            Ok((Piece::Word(rest[..len].to_owned()), len))
        }
        ':' => match path_len(rest) {
            0 => Err("a path into a VARIANT follows :, such as payload:user.id".to_owned()),
            len => Ok((Piece::Path(rest[..len].to_owned()), len)),
        },
        '0'..='9' => Ok(number(rest)),
        '.' if rest[1..].starts_with(|c: char| c.is_ascii_digit()) => Ok(number(rest)),
        _ => {
            let sign = SIGNS.iter().find(|(sign, _)| rest.starts_with(sign));
            let (written, meant) = sign.ok_or_else(|| match first {
                '*' | '/' | '%' | '|' => format!("a predicate does not calculate. {INSTEAD}"),
                other => format!("{other:?} is not understood"),
            })?;
            Ok((Piece::Sign(meant), written.len()))
        }
    }
}

/// Spellings of signs, longest first, and the signs that they mean.
const SIGNS: [(&str, &str); 20] = [
    ("!~*", "!~*"),
    ("!~", "!~"),
    ("~*", "~*"),
    ("~", "~"),
    ("<>", "!="),
    ("!=", "!="),
    ("<=", "<="),
    (">=", ">="),
    ("==", "="),
    ("=", "="),
    ("<", "<"),
    (">", ">"),
    ("(", "("),
    (")", ")"),
    ("[", "["),
    ("]", "]"),
    (",", ","),
    (".", "."),
    ("+", "+"),
    ("-", "-"),
];

/// Returns the text between two quotes, where a doubled quote stands for one, and its length with the quotes.
fn quoted(rest: &str, quote: char) -> Result<(String, usize), String> {
    let (inside, behind) = unquote(rest, quote).ok_or_else(|| format!("no {quote} closes this one"))?;
    Ok((inside, rest.len() - behind.len()))
}

/// Returns how many bytes of `rest`, which begins with `:`, are a path into a VARIANT and the type behind it; 0 if
/// there is no path. Path and type are not checked here, but by the reader of the file.
pub(super) fn path_len(rest: &str) -> usize {
    let mut len = 1;
    loop {
        let behind = &rest[len..];
        len += match behind.chars().next() {
            Some('"') => match quoted(behind, '"') {
                Ok((_, quoted)) => quoted,
                Err(_) => return 0,
            },
            Some('[') => match behind.find(']') {
                Some(end) if behind[1..end].bytes().all(|byte| byte.is_ascii_digit() || byte == b'*') => {
                    end + 1
                }
                _ => break,
            },
            Some(c) if is_name_part(c) || matches!(c, '.' | '-' | '$') => c.len_utf8(),
            _ => break,
        };
    }
    // A type alone is that of the value itself: `payload::bigint`.
    if len == 1 {
        len = 0;
    }
    let Some(cast) = rest[len..].strip_prefix("::") else { return len };
    let word = cast.find(|c| !is_name_part(c)).unwrap_or(cast.len());
    let arguments = match cast[word..].starts_with('(') {
        true => cast[word..].find(')').map_or(0, |end| end + 1),
        false => 0,
    };
    if word == 0 { 0 } else { len + 2 + word + arguments }
}

/// Parses digits with a point and an exponent. Characters directly after it are the next token.
fn number(rest: &str) -> (Piece, usize) {
    let bytes = rest.as_bytes();
    let digits = |from: usize| from + bytes[from..].iter().take_while(|b| b.is_ascii_digit()).count();
    let mut len = digits(0);
    if bytes.get(len) == Some(&b'.') {
        len = digits(len + 1);
    }
    if matches!(bytes.get(len), Some(b'e' | b'E')) {
        let signed = len + 1 + usize::from(matches!(bytes.get(len + 1), Some(b'+' | b'-')));
        let end = if signed <= bytes.len() { digits(signed) } else { signed };
        if end > signed {
            len = end;
        }
    }
    (Piece::Number(SmolStr::new(&rest[..len])), len)
}

fn is_name_start(c: char) -> bool {
    c.is_alphabetic() || c == '_'
}

fn is_name_part(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}
