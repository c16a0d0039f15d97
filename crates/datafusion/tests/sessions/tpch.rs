//! The 22 queries of TPC-H: the same rows from files as from memory.

use crate::tables::{rows, run, session};
use crate::tpch_queries::statements;
use datafusion::datasource::MemTable;
use datafusion::prelude::SessionContext;
use std::fmt::{Display, Write};
use std::path::Path;
use std::sync::Arc;
use tempfile::tempdir;
use tpchgen::csv::*;
use tpchgen::generators::*;

const SCALE: f64 = 0.01;

const TABLES: [(&str, &str); 8] = [
    ("nation", "n_nationkey bigint, n_name varchar, n_regionkey bigint, n_comment varchar"),
    ("region", "r_regionkey bigint, r_name varchar, r_comment varchar"),
    (
        "part",
        "p_partkey bigint, p_name varchar, p_mfgr varchar, p_brand varchar, p_type varchar, p_size int, p_container varchar, \
         p_retailprice decimal(15, 2), p_comment varchar",
    ),
    (
        "supplier",
        "s_suppkey bigint, s_name varchar, s_address varchar, s_nationkey bigint, s_phone varchar, s_acctbal decimal(15, 2), \
         s_comment varchar",
    ),
    (
        "customer",
        "c_custkey bigint, c_name varchar, c_address varchar, c_nationkey bigint, c_phone varchar, c_acctbal decimal(15, 2), \
         c_mktsegment varchar, c_comment varchar",
    ),
    (
        "partsupp",
        "ps_partkey bigint, ps_suppkey bigint, ps_availqty int, ps_supplycost decimal(15, 2), ps_comment varchar",
    ),
    (
        "orders",
        "o_orderkey bigint, o_custkey bigint, o_orderstatus varchar, o_totalprice decimal(15, 2), o_orderdate date, \
         o_orderpriority varchar, o_clerk varchar, o_shippriority int, o_comment varchar",
    ),
    (
        "lineitem",
        "l_orderkey bigint, l_partkey bigint, l_suppkey bigint, l_linenumber int, l_quantity decimal(15, 2), \
         l_extendedprice decimal(15, 2), l_discount decimal(15, 2), l_tax decimal(15, 2), l_returnflag varchar, \
         l_linestatus varchar, l_shipdate date, l_commitdate date, l_receiptdate date, l_shipinstruct varchar, l_shipmode varchar, \
         l_comment varchar",
    ),
];

fn csv(folder: &Path, table: &str, header: &str, lines: impl Iterator<Item = impl Display>) {
    let mut text = format!("{header}\n");
    lines.for_each(|line| writeln!(text, "{line}").unwrap());
    std::fs::write(folder.join(format!("{table}.csv")), text).unwrap();
}

fn generate(folder: &Path) {
    let (scale, part, of) = (SCALE, 1, 1);
    let rows = NationGenerator::new(scale, part, of).iter();
    csv(folder, "nation", NationCsv::header(), rows.map(NationCsv::new));
    let rows = RegionGenerator::new(scale, part, of).iter();
    csv(folder, "region", RegionCsv::header(), rows.map(RegionCsv::new));
    let rows = PartGenerator::new(scale, part, of).iter();
    csv(folder, "part", PartCsv::header(), rows.map(PartCsv::new));
    let rows = SupplierGenerator::new(scale, part, of).iter();
    csv(folder, "supplier", SupplierCsv::header(), rows.map(SupplierCsv::new));
    let rows = CustomerGenerator::new(scale, part, of).iter();
    csv(folder, "customer", CustomerCsv::header(), rows.map(CustomerCsv::new));
    let rows = PartSuppGenerator::new(scale, part, of).iter();
    csv(folder, "partsupp", PartSuppCsv::header(), rows.map(PartSuppCsv::new));
    let rows = OrderGenerator::new(scale, part, of).iter();
    csv(folder, "orders", OrderCsv::header(), rows.map(OrderCsv::new));
    let rows = LineItemGenerator::new(scale, part, of).iter();
    csv(folder, "lineitem", LineItemCsv::header(), rows.map(LineItemCsv::new));
}

/// The tables in memory, and written to files, each in a session of its own.
async fn sessions(folder: &Path) -> (SessionContext, SessionContext) {
    generate(folder);
    let (memory, files) = (SessionContext::new(), session());
    for (table, columns) in TABLES {
        let path = folder.join(format!("{table}.csv"));
        let create = format!(
            "create external table source ({columns}) stored as csv location '{}' options ('has_header' 'true')",
            path.display()
        );
        run(&memory, &create).await;
        let batches = run(&memory, "select * from source").await;
        run(&memory, "drop table source").await;
        let held = MemTable::try_new(batches[0].schema(), vec![batches]).unwrap();
        let held = Arc::new(held);
        memory.register_table(table, held.clone()).unwrap();
        files.register_table("source", held).unwrap();
        let path = folder.join(table);
        let copy = format!(
            "copy source to '{}/' stored as parquet options ('max_row_group_size' '5000', 'data_page_row_count_limit' '1000')",
            path.display()
        );
        run(&files, &copy).await;
        run(&files, "drop table source").await;
        run(
            &files,
            &format!("create external table {table} stored as parquet location '{}/'", path.display()),
        )
        .await;
    }
    (memory, files)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tpch_gives_the_same_rows_from_files_as_from_memory() {
    let folder = tempdir().unwrap();
    let (memory, files) = sessions(folder.path()).await;
    for number in 1..=22 {
        let mut found = [Vec::new(), Vec::new()];
        for (found, ctx) in found.iter_mut().zip([&memory, &files]) {
            for statement in statements(number) {
                found.extend(rows(ctx, &statement).await);
            }
            found.sort();
        }
        let [expected, found] = found;
        assert_eq!(found, expected, "query {number}");
        // Few queries find nothing in tables this small.
        assert!(
            !expected.is_empty() || [2, 8, 17, 18, 20, 21].contains(&number),
            "query {number} has no rows"
        );
    }
}
