//! A schema out of nothing but pages: how many columns there are, and of what types.
//!
//! Chunks of as many rows follow each other; where the number of rows changes, a row group ends. Types that repeat tell
//! how many columns a row group has.
//!
//! ```text
//! pages     9 9 9 9 9 5 9 9 5 D 9 9 5      rows of each
//! kinds     i i i i i i f f f s s s s
//! chunks    i-----------? i-----f----      the first chunk may end at any page of its kind; but where a chunk ends,
//!           i----- f----- s------ ...      it shows: by a dictionary, another kind, or a page that is not full
//! ```

use super::gap;
use super::guess::{Guess, guess};
use super::open::{fitting_codecs, rows};
use super::part::Window;
use super::report::{Confidence, Report};
use super::scan::{Page, Work};
use crate::schema::{annotate, column, group};
use marquetry_codec::Decompressor;
use marquetry_encoding::PhysicalType;
use marquetry_format::{Repetition, SchemaElement};
use std::cmp::{Ordering, Reverse};
use std::collections::HashMap;
use std::ops::Range;

/// Chunks of as many rows, one behind the other.
struct Block {
    chunks: Vec<(Range<usize>, Guess)>,
    rows: u64,
    /// How many of its chunks begin in a way that shows it.
    visible: usize,
    /// Pages inside chunks that have another number of values than the first, and those that are not full.
    uneven: usize,
    not_full: usize,
    /// Whether it begins and ends where pages do, or other blocks: nothing of it is lost.
    is_whole: bool,
}

impl Block {
    fn end(&self) -> usize {
        self.chunks.last().map_or(0, |(chunk, _)| chunk.end)
    }

    /// How likely it is: what is compared first speaks loudest.
    fn worth(&self) -> impl Ord {
        let is_sure = self.visible == self.chunks.len() - 1;
        (self.is_whole, Reverse(self.uneven), self.end(), is_sure, Reverse(self.not_full), self.visible)
    }
}

/// The schema, and what was decided for it in the report; `None` if pages fit no schema. `is_anchored`: the first page is
/// the first of a row group.
pub(super) fn infer(
    window: &mut Window,
    pages: &[Page],
    mut is_anchored: bool,
    work: &mut Work,
    report: &mut Report,
) -> Option<Vec<SchemaElement>> {
    let mut infer = Infer { window, pages, work, guesses: HashMap::new() };
    let mut blocks: Vec<Block> = Vec::new();
    let mut at = 0;
    while at < pages.len() && blocks.len() < MOST_BLOCKS {
        match infer.block(at) {
            Some(mut block) => {
                at = block.end();
                block.is_whole &= is_anchored;
                is_anchored = block.is_whole;
                blocks.push(block);
            }
            // What the file ends in, or damage.
            None => (at, is_anchored) = (at + 1, false),
        }
    }
    // Of others nobody knows which columns are missing.
    if blocks.iter().any(|block| block.is_whole) {
        blocks.retain(|block| block.is_whole);
    } else {
        blocks.truncate(1);
    }
    // The file may be cut off in the last one.
    let told = if blocks.len() > 1 { &blocks[..blocks.len() - 1] } else { &blocks[..] };
    let behind = told.last().map_or(0, Block::end)..pages.len();
    let what_follows = match behind.clone().all(|at| infer.follows(at) || infer.is_next_known(at)) {
        true if behind.is_empty() => Behind::Nothing,
        true => Behind::Pages,
        false => Behind::Damage,
    };
    let (columns, why, confidence) = number_of_columns(told, what_follows)?;
    report.decide(format!("{columns} columns"), why, confidence);
    let chunks = || blocks.iter().flat_map(|block| block.chunks.iter().enumerate());
    let mut elements = Vec::new();
    for i in 0..columns {
        let guesses: Vec<Guess> =
            chunks().filter(|(at, _)| at % columns == i).map(|(_, (_, guess))| *guess).collect();
        let best = joined(&guesses)?;
        let levels = match best.levels() {
            (0, 0) => String::new(),
            (0, 1) => ", optional".to_owned(),
            (rep, def) => format!(", levels up to {rep} and {def}"),
        };
        report.decide(format!("column c{i} is {}{levels}", best.physical), best.why, best.confidence);
        push(&format!("c{i}"), &best, &mut elements);
    }
    let mut all = vec![SchemaElement { repetition_type: None, ..group("schema", columns) }];
    all.extend(elements);
    Some(all)
}

/// What a column is by all of its chunks: the surest type, the largest levels.
fn joined(guesses: &[Guess]) -> Option<Guess> {
    let mut best =
        *guesses.iter().min_by_key(|guess| (guess.confidence, guess.physical == PhysicalType::Int32))?;
    best.max_rep = guesses.iter().map(|guess| guess.max_rep).max()?;
    best.max_def = guesses.iter().map(|guess| guess.max_def).max()?;
    Some(best)
}

