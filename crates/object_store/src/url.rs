//! URLs of files, and the stores that they are in.

use crate::connector::CautiousConnector;
use crate::store_error::StoreError;
#[cfg(feature = "http")]
use base64::prelude::{BASE64_STANDARD, Engine as _};
use marquetry_base::{Error, ErrorKind, Result, url_without_secrets};
use object_store::path::Path;
use object_store::{BackoffConfig, ObjectStore, RetryConfig};
#[cfg(feature = "http")]
use object_store::{HeaderMap, HeaderValue};
use std::sync::Arc;
use std::time::Duration;

/// The URL of a file, split into its store and its path there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Url<'a> {
    pub(crate) scheme: &'a str,
    /// Bucket, container or host, without a user.
    pub(crate) authority: &'a str,
    /// `user:password`, for web servers.
    pub(crate) user: Option<&'a str>,
    /// The path without its leading slash.
    pub(crate) path: &'a str,
    /// The query with its question mark. Only URLs of web servers have one; it may sign the path.
    pub(crate) query: &'a str,
}

/// Whether `text` begins like the URL of a file in a store: `s3://`, `gs://`, `az://`, `http://` and a few more.
pub fn is_url(text: &str) -> bool {
    text.split_once("://").is_some_and(|(scheme, _)| SCHEMES.contains(&scheme))
}

const SCHEMES: [&str; 9] = ["s3", "s3a", "gs", "az", "azure", "abfs", "abfss", "http", "https"];

impl<'a> Url<'a> {
    pub(crate) fn parse(text: &'a str) -> Result<Self> {
        let wrong = || Error::argument(format!("no URL of a file in a store: {}", url_without_secrets(text)));
        let (scheme, rest) = text.split_once("://").filter(|_| is_url(text)).ok_or_else(wrong)?;
        let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
        let (user, authority) = match authority.rsplit_once('@').filter(|_| is_web(scheme)) {
            Some((user, host)) => (Some(user), host),
            None => (None, authority),
        };
        let query = if is_web(scheme) { path.find('?').unwrap_or(path.len()) } else { path.len() };
        let (path, query) = path.split_at(query);
        if authority.is_empty() {
            return Err(wrong());
        }
        Ok(Url { scheme, user, authority, path, query })
    }

    pub(crate) fn is_web(self) -> bool {
        is_web(self.scheme)
    }

    /// Returns the URL of the store.
    fn store(self) -> String {
        format!("{}://{}/{}", self.scheme, self.authority, self.query)
    }

    /// Returns a key that tells the store, as this user sees it, from others.
    pub(crate) fn store_of_user(self) -> String {
        self.with_path("")
    }

    /// Returns the URL of another file in the same store.
    pub(crate) fn with_path(self, path: &str) -> String {
        let (user, at) = self.user.map_or(("", ""), |user| (user, "@"));
        format!("{}://{user}{at}{}/{path}{}", self.scheme, self.authority, self.query)
    }

    /// Returns the headers of every request: the user's credentials.
    #[cfg(feature = "http")]
    fn headers(self) -> Result<HeaderMap> {
        let mut headers = HeaderMap::new();
        if let Some(user) = self.user {
            let (name, password) = user.split_once(':').unwrap_or((user, ""));
            let mut plain = decoded(name);
            plain.push(b':');
            plain.extend(decoded(password));
            let basic = format!("Basic {}", BASE64_STANDARD.encode(plain));
            let mut basic = HeaderValue::from_str(&basic)
                .map_err(|_| Error::argument("no user and password for a web server"))?;
            basic.set_sensitive(true);
            headers.insert("authorization", basic);
        }
        Ok(headers)
    }

    /// Returns the path of the file in its store. Paths of web servers are percent-encoded; keys of stores are literal.
    pub(crate) fn object(self) -> Result<Path> {
        let path = if self.is_web() { Path::from_url_path(self.path) } else { Path::parse(self.path) };
        path.map_err(|error| Error::caused_by(ErrorKind::Argument, "no path of a file in a store", error))
    }

