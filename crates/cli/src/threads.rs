//! The number of threads.

use anyhow::Context;
use bqnco::MAX_THREADS;
use clap::Args;

use crate::failure::Failure;

/// The option `--threads`.
#[derive(Args, Clone, Default)]
pub struct Threads {
    /// Threads to use (default: all cores).
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=MAX_THREADS as i64))]
    threads: Option<u16>,
}

impl Threads {
    /// Starts the global thread pool.
    pub fn start(&self) -> Result<(), Failure> {
        if let Some(threads) = self.threads {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads.into());
            pool.build_global().context("cannot start threads")?;
        }
        Ok(())
    }
}
