//! Rewrites a file by measured advice.

use super::options::{OptimizeOptions, Optimized, OptimizedColumn};
use crate::args::Format;
use crate::caller::{self, Program};
use crate::commands::advise::{
    Allowed, Applied, TRIED_BYTES, TrialFolder, advice_of, may_be_tried, rewrite_args,
};
use crate::commands::convert::{ConvertArgs, convert};
use crate::commands::rewrite::rewrite_if;
use crate::failure::Failure;
use crate::file_name;
use crate::keys::{self, EncryptArgs, encrypted_like};
use crate::memory::usual_to_write;
use crate::output::Output;
use crate::overwrite::{refuse, refuse_existing};
use crate::rewrite::Input;
use crate::spinner::Spinner;
use arrow_schema::TimeUnit;
use clap::{Args as ClapArgs, Command, FromArgMatches};
use marquetry::arrow::StringLayout;
use marquetry::arrow::arrow_reader::{ArrowReaderOptions, Int96Unit};
use marquetry::errors::{Error, ErrorKind};
use marquetry::file::AtomicFile;
use marquetry::file::encryption::FileEncryptionProperties;
use marquetry::file::metadata::ParquetMetaData;
use marquetry_inspect::{Advice, AdviceKind, DiffFile, DiffOptions, column_bytes, diff_rows};
use std::ffi::OsString;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Writes the rows of the Parquet file `input` to `output` as advised, as the command `optimize` does. `input` may be a
/// URL if the command accepts URLs. The new file appears once it is complete and its rows were compared, and is never
/// larger.
///
/// The same columns of an encrypted file are encrypted with the same keys, unless the options say otherwise.
///
/// Fails if a key of `input` is missing, if `output` exists and may not be replaced, or is `input`, or if reading or
/// writing fails.
///
/// ```
/// use marquetry_cli::{OptimizeOptions, optimize};
/// let wines = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/wines.parquet");
/// # let small = std::env::temp_dir().join(format!("marquetry-optimize-{}.parquet", std::process::id()));
/// let done = optimize(wines, &small, &OptimizeOptions::default())?;
/// assert!(done.size <= done.before);
/// # std::fs::remove_file(small)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn optimize(
    input: impl AsRef<Path>,
    output: impl AsRef<Path>,
    options: &OptimizeOptions,
) -> Result<Optimized, Error> {
    let (input, output) = (input.as_ref(), output.as_ref());
    let work = || optimize_file(input, output, options, &mut Output::new(Format::Text, false));
    let program = Program { cancel: options.cancel.clone(), keys: options.decryption.clone() };
    let done = caller::for_program(program, work);
    done.map_err(|failure| failure.into_error().in_file(file_name::shown(input)))
}

/// Optimizes for the command or a program. Reports only progress.
pub(super) fn optimize_file(
    input: &Path,
    path: &Path,
    options: &OptimizeOptions,
    output: &mut Output,
) -> Result<Optimized, Failure> {
    refuse_existing(path, [input], options.overwrite)?;
    let input = Input::open(input)?;
    let encryption = Encryption::of(&input, options)?;
    let advice = advice_of(&input, options.advise.clone())?;
    let allowed = Allowed { sort: options.sort, types: options.types };
    let properties = encryption.properties.clone();
    let applied = Applied::tried(&input, &advice, options.advise.goal, allowed, properties)?;
    let memory_limit = options.memory_limit.unwrap_or_else(usual_to_write);
    let size = advice.file_bytes;
    let mut work = Work {
        input,
        path,
        applied,
        size,
        encryption,
        options,
        memory_limit,
        output,
        advice: &advice,
        loses_digits: false,
    };
    let got = work.write()?;
    let columns = advice.columns.iter().map(|column| {
        Ok(OptimizedColumn {
            column: column.column.clone(),
            before: column.bytes,
            predicted: column.predicted,
            got: column_bytes(&got.metadata, column.leaf)?,
        })
    });
    Ok(Optimized {
        before: advice.file_bytes,
        predicted: work.applied.predicted,
        size: got.size,
        is_copy: got.is_copy,
        columns: columns.collect::<Result<_, Error>>()?,
        also: work.applied.kinds,
        notes: got.notes,
        advice,
    })
}

/// The encryption of the new file.
struct Encryption {
    properties: Option<Arc<FileEncryptionProperties>>,
    /// Whether it differs from that of the input.
    is_other: bool,
}

