//! The entries of a page: levels and values.

use crate::opened_file::OpenedFile;
use crate::screen::Screen;
use crate::text::shown;
use crate::value_texts::texts;
use arrow_schema::DataType;
use marquetry_base::{Error, Result};
use marquetry_core::page::LocatedHeader;
use marquetry_encoding::{EncodedPage, Values, registry};
use std::rc::Rc;
use std::sync::Arc;

/// The entries of a page.
pub(crate) struct PageValues {
    title: String,
    max_def: u8,
    max_rep: u8,
    entries: Vec<Entry>,
    problem: Option<String>,
}

struct Entry {
    rep: u8,
    def: u8,
    value: Option<String>,
}

impl PageValues {
    pub(crate) fn new(file: Rc<OpenedFile>, row_group: usize, column: usize, start: &LocatedHeader) -> Self {
        let leaf = file.metadata().schema().column(column);
        let mut values = PageValues {
            title: format!("values of page {}", start.index),
            max_def: leaf.max_def(),
            max_rep: leaf.max_rep(),
            entries: Vec::new(),
            problem: None,
        };
        if let Err(error) = values.read(&file, row_group, column, start) {
            values.problem = Some(shown(&error.to_string()));
        }
        values
    }

    fn read(
        &mut self,
        file: &OpenedFile,
        row_group: usize,
        column: usize,
        start: &LocatedHeader,
    ) -> Result<()> {
        let leaf = file.metadata().schema().column(column);
        let statistics = file.opened.statistics(leaf.dotted());
        let as_type = statistics.map_or(DataType::Null, |statistics| statistics.data_type().clone());
        let mut reader = file.pages(row_group, column)?;
        let first = reader.next_header()?;
        let dictionary = first.filter(LocatedHeader::is_dictionary);
        if start.is_dictionary() {
            let page = reader.dictionary_page(start)?;
            let dictionary = reader.dictionary(&page, MOST)?;
            let texts = texts(dictionary.values(), &as_type)?;
            let entry = |value: Option<String>| Entry {
                rep: 0,
                def: self.max_def,
                value: value.map(|text| shown(&text)),
            };
            let entries: Vec<Entry> = texts.into_iter().take(MOST).map(entry).collect();
            self.entries = entries;
            (self.max_def, self.max_rep) = (0, 0);
            return Ok(());
        }
        let dictionary = match &dictionary {
            Some(header) => {
                let page = reader.dictionary_page(header)?;
                Some(Arc::new(reader.dictionary(&page, usize::MAX)?))
            }
            None => None,
        };
        let start = reader.seek(start.offset, start.index)?;
        let mut page = reader.data(&start, self.max_rep, self.max_def)?;
        let n = page.num_values.min(MOST);
        let (mut rep, mut def) = (Vec::new(), Vec::new());
        page.rep.decode(n, &mut rep)?;
        page.def.decode(n, &mut def)?;
        let there = def.iter().filter(|level| **level == self.max_def).count();
        let mut values = Values::empty(leaf.physical().shape());
        let encoded = EncodedPage {
            bytes: page.values,
            max_values: page.max_values,
            physical: leaf.physical(),
            dictionary,
            memory: file.limits().memory.clone(),
        };
        let read = registry::decoder(page.encoding, &encoded)
            .and_then(|mut decoder| decoder.decode(there, &mut values));
        let mut texts = texts(&values, &as_type)?.into_iter();
        for (rep, def) in rep.into_iter().zip(def) {
            let is_value = def == self.max_def;
            let value = if is_value { texts.next() } else { None };
            if is_value && value.is_none() {
                break;
            }
            self.entries.push(Entry {
                rep,
                def,
                value: value.map(|text| shown(&text.unwrap_or_else(|| "?".to_owned()))),
            });
        }
        read.map_err(|error: Error| start.place(error))
    }
}

impl Screen for PageValues {
    fn title(&self) -> String {
        self.title.clone()
    }

    fn headings(&self) -> Vec<String> {
        let mut headings = vec![">entry"];
        headings.extend((self.max_rep > 0).then_some(">repetition"));
        headings.extend((self.max_def > 0).then_some(">definition"));
        headings.push("value");
        headings.into_iter().map(str::to_owned).collect()
    }

    fn len(&self) -> (usize, bool) {
        (self.entries.len() + usize::from(self.problem.is_some()), true)
    }

    fn row(&mut self, index: usize) -> Vec<String> {
        let Some(entry) = self.entries.get(index) else {
            return vec!["!".to_owned(), self.problem.clone().unwrap_or_default()];
        };
        let mut cells = vec![index.to_string()];
        cells.extend((self.max_rep > 0).then(|| entry.rep.to_string()));
        cells.extend((self.max_def > 0).then(|| entry.def.to_string()));
        cells.push(match &entry.value {
            Some(value) => value.clone(),
            None => format!("- (level {} of {})", entry.def, self.max_def),
        });
        cells
    }

    fn about(&mut self, index: usize) -> String {
        match self.entries.get(index) {
            None => "From here on the values cannot be read.".to_owned(),
            Some(entry) if entry.value.is_none() => "No value: something on the path is null, or a list is empty. Only the level is stored. README.md, Nested Encoding.".to_owned(),
            Some(_) => "A value, as its type means it. Null, where there is one, takes no bytes. README.md, Nulls.".to_owned(),
        }
    }
}

/// Maximum number of entries that are shown.
const MOST: usize = 100_000;
