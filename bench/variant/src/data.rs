//! Values as lines of JSON, the same in each run.

use std::fmt::Write;

/// A kind of values.
pub(crate) struct Set {
    pub(crate) name: &'static str,
    /// The shape that it is shredded by.
    pub(crate) shape: &'static str,
    /// Its number of rows for every thousand of events: some values are larger.
    share: usize,
    line: fn(usize, &mut Rng, &mut String),
}

impl Set {
    /// The lines of JSON for this number of events.
    pub(crate) fn lines(&self, rows: usize) -> Vec<String> {
        let mut rng = Rng(7);
        let line = |row| {
            let mut text = String::new();
            (self.line)(row, &mut rng, &mut text);
            text
        };
        (0..(rows / self.share).max(1)).map(line).collect()
    }
}

pub(crate) const SETS: [Set; 5] = [
    Set {
        name: "events",
        shape: "{id: bigint, at: bigint, kind: text, user: {id: bigint, country: text}, price: decimal(9, 2), tags: [text]}",
        share: 1,
        line: event,
    },
    Set { name: "wide", shape: "{f00: bigint, f01: text, f50: bigint, f99: text}", share: 20, line: wide },
    Set { name: "numbers", shape: "{track: [{x: decimal(9, 6), y: bigint}]}", share: 20, line: numbers },
    Set { name: "texts", shape: "{title: text, body: text}", share: 10, line: texts },
    Set {
        name: "nested",
        shape: "{a: {b: {c: {d: {e: {value: bigint, name: text}}}}}}",
        share: 2,
        line: nested,
    },
];

/// One in twenty has a text where others have a number, one in ten a field that few have.
fn event(number: usize, rng: &mut Rng, out: &mut String) {
    let at = 1_700_000_000_000 + number * 37 + rng.below(30);
    put(out, format_args!(r#"{{"id":{number},"at":{at},"kind":"{}","user":{{"id":"#, rng.choose(&KINDS)));
    match number % 20 {
        7 => put(out, format_args!(r#""guest-{}""#, rng.below(100_000))),
        _ => put(out, format_args!("{}", rng.below(100_000))),
    }
    put(out, format_args!(r#","country":"{}"}}"#, rng.choose(&["DE", "FR", "US", "JP", "BR"])));
    if number.is_multiple_of(3) {
        put(out, format_args!(r#","price":{}.{:02}"#, rng.below(1000), 1 + rng.below(9) * 11));
    }
    let tags: Vec<String> = (0..rng.below(4)).map(|_| format!(r#""{}""#, rng.choose(&TAGS))).collect();
    put(out, format_args!(r#","tags":[{}]"#, tags.join(",")));
    if number.is_multiple_of(10) {
        let note = "x".repeat(rng.below(40));
        put(out, format_args!(r#","extra_{}":{{"note":"{note}","n":{}}}"#, rng.below(50), rng.below(1000)));
    }
    out.push('}');
}

/// A hundred fields, numbers and short texts in turn.
fn wide(_: usize, rng: &mut Rng, out: &mut String) {
    for i in 0..100 {
        let comma = if i == 0 { '{' } else { ',' };
        match i % 2 {
            0 => put(out, format_args!(r#"{comma}"f{i:02}":{}"#, rng.below(1 << (i % 40)))),
            _ => put(out, format_args!(r#"{comma}"f{i:02}":"{}-{}""#, rng.choose(&TAGS), rng.below(1000))),
        }
    }
    out.push('}');
}

/// Fifty points.
fn numbers(_: usize, rng: &mut Rng, out: &mut String) {
    out.push_str(r#"{"track":["#);
    for i in 0..50 {
        let comma = if i == 0 { "" } else { "," };
        let (whole, digits) = (rng.below(180), 100_001 + rng.below(89_999) * 10);
        put(out, format_args!(r#"{comma}{{"x":{whole}.{digits},"y":{}}}"#, rng.below(1 << 30)));
    }
    out.push_str("]}");
}

/// Two texts, of which the longer one has escapes and signs beyond ASCII.
fn texts(number: usize, rng: &mut Rng, out: &mut String) {
    put(out, format_args!(r#"{{"title":"A title of some words, number {number}","body":""#));
    for _ in 0..8 + rng.below(40) {
        out.push_str(rng.choose(&[
            "some plain words in a row ",
            "größer als ",
            r"a line\n",
            r#"so \"quoted\" "#,
        ]));
    }
    out.push_str("\"}");
}

/// Objects inside each other.
fn nested(number: usize, rng: &mut Rng, out: &mut String) {
    let (value, name) = (rng.below(1 << 20), rng.choose(&TAGS));
    put(
        out,
        format_args!(
            r#"{{"a":{{"b":{{"c":{{"d":{{"e":{{"value":{value},"name":"{name}"}},"n":{number}}},"m":true}},"l":null}}}}}}"#
        ),
    );
}

/// Writing to a string cannot fail.
fn put(out: &mut String, text: std::fmt::Arguments<'_>) {
    let _ = out.write_fmt(text);
}

/// Numbers that look random.
pub(crate) struct Rng(u64);

impl Rng {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end
    }

    fn choose<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.below(of.len())]
    }
}

const KINDS: [&str; 5] = ["view", "click", "buy", "login", "logout"];
const TAGS: [&str; 6] = ["new", "sale", "mobile", "web", "beta", "eu"];
