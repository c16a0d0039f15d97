use super::*;

fn bits(bits: &[u8]) -> Bitmap {
    bits.iter().map(|&bit| bit == 1).collect()
}

fn optional(above: &LevelBuilder, valid: Option<&[u8]>) -> LevelBuilder {
    let mut out = LevelBuilder::default();
    above.optional(valid.map(bits).as_ref(), &mut out);
    out
}

fn repeated(above: &LevelBuilder, offsets: &[usize]) -> LevelBuilder {
    let mut out = LevelBuilder::default();
    above.repeated(|i| offsets[i]..offsets[i + 1], &mut out);
    out
}

fn leaf(above: &LevelBuilder, nullable: bool, valid: Option<&[u8]>) -> ShreddedColumn {
    let mut out = ShreddedColumn {
        rows: 0,
        entries: 0,
        def: DefinitionLevels::Levels(vec![9]),
        rep: vec![9],
        values: ColumnValues::Values(Values::W32(Vec::new())),
    };
    above.leaf(nullable, valid.map(bits), &mut out);
    out
}

#[test]
fn the_drawing_of_the_module() {
    // list<int>: [1, 2], null, [], [3]; the null list has elements in the array.
    let rows = LevelBuilder::rows(0..4);
    let lists = optional(&rows, Some(&[1, 0, 1, 1]));
    let elements = repeated(&lists, &[0, 2, 5, 5, 6]);
    assert_eq!(elements.slots().ranges(), [0..2, 5..6]);
    let leaf = leaf(&elements, true, None);
    assert_eq!(leaf.rep, [0, 1, 0, 0, 0]);
    assert_eq!(leaf.def, DefinitionLevels::Levels(vec![3, 3, 0, 1, 3]));
    assert_eq!((leaf.rows, leaf.entries), (4, 5));
    assert_eq!([0, 1, 2].map(|n| elements.row(n)), [0, 0, 3]);
}

#[test]
fn flat_columns_have_the_cheapest_levels() {
    let rows = LevelBuilder::rows(2..5);
    assert_eq!(leaf(&rows, false, None).def, DefinitionLevels::Max);
    assert_eq!(leaf(&rows, true, None).def, DefinitionLevels::Max);
    assert_eq!(leaf(&rows, true, Some(&[1, 0, 1])).def, DefinitionLevels::Bitmap(bits(&[1, 0, 1])));
    assert!(leaf(&rows, true, None).rep.is_empty());
    // Required in an optional struct: the maximum level is still 1.
    let structs = optional(&rows, Some(&[0, 1, 1]));
    assert_eq!(structs.slots(), &SlotRanges::new(3..5));
    assert_eq!(leaf(&structs, false, None).def, DefinitionLevels::Bitmap(bits(&[0, 1, 1])));
    assert_eq!(leaf(&structs, true, Some(&[1, 0])).def, DefinitionLevels::Levels(vec![0, 2, 1]));
}

#[test]
fn a_leaf_that_is_nowhere_needs_no_bits() {
    let rows = LevelBuilder::rows(2..5);
    let structs = [optional(&rows, Some(&[0, 1, 1])), optional(&rows, None), rows];
    for (above, live) in structs.iter().zip([2, 3, 3]) {
        let expected = leaf(above, true, Some(&[0; 3][..live]));
        let mut found = leaf(above, true, None);
        above.null_leaf(&mut found);
        match found.def {
            DefinitionLevels::Null => assert_eq!(expected.def, DefinitionLevels::Bitmap(bits(&[0, 0, 0]))),
            _ => assert_eq!(found, expected),
        }
    }
}

#[test]
fn required_lists_of_required_elements() {
    let rows = LevelBuilder::rows(0..3);
    let elements = repeated(&rows, &[0, 2, 2, 3]);
    assert_eq!(leaf(&elements, false, None).def, DefinitionLevels::Bitmap(bits(&[1, 1, 0, 1])));
    let elements = repeated(&rows, &[0, 2, 3, 4]);
    assert_eq!(leaf(&elements, false, None).def, DefinitionLevels::Max);
    assert_eq!(leaf(&elements, false, None).rep, [0, 1, 0, 0]);
}

#[test]
fn lists_in_lists() {
    // [[1], []], [], [null, [2, 3]]   def: 0 empty outer, 1 null inner, 2 empty inner, 3 value
    let rows = LevelBuilder::rows(0..3);
    let inner = repeated(&rows, &[0, 2, 2, 4]);
    let inner = optional(&inner, Some(&[1, 1, 0, 1]));
    let values = repeated(&inner, &[0, 1, 1, 1, 3]);
    let leaf = leaf(&values, false, None);
    assert_eq!(leaf.rep, [0, 1, 0, 0, 1, 2]);
    assert_eq!(leaf.def, DefinitionLevels::Levels(vec![3, 2, 0, 1, 3, 3]));
    assert_eq!(values.slots(), &SlotRanges::new(0..3));
}

#[test]
fn levels_of_many_bits() {
    for n in [0, 1, 7, 8, 63, 64, 65, 200] {
        let bits: Bitmap = (0..n).map(|i| i * 7 % 5 < 2).collect();
        let mut levels = vec![9];
        push_levels(&bits, 5, &mut levels);
        let expected: Vec<u8> = (0..n).map(|i| 5 + u8::from(bits.get(i))).collect();
        assert_eq!(levels[1..], expected);
        let mut kept = SlotRanges::default();
        SlotRanges::new(3..3 + n).keep(&bits, &mut kept);
        let slots: Vec<usize> = kept.ranges().iter().cloned().flatten().collect();
        assert_eq!(slots, (0..n).filter(|&i| bits.get(i)).map(|i| i + 3).collect::<Vec<_>>());
        assert!(kept.ranges().windows(2).all(|pair| pair[0].end < pair[1].start));
        assert_eq!(kept.nth(slots.len()), None);
        assert_eq!((0..slots.len()).filter_map(|i| kept.nth(i)).collect::<Vec<_>>(), slots);
    }
}
