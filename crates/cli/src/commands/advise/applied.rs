//! The advice that `optimize` follows by default, and the predicted size of the file.

use super::command::{column_options, convert_options, like, rewrite_options};
use super::setting_names::SettingNames;
use crate::commands::rewrite::{RewriteArgs, rewrite_if};
use crate::failure::Failure;
use crate::keys::EncryptArgs;
use crate::rewrite::Input;
use crate::spinner::Spinner;
use crate::unreferenced::unreferenced;
use clap::{Args as ClapArgs, Command, FromArgMatches};
use marquetry::errors::Error;
use marquetry::file::encryption::FileEncryptionProperties;
use marquetry_inspect::{Advice, AdviceKind, Change, ColumnAdvice, Finding, Goal, NewType};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::TempDir;

/// The changes that are made to a file.
pub(crate) struct Applied {
    /// Options of `rewrite`, or of `convert` if rows or types change. If the first ones make the file no smaller, the
    /// next ones are tried.
    pub(crate) attempts: Vec<Vec<String>>,
    /// Whether `convert` is needed.
    pub(crate) converts: bool,
    /// Columns that get another type.
    pub(crate) retyped: Vec<String>,
    /// Changes other than encodings and codecs.
    pub(crate) kinds: Vec<AdviceKind>,
    /// Predicted bytes of the file; its current bytes if it would not become smaller.
    pub(crate) predicted: u64,
}

/// Changes that are made only on request.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Allowed {
    /// Whether rows may be reordered.
    pub(crate) sort: bool,
    /// Whether types of columns may change.
    pub(crate) types: bool,
}

impl Applied {
    /// The advice that is followed for a goal.
    fn new(input: &Input, advice: &Advice, goal: Goal, allowed: Allowed) -> Result<Self, Error> {
        let taken: Vec<&Finding> =
            advice.findings.iter().filter(|finding| is_taken(finding, goal, allowed)).collect();
        let is_converted = |finding: &&&Finding| matches!(finding.change, Change::Sort | Change::Type(_));
        let converts = taken.iter().any(|finding| is_converted(&finding));
        // Changes that make the file larger are dropped if it gets too large.
        let saving: Vec<&Finding> =
            taken.iter().copied().filter(|finding| finding.saved_bytes() >= 0).collect();
        let names = SettingNames::new(input.metadata.schema());
        let mut attempts = vec![options((input, &names), advice, &taken, converts)?];
        let mut predictions = vec![predicted(input, advice, &taken)];
        if saving.len() < taken.len() {
            attempts.push(options((input, &names), advice, &saving, converts)?);
            predictions.push(predicted(input, advice, &saving));
        }
        attempts.retain(|options| !options.is_empty());
        let predicted = match attempts.is_empty() {
            true => advice.file_bytes,
            false => {
                predictions.into_iter().find(|bytes| *bytes < advice.file_bytes).unwrap_or(advice.file_bytes)
            }
        };
        let retyped = taken.iter().filter(|finding| matches!(finding.change, Change::Type(_)));
        let retyped = retyped.flat_map(|finding| finding.columns.iter().cloned()).collect();
        let mut kinds: Vec<AdviceKind> = Vec::new();
        for kind in taken.iter().map(|finding| finding.kind).filter(|kind| *kind != AdviceKind::Encoding) {
            if !kinds.contains(&kind) {
                kinds.push(kind);
            }
        }
        Ok(Applied { attempts, converts, retyped, kinds, predicted })
    }

    /// As [`new`](Self::new), but writes a small file once to see how large it gets, with its encryption: footers and
    /// indexes are a large part of small files.
    pub(crate) fn tried(
        input: &Input,
        advice: &Advice,
        goal: Goal,
        allowed: Allowed,
        encryption: Option<Arc<FileEncryptionProperties>>,
    ) -> Result<Self, Failure> {
        let applied = Applied::new(input, advice, goal, allowed)?;
        let _spinner = Spinner::new("measuring");
        applied.written_once(input, advice, encryption)
    }

