//! Reads paths of Parquet files from the standard input and takes them apart into seeds for every target.
//!
//! `find DIR -name '*.parquet' -size -20k | cargo run --example seed -- CORPUS [BYTES]`
//!
//! BYTES limits the seeds of each target: those are kept that cover most that others do not.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use marquetry::geo::{geojson, wkt};
use marquetry::variant::json;
use marquetry_arrow::schema::ARROW_SCHEMA_KEY;
use marquetry_base::{Limits, MemoryBudget, Result};
use marquetry_core::io::read_metadata;
use marquetry_core::metadata::{ColumnChunk, ParquetMetaData};
use marquetry_core::page::{ChecksumTrust, LocatedHeader, PageBuffers, PageOptions, PageReader};
use marquetry_encoding::levels::width;
use marquetry_encoding::{EncodedPage, PhysicalType, Values, bit_packed, registry, rle};
use marquetry_format::Repetition;
use marquetry_fuzz::{PHYSICAL, SCHEMAS};
use std::collections::{BTreeMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::PathBuf;
use std::sync::Arc;

fn main() -> std::io::Result<()> {
    let mut args = std::env::args().skip(1);
    let mut corpus = Corpus {
        dir: args.next().expect("a directory for the seeds").into(),
        most: args.next().map_or(usize::MAX, |bytes| bytes.parse().expect("a number of bytes")),
        seen: HashSet::new(),
        seeds: BTreeMap::new(),
    };
    for predicate in PREDICATES {
        corpus.add("predicate_text", &[predicate.as_bytes()])?;
    }
    for (text, kinds) in JSON.iter().zip(0..) {
        corpus.add("variant_json", &[text.as_bytes()])?;
        let (metadata, value) = json::parse(text).expect("JSON");
        corpus.add("variant_value", &[&[metadata.len() as u8], &metadata, &value])?;
        // Two shapes, a row, metadata of its own; then the value, and what stands beside it.
        for flags in [1, 2, 3] {
            let shapes = [kinds % 8, (kinds + 3) % 8, 0, metadata.len() as u8];
            let group = [flags, value.len() as u8];
            corpus.add(
                "shredded_variant",
                &[&shapes, &metadata, &group, &value, &[2, 0, 2, 1, 3, 0, 2, 5, 0]],
            )?;
        }
    }
    for text in GEOMETRIES {
        let wkb = wkt::parse(text).expect("a geometry");
        corpus.add("geometry", &[&wkb])?;
        corpus.add("geometry_text", &[text.as_bytes()])?;
        if let Ok(json) = geojson::to_string(&wkb) {
            corpus.add("geometry_text", &[json.as_bytes()])?;
        }
    }
    corpus.add("geometry_text", &[GEO.as_bytes()])?;
    for path in std::io::stdin().lines() {
        let file = Bytes::from(std::fs::read(path?)?);
        for target in ["file", "verify", "differential"] {
            corpus.add(target, &[&file])?;
        }
        for choice in [0, 7] {
            corpus.add("salvage", &[&[choice], &file])?;
            corpus.add("round_trip", &[&[choice], &file])?;
            corpus.add("recover", &[&[choice], &file[..file.len() - file.len().min(20)]])?;
        }
        let Ok(footer) = read_metadata(&file, &Limits::default()) else {
            continue;
        };
        let end = file.len() - 8;
        corpus.add("schema_text", &[footer.metadata.schema().to_string().as_bytes()])?;
        let stored = footer.metadata.value_of(ARROW_SCHEMA_KEY);
        if let Some(message) = stored.and_then(|text| STANDARD.decode(text.as_bytes()).ok()) {
            corpus.add("arrow_schema", &[&message])?;
        }
        corpus.add("footer", &[&file[end - footer.footer_len..end]])?;
        for (of, range) in indexes(&footer.metadata) {
            if let Some(bytes) = file.get(range.start as usize..range.end as usize) {
                corpus.add("thrift", &[&[of], bytes])?;
            }
        }
        for chunk in footer.metadata.row_groups().flat_map(|row_group| row_group.columns().take(60)) {
            // Unreadable chunks are seeds of `file` only.
            let Ok(chunk) = chunk else { continue };
            if let Err(error) = pages(&file, chunk, &mut corpus) {
                eprintln!("{error}");
            }
        }
    }
    corpus.write()
}

struct Corpus {
    dir: PathBuf,
    /// Maximum bytes of all seeds of a target.
    most: usize,
    seen: HashSet<u64>,
    seeds: BTreeMap<String, Vec<Vec<u8>>>,
}

impl Corpus {
    /// Adds a seed, unless it is too long, or a duplicate.
    fn add(&mut self, target: &str, parts: &[&[u8]]) -> std::io::Result<()> {
        let bytes = parts.concat();
        if bytes.len() <= 20_480.min(self.most) && self.seen.insert(hash(&(target, &bytes))) {
            self.seeds.entry(target.to_owned()).or_default().push(bytes);
        }
        Ok(())
    }

    fn write(self) -> std::io::Result<()> {
        let mut count = 0;
        for (target, seeds) in self.seeds {
            let dir = self.dir.join(&target);
            std::fs::create_dir_all(&dir)?;
            for seed in chosen(&target, seeds, self.most) {
                std::fs::write(dir.join(format!("{:016x}", hash(&(&target, &seed)))), seed)?;
                count += 1;
            }
        }
        println!("{count} seeds");
        Ok(())
    }
}

/// Returns all seeds, or of many those that cover most, for their length, that earlier ones do not.
fn chosen(target: &str, seeds: Vec<Vec<u8>>, most: usize) -> Vec<Vec<u8>> {
    if most == usize::MAX {
        return seeds;
    }
    let mut left: Vec<_> = seeds.into_iter().map(|seed| (traits(target, &seed), seed)).collect();
    let (mut seen, mut room, mut out) = (HashSet::new(), most, Vec::new());
    loop {
        left.retain(|(_, seed)| seed.len() <= room);
        let worth = |(traits, seed): &(HashSet<u64>, Vec<u8>)| {
            traits.difference(&seen).count() * 10_000 / (seed.len() + 100)
        };
        let best =
            left.iter().enumerate().max_by_key(|(_, seed)| worth(seed)).filter(|(_, seed)| worth(seed) > 0);
        let Some((best, _)) = best.filter(|_| out.len() < MOST_SEEDS) else { return out };
        let (traits, seed) = left.swap_remove(best);
        room -= seed.len();
        seen.extend(traits);
        out.push(seed);
    }
}

/// Many small files are a burden of their own.
const MOST_SEEDS: usize = 40;

/// Each form of a predicate once.
const PREDICATES: [&str; 12] = [
    r"a = 'x' and not (c > 5 or d is null)",
    r"a in ('abc', '', null) or c between -1 and 7",
    r"a like '%b_' and b not like 'x\\%%'",
    r"a ilike 'ABC%' or b ~* '^[a-z]+$'",
    r"a like '5!%' escape '!' or a !~ '(x|y){2,3}'",
    r"contains(a, 'b') and ends_with(b, X'0aff') and starts_with(a, 'a')",
    r"regexp_like(a, 'é') or is_nan(d) or d < inf",
    r"a < b or c >= d or a is not distinct from b",
    r"c is distinct from 5 and a is not unknown",
    r"(a, c, d) <= ('x', 1, 2.5e-3)",
    r#""a" <> 'it''s' and d != -0.0 and true"#,
    r"a = date '2024-01-31' or b > timestamp '2024-01-01 10:00:00+02:00'",
];

/// Each kind of value once, in objects and arrays of names that shapes have.
const JSON: [&str; 10] = [
    r#"{"a": 5, "b": "x", "c": [1, null, true]}"#,
    r#"{"a": {"a": {"a": 1.50, "b": false}}, "c": [[1, 300], [70000, 5000000000]]}"#,
    r#"[{"a": 12.25}, {"a": 123456789012.5}, {"a": "é"}]"#,
    r#"[1, 2.5, 1e300, -0.0, 12345678901234567890123456789012345678]"#,
    r#"{"": {}, "odd name": [], "a": [{"b": {"a": true}}]}"#,
    "\"a text that is longer than sixty-three bytes, so that it has a length of four bytes\"",
    "7",
    "null",
    "[]",
    r#"{"a": ["x", "y", null], "b": {"a": false}}"#,
];

/// Each kind of geometry once.
const GEOMETRIES: [&str; 12] = [
    "POINT (1 2)",
    "POINT EMPTY",
    "POINT ZM (1 2 3 4)",
    "LINESTRING Z (0 0 1, 1.5 -2.25 2)",
    "POLYGON ((0 0, 4 0, 4 4, 0 0), (1 1, 2 1, 2 2, 1 1))",
    "MULTIPOINT ((1 2), EMPTY, (3 4))",
    "MULTILINESTRING M ((0 0 1, 1 1 2), (2 2 3, 3 3 4))",
    "MULTIPOLYGON (((0 0, 1 0, 1 1, 0 0)), ((5 5, 6 5, 6 6, 5 5)))",
    "GEOMETRYCOLLECTION (POINT (1 2), GEOMETRYCOLLECTION (LINESTRING (0 0, 1 1)))",
    "COMPOUNDCURVE ((0 0, 1 1), CIRCULARSTRING (1 1, 2 2, 3 1))",
    "CURVEPOLYGON (CIRCULARSTRING (0 0, 1 1, 2 0, 1 -1, 0 0))",
    "TIN (((0 0, 1 0, 0 1, 0 0)))",
];
const GEO: &str = r#"{"version": "1.1.0", "primary_column": "g", "columns": {"g": {"encoding": "WKB", "crs": null,
    "geometry_types": ["Point", "Polygon Z"], "edges": "planar", "bbox": [0, 1, 2, 3], "covering": {"bbox": {"xmin": ["b", "xmin"],
    "ymin": ["b", "ymin"], "xmax": ["b", "xmax"], "ymax": ["b", "ymax"]}}}}}"#;

