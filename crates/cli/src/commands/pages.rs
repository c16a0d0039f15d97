//! `pages`: every page of every column chunk.

use super::column_chunks::{Chunks, page_reader};
use super::heading::title;
use crate::args::Files;
use crate::failure::{Failure, Outcome};
use crate::file_name;
use crate::output::Output;
use crate::table::Table;
use crate::value::cell;
use clap::Args as ClapArgs;
use marquetry::OpenFile;
use marquetry::errors::Error;
use marquetry::file::page::{Checksum, LocatedHeader, PageReader};
use marquetry::format::Encoding;
use marquetry::schema::Leaf;
use marquetry_base::Printable;
use serde_json::{Value, json};

/// The arguments of `pages`.
#[derive(Debug, ClapArgs)]
pub(crate) struct PagesArgs {
    #[command(flatten)]
    pub(crate) files: Files,
    /// Only this row group, counted from 0
    #[arg(long, short = 'g', value_name = "N")]
    pub(crate) row_group: Option<usize>,
    /// Only this column, and all below it: a dotted path
    #[arg(long, short, value_name = "PATH")]
    pub(crate) column: Option<String>,
    /// Do not read the pages to compute their checksums
    #[arg(long)]
    pub(crate) no_verify: bool,
}

pub(crate) fn run(args: &PagesArgs, output: &mut Output, outcome: &mut Outcome) -> Result<(), Failure> {
    let are_several = args.files.are_several();
    let mut damaged = Vec::new();
    args.files.for_each(outcome, |path, file| {
        let chunks = Chunks::new(file.metadata(), args.row_group, args.column.as_deref())?;
        let mut all = Vec::new();
        if !output.is_json() && are_several {
            title(path, output)?;
        }
        for (row_group, column) in chunks.iter(file.metadata()) {
            let leaf = file.metadata().schema().column(column);
            let place = |error: Error| error.in_column(leaf.dotted().clone()).in_row_group(row_group);
            let (pages, failures) = list(&file, row_group, column, !args.no_verify);
            // A damaged chunk does not hide the others.
            damaged.extend(failures.into_iter().map(|error| (path.to_owned(), place(error))));
            let pages: Vec<Value> = pages.iter().map(|page| page.json(row_group, leaf)).collect();
            match output.is_json() {
                true => all.extend(pages),
                false => print(row_group, leaf, &pages, output)?,
            }
        }
        if output.is_json() {
            output.json(&json!({"file": file_name::shown(path), "pages": all}))?;
        }
        Ok(())
    })?;
    for (path, error) in damaged {
        outcome.report(Some(&path), &Failure::File(error));
    }
    Ok(())
}

/// What is known of a page.
struct Page {
    start: LocatedHeader,
    /// `None` if it was not computed.
    checksum: Option<Checksum>,
    counts: Counts,
}

/// What the levels of a data page say.
#[derive(Default)]
struct Counts {
    rows: Option<u64>,
    nulls: Option<u64>,
}

/// The pages of a chunk as far as they can be found, and what is wrong with them.
fn list(file: &OpenFile, row_group: usize, column: usize, verify: bool) -> (Vec<Page>, Vec<Error>) {
    let (mut list, mut failures) = (Vec::new(), Vec::new());
    let chunk = file.metadata().row_group(row_group).column(column);
    let mut pages = match chunk.and_then(|chunk| page_reader(file, chunk, false)) {
        Ok(pages) => pages,
        Err(error) => return (list, vec![error]),
    };
    let leaf = file.metadata().schema().column(column);
    loop {
        let start = match pages.next_header() {
            Ok(Some(start)) => start,
            Ok(None) => return (list, failures),
            Err(error) => {
                failures.push(error);
                return (list, failures);
            }
        };
        let mut page = Page { counts: counts_in_header(&start, leaf), start, checksum: None };
        if verify {
            match look_into(&mut page, &mut pages, leaf) {
                Ok(()) => {}
                Err(error) => failures.push(page.start.place(error)),
            }
        }
        list.push(page);
    }
}

/// Holds a page against its checksum, and counts rows and nulls that its header does not tell.
fn look_into(page: &mut Page, pages: &mut PageReader, leaf: &Leaf) -> Result<(), Error> {
    let checksum = pages.checksum(&page.start)?;
    page.checksum = Some(checksum);
    if let Checksum::Bad { stored, computed } = checksum {
        let message = format!("checksum mismatch: the page says {stored:08x}, its bytes give {computed:08x}");
        return Err(Error::corrupt(message));
    }
    if page.start.is_data() && (page.counts.rows.is_none() || page.counts.nulls.is_none()) {
        let counted = count_levels(&page.start, pages, leaf)?;
        page.counts.rows = page.counts.rows.or(counted.rows);
        page.counts.nulls = page.counts.nulls.or(counted.nulls);
    }
    Ok(())
}

fn counts_in_header(start: &LocatedHeader, leaf: &Leaf) -> Counts {
    let is_flat = leaf.max_rep() == 0;
    let values = start.num_values().ok().filter(|_| start.is_data());
    let nulls =
        start.header.data_page_header_v2.as_ref().and_then(|header| u64::try_from(header.num_nulls).ok());
    Counts {
        rows: start.num_rows().or(values.filter(|_| is_flat)).map(|rows| rows as u64),
        nulls: nulls.or((leaf.max_def() == 0 && start.is_data()).then_some(0)),
    }
}

