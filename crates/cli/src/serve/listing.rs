//! Pages of the files in a folder, and of a search below it.

use super::below_folder::{Entries, Folder};
use super::request::encoded;
use crate::failure::Failure;
use crate::keys;
use crate::printable::printable;
use marquetry::OpenFile;
use marquetry_inspect::{ShownBytes, ShownCount};
use marquetry_report::Escaped;
use std::fmt::{self, Write};
use std::time::{Duration, Instant};

/// The data of a page of a folder.
pub(super) struct Listing<'a> {
    pub(super) folder: &'a Folder,
    /// The beginning of all addresses.
    pub(super) base: &'a str,
}

/// A file that a search found, and its matching columns.
struct Found {
    names: Vec<String>,
    columns: Vec<String>,
}

impl Listing<'_> {
    /// The page of a folder, from entry `from` on; `None` if the folder does not exist.
    pub(super) fn page(&self, names: &[String], from: usize) -> Option<String> {
        let entries = self.folder.entries(names)?;
        let mut page = String::new();
        // Writing to a string cannot fail.
        let _ = self.write_page(names, &entries, from, &mut page);
        Some(page)
    }

    /// The page of files and folders in or below this folder whose names match, and of files with matching columns.
    pub(super) fn found(&self, names: &[String], wanted: &str) -> Option<String> {
        self.folder.entries(names)?;
        let mut search = Search {
            wanted: wanted.to_lowercase(),
            found: Vec::new(),
            looked_at: 0,
            end: Instant::now() + SEARCH_TIME,
            is_complete: true,
            unread: 0,
        };
        search.below(self.folder, &mut names.to_vec());
        let mut page = String::new();
        let _ = self.write_found(names, wanted, &search, &mut page);
        Some(page)
    }

    fn write_page(&self, names: &[String], entries: &Entries, from: usize, out: &mut String) -> fmt::Result {
        self.head(names, "", out)?;
        let Entries { list: entries, are_all } = entries;
        let end = entries.len().min(from.saturating_add(ENTRIES_A_PAGE));
        let shown = entries.get(from.min(end)..end).unwrap_or_default();
        let more = if *are_all { "" } else { "; the folder has more, which are not listed here" };
        if entries.is_empty() {
            writeln!(out, "<p>No Parquet files, and no folders{more}.</p>")?;
        } else {
            writeln!(
                out,
                "<p class=\"note\">{} to {} of {}{more}</p>",
                from.min(end) + 1,
                end,
                ShownCount(entries.len() as u64)
            )?;
            self.table_head("", out);
            for entry in shown {
                let path: Vec<String> = names.iter().chain([&entry.name]).cloned().collect();
                match entry.is_folder {
                    true => {
                        let name = Escaped(&entry.name);
                        writeln!(
                            out,
                            "<tr><th scope=\"row\"><a href=\"{}\">{name}/</a></th><td colspan=\"6\">folder</td></tr>",
                            self.link("folder", &path)
                        )?;
                    }
                    false => self.row(&path, &entry.name, entry.size, None, out)?,
                }
            }
            out.push_str("</tbody></table></div>\n");
        }
        let here = self.link("folder", names);
        out.push_str("<p>");
        if from > 0 {
            write!(out, "<a href=\"{here}?from={}\">Earlier</a> ", from.saturating_sub(ENTRIES_A_PAGE))?;
        }
        if end < entries.len() {
            write!(out, "<a href=\"{here}?from={end}\">Further</a>")?;
        }
        out.push_str("</p>\n");
        out.push_str(TAIL);
        Ok(())
    }

    fn write_found(&self, names: &[String], wanted: &str, search: &Search, out: &mut String) -> fmt::Result {
        self.head(names, wanted, out)?;
        let found = &search.found;
        let early =
            "; the search ended early, as there is much to look at: go into a folder and search there";
        let early = if search.is_complete { "" } else { early };
        write!(out, "<p role=\"status\">{} found{early}.", found.len())?;
        if search.unread > 0 {
            write!(
                out,
                " Files and folders that cannot be read: {}; what is in them is not known.",
                search.unread
            )?;
        }
        out.push_str("</p>\n");
        if !found.is_empty() {
            self.table_head("<th scope=\"col\">Columns</th>", out);
            for file in found {
                let name = file.names[names.len()..].join("/");
                let size = self.folder.file(&file.names).ok().flatten().map_or(0, |file| file.source.len());
                self.row(&file.names, &name, size, Some(&file.columns.join(", ")), out)?;
            }
            out.push_str("</tbody></table></div>\n");
        }
        out.push_str(TAIL);
        Ok(())
    }

    fn head(&self, names: &[String], wanted: &str, out: &mut String) -> fmt::Result {
        let title = names.last().map_or("All files", String::as_str);
        out.push_str(HEAD);
        writeln!(
            out,
            "<title>{}</title>\n<link rel=\"stylesheet\" href=\"{}/site.css\">\n</head>\n<body>\n<main>",
            Escaped(title),
            self.base
        )?;
        write!(out, "<nav aria-label=\"Folders\"><a href=\"{}/folder/\">All files</a>", self.base)?;
        for (i, name) in names.iter().enumerate() {
            write!(out, " / <a href=\"{}\">{}</a>", self.link("folder", &names[..=i]), Escaped(name))?;
        }
        writeln!(out, "</nav>\n<h1>{}</h1>", Escaped(title))?;
        writeln!(
            out,
            "<form class=\"tools\" role=\"search\" action=\"{}\"><label>Files and columns whose name has <input type=\"search\" name=\"search\" value=\"{}\"></label> <button>Search</button></form>",
            self.link("folder", names),
            Escaped(wanted)
        )
    }

    fn table_head(&self, more: &str, out: &mut String) {
        out.push_str("<div class=\"scroll\" role=\"region\" aria-label=\"Files\" tabindex=\"0\"><table><thead><tr><th scope=\"col\">Name</th><th scope=\"col\">Values</th><th scope=\"col\">Bytes</th><th scope=\"col\">Rows</th><th scope=\"col\">Row groups</th><th scope=\"col\">Columns</th><th scope=\"col\">Written by</th>");
        out.push_str(more);
        out.push_str("</tr></thead><tbody>\n");
    }

    fn row(
        &self,
        names: &[String],
        name: &str,
        size: u64,
        columns: Option<&str>,
        out: &mut String,
    ) -> fmt::Result {
        let shown = Escaped(name);
        write!(
            out,
            "<tr><th scope=\"row\"><a href=\"{}\">{shown}</a></th><td><a href=\"{}\" aria-label=\"values of {shown}\">values</a></td><td class=\"n\">{}</td>",
            self.link("report", names),
            self.link("rows", names),
            ShownBytes(size)
        )?;
        match self.footer(names) {
            Ok(file) => {
                let metadata = file.metadata();
                for count in [
                    metadata.num_rows(),
                    metadata.num_row_groups() as u64,
                    metadata.schema().num_columns() as u64,
                ] {
                    write!(out, "<td class=\"n\">{}</td>", ShownCount(count))?;
                }
                write!(out, "<td>{}</td>", Escaped(metadata.created_by().unwrap_or_default()))?;
            }
            Err(failure) => {
                write!(out, "<td colspan=\"4\">{}</td>", Escaped(&failure.to_string()))?;
            }
        }
        if let Some(columns) = columns {
            write!(out, "<td>{}</td>", Escaped(columns))?;
        }
        out.push_str("</tr>\n");
        Ok(())
    }

    fn footer(&self, names: &[String]) -> Result<OpenFile, Failure> {
        footer(self.folder, names)?.ok_or_else(|| Failure::Check("it is gone".to_owned()))
    }

    fn link(&self, kind: &str, names: &[String]) -> String {
        link(self.base, kind, names)
    }
}

