//! Plans become bytes, and from bytes plans that give the same rows.

use crate::tables::{batch, ints, rows, rows_of, run, session, session_with, texts, write};
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::common::TableReference;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::datasource::physical_plan::FileScanConfig;
use datafusion::datasource::source::DataSourceExec;
use datafusion::datasource::source_as_provider;
use datafusion::error::Result;
use datafusion::logical_expr::LogicalPlan;
use datafusion::physical_plan::{ExecutionPlan, collect, displayable};
use datafusion::prelude::{SessionConfig, SessionContext};
use datafusion_proto::bytes::{
    logical_plan_from_bytes_with_extension_codec, logical_plan_to_bytes_with_extension_codec,
    physical_plan_from_bytes_with_extension_codec, physical_plan_to_bytes_with_extension_codec,
};
use datafusion_proto::logical_plan::LogicalExtensionCodec;
use datafusion_proto::physical_plan::{DefaultPhysicalProtoConverter, PhysicalExtensionCodec};
use marquetry_datafusion::{
    FilesInStore, FolderTable, MarquetryFormat, MarquetryFormatFactory, MarquetryLogicalCodec,
    MarquetryPhysicalCodec, SerialisableTables, serialisable,
};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::tempdir;

/// The plan of a statement, as it is after a way through bytes to a session that knows nothing of it.
async fn sent(ctx: &SessionContext, sql: &str) -> (Arc<dyn ExecutionPlan>, Arc<dyn ExecutionPlan>) {
    let plan = ctx.sql(sql).await.unwrap().create_physical_plan().await.unwrap();
    let codec = MarquetryPhysicalCodec::default();
    let bytes = physical_plan_to_bytes_with_extension_codec(plan.clone(), &codec).unwrap();
    let there = session();
    let came = physical_plan_from_bytes_with_extension_codec(&bytes, &there.task_ctx(), &codec);
    (plan, came.unwrap_or_else(|error| panic!("{sql}: {error}")))
}

fn shown(plan: &Arc<dyn ExecutionPlan>) -> String {
    displayable(plan.as_ref()).indent(true).to_string()
}

async fn rows_by(plan: Arc<dyn ExecutionPlan>) -> Vec<String> {
    rows_of(&collect(plan, session().task_ctx()).await.unwrap())
}

/// The rows of a logical plan in a session that has none of its tables.
async fn given_elsewhere(ctx: &SessionContext, sql: &str) -> Result<Vec<RecordBatch>> {
    let plan = ctx.sql(sql).await?.into_optimized_plan()?;
    let codec = MarquetryLogicalCodec::default();
    let bytes = logical_plan_to_bytes_with_extension_codec(&serialisable(plan)?, &codec)?;
    let there = session();
    let plan = logical_plan_from_bytes_with_extension_codec(&bytes, &there.task_ctx(), &codec)?;
    there.execute_logical_plan(plan).await?.collect().await
}

fn table(folder: &Path) -> PathBuf {
    let file = folder.join("t.parquet");
    let words = texts((0..1000).map(|n| format!("w{}", n % 7)));
    write(&file, &[batch([("n", ints(0..1000)), ("w", words)])], 100);
    file
}

