//! One kind of damage for each test.

use crate::sample::{
    PLAIN, SCHEMA, Style, contents, ends, file, file_of, footer_start, given, rewritten, saved,
};
use bytes::Bytes;
use marquetry_base::{ErrorKind, Limits};
use marquetry_codec::Codec;
use marquetry_core::io::read_metadata;
use marquetry_format::{PageHeader, Reader};
use marquetry_recover::{Confidence, RecoverOptions, SchemaOrigin};

fn changed(bytes: &Bytes, change: impl FnOnce(&mut Vec<u8>)) -> Bytes {
    let mut bytes = bytes.to_vec();
    change(&mut bytes);
    bytes.into()
}

#[test]
fn every_whole_row_group_before_a_cut_is_found() {
    for style in
        [PLAIN, Style { codec: Codec::Snappy, checksums: false, ..PLAIN }, Style { v2: true, ..PLAIN }]
    {
        let good = file(style, &[40, 30, 50]);
        let (all, ends) = (contents(&good).unwrap(), ends(&good));
        for len in 0..good.len() {
            let cut = good.slice(..len);
            let whole = ends.iter().filter(|end| **end <= len as u64).count();
            match saved(&cut, &given(SCHEMA)) {
                Ok(recovery) => {
                    assert_eq!(
                        recovery.report().row_groups.len(),
                        whole,
                        "{style:?} cut at {len}: {}",
                        recovery.report()
                    );
                    if len % 97 == 0 && whole > 0 {
                        assert_eq!(rewritten(&recovery), all[..whole], "{style:?} cut at {len}");
                    }
                }
                Err(error) => {
                    assert!(
                        whole == 0 && error.kind() == ErrorKind::Corrupt,
                        "{style:?} cut at {len}: {error}"
                    )
                }
            }
        }
    }
}

#[test]
fn a_whole_file_is_copied_exactly() {
    let good = file(PLAIN, &[40, 30]);
    let recovery = saved(&good, &RecoverOptions::default()).unwrap();
    assert_eq!(rewritten(&recovery), contents(&good).unwrap());
    assert_eq!(recovery.report().schema, Some(SchemaOrigin::Footer));
    assert!(recovery.report().losses.is_empty());
    assert!(recovery.report().row_groups.iter().all(|group| group.confidence == Confidence::Exact));
}

#[test]
fn an_overwritten_footer() {
    let good = file(PLAIN, &[40, 30]);
    let start = footer_start(&good);
    let broken = changed(&good, |bytes| bytes[start..].fill(0x5a));
    let recovery = saved(&broken, &given(SCHEMA)).unwrap();
    assert_eq!(rewritten(&recovery), contents(&good).unwrap());
    assert_eq!(recovery.report().schema, Some(SchemaOrigin::Text));
    assert!(recovery.report().row_groups.iter().all(|group| group.confidence == Confidence::High));
}

/// The remains of a footer are not reported as lost rows.
#[test]
fn a_cut_in_the_footer() {
    let good = file(PLAIN, &[40, 30]);
    for len in footer_start(&good) + 4..good.len() {
        let recovery = saved(&good.slice(..len), &given(SCHEMA)).unwrap();
        assert!(recovery.report().losses.is_empty(), "cut at {len}: {}", recovery.report());
        assert_eq!(recovery.report().rows(), 70, "cut at {len}");
    }
}

#[test]
fn garbage_behind_the_file() {
    let good = file(PLAIN, &[40, 30]);
    let broken = changed(&good, |bytes| bytes.extend((0..5000u32).map(|i| ((i * i) >> 3) as u8)));
    let recovery = saved(&broken, &RecoverOptions::default()).unwrap();
    assert_eq!(rewritten(&recovery), contents(&good).unwrap());
    let [lost] = &recovery.report().losses[..] else { panic!("{}", recovery.report()) };
    // It begins with zeros, which could be there for alignment.
    assert_eq!(lost.bytes, good.len() as u64 + 3..broken.len() as u64);
}

