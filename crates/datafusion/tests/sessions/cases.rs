//! `CASE` and `COALESCE` evaluate their parts for the rows that reach them.

use crate::tables::{batch, longs, rows, run, session, write};
use tempfile::tempdir;

#[tokio::test]
async fn parts_are_evaluated_where_they_are_reached() {
    let folder = tempdir().unwrap();
    let file = folder.path().join("t.parquet");
    write(&file, &[batch([("i", longs([0, 1, 2, 3, 5, 10, 20]))])], 3);
    let ctx = session();
    run(&ctx, &format!("create external table t stored as parquet location '{}'", file.display())).await;
    run(&ctx, "create table m as select * from t").await;
    for (condition, expected) in [
        ("case when i = 0 then false else 10 / i > 2 end", vec!["1", "2", "3"]),
        ("case when i = 0 then true when 10 / i > 2 then false else i < 20 end", vec!["0", "5", "10"]),
        ("case when i = 0 then 1 when 10 / i > 2 then 2 else 3 end = 2", vec!["1", "2", "3"]),
        ("case when i <> 0 then 10 % i = 0 end", vec!["1", "2", "5", "10"]),
        ("coalesce(nullif(i = 0, false), 10 / i > 2)", vec!["0", "1", "2", "3"]),
        ("nvl(nullif(i = 0, false), 10 / i > 2)", vec!["0", "1", "2", "3"]),
        ("case when i < 100 then i < 3 else cast('x' || i as bigint) = i end", vec!["0", "1", "2"]),
    ] {
        for table in ["t", "m"] {
            for pushdown in [true, false] {
                run(&ctx, &format!("set datafusion.execution.parquet.pushdown_filters = {pushdown}")).await;
                let sql = format!("select i from {table} where {condition} order by i");
                assert_eq!(rows(&ctx, &sql).await, expected, "{sql}");
                let sql =
                    format!("select i from (select i, {condition} as c from {table}) where c order by i");
                assert_eq!(rows(&ctx, &sql).await, expected, "{sql}");
                let sql = format!("select count(*) filter (where {condition}) from {table}");
                assert_eq!(rows(&ctx, &sql).await, [expected.len().to_string()], "{sql}");
            }
        }
    }
}
