//! An external solver as an expert: an LKH or PyVRP installation, a script, any program that reads an instance file and
//! writes a solution file.

mod running;

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use bqnco_core::{Effort, Expert, ExpertError, Improved, Problem, Solution, SolutionSpace, no_worse};

use self::running::{End, Running};

/// Grace period after the time limit, for the program to finish a round and write its solution.
const GRACE: Duration = Duration::from_secs(2);
/// Number of lines of the program's standard error that an error message quotes.
const QUOTED_LINES: usize = 5;
/// The most bytes that a program may print, or write as its solution: far more than any solution has.
const MOST_BYTES: u64 = 64 << 20;

/// Writes an instance in the format that the program reads.
pub type WriteInstance<P> = Box<dyn Fn(&<P as SolutionSpace>::Instance) -> Vec<u8> + Send + Sync>;

/// Reads the program's solution file; the error describes what is wrong with it.
pub type ReadSolution<P> = Box<
    dyn Fn(&[u8], &<P as SolutionSpace>::Instance) -> Result<Vec<<P as SolutionSpace>::Step>, String> + Send + Sync,
>;

/// An expert that runs a program in its own scratch folder.
///
/// Arguments and files may contain placeholders: `{instance}`, `{solution}` (paths of the two files), `{folder}` (the
/// scratch folder), `{seconds}` (the time limit) and `{seed}` (31 bits). A program whose arguments do not contain
/// `{solution}` is expected to print its solution. [`Effort::rounds`] has no effect.
pub struct External<P: Problem> {
    /// The program and its arguments; no shell is involved.
    pub command: Vec<String>,
    /// Additional files that the program needs in the scratch folder: name and content.
    pub files: Vec<(String, String)>,
    /// The value of `{seconds}`. The program is killed with all it has started two seconds later, or as soon as `stop`
    /// fires.
    pub time_limit: Duration,
    /// Converts an instance to the program's input.
    pub write: WriteInstance<P>,
    /// Converts the program's output to a solution.
    pub read: ReadSolution<P>,
}

impl<P: Problem> External<P> {
    /// LKH (or LKH-3), with its parameter file. `write` gives a TSPLIB problem, `read` takes a TSPLIB tour.
    pub fn lkh(program: &str, time_limit: Duration, write: WriteInstance<P>, read: ReadSolution<P>) -> Self {
        let parameters = "PROBLEM_FILE = {instance}\nTOUR_FILE = {solution}\nRUNS = 1\nSEED = {seed}\n\
                          TIME_LIMIT = {seconds}\nTRACE_LEVEL = 0\n";
        External {
            command: vec![program.into(), "{folder}/lkh.par".into()],
            files: vec![("lkh.par".into(), parameters.into())],
            time_limit,
            write,
            read,
        }
    }

    fn name(&self) -> &str {
        self.command.first().map_or("", String::as_str)
    }

    /// Starts the program on files in the scratch folder.
    fn start(&self, folder: &Path, instance: &P::Instance, seed: u64) -> Result<Running, ExpertError> {
        let path = |name: &str| folder.join(name).display().to_string();
        let fill_in = |text: &str| {
            text.replace("{instance}", &path("instance"))
                .replace("{solution}", &path("solution"))
                .replace("{folder}", &folder.display().to_string())
                .replace("{seconds}", &self.time_limit.as_secs_f64().to_string())
                .replace("{seed}", &(seed & 0x7FFF_FFFF).to_string())
        };
        let scratch = |error: io::Error| failed(format!("cannot write to the scratch folder: {error}"));
        fs::write(folder.join("instance"), (self.write)(instance)).map_err(scratch)?;
        for (name, content) in &self.files {
            fs::write(folder.join(name), fill_in(content)).map_err(scratch)?;
        }
        let Some((program, arguments)) = self.command.split_first() else {
            return Err(failed("no program given: the command is empty".into()));
        };
        let texts = self.command.iter().chain(self.files.iter().map(|(_, content)| content));
        let prints = !texts.into_iter().any(|text| text.contains("{solution}"));
        let output =
            if prints { File::create(folder.join("solution")).map_err(scratch)?.into() } else { Stdio::null() };
        let mut command = Command::new(fill_in(program));
        command.args(arguments.iter().map(|argument| fill_in(argument)));
        command.stdin(Stdio::null()).stdout(output);
        command.stderr(File::create(folder.join("errors")).map_err(scratch)?);
        Running::start(command, folder).map_err(|error| match error.kind() {
            ErrorKind::NotFound => failed(format!("cannot start `{program}`: no such program (is it on the PATH?)")),
            _ => failed(format!("cannot start `{program}`: {error}")),
        })
    }

