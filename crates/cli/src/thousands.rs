//! Parses numbers with separators between the thousands.

use clap::error::{ContextKind, ContextValue, ErrorKind};

/// The error, with a hint how to type a number if that is what is wrong with a value.
pub(crate) fn with_tip(mut error: clap::Error) -> clap::Error {
    let value = match (error.kind(), error.get(ContextKind::InvalidValue)) {
        (ErrorKind::ValueValidation, Some(ContextValue::String(value))) => value,
        _ => return error,
    };
    if let Some(number) = without_separators(value) {
        let tip = match may_be_a_fraction(value) {
            false => format!("numbers have no separators: {number}"),
            true => {
                format!("this may be read in two ways: say {number} if that is meant, without a separator")
            }
        };
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
    }
    error
}

/// Whether the separator may be a decimal point: `1.500` is fifteen hundred, or one and a half.
fn may_be_a_fraction(text: &str) -> bool {
    text.matches(['.', ',']).count() == 1
}

/// The digits of a number whose thousands are separated.
fn without_separators(text: &str) -> Option<String> {
    let mut parts = text.split([',', '_', '\'', '.', ' ', '\u{a0}', '\u{202f}']);
    let first = parts.next().filter(|first| (1..=3).contains(&first.len()))?;
    let rest: Vec<&str> = parts.collect();
    let is_number = !rest.is_empty() && rest.iter().all(|part| part.len() == 3);
    let digits = format!("{first}{}", rest.concat());
    (is_number && digits.bytes().all(|byte| byte.is_ascii_digit())).then_some(digits)
}

#[cfg(test)]
mod tests {
    use super::{may_be_a_fraction, without_separators};

    #[test]
    fn thousands_are_put_together() {
        for (typed, number) in
            [("1,000", "1000"), ("12_345_678", "12345678"), ("1'000", "1000"), ("1.000", "1000")]
        {
            assert_eq!(without_separators(typed).as_deref(), Some(number));
        }
        assert!(may_be_a_fraction("1.500") && may_be_a_fraction("1,500"));
        assert!(!may_be_a_fraction("1_500") && !may_be_a_fraction("1.500.000"));
        for other in ["1000", "1,00", ",000", "1,0a0", "ten", "", "1,,000"] {
            assert_eq!(without_separators(other), None, "{other}");
        }
    }
}
