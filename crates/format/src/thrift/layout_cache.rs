//! A cache of the byte layouts of structs. A struct of a known layout is skipped by a comparison instead of being parsed.
//!
//! Only some bits decide how a struct is parsed: the headers of fields and lists, and the continuation bit of each varint byte.
//! A struct with the same bits at the same positions has the same layout, whatever its values are. Byte strings cut the struct
//! into segments, so that they may have any length:
//!
//! ```text
//! parsed     36 00 1c 15 0c 19 35 00 06 10 19 18 02 | "ab" 15 00 16 80 01 ... 18 03 | "min" ... 00
//! bits       ff 80 ff ff 80 ff ff 80 80 80 ff ff 80 |      ff 80 ff 80 80 ... ff 80 |       ... ff
//! ```
//!
//! PERF: comparing these bits takes a tenth of the time of parsing, and writers repeat themselves: nearly all column chunks of a
//! wide footer have one of a few layouts.

use super::reader::Reader;
use super::skip::SkipObserver;
use super::wire::Wire;
use marquetry_base::Result;
use std::ops::Range;

/// The layouts of the structs that a reader has skipped. One reader must read all structs at the same depth.
#[derive(Debug, Default)]
pub(crate) struct LayoutCache {
    /// The layouts, at most [`MAX_LAYOUTS`].
    layouts: Vec<Layout>,
    /// Index of the layout to replace next once the cache is full.
    oldest: usize,
    /// Index of the layout of the last skipped struct, if it has one.
    last: usize,
    /// For each place in a list, the layout of the last struct there.
    at_place: Vec<u8>,
    /// A hash of the last ten layouts. `next` has the layout that followed when the hash had the same value before.
    history: usize,
    next: Vec<u8>,
    /// The number of layouts seen so far.
    seen: u8,
    /// The number of structs that were skipped before caching began.
    first: usize,
}

/// A layout: what all structs of it have in common.
#[derive(Debug, Default)]
struct Layout {
    words: Vec<MaskedWord>,
    /// Length of each segment in bytes. PERF: the words have it, too, so that skipping a struct is a single loop.
    segments: Vec<usize>,
    /// The number of the layout, counted over all layouts seen.
    number: Option<u8>,
}

/// Bits at fixed positions: `mask` selects the bits that decide the layout, `bits` are their values.
#[derive(Debug, Clone, Copy, Default)]
struct MaskedWord {
    mask: [u8; WORD_BYTES],
    bits: [u8; WORD_BYTES],
    /// Number of bytes before the next word.
    len: u16,
    /// Whether the last of these bytes is the length of a string, which is skipped.
    is_before_string: bool,
}

impl MaskedWord {
    /// Collects in `other` the bits in which `there` differs from this word. PERF: one instruction for each operator.
    #[inline]
    fn add_other(&self, there: &[u8; WORD_BYTES], other: &mut [u8; WORD_BYTES]) {
        for i in 0..WORD_BYTES {
            other[i] |= there[i] & self.mask[i] ^ self.bits[i];
        }
    }
}

/// The result of a lookup in the cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LayoutMatch {
    /// The struct has no numbered layout. It was parsed, or skipped by a layout without a number.
    Uncached,
    /// The struct has this layout, as structs before it.
    Hit(u8),
    /// The struct has this layout, which is new.
    Inserted(u8),
}

impl LayoutCache {
    /// Skips the struct at index `place` of its list. Layouts are numbered from 0.
    pub(crate) fn skip(&mut self, r: &mut Reader<'_>, place: usize) -> Result<LayoutMatch> {
        if self.first < STRUCTS_BEFORE_CACHING {
            self.first += 1;
            r.skip(Wire::Struct)?;
            return Ok(LayoutMatch::Uncached);
        }
        // The best guess is the same column in the previous row group.
        if let Some(before) = self.at_place.get(place)
            && let Some(seen) = self.skip_as(usize::from(*before), r, place)
        {
            return Ok(seen);
        }
        self.search(r, place)
    }

