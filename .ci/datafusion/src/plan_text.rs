//! Compares what a record gives with what it should give.
//!
//! DataFusion's Parquet shows in a plan how it prunes. We prune by other means, and show none of it: what it says of that, and
//! the name of our reader, are left out of both sides before texts of plans are compared.

use datafusion_sqllogictest::df_value_validator;
use sqllogictest::Normalizer;
use std::sync::LazyLock;

/// Whether rows are as expected. As a [`Validator`](sqllogictest::Validator).
pub(crate) fn is_equal(normalizer: Normalizer, actual: &[Vec<String>], expected: &[String]) -> bool {
    // DataFusion's runner takes the folder that it was compiled in for the one that it runs in.
    let at_root = |line: &String| line.replace(ROOT.as_str(), "WORKSPACE_ROOT");
    let actual: Vec<Vec<String>> = actual.iter().map(|row| row.iter().map(at_root).collect()).collect();
    if df_value_validator(normalizer, &actual, expected) {
        return true;
    }
    let is_plan =
        expected.iter().any(|line| line.contains("DataSourceExec") || line.contains("DataSinkExec"));
    let actual: Vec<Vec<String>> =
        actual.iter().map(|row| row.iter().map(|line| without_pruning(line)).collect()).collect();
    let expected: Vec<String> = expected.iter().map(|line| without_pruning(line)).collect();
    is_plan && df_value_validator(normalizer, &actual, &expected)
}

/// The folder in which there are `datafusion/sqllogictest`, which is the current one, and data beside it; without its first slash,
/// as paths of stores are.
static ROOT: LazyLock<String> = LazyLock::new(|| {
    let current = std::env::current_dir().unwrap_or_default();
    let root = current.ancestors().nth(2).unwrap_or(&current);
    root.to_string_lossy().trim_start_matches('/').to_owned()
});

/// A line without what only one of the readers says.
fn without_pruning(line: &str) -> String {
    let mut line = line.replace(", reader=marquetry", "").replace("MarquetrySink(", "ParquetSink(");
    for (begin, end) in [
        (", sort_order_for_reorder=[", "]"),
        (", reverse_row_groups=", "true"),
        (", dynamic_rg_pruning=", "eligible"),
        (", required_guarantees=[", "]"),
    ] {
        if let Some(start) = line.find(begin)
            && let Some(len) = line[start + begin.len()..].find(end)
        {
            line.replace_range(start..start + begin.len() + len + end.len(), "");
        }
    }
    // A condition has commas: it ends where the metrics, or the line, do.
    if let Some(start) = line.find(", pruning_predicate=") {
        let end = line[start..].find(", metrics=[").map_or(line.len(), |len| start + len);
        line.replace_range(start..end, "");
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_said_of_pruning_is_left_out() {
        let theirs = "DataSourceExec: file_type=parquet, predicate=a@0 > 1, pruning_predicate=a_max@0 > 1, x(a, b), required_guarantees=[a in (1, 2)]";
        let ours = "DataSourceExec: file_type=parquet, reader=marquetry, predicate=a@0 > 1";
        assert_eq!(without_pruning(theirs), without_pruning(ours));
        assert_ne!(
            without_pruning(theirs),
            without_pruning("DataSourceExec: file_type=parquet, predicate=a@0 > 2")
        );
    }
}
