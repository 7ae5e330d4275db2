//! A program of others while it runs, and the end of everything that it has started.
//!
//! The program has a process group of its own, which is killed when the program ends, is stopped, or this value is
//! dropped. Processes that have left the group are found by a mark in their environment. If this process is itself
//! killed, a guard notices: a shell that waits for the end of a pipe, then kills all of these and removes the scratch
//! folder. It is there before the program, so that no moment is without it.

use std::io::{self, Write};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use bqnco_core::Stop;

/// Polling interval for a running program.
const POLL: Duration = Duration::from_millis(5);

/// How a program ended.
pub(super) enum End {
    /// By itself.
    Exited(ExitStatus),
    /// By us: it was stopped or out of time.
    Killed,
    /// By us: it wrote too much.
    Flooded,
}

/// A running program.
pub(super) struct Running {
    program: Child,
    guard: Option<Child>,
    mark: String, // in the environment of all that the program starts
    ended: bool,
}

impl Running {
    pub fn start(mut command: Command, folder: &Path) -> io::Result<Self> {
        let folder = folder.display().to_string();
        let mark = format!("{MARK}={folder}");
        let mut guard = guard(&folder, &mark);
        command.env(MARK, &folder);
        in_own_group(&mut command);
        let program = command.spawn().inspect_err(|_| dismiss(&mut guard))?;
        if let Some(pipe) = guard.as_mut().and_then(|guard| guard.stdin.as_mut()) {
            let _ = writeln!(pipe, "{}", program.id()); // a guard that has ended guards nothing
        }
        Ok(Running { program, guard, mark, ended: false })
    }

    /// Waits for the end of the program, and ends it if it takes too long or writes too much.
    pub fn wait(mut self, limit: Duration, stop: Stop<'_>, flooded: &dyn Fn() -> bool) -> io::Result<End> {
        let start = Instant::now();
        loop {
            if self.has_exited()? {
                return self.end().map(End::Exited);
            }
            if flooded() {
                return self.end().map(|_| End::Flooded);
            }
            if stop() || start.elapsed() >= limit {
                return self.end().map(|_| End::Killed);
            }
            std::thread::sleep(POLL);
        }
    }

    /// Whether the program has exited. It is not reaped, so that its process id is not given to another.
    #[cfg(unix)]
    fn has_exited(&mut self) -> io::Result<bool> {
        use rustix::process::{WaitId, WaitIdOptions, waitid};
        let Some(id) = group(&self.program) else { return Ok(true) };
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        Ok(waitid(WaitId::Pid(id), options)?.is_some())
    }

    #[cfg(not(unix))]
    fn has_exited(&mut self) -> io::Result<bool> {
        Ok(self.program.try_wait()?.is_some())
    }

    /// Kills all that is left of the program and its children.
    fn end(&mut self) -> io::Result<ExitStatus> {
        self.ended = true;
        #[cfg(unix)]
        if let Some(group) = group(&self.program) {
            let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        }
        kill_marked(&self.mark);
        dismiss(&mut self.guard); // before the group's number is free for others
        let _ = self.program.kill(); // it may have exited
        self.program.wait()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if !self.ended {
            let _ = self.end();
        }
    }
}

/// The variable that marks the environment of a program's processes; its value is the scratch folder.
const MARK: &str = "BQNCO_SCRATCH";

#[cfg(unix)]
fn group(leader: &Child) -> Option<rustix::process::Pid> {
    rustix::process::Pid::from_raw(leader.id() as i32)
}

fn in_own_group(command: &mut Command) {
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(command, 0);
    #[cfg(not(unix))]
    let _ = command;
}

/// What a guard does: its standard input is the number of the program's group, and ends with this process. The arguments
/// are the scratch folder and the mark.
const GUARD: &str = r#"
read -r group
read -r _
if [ -n "$group" ]; then kill -s KILL -- "-$group"; fi
for sweep in 1 2 3; do
    for process in $(grep -lsxzF -e "$2" /proc/[0-9]*/environ); do
        process=${process#/proc/}
        kill -s KILL "${process%/environ}"
    done
done
rm -rf -- "$1"
"#;

/// Starts a shell that ends the program if this process does not live to do it: the pipe between them then closes.
fn guard(folder: &str, mark: &str) -> Option<Child> {
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", GUARD, "sh", folder, mark]);
    shell.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    in_own_group(&mut shell);
    if cfg!(unix) { shell.spawn().ok() } else { None } // without a shell, nothing else is lost
}

/// Ends a guard that is not needed any more.
fn dismiss(guard: &mut Option<Child>) {
    if let Some(guard) = guard {
        let _ = guard.kill();
        let _ = guard.wait();
    }
}

/// Kills processes with this mark that have left the program's group. Linux only.
fn kill_marked(mark: &str) {
    const SWEEPS: usize = 10; // a process may start another while it is looked for
    #[cfg(target_os = "linux")]
    for _ in 0..SWEEPS {
        let marked: Vec<_> = marked(mark.as_bytes()).collect();
        if marked.is_empty() {
            return;
        }
        for id in marked {
            let _ = rustix::process::kill_process(id, rustix::process::Signal::KILL);
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = (mark, SWEEPS);
}

/// Living processes with this mark.
#[cfg(target_os = "linux")]
fn marked(mark: &[u8]) -> impl Iterator<Item = rustix::process::Pid> {
    let has_mark = move |folder: &Path| {
        // A dead process that was not reaped yet has an empty environment.
        let environment = std::fs::read(folder.join("environ")).unwrap_or_default();
        environment.split(|&byte| byte == 0).any(|variable| variable == mark)
    };
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let id = |name: std::ffi::OsString| rustix::process::Pid::from_raw(name.to_str()?.parse().ok()?);
    processes.filter(move |entry| has_mark(&entry.path())).filter_map(move |entry| id(entry.file_name()))
}
