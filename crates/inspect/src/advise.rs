//! What would make a file smaller, measured.
//!
//! ```text
//! options      for what, for whom, how long
//! candidates   encodings and codecs that a column may get
//! measure      stretches of rows encoded with each
//! run          the best of each column
//! time_left    how long there is
//! ```

mod candidates;
mod measure;
mod options;
mod run;
mod time_left;

pub use candidates::Choice;
pub use measure::column_bytes;
pub use options::{AdviseOptions, Goal};
pub use run::{Advice, ColumnAdvice, advise};
