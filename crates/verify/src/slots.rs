//! Columns side by side: the values of several leaves below a field, by the slots that they share.

use crate::context::VerifyContext;
use marquetry_base::Result;
use marquetry_core::nesting::{FieldKind, NestedField};
use marquetry_core::read::{ColumnBatch, ColumnReader, ReadTarget, ValueLayout};
use marquetry_encoding::{Bitmap, StringViews, Values};
use std::collections::BTreeMap;

/// Reads all leaves below `field`, which is `root` or below it, block by block. Passes each block to `look`, which
/// returns whether to go on.
pub(crate) fn read_slots(
    file: &VerifyContext,
    row_group: usize,
    root: &NestedField,
    field: &NestedField,
    look: impl FnMut(&BTreeMap<usize, ColumnBatch>) -> Result<bool>,
) -> Result<()> {
    let mut leaves = Vec::new();
    leaves_of(field, &mut leaves);
    let leaves: Vec<_> = leaves.into_iter().map(|leaf| (root, leaf)).collect();
    read_leaves(file, row_group, &leaves, look)
}

/// Does the same for leaves with their roots, which are not repeated, or all below one field.
pub(crate) fn read_leaves(
    file: &VerifyContext,
    row_group: usize,
    leaves: &[(&NestedField, usize)],
    mut look: impl FnMut(&BTreeMap<usize, ColumnBatch>) -> Result<bool>,
) -> Result<()> {
    let readers = leaves.iter().map(|(root, leaf)| (*leaf, reader(file, row_group, root, *leaf)));
    let mut readers: BTreeMap<usize, ColumnReader> = readers.collect();
    let mut left = usize::try_from(file.metadata.row_group(row_group).num_rows()).unwrap_or(usize::MAX);
    while left > 0 {
        file.limits.cancel.check()?;
        let rows = left.min(ROWS_PER_BATCH);
        let batches = readers.iter_mut().map(|(leaf, reader)| Ok((*leaf, reader.read(rows)?)));
        if !look(&batches.collect::<Result<_>>()?)? {
            return Ok(());
        }
        left -= rows;
    }
    Ok(())
}

fn reader(file: &VerifyContext, row_group: usize, root: &NestedField, leaf: usize) -> ColumnReader {
    let target = ReadTarget::new(file.leaf(leaf), root, leaf, ValueLayout::Native);
    let target = ReadTarget { is_text: false, ..target };
    let (source, metadata) = (file.source.clone(), file.metadata.clone());
    ColumnReader::new(source, metadata, &[row_group], leaf, target, file.page_options())
}

/// Returns the field of this name.
pub(crate) fn child<'a>(fields: &'a [NestedField], name: &str) -> Option<&'a NestedField> {
    fields.iter().find(|field| *field.name == *name)
}

fn leaves_of(field: &NestedField, out: &mut Vec<usize>) {
    match &field.kind {
        FieldKind::Leaf(leaf) => out.push(*leaf),
        FieldKind::Struct(fields) => fields.iter().for_each(|field| leaves_of(field, out)),
        FieldKind::List(child) | FieldKind::Map(child) => leaves_of(child, out),
    }
}

/// A column of byte strings, by slot.
pub(crate) struct BytesColumn<'a> {
    pub(crate) views: &'a StringViews,
    validity: Option<&'a Bitmap>,
}

impl<'a> BytesColumn<'a> {
    pub(crate) fn get(&self, slot: usize) -> Option<&'a [u8]> {
        let is_there = slot < self.views.len() && is_valid(self.validity, slot);
        is_there.then(|| self.views.get(slot))
    }
}

pub(crate) fn bytes(batches: &BTreeMap<usize, ColumnBatch>, leaf: usize) -> Option<BytesColumn<'_>> {
    let batch = batches.get(&leaf)?;
    let Values::Bytes(views) = &batch.values else { return None };
    Some(BytesColumn { views, validity: batch.validity.as_ref() })
}

/// Whether a slot has a value. Columns whose levels disagree, which other rules report, may have fewer slots.
pub(crate) fn is_valid(validity: Option<&Bitmap>, slot: usize) -> bool {
    validity.is_none_or(|validity| slot < validity.len() && validity.get(slot))
}

/// Returns the batch that has the levels of a field: that of the first column below it.
pub(crate) fn levels<'a>(
    field: &NestedField,
    batches: &'a BTreeMap<usize, ColumnBatch>,
) -> Option<&'a ColumnBatch> {
    let mut leaves = Vec::new();
    leaves_of(field, &mut leaves);
    batches.get(leaves.first()?)
}

/// Number of rows that are read at a time.
const ROWS_PER_BATCH: usize = 1024;
