//! What is in the page: names that are markup, numbers that come out of it as they went in, no values if none are wanted.

use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use flate2::read::ZlibDecoder;
use marquetry_arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions};
use marquetry_arrow::arrow_writer::ArrowWriter;
use marquetry_core::predicate::Predicate;
use marquetry_core::source::Source;
use marquetry_core::write::WriterProperties;
use marquetry_inspect::{FileLayout, file_layout};
use marquetry_report::{ReportOptions, ReportedFile, SkippedRows, write_report};
use serde_json::Value;
use std::io::Read;
use std::sync::Arc;

const HOSTILE: &str = "<img src=x onerror=alert(1)>\"'&</script><script>alert(2)</script>";

/// 1,000 rows in row groups of 300, pages of 100.
fn written() -> Arc<dyn Source> {
    let numbers: ArrayRef = Arc::new(Int64Array::from_iter_values(0..1000));
    let texts: ArrayRef = Arc::new(StringArray::from_iter_values((0..1000).map(|i| format!("secret{i:04}"))));
    let batch = RecordBatch::try_from_iter([("n", numbers), (HOSTILE, texts)]).unwrap();
    let properties = WriterProperties::builder()
        .set_max_row_group_row_count(Some(300))
        .set_data_page_row_count_limit(100)
        .set_write_batch_size(100)
        .build();
    let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), Some(properties)).unwrap();
    writer.write(&batch).unwrap();
    Arc::new(Bytes::from(writer.into_inner().unwrap()))
}

fn opened(source: &Arc<dyn Source>) -> (ArrowReaderMetadata, FileLayout) {
    let metadata = ArrowReaderMetadata::load(source.clone(), ArrowReaderOptions::new()).unwrap();
    let layout = file_layout(source, metadata.metadata(), &Arc::default()).unwrap();
    (metadata, layout)
}

fn page(files: &[ReportedFile], options: &ReportOptions) -> String {
    let mut page = Vec::new();
    write_report(files, options, &mut page).unwrap();
    String::from_utf8(page).unwrap()
}

/// The JSON text of a file's data, and the planes behind it.
fn data(page: &str, file: usize) -> (Value, Vec<u8>) {
    let marked = page.split("<script type=\"application/octet-stream\">").nth(1 + file).unwrap();
    let deflated = STANDARD.decode(marked.split("</script>").next().unwrap()).unwrap();
    let mut bytes = Vec::new();
    ZlibDecoder::new(&deflated[..]).read_to_end(&mut bytes).unwrap();
    let len = u32::from_le_bytes(bytes[..4].try_into().unwrap()) as usize;
    (serde_json::from_slice(&bytes[4..4 + len]).unwrap(), bytes[4 + len..].to_vec())
}

/// Reads one of the planes, reassembled as the script does it.
fn list(facts: &Value, planes: &[u8], wanted: &str) -> Vec<u64> {
    let mut at = 0;
    for plane in facts["planes"].as_array().unwrap() {
        let len = plane[2].as_u64().unwrap() as usize;
        let width = match plane[1].as_str().unwrap() {
            "u8" => 1,
            "u16" => 2,
            "u32" => 4,
            _ => 8,
        };
        if plane[0] == wanted {
            let byte = |i: usize, byte: usize| u64::from(planes[at + byte * len + i]) << (8 * byte);
            return (0..len).map(|i| (0..width).map(|b| byte(i, b)).sum()).collect();
        }
        at += width * len;
    }
    panic!("no list {wanted}");
}

#[test]
fn names_are_no_markup() {
    let source = written();
    let (metadata, layout) = opened(&source);
    let page = page(&[ReportedFile::new(HOSTILE, metadata, layout)], &ReportOptions::default());
    assert!(!page.contains("<img") && !page.contains("alert(1)>"));
    assert_eq!(page.matches("<script").count(), 2);
    // Nothing is loaded from anywhere.
    assert!(!page.contains("http://") && !page.contains("https://") && !page.contains("url("));
    let (facts, _) = data(&page, 0);
    assert_eq!(facts["columns"][1]["name"], HOSTILE);
}

