//! Hyperlinks in terminals (OSC 8), as `ls`, `gcc` and cargo write them.

use crate::file_name;
use crate::percent::encoded;
use crate::remote::is_url;
use clap::ValueEnum;
use std::env;
use std::path::{Path, absolute};

/// Where links are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Hyperlinks {
    /// On terminals that are known to support links; FORCE_HYPERLINK=1 or FORCE_HYPERLINK=0 decides instead
    Auto,
    /// Never
    Never,
    /// Also in pipes and files
    Always,
}

impl Hyperlinks {
    /// Whether to write links, to a terminal or elsewhere.
    pub(crate) fn are_wanted(self, is_terminal: bool) -> bool {
        match self {
            Hyperlinks::Auto => is_terminal && knows_links(|name| env::var(name).ok()),
            Hyperlinks::Never => false,
            Hyperlinks::Always => true,
        }
    }
}

/// Whether a terminal supports links, by its environment variables. One that does not shows only the text or, if it is
/// old, garbage.
fn knows_links(variable: impl Fn(&str) -> Option<String>) -> bool {
    let variable = |name: &str| variable(name).filter(|value| !value.is_empty());
    if let Some(forced) = variable("FORCE_HYPERLINK") {
        return forced != "0";
    }
    let term = variable("TERM").unwrap_or_default();
    // Another terminal shows their output, which may support links or not.
    if term == "dumb" || ["screen", "tmux"].iter().any(|name| term.starts_with(name)) {
        return false;
    }
    // GNOME's terminals support them since 0.50.
    let is_vte =
        variable("VTE_VERSION").and_then(|version| version.parse().ok()).is_some_and(|it: u32| it >= 5000);
    let programs = ["WezTerm", "ghostty", "iTerm.app", "vscode", "Hyper", "rio", "Tabby"];
    let terms = ["xterm-kitty", "xterm-ghostty", "alacritty", "foot", "contour", "wezterm"];
    is_vte
        || ["WT_SESSION", "KONSOLE_VERSION", "KITTY_WINDOW_ID", "DOMTERM"]
            .iter()
            .any(|name| variable(name).is_some())
        || variable("TERM_PROGRAM").is_some_and(|program| programs.contains(&program.as_str()))
        || terms.iter().any(|name| term.starts_with(name))
}

/// The sequences that begin and end a link to the URL `target`. Only printable ASCII gets into them.
pub(crate) fn around(target: &str) -> (String, &'static str) {
    (
        format!("\u{1b}]8;;{}\u{1b}\\", encoded(target.as_bytes(), b":/?#[]@!$&'()*+,;=%")),
        "\u{1b}]8;;\u{1b}\\",
    )
}

/// The URL of a file: with this machine's name, so that a terminal on another one does not open a file of its own; web
/// URLs stay as they are. `None` for standard input, URLs with secrets, and other stores, which no browser opens.
pub(crate) fn of_file(path: &Path) -> Option<String> {
    if is_url(path) {
        let is_plain = |url: &String| url.starts_with("http") && path.as_os_str() == url.as_str();
        return Some(file_name::shown(path)).filter(is_plain);
    }
    if path.as_os_str() == "-" {
        return None;
    }
    let path = absolute(path).ok()?;
    let text = path.to_string_lossy().replace('\\', "/");
    let root = if text.starts_with('/') { "" } else { "/" };
    Some(format!(
        "file://{}{root}{}",
        encoded(host().as_bytes(), b""),
        encoded(path_bytes(&path, &text), b"/:")
    ))
}

#[cfg(unix)]
fn path_bytes<'a>(path: &'a Path, _: &'a str) -> &'a [u8] {
    use std::os::unix::ffi::OsStrExt;
    path.as_os_str().as_bytes()
}

#[cfg(not(unix))]
fn path_bytes<'a>(_: &'a Path, text: &'a str) -> &'a [u8] {
    text.as_bytes()
}

#[cfg(unix)]
fn host() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

#[cfg(not(unix))]
fn host() -> String {
    String::new()
}

/// The URL of the first document of the format that `spec` names: `PageIndex.md; parquet.thrift, ColumnIndex`.
pub(crate) fn of_spec(spec: &str) -> Option<String> {
    let end = spec.find([',', ';', ' ']).unwrap_or(spec.len());
    let path = match &spec[..end] {
        "parquet.thrift" => "src/main/thrift/parquet.thrift",
        name if name.ends_with(".md") => name,
        _ => return None,
    };
    Some(format!("https://github.com/apache/parquet-format/blob/master/{path}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terminals_are_known_by_what_they_say() {
        let knows = |said: &[(&str, &str)]| {
            knows_links(|name| {
                said.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
            })
        };
        assert!(!knows(&[("TERM", "xterm-256color")]));
        assert!(knows(&[("TERM", "xterm-256color"), ("VTE_VERSION", "7600")]));
        assert!(!knows(&[("TERM", "xterm-256color"), ("VTE_VERSION", "4200")]));
        assert!(knows(&[("TERM_PROGRAM", "WezTerm")]) && !knows(&[("TERM_PROGRAM", "Apple_Terminal")]));
        assert!(knows(&[("TERM", "foot")]) && !knows(&[("TERM", "tmux-256color"), ("TERM_PROGRAM", "tmux")]));
        assert!(!knows(&[("TERM", "dumb"), ("WT_SESSION", "1")]));
        assert!(knows(&[("TERM", "vt100"), ("FORCE_HYPERLINK", "1")]));
        assert!(!knows(&[("WT_SESSION", "1"), ("FORCE_HYPERLINK", "0")]));
    }

    #[test]
    fn nothing_in_a_target_steers_the_terminal() {
        let (begin, end) = around("http://a/\u{1b}\\\u{7}b c\u{9d}\u{202e}");
        let inner = begin.strip_prefix("\u{1b}]8;;").unwrap().strip_suffix("\u{1b}\\").unwrap();
        assert_eq!(inner, "http://a/%1B%5C%07b%20c%C2%9D%E2%80%AE");
        assert_eq!(end, "\u{1b}]8;;\u{1b}\\");
    }

    #[test]
    fn files_and_sections_have_addresses() {
        let of = of_file(Path::new("/a b/100%.parquet")).unwrap();
        assert!(of.starts_with("file://") && of.ends_with("/a%20b/100%25.parquet"), "{of}");
        assert!(of_file(Path::new("a.parquet")).unwrap().ends_with("/a.parquet"));
        assert_eq!(of_file(Path::new("http://h/a.parquet")).unwrap(), "http://h/a.parquet");
        for none in ["http://u:p@h/a.parquet", "http://h/a.parquet?sig=1", "s3://b/a.parquet", "-"] {
            assert_eq!(of_file(Path::new(none)), None, "{none}");
        }
        let thrift = "https://github.com/apache/parquet-format/blob/master/src/main/thrift/parquet.thrift";
        assert_eq!(of_spec("parquet.thrift, ColumnIndex").as_deref(), Some(thrift));
        assert!(of_spec("PageIndex.md; parquet.thrift").unwrap().ends_with("/PageIndex.md"));
        assert_eq!(of_spec("limits of a house"), None);
    }
}
