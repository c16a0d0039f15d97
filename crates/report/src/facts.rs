//! The facts about a file that the script of the page draws.
//!
//! The bytes in the page are deflated: the length of a JSON text in four bytes, the text, and the [planes](crate::planes) that it names.

use crate::planes::Planes;
use crate::report_options::ReportOptions;
use crate::reported_file::ReportedFile;
use crate::skipped_rows::SkippedRows;
use flate2::Compression;
use flate2::write::ZlibEncoder;
use marquetry_base::{Error, Printable, Result};
use marquetry_core::metadata::ParquetMetaData;
use marquetry_core::prune::RowGroupMatch;
use marquetry_format::Encoding;
use marquetry_inspect::{ColumnBounds, FilePart, PageFacts, PartKind, column_bounds};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::io::Write;

/// Returns the deflated bytes.
pub(crate) fn facts(file: &ReportedFile, options: &ReportOptions) -> Result<Vec<u8>> {
    let metadata = file.metadata.metadata();
    let bounds = column_bounds(&file.metadata)?;
    let mut planes = Planes::default();
    let encodings = encodings(file.layout.parts.iter().filter_map(|part| part.page.as_ref()?.encoding));
    add_parts(&mut planes, &file.layout.parts, &encodings);
    let all = || bounds.iter().flat_map(|bounds| &bounds.places);
    planes.places("least", all().map(|place| place.map(|place| place.0)));
    planes.places("greatest", all().map(|place| place.map(|place| place.1)));
    let (names, numbers) = planes.finish();
    let facts = json!({
        "size": file.layout.size,
        "kinds": PartKind::ALL.map(PartKind::name),
        "encodings": encodings.iter().map(Encoding::to_string).collect::<Vec<_>>(),
        "groups": groups(metadata, file.skipped.as_ref()),
        "columns": columns(metadata, &bounds, options),
        "predicate": file.skipped.as_ref().map(|skipped| Printable(&skipped.predicate).to_string()),
        "planes": names,
    });
    let facts = facts.to_string();
    let len = u32::try_from(facts.len()).map_err(|_| Error::unsupported("a file with so many columns"))?;
    let mut deflated = ZlibEncoder::new(Vec::new(), Compression::new(6));
    let written = deflated.write_all(&len.to_le_bytes());
    let written = written.and_then(|()| deflated.write_all(facts.as_bytes()));
    let written = written.and_then(|()| deflated.write_all(&numbers));
    written.and_then(|()| deflated.finish()).map_err(|error| Error::io("cannot deflate", error))
}

/// Returns the distinct encodings of pages. Each page of a hostile file may have another number: encodings beyond the
/// limit are shown as none.
fn encodings(of_pages: impl Iterator<Item = Encoding>) -> Vec<Encoding> {
    let mut found = Vec::new();
    for encoding in of_pages {
        if found.len() < MOST_ENCODINGS && !found.contains(&encoding) {
            found.push(encoding);
        }
    }
    found
}

fn add_parts(planes: &mut Planes, parts: &[FilePart], encodings: &[Encoding]) {
    let encoding = |page: &PageFacts| {
        let place = encodings.iter().position(|known| Some(*known) == page.encoding)?;
        u8::try_from(place).ok()
    };
    let page = |fact: fn(&PageFacts) -> Option<u64>| {
        parts.iter().map(move |part| part.page.as_ref().and_then(fact)).collect::<Vec<_>>()
    };
    let kind = |part: &FilePart| PartKind::ALL.iter().position(|kind| *kind == part.kind).unwrap_or(0) as u8;
    planes.u64("start", parts.iter().map(|part| part.range.start));
    planes.u64("end", parts.iter().map(|part| part.range.end));
    planes.u8("kind", parts.iter().map(kind));
    planes.u32("group", parts.iter().map(|part| part.chunk.map(|(group, _)| group as u64)));
    planes.u32("column", parts.iter().map(|part| part.chunk.map(|(_, column)| column as u64)));
    planes.u32("page", page(|page| Some(page.index as u64)));
    planes.u32("header", page(|page| Some(page.header_len)));
    planes.u32("uncompressed", page(|page| Some(page.uncompressed_len)));
    planes.u32("values", page(|page| Some(page.values)));
    planes.u32("first_row", page(|page| page.first_row));
    planes.u32("rows", page(|page| page.rows));
    planes.u32("nulls", page(|page| page.nulls));
    let encodings = parts.iter().map(|part| part.page.as_ref().and_then(encoding).unwrap_or(u8::MAX));
    planes.u8("encoding", encodings);
    let flags = parts.iter().map(|part| {
        part.page.as_ref().map_or(0, |page| u8::from(page.is_v2) | u8::from(page.has_checksum) << 1)
    });
    planes.u8("flags", flags);
}

