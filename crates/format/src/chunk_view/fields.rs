//! The fields of a column chunk: which fields it has, and where its strings and lists are.

/// The numbers of a chunk. Those of 32 bits come first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Number {
    Type,
    Codec,
    OffsetIndexLength,
    ColumnIndexLength,
    BloomFilterLength,
    OffsetIndexOffset,
    ColumnIndexOffset,
    NumValues,
    TotalUncompressedSize,
    TotalCompressedSize,
    DataPageOffset,
    DictionaryPageOffset,
    BloomFilterOffset,
    NullCount,
    DistinctCount,
    NanCount,
    UnencodedBytes,
}

impl Number {
    pub(super) const COUNT: usize = Number::UnencodedBytes as usize + 1;

    /// Whether the number has 32 bits.
    pub(crate) fn is_short(self) -> bool {
        self as usize <= Number::BloomFilterLength as usize
    }
}

/// The byte strings of a chunk.
#[derive(Debug, Clone, Copy)]
#[repr(u8)]
pub(crate) enum Text {
    FilePath,
    Max,
    Min,
    MaxValue,
    MinValue,
}

impl Text {
    pub(super) const COUNT: usize = Text::MinValue as usize + 1;
}

/// The lists of a chunk.
#[derive(Debug, Clone, Copy)]
#[repr(u8)]
pub(crate) enum List {
    Encodings,
    Path,
    EncodingStats,
    RepetitionLevels,
    DefinitionLevels,
}

impl List {
    pub(super) const COUNT: usize = List::DefinitionLevels as usize + 1;
}

/// The position of a string or list, counted from the start of the chunk. `len` counts bytes of a string, and elements of a list.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Span {
    /// Position of the first byte or element.
    pub(crate) at: u32,
    pub(crate) len: u32,
    /// The remaining nesting depth inside an element.
    pub(crate) depth: u32,
}

/// A set of fields of a chunk: numbers, byte strings, lists, structs and flags, with a bit for each.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct FieldSet(pub(super) u64);

impl FieldSet {
    pub(super) const STATISTICS: FieldSet = FieldSet(1 << 40);
    pub(super) const SIZE_STATISTICS: FieldSet = FieldSet(1 << 41);
    pub(super) const IS_MAX_EXACT: FieldSet = FieldSet(0b11 << 42);
    pub(super) const IS_MIN_EXACT: FieldSet = FieldSet(0b11 << 44);
    pub(super) const META_DATA: FieldSet = FieldSet(1 << 46);
    pub(super) const CRYPTO_METADATA: FieldSet = FieldSet(1 << 47);
    pub(super) const ENCRYPTED_METADATA: FieldSet = FieldSet(1 << 48);
    /// The fields outside of `meta_data`.
    pub(super) const OUTSIDE: FieldSet = FieldSet(
        FieldSet::number(Number::OffsetIndexOffset).0
            | FieldSet::number(Number::OffsetIndexLength).0
            | FieldSet::number(Number::ColumnIndexOffset).0
            | FieldSet::number(Number::ColumnIndexLength).0
            | FieldSet::text(Text::FilePath).0
            | FieldSet::CRYPTO_METADATA.0
            | FieldSet::ENCRYPTED_METADATA.0,
    );
    /// The fields of statistics.
    pub(super) const OF_STATISTICS: FieldSet = FieldSet(
        FieldSet::number(Number::NullCount).0
            | FieldSet::number(Number::DistinctCount).0
            | FieldSet::number(Number::NanCount).0
            | FieldSet::text(Text::Max).0
            | FieldSet::text(Text::Min).0
            | FieldSet::text(Text::MaxValue).0
            | FieldSet::text(Text::MinValue).0
            | FieldSet::IS_MAX_EXACT.0
            | FieldSet::IS_MIN_EXACT.0,
    );
    /// The fields of size statistics.
    pub(super) const OF_SIZES: FieldSet = FieldSet(
        FieldSet::number(Number::UnencodedBytes).0
            | FieldSet::list(List::RepetitionLevels).0
            | FieldSet::list(List::DefinitionLevels).0,
    );

    pub(super) const fn number(number: Number) -> FieldSet {
        FieldSet(1 << number as u8)
    }

    pub(super) const fn text(text: Text) -> FieldSet {
        FieldSet(1 << (24 + text as u8))
    }

    pub(super) const fn list(list: List) -> FieldSet {
        FieldSet(1 << (32 + list as u8))
    }

    #[inline]
    pub(crate) fn has(self, other: FieldSet) -> bool {
        self.0 & other.0 == other.0
    }

    /// Whether the chunk has byte string number `of`.
    pub(crate) fn has_string(self, of: usize) -> bool {
        self.0 >> (24 + of) & 1 == 1
    }

    /// Whether the chunk has list number `of`.
    pub(crate) fn has_list(self, of: usize) -> bool {
        self.0 >> (32 + of) & 1 == 1
    }

    #[inline]
    pub(super) fn set(&mut self, facts: FieldSet, there: bool) {
        self.0 = if there { self.0 | facts.0 } else { self.0 & !facts.0 };
    }

    /// Sets a flag. Of its two bits, the lower one says that the flag is there, the upper one is its value.
    pub(super) fn set_flag(&mut self, flag: FieldSet, value: bool) {
        self.0 = self.0 & !flag.0 | flag.0 & (flag.0 >> 1 | if value { flag.0 } else { 0 });
    }

    pub(super) fn flag(self, flag: FieldSet) -> Option<bool> {
        let lower = flag.0 & !(flag.0 << 1);
        (self.0 & lower != 0).then_some(self.0 & (lower << 1) != 0)
    }
}
