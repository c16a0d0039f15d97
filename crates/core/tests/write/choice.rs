//! What `Auto` chooses.

use crate::chunk::data::Random;
use crate::sample::{flat, flat_blocks, flat_leaf, plain_settings};
use marquetry_codec::Codec;
use marquetry_core::nesting::{ColumnValues, DefinitionLevels, ShreddedColumn};
use marquetry_core::write::{
    ColumnSettings, ColumnWriter, Compat, EncodedChunk, EncodingDecision, EncodingPolicy, Workspace,
};
use marquetry_encoding::{Bitmap, PhysicalType, StringViews, Values, registry};
use marquetry_format::Repetition;
use std::sync::Arc;
use std::time::Duration;

/// How long this thread has run: others on the machine do not count. Zero where it is not known.
fn busy() -> Duration {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    Duration::from_nanos(text.split(' ').next().and_then(|nanos| nanos.parse().ok()).unwrap_or(0))
}

const PLAIN: i32 = 0;
const DELTA_BINARY_PACKED: i32 = 5;
const RLE_DICTIONARY: i32 = 8;

fn written(
    physical: PhysicalType,
    settings: &ColumnSettings,
    blocks: &[ShreddedColumn],
) -> (EncodedChunk, EncodingDecision, u64) {
    let leaf = flat_leaf(physical, Repetition::OPTIONAL);
    let workspace = &mut Workspace::new();
    let mut writer = ColumnWriter::new(&leaf, settings).unwrap();
    blocks.iter().for_each(|block| writer.write(block, workspace).unwrap());
    let estimate = writer.estimated_size();
    let (chunk, choice) = writer.close(workspace).unwrap();
    (chunk, choice, estimate)
}

/// Encodings of the data pages, and whether there is a dictionary page.
fn chosen(physical: PhysicalType, settings: &ColumnSettings, values: &Values) -> (Vec<i32>, bool) {
    let (chunk, _, estimate) = written(physical, settings, &flat_blocks(values));
    let stats = chunk.metadata.encoding_stats.unwrap();
    let is_dictionary = |page_type: i32| page_type == 2;
    let data = stats.iter().filter(|stats| !is_dictionary(stats.page_type.0));
    let len = chunk.bytes.len();
    if values.len() > 50_000 {
        assert!(estimate / 2 <= len && len <= estimate * 2, "{len} bytes estimated as {estimate}");
    }
    (data.map(|stats| stats.encoding.0).collect(), stats.iter().any(|stats| is_dictionary(stats.page_type.0)))
}

fn strings(n: usize, string: impl Fn(usize) -> String) -> Values {
    Values::Bytes((0..n).map(string).collect::<StringViews>())
}

#[test]
fn typical_columns_get_what_suits_them() {
    let settings = plain_settings().with_compat(Compat::Latest);
    let random = &mut Random(1);
    let n = 100_000;
    let sorted = Values::W64((0..n).map(|i| 1_700_000_000_000 + i * 1000 + (i * i) % 700).collect());
    assert_eq!(chosen(PhysicalType::Int64, &settings, &sorted), (vec![DELTA_BINARY_PACKED], false));
    let few: Vec<usize> = (0..n).map(|_| random.below(15)).collect();
    let few = strings(n as usize, |i| format!("one of the fifteen: {}", few[i]));
    assert_eq!(chosen(PhysicalType::ByteArray, &settings, &few), (vec![RLE_DICTIONARY], true));
    let doubles = Values::W64((0..n).map(|_| (random.word() as f64 / 1e19).to_bits()).collect());
    assert!(!chosen(PhysicalType::Double, &settings, &doubles).1);
    let unique: Vec<u64> = (0..n).map(|_| random.word()).collect();
    let unique = strings(n as usize, |i| format!("{:016x}", unique[i]));
    assert!(!chosen(PhysicalType::ByteArray, &settings, &unique).1);
    for compat in [Compat::Maximum, Compat::Modern] {
        let settings = settings.clone().with_compat(compat);
        assert_eq!(chosen(PhysicalType::Int64, &settings, &sorted), (vec![PLAIN], false));
    }
}

#[test]
fn many_values_that_come_again_stay_a_dictionary() {
    let random = &mut Random(2);
    let pool: Vec<u64> = (0..50_000).map(|_| random.word()).collect();
    let values = Values::W64((0..1_000_000).map(|_| random.pick(&pool)).collect());
    assert_eq!(chosen(PhysicalType::Int64, &plain_settings(), &values), (vec![RLE_DICTIONARY], true));
}

