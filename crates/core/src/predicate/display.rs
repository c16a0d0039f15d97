//! Prints a predicate as text that [`Predicate::parse`] reads back as the same predicate.

use super::name::Name;
use super::{Comparison, Predicate, Quantifier};
use std::fmt;

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Comparison::Eq => "=",
            Comparison::Ne => "!=",
            Comparison::Lt => "<",
            Comparison::Le => "<=",
            Comparison::Gt => ">",
            Comparison::Ge => ">=",
        })
    }
}

impl fmt::Display for Predicate {
    /// Writes text that [`Predicate::parse`] reads as the same predicate.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Predicate::And(all) => joined(f, all, " and ", "true"),
            Predicate::Or(any) => joined(f, any, " or ", "false"),
            Predicate::Not(inner) => match &**inner {
                Predicate::IsNull { column } => write!(f, "{} is not null", Name(column)),
                Predicate::IsEmpty { column } => write!(f, "{} is not empty", Name(column)),
                inner => write!(f, "not ({inner})"),
            },
            Predicate::CompareColumns { left, is, right } => write!(f, "{} {is} {}", Name(left), Name(right)),
            Predicate::Distinct { left, right } => {
                write!(f, "{} is distinct from {}", Name(left), Name(right))
            }
            Predicate::Elements { quantifier: Quantifier::Any, of } => write!(f, "any({of})"),
            Predicate::Elements { quantifier: Quantifier::All, of } => write!(f, "all({of})"),
            Predicate::AtKey { key, of } => {
                let column = of.columns().first().copied().unwrap_or_default();
                of_column(f, of, &format_args!("{}[{key}]", Name(column)))
            }
            Predicate::Compare { column, .. }
            | Predicate::In { column, .. }
            | Predicate::StartsWith { column, .. }
            | Predicate::Matches { column, .. }
            | Predicate::IsNull { column }
            | Predicate::IsNan { column }
            | Predicate::BboxIntersects { column, .. }
            | Predicate::IsMissing { column }
            | Predicate::IsVariantNull { column }
            | Predicate::Cardinality { column, .. }
            | Predicate::IsEmpty { column } => of_column(f, self, &Name(column)),
        }
    }
}

/// Writes a predicate on one column, which is printed as `column`.
fn of_column(f: &mut fmt::Formatter<'_>, predicate: &Predicate, column: &dyn fmt::Display) -> fmt::Result {
    match predicate {
        Predicate::Compare { is, literal, .. } => write!(f, "{column} {is} {literal}"),
        Predicate::In { list, .. } => {
            write!(f, "{column} in (")?;
            for (i, literal) in list.iter().enumerate() {
                write!(f, "{}{literal}", if i > 0 { ", " } else { "" })?;
            }
            f.write_str(")")
        }
        Predicate::StartsWith { prefix, .. } => write!(f, "starts_with({column}, {prefix})"),
        Predicate::Matches { pattern, .. } => write!(f, "{}", pattern.display(column)),
        Predicate::IsNull { .. } => write!(f, "{column} is null"),
        Predicate::IsMissing { .. } => write!(f, "{column} is missing"),
        Predicate::IsVariantNull { .. } => write!(f, "{column} is variant null"),
        Predicate::IsNan { .. } => write!(f, "is_nan({column})"),
        Predicate::BboxIntersects { bbox, .. } => write!(f, "bbox_intersects({column}, {bbox})"),
        Predicate::Cardinality { is, count, .. } => write!(f, "cardinality({column}) {is} {count}"),
        Predicate::IsEmpty { .. } => write!(f, "{column} is empty"),
        other => write!(f, "{other}"),
    }
}

fn joined(f: &mut fmt::Formatter<'_>, parts: &[Predicate], word: &str, none: &str) -> fmt::Result {
    if parts.is_empty() {
        return f.write_str(none);
    }
    for (i, part) in parts.iter().enumerate() {
        f.write_str(if i > 0 { word } else { "" })?;
        match part {
            Predicate::And(inner) | Predicate::Or(inner) if inner.len() > 1 => write!(f, "({part})")?,
            part => write!(f, "{part}")?,
        }
    }
    Ok(())
}