/// The traits that a seed covers: for a file, the properties of its columns; for others, the bytes that choose, and the
/// length.
fn traits(target: &str, seed: &[u8]) -> HashSet<u64> {
    let (file, choice) = match target {
        "file" | "verify" | "differential" => (seed, 0),
        "salvage" | "round_trip" => (&seed[1..], seed[0]),
        // These have no footer any more.
        "recover" => {
            return seed.windows(4).filter(|bytes| bytes[0] == 0x15).map(|bytes| hash(&bytes)).collect();
        }
        "arrow_schema" | "predicate_text" | "schema_text" | "footer" | "geometry_text" | "variant_json" => {
            return seed.windows(6).map(|bytes| hash(&bytes)).collect();
        }
        _ => {
            let len = seed.len().next_power_of_two();
            return (1..=4).map(|n| hash(&(&seed[..n.min(seed.len())], len))).collect();
        }
    };
    let Ok(footer) = read_metadata(&Bytes::copy_from_slice(file), &Limits::default()) else {
        return HashSet::from([hash(&file.first_chunk::<8>())]);
    };
    let chunks =
        footer.metadata.row_groups().flat_map(|row_group| row_group.columns().filter_map(Result::ok));
    let of_chunks = chunks.flat_map(|chunk| {
        let leaf = chunk.leaf();
        let shape = format!("{} {:?} {}", leaf.physical(), leaf.logical(), chunk.compression().0);
        let form = format!("{} {} {}", leaf.max_rep(), leaf.max_def(), chunk.column_index_range().is_some());
        let encodings = format!("{} {:?}", leaf.physical(), chunk.encodings());
        [hash(&shape), hash(&form), hash(&encodings)]
    });
    of_chunks.chain([hash(&footer.metadata.created_by()), hash(&choice)]).collect()
}

