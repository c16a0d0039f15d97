//! Random values of all structs: every optional field is sometimes absent, and some enum numbers do not exist.

use marquetry_format::*;
use proptest::collection::vec;
use proptest::option::of;
use proptest::prelude::*;

fn code() -> impl Strategy<Value = i32> {
    prop_oneof![8 => 0..25, 1 => any::<i32>()]
}

fn number() -> impl Strategy<Value = i64> {
    (any::<i64>(), 0..64).prop_map(|(number, shift)| number >> shift)
}

fn bytes() -> impl Strategy<Value = Vec<u8>> {
    vec(any::<u8>(), 0..20)
}

fn text() -> impl Strategy<Value = String> {
    "\\PC{0,20}"
}

/// Mostly UTF-8, as it should be.
fn string() -> impl Strategy<Value = ThriftString> {
    prop_oneof![
        3 => text().prop_map(ThriftString::from),
        1 => vec(any::<u8>(), 0..20).prop_map(|bytes| ThriftString::from_bytes(&bytes)),
    ]
}

fn unit() -> impl Strategy<Value = TimeUnit> {
    prop_oneof![
        Just(TimeUnit::Millis),
        Just(TimeUnit::Micros),
        Just(TimeUnit::Nanos),
        (4..i16::MAX).prop_map(TimeUnit::Unknown)
    ]
}

pub(crate) fn logical_type() -> impl Strategy<Value = LogicalType> {
    prop_oneof![
        Just(LogicalType::String),
        Just(LogicalType::Map),
        Just(LogicalType::List),
        Just(LogicalType::Enum),
        (any::<i32>(), any::<i32>()).prop_map(|(scale, precision)| LogicalType::Decimal { scale, precision }),
        Just(LogicalType::Date),
        (any::<bool>(), unit())
            .prop_map(|(is_adjusted_to_utc, unit)| LogicalType::Time { is_adjusted_to_utc, unit }),
        (any::<bool>(), unit())
            .prop_map(|(is_adjusted_to_utc, unit)| LogicalType::Timestamp { is_adjusted_to_utc, unit }),
        (any::<i8>(), any::<bool>())
            .prop_map(|(bit_width, is_signed)| LogicalType::Integer { bit_width, is_signed }),
        Just(LogicalType::Null),
        prop_oneof![Just(LogicalType::Json), Just(LogicalType::Bson), Just(LogicalType::Uuid)],
        prop_oneof![
            Just(LogicalType::Float16),
            Just(LogicalType::File),
            of(any::<i8>()).prop_map(|specification_version| LogicalType::Variant { specification_version }),
            of(text()).prop_map(|crs| LogicalType::Geometry { crs }),
            (of(text()), of(code())).prop_map(|(crs, algorithm)| LogicalType::Geography {
                crs,
                algorithm: algorithm.map(EdgeInterpolationAlgorithm)
            }),
            (20..i16::MAX).prop_map(LogicalType::Unknown),
        ],
    ]
}

pub(crate) fn schema_element() -> impl Strategy<Value = SchemaElement> {
    let optional = || of(any::<i32>());
    (
        of(code()),
        optional(),
        of(code()),
        string(),
        optional(),
        of(code()),
        optional(),
        optional(),
        optional(),
        of(logical_type()),
    )
        .prop_map(
            |(
                type_,
                type_length,
                repetition,
                name,
                num_children,
                converted,
                scale,
                precision,
                field_id,
                logical,
            )| {
                SchemaElement {
                    type_: type_.map(Type),
                    type_length,
                    repetition_type: repetition.map(Repetition),
                    name,
                    num_children,
                    converted_type: converted.map(ConvertedType),
                    scale,
                    precision,
                    field_id,
                    logical_type: logical,
                }
            },
        )
}

pub(crate) fn statistics() -> impl Strategy<Value = Statistics> {
    (
        (of(bytes()), of(bytes()), of(number()), of(number()), of(bytes()), of(bytes())),
        (of(any::<bool>()), of(any::<bool>()), of(number())),
    )
        .prop_map(
            |(
                (max, min, null_count, distinct_count, max_value, min_value),
                (max_exact, min_exact, nan_count),
            )| {
                Statistics {
                    max,
                    min,
                    null_count,
                    distinct_count,
                    max_value,
                    min_value,
                    is_max_value_exact: max_exact,
                    is_min_value_exact: min_exact,
                    nan_count,
                }
            },
        )
}

fn size_statistics() -> impl Strategy<Value = SizeStatistics> {
    let histogram = || of(vec(number(), 0..20));
    (of(number()), histogram(), histogram()).prop_map(|(size, repetition, definition)| SizeStatistics {
        unencoded_byte_array_data_bytes: size,
        repetition_level_histogram: repetition,
        definition_level_histogram: definition,
    })
}