#[test]
fn two_files_behind_each_other() {
    let (first, second) = (file(PLAIN, &[40, 30]), file(PLAIN, &[20]));
    let broken = changed(&first, |bytes| bytes.extend_from_slice(&second));
    let recovery = saved(&broken, &RecoverOptions::default()).unwrap();
    let mut all = contents(&first).unwrap();
    all.extend(contents(&second).unwrap());
    assert_eq!(rewritten(&recovery), all, "{}", recovery.report());
}

/// The last footer fits the first file too, if it is the same.
#[test]
fn a_file_behind_itself() {
    let good = file(PLAIN, &[40, 30]);
    let broken = changed(&good, |bytes| bytes.extend_from_slice(&good));
    let recovery = saved(&broken, &RecoverOptions::default()).unwrap();
    assert_eq!(recovery.report().rows(), 140, "{}", recovery.report());
    assert_eq!(rewritten(&recovery), [contents(&good).unwrap(), contents(&good).unwrap()].concat());
}

#[test]
fn a_zeroed_block_costs_the_row_groups_that_it_is_in() {
    let good = file(PLAIN, &[400, 300, 500]);
    let (all, ends, footer) = (contents(&good).unwrap(), ends(&good), footer_start(&good));
    for (with_footer, at) in
        [true, false].into_iter().flat_map(|with| (4..footer - 600).step_by(211).map(move |at| (with, at)))
    {
        let mut broken = changed(&good, |bytes| bytes[at..at + 600].fill(0));
        if !with_footer {
            broken.truncate(footer);
        }
        let untouched = untouched(&ends, at as u64..at as u64 + 600);
        let recovery = saved(&broken, &given(SCHEMA)).unwrap();
        let expected: Vec<_> = untouched.iter().map(|i| all[*i].clone()).collect();
        assert_eq!(
            rewritten(&recovery),
            expected,
            "footer {with_footer}, zeros at {at}: {}",
            recovery.report()
        );
    }
}

#[test]
fn a_hole_costs_the_row_groups_that_it_is_in() {
    let good = file(PLAIN, &[400, 300, 500]);
    let (all, ends, footer) = (contents(&good).unwrap(), ends(&good), footer_start(&good));
    for at in (4..footer - 700).step_by(307) {
        let broken = changed(&good, |bytes| drop(bytes.drain(at..at + 700)));
        let untouched = untouched(&ends, at as u64..at as u64 + 700);
        let recovery = saved(&broken, &given(SCHEMA)).unwrap();
        let expected: Vec<_> = untouched.iter().map(|i| all[*i].clone()).collect();
        assert_eq!(rewritten(&recovery), expected, "hole at {at}: {}", recovery.report());
    }
}

/// Returns the row groups that a range does not touch.
fn untouched(ends: &[u64], range: std::ops::Range<u64>) -> Vec<usize> {
    let start = |i: usize| if i == 0 { 4 } else { ends[i - 1] };
    (0..ends.len()).filter(|i| range.end <= start(*i) || range.start >= ends[*i]).collect()
}

#[test]
fn columns_that_are_lost_become_null() {
    let good = file(PLAIN, &[40, 30]);
    let metadata = marquetry_core::io::read_metadata(&good, &Default::default()).unwrap().metadata;
    let amount = metadata.row_group(0).column(2).unwrap().byte_range().unwrap();
    let broken = changed(&good, |bytes| bytes[amount.end as usize - 3] ^= 1);
    let strict = saved(&broken, &RecoverOptions::default()).unwrap();
    assert_eq!(strict.report().row_groups.len(), 1);
    assert_eq!(strict.report().losses.len(), 1, "{}", strict.report());
    for footer in [good.len(), footer_start(&good)] {
        let options = given(SCHEMA).with_partial(true);
        let recovery = saved(&broken.slice(..footer), &options).unwrap();
        assert_eq!(recovery.report().row_groups[0].nulls, ["amount"], "{}", recovery.report());
        let mut expected = contents(&good).unwrap();
        let seen = rewritten(&recovery);
        expected[0][2] = seen[0][2].clone();
        assert_eq!(seen, expected);
        assert!(seen[0][2].starts_with("[0, 0, 0"), "{}", seen[0][2]);
    }
    // A required column takes its row group with it.
    let flag = metadata.row_group(0).column(3).unwrap().byte_range().unwrap();
    let broken = changed(&good, |bytes| bytes[flag.end as usize - 1] ^= 1);
    let recovery = saved(&broken, &RecoverOptions::default().with_partial(true)).unwrap();
    assert_eq!(recovery.report().row_groups.len(), 1);
    assert!(recovery.report().losses[0].why.contains("cannot be null"));
}

