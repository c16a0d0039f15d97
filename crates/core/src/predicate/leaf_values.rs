//! What a predicate is evaluated over.

use marquetry_encoding::dictionary::Dictionary;
use marquetry_encoding::{Bitmap, Values};

/// The values of one column, one slot a row.
#[derive(Debug, Clone, Copy)]
pub struct LeafValues<'a> {
    /// One value a row, anything where it is null; 32-bit indices where `dictionary` is there.
    pub values: &'a Values,
    /// Which rows are not null; `None` if none is.
    pub validity: Option<&'a Bitmap>,
    /// What `values` are indices into. The predicate is evaluated once for each entry then, and looked up for the rows.
    pub dictionary: Option<&'a Dictionary>,
}
