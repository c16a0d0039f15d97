//! The program `marquetry`.
#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(marquetry_cli::main(std::env::args_os()))
}
