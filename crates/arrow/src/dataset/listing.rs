//! Finds the files that a path stands for: directories and what is below them, and patterns.

use marquetry_base::{Error, Result};
use std::collections::BTreeMap;
use std::path::Path;

/// Returns whether a name matched by a wildcard is one that directory listings skip, such as `_tmp`. A pattern that has
/// a part with a leading `_`, from the first wildcard on, asks for such names.
pub(super) fn is_left_behind(path: &Path, literal: usize, pattern: &str) -> bool {
    let mut names = path.components().skip(literal).map(|part| part.as_os_str().to_string_lossy());
    let wildcards = Path::new(pattern).components().skip(literal);
    let means_it = wildcards.map(|part| part.as_os_str().to_string_lossy()).any(|part| part.starts_with('_'));
    !means_it && names.any(|name| is_passed_over(&name))
}

/// Returns whether a name is hidden, or is left by writers beside their files. A partition key may begin with `_`.
pub(super) fn is_passed_over(name: &str) -> bool {
    name.starts_with('.') || name.starts_with('_') && !name.contains('=')
}

/// Returns whether a name or path has wildcards.
pub(super) fn has_wildcards(name: &str) -> bool {
    name.contains(['*', '?', '['])
}

/// Keeps the files with names of Parquet files, if there are any.
pub(super) fn retain_parquet<T>(found: &mut Vec<T>, path: impl Fn(&T) -> &Path) {
    if found.iter().any(|found| is_named_parquet(path(found))) {
        found.retain(|found| is_named_parquet(path(found)));
    }
}

/// Returns whether the name has an extension of Parquet files.
pub(super) fn is_named_parquet(path: &Path) -> bool {
    let end = path.extension().map(|end| end.to_string_lossy().to_lowercase());
    matches!(end.as_deref(), Some("parquet" | "parq" | "pq"))
}

/// Returns the files that a path stands for, as on a disk, for a store whose files have these `names`, with `/` between
/// their parts: files that match the pattern, and files below folders that match. A path without wildcards is a folder.
/// Sorted alphabetically.
pub(super) fn among<'a>(path: &str, names: impl IntoIterator<Item = &'a str>) -> Result<Vec<&'a str>> {
    let path = path.trim_end_matches('/');
    let is_literal = |part: &&str| !has_wildcards(part);
    let literal = path.split('/').filter(|part| !part.is_empty()).take_while(is_literal).count();
    let names = names.into_iter().filter(|name| !is_left_behind(Path::new(name), literal, path));
    if !has_wildcards(path) {
        let is_below = |name: &&str| {
            path.is_empty() || name.strip_prefix(path).is_some_and(|rest| rest.starts_with('/'))
        };
        let mut found: Vec<_> = names.filter(is_below).collect();
        retain_parquet(&mut found, |name| Path::new(*name));
        found.sort_unstable();
        return Ok(found);
    }
    let pattern =
        glob::Pattern::new(path).map_err(|error| Error::argument(format!("wrong pattern: {error}")))?;
    let options = glob::MatchOptions {
        require_literal_separator: true,
        require_literal_leading_dot: true,
        ..glob::MatchOptions::default()
    };
    let fits = |name: &str| pattern.matches_with(name, options);
    let (mut out, mut folders) = (Vec::new(), BTreeMap::<&str, Vec<&str>>::new());
    for name in names {
        let folder = name.match_indices('/').map(|(end, _)| &name[..end]).find(|folder| fits(folder));
        match folder {
            _ if fits(name) => out.push(name),
            // `**` matches the files in folders itself.
            Some(folder) if !path.contains("**") => folders.entry(folder).or_default().push(name),
            _ => {}
        }
    }
    for mut found in folders.into_values() {
        retain_parquet(&mut found, |name| Path::new(*name));
        out.extend(found);
    }
    out.sort_unstable();
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::among;

    #[test]
    fn files_of_a_store() {
        let names = [
            "t/a=1/x.parquet",
            "t/a=1/_tmp/y.parquet",
            "t/a=2/.x.parquet",
            "t/a=2/z.parquet",
            "t/_SUCCESS",
            "t/_metadata",
            "t/notes.txt",
            "top.parquet",
            "u/part-0",
            "u/part-1",
            "u/_SUCCESS",
            "tt/w.parquet",
        ];
        let among = |path| among(path, names).unwrap();
        assert_eq!(among("t/"), ["t/a=1/x.parquet", "t/a=2/z.parquet"]);
        assert_eq!(among("t"), among("t/"));
        assert_eq!(among("u"), ["u/part-0", "u/part-1"]);
        assert_eq!(among("t/a=*"), among("t/"));
        assert_eq!(among("t/a=*/"), among("t/"));
        assert_eq!(among("t/a=[2]/*.parquet"), ["t/a=2/z.parquet"]);
        assert_eq!(among("*.parquet"), ["top.parquet"]);
        assert_eq!(among("t*"), ["t/a=1/x.parquet", "t/a=2/z.parquet", "top.parquet", "tt/w.parquet"]);
        assert_eq!(among("**/*.parquet").len(), 4);
        assert_eq!(among("t/_*"), ["t/_SUCCESS", "t/_metadata"]);
        assert_eq!(among("t/a=1/_tmp"), ["t/a=1/_tmp/y.parquet"]);
        assert_eq!(among("").len(), 4);
        assert!(among("none").is_empty() && among("top.parquet").is_empty());
        assert!(super::among("a[", names).is_err());
    }
}
