//! Every limit, and clients that misbehave.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::{Duration, Instant};

use serde_json::json;

use super::http::{connect, read};
use super::{Server, circle, example, until};

/// A solve that takes longer than any test.
pub fn long(server: &Server) -> TcpStream {
    let body = circle(300).to_string();
    let request = server.request("POST", "/v1/solve?search=expert&seconds=600");
    request.header("Accept", "text/event-stream").body(body.as_bytes()).open()
}

#[test]
fn what_exceeds_a_limit_is_refused_with_the_limit() {
    let server = Server::start(&["--max-body", "0.01", "--max-size", "50", "--max-seconds", "5", "--max-memory", "48"]);
    let solve = |query: &str, body: &str| server.post(&format!("/v1/solve{query}"), body);
    let large = solve("", &"x".repeat(20_000)).failure(413, "too_large");
    assert_eq!(large, "the body is larger than 10 KiB, the most that this server takes");
    let nodes = solve("", &circle(51).to_string()).failure(422, "unfit");
    assert_eq!(nodes, "the instance has 51 nodes; this server takes at most 50");
    let seconds = solve("?seconds=6", &circle(5).to_string()).failure(422, "unfit");
    assert_eq!(seconds, "seconds = 6: expected a number above zero, at most 5");
    let memory = solve("?search=beam10000", &circle(50).to_string()).failure(422, "unfit");
    assert!(
        memory.starts_with("this may need") && memory.ends_with("this server allows 48 MiB per request"),
        "{memory}"
    );
}

#[test]
fn any_bytes_are_answered_and_never_by_a_bug() {
    let server = Server::start(&[]);
    let mut archive = b"PK\x03\x04".to_vec();
    archive.extend([0xff; 64]);
    let bodies: [&[u8]; 7] = [
        b"\xff\xfe\x00\x80",
        b"{\"problem\": \"\xff\"}",
        &archive,
        b"\x80\x04\x95\xff",
        b"x,y\n\xff,1\n",
        b"{}",
        b"\0",
    ];
    for body in bodies {
        for path in ["/v1/solve", "/v1/check", "/v1/plot.svg", "/v1/policy/steps", "/v1/instance", "/v1/solution"] {
            let reply = server.post(path, body);
            assert!((400..500).contains(&reply.status), "{path} {body:?}: {}", reply.text());
            reply.json(reply.status);
        }
    }
    assert_eq!(server.get("/v1/jobs/%ff%fe").status / 100, 4);
    assert_eq!(server.get("/v1/solve?name=%ff").status / 100, 4);
}

#[test]
fn a_body_of_a_hundred_megabytes_is_refused_before_it_is_read() {
    let server = Server::start(&[]);
    let before = server.metric("bqnco_memory_bytes");
    let reply = server.post("/v1/solve", vec![b' '; 100_000_000]);
    assert!(reply.failure(413, "too_large").contains("32768 KiB"));
    // Without a stated length it is read up to the limit.
    let mut stream = server.request("POST", "/v1/solve").header("Transfer-Encoding", "chunked").open();
    let chunk = [&b"100000\r\n"[..], &vec![b' '; 1 << 20], b"\r\n"].concat();
    for _ in 0..100 {
        if stream.write_all(&chunk).is_err() {
            break; // the server has answered and closed
        }
    }
    if let Some(reply) = read(stream) {
        reply.failure(413, "too_large");
    }
    let after = server.metric("bqnco_memory_bytes");
    assert!(after < before + 100e6, "from {before} to {after} bytes");
}

#[test]
fn the_queue_is_bounded_and_those_who_hang_up_free_their_core() {
    let server = Server::start(&["--solves", "1", "--max-queue", "1", "--max-seconds", "600"]);
    let first = long(&server);
    server.await_running(1.0);
    let second = long(&server);
    until("the second waits", || server.metric("bqnco_queue") == 1.0);
    let reply = server.post("/v1/solve", circle(5).to_string());
    let message = reply.failure(429, "busy");
    assert_eq!(message, "1 requests are waiting already; try again in 600 s");
    assert_eq!(reply.header("retry-after"), Some("600"));
    first.shutdown(Shutdown::Both).expect("open");
    until("the second runs", || server.metric("bqnco_queue") == 0.0);
    second.shutdown(Shutdown::Both).expect("open");
    server.await_running(0.0);
    server.post("/v1/solve?seconds=0.1", circle(5).to_string()).json(200);
}

#[test]
fn a_client_that_waits_for_the_whole_answer_can_hang_up_too() {
    let server = Server::start(&["--solves", "1", "--max-seconds", "600"]);
    let body = circle(300).to_string();
    for path in ["/v1/solve?search=expert&seconds=600", "/v1/solve?search=sample5000&seconds=600"] {
        let stream = server.request("POST", path).body(body.as_bytes()).open();
        server.await_running(1.0);
        drop(stream);
        server.await_running(0.0);
    }
}

#[test]
fn a_core_is_free_at_once_when_its_client_has_left() {
    let server = Server::start(&["--solves", "1", "--max-seconds", "600"]);
    let freed = || {
        let client = long(&server);
        server.await_running(1.0);
        let left = Instant::now();
        drop(client);
        server.await_running(0.0);
        left.elapsed()
    };
    let quickest = (0..5).map(|_| freed()).min().expect("five"); // other tests keep the machine busy
    assert!(quickest < Duration::from_millis(200), "{quickest:?}");
}

