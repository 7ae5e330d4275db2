//! Every path of the service, on instances of every problem.

use serde_json::{Value, json};

use super::{EXAMPLES, Server, circle, example};

/// Two numbers up to rounding errors.
#[track_caller]
fn assert_close(one: &Value, other: &Value) {
    let (one, other) = (one.as_f64().expect("a number"), other.as_f64().expect("a number"));
    assert!((one - other).abs() <= 1e-6 * other.abs().max(1.0), "{one} is not {other}");
}

fn text(file: &str) -> String {
    String::from_utf8(example(file)).expect("UTF-8")
}

#[test]
fn every_example_is_solved_checked_drawn_and_written() {
    let server = Server::start(&[]);
    for file in EXAMPLES {
        let answer = server.post(&format!("/v1/solve?search=greedy&seconds=20&name={file}"), example(file)).json(200);
        assert_eq!(answer["name"], file.split('.').next().expect("a stem"));
        assert_eq!((&answer["cut_short"], &answer["seed"]), (&json!(false), &json!(0)), "{file}");
        let request = json!({ "instance": text(file), "solution": answer["solution"] }).to_string();
        let verdict = server.post("/v1/check", &request).json(200);
        assert_eq!(verdict["feasible"], true, "{file}: {verdict}");
        assert_close(&verdict["value"], &answer["value"]);
        let written = server.post("/v1/solution", &request);
        assert_eq!(written.status, 200, "{file}: {}", written.text());
        let again = json!({ "instance": text(file), "solution": written.text() }).to_string();
        let verdict = server.post("/v1/check", again).json(200);
        assert_close(&verdict["value"], &answer["value"]);
        let picture = server.post("/v1/plot.svg", &request);
        assert_eq!((picture.status, picture.header("content-type")), (200, Some("image/svg+xml")), "{file}");
        assert!(picture.text().starts_with("<svg"), "{file}");
    }
}

#[test]
fn routes_have_loads_and_lengths_that_add_up() {
    let server = Server::start(&[]);
    let answer = server.post("/v1/solve?search=expert&seconds=0.3&seed=5", example("depot40.vrp")).json(200);
    let routes = answer["routes"].as_array().expect("routes");
    let sum = |key: &str| routes.iter().map(|route| route[key].as_f64().expect("a number")).sum::<f64>();
    assert_close(&json!(sum("length")), &answer["value"]);
    let customers: usize = routes.iter().map(|route| route["customers"].as_array().expect("a list").len()).sum();
    assert_eq!((customers, &answer["seed"], &answer["found_by"]), (40, &json!(5), &json!("expert")));
    assert!(routes.iter().all(|route| route["load"].as_f64() <= Some(100.0)), "{routes:?}");
}

#[test]
fn a_file_and_the_same_instance_as_json_have_the_same_answer() {
    let server = Server::start(&[]);
    let file = server.post("/v1/solve?search=greedy", example("points25.csv")).json(200);
    let understood = server.post("/v1/instance?name=points25.csv", example("points25.csv")).json(200);
    assert_eq!((&understood["problem"], &understood["size"]), (&json!("tsp"), &json!(25)));
    assert_eq!(understood["places"].as_array().map(Vec::len), Some(25));
    let mut inline = understood["instance"].clone();
    inline["options"] = json!({ "search": "greedy" });
    let envelope = json!({ "instance": understood["instance"], "options": { "search": "greedy" } });
    for body in [inline, envelope] {
        let answer = server.post("/v1/solve", body.to_string()).json(200);
        assert_eq!(answer["solution"], file["solution"]);
    }
}

#[test]
fn improvements_are_streamed_and_a_start_is_never_made_worse() {
    let server = Server::start(&[]);
    let stream = |body: &str| {
        let request = server.request("POST", "/v1/solve?search=reconstruct&seconds=1");
        let reply = request.header("Accept", "text/event-stream").body(body.as_bytes()).send();
        assert_eq!(reply.header("content-type"), Some("text/event-stream"));
        reply.events()
    };
    let events = stream(&text("city48.tsp"));
    let (last, improvements) = events.split_last().expect("events");
    assert_eq!(last.0, "finished");
    assert!(!improvements.is_empty() && improvements.iter().all(|(name, _)| name == "improved"), "{events:?}");
    let values: Vec<f64> = improvements.iter().map(|(_, data)| data["value"].as_f64().expect("a value")).collect();
    assert!(values.is_sorted_by(|a, b| a > b), "{values:?}");
    assert_close(&last.1["value"], &improvements[improvements.len() - 1].1["value"]);
    let start = json!({ "instance": text("city48.tsp"), "solution": last.1["solution"] }).to_string();
    let (name, answer) = stream(&start).pop().expect("events");
    assert!(name == "finished" && answer["value"].as_f64() <= last.1["value"].as_f64(), "{answer}");
    assert!(answer["found_by"].as_str().expect("text").contains("from given solution"), "{answer}");
}

