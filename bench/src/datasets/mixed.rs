//! A table of what TPC-H has little of: strings, floats and nested lists. Deterministic, in batches.
//!
//! Words, hosts and products come up as in real data, a few very often and most seldom, as Zipf found. Nothing is made
//! for one encoding: of each kind there are columns that compress and columns that hardly do.

use std::sync::Arc;

use arrow60_array::builder::{Float32Builder, Float64Builder, ListBuilder, MapBuilder, StringBuilder};
use arrow60_array::{
    Array, ArrayRef, Float32Array, Float64Array, Int32Array, Int64Array, ListArray, RecordBatch, StringArray,
    StructArray, TimestampMicrosecondArray,
};
use arrow60_buffer::OffsetBuffer;
use arrow60_schema::Field;

use crate::error::Result;
use crate::generate::Rng;

/// What rows share, and the state that is carried from batch to batch.
pub(crate) struct Mixed {
    rng: Rng,
    words: Vec<String>,
    names: Vec<String>,
    row: i64,
    now: i64,
    temperature: f64,
    voltage: f32,
}

impl Mixed {
    pub(crate) fn new() -> Mixed {
        let mut rng = Rng::new(42);
        let words = (0..8_000).map(|_| word(&mut rng)).collect();
        let names = (0..3_000).map(|_| capital(&word(&mut rng))).collect();
        Mixed { rng, words, names, row: 0, now: 1_750_000_000_000_000, temperature: 20.0, voltage: 230.0 }
    }

    /// The next `rows` rows.
    pub(crate) fn batch(&mut self, rows: usize) -> Result<RecordBatch> {
        let columns: [(&str, ArrayRef, bool); 17] = [
            ("id", self.ids(rows), false),
            ("at", self.times(rows), false),
            ("url", self.strings(rows, Mixed::url), false),
            ("name", self.strings(rows, Mixed::name), false),
            ("email", self.strings(rows, Mixed::email), false),
            ("country", self.strings(rows, |mixed| mixed.names[mixed.rng.zipf(120)].clone()), false),
            ("comment", self.strings(rows, Mixed::text), false),
            ("uuid", self.strings(rows, Mixed::uuid), false),
            ("random", self.f64s(rows, |mixed| mixed.rng.unit()), false),
            ("temperature", self.f64s(rows, Mixed::temperature), false),
            ("voltage", self.voltages(rows), true),
            ("price", self.f64s(rows, Mixed::price), false),
            ("discount", self.discounts(rows), true),
            ("embedding", self.embeddings(rows), false),
            ("samples", self.samples(rows), true),
            ("items", self.items(rows), false),
            ("attributes", self.attributes(rows), false),
        ];
        Ok(RecordBatch::try_from_iter_with_nullable(columns)?)
    }

    fn strings(&mut self, rows: usize, value: fn(&mut Mixed) -> String) -> ArrayRef {
        Arc::new(StringArray::from_iter_values((0..rows).map(|_| value(self))))
    }

    fn f64s(&mut self, rows: usize, value: fn(&mut Mixed) -> f64) -> ArrayRef {
        Arc::new(Float64Array::from_iter_values((0..rows).map(|_| value(self))))
    }

    fn ids(&mut self, rows: usize) -> ArrayRef {
        let first = self.row;
        self.row += rows as i64;
        Arc::new(Int64Array::from_iter_values(first..self.row))
    }

    /// Up to two seconds apart.
    fn times(&mut self, rows: usize) -> ArrayRef {
        let times = (0..rows).map(|_| {
            self.now += self.rng.below(2_000_000).cast_signed();
            self.now
        });
        Arc::new(TimestampMicrosecondArray::from_iter_values(times).with_timezone("UTC"))
    }

    fn url(&mut self) -> String {
        let host = self.rng.zipf(2_000);
        let mut url = format!("https://www.{}.com", self.words[host]);
        for _ in 0..1 + self.rng.below(3) {
            url.push('/');
            url.push_str(&self.words[self.rng.zipf(600)]);
        }
        match self.rng.below(3) {
            0 => url.push_str(".html"),
            1 => url.push_str(&format!("?id={}", self.rng.below(1_000_000))),
            _ => {}
        }
        url
    }

    fn name(&mut self) -> String {
        let (first, last) = (self.rng.zipf(500), 500 + self.rng.zipf(2_500));
        format!("{} {}", self.names[first], self.names[last])
    }

    fn email(&mut self) -> String {
        let (name, host) = (self.name(), self.rng.zipf(40));
        let name = name.to_lowercase().replace(' ', ".");
        format!("{name}{}@{}.org", self.rng.below(100), self.words[host])
    }

    /// 3 to 32 words.
    fn text(&mut self) -> String {
        let mut text = capital(&self.words[self.rng.zipf(8_000)]);
        for _ in 0..2 + self.rng.below(30) {
            text.push_str(if self.rng.below(9) == 0 { ", " } else { " " });
            text.push_str(&self.words[self.rng.zipf(8_000)]);
        }
        text.push('.');
        text
    }

    fn uuid(&mut self) -> String {
        let (high, low) = (self.rng.next(), self.rng.next());
        format!(
            "{:08x}-{:04x}-4{:03x}-{:04x}-{:012x}",
            high >> 32,
            high >> 16 & 0xffff,
            high & 0xfff,
            0x8000 | low >> 50,
            low & 0xffff_ffff_ffff
        )
    }