    fn written_once(
        mut self,
        input: &Input,
        advice: &Advice,
        encryption: Option<Arc<FileEncryptionProperties>>,
    ) -> Result<Self, Failure> {
        let may_be_written = input.path.as_os_str() != "-" && may_be_tried(input, encryption.as_ref());
        let is_small = advice.file_bytes <= TRIED_BYTES && !self.converts && may_be_written;
        // No trial is written for columns that there was no time to measure.
        let is_measured = advice.columns.iter().all(|column| column.measured >= 1.0 || column.bytes == 0);
        if self.attempts.is_empty() || !is_small || !is_measured {
            return Ok(self);
        }
        let folder = TrialFolder::new()?;
        self.predicted = advice.file_bytes;
        for options in &self.attempts {
            let mut size = None;
            let args = rewrite_args(&input.path, &folder.path("trial.parquet"), options, encryption.clone())?;
            rewrite_if(&args, |temporary| {
                size = fs::metadata(temporary).ok().map(|metadata| metadata.len());
                Ok(false)
            })?;
            if let Some(size) = size.filter(|size| *size < advice.file_bytes) {
                self.predicted = size;
                break;
            }
        }
        Ok(self)
    }
}

/// Whether a trial file may be written: encrypted data is written in plaintext only on request.
pub(crate) fn may_be_tried(input: &Input, encryption: Option<&Arc<FileEncryptionProperties>>) -> bool {
    encryption.is_some() || input.metadata.encryption().is_none()
}

/// Whether a finding is followed: changes that keep rows and types are, if they serve the goal.
fn is_taken(finding: &Finding, goal: Goal, allowed: Allowed) -> bool {
    let saves = finding.saved_bytes() > 0;
    match &finding.change {
        Change::Columns => true,
        // Small row groups can be skipped one by one: the goal `filter` keeps them.
        Change::RowGroupRows(_) => goal == Goal::Scan || (saves && goal == Goal::Size),
        Change::Pages { .. } => saves || goal == Goal::Filter,
        Change::Indexes => goal == Goal::Filter,
        Change::BloomFilters => finding.skipped.is_some() && goal == Goal::Filter,
        // The measurements of columns include whole dictionaries.
        Change::Dictionaries => false,
        Change::Sort => allowed.sort,
        // These two change what a value is.
        Change::Type(NewType::Variant | NewType::Element) => false,
        Change::Type(_) => allowed.types,
        _ => false,
    }
}

