//! Reading a column gives what was written, however it was cut into pages and however it is read.

use crate::chunk::data::{PHYSICAL, Random, cell, values};
use crate::chunk::file::{File, Reading, leaf, root};
use crate::chunk::model::{Datum, Node};
use crate::chunk::{Column, Layout, RLE_DICTIONARY, dictionary_page, pages};
use marquetry_base::ErrorKind;
use marquetry_codec::Codec;
use marquetry_core::read::ColumnBatch;
use marquetry_encoding::{Bitmap, PhysicalType, StringViews, Values, registry};
use marquetry_format::{ConvertedType, Repetition};
use proptest::prelude::*;

/// What reading some rows must give.
#[derive(Debug, Default)]
struct Expected {
    def: Vec<u8>,
    rep: Vec<u8>,
    /// The bytes of each slot's value, or nothing where it is null.
    slots: Vec<Option<Vec<u8>>>,
}

/// A random file of one column, and its rows.
struct Sample {
    file: File,
    rows: Vec<Expected>,
    max_rep: u8,
    keeps_levels: bool,
    max_def: u8,
}

impl Sample {
    fn new(seed: u64, rows: &[usize]) -> Sample {
        let random = &mut Random(seed);
        let physical = random.pick(&PHYSICAL);
        let node = Node::random(random, 4, 1);
        let mut schema = vec![root(1)];
        node.schema("c", Repetition::REQUIRED, physical, &mut schema);
        let mut file = File::new(schema);
        let mut expected = Vec::new();
        let (mut max_def, mut max_rep) = (0, 0);
        levels(&node, &mut max_def, &mut max_rep);
        for &rows in rows {
            let data: Vec<Datum> = (0..rows).map(|_| node.datum(random)).collect();
            expected.extend(data.iter().map(|datum| Expected::new(&node, physical, datum)));
            let shredded = node.shred(&data).remove(0);
            let column = Column {
                physical,
                max_def,
                max_rep,
                def: shredded.def,
                rep: shredded.rep,
                values: values(physical, &shredded.words),
            };
            file.push(&column, rows, &layout(random, &column));
            if random.one_in(4) && !file.offsets.last().is_none_or(Vec::is_empty) {
                // As old writers leave it: the dictionary is where the data is said to be.
                let first = file.offsets[file.offsets.len() - 1][0] as i64;
                let last = file.offsets.len() - 1;
                let chunk = file.chunk(last);
                chunk.dictionary_page_offset = random.pick(&[None, Some(0)]);
                chunk.data_page_offset = first;
            }
        }
        Sample { file, rows: expected, max_rep, max_def, keeps_levels: keeps_levels(&node, false) }
    }

    fn expected(&self, from: usize, to: usize) -> Expected {
        let mut out = Expected::default();
        for row in &self.rows[from..to] {
            out.def.extend(&row.def);
            out.rep.extend(&row.rep);
            out.slots.extend_from_slice(&row.slots);
        }
        out
    }

    fn check(&self, batch: &ColumnBatch, from: usize, to: usize) -> Result<(), TestCaseError> {
        let expected = self.expected(from, to);
        prop_assert_eq!(batch.entries, expected.def.len());
        let (def, rep) = batch.levels_as_bytes();
        if self.max_rep > 0 {
            prop_assert_eq!(&*rep, &expected.rep[..]);
        } else {
            prop_assert!(rep.is_empty());
        }
        if self.max_rep > 0 || self.keeps_levels {
            prop_assert_eq!(&*def, &expected.def[..]);
        } else {
            prop_assert!(def.is_empty(), "max_def {}", self.max_def);
        }
        let validity: Bitmap = expected.slots.iter().map(Option::is_some).collect();
        let all = expected.slots.iter().all(Option::is_some);
        prop_assert_eq!(&batch.validity, &(!all).then_some(validity));
        prop_assert_eq!(slots_of(batch), expected.slots);
        Ok(())
    }
}

