//! Hive partitions: directories called `key=value`, whose values are columns of all files below.

use arrow_array::{ArrayRef, Date32Array, Int64Array, StringArray};
use arrow_schema::DataType;
use marquetry_base::{Error, Result};
use std::path::{Component, Path};
use std::sync::Arc;

/// The value in a directory's name that stands for null, as Hive writes it: `key=__HIVE_DEFAULT_PARTITION__`.
pub const NULL_PARTITION: &str = "__HIVE_DEFAULT_PARTITION__";

/// Returns keys and values of the directories on a path; a null value is `None`. The query string of a URL is not part
/// of the path, even if it has slashes.
pub(super) fn pairs(path: &Path) -> Vec<(String, Option<String>)> {
    let is_web = |text: &&str| text.starts_with("http://") || text.starts_with("https://");
    let path = match path.to_str().filter(is_web).and_then(|url| url.split_once('?')) {
        Some((path, _)) => Path::new(path),
        None => path,
    };
    let directories = path.parent().into_iter().flat_map(Path::components).filter_map(|part| match part {
        Component::Normal(name) => name.to_str(),
        _ => None,
    });
    let pairs = directories.filter_map(|name| name.split_once('=')).filter(|(key, _)| !key.is_empty());
    pairs.map(|(key, value)| (decoded(key), (value != NULL_PARTITION).then(|| decoded(value)))).collect()
}

/// Decodes `%20` and the like. Returns the text as it is if the result would not be UTF-8.
fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        let hex = |digit: u8| char::from(digit).to_digit(16).map(|digit| digit as u8);
        match (first, tail) {
            (b'%', [high, low, tail @ ..]) if hex(*high).is_some() && hex(*low).is_some() => {
                bytes.push(hex(*high).unwrap_or(0) << 4 | hex(*low).unwrap_or(0));
                rest = tail;
            }
            _ => {
                bytes.push(*first);
                rest = tail;
            }
        }
    }
    String::from_utf8(bytes).unwrap_or_else(|_| text.to_owned())
}

/// Returns the type of a key that has these values: Int64 or Date32 if all of them are in that type's canonical form,
/// else text. So `007` stays text.
pub(super) fn guess<'a>(values: impl Iterator<Item = &'a str> + Clone) -> DataType {
    let are_all = |is: fn(&str) -> bool| values.clone().next().is_some() && values.clone().all(is);
    let is_integer = |text: &str| text.parse::<i64>().is_ok_and(|number| number.to_string() == text);
    match (are_all(is_integer), are_all(|text| day(text).is_some())) {
        (true, _) => DataType::Int64,
        (_, true) => DataType::Date32,
        _ => DataType::Utf8View,
    }
}

/// Returns the value as an array of one row.
pub(super) fn value(key: &str, text: Option<&str>, to: &DataType) -> Result<ArrayRef> {
    let wrong = || {
        Error::argument(format!("the partition {key}={} is not a valid {to}", text.unwrap_or(NULL_PARTITION)))
            .in_column(key)
    };
    let Some(text) = text else {
        return Ok(arrow_array::new_null_array(to, 1));
    };
    let array: ArrayRef = match to {
        DataType::Int64 => Arc::new(Int64Array::from(vec![text.parse::<i64>().map_err(|_| wrong())?])),
        DataType::Date32 => Arc::new(Date32Array::from(vec![day(text).ok_or_else(wrong)?])),
        _ => Arc::new(StringArray::from(vec![text])),
    };
    crate::evolution::cast_exact(&array, to).map_err(|_| wrong())
}

/// Returns the days since 1970-01-01 of a date `YYYY-MM-DD`.
fn day(text: &str) -> Option<i32> {
    let is_date = text.len() == 10
        && text.bytes().enumerate().all(|(i, byte)| match i {
            4 | 7 => byte == b'-',
            _ => byte.is_ascii_digit(),
        });
    if !is_date {
        return None;
    }
    let array: ArrayRef = Arc::new(StringArray::from(vec![text]));
    let date = crate::evolution::cast_exact(&array, &DataType::Date32).ok()?;
    let date = date.as_any().downcast_ref::<Date32Array>()?;
    Some(date.value(0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::Array;

    #[test]
    fn of_paths() {
        let text = |path: &str| {
            let pairs = pairs(Path::new(path)).into_iter();
            pairs
                .map(|(key, value)| format!("{key}:{}", value.as_deref().unwrap_or("null")))
                .collect::<Vec<_>>()
                .join(" ")
        };
        assert_eq!(text("t/a=1/b=x%20y/part-0.parquet"), "a:1 b:x y");
        assert_eq!(text("/t/k%3D=%C3%A9/c=/f=1.parquet"), "k=:é c:");
        assert_eq!(text("a=__HIVE_DEFAULT_PARTITION__/x"), "a:null");
        assert_eq!(text("a=%ff/b=100%/c=%4/=1/x"), "a:%ff b:100% c:%4");
        assert_eq!(text("../a=b=c/x"), "a:b=c");
        assert_eq!(text("http://host/a=1/x.parquet?b=2/c=3"), "a:1");
        assert_eq!(text("a?b=1/x.parquet"), "a?b:1");
    }

    #[test]
    fn types() {
        let guess = |values: &[&str]| super::guess(values.iter().copied());
        assert_eq!(guess(&["1", "-20"]), DataType::Int64);
        assert_eq!(guess(&["01", "2"]), DataType::Utf8View);
        assert_eq!(guess(&["9223372036854775808"]), DataType::Utf8View);
        assert_eq!(guess(&["2024-02-29", "1969-12-31"]), DataType::Date32);
        assert_eq!(guess(&["2023-02-29"]), DataType::Utf8View);
        assert_eq!(guess(&[]), DataType::Utf8View);
    }

    #[test]
    fn values() {
        assert_eq!(day("1970-01-02"), Some(1));
        assert_eq!(day("1970-1-02"), None);
        for (text, to) in
            [("7", DataType::Int16), ("1.50", DataType::Decimal128(5, 2)), ("true", DataType::Boolean)]
        {
            let array = value("k", Some(text), &to).unwrap();
            assert_eq!((array.data_type(), array.len(), array.null_count()), (&to, 1, 0));
        }
        assert_eq!(value("k", None, &DataType::Int64).unwrap().null_count(), 1);
        let error = value("k", Some("x"), &DataType::Int16).unwrap_err();
        assert_eq!(error.to_string(), "argument: the partition k=x is not a valid Int16, in column k");
    }
}
