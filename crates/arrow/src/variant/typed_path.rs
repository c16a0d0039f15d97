//! Extracts the values at a path from typed columns only, for all rows at once.

use crate::arrow_error;
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, BooleanArray, OffsetSizeTrait, StructArray, UInt64Array, new_null_array};
use arrow_buffer::{BooleanBuffer, NullBuffer};
use arrow_schema::DataType;
use arrow_select::nullif::nullif;
use arrow_select::take::take;
use marquetry_base::Result;
use marquetry_variant::Step;
use std::borrow::Cow;

/// The typed column of a path, for rows that have their value there, and the rows that may have it elsewhere.
pub(super) struct TypedRows {
    pub(super) values: ArrayRef,
    /// `None` if there are no such rows.
    pub(super) elsewhere: Option<BooleanBuffer>,
}

/// Returns the typed column of a path to one value, if it has the wanted type. PERF: does not read row by row.
///
/// A row whose `typed_value` is null may have the rest of the path in the `value` beside it. A row whose `typed_value`
/// has the next step does not.
pub(super) fn typed_rows(
    group: &StructArray,
    nulls: Option<&NullBuffer>,
    steps: &[Step],
    wanted: &DataType,
) -> Result<Option<TypedRows>> {
    let mut place = Place { group: Cow::Borrowed(group), nulls: nulls.cloned(), elsewhere: None };
    let mut goes_on = true;
    for step in steps {
        goes_on = match step {
            Step::Field(name) => place.enter_field(name),
            Step::Element(at) => match place.enter_element(*at)? {
                Some(goes_on) => goes_on,
                None => return Ok(None),
            },
            _ => return Ok(None),
        };
        if !goes_on {
            break;
        }
    }
    let len = group.len();
    if !goes_on {
        // Nothing of the path is shredded further.
        place.note_values(true);
        return Ok(Some(TypedRows { values: new_null_array(wanted, len), elsewhere: place.elsewhere }));
    }
    place.note_values(false);
    let typed = match place.group.column_by_name("typed_value") {
        Some(typed) if typed.data_type() == wanted => typed,
        Some(_) => return Ok(None),
        None => {
            return Ok(Some(TypedRows { values: new_null_array(wanted, len), elsewhere: place.elsewhere }));
        }
    };
    let all = NullBuffer::union(place.nulls.as_ref(), typed.nulls());
    // Rows that are null above are mostly null here, too. Then nulls need not be joined.
    let is_joined = all.as_ref().map_or(0, NullBuffer::null_count) == typed.null_count();
    let values = match (is_joined, &all) {
        (false, Some(all)) => nullif(typed, &BooleanArray::new(!all.inner(), None)).map_err(arrow_error)?,
        _ => typed.clone(),
    };
    let elsewhere = place.elsewhere.filter(|rows| rows.count_set_bits() > 0);
    Ok(Some(TypedRows { values, elsewhere }))
}

/// A group on the path, with one entry for each row of the column.
struct Place<'a> {
    group: Cow<'a, StructArray>,
    /// Which rows have the group.
    nulls: Option<NullBuffer>,
    /// Which rows have anything in a `value` so far.
    elsewhere: Option<BooleanBuffer>,
}

