//! Each kind of advice: of a file that deserves it, and not of one that does not.

use arrow_array::builder::{ListBuilder, MapBuilder, MapFieldNames, StringBuilder};
use arrow_array::*;
use arrow_schema::{DataType, Field, Schema};
use bytes::Bytes;
use marquetry_arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions};
use marquetry_arrow::arrow_writer::ArrowWriter;
use marquetry_core::source::Source;
use marquetry_core::write::{
    Compression, EnabledStatistics, Encoding, WriterProperties, WriterPropertiesBuilder,
};
use marquetry_inspect::{
    Advice, AdviceKind, AdviseOptions, Change, ColumnSource, Confidence, Finding, Goal, NewType, Query,
    advise, advise_merging,
};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

fn plain() -> WriterPropertiesBuilder {
    WriterProperties::builder()
}

fn written(batch: &RecordBatch, properties: WriterPropertiesBuilder) -> ColumnSource {
    let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), Some(properties.build())).unwrap();
    writer.write(batch).unwrap();
    let source: Arc<dyn Source> = Arc::new(Bytes::from(writer.into_inner().unwrap()));
    let metadata = ArrowReaderMetadata::load(source.clone(), ArrowReaderOptions::new()).unwrap();
    ColumnSource::new(source, metadata.metadata().clone())
}

fn options() -> AdviseOptions {
    AdviseOptions::default().with_budget(Duration::from_secs(60))
}

fn advice(batch: &RecordBatch, properties: WriterPropertiesBuilder, options: &AdviseOptions) -> Advice {
    let advice = advise(&written(batch, properties), options).unwrap();
    assert_eq!(advice.not_measured, Vec::<String>::new());
    advice
}

fn found(advice: &Advice, kind: AdviceKind) -> Option<&Finding> {
    advice.findings.iter().find(|finding| finding.kind == kind)
}

#[track_caller]
fn sole(advice: &Advice, kind: AdviceKind) -> &Finding {
    found(advice, kind).unwrap_or_else(|| panic!("no {kind}: {:#?}", advice.findings))
}

#[track_caller]
fn none(advice: &Advice, kind: AdviceKind) {
    assert_eq!(found(advice, kind), None);
}

fn queries(text: &str) -> AdviseOptions {
    options().with_queries(Query::parse_lines(text).unwrap())
}

/// Pseudo-random 32 bits, by splitmix64.
fn mixed(i: u64) -> u64 {
    let z = i.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (z ^ (z >> 31)) >> 32
}

fn column(name: &str, array: impl Array + 'static) -> RecordBatch {
    RecordBatch::try_from_iter([(name, Arc::new(array) as ArrayRef)]).unwrap()
}

fn texts(rows: u64, text: impl Fn(u64) -> String) -> StringArray {
    StringArray::from_iter_values((0..rows).map(text))
}

fn numbers(rows: u64, number: impl Fn(u64) -> i64) -> Int64Array {
    Int64Array::from_iter_values((0..rows).map(number))
}

#[test]
fn encodings() {
    let batch = column("name", texts(20_000, |i| format!("name {}", i % 7)));
    let careless = advice(&batch, plain().set_dictionary_enabled(false), &options());
    let finding = sole(&careless, AdviceKind::Encoding);
    assert_eq!((&finding.change, &finding.confidence), (&Change::Columns, &Confidence::Certain));
    let bytes = finding.bytes.unwrap();
    assert!(bytes.after * 10 < bytes.before, "{finding:?}");
    assert_eq!(careless.findings[0].kind, AdviceKind::Encoding);
    let chosen = careless.columns[0].choice.unwrap();
    let again = plain().set_encoding(chosen.encoding).set_compression(chosen.compression);
    none(&advice(&batch, again, &options()), AdviceKind::Encoding);
}

