//! Binds a predicate to a schema: resolves its paths to columns, and converts its literals to their types.

use super::bare_time::{BareTime, BareTimes};
use super::bound::{BoundPredicate, NestedKind, NestedTest, Node, Test};
use super::column_comparison::ColumnComparison;
use super::condition_builder::ConditionBuilder;
use super::like::plain_like;
use super::list_levels::ListLevels;
use super::path::{element_column, flat_column, list_at, list_or_group_at, map_at, names_column};
use super::pattern::Pattern;
use super::position::order;
use super::{ColumnPath, Comparison, Literal, Predicate, Quantifier, col};
use crate::logical_type::LogicalType;
use crate::narrow_integer::NarrowInteger;
use crate::schema::{Leaf, Schema, near_names};
use marquetry_base::{Error, Result};
use std::sync::Arc;

impl Predicate {
    /// Resolves the columns in `schema`, and converts literals to values of their types.
    ///
    /// Fails if a column does not exist (the error names similar ones); if a column inside a list or a map is used
    /// without [`any`](Predicate::any), [`all`](Predicate::all) or [`at_key`](Predicate::at_key), or any other column
    /// with them; and if a literal is not comparable with its column.
    pub fn bind(&self, schema: &Schema) -> Result<BoundPredicate> {
        self.bind_with_times(schema, &|_| None)
    }

    /// Like [`bind`](Self::bind), where `times` returns the meaning of a column of bare integers by its number. Numbers
    /// are compared with the integers themselves; dates, times, timestamps and durations of ISO 8601 with the times
    /// that they mean.
    ///
    /// ```
    /// use marquetry_core::predicate::{BareTime, Predicate};
    /// use marquetry_core::schema::Schema;
    /// let schema = Schema::parse("message m { required int64 took; }")?;
    /// let predicate = Predicate::parse("took > 'PT1.5S'")?;
    /// assert!(predicate.bind(&schema).is_err());
    /// let millis = BareTime::Duration { unit: 1_000_000 };
    /// assert!(predicate.bind_with_times(&schema, &|_| Some(millis)).is_ok());
    /// # Ok::<(), marquetry_base::Error>(())
    /// ```
    pub fn bind_with_times(
        &self,
        schema: &Schema,
        times: &dyn Fn(usize) -> Option<BareTime>,
    ) -> Result<BoundPredicate> {
        Binder { schema, times, element: None }.bind(self, false)
    }
}

/// A binder to a schema.
#[derive(Clone, Copy)]
struct Binder<'a> {
    schema: &'a Schema,
    times: BareTimes<'a>,
    /// Inside a predicate on elements or map values, the column of these.
    element: Option<usize>,
}

