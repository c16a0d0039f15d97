//! Options of reading a file, chosen before it is opened.

use super::loss::OnCorrupt;
use super::virtual_columns::{self, Virtual};
use crate::schema::{
    DecimalOverflow, HintPolicy, Int96Units, InvalidUtf8, StringLayout, TypeHook, TypeOptions,
};
use arrow_schema::{DataType, FieldRef, SchemaRef, TimeUnit};
use marquetry_base::{Limits, Result};
#[cfg(feature = "async")]
use marquetry_core::io::TAIL_READ;
use marquetry_core::schema::Leaf;
use marquetry_crypto::FileDecryptionProperties;
use std::sync::Arc;

/// How a file is read. The defaults are those of the `parquet` crate, except that checksums are verified.
#[derive(Debug, Clone)]
pub struct ArrowReaderOptions {
    pub(crate) schema: Option<SchemaRef>,
    pub(crate) types: TypeOptions,
    pub(crate) int96: Int96Unit,
    /// Whether a unit was set explicitly.
    pub(crate) is_int96_chosen: bool,
    /// Whether a string layout was set explicitly.
    pub(crate) is_text_chosen: bool,
    pub(crate) verify_checksums: bool,
    pub(crate) checkpoint_recovery: bool,
    pub(crate) on_corrupt: OnCorrupt,
    pub(crate) page_index: bool,
    pub(crate) virtual_columns: Vec<FieldRef>,
    pub(crate) limits: Arc<Limits>,
    pub(crate) decryption: Option<Arc<FileDecryptionProperties>>,
    #[cfg(feature = "async")]
    pub(crate) footer_size_hint: usize,
}

/// The unit of INT96 timestamps. A value that does not fit the unit is an error, never another value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Int96Unit {
    /// Nanoseconds, from 1677 to 2262, unless the stored Arrow schema says otherwise.
    #[default]
    Nanoseconds,
    /// This unit. Finer digits are cut off, towards the past.
    Unit(TimeUnit),
    /// A unit for each column: the finest that holds all its values in the row groups that are read. Finding it takes a
    /// second read of these columns. Columns with values beyond the range of nanoseconds lose digits finer than their
    /// unit, cut off towards the past; other columns keep nanoseconds.
    Auto,
}

impl Default for ArrowReaderOptions {
    fn default() -> Self {
        ArrowReaderOptions {
            schema: None,
            types: TypeOptions::default(),
            int96: Int96Unit::default(),
            is_int96_chosen: false,
            is_text_chosen: false,
            verify_checksums: true,
            on_corrupt: OnCorrupt::default(),
            checkpoint_recovery: false,
            page_index: true,
            virtual_columns: Vec::new(),
            limits: Arc::default(),
            decryption: None,
            #[cfg(feature = "async")]
            footer_size_hint: TAIL_READ,
        }
    }
}

impl ArrowReaderOptions {
    /// Creates the default options.
    pub fn new() -> Self {
        ArrowReaderOptions::default()
    }

    /// Sets the Arrow schema to read the whole file as. Types may differ from the default ones if the values stay the
    /// same: other string layouts, dictionaries, other units and widths.
    ///
    /// Opening fails if a column cannot have its type. That includes decimals and unsigned integers read as the stored
    /// integers. It also includes other units of durations and times, where only the stored Arrow schema names the
    /// unit.
    #[must_use]
    pub fn with_schema(mut self, schema: SchemaRef) -> Self {
        self.schema = Some(schema);
        self
    }

    /// Sets the layout of byte strings, text or not. `None`, the default, follows the stored Arrow schema, or else is
    /// [`StringLayout::Utf8`].
    #[must_use]
    pub fn with_text(mut self, text: impl Into<Option<StringLayout>>) -> Self {
        (self.types.text, self.is_text_chosen) = (text.into(), true);
        self
    }

    /// Sets the layout of byte strings unless [`with_text`](Self::with_text) was called before.
    #[must_use]
    pub fn with_default_text(mut self, text: StringLayout) -> Self {
        if !self.is_text_chosen {
            self.types.text.get_or_insert(text);
        }
        self
    }

    /// Sets what happens to text that is not UTF-8. Default: [`InvalidUtf8::Error`].
    #[must_use]
    pub fn with_invalid_utf8(mut self, invalid_utf8: InvalidUtf8) -> Self {
        self.types.invalid_utf8 = invalid_utf8;
        self
    }

