//! What `--help` shows as examples is done, each by a shell, beside files of the names and the columns that they speak of.
#![cfg(unix)]

use crate::command::{Folder, marquetry, success, wines};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// What an example needs that is not here: a store, a terminal, keys, another program.
const ELSEWHERE: [&str; 5] = ["://", "marquetry dive", "marquetry serve", "keys.json", "psql"];

/// The examples of all commands, each on a line.
fn examples() -> Vec<String> {
    let help = success(&["--help"]);
    let commands = help.split_once("Commands:").expect("commands").1;
    let commands = commands.split_once("Options:").expect("options").0;
    let is_name = |line: &&str| line.starts_with("  ") && !line.starts_with("   ");
    let names = commands.lines().filter(is_name).filter_map(|line| line.split_whitespace().next());
    let mut all: Vec<Vec<&str>> = names.filter(|name| *name != "help").map(|name| vec![name]).collect();
    all.extend([vec!["meta", "set"], vec!["meta", "unset"]]);
    let mut examples = Vec::new();
    for command in all {
        let help = success(&[&command[..], &["--help"]].concat());
        let Some((_, lines)) = help.split_once("Examples:\n") else { continue };
        let lines = lines.trim_end().replace("\\\n", " ");
        examples.extend(lines.lines().map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned));
    }
    examples
}

/// The line in `folder`, where `marquetry` is ours, and nothing is at home.
fn shell(line: &str, folder: &Path) -> Output {
    let ours = Path::new(env!("CARGO_BIN_EXE_marquetry")).parent().expect("a directory");
    let path = std::env::var("PATH").unwrap_or_default();
    Command::new("sh")
        .args(["-c", line])
        .current_dir(folder)
        .env("PATH", format!("{}:{path}", ours.display()))
        .env("HOME", folder)
        .stdin(Stdio::null())
        .output()
        .expect("a shell")
}

const FILES: [(&str, &str); 12] = [
    (
        "events.jsonl",
        concat!(
            "{\"id\":1,\"user\":\"a\",\"at\":\"2024-02-01T10:00:00Z\",\"payload\":{\"user\":{\"id\":5}}}\n",
            "{\"id\":2,\"user\":\"b\",\"at\":\"2024-02-01T11:00:00Z\",\"payload\":{\"user\":{\"id\":6}}}\n"
        ),
    ),
    (
        "rows.jsonl",
        concat!(
            "{\"id\":1,\"name\":\"oak\",\"country\":\"DE\",\"year\":2021,\"price\":120.5,\"amount\":200,\"day\":\"2024-02-01\",",
            "\"user\":{\"id\":7},\"address\":{\"town\":\"Bonn\"},\"event\":{\"kind\":\"a\"},\"payload\":{\"user\":{\"id\":5}},\"debug\":\"x\",\"usr\":\"y\",",
            "\"last, first\":\"z\"}\n{\"id\":2,\"name\":\"elm\",\"country\":\"FR\",\"year\":2020,\"price\":9.5,\"amount\":2,",
            "\"day\":\"2023-02-01\",\"user\":{\"id\":8},\"address\":{\"town\":\"Paris\"},\"event\":{\"kind\":\"b\"},\"payload\":{\"user\":{\"id\":6}},\"debug\":\"x\",",
            "\"usr\":\"y\",\"last, first\":\"a\"}\n"
        ),
    ),
    ("api.json", "[{\"id\":1,\"x\":\"a\"},{\"id\":2,\"x\":3}]"),
    ("data.csv", "zip,price,at\n007,1.50,2024-01-01T00:00:00Z\n"),
    ("big.csv", "a\n1\n"),
    ("dump.csv", "a\n\"x\\\"\"\n\\N\n"),
    ("export.csv", "title\n\n\na\tb\n#\n1\n"),
    ("images.csv", "path\nimages/a.png\n"),
    ("images/a.png", "png"),
    (
        "places.geojson",
        "{\"type\":\"FeatureCollection\",\"features\":[{\"type\":\"Feature\",\"properties\":{\"n\":1},\"geometry\":{\"type\":\"Point\",\"coordinates\":[1,2]}}]}",
    ),
    ("queries.sql", "select * from t where year > 2020;\n"),
    ("data.toml", ""),
];

/// What the examples speak of.
const SETUP: &str = "set -e
mkdir -p data parts days logs warehouse/events warehouse/wines/year=2020 warehouse/wines/year=2021
mkdir -p .zfunc .local/share/bash-completion/completions .config/fish/completions
marquetry convert rows.jsonl data.parquet --schema 'id int64 !, payload variant, event variant, day date' --report none
for name in big old table before after 2025 2026 pandas duckdb year new data/1 data/2 parts/1 days/1 warehouse/1 warehouse/events/1
do cp data.parquet $name.parquet; done
cp data.parquet .being-written.parquet.tmp
cp events.jsonl logs/1.jsonl
gzip -c data.csv > data.csv.gz
marquetry rewrite wines.parquet warehouse/wines/year=2020/a.parquet --drop year
cp warehouse/wines/year=2020/a.parquet warehouse/wines/year=2021/
cp wines.parquet new-wines.parquet
marquetry convert places.geojson made.parquet --report none
marquetry rewrite made.parquet places.parquet --rename geometry=geom
marquetry convert images.csv images.parquet --file path=reference --report none
marquetry convert rows.jsonl yesterday.parquet --columns id,name --schema 'id int64 !' --report none
cp yesterday.parquet today.parquet
cp yesterday.parquet served.parquet
cp yesterday.parquet broken.parquet";

