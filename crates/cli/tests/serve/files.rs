//! What comes to the page and leaves it: files that are dropped, columns that are pasted, commands that are copied.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};
use tempfile::TempDir;

use super::browser::{Browser, CONTROL, ELSEWHERE};
use super::docs::has;
use super::page::{choose, opened};
use super::{Server, until};

/// Runs a command in a folder; what it prints is JSON.
#[track_caller]
pub fn run(command: &str, folder: &Path) -> Value {
    let output = Command::new("bash").args(["-c", command]).current_dir(folder).output().expect("bash runs");
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    serde_json::from_str(&printed).unwrap_or_else(|error| panic!("{command}: {error}: {printed}"))
}

/// A file with a name that needs quotes in a shell.
fn three_nodes(folder: &TempDir) -> PathBuf {
    let file = folder.path().join("it's mine.csv");
    std::fs::write(&file, "x,y\n0,0\n3,0\n3,4\n").expect("written");
    file
}

fn drop_file(browser: &Browser, file: &Path) {
    for event in ["dragEnter", "dragOver", "drop"] {
        browser.drag(event, file);
    }
}

/// Copies the command by the button, and pastes it until it is the one with these words.
fn copied(browser: &Browser, words: &str) -> String {
    browser.click("#copy-curl");
    let mut pasted = Value::Null;
    until(&format!("a command with {words} is copied"), || {
        browser
            .run("document.getElementById('paste').hidden = false; document.getElementById('paste-text').value = '';");
        browser.type_into("#paste-text", &format!("{CONTROL}v"));
        pasted = browser.run("return document.getElementById('paste-text').value;");
        pasted.as_str().is_some_and(|command| command.contains(words))
    });
    pasted.as_str().unwrap_or_default().to_string()
}

#[test]
fn a_dropped_file_is_opened_and_a_bad_one_has_a_message() {
    let server = Server::start(&[]);
    let Some(browser) = opened(&server, 1280, 900) else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let file = three_nodes(&folder);
    assert!(!browser.is_shown("#drop"));
    browser.drag("dragEnter", &file);
    browser.drag("dragOver", &file);
    until("the page says that it takes files", || browser.is_shown("#drop"));
    browser.drag("drop", &file);
    browser.await_text("#title", "it's mine: TSP, 3 nodes");
    assert!(!browser.is_shown("#drop"));
    let broken = folder.path().join("broken.tsp");
    std::fs::write(&broken, "TYPE : TSP\nDIMENSION : 3\nNODE_COORD_SECTION\n1 0 0\nEOF\n").expect("written");
    drop_file(&browser, &broken);
    browser.await_text("#error", "broken.tsp");
    assert!(browser.text("#title").starts_with("it's mine"), "what was there stays");
    drop_file(&browser, &file);
    until("a good file takes the message away", || !browser.is_shown("#error"));
}

#[test]
fn the_copied_command_solves_what_the_page_shows() {
    if !has("curl") {
        return;
    }
    let server = Server::start(&[]);
    let Some(browser) = opened(&server, 1280, 900) else { return };
    choose(&browser, "#seconds", "0"); // a tenth of a second
    let folder = tempfile::tempdir().expect("a folder");
    // An example is not on the user's disk: it comes from the server.
    let answer = run(&copied(&browser, "/v1/examples/depot40.vrp"), folder.path());
    assert_eq!((&answer["problem"], &answer["size"]), (&json!("cvrp"), &json!(40)), "{answer}");
    drop_file(&browser, &three_nodes(&folder));
    browser.await_text("#title", "it's mine");
    let answer = run(&copied(&browser, "mine.csv"), folder.path());
    assert_eq!((&answer["size"], &answer["value"]), (&json!(3), &json!(12.0)), "{answer}");
    let named = r#"{"name": "it\'s", "problem": "tsp", "coordinates": [[0, 0], [1, 0], [0, 1], [1, 1]]}"#;
    browser.run(&format!("document.getElementById('paste-text').value = '{named}';"));
    browser.click("#paste-use");
    browser.await_text("#title", "it's: TSP, 4 nodes");
    choose(&browser, "#search", "expert");
    let command = copied(&browser, "--json");
    assert!(command.contains("search=expert&seconds=0.1"), "{command}");
    let answer = run(&command, folder.path());
    assert_eq!((&answer["name"], &answer["value"]), (&json!("it's"), &json!(4.0)), "{answer}");
}

/// Browsers have no clipboard for pages that come from elsewhere without TLS.
#[test]
fn commands_are_copied_from_a_page_of_another_machine() {
    let server = Server::start(&[]);
    let Some(browser) = opened(&server, 1280, 900) else { return };
    let port = server.address.rsplit(':').next().expect("a port");
    browser.go(&format!("http://{ELSEWHERE}:{port}/"));
    browser.await_text("#title", "depot40");
    assert_eq!(browser.run("return navigator.clipboard === undefined;"), true);
    assert_eq!(copied(&browser, ELSEWHERE), browser.text("#curl"));
    assert!(!browser.is_shown("#error"));
}

#[test]
fn columns_are_pasted_onto_the_page() {
    let server = Server::start(&[]);
    let Some(browser) = opened(&server, 1280, 900) else { return };
    browser.click("#paste-open");
    let columns = "# capacity = 10\\nx\\ty\\tdemand\\n0\\t0\\t0\\n1\\t1\\t5\\n2\\t1\\t5\\n";
    browser.run(&format!("document.getElementById('paste-text').value = '{columns}';"));
    browser.type_into("#paste-text", &format!("{CONTROL}ac")); // all of it, copied as from a spreadsheet
    browser.run("document.activeElement.blur();");
    browser.press_all(&[CONTROL, "v"]);
    browser.await_text("#title", "pasted: CVRP, 3 nodes");
}

#[test]
fn demands_are_set_by_hand_and_all_is_saved() {
    let server = Server::start(&[]);
    let Some(browser) = opened(&server, 1280, 900) else { return };
    browser.click("#drawing summary");
    choose(&browser, "#problem", "cvrp");
    browser.click("#clear");
    browser.await_text("#title", "CVRP, 0 nodes");
    for place in [[450.0, 300.0], [300.0, 150.0], [600.0, 450.0]] {
        browser.click_at("#map", place);
    }
    browser.await_text("#title", "CVRP, 3 nodes");
    assert!(browser.text("#node-fields").contains("demands of 2"), "{}", browser.text("#node-fields"));
    choose(&browser, "#node-fields input", "11");
    choose(&browser, "#numbers input", "12");
    let command = browser.text("#curl");
    assert!(command.contains(r#",11],"capacity":12"#) && command.contains(r#""demands":[0,"#), "{command}");
    choose(&browser, "#seconds", "0");
    browser.press("s");
    browser.await_text("#figures", "found by");
    let curve = "const c = document.getElementById('chart'); const d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;
                 return d.some((value) => value > 0);";
    assert_eq!(browser.run(curve), true, "cost against time is drawn");
    browser.click("#save-solution");
    browser.click("#save-instance");
    let [solution, instance] = ["drawn-cvrp.sol", "instance.json"].map(|name| browser.downloads.path().join(name));
    until("both are saved", || solution.is_file() && instance.is_file());
    let (solution, instance) = (std::fs::read_to_string(solution), std::fs::read_to_string(instance));
    let request = json!({ "instance": instance.expect("readable"), "solution": solution.expect("readable") });
    let verdict = server.post("/v1/check", request.to_string()).json(200);
    assert_eq!((&verdict["problem"], &verdict["feasible"]), (&json!("cvrp"), &json!(true)), "{verdict}");
}
