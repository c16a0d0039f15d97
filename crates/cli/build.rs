//! Asks the linker to leave out of the small command what it has no use for: a quarter of it.
//!
//! | option | of the 20 MB of the release build | why they are not needed |
//! |---|--:|---|
//! | `--icf=all` | 1.0 | functions with the same code become one |
//! | `pack-relative-relocs` | 1.7 | places that the loader fills in are listed by a bit each (`DT_RELR`, glibc 2.36) |
//! | no `.eh_frame` | 2.5 | a panic ends the program at once: nothing unwinds |
//!
//! Not every linker and C library knows them, so a small program is linked with each and run.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

const WITHOUT_UNWIND_TABLES: &str = "SECTIONS { /DISCARD/ : { *(.eh_frame) *(.gcc_except_table .gcc_except_table.*) } } INSERT AFTER .text;\n";

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    // The profiles `release` and `compact`, in which a panic aborts.
    let is_small = matches!(variable("OPT_LEVEL").as_str(), "s" | "z");
    // What is built for another machine can't be run here.
    let runs_here = variable("HOST") == variable("TARGET") && variable("CARGO_CFG_TARGET_OS") == "linux";
    let folder = PathBuf::from(variable("OUT_DIR"));
    let script = folder.join("without_unwind_tables.ld");
    if !is_small || !runs_here || fs::write(&script, WITHOUT_UNWIND_TABLES).is_err() {
        return;
    }
    let without_unwind_tables = format!("-Wl,--no-eh-frame-hdr,-T,{}", script.display());
    for option in ["-Wl,--icf=all", "-Wl,-z,pack-relative-relocs", &without_unwind_tables] {
        if works(option, &folder) {
            println!("cargo::rustc-link-arg-bins={option}");
        }
    }
}

/// Whether a program that is linked with `option` runs.
fn works(option: &str, folder: &Path) -> bool {
    let (source, program) = (folder.join("probe.rs"), folder.join("probe"));
    if fs::write(&source, "fn main() {}\n").is_err() {
        return false;
    }
    let mut compiler = Command::new(variable("RUSTC"));
    // Flags of the user may choose the linker.
    compiler.args(variable("CARGO_ENCODED_RUSTFLAGS").split('\x1f').filter(|flag| !flag.is_empty()));
    if let Ok(linker) = env::var("RUSTC_LINKER") {
        compiler.arg(format!("-Clinker={linker}"));
    }
    compiler.arg("-Cpanic=abort").arg(format!("-Clink-arg={option}"));
    compiler.arg("-o").arg(&program).arg(&source);
    succeeds(&mut compiler) && succeeds(&mut Command::new(&program))
}

fn succeeds(command: &mut Command) -> bool {
    command.output().is_ok_and(|output| output.status.success())
}

/// A variable that Cargo sets; empty without Cargo.
fn variable(name: &str) -> String {
    env::var(name).unwrap_or_default()
}
