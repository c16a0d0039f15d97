//! Writes the HTML page: head, style, what each file has, and the script.

use crate::facts::facts;
use crate::html::Escaped;
use crate::report_options::ReportOptions;
use crate::reported_file::ReportedFile;
use crate::summary::summary;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use marquetry_base::{Error, Result};
use std::fmt::Write as _;
use std::io::Write;

/// Writes one HTML page about all of `files`. The same files give the same bytes.
///
/// Fails if `out` fails, or if a footer has a chunk that cannot be read.
///
/// ```
/// use marquetry_arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions};
/// use marquetry_core::source::Source;
/// use marquetry_inspect::file_layout;
/// use marquetry_report::{ReportOptions, ReportedFile, write_report};
/// use std::sync::Arc;
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/wines.parquet");
/// let source: Arc<dyn Source> = Arc::new(bytes::Bytes::from(std::fs::read(path)?));
/// let metadata = ArrowReaderMetadata::load(source.clone(), ArrowReaderOptions::new())?;
/// let layout = file_layout(&source, metadata.metadata(), &Arc::default())?;
/// let file = ReportedFile::new("wines.parquet", metadata, layout);
/// let mut page = Vec::new();
/// write_report(&[file], &ReportOptions::default(), &mut page)?;
/// assert!(page.starts_with(b"<!doctype html>"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn write_report(files: &[ReportedFile], options: &ReportOptions, out: &mut dyn Write) -> Result<()> {
    let mut page = String::new();
    let failed = |_| Error::argument("a report that cannot be formatted");
    let title = match files {
        [file] => file.name.clone(),
        files => format!("{} Parquet files", files.len()),
    };
    writeln!(page, "{HEAD}<title>{}</title>", Escaped(&title)).map_err(failed)?;
    write!(
        page,
        "<style>{STYLE}</style>\n</head>\n<body>\n<main>\n{}<h1>{}</h1>\n",
        nav(&options.links),
        Escaped(&title)
    )
    .map_err(failed)?;
    let sink = |error| Error::io("cannot write the report", error);
    for file in files {
        page.push_str("<article>\n");
        summary(file, &mut page).map_err(failed)?;
        page.push_str("<div class=\"drawn\"></div>\n</article>\n");
        out.write_all(page.as_bytes()).map_err(sink)?;
        page.clear();
    }
    page.push_str("<noscript><p>The map and the columns need JavaScript.</p></noscript>\n</main>\n");
    // The data comes behind everything that can be read at once.
    for file in files {
        page.push_str("<script type=\"application/octet-stream\">");
        page.push_str(&STANDARD.encode(facts(file, options)?));
        page.push_str("</script>\n");
        out.write_all(page.as_bytes()).map_err(sink)?;
        page.clear();
    }
    write!(page, "<script>{SCRIPT}</script>\n</body>\n</html>\n").map_err(failed)?;
    out.write_all(page.as_bytes()).map_err(sink)
}

/// Formats the links at the top of the page.
fn nav(links: &[(String, String)]) -> String {
    if links.is_empty() {
        return String::new();
    }
    let link = |(text, to): &(String, String)| format!("<a href=\"{}\">{}</a>", Escaped(to), Escaped(text));
    let links: Vec<_> = links.iter().map(link).collect();
    format!("<nav aria-label=\"Site\">{}</nav>\n", links.join(" "))
}

/// The style of the page, for other pages that should look alike.
pub const STYLE: &str = include_str!("assets/report.css");
pub(crate) const SCRIPT: &str = concat!(
    "'use strict';\n",
    include_str!("assets/data.js"),
    include_str!("assets/elements.js"),
    include_str!("assets/colors.js"),
    include_str!("assets/map.js"),
    include_str!("assets/matrix.js"),
    include_str!("assets/tables.js"),
    include_str!("assets/main.js"),
);

// The policy forbids loading anything, and any script or style but these two, whose hashes a test computes again.
const HEAD: &str = "<!doctype html>
<html lang=\"en\">
<head>
<meta charset=\"utf-8\">
<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">
<meta name=\"color-scheme\" content=\"light dark\">
<meta name=\"referrer\" content=\"no-referrer\">
<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src 'sha256-wei8yHkB8tS80ezE1/sUpW8z3Wsbp7xkQHPKVK1TKV0='; style-src 'sha256-TFtqUNYlfVDsAHnMsmu0U4N9emqd97+ecNSCebBK4IQ='; base-uri 'none'; form-action 'none'\">
";

#[cfg(test)]
mod tests {
    use super::*;
    use sha2::{Digest, Sha256};

    #[test]
    fn the_policy_allows_this_script_and_this_style() {
        for (name, text) in [("script", SCRIPT), ("style", STYLE)] {
            let hash = STANDARD.encode(Sha256::digest(text.as_bytes()));
            assert!(HEAD.contains(&format!("{name}-src 'sha256-{hash}'")), "{name}: {hash}");
        }
        assert!(!SCRIPT.contains("</script") && !STYLE.contains("</style"));
    }
}
