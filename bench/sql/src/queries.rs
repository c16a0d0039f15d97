//! The queries.

use crate::error::Result;
use std::path::PathBuf;

/// A query: its name, and its statements.
pub(crate) struct Query {
    pub(crate) name: String,
    pub(crate) statements: Vec<String>,
}

pub(crate) fn tpch() -> Vec<Query> {
    let queries = (1..=22).map(|number| Query {
        name: format!("tpch {number}"),
        statements: crate::tpch_queries::statements(number),
    });
    queries.collect()
}

/// The queries of ClickBench, numbered from 0. Literals occur in the generated table.
pub(crate) fn clickbench() -> Vec<Query> {
    let queries = include_str!("clickbench.sql").lines().enumerate().map(|(number, sql)| Query {
        name: format!("clickbench {number}"),
        statements: vec![sql.trim_end_matches(';').to_owned()],
    });
    queries.collect()
}

/// The table of ClickBench's queries.
pub(crate) fn hits(folder: &std::path::Path) -> Result<Vec<(&'static str, PathBuf)>> {
    let path = folder.join("hits-sf1-snappy.parquet");
    if !path.exists() {
        return Err(format!(
            "there is no {}: `cargo run --release -p marquetry-bench -- scan --filter hits --rounds 1 --data-dir {}` makes it",
            path.display(),
            folder.display()
        )
        .into());
    }
    Ok(vec![("hits", path)])
}

/// A statement without its limit, so that its rows do not depend on which of equal ones come first.
pub(crate) fn without_limit(statement: &str) -> &str {
    let lower = statement.to_lowercase();
    match lower.rfind("limit ") {
        // Of the statement itself, not of a subquery.
        Some(at) if !lower[at..].contains(')') => statement[..at].trim_end(),
        _ => statement,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_as_many_as_there_should_be() {
        assert_eq!(tpch().len(), 22);
        assert_eq!(clickbench().len(), 43);
    }

    #[test]
    fn only_the_last_limit_is_left_out() {
        assert_eq!(without_limit("select 1 from t LIMIT 10 OFFSET 3"), "select 1 from t");
        assert_eq!(without_limit("select (select 1 limit 1)"), "select (select 1 limit 1)");
    }
}
