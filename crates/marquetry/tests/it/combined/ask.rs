//! Predicates over columns of any type, and what Arrow's own kernels say of each row.

use crate::arrays::Random;
use arrow_array::cast::AsArray;
use arrow_array::types::{Float16Type, Float32Type, Float64Type};
use arrow_array::{Array, ArrayRef, RecordBatch, Scalar, make_array};
use arrow_buffer::NullBuffer;
use arrow_schema::DataType;
use marquetry::predicate::{Comparison, Predicate, col, literals};

/// A column that predicates can use, by its path. Nulls of structs above it are its own.
pub(super) struct Asked {
    path: String,
    array: ArrayRef,
}

/// The result of a predicate for each row: true, false or unknown.
pub(super) type Says = Vec<Option<bool>>;

/// All columns that are not a list and are in none, and the lists themselves.
pub(super) fn columns(batch: &RecordBatch) -> Vec<Asked> {
    let mut out = Vec::new();
    for (field, array) in batch.schema().fields().iter().zip(batch.columns()) {
        add(array, field.name().clone(), None, &mut out);
    }
    out
}

fn add(array: &ArrayRef, path: String, above: Option<&NullBuffer>, out: &mut Vec<Asked>) {
    let array = match array.data_type() {
        DataType::Struct(fields) => {
            let group = array.as_struct();
            let nulls = NullBuffer::union(above, group.nulls());
            for (field, column) in fields.iter().zip(group.columns()) {
                add(column, format!("{path}.{}", field.name()), nulls.as_ref(), out);
            }
            return;
        }
        // They have no order, or no values.
        DataType::Null | DataType::Interval(_) => return,
        DataType::Dictionary(_, values) => arrow_cast::cast(array, values).unwrap(),
        DataType::RunEndEncoded(_, values) => arrow_cast::cast(array, values.data_type()).unwrap(),
        _ => array.clone(),
    };
    let nulls = NullBuffer::union(above, array.nulls());
    let array = make_array(array.to_data().into_builder().nulls(nulls).build().unwrap());
    out.push(Asked { path, array });
}

/// Returns a random predicate and its result, or `None` if it turned out not to be one.
pub(super) fn predicate(random: &mut Random, columns: &[Asked], depth: usize) -> Option<(Predicate, Says)> {
    if depth == 0 || random.one_in(2) {
        return condition(random, columns);
    }
    let (first, says) = predicate(random, columns, depth - 1)?;
    if random.one_in(3) {
        return Some((!first, not(says)));
    }
    let (second, too) = predicate(random, columns, depth - 1)?;
    Some(match random.one_in(2) {
        true => (first.and(second), and(says, too)),
        false => (first.or(second), or(says, too)),
    })
}

fn condition(random: &mut Random, columns: &[Asked]) -> Option<(Predicate, Says)> {
    let Asked { path, array } = &columns[random.below(columns.len())];
    let column = || col(path.as_str());
    if random.one_in(8) {
        return Some((column().is_null(), (0..array.len()).map(|row| Some(array.is_null(row))).collect()));
    }
    let is = random.pick(&COMPARISONS);
    if array.data_type().is_nested() {
        let count = random.below(4) as u64;
        let says = (0..array.len()).map(|row| Some(holds(is, &length(array, row)?, &count))).collect();
        return Some((column().cardinality(is, count), says));
    }
    // Values that are not a time of day have no literal.
    let mut literal = || {
        let row = random.below(array.len());
        Some((row, literals(&array.slice(row, 1)).ok()?.pop()?))
    };
    let ((row, first), (other_row, second)) = (literal()?, literal()?);
    Some(match random.below(4) {
        0 => {
            let says = or(
                compare(array, Comparison::Eq, row, array),
                compare(array, Comparison::Eq, other_row, array),
            );
            (column().is_in([first, second]), says)
        }
        1 => {
            let says = and(
                compare(array, Comparison::Ge, row, array),
                compare(array, Comparison::Le, other_row, array),
            );
            (column().between(first, second), says)
        }
        _ => (column().compare(is, first), compare(array, is, row, array)),
    })
}

/// Each value compared with the one in a row of another array.
fn compare(array: &ArrayRef, is: Comparison, row: usize, other: &ArrayRef) -> Says {
    if array.data_type().is_floating() {
        // Arrow has an order of all floats, in which NaN has a place.
        let literal = float(other, row);
        return (0..array.len()).map(|row| Some(holds(is, &float(array, row)?, &literal?))).collect();
    }
    let literal = Scalar::new(other.slice(row, 1));
    let compare = match is {
        Comparison::Eq => arrow_ord::cmp::eq,
        Comparison::Ne => arrow_ord::cmp::neq,
        Comparison::Lt => arrow_ord::cmp::lt,
        Comparison::Le => arrow_ord::cmp::lt_eq,
        Comparison::Gt => arrow_ord::cmp::gt,
        Comparison::Ge => arrow_ord::cmp::gt_eq,
    };
    compare(array, &literal).unwrap().iter().collect()
}

fn float(array: &ArrayRef, row: usize) -> Option<f64> {
    array.is_valid(row).then(|| match array.data_type() {
        DataType::Float16 => array.as_primitive::<Float16Type>().value(row).to_f64(),
        DataType::Float32 => array.as_primitive::<Float32Type>().value(row).into(),
        _ => array.as_primitive::<Float64Type>().value(row),
    })
}

fn length(array: &ArrayRef, row: usize) -> Option<u64> {
    let length = |array: &ArrayRef| match array.data_type() {
        DataType::List(_) => array.as_list::<i32>().value(row).len(),
        DataType::LargeList(_) => array.as_list::<i64>().value(row).len(),
        DataType::ListView(_) => array.as_list_view::<i32>().value(row).len(),
        DataType::LargeListView(_) => array.as_list_view::<i64>().value(row).len(),
        DataType::FixedSizeList(_, size) => *size as usize,
        _ => array.as_map().value(row).len(),
    };
    array.is_valid(row).then(|| length(array) as u64)
}

fn holds<T: PartialOrd>(is: Comparison, left: &T, right: &T) -> bool {
    match is {
        Comparison::Eq => left == right,
        Comparison::Ne => left != right,
        Comparison::Lt => left < right,
        Comparison::Le => left <= right,
        Comparison::Gt => left > right,
        Comparison::Ge => left >= right,
    }
}

fn not(says: Says) -> Says {
    says.into_iter().map(|says| says.map(|says| !says)).collect()
}

fn and(says: Says, too: Says) -> Says {
    let both = says.into_iter().zip(too).map(|both| match both {
        (Some(false), _) | (_, Some(false)) => Some(false),
        (says, too) => says.zip(too).map(|(says, too)| says && too),
    });
    both.collect()
}

fn or(says: Says, too: Says) -> Says {
    not(and(not(says), not(too)))
}

const COMPARISONS: [Comparison; 6] =
    [Comparison::Eq, Comparison::Ne, Comparison::Lt, Comparison::Le, Comparison::Gt, Comparison::Ge];
