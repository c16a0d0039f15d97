//! A dataset whose files are read by threads that may wait, or asynchronously.

use crate::column_name::quoted;
use crate::error::of;
use arrow_schema::SchemaRef;
use datafusion::error::{DataFusionError, Result};
use marquetry_arrow::async_reader::AsyncSource;
use marquetry_arrow::dataset::Dataset;
use marquetry_core::predicate::Predicate;
use std::collections::HashSet;
use tokio::task::spawn_blocking;

/// Either kind of dataset.
#[derive(Debug, Clone)]
pub(crate) enum AnyDataset {
    Blocking(Dataset),
    Async(Dataset<dyn AsyncSource>),
}

impl AnyDataset {
    /// At most so many parts.
    pub(crate) async fn split(self, parts: usize) -> Result<Vec<AnyDataset>> {
        match self {
            AnyDataset::Blocking(dataset) => {
                let parts = spawn_blocking(move || dataset.split(parts)).await;
                let parts = parts.map_err(|error| DataFusionError::External(Box::new(error)))?.map_err(of)?;
                Ok(parts.into_iter().map(AnyDataset::Blocking).collect())
            }
            AnyDataset::Async(dataset) => {
                let parts = dataset.split(parts).await.map_err(of)?;
                Ok(parts.into_iter().map(AnyDataset::Async).collect())
            }
        }
    }

    /// The rows of which these are true, with these columns of the schema and those that the predicates ask about.
    pub(crate) fn filtered(&self, schema: &SchemaRef, columns: &[usize], predicates: Vec<Predicate>) -> Self {
        match self {
            AnyDataset::Blocking(dataset) => {
                AnyDataset::Blocking(filtered(dataset, schema, columns, predicates))
            }
            AnyDataset::Async(dataset) => AnyDataset::Async(filtered(dataset, schema, columns, predicates)),
        }
    }

    pub(crate) fn batch_size(self, rows: usize) -> Self {
        match self {
            AnyDataset::Blocking(dataset) => AnyDataset::Blocking(dataset.batch_size(rows)),
            AnyDataset::Async(dataset) => AnyDataset::Async(dataset.batch_size(rows)),
        }
    }

    pub(crate) fn limit(self, rows: usize) -> Self {
        match self {
            AnyDataset::Blocking(dataset) => AnyDataset::Blocking(dataset.limit(rows)),
            AnyDataset::Async(dataset) => AnyDataset::Async(dataset.limit(rows)),
        }
    }

    pub(crate) fn num_files(&self) -> usize {
        match self {
            AnyDataset::Blocking(dataset) => dataset.files().len(),
            AnyDataset::Async(dataset) => dataset.files().len(),
        }
    }
}

fn filtered<S: ?Sized>(
    dataset: &Dataset<S>,
    schema: &SchemaRef,
    columns: &[usize],
    predicates: Vec<Predicate>,
) -> Dataset<S> {
    let names: Vec<String> = schema.fields().iter().map(|field| quoted(field.name())).collect();
    // A part has to know all columns that it is asked about.
    let mut read: Vec<&String> = columns.iter().map(|index| &names[*index]).collect();
    for predicate in &predicates {
        let asked = predicate.columns();
        read.extend(names.iter().filter(|name| asked.contains(&name.as_str())));
    }
    let mut seen = HashSet::new();
    read.retain(|name| seen.insert(*name));
    predicates.into_iter().fold(dataset.clone().columns(read), Dataset::also_filter)
}
