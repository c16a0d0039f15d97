//! Whether all values of a column have a form that another type has.

use super::new_type::{NewType, parse_uuid};
use arrow_array::ArrayRef;
use arrow_array::cast::AsArray;
use arrow_array::types::{Int64Type, UInt64Type};
use arrow_cast::cast;
use arrow_schema::DataType;
use marquetry_base::datetime_text::date;
use marquetry_variant::json;

/// What the values so far have in common.
#[derive(Debug, Clone)]
pub(super) enum ValueForm {
    /// Integers within a range.
    Integers {
        least: i64,
        greatest: i64,
        seen: u64,
    },
    /// Unsigned integers up to a maximum.
    Unsigned {
        greatest: u64,
        seen: u64,
    },
    Texts(TextForms),
}

/// The forms that all texts so far have.
#[derive(Debug, Clone)]
pub(super) struct TextForms {
    seen: u64,
    is_integer: bool,
    is_date: bool,
    is_uuid: bool,
    is_boolean: bool,
    is_json: bool,
    /// Maximum number of digits before the point, and the number of digits behind it in all texts. `None` if that
    /// differs.
    decimal: Option<(usize, Option<usize>)>,
}

/// What a column could become.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Wanted {
    Type(NewType),
    Json,
}

impl ValueForm {
    /// Creates the form of a column, if its type may be too wide.
    pub(super) fn of(data_type: &DataType) -> Option<Self> {
        Some(match data_type {
            DataType::Int64 => ValueForm::Integers { least: i64::MAX, greatest: i64::MIN, seen: 0 },
            DataType::UInt64 => ValueForm::Unsigned { greatest: 0, seen: 0 },
            DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => ValueForm::Texts(TextForms {
                seen: 0,
                is_integer: true,
                is_date: true,
                is_uuid: true,
                is_boolean: true,
                is_json: true,
                decimal: Some((0, None)),
            }),
            _ => return None,
        })
    }

    /// Adds more values. Returns whether any type may still fit.
    pub(super) fn add(&mut self, array: &ArrayRef) -> bool {
        match self {
            ValueForm::Integers { least, greatest, seen } => {
                for value in array.as_primitive::<Int64Type>().iter().flatten() {
                    (*least, *greatest, *seen) = (value.min(*least), value.max(*greatest), *seen + 1);
                }
            }
            ValueForm::Unsigned { greatest, seen } => {
                for value in array.as_primitive::<UInt64Type>().iter().flatten() {
                    (*greatest, *seen) = (value.max(*greatest), *seen + 1);
                }
            }
            ValueForm::Texts(forms) => {
                let Ok(texts) = cast(array, &DataType::Utf8View) else { return false };
                texts.as_string_view().iter().flatten().all(|text| forms.add(text));
            }
        }
        self.is_open()
    }

    fn is_open(&self) -> bool {
        match self {
            ValueForm::Texts(forms) => forms.is_open(),
            form => form.seen() == 0 || form.wanted().is_some(),
        }
    }

    fn seen(&self) -> u64 {
        match self {
            ValueForm::Integers { seen, .. } | ValueForm::Unsigned { seen, .. } => *seen,
            ValueForm::Texts(forms) => forms.seen,
        }
    }

    /// Returns the type that fits all values so far, or `None` if there were no values.
    pub(super) fn wanted(&self) -> Option<Wanted> {
        if self.seen() == 0 {
            return None;
        }
        match self {
            ValueForm::Integers { least, greatest, .. } => {
                let fits = i32::try_from(*least).is_ok() && i32::try_from(*greatest).is_ok();
                fits.then_some(Wanted::Type(NewType::Int32))
            }
            ValueForm::Unsigned { greatest, .. } => {
                u32::try_from(*greatest).is_ok().then_some(Wanted::Type(NewType::UInt32))
            }
            ValueForm::Texts(forms) => forms.wanted(),
        }
    }
}

