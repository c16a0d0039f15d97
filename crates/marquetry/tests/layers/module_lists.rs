//! Lists of modules in documentation: no name in them is that of a file that was renamed or deleted.

use crate::source::Source;
use std::collections::HashSet;
use std::fs;

/// Names that begin a line of such a list and are not modules, as `file: names`.
///
/// A list is a block of ```` ```text ```` or a table in the `//!` of a file that declares modules; at least three of the names
/// that begin its lines are such modules.
pub(crate) fn unknown_names(source: &Source) -> Vec<String> {
    let mut found = Vec::new();
    for (number, file) in source.files.iter().enumerate() {
        let modules: HashSet<&str> = source
            .modules
            .iter()
            .filter(|module| module.file == number)
            .flat_map(|module| module.children.keys())
            .map(String::as_str)
            .collect();
        let text = fs::read_to_string(file).unwrap();
        let head = text.lines().map_while(|line| line.strip_prefix("//!"));
        for list in lists(head) {
            let unknown: Vec<_> = list.iter().filter(|name| !modules.contains(name.as_str())).collect();
            if list.len() - unknown.len() >= 3 && !unknown.is_empty() {
                found.push(format!("{}: {unknown:?}", file.display()));
            }
        }
    }
    found
}

/// The names that begin the lines of each block, and those of all rows of tables.
fn lists<'a>(head: impl Iterator<Item = &'a str>) -> Vec<Vec<String>> {
    let (mut blocks, mut rows, mut is_block) = (Vec::new(), Vec::new(), false);
    for line in head.map(str::trim_start) {
        if line.starts_with("```") {
            is_block = line == "```text";
            if is_block {
                blocks.push(Vec::new());
            }
        } else if is_block {
            let names = line.split("  ").next().unwrap_or_default();
            blocks.last_mut().unwrap().extend(module_names(names));
        } else if let Some(row) = line.strip_prefix("| `") {
            let names = row.split(" |").next().unwrap_or_default();
            rows.extend(module_names(&names.replace('`', "")));
        }
    }
    blocks.push(rows);
    blocks
}

/// The names in `names`, which stand one after the other or with commas between them; none if anything else is there.
fn module_names(names: &str) -> Vec<String> {
    let names = names.split([',', ' ']).filter(|name| !name.is_empty());
    let are_modules = names.clone().all(|name| {
        name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
    });
    if are_modules { names.map(str::to_owned).collect() } else { Vec::new() }
}
