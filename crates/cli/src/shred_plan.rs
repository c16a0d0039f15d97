//! The shredding plan of VARIANT columns: from an option, or from a sample of rows.

use crate::args::{Shred, ShredArg};
use crate::failure::Failure;
use arrow_array::RecordBatch;
use arrow_schema::Schema;
use marquetry::errors::Error;
use marquetry::variant::{
    InferShreddingOptions, InferredShredding, Shredding, Shreddings, infer_shreddings, variant_columns,
};
use marquetry_core::predicate::names_of;
use marquetry_core::write::WriterProperties;
use serde_json::{Value, json};

/// What is to be done with each VARIANT column that options name.
#[derive(Debug, Default)]
pub(crate) struct ShredPlan {
    given: Shreddings,
    /// Columns whose shape is inferred from a sample.
    sampled: Vec<String>,
}

impl ShredPlan {
    /// Options that name a column take precedence over those for all columns, and later ones over earlier ones.
    pub(crate) fn new(args: &[ShredArg], schema: &Schema) -> Result<Self, Failure> {
        let columns = variant_columns(schema);
        let paths: Vec<Option<String>> =
            args.iter().map(|arg| arg.column.as_ref().map(|name| path_of(name, &columns))).collect();
        let args = || args.iter().zip(&paths);
        let is_shape =
            |arg: &ShredArg| matches!(&arg.wanted, Shred::As(shape) if *shape != Shredding::Variant);
        let missing = match paths.iter().flatten().find(|path| !columns.contains(path)) {
            Some(name) => Some(format!("no column of VARIANT is called {name}")),
            None if columns.is_empty() && args().any(|(arg, _)| is_shape(arg)) => {
                Some("no column of VARIANT is there".to_owned())
            }
            None => None,
        };
        if let Some(missing) = missing {
            let known = match columns.is_empty() {
                true => String::new(),
                false => format!("; there are: {}", columns.join(", ")),
            };
            return Err(Failure::Usage(format!("--shred: {missing}{known}")));
        }
        let mut plan = ShredPlan::default();
        for column in columns {
            let of_it = args().rev().find(|(_, path)| path.as_ref() == Some(&column));
            let of_it = of_it.or_else(|| args().rev().find(|(_, path)| path.is_none()));
            match of_it.map(|(arg, _)| &arg.wanted) {
                Some(Shred::Auto) => plan.sampled.push(column),
                Some(Shred::As(shape)) => plan.given = plan.given.with_column(column, shape.clone()),
                None => {}
            }
        }
        Ok(plan)
    }

    /// Whether a sample is needed to know the shapes.
    pub(crate) fn needs_sample(&self) -> bool {
        !self.sampled.is_empty()
    }

    /// Whether options say something about the column with this path.
    pub(crate) fn names(&self, path: &str) -> bool {
        self.given.get(path).is_some() || self.sampled.iter().any(|column| column == path)
    }

    /// The shapes of all columns, and what was inferred from the sample.
    pub(crate) fn complete(
        &self,
        sample: &[RecordBatch],
        properties: &WriterProperties,
    ) -> Result<(Shreddings, Vec<InferredShredding>), Error> {
        if !self.needs_sample() {
            return Ok((self.given.clone(), Vec::new()));
        }
        let columns: Vec<&str> = self.sampled.iter().map(String::as_str).collect();
        // Column settings are for the columns of the final file.
        let properties = WriterProperties::builder().set_compat(properties.compat()).build();
        let options = InferShreddingOptions::new();
        let inferred = infer_shreddings(sample, &columns, &options, Some(&properties))?;
        let mut shreddings = self.given.clone();
        for inferred in &inferred {
            let shape = inferred.shredding.clone().filter(|_| inferred.pays());
            shreddings = shreddings.with_column(&inferred.column, shape.unwrap_or(Shredding::Variant));
        }
        Ok((shreddings, inferred))
    }
}

/// The path of the column that a name refers to; parts may stand in double quotes.
fn path_of(name: &str, columns: &[String]) -> String {
    match columns.iter().any(|column| column == name) {
        true => name.to_owned(),
        false => names_of(name).join("."),
    }
}

/// What was inferred of a column, as a line of text.
pub(crate) fn told(inferred: &InferredShredding) -> String {
    let InferredShredding { column, shredding, unshredded_bytes, shredded_bytes, prunable, .. } = inferred;
    let Some(shape) = shredding else {
        return format!("{column} is not shredded: its values have nothing in common");
    };
    let prunes = match prunable.as_slice() {
        [] => String::new(),
        columns => format!(", parts of files are skipped by {}", columns.join(", ")),
    };
    let not = if inferred.pays() { "" } else { "not " };
    format!(
        "{column} is {not}shredded as {shape}: {shredded_bytes} bytes of the sample in place of {unshredded_bytes}{prunes}"
    )
}

/// What was inferred of a column, as JSON.
pub(crate) fn json_of(inferred: &InferredShredding) -> Value {
    json!({
        "column": inferred.column,
        "shape": inferred.shredding.as_ref().map(ToString::to_string),
        "is_shredded": inferred.pays(),
        "unshredded_bytes": inferred.unshredded_bytes,
        "shredded_bytes": inferred.shredded_bytes,
        "prunable": inferred.prunable,
    })
}

/// Rows and bytes of a sample.
pub(crate) const SAMPLE_ROWS: usize = 4096;
pub(crate) const SAMPLE_BYTES: usize = 64 << 20;
