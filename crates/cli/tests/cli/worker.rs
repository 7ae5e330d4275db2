//! Processes that are watched at work and interrupted.

use std::io::Read;
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use super::command;

/// How long a process may take to get somewhere: far longer than on the slowest machine, so that only a hanging one fails.
const PATIENCE: Duration = Duration::from_secs(300);
/// Time between looks at what a process has written.
const GLANCE: Duration = Duration::from_millis(2);

/// A process at work, killed when nobody wants it any longer.
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

    /// Waits until something has happened; false where the process ends without it.
    pub fn wait_until(&self, has_happened: impl Fn() -> bool) -> bool {
        let started = Instant::now();
        while !has_happened() {
            assert!(started.elapsed() < PATIENCE, "it neither gets there nor ends");
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

    /// Sends a signal, by the name that `kill` knows, as many times as is said.
    #[cfg(unix)]
    pub fn signal(&self, name: &str, times: usize) {
        let processes = vec![self.id().to_string(); times];
        assert!(Command::new("kill").arg(name).args(processes).status().expect("kill").success());
    }

    /// Ends the process at once, wherever it is.
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
    /// A test that fails leaves nothing behind.
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// `bqnco` in a folder, killed by the system in the very write that makes a file longer than so many blocks of 512 bytes.
#[cfg(unix)]
#[track_caller]
pub fn cut_off(folder: &TempDir, blocks: usize, arguments: &[&str]) {
    let shell = ["-c", "ulimit -f $0 && exec \"$@\"", &blocks.to_string(), env!("CARGO_BIN_EXE_bqnco")];
    let mut command = Command::new("sh");
    let output = command.args(shell).args(arguments).current_dir(folder.path()).output().expect("a shell");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), None, "it was not killed by a signal: {said}");
}
