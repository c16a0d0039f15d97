//! What `CREATE EXTERNAL TABLE` says of rows, and files that are not so.

use crate::tables::{batch, ints, rows, run, session, write};
use tempfile::tempdir;

#[tokio::test]
async fn keys_that_are_declared_are_not_believed() {
    let folder = tempdir().unwrap();
    let file = folder.path().join("a.parquet");
    write(&file, &[batch([("k", ints([1, 1, 2])), ("v", ints([3, 3, 4]))])], 10);
    for constraint in ["primary key (k)", "unique (k)", "unique (k, v)"] {
        let ctx = session();
        run(
            &ctx,
            &format!(
                "create external table t (k int not null, v int not null, {constraint}) stored as parquet location '{}'",
                file.display()
            ),
        )
        .await;
        for (sql, wanted) in [
            ("select distinct k, v from t order by k", ["1 | 3", "2 | 4"]),
            ("select k, count(*) from t group by k, v order by k", ["1 | 2", "2 | 1"]),
            ("select k, sum(v) from t group by k order by k", ["1 | 6", "2 | 4"]),
            ("select k, v from t union select k, v from t order by k", ["1 | 3", "2 | 4"]),
        ] {
            assert_eq!(rows(&ctx, sql).await, wanted, "{constraint}: {sql}");
        }
    }
}
