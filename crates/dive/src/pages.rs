//! The pages of a chunk, whose headers are read as far as they are displayed.

use crate::opened_file::OpenedFile;
use crate::page::Page;
use crate::screen::Screen;
use crate::text::shown;
use crate::values::PageValues;
use marquetry_core::page::{LocatedHeader, PageReader};
use marquetry_inspect::ShownCount;
use std::rc::Rc;

/// The pages of a chunk.
pub(crate) struct Pages {
    file: Rc<OpenedFile>,
    row_group: usize,
    column: usize,
    reader: Option<PageReader>,
    found: Vec<LocatedHeader>,
    /// Why no more pages can be read.
    problem: Option<String>,
}

impl Pages {
    pub(crate) fn new(file: Rc<OpenedFile>, row_group: usize, column: usize) -> Self {
        let (reader, problem) = match file.pages(row_group, column) {
            Ok(mut reader) => {
                reader.limit_read_ahead();
                (Some(reader), None)
            }
            Err(error) => (None, Some(shown(&error.to_string()))),
        };
        let mut pages = Pages { file, row_group, column, reader, found: Vec::new(), problem };
        pages.look_at(0, 0);
        pages
    }
}

impl Screen for Pages {
    fn title(&self) -> String {
        "pages".to_owned()
    }

    fn headings(&self) -> Vec<String> {
        [">page", "kind", ">byte", ">header", ">compressed", ">uncompressed", ">entries", "encoding"]
            .map(str::to_owned)
            .to_vec()
    }

    fn len(&self) -> (usize, bool) {
        (self.found.len() + usize::from(self.problem.is_some()), self.reader.is_none())
    }

    fn look_at(&mut self, last: usize, _: usize) {
        while self.found.len() <= last.saturating_add(AHEAD) {
            let Some(reader) = &mut self.reader else { return };
            match reader.next_header() {
                Ok(Some(header)) => self.found.push(header),
                Ok(None) => self.reader = None,
                Err(error) => {
                    self.problem = Some(shown(&error.to_string()));
                    self.reader = None;
                }
            }
        }
    }

    fn row(&mut self, index: usize) -> Vec<String> {
        let Some(start) = self.found.get(index) else {
            let problem = self.problem.clone().unwrap_or_default();
            return vec![String::new(), "!".to_owned(), problem];
        };
        let header = &start.header;
        let dictionary = header.dictionary_page_header.as_ref();
        let entries = dictionary.map(|header| header.num_values.to_string());
        let entries =
            entries.unwrap_or_else(|| start.num_values().map_or_else(|_| "?".to_owned(), |n| n.to_string()));
        let encoding = start.encoding().or(dictionary.map(|header| header.encoding));
        vec![
            start.index.to_string(),
            header.type_.to_string(),
            ShownCount(start.offset).to_string(),
            (start.body - start.offset).to_string(),
            header.compressed_page_size.to_string(),
            header.uncompressed_page_size.to_string(),
            entries,
            encoding.map(|encoding| encoding.to_string()).unwrap_or_default(),
        ]
    }

    fn about(&mut self, index: usize) -> String {
        match self.found.get(index) {
            None => "No more pages can be found: what comes here is not a page header, or there is no key. README.md, Error recovery.".to_owned(),
            Some(start) if start.is_dictionary() => "The distinct values of this chunk. Encodings.md, Dictionary Encoding; parquet.thrift, DictionaryPageHeader.".to_owned(),
            Some(_) => "Levels and values of some rows. Enter explains its bytes, v shows its values. README.md, Data Pages; parquet.thrift, PageHeader.".to_owned(),
        }
    }

    fn can_enter(&self, index: usize) -> bool {
        index < self.found.len()
    }

    fn enter(&mut self, index: usize) -> Option<Box<dyn Screen>> {
        let start = self.found.get(index)?;
        Some(Box::new(Page::new(self.file.clone(), self.row_group, self.column, start)))
    }

    fn go(&mut self, key: char, index: usize) -> Option<Box<dyn Screen>> {
        let start = self.found.get(index).filter(|_| key == 'v')?;
        Some(Box::new(PageValues::new(self.file.clone(), self.row_group, self.column, start)))
    }

    fn keys(&self) -> &'static str {
        "v values"
    }

    fn byte(&mut self, index: usize) -> Option<u64> {
        self.found.get(index).map(|start| start.offset)
    }
}

/// Headers that are read ahead of the display.
const AHEAD: usize = 100;
