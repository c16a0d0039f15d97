//! No circles: inside of a crate, no file imports from one that imports, over others or not, from it.

mod graph;
mod source;

use graph::{circles, edges, name};
use source::Source;
use std::path::{Path, PathBuf};

/// Files that are in circles still, by crate. A number may only go down.
const KNOWN: [(&str, usize); 4] =
    [("bench", 29), ("crates/arrow", 36), ("crates/cli", 4), ("crates/core", 22)];

#[test]
fn no_circle_of_imports_between_files() {
    let mut imports = 0;
    let mut found = String::new();
    for (folder, source) in crates() {
        let edges = edges(&source);
        imports += edges.values().map(|files| files.len()).sum::<usize>();
        let circles = circles(&edges);
        let known = KNOWN.iter().find(|(crate_folder, _)| *crate_folder == folder).map_or(0, |known| known.1);
        if circles.iter().map(|circle| circle.len()).sum::<usize>() <= known {
            continue;
        }
        for circle in circles {
            found += &format!("{folder}, a circle of {} files:\n", circle.len());
            for file in &circle {
                let to: Vec<_> = edges[file].intersection(&circle).map(|&to| name(&source, to)).collect();
                found += &format!("    {} -> {}\n", name(&source, *file), to.join(", "));
            }
        }
    }
    assert!(imports > 1000, "imports were found: {imports}");
    assert!(found.is_empty(), "{found}");
}

/// The folder and the source of each crate.
fn crates() -> Vec<(String, Source)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap();
    let mut folders: Vec<PathBuf> =
        std::fs::read_dir(root.join("crates")).unwrap().map(|entry| entry.unwrap().path()).collect();
    folders.extend([root.join("bench"), root.join("fuzz")]);
    folders.sort();
    let mut crates = Vec::new();
    for folder in folders {
        let name = folder.strip_prefix(&root).unwrap().display().to_string();
        let roots = ["src/lib.rs", "src/main.rs"].map(|file| folder.join(file));
        crates
            .extend(roots.iter().filter(|path| path.exists()).map(|path| (name.clone(), Source::read(path))));
    }
    crates
}
