//! Rust source as tokens, and the modules that it declares: as much of the language as finding imports takes.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

/// A path as it is written: `["crate", "schema", "Leaf"]`. The last segment may be `*`.
pub(crate) type Segments = Vec<String>;

/// One module: a file, or a `mod name { .. }` inside of one.
#[derive(Default)]
pub(crate) struct Module {
    pub(crate) file: usize,
    pub(crate) parent: Option<usize>,
    /// Below `#[cfg(test)]`: a test of one direction may use the other.
    pub(crate) is_test: bool,
    pub(crate) children: HashMap<String, usize>,
    /// Items that are defined here.
    pub(crate) items: HashSet<String>,
    pub(crate) imports: Vec<Import>,
    /// Paths outside of `use`: `super::position(..)`.
    pub(crate) paths: Vec<Segments>,
    /// How often each name occurs outside of `use`.
    pub(crate) names: HashSet<String>,
}

/// One leaf of a `use` tree.
pub(crate) struct Import {
    pub(crate) path: Segments,
    /// The name that it has here.
    pub(crate) name: String,
    /// `pub use`, or `pub(crate) use`.
    pub(crate) is_reexport: bool,
}

/// All modules of one crate.
pub(crate) struct Source {
    pub(crate) files: Vec<PathBuf>,
    pub(crate) modules: Vec<Module>,
}

impl Source {
    /// Reads the crate whose root is `root`, a `lib.rs` or `main.rs`.
    pub(crate) fn read(root: &Path) -> Self {
        let mut source = Source { files: Vec::new(), modules: Vec::new() };
        source.read_file(root, None, false, root.parent().unwrap());
        source
    }

    /// Reads the file of a module; the files of its children are below `folder`.
    fn read_file(&mut self, path: &Path, parent: Option<usize>, is_test: bool, folder: &Path) -> usize {
        let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let file = self.files.len();
        self.files.push(path.to_owned());
        let root = self.modules.len();
        self.modules.push(Module { file, parent, is_test, ..Module::default() });
        let tokens = tokens(&text);
        // Inline modules that are open, each with the depth of braces at its end, and its folder.
        let mut open = vec![(root, 0, folder.to_owned())];
        let (mut depth, mut at) = (0, 0);
        while at < tokens.len() {
            let (module, _, folder) = open.last().unwrap().clone();
            match tokens[at].as_str() {
                "{" => depth += 1,
                "}" => {
                    depth -= 1;
                    if open.len() > 1 && open.last().unwrap().1 == depth {
                        open.pop();
                    }
                }
                "use" => {
                    let is_reexport = at > 0 && matches!(tokens[at - 1].as_str(), "pub" | ")");
                    at = self.read_use(&tokens, at + 1, module, is_reexport);
                    continue;
                }
                "mod" if tokens.get(at + 2).is_some_and(|next| next == ";" || next == "{") => {
                    let name = tokens[at + 1].clone();
                    let is_test =
                        self.modules[module].is_test || tokens[..at].ends_with(&CFG_TEST.map(String::from));
                    let child = if tokens[at + 2] == ";" {
                        let [flat, nested] =
                            [folder.join(format!("{name}.rs")), folder.join(&name).join("mod.rs")];
                        let path = if flat.exists() { flat } else { nested };
                        self.read_file(&path, Some(module), is_test, &folder.join(&name))
                    } else {
                        self.modules.push(Module {
                            file,
                            parent: Some(module),
                            is_test,
                            ..Module::default()
                        });
                        open.push((self.modules.len() - 1, depth, folder.join(&name)));
                        depth += 1;
                        self.modules.len() - 1
                    };
                    self.modules[module].children.insert(name, child);
                    at += 3;
                    continue;
                }
                "fn" | "struct" | "enum" | "trait" | "const" | "static" | "type" | "union" => {
                    self.modules[module].items.extend(tokens.get(at + 1).cloned());
                }
                "macro_rules" => self.modules[module].items.extend(tokens.get(at + 2).cloned()),
                word if is_name(word)
                    && (at == 0 || !["::", ".", "fn"].contains(&tokens[at - 1].as_str())) =>
                {
                    let mut path = vec![word.to_owned()];
                    while tokens.get(at + 1).is_some_and(|next| next == "::")
                        && tokens.get(at + 2).is_some_and(|next| is_name(next))
                    {
                        path.push(tokens[at + 2].clone());
                        at += 2;
                    }
                    self.modules[module].names.insert(path[0].clone());
                    if path.len() > 1 {
                        self.modules[module].paths.push(path);
                    }
                }
                _ => {}
            }
            at += 1;
        }
        root
    }

