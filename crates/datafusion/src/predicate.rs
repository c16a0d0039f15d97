//! Translates filters of DataFusion to predicates of files.
//!
//! A filter becomes a predicate that is true of every row that the filter is true of. Where both have the same truth
//! value for every row, NULL included, it is *exact*, and the filter need not be evaluated again. Otherwise the
//! predicate only prunes.
//!
//! | filter | predicate | |
//! |---|---|---|
//! | `column op literal`, `column op column`, `IN`, `IS [NOT] NULL`, `IS [NOT] DISTINCT FROM literal`, `BETWEEN` | the same | exact |
//! | `LIKE` without a backslash, `starts_with`, `ends_with`, `contains` of text | the same | exact |
//! | `AND`, `OR`, `NOT` of these | the same | exact |
//! | the same of `variant_get(column, path, type)` | of the path into the VARIANT | exact |
//! | comparisons of floats | or NaN, and both zeros: DataFusion orders floats totally | prunes |
//! | `AND` with something else | what is known of the rest | prunes |
//! | `CASE`, as joins of several partitions have it | any of its results | prunes |
//! | anything else | none | |

use crate::column_kind::{Kind, is_same_but_layout, kind_of, root_leaf, stores};
use crate::column_name::quoted;
use crate::literal::{is_nan, literal};
use crate::variant_paths::{PathColumns, path_of};
use arrow_schema::{DataType, Schema as ArrowSchema};
use datafusion::common::ScalarValue;
use datafusion::logical_expr::Operator;
use datafusion::physical_expr::expressions::{
    BinaryExpr, CaseExpr, CastExpr, Column, InListExpr, IsNotNullExpr, IsNullExpr, LikeExpr, Literal, NotExpr,
};
use datafusion::physical_expr::{PhysicalExpr, ScalarFunctionExpr};
use marquetry_core::predicate::{self, Column as NamedColumn, Comparison, Predicate, col};
use marquetry_core::schema::Schema;
use std::sync::Arc;

/// A translated filter.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Translated {
    /// True of every row that the filter is true of; `None` if nothing is known of these rows.
    pub(crate) predicate: Option<Predicate>,
    /// Whether the predicate has the truth value of the filter for every row.
    pub(crate) is_exact: bool,
}

impl Translated {
    const UNKNOWN: Translated = Translated { predicate: None, is_exact: false };

    fn exact(predicate: Predicate) -> Self {
        Translated { predicate: Some(predicate), is_exact: true }
    }

    fn weaker(predicate: Predicate) -> Self {
        Translated { predicate: Some(predicate), is_exact: false }
    }
}

/// Translates filters on the columns of a schema.
pub(crate) struct Translator<'a> {
    schema: &'a ArrowSchema,
    /// The file that has the columns, and the VARIANT paths that are read of it. `None` for a file that stores columns
    /// as they are read.
    file: Option<(&'a Schema, &'a PathColumns)>,
}

/// A column on which the file can evaluate predicates.
struct PredicateColumn {
    path: NamedColumn,
    data_type: DataType,
    kind: Kind,
    /// Whether it is a VARIANT path.
    is_variant: bool,
}

impl PredicateColumn {
    /// The literal that means exactly this value. On byte columns, which may be read as text, a predicate takes `\x41`
    /// in text for a byte.
    fn literal(&self, value: &ScalarValue) -> Option<predicate::Literal> {
        Some(match literal(value)? {
            predicate::Literal::Text(text) if !self.is_variant && text.contains('\\') => {
                predicate::Literal::Bytes(text.into_bytes())
            }
            other => other,
        })
    }
}

impl<'a> Translator<'a> {
    /// For filters of a table, before a file is known.
    pub(crate) fn of_table(schema: &'a ArrowSchema) -> Self {
        Translator { schema, file: None }
    }

    /// For filters of a file that is read as `schema`.
    pub(crate) fn of_file(schema: &'a ArrowSchema, file: &'a Schema, paths: &'a PathColumns) -> Self {
        Translator { schema, file: Some((file, paths)) }
    }

    pub(crate) fn translate(&self, expr: &Arc<dyn PhysicalExpr>) -> Translated {
        if let Some(binary) = expr.downcast_ref::<BinaryExpr>() {
            return self.binary(binary);
        }
        let translated = if let Some(literal) = expr.downcast_ref::<Literal>() {
            constant(literal.value())
        } else if let Some(not) = expr.downcast_ref::<NotExpr>() {
            self.negated(not.arg())
        } else if let Some(is_null) = expr.downcast_ref::<IsNullExpr>() {
            self.is_null(is_null.arg()).map(Translated::exact)
        } else if let Some(is_not_null) = expr.downcast_ref::<IsNotNullExpr>() {
            self.is_null(is_not_null.arg()).map(|is_null| Translated::exact(!is_null))
        } else if let Some(list) = expr.downcast_ref::<InListExpr>() {
            self.in_list(list)
        } else if let Some(like) = expr.downcast_ref::<LikeExpr>() {
            self.like(like)
        } else if let Some(function) = expr.downcast_ref::<ScalarFunctionExpr>() {
            self.function(function)
        } else if let Some(case) = expr.downcast_ref::<CaseExpr>() {
            self.case(case)
        } else {
            self.boolean_column(expr)
        };
        translated.unwrap_or(Translated::UNKNOWN)
    }