#[test]
fn a_column_that_changes_is_not_written_badly() {
    let random = &mut Random(3);
    let values = Values::W64((0..200_000).map(|i| if i < 20_000 { random.word() } else { 7 }).collect());
    let (chunk, _, _) = written(PhysicalType::Int64, &plain_settings(), &flat_blocks(&values));
    // The unique ones, and next to nothing for the rest: ZSTD at level 1 makes 2 bits of a small number that repeats.
    assert!(chunk.bytes.len() < 230_000, "{}", chunk.bytes.len());
}

#[test]
fn columns_of_nothing() {
    let nulls = |n: usize, values: Values| {
        ShreddedColumn::flat(
            n,
            DefinitionLevels::Bitmap(std::iter::repeat_n(false, n).collect::<Bitmap>()),
            ColumnValues::Values(values),
        )
    };
    for encoding in
        [EncodingPolicy::Auto { dictionary: true }, EncodingPolicy::DictionaryOr(0), EncodingPolicy::Only(0)]
    {
        let settings = plain_settings().with_encoding(encoding);
        let mut blocks = [nulls(3_000_000, Values::W32(vec![]))];
        let (chunk, _, _) = written(PhysicalType::Int32, &settings, &blocks);
        blocks[0].def = DefinitionLevels::Null;
        let (other, _, _) = written(PhysicalType::Int32, &settings, &blocks);
        let bytes = |chunk: &EncodedChunk| {
            let mut bytes = Vec::new();
            chunk.bytes.copy_to(&mut bytes).unwrap();
            bytes
        };
        assert!(bytes(&chunk) == bytes(&other));
        assert_eq!(chunk.metadata.dictionary_page_offset, None);
        assert!(chunk.bytes.len() < 15_000, "{}", chunk.bytes.len());
        let (chunk, _, _) = written(PhysicalType::Int32, &settings, &[]);
        assert_eq!((chunk.bytes.len(), chunk.metadata.num_values), (0, 0));
    }
    let empty = Values::Bytes((0..50_000).map(|_| "").collect::<StringViews>());
    assert_eq!(
        written(PhysicalType::ByteArray, &plain_settings(), &flat_blocks(&empty)).0.metadata.num_values,
        50_000
    );
    let mut none = PhysicalType::FixedLenByteArray(0).shape().empty();
    none.push_nulls(50_000);
    let (chunk, _, _) = written(PhysicalType::FixedLenByteArray(0), &plain_settings(), &flat_blocks(&none));
    assert!(chunk.bytes.len() < 1_000);
}

#[test]
fn what_does_not_belong_together_is_refused() {
    let leaf = flat_leaf(PhysicalType::Int32, Repetition::OPTIONAL);
    let error = |settings: &ColumnSettings, block: ShreddedColumn| {
        let writer = ColumnWriter::new(&leaf, settings);
        writer.and_then(|mut writer| writer.write(&block, &mut Workspace::new())).unwrap_err().to_string()
    };
    let settings = plain_settings();
    let good = flat(Values::W32(vec![1, 2, 3]));
    assert!(error(&settings, flat(Values::W64(vec![1]))).contains("W64 values for a column of INT32"));
    let with = |change: &dyn Fn(&mut ShreddedColumn)| {
        let mut changed = good.clone();
        change(&mut changed);
        changed
    };
    assert!(error(&settings, with(&|it| it.entries = 4)).contains("4 rows and 4 values"));
    let def = DefinitionLevels::Bitmap([true, false, true].into_iter().collect());
    assert!(error(&settings, with(&|it| it.def = def.clone())).contains("3 rows and 2 values"));
    let none = with(&|it| it.def = DefinitionLevels::Null);
    assert!(error(&settings, none).contains("3 rows and 0 values"));
    let def = DefinitionLevels::Levels(vec![1, 1]);
    assert!(error(&settings, with(&|it| it.def = def.clone())).contains("not those of whole rows"));
    for encoding in [EncodingPolicy::Only(2), EncodingPolicy::Only(7), EncodingPolicy::DictionaryOr(8)] {
        let settings = settings.clone().with_encoding(encoding);
        assert!(error(&settings, good.clone()).contains("is not for INT32"));
    }
    let keys = ColumnValues::Keys { keys: vec![0, 1, 9], dictionary: Arc::new(Values::W32(vec![5, 6])) };
    assert!(error(&settings, with(&|it| it.values = keys.clone())).contains("key 9"));
}

