//! `stats`: what columns hold, of files that others wrote, too.

use crate::command::{Folder, failure, success, wines};
use serde_json::Value;

fn json(arguments: &[&str]) -> Value {
    serde_json::from_str(&success(&[&["stats", "--format", "json"], arguments].concat())).unwrap()
}

#[test]
fn facts_of_wines() {
    let stats = json(&[&wines(), "--columns", "country,rating,grapes"]);
    assert_eq!(stats["rows"], 200);
    let [country, rating, grapes] = &stats["columns"].as_array().unwrap()[..] else { panic!("{stats}") };
    assert_eq!(
        (&country["distinct"], &country["min"], &country["max"]),
        (&6.into(), &"Austria".into(), &"Spain".into())
    );
    assert_eq!(country["common"].as_array().unwrap().len(), 3);
    // Of those that occur equally often, the first in order comes first.
    assert_eq!(country["common"][0], serde_json::json!({"value": "Germany", "count": 39}));
    assert_eq!((&rating["nulls"], &rating["values"], &rating["nans"]), (&20.into(), &180.into(), &0.into()));
    let mean = rating["mean"].as_f64().unwrap();
    assert!((78.3..=99.2).contains(&mean), "{mean}");
    assert_eq!(grapes["column"], "grapes.list.element");
    assert!(grapes["list_length"]["max"].as_u64().unwrap() > 1, "{grapes}");
    // Counts the same rows with conditions.
    let count =
        |condition: &str| success(&["count", &wines(), "--where", condition]).trim().parse::<u64>().unwrap();
    assert_eq!(count("rating is null"), 20);
    assert_eq!(count("country = 'Germany'"), 39);
    let median = &rating["quartiles"][1];
    let below = count(&format!("rating < {median}"));
    assert!(below < 90 && 90 <= below + count(&format!("rating = {median}")), "{median}");
}

#[test]
fn quick_says_what_the_footer_says() {
    let (quick, read) = (json(&[&wines(), "--quick"]), json(&[&wines()]));
    let columns = quick["columns"].as_array().unwrap().iter().zip(read["columns"].as_array().unwrap());
    for (quick, read) in columns {
        for fact in ["column", "type", "min", "max"] {
            assert_eq!(quick[fact], read[fact], "{quick}");
        }
        assert!(quick["mean"].is_null() && quick["common"] == serde_json::json!([]));
    }
}

#[test]
fn text_has_a_line_for_each_column() {
    let text = success(&["stats", &wines(), "--columns", "year,producer"]);
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(lines.len(), 5, "{text}");
    assert!(lines[0] == "200 rows" && lines[1].starts_with("column"), "{text}");
    assert!(
        lines[2].starts_with("year") && lines[2].contains('█') && lines[4].starts_with("producer.founded"),
        "{text}"
    );
}

#[test]
fn types_of_all_kinds() {
    let folder = Folder::new("stats");
    let lines = folder.path("rows.jsonl");
    let rows = r#"{"b": true, "t": "10:00:00", "d": 1.50, "u": "x", "m": {"k": 1}}
{"b": false, "t": "11:00:00", "d": 2.50, "u": null, "m": {}}
{"b": true, "t": null, "d": 3.50, "u": "", "m": null}
"#;
    std::fs::write(&lines, rows).unwrap();
    let parquet = folder.path("rows.parquet");
    success(&[
        "convert",
        &lines,
        &parquet,
        "--schema",
        "b boolean, t time(us), d decimal(9,2), u text, m map<text, int32>",
    ]);
    let stats = json(&[&parquet]);
    let columns = stats["columns"].as_array().unwrap();
    assert_eq!((&columns[0]["min"], &columns[0]["max"]), (&false.into(), &true.into()));
    assert_eq!((&columns[1]["min"], &columns[1]["nulls"]), (&"10:00:00".into(), &1.into()));
    assert_eq!((columns[2]["min"].to_string(), columns[2]["mean"].as_f64()), ("1.50".to_owned(), Some(2.5)));
    assert_eq!((&columns[3]["length"]["min"], &columns[3]["distinct"]), (&0.into(), &2.into()));
    assert_eq!((&columns[4]["column"], &columns[4]["values"]), (&"m.key_value.key".into(), &1.into()));
    assert_eq!(columns[5]["list_length"], serde_json::json!({"min": 0, "mean": 0.5, "max": 1}));
}

