//! The units of INT96 timestamps, one for each column.

use arrow_schema::TimeUnit;
use marquetry_core::schema::Leaf;
use std::collections::HashMap;
use std::sync::Arc;

/// The units of INT96 columns that nanoseconds cannot hold. Each column has its own unit, so that a timestamp of the
/// year 5138 in one column does not cost the others their nanoseconds.
///
/// ```
/// use arrow_schema::TimeUnit;
/// use marquetry_arrow::arrow_reader::Int96Units;
/// use marquetry_core::schema::Schema;
/// let schema = Schema::parse("message m { required int96 near; required int96 far; }")?;
/// let (near, far) = (schema.column(0), schema.column(1));
/// let mut units = Int96Units::default();
/// units.coarsen(far, TimeUnit::Microsecond);
/// units.coarsen(far, TimeUnit::Nanosecond);
/// assert_eq!((units.unit_of(near), units.unit_of(far)), (None, Some(TimeUnit::Microsecond)));
/// # Ok::<(), marquetry_base::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Int96Units(Arc<HashMap<Vec<Arc<str>>, TimeUnit>>);

impl Int96Units {
    /// Returns the unit of a column, if it has one here.
    pub fn unit_of(&self, leaf: &Leaf) -> Option<TimeUnit> {
        self.0.get(leaf.path()).copied()
    }

    /// Sets the unit of a column, unless it has a coarser one.
    pub fn coarsen(&mut self, leaf: &Leaf, unit: TimeUnit) {
        self.coarsen_path(leaf.path(), unit);
    }

    /// Returns units that hold the values of both parts. Columns of several files are the same if they have the same path.
    #[must_use]
    pub fn coarser(mut self, other: &Int96Units) -> Int96Units {
        other.0.iter().for_each(|(path, unit)| self.coarsen_path(path, *unit));
        self
    }

    /// Returns whether no column has a unit here.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn coarsen_path(&mut self, path: &[Arc<str>], unit: TimeUnit) {
        let known = Arc::make_mut(&mut self.0).entry(path.to_vec()).or_insert(unit);
        // Units are ordered from coarse to fine.
        *known = unit.min(*known);
    }
}
