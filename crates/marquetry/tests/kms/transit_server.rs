//! Vault's transit engine, as far as keys are wrapped with it: `encrypt`, `decrypt`, and versions of keys.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use marquetry_crypto::{EncryptionKey, ModuleCipher, SecretKey};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

pub(crate) const TOKEN: &str = "s.token-of-the-test";

/// The newest version of each key, from 1 on.
type Versions = Arc<Mutex<HashMap<String, u8>>>;

pub(crate) struct TransitServer {
    address: String,
    versions: Versions,
}

impl TransitServer {
    /// With two keys, `footer` and `salaries`. It runs until the process ends.
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let versions: Versions = Arc::default();
        versions.lock().unwrap().extend(["footer", "salaries"].map(|name| (name.to_owned(), 1)));
        let known = versions.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let known = known.clone();
                std::thread::spawn(move || serve(stream.unwrap(), &known));
            }
        });
        TransitServer { address, versions }
    }

    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    /// As `transit/keys/NAME/rotate` does.
    pub(crate) fn rotate(&self, name: &str) {
        *self.versions.lock().unwrap().get_mut(name).unwrap() += 1;
    }
}

/// Answers one request.
fn serve(mut stream: TcpStream, versions: &Versions) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut head = Vec::new();
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).unwrap() == 0 {
            return;
        }
        match line.trim_end() {
            "" => break,
            line => head.push(line.to_owned()),
        }
    }
    let header = |name: &str| {
        let mut pairs = head[1..].iter().filter_map(|line| line.split_once(": "));
        pairs.find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value.to_owned())
    };
    let mut body = vec![0; header("content-length").map_or(0, |length| length.parse().unwrap())];
    reader.read_exact(&mut body).unwrap();
    let (status, answer) = match header("x-vault-token").as_deref() {
        Some(TOKEN) => answer(&head[0], &serde_json::from_slice(&body).unwrap(), versions),
        _ => (403, errors("permission denied")),
    };
    let text = answer.to_string();
    write!(
        stream,
        "HTTP/1.1 {status} X\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{text}",
        text.len()
    )
    .unwrap();
}

fn answer(request: &str, body: &Value, versions: &Versions) -> (u16, Value) {
    let path = request.split(' ').nth(1).unwrap();
    let Some((action, name)) = path.strip_prefix("/v1/transit/").and_then(|rest| rest.split_once('/')) else {
        return (404, errors("no handler for route"));
    };
    let Some(&newest) = versions.lock().unwrap().get(name) else {
        return (400, errors("encryption key not found"));
    };
    match action {
        "encrypt" => {
            let plain = STANDARD.decode(body["plaintext"].as_str().unwrap()).unwrap();
            let mut module = Vec::new();
            EncryptionKey::new(master(name, newest)).unwrap().seal_gcm(&plain, b"", &mut module).unwrap();
            let ciphertext = format!("vault:v{newest}:{}", STANDARD.encode(module));
            (200, json!({ "data": { "ciphertext": ciphertext, "key_version": newest } }))
        }
        "decrypt" => match opened(name, body["ciphertext"].as_str().unwrap(), newest) {
            Some(plain) => (200, json!({ "data": { "plaintext": STANDARD.encode(plain) } })),
            None => (400, errors("invalid ciphertext: unable to decrypt")),
        },
        _ => (404, errors("unsupported path")),
    }
}

fn opened(name: &str, ciphertext: &str, newest: u8) -> Option<Vec<u8>> {
    let (version, text) = ciphertext.strip_prefix("vault:v")?.split_once(':')?;
    let version = version.parse().ok().filter(|version| *version <= newest)?;
    let (module, mut plain) = (STANDARD.decode(text).ok()?, Vec::new());
    let cipher = ModuleCipher::new(&master(name, version)).unwrap();
    cipher.open_gcm(&module, b"", &mut plain).ok()?.then_some(plain)
}

fn master(name: &str, version: u8) -> SecretKey {
    let mut bytes = [version; 32];
    bytes.iter_mut().zip(name.bytes()).for_each(|(byte, letter)| *byte ^= letter);
    SecretKey::new(bytes.to_vec()).unwrap()
}

fn errors(message: &str) -> Value {
    json!({ "errors": [message] })
}
