//! Who may ask: tokens, and pages of other origins.

use std::sync::Arc;

use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use subtle::ConstantTimeEq;

use crate::app::App;
use crate::error::{Kind, Problem};

/// Paths that need no token: they tell nothing.
const OPEN: [&str; 2] = ["/healthz", "/readyz"];

/// What comes before a token, in any case of its letters.
const BEARER: &[u8] = b"Bearer ";

/// Checks a request, and counts its answer.
pub async fn guard(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let matched = request.extensions().get::<MatchedPath>().map(|path| path.as_str().to_string());
    let path = matched.unwrap_or_else(|| "other".into());
    let mut response = match check(&app, request.uri().path(), request.headers()) {
        Ok(()) => next.run(request).await,
        Err(problem) => problem.into_response(),
    };
    let kind = response.extensions().get::<Kind>().copied();
    app.metrics.request(&path, response.status().as_u16(), kind);
    let headers = response.headers_mut();
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    if !headers.contains_key(header::CACHE_CONTROL) {
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    }
    response
}

fn check(app: &App, path: &str, headers: &HeaderMap) -> Result<(), Problem> {
    let allowed = |origin: &String| headers.get(header::ORIGIN).is_some_and(|given| given == origin);
    if is_foreign(headers) && !app.settings.allow_origin.as_ref().is_some_and(allowed) {
        let message = "a page of another origin must not use this service; the option --allow-origin allows one";
        return Err(Problem::new(Kind::Forbidden, message));
    }
    let open = OPEN.contains(&path) || !(path.starts_with("/v1/") || path == "/metrics");
    if open || app.settings.tokens.is_empty() || has_token(&app.settings.tokens, headers) {
        return Ok(());
    }
    let is_given = headers.contains_key(header::AUTHORIZATION);
    let what = if is_given { "this is no token of this server" } else { "a token is needed" };
    Err(Problem::new(Kind::Unauthorized, format!("{what}: send the header `Authorization: Bearer TOKEN`")))
}

/// Whether a browser says that the request comes from a page of another site. Such a page could not read the answer, but
/// it could keep the cores busy.
fn is_foreign(headers: &HeaderMap) -> bool {
    const SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
    const MODE: HeaderName = HeaderName::from_static("sec-fetch-mode");
    let is = |name: HeaderName, value: &str| headers.get(name).is_some_and(|found| found == value);
    is(SITE, "cross-site") && !is(MODE, "navigate") // a link to the page is harmless
}

/// Compares with all tokens in a time that does not depend on where they differ.
fn has_token(tokens: &[String], headers: &HeaderMap) -> bool {
    let given = headers.get(header::AUTHORIZATION).map(HeaderValue::as_bytes).unwrap_or_default();
    let Some((scheme, given)) = given.split_at_checked(BEARER.len()) else { return false };
    if !scheme.eq_ignore_ascii_case(BEARER) {
        return false;
    }
    let equal = |token: &String| token.as_bytes().ct_eq(given);
    tokens.iter().map(equal).fold(subtle::Choice::from(0), |any, one| any | one).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_must_be_whole_and_one_of_the_list() {
        let tokens = ["first-token".to_string(), "second".to_string()];
        let with = |value: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert(header::AUTHORIZATION, HeaderValue::from_static(value));
            has_token(&tokens, &headers)
        };
        assert!(with("Bearer first-token") && with("Bearer second") && with("bearer second"));
        for wrong in ["Bearer first", "Bearer first-token2", "first-token", "Basic second", "Bearer ", "Bearer"] {
            assert!(!with(wrong), "{wrong}");
        }
        assert!(!has_token(&tokens, &HeaderMap::new()));
    }
}
