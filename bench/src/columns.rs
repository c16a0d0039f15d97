//! The columns that `decode` measures: a name, how the values are made, how they are stored, how they are asked for.

use std::sync::Arc;

use arrow60_array::ArrayRef;
use arrow60_schema::{DataType, Field, Schema, SchemaRef};
use parquet::basic::Encoding;

use crate::generate::{self, Rng};

/// The most bytes of a dictionary, for both writers: none of COLUMNS has as many, so that no dictionary is given up.
pub(crate) const DICTIONARY_LIMIT: usize = 64 << 20;

/// One column of the benchmark: one file, one row of the table.
pub(crate) struct Column {
    /// The row's name in the JSON: `TYPE_ENCODING[_VARIANT]`.
    pub(crate) name: &'static str,
    /// The row's title in the Markdown table.
    pub(crate) title: &'static str,
    /// Makes that many rows.
    pub(crate) make: fn(&mut Rng, usize) -> ArrayRef,
    /// Rows are the `--values` option divided by this, as strings and lists are bigger than numbers.
    pub(crate) share: usize,
    /// How many rows in a hundred are null. With 0 the field is REQUIRED, else it is OPTIONAL.
    pub(crate) null_percent: u64,
    /// The encoding of every data page. RLE_DICTIONARY switches the dictionary on, all others switch it off.
    pub(crate) encoding: Encoding,
    /// The Arrow type to read as.
    pub(crate) read_as: ReadAs,
}

/// The Arrow type that both readers are asked for.
#[derive(Clone, Copy)]
pub(crate) enum ReadAs {
    /// The type that was written.
    Written,
    /// Utf8View.
    View,
    /// Dictionary(Int32, Utf8).
    Keys,
}

impl Column {
    /// The schema of the file, given the type of its values.
    pub(crate) fn schema(&self, data_type: DataType) -> SchemaRef {
        Arc::new(Schema::new(vec![Field::new("value", data_type, self.null_percent > 0)]))
    }

    /// The schema that both readers are asked for, given the type that was written.
    pub(crate) fn read_schema(&self, written: DataType) -> SchemaRef {
        self.schema(match self.read_as {
            ReadAs::Written => written,
            ReadAs::View => DataType::Utf8View,
            ReadAs::Keys => DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8)),
        })
    }
}

/// A required column of numbers; the other kinds are this one with some fields replaced.
const fn numbers(
    name: &'static str,
    title: &'static str,
    make: fn(&mut Rng, usize) -> ArrayRef,
    encoding: Encoding,
) -> Column {
    Column { name, title, make, share: 1, null_percent: 0, encoding, read_as: ReadAs::Written }
}

/// A required column of strings: half as many rows.
const fn strings(
    name: &'static str,
    title: &'static str,
    make: fn(&mut Rng, usize) -> ArrayRef,
    encoding: Encoding,
    read_as: ReadAs,
) -> Column {
    Column { name, title, make, share: 2, null_percent: 0, encoding, read_as }
}

const fn with_nulls(column: Column, null_percent: u64) -> Column {
    Column { null_percent, ..column }
}

const fn fewer(column: Column, share: usize) -> Column {
    Column { share, ..column }
}

use Encoding::{
    ALP, BYTE_STREAM_SPLIT, DELTA_BINARY_PACKED, DELTA_BYTE_ARRAY, DELTA_LENGTH_BYTE_ARRAY, PLAIN, RLE,
    RLE_DICTIONARY,
};
use ReadAs::{Keys, View, Written};
use generate as g;

