//! DataFusion's sqllogictests that touch Parquet, with Marquetry in the place of its Parquet.
//!
//! Each file is run with DataFusion's own Parquet first: what fails then fails for want of the data that is not in the published
//! crate. Whatever else fails has to be among the known records.

mod known;
mod plan_text;
mod run;

use clap::Parser;
use datafusion_sqllogictest::read_dir_recursive;
use known::Known;
use run::{Outcomes, Reader, run};
use std::collections::BTreeSet;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

type Failure = Box<dyn Error + Send + Sync>;

#[derive(Debug, Parser)]
struct Args {
    /// The folder of tests; it stands in the folder that tests take as the current one
    #[arg(default_value = "test_files")]
    folder: PathBuf,
    /// The records that may fail, with their reasons
    #[arg(long)]
    known: Option<PathBuf>,
    /// Files whose name has this in it
    #[arg(long, default_value = "")]
    only: String,
    /// Shows each failure
    #[arg(long)]
    verbose: bool,
}

/// How many records there are of each kind.
#[derive(Debug, Default)]
struct Counts {
    files: usize,
    records: usize,
    passed: usize,
    lack_data: usize,
    known: Vec<usize>,
    unknown: Vec<String>,
    /// Known records that pass, and that fail.
    passing: BTreeSet<String>,
    failing: BTreeSet<String>,
}

fn main() -> ExitCode {
    // Deep plans, without optimization.
    let runtime =
        tokio::runtime::Builder::new_multi_thread().enable_all().thread_stack_size(16 << 20).build();
    let done = runtime.map_err(Failure::from).and_then(|runtime| {
        let all = runtime.spawn(async { all(&Args::parse()).await });
        runtime.block_on(all)?
    });
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

async fn all(args: &Args) -> Result<bool, Failure> {
    let known = match &args.known {
        Some(path) => Known::parse(&std::fs::read_to_string(path)?)?,
        None => Known::default(),
    };
    let (mut counts, mut pushing) = (Counts::default(), Counts::default());
    counts.known = vec![0; known.reasons.len()];
    pushing.known = counts.known.clone();
    for name in files(args)? {
        let Some(theirs) = of_task(&args.folder, &name, Reader::Theirs).await? else {
            println!("{}: no session", name.display());
            continue;
        };
        for (reader, counts) in [(Reader::Ours, &mut counts), (Reader::OursPushingDown, &mut pushing)] {
            let ours = of_task(&args.folder, &name, reader).await?.unwrap_or_default();
            counts.count(&name, &theirs, &ours, &known, reader);
        }
    }
    println!("with the settings that the tests expect");
    counts.print(&known, args.verbose);
    println!("with conditions asked while files are read: values only, as plans are others");
    pushing.print(&known, args.verbose);
    // A reason may be one of the other settings.
    let mut is_fine = counts.unknown.is_empty() && pushing.unknown.is_empty();
    for place in counts.passing.difference(&pushing.failing) {
        println!("{place}: passes, and is among the known records");
        is_fine = false;
    }
    Ok(is_fine)
}

/// In a task of its own, so that a panic is a failure of that file.
async fn of_task(folder: &Path, name: &Path, reader: Reader) -> Result<Option<Outcomes>, Failure> {
    let (folder, named) = (folder.to_owned(), name.to_owned());
    match tokio::spawn(async move { run(&folder, &named, reader).await }).await {
        Ok(outcomes) => outcomes,
        Err(panic) => Err(format!("{}: {panic}", name.display()).into()),
    }
}

/// The files that name Parquet.
fn files(args: &Args) -> Result<BTreeSet<PathBuf>, Failure> {
    let mut names = BTreeSet::new();
    for path in read_dir_recursive(&args.folder)? {
        let name = path.strip_prefix(&args.folder)?.to_owned();
        let is_one = path.extension().is_some_and(|extension| extension == "slt");
        if is_one
            && name.to_string_lossy().contains(&args.only)
            && std::fs::read_to_string(&path)?.to_lowercase().contains("parquet")
        {
            names.insert(name);
        }
    }
    Ok(names)
}

impl Counts {
    fn count(&mut self, name: &Path, theirs: &Outcomes, ours: &Outcomes, known: &Known, reader: Reader) {
        self.files += 1;
        for (key, their) in theirs {
            if reader == Reader::OursPushingDown && their.is_plan {
                continue;
            }
            self.records += 1;
            let place = format!("{}:{}", key.0, key.1);
            let error = match ours.get(key) {
                Some(outcome) => outcome.error.clone(),
                None => Some("not run".to_owned()),
            };
            match (&their.error, error, known.records.get(key)) {
                (Some(_), _, _) => self.lack_data += 1,
                (None, None, None) => self.passed += 1,
                (None, None, Some(_)) => {
                    self.passed += 1;
                    self.passing.insert(place);
                }
                (None, Some(_), Some(reason)) => {
                    self.known[*reason] += 1;
                    self.failing.insert(place);
                }
                (None, Some(error), None) => {
                    let of =
                        if key.0 == name.to_string_lossy() { "" } else { &*format!(" ({})", name.display()) };
                    self.unknown.push(format!("{place}{of}: {error}"));
                }
            }
        }
    }

    fn print(&self, known: &Known, is_verbose: bool) {
        println!("  {} files, {} records: {} pass", self.files, self.records, self.passed);
        println!("  {} fail with DataFusion's own Parquet, too: their data is not here", self.lack_data);
        for (reason, count) in known.reasons.iter().zip(&self.known) {
            println!("  {count} known: {reason}");
        }
        println!("  {} fail", self.unknown.len());
        for error in &self.unknown {
            println!("    {}", if is_verbose { error } else { error.lines().next().unwrap_or_default() });
        }
    }
}
