//! Small tables of Parquet files, after those of TPC-H, and queries over them.

use datafusion::arrow::util::display::{ArrayFormatter, FormatOptions};
use datafusion::error::Result;
use datafusion::prelude::{SessionConfig, SessionContext};

/// A session of one process.
pub(crate) fn session() -> SessionContext {
    let config = SessionConfig::new().with_target_partitions(2);
    let ctx = SessionContext::new_with_config_rt(config, marquetry_ballista::runtime(None).unwrap())
        .enable_url_table();
    marquetry_datafusion::register(&ctx).unwrap();
    ctx
}

/// The rows of a statement, each as one text.
pub(crate) async fn rows(ctx: &SessionContext, sql: &str) -> Result<Vec<String>> {
    let mut rows = Vec::new();
    for batch in ctx.sql(sql).await?.collect().await? {
        let options = FormatOptions::default().with_null("NULL");
        let columns: Vec<_> =
            batch.columns().iter().map(|column| ArrayFormatter::try_new(column, &options).unwrap()).collect();
        rows.extend((0..batch.num_rows()).map(|row| {
            let values: Vec<String> = columns.iter().map(|column| column.value(row).to_string()).collect();
            values.join(" | ")
        }));
    }
    Ok(rows)
}

/// Writes the tables below `location`, which ends with a slash: customers in one file, orders in four, items by year.
pub(crate) async fn write(location: &str) {
    let ctx = session();
    for statement in [
        format!(
            "copy (select value as c_key, 'Customer#' || value as c_name, \
               case value % 3 when 0 then 'BUILDING' when 1 then 'MACHINERY' else null end as c_segment, \
               cast(value * 7 % 1000 as decimal(12, 2)) / 10 as c_balance from generate_series(1, 600)) \
             to '{location}customer.parquet' options ('max_row_group_size' '200')"
        ),
        "create table o as select value as o_key, value * 7919 % 600 + 1 as o_customer, \
           date '1995-01-01' + cast(value % 900 as int) as o_date, value % 5 as o_priority, \
           cast(value % 1013 as double) * 1.5 as o_total from generate_series(1, 8000)"
            .to_owned(),
        format!("copy (select * from o where o_key <= 2000) to '{location}orders/a.parquet'"),
        format!(
            "copy (select * from o where o_key > 2000 and o_key <= 4000) to '{location}orders/b.parquet'"
        ),
        format!(
            "copy (select * from o where o_key > 4000 and o_key <= 6000) to '{location}orders/c.parquet'"
        ),
        format!("copy (select * from o where o_key > 6000) to '{location}orders/d.parquet'"),
        format!(
            "copy (select value * 31 % 8000 + 1 as i_order, value % 50 + 1 as i_quantity, \
               cast(value % 997 as decimal(12, 2)) as i_price, 'comment ' || (value % 10) as i_comment, \
               1995 + value % 3 as i_year from generate_series(1, 30000)) \
             to '{location}item/' stored as parquet partitioned by (i_year) options ('max_row_group_size' '3000')"
        ),
    ] {
        rows(&ctx, &statement).await.unwrap_or_else(|error| panic!("{statement}: {error}"));
    }
}

/// Makes the tables known to a session.
pub(crate) async fn register(ctx: &SessionContext, location: &str) {
    for (name, rest, path) in [
        ("customer", "", "customer.parquet"),
        ("orders", "", "orders/"),
        ("item", "partitioned by (i_year)", "item/"),
    ] {
        let sql =
            format!("create external table {name} stored as parquet {rest} location '{location}{path}'");
        rows(ctx, &sql).await.unwrap_or_else(|error| panic!("{sql}: {error}"));
    }
}

/// Each gives its rows in an order.
pub(crate) const QUERIES: [&str; 14] = [
    "select count(*), min(o_date), max(o_date) from orders",
    "select i_comment, count(*) as n, sum(i_price), avg(i_quantity) from item where i_quantity < 24 group by i_comment order by i_comment",
    "select c_name, sum(i_price * i_quantity) as revenue from customer join orders on c_key = o_customer join item on i_order = o_key \
     where c_segment = 'BUILDING' and o_date < date '1996-03-15' group by c_name order by revenue desc, c_name limit 10",
    "select o_priority, count(*) from orders where exists (select 1 from item where i_order = o_key and i_quantity > 45) \
     group by o_priority order by o_priority",
    "select sum(i_price) from item where i_year = 1996 and i_quantity between 5 and 7",
    "select c_segment, count(*), count(distinct o_customer) from customer left join orders on c_key = o_customer and o_total > 1200 \
     group by c_segment order by c_segment nulls first",
    "select c_name from customer where c_balance > (select avg(c_balance) from customer) order by c_balance desc, c_name limit 5",
    "select o_key, o_total from orders order by o_total desc, o_key limit 7",
    "select o_customer, o_key, rank() over (partition by o_customer order by o_total desc, o_key) as place from orders \
     where o_customer < 4 order by o_customer, place limit 20",
    // Neither side has nulls: a merge join would be asked for too few rows.
    "select c_key from customer where c_key not in (select o_customer from orders where o_priority = 2) order by c_key limit 20",
    "select i_year, count(*) from item group by i_year union all select 0, count(*) from customer order by 1",
    "select count(*) from item where i_comment like '%7' and i_price > 500",
    "with top as (select o_customer, sum(o_total) as total from orders group by o_customer) \
     select c_name, total from customer join top on c_key = o_customer where total = (select max(total) from top) order by c_name",
    "select count(*) from orders where o_total < 0",
];
