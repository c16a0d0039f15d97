//! Paths of this machine that a pattern fits, also those that are no UTF-8.

use super::listing::is_left_behind;
use glob::{MatchOptions, Pattern};
use marquetry_base::{Error, Result};
use marquetry_core::io::DirectoryChain;
use std::fs;
use std::path::{Path, PathBuf};

/// Whether the path is meant as a pattern: files may have such characters in their names.
///
/// ```
/// use marquetry_arrow::dataset::is_pattern;
/// assert!(is_pattern("no-such-folder/*.parquet".as_ref()));
/// assert!(!is_pattern("no-such-folder/a.parquet".as_ref()));
/// ```
pub fn is_pattern(path: &Path) -> bool {
    has_wildcards(&path.to_string_lossy()) && !path.exists()
}

/// The files and directories that a pattern of `*`, `?`, `[]` and `**` fits, sorted. Wildcards stand for no name that begins with
/// `.` or `_`, as directories are read without those, unless the pattern says so.
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
    let is_literal = |part: &&std::path::Component<'_>| !has_wildcards(&part.as_os_str().to_string_lossy());
    let literal = parts.iter().take_while(is_literal).count();
    let base: PathBuf = parts[..literal].iter().collect();
    let rest = parts[literal..].iter().map(|part| Part::new(part.as_os_str().to_string_lossy().as_ref()));
    let rest = rest.collect::<Result<Vec<_>>>()?;
    let text = pattern.to_string_lossy();
    let mut walk = Walk {
        only_directories: text.ends_with(std::path::is_separator),
        above: DirectoryChain::default(),
        found: Vec::new(),
    };
    walk.below(&base, &rest)?;
    let mut found = walk.found;
    found.retain(|path| !is_left_behind(path, literal, &text));
    found.sort_unstable();
    found.dedup();
    Ok(found)
}

/// A part of a pattern between two separators.
enum Part {
    Literal(String),
    Wildcards(Pattern),
    /// `**`: directories in directories, or none.
    AnyDirectories,
}

impl Part {
    fn new(text: &str) -> Result<Self> {
        Ok(match text {
            "**" => Part::AnyDirectories,
            _ if !has_wildcards(text) => Part::Literal(text.to_owned()),
            _ => Part::Wildcards(
                Pattern::new(text).map_err(|error| Error::argument(format!("wrong pattern: {error}")))?,
            ),
        })
    }
}

struct Walk {
    only_directories: bool,
    /// On the way to where the walk is: links may lead back.
    above: DirectoryChain,
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
                if path.symlink_metadata().is_ok() { self.below(&path, behind) } else { Ok(()) }
            }
            Part::Wildcards(pattern) => {
                let fits = |name: &str| pattern.matches_with(name, OPTIONS);
                self.each(path, fits, |walk, path| walk.below(path, behind))
            }
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
                let is_shown = |name: &str| !name.starts_with('.');
                self.each(path, is_shown, |walk, path| {
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
        fits: impl Fn(&str) -> bool,
        mut then: impl FnMut(&mut Self, &Path) -> Result<()>,
    ) -> Result<()> {
        let directory = here(path);
        if !directory.is_dir() {
            return Ok(());
        }
        for entry in fs::read_dir(directory).map_err(|error| unread(directory, error))? {
            let name = entry.map_err(|error| unread(directory, error))?.file_name();
            if fits(&name.to_string_lossy()) {
                then(self, &path.join(name))?;
            }
        }
        Ok(())
    }
}

/// The directory that a path without parts is.
fn here(path: &Path) -> &Path {
    if path.as_os_str().is_empty() { Path::new(".") } else { path }
}

fn has_wildcards(text: &str) -> bool {
    text.contains(['*', '?', '['])
}

pub(super) fn unread(path: &Path, error: std::io::Error) -> Error {
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
        assert_eq!(
            names(&folder, "t/.*/*"),
            [] as [&str; 0],
            "hidden names are passed over as in directories"
        );
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
