//! The page in a real Chromium.

use serde_json::Value;

use super::browser::Browser;
use super::{Server, until};

/// Arrow keys and others, as WebDriver names them.
const RIGHT: &str = "\u{E014}";
const LEFT: &str = "\u{E012}";
const END: &str = "\u{E010}";
const DELETE: &str = "\u{E017}";
const ESCAPE: &str = "\u{E00C}";

/// The page, with its first example shown.
pub fn opened(server: &Server, width: u32, height: u32) -> Option<Browser> {
    let browser = Browser::open(width, height)?;
    browser.go(&format!("http://{}/", server.address));
    browser.await_text("#title", "depot40");
    until("the map is drawn", || ink(&browser) > 0);
    Some(browser)
}

/// Chooses a value of a list.
pub fn choose(browser: &Browser, selector: &str, value: &str) {
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
    browser.darken();
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
    // Where decimals have a comma.
    let columns = "x\\ty\\n0,5\\t0\\n1,5\\t0\\n1,5\\t2,25\\n";
    browser.run(&format!("document.getElementById('paste-text').value = '{columns}';"));
    browser.run("document.getElementById('paste-use').click()");
    browser.await_text("#title", "TSP, 3 nodes");
    assert!(browser.text("#curl").contains("[1.5,2.25]"), "{}", browser.text("#curl"));
    // A name is text, whatever it looks like.
    let named = r#"{"name": "<b id=inserted>", "problem": "tsp", "coordinates": [[0, 0], [1, 0], [0, 1]]}"#;
    browser.run(&format!("document.getElementById('paste-text').value = '{named}';"));
    browser.run("document.getElementById('paste-use').click()");
    browser.await_text("#title", "<b id=inserted>");
    assert_eq!(browser.run("return document.getElementById('inserted');"), Value::Null);
}

#[test]
fn a_path_is_watched_as_it_grows_at_both_ends() {
    let server = Server::start(&[]);
    let Some(browser) = opened(&server, 1280, 1000) else { return };
    choose(&browser, "#example", "city48.tsp");
    browser.await_text("#title", "city48");
    browser.press("p");
    browser.await_text("#step-shown", "0 / ");
    browser.click("#both-ends");
    let mut stories = String::new();
    until("the other end is used", || {
        browser.press(RIGHT);
        stories = browser.text("#story");
        stories.contains("far end") || stories.contains("at both ends")
    });
    browser.picture("both-ends");
    browser.press(END);
    browser.await_text("#figures", "complete");
}

#[test]
fn keys_zoom_and_stop_and_colours_follow_the_theme() {
    let server = Server::start(&[]);
    let Some(browser) = opened(&server, 1280, 900) else { return };
    let before = spread(&browser);
    browser.press("+");
    browser.press("+");
    until("the map is larger", || spread(&browser) > 1.2 * before);
    browser.press("f");
    until("all is shown again", || (spread(&browser) - before).abs() < 2.0);
    choose(&browser, "#seconds", "10"); // a minute
    choose(&browser, "#search", "expert");
    browser.press("s");
    until("there is a solution", || browser.text("#figures").contains("after"));
    browser.press(ESCAPE);
    browser.await_text("#figures", "stopped at length");
    let blue = "const c = document.getElementById('map'); const d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;
                let n = 0; for (let k = 0; k < d.length; k += 4) n += d[k] === 0x56 && d[k + 1] === 0xb4 && d[k + 2] === 0xe9; return n;";
    assert_eq!(browser.run(blue), 0);
    browser.darken();
    until("a route is light blue", || browser.run(blue).as_u64() > Some(50));
}

#[test]
fn fingers_add_move_and_remove_nodes_and_zoom() {
    let server = Server::start(&[]);
    let Some(browser) = opened(&server, 390, 844) else { return };
    browser.touch("#map", &[[[200.0, 300.0], [200.0, 60.0]]]);
    until("the page is scrolled", || browser.run("return scrollY;").as_f64() > Some(50.0));
    await_rest(&browser);
    browser.run("document.getElementById('drawing').open = true");
    choose(&browser, "#problem", "tsp");
    browser.run("document.getElementById('clear').click(); scrollTo(0, 0)");
    browser.await_text("#title", "TSP, 0 nodes");
    for (k, place) in [[120.0, 120.0], [240.0, 120.0], [120.0, 240.0]].into_iter().enumerate() {
        browser.tap("#map", place);
        browser.await_text("#title", &format!("TSP, {} nodes", k + 1));
    }
    let placed = browser.text("#curl");
    browser.touch("#map", &[[[120.0, 120.0], [170.0, 170.0]]]);
    until("the first node is moved", || browser.text("#curl") != placed);
    assert_eq!(browser.run("return scrollY;"), 0.0, "the page stays where it is");
    let before = spread(&browser);
    browser.touch("#map", &[[[150.0, 180.0], [120.0, 180.0]], [[210.0, 180.0], [240.0, 180.0]]]);
    until("two fingers zoom", || spread(&browser) > 1.5 * before);
    assert!(browser.text("#title").contains("TSP, 3 nodes"), "two fingers add nothing");
    browser.picture("phone-drawing");
    browser.run("document.getElementById('fit').click()");
    until("all is shown again", || (spread(&browser) - before).abs() < 2.0);
    browser.tap("#map", [240.0, 120.0]);
    browser.run("document.getElementById('remove').click()");
    browser.await_text("#title", "TSP, 2 nodes");
}