impl Binder<'_> {
    /// Binds a predicate. An error has the position of the predicate's first column in the text.
    fn bind(self, predicate: &Predicate, is_negated: bool) -> Result<BoundPredicate> {
        self.bind_part(predicate, is_negated).map_err(|error| match predicate.column_paths().first() {
            Some(path) => path.locate(error),
            None => error,
        })
    }

    fn bind_part(self, predicate: &Predicate, is_negated: bool) -> Result<BoundPredicate> {
        let all = |parts: &[Predicate]| {
            parts.iter().map(|part| self.bind(part, is_negated)).collect::<Result<Vec<_>>>()
        };
        let condition =
            |column: &str, make: &dyn Fn(&Leaf, ConditionBuilder<'_>) -> Result<BoundPredicate>| {
                self.condition(predicate, is_negated, column, make)
            };
        match predicate {
            Predicate::And(parts) if !is_negated => all(parts).map(BoundPredicate::and),
            Predicate::Or(parts) if is_negated => all(parts).map(BoundPredicate::and),
            Predicate::And(parts) | Predicate::Or(parts) => all(parts).map(BoundPredicate::or),
            Predicate::Not(inner) => self.bind(inner, !is_negated),
            Predicate::Compare { literal: Literal::Null, column, .. } => {
                self.column(column).map(|_| BoundPredicate::never())
            }
            Predicate::Compare { column, is, literal } => {
                condition(column, &|leaf, made| made.compare(leaf, *is, literal))
            }
            Predicate::In { column, list } => condition(column, &|leaf, made| made.one_of(leaf, list)),
            Predicate::StartsWith { column, prefix } => {
                condition(column, &|leaf, made| made.starts_with(leaf, prefix))
            }
            // A LIKE pattern that is only an equality or a prefix prunes better as such.
            Predicate::Matches { column, pattern: Pattern::Like(like) } if plain_like(like).is_some() => {
                self.bind(&col(column).like(like.as_str()), is_negated)
            }
            // For a list, `contains` tests for an element.
            Predicate::Matches { column, pattern: Pattern::Contains(part) }
                if self.element.is_none() && list_at(self.schema, column)?.is_some() =>
            {
                self.bind(&col(column).eq(part.clone()).any(), is_negated)
            }
            Predicate::Matches { column, pattern } => {
                condition(column, &|leaf, made| made.matches(leaf, pattern))
            }
            Predicate::IsNull { column } => match self.presence(predicate, is_negated, column)? {
                Some(bound) => Ok(bound),
                None => condition(column, &|_, made| Ok(made.test(Test::IsNull))),
            },
            Predicate::IsMissing { column } | Predicate::IsVariantNull { column } => {
                let message = "only what a path into a VARIANT leads to may be missing, or null as a variant; payload:$ leads to \
                               the value itself";
                Err(Error::argument(message).in_column(&**column))
            }
            Predicate::IsNan { column } => condition(column, &|leaf, made| made.nan(leaf)),
            Predicate::BboxIntersects { column, bbox, are_edges_curved } => {
                condition(column, &|leaf, made| made.bbox_intersects(leaf, *bbox, *are_edges_curved))
            }
            Predicate::CompareColumns { left, is, right } => {
                self.columns(predicate, is_negated, left, Some(*is), right)
            }
            Predicate::Distinct { left, right } => self.columns(predicate, is_negated, left, None, right),
            Predicate::Elements { quantifier, of } => self.elements(predicate, is_negated, *quantifier, of),
            Predicate::AtKey { key, of } => self.at_key(predicate, is_negated, key, of),
            Predicate::Cardinality { column, is, count } => {
                self.cardinality(predicate, is_negated, column, *is, *count)
            }
            Predicate::IsEmpty { column } => self.emptiness(predicate, is_negated, column),
        }
    }

    fn column(self, path: &str) -> Result<usize> {
        match self.element {
            Some(column) => Ok(column),
            None => flat_column(self.schema, path),
        }
    }

    fn condition(
        self,
        predicate: &Predicate,
        is_negated: bool,
        column: &str,
        make: &dyn Fn(&Leaf, ConditionBuilder<'_>) -> Result<BoundPredicate>,
    ) -> Result<BoundPredicate> {
        let column = self.column(column)?;
        let leaf = self.schema.column(column);
        // SPEC: "UNKNOWN: always null". Nothing else is known about such a column, not even which types it compares
        // with.
        if leaf.logical() == Some(&LogicalType::Null) {
            let is_wanted = matches!(predicate, Predicate::IsNull { .. }) && !is_negated;
            return Ok(if is_wanted { BoundPredicate::always() } else { BoundPredicate::never() });
        }
        let (order, narrow, times) = (order(leaf), NarrowInteger::of(leaf), self.times);
        let text = text(predicate, is_negated);
        make(leaf, ConditionBuilder { column, order, narrow, times, is_negated, text })
    }

    fn columns(
        self,
        predicate: &Predicate,
        is_negated: bool,
        left: &ColumnPath,
        is: Option<Comparison>,
        right: &ColumnPath,
    ) -> Result<BoundPredicate> {
        let column = |path: &ColumnPath| self.column(path).map_err(|error| path.locate(error));
        let right = column(right).map_err(|error| match names_column(self.schema, right) {
            true => error,
            false => right.locate(unquoted_text(self.schema, right)),
        });
        let (left, right) = (column(left)?, right?);
        let (left_leaf, right_leaf) = (self.schema.column(left), self.schema.column(right));
        let is_null = |leaf: &Leaf| leaf.logical() == Some(&LogicalType::Null);
        // Only values that are not null differ from a column that is always null.
        match (is_null(left_leaf), is_null(right_leaf)) {
            (false, false) => {}
            _ if is.is_some() => return Ok(BoundPredicate::never()),
            (true, _) => return self.bind(&col(&**right_leaf.dotted()).is_null(), !is_negated),
            (_, true) => return self.bind(&col(&**left_leaf.dotted()).is_null(), !is_negated),
        }
        let text = text(predicate, is_negated);
        let compared = ColumnComparison::new((left, left_leaf), is, (right, right_leaf), is_negated, text)?;
        Ok(BoundPredicate::of(Node::Compares(Box::new(compared))))
    }

    /// Binds `any` or `all`. `all(x)` is `not any(not x)`, with three truth values as with two: so one of the two is
    /// not negated.
    fn elements(
        self,
        predicate: &Predicate,
        is_negated: bool,
        quantifier: Quantifier,
        of: &Predicate,
    ) -> Result<BoundPredicate> {
        let columns = of.columns();
        let Some(first) = columns.first().filter(|first| columns.iter().all(|column| column == *first))
        else {
            return Err(Error::argument("any() and all() ask for the elements of one column"));
        };
        self.outside(of)?;
        // Nothing is known about the elements of a list that is always null.
        if self.is_always_null(first) {
            return Ok(BoundPredicate::never());
        }
        let column = element_column(self.schema, first)?;
        let of = Binder { element: Some(column), ..self }.bind(of, is_negated)?;
        let is_all = (quantifier == Quantifier::All) != is_negated;
        let of_null = of.is_true_of_null();
        let levels = ListLevels::of(self.schema, column);
        let is = NestedKind::Elements { is_all, of, of_null };
        Ok(nested(levels, is, false, text(predicate, is_negated)))
    }

    fn at_key(
        self,
        predicate: &Predicate,
        is_negated: bool,
        key: &Literal,
        of: &Predicate,
    ) -> Result<BoundPredicate> {
        self.outside(of)?;
        let columns = of.columns();
        let &[path] = columns.as_slice() else {
            return Err(Error::argument("the value of a map is compared with literals only"));
        };
        if self.is_always_null(path) {
            return self.bind(of, is_negated);
        }
        let (key_column, value_column) = map_at(self.schema, path)?;
        let at = |column| Binder { element: Some(column), ..self };
        let value = at(value_column).bind(of, is_negated)?;
        let key = at(key_column).bind(&col(path).eq(key.clone()), false)?;
        let is_true_of_null = value.is_true_of_null();
        let levels = ListLevels::of(self.schema, key_column);
        let is = NestedKind::AtKey { key, value_column, value };
        Ok(nested(levels, is, is_true_of_null, text(predicate, is_negated)))
    }

    fn cardinality(
        self,
        predicate: &Predicate,
        is_negated: bool,
        column: &str,
        is: Comparison,
        count: u64,
    ) -> Result<BoundPredicate> {
        self.outside(predicate)?;
        if self.is_always_null(column) {
            return Ok(BoundPredicate::never());
        }
        let list = self.list(column)?;
        let range = match is {
            Comparison::Eq | Comparison::Ne => Some((count, count)),
            Comparison::Lt => count.checked_sub(1).map(|most| (0, most)),
            Comparison::Le => Some((0, count)),
            Comparison::Gt => count.checked_add(1).map(|least| (least, u64::MAX)),
            Comparison::Ge => Some((count, u64::MAX)),
        };
        // A range that ends before it begins is empty.
        let (least, most) = range.unwrap_or((1, 0));
        let is_negated_range = is_negated != (is == Comparison::Ne);
        let is = NestedKind::Cardinality { least, most, is_negated: is_negated_range };
        Ok(nested(ListLevels::of(self.schema, list), is, false, text(predicate, is_negated)))
    }

    fn emptiness(self, predicate: &Predicate, is_negated: bool, column: &str) -> Result<BoundPredicate> {
        self.outside(predicate)?;
        if self.is_always_null(column) {
            return Ok(BoundPredicate::never());
        }
        let levels = ListLevels::of(self.schema, self.list(column)?);
        let element = levels.outermost().unwrap_or(1);
        let (least, most) = if is_negated { (element, u8::MAX - 1) } else { (element - 1, element - 1) };
        let is = NestedKind::Presence { least, most };
        Ok(nested(levels, is, false, text(predicate, is_negated)))
    }

    /// Whether the column at this path is always null, so that it may stand for one of any type, even a list.
    fn is_always_null(self, path: &str) -> bool {
        let column = flat_column(self.schema, path).map(|column| self.schema.column(column));
        column.is_ok_and(|leaf| leaf.logical() == Some(&LogicalType::Null))
    }

    /// Returns a column that has the levels of the list at `path`.
    fn list(self, path: &str) -> Result<usize> {
        match list_at(self.schema, path)? {
            Some(list) => Ok(list.first_leaf()),
            None => {
                flat_column(self.schema, path)?;
                Err(Error::argument("it is neither a list nor a map, and has no elements").in_column(path))
            }
        }
    }

    /// Binds whether a group or a list is null; `None` if the path is that of a column with one value per row.
    fn presence(self, predicate: &Predicate, is_negated: bool, path: &str) -> Result<Option<BoundPredicate>> {
        if self.element.is_some() {
            return Ok(None);
        }
        let Some(field) = list_or_group_at(self.schema, path)? else { return Ok(None) };
        if field.def == 0 {
            return Ok(Some(if is_negated { BoundPredicate::always() } else { BoundPredicate::never() }));
        }
        let mut leaves = Vec::new();
        field.leaves(&mut leaves);
        // A column outside of lists has one entry per row.
        let flat = leaves.iter().copied().find(|leaf| self.schema.column(*leaf).max_rep() == 0);
        let levels = ListLevels::of(self.schema, flat.unwrap_or_else(|| field.first_leaf()));
        let (least, most) = if is_negated { (field.def, u8::MAX - 1) } else { (0, field.def - 1) };
        let is = NestedKind::Presence { least, most };
        Ok(Some(nested(levels, is, !is_negated, text(predicate, is_negated))))
    }

    /// Fails inside a predicate on elements or map values, which have no elements of their own.
    fn outside(self, predicate: &Predicate) -> Result<()> {
        match self.element {
            None => Ok(()),
            Some(_) => {
                let message =
                    format!("{predicate}: an element or a map's value is compared with literals only");
                Err(Error::argument(message))
            }
        }
    }
}

