//! Coerces the operands of `IS [NOT] DISTINCT FROM`.
//!
//! QUIRK: sqlparser 0.62 takes everything that follows as the second operand: it parses `a is distinct from b or c` as
//! `a is distinct from (b or c)`. In SQL the operator binds as tightly as `IS NULL`: more tightly than NOT, AND and OR.
//! This module moves what it swallowed out again. An expression in parentheses is a node of its own in the tree, and
//! stays as it is.

use datafusion::sql::parser::{CopyToSource, Statement};
use datafusion::sql::sqlparser::ast::{BinaryOperator, Expr, UnaryOperator, visit_expressions_mut};
use std::ops::ControlFlow;

/// The statement, with the operands of `IS [NOT] DISTINCT FROM` as in SQL.
pub(crate) fn with_tight_operands(mut statement: Statement) -> Statement {
    let mut inner = &mut statement;
    while let Statement::Explain(explained) = inner {
        inner = &mut explained.statement;
    }
    let mut mend = |expr: &mut Expr| -> ControlFlow<()> {
        if is_out_of_order(expr) {
            *expr = in_order(operands(std::mem::replace(expr, nothing())));
        }
        ControlFlow::Continue(())
    };
    // Inner expressions are visited first.
    let _ = match inner {
        Statement::Statement(statement) => visit_expressions_mut(statement, &mut mend),
        Statement::CopyTo(copy) => match &mut copy.source {
            CopyToSource::Query(query) => visit_expressions_mut(query, &mut mend),
            CopyToSource::Relation(_) => ControlFlow::Continue(()),
        },
        Statement::CreateExternalTable(_) | Statement::Explain(_) | Statement::Reset(_) => {
            ControlFlow::Continue(())
        }
    };
    statement
}

/// Whether an operand has an operator that binds less tightly. Once inner expressions are corrected, only what
/// `DISTINCT FROM` swallowed has.
fn is_out_of_order(expr: &Expr) -> bool {
    use BinaryOperator::{And, Or};
    let is = |operand: &Expr, ops: &[BinaryOperator]| matches!(operand, Expr::BinaryOp { op, .. } if ops.contains(op));
    match expr {
        Expr::IsDistinctFrom(_, right) | Expr::IsNotDistinctFrom(_, right) => {
            is(right, &[And, Or]) || is_test(right)
        }
        Expr::BinaryOp { left, op: And, right } => is(left, &[Or]) || is(right, &[And, Or]),
        Expr::BinaryOp { op: Or, right, .. } => is(right, &[Or]),
        Expr::BinaryOp { right, .. } => is(right, &[And, Or]),
        Expr::UnaryOp { op: UnaryOperator::Not, expr } => is(expr, &[And, Or]),
        _ => false,
    }
}

/// Whether an expression is a test, with an operator that begins with IS.
fn is_test(expr: &Expr) -> bool {
    use Expr::*;
    matches!(
        expr,
        IsNull(_)
            | IsNotNull(_)
            | IsTrue(_)
            | IsNotTrue(_)
            | IsFalse(_)
            | IsNotFalse(_)
            | IsUnknown(_)
            | IsNotUnknown(_)
            | IsDistinctFrom(..)
            | IsNotDistinctFrom(..)
    )
}

/// The operands of AND and OR from left to right, with the operator before each; that of the first one means nothing.
fn operands(expr: Expr) -> Vec<(BinaryOperator, Expr)> {
    use BinaryOperator::{And, Or};
    let mut out = Vec::new();
    let mut left = vec![(And, expr)];
    while let Some((before, expr)) = left.pop() {
        let start = out.len();
        match expr {
            Expr::BinaryOp { left: first, op: op @ (And | Or), right } => {
                left.extend([(op, *right), (before, *first)]);
                continue;
            }
            Expr::IsDistinctFrom(a, b) => {
                out.extend(with_first(*b, |b| Expr::IsDistinctFrom(a, Box::new(b))));
            }
            Expr::IsNotDistinctFrom(a, b) => {
                out.extend(with_first(*b, |b| Expr::IsNotDistinctFrom(a, Box::new(b))));
            }
            Expr::BinaryOp { left, op, right } => {
                let first = |right| Expr::BinaryOp { left, op, right: Box::new(right) };
                out.extend(changed_first(operands(*right), first));
            }
            Expr::UnaryOp { op: UnaryOperator::Not, expr } => {
                let first = |expr| Expr::UnaryOp { op: UnaryOperator::Not, expr: Box::new(expr) };
                out.extend(changed_first(operands(*expr), first));
            }
            other => out.push((before.clone(), other)),
        }
        out[start].0 = before;
    }
    out
}

