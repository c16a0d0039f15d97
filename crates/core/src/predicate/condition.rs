//! A condition: one test that is evaluated over many values at a time.
//!
//! PERF: one loop makes a byte for each value, and another one packs the bytes into bits: the compiler vectorizes the
//! first, and the kernel for validity does the second. A range of words is one subtraction and one comparison, whatever
//! their sign; floats are first converted to words in the order of their numbers.

use super::blocks::of_blocks;
use super::bound::{Condition, Edge, Test};
use super::in_list::FEW;
use super::word_key::key_of;
use super::word_set::WordSet;
use crate::int96;
use crate::sort_order::{SortOrder, key16, key32, key64};
use marquetry_base::{Error, Result};
use marquetry_encoding::{Bitmap, FixedLenBytes, StringViews, Values};
use std::cmp::Ordering;

/// Returns which values pass the test of a condition, before any negation. Fails if they do not have its type.
pub(super) fn passes(condition: &Condition, values: &Values) -> Result<Bitmap> {
    if let Test::Box(asked) = &condition.test {
        return asked.passes(&condition.text, values, None);
    }
    let order = condition.order;
    match (values, order) {
        (Values::Bit(bits), SortOrder::Bool) => Ok(of_bits(condition, bits)),
        (Values::W32(words), SortOrder::Signed32 | SortOrder::Unsigned32) => Ok(match condition.narrow {
            None => of_words(&Words::of(condition), words, |word| *word),
            Some(narrow) => of_words(&Words::of(condition), words, |word| narrow.value(*word)),
        }),
        (Values::W32(words), SortOrder::TotalFloat) => {
            Ok(of_words(&Words::of(condition), words, |word| key32(*word) as u32))
        }
        (Values::W64(words), SortOrder::Signed64 | SortOrder::Unsigned64) => {
            Ok(of_words(&Words::of(condition), words, |word| *word))
        }
        (Values::W64(words), SortOrder::TotalDouble) => {
            Ok(of_words(&Words::of(condition), words, |word| key64(*word) as u64))
        }
        (Values::Fixed(fixed), SortOrder::TotalFloat16) if fixed.width() == 2 => {
            let key = |half: &[u8; 2]| i32::from(key16(u16::from_le_bytes(*half))) as u32;
            Ok(of_words(&Words::of(condition), fixed.as_bytes().as_chunks().0, key))
        }
        (Values::Fixed(fixed), SortOrder::Int96) if fixed.width() == 12 => {
            let sought = Sought::of(condition);
            let bytes = fixed.as_bytes();
            Ok(of_each(bytes.as_chunks::<12>().0, |value| sought.is(&int96::normalized(*value))))
        }
        (Values::Fixed(fixed), SortOrder::Decimal | SortOrder::FixedLenBytes) => {
            Ok(of_fixed(condition, fixed))
        }
        (Values::Bytes(views), SortOrder::Decimal) => {
            let sought = Sought::of(condition);
            Ok(of_each(views.views(), |view| sought.is(views.resolve(view))))
        }
        (Values::Bytes(views), SortOrder::Bytes) => Ok(of_views(condition, views)),
        (values, order) => {
            let message = format!("{:?} values for a predicate in order {order:?}", values.shape());
            Err(Error::argument(message))
        }
    }
}

/// Returns a bit for each value.
fn of_each<T>(values: &[T], passes: impl Fn(&T) -> bool) -> Bitmap {
    of_blocks(values.len(), |start, block| {
        let values = &values[start..start + block.len()];
        block.iter_mut().zip(values).for_each(|(out, value)| *out = u8::from(passes(value)));
    })
}

fn of_bits(condition: &Condition, bits: &Bitmap) -> Bitmap {
    let sought = Sought::of(condition);
    let (mut out, ones) = (bits.clone(), sought.is(&[1]));
    match (sought.is(&[0]), ones) {
        (false, true) => {}
        (true, false) => out.invert(),
        (same, _) => {
            out.clear();
            out.push_run(same, bits.len());
        }
    }
    out
}