#[test]
fn examples_do_what_they_say() {
    let folder = Folder::new("help-examples");
    let fixture = folder.path("fixture");
    for name in ["fixture", "fixture/images"] {
        std::fs::create_dir(folder.path(name)).expect("a directory");
    }
    FILES.iter().for_each(|(name, text)| {
        folder.write(&format!("fixture/{name}"), text);
    });
    std::fs::copy(wines(), format!("{fixture}/wines.parquet")).expect("a copy");
    let made = shell(SETUP, Path::new(&fixture));
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let (mut count, mut wrong) = (0, Vec::new());
    for example in examples() {
        if ELSEWHERE.iter().any(|what| example.contains(what)) {
            continue;
        }
        count += 1;
        let inside = folder.path(&format!("{count}"));
        let copied = shell(&format!("cp -r '{fixture}' '{inside}'"), Path::new(&fixture));
        assert!(copied.status.success());
        // What it makes may be what another one reads.
        let (line, made) = match example.strip_prefix("mkdir parts && ") {
            Some(rest) => (rest, "rm -r parts; mkdir parts; "),
            None => (&*example, ""),
        };
        let words: Vec<&str> = line.splitn(3, ' ').collect();
        let replaces = matches!(words[1], "convert" | "rewrite" | "merge" | "optimize" | "recover");
        let is_told = line.contains("--overwrite") || !replaces;
        let line = match is_told {
            true => line.to_owned(),
            false => format!("{} {} --overwrite {}", words[0], words[1], words[2]),
        };
        let done = shell(&format!("{made}{line}"), Path::new(&inside));
        if !done.status.success() {
            wrong.push(format!("{example}: {}", String::from_utf8_lossy(&done.stderr)));
        }
        std::fs::remove_dir_all(&inside).expect("a directory");
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(count > 80, "{count}");
}

/// All keys that are in JSON, at any depth.
fn keys(value: &Value, out: &mut BTreeSet<String>) {
    match value {
        Value::Object(members) => members.iter().for_each(|(key, value)| {
            out.insert(key.clone());
            keys(value, out);
        }),
        Value::Array(values) => values.iter().for_each(|value| keys(value, out)),
        _ => {}
    }
}

#[test]
fn keys_of_json_are_told_in_help() {
    let folder = Folder::new("help-keys");
    let (wines, out) = (wines(), |name: &str| folder.path(name));
    std::fs::create_dir(out("parts")).expect("a directory");
    let (one, two, three, parts) = (out("1.parquet"), out("2.parquet"), out("3.parquet"), out("parts"));
    // The command whose help names the keys, and arguments that print them.
    let commands: [(&str, &[&str]); 22] = [
        ("schema", &["schema", &wines]),
        ("meta", &["meta", &wines]),
        ("pages", &["pages", &wines]),
        ("dictionary", &["dictionary", "-c", "country", &wines]),
        ("index", &["index", &wines]),
        ("count", &["count", &wines]),
        ("size", &["size", &wines]),
        ("stats", &["stats", &wines]),
        ("explain", &["explain", &wines, "--where", "year > 2000", "--scan"]),
        ("verify", &["verify", &wines]),
        ("verify", &["lint", &wines]),
        ("rules", &["rules"]),
        ("convert", &["convert", &wines, &one]),
        ("rewrite", &["rewrite", &wines, &two]),
        ("rewrite", &["merge", &wines, &wines, &three]),
        ("split", &["split", &wines, "--rows", "100", "--out-dir", &parts]),
        ("append", &["append", &two, &wines]),
        ("append", &["drop-row-group", &two, "0"]),
        ("append", &["meta", "set", &two, "a=b"]),
        ("summary", &["summary", &parts]),
        ("diff", &["diff", &wines, &two]),
        ("recover", &["recover", &wines, &out("4.parquet")]),
    ];
    for (helps, arguments) in commands {
        let printed = marquetry(&[arguments, &["--format", "json"]].concat()).stdout;
        let printed = String::from_utf8(printed).expect("output in UTF-8");
        let mut found = BTreeSet::new();
        for line in printed.lines() {
            keys(&serde_json::from_str(line).expect("JSON on each line"), &mut found);
        }
        let help = success(&[helps, "--help"]);
        let words: BTreeSet<&str> = help.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
        let missing: Vec<_> = found.iter().filter(|key| !words.contains(key.as_str())).collect();
        assert!(missing.is_empty() && !found.is_empty(), "{arguments:?}: {missing:?}");
        if helps != arguments[0] {
            // The help of the one leads to that of the other.
            let own = success(&[&arguments[..1 + usize::from(arguments[0] == "meta")], &["--help"]].concat());
            assert!(own.contains(&format!("marquetry {helps} --help")), "{arguments:?}");
        }
    }
}
