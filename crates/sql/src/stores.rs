//! Object stores by URL, configured by the environment.

use crate::empty_files::{RefuseEmptyFiles, disk};
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::object_store::{DefaultObjectStoreRegistry, ObjectStoreRegistry, ObjectStoreUrl};
use object_store::aws::AmazonS3Builder;
use object_store::azure::MicrosoftAzureBuilder;
use object_store::gcp::GoogleCloudStorageBuilder;
use object_store::http::HttpBuilder;
use object_store::local::LocalFileSystem;
use object_store::{BackoffConfig, ObjectStore, ObjectStoreScheme, RetryConfig};
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;
use url::{Position, Url};

/// Object stores for local files, S3, Google Cloud Storage, Azure, and web servers.
///
/// Keys, regions and endpoints are read from the environment of the process, under the usual names:
/// `AWS_ACCESS_KEY_ID`, `AWS_ENDPOINT_URL`, `GOOGLE_SERVICE_ACCOUNT`, `AZURE_STORAGE_ACCOUNT_NAME` and so on. No plan
/// carries them, so that each process of a cluster needs them.
///
/// Listing files fails at a Parquet file of zero bytes, which DataFusion skips.
#[derive(Debug)]
pub struct Stores {
    known: DefaultObjectStoreRegistry,
}

impl Default for Stores {
    fn default() -> Self {
        let known = DefaultObjectStoreRegistry::new();
        known.register_store(ObjectStoreUrl::local_filesystem().as_ref(), disk());
        Stores { known }
    }
}

impl ObjectStoreRegistry for Stores {
    fn register_store(&self, url: &Url, store: Arc<dyn ObjectStore>) -> Option<Arc<dyn ObjectStore>> {
        self.known.register_store(url, store)
    }

    fn deregister_store(&self, url: &Url) -> Result<Arc<dyn ObjectStore>> {
        self.known.deregister_store(url)
    }

    fn get_store(&self, url: &Url) -> Result<Arc<dyn ObjectStore>> {
        if let Ok(store) = self.known.get_store(url) {
            return Ok(store);
        }
        let store = connect(
            url,
            std::env::vars_os()
                .filter_map(|(key, value)| Some((key.into_string().ok()?, value.into_string().ok()?))),
        )?;
        let store =
            Arc::new(RefuseEmptyFiles::new(store, &url[..Position::BeforePath])) as Arc<dyn ObjectStore>;
        // One store for all of its files, so that connections are reused.
        self.known.register_store(url, store.clone());
        Ok(store)
    }
}

fn connect(url: &Url, environment: impl Iterator<Item = (String, String)>) -> Result<Arc<dyn ObjectStore>> {
    if !SCHEMES.contains(&url.scheme()) {
        return Err(DataFusionError::Plan(format!(
            "{}:// is not a URL of a file: it may begin with {}://",
            url.scheme(),
            SCHEMES.join("://, ")
        )));
    }
    let mut options: Vec<(String, String)> = environment.collect();
    // An endpoint without TLS is configured on purpose.
    let is_plain = |(key, value): &(String, String)| {
        ["AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT"].contains(&key.as_str())
            && value.starts_with("http://")
    };
    if url.scheme() == "http" || (url.scheme().starts_with("s3") && options.iter().any(is_plain)) {
        options.push(("allow_http".to_owned(), "true".to_owned()));
    }
    let text = url.as_str();
    Ok(match ObjectStoreScheme::parse(url).map_err(object_store::Error::from)?.0 {
        ObjectStoreScheme::AmazonS3 => {
            let builder = AmazonS3Builder::new().with_url(text).with_retry(RETRIES);
            let configured =
                of_store(&options).fold(builder, |builder, (key, value)| builder.with_config(key, value));
            Arc::new(configured.build()?)
        }
        ObjectStoreScheme::GoogleCloudStorage => {
            let builder = GoogleCloudStorageBuilder::new().with_url(text).with_retry(RETRIES);
            let configured =
                of_store(&options).fold(builder, |builder, (key, value)| builder.with_config(key, value));
            Arc::new(configured.build()?)
        }
        ObjectStoreScheme::MicrosoftAzure => {
            let builder = MicrosoftAzureBuilder::new().with_url(text).with_retry(RETRIES);
            let configured =
                of_store(&options).fold(builder, |builder, (key, value)| builder.with_config(key, value));
            Arc::new(configured.build()?)
        }
        ObjectStoreScheme::Http => {
            let builder = HttpBuilder::new().with_url(&url[..Position::BeforePath]).with_retry(RETRIES);
            let configured =
                of_store(&options).fold(builder, |builder, (key, value)| builder.with_config(key, value));
            Arc::new(configured.build()?)
        }
        _ => Arc::new(LocalFileSystem::new()),
    })
}

/// The options that this kind of store knows.
fn of_store<K: FromStr>(options: &[(String, String)]) -> impl Iterator<Item = (K, &String)> {
    options.iter().filter_map(|(key, value)| Some((key.to_ascii_lowercase().parse().ok()?, value)))
}

/// Somebody may be waiting: a request without an answer fails after half a minute, and is not repeated then.
const RETRIES: RetryConfig = RetryConfig {
    backoff: BackoffConfig {
        init_backoff: Duration::from_millis(100),
        max_backoff: Duration::from_secs(15),
        base: 2.0,
    },
    max_retries: 6,
    retry_timeout: Duration::from_secs(27),
};

const SCHEMES: [&str; 10] = ["file", "s3", "s3a", "gs", "az", "azure", "abfs", "abfss", "http", "https"];

#[cfg(test)]
mod tests {
    use super::*;

    fn store(url: &str, environment: &[(&str, &str)]) -> Result<String> {
        let environment = environment.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
        Ok(connect(&Url::parse(url).unwrap(), environment)?.to_string())
    }

    #[test]
    fn a_store_is_what_its_url_and_the_environment_say() {
        let keys = [
            ("AWS_ACCESS_KEY_ID", "a"),
            ("AWS_SECRET_ACCESS_KEY", "b"),
            ("AWS_ENDPOINT_URL", "http://localhost:1"),
        ];
        assert_eq!(store("s3://bucket/", &keys).unwrap(), "AmazonS3(bucket)");
        assert_eq!(store("http://localhost:2/", &[]).unwrap(), "HttpStore");
        let error = store("ftp://host/", &[]).unwrap_err().to_string();
        assert!(error.contains("ftp:// is not a URL of a file: it may begin with file://, s3://"), "{error}");
    }

    #[test]
    fn a_store_is_connected_once() {
        let stores = Stores::default();
        let url = Url::parse("http://localhost:2/").unwrap();
        let first = stores.get_store(&url).unwrap();
        assert!(Arc::ptr_eq(&first, &stores.get_store(&url).unwrap()));
    }
}
