//! Predicates as text.

use marquetry_core::predicate::{LeafValues, Predicate};
use marquetry_core::schema::Schema;
use marquetry_encoding::{Bitmap, Values};

/// Two columns of text, two of numbers, one whose name has a dot, and a list.
const SCHEMA: &str = "message m { optional binary a (STRING); optional binary b (STRING); optional int32 c; \
                      optional double d; optional int64 a.b; \
                      optional group e (LIST) { repeated group list { optional int32 element; } } }";

/// Text becomes a predicate, or an error; a printed predicate must parse again and mean the same; and what can be asked
/// of columns must be answered.
pub fn predicate_text(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let Ok(predicate) = Predicate::parse(text) else { return };
    let printed = predicate.to_string();
    let again = Predicate::parse(&printed).unwrap_or_else(|error| panic!("{printed}: {error}"));
    assert_eq!(again.to_string(), printed);
    let schema = Schema::parse(SCHEMA).expect("a schema");
    let (Ok(bound), Ok(again)) = (predicate.bind(&schema), again.bind(&schema)) else { return };
    let strings = |all: [&str; 5]| Values::Bytes(all.into_iter().collect());
    let (a, b) = (strings(["", "abc", "ABC%", "ö", "x_y"]), strings(["abc", "abc", "", "x", "aö"]));
    let c = Values::W32(vec![0, 1, u32::MAX, 7, 0]);
    let d = Values::W64([0.0, 1.0, f64::NAN, -7.5, -0.0f64].map(f64::to_bits).to_vec());
    let validity = Bitmap::from_iter([true, true, true, true, false]);
    let leaf = |values| LeafValues::flat(values, Some(&validity));
    let a_b = Values::W64(vec![0, 1, u64::MAX, 1 << 40, 0]);
    // [1, 2], null, [], [null], [-1]
    let (elements, are_there) =
        (Values::W32(vec![1, 2, 0, u32::MAX]), Bitmap::from_iter([true, true, false, true]));
    let (def, rep) = (&[3, 3, 0, 1, 2, 3][..], &[0, 1, 0, 0, 0, 0][..]);
    let e = LeafValues::flat(&elements, Some(&are_there)).with_levels(def, rep);
    let columns = [(0, leaf(&a)), (1, leaf(&b)), (2, leaf(&c)), (3, leaf(&d)), (4, leaf(&a_b)), (5, e)];
    let found = bound.evaluate(5, &columns).expect("values of the schema's types");
    assert_eq!(again.evaluate(5, &columns).ok(), Some(found), "{printed}");
}
