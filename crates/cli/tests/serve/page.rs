//! The page in a real Chromium.

use serde_json::json;

use super::browser::Browser;
use super::{Server, until};

/// Arrow keys and others, as WebDriver names them.
const RIGHT: &str = "\u{E014}";
const LEFT: &str = "\u{E012}";
const END: &str = "\u{E010}";
const DELETE: &str = "\u{E017}";

/// The page, with its first example shown.
fn opened(server: &Server, width: u32, height: u32) -> Option<Browser> {
    let browser = Browser::open(width, height)?;
    browser.go(&format!("http://{}/", server.address));
    browser.await_text("#title", "depot40");
    Some(browser)
}

/// Chooses a value of a list.
fn choose(browser: &Browser, selector: &str, value: &str) {
    let set = format!("const e = document.querySelector('{selector}'); e.value = '{value}';");
    browser.run(&format!("{set} e.dispatchEvent(new Event('input')); e.dispatchEvent(new Event('change'));"));
}

/// The number of pixels of the map that are not background.
fn ink(browser: &Browser) -> u64 {
    let script = "const c = document.getElementById('map'); const d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;
                  let n = 0; for (let k = 3; k < d.length; k += 4) n += d[k] > 0; return n;";
    browser.run(script).as_u64().expect("a number")
}

#[test]
fn points_are_drawn_and_solved_and_the_solution_is_saved() {
    let server = Server::start(&[]);
    let Some(browser) = opened(&server, 1280, 900) else { return };
    browser.click("#drawing summary");
    choose(&browser, "#problem", "tsp");
    browser.click("#clear");
    browser.await_text("#title", "TSP, 0 nodes");
    let empty = ink(&browser);
    for place in [[300.0, 150.0], [600.0, 150.0], [300.0, 450.0], [600.0, 450.0], [450.0, 300.0]] {
        browser.click_at("#map", place);
    }
    browser.await_text("#title", "TSP, 5 nodes");
    browser.press(DELETE); // the node in the middle
    browser.await_text("#title", "TSP, 4 nodes");
    until("the nodes are drawn", || ink(&browser) > empty + 50);
    let nodes = ink(&browser);
    choose(&browser, "#seconds", "1");
    browser.click("#solve");
    browser.await_text("#figures", "found by expert");
    until("the tour is drawn", || ink(&browser) > nodes + 200);
    assert!(browser.text("#curl").starts_with("curl --json"), "{}", browser.text("#curl"));
    browser.click("#save-solution");
    browser.click("#save-svg");
    let file = browser.downloads.path().join("drawn-tsp.tour");
    until("both are saved", || file.is_file() && browser.downloads.path().join("drawn-tsp.svg").is_file());
    let tour = std::fs::read_to_string(file).expect("readable");
    assert!(tour.contains("DIMENSION : 4") && tour.contains("TOUR_SECTION"), "{tour}");
    browser.picture("drawn");
}

#[test]
fn the_policy_is_stepped_through_forwards_and_backwards() {
    let server = Server::start(&[]);
    let Some(browser) = opened(&server, 1280, 1000) else { return };
    browser.press("p");
    browser.await_text("#step-shown", "0 / ");
    let count: u32 = browser.text("#step-shown").trim_start_matches("0 / ").parse().expect("a number");
    assert!((10..=40).contains(&count), "{count} looks for 40 customers");
    let first = browser.text("#candidates");
    assert!(first.contains('→') && first.contains('%'), "{first}");
    assert!(browser.text("#story").contains("40 customers left"), "{}", browser.text("#story"));
    browser.press(RIGHT);
    browser.press(RIGHT);
    assert!(browser.text("#step-shown").starts_with("2 / "));
    assert_ne!(browser.text("#candidates"), first);
    browser.run("document.getElementById('forward').click()");
    browser.picture("policy");
    for _ in 0..3 {
        browser.press(LEFT);
    }
    assert_eq!(browser.text("#candidates"), first, "back at the beginning");
    browser.press(END);
    browser.await_text("#figures", "complete");
    browser.click("#first");
    browser.click("#play");
    until("it plays", || !browser.text("#step-shown").starts_with("0 / "));
    choose(&browser, "#example", "city48.tsp");
    browser.await_text("#title", "city48");
    assert!(!browser.is_shown("#stepper"));
    browser.cdp(
        "Emulation.setEmulatedMedia",
        &json!({ "features": [{ "name": "prefers-color-scheme", "value": "dark" }] }),
    );
    browser.press("p");
    browser.await_text("#step-shown", "0 / ");
    browser.run("const s = document.getElementById('step'); s.value = 12; s.dispatchEvent(new Event('input'));");
    browser.picture("policy-dark");
}

#[test]
fn network_and_expert_are_compared_side_by_side() {
    let server = Server::start(&[]);
    let Some(browser) = opened(&server, 1280, 900) else { return };
    choose(&browser, "#seconds", "3");
    browser.click("#compare");
    until("all have ended", || {
        browser.run(
            "return [...document.querySelectorAll('#panels p')].filter((p) => /best|worse/.test(p.innerText)).length;",
        ) == 3
    });
    assert!(browser.text("#panels").contains("best"), "{}", browser.text("#panels"));
    browser.picture("compare");
}

#[test]
fn a_bad_file_has_a_message_and_columns_are_understood() {
    let server = Server::start(&[]);
    let Some(browser) = opened(&server, 1280, 900) else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("broken.tsp");
    std::fs::write(&file, "NAME : broken\nTYPE : TSP\nDIMENSION : 3\nNODE_COORD_SECTION\n1 0 0\nEOF\n")
        .expect("written");
    browser.type_into("#file", file.to_str().expect("UTF-8"));
    browser.await_text("#error", "broken.tsp");
    browser.click("#paste-open");
    let columns = "# capacity = 10\\nx\\ty\\tdemand\\n0\\t0\\t0\\n1\\t1\\t5\\n2\\t1\\t5\\n3\\t0\\t5\\n";
    browser.run(&format!("document.getElementById('paste-text').value = '{columns}';"));
    browser.click("#paste-use");
    browser.await_text("#title", "CVRP, 4 nodes");
    assert!(!browser.is_shown("#error"));
    choose(&browser, "#seconds", "0");
    browser.press("s");
    browser.await_text("#figures", "2 routes");
    browser.await_text("#routes", "10");
}

#[test]
fn the_page_fits_a_phone_and_two_thousand_nodes() {
    let server = Server::start(&[]);
    let Some(browser) = opened(&server, 390, 844) else { return };
    let width = browser.run("return document.documentElement.scrollWidth;");
    assert!(width.as_u64() <= Some(390), "{width} pixels wide");
    choose(&browser, "#seconds", "1");
    browser.click("#solve");
    browser.await_text("#figures", "found by");
    browser.run("scrollTo(0, 0)");
    browser.picture("phone");
    browser.click("#drawing summary");
    choose(&browser, "#count", "2000");
    choose(&browser, "#problem", "tsp");
    browser.await_text("#title", "TSP, 2000 nodes");
    browser.run("document.getElementById('solve').click()");
    browser.await_text("#figures", "found by");
    let frame = "const c = document.getElementById('map'), t = performance.now();
                 for (let k = 0; k < 10; k++) c.dispatchEvent(new WheelEvent('wheel', { deltaY: -5, clientX: 100, clientY: 300 }));
                 return performance.now() - t;";
    assert!(browser.run(frame).is_number(), "zooming works");
    browser.picture("phone-2000");
}
