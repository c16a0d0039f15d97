//! Suggestions for misspelled commands, options and values: only those that are as near as column suggestions must be.

use clap::error::{ContextKind, ContextValue};
use marquetry_core::schema::near_names;

/// The error with only the near ones of its suggestions, the nearest first.
pub(crate) fn only_near(mut error: clap::Error) -> clap::Error {
    for (wrong, suggested) in [
        (ContextKind::InvalidArg, ContextKind::SuggestedArg),
        (ContextKind::InvalidSubcommand, ContextKind::SuggestedSubcommand),
        (ContextKind::InvalidValue, ContextKind::SuggestedValue),
    ] {
        let (Some(ContextValue::String(wrong)), Some(known)) = (error.get(wrong), error.get(suggested))
        else {
            continue;
        };
        let known = match known {
            ContextValue::String(known) => std::slice::from_ref(known),
            ContextValue::Strings(known) => known.as_slice(),
            _ => continue,
        };
        let near: Vec<String> = near_names(word(wrong), known.iter().map(|known| word(known)))
            .into_iter()
            .filter_map(|near| known.iter().find(|known| word(known) == near).cloned())
            .collect();
        match (near.as_slice(), suggested) {
            ([], _) => {
                error.remove(suggested);
                // The usage is shown along with a suggestion.
                if suggested == ContextKind::SuggestedArg {
                    error.remove(ContextKind::Usage);
                }
            }
            ([first, ..], ContextKind::SuggestedArg | ContextKind::SuggestedValue) => {
                let first = first.clone();
                error.insert(suggested, ContextValue::String(first));
            }
            _ => {
                error.insert(suggested, ContextValue::Strings(near));
            }
        }
    }
    // Without this, an empty line stands in place of the tips.
    if matches!(error.get(ContextKind::Suggested), Some(ContextValue::StyledStrs(tips)) if tips.is_empty()) {
        error.remove(ContextKind::Suggested);
    }
    error
}

/// An option without its hyphens and its value.
fn word(option: &str) -> &str {
    let name = option.trim_start_matches('-');
    name.split_once(['=', ' ']).map_or(name, |(name, _)| name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::{Arg, Command};

    #[test]
    fn far_names_are_not_suggested() {
        let command = || {
            let option = |name: &'static str| Arg::new(name).long(name).num_args(1);
            let kinds = option("kind").value_parser(["parquet", "csv"]);
            let head = Command::new("head").args([option("infer-rows"), option("memory-limit"), kinds]);
            Command::new("marquetry").subcommands([head, Command::new("merge"), Command::new("meta")])
        };
        let told = |words: &[&str]| {
            let words = std::iter::once("marquetry").chain(words.iter().copied());
            only_near(command().try_get_matches_from(words).unwrap_err()).to_string()
        };
        assert!(!told(&["xyz"]).contains("\n\n\n"), "{}", told(&["xyz"]));
        let far = told(&["head", "--header-row", "3"]);
        assert!(far.contains("unexpected argument '--header-row'") && !far.contains("infer"), "{far}");
        for (words, suggested) in [
            (&["head", "--memory", "3"][..], "'--memory-limit'"),
            (&["head", "--infer-row", "3"], "'--infer-rows'"),
            (&["head", "--kind", "parqet"], "'parquet'"),
            (&["haed"], "'head'"),
        ] {
            let told = told(words);
            assert!(told.contains(suggested), "{words:?}: {told}");
        }
    }
}