    /// A sensor of three decimals that wanders.
    fn temperature(&mut self) -> f64 {
        self.temperature += (self.rng.unit() - 0.5) * 0.1 - (self.temperature - 20.0) * 1e-4;
        (self.temperature * 1000.0).round() / 1000.0
    }

    /// A sensor whose digits are all kept, silent for one row in twenty.
    fn voltages(&mut self, rows: usize) -> ArrayRef {
        let values = (0..rows).map(|_| {
            self.voltage += (self.rng.unit() as f32 - 0.5) * 0.2 - (self.voltage - 230.0) * 1e-3;
            (self.rng.below(20) > 0).then_some(self.voltage)
        });
        Arc::new(values.collect::<Float32Array>())
    }

    /// Two decimals, most of them small.
    fn price(&mut self) -> f64 {
        let cents = (100.0 * (self.rng.unit() * 7.0).exp()).round();
        cents / 100.0
    }

    /// 0.05 to 0.50, null for most rows.
    fn discounts(&mut self, rows: usize) -> ArrayRef {
        let values = (0..rows)
            .map(|_| (self.rng.below(10) < 3).then(|| (1 + self.rng.below(10)) as f64 * 5.0 / 100.0));
        Arc::new(values.collect::<Float64Array>())
    }

    /// Eight numbers around 0.
    fn embeddings(&mut self, rows: usize) -> ArrayRef {
        let mut lists = ListBuilder::new(Float32Builder::new());
        for _ in 0..rows {
            for _ in 0..8 {
                let sum: f64 = (0..4).map(|_| self.rng.unit()).sum();
                lists.values().append_value((sum - 2.0) as f32 * 0.1);
            }
            lists.append(true);
        }
        Arc::new(lists.finish())
    }

    /// None to nine numbers of one decimal that follow each other, or null.
    fn samples(&mut self, rows: usize) -> ArrayRef {
        let mut lists = ListBuilder::new(Float64Builder::new());
        for _ in 0..rows {
            let is_valid = self.rng.below(10) > 0;
            let mut level = self.rng.below(1_000) as f64;
            for _ in 0..if is_valid { self.rng.below(10) } else { 0 } {
                level += self.rng.below(21) as f64 - 10.0;
                lists.values().append_value(level / 10.0);
            }
            lists.append(is_valid);
        }
        Arc::new(lists.finish())
    }

    /// One to five products, each with a number and a price.
    fn items(&mut self, rows: usize) -> ArrayRef {
        let lengths: Vec<usize> = (0..rows).map(|_| 1 + self.rng.below(5) as usize).collect();
        let offsets = OffsetBuffer::<i32>::from_lengths(lengths);
        let products: Vec<usize> = (0..offsets[rows]).map(|_| self.rng.zipf(5_000)).collect();
        let sku = |&product: &usize| format!("{}-{:05}", self.words[product % 97], product * 7 + 11);
        let skus: ArrayRef = Arc::new(StringArray::from_iter_values(products.iter().map(sku)));
        let quantities = products.iter().map(|_| 1 + self.rng.zipf(20) as i32);
        let quantities: ArrayRef = Arc::new(Int32Array::from_iter_values(quantities));
        let prices = products.iter().map(|product| (product * 37 % 9_973) as f64 / 100.0);
        let prices: ArrayRef = Arc::new(Float64Array::from_iter_values(prices));
        let field =
            |name: &str, values: &ArrayRef| Arc::new(Field::new(name, values.data_type().clone(), false));
        let items = StructArray::from(vec![
            (field("sku", &skus), skus),
            (field("quantity", &quantities), quantities),
            (field("price", &prices), prices),
        ]);
        let item = Arc::new(Field::new("element", items.data_type().clone(), false));
        Arc::new(ListArray::new(item, offsets, Arc::new(items), None))
    }

    /// None to four of thirty keys, with a word each.
    fn attributes(&mut self, rows: usize) -> ArrayRef {
        let mut maps = MapBuilder::new(None, StringBuilder::new(), StringBuilder::new());
        for _ in 0..rows {
            let (count, first) = (self.rng.below(5) as usize, self.rng.zipf(26));
            for key in first..first + count {
                maps.keys().append_value(&self.words[100 + key]);
                maps.values().append_value(&self.words[self.rng.zipf(300)]);
            }
            // The lengths are equal, so it cannot fail.
            let _ = maps.append(true);
        }
        Arc::new(maps.finish())
    }
}

/// Two to four syllables.
pub(crate) fn word(rng: &mut Rng) -> String {
    const BEGIN: [&str; 20] = [
        "b", "d", "f", "g", "h", "k", "l", "m", "n", "p", "r", "s", "t", "v", "w", "st", "tr", "ch", "pl", "",
    ];
    const MIDDLE: [&str; 8] = ["a", "e", "i", "o", "u", "ea", "ou", "ai"];
    const END: [&str; 8] = ["", "", "", "n", "r", "s", "l", "nd"];
    let mut word = String::new();
    for _ in 0..2 + rng.below(3) {
        for parts in [&BEGIN[..], &MIDDLE, &END] {
            word.push_str(parts[rng.below(parts.len() as u64) as usize]);
        }
    }
    word
}

fn capital(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map_or(String::new(), |first| first.to_ascii_uppercase().to_string() + letters.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_every_time() {
        let (mut first, mut second) = (Mixed::new(), Mixed::new());
        assert_eq!(first.batch(300).unwrap(), second.batch(300).unwrap());
        assert_ne!(first.batch(300).unwrap(), Mixed::new().batch(300).unwrap());
    }
}
