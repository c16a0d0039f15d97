mod cells;
#[test]
fn large() {
    for p in std::env::var("F").unwrap().split(',') {
    let f = marquetry::open(p).unwrap(); println!("{p} {}", f.metadata().schema());
    let mut r = f.batches().unwrap();
    let c = cells::columns(std::iter::from_fn(|| r.next_batch()));
    match c { Ok(c) => for c in c { println!("{} {:?}", c.len(), &c[..c.len().min(6)]); }, Err(e) => println!("{e}") }
    }
}
