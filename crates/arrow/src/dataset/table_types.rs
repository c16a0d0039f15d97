//! Translates predicates from a table's types to those of one of its files.
//!
//! A column that is DOUBLE in the table may be FLOAT or INT32 in a file. The literals of a predicate have the table's
//! type: `x > 0.1` selects doubles above 0.1, and 0.1 as a FLOAT is one. So each file must be filtered by the values
//! that the table shows of it.

use super::filter::unknown;
use super::predicate_names::FileNames;
use crate::evolution::is_promotable;
use arrow_array::types::{ArrowPrimitiveType, Float16Type};
use arrow_schema::{DataType, Field, Fields};
use marquetry_base::{Error, Result};
use marquetry_core::predicate::{ColumnPath, Comparison, Literal, Number, Predicate, col, names_of};
use std::cmp::Ordering;

type Float16 = <Float16Type as ArrowPrimitiveType>::Native;

/// The types of a table's columns by path, and the names of the columns in one of its files.
pub(super) struct TableTypes<'a> {
    pub(super) table: &'a Fields,
    pub(super) names: &'a FileNames<'a>,
}

/// Returns the type of the column that these names lead to.
pub(super) fn type_at<'a>(fields: &'a Fields, names: &[String]) -> Option<&'a DataType> {
    let (first, rest) = names.split_first()?;
    let data_type = fields.iter().find(|field| field.name() == first)?.data_type();
    match (rest, value_type(data_type)) {
        ([], _) => Some(data_type),
        (rest, DataType::Struct(fields)) => type_at(fields, rest),
        _ => None,
    }
}

/// Returns the type of the innermost elements of lists, or of the entries of maps.
fn value_type(data_type: &DataType) -> &DataType {
    match data_type {
        DataType::List(element)
        | DataType::LargeList(element)
        | DataType::ListView(element)
        | DataType::LargeListView(element)
        | DataType::FixedSizeList(element, _)
        | DataType::Map(element, _) => value_type(element.data_type()),
        other => other,
    }
}

/// Returns the type of the values of a map.
fn map_value_type(data_type: &DataType) -> Option<&DataType> {
    match value_type(data_type) {
        DataType::Struct(entries) => entries.get(1).map(|field| field.data_type()),
        _ => None,
    }
}

/// Returns the type that a predicate refers to inside a column of some type.
type Inner<'a> = &'a dyn Fn(&DataType) -> Option<&DataType>;

