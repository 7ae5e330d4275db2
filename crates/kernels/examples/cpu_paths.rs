//! Prints the code paths of this CPU, best first, one per line: the values of `BQNCO_CPU` that can be used here.
#![allow(clippy::print_stdout)] // its purpose

fn main() {
    bqnco_kernels::available_paths().iter().for_each(|path| println!("{path}"));
}
