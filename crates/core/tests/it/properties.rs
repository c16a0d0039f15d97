//! Writer properties: what they are by default, who has the last word, and what is refused.

use crate::chunk::file::{group, leaf, root};
use marquetry_base::{Error, ErrorKind, Limits};
use marquetry_codec::Codec;
use marquetry_core::logical_type::{LogicalType, TimeUnit};
use marquetry_core::schema::Schema;
use marquetry_core::write::{
    BloomFilterPosition, BloomFilterProperties, BloomSettings, BrotliLevel, ColumnPath, ColumnSettings,
    Compat, Compression, EnabledStatistics, Encoding, EncodingPolicy, GzipLevel, PageVersion, SortingColumn,
    StatisticsLevel, TypeSelector, WriterProperties, WriterPropertiesBuilder, WriterVersion, ZstdLevel,
};
use marquetry_encoding::PhysicalType;
use marquetry_format::{
    ConvertedType, KeyValue, LogicalType as ThriftType, Repetition as R, SchemaElement, Type,
};

/// The leaves id, name, price, flag, tags.list.element, at (a timestamp), key (16 bytes).
fn schema() -> Schema {
    let text = |element| SchemaElement { converted_type: Some(ConvertedType::UTF8), ..element };
    let timestamp =
        ThriftType::Timestamp { is_adjusted_to_utc: false, unit: marquetry_format::TimeUnit::Nanos };
    let elements = [
        root(7),
        leaf("id", R::REQUIRED, PhysicalType::Int64),
        text(leaf("name", R::OPTIONAL, PhysicalType::ByteArray)),
        leaf("price", R::OPTIONAL, PhysicalType::Double),
        leaf("flag", R::OPTIONAL, PhysicalType::Boolean),
        group("tags", R::OPTIONAL, 1),
        group("list", R::REPEATED, 1),
        text(leaf("element", R::OPTIONAL, PhysicalType::ByteArray)),
        SchemaElement { logical_type: Some(timestamp), ..leaf("at", R::OPTIONAL, PhysicalType::Int64) },
        leaf("key", R::REQUIRED, PhysicalType::FixedLenByteArray(16)),
    ];
    Schema::from_thrift(&elements, &Limits::default()).unwrap()
}

fn settings(builder: WriterPropertiesBuilder, column: &str) -> ColumnSettings {
    outcome(builder, column).unwrap()
}

fn outcome(builder: WriterPropertiesBuilder, column: &str) -> Result<ColumnSettings, Error> {
    let schema = schema();
    builder.build().column_settings(schema.column(schema.find(column).unwrap()))
}

fn refused(builder: WriterPropertiesBuilder, text: &str) {
    let error = builder.build().check(&schema()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Argument, "{error}");
    assert!(error.to_string().contains(text), "{error}");
}

fn new() -> WriterPropertiesBuilder {
    WriterProperties::builder()
}

#[test]
fn defaults() {
    let expected = ColumnSettings::default()
        .with_codec(Codec::Zstd)
        .with_level(Some(1))
        .with_encoding(EncodingPolicy::Auto { dictionary: true })
        .with_compat(Compat::Modern)
        .with_dictionary_page_bytes(4 << 20)
        .with_page_bytes(1 << 20)
        .with_page_rows(20_000)
        .with_page_version(PageVersion::V1)
        .with_checksums(true)
        .with_statistics(StatisticsLevel::Page)
        .with_statistics_truncate(Some(64))
        .with_index_truncate(Some(64))
        .with_page_header_statistics(false)
        .with_bloom(None)
        .with_total_order(false)
        .with_key_values(Vec::new());
    assert_eq!(settings(new(), "id"), expected);
    let properties = WriterProperties::new();
    properties.check(&schema()).unwrap();
    assert_eq!(properties.max_row_group_row_count(), Some(1 << 20));
    assert_eq!(properties.max_row_group_bytes(), None);
    assert_eq!((properties.threads(), properties.memory_limit()), (1, None));
    assert!(properties.arrow_schema() && properties.page_checksums());
    let version = env!("CARGO_PKG_VERSION");
    let start = format!("marquetry version {version} (build ");
    assert!(properties.created_by().starts_with(&start), "{}", properties.created_by());
    assert!(properties.created_by().ends_with(')'));
}

