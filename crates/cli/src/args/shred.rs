//! How columns of VARIANT are shredded: `auto`, `none`, `{id: bigint, tags: [string]}`, each of one column as `COLUMN=..`.

use marquetry::variant::Shredding;

/// What is wanted of a column of VARIANT, or of all.
#[derive(Debug, Clone)]
pub(crate) struct ShredArg {
    pub(crate) column: Option<String>,
    pub(crate) wanted: Shred,
}

/// How a column is shredded.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Shred {
    /// As a sample of its rows has its values, if that pays.
    Auto,
    /// Into this shape; `none` is [`Shredding::Variant`].
    As(Shredding),
}

/// What `text` says. A name may have a `=` in it, and so may the names in a shape: what is behind the first that makes sense is
/// the shape.
pub(crate) fn shred(text: &str) -> Result<ShredArg, String> {
    let whole = match wanted(text) {
        Ok(wanted) => return Ok(ShredArg { column: None, wanted }),
        Err(message) => message,
    };
    let mut first = None;
    for (at, _) in text.match_indices('=') {
        let column = text[..at].to_owned();
        match wanted(&text[at + 1..]) {
            Ok(_) if column.is_empty() => return Err("no column stands before the =".to_owned()),
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
        assert_eq!(parsed("=auto"), Err("no column stands before the =".to_owned()));
        assert_eq!(
            parsed("v={a: uint8}").unwrap_err(),
            "a type is wanted, such as int64, string or decimal(9, 2), at character 5 of {a: uint8}"
        );
        assert!(parsed("{a: uint8}").unwrap_err().contains("character 5 of {a: uint8}"));
    }
}