#[tokio::test]
async fn scans_give_the_same_rows_after_a_way_through_bytes() {
    let folder = tempdir().unwrap();
    let file = table(folder.path());
    let ctx = session();
    for name in ["a=1", "a=2"] {
        let part = folder.path().join("parts").join(name);
        std::fs::create_dir_all(&part).unwrap();
        std::fs::copy(&file, part.join("t.parquet")).unwrap();
    }
    let parts = folder.path().join("parts");
    run(
        &ctx,
        &format!(
            "create external table p (n int, w varchar, a int) stored as parquet partitioned by (a) location '{}/' \
             with order (n asc nulls last)",
            parts.display()
        ),
    )
    .await;
    let file = file.display();
    for sql in [
        format!("select * from '{file}'"),
        format!("select w, n + 1 from '{file}' where n between 150 and 160 and w <> 'w3'"),
        format!("select count(*), min(n), max(w) from '{file}' where n > 950"),
        format!("select count(*) from (select n from '{file}' where n > 5 limit 3)"),
        format!("select n % 3 as k, count(*) from '{file}' where w like '%5' group by k order by k"),
        format!("select n, w from '{file}' where n > 100 order by n desc limit 4"),
        "select a, count(*), sum(n) from p where a = 2 and n < 500 group by a".to_owned(),
        "select n, a, w from p where n < 3 order by n, a".to_owned(),
        format!("select count(*) from p join '{file}' t on p.n = t.n where t.w = 'w1' and p.a = 1"),
    ] {
        let (plan, came) = sent(&ctx, &sql).await;
        assert_eq!(shown(&came), shown(&plan), "{sql}");
        let (mut expected, mut found) = (rows_by(plan).await, rows_by(came).await);
        if !sql.contains("order by") {
            expected.sort();
            found.sort();
        }
        assert!(!expected.is_empty(), "{sql}");
        assert_eq!(found, expected, "{sql}");
    }
}

/// The first scan of a plan.
fn scan(plan: &Arc<dyn ExecutionPlan>) -> FileScanConfig {
    let own = plan.downcast_ref::<DataSourceExec>();
    match own.and_then(|scan| scan.data_source().downcast_ref::<FileScanConfig>()) {
        Some(config) => config.clone(),
        None => scan(plan.children()[0]),
    }
}

#[tokio::test]
async fn subqueries_beside_an_outer_join_are_sent() {
    let folder = tempdir().unwrap();
    let file = table(folder.path());
    let file = file.display();
    for (join, wanted) in [("left", "1000 | 4"), ("inner", "4 | 4")] {
        for few in ["in (select n from 'FILE' where n < 4)", "not in (select n from 'FILE' where n > 3)"] {
            let sql = "select count(*), count(b.n) from 'FILE' a JOIN join 'FILE' b on a.n = b.n and b.n FEW";
            let sql = sql.replace("FEW", few).replace("JOIN", join).replace("FILE", &file.to_string());
            // Tables are replaced before or after the optimizer.
            let early = session();
            early.add_analyzer_rule(Arc::new(SerialisableTables));
            for ctx in [session(), early] {
                let found =
                    given_elsewhere(&ctx, &sql).await.unwrap_or_else(|error| panic!("{sql}: {error}"));
                assert_eq!(rows_of(&found), [wanted], "{sql}");
            }
        }
    }
}

#[tokio::test]
async fn a_scan_keeps_what_messages_of_datafusion_lose() {
    let folder = tempdir().unwrap();
    let file = table(folder.path());
    let ctx = session();
    // Five thousand million rows.
    let (plan, came) = sent(&ctx, &format!("select n from '{}' limit 5000000000", file.display())).await;
    let (before, after) = (scan(&plan), scan(&came));
    assert_eq!((before.limit, after.limit), (Some(5_000_000_000), Some(5_000_000_000)));
    let files = |config: &FileScanConfig| -> Vec<_> {
        let files = config.file_groups.iter().flat_map(|group| group.iter());
        files.map(|file| (file.object_meta.clone(), file.range.clone())).collect()
    };
    assert!(files(&before).iter().all(|(meta, _)| meta.e_tag.is_some()), "this machine's files have tags");
    assert_eq!(files(&after), files(&before));
}

#[tokio::test]
async fn a_file_that_was_changed_on_the_way_is_an_error() {
    let folder = tempdir().unwrap();
    let file = table(folder.path());
    let (_, came) =
        sent(&session(), &format!("select sum(n) from '{}' where w = 'w1'", file.display())).await;
    write(&file, &[batch([("n", ints(0..900)), ("w", texts((0..900).map(|_| "w1".to_owned())))])], 100);
    let error = collect(came, session().task_ctx()).await.unwrap_err().to_string();
    assert!(
        error.contains("the file has changed since it was listed") && error.contains("t.parquet"),
        "{error}"
    );
}

