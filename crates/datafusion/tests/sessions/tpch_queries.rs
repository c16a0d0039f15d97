//! The 22 queries of TPC-H. The benchmark of SQL has them from here, too.

use tpchgen::q_and_a::queries::query;

/// What the specification puts in each query to hold it against known answers.
const PARAMETERS: [&[&str]; 22] = [
    &["90"],
    &["15", "BRASS", "EUROPE"],
    &["BUILDING", "1995-03-15"],
    &["1993-07-01"],
    &["ASIA", "1994-01-01"],
    &["1994-01-01", "0.06", "24"],
    &["FRANCE", "GERMANY"],
    &["BRAZIL", "AMERICA", "ECONOMY ANODIZED STEEL"],
    &["green"],
    &["1993-10-01"],
    &["GERMANY", "0.01"],
    &["MAIL", "SHIP", "1994-01-01"],
    &["special", "requests"],
    &["1995-09-01"],
    &["1996-01-01"],
    &["Brand#45", "MEDIUM POLISHED", "49", "14", "23", "45", "19", "3", "36", "9"],
    &["Brand#23", "MED BOX"],
    &["300"],
    &["Brand#12", "Brand#23", "Brand#34", "1", "10", "20"],
    &["forest", "1994-01-01", "CANADA"],
    &["SAUDI ARABIA"],
    &["13", "31", "23", "29", "30", "18", "17"],
];

/// The statements of a query, the one that gives rows among them.
pub(crate) fn statements(number: usize) -> Vec<String> {
    let mut text = query(number as i32).unwrap().replace("day (3)", "day").replace(":s", "0");
    for (i, value) in PARAMETERS[number - 1].iter().enumerate().rev() {
        text = text.replace(&format!(":{}", i + 1), value);
    }
    text.split(';').map(str::trim).filter(|statement| !statement.is_empty()).map(str::to_owned).collect()
}
