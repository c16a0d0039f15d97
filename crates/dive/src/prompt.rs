//! The prompt: the line for a search, a filter or a place to go to.

/// A line that is being typed.
#[derive(Debug)]
pub(crate) struct Prompt {
    pub(crate) kind: PromptKind,
    pub(crate) text: String,
}

/// The purpose of the line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PromptKind {
    Search,
    Filter,
    Jump,
}

impl PromptKind {
    /// The label in front of the line.
    pub(crate) fn label(self) -> &'static str {
        match self {
            PromptKind::Search => "search: ",
            PromptKind::Filter => "filter: ",
            PromptKind::Jump => "go to N of this list, r N row of the file, @N byte: ",
        }
    }
}

/// A place to go to.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// A row of the list.
    Here(usize),
    /// A row of the file.
    Row(usize),
    Byte(u64),
}

impl Target {
    /// Parses `12`, `r 12` or `@12`, with or without commas between thousands; `None` for other text.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let text: String = text.chars().filter(|c| !matches!(c, ',' | ' ' | '_')).collect();
        Some(match (text.strip_prefix('@'), text.strip_prefix('r')) {
            (Some(byte), _) => Target::Byte(byte.parse().ok()?),
            (_, Some(row)) => Target::Row(row.parse().ok()?),
            _ => Target::Here(text.parse().ok()?),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets() {
        assert_eq!(Target::parse("1,234"), Some(Target::Here(1234)));
        assert_eq!(Target::parse("r 5"), Some(Target::Row(5)));
        assert_eq!(Target::parse("@10"), Some(Target::Byte(10)));
        assert_eq!(Target::parse("x"), None);
    }
}
