//! Random tables of many types, whose files may be older than their columns or have narrower ones: the rows of random queries are
//! those of the same rows in memory.

use crate::property::Random;
use crate::tables::{batches, rows_of, session_with, write_with};
use crate::type_columns::{Kind, kinds};
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, Int64Array, RecordBatch, StructArray, new_null_array};
use arrow_schema::{DataType, Field, Fields, Schema, SchemaRef, SortOptions};
use datafusion::arrow::compute::{cast, sort_to_indices, take_record_batch};
use datafusion::datasource::MemTable;
use datafusion::datasource::listing::{ListingOptions, ListingTable, ListingTableConfig, ListingTableUrl};
use datafusion::error::DataFusionError;
use datafusion::prelude::{SessionConfig, SessionContext, col};
use marquetry_arrow::dataset::Dataset;
use marquetry_arrow::evolution::Evolution;
use marquetry_core::write::{EnabledStatistics, WriterProperties, WriterVersion};
use marquetry_datafusion::{DatasetTable, MarquetryFormat};
use std::path::Path;
use std::sync::Arc;
use tempfile::tempdir;

/// Conditions and values of columns that are nested.
const NESTED: [(&str, &[&str]); 6] = [
    (
        "r",
        &[
            "r['x'] > 3",
            "r['x'] is null",
            "r['y'] = 'ab'",
            "r is null",
            "r['z']['w'] < 1.25",
            "r['z']['w'] is not null",
        ],
    ),
    ("v", &["array_has(v, 3)", "cardinality(v) > 1", "v is null", "v[1] = 2", "not array_has(v, 4)"]),
    ("vl", &["array_has(vl, 3)", "vl[2] is null", "vl is not null", "array_length(vl) = 2"]),
    ("vt", &["array_has(vt, 'ab')", "vt[1] like 'a%'", "vt is null"]),
    ("vp", &["vp is null", "vp[1] > 3", "array_has(vp, 2)"]),
    ("k", &["k['a'] > 3", "k is null", "k['b'] is null", "cardinality(k) = 2"]),
];

fn condition(random: &mut Random, kinds: &[Kind], depth: usize) -> String {
    if depth > 0 && random.chance(60) {
        let (left, right) = (condition(random, kinds, depth - 1), condition(random, kinds, depth - 1));
        return match random.below(4) {
            0 => format!("not ({left})"),
            1 => format!("({left} or {right})"),
            _ => format!("({left} and {right})"),
        };
    }
    let Kind { name, literals, data_type, .. } = &kinds[random.below(kinds.len())];
    if let Some((_, conditions)) = NESTED.iter().find(|(nested, _)| nested == name) {
        return random.one(conditions).to_owned();
    }
    let (literal, other) = (random.one(literals), random.one(literals));
    let comparison =
        random.one(&["=", "<>", "<", "<=", ">", ">=", "is distinct from", "is not distinct from"]);
    match random.below(11) {
        0 => format!("{name} is null"),
        1 => format!("{name} is not null"),
        2 => format!("{name} in ({literal}, {other})"),
        3 => format!("{name} not in ({literal}, {other})"),
        4 => format!("{name} between {literal} and {other}"),
        5 if data_type.is_string() => {
            let pattern = random.one(&["a%", "%b", "_b%", "%", "Ä%", "x\\%%", "%z%"]);
            format!("{name} {} '{pattern}'", random.one(&["like", "not like", "ilike"]))
        }
        5 => format!("cast({name} as varchar) > '1'"),
        6 => {
            let alike: Vec<&Kind> = kinds.iter().filter(|kind| kind.literals == *literals).collect();
            let second = alike[random.below(alike.len())].name;
            format!("({name} {comparison} {second})")
        }
        7 => format!("{literal} {} {name}", random.one(&["=", "<", ">="])),
        8 if data_type.is_numeric() => {
            let to = random.one(&["bigint", "double", "decimal(20, 1)", "smallint", "varchar"]);
            format!("try_cast({name} as {to}) {} {literal}", random.one(&["=", "<", ">="]))
        }
        9 => format!("coalesce({name}, {literal}) = {other}"),
        _ => format!("({name} {comparison} {literal})"),
    }
}

