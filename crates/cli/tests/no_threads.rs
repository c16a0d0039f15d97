//! Where the system has no threads to give, commands do without: slower, with the same result.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// More than any address space has: no thread of the command can be started.
const STACK: &str = "1125899906842624";

fn marquetry(arguments: &[&str], threads: bool) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_marquetry"));
    if !threads {
        command.env("RUST_MIN_STACK", STACK);
    }
    command.args(arguments).output().expect("the binary runs")
}

fn directory(test: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("no_threads").join(test);
    let _ = fs::remove_dir_all(&path);
    fs::create_dir_all(&path).expect("a directory");
    path
}

#[test]
fn commands_do_without_threads() {
    let directory = directory("all");
    let at = |name: &str| directory.join(name).to_str().expect("a name in UTF-8").to_owned();
    let wines = format!("{}/../../examples/wines.parquet", env!("CARGO_MANIFEST_DIR"));
    let both = |threads: bool, arguments: &[&str]| {
        let output = marquetry(arguments, threads);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {errors}");
        output.stdout
    };
    let (csv, long) = (at("wines.csv"), at("long.parquet"));
    both(true, &["convert", &wines, &csv]);
    let many = vec![&*wines; 400];
    both(true, &[&["merge"], &many[..], &[&long]].concat());
    let files: [(&str, &[&str]); 4] = [
        ("parquet", &["convert", &long, "OUT", "--threads", "4"]),
        ("parquet", &["convert", &long, "OUT", "--threads", "4", "--sort-by", "price,name"]),
        ("csv", &["convert", &long, "OUT"]),
        ("jsonl", &["convert", &csv, "OUT"]),
    ];
    for (number, (extension, arguments)) in files.into_iter().enumerate() {
        let written = [true, false].map(|threads| {
            let out = at(&format!("{number}-{threads}.{extension}"));
            let arguments: Vec<&str> = arguments
                .iter()
                .map(|argument| if *argument == "OUT" { out.as_str() } else { argument })
                .collect();
            both(threads, &arguments);
            fs::read(out).expect("a file")
        });
        assert!(written[0] == written[1], "{arguments:?}");
    }
    for arguments in [
        &["verify", "--deep", "--threads", "4", &long, &wines][..],
        &["cat", &long, "--where", "price > 20", "--limit", "1000"],
        &["count", &long, "--where", "price > 20"],
    ] {
        assert_eq!(both(true, arguments), both(false, arguments), "{arguments:?}");
    }
    // A file without a footer, of more bytes than are searched by one thread.
    let cut = at("cut.parquet");
    let bytes = fs::read(&long).expect("a file");
    fs::write(&cut, &bytes[..bytes.len() - 100]).expect("a file");
    let recovered = [true, false].map(|threads| {
        let out = at(&format!("recovered-{threads}.parquet"));
        let output = marquetry(&["recover", &cut, &out, "--schema-from", &wines], threads);
        (
            output.status.code(),
            String::from_utf8_lossy(&output.stderr).replace(&out, "OUT"),
            fs::read(&out).ok(),
        )
    });
    assert!(recovered[0] == recovered[1], "{:?} {:?}", recovered[0].1, recovered[1].1);
}
