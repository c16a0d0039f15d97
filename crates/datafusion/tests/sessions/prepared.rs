//! Statements that are prepared, and get their values later.

use crate::tables::{batch, ints, rows, run, session, texts, write};
use arrow_array::{ArrayRef, Time64MicrosecondArray};
use std::sync::Arc;
use tempfile::tempdir;

#[tokio::test]
async fn values_that_come_later_are_asked_in_files() {
    let folder = tempdir().unwrap();
    let ctx = session();
    let file = folder.path().join("t.parquet");
    let times: Time64MicrosecondArray = (0..50).map(|second| Some(second * 1_000_000)).collect();
    let words = texts((0..50).map(|n| format!("w{n}")));
    write(&file, &[batch([("c", Arc::new(times) as ArrayRef), ("s", words), ("n", ints(0..50))])], 10);
    let file = file.display();
    for (sql, values, expected) in [
        ("select n from FILE where c = $1", "time '00:00:05'", vec!["5"]),
        (
            "select n from FILE where c in ($1, $2) order by n",
            "time '00:00:05', time '00:00:07'",
            vec!["5", "7"],
        ),
        (
            "select n from FILE where c between $1 and $2 order by n",
            "time '00:00:05', time '00:00:06.5'",
            vec!["5", "6"],
        ),
        ("select n from FILE where s = $1", "'w7'", vec!["7"]),
        ("select n from FILE where s like $1 order by n limit 2", "'w1%'", vec!["1", "10"]),
        ("select n from FILE order by n desc limit $1", "2", vec!["49", "48"]),
    ] {
        run(&ctx, &format!("prepare p as {}", sql.replace("FILE", &format!("'{file}'")))).await;
        assert_eq!(rows(&ctx, &format!("execute p({values})")).await, expected, "{sql}");
        run(&ctx, "deallocate p").await;
    }
}