#[test]
fn what_is_set_for_the_file_is_in_every_column() {
    let builder = new()
        .set_writer_version(WriterVersion::PARQUET_2_0)
        .set_compat(Compat::Latest)
        .set_page_checksums(false)
        .set_column_index_truncate_length(Some(8))
        .set_statistics_truncate_length(None)
        .set_write_page_header_statistics(true)
        .set_total_order(true)
        .set_bloom_filter_position(BloomFilterPosition::AfterRowGroup)
        .set_created_by("someone".to_owned())
        .set_max_row_group_size(7);
    let found = settings(builder.clone(), "price");
    assert_eq!((found.page_version, found.compat, found.checksums), (PageVersion::V2, Compat::Latest, false));
    assert_eq!((found.index_truncate, found.statistics_truncate), (Some(8), None));
    assert!(found.page_header_statistics && found.total_order);
    let properties = builder.build();
    assert_eq!(properties.created_by(), "someone");
    assert_eq!(properties.max_row_group_row_count(), Some(7));
    assert_eq!(properties.clone().into_builder().build(), properties);
}

#[test]
fn the_closest_has_the_last_word() {
    // In the order from the closest to the farthest, so that the order of calls cannot be what decides.
    let builder = new()
        .set_column_data_page_row_count_limit("tags.list.element".into(), 5)
        .set_column_data_page_row_count_limit("tags".into(), 4)
        .set_glob_data_page_row_count_limit("tags.**", 3)
        .set_type_data_page_row_count_limit(LogicalType::String, 2)
        .set_data_page_row_count_limit(1);
    let rows = |builder: &WriterPropertiesBuilder, column| settings(builder.clone(), column).page_rows;
    assert_eq!(rows(&builder, "tags.list.element"), 5);
    assert_eq!(rows(&builder, "name"), 2);
    assert_eq!(rows(&builder, "id"), 1);
    let without_column = new()
        .set_column_data_page_row_count_limit("tags".into(), 4)
        .set_glob_data_page_row_count_limit("**", 3)
        .set_data_page_row_count_limit(1);
    assert_eq!(rows(&without_column, "tags.list.element"), 4);
    assert_eq!(rows(&without_column, "id"), 3);
    // Among equals, the last; each setting on its own.
    let builder = builder
        .set_type_data_page_row_count_limit(Type::BYTE_ARRAY, 9)
        .set_column_compression("name".into(), Compression::SNAPPY);
    assert_eq!(rows(&builder, "name"), 9);
    assert_eq!(settings(builder, "name").codec, Codec::Snappy);
}

#[test]
fn types_select_whatever_their_parameters() {
    let timestamp = LogicalType::Timestamp { utc: true, unit: TimeUnit::Millis };
    let off = |types: TypeSelector, column| {
        settings(new().set_type_statistics_enabled(types, EnabledStatistics::None), column).statistics
            == StatisticsLevel::None
    };
    assert!(off(timestamp.clone().into(), "at") && !off(timestamp.into(), "id"));
    assert!(off("timestamp".parse().unwrap(), "at") && off("INT64".parse().unwrap(), "at"));
    assert!(off(Type::FIXED_LEN_BYTE_ARRAY.into(), "key") && !off(Type::BYTE_ARRAY.into(), "key"));
    assert!("int".parse::<TypeSelector>().unwrap_err().to_string().contains("neither a physical type"));
}

