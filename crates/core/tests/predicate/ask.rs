//! Random predicates, and what they mean for a row: an evaluation of its own, value by value.

use crate::data::Random;
use crate::kinds::{Cell, Kind};
use marquetry_core::predicate::{Comparison, Literal, Pattern, Predicate, col};
use std::cmp::Ordering;

/// A column that is asked for.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    pub(crate) path: String,
    pub(crate) kind: Kind,
    pub(crate) spread: usize,
}

/// A predicate. Columns by their numbers.
#[derive(Debug, Clone)]
pub(crate) enum Ask {
    And(Vec<Ask>),
    Or(Vec<Ask>),
    Not(Box<Ask>),
    Compare(usize, Comparison, Literal, Cell),
    In(usize, Vec<(Literal, Cell)>),
    Prefix(usize, Literal, Vec<u8>),
    /// A pattern, and what it finds among characters.
    Matches(usize, Pattern, Found),
    /// Two columns; `None` asks whether they are distinct.
    Pair(usize, Option<Comparison>, usize),
    IsNull(usize),
    IsNan(usize),
}

/// What a pattern means, by trying everything.
#[derive(Debug, Clone)]
pub(crate) enum Found {
    Like(Vec<char>),
    Contains(Vec<char>),
    EndsWith(Vec<char>),
}

impl Found {
    fn is_in(&self, value: &[char]) -> bool {
        match self {
            Found::Like(pattern) => is_like(pattern, value),
            Found::Contains(part) => (0..=value.len()).any(|from| value[from..].starts_with(part)),
            Found::EndsWith(end) => value.ends_with(end),
        }
    }
}

fn is_like(pattern: &[char], value: &[char]) -> bool {
    match (pattern, value) {
        ([], value) => value.is_empty(),
        (['%', rest @ ..], value) => (0..=value.len()).any(|from| is_like(rest, &value[from..])),
        (['_', rest @ ..], [_, tail @ ..]) => is_like(rest, tail),
        ([c, rest @ ..], [v, tail @ ..]) => c == v && is_like(rest, tail),
        _ => false,
    }
}

/// Characters of text; of other bytes, each byte.
fn characters(bytes: &[u8]) -> Vec<char> {
    match std::str::from_utf8(bytes) {
        Ok(text) => text.chars().collect(),
        Err(_) => bytes.iter().map(|byte| char::from(*byte)).collect(),
    }
}

/// A pattern that some value of the column matches, more or less.
fn pattern(random: &mut Random, value: &[u8], is_text: bool) -> (Pattern, Found) {
    let mut chars = characters(value);
    chars.retain(|c| !matches!(c, '%' | '_' | '\\') && c.is_ascii());
    let text = |chars: &[char]| chars.iter().collect::<String>();
    let from = random.below(chars.len() + 1);
    match random.below(8) {
        0 => (Pattern::Contains(text(&chars[from..]).into()), Found::Contains(chars[from..].to_vec())),
        1 => (Pattern::EndsWith(text(&chars[from..]).into()), Found::EndsWith(chars[from..].to_vec())),
        kind => {
            for _ in 0..random.below(4) {
                let at = random.below(chars.len() + 1);
                match random.below(3) {
                    0 if at < chars.len() => chars[at] = '_',
                    1 if at < chars.len() => chars[at] = '%',
                    _ => chars.insert(at, '%'),
                }
            }
            let like = text(&chars);
            let pattern = match kind {
                // The same as a regular expression.
                2 | 3 if is_text => {
                    let parts = chars.iter().map(|c| match c {
                        '%' => "(?s-u:.)*".to_owned(),
                        '_' => "(?s:.)".to_owned(),
                        c => regex_escaped(*c),
                    });
                    Pattern::Regex(format!("^{}$", parts.collect::<String>()))
                }
                _ => Pattern::Like(like),
            };
            (pattern, Found::Like(chars))
        }
    }
}

fn regex_escaped(c: char) -> String {
    if c.is_alphanumeric() { c.to_string() } else { format!("\\x{{{:x}}}", u32::from(c)) }
}

