//! Passing over structs that are alike, as the column chunks of a footer are.
//!
//! How a struct is walked through is decided by some of its bits only: headers of fields and lists, and of each varint the
//! bits that say whether it goes on. A struct that has the same ones at the same places is walked through the same way,
//! whatever else it holds. Byte strings cut it into pieces, so that they may be of any length:
//!
//! ```text
//! walked     36 00 1c 15 0c 19 35 00 06 10 19 18 02 | "ab" 15 00 16 80 01 ... 18 03 | "min" ... 00
//! bits       ff 80 ff ff 80 ff ff 80 80 80 ff ff 80 |      ff 80 ff 80 80 ... ff 80 |       ... ff
//! ```
//!
//! PERF: comparing these bits takes a fifth of the time of a walk, and writers repeat themselves: nearly all chunks of a
//! wide footer have one of a few shapes.

use super::skip::Marks;
use super::{Reader, Wire};
use marquetry_base::Result;
use std::ops::Range;

/// The shapes of structs that a reader has passed over. All must be read by one reader, as deep as each other.
#[derive(Debug, Default)]
pub(crate) struct Alike {
    /// At most [`MOST_SHAPES`].
    shapes: Vec<Shape>,
    /// Which one is replaced by the next, once there are so many.
    oldest: usize,
    /// The shape of the struct that was passed over last, if it has one.
    last: usize,
    /// The shape of the last struct at each place of a list.
    at_place: Vec<u8>,
    /// How many shapes there have been.
    seen: u8,
    /// How many were passed over before shapes were kept.
    first: usize,
}

/// What all structs of a shape have in common.
#[derive(Debug, Default)]
struct Shape {
    pieces: Vec<Piece>,
    /// The words of all pieces behind the first word of each.
    words: Vec<Word>,
    /// The shape that came after it.
    next: usize,
    /// Its number among all that there have been.
    number: Option<u8>,
}

/// Which bits of 8 bytes, little-endian, are always the same, and what these are.
#[derive(Debug, Clone, Copy, Default)]
struct Word {
    mask: u64,
    bits: u64,
}

impl Word {
    /// The bits in which other bytes are different.
    #[inline]
    fn other(self, there: [u8; 8]) -> u64 {
        (u64::from_le_bytes(there) & self.mask) ^ self.bits
    }
}

/// A part of a struct up to the end, or up to a byte string: its last byte is the length of that then.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Piece {
    /// The first word, and how many there are behind it.
    first: Word,
    more: usize,
    /// How many bytes.
    pub(crate) len: usize,
    /// Whether it is not the last one.
    pub(crate) is_before_string: bool,
}

/// The shape of a struct that was passed over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Seen {
    /// None: it was walked through.
    Shapeless,
    /// This one, which others had before.
    Known(u8),
    /// This one, for the first time.
    New(u8),
}

impl Alike {
    /// Passes over the struct that is at `place` of its list. Shapes are numbered from 0 on.
    pub(crate) fn skip(&mut self, r: &mut Reader<'_>, place: usize) -> Result<Seen> {
        if self.first < UNSHAPED {
            self.first += 1;
            r.skip(Wire::Struct)?;
            return Ok(Seen::Shapeless);
        }
        let rest = r.cursor.rest();
        // The same column in the row group before is the best guess, then what follows what.
        let before = self.at_place.get(place).map(|shape| usize::from(*shape));
        let next = self.shapes.get(self.last).map(|shape| shape.next);
        let guesses = before.into_iter().chain(next).chain(0..self.shapes.len());
        for guess in guesses {
            if let Some(len) = self.shapes.get(guess).and_then(|shape| shape.fits(rest)) {
                self.note(place, guess);
                r.cursor.skip(len)?;
                return Ok(self.shapes[guess].number.map_or(Seen::Shapeless, Seen::Known));
            }
        }
        let mut walked =
            Walked { input: rest, start: r.position(), piece: 0, words: Vec::new(), shape: Shape::default() };
        r.pass(Wire::Struct, &mut walked)?;
        let Some(shape) = walked.finish(r.position()) else { return Ok(Seen::Shapeless) };
        let number = (self.seen < u8::MAX).then_some(self.seen);
        self.seen = self.seen.saturating_add(1);
        let known = self.keep(Shape { number, ..shape });
        self.note(place, known);
        Ok(number.map_or(Seen::Shapeless, Seen::New))
    }

    /// The pieces of the struct that was passed over last, if it had a shape.
    pub(crate) fn pieces(&self) -> &[Piece] {
        self.shapes.get(self.last).map_or(&[], |shape| &shape.pieces)
    }

