//! Evaluates a predicate for a file before it is opened, as far as possible: the values of its partitions are known,
//! and those of columns that it lacks.

use crate::arrow_reader::bare_times;
use crate::convert::{self, NonNullSlots};
use crate::literals::literals;
use crate::schema::{FromArrowOptions, from_arrow};
use arrow_array::{Array, ArrayRef};
use arrow_schema::{Field, Schema as ArrowSchema};
use marquetry_base::{Error, ErrorKind, Limits, Result};
use marquetry_core::nesting::SlotRanges;
use marquetry_core::predicate::{ColumnPath, LeafValues, Literal, Predicate, col, column_and_path, names_of};
use marquetry_core::schema::Schema;

/// The rest of a predicate if some columns have the same known value in all rows.
#[derive(Debug, PartialEq)]
pub(super) enum Rest {
    /// True for all rows.
    All,
    /// True for no row: false, or unknown.
    None,
    /// Equivalent to this predicate.
    Some(Predicate),
}

/// Returns the value of a column: an array of one row, `Some(None)` if it is null, or `None` if it is not known.
pub(super) type Known<'a> = &'a dyn Fn(&str) -> Result<Option<Option<ArrayRef>>>;

/// Returns the rest of `predicate` if the values of some columns are known.
pub(super) fn rest(predicate: &Predicate, known: Known<'_>) -> Result<Rest> {
    part(predicate, false, known)
}

/// Returns the rest of a predicate or of its negation. Only true counts, so unknown is treated as false. Negations are
/// pushed down to single columns, where false and unknown are told apart.
fn part(predicate: &Predicate, is_opposite: bool, known: Known<'_>) -> Result<Rest> {
    let negated = |predicate: Predicate| if is_opposite { !predicate } else { predicate };
    let column = match predicate {
        Predicate::CompareColumns { left, right, .. } | Predicate::Distinct { left, right } => {
            return match compared(predicate, left, right, known)? {
                Some(predicate) => part(&predicate, is_opposite, known),
                None => Ok(Rest::Some(negated(predicate.clone()))),
            };
        }
        Predicate::Not(inner) => return part(inner, !is_opposite, known),
        Predicate::And(parts) => return parts_of(parts, !is_opposite, is_opposite, known),
        Predicate::Or(parts) => return parts_of(parts, is_opposite, is_opposite, known),
        Predicate::AtKey { of, .. } => return of_map(predicate, of, is_opposite, known),
        Predicate::Elements { .. } | Predicate::Cardinality { .. } | Predicate::IsEmpty { .. } => {
            return match is_absent(predicate, known)? {
                true => Ok(Rest::None),
                false => Ok(Rest::Some(negated(predicate.clone()))),
            };
        }
        Predicate::Compare { column, .. }
        | Predicate::In { column, .. }
        | Predicate::StartsWith { column, .. }
        | Predicate::Matches { column, .. }
        | Predicate::IsNull { column }
        | Predicate::IsMissing { column }
        | Predicate::IsVariantNull { column }
        | Predicate::BboxIntersects { column, .. }
        | Predicate::IsNan { column } => column,
        _ => return Err(unknown(predicate)),
    };
    let predicate = negated(predicate.clone());
    let is_true = match known(column)? {
        None => return Ok(Rest::Some(predicate)),
        Some(None) => is_true_of_null(&predicate),
        Some(Some(value)) if value.is_null(0) => is_true_of_null(&predicate),
        Some(Some(_)) if column_and_path(column).is_some() => {
            let message =
                "a file lacks the VARIANT, and its default cannot be asked for what a path leads to";
            return Err(column.locate(Error::argument(message).in_column(&**column)));
        }
        // A default that is a list or a struct is not null, and no predicate tests anything else of it.
        Some(Some(value)) if value.data_type().is_nested() => matches!(predicate, Predicate::Not(_)),
        Some(Some(value)) => is_true(&predicate, column, &value)?,
    };
    Ok(if is_true { Rest::All } else { Rest::None })
}

/// Returns the error for a kind of predicate that this crate does not know: no answer is better than a wrong one.
#[cold]
pub(super) fn unknown(predicate: &Predicate) -> Error {
    Error::new(ErrorKind::Unsupported, format!("tables of several files cannot be asked `{predicate}`"))
}

/// Returns whether a predicate is true of NULL. NULL is neither a VARIANT without the path, nor a null VARIANT;
/// everything else is unknown.
fn is_true_of_null(predicate: &Predicate) -> bool {
    match predicate {
        Predicate::IsNull { .. } => true,
        Predicate::Not(inner) => {
            matches!(**inner, Predicate::IsMissing { .. } | Predicate::IsVariantNull { .. })
        }
        _ => false,
    }
}

/// Returns the rest of a predicate on the value at a map's key, which is null if the file lacks the map.
fn of_map(predicate: &Predicate, of: &Predicate, is_opposite: bool, known: Known<'_>) -> Result<Rest> {
    match is_absent(of, known)? {
        true => part(of, is_opposite, &|_| Ok(Some(None))),
        false => Ok(Rest::Some(if is_opposite { !predicate.clone() } else { predicate.clone() })),
    }
}

/// Returns whether the file lacks the list or map that a predicate names, which is then null: partitions have no lists.
/// Fails if it has a default instead.
fn is_absent(predicate: &Predicate, known: Known<'_>) -> Result<bool> {
    for column in predicate.columns() {
        match known(column)? {
            None => {}
            Some(Some(value)) if !value.is_null(0) => {
                let message =
                    "a file lacks it, and its default is not a list or map that a predicate could ask";
                return Err(Error::argument(message).in_column(column));
            }
            Some(_) => return Ok(true),
        }
    }
    Ok(false)
}