/// The operands in the second operand of `DISTINCT FROM`, which keeps the first of them.
fn with_first(expr: Expr, keep: impl FnOnce(Expr) -> Expr) -> Vec<(BinaryOperator, Expr)> {
    changed_first(operands(expr), |mut first| {
        let second = tested(&mut first);
        *second = keep(std::mem::replace(second, nothing()));
        first
    })
}

fn changed_first(
    mut operands: Vec<(BinaryOperator, Expr)>,
    change: impl FnOnce(Expr) -> Expr,
) -> Vec<(BinaryOperator, Expr)> {
    let first = &mut operands[0].1;
    *first = change(std::mem::replace(first, nothing()));
    operands
}

/// The innermost operand of tests: `a is distinct from b is null` tests the comparison.
fn tested(expr: &mut Expr) -> &mut Expr {
    use Expr::*;
    match expr {
        IsNull(inner)
        | IsNotNull(inner)
        | IsTrue(inner)
        | IsNotTrue(inner)
        | IsFalse(inner)
        | IsNotFalse(inner)
        | IsUnknown(inner)
        | IsNotUnknown(inner)
        | IsDistinctFrom(inner, _)
        | IsNotDistinctFrom(inner, _) => tested(inner),
        other => other,
    }
}

/// Joins operands: AND binds more tightly than OR, and both from left to right.
fn in_order(operands: Vec<(BinaryOperator, Expr)>) -> Expr {
    let joined = |left: Option<Expr>, op: BinaryOperator, right: Expr| match left {
        Some(left) => Expr::BinaryOp { left: Box::new(left), op, right: Box::new(right) },
        None => right,
    };
    let (mut all, mut ands) = (None, None);
    for (before, operand) in operands {
        if before == BinaryOperator::Or
            && let Some(ands) = ands.take()
        {
            all = Some(joined(all, BinaryOperator::Or, ands));
        }
        ands = Some(joined(ands, BinaryOperator::And, operand));
    }
    ands.into_iter()
        .fold(all, |all, ands| Some(joined(all, BinaryOperator::Or, ands)))
        .unwrap_or_else(nothing)
}