    #[inline]
    fn note(&mut self, place: usize, shape: usize) {
        if let Some(last) = self.shapes.get_mut(self.last) {
            last.next = shape;
        }
        self.last = shape;
        match self.at_place.get_mut(place) {
            Some(at_place) => *at_place = shape as u8,
            None => self.at_place.push(shape as u8),
        }
    }

    fn keep(&mut self, shape: Shape) -> usize {
        if self.shapes.len() < MOST_SHAPES {
            self.shapes.push(shape);
            return self.shapes.len() - 1;
        }
        let replaced = self.oldest;
        self.shapes[replaced] = shape;
        self.oldest = (replaced + 1) % MOST_SHAPES;
        replaced
    }
}

impl Shape {
    /// How long the struct at the first of `bytes` is, if it is of this shape. At the very end of the input it is not seen.
    #[inline]
    fn fits(&self, mut bytes: &[u8]) -> Option<usize> {
        let (all, mut words) = (bytes.len(), &self.words[..]);
        for piece in &self.pieces {
            let (first, behind) = bytes.split_first_chunk()?;
            if piece.first.other(*first) != 0 {
                return None;
            }
            if piece.more > 0 {
                let own;
                (own, words) = words.split_at_checked(piece.more)?;
                let there = behind.get(..8 * piece.more)?.as_chunks().0;
                let other = there.iter().zip(own).fold(0, |other, (there, word)| other | word.other(*there));
                if other != 0 {
                    return None;
                }
            }
            let string = if piece.is_before_string { usize::from(bytes[piece.len - 1]) } else { 0 };
            bytes = bytes.get(piece.len + string..)?;
        }
        Some(all - bytes.len())
    }
}

/// The shape of a struct that is walked through.
struct Walked<'a> {
    /// From its first byte on, and where that is in the input.
    input: &'a [u8],
    start: usize,
    /// Where in the input the current piece begins, from `start` on.
    piece: usize,
    /// The words of the current piece.
    words: Vec<Word>,
    shape: Shape,
}

impl Walked<'_> {
    /// Ends a piece before byte `end` of the struct.
    fn cut(&mut self, end: usize, is_before_string: bool) {
        let mut words = self.words.drain(..);
        let first = words.next().unwrap_or_default();
        let more = words.len();
        self.shape.words.extend(words);
        self.shape.pieces.push(Piece { first, more, len: end - self.piece, is_before_string });
    }

    /// `None` if the struct is so long that few will be like it.
    fn finish(mut self, end: usize) -> Option<Shape> {
        self.cut(end - self.start, false);
        (end - self.start <= LONGEST).then_some(self.shape)
    }
}

impl Marks for Walked<'_> {
    fn mark(&mut self, bytes: Range<usize>, bits: u8) {
        if bytes.end - self.start > LONGEST {
            return;
        }
        for at in bytes.start - self.start..bytes.end - self.start {
            let (word, shift) = ((at - self.piece) / 8, (at - self.piece) % 8 * 8);
            if self.words.len() <= word {
                self.words.resize(word + 1, Word::default());
            }
            let word = &mut self.words[word];
            word.mask |= u64::from(bits) << shift;
            word.bits |= u64::from(self.input[at] & bits) << shift;
        }
    }

    fn string(&mut self, size: Range<usize>, string: usize) {
        // Longer ones have more than a byte of length: these are of one length then.
        if size.len() > 1 {
            return self.mark(size, 0xff);
        }
        self.mark(size.clone(), 0x80);
        self.cut(size.end - self.start, true);
        self.piece = string - self.start;
    }
}

/// Shapes that are kept: tables have columns of a few types, with and without nulls, and sizes of some lengths.
const MOST_SHAPES: usize = 16;
/// Structs that are passed over before shapes are kept: small files are open sooner without.
const UNSHAPED: usize = 48;
/// Bytes of the longest struct whose shape is kept.
const LONGEST: usize = 1 << 10;

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

    /// Passes over structs in a row, and says where each ends, or that it fails and where.
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
            let mut alike = Alike { first: UNSHAPED, ..Alike::default() };
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
        let mut alike = Alike { first: UNSHAPED, ..Alike::default() };
        assert_eq!(ends(&bytes, |r, place| alike.skip(r, place).map(|_| ())).len(), 40);
        assert_eq!(alike.shapes.len(), 1);
    }

    #[test]
    fn more_shapes_than_are_kept() {
        let mut w = Writer::new();
        for n in 0..200 {
            write(&mut w, &(0..n % 50).map(|_| (1, Value::Bool(true))).collect::<Vec<_>>());
        }
        let bytes = w.finish();
        let mut alike = Alike { first: UNSHAPED, ..Alike::default() };
        let mut r = Reader::new(&bytes);
        (0..200).for_each(|place| _ = alike.skip(&mut r, place).unwrap());
        assert_eq!((r.position(), alike.shapes.len()), (bytes.len(), MOST_SHAPES));
    }
}
