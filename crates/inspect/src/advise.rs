//! Measures what would make a file smaller or faster.
//!
//! ```text
//! options        for what, for whom, how long
//! query          what the file is asked for, and what that skips
//! candidates     encodings and codecs that a column may get
//! measure        stretches of rows encoded with each
//! time_left      parts of the budget
//! sampled_columns  which columns are tried together
//! sample         rows of the file, and files made of them
//! finding        one thing to do
//! row_groups     row groups and pages of other sizes
//! missing_parts  statistics and indexes that are missing, dictionaries that were given up
//! bloom_filters  filters built of real values
//! sort_order     orders of rows, tried
//! value_form     whether all values have the form of another type
//! new_type       the types that they could have
//! looked_at      what was found, and what there was no time for
//! wide_types     columns that could have one
//! nesting        lists of one, shapes of VARIANT
//! small_files    many small files
//! advice         what is told of a file
//! findings       all of these, ranked
//! run            the best of each column, and all else
//! ```

mod advice;
mod bloom_filters;
mod candidates;
mod finding;
mod findings;
mod looked_at;
mod measure;
mod missing_parts;
mod nesting;
mod new_type;
mod options;
mod query;
mod row_groups;
mod run;
mod sample;
mod sampled_columns;
mod small_files;
mod sort_order;
mod time_left;
mod value_form;
mod wide_types;

pub use advice::{Advice, ColumnAdvice};
pub use candidates::Choice;
pub use finding::{AdviceKind, BeforeAfter, Change, Confidence, Finding};
pub use measure::column_bytes;
pub use new_type::NewType;
pub use options::{AdviseOptions, Goal};
pub use query::{AskedColumn, Query, asked_columns};
pub use run::advise;
pub use sample::main_codec;
pub use small_files::advise_merging;
