//! The trait of all screens: a list of rows, the explanation of each, and where Enter leads.

/// A list of rows, which are read when they are displayed.
pub(crate) trait Screen {
    /// The title of the screen: the last part of the path at the top.
    fn title(&self) -> String;

    /// The headings of the columns; a `>` in front marks a column of numbers, which is right-aligned.
    fn headings(&self) -> Vec<String>;

    /// The number of known rows, and whether these are all.
    fn len(&self) -> (usize, bool);

    /// The row that is chosen first.
    fn begin(&self) -> usize {
        0
    }

    /// Has rows up to this one read, if they exist, and sets which rows and columns are on display.
    fn look_at(&mut self, _last: usize, _left: usize) {}

    /// The cells of a row.
    fn row(&mut self, index: usize) -> Vec<String>;

    /// The explanation of a row.
    fn about(&mut self, _index: usize) -> String {
        String::new()
    }

    /// Whether Enter leads somewhere from a row.
    fn can_enter(&self, _index: usize) -> bool {
        false
    }

    /// The screen that Enter leads to.
    fn enter(&mut self, _index: usize) -> Option<Box<dyn Screen>> {
        None
    }

    /// Handles a key of this screen only. Returns the row that is then chosen; `None` if the key is unknown.
    fn key(&mut self, _key: char, _index: usize) -> Option<usize> {
        None
    }

    /// The screen that another key leads to from a row.
    fn go(&mut self, _key: char, _index: usize) -> Option<Box<dyn Screen>> {
        None
    }

    /// The keys of this screen only, for the last line.
    fn keys(&self) -> &'static str {
        ""
    }

    /// Whether the screen itself omits columns that are scrolled out to the left.
    fn leaves_out_columns(&self) -> bool {
        false
    }

    /// The filtered list, if this screen has a filter of its own.
    fn filtered(&mut self, _text: &str) -> Option<Result<Box<dyn Screen>, String>> {
        None
    }

    /// The offset of a row in the file, to show its bytes.
    fn byte(&mut self, _index: usize) -> Option<u64> {
        None
    }
}