/// Converts a comparison of two columns, of which at least one is known, to one of a column with a literal; `None` if
/// none is known.
fn compared(
    predicate: &Predicate,
    left: &ColumnPath,
    right: &ColumnPath,
    known: Known<'_>,
) -> Result<Option<Predicate>> {
    let (of_left, of_right) = (known(left)?, known(right)?);
    let (other, value, is_swapped) = match (&of_left, &of_right) {
        (_, Some(value)) => (left, value, false),
        (Some(value), None) => (right, value, true),
        (None, None) => return Ok(None),
    };
    let literal = match value {
        Some(value) => literals(value)
            .map_err(|error| other.locate(error.in_column(&**other)))?
            .pop()
            .unwrap_or(Literal::Null),
        None => Literal::Null,
    };
    Ok(Some(match predicate {
        Predicate::CompareColumns { is, .. } => {
            col(other).compare(if is_swapped { is.swapped() } else { *is }, literal)
        }
        _ => col(other).is_distinct_from_literal(literal),
    }))
}

/// Returns the rest of a conjunction or disjunction of the parts.
fn parts_of(parts: &[Predicate], is_and: bool, is_opposite: bool, known: Known<'_>) -> Result<Rest> {
    let mut left = Vec::new();
    for predicate in parts {
        match (part(predicate, is_opposite, known)?, is_and) {
            (Rest::Some(predicate), _) => left.push(predicate),
            (Rest::All, true) | (Rest::None, false) => {}
            (Rest::All, false) => return Ok(Rest::All),
            (Rest::None, true) => return Ok(Rest::None),
        }
    }
    Ok(match (left.len(), is_and) {
        (0, true) => Rest::All,
        (0, false) => Rest::None,
        (1, _) => left.pop().map_or(Rest::All, Rest::Some),
        (_, true) => Rest::Some(Predicate::And(left)),
        (_, false) => Rest::Some(Predicate::Or(left)),
    })
}

/// Returns the columns that a predicate names.
pub(super) fn columns_of(predicate: &Predicate) -> Vec<String> {
    predicate.columns().into_iter().map(str::to_owned).collect()
}

/// Returns whether a predicate on one column is true of its value.
fn is_true(predicate: &Predicate, column: &str, value: &ArrayRef) -> Result<bool> {
    let name = names_of(column).join(".");
    let predicate = predicate.clone().rename_columns(|_| name.clone());
    let field = Field::new(name.as_str(), value.data_type().clone(), true);
    let arrow = ArrowSchema::new(vec![field]);
    let elements = from_arrow(&arrow, &FromArrowOptions::default())?;
    let schema = Schema::from_thrift(&elements, &Limits::default())?;
    let times = bare_times(arrow.fields());
    let bound = predicate.bind_with_times(&schema, &|leaf| times.get(leaf).copied().flatten())?;
    let leaf = schema.columns().first().ok_or_else(|| Error::argument("a partition without a column"))?;
    let mut values = leaf.physical().shape().empty();
    let all = SlotRanges::new(0..1);
    convert::from_array(value, &NonNullSlots::new(&all, None), leaf, &mut values)
        .map_err(|unfit| Error::argument(unfit.why).in_column(column))?;
    let values = LeafValues::flat(&values, None);
    Ok(bound.evaluate(1, &[(0, values)])?.get(0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::{Date32Array, Int64Array, StringArray};
    use std::sync::Arc;

    /// n is 7, day is 2024-01-01, city is null.
    fn known(name: &str) -> Result<Option<Option<ArrayRef>>> {
        Ok(match name {
            "n" => Some(Some(Arc::new(Int64Array::from(vec![7])))),
            "day" => Some(Some(Arc::new(Date32Array::from(vec![19723])))),
            "city" => Some(Some(Arc::new(StringArray::from(vec![None::<&str>])))),
            "gone" => Some(None),
            _ => None,
        })
    }

    fn rest_of(text: &str) -> String {
        match rest(&Predicate::parse(text).unwrap(), &known).unwrap() {
            Rest::All => "all".to_owned(),
            Rest::None => "none".to_owned(),
            Rest::Some(predicate) => predicate.to_string(),
        }
    }

    #[test]
    fn known_columns_go() {
        for (text, left) in [
            ("n = 7", "all"),
            ("n > 7.5", "none"),
            ("n in (1, 7) and a = 1", "a = 1"),
            ("n = 8 and a = 1", "none"),
            ("n = 7 or a = 1", "all"),
            ("n = 8 or a = 1 or b = 2", "a = 1 or b = 2"),
            ("day >= date '2024-01-01' and not a = 1", "not (a = 1)"),
            ("day < '2024-01-01'", "none"),
            ("not (n = 7 and a = 1)", "not (a = 1)"),
            ("not (n = 7 or a = 1)", "none"),
            ("not (n = 8 or not a = 1)", "a = 1"),
            ("a = 1", "a = 1"),
        ] {
            assert_eq!(rest_of(text), left, "{text}");
        }
    }

    #[test]
    fn what_is_unknown_is_not_true_nor_is_its_opposite() {
        for (text, left) in [
            ("city = 'x'", "none"),
            ("not city = 'x'", "none"),
            ("city is null", "all"),
            ("city is not null", "none"),
            ("gone = 1", "none"),
            ("gone is null and a = 1", "a = 1"),
            ("city = 'x' or a = 1", "a = 1"),
            ("not (city = 'x' and a = 1)", "not (a = 1)"),
        ] {
            assert_eq!(rest_of(text), left, "{text}");
        }
    }
}