#[test]
fn the_policy_is_shown_step_by_step() {
    let server = Server::start(&[]);
    for file in EXAMPLES {
        let path = |path: &str| format!("{path}?search=greedy&ends=one&seconds=20&candidates=5&name={file}");
        let trace = server.post(&path("/v1/policy/steps"), example(file)).json(200);
        let answer = server.post(&path("/v1/solve"), example(file)).json(200);
        assert_eq!(trace["solution"], answer["solution"], "{file}: the steps are those of the search");
        assert_close(&trace["value"], &answer["value"]);
        let looks = trace["looks"].as_array().expect("looks");
        let mut numbers: Vec<Value> = trace["start"].as_array().expect("a list").clone();
        let mut settled = 0;
        for look in looks {
            let candidates = look["candidates"].as_array().expect("candidates");
            let shares: Vec<f64> =
                candidates.iter().map(|one| one["probability"].as_f64().expect("a number")).collect();
            assert!(
                shares.is_sorted_by(|a, b| a >= b) && shares.iter().sum::<f64>() < 1.0 + 1e-6,
                "{file}: {shares:?}"
            );
            assert_eq!(look["taken"][0]["adds"], candidates[0]["adds"], "{file}: the likeliest step is taken");
            for step in look["taken"].as_array().expect("steps") {
                assert_eq!(step["end"], "front", "{file}");
                numbers.extend(step["adds"].as_array().expect("numbers").iter().cloned());
            }
            settled += look["settled"].as_array().expect("nodes").len();
        }
        assert_eq!(Value::from(numbers), trace["solution"], "{file}: steps add up to the solution");
        assert!(
            settled >= looks.len().saturating_sub(1) && settled <= 60,
            "{file}: {settled} nodes leave the tail once"
        );
        assert_close(&looks[looks.len() - 1]["value"], &trace["value"]);
        let commits_several = looks.iter().any(|look| look["taken"].as_array().is_some_and(|steps| steps.len() > 1));
        assert!(commits_several || file != "city48.tsp", "the network for TSP takes several steps at once");
    }
}

#[test]
fn a_path_grows_at_both_ends_where_that_is_asked_for() {
    let server = Server::start(&[]);
    let path = |path: &str| format!("{path}?search=greedy&seconds=20&ends=both");
    let trace = server.post(&path("/v1/policy/steps"), example("city48.tsp")).json(200);
    let answer = server.post(&path("/v1/solve"), example("city48.tsp")).json(200);
    assert_eq!(trace["solution"], answer["solution"], "the steps are those of the search");
    let (mut front, mut behind) = (trace["start"].as_array().expect("a list").clone(), Vec::new());
    for step in trace["looks"].as_array().expect("looks").iter().flat_map(|look| look["taken"].as_array()).flatten() {
        let adds = step["adds"].as_array().expect("numbers");
        match step["end"].as_str() {
            Some("front") => front.extend(adds.iter().cloned()),
            Some("back") => drop(behind.splice(0..0, adds.iter().cloned())),
            other => panic!("{other:?}"),
        }
    }
    assert!(!behind.is_empty(), "some steps are taken at the back");
    front.extend(behind);
    assert_eq!(Value::from(front), trace["solution"]);
}

