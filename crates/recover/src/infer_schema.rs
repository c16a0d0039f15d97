//! Infers a schema from nothing but pages: the number of columns and their types.
//!
//! All layouts of the pages are searched and rated by their description length. One is taken only if it is far shorter
//! than all that give another table. Otherwise the caller is asked for a schema.
//!
//! ```text
//! pages     a b a b a b a b        as many rows in each
//! layouts   a b|a b|a b|a b        2 columns in 4 row groups,
//!           a b a b|a b a b        or 4 in 2: the kinds of so few columns repeat too often by chance
//! ```
//!
//! Other evidence decides such cases: the number of fields in the first bytes of a footer, the columns that metadata
//! behind chunks names, and values that rise from row group to row group.

use crate::filler::FooterHead;
use crate::found_page::FoundPage;
use crate::infer_type::{ChunkKind, Guess};
use crate::layout_cost::{LayoutCost, alternates};
use crate::layout_finder::{LayoutFinder, TOO_MANY};
use crate::report::{Confidence, Report};
use crate::search_budget::SearchBudget;
use crate::table_layout::{PageGroup, TableLayout};
use crate::window::Window;
use marquetry_base::Limits;
use marquetry_core::schema::{Schema, annotate, column, group};
use marquetry_core::sort_order::SortOrder;
use marquetry_encoding::{PhysicalType, Shape};
use marquetry_format::{Repetition, SchemaElement};
use std::borrow::Cow;
use std::cmp::Ordering;
use std::rc::Rc;

/// An inferred schema, and the row groups that it was inferred from.
#[derive(Debug)]
pub(crate) struct InferredSchema {
    pub(crate) elements: Vec<SchemaElement>,
    pub(crate) groups: Vec<PageGroup>,
}

/// Infers the schema of pages, the first of which begins a row group, and adds the decisions to the report.
///
/// `Err` is the reason why no schema is certain; the report then has the likeliest one.
pub(crate) fn infer_schema(
    window: &mut Window,
    pages: &[FoundPage],
    budget: &mut SearchBudget,
    report: &mut Report,
) -> Result<InferredSchema, Cow<'static, str>> {
    let mut finder = LayoutFinder::new(window, pages, budget);
    let layouts = rated_layouts(&mut finder)?;
    if let Err(Doubt { why, other }) = check_likeliest(&layouts, &mut finder) {
        // The likeliest layout, if nothing is lost behind the last page.
        let ends_there =
            |layout: &TableLayout| layout.groups.last().map(PageGroup::end) == Some(finder.pages().len());
        let likeliest = layouts.iter().position(|(_, layout)| !layout.is_open && ends_there(layout));
        if let Some(text) = likeliest.and_then(|i| text_of(&layouts[i].1, &mut finder)) {
            report.decide("no schema", format!("{why}; the likeliest is: {text}"), Confidence::Low);
        }
        if let Some(other) = other.filter(|other| Some(*other) != likeliest && !layouts[*other].1.is_open)
            && let Some(text) = text_of(&layouts[other].1, &mut finder)
        {
            let what = format!("nor {}", layouts[other].1);
            report.decide(what, format!("that is possible, too: {text}"), Confidence::Low);
        }
        return Err(why);
    }
    let (_, layout) = layouts.first().ok_or(NO_LAYOUT)?;
    // Fewer row groups with a multiple of the columns, whose kinds then repeat, are also possible, but less likely.
    let chunks = |layout: &TableLayout| layout.columns * layout.groups.len();
    let is_wider = |other: &TableLayout| {
        let times = other.columns.is_multiple_of(layout.columns) && other.columns > layout.columns;
        times && !other.is_open && chunks(other) == chunks(layout)
    };
    let wider = layouts.iter().map(|(_, other)| other).find(|other| is_wider(other));
    let wider = wider.map(|wider| (wider.columns, wider.groups.len()));
    let (elements, columns) = schema_of(layout, &mut finder).ok_or(NOT_ONE_KIND)?;
    let counted = finder.footer().is_some_and(|footer| footer.fields == Some(footer.elements - 1));
    let why = match layout.groups.len() {
        _ if counted => "the schema, of which the beginning is there, has as many",
        1 => "chunks with equal numbers of rows follow each other, and the row group ends behind them",
        _ => "the kinds of chunks repeat after this number, in each row group",
    };
    report.decide(format!("{} columns", layout.columns), why, Confidence::Medium);
    if let Some((columns, groups)) = wider {
        let what = format!("not {columns} columns in {groups} row groups");
        report.decide(what, "that is possible, too: if it is so, give the schema", Confidence::Low);
    }
    for (i, guess) in columns.iter().enumerate() {
        let levels = match guess.levels() {
            (0, 0) => String::new(),
            (0, 1) => ", optional".to_owned(),
            (rep, def) => format!(", levels up to {rep} and {def}"),
        };
        report.decide(format!("column c{i} is {}{levels}", guess.physical), guess.why, guess.confidence);
    }
    Ok(InferredSchema { elements, groups: layout.groups.clone() })
}