impl Encryption {
    fn of(input: &Input, options: &OptimizeOptions) -> Result<Self, Error> {
        Ok(match (&options.encryption, options.decrypt) {
            (Some(asked), _) => Encryption { properties: Some(asked.clone()), is_other: true },
            (None, true) => Encryption { properties: None, is_other: input.metadata.encryption().is_some() },
            (None, false) => Encryption { properties: encrypted_like(&input.metadata)?, is_other: false },
        })
    }

    /// Options to read the new file: with the keys that were given, unless it has others.
    fn reader_options(&self) -> Result<ArrowReaderOptions, Error> {
        Ok(match &self.properties {
            Some(others) if self.is_other => keys::reader_options_with(Some(others.decryption()?)),
            Some(_) => keys::reader_options(),
            None => keys::reader_options_with(None),
        })
    }
}

/// The file that was written.
struct Got {
    metadata: Arc<ParquetMetaData>,
    size: u64,
    is_copy: bool,
    notes: Vec<String>,
}

/// A file that is rewritten.
struct Work<'a> {
    input: Input,
    path: &'a Path,
    applied: Applied,
    /// Size of the input, in bytes.
    size: u64,
    encryption: Encryption,
    options: &'a OptimizeOptions,
    memory_limit: usize,
    output: &'a mut Output,
    advice: &'a Advice,
    /// Whether changing rows or types would have cost digits of INT96 times.
    loses_digits: bool,
}

