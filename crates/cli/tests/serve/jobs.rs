//! Jobs, and what happens to them when the server goes down.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{Server, circle, example, until};

pub fn submit(server: &Server, path: &str, body: &str) -> String {
    let reply = server.post(path, body);
    let job = reply.json(202);
    assert_eq!(reply.header("location"), job["url"].as_str());
    job["url"].as_str().expect("a place").to_string()
}

pub fn has_ended(job: &Value) -> bool {
    !["queued", "running"].contains(&job["status"].as_str().expect("a status"))
}

/// The job when it has ended.
pub fn ended(server: &Server, url: &str) -> Value {
    let mut job = Value::Null;
    until("the job ends", || {
        job = server.get(url).json(200);
        has_ended(&job)
    });
    job
}

#[test]
fn a_job_is_solved_and_its_result_kept() {
    let server = Server::start(&[]);
    let body = String::from_utf8(example("depot40.vrp")).expect("UTF-8");
    let url = submit(&server, "/v1/jobs?search=expert&seconds=0.2&seed=3", &body);
    let job = ended(&server, &url);
    assert_eq!((&job["status"], &job["starts"], &job["error"]), (&json!("done"), &json!(1), &Value::Null));
    assert_eq!((&job["result"]["seed"], &job["result"]["problem"]), (&json!(3), &json!("cvrp")));
    assert_eq!(server.get(&url).json(200), job);
    server.get("/v1/jobs/0123").failure(404, "not_found");
    server.request("DELETE", "/v1/jobs/0123").send().failure(404, "not_found");
}

#[test]
fn a_cancelled_job_keeps_its_best_and_one_that_waits_has_none() {
    let server = Server::start(&["--solves", "1"]);
    let body = circle(200).to_string();
    let running = submit(&server, "/v1/jobs?search=expert&seconds=60", &body);
    let waiting = submit(&server, "/v1/jobs?search=expert&seconds=60", &body);
    until("there is a solution", || server.get(&running).json(200)["best"]["value"].is_number());
    assert_eq!(server.get(&waiting).json(200)["status"], "queued");
    let cancelled = server.request("DELETE", &waiting).send().json(200);
    assert_eq!((&cancelled["status"], &cancelled["result"]), (&json!("cancelled"), &Value::Null));
    server.request("DELETE", &running).send().json(200);
    let job = ended(&server, &running);
    assert_eq!((&job["status"], &job["result"]["cut_short"]), (&json!("cancelled"), &json!(true)));
    assert!(job["result"]["value"].is_number(), "{job}");
    assert_eq!(server.request("DELETE", &running).send().json(200), job, "a job ends once");
    server.await_running(0.0);
}

#[test]
fn jobs_are_bounded_and_expire() {
    let server = Server::start(&["--max-jobs", "2", "--keep", "0.00001"]);
    let body = circle(6).to_string();
    let urls = [(); 2].map(|()| submit(&server, "/v1/jobs?search=greedy", &body));
    let mut refused = server.post("/v1/jobs?search=greedy", &body);
    if refused.status == 202 {
        // The first has expired already.
        refused = server.post("/v1/jobs?search=greedy", &body);
    }
    if refused.status == 429 {
        assert!(refused.failure(429, "busy").starts_with("2 jobs are stored already"));
        assert!(refused.header("retry-after").is_some());
    }
    until("both have expired", || urls.iter().all(|url| server.get(url).status == 404));
}

#[test]
fn a_full_store_takes_no_more() {
    let server = Server::start(&["--max-jobs", "1", "--solves", "1"]);
    let body = circle(200).to_string();
    let url = submit(&server, "/v1/jobs?search=expert&seconds=60", &body);
    let refused = server.post("/v1/jobs", &body);
    assert!(refused.failure(429, "busy").starts_with("1 jobs are stored already"));
    assert!(refused.header("retry-after").is_some());
    server.request("DELETE", &url).send().json(200);
}

#[test]
fn nothing_is_lost_and_nothing_happens_twice_when_the_server_is_killed() {
    const JOBS: usize = 50;
    let server = Server::start(&[]);
    let url = |k: usize| {
        let path = format!("/v1/jobs?search=greedy&seed={k}");
        submit(&server, &path, &circle(60 + k).to_string())
    };
    let urls: Vec<String> = (0..JOBS).map(url).collect();
    until("some have ended", || server.metric("bqnco_solve_seconds_count") >= 3.0);
    let look = |server: &Server| -> BTreeMap<String, Value> {
        urls.iter().map(|url| (url.clone(), server.get(url).json(200))).collect()
    };
    let before = look(&server);
    let server = Server::start_in(server.into_folder(), &[]); // kill -9, and a new start
    let after: BTreeMap<String, Value> = urls.iter().map(|url| (url.clone(), ended(&server, url))).collect();
    for (k, url) in urls.iter().enumerate() {
        let job = &after[url];
        assert_eq!((&job["status"], &job["result"]["seed"]), (&json!("done"), &json!(k)), "{job}");
        assert_eq!(job["result"]["size"], 60 + k);
        if has_ended(&before[url]) {
            assert_eq!(job, &before[url], "a job that had ended stays as it was");
        }
    }
    let again = before.values().filter(|job| !has_ended(job)).count();
    assert!(again > 0, "the server was killed too late for this test");
    assert!(server.metric("bqnco_solve_seconds_count") <= again as f64, "no job was solved again");
    assert_eq!(server.get("/metrics").text().matches("bqnco_jobs{").count(), 1, "all are done");
}