impl Ask {
    pub(crate) fn random(random: &mut Random, columns: &[Asked], depth: usize) -> Ask {
        if depth > 0 && !random.one_in(3) {
            let parts = |random: &mut Random| {
                (0..2 + random.below(2)).map(|_| Ask::random(random, columns, depth - 1)).collect()
            };
            return match random.below(5) {
                0 | 1 => Ask::And(parts(random)),
                2 | 3 => Ask::Or(parts(random)),
                _ => Ask::Not(Box::new(Ask::random(random, columns, depth - 1))),
            };
        }
        let column = random.below(columns.len());
        let Asked { kind, spread, .. } = columns[column];
        match random.below(12) {
            0 => Ask::IsNull(column),
            1 if kind.is_float() => Ask::IsNan(column),
            2 if random.one_in(4) => Ask::Compare(column, Comparison::Eq, Literal::Null, Cell::Null),
            3 | 4 => {
                let mut list: Vec<_> =
                    (0..1 + random.below(12)).map(|_| kind.literal(random, spread)).collect();
                if random.one_in(8) {
                    list.push((Literal::Null, Cell::Null));
                }
                Ask::In(column, list)
            }
            7 | 8 if kind.is_bytes() && kind != Kind::Uuid => {
                let (_, cell) = kind.literal(random, spread);
                let Cell::Bytes(bytes) = cell else { unreachable!() };
                let (pattern, found) = pattern(random, &bytes, kind == Kind::Text);
                Ask::Matches(column, pattern, found)
            }
            9 | 10 => {
                use Comparison::*;
                let others: Vec<usize> =
                    (0..columns.len()).filter(|other| kind.compares_with(columns[*other].kind)).collect();
                let is = random.pick(&[Some(Eq), Some(Ne), Some(Lt), Some(Le), Some(Gt), Some(Ge), None]);
                Ask::Pair(column, is, random.pick(&others))
            }
            5 | 6 if kind.is_bytes() && kind != Kind::Uuid => {
                let (literal, cell) = kind.literal(random, spread);
                let Cell::Bytes(bytes) = cell else { unreachable!() };
                let n = random.below(bytes.len() + 1);
                match literal {
                    Literal::Text(text) => {
                        let prefix = &text[..text.floor_char_boundary(n)];
                        Ask::Prefix(column, prefix.into(), prefix.as_bytes().to_vec())
                    }
                    _ => Ask::Prefix(column, bytes[..n].into(), bytes[..n].to_vec()),
                }
            }
            _ => {
                use Comparison::*;
                let (literal, cell) = kind.literal(random, spread);
                Ask::Compare(column, random.pick(&[Eq, Eq, Ne, Lt, Le, Gt, Ge]), literal, cell)
            }
        }
    }

    pub(crate) fn predicate(&self, columns: &[Asked]) -> Predicate {
        let all = |parts: &[Ask]| parts.iter().map(|part| part.predicate(columns)).collect();
        let col = |i: usize| col(columns[i].path.clone());
        match self {
            Ask::And(parts) => Predicate::And(all(parts)),
            Ask::Or(parts) => Predicate::Or(all(parts)),
            Ask::Not(inner) => !inner.predicate(columns),
            Ask::Compare(i, is, literal, _) => col(*i).compare(*is, literal.clone()),
            Ask::In(i, list) => col(*i).is_in(list.iter().map(|(literal, _)| literal.clone())),
            Ask::Prefix(i, prefix, _) => col(*i).starts_with(prefix.clone()),
            Ask::Matches(i, pattern, _) => col(*i).matches(pattern.clone()),
            Ask::Pair(i, Some(is), j) => col(*i).compare_column(*is, columns[*j].path.clone()),
            Ask::Pair(i, None, j) => col(*i).is_distinct_from(columns[*j].path.clone()),
            Ask::IsNull(i) => col(*i).is_null(),
            Ask::IsNan(i) => col(*i).is_nan(),
        }
    }

    /// True, false or unknown for a row.
    pub(crate) fn of(&self, row: &[&Cell]) -> Option<bool> {
        match self {
            Ask::And(parts) => {
                let found: Vec<_> = parts.iter().map(|part| part.of(row)).collect();
                match found.contains(&Some(false)) {
                    true => Some(false),
                    false => found.iter().all(Option::is_some).then_some(true),
                }
            }
            Ask::Or(parts) => {
                let found: Vec<_> = parts.iter().map(|part| part.of(row)).collect();
                match found.contains(&Some(true)) {
                    true => Some(true),
                    false => found.iter().all(Option::is_some).then_some(false),
                }
            }
            Ask::Not(inner) => inner.of(row).map(|is| !is),
            Ask::Compare(i, is, _, cell) => compare(row[*i], *is, cell),
            Ask::In(i, list) => {
                let each = list.iter().map(|(_, cell)| compare(row[*i], Comparison::Eq, cell));
                let found: Vec<_> = each.collect();
                match found.contains(&Some(true)) {
                    true => Some(true),
                    false => found.iter().all(Option::is_some).then_some(false),
                }
            }
            Ask::Prefix(i, _, prefix) => match row[*i] {
                Cell::Bytes(bytes) => Some(bytes.starts_with(prefix)),
                _ => None,
            },
            Ask::Matches(i, _, found) => match row[*i] {
                Cell::Bytes(bytes) => Some(found.is_in(&characters(bytes))),
                _ => None,
            },
            Ask::Pair(i, Some(is), j) => compare(row[*i], *is, row[*j]),
            Ask::Pair(i, None, j) => Some(match (row[*i], row[*j]) {
                (Cell::Null, Cell::Null) => false,
                (Cell::Null, _) | (_, Cell::Null) => true,
                (a, b) => compare(a, Comparison::Eq, b) == Some(false),
            }),
            Ask::IsNull(i) => Some(*row[*i] == Cell::Null),
            Ask::IsNan(i) => match row[*i] {
                Cell::Float(value) => Some(value.is_nan()),
                _ => None,
            },
        }
    }
}

fn compare(cell: &Cell, is: Comparison, with: &Cell) -> Option<bool> {
    if *cell == Cell::Null || *with == Cell::Null {
        return None;
    }
    let ordering = cell.compare(with);
    Some(match is {
        Comparison::Eq => ordering == Some(Ordering::Equal),
        Comparison::Ne => ordering != Some(Ordering::Equal),
        Comparison::Lt => ordering == Some(Ordering::Less),
        Comparison::Le => matches!(ordering, Some(Ordering::Less | Ordering::Equal)),
        Comparison::Gt => ordering == Some(Ordering::Greater),
        Comparison::Ge => matches!(ordering, Some(Ordering::Greater | Ordering::Equal)),
    })
}