/// Waits until the page does not scroll on by itself, after a swipe: a tap would only stop it.
fn await_rest(browser: &Browser) {
    browser.run_async(
        "const done = arguments[0];
         let [last, still] = [scrollY, 0];
         const tick = () => {
             [still, last] = [scrollY === last ? still + 1 : 0, scrollY];
             if (still === 20) done(); else requestAnimationFrame(tick);
         };
         tick();",
    );
}

/// Pixels between the leftmost and the rightmost spot on the map.
fn spread(browser: &Browser) -> f64 {
    let script = "const c = document.getElementById('map'); const d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;
                  let [least, most] = [c.width, 0];
                  for (let k = 3; k < d.length; k += 4) if (d[k] > 0) {
                      const x = ((k - 3) / 4) % c.width;
                      [least, most] = [Math.min(least, x), Math.max(most, x)];
                  }
                  return most - least;";
    browser.run(script).as_f64().expect("a number")
}

/// Medians over 60 frames, in milliseconds: of the time in which the page's own code handles an event and draws, and of
/// the time from frame to frame.
fn frames(browser: &Browser, event: &str) -> [f64; 2] {
    let script = format!(
        "const [done, map, paints, frames] = [arguments[0], document.getElementById('map'), [], []];
         const median = (list) => list.sort((a, b) => a - b)[list.length >> 1];
         let began, last;
         const tick = (now) => {{
             if (frames.length === 60) return done([median(paints), median(frames)]);
             if (last !== undefined) frames.push(now - last);
             [last, began] = [now, performance.now()];
             requestAnimationFrame(tick); // the first of the next frame; then the map draws; then the time is taken
             map.dispatchEvent({event});
             requestAnimationFrame(() => paints.push(performance.now() - began));
         }};
         requestAnimationFrame(tick);"
    );
    let found: Value = browser.run_async(&script);
    [0, 1].map(|k| found[k].as_f64().expect("a number"))
}

#[test]
fn the_page_is_fluent_with_two_thousand_nodes() {
    let server = Server::start(&[]);
    let Some(browser) = opened(&server, 1280, 900) else { return };
    browser.click("#drawing summary");
    choose(&browser, "#count", "2000");
    choose(&browser, "#problem", "tsp");
    browser.await_text("#title", "TSP, 2000 nodes");
    choose(&browser, "#seconds", "4");
    browser.click("#solve");
    browser.await_text("#figures", "found by");
    let zoom = "new WheelEvent('wheel', { deltaY: frames.length % 2 ? 30 : -30, clientX: 600, clientY: 400 })";
    let zoomed = frames(&browser, zoom);
    browser.press("p");
    browser.await_text("#step-shown", "0 / ");
    let step = "new KeyboardEvent('keydown', { key: 'ArrowRight', bubbles: true })";
    let stepped = frames(&browser, step);
    browser.picture("policy-2000");
    println!("2,000 nodes, [ms of code per frame, ms per frame]: zooming {zoomed:?}, stepping {stepped:?}");
    for [code, frame] in [zoomed, stepped] {
        assert!(code < 16.0 && frame < 50.0, "{code} ms of code in a frame of {frame} ms");
    }
}

#[test]
fn the_page_fits_a_phone() {
    let server = Server::start(&[]);
    let Some(browser) = opened(&server, 390, 844) else { return };
    let fits = || {
        let width = browser.run("return document.documentElement.scrollWidth;");
        assert!(width.as_u64() <= Some(390), "{width} pixels wide");
    };
    fits();
    choose(&browser, "#seconds", "1");
    browser.click("#solve");
    browser.await_text("#figures", "found by");
    fits();
    browser.run("scrollTo(0, 0)");
    browser.picture("phone");
    browser.run("document.getElementById('watch').click()");
    browser.await_text("#step-shown", "0 / ");
    fits();
    browser.picture("phone-policy");
}
