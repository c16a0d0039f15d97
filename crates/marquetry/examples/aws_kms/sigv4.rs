//! Signatures of requests to AWS, version 4:
//! <https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html>

use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};
use std::fmt::Write;
use std::time::{SystemTime, UNIX_EPOCH};

/// The credentials of the caller.
pub(crate) struct Credentials {
    /// The id of the access key.
    pub(crate) id: String,
    /// The secret of the access key.
    pub(crate) secret: String,
    /// The session token of temporary credentials.
    pub(crate) session_token: Option<String>,
}

/// Returns the headers of a request to KMS, including its signature.
pub(crate) fn authorization(
    credentials: &Credentials,
    region: &str,
    host: &str,
    target: &str,
    body: &str,
    now: SystemTime,
) -> Vec<(&'static str, String)> {
    let time = amz_date(now);
    // In the order of their names, as they are signed.
    let mut headers = vec![
        ("content-type", "application/x-amz-json-1.1".to_owned()),
        ("host", host.to_owned()),
        ("x-amz-date", time.clone()),
    ];
    if let Some(token) = &credentials.session_token {
        headers.push(("x-amz-security-token", token.clone()));
    }
    headers.push(("x-amz-target", target.to_owned()));
    let lines = headers.iter().map(|(name, value)| format!("{name}:{value}\n")).collect::<String>();
    let names = headers.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(";");
    let request = format!("POST\n/\n\n{lines}\n{names}\n{}", hex(&Sha256::digest(body)));
    let scope = format!("{}/{region}/kms/aws4_request", &time[..8]);
    let text = format!("AWS4-HMAC-SHA256\n{time}\n{scope}\n{}", hex(&Sha256::digest(request)));
    let mut key = format!("AWS4{}", credentials.secret).into_bytes();
    for part in [&time[..8], region, "kms", "aws4_request"] {
        key = hmac(&key, part);
    }
    let signature = hex(&hmac(&key, &text));
    let id = &credentials.id;
    let signed =
        format!("AWS4-HMAC-SHA256 Credential={id}/{scope}, SignedHeaders={names}, Signature={signature}");
    headers.push(("authorization", signed));
    headers
}

fn hmac(key: &[u8], text: &str) -> Vec<u8> {
    // Keys may have any length.
    let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("a key");
    mac.update(text.as_bytes());
    mac.finalize().into_bytes().to_vec()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Formats a time as `20150830T123600Z`.
fn amz_date(now: SystemTime) -> String {
    let seconds = now.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let (days, time) = (seconds / 86_400, seconds % 86_400);
    let (year, month, day) = civil(days);
    format!("{year:04}{month:02}{day:02}T{:02}{:02}{:02}Z", time / 3_600, time / 60 % 60, time % 60)
}

/// Returns the Gregorian date that is this number of days after 1970-01-01. The calculation begins years in March, so
/// that the leap day ends one.
fn civil(days: u64) -> (u64, u64, u64) {
    let shifted = days + 719_468;
    let (era, day) = (shifted / 146_097, shifted % 146_097);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (era * 400 + year + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn dates() {
        let at = |seconds| amz_date(UNIX_EPOCH + Duration::from_secs(seconds));
        assert_eq!(at(0), "19700101T000000Z");
        assert_eq!(at(951_782_399), "20000228T235959Z");
        assert_eq!(at(951_782_400), "20000229T000000Z");
        assert_eq!(at(1_440_938_160), "20150830T123600Z");
    }

    /// The signature is botocore's.
    #[test]
    fn signatures_are_those_of_others() {
        let credentials = Credentials {
            id: "AKIDEXAMPLE".to_owned(),
            secret: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY".to_owned(),
            session_token: Some("a token".to_owned()),
        };
        let now = UNIX_EPOCH + Duration::from_secs(1_440_938_160);
        let headers = authorization(
            &credentials,
            "eu-west-1",
            "kms.eu-west-1.amazonaws.com",
            "TrentService.Encrypt",
            "{}",
            now,
        );
        assert_eq!(
            headers.last().unwrap().1.rsplit_once('=').unwrap().1,
            "4a050c82e6678c39cdcc496f429b4f4f9ec603933796cae825e6c2678de01783"
        );
    }
}
