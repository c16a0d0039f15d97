use super::*;

const COMMAS: Dialect =
    Dialect { delimiter: b',', quote: b'"', escape: None, comment: None, ragged: Ragged::Error };

/// The records as `csv-core` tells them apart.
fn by_csv_core(bytes: &[u8]) -> Vec<Vec<Vec<u8>>> {
    let mut reader = csv_core::Reader::new();
    let (mut out, mut ends) = (vec![0; bytes.len() + 16], vec![0; bytes.len() + 16]);
    let (mut from, mut records) = (0, Vec::new());
    let (mut written, mut cells) = (0, 0);
    loop {
        let (result, read, more, more_ends) =
            reader.read_record(&bytes[from..], &mut out[written..], &mut ends[cells..]);
        (from, written, cells) = (from + read, written + more, cells + more_ends);
        match result {
            csv_core::ReadRecordResult::Record => {
                let starts = std::iter::once(&0).chain(&ends[..cells]);
                records.push(starts.zip(&ends[..cells]).map(|(a, b)| out[*a..*b].to_vec()).collect());
                (written, cells) = (0, 0);
            }
            csv_core::ReadRecordResult::End => return records,
            csv_core::ReadRecordResult::InputEmpty => {}
            other => panic!("{other:?}"),
        }
    }
}

fn cells(bytes: &[u8], records: &Records) -> Vec<Vec<u8>> {
    let all = [bytes, &records.unescaped].concat();
    records.spans.iter().map(|span| all[span.start as usize..span.end as usize].to_vec()).collect()
}

/// Texts of few different characters, so that all of them meet.
fn texts() -> impl Iterator<Item = Vec<u8>> {
    let mut state = 7_u64;
    let mut random = move |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    (0..20_000).map(move |i| {
        let alphabet: &[u8] = if i % 2 == 0 { b"a,\"\n" } else { b"ab,,\"\"\n\r " };
        (0..random(40)).map(|_| alphabet[random(alphabet.len() as u64) as usize]).collect()
    })
}

#[test]
fn records_are_those_of_csv_core() {
    let (mut unclosed, mut closed) = (0, 0);
    for text in texts() {
        let expected = by_csv_core(&text);
        let shown = String::from_utf8_lossy(&text).into_owned();
        let mut splitter = Splitter::new(COMMAS, &text, usize::MAX);
        if let Err(error) = splitter.split() {
            // `csv-core` takes what is there.
            assert_eq!(error, BadRecord::Unclosed { record: expected.len() - 1 }, "{shown:?}");
            unclosed += 1;
            continue;
        }
        assert_eq!(splitter.complete.0, expected.len(), "{shown:?}");
        assert_eq!(cells(&text, &splitter.records), expected.concat(), "{shown:?}");
        assert_eq!(COMMAS.first_record(&text), expected.first().cloned().unwrap_or_default());
        let Some(columns) = expected.first().map(Vec::len).filter(|columns| *columns > 1) else { continue };
        closed += 1;
        match (COMMAS.records(&text, columns), expected.iter().position(|record| record.len() != columns)) {
            (Ok(records), None) => assert_eq!(cells(&text, &records), expected.concat()),
            (Err(wrong), Some(at)) => {
                let found = Some(expected[at].len()).filter(|found| *found < columns);
                assert_eq!(wrong, BadRecord::WrongCount { record: at, cells: found }, "{shown:?}");
            }
            (found, expected) => panic!("{shown:?}: {found:?}, {expected:?}"),
        }
    }
    assert!(unclosed > 1_000 && closed > 1_000, "{unclosed} {closed}");
}

