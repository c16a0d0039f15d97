//! An executor is killed in the middle of a query: it ends, right or with an error.

use crate::parts;
use crate::tables::{self, rows, session};
use datafusion::prelude::SessionContext;
use marquetry_ballista::client;
use std::time::Duration;
use tempfile::tempdir;

/// How long a query may take after an executor has died: it is given up after ten seconds.
const PATIENCE: Duration = Duration::from_secs(180);

/// Some seconds of work, in several stages.
const LONG: &str = "select a.o_priority, count(*), sum(a.o_total + b.o_total) from orders a join orders b \
                    on a.o_customer % 3 = b.o_customer % 3 and a.o_key <> b.o_key group by a.o_priority order by 1";

async fn in_time(ctx: &SessionContext, sql: &str) -> Result<Vec<String>, String> {
    let rows = tokio::time::timeout(PATIENCE, rows(ctx, sql)).await;
    rows.unwrap_or_else(|_| panic!("it hangs: {sql}")).map_err(|error| error.to_string())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_query_ends_though_executors_die() {
    let folder = tempdir().unwrap();
    let location = format!("{}/", folder.path().display());
    tables::write(&location).await;
    let alone = session();
    tables::register(&alone, &location).await;
    let expected = rows(&alone, LONG).await.unwrap();

    let mut cluster = parts::cluster(2);
    let ctx = client(&cluster.address).unwrap();
    tables::register(&ctx, &location).await;
    assert_eq!(in_time(&ctx, "select count(*) from customer where c_key > 500").await.unwrap(), ["100"]);
    let asking = ctx.clone();
    let query = tokio::spawn(async move { in_time(&asking, LONG).await });
    tokio::time::sleep(Duration::from_millis(700)).await;
    assert!(!query.is_finished(), "the query has to take longer for this test");
    cluster.executors.pop().unwrap().0.kill().unwrap();
    match query.await.unwrap() {
        Ok(found) => assert_eq!(found, expected, "rows of a query whose executor died"),
        Err(error) => assert!(!error.is_empty()),
    }

    // The one that is left goes on.
    let small = "select o_priority, count(*) from orders group by o_priority order by 1";
    assert_eq!(in_time(&ctx, small).await.unwrap(), rows(&alone, small).await.unwrap());

    // And when none is left, it is an error.
    let asking = ctx.clone();
    let query = tokio::spawn(async move { in_time(&asking, LONG).await });
    tokio::time::sleep(Duration::from_millis(700)).await;
    cluster.executors.clear();
    let error = query.await.unwrap().unwrap_err();
    assert!(!error.is_empty());
}