impl Work<'_> {
    /// Tries the attempts one after the other, and a copy in the end.
    fn write(&mut self) -> Result<Got, Failure> {
        let may_be_tried = may_be_tried(&self.input, self.encryption.properties.as_ref());
        if self.applied.converts && self.size <= TRIED_BYTES && may_be_tried {
            self.applied.predicted = self.size_by_trial()?;
        }
        if let Some(got) = self.attempted()? {
            return Ok(got);
        }
        if self.loses_digits {
            let allowed = Allowed { sort: false, types: false };
            let properties = self.encryption.properties.clone();
            let goal = self.options.advise.goal;
            self.applied = Applied::tried(&self.input, self.advice, goal, allowed, properties)?;
            if let Some(mut got) = self.attempted()? {
                got.notes.push(
                    "rows keep their order, and columns their types: times of INT96 would lose digits"
                        .to_owned(),
                );
                return Ok(got);
            }
        }
        (self.applied.kinds, self.applied.retyped) = (Vec::new(), Vec::new());
        if self.encryption.is_other {
            let _spinner = Spinner::new("writing");
            let written = self.rewritten(&[])?;
            return written.ok_or_else(|| refuse(self.path, "is not written"));
        }
        copy(&self.input, self.path)?;
        let (metadata, size) = (self.input.metadata.clone(), self.size);
        Ok(Got { metadata, size, is_copy: true, notes: Vec::new() })
    }

    /// Tries the attempts one after the other.
    fn attempted(&mut self) -> Result<Option<Got>, Failure> {
        for options in self.applied.attempts.clone() {
            let _spinner = Spinner::new("writing");
            let got = match self.applied.converts {
                true => self.converted(&options)?,
                false => self.rewritten(&options)?,
            };
            if got.is_some() {
                return Ok(got);
            }
        }
        Ok(None)
    }

    /// Rewrites the file, copying columns where possible; `None` if it gets no smaller although something was to change.
    fn rewritten(&self, options: &[String]) -> Result<Option<Got>, Failure> {
        let encryption = self.encryption.properties.clone();
        let rewrite = rewrite_args(&self.input.path, self.path, options, encryption)?;
        let written = rewrite_if(&rewrite, |temporary| {
            let is_wanted = options.is_empty() || bytes_of(temporary)? < self.size;
            if is_wanted {
                self.prove(temporary)?;
            }
            Ok(is_wanted)
        })?;
        Ok(written.map(|written| Got {
            metadata: Arc::new(written.metadata),
            size: written.size,
            is_copy: false,
            notes: written.log.notes(),
        }))
    }

    /// Writes the file with changed rows or types; `None` if it gets no smaller.
    fn converted(&mut self, options: &[String]) -> Result<Option<Got>, Failure> {
        let mut name = OsString::from(".");
        name.push(self.path.file_name().unwrap_or_default());
        name.push(".converted");
        let temporary = Removed(self.path.with_file_name(name));
        let is_exact = self.convert_to(options, &temporary.0)?;
        let size = bytes_of(&temporary.0)?;
        self.loses_digits |= !is_exact;
        if size >= self.size || !is_exact {
            return Ok(None);
        }
        self.prove(&temporary.0)?;
        let opened = crate::remote::open_with_options(&temporary.0, self.encryption.reader_options()?)?;
        let metadata = opened.metadata().clone();
        let cannot = |error| Error::io("cannot rename the finished file", error);
        fs::rename(&temporary.0, self.path).map_err(cannot)?;
        Ok(Some(Got { metadata, size, is_copy: false, notes: Vec::new() }))
    }

    /// Runs `convert` with these options. Returns whether no time lost digits.
    fn convert_to(&mut self, options: &[String], path: &Path) -> Result<bool, Failure> {
        let mut words: Vec<OsString> = vec!["convert".into()];
        words.extend(options.iter().map(OsString::from));
        words.extend(["--to=parquet", "--report=none", "--overwrite", "--"].map(OsString::from));
        words.extend([self.input.path.clone().into(), path.into()]);
        let matches = ConvertArgs::augment_args(Command::new("convert")).try_get_matches_from(words);
        let parsed = matches.and_then(|matches| ConvertArgs::from_arg_matches(&matches));
        let mut convert_args = parsed.map_err(|error| Failure::Usage(error.to_string()))?;
        convert_args.encrypt = EncryptArgs::decided(self.encryption.properties.clone());
        Ok(convert(&convert_args, self.memory_limit, self.output)?.is_empty())
    }

    /// The size of a small file, determined by writing it once.
    fn size_by_trial(&mut self) -> Result<u64, Failure> {
        let folder = TrialFolder::new()?;
        let path = folder.path("trial.parquet");
        for options in self.applied.attempts.clone() {
            let is_exact = self.convert_to(&options, &path)?;
            let bytes = bytes_of(&path)?;
            if bytes < self.size && is_exact {
                return Ok(bytes);
            }
        }
        Ok(self.size)
    }

    /// Fails if the rows of the two files differ. Values of a changed type were checked one by one when they were
    /// converted.
    fn prove(&self, after: &Path) -> Result<(), Failure> {
        if !self.options.proof {
            return Ok(());
        }
        match self.prove_with(after, Int96Unit::Nanoseconds) {
            // INT96 values may be beyond the range of nanoseconds.
            Err(Failure::File(error)) if error.kind() == ErrorKind::Limit => {
                self.prove_with(after, Int96Unit::Unit(TimeUnit::Microsecond))
            }
            proved => proved,
        }
    }

    fn prove_with(&self, after: &Path, int96: Int96Unit) -> Result<(), Failure> {
        let (before, applied) = (&self.input.path, &self.applied);
        let with = |options: ArrowReaderOptions| options.with_text(StringLayout::Utf8View).with_int96(int96);
        let left = DiffFile::open(crate::remote::source(before)?, with(keys::reader_options()))?;
        let right = DiffFile::open(crate::remote::source(after)?, with(self.encryption.reader_options()?))?;
        let mut diff_options = DiffOptions::default();
        if !applied.retyped.is_empty() {
            let roots = left.metadata().schema().fields().iter().map(|field| field.name().clone());
            let same: Vec<String> = roots.filter(|name| !applied.retyped.contains(name)).collect();
            if same.is_empty() {
                return Ok(());
            }
            diff_options = diff_options.with_columns(same);
        }
        let diff = diff_rows(&left, &right, &diff_options)?;
        let are_same = match applied.kinds.contains(&AdviceKind::SortOrder) {
            true => diff.removed == 0 && diff.added == 0 && diff.changed == 0,
            false => diff.is_same(),
        };
        if let [first, ..] = &diff.not_compared[..] {
            let why = format!("column {first} would get a type that cannot be compared: nothing is written");
            return Err(refuse(before, &why));
        }
        match are_same {
            true => Ok(()),
            false => Err(refuse(before, "would not have the same rows: nothing is written")),
        }
    }
}

fn bytes_of(path: &Path) -> Result<u64, Error> {
    let metadata = fs::metadata(path).map_err(|error| Error::io("cannot look at the new file", error))?;
    Ok(metadata.len())
}

/// A temporary file, removed on drop unless it was renamed.
struct Removed(PathBuf);

impl Drop for Removed {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

fn copy(input: &Input, path: &Path) -> Result<(), Failure> {
    let mut file = AtomicFile::create(path)?;
    let (mut at, end) = (0, input.source.len());
    while at < end {
        let bytes = input.source.read_at(at, (end - at).min(COPIED_AT_ONCE) as usize)?;
        file.write_all(&bytes).map_err(|error| Error::io("cannot write the copy", error))?;
        at += bytes.len() as u64;
    }
    Ok(file.finish()?)
}

const COPIED_AT_ONCE: u64 = 1 << 20;
