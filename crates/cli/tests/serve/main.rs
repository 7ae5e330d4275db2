//! `bqnco serve`: the real binary on a free port.

mod access;
mod browser;
mod docs;
mod ending;
mod files;
mod http;
mod jobs;
mod limits;
mod messages;
mod page;
#[cfg(feature = "postgres")]
mod postgres;
mod service;

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use http::{Reply, Request};
use serde_json::Value;
use tempfile::TempDir;

/// A running server with a folder for its jobs.
struct Server {
    child: Child,
    address: String,
    folder: TempDir,
}

impl Server {
    fn start(arguments: &[&str]) -> Self {
        Self::start_in(tempfile::tempdir().expect("a scratch folder"), arguments)
    }

    /// On the store of an earlier server.
    fn start_in(folder: TempDir, arguments: &[&str]) -> Self {
        let store = folder.path().join("jobs.redb");
        Self::start_on(folder, store.to_str().expect("UTF-8"), arguments)
    }

    /// On any store.
    fn start_on(folder: TempDir, store: &str, arguments: &[&str]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_bqnco"));
        command.args(["serve", "--listen", "127.0.0.1:0", "--store", store]);
        command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().expect("the binary starts");
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().expect("piped")).read_line(&mut line).expect("a line");
        let address = line.trim().strip_prefix("listening on http://").unwrap_or_else(|| panic!("{line}")).to_string();
        Server { child, address, folder }
    }

    fn request<'a>(&self, method: &'a str, path: &'a str) -> Request<'a> {
        Request::new(&self.address, method, path)
    }

    fn get(&self, path: &str) -> Reply {
        self.request("GET", path).send()
    }

    fn post(&self, path: &str, body: impl AsRef<[u8]>) -> Reply {
        self.request("POST", path).body(body.as_ref()).send()
    }

    /// A number of /metrics.
    fn metric(&self, name: &str) -> f64 {
        let text = self.get("/metrics").text();
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        line.unwrap_or_else(|| panic!("no {name} in {text}")).parse().expect("a number")
    }

    /// Waits until so many solves are running.
    fn await_running(&self, count: f64) {
        until("the solve starts or ends", || self.metric("bqnco_running") == count);
    }

    fn signal(&self, name: &str) {
        let status = Command::new("kill").arg(format!("-{name}")).arg(self.child.id().to_string()).status();
        assert!(status.expect("kill runs").success());
    }

    /// Ends it and keeps its folder.
    fn into_folder(mut self) -> TempDir {
        let _ = self.child.kill(); // SIGKILL
        let _ = self.child.wait();
        std::mem::replace(&mut self.folder, tempfile::tempdir().expect("a scratch folder"))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Asks until something is true.
#[track_caller]
fn until(what: &str, mut is: impl FnMut() -> bool) {
    let started = Instant::now();
    while !is() {
        assert!(started.elapsed() < Duration::from_secs(100), "waited in vain until {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// An example of the repository.
fn example(name: &str) -> Vec<u8> {
    std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/examples").join(name)).expect("an example")
}

const EXAMPLES: [&str; 6] = ["city48.tsp", "oneway24.atsp", "depot40.vrp", "hike40.oplib", "sack50.kp", "points25.csv"];

/// Points in a circle, and so a tour that is easily checked.
fn circle(nodes: usize) -> Value {
    let turn = |k: usize| 2.0 * std::f64::consts::PI * k as f64 / nodes as f64;
    let places: Vec<_> = (0..nodes).map(|k| [turn(k).cos(), turn(k).sin()]).collect();
    serde_json::json!({ "problem": "tsp", "coordinates": places })
}
