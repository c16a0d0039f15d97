//! How VARIANT columns are shredded: `auto`, `none`, `{id: bigint, tags: [string]}`, each for one column as `COLUMN=..`.

use marquetry::variant::Shredding;

/// The shredding of one VARIANT column, or of all.
#[derive(Debug, Clone)]
pub(crate) struct ShredArg {
    pub(crate) column: Option<String>,
    pub(crate) wanted: Shred,
}

/// How a column is shredded.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Shred {
    /// Inferred from a sample of its rows, if that pays.
    Auto,
    /// Into this shape; `none` is [`Shredding::Variant`].
    As(Shredding),
}

/// Parses a shredding. A column's name may contain `=`, and so may names in a shape: the shape begins behind the first
/// one that gives a valid shape.
pub(crate) fn shred(text: &str) -> Result<ShredArg, String> {
    let whole = match wanted(text) {
        Ok(wanted) => return Ok(ShredArg { column: None, wanted }),
        Err(message) => message,
    };
    let mut first = None;
    for (at, _) in text.match_indices('=') {
        let column = text[..at].to_owned();
        match wanted(&text[at + 1..]) {
            Ok(_) if column.is_empty() => return Err("there is no column before the =".to_owned()),
            Ok(wanted) => return Ok(ShredArg { column: Some(column), wanted }),
            Err(message) => _ = first.get_or_insert(message),
        }
    }
    let is_shape = text.trim_start().starts_with(['{', '[']);
    Err(first.filter(|_| !is_shape).unwrap_or(whole))
}

fn wanted(text: &str) -> Result<Shred, String> {
    match text.trim() {
        "auto" => Ok(Shred::Auto),
        "none" => Ok(Shred::As(Shredding::Variant)),
        shape => {
            shape.parse().map(Shred::As).map_err(|error: marquetry::errors::Error| error.message().to_owned())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_and_shapes() {
        let parsed = |text: &str| shred(text).map(|arg| (arg.column, arg.wanted));
        let shape = |text: &str| Shred::As(text.parse().unwrap());
        assert_eq!(parsed("auto"), Ok((None, Shred::Auto)));
        assert_eq!(parsed("a.b=none"), Ok((Some("a.b".to_owned()), shape("variant"))));
        assert_eq!(parsed("{a: int8}"), Ok((None, shape("{a: int8}"))));
        assert_eq!(parsed("x=y={\"a=b\": int8}"), Ok((Some("x=y".to_owned()), shape("{\"a=b\": int8}"))));
        assert_eq!(parsed("{\"a=b\": int8}"), Ok((None, shape("{\"a=b\": int8}"))));
        assert_eq!(parsed("=auto"), Err("there is no column before the =".to_owned()));
        assert_eq!(
            parsed("v={a: uint8}").unwrap_err(),
            "a type is wanted, such as int64, string or decimal(9, 2), at character 5 of {a: uint8}"
        );
        assert!(parsed("{a: uint8}").unwrap_err().contains("character 5 of {a: uint8}"));
    }
}