    /// Connects to the store, configured by the usual environment variables.
    pub(crate) fn connect(self, patience: Duration) -> Result<Arc<dyn ObjectStore>> {
        let store = self.store();
        let connector = CautiousConnector { patience };
        let retries = retries(patience);
        let connected: Result<Arc<dyn ObjectStore>, object_store::Error> = match self.scheme {
            #[cfg(feature = "aws")]
            "s3" | "s3a" => {
                let builder = object_store::aws::AmazonS3Builder::from_env().with_url(store);
                // An endpoint without TLS was named on purpose.
                let is_plain = ["AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT"]
                    .into_iter()
                    .find_map(|name| std::env::var(name).ok())
                    .is_some_and(|endpoint| endpoint.starts_with("http://"));
                let builder = if is_plain { builder.with_allow_http(true) } else { builder };
                builder
                    .with_retry(retries)
                    .with_http_connector(connector)
                    .build()
                    .map(|store| Arc::new(store) as _)
            }
            #[cfg(feature = "gcp")]
            "gs" => {
                let builder = object_store::gcp::GoogleCloudStorageBuilder::from_env().with_url(store);
                builder
                    .with_retry(retries)
                    .with_http_connector(connector)
                    .build()
                    .map(|store| Arc::new(store) as _)
            }
            #[cfg(feature = "azure")]
            "az" | "azure" | "abfs" | "abfss" => {
                let builder = object_store::azure::MicrosoftAzureBuilder::from_env().with_url(store);
                builder
                    .with_retry(retries)
                    .with_http_connector(connector)
                    .build()
                    .map(|store| Arc::new(store) as _)
            }
            #[cfg(feature = "http")]
            "http" | "https" => {
                let options = object_store::ClientOptions::new().with_allow_http(self.scheme == "http");
                let options = options.with_default_headers(self.headers()?);
                let builder = object_store::http::HttpBuilder::new().with_url(store);
                let builder =
                    builder.with_client_options(options).with_retry(retries).with_http_connector(connector);
                builder.build().map(|store| Arc::new(store) as _)
            }
            scheme => {
                let message = format!(
                    "this build has no support for {scheme}://: turn on its feature, `aws`, `gcp`, `azure` or `http`"
                );
                return Err(Error::unsupported(message));
            }
        };
        connected.map_err(|error| {
            Error::caused_by(ErrorKind::Argument, "cannot use the store", StoreError::new(&error))
        })
    }
}

fn is_web(scheme: &str) -> bool {
    matches!(scheme, "http" | "https")
}

/// Retries failed requests for slightly less than `patience`: not after nothing came for so long, as somebody may be
/// waiting.
fn retries(patience: Duration) -> RetryConfig {
    let retry_timeout = patience.mul_f32(0.9);
    RetryConfig { backoff: BackoffConfig::default(), max_retries: 6, retry_timeout }
}

/// Decodes percent escapes, and leaves invalid ones as they are.
#[cfg(feature = "http")]
fn decoded(text: &str) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, others @ ..] = rest {
        let digit = |byte: u8| char::from(byte).to_digit(16).map(|digit| digit as u8);
        match (first, others) {
            (b'%', [high, low, behind @ ..]) if digit(*high).is_some() && digit(*low).is_some() => {
                out.push(digit(*high).unwrap_or(0) * 16 + digit(*low).unwrap_or(0));
                rest = behind;
            }
            _ => {
                out.push(*first);
                rest = others;
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url<'a>(scheme: &'a str, authority: &'a str, path: &'a str, query: &'a str) -> Url<'a> {
        Url { scheme, user: None, authority, path, query }
    }

    #[test]
    fn urls_are_cut() {
        let cases = [
            ("s3://bucket/a/b c?.parquet", url("s3", "bucket", "a/b c?.parquet", "")),
            ("gs://bucket", url("gs", "bucket", "", "")),
            (
                "abfss://c@account.dfs.core.windows.net/x",
                url("abfss", "c@account.dfs.core.windows.net", "x", ""),
            ),
            ("https://host:1/a/b.parquet?key=1/2", url("https", "host:1", "a/b.parquet", "?key=1/2")),
            ("http://me:pass@host/x", Url { user: Some("me:pass"), ..url("http", "host", "x", "") }),
        ];
        for (text, cut) in cases {
            assert_eq!(Url::parse(text).unwrap(), cut);
            assert_eq!(
                cut.with_path(cut.path),
                if cut.path.is_empty() { format!("{text}/") } else { text.to_owned() }
            );
        }
        for text in ["s3://", "s3:///x", "data.parquet", "ftp://host/x", "C://x"] {
            assert!(Url::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn keys_are_literal_and_paths_of_the_web_are_not() {
        assert_eq!(Url::parse("s3://b/a%20b").unwrap().object().unwrap().as_ref(), "a%20b");
        assert_eq!(Url::parse("http://h/a%20b").unwrap().object().unwrap().as_ref(), "a b");
        assert!(Url::parse("s3://b/a//b").unwrap().object().is_err());
    }
}