/// A writer that died in a row group: its columns that are there as a whole are kept, the others are null.
#[test]
fn an_unclosed_row_group_gives_its_whole_columns() {
    let text = "message m { optional int64 a; optional byte_array b; optional int32 c; optional double d; }";
    let good = file_of(text, PLAIN, &[40, 30, 60]);
    let (all, ends) = (contents(&good).unwrap(), ends(&good));
    let metadata = marquetry_core::io::read_metadata(&good, &Default::default()).unwrap().metadata;
    let chunk_end = |column| metadata.row_group(2).column(column).unwrap().byte_range().unwrap().end;
    let options = given(text).with_partial(true);
    let mut kept = 0;
    for len in ends[1] as usize..ends[2] as usize {
        let recovery = saved(&good.slice(..len), &options).unwrap();
        let there = (0..4).filter(|column| chunk_end(*column) <= len as u64).count();
        let groups = rewritten(&recovery);
        assert_eq!(groups[..2], all[..2], "cut at {len}");
        // A single column does not show whether it is whole.
        if there < 2 {
            assert_eq!(groups.len(), 2, "cut at {len}: {}", recovery.report());
            continue;
        }
        assert_eq!(groups.len(), 3, "cut at {len}: {}", recovery.report());
        assert_eq!(groups[2][..there], all[2][..there], "cut at {len}");
        let names = &["a", "b", "c", "d"][there..];
        assert_eq!(recovery.report().row_groups[2].nulls, names, "cut at {len}");
        kept += 1;
    }
    assert!(kept > 100, "{kept}");
}

/// What a crash of the machine may leave: the file has its length, and zeros from somewhere on.
#[test]
fn zeros_from_anywhere_to_the_end() {
    let good = file(PLAIN, &[40, 30, 50]);
    let (all, ends) = (contents(&good).unwrap(), ends(&good));
    for at in (4..good.len()).step_by(13) {
        let broken = changed(&good, |bytes| bytes[at..].fill(0));
        let whole = ends.iter().filter(|end| **end <= at as u64).count();
        match saved(&broken, &given(SCHEMA)) {
            Ok(recovery) if whole > 0 => assert_eq!(rewritten(&recovery), all[..whole], "zeros from {at}"),
            Ok(recovery) => {
                // Bytes at the end of a page that were zero before are no loss.
                let is_kept = !recovery.report().row_groups.is_empty();
                assert!(!is_kept || rewritten(&recovery) == all[..1], "zeros from {at}");
            }
            Err(error) => {
                assert!(whole == 0 && error.kind() == ErrorKind::Corrupt, "zeros from {at}: {error}")
            }
        }
    }
}

#[test]
fn threads_change_nothing() {
    let good = file(Style { codec: Codec::Snappy, ..PLAIN }, &[60_000, 50_000, 40_000]);
    let footer = footer_start(&good);
    for len in [good.len(), footer, footer - 1000] {
        let of = |threads| {
            let broken = changed(&good.slice(..len), |bytes| bytes[footer / 2] ^= 1);
            let recovery = saved(&broken, &given(SCHEMA).with_threads(threads)).unwrap();
            (recovery.report().clone(), rewritten(&recovery))
        };
        let one = of(1);
        assert!(one.0.row_groups.len() < 3 && !one.0.losses.is_empty());
        assert!(of(4) == one && of(0) == one, "{}", one.0);
    }
}

#[test]
fn encrypted_files_are_left() {
    let good = file(PLAIN, &[40]);
    for at in [0, good.len() - 4] {
        let broken = changed(&good, |bytes| bytes[at..at + 4].copy_from_slice(b"PARE"));
        assert_eq!(saved(&broken, &given(SCHEMA)).err().unwrap().kind(), ErrorKind::Key);
    }
    // Modules of an encrypted column behind a plain beginning, and no footer.
    let mut bytes = b"PAR1".to_vec();
    for i in 0..6u32 {
        bytes.extend((100 + i).to_le_bytes());
        bytes.extend((0..100 + i).map(|j| (j * 37 + i) as u8));
    }
    assert_eq!(saved(&bytes.into(), &given(SCHEMA)).err().unwrap().kind(), ErrorKind::Key);
}