    /// Reads the tree behind `use`, and returns where the next statement begins.
    fn read_use(&mut self, tokens: &[String], mut at: usize, module: usize, is_reexport: bool) -> usize {
        let mut prefixes: Vec<Segments> = vec![Vec::new()];
        let mut path = Segments::new();
        let mut name = None;
        loop {
            match tokens[at].as_str() {
                "::" => {}
                "{" => {
                    prefixes.push(path.clone());
                }
                "as" => {
                    name = Some(tokens[at + 1].clone());
                    at += 1;
                }
                end @ ("," | "}" | ";") => {
                    let prefix = prefixes.last().unwrap();
                    if path.len() > prefix.len() {
                        if path.last().unwrap() == "self" {
                            path.pop();
                        }
                        let name = name.take().unwrap_or_else(|| path.last().unwrap().clone());
                        self.modules[module].imports.push(Import { path: path.clone(), name, is_reexport });
                    }
                    if end == "}" {
                        // What stands behind the brace ends with the tree around it.
                        path = prefixes.pop().unwrap();
                        path.truncate(prefixes.last().unwrap().len());
                    } else {
                        path = prefix.clone();
                    }
                    if end == ";" {
                        return at + 1;
                    }
                }
                word => path.push(word.to_owned()),
            }
            at += 1;
        }
    }
}

const CFG_TEST: [&str; 7] = ["#", "[", "cfg", "(", "test", ")", "]"];

fn is_name(token: &str) -> bool {
    token.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

/// Names, `::`, and all else character by character; without comments, strings and lifetimes.
fn tokens(text: &str) -> Vec<String> {
    let bytes = text.as_bytes();
    let mut tokens = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let rest = &text[at..];
        let first = bytes[at];
        at += if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |end| end + 2)
        } else if first == b'"' {
            string_length(rest)
        } else if let Some(hashes) = raw_string(rest) {
            let end = format!("\"{}", "#".repeat(hashes));
            let begin = rest.find('"').unwrap() + 1;
            begin + rest[begin..].find(&end).map_or(rest.len() - begin, |length| length + end.len())
        } else if first == b'\'' {
            char_length(rest)
        } else if first.is_ascii_alphanumeric() || first == b'_' {
            let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
            tokens.push(rest[..end].to_owned());
            end
        } else if rest.starts_with("::") {
            tokens.push("::".to_owned());
            2
        } else {
            let length = rest.chars().next().unwrap().len_utf8();
            if !first.is_ascii_whitespace() {
                tokens.push(rest[..length].to_owned());
            }
            length
        };
    }
    tokens
}

/// The bytes of the string literal that `text` begins with.
fn string_length(text: &str) -> usize {
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate().skip(1) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// The number of `#` of the raw string that `text` begins with, if it does.
fn raw_string(text: &str) -> Option<usize> {
    let text = text.strip_prefix('b').unwrap_or(text).strip_prefix('r')?;
    let hashes = text.len() - text.trim_start_matches('#').len();
    text[hashes..].starts_with('"').then_some(hashes)
}

/// The bytes of the character literal or lifetime that `text` begins with.
fn char_length(text: &str) -> usize {
    let mut chars = text.char_indices().skip(1);
    match chars.next() {
        Some((_, '\\')) => text[2..].char_indices().skip(1).find(|c| c.1 == '\'').map_or(2, |(at, _)| at + 3),
        Some((at, c)) if text[at + c.len_utf8()..].starts_with('\'') => at + c.len_utf8() + 1,
        _ => 1,
    }
}

#[test]
fn tokens_leave_out_comments_strings_and_characters() {
    let text = r##"let a = 'x'; // crate::a
        let b: &'a str = "crate::b"; /* crate::c */ let c = r#"crate::"d"#; let d = '\''; crate::e"##;
    let found = tokens(text);
    assert!(found.ends_with(&["crate".into(), "::".into(), "e".into()]), "{found:?}");
    assert_eq!(found.iter().filter(|token| *token == "crate").count(), 1, "{found:?}");
}
