//! Collects findings: keeps a limited number for each rule, and counts the rest.

use crate::options::VerifyOptions;
use crate::rule::{Rule, UNCHECKED};
use marquetry_base::{Error, ErrorKind, ErrorLocation, Result};
use std::sync::Arc;

/// A place in the file that breaks a rule.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Finding {
    /// The rule that is broken.
    pub rule: &'static Rule,
    /// Where it is broken.
    pub place: ErrorLocation,
    /// A description of what is there, and of what should be.
    pub message: String,
}

/// The rules that are checked, and the maximum number of findings that are kept of each.
#[derive(Debug)]
pub(crate) struct RuleFilter {
    rules: &'static [Rule],
    wanted: Vec<bool>,
    most: usize,
}

impl RuleFilter {
    /// Selects rules of a table by the options. Fails if these name a rule that is not in the table.
    pub(crate) fn new(rules: &'static [Rule], options: &VerifyOptions) -> Result<Self> {
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

/// The findings in one part of a file.
#[derive(Debug)]
pub(crate) struct Findings {
    filter: Arc<RuleFilter>,
    /// Findings with the indexes of their rules.
    found: Vec<(usize, Finding)>,
    /// Number of findings of each rule in `found`.
    kept: Vec<usize>,
    /// Number of all findings of each rule.
    counts: Vec<u64>,
    /// The error of the source, after which checks stop.
    failed: Option<Error>,
}

impl Findings {
    pub(crate) fn new(filter: &Arc<RuleFilter>) -> Self {
        Findings {
            filter: filter.clone(),
            found: Vec::new(),
            kept: vec![0; filter.rules.len()],
            counts: vec![0; filter.rules.len()],
            failed: None,
        }
    }

    /// Counts a finding. Keeps it if its rule is selected and does not have too many yet.
    pub(crate) fn add(&mut self, rule: &Rule, place: ErrorLocation, message: impl FnOnce() -> String) {
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

    /// Adds an error of a lower layer as a finding of `rule`, or of [`UNCHECKED`] if the part is encrypted or of an
    /// unknown kind. Errors of the source are not findings.
    pub(crate) fn add_error(&mut self, rule: &Rule, place: ErrorLocation, error: Error) {
        if error.stops_reading() {
            self.failed.get_or_insert(error);
            return;
        }
        let rule = match error.kind() {
            ErrorKind::Unsupported | ErrorKind::Key | ErrorKind::Memory => &UNCHECKED,
            _ => rule,
        };
        let (inner, mut place) = (error.place(), place);
        place.page = inner.page.or(place.page);
        place.offset = inner.offset.or(place.offset);
        place.column = place.column.or_else(|| inner.column.clone());
        self.add(rule, place, || error.message().to_owned());
    }

    /// Creates an empty collection for the same rules.
    pub(crate) fn new_like(&self) -> Self {
        Findings::new(&self.filter)
    }

    /// Appends the findings of another part.
    pub(crate) fn append(&mut self, other: Findings) {
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

    /// Whether the source failed.
    pub(crate) fn has_failed(&self) -> bool {
        self.failed.is_some()
    }

    /// Returns the findings, and the number of those not kept, by rule. Fails if the source failed.
    #[expect(clippy::type_complexity, reason = "taken apart at once")]
    pub(crate) fn finish(self) -> Result<(Vec<Finding>, Vec<(&'static Rule, u64)>)> {
        if let Some(error) = self.failed {
            return Err(error);
        }
        let more = self.counts.iter().zip(&self.kept).map(|(count, kept)| count.saturating_sub(*kept as u64));
        let omitted = self.filter.rules.iter().zip(more).filter(|(_, more)| *more > 0).collect();
        Ok((self.found.into_iter().map(|(_, finding)| finding).collect(), omitted))
    }
}

/// Returns the index of a rule in its table.
fn number(rules: &[Rule], id: &str) -> Option<usize> {
    rules.iter().position(|rule| rule.id == id)
}
