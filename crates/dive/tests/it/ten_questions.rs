//! The questions of `docs/dive.md` are answered by the keys that it names.
//!
//! `MARQUETRY_WRITE=1 cargo test -p marquetry-dive --test it ten_questions` writes the screens beside it anew.

use crate::driven::example;
use std::fmt::Write;
use std::path::Path;

#[test]
fn each_answer_stands_where_the_page_says() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    let page = std::fs::read_to_string(docs.join("dive.md")).unwrap();
    let rows = page.lines().filter(|line| line.starts_with("| ") && line.contains("? | `"));
    let (mut frames, mut count) = (String::new(), 0);
    for row in rows {
        let cells: Vec<&str> = row.split(" | ").map(|cell| cell.trim_matches(['|', ' '])).collect();
        let &[question, keys, answer, _] = cells.as_slice() else { panic!("{row}") };
        let (keys, answer) = (keys.trim_matches('`'), answer.trim_matches('`'));
        let mut dive = example("wines.parquet");
        dive.text(120, 30);
        // Between keys the screen is drawn, as it is for a person.
        keys.chars().for_each(|key| {
            dive.press(&key.to_string());
            dive.text(120, 30);
        });
        let screen = dive.text(120, 30);
        assert!(screen.contains(answer), "{question} {keys}: {answer}\n{screen}");
        let _ = write!(frames, "{}. {question}  {keys}\n\n{screen}\n", count + 1);
        count += 1;
    }
    assert_eq!(count, 10);
    let path = docs.join("dive/ten_questions.txt");
    if std::env::var_os("MARQUETRY_WRITE").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, &frames).unwrap();
    }
    let stored = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(frames == stored, "the screens are others: MARQUETRY_WRITE=1 writes them anew");
}