/// Letters of names and bounds stay in their order, for the script, too.
#[test]
fn nothing_turns_the_order_of_letters() {
    let name = "paid\u{202e}lla";
    let texts: ArrayRef = Arc::new(StringArray::from(vec!["a\u{2066}b\u{1b}", "c\u{202e}d"]));
    let batch = RecordBatch::try_from_iter([(name, texts)]).unwrap();
    let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    let source: Arc<dyn Source> = Arc::new(Bytes::from(writer.into_inner().unwrap()));
    let (metadata, layout) = opened(&source);
    let predicate = Predicate::parse(&format!("\"{name}\" = 'c\u{202e}d'")).unwrap();
    let skipped = SkippedRows::of(&*source, metadata.metadata(), &predicate).unwrap();
    let file = ReportedFile::new(name, metadata, layout).with_skipped_rows(skipped);
    let page = page(&[file], &ReportOptions::default());
    let facts = data(&page, 0).0.to_string();
    for text in [page, facts] {
        assert!(!text.contains(['\u{202e}', '\u{2066}', '\u{1b}']), "{text}");
        assert!(text.contains("paid") && text.contains("u{202e}lla"), "{text}");
    }
}

#[test]
fn numbers_come_out_as_they_went_in() {
    let source = written();
    let ((metadata, layout), (_, expected)) = (opened(&source), opened(&source));
    let predicate = Predicate::parse("n between 350 and 420").unwrap();
    let skipped = SkippedRows::of(&*source, metadata.metadata(), &predicate).unwrap();
    let file = ReportedFile::new("a", metadata, layout).with_skipped_rows(skipped);
    let page = page(&[file], &ReportOptions::default());
    assert!(page.contains("leaves 200 of 1,000 rows, in 1 of 4 row groups."), "{page}");
    let (facts, planes) = data(&page, 0);
    let parts = &expected.parts;
    let of = |wanted: &str| list(&facts, &planes, wanted);
    assert_eq!(of("start"), parts.iter().map(|part| part.range.start).collect::<Vec<_>>());
    assert_eq!(of("end"), parts.iter().map(|part| part.range.end).collect::<Vec<_>>());
    let rows: Vec<u64> = parts
        .iter()
        .map(|part| part.page.as_ref().and_then(|page| page.rows).unwrap_or(u32::MAX.into()))
        .collect();
    assert_eq!(of("rows"), rows);
    assert_eq!(rows.iter().filter(|rows| **rows == 100).count(), 20);
    assert_eq!(facts["groups"][0]["kept"], serde_json::json!([]));
    assert_eq!(facts["groups"][0]["by"], "statistics");
    assert_eq!(facts["groups"][1]["kept"], serde_json::json!([[0, 200]]));
    let (least, greatest) = (of("least"), of("greatest"));
    assert_eq!((least[0], greatest[3]), (0, 65534));
    assert!(least[..4].is_sorted() && greatest[..4].is_sorted());
}

#[test]
fn values_are_left_out_if_none_are_wanted() {
    let source = written();
    let text = |values: bool| {
        let (metadata, layout) = opened(&source);
        let options = ReportOptions::default().with_values(values);
        let page = page(&[ReportedFile::new("a", metadata, layout)], &options);
        data(&page, 0).0.to_string()
    };
    assert!(text(true).contains("secret0299"));
    assert!(!text(false).contains("secret"));
}

#[test]
fn several_files_have_their_own_data_and_the_same_files_give_the_same_page() {
    let examples = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/wines.parquet");
    let wines: Arc<dyn Source> = Arc::new(Bytes::from(std::fs::read(examples).unwrap()));
    let made = || {
        let files = [&written(), &wines].map(|source| {
            let (metadata, layout) = opened(source);
            ReportedFile::new("x", metadata, layout)
        });
        page(&files, &ReportOptions::default())
    };
    let page = made();
    assert_eq!(page, made());
    assert_eq!(data(&page, 1).0["size"], wines.len());
    assert_eq!(page.matches("<article>").count(), 2);
}
