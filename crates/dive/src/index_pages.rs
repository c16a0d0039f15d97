//! The entries of the column index and the offset index for each page.

use crate::footer_structs::{COLUMN_INDEX, OFFSET_INDEX};
use crate::opened_file::OpenedFile;
use crate::screen::Screen;
use crate::struct_fields::StructFields;
use crate::text::shown;
use arrow_array::{Array, ArrayRef};
use marquetry_base::Result;
use marquetry_core::page_index::PageIndex;
use marquetry_inspect::{ShownCount, value_texts};
use std::ops::Range;
use std::rc::Rc;

/// The pages of a chunk by its indexes.
pub(crate) struct IndexPages {
    file: Rc<OpenedFile>,
    row_group: usize,
    column: usize,
    order: String,
    pages: Vec<Vec<String>>,
    /// Offsets of the pages.
    places: Vec<u64>,
    problem: Option<String>,
}

impl IndexPages {
    pub(crate) fn new(file: Rc<OpenedFile>, row_group: usize, column: usize) -> Self {
        let mut pages = IndexPages {
            file,
            row_group,
            column,
            order: "no column index".to_owned(),
            pages: Vec::new(),
            places: Vec::new(),
            problem: None,
        };
        if let Err(error) = pages.read() {
            pages.problem = Some(shown(&error.to_string()));
        }
        pages
    }

    fn read(&mut self) -> Result<()> {
        let metadata = self.file.metadata();
        let limits = self.file.limits();
        let index = PageIndex::read(&*self.file.source, metadata, [self.row_group], &[self.column], limits)?;
        let bounds = index.column_index(self.row_group, self.column);
        let places = index.offset_index(self.row_group, self.column);
        if let Some(bounds) = bounds {
            self.order = format!("bounds {}", bounds.boundary_order);
        }
        let dotted = metadata.schema().column(self.column).dotted();
        // Bounds that are not trusted are left out.
        let group = || [metadata.row_group(self.row_group)];
        let typed = self.file.opened.statistics(dotted).ok().filter(|_| bounds.is_some());
        let mins = typed.as_ref().and_then(|typed| typed.data_page_mins(&index, group()).ok());
        let maxes = typed.as_ref().and_then(|typed| typed.data_page_maxes(&index, group()).ok());
        let (mins, maxes) = (texts(mins), texts(maxes));
        let count = bounds.map_or(0, |bounds| bounds.null_pages.len());
        let count = count.max(places.map_or(0, |places| places.page_locations.len()));
        let number = |n: i64| u64::try_from(n).map_or_else(|_| n.to_string(), |n| ShownCount(n).to_string());
        for page in 0..count {
            let place = places.and_then(|places| places.page_locations.get(page));
            let nulls = bounds.and_then(|bounds| bounds.null_counts.as_ref()?.get(page).copied());
            let is_null = bounds.is_some_and(|bounds| bounds.null_pages.get(page) == Some(&true));
            let bound = |texts: &[String]| match is_null {
                true => "nulls only".to_owned(),
                false => texts.get(page).cloned().unwrap_or_else(|| "-".to_owned()),
            };
            self.places.extend(place.map(|place| u64::try_from(place.offset).unwrap_or(0)));
            self.pages.push(vec![
                page.to_string(),
                place.map(|place| number(place.offset)).unwrap_or_default(),
                place.map(|place| number(place.compressed_page_size.into())).unwrap_or_default(),
                place.map(|place| number(place.first_row_index)).unwrap_or_default(),
                nulls.map(number).unwrap_or_default(),
                bound(&mins),
                bound(&maxes),
            ]);
        }
        Ok(())
    }

    /// The fields of an index struct.
    fn fields(&self, is_of_bounds: bool) -> Option<Box<dyn Screen>> {
        // Encrypted bytes have no readable fields.
        let chunk =
            self.file.chunk(self.row_group, self.column).ok().filter(|chunk| !chunk.is_encrypted())?;
        let (known, range) = match is_of_bounds {
            true => (&COLUMN_INDEX, chunk.column_index_range()),
            false => (&OFFSET_INDEX, chunk.offset_index_range()),
        };
        let range: Range<u64> = range?;
        let len = usize::try_from(range.end.checked_sub(range.start)?).ok()?;
        let bytes = self.file.source.read_at(range.start, len).ok()?;
        Some(Box::new(StructFields::new(known.name, bytes, Some(range.start), known)))
    }
}

fn texts(bounds: Option<ArrayRef>) -> Vec<String> {
    let texts = bounds.filter(|bounds| !bounds.is_empty()).and_then(|bounds| value_texts(&bounds).ok());
    let text = |text: Option<String>| text.map_or_else(|| "-".to_owned(), |text| shown(&text));
    texts.unwrap_or_default().into_iter().map(text).collect()
}

impl Screen for IndexPages {
    fn title(&self) -> String {
        format!("index, {}", self.order)
    }

    fn headings(&self) -> Vec<String> {
        [">page", ">byte", ">bytes", ">first row", ">nulls", "least", "greatest"].map(str::to_owned).to_vec()
    }

    fn len(&self) -> (usize, bool) {
        (self.pages.len() + usize::from(self.problem.is_some()), true)
    }

    fn row(&mut self, index: usize) -> Vec<String> {
        match self.pages.get(index) {
            Some(page) => page.clone(),
            None => vec!["!".to_owned(), self.problem.clone().unwrap_or_default()],
        }
    }

    fn about(&mut self, index: usize) -> String {
        match self.pages.get(index) {
            None => "The indexes cannot be read; pages can be, without them.".to_owned(),
            Some(_) => "What a filter that is outside of the bounds skips, and where the page is that it then need not read. c shows the bytes of the column index, which has the bounds, t those of the offset index, which has the places. PageIndex.md.".to_owned(),
        }
    }

    fn go(&mut self, key: char, _: usize) -> Option<Box<dyn Screen>> {
        match key {
            'c' => self.fields(true),
            't' => self.fields(false),
            _ => None,
        }
    }

    fn keys(&self) -> &'static str {
        "c column index  t offset index"
    }

    fn byte(&mut self, index: usize) -> Option<u64> {
        self.places.get(index).copied()
    }
}
