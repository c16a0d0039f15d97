//! `pages`: every page of every column chunk.

use super::column_chunks::{ChunkArgs, page_reader};
use super::damaged::Damaged;
use super::heading::title;
use crate::args::Files;
use crate::failure::{Failure, Outcome};
use crate::file_name;
use crate::output::Output;
use crate::plain_value::cell;
use crate::text_table::TextTable;
use clap::Args as ClapArgs;
use marquetry::OpenFile;
use marquetry::errors::Error;
use marquetry::file::page::{Checksum, LocatedHeader, PageReader};
use marquetry::internals::format::Encoding;
use marquetry::schema::Leaf;
use marquetry_base::Printable;
use serde_json::{Value, json};

/// The arguments of `pages`.
#[derive(Debug, ClapArgs)]
pub(crate) struct PagesArgs {
    #[command(flatten)]
    pub(crate) files: Files,
    #[command(flatten)]
    pub(crate) chunks: ChunkArgs,
    /// Do not read pages to verify their checksums
    #[arg(long)]
    pub(crate) no_verify: bool,
}

pub(crate) fn run(args: &PagesArgs, output: &mut Output, outcome: &mut Outcome) -> Result<(), Failure> {
    let are_several = args.files.are_several();
    let mut damaged = Damaged::default();
    args.files.for_each(outcome, |path, file| {
        let chunks = args.chunks.chunks(file.metadata())?;
        let each = |row_group: usize, column: usize, damaged: &mut Damaged, see: &mut See<'_>| {
            let leaf = file.metadata().schema().column(column);
            let place = |error: Error| error.in_column(leaf.dotted().clone()).in_row_group(row_group);
            // A damaged chunk does not hide the others.
            let mut failed = |error| damaged.push(path, place(error));
            for_each_page(&file, row_group, column, !args.no_verify, see, &mut failed)
        };
        if output.is_json() {
            return output.json_object(|object| {
                object.member("file", &file_name::shown(path))?;
                object.list("pages", |list| {
                    chunks.iter(file.metadata()).try_for_each(|(row_group, column)| {
                        let leaf = file.metadata().schema().column(column);
                        let mut see = |page: &Page| Ok(list.item(&page.json(row_group, leaf))?);
                        each(row_group, column, &mut damaged, &mut see)
                    })
                })
            });
        }
        if are_several {
            title(path, output)?;
        }
        chunks.iter(file.metadata()).try_for_each(|(row_group, column)| {
            let leaf = file.metadata().schema().column(column);
            output.line(format!("row group {row_group}, column {}", Printable(leaf.dotted())))?;
            let mut table = PageTable::new(leaf);
            let mut see = |page: &Page| table.add(&page.json(row_group, leaf), output);
            each(row_group, column, &mut damaged, &mut see)?;
            Ok(table.inner.print(output)?)
        })
    })?;
    damaged.report(outcome);
    Ok(())
}

/// A callback for each page.
type See<'a> = dyn FnMut(&Page) -> Result<(), Failure> + 'a;

/// A page, and what is known of it.
struct Page {
    start: LocatedHeader,
    /// `None` if it was not computed.
    checksum: Option<Checksum>,
    counts: Counts,
}

/// Counts from the levels of a data page.
#[derive(Default)]
struct Counts {
    rows: Option<u64>,
    nulls: Option<u64>,
}

/// Passes on the pages of a chunk as far as they can be found, and errors in them.
fn for_each_page(
    file: &OpenFile,
    row_group: usize,
    column: usize,
    verify: bool,
    see: &mut See<'_>,
    failed: &mut impl FnMut(Error),
) -> Result<(), Failure> {
    let chunk = file.metadata().row_group(row_group).column(column);
    let mut pages = match chunk.and_then(|chunk| page_reader(file, chunk, false)) {
        Ok(pages) => pages,
        Err(error) => {
            failed(error);
            return Ok(());
        }
    };
    let leaf = file.metadata().schema().column(column);
    loop {
        let start = match pages.next_header() {
            Ok(Some(start)) => start,
            Ok(None) => return Ok(()),
            Err(error) => {
                failed(error);
                return Ok(());
            }
        };
        let mut page = Page { counts: counts_in_header(&start, leaf), start, checksum: None };
        if verify && let Err(error) = look_into(&mut page, &mut pages, leaf) {
            failed(page.start.place(error));
        }
        see(&page)?;
    }
}

/// Verifies the checksum of a page, and counts rows and nulls that its header does not state.
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

/// The table of a chunk's pages.
struct PageTable {
    inner: TextTable,
    /// The members of a page's JSON object that are columns of it.
    members: Vec<&'static str>,
}

impl PageTable {
    fn new(leaf: &Leaf) -> Self {
        let def = (leaf.max_def() > 0).then_some(("def levels", "definition_levels"));
        let rep = (leaf.max_rep() > 0).then_some(("rep levels", "repetition_levels"));
        let (headings, members): (Vec<_>, Vec<_>) = HEADINGS.into_iter().chain(def).chain(rep).unzip();
        PageTable { inner: TextTable::new(&headings).indented().fitted(), members }
    }

    fn add(&mut self, page: &Value, output: &mut Output) -> Result<(), Failure> {
        Ok(self.inner.stream(self.members.iter().map(|member| cell(&page[member])), output)?)
    }
}

/// Headings of the table, and the JSON members below them.
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

/// Text after the options in `--help`.
pub(crate) const PAGES_HELP: &str = "\
Checksum: none (the page has none), ok, BAD, untrusted (wrong, by a writer whose checksums are known to be wrong),
unread (--no-verify). With a BAD one the exit code is 1.

JSON: {file, pages: [{row_group, column, page, kind, offset, header_size, compressed_size, uncompressed_size, values,
nulls, rows, encoding, definition_levels, repetition_levels, checksum}]}.

Examples:
  marquetry pages wines.parquet
  marquetry pages wines.parquet --row-group 0 --columns year,grapes.list.element";