fn is_simple(kind: &Kind) -> bool {
    NESTED.iter().all(|(nested, _)| *nested != kind.name)
}

fn query(random: &mut Random, kinds: &[Kind]) -> String {
    let depth = random.below(4);
    let (wanted, second) = (condition(random, kinds, depth), condition(random, kinds, 1));
    let simple: Vec<&Kind> = kinds.iter().filter(|kind| is_simple(kind)).collect();
    let exact: Vec<&str> =
        simple.iter().filter(|kind| !kind.data_type.is_floating()).map(|kind| kind.name).collect();
    let (column, key, bounded) =
        (kinds[random.below(kinds.len())].name, random.one(&exact), random.one(&exact));
    let sorted = simple[random.below(simple.len())].name;
    let (direction, limit) = (random.one(&["asc", "desc"]), 1 + random.below(20));
    let nulls = random.one(&["first", "last"]);
    match random.below(15) {
        13 => format!("select {sorted} from t order by {sorted} {direction} nulls {nulls} limit {limit}"),
        0 => format!(
            "select {sorted} from t where {wanted} order by {sorted} {direction} nulls {nulls} limit {limit}"
        ),
        1 => {
            format!("select min({bounded}), max({bounded}), count({column}), count(*) from t where {wanted}")
        }
        2 => format!("select min({bounded}), max({bounded}), count({bounded}), count(*) from t"),
        3 => format!("select {key}, count(*), min({bounded}) from t where {wanted} group by {key}"),
        4 => format!("select distinct {key} from t where {wanted}"),
        5 => format!(
            "select a.{column}, b.{bounded} from (select * from t where {wanted}) a \
             join (select * from t where {second}) b on a.{key} = b.{key}"
        ),
        6 => {
            format!("select {column} from t where {key} in (select {key} from t where {second}) and {wanted}")
        }
        7 => format!("select {column} from t where {wanted} union all select {column} from t where {second}"),
        8 => format!(
            "select {key}, count(*) over (partition by {key}), rank() over (order by {bounded}) from t where {wanted}"
        ),
        9 => format!("select {column} from t where {key} = (select min({key}) from t where {second})"),
        10 => format!(
            "select a.{key} from (select * from t where {wanted}) a left join t b \
             on a.{key} = b.{key} and a.{bounded} < b.{bounded} where b.{key} is null"
        ),
        11 => format!(
            "select {column}, p from t where {wanted} and p {}",
            random.one(&["= 1", "> 1", "is null", "<> 2"])
        ),
        12 => format!("select {column}, {key} from t where {wanted}"),
        _ => format!("select * from t where {wanted}"),
    }
}

/// The same table several times.
struct Sessions {
    listing: SessionContext,
    dataset: SessionContext,
    memory: SessionContext,
}

fn write(random: &mut Random, path: &Path, table: &RecordBatch) {
    let rows = 1 + random.below(120);
    let statistics = [EnabledStatistics::None, EnabledStatistics::Chunk, EnabledStatistics::Page]
        [2 - random.below(5).min(2)];
    let version = if random.chance(50) { WriterVersion::PARQUET_1_0 } else { WriterVersion::PARQUET_2_0 };
    let properties = WriterProperties::builder()
        .set_max_row_group_row_count(Some(rows))
        .set_data_page_row_count_limit(1 + random.below(rows))
        .set_dictionary_enabled(random.chance(60))
        .set_bloom_filter_enabled(random.chance(40))
        .set_statistics_enabled(statistics)
        .set_writer_version(version)
        .set_offset_index_disabled(statistics != EnabledStatistics::Page && random.chance(30));
    write_with(path, std::slice::from_ref(table), properties.build());
}

