#[test]
fn large() {
    let p = std::env::var("F").unwrap();
    let mut r = marquetry::open(p).unwrap().batch_size(1).batches().unwrap();
    while let Some(b) = r.next_batch() { println!("{:?}", b.map(|b| (b.num_rows(), b.get_array_memory_size()))); }
}
