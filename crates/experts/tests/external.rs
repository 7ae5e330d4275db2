//! Shell scripts as experts.
#![cfg(unix)]

use std::path::Path;
use std::time::Duration;

use bqnco_core::{Effort, Expert, ExpertError, Solution, never};
use bqnco_experts::External;
use bqnco_problems::Knapsack;
use bqnco_problems::knapsack::Instance;

/// Three items; the last two fit together.
fn instance() -> Instance {
    Instance::new(vec![1.0, 5.0, 6.0], vec![9.0, 4.0, 5.0], 9.0).expect("valid")
}

fn expert(command: &[&str]) -> External<Knapsack> {
    External {
        command: command.iter().map(|word| word.to_string()).collect(),
        files: Vec::new(),
        time_limit: Duration::from_secs(60),
        write: Box::new(|instance| format!("{} items", instance.items()).into_bytes()),
        read: Box::new(|bytes, _| {
            let text = String::from_utf8_lossy(bytes).into_owned();
            text.split_whitespace().map(|word| word.parse().map_err(|_| format!("`{word}` is no item"))).collect()
        }),
    }
}

/// Runs a script with the instance as `$1`, the solution as `$2` and the seed as `$3`.
fn run(script: &str) -> Result<Solution<usize>, ExpertError> {
    let effort = Effort { seed: 5, rounds: None, patience: None, stop: &never };
    expert(&["/bin/sh", "-c", script, "sh", "{instance}", "{solution}", "{seed}"]).solve(&instance(), &effort)
}

fn error(script: &str) -> String {
    run(script).expect_err("must fail").to_string()
}

#[test]
fn a_program_reads_the_instance_and_writes_the_solution() {
    let script = "test \"$(cat $1)\" = '3 items' && test $3 = 5 && echo 1 2 > $2";
    let solution = run(script).expect("solved");
    assert_eq!((solution.steps, solution.cost), (vec![1, 2], -11.0));
}

#[test]
fn a_program_without_a_solution_placeholder_prints_its_solution() {
    let solution = expert(&["/bin/echo", "2"]).solve(&instance(), &Effort::rounds(1, 0)).expect("solved");
    assert_eq!(solution.steps, [2]);
}

#[test]
fn error_names_a_missing_program() {
    let error = expert(&["no-such-solver"]).solve(&instance(), &Effort::rounds(1, 0)).expect_err("must fail");
    assert_eq!(error.to_string(), "cannot start `no-such-solver`: no such program (is it on the PATH?)");
    let error = expert(&[]).solve(&instance(), &Effort::rounds(1, 0)).expect_err("must fail");
    assert_eq!(error.to_string(), "no program given: the command is empty");
}

#[test]
fn errors_quote_the_end_of_stderr() {
    let message = error("for i in 1 2 3 4 5 6 7; do echo line $i >&2; done; exit 3");
    assert!(message.starts_with("`/bin/sh` failed with exit status: 3"), "{message}");
    assert!(message.ends_with("line 3\nline 4\nline 5\nline 6\nline 7"), "{message}");
    assert!(error("true").contains("wrote no solution file"));
    assert!(error("echo 1 x > $2").contains("`x` is no item"));
}

#[test]
fn infeasible_solutions_are_rejected() {
    let message = error("echo 0 1 2 > $2");
    assert_eq!(message, "the solution of `/bin/sh` is infeasible: the weight is 18, above the limit of 9");
}

#[test]
fn stopping_kills_the_program_and_keeps_what_it_wrote() {
    let marks = tempfile::tempdir().expect("scratch");
    let written = marks.path().join("written");
    let hang = "echo 1 > $2; (sleep 600) & touch $3; wait";
    let command = ["/bin/sh", "-c", hang, "sh", "{instance}", "{solution}", &written.display().to_string()];
    let stop = || written.exists();
    let solution = expert(&command).solve(&instance(), &Effort { seed: 0, rounds: None, patience: None, stop: &stop });
    assert_eq!(solution.expect("written before").steps, [1]);

    let nothing = expert(&["/bin/sh", "-c", "sleep 600", "sh", "{solution}"]);
    let error = nothing
        .solve(&instance(), &Effort { seed: 0, rounds: None, patience: None, stop: &|| true })
        .expect_err("nothing");
    assert!(matches!(error, ExpertError::Stopped(_)), "{error}");
}

