//! Hides passwords, signatures and tokens of URLs in names and messages.

use std::borrow::Cow;

/// Hides the secrets of `name` if all of it is a URL: user and password become `***`, and so does a query. Other names,
/// such as those of local files, stay as they are.
///
/// ```
/// # use marquetry_base::url_without_secrets;
/// assert_eq!(url_without_secrets("https://me:pass@host/a.parquet?sig=1"), "https://***@host/a.parquet?***");
/// assert_eq!(url_without_secrets("s3://bucket/part-?.parquet"), "s3://bucket/part-?.parquet");
/// ```
pub fn url_without_secrets(name: &str) -> Cow<'_, str> {
    match scheme_at_start(name) {
        Some(scheme) => Cow::Owned(redacted(scheme, &name[scheme.len() + SEPARATOR.len()..])),
        None => Cow::Borrowed(name),
    }
}

/// Applies [`url_without_secrets`] to each URL in `text`. A URL ends at white space, a control character, a quotation
/// mark, a backtick or an angle bracket. Text that starts like URL parameters is hidden up to there, too, because
/// servers quote requests without scheme and host.
pub fn text_without_secrets(text: &str) -> Cow<'_, str> {
    let text = match text.contains(SEPARATOR) {
        true => Cow::Owned(urls_without_secrets(text)),
        false => Cow::Borrowed(text),
    };
    match parameters(&text) {
        Some(_) => Cow::Owned(without_parameters(&text)),
        None => text,
    }
}

/// Returns the range of the first parameters that follow a question mark or an ampersand.
fn parameters(text: &str) -> Option<(usize, usize)> {
    let marks = text.char_indices().filter(|(_, c)| matches!(c, '?' | '&'));
    marks.map(|(at, _)| at + 1).find_map(|start| {
        let after = &text[start..];
        // An ampersand as XML escapes it.
        let after = after.strip_prefix("amp;").unwrap_or(after);
        let name_len = after.bytes().take_while(|byte| is_of_parameter(*byte)).count();
        let is_parameter = name_len > 0 && after[name_len..].starts_with('=');
        is_parameter.then(|| (start, start + text[start..].find(ends_url).unwrap_or(text.len() - start)))
    })
}

fn without_parameters(text: &str) -> String {
    let (mut out, mut rest) = (String::with_capacity(text.len()), text);
    while let Some((start, end)) = parameters(rest) {
        out += &rest[..start];
        out += HIDDEN;
        rest = &rest[end..];
    }
    out + rest
}

fn urls_without_secrets(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(separator) = rest.find(SEPARATOR) {
        let scheme_len = rest[..separator].bytes().rev().take_while(|&byte| is_of_scheme(byte)).count();
        let (before, scheme) = rest[..separator].split_at(separator - scheme_len);
        let after = &rest[separator + SEPARATOR.len()..];
        let (url, behind) = after.split_at(after.find(ends_url).unwrap_or(after.len()));
        out += before;
        out += &redacted(scheme, url);
        rest = behind;
    }
    out += rest;
    out
}

const SEPARATOR: &str = "://";

const HIDDEN: &str = "***";

fn is_of_scheme(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.')
}

fn ends_url(c: char) -> bool {
    c.is_whitespace() || c.is_control() || matches!(c, '"' | '<' | '>' | '`')
}

fn scheme_at_start(name: &str) -> Option<&str> {
    let (scheme, _) = name.split_once(SEPARATOR)?;
    (!scheme.is_empty() && scheme.bytes().all(is_of_scheme)).then_some(scheme)
}

/// Returns the URL of a scheme and the `rest` after it, without secrets.
fn redacted(scheme: &str, rest: &str) -> String {
    let (user, rest) = split_user(scheme, rest);
    let user = if user { "***@" } else { "" };
    let is_web = scheme.eq_ignore_ascii_case("http") || scheme.eq_ignore_ascii_case("https");
    let (path, query) = split_query(is_web, rest);
    let query = query.map(|mark| format!("{mark}{HIDDEN}")).unwrap_or_default();
    format!("{scheme}{SEPARATOR}{user}{path}{query}")
}

