//! What is wrong with a request is said in one sentence: what, where, and what to do.

use super::{Server, circle, example};

#[test]
fn bad_requests_have_a_sentence_each() {
    let server = Server::start(&[]);
    let body = circle(5).to_string();
    for (path, body, status, kind, words) in [
        ("/v1/solve", "", 400, "bad_request", "the body is empty"),
        ("/v1/solve", "hello", 422, "unfit", "not a known file format"),
        ("/v1/solve", "{\"problem\": \"tsp\"}", 422, "unfit", "coordinates"),
        ("/v1/solve", "{\"problem\": \"tsq\", \"coordinates\": [[0,0],[1,1]]}", 422, "unfit", "tsp"),
        ("/v1/solve", "{\"coordinates\": [[0,0],[1,1]", 422, "unfit", "instance, line 1"),
        ("/v1/solve", "{\"seconds\": 1}", 422, "unfit", "write \"options\": {\"seconds\": ...}"),
        (
            "/v1/solve",
            "{\"options\": {\"seconds\": \"1\"}}",
            422,
            "unfit",
            "options: seconds = \"1\": expected a number",
        ),
        (
            "/v1/solve?time_limit=5",
            &body,
            400,
            "bad_request",
            "`time_limit` is no option; the options are search, model,",
        ),
        ("/v1/solve?seconds=soon", &body, 400, "bad_request", "seconds = soon: expected a number above zero"),
        ("/v1/solve?seconds=nan", &body, 400, "bad_request", "seconds = nan: expected a number above zero"),
        ("/v1/solve?seed=-1", &body, 400, "bad_request", "seed = -1: expected a whole number from 0 on"),
        ("/v1/solve?seed=1&seed=2", &body, 400, "bad_request", "`seed` is given twice"),
        ("/v1/solve?seconds=-1", &body, 422, "unfit", "seconds = -1: expected a number above zero, at most 60"),
        ("/v1/solve?search=magic", &body, 422, "unfit", "expected auto, greedy"),
        ("/v1/solve?search=external", &body, 422, "unfit", "expected auto, greedy"),
        ("/v1/solve?model=/etc&search=greedy", &body, 422, "unfit", "no network is called `/etc`"),
        ("/v1/solve?model=cvrp&search=greedy", &body, 422, "unfit", "cvrp is a network for cvrp"),
        ("/v1/solve?model=tsp&search=expert", &body, 422, "unfit", "`model` and `ends` need the search"),
        ("/v1/solve?ends=left&search=greedy", &body, 400, "bad_request", "ends = left: expected one or both"),
        ("/v1/policy/steps?candidates=0", &body, 422, "unfit", "candidates = 0"),
        ("/v1/jobs", "hello", 422, "unfit", "not a known file format"),
        ("/v1/plot.svg", "[[", 422, "unfit", "not a known file format"),
    ] {
        let message = server.post(path, body).failure(status, kind);
        assert!(message.contains(words), "{path}: {message}");
    }
    // The client's name of the file appears in messages; the file is not read.
    let message = server.post("/v1/solve?name=/etc/passwd", "hello").failure(422, "unfit");
    assert!(message.starts_with("passwd: ") && !message.contains("root"), "{message}");
}

#[test]
fn a_path_or_a_method_that_there_is_not_is_named() {
    let server = Server::start(&[]);
    for (method, path, status, kind, sentence) in [
        ("GET", "/v1/slove", 404, "not_found", "there is no path /v1/slove; /openapi.json lists all"),
        ("GET", "/v1/examples/none", 404, "not_found", "there is no such example; /v1/examples lists all"),
        ("GET", "/v1/examples/%ff", 404, "not_found", "there is no such example; /v1/examples lists all"),
        ("GET", "/v1/jobs/%ff", 404, "not_found", "there is no such job, or it has expired"),
        ("DELETE", "/v1/jobs/%ff", 404, "not_found", "there is no such job, or it has expired"),
        ("GET", "/v1/solve", 405, "method_not_allowed", "/v1/solve has no method GET; use POST"),
        ("PUT", "/v1/problems", 405, "method_not_allowed", "/v1/problems has no method PUT; use GET"),
        ("DELETE", "/", 405, "method_not_allowed", "/ has no method DELETE; use GET"),
    ] {
        assert_eq!(server.request(method, path).send().failure(status, kind), sentence, "{method} {path}");
    }
    let message = server.request("PUT", "/v1/jobs/7").send().failure(405, "method_not_allowed");
    assert!(message.starts_with("/v1/jobs/{id} has no method PUT; use ") && message.contains(" or "), "{message}");
    assert!(message.contains("GET") && message.contains("DELETE"), "{message}");
}

/// `curl -d @FILE` removes line breaks and calls the rest a form; `curl -F` sends a form of several parts.
#[test]
fn files_that_come_as_forms_are_refused_with_the_way_to_send_them() {
    let server = Server::start(&[]);
    let send = |path: &'static str, kind: &str, body: &[u8]| {
        server.request("POST", path).header("Content-Type", kind).body(body).send()
    };
    let form = "application/x-www-form-urlencoded";
    let file: Vec<u8> = example("depot40.vrp").into_iter().filter(|&c| c != b'\n').collect();
    let way = "; curl -d removes line breaks: send files with curl --data-binary @FILE";
    for path in ["/v1/solve", "/v1/jobs"] {
        let message = send(path, form, &file).failure(422, "unfit");
        assert!(message.ends_with(way), "{message}");
    }
    let parts = b"--x\r\nContent-Disposition: form-data; name=\"file\"\r\n\r\nx,y\r\n--x--\r\n";
    let message = send("/v1/solve", "multipart/form-data; boundary=x", parts).failure(400, "bad_request");
    assert_eq!(message, "the body is a form of several parts; send the file alone, as curl --data-binary @FILE does");
    // JSON has no line breaks to lose, and what a file calls itself does not matter.
    assert_eq!(send("/v1/instance", form, circle(5).to_string().as_bytes()).status, 200);
    assert_eq!(send("/v1/instance", "image/png", &example("depot40.vrp")).status, 200);
    let broken = send("/v1/instance", form, b"{\"coordinates\": [").failure(422, "unfit");
    assert!(!broken.contains("curl"), "{broken}");
}
