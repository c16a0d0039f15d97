//! The benchmark cases, for both sides.

use crate::error::Result;
use crate::values::{Values, with_offsets};
use crate::walk;
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef};
use arrow_schema::{DataType, Field};
use marquetry_arrow::variant::{
    Shredder, VariantArrayBuilder, VariantCast, VariantColumn, VariantReader, variant_get,
};
use marquetry_variant::{Path, PrimitiveType};
use parquet_variant::{Variant as Theirs, VariantPath, VariantPathElement};
use parquet_variant_compute::{
    GetOptions, json_to_variant, shred_variant, unshred_variant, variant_get as their_variant_get,
    variant_to_json,
};
use std::sync::Arc;

/// A task that both sides do.
pub(crate) struct Case<'a> {
    pub(crate) name: String,
    pub(crate) ours: Work<'a>,
    pub(crate) theirs: Work<'a>,
}

/// Returns the result, in a comparable form.
pub(crate) type Work<'a> = Box<dyn Fn() -> Result<Found> + 'a>;

/// A result.
#[derive(Debug)]
pub(crate) enum Found {
    Number(u64),
    /// Compared by the texts of its values.
    Array(ArrayRef),
    /// VARIANT, not shredded.
    Variants(ArrayRef),
}

impl Found {
    /// The result as comparable texts. JSON numbers are doubles for the peer, and decimals for us.
    pub(crate) fn texts(&self) -> Result<Vec<Option<String>>> {
        let array = match self {
            Found::Number(number) => return Ok(vec![Some(number.to_string())]),
            Found::Array(array) => array.clone(),
            Found::Variants(array) => variant_get(array, &Path::default(), VariantCast::Json)?,
        };
        let text = arrow_cast::cast(&array, &DataType::Utf8)?;
        Ok(text.as_string::<i32>().iter().map(|text| text.map(str::to_owned)).collect())
    }
}

/// The tasks for each set.
pub(crate) fn of_set<'a>(set: &str, values: &'a Values) -> Vec<Case<'a>> {
    let case =
        |name: &str, ours: Work<'a>, theirs: Work<'a>| Case { name: format!("{set}: {name}"), ours, theirs };
    vec![
        case(
            "walk",
            Box::new(|| sum(values, walk_row)),
            Box::new(|| {
                let array = &values.their_plain;
                let sums = (0..array.len()).map(|row| walk::theirs(&array.value(row)));
                Ok(Found::Number(sums.fold(0, u64::wrapping_add)))
            }),
        ),
        case(
            "validate",
            Box::new(|| {
                sum(values, |rows, row| {
                    let Some(variant) = rows.get(row)? else { return Ok(0) };
                    variant.validate()?;
                    Ok(1)
                })
            }),
            Box::new(|| {
                let array = &values.their_plain;
                let (metadata, value) =
                    (array.metadata_column().as_binary_view(), array.value_column().as_binary_view());
                let mut count = 0;
                for row in 0..array.len() {
                    count += u64::from(
                        Theirs::try_new(metadata.value(row), value.value(row))?.is_fully_validated(),
                    );
                }
                Ok(Found::Number(count))
            }),
        ),
        case(
            "from JSON",
            Box::new(|| {
                let mut builder = VariantArrayBuilder::new();
                values.json.iter().flatten().try_for_each(|text| builder.append_json(text))?;
                Ok(Found::Variants(Arc::new(builder.finish()?)))
            }),
            Box::new(|| {
                let texts: ArrayRef = Arc::new(values.json.clone());
                Ok(Found::Variants(Arc::new(json_to_variant(&texts)?.into_inner())))
            }),
        ),
        case(
            "to JSON",
            Box::new(|| to_json(&values.plain)),
            Box::new(|| Ok(Found::Array(Arc::new(variant_to_json(&values.with_offsets)?)))),
        ),
        case(
            "unshred",
            Box::new(|| {
                Ok(Found::Variants(Arc::new(VariantColumn::try_new(&values.shredded)?.unshredded()?)))
            }),
            Box::new(|| Ok(Found::Variants(Arc::new(unshred_variant(&values.their_shredded)?.into_inner())))),
        ),
        case(
            "shredded to JSON",
            Box::new(|| to_json(&values.shredded)),
            Box::new(|| {
                let whole: ArrayRef = Arc::new(unshred_variant(&values.their_shredded)?.into_inner());
                Ok(Found::Array(Arc::new(variant_to_json(&with_offsets(&whole)?)?)))
            }),
        ),
    ]
}