fn geospatial_statistics() -> impl Strategy<Value = GeospatialStatistics> {
    let bound = any::<f64>;
    let bbox = (bound(), bound(), bound(), bound(), of(bound()), of(bound()), of(bound()), of(bound()))
        .prop_map(|(xmin, xmax, ymin, ymax, zmin, zmax, mmin, mmax)| BoundingBox {
            xmin,
            xmax,
            ymin,
            ymax,
            zmin,
            zmax,
            mmin,
            mmax,
        });
    (of(bbox), of(vec(any::<i32>(), 0..5)))
        .prop_map(|(bbox, geospatial_types)| GeospatialStatistics { bbox, geospatial_types })
}

fn key_value() -> impl Strategy<Value = KeyValue> {
    (string(), of(string())).prop_map(|(key, value)| KeyValue { key, value })
}

fn page_encoding_stats() -> impl Strategy<Value = PageEncodingStats> {
    (code(), code(), any::<i32>()).prop_map(|(page_type, encoding, count)| PageEncodingStats {
        page_type: PageType(page_type),
        encoding: Encoding(encoding),
        count,
    })
}

fn column_metadata() -> impl Strategy<Value = ColumnMetaData> {
    (
        (code(), vec(code(), 0..20), vec(string(), 0..4), code(), number(), number(), number()),
        (of(vec(key_value(), 0..3)), number(), of(number()), of(number())),
        (of(statistics()), of(vec(page_encoding_stats(), 0..3)), of(number()), of(any::<i32>())),
        (of(size_statistics()), of(geospatial_statistics())),
    )
        .prop_map(
            |(
                (
                    type_,
                    encodings,
                    path_in_schema,
                    codec,
                    num_values,
                    total_uncompressed_size,
                    total_compressed_size,
                ),
                (key_value_metadata, data_page_offset, index_page_offset, dictionary_page_offset),
                (statistics, encoding_stats, bloom_filter_offset, bloom_filter_length),
                (size_statistics, geospatial_statistics),
            )| ColumnMetaData {
                type_: Type(type_),
                encodings: encodings.into_iter().map(Encoding).collect(),
                path_in_schema,
                codec: CompressionCodec(codec),
                num_values,
                total_uncompressed_size,
                total_compressed_size,
                key_value_metadata,
                data_page_offset,
                index_page_offset,
                dictionary_page_offset,
                statistics,
                encoding_stats,
                bloom_filter_offset,
                bloom_filter_length,
                size_statistics,
                geospatial_statistics,
            },
        )
}

fn crypto_metadata() -> impl Strategy<Value = ColumnCryptoMetaData> {
    prop_oneof![
        Just(ColumnCryptoMetaData::FooterKey),
        (vec(string(), 0..3), of(bytes())).prop_map(|(path_in_schema, key_metadata)| {
            ColumnCryptoMetaData::ColumnKey(EncryptionWithColumnKey { path_in_schema, key_metadata })
        }),
        (3..i16::MAX).prop_map(ColumnCryptoMetaData::Unknown),
    ]
}

pub(crate) fn column_chunk() -> impl Strategy<Value = ColumnChunk> {
    (
        (of(string()), number(), of(column_metadata()), of(number()), of(any::<i32>())),
        (of(number()), of(any::<i32>()), of(crypto_metadata()), of(bytes())),
    )
        .prop_map(
            |(
                (file_path, file_offset, meta_data, offset_index_offset, offset_index_length),
                (column_index_offset, column_index_length, crypto_metadata, encrypted_column_metadata),
            )| ColumnChunk {
                file_path,
                file_offset,
                meta_data,
                offset_index_offset,
                offset_index_length,
                column_index_offset,
                column_index_length,
                crypto_metadata,
                encrypted_column_metadata,
            },
        )
}

fn sorting_column() -> impl Strategy<Value = SortingColumn> {
    any::<(i32, bool, bool)>().prop_map(|(column_idx, descending, nulls_first)| SortingColumn {
        column_idx,
        descending,
        nulls_first,
    })
}

fn row_group() -> impl Strategy<Value = RowGroup> {
    (
        vec(column_chunk(), 0..3),
        number(),
        number(),
        of(vec(sorting_column(), 0..3)),
        of(number()),
        of(number()),
        of(any::<i16>()),
    )
        .prop_map(|(columns, total_byte_size, num_rows, sorting, file_offset, compressed, ordinal)| {
            RowGroup {
                columns,
                total_byte_size,
                num_rows,
                sorting_columns: sorting,
                file_offset,
                total_compressed_size: compressed,
                ordinal,
            }
        })
}

fn column_order() -> impl Strategy<Value = ColumnOrder> {
    prop_oneof![
        Just(ColumnOrder::TypeOrder),
        Just(ColumnOrder::Ieee754TotalOrder),
        Just(ColumnOrder::Int96TimestampOrder),
        (4..i16::MAX).prop_map(ColumnOrder::Unknown)
    ]
}

