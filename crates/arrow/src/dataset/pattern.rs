//! Glob patterns over local paths, also those that are not UTF-8.

use super::listing::{has_wildcards, is_passed_over};
use glob::{MatchOptions, Pattern};
use marquetry_base::{Error, Result};
use marquetry_core::io::DirectoryChain;
use std::collections::HashSet;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Component, Path, PathBuf};

/// Whether the path is meant as a pattern: files may have such characters in their names.
///
/// ```
/// use marquetry_arrow::dataset::is_pattern;
/// assert!(is_pattern("no-such-folder/*.parquet".as_ref()));
/// assert!(!is_pattern("no-such-folder/a.parquet".as_ref()));
/// ```
pub fn is_pattern(path: &Path) -> bool {
    path.components().any(is_of_wildcards) && !path.exists()
}

/// Whether a part of a path has characters that stand for others in a pattern. A prefix of Windows, `\\\\?\\C:`, has none.
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

/// The files and directories that a pattern of `*`, `?`, `[]` and `**` fits, sorted. Wildcards stand for no name that begins with
/// `.` or `_`, as directories are read without those, unless the part of the pattern begins so.
///
/// Fails if it is wrong, or if a directory cannot be read.
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
    /// `**`: directories in directories, or none.
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

/// Whether a name is one that the wildcards stand for: one that begins with `.` or `_` only if they do.
fn fits(pattern: &Pattern, name: &str) -> bool {
    let is_meant = !is_passed_over(name) || name.chars().next() == pattern.as_str().chars().next();
    is_meant && pattern.matches_with(name, OPTIONS)
}

struct Walk {
    only_directories: bool,
    /// On the way to where the walk is: links may lead back.
    above: DirectoryChain,
    /// Where `**` was walked from, and how many parts were behind it: several of them lead to the same places.
    walked: HashSet<(PathBuf, usize)>,
    found: Vec<PathBuf>,
}

impl Walk {
    /// Adds what fits the rest of the pattern in a directory, or `path` itself if nothing is left.
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
                // A link to nothing is there, too: who opens it says what is wrong with it.
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
                // At the end it stands for what is in the directories, too.
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

    /// Goes on with what is in a directory and has such a name; nothing is in what is none.
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

/// What was asked of a path, or `None` if it is not there, or in what is no directory.
fn there<T>(path: &Path, asked: io::Result<T>) -> Result<Option<T>> {
    match asked {
        Ok(found) => Ok(Some(found)),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(None),
        Err(error) => Err(unread(path, error)),
    }
}

/// The directory that a path without parts is.
fn here(path: &Path) -> &Path {
    if path.as_os_str().is_empty() { Path::new(".") } else { path }
}

pub(super) fn unread(path: &Path, error: io::Error) -> Error {
    Error::io("cannot be listed", error).in_file(path.display().to_string())
}

/// Hidden names are not meant by wildcards.
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

    /// Each of several `**` leads to all places below; they are looked at once for each.
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
