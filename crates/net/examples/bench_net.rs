//! Prints how fast networks run here: `cargo run --release -p bqnco-net --features bench --example bench_net`.
//!
//! Arguments: `modern` measures the modern body instead of the paper's; a number is the seconds per line.
#![allow(clippy::print_stdout)]

use bqnco_net::{Config, bench, device};
use bqnco_problems::Tsp;

fn main() -> Result<(), bqnco_net::NetError> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let modern = arguments.iter().any(|argument| argument == "modern");
    let config = if modern { Config::modern::<Tsp>() } else { Config::paper::<Tsp>() };
    let seconds = arguments.iter().find_map(|argument| argument.parse().ok()).unwrap_or(2.0);
    println!("{:<24} {:>10} {:>10}", "work", "ms", "GFLOP/s");
    for line in bench::measure(&config, seconds, &device("cpu")?)? {
        println!("{:<24} {:>10.2} {:>10.1}", line.work, line.milliseconds, line.gflops);
    }
    Ok(())
}
