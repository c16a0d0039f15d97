//! Which file imports from which, and the circles among them.

use crate::source::{Module, Segments, Source};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Edges between the files of one crate: from each to those it imports from.
pub(crate) type Edges = BTreeMap<usize, BTreeSet<usize>>;

/// Where a path leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Found {
    Module(usize),
    /// An item, defined in a file.
    Item(usize),
}

/// Returns which file imports from which. A `pub use` alone is not an import: its users import from where the name is
/// defined.
pub(crate) fn edges(source: &Source) -> Edges {
    let mut edges = Edges::new();
    for (id, module) in source.modules.iter().enumerate().filter(|(_, module)| !module.is_test) {
        let imports = module
            .imports
            .iter()
            .filter(|import| !import.is_reexport || module.names.contains(&import.name))
            .map(|import| &import.path);
        for path in imports.chain(&module.paths) {
            let file = match resolve(source, id, path, 0) {
                Some(Found::Item(file)) => file,
                // A glob may bring anything that is there.
                Some(Found::Module(module)) if path.last().unwrap() == "*" => source.modules[module].file,
                _ => continue,
            };
            if file != module.file {
                edges.entry(module.file).or_default().insert(file);
            }
        }
    }
    edges
}

/// Follows `path`, written in `module`, to where it is defined; `None` if that is outside of the crate.
fn resolve(source: &Source, module: usize, path: &Segments, depth: usize) -> Option<Found> {
    let mut at = module;
    let mut segments = path.iter();
    let mut is_first = true;
    loop {
        let Some(segment) = segments.as_slice().first() else { return Some(Found::Module(at)) };
        segments.next();
        let here = &source.modules[at];
        at = match segment.as_str() {
            "crate" => 0,
            "self" => at,
            "super" => here.parent?,
            "*" => return Some(Found::Module(at)),
            name => match member(source, at, name, depth) {
                Some(Found::Module(child)) => child,
                Some(item) => return Some(item),
                None if is_first => return None,
                None => return Some(Found::Item(here.file)),
            },
        };
        is_first = false;
    }
}

/// What `name` is in `module`: a child, an item, or what was imported under that name.
fn member(source: &Source, module: usize, name: &str, depth: usize) -> Option<Found> {
    let here = &source.modules[module];
    if let Some(&child) = here.children.get(name) {
        return Some(Found::Module(child));
    }
    if here.items.contains(name) {
        return Some(Found::Item(here.file));
    }
    // Re-exports go over few modules; globs that import each other would be followed without end.
    if depth > 4 {
        return None;
    }
    let own = |here: &Module| here.imports.iter().find(|i| i.name == name).map(|i| i.path.clone());
    if let Some(path) = own(here) {
        return resolve(source, module, &path, depth + 1);
    }
    let globs = here.imports.iter().filter(|import| import.path.last().unwrap() == "*");
    globs.into_iter().find_map(|glob| match resolve(source, module, &glob.path, depth + 1)? {
        Found::Module(other) if other != module => member(source, other, name, depth + 1),
        _ => None,
    })
}

/// Returns sets of files that all import from each other, directly or not.
pub(crate) fn circles(edges: &Edges) -> Vec<BTreeSet<usize>> {
    let mut circles: Vec<BTreeSet<usize>> = Vec::new();
    for &file in edges.keys() {
        if circles.iter().any(|circle| circle.contains(&file)) {
            continue;
        }
        let circle: BTreeSet<usize> =
            reached(edges, file).into_iter().filter(|&other| reached(edges, other).contains(&file)).collect();
        if !circle.is_empty() {
            circles.push(circle);
        }
    }
    circles
}

/// Returns all files that `file` imports from, directly or not.
pub(crate) fn reached(edges: &Edges, file: usize) -> BTreeSet<usize> {
    let mut reached = BTreeSet::new();
    let mut open = vec![file];
    while let Some(file) = open.pop() {
        let next = edges.get(&file).into_iter().flatten();
        open.extend(next.filter(|&&next| reached.insert(next)));
    }
    reached
}

/// A file's path below the folder of sources, without `.rs`.
pub(crate) fn name(source: &Source, file: usize) -> String {
    let root = source.files[0].parent().unwrap();
    let path: &Path = source.files[file].strip_prefix(root).unwrap();
    path.with_extension("").display().to_string()
}
