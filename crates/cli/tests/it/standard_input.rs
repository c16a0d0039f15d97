//! Commands read a Parquet file from standard input.

use crate::command;
use crate::command::{success, wines};

/// `-` is standard input for whoever reads one Parquet file.
#[test]
fn standard_input_is_a_file() {
    let bytes = std::fs::read(wines()).expect("the example");
    let wines = wines();
    for arguments in [
        vec!["count"],
        vec!["meta"],
        vec!["schema"],
        vec!["pages"],
        vec!["size"],
        vec!["index"],
        vec!["verify", "--deep"],
        vec!["head", "-n", "3"],
        vec!["cat", "--columns", "name", "--where", "year > 2015"],
        vec!["count", "--where", "year > 2015"],
        vec!["dictionary", "--column", "country"],
    ] {
        let named = |file: &'static str| arguments.iter().copied().chain([file]).collect::<Vec<_>>();
        let expected = success(&arguments.iter().copied().chain([wines.as_str()]).collect::<Vec<_>>());
        let found = String::from_utf8(command::piped(&named("-"), &bytes)).expect("text");
        assert_eq!(found, expected.replace(&wines, "-"), "{arguments:?}");
    }
    // Input that is not a Parquet file gives one error, with the name `-`.
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_marquetry"));
    let output =
        command.args(["count", "-"]).stdin(std::process::Stdio::null()).output().expect("the binary runs");
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{errors}");
    assert!(errors.starts_with("marquetry: -: ") && errors.lines().count() == 1, "{errors}");
}