impl Expected {
    fn new(node: &Node, physical: PhysicalType, datum: &Datum) -> Expected {
        let shredded = node.shred(std::slice::from_ref(datum)).remove(0);
        let mut slots = Vec::new();
        node.slots(Some(datum), &mut slots);
        let bytes = |word| cell(&values(physical, &[word]), 0);
        Expected {
            def: shredded.def,
            rep: shredded.rep,
            slots: slots.into_iter().map(|word| word.map(bytes)).collect(),
        }
    }
}

/// The batch's values, looked up where they are keys.
fn slots_of(batch: &ColumnBatch) -> Vec<Option<Vec<u8>>> {
    let is_valid = |i| batch.validity.as_ref().is_none_or(|bits| bits.get(i));
    let value = |i| match (&batch.dictionary, &batch.values) {
        (Some(dictionary), Values::W32(keys)) => cell(dictionary.values(), keys[i] as usize),
        (_, values) => cell(values, i),
    };
    (0..batch.values.len()).map(|i| is_valid(i).then(|| value(i))).collect()
}

/// The largest levels of a type's only leaf.
fn levels(node: &Node, def: &mut u8, rep: &mut u8) {
    match node {
        Node::Leaf => {}
        Node::Struct(fields) => levels(&fields[0], def, rep),
        Node::Optional(inner) | Node::List(inner, _) => {
            *def += 1;
            *rep += u8::from(matches!(node, Node::List(..)));
            levels(inner, def, rep);
        }
    }
}

/// Whether there is something nullable or a list above the leaf.
fn keeps_levels(node: &Node, is_below: bool) -> bool {
    match node {
        Node::Leaf => is_below,
        Node::Optional(inner) if matches!(**inner, Node::Leaf) => is_below,
        Node::Struct(fields) => keeps_levels(&fields[0], is_below),
        Node::Optional(inner) | Node::List(inner, _) => keeps_levels(inner, true),
    }
}

/// A random way to write the column.
fn layout(random: &mut Random, column: &Column) -> Layout {
    let codecs = [Codec::Uncompressed, Codec::Snappy, Codec::Gzip, Codec::Brotli, Codec::Zstd, Codec::Lz4Raw];
    let legal: Vec<i32> = registry::ENCODINGS
        .iter()
        .filter(|row| (row.supports)(column.physical))
        .map(|row| row.code)
        .collect();
    let is_dictionary = column.physical != PhysicalType::Boolean && random.one_in(2);
    let largest = 1 + random.pick(&[3, 20, 300, 3_000]);
    Layout {
        cuts: (0..random.below(12)).map(|_| random.below(largest)).collect(),
        v2: random.one_in(2),
        bit_packed: random.one_in(3),
        encoding: if is_dictionary { random.pick(&[2, RLE_DICTIONARY]) } else { random.pick(&legal) },
        plain_from: if random.one_in(2) { random.below(6) } else { usize::MAX },
        codec: if random.one_in(2) { Codec::Uncompressed } else { random.pick(&codecs) },
        checksums: random.one_in(2),
        strangers: random.one_in(5),
    }
}