fn groups(metadata: &ParquetMetaData, skipped: Option<&SkippedRows>) -> Vec<Value> {
    let kept = |group: usize| {
        let skipped = skipped?;
        Some(match &skipped.kept[group] {
            RowGroupMatch::None => json!([]),
            RowGroupMatch::All => json!([[0, metadata.row_group(group).num_rows()]]),
            RowGroupMatch::Some(ranges) => {
                ranges.iter().map(|range| json!([range.start, range.end])).collect()
            }
        })
    };
    let by = |group: usize| skipped.and_then(|skipped| skipped.by[group]);
    let groups = metadata
        .row_groups()
        .map(|group| json!({"rows": group.num_rows(), "kept": kept(group.index()), "by": by(group.index())}));
    groups.collect()
}

fn columns(metadata: &ParquetMetaData, bounds: &[ColumnBounds], options: &ReportOptions) -> Vec<Value> {
    let leaves = metadata.schema().columns();
    // The texts of very many chunks would make the page too large.
    let has_texts = options.values && leaves.len() * metadata.num_row_groups() <= MOST_TEXTS;
    let column = |(column, leaf): (usize, &marquetry_core::schema::Leaf)| {
        let (mut compressed, mut uncompressed, mut values) = (0u64, 0u64, 0u64);
        let (mut nulls, mut codecs, mut encodings) = (Some(0u64), BTreeSet::new(), BTreeSet::new());
        for chunk in metadata.row_groups().filter_map(|group| group.column(column).ok()) {
            let size = |size: i64| u64::try_from(size).unwrap_or(0);
            compressed = compressed.saturating_add(size(chunk.compressed_size()));
            uncompressed = uncompressed.saturating_add(size(chunk.uncompressed_size()));
            values = values.saturating_add(size(chunk.num_values()));
            let of_chunk = chunk.statistics().and_then(|statistics| statistics.null_count).map(size);
            nulls = nulls.zip(of_chunk).map(|(sum, nulls)| sum.saturating_add(nulls));
            codecs.insert(chunk.compression().to_string());
            encodings.extend(chunk.encodings().into_iter().map(|encoding| encoding.to_string()));
        }
        let bounds = &bounds[column];
        let texts =
            || bounds.texts.iter().map(|texts| texts.as_ref().map(|(a, b)| [shortened(a), shortened(b)]));
        json!({
            "name": Printable(leaf.dotted()).to_string(),
            "type": leaf.logical().map_or_else(|| leaf.physical().to_string(), |logical| logical.to_string()),
            "physical": leaf.physical().to_string(),
            "compressed": compressed,
            "uncompressed": uncompressed,
            "values": values,
            "nulls": nulls,
            "codecs": codecs,
            "encodings": encodings,
            "depth": bounds.depth,
            "ascending": bounds.is_ascending,
            "bounds": has_texts.then(|| texts().collect::<Vec<_>>()),
        })
    };
    leaves.iter().enumerate().map(column).collect()
}

/// Truncates a text, and shows characters that would change the order of letters by their number.
fn shortened(text: &str) -> String {
    let text = &Printable(text).to_string();
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// As many as fit in a byte, less one value for none.
const MOST_ENCODINGS: usize = u8::MAX as usize;
/// Maximum characters of a bound that are shown.
const LONGEST: usize = 40;
/// Maximum number of chunks whose bounds are shown as text.
const MOST_TEXTS: usize = 20_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_that_all_have_other_encodings_cost_no_more() {
        assert_eq!(encodings([8, 0, 8, 3, 0].map(Encoding).into_iter()), [8, 0, 3].map(Encoding));
        assert_eq!(encodings((0..1_000_000).map(Encoding)).len(), MOST_ENCODINGS);
    }
}
