//! Counts and times in Prometheus' text format.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use crate::app::App;
use crate::error::Kind;
use crate::store::Status;

/// What has happened since the start.
#[derive(Default)]
pub struct Metrics {
    counts: Mutex<Counts>,
}

#[derive(Default)]
struct Counts {
    requests: BTreeMap<(String, u16), u64>, // by path and status
    failures: BTreeMap<Kind, u64>,
    solves: [u64; BUCKETS.len()], // by the bucket that their seconds fall into
    solved: u64,
    seconds: f64,
}

/// Upper bounds of the histogram of solves, in seconds.
const BUCKETS: [f64; 10] = [0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0];

impl Metrics {
    fn lock(&self) -> MutexGuard<'_, Counts> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts an answer; `path` is that of the route, never the client's.
    pub fn request(&self, path: &str, status: u16, kind: Option<Kind>) {
        *self.lock().requests.entry((path.to_string(), status)).or_default() += 1;
        if let Some(kind) = kind {
            self.failure(kind);
        }
    }

    /// Counts a failure; that of a stream comes after its status was sent.
    pub fn failure(&self, kind: Kind) {
        *self.lock().failures.entry(kind).or_default() += 1;
    }

    /// Counts a solve and its time.
    pub fn timed<T>(&self, work: impl FnOnce() -> T) -> T {
        let started = Instant::now();
        let result = work();
        self.solve(started.elapsed().as_secs_f64());
        result
    }

    /// Counts a solve that took so long.
    pub fn solve(&self, seconds: f64) {
        let mut counts = self.lock();
        counts.solved += 1;
        counts.seconds += seconds;
        if let Some(bucket) = BUCKETS.iter().position(|&bound| seconds <= bound) {
            counts.solves[bucket] += 1;
        }
    }

    /// The text that Prometheus reads; `jobs` is their number by status, if the store tells it.
    pub fn text(&self, app: &App, jobs: Option<Vec<(Status, usize)>>) -> String {
        let (requests, _, running) = app.pool.load();
        let connections = Arc::strong_count(&app.connections) - 1;
        let mut text = String::new();
        let mut gauge = |name: &str, help: &str, values: &[(String, f64)]| {
            let _ = writeln!(text, "# HELP bqnco_{name} {help}\n# TYPE bqnco_{name} gauge");
            for (labels, value) in values {
                let _ = writeln!(text, "bqnco_{name}{labels} {value}");
            }
        };
        let plain = |value: f64| vec![(String::new(), value)];
        gauge("queue", "Requests that wait for a core.", &plain(requests as f64));
        gauge("running", "Solves that are running.", &plain(running as f64));
        gauge("memory_bytes", "Resident memory of the process.", &plain(resident_bytes() as f64));
        gauge("connections", "Open connections.", &plain(connections as f64));
        if let Some(jobs) = jobs {
            let count = |(status, count): (Status, usize)| (label("status", &status), count as f64);
            gauge("jobs", "Stored jobs by status.", &jobs.into_iter().map(count).collect::<Vec<_>>());
        }
        let counts = self.lock();
        text += "# HELP bqnco_requests_total Answers by path and status.\n# TYPE bqnco_requests_total counter\n";
        for ((path, status), count) in &counts.requests {
            let _ = writeln!(text, "bqnco_requests_total{{path=\"{path}\",status=\"{status}\"}} {count}");
        }
        text += "# HELP bqnco_failures_total Failed requests by kind.\n# TYPE bqnco_failures_total counter\n";
        for (kind, count) in &counts.failures {
            let _ = writeln!(text, "bqnco_failures_total{} {count}", label("kind", kind));
        }
        text += "# HELP bqnco_solve_seconds Time of solves.\n# TYPE bqnco_solve_seconds histogram\n";
        let mut below = 0;
        for (bound, count) in BUCKETS.iter().zip(&counts.solves) {
            below += count;
            let _ = writeln!(text, "bqnco_solve_seconds_bucket{{le=\"{bound}\"}} {below}");
        }
        let (solved, seconds) = (counts.solved, counts.seconds);
        let _ = writeln!(text, "bqnco_solve_seconds_bucket{{le=\"+Inf\"}} {solved}");
        let _ = writeln!(text, "bqnco_solve_seconds_sum {seconds}\nbqnco_solve_seconds_count {solved}");
        text
    }
}

fn label(name: &str, value: &impl serde::Serialize) -> String {
    let value = serde_json::to_value(value).unwrap_or_default();
    format!("{{{name}={value}}}")
}

/// Resident memory of this process; 0 where the system does not tell.
fn resident_bytes() -> u64 {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages: u64 = statm.split_whitespace().nth(1).and_then(|pages| pages.parse().ok()).unwrap_or(0);
    pages * 4096
}