impl Place<'_> {
    /// Adds the rows with something in `value` and, unless `all` is set, nothing in `typed_value`.
    fn note_values(&mut self, all: bool) {
        let Some(values) =
            self.group.column_by_name("value").filter(|value| value.null_count() < value.len())
        else {
            return;
        };
        let typed = self.group.column_by_name("typed_value").filter(|_| !all);
        if typed.is_some_and(|typed| typed.null_count() == 0) {
            return;
        }
        let there = NullBuffer::union(self.nulls.as_ref(), values.nulls());
        let there = there.map_or_else(|| BooleanBuffer::new_set(values.len()), NullBuffer::into_inner);
        let there = match typed.and_then(|typed| typed.nulls()) {
            Some(nulls) => &there & &!nulls.inner(),
            None => there,
        };
        self.elsewhere = Some(match self.elsewhere.take() {
            Some(known) => &known | &there,
            None => there,
        });
    }

    /// Enters a shredded field. Returns `false` if there is none.
    fn enter_field(&mut self, name: &str) -> bool {
        fn field<'g>(group: &'g StructArray, name: &str) -> Option<(&'g StructArray, &'g StructArray)> {
            let typed = group.column_by_name("typed_value")?.as_struct_opt()?;
            Some((typed, typed.column_by_name(name)?.as_struct_opt()?))
        }
        // PERF: borrowed groups are not cloned.
        let (typed_nulls, next) = match &self.group {
            Cow::Borrowed(group) => match field(group, name) {
                Some((typed, field)) => (typed.nulls().cloned(), Cow::Borrowed(field)),
                None => return false,
            },
            Cow::Owned(group) => match field(group, name) {
                Some((typed, field)) => (typed.nulls().cloned(), Cow::Owned(field.clone())),
                None => return false,
            },
        };
        self.note_values(false);
        let nulls = NullBuffer::union(self.nulls.as_ref(), typed_nulls.as_ref());
        self.nulls = NullBuffer::union(nulls.as_ref(), next.nulls());
        self.group = next;
        true
    }

    /// Enters the element of a shredded list. Returns `false` if it is not a list, and `None` if its layout is not supported here.
    fn enter_element(&mut self, at: usize) -> Result<Option<bool>> {
        let Some(typed) = self.group.column_by_name("typed_value") else { return Ok(Some(false)) };
        let nulls = NullBuffer::union(self.nulls.as_ref(), typed.nulls());
        let (places, elements) = match typed.data_type() {
            DataType::List(_) => {
                let lists = typed.as_list::<i32>();
                (places_of(lists.value_offsets(), at, nulls.as_ref()), lists.values())
            }
            DataType::LargeList(_) => {
                let lists = typed.as_list::<i64>();
                (places_of(lists.value_offsets(), at, nulls.as_ref()), lists.values())
            }
            DataType::ListView(_) | DataType::LargeListView(_) => return Ok(None),
            _ => return Ok(Some(false)),
        };
        let Some(group) = elements.as_struct_opt() else { return Ok(Some(false)) };
        let (mut fields, mut columns) = (Vec::new(), Vec::new());
        for (field, column) in group.fields().iter().zip(group.columns()) {
            // PERF: columns without values are not taken.
            if column.null_count() < column.len() {
                fields.push(field.as_ref().clone().with_nullable(true));
                columns.push(take(column, &places, None).map_err(arrow_error)?);
            }
        }
        let nulls = match group.nulls() {
            Some(nulls) => {
                let there = BooleanArray::new(nulls.inner().clone(), None);
                let there = take(&there, &places, None).map_err(arrow_error)?;
                NullBuffer::union(places.nulls(), Some(&NullBuffer::new(there.as_boolean().values().clone())))
            }
            None => places.nulls().cloned(),
        };
        let group = StructArray::try_new_with_length(fields.into(), columns, None, places.len());
        let group = group.map_err(arrow_error)?;
        self.note_values(false);
        self.nulls = nulls;
        self.group = Cow::Owned(group);
        Ok(Some(true))
    }
}

/// Returns the position of element `at` of each list; null if the list has none.
fn places_of<O: OffsetSizeTrait>(offsets: &[O], at: usize, nulls: Option<&NullBuffer>) -> UInt64Array {
    let rows = offsets.len().saturating_sub(1);
    let places: Vec<u64> = offsets[..rows].iter().map(|start| (start.as_usize() + at) as u64).collect();
    let is_there = BooleanBuffer::collect_bool(rows, |row| places[row] < offsets[row + 1].as_usize() as u64);
    let is_there = match nulls {
        Some(nulls) => &is_there & nulls.inner(),
        None => is_there,
    };
    UInt64Array::new(places.into(), Some(NullBuffer::new(is_there)))
}
