//! `sql`: hands over to `marquetry-sql`, as git does to commands of its own.

use crate::failure::Failure;
use clap::Args as ClapArgs;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// For the list of commands: what they are is up to the other program.
#[derive(Debug, ClapArgs)]
pub(crate) struct SqlArgs {
    /// What marquetry-sql takes: a statement, and options; `marquetry sql --help` lists them
    #[arg(value_name = "ARGUMENTS", trailing_var_arg = true, allow_hyphen_values = true)]
    _arguments: Vec<OsString>,
}

pub(crate) const SQL_HELP: &str = "\
The engine is a program of its own, marquetry-sql, beside this one or on the PATH:
  cargo install --path crates/sql --profile dist

Examples:
  marquetry sql \"select country, count(*) from 'wines.parquet' group by country\"
  marquetry sql";

/// The arguments behind `sql`, if that is the command: they are none of ours, whatever they are called.
pub(crate) fn arguments(all: impl IntoIterator<Item = OsString>) -> Option<Vec<OsString>> {
    let mut all = all.into_iter().skip(1);
    (all.next()? == "sql").then(|| all.collect())
}

/// Becomes `marquetry-sql`, or runs it.
pub(crate) fn run(arguments: &[OsString]) -> Result<ExitCode, Failure> {
    let own = std::env::current_exe().ok();
    let path = std::env::var_os("PATH");
    let Some(program) = find(own.as_deref().and_then(Path::parent), path.as_deref()) else {
        return Err(Failure::Usage(format!(
            "`sql` is a program of its own, {PROGRAM}, which is neither beside this one nor on the PATH; install it with \
             `cargo install --path crates/sql --profile dist`"
        )));
    };
    let mut command = Command::new(&program);
    command.args(arguments);
    replace(command).map_err(|error| Failure::Usage(format!("{} cannot be run: {error}", program.display())))
}

#[cfg(unix)]
fn replace(mut command: Command) -> std::io::Result<ExitCode> {
    // Only an error comes back.
    Err(std::os::unix::process::CommandExt::exec(&mut command))
}

#[cfg(not(unix))]
fn replace(mut command: Command) -> std::io::Result<ExitCode> {
    let code = command.status()?.code().and_then(|code| u8::try_from(code).ok());
    Ok(ExitCode::from(code.unwrap_or(1)))
}

/// The program beside us, or the first on the path.
fn find(beside: Option<&Path>, path: Option<&OsStr>) -> Option<PathBuf> {
    let name = format!("{PROGRAM}{}", std::env::consts::EXE_SUFFIX);
    let folders = path.map(std::env::split_paths).into_iter().flatten();
    let mut candidates =
        beside.map(Path::to_owned).into_iter().chain(folders).map(|folder| folder.join(&name));
    candidates.find(|candidate| candidate.is_file())
}

const PROGRAM: &str = "marquetry-sql";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_behind_sql_is_not_ours() {
        let of = |all: &[&str]| arguments(all.iter().map(OsString::from));
        assert_eq!(of(&["marquetry", "sql", "--format", "csv"]), Some(vec!["--format".into(), "csv".into()]));
        assert_eq!(of(&["marquetry", "sql"]), Some(Vec::new()));
        assert_eq!(of(&["marquetry", "head", "sql"]), None);
        assert_eq!(of(&["marquetry"]), None);
    }

    #[test]
    fn the_program_beside_us_comes_first() {
        let (beside, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let name = format!("{PROGRAM}{}", std::env::consts::EXE_SUFFIX);
        let path = std::env::join_paths([other.path()]).unwrap();
        assert_eq!(find(Some(beside.path()), Some(&path)), None);
        std::fs::write(other.path().join(&name), "").unwrap();
        assert_eq!(find(Some(beside.path()), Some(&path)), Some(other.path().join(&name)));
        std::fs::write(beside.path().join(&name), "").unwrap();
        assert_eq!(find(Some(beside.path()), Some(&path)), Some(beside.path().join(&name)));
    }
}