/// Few distinct values first, and many later: a writer with a small dictionary gives it up in between.
#[test]
fn dictionaries_that_were_given_up() {
    let name = |i: u64| mixed(if i < 30_000 { i % 300 } else { mixed(i) % 3_000 });
    let batch =
        column("name", texts(60_000, |i| format!("{:08x}{:08x}{:08x}", name(i), name(i) * 7, name(i) * 31)));
    let of = |limit| {
        let properties = plain().set_dictionary_page_size_limit(limit);
        advice(&batch, properties.set_encoding(Encoding::RLE_DICTIONARY), &options())
    };
    let given_up = of(32 << 10);
    let finding = sole(&given_up, AdviceKind::Dictionary);
    assert_eq!((&finding.columns[..], &finding.change), (&["name".to_owned()][..], &Change::Dictionaries));
    let bytes = finding.bytes.unwrap();
    assert!(bytes.after * 2 < bytes.before, "{finding:?}");
    none(&of(4 << 20), AdviceKind::Dictionary);
}

/// Our writer names the fields of a map differently than other writers.
#[test]
fn columns_of_maps_have_advice() {
    let mut maps = MapBuilder::new(
        Some(MapFieldNames { entry: "entries".into(), key: "keys".into(), value: "values".into() }),
        StringBuilder::new(),
        StringBuilder::new(),
    );
    for i in 0..5_000u64 {
        maps.keys().append_value(format!("key {}", i % 3));
        maps.values().append_value(format!("value {}", mixed(i) % 10));
        maps.append(true).unwrap();
    }
    let maps = advice(&column("pairs", maps.finish()), plain().set_dictionary_enabled(false), &options());
    assert_eq!(sole(&maps, AdviceKind::Encoding).columns.len(), 2);
}

#[test]
fn row_groups() {
    let batch = column("number", numbers(20_000, |i| mixed(i) as i64));
    let of = |rows| advice(&batch, plain().set_max_row_group_row_count(Some(rows)), &options());
    let many = of(100);
    let finding = sole(&many, AdviceKind::RowGroups);
    assert!(matches!(finding.change, Change::RowGroupRows(rows) if rows >= 20_000), "{finding:?}");
    assert!(finding.saved_bytes() > 0, "{finding:?}");
    none(&of(20_000), AdviceKind::RowGroups);
}

#[test]
fn pages() {
    let batch = column("number", numbers(20_000, |i| mixed(i) as i64));
    let of = |properties| advice(&batch, properties, &options());
    let tiny = of(plain().set_data_page_row_count_limit(50).set_write_batch_size(50));
    let finding = sole(&tiny, AdviceKind::Pages);
    assert!(finding.saved_bytes() > 0 && matches!(finding.change, Change::Pages { .. }), "{finding:?}");
    none(&of(plain()), AdviceKind::Pages);
    let batch = column("number", numbers(800_000, |i| mixed(i) as i64));
    let huge = plain().set_data_page_row_count_limit(usize::MAX).set_data_page_size_limit(64 << 20);
    let huge = advice(&batch, huge, &options());
    assert!(sole(&huge, AdviceKind::Pages).what.contains("a row that is looked up"), "{huge:#?}");
}

#[test]
fn indexes() {
    let batch = column("number", numbers(60_000, |i| i as i64));
    let none_at_all = plain().set_statistics_enabled(EnabledStatistics::None);
    let asked = queries("number = 5\nnumber > 59000\n");
    let bare = advice(&batch, none_at_all.set_max_row_group_row_count(Some(10_000)), &asked);
    let finding = sole(&bare, AdviceKind::Indexes);
    let skipped = finding.skipped.unwrap();
    assert!(skipped.before == 0.0 && skipped.after > 0.7, "{finding:?}");
    assert!(finding.saved_bytes() < 0, "they cost some: {finding:?}");
    none(&advice(&batch, plain().set_max_row_group_row_count(Some(10_000)), &asked), AdviceKind::Indexes);
}