    /// Sets what happens to decimals that need more bits than their Arrow type has. Default: [`DecimalOverflow::Error`].
    #[must_use]
    pub fn with_decimal_overflow(mut self, decimal_overflow: DecimalOverflow) -> Self {
        self.types.decimal_overflow = decimal_overflow;
        self
    }

    /// Sets the unit of INT96 timestamps. Default: nanoseconds.
    #[must_use]
    pub fn with_int96(mut self, int96: Int96Unit) -> Self {
        (self.int96, self.is_int96_chosen) = (int96, true);
        self.types.int96_units = Int96Units::default();
        self
    }

    /// Sets the units of individual INT96 columns, as
    /// [`fitting_int96`](super::ParquetRecordBatchReaderBuilder::fitting_int96) returns them.
    ///
    /// They override an earlier [`with_int96`](Self::with_int96). If that was [`Int96Unit::Auto`], the columns without
    /// a unit here get nanoseconds, and no units are searched for.
    #[must_use]
    pub fn with_int96_units(mut self, units: Int96Units) -> Self {
        if self.int96 == Int96Unit::Auto {
            self.int96 = Int96Unit::Nanoseconds;
        }
        (self.types.int96_units, self.is_int96_chosen) = (units, true);
        self
    }

    /// Sets the unit of INT96 timestamps unless [`with_int96`](Self::with_int96) was called before.
    #[must_use]
    pub fn with_default_int96(self, int96: Int96Unit) -> Self {
        match self.is_int96_chosen {
            true => self,
            false => ArrowReaderOptions { int96, ..self },
        }
    }

    /// Returns the requested unit of INT96 timestamps.
    pub fn int96(&self) -> Int96Unit {
        self.int96
    }

    /// Whether to ignore the Arrow schema that is stored in the file. Default false.
    #[must_use]
    pub fn with_skip_arrow_metadata(mut self, skip: bool) -> Self {
        self.types.use_arrow_schema = !skip;
        self
    }

    /// Whether list elements, and map keys and values, get their names from the stored Arrow schema. Otherwise they
    /// have the names of the Parquet schema, as in pyarrow. Default true.
    #[must_use]
    pub fn with_stored_element_names(mut self, stored: bool) -> Self {
        self.types.stored_element_names = stored;
        self
    }

    /// Whether key-value metadata that is not UTF-8, which Arrow's Rust types cannot hold, is kept as hexadecimal
    /// digits: [`TypeOptions::binary_metadata`](crate::schema::TypeOptions::binary_metadata). Default false.
    #[must_use]
    pub fn with_binary_metadata(mut self, keep: bool) -> Self {
        self.types.binary_metadata = keep;
        self
    }