#[test]
fn patterns() {
    let fits = |pattern: &str, column: &str| {
        let builder = new().set_glob_dictionary_enabled(pattern, false);
        !builder.build().dictionary_enabled(&ColumnPath::from(column))
    };
    for (pattern, column) in [
        ("id", "id"),
        ("*", "id"),
        ("*d", "id"),
        ("i*", "id"),
        ("i*d", "id"),
        ("i?", "id"),
        ("a.*.b", "a.xyz.b"),
        ("a.**", "a.b.c"),
        ("a.**", "a.b"),
        ("a.**.c", "a.c"),
        ("a.**.c", "a.b.b.c"),
        ("**.c", "c"),
        ("**.c", "a.b.c"),
        ("**.a.**.c", "x.a.b.a.c.c"),
        ("*a*b*", "xxabxaxbx"),
        ("ü?", "üö"),
    ] {
        assert!(fits(pattern, column), "{pattern} should fit {column}");
    }
    for (pattern, column) in [
        ("id", "ids"),
        ("i", "id"),
        ("", "id"),
        ("*", "a.b"),
        ("a.*.b", "a.b"),
        ("a.*.b", "a.x.y.b"),
        ("a*b", "a.b"),
        ("i?", "i"),
        ("**.c", "a.xc"),
        ("a.**.c", "a.b.d"),
        ("*.*", "a"),
    ] {
        assert!(!fits(pattern, column), "{pattern} should not fit {column}");
    }
    let many = "*a".repeat(50);
    assert!(!fits(&many, &"a".repeat(49)), "and soon");
}

#[test]
fn encodings_and_dictionaries() {
    use EncodingPolicy::*;
    let choice = |builder, column| settings(builder, column).encoding;
    let delta = || new().set_column_encoding("id".into(), Encoding::DELTA_BINARY_PACKED);
    assert_eq!(choice(new().set_dictionary_enabled(true), "id"), Auto { dictionary: true });
    assert_eq!(choice(new().set_dictionary_enabled(false), "id"), Auto { dictionary: false });
    assert_eq!(choice(new(), "flag"), Auto { dictionary: false });
    assert_eq!(choice(delta(), "id"), Only(5));
    assert_eq!(choice(delta(), "name"), Auto { dictionary: true });
    assert_eq!(choice(delta().set_dictionary_enabled(true), "id"), DictionaryOr(5));
    assert_eq!(choice(delta().set_dictionary_enabled(false), "id"), Only(5));
    assert_eq!(choice(new().set_encoding(Encoding::RLE_DICTIONARY), "id"), DictionaryOr(0));
    let all_off = new().set_dictionary_enabled(false);
    let but_one = all_off.set_column_encoding("id".into(), Encoding::RLE_DICTIONARY);
    assert_eq!(choice(but_one, "id"), DictionaryOr(0));
    let plain = new().set_encoding(Encoding::PLAIN).set_dictionary_enabled(true);
    assert_eq!(choice(plain.clone(), "flag"), Only(0));
    assert_eq!(
        choice(plain.set_column_encoding("id".into(), Encoding::Auto), "id"),
        Auto { dictionary: true }
    );
    let rle = new().set_type_encoding(Type::BOOLEAN, Encoding::RLE).set_dictionary_enabled(true);
    assert_eq!(choice(rle, "flag"), Only(3));
}

#[test]
fn wrong_encodings_are_refused() {
    let encoding = |column: &str, encoding| new().set_column_encoding(column.into(), encoding);
    refused(
        encoding("name", Encoding::DELTA_BINARY_PACKED),
        "argument: DELTA_BINARY_PACKED is not legal for BYTE_ARRAY, which may have PLAIN, DELTA_LENGTH_BYTE_ARRAY, \
         DELTA_BYTE_ARRAY, RLE_DICTIONARY, in column name",
    );
    refused(encoding("flag", Encoding::RLE_DICTIONARY), "RLE_DICTIONARY is not legal for BOOLEAN");
    refused(encoding("id", Encoding::ALP), "ALP is not legal for INT64");
    refused(
        encoding("id", Encoding::PLAIN_DICTIONARY),
        "deprecated and not written; its name is now RLE_DICTIONARY",
    );
    refused(
        encoding("flag", Encoding::BIT_PACKED),
        "BIT_PACKED is deprecated and not written, in column flag",
    );
    encoding("price", Encoding::ALP).build().check(&schema()).unwrap();
}

