//! Glob patterns over local paths, also those that are not UTF-8.

use super::listing::{has_wildcards, is_passed_over};
use glob::{MatchOptions, Pattern};
use marquetry_base::{Error, Result};
use marquetry_core::io::DirectoryChain;
use std::collections::HashSet;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Component, Path, PathBuf};

/// Returns whether the path is a pattern: it has wildcards, and no file has that very name.
///
/// ```
/// use marquetry_arrow::dataset::is_pattern;
/// assert!(is_pattern("no-such-folder/*.parquet".as_ref()));
/// assert!(!is_pattern("no-such-folder/a.parquet".as_ref()));
/// ```
pub fn is_pattern(path: &Path) -> bool {
    path.components().any(is_of_wildcards) && !path.exists()
}

/// Returns whether a part of a path has wildcards. A Windows prefix, `\\\\?\\C:`, has none.
///
/// ```
/// use marquetry_arrow::dataset::is_of_wildcards;
/// use std::path::Path;
/// let parts = Path::new("events/day=*/a[1].parquet").components();
/// assert_eq!(parts.map(is_of_wildcards).collect::<Vec<_>>(), [false, true, true]);
/// ```
pub fn is_of_wildcards(part: Component<'_>) -> bool {
    matches!(part, Component::Normal(name) if has_wildcards(&name.to_string_lossy()))
}

/// Returns the files and directories that match a pattern of `*`, `?`, `[]` and `**`, sorted.
///
/// Wildcards do not match names that begin with `.` or `_`, which directory listings skip, too, unless the part of the
/// pattern itself begins so.
///
/// Fails if the pattern is not valid, or if a directory cannot be read.
///
/// ```
/// let folder = tempfile::tempdir()?;
/// for name in ["b.parquet", "a.parquet", ".c.parquet", "d.csv"] {
///     std::fs::write(folder.path().join(name), "")?;
/// }
/// let found = marquetry_arrow::dataset::expand_pattern(&folder.path().join("*.parquet"))?;
/// assert_eq!(found, [folder.path().join("a.parquet"), folder.path().join("b.parquet")]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn expand_pattern(pattern: &Path) -> Result<Vec<PathBuf>> {
    let parts: Vec<_> = pattern.components().collect();
    let literal = parts.iter().take_while(|part| !is_of_wildcards(**part)).count();
    let base: PathBuf = parts[..literal].iter().collect();
    let rest = parts[literal..].iter().map(|part| Part::new(*part)).collect::<Result<Vec<_>>>()?;
    let mut walk = Walk {
        only_directories: pattern.to_string_lossy().ends_with(std::path::is_separator),
        above: DirectoryChain::default(),
        walked: HashSet::new(),
        found: Vec::new(),
    };
    walk.below(&base, &rest)?;
    let mut found = walk.found;
    found.sort_unstable();
    found.dedup();
    Ok(found)
}

/// A part of a pattern between two separators.
enum Part {
    Literal(PathBuf),
    Wildcards(Pattern),
    /// `**`: any number of nested directories.
    AnyDirectories,
}

impl Part {
    fn new(part: Component<'_>) -> Result<Self> {
        let text = part.as_os_str().to_string_lossy();
        Ok(match &*text {
            "**" => Part::AnyDirectories,
            _ if !is_of_wildcards(part) => Part::Literal(PathBuf::from(part.as_os_str())),
            text => Part::Wildcards(
                Pattern::new(text).map_err(|error| Error::argument(format!("wrong pattern: {error}")))?,
            ),
        })
    }
}

/// Returns whether a name matches. One that begins with `.` or `_` matches only if the pattern begins so, too.
fn fits(pattern: &Pattern, name: &str) -> bool {
    let is_meant = !is_passed_over(name) || name.chars().next() == pattern.as_str().chars().next();
    is_meant && pattern.matches_with(name, OPTIONS)
}

struct Walk {
    only_directories: bool,
    /// The directories above the current one, as links may lead back to them.
    above: DirectoryChain,
    /// Where `**` was expanded, and how many parts followed it: several `**` reach the same places.
    walked: HashSet<(PathBuf, usize)>,
    found: Vec<PathBuf>,
}

impl Walk {
    /// Adds the matches of the rest of the pattern in a directory, or `path` itself if nothing is left.
    fn below(&mut self, path: &Path, rest: &[Part]) -> Result<()> {
        let Some((part, behind)) = rest.split_first() else {
            if !self.only_directories || path.is_dir() {
                self.found.push(path.to_owned());
            }
            return Ok(());
        };
        match part {
            Part::Literal(name) => {
                let path = path.join(name);
                // A broken link counts as a match: opening it reports what is wrong.
                match there(&path, path.symlink_metadata())? {
                    Some(_) => self.below(&path, behind),
                    None => Ok(()),
                }
            }
            Part::Wildcards(pattern) => {
                self.each(path, |name| fits(pattern, name), |walk, path| walk.below(path, behind))
            }
            Part::AnyDirectories if !self.walked.insert((path.to_owned(), behind.len())) => Ok(()),
            Part::AnyDirectories => {
                // A trailing `**` matches the files in the directories, too.
                if !behind.is_empty() {
                    self.below(path, behind)?;
                }
                let directory = here(path);
                if !directory.is_dir()
                    || !self.above.enter(directory).map_err(|error| unread(directory, error))?
                {
                    return Ok(());
                }
                let is_meant = |name: &str| !is_passed_over(name);
                self.each(path, is_meant, |walk, path| {
                    if behind.is_empty() {
                        walk.below(path, behind)?;
                    }
                    walk.below(path, rest)
                })?;
                self.above.leave();
                Ok(())
            }
        }
    }

