//! Groups of `ROLLUP` and `GROUPING SETS`, whose columns are null where a set leaves them out.

use crate::tables::{rows, run, session};

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
        let group = |columns: &str, sets: &str| {
            format!("select {columns}, count(*) c from ({input}) group by {sets}")
        };
        let rolled = group("g, v, grouping(g) a, grouping(v) b", "rollup (g, v)");
        let apart = [
            group("g, v, 0 a, 0 b", "g, v"),
            group("g, null v, 0 a, 1 b", "g"),
            format!("select null g, null v, 1 a, 1 b, count(*) c from ({input})"),
        ];
        let order = "order by g nulls first, v nulls first, a, b";
        assert_eq!(
            rows(&ctx, &format!("{rolled} {order}")).await,
            rows(&ctx, &format!("{} {order}", apart.join(" union all "))).await,
            "{rolled}"
        );
        let sets = group("g, v, 0 a", "grouping sets ((g), (v), ())");
        let apart = [
            group("g, null v, 0 a", "g"),
            group("null g, v, 0 a", "v"),
            format!("select null g, null v, 0 a, count(*) c from ({input})"),
        ];
        let order = "order by g nulls first, v, c";
        assert_eq!(
            rows(&ctx, &format!("{sets} {order}")).await,
            rows(&ctx, &format!("{} {order}", apart.join(" union all "))).await,
            "{sets}"
        );
    }
}
