//! Child processes that are observed and interrupted.

use std::io::Read;
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use super::command;

/// Timeout for a process to make progress: far longer than on the slowest machine, so that only a hanging one fails.
const PATIENCE: Duration = Duration::from_secs(300);
/// Polling interval for the files of a process.
const GLANCE: Duration = Duration::from_millis(2);

/// A running process, killed when dropped.
pub struct Worker {
    child: Child,
    stdout: Option<JoinHandle<Vec<u8>>>,
    end: Receiver<()>, // disconnected when the process has closed its standard output
}

impl Worker {
    /// Starts `bqnco` in a folder.
    pub fn start(folder: &TempDir, arguments: &[&str]) -> Self {
        let mut child = command(folder, arguments).stdout(Stdio::piped()).spawn().expect("the binary starts");
        let mut pipe = child.stdout.take().expect("a pipe");
        let (working, end) = channel();
        let stdout = std::thread::spawn(move || {
            let _working = working; // until the thread ends
            let mut bytes = Vec::new();
            pipe.read_to_end(&mut bytes).expect("a pipe can be read");
            bytes
        });
        Worker { child, stdout: Some(stdout), end }
    }

    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Waits for a condition; false if the process ends before it holds.
    pub fn wait_until(&self, has_happened: impl Fn() -> bool) -> bool {
        let started = Instant::now();
        while !has_happened() {
            assert!(started.elapsed() < PATIENCE, "it neither makes progress nor ends");
            if !self.is_still_working_after(GLANCE) {
                return has_happened();
            }
        }
        true
    }

    /// Waits for some time or until the process ends, whichever comes first.
    pub fn is_still_working_after(&self, time: Duration) -> bool {
        self.end.recv_timeout(time) == Err(RecvTimeoutError::Timeout)
    }

    /// Sends a signal, by its name for `kill`, `times` times.
    #[cfg(unix)]
    pub fn signal(&self, name: &str, times: usize) {
        let processes = vec![self.id().to_string(); times];
        assert!(Command::new("kill").arg(name).args(processes).status().expect("kill").success());
    }

    /// Kills the process immediately.
    pub fn kill(mut self) -> Output {
        self.child.kill().expect("it can be killed");
        self.finish()
    }

    /// Waits until the process ends.
    pub fn finish(mut self) -> Output {
        let stdout = self.stdout.take().expect("asked for once").join().expect("a pipe can be read");
        let mut stderr = Vec::new();
        self.child.stderr.take().expect("a pipe").read_to_end(&mut stderr).expect("a pipe can be read");
        Output { status: self.child.wait().expect("it ends"), stdout, stderr }
    }
}

impl Drop for Worker {
    /// A failing test leaves no process behind.
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Runs `bqnco` in a folder; the system kills it in the write that makes a file longer than `blocks` blocks of 512
/// bytes.
#[cfg(unix)]
#[track_caller]
pub fn cut_off(folder: &TempDir, blocks: usize, arguments: &[&str]) {
    let shell = ["-c", "ulimit -f $0 && exec \"$@\"", &blocks.to_string(), env!("CARGO_BIN_EXE_bqnco")];
    let mut command = Command::new("sh");
    let output = command.args(shell).args(arguments).current_dir(folder.path()).output().expect("a shell");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), None, "it was not killed by a signal: {said}");
}