/// Columns as they are met.
fn columns(n: usize) -> Vec<(&'static str, PhysicalType, Values)> {
    let random = &mut Random(9);
    let mut words =
        |f: &mut dyn FnMut(usize, &mut Random) -> u64| -> Vec<u64> { (0..n).map(|i| f(i, random)).collect() };
    let w32 = |words: Vec<u64>| Values::W32(words.into_iter().map(|word| word as u32).collect());
    let text = |words: Vec<u64>, f: &dyn Fn(u64) -> String| {
        Values::Bytes(words.into_iter().map(f).collect::<StringViews>())
    };
    let mut at = 1_700_000_000_000_000;
    let times = words(&mut |_, r| {
        at += 900 + r.below(20_000) as u64;
        at
    });
    let walk = {
        let mut price = 100.0f64;
        words(&mut |_, r| {
            price += (r.below(2001) as f64 - 1000.0) / 1e4;
            price.to_bits()
        })
    };
    let skew = |r: &mut Random| {
        let shift = r.below(14);
        (r.word() & 0x3fff) >> shift
    };
    let nouns = ["furiously", "quick", "packages", "above the", "deposits", "sleep", "final", "carefully"];
    vec![
        ("row number", PhysicalType::Int64, Values::W64(words(&mut |i, _| i as u64))),
        ("sorted times", PhysicalType::Int64, Values::W64(times)),
        ("random i64", PhysicalType::Int64, Values::W64(words(&mut |_, r| r.word()))),
        ("foreign key", PhysicalType::Int64, Values::W64(words(&mut |_, r| r.below(200_000) as u64))),
        ("order key x4", PhysicalType::Int64, Values::W64(words(&mut |i, _| (i / 4 * 8) as u64))),
        ("quantity 1-50", PhysicalType::Int32, w32(words(&mut |_, r| 1 + r.below(50) as u64))),
        ("dates 7 years", PhysicalType::Int32, w32(words(&mut |_, r| 8000 + r.below(2526) as u64))),
        ("skewed ints", PhysicalType::Int32, w32(words(&mut |_, r| skew(r)))),
        ("runs of ints", PhysicalType::Int32, w32(words(&mut |i, _| (i / 1000 * 37 % 97) as u64))),
        (
            "cents",
            PhysicalType::Double,
            Values::W64(words(&mut |_, r| (r.below(10_000_000) as f64 / 100.0).to_bits())),
        ),
        (
            "rates 0-0.1",
            PhysicalType::Double,
            Values::W64(words(&mut |_, r| (r.below(11) as f64 / 100.0).to_bits())),
        ),
        ("random walk", PhysicalType::Double, Values::W64(walk)),
        (
            "random f32",
            PhysicalType::Float,
            w32(words(&mut |_, r| u64::from((r.below(1 << 24) as f32 / 16e6).to_bits()))),
        ),
        (
            "15 strings",
            PhysicalType::ByteArray,
            text(words(&mut |_, r| r.below(15) as u64), &|w| format!("status number {w}")),
        ),
        (
            "uuids",
            PhysicalType::ByteArray,
            text(words(&mut |_, r| r.word()), &|w| format!("{w:016x}-{:016x}", w.wrapping_mul(77))),
        ),
        (
            "names",
            PhysicalType::ByteArray,
            text(words(&mut |i, _| i as u64), &|w| format!("Customer#{w:09}")),
        ),
        (
            "sorted urls",
            PhysicalType::ByteArray,
            text(words(&mut |i, _| i as u64), &|w| format!("https://example.com/{}/{}", w / 50, w % 50)),
        ),
        (
            "skewed words",
            PhysicalType::ByteArray,
            text(words(&mut |_, r| skew(r)), &|w| format!("word{:x}", w.wrapping_mul(0x9e37_79b9))),
        ),
        (
            "comments",
            PhysicalType::ByteArray,
            text(words(&mut |_, r| r.word()), &|w| {
                (0..3 + w % 4).map(|i| nouns[(w >> (8 + 3 * i)) as usize % 8]).collect::<Vec<_>>().join(" ")
            }),
        ),
        (
            "flags",
            PhysicalType::Boolean,
            Values::Bit(words(&mut |_, r| r.below(10) as u64).iter().map(|w| *w == 0).collect()),
        ),
        ("decimals", PhysicalType::FixedLenByteArray(16), {
            let mut fixed = marquetry_encoding::FixedLenBytes::new(16);
            words(&mut |_, r| r.below(10_000_000) as u64)
                .iter()
                .for_each(|w| fixed.push(&u128::from(*w).to_be_bytes()));
            Values::Fixed(fixed)
        }),
    ]
}

const WRITTEN: [i32; 7] = [0, 3, 5, 6, 7, 8, 9];

