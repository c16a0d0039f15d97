//! Values derived from an encrypted column, such as bounds, that would be stored where its key does not protect them.
//!
//! - A VARIANT is shredded into columns that have its values. A key for `v.value` by that name is not one for the
//!   others.
//! - The metadata of GeoParquet have a box around all geometries of a column. They are in the footer, in plaintext or
//!   under the footer key; in plaintext the box shows more than the owner of a column under the footer key wants.

use crate::logical_type::LogicalType;
use crate::schema::{Leaf, Node, NodeKind, Schema};
use marquetry_base::{Error, Result};
use marquetry_crypto::{ColumnEncryption, FileEncryptionProperties};
use marquetry_format::KeyValue;
use marquetry_geo::GeoParquet;
use marquetry_geo::geoparquet::KEY;
use std::collections::HashSet;

/// Fails if a column of a VARIANT would be protected less than the values beside it, unless the properties name that
/// column.
pub(super) fn check_variants(encryption: &FileEncryptionProperties, schema: &Schema) -> Result<()> {
    let has_own_key =
        |leaf: &Leaf| matches!(encryption.column(leaf.dotted()), ColumnEncryption::ColumnKey(..));
    if !schema.columns().iter().any(has_own_key) {
        return Ok(());
    }
    let mut variants = HashSet::new();
    add_variants(schema.fields(), "", &mut variants);
    if variants.is_empty() {
        return Ok(());
    }
    let unnamed = schema.columns().iter().filter(|leaf| !encryption.names(leaf.dotted()));
    for leaf in unnamed {
        let keyed = keyed_sibling(encryption, schema, leaf, &variants);
        if let Some((variant, beside)) =
            keyed.or_else(|| keyed_typed_value(encryption, schema, leaf, &variants))
        {
            return Err(Error::argument(format!(
                "it has values of {variant} and no key, and {beside} has one: give the key to {variant}, for all that it is stored in"
            ))
            .in_column(leaf.dotted().clone()));
        }
    }
    Ok(())
}

/// Collects the dotted paths of all VARIANTs.
fn add_variants(fields: &[Node], above: &str, variants: &mut HashSet<String>) {
    for field in fields {
        let NodeKind::Group(below) = field.kind() else { continue };
        let path = match above {
            "" => field.name().to_owned(),
            above => format!("{above}.{}", field.name()),
        };
        match field.logical() {
            Some(LogicalType::Variant { .. }) => _ = variants.insert(path),
            _ => add_variants(below, &path, variants),
        }
    }
}

/// For a column below a `typed_value`, returns its VARIANT and the `value` beside that `typed_value`, if the latter has
/// a key.
fn keyed_sibling<'a>(
    encryption: &FileEncryptionProperties,
    schema: &Schema,
    leaf: &'a Leaf,
    variants: &HashSet<String>,
) -> Option<(&'a str, String)> {
    let mut variant = None;
    for (name, path) in leaf.path().iter().zip(leaf.dotted_ancestors()) {
        let Some(variant) = variant else {
            variant = Some(path).filter(|path| variants.contains(*path));
            continue;
        };
        let Some(above) = path.strip_suffix("typed_value").filter(|_| &**name == "typed_value") else {
            continue;
        };
        let value = format!("{above}value");
        let has_key = matches!(encryption.column(&value), ColumnEncryption::ColumnKey(..));
        // A field of an object may have that name as well, but is a group.
        if has_key && schema.find(&value).is_some() {
            return Some((variant, value));
        }
    }
    None
}

/// For a `value`, returns its VARIANT and the `typed_value` beside it, if all columns of the latter have a key: `value`
/// has the values of other types.
fn keyed_typed_value<'a>(
    encryption: &FileEncryptionProperties,
    schema: &Schema,
    leaf: &'a Leaf,
    variants: &HashSet<String>,
) -> Option<(&'a str, String)> {
    let variant = leaf.dotted_ancestors().find(|path| variants.contains(*path))?;
    let above = leaf.dotted().strip_suffix("value").filter(|_| leaf.name() == "value")?;
    let typed = format!("{above}typed_value");
    let is_below =
        |path: &str| path.strip_prefix(&typed).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
    let mut below = schema.columns().iter().filter(|column| is_below(column.dotted())).peekable();
    below.peek()?;
    let have_keys =
        below.all(|column| matches!(encryption.column(column.dotted()), ColumnEncryption::ColumnKey(..)));
    have_keys.then_some((variant, typed))
}

/// Removes the boxes of hidden columns from the metadata of GeoParquet.
pub(super) fn hide_boxes(pairs: &mut [KeyValue], schema: &Schema, is_hidden: impl Fn(usize) -> bool) {
    for pair in pairs.iter_mut().filter(|pair| pair.key == KEY) {
        let shown = pair.value.as_deref().and_then(|json| without_boxes(json, schema, &is_hidden));
        if let Some(shown) = shown {
            pair.value = Some(shown.into());
        }
    }
}

/// Returns the metadata of GeoParquet, `geo`, without the boxes of hidden columns in a file of this schema: columns
/// with a key of their own, and with a plaintext footer all encrypted ones. `None` if there is nothing to remove.
///
/// A file writer does this with its own key-value metadata; the JSON may also be stored elsewhere.
///
/// ```
/// use marquetry_core::schema::Schema;
/// use marquetry_core::write::geo_without_hidden_boxes;
/// use marquetry_crypto::FileEncryptionProperties;
/// # #[cfg(feature = "encryption")] {
/// let schema = Schema::parse("message m { required binary geometry; }")?;
/// let encryption = FileEncryptionProperties::builder(b"0123456789012345".to_vec())
///     .with_column_key("geometry", b"1234567890123450".to_vec())
///     .build()?;
/// let geo = r#"{"columns":{"geometry":{"bbox":[1.0,2.0,3.0,4.0]}}}"#;
/// let shown = geo_without_hidden_boxes(geo, &schema, &encryption);
/// assert_eq!(shown.as_deref(), Some(r#"{"columns":{"geometry":{}}}"#));
/// # }
/// # Ok::<(), marquetry_base::Error>(())
/// ```
pub fn geo_without_hidden_boxes(
    geo: &str,
    schema: &Schema,
    encryption: &FileEncryptionProperties,
) -> Option<String> {
    without_boxes(geo, schema, &|leaf| match encryption.column(schema.column(leaf).dotted()) {
        ColumnEncryption::ColumnKey(..) => true,
        ColumnEncryption::FooterKey => encryption.has_plaintext_footer(),
        ColumnEncryption::Plain => false,
    })
}

fn without_boxes(geo: &str, schema: &Schema, is_hidden: &impl Fn(usize) -> bool) -> Option<String> {
    let mut geo = GeoParquet::parse(geo).ok()?;
    let is_in_hidden = |name: &str| {
        let root = schema.fields().iter().position(|field| field.name() == name);
        root.is_some_and(|root| schema.columns_of(root).any(is_hidden))
    };
    let with_box = geo.columns().filter(|(_, column)| column.fields().contains_key("bbox"));
    let hidden: Vec<String> =
        with_box.map(|(name, _)| name.to_owned()).filter(|name| is_in_hidden(name)).collect();
    if hidden.is_empty() {
        return None;
    }
    hidden.iter().for_each(|name| _ = geo.column_mut(name).remove("bbox"));
    Some(geo.to_json())
}
