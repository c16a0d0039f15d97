//! No circles: inside of a crate, no file imports from one that imports, over others or not, from it. And the drawing of
//! crates and modules in ARCHITECTURE.md is that of the code, and lists of modules in documentation name what is there.

mod drawing;
mod graph;
mod module_lists;
mod source;

use graph::{circles, edges, name};
use source::Source;
use std::path::{Path, PathBuf};

#[test]
fn no_circle_of_imports_between_files() {
    let mut imports = 0;
    let mut found = String::new();
    for (folder, source) in crates() {
        let edges = edges(&source);
        imports += edges.values().map(|files| files.len()).sum::<usize>();
        for circle in circles(&edges) {
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

#[test]
fn lists_of_modules_name_what_is_there() {
    let unknown: Vec<_> =
        crates().iter().flat_map(|(_, source)| module_lists::unknown_names(source)).collect();
    assert!(unknown.is_empty(), "no such modules:\n{}", unknown.join("\n"));
}

/// `MARQUETRY_WRITE=1 cargo test -p marquetry --test layers` draws it anew.
#[test]
fn the_drawing_of_crates_and_modules_is_current() {
    let path = root().join("ARCHITECTURE.md");
    let text = std::fs::read_to_string(&path).unwrap();
    let (before, rest) = text.split_once(BEGIN).expect("the drawing's begin");
    let (_, after) = rest.split_once(END).expect("the drawing's end");
    let current = format!("{before}{BEGIN}\n{}{END}{after}", drawing::drawing(&root(), &crates()));
    if std::env::var_os("MARQUETRY_WRITE").is_some() {
        std::fs::write(&path, &current).unwrap();
    } else {
        assert!(
            text == current,
            "the drawing is old: MARQUETRY_WRITE=1 cargo test -p marquetry --test layers"
        );
    }
}

const BEGIN: &str = "<!-- drawn by crates/marquetry/tests/layers -->";
const END: &str = "<!-- end of the drawing -->";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// The folder and the source of each crate.
fn crates() -> Vec<(String, Source)> {
    let root = root();
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
