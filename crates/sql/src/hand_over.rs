//! `--cluster`: starts `marquetry-ballista`, so that this command does not contain a second engine.

use marquetry_base::SiblingProgram;
use std::ffi::OsString;
use std::process::ExitCode;

/// Becomes `marquetry-ballista sql` with our arguments, or runs it.
pub(crate) fn to_ballista() -> ExitCode {
    let Some(program) = SiblingProgram::find(PROGRAM) else {
        eprintln!(
            "marquetry-sql: queries on clusters need the program {PROGRAM}, which is neither beside this one nor on the PATH; \
             install it with `cargo install --path crates/ballista`"
        );
        return ExitCode::from(2);
    };
    let arguments = std::iter::once(OsString::from("sql")).chain(std::env::args_os().skip(1));
    let code = program.become_it(arguments).unwrap_or_else(|error| {
        eprintln!("marquetry-sql: {error}");
        2
    });
    ExitCode::from(code)
}

const PROGRAM: &str = "marquetry-ballista";
