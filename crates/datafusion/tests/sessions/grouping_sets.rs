//! Groups of `ROLLUP` and `GROUPING SETS`, whose columns are null where a set leaves them out.

use crate::tables::{rows, run, session};
use datafusion::prelude::SessionContext;

/// Inputs of which something is known of `g` and `v`: that one is constant, or sorted, that both are equal, or where their rows are.
const INPUTS: [&str; 5] = [
    "select value % 3 g, value % 5000 v from generate_series(0, 29999) where value % 3 = 1",
    "select 7 g, value % 5000 v from generate_series(0, 29999)",
    "select value g, value % 2 v from generate_series(0, 9999) order by g limit 5000",
    "select a.value g, b.value v from generate_series(0, 4999) a join generate_series(0, 9999) b on a.value = b.value",
    "select value % 3 g, value % 3 v from generate_series(0, 9999) where value % 3 = value % 7",
];

#[tokio::test]
async fn groups_come_once_and_in_order() {
    let ctx = session();
    run(&ctx, "set datafusion.execution.batch_size = 100").await;
    run(&ctx, "set datafusion.execution.target_partitions = 3").await;
    for input in INPUTS {
        let of_all = format!("select null g, null v, count(*) from ({input})");
        let group =
            |columns: &str, by: &str| format!("select {columns}, count(*) c from ({input}) group by {by}");
        for (sets, apart) in [
            ("rollup (g, v)", [group("g, v", "g, v"), group("g, null v", "g"), of_all.clone()]),
            ("grouping sets ((g), (v), ())", [group("g, null v", "g"), group("null g, v", "v"), of_all]),
        ] {
            let sql = format!("{} order by g nulls first, v nulls first, c", group("g, v", sets));
            let mut wanted = Vec::new();
            for set in apart {
                wanted.append(&mut numbers(&ctx, &set).await);
            }
            wanted.sort_unstable();
            assert!(numbers(&ctx, &sql).await == wanted, "{sql}");
        }
    }
}

/// A group may be a constant.
#[tokio::test]
async fn groups_of_constants_come_once_and_in_order() {
    let ctx = session();
    run(&ctx, "set datafusion.execution.batch_size = 100").await;
    run(&ctx, "set datafusion.execution.target_partitions = 3").await;
    let input = "(select value % 700 v from generate_series(0, 6999))";
    let null_first = "nulls first";
    for (columns, sets, wanted) in [
        ("1 g, v", "grouping sets ((1), (v), ())", 702),
        ("1 g, v", "rollup (1, v)", 702),
        ("1 g, v", "cube (v, 1)", 1402),
        ("2 + 1 g, v", "rollup (2 + 1, v)", 702),
    ] {
        let sql = format!(
            "select {columns}, count(*) c from {input} group by {sets} order by g {null_first}, v {null_first}, c"
        );
        let found = numbers(&ctx, &sql).await;
        let mut sorted = found.clone();
        sorted.sort_unstable();
        assert!(found == sorted, "{sql}");
        sorted.dedup();
        assert_eq!((found.len(), sorted.len()), (wanted, wanted), "{sql}");
    }
}

/// The rows of a query, whose columns are integers.
async fn numbers(ctx: &SessionContext, sql: &str) -> Vec<Vec<Option<i64>>> {
    let number = |text: &str| (text != "null").then(|| text.parse().unwrap());
    rows(ctx, sql).await.iter().map(|row| row.split(" | ").map(number).collect()).collect()
}
