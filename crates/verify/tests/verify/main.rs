//! Each rule has a file that breaks exactly it, good files break none, and what real files break is known.

#[path = "../../../core/tests/chunk/mod.rs"]
mod chunk;

mod corpus;
mod damage;
mod encryption_rules;
mod file_rules;
mod geoparquet_rules;
mod house;
mod logical_type_rules;
mod make;
mod rules;
mod value_rules;

use bytes::Bytes;
use marquetry_base::ErrorLocation;
use marquetry_verify::{Finding, Level, Report, VerifyOptions, verify};
use std::collections::BTreeSet;
use std::sync::Arc;

fn report(bytes: &Bytes, level: Level) -> Report {
    let names_key = |bytes: &[u8]| bytes == encryption_rules::KEY_METADATA;
    let has_key = bytes.windows(encryption_rules::KEY_METADATA.len()).any(names_key);
    let decryption = has_key.then(encryption_rules::keys);
    let options = VerifyOptions::default().with_level(level).with_decryption(decryption).with_threads(1);
    verify(Arc::new(bytes.clone()), &options).unwrap()
}

/// What was found and where, at each level.
fn found_at_each_level(bytes: &Bytes) -> [BTreeSet<(&'static str, String)>; 3] {
    [Level::Quick, Level::Default, Level::Deep].map(|level| {
        let of_finding = |finding: &Finding| {
            let ErrorLocation { row_group, column, page, .. } = &finding.place;
            (finding.rule.id, format!("{row_group:?} {column:?} {page:?}"))
        };
        report(bytes, level).findings.iter().map(of_finding).collect()
    })
}

/// The ids of the rules that are broken.
fn broken(report: &Report) -> BTreeSet<&'static str> {
    report.findings.iter().map(|finding| finding.rule.id).collect()
}