/// A file of a table: the rows, and what is written of them.
fn rows_and_file(random: &mut Random, kinds: &[Kind], schema: &SchemaRef, evolves: bool) -> [RecordBatch; 2] {
    let rows = 1 + random.below(300);
    let (sorted, nulls) = (random.chance(50), random.below(40));
    let spread = 1 + random.below(40) as i64;
    let (mut known, mut stored) = (Vec::new(), Vec::new());
    for (kind, field) in kinds.iter().zip(schema.fields()) {
        let values = (0..rows).map(|row| {
            let number = match sorted {
                true => row as i64 * spread / rows as i64 - spread / 2,
                false => random.below(spread as usize * 2) as i64 - spread,
            };
            (!random.chance(nulls)).then_some(number)
        });
        let mut column = cast(&(kind.values)(values.collect()), &kind.data_type).unwrap();
        if evolves && random.chance(15) {
            known.push(new_null_array(&kind.data_type, rows));
            continue;
        }
        if evolves && kind.name == "r" && random.chance(50) {
            let missing = random.below(3);
            let (older, now) = without_field(&column, missing);
            stored.push((field.name().clone(), older));
            known.push(now);
            continue;
        }
        if evolves && !kind.narrower.is_empty() && random.chance(50) {
            let narrow = cast(&column, &kind.narrower[random.below(kind.narrower.len())]).unwrap();
            column = cast(&narrow, &kind.data_type).unwrap();
            stored.push((field.name().clone(), narrow));
        } else {
            stored.push((field.name().clone(), column.clone()));
        }
        known.push(column);
    }
    if evolves {
        for i in (1..stored.len()).rev() {
            stored.swap(i, random.below(i + 1));
        }
    }
    if stored.is_empty() {
        stored.push((schema.field(0).name().clone(), known[0].clone()));
    }
    let stored = stored.into_iter().map(|(name, column)| (name, column, true));
    let file = RecordBatch::try_from_iter_with_nullable(stored).unwrap();
    [RecordBatch::try_new(schema.clone(), known).unwrap(), file]
}

/// Structs without one field, and the same structs with nulls in it.
fn without_field(column: &ArrayRef, missing: usize) -> (ArrayRef, ArrayRef) {
    let (fields, mut columns, nulls) = column.as_struct().clone().into_parts();
    columns[missing] = new_null_array(fields[missing].data_type(), column.len());
    let now = StructArray::new(fields.clone(), columns.clone(), nulls.clone());
    columns.remove(missing);
    let kept: Fields =
        fields.iter().enumerate().filter(|(at, _)| *at != missing).map(|(_, field)| field.clone()).collect();
    (Arc::new(StructArray::new(kept, columns, nulls)), Arc::new(now))
}

async fn sessions(random: &mut Random, kinds: &[Kind], folder: &Path) -> Sessions {
    let partitions = 1 + random.below(4);
    let mut config = SessionConfig::new().with_target_partitions(partitions).with_batch_size(50);
    config.options_mut().optimizer.repartition_file_min_size = 1;
    let listing = session_with(config.clone());
    let pushes_down = random.chance(70);
    let set = format!("set datafusion.execution.parquet.pushdown_filters = {pushes_down}");
    batches(&listing, &set).await.unwrap();
    let fields: Vec<Field> =
        kinds.iter().map(|kind| Field::new(kind.name, kind.data_type.clone(), true)).collect();
    let schema = Arc::new(Schema::new(fields.clone()));
    let evolves = random.chance(60);
    let sorted: Vec<&Kind> = kinds.iter().filter(|kind| is_simple(kind) && random.chance(20)).collect();
    let order = sorted.first().map(|kind| {
        (kind.name, SortOptions { descending: random.chance(50), nulls_first: random.chance(50) })
    });
    let mut all = fields;
    all.push(Field::new("p", DataType::Int64, true));
    let whole = Arc::new(Schema::new(all));
    let mut tables = Vec::new();
    for number in 0..1 + random.below(4) {
        let key = 1 + random.below(3) as i64;
        let below = folder.join(format!("p={key}"));
        std::fs::create_dir_all(&below).unwrap();
        let [mut rows, mut file] = rows_and_file(random, kinds, &schema, evolves);
        if let Some((name, options)) = order {
            let sorted = sort_to_indices(rows.column_by_name(name).unwrap(), Some(options), None).unwrap();
            (rows, file) =
                (take_record_batch(&rows, &sorted).unwrap(), take_record_batch(&file, &sorted).unwrap());
        }
        write(random, &below.join(format!("{number}.parquet")), &file);
        let mut columns = rows.columns().to_vec();
        columns.push(Arc::new(Int64Array::from(vec![key; rows.num_rows()])));
        tables.push(RecordBatch::try_new(whole.clone(), columns).unwrap());
    }
    let options = ListingOptions::new(Arc::new(MarquetryFormat::default()))
        .with_file_extension(".parquet")
        .with_table_partition_cols(vec![("p".to_owned(), DataType::Int64)]);
    let order = order.map(|(name, options)| vec![col(name).sort(!options.descending, options.nulls_first)]);
    let options = options.with_file_sort_order(order.into_iter().collect());
    let url = ListingTableUrl::parse(format!("{}/", folder.display())).unwrap();
    let table = ListingTableConfig::new(url).with_listing_options(options).with_schema(schema.clone());
    listing.register_table("t", Arc::new(ListingTable::try_new(table).unwrap())).unwrap();
    let dataset = session_with(config.clone());
    let files = Dataset::open([folder]).unwrap().evolve(Evolution::to(whole.clone()));
    dataset.register_table("t", Arc::new(DatasetTable::try_new(files).unwrap())).unwrap();
    // Our rules run here, too: DataFusion by itself truncates literals when it compares timestamps.
    let memory = session_with(config);
    memory.register_table("t", Arc::new(MemTable::try_new(whole, vec![tables]).unwrap())).unwrap();
    Sessions { listing, dataset, memory }
}

