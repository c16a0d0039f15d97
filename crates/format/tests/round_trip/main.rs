//! Round trips: whatever is written is read back the same, including unknown numbers.

mod lazy_footer;
mod strategy;

use marquetry_base::Limits;
use marquetry_format::*;
use proptest::prelude::*;

/// Writes with `write` and reads with `read`. Asserts that this gives the value back and consumes every byte.
fn assert_round_trip<T: PartialEq + std::fmt::Debug>(
    value: &T,
    write: impl Fn(&T, &mut Writer),
    read: impl Fn(&mut Reader<'_>) -> marquetry_base::Result<T>,
) {
    let mut w = Writer::new();
    write(value, &mut w);
    let bytes = w.finish();
    let mut r = Reader::new(&bytes);
    assert_eq!(&read(&mut r).unwrap(), value);
    assert_eq!(r.position(), bytes.len());
    let mut r = Reader::new(&bytes);
    r.skip(Wire::Struct).unwrap();
    assert_eq!(r.position(), bytes.len());
}

fn read_statistics(r: &mut Reader<'_>) -> marquetry_base::Result<Statistics> {
    Statistics::read(r)
}

proptest! {
    #[test]
    fn file_metadata(value in strategy::file_metadata()) {
        assert_round_trip(&value, FileMetaData::write, FileMetaData::read);
        let mut w = Writer::new();
        value.write(&mut w);
        prop_assert_eq!(parse_metadata(&w.finish(), &Limits::default()).unwrap(), value);
    }

    #[test]
    fn column_chunk(value in strategy::column_chunk()) {
        assert_round_trip(&value, ColumnChunk::write, ColumnChunk::read);
    }

    #[test]
    fn schema_element(value in strategy::schema_element()) {
        assert_round_trip(&value, SchemaElement::write, SchemaElement::read);
    }

    #[test]
    fn page_header(value in strategy::page_header()) {
        assert_round_trip(&value, PageHeader::write, PageHeader::read);
        let mut w = Writer::new();
        value.write(&mut w);
        let bytes = w.finish();
        let mut r = Reader::new(&bytes);
        let without = PageHeader::read_without_statistics(&mut r).unwrap();
        prop_assert_eq!(r.position(), bytes.len());
        let mut expected = value;
        if let Some(header) = &mut expected.data_page_header {
            header.statistics = None;
        }
        if let Some(header) = &mut expected.data_page_header_v2 {
            header.statistics = None;
        }
        prop_assert_eq!(without, expected);
    }

    #[test]
    fn column_index(value in strategy::column_index()) {
        assert_round_trip(&value, ColumnIndex::write, ColumnIndex::read);
    }

    #[test]
    fn logical_type(value in strategy::logical_type()) {
        assert_round_trip(&value, LogicalType::write, LogicalType::read);
    }

    #[test]
    fn statistics(value in strategy::statistics()) {
        assert_round_trip(&value, Statistics::write, read_statistics);
    }

    #[test]
    fn offset_index(value in strategy::offset_index()) {
        assert_round_trip(&value, OffsetIndex::write, OffsetIndex::read);
    }

    #[test]
    fn numbers(a in any::<i64>(), shift in 0..64, b in any::<i32>(), c in any::<i16>(), d in any::<f64>()) {
        let a = a >> shift;
        let mut w = Writer::new();
        w.fields(|w| {
            w.i64_field(300, a);
            w.i32_field(-7, b);
            w.i16_field(i16::MIN, c);
            w.i16_field(i16::MAX, c);
            w.double_field(1, d);
            w.i8_field(16, c as i8);
            w.bool_field(32, c > 0);
        });
        let bytes = w.finish();
        let mut r = Reader::new(&bytes);
        let mut ids = Vec::new();
        r.fields(|r, field| {
            ids.push(field.id);
            // Integers of every width are `Wire::INT` to a reader: only the id tells them apart.
            match field.wire {
                Wire::INT if field.id == 300 => assert_eq!(r.i64()?, a),
                Wire::INT if field.id == -7 => assert_eq!(r.i32()?, b),
                Wire::INT => assert_eq!(r.i16()?, c),
                Wire::Double => assert_eq!(r.double()?, d),
                Wire::I8 => assert_eq!(r.i8()?, c as i8),
                other => assert_eq!(r.bool(other), c > 0),
            }
            Ok(())
        }).unwrap();
        prop_assert_eq!(ids, [300, -7, i16::MIN, i16::MAX, 1, 16, 32]);
        prop_assert_eq!(r.position(), bytes.len());
    }
}

#[test]
fn bloom_filter_header() {
    for id in [0, 2, 17, 32767] {
        let value = BloomFilterHeader {
            num_bytes: 1024,
            algorithm: BloomFilterAlgorithm::Block,
            hash: BloomFilterHash::Unknown(id),
            compression: BloomFilterCompression::Uncompressed,
        };
        assert_round_trip(&value, BloomFilterHeader::write, BloomFilterHeader::read);
    }
}

#[test]
fn file_crypto_metadata() {
    let parameters =
        AesGcm { aad_prefix: None, aad_file_unique: Some(vec![1, 2, 3]), supply_aad_prefix: Some(true) };
    for encryption_algorithm in [
        EncryptionAlgorithm::AesGcmV1(parameters.clone()),
        EncryptionAlgorithm::AesGcmCtrV1(parameters.clone()),
        EncryptionAlgorithm::Unknown(9),
    ] {
        let value = FileCryptoMetaData { encryption_algorithm, key_metadata: Some(b"kf".to_vec()) };
        assert_round_trip(&value, FileCryptoMetaData::write, FileCryptoMetaData::read);
    }
}

#[test]
fn tails() {
    for tail in [FooterTail::Plain { metadata_len: 7 }, FooterTail::Encrypted { metadata_len: u32::MAX }] {
        assert_eq!(FooterTail::parse(&tail.to_bytes()).unwrap(), tail);
    }
}

#[test]
fn names_of_enums_parse() {
    for encoding in (0..11).filter(|code| *code != 1).map(Encoding) {
        let name = encoding.name().unwrap();
        assert_eq!(name.to_ascii_lowercase().parse::<Encoding>().unwrap(), encoding);
    }
    for codec in (0..8).map(CompressionCodec) {
        assert_eq!(codec.to_string().parse::<CompressionCodec>().unwrap(), codec);
    }
    assert_eq!(format!("{} {:?}", Encoding(17), Encoding::ALP), "UNKNOWN(17) ALP");
    assert_eq!((Encoding(1).name(), Encoding(-1).name(), Type(8).name()), (None, None, None));
    assert_eq!("zip".parse::<CompressionCodec>().unwrap_err().kind(), marquetry_base::ErrorKind::Argument);
}
