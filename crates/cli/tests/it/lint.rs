//! `lint`: profiles, what they find, and annotations.

use crate::command::{Folder, everything, success, wines};
use std::process::Command;

#[test]
fn limits_and_severities() {
    let folder = Folder::new("lint");
    let strict = folder
        .write("strict.toml", "level = 'quick'\n[limits]\nrow-group-rows = { max = 50 }\ncodecs = ['lzo']\n");
    let (code, text) = everything(&["lint", "--profile", &strict, &wines()]);
    assert_eq!(code, Some(1), "{text}");
    assert!(
        text.contains("house-row-group-rows: 100 rows, and 50 at most are wanted, in row group 0"),
        "{text}"
    );
    assert!(text.contains("style      house-codec") && text.contains("is not among lzo"), "{text}");

    let lenient = folder.write(
        "lenient.toml",
        "fail = 'invalid'\n[severity]\nhouse-codec = 'off'\nhouse = 'suspicious'\n[limits]\nrow-group-rows = { max = 50 }\ncodecs = ['lzo']\n",
    );
    let (code, text) = everything(&["lint", "--profile", &lenient, &wines()]);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("suspicious house-row-group-rows") && !text.contains("house-codec"), "{text}");
    let json: serde_json::Value =
        serde_json::from_str(&success(&["lint", "--profile", &lenient, &wines(), "--format", "json"]))
            .unwrap();
    assert_eq!(
        (&json["worst"], &json["findings"][0]["severity"]),
        (&"suspicious".into(), &"suspicious".into())
    );
    let sarif = success(&["lint", "--profile", &lenient, &wines(), "--format", "sarif"]);
    let sarif: serde_json::Value = serde_json::from_str(&sarif).unwrap();
    let result = &sarif["runs"][0]["results"][0];
    let rule = &sarif["runs"][0]["tool"]["driver"]["rules"][result["ruleIndex"].as_u64().unwrap() as usize];
    assert_eq!((&result["level"], &rule["id"]), (&"warning".into(), &"house-row-group-rows".into()));
}

#[test]
fn annotations_of_github() {
    let folder = Folder::new("lint-github");
    let profile = folder.write(
        "p.toml",
        "fail = 'corrupt'\n[severity]\nhouse = 'invalid'\n[limits]\ncolumns = { max = 2 }\n",
    );
    let lines = success(&["lint", "--profile", &profile, &wines(), "--format", "github"]);
    let name = wines().replace(':', "%3A");
    assert_eq!(
        lines,
        format!("::error file={name},title=house-columns::9 columns, and 2 at most are wanted\n")
    );
    let (code, text) = everything(&["count", &wines(), "--format", "github"]);
    assert_eq!(code, Some(2), "{text}");
}

#[test]
fn the_profile_of_a_folder_is_found() {
    let folder = Folder::new("lint-found");
    folder.write(".marquetry.toml", "[limits]\ncolumns = { max = 2 }\n");
    let inner = folder.path("a/b");
    std::fs::create_dir_all(&inner).unwrap();
    let run = |arguments: &[&str]| {
        let wines = std::path::absolute(wines()).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_marquetry"));
        command.arg("lint").arg(wines).args(arguments).current_dir(&inner).output().unwrap()
    };
    let found = run(&[]);
    assert_eq!(found.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&found.stdout).contains("house-columns"));
    let own = folder.write("own.toml", "");
    assert_eq!(
        run(&["--profile", &std::path::absolute(own).unwrap().to_string_lossy()]).status.code(),
        Some(0)
    );
    let wrong = folder.write("wrong.toml", "levl = 1");
    let wrong = run(&["--profile", &std::path::absolute(wrong).unwrap().to_string_lossy()]);
    assert_eq!(wrong.status.code(), Some(2));
    let said = String::from_utf8_lossy(&wrong.stderr).into_owned();
    assert!(said.contains("wrong.toml: line 1: levl is nothing that a profile says"), "{said}");
}
