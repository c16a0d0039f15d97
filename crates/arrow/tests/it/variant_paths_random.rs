//! Random predicates on paths into random VARIANT values, held against an evaluator that looks at whole values.
//!
//! `MARQUETRY_PATH_CASES` is the number of random tables, 300 if it is not set.

use crate::variant_paths::{file, ids, open, rows_of, table, texts, whole};
use marquetry_core::predicate::Predicate;
use marquetry_variant::{Decimal, Value, Variant, json};
use proptest::prelude::*;

/// What an atom compares: of one row, `None` if it is unknown.
#[derive(Debug, Clone)]
enum Atom {
    Integer(&'static str, &'static str, i64),
    Number(&'static str, &'static str, i64, bool),
    Text(&'static str, &'static str, bool),
    In(&'static str, [i64; 2]),
    Null(&'static str),
    CastNull(&'static str),
    Missing(&'static str),
    VariantNull(&'static str),
    Id(i64),
}

#[derive(Debug, Clone)]
enum Tree {
    Is(Atom),
    Not(Box<Tree>),
    And(Box<Tree>, Box<Tree>),
    Or(Box<Tree>, Box<Tree>),
}

impl Tree {
    fn text(&self) -> String {
        match self {
            Tree::Not(inner) => format!("not ({})", inner.text()),
            Tree::And(a, b) => format!("({}) and ({})", a.text(), b.text()),
            Tree::Or(a, b) => format!("({}) or ({})", a.text(), b.text()),
            Tree::Is(atom) => match atom {
                Atom::Integer(path, is, number) => format!("v:{path}::bigint {is} {number}"),
                Atom::Number(path, is, number, true) => format!("v:{path}::double {is} {number}.5"),
                Atom::Number(path, is, number, false) => format!("v:{path} {is} {number}"),
                Atom::Text(path, text, true) => format!("v:{path}::text = '{text}'"),
                Atom::Text(path, text, false) => format!("v:{path} = '{text}'"),
                Atom::In(path, list) => format!("v:{path}::tinyint in ({}, {})", list[0], list[1]),
                Atom::Null(path) => format!("v:{path} is null"),
                Atom::CastNull(path) => format!("v:{path}::bigint is null"),
                Atom::Missing(path) => format!("v:{path} is missing"),
                Atom::VariantNull(path) => format!("v:{path} is variant null"),
                Atom::Id(id) => format!("id < {id}"),
            },
        }
    }

    fn of(&self, id: i64, row: Option<Variant<'_>>) -> Option<bool> {
        match self {
            Tree::Not(inner) => inner.of(id, row).map(|is| !is),
            Tree::And(a, b) => match (a.of(id, row), b.of(id, row)) {
                (Some(false), _) | (_, Some(false)) => Some(false),
                (Some(true), Some(true)) => Some(true),
                _ => None,
            },
            Tree::Or(a, b) => match (a.of(id, row), b.of(id, row)) {
                (Some(true), _) | (_, Some(true)) => Some(true),
                (Some(false), Some(false)) => Some(false),
                _ => None,
            },
            Tree::Is(atom) => atom.of(id, row),
        }
    }
}

impl Atom {
    fn of(&self, id: i64, row: Option<Variant<'_>>) -> Option<bool> {
        let at = |path: &str| row.and_then(|row| row.get_path(&path.parse().unwrap()).unwrap());
        let compare = |is: &str, left: f64, right: f64| match is {
            "=" => left == right,
            "!=" => left != right,
            "<" => left < right,
            _ => left >= right,
        };
        match self {
            Atom::Integer(path, is, number) => {
                number_of(at(path)?).filter(|it| it.fract() == 0.0).map(|it| compare(is, it, *number as f64))
            }
            Atom::Number(path, is, number, half) => {
                let wanted = *number as f64 + if *half { if *number < 0 { -0.5 } else { 0.5 } } else { 0.0 };
                number_of(at(path)?).map(|it| compare(is, it, wanted))
            }
            Atom::Text(path, text, any) => match at(path)?.value().unwrap() {
                Value::String(it) => Some(it == *text),
                Value::Null => None,
                _ if *any => Some(json::to_string(at(path)?).unwrap() == *text),
                _ => None,
            },
            Atom::In(path, list) => {
                let whole =
                    number_of(at(path)?).filter(|it| it.fract() == 0.0 && (-128.0..128.0).contains(it));
                whole.map(|it| list.iter().any(|number| *number as f64 == it))
            }
            Atom::Null(path) => Some(at(path).is_none()),
            Atom::CastNull(path) => {
                Some(at(path).and_then(number_of).filter(|it| it.fract() == 0.0).is_none())
            }
            Atom::Missing(path) => Some(row.is_some() && at(path).is_none()),
            Atom::VariantNull(path) => {
                Some(at(path).is_some_and(|variant| matches!(variant.value().unwrap(), Value::Null)))
            }
            Atom::Id(most) => Some(id < *most),
        }
    }
}

fn number_of(variant: Variant<'_>) -> Option<f64> {
    let of = |number: Decimal| number.unscaled as f64 / 10_f64.powi(number.scale.into());
    match variant.value().unwrap() {
        Value::Int8(number) => Some(number.into()),
        Value::Int16(number) => Some(number.into()),
        Value::Int32(number) => Some(number.into()),
        Value::Int64(number) => Some(number as f64),
        Value::Double(number) => Some(number),
        Value::Decimal4(number) | Value::Decimal8(number) | Value::Decimal16(number) => Some(of(number)),
        _ => None,
    }
}

fn paths() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec!["a", "b", "a.a", "a.b", "b.a", "c", "a[1]", "b[0]", "a[0].a"])
}

fn signs() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec!["=", "!=", "<", ">="])
}

fn words() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec!["x", "y", "3", "true", "1.0"])
}