fn hash(of: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    of.hash(&mut hasher);
    hasher.finish()
}

fn indexes(metadata: &ParquetMetaData) -> Vec<(u8, std::ops::Range<u64>)> {
    let chunks = metadata.row_groups().flat_map(|row_group| row_group.columns().filter_map(Result::ok));
    chunks
        .flat_map(|chunk| {
            let bloom = chunk.bloom_filter_offset().map(|start| (3, start..start.saturating_add(64)));
            let column = chunk.column_index_range().map(|range| (1, range));
            let offset = chunk.offset_index_range().map(|range| (2, range));
            [bloom, column, offset].into_iter().flatten()
        })
        .collect()
}

fn pages(file: &Bytes, chunk: ColumnChunk<'_>, corpus: &mut Corpus) -> Result<()> {
    let options = PageOptions::for_writer(None)
        .with_checksum_verification(false)
        .with_trust(ChecksumTrust::Disbelieved);
    let (leaf, codec) = (chunk.leaf(), chunk.codec()?.code() as u8);
    let physical = leaf.physical();
    let form = SCHEMAS.iter().position(|path| levels(path) == (leaf.max_def(), leaf.max_rep()));
    let range = chunk.byte_range()?;
    if let (Some(form), Some(of), Some(bytes)) =
        (form, choice(&PHYSICAL, physical), file.get(range.start as usize..range.end as usize))
    {
        let [low, high] = (chunk.num_values() as u16 % 5_000).to_le_bytes();
        let text = u8::from(leaf.logical().is_some()) << 1;
        for flags in [1, 5] {
            corpus.add("page", &[&[form as u8, of, flags | text, codec, low, high, 0], bytes])?;
        }
    }
    let mut pages = PageReader::new(Arc::new(file.clone()), chunk, options, PageBuffers::default())?;
    let mut dictionary: Vec<u8> = Vec::new();
    while let Some(start) = pages.next_header()? {
        let stored = &file[start.body as usize..][..start.header.compressed_page_size as usize];
        let size = start.header.uncompressed_page_size.to_le_bytes();
        corpus.add("thrift", &[&[0], &file[start.offset as usize..start.body as usize]])?;
        corpus.add("codec", &[&[codec], &size[..3], &[0], stored])?;
        if let Some(header) = start.header.dictionary_page_header.as_ref().filter(|_| start.is_dictionary()) {
            let mut page = Vec::new();
            let len = start.header.uncompressed_page_size as usize;
            marquetry_codec::Decompressor::new().decompress(chunk.codec()?, stored, len, &mut page)?;
            let len = (page.len() as u16).to_le_bytes();
            dictionary = [&[header.num_values as u8], &len[..], &page].concat();
        } else if start.is_data() {
            data_page(&mut pages, &start, chunk, &dictionary, corpus)?;
        }
    }
    Ok(())
}

