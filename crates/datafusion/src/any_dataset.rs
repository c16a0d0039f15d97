//! A dataset of either kind: local files that threads read, or a store that is read asynchronously.

use crate::column_name::quoted;
use crate::error::of;
use arrow_schema::SchemaRef;
use datafusion::common::internal_err;
use datafusion::error::Result;
use marquetry_arrow::async_reader::AsyncSource;
use marquetry_arrow::dataset::Dataset;
use marquetry_core::predicate::Predicate;
use std::collections::HashSet;

/// A dataset of either kind, evolved: its schema is known, so that queries read no footers for it.
#[derive(Debug, Clone)]
pub(crate) enum AnyDataset {
    Blocking(Dataset),
    Async(Dataset<dyn AsyncSource>),
}

impl AnyDataset {
    /// Splits the dataset into at most `parts` parts.
    pub(crate) async fn split(self, parts: usize) -> Result<Vec<AnyDataset>> {
        match self {
            AnyDataset::Blocking(dataset) => {
                let parts = dataset.split(parts).map_err(of)?;
                Ok(parts.into_iter().map(AnyDataset::Blocking).collect())
            }
            AnyDataset::Async(dataset) => {
                let parts = dataset.split(parts).await.map_err(of)?;
                Ok(parts.into_iter().map(AnyDataset::Async).collect())
            }
        }
    }

    /// Adds the predicates, and projects to these columns of the schema and those that the predicates name.
    pub(crate) fn filtered(
        &self,
        schema: &SchemaRef,
        columns: &[usize],
        predicates: Vec<Predicate>,
    ) -> Result<Self> {
        Ok(match self {
            AnyDataset::Blocking(dataset) => {
                AnyDataset::Blocking(filtered(dataset, schema, columns, predicates)?)
            }
            AnyDataset::Async(dataset) => AnyDataset::Async(filtered(dataset, schema, columns, predicates)?),
        })
    }

    /// Reads the dataset as the columns of `schema`.
    pub(crate) fn with_schema(self, schema: &SchemaRef) -> Result<Self> {
        Ok(match self {
            AnyDataset::Blocking(dataset) => AnyDataset::Blocking(with_schema(dataset, schema)?),
            AnyDataset::Async(dataset) => AnyDataset::Async(with_schema(dataset, schema)?),
        })
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

fn with_schema<S: ?Sized>(dataset: Dataset<S>, schema: &SchemaRef) -> Result<Dataset<S>> {
    let Some(evolution) = dataset.evolution().cloned() else {
        return internal_err!("the dataset is not evolved");
    };
    Ok(dataset.evolve(evolution.with_schema(schema.clone())))
}

fn filtered<S: ?Sized>(
    dataset: &Dataset<S>,
    schema: &SchemaRef,
    columns: &[usize],
    predicates: Vec<Predicate>,
) -> Result<Dataset<S>> {
    let Some(evolution) = dataset.evolution() else { return internal_err!("the dataset is not evolved") };
    // A part must have all columns that its predicates name.
    let mut read = columns.to_vec();
    for predicate in &predicates {
        let named = predicate.columns();
        let names = schema.fields().iter().map(|field| quoted(field.name()));
        read.extend(
            names.enumerate().filter(|(_, name)| named.contains(&name.as_str())).map(|(index, _)| index),
        );
    }
    let mut seen = HashSet::new();
    read.retain(|index| seen.insert(*index));
    let dataset = dataset.clone().evolve(evolution.clone().project(&read)?);
    Ok(predicates.into_iter().fold(dataset, Dataset::also_filter))
}
