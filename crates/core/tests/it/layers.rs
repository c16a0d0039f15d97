//! The modules of this crate are layers: none imports one above it.

use std::fs;
use std::path::{Path, PathBuf};

/// Bottom to top.
const LAYERS: [&str; 21] = [
    "metrics",
    "source",
    "logical_type",
    "schema",
    "narrow_integer",
    "int96",
    "sort_order",
    "statistics",
    "encryption",
    "metadata",
    "checkpoint",
    "page_index",
    "nesting",
    "predicate",
    "page",
    "row_mask",
    "prune",
    "read",
    "write",
    "fetch",
    "io",
];

#[test]
fn no_module_imports_one_above_it() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut checked = 0;
    for file in rust_files(&src) {
        let relative = file.strip_prefix(&src).unwrap();
        let module = relative.iter().next().unwrap().to_str().unwrap().trim_end_matches(".rs");
        if module == "lib" {
            continue;
        }
        let level = level(module).unwrap_or_else(|| panic!("{} is in no layer", relative.display()));
        let text = fs::read_to_string(&file).unwrap();
        for imported in text.split("crate::").skip(1) {
            let imported: String =
                imported.chars().take_while(|c| c.is_ascii_lowercase() || *c == '_').collect();
            if let Some(above) = self::level(&imported) {
                assert!(above <= level, "{} imports {imported}, which is above it", relative.display());
                assert!(
                    (module, &*imported) != ("write", "read"),
                    "{}: write imports read",
                    relative.display()
                );
                checked += 1;
            }
        }
    }
    assert!(checked > 10, "imports were found: {checked}");
}

fn level(module: &str) -> Option<usize> {
    LAYERS.iter().position(|layer| *layer == module)
}

fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries
        .flat_map(|path| match path.is_dir() {
            true => rust_files(&path),
            false => vec![path],
        })
        .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
        .collect()
}