#[test]
fn bloom_filters() {
    let bloom = |builder, column| settings(builder, column).bloom;
    let of_chunk = BloomSettings::new(0.05);
    assert_eq!(bloom(new().set_bloom_filter_enabled(true), "id"), Some(of_chunk));
    assert_eq!(bloom(new().set_bloom_filter_enabled(true), "flag"), None);
    let one = new().set_column_bloom_filter_ndv("id".into(), 1_000);
    assert_eq!(bloom(one.clone(), "id"), Some(of_chunk.with_ndv(Some(1_000))));
    assert_eq!(bloom(one.clone(), "key"), None);
    assert_eq!(bloom(one.clone().set_bloom_filter_fpp(0.01), "id").unwrap().fpp, 0.01);
    assert_eq!(bloom(one.set_column_bloom_filter_enabled("id".into(), false), "id"), None);
    let both = BloomFilterProperties::builder().with_fpp(0.1).with_max_ndv(9).try_build().unwrap();
    let all = new().set_glob_bloom_filter_properties("k*", both);
    assert_eq!(bloom(all, "key"), Some(BloomSettings::new(0.1).with_ndv(Some(9))));
    for wrong in [0.0, 1.0, -0.1, f64::NAN, f64::INFINITY] {
        refused(new().set_bloom_filter_fpp(wrong), "must be between 0 and 1");
        assert!(BloomFilterProperties::builder().with_fpp(wrong).try_build().is_err());
    }
}

/// What a getter returns for a column is what the column is written with, also where other settings decide.
#[test]
fn getters_return_what_is_written() {
    for compat in [Compat::Maximum, Compat::Modern, Compat::Latest] {
        for has_no_index in [false, true] {
            let builder = new().set_compat(compat).set_offset_index_disabled(has_no_index);
            let (properties, written) = (builder.clone().build(), settings(builder, "id"));
            let id = ColumnPath::from("id");
            assert_eq!(properties.compression(&id).codec(), written.codec, "{compat:?}");
            assert_eq!(properties.compression(&id).level(), written.level, "{compat:?}");
            assert_eq!(StatisticsLevel::from(properties.statistics_enabled(&id)), written.statistics);
            assert_eq!(properties.dictionary_page_size_limit(), written.dictionary_page_bytes);
            assert_eq!(properties.bloom_filter_properties(&id), None);
        }
    }
}

#[test]
fn no_column_index_without_an_offset_index() {
    let without = new().set_offset_index_disabled(true);
    assert!(without.clone().build().offset_index_disabled());
    assert_eq!(settings(without.clone(), "id").statistics, StatisticsLevel::Chunk);
    let asked = without.set_column_statistics_enabled("id".into(), EnabledStatistics::Page);
    assert!(!asked.clone().build().offset_index_disabled());
    assert_eq!(settings(asked, "id").statistics, StatisticsLevel::Page);
}

#[test]
fn zeros_are_refused() {
    refused(new().set_data_page_size_limit(0), "a data page of 0 bytes");
    refused(new().set_dictionary_page_size_limit(0), "a dictionary page of 0 bytes");
    refused(new().set_glob_data_page_row_count_limit("id", 0), "0 rows in a data page, in column id");
    refused(new().set_max_row_group_size(0), "0 rows in a row group");
    refused(new().set_max_row_group_bytes(Some(0)), "0 bytes in a row group");
    refused(new().set_threads(0), "0 threads");
    refused(new().set_statistics_truncate_length(Some(0)), "0 bytes of a bound in statistics");
    assert_eq!(settings(new().set_data_page_size_limit(usize::MAX), "id").page_bytes, 1 << 30);
}

#[test]
fn columns_must_exist() {
    let column = |path: &str| new().set_column_dictionary_enabled(path.into(), false);
    for path in ["id", "tags", "tags.list", "tags.list.element"] {
        column(path).build().check(&schema()).unwrap();
    }
    refused(column("tags.list.elem"), "no column tags.list.elem; did you mean tags.list.element, tags?");
    refused(column("ID"), "no column ID; did you mean id?");
    refused(column("xyz"), "no column xyz; there are id, name, price");
    refused(column("i"), "no column i");
    new().set_glob_dictionary_enabled("xyz*", false).build().check(&schema()).unwrap();
}

