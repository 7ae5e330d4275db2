//! Converts a file of instances to another format: `convert IN OUT FORMAT`.

use std::error::Error;
use std::time::Instant;

use bqnco_io::{Decoded, Files, Format, ReadOptions, Source, decode, write, write_atomically};
use bqnco_problems::{Atsp, Cvrp, Knapsack, Op, Tsp};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [input, output, format] = &arguments[..] else { return Err("usage: convert IN OUT FORMAT".into()) };
    let format = Format::from_name(format).ok_or("an unknown format")?;
    let source = Source::open(input)?;
    let start = Instant::now();
    let decoded = decode(&source)?;
    let bytes = match decoded.detected.problem {
        "tsp" => convert::<Tsp>(decoded, format),
        "atsp" => convert::<Atsp>(decoded, format),
        "cvrp" => convert::<Cvrp>(decoded, format),
        "op" => convert::<Op>(decoded, format),
        _ => convert::<Knapsack>(decoded, format),
    }?;
    write_atomically(output, &bytes)?;
    eprintln!("{:?}", start.elapsed());
    Ok(())
}

fn convert<P: Files>(decoded: Decoded, format: Format) -> Result<Vec<u8>, Box<dyn Error>> {
    let start = Instant::now();
    let records = decoded.records::<P>(&ReadOptions::default())?;
    eprintln!("{} {} instances in {:?}", records.len(), P::NAME, start.elapsed());
    Ok(write::<P>(&records, format)?)
}