/// Reads and skips by turns up to the last row.
fn read_in_steps(sample: &Sample, steps: &[(bool, usize)], want_keys: bool) -> Result<(), TestCaseError> {
    let reading = Reading { want_keys, ..Reading::default() };
    let mut reader = sample.file.reader(&reading);
    let mut at = 0;
    let rest = [(false, sample.rows.len())];
    for &(is_skip, rows) in steps.iter().chain(&rest) {
        let to = (at + rows).min(sample.rows.len());
        if is_skip {
            reader.skip(to - at).unwrap();
        } else {
            let batch = reader.read(to - at).unwrap();
            sample.check(&batch, at, to)?;
        }
        at = to;
    }
    let error = reader.read(1).unwrap_err();
    prop_assert!(error.message().contains("1 more rows wanted"), "{}", error);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_split_of_reads_gives_what_was_written(
        seed in any::<u64>(),
        rows in prop::collection::vec(prop_oneof![Just(0usize), 1usize..20, 1usize..400], 1..4),
        steps in prop::collection::vec((any::<bool>(), prop_oneof![0usize..10, 0usize..200]), 0..12),
        want_keys in any::<bool>(),
    ) {
        read_in_steps(&Sample::new(seed, &rows), &steps, want_keys)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    /// More entries than are decoded at a time.
    #[test]
    fn blocks_follow_each_other(
        seed in any::<u64>(),
        steps in prop::collection::vec((any::<bool>(), 0usize..4_000), 0..4),
        want_keys in any::<bool>(),
    ) {
        read_in_steps(&Sample::new(seed, &[7_000, 50]), &steps, want_keys)?;
    }
}

fn keys() -> Reading {
    Reading { want_keys: true, ..Reading::default() }
}

fn dictionary_layout() -> Layout {
    Layout { encoding: RLE_DICTIONARY, ..Layout::default() }
}

#[test]
fn keys_are_given_where_they_are_wanted() {
    let column = Column::ints([7, 7, 9, 7]);
    let file = File::flat(&column, &dictionary_layout());
    let batch = file.read_all(&keys()).unwrap();
    assert_eq!(batch.values, Values::W32(vec![0, 0, 1, 0]));
    assert_eq!(*batch.dictionary.unwrap().values(), Values::W32(vec![7, 9]));
    let batch = file.read_all(&Reading::default()).unwrap();
    assert!(batch.dictionary.is_none());
    assert_eq!(batch.values, column.values);
    let batch = File::flat(&column, &Layout::default()).read_all(&keys()).unwrap();
    assert!(batch.dictionary.is_none());
    assert_eq!(batch.values, column.values);
}

#[test]
fn keys_become_values_where_pages_fall_back_to_plain() {
    let words: Vec<_> = (0..60).map(|i| if i % 5 == 0 { None } else { Some(i % 7) }).collect();
    let column = Column::flat(PhysicalType::ByteArray, &words, true);
    let layout = Layout { cuts: vec![20, 20], plain_from: 1, ..dictionary_layout() };
    let file = File::flat(&column, &layout);
    let expected = |range: std::ops::Range<usize>| -> Vec<_> {
        let bytes = |word| cell(&values(PhysicalType::ByteArray, &[word]), 0);
        words[range].iter().map(|word| word.map(bytes)).collect()
    };
    let batch = file.read_all(&keys()).unwrap();
    assert!(batch.dictionary.is_none());
    assert_eq!(slots_of(&batch), expected(0..60));
    // In batches: keys up to the fallback, values after it.
    let mut reader = file.reader(&keys());
    for (from, to, has_keys) in [(0, 15, true), (15, 20, true), (20, 30, false), (30, 60, false)] {
        let batch = reader.read(to - from).unwrap();
        assert_eq!(batch.dictionary.is_some(), has_keys, "{from}..{to}");
        assert_eq!(slots_of(&batch), expected(from..to));
    }
}

/// As one wrong bit in the header of a run of levels makes of one row many: the first of them are not what was written.
#[test]
fn more_rows_of_a_list_than_the_row_group_has() {
    let rep = vec![0, 1, 1, 0, 1, 0];
    let column = Column {
        physical: PhysicalType::Int32,
        max_def: 1,
        max_rep: 1,
        def: vec![1; rep.len()],
        values: Values::W32((0..6).collect()),
        rep,
    };
    for (rows, v2) in [(2, false), (2, true), (1, false), (3, false), (3, true)] {
        let mut file = File::new(vec![root(1), leaf("c", Repetition::REPEATED, PhysicalType::Int32)]);
        file.push(&column, rows, &Layout { v2, ..Layout::default() });
        let mut reader = file.reader(&Reading::default());
        let read: Result<Vec<_>, _> = (0..rows).map(|_| reader.read(1)).collect();
        for read in [file.read_all(&Reading::default()).map(|_| ()), read.map(|_| ())] {
            match read {
                Ok(()) => assert_eq!(rows, 3),
                Err(error) => {
                    assert!(rows < 3 && error.kind() == ErrorKind::Corrupt, "{error}");
                    assert!(error.to_string().contains("more rows begin than the"), "{error}");
                }
            }
        }
    }
}

#[test]
fn keys_of_two_dictionaries_in_one_batch_become_values() {
    let (first, second) = (Column::ints([7, 8, 7]), Column::ints([8, 5, 5, 8]));
    let mut file = File::flat(&first, &dictionary_layout());
    file.push(&second, 4, &Layout { cuts: vec![2], ..dictionary_layout() });
    let batch = file.read_all(&keys()).unwrap();
    assert!(batch.dictionary.is_none());
    assert_eq!(batch.values, Values::W32(vec![7, 8, 7, 8, 5, 5, 8]));
    // Apart they stay keys; a page that was begun as values stays so.
    let mut reader = file.reader(&keys());
    assert_eq!(reader.read(2).unwrap().values, Values::W32(vec![0, 1]));
    assert_eq!(reader.read(2).unwrap().values, Values::W32(vec![7, 8]));
    let batch = reader.read(3).unwrap();
    let word = |word: u32| Some(word.to_le_bytes().to_vec());
    assert_eq!(slots_of(&batch), [word(5), word(5), word(8)]);
    let mut reader = file.reader(&keys());
    reader.skip(3).unwrap();
    let batch = reader.read(4).unwrap();
    assert_eq!(batch.values, Values::W32(vec![0, 1, 1, 0]));
    assert_eq!(*batch.dictionary.unwrap().values(), Values::W32(vec![8, 5]));
}

/// Of every encoding: the values of such a page are not bytes at all, or what an encoder makes of nothing.
#[test]
fn pages_of_nulls_only() {
    for physical in PHYSICAL {
        for row in registry::ENCODINGS.iter().filter(|row| (row.supports)(physical)) {
            for (v2, codec) in [
                (false, Codec::Uncompressed),
                (false, Codec::Snappy),
                (true, Codec::Uncompressed),
                (true, Codec::Snappy),
                (true, Codec::Zstd),
            ] {
                let words: Vec<_> = (0..90u64).map(|i| (30..50).contains(&i).then_some(i % 3)).collect();
                let column = Column::flat(physical, &words, true);
                let layout =
                    Layout { cuts: vec![10, 20, 20, 5], encoding: row.code, v2, codec, ..Layout::default() };
                let bytes = |word| cell(&values(physical, &[word]), 0);
                let expected: Vec<_> = words.iter().map(|word| word.map(bytes)).collect();
                for reading in [Reading::default(), keys()] {
                    let batch = File::flat(&column, &layout).read_all(&reading).unwrap_or_else(|error| {
                        panic!("{} of {physical}, V2 {v2}, {codec}: {error}", row.name);
                    });
                    assert_eq!(slots_of(&batch), expected, "{} of {physical}", row.name);
                }
            }
        }
    }
}

#[test]
fn a_dictionary_of_no_entries() {
    let column = Column::flat(PhysicalType::ByteArray, &[None, None, None], true);
    for v2 in [false, true] {
        let layout = Layout { v2, cuts: vec![1], ..dictionary_layout() };
        let mut pages = pages(&column, &layout);
        assert_eq!(pages[1].body.last(), Some(&0), "bit width 0");
        for cut in [0, 1] {
            // Some writers leave even the width out.
            for page in &mut pages[1..] {
                page.body.truncate(page.body.len() - cut);
                page.header.compressed_page_size -= cut as i32;
                page.header.uncompressed_page_size -= cut as i32;
                page.seal();
            }
            let file = File::of_pages(&column, Codec::Uncompressed, &pages);
            for reading in [Reading::default(), keys()] {
                let batch = file.read_all(&reading).unwrap();
                assert_eq!(slots_of(&batch), [None, None, None]);
                assert_eq!(batch.dictionary.is_some(), reading.want_keys);
            }
        }
    }
}

#[test]
fn an_index_outside_the_dictionary_is_refused() {
    let column = Column::ints([7, 8, 9, 7]);
    let mut pages = pages(&column, &dictionary_layout());
    pages[0] = dictionary_page(&Values::W32(vec![7, 8]), &dictionary_layout());
    let file = File::of_pages(&column, Codec::Uncompressed, &pages);
    for reading in [Reading::default(), keys()] {
        let error = file.read_all(&reading).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt);
        assert_eq!(error.message(), "dictionary index 2 in a dictionary of 2 values");
        assert_eq!(error.place().page, Some(1));
    }
}

