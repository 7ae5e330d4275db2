//! A program of the user's as an expert: an LKH or PyVRP installation, a script, anything that reads an instance file
//! and writes a solution file.

use std::fs::{self, File};
use std::io::{ErrorKind, Read, Seek, SeekFrom};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use bqnco_core::{Effort, Expert, ExpertError, Problem, Solution, Stop};

/// How often a running program is looked at.
const POLL: Duration = Duration::from_millis(5);
/// How much of the end of the program's error output an error message quotes.
const QUOTED_BYTES: i64 = 2000;
const QUOTED_LINES: usize = 5;

/// Writes an instance in the format that the program reads.
pub type Write<P> = dyn Fn(&<P as bqnco_core::SolutionSpace>::Instance) -> Vec<u8> + Send + Sync;
/// Reads the program's solution file, or says what is wrong with it.
pub type Read_<P> = ();

/// An expert that runs a program.
pub struct External<P: Problem> {
    _p: std::marker::PhantomData<P>,
}