/// The encodings that may be chosen: with `Latest` all but ALP.
fn legal(physical: PhysicalType, compat: Compat) -> Vec<i32> {
    let is_modern = |code: i32| [PLAIN, RLE_DICTIONARY].contains(&code);
    let is_allowed = |code: &i32| compat == Compat::Latest || is_modern(*code);
    let rows = registry::ENCODINGS.iter().filter(|row| (row.supports)(physical)).map(|row| row.code);
    rows.filter(|code| WRITTEN.contains(code)).filter(is_allowed).collect()
}

/// The measure for the choice: never 5 % larger than the best.
#[test]
fn nothing_else_would_have_been_much_smaller() {
    let mut worst = Vec::new();
    let (mut in_all, mut sampling) = (Duration::ZERO, Duration::ZERO);
    for (name, physical, values) in columns(200_000) {
        let blocks = flat_blocks(&values);
        for (codec, level) in [(Codec::Uncompressed, None), (Codec::Snappy, None), (Codec::Zstd, Some(1))] {
            for compat in [Compat::Modern, Compat::Latest] {
                let size = |encoding| {
                    let settings = plain_settings()
                        .with_codec(codec)
                        .with_level(level)
                        .with_encoding(encoding)
                        .with_compat(compat);
                    let start = busy();
                    let (chunk, choice, estimate) = written(physical, &settings, &blocks);
                    (chunk, choice, estimate, busy() - start)
                };
                let fixed: Vec<_> = legal(physical, compat)
                    .into_iter()
                    .map(|code| {
                        // A dictionary may not be larger than it may be.
                        let encoding = match code {
                            RLE_DICTIONARY => EncodingPolicy::DictionaryOr(PLAIN),
                            code => EncodingPolicy::Only(code),
                        };
                        let (chunk, _, _, time) = size(encoding);
                        (code, chunk.bytes.len(), time)
                    })
                    .collect();
                let best = fixed.iter().min_by_key(|(_, len, _)| *len).unwrap();
                let (chunk, choice, estimate, time) = size(EncodingPolicy::Auto { dictionary: true });
                let len = chunk.bytes.len();
                let own = chunk.metadata.encoding_stats.unwrap()[0].encoding.0;
                let same = fixed.iter().find(|(code, _, _)| *code == own).unwrap().2;
                in_all += time;
                sampling += time.saturating_sub(same);
                let over = len as f64 / best.1 as f64 - 1.0;
                let off = estimate as f64 / len as f64;
                println!(
                    "{name:14} {codec:?} {compat:?}: {own} {len} {:.1} ms ({estimate} {off:.2}), best {} {} {:+.1} %  of {fixed:?} {choice:?}",
                    time.as_secs_f64() * 1e3,
                    best.0,
                    best.1,
                    over * 100.0
                );
                if over > 0.05 || !(0.5..2.0).contains(&off) {
                    worst.push((name, codec, compat, own, *best, over, off));
                }
            }
        }
    }
    println!("sampling {sampling:?} of {in_all:?}");
    assert!(worst.is_empty(), "{worst:#?}");
}

/// `cargo test --release -p marquetry-core --test write -- --ignored --nocapture how_long`: for a profiler.
#[test]
#[ignore = "prints times"]
fn how_long_it_takes() {
    let wanted = std::env::var("COLUMN").unwrap_or_default();
    let mut all = (0.0, 0.0);
    for (name, physical, values) in columns(1_000_000) {
        if !name.contains(&wanted) {
            continue;
        }
        let blocks = flat_blocks(&values);
        for (codec, level) in [(Codec::Uncompressed, None), (Codec::Snappy, None), (Codec::Zstd, Some(1))] {
            let settings = plain_settings().with_codec(codec).with_level(level);
            let time = |settings: &ColumnSettings| {
                let runs = (0..10).map(|_| {
                    let start = busy();
                    let (chunk, _, _) = written(physical, settings, &blocks);
                    (busy() - start, chunk.metadata.encoding_stats.unwrap()[0].encoding.0)
                });
                runs.fold((Duration::ZERO, 0), |all, (time, code)| (all.0 + time, code))
            };
            let (auto, code) = time(&settings);
            let encoding = EncodingPolicy::Only(code);
            let (fixed, _) = time(&settings.with_encoding(encoding));
            let [auto, fixed] = [auto, fixed].map(|time| time.as_secs_f64() * 1e2);
            if name != "comments" {
                // Its dictionary gets too large.
                all = (all.0 + auto, all.1 + fixed);
            }
            println!(
                "{name:14} {codec:?} {code}: {auto:.2} ms, {fixed:.2} if asked for: {:+.1} %",
                (auto / fixed - 1.0) * 100.0
            );
        }
    }
    println!("in all {:.1} ms, {:.1} if asked for", all.0, all.1);
}
