//! A real Chromium, driven by chromedriver over WebDriver.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use bqnco_testing::{Absent, skip};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::http::Request;
use super::until;

/// A browser window.
pub struct Browser {
    driver: Child,
    address: String,
    session: String,
    pub downloads: TempDir,
}

/// A name of this machine that the browser does not know as one: pages from there have fewer rights.
pub const ELSEWHERE: &str = "elsewhere.test";
/// Keys as WebDriver names them.
pub const CONTROL: &str = "\u{E009}";
pub const ENTER: &str = "\u{E007}";

impl Browser {
    /// Opens a window of this size; without Chromium the running test is skipped.
    pub fn open(width: u32, height: u32) -> Option<Self> {
        let mut driver =
            match Command::new("chromedriver").arg("--port=0").stdout(Stdio::piped()).stderr(Stdio::null()).spawn() {
                Ok(driver) => driver,
                Err(_) => {
                    skip(Absent::Program, "chromedriver is not installed");
                    return None;
                }
            };
        let mut lines = BufReader::new(driver.stdout.take().expect("piped")).lines().map_while(Result::ok);
        let port =
            lines.find_map(|line| Some(line.split_once("successfully on port ")?.1.trim_end_matches('.').to_string()));
        std::thread::spawn(move || lines.for_each(drop)); // a full pipe would stop it
        let address = format!("127.0.0.1:{}", port.expect("chromedriver tells its port"));
        let downloads = tempfile::tempdir().expect("a folder");
        let mut browser = Browser { driver, address, session: String::new(), downloads };
        let arguments = [
            "--headless=new".to_string(),
            "--no-sandbox".into(), // tests run as root in containers
            "--disable-gpu".into(),
            "--disable-dev-shm-usage".into(),
            "--hide-scrollbars".into(),
            format!("--window-size={width},{height}"),
            format!("--host-resolver-rules=MAP {ELSEWHERE} 127.0.0.1"),
        ];
        let folder = browser.downloads.path().to_str().expect("UTF-8").to_string();
        let options = json!({ "args": arguments, "prefs": { "download.default_directory": folder } });
        let wanted = json!({ "capabilities": { "alwaysMatch": { "goog:chromeOptions": options } } });
        let session = browser.call("POST", "/session", &wanted);
        browser.session = session["sessionId"].as_str().expect("a session").to_string();
        browser.cdp("Browser.setDownloadBehavior", &json!({ "behavior": "allow", "downloadPath": folder }));
        let metrics = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500 });
        browser.cdp("Emulation.setDeviceMetricsOverride", &metrics);
        Some(browser)
    }

    #[track_caller]
    fn call(&self, method: &str, path: &str, body: &Value) -> Value {
        let text = body.to_string();
        let mut request = Request::new(&self.address, method, path).header("Content-Type", "application/json");
        if method == "POST" {
            request = request.body(text.as_bytes());
        }
        let reply = request.send();
        let mut answer: Value = serde_json::from_slice(&reply.body).expect("JSON");
        assert_eq!(reply.status, 200, "{method} {path}: {answer}");
        answer["value"].take()
    }

    #[track_caller]
    fn in_session(&self, path: &str, body: &Value) -> Value {
        self.call("POST", &format!("/session/{}{path}", self.session), body)
    }

    /// A command of Chromium's own protocol.
    pub fn cdp(&self, command: &str, parameters: &Value) -> Value {
        self.in_session("/goog/cdp/execute", &json!({ "cmd": command, "params": parameters }))
    }

    pub fn go(&self, url: &str) {
        self.in_session("/url", &json!({ "url": url }));
    }

    /// Runs a script; its `return` is the result.
    #[track_caller]
    pub fn run(&self, script: &str) -> Value {
        self.in_session("/execute/sync", &json!({ "script": script, "args": [] }))
    }

    /// Runs a script that calls `arguments[0]` with its result.
    #[track_caller]
    pub fn run_async(&self, script: &str) -> Value {
        self.in_session("/execute/async", &json!({ "script": script, "args": [] }))
    }

    #[track_caller]
    fn element(&self, selector: &str) -> String {
        let found = self.in_session("/element", &json!({ "using": "css selector", "value": selector }));
        let id = found.as_object().and_then(|found| found.values().next()?.as_str().map(String::from));
        id.unwrap_or_else(|| panic!("no {selector}"))
    }

    #[track_caller]
    pub fn click(&self, selector: &str) {
        self.in_session(&format!("/element/{}/click", self.element(selector)), &json!({}));
    }

    #[track_caller]
    pub fn type_into(&self, selector: &str, text: &str) {
        self.in_session(&format!("/element/{}/value", self.element(selector)), &json!({ "text": text }));
    }

    /// A click, or a tap, on a place of an element, from its top left corner.
    pub fn click_at(&self, selector: &str, place: [f64; 2]) {
        let [x, y] = self.in_window(selector, place);
        let pointer = json!({ "type": "pointer", "id": "mouse", "parameters": { "pointerType": "mouse" }, "actions": [
            { "type": "pointerMove", "duration": 0, "x": x.round(), "y": y.round() },
            { "type": "pointerDown", "button": 0 },
            { "type": "pointerUp", "button": 0 },
        ] });
        self.in_session("/actions", &json!({ "actions": [pointer] }));
    }

    /// A place of an element, from its top left corner, as a place of the window.
    fn in_window(&self, selector: &str, place: [f64; 2]) -> [f64; 2] {
        let script =
            format!("const b = document.querySelector('{selector}').getBoundingClientRect(); return [b.left, b.top];");
        let corner = self.run(&script);
        [0, 1].map(|axis| corner[axis].as_f64().expect("a number") + place[axis])
    }

    /// Puts fingers on places of an element, moves them in a few steps, and lifts them.
    pub fn touch(&self, selector: &str, fingers: &[[[f64; 2]; 2]]) {
        const STEPS: u8 = 8;
        let ends: Vec<_> = fingers.iter().map(|finger| finger.map(|place| self.in_window(selector, place))).collect();
        for step in 0..=STEPS {
            let share = f64::from(step) / f64::from(STEPS);
            let points = ends.iter().enumerate().map(|(id, [from, to])| {
                let [x, y] = [0, 1].map(|axis| from[axis] + share * (to[axis] - from[axis]));
                json!({ "x": x, "y": y, "id": id })
            });
            let kind = if step == 0 { "touchStart" } else { "touchMove" };
            self.cdp("Input.dispatchTouchEvent", &json!({ "type": kind, "touchPoints": points.collect::<Vec<_>>() }));
        }
        self.cdp("Input.dispatchTouchEvent", &json!({ "type": "touchEnd", "touchPoints": [] }));
    }

    /// Touches a place of an element.
    pub fn tap(&self, selector: &str, place: [f64; 2]) {
        self.touch(selector, &[[place, place]]);
    }

    /// Asks the page for dark colours.
    pub fn darken(&self) {
        let dark = json!({ "features": [{ "name": "prefers-color-scheme", "value": "dark" }] });
        self.cdp("Emulation.setEmulatedMedia", &dark);
    }

    /// Drags a file over the page: `dragEnter`, `dragOver`, then `drop`.
    pub fn drag(&self, event: &str, file: &Path) {
        let data = json!({ "items": [], "files": [file], "dragOperationsMask": 1 });
        self.cdp("Input.dispatchDragEvent", &json!({ "type": event, "x": 600, "y": 300, "data": data }));
    }

    /// Presses a key on the page.
    pub fn press(&self, key: &str) {
        self.press_all(&[key]);
    }

    /// Presses keys together.
    pub fn press_all(&self, keys: &[&str]) {
        let down = keys.iter().map(|key| json!({ "type": "keyDown", "value": key }));
        let up = keys.iter().rev().map(|key| json!({ "type": "keyUp", "value": key }));
        let actions: Vec<Value> = down.chain(up).collect();
        self.in_session("/actions", &json!({ "actions": [{ "type": "key", "id": "keyboard", "actions": actions }] }));
    }

    pub fn text(&self, selector: &str) -> String {
        let script = format!("return document.querySelector('{selector}').innerText;");
        self.run(&script).as_str().unwrap_or_default().to_string()
    }

    pub fn is_shown(&self, selector: &str) -> bool {
        self.run(&format!("return document.querySelector('{selector}').checkVisibility();")) == true
    }

    /// Waits until an element's text has these words.
    #[track_caller]
    pub fn await_text(&self, selector: &str, words: &str) {
        until(&format!("{selector} says {words}"), || self.text(selector).contains(words));
    }

    /// Writes a picture of the window if `BQNCO_SCREENSHOTS` names a folder.
    pub fn picture(&self, name: &str) {
        let Some(folder) = std::env::var_os("BQNCO_SCREENSHOTS") else { return };
        let shot = self.cdp("Page.captureScreenshot", &json!({ "format": "png", "captureBeyondViewport": false }));
        let bytes = base64(shot["data"].as_str().expect("a picture"));
        std::fs::write(Path::new(&folder).join(format!("{name}.png")), bytes).expect("written");
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        if !self.session.is_empty() {
            let path = format!("/session/{}", self.session);
            let _ = super::http::read(Request::new(&self.address, "DELETE", &path).open()); // closes Chromium
        }
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}

fn base64(text: &str) -> Vec<u8> {
    let value = |c: u8| match c {
        b'A'..=b'Z' => c - b'A',
        b'a'..=b'z' => c - b'a' + 26,
        b'0'..=b'9' => c - b'0' + 52,
        b'+' => 62,
        _ => 63,
    };
    let digits: Vec<u8> = text.bytes().filter(|&c| c != b'=').map(value).collect();
    let group = |four: &[u8]| {
        let bits = four.iter().fold(0u32, |bits, &digit| bits << 6 | u32::from(digit)) << (6 * (4 - four.len()));
        bits.to_be_bytes()[1..four.len()].to_vec()
    };
    digits.chunks(4).flat_map(group).collect()
}
