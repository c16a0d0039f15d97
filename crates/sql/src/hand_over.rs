//! `--cluster`: hands over to `marquetry-ballista`, so that this command does not grow by another engine.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// Becomes `marquetry-ballista sql` with our arguments, or runs it.
pub(crate) fn to_ballista() -> ExitCode {
    let own = std::env::current_exe().ok();
    let path = std::env::var_os("PATH");
    let Some(program) = find(own.as_deref().and_then(Path::parent), path.as_deref()) else {
        eprintln!(
            "marquetry-sql: clusters are asked by a program of its own, {PROGRAM}, which is neither beside this one nor on the PATH; \
             install it with `cargo install --path crates/ballista`"
        );
        return ExitCode::from(2);
    };
    let mut command = Command::new(&program);
    command.arg("sql").args(std::env::args_os().skip(1));
    replace(command).unwrap_or_else(|error| {
        eprintln!("marquetry-sql: {} cannot be run: {error}", program.display());
        ExitCode::from(2)
    })
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

const PROGRAM: &str = "marquetry-ballista";