#[test]
fn bloom_filters() {
    let batch = column("id", texts(40_000, |i| format!("{:08x}", mixed(i))));
    let groups = |properties: WriterPropertiesBuilder| properties.set_max_row_group_row_count(Some(5_000));
    let asked = queries("id = 'cafe'");
    let without = advice(&batch, groups(plain()), &asked);
    let finding = sole(&without, AdviceKind::BloomFilter);
    assert_eq!(finding.columns, ["id"]);
    let skipped = finding.skipped.unwrap();
    assert!(skipped.before < 0.1 && skipped.after > 0.8, "{finding:?}");
    let with = groups(plain().set_bloom_filter_enabled(true));
    let file = written(&batch, with);
    let chunk = |group: usize| file.metadata.row_group(group).column(0).unwrap();
    let real: i32 = (0..8).map(|group| chunk(group).bloom_filter_length().unwrap()).sum();
    let predicted = finding.bytes.unwrap().after as f64;
    assert!((predicted - f64::from(real)).abs() < 0.1 * predicted, "{predicted}, {real}");
    none(&advise(&file, &asked).unwrap(), AdviceKind::BloomFilter);
    // Bounds tell sorted values apart, and no query asks for values of the others.
    let sorted = column("id", texts(40_000, |i| format!("{i:08}")));
    none(&advice(&sorted, groups(plain()), &asked), AdviceKind::BloomFilter);
    none(&advice(&batch, groups(plain()), &queries("id > 'cafe'")), AdviceKind::BloomFilter);
}

fn two(kind: impl Fn(u64) -> u64, rows: u64) -> RecordBatch {
    let kinds: ArrayRef = Arc::new(texts(rows, |i| format!("kind {}", kind(i))));
    let places: ArrayRef =
        Arc::new(texts(rows, |i| format!("{:016x}", (kind(i) + 1).wrapping_mul(0x1234_5678_9abc_def1))));
    RecordBatch::try_from_iter([("kind", kinds), ("place", places)]).unwrap()
}

#[test]
fn sort_order() {
    let by_chance = two(|i| mixed(i) % 500, 60_000);
    let shuffled = advice(&by_chance, plain(), &options());
    let finding = sole(&shuffled, AdviceKind::SortOrder);
    assert_eq!(finding.change, Change::Sort);
    assert!(["kind", "place"].contains(&&*finding.columns[0]), "{finding:?}");
    let bytes = finding.bytes.unwrap();
    assert!(bytes.after * 2 < bytes.before, "{finding:?}");
    // Sorted already; and without repeated values there is nothing to gain.
    none(&advice(&two(|i| i / 120, 60_000), plain(), &options()), AdviceKind::SortOrder);
    let unique = column("id", texts(20_000, |i| format!("{:08x}{:08x}", mixed(i), mixed(i + 7_000_000))));
    none(&advice(&unique, plain(), &options()), AdviceKind::SortOrder);
    // The queries determine the column.
    let asked = queries("place = '00'").with_goal(Goal::Filter);
    let filtered = advice(&by_chance, plain().set_max_row_group_row_count(Some(6_000)), &asked);
    let finding = sole(&filtered, AdviceKind::SortOrder);
    assert_eq!(finding.columns[0], "place");
    assert!(finding.skipped.unwrap().after >= finding.skipped.unwrap().before, "{finding:?}");
}

#[test]
fn types() {
    // Any recommended codec leaves something of the sign bytes, because they are not all the same.
    let small = advice(&column("n", numbers(20_000, |i| i64::from(mixed(i) as i32))), plain(), &options());
    let finding = sole(&small, AdviceKind::Type);
    assert_eq!((&finding.change, &finding.confidence), (&Change::Type(NewType::Int32), &Confidence::Certain));
    none(&advice(&column("n", numbers(20_000, |i| mixed(i) as i64)), plain(), &options()), AdviceKind::Type);
    let days = column("day", texts(5_000, |i| format!("2024-{:02}-{:02}", 1 + i % 12, 1 + mixed(i) % 28)));
    // Slightly more bytes, but decoded in a fraction of the time.
    let days = advice(&days, plain(), &options().with_goal(Goal::Scan));
    assert_eq!(sole(&days, AdviceKind::Type).change, Change::Type(NewType::Date));
    let uuid = |i: u64| {
        let (a, b) = (mixed(i), mixed(i + 1_000_000));
        format!("{a:08x}-{:04x}-4{:03x}-8{:03x}-{b:012x}", a & 0xffff, b & 0xfff, a & 0xfff)
    };
    let ids = advice(&column("id", texts(5_000, uuid)), plain(), &options());
    let finding = sole(&ids, AdviceKind::Type);
    assert_eq!(finding.change, Change::Type(NewType::Uuid));
    assert!(finding.saved_bytes() > 0, "{finding:?}");
    let names = column("name", texts(5_000, |i| format!("name {}", mixed(i))));
    none(&advice(&names, plain(), &options()), AdviceKind::Type);
}

