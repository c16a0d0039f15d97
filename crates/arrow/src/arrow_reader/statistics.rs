//! Statistics as Arrow arrays: bounds and counts of a column, one for each row group, or one for each data page.
//!
//! ```
//! use arrow_array::cast::AsArray;
//! use arrow_array::types::Int32Type;
//! use marquetry_arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions};
//! # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/wines.parquet");
//! let opened = ArrowReaderMetadata::load(std::fs::File::open(path)?, ArrowReaderOptions::new())?;
//! let year = opened.statistics("year")?;
//! let groups = || opened.metadata().row_groups();
//! let (least, greatest) = (year.row_group_mins(groups())?, year.row_group_maxes(groups())?);
//! let (least, greatest) = (least.as_primitive::<Int32Type>(), greatest.as_primitive::<Int32Type>());
//! // The row groups that may have wines of 2020.
//! let kept: Vec<usize> =
//!     (0..least.len()).filter(|&i| least.value(i) <= 2020 && greatest.value(i) >= 2020).collect();
//! assert_eq!(year.row_group_row_counts(groups()).values(), &[100, 100]);
//! # assert_eq!(kept, [0, 1]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Which bounds there are
//!
//! A bound that does not exist or is not trusted is null. What is trusted is what pruning by a
//! [`Predicate`](marquetry_core::predicate::Predicate) trusts. [`TrustedStatistics`] has the rules: the column's order,
//! old writers, NaN, zeros, unusable values. On top of that, for arrays:
//!
//! | values | bounds |
//! |---|---|
//! | integers, dates, times, timestamps, durations, decimals of any width | of that type, in the unit of the array |
//! | an unsigned integer that is read as the signed one of its width | null, unless no value has the highest bit |
//! | Float16, Float32, Float64 | of all values but NaN, see [`row_group_nan_counts`](StatisticsConverter::row_group_nan_counts): where NaN is greater than any number, the upper bound holds only if there is none |
//! | text | a lower bound that is cut inside of a character ends before it; an upper one is null then |
//! | FixedSizeBinary | bounds that were cut are filled up with zeros, which keeps their order |
//! | INT96 | null: its order is not that of time |
//! | intervals, geometries, what is read as something whose order is another | null |
//! | dictionaries, runs | of their values' type |
//! | lists, maps, structs as a whole | null; a leaf in them has bounds: of all its values, whatever row they are in |
//!
//! Bounds need not be values that occur: the writer may have truncated them. `row_group_is_min_value_exact` is true
//! where the writer states that it did not, and null where it states nothing.

mod bounds_array;
mod find_column;

use crate::evolution::is_promotable;
use crate::null_arrays::null_array;
use crate::schema::{TypeOptions, compatibility, plain_type, value_type};
use arrow_array::{Array, ArrayRef, BooleanArray, UInt64Array};
use arrow_schema::{DataType, Field, Schema as ArrowSchema};
use bounds_array::{Bound, bounds_array};
pub(super) use find_column::{FoundColumn, find_in_file};
use marquetry_base::{Error, Result};
use marquetry_core::metadata::RowGroup;
use marquetry_core::page_index::PageIndex;
use marquetry_core::prune::TrustedStatistics;
use marquetry_core::schema::{Leaf, Schema};

/// Statistics of one column as Arrow arrays. See the [module](self) for what they hold.
///
/// Methods have the names that the `parquet` crate gives them. Arrays of row groups have an entry for each row group,
/// in the given order. Arrays of data pages have an entry for each page of each row group; a row group without an
/// offset index counts as one page.
#[derive(Debug, Clone)]
pub struct StatisticsConverter<'a> {
    field: &'a Field,
    /// The type of the arrays.
    data_type: DataType,
    column: Option<Column<'a>>,
    /// Whether values may be repaired when they are read, and so differ from the stored ones.
    is_repaired: bool,
}

/// A column that the file has.
#[derive(Debug, Clone)]
struct Column<'a> {
    number: usize,
    leaf: &'a Leaf,
    /// The type that its values are read as, before they are promoted to the arrays' type.
    read_as: DataType,
}

