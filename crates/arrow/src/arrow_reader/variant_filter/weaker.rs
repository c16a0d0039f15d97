//! Weakens a predicate with paths into VARIANT to one over columns of the file, for pruning.

use super::path_target::{Fit, fit, is_variant_path, target_of};
use crate::variant::{PathPlan, PathTarget, VariantPath, quoted_path};
use marquetry_base::Result;
use marquetry_core::metadata::ParquetMetaData;
use marquetry_core::predicate::{Predicate, col};

/// An implied predicate, and whether it is equivalent.
pub(super) struct Weaker {
    pub(super) predicate: Predicate,
    pub(super) is_exact: bool,
}

impl Weaker {
    fn of(predicate: Predicate, is_exact: bool) -> Self {
        Weaker { predicate, is_exact }
    }

    /// The predicate that is true of all rows.
    fn unknown() -> Self {
        Weaker::of(Predicate::And(Vec::new()), false)
    }
}

/// Returns what a predicate, or its negation, implies for the columns of the file.
pub(super) fn weaker(predicate: &Predicate, is_negated: bool, metadata: &ParquetMetaData) -> Result<Weaker> {
    let schema = metadata.schema();
    let all = |parts: &[Predicate], is_and: bool| -> Result<Weaker> {
        let parts =
            parts.iter().map(|part| weaker(part, is_negated, metadata)).collect::<Result<Vec<_>>>()?;
        let is_exact = parts.iter().all(|part| part.is_exact);
        let parts = parts.into_iter().map(|part| part.predicate).collect();
        Ok(Weaker::of(if is_and { Predicate::And(parts) } else { Predicate::Or(parts) }, is_exact))
    };
    match predicate {
        Predicate::And(parts) => return all(parts, !is_negated),
        Predicate::Or(parts) => return all(parts, is_negated),
        Predicate::Not(inner) => return weaker(inner, !is_negated, metadata),
        _ => {}
    }
    if !predicate.columns().iter().any(|path| is_variant_path(schema, path)) {
        let same = predicate.clone();
        return Ok(Weaker::of(if is_negated { !same } else { same }, true));
    }
    let columns = predicate.columns();
    let (Some(target), &[path]) = (target_of(predicate)?, columns.as_slice()) else {
        return Ok(Weaker::unknown());
    };
    let path: VariantPath = path.parse()?;
    // QUIRK: a row that has neither of its two columns is read as a variant that is null.
    if path.path().steps().is_empty() && matches!(predicate, Predicate::IsVariantNull { .. }) {
        return Ok(Weaker::unknown());
    }
    let plan = PathPlan::new(metadata, path.column(), path.path().steps())?;
    Ok(of_path(predicate, is_negated, target, &plan, metadata))
}

fn of_path(
    predicate: &Predicate,
    is_negated: bool,
    target: PathTarget,
    plan: &PathPlan,
    metadata: &ParquetMetaData,
) -> Weaker {
    let schema = metadata.schema();
    let is_there = |leaf: usize| !col(quoted_path(schema, leaf)).is_null();
    let in_residuals = || Predicate::Or(plan.residuals.iter().map(|leaf| is_there(*leaf)).collect());
    let Some(typed) = plan.typed else {
        // A value that is shredded further, or in a list, may be anywhere.
        let is_strict = !matches!(predicate, Predicate::IsNull { .. } | Predicate::IsMissing { .. });
        return match plan.is_whole || plan.in_list {
            false if is_strict && !is_negated => Weaker::of(in_residuals(), false),
            _ => Weaker::unknown(),
        };
    };
    let name = quoted_path(schema, typed);
    let is_null = || col(name.as_str()).is_null();
    let of_typed = || {
        let same = predicate.clone().rename_columns(|_| name.clone());
        if is_negated { !same } else { same }
    };
    let fit = fit(predicate, target, schema.column(typed));
    let or_elsewhere = |predicate: Predicate| predicate.or(is_null().and(in_residuals()));
    let is_alone = plan.residuals.is_empty();
    match predicate {
        // A path without a cast is NULL if it leads nowhere.
        Predicate::IsNull { .. } if fit == Fit::None => Weaker::unknown(),
        Predicate::IsNull { .. } if !is_negated => match fit {
            Fit::Exact => Weaker::of(is_null(), is_alone),
            _ => Weaker::unknown(),
        },
        Predicate::IsNull { .. } => Weaker::of(or_elsewhere(!is_null()), is_alone && fit == Fit::Exact),
        Predicate::IsMissing { .. } if !is_negated => Weaker::of(is_null(), false),
        Predicate::IsVariantNull { .. } if !is_negated => Weaker::of(is_null().and(in_residuals()), false),
        Predicate::IsMissing { .. } | Predicate::IsVariantNull { .. } => Weaker::unknown(),
        _ if fit == Fit::None => Weaker::of(or_elsewhere(!is_null()), false),
        _ => Weaker::of(or_elsewhere(of_typed()), is_alone && fit == Fit::Exact),
    }
}
