//! A table like `hits` of ClickBench: what a web counter sees, in 105 columns. Deterministic, in batches.
//!
//! What makes that table what it is: rows stand in the order of sites, days and visits, so that much is the same in neighbours;
//! most columns are small integers, many of them nearly always 0; most text columns are nearly always empty; addresses, titles
//! and search phrases are long, come again seldom or often as Zipf found, and half of the text is not ASCII.
//!
//! A value depends only on its column and on its row, its visit, or its page: so the only state is the position in the
//! table.

mod columns;
mod text;

use std::sync::Arc;

use arrow60_array::{
    ArrayRef, Date32Array, Int16Array, Int32Array, Int64Array, RecordBatch, StringArray,
    TimestampMicrosecondArray,
};

use crate::error::Result;
use crate::generate::Rng;
use columns::{COLUMNS, Column, Kind};
use text::Texts;

/// The position in the table.
pub(crate) struct Hits {
    rng: Rng,
    texts: Texts,
    hit: Hit,
    /// Rows left of the visit, and visits left of the day.
    left: (u64, u64),
}

/// What the values of a row are derived from.
#[derive(Clone)]
struct Hit {
    row: u64,
    visit: u64,
    site: u64,
    /// Days since the epoch.
    day: i32,
    /// Microseconds since the epoch.
    time: i64,
    /// Any page of the site's.
    page: u64,
}

/// 2013-07-01, and how many days there are.
const FIRST_DAY: i32 = 15_887;
const DAYS: i32 = 31;
const DAY_MICROS: i64 = 86_400_000_000;

impl Hits {
    pub(crate) fn new() -> Hits {
        let hit = Hit { row: 0, visit: 0, site: 1, day: FIRST_DAY, time: 0, page: 0 };
        let mut hits = Hits { rng: Rng::new(105), texts: Texts::new(), hit, left: (0, 40) };
        hits.enter();
        hits
    }

    /// The next `rows` rows.
    pub(crate) fn batch(&mut self, rows: usize) -> Result<RecordBatch> {
        let hits: Vec<Hit> = std::iter::repeat_with(|| self.next()).take(rows).collect();
        let columns = COLUMNS.iter().enumerate();
        let arrays =
            columns.map(|(i, column)| (column.name, array(column, i as u64, &hits, &self.texts), false));
        Ok(RecordBatch::try_from_iter_with_nullable(arrays)?)
    }

    /// The next row: another page of a visit, or another visit.
    fn next(&mut self) -> Hit {
        if self.left.0 == 0 {
            self.enter();
        }
        self.left.0 -= 1;
        self.hit.row += 1;
        self.hit.time += self.rng.below(90_000_000).cast_signed();
        self.hit.page = self.rng.zipf(3_000) as u64;
        self.hit.clone()
    }

    /// Begins a visit of one to thirty pages; a site has some for each day.
    fn enter(&mut self) {
        if self.left.1 == 0 {
            self.hit.day += 1;
            if self.hit.day == FIRST_DAY + DAYS {
                (self.hit.day, self.hit.site) = (FIRST_DAY, self.hit.site + 1 + self.rng.below(40));
            }
            self.left.1 = 1 + self.rng.zipf(200) as u64;
        }
        self.left = (1 + self.rng.zipf(30) as u64, self.left.1 - 1);
        self.hit.visit += 1;
        self.hit.time = i64::from(self.hit.day) * DAY_MICROS + self.rng.below(80_000_000_000).cast_signed();
    }
}

