//! Quirks of known writers, recognized by `created_by`.

/// Whether to believe V2 headers that state uncompressed values.
///
/// QUIRK: parquet-cpp before 2.0 compressed all V2 pages and marked none (ARROW-10353).
pub(crate) fn plain_pages_are_believed(created_by: Option<&str>) -> bool {
    !is_before(created_by, "parquet-cpp", (2, 0))
}

/// Whether `created_by` is this application, in a version before (major, minor). A name without a version counts as
/// before.
pub(crate) fn is_before(created_by: Option<&str>, application: &str, version: (u32, u32)) -> bool {
    let Some(rest) = created_by.and_then(|name| name.trim().strip_prefix(application)) else {
        return false;
    };
    // The name may be the beginning of another application's: "parquet-cpp-arrow version 12.0.0".
    if rest.starts_with(|c: char| c.is_alphanumeric() || c == '-' || c == '_') {
        return false;
    }
    let rest = rest.trim_start().strip_prefix("version").unwrap_or(rest).trim_start();
    let mut numbers = rest.split(|c: char| !c.is_ascii_digit()).map(|number| number.parse::<u32>().ok());
    match (numbers.next().flatten(), numbers.next().flatten()) {
        (Some(major), Some(minor)) => (major, minor) < version,
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_as_writers_write_them() {
        let before = |name: &str| is_before(Some(name), "parquet-mr", (1, 10));
        assert!(before("parquet-mr version 1.8.1 (build 4aba4dae7bb0d4edbcf7923ae1339f28fd3f7fcf)"));
        assert!(before("parquet-mr version 1.5.0-cdh5.7.0"));
        assert!(before("parquet-mr"));
        assert!(!before("parquet-mr version 1.10.0"));
        assert!(!before("parquet-mr version 1.13.1 (build x)"));
        assert!(!before("impala version 1.1"));
        assert!(!is_before(Some("parquet-cpp-arrow version 1.0.0"), "parquet-cpp", (1, 3)));
        assert!(!is_before(None, "parquet-mr", (1, 10)));
    }
}