/// A recommended codec removes most zeros of wide numbers, so that a narrower type saves nothing more.
#[test]
fn types_are_measured_with_the_codec_that_is_advised() {
    let batch = column("n", numbers(40_000, |i| (mixed(i) % 1_000_000) as i64));
    let advice = advice(&batch, plain().set_compression(Compression::UNCOMPRESSED), &options());
    let column = &advice.columns[0];
    let choice = column.choice.expect("a codec is smaller than none");
    assert_ne!(choice.compression, Compression::UNCOMPRESSED);
    let size = |array: ArrayRef, properties: WriterPropertiesBuilder| {
        let batch = RecordBatch::try_from_iter([("n", array)]).unwrap();
        let properties = properties.set_compression(choice.compression).set_arrow_schema(false);
        written(&batch, properties).source.len() as f64
    };
    let wide = batch.column(0).clone();
    let narrow = NewType::Int32.convert(&wide).unwrap();
    let real = size(narrow, plain()) / size(wide, plain().set_encoding(choice.encoding));
    assert!(real > 0.8, "{real}");
    if let Some(finding) = found(&advice, AdviceKind::Type) {
        let bytes = finding.bytes.unwrap();
        assert_eq!(bytes.before, column.predicted);
        assert!((bytes.after as f64 / bytes.before as f64 - real).abs() < 0.01, "{finding:?}, {real}");
    }
}

/// They are decoded faster, and take a few bytes more.
#[test]
fn types_that_take_more_bytes_are_no_advice_for_size() {
    let digits = column("digit", texts(20_000, |i| (i % 3).to_string()));
    none(&advice(&digits, plain(), &options()), AdviceKind::Type);
    let finding_of = |goal| advice(&digits, plain(), &options().with_goal(goal));
    let scan = finding_of(Goal::Scan);
    let finding = sole(&scan, AdviceKind::Type);
    assert!(
        finding.saved_bytes() < 0 && finding.decode.unwrap().after < finding.decode.unwrap().before,
        "{finding:?}"
    );
}

/// The sample has one form, and a row outside of it has another.
#[test]
fn one_value_of_another_form_keeps_the_type() {
    let rows = 400_000;
    let batch =
        column("day", texts(rows, |i| if i == 377 { "never".to_owned() } else { "2024-01-31".to_owned() }));
    let sampled = options().with_window_rows(1_000);
    none(&advice(&batch, plain(), &sampled), AdviceKind::Type);
    let batch = column("n", numbers(rows, |i| if i == rows - 100_000 { 1 << 40 } else { i as i64 }));
    none(&advice(&batch, plain(), &sampled), AdviceKind::Type);
}

fn lists(lengths: impl Fn(u64) -> u64) -> RecordBatch {
    let mut lists = ListBuilder::new(StringBuilder::new());
    for i in 0..5_000 {
        for j in 0..lengths(i) {
            lists.values().append_value(format!("tag {}", mixed(i + j) % 100));
        }
        lists.append(true);
    }
    column("tags", lists.finish())
}

#[test]
fn lists_of_one() {
    let ones = advice(&lists(|i| i % 2), plain(), &options());
    let finding = sole(&ones, AdviceKind::ListOfOne);
    assert_eq!((&finding.columns[..], &finding.confidence), (&["tags".to_owned()][..], &Confidence::Certain));
    assert_eq!(finding.change, Change::Type(NewType::Element));
    none(&advice(&lists(|i| i % 3), plain(), &options()), AdviceKind::ListOfOne);
}

