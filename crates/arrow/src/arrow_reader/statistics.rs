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
//! A bound that is not trusted, or that there is none of, is null. What is trusted is what pruning by a
//! [`Predicate`](marquetry_core::predicate::Predicate) trusts; [`TrustedStatistics`] has the rules: the column's order,
//! old writers, NaN, zeros, values that are of no use. On top of that, for arrays:
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
//! Bounds need not be values that occur: the writer may have cut them. `row_group_is_min_value_exact` is true where it says
//! that it has not, and null where it does not say.

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
/// Methods have the names that the `parquet` crate gives them. Arrays of row groups have an entry for each of them, in the
/// order that they were given in. Arrays of data pages have an entry for each page of each row group; a row group without
/// an offset index counts as one page.
#[derive(Debug, Clone)]
pub struct StatisticsConverter<'a> {
    field: &'a Field,
    /// What the arrays are of.
    data_type: DataType,
    column: Option<Column<'a>>,
    /// Whether the values that are read may be others than those that are stored.
    is_repaired: bool,
}

/// A column that the file has.
#[derive(Debug, Clone)]
struct Column<'a> {
    number: usize,
    leaf: &'a Leaf,
    /// What its values are read as, before they are promoted to the arrays' type.
    read_as: DataType,
}

impl<'a> StatisticsConverter<'a> {
    /// For the column of this name. `arrow_schema` is what the file is read as, that of the builder or of
    /// [`ArrowReaderMetadata::schema`](super::ArrowReaderMetadata::schema); a leaf inside of structs, lists and maps is
    /// named by its dotted path in the file, such as `tags.list.element`.
    ///
    /// A field of the Arrow schema that the file does not have gets arrays of nulls, and so does one that is a list, a map
    /// or a struct. A type that is wider than the file's is promoted to, as by an
    /// [`Evolution`](crate::evolution::Evolution). But where a column has no annotation only its field says what its numbers count: a
    /// timestamp in seconds, a duration. That field has to be the file's. For one of a table which has them in microseconds there is
    /// [`ArrowReaderMetadata::statistics_as`](super::ArrowReaderMetadata::statistics_as), which knows the file's.
    ///
    /// Fails if neither schema has the column, and if its values cannot become the field's type.
    pub fn try_new(name: &str, arrow_schema: &'a ArrowSchema, parquet_schema: &'a Schema) -> Result<Self> {
        Self::of_found(find_column::find(name, arrow_schema, parquet_schema)?, parquet_schema)
    }

    /// For a column that was found.
    ///
    /// Fails if its values cannot become the field's type.
    pub(super) fn of_found((field, number): FoundColumn<'a>, parquet_schema: &'a Schema) -> Result<Self> {
        let data_type = value_type(field.data_type()).clone();
        let number = number.filter(|_| !data_type.is_nested());
        let column = number.map(|number| Column::new(number, &data_type, parquet_schema)).transpose()?;
        Ok(StatisticsConverter { field, data_type, column, is_repaired: false })
    }

    /// For a leaf of the file by its number. `field` is what it is read as: without a search by name, which takes as long as there
    /// are columns.
    ///
    /// Fails as [`try_new`](Self::try_new) does.
    pub(super) fn of_leaf(leaf: usize, field: &'a Field, parquet_schema: &'a Schema) -> Result<Self> {
        let data_type = value_type(field.data_type()).clone();
        let column = Some(leaf).filter(|_| !data_type.is_nested());
        let column = column.map(|leaf| Column::new(leaf, &data_type, parquet_schema)).transpose()?;
        Ok(StatisticsConverter { field, data_type, column, is_repaired: false })
    }

    /// For a column that was found in the file, and is promoted to `field`. A file that does not have it gets arrays of nulls.
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

    /// The same, of a file whose values are repaired when they are read: bounds of what is stored say nothing then.
    pub(super) fn repaired(self, is_repaired: bool) -> Self {
        StatisticsConverter { is_repaired, ..self }
    }

    /// The column's number among the leaves of the file's schema; `None` if the file does not have it, or if it is no leaf.
    pub fn parquet_column_index(&self) -> Option<usize> {
        self.column.as_ref().map(|column| column.number)
    }

