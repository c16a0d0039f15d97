//! Selections against lists of booleans.

use super::*;
use proptest::prelude::*;

/// What a selection is made of.
#[derive(Debug, Clone)]
enum Piece {
    Run(bool, u64),
    Bitmap(Vec<bool>),
}

fn pieces() -> impl Strategy<Value = Vec<Piece>> {
    let run = (any::<bool>(), 0u64..200).prop_map(|(wanted, rows)| Piece::Run(wanted, rows));
    let bits = prop::collection::vec(prop::bool::weighted(0.3), 0..150).prop_map(Piece::Bitmap);
    prop::collection::vec(prop_oneof![run, bits], 0..6)
}

fn selection(pieces: &[Piece]) -> (RowMask, Vec<bool>) {
    let (mut selection, mut rows) = (RowMask::new(), Vec::new());
    for piece in pieces {
        match piece {
            Piece::Run(wanted, n) => {
                selection.push_run(*wanted, *n);
                rows.resize(rows.len() + *n as usize, *wanted);
            }
            Piece::Bitmap(bits) => {
                selection.push_bits(bits.iter().copied().collect());
                rows.extend(bits);
            }
        }
    }
    (selection, rows)
}

fn blocks(selection: &RowMask, size: usize) -> impl Iterator<Item = Block> {
    let mut cursor = Cursor::default();
    std::iter::from_fn(move || selection.next_block(&mut cursor, size))
}

fn rows_of(selection: &RowMask) -> Vec<bool> {
    let mut rows = vec![false; selection.rows() as usize];
    let mut end = None;
    for run in selection.runs() {
        assert!(run.start < run.end && end.is_none_or(|end| run.start > end), "{run:?} after {end:?}");
        rows[run.start as usize..run.end as usize].fill(true);
        end = Some(run.end);
    }
    assert_eq!(selection.selected() as usize, rows.iter().filter(|row| **row).count());
    rows
}

proptest! {
    #[test]
    fn as_lists_of_booleans(a in pieces(), b in pieces(), n in 0u64..300, m in 0u64..300, size in 1usize..200) {
        let ((a, rows), (b, others)) = (selection(&a), selection(&b));
        prop_assert_eq!(&rows_of(&a), &rows);
        let part = n.min(m)..n.max(m);
        let expected: Vec<bool> = rows.iter().copied().take(part.end as usize).skip(part.start as usize).collect();
        prop_assert_eq!(rows_of(&a.slice(part)), expected);
        for (ours, op) in [(a.and(&b), (|x, y| x && y) as fn(bool, bool) -> bool), (a.or(&b), |x, y| x || y)] {
            let expected = (0..rows.len().max(others.len())).map(|i| match (rows.get(i), others.get(i)) {
                (Some(&x), Some(&y)) => op(x, y),
                (x, y) => *x.or(y).unwrap(),
            });
            prop_assert_eq!(rows_of(&ours), expected.collect::<Vec<_>>());
        }
        let mut of_selected = others.iter();
        let expected = rows.iter().map(|row| *row && of_selected.next().copied().unwrap_or(false));
        prop_assert_eq!(rows_of(&a.refine(&b)), expected.collect::<Vec<_>>());
        let mut number = 0;
        let mut numbered = |row: bool| { number += u64::from(row); if row { number } else { 0 } };
        let numbers: Vec<u64> = rows.iter().map(|row| numbered(*row)).collect();
        prop_assert_eq!(rows_of(&a.offset(n)), numbers.iter().map(|i| *i > n).collect::<Vec<_>>());
        prop_assert_eq!(rows_of(&a.limit(n)), numbers.iter().map(|i| *i > 0 && *i <= n).collect::<Vec<_>>());

        let mut seen = vec![false; rows.len()];
        let mut end = 0;
        for block in blocks(&a, size) {
            prop_assert!(block.rows > 0 && block.rows <= size && block.start >= end);
            end = block.start + block.rows as u64;
            prop_assert!(block.keep.as_ref().is_none_or(|keep| keep.len() == block.rows));
            let kept = |i| block.keep.as_ref().is_none_or(|keep| keep.get(i));
            prop_assert!(kept(0) && kept(block.rows - 1));
            (0..block.rows).for_each(|i| seen[block.start as usize + i] = kept(i));
        }
        prop_assert_eq!(seen, rows);
    }

    #[test]
    fn bits(all in prop::collection::vec(prop::bool::weighted(0.6), 0..300), cut in 0usize..300) {
        let bits: Bitmap = all.iter().copied().collect();
        let range = cut.min(all.len())..all.len();
        let found: Vec<Range<usize>> = runs(&bits, range.clone()).collect();
        prop_assert_eq!(count_runs(&bits, range.clone()), found.len());
        let set: Vec<usize> = found.into_iter().flatten().collect();
        prop_assert_eq!(set, range.filter(|&i| all[i]).collect::<Vec<_>>());
        let of_ones: Bitmap = all.iter().enumerate().filter(|(_, one)| **one).map(|(i, _)| i % 3 == 0).collect();
        let expected: Bitmap = all.iter().enumerate().map(|(i, one)| *one && i % 3 == 0).collect();
        prop_assert_eq!(refine_bits(&bits, &of_ones), expected);
    }
}

#[test]
fn rows_that_are_only_claimed_take_no_memory() {
    let selection = RowMask::from_ranges(&[5..7, 6..9, u64::MAX - 3..u64::MAX - 1], u64::MAX);
    assert_eq!(selection.selected(), 6);
    assert_eq!(selection.runs().collect::<Vec<_>>(), [5..9, u64::MAX - 3..u64::MAX - 1]);
    let starts: Vec<u64> = blocks(&selection, 100).map(|block| block.start).collect();
    assert_eq!(starts, [5, u64::MAX - 3]);
}
