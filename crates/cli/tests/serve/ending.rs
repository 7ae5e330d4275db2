//! SIGTERM.

use std::net::TcpStream;

use serde_json::json;

use super::http::read;
use super::limits::long;
use super::page::opened;
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
fn a_stream_tells_by_an_event_that_its_solve_has_failed() {
    let server = Server::start(&["--grace", "2", "--solves", "1", "--max-seconds", "600"]);
    let running = long(&server);
    server.await_running(1.0);
    let waiting = long(&server); // its status is sent before it is solved
    until("the second waits", || server.metric("bqnco_queue") == 1.0);
    server.signal("TERM");
    let reply = read(waiting).expect("an answer");
    assert_eq!((reply.status, reply.header("content-type")), (200, Some("text/event-stream")));
    let events = reply.events();
    let [(name, problem)] = &events[..] else { panic!("one event: {events:?}") };
    assert_eq!((name.as_str(), &problem["kind"]), ("failed", &json!("ending")));
    assert_eq!(problem["message"], "the server ended before there was a solution; try again later");
    let (name, answer) = read(running).expect("an answer").events().pop().expect("an end");
    assert_eq!((name.as_str(), &answer["cut_short"]), ("finished", &json!(true)));
}

#[test]
fn the_page_tells_that_a_solve_has_failed() {
    let server = Server::start(&["--grace", "2", "--solves", "1", "--max-seconds", "600"]);
    let Some(browser) = opened(&server, 1280, 900) else { return };
    let _running = long(&server);
    server.await_running(1.0);
    browser.press("s");
    until("the page's request waits", || server.metric("bqnco_queue") == 1.0);
    assert!(!browser.is_shown("#error"));
    server.signal("TERM");
    browser.await_text("#error", "the server ended before there was a solution");
    assert_eq!(browser.run("return document.getElementById('stop').disabled;"), true, "nothing is left to stop");
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