/// The elements of a column with these levels: lists outside, then what may be null.
fn push(name: &str, guess: &Guess, out: &mut Vec<SchemaElement>) {
    let mut leaf = column(name, guess.physical);
    let mut optional = guess.max_def - guess.max_rep.min(guess.max_def);
    for depth in 0..guess.max_rep {
        let name = if depth == 0 { name } else { "element" };
        if optional > 0 {
            optional -= 1;
            let mut list = SchemaElement { repetition_type: Some(Repetition::OPTIONAL), ..group(name, 1) };
            annotate(&mut list, &crate::logical_type::LogicalType::List);
            out.push(list);
            out.push(SchemaElement { repetition_type: Some(Repetition::REPEATED), ..group("list", 1) });
        } else {
            let mut list = group(name, 1);
            annotate(&mut list, &crate::logical_type::LogicalType::List);
            out.push(list);
            out.push(SchemaElement { repetition_type: Some(Repetition::REPEATED), ..group("list", 1) });
        }
        leaf.name = "element".into();
    }
    for _ in 1..optional {
        out.push(SchemaElement {
            repetition_type: Some(Repetition::OPTIONAL),
            ..group(leaf.name.clone(), 1)
        });
    }
    if optional > 0 {
        leaf.repetition_type = Some(Repetition::OPTIONAL);
    }
    out.push(leaf);
}

/// What stands behind the row groups that tell how many columns there are.
#[derive(Debug, Clone, Copy)]
enum Behind {
    Nothing,
    Pages,
    Damage,
}

/// How many chunks a row group has.
fn number_of_columns(told: &[Block], behind: Behind) -> Option<(usize, &'static str, Confidence)> {
    let first = told.first()?;
    let sizes: Vec<usize> = told.iter().map(|block| block.chunks.len()).collect();
    let divisor = sizes.iter().copied().fold(0, gcd);
    let kinds: Vec<_> = told.iter().flat_map(|block| &block.chunks).map(|(_, guess)| kind(guess)).collect();
    let repeats = |by: usize| kinds.iter().zip(kinds.iter().skip(by)).all(|(a, b)| a == b);
    let has_variety = |by: usize| kinds.iter().take(by).any(|kind| kind != &kinds[0]);
    let period = (2..=divisor)
        .find(|by| divisor % by == 0 && repeats(*by) && has_variety(*by) && kinds.len() >= 2 * by);
    let n = kinds.len();
    // Some columns of a next row group may be among these, or others of the first be lost.
    let begins_again = (1..n).any(|by| n % by > 0 && repeats(by) && has_variety(by));
    if period.is_none()
        && match behind {
            Behind::Nothing => false,
            Behind::Pages => begins_again,
            Behind::Damage => begins_again || told.len() == 1,
        }
    {
        return None;
    }
    Some(match period {
        Some(period) => (period, "types repeat after so many chunks", Confidence::Medium),
        None if told.len() > 1 && repeats(divisor) => (
            divisor,
            "so many chunks of as many rows follow each other, in each row group",
            Confidence::Medium,
        ),
        None if !first.is_whole => return None,
        None if has_variety(n) || n == 1 => {
            (first.chunks.len(), "so many chunks of as many rows follow each other", Confidence::Medium)
        }
        None => (first.chunks.len(), "so many chunks, of one type and of as many rows", Confidence::Low),
    })
}

/// What distinguishes columns.
fn kind(guess: &Guess) -> (PhysicalType, bool, bool) {
    (guess.physical, guess.max_rep > 0, guess.max_def > 0)
}

fn gcd(a: usize, b: usize) -> usize {
    if b == 0 { a } else { gcd(b, a % b) }
}

struct Infer<'a> {
    window: &'a mut Window,
    pages: &'a [Page],
    work: &'a mut Work,
    /// By the first page of a chunk.
    guesses: HashMap<usize, Option<Guess>>,
}