    fn binary(&self, binary: &BinaryExpr) -> Translated {
        let sides = || (self.translate(binary.left()), self.translate(binary.right()));
        match binary.op() {
            Operator::And => {
                let (left, right) = sides();
                let is_exact = left.is_exact && right.is_exact;
                let predicate = match (left.predicate, right.predicate) {
                    (Some(left), Some(right)) => Some(left.and(right)),
                    (one, other) => one.or(other),
                };
                Translated { predicate, is_exact }
            }
            Operator::Or => {
                let (left, right) = sides();
                let is_exact = left.is_exact && right.is_exact;
                let predicate = left.predicate.zip(right.predicate).map(|(left, right)| left.or(right));
                Translated { predicate, is_exact }
            }
            operator => {
                self.comparison(binary.left(), *operator, binary.right()).unwrap_or(Translated::UNKNOWN)
            }
        }
    }

    fn comparison(
        &self,
        left: &Arc<dyn PhysicalExpr>,
        operator: Operator,
        right: &Arc<dyn PhysicalExpr>,
    ) -> Option<Translated> {
        if let Some(value) = right.downcast_ref::<Literal>() {
            return self.with_literal(self.predicate_column(left)?, operator, value.value());
        }
        if let Some(value) = left.downcast_ref::<Literal>() {
            return self.with_literal(self.predicate_column(right)?, operator.swap()?, value.value());
        }
        let (left, right) = (self.predicate_column(left)?, self.predicate_column(right)?);
        let is_same =
            left.data_type == right.data_type && left.kind == Kind::Same && right.kind == Kind::Same;
        let is = comparison(operator).filter(|_| is_same)?;
        let Predicate::IsNull { column: right } = right.path.is_null() else { return None };
        Some(Translated::exact(left.path.compare_column(is, right)))
    }

    fn with_literal(
        &self,
        column: PredicateColumn,
        operator: Operator,
        value: &ScalarValue,
    ) -> Option<Translated> {
        if !is_same_but_layout(&column.data_type, &value.data_type()) {
            return None;
        }
        if column.kind == Kind::Float {
            return float_comparison(column.path, comparison(operator)?, value);
        }
        let literal = column.literal(value)?;
        let path = column.path;
        Some(Translated::exact(match operator {
            Operator::IsDistinctFrom => path.is_distinct_from_literal(literal),
            Operator::IsNotDistinctFrom => !path.is_distinct_from_literal(literal),
            operator => path.compare(comparison(operator)?, literal),
        }))
    }

    fn negated(&self, of: &Arc<dyn PhysicalExpr>) -> Option<Translated> {
        // The negation of a weaker predicate would be stronger than the negation of the filter.
        let inner = self.translate(of);
        inner.predicate.filter(|_| inner.is_exact).map(|inner| Translated::exact(!inner))
    }

    fn is_null(&self, of: &Arc<dyn PhysicalExpr>) -> Option<Predicate> {
        // A VARIANT is NULL where the path leads nowhere, not where it leads to a variant null.
        let path =
            self.variant_path(of).filter(|(_, data_type)| !is_list(data_type)).map(|(path, _)| col(path));
        path.or_else(|| self.predicate_column(of).map(|column| column.path)).map(|path| path.is_null())
    }

    fn in_list(&self, list: &InListExpr) -> Option<Translated> {
        let column = self.predicate_column(list.expr())?;
        let mut values = Vec::with_capacity(list.len());
        let mut has_nan = false;
        for value in list.list() {
            let value = value.downcast_ref::<Literal>()?.value();
            if !value.is_null() && !is_same_but_layout(&column.data_type, &value.data_type()) {
                return None;
            }
            has_nan |= is_nan(value);
            values.push(column.literal(value)?);
        }
        match (column.kind, list.negated()) {
            (Kind::Same, false) => Some(Translated::exact(column.path.is_in(values))),
            (Kind::Same, true) => Some(Translated::exact(!column.path.is_in(values))),
            (Kind::Float, true) => None,
            (Kind::Float, false) => {
                let found = column.path.clone().is_in(values);
                Some(Translated::weaker(if has_nan { found.or(column.path.is_nan()) } else { found }))
            }
        }
    }

    fn like(&self, like: &LikeExpr) -> Option<Translated> {
        let column = self.text_column(like.expr())?;
        let pattern = text_of(like.pattern())?;
        // Engines differ on backslashes at the end of a pattern, and before other characters.
        if like.case_insensitive() || pattern.contains('\\') {
            return None;
        }
        let found = column.path.like(pattern);
        Some(Translated::exact(if like.negated() { !found } else { found }))
    }

    fn function(&self, function: &ScalarFunctionExpr) -> Option<Translated> {
        let [column, text] = function.args() else { return None };
        let (column, text) = (self.text_column(column)?, text_of(text)?);
        Some(Translated::exact(match function.fun().name() {
            "starts_with" => column.path.starts_with(text),
            "ends_with" => column.path.ends_with(text),
            "contains" => column.path.contains(text),
            _ => return None,
        }))
    }

