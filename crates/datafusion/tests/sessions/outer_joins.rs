//! Conditions of outer joins.

use crate::tables::{batch, error, ints, longs, rows, run, session, write};
use arrow_array::{ArrayRef, Int64Array, NullArray};
use std::sync::Arc;
use tempfile::tempdir;

/// `ON` has a subquery about the side whose rows are all kept.
#[tokio::test]
async fn conditions_ask_other_queries() {
    let ctx = session();
    let values = |values: [Option<i64>; 4]| Arc::new(Int64Array::from(values.to_vec())) as ArrayRef;
    let column = || values([Some(1), Some(2), Some(3), None]);
    ctx.register_batch("a", batch([("n", ints([1, 2, 3, 4])), ("x", column())])).unwrap();
    ctx.register_batch("b", batch([("n", ints([1, 2, 3, 5])), ("y", column())])).unwrap();
    ctx.register_batch("s", batch([("v", values([Some(1), Some(1), Some(3), Some(9)]))])).unwrap();
    ctx.register_batch("z", batch([("v", values([Some(1), None, Some(3), Some(9)]))])).unwrap();
    let left = "select a.n, b.n from a left join b on a.n = b.n and";
    let right = "select a.n, b.n from b right join a on a.n = b.n and";
    let full = "select a.n, b.n from a full join b on a.n = b.n and";
    let ends = "order by a.n nulls last, b.n";
    for (condition, of_one, more) in [
        (
            "a.x in (select v from s)",
            ["1 | 1", "2 | null", "3 | 3", "4 | null"],
            &["null | 2", "null | 5"][..],
        ),
        (
            "a.x not in (select v from s)",
            ["1 | null", "2 | 2", "3 | null", "4 | null"],
            &["null | 1", "null | 3", "null | 5"],
        ),
        (
            "a.x not in (select v from z)",
            ["1 | null", "2 | null", "3 | null", "4 | null"],
            &["null | 1", "null | 2", "null | 3", "null | 5"],
        ),
        ("a.x not in (select v from z where v < 0)", ["1 | 1", "2 | 2", "3 | 3", "4 | null"], &["null | 5"]),
        ("(a.x in (select v from z) or a.n = 2)", ["1 | 1", "2 | 2", "3 | 3", "4 | null"], &["null | 5"]),
        (
            "a.n + 1 in (select v from s)",
            ["1 | null", "2 | 2", "3 | null", "4 | null"],
            &["null | 1", "null | 3", "null | 5"],
        ),
        ("exists (select 1 from s where v = 9)", ["1 | 1", "2 | 2", "3 | 3", "4 | null"], &["null | 5"]),
        (
            "not exists (select 1 from s where v = 9)",
            ["1 | null", "2 | null", "3 | null", "4 | null"],
            &["null | 1", "null | 2", "null | 3", "null | 5"],
        ),
        (
            "a.x in (select v from s) and b.y in (select v from z)",
            ["1 | 1", "2 | null", "3 | 3", "4 | null"],
            &["null | 2", "null | 5"],
        ),
    ] {
        for join in [left, right] {
            let sql = format!("{join} {condition} {ends}");
            assert_eq!(rows(&ctx, &sql).await, of_one, "{sql}");
        }
        let sql = format!("{full} {condition} {ends}");
        assert_eq!(rows(&ctx, &sql).await, [&of_one[..], more].concat(), "{sql}");
    }
    let both = "select a.n, b.n from a join b on a.n + b.n in (select v + 1 from s) order by a.n, b.n";
    assert_eq!(rows(&ctx, both).await, ["1 | 1", "1 | 3", "2 | 2", "3 | 1"]);
    let message = error(&ctx, &format!("{left} a.x + b.y in (select v from s)")).await;
    assert!(message.contains("columns of one side only"), "{message}");
}