#[test]
fn the_scratch_folder_is_removed() {
    let mut expert = expert(&["/bin/sh", "{folder}/script", "{folder}", "{solution}"]);
    expert.files.push(("script".into(), "echo $1 >&2; exit 1 # {seconds}".into()));
    let message = expert.solve(&instance(), &Effort::rounds(1, 0)).expect_err("exit 1").to_string();
    let folder = message.lines().last().expect("quoted");
    assert!(folder.starts_with('/') && !Path::new(folder).exists(), "{folder}");
}

#[test]
fn lkh_gets_its_parameter_file() {
    // A mock LKH that reads TOUR_FILE from the parameters.
    let stand_in = tempfile::tempdir().expect("scratch");
    let program = stand_in.path().join("lkh");
    let script = "grep -q 'SEED = 9' $1 && grep -q 'TIME_LIMIT = 1.5' $1 && \
                  echo 2 > $(sed -n 's/TOUR_FILE = //p' $1)\n";
    std::fs::write(&program, script).expect("written");
    let External { write, read, .. } = expert(&[]);
    let mut lkh = External::<Knapsack>::lkh(&program.display().to_string(), Duration::from_millis(1500), write, read);
    lkh.command.insert(0, "/bin/sh".into());
    assert_eq!(lkh.solve(&instance(), &Effort::rounds(1, 9)).expect("solved").steps, [2]);
}

/// Runs a script with a limit of one second, and the time it took.
fn run_briefly(script: &str) -> (Result<Solution<usize>, ExpertError>, Duration) {
    let mut expert = expert(&["/bin/sh", "-c", script, "sh", "{instance}", "{solution}", "{folder}"]);
    expert.time_limit = Duration::from_secs(1);
    let started = std::time::Instant::now();
    let effort = Effort { seed: 5, rounds: None, patience: None, stop: &never };
    (expert.solve(&instance(), &effort), started.elapsed())
}

#[test]
fn a_pipe_in_place_of_the_solution_does_not_hang() {
    for script in ["mkfifo $2", "ln -s /dev/zero $2"] {
        let (result, time) = run_briefly(script);
        let message = result.expect_err("no file").to_string();
        assert!(message.contains("not a regular file"), "{message}");
        assert!(time < Duration::from_secs(20), "{time:?}");
    }
}

#[test]
fn a_flood_of_output_ends_the_program() {
    for script in ["yes > $2", "yes >&2", "yes 1 > $2 & wait"] {
        let (result, time) = run_briefly(script);
        let message = result.expect_err("too much").to_string();
        assert!(message.contains("its output is above 64 MB"), "{message}");
        assert!(time < Duration::from_secs(20), "{time:?}");
    }
}

/// Whether a process is running: not gone, and not waiting to be reaped by a parent that is.
#[cfg(target_os = "linux")]
fn is_running(process: &str) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    status.rsplit(')').next().is_some_and(|rest| !matches!(rest.trim_start().chars().next(), None | Some('Z' | 'X')))
}

/// Waits until a process has ended; a signal takes a moment.
#[cfg(target_os = "linux")]
fn ends(process: &str) -> bool {
    let started = std::time::Instant::now();
    while is_running(process) && started.elapsed() < Duration::from_secs(20) {
        std::thread::yield_now();
    }
    !is_running(process)
}

#[cfg(target_os = "linux")]
#[test]
fn children_end_with_a_program_that_exits_by_itself() {
    let marks = tempfile::tempdir().expect("scratch");
    let id = marks.path().join("id");
    for start in ["", "setsid"] {
        let child = "echo $$ > $0.new; mv $0.new $0; exec sleep 600";
        let script = format!("{start} sh -c '{child}' $3 & until test -s $3; do :; done; echo 1 > $2");
        let command = ["/bin/sh", "-c", &script, "sh", "{instance}", "{solution}", &id.display().to_string()];
        let solution = expert(&command).solve(&instance(), &Effort::rounds(1, 0)).expect("solved");
        assert_eq!(solution.steps, [1]);
        let process = std::fs::read_to_string(&id).expect("its child").trim().to_string();
        assert!(ends(&process), "process {process} is still running: {script}");
        std::fs::remove_file(&id).expect("removed");
    }
}