/// A placeholder for an expression, until its replacement is put there.
fn nothing() -> Expr {
    Expr::Wildcard(datafusion::sql::sqlparser::ast::helpers::attached_token::AttachedToken::empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use datafusion::sql::parser::DFParser;
    use datafusion::sql::sqlparser::ast::VisitMut;

    /// Puts parentheses around each operator, to show the tree.
    fn shown(expr: &Expr) -> String {
        match expr {
            Expr::BinaryOp { left, op, right } => format!("({} {op} {})", shown(left), shown(right)),
            Expr::UnaryOp { op, expr } => format!("({op} {})", shown(expr)),
            Expr::IsDistinctFrom(a, b) => format!("({} != {})", shown(a), shown(b)),
            Expr::IsNotDistinctFrom(a, b) => format!("({} == {})", shown(a), shown(b)),
            Expr::IsNull(tested) => format!("({} null)", shown(tested)),
            Expr::IsNotTrue(tested) => format!("({} not true)", shown(tested)),
            Expr::Nested(inner) => format!("[{}]", shown(inner)),
            other => other.to_string(),
        }
    }

    fn tree(condition: &str) -> String {
        let statement = DFParser::parse_sql(&format!("call f({condition})")).expect("it is SQL").pop_front();
        let Some(Statement::Statement(mut statement)) = statement.map(with_tight_operands) else {
            panic!("a statement")
        };
        outermost(&mut statement)
    }

    /// The expression that is visited last.
    fn outermost(within: &mut impl VisitMut) -> String {
        let mut last = String::new();
        let _ = visit_expressions_mut(within, |expr| {
            last = shown(expr);
            ControlFlow::<()>::Continue(())
        });
        last
    }

    #[test]
    fn it_binds_closer_than_and_or_and_not() {
        for (condition, wanted) in [
            ("a is distinct from b", "(a != b)"),
            ("a is distinct from b or c", "((a != b) OR c)"),
            ("a is not distinct from b and c", "((a == b) AND c)"),
            ("a is distinct from b and c or d", "(((a != b) AND c) OR d)"),
            ("a is distinct from b or c and d", "((a != b) OR (c AND d))"),
            ("x and a is distinct from b or c", "((x AND (a != b)) OR c)"),
            ("x or a is distinct from b and c", "(x OR ((a != b) AND c))"),
            ("x and a is distinct from b and c or d and e", "(((x AND (a != b)) AND c) OR (d AND e))"),
            ("not a is distinct from b and c", "((NOT (a != b)) AND c)"),
            ("not not a is distinct from b or c", "((NOT (NOT (a != b))) OR c)"),
            ("a is distinct from b + 1 > c and d", "((a != ((b + 1) > c)) AND d)"),
            ("a is distinct from b is null", "((a != b) null)"),
            ("a is distinct from b is null or c is not true", "(((a != b) null) OR (c not true))"),
            ("a is distinct from b is not distinct from c or d", "(((a != b) == c) OR d)"),
            ("a is distinct from b or c is distinct from d or e", "(((a != b) OR (c != d)) OR e)"),
            ("a is distinct from b and c is distinct from d or e", "(((a != b) AND (c != d)) OR e)"),
            ("a is distinct from (b or c)", "(a != [(b OR c)])"),
            ("a is distinct from (b or c) and d", "((a != [(b OR c)]) AND d)"),
            ("(x and a is distinct from b or c) and d", "([((x AND (a != b)) OR c)] AND d)"),
            ("a and (b or c) or not d", "((a AND [(b OR c)]) OR (NOT d))"),
        ] {
            assert_eq!(tree(condition), wanted, "{condition}");
        }
    }

    /// A statement with redundant parentheses has the same tree, once they are removed.
    #[test]
    fn everywhere_in_a_statement() {
        let (swallowed, meant) = ("x AND a IS DISTINCT FROM b OR c", "((x AND (a IS DISTINCT FROM b)) OR c)");
        for around in [
            "SELECT {} AS z FROM t",
            "SELECT a FROM t JOIN u ON {} WHERE a IN (SELECT b FROM t WHERE {}) GROUP BY a HAVING {} ORDER BY {}",
            "EXPLAIN SELECT {} FROM t",
            "CREATE TABLE z AS SELECT CASE WHEN {} THEN 1 ELSE f({}) END FROM t",
        ] {
            let trees = [swallowed, meant].map(|text| without_parentheses(&around.replace("{}", text)));
            assert_eq!(trees[0], trees[1], "{around}");
        }
        let copy =
            DFParser::parse_sql("COPY (SELECT a FROM t WHERE a IS DISTINCT FROM b OR c) TO 'f.parquet'");
        let copy = with_tight_operands(copy.expect("it is SQL").pop_front().expect("a statement"));
        let Statement::CopyTo(mut copy) = copy else { panic!("{copy}") };
        let CopyToSource::Query(query) = &mut copy.source else { panic!("{copy}") };
        assert_eq!(outermost(query), "((a != b) OR c)");
    }

    /// The corrected tree as text, without nested expressions.
    fn without_parentheses(sql: &str) -> String {
        let statement = DFParser::parse_sql(sql).expect("it is SQL").pop_front().expect("a statement");
        let mut statement = with_tight_operands(statement);
        let inner = match &mut statement {
            Statement::Explain(explain) => &mut *explain.statement,
            other => other,
        };
        let Statement::Statement(inner) = inner else { panic!("{inner}") };
        let mut trees = Vec::new();
        let _ = visit_expressions_mut(inner, |expr| {
            while let Expr::Nested(within) = expr {
                *expr = std::mem::replace(within, nothing());
            }
            trees.push(shown(expr));
            ControlFlow::<()>::Continue(())
        });
        trees.retain(|tree| tree.contains("!="));
        trees.dedup();
        assert!(!trees.is_empty(), "{sql}");
        trees.join("; ")
    }

    #[test]
    fn what_it_swallowed_may_be_long() {
        let condition = format!("a is distinct from b{}", " or a = b and c".repeat(500));
        let tree = tree(&condition);
        assert!(tree.contains("((a != b) OR ((a = b) AND c)) OR ((a = b) AND c)"), "{tree}");
        assert_eq!(tree.matches("OR").count(), 500);
    }
}
