use super::*;
use std::time::Instant;
fn time(name: &str, array: ArrayRef) {
    let field = ArrowField::new("c", array.data_type().clone(), true);
    let mut shredder = Shredder::new(&field, &schema_of(&field), 0).unwrap();
    let mut out = Vec::new();
    let n = array.len();
    let mut best = f64::MAX;
    let mut entries = 0;
    for _ in 0..15 {
        let start = Instant::now();
        entries = 0;
        for first in (0..n).step_by(8192) {
            shredder.shred(&array, first..(first + 8192).min(n), &mut out).unwrap();
            entries += out.iter().map(|o| o.entries).sum::<usize>();
        }
        best = best.min(start.elapsed().as_secs_f64());
    }
    println!("{name:30} {:7.2} ns/row {:7.2} ns/entry", best * 1e9 / n as f64, best * 1e9 / entries as f64);
}
#[test]
#[ignore]
fn speed() {
    let n = 1 << 20;
    let r = |i: usize| (i as u64).wrapping_mul(0x9E3779B97F4A7C15).rotate_left(23).wrapping_mul(0xBF58476D1CE4E5B9);
    let ints = || Arc::new(Int64Array::from_iter_values((0..n).map(|i| r(i) as i64))) as ArrayRef;
    time("i64", ints());
    time("i64 10% null", Arc::new(Int64Array::from_iter((0..n).map(|i| (r(i) % 10 > 0).then_some(i as i64)))));
    time("i64 50% null", Arc::new(Int64Array::from_iter((0..n).map(|i| (r(i) >> 40 & 1 > 0).then_some(i as i64)))));
    time("i32 50% null", Arc::new(Int32Array::from_iter((0..n).map(|i| (r(i) >> 40 & 1 > 0).then_some(i as i32)))));
    time("i8", Arc::new(Int8Array::from_iter_values((0..n).map(|i| i as i8))));
    time("bool 50% null", Arc::new(BooleanArray::from_iter((0..n).map(|i| (r(i) >> 40 & 1 > 0).then_some(i % 3 == 0)))));
    let texts = |null: bool| (0..n).map(move |i| (!null || r(i) % 10 > 0).then(|| "abcdefghijklmnopqrstuvwxyz"[..(r(i) >> 33) as usize % 26].to_owned()));
    time("utf8", Arc::new(StringArray::from_iter(texts(false))));
    time("utf8 10% null", Arc::new(StringArray::from_iter(texts(true))));
    time("utf8view", Arc::new(StringViewArray::from_iter(texts(false))));
    time("decimal128(20)", Arc::new(Decimal128Array::from_iter_values((0..n).map(|i| r(i) as i128)).with_precision_and_scale(20, 2).unwrap()));
    time("decimal128(15)", Arc::new(Decimal128Array::from_iter_values((0..n).map(|i| (r(i) >> 20) as i128)).with_precision_and_scale(15, 2).unwrap()));
    let values = Arc::new(StringArray::from_iter_values((0..100).map(|i| i.to_string())));
    let keys = Int32Array::from_iter_values((0..n).map(|i| (r(i) >> 40) as i32 % 100));
    time("dictionary", Arc::new(DictionaryArray::<Int32Type>::new(keys, values)));
    let element = || field("element", DataType::Int64, true);
    let lengths: Vec<usize> = (0..n / 4).map(|i| (r(i) >> 40) as usize % 8).collect();
    let total: usize = lengths.iter().sum();
    let child = ints();
    let child = arrow_select::concat::concat(&[&child, &child]).unwrap().slice(0, total);
    time("list i64", list(element(), &lengths, child.clone(), None));
    time("list i64 nulls", list(element(), &lengths, child.clone(), Some((0..n / 4).map(|i| r(i) % 10 > 0).collect())));
    let structs = StructArray::new(
        vec![ArrowField::new("a", DataType::Int64, true), ArrowField::new("b", DataType::Int64, true)].into(),
        vec![child.clone(), child.clone()],
        Some((0..total).map(|i| r(i) % 10 > 0).collect::<Vec<_>>().into()),
    );
    let of = field("element", structs.data_type().clone(), true);
    time("list struct nulls", list(of, &lengths, Arc::new(structs.clone()), None));
    time("struct nulls", Arc::new(structs));
}