/// Shredding by a shape; results are compared after reassembly.
pub(crate) fn of_shape<'a>(set: &str, shape: &str, values: &'a Values) -> Result<Case<'a>> {
    let shredder = Shredder::new(&shape.parse()?)?;
    let wanted = typed_of(values.shredded.data_type()).ok_or("nothing is shredded")?;
    let column = move || -> Result<Found> {
        let shredded = shredder.shred(&VariantColumn::try_new(&values.plain)?)?;
        Ok(Found::Array(Arc::new(shredded)))
    };
    Ok(Case {
        name: format!("{set}: shred"),
        ours: Box::new(column),
        theirs: Box::new(move || Ok(Found::Array(shred_variant(&values.their_plain, &wanted)?.into()))),
    })
}

/// The type that a shredded column was made for, without its groups.
fn typed_of(group: &DataType) -> Option<DataType> {
    let DataType::Struct(fields) = group else { return None };
    let typed = fields.find("typed_value")?.1.data_type();
    Some(match typed {
        DataType::Struct(fields) => DataType::Struct(
            fields
                .iter()
                .map(|field| Some(Field::new(field.name(), typed_of(field.data_type())?, true)))
                .collect::<Option<_>>()?,
        ),
        DataType::List(element) => {
            DataType::List(Arc::new(Field::new("item", typed_of(element.data_type())?, true)))
        }
        other => other.clone(),
    })
}

/// A path into values, not shredded and shredded.
pub(crate) fn of_path<'a>(
    set: &str,
    path: &str,
    kind: PrimitiveType,
    wanted: DataType,
    values: &'a Values,
) -> Result<Vec<Case<'a>>> {
    let steps: Path = path.parse()?;
    let their_path = VariantPath::try_from(path)?;
    let mut cases = Vec::new();
    for (form, array, their_array) in
        [("", &values.plain, &values.their_plain), (", shredded", &values.shredded, &values.their_shredded)]
    {
        let steps = steps.clone();
        let their_path = VariantPath::new(their_path.path().iter().map(owned).collect());
        let field = Arc::new(Field::new("found", wanted.clone(), true));
        let their_array: ArrayRef = their_array.clone().into();
        cases.push(Case {
            name: format!("{set}: {path}{form}"),
            ours: Box::new(move || Ok(Found::Array(variant_get(array, &steps, VariantCast::Type(kind))?))),
            theirs: Box::new(move || {
                let options = GetOptions::new_with_path(their_path.clone()).with_as_type(Some(field.clone()));
                Ok(Found::Array(their_variant_get(&their_array, options)?))
            }),
        });
    }
    Ok(cases)
}

fn owned(element: &VariantPathElement<'_>) -> VariantPathElement<'static> {
    match element {
        VariantPathElement::Field { name } => VariantPathElement::field(name.to_string()),
        VariantPathElement::Index { index } => VariantPathElement::index(*index),
    }
}

fn to_json(array: &ArrayRef) -> Result<Found> {
    Ok(Found::Array(variant_get(array, &Path::default(), VariantCast::Json)?))
}

fn sum(values: &Values, of_row: impl Fn(&mut VariantReader<'_, '_>, usize) -> Result<u64>) -> Result<Found> {
    let column = VariantColumn::try_new(&values.plain)?;
    let mut rows = column.reader();
    let mut sum = 0_u64;
    for row in 0..column.len() {
        sum = sum.wrapping_add(of_row(&mut rows, row)?);
    }
    Ok(Found::Number(sum))
}

fn walk_row(rows: &mut VariantReader<'_, '_>, row: usize) -> Result<u64> {
    rows.get(row)?.map_or(Ok(0), walk::ours)
}