impl TextForms {
    fn add(&mut self, text: &str) -> bool {
        self.seen += 1;
        self.is_integer = self.is_integer && text.parse::<i64>().is_ok_and(|value| value.to_string() == text);
        // Years beyond four digits are written in another form.
        self.is_date = self.is_date && text.len() == 10 && date(text).is_some();
        self.is_uuid = self.is_uuid && parse_uuid(text).is_some();
        self.is_boolean = self.is_boolean && matches!(text, "true" | "false");
        // Numbers and words are JSON, too, but gain nothing by it.
        self.is_json = self.is_json && text.starts_with(['{', '[']) && json::parse(text).is_ok();
        self.decimal = self.decimal.and_then(|known| with_decimal(known, text));
        self.is_open()
    }

    fn is_open(&self) -> bool {
        self.is_integer
            || self.is_date
            || self.is_uuid
            || self.is_boolean
            || self.is_json
            || self.decimal.is_some()
    }

    fn wanted(&self) -> Option<Wanted> {
        Some(match self.decimal {
            _ if self.is_boolean => Wanted::Type(NewType::Boolean),
            _ if self.is_integer => Wanted::Type(NewType::Int64),
            _ if self.is_date => Wanted::Type(NewType::Date),
            _ if self.is_uuid => Wanted::Type(NewType::Uuid),
            _ if self.is_json => Wanted::Json,
            Some((before, Some(scale @ 1..))) => {
                Wanted::Type(NewType::Decimal { precision: (before + scale) as u8, scale: scale as u8 })
            }
            _ => return None,
        })
    }
}

/// Adds a decimal to the form. Returns `None` if the text is not a decimal, or would not be restored as the same text.
fn with_decimal((most, scale): (usize, Option<usize>), text: &str) -> Option<(usize, Option<usize>)> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let (before, behind) = digits.split_once('.')?;
    let are_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let is_plain = before == "0" || !before.starts_with('0');
    let is_negative_zero = text.starts_with('-') && digits.bytes().all(|byte| matches!(byte, b'0' | b'.'));
    let most = most.max(before.len());
    let fits = are_digits(before) && are_digits(behind) && is_plain && !is_negative_zero;
    let is_same = scale.is_none_or(|scale| scale == behind.len());
    (fits && is_same && most + behind.len() <= 38).then_some((most, Some(behind.len())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::{Int64Array, StringArray};
    use std::sync::Arc;

    fn of_texts(texts: &[&str]) -> Option<Wanted> {
        let array: ArrayRef = Arc::new(StringArray::from(texts.to_vec()));
        let mut form = ValueForm::of(array.data_type()).unwrap();
        form.add(&array);
        form.wanted()
    }

    #[test]
    fn text_of_one_form_is_known() {
        let new = |new| Some(Wanted::Type(new));
        assert_eq!(of_texts(&["1", "-20"]), new(NewType::Int64));
        assert_eq!(of_texts(&["2024-01-31", "1969-12-31"]), new(NewType::Date));
        assert_eq!(of_texts(&["01234567-89ab-cdef-0123-456789abcdef"]), new(NewType::Uuid));
        assert_eq!(of_texts(&["0.50", "-12.25"]), new(NewType::Decimal { precision: 4, scale: 2 }));
        assert_eq!(of_texts(&["true", "false"]), new(NewType::Boolean));
        assert_eq!(of_texts(&["{\"a\": 1}", "[]"]), Some(Wanted::Json));
    }

    #[test]
    fn what_would_come_back_otherwise_stays_text() {
        for texts in [
            &["1", "02"][..],
            &["+1"],
            &["2024-01-31", "2024-1-31"],
            &["2024-02-30"],
            &["1.5", "1.25"],
            &["-0.0"],
            &["00.5"],
            &["{"],
            &["name"],
            &["1", "x"],
            &[""],
            &[],
        ] {
            assert_eq!(of_texts(texts), None, "{texts:?}");
        }
    }

    #[test]
    fn integers_are_as_wide_as_the_widest() {
        let of = |values: Vec<i64>| {
            let array: ArrayRef = Arc::new(Int64Array::from(values));
            let mut form = ValueForm::of(array.data_type()).unwrap();
            (form.add(&array), form.wanted())
        };
        assert_eq!(of(vec![i64::from(i32::MIN), 5]), (true, Some(Wanted::Type(NewType::Int32))));
        assert_eq!(of(vec![1 << 31]), (false, None));
        assert_eq!(of(vec![]), (true, None));
    }
}