    /// Skips a struct that does not have the predicted layout.
    #[cold]
    fn search(&mut self, r: &mut Reader<'_>, place: usize) -> Result<LayoutMatch> {
        // Tries the layout that followed the same layouts before: tables have columns of the same types again and again.
        let likely = self.next.get(self.history).map(|layout| usize::from(*layout));
        for guess in likely.into_iter().chain(0..self.layouts.len()) {
            if let Some(seen) = self.skip_as(guess, r, place) {
                return Ok(seen);
            }
        }
        let mut walked = LayoutRecorder {
            input: r.cursor.rest(),
            start: r.position(),
            segment: 0,
            words: Vec::new(),
            layout: Layout::default(),
        };
        r.skip_observed(Wire::Struct, &mut walked)?;
        let Some(layout) = walked.finish(r.position()) else { return Ok(LayoutMatch::Uncached) };
        let number = (self.seen < u8::MAX).then_some(self.seen);
        self.seen = self.seen.saturating_add(1);
        let known = self.keep(Layout { number, ..layout });
        self.note(place, known);
        Ok(number.map_or(LayoutMatch::Uncached, LayoutMatch::Inserted))
    }

    /// Skips a struct if it has this layout.
    #[inline]
    fn skip_as(&mut self, layout: usize, r: &mut Reader<'_>, place: usize) -> Option<LayoutMatch> {
        let guess = self.layouts.get(layout)?;
        let (len, number) = (guess.fits(r.cursor.rest())?, guess.number);
        r.cursor.skip(len).ok()?;
        self.note(place, layout);
        Some(number.map_or(LayoutMatch::Uncached, LayoutMatch::Hit))
    }

    /// Returns the lengths of the segments of the last skipped struct, if it has a layout. The last byte of each
    /// segment but the last one is the length of the string after it.
    pub(crate) fn segments(&self) -> &[usize] {
        self.layouts.get(self.last).map_or(&[], |layout| &layout.segments)
    }

    #[inline]
    fn note(&mut self, place: usize, layout: usize) {
        self.next.resize(HISTORY_SLOTS, 0);
        self.next[self.history] = layout as u8;
        self.history = ((self.history << 1) ^ (layout * 0b101_0101)) % HISTORY_SLOTS;
        self.last = layout;
        match self.at_place.get_mut(place) {
            Some(at_place) => *at_place = layout as u8,
            None => self.at_place.push(layout as u8),
        }
    }

    fn keep(&mut self, layout: Layout) -> usize {
        if self.layouts.len() < MAX_LAYOUTS {
            self.layouts.push(layout);
            return self.layouts.len() - 1;
        }
        let replaced = self.oldest;
        self.layouts[replaced] = layout;
        self.oldest = (replaced + 1) % MAX_LAYOUTS;
        replaced
    }
}

impl Layout {
    /// Returns the length of the struct at the start of `bytes` if it has this layout. Returns `None` at the very end
    /// of the input, where a word cannot be loaded.
    #[inline]
    fn fits(&self, bytes: &[u8]) -> Option<usize> {
        let (mut at, mut other) = (0, [0; WORD_BYTES]);
        for word in &self.words {
            word.add_other(bytes.get(at..)?.first_chunk()?, &mut other);
            at += usize::from(word.len);
            if word.is_before_string {
                at += usize::from(*bytes.get(at - 1)?);
            }
        }
        (other == [0; WORD_BYTES] && at <= bytes.len()).then_some(at)
    }
}

/// Records the layout of a struct while it is parsed.
struct LayoutRecorder<'a> {
    /// The input from the first byte of the struct on, and the position of that byte in the input.
    input: &'a [u8],
    start: usize,
    /// Where the current segment begins, counted from `start`.
    segment: usize,
    /// The words of the current segment.
    words: Vec<MaskedWord>,
    layout: Layout,
}