/// Returns the schema of a layout as text, if it is not too long.
fn text_of(layout: &TableLayout, finder: &mut LayoutFinder<'_>) -> Option<String> {
    let (elements, _) = (layout.columns <= MAX_SUGGESTED).then(|| schema_of(layout, finder))??;
    let schema = Schema::from_thrift(&elements, &Limits::default()).ok()?;
    Some(schema.to_string().split_whitespace().collect::<Vec<_>>().join(" "))
}

/// Returns the schema elements of a layout, and the guess for each column.
fn schema_of(
    layout: &TableLayout,
    finder: &mut LayoutFinder<'_>,
) -> Option<(Vec<SchemaElement>, Vec<Guess>)> {
    let mut elements = vec![SchemaElement { repetition_type: None, ..group("schema", layout.columns) }];
    let mut columns = Vec::new();
    for i in 0..layout.columns {
        let kinds: Vec<Rc<ChunkKind>> =
            layout.groups.iter().map(|group| finder.kinds.kind(group.chunks[i].start)).collect();
        let guess = common_guess(&kinds)?;
        push_column(&format!("c{i}"), &guess, &mut elements);
        columns.push(guess);
    }
    Some((elements, columns))
}

/// Returns all layouts, the one of the simplest structure first.
fn rated_layouts(finder: &mut LayoutFinder<'_>) -> Result<Vec<(LayoutCost, TableLayout)>, &'static str> {
    let layouts = finder.layouts()?;
    if layouts.iter().map(|layout| layout.columns).sum::<usize>() > MAX_RATED_COLUMNS {
        return Err(TOO_MANY);
    }
    let mut rated = Vec::with_capacity(layouts.len());
    for layout in layouts {
        let mut cost = LayoutCost::new(&layout, finder);
        // Groups may add elements that we cannot know of, but hardly ever do.
        if let Some(FooterHead { elements, .. }) = finder.footer()
            && schema_of(&layout, finder).is_none_or(|(ours, _)| ours.len() != elements)
        {
            cost = cost.plus(OTHER_ELEMENTS);
        }
        rated.push((cost, layout));
    }
    rated.sort_by(|(a, _), (b, _)| a.structure.total_cmp(&b.structure));
    Ok(rated)
}

/// The reason why no layout is chosen.
struct Doubt {
    why: Cow<'static, str>,
    /// A layout that is not far less likely than the first one.
    other: Option<usize>,
}

impl From<&'static str> for Doubt {
    fn from(why: &'static str) -> Self {
        Doubt { why: why.into(), other: None }
    }
}

/// Checks that the first layout is far likelier than all that result in another table.
fn check_likeliest(
    layouts: &[(LayoutCost, TableLayout)],
    finder: &mut LayoutFinder<'_>,
) -> Result<(), Doubt> {
    let (cost, best) = layouts.first().ok_or(NO_LAYOUT)?;
    let others = || layouts.iter().enumerate().filter(|(_, (_, other))| !other.is_same_table(best));
    let is_tied = others().any(|(_, (other, layout))| layout.is_open && other.structure <= cost.structure);
    if best.is_open || is_tied {
        return Err(NOT_WHOLE.into());
    }
    let first = &best.groups[0].chunks;
    // Columns that are all alike prove nothing by following each other.
    let has_variety = first.iter().any(|chunk| !finder.kinds.are_alike(first[0].start, chunk.start));
    let (mut sorted, mut doubtful) = (None, None);
    for (i, (other, layout)) in others() {
        let times = layout.columns / best.columns;
        let is_multiple = times > 1 && layout.columns.is_multiple_of(best.columns);
        let mut is_less = has_variety && cost.is_far_less(other, best.groups.len());
        if !is_less && has_variety && layout.columns > best.columns {
            let bits = *sorted.get_or_insert_with(|| sorted_bits(best, finder));
            is_less = cost.is_far_less(&other.plus(bits), best.groups.len());
        }
        if !is_less || is_multiple && alternates(best, times, finder) {
            // A layout that ends with the pages is a clearer example.
            doubtful.get_or_insert(i);
            if !layout.is_open {
                doubtful = Some(i);
                break;
            }
        }
    }
    let Some(other) = doubtful else { return Ok(()) };
    let why = format!("{AMBIGUOUS}, such as {best}, or {}", layouts[other].1);
    Err(Doubt { why: why.into(), other: Some(other) })
}