/// Each reading option that is followed, and its effect.
const READING: &str = "'pushdown_filters' 'false', 'pruning' 'false', 'enable_page_index' 'false', 'skip_metadata' 'false', \
    'metadata_size_hint' '1000000', 'schema_force_view_types' 'false', 'binary_as_string' 'true', 'coerce_int96' 'us', \
    'coerce_int96_tz' 'UTC', 'on_corrupt' 'skip_page', 'ignore_sorting_columns' 'true'";

const WRITING: &str = "'compression' 'zstd(7)', 'compression::n' 'snappy', 'dictionary_enabled' 'false', 'statistics_enabled' 'none', \
    'encoding' 'plain', 'encoding::n' 'delta_binary_packed', 'bloom_filter_on_write' 'true', 'bloom_filter_fpp' '0.02', 'bloom_filter_ndv' '77', \
    'bloom_filter_enabled::w' 'false', 'max_row_group_size' '300', 'max_row_group_bytes' '1000000', 'data_pagesize_limit' '5000', \
    'data_page_row_count_limit' '50', 'dictionary_page_size_limit' '3000', 'write_batch_size' '64', 'writer_version' '2.0', \
    'skip_arrow_metadata' 'true', 'column_index_truncate_length' '9', 'statistics_truncate_length' '8', 'metadata::made' 'in spring', \
    'created_by' 'me', 'allow_single_file_parallelism' 'false'";

/// Decoding a message and encoding it again gives the same bytes: nothing was lost.
fn is_kept(plan: Arc<dyn ExecutionPlan>, came: Arc<dyn ExecutionPlan>) {
    let codec = MarquetryPhysicalCodec::default();
    let bytes = |plan: Arc<dyn ExecutionPlan>| {
        let mut bytes = Vec::new();
        codec.try_encode(plan, &mut bytes, &DefaultPhysicalProtoConverter {}).unwrap();
        bytes
    };
    let (before, after) = (bytes(plan), bytes(came));
    assert!(before == after, "{}\n{}", before.escape_ascii(), after.escape_ascii());
}

#[tokio::test]
async fn every_option_is_kept() {
    let folder = tempdir().unwrap();
    let file = table(folder.path());
    let ctx = session();
    run(
        &ctx,
        &format!(
            "create external table t stored as parquet location '{}' options ({READING})",
            file.display()
        ),
    )
    .await;
    let (plan, came) = sent(&ctx, "select * from t").await;
    let options = |plan: &Arc<dyn ExecutionPlan>| {
        let source = scan(plan).file_source().clone();
        format!("{:?}", source.downcast_ref::<marquetry_datafusion::MarquetrySource>().unwrap())
    };
    for part in [
        "on_corrupt: SkipPage",
        "ignore_sorting_columns: true",
        "coerce_int96_tz: Some(\"UTC\")",
        "pushdown_filters: Some(false)",
    ] {
        assert!(options(&plan).contains(part) && options(&came).contains(part), "{part}: {}", options(&came));
    }
    is_kept(plan, came);

    ctx.register_batch("m", batch([("n", ints(0..1000)), ("w", texts((0..1000).map(|n| format!("w{n}"))))]))
        .unwrap();
    let out = folder.path().join("out.parquet");
    let statement = format!(
        "copy (select * from m order by n desc) to '{}' stored as parquet options ({WRITING})",
        out.display()
    );
    let (plan, came) = sent(&ctx, &statement).await;
    let text = "MarquetrySink(to=[";
    assert!(shown(&plan).contains(text) && shown(&came).contains(text), "{}", shown(&came));
    is_kept(plan.clone(), came.clone());
    assert_eq!(rows_by(plan).await, ["1000"]);
    let by_itself = std::fs::read(&out).unwrap();
    std::fs::remove_file(&out).unwrap();
    assert_eq!(rows_by(came).await, ["1000"]);
    assert!(std::fs::read(&out).unwrap() == by_itself, "another file was written");
}