    /// Sets the Arrow types of individual columns. `hook` is called for each leaf, including those in lists and
    /// structs. It returns the leaf's type, or `None` to leave it as it is.
    ///
    /// It overrides the stored Arrow schema and the string layout; [`with_schema`](Self::with_schema) overrides it.
    /// Opening fails if a column cannot become its type.
    ///
    /// ```
    /// use arrow_schema::DataType;
    /// use marquetry_arrow::arrow_reader::{ArrowReaderOptions, ParquetRecordBatchReaderBuilder};
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/wines.parquet");
    /// let words = DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8));
    /// let options = ArrowReaderOptions::new()
    ///     .with_type_hook(move |leaf| (leaf.name() == "country").then(|| words.clone()));
    /// let builder = ParquetRecordBatchReaderBuilder::try_new_with_options(std::fs::File::open(path)?, options)?;
    /// assert!(matches!(builder.schema().field_with_name("country")?.data_type(), DataType::Dictionary(..)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn with_type_hook(
        mut self,
        hook: impl Fn(&Leaf) -> Option<DataType> + Send + Sync + 'static,
    ) -> Self {
        self.types.type_hook = Some(TypeHook::new(hook));
        self
    }

    /// Sets how the stored Arrow schema is followed.
    ///
    /// `follow` is called with a leaf and the type that it had when the file was written. It returns the type to use,
    /// which has no effect if it does not fit the file, or `None` for the type that the Parquet schema alone gives.
    /// Default: the type as written.
    ///
    /// With [`with_skip_arrow_metadata`](Self::with_skip_arrow_metadata), the stored schema is not followed at all, for
    /// lists and structs neither.
    ///
    /// ```
    /// use arrow_schema::DataType;
    /// use marquetry_arrow::arrow_reader::ArrowReaderOptions;
    /// // Time zones and units as they were, but no dictionaries.
    /// let options = ArrowReaderOptions::new()
    ///     .with_hint_policy(|_, hint| match hint {
    ///         DataType::Dictionary(_, values) => Some(DataType::clone(values)),
    ///         other => Some(other.clone()),
    ///     });
    /// ```
    #[must_use]
    pub fn with_hint_policy(
        mut self,
        follow: impl Fn(&Leaf, &DataType) -> Option<DataType> + Send + Sync + 'static,
    ) -> Self {
        self.types.hint_policy = Some(HintPolicy::new(follow));
        self
    }

    /// Whether pages are verified against their checksums. Default true.
    #[must_use]
    pub fn with_page_checksum_verification(mut self, verify: bool) -> Self {
        self.verify_checksums = verify;
        self
    }

    /// Whether a file without a footer at its end is read up to the last footer that is certain: that of a
    /// [checkpoint](marquetry_core::write::CheckpointEvery), or the one from before an unfinished change.
    ///
    /// Such a file was cut off, or its writer died. Default false.
    ///
    /// [`recovered_end`](super::ArrowReaderMetadata::recovered_end) returns whether that happened.
    #[must_use]
    pub fn with_checkpoint_recovery(mut self, recover: bool) -> Self {
        self.checkpoint_recovery = recover;
        self
    }

    /// Sets what to do about pages that cannot be read. Default [`OnCorrupt::Fail`].
    #[must_use]
    pub fn with_on_corrupt(mut self, on_corrupt: OnCorrupt) -> Self {
        self.on_corrupt = on_corrupt;
        self
    }

    /// Whether page indexes are used to skip pages. Default true. They save most of the work if few rows are selected.
    /// An index that contradicts the pages is an error when the reader notices it.
    #[must_use]
    pub fn with_page_index(mut self, use_page_index: bool) -> Self {
        self.page_index = use_page_index;
        self
    }

    /// Appends virtual columns, which are not stored in the file: fields of type Int64 with the extension type
    /// [`RowNumber`](super::RowNumber) or [`RowGroupIndex`](super::RowGroupIndex). Fails if a field has neither.
    ///
    /// ```
    /// use arrow_schema::{DataType, Field};
    /// use marquetry_arrow::arrow_reader::{ArrowReaderOptions, RowNumber};
    /// let row = Field::new("row", DataType::Int64, false).with_extension_type(RowNumber);
    /// let options = ArrowReaderOptions::new().with_virtual_columns(vec![row.into()])?;
    /// # Ok::<(), marquetry_base::Error>(())
    /// ```
    pub fn with_virtual_columns(mut self, fields: Vec<FieldRef>) -> Result<Self> {
        fields.iter().try_for_each(|field| Virtual::of(field).map(drop))?;
        self.virtual_columns = fields;
        Ok(self)
    }

    /// Adds a virtual column of this name that holds each row's number in the file, counted from 0.
    #[must_use]
    pub fn with_row_numbers(mut self, name: &str) -> Self {
        self.virtual_columns.push(virtual_columns::row_numbers(name));
        self
    }

    /// Adds a virtual column of this name that holds the number of each row's row group, counted from 0.
    #[must_use]
    pub fn with_row_group_numbers(mut self, name: &str) -> Self {
        self.virtual_columns.push(virtual_columns::row_groups(name));
        self
    }

    /// Sets limits on what the file may cost its reader. Default: [`Limits::default`].
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = Arc::new(limits);
        self
    }

    /// Sets the keys of an encrypted file. Default: none. Then only unencrypted columns can be read, and only if the
    /// footer is not encrypted.
    ///
    /// The footer key is retrieved when the file is opened, column keys when their columns are read. A file without any
    /// encryption is an error: somebody may have put it in the place of an encrypted one.
    #[must_use]
    pub fn with_file_decryption_properties(mut self, decryption: Arc<FileDecryptionProperties>) -> Self {
        self.decryption = Some(decryption);
        self
    }

    /// Sets how many bytes to fetch from the end of a file first, for asynchronous sources.
    ///
    /// A second request is needed only if the footer is longer. Bytes before the footer, such as page indexes, are kept
    /// and used. Default and minimum: 64 KiB.
    #[cfg(feature = "async")]
    #[must_use]
    pub fn with_footer_size_hint(mut self, bytes: usize) -> Self {
        self.footer_size_hint = bytes.max(TAIL_READ);
        self
    }
}
