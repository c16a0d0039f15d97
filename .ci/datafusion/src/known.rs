//! The records that may fail, each with its reason.
//!
//! A line that begins with `==` is a reason; lines below it are a file, a colon, and the numbers of lines of records in it.

use std::collections::BTreeMap;

/// The number of the reason of each record.
#[derive(Debug, Default)]
pub(crate) struct Known {
    pub(crate) reasons: Vec<String>,
    pub(crate) records: BTreeMap<(String, u32), usize>,
}

impl Known {
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let mut known = Known::default();
        for (number, line) in text.lines().enumerate() {
            let wrong = |what: &str| format!("line {}: {what}", number + 1);
            if let Some(reason) = line.strip_prefix("== ") {
                known.reasons.push(reason.to_owned());
            } else if !line.is_empty() && !line.starts_with('#') {
                let (file, lines) = line.split_once(": ").ok_or_else(|| wrong("no file"))?;
                let reason = known.reasons.len().checked_sub(1).ok_or_else(|| wrong("no reason"))?;
                for line in lines.split_whitespace() {
                    let line = line.parse().map_err(|_| wrong("no number of a line"))?;
                    if known.records.insert((file.to_owned(), line), reason).is_some() {
                        return Err(wrong("a record that has a reason"));
                    }
                }
            }
        }
        Ok(known)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_have_the_reason_above_them() {
        let known = Known::parse("# about\n\n== one\na.slt: 3 14\n== two\nb.slt: 3\n").unwrap();
        assert_eq!(known.reasons, ["one", "two"]);
        assert_eq!(known.records[&("a.slt".to_owned(), 14)], 0);
        assert_eq!(known.records[&("b.slt".to_owned(), 3)], 1);
        for text in ["a.slt: 3", "== one\na.slt", "== one\na.slt: x", "== one\na: 3 3"] {
            assert!(Known::parse(text).is_err(), "{text}");
        }
    }
}