    /// Whichever branch is taken, the result is one of these.
    fn case(&self, case: &CaseExpr) -> Option<Translated> {
        let mut results = case.when_then_expr().iter().map(|(_, then)| then).chain(case.else_expr());
        let mut any = Vec::new();
        results.try_for_each(|result| {
            any.push(self.translate(result).predicate?);
            Some(())
        })?;
        Some(Translated::weaker(Predicate::Or(any)))
    }

    fn boolean_column(&self, expr: &Arc<dyn PhysicalExpr>) -> Option<Translated> {
        let column = self.predicate_column(expr)?;
        let is_boolean = column.data_type == DataType::Boolean;
        is_boolean.then(|| Translated::exact(column.path.eq(true)))
    }

    fn text_column(&self, expr: &Arc<dyn PhysicalExpr>) -> Option<PredicateColumn> {
        self.predicate_column(expr)
            .filter(|column| crate::column_kind::value_type(&column.data_type).is_string())
    }

    /// The column that an expression refers to, if the file can evaluate predicates on it.
    fn predicate_column(&self, expr: &Arc<dyn PhysicalExpr>) -> Option<PredicateColumn> {
        if let Some(cast) = expr.downcast_ref::<CastExpr>() {
            let inner = self.predicate_column(cast.expr())?;
            return Some(inner).filter(|inner| is_same_but_layout(&inner.data_type, cast.cast_type()));
        }
        if let Some((path, data_type)) = self.variant_path(expr) {
            return Some(PredicateColumn {
                path: col(path),
                kind: kind_of(&data_type)?,
                data_type,
                is_variant: true,
            });
        }
        let column = expr.downcast_ref::<Column>()?;
        let field = self.schema.fields().get(column.index()).filter(|field| field.name() == column.name())?;
        let data_type = field.data_type();
        let kind = kind_of(data_type)?;
        if let Some((file, _)) = self.file {
            root_leaf(file, column.name()).filter(|leaf| stores(leaf, data_type))?;
        }
        let path = col(quoted(column.name()));
        Some(PredicateColumn { path, data_type: data_type.clone(), kind, is_variant: false })
    }

    /// The VARIANT path that an expression takes, and the type of its values.
    fn variant_path(&self, expr: &Arc<dyn PhysicalExpr>) -> Option<(String, DataType)> {
        let Some((_, paths)) = self.file else {
            let found = path_of(expr, self.schema)?;
            return Some((found.path.to_string(), found.data_type));
        };
        // In a file, a path is a column of its own.
        let column = expr.downcast_ref::<Column>().filter(|column| paths.has(column.name()))?;
        let data_type = self.schema.fields().get(column.index())?.data_type().clone();
        Some((column.name().to_owned(), data_type))
    }
}

fn constant(value: &ScalarValue) -> Option<Translated> {
    match value {
        ScalarValue::Boolean(Some(true)) => Some(Translated::exact(Predicate::And(Vec::new()))),
        ScalarValue::Boolean(Some(false)) => Some(Translated::exact(Predicate::Or(Vec::new()))),
        // Never true, but neither is its negation.
        ScalarValue::Boolean(None) | ScalarValue::Null => Some(Translated::weaker(Predicate::Or(Vec::new()))),
        _ => None,
    }
}

/// DataFusion orders NaN to both ends, by its sign, and the negative zero before the positive one: the predicate keeps
/// all of these.
fn float_comparison(path: NamedColumn, is: Comparison, value: &ScalarValue) -> Option<Translated> {
    let literal = literal(value)?;
    let is_nan_wanted = path.clone().is_nan();
    let near = match is {
        _ if value.is_null() => return Some(Translated::weaker(Predicate::Or(Vec::new()))),
        Comparison::Eq if is_nan(value) => return Some(Translated::weaker(is_nan_wanted)),
        Comparison::Eq => return Some(Translated::weaker(path.eq(literal))),
        _ if is_nan(value) => return None,
        Comparison::Ne => return None,
        Comparison::Lt | Comparison::Le => path.le(literal),
        Comparison::Gt | Comparison::Ge => path.ge(literal),
    };
    Some(Translated::weaker(near.or(is_nan_wanted)))
}

fn comparison(operator: Operator) -> Option<Comparison> {
    Some(match operator {
        Operator::Eq => Comparison::Eq,
        Operator::NotEq => Comparison::Ne,
        Operator::Lt => Comparison::Lt,
        Operator::LtEq => Comparison::Le,
        Operator::Gt => Comparison::Gt,
        Operator::GtEq => Comparison::Ge,
        _ => return None,
    })
}

fn is_list(data_type: &DataType) -> bool {
    matches!(data_type, DataType::List(_))
}

fn text_of(expr: &Arc<dyn PhysicalExpr>) -> Option<String> {
    match expr.downcast_ref::<Literal>()?.value() {
        ScalarValue::Utf8(text) | ScalarValue::LargeUtf8(text) | ScalarValue::Utf8View(text) => text.clone(),
        _ => None,
    }
}