/// Every column, in the order of the table.
#[rustfmt::skip] // one column a line, so that the table reads as a table
pub(crate) const COLUMNS: &[Column] = &[
    numbers("i64_plain", "i64 PLAIN, random", g::i64_random, PLAIN),
    with_nulls(numbers("i64_plain_null10", "i64 PLAIN, 10 % null", g::i64_random, PLAIN), 10),
    with_nulls(numbers("i64_plain_null50", "i64 PLAIN, 50 % null", g::i64_random, PLAIN), 50),
    with_nulls(numbers("i64_plain_null100", "i64 PLAIN, all null", g::i64_random, PLAIN), 100),
    numbers("i32_plain", "i32 PLAIN", g::i32_random, PLAIN),
    numbers("f64_plain", "f64 PLAIN", g::f64_random, PLAIN),
    numbers("i64_delta_ts", "i64 DELTA_BINARY_PACKED, timestamps", g::i64_timestamps, DELTA_BINARY_PACKED),
    numbers("i64_delta_rnd20", "i64 DELTA_BINARY_PACKED, random 20 bit", g::i64_random20, DELTA_BINARY_PACKED),
    numbers("i32_delta_rnd20", "i32 DELTA_BINARY_PACKED, random 20 bit", g::i32_random20, DELTA_BINARY_PACKED),
    with_nulls(numbers("i64_delta_ts_null10", "i64 DELTA_BINARY_PACKED, timestamps, 10 % null", g::i64_timestamps, DELTA_BINARY_PACKED), 10),
    numbers("i64_dict1000", "i64 dictionary of 1,000", g::i64_of_1000, RLE_DICTIONARY),
    with_nulls(numbers("i64_dict1000_null10", "i64 dictionary of 1,000, 10 % null", g::i64_of_1000, RLE_DICTIONARY), 10),
    numbers("i64_dict1000000", "i64 dictionary of 1,000,000", g::i64_of_1000000, RLE_DICTIONARY),
    numbers("i64_dict_runs", "i64 dictionary, long runs", g::i64_runs, RLE_DICTIONARY),
    numbers("f32_dict1000", "f32 dictionary of 1,000", g::f32_of_1000, RLE_DICTIONARY),
    numbers("u8_dict", "u8 dictionary of 256", g::u8_random, RLE_DICTIONARY),
    numbers("i64_bss", "i64 BYTE_STREAM_SPLIT", g::i64_random, BYTE_STREAM_SPLIT),
    numbers("f64_bss", "f64 BYTE_STREAM_SPLIT", g::f64_random, BYTE_STREAM_SPLIT),
    numbers("f32_bss", "f32 BYTE_STREAM_SPLIT", g::f32_random, BYTE_STREAM_SPLIT),
    numbers("f64_alp", "f64 ALP, prices", g::f64_prices, ALP),
    numbers("f32_alp", "f32 ALP, prices", g::f32_prices, ALP),
    with_nulls(numbers("f16_plain_null10", "f16 PLAIN, 10 % null", g::f16_random, PLAIN), 10),
    numbers("bool_plain", "bool PLAIN, random", g::bool_random, PLAIN),
    with_nulls(numbers("bool_plain_null10", "bool PLAIN, 10 % null", g::bool_random, PLAIN), 10),
    numbers("bool_rle", "bool RLE, runs", g::bool_runs, RLE),
    with_nulls(numbers("dec15_plain_null10", "Decimal128 of 15 digits (INT64) PLAIN, 10 % null", g::decimals_of_15, PLAIN), 10),
    with_nulls(numbers("dec20_plain_null10", "Decimal128 of 20 digits (9 bytes) PLAIN, 10 % null", g::decimals_of_20, PLAIN), 10),
    numbers("dec20_dba", "Decimal128 of 20 digits (9 bytes) DELTA_BYTE_ARRAY", g::decimals_of_20, DELTA_BYTE_ARRAY),
    numbers("dec38_plain", "Decimal128 of 38 digits (16 bytes) PLAIN", g::decimals_of_38, PLAIN),
    numbers("dec38_dict1000", "Decimal128 of 38 digits (16 bytes), dictionary of 1,000", g::decimals_of_1000, RLE_DICTIONARY),
    fewer(numbers("dec76_plain", "Decimal256 of 76 digits (32 bytes) PLAIN", g::decimals_of_76, PLAIN), 2),
    with_nulls(numbers("uuid_plain_null10", "16 bytes (UUID) PLAIN, 10 % null", g::uuids, PLAIN), 10),
    numbers("uuid_bss", "16 bytes (UUID) BYTE_STREAM_SPLIT", g::uuids, BYTE_STREAM_SPLIT),
    numbers("uuid_dict1000", "16 bytes (UUID), dictionary of 1,000", g::uuids_of_1000, RLE_DICTIONARY),
    numbers("interval_plain", "Interval of days and milliseconds (12 bytes) PLAIN", g::intervals, PLAIN),
    strings("str_plain", "string PLAIN (~16 B) as Utf8", g::strings_random, PLAIN, Written),
    strings("str_plain_view", "string PLAIN (~16 B) as Utf8View", g::strings_random, PLAIN, View),
    with_nulls(strings("str_plain_null10", "string PLAIN (~16 B), 10 % null, as Utf8", g::strings_random, PLAIN, Written), 10),
    strings("str_cyrillic_view", "string PLAIN (~16 B), not ASCII, as Utf8View", g::strings_cyrillic, PLAIN, View),
    strings("str_dlba", "string DELTA_LENGTH_BYTE_ARRAY as Utf8", g::strings_random, DELTA_LENGTH_BYTE_ARRAY, Written),
    strings("str_dlba_view", "string DELTA_LENGTH_BYTE_ARRAY as Utf8View", g::strings_random, DELTA_LENGTH_BYTE_ARRAY, View),
    strings("str_dba_url", "URL DELTA_BYTE_ARRAY (~36 B) as Utf8", g::urls, DELTA_BYTE_ARRAY, Written),
    strings("large_dba_url", "URL DELTA_BYTE_ARRAY (~36 B), LargeUtf8", g::large_urls, DELTA_BYTE_ARRAY, Written),
    fewer(strings("str_medium", "string PLAIN (~128 B) as Utf8", g::strings_medium, PLAIN, Written), 4),
    fewer(strings("str_medium_view", "string PLAIN (~128 B) as Utf8View", g::strings_medium, PLAIN, View), 4),
    fewer(strings("str_medium_dlba", "string DELTA_LENGTH_BYTE_ARRAY (~128 B) as Utf8", g::strings_medium, DELTA_LENGTH_BYTE_ARRAY, Written), 4),
    fewer(strings("str_long", "string PLAIN (~1 KB) as Utf8", g::strings_long, PLAIN, Written), 32),
    fewer(strings("view_long", "string PLAIN (~1 KB), written and read as Utf8View", g::views_long, PLAIN, Written), 32),
    strings("str_dict15", "string dictionary of 15 as Utf8", g::strings_of_15, RLE_DICTIONARY, Written),
    strings("str_dict15_view", "string dictionary of 15 as Utf8View", g::strings_of_15, RLE_DICTIONARY, View),
    strings("str_dict15_keys", "string dictionary of 15 as Dictionary(Int32, Utf8)", g::strings_of_15, RLE_DICTIONARY, Keys),
    strings("str_dict100000", "string dictionary of 100,000 as Utf8", g::strings_of_100000, RLE_DICTIONARY, Written),
    strings("keys_dict15", "string dictionary of 15, written and read as Dictionary(Int32, Utf8)", g::keys_of_15, RLE_DICTIONARY, Written),
    strings("keys_plain", "strings of 15 PLAIN, written and read as Dictionary(Int32, Utf8)", g::keys_of_15, PLAIN, Written),
    fewer(with_nulls(numbers("list_i64", "list<i64>, ~4.3 values a row, PLAIN", g::lists_of_i64, PLAIN), 5), 8),
    fewer(with_nulls(numbers("list_nullable_dict", "list<i64>, 10 % of values null, dictionary of 1,000", g::lists_of_nullable, RLE_DICTIONARY), 5), 8),
    fewer(with_nulls(numbers("list_list_i64", "list<list<i64>> PLAIN", g::lists_of_lists, PLAIN), 5), 16),
    fewer(with_nulls(numbers("vector_f32_null10", "fixed list of 8 f32 PLAIN, 10 % null", g::vectors, PLAIN), 10), 8),
    fewer(with_nulls(numbers("struct_null10", "struct<i64, string>, 10 % null on both levels, PLAIN", g::structs, PLAIN), 10), 4),
    fewer(with_nulls(numbers("map_str_i64", "map<string, i64> PLAIN", g::maps, PLAIN), 5), 16),
];
