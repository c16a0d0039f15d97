//! Filters that look at Arrow arrays, under the names that the `parquet` crate's users know.

use super::ProjectionMask;
use arrow_array::{BooleanArray, RecordBatch};
use arrow_schema::ArrowError;
use std::fmt::{self, Debug, Formatter};
use std::sync::Arc;

/// A test of rows that looks at some of their columns.
pub trait ArrowPredicate: Send + 'static {
    /// The columns that it looks at.
    fn projection(&self) -> &ProjectionMask;

    /// Which rows of `batch` are wanted: those for which the result is true, neither false nor null.
    ///
    /// The batch has the columns of [`projection`](Self::projection), of rows that all predicates before this one
    /// want.
    fn evaluate(&mut self, batch: RecordBatch) -> Result<BooleanArray, ArrowError>;

    /// Another predicate that gives the same answers, for another thread. `None`, the default, if answers depend on what was
    /// asked before, or nobody knows: one thread asks it then, about all rows in their order.
    ///
    /// [`ArrowPredicateFn::pure`] makes one that has it.
    fn fork(&self) -> Option<Box<dyn ArrowPredicate>> {
        None
    }
}

/// An [`ArrowPredicate`] out of a closure.
///
/// ```
/// use arrow_array::{BooleanArray, RecordBatch, cast::AsArray, types::Int64Type};
/// use marquetry_arrow::arrow_reader::{ArrowPredicateFn, ProjectionMask, RowFilter};
/// # use marquetry_core::schema::Schema;
/// # fn filter(schema: &Schema) -> RowFilter {
/// let is_positive = ArrowPredicateFn::new(ProjectionMask::columns(schema, ["amount"]), |batch: RecordBatch| {
///     let amount = batch.column(0).as_primitive::<Int64Type>();
///     Ok(BooleanArray::from_unary(amount, |amount| amount > 0))
/// });
/// RowFilter::new(vec![Box::new(is_positive)])
/// # }
/// ```
pub struct ArrowPredicateFn<F> {
    projection: ProjectionMask,
    test: F,
}

impl<F> ArrowPredicateFn<F>
where
    F: FnMut(RecordBatch) -> Result<BooleanArray, ArrowError> + Send + 'static,
{
    /// `test` gets batches of the columns in `projection`.
    pub fn new(projection: ProjectionMask, test: F) -> Self {
        ArrowPredicateFn { projection, test }
    }
}

impl<F> ArrowPredicate for ArrowPredicateFn<F>
where
    F: FnMut(RecordBatch) -> Result<BooleanArray, ArrowError> + Send + 'static,
{
    fn projection(&self) -> &ProjectionMask {
        &self.projection
    }

    fn evaluate(&mut self, batch: RecordBatch) -> Result<BooleanArray, ArrowError> {
        (self.test)(batch)
    }
}

impl ArrowPredicateFn<()> {
    /// One that any number of threads may ask at the same time, about any rows in any order.
    ///
    /// ```
    /// use arrow_array::{BooleanArray, RecordBatch, cast::AsArray, types::Int64Type};
    /// use marquetry_arrow::arrow_reader::{ArrowPredicate, ArrowPredicateFn, ProjectionMask};
    /// let is_even = ArrowPredicateFn::pure(ProjectionMask::all(), |batch: RecordBatch| {
    ///     let number = batch.column(0).as_primitive::<Int64Type>();
    ///     Ok(BooleanArray::from_unary(number, |number| number % 2 == 0))
    /// });
    /// assert!(is_even.fork().is_some());
    /// ```
    pub fn pure<F>(projection: ProjectionMask, test: F) -> PureArrowPredicateFn<F>
    where
        F: Fn(RecordBatch) -> Result<BooleanArray, ArrowError> + Send + Sync + 'static,
    {
        PureArrowPredicateFn { projection, test: Arc::new(test) }
    }
}

/// See [`ArrowPredicateFn::pure`].
pub struct PureArrowPredicateFn<F> {
    projection: ProjectionMask,
    test: Arc<F>,
}

impl<F> ArrowPredicate for PureArrowPredicateFn<F>
where
    F: Fn(RecordBatch) -> Result<BooleanArray, ArrowError> + Send + Sync + 'static,
{
    fn projection(&self) -> &ProjectionMask {
        &self.projection
    }

    fn evaluate(&mut self, batch: RecordBatch) -> Result<BooleanArray, ArrowError> {
        (self.test)(batch)
    }

    fn fork(&self) -> Option<Box<dyn ArrowPredicate>> {
        let (projection, test) = (self.projection.clone(), self.test.clone());
        Some(Box::new(PureArrowPredicateFn { projection, test }))
    }
}

/// Predicates, all of which must be true of a row for it to be read.
///
/// They are asked in this order, each about the rows that those before it want.
pub struct RowFilter {
    predicates: Vec<Box<dyn ArrowPredicate>>,
}

impl RowFilter {
    /// A filter of these predicates.
    pub fn new(predicates: Vec<Box<dyn ArrowPredicate>>) -> Self {
        RowFilter { predicates }
    }

    /// The predicates.
    pub fn predicates(&self) -> &[Box<dyn ArrowPredicate>] {
        &self.predicates
    }

    /// Whether all predicates can be asked by several threads.
    pub fn is_pure(&self) -> bool {
        self.fork().is_some()
    }

    /// The same predicates once more, if each has [another](ArrowPredicate::fork).
    pub(super) fn fork(&self) -> Option<Vec<Box<dyn ArrowPredicate>>> {
        self.predicates.iter().map(|predicate| predicate.fork()).collect()
    }

    /// The predicates, owned.
    pub fn into_predicates(self) -> Vec<Box<dyn ArrowPredicate>> {
        self.predicates
    }
}

impl Debug for RowFilter {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "RowFilter {{ {} predicates }}", self.predicates.len())
    }
}