#[test]
fn the_first_that_does_not_exist_is_named() {
    let builder = new()
        .add_column_key_value_metadata("none".into(), KeyValue::new("k", "v".to_owned()))
        .set_column_dictionary_enabled("id".into(), false)
        .set_column_dictionary_enabled("nane".into(), false)
        .set_column_dictionary_enabled("flags".into(), false);
    refused(builder, "no column nane; did you mean name?");
}

#[test]
fn of_groups_around_a_column_the_last_has_the_last_word() {
    let rows = |first: &str, last: &str| {
        let builder = new()
            .set_column_data_page_row_count_limit(first.into(), 1)
            .set_column_data_page_row_count_limit("price".into(), 9)
            .set_column_data_page_row_count_limit(last.into(), 2);
        settings(builder, "tags.list.element").page_rows
    };
    assert_eq!((rows("tags", "tags.list"), rows("tags.list", "tags")), (2, 2));
    assert_eq!((rows("tags.list.element", "tags"), rows("tags", "tags.list.element")), (1, 2));
}

/// Rules of other columns cost nothing: searched through for each column, they took some 200 times as long as this allows.
#[test]
fn many_columns_with_settings_of_their_own() {
    let names: Vec<String> = (0..16_000).map(|i| format!("column_{i}")).collect();
    let elements: Vec<_> = [root(names.len() as i32)]
        .into_iter()
        .chain(names.iter().map(|name| leaf(name, R::REQUIRED, PhysicalType::Int32)))
        .collect();
    let schema = Schema::from_thrift(&elements, &Limits::default()).unwrap();
    let builder = names.iter().enumerate().fold(new(), |builder, (i, name)| {
        let path = || ColumnPath::from(name.as_str());
        builder
            .set_column_data_page_row_count_limit(path(), i + 1)
            .set_column_compression(path(), Compression::SNAPPY)
            .add_column_key_value_metadata(path(), KeyValue::new("i", i.to_string()))
    });
    let properties = builder.build();
    let started = std::time::Instant::now();
    properties.check(&schema).unwrap();
    let taken = started.elapsed();
    println!("{} columns: {taken:?}", names.len());
    assert!(taken.as_secs() < 5, "{taken:?}");
    let last = properties.column_settings(schema.column(15_999)).unwrap();
    assert_eq!((last.page_rows, last.codec, last.key_values.len()), (16_000, Codec::Snappy, 1));
}

#[test]
fn sorting_columns_must_exist() {
    let sorted = |indices: &[i32]| {
        let columns = indices.iter().map(|i| SortingColumn { column_idx: *i, ..SortingColumn::default() });
        new().set_sorting_columns(Some(columns.collect()))
    };
    sorted(&[6, 0]).build().check(&schema()).unwrap();
    refused(sorted(&[0, 7]), "no column 7 to be sorted by, there are 7");
    refused(sorted(&[-1]), "no column -1 to be sorted by");
    refused(sorted(&[1, 0, 1]), "sorted by column name twice");
}

#[test]
fn names_with_dots() {
    let elements = [root(1), leaf("a.b", R::REQUIRED, PhysicalType::Int32)];
    let schema = Schema::from_thrift(&elements, &Limits::default()).unwrap();
    for path in [ColumnPath::from("a.b"), ColumnPath::new(vec!["a.b".to_owned()])] {
        let properties = new().set_column_dictionary_enabled(path, false).build();
        properties.check(&schema).unwrap();
        let found = properties.column_settings(schema.column(0)).unwrap().encoding;
        assert_eq!(found, EncodingPolicy::Auto { dictionary: false });
    }
}