#[tokio::test]
async fn logical_plans_run_where_their_tables_are_not_known() {
    let folder = tempdir().unwrap();
    let file = table(folder.path());
    let ctx = session();
    let path = folder.path().display();
    run(&ctx, &format!("copy (select n, w, n % 2 as a from '{}') to '{path}/parts/' stored as parquet partitioned by (a) options ('execution.keep_partition_by_columns' 'false')", file.display())).await;
    run(
        &ctx,
        &format!("create external table p stored as parquet partitioned by (a) location '{path}/parts/' options ('on_corrupt' 'skip_page')"),
    )
    .await;
    let file = file.display();
    for sql in [
        format!("select w, count(*) from '{file}' where n > 10 group by w order by w"),
        "select a, count(*), sum(n) from p where a = 1 group by a".to_owned(),
        format!("select count(*) from p where n in (select n from '{file}' where w = 'w2')"),
        format!("with few as (select * from '{path}/*.parquet' where n < 9) select sum(n) from few"),
    ] {
        let found = given_elsewhere(&ctx, &sql).await.unwrap_or_else(|error| panic!("{sql}: {error}"));
        assert_eq!(rows_of(&found), rows(&ctx, &sql).await, "{sql}");
    }
    run(
        &ctx,
        &format!("create external table i (n int, w varchar) stored as parquet location '{path}/inserted/'"),
    )
    .await;
    given_elsewhere(&ctx, "insert into i values (1, 'a'), (2, 'b')").await.unwrap();
    given_elsewhere(&ctx, &format!("insert into i select n, w from '{file}' where n < 3")).await.unwrap();
    let there = session();
    run(&there, &format!("create external table i stored as parquet location '{path}/inserted/'")).await;
    assert_eq!(rows(&there, "select count(*), sum(n) from i").await, ["5 | 6"]);
}

#[tokio::test]
async fn a_copy_that_is_sent_keeps_its_options() {
    let folder = tempdir().unwrap();
    let ctx = session_with(SessionConfig::new().with_target_partitions(2));
    let file = table(folder.path());
    let path = folder.path().display();
    let options = "'compression' 'snappy', 'max_row_group_size' '250', 'metadata::made' 'elsewhere'";
    let select = format!("select n, w from '{}' where n >= 500", file.display());
    let found =
        given_elsewhere(&ctx, &format!("copy ({select}) to '{path}/copy.parquet' options ({options})")).await;
    assert_eq!(rows_of(&found.unwrap()), ["500"]);
    let footer = marquetry_arrow::arrow_reader::ArrowReaderMetadata::load(
        std::fs::File::open(folder.path().join("copy.parquet")).unwrap(),
        Default::default(),
    )
    .unwrap();
    assert_eq!(footer.metadata().num_row_groups(), 2);
    assert_eq!(footer.metadata().value_of("made").as_deref(), Some("elsewhere"));
    // The option that determines the files' columns is encoded, too.
    let keep = format!(
        "copy (select n, n % 2 as a from '{}') to '{path}/kept/' stored as parquet partitioned by (a) \
         options ('execution.keep_partition_by_columns' 'true')",
        file.display()
    );
    given_elsewhere(&ctx, &keep).await.unwrap();
    let mut parts = std::fs::read_dir(folder.path().join("kept/a=1")).unwrap();
    let part = parts.next().unwrap().unwrap().path();
    assert_eq!(rows(&ctx, &format!("select min(a), count(*) from '{}'", part.display())).await, ["1 | 500"]);
    let wrong = format!("copy ({select}) to '{path}/wrong.parquet' options ('no_such_option' '1')");
    let error = given_elsewhere(&ctx, &wrong).await.unwrap_err().to_string();
    assert!(error.contains("no_such_option"), "{error}");
    assert!(!folder.path().join("wrong.parquet").exists());
}

