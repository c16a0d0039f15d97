//! Predicates in text.

use marquetry_core::predicate::{Comparison, Pattern, Predicate, col};

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
        ("a like '%x_'", a().like("%x_")),
        ("a not like '%x' and a ilike 'X%'", (!a().like("%x")).and(a().matches(Pattern::ILike("X%".into())))),
        ("a like '5!%%' escape '!'", a().starts_with("5%")),
        ("a like 'x%y\\' escape '!'", a().like("x%y\\\\")),
        ("a ~ '^x+'", a().matches(Pattern::Regex("^x+".into()))),
        ("regexp_like(a, 'it''s')", a().matches(Pattern::Regex("it's".into()))),
        ("a !~* 'x'", !a().matches(Pattern::RegexIgnoringCase("x".into()))),
        ("contains(a, X'0a') or ends_with(a, 'z')", a().contains(vec![10]).or(a().ends_with("z"))),
        ("\"a.b\" = 1", col("\"a.b\"").eq(1)),
        ("\"a\".b = c.\"d.e\"", col("a.b").compare_column(Comparison::Eq, "c.\"d.e\"")),
        ("a < \"b c\"", a().compare_column(Comparison::Lt, "b c")),
        ("a <> b.c", a().compare_column(Comparison::Ne, "b.c")),
        ("a is distinct from b", a().is_distinct_from("b")),
        ("a is not distinct from b", !a().is_distinct_from("b")),
        ("a is not distinct from 5", !Predicate::Or(vec![a().ne(5), a().is_null()])),
        ("a is true", !Predicate::Or(vec![a().ne(true), a().is_null()])),
        ("a is not false", !!Predicate::Or(vec![a().ne(false), a().is_null()])),
        ("a is not unknown", a().is_not_null()),
        ("(a, b) = (1, 2)", Predicate::And(vec![a().eq(1), col("b").eq(2)])),
        (
            "(a, b.c, d) >= (1, 2, 3)",
            Predicate::Or(vec![
                a().gt(1),
                a().eq(1).and(col("b.c").gt(2)),
                Predicate::And(vec![a().eq(1), col("b.c").eq(2), col("d").ge(3)]),
            ]),
        ),
        ("inf > a", a().lt(f64::INFINITY)),
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
        ("a = -b", "character 5: a literal expected, - found"),
        ("a in (b)", "character 7: a literal (text goes in single quotes) expected, b found"),
        ("(a, b) < (1)", "character 2: 2 columns are compared with 1 literals"),
        ("a is distinct b", "character 15: from expected, b found"),
        ("a ~ '(x'", "character 5: the regular expression is not understood: unclosed group"),
        (
            "a !~ '((a{1000}){1000}){1000}'",
            "character 6: the regular expression needs more than 4194304 bytes",
        ),
        ("a like 'x\\'", "character 8: nothing follows the backslash"),
        ("a like 'x' escape 'yz'", "character 19: the escape is one character"),
        ("ends_with(a, 5)", "character 14: 5 is neither text nor bytes"),
        ("any(a) = b", "character 8: an element or a map's value is compared with literals only"),
        ("any(a = 1 and b = 2)", "character 5: any() and all() ask for the elements of one column"),
        ("all(any(a) = 1)", "character 5: an element or a map's value is compared with literals only"),
        ("any(true)", "character 5: any() and all() ask for the elements of one column"),
        ("a['k' = 1", "character 7: ] expected, = found"),
        ("a['k'] is empty", "character 8: an element or a map's value is compared with literals only"),
        ("cardinality(a) = 1.5", "character 18: a whole number expected, 1.5 found"),
        ("cardinality(a) in (1)", "character 16: a comparison or between expected, in found"),
        ("a + 1 > 2", "character 3: a predicate does not calculate"),
        ("a * 2 > 2", "character 3: a predicate does not calculate"),
        ("a = 1 b", "character 7: and, or, or the end expected, b found"),
        ("a = 'x", "character 5: no ' closes this one"),
        ("é = ;", "character 5: ';' is not understood"),
        (
            "a is 5",
            "character 6: null, true, false, unknown, empty, missing, variant null or distinct from expected, 5 found",
        ),
        ("a not 5", "character 7: in, between, like or ilike expected, 5 found"),
        ("lower(a) = 'x'", "character 1: no function lower"),
        ("a = date '2024-02-30'", "character 5: \"2024-02-30\" is not a valid date"),
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
    let deep = "any(".repeat(5_000) + "a" + &")".repeat(5_000);
    assert!(Predicate::parse(&deep).unwrap_err().message().contains("nested deeper"));
    let deep = "not ".repeat(5_000) + "a";
    assert!(Predicate::parse(&deep).unwrap_err().message().contains("nested deeper"));
}

#[test]
fn no_text_makes_it_panic() {
    let pieces = [
        "a",
        "'",
        "\"",
        "(",
        ")",
        ",",
        "-",
        ".",
        "5",
        "e",
        " ",
        "in",
        "not ",
        "like'%'",
        "é",
        "X''",
        "=",
        "<",
        "is",
        "b",
        "~*",
        "'%_'",
        "ilike",
        "escape",
        "distinct from",
        "inf",
        "any(",
        "all (",
        "['k']",
        "cardinality(",
        "is empty",
        "contains(",
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