fn trees() -> impl Strategy<Value = Tree> {
    let atom = prop_oneof![
        (paths(), signs(), -3..8_i64).prop_map(|(path, is, number)| Atom::Integer(path, is, number)),
        (paths(), signs(), -3..8_i64, any::<bool>())
            .prop_map(|(path, is, number, half)| Atom::Number(path, is, number, half)),
        (paths(), words(), any::<bool>()).prop_map(|(path, text, any)| Atom::Text(path, text, any)),
        (paths(), [-3..8_i64, -3..300_i64]).prop_map(|(path, list)| Atom::In(path, list)),
        paths().prop_map(Atom::Null),
        paths().prop_map(Atom::CastNull),
        paths().prop_map(Atom::Missing),
        paths().prop_map(Atom::VariantNull),
        (0..40_i64).prop_map(Atom::Id),
    ];
    atom.prop_map(Tree::Is).prop_recursive(3, 8, 2, |inner| {
        prop_oneof![
            inner.clone().prop_map(|inner| Tree::Not(Box::new(inner))),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| Tree::And(Box::new(a), Box::new(b))),
            (inner.clone(), inner).prop_map(|(a, b)| Tree::Or(Box::new(a), Box::new(b))),
        ]
    })
}

fn documents() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        6 => (-3..8_i64).prop_map(|number| number.to_string()),
        1 => (200..300_i64).prop_map(|number| number.to_string()),
        2 => (-3..8_i64).prop_map(|number| format!("{number}.0")),
        1 => (0..8_i64).prop_map(|number| format!("{number}.5")),
        1 => (0..8_i64).prop_map(|number| format!("{number}e0")),
        3 => words().prop_map(|word| format!("\"{word}\"")),
        1 => any::<bool>().prop_map(|is| is.to_string()),
        1 => Just("null".to_owned()),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            4 => prop::collection::btree_map("[abc]", inner.clone(), 0..4).prop_map(|fields| {
                let fields: Vec<_> = fields.iter().map(|(name, value)| format!("\"{name}\": {value}")).collect();
                format!("{{{}}}", fields.join(", "))
            }),
            1 => prop::collection::vec(inner, 0..3).prop_map(|values| format!("[{}]", values.join(", "))),
        ]
    })
}

