use super::*;
use arrow_schema::{DataType, TimeUnit};

fn objects(columns: &[(&str, DataType)], are_flat: bool) -> Objects {
    let columns: Vec<Column> = columns
        .iter()
        .map(|(name, data_type)| Column {
            expected: Expected::of_field(&Field::new("", data_type.clone(), true)),
            field: Field::new(*name, data_type.clone(), true),
            sample: Sample::All,
        })
        .collect();
    let fields: Vec<Field> = columns.iter().map(|column| column.field.clone()).collect();
    let mut objects = Objects::new(columns, Arc::new(Schema::new(fields)), Sample::All);
    objects.names = objects.names.filter(|_| are_flat);
    objects
}

fn parse(objects: &Objects, text: &str) -> Result<Vec<RecordBatch>, String> {
    let chunk = Chunk { bytes: text.as_bytes().to_vec(), is_first: true };
    objects.parse(&chunk, 3).batches.map_err(|fault| fault.after(100).to_string())
}

#[test]
fn the_short_way_gives_what_the_long_one_gives() {
    let columns = [
        ("id", DataType::Int64),
        ("x", DataType::Float64),
        ("t", DataType::Utf8),
        ("b", DataType::Boolean),
        ("day", DataType::Timestamp(TimeUnit::Second, None)),
    ];
    let (short, long) = (objects(&columns, true), objects(&columns, false));
    let mut state = 5_u64;
    let mut random = move |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    let values = [
        "1",
        "-0",
        "-12",
        "1.5",
        "2e3",
        "1E-2",
        "01",
        "1.",
        "-",
        "+1",
        "true",
        "false",
        "null",
        "nul",
        "\"\"",
        "\"7\"",
        "\"a\\\"b\\\\\\n\\u00e9\"",
        "\"\\ud83d\\ude00\"",
        "\"\\ud83d\"",
        "\"\\x\"",
        "\"é😀\"",
        "\"a long text with words\"",
        "\"tab\there\"",
        "\"\u{7f}\"",
        "\"2013-07-30T12:30:00\"",
        "[1]",
        "{}",
        "",
    ];
    let names = ["id", "x", "t", "b", "day", "id", "x", "t", "b", "day", "zz", "i\\u0064"];
    let (mut rows, mut failures) = (0, 0);
    for round in 0..30_000 {
        let mut text = String::new();
        for _ in 0..random(5) {
            let blanks = ["", " ", "\t", "\r"];
            let mut members = Vec::new();
            let fits = round % 2 == 0;
            for (i, name) in names.iter().take(5).enumerate() {
                let (name, value) = match (fits, i) {
                    (true, 0) => (*name, ["1", "-12", "null"][random(3)]),
                    (true, 1) => (*name, ["1", "1.5", "\"NaN\"", "2e3"][random(4)]),
                    (true, 2) => (*name, values[14 + random(8)]),
                    (true, 3) => (*name, ["true", "false", "null"][random(3)]),
                    (true, _) => (*name, "\"2013-07-30T12:30:00\""),
                    (false, _) => (names[random(names.len())], values[random(values.len())]),
                };
                if random(5) > 0 {
                    members.push(format!("{}\"{name}\"{}:{value}", blanks[random(4)], blanks[random(4)]));
                }
            }
            text += &format!("{{{}{}}}", members.join(","), blanks[random(4)]);
            text += ["\n", "\r\n", " \n\n", "\n", "\n", ""][random(6)];
        }
        let (by_short, by_long) = (parse(&short, &text), parse(&long, &text));
        assert_eq!(by_short, by_long, "{text}");
        match by_long {
            Ok(batches) => rows += batches.iter().map(RecordBatch::num_rows).sum::<usize>(),
            Err(_) => failures += 1,
        }
        if let Some((_, records)) = short.members(text.as_bytes()) {
            assert_eq!(records.spans.len(), 5 * lines(text.as_bytes()).count());
        }
    }
    assert!(rows > 10_000 && failures > 1_000, "{rows} rows, {failures} failures");
}

#[test]
fn usual_objects_go_the_short_way() {
    let objects = objects(&[("a\"b", DataType::Utf8), ("c", DataType::Int64)], true);
    let usual = "{\"c\":1}\n{ \"c\" : null }\r\n{}\n{\"c\":\"1\"}";
    assert!(objects.members(usual.as_bytes()).is_some());
    for unusual in ["{\"a\\\"b\":1}", "{\"c\":1,\"c\":2}", "{\"d\":1}", "{\"c\":[1]}", "{\"c\":1}{}", "[]"] {
        assert!(objects.members(unusual.as_bytes()).is_none(), "{unusual}");
    }
}

#[test]
fn lines_are_counted_from_the_beginning_of_the_text() {
    let objects = objects(&[("a", DataType::Int64)], true);
    let error = parse(&objects, "{\"a\":1}\n\n{\"a\":1}\n{\"a\":1}\n{\"a\":2}\n\n{\"a\":1.5}\n").unwrap_err();
    assert!(error.contains("line 107, column a"), "{error}");
    let error = parse(&objects, "{\"a\":1}\n\n{\"z\":1}\n").unwrap_err();
    assert!(error.contains("line 103: "), "{error}");
}