impl LayoutRecorder<'_> {
    /// Ends a segment before byte `end` of the struct.
    fn cut(&mut self, end: usize, is_before_string: bool) {
        if end > MAX_CACHED_STRUCT_BYTES {
            return;
        }
        let len = end - self.segment;
        self.layout.segments.push(len);
        // Bytes without marked bits need words, too.
        self.words.resize(len.div_ceil(WORD_BYTES), MaskedWord::default());
        self.words.iter_mut().for_each(|word| word.len = WORD_BYTES as u16);
        if let Some(last) = self.words.last_mut() {
            last.len = (len - (len - 1) / WORD_BYTES * WORD_BYTES) as u16;
            last.is_before_string = is_before_string;
        }
        self.layout.words.append(&mut self.words);
    }

    /// Returns the layout; `None` if the struct is so long that few structs will be like it.
    fn finish(mut self, end: usize) -> Option<Layout> {
        self.cut(end - self.start, false);
        (end - self.start <= MAX_CACHED_STRUCT_BYTES).then_some(self.layout)
    }
}

impl SkipObserver for LayoutRecorder<'_> {
    fn mark(&mut self, bytes: Range<usize>, bits: u8) {
        if bytes.end - self.start > MAX_CACHED_STRUCT_BYTES {
            return;
        }
        for at in bytes.start - self.start..bytes.end - self.start {
            let (word, byte) = ((at - self.segment) / WORD_BYTES, (at - self.segment) % WORD_BYTES);
            if self.words.len() <= word {
                self.words.resize(word + 1, MaskedWord::default());
            }
            self.words[word].mask[byte] = bits;
            self.words[word].bits[byte] = self.input[at] & bits;
        }
    }

    fn string(&mut self, size: Range<usize>, string: usize) {
        // The length of a longer string takes several bytes. Then all of them belong to the layout, so the string has a fixed length.
        if size.len() > 1 {
            return self.mark(size, 0xff);
        }
        self.mark(size.clone(), 0x80);
        self.cut(size.end - self.start, true);
        self.segment = string - self.start;
    }
}