    /// The column's field in the Arrow schema.
    pub fn arrow_field(&self) -> &'a Field {
        self.field
    }

    /// The type of the arrays of bounds: the field's, or that of the values of a dictionary or of runs.
    pub fn data_type(&self) -> &DataType {
        &self.data_type
    }

    /// For each row group a value that none of the column's values is less than; null where none is known.
    ///
    /// Fails if a row group is of a file with another column at this place, and if the footer has no chunk of the column
    /// that can be read.
    pub fn row_group_mins<'g>(&self, row_groups: impl IntoIterator<Item = RowGroup<'g>>) -> Result<ArrayRef> {
        self.bounds(&self.of_row_groups(row_groups)?, Bound::Lower)
    }

    /// For each row group a value that none of the column's values but NaN is greater than; null where none is known.
    ///
    /// Fails as [`row_group_mins`](Self::row_group_mins) does.
    pub fn row_group_maxes<'g>(
        &self,
        row_groups: impl IntoIterator<Item = RowGroup<'g>>,
    ) -> Result<ArrayRef> {
        self.bounds(&self.of_row_groups(row_groups)?, Bound::Upper)
    }

    /// For each row group whether the bound that [`row_group_mins`](Self::row_group_mins) gives is a value that occurs; null
    /// where the writer does not say, or where there is no bound.
    pub fn row_group_is_min_value_exact<'g>(
        &self,
        row_groups: impl IntoIterator<Item = RowGroup<'g>>,
    ) -> Result<BooleanArray> {
        self.exactness(&self.of_row_groups(row_groups)?, Bound::Lower)
    }

    /// [`row_group_is_min_value_exact`](Self::row_group_is_min_value_exact) of the upper bounds.
    pub fn row_group_is_max_value_exact<'g>(
        &self,
        row_groups: impl IntoIterator<Item = RowGroup<'g>>,
    ) -> Result<BooleanArray> {
        self.exactness(&self.of_row_groups(row_groups)?, Bound::Upper)
    }

    /// For each row group how many nulls the column has; null where that is not known. In a list an entry without a value
    /// counts: one that is null, or an empty or absent list.
    pub fn row_group_null_counts<'g>(
        &self,
        row_groups: impl IntoIterator<Item = RowGroup<'g>>,
    ) -> Result<UInt64Array> {
        Ok(self.counts(&self.of_row_groups(row_groups)?, |known| known.null_count))
    }

    /// For each row group how many values are NaN; null where that is not known, and for what has no NaN.
    pub fn row_group_nan_counts<'g>(
        &self,
        row_groups: impl IntoIterator<Item = RowGroup<'g>>,
    ) -> Result<UInt64Array> {
        Ok(self.counts(&self.of_row_groups(row_groups)?, |known| known.nan_count))
    }

    /// How many rows each row group has.
    pub fn row_group_row_counts<'g>(
        &self,
        row_groups: impl IntoIterator<Item = RowGroup<'g>>,
    ) -> UInt64Array {
        row_groups.into_iter().map(|group| Some(group.num_rows())).collect()
    }

    /// For each data page a value that none of its values is less than; null where none is known.
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

    /// For each data page a value that none of its values but NaN is greater than; null where none is known.
    ///
    /// Fails as [`data_page_mins`](Self::data_page_mins) does.
    pub fn data_page_maxes<'g>(
        &self,
        index: &PageIndex,
        row_groups: impl IntoIterator<Item = RowGroup<'g>>,
    ) -> Result<ArrayRef> {
        self.bounds(&self.of_pages(index, row_groups)?, Bound::Upper)
    }

    /// For each data page how many nulls it has; null where that is not known. See
    /// [`row_group_null_counts`](Self::row_group_null_counts).
    pub fn data_page_null_counts<'g>(
        &self,
        index: &PageIndex,
        row_groups: impl IntoIterator<Item = RowGroup<'g>>,
    ) -> Result<UInt64Array> {
        Ok(self.counts(&self.of_pages(index, row_groups)?, |known| known.null_count))
    }

    /// For each data page how many values are NaN; null where that is not known.
    pub fn data_page_nan_counts<'g>(
        &self,
        index: &PageIndex,
        row_groups: impl IntoIterator<Item = RowGroup<'g>>,
    ) -> Result<UInt64Array> {
        Ok(self.counts(&self.of_pages(index, row_groups)?, |known| known.nan_count))
    }

    /// How many rows begin in each data page; of a column that the file does not have, those of each row group.
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

    /// What is known of each row group; nothing if the file does not have the column.
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
