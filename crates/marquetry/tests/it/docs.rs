//! What the project's documents name is there.

use std::path::Path;

const DOCUMENTS: [&str; 6] =
    ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "COVERAGE.md", "CHANGELOG.md", "UNSAFE.md"];

/// Placeholders in instructions.
const EXAMPLES: [&str; 1] = ["NAME.rs"];

#[test]
fn every_path_in_the_documents_exists() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut checked = 0;
    for document in DOCUMENTS {
        let text =
            std::fs::read_to_string(root.join(document)).unwrap_or_else(|_| panic!("{document} is missing"));
        for path in paths(&text) {
            let (file, section) =
                path.split_once('#').map_or((path, None), |(file, section)| (file, Some(section)));
            assert!(root.join(file).exists(), "{document} names {path}, which is not there");
            let has = |section| {
                std::fs::read_to_string(root.join(file)).unwrap().lines().any(|line| anchor(line) == section)
            };
            assert!(section.is_none_or(has), "{document} names {path}, and {file} has no such heading");
            checked += 1;
        }
    }
    assert!(checked > 30, "paths were found: {checked}");
}

/// What a heading is called in links; nothing of other lines.
fn anchor(line: &str) -> String {
    let Some(heading) = line.strip_prefix('#') else { return String::new() };
    let text = heading.trim_start_matches('#').trim().to_lowercase().replace(' ', "-");
    text.chars().filter(|&c| c.is_alphanumeric() || c == '-').collect()
}

/// Words that look like paths into this repository.
fn paths(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| c.is_whitespace() || "()[]`'\",;".contains(c))
        .map(|word| word.trim_end_matches(['.', ':']))
        .filter(|word| {
            let folders = ["crates/", "bench/", "fuzz/", "examples/", ".ci/"];
            folders.iter().any(|folder| word.starts_with(folder))
                || word.ends_with(".md") && !word.contains("://") && DOCUMENTS.contains(word)
        })
        .filter(|word| !EXAMPLES.iter().any(|example| word.ends_with(example)))
}