/// A message, and the function that decodes it.
struct Sealed {
    bytes: Vec<u8>,
    open: Box<Open>,
}

/// Decodes the message, and encodes the result again.
type Open = dyn Fn(&[u8]) -> Result<Vec<u8>>;

/// What precedes a message: a magic number, the version, the kind, and the checksum.
const ENVELOPE: usize = 10;

/// Corrects the checksum.
fn resealed(mut bytes: Vec<u8>) -> Vec<u8> {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&bytes[..ENVELOPE - 4]);
    hasher.update(&bytes[ENVELOPE..]);
    bytes[ENVELOPE - 4..ENVELOPE].copy_from_slice(&hasher.finalize().to_le_bytes());
    bytes
}

fn of_plan(plan: &Arc<dyn ExecutionPlan>, inputs: &[Arc<dyn ExecutionPlan>], ctx: &SessionContext) -> Sealed {
    let encoded = |plan: Arc<dyn ExecutionPlan>| {
        let mut bytes = Vec::new();
        let codec = MarquetryPhysicalCodec::default();
        codec.try_encode(plan, &mut bytes, &DefaultPhysicalProtoConverter {})?;
        Ok(bytes)
    };
    let (inputs, task) = (inputs.to_vec(), ctx.task_ctx());
    let open = move |bytes: &[u8]| {
        let codec = MarquetryPhysicalCodec::default();
        encoded(codec.try_decode(bytes, &inputs, &task, &DefaultPhysicalProtoConverter {})?)
    };
    Sealed { bytes: encoded(plan.clone()).unwrap(), open: Box::new(open) }
}

/// Declared tables keep their nullability: of keys, and of columns that files require.
#[tokio::test]
async fn declared_tables_have_their_nulls_after_a_way_through_bytes() {
    let folder = tempdir().unwrap();
    let path = folder.path().display();
    let ctx = session();
    run(&ctx, &format!("copy (select 1 as n, 5 as k union all select 2, null) to '{path}/t/' stored as parquet partitioned by (k)"))
        .await;
    for (name, columns) in [("t", "(n int not null, k bigint)"), ("r", "(n int, k bigint not null)")] {
        let create = format!(
            "create external table {name} {columns} stored as parquet partitioned by (k) location '{path}/t/' with order (n)"
        );
        run(&ctx, &create).await;
        for (sql, wanted) in [
            ("select n, k from t order by n", &["1 | 5", "2 | null"][..]),
            ("select n from t where k is null", &["2"]),
            ("select count(*), count(k) from t where k is null or k = 5", &["2 | 1"]),
            ("select n from t where n is null", &[]),
        ] {
            let sql = sql.replace("from t", &format!("from {name}"));
            let found = given_elsewhere(&ctx, &sql).await.unwrap_or_else(|error| panic!("{sql}: {error}"));
            assert_eq!(rows_of(&found), wanted, "{sql}");
            let (_, came) = sent(&ctx, &sql).await;
            assert_eq!(rows_by(came).await, wanted, "{sql}");
        }
    }
    given_elsewhere(&ctx, "insert into t values (3, null), (4, 7)").await.unwrap();
    for (name, column) in [("t", "column n"), ("r", "key k")] {
        let error =
            given_elsewhere(&ctx, &format!("insert into {name} values (null, null)")).await.unwrap_err();
        assert!(error.to_string().contains(&format!("the {column} is null in some rows")), "{error}");
    }
    assert_eq!(
        rows(&session_of(&path.to_string()).await, "select n, k from t order by n").await,
        ["1 | 5", "2 | null", "3 | null", "4 | 7"]
    );
}