fn array(column: &Column, number: u64, hits: &[Hit], texts: &Texts) -> ArrayRef {
    // Each column has values of its own for a key.
    let rng = |key: u64| Rng::new(key.wrapping_mul(0xd6e8_feb8_6659_fd93) ^ (number << 48));
    let key = |hit: &Hit| if column.of_visit { hit.visit } else { hit.row ^ 1 << 40 };
    let number = |hit: &Hit, of: usize| rng(key(hit)).zipf(of);
    let strings = |value: &dyn Fn(&Hit, &mut Rng) -> String, filled: u64| -> ArrayRef {
        Arc::new(StringArray::from_iter_values(hits.iter().map(|hit| {
            let mut rng = rng(key(hit));
            if rng.below(1_000) < filled { value(hit, &mut rng) } else { String::new() }
        })))
    };
    match column.kind {
        Kind::Flag(often) => Arc::new(Int16Array::from_iter_values(
            hits.iter().map(|hit| i16::from(rng(key(hit)).below(1_000) < often)),
        )),
        Kind::Small(of) => {
            Arc::new(Int16Array::from_iter_values(hits.iter().map(|hit| number(hit, of) as i16)))
        }
        Kind::Int(of) => {
            Arc::new(Int32Array::from_iter_values(hits.iter().map(|hit| number(hit, of) as i32)))
        }
        Kind::AnyInt => {
            Arc::new(Int32Array::from_iter_values(hits.iter().map(|hit| rng(key(hit)).next() as i32)))
        }
        Kind::Millis(often) => Arc::new(Int32Array::from_iter_values(hits.iter().map(|hit| {
            let mut rng = rng(key(hit));
            if rng.below(1_000) < often { rng.zipf(30_000) as i32 } else { 0 }
        }))),
        Kind::AnyLong(often) => Arc::new(Int64Array::from_iter_values(hits.iter().map(|hit| {
            let mut rng = rng(key(hit));
            if rng.below(1_000) < often { rng.next().cast_signed() } else { 0 }
        }))),
        Kind::Site => Arc::new(Int32Array::from_iter_values(hits.iter().map(|hit| hit.site as i32))),
        Kind::Day => Arc::new(Date32Array::from_iter_values(hits.iter().map(|hit| hit.day))),
        Kind::Time(off) => Arc::new(TimestampMicrosecondArray::from_iter_values(
            hits.iter().map(|hit| hit.time + rng(key(hit)).below(off + 1).cast_signed() * 1_000_000),
        )),
        Kind::Title => strings(&|hit, _| texts.title(hit.site, hit.page), 970),
        Kind::Address => strings(&|hit, _| texts.address(hit.site, hit.page), 1_000),
        Kind::Referrer(filled) => strings(&|hit, rng| texts.referrer(hit.site, rng), filled),
        Kind::Phrase(filled) => strings(&|_, rng| texts.phrase(rng), filled),
        Kind::Word(filled, of) => strings(&|_, rng| texts.word(rng.zipf(of)).to_owned(), filled),
        Kind::Letters => strings(&|_, rng| ["5", "T", "F", "W", "g"][rng.zipf(5)].to_owned(), 1_000),
    }
}

#[cfg(test)]
mod tests {
    use arrow60_array::Array;
    use arrow60_array::cast::AsArray;

    use super::*;

    #[test]
    fn the_same_every_time_in_batches_of_any_size() {
        let whole = Hits::new().batch(700).unwrap();
        let mut again = Hits::new();
        assert_eq!(again.batch(300).unwrap(), whole.slice(0, 300));
        assert_eq!(again.batch(400).unwrap(), whole.slice(300, 400));
    }

    #[test]
    fn it_looks_like_hits() {
        let batch = Hits::new().batch(20_000).unwrap();
        assert_eq!(batch.num_columns(), 105);
        let empty = |name: &str| {
            let column = batch.column_by_name(name).unwrap().as_string::<i32>();
            column.iter().filter(|text| text.unwrap().is_empty()).count() as f64 / column.len() as f64
        };
        assert!(empty("URL") == 0.0);
        assert!((0.8..0.95).contains(&empty("SearchPhrase")));
        assert!(empty("UTMSource") > 0.95);
        let addresses = batch.column_by_name("URL").unwrap().as_string::<i32>();
        let bytes = addresses.value_data().len() / addresses.len();
        assert!((40..120).contains(&bytes), "{bytes} bytes of an address");
        let titles = batch.column_by_name("Title").unwrap().as_string::<i32>();
        assert!(!titles.value_data().is_ascii());
        let sites = batch.column_by_name("CounterID").unwrap();
        assert!(sites.as_primitive::<arrow60_array::types::Int32Type>().values().is_sorted());
    }
}
