//! Escapes file names as URLs: DataFusion takes `*`, `?` and `[` in a name for a pattern.

use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::datasource::listing::ListingTableUrl;
use datafusion::error::{DataFusionError, Result};
use datafusion::logical_expr::LogicalPlan;
pub(crate) use marquetry_arrow::dataset::is_of_wildcards;
use marquetry_arrow::dataset::is_pattern;
use marquetry_base::url_without_secrets;
use std::path::{Component, Path};
use url::Url;

/// The URL of a file; `None` if stores accept no such name, as it is not UTF-8, or has control characters.
pub(crate) fn url_of_file(path: &Path) -> Option<ListingTableUrl> {
    // URLs resolve `..` by their text, which gives another folder where the part before is a symbolic link.
    let resolved = match path.components().any(|part| part == Component::ParentDir) {
        true => path.canonicalize().ok()?,
        false => path.to_owned(),
    };
    ListingTableUrl::try_new(url(&resolved, false)?, None).ok()
}

/// The URL of a folder; `None` if stores accept no such name.
pub(crate) fn url_of_folder(path: &Path) -> Option<ListingTableUrl> {
    ListingTableUrl::try_new(url(&path.canonicalize().ok()?, true)?, None).ok()
}

/// Returns the URL of a folder or a pattern, and how many of its leading directories belong to the working directory; `None`
/// for any other path.
pub(crate) fn url_of_files(path: &Path) -> Option<(String, usize)> {
    let url = match path.is_dir() {
        true => url_of_folder(path)?.as_str().to_owned(),
        false if is_pattern(path) => url(path, false)?.into(),
        false => return None,
    };
    let names = |path: &Path| path.components().filter(|part| matches!(part, Component::Normal(_))).count();
    let all = names(&Url::parse(&url).ok()?.to_file_path().ok()?);
    let skipped_dirs = if path.is_absolute() { 0 } else { all.saturating_sub(names(path)) };
    Some((url, skipped_dirs))
}

fn url(path: &Path, is_folder: bool) -> Option<Url> {
    let path = std::path::absolute(path).ok()?;
    let url = if is_folder { Url::from_directory_path(path) } else { Url::from_file_path(path) };
    // Parsing it once more resolves `..`.
    Url::parse(url.ok()?.as_str()).ok()
}

/// The name, or the URL of a file with exactly this name if DataFusion would take the name for a pattern.
pub(crate) fn exact_name(name: &str) -> String {
    let path = Path::new(name);
    let url = if has_wildcards(path) && path.is_file() { url_of_file(path) } else { None };
    url.map_or_else(|| name.to_owned(), |url| url.as_str().to_owned())
}

/// Whether some part of the path has wildcards.
pub(crate) fn has_wildcards(path: &Path) -> bool {
    path.components().any(is_of_wildcards)
}

/// The plan, with `COPY .. TO` writing to files with exactly the given names.
///
/// Fails if a URL has more than a name: a query or a fragment that is not for a web server.
pub(crate) fn with_exact_targets(plan: LogicalPlan) -> Result<LogicalPlan> {
    let exact = |plan: LogicalPlan| match plan {
        LogicalPlan::Copy(mut copy) => Ok(match exact_target(&copy.output_url)? {
            Some(url) => {
                copy.output_url = url;
                Transformed::yes(LogicalPlan::Copy(copy))
            }
            None => Transformed::no(LogicalPlan::Copy(copy)),
        }),
        other => Ok(Transformed::no(other)),
    };
    plan.transform_down(exact).data()
}

/// The target to write to instead of `name`, if `name` would be taken for a pattern.
fn exact_target(name: &str) -> Result<Option<String>> {
    let path = Path::new(name);
    // A name may have a colon.
    if name.contains("://")
        && !path.is_absolute()
        && let Ok(url) = Url::parse(name)
    {
        // The query may be what permits writing to a web server.
        return match (url.query().or(url.fragment()), url.scheme()) {
            (None, _) | (_, "http" | "https") => Ok(None),
            (Some(_), _) => Err(DataFusionError::Plan(format!(
                "in the URL {}, the part after ? or # does not belong to the file's name: write ? as %3F, and # as %23",
                url_without_secrets(name)
            ))),
        };
    }
    if !has_wildcards(path) {
        return Ok(None);
    }
    let is_folder = path.is_dir() || name.ends_with(std::path::is_separator);
    let url = url(path, is_folder)
        .ok_or_else(|| DataFusionError::Plan(format!("{name} is not a path of a file")))?;
    Ok(Some(url.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_are_names() {
        let target = |name| exact_target(name).map_err(|error| error.to_string());
        for name in [
            "a.parquet",
            "a:b.parquet",
            "/a/b#c%.parquet",
            "s3://bucket/a*b.parquet",
            "http://host/a.parquet?sig=x",
        ] {
            assert_eq!(target(name), Ok(None), "{name}");
        }
        assert_eq!(target("/a/b?*[c].parquet"), Ok(Some("file:///a/b%3F*[c].parquet".to_owned())));
        assert_eq!(target("/a/../b?/"), Ok(Some("file:///b%3F/".to_owned())));
        assert!(target("a:b?.parquet").unwrap().is_some_and(|url| url.ends_with("/a:b%3F.parquet")));
        for name in ["s3://bucket/a?b.parquet", "file:///a#b.parquet"] {
            assert!(target(name).unwrap_err().contains("write ? as %3F"), "{name}");
        }
    }
}