/// A session that has not listed the table's files yet.
async fn session_of(path: &str) -> SessionContext {
    let ctx = session();
    let create = format!(
        "create external table t (n int, k bigint) stored as parquet partitioned by (k) location '{path}/t/'"
    );
    run(&ctx, &create).await;
    ctx
}

fn of_table(plan: LogicalPlan, ctx: &SessionContext) -> Sealed {
    let mut provider = None;
    serialisable(plan)
        .unwrap()
        .apply(|node| {
            if let LogicalPlan::TableScan(scan) = node {
                provider = Some(source_as_provider(&scan.source)?);
            }
            Ok(TreeNodeRecursion::Continue)
        })
        .unwrap();
    let name = TableReference::bare("t");
    let schema = provider.as_ref().unwrap().schema();
    let task = ctx.task_ctx();
    let encoded = |provider| {
        let mut bytes = Vec::new();
        let codec = MarquetryLogicalCodec::default();
        codec.try_encode_table_provider(&TableReference::bare("t"), provider, &mut bytes)?;
        Ok(bytes)
    };
    let open = move |bytes: &[u8]| {
        let codec = MarquetryLogicalCodec::default();
        encoded(codec.try_decode_table_provider(bytes, &name, schema.clone(), &task)?)
    };
    Sealed { bytes: encoded(provider.unwrap()).unwrap(), open: Box::new(open) }
}

fn of_format(ctx: &SessionContext) -> Sealed {
    let encoded = |factory| {
        let mut bytes = Vec::new();
        MarquetryLogicalCodec::default().try_encode_file_format(&mut bytes, factory)?;
        Ok(bytes)
    };
    let task = ctx.task_ctx();
    let open =
        move |bytes: &[u8]| encoded(MarquetryLogicalCodec::default().try_decode_file_format(bytes, &task)?);
    let options =
        [("compression".to_owned(), "zstd(3)".to_owned()), ("on_corrupt".to_owned(), "fail".to_owned())];
    let factory = Arc::new(MarquetryFormatFactory::new("parquet").with_options(options));
    Sealed { bytes: encoded(factory).unwrap(), open: Box::new(open) }
}

/// A message of each kind: a scan with conditions, a sink with an order, a table with partition columns, a format with options,
/// a pattern with a key.
async fn one_of_each(folder: &Path) -> Vec<Sealed> {
    let file = table(folder);
    let ctx = session();
    let sql = format!("select n from '{}' where w = 'w1' and n > 17", file.display());
    let plan = ctx.sql(&sql).await.unwrap().create_physical_plan().await.unwrap();
    let scan: Arc<dyn ExecutionPlan> = DataSourceExec::from_data_source(scan(&plan));
    let copy = format!(
        "copy (select * from '{}' order by n) to '{}/out.parquet' stored as parquet options ({WRITING})",
        file.display(),
        folder.display()
    );
    let sink = ctx.sql(&copy).await.unwrap().create_physical_plan().await.unwrap();
    let input = sink.children()[0].clone();
    run(
        &ctx,
        &format!(
            "create external table t (n int, w varchar not null default 'x', a int) stored as parquet partitioned by (a) \
             location '{}/parts/' with order (n desc) options ({READING})",
            folder.display()
        ),
    )
    .await;
    let query = ctx.sql("select * from t").await.unwrap().into_unoptimized_plan();
    std::fs::create_dir(folder.join("k=1")).unwrap();
    std::fs::copy(&file, folder.join("k=1/t.parquet")).unwrap();
    let folder =
        FilesInStore::list(&format!("file://{}/k=*", folder.display()), &ctx.runtime_env()).await.unwrap();
    let folder =
        FolderTable::try_new(&folder, true, &MarquetryFormat::default(), &ctx.state()).await.unwrap();
    ctx.register_table("folder", Arc::new(folder)).unwrap();
    let folder = ctx.sql("select * from folder").await.unwrap().into_unoptimized_plan();
    vec![
        of_plan(&scan, &[], &ctx),
        of_plan(&sink, &[input], &ctx),
        of_table(query, &ctx),
        of_format(&ctx),
        of_table(folder, &ctx),
    ]
}