    /// Calls `then` for each entry of a directory whose name is meant. Does nothing if `path` is not a directory.
    fn each(
        &mut self,
        path: &Path,
        is_meant: impl Fn(&str) -> bool,
        mut then: impl FnMut(&mut Self, &Path) -> Result<()>,
    ) -> Result<()> {
        let directory = here(path);
        let Some(entries) = there(directory, fs::read_dir(directory))? else { return Ok(()) };
        for entry in entries {
            let name = entry.map_err(|error| unread(directory, error))?.file_name();
            if is_meant(&name.to_string_lossy()) {
                then(self, &path.join(name))?;
            }
        }
        Ok(())
    }
}

/// Returns the result of a request, or `None` if the path does not exist, or lies in what is not a directory.
fn there<T>(path: &Path, asked: io::Result<T>) -> Result<Option<T>> {
    match asked {
        Ok(found) => Ok(Some(found)),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(None),
        Err(error) => Err(unread(path, error)),
    }
}

/// Returns the directory that an empty path stands for.
fn here(path: &Path) -> &Path {
    if path.as_os_str().is_empty() { Path::new(".") } else { path }
}

pub(super) fn unread(path: &Path, error: io::Error) -> Error {
    Error::io("cannot be listed", error).in_file(path.display().to_string())
}

/// Wildcards do not match hidden names.
const OPTIONS: MatchOptions =
    MatchOptions { case_sensitive: true, require_literal_separator: true, require_literal_leading_dot: true };

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(names: &[&str]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for name in names {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        folder
    }

    fn names(folder: &tempfile::TempDir, pattern: &str) -> Vec<String> {
        let found = expand_pattern(&folder.path().join(pattern)).unwrap();
        let name = |path: &PathBuf| path.strip_prefix(folder.path()).unwrap().to_string_lossy().into_owned();
        found.iter().map(name).collect()
    }

    #[test]
    fn wildcards_stand_for_names() {
        let folder =
            folder(&["t/a=1/x.parquet", "t/a=2/y.parquet", "t/_tmp/z", "t/.h/z", "t/notes", "u/[1]"]);
        assert_eq!(names(&folder, "t/*/*.parquet"), ["t/a=1/x.parquet", "t/a=2/y.parquet"]);
        assert_eq!(names(&folder, "t/a=[2]/*"), ["t/a=2/y.parquet"]);
        assert_eq!(names(&folder, "*/a=?/x.parquet"), ["t/a=1/x.parquet"]);
        assert_eq!(names(&folder, "t/*"), ["t/a=1", "t/a=2", "t/notes"]);
        assert_eq!(names(&folder, "t/*/"), ["t/a=1", "t/a=2"]);
        assert_eq!(names(&folder, "t/_*/*"), ["t/_tmp/z"]);
        assert_eq!(names(&folder, "t/.*/*"), ["t/.h/z"]);
        assert_eq!(names(&folder, "*/.h/*"), ["t/.h/z"]);
        assert_eq!(names(&folder, "*/_tmp/z"), ["t/_tmp/z"]);
        assert_eq!(names(&folder, "t/*/../notes"), ["t/a=1/../notes", "t/a=2/../notes"]);
        assert_eq!(names(&folder, "**/*.parquet"), ["t/a=1/x.parquet", "t/a=2/y.parquet"]);
        assert_eq!(names(&folder, "t/**").len(), 5);
        assert_eq!(names(&folder, "u/[[]*"), ["u/[1]"]);
        assert_eq!(names(&folder, "none/*"), [] as [&str; 0]);
        assert_eq!(names(&folder, "t/notes/*"), [] as [&str; 0]);
        assert!(expand_pattern(&folder.path().join("a[")).is_err());
    }

    #[test]
    fn folders_above_the_wildcards_may_have_any_name() {
        let folder = folder(&["_st/t/x.parquet", "_st/t/_tmp/z.parquet"]);
        assert_eq!(names(&folder, "_st/t/**/*.parquet"), ["_st/t/x.parquet"]);
        assert_eq!(names(&folder, "_st/*/*"), ["_st/t/x.parquet"]);
        let found = super::super::listing::among("_st/t", ["_st/t/x.parquet", "_st/t/_tmp/z.parquet"]);
        assert_eq!(found.unwrap(), ["_st/t/x.parquet"]);
    }

    /// Several `**` all lead to the places below; each place is visited once for each `**`.
    #[test]
    fn several_wildcards_of_directories_end() {
        let deep = "d/".repeat(30) + "x.parquet";
        let folder = folder(&[&deep]);
        for pattern in ["**/".repeat(12) + "*.parquet", "**/*/".repeat(12) + "*.parquet"] {
            assert_eq!(names(&folder, &pattern), [&*deep], "{pattern}");
        }
        assert_eq!(names(&folder, &("**/".repeat(12) + "no")), [] as [&str; 0]);
    }

    #[cfg(unix)]
    #[test]
    fn names_need_not_be_utf8_and_links_may_lead_back() {
        use std::os::unix::ffi::OsStrExt;
        let folder = folder(&["d/b.parquet"]);
        let odd = folder.path().join(std::ffi::OsStr::from_bytes(b"d/\xff\xfe.parquet"));
        fs::write(&odd, "").unwrap();
        std::os::unix::fs::symlink(folder.path(), folder.path().join("d/up")).unwrap();
        let b = folder.path().join("d/b.parquet");
        for pattern in ["d/*.parquet", "*/*.parquet", "**/*.parquet"] {
            assert_eq!(
                expand_pattern(&folder.path().join(pattern)).unwrap(),
                [b.clone(), odd.clone()],
                "{pattern}"
            );
        }
        assert_eq!(expand_pattern(&folder.path().join("d/??.parquet")).unwrap(), [odd]);
    }
}
