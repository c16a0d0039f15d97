//! Names that steer terminals, FIFOs, and arguments that begin with a hyphen.

use crate::command::{Folder, everything, failure, success, wines};

/// A column and a file whose names have an escape sequence, a title, C1, a mark of direction and the end of a line.
const NAME: &str = "col\u{1b}[31mRED\u{1b}]0;PWN\u{7}\u{202e}x\u{2066}\u{9b}31m\r\ny";

fn is_harmless(text: &str, command: &[&str]) {
    let steers = |c: char| {
        c != '\n' && (c.is_control() || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'))
    };
    assert!(!text.contains(steers), "{command:?}: {text:?}");
    // The name began no line.
    assert!(!text.lines().any(|line| line.starts_with('y')), "{command:?}: {text}");
}

#[test]
fn no_command_steers_the_terminal() {
    let folder = Folder::new("no_command_steers_the_terminal");
    let escaped: String = NAME
        .chars()
        .map(|c| match c {
            c if c.is_control() || !c.is_ascii() => format!("\\u{:04x}", u32::from(c)),
            c => c.to_string(),
        })
        .collect();
    let lines = folder.write("in.jsonl", &format!("{{\"{escaped}\": \"{escaped}\", \"n\": 1}}\n"));
    let file = folder.path(&format!("{}.parquet", NAME.replace('\n', "")));
    is_harmless(&everything(&["convert", &lines, &file, "--overwrite"]).1, &["convert"]);
    let damaged = folder.path(&format!("{}-.parquet", NAME.replace('\n', "")));
    let mut bytes = std::fs::read(&file).unwrap();
    bytes[10..40].fill(0xff);
    std::fs::write(&damaged, bytes).unwrap();
    let none = folder.path(NAME);
    let out = folder.path("out.parquet");
    for path in [&file, &damaged, &none] {
        for command in [
            &["schema"][..],
            &["schema", "--arrow"],
            &["meta"],
            &["pages"],
            &["index"],
            &["dictionary", "--column", "n"],
            &["head"],
            &["count"],
            &["count", "--where", "n = 1"],
            &["size"],
            &["verify", "--deep"],
            &["explain", "--where", "n = 1", "--scan"],
            &["rewrite", &out, "--overwrite"],
            &["recover", &out, "--overwrite"],
            &["recover", &folder.path(NAME), "--overwrite"],
            &["meta", "set", &out, NAME],
            &["drop-row-group", "7"],
            &["append", &wines()],
            &["merge", &wines(), &out, "--overwrite"],
            &["split", "--rows", "1", "--name", NAME],
            &[
                "split",
                "--rows",
                "1",
                "--name",
                "x{}\u{1b}.parquet",
                "--overwrite",
                "--out-dir",
                &folder.path(""),
            ],
            &["convert", &out, "--report", "json", "--overwrite"],
            &["no such command"],
            &["count", NAME],
            // What the user wrote may have lines.
            &["cat", "--columns", NAME, "--where", &NAME.replace('\n', "")],
        ] {
            let at = 1 + usize::from(command.get(1) == Some(&"set"));
            let named = [&command[..at], &[path], &command[at..]].concat();
            // Rows as JSON are data: through a pipe they are as they are.
            let is_of_rows = matches!(command[0], "head" | "cat");
            let formats = [&[][..], &["--format", "json"]];
            for format in formats.into_iter().take(if is_of_rows { 1 } else { 2 }) {
                let all = [&named, format].concat();
                is_harmless(&everything(&all).1, &all);
            }
            if matches!(command[0], "count" | "schema" | "meta" | "verify") {
                let twice = [&named[..], &[path]].concat();
                is_harmless(&everything(&twice).1, &twice);
            }
        }
    }
}

/// Other kinds of files are named for what they are, and nothing waits for somebody to write.
#[cfg(unix)]
#[test]
fn what_is_no_file_is_named() {
    let folder = Folder::new("what_is_no_file_is_named");
    let fifo = folder.path("x.parquet");
    let made = std::process::Command::new("mkfifo").arg(&fifo).status().unwrap();
    assert!(made.success());
    let directory = folder.path("");
    let out = folder.path("out.parquet");
    for command in [
        &["cat", &fifo][..],
        &["cat", &directory],
        &["head", &fifo],
        &["meta", &fifo],
        &["schema", &fifo],
        &["pages", &fifo],
        &["index", &fifo],
        &["size", &fifo],
        &["count", &fifo],
        &["verify", &fifo],
        &["recover", &fifo, &out],
        &["recover", &wines(), &out, "--schema-from", &fifo],
        &["rewrite", &fifo, &out],
        &["merge", &fifo, &wines(), &out],
        &["split", &fifo, "--rows", "1"],
        &["append", &fifo, &wines()],
        &["meta", "set", &fifo, "a=b"],
        &["drop-row-group", &fifo, "0"],
        &["summary", &directory],
        &["explain", &fifo, "--where", "a = 1"],
    ] {
        let (code, text) = everything(command);
        assert!(text.contains("is a FIFO, not a file"), "{command:?}: {code:?} {text}");
        assert!(matches!(code, Some(1 | 2)), "{command:?}: {code:?}");
    }
    let (_, text) = everything(&["cat", "/dev/zero"]);
    assert!(text.contains("is a character device, not a file"), "{text}");
    if cfg!(target_os = "linux") {
        let (_, text) = everything(&["cat", "/proc/self/maps"]);
        assert!(text.contains("is a file whose size the system does not tell"), "{text}");
    }
}

#[test]
fn a_condition_may_begin_with_a_hyphen() {
    let all = success(&["count", &wines()]);
    assert_eq!(success(&["count", &wines(), "--where", "-1 < price"]), all);
    let cat = success(&["cat", &wines(), "--where", "-1 < price", "--columns", "price", "--format", "json"]);
    assert_eq!(cat.lines().count().to_string(), all.trim());
    assert!(success(&["explain", &wines(), "--where", "-1 < price"]).contains("price"));
    for condition in ["inf > price", "+inf > price", "price < inf", "nan = nan or inf > price"] {
        assert_eq!(
            everything(&["count", &wines(), "--where", condition]).0.unwrap(),
            i32::from(condition.starts_with("nan")) * 2
        );
    }
    assert_eq!(success(&["count", &wines(), "--where", "inf > price"]), all);
}

/// What is shown needs a terminal: a pipe is none.
#[test]
fn dive_says_that_it_needs_a_terminal() {
    let (code, lines) = failure(&["dive", &wines()]);
    assert_eq!((code, lines.len()), (2, 1), "{lines:?}");
    assert!(lines[0].contains("needs a terminal; explain, report"), "{lines:?}");
}

/// The text without links, and where they lead.
fn without_links(text: &str) -> (String, Vec<String>) {
    let (mut plain, mut targets, mut rest) = (String::new(), Vec::new(), text);
    while let Some((before, link)) = rest.split_once("\u{1b}]8;;") {
        let (target, behind) = link.split_once("\u{1b}\\").expect("a link has an end");
        let (shown, behind) = behind.split_once("\u{1b}]8;;\u{1b}\\").expect("what is shown has an end");
        assert!(target.chars().all(|c| c.is_ascii_graphic()), "{target:?}");
        targets.push(target.to_owned());
        plain.extend([before, shown]);
        rest = behind;
    }
    (plain + rest, targets)
}

#[test]
fn links_are_where_they_are_wanted_and_steer_nothing() {
    let folder = Folder::new("links");
    let broken = folder.path(&format!("{}.parquet", NAME.replace('\n', "")));
    let mut bytes = std::fs::read(wines()).unwrap();
    bytes[10..40].fill(0xff);
    std::fs::write(&broken, bytes).unwrap();
    for command in [&["verify"][..], &["lint"], &["count"], &["schema"], &["rules", "page-checksum"]] {
        let files = if command[0] == "rules" { vec![] } else { vec![wines(), broken.clone()] };
        let files: Vec<&str> = files.iter().map(String::as_str).collect();
        let run = |when: &str| everything(&[command, &files, &["--hyperlinks", when]].concat()).1;
        let plain = run("never");
        is_harmless(&plain, command);
        // What goes through a pipe is not a terminal.
        assert_eq!(run("auto"), plain, "{command:?}");
        let (shown, targets) = without_links(&run("always"));
        assert_eq!(shown, plain, "{command:?}");
        let leads = |to: &str| targets.iter().any(|target| target.contains(to));
        assert!(
            files.is_empty() || leads("/wines.parquet") && leads("%1B%5B31m"),
            "{command:?}: {targets:?}"
        );
        assert_eq!(
            leads("https://github.com/apache/parquet-format/"),
            !matches!(command[0], "count" | "schema")
        );
    }
    let json = everything(&["verify", &broken, "--format", "json", "--hyperlinks", "always"]).1;
    assert!(!json.contains('\u{1b}'), "{json}");
}

/// What `script` of util-linux shows of a command on a terminal of 60 columns.
#[cfg(target_os = "linux")]
#[test]
fn reports_fit_a_narrow_terminal() {
    let (folder, wines) = (Folder::new("terminal-narrow"), wines());
    let out = folder.path("o.parquet");
    for arguments in [
        &["convert", &wines, &out, "--overwrite"][..],
        &["rewrite", &wines, &out, "--overwrite"],
        &["optimize", &wines, &out, "--overwrite", "--budget", "1s"],
        &["explain", &wines, "--no-pager", "--where", "year > 2000 and country = 'France'"],
    ] {
        let quoted: Vec<String> =
            arguments.iter().map(|word| format!("'{}'", word.replace('\'', r"'\''"))).collect();
        let command =
            format!("stty rows 40 cols 60; {} {}", env!("CARGO_BIN_EXE_marquetry"), quoted.join(" "));
        let shown = std::process::Command::new("script").args(["-qec", &command, "/dev/null"]).output();
        let Ok(shown) = shown else { return eprintln!("skipped: there is no `script`") };
        let text = String::from_utf8_lossy(&shown.stdout).replace("\r\n", "\n");
        assert!(shown.status.success(), "{text}");
        // Lines with names of files are as long as these are; a sign of life is gone when there is more to show.
        let lines = text.lines().map(|line| line.rsplit('\r').next().unwrap_or(line));
        let long: Vec<&str> = lines.filter(|line| !line.contains('/') && line.chars().count() > 60).collect();
        assert!(long.is_empty(), "{arguments:?}: {long:#?}");
    }
}