#[test]
fn solutions_that_are_none_have_a_reason() {
    let server = Server::start(&[]);
    let check = |solution: Value| {
        let request = json!({ "instance": text("depot40.vrp"), "solution": solution });
        server.post("/v1/check", request.to_string())
    };
    let verdict = check(json!([1, 2, 3])).json(200);
    assert_eq!((&verdict["feasible"], &verdict["value"]), (&json!(false), &Value::Null));
    assert_eq!(verdict["reason"], "customer 4 is missing");
    let all = (1..=40).map(|customer| customer.to_string()).collect::<Vec<_>>().join(" ");
    let verdict = check(json!(format!("Route #1: {all}\n"))).json(200);
    assert!(verdict["reason"].as_str().expect("a reason").starts_with("the load of route 1 is"), "{verdict}");
    let claimed = check(json!("Route #1: 1\nCost 7\n")).json(200);
    assert_eq!(claimed["claimed"], 7.0);
    let message = server.post("/v1/check", example("depot40.vrp")).failure(422, "unfit");
    assert!(message.starts_with("there is no solution"), "{message}");
}

#[test]
fn the_service_describes_itself() {
    let server = Server::start(&[]);
    let about = server.get("/v1/problems").json(200);
    let names: Vec<_> = about["problems"].as_array().expect("a list").iter().map(|one| one["name"].clone()).collect();
    assert_eq!(names, ["tsp", "atsp", "cvrp", "op", "knapsack", "pctsp"]);
    assert_eq!((&about["limits"]["seconds"], &about["problems"][5]["expert"]), (&json!(60.0), &json!(false)));
    let models = server.get("/v1/models").json(200);
    assert!(models.as_array().expect("a list").iter().any(|model| model["name"] == "cvrp"), "{models}");
    assert_eq!((server.get("/healthz").status, server.get("/readyz").status), (200, 200));
    let page = server.get("/");
    assert!(page.text().starts_with("<!doctype html>"));
    assert!(page.header("content-security-policy").is_some_and(|policy| policy.contains("default-src 'none'")));
    for example in server.get("/v1/examples").json(200).as_array().expect("a list") {
        let path = format!("/v1/examples/{}", example.as_str().expect("a name"));
        assert_eq!(server.get(&path).status, 200, "{path}");
    }
    server.post("/v1/solve?seconds=0.1", circle(8).to_string()).json(200);
    server.get("/v1/nothing").failure(404, "not_found");
    server.get("/v1/solve").failure(405, "method_not_allowed");
    server.await_running(0.0); // the thread tells so just after the answer
    let metrics = server.get("/metrics").text();
    for line in [
        "bqnco_requests_total{path=\"/v1/solve\",status=\"200\"} 1",
        "bqnco_requests_total{path=\"other\",status=\"404\"} 1",
        "bqnco_failures_total{kind=\"not_found\"} 1",
        "bqnco_solve_seconds_count 1",
        "bqnco_queue 0",
        "bqnco_running 0",
    ] {
        assert!(metrics.contains(line), "{line} in {metrics}");
    }
    assert!(server.metric("bqnco_memory_bytes") > 1e6);
}

#[test]
fn every_documented_path_answers_as_documented() {
    let server = Server::start(&[]);
    let document = server.get("/openapi.json").json(200);
    for (path, methods) in document["paths"].as_object().expect("paths") {
        for (method, operation) in methods.as_object().expect("methods") {
            let concrete = path.replace("{id}", "none").replace("{name}", "city48.tsp");
            let method = method.to_uppercase();
            let body = (method == "POST").then(|| circle(5).to_string());
            let mut request = server.request(&method, &concrete);
            if let Some(body) = &body {
                request = request.body(body.as_bytes());
            }
            let reply = request.send();
            let documented = operation["responses"].as_object().expect("responses");
            assert!(documented.contains_key(&reply.status.to_string()), "{method} {path}: {}", reply.status);
            assert_ne!(reply.status, 405, "{method} {path}");
        }
    }
}

#[test]
fn requests_of_one_kind_are_solved_together_as_they_are_alone() {
    let server = Server::start(&["--solves", "1"]);
    let bodies: Vec<String> = (5..25).map(|nodes| circle(nodes).to_string()).collect();
    let alone: Vec<Value> =
        bodies.iter().map(|body| server.post("/v1/solve?search=greedy", body).json(200)["solution"].clone()).collect();
    let together: Vec<Value> = std::thread::scope(|scope| {
        let server = &server;
        let ask =
            |body| scope.spawn(move || server.post("/v1/solve?search=greedy", body).json(200)["solution"].clone());
        let asked: Vec<_> = bodies.iter().map(ask).collect();
        asked.into_iter().map(|thread| thread.join().expect("an answer")).collect()
    });
    assert_eq!(together, alone);
}
