//! The page: static files inside the binary.

use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};

/// Path, type and content of every file.
pub const FILES: &[(&str, &str, &str)] = &[
    ("/", "text/html; charset=utf-8", include_str!("../page/index.html")),
    ("/page/style.css", "text/css; charset=utf-8", include_str!("../page/style.css")),
    ("/page/main.js", "text/javascript; charset=utf-8", include_str!("../page/main.js")),
    ("/page/service.js", "text/javascript; charset=utf-8", include_str!("../page/service.js")),
    ("/page/editor.js", "text/javascript; charset=utf-8", include_str!("../page/editor.js")),
    ("/page/map.js", "text/javascript; charset=utf-8", include_str!("../page/map.js")),
    ("/page/chart.js", "text/javascript; charset=utf-8", include_str!("../page/chart.js")),
    ("/page/curl.js", "text/javascript; charset=utf-8", include_str!("../page/curl.js")),
    ("/page/compare.js", "text/javascript; charset=utf-8", include_str!("../page/compare.js")),
    ("/page/stepper.js", "text/javascript; charset=utf-8", include_str!("../page/stepper.js")),
    ("/page/icon.svg", "image/svg+xml", include_str!("../page/icon.svg")),
];

/// Instances to try, as files.
pub const EXAMPLES: &[(&str, &str)] = &[
    ("depot40.vrp", include_str!("../../../data/examples/depot40.vrp")),
    ("city48.tsp", include_str!("../../../data/examples/city48.tsp")),
    ("hike40.oplib", include_str!("../../../data/examples/hike40.oplib")),
    ("oneway24.atsp", include_str!("../../../data/examples/oneway24.atsp")),
    ("sack50.kp", include_str!("../../../data/examples/sack50.kp")),
    ("points25.csv", include_str!("../../../data/examples/points25.csv")),
];

/// Only files of this server: no scripts, styles or pictures of others.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; \
                      img-src 'self' data: blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// A file as an answer.
pub fn answer(kind: &'static str, content: &'static str) -> Response {
    let mut response = content.into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    response
}
