//! Ctrl-C, SIGTERM and SIGHUP: long work ends soon, and cleanly.

use std::sync::{LazyLock, Once, OnceLock};
use std::time::{Duration, Instant};

use anyhow::Context;
use bqnco::CancelToken;

use crate::failure::Failure;

static TOKEN: LazyLock<CancelToken> = LazyLock::new(CancelToken::new);

/// Signals that follow each other this soon are one: `timeout` sends its signal to the process and to its group.
const ONE: Duration = Duration::from_secs(1);

/// Cancelled by SIGINT, SIGTERM and SIGHUP after [`catch`].
pub fn token() -> &'static CancelToken {
    &TOKEN
}

/// Tells the person where interrupted work stands.
pub fn unless_cancelled<T>(result: bqnco::Result<T>) -> Result<T, Failure> {
    match result {
        Err(bqnco::Error::Cancelled { done, total }) => {
            eprintln!("interrupted with {done} of {total} done; the same command goes on from there");
            Err(Failure::No)
        }
        result => Ok(result?),
    }
}

/// Cancels [`token`] at the first signal instead of ending the process; the second one ends it. May be called again.
pub fn catch() -> Result<(), Failure> {
    static CATCHING: Once = Once::new();
    let mut result = Ok(());
    CATCHING.call_once(|| {
        let first = OnceLock::new();
        result = ctrlc::set_handler(move || {
            token().cancel();
            if first.get_or_init(Instant::now).elapsed() > ONE {
                std::process::exit(130); // as shells say it of SIGINT; files are written whole or not at all
            }
        });
    });
    result.context("cannot catch Ctrl-C")?;
    Ok(())
}
