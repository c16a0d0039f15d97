//! The target that a condition on a path into a VARIANT compares, and how the same condition on its typed column relates to it.

use crate::variant::{PathTarget, VariantCast, VariantPath, primitive_type_of};
use marquetry_base::{Error, Result};
use marquetry_core::predicate::{Literal, Number, Pattern, Predicate, column_and_path, names_column};
use marquetry_core::schema::{Leaf, Schema};
use marquetry_variant::PrimitiveType;

/// Returns whether a name is a path into a VARIANT, and no column has this name.
pub(crate) fn is_variant_path(schema: &Schema, name: &str) -> bool {
    column_and_path(name).is_some() && !names_column(schema, name)
}

/// Returns the target that a condition on a path compares; `None` if it is not a condition on one value.
pub(super) fn target_of(predicate: &Predicate) -> Result<Option<PathTarget>> {
    let of_literal = |literal: &Literal| match literal {
        Literal::Bool(_) => Some(PrimitiveType::Boolean),
        Literal::Number(_) => Some(PrimitiveType::Double),
        Literal::Bytes(_) => Some(PrimitiveType::Binary),
        Literal::Date(_) => Some(PrimitiveType::Date),
        Literal::Time(_) => Some(PrimitiveType::Time),
        Literal::Timestamp(moment) if moment.has_offset => Some(PrimitiveType::TimestampMicros),
        Literal::Timestamp(_) => Some(PrimitiveType::LocalTimestampMicros),
        _ => None,
    };
    let typed = |literal: &Literal| {
        of_literal(literal).map_or(PathTarget::Text, |kind| PathTarget::Cast(VariantCast::Type(kind)))
    };
    let (column, uncast) = match predicate {
        Predicate::Compare { column, literal, .. } => (column, typed(literal)),
        Predicate::In { column, list } => {
            let kinds = list.iter().filter(|literal| **literal != Literal::Null).map(typed);
            let mut kinds: Vec<_> = kinds.collect();
            kinds.dedup();
            if kinds.len() > 1 && !has_cast(column) {
                let message = "values of several types: say which by a cast, as in payload:id::bigint";
                return Err(Error::argument(message).in_column(&**column));
            }
            (column, kinds.pop().unwrap_or(PathTarget::Text))
        }
        Predicate::StartsWith { column, prefix: literal } => (column, typed(literal)),
        Predicate::Matches { column, pattern } => {
            let is_bytes = matches!(
                pattern,
                Pattern::Contains(Literal::Bytes(_)) | Pattern::EndsWith(Literal::Bytes(_))
            );
            (column, if is_bytes { typed(&Literal::Bytes(Vec::new())) } else { PathTarget::Text })
        }
        Predicate::IsNan { column } => (column, PathTarget::Cast(VariantCast::Type(PrimitiveType::Double))),
        Predicate::IsNull { column } => (column, PathTarget::State),
        Predicate::IsMissing { .. } | Predicate::IsVariantNull { .. } => return Ok(Some(PathTarget::State)),
        _ => return Ok(None),
    };
    let path: VariantPath = column.parse().map_err(|error| column.locate(error))?;
    Ok(Some(match path.cast() {
        VariantCast::Variant => uncast,
        cast => PathTarget::Cast(cast),
    }))
}

fn has_cast(column: &str) -> bool {
    column.parse::<VariantPath>().is_ok_and(|path| path.cast() != VariantCast::Variant)
}

/// How a condition on a typed column relates to that on the path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fit {
    /// Equivalent, if the value is in the column.
    Exact,
    /// True of more values.
    More,
    /// Not related.
    None,
}

pub(super) fn fit(predicate: &Predicate, target: PathTarget, leaf: &Leaf) -> Fit {
    let Some(stored) = primitive_type_of(leaf) else { return Fit::None };
    let wanted = match target {
        PathTarget::State => return Fit::Exact,
        PathTarget::Text => PrimitiveType::String,
        PathTarget::Cast(VariantCast::Type(kind)) => kind,
        PathTarget::Cast(_) => return Fit::None,
    };
    if stored == wanted {
        return Fit::Exact;
    }
    match (width(stored), width(wanted)) {
        (Some(stored), Some(wanted)) if stored <= wanted => Fit::Exact,
        // Also true of numbers that are out of range.
        (Some(_), Some(_)) => Fit::More,
        // An integer is rounded to a double. That keeps its order against whole numbers that doubles hold exactly.
        (Some(_), None) if wanted == PrimitiveType::Double && is_of_whole_numbers(predicate) => Fit::Exact,
        _ => Fit::None,
    }
}

/// Returns the width of an integer type, in bytes; `None` for other types.
fn width(kind: PrimitiveType) -> Option<u8> {
    Some(match kind {
        PrimitiveType::Int8 => 1,
        PrimitiveType::Int16 => 2,
        PrimitiveType::Int32 => 4,
        PrimitiveType::Int64 => 8,
        _ => return None,
    })
}

/// Returns whether all literals are whole numbers so small that doubles hold them and their neighbours exactly.
fn is_of_whole_numbers(predicate: &Predicate) -> bool {
    let is_whole = |literal: &Literal| match literal {
        Literal::Number(Number::Finite { digits, scale, .. }) => {
            *scale <= 0 && digits.len() as i64 - i64::from(*scale) <= 15
        }
        _ => false,
    };
    match predicate {
        Predicate::Compare { literal, .. } => is_whole(literal),
        Predicate::In { list, .. } => list.iter().all(is_whole),
        _ => false,
    }
}
