//! An HTTP client that trusts no server: error texts are truncated, listings are limited, and timeouts count only while
//! nothing arrives.

use async_trait::async_trait;
use futures::TryStreamExt;
use http_body_util::{BodyExt, Limited};
use object_store::client::{
    ClientConfigKey, HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpResponse,
    HttpResponseBody, HttpService, ReqwestConnector,
};
use object_store::{ClientOptions, HeaderMap, HeaderValue, Result};
use std::collections::HashMap;
use std::fmt::{self, Debug, Formatter};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// A connector that limits the time without progress instead of the time of whole requests.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CautiousConnector {
    /// How long nothing may arrive.
    pub(crate) patience: Duration,
}

impl HttpConnector for CautiousConnector {
    fn connect(&self, options: &ClientOptions) -> Result<HttpClient> {
        let mut options = options.clone();
        let is_default = |key: ClientConfigKey| {
            options.get_config_value(&key) == ClientOptions::default().get_config_value(&key)
        };
        // The user's environment takes precedence. Otherwise a body may take as long as it keeps arriving.
        let (has_no_timeout, has_no_read_timeout) =
            (is_default(ClientConfigKey::Timeout), is_default(ClientConfigKey::ReadTimeout));
        if has_no_timeout {
            options = options.with_timeout_disabled();
        }
        if has_no_read_timeout {
            options = options.with_read_timeout(self.patience);
        }
        let inner = ReqwestConnector::default().connect(&options)?;
        Ok(HttpClient::new(CautiousClient { inner, patience: self.patience, sizes: Mutex::default() }))
    }
}

struct CautiousClient {
    inner: HttpClient,
    patience: Duration,
    /// File sizes by URL, for servers that omit them from responses to ranges.
    sizes: Mutex<HashMap<String, u64>>,
}

impl Debug for CautiousClient {
    /// Omits URLs, which may have secrets.
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("CautiousClient").field("patience", &self.patience).finish_non_exhaustive()
    }
}

#[async_trait]
impl HttpService for CautiousClient {
    async fn call(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let (is_get, is_head) = (request.method() == "GET", request.method() == "HEAD");
        let url = request.uri().to_string();
        let range = text_of(request.headers(), "range").map(str::to_owned);
        let response = self.inner.execute(request).await?;
        let (mut parts, body) = response.into_parts();
        let status = parts.status.as_u16();
        let body = match (status, &range) {
            (400.., _) => error_text(body, self.patience).await.into(),
            // The caller reads no further than the range that it asked for.
            (206, Some(range)) => {
                self.complete(&url, range, &mut parts.headers);
                body
            }
            (200..=299, None) if is_get => {
                let bounded = Limited::new(body, MOST_LISTED);
                HttpResponseBody::new(
                    bounded.map_err(|error| HttpError::new_boxed(HttpErrorKind::Decode, error)),
                )
            }
            _ => body,
        };
        if is_head && let Some(size) = text_of(&parts.headers, "content-length").and_then(|n| n.parse().ok())
        {
            self.sizes().insert(url, size);
        }
        Ok(HttpResponse::from_parts(parts, body))
    }
}

impl CautiousClient {
    fn sizes(&self) -> MutexGuard<'_, HashMap<String, u64>> {
        self.sizes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds headers that a server may omit because others imply them: the length of the response, and the size of the
    /// file.
    fn complete(&self, url: &str, asked: &str, headers: &mut HeaderMap) {
        let Some((first, last, total)) = text_of(headers, "content-range").and_then(content_range) else {
            return;
        };
        // The length of a response to a range is not that of the file.
        if !headers.contains_key("content-length") {
            headers.insert("content-length", HeaderValue::from(last - first + 1));
        }
        if total.is_some() {
            return;
        }
        let is_suffix = asked.trim().strip_prefix("bytes=").is_some_and(|range| range.starts_with('-'));
        let size = match is_suffix {
            true => Some(last + 1),
            false => self.sizes().get(url).copied(),
        };
        if let Some(size) = size
            && let Ok(value) = HeaderValue::from_str(&format!("bytes {first}-{last}/{size}"))
        {
            self.sizes().insert(url.to_owned(), size);
            headers.insert("content-range", value);
        }
    }
}

fn text_of<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}

/// Parses `bytes a-b/n`: the first byte, the last byte, and `n` unless it is `*`.
fn content_range(text: &str) -> Option<(u64, u64, Option<u64>)> {
    let (range, total) = text.trim().strip_prefix("bytes ")?.split_once('/')?;
    let (first, last) = range.split_once('-')?;
    let (first, last): (u64, u64) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
    let is_range = first <= last && last < u64::MAX;
    let total = if total.trim() == "*" { None } else { Some(total.trim().parse().ok()?) };
    is_range.then_some((first, last, total))
}

/// Reads the beginning of a server's error text, as far as it arrives in time.
async fn error_text(body: HttpResponseBody, patience: Duration) -> String {
    let mut text = Vec::new();
    let mut pieces = body.bytes_stream();
    let read = async {
        while text.len() < MOST_ERROR_TEXT
            && let Ok(Some(piece)) = pieces.try_next().await
        {
            text.extend_from_slice(&piece[..piece.len().min(MOST_ERROR_TEXT - text.len())]);
        }
    };
    // After a timeout, the text so far is used.
    let _ = tokio::time::timeout(patience, read).await;
    String::from_utf8_lossy(&text).into_owned()
}

/// Maximum bytes of a listing. Stores list 1,000 or 5,000 files in a response, each with a few hundred bytes.
const MOST_LISTED: usize = 64 << 20;

/// Maximum bytes of an error text: enough for the XML in which stores report errors, part of which is shown.
const MOST_ERROR_TEXT: usize = 4 << 10;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_ranges() {
        for (text, expected) in [
            ("bytes 0-9/20", Some((0, 9, Some(20)))),
            ("bytes 5-5/*", Some((5, 5, None))),
            ("bytes */20", None),
            ("bytes 9-0/20", None),
            ("bytes 0-18446744073709551615/*", None),
            ("0-9/20", None),
        ] {
            assert_eq!(content_range(text), expected, "{text}");
        }
    }
}
