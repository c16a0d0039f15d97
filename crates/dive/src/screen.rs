//! The trait of all screens: a list of rows, what is said of each, and where Enter leads.

/// A list of rows, of which those that are seen are read.
pub(crate) trait Screen {
    /// Where one is: the last part of the path that stands on top.
    fn title(&self) -> String;

    /// The heads of its columns; those with a `>` in front are of numbers, which end at the right.
    fn headings(&self) -> Vec<String>;

    /// How many rows are known of, and whether these are all.
    fn len(&self) -> (usize, bool);

    /// The row that is chosen first.
    fn begin(&self) -> usize {
        0
    }

    /// Has rows known up to this one, if there are so many, and says which are seen and which columns of cells come first.
    fn look_at(&mut self, _last: usize, _left: usize) {}

    /// The cells of a row.
    fn row(&mut self, index: usize) -> Vec<String>;

    /// What there is to say of a row.
    fn about(&mut self, _index: usize) -> String {
        String::new()
    }

    /// Whether there is something below a row.
    fn can_enter(&self, _index: usize) -> bool {
        false
    }

    /// What is below a row.
    fn enter(&mut self, _index: usize) -> Option<Box<dyn Screen>> {
        None
    }

    /// A key that this screen alone knows. Returns the row that is chosen then; `None` if it does not know the key.
    fn key(&mut self, _key: char, _index: usize) -> Option<usize> {
        None
    }

    /// Another screen that a key leads to from a row.
    fn go(&mut self, _key: char, _index: usize) -> Option<Box<dyn Screen>> {
        None
    }

    /// Keys that this screen alone knows, for the last line.
    fn keys(&self) -> &'static str {
        ""
    }

    /// Whether columns to the left of those that are seen are left out by the screen itself.
    fn leaves_out_columns(&self) -> bool {
        false
    }

    /// What of the rows fits a filter, if this screen has a filter of its own.
    fn filtered(&mut self, _text: &str) -> Option<Result<Box<dyn Screen>, String>> {
        None
    }

    /// Where in the file the row is, for who wants to see its bytes.
    fn byte(&mut self, _index: usize) -> Option<u64> {
        None
    }
}
