//! Infers a schema from nothing but pages: how many columns there are, and of what types.
//!
//! All ways to cut the pages into chunks and row groups are found, and rated by how much they take for granted. One is
//! taken only if it is far likelier than all others; otherwise the caller is asked for a schema.

use super::found_page::FoundPage;
use super::infer_type::{ChunkKind, Guess};
use super::layout_cost::{LayoutCost, alternates};
use super::report::{Confidence, Report};
use super::search_budget::SearchBudget;
use super::table_layouts::{LayoutFinder, PageGroup, TableLayout};
use super::window::Window;
use crate::schema::{Schema, annotate, column, group};
use marquetry_base::Limits;
use marquetry_encoding::PhysicalType;
use marquetry_format::{Repetition, SchemaElement};
use std::rc::Rc;

/// A schema, and the row groups that were found along with it.
#[derive(Debug)]
pub(super) struct InferredSchema {
    pub(super) elements: Vec<SchemaElement>,
    pub(super) groups: Vec<PageGroup>,
}

/// Infers the schema and says in the report what was decided for it; `Err` says why there is none, and the report which one
/// is the likeliest. The first page is the first of a row group.
pub(super) fn infer_schema(
    window: &mut Window,
    pages: &[FoundPage],
    budget: &mut SearchBudget,
    report: &mut Report,
) -> Result<InferredSchema, &'static str> {
    let mut finder = LayoutFinder::new(window, pages, budget);
    let layouts = rated_layouts(&mut finder)?;
    if let Err(why) = check_likeliest(&layouts, &mut finder) {
        // If nothing is lost behind the last page.
        let ends_there =
            |layout: &TableLayout| layout.groups.last().map(PageGroup::end) == Some(finder.pages().len());
        if let Some((_, layout)) = layouts.iter().find(|(_, layout)| !layout.is_open && ends_there(layout))
            && layout.columns <= MOST_SUGGESTED
            && let Some((elements, _)) = schema_of(layout, &mut finder)
            && let Ok(schema) = Schema::from_thrift(&elements, &Limits::default())
        {
            let text = schema.to_string().split_whitespace().collect::<Vec<_>>().join(" ");
            report.decide("no schema", format!("{why}; the likeliest is: {text}"), Confidence::Low);
        }
        return Err(why);
    }
    let (_, layout) = layouts.first().ok_or(NO_LAYOUT)?;
    let (elements, columns) = schema_of(layout, &mut finder).ok_or(NOT_ONE_KIND)?;
    let why = match layout.groups.len() {
        1 => "so many chunks of as many rows follow each other, and the row group ends behind them",
        _ => "kinds of chunks repeat after so many, in row groups of as many rows",
    };
    report.decide(format!("{} columns", layout.columns), why, Confidence::Medium);
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

/// The schema of a layout, and what each column is.
fn schema_of(
    layout: &TableLayout,
    finder: &mut LayoutFinder<'_>,
) -> Option<(Vec<SchemaElement>, Vec<Guess>)> {
    let mut elements = vec![SchemaElement { repetition_type: None, ..group("schema", layout.columns) }];
    let mut columns = Vec::new();
    for i in 0..layout.columns {
        let kinds: Vec<Rc<ChunkKind>> =
            layout.groups.iter().map(|group| finder.kind(group.chunks[i].start)).collect();
        let guess = joined(&kinds)?;
        push(&format!("c{i}"), &guess, &mut elements);
        columns.push(guess);
    }
    Some((elements, columns))
}

/// All layouts, those that take the least for granted first.
fn rated_layouts(finder: &mut LayoutFinder<'_>) -> Result<Vec<(LayoutCost, TableLayout)>, &'static str> {
    let layouts = finder.layouts().ok_or(TOO_MANY)?;
    let mut rated: Vec<_> =
        layouts.into_iter().map(|layout| (LayoutCost::new(&layout, finder), layout)).collect();
    rated.sort_by(|(a, _), (b, _)| a.structure.total_cmp(&b.structure));
    Ok(rated)
}

/// Whether the first of these layouts is far likelier than any other that gives another table; `Err` says why not.
fn check_likeliest(
    layouts: &[(LayoutCost, TableLayout)],
    finder: &mut LayoutFinder<'_>,
) -> Result<(), &'static str> {
    let ((cost, best), others) = layouts.split_first().ok_or(NO_LAYOUT)?;
    let others = || others.iter().filter(|(_, other)| !other.is_same_table(best));
    let is_tied = others().any(|(other, layout)| layout.is_open && other.structure <= cost.structure);
    if best.is_open || is_tied {
        return Err(NOT_WHOLE);
    }
    let first = &best.groups[0].chunks;
    let has_variety = first.iter().any(|chunk| !finder.is_like(first[0].start, chunk.start));
    for (other, layout) in others() {
        let times = layout.columns / best.columns;
        let is_multiple = times > 1 && layout.columns.is_multiple_of(best.columns);
        // Columns that are all alike prove nothing by following each other.
        let is_less = has_variety && cost.is_far_less(other, best.groups.len());
        if !is_less || is_multiple && alternates(best, times, finder) {
            return Err(AMBIGUOUS);
        }
    }
    Ok(())
}

/// What a column is by all of its chunks: the likeliest levels and a width of values that fit all of them, and the surest
/// type.
fn joined(chunks: &[Rc<ChunkKind>]) -> Option<Guess> {
    let known = || chunks.iter().map(|kind| &kind.guesses).filter(|guesses| !guesses.is_empty());
    let fits = |a: &Guess, b: &Guess| {
        a.levels() == b.levels() && (a.is_blank || b.is_blank || a.physical.shape() == b.physical.shape())
    };
    let fits_all = |guess: &&Guess| known().all(|guesses| guesses.iter().any(|other| fits(guess, other)));
    let levels = known().flatten().find(fits_all)?.levels();
    let of_levels = || known().flatten().filter(|guess| guess.levels() == levels);
    let likeliest = |guess: &&Guess| (guess.is_blank, guess.confidence);
    let found = of_levels().filter(fits_all).min_by_key(likeliest)?;
    of_levels()
        .filter(|other| fits(found, other))
        .min_by_key(|guess| (guess.is_blank, guess.confidence, guess.physical == PhysicalType::Int32))
        .copied()
}

/// The elements of a column with these levels: lists outside, then what may be null.
fn push(name: &str, guess: &Guess, out: &mut Vec<SchemaElement>) {
    let mut leaf = column(name, guess.physical);
    let mut optional = guess.max_def - guess.max_rep.min(guess.max_def);
    for depth in 0..guess.max_rep {
        let name = if depth == 0 { name } else { "element" };
        let mut list = group(name, 1);
        annotate(&mut list, &crate::logical_type::LogicalType::List);
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

/// Columns of a schema that is put into the report though it is not taken.
const MOST_SUGGESTED: usize = 100;
const NO_LAYOUT: &str = "pages that make up no row groups of chunks of as many rows";
const NOT_ONE_KIND: &str = "chunks whose levels fit no column";
const TOO_MANY: &str = "pages that can be cut into columns in very many ways";
const NOT_WHOLE: &str = "pages of a row group of which nothing shows that all its columns are there";
const AMBIGUOUS: &str = "pages that can be cut into columns in several ways";
