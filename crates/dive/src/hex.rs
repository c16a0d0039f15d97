//! The bytes of the file, sixteen on each line.

use crate::opened_file::OpenedFile;
use crate::screen::Screen;
use crate::text::hex;
use bytes_window::Window;
use marquetry_inspect::ShownCount;
use std::rc::Rc;

/// All bytes of the file.
pub(crate) struct Hex {
    file: Rc<OpenedFile>,
    window: Window,
    /// The line that is chosen first.
    begin: usize,
}

impl Hex {
    /// All bytes; the line of `byte` is chosen.
    pub(crate) fn new(file: Rc<OpenedFile>, byte: u64) -> Self {
        Hex { file, window: Window::default(), begin: usize::try_from(byte / LINE).unwrap_or(usize::MAX) }
    }
}

impl Screen for Hex {
    fn title(&self) -> String {
        "bytes".to_owned()
    }

    fn headings(&self) -> Vec<String> {
        [">byte", "hexadecimal", "text"].map(str::to_owned).to_vec()
    }

    fn begin(&self) -> usize {
        self.begin
    }

    fn len(&self) -> (usize, bool) {
        (self.file.source.len().div_ceil(LINE) as usize, true)
    }

    fn row(&mut self, index: usize) -> Vec<String> {
        let at = index as u64 * LINE;
        match self.window.line(&self.file, at) {
            Ok(bytes) => {
                let text = |byte: &u8| if matches!(byte, 0x20..=0x7e) { char::from(*byte) } else { '.' };
                let halves: Vec<String> = bytes.chunks(8).map(|half| hex(half, 8)).collect();
                vec![at.to_string(), halves.join("  "), bytes.iter().map(text).collect()]
            }
            Err(error) => vec![at.to_string(), error, String::new()],
        }
    }

    fn about(&mut self, index: usize) -> String {
        let (at, len) = (index as u64 * LINE, self.file.source.len());
        let end = self.file.metadata().data_end().unwrap_or(len);
        let part = match at {
            0 => "The file begins with four bytes of magic: PAR1. README.md, File format.".to_owned(),
            at if at + LINE >= len => "The last eight bytes are the footer's length, the lowest byte first, and PAR1. README.md, File format.".to_owned(),
            at if at + LINE > end => format!("The footer, which begins at byte {}: FileMetaData in Thrift's compact protocol. parquet.thrift, FileMetaData.", ShownCount(end)),
            _ => "Pages of column chunks; behind them perhaps indexes and bloom filters. Row groups and columns say which pages begin where.".to_owned(),
        };
        format!("Byte {} of {}. {part}", ShownCount(at), ShownCount(len))
    }

    fn byte(&mut self, index: usize) -> Option<u64> {
        Some(index as u64 * LINE)
    }
}

/// Bytes on a line.
const LINE: u64 = 16;

mod bytes_window {
    use super::LINE;
    use crate::opened_file::OpenedFile;
    use crate::text::shown;

    /// The bytes that were read last: nearby lines cost one read.
    #[derive(Default)]
    pub(super) struct Window {
        start: u64,
        bytes: Vec<u8>,
    }

    impl Window {
        /// The line that begins at an offset.
        pub(super) fn line(&mut self, file: &OpenedFile, at: u64) -> Result<Vec<u8>, String> {
            let len = file.source.len();
            let end = (at + LINE).min(len);
            if at < self.start || end > self.start + self.bytes.len() as u64 {
                let start = at.saturating_sub(WINDOW / 4);
                let wanted = (start + WINDOW).min(len) - start;
                let read = file.source.read_at(start, wanted as usize);
                let read = read.map_err(|error| shown(&error.to_string()))?;
                (self.start, self.bytes) = (start, read.to_vec());
            }
            let from = (at - self.start) as usize;
            Ok(self.bytes[from..from + (end - at) as usize].to_vec())
        }
    }

    const WINDOW: u64 = 64 << 10;
}
