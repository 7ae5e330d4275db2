//! SIGTERM.

use std::net::TcpStream;

use serde_json::json;

use super::http::read;
use super::{Server, circle, until};

#[test]
fn running_requests_end_with_their_best_within_the_grace() {
    let mut server = Server::start(&["--grace", "2", "--solves", "1"]);
    let body = circle(200).to_string();
    let solve = || server.request("POST", "/v1/solve?search=expert&seconds=60").body(body.as_bytes()).open();
    let running = solve();
    server.await_running(1.0);
    let waiting = solve();
    until("the second waits", || server.metric("bqnco_queue") == 1.0);
    server.signal("TERM");
    let message = read(waiting).expect("an answer").failure(503, "ending");
    assert!(message.starts_with("the server ended before"), "{message}");
    let answer = read(running).expect("an answer").json(200);
    assert_eq!((&answer["cut_short"], &answer["size"]), (&json!(true), &json!(200)));
    assert!(server.child.wait().expect("it ends").success());
    assert!(TcpStream::connect(&server.address).is_err(), "nobody listens any more");
}

#[test]
fn an_idle_server_ends_at_once_and_a_running_job_goes_on_at_the_next_start() {
    let mut server = Server::start(&["--grace", "0.5", "--solves", "1"]);
    let job = server.post("/v1/jobs?search=expert&seconds=60", circle(200).to_string()).json(202);
    let url = job["url"].as_str().expect("a place");
    server.await_running(1.0);
    server.signal("TERM");
    assert!(server.child.wait().expect("it ends").success());
    let mut server = Server::start_in(server.into_folder(), &["--solves", "1"]);
    until("it runs again", || server.get(url).json(200)["status"] == "running");
    assert_eq!(server.get(url).json(200)["starts"], 2);
    server.request("DELETE", url).send().json(200);
    until("it has ended", || server.get(url).json(200)["status"] == "cancelled");
    server.signal("INT");
    assert!(server.child.wait().expect("it ends").success());
}

#[test]
#[cfg(not(feature = "postgres"))]
fn a_database_needs_the_feature() {
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_bqnco"))
        .args(["serve", "--listen", "127.0.0.1:0", "--store", "postgres://me@host/jobs"])
        .output()
        .expect("the binary starts");
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{message}");
    assert!(message.contains("build it with --features postgres"), "{message}");
}

#[test]
fn a_second_server_cannot_use_the_same_store() {
    let server = Server::start(&[]);
    let store = server.folder.path().join("jobs.redb");
    let second = std::process::Command::new(env!("CARGO_BIN_EXE_bqnco"))
        .args(["serve", "--listen", "127.0.0.1:0", "--store"])
        .arg(&store)
        .output()
        .expect("the binary starts");
    let message = String::from_utf8_lossy(&second.stderr).into_owned();
    assert_eq!(second.status.code(), Some(2), "{message}");
    assert!(message.contains("another server is using it"), "{message}");
}
