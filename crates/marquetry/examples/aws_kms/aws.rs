//! AWS KMS as a key management service.
//!
//! API: <https://docs.aws.amazon.com/kms/latest/APIReference/API_Encrypt.html>. The name of the master key goes into the encryption
//! context, so that what is wrapped for one name is not unwrapped for another.

use crate::sigv4::{Credentials, authorization};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use marquetry::errors::{Error, ErrorKind, Result};
use marquetry::file::encryption::KmsClient;
use serde_json::{Value, json};
use std::time::{Duration, SystemTime};

/// AWS KMS in one region.
pub(crate) struct AwsKms {
    endpoint: String,
    region: String,
    credentials: Credentials,
    agent: ureq::Agent,
}

impl AwsKms {
    /// Creates a client for the KMS of this region, or for an endpoint that imitates one.
    pub(crate) fn new(region: &str, endpoint: Option<&str>, credentials: Credentials) -> Self {
        let config = ureq::Agent::config_builder()
            // AWS describes an error in its body.
            .http_status_as_error(false)
            .timeout_global(Some(Duration::from_secs(10)))
            .build();
        let endpoint = endpoint.map_or_else(|| format!("https://kms.{region}.amazonaws.com"), str::to_owned);
        AwsKms {
            endpoint: endpoint.trim_end_matches('/').to_owned(),
            region: region.to_owned(),
            credentials,
            agent: config.into(),
        }
    }

    /// Creates a client from the usual environment variables of AWS.
    pub(crate) fn from_env() -> Result<Self> {
        let variable = |name: &str| std::env::var(name).ok();
        let needed = |name: &str| {
            variable(name).ok_or_else(|| Error::argument(format!("no environment variable {name}")))
        };
        let credentials = Credentials {
            id: needed("AWS_ACCESS_KEY_ID")?,
            secret: needed("AWS_SECRET_ACCESS_KEY")?,
            session_token: variable("AWS_SESSION_TOKEN"),
        };
        let endpoint = variable("AWS_ENDPOINT_URL_KMS").or_else(|| variable("AWS_ENDPOINT_URL"));
        Ok(AwsKms::new(&needed("AWS_REGION")?, endpoint.as_deref(), credentials))
    }

    /// Calls an operation, and returns a member of the answer.
    pub(crate) fn call(&self, operation: &str, question: &Value, member: &str) -> Result<String> {
        let failed = |why: String| Error::new(ErrorKind::Io, format!("AWS KMS, {operation}: {why}"));
        let (body, target) = (question.to_string(), format!("TrentService.{operation}"));
        let host = self.endpoint.split_once("://").map_or(self.endpoint.as_str(), |(_, host)| host);
        let signed = authorization(&self.credentials, &self.region, host, &target, &body, SystemTime::now());
        let mut request = self.agent.post(format!("{}/", self.endpoint));
        for (name, value) in &signed {
            request = request.header(*name, value);
        }
        let mut response = request.send(body).map_err(|error| failed(error.to_string()))?;
        let status = response.status();
        let text = response.body_mut().read_to_string().map_err(|error| failed(error.to_string()))?;
        let answer: Value = serde_json::from_str(&text).unwrap_or(Value::Null);
        if !status.is_success() {
            let why = format!("{status}, {} {}", answer["__type"], answer["message"]);
            let is_of_keys = answer["__type"].as_str().is_some_and(|kind| {
                kind.contains("AccessDenied")
                    || kind.contains("InvalidCiphertext")
                    || kind.contains("IncorrectKey")
            });
            return Err(match is_of_keys {
                true => Error::new(ErrorKind::Key, format!("AWS KMS, {operation}: {why}")),
                false => failed(why),
            });
        }
        let found = answer[member].as_str().map(str::to_owned);
        found.ok_or_else(|| failed(format!("its answer has no {member}")))
    }
}

impl KmsClient for AwsKms {
    fn wrap_key(&self, key: &[u8], master_key_id: &str) -> Result<String> {
        let question = json!({
            "KeyId": master_key_id,
            "Plaintext": STANDARD.encode(key),
            "EncryptionContext": { "master-key": master_key_id },
        });
        self.call("Encrypt", &question, "CiphertextBlob")
    }

    fn unwrap_key(&self, wrapped_key: &str, master_key_id: &str) -> Result<Vec<u8>> {
        let question = json!({
            "KeyId": master_key_id,
            "CiphertextBlob": wrapped_key,
            "EncryptionContext": { "master-key": master_key_id },
        });
        let key = self.call("Decrypt", &question, "Plaintext")?;
        // Neither the key nor a part of it goes into the error.
        STANDARD
            .decode(key)
            .map_err(|_| Error::new(ErrorKind::Io, "AWS KMS has answered with what is not base64"))
    }
}