/// The footer of a file; `None` if the file does not exist.
fn footer(folder: &Folder, names: &[String]) -> Result<Option<OpenFile>, Failure> {
    let Some(file) = folder.file(names)? else { return Ok(None) };
    Ok(Some(OpenFile::new(file.parquet()?.source, keys::reader_options())?))
}

/// The address of a page about a file or folder.
pub(super) fn link(base: &str, kind: &str, names: &[String]) -> String {
    let mut link = format!("{base}/{kind}");
    names.iter().for_each(|name| link += &format!("/{}", encoded(name)));
    link
}

struct Search {
    wanted: String,
    found: Vec<Found>,
    looked_at: usize,
    end: Instant,
    /// Whether everything was searched.
    is_complete: bool,
    /// Number of files and folders that cannot be read.
    unread: usize,
}

impl Search {
    /// Searches a folder. Returns whether the search goes on.
    fn below(&mut self, folder: &Folder, names: &mut Vec<String>) -> bool {
        let Some(Entries { list, are_all }) = folder.entries(names) else {
            self.unread += 1;
            return true;
        };
        self.is_complete &= are_all;
        for entry in list {
            self.looked_at += 1;
            if self.looked_at > MOST_LOOKED_AT
                || self.found.len() >= ENTRIES_A_PAGE
                || Instant::now() > self.end
                || names.len() > DEEPEST
            {
                self.is_complete = false;
                return false;
            }
            names.push(entry.name);
            let goes_on = match entry.is_folder {
                true => self.below(folder, names),
                false => {
                    self.file(folder, names);
                    true
                }
            };
            names.pop();
            if !goes_on {
                return false;
            }
        }
        true
    }

    fn file(&mut self, folder: &Folder, names: &[String]) {
        let is_called_so = names.last().is_some_and(|name| name.to_lowercase().contains(&self.wanted));
        let footer = footer(folder, names);
        self.unread += usize::from(footer.is_err());
        let footer = footer.ok().flatten();
        let columns: Vec<String> = footer
            .iter()
            .flat_map(|file| file.metadata().schema().columns())
            .map(|leaf| leaf.dotted().to_string())
            .filter(|name| name.to_lowercase().contains(&self.wanted))
            .take(COLUMNS_SHOWN)
            .map(|name| printable(&name))
            .collect();
        if is_called_so || !columns.is_empty() {
            self.found.push(Found { names: names.to_vec(), columns });
        }
    }
}

/// The beginning of every page of the site.
pub(super) const HEAD: &str = "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<meta name=\"color-scheme\" content=\"light dark\">\n";
/// The end of every page.
pub(super) const TAIL: &str = "</main>\n</body>\n</html>\n";
const ENTRIES_A_PAGE: usize = 200;
const COLUMNS_SHOWN: usize = 10;
const MOST_LOOKED_AT: usize = 20_000;
const DEEPEST: usize = 32;
const SEARCH_TIME: Duration = Duration::from_secs(5);
