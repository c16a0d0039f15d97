//! Random keys on screens of random sizes: nothing panics, whatever the file.

use crate::driven::{Driven, corpus, example};
use marquetry_dive::{Input, Key};
use proptest::prelude::*;
use std::path::PathBuf;

fn input() -> impl Strategy<Value = Input> {
    let keys = "⏎⏎⏎⎋jjkhlgGnNsxvyctteof/:@19a =".chars().collect::<Vec<_>>();
    prop_oneof![
        12 => prop::sample::select(keys).prop_map(|key| Input::Key(match key {
            '⏎' => Key::Enter,
            '⎋' => Key::Escape,
            other => Key::Char(other),
        })),
        1 => prop::sample::select(vec![Key::PageUp, Key::PageDown, Key::Home, Key::End, Key::Backspace]).prop_map(Input::Key),
        1 => (0u16..100, 0u16..30).prop_map(|(x, y)| Input::Click(x, y)),
        1 => (-3i32..4).prop_map(Input::Wheel),
    ]
}

fn files() -> Vec<PathBuf> {
    let Some(corpus) = corpus() else { return Vec::new() };
    let mut files = Vec::new();
    for folder in ["parquet-testing/data", "parquet-testing/bad_data", "parquet-testing/shredded_variant"] {
        let found =
            std::fs::read_dir(corpus.join(folder)).into_iter().flatten().map(|entry| entry.unwrap().path());
        files.extend(
            found.filter(|path| path.metadata().is_ok_and(|file| file.is_file() && file.len() < 1 << 20)),
        );
    }
    files.sort();
    files
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn nothing_panics(
        file in any::<prop::sample::Index>(),
        inputs in prop::collection::vec((input(), 1u16..120, 1u16..40), 1..40),
    ) {
        let files = files();
        let mut dive = match files.is_empty() {
            true => example("wines.parquet"),
            false => Driven::open(file.get::<PathBuf>(&files)).unwrap_or_else(|| example("wines.parquet")),
        };
        for (input, width, height) in inputs {
            dive.0.input(input);
            let text = dive.text(width, height);
            prop_assert_eq!(text.lines().count(), usize::from(height));
            prop_assert!(!text.chars().any(|c| marquetry_base::steers_terminal(c) && c != '\n'), "{}", text);
        }
    }
}

#[test]
fn a_screen_of_one_cell() {
    let mut dive = example("wines.parquet");
    for keys in ["⏎", "⎋j⏎", "⏎", "⏎", "⏎", "⏎", "v", "x", "?"] {
        dive.press(keys);
        assert_eq!(dive.text(1, 1).lines().count(), 1);
        assert_eq!(dive.text(0, 0), "");
    }
}
