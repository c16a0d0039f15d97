use arrow_schema::{DataType, Field, Schema};
use marquetry::arrow::arrow_reader::{ArrowReaderOptions, ParquetRecordBatchReaderBuilder};
use std::sync::Arc;
use std::time::Instant;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let times: usize = args[2].parse()?;
    let file = bytes::Bytes::from(std::fs::read(&args[0])?);
    let mut best = f64::MAX;
    for _ in 0..times {
        let t = Instant::now();
        let mut options = ArrowReaderOptions::new();
        let read_as = |ty: DataType| {
            options.clone().with_schema(Arc::new(Schema::new(vec![Field::new("value", ty, true)])))
        };
        match args[1].as_str() {
            "view" => options = read_as(DataType::Utf8View),
            "keys" => {
                options = read_as(DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8)))
            }
            _ => {}
        }
        let reader = ParquetRecordBatchReaderBuilder::try_new_with_options(file.clone(), options)?
            .with_batch_size(8192)
            .build()?;
        let mut rows = 0;
        for batch in reader {
            rows += batch?.num_rows();
        }
        let e = t.elapsed().as_secs_f64();
        best = best.min(e / rows as f64);
    }
    println!("{:.3} M rows/s", 1e-6 / best);
    Ok(())
}