/// Sums and squares of such numbers need not be floats; what is not finite is spelled one way.
#[test]
fn very_large_and_infinite_doubles() {
    let folder = Folder::new("stats-large");
    let (lines, parquet) = (folder.path("rows.jsonl"), folder.path("rows.parquet"));
    let rows = "{\"x\": 1e300, \"y\": 1.0}\n{\"x\": 3e300, \"y\": \"Infinity\"}\n";
    std::fs::write(&lines, rows).unwrap();
    success(&["convert", &lines, &parquet, "--schema", "x double, y double", "--report", "none"]);
    let stats = json(&[&parquet]);
    let deviation = stats["columns"][0]["deviation"].as_f64().unwrap();
    assert!((deviation / 1e300 / 2f64.sqrt() - 1.0).abs() < 1e-12, "{deviation}");
    let y = &stats["columns"][1];
    assert!(y["max"] == "Infinity" && y["mean"].is_null() && y["deviation"].is_null(), "{y}");
    let text = success(&["stats", &parquet, "--columns", "y"]);
    assert!(text.contains("Infinity") && !text.contains("inf"), "{text}");
}

#[test]
fn a_column_that_is_not_there() {
    let (code, errors) = failure(&["stats", &wines(), "--columns", "pirce"]);
    assert!(code == 2 && errors[0].contains("pirce") && errors[0].contains("price"), "{code} {errors:?}");
}

/// The files of a directory are one table: what is said is what is said of one file with all rows.
#[test]
fn a_directory_is_one_table() {
    let folder = Folder::new("stats_directory");
    let parts = folder.path("parts");
    std::fs::create_dir(&parts).unwrap();
    success(&["split", &wines(), "--rows", "70", "--out-dir", &parts]);
    // Columns in another order are the same columns.
    let (last, other) = (folder.path("last.parquet"), folder.path("other.parquet"));
    success(&["convert", &wines(), &last, "--report", "none"]);
    success(&[
        "rewrite",
        &last,
        &other,
        "--columns",
        "year,name,country,price,rating,grapes,producer,tasted",
    ]);
    let (one, many) = (json(&[&wines()]), json(&[&parts]));
    assert_eq!((&many["rows"], &many["files"], &one["files"]), (&one["rows"], &3.into(), &1.into()));
    let [one, many] = [&one, &many].map(|stats| stats["columns"].as_array().unwrap());
    assert_eq!(one.len(), many.len());
    for (one, many) in one.iter().zip(many) {
        for (fact, value) in one.as_object().unwrap() {
            let same = match (value.as_f64(), many[fact].as_f64()) {
                (Some(a), Some(b)) => (a - b).abs() <= 1e-9 * a.abs(),
                _ => *value == many[fact],
            };
            assert!(same, "{fact}: {value} and {}", many[fact]);
        }
    }
    let both = folder.path("both");
    std::fs::create_dir(&both).unwrap();
    std::fs::rename(&last, format!("{both}/a.parquet")).unwrap();
    std::fs::rename(&other, format!("{both}/b.parquet")).unwrap();
    let year = |stats: serde_json::Value| {
        let columns = stats["columns"].as_array().unwrap().clone();
        columns.into_iter().find(|column| column["column"] == "year").unwrap()
    };
    let (one, twice) = (year(json(&[&wines()])), year(json(&[&both])));
    assert_eq!(
        (&one["min"], &one["max"], &one["distinct"]),
        (&twice["min"], &twice["max"], &twice["distinct"])
    );
    assert_eq!(one["nulls"].as_u64().unwrap() * 2, twice["nulls"].as_u64().unwrap());
    // Other columns are told, with the file.
    success(&["rewrite", &wines(), &format!("{both}/c.parquet"), "--columns", "year"]);
    let (code, errors) = failure(&["stats", &both]);
    assert!(
        code == 2 && errors.join(" ").contains("c.parquet") && errors.join(" ").contains("has no column"),
        "{code} {errors:?}"
    );
    let (code, errors) = failure(&["stats", "--quick", &parts]);
    assert!(code == 2 && errors.join(" ").contains("one footer at a time"), "{errors:?}");
}