/// Returns whether there is a user, with or without a password, before the host, and the text after it.
fn split_user<'a>(scheme: &str, rest: &'a str) -> (bool, &'a str) {
    let authority = &rest[..rest.find(['/', '?', '#']).unwrap_or(rest.len())];
    if let Some(at) = authority.rfind('@') {
        // In URLs of Azure's file system, the name before the host is the container.
        let is_container =
            matches!(scheme, "abfs" | "abfss" | "wasb" | "wasbs") && !authority[..at].contains(':');
        return if is_container { (false, rest) } else { (true, &rest[at + 1..]) };
    }
    // A character in a password may end the authority early. Then what follows the colon is not a port.
    let port = authority.rsplit_once(':');
    let is_port = |(host, port): (&str, &str)| {
        port.bytes().all(|byte| byte.is_ascii_digit()) || host.starts_with('[') && port.ends_with(']')
    };
    match port {
        Some(port) if !is_port(port) => match rest.rfind('@') {
            Some(at) => (true, &rest[at + 1..]),
            // The URL may have been cut off: text that is not a port may be the start of a password.
            None => (true, &rest[authority.len()..]),
        },
        _ => (false, rest),
    }
}

/// Splits off the query. Returns the path, and the character that starts the hidden part. Keys of stores may contain
/// question marks, and patterns do: only text that looks like parameters is hidden, except on web servers.
fn split_query(is_web: bool, rest: &str) -> (&str, Option<char>) {
    let marks = rest.char_indices().filter(|(_, c)| matches!(c, '?' | '#'));
    for (at, mark) in marks {
        let after = &rest[at + 1..];
        let name_len = after.bytes().take_while(|byte| is_of_parameter(*byte)).count();
        let is_parameter = name_len > 0 && after[name_len..].starts_with('=');
        if is_parameter || is_web && mark == '?' && !after.is_empty() {
            return (&rest[..at], Some(mark));
        }
    }
    (rest, None)
}

fn is_of_parameter(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'%' | b'[' | b']')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_of_urls_are_hidden() {
        for (name, shown) in [
            ("http://h/x.parquet", "http://h/x.parquet"),
            ("http://me:pass@h:80/x", "http://***@h:80/x"),
            ("http://token@h/x", "http://***@h/x"),
            ("http://me:pa@ss@h/x", "http://***@h/x"),
            ("http://me:pa/ss@h/x", "http://***@h/x"),
            ("http://me:pa?ss@h/x", "http://***@h/x"),
            ("HTTPS://h/x?X-Amz-Signature=a&sig=b c", "HTTPS://h/x?***"),
            ("https://h/x?abc", "https://h/x?***"),
            ("https://h/x#token=1", "https://h/x#***"),
            ("https://h/x#1.parquet", "https://h/x#1.parquet"),
            ("https://h?sig=1", "https://h?***"),
            ("https://[::1]:80/x@y", "https://[::1]:80/x@y"),
            ("https://[::1]/x@y", "https://[::1]/x@y"),
            ("http://h/me@there.parquet", "http://h/me@there.parquet"),
            ("http://me:pa/?sig", "http://***@/?***"),
            ("s3://key:secret@bucket/x", "s3://***@bucket/x"),
            ("s3://bucket/part-?.parquet", "s3://bucket/part-?.parquet"),
            ("s3://bucket/year=?/x.parquet", "s3://bucket/year=?/x.parquet"),
            ("s3://bucket/x?versionId=1&sig=2", "s3://bucket/x?***"),
            ("abfss://data@account.dfs.core.windows.net/x", "abfss://data@account.dfs.core.windows.net/x"),
            ("abfss://data:key@account.dfs.core.windows.net/x", "abfss://***@account.dfs.core.windows.net/x"),
            ("a b.parquet", "a b.parquet"),
            ("what? http://h/x?sig=1", "what? http://h/x?sig=1"),
        ] {
            assert_eq!(url_without_secrets(name), shown);
        }
    }

    #[test]
    fn every_url_of_a_text_is_hidden() {
        for (text, shown) in [
            ("no URL", "no URL"),
            ("error (http://me:pass@h/x?sig=1), twice", "error (http://***@h/x?*** twice"),
            (
                "\"https://h/x?sig=1\" and ftp://me:pass@h/y: gone",
                "\"https://h/x?***\" and ftp://***@h/y: gone",
            ),
            ("://", "://"),
            ("ä://ü@ö", "ä://***@ö"),
            (
                "<Error>no: /x.parquet?sig=1&sig2=2</Error> for /y?a",
                "<Error>no: /x.parquet?***</Error> for /y?a",
            ),
            ("GET\n/x\nX-Amz-Date=1&amp;X-Amz-Signature=2\nhost", "GET\n/x\nX-Amz-Date=1&***\nhost"),
            ("is it? a = b & c = d", "is it? a = b & c = d"),
        ] {
            assert_eq!(text_without_secrets(text), shown);
        }
    }
}
