//! Predicates in text.

use marquetry_core::predicate::{Predicate, col};

#[test]
fn what_is_written_is_understood() {
    let a = || col("a");
    for (text, meant) in [
        ("a = 1", a().eq(1)),
        ("a == 1", a().eq(1)),
        ("a <> 1", a().ne(1)),
        ("A != -1", col("A").ne(-1)),
        ("1 < a", a().gt(1)),
        ("1.5 >= a", a().le(1.5)),
        ("a", a().eq(true)),
        ("not a", !a().eq(true)),
        ("a.b.c is null", col("a.b.c").is_null()),
        ("\"a b\".\"c\"\"d\" IS NOT NULL", col("a b.c\"d").is_not_null()),
        (
            "a in (1, 'x', null)",
            Predicate::In { column: "a".into(), list: vec![1.into(), "x".into(), "null()".into()] },
        ),
        ("a not in (1)", !a().is_in([1])),
        ("a between 1 and 2 and b = 3", Predicate::And(vec![a().between(1, 2), col("b").eq(3)])),
        ("a not between 1 and 2", !a().between(1, 2)),
        ("a = 1 or b = 2 and c = 3", a().eq(1).or(col("b").eq(2).and(col("c").eq(3)))),
        ("(a = 1 or b = 2) and c = 3", a().eq(1).or(col("b").eq(2)).and(col("c").eq(3))),
        ("not not a = 1", !!a().eq(1)),
        ("a like 'x\\%y%'", a().starts_with("x%y")),
        ("a like 'x'", a().eq("x")),
        ("starts_with(a, 'it''s')", a().starts_with("it's")),
        ("is_nan(a.b)", col("a.b").is_nan()),
        ("a = X'0aFF'", a().eq(vec![0x0a, 0xff])),
        ("date = date '2024-01-31'", col("date").eq(marquetry_core::predicate::Literal::Date(19_753))),
        ("a = true and true", a().eq(true).and(Predicate::And(vec![]))),
        (
            "größe > 1e3",
            col("größe").gt(marquetry_core::predicate::Literal::Number(
                marquetry_core::predicate::Number::parse("1e3").unwrap(),
            )),
        ),
    ] {
        let found = Predicate::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        let meant = meant.to_string().replace("'null()'", "null");
        assert_eq!(found.to_string(), meant, "{text}");
        assert_eq!(Predicate::parse(&meant).unwrap(), found, "{meant}");
    }
}

#[test]
fn errors_tell_the_place() {
    for (text, place) in [
        ("", "character 1: a literal expected, the end found"),
        ("a =", "character 4: a literal expected, the end found"),
        (
            "a = b",
            "character 5: a literal (text stands in single quotes, and columns are compared with literals only)",
        ),
        ("a = 1 b", "character 7: and, or, or the end expected, b found"),
        ("a = 'x", "character 5: no ' closes this one"),
        ("é = ;", "character 5: ';' is not understood"),
        ("a like '%x'", "character 8: a pattern can have a single % at its end"),
        ("a is 5", "character 6: null expected, 5 found"),
        ("a not 5", "character 7: in, between or like expected, 5 found"),
        ("lower(a) = 'x'", "character 1: no function lower"),
        ("a = date '2024-02-30'", "character 5: \"2024-02-30\" is no date"),
        ("a = money '5'", "character 5: money before text"),
        ("a in ()", "character 7: a literal expected, ) found"),
        ("5", "character 1: a column expected, 5 found"),
        ("and = 1", "character 1: a column expected, and found"),
        ("(a = 1", "character 7: ) expected, the end found"),
    ] {
        let error = Predicate::parse(text).unwrap_err();
        assert!(error.message().contains(place), "{text}: {error}");
    }
    let deep = "(".repeat(5_000) + "a" + &")".repeat(5_000);
    assert!(Predicate::parse(&deep).unwrap_err().message().contains("nested deeper"));
    let deep = "not ".repeat(5_000) + "a";
    assert!(Predicate::parse(&deep).unwrap_err().message().contains("nested deeper"));
}

#[test]
fn no_text_makes_it_panic() {
    let pieces = [
        "a", "'", "\"", "(", ")", ",", "-", ".", "5", "e", " ", "in", "not ", "like'%'", "é", "X''", "=",
        "<", "is",
    ];
    let random = &mut crate::data::Random(1);
    for _ in 0..20_000 {
        let text: String = (0..random.below(12)).map(|_| random.pick(&pieces)).collect();
        if let Ok(predicate) = Predicate::parse(&text) {
            let shown = predicate.to_string();
            assert_eq!(Predicate::parse(&shown).unwrap().to_string(), shown, "{text}");
        }
    }
}
