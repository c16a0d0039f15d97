//! Queries that a file should be good for, and what they skip.

use super::time_left::TimeLeft;
use marquetry_arrow::arrow_reader::{bind_in_file, prunable_predicate};
use marquetry_base::{Error, Result};
use marquetry_core::metadata::ParquetMetaData;
use marquetry_core::predicate::{BoundPredicate, Comparison, Predicate};
use marquetry_core::prune::{PruneOptions, PruneReport, RowGroupMatch, prune_row_group};
use marquetry_core::source::Source;
use std::collections::BTreeMap;

/// A predicate, and how often it is asked.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Query {
    /// The predicate of the wanted rows.
    pub predicate: Predicate,
    /// How often it is asked, relative to the others.
    pub count: u64,
}

impl Query {
    /// Creates a query that is asked once.
    pub fn new(predicate: Predicate) -> Self {
        Query { predicate, count: 1 }
    }

    /// Sets [`count`](Self::count).
    #[must_use]
    pub fn with_count(mut self, count: u64) -> Self {
        self.count = count;
        self
    }

    /// Parses queries, one per line: the condition behind WHERE, or a whole SELECT with a WHERE. A number and a tab
    /// before it state how often it was asked. Empty lines, lines that begin with `#` or `--`, and queries without a
    /// WHERE are skipped.
    ///
    /// Fails at the first line that is not a predicate, and names it.
    ///
    /// ```
    /// use marquetry_inspect::Query;
    /// let queries = Query::parse_lines("# of yesterday\n120\tcountry = 'DE'\nselect * from t where year > 2000 order by year;\n")?;
    /// assert_eq!(queries.iter().map(|query| query.count).collect::<Vec<_>>(), [120, 1]);
    /// assert_eq!(queries[1].predicate.to_string(), "year > 2000");
    /// # Ok::<(), marquetry_base::Error>(())
    /// ```
    pub fn parse_lines(text: &str) -> Result<Vec<Query>> {
        let mut queries = Vec::new();
        for (number, line) in (1..).zip(text.lines()) {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') || line.starts_with("--") {
                continue;
            }
            let (count, asked) = match line.split_once('\t') {
                Some((count, asked)) if count.trim().parse::<u64>().is_ok() => {
                    (count.trim().parse().unwrap_or(1), asked.trim())
                }
                _ => (1, line),
            };
            let Some(condition) = condition(asked) else { continue };
            let wrong = |error: Error| Error::argument(format!("line {number}: {}", error.message()));
            queries.push(Query { predicate: Predicate::parse(condition).map_err(wrong)?, count });
        }
        Ok(queries)
    }
}

/// Returns the condition behind WHERE, up to what ends it. `None` for a SELECT without WHERE.
fn condition(text: &str) -> Option<&str> {
    let text = text.trim_end_matches(';').trim_end();
    let words = words_outside_quotes(text);
    let is_select = words.first().is_some_and(|(_, word)| word.eq_ignore_ascii_case("select"));
    let start = words.iter().find(|(_, word)| word.eq_ignore_ascii_case("where"));
    let (start, is_statement) = match start {
        Some((at, word)) => (at + word.len(), true),
        None if is_select => return None,
        None => (0, false),
    };
    let ends =
        |(at, word): &&(usize, &str)| *at >= start && ENDS.iter().any(|end| word.eq_ignore_ascii_case(end));
    let end =
        if is_statement { words.iter().find(ends).map_or(text.len(), |(at, _)| *at) } else { text.len() };
    Some(text[start..end].trim())
}

/// Keywords that may follow a condition.
const ENDS: [&str; 6] = ["group", "order", "limit", "having", "union", "qualify"];

/// Returns the words outside of quotes, and where they begin.
fn words_outside_quotes(text: &str) -> Vec<(usize, &str)> {
    let (mut words, mut quote, mut start) = (Vec::new(), None, None);
    for (at, char) in text.char_indices().chain([(text.len(), ' ')]) {
        match quote {
            Some(open) if char == open => quote = None,
            Some(_) => {}
            None if char == '\'' || char == '"' => quote = Some(char),
            None if char.is_alphanumeric() || char == '_' => {
                start.get_or_insert(at);
                continue;
            }
            None => {}
        }
        if let Some(start) = start.take() {
            words.push((start, &text[start..at]));
        }
    }
    words
}

/// How predicates use a column.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct AskedColumn {
    /// Whether it is compared for equality.
    pub is_equal: bool,
    /// Whether it is compared at all, not only with NULL.
    pub is_compared: bool,
    /// Whether it is tested for intersection with a box.
    pub is_in_box: bool,
}

