//! A law: what is written as CSV or JSON Lines is read back as it was, with the schema given. Random values of random
//! types, all of those that `--schema` knows.
//!
//! `MARQUETRY_TEXT_TABLES=5000 cargo test -p marquetry-cli --test it text_law` tries more tables than CI does.

use crate::command::{Folder, success};
use crate::random_arrays::{Random, RandomType, random_array, random_type, scalar_types};
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_cast::cast;
use arrow_schema::{DataType, Field, Schema};
use std::sync::Arc;

fn write(path: &str, batch: &RecordBatch) {
    let file = std::fs::File::create(path).expect("a file");
    let mut writer = arrow_ipc::writer::FileWriter::try_new(file, &batch.schema()).expect("a writer");
    writer.write(batch).expect("rows");
    writer.finish().expect("a file");
}

/// The columns of an Arrow file, as these types.
fn read(path: &str, types: &[RandomType]) -> Vec<ArrayRef> {
    let file = std::fs::File::open(path).expect("a file");
    let reader = arrow_ipc::reader::FileReader::try_new(file, None).expect("an Arrow file");
    let schema = reader.schema();
    let batches = reader.collect::<Result<Vec<_>, _>>().expect("batches");
    let batch = arrow_select::concat::concat_batches(&schema, &batches).expect("one batch");
    let plain =
        |(column, of): (&ArrayRef, &RandomType)| cast(column, &of.plain).expect("the same in another layout");
    batch.columns().iter().zip(types).map(plain).collect()
}

/// Writes the text in another way that options of `convert` understand, or not, and returns the options.
fn respelled(path: &str, random: &mut Random) -> &'static [&'static str] {
    let text = std::fs::read_to_string(path).expect("text");
    let is_csv = path.ends_with("csv");
    let marked = || text.encode_utf16().flat_map(u16::to_be_bytes);
    let (bytes, options): (Vec<u8>, &[&str]) = match random.below(6) {
        0 => ([0xfe, 0xff].into_iter().chain(marked()).collect(), &[]),
        1 => (text.encode_utf16().flat_map(u16::to_le_bytes).collect(), &["--text-encoding", "utf-16"]),
        2 if is_csv => {
            (["\"unclosed\r\n\n", &text].concat().into(), &["--skip-lines", "2", "--infer-rows", "all"])
        }
        3 if is_csv => {
            (["\u{1},\"\n", &text, "\u{1}"].concat().into(), &["--comment", "\u{1}", "--ragged", "truncate"])
        }
        2 => (["[", &text.trim_end().replace('\n', ",\n "), "]"].concat().into(), &[]),
        3 => (text.into(), &["--mixed", "text", "--unknown-keys", "ignore"]),
        4 if is_csv => (text.into(), &["--decimals", "never", "--ragged", "null"]),
        4 => (text.into(), &["--decimals", "never"]),
        _ => return &[],
    };
    std::fs::write(path, bytes).expect("text");
    options
}

/// Writes a table of these types as text and reads it again.
fn check(folder: &Folder, types: &[RandomType], rows: usize, random: &mut Random) {
    let expected: Vec<ArrayRef> =
        types.iter().map(|of| random_array(&of.plain, rows, !of.is_required, random)).collect();
    let columns = types.iter().zip(&expected).map(|(of, array)| {
        let array = cast(array, &of.data_type).expect("the same as a dictionary");
        (array, !of.is_required)
    });
    let (mut fields, mut arrays, mut schema) = (Vec::new(), Vec::new(), String::new());
    for (i, ((array, is_nullable), of)) in columns.zip(types).enumerate() {
        fields.push(Field::new(format!("c{i}"), array.data_type().clone(), is_nullable));
        arrays.push(array);
        schema += &format!("c{i} {}{}\n", of.text, if is_nullable { "" } else { " !" });
    }
    let batch = RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays).expect("a batch");
    let (input, again) = (folder.path("in.arrow"), folder.path("again.arrow"));
    write(&input, &batch);
    for name in ["t.csv", "t.jsonl"] {
        let text = folder.path(name);
        success(&["convert", &input, &text, "--overwrite"]);
        let options = respelled(&text, random);
        success(&[&["convert", &text, &again, "--overwrite", "--schema", &schema], options].concat());
        let found = read(&again, types);
        for ((found, expected), of) in found.iter().zip(&expected).zip(types) {
            let place = format!("{} in {name}, seed {}", of.text, random.seed());
            assert_eq!(found.len(), expected.len(), "{place}");
            for row in 0..expected.len() {
                let (found, expected) = (found.slice(row, 1), expected.slice(row, 1));
                assert!(*found == *expected, "{place}, row {row}: {expected:?} became {found:?}");
            }
        }
    }
}

/// Each type alone: then a row without a value is a blank line of CSV.
#[test]
fn every_type_alone() {
    let folder = Folder::new("law-alone");
    for (i, of) in scalar_types().into_iter().enumerate() {
        for is_required in [false, true] {
            let mut random = Random::new(1_000 + i as u64);
            check(&folder, &[RandomType { is_required, ..of.clone() }], 100, &mut random);
        }
    }
}

#[test]
fn random_tables() {
    let folder = Folder::new("law-tables");
    let tables = std::env::var("MARQUETRY_TEXT_TABLES").map_or(60, |n| n.parse().expect("a number"));
    for seed in 0..tables {
        let mut random = Random::new(seed);
        let types: Vec<RandomType> = (0..1 + random.below(12)).map(|_| random_type(&mut random, 3)).collect();
        let rows = [1, 7, 60][random.below(3)];
        check(&folder, &types, rows, &mut random);
    }
}

/// All values that a half has.
#[test]
fn every_half() {
    use arrow_array::Float16Array;
    type Half = <arrow_array::types::Float16Type as arrow_array::ArrowPrimitiveType>::Native;
    let folder = Folder::new("law-halves");
    let is_wanted = |half: &Half| !half.is_nan() || half.to_bits() == Half::NAN.to_bits();
    let halves: Float16Array = (0..=u16::MAX).map(Half::from_bits).filter(is_wanted).map(Some).collect();
    let expected: ArrayRef = Arc::new(halves);
    let (input, text, again) = (folder.path("in.arrow"), folder.path("t.csv"), folder.path("again.arrow"));
    write(&input, &RecordBatch::try_from_iter([("c0", expected.clone())]).expect("a batch"));
    success(&["convert", &input, &text]);
    success(&["convert", &text, &again, "--schema", "c0 float16"]);
    let of = RandomType::new("float16", DataType::Float16);
    assert!(*read(&again, &[of])[0] == *expected);
}
