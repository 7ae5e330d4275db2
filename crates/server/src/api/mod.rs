//! The paths of the service.

mod events;
mod info;
mod jobs;
mod solve;
mod tools;

use std::sync::Arc;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::Query;
use axum::http::{HeaderMap, HeaderValue, Method, header};
use axum::middleware::from_fn_with_state;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use tokio::time::timeout;
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::cors::CorsLayer;

use crate::app::App;
use crate::error::{Kind, Problem};
use crate::request::{Input, Options};
use crate::{guard, page};

/// All paths.
pub fn router(app: &Arc<App>) -> Router {
    let mut router = Router::new()
        .route("/v1/solve", post(solve::solve))
        .route("/v1/jobs", post(jobs::submit))
        .route("/v1/jobs/{id}", get(jobs::get).delete(jobs::cancel))
        .route("/v1/instance", post(tools::instance))
        .route("/v1/check", post(tools::check))
        .route("/v1/solution", post(tools::solution))
        .route("/v1/plot.svg", post(tools::plot))
        .route("/v1/policy/steps", post(tools::steps))
        .route("/v1/problems", get(info::problems))
        .route("/v1/models", get(info::models))
        .route("/v1/examples", get(info::examples))
        .route("/v1/examples/{name}", get(info::example))
        .route("/openapi.json", get(info::openapi))
        .route("/healthz", get(info::healthy))
        .route("/readyz", get(info::ready))
        .route("/metrics", get(info::metrics));
    for &(path, kind, content) in page::FILES {
        router = router.route(path, get(move || async move { page::answer(kind, content) }));
    }
    let mut router = router
        .fallback(|| async { Problem::new(Kind::NotFound, "there is no such path; /openapi.json lists all") })
        .method_not_allowed_fallback(|| async { Problem::new(Kind::MethodNotAllowed, "this path has no such method") })
        .layer(CatchPanicLayer::custom(panicked))
        .layer(from_fn_with_state(Arc::clone(app), guard::guard));
    if let Some(origin) = app.settings.allow_origin.as_deref().and_then(|origin| HeaderValue::from_str(origin).ok()) {
        let methods = [Method::GET, Method::POST, Method::DELETE];
        let headers = [header::CONTENT_TYPE, header::AUTHORIZATION];
        router = router.layer(CorsLayer::new().allow_origin(origin).allow_methods(methods).allow_headers(headers));
    }
    router.with_state(Arc::clone(app))
}

fn panicked(panic: Box<dyn std::any::Any + Send>) -> Response {
    let message = panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref::<&str>().copied());
    Problem::internal(message.unwrap_or("a panic")).into_response()
}

/// A query, or why it is none.
type AnyQuery = Result<Query<Options>, axum::extract::rejection::QueryRejection>;

/// The options of a query.
fn options(query: AnyQuery) -> Result<Options, Problem> {
    let Query(options) = query.map_err(|error| Problem::new(Kind::BadRequest, error.body_text()))?;
    Ok(options)
}

/// The bytes of a body, within size and time.
async fn read(app: &App, headers: &HeaderMap, body: Body) -> Result<Vec<u8>, Problem> {
    let most = app.settings.limits.body;
    let too_large = || {
        let message = format!("the body is larger than {} KiB, the most that this server takes", most >> 10);
        Problem::new(Kind::TooLarge, message)
    };
    let stated = headers.get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
    if stated.is_some_and(|length| length > most as u64) {
        return Err(too_large());
    }
    match timeout(app.settings.limits.patience, to_bytes(body, most)).await {
        Ok(Ok(bytes)) => Ok(bytes.into()),
        Ok(Err(error)) if std::error::Error::source(&error).is_some_and(|why| why.to_string().contains("limit")) => {
            Err(too_large())
        }
        Ok(Err(error)) => Err(Problem::new(Kind::BadRequest, format!("the body cannot be read: {error}"))),
        Err(_) => Err(Problem::new(Kind::TooSlow, "the body did not arrive in time")),
    }
}

/// Work that would block others, on a thread of its own.
async fn blocking<T: Send + 'static>(work: impl FnOnce() -> Result<T, Problem> + Send + 'static) -> Result<T, Problem> {
    match tokio::task::spawn_blocking(move || crate::pool::guarded(work)).await {
        Ok(result) => result.and_then(|result| result),
        Err(_) => Err(Problem::dropped()),
    }
}

/// Reads and understands a request.
async fn input(app: &Arc<App>, headers: &HeaderMap, body: Body, options: Options) -> Result<(Input, usize), Problem> {
    let bytes = read(app, headers, body).await?;
    let app = Arc::clone(app);
    blocking(move || Ok((Input::read(&bytes, options, &app.settings.limits)?, bytes.len()))).await
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    #[test]
    fn the_document_lists_every_path_with_its_methods() {
        let document: serde_json::Value = serde_json::from_str(include_str!("../openapi.json")).expect("JSON");
        let documented = document["paths"].as_object().expect("paths").iter().flat_map(|(path, methods)| {
            methods.as_object().expect("methods").keys().map(move |method| format!("{method} {path}"))
        });
        let mut routed = BTreeSet::new();
        for line in include_str!("mod.rs").lines().filter_map(|line| line.trim().strip_prefix(".route(\"")) {
            let (path, handlers) = line.split_once("\", ").expect("a path and its handlers");
            for method in ["get", "post", "delete"].iter().filter(|method| handlers.contains(&format!("{method}("))) {
                routed.insert(format!("{method} {path}"));
            }
        }
        assert_eq!(documented.collect::<BTreeSet<_>>(), routed);
    }
}
