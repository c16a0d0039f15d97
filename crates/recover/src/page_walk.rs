//! Walks over a chunk's data pages by their headers, beside a reader that decodes them.

use marquetry_base::{Error, Limits, Result};
use marquetry_core::metadata::ColumnChunk;
use marquetry_core::page::{ChecksumTrust, LocatedHeader, PageBuffers, PageKinds, PageOptions, PageReader};
use marquetry_core::source::Source;
use marquetry_format::{PageHeader, PageType, Reader, Statistics};
use std::sync::Arc;

/// A walk from data page to data page.
pub(crate) struct PageWalk {
    pages: PageReader,
    trust: ChecksumTrust,
    limits: Arc<Limits>,
    /// Number of data pages so far.
    pub(crate) count: usize,
    /// Whether all pages so far, including dictionary pages, have a meaningful checksum. The reader has compared it.
    pub(crate) have_checksums: bool,
    /// Counts of all pages so far, by kind.
    pub(crate) kinds: PageKinds,
}

/// A data page, by its header.
pub(crate) struct WalkedPage {
    pub(crate) start: LocatedHeader,
    /// The statistics in the header. `Err` if they cannot be read, while the rest of the header can.
    pub(crate) statistics: Result<Option<Statistics>>,
    pub(crate) entries: usize,
}

impl PageWalk {
    pub(crate) fn new(
        source: &Arc<dyn Source>,
        chunk: ColumnChunk<'_>,
        trust: ChecksumTrust,
        limits: &Arc<Limits>,
    ) -> Result<Self> {
        let options = PageOptions::for_writer(None).with_limits(limits.clone()).with_trust(trust);
        let mut pages = PageReader::new(source.clone(), chunk, options, PageBuffers::default())?;
        pages.limit_read_ahead();
        Ok(PageWalk {
            pages,
            trust,
            limits: limits.clone(),
            count: 0,
            have_checksums: true,
            kinds: PageKinds::default(),
        })
    }

    /// Returns the next data page, whose entries were read. Fails if there is none.
    pub(crate) fn next(&mut self) -> Result<WalkedPage> {
        loop {
            // QUIRK: the number of values may leave out nulls; then there are more pages.
            let start = match self.pages.next_header()? {
                Some(start) => Some(start),
                None => self.pages.next_uncounted_header()?,
            };
            let start = start.ok_or_else(|| Error::corrupt("more values than are in the pages"))?;
            if let Some(page) = self.take(start)? {
                return Ok(page);
            }
        }
    }

    /// Returns the next data page behind the last entry, if the chunk has one, or if there are fewer than `wanted` so
    /// far.
    pub(crate) fn next_empty(&mut self, wanted: usize) -> Result<Option<WalkedPage>> {
        while let Some(start) = self.next_behind(wanted)? {
            if let Some(page) = self.take(start)? {
                return Ok(Some(page));
            }
        }
        Ok(None)
    }

    fn next_behind(&mut self, wanted: usize) -> Result<Option<LocatedHeader>> {
        if let Some(start) = self.pages.next_header()? {
            return Ok(Some(start));
        }
        if self.count >= wanted {
            return Ok(None);
        }
        match self.pages.next_uncounted_header() {
            Ok(start) => Ok(start.filter(LocatedHeader::is_data)),
            Err(error) if error.stops_reading() => Err(error),
            // The bytes behind the last page need not be a page.
            Err(_) => Ok(None),
        }
    }

    /// Records a header. Returns `None` if it is not that of a data page.
    fn take(&mut self, start: LocatedHeader) -> Result<Option<WalkedPage>> {
        // QUIRK: HAWQ stores 0 in every page instead of a checksum.
        let has_checksum = start.header.crc.is_some_and(|crc| crc != 0);
        self.kinds.add(&start.header);
        if start.is_data() || start.is_dictionary() {
            self.have_checksums &= has_checksum && self.trust == ChecksumTrust::Believed;
        }
        if !start.is_data() {
            return Ok(None);
        }
        self.count += 1;
        let bytes = self.pages.header_bytes(&start)?;
        let statistics = match PageHeader::read(&mut Reader::with_limits(&bytes, &self.limits)) {
            Err(error) if error.stops_reading() => return Err(error),
            header => header.map(|header| match header.type_ {
                PageType::DATA_PAGE => header.data_page_header.and_then(|v1| v1.statistics),
                PageType::DATA_PAGE_V2 => header.data_page_header_v2.and_then(|v2| v2.statistics),
                _ => None,
            }),
        };
        let entries = start.num_values()?;
        Ok(Some(WalkedPage { start, statistics, entries }))
    }
}
