//! Who may ask: tokens, pages of other origins, and the page of the server itself.

use std::io::{BufRead, BufReader, Read};
use std::process::{Command, Stdio};

use tempfile::TempDir;

use super::browser::{Browser, ENTER};
use super::page::choose;
use super::{Server, circle, files, until};

/// A file with two tokens, and the folder where it is.
fn tokens() -> (String, TempDir) {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("tokens");
    std::fs::write(&file, "one-token\n\nanother\n").expect("written");
    (file.to_str().expect("UTF-8").to_string(), folder)
}

/// A server that asks for a token.
fn locked(arguments: &[&str]) -> (Server, TempDir) {
    let (file, folder) = tokens();
    let mut all = vec!["--token-file", file.as_str()];
    all.extend(arguments);
    (Server::start(&all), folder)
}

#[test]
fn a_token_is_needed_where_there_are_tokens() {
    let (server, _folder) = locked(&[]);
    let message = server.get("/v1/problems").failure(401, "unauthorized");
    assert_eq!(message, "a token is needed: send the header `Authorization: Bearer TOKEN`");
    let wrong = server.request("GET", "/v1/problems").header("Authorization", "Bearer none").send();
    assert!(wrong.failure(401, "unauthorized").starts_with("this is no token of this server"));
    let with = |token: &str| server.request("GET", "/v1/problems").header("Authorization", token).send().status;
    assert_eq!(
        [with("Bearer another"), with("bearer one-token"), with("Bearer one"), with("another")],
        [200, 200, 401, 401]
    );
    assert_eq!([server.get("/metrics").status, server.get("/healthz").status, server.get("/").status], [401, 200, 200]);
}

#[test]
fn pages_of_others_are_refused_unless_one_is_allowed() {
    let ask = |server: &Server, origin: &str| {
        let body = circle(5).to_string();
        let request = server.request("POST", "/v1/check").header("Origin", origin);
        request.header("Sec-Fetch-Site", "cross-site").header("Sec-Fetch-Mode", "cors").body(body.as_bytes()).send()
    };
    let closed = Server::start(&[]);
    ask(&closed, "https://example.org").failure(403, "forbidden");
    assert_eq!(closed.get("/healthz").header("access-control-allow-origin"), None);
    let open = Server::start(&["--allow-origin", "https://example.org"]);
    let reply = ask(&open, "https://example.org");
    assert_eq!((reply.status, reply.header("access-control-allow-origin")), (422, Some("https://example.org")));
    ask(&open, "https://example.com").failure(403, "forbidden");
}

/// Browsers ask before a page of another origin may send a token, and they ask without one.
#[test]
fn an_allowed_page_may_send_a_token() {
    let (server, _folder) = locked(&["--allow-origin", "https://example.org"]);
    let ask = |origin: &str| {
        let request = server.request("OPTIONS", "/v1/solve").header("Origin", origin);
        let request = request.header("Sec-Fetch-Site", "cross-site").header("Sec-Fetch-Mode", "cors");
        let request = request.header("Access-Control-Request-Method", "POST");
        request.header("Access-Control-Request-Headers", "authorization,content-type").send()
    };
    let reply = ask("https://example.org");
    assert_eq!((reply.status, reply.header("access-control-allow-origin")), (200, Some("https://example.org")));
    let allows = |header: &str, word: &str| reply.header(header).is_some_and(|list| list.to_lowercase().contains(word));
    assert!(allows("access-control-allow-headers", "authorization"), "{:?}", reply.headers);
    assert!(allows("access-control-allow-methods", "post"), "{:?}", reply.headers);
    let other = ask("https://example.com");
    assert_ne!(other.header("access-control-allow-origin"), Some("https://example.com"));
}

#[test]
fn the_page_asks_for_a_token_and_keeps_it() {
    let (server, _folder) = locked(&[]);
    let Some(browser) = Browser::open(1280, 900) else { return };
    let page = format!("http://{}/", server.address);
    browser.go(&page);
    browser.await_text("#error", "asks for an access token");
    assert!(browser.is_shown("#token"));
    assert_eq!(browser.run("return document.activeElement.id;"), "token", "one can type at once");
    browser.type_into("#token", &format!("wrong{ENTER}"));
    until("a wrong token is refused", || {
        browser.run("return sessionStorage.getItem('token');") == "wrong" && browser.is_shown("#error")
    });
    browser.run("document.getElementById('token').value = '';");
    browser.type_into("#token", "one-token");
    browser.click("#token-form button");
    browser.await_text("#title", "depot40");
    assert!(!browser.is_shown("#error"));
    browser.go(&page);
    browser.await_text("#title", "depot40"); // it was asked once
    assert!(!browser.is_shown("#error"));
    // The command that the page shows needs the token, too, but does not show it.
    choose(&browser, "#seconds", "0");
    let command = browser.text("#curl");
    assert!(command.contains("Bearer $TOKEN") && !command.contains("one-token"), "{command}");
    if super::docs::has("curl") {
        let answer = files::run(&format!("TOKEN=one-token; {command}"), server.folder.path());
        assert_eq!(answer["size"], 40, "{answer}");
    }
}

#[test]
fn a_server_that_others_can_reach_without_a_token_warns() {
    let (file, _folder) = tokens();
    let guarded = ["--listen", "0.0.0.0:0", "--token-file", &file];
    let cases: [(&[&str], bool); 3] =
        [(&["--listen", "0.0.0.0:0"], true), (&guarded, false), (&["--listen", "127.0.0.1:0"], false)];
    for (arguments, warns) in cases {
        let store = tempfile::tempdir().expect("a folder");
        let mut command = Command::new(env!("CARGO_BIN_EXE_bqnco"));
        command.arg("serve").arg("--store").arg(store.path().join("jobs.redb"));
        command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut server = command.spawn().expect("the binary starts");
        let mut line = String::new();
        BufReader::new(server.stdout.as_mut().expect("piped")).read_line(&mut line).expect("it listens");
        server.kill().expect("it runs");
        server.wait().expect("it ends");
        let mut said = String::new();
        server.stderr.take().expect("piped").read_to_string(&mut said).expect("UTF-8");
        assert_eq!(said.contains("is reachable by others, and no token is needed"), warns, "{arguments:?}: {said}");
    }
}