/// The options that apply the findings.
fn options(
    (input, names): (&Input, &SettingNames<'_>),
    advice: &Advice,
    taken: &[&Finding],
    converts: bool,
) -> Result<Vec<String>, Error> {
    let mut options = Vec::new();
    for finding in taken {
        let more = rewrite_options(advice, finding, names);
        match (converts, &finding.change) {
            // `convert` writes them anyway.
            (true, Change::Indexes) => {}
            (true, Change::Sort | Change::Type(_)) => options.extend(convert_options(finding)),
            (true, Change::Columns) => options.extend(converted_choices((input, names), advice, taken)),
            _ => options.extend(more),
        }
    }
    if converts {
        let has_rows = options.iter().any(|option| option.starts_with("--row-group-rows="));
        let like =
            like(input)?.into_iter().filter(|option| !(has_rows && option.starts_with("--row-group-rows=")));
        options.splice(0..0, like.collect::<Vec<_>>());
    }
    Ok(options)
}

/// The encodings and codecs as options of `convert`: a column of a new type has a new encoding, and nested fields may
/// be written under other names, so that all below a root get the codec of its largest column. A name with dots that is
/// also a path would match both.
fn converted_choices(
    (input, names): (&Input, &SettingNames<'_>),
    advice: &Advice,
    taken: &[&Finding],
) -> Vec<String> {
    let schema = input.metadata.schema();
    let is_retyped = |column: &String| {
        taken.iter().any(|it| matches!(it.change, Change::Type(_)) && it.columns.contains(column))
    };
    let is_chosen = |column: &&ColumnAdvice| column.choice.is_some() && names.is_sole(&column.column);
    let mut chosen: Vec<_> = advice.columns.iter().filter(is_chosen).collect();
    chosen.sort_by_key(|column| std::cmp::Reverse(column.bytes));
    let (mut options, mut roots) = (Vec::new(), Vec::new());
    for column in chosen {
        let path = schema.column(column.leaf).path();
        let is_flat = path.len() == 1 && schema.column(column.leaf).max_rep() == 0;
        for option in column_options(column, names) {
            let is_codec = option.starts_with("--compression=");
            match (is_flat, path.first()) {
                (true, _) if is_codec || !is_retyped(&column.column) => options.push(option),
                (false, Some(root))
                    if is_codec && !roots.contains(root) && !is_retyped(&root.to_string()) =>
                {
                    roots.push(root.clone());
                    // A name may contain wildcards, which would match others, too.
                    if let (false, Some((_, codec))) =
                        (root.contains(['*', '?', '[', '"']), option.rsplit_once('='))
                    {
                        options.push(format!("--compression={root}.**={codec}"));
                    }
                }
                _ => {}
            }
        }
    }
    options
}

/// The size as predicted before anything is written.
fn predicted(input: &Input, advice: &Advice, taken: &[&Finding]) -> u64 {
    let unused = unreferenced(&*input.source, &input.metadata).unwrap_or(0);
    let mut bytes = advice.predicted_bytes.saturating_sub(unused) as f64;
    for finding in taken {
        let Some(change) = finding.bytes else { continue };
        let (before, after) = (change.before as f64, change.after as f64);
        match &finding.change {
            Change::Columns => {}
            Change::RowGroupRows(_) | Change::Pages { .. } | Change::Sort => bytes *= after / before.max(1.0),
            _ => bytes += after - before,
        }
    }
    bytes.max(0.0) as u64
}

/// The arguments of `rewrite` with these options, for a file with this encryption.
pub(crate) fn rewrite_args(
    input: &Path,
    output: &Path,
    options: &[String],
    encryption: Option<Arc<FileEncryptionProperties>>,
) -> Result<RewriteArgs, Failure> {
    let mut words: Vec<OsString> = vec!["rewrite".into()];
    words.extend(options.iter().map(OsString::from));
    words.extend(["--overwrite".into(), "--".into(), input.into(), output.into()]);
    let matches = RewriteArgs::augment_args(Command::new("rewrite")).try_get_matches_from(words);
    let parsed = matches.and_then(|matches| RewriteArgs::from_arg_matches(&matches));
    let mut args = parsed.map_err(|error| Failure::Usage(error.to_string()))?;
    args.encrypt = EncryptArgs::decided(encryption);
    Ok(args)
}

/// A directory for a trial file, which is deleted.
pub(crate) struct TrialFolder(TempDir);

impl TrialFolder {
    pub(crate) fn new() -> Result<Self, Error> {
        let mut folder = tempfile::Builder::new();
        folder.prefix("marquetry-trial-");
        // Whoever may not read the file must not read its copies.
        #[cfg(unix)]
        folder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
        let made = folder.tempdir();
        made.map(TrialFolder).map_err(|error| Error::io("cannot make a temporary directory", error))
    }

    /// The path of a file in it.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }
}

/// Larger files are not written on trial.
pub(crate) const TRIED_BYTES: u64 = 4 << 20;

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn nobody_else_looks_into_a_trial() {
        let folder = TrialFolder::new().unwrap();
        let file = folder.path("trial.parquet");
        let mode = fs::metadata(file.parent().unwrap()).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
    }
}