#[test]
fn compressions_as_text() {
    let zstd = |level| Compression::ZSTD(ZstdLevel::try_new(level).unwrap());
    let gzip = |level| Compression::GZIP(GzipLevel::try_new(level).unwrap());
    let brotli = |level| Compression::BROTLI(BrotliLevel::try_new(level).unwrap());
    for (text, compression, shown) in [
        ("zstd", zstd(1), "ZSTD(1)"),
        ("ZSTD:22", zstd(22), "ZSTD(22)"),
        ("zstd(-5)", zstd(-5), "ZSTD(-5)"),
        ("Zstd: 3", zstd(3), "ZSTD(3)"),
        ("gzip", gzip(6), "GZIP(6)"),
        ("gzip:0", gzip(0), "GZIP(0)"),
        ("brotli:11", brotli(11), "BROTLI(11)"),
        ("snappy", Compression::SNAPPY, "SNAPPY"),
        ("lz4_raw", Compression::LZ4_RAW, "LZ4_RAW"),
        ("none", Compression::UNCOMPRESSED, "UNCOMPRESSED"),
    ] {
        assert_eq!(text.parse::<Compression>().unwrap(), compression, "{text}");
        assert_eq!(compression.to_string(), shown);
        assert_eq!(shown.parse::<Compression>().unwrap(), compression);
    }
    for (text, message) in [
        ("zstd:23", "ZSTD has the levels -131072 to 22, not 23"),
        ("zstd:99999999999", "not 99999999999"),
        ("gzip:-1", "GZIP has the levels 0 to 12, not -1"),
        ("zstd:x", "the level of zstd:x is not a whole number"),
        ("snappy:1", "SNAPPY has no levels"),
        ("lz4", "LZ4_RAW is what replaced it"),
        ("lzo", "LZO is not written"),
        ("", "is none of UNCOMPRESSED"),
        ("zip(3", "zip(3 is none of"),
    ] {
        let error = text.parse::<Compression>().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Argument);
        assert!(error.to_string().contains(message), "{error}");
    }
    assert!(ZstdLevel::try_new(-131_073).is_err() && GzipLevel::try_new(13).is_err());
    assert!(BrotliLevel::try_new(u32::MAX).is_err());
    let found = settings(new().set_compression(zstd(-7)), "id");
    assert_eq!((found.codec, found.level), (Codec::Zstd, Some(-7)));
}

#[test]
fn other_names() {
    for code in 0..=10 {
        let thrift = marquetry_format::Encoding(code);
        let ours = Encoding::from_code(code);
        assert_eq!(ours.map(Encoding::name), thrift.name());
        assert_eq!(thrift.name().map(|name| name.to_lowercase().parse().unwrap()), ours);
    }
    assert!(Encoding::try_from(marquetry_format::Encoding(11)).is_err());
    assert_eq!("Auto".parse::<Encoding>().unwrap(), Encoding::Auto);
    let error = "rle2".parse::<Encoding>().unwrap_err();
    assert!(error.to_string().contains("rle2 is none of AUTO, PLAIN,"), "{error}");
    assert_eq!("page".parse::<EnabledStatistics>().unwrap(), EnabledStatistics::Page);
    assert_eq!("PARQUET_2_0".parse::<WriterVersion>().unwrap().as_num(), 2);
    let mut path = ColumnPath::from("a");
    path.append(vec!["b".to_owned()]);
    assert_eq!((path.to_string(), path), ("a.b".to_owned(), ColumnPath::from("a.b")));
}

#[test]
fn chunks_may_have_metadata_of_their_own() {
    let pair = |key: &str| KeyValue::new(key, "v".to_owned());
    let builder = new()
        .add_column_key_value_metadata(ColumnPath::from("id"), pair("a"))
        .add_column_key_value_metadata(ColumnPath::from("tags"), pair("b"))
        .add_column_key_value_metadata(ColumnPath::from("tags.list.element"), pair("c"));
    assert_eq!(settings(builder.clone(), "id").key_values, [pair("a")]);
    assert_eq!(settings(builder.clone(), "tags.list.element").key_values, [pair("b"), pair("c")]);
    assert_eq!(settings(builder.clone(), "price").key_values, []);
    let nowhere = builder.add_column_key_value_metadata(ColumnPath::from("prize"), pair("d")).build();
    assert_eq!(nowhere.check(&schema()).unwrap_err().kind(), ErrorKind::Argument);
}
