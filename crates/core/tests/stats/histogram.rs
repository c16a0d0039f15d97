//! Histograms of levels, and which of them are written.

use marquetry_core::statistics::LevelHistogram;
use marquetry_encoding::Bitmap;
use marquetry_format::SizeStatistics;
use proptest::prelude::*;

#[test]
fn all_three_forms_of_definition_levels_count() {
    let mut counts = LevelHistogram::new(1, 0);
    let mut bits = Bitmap::new();
    [true, false, true, true, false].iter().for_each(|bit| bits.push(*bit));
    counts.add_def_bits(&bits, 1..5);
    counts.add_def_max(10);
    counts.add_def_levels(&[0, 1, 0]);
    assert_eq!(counts.def(), [4, 13]);
    assert_eq!((counts.entries(), counts.values(), counts.nulls()), (17, 13, 4));
}

#[test]
fn histograms_may_be_omitted_without_loss() {
    let written = |max_def, max_rep| {
        let counts = LevelHistogram::new(max_def, max_rep);
        (counts.written_def().is_some(), counts.written_rep().is_some())
    };
    assert_eq!(written(0, 0), (false, false));
    assert_eq!(written(1, 0), (false, false));
    assert_eq!(written(2, 0), (true, false));
    assert_eq!(written(1, 1), (false, true));
    assert_eq!(written(3, 1), (true, true));
}

#[test]
fn size_statistics_have_what_there_is() {
    let mut flat = LevelHistogram::new(1, 0);
    flat.add_def_max(3);
    assert_eq!(flat.size_statistics(None), None);
    let sizes = SizeStatistics { unencoded_byte_array_data_bytes: Some(7), ..SizeStatistics::default() };
    assert_eq!(flat.size_statistics(Some(7)), Some(sizes));
    let mut nested = LevelHistogram::new(2, 1);
    nested.add_def_levels(&[0, 1, 2, 2]);
    nested.add_rep_levels(&[0, 0, 0, 1]);
    let sizes = nested.size_statistics(None).unwrap();
    assert_eq!(sizes.definition_level_histogram, Some(vec![1, 1, 2]));
    assert_eq!(sizes.repetition_level_histogram, Some(vec![3, 1]));
    assert_eq!((nested.rows(), nested.entries()), (3, 4));
    nested.clear();
    assert_eq!((nested.def(), nested.rep()), (&[0, 0, 0][..], &[0, 0][..]));
}

proptest! {
    #[test]
    fn levels_are_counted(max: u8, levels in proptest::collection::vec(any::<u8>(), 0..1000), cut: prop::sample::Index) {
        let max = max.min(250);
        let levels: Vec<u8> = levels.iter().map(|level| (u16::from(*level) % (u16::from(max) + 1)) as u8).collect();
        let mut expected = vec![0; usize::from(max) + 1];
        levels.iter().for_each(|level| expected[usize::from(*level)] += 1);
        let (front, back) = levels.split_at(cut.index(levels.len() + 1));
        let (mut counts, mut others) = (LevelHistogram::new(max, max), LevelHistogram::new(max, max));
        counts.add_def_levels(front);
        counts.add_rep_levels(back);
        others.add_rep_levels(front);
        others.add_def_levels(back);
        counts.merge(&others);
        prop_assert_eq!(counts.def(), &expected[..]);
        prop_assert_eq!(counts.rep(), &expected[..]);
    }
}
