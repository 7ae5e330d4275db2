//! Several servers that share one PostgreSQL. The database is a private one: a socket in a scratch folder, no port.

use std::os::unix::fs::{MetadataExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use bqnco_testing::{Absent, skip};
use postgres_client::{Client, NoTls};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::http::read;
use super::jobs::{ended, has_ended, submit};
use super::{Server, circle, until};

/// A running database.
struct Database {
    folder: TempDir,
    programs: PathBuf,
    user: Option<(u32, u32)>, // PostgreSQL refuses to run as root
}

impl Database {
    /// Without PostgreSQL the running test is skipped.
    fn start() -> Option<Self> {
        let Some(programs) = programs() else {
            skip(Absent::Program, "PostgreSQL is not installed");
            return None;
        };
        let folder = tempfile::tempdir().expect("a scratch folder");
        let is_root = folder.path().metadata().expect("a folder").uid() == 0;
        let user = is_root.then(|| user_id("postgres").or_else(|| user_id("nobody")).expect("a user without rights"));
        if let Some((user, group)) = user {
            chown(folder.path(), Some(user), Some(group)).expect("root may do that");
        }
        let database = Database { folder, programs, user };
        let data = database.path("data");
        database.run("initdb", &["-D", &data, "-U", "bqnco", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"]);
        database.control("start");
        Some(database)
    }

    fn path(&self, name: &str) -> String {
        self.folder.path().join(name).to_str().expect("UTF-8").to_string()
    }

    fn run(&self, program: &str, arguments: &[&str]) {
        let mut command = Command::new(self.programs.join(program));
        if let Some((user, group)) = self.user {
            command.uid(user).gid(group);
        }
        // Its output would be a pipe that the database keeps open.
        command.args(arguments).current_dir(self.folder.path()).stdin(Stdio::null()).stdout(Stdio::null());
        assert!(command.status().expect("it runs").success(), "{program} {arguments:?}");
    }

    /// Starts or stops it, and waits until that is done.
    fn control(&self, what: &str) {
        let socket = format!("-F -c listen_addresses= -k {}", self.folder.path().display());
        let (data, log) = (self.path("data"), self.path("log"));
        let mut arguments = vec!["-w", "-D", &data];
        match what {
            "start" => arguments.extend(["-l", &log, "-o", &socket]),
            _ => arguments.extend(["-m", "immediate"]),
        }
        arguments.push(what);
        self.run("pg_ctl", &arguments);
    }

    fn url(&self) -> String {
        format!("postgres://bqnco@{}/postgres", self.folder.path().display().to_string().replace('/', "%2F"))
    }

    fn serve(&self, arguments: &[&str]) -> Server {
        Server::start_on(tempfile::tempdir().expect("a folder"), &self.url(), arguments)
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        if Path::new(&self.path("data/postmaster.pid")).exists() {
            self.control("stop");
        }
    }
}

/// The folder of `initdb` and `pg_ctl`, which Debian does not put on the path.
fn programs() -> Option<PathBuf> {
    let versions = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let debian = versions.map(|version| version.path().join("bin"));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path: Vec<PathBuf> = std::env::split_paths(&path).collect();
    debian.chain(path).find(|folder| folder.join("initdb").is_file() && folder.join("pg_ctl").is_file())
}

/// User and group of an account.
fn user_id(name: &str) -> Option<(u32, u32)> {
    let accounts = std::fs::read_to_string("/etc/passwd").ok()?;
    let fields: Vec<&str> =
        accounts.lines().map(|line| line.split(':').collect()).find(|all: &Vec<_>| all[0] == name)?;
    Some((fields.get(2)?.parse().ok()?, fields.get(3)?.parse().ok()?))
}

const SOLVED: &str = "bqnco_solve_seconds_count";

#[test]
fn two_servers_share_jobs_and_each_is_solved_once() {
    const JOBS: usize = 40;
    let Some(database) = Database::start() else { return };
    let (one, two) = (database.serve(&["--solves", "1"]), database.serve(&["--solves", "1"]));
    // What one has accepted, the other solves too.
    let job = |k: usize| submit(&one, &format!("/v1/jobs?search=greedy&seed={k}"), &circle(80 + k).to_string());
    let urls: Vec<String> = (0..JOBS).map(job).collect();
    for (k, url) in urls.iter().enumerate() {
        let job = ended(&two, url);
        assert_eq!((&job["status"], &job["starts"], &job["result"]["seed"]), (&json!("done"), &json!(1), &json!(k)));
        assert_eq!(job, one.get(url).json(200), "both tell the same");
    }
    let solved = [one.metric(SOLVED), two.metric(SOLVED)];
    assert_eq!(solved[0] + solved[1], JOBS as f64, "{solved:?}");
    assert!(solved[0] > 0.0 && solved[1] > 0.0, "both have worked: {solved:?}");
    let unknown = "/v1/jobs/0123456789abcdef0123456789abcdef";
    two.get(unknown).failure(404, "not_found");
    two.get("/v1/jobs/%00").failure(404, "not_found");
}

#[test]
fn jobs_of_a_server_that_was_killed_are_solved_by_the_other() {
    const JOBS: usize = 50;
    let Some(database) = Database::start() else { return };
    let (one, two) = (database.serve(&["--solves", "1"]), database.serve(&["--solves", "1"]));
    let job =
        |k: usize| submit(&one, &format!("/v1/jobs?search=greedy&seed={k}&name=%00"), &circle(60 + k).to_string());
    let mut urls: Vec<String> = (0..JOBS).map(job).collect();
    let long = circle(300).to_string();
    until("some have ended", || one.metric(SOLVED) >= 3.0);
    urls.push(submit(&one, "/v1/jobs?search=expert&seconds=1", &long)); // still waits
    let before: Vec<Value> = urls.iter().map(|url| two.get(url).json(200)).collect();
    drop(one); // kill -9
    for (url, before) in urls.iter().zip(&before) {
        let job = ended(&two, url);
        assert_eq!(job["status"], "done", "{job}");
        assert!(!has_ended(before) || job == *before, "a job that had ended stays as it was");
    }
    assert!(before.iter().any(|job| !has_ended(job)), "the server was killed too late for this test");
    assert_eq!(two.get("/metrics").text().matches("bqnco_jobs{").count(), 1, "all are done");
}

#[test]
fn a_job_is_cancelled_and_handed_over_through_any_server() {
    let Some(database) = Database::start() else { return };
    let one = database.serve(&["--solves", "1", "--grace", "0.5"]);
    let body = circle(200).to_string();
    let urls = [(); 2].map(|()| submit(&one, "/v1/jobs?search=expert&seconds=60", &body));
    until("there is a solution", || one.get(&urls[0]).json(200)["best"]["value"].is_number());
    let two = database.serve(&["--solves", "1", "--grace", "0.5", "--max-jobs", "2"]);
    until("the other server tells its value", || two.get(&urls[0]).json(200)["best"]["value"].is_number());
    until("the other server takes what waits", || one.get(&urls[1]).json(200)["status"] == "running");
    two.request("DELETE", &urls[0]).send().json(200);
    let job = ended(&two, &urls[0]);
    assert_eq!((&job["status"], &job["result"]["cut_short"]), (&json!("cancelled"), &json!(true)));
    assert!(two.post("/v1/jobs", &body).failure(429, "busy").starts_with("2 jobs are stored already"));
    one.request("DELETE", &urls[1]).send().json(200);
    assert_eq!(ended(&one, &urls[1])["status"], "cancelled");
    // A server that ends hands its job over.
    let url = submit(&one, "/v1/jobs?search=expert&seconds=60", &body);
    until("it runs", || two.get(&url).json(200)["status"] == "running");
    // A thread that looks for a job counts for a moment.
    let is_busy = |server: &Server| (0..3).all(|_| server.metric("bqnco_running") > 0.0);
    let (ending, other) = if is_busy(&one) { (&one, &two) } else { (&two, &one) };
    ending.signal("TERM");
    until("it runs on the other", || other.get(&url).json(200)["starts"] == 2);
    other.request("DELETE", &url).send().json(200);
    assert_eq!(ended(other, &url)["status"], "cancelled");
}

#[test]
fn a_database_that_goes_down_takes_nothing_with_it() {
    let Some(database) = Database::start() else { return };
    let server = database.serve(&["--solves", "1"]);
    let url = submit(&server, "/v1/jobs?search=greedy", &circle(30).to_string());
    let job = ended(&server, &url);
    database.control("stop");
    let message = server.get(&url).failure(503, "unavailable");
    assert!(message.starts_with("the store of jobs cannot be used; try again later"), "{message}");
    server.post("/v1/jobs", circle(5).to_string()).failure(503, "unavailable");
    server.post("/v1/solve?search=greedy", circle(5).to_string()).json(200); // needs no store
    assert_eq!(server.get("/metrics").text().matches("bqnco_jobs{").count(), 0);
    database.control("start");
    until("it is reached again", || server.get(&url).status == 200);
    assert_eq!(server.get(&url).json(200), job);
    let again = submit(&server, "/v1/jobs?search=greedy", &circle(30).to_string());
    assert_eq!(ended(&server, &again)["status"], "done");
}

/// Jobs wait for a database that does not answer; nothing else does.
#[test]
fn a_database_that_does_not_answer_holds_up_jobs_only() {
    let Some(database) = Database::start() else { return };
    let server = database.serve(&["--solves", "2"]);
    let url = submit(&server, "/v1/jobs?search=greedy", &circle(30).to_string());
    let job = ended(&server, &url);
    let mut client = Client::connect(&database.url(), NoTls).expect("a connection");
    client.batch_execute("BEGIN; LOCK TABLE bqnco_jobs").expect("locked"); // for everybody else
    let began = Instant::now();
    let waiting: Vec<_> = (0..30).map(|_| server.request("GET", &url).open()).collect();
    for _ in 0..3 {
        server.post("/v1/solve?search=greedy", circle(5).to_string()).json(200);
        server.metric("bqnco_running");
    }
    let taken = began.elapsed();
    assert!(taken < Duration::from_secs(8), "{taken:?}: a statement may take ten seconds");
    client.batch_execute("ROLLBACK").expect("unlocked");
    for stream in waiting {
        let status = read(stream).expect("an answer").status;
        assert!([200, 503].contains(&status), "{status}");
    }
    until("the job is told again", || server.get(&url).status == 200);
    assert_eq!(server.get(&url).json(200), job);
}

#[test]
fn a_database_that_cannot_be_used_is_named_without_its_password() {
    let output = Command::new(env!("CARGO_BIN_EXE_bqnco"))
        .args(["serve", "--listen", "127.0.0.1:0", "--store", "postgres://me:secret@%2Fnowhere/jobs"])
        .output()
        .expect("the binary starts");
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{message}");
    assert!(message.contains("cannot use PostgreSQL for jobs") && !message.contains("secret"), "{message}");
}
