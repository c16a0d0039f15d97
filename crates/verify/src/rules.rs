//! The table of all rules.

use crate::rule::{Rule, UNCHECKED};
use crate::{
    bloom, chunk, covering_boxes, encryption, file_refs, footer, geoparquet, house, index, nesting, page,
    schema, sorting, statistics, unreferenced, values, variant, variant_values,
};
use marquetry_base::{Error, Result};

/// The families of rules, from the file down to its values.
const FAMILIES: [&[Rule]; 18] = [
    &[UNCHECKED],
    footer::RULES,
    encryption::RULES,
    schema::RULES,
    nesting::RULES,
    variant::RULES,
    variant_values::RULES,
    file_refs::RULES,
    geoparquet::RULES,
    covering_boxes::RULES,
    chunk::RULES,
    unreferenced::RULES,
    page::RULES,
    index::RULES,
    statistics::RULES,
    bloom::RULES,
    values::RULES,
    sorting::RULES,
];

const COUNT: usize = count(&FAMILIES);

/// Every rule of the format, family by family.
pub static RULES: &[Rule] = &joined::<COUNT>(&FAMILIES);

/// The rules of the format, and behind them those of houses.
pub(crate) static ALL_RULES: &[Rule] = &joined::<{ COUNT + house::ALL.len() }>(&[&FORMAT_RULES, house::ALL]);

/// Returns the rule of this id, or else all rules whose ids begin with it. Rules of houses are included.
///
/// Fails if there is none.
///
/// ```
/// use marquetry_verify::rules_named;
/// assert_eq!(rules_named("page-checksum")?.len(), 1);
/// assert!(rules_named("page")?.len() > 1 && rules_named("colour").is_err());
/// # Ok::<(), marquetry_base::Error>(())
/// ```
pub fn rules_named(text: &str) -> Result<Vec<&'static Rule>> {
    let all = || RULES.iter().chain(house::HOUSE_RULES);
    if let Some(rule) = all().find(|rule| rule.id == text) {
        return Ok(vec![rule]);
    }
    let rules: Vec<_> = all().filter(|rule| rule.id.starts_with(text)).collect();
    match rules.is_empty() {
        true => Err(Error::argument(format!(
            "no rule is called {text}, or begins so; `marquetry rules` lists them"
        ))),
        false => Ok(rules),
    }
}

const FORMAT_RULES: [Rule; COUNT] = joined(&FAMILIES);

const fn count(families: &[&[Rule]]) -> usize {
    let (mut family, mut count) = (0, 0);
    while family < families.len() {
        count += families[family].len();
        family += 1;
    }
    count
}

const fn joined<const N: usize>(families: &[&[Rule]]) -> [Rule; N] {
    let mut rules = [UNCHECKED; N];
    let (mut family, mut at) = (0, 0);
    while family < families.len() {
        let mut i = 0;
        while i < families[family].len() {
            rules[at] = families[family][i];
            at += 1;
            i += 1;
        }
        family += 1;
    }
    rules
}