#[test]
fn slow_clients_are_told_or_left() {
    let server = Server::start(&["--patience", "0.5"]);
    let mut half_head = connect(&server.address);
    half_head.write_all(b"POST /v1/solve HTT").expect("sent");
    let mut rest = Vec::new();
    half_head.read_to_end(&mut rest).expect("the server closes");
    let mut half_body = connect(&server.address);
    half_body.write_all(b"POST /v1/solve HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nabc").expect("sent");
    let message = read(half_body).expect("an answer").failure(408, "too_slow");
    assert_eq!(message, "the body did not arrive within 0.5 s, the limit of this server");
}

#[test]
fn a_client_that_reads_nothing_is_left() {
    let server = Server::start(&["--patience", "0.5"]);
    let mut deaf = connect(&server.address);
    let requests = 5_000; // of some ten kilobytes each: more than all buffers between hold
    let asked = b"GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n".repeat(requests);
    let _ = deaf.write_all(&asked); // it may be left before all is written
    until("it is left", || server.metric("bqnco_connections") == 1.0); // the one that asks
    let text = server.get("/metrics").text();
    let answers =
        text.lines().find_map(|line| line.strip_prefix("bqnco_requests_total{path=\"/openapi.json\",status=\"200\"} "));
    let answers: usize = answers.expect("some were answered").parse().expect("a number");
    assert!(answers < requests, "{answers} of {requests} answers were written");
    drop(deaf);
}

/// A stream of events that nobody reads holds up nothing but itself: improvements are left out.
#[test]
fn a_search_goes_on_though_nobody_reads_its_events() {
    let server = Server::start(&["--solves", "1"]);
    let body = circle(1000).to_string();
    let request = server.request("POST", "/v1/solve?search=expert&seconds=1");
    let deaf = request.header("Accept", "text/event-stream").body(body.as_bytes()).open();
    server.await_running(1.0);
    let quick = server.post("/v1/solve?seconds=0.1", circle(5).to_string()).json(200);
    assert_eq!(quick["size"], 5, "the core is free after a second");
    let events = read(deaf).expect("an answer").events();
    assert_eq!(events.last().map(|(name, _)| name.as_str()), Some("finished"));
}

#[test]
fn large_bodies_have_room_together() {
    let server = Server::start(&["--max-body", "8"]);
    // Eight bodies of the largest size that never arrive: there is no room for a ninth, but for small ones.
    let head = b"POST /v1/solve HTTP/1.1\r\nHost: x\r\nContent-Length: 8388608\r\n\r\n ";
    let held: Vec<TcpStream> = (0..8)
        .map(|_| {
            let mut stream = connect(&server.address);
            stream.write_all(head).expect("sent");
            stream
        })
        .collect();
    until("all are being read", || server.metric("bqnco_connections") == 9.0);
    let mut refused = String::new();
    until("the ninth is refused", || {
        let mut ninth = connect(&server.address);
        ninth.write_all(head).expect("sent");
        ninth.shutdown(Shutdown::Write).expect("open"); // if it has room, it ends here
        let Some(reply) = read(ninth) else { return false };
        if reply.status == 429 {
            refused = reply.failure(429, "busy");
        }
        reply.status == 429
    });
    assert_eq!(refused, "too many large requests are under way; try again later");
    drop(held);
    until("the room is free", || server.post("/v1/check", vec![b' '; 7 << 20]).status == 400);
}

#[test]
fn a_thousand_connections_are_served_at_once() {
    let server = Server::start(&[]);
    let mut streams: Vec<TcpStream> =
        (0..open_files().saturating_sub(100).min(1000)).map(|_| connect(&server.address)).collect();
    for stream in &mut streams {
        stream.write_all(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n").expect("sent");
    }
    for stream in streams {
        assert_eq!(read(stream).expect("an answer").status, 200);
    }
}

/// How many files a process may have open here.
fn open_files() -> usize {
    let limits = std::fs::read_to_string("/proc/self/limits").unwrap_or_default();
    let line = limits.lines().find(|line| line.starts_with("Max open files")).unwrap_or_default();
    line.split_whitespace().nth(3).and_then(|soft| soft.parse().ok()).unwrap_or(256)
}

#[test]
fn connections_beyond_the_limit_wait() {
    let server = Server::start(&["--max-connections", "3"]);
    let ask = |stream: &mut TcpStream| stream.write_all(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n").expect("sent");
    let held: Vec<TcpStream> = (0..3).map(|_| connect(&server.address)).collect();
    let mut waiting = connect(&server.address); // the system accepts it, the server does not yet
    ask(&mut waiting);
    drop(held);
    assert_eq!(read(waiting).expect("an answer").status, 200);
}

#[test]
fn an_instance_that_no_network_can_see_is_refused_before_it_waits() {
    let server = Server::start(&[]);
    let matrix =
        json!({ "problem": "cvrp", "matrix": [[0, 1, 2], [1, 0, 1], [2, 1, 0]], "demands": [0, 1, 1], "capacity": 2 });
    let message = server.post("/v1/solve?search=greedy", matrix.to_string()).failure(422, "unfit");
    assert!(message.contains("needs coordinates"), "{message}");
    let message = server.post("/v1/solve?search=expert", pctsp()).failure(422, "unfit");
    assert!(message.contains("pctsp has no built-in expert"), "{message}");
    assert_eq!(server.post("/v1/solve?seconds=0.2", example("depot40.vrp")).status, 200);
}

fn pctsp() -> String {
    let places = [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]];
    json!({ "problem": "pctsp", "coordinates": places, "prizes": [0, 1, 1], "penalties": [0, 1, 1], "quota": 1 })
        .to_string()
}
