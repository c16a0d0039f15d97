//! Filters over Arrow arrays, under the names that the `parquet` crate's users know.

use super::ProjectionMask;
use arrow_array::{BooleanArray, RecordBatch};
use arrow_schema::ArrowError;
use std::fmt::{self, Debug, Formatter};
use std::sync::Arc;

/// A predicate that is evaluated on Arrow arrays of some columns.
pub trait ArrowPredicate: Send + 'static {
    /// Returns the columns that the predicate needs.
    fn projection(&self) -> &ProjectionMask;

    /// Returns which rows of `batch` to keep: those for which the result is true, neither false nor null.
    ///
    /// The batch has the columns of [`projection`](Self::projection), and the rows that passed all earlier predicates.
    fn evaluate(&mut self, batch: RecordBatch) -> Result<BooleanArray, ArrowError>;

    /// Returns an equivalent predicate for another thread. The default, `None`, means that results may depend on
    /// earlier calls: then one thread evaluates it, on all rows in their order.
    ///
    /// [`ArrowPredicateFn::pure`] makes a predicate that can be forked.
    fn fork(&self) -> Option<Box<dyn ArrowPredicate>> {
        None
    }
}

/// An [`ArrowPredicate`] made of a closure.
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
    /// Creates a predicate. `test` gets batches of the columns in `projection`.
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
    /// Creates a predicate that any number of threads may evaluate at the same time, on any rows in any order.
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

/// The predicate that [`ArrowPredicateFn::pure`] creates.
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

/// A list of predicates. A row is read if all of them are true of it.
///
/// They are evaluated in this order, each on the rows that passed the earlier ones.
pub struct RowFilter {
    predicates: Vec<Box<dyn ArrowPredicate>>,
}

impl RowFilter {
    /// Creates a filter of these predicates.
    pub fn new(predicates: Vec<Box<dyn ArrowPredicate>>) -> Self {
        RowFilter { predicates }
    }

    /// Returns the predicates.
    pub fn predicates(&self) -> &[Box<dyn ArrowPredicate>] {
        &self.predicates
    }

    /// Returns whether several threads can evaluate the predicates.
    pub fn is_pure(&self) -> bool {
        self.fork().is_some()
    }

    /// Forks all predicates, if each [can be](ArrowPredicate::fork).
    pub(super) fn fork(&self) -> Option<Vec<Box<dyn ArrowPredicate>>> {
        self.predicates.iter().map(|predicate| predicate.fork()).collect()
    }

    /// Returns the predicates by value.
    pub fn into_predicates(self) -> Vec<Box<dyn ArrowPredicate>> {
        self.predicates
    }
}

impl Debug for RowFilter {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "RowFilter {{ {} predicates }}", self.predicates.len())
    }
}