impl<'a> StatisticsConverter<'a> {
    /// Creates a converter for the column of this name.
    ///
    /// `arrow_schema` is the schema that the file is read as, that of the builder or of
    /// [`ArrowReaderMetadata::schema`](super::ArrowReaderMetadata::schema). A leaf inside structs, lists and maps is
    /// named by its dotted path in the file, such as `tags.list.element`.
    ///
    /// Bounds and counts are all null for a field of the Arrow schema that the file lacks, and for a list, map or
    /// struct. If the field's type is wider than the file's, values are promoted as by an
    /// [`Evolution`](crate::evolution::Evolution).
    ///
    /// If a Parquet column has no annotation, only its Arrow field says what its numbers count, such as a timestamp in
    /// seconds, or a duration. Then `arrow_schema` must have the file's own field. For a table's field in another unit,
    /// such as microseconds, use [`ArrowReaderMetadata::statistics_as`](super::ArrowReaderMetadata::statistics_as),
    /// which knows the file's field.
    ///
    /// Fails if neither schema has the column, or if its values cannot become the field's type.
    pub fn try_new(name: &str, arrow_schema: &'a ArrowSchema, parquet_schema: &'a Schema) -> Result<Self> {
        Self::of_found(find_column::find(name, arrow_schema, parquet_schema)?, parquet_schema)
    }

    /// Creates a converter for a column that was found.
    ///
    /// Fails if its values cannot become the field's type.
    pub(super) fn of_found((field, number): FoundColumn<'a>, parquet_schema: &'a Schema) -> Result<Self> {
        let data_type = value_type(field.data_type()).clone();
        let number = number.filter(|_| !data_type.is_nested());
        let column = number.map(|number| Column::new(number, &data_type, parquet_schema)).transpose()?;
        Ok(StatisticsConverter { field, data_type, column, is_repaired: false })
    }

    /// Creates a converter for a leaf of the file by its number. `field` is the Arrow field that it is read as. Saves
    /// the search by name, which takes time proportional to the number of columns.
    ///
    /// Fails as [`try_new`](Self::try_new) does.
    pub(super) fn of_leaf(leaf: usize, field: &'a Field, parquet_schema: &'a Schema) -> Result<Self> {
        let data_type = value_type(field.data_type()).clone();
        let column = Some(leaf).filter(|_| !data_type.is_nested());
        let column = column.map(|leaf| Column::new(leaf, &data_type, parquet_schema)).transpose()?;
        Ok(StatisticsConverter { field, data_type, column, is_repaired: false })
    }

    /// Creates a converter for the column of this name, which is read as a field of `file_schema` and then promoted to
    /// `field`. If the file lacks the column, the arrays are all null.
    ///
    /// Fails if the column's values cannot become the field's type.
    pub(super) fn promoted(
        found: Option<FoundColumn<'_>>,
        field: &'a Field,
        parquet_schema: &'a Schema,
    ) -> Result<Self> {
        let data_type = value_type(field.data_type()).clone();
        let found = found.filter(|_| !data_type.is_nested());
        let column = found.and_then(|(read_as, number)| Some((value_type(read_as.data_type()), number?)));
        let column = column
            .map(|(read_as, number)| Column::promoted(number, read_as.clone(), &data_type, parquet_schema));
        Ok(StatisticsConverter { field, data_type, column: column.transpose()?, is_repaired: false })
    }

    /// Sets whether values of the column are repaired when they are read. Bounds of the stored values are not used then.
    pub(super) fn repaired(self, is_repaired: bool) -> Self {
        StatisticsConverter { is_repaired, ..self }
    }

    /// Returns the column's number among the leaves of the file's schema; `None` if the file lacks it, or if it is not a leaf.
    pub fn parquet_column_index(&self) -> Option<usize> {
        self.column.as_ref().map(|column| column.number)
    }

