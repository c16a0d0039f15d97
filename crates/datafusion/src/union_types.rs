//! Extension types of UNION: a column has one if all parts agree on it.
//!
//! QUIRK: DataFusion merges the metadata of all inputs into the columns of a union; the last one wins where they
//! differ. So an input's text becomes JSON, or its coordinates those of another reference system. And it fails to
//! aggregate such a union, since its logical plan has other metadata than its physical one.

use crate::column_kind::is_same_but_layout;
use crate::extension_types::{stated_types, types_alone};
use arrow_schema::Field;
use datafusion::common::tree_node::Transformed;
use datafusion::common::{Column, DFSchema};
use datafusion::config::ConfigOptions;
use datafusion::error::Result;
use datafusion::logical_expr::expr::{Alias, Cast};
use datafusion::logical_expr::{Expr, ExprSchemable, LogicalPlan, Projection, Union};
use datafusion::optimizer::AnalyzerRule;
use std::collections::HashMap;
use std::sync::Arc;

/// Gives unions the extension types on which their inputs agree. It expects inputs that have the same types already.
#[derive(Debug)]
pub(crate) struct UnionTypes;

impl AnalyzerRule for UnionTypes {
    fn name(&self) -> &str {
        NAME
    }

    fn analyze(&self, plan: LogicalPlan, _: &ConfigOptions) -> Result<LogicalPlan> {
        let mut is_changed = false;
        let plan = plan.transform_up_with_subqueries(|plan| match plan {
            LogicalPlan::Union(union) => {
                let union = agreed(union)?;
                is_changed |= union.transformed;
                union.map_data(|union| Ok(LogicalPlan::Union(union)))
            }
            // Nodes above a union have its columns.
            plan if is_changed => Ok(Transformed::yes(plan.recompute_schema()?)),
            plan => Ok(Transformed::no(plan)),
        });
        Ok(plan?.data)
    }
}

/// The name of the rule.
pub(crate) const NAME: &str = "extension types of unions";

type Metadata = HashMap<String, String>;

/// The union, with the same extension types in all of its inputs.
fn agreed(union: Union) -> Result<Transformed<Union>> {
    let columns = 0..union.schema.fields().len();
    let wanted = columns.map(|at| shared(&union, at)).collect::<Result<Vec<_>>>()?;
    let is_wanted = |(at, wanted): (usize, &Metadata)| {
        stated_types(union.schema.field(at)) == *wanted
            && union.inputs.iter().all(|part| stated_types(part.schema().field(at)) == *wanted)
    };
    if wanted.iter().enumerate().all(is_wanted) {
        return Ok(Transformed::no(union));
    }
    let parts = union.inputs.iter().map(|part| with_types(part, &wanted)).collect::<Result<Vec<_>>>()?;
    let fields = union.schema.iter().zip(&wanted).map(|((table, field), wanted)| {
        (table.cloned(), Arc::new(Field::clone(field).with_metadata(with_type(field, wanted))))
    });
    let schema = DFSchema::new_with_metadata(fields.collect(), union.schema.metadata().clone())?;
    Ok(Transformed::yes(Union { inputs: parts, schema: Arc::new(schema) }))
}

/// The extension type that all inputs have in a column; none if they differ.
fn shared(union: &Union, at: usize) -> Result<Metadata> {
    let parts = union.inputs.iter().map(|part| meaning(part, at));
    let mut parts = parts.collect::<Result<Vec<_>>>()?.into_iter().flatten();
    let first = parts.next().unwrap_or_default();
    Ok(if parts.all(|part| part == first) { first } else { Metadata::new() })
}

/// The extension type of a column's origin; `None` for NULL, which agrees with any. Looks below casts: those that
/// DataFusion adds for the union's type already have the union's metadata, and a cast that changes no value changes no
/// meaning.
fn meaning(plan: &LogicalPlan, at: usize) -> Result<Option<Metadata>> {
    let LogicalPlan::Projection(projection) = plan else {
        let field = plan.schema().field(at);
        return Ok((!field.data_type().is_null()).then(|| types_alone(field)));
    };
    let schema = projection.input.schema();
    let Some(mut expr) = projection.expr.get(at) else { return Ok(Some(Metadata::new())) };
    loop {
        match expr {
            Expr::Alias(Alias { expr: inner, .. }) => expr = inner,
            Expr::Cast(Cast { expr: inner, field }) => {
                let from = inner.get_type(schema)?;
                if !from.is_null() && !is_same_but_layout(&from, field.data_type()) {
                    return Ok(Some(Metadata::new()));
                }
                expr = inner;
            }
            Expr::Literal(value, _) if value.is_null() => return Ok(None),
            Expr::Column(column) => return meaning(&projection.input, schema.index_of_column(column)?),
            computed => return Ok(Some(types_alone(&computed.to_field(schema)?.1))),
        }
    }
}

/// The input with these extension types.
fn with_types(part: &Arc<LogicalPlan>, wanted: &[Metadata]) -> Result<Arc<LogicalPlan>> {
    if part.schema().fields().iter().zip(wanted).all(|(field, wanted)| stated_types(field) == *wanted) {
        return Ok(part.clone());
    }
    let columns = part.schema().iter().zip(wanted).map(|((table, field), wanted)| {
        let column = Expr::Column(Column::from((table, field)));
        if stated_types(field) == *wanted {
            return column;
        }
        // A cast to the same type: that is how DataFusion sets or removes an extension type.
        let field = Arc::new(Field::clone(field).with_metadata(with_type(field, wanted)));
        let name = field.name().clone();
        Expr::Cast(Cast::new_from_field(Box::new(column), field)).alias_qualified(table.cloned(), name)
    });
    let projection = Projection::try_new(columns.collect(), part.clone())?;
    Ok(Arc::new(LogicalPlan::Projection(projection)))
}

/// The metadata of a field, with its extension type replaced by `wanted`.
fn with_type(field: &Field, wanted: &Metadata) -> Metadata {
    let stated = stated_types(field);
    let others = field.metadata().iter().filter(|(key, _)| !stated.contains_key(*key));
    others.chain(wanted).map(|(key, value)| (key.clone(), value.clone())).collect()
}
