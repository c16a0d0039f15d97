//! URLs in a build that reads none.
#![cfg(not(feature = "remote"))]

use crate::command::failure;

#[test]
fn the_error_names_the_feature_and_the_command_that_turns_it_on() {
    for arguments in [
        &["head", "s3://bucket/a.parquet"][..],
        &["cat", "s3://bucket/*.parquet"],
        &["verify", "https://example.com/a.parquet"],
    ] {
        let (code, errors) = failure(arguments);
        assert_eq!(code, 1, "{errors:?}");
        let [error] = &errors[..] else { panic!("one line, not {errors:?}") };
        assert!(error.contains("cargo install marquetry-cli --features remote"), "{error}");
        assert!(error.contains(arguments[1]), "{error}");
    }
}