#[test]
fn flipped_bytes_never_give_other_values() {
    let good = file(PLAIN, &[40, 30]);
    let (all, footer) = (contents(&good).unwrap(), footer_start(&good));
    for at in (4..footer).step_by(3) {
        let broken = changed(&good.slice(..footer), |bytes| bytes[at] ^= 0x10);
        let recovery = saved(&broken, &given(SCHEMA)).unwrap();
        for group in rewritten(&recovery) {
            assert!(all.contains(&group), "flipped at {at}: {}", recovery.report());
        }
    }
}

/// A chunk of many pages may end at each of them. If the work for each of these ends grew with the pages before it,
/// this would take minutes.
#[test]
fn a_chunk_of_very_many_pages() {
    let schema = "message m { required int64 id; }";
    let good = file_of(schema, Style { page_rows: 1, ..PLAIN }, &[100_000]);
    let start = footer_start(&good);
    let broken = changed(&good, |bytes| bytes[start..].fill(0x5a));
    let begun = std::time::Instant::now();
    let recovery = saved(&broken, &given(schema)).unwrap();
    assert!(begun.elapsed().as_secs() < 20, "{:?}", begun.elapsed());
    assert_eq!(rewritten(&recovery), contents(&good).unwrap());
    // And without the page that it begins with.
    let broken = changed(&broken, |bytes| bytes[4..8].fill(0xff));
    let begun = std::time::Instant::now();
    let recovery = saved(&broken, &given(schema)).unwrap();
    assert!(begun.elapsed().as_secs() < 20, "{:?}", begun.elapsed());
    assert_eq!(recovery.report().rows(), 99_999);
}

/// A bit flips in a header, which no checksum covers, and the encodings of levels are missing. We assume them; other
/// readers refuse the page.
#[test]
fn headers_that_lost_a_field_are_written_anew() {
    let good = file(PLAIN, &[40, 30]);
    let (all, footer) = (contents(&good).unwrap(), footer_start(&good));
    let level_encodings: [u8; 5] = [
        0x15,
        3 << 1, // field 3 of DataPageHeader: RLE
        0x15,
        3 << 1, // field 4: RLE
        0x00,   // its end
    ];
    let places = good.windows(5).enumerate().filter(|(_, bytes)| *bytes == level_encodings);
    let places: Vec<usize> = places.map(|(at, _)| at).collect();
    assert!(places.len() >= 30, "{places:?}");
    for at in places {
        // Fields 5 and 6 now, which are not numbers.
        let broken = changed(&good, |bytes| bytes[at] ^= 0x20);
        for (broken, options) in
            [(broken.clone(), RecoverOptions::default()), (broken.slice(..footer), given(SCHEMA))]
        {
            let recovery = saved(&broken, &options).unwrap();
            assert!(recovery.report().losses.is_empty(), "byte {at}: {}", recovery.report());
            let new: Bytes = recovery.write(Vec::new(), None).unwrap().into();
            assert_eq!(contents(&new).unwrap(), all, "byte {at}");
            assert_eq!(page_headers(&new), page_headers(&good), "byte {at}");
        }
    }
}

/// The bytes of the headers of all pages.
fn page_headers(file: &Bytes) -> Vec<Bytes> {
    let metadata = read_metadata(file, &Limits::default()).unwrap().metadata;
    let mut headers = Vec::new();
    for chunk in metadata.row_groups().flat_map(|group| group.columns()) {
        let range = chunk.unwrap().byte_range().unwrap();
        let (mut at, end) = (range.start as usize, range.end as usize);
        while at < end {
            let mut reader = Reader::new(&file[at..end]);
            let header = PageHeader::read(&mut reader).unwrap();
            let body = at + reader.position();
            headers.push(file.slice(at..body));
            at = body + header.compressed_page_size as usize;
        }
    }
    headers
}
