//! Translates predicates from a table's types to those of one of its files.
//!
//! A column that is DOUBLE in the table may be FLOAT or INT32 in a file. The literals of a predicate have the table's
//! type: `x > 0.1` selects doubles above 0.1, and 0.1 as a FLOAT is one. So each file must be filtered by the values
//! that the table shows of it.

use super::field_finder::FieldFinder;
use super::filter::unknown;
use super::predicate_names::FileNames;
use crate::evolution::is_promotable;
use crate::schema::value_type;
use arrow_array::types::{ArrowPrimitiveType, Float16Type};
use arrow_schema::{DataType, Field, Fields, TimeUnit};
use marquetry_base::{Error, Result, from_hex};
use marquetry_core::predicate::{
    ColumnPath, Comparison, Literal, Number, Pattern, Predicate, bytes_as_shown, col, names_of,
};
use std::cmp::Ordering;

type Float16 = <Float16Type as ArrowPrimitiveType>::Native;

/// The types of a table's columns by path, and the names of the columns in one of its files.
pub(super) struct TableTypes<'a> {
    pub(super) table: &'a Fields,
    pub(super) names: &'a FileNames<'a>,
}

/// Returns the field that these names lead to.
pub(super) fn field_at<'a>(
    finder: &FieldFinder<'a>,
    fields: &'a Fields,
    names: &[String],
) -> Option<&'a Field> {
    let (first, rest) = names.split_first()?;
    let field = finder.named(fields, first)?;
    match (rest, value_field(field).data_type()) {
        ([], _) => Some(field),
        (rest, DataType::Struct(fields)) => field_at(finder, fields, rest),
        _ => None,
    }
}

/// Returns the field of the innermost elements of lists, or of the entries of maps.
fn value_field(field: &Field) -> &Field {
    match field.data_type() {
        DataType::List(element)
        | DataType::LargeList(element)
        | DataType::ListView(element)
        | DataType::LargeListView(element)
        | DataType::FixedSizeList(element, _)
        | DataType::Map(element, _) => value_field(element),
        _ => field,
    }
}

/// Returns the field of the values of a map.
fn map_values(field: &Field) -> Option<&Field> {
    match value_field(field).data_type() {
        DataType::Struct(entries) => entries.get(1).map(|field| &**field),
        _ => None,
    }
}

/// Returns the field that a predicate refers to inside a column.
type Inner<'a> = &'a dyn Fn(&Field) -> Option<&Field>;

