//! Errors of stores, with secrets removed.

use marquetry_base::{ErrorKind, text_without_secrets};
use std::error::Error;
use std::fmt::{self, Display, Formatter};

/// The texts of an error and of its causes, truncated and without the secrets of URLs.
#[derive(Debug)]
pub(crate) struct StoreError(String);

impl StoreError {
    pub(crate) fn new(error: &dyn Error) -> Self {
        let mut text = error.to_string();
        let mut cause = error.source();
        while let Some(error) = cause {
            let more = error.to_string();
            // Most errors repeat their causes in their own text.
            if !text.contains(&more) {
                text = format!("{text}: {more}");
            }
            cause = error.source();
        }
        let shown = without_proofs(&text_without_secrets(&text));
        let cut = shown.char_indices().nth(MOST_CHARACTERS).map(|(at, _)| at);
        StoreError(match cut {
            Some(at) => format!("{}...", &shown[..at]),
            None => shown,
        })
    }
}

/// Removes what S3 echoes of the credentials: keys, tokens, signatures and the strings that they sign.
fn without_proofs(text: &str) -> String {
    let (mut out, mut rest) = (String::with_capacity(text.len()), text);
    while let Some(open) = rest.find('<') {
        let (before, tag) = rest.split_at(open);
        let Some(close) = tag.find('>') else { break };
        let (name, content) = (&tag[1..close], &tag[close + 1..]);
        out += before;
        out += &tag[..=close];
        let is_proof = !name.starts_with('/') && PROOFS.iter().any(|proof| name.contains(proof));
        rest = match is_proof {
            true => {
                out += "***";
                &content[content.find("</").unwrap_or(content.len())..]
            }
            false => content,
        };
    }
    out + rest
}

/// Parts of the names of XML elements.
const PROOFS: [&str; 6] =
    ["Signature", "StringToSign", "CanonicalRequest", "AccessKeyId", "Token", "AuthenticationErrorDetail"];

impl Display for StoreError {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Error for StoreError {}

/// Converts an error of a store. Errors that would be the same after any retry are permanent.
#[cold]
pub(crate) fn store_failed(error: &object_store::Error) -> marquetry_base::Error {
    use object_store::Error as Store;
    let failed = marquetry_base::Error::caused_by(ErrorKind::Io, "the store failed", StoreError::new(error));
    match error {
        Store::Precondition { .. } => {
            marquetry_base::Error::new(ErrorKind::Changed, "the file has changed since it was opened")
        }
        Store::NotFound { path, .. } => {
            marquetry_base::Error::new(ErrorKind::NotFound, format!("there is no object {path}"))
        }
        Store::PermissionDenied { .. }
        | Store::Unauthenticated { .. }
        | Store::NotSupported { .. }
        | Store::NotImplemented { .. }
        | Store::InvalidPath { .. }
        | Store::AlreadyExists { .. }
        | Store::UnknownConfigurationKey { .. } => failed.permanent(),
        _ => failed,
    }
}

/// Maximum characters of an error text of a server.
const MOST_CHARACTERS: usize = 600;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_s3_quotes_of_a_request_is_hidden() {
        let text = "403: <Error><Code>SignatureDoesNotMatch</Code><AWSAccessKeyId>AKIA</AWSAccessKeyId>\
            <StringToSign>AWS4\n20</StringToSign><SignatureProvided>abc</SignatureProvided><Token-0>t</Token-0>";
        let shown = "403: <Error><Code>SignatureDoesNotMatch</Code><AWSAccessKeyId>***</AWSAccessKeyId>\
            <StringToSign>***</StringToSign><SignatureProvided>***</SignatureProvided><Token-0>***</Token-0>";
        assert_eq!(without_proofs(text), shown);
        assert_eq!(without_proofs("1 < 2 and <Token"), "1 < 2 and <Token");
        assert_eq!(without_proofs("<Signature>cut off"), "<Signature>***");
    }
}