    /// Returns the column's field in the Arrow schema.
    pub fn arrow_field(&self) -> &'a Field {
        self.field
    }

    /// Returns the type of the arrays of bounds: the field's, or the value type of a dictionary or of runs.
    pub fn data_type(&self) -> &DataType {
        &self.data_type
    }

    /// Returns a lower bound of the column's values for each row group; null where none is known.
    ///
    /// Fails if a row group belongs to a file with another column at this place, or if the footer has no readable
    /// metadata of the column chunk.
    pub fn row_group_mins<'g>(&self, row_groups: impl IntoIterator<Item = RowGroup<'g>>) -> Result<ArrayRef> {
        self.bounds(&self.of_row_groups(row_groups)?, Bound::Lower)
    }

    /// Returns an upper bound of the column's values, NaN excepted, for each row group; null where none is known.
    ///
    /// Fails as [`row_group_mins`](Self::row_group_mins) does.
    pub fn row_group_maxes<'g>(
        &self,
        row_groups: impl IntoIterator<Item = RowGroup<'g>>,
    ) -> Result<ArrayRef> {
        self.bounds(&self.of_row_groups(row_groups)?, Bound::Upper)
    }

    /// Returns for each row group whether the bound of [`row_group_mins`](Self::row_group_mins) is a value that occurs;
    /// null where the writer does not state it, or where there is no bound.
    pub fn row_group_is_min_value_exact<'g>(
        &self,
        row_groups: impl IntoIterator<Item = RowGroup<'g>>,
    ) -> Result<BooleanArray> {
        self.exactness(&self.of_row_groups(row_groups)?, Bound::Lower)
    }

    /// Like [`row_group_is_min_value_exact`](Self::row_group_is_min_value_exact), for the upper bounds.
    pub fn row_group_is_max_value_exact<'g>(
        &self,
        row_groups: impl IntoIterator<Item = RowGroup<'g>>,
    ) -> Result<BooleanArray> {
        self.exactness(&self.of_row_groups(row_groups)?, Bound::Upper)
    }

    /// Returns how many nulls the column has in each row group; null where that is not known. In a list, each entry
    /// without a value counts: a null element, and an empty or absent list.
    pub fn row_group_null_counts<'g>(
        &self,
        row_groups: impl IntoIterator<Item = RowGroup<'g>>,
    ) -> Result<UInt64Array> {
        Ok(self.counts(&self.of_row_groups(row_groups)?, |known| known.null_count))
    }

    /// Returns how many values are NaN in each row group; null where that is not known, and for types without NaN.
    pub fn row_group_nan_counts<'g>(
        &self,
        row_groups: impl IntoIterator<Item = RowGroup<'g>>,
    ) -> Result<UInt64Array> {
        Ok(self.counts(&self.of_row_groups(row_groups)?, |known| known.nan_count))
    }

    /// Returns how many rows each row group has.
    pub fn row_group_row_counts<'g>(
        &self,
        row_groups: impl IntoIterator<Item = RowGroup<'g>>,
    ) -> UInt64Array {
        row_groups.into_iter().map(|group| Some(group.num_rows())).collect()
    }

    /// Returns a lower bound of the values of each data page; null where none is known.
    ///
    /// Fails if the indexes of a chunk contradict each other, and as [`row_group_mins`](Self::row_group_mins) does.
    ///
    /// ```
    /// # use marquetry_arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions, ProjectionMask};
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/wines.parquet");
    /// # let file = || std::fs::File::open(path);
    /// let opened = ArrowReaderMetadata::load(file()?, ArrowReaderOptions::new())?;
    /// let mask = ProjectionMask::columns(opened.parquet_schema(), ["year"]);
    /// let index = opened.read_page_index(file()?, &mask)?;
    /// let year = opened.statistics("year")?;
    /// let groups = || opened.metadata().row_groups();
    /// let (least, rows) = (year.data_page_mins(&index, groups())?, year.data_page_row_counts(&index, groups())?);
    /// assert_eq!((least.len(), rows.values().iter().sum::<u64>()), (rows.len(), 200));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn data_page_mins<'g>(
        &self,
        index: &PageIndex,
        row_groups: impl IntoIterator<Item = RowGroup<'g>>,
    ) -> Result<ArrayRef> {
        self.bounds(&self.of_pages(index, row_groups)?, Bound::Lower)
    }

    /// Returns an upper bound of the values of each data page, NaN excepted; null where none is known.
    ///
    /// Fails as [`data_page_mins`](Self::data_page_mins) does.
    pub fn data_page_maxes<'g>(
        &self,
        index: &PageIndex,
        row_groups: impl IntoIterator<Item = RowGroup<'g>>,
    ) -> Result<ArrayRef> {
        self.bounds(&self.of_pages(index, row_groups)?, Bound::Upper)
    }

    /// Returns how many nulls each data page has; null where that is not known. See
    /// [`row_group_null_counts`](Self::row_group_null_counts).
    pub fn data_page_null_counts<'g>(
        &self,
        index: &PageIndex,
        row_groups: impl IntoIterator<Item = RowGroup<'g>>,
    ) -> Result<UInt64Array> {
        Ok(self.counts(&self.of_pages(index, row_groups)?, |known| known.null_count))
    }

    /// Returns how many values are NaN in each data page; null where that is not known.
    pub fn data_page_nan_counts<'g>(
        &self,
        index: &PageIndex,
        row_groups: impl IntoIterator<Item = RowGroup<'g>>,
    ) -> Result<UInt64Array> {
        Ok(self.counts(&self.of_pages(index, row_groups)?, |known| known.nan_count))
    }

    /// Returns how many rows begin in each data page. For a column that the file lacks, returns the rows of each row group.
    pub fn data_page_row_counts<'g>(
        &self,
        index: &PageIndex,
        row_groups: impl IntoIterator<Item = RowGroup<'g>>,
    ) -> Result<UInt64Array> {
        let groups: Vec<RowGroup<'g>> = row_groups.into_iter().collect();
        if self.column.is_none() {
            return Ok(self.row_group_row_counts(groups));
        }
        Ok(self.of_pages(index, groups)?.iter().map(|known| known.as_ref().map(|known| known.rows)).collect())
    }

    /// Returns the trusted statistics of each row group; `None` for all if the file lacks the column.
    fn of_row_groups<'g>(
        &self,
        row_groups: impl IntoIterator<Item = RowGroup<'g>>,
    ) -> Result<Vec<Option<TrustedStatistics<'g>>>> {
        let known = |group: RowGroup<'g>| match &self.column {
            Some(column) => {
                column.check(group)?;
                TrustedStatistics::of_chunk(group, column.number).map(Some)
            }
            None => Ok(None),
        };
        row_groups.into_iter().map(known).collect()
    }

    fn of_pages<'g>(
        &self,
        index: &PageIndex,
        row_groups: impl IntoIterator<Item = RowGroup<'g>>,
    ) -> Result<Vec<Option<TrustedStatistics<'static>>>> {
        let mut out = Vec::new();
        for group in row_groups {
            let Some(column) = &self.column else {
                out.push(None);
                continue;
            };
            column.check(group)?;
            out.extend(TrustedStatistics::of_pages(group, column.number, index)?.into_iter().map(Some));
        }
        Ok(out)
    }

    fn bounds(&self, known: &[Option<TrustedStatistics<'_>>], side: Bound) -> Result<ArrayRef> {
        match &self.column {
            Some(column) if !self.is_repaired => {
                bounds_array(known, side, column.leaf, &column.read_as, &self.data_type)
            }
            _ => null_array(&self.data_type, known.len()),
        }
    }

    fn counts(
        &self,
        known: &[Option<TrustedStatistics<'_>>],
        count: impl Fn(&TrustedStatistics<'_>) -> Option<u64>,
    ) -> UInt64Array {
        known.iter().map(|known| known.as_ref().filter(|_| !self.is_repaired).and_then(&count)).collect()
    }

    fn exactness(&self, known: &[Option<TrustedStatistics<'_>>], side: Bound) -> Result<BooleanArray> {
        let (bounds, said) =
            (self.bounds(known, side)?, known.iter().map(|known| side.exactness(known.as_ref()?)));
        Ok(said.enumerate().map(|(i, said)| said.filter(|_| bounds.is_valid(i))).collect())
    }
}

impl<'a> Column<'a> {
    fn new(number: usize, data_type: &DataType, schema: &'a Schema) -> Result<Self> {
        let leaf = schema.column(number);
        let read_as = match compatibility::fits(leaf, data_type) {
            true => data_type.clone(),
            false => plain_type(leaf, &TypeOptions::default()),
        };
        Column::promoted(number, read_as, data_type, schema)
    }

    fn promoted(number: usize, read_as: DataType, data_type: &DataType, schema: &'a Schema) -> Result<Self> {
        let leaf = schema.column(number);
        if read_as == *data_type || is_promotable(&read_as, data_type) {
            return Ok(Column { number, leaf, read_as });
        }
        let described = compatibility::describe(leaf);
        Err(Error::argument(format!("it is {described} in the file, which cannot become {data_type}"))
            .in_column(leaf.dotted().clone()))
    }

    /// Fails if the row group has another column at this place.
    fn check(&self, group: RowGroup<'_>) -> Result<()> {
        let there = group.metadata().schema().columns().get(self.number);
        let is_same = |there: &Leaf| {
            there.dotted() == self.leaf.dotted()
                && there.physical() == self.leaf.physical()
                && there.logical() == self.leaf.logical()
        };
        match there.is_some_and(is_same) {
            true => Ok(()),
            false => Err(Error::argument("the row group is of a file with another schema")
                .in_column(self.leaf.dotted().clone())
                .in_row_group(group.index())),
        }
    }
}