impl TableTypes<'_> {
    /// Returns a predicate that is true of the file's own values where `predicate` is true of the table's.
    ///
    /// Fails if a column's type in the file cannot become that of the table.
    pub(super) fn predicate_of_file(&self, predicate: &Predicate) -> Result<Predicate> {
        self.of_values(predicate, &|field| Some(field))
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
                let of = Box::new(self.of_values(of, &|field| Some(value_field(field)))?);
                return Ok(Predicate::Elements { quantifier: *quantifier, of });
            }
            Predicate::AtKey { key, of } => {
                return Ok(self.of_values(of, &map_values)?.at_key(key.clone()));
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

    /// Returns the fields of a column's values in the file and in the table, if their types differ.
    fn evolved(&self, path: &ColumnPath, inner: Inner<'_>) -> Result<Option<(&Field, &Field)>> {
        let finder = self.names.finder();
        let to = finder.named(self.table, path);
        let in_file = self.names.path(path)?;
        let from = in_file.and_then(|path| field_at(finder, self.names.file(), &names_of(&path)));
        let (Some(from), Some(to)) = (from.and_then(inner), to.and_then(inner)) else {
            return Ok(None);
        };
        let is_promoted = self.promoted(path, from.data_type(), to.data_type());
        let is_promoted = is_promoted.map_err(|error| path.locate(error))?;
        Ok((is_promoted || is_uuid(from) != is_uuid(to)).then_some((from, to)))
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
fn of_file(predicate: &Predicate, from_field: &Field, to_field: &Field) -> Predicate {
    let (from, to) = (value_type(from_field.data_type()), value_type(to_field.data_type()));
    let in_file = |literal: &Literal| match literal {
        Literal::Text(text) => meant_bytes(text, from_field, to_field).unwrap_or_else(|| literal.clone()),
        Literal::Number(number) => Literal::Number(in_unit(number, from, to)),
        other => other.clone(),
    };
    match predicate {
        Predicate::IsNan { column } if is_float(to) && !is_float(from) => nowhere(column),
        Predicate::Compare { column, is, literal } => match rounded(literal, to) {
            Some(number) if is_float(from) => compare_exactly(column, *is, number, from),
            Some(number) => col(column).compare(*is, Literal::Number(number)),
            None => col(column).compare(*is, in_file(literal)),
        },
        Predicate::StartsWith { column, prefix } => {
            Predicate::StartsWith { column: column.clone(), prefix: in_file(prefix) }
        }
        Predicate::Matches { column, pattern } => {
            let pattern = match pattern {
                Pattern::Contains(part) => Pattern::Contains(in_file(part)),
                Pattern::EndsWith(end) => Pattern::EndsWith(in_file(end)),
                other => other.clone(),
            };
            Predicate::Matches { column: column.clone(), pattern }
        }
        Predicate::In { column, list } => {
            let is_there = |literal: &Literal| match literal {
                Literal::Number(number) if is_float(from) => is_value(number, from),
                _ => true,
            };
            let literals = list.iter().map(|literal| match rounded(literal, to) {
                Some(number) => Literal::Number(number),
                None => in_file(literal),
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

/// Returns a number rounded to the table's float type; `None` if the type is not a float.
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
        // The value is the next one above the number, which is not a value itself.
        (Some(Ordering::Greater), Comparison::Lt | Comparison::Le) => col(column).lt(value),
        (Some(Ordering::Greater), Comparison::Gt | Comparison::Ge) => col(column).ge(value),
        (Some(Ordering::Less), Comparison::Lt | Comparison::Le) => col(column).le(value),
        (Some(Ordering::Less), Comparison::Gt | Comparison::Ge) => col(column).gt(value),
    }
}

/// Converts a text literal to the bytes that it means for the table's column, if the file stores another type: text means
/// itself, bytes mean `\xNN` escapes, UUIDs mean their hexadecimal form. `None` if both types take the literal alike.
fn meant_bytes(text: &str, from: &Field, to: &Field) -> Option<Literal> {
    #[derive(PartialEq)]
    enum Kind {
        Text,
        Uuid,
        Fixed,
        Bytes,
    }
    let kind = |field: &Field| match value_type(field.data_type()) {
        data_type if data_type.is_string() => Some(Kind::Text),
        DataType::FixedSizeBinary(_) if is_uuid(field) => Some(Kind::Uuid),
        DataType::FixedSizeBinary(_) => Some(Kind::Fixed),
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView => Some(Kind::Bytes),
        _ => None,
    };
    let (in_file, in_table) = (kind(from)?, kind(to)?);
    if in_file == in_table {
        return None;
    }
    let meant = match in_table {
        Kind::Text => None,
        Kind::Uuid => return uuid_bytes(text).map(Literal::Bytes),
        // The bytes of a UUID, in a table without the extension type.
        Kind::Fixed => from_hex(text).filter(|bytes| bytes.len() == 16),
        Kind::Bytes => bytes_as_shown(text),
    };
    Some(Literal::Bytes(meant.unwrap_or_else(|| text.as_bytes().to_vec())))
}

fn uuid_bytes(text: &str) -> Option<Vec<u8>> {
    from_hex(&text.replace('-', "")).filter(|bytes| bytes.len() == 16)
}

fn is_uuid(field: &Field) -> bool {
    field.extension_type_name() == Some("arrow.uuid")
}

/// Converts a number in the unit of the table's column to the coarser unit of the file's: literal numbers are stored values.
fn in_unit(number: &Number, from: &DataType, to: &DataType) -> Number {
    match (number, nanos(from).zip(nanos(to))) {
        (Number::Finite { is_negative, digits, scale }, Some((from, to))) if from > to => {
            let zeros = (from / to).ilog10() as i32;
            let scale = scale.saturating_add(zeros);
            // Days are not a power of ten of any other unit.
            if 10u64.checked_pow(zeros as u32) != Some(from / to) || digits.is_empty() {
                return number.clone();
            }
            Number::Finite { is_negative: *is_negative, digits: digits.clone(), scale }
        }
        _ => number.clone(),
    }
}

/// Returns the nanoseconds of the unit that a type counts time in.
fn nanos(data_type: &DataType) -> Option<u64> {
    let unit = match data_type {
        DataType::Time32(unit)
        | DataType::Time64(unit)
        | DataType::Duration(unit)
        | DataType::Timestamp(unit, _) => unit,
        DataType::Date64 => &TimeUnit::Millisecond,
        _ => return None,
    };
    Some(match unit {
        TimeUnit::Second => 1_000_000_000,
        TimeUnit::Millisecond => 1_000_000,
        TimeUnit::Microsecond => 1_000,
        TimeUnit::Nanosecond => 1,
    })
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
    fn text_means_what_it_means_in_the_table() {
        for (asked, of_file) in [
            ("x = 'a\\x00'", "x = X'6100'"),
            ("x in ('a\\x00', 'b')", "x in (X'6100', X'62')"),
            ("starts_with(x, '\\x00')", "starts_with(x, X'00')"),
            ("x = 'a\\y'", "x = X'615c79'"),
        ] {
            for from in [DataType::FixedSizeBinary(2), DataType::Utf8] {
                assert_eq!(shown(asked, from, DataType::BinaryView), of_file, "{asked}");
            }
        }
        assert_eq!(shown("x = 'a\\x00'", DataType::Binary, DataType::Utf8), "x = X'615c783030'");
    }

    #[test]
    fn numbers_of_a_finer_unit() {
        use TimeUnit::*;
        let of_file = |asked, from, to| shown(asked, DataType::Duration(from), DataType::Duration(to));
        assert_eq!(of_file("x = 1500", Millisecond, Microsecond), "x = 1.500");
        assert_eq!(of_file("x in (0, -2e9)", Second, Nanosecond), "x in (0, -2)");
        assert_eq!(of_file("x > 'PT1S'", Second, Nanosecond), "x > 'PT1S'");
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