/// The rows of a query, sorted unless it says in which order they are.
async fn found(ctx: SessionContext, sql: String) -> Result<Vec<String>, DataFusionError> {
    let mut rows = rows_of(&batches(&ctx, &sql).await?);
    // Both zeros are one number for groups and joins, and which of them is shown depends on the order in which rows come.
    rows.iter_mut().for_each(|row| *row = row.replace("-0.0", "0.0"));
    if !sql.contains(" limit ") {
        rows.sort();
    }
    Ok(rows)
}

/// A quarter of `MARQUETRY_SQL_CASES`; 20 queries share a table.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn random_queries_of_many_types_give_the_rows_that_memory_gives() {
    let cases = std::env::var("MARQUETRY_SQL_CASES").map_or(2000, |cases| cases.parse().expect("a number"));
    let seed = std::env::var("MARQUETRY_SQL_SEED").map_or(23, |seed| seed.parse().expect("a number"));
    let (mut with_rows, mut asked, mut failed, mut random) = (0, 0, 0, Random(seed));
    for _ in 0..cases / 80 {
        let folder = tempdir().unwrap();
        let mut kinds = kinds();
        while kinds.len() > 7 {
            kinds.swap_remove(random.below(kinds.len()));
        }
        if kinds.iter().all(|kind| !is_simple(kind) || kind.data_type.is_floating()) {
            continue;
        }
        let sessions = sessions(&mut random, &kinds, folder.path()).await;
        for _ in 0..20 {
            asked += 1;
            let sql = query(&mut random, &kinds);
            let ask = |ctx: &SessionContext| tokio::spawn(found(ctx.clone(), sql.clone()));
            let expected = ask(&sessions.memory).await.unwrap();
            // A query that fails in memory may succeed if the failing rows are pruned.
            let Ok(expected) = expected else {
                failed += 1;
                continue;
            };
            for (name, ctx) in [("listing", &sessions.listing), ("dataset", &sessions.dataset)] {
                match ask(ctx).await.unwrap() {
                    Ok(given) => assert_eq!(given, expected, "{name}: {sql}"),
                    // A dataset accepts only casts that keep all values.
                    Err(error) if name == "dataset" && error.to_string().contains("cannot become") => {}
                    Err(error) => panic!("{name}: {sql}: {error}"),
                }
            }
            with_rows += usize::from(!expected.is_empty());
        }
    }
    assert!(with_rows * 3 > asked, "{with_rows} of {asked} queries have rows, {failed} fail");
}
