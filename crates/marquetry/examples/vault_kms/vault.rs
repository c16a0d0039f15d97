//! HashiCorp Vault's transit engine as a key management service.
//!
//! API: <https://developer.hashicorp.com/vault/api-docs/secret/transit>
//!
//! ```text
//! POST /v1/transit/encrypt/NAME  {"plaintext": BASE64}              data.ciphertext  "vault:v2:.."
//! POST /v1/transit/decrypt/NAME  {"ciphertext": "vault:v2:.."}      data.plaintext   BASE64
//! ```
//!
//! Master keys never leave Vault, and have versions: what is wrapped after `transit/keys/NAME/rotate` has the new one in its text.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use marquetry::errors::{Error, ErrorKind, Result};
use marquetry::file::encryption::KmsClient;
use serde_json::{Value, json};
use std::time::Duration;

/// A Vault server, and the token for its requests.
pub(crate) struct Vault {
    address: String,
    mount: String,
    token: String,
    agent: ureq::Agent,
}

impl Vault {
    /// Creates a client for the Vault at this address, such as `https://vault.example:8200`, with its engine mounted at
    /// `transit`.
    pub(crate) fn new(address: &str, token: &str) -> Self {
        let config = ureq::Agent::config_builder()
            // Vault describes an error in its body.
            .http_status_as_error(false)
            .timeout_global(Some(Duration::from_secs(10)))
            .build();
        Vault {
            address: address.trim_end_matches('/').to_owned(),
            mount: "transit".to_owned(),
            token: token.to_owned(),
            agent: config.into(),
        }
    }

    /// Sets where the engine is mounted. Default `transit`.
    pub(crate) fn with_mount(mut self, mount: &str) -> Self {
        self.mount = mount.trim_matches('/').to_owned();
        self
    }

    /// Requests an action of the engine with a key, and returns a member of the answer's data.
    fn ask(&self, action: &str, key: &str, question: &Value, member: &str) -> Result<String> {
        // The name becomes part of a URL.
        if key.is_empty()
            || !key.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c))
            || key.contains("..")
        {
            return Err(Error::argument(format!("{key:?} is not a name of a key in Vault")));
        }
        let url = format!("{}/v1/{}/{action}/{key}", self.address, self.mount);
        let failed = |why: String| {
            Error::new(ErrorKind::Io, format!("Vault cannot {action} with the key {key}: {why}"))
        };
        let request =
            self.agent.post(&url).header("X-Vault-Token", &self.token).content_type("application/json");
        let mut response = request.send(question.to_string()).map_err(|error| failed(error.to_string()))?;
        let status = response.status();
        let text = response.body_mut().read_to_string().map_err(|error| failed(error.to_string()))?;
        let answer: Value = serde_json::from_str(&text).unwrap_or(Value::Null);
        if !status.is_success() {
            let why = format!("{status}, {}", answer["errors"]);
            return Err(match status.as_u16() {
                403 => Error::new(
                    ErrorKind::Key,
                    format!("the token may not {action} with the key {key} ({why})"),
                ),
                _ => failed(why),
            });
        }
        let found = answer["data"][member].as_str().map(str::to_owned);
        found.ok_or_else(|| failed(format!("its answer has no {member}")))
    }
}

impl KmsClient for Vault {
    fn wrap_key(&self, key: &[u8], master_key_id: &str) -> Result<String> {
        self.ask("encrypt", master_key_id, &json!({ "plaintext": STANDARD.encode(key) }), "ciphertext")
    }

    fn unwrap_key(&self, wrapped_key: &str, master_key_id: &str) -> Result<Vec<u8>> {
        let key = self.ask("decrypt", master_key_id, &json!({ "ciphertext": wrapped_key }), "plaintext")?;
        // Neither the key nor a part of it goes into the error.
        STANDARD
            .decode(key)
            .map_err(|_| Error::new(ErrorKind::Io, "Vault has answered with what is not base64"))
    }
}