fn data_page(
    pages: &mut PageReader,
    start: &LocatedHeader,
    chunk: ColumnChunk<'_>,
    dictionary: &[u8],
    corpus: &mut Corpus,
) -> Result<()> {
    let (leaf, physical) = (chunk.leaf(), chunk.leaf().physical());
    let mut page = pages.data(start, leaf.max_rep(), leaf.max_def())?;
    let mut levels = Vec::new();
    page.def.decode(page.num_values, &mut levels)?;
    in_all_levels(leaf.max_def(), &levels, corpus)?;
    let n = levels.iter().filter(|&&level| level == leaf.max_def()).count();
    let row = registry::find(page.encoding).expect("a page that was read");
    let legal: Vec<_> = PHYSICAL.into_iter().filter(|physical| (row.supports)(*physical)).collect();
    let Some(of) = choice(&legal, physical) else {
        return Ok(());
    };
    let mut decoded = physical.shape().empty();
    let memory = MemoryBudget::default();
    let encoded = EncodedPage {
        bytes: page.values.clone(),
        max_values: page.max_values,
        physical,
        dictionary: None,
        memory,
    };
    if n < 500 && (row.decoder)(&encoded).and_then(|mut decoder| decoder.decode(n, &mut decoded)).is_ok() {
        in_all_encodings(physical, &decoded, corpus)?;
    }
    let [low, high] = (n as u16 % 5_000).to_le_bytes();
    let choices = [of, low, high, 0, 7];
    let values = page.values.as_slice();
    let target = row.name.to_lowercase();
    match row.code {
        2 | 8 => corpus.add("dictionary", &[&choices, dictionary, values])?,
        3 => corpus.add("rle", &[&[0], &choices, values])?,
        _ => corpus.add(&target, &[&choices, values])?,
    }
    Ok(())
}

/// Definition levels, as they are encoded and as they were once; as indices, too.
fn in_all_levels(max: u8, levels: &[u8], corpus: &mut Corpus) -> Result<()> {
    let wide: Vec<u32> = levels.iter().map(|&level| u32::from(level)).collect();
    let [low, high] = (levels.len() as u16 % 5_000).to_le_bytes();
    let runs = rle::encode(&wide, width(max));
    let len = (runs.len() as u32).to_le_bytes();
    corpus.add("rle", &[&[1, width(max) as u8, low, high, 7], &runs])?;
    corpus.add("rle", &[&[2, max, low, high, 7], &len, &runs])?;
    if max > 0 {
        corpus.add("bit_packed", &[&[max, low, high, 7], &bit_packed::encode(&wide, width(max))?])?;
    }
    Ok(())
}

/// Encodes the values of real files in encodings that these hardly have.
fn in_all_encodings(physical: PhysicalType, values: &Values, corpus: &mut Corpus) -> Result<()> {
    for row in
        registry::ENCODINGS.iter().filter(|row| row.code > 3 && row.code != 8 && (row.supports)(physical))
    {
        let legal: Vec<_> = PHYSICAL.into_iter().filter(|physical| (row.supports)(*physical)).collect();
        let Some(of) = choice(&legal, physical) else {
            continue;
        };
        let (mut encoder, mut page) = ((row.encoder)(physical)?, Vec::new());
        encoder.encode(values, 0..values.len())?;
        encoder.finish(&mut page)?;
        let [low, high] = (values.len() as u16).to_le_bytes();
        corpus.add(&row.name.to_lowercase(), &[&[of, low, high, 0, 7], &page])?;
    }
    Ok(())
}

fn choice(choices: &[PhysicalType], physical: PhysicalType) -> Option<u8> {
    choices.iter().position(|choice| *choice == physical).map(|i| i as u8)
}

/// The largest definition and repetition level.
fn levels(path: &[Repetition]) -> (u8, u8) {
    let count = |is: fn(Repetition) -> bool| path.iter().filter(|&&repetition| is(repetition)).count() as u8;
    (
        count(|repetition| repetition != Repetition::REQUIRED),
        count(|repetition| repetition == Repetition::REPEATED),
    )
}