#[test]
fn text_must_be_utf8() {
    let strings = [b"plain".as_slice(), "h\u{fc}".as_bytes(), b"h\xfc, which is Latin-1"];
    let column = Column {
        values: Values::Bytes(StringViews::from_iter(strings)),
        ..Column::flat(PhysicalType::ByteArray, &[Some(0); 3], false)
    };
    for (layout, page) in [(Layout { cuts: vec![1], ..Layout::default() }, 1), (dictionary_layout(), 0)] {
        let mut file = File::flat(&column, &layout);
        assert_eq!(file.read_all(&Reading::default()).unwrap().values, column.values);
        file.metadata.schema[1].converted_type = Some(ConvertedType::UTF8);
        for reading in [Reading::default(), keys()] {
            let error = file.read_all(&reading).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Corrupt);
            let message = r#"a string is not UTF-8: "h\xfc, which is Latin-1"; the option invalid_utf8"#;
            assert!(error.message().starts_with(message), "{error}");
            assert_eq!(error.place().page, Some(page));
            assert_eq!(error.place().offset, Some(file.offsets[0][page]));
        }
    }
}

#[test]
fn chunks_with_fewer_or_more_rows_than_their_row_group() {
    let mut file = File::flat(&Column::ints([1, 2, 3]), &Layout::default());
    file.push(&Column::ints([4, 5]), 2, &Layout::default());
    file.metadata.row_groups[0].num_rows = 2;
    file.metadata.num_rows = 4;
    let batch = file.read_all(&Reading::default()).unwrap();
    assert_eq!(batch.values, Values::W32(vec![1, 2, 4, 5]), "what the row group says is read");
    file.metadata.row_groups[1].num_rows = 5;
    file.metadata.num_rows = 7;
    let error = file.error();
    assert_eq!(error.kind(), ErrorKind::Corrupt);
    assert_eq!(error.message(), "the pages end 3 rows before the row group does");
    assert_eq!(error.place().row_group, Some(1));
    assert_eq!(error.place().column.as_deref(), Some("x"));
}

/// Writers disagree on whether absent lists are nulls.
#[test]
fn nulls_of_v2_pages_in_lists_may_be_counted_anyhow() {
    for row in registry::ENCODINGS.iter().filter(|row| (row.supports)(PhysicalType::Int32)) {
        let column = Column {
            max_def: 1,
            max_rep: 1,
            def: vec![1, 1, 0, 1],
            rep: vec![0, 1, 0, 0],
            ..Column::ints([5, 6, 7])
        };
        let mut pages = pages(&column, &Layout { v2: true, encoding: row.code, ..Layout::default() });
        for nulls in [0, 1, 4, 100] {
            pages.last_mut().unwrap().v2().num_nulls = nulls;
            let mut file = File::new(vec![root(1), leaf("c", Repetition::REPEATED, PhysicalType::Int32)]);
            file.push_pages(&column, 3, Codec::Uncompressed, &pages);
            let batch = file.read_all(&Reading::default()).unwrap();
            assert_eq!(batch.values, column.values, "{} with {nulls} nulls", row.name);
        }
    }
}
