//! Expands patterns to files, and opens them.

use crate::args::{Files, InputTables, Selection};
use crate::column_list::all_columns;
use crate::failure::{Failure, Outcome};
use crate::file_name;
use crate::remote;
use crate::standard_input;
use crate::table_source::TableSource;
use marquetry::arrow::arrow_reader::ArrowReaderOptions;
use marquetry::errors::ErrorKind;
use marquetry::{OpenFile, dataset};
use std::path::{Path, PathBuf};

impl Files {
    /// Runs `look` on each file. The failure of a file is reported, and the next one is tried; it only stops when the
    /// output is closed or cannot be written.
    pub(crate) fn for_each(
        &self,
        outcome: &mut Outcome,
        mut look: impl FnMut(&Path, OpenFile) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        for file in self.expanded(outcome) {
            let looked = remote::open(&file).map_err(Failure::from).and_then(|open| look(&file, open));
            match looked {
                Ok(()) => {}
                Err(failure @ (Failure::ClosedPipe | Failure::Write(_))) => return Err(failure),
                Err(failure) => outcome.report(Some(&file), &failure),
            }
        }
        Ok(())
    }

    /// Whether there may be more than one file, so that output should name them.
    pub(crate) fn are_several(&self) -> bool {
        self.files.len() > 1 || self.files.iter().any(|file| is_pattern(file))
    }

    /// The files, in the given order; those of a pattern in alphabetical order. Reports patterns without files, and
    /// directories.
    pub(crate) fn expanded(&self, outcome: &mut Outcome) -> Vec<PathBuf> {
        self.expanded_or(|given, failure| outcome.report(Some(given), &failure))
    }

    /// As [`expanded`](Self::expanded), but passes patterns without files, and directories, to `failed`.
    pub(crate) fn expanded_or(&self, mut failed: impl FnMut(&Path, Failure)) -> Vec<PathBuf> {
        let mut expanded = expanded(&self.files, matches, &mut failed);
        expanded.retain(|path| {
            let is_directory = !remote::is_url(path) && !standard_input::is_meant(path) && path.is_dir();
            if is_directory {
                failed(path, directory(path));
            }
            !is_directory
        });
        expanded
    }

    /// As [`expanded`](Self::expanded), for commands that accept directories.
    pub(crate) fn with_directories(&self, outcome: &mut Outcome) -> Vec<PathBuf> {
        expanded(&self.files, matches_or_directories, &mut |given, failure| {
            outcome.report(Some(given), &failure);
        })
    }
}

/// The failure of a directory that was given to a command for single files, with a pattern to use instead.
fn directory(path: &Path) -> Failure {
    let name = file_name::shown(path);
    let name = name.strip_suffix('/').unwrap_or(&name);
    // These would have another meaning in a pattern, or in quotes.
    let name = if name.contains(['*', '?', '[', '\'']) { "DIR" } else { name };
    let instead = format!("name files in it, or a pattern in quotes: '{name}/**/*.parquet'");
    Failure::Check(format!("is a directory, not a file: {instead}"))
}

fn expanded(
    files: &[PathBuf],
    matches: impl Fn(&Path) -> Result<Vec<PathBuf>, Failure>,
    failed: &mut impl FnMut(&Path, Failure),
) -> Vec<PathBuf> {
    let mut out = Vec::new();
    for file in files {
        if !is_pattern(file) {
            out.push(file.clone());
            continue;
        }
        match matches(file) {
            Ok(matched) => out.extend(matched),
            Err(failure) => failed(file, failure),
        }
    }
    let mut is_read = false;
    out.retain(|path| {
        let is_again = standard_input::is_meant(path) && std::mem::replace(&mut is_read, true);
        if is_again {
            failed(path, Failure::usage_of(path, "standard input is given twice, and there once"));
        }
        !is_again
    });
    out
}

/// The paths, with patterns replaced by their files. Fails if a pattern matches no file.
pub(crate) fn all_files(paths: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
    let mut wrong = None;
    let files = expanded(paths, matches, &mut |given, failure| {
        wrong.get_or_insert_with(|| failure.in_file(given));
    });
    wrong.map_or(Ok(files), Err)
}

