//! Evaluates a predicate over decoded values: a bit for each row.

use super::blocks::VALUES_PER_BLOCK;
use super::bound::{BoundPredicate, Condition, Node, Test};
use super::condition::passes;
use super::leaf_values::{LeafValues, values_of};
use marquetry_base::{Error, Result};
use marquetry_encoding::dictionary::Dictionary;
use marquetry_encoding::{Bitmap, Values};

impl BoundPredicate {
    /// Returns which of `rows` rows are selected: those for which the predicate is true, and neither false nor unknown.
    ///
    /// `columns` must have at least the columns in [`leaves`](BoundPredicate::leaves). Fails if one is missing, has
    /// another number of rows, or not the type that the predicate was bound to.
    ///
    /// ```
    /// use marquetry_core::predicate::{LeafValues, col};
    /// use marquetry_core::schema::Schema;
    /// use marquetry_encoding::{Bitmap, Values};
    /// let schema = Schema::parse("message m { optional int32 a; }")?;
    /// let bound = col("a").gt(5).bind(&schema)?;
    /// let (values, validity) = (Values::W32(vec![4, 6, 0, 8]), Bitmap::from_iter([true, true, false, true]));
    /// let a = LeafValues::flat(&values, Some(&validity));
    /// assert_eq!(bound.evaluate(4, &[(0, a)])?, Bitmap::from_iter([false, true, false, true]));
    /// # Ok::<(), marquetry_base::Error>(())
    /// ```
    pub fn evaluate(&self, rows: usize, columns: &[(usize, LeafValues<'_>)]) -> Result<Bitmap> {
        match self.node() {
            Node::Is(condition) => condition.evaluate(leaf_of(rows, columns, condition.column)?),
            Node::Compares(compared) => compared.evaluate(
                leaf_of(rows, columns, compared.left.column)?,
                leaf_of(rows, columns, compared.right.column)?,
            ),
            Node::Nested(test) => test.evaluate(rows, columns),
            Node::And(parts) => fold(rows, columns, parts, true),
            Node::Or(parts) => fold(rows, columns, parts, false),
        }
    }
}

/// Returns the values of a column. Fails if there are not `rows` of them.
fn leaf_of<'a, 'b>(
    rows: usize,
    columns: &'a [(usize, LeafValues<'b>)],
    column: usize,
) -> Result<&'a LeafValues<'b>> {
    let leaf = values_of(columns, column)?;
    let len = leaf.values.len();
    if len != rows || leaf.validity.is_some_and(|validity| validity.len() != rows) {
        return Err(Error::argument(format!("{len} values of column {column} for {rows} rows")));
    }
    Ok(leaf)
}

/// Combines all parts with `and` or `or`. Once no row can change any more, the other parts are not evaluated.
fn fold(
    rows: usize,
    columns: &[(usize, LeafValues<'_>)],
    parts: &[BoundPredicate],
    is_and: bool,
) -> Result<Bitmap> {
    let mut out: Option<Bitmap> = None;
    for part in parts {
        let found = part.evaluate(rows, columns)?;
        match &mut out {
            None => out = Some(found),
            Some(out) if is_and => out.and(&found),
            Some(out) => out.or(&found),
        }
        let ones = out.as_ref().map_or(0, |bits| bits.count_ones(0..rows));
        if ones == if is_and { 0 } else { rows } {
            break;
        }
    }
    Ok(out.unwrap_or_else(|| {
        let mut bits = Bitmap::new();
        bits.push_run(is_and, rows);
        bits
    }))
}

impl Condition {
    /// Returns the rows for which the condition is true.
    fn evaluate(&self, leaf: &LeafValues<'_>) -> Result<Bitmap> {
        let rows = leaf.values.len();
        if self.test == Test::IsNull {
            let mut out = leaf.validity.cloned().unwrap_or_else(|| {
                let mut all = Bitmap::new();
                all.push_run(true, rows);
                all
            });
            if !self.is_negated {
                out.invert();
            }
            return Ok(out);
        }
        let mut out = match (&self.test, leaf.dictionary) {
            (Test::Box(asked), None) => asked.passes(&self.text, leaf.values, leaf.validity)?,
            (Test::Box(asked), Some(dictionary)) => {
                asked.look_up(&self.text, indices(leaf.values)?, dictionary, leaf.validity)?
            }
            (_, None) => passes(self, leaf.values)?,
            (_, Some(dictionary)) => self.look_up(indices(leaf.values)?, dictionary)?,
        };
        if self.is_negated {
            out.invert();
        }
        if let Some(validity) = leaf.validity {
            out.and(validity);
        }
        Ok(out)
    }

    /// Returns which values pass the test, before any negation.
    pub(crate) fn passes(&self, values: &Values) -> Result<Bitmap> {
        passes(self, values)
    }

    /// Tests the dictionary's entries, and looks up the rows.
    fn look_up(&self, keys: &[u32], dictionary: &Dictionary) -> Result<Bitmap> {
        if dictionary.values().len() > 2 * keys.len() {
            // There are few rows for a large dictionary.
            return passes(self, &dictionary.values_at(keys)?);
        }
        let entries = passes(self, dictionary.values())?;
        let table: Vec<u8> = (0..entries.len()).map(|i| u8::from(entries.get(i))).collect();
        let mut out = Bitmap::new();
        out.reserve(keys.len());
        let mut block = [0; VALUES_PER_BLOCK];
        for keys in keys.chunks(VALUES_PER_BLOCK) {
            let block = &mut block[..keys.len()];
            for (passes, key) in block.iter_mut().zip(keys) {
                // Null slots may have any index.
                *passes = table.get(*key as usize).copied().unwrap_or(0);
            }
            out.push_ge(block, 1);
        }
        Ok(out)
    }
}

fn indices(keys: &Values) -> Result<&[u32]> {
    match keys {
        Values::W32(keys) => Ok(keys),
        _ => Err(Error::argument("indices of a dictionary are 32-bit words")),
    }
}