/// `x IN (SELECT ..)` is NULL if nothing is equal, but something is NULL.
#[tokio::test]
async fn answers_that_are_null() {
    let ctx = session();
    let column = |values: &[Option<i64>]| Arc::new(Int64Array::from(values.to_vec())) as ArrayRef;
    ctx.register_batch("a", batch([("x", column(&[Some(1), Some(2), None, Some(5)]))])).unwrap();
    ctx.register_batch("z", batch([("y", column(&[Some(1), None])), ("k", column(&[Some(2), Some(5)]))]))
        .unwrap();
    for (condition, wanted) in [
        ("x not in (select y from z) or x = 5", &["5"][..]),
        ("not (x in (select y from z)) or x = 5", &["5"]),
        ("(x in (select y from z)) is null", &["2", "5", "null"]),
        ("(x not in (select y from z where y = 1)) is null", &["null"]),
        ("(x not in (select y from z where false)) is null", &[]),
        ("x not in (select y from z where false) or x = 1", &["1", "2", "5", "null"]),
        ("x not in (select y from z where y = 1) or x = 1", &["1", "2", "5"]),
        ("x in (select y from z) or x = 5", &["1", "5"]),
        (
            "case when x in (select y from z) then true when x not in (select y from z) then true else x = 2 end",
            &["1", "2"],
        ),
        // Of no row of `z`, of the one whose `y` is 1, and of the one where it is null.
        ("x not in (select y from z where k = x) or x = 9", &["1", "2", "null"]),
        ("(x in (select y from z where k = x)) is null", &["5"]),
        ("x not in (select y from z where k = x)", &["1", "2", "null"]),
        ("not x in (select y from z where k = x)", &["1", "2", "null"]),
        ("x not in (select 5 from z where k = x)", &["1", "2", "null"]),
        ("coalesce(x, 7) not in (select 5 from z where k = x)", &["1", "2", "null"]),
        // Subqueries that are not correlated.
        ("3 not in (select y from z)", &[]),
        ("3 not in (select y from z where y = 1)", &["1", "2", "5", "null"]),
        ("1 not in (select y from z where y = 1)", &[]),
        ("1 in (select y from z where y = 1)", &["1", "2", "5", "null"]),
        ("null not in (select y from z where y = 1)", &[]),
        ("not (null in (select y from z where y = 7))", &["1", "2", "5", "null"]),
    ] {
        let sql = format!("select x from a where {condition} order by x");
        assert_eq!(rows(&ctx, &sql).await, wanted, "{condition}");
    }
    // A column of nothing but nulls, which has no other type.
    ctx.register_batch("v", batch([("n", Arc::new(NullArray::new(2)) as ArrayRef), ("i", longs([1, 2]))]))
        .unwrap();
    for (condition, wanted) in [("i = 2", &[][..]), ("i > 2", &["1", "2"])] {
        let sql = format!("select i from v where n not in (select n from v where {condition}) order by i");
        assert_eq!(rows(&ctx, &sql).await, wanted, "{condition}");
    }
    let joined = "select a.x, b.x from a left join a b on a.x = b.x and (a.x not in (select y from z) or a.x = 5) order by a.x";
    assert_eq!(rows(&ctx, joined).await, ["1 | null", "2 | null", "5 | 5", "null | null"]);
}

#[tokio::test]
async fn columns_and_sums_ask_other_queries() {
    let ctx = session();
    let column = |values: &[Option<i64>]| Arc::new(Int64Array::from(values.to_vec())) as ArrayRef;
    ctx.register_batch("a", batch([("x", column(&[Some(1), Some(2), None]))])).unwrap();
    ctx.register_batch("z", batch([("y", column(&[Some(1), None]))])).unwrap();
    for (sql, wanted) in [
        ("select x, x in (select y from z) from a order by x", &["1 | true", "2 | null", "null | null"][..]),
        (
            "select x, x not in (select y from z where y > 0) as other from a order by x",
            &["1 | false", "2 | true", "null | null"],
        ),
        (
            "select x, case when x in (select y from z) then 'in' else 'out' end from a order by x",
            &["1 | in", "2 | out", "null | out"],
        ),
        (
            "select exists (select 1 from z where y > 5), not exists (select 1 from z where y > 5)",
            &["false | true"],
        ),
        (
            "select sum(case when x in (select y from z) then 1 else 0 end), count(*) filter (where x in (select y from z)) from a",
            &["1 | 1"],
        ),
        (
            "select x in (select y from z) as known, count(*) from a group by 1 order by 1",
            &["true | 1", "null | 2"],
        ),
    ] {
        assert_eq!(rows(&ctx, sql).await, wanted, "{sql}");
    }
    ctx.register_batch("w", batch([("y", column(&[Some(0), Some(1), None])), ("k", ints([1, 1, 2]))]))
        .unwrap();
    let folder = tempdir().unwrap();
    let file = folder.path().join("f.parquet");
    run(&ctx, &format!("copy w to '{}'", file.display())).await;
    run(&ctx, &format!("create external table f stored as parquet location '{}'", file.display())).await;
    for (sql, wanted) in [
        (
            "select x, exists (select 1 from w where y < x) from a order by x",
            &["1 | true", "2 | true", "null | false"][..],
        ),
        (
            "select x, not exists (select 1 from w where y = x and k = x) as other from a order by x",
            &["1 | false", "2 | true", "null | true"],
        ),
        (
            "select x, x in (select y from w where k = x) from a order by x",
            &["1 | true", "2 | null", "null | false"],
        ),
        ("select count(*) filter (where exists (select 1 from w where y = x)) from a", &["1"]),
    ] {
        assert_eq!(rows(&ctx, sql).await, wanted, "{sql}");
        // Conditions move into the scan of files.
        let of_files = sql.replace("from w", "from f");
        assert_eq!(rows(&ctx, &of_files).await, wanted, "{of_files}");
    }
}

