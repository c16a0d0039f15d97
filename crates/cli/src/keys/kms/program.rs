//! A program that talks to a KMS.

mod exchange;

use super::wrong;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use exchange::{Answer, exchange};
use marquetry::errors::{Error, ErrorKind, Result};
use marquetry::file::encryption::KmsClient;
use serde_json::{Value, json};
use std::process::Command;
use std::time::Duration;
use zeroize::{Zeroize, Zeroizing};

/// A program that talks to a KMS. It is run for each key that is wrapped or unwrapped, with a JSON object on its standard input:
///
/// ```text
/// {"action": "wrap", "master_key": NAME, "key": BASE64}           answers  {"wrapped": TEXT}
/// {"action": "unwrap", "master_key": NAME, "wrapped": TEXT}       answers  {"key": BASE64}
/// ```
pub(super) struct Program {
    name: String,
    arguments: Vec<String>,
    /// Maximum time of one run, after which the program is ended.
    time_limit: Duration,
}

impl Program {
    pub(super) fn parse(words: Vec<Value>) -> Result<Self> {
        let text = |word| match word {
            Value::String(word) => Ok(word),
            _ => Err(wrong("kms: command is a list of texts, a program and its arguments")),
        };
        let mut words = words.into_iter().map(text).collect::<Result<Vec<_>>>()?.into_iter();
        let name = words.next().ok_or_else(|| wrong("kms: command is empty"))?;
        Ok(Program { name, arguments: words.collect(), time_limit: TIME_LIMIT })
    }

    pub(super) fn with_time_limit(self, time_limit: Duration) -> Self {
        Program { time_limit, ..self }
    }

    /// Runs the program with a question, and returns a member of the answer.
    fn ask(&self, question: &Value, member: &str) -> Result<Zeroizing<String>> {
        let question = Zeroizing::new(question.to_string());
        let failed =
            |why: String| Error::new(ErrorKind::Key, format!("the program of the KMS, {}, {why}", self.name));
        let cannot =
            |error| Error::io("cannot run the program of the KMS", error).in_file(self.name.as_str());
        let mut command = Command::new(&self.name);
        command.args(&self.arguments);
        let text = match exchange(&mut command, question.as_bytes(), self.time_limit).map_err(cannot)? {
            Answer::Text(text) => text,
            Answer::Failure(status) => return Err(failed(format!("ended with {status}"))),
            Answer::TooLong => return Err(failed("has answered with more than can be a key".to_owned())),
            Answer::Late => {
                return Err(failed(format!(
                    "had not ended after {} s, and was ended: timeout_seconds, beside its command, gives it longer",
                    self.time_limit.as_secs_f64()
                )));
            }
        };
        let Ok(Value::Object(mut members)) = serde_json::from_slice(&text) else {
            return Err(failed("has answered with something else than a JSON object".to_owned()));
        };
        match members.remove(member) {
            Some(Value::String(text)) => Ok(Zeroizing::new(text)),
            _ => Err(failed(format!("has answered without {member}"))),
        }
    }
}

/// As in the help of `--key-file`.
const TIME_LIMIT: Duration = Duration::from_secs(60);

impl KmsClient for Program {
    fn wrap_key(&self, key: &[u8], master_key_id: &str) -> Result<String> {
        let mut key = STANDARD.encode(key);
        let mut question = json!({ "action": "wrap", "master_key": master_key_id, "key": key });
        let answer = self.ask(&question, "wrapped");
        key.zeroize();
        if let Some(Value::String(key)) = question.get_mut("key") {
            key.zeroize();
        }
        answer.map(|text| text.to_string())
    }

    fn unwrap_key(&self, wrapped_key: &str, master_key_id: &str) -> Result<Vec<u8>> {
        let question = json!({ "action": "unwrap", "master_key": master_key_id, "wrapped": wrapped_key });
        let answer = self.ask(&question, "key")?;
        STANDARD.decode(answer.as_bytes()).map_err(|_| {
            Error::new(
                ErrorKind::Key,
                format!("the program of the KMS, {}, has answered with a key that is not base64", self.name),
            )
        })
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::process::Stdio;
    use std::time::Instant;

    fn shell(script: &str, seconds: f64) -> Program {
        let words = ["sh", "-c", script].map(|word| Value::String(word.to_owned()));
        Program::parse(words.into()).unwrap().with_time_limit(Duration::from_secs_f64(seconds))
    }

    #[test]
    fn keys_are_asked_for() {
        let answers = shell("cat >/dev/null; echo '{\"key\": \"AAEC\", \"wrapped\": \"w\"}'", 60.0);
        assert_eq!(answers.unwrap_key("w", "m").unwrap(), [0, 1, 2]);
        assert_eq!(answers.wrap_key(&[0, 1, 2], "m").unwrap(), "w");
        // More than fits into a pipe that nobody reads.
        let reads_nothing = shell("echo '{\"key\": \"AAEC\"}'", 60.0);
        assert_eq!(reads_nothing.unwrap_key(&"w".repeat(1 << 20), "m").unwrap(), [0, 1, 2]);
        // A process that it leaves running has its standard output, too.
        let started = Instant::now();
        let leaves = shell("sleep 20 & echo '{\"key\": \"AAEC\"}'", 60.0);
        assert_eq!(leaves.unwrap_key("w", "m").unwrap(), [0, 1, 2]);
        assert!(started.elapsed() < Duration::from_secs(15), "{:?}", started.elapsed());
    }

    #[test]
    fn what_never_ends_is_ended() {
        for script in ["exec sleep 600", "exec yes", "sleep 20; echo late", "exec cat /dev/zero"] {
            let started = Instant::now();
            let question = "w".repeat(1 << 20);
            let error = shell(script, 0.3).unwrap_key(&question, "m").unwrap_err().to_string();
            assert!(error.contains("program of the KMS, sh, had not ended after 0.3 s"), "{error}");
            assert!(started.elapsed() < Duration::from_secs(15), "{script}: {:?}", started.elapsed());
        }
    }

    #[test]
    fn nothing_is_left_of_it() {
        let folder = tempfile::tempdir().unwrap();
        let number = folder.path().join("number");
        let script = format!("echo $$ > {}; exec sleep 600", number.display());
        assert!(shell(&script, 1.0).unwrap_key("w", "m").is_err());
        let number = std::fs::read_to_string(number).unwrap();
        // A process that has ended, but was not waited for, is found, too.
        let is_found =
            Command::new("kill").args(["-0", number.trim()]).stderr(Stdio::null()).status().unwrap();
        assert!(!is_found.success(), "{number}");
    }

    #[test]
    fn bad_answers_are_named() {
        for (script, said) in [
            ("exit 3", "ended with exit status: 3"),
            ("echo sesame", "something else than a JSON object"),
            ("echo '{}'", "without key"),
            ("echo '{\"key\": \"*\"}'", "not base64"),
            ("printf '\\377{}'", "something else than a JSON object"),
            ("head -c 20000000 /dev/zero", "more than can be a key"),
        ] {
            let error = shell(script, 60.0).unwrap_key("w", "m").unwrap_err().to_string();
            assert!(error.contains(said) && !error.contains("sesame"), "{error}");
        }
        let none = Program::parse(vec![Value::String("no-such-program".to_owned())]).unwrap();
        assert!(none.unwrap_key("w", "m").unwrap_err().to_string().contains("cannot run the program"));
    }
}