fn nested(levels: ListLevels, is: NestedKind, is_true_of_null: bool, text: Arc<str>) -> BoundPredicate {
    BoundPredicate::of(Node::Nested(Box::new(NestedTest { levels, is, is_true_of_null, text })))
}

/// Returns the predicate as text. PERF: binding a list of a million values is faster than printing it.
fn text(predicate: &Predicate, is_negated: bool) -> Arc<str> {
    let not = if is_negated { "not " } else { "" };
    match predicate {
        Predicate::In { column, list } if list.len() > MOST_VALUES_SHOWN => {
            let shown = Predicate::In { column: column.clone(), list: list[..MOST_VALUES_SHOWN].to_vec() };
            let shown = shown.to_string();
            let more = list.len() - MOST_VALUES_SHOWN;
            format!("{not}{}, and {more} more)", shown.trim_end_matches(')')).into()
        }
        _ => format!("{not}{predicate}").into(),
    }
}

/// Maximum number of values of a list in the text of a bound predicate.
const MOST_VALUES_SHOWN: usize = 50;

/// Returns the error for an unknown name after a comparison, which may have been meant as text.
#[cold]
fn unquoted_text(schema: &Schema, name: &ColumnPath) -> Error {
    let known = schema.columns().iter().map(|leaf| &**leaf.dotted());
    let near = match near_names(name, known).join(", ") {
        near if near.is_empty() => near,
        near => format!(", or did you mean {near}?"),
    };
    let text = Literal::Text(name.to_string());
    Error::argument(format!("no column {name}; if it is text, write it in single quotes: {text}{near}"))
}
