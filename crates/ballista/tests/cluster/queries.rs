//! What a cluster answers is what one process does.

use crate::parts::{self, PROGRAM};
use crate::tables::{self, QUERIES, rows, session};
use marquetry_ballista::client;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};
use tempfile::tempdir;

/// The command as a client, with standard input at its end.
fn sql(address: &str, arguments: &[&str]) -> Output {
    let mut command = Command::new(PROGRAM);
    command.arg("sql").args(["--cluster", address]).args(arguments).stdin(Stdio::null()).output().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cluster_gives_the_rows_of_one_process() {
    let folder = tempdir().unwrap();
    let location = format!("{}/", folder.path().display());
    tables::write(&location).await;
    let alone = session();
    tables::register(&alone, &location).await;
    let (part, address) = parts::local(2);
    let ctx = client(&address).unwrap();
    tables::register(&ctx, &location).await;
    for query in QUERIES {
        let expected = rows(&alone, query).await.unwrap_or_else(|error| panic!("{query}: {error}"));
        let found = rows(&ctx, query).await.unwrap_or_else(|error| panic!("{query}: {error}"));
        assert_eq!(found, expected, "{query}");
        assert!(!found.is_empty(), "{query}");
    }

    // Conditions are asked by our scan, where the tasks run.
    let plan = rows(&ctx, "explain select o_key from orders where o_priority > 3").await.unwrap().join("\n");
    assert!(plan.contains("file_type=parquet") && plan.contains("predicate="), "{plan}");
    assert!(!plan.contains("FilterExec"), "{plan}");

    // Files by their names; and what is written by a cluster is read by anybody.
    let by_name = format!("select count(*) from '{location}orders/*.parquet'");
    assert_eq!(rows(&ctx, &by_name).await.unwrap(), ["8000"]);
    let copied = format!(
        "copy (select o_priority, o_key from orders where o_key % 2 = 0) to '{location}copied/' \
         stored as parquet partitioned by (o_priority) options ('compression' 'zstd(5)')"
    );
    rows(&ctx, &copied).await.unwrap();
    let expected = "select count(*), sum(o_key) from orders where o_priority = 4 and o_key % 2 = 0";
    rows(&alone, &format!("create external table copied (o_key bigint, o_priority varchar) stored as parquet partitioned by (o_priority) location '{location}copied/'")).await.unwrap();
    let found = rows(&alone, "select count(*), sum(o_key) from copied where o_priority = '4'").await.unwrap();
    assert_eq!(found, rows(&alone, expected).await.unwrap());
    let table = format!(
        "create external table more (n bigint, t varchar) stored as parquet location '{location}more/'"
    );
    rows(&ctx, &table).await.unwrap();
    rows(&ctx, "insert into more select o_key, 'x' from orders where o_key <= 10").await.unwrap();
    assert_eq!(rows(&ctx, "select count(*), sum(n) from more").await.unwrap(), ["10 | 55"]);

    // By the command.
    let named = format!("item={location}item/");
    let output = sql(
        &address,
        &["-t", &named, "select count(*) as n from item where i_quantity = 50", "--format", "csv"],
    );
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(String::from_utf8_lossy(&output.stdout), "n\n600\n");
    let named = format!("orders={location}orders/");
    let output = sql(&address, &["-t", &named, "select o_key / (o_key - o_key) from orders"]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "marquetry-sql: ArrowError(DivideByZero)\n");

    // What is wrong is an error, and the cluster answers on.
    for (statement, why) in [
        ("select * from '/no/such/file.parquet'", "no/such/file.parquet"),
        ("select no_such_column from orders", "no_such_column"),
        ("select o_key / (o_key - o_key) from orders", "DivideByZero"),
    ] {
        let error = rows(&ctx, statement).await.unwrap_err().to_string();
        assert!(error.contains(why), "{statement}: {error}");
    }
    let wrong =
        format!("copy (select * from orders) to '{location}wrong.parquet' options ('no_such_option' '1')");
    let error = rows(&ctx, &wrong).await.unwrap_err().to_string();
    assert!(error.contains("no_such_option"), "{error}");
    assert!(!folder.path().join("wrong.parquet").exists());

    // A page that is broken, in one of several files.
    let broken = folder.path().join("orders/c.parquet");
    let mut bytes = std::fs::read(&broken).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle - 50..middle + 50].fill(0xa5);
    std::fs::write(&broken, bytes).unwrap();
    let fresh = client(&address).unwrap();
    tables::register(&fresh, &location).await;
    let all = "select sum(o_key), sum(o_customer), max(o_date), sum(o_priority), sum(o_total) from orders";
    let error = rows(&fresh, all).await.unwrap_err().to_string();
    assert!(error.contains("c.parquet"), "{error}");
    assert_eq!(rows(&fresh, "select count(*) from customer where c_key > 500").await.unwrap(), ["100"]);

    // All parts end with the process that started them, even if it is killed.
    assert!(parts::is_reached(&address));
    drop(part);
    let end = Instant::now() + Duration::from_secs(20);
    while parts::is_reached(&address) {
        assert!(Instant::now() < end, "the scheduler ends with who started it");
        std::thread::sleep(Duration::from_millis(50));
    }
    let error =
        rows(&fresh, "select count(*) from customer where c_key > 500").await.unwrap_err().to_string();
    assert!(!error.is_empty());
}

#[test]
fn a_cluster_that_is_not_there_is_an_error() {
    let output = sql("127.0.0.1:1", &["select 1 as a from (values (1)) t"]);
    assert!(!output.status.success());
    assert!(!output.stderr.is_empty());
    let output = Command::new(PROGRAM).args(["sql", "select 1"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("--cluster HOST:PORT"));
}