impl TableTypes<'_> {
    /// Returns a predicate that is true of the file's own values where `predicate` is true of the table's.
    ///
    /// Fails if a column's type in the file cannot become that of the table.
    pub(super) fn predicate_of_file(&self, predicate: &Predicate) -> Result<Predicate> {
        self.of_values(predicate, &|data_type| Some(data_type))
    }

    /// Like [`predicate_of_file`](Self::predicate_of_file), for values inside columns. `inner` returns their type.
    fn of_values(&self, predicate: &Predicate, inner: Inner<'_>) -> Result<Predicate> {
        let all = |parts: &[Predicate]| {
            parts.iter().map(|part| self.of_values(part, inner)).collect::<Result<Vec<_>>>()
        };
        let column = match predicate {
            Predicate::Not(of) => return Ok(!self.of_values(of, inner)?),
            Predicate::And(parts) => return Ok(Predicate::And(all(parts)?)),
            Predicate::Or(parts) => return Ok(Predicate::Or(all(parts)?)),
            // Values of two columns compare without rounding, whatever their types.
            Predicate::CompareColumns { left, right, .. } | Predicate::Distinct { left, right } => {
                self.evolved(left, inner)?;
                self.evolved(right, inner)?;
                return Ok(predicate.clone());
            }
            Predicate::Elements { quantifier, of } => {
                let of = Box::new(self.of_values(of, &|data_type| Some(value_type(data_type)))?);
                return Ok(Predicate::Elements { quantifier: *quantifier, of });
            }
            Predicate::AtKey { key, of } => {
                return Ok(self.of_values(of, &map_value_type)?.at_key(key.clone()));
            }
            Predicate::Cardinality { .. } | Predicate::IsEmpty { .. } => return Ok(predicate.clone()),
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
        match self.evolved(column, inner)? {
            Some((from, to)) => Ok(of_file(predicate, from, to)),
            None => Ok(predicate.clone()),
        }
    }

    /// Returns the types of a column's values in the file and in the table, if they differ.
    fn evolved(&self, path: &ColumnPath, inner: Inner<'_>) -> Result<Option<(&DataType, &DataType)>> {
        let to =
            self.table.iter().find(|field| **field.name() == **path).map(|field| Field::data_type(field));
        let in_file = self.names.path(path)?;
        let from = in_file.and_then(|path| type_at(self.names.file(), &names_of(&path)));
        let (Some(from), Some(to)) = (from.and_then(inner), to.and_then(inner)) else {
            return Ok(None);
        };
        let is_promoted = self.promoted(path, from, to).map_err(|error| path.locate(error))?;
        Ok(is_promoted.then_some((from, to)))
    }

    /// Returns whether the type in the file differs from that of the table. Fails if it cannot become it.
    fn promoted(&self, path: &str, from: &DataType, to: &DataType) -> Result<bool> {
        // Predicates only test whether groups and lists are null.
        let are_nested = from.is_nested() && to.is_nested();
        // INT96 becomes a timestamp of any unit and zone.
        let are_timestamps = matches!((from, to), (DataType::Timestamp(..), DataType::Timestamp(..)));
        match from == to || are_nested || are_timestamps || is_promotable(from, to) {
            true => Ok(from != to && !are_nested),
            false => {
                let message = format!("{from} in this file cannot become {to}, its type in the table");
                Err(Error::argument(message).in_column(path))
            }
        }
    }
}

/// Translates a predicate on one column, which is `from` in the file and `to` in the table.
fn of_file(predicate: &Predicate, from: &DataType, to: &DataType) -> Predicate {
    match predicate {
        Predicate::IsNan { column } if is_float(to) && !is_float(from) => nowhere(column),
        Predicate::Compare { column, is, literal } => match rounded(literal, to) {
            Some(number) if is_float(from) => compare_exactly(column, *is, number, from),
            Some(number) => col(column).compare(*is, Literal::Number(number)),
            None => col(column).compare(*is, as_bytes(literal, from)),
        },
        Predicate::In { column, list } => {
            let is_there = |literal: &Literal| match literal {
                Literal::Number(number) if is_float(from) => is_value(number, from),
                _ => true,
            };
            let literals = list.iter().map(|literal| match rounded(literal, to) {
                Some(number) => Literal::Number(number),
                None => as_bytes(literal, from),
            });
            col(column).is_in(literals.filter(is_there))
        }
        other => other.clone(),
    }
}

/// Returns a predicate that is false of every value, and unknown of null.
fn nowhere(column: &ColumnPath) -> Predicate {
    col(column).lt(Literal::Number(Number::Infinite { is_negative: true }))
}

fn is_float(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Float16 | DataType::Float32 | DataType::Float64)
}

/// Returns a number rounded to the table's float type; `None` if the type is no float.
fn rounded(literal: &Literal, to: &DataType) -> Option<Number> {
    let written = match literal {
        Literal::Text(text) => Number::parse(text),
        _ => None,
    };
    let ((Literal::Number(number), _) | (_, Some(number))) = (literal, &written) else { return None };
    if !is_float(to) {
        return None;
    }
    let value = nearest(number, to)?;
    // A finite number beyond the range of the type does not become infinite.
    let is_beyond = value.is_infinite() && matches!(number, Number::Finite { .. });
    Some(if is_beyond { number.clone() } else { Number::exactly(value) })
}

/// Returns the nearest value of a float type, or one next to it.
fn nearest(number: &Number, float: &DataType) -> Option<f64> {
    let text = number.to_string();
    match float {
        DataType::Float16 => text.parse().ok().map(|value| Float16::from_f64(value).to_f64()),
        DataType::Float32 => text.parse::<f32>().ok().map(f64::from),
        _ => text.parse().ok(),
    }
}

