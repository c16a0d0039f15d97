//! A schema out of nothing but pages: how many columns there are, and of what types.
//!
//! Chunks of as many rows follow each other; where the number of rows changes, a row group ends. Types that repeat tell
//! how many columns a row group has.

use super::gap;
use super::guess::{Guess, guess};
use super::open::{fitting_codecs, rows};
use super::part::Window;
use super::report::{Confidence, Report};
use super::scan::{Page, Work};
use crate::schema::{annotate, column, group};
use marquetry_codec::Decompressor;
use marquetry_encoding::Physical;
use marquetry_format::{Repetition, SchemaElement};
use std::collections::HashMap;
use std::ops::Range;

/// Chunks of as many rows, one behind the other.
struct Block {
    chunks: Vec<(Range<usize>, Guess)>,
    rows: u64,
    natural: usize,
}

impl Block {
    fn end(&self) -> usize {
        self.chunks.last().map_or(0, |(chunk, _)| chunk.end)
    }
}

/// The schema, and what was decided for it in the report; `None` if pages fit no schema.
pub(super) fn infer(
    window: &mut Window,
    pages: &[Page],
    work: &mut Work,
    report: &mut Report,
) -> Option<Vec<SchemaElement>> {
    let mut infer = Infer { window, pages, work, guesses: HashMap::new() };
    let mut blocks = Vec::new();
    let mut at = 0;
    while at < pages.len() && blocks.len() < MOST_BLOCKS {
        match infer.block(at) {
            Some(block) => {
                at = block.end();
                blocks.push(block);
            }
            // What the file ends in, or damage.
            None => at += 1,
        }
    }
    let (columns, why, confidence) = number_of_columns(&blocks)?;
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
        *guesses.iter().min_by_key(|guess| (guess.confidence, guess.physical == Physical::Int32))?;
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
            annotate(&mut list, &crate::logical::Logical::List);
            out.push(list);
            out.push(SchemaElement { repetition_type: Some(Repetition::REPEATED), ..group("list", 1) });
        } else {
            let mut list = group(name, 1);
            annotate(&mut list, &crate::logical::Logical::List);
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

/// How many chunks a row group has.
fn number_of_columns(blocks: &[Block]) -> Option<(usize, &'static str, Confidence)> {
    let first = blocks.first()?;
    let sizes: Vec<usize> = blocks.iter().map(|block| block.chunks.len()).collect();
    let divisor = sizes.iter().copied().fold(0, gcd);
    let kinds: Vec<_> = blocks.iter().flat_map(|block| &block.chunks).map(|(_, guess)| kind(guess)).collect();
    let repeats = |by: usize| kinds.iter().zip(kinds.iter().skip(by)).all(|(a, b)| a == b);
    let has_variety = |by: usize| kinds.iter().take(by).any(|kind| kind != &kinds[0]);
    if sizes.len() > 1 && repeats(divisor) {
        return Some((
            divisor,
            "so many chunks of as many rows follow each other, in each row group",
            Confidence::High,
        ));
    }
    let period = (2..first.chunks.len()).find(|by| repeats(*by) && has_variety(*by) && kinds.len() >= 2 * by);
    Some(match period {
        Some(period) => (period, "types repeat after so many chunks", Confidence::Medium),
        None => (first.chunks.len(), "so many chunks of as many rows follow each other", Confidence::Medium),
    })
}

/// What distinguishes columns.
fn kind(guess: &Guess) -> (marquetry_encoding::Shape, bool, bool) {
    (guess.physical.shape(), guess.max_rep > 0, guess.max_def > 0)
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
    /// The likeliest chunks of as many rows from a page on.
    fn block(&mut self, at: usize) -> Option<Block> {
        let first = self.guess(at)?;
        let (mut rows, mut end, mut best) = (0u64, at, None::<Block>);
        while let Some(next) = self.add(at, end, &first, &mut rows) {
            end = next;
            if self.pages[end - 1].is_dictionary() || rows == 0 {
                continue;
            }
            let block = self.block_of((at..end, first), rows);
            let worth = |block: &Block| (block.natural * 2 >= block.chunks.len(), block.end(), block.natural);
            if best.as_ref().is_none_or(|best| worth(best) < worth(&block)) {
                best = Some(block);
            }
        }
        best
    }

    fn block_of(&mut self, first: (Range<usize>, Guess), rows: u64) -> Block {
        let natural = usize::from(self.ends_naturally(&first.0));
        let mut block = Block { chunks: vec![first], rows, natural };
        while let Some(chunk) = self.chunk(block.end(), block.rows) {
            block.natural += usize::from(self.ends_naturally(&chunk.0));
            block.chunks.push(chunk);
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
        let data = chunk.len() - usize::from(self.pages[chunk.start].is_dictionary());
        next.is_dictionary()
            || !self.follows(chunk.end)
            || next.encoding() != last.encoding()
            || data > 1 && last.values() < self.pages[chunk.end - 2].values()
    }
}

/// Row groups whose types are looked at.
const MOST_BLOCKS: usize = 64;