/// Returns how a predicate uses each of its columns, by their dotted paths.
///
/// ```
/// use marquetry_core::predicate::Predicate;
/// use marquetry_inspect::asked_columns;
/// let asked = asked_columns(&Predicate::parse("a = 5 and b > 7")?);
/// assert!(asked["a"].is_equal && !asked["b"].is_equal && asked["b"].is_compared);
/// # Ok::<(), marquetry_base::Error>(())
/// ```
pub fn asked_columns(predicate: &Predicate) -> BTreeMap<String, AskedColumn> {
    let mut asked = BTreeMap::new();
    collect(predicate, false, &mut asked);
    asked
}

fn collect(predicate: &Predicate, is_negated: bool, asked: &mut BTreeMap<String, AskedColumn>) {
    match predicate {
        Predicate::And(parts) | Predicate::Or(parts) => {
            parts.iter().for_each(|part| collect(part, is_negated, asked));
        }
        Predicate::Not(inner) => collect(inner, !is_negated, asked),
        Predicate::Compare { column, is, .. } => {
            let asked = asked.entry(column.to_string()).or_default();
            asked.is_compared = true;
            asked.is_equal |= (*is == Comparison::Eq && !is_negated) || (*is == Comparison::Ne && is_negated);
        }
        Predicate::In { column, .. } => {
            let asked = asked.entry(column.to_string()).or_default();
            asked.is_compared = true;
            asked.is_equal |= !is_negated;
        }
        Predicate::CompareColumns { left, right, .. } | Predicate::Distinct { left, right } => {
            for column in [left, right] {
                asked.entry(column.to_string()).or_default().is_compared = true;
            }
        }
        Predicate::BboxIntersects { column, .. } => {
            asked.entry(column.to_string()).or_default().is_in_box = true;
        }
        Predicate::StartsWith { column, .. }
        | Predicate::Matches { column, .. }
        | Predicate::IsNan { column } => {
            asked.entry(column.to_string()).or_default().is_compared = true;
        }
        Predicate::Elements { of, .. } | Predicate::AtKey { of, .. } => collect(of, is_negated, asked),
        Predicate::IsNull { column }
        | Predicate::Cardinality { column, .. }
        | Predicate::IsEmpty { column } => {
            asked.entry(column.to_string()).or_default();
        }
        // No advice depends on other predicates.
        _ => {}
    }
}

/// Binds a predicate to the columns of a file. Of paths into VARIANT, only the part remains that the shredded fields of
/// the file can decide.
///
/// Fails if the predicate does not fit the schema.
pub(super) fn bound(predicate: &Predicate, metadata: &ParquetMetaData) -> Result<BoundPredicate> {
    match bind_in_file(predicate, metadata) {
        Ok(bound) => Ok(bound),
        Err(_) => bind_in_file(&prunable_predicate(predicate, metadata)?.0, metadata),
    }
}

/// Returns the share of rows that queries skip, from 0 to 1, each query weighted by how often it is asked. `None` if
/// there are no queries or no rows, or no time for the first query.
///
/// Fails if a query does not fit the schema, or if the source fails.
pub(super) fn skipped_share(
    source: &dyn Source,
    metadata: &ParquetMetaData,
    queries: &[Query],
    time: TimeLeft,
) -> Result<Option<f64>> {
    let (mut asked, mut kept) = (0.0, 0.0);
    for query in queries {
        let bound = bound(&query.predicate, metadata)?;
        for group in metadata.row_groups() {
            if time.is_over() {
                break;
            }
            let (options, mut report) = (PruneOptions::default(), PruneReport::default());
            let rows = match prune_row_group(source, metadata, group.index(), &bound, &options, &mut report)?
            {
                RowGroupMatch::None => 0,
                RowGroupMatch::All => group.num_rows(),
                RowGroupMatch::Some(ranges) => ranges.iter().map(|range| range.end - range.start).sum(),
            };
            asked += group.num_rows() as f64 * query.count as f64;
            kept += rows as f64 * query.count as f64;
        }
    }
    Ok((asked > 0.0).then(|| 1.0 - kept / asked))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_are_found_in_statements() {
        assert_eq!(condition("a = 1"), Some("a = 1"));
        assert_eq!(
            condition("SELECT a FROM t WHERE a = 'order by' and b > 2 GROUP BY a;"),
            Some("a = 'order by' and b > 2")
        );
        assert_eq!(condition("select count(*) from t"), None);
        assert_eq!(condition("delete from t where \"where\" = 1"), Some("\"where\" = 1"));
        // No statement: the name of a column.
        assert_eq!(condition("limit = 5"), Some("limit = 5"));
    }

    #[test]
    fn a_line_that_is_none_is_named() {
        let error = Query::parse_lines("a = 1\n\nb = = 2\n").unwrap_err();
        assert!(error.message().starts_with("line 3: "), "{error}");
        assert!(Query::parse_lines("-- nothing\nselect 1\n").unwrap().is_empty());
    }
}
