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
    /// Whether a unit was asked for.
    pub(crate) is_int96_chosen: bool,
    /// Whether a layout of text was asked for.
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

/// Which unit INT96 timestamps get. A value that the unit cannot hold is an error, never another value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Int96Unit {
    /// Nanoseconds, from 1677 to 2262, unless the stored Arrow schema says otherwise.
    #[default]
    Nanoseconds,
    /// This unit; what is finer is cut off, towards the past.
    Unit(TimeUnit),
    /// Each column its own: the finest unit that holds every value that the row groups that are read have of it, found by reading these
    /// columns twice. Of a column that has values beyond what nanoseconds reach, what is finer than its unit is cut off, towards the past;
    /// other columns keep their nanoseconds.
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
    /// The defaults.
    pub fn new() -> Self {
        ArrowReaderOptions::default()
    }

    /// Sets the Arrow schema that the file is read as. It needs all columns of the file, with their names and in their order. A type may
    /// differ from the default if it holds the same values: another string layout, a dictionary, another unit or width.
    ///
    /// Opening the file fails for any other type. It also fails for decimals and unsigned integers that are to be read as the stored integers, and
    /// for another unit of durations and times that only the stored Arrow schema defines.
    #[must_use]
    pub fn with_schema(mut self, schema: SchemaRef) -> Self {
        self.schema = Some(schema);
        self
    }

    /// Sets the layout of byte strings, text and binary. Default `None`: the layout in the stored Arrow schema, or
    /// [`StringLayout::Utf8`].
    #[must_use]
    pub fn with_text(mut self, text: impl Into<Option<StringLayout>>) -> Self {
        (self.types.text, self.is_text_chosen) = (text.into(), true);
        self
    }

    /// The layout of byte strings unless [`with_text`](Self::with_text) was called before.
    #[must_use]
    pub fn with_default_text(mut self, text: StringLayout) -> Self {
        if !self.is_text_chosen {
            self.types.text.get_or_insert(text);
        }
        self
    }

    /// Sets how text that is not valid UTF-8 is read. Default: [`InvalidUtf8::Error`].
    #[must_use]
    pub fn with_invalid_utf8(mut self, invalid_utf8: InvalidUtf8) -> Self {
        self.types.invalid_utf8 = invalid_utf8;
        self
    }

    /// Sets how decimals are read that do not fit their Arrow type. Default: [`DecimalOverflow::Error`].
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

    /// The units of single INT96 columns, as [`fitting_int96`](super::ParquetRecordBatchReaderBuilder::fitting_int96) finds them; they
    /// outweigh [`with_int96`](Self::with_int96) before. The columns that have none here are nanoseconds if that was
    /// [`Int96Unit::Auto`], so that nothing more is looked for.
    #[must_use]
    pub fn with_int96_units(mut self, units: Int96Units) -> Self {
        if self.int96 == Int96Unit::Auto {
            self.int96 = Int96Unit::Nanoseconds;
        }
        (self.types.int96_units, self.is_int96_chosen) = (units, true);
        self
    }

    /// The unit of INT96 timestamps unless [`with_int96`](Self::with_int96) was called before.
    #[must_use]
    pub fn with_default_int96(self, int96: Int96Unit) -> Self {
        match self.is_int96_chosen {
            true => self,
            false => ArrowReaderOptions { int96, ..self },
        }
    }

    /// The unit of INT96 timestamps that is asked for.
    pub fn int96(&self) -> Int96Unit {
        self.int96
    }

    /// Ignores the Arrow schema that is stored in the file, if `skip` is true. Default false.
    #[must_use]
    pub fn with_skip_arrow_metadata(mut self, skip: bool) -> Self {
        self.types.use_arrow_schema = !skip;
        self
    }

    /// Chooses the names of list elements, and of the keys and values of maps: those in the stored Arrow schema (`true`, the default), or
    /// those in the Parquet schema, as pyarrow does (`false`).
    #[must_use]
    pub fn with_stored_element_names(mut self, stored: bool) -> Self {
        self.types.stored_element_names = stored;
        self
    }

    /// Whether pairs of metadata that are not UTF-8, for which Arrow's Rust types have no place, are kept as hexadecimal digits:
    /// [`TypeOptions::binary_metadata`](crate::schema::TypeOptions::binary_metadata). Default false.
    #[must_use]
    pub fn with_binary_metadata(mut self, keep: bool) -> Self {
        self.types.binary_metadata = keep;
        self
    }

    /// The Arrow type of single columns: `hook` is called for each leaf, those in lists and structs included, and gives the
    /// type that it is to have, or `None` where it stays as it would be. It outweighs the stored Arrow schema and the
    /// options of text; [`with_schema`](Self::with_schema) outweighs it. A type that the column cannot become is an error
    /// when opening.
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

    /// What is made of the stored Arrow schema: `follow` is called with a leaf and the type that it had when the file was
    /// written. It gives the type that the leaf is to have, which has no effect if it does not fit the file, or `None` for what
    /// Parquet says alone. Default: the same type again.
    /// [`with_skip_arrow_metadata`](Self::with_skip_arrow_metadata) follows none, for lists and structs neither.
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

    /// Verifies the checksums of pages, if `verify` is true. Default true.
    #[must_use]
    pub fn with_page_checksum_verification(mut self, verify: bool) -> Self {
        self.verify_checksums = verify;
        self
    }

    /// Reads a file without a footer at its end, if `recover` is true. Default false. Such a file is left by a writer that died, or was
    /// truncated. It is read up to the last footer that is certain: that of a
    /// [checkpoint](marquetry_core::write::CheckpointEvery), or the footer from before an unfinished change.
    /// [`recovered_end`](super::ArrowReaderMetadata::recovered_end) tells whether this happened.
    #[must_use]
    pub fn with_checkpoint_recovery(mut self, recover: bool) -> Self {
        self.checkpoint_recovery = recover;
        self
    }

    /// Sets what happens to pages that cannot be read. Default [`OnCorrupt::Fail`].
    #[must_use]
    pub fn with_on_corrupt(mut self, on_corrupt: OnCorrupt) -> Self {
        self.on_corrupt = on_corrupt;
        self
    }

    /// Uses page indexes to skip pages, if `use_page_index` is true. Default true. This saves most of the work where few rows are selected.
    /// An index that contradicts its pages is an error when the contradiction is found.
    #[must_use]
    pub fn with_page_index(mut self, use_page_index: bool) -> Self {
        self.page_index = use_page_index;
        self
    }

    /// Adds virtual columns after the columns of the file. Each is a field of type Int64 with the extension type
    /// [`RowNumber`](super::RowNumber) or [`RowGroupIndex`](super::RowGroupIndex).
    ///
    /// Fails if a field has neither extension type.
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

    /// Adds a virtual column with the position of each row in the file, counted from 0.
    #[must_use]
    pub fn with_row_numbers(mut self, name: &str) -> Self {
        self.virtual_columns.push(virtual_columns::row_numbers(name));
        self
    }

    /// Adds a virtual column with the number of the row group of each row, counted from 0.
    #[must_use]
    pub fn with_row_group_numbers(mut self, name: &str) -> Self {
        self.virtual_columns.push(virtual_columns::row_groups(name));
        self
    }

    /// Sets the limits on memory and sizes. Default: [`Limits::default`].
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = Arc::new(limits);
        self
    }

    /// Sets the keys of an encrypted file. Default: none. Without keys the unencrypted columns can be read, if the footer is not encrypted.
    ///
    /// The footer key is retrieved when the file is opened, column keys when their columns are read. With keys, a file that is not encrypted
    /// at all is an error: it may have been put in the place of an encrypted one.
    #[must_use]
    pub fn with_file_decryption_properties(mut self, decryption: Arc<FileDecryptionProperties>) -> Self {
        self.decryption = Some(decryption);
        self
    }

    /// Sets how many bytes at the end of a remote file the first request fetches. A second request is needed only if the footer is longer.
    /// Bytes before the footer, such as page indexes, are used as well. Default and minimum: 64 KiB.
    #[cfg(feature = "async")]
    #[must_use]
    pub fn with_footer_size_hint(mut self, bytes: usize) -> Self {
        self.footer_size_hint = bytes.max(TAIL_READ);
        self
    }
}
