//! Any column, in any blocks, with any settings.

use crate::check::{Truth, check};
use crate::chunk::data::{cell, values};
use crate::chunk::file::{Reading, reader};
use crate::sample::Sample;
use bytes::Bytes;
use marquetry_base::Limits;
use marquetry_core::io::read_metadata;
use marquetry_core::read::ColumnBatch;
use marquetry_core::sort_order::SortOrder;
use marquetry_core::write::Workspace;
use proptest::prelude::*;
use std::sync::Arc;

fn check_file(sample: &Sample, file: &Bytes) {
    let metadata = read_metadata(file, &Limits::default()).unwrap().metadata;
    let (order, _) = SortOrder::for_writing(&sample.leaf, sample.settings.total_order);
    let rows: usize = sample.row_groups.iter().map(Vec::len).sum();
    let mut slots = Vec::new();
    let mut reps = Vec::new();
    for (i, data) in sample.row_groups.iter().enumerate() {
        let shredded = sample.node.shred(data).remove(0);
        let truth = Truth {
            physical: sample.physical,
            max_def: sample.leaf.max_def(),
            max_rep: sample.leaf.max_rep(),
            def: &shredded.def,
            rep: &shredded.rep,
            values: &values(sample.physical, &shredded.words),
            settings: &sample.settings,
            order,
        };
        check(file, metadata.row_group(i).column(0).unwrap(), &truth);
        data.iter().for_each(|datum| sample.node.slots(Some(datum), &mut slots));
        reps.extend(shredded.rep);
    }
    let batch = reader(Arc::new(file.clone()), &Reading::default()).read(rows).unwrap();
    assert_eq!(batch.entries, reps.len());
    assert!(sample.leaf.max_rep() == 0 || *batch.rep.as_slice().to_bytes() == reps[..]);
    let bytes = |word| cell(&values(sample.physical, &[word]), 0);
    let expected: Vec<Option<Vec<u8>>> = slots.into_iter().map(|word| word.map(bytes)).collect();
    assert_eq!(slots_of(&batch), expected);
}

fn slots_of(batch: &ColumnBatch) -> Vec<Option<Vec<u8>>> {
    let is_valid = |i| batch.validity.as_ref().is_none_or(|bits| bits.get(i));
    (0..batch.values.len()).map(|i| is_valid(i).then(|| cell(&batch.values, i))).collect()
}

fn check_all(sample: &Sample, spill: Option<usize>) {
    let mut workspace = Workspace::new();
    let file = sample.write(None, &mut workspace);
    check_file(sample, &file);
    assert!(
        file == sample.write(None, &mut workspace),
        "what a workspace was used for before makes no difference"
    );
    if spill.is_some() {
        check_file(sample, &sample.write(spill, &mut workspace));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, max_shrink_iters: 0, ..ProptestConfig::default() })]

    #[test]
    fn any_column_is_read_as_it_was(seed in any::<u64>(), spill in prop::option::of(1usize..20)) {
        check_all(&Sample::nested(seed), spill);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, failure_persistence: None, max_shrink_iters: 0, ..ProptestConfig::default() })]

    /// Dictionaries are looked at again, and given up in the middle.
    #[test]
    fn long_columns_are_read_as_they_were(seed in any::<u64>(), spill in 1usize..20) {
        check_all(&Sample::long(seed), Some(spill));
    }
}
