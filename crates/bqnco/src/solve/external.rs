//! External solvers as experts.

use std::time::Duration;

use bqnco_experts::External;
use bqnco_io::{Record, Source, read_solution, write};

use crate::Builtin;

/// The time limit given to an external solver if the search has none.
const TIME: Duration = Duration::from_secs(10);

/// An expert that runs a command with placeholders, or LKH for `lkh:PROGRAM`, in the native formats of the problem.
pub fn solver<P: Builtin>(command: &str, time_limit: Option<Duration>) -> External<P> {
    let time_limit = time_limit.unwrap_or(TIME);
    let write = Box::new(|instance: &P::Instance| {
        let record = Record::<P>::new("instance", instance.clone());
        write::<P>(&[record], P::NATIVE.instance.0).expect("every problem has a format of its own")
    });
    let read = Box::new(|bytes: &[u8], instance: &P::Instance| {
        let solution = read_solution::<P>(&Source::new("the program's solution", bytes), instance);
        solution.map(|file| file.steps).map_err(|error| error.to_string())
    });
    if let Some(program) = command.strip_prefix("lkh:") {
        return External::lkh(program, time_limit, write, read);
    }
    let command: Vec<String> = command.split_whitespace().map(str::to_string).collect();
    External { command, files: Vec::new(), time_limit, write, read }
}