const RANDOM_SHREDDINGS: [&str; 14] = [
    "",
    "{a: int64}",
    "{a: int8, b: string}",
    "{a: int16, b: int64, c: string}",
    "{a: double}",
    "{a: decimal(9, 1), b: boolean}",
    "{a: {a: int64, b: string}, b: int64}",
    "{a: {a: string}, b: {a: int32}}",
    "{a: [int64], b: [{a: int64}]}",
    "{a: variant, b: string}",
    "{c: int64}",
    "int64",
    "[int64]",
    "{a: string, b: string, c: boolean}",
];

fn cases() -> u32 {
    std::env::var("MARQUETRY_PATH_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(300)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases()))]

    #[test]
    fn predicates_find_what_whole_values_say(
        rows in prop::collection::vec(prop::option::weighted(0.95, documents()), 1..40),
        // Where all rows are alike, there is something to prune.
        alike in any::<bool>(),
        shredding in prop::sample::select(RANDOM_SHREDDINGS.to_vec()),
        trees in prop::collection::vec(trees(), 1..6),
    ) {
        let mut rows = rows;
        if alike {
            rows.sort();
        }
        let texts: Vec<Option<&str>> = rows.iter().map(Option::as_deref).collect();
        let file = file(&texts, shredding);
        let values: Vec<_> = texts.iter().map(|row| row.map(|text| json::parse(text).unwrap())).collect();
        for tree in trees {
            let wanted = values.iter().enumerate().filter_map(|(id, row)| {
                let row = row.as_ref().map(|(metadata, value)| Variant::new(metadata, value).unwrap());
                (tree.of(id as i64, row) == Some(true)).then_some(id as i64)
            });
            prop_assert_eq!(ids(&file, &tree.text()), wanted.collect::<Vec<_>>(), "{}", tree.text());
        }
    }

    #[test]
    fn tables_of_many_files_find_what_one_does(
        rows in prop::collection::vec(prop::option::weighted(0.95, documents()), 3..40),
        cuts in [0..40_usize, 0..40_usize],
        shreddings in [0..RANDOM_SHREDDINGS.len(), 0..RANDOM_SHREDDINGS.len(), 0..RANDOM_SHREDDINGS.len()],
        union in any::<bool>(),
        trees in prop::collection::vec(trees(), 1..4),
        path in paths(),
    ) {
        let texts_of: Vec<Option<&str>> = rows.iter().map(Option::as_deref).collect();
        let mut cuts = cuts.map(|cut| cut.min(rows.len()));
        cuts.sort_unstable();
        let parts = [0..cuts[0], cuts[0]..cuts[1], cuts[1]..rows.len()];
        let files = parts.iter().zip(shreddings).map(|(part, shredding)| {
            file(&texts_of[part.clone()], RANDOM_SHREDDINGS[shredding])
        });
        let table = table(files.collect()).union_by_name(union);
        let one = file(&texts_of, "");
        let names = [format!("v:{path}::bigint"), format!("v:{path}::json"), "v".to_owned()];
        let of_one = whole(open(&one).with_columns(names.clone()).unwrap().build().unwrap());
        let of_all = rows_of(table.clone().columns(names.clone()));
        prop_assert_eq!(of_one.column(0), of_all.column(0));
        prop_assert_eq!(of_one.column(1), of_all.column(1));
        prop_assert_eq!(texts(of_one.column(2)), texts(of_all.column(2)));
        for tree in trees {
            // Row numbers begin anew in each file.
            if tree.text().contains("id <") {
                continue;
            }
            let predicate = Predicate::parse(&tree.text()).unwrap();
            let of_one = open(&one).with_columns(names.clone()).unwrap().with_predicate(predicate.clone());
            let of_all = rows_of(table.clone().columns(names.clone()).filter(predicate));
            let of_one = whole(of_one.build().unwrap());
            prop_assert_eq!(of_one.column(1), of_all.column(1), "{}", tree.text());
        }
    }
}