    /// Reads and checks the solution in the scratch folder.
    fn answer(&self, folder: &Path, instance: &P::Instance) -> Result<Solution<P::Step>, ExpertError> {
        let name = self.name();
        let bytes = match read_output(&folder.join("solution")) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == ErrorKind::NotFound => {
                return Err(failed(format!("`{name}` wrote no solution file{}", error_tail(folder))));
            }
            Err(error) => return Err(failed(format!("cannot read the solution of `{name}`: {error}"))),
        };
        let steps = (self.read)(&bytes, instance).map_err(|reason| {
            failed(format!("cannot read the solution of `{name}`: {reason}{}", error_tail(folder)))
        })?;
        P::check(instance, &steps).map_err(|why| failed(format!("the solution of `{name}` is infeasible: {why}")))?;
        Ok(Solution::new::<P>(instance, steps))
    }
}

impl<P: Problem> Expert<P> for External<P> {
    /// Starts from scratch, whatever the start.
    fn search(
        &self,
        instance: &P::Instance,
        start: Option<Solution<P::Step>>,
        effort: &Effort<'_>,
        _: Improved<'_, P::Step>,
    ) -> Result<Solution<P::Step>, ExpertError> {
        Ok(no_worse(start, self.run(instance, effort)?))
    }
}

impl<P: Problem> External<P> {
    /// Runs the program on the instance.
    fn run(&self, instance: &P::Instance, effort: &Effort<'_>) -> Result<Solution<P::Step>, ExpertError> {
        let scratch = tempfile::Builder::new().prefix("bqnco-").tempdir();
        let scratch = scratch.map_err(|error| failed(format!("cannot create a scratch folder: {error}")))?;
        let folder = scratch.path();
        let running = self.start(folder, instance, effort.seed)?;
        let outputs = ["solution", "errors"].map(|name| folder.join(name));
        let flooded = || outputs.iter().any(|path| fs::metadata(path).is_ok_and(|file| file.len() > MOST_BYTES));
        match running.wait(self.time_limit + GRACE, effort.stop, &flooded) {
            Err(error) => Err(failed(format!("lost track of `{}`: {error}", self.name()))),
            Ok(End::Exited(status)) if !status.success() => {
                Err(failed(format!("`{}` failed with {status}{}", self.name(), error_tail(folder))))
            }
            Ok(End::Exited(_)) => self.answer(folder, instance),
            Ok(End::Flooded) => {
                Err(failed(format!("`{}` was killed: its output is above {} MB", self.name(), MOST_BYTES >> 20)))
            }
            // Many programs write their best solution while they run.
            Ok(End::Killed) => self.answer(folder, instance).map_err(|error| match error {
                _ if (effort.stop)() => ExpertError::Stopped("the program wrote a feasible solution"),
                ExpertError::External(why) => failed(format!("killed after its time limit: {why}")),
                other => other,
            }),
        }
    }
}

fn failed(message: String) -> ExpertError {
    ExpertError::External(message)
}

/// The bytes of a file that a program has left: a regular one, since reading a pipe or a device may never end.
fn read_output(path: &Path) -> io::Result<Vec<u8>> {
    if !fs::metadata(path)?.is_file() {
        return Err(io::Error::new(ErrorKind::InvalidInput, "it is not a regular file"));
    }
    let mut bytes = Vec::new();
    let read = File::open(path)?.take(MOST_BYTES + 1).read_to_end(&mut bytes)?;
    if read as u64 > MOST_BYTES {
        return Err(io::Error::new(ErrorKind::InvalidData, format!("it is above {} MB", MOST_BYTES >> 20)));
    }
    Ok(bytes)
}

/// The end of the program's standard error, as part of an error message.
fn error_tail(folder: &Path) -> String {
    let errors = read_output(&folder.join("errors")).unwrap_or_default();
    let errors = String::from_utf8_lossy(&errors);
    let lines: Vec<&str> = errors.lines().filter(|line| !line.trim().is_empty()).collect();
    match &lines[lines.len().saturating_sub(QUOTED_LINES)..] {
        [] => String::new(),
        last => format!("; its last error output was:\n{}", last.join("\n")),
    }
}
