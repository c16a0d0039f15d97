//! The part of the page that needs no script: facts, sizes, findings, advice.

use crate::html::Escaped;
use crate::reported_file::ReportedFile;
use marquetry_inspect::{ShownBytes, ShownCount};
use std::fmt::{self, Write};

/// Writes the first part of a file's article.
pub(crate) fn summary(file: &ReportedFile, out: &mut String) -> fmt::Result {
    let metadata = file.metadata.metadata();
    let size = file.layout.size;
    write!(out, "<h2>{}</h2>\n<ul class=\"facts\">", Escaped(&file.name))?;
    let mut fact = |count: u64, name: &str| {
        let plural = if count == 1 { "" } else { "s" };
        write!(out, "<li><b>{}</b> {name}{plural}</li>", ShownCount(count))
    };
    fact(metadata.num_rows(), "row")?;
    fact(metadata.num_row_groups() as u64, "row group")?;
    fact(metadata.schema().num_columns() as u64, "column")?;
    write!(out, "<li><b>{}</b> ({} bytes)</li>", ShownBytes(size), ShownCount(size))?;
    if let Some(writer) = metadata.created_by() {
        write!(out, "<li>written by {}</li>", Escaped(writer))?;
    }
    out.push_str("</ul>\n");
    if let Some(skipped) = &file.skipped {
        let left = skipped.rows_left(metadata);
        let groups =
            skipped.kept.iter().filter(|kept| !matches!(kept, marquetry_core::prune::RowGroupMatch::None));
        writeln!(
            out,
            "<p class=\"predicate\"><code>{}</code> leaves {} of {} rows, in {} of {} row groups.</p>",
            Escaped(&skipped.predicate),
            ShownCount(left),
            ShownCount(metadata.num_rows()),
            groups.count(),
            skipped.kept.len()
        )?;
    }
    budget(file, out)?;
    findings(file, out)?;
    advice(file, out)
}

/// Writes where the bytes are: a bar to scale, and the same numbers as a table.
fn budget(file: &ReportedFile, out: &mut String) -> fmt::Result {
    let size = file.layout.size.max(1) as f64;
    let bytes = file.layout.bytes_by_kind();
    let headers: u64 =
        file.layout.parts.iter().filter_map(|part| part.page.as_ref()).map(|page| page.header_len).sum();
    out.push_str("<section><h3>Where the bytes are</h3>\n");
    out.push_str(
        "<svg class=\"budget\" viewBox=\"0 0 1000 24\" preserveAspectRatio=\"none\" aria-hidden=\"true\">",
    );
    let mut at = 0.0;
    for (kind, bytes) in &bytes {
        let width = *bytes as f64 / size * 1000.0;
        let class = kind.name().replace(' ', "-");
        write!(out, "<rect class=\"k-{class}\" x=\"{at:.2}\" width=\"{width:.2}\" height=\"24\"/>")?;
        at += width;
    }
    out.push_str("</svg>\n<table class=\"kinds\"><thead><tr><th scope=\"col\">part</th><th scope=\"col\">bytes</th><th scope=\"col\">share</th></tr></thead><tbody>\n");
    for (kind, bytes) in &bytes {
        let class = kind.name().replace(' ', "-");
        writeln!(
            out,
            "<tr><th scope=\"row\"><svg class=\"key\" viewBox=\"0 0 1 1\" aria-hidden=\"true\"><rect class=\"k-{class}\" width=\"1\" height=\"1\"/></svg>{}</th><td>{}</td><td>{:.2} %</td></tr>",
            kind.name(),
            ShownCount(*bytes),
            *bytes as f64 / size * 100.0
        )?;
    }
    writeln!(
        out,
        "</tbody><tfoot><tr><th scope=\"row\">the file</th><td>{}</td><td>100 %</td></tr></tfoot></table>",
        ShownCount(file.layout.size)
    )?;
    writeln!(out, "<p class=\"note\">Headers of pages are {} bytes of their pages.", ShownCount(headers))?;
    if file.layout.overlapping > 0 {
        write!(
            out,
            " {} bytes belong to more than one part: the file is damaged.",
            ShownCount(file.layout.overlapping)
        )?;
    }
    out.push_str("</p></section>\n");
    Ok(())
}

fn findings(file: &ReportedFile, out: &mut String) -> fmt::Result {
    let problems = &file.layout.problems;
    if file.findings.is_none() && problems.is_empty() {
        return Ok(());
    }
    out.push_str("<section><h3>What is wrong</h3>\n");
    let findings = file.findings.as_deref().unwrap_or_default();
    if findings.is_empty() && problems.is_empty() {
        out.push_str("<p>No rule of the format is broken.</p>");
    } else {
        out.push_str("<ul class=\"findings\">\n");
        for finding in findings.iter().take(MOST_FINDINGS) {
            writeln!(
                out,
                "<li class=\"s-{0}\"{4}><b>{0}</b> <code>{1}</code> {2}<br><small>{3}</small></li>",
                finding.rule.severity.name(),
                finding.rule.id,
                Escaped(&finding.message),
                Escaped(&finding.place.to_string()),
                finding.place.offset.map(|offset| format!(" data-offset=\"{offset}\"")).unwrap_or_default()
            )?;
        }
        for problem in problems.iter().take(MOST_FINDINGS) {
            writeln!(out, "<li class=\"s-corrupt\"><b>unread</b> {}</li>", Escaped(&problem.to_string()))?;
        }
        out.push_str("</ul>");
        let more =
            findings.len().saturating_sub(MOST_FINDINGS) + problems.len().saturating_sub(MOST_FINDINGS);
        if more > 0 {
            write!(out, "<p>And {more} more: <code>marquetry verify</code> has all.</p>")?;
        }
    }
    out.push_str("</section>\n");
    Ok(())
}

fn advice(file: &ReportedFile, out: &mut String) -> fmt::Result {
    if file.advice.is_empty() {
        return Ok(());
    }
    out.push_str("<section><h3>What would help</h3>\n<ul>\n");
    file.advice.iter().try_for_each(|advice| writeln!(out, "<li>{}</li>", Escaped(advice)))?;
    out.push_str("</ul></section>\n");
    Ok(())
}

/// Maximum number of findings that a page shows.
const MOST_FINDINGS: usize = 100;