#[test]
fn json() {
    let event = |i: u64| format!("{{\"at\": {i}, \"kind\": \"click\", \"user\": {{\"id\": {}}}}}", mixed(i));
    let events = advice(&column("event", texts(5_000, event)), plain(), &options());
    let finding = sole(&events, AdviceKind::Variant);
    assert!(finding.what.contains("at: "), "{finding:?}");
    let broken = column("event", texts(5_000, |i| if i == 4_000 { "{".to_owned() } else { event(i) }));
    none(&advice(&broken, plain(), &options()), AdviceKind::Variant);
}

fn variants(text: impl Fn(u64) -> String) -> RecordBatch {
    let parsed = (0..5_000).map(|i| marquetry_variant::json::parse(&text(i)).unwrap());
    let (metadata, values): (Vec<_>, Vec<_>) = parsed.unzip();
    let binary = |bytes: &[Vec<u8>]| Arc::new(BinaryArray::from_iter_values(bytes)) as ArrayRef;
    let bytes = |name: &str| Field::new(name, DataType::Binary, false);
    let fields = vec![bytes("metadata"), bytes("value")];
    let extension = HashMap::from([("ARROW:extension:name".to_owned(), "arrow.parquet.variant".to_owned())]);
    let field = Field::new("event", DataType::Struct(fields.clone().into()), true).with_metadata(extension);
    let column = StructArray::new(fields.into(), vec![binary(&metadata), binary(&values)], None);
    RecordBatch::try_new(Arc::new(Schema::new(vec![field])), vec![Arc::new(column)]).unwrap()
}

#[test]
fn shredding() {
    let alike = variants(|i| format!("{{\"at\": {i}, \"user\": {}}}", mixed(i)));
    let alike = advice(&alike, plain(), &options());
    let finding = sole(&alike, AdviceKind::Shredding);
    assert_eq!((&finding.columns[..], &finding.change), (&["event".to_owned()][..], &Change::Shred));
    assert!(finding.saved_bytes() > 0, "{finding:?}");
    let unlike = |i: u64| match i % 4 {
        0 => format!("{{\"k{}\": {i}}}", mixed(i)),
        1 => format!("[{i}]"),
        2 => format!("\"text {i}\""),
        _ => format!("{i}"),
    };
    none(&advice(&variants(unlike), plain(), &options()), AdviceKind::Shredding);
}

#[test]
fn small_files() {
    let file = |first: u64| written(&column("n", numbers(200, |i| mixed(first + i) as i64)), plain());
    let files = |n: u64| (0..n).map(|i| (format!("{i}.parquet"), file(i * 200))).collect::<Vec<_>>();
    let budget = Duration::from_secs(60);
    let finding = advise_merging(&files(8), budget).unwrap().unwrap();
    let Change::Merge(names) = &finding.change else { panic!("{finding:?}") };
    assert_eq!((names.len(), finding.kind), (8, AdviceKind::SmallFiles));
    assert!(finding.saved_bytes() > 0, "{finding:?}");
    assert_eq!(advise_merging(&files(3), budget).unwrap(), None);
    let mut others = files(6);
    others[3].1 = written(&column("text", texts(10, |i| i.to_string())), plain());
    assert_eq!(advise_merging(&others, budget).unwrap(), None);
}

/// The file that pyarrow 26 writes for a table without rows: a row group without rows, with a dictionary page.
#[test]
fn no_rows_are_no_matter_of_time() {
    let file = "504152311504150015004c150015001200001504192c35001806736368656d6115020015022502180161001600191c191c26001c15021925\
                00061918016115001600161c161c26002608291c150415001502000000161c16002608161c002820706172717565742d6370702d6172726f77\
                2076657273696f6e2032362e302e31191c1c0000007400000050415231";
    let bytes = (0..file.len()).step_by(2).map(|i| u8::from_str_radix(&file[i..i + 2], 16).unwrap());
    let source: Arc<dyn Source> = Arc::new(Bytes::from_iter(bytes));
    let metadata = ArrowReaderMetadata::load(source.clone(), ArrowReaderOptions::new()).unwrap();
    let advice = advise(&ColumnSource::new(source, metadata.metadata().clone()), &options()).unwrap();
    assert_eq!((advice.columns[0].bytes, advice.not_measured), (14, Vec::new()));
}