/// Words for which a range test is one subtraction and one comparison.
trait Word: Copy + Ord {
    fn from_key(key: i128) -> Self;
    fn wide(self) -> u64;
    fn minus(self, other: Self) -> Self;
}

impl Word for u32 {
    fn from_key(key: i128) -> Self {
        key as u32
    }

    fn wide(self) -> u64 {
        self.into()
    }

    fn minus(self, other: Self) -> Self {
        self.wrapping_sub(other)
    }
}

impl Word for u64 {
    fn from_key(key: i128) -> Self {
        key as u64
    }

    fn wide(self) -> u64 {
        self
    }

    fn minus(self, other: Self) -> Self {
        self.wrapping_sub(other)
    }
}

/// The words that pass a test.
enum Words<'a, W> {
    /// No words.
    Nothing,
    /// The first word, and the distance from it to the last.
    Range(W, W),
    /// A few words.
    Few(&'a [u64]),
    /// Many words.
    In(&'a WordSet),
}

impl<'a, W: Word> Words<'a, W> {
    fn of(condition: &'a Condition) -> Self {
        let key = |value: &[u8]| key_of(condition.order, value).unwrap_or_default();
        match &condition.test {
            Test::Range(lower, upper) => {
                let (min, max) = keys_of(condition.order);
                let first = match lower {
                    Edge::Open => min,
                    Edge::Included(value) => key(value),
                    Edge::Excluded(value) => key(value) + 1,
                };
                let last = match upper {
                    Edge::Open => max,
                    Edge::Included(value) => key(value),
                    Edge::Excluded(value) => key(value) - 1,
                };
                match first <= last {
                    true => Words::Range(W::from_key(first), W::from_key(last - first)),
                    false => Words::Nothing,
                }
            }
            Test::In(list) => match list.words() {
                (_, Some(set)) => Words::In(set),
                (few, None) => Words::Few(few),
            },
            Test::IsNull | Test::Prefix(_) | Test::Pattern(_) | Test::Box(_) | Test::Geometry(_) => {
                Words::Nothing
            }
        }
    }
}

/// Returns the first and the last key of an order.
fn keys_of(order: SortOrder) -> (i128, i128) {
    match order {
        SortOrder::Signed32 | SortOrder::TotalFloat => (i32::MIN.into(), i32::MAX.into()),
        SortOrder::Unsigned32 => (0, u32::MAX.into()),
        SortOrder::Unsigned64 => (0, u64::MAX.into()),
        _ => (i64::MIN.into(), i64::MAX.into()),
    }
}

fn of_words<T, W: Word>(sought: &Words<'_, W>, values: &[T], word: impl Fn(&T) -> W) -> Bitmap {
    match sought {
        Words::Nothing => {
            let mut none = Bitmap::new();
            none.push_run(false, values.len());
            none
        }
        Words::Range(first, span) => of_each(values, |value| word(value).minus(*first) <= *span),
        // PERF: so few words are compared faster one after the other, without a branch.
        Words::Few(words) => of_each(values, |value| {
            let value = word(value);
            words.iter().fold(false, |found, word| found | (value == W::from_key((*word).into())))
        }),
        Words::In(set) => set.contains_each(values, |value| word(value).wide()),
    }
}

/// A test of byte strings, or of values of which only the order is known.
struct Sought<'a> {
    order: SortOrder,
    test: &'a Test,
}

impl<'a> Sought<'a> {
    fn of(condition: &'a Condition) -> Self {
        Sought { order: condition.order, test: &condition.test }
    }

    fn is(&self, value: &[u8]) -> bool {
        let compare = |other: &[u8]| self.order.compare(value, other).unwrap_or(Ordering::Equal);
        match self.test {
            Test::Range(lower, upper) => {
                let is_above = match lower {
                    Edge::Open => true,
                    Edge::Included(edge) => compare(edge) != Ordering::Less,
                    Edge::Excluded(edge) => compare(edge) == Ordering::Greater,
                };
                is_above
                    && match upper {
                        Edge::Open => true,
                        Edge::Included(edge) => compare(edge) != Ordering::Greater,
                        Edge::Excluded(edge) => compare(edge) == Ordering::Less,
                    }
            }
            Test::In(list) => list.contains(self.order, value),
            Test::Prefix(prefix) => value.starts_with(prefix),
            Test::Pattern(matcher) => matcher.is_match(value),
            Test::Geometry(text) => text.is_match(value),
            Test::IsNull | Test::Box(_) => false,
        }
    }
}

