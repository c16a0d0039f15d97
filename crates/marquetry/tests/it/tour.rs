//! The tour through `examples/wines.parquet` in `docs/tour.md`: each byte, number, value and link of it is true.

use arrow_cast::display::{ArrayFormatter, FormatOptions};
use bytes::Bytes;
use marquetry::file::page::{PageBuffers, PageOptions, PageReader};
use marquetry::file::{metadata::ParquetMetaData, read_metadata};
use marquetry::internals::encoding::{levels, rle};
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn tour() -> String {
    fs::read_to_string(root().join("docs/tour.md")).unwrap()
}

fn wines() -> Bytes {
    fs::read(root().join("examples/wines.parquet")).unwrap().into()
}

/// The lines of all fenced blocks that begin with this word, and what else stands in their first line.
fn blocks(text: &str, language: &str) -> Vec<(String, Vec<String>)> {
    let mut out: Vec<(String, Vec<String>)> = Vec::new();
    let mut is_inside = false;
    for line in text.lines() {
        match line.strip_prefix("```") {
            Some("") => is_inside = false,
            Some(first) => {
                let (word, rest) = first.split_once(' ').unwrap_or((first, ""));
                is_inside = word == language;
                out.extend(is_inside.then(|| (rest.to_owned(), Vec::new())));
            }
            None if is_inside => out.last_mut().unwrap().1.push(line.to_owned()),
            None => {}
        }
    }
    out
}

/// What stands outside of fenced blocks and headings.
fn prose(text: &str) -> String {
    let mut is_inside = false;
    let mut out = String::new();
    for line in text.lines() {
        if line.starts_with("```") {
            is_inside = !is_inside;
        } else if !is_inside && !line.starts_with('#') {
            out += line;
            out.push('\n');
        }
    }
    out
}

/// A line of a dump: the bytes, as the file has them at that place, and what they are said to be.
fn dump_line<'l>(file: &Bytes, line: &'l str) -> (Bytes, &'l str) {
    let (at, rest) = line.split_once("  ").unwrap();
    let (hex, what) = rest.split_once("  ").unwrap();
    let at = usize::from_str_radix(at, 16).unwrap();
    let said: Vec<u8> = hex.split(' ').map(|byte| u8::from_str_radix(byte, 16).unwrap()).collect();
    let there = file.slice(at..at + said.len());
    assert_eq!(there, said, "{line}");
    (there, what.trim())
}

fn varint(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |n, byte| n << 7 | u64::from(byte & 0x7f))
}

#[test]
fn bytes_are_those_of_the_file_and_mean_what_is_said() {
    let file = wines();
    let (mut lines, mut fields, mut numbers, mut words) = (0, 0, 0, 0);
    for (_, block) in blocks(&tour(), "dump") {
        let mut last_field = 0;
        for line in block {
            let (bytes, what) = dump_line(&file, &line);
            lines += 1;
            let field = what
                .split("field ")
                .nth(1)
                .filter(|_| !what.contains("member of field") || what.starts_with("field"));
            let number = what.rsplit_once(" = ").map(|(_, number)| number.parse::<u64>().unwrap());
            if let Some(field) = field {
                // A name before it is that of a struct that begins here.
                last_field = if what.starts_with("field") { last_field } else { 0 };
                last_field += u32::from(bytes[0] >> 4);
                let said: u32 = field.split(|c: char| !c.is_ascii_digit()).next().unwrap().parse().unwrap();
                assert_eq!(last_field, said, "{line}");
                fields += 1;
                if let Some(number) = number {
                    let value = match bytes[0] & 0xf {
                        // i32 and i64, zigzag.
                        5 | 6 => varint(&bytes[1..]) / 2,
                        9 => u64::from(bytes[1] >> 4),
                        other => panic!("{line}: a number of type {other}"),
                    };
                    assert_eq!(value, number, "{line}");
                    numbers += 1;
                }
            } else if let Some(number) = number {
                let little_endian = bytes.iter().rev().fold(0, |n, byte| n << 8 | u64::from(*byte));
                let readings = [little_endian, varint(&bytes), u64::from(bytes[bytes.len() - 1])];
                assert!(readings.contains(&number), "{line}: {readings:?}");
                numbers += 1;
            }
            if what.starts_with("the end") {
                assert!(bytes.iter().all(|byte| *byte == 0), "{line}");
                last_field = 0;
            }
            let is_text = ["entry", "name:", "path_in_schema:", "_value:"].iter().any(|it| what.contains(it));
            if is_text {
                let word = what.rsplit_once(": ").unwrap().1;
                assert!(bytes.ends_with(word.as_bytes()), "{line}");
                words += 1;
            }
        }
    }
    assert!(lines > 60 && fields > 30 && numbers > 35 && words > 10, "{lines} {fields} {numbers} {words}");
}