/// Returns whether a float type has exactly this number.
fn is_value(number: &Number, float: &DataType) -> bool {
    let value = nearest(number, float).map(Number::exactly);
    value.is_some_and(|value| value.compare(number) == Some(Ordering::Equal))
}

/// Returns a comparison with a number that may lie between two values of the file's float type.
fn compare_exactly(column: &ColumnPath, is: Comparison, number: Number, from: &DataType) -> Predicate {
    let value = nearest(&number, from).map_or(Number::Nan, Number::exactly);
    let ordering = value.compare(&number);
    let value = Literal::Number(value);
    match (ordering, is) {
        // The same number, or NaN.
        (None | Some(Ordering::Equal), _) => col(column).compare(is, value),
        (_, Comparison::Eq) => nowhere(column),
        (_, Comparison::Ne) => !nowhere(column),
        // The value is the next one above the number, which is no value itself.
        (Some(Ordering::Greater), Comparison::Lt | Comparison::Le) => col(column).lt(value),
        (Some(Ordering::Greater), Comparison::Gt | Comparison::Ge) => col(column).ge(value),
        (Some(Ordering::Less), Comparison::Lt | Comparison::Le) => col(column).le(value),
        (Some(Ordering::Less), Comparison::Gt | Comparison::Ge) => col(column).gt(value),
    }
}

/// Converts text to its bytes, if the file has byte strings of one length and the table byte strings of any length. The
/// bytes of a UUID are not its text form.
fn as_bytes(literal: &Literal, from: &DataType) -> Literal {
    match (literal, from) {
        (Literal::Text(text), DataType::FixedSizeBinary(_)) => Literal::Bytes(text.as_bytes().to_vec()),
        (literal, _) => literal.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evolution::MatchBy;

    fn shown(predicate: &str, from: DataType, to: DataType) -> String {
        let fields = |data_type| Fields::from(vec![Field::new("x", data_type, true)]);
        let (table, file) = (fields(to), fields(from));
        let names = FileNames::new(MatchBy::Name, &table, &file);
        let types = TableTypes { table: &table, names: &names };
        match types.predicate_of_file(&Predicate::parse(predicate).unwrap()) {
            Ok(predicate) => predicate.to_string(),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn a_double_between_two_floats() {
        for (asked, of_file) in [
            // 0.1 as a FLOAT is a little above.
            ("x > 0.1", "x >= 0.100000001490116119384765625"),
            ("x >= 0.1", "x >= 0.100000001490116119384765625"),
            ("x < 0.1", "x < 0.100000001490116119384765625"),
            ("x = 0.1", "x < -inf"),
            ("x != 0.1", "not (x < -inf)"),
            ("x in (0.1, 0.25, null)", "x in (0.25, null)"),
            ("x = 0.25", "x = 0.25"),
            ("x > 1e300", "x >= inf"),
            ("x < inf", "x < inf"),
            ("x = nan", "x = nan"),
            ("is_nan(x)", "is_nan(x)"),
            ("not (x > 0.3 or x is null)", "not (x >= 0.300000011920928955078125 or x is null)"),
        ] {
            assert_eq!(shown(asked, DataType::Float32, DataType::Float64), of_file, "{asked}");
        }
    }

    #[test]
    fn doubles_of_integers() {
        // The nearest double is 1.
        let of_int = |predicate| shown(predicate, DataType::Int32, DataType::Float64);
        assert_eq!(of_int("x = 1.00000000000000000001"), "x = 1");
        assert_eq!(of_int("x > 0.5"), "x > 0.5");
        assert_eq!(of_int("is_nan(x)"), "x < -inf");
        assert_eq!(of_int("not (is_nan(x))"), "not (x < -inf)");
    }

    #[test]
    fn bytes_of_a_uuid_and_types_that_cannot_be_one() {
        let uuid = DataType::FixedSizeBinary(16);
        assert_eq!(shown("x = 'ab'", uuid, DataType::BinaryView), "x = X'6162'");
        assert_eq!(
            shown("x = 1", DataType::Int64, DataType::Float64),
            "argument: predicate, character 1: Int64 in this file cannot become Float64, its type in the table, in column x"
        );
    }
}