/// Of records with one cell, a line without anything is one.
#[test]
fn blank_lines_of_one_column() {
    let records = |text: &str| {
        let records = COMMAS.records(text.as_bytes(), 1).unwrap();
        cells(text.as_bytes(), &records)
            .iter()
            .map(|cell| String::from_utf8_lossy(cell).into_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(records("a\n\nb\n\n"), ["a", "", "b", ""]);
    assert_eq!(records("\r\na\r\n\"\"\r\n\r\nb"), ["", "a", "", "", "b"]);
    assert_eq!(COMMAS.records(b"a,b\n\nc,d", 2).unwrap().spans.len(), 4);
    assert_eq!(COMMAS.record_end(b"a\r\nb\r"), Some(3));
}

#[test]
fn cut_at_the_end_of_a_record_both_parts_are_what_the_whole_is() {
    let mut cuts = 0;
    for text in texts() {
        let expected = by_csv_core(&text);
        for size in 1..=text.len() {
            let Some(end) = COMMAS.record_end(&text[..size]) else { continue };
            let mut parts = by_csv_core(&text[..end]);
            parts.extend(by_csv_core(&text[end..]));
            assert_eq!(parts, expected, "{:?} at {end}", String::from_utf8_lossy(&text));
            cuts += 1;
        }
    }
    assert!(cuts > 10_000);
}

#[test]
fn a_cell_that_is_quoted_may_be_longer_than_what_is_there() {
    assert_eq!(COMMAS.record_end(b"a,b\nc,\"d\ne"), Some(4));
    assert_eq!(COMMAS.record_end(b"a,b\nc,\"d\ne\"\nf"), Some(12));
    assert_eq!(COMMAS.record_end(b"\"a\n\""), None);
    assert_eq!(COMMAS.record_end(b"\n\n"), None);
    assert_eq!(COMMAS.record_end(b"a\"\nb\n"), Some(5));
}

#[test]
fn comments_are_no_records() {
    let comments = Dialect { comment: Some(b'#'), ..COMMAS };
    let shown = |text: &str, columns: usize| -> Vec<String> {
        let records = comments.records(text.as_bytes(), columns).unwrap();
        let cells = cells(text.as_bytes(), &records);
        cells.iter().map(|cell| String::from_utf8_lossy(cell).into_owned()).collect()
    };
    let text = "# one, \"\na,b\n# \"two\n#three\r\n\"#c\",\"d\n#\"\n#, end";
    assert_eq!(shown(text, 2), ["a", "b", "#c", "d\n#"]);
    assert_eq!(shown("x\r\n#\r\ny\n", 1), ["x", "y"]);
    assert_eq!(comments.first_record(text.as_bytes()), [b"a", b"b"]);
    assert_eq!(comments.record_start(text.as_bytes(), 2, 0), 9);
    assert_eq!(comments.record_start(text.as_bytes(), 2, 1), text.find("\"#c").unwrap());
    // However much of the text is there, it is cut behind a record.
    for size in 0..=text.len() {
        match comments.record_end(&text.as_bytes()[..size]) {
            Some(end) => assert!([13, 28, 39].contains(&end), "{size}: {end}"),
            None => assert!(size < 13, "{size}"),
        }
    }
}

#[test]
fn records_with_other_numbers_of_cells() {
    let count = |ragged, text: &str| {
        let records = Dialect { ragged, ..COMMAS }.records(text.as_bytes(), 2);
        records.map(|records| {
            let missing = records.spans.iter().filter(|span| **span == Span::MISSING).count();
            (records.spans.len(), missing)
        })
    };
    assert_eq!(count(Ragged::Null, "a,b\nc\n\"d\"\n"), Ok((6, 2)));
    assert_eq!(count(Ragged::Null, "a,b\nc,d,e\n"), Err(BadRecord::WrongCount { record: 1, cells: None }));
    assert_eq!(count(Ragged::Truncate, "a,b\nc,d,\"e\",f\ng"), Ok((6, 1)));
    assert_eq!(line_ends(b"a\nb\r\nc\rd\r"), 4);
    assert_eq!(COMMAS.record_start(b"a,b\r\n\r\nc,d", 2, 1), 7);
    assert_eq!(COMMAS.record_start(b"a\n\nb", 1, 1), 2);
}

const ESCAPES: Dialect = Dialect { escape: Some(b'\\'), ..COMMAS };

/// Where no escape is in the text, it is told apart in the same way; but an escape may be in quotes.
#[test]
fn without_escapes_nothing_is_different() {
    for text in texts() {
        let shown = String::from_utf8_lossy(&text).into_owned();
        for columns in [1, 2, usize::MAX] {
            let split = |dialect: Dialect| {
                let mut splitter =
                    Splitter::new(Dialect { ragged: Ragged::Truncate, ..dialect }, &text, columns);
                let ended = splitter.split();
                (ended, splitter.complete, cells(&text, &splitter.records))
            };
            // A cell of a record that is not there has no bytes.
            if columns == usize::MAX || split_is_whole(&text, columns) {
                assert_eq!(split(ESCAPES), split(COMMAS), "{shown:?}");
            }
        }
        for size in 0..=text.len() {
            let (found, expected) = (ESCAPES.record_end(&text[..size]), COMMAS.record_end(&text[..size]));
            assert_eq!(found, expected, "{:?}", &shown[..size]);
        }
    }
}

/// Whether all records have as many cells, so that none is filled up.
fn split_is_whole(text: &[u8], columns: usize) -> bool {
    COMMAS.records(text, columns).is_ok()
}

#[test]
fn escapes_take_the_meaning_from_what_follows() {
    let shown = |text: &str| -> Vec<String> {
        let mut splitter = Splitter::new(ESCAPES, text.as_bytes(), usize::MAX);
        splitter.split().unwrap();
        let cells = cells(text.as_bytes(), &splitter.records);
        cells.iter().map(|cell| String::from_utf8_lossy(cell).into_owned()).collect()
    };
    assert_eq!(shown(r#""say \"hi\"",b"#), [r#"say "hi""#, "b"]);
    assert_eq!(shown(r#""a\\",b"#), [r"a\", "b"]);
    assert_eq!(shown(r#""a ""b""",c"#), [r#"a "b""#, "c"]);
    assert_eq!(shown(r#""C:\new",C:\new,\N"#), [r"C:\new", r"C:\new", r"\N"]);
    assert_eq!(shown("\"c\\\r\nd\\\ne\\\\\",f\n"), ["c\r\nd\ne\\", "f"]);
    assert_eq!(shown("a,\n,b\\"), ["a", "", "", "b\\"]);
    assert_eq!(shown(r#""a\"b"c\",d,e"#), [r#"a"bc\""#, "d", "e"]);
    // Without quotes it is text.
    assert_eq!(shown("x\\\"y\\\\,C:\\\nb\\,c"), ["x\\\"y\\\\", "C:\\", "b\\", "c"]);
    assert_eq!(ESCAPES.record_end(b"a\\\nb\nc\\"), Some(5));
    assert_eq!(ESCAPES.record_end(b"\"a\\\nb\""), None);
    assert_eq!(ESCAPES.record_end(b"\"a\\\"\n"), None);
    let mut splitter = Splitter::new(ESCAPES, br#"a,"b\""#, usize::MAX);
    assert_eq!(splitter.split(), Err(BadRecord::Unclosed { record: 0 }));
}

#[test]
fn text_with_escapes_that_is_cut_is_what_the_whole_is() {
    let whole = |text: &[u8]| {
        let mut splitter = Splitter::new(ESCAPES, text, usize::MAX);
        splitter.split().map(|_| (splitter.complete.0, cells(text, &splitter.records)))
    };
    let mut cuts = 0;
    for (text, i) in texts().zip(0..) {
        let text: Vec<u8> =
            text.iter().map(|byte| if *byte == b'a' && i % 3 < 2 { b'\\' } else { *byte }).collect();
        let Ok((records, cells)) = whole(&text) else { continue };
        for size in 1..=text.len() {
            let Some(end) = ESCAPES.record_end(&text[..size]) else { continue };
            let (first, rest) = (whole(&text[..end]).unwrap(), whole(&text[end..]).unwrap());
            let joined = (first.0 + rest.0, [first.1, rest.1].concat());
            assert_eq!(joined, (records, cells.clone()), "{:?} at {end}", String::from_utf8_lossy(&text));
            cuts += 1;
        }
    }
    assert!(cuts > 10_000, "{cuts}");
}
