//! Random predicates, and what they mean for a row: an evaluation of its own, value by value.

use crate::data::Random;
use crate::kinds::{Cell, Kind};
use marquetry_core::predicate::{Comparison, Literal, Predicate, col};
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
    IsNull(usize),
    IsNan(usize),
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