#[tokio::test]
async fn bytes_that_were_changed_are_refused() {
    let folder = tempdir().unwrap();
    for Sealed { bytes, open } in one_of_each(folder.path()).await {
        let again = open(&bytes).unwrap();
        assert!(again == bytes, "{}\n{}", bytes.escape_ascii(), again.escape_ascii());
        for end in 0..bytes.len() {
            assert!(open(&bytes[..end]).is_err(), "cut off at {end}");
        }
        for place in 0..bytes.len() {
            for bit in 0..8 {
                let mut changed = bytes.clone();
                changed[place] ^= 1 << bit;
                assert!(open(&changed).is_err(), "bit {bit} of byte {place}");
            }
        }
        // With a correct checksum the result must be an error or another plan, never a panic.
        for end in ENVELOPE..bytes.len() {
            drop(open(&resealed(bytes[..end].to_vec())));
        }
        for place in ENVELOPE..bytes.len() {
            for byte in [
                0,
                0x7f,
                0x80,
                0xff,
                bytes[place] ^ 1,
                bytes[place].wrapping_add(1),
                bytes[place].wrapping_sub(1),
            ] {
                let mut changed = bytes.clone();
                changed[place] = byte;
                drop(open(&resealed(changed)));
            }
        }
    }
}

#[tokio::test]
async fn bytes_that_are_not_known_are_refused() {
    let folder = tempdir().unwrap();
    let messages = one_of_each(folder.path()).await;
    let refused = |message: usize, bytes: &[u8], why: &str| {
        let error = (messages[message].open)(bytes).unwrap_err().to_string();
        assert!(error.contains("a plan of Marquetry's cannot be read") && error.contains(why), "{error}");
    };
    let changed = |message: usize, place: usize, byte: u8| {
        let mut bytes = messages[message].bytes.clone();
        bytes[place] = byte;
        resealed(bytes)
    };
    for (message, sealed) in messages.iter().enumerate() {
        refused(message, &changed(message, 4, 2), "it is of version 2 of the messages, and this is 4");
        refused(message, &changed(message, 5, 99), "nothing is of kind 99");
        refused(message, &sealed.bytes[..4], "it ends before it says what it is");
        refused(message, &sealed.bytes[..8], "it ends before its checksum");
        let mut flipped = sealed.bytes.clone();
        flipped[ENVELOPE] ^= 1;
        refused(message, &flipped, "it was changed on its way");
        // A field that is not known, as a later version may have it.
        let more = [sealed.bytes.as_slice(), &[0xf8, 0x07, 1]].concat();
        refused(message, &resealed(more), "it has fields that");
    }
    refused(0, &changed(0, 5, 2), "it cannot have 0 inputs");
    refused(1, &messages[0].bytes, "it cannot have 1 inputs");
    refused(0, &messages[2].bytes, "it is a part of a logical plan");
    refused(2, &messages[3].bytes, "it is a format, and a table was asked for");
    refused(4, &messages[3].bytes, "it is a format, and a table was asked for");
    refused(0, &messages[4].bytes, "it is a part of a logical plan");
    refused(3, &messages[0].bytes, "it is a scan, and a format was asked for");
}

#[tokio::test]
async fn a_plan_that_is_not_prepared_is_refused_by_datafusion() {
    let folder = tempdir().unwrap();
    let file = table(folder.path());
    let ctx = session();
    let plan: LogicalPlan =
        ctx.sql(&format!("select n from '{}'", file.display())).await.unwrap().into_optimized_plan().unwrap();
    let codec = MarquetryLogicalCodec::default();
    assert!(logical_plan_to_bytes_with_extension_codec(&plan, &codec).is_err());
    assert!(logical_plan_to_bytes_with_extension_codec(&serialisable(plan).unwrap(), &codec).is_ok());
}