/// Number of bytes that are compared at once.
const WORD_BYTES: usize = 16;
/// Maximum number of layouts that are kept: tables have columns of a few types, with and without nulls, and with sizes of a few lengths.
const MAX_LAYOUTS: usize = 16;
/// Number of hash values of the history, a power of 2.
const HISTORY_SLOTS: usize = 1 << 10;
/// Number of structs to skip before caching begins: small files open faster without it.
const STRUCTS_BEFORE_CACHING: usize = 48;
/// Length of the longest struct whose layout is kept, in bytes.
const MAX_CACHED_STRUCT_BYTES: usize = 1 << 10;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Writer;
    use proptest::collection::vec;
    use proptest::prelude::*;

    #[derive(Debug, Clone)]
    enum Value {
        Bool(bool),
        Byte(i8),
        Int(i64),
        Double(f64),
        Text(Vec<u8>),
        Ints(Vec<i64>),
        Texts(Vec<Vec<u8>>),
        Struct(Vec<(i16, Value)>),
        Structs(Vec<(i16, Value)>, usize),
    }

    fn fields(depth: u32) -> impl Strategy<Value = Vec<(i16, Value)>> {
        let bytes = || prop_oneof![vec(any::<u8>(), 0..20), vec(any::<u8>(), 120..140)];
        let int = || (any::<i64>(), 0..64).prop_map(|(value, shift)| value >> shift);
        let leaf = prop_oneof![
            any::<bool>().prop_map(Value::Bool),
            any::<i8>().prop_map(Value::Byte),
            int().prop_map(Value::Int),
            any::<f64>().prop_map(Value::Double),
            bytes().prop_map(Value::Text),
            vec(int(), 0..20).prop_map(Value::Ints),
            vec(bytes(), 0..4).prop_map(Value::Texts),
        ];
        let value = leaf.prop_recursive(depth, 30, 4, |inner| {
            let fields = vec((1..20i16, inner), 0..4);
            prop_oneof![
                fields.clone().prop_map(Value::Struct),
                (fields, 0..3usize).prop_map(|(fields, times)| Value::Structs(fields, times)),
            ]
        });
        vec((1..20i16, value), 0..8)
    }

    fn write(w: &mut Writer, fields: &[(i16, Value)]) {
        w.fields(|w| {
            let mut id = 0;
            for (gap, value) in fields {
                id += gap;
                match value {
                    Value::Bool(value) => w.bool_field(id, *value),
                    Value::Byte(value) => w.i8_field(id, *value),
                    Value::Int(value) => w.i64_field(id, *value),
                    Value::Double(value) => w.double_field(id, *value),
                    Value::Text(value) => w.binary_field(id, value),
                    Value::Ints(values) => w.list_field(id, Wire::I64, values, |w, value| w.i64(*value)),
                    Value::Texts(values) => {
                        w.list_field(id, Wire::Binary, values, |w, value| w.binary(value))
                    }
                    Value::Struct(fields) => w.nested_field(id, |w| write(w, fields)),
                    Value::Structs(fields, times) => {
                        w.list_field(id, Wire::Struct, &std::vec![(); *times], |w, ()| write(w, fields));
                    }
                }
            }
        });
    }

    /// Skips structs in a row and returns where each of them ends, or the error.
    fn ends(bytes: &[u8], mut skip: impl FnMut(&mut Reader<'_>, usize) -> Result<()>) -> Vec<String> {
        let mut r = Reader::new(bytes);
        let mut out = Vec::new();
        while r.position() < bytes.len() && out.len() < 40 {
            let done = skip(&mut r, out.len() % 3);
            let failed = done.is_err();
            out.push(done.map_or_else(|error| error.to_string(), |()| r.position().to_string()));
            if failed {
                break;
            }
        }
        out
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]
        #[test]
        fn ends_where_a_walk_does(
            kinds in vec(fields(3), 1..4),
            order in vec(any::<prop::sample::Index>(), 1..12),
            changes in vec((any::<prop::sample::Index>(), any::<u8>()), 0..6),
            cut in prop::option::of(any::<prop::sample::Index>()),
        ) {
            let mut w = Writer::new();
            order.iter().for_each(|index| write(&mut w, &kinds[index.index(kinds.len())]));
            let mut bytes = w.finish();
            for (at, bits) in changes {
                let at = at.index(bytes.len());
                bytes[at] ^= bits;
            }
            if let Some(cut) = cut {
                bytes.truncate(cut.index(bytes.len()));
            }
            let mut alike = LayoutCache { first: STRUCTS_BEFORE_CACHING, ..LayoutCache::default() };
            let found = ends(&bytes, |r, place| alike.skip(r, place).map(|_| ()));
            prop_assert_eq!(found, ends(&bytes, |r, _| r.skip(Wire::Struct)));
        }
    }

    #[test]
    fn a_shape_is_seen_again() {
        let mut w = Writer::new();
        let number = |n: i64| {
            [(1, Value::Int(n)), (1, Value::Text(std::vec![7; n as usize % 100])), (3, Value::Int(n))]
        };
        (64..192).for_each(|n| write(&mut w, &number(n)));
        let bytes = w.finish();
        let mut alike = LayoutCache { first: STRUCTS_BEFORE_CACHING, ..LayoutCache::default() };
        assert_eq!(ends(&bytes, |r, place| alike.skip(r, place).map(|_| ())).len(), 40);
        assert_eq!(alike.layouts.len(), 1);
    }

    #[test]
    fn more_shapes_than_are_kept() {
        let mut w = Writer::new();
        for n in 0..200 {
            write(&mut w, &(0..n % 50).map(|_| (1, Value::Bool(true))).collect::<Vec<_>>());
        }
        let bytes = w.finish();
        let mut alike = LayoutCache { first: STRUCTS_BEFORE_CACHING, ..LayoutCache::default() };
        let mut r = Reader::new(&bytes);
        (0..200).for_each(|place| _ = alike.skip(&mut r, place).unwrap());
        assert_eq!((r.position(), alike.layouts.len()), (bytes.len(), MAX_LAYOUTS));
    }
}
