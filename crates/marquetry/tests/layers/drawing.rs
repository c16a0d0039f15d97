//! The drawing in ARCHITECTURE.md: which crate uses which, and the modules of each, bottom to top.

use crate::graph::{edges, name};
use crate::source::Source;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::Path;

type Graph = BTreeMap<String, BTreeSet<String>>;

/// The drawing of `crates`, each a folder and a source.
pub(crate) fn drawing(root: &Path, crates: &[(String, Source)]) -> String {
    let libraries: Vec<_> = crates
        .iter()
        .filter(|(folder, _)| folder.starts_with("crates/"))
        .map(|(folder, source)| (short(folder), source))
        .collect();
    let uses: Graph = libraries.iter().map(|(name, _)| (name.clone(), uses(root, name))).collect();
    let mut out = String::from("```mermaid\ngraph BT\n");
    for (name, used) in &uses {
        // An arrow that others lead along anyway is left out.
        let direct =
            used.iter().filter(|to| !used.iter().any(|other| other != *to && reaches(&uses, other, to)));
        direct.for_each(|to| writeln!(out, "    {to} --> {name}").unwrap());
    }
    out += "```\n\n```text\n";
    let mut ordered = libraries;
    ordered.sort_by_key(|(name, _)| (level(&uses, name), name.clone()));
    for (name, source) in ordered {
        let modules = modules(source);
        let mut levels: BTreeMap<usize, Vec<&str>> = BTreeMap::new();
        modules.keys().for_each(|module| levels.entry(level(&modules, module)).or_default().push(module));
        let levels: Vec<String> = levels.values().map(|modules| modules.join(" ")).collect();
        let mut line = format!("{name:<13}");
        for (i, level) in levels.iter().enumerate() {
            let part = if i == 0 { level.clone() } else { format!(" < {level}") };
            if line.chars().count() + part.chars().count() > 120 {
                writeln!(out, "{line}").unwrap();
                line = format!("{:<13}", "");
            }
            line += &part;
        }
        writeln!(out, "{line}").unwrap();
    }
    out + "```\n"
}

fn short(folder: &str) -> String {
    folder.trim_start_matches("crates/").to_owned()
}

/// The crates of ours that `name` depends on, by its Cargo.toml.
fn uses(root: &Path, name: &str) -> BTreeSet<String> {
    let text = std::fs::read_to_string(root.join("crates").join(name).join("Cargo.toml")).unwrap();
    let dependencies =
        text.split("\n[").find(|section| section.starts_with("dependencies]")).unwrap_or_default();
    let lines = dependencies.lines().filter(|line| line.starts_with("marquetry"));
    let names = lines.map(|line| line.split(['.', ' ', '=']).next().unwrap());
    names.map(|name| name.trim_start_matches("marquetry-").replace('-', "_")).collect()
}

/// Which top-level module imports from which.
fn modules(source: &Source) -> Graph {
    let top = |file: usize| name(source, file).split('/').next().unwrap().to_owned();
    let is_root = |module: &str| matches!(module, "lib" | "main");
    let files = (0..source.files.len()).map(top).filter(|module| !is_root(module));
    let mut graph: Graph = files.map(|module| (module, BTreeSet::new())).collect();
    for (from, to) in edges(source) {
        let from = top(from);
        if !is_root(&from) {
            let used = to.into_iter().map(top).filter(|to| *to != from && !is_root(to));
            graph.get_mut(&from).unwrap().extend(used);
        }
    }
    graph
}

/// How many others are below `name`, one below the other.
fn level(graph: &Graph, name: &str) -> usize {
    let below = graph[name].iter().filter(|below| !reaches(graph, below, name));
    below.map(|below| level(graph, below) + 1).max().unwrap_or(0)
}

fn reaches(graph: &Graph, from: &str, to: &str) -> bool {
    let mut seen = BTreeSet::new();
    let mut open = vec![from];
    while let Some(name) = open.pop() {
        let next = graph.get(name).into_iter().flatten();
        open.extend(next.map(String::as_str).filter(|next| seen.insert(*next)));
    }
    seen.contains(to)
}
