//! Starts a sibling program, as git does for commands that others bring.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Command;

/// A program in the folder of the running program, or on the PATH.
///
/// ```
/// use marquetry_base::SiblingProgram;
/// assert!(SiblingProgram::find("marquetry-nobody-has-this").is_none());
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SiblingProgram {
    path: PathBuf,
}

impl SiblingProgram {
    /// Finds the program of this name, without the system's suffix such as `.exe`: in the folder of the running
    /// program, or else the first on the PATH. Returns `None` if there is none.
    pub fn find(name: &str) -> Option<Self> {
        let own = std::env::current_exe().ok();
        let path = std::env::var_os("PATH");
        find(name, own.as_deref().and_then(Path::parent), path.as_deref())
    }

    /// Replaces this process by the program, with these arguments. Where a process cannot be replaced, runs the program
    /// and returns its exit code. Fails, with a sentence that names the program, if it cannot be run.
    pub fn become_it(&self, arguments: impl IntoIterator<Item = OsString>) -> Result<u8, String> {
        let mut command = Command::new(&self.path);
        command.args(arguments);
        replace(command).map_err(|error| format!("{} cannot be run: {error}", self.path.display()))
    }
}

#[cfg(unix)]
fn replace(mut command: Command) -> std::io::Result<u8> {
    // `exec` returns only after an error.
    Err(std::os::unix::process::CommandExt::exec(&mut command))
}

#[cfg(not(unix))]
fn replace(mut command: Command) -> std::io::Result<u8> {
    let code = command.status()?.code().and_then(|code| u8::try_from(code).ok());
    Ok(code.unwrap_or(1))
}

fn find(name: &str, beside: Option<&Path>, path: Option<&OsStr>) -> Option<SiblingProgram> {
    let name = format!("{name}{}", std::env::consts::EXE_SUFFIX);
    let folders = path.map(std::env::split_paths).into_iter().flatten();
    let mut candidates =
        beside.map(Path::to_owned).into_iter().chain(folders).map(|folder| folder.join(&name));
    candidates.find(|candidate| candidate.is_file()).map(|path| SiblingProgram { path })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_beside_us_comes_first() {
        let folder = std::env::temp_dir().join(format!("marquetry-siblings-{}", std::process::id()));
        let (beside, other) = (folder.join("beside"), folder.join("other"));
        for folder in [&beside, &other] {
            std::fs::create_dir_all(folder).unwrap();
        }
        let name = format!("program{}", std::env::consts::EXE_SUFFIX);
        let path = std::env::join_paths([&other]).unwrap();
        let found = || find("program", Some(&beside), Some(&path)).map(|program| program.path);
        assert_eq!(found(), None);
        std::fs::write(other.join(&name), "").unwrap();
        assert_eq!(found(), Some(other.join(&name)));
        std::fs::write(beside.join(&name), "").unwrap();
        assert_eq!(found(), Some(beside.join(&name)));
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn what_cannot_be_run_is_named() {
        let program = SiblingProgram { path: PathBuf::from("no/such/program") };
        let error = program.become_it([]).unwrap_err();
        assert!(error.starts_with("no/such/program cannot be run: "), "{error}");
    }
}
