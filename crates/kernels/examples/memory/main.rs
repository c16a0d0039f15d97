//! What memory costs on Linux: `cargo run --profile dist -p marquetry-kernels --example memory [FILE]`.
//!
//! Without a file: copies within each cache, pages that are touched for the first time, and blocks that are allocated,
//! filled and freed. With one: mapping it against reading it, from the page cache.

#[cfg(target_os = "linux")]
mod blocks;
#[cfg(target_os = "linux")]
mod files;
#[cfg(target_os = "linux")]
mod pages;
#[cfg(target_os = "linux")]
mod region;

#[cfg(not(target_os = "linux"))]
fn main() {
    println!("What is measured here are calls of Linux.");
}

#[cfg(target_os = "linux")]
fn main() -> std::io::Result<()> {
    use std::fs::{File, read_to_string};
    let cpus = read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = cpus.lines().find(|line| line.starts_with("model name"));
    println!("CPU: {}\n", model.and_then(|line| line.split(": ").nth(1)).unwrap_or("not told"));
    let huge = read_to_string("/sys/kernel/mm/transparent_hugepage/enabled").unwrap_or_default();
    println!("transparent_hugepage/enabled: `{}`\n", huge.trim_end());
    match std::env::args().nth(1) {
        Some(path) => files::all(&File::open(path)?),
        None => {
            pages::copies()?;
            pages::first_touches()?;
            blocks::all();
            Ok(())
        }
    }
}