/// The page of this number of a column of the first row group: where it begins, its header's length, the number of its
/// values, and its bytes without compression.
fn page(
    file: &Bytes,
    metadata: &ParquetMetaData,
    column: &str,
    number: usize,
) -> (u64, usize, usize, Vec<u8>) {
    let leaf = metadata.schema().find(column).unwrap();
    let chunk = metadata.row_group(0).column(leaf).unwrap();
    let options = PageOptions::for_writer(metadata.created_by());
    let source = std::sync::Arc::new(file.clone());
    let mut reader = PageReader::new(source, chunk, options, PageBuffers::default()).unwrap();
    let mut start = reader.next_header().unwrap().unwrap();
    for _ in 0..number {
        start = reader.next_header().unwrap().unwrap();
    }
    let header = start.header.clone();
    let stored = &file[start.body as usize..][..header.compressed_page_size as usize];
    // All pages of the tour are raw blocks behind 9 bytes of frame and block headers.
    let page = stored[stored.len() - header.uncompressed_page_size as usize..].to_vec();
    let values = header.data_page_header.map_or(0, |header| header.num_values as usize);
    (start.offset, (start.body - start.offset) as usize, values, page)
}

fn commas<T: ToString>(numbers: &[T]) -> String {
    numbers.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

/// All numbers and lists of numbers of the tour's prose, found anew.
fn facts() -> Vec<String> {
    let file = wines();
    let metadata = read_metadata(&file, &Default::default()).unwrap().metadata;
    let schema = metadata.schema();
    let leaf = |name: &str| schema.column(schema.find(name).unwrap());
    let rows = metadata.row_group(0).num_rows();
    let footer = metadata.data_end().unwrap();
    let mut out: Vec<String> = Vec::new();
    let mut say = |numbers: &[u64]| out.extend(numbers.iter().map(u64::to_string));
    say(&[file.len() as u64, 8, file.len() as u64 - 8 - footer, footer]);
    say(&[schema.num_columns() as u64, schema.fields().len() as u64]);
    say(&[leaf("country").max_def().into(), leaf("grapes.list.element").max_def().into()]);
    say(&[leaf("grapes.list.element").max_rep().into(), rows]);
    let (dictionary_at, dictionary_header, _, dictionary) = page(&file, &metadata, "country", 0);
    let (at, header, values, data) = page(&file, &metadata, "country", 1);
    let stored = at - dictionary_at - dictionary_header as u64;
    say(&[dictionary_at, stored, dictionary.len() as u64, at, header as u64]);
    // Four bytes of length, three of levels: one run.
    let decoded = rle::decode(&data[4..7], levels::width(1), values).unwrap();
    assert!(decoded.iter().all(|level| *level == 1));
    say(&[decoded.len() as u64, 1]);
    let groups = u64::from(data[8] / 2);
    say(&[groups, 8 * groups, values as u64]);
    let indices = rle::decode(&data[8..], data[7].into(), values).unwrap();
    let bits: Vec<String> = indices[..8].iter().rev().map(|index| format!("{index:03b}")).collect();
    out.extend([bits.join(" "), commas(&indices[..8])]);

    let (at, header, values, data) = page(&file, &metadata, "grapes.list.element", 1);
    out.extend([at, header as u64, values as u64].map(|n| n.to_string()));
    let repetition = rle::decode(&data[4..26], levels::width(1), values).unwrap();
    let definition = rle::decode(&data[30..41], levels::width(3), values).unwrap();
    out.push(commas(&repetition[..16]));
    let count = |levels: &[u32], wanted| levels.iter().filter(|level| **level == wanted).count();
    let (there, empty) = (count(&definition, 3), count(&definition, 1));
    assert_eq!((count(&repetition, 0) as u64, there + empty), (rows, values));
    out.extend([rows.to_string(), there.to_string(), empty.to_string()]);
    let indices = rle::decode(&data[42..], data[41].into(), there).unwrap();
    out.push(commas(&indices[..8]));
    out.push(metadata.num_rows().to_string());
    out
}

#[test]
fn numbers_are_those_that_the_library_finds() {
    let (mut said, mut rest) = (Vec::new(), String::new());
    let prose = prose(&tour());
    let mut left = prose.as_str();
    // What is bold, and what is code, as far as it has nothing but numbers.
    while let Some(at) = left.find(['*', '`']) {
        let mark = if left[at..].starts_with("**") { "**" } else { &left[at..at + 1] };
        let (inside, after) = left[at + mark.len()..].split_once(mark).unwrap();
        rest += &left[..at];
        match inside.chars().all(|c| c.is_ascii_digit() || " ,".contains(c)) {
            true => said.push(inside.to_owned()),
            false if mark == "**" => assert_eq!(inside, "PAR1"),
            false => {}
        }
        left = after;
    }
    rest += left;
    assert_eq!(said, facts());
    // There are no other numbers: besides link targets, they are words.
    let words = rest.split_whitespace().filter(|word| word.contains(|c: char| c.is_ascii_digit()));
    assert_eq!(words.collect::<Vec<_>>(), Vec::<&str>::new());
}

#[test]
fn values_are_those_that_are_read() {
    let mut columns = 0;
    for (column, lines) in blocks(&tour(), "values") {
        let mut reader =
            marquetry::open_bytes(wines()).unwrap().columns([column.as_str()]).batches().unwrap();
        let batch = reader.next().unwrap().unwrap();
        let options = FormatOptions::default();
        let shown = ArrayFormatter::try_new(batch.column(0), &options).unwrap();
        let found: Vec<String> = (0..lines.len()).map(|row| shown.value(row).to_string()).collect();
        assert_eq!(found, lines, "{column}");
        columns += 1;
    }
    assert_eq!(columns, 2);
}

#[test]
fn links_lead_to_what_they_name() {
    let (text, mut links) = (tour(), 0);
    for (before, after) in text.match_indices("](").map(|(at, _)| (&text[..at], &text[at + 2..])) {
        let target = after.split_once(')').unwrap().0;
        let path = root().join("docs").join(target);
        assert!(path.exists(), "{target}");
        links += 1;
        let label = before.rsplit_once('[').unwrap().1.trim_matches('`');
        let Some(code) = target.ends_with(".rs").then(|| fs::read_to_string(&path).unwrap()) else {
            continue;
        };
        // A path's last name is defined there; a module's is that of the file.
        let name = label.rsplit("::").next().unwrap();
        let is_file = path.file_stem().is_some_and(|stem| stem == name.trim_end_matches(".rs"));
        let is_defined =
            ["fn ", "struct ", "enum ", "trait "].iter().any(|kind| code.contains(&format!("{kind}{name}")));
        assert!(is_file || is_defined, "{target} does not define {name}");
    }
    assert!(links > 25, "{links}");
    for document in ["README.md", "ARCHITECTURE.md"] {
        assert!(fs::read_to_string(root().join(document)).unwrap().contains("](docs/tour.md)"), "{document}");
    }
}
