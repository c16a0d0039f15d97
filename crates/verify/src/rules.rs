//! The table of all rules.

use crate::rule::{Rule, UNCHECKED};
use crate::{
    bloom, chunk, encryption, footer, index, nesting, page, schema, sorting, statistics, unreferenced, values,
};

/// The families of rules, from the file down to its values.
const FAMILIES: [&[Rule]; 13] = [
    &[UNCHECKED],
    footer::RULES,
    encryption::RULES,
    schema::RULES,
    nesting::RULES,
    chunk::RULES,
    unreferenced::RULES,
    page::RULES,
    index::RULES,
    statistics::RULES,
    bloom::RULES,
    values::RULES,
    sorting::RULES,
];

const COUNT: usize = {
    let (mut family, mut count) = (0, 0);
    while family < FAMILIES.len() {
        count += FAMILIES[family].len();
        family += 1;
    }
    count
};

/// Every rule, family by family.
pub static RULES: &[Rule] = &{
    let mut rules = [UNCHECKED; COUNT];
    let (mut family, mut at) = (0, 0);
    while family < FAMILIES.len() {
        let mut i = 0;
        while i < FAMILIES[family].len() {
            rules[at] = FAMILIES[family][i];
            at += 1;
            i += 1;
        }
        family += 1;
    }
    rules
};