/// Rows begin where the repetition level is 0; values are where the definition level is the largest.
fn count_levels(start: &LocatedHeader, pages: &mut PageReader, leaf: &Leaf) -> Result<Counts, Error> {
    let mut data = pages.data(start, leaf.max_rep(), leaf.max_def())?;
    let (mut rows, mut nulls, mut left) = (0, 0, data.num_values);
    let mut levels = Vec::new();
    while left > 0 {
        let n = left.min(LEVELS_AT_ONCE);
        left -= n;
        levels.clear();
        data.rep.decode(n, &mut levels)?;
        rows += levels.iter().filter(|level| **level == 0).count() as u64;
        levels.clear();
        data.def.decode(n, &mut levels)?;
        nulls += levels.iter().filter(|level| **level != leaf.max_def()).count() as u64;
    }
    Ok(Counts { rows: Some(rows), nulls: Some(nulls) })
}

impl Page {
    fn json(&self, row_group: usize, leaf: &Leaf) -> Value {
        let start = &self.start;
        let header = &start.header;
        let (encoding, def, rep) = encodings(start);
        let name = |encoding: Option<Encoding>| encoding.map(|encoding| encoding.to_string());
        let entries = header.dictionary_page_header.as_ref().map(|header| i64::from(header.num_values));
        let values = start.num_values().ok().filter(|_| start.is_data()).map(|values| values as i64);
        let checksum = match self.checksum {
            None if header.crc.is_none() => "none",
            None => "unread",
            Some(Checksum::Absent) => "none",
            Some(Checksum::Good) => "ok",
            Some(Checksum::Untrusted) => "untrusted",
            Some(Checksum::Bad { .. }) => "BAD",
        };
        json!({
            "row_group": row_group,
            "column": &**leaf.dotted(),
            "page": start.index,
            "kind": header.type_.to_string(),
            "offset": start.offset,
            "header_size": start.body - start.offset,
            "compressed_size": header.compressed_page_size,
            "uncompressed_size": header.uncompressed_page_size,
            "values": values.or(entries),
            "nulls": self.counts.nulls,
            "rows": self.counts.rows,
            "encoding": name(encoding),
            "definition_levels": name(def),
            "repetition_levels": name(rep),
            "checksum": checksum,
        })
    }
}

/// The encodings of values, definition levels and repetition levels.
fn encodings(start: &LocatedHeader) -> (Option<Encoding>, Option<Encoding>, Option<Encoding>) {
    let header = &start.header;
    if let Some(header) = &header.data_page_header {
        let levels = (header.definition_level_encoding, header.repetition_level_encoding);
        return (Some(header.encoding), Some(levels.0), Some(levels.1));
    }
    if let Some(header) = &header.data_page_header_v2 {
        // SPEC: levels of V2 pages are always RLE.
        return (Some(header.encoding), Some(Encoding::RLE), Some(Encoding::RLE));
    }
    (header.dictionary_page_header.as_ref().map(|header| header.encoding), None, None)
}

fn print(row_group: usize, leaf: &Leaf, pages: &[Value], output: &mut Output) -> Result<(), Failure> {
    output.line(format!("row group {row_group}, column {}", Printable(leaf.dotted())))?;
    let mut headings: Vec<String> = HEADINGS.iter().map(|(heading, _)| (*heading).to_owned()).collect();
    let has_levels = [leaf.max_def() > 0, leaf.max_rep() > 0];
    headings.extend(has_levels[0].then(|| "def levels".to_owned()));
    headings.extend(has_levels[1].then(|| "rep levels".to_owned()));
    let mut table = Table::new(&headings).indented();
    for page in pages {
        let facts = HEADINGS.iter().map(|(_, member)| cell(&page[member]));
        let def = has_levels[0].then(|| cell(&page["definition_levels"]));
        let rep = has_levels[1].then(|| cell(&page["repetition_levels"]));
        table.row(facts.chain(def).chain(rep));
    }
    Ok(table.print(output)?)
}

/// Headings of the table, and the members of the JSON object that stand under them.
const HEADINGS: [(&str, &str); 11] = [
    (">page", "page"),
    ("kind", "kind"),
    (">offset", "offset"),
    (">header", "header_size"),
    (">compressed", "compressed_size"),
    (">uncompressed", "uncompressed_size"),
    (">values", "values"),
    (">nulls", "nulls"),
    (">rows", "rows"),
    ("checksum", "checksum"),
    ("encoding", "encoding"),
];
/// Levels are counted in blocks: a page may claim many.
const LEVELS_AT_ONCE: usize = 8192;

/// What stands behind the options in `--help`.
pub(crate) const PAGES_HELP: &str = "\
Checksum: none (the page has none), ok, BAD, untrusted (wrong, by a writer whose checksums mean nothing), unread
(--no-verify). A BAD one makes the exit code 1.
JSON: {file, pages: [{row_group, column, page, kind, offset, header_size, compressed_size, uncompressed_size, values,
nulls, rows, encoding, definition_levels, repetition_levels, checksum}]}.

Examples:
  marquetry pages wines.parquet
  marquetry pages wines.parquet --row-group 0 --column grapes.list.element";