fn of_fixed(condition: &Condition, fixed: &FixedLenBytes) -> Bitmap {
    let sought = Sought::of(condition);
    match fixed.width() {
        16 => of_each(fixed.as_bytes().as_chunks::<16>().0, |value| sought.is(value)),
        _ => of_blocks(fixed.len(), |start, block| {
            let values = block.iter_mut().enumerate();
            values.for_each(|(i, out)| *out = u8::from(sought.is(fixed.get(start + i))));
        }),
    }
}

/// Tests strings. PERF: most strings differ in their length or their first four bytes, which are in the view.
fn of_views(condition: &Condition, views: &StringViews) -> Bitmap {
    let sought = Sought::of(condition);
    let is = |view: &u128| sought.is(views.resolve(view));
    match &condition.test {
        Test::Range(Edge::Included(first), Edge::Included(last)) if first == last => {
            let literal = StringViews::from_iter([first]).views()[0];
            match first.len() <= INLINE {
                true => of_each(views.views(), |view| *view == literal),
                false => of_each(views.views(), |view| *view as u64 == literal as u64 && is(view)),
            }
        }
        Test::Range(lower, upper) => {
            let (first, last) = (start_of(lower, 0), start_of(upper, u32::MAX));
            of_each(views.views(), |view| {
                let start = start(*view);
                match start <= first || start >= last {
                    // Certainly between the edges, or certainly outside.
                    false => true,
                    true => start >= first && start <= last && is_between(views.resolve(view), lower, upper),
                }
            })
        }
        Test::Prefix(prefix) => {
            let mut four = [0; 4];
            let known = prefix.len().min(4);
            four[..known].copy_from_slice(&prefix[..known]);
            let four = u32::from_be_bytes(four);
            let mask = !(u64::from(u32::MAX) >> (8 * known)) as u32;
            match known < 4 {
                // In the view, a shorter string is padded with zeros.
                true => of_each(views.views(), |view| {
                    start(*view) & mask == four && *view as u32 as usize >= prefix.len()
                }),
                false => of_each(views.views(), |view| start(*view) == four && is(view)),
            }
        }
        Test::In(list) if list.values().len() <= FEW && list.values().all(|entry| entry.len() <= INLINE) => {
            let literals = StringViews::from_iter(list.values());
            let literals = literals.views();
            of_each(views.views(), |view| literals.contains(view))
        }
        Test::Pattern(matcher) => matcher.matches_each(views),
        Test::In(_) | Test::IsNull | Test::Box(_) | Test::Geometry(_) => of_each(views.views(), is),
    }
}

/// Whether a byte string is between two edges; byte strings are ordered like slices.
#[inline]
fn is_between(value: &[u8], lower: &Edge, upper: &Edge) -> bool {
    let is_above = match lower {
        Edge::Open => true,
        Edge::Included(edge) => value >= edge.as_slice(),
        Edge::Excluded(edge) => value > edge.as_slice(),
    };
    is_above
        && match upper {
            Edge::Open => true,
            Edge::Included(edge) => value <= edge.as_slice(),
            Edge::Excluded(edge) => value < edge.as_slice(),
        }
}

/// Length of the longest string that is stored in its view.
const INLINE: usize = 12;

/// Returns the first four bytes of a string, padded with zeros. They have the order of the strings, as far as they
/// differ.
fn start(view: u128) -> u32 {
    ((view >> 32) as u32).swap_bytes()
}

fn start_of(edge: &Edge, open: u32) -> u32 {
    match edge {
        Edge::Open => open,
        Edge::Included(value) | Edge::Excluded(value) => start(StringViews::from_iter([value]).views()[0]),
    }
}