/// `ON` has a correlated subquery.
#[tokio::test]
async fn conditions_ask_about_their_row() {
    let ctx = session();
    let column = |values: &[Option<i64>]| Arc::new(Int64Array::from(values.to_vec())) as ArrayRef;
    ctx.register_batch("a", batch([("n", ints([1, 2, 3])), ("x", column(&[Some(1), Some(2), None]))]))
        .unwrap();
    ctx.register_batch("b", batch([("n", ints([1, 2, 4])), ("y", column(&[Some(5), Some(6), Some(7)]))]))
        .unwrap();
    ctx.register_batch(
        "s",
        batch([("v", column(&[Some(1), None, Some(6)])), ("w", column(&[Some(5), Some(5), None]))]),
    )
    .unwrap();
    let of_a = "exists (select 1 from s where s.v = a.x)";
    let of_b = "exists (select 1 from s where s.w = b.y)";
    let left = "select a.n, b.n from a left join b on a.n = b.n and";
    let right = "select a.n, b.n from a right join b on a.n = b.n and";
    let full = "select a.n, b.n from a full join b on a.n = b.n and";
    let inner = "select a.n, b.n from a join b on a.n = b.n and";
    for (join, condition, wanted) in [
        (left, of_a.to_owned(), &["1 | 1", "2 | null", "3 | null"][..]),
        (left, format!("not {of_a}"), &["1 | null", "2 | 2", "3 | null"]),
        (left, of_b.to_owned(), &["1 | 1", "2 | null", "3 | null"]),
        (left, format!("({of_a} or a.n = 2)"), &["1 | 1", "2 | 2", "3 | null"]),
        (left, format!("{of_a} and {of_b}"), &["1 | 1", "2 | null", "3 | null"]),
        (left, "a.x in (select v from s where s.w = a.n + 4)".to_owned(), &["1 | 1", "2 | null", "3 | null"]),
        (left, "b.y not in (select v from s where s.w = b.y)".to_owned(), &["1 | null", "2 | 2", "3 | null"]),
        (right, of_a.to_owned(), &["1 | 1", "null | 2", "null | 4"]),
        (right, of_b.to_owned(), &["1 | 1", "null | 2", "null | 4"]),
        (right, format!("not {of_b}"), &["2 | 2", "null | 1", "null | 4"]),
        (full, of_a.to_owned(), &["1 | 1", "2 | null", "3 | null", "null | 2", "null | 4"]),
        (full, of_b.to_owned(), &["1 | 1", "2 | null", "3 | null", "null | 2", "null | 4"]),
        (inner, of_a.to_owned(), &["1 | 1"]),
        (inner, format!("not {of_a}"), &["2 | 2"]),
        (inner, of_b.to_owned(), &["1 | 1"]),
        (inner, "exists (select 1 from s where s.v = a.x and s.w = b.y)".to_owned(), &["1 | 1"]),
    ] {
        let sql = format!("{join} {condition} order by a.n nulls last, b.n");
        assert_eq!(rows(&ctx, &sql).await, wanted, "{sql}");
    }
    let both = format!("{left} exists (select 1 from s where s.v = a.x and s.w = b.y)");
    let message = error(&ctx, &both).await;
    assert!(message.contains("columns of one side only"), "{message}");
}

/// Both sides have columns of the same names.
#[tokio::test]
async fn conditions_are_of_the_side_that_they_mean() {
    let folder = tempdir().unwrap();
    let ctx = session();
    let column = |values: &[Option<i64>]| Arc::new(Int64Array::from(values.to_vec())) as ArrayRef;
    let file = folder.path().join("c.parquet");
    let (z, s) = ([Some(1), Some(2), Some(3), Some(4), None], [None, Some(1), Some(1), Some(2), Some(7)]);
    write(&file, &[batch([("x", ints([10, 20, 30, 40, 50])), ("z", column(&z)), ("s", column(&s))])], 2);
    run(&ctx, &format!("create external table c stored as parquet location '{}'", file.display())).await;
    ctx.register_batch("m", batch([("x", ints([10, 20, 30, 40, 50])), ("z", column(&z)), ("s", column(&s))]))
        .unwrap();
    for sql in [
        "select t1.x, t2.s from T t1 right join T t2 on t1.z = t2.z where t1.s is null order by 1, 2",
        "select t1.x, t2.s from T t1 left join T t2 on t1.z = t2.s where t2.s is null order by 1, 2",
        "select t1.x, t2.x, t1.s, t2.s from T t1 full join T t2 on t1.z = t2.s where t2.s is null or t1.s > 1 order by 1, 2",
        "select t1.x, t2.x, t1.s from T t1 left join T t2 on t1.z = t2.s order by t2.x nulls last, t1.x limit 3",
        "select t1.x, t2.x, t3.x from T t1 left join T t2 on t1.z = t2.s left join T t3 on t3.z = t2.z where t3.x is null order by 1, 2",
        "select t3.x, count(*) from T t1 join T t2 on t1.z = t2.s join T t3 on t3.z = t1.z group by t3.x order by t3.x desc limit 1",
    ] {
        let (found, wanted) =
            (rows(&ctx, &sql.replace('T', "c")).await, rows(&ctx, &sql.replace('T', "m")).await);
        assert_eq!(found, wanted, "{sql}");
    }
    let lost = "select t1.x, t2.s from c t1 right join c t2 on t1.z = t2.z where t1.s is null order by 1, 2";
    assert_eq!(rows(&ctx, lost).await, ["10 | null", "null | 7"]);
}