impl Infer<'_> {
    /// The likeliest chunks of as many rows from a page on; `None` if none is likelier than the others.
    fn block(&mut self, at: usize) -> Option<Block> {
        let first = self.guess(at)?;
        let (mut rows, mut end) = (0u64, at);
        // The likeliest so far, and whether another is as likely.
        let (mut best, mut is_tied) = (None::<Block>, false);
        while let Some(next) = self.add(at, end, &first, &mut rows) {
            end = next;
            if self.pages[end - 1].is_dictionary() || rows == 0 {
                continue;
            }
            let block = self.block_of((at..end, first), rows);
            match best.as_ref().map_or(Ordering::Greater, |best| block.worth().cmp(&best.worth())) {
                Ordering::Greater => (best, is_tied) = (Some(block), false),
                Ordering::Equal => is_tied = true,
                Ordering::Less => {}
            }
        }
        // Pages that are all alike are those of one column, or of as many.
        best.filter(|block| !is_tied && (block.chunks.len() > 1 || self.shows_its_end(&block.chunks[0].0)))
    }

    fn block_of(&mut self, first: (Range<usize>, Guess), rows: u64) -> Block {
        let mut block =
            Block { chunks: vec![first], rows, visible: 0, uneven: 0, not_full: 0, is_whole: false };
        while let Some(chunk) = self.chunk(block.end(), block.rows) {
            let before = &block.chunks[block.chunks.len() - 1];
            block.visible += usize::from(kind(&before.1) != kind(&chunk.1) || self.ends_naturally(&before.0));
            block.chunks.push(chunk);
        }
        let end = block.end();
        block.is_whole = end == self.pages.len() || self.follows(end) && self.guess(end).is_some();
        for (chunk, _) in &block.chunks {
            let first = chunk.start + usize::from(self.pages[chunk.start].is_dictionary());
            let inside = &self.pages[first..chunk.end - 1];
            block.uneven += inside.iter().filter(|page| page.values() != self.pages[first].values()).count();
            block.not_full += inside.iter().filter(|page| !is_full(page)).count();
        }
        block
    }

    fn chunk(&mut self, start: usize, wanted: u64) -> Option<(Range<usize>, Guess)> {
        if !self.follows(start) && !self.is_next_known(start) {
            return None;
        }
        let guess = self.guess(start)?;
        let (mut rows, mut end) = (0, start);
        while rows < wanted {
            end = self.add(start, end, &guess, &mut rows)?;
        }
        (rows == wanted).then_some((start..end, guess))
    }

    fn add(&mut self, start: usize, end: usize, guess: &Guess, rows: &mut u64) -> Option<usize> {
        let page = self.pages.get(end)?;
        let is_first = end == start;
        if !self.work.spend(16)
            || !is_first && (page.is_dictionary() || !self.follows(end))
            || page.is_keys() && !self.pages[start].is_dictionary()
        {
            return None;
        }
        // Whether a page has integers or floats is not certain; how wide its values are, is.
        let width = |guess: &Guess| (guess.physical.shape(), guess.max_rep > 0, guess.max_def > 0);
        if !is_first && self.guess(end).is_some_and(|other| width(&other) != width(guess)) {
            return None;
        }
        *rows = rows.checked_add(self.rows_of(page, guess)?)?;
        Some(end + 1)
    }

    fn rows_of(&mut self, page: &Page, guess: &Guess) -> Option<u64> {
        if page.is_dictionary() {
            return Some(0);
        }
        match &page.header.data_page_header_v2 {
            Some(v2) => u64::try_from(v2.num_rows).ok(),
            None if guess.max_rep == 0 => Some(page.values()),
            None => {
                if !self.work.spend(page.uncompressed() + page.values() / 64) {
                    return None;
                }
                let mut decompressor = Decompressor::new();
                let codecs = fitting_codecs(self.window, page, None, &mut decompressor).ok()?;
                codecs
                    .into_iter()
                    .find_map(|codec| rows(self.window, page, codec, guess.levels(), &mut decompressor).ok())
            }
        }
    }

    fn guess(&mut self, start: usize) -> Option<Guess> {
        if let Some(known) = self.guesses.get(&start) {
            return *known;
        }
        let first = self.pages.get(start)?;
        let dictionary = first.is_dictionary().then_some(first);
        let data =
            self.pages.get(start + usize::from(dictionary.is_some())).filter(|page| !page.is_dictionary());
        let found = data.and_then(|data| guess(self.window, dictionary, data, self.work));
        self.guesses.insert(start, found);
        found
    }

    fn follows(&self, at: usize) -> bool {
        let before = at.checked_sub(1).and_then(|at| self.pages.get(at));
        before.zip(self.pages.get(at)).is_some_and(|(before, page)| before.end == page.offset)
    }

    fn is_next_known(&mut self, at: usize) -> bool {
        let pages = at.checked_sub(1).and_then(|before| self.pages.get(before)).zip(self.pages.get(at));
        pages.is_some_and(|(before, page)| gap::is_known(self.window, before.end..page.offset))
    }

    fn ends_naturally(&self, chunk: &Range<usize>) -> bool {
        let (Some(last), Some(next)) = (self.pages.get(chunk.end - 1), self.pages.get(chunk.end)) else {
            return true;
        };
        next.is_dictionary()
            || !self.follows(chunk.end)
            || next.encoding() != last.encoding()
            || self.shows_its_end(chunk)
    }

    /// Whether the last page of a chunk has less than those before it, or than a writer would end a page with.
    fn shows_its_end(&self, chunk: &Range<usize>) -> bool {
        let first = chunk.start + usize::from(self.pages[chunk.start].is_dictionary());
        let last = &self.pages[chunk.end - 1];
        last.values() < self.pages[first].values() || !is_full(last) || first > chunk.start
    }
}

/// Whether a page has as much as writers put into one before they begin the next, if nobody asks for less.
fn is_full(page: &Page) -> bool {
    page.values() >= FULL_ROWS || page.uncompressed() >= FULL_BYTES
}

/// The least limits of a page in use: rows of parquet-rs, parquet-mr and others; bytes of Impala's, less a little.
const FULL_ROWS: u64 = 20_000;
const FULL_BYTES: u64 = 60 << 10;
/// Row groups whose types are looked at.
const MOST_BLOCKS: usize = 64;