/// Whether a path is meant as a pattern: file names may contain such characters, too.
pub(crate) fn is_pattern(file: &Path) -> bool {
    if remote::is_url(file) {
        return remote::is_pattern(file);
    }
    dataset::is_pattern(file)
}

/// The files that match a pattern.
fn matches(pattern: &Path) -> Result<Vec<PathBuf>, Failure> {
    let (files, directories) = found(pattern)?;
    match (files.is_empty(), directories.is_empty()) {
        (false, _) => Ok(files),
        (true, true) => Err(nothing()),
        (true, false) => Err(Failure::Check(
            "only directories have such a name: a pattern that ends in /**/*.parquet has the files in them"
                .to_owned(),
        )),
    }
}

/// As [`matches`]; if only directories match, these, except for those within others.
fn matches_or_directories(pattern: &Path) -> Result<Vec<PathBuf>, Failure> {
    let (files, mut directories) = found(pattern)?;
    if !files.is_empty() {
        return Ok(files);
    }
    // A directory sorts before what is in it.
    directories.dedup_by(|path, before| path.starts_with(before));
    match directories.is_empty() {
        true => Err(nothing()),
        false => Ok(directories),
    }
}

fn nothing() -> Failure {
    Failure::Check("no file has such a name".to_owned())
}

/// The files, and the directories, that match a pattern, both sorted.
fn found(pattern: &Path) -> Result<(Vec<PathBuf>, Vec<PathBuf>), Failure> {
    if remote::is_url(pattern) {
        return Ok((remote::files(pattern)?, Vec::new()));
    }
    // An unreadable directory may contain files that are meant.
    let paths = dataset::expand_pattern(pattern).map_err(|error| match error.kind() {
        ErrorKind::Argument => Failure::Usage(error.message().to_owned()),
        _ => Failure::Check(format!("cannot look for files: {error}")),
    })?;
    let (directories, files) = paths.into_iter().partition(|path| path.is_dir());
    Ok((files, directories))
}

impl InputTables {
    /// Runs `look` on each file, as [`Files::for_each`] does; the files of a directory are one table.
    pub(crate) fn for_each(
        &self,
        outcome: &mut Outcome,
        mut look: impl FnMut(&Path, TableSource) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        for path in self.as_files().with_directories(outcome) {
            let opened = match self.unfinished {
                true => TableSource::open_unfinished(&path),
                false => TableSource::open_one(&path, &self.together),
            };
            match opened.map_err(Failure::from).and_then(|table| look(&path, table)) {
                Ok(()) => {}
                Err(failure @ (Failure::ClosedPipe | Failure::Write(_))) => return Err(failure),
                Err(failure) => outcome.report(Some(&failure.file(&path)), &failure),
            }
        }
        Ok(())
    }

    /// Whether there may be more than one table, so that output should name them.
    pub(crate) fn are_several(&self) -> bool {
        self.as_files().are_several()
    }

    fn as_files(&self) -> Files {
        Files { files: self.files.clone() }
    }
}

impl Selection {
    /// The chosen columns; `None` for all.
    pub(crate) fn columns(&self) -> Option<Vec<String>> {
        all_columns(self.columns.as_ref())
    }

    /// The file, with the chosen handling of pages and values that cannot be read.
    pub(crate) fn repaired(&self, file: OpenFile) -> OpenFile {
        self.values.apply_to(file.on_corrupt(self.on_corrupt.into()))
    }

    /// As [`repaired`](Self::repaired).
    pub(crate) fn repaired_options(&self, options: ArrowReaderOptions) -> ArrowReaderOptions {
        self.values.apply(options.with_on_corrupt(self.on_corrupt.into()))
    }

    /// The file, with all choices of rows and checks applied.
    pub(crate) fn of(&self, file: OpenFile) -> OpenFile {
        let file = file.offset(self.offset).verify_checksums(!self.no_verify);
        let file = self.repaired(file);
        let file = match &self.condition {
            Some(condition) => file.filter(condition.clone()),
            None => file,
        };
        match self.columns() {
            Some(columns) => file.columns(columns),
            None => file,
        }
    }
}