fn encryption_algorithm() -> impl Strategy<Value = EncryptionAlgorithm> {
    let parameters = (of(bytes()), of(bytes()), of(any::<bool>())).prop_map(|(prefix, unique, supply)| {
        AesGcm { aad_prefix: prefix, aad_file_unique: unique, supply_aad_prefix: supply }
    });
    (parameters, 1..5i16).prop_map(|(parameters, id)| match id {
        1 => EncryptionAlgorithm::AesGcmV1(parameters),
        2 => EncryptionAlgorithm::AesGcmCtrV1(parameters),
        id => EncryptionAlgorithm::Unknown(id),
    })
}

pub(crate) fn file_metadata() -> impl Strategy<Value = FileMetaData> {
    (
        any::<i32>(),
        vec(schema_element(), 0..18),
        number(),
        vec(row_group(), 0..3),
        of(vec(key_value(), 0..3)),
        of(string()),
        of(vec(column_order(), 0..20)),
        of(encryption_algorithm()),
        of(bytes()),
    )
        .prop_map(
            |(version, schema, num_rows, row_groups, key_values, created_by, orders, encryption, signing)| {
                FileMetaData {
                    version,
                    schema,
                    num_rows,
                    row_groups,
                    key_value_metadata: key_values,
                    created_by,
                    column_orders: orders,
                    encryption_algorithm: encryption,
                    footer_signing_key_metadata: signing,
                }
            },
        )
}

fn data_page_header() -> impl Strategy<Value = DataPageHeader> {
    (any::<i32>(), code(), code(), code(), of(statistics())).prop_map(
        |(num_values, encoding, definition, repetition, statistics)| DataPageHeader {
            num_values,
            encoding: Encoding(encoding),
            definition_level_encoding: Encoding(definition),
            repetition_level_encoding: Encoding(repetition),
            statistics,
        },
    )
}

fn data_page_header_v2() -> impl Strategy<Value = DataPageHeaderV2> {
    let number = any::<i32>;
    (number(), number(), number(), code(), number(), number(), any::<bool>(), of(statistics())).prop_map(
        |(num_values, num_nulls, num_rows, encoding, definition, repetition, is_compressed, statistics)| {
            DataPageHeaderV2 {
                num_values,
                num_nulls,
                num_rows,
                encoding: Encoding(encoding),
                definition_levels_byte_length: definition,
                repetition_levels_byte_length: repetition,
                is_compressed,
                statistics,
            }
        },
    )
}

pub(crate) fn page_header() -> impl Strategy<Value = PageHeader> {
    let dictionary =
        (any::<i32>(), code(), of(any::<bool>())).prop_map(|(num_values, encoding, is_sorted)| {
            DictionaryPageHeader { num_values, encoding: Encoding(encoding), is_sorted }
        });
    (
        (code(), any::<i32>(), any::<i32>(), of(any::<i32>())),
        (of(data_page_header()), of(Just(IndexPageHeader {})), of(dictionary), of(data_page_header_v2())),
    )
        .prop_map(|((type_, uncompressed, compressed, crc), (data, index, dictionary, data_v2))| {
            PageHeader {
                type_: PageType(type_),
                uncompressed_page_size: uncompressed,
                compressed_page_size: compressed,
                crc,
                data_page_header: data,
                index_page_header: index,
                dictionary_page_header: dictionary,
                data_page_header_v2: data_v2,
            }
        })
}

pub(crate) fn column_index() -> impl Strategy<Value = ColumnIndex> {
    let numbers = || of(vec(number(), 0..20));
    (
        (vec(any::<bool>(), 0..20), vec(bytes(), 0..20), vec(bytes(), 0..20), code()),
        (numbers(), numbers(), numbers(), numbers()),
    )
        .prop_map(
            |((null_pages, min_values, max_values, order), (nulls, repetition, definition, nans))| {
                ColumnIndex {
                    null_pages,
                    min_values,
                    max_values,
                    boundary_order: BoundaryOrder(order),
                    null_counts: nulls,
                    repetition_level_histograms: repetition,
                    definition_level_histograms: definition,
                    nan_counts: nans,
                }
            },
        )
}

pub(crate) fn offset_index() -> impl Strategy<Value = OffsetIndex> {
    let location =
        (number(), any::<i32>(), number()).prop_map(|(offset, compressed_page_size, first_row_index)| {
            PageLocation { offset, compressed_page_size, first_row_index }
        });
    (vec(location, 0..20), of(vec(number(), 0..20))).prop_map(|(page_locations, sizes)| OffsetIndex {
        page_locations,
        unencoded_byte_array_data_bytes: sizes,
    })
}