/// Returns how unlikely it is, in bits, that one column of the first layout is really several. The values of one column
/// may rise or fall from row group to row group, as keys and times do, while chunks of several columns are in any
/// order. It is least likely if integers continue by one, as a counter does.
fn sorted_bits(layout: &TableLayout, finder: &mut LayoutFinder<'_>) -> f64 {
    let groups = &layout.groups[..layout.groups.len().min(MOST_SORTED)];
    let orders: f64 = (2..=groups.len()).map(|n| (n as f64).log2()).sum();
    let Some((elements, guesses)) = schema_of(layout, finder).filter(|_| groups.len() > 1) else {
        return 0.0;
    };
    let Ok(schema) = Schema::from_thrift(&elements, &Limits::default()) else { return 0.0 };
    let flat = guesses.iter().enumerate().filter(|(_, guess)| guess.max_rep == 0 && !guess.is_blank);
    let mut most: f64 = 0.0;
    for (column, _) in flat.take(MOST_COLUMNS_SORTED) {
        let leaf = schema.column(column);
        let mut of = |group: &PageGroup| finder.kinds.extent(&group.chunks[column], leaf, group.rows);
        let Some(extents) = groups.iter().map(&mut of).collect::<Option<Vec<_>>>() else { continue };
        let order = SortOrder::of(leaf);
        let is_below = |a: &[u8], b: &[u8]| order.compare(a, b) == Some(Ordering::Less);
        // A few values follow each other by chance.
        let are_wide = extents.iter().all(|[min, max]| is_below(min, max));
        let rises = extents.windows(2).all(|pair| !is_below(&pair[1][0], &pair[0][1]));
        let falls = extents.windows(2).all(|pair| !is_below(&pair[0][0], &pair[1][1]));
        if are_wide && (rises || falls) {
            most = most.max(orders - 1.0);
        }
        if are_wide && extents.windows(2).all(|pair| goes_on(&pair[0][1], &pair[1][0])) {
            most = most.max((groups.len() - 1) as f64 * GOES_ON);
        }
    }
    most
}

/// Whether an integer is the successor of another.
fn goes_on(last: &[u8], next: &[u8]) -> bool {
    let number = |bytes: &[u8]| match bytes.len() {
        4 => bytes.try_into().ok().map(|bytes| i64::from(i32::from_le_bytes(bytes))),
        _ => bytes.try_into().ok().map(i64::from_le_bytes),
    };
    number(last).zip(number(next)).is_some_and(|(last, next)| last.checked_add(1) == Some(next))
}

/// Returns the guess for a column that fits all its chunks: the likeliest levels and value width, and the surest type.
fn common_guess(chunks: &[Rc<ChunkKind>]) -> Option<Guess> {
    let known = || chunks.iter().map(|kind| &kind.guesses).filter(|guesses| !guesses.is_empty());
    let fits = |a: &Guess, b: &Guess| {
        a.levels() == b.levels() && (a.is_blank || b.is_blank || a.physical.shape() == b.physical.shape())
    };
    let fits_all = |guess: &&Guess| known().all(|guesses| guesses.iter().any(|other| fits(guess, other)));
    let levels = known().flatten().find(fits_all)?.levels();
    let of_levels = || known().flatten().filter(|guess| guess.levels() == levels);
    let likeliest = |guess: &&Guess| (guess.is_blank, guess.confidence);
    let found = of_levels().filter(fits_all).min_by_key(likeliest)?;
    // Zeros of 4 bytes and empty strings look the same.
    let is_zero = found.physical.shape() == Shape::W32
        && of_levels()
            .filter(fits_all)
            .any(|guess| !guess.is_blank && guess.physical.shape() == Shape::Bytes);
    of_levels()
        .filter(|other| !is_zero && fits(found, other))
        .min_by_key(|guess| (guess.is_blank, guess.confidence, guess.physical == PhysicalType::Int32))
        .copied()
}

/// Appends the schema elements of a column with these levels: lists outside, optional groups inside.
fn push_column(name: &str, guess: &Guess, out: &mut Vec<SchemaElement>) {
    let mut leaf = column(name, guess.physical);
    let mut optional = guess.max_def - guess.max_rep.min(guess.max_def);
    for depth in 0..guess.max_rep {
        let name = if depth == 0 { name } else { "element" };
        let mut list = group(name, 1);
        annotate(&mut list, &marquetry_core::logical_type::LogicalType::List);
        if optional > 0 {
            optional -= 1;
            list.repetition_type = Some(Repetition::OPTIONAL);
        }
        out.push(list);
        out.push(SchemaElement { repetition_type: Some(Repetition::REPEATED), ..group("list", 1) });
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

/// The cost, in bits, of a layout whose schema needs another number of elements than the footer has.
const OTHER_ELEMENTS: f64 = 10.0;
/// Maximum numbers of row groups, and of columns, whose values are read.
const MOST_SORTED: usize = 12;
const MOST_COLUMNS_SORTED: usize = 8;
/// How unlikely it is, in bits, that the integers of one column continue by one where those of another end.
const GOES_ON: f64 = 4.0;
/// Maximum number of columns of all rated layouts together.
const MAX_RATED_COLUMNS: usize = 1 << 19;
/// Maximum number of columns of a schema that the report suggests.
const MAX_SUGGESTED: usize = 100;
const NO_LAYOUT: &str = "pages that make up no row groups of chunks of as many rows";
const NOT_ONE_KIND: &str = "chunks whose levels and values fit no type, or several";
const NOT_WHOLE: &str = "pages of a row group of which nothing shows that all its columns are there";
const AMBIGUOUS: &str = "pages that can be cut into columns in several ways";
