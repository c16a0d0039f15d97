//! What was found: kept up to a number for each rule, counted beyond it.

use super::options::VerifyOptions;
use super::rule::{Rule, UNCHECKED};
use marquetry_base::{Error, ErrorKind, ErrorLocation, Result};

/// A rule that is broken somewhere.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    /// The rule.
    pub rule: &'static Rule,
    /// Where.
    pub place: ErrorLocation,
    /// What is there and what should be.
    pub message: String,
}

/// Which rules are looked at, and how many findings of each are kept.
#[derive(Debug)]
pub(super) struct RuleFilter {
    rules: &'static [Rule],
    wanted: Vec<bool>,
    most: usize,
}

impl RuleFilter {
    /// The rules of a table that the options ask for. Fails if they name one that is not in it.
    pub(super) fn new(rules: &'static [Rule], options: &VerifyOptions) -> Result<Self> {
        let number_of = |id: &String| {
            number(rules, id)
                .ok_or_else(|| Error::argument(format!("no rule is called {id}: see the list of rules")))
        };
        let mut wanted = vec![options.rules.is_none(); rules.len()];
        for id in options.rules.iter().flatten() {
            wanted[number_of(id)?] = true;
        }
        for id in &options.ignore {
            wanted[number_of(id)?] = false;
        }
        Ok(RuleFilter { rules, wanted, most: options.findings_per_rule })
    }
}

/// Collects what is found in one part of a file.
#[derive(Debug)]
pub(super) struct Findings<'a> {
    filter: &'a RuleFilter,
    /// With the numbers of their rules.
    found: Vec<(usize, Finding)>,
    /// How many of each rule are in `found`.
    kept: Vec<usize>,
    /// How many there were of each rule.
    counts: Vec<u64>,
    /// Reading failed: there is no use in going on.
    failed: Option<Error>,
}

impl<'a> Findings<'a> {
    pub(super) fn new(filter: &'a RuleFilter) -> Self {
        Findings {
            filter,
            found: Vec::new(),
            kept: vec![0; filter.rules.len()],
            counts: vec![0; filter.rules.len()],
            failed: None,
        }
    }

    /// Adds a finding, unless its rule is not wanted, or was broken often enough.
    pub(super) fn add(&mut self, rule: &Rule, place: ErrorLocation, message: impl FnOnce() -> String) {
        let Some(number) = number(self.filter.rules, rule.id).filter(|number| self.filter.wanted[*number])
        else {
            return;
        };
        self.counts[number] += 1;
        if self.kept[number] < self.filter.most {
            self.kept[number] += 1;
            self.found
                .push((number, Finding { rule: &self.filter.rules[number], place, message: message() }));
        }
    }

    /// Adds an error that a lower layer met. It breaks `rule`, unless it says that this build cannot know.
    pub(super) fn add_error(&mut self, rule: &Rule, place: ErrorLocation, error: Error) {
        let rule = match error.kind() {
            ErrorKind::Io => {
                self.failed.get_or_insert(error);
                return;
            }
            ErrorKind::Unsupported | ErrorKind::Key => &UNCHECKED,
            _ => rule,
        };
        let inner = error.place();
        let place = ErrorLocation {
            page: inner.page.or(place.page),
            offset: inner.offset.or(place.offset),
            column: place.column.or_else(|| inner.column.clone()),
            ..place
        };
        self.add(rule, place, || error.message().to_owned());
    }

    /// Adds what another part has, behind what is there.
    pub(super) fn append(&mut self, other: Findings<'_>) {
        for (number, finding) in other.found {
            if self.kept[number] < self.filter.most {
                self.kept[number] += 1;
                self.found.push((number, finding));
            }
        }
        self.counts.iter_mut().zip(other.counts).for_each(|(ours, theirs)| *ours += theirs);
        if let Some(error) = other.failed {
            self.failed.get_or_insert(error);
        }
    }

    /// Whether reading failed.
    pub(super) fn has_failed(&self) -> bool {
        self.failed.is_some()
    }

    /// The findings, and how many more of each rule there were. Fails if reading did.
    #[expect(clippy::type_complexity, reason = "taken apart at once")]
    pub(super) fn finish(self) -> Result<(Vec<Finding>, Vec<(&'static Rule, u64)>)> {
        if let Some(error) = self.failed {
            return Err(error);
        }
        let more = self.counts.iter().zip(&self.kept).map(|(count, kept)| count.saturating_sub(*kept as u64));
        let omitted = self.filter.rules.iter().zip(more).filter(|(_, more)| *more > 0).collect();
        Ok((self.found.into_iter().map(|(_, finding)| finding).collect(), omitted))
    }
}

/// The number of a rule in its table.
fn number(rules: &[Rule], id: &str) -> Option<usize> {
    rules.iter().position(|rule| rule.id == id)
}
